/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The culprits of all procedures of a stream: which measurements come to which instruction and
 * edge, what is learnt from all of them first, and what is counted.  Each procedure is judged again
 * here, from tables of what its input should be.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "culprit/culprits.h"
#include "tests/unit/common/scenes.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/common/toolbox.h"

#define FIRST 3 /* images, the same program */
#define AGAIN 4
#define GONE  9
#define TEXT  0x400000 /* addresses less offsets in the file */
#define EDGES 16
#define PROCS 4

static struct vt_error err;
static char *dir;
static enum vt_policy policy = VT_POLICY_MODEL; /* of all events */

/* The loop is entered by a branch and by what is behind a call; in 401018 there is no procedure. */
static const char program[] = ".text\n"
			      ".type f,@function\n"
			      "f: test %edi,%edi\n"  /* 401000 */
			      "je 1f\n"		     /* 401002 */
			      "nop\n"		     /* 401004 */
			      "call g\n"	     /* 401005 */
			      "1: mov (%rdi),%rax\n" /* 40100a */
			      "lea 1(%rax),%rbx\n"   /* 40100d */
			      "dec %edi\n"	     /* 401011 */
			      "jne 1b\n"	     /* 401013 */
			      "ret\n"		     /* 401015 */
			      ".size f,.-f\n"
			      ".type g,@function\n"
			      "g: nop\n" /* 401016 */
			      "ret\n"	 /* 401017 */
			      ".size g,.-g\n"
			      "nop\nnop\n" /* 401018 */
			      ".type huge,@function\n"
			      "huge: nop\n" /* 40101a */
			      ".size huge,0x5000000\n";

static int compile(void **state)
{
	(void)state;
	dir = toolbox_dir();
	scene_program(dir, program);
	return 0;
}

static int discard(void **state)
{
	(void)state;
	toolbox_remove(dir);
	return 0;
}

/* What a stream says of an address, and the cycles that a sample should stand for. */
static const struct measured {
	uint32_t image;
	uint32_t addr;
	double executions;
	double cycles;
	uint64_t samples;
	uint64_t period;
	enum vt_confidence confidence;
	enum vt_method method;
	double each;
} measured[] = {
	{FIRST, TEXT, 1e6, 5, 1000, 1000, VT_CONFIDENCE_LOW, VT_METHOD_FLOW, 0},
	{FIRST, 0x401000, 100, 9, 10, 4000, VT_CONFIDENCE_HIGH, VT_METHOD_FLOW, 400},
	{FIRST, 0x401002, 100, 1, 0, 0, VT_CONFIDENCE_HIGH, VT_METHOD_FLOW, 0},
	/* in the middle of an instruction */
	{FIRST, 0x401003, 1e6, 5, 1000, 1000, VT_CONFIDENCE_LOW, VT_METHOD_FLOW, 0},
	{FIRST, 0x401004, 60, 7, 3, 90, VT_CONFIDENCE_LOW, VT_METHOD_PAPER, 30},
	{FIRST, 0x401005, 60, 0, 0, 25, VT_CONFIDENCE_LOW, VT_METHOD_PAPER, 25},
	{FIRST, 0x40100a, 490, 12, 20, 600, VT_CONFIDENCE_MEDIUM, VT_METHOD_FLOW, 30},
	{FIRST, 0x40100d, 490, 3, 60, 1800, VT_CONFIDENCE_MEDIUM, VT_METHOD_MODEL, 0},
	{FIRST, 0x401011, 0, 5, 1, 30, VT_CONFIDENCE_NONE, VT_METHOD_FLOW, 30},
	{FIRST, 0x401013, 490, 3, 2, 50, VT_CONFIDENCE_MEDIUM, VT_METHOD_FLOW, 25},
	{FIRST, 0x401015, 100, 30, 4, 80, VT_CONFIDENCE_EXACT, VT_METHOD_COUNTED, 20},
	{FIRST, 0x401016, 80, 6, 5, 100, VT_CONFIDENCE_EXACT, VT_METHOD_COUNTED, 20},
	{FIRST, 0x401017, 0.5, 2, 0, 0, VT_CONFIDENCE_EXACT, VT_METHOD_COUNTED, 0},
	{FIRST, 0x401018, 1e6, 5, 1000, 1000, VT_CONFIDENCE_LOW, VT_METHOD_FLOW, 0},
	/* too large for its code to be looked at */
	{FIRST, 0x40101a, 1e6, 5, 1000, 1000, VT_CONFIDENCE_LOW, VT_METHOD_FLOW, 0},
	{AGAIN, 0x401000, 100, 4, 2, 60, VT_CONFIDENCE_HIGH, VT_METHOD_FLOW, 30},
	{AGAIN, 0x401002, 100, 20, 2, 60, VT_CONFIDENCE_HIGH, VT_METHOD_FLOW, 30},
	{AGAIN, 0x40100a, 490, 50, 8, 160, VT_CONFIDENCE_HIGH, VT_METHOD_FLOW, 20},
	/* What stalls here hardly ever stalls in the first procedure. */
	{AGAIN, 0x40100d, 490, 21, 0, 0, VT_CONFIDENCE_HIGH, VT_METHOD_MODEL, 0},
	{AGAIN, 0x401013, 490, 9, 8, 160, VT_CONFIDENCE_HIGH, VT_METHOD_FLOW, 20},
	{GONE, 0x401000, 1e6, 5, 1000, 1000, VT_CONFIDENCE_LOW, VT_METHOD_FLOW, 0},
};

