/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/procedure_flow.h"

#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "flow/predecessors.h"
#include "profile/procedure_code.h"
#include "profile/procedure_walk.h"

/*
 * The number of instructions that are scheduled before a block: enough that on all described
 * machines the code before them hardly matters.
 */
#define WARM_IN_ORDER	  40
#define WARM_OUT_OF_ORDER 160

/* Executions of a repeated instruction; all but the first follow another. */
#define REPEATS 4

#define NONE UINT32_MAX /* no edge, no block; in paths: a return */

/* ---- blocks one behind the other, in order ---- */

/* Bounds the memory: a machine has about 4 kB. */
#define MAX_BLOCKS 16384

struct machine {
	uint64_t issued; /* instructions so far */
	struct vt_inorder e;
};

/* The state of the machine behind a block. */
enum { UNKNOWN, SOUGHT, KNOWN };

/*
 * Runs the blocks of a procedure on a machine that issues in order: each block begins with the
 * machine's state behind its most likely predecessor.
 */
struct chain {
	const struct vt_procflow *f;
	const struct vt_mop *ret;
	const uint32_t *before;
	struct machine empty;
	size_t size;		/* used bytes of a machine, whose units come last */
	struct machine *behind; /* by block */
	uint8_t *state;
	uint32_t *way; /* blocks whose machines are sought; each follows the next */
};

static void free_chain(struct chain *c)
{
	if (!c)
		return;
	free(c->behind);
	free(c->state);
	free(c->way);
	free(c);
}

/*
 * Borrows all arguments.  `before` is by block the most likely incoming edge, or NONE.  NULL: out
 * of memory, or the procedure is too large for a machine for each block.
 */
static struct chain *new_chain(const struct vt_procflow *f, const struct vt_core *m,
			       const struct vt_mop *ret, const uint32_t *before)
{
	size_t n = f->cfg->nblocks;
	struct chain *c = n <= MAX_BLOCKS ? calloc(1, sizeof(*c)) : NULL;

	if (!c)
		return NULL;
	c->f = f;
	c->ret = ret;
	c->before = before;
	vt_inorder_init(&c->empty.e, m);
	c->size = offsetof(struct machine, e.units) + m->nunits * sizeof(c->empty.e.units[0]);
	c->behind = malloc(n * sizeof(*c->behind));
	c->state = calloc(n, 1);
	c->way = malloc(n * sizeof(*c->way));
	if (!c->behind || !c->state || !c->way) {
		free_chain(c);
		return NULL;
	}
	return c;
}

static void issue_op(struct machine *m, const struct vt_mop *op, uint32_t index,
		     struct vt_schedule_cost *cost)
{
	vt_schedule_next(&m->e, op, m->issued++ << 32 | index, cost);
}

/* A block on a machine; `costs` may be NULL. */
static void issue_block(const struct chain *c, struct machine *m, uint32_t block,
			struct vt_schedule_cost *costs)
{
	const struct vt_cfg_block *b = &c->f->cfg->blocks[block];
	uint32_t i, k;

	for (i = b->insn; i < b->insn + b->ninsns; i++) {
		const struct vt_mop *op = &c->f->ops[i];

		/* The last execution of a repeated instruction is in the steady state. */
		for (k = 1; k < REPEATS && (op->flags & VT_FACT_REPEATED); k++)
			issue_op(m, op, i, NULL);
		issue_op(m, op, i, costs ? &costs[i - b->insn] : NULL);
		for (k = 0; k < VT_CALL_RETURNS && (op->flags & VT_FACT_CALL); k++)
			issue_op(m, c->ret, NONE, NULL);
	}
}

/* The block that an edge comes from; NONE: from elsewhere. */
static uint32_t edge_source(const struct chain *c, uint32_t edge)
{
	if (edge == NONE || c->f->cfg->edges[edge].from < VT_CFG_FIRST)
		return NONE;
	return c->f->cfg->edges[edge].from;
}

/*
 * Runs a loop for WARM_IN_ORDER instructions: control goes from way[n - 1] down to way[first] and
 * back to way[n - 1].
 */
