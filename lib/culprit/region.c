/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "culprit/internal.h"

/*
 * Stretches of code in which control stays for a while without going elsewhere: loops that call
 * nothing.  What the instruction cache can hold of them all at a time is missed once for each time
 * that they are entered, because between two executions nothing else is fetched.  Any set of
 * blocks that calls nothing is good for that, if `entries` counts all edges into it; sets that are
 * no loops merely give poor bounds.
 */

/* A procedure with more loops than this, or more instructions in them, is not worth the time: a
 * bound of it. */
#define MAX_LOOPS 4000
#define MAX_INSNS 16000000

struct regions {
	struct vti_culprit *c;
	uint32_t *stamp; /* by block: the last loop that it was found in */
	uint8_t *color;
	uint8_t *calls; /* by block: control leaves it for other code */
	uint32_t *next;
	uint32_t *stack;
	uint32_t *body;
	uint32_t nbody;
	uint16_t *sets; /* by set of the cache: lines of the loop in it */
	uint32_t nsets;
	uint32_t loops;
	uint64_t insns; /* in loops, all together */
};

static bool block_calls(const struct vti_culprit *c, uint32_t block)
{
	const struct vt_cfg_block *b = &c->cfg->blocks[block];
	uint32_t i;

	if (b->incomplete)
		return true;
	for (i = 0; i < b->ninsns; i++)
		if (c->ops[b->insn + i].flags & (VT_FACT_CALL | VT_FACT_SYSCALL))
			return true;
	return false;
}

/*
 * The blocks from which control comes to `tail` without passing `head`: body[0..nbody).  False if
 * one of them calls, or control gets into them unseen.
 */
static bool collect_loop_body(struct regions *r, uint32_t head, uint32_t tail)
{
	const struct vt_cfg *g = r->c->cfg;
	uint32_t at = 0, i;

	r->loops++;
	r->nbody = 0;
	r->stamp[head] = r->loops;
	r->body[r->nbody++] = head;
	if (r->stamp[tail] != r->loops) {
		r->stamp[tail] = r->loops;
		r->body[r->nbody++] = tail;
	}
	for (at = 0; at < r->nbody; at++) {
		const struct vt_cfg_block *b = &g->blocks[r->body[at]];

		if (r->body[at] < VT_CFG_FIRST || r->calls[r->body[at]])
			return false;
		for (i = 0; at > 0 && i < b->nin; i++) {
			uint32_t from = g->edges[g->in[b->in + i]].from;

			if (from >= VT_CFG_FIRST && r->stamp[from] != r->loops) {
				r->stamp[from] = r->loops;
				r->body[r->nbody++] = from;
			}
		}
	}
	return true;
}

/* How often control comes into the body from elsewhere; INFINITY if that is not known. */
static double count_region_entries(const struct regions *r)
{
	const struct vti_culprit *c = r->c;
	const struct vt_cfg *g = c->cfg;
	double n = 0;
	uint32_t at, i;

	for (at = 0; at < r->nbody; at++) {
		const struct vt_cfg_block *b = &g->blocks[r->body[at]];

		for (i = 0; i < b->nin; i++) {
			uint32_t edge = g->in[b->in + i];
			uint32_t from = g->edges[edge].from;
			double x = c->in->edges ? c->in->edges[edge] : NAN;

			if (from >= VT_CFG_FIRST && r->stamp[from] == r->loops)
				continue;
			if (isnan(x) && from >= VT_CFG_FIRST) {
				const struct vt_cfg_block *f = &g->blocks[from];

				x = c->in->insns[f->insn + f->ninsns - 1].executions;
			}
			if (isnan(x))
				return INFINITY;
			n += x;
		}
	}
	return n;
}

/* Whether a cache has room for all lines of the body at a time. */
static bool fits_in_cache(struct regions *r, const struct vt_cache_shape *cache)
{
	const struct vt_cfg *g = r->c->cfg;
	uint32_t at;
	bool ok = true;

	memset(r->sets, 0, r->nsets * sizeof(*r->sets));
	for (at = 0; at < r->nbody && ok; at++) {
		const struct vt_cfg_block *b = &g->blocks[r->body[at]];
		uint64_t line = b->start / cache->line, last = (b->end - 1) / cache->line;

		/* A line that two blocks share counts twice: too careful, not wrong. */
		for (; line <= last && ok; line++)
			ok = ++r->sets[line % r->nsets] <= cache->ways;
	}
	return ok;
}