#define MEASURED (sizeof(measured) / sizeof(measured[0]))

/*
 * How often control takes each edge, 0 as `from`: from outside, as `to`: to there.  Of the first
 * program's procedures, two edges are told, all others left over by those and the blocks' ends;
 * where the ends do not agree, what gets into a block says more.
 */
static const struct edge {
	uint32_t image;
	uint32_t from; /* the last instruction of a block */
	uint32_t to;
	double executions;
	bool told;
} edges[] = {
	{FIRST, 0, 0x401000, 100, false},
	{FIRST, 0x401002, 0x401004, 60, true},
	{FIRST, 0x401002, 0x40100a, 40, false},
	{FIRST, 0x401005, 0x40100a, 490 - 400 - 40, false},
	{FIRST, 0x401013, 0x40100a, 400, true},
	{FIRST, 0x401013, 0x401015, 100, false},
	{FIRST, 0x401015, 0, 100, false},
	{FIRST, 0, 0x401016, 80, false},
	{FIRST, 0x401017, 0, 0.5, false},
	/* Nothing else is known of the block behind the branch, nor of the last one. */
	{AGAIN, 0, 0x401000, 100, false},
	{AGAIN, 0x401002, 0x401004, 65, false},
	{AGAIN, 0x401002, 0x40100a, 490 - 400 - 55, false},
	{AGAIN, 0x401005, 0x40100a, 55, true},
	{AGAIN, 0x401013, 0x40100a, 400, true},
	{AGAIN, 0x401013, 0x401015, 90, false},
	{AGAIN, 0x401015, 0, (double)NAN, false},
};

#define NEDGES (sizeof(edges) / sizeof(edges[0]))

/* Samples of events; those of one sort stand for as many as the most of them do. */
static const struct {
	const char *name;
	uint64_t sampling;
	enum vt_culprit_event event;
} events[] = {
	{"branchmp", 7, VT_CULPRIT_BRANCHMP}, /* none was sampled */
	{"dmiss", 0, VT_CULPRIT_DMISS},	      {"L1-dcache-load-misses", 0, VT_CULPRIT_DMISS},
	{"itbmiss", 9, VT_CULPRIT_ITBMISS},   {"other", 1000, VT_NCULPRIT_EVENTS},
	{"imiss", 1000, VT_CULPRIT_IMISS},
};

static const struct {
	uint32_t image;
	uint32_t addr;
	uint32_t event;
	uint64_t samples;
	uint64_t period;
} counts[] = {
	{FIRST, 0x401000, 3, 1, 2},   {FIRST, 0x40100a, 1, 3, 15},   {FIRST, 0x40100d, 1, 4, 20},
	{FIRST, 0x40100d, 2, 1, 4},   {FIRST, 0x40100e, 1, 90, 450}, {FIRST, 0x401015, 3, 2, 4},
	{FIRST, 0x401016, 1, 5, 25},  {FIRST, 0x401017, 3, 6, 12},   {FIRST, 0x401018, 1, 70, 350},
	{FIRST, 0x401011, 4, 9, 99},  {AGAIN, 0x401000, 1, 1, 5},    {AGAIN, 0x40100a, 1, 2, 10},
	{GONE, 0x40100a, 1, 50, 250}, {FIRST, 0x401000, 5, 8, 24},   {FIRST, 0x401016, 5, 2, 6},
};

