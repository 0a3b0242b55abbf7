/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/record/measure.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "cmd/record/planted.h"
#include "cmd/record/sampler.h"
#include "cmd/record/worker.h"
#include "machine/insn/insn.h"

/* Samples a second.  At the second rate, loops have enough of them to show where they lie. */
static const double rates[VT_CALIBRATION_RATES] = {1000, 10000};
#define FAST 1

/* A run of a loop is about so long, and so many of each kind of run have a good median. */
#define SLICE_NS   20e6
#define SLICES	   10
#define MIN_SLICES 4
#define MAX_VISITS (UINT64_C(1) << 32)

/* How long is measured at most, to be done in less than ten seconds in all. */
#define CLOCK_SECONDS  2.5
#define MISS_SECONDS   0.6
#define LENGTH_SECONDS 0.42

#define CHAINS (PLANTED_MULTIPLY - PLANTED_ADD)

struct calibrating {
	const struct probe *machine;
	struct worker worker;
	double ticks, ns; /* of all runs */
	struct vt_calibration *c;
};

static double read_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- runs of a loop ---- */

/* Samples by instruction of a loop. */
struct places {
	const struct planted *loop;
	size_t count;
	uint64_t *samples; /* by instruction */
	uint32_t *insns;   /* by byte of the code */
	uint64_t total;	   /* those elsewhere, too */
};

/* False: no memory. */
static bool places_init(struct places *p, const struct planted *loop)
{
	size_t size = (size_t)(loop->end - loop->code), at;
	struct vt_flow flow;

	*p = (struct places){.loop = loop,
			     .samples = calloc(size, sizeof(*p->samples)),
			     .insns = calloc(size, sizeof(*p->insns))};
	if (!p->samples || !p->insns)
		return false;
	for (at = 0; at < size; at += flow.length) {
		if (!vt_flow_decode(loop->code + at, size - at, &flow))
			break;
		p->insns[at] = (uint32_t)p->count++;
	}
	return true;
}

static void places_fini(struct places *p)
{
	free(p->samples);
	free(p->insns);
}

static size_t find_insn(const struct places *p, const uint8_t *code)
{
	return p->insns[code - p->loop->code];
}

static void count_sample(void *arg, uint64_t ip)
{
	struct places *p = arg;
	uint64_t at = ip - (uint64_t)(uintptr_t)p->loop->code;

	p->total++;
	if (at < (uint64_t)(p->loop->end - p->loop->code))
		p->samples[p->insns[at]]++;
}

/* Goes through a loop; sampled unless `s` is NULL, and then `p` counts the samples. */
static int run_slice(struct calibrating *g, unsigned loop, uint64_t visits, struct sampler *s,
		     struct places *p, struct worker_time *t, struct vt_error *err)
{
	int code;

	if (s && !sampler_start(s))
		return vt_error_errno(err, VT_E_SYSTEM, errno, "perf_event_open");
	code = worker_run(&g->worker, loop, visits, t, err);
	if (s) {
		sampler_stop(s);
		sampler_take(s, count_sample, p);
	}
	if (code == 0) {
		g->ticks += t->ticks;
		g->ns += t->ns;
	}
	return code;
}

/* Sets *visits to as many as a slice has. */
static int size_slice(struct calibrating *g, unsigned loop, uint64_t *visits, struct vt_error *err)
{
	struct worker_time t = {0};
	uint64_t n;
	int code = 0;

	/* The first run of a loop is no measure: it may have to fetch all it needs. */
	for (n = 64; code == 0 && t.cpu_ns < SLICE_NS / 16 && n < MAX_VISITS; n *= 2)
		code = run_slice(g, loop, n, NULL, NULL, &t, err);
	if (code == 0 && !(t.cpu_ns > 0))
		code = vt_error_set(err, VT_E_SYSTEM, "the CPU clock stands still");
	if (code == 0)
		*visits = 1 + (uint64_t)((double)n / 2 * SLICE_NS / t.cpu_ns);
	return code;
}

/* The period of a rate, in the event's unit: no multiple of what loops may take. */
static uint64_t find_period(const struct calibrating *g, double hz)
{
	return (uint64_t)((g->machine->cycles ? g->c->clock : 1) * 1e9 / hz) + 3;
}

static int open_sampler(struct calibrating *g, double hz, struct sampler *s, struct vt_error *err)
{
	return sampler_open(s, g->machine, g->worker.pid, find_period(g, hz), err);
}

static void close_sampler(struct calibrating *g, struct sampler *s)
{
	g->c->lost += (double)s->lost;
	sampler_close(s);
}

