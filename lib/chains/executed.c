/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "chains/executed.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "chains/chain.h"
#include "flow/callstack.h"
#include "stream/exec.h"

/* Blocks of chains that were executed lately, by a hash: most are in loops. */
#define RECENT_BITS 12

/* A block in a chain; `node` and `block` are the key. */
struct chain_block {
	uint64_t node;
	uint64_t block;
	uint64_t whole; /* executions from the first to the last instruction */
	uint64_t *part; /* further ones, of each instruction; NULL: none */
};

struct chain_thread {
	int64_t pid; /* with `tid`, the key */
	int64_t tid;
	struct vt_callstack stack;
	uint32_t *nodes; /* by number of frames: that of the chain */
	size_t cap;
};

struct vti_execchains {
	struct vt_context *context;
	struct vt_calltree *tree;
	uint32_t root;
	vti_place_key_fn *place;
	void *arg;
	struct vt_hash threads; /* struct chain_thread */
	struct vt_hash blocks;	/* struct chain_block */
	uint32_t **keys;	/* by block id: those of its instructions, once it was executed */
	size_t nkeys;
	size_t recent[1 << RECENT_BITS]; /* 1 + an index in `blocks` */
	uint64_t insns;
	uint64_t cut;
};

struct vti_execchains *vti_execchains_new(struct vt_context *context, struct vt_calltree *tree,
					  uint32_t root, vti_place_key_fn *place, void *arg)
{
	struct vti_execchains *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->context = context;
	c->tree = tree;
	c->root = root;
	c->place = place;
	c->arg = arg;
	vt_hash_init(&c->threads, sizeof(struct chain_thread), 2 * sizeof(int64_t));
	vt_hash_init(&c->blocks, sizeof(struct chain_block), 2 * sizeof(uint64_t));
	return c;
}

void vti_execchains_free(struct vti_execchains *c)
{
	size_t i;

	if (!c)
		return;
	for (i = 0; i < c->threads.count; i++) {
		struct chain_thread *t = vt_hash_at(&c->threads, i);

		vt_callstack_fini(&t->stack);
		free(t->nodes);
	}
	for (i = 0; i < c->blocks.count; i++)
		free(((struct chain_block *)vt_hash_at(&c->blocks, i))->part);
	for (i = 0; i < c->nkeys; i++)
		free(c->keys[i]);
	vt_hash_fini(&c->threads);
	vt_hash_fini(&c->blocks);
	free(c->keys);
	free(c);
}

/* ---- the chain of a thread ---- */

static struct chain_thread *find_thread(struct vti_execchains *c, int64_t pid, int64_t tid,
					struct vt_error *err)
{
	const int64_t key[2] = {pid, tid};
	struct chain_thread *t = vt_hash_add(&c->threads, key, NULL);

	if (!t || (!t->cap && !vt_array_grow(&t->nodes, &t->cap, 1, sizeof(*t->nodes)))) {
		vt_error_nomem(err);
		return NULL;
	}
	t->nodes[0] = c->root;
	return t;
}

static size_t chain_frames(const struct chain_thread *t)
{
	return t->stack.count < VT_CHAIN_MAX ? t->stack.count : VT_CHAIN_MAX - 1;
}

static uint32_t current_node(const struct chain_thread *t)
{
	return t->nodes[chain_frames(t)];
}

/* A frame was added to the stack, or replaced: its node is below that of the frame around it. */
static int set_frame(struct vti_execchains *c, struct chain_thread *t, uint32_t key,
		     struct vt_error *err)
{
	size_t n = t->stack.count;

	if (t->stack.failed)
		return vt_error_nomem(err);
	if (n >= VT_CHAIN_MAX)
		return 0;
	if (!vt_array_grow(&t->nodes, &t->cap, n + 1, sizeof(*t->nodes)))
		return vt_error_nomem(err);
	return vt_calltree_child(c->tree, t->nodes[n - 1], key, &t->nodes[n], err);
}