static const double periods[VT_NCULPRIT_EVENTS] = {[VT_CULPRIT_IMISS] = 3,
						   [VT_CULPRIT_DMISS] = 5,
						   [VT_CULPRIT_BRANCHMP] = 7,
						   [VT_CULPRIT_ITBMISS] = 2};

/*
 * What branch stacks tell, of one branch in two processes and of one that is known in one of them
 * only; and what it is together: 20 by 10 and 10 by 4 cycles, each with 20 of the deviation.
 */
static const struct {
	uint32_t image;
	uint32_t addr;
	uint64_t branches;
	uint64_t mispredicted;
	double cost;
	double deviation;
} mispredicts[] = {
	{FIRST, 0x401013, 100, 20, 10, 1},
	{FIRST, 0x401013, 50, 10, 4, 2},
	{FIRST, 0x401002, 30, 1, 0, (double)INFINITY},
	{FIRST, 0x401002, 40, 5, 3, 0.5},
	{AGAIN, 0x401015, 9, 2, 0, (double)INFINITY},
};

static const struct {
	uint32_t image;
	uint32_t addr;
	struct vt_culprit_branch told;
} branches[] = {
	{FIRST, 0x401013, {150, 30, 8, 20 * 1.4142135623730951 / 30}},
	{FIRST, 0x401002, {70, 6, 3, 0.5}},
	{AGAIN, 0x401015, {9, 2, 0, (double)INFINITY}},
};

/* Samples of loads, of two events, in several records of one place; one is in an instruction. */
static const struct {
	uint32_t image;
	uint32_t addr;
	uint64_t told[4];
} loads[] = {
	{FIRST, 0x40100a, {10, 1, 9, 2}},	 {FIRST, 0x40100a, {100, 30, 200, 70}},
	{FIRST, 0x40100a, {1000, 500, 3000, 7}}, {FIRST, 0x40100b, {4, 4, 4, 4}},
	{AGAIN, 0x401015, {5, 4, 3, 2}},	 {GONE, 0x40100a, {7, 7, 7, 7}},
};

/* ---- the stream ---- */

static void put_f64(uint64_t *field, double v)
{
	memcpy(field, &v, sizeof(v));
}

static void put_measured(struct vt_writer *w)
{
	uint64_t *row;
	size_t i;

	for (i = 0; i < MEASURED; i++) {
		const struct measured *m = &measured[i];

		row = scene_freq(w, m->image, m->addr - TEXT, m->executions, m->cycles, 1);

		put_f64(&row[VT_FREQ_LOW], 0.75 * m->executions);
		put_f64(&row[VT_FREQ_HIGH], 1.25 * m->executions);
		row[VT_FREQ_SAMPLES] = m->samples;
		row[VT_FREQ_PERIOD] = m->period;
		row[VT_FREQ_CONFIDENCE] = m->confidence;
		row[VT_FREQ_METHOD] = m->method;
	}
	for (i = 0; i < NEDGES; i++) {
		if (!edges[i].told)
			continue;
		row = vt_writer_row(w, VT_EDGE);
		row[VT_EDGE_IMAGE] = edges[i].image;
		row[VT_EDGE_FROM] = edges[i].from - TEXT;
		row[VT_EDGE_TO] = edges[i].to - TEXT;
		put_f64(&row[VT_EDGE_EXECUTIONS], edges[i].executions);
	}
}

static void put_mispredicts(struct vt_writer *w)
{
	size_t i;

	for (i = 0; i < sizeof(mispredicts) / sizeof(mispredicts[0]); i++) {
		uint64_t *row = vt_writer_row(w, VT_MISPREDICT);

		row[VT_MISPREDICT_IMAGE] = mispredicts[i].image;
		row[VT_MISPREDICT_OFFSET] = mispredicts[i].addr - TEXT;
		row[VT_MISPREDICT_BRANCHES] = mispredicts[i].branches;
		row[VT_MISPREDICT_MISPREDICTED] = mispredicts[i].mispredicted;
		put_f64(&row[VT_MISPREDICT_COST], mispredicts[i].cost);
		put_f64(&row[VT_MISPREDICT_DEVIATION], mispredicts[i].deviation);
	}
}

