/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "conflict/replay_internal.h"
#include "stream/exec.h"

#define NONE UINT32_MAX

void vti_replay_free_blocks(struct vt_replay *rp)
{
	size_t i;

	for (i = 0; i < rp->nblocks; i++) {
		free(rp->blocks[i].code);
		free(rp->blocks[i].accesses);
	}
	free(rp->blocks);
}

/* ---- what is known of a block ---- */

static bool is_value(const struct vt_slot *s)
{
	return s->what == VT_WHAT_LOAD || s->what == VT_WHAT_STORE;
}

static bool is_address(const struct vt_slot *s)
{
	return s->what == VT_WHAT_LOAD_ADDRESS || s->what == VT_WHAT_STORE_ADDRESS;
}

uint16_t vti_replay_size(const struct vt_facts *f, bool store)
{
	unsigned i;

	for (i = 0; i < f->nmemories; i++)
		if (store ? f->memories[i].written : f->memories[i].read)
			return f->memories[i].size;
	return 0;
}

static void add_access(struct vti_block *k, struct vti_access a)
{
	uint32_t n, same = 1;

	for (n = k->naccesses; n && k->accesses[n - 1].insn == a.insn; n--)
		same++;
	if (same > k->most)
		k->most = same;
	k->accesses[k->naccesses++] = a;
}

/* The accesses of one instruction, whose slots these are: guard, address, value, each optional. */
static uint32_t take_slots(struct vti_block *k, const struct vt_bblock *b, uint32_t insn,
			   uint32_t slot, const struct vt_facts *f)
{
	struct vti_access a = {.address = NONE, .guard = NONE, .insn = (uint16_t)insn};
	bool loaded = false, stored = false;

	for (; slot < b->nslots && b->slots[slot].insn == insn; slot++) {
		const struct vt_slot *s = &b->slots[slot];
		bool last = slot + 1 == b->nslots || b->slots[slot + 1].insn != insn ||
			    !is_value(&b->slots[slot + 1]);

		if (s->what == VT_WHAT_GUARD)
			a.guard = slot;
		if (is_address(s) && s->size == 8)
			a.address = slot;
		if (!is_value(s) && !(is_address(s) && last))
			continue;
		a.store = s->what == VT_WHAT_STORE || s->what == VT_WHAT_STORE_ADDRESS;
		a.size = is_value(s) ? s->size : vti_replay_size(f, a.store);
		loaded = loaded || !a.store;
		stored = stored || a.store;
		add_access(k, a);
		a.address = a.guard = NONE;
	}
	if ((f->flags & VT_FACT_LOAD) && !loaded)
		add_access(k, (struct vti_access){NONE, NONE, (uint16_t)insn,
						  vti_replay_size(f, false), false});
	if ((f->flags & VT_FACT_STORE) && !stored)
		add_access(k, (struct vti_access){NONE, NONE, (uint16_t)insn,
						  vti_replay_size(f, true), true});
	return slot;
}

static bool make_code(struct vt_replay *rp, struct vti_block *k, const struct vt_bblock *b)
{
	uint32_t i, slot = 0, at = 0;
	struct vt_facts f;

	for (i = 0; i < b->ninsns; i++) {
		memset(&f, 0, sizeof(f));
		f.mnemonic = "";
		if (b->code && b->mode == 64)
			vt_facts_decode(b->code + at, b->lengths[i], &f);
		vt_conflict_code_make(&k->code[i], &f);
		k->code[i].place = vti_replay_place(rp, b->pid, b->addr + at);
		if (k->code[i].place == UINT32_MAX)
			return false;
		slot = take_slots(k, b, i, slot, &f);
		at += b->lengths[i];
	}
	return true;
}

static struct vti_block *block_of(struct vt_replay *rp, const struct vt_bblock *b)
{
	size_t had = rp->nblocks;
	struct vti_block *k;

	if (b->id >= had) {
		if (!vt_array_grow(&rp->blocks, &rp->nblocks, b->id + 1, sizeof(*rp->blocks)))
			return NULL;
		memset(rp->blocks + had, 0, (rp->nblocks - had) * sizeof(*rp->blocks));
	}
	k = &rp->blocks[b->id];
	if (k->code)
		return k;
	/* Each instruction has at most two accesses that no slot tells. */
	k->accesses = calloc(b->nslots + 2 * (size_t)b->ninsns, sizeof(*k->accesses));
	k->code = calloc(b->ninsns, sizeof(*k->code));
	if (!k->accesses || !k->code || !make_code(rp, k, b) ||
	    !vt_array_grow(&rp->accesses, &rp->accesses_cap, k->most + 1, sizeof(*rp->accesses)))
		return NULL;
	return k;
}

/* ---- runs ---- */

/* The accesses of an instruction in this execution; a shut guard says that one did not happen. */
static size_t look_up(const struct vt_step *step, const struct vti_access *a, size_t n,
		      struct vt_access *out)
{
	size_t i, count = 0;

	for (i = 0; i < n; i++) {
		if (a[i].guard != NONE && !vt_step_value(step, a[i].guard, 0))
			continue;
		out[count] = (struct vt_access){.size = a[i].size, .store = a[i].store};
		if (a[i].address != NONE) {
			out[count].addr = vt_step_value(step, a[i].address, 0);
			out[count].known = true;
		}
		count++;
	}
	return count;
}

static int take_step(struct vt_replay *rp, const struct vt_step *step, struct vt_error *err)
{
	const struct vti_block *k = block_of(rp, step->block);
	uint32_t i, at = 0, end;
	int code = 0;

	if (!k)
		return vt_error_nomem(err);
	while (at < k->naccesses && k->accesses[at].insn < step->insn)
		at++;
	for (i = step->insn; i < step->insn_end && code == 0; i++) {
		size_t n;

		for (end = at; end < k->naccesses && k->accesses[end].insn == i; end++)
			;
		n = look_up(step, &k->accesses[at], end - at, rp->accesses);
		code = vt_conflicts_insn(rp->conflicts, &k->code[i], rp->accesses, n, err);
		at = end;
	}
	return code;
}

int vti_replay_exec(struct vt_replay *rp, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_step step;
	struct vt_exec x;
	int code = vt_exec_open(&x, rp->dict, rec, err);

	if (code < 0)
		return code;
	if (!rp->runs || x.pid != rp->pid || x.tid != rp->tid || x.first != rp->next)
		vt_conflicts_begin(rp->conflicts);
	rp->runs = true;
	rp->pid = x.pid;
	rp->tid = x.tid;
	rp->next = x.first + x.insns;
	while ((code = vt_exec_next(&x, &step, err)) > 0) {
		code = take_step(rp, &step, err);
		if (code < 0)
			break;
	}
	if (code < 0)
		rp->runs = false;
	return code;
}
