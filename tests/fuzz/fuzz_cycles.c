/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Frequencies and culprits of any code with any samples.  An input is a byte that picks machine and
 * method, one that tells how large the procedure is, its machine code, and for each instruction a
 * byte: how many samples it has, as a power of 2 in the upper half and as a factor in the lower.
 *
 * The highest bit of the first byte says that more is known.  Then a byte follows whose bits tell
 * what: counts of branch stacks, exact counts, callers, odd numbers for the culprits; and where any
 * is, a byte for each instruction and edge.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "culprit/culprit.h"
#include "freq/freq.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define START	 0x401000
#define PERIOD	 1000
#define MAX_CODE 256 /* bytes */

/* What more is known. */
enum { MEASURED = 1, TIMED = 2, EXACT = 4, CALLED = 8, ODD = 16, FOOTPRINT = 32 };

static void check(bool good, const char *what)
{
	if (!good) {
		fprintf(stderr, "fuzz_cycles: %s\n", what);
		abort();
	}
}

static void *room(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	check(p != NULL, "no memory");
	return p;
}

/* What no estimate would be, but a number in a file may be. */
static double odd_number(uint8_t n)
{
	static const double odd[] = {
		0, 1, 0.5, DBL_MIN, DBL_MAX, 1e300, 1e-300, 1e19, 1.5e9, (double)NAN, 16, 100,
	};

	return n < sizeof(odd) / sizeof(odd[0]) ? odd[n] : (double)n * n * n;
}

/* ---- the procedure ---- */

static void schedule_block(struct vt_procflow *f, const struct vt_core *m,
			   const struct vt_cfg_block *b)
{
	const struct vt_mop *ops[MAX_CODE];
	struct vt_error err;
	uint32_t i, k;

	for (i = 0; i < b->ninsns; i++)
		ops[i] = &f->ops[b->insn + i];
	check(vt_schedule(m, ops, b->ninsns, 0, f->costs + b->insn, &err) == 0, "no schedule");
	for (i = 0; i < b->ninsns; i++)
		for (k = 0; k < f->costs[b->insn + i].nstalls; k++)
			if (f->costs[b->insn + i].stalls[k].culprit >= 0)
				f->costs[b->insn + i].stalls[k].culprit += (int32_t)b->insn;
}

static void make_flow(struct vt_procflow *f, const struct vt_core *m, const uint8_t *code,
		      size_t size)
{
	const struct vt_cfg_source src = {.code = code, .size = size, .start = START};
	struct vt_error err;
	uint32_t b, i;

	memset(f, 0, sizeof(*f));
	f->proc.start = START;
	f->proc.end = START + size;
	f->cfg = vt_cfg_new(&src, &err);
	check(f->cfg != NULL, "no graph");
	f->classes = vt_classes_new(f->cfg, &err);
	check(f->classes != NULL, "no classes");
	f->ops = room(f->cfg->ninsns, sizeof(*f->ops));
	f->costs = room(f->cfg->ninsns, sizeof(*f->costs));
	f->block = room(f->cfg->ninsns, sizeof(*f->block));
	for (i = 0; i < f->cfg->ninsns; i++) {
		size_t at = (size_t)(f->cfg->insns[i].addr - START);

		check(at < size, "an instruction is not in the procedure");
		vt_core_op(m, code + at, size - at, &f->ops[i]);
	}
	for (b = VT_CFG_FIRST; b < f->cfg->nblocks; b++) {
		schedule_block(f, m, &f->cfg->blocks[b]);
		for (i = 0; i < f->cfg->blocks[b].ninsns; i++)
			f->block[f->cfg->blocks[b].insn + i] = b;
	}
}

static void free_flow(struct vt_procflow *f)
{
	vt_cfg_free(f->cfg);
	vt_classes_free(f->classes);
	free(f->ops);
	free(f->costs);
	free(f->block);
}

/* ---- what is found ---- */

static void check_value(const struct vt_freq_value *v)
{
	if (v->confidence == VT_CONFIDENCE_NONE)
		return;
	check(isfinite(v->executions) && v->executions >= 0, "no number of executions");
	check(v->low <= v->executions && v->executions <= v->high, "outside of its interval");
}

/* Two images that have the same code compete for the caches. */
static struct vt_footprint *footprint_of(struct vt_culprit_input *in, struct vt_procflow *f)
{
	struct vt_footprint *p = vt_footprint_new(in->core);
	struct vt_error err;

	check(p != NULL, "no footprint");
	for (f->proc.image = 2; f->proc.image--;)
		check(vt_culprit_enter(in, p, &err) == 0, "no entry");
	f->proc.image = 0;
	check(vt_footprint_finish(p, &err) == 0, "no competition");
	return p;
}