static void put_loads(struct vt_writer *w)
{
	size_t i;

	for (i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		uint64_t *row = vt_writer_row(w, VT_LOADS);

		row[VT_LOADS_IMAGE] = loads[i].image;
		row[VT_LOADS_OFFSET] = loads[i].addr - TEXT;
		row[VT_LOADS_EVENT] = i % 2;
		memcpy(&row[VT_LOADS_CACHE_KNOWN], loads[i].told, sizeof(loads[i].told));
	}
}

static void put_events(struct vt_writer *w, bool sampled)
{
	size_t i;

	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		uint64_t *row = vt_writer_row(w, VT_EVENT);

		row[VT_EVENT_ID] = i;
		row[VT_EVENT_POLICY] = policy;
		row[VT_EVENT_PERIOD] = events[i].sampling;
		vt_writer_text(w, VT_EVENT_NAME, events[i].name);
	}
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]) && sampled; i++) {
		uint64_t *row = vt_writer_row(w, VT_COUNT);

		row[VT_COUNT_IMAGE] = counts[i].image;
		row[VT_COUNT_OFFSET] = counts[i].addr - TEXT;
		row[VT_COUNT_EVENT] = counts[i].event;
		row[VT_COUNT_SAMPLES] = counts[i].samples;
		row[VT_COUNT_PERIOD] = counts[i].period;
	}
}

static void read_scene(struct scene *s, bool sampled)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);

	scene_image(w, FIRST, toolbox_path(dir, "prog"));
	scene_image(w, AGAIN, toolbox_path(dir, "prog"));
	scene_image(w, GONE, toolbox_path(dir, "none"));
	put_events(w, sampled);
	put_measured(w);
	put_mispredicts(w);
	put_loads(w);
	scene_read(s, fd, w, false);
}

/* ---- what each procedure should be judged from ---- */

struct input {
	struct vt_procedure proc;
	struct vt_procflow *flow;
	struct vt_culprit_insn *insns;
	double edges[EDGES];
	struct vt_culprit_input in;
};

struct expected {
	struct scene scene;
	struct vt_core core;
	bool sampled;
	struct input procs[PROCS];
	unsigned nprocs;
	struct vt_footprint *footprint;
	struct vt_culprit_shares shares;
	double low[VT_NSTALLS];
	double high[VT_NSTALLS];
	unsigned seen;
	unsigned stop; /* the call that fails */
};

static double edge_executions(const struct input *x, const struct vt_cfg_edge *e)
{
	const struct vt_cfg *g = x->flow->cfg;
	const struct vt_cfg_block *from = &g->blocks[e->from], *to = &g->blocks[e->to];
	uint64_t last = from->ninsns ? g->insns[from->insn + from->ninsns - 1].addr : 0;
	size_t i;

	for (i = 0; i < NEDGES; i++)
		if (edges[i].image == x->proc.image && edges[i].from == last &&
		    edges[i].to == (to->ninsns ? to->start : 0))
			return edges[i].executions;
	fail_msg("no edge from %#x to %#x", (unsigned)last, (unsigned)to->start);
	return 0;
}

static void fill_insns(struct input *x, bool sampled)
{
	const struct vt_cfg *g = x->flow->cfg;
	uint32_t i;
	size_t k;

	for (i = 0; i < g->ninsns; i++) {
		struct vt_culprit_insn *insn = &x->insns[i];

		insn->executions = NAN;
		for (k = 0; k < MEASURED; k++) {
			const struct measured *m = &measured[k];

			if (m->image != x->proc.image || m->addr != g->insns[i].addr)
				continue;
			/* The limits are 4 deviations apart. */
			*insn = (struct vt_culprit_insn){.executions = m->executions,
							 .cycles = m->cycles,
							 .period = m->each,
							 .confidence = m->confidence,
							 .time_samples = m->samples,
							 .doubt = m->executions > 0 ? 0.125 : 0};
			x->in.exact_time |= m->method == VT_METHOD_MODEL;
		}
		for (k = 0; k < sizeof(counts) / sizeof(counts[0]) && sampled; k++)
			if (counts[k].image == x->proc.image &&
			    events[counts[k].event].event < VT_NCULPRIT_EVENTS &&
			    vt_cfg_insn_at(g, counts[k].addr) == i)
				insn->samples[events[counts[k].event].event] +=
					(float)counts[k].samples;
	}
}