static void warm_up_loop(const struct chain *c, struct machine *m, uint32_t first, uint32_t n)
{
	const struct vt_cfg_block *blocks = c->f->cfg->blocks;
	uint32_t at = n - 1, insns = 0, back = 0;

	/* Backwards until there are enough; control goes the other way. */
	while (insns < WARM_IN_ORDER) {
		at = at + 1 < n ? at + 1 : first;
		insns += blocks[c->way[at]].ninsns;
		back++;
	}
	for (; back; back--) {
		issue_block(c, m, c->way[at], NULL);
		at = at > first ? at - 1 : n - 1;
	}
}

static void copy_machine(const struct chain *c, struct machine *to, const struct machine *from)
{
	memcpy(to, from, c->size);
}

/* Finds the machine behind a block, and those behind its predecessors. */
static const struct machine *find_machine(struct chain *c, uint32_t block)
{
	uint32_t n = 0, at = block, first;
	struct machine m;

	copy_machine(c, &m, &c->empty);

	for (; at != NONE && c->state[at] == UNKNOWN; at = edge_source(c, c->before[at])) {
		c->state[at] = SOUGHT;
		c->way[n++] = at;
	}
	if (at != NONE && c->state[at] == KNOWN) {
		copy_machine(c, &m, &c->behind[at]);
	} else if (at != NONE) {
		for (first = 0; c->way[first] != at; first++)
			;
		warm_up_loop(c, &m, first, n);
	}
	while (n) {
		at = c->way[--n];
		issue_block(c, &m, at, NULL);
		copy_machine(c, &c->behind[at], &m);
		c->state[at] = KNOWN;
	}
	return &c->behind[block];
}

/* The costs of a block's instructions when control comes by `edge`; NONE: from elsewhere. */
static void cost_block_behind(struct chain *c, uint32_t block, uint32_t edge,
			      struct vt_schedule_cost *costs)
{
	uint32_t from = edge_source(c, edge);
	const struct machine *before = &c->empty;
	struct machine own, *m = &own;

	if (from != NONE)
		before = c->state[from] == KNOWN ? &c->behind[from] : find_machine(c, from);
	/* In a loop, find_machine() may have found it. */
	if (edge == c->before[block] && c->state[block] == UNKNOWN) {
		m = &c->behind[block];
		c->state[block] = KNOWN;
	}
	copy_machine(c, m, before);
	issue_block(c, m, block, costs);
}

/* ---- schedules ---- */

struct scheduler {
	struct vt_procflow *f;
	const struct vt_core *m;
	const uint32_t *before;
	uint32_t warm; /* the most instructions before a block */
	struct vt_mop ret;
	uint32_t *path;			/* instructions of the graph and RETURNs, `cap` of them */
	const struct vt_mop **ops;	/* theirs */
	struct vt_schedule_cost *costs; /* of the block's */
	size_t cap;
	struct vt_ooo *ooo;  /* of machines that issue out of order */
	struct chain *chain; /* NULL: each block begins with what comes before it */
};

/* The instructions that come before an edge's target, the nearest last, in path[0..n). */
static uint32_t gather_before(const struct scheduler *s, uint32_t edge)
{
	const struct vt_cfg *g = s->f->cfg;
	uint32_t n = 0, i, k;

	while (n < s->warm && edge != UINT32_MAX && g->edges[edge].from >= VT_CFG_FIRST) {
		const struct vt_cfg_block *b = &g->blocks[g->edges[edge].from];

		for (i = b->insn + b->ninsns; i > b->insn && n < s->warm; i--) {
			for (k = 0; k < VT_CALL_RETURNS && g->insns[i - 1].flags & VT_FACT_CALL;
			     k++)
				s->path[n++] = NONE;
			s->path[n++] = i - 1;
		}
		edge = s->before[g->edges[edge].from];
	}
	for (i = 0; i < n / 2; i++) {
		uint32_t t = s->path[i];

		s->path[i] = s->path[n - 1 - i];
		s->path[n - 1 - i] = t;
	}
	return n;
}

/* The graph's instruction for an index in costs of path[warm..). */
static int32_t graph_index(const struct scheduler *s, uint32_t warm, int32_t index)
{
	uint32_t insn = index == VT_SCHEDULE_NONE ? NONE : s->path[(int64_t)warm + index];

	return insn == NONE ? VT_SCHEDULE_NONE : (int32_t)insn;
}

