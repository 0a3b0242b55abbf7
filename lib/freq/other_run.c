/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "freq/other_run.h"

#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "freq/clock.h"

/* Where the time of procedures correlates less with their counts, runs did different things. */
#define MIN_CORRELATION 0.5

/* Procedures that have this part of the time are looked at, if they are as many. */
#define HOT	       0.9
#define MIN_PROCEDURES 3

/* What a schedule may be off by in the loops that it holds best for. */
#define MODEL_DOUBT 0.03

struct timed_procedure {
	double time;
	double cycles; /* of its executions in the other run, by the schedule */
};

struct vt_otherrun {
	struct vt_clockfit *loops;
	struct timed_procedure *list;
	size_t count;
	size_t cap;
};

const char *vt_otherrun_name(enum vt_otherrun_verdict verdict)
{
	static const char *const names[] = {"same", "alike", "scaled", "untold", "ratios"};

	return names[verdict];
}

struct vt_otherrun *vt_otherrun_new(void)
{
	struct vt_otherrun *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->loops = vt_clockfit_new();
	if (o->loops)
		return o;
	free(o);
	return NULL;
}

void vt_otherrun_free(struct vt_otherrun *o)
{
	if (!o)
		return;
	vt_clockfit_free(o->loops);
	free(o->list);
	free(o);
}

int vt_otherrun_add(struct vt_otherrun *o, const struct vt_core *core, const struct vt_procflow *f,
		    const struct vt_freqs *freqs, const uint64_t *samples, const uint64_t *time,
		    struct vt_error *err)
{
	struct timed_procedure *p;
	uint32_t i;

	if (!f->costs)
		return 0;
	if (!vt_array_grow(&o->list, &o->cap, o->count + 1, sizeof(*o->list)))
		return vt_error_nomem(err);
	p = &o->list[o->count++];
	*p = (struct timed_procedure){0};
	for (i = 0; i < f->cfg->ninsns; i++) {
		p->time += (double)time[i];
		p->cycles += freqs->insn[i].executions * (double)f->costs[i].head;
	}
	return vt_clockfit_add(o->loops, core, f, freqs, samples, time, err);
}

/* Those with the most time first. */
static int compare_times(const void *x, const void *y)
{
	const struct timed_procedure *a = x, *b = y;

	if (a->time != b->time)
		return a->time > b->time ? -1 : 1;
	return (a->cycles < b->cycles) - (a->cycles > b->cycles);
}

static size_t count_hot(struct vt_otherrun *o)
{
	double all = 0, sum = 0;
	size_t i;

	if (o->count)
		qsort(o->list, o->count, sizeof(*o->list), compare_times);
	for (i = 0; i < o->count; i++)
		all += o->list[i].time;
	for (i = 0; i < o->count && sum < HOT * all; i++)
		sum += o->list[i].time;
	return i < MIN_PROCEDURES && o->count >= MIN_PROCEDURES ? MIN_PROCEDURES : i;
}

/* Of the hot procedures; 1 if they are too few to tell, or all take as long. */
static double correlate(struct vt_otherrun *o)
{
	double time = 0, cycles = 0, tt = 0, cc = 0, tc = 0;
	size_t i, n = count_hot(o);

	if (n < MIN_PROCEDURES)
		return 1;
	for (i = 0; i < n; i++) {
		time += o->list[i].time / (double)n;
		cycles += o->list[i].cycles / (double)n;
	}
	for (i = 0; i < n; i++) {
		double t = o->list[i].time - time, c = o->list[i].cycles - cycles;

		tt += t * t;
		cc += c * c;
		tc += t * c;
	}
	if (!(tt > 0))
		return 1;
	return cc > 0 ? tc / sqrt(tt * cc) : 0;
}

void vt_otherrun_find(struct vt_otherrun *o, double scale, struct vt_otherrun_factor *out)
{
	double clock;

	*out = (struct vt_otherrun_factor){
		.verdict = VT_OTHERRUN_UNTOLD, .factor = 1, .correlation = correlate(o)};
	if (out->correlation < MIN_CORRELATION) {
		out->verdict = VT_OTHERRUN_RATIOS;
		out->doubt = INFINITY;
		return;
	}
	if (!vt_clockfit_find(o->loops, &clock, &out->loops) || !(scale > 0))
		return;
	out->factor = scale / clock;
	out->doubt = hypot(vt_clockfit_doubt(o->loops), MODEL_DOUBT);
	out->verdict =
		fabs(log(out->factor)) > 2 * out->doubt ? VT_OTHERRUN_SCALED : VT_OTHERRUN_ALIKE;
}