/* The caller that a recorder knows at the start of a run. */
static int set_caller(struct vti_execchains *c, struct chain_thread *t, const struct vt_exec *x,
		      struct vt_error *err)
{
	uint64_t was = vt_callstack_caller(&t->stack);
	uint32_t key = 0;

	vt_callstack_set_caller(&t->stack, x->caller);
	if (vt_callstack_caller(&t->stack) == was)
		return 0;
	if (c->place(c->arg, (int32_t)t->pid, x->caller - 1, &key, err) < 0)
		return -VT_E_NOMEM;
	return set_frame(c, t, key, err);
}

/* ---- executions ---- */

/* Finds the places of a block's instructions while its image is mapped. */
static int find_block_keys(struct vti_execchains *c, const struct vt_bblock *b,
			   struct vt_error *err)
{
	size_t had = c->nkeys;
	uint32_t i, *keys;
	int code = 0;

	if (b->id < had && c->keys[b->id])
		return 0;
	if (!vt_array_grow(&c->keys, &c->nkeys, b->id + 1, sizeof(*c->keys)))
		return vt_error_nomem(err);
	memset(c->keys + had, 0, (c->nkeys - had) * sizeof(*c->keys));
	keys = c->keys[b->id] = calloc(b->ninsns, sizeof(*keys));
	if (!keys)
		return vt_error_nomem(err);
	for (i = 0; i < b->ninsns && code == 0; i++)
		code = c->place(c->arg, (int32_t)b->pid, vt_bblock_insn_addr(b, i), &keys[i], err);
	return code;
}

static struct chain_block *find_chain_block(struct vti_execchains *c, uint32_t node,
					    const struct vt_bblock *b, struct vt_error *err)
{
	const uint64_t key[2] = {node, b->id};
	/* Multiplicative hashes, by the golden ratio. */
	size_t at = (node * UINT64_C(0x9e3779b97f4a7c15) + b->id * UINT64_C(0xc2b2ae3d27d4eb4f)) >>
		    (64 - RECENT_BITS);
	struct chain_block *e;

	if (c->recent[at]) {
		e = vt_hash_at(&c->blocks, c->recent[at] - 1);
		if (e->node == node && e->block == b->id)
			return e;
	}
	if (find_block_keys(c, b, err) < 0)
		return NULL;
	e = vt_hash_add(&c->blocks, key, NULL);
	if (!e)
		vt_error_nomem(err);
	else
		c->recent[at] = vt_hash_index(&c->blocks, e) + 1;
	return e;
}

static int count_step(struct vti_execchains *c, const struct chain_thread *t,
		      const struct vt_step *step, struct vt_error *err)
{
	const struct vt_bblock *b = step->block;
	struct chain_block *e = find_chain_block(c, current_node(t), b, err);
	uint32_t i;

	if (!e)
		return -VT_E_NOMEM;
	c->insns += step->insn_end - step->insn;
	if (t->stack.count >= VT_CHAIN_MAX)
		c->cut += step->insn_end - step->insn;
	if (step->insn == 0 && step->insn_end == b->ninsns) {
		e->whole++;
		return 0;
	}
	if (!e->part)
		e->part = calloc(b->ninsns, sizeof(*e->part));
	if (!e->part)
		return vt_error_nomem(err);
	for (i = step->insn; i < step->insn_end; i++)
		e->part[i]++;
	return 0;
}

static int take_step(struct vti_execchains *c, struct chain_thread *t, const struct vt_step *step,
		     struct vt_error *err)
{
	const struct vt_bblock *b = step->block;
	size_t frames;

	vt_callstack_enter(&t->stack, step);
	if (count_step(c, t, step, err) < 0)
		return -VT_E_NOMEM;
	frames = t->stack.count;
	vt_callstack_leave(&t->stack, step);
	if (t->stack.count == frames && !t->stack.failed)
		return 0;
	return set_frame(c, t, c->keys[b->id][b->ninsns - 1], err);
}

static void forget_all_callers(struct vti_execchains *c)
{
	size_t i;

	for (i = 0; i < c->threads.count; i++)
		vt_callstack_clear(&((struct chain_thread *)vt_hash_at(&c->threads, i))->stack);
}