/* Appends `count` instructions of the graph to path[0..n); returns the new n. */
static uint32_t append_insns(const struct scheduler *s, uint32_t first, uint32_t count, uint32_t n)
{
	uint32_t i, k;

	for (i = first; i < first + count; i++) {
		s->path[n++] = i;
		for (k = 0; k < VT_CALL_RETURNS && s->f->cfg->insns[i].flags & VT_FACT_CALL; k++)
			s->path[n++] = NONE;
		for (k = 1; k < REPEATS && s->f->cfg->insns[i].flags & VT_FACT_REPEATED; k++)
			s->path[n++] = i;
	}
	return n;
}

/*
 * Computes s->costs for `count` instructions from `first` on, one behind the other, which control
 * enters by `edge`.  UINT32_MAX and edges of the entry mean an empty machine.
 */
static int schedule_insns(struct scheduler *s, uint32_t first, uint32_t count, uint32_t edge,
			  struct vt_error *err)
{
	uint32_t warm = gather_before(s, edge), n = append_insns(s, first, count, warm);
	uint32_t i, j, k = 0;
	int code = 0;

	for (i = 0; i < n; i++)
		s->ops[i] = s->path[i] == NONE ? &s->ret : &s->f->ops[s->path[i]];
	if (s->ooo)
		vt_schedule_on(s->ooo, s->m, s->ops, n, warm, s->costs);
	else
		code = vt_schedule(s->m, s->ops, n, warm, s->costs, err);
	for (i = 0; i < n - warm && code == 0; i++) {
		struct vt_schedule_cost *c = &s->costs[k];

		/* Of one that is repeated, the last is in the steady state. */
		if (s->path[warm + i] == NONE ||
		    (warm + i + 1 < n && s->path[warm + i + 1] == s->path[warm + i]))
			continue;
		s->costs[k++] = s->costs[i];
		c->depends = graph_index(s, warm, c->depends);
		for (j = 0; j < c->nstalls; j++)
			c->stalls[j].culprit = graph_index(s, warm, c->stalls[j].culprit);
	}
	return code;
}

/* Likewise, for a block. */
static int schedule_behind(struct scheduler *s, uint32_t block, uint32_t edge, struct vt_error *err)
{
	const struct vt_cfg_block *b = &s->f->cfg->blocks[block];

	if (!s->chain)
		return schedule_insns(s, b->insn, b->ninsns, edge, err);
	cost_block_behind(s->chain, block, edge, s->costs);
	return 0;
}

static int schedule_block(struct scheduler *s, uint32_t block, struct vt_error *err)
{
	const struct vt_cfg_block *b = &s->f->cfg->blocks[block];
	int code = schedule_behind(s, block, s->before[block], err);

	if (code == 0)
		memcpy(s->f->costs + b->insn, s->costs, b->ninsns * sizeof(*s->costs));
	return code;
}

static int scheduler_init(struct scheduler *s, struct vt_procflow *f, const struct vt_core *m,
			  struct vt_error *err)
{
	static const uint8_t ret[] = {0xc3};
	const struct vt_cfg *g = f->cfg;
	uint32_t b;

	*s = (struct scheduler){
		.f = f,
		.m = m,
		.warm = m->order == VT_OUT_OF_ORDER ? WARM_OUT_OF_ORDER : WARM_IN_ORDER,
	};
	for (b = VT_CFG_FIRST; b < g->nblocks; b++)
		if (g->blocks[b].ninsns > s->cap)
			s->cap = g->blocks[b].ninsns;
	s->cap = (s->cap + s->warm) * (VT_CALL_RETURNS + REPEATS);
	vt_core_op(m, ret, sizeof(ret), &s->ret);
	s->path = malloc(s->cap * sizeof(*s->path));
	s->ops = malloc(s->cap * sizeof(const struct vt_mop *));
	s->costs = malloc(s->cap * sizeof(*s->costs));
	if (m->order == VT_OUT_OF_ORDER)
		s->ooo = vt_ooo_take(m);
	if (!s->path || !s->ops || !s->costs)
		return vt_error_nomem(err);
	return 0;
}

