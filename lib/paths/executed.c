/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "paths/executed.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "stream/exec.h"

/* A block and where it lies. */
struct known_block {
	uint32_t *places; /* by instruction; NULL: not seen yet */
	uint64_t *count;  /* by instruction: how often control went on to the next one */
	uint64_t whole;	  /* executions of all of it */
	uint32_t last_to; /* the place that control went to last */
	uint64_t last_count;
};

struct thread {
	int64_t pid;
	int64_t tid;
	uint64_t block; /* UINT64_MAX: none */
	uint64_t insn;	/* its last that was executed */
};

struct vt_pathexec {
	const struct vt_context *context;
	struct vt_pathplaces *places;
	struct known_block *blocks; /* by id */
	size_t nblocks;
	size_t blocks_cap;
	struct vt_hash threads;
	uint64_t insns;
	uint64_t bad;
};

struct vt_pathexec *vt_pathexec_new(const struct vt_context *c, struct vt_pathplaces *p)
{
	struct vt_pathexec *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	x->context = c;
	x->places = p;
	vt_hash_init(&x->threads, sizeof(struct thread), 2 * sizeof(int64_t));
	return x;
}

void vt_pathexec_free(struct vt_pathexec *x)
{
	size_t i;

	if (!x)
		return;
	for (i = 0; i < x->nblocks; i++) {
		free(x->blocks[i].places);
		free(x->blocks[i].count);
	}
	free(x->blocks);
	vt_hash_fini(&x->threads);
	free(x);
}

/* The block with all that is known of it.  NULL: out of memory. */
static struct known_block *know_block(struct vt_pathexec *x, const struct vt_bblock *b)
{
	struct known_block *k;
	uint32_t i;

	if (b->id >= x->nblocks) {
		if (!vt_array_grow(&x->blocks, &x->blocks_cap, (size_t)b->id + 1,
				   sizeof(*x->blocks)))
			return NULL;
		memset(x->blocks + x->nblocks, 0, (b->id + 1 - x->nblocks) * sizeof(*x->blocks));
		x->nblocks = (size_t)b->id + 1;
	}
	k = &x->blocks[b->id];
	if (k->places)
		return k;
	k->places = calloc((size_t)b->ninsns + 1, sizeof(*k->places));
	k->count = calloc((size_t)b->ninsns + 1, sizeof(*k->count));
	k->last_to = VT_PATHPLACE_NONE;
	if (!k->places || !k->count)
		return NULL;
	for (i = 0; i < b->ninsns; i++)
		if (!vt_pathplaces_at(x->places, x->context, b->pid, vt_bblock_insn_addr(b, i), 0,
				      &k->places[i]))
			return NULL;
	return k;
}

/* Control went from the last instruction of a thread to a place. */
static bool count_transfer(struct vt_pathexec *x, const struct thread *t, uint32_t to)
{
	struct known_block *k;
	const struct vt_bblock *b;

	if (t->block == UINT64_MAX)
		return true;
	k = &x->blocks[t->block];
	b = vt_bblocks_get(vt_context_blocks(x->context), t->block);
	if (t->insn + 1 != b->ninsns)
		return vt_pathplaces_went(x->places, k->places[t->insn], to, 1);
	if (k->last_to == to) {
		k->last_count++;
		return true;
	}
	if (!vt_pathplaces_went(x->places, k->places[t->insn], k->last_to, k->last_count))
		return false;
	k->last_to = to;
	k->last_count = 1;
	return true;
}

static bool count_step(struct vt_pathexec *x, struct thread *t, const struct vt_step *step)
{
	struct known_block *k = know_block(x, step->block);
	uint32_t i;

	if (!k || !count_transfer(x, t, k->places[step->insn]))
		return false;
	if (step->insn == 0 && step->insn_end == step->block->ninsns)
		k->whole++;
	else
		for (i = step->insn; i + 1 < step->insn_end; i++)
			k->count[i]++;
	x->insns += step->insn_end - step->insn;
	t->block = step->block->id;
	t->insn = step->insn_end - 1;
	return true;
}

static int count_run(struct vt_pathexec *x, const struct vt_record *rec, struct vt_error *err)
{
	struct thread key = {.pid = vt_record_i64(rec, VT_EXEC_PID),
			     .tid = vt_record_i64(rec, VT_EXEC_TID)};
	struct thread *t;
	struct vt_exec run;
	struct vt_step step;
	bool added;
	int code = vt_exec_open(&run, vt_context_blocks(x->context), rec, err);

	t = vt_hash_add(&x->threads, &key, &added);
	if (!t)
		return vt_error_nomem(err);
	if (added)
		t->block = UINT64_MAX;
	while (code >= 0 && (code = vt_exec_next(&run, &step, err)) > 0)
		if (!count_step(x, t, &step))
			return vt_error_nomem(err);
	if (code < 0)
		t->block = UINT64_MAX;
	x->bad += code < 0;
	return 0;
}

int vt_pathexec_feed(void *exec, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_pathexec *x = exec;
	size_t i;

	if (rec->kind == VT_EXEC)
		return count_run(x, rec, err);
	/* What comes behind a gap is not connected. */
	for (i = 0; rec->kind == VT_GAP && i < x->threads.count; i++)
		((struct thread *)vt_hash_at(&x->threads, i))->block = UINT64_MAX;
	return 0;
}

int vt_pathexec_finish(struct vt_pathexec *x, struct vt_error *err)
{
	size_t b;
	uint32_t i;

	for (b = 0; b < x->nblocks; b++) {
		const struct known_block *k = &x->blocks[b];
		uint32_t n =
			k->places ? vt_bblocks_get(vt_context_blocks(x->context), b)->ninsns : 0;

		for (i = 0; i < n; i++) {
			uint64_t count = i + 1 < n ? k->whole + k->count[i] : k->last_count;

			if (count &&
			    !vt_pathplaces_went(x->places, k->places[i],
						i + 1 < n ? k->places[i + 1] : k->last_to, count))
				return vt_error_nomem(err);
		}
	}
	return 0;
}

uint64_t vt_pathexec_insns(const struct vt_pathexec *x)
{
	return x->insns;
}

uint64_t vt_pathexec_bad(const struct vt_pathexec *x)
{
	return x->bad;
}