static void fill_branches_and_loads(struct input *x)
{
	size_t i;

	for (i = 0; i < sizeof(branches) / sizeof(branches[0]); i++)
		if (branches[i].image == x->proc.image && branches[i].addr < x->proc.end &&
		    branches[i].addr >= x->proc.start)
			x->insns[vt_cfg_insn_at(x->flow->cfg, branches[i].addr)].branch =
				branches[i].told;
	if (x->proc.image == AGAIN)
		x->insns[vt_cfg_insn_at(x->flow->cfg, 0x401015)].loads =
			(struct vt_culprit_loads){5, 4, 3, 2};
	else if (x->proc.start == 0x401000)
		x->insns[vt_cfg_insn_at(x->flow->cfg, 0x40100a)].loads =
			(struct vt_culprit_loads){1110, 531, 3209, 79};
}

static void expect_procedure(struct expected *x, uint32_t image, uint64_t start, uint64_t end,
			     const char *name)
{
	struct input *p = &x->procs[x->nprocs++];
	enum vt_unknown why;
	uint32_t i;

	p->proc = (struct vt_procedure){
		.image = image, .start = start, .end = end, .symbol = name, .name = name};
	p->flow = vt_procflow_graph(x->scene.images, x->scene.code, &p->proc, &err);
	assert_non_null(p->flow);
	p->insns = calloc(p->flow->cfg->ninsns, sizeof(*p->insns));
	assert_true(p->insns && p->flow->cfg->nedges <= EDGES);
	for (i = 0; i < p->flow->cfg->nedges; i++)
		p->edges[i] = edge_executions(p, &p->flow->cfg->edges[i]);
	assert_int_equal(vt_procflow_schedule(p->flow, x->scene.images, x->scene.code, &x->core,
					      p->edges, &err),
			 0);
	p->in = (struct vt_culprit_input){.core = &x->core,
					  .flow = p->flow,
					  .insns = p->insns,
					  .edges = p->edges,
					  .footprint = x->footprint,
					  .least_peak = 10};
	fill_insns(p, x->sampled);
	fill_branches_and_loads(p);
	p->in.code =
		vt_elf_bytes(vt_images_elf(x->scene.images, image, &why), start, &p->in.code_size);
	if (x->sampled)
		memcpy(p->in.period, periods, sizeof(periods));
	assert_int_equal(vt_culprit_enter(&p->in, x->footprint, &err), 0);
}

/* What is usual is learnt of all of them. */
static void expect(struct expected *x, const char *core, bool sampled)
{
	struct vt_culprit_evidence *e = vt_culprit_evidence_new();
	unsigned i;

	memset(x, 0, sizeof(*x));
	x->sampled = sampled;
	read_scene(&x->scene, sampled);
	assert_int_equal(vt_core_load(&x->core, core, &err), 0);
	x->footprint = vt_footprint_new(&x->core);
	assert_true(e && x->footprint);
	expect_procedure(x, FIRST, 0x401000, 0x401016, "f");
	expect_procedure(x, FIRST, 0x401016, 0x401018, "g");
	expect_procedure(x, AGAIN, 0x401000, 0x401016, "f");
	assert_int_equal(vt_footprint_finish(x->footprint, &err), 0);
	for (i = 0; i < x->nprocs; i++)
		assert_int_equal(vt_culprit_collect(&x->procs[i].in, e, &err), 0);
	vt_culprit_compute_shares(e, &x->shares);
	vt_culprit_evidence_free(e);
	for (i = 0; i < x->nprocs && x->core.order == VT_IN_ORDER; i++)
		x->procs[i].in.shares = &x->shares;
}

static void forget(struct expected *x)
{
	unsigned i;

	for (i = 0; i < x->nprocs; i++) {
		vt_procflow_free(x->procs[i].flow);
		free(x->procs[i].insns);
	}
	vt_footprint_free(x->footprint);
	scene_drop(&x->scene);
}