/* Sets the most likely incoming edge of each block. */
static void set_before(struct scheduler *s, const uint32_t *before)
{
	s->before = before;
	if (s->m->order == VT_IN_ORDER)
		s->chain = new_chain(s->f, s->m, &s->ret, before);
}

static void scheduler_fini(struct scheduler *s)
{
	free_chain(s->chain);
	vt_ooo_give_back(s->m, s->ooo);
	free(s->path);
	free(s->ops);
	free(s->costs);
}

/* ---- schedules with known edge frequencies ---- */

/* Only the most frequent incoming edges of a block are scheduled. */
#define MAX_WAYS 4

struct ways {
	uint32_t edge[MAX_WAYS];
	double weight[MAX_WAYS];
	uint32_t n;
	double sum;
};

static struct ways find_ways(const struct vt_cfg *g, uint32_t block, const double *weights)
{
	const struct vt_cfg_block *b = &g->blocks[block];
	struct ways w = {.n = 0};
	uint32_t i, k;

	for (i = 0; i < b->nin; i++) {
		uint32_t edge = g->in[b->in + i];

		if (!(weights[edge] > 0) ||
		    (w.n == MAX_WAYS && weights[edge] <= w.weight[MAX_WAYS - 1]))
			continue;
		w.n += w.n < MAX_WAYS;
		for (k = w.n - 1; k > 0 && w.weight[k - 1] < weights[edge]; k--) {
			w.edge[k] = w.edge[k - 1];
			w.weight[k] = w.weight[k - 1];
		}
		w.edge[k] = edge;
		w.weight[k] = weights[edge];
	}
	for (k = 0; k < w.n; k++)
		w.sum += w.weight[k];
	return w;
}

/* Averages the costs over the ways; the causes are those of the most frequent one. */
static int weigh_block(struct scheduler *s, uint32_t block, const struct ways *w,
		       struct vt_error *err)
{
	struct vt_schedule_cost *costs = s->f->costs + s->f->cfg->blocks[block].insn;
	uint32_t k, i, n = s->f->cfg->blocks[block].ninsns;
	int code = 0;

	for (k = 0; k < w->n && code == 0; k++) {
		float part = (float)(w->weight[k] / w->sum);

		code = schedule_behind(s, block, w->edge[k], err);
		for (i = 0; i < n && code == 0; i++) {
			float head = k ? costs[i].head : 0, best = k ? costs[i].best : 0;

			if (k == 0)
				costs[i] = s->costs[i];
			costs[i].head = head + part * s->costs[i].head;
			costs[i].best = best + part * s->costs[i].best;
		}
	}
	return code;
}

/* The ways into each block; sets `before` to the most frequent.  NULL: out of memory. */
static struct ways *find_all_ways(const struct vt_cfg *g, const double *edges, uint32_t *before)
{
	struct ways *ways = calloc((size_t)g->nblocks + 1, sizeof(*ways));
	uint32_t b;

	for (b = VT_CFG_FIRST; ways && b < g->nblocks; b++) {
		ways[b] = find_ways(g, b, edges);
		before[b] = ways[b].n ? ways[b].edge[0] : UINT32_MAX;
	}
	return ways;
}

/* Schedules all blocks but those that get their costs in another way; `skip` may be NULL. */
static int schedule_blocks(struct vt_procflow *f, const struct vt_core *m, const bool *skip,
			   struct vt_error *err)
{
	struct scheduler s;
	uint32_t *before = vt_predecessors_new(f->cfg, err), b;
	int code = scheduler_init(&s, f, m, err);

	if (before)
		set_before(&s, before);
	else
		code = -VT_E_NOMEM;
	for (b = VT_CFG_FIRST; b < f->cfg->nblocks && code == 0; b++)
		/* The results of a chain depend on the order of its calls. */
		if (!skip || !skip[b] || s.chain)
			code = schedule_block(&s, b, err);
	scheduler_fini(&s);
	free(before);
	return code;
}

