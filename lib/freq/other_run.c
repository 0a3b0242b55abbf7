/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "freq/other_run.h"

#include <math.h>
#include <stdlib.h>

#include "freq/clock.h"

/*
 * Schedules of loops that nothing stalls are off by less than a third (BHive: 85 % within a tenth):
 * loops that differ by this much were executed by other factors.
 */
#define MAX_SPREAD 0.5

/* Runs with this part of the time in code that the other did not execute did different things. */
#define MAX_ELSEWHERE 0.5

/* What a schedule may be off by in the loops that it holds best for. */
#define MODEL_DOUBT 0.03

/* Effective clocks of the processors that are modelled, in GHz, with room to spare. */
#define MIN_CLOCK 0.25
#define MAX_CLOCK 8

/* So many times may fewer loops than show the clock be off from a known one. */
#define MOST_OFF 8

struct vt_otherrun {
	struct vt_clockfit *loops;
	double time;
	double elsewhere; /* in procedures that were not executed */
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
	free(o);
}

int vt_otherrun_add(struct vt_otherrun *o, const struct vt_core *core, const struct vt_procflow *f,
		    const struct vt_freqs *freqs, const uint64_t *samples, const uint64_t *time,
		    struct vt_error *err)
{
	double all = 0, executed = 0;
	uint32_t i;

	for (i = 0; i < f->cfg->ninsns; i++) {
		all += (double)time[i];
		executed += freqs->insn[i].executions;
	}
	o->time += all;
	if (!(executed > 0))
		o->elsewhere += all;
	return vt_clockfit_add(o->loops, core, f, freqs, samples, time, err);
}

static void forget_factor(struct vt_otherrun_factor *f)
{
	f->verdict = VT_OTHERRUN_UNTOLD;
	f->factor = 1;
	f->doubt = 0;
}

static void find_factor(const struct vt_otherrun *o, double factor, struct vt_otherrun_factor *out)
{
	out->factor = factor;
	out->doubt = hypot(vt_clockfit_doubt(o->loops), MODEL_DOUBT);
	if (fabs(log(out->factor)) > 2 * out->doubt)
		out->verdict = VT_OTHERRUN_SCALED;
	else if (out->doubt <= VT_OTHERRUN_ALIKE_DOUBT)
		out->verdict = VT_OTHERRUN_ALIKE;
	else
		/* Schedules that are wrong say nothing of the counts. */
		forget_factor(out);
}

/* Whether no processor has this clock, or it is far from the known one. */
static bool is_impossible(double clock, double scale)
{
	if (scale > 0)
		return clock * MOST_OFF < scale || clock > scale * MOST_OFF;
	return clock < MIN_CLOCK || clock > MAX_CLOCK;
}

void vt_otherrun_find(struct vt_otherrun *o, double scale, struct vt_otherrun_factor *out)
{
	double clock;
	bool shown = vt_clockfit_find(o->loops, &clock, &out->loops);

	*out = (struct vt_otherrun_factor){
		.verdict = VT_OTHERRUN_UNTOLD,
		.factor = 1,
		.spread = vt_clockfit_spread(o->loops),
		.elsewhere = o->time > 0 ? o->elsewhere / o->time : 0,
		.loops = out->loops,
	};
	if (!shown)
		clock = vt_clockfit_fastest(o->loops);
	if (clock > 0 && !(shown && scale > 0) && is_impossible(clock, scale))
		out->clock = clock;
	if (out->spread > MAX_SPREAD || out->elsewhere > MAX_ELSEWHERE || out->clock > 0) {
		out->verdict = VT_OTHERRUN_RATIOS;
		out->doubt = INFINITY;
		return;
	}
	if (!(scale > 0))
		return;
	if (shown)
		find_factor(o, scale / clock, out);
	out->slowed = vt_clockfit_slowed(
		o->loops, out->verdict == VT_OTHERRUN_SCALED ? scale / out->factor : scale);
}