/* ---- what it is ---- */

static void check_stalls(struct expected *x, const struct vt_culprits_proc *p,
			 const struct vt_culprit_stalls *s)
{
	size_t i, k;

	assert_int_equal(p->nstalls, s->count);
	for (i = 0; i < s->count; i++) {
		const struct vt_culprit_stall *a = &p->stalls[i], *b = &s->list[i];

		assert_int_equal(a->insn, b->insn);
		assert_int_equal(a->cause, b->cause);
		assert_true(a->low == b->low && a->high == b->high);
		assert_int_equal(a->confidence, b->confidence);
		assert_int_equal(a->nguilty, b->nguilty);
		for (k = 0; k < a->nguilty; k++)
			assert_int_equal(a->guilty[k], b->guilty[k]);
		x->low[b->cause] += b->low;
		x->high[b->cause] += b->high;
	}
}

static void check_branch(const struct vt_culprit_branch *a, const struct vt_culprit_branch *b)
{
	assert_true(a->branches == b->branches && a->mispredicted == b->mispredicted);
	assert_true(a->cost == b->cost);
	assert_true(isinf(b->deviation) ? isinf(a->deviation)
					: fabs(a->deviation - b->deviation) < 1e-12);
}

static void check_measured(const struct vt_culprit_insn *a, const struct vt_culprit_insn *b)
{
	assert_true(isnan(b->executions) ? isnan(a->executions) : a->executions == b->executions);
	assert_true(a->cycles == b->cycles && a->period == b->period && a->doubt == b->doubt);
	assert_int_equal(a->confidence, b->confidence);
	assert_int_equal(a->time_samples, b->time_samples);
	check_branch(&a->branch, &b->branch);
	assert_memory_equal(&a->loads, &b->loads, sizeof(a->loads));
}

static void check_insns(const struct expected *x, const struct input *want,
			const struct vt_culprits_proc *p)
{
	double sum[VT_NCULPRIT_EVENTS] = {0};
	uint32_t i;
	unsigned e;

	for (i = 0; i < want->flow->cfg->ninsns; i++) {
		const struct vt_schedule_cost *a = &p->flow->costs[i], *b = &want->flow->costs[i];

		assert_true(a->head == b->head && a->best == b->best);
		assert_int_equal(p->freqs[i] == NULL, isnan(want->insns[i].executions));
		if (p->freqs[i])
			assert_true(p->freqs[i]->executions == want->insns[i].executions &&
				    p->freqs[i]->samples == want->insns[i].time_samples);
		check_measured(&p->insns[i], &want->insns[i]);
		for (e = 0; e < VT_NCULPRIT_EVENTS; e++)
			sum[e] += (double)want->insns[i].samples[e] * periods[e];
	}
	for (e = 0; e < VT_NCULPRIT_EVENTS; e++)
		assert_true(p->events[e] == (x->sampled ? sum[e] : 0));
}

/* Out of order, the procedure with 5 samples, of which nothing can be told, comes first. */
static unsigned number_in_turn(const struct expected *x, unsigned seen)
{
	static const unsigned out_of_order[] = {1, 0, 2};

	return x->core.order == VT_OUT_OF_ORDER && seen < 3 ? out_of_order[seen] : seen;
}

static int compare(void *arg, const struct vt_culprits_proc *p, struct vt_error *e)
{
	struct expected *x = arg;
	const struct input *want = &x->procs[number_in_turn(x, x->seen++)];
	struct vt_culprit_stalls s = {0};

	assert_true(x->seen <= x->nprocs);
	assert_int_equal(p->flow->proc.image, want->proc.image);
	assert_int_equal(p->flow->proc.start, want->proc.start);
	assert_int_equal(p->flow->proc.end, want->proc.end);
	assert_string_equal(p->flow->proc.symbol, want->proc.symbol);
	assert_string_equal(p->flow->proc.name, want->proc.name);
	assert_int_equal(p->offset, want->proc.start - TEXT);
	check_insns(x, want, p);
	assert_int_equal(vt_culprit_find(&want->in, &s, &err), 0);
	check_stalls(x, p, &s);
	vt_culprit_stalls_fini(&s);
	if (x->seen == x->stop)
		return vt_error_set(e, VT_E_LIMIT, "enough");
	return 0;
}

