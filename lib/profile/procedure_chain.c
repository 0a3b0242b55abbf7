/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/procedure_chain.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A machine is some 4 kB. */
#define MAX_BLOCKS 16384

#define NONE UINT32_MAX

struct machine {
	uint64_t issued; /* instructions so far */
	struct vt_inorder e;
};

/* What is known of the machine behind a block. */
enum { UNKNOWN, SOUGHT, KNOWN };

struct vti_chain {
	const struct vt_procflow *f;
	const struct vt_mop *ret;
	const uint32_t *before;
	struct machine empty;
	size_t size;		/* of a machine that is made use of: its units come last */
	struct machine *behind; /* by block */
	uint8_t *state;
	uint32_t *way; /* blocks whose machines are sought, each behind the next */
};

struct vti_chain *vti_chain_new(const struct vt_procflow *f, const struct vt_core *m,
				const struct vt_mop *ret, const uint32_t *before)
{
	size_t n = f->cfg->nblocks;
	struct vti_chain *c = n <= MAX_BLOCKS ? calloc(1, sizeof(*c)) : NULL;

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
		vti_chain_free(c);
		return NULL;
	}
	return c;
}

void vti_chain_free(struct vti_chain *c)
{
	if (!c)
		return;
	free(c->behind);
	free(c->state);
	free(c->way);
	free(c);
}

static void issue(struct machine *m, const struct vt_mop *op, uint32_t index,
		  struct vt_schedule_cost *cost)
{
	vt_schedule_next(&m->e, op, m->issued++ << 32 | index, cost);
}

/* A block on a machine; `costs` may be NULL. */
static void run(const struct vti_chain *c, struct machine *m, uint32_t block,
		struct vt_schedule_cost *costs)
{
	const struct vt_cfg_block *b = &c->f->cfg->blocks[block];
	uint32_t i, k;

	for (i = b->insn; i < b->insn + b->ninsns; i++) {
		const struct vt_mop *op = &c->f->ops[i];

		/* Of one that is repeated, the last is in the steady state. */
		for (k = 1; k < VTI_CHAIN_REPEATS && (op->flags & VT_FACT_REPEATED); k++)
			issue(m, op, i, NULL);
		issue(m, op, i, costs ? &costs[i - b->insn] : NULL);
		for (k = 0; k < VTI_CHAIN_RETURNS && (op->flags & VT_FACT_CALL); k++)
			issue(m, c->ret, NONE, NULL);
	}
}

/* The block that an edge comes from; NONE: from elsewhere. */
static uint32_t source(const struct vti_chain *c, uint32_t edge)
{
	if (edge == NONE || c->f->cfg->edges[edge].from < VT_CFG_FIRST)
		return NONE;
	return c->f->cfg->edges[edge].from;
}

/*
 * Some instructions' worth of a loop: way[first] is the block that control gets to from way[n - 1]
 * down to way[first + 1], over and over.
 */
static void warm_up(const struct vti_chain *c, struct machine *m, uint32_t first, uint32_t n)
{
	const struct vt_cfg_block *blocks = c->f->cfg->blocks;
	uint32_t at = n - 1, insns = 0, back = 0;

	/* Backwards until there are enough; control goes the other way. */
	while (insns < VTI_CHAIN_WARM) {
		at = at + 1 < n ? at + 1 : first;
		insns += blocks[c->way[at]].ninsns;
		back++;
	}
	for (; back; back--) {
		run(c, m, c->way[at], NULL);
		at = at > first ? at - 1 : n - 1;
	}
}

static void copy(const struct vti_chain *c, struct machine *to, const struct machine *from)
{
	memcpy(to, from, c->size);
}

/* The machine behind a block, which has to be found first, as may those behind blocks before it. */
static const struct machine *find(struct vti_chain *c, uint32_t block)
{
	uint32_t n = 0, at = block, first;
	struct machine m;

	copy(c, &m, &c->empty);

	for (; at != NONE && c->state[at] == UNKNOWN; at = source(c, c->before[at])) {
		c->state[at] = SOUGHT;
		c->way[n++] = at;
	}
	if (at != NONE && c->state[at] == KNOWN) {
		copy(c, &m, &c->behind[at]);
	} else if (at != NONE) {
		for (first = 0; c->way[first] != at; first++)
			;
		warm_up(c, &m, first, n);
	}
	while (n) {
		at = c->way[--n];
		run(c, &m, at, NULL);
		copy(c, &c->behind[at], &m);
		c->state[at] = KNOWN;
	}
	return &c->behind[block];
}

void vti_chain_behind(struct vti_chain *c, uint32_t block, uint32_t edge,
		      struct vt_schedule_cost *costs)
{
	uint32_t from = source(c, edge);
	const struct machine *before = &c->empty;
	struct machine own, *m = &own;

	if (from != NONE)
		before = c->state[from] == KNOWN ? &c->behind[from] : find(c, from);
	/* That of a loop may be known by now. */
	if (edge == c->before[block] && c->state[block] == UNKNOWN) {
		m = &c->behind[block];
		c->state[block] = KNOWN;
	}
	copy(c, m, before);
	run(c, m, block, costs);
}