static int weigh_blocks(struct vt_procflow *f, const struct vt_core *m, const struct ways *ways,
			const uint32_t *before, struct vt_error *err)
{
	struct scheduler s;
	uint32_t b;
	int code = scheduler_init(&s, f, m, err);

	if (code == 0)
		set_before(&s, before);
	for (b = VT_CFG_FIRST; b < f->cfg->nblocks && code == 0; b++)
		if (ways[b].n)
			code = weigh_block(&s, b, &ways[b], err);
	scheduler_fini(&s);
	return code;
}

static bool skips_all(const struct vt_cfg *g, const bool *skip)
{
	uint32_t b;

	for (b = VT_CFG_FIRST; b < g->nblocks; b++)
		if (g->blocks[b].ninsns && !skip[b])
			return false;
	return true;
}

/* Weighs the ways into each block; what no way leads to is scheduled unless it was. */
static int schedule_ways(struct vt_procflow *f, const struct vt_core *m, const double *edges,
			 bool *skip, bool scheduled, struct vt_error *err)
{
	uint32_t *before = malloc(((size_t)f->cfg->nblocks + 1) * sizeof(*before)), b;
	struct ways *ways = before ? find_all_ways(f->cfg, edges, before) : NULL;
	int code = ways ? 0 : vt_error_nomem(err);

	for (b = VT_CFG_FIRST; ways && b < f->cfg->nblocks; b++)
		skip[b] = ways[b].n > 0;
	if (code == 0 && !scheduled && !skips_all(f->cfg, skip))
		code = schedule_blocks(f, m, skip, err);
	if (code == 0)
		code = weigh_blocks(f, m, ways, before, err);
	free(before);
	free(ways);
	return code;
}

/* What is known of a procedure that is scheduled by its edges. */
struct edge_schedule {
	const double *edges;
	bool scheduled;	  /* it has costs */
	bool causes_only; /* out of order, those of an execution are as good as means */
	const bool *used; /* by block; NULL: all are */
};

/*
 * Walks through the procedure; where the walks did not come is scheduled unless it was, or is not
 * used.
 */
static int schedule_walks(struct vt_procflow *f, const struct vt_core *m,
			  const struct edge_schedule *how, bool *skip, struct vt_error *err)
{
	const struct vt_walked_code walk = {f->cfg, f->ops, f->block, f->costs, how->causes_only};
	int code = vt_procedure_walk(&walk, m, how->edges, skip, err);
	uint32_t b;

	for (b = VT_CFG_FIRST; how->used && b < f->cfg->nblocks; b++)
		skip[b] |= !how->used[b];
	if (code == 0 && !how->scheduled && !skips_all(f->cfg, skip))
		code = schedule_blocks(f, m, skip, err);
	return code;
}

static int schedule_edges(struct vt_procflow *f, const struct vt_core *m,
			  const struct edge_schedule *how, struct vt_error *err)
{
	bool *skip = calloc((size_t)f->cfg->nblocks + 1, sizeof(*skip));
	int code;

	if (!skip)
		return vt_error_nomem(err);
	if (m->order == VT_OUT_OF_ORDER)
		code = schedule_walks(f, m, how, skip, err);
	else
		code = schedule_ways(f, m, how->edges, skip, how->scheduled, err);
	free(skip);
	return code;
}

int vt_procflow_weigh(struct vt_procflow *f, const struct vt_core *m, const double *edges,
		      struct vt_error *err)
{
	return schedule_edges(f, m, &(struct edge_schedule){.edges = edges, .scheduled = true},
			      err);
}

/* ---- all of it ---- */

static int decode_ops(struct vt_procflow *f, const struct vt_proccode *c, const struct vt_core *m,
		      struct vt_error *err)
{
	const struct vt_cfg *g = f->cfg;
	uint32_t i;

	f->ops = malloc(((size_t)g->ninsns + 1) * sizeof(*f->ops));
	if (!f->ops)
		return vt_error_nomem(err);
	for (i = 0; i < g->ninsns; i++) {
		uint64_t at = g->insns[i].addr - f->proc.start;

		assert(at + g->insns[i].length <= c->size);
		vt_core_op(m, c->bytes + at, g->insns[i].length, &f->ops[i]);
		f->cfg->insns[i].flags = f->ops[i].flags;
	}
	return 0;
}

