/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Frequencies and culprits of any code with any samples.  An input is a byte that picks machine and
 * method, one that tells how large the procedure is, its machine code, and for each instruction a
 * byte: how many samples it has, as a power of 2 in the upper half and as a factor in the lower.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/culprit.h"
#include "analysis/freq.h"
#include "base/bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define START	 0x401000
#define PERIOD	 1000
#define MAX_CODE 256 /* bytes */

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

/* Culprits of what was found to be executed. */
static void find_culprits(const struct vt_core *m, const struct vt_procflow *f,
			  const struct vt_freqs *found, const struct vt_freq_input *in,
			  const uint8_t *code, size_t size)
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
	struct vt_error err;
	uint32_t i;
	size_t k;

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
	check(evidence && vt_culprit_collect(&ci, evidence, &err) == 0, "no evidence");
	vt_culprit_learn(evidence, &shares);
	for (i = 0; i < VT_NSTALLS; i++)
		check(shares.of[i] >= 0 && shares.of[i] <= 1, "no share");
	ci.shares = &shares;
	check(vt_culprit_find(&ci, &stalls, &err) == 0, "no culprits");
	for (k = 0; k < stalls.count; k++) {
		const struct vt_culprit_stall *s = &stalls.list[k];

		check(s->insn < f->cfg->ninsns && s->nguilty <= VT_CULPRIT_GUILTY, "nobody's");
		check(isfinite(s->low) && isfinite(s->high) && s->low <= s->high, "no interval");
	}
	vt_culprit_stalls_fini(&stalls);
	vt_culprit_evidence_free(evidence);
	free(insns);
	free(edges);
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
				   .method = methods[how % 3],
				   .skewed = how & 8};
	struct vt_freqs *found;
	struct vt_error err;
	uint32_t i;

	for (i = 0; i < f->cfg->ninsns; i++) {
		uint8_t n = vt_cursor_u8(c);

		samples[i] = (uint64_t)(n & 15) << 2 * (n >> 4);
		cycles[i] = (double)samples[i] * PERIOD;
	}
	found = vt_freqs_new(&in, &err);
	check(found != NULL, "no frequencies");
	for (i = 0; i < f->cfg->ninsns; i++)
		check_value(&found->insn[i]);
	for (i = 0; i < f->cfg->nedges; i++)
		check_value(&found->edge[i]);
	find_culprits(m, f, found, &in, code, size);
	vt_freqs_free(found);
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