static struct vt_culprits_source source(const struct expected *x, unsigned threads)
{
	static const uint32_t ids[] = {FIRST, AGAIN, GONE};

	return (struct vt_culprits_source){
		.core = &x->core,
		.freq = x->scene.freqs,
		.profile = x->scene.profile,
		.images = x->scene.images,
		.code = x->scene.code,
		.ids = ids,
		.nids = 3,
		.threads = threads,
	};
}

static int run(struct expected *x, unsigned threads, struct vt_culprits_totals *t)
{
	const struct vt_culprits_source src = source(x, threads);

	return vt_culprits_run(&src, compare, x, t, &err);
}

static void check_totals(const struct expected *x, const struct vt_culprits_totals *t)
{
	unsigned i;

	assert_int_equal(t->procedures, 3);
	assert_int_equal(t->without_code, 1);
	assert_int_equal(t->places, MEASURED);
	assert_int_equal(t->outside, 4);
	assert_int_equal(t->samples, 105 + 20);
	assert_int_equal(t->by_confidence[VT_CONFIDENCE_NONE], 1);
	assert_int_equal(t->by_confidence[VT_CONFIDENCE_LOW], 3);
	assert_int_equal(t->by_confidence[VT_CONFIDENCE_MEDIUM], 82);
	assert_int_equal(t->by_confidence[VT_CONFIDENCE_HIGH], 30);
	assert_int_equal(t->by_confidence[VT_CONFIDENCE_EXACT], 9);
	assert_true(t->cycles ==
		    900 + 100 + 420 + 490 * 18 + 3000 + 480 + 1 + (400 + 2000 + 490 * 80));
	/* Of the first one's two procedures, and the other one's. */
	assert_true(t->executions == 100 + 100 + 60 + 60 + 3 * 490 + 100 + 80.5 + 200 + 3 * 490);
	for (i = 0; i < VT_NSTALLS; i++)
		assert_true(fabs(t->low[i] - x->low[i]) < 1e-6 &&
			    fabs(t->high[i] - x->high[i]) < 1e-6);
}

static void test_procedures(void **state)
{
	static const char *const cores[] = {"alpha21164", "skylake"};
	unsigned i;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct vt_culprits_totals t;
		struct expected x;

		expect(&x, cores[i / 2], i % 2);
		assert_int_equal(run(&x, 0, &t), 0);
		assert_int_equal(x.seen, 3);
		check_totals(&x, &t);
		forget(&x);
	}
}

/* Several threads find what one does, in the same order. */
static void test_threads(void **state)
{
	static const unsigned threads[] = {0, 1, 2, 7};
	unsigned i;

	(void)state;
	for (i = 0; i < 2 * sizeof(threads) / sizeof(threads[0]); i++) {
		struct vt_culprits_totals t;
		struct expected x;

		expect(&x, i % 2 ? "skylake" : "alpha21164", true);
		assert_int_equal(run(&x, threads[i / 2], &t), 0);
		assert_int_equal(x.seen, 3);
		check_totals(&x, &t);
		forget(&x);
	}
}

/* Whoever is called may end it. */
static void test_stop(void **state)
{
	unsigned threads;

	(void)state;
	for (threads = 0; threads < 4; threads++) {
		struct vt_culprits_totals t;
		struct expected x;

		expect(&x, "alpha21164", true);
		x.stop = 2;
		assert_int_equal(run(&x, threads, &t), -VT_E_LIMIT);
		assert_int_equal(x.seen, 2);
		forget(&x);
	}
}

/*
 * The event of time has 225 samples, 100 more than are of known places, or 9; of interrupts, what
 * takes less than 20 cycles is nobody's own.
 */