static int make_graph(struct vt_procflow *f, struct vt_images *images, const struct vt_proccode *c,
		      struct vt_error *err)
{
	const struct vt_cfg_source src = {
		.code = c->bytes,
		.size = c->size,
		.start = f->proc.start,
		.images = images,
		.image = f->proc.image,
	};
	uint32_t b, i;

	f->cfg = vt_cfg_new(&src, err);
	if (!f->cfg)
		return -(int)err->code;
	f->block = malloc(((size_t)f->cfg->ninsns + 1) * sizeof(*f->block));
	if (!f->block)
		return vt_error_nomem(err);
	for (b = VT_CFG_FIRST; b < f->cfg->nblocks; b++)
		for (i = 0; i < f->cfg->blocks[b].ninsns; i++)
			f->block[f->cfg->blocks[b].insn + i] = b;
	return 0;
}

int vt_procflow_decode(struct vt_procflow *f, struct vt_images *images,
		       const struct vt_blockcode *code, const struct vt_core *m,
		       struct vt_error *err)
{
	struct vt_proccode c = {0};
	int failed;

	if (f->ops)
		return 0;
	failed = vt_proccode_find(images, code, &f->proc, &c, err);
	if (failed == 0)
		failed = decode_ops(f, &c, m, err);
	vt_proccode_fini(&c);
	return failed;
}

int vt_procflow_schedule(struct vt_procflow *f, struct vt_images *images,
			 const struct vt_blockcode *code, const struct vt_core *m,
			 const double *edges, struct vt_error *err)
{
	int failed = vt_procflow_decode(f, images, code, m, err);

	if (failed)
		return failed;
	f->costs = malloc(((size_t)f->cfg->ninsns + 1) * sizeof(*f->costs));
	if (!f->costs)
		return vt_error_nomem(err);
	return edges ? schedule_edges(f, m, &(struct edge_schedule){.edges = edges}, err)
		     : schedule_blocks(f, m, NULL, err);
}

int vt_procflow_schedule_used(struct vt_procflow *f, const struct vt_core *m, const double *edges,
			      const bool *used, bool causes_only, struct vt_error *err)
{
	const struct edge_schedule how = {.edges = edges, .used = used, .causes_only = causes_only};

	f->costs = calloc((size_t)f->cfg->ninsns + 1, sizeof(*f->costs));
	if (!f->costs)
		return vt_error_nomem(err);
	return schedule_edges(f, m, &how, err);
}

struct vt_procflow *vt_procflow_graph(struct vt_images *images, const struct vt_blockcode *code,
				      const struct vt_procedure *proc, struct vt_error *err)
{
	struct vt_procflow *f = calloc(1, sizeof(*f));
	struct vt_proccode c = {0};
	int failed;

	if (!f) {
		vt_error_nomem(err);
		return NULL;
	}
	f->proc = *proc;
	failed = vt_proccode_find(images, code, proc, &c, err);
	if (failed == 0)
		failed = make_graph(f, images, &c, err);
	vt_proccode_fini(&c);
	if (failed) {
		vt_procflow_free(f);
		return NULL;
	}
	return f;
}

int vt_procflow_classify(struct vt_procflow *f, struct vt_error *err)
{
	f->classes = vt_classes_new(f->cfg, err);
	return f->classes ? 0 : -VT_E_NOMEM;
}

struct vt_procflow *vt_procflow_new(struct vt_images *images, const struct vt_blockcode *code,
				    const struct vt_procedure *proc, const struct vt_core *m,
				    struct vt_error *err)
{
	struct vt_procflow *f = vt_procflow_graph(images, code, proc, err);

	if (f && (vt_procflow_classify(f, err) < 0 ||
		  vt_procflow_schedule(f, images, code, m, NULL, err) < 0)) {
		vt_procflow_free(f);
		return NULL;
	}
	return f;
}

void vt_procflow_free(struct vt_procflow *f)
{
	if (!f)
		return;
	vt_cfg_free(f->cfg);
	vt_classes_free(f->classes);
	free(f->ops);
	free(f->costs);
	free(f->block);
	free(f);
}