/* What a file may claim: any number of executions that is not negative, and any time or none. */
static void claim(struct vt_culprit_input *in, struct vt_culprit_insn *insns, double *edges,
		  struct vt_cursor *c)
{
	const struct vt_cfg *g = in->flow->cfg;
	uint32_t i;

	for (i = 0; i < g->ninsns; i++) {
		insns[i].executions = odd_number(vt_cursor_u8(c));
		insns[i].cycles = odd_number(vt_cursor_u8(c));
		insns[i].period = odd_number((uint8_t)(i * 7));
		insns[i].samples[i % VT_NCULPRIT_EVENTS] = (float)odd_number((uint8_t)(i * 5));
		if (isnan(insns[i].period))
			insns[i].period = 0;
		if (isnan(insns[i].samples[i % VT_NCULPRIT_EVENTS]))
			insns[i].samples[i % VT_NCULPRIT_EVENTS] = 0;
	}
	for (i = 0; i < g->nedges; i++)
		edges[i] = odd_number(vt_cursor_u8(c));
	for (i = 0; i < VT_NCULPRIT_EVENTS; i++) {
		in->period[i] = odd_number(vt_cursor_u8(c));
		if (isnan(in->period[i]))
			in->period[i] = 0;
	}
}

static void check_stalls(const struct vt_culprit_stalls *stalls, const struct vt_cfg *g, bool odd)
{
	size_t k;

	for (k = 0; k < stalls->count; k++) {
		const struct vt_culprit_stall *s = &stalls->list[k];

		check(s->insn < g->ninsns && s->nguilty <= VT_CULPRIT_GUILTY, "nobody's");
		check(odd || (isfinite(s->low) && isfinite(s->high) && s->low <= s->high),
		      "no interval");
	}
}

/* Culprits of what was found to be executed. */
static void find_culprits(const struct vt_core *m, struct vt_procflow *f,
			  const struct vt_freqs *found, const struct vt_freq_input *in,
			  unsigned what, struct vt_cursor *c, const uint8_t *code, size_t size)
{
	struct vt_culprit_insn *insns = room(f->cfg->ninsns, sizeof(*insns));
	double *edges = room(f->cfg->nedges, sizeof(*edges));
	struct vt_culprit_stalls stalls = {0};
	struct vt_culprit_evidence *evidence = vt_culprit_evidence_new();
	struct vt_culprit_shares shares;
	struct vt_culprit_input ci = {.core = m,
				      .flow = f,
				      .insns = insns,
				      .code = code,
				      .code_size = size,
				      .edges = edges};
	struct vt_footprint *footprint = NULL;
	struct vt_error err;
	uint32_t i;

	for (i = 0; i < f->cfg->nedges; i++)
		edges[i] = found->edge[i].confidence == VT_CONFIDENCE_NONE
				   ? (double)NAN
				   : found->edge[i].executions;
	for (i = 0; i < f->cfg->ninsns; i++) {
		const struct vt_freq_value *v = &found->insn[i];

		if (v->confidence == VT_CONFIDENCE_NONE || !(v->executions > 0))
			continue;
		insns[i].executions = v->executions;
		insns[i].confidence = v->confidence;
		insns[i].cycles = in->cycles[i] / v->executions;
		insns[i].period = PERIOD;
		insns[i].samples[i % VT_NCULPRIT_EVENTS] = (float)in->samples[i] / 3;
	}
	ci.period[VT_CULPRIT_IMISS] = PERIOD;
	ci.period[VT_CULPRIT_BRANCHMP] = 7;
	if (what & ODD)
		claim(&ci, insns, edges, c);
	if (what & FOOTPRINT)
		ci.footprint = footprint = footprint_of(&ci, f);
	check(evidence && vt_culprit_collect(&ci, evidence, &err) == 0, "no evidence");
	vt_culprit_compute_shares(evidence, &shares);
	for (i = 0; i < VT_NSTALLS && !(what & ODD); i++)
		check(shares.of[i] >= 0 && shares.of[i] <= 1, "no share");
	ci.shares = &shares;
	check(vt_culprit_find(&ci, &stalls, &err) == 0, "no culprits");
	check_stalls(&stalls, f->cfg, what & ODD);
	vt_culprit_stalls_fini(&stalls);
	vt_footprint_free(footprint);
	vt_culprit_evidence_free(evidence);
	free(insns);
	free(edges);
}

/* Counts as they come of branch stacks, and of simulators. */
struct counts {
	struct vt_freq_measure *measured;
	struct vt_freq_measure *measured_edges;
	double *exact;
	double *exact_edges;
};