static bool pages_fit(const struct regions *r, const struct vt_tlb_shape *tlb)
{
	const struct vt_cfg *g = r->c->cfg;
	uint64_t first = UINT64_MAX, last = 0;
	uint32_t at;

	for (at = 0; at < r->nbody; at++) {
		const struct vt_cfg_block *b = &g->blocks[r->body[at]];

		if (b->start / tlb->page < first)
			first = b->start / tlb->page;
		if ((b->end - 1) / tlb->page > last)
			last = (b->end - 1) / tlb->page;
	}
	return last - first < tlb->ways;
}

/* Micro-operations of the shortest round: of blocks that are executed as often as its head. */
static double count_round_slots(const struct regions *r)
{
	const struct vti_culprit *c = r->c;
	double rounds = c->in->insns[c->cfg->blocks[r->body[0]].insn].executions, sum = 0;
	uint32_t at, i;

	for (at = 0; at < r->nbody; at++) {
		const struct vt_cfg_block *b = &c->cfg->blocks[r->body[at]];

		for (i = b->insn; i < b->insn + b->ninsns; i++)
			if (c->in->insns[i].executions >= rounds)
				sum += c->ops[i].slots;
	}
	return sum;
}

static void take_loop(struct regions *r, uint32_t head, uint32_t tail)
{
	struct vti_culprit *c = r->c;
	const struct vt_core *m = c->core;
	double n, slots;
	uint32_t at;
	bool lines, pages;

	if (r->loops >= MAX_LOOPS || !collect_loop_body(r, head, tail))
		return;
	n = count_region_entries(r);
	slots = count_round_slots(r);
	for (at = 0; at < r->nbody; at++)
		r->insns += c->cfg->blocks[r->body[at]].ninsns;
	if (r->insns <= MAX_INSNS)
		vti_culprit_take_loop(c, r->body, r->nbody, n);
	lines = r->nsets && fits_in_cache(r, &m->icache);
	pages = m->itlb.entries && pages_fit(r, &m->itlb);
	for (at = 0; at < r->nbody; at++) {
		if (slots > 0 && slots < c->round_slots[r->body[at]])
			c->round_slots[r->body[at]] = slots;
		if (lines && n < c->line_entries[r->body[at]])
			c->line_entries[r->body[at]] = n;
		if (pages && n < c->page_entries[r->body[at]])
			c->page_entries[r->body[at]] = n;
	}
}

/* Depth first: an edge to a block whose successors are being visited closes a loop. */
static void find_loops(struct regions *r, uint32_t root)
{
	const struct vt_cfg *g = r->c->cfg;
	uint32_t depth = 0;

	r->color[root] = 1;
	r->stack[depth++] = root;
	while (depth) {
		uint32_t b = r->stack[depth - 1], to;

		if (r->next[b] == g->blocks[b].nout) {
			r->color[b] = 2;
			depth--;
			continue;
		}
		to = g->edges[g->blocks[b].out + r->next[b]++].to;
		if (r->color[to] == 1) {
			take_loop(r, to, b);
		} else if (r->color[to] == 0) {
			r->color[to] = 1;
			r->stack[depth++] = to;
		}
	}
}

int vti_culprit_regions(struct vti_culprit *c, struct vt_error *err)
{
	const struct vt_cache_shape *cache = &c->core->icache;
	uint32_t nsets = cache->size ? cache->size / cache->line / cache->ways : 0;
	uint32_t n = c->cfg->nblocks, b;
	struct regions r = {
		.c = c,
		.stamp = calloc(n, sizeof(uint32_t)),
		.color = calloc(n, 1),
		.calls = calloc(n, 1),
		.next = calloc(n, sizeof(uint32_t)),
		.stack = calloc(n, sizeof(uint32_t)),
		.body = calloc(n, sizeof(uint32_t)),
		.sets = calloc(nsets + 1, sizeof(uint16_t)),
		.nsets = nsets,
	};
	bool ok = r.stamp && r.color && r.calls && r.next && r.stack && r.body && r.sets;

	for (b = 0; b < n; b++)
		c->line_entries[b] = c->page_entries[b] = INFINITY;
	for (b = VT_CFG_FIRST; b < n && ok; b++)
		r.calls[b] = block_calls(c, b);
	for (b = 0; b < n && ok && c->cfg->complete; b++)
		if (!r.color[b])
			find_loops(&r, b);
	free(r.stamp);
	free(r.color);
	free(r.calls);
	free(r.next);
	free(r.stack);
	free(r.body);
	free(r.sets);
	return ok ? 0 : vt_error_nomem(err);
}