/* ---- the clock, and what interrupts cost ---- */

/* The CPU time of slices of a loop, bare and at each rate. */
struct slices {
	double bare[SLICES];
	double sampled[VT_CALIBRATION_RATES][SLICES];
	double samples[VT_CALIBRATION_RATES];
	size_t count;
};

static int add_slices(struct calibrating *g, unsigned loop, uint64_t visits, struct sampler *s,
		      struct slices *sl, struct vt_error *err)
{
	struct places p;
	struct worker_time t = {0};
	int code = places_init(&p, planted_of(loop)) ? 0 : vt_error_nomem(err), i;

	if (code == 0)
		code = run_slice(g, loop, visits, NULL, NULL, &t, err);
	sl->bare[sl->count] = t.cpu_ns;
	for (i = 0; i < VT_CALIBRATION_RATES && s && code == 0; i++) {
		p.total = 0;
		code = run_slice(g, loop, visits, &s[i], &p, &t, err);
		sl->sampled[i][sl->count] = t.cpu_ns;
		sl->samples[i] += (double)p.total;
	}
	places_fini(&p);
	sl->count++;
	return code;
}

/* Runs each chain in turns, so that all see the same of what else the machine does. */
static int run_chains(struct calibrating *g, struct sampler *s, struct slices *sl, uint64_t *visits,
		      struct vt_error *err)
{
	double end = read_seconds() + CLOCK_SECONDS;
	int code = 0;
	size_t i, round;

	for (i = 0; i <= CHAINS && code == 0; i++)
		code = size_slice(g, PLANTED_ADD + (unsigned)i, &visits[i], err);
	for (round = 0; round < SLICES && (round < MIN_SLICES || read_seconds() < end); round++)
		for (i = 0; i <= CHAINS && code == 0; i++)
			code = add_slices(g, PLANTED_ADD + (unsigned)i, visits[i],
					  i < CHAINS ? s : NULL, &sl[i], err);
	return code;
}

static void find_rate(struct calibrating *g, struct vt_timed_loop *loops, struct slices *sl,
		      int rate)
{
	struct vt_calibration_rate *r = &g->c->rates[rate];
	struct vt_interrupts found;
	struct vt_spread clock;
	double all;
	size_t k;
	int i;

	for (i = 0; i < CHAINS; i++) {
		all = 0;
		for (k = 0; k < sl[i].count; k++)
			all += sl[i].sampled[rate][k];
		loops[i].sampled_ns = vt_median(sl[i].sampled[rate], sl[i].count);
		loops[i].samples = sl[i].samples[rate] * loops[i].sampled_ns / all;
	}
	found = vt_interrupts_find(loops, CHAINS);
	clock = vt_clock_effective(loops, CHAINS, (double)find_period(g, rates[rate]));
	*r = (struct vt_calibration_rate){.hz = rates[rate],
					  .rate = found.rate,
					  .cost = found.cost,
					  .lost = found.lost,
					  .effective = clock.mean,
					  .spread = clock.width};
}

static void find_clock(struct calibrating *g, struct slices *sl, const uint64_t *visits)
{
	struct vt_timed_loop loops[CHAINS];
	struct vt_spread clock;
	double multiplies;
	int i;

	for (i = 0; i < CHAINS; i++)
		loops[i] = (struct vt_timed_loop){
			.cycles =
				(double)visits[i] * planted_of(PLANTED_ADD + (unsigned)i)->singles,
			.bare_ns = vt_median(sl[i].bare, sl[i].count)};
	clock = vt_clock_bare(loops, CHAINS);
	g->c->clock = clock.mean;
	g->c->spread = clock.width;
	multiplies = (double)visits[CHAINS] * planted_of(PLANTED_MULTIPLY)->multiplies;
	g->c->multiply = vt_median(sl[CHAINS].bare, sl[CHAINS].count) * clock.mean / multiplies;
	for (i = 0; i < VT_CALIBRATION_RATES; i++)
		find_rate(g, loops, sl, i);
}

/* A first clock, that periods in cycles need. */
static int guess_clock(struct calibrating *g, struct vt_error *err)
{
	struct worker_time t = {0};
	uint64_t visits;
	int code = size_slice(g, PLANTED_ADD, &visits, err);

	if (code == 0)
		code = run_slice(g, PLANTED_ADD, visits, NULL, NULL, &t, err);
	if (code == 0)
		g->c->clock = (double)visits * planted_of(PLANTED_ADD)->singles / t.cpu_ns;
	return code;
}