/* -1: not counted; else as samples are. */
static double count_of(uint8_t n)
{
	return n == 255 ? -1 : (double)((uint64_t)(n & 15) << 2 * (n >> 4));
}

static void measure(const struct vt_cfg *g, struct counts *k, struct vt_freq_input *in,
		    struct vt_cursor *c)
{
	uint32_t i;

	k->measured = room(g->ninsns, sizeof(*k->measured));
	k->measured_edges = room(g->nedges, sizeof(*k->measured_edges));
	for (i = 0; i < g->ninsns; i++) {
		k->measured[i].executions = count_of(vt_cursor_u8(c));
		k->measured[i].sigma = sqrt(fmax(k->measured[i].executions, 0));
	}
	for (i = 0; i < g->nedges; i++) {
		k->measured_edges[i].executions = count_of(vt_cursor_u8(c));
		k->measured_edges[i].sigma = k->measured_edges[i].executions / 16;
	}
	in->measured = k->measured;
	in->measured_edges = k->measured_edges;
	in->measure_unit = 1;
}

static void count(const struct vt_cfg *g, struct counts *k, struct vt_freq_input *in,
		  struct vt_cursor *c)
{
	uint32_t i;

	k->exact = room(g->ninsns, sizeof(*k->exact));
	k->exact_edges = room(g->nedges, sizeof(*k->exact_edges));
	for (i = 0; i < g->ninsns; i++)
		k->exact[i] = count_of(vt_cursor_u8(c));
	for (i = 0; i < g->nedges; i++)
		k->exact_edges[i] = count_of(vt_cursor_u8(c));
	in->exact = k->exact;
	in->exact_edges = k->exact_edges;
}

static void counts_fini(struct counts *k)
{
	free(k->measured);
	free(k->measured_edges);
	free(k->exact);
	free(k->exact_edges);
}

static void estimate(const struct vt_core *m, struct vt_procflow *f, unsigned how,
		     struct vt_cursor *c, const uint8_t *code, size_t size)
{
	static const enum vt_method methods[] = {VT_METHOD_FLOW, VT_METHOD_PAPER, VT_METHOD_NAIVE};
	uint64_t *samples = room(f->cfg->ninsns, sizeof(*samples));
	double *cycles = room(f->cfg->ninsns, sizeof(*cycles));
	struct vt_freq_input in = {.flow = f,
				   .core = how & 4 ? m : NULL,
				   .samples = samples,
				   .cycles = cycles,
				   .entries = {.executions = -1},
				   .method = methods[how % 3],
				   .skewed = how & 8};
	struct counts counts = {0};
	struct vt_freqs *found;
	struct vt_error err;
	unsigned what;
	uint32_t i;

	for (i = 0; i < f->cfg->ninsns; i++) {
		uint8_t n = vt_cursor_u8(c);

		samples[i] = (uint64_t)(n & 15) << 2 * (n >> 4);
		cycles[i] = (double)samples[i] * PERIOD;
	}
	what = how & 128 ? vt_cursor_u8(c) : 0;
	in.measure_timed = what & TIMED;
	if (what & MEASURED)
		measure(f->cfg, &counts, &in, c);
	if (what & EXACT)
		count(f->cfg, &counts, &in, c);
	if (what & CALLED)
		in.entries = (struct vt_freq_measure){count_of(vt_cursor_u8(c)), vt_cursor_u8(c)};
	found = vt_freqs_new(&in, &err);
	check(found != NULL, "no frequencies");
	for (i = 0; i < f->cfg->ninsns; i++)
		check_value(&found->insn[i]);
	for (i = 0; i < f->cfg->nedges; i++)
		check_value(&found->edge[i]);
	find_culprits(m, f, found, &in, what, c, code, size);
	vt_freqs_free(found);
	counts_fini(&counts);
	free(samples);
	free(cycles);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const cores[] = {"alpha21164", "skylake", "inorder", "zen4"};
	struct vt_cursor c = vt_cursor_make(data, size, false);
	unsigned how = vt_cursor_u8(&c);
	size_t length = 1u + vt_cursor_u8(&c);
	struct vt_procflow flow;
	const uint8_t *code;
	struct vt_error err;
	struct vt_core m;

	if (vt_cursor_left(&c) < length)
		return 0;
	code = vt_cursor_take(&c, length);
	check(vt_core_load(&m, cores[how >> 4 & 3], &err) == 0, "no machine");
	make_flow(&flow, &m, code, length);
	estimate(&m, &flow, how, &c, code, length);
	free_flow(&flow);
	return 0;
}