static void test_time_event(void **state)
{
	static const struct {
		uint64_t event;
		uint64_t unknown;
		enum vt_policy policy;
		double least_peak;
	} rows[] = {{1, 100, VT_POLICY_MODEL, 10},
		    {3, 0, VT_POLICY_MODEL, 10},
		    {99, 0, VT_POLICY_INTERRUPT, 10},
		    {1, 100, VT_POLICY_INTERRUPT, 20}};
	unsigned i, k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vt_culprits_totals t;
		struct vt_culprits_source src;
		struct expected x;

		policy = rows[i].policy;
		expect(&x, "skylake", true);
		policy = VT_POLICY_MODEL;
		for (k = 0; k < x.nprocs; k++) {
			x.procs[k].in.least_peak = rows[i].least_peak;
			x.procs[k].in.charged_before = rows[i].least_peak > 10;
		}
		src = source(&x, 0);
		src.event = rows[i].event;
		assert_int_equal(vt_culprits_run(&src, compare, &x, &t, &err), 0);
		assert_int_equal(x.seen, 3);
		assert_int_equal(t.unknown, rows[i].unknown);
		check_totals(&x, &t);
		forget(&x);
	}
}

/* What is written is what a procedure's stalls are, at offsets of its image. */
struct written {
	struct vt_reader *r;
	uint64_t stalls;
};

static int compare_written(void *arg, const struct vt_culprits_proc *p, struct vt_error *e)
{
	struct written *got = arg;
	size_t i, k;

	(void)e;
	for (i = 0; i < p->nstalls; i++, got->stalls++) {
		const struct vt_culprit_stall *s = &p->stalls[i];
		struct vt_record rec = next_of_kind(got->r, VT_STALL);
		struct vt_words guilty = vt_record_words(&rec, VT_STALL_CULPRITS);

		assert_int_equal(vt_record_u64(&rec, VT_STALL_IMAGE), p->flow->proc.image);
		assert_int_equal(vt_record_u64(&rec, VT_STALL_OFFSET),
				 p->flow->cfg->insns[s->insn].addr - TEXT);
		assert_int_equal(vt_record_u64(&rec, VT_STALL_CAUSE), s->cause);
		assert_true(vt_record_f64(&rec, VT_STALL_LOW) == s->low);
		assert_true(vt_record_f64(&rec, VT_STALL_HIGH) == s->high);
		assert_int_equal(vt_record_u64(&rec, VT_STALL_CONFIDENCE), s->confidence);
		assert_int_equal(guilty.count, s->nguilty);
		for (k = 0; k < guilty.count; k++)
			assert_int_equal(guilty.data[k],
					 p->flow->cfg->insns[s->guilty[k]].addr - TEXT);
	}
	return 0;
}

static void expect_meta(struct vt_reader *r, const char *key, const char *value)
{
	struct vt_record rec = next_of_kind(r, VT_META);

	assert_true(vt_record_is_meta(&rec, key));
	assert_true(vt_bytes_are(vt_record_bytes(&rec, VT_META_VALUE), value));
}

static void test_write(void **state)
{
	struct vt_culprits_totals t, again;
	struct vt_culprits_source src;
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct written got = {.stalls = 0};
	struct expected x;

	(void)state;
	expect(&x, "alpha21164", true);
	src = source(&x, 0);
	assert_int_equal(vt_culprits_write(&src, w, &t, &err), 0);
	assert_int_equal(t.procedures, 3);
	got.r = reread_stream(fd, w);
	assert_int_equal(vt_culprits_run(&src, compare_written, &got, &again, &err), 0);
	assert_true(got.stalls > 0);
	expect_meta(got.r, "vculprit.cpu", "alpha21164");
	expect_meta(got.r, "vculprit.procedures", "3");
	expect_meta(got.r, "vculprit.without_code", "1");
	expect_meta(got.r, "vculprit.outside", "4");
	vt_reader_close(got.r);
	close(fd);
	forget(&x);
}

static void test_samples(void **state)
{
	const struct vt_culprits_totals t = {
		.by_confidence = {[VT_CONFIDENCE_NONE] = 5, [VT_CONFIDENCE_LOW] = 6},
		.unknown = 100,
	};

	(void)state;
	assert_int_equal(vt_culprits_samples(&t, VT_CONFIDENCE_NONE), 105);
	assert_int_equal(vt_culprits_samples(&t, VT_CONFIDENCE_LOW), 6);
	assert_int_equal(vt_culprits_samples(&t, VT_CONFIDENCE_HIGH), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_procedures), cmocka_unit_test(test_threads),
		cmocka_unit_test(test_stop),	   cmocka_unit_test(test_write),
		cmocka_unit_test(test_samples),	   cmocka_unit_test(test_time_event),
	};

	return cmocka_run_group_tests(tests, compile, discard);
}