static int take_exec(struct vti_execchains *c, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_exec x;
	struct vt_step step;
	int code = vt_exec_open(&x, vt_context_blocks(c->context), rec, err);
	struct chain_thread *t = code < 0 ? NULL : find_thread(c, x.pid, x.tid, err);

	if (code == 0)
		code = t ? set_caller(c, t, &x, err) : -VT_E_NOMEM;
	while (code >= 0 && (code = vt_exec_next(&x, &step, err)) > 0)
		code = take_step(c, t, &step, err);
	if (code == -VT_E_FORMAT)
		forget_all_callers(c);
	return code == -VT_E_FORMAT ? 0 : code;
}

static int take_signal(struct vti_execchains *c, const struct vt_record *rec, struct vt_error *err)
{
	struct chain_thread *t = find_thread(c, vt_record_i64(rec, VT_SIGNAL_PID),
					     vt_record_i64(rec, VT_SIGNAL_TID), err);
	uint32_t key = 0;

	if (!t)
		return -VT_E_NOMEM;
	if (!vt_record_u64(rec, VT_SIGNAL_HANDLER))
		return 0;
	if (c->place(c->arg, (int32_t)t->pid, vt_record_u64(rec, VT_SIGNAL_IP), &key, err) < 0)
		return -VT_E_NOMEM;
	vt_callstack_signal(&t->stack);
	return set_frame(c, t, key, err);
}

static int clear_thread(struct vti_execchains *c, int64_t pid, int64_t tid, struct vt_error *err)
{
	struct chain_thread *t = find_thread(c, pid, tid, err);

	if (!t)
		return -VT_E_NOMEM;
	vt_callstack_clear(&t->stack);
	return 0;
}

int vti_execchains_feed(struct vti_execchains *c, const struct vt_record *rec, struct vt_error *err)
{
	switch (rec->kind) {
	case VT_EXEC:
		return take_exec(c, rec, err);
	case VT_SIGNAL:
		return take_signal(c, rec, err);
	case VT_STATE:
		if (vt_record_u64(rec, VT_STATE_REASON) != VT_STATE_WINDOW)
			return 0;
		return clear_thread(c, vt_record_i64(rec, VT_STATE_PID),
				    vt_record_i64(rec, VT_STATE_TID), err);
	case VT_THREAD:
		if (vt_record_u64(rec, VT_THREAD_OP) == VT_OP_COMM)
			return 0;
		return clear_thread(c, vt_record_i64(rec, VT_THREAD_PID),
				    vt_record_i64(rec, VT_THREAD_TID), err);
	case VT_GAP:
	case VT_LOST:
		forget_all_callers(c);
		return 0;
	default:
		return 0;
	}
}

/* ---- the tree ---- */

static int count_chain_block(struct vti_execchains *c, const struct chain_block *e,
			     struct vt_error *err)
{
	const struct vt_bblock *b = vt_bblocks_get(vt_context_blocks(c->context), e->block);
	uint32_t i, node;

	for (i = 0; i < b->ninsns; i++) {
		uint64_t n = e->whole + (e->part ? e->part[i] : 0);

		if (!n)
			continue;
		if (vt_calltree_child(c->tree, (uint32_t)e->node, c->keys[e->block][i], &node,
				      err) < 0)
			return -VT_E_NOMEM;
		vt_calltree_count_at(c->tree, node,
				     (struct vt_tally){n, n, vt_tally_squares(n, n)});
	}
	return 0;
}

int vti_execchains_finish(struct vti_execchains *c, struct vt_error *err)
{
	int code = 0;
	size_t i;

	for (i = 0; i < c->blocks.count && code == 0; i++)
		code = count_chain_block(c, vt_hash_at(&c->blocks, i), err);
	return code;
}

uint64_t vti_execchains_insns(const struct vti_execchains *c)
{
	return c->insns;
}

uint64_t vti_execchains_cut(const struct vti_execchains *c)
{
	return c->cut;
}