static int calibrate_clock(struct calibrating *g, struct vt_error *err)
{
	struct sampler s[VT_CALIBRATION_RATES] = {{.fd = -1}, {.fd = -1}};
	struct slices sl[CHAINS + 1] = {0};
	uint64_t visits[CHAINS + 1];
	int code = guess_clock(g, err), i;

	for (i = 0; i < VT_CALIBRATION_RATES && code == 0; i++)
		code = open_sampler(g, rates[i], &s[i], err);
	if (code == 0)
		code = run_chains(g, s, sl, visits, err);
	if (code == 0)
		find_clock(g, sl, visits);
	for (i = 0; i < VT_CALIBRATION_RATES; i++)
		close_sampler(g, &s[i]);
	return code;
}

/* ---- where samples lie ---- */

/* Samples a loop for so long, or for a slice if that takes longer. */
static int sample_loop(struct calibrating *g, unsigned loop, double seconds, struct places *p,
		       struct vt_error *err)
{
	double end = read_seconds() + seconds;
	struct sampler s = {.fd = -1};
	struct worker_time t;
	uint64_t visits;
	int code = size_slice(g, loop, &visits, err);

	if (code == 0)
		code = open_sampler(g, rates[FAST], &s, err);
	while (code == 0) {
		code = run_slice(g, loop, visits, &s, p, &t, err);
		if (read_seconds() >= end)
			break;
	}
	close_sampler(g, &s);
	return code;
}

static int calibrate_skid(struct calibrating *g, struct vt_error *err)
{
	struct places p;
	int code = places_init(&p, planted_of(PLANTED_MISS)) ? 0 : vt_error_nomem(err);

	if (code == 0)
		code = sample_loop(g, PLANTED_MISS, MISS_SECONDS, &p, err);
	if (code == 0)
		g->c->skid = vt_skid_find(p.samples, p.count, 0);
	places_fini(&p);
	return code;
}

/* The regions of a serial loop: multiplications, additions, and additions beside others. */
static struct vt_serial find_regions(struct calibrating *g, struct places *p)
{
	const struct planted *l = p->loop;
	struct vt_serial r = {.count = PLANTED_REGIONS};
	size_t i, insn, end;

	vt_skid_charge(vt_calibration_policy(g->c), p->samples, p->count);
	for (i = 0; i < PLANTED_REGIONS; i++) {
		insn = find_insn(p, l->regions[i]);
		end = i + 1 < PLANTED_REGIONS ? find_insn(p, l->regions[i + 1]) : p->count;
		r.cycles[i] =
			i ? l->singles / (PLANTED_REGIONS - 1.) : l->multiplies * g->c->multiply;
		for (; insn < end; insn++)
			r.samples[i] += p->samples[insn];
	}
	return r;
}

static int calibrate_length(struct calibrating *g, unsigned loop, struct vt_serial_errors *e,
			    struct vt_error *err)
{
	struct vt_serial regions;
	struct places p;
	int code = places_init(&p, planted_of(loop)) ? 0 : vt_error_nomem(err);

	if (code == 0)
		code = sample_loop(g, loop, LENGTH_SECONDS, &p, err);
	if (code == 0) {
		regions = find_regions(g, &p);
		*e = vt_serial_compare(&regions);
	}
	places_fini(&p);
	return code;
}

static int calibrate_regions(struct calibrating *g, struct vt_error *err)
{
	struct vt_serial_errors e[PLANTED_LENGTHS];
	size_t worst;
	unsigned i;
	int code;

	_Static_assert(PLANTED_LENGTHS == VT_CALIBRATION_LENGTHS, "one record for each");
	for (i = 0; i < PLANTED_LENGTHS; i++) {
		code = calibrate_length(g, PLANTED_SERIAL + i, &e[i], err);
		if (code < 0)
			return code;
		worst = vt_serial_worst(&e[i]);
		g->c->lengths[i] = (struct vt_calibration_length){
			e[i].cycles, e[i].samples, e[i].error[worst], e[i].sigma[worst]};
	}
	if (!vt_serial_bound(e, PLANTED_LENGTHS, &g->c->bound))
		g->c->bound.least = 0;
	return 0;
}

int measure_machine(const struct probe *m, struct vt_calibration *c, struct vt_error *err)
{
	struct calibrating g = {.machine = m, .c = c};
	int code = worker_start(&g.worker, err);

	if (code == 0)
		code = calibrate_clock(&g, err);
	if (code == 0)
		code = calibrate_skid(&g, err);
	if (code == 0)
		code = calibrate_regions(&g, err);
	if (code == 0)
		c->tsc = g.ticks / g.ns;
	worker_end(&g.worker);
	return code;
}
