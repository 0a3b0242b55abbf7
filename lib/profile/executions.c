/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/executions.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "stream/exec.h"

struct vt_execcount {
	const struct vt_bblocks *dict;
	uint64_t *whole; /* by id: executions from the first to the last instruction */
	size_t whole_cap;
	uint64_t **part; /* by id: further ones, of each instruction; NULL: none */
	size_t part_cap;
	struct vt_execcount_totals totals;
};

struct vt_execcount *vt_execcount_new(const struct vt_bblocks *dict)
{
	struct vt_execcount *c = calloc(1, sizeof(*c));

	if (c)
		c->dict = dict;
	return c;
}

void vt_execcount_free(struct vt_execcount *c)
{
	size_t i;

	if (!c)
		return;
	for (i = 0; i < c->part_cap; i++)
		free(c->part[i]);
	free(c->part);
	free(c->whole);
	free(c);
}

/* Makes room for the blocks that came since the last run. */
static int grow_execution_counts(struct vt_execcount *c, struct vt_error *err)
{
	size_t end = vt_bblocks_end(c->dict);
	size_t whole = c->whole_cap, part = c->part_cap;

	if (end <= part)
		return 0;
	if (!vt_array_grow(&c->whole, &c->whole_cap, end, sizeof(*c->whole)))
		return vt_error_nomem(err);
	memset(c->whole + whole, 0, (c->whole_cap - whole) * sizeof(*c->whole));
	if (!vt_array_grow(&c->part, &c->part_cap, end, sizeof(*c->part)))
		return vt_error_nomem(err);
	memset(c->part + part, 0, (c->part_cap - part) * sizeof(*c->part));
	return 0;
}

static int count_partial_block(struct vt_execcount *c, const struct vt_step *step,
			       struct vt_error *err)
{
	uint64_t **part = &c->part[step->block->id];
	uint32_t i;

	if (!*part)
		*part = calloc(step->block->ninsns, sizeof(**part));
	if (!*part)
		return vt_error_nomem(err);
	for (i = step->insn; i < step->insn_end; i++)
		(*part)[i]++;
	return 0;
}

/* Whole blocks many at a time, the others one by one. */
static int count_steps(struct vt_execcount *c, struct vt_exec *x, struct vt_error *err)
{
	struct vt_step step;
	int code;

	vt_exec_tally(x, c->whole);
	while ((code = vt_exec_next(x, &step, err)) > 0) {
		if (step.insn == 0 && step.insn_end == step.block->ninsns)
			c->whole[step.block->id]++;
		else if (count_partial_block(c, &step, err) < 0)
			return -VT_E_NOMEM;
		vt_exec_tally(x, c->whole);
	}
	return code;
}

int vt_execcount_exec(struct vt_execcount *c, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_exec x;
	int code = vt_exec_open(&x, c->dict, rec, err);
	uint64_t insns = x.insns;
	uint32_t blocks = x.blocks;

	if (code == 0)
		code = grow_execution_counts(c, err);
	if (code < 0)
		return code;
	code = count_steps(c, &x, err);
	c->totals.runs++;
	c->totals.blocks += blocks - x.blocks;
	c->totals.insns += insns - x.insns;
	c->totals.bytes += vt_record_bytes(rec, VT_EXEC_DATA).size;
	return code;
}

const struct vt_execcount_totals *vt_execcount_totals(const struct vt_execcount *c)
{
	return &c->totals;
}

uint64_t vt_execcount_of(const struct vt_execcount *c, uint64_t id, uint32_t insn)
{
	if (id >= c->part_cap)
		return 0;
	return c->whole[id] + (c->part[id] ? c->part[id][insn] : 0);
}
