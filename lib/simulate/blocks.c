/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "machine/insn/insn.h"
#include "profile/profile.h"
#include "simulate/internal.h"

/* What a store writes if nothing tells. */
#define USUAL_SIZE 8

/* Bytes of a line of the host's caches, more or less. */
#define HOST_LINE 64

/* ---- accesses ---- */

/* A store's address comes without its value where values of stores are not recorded. */
static uint32_t stored_size(const uint8_t *code, size_t size)
{
	struct vt_facts f;
	unsigned i;

	if (code && vt_facts_decode(code, size, &f))
		for (i = 0; i < f.nmemories; i++)
			if (f.memories[i].written && f.memories[i].size)
				return f.memories[i].size;
	return USUAL_SIZE;
}

/* The slot with the value that goes with the address in slot `i`, or NULL. */
static const struct vt_slot *value_slot(const struct vt_bblock *b, uint32_t i)
{
	const struct vt_slot *a = &b->slots[i], *v = a + 1;
	uint8_t what = a->what == VT_WHAT_LOAD_ADDRESS ? VT_WHAT_LOAD : VT_WHAT_STORE;

	return i + 1 < b->nslots && v->insn == a->insn && v->what == what ? v : NULL;
}

static void add_access(struct vti_simblock *k, uint32_t slot, uint16_t guard, uint32_t *count)
{
	const struct vt_slot *a = &k->b->slots[slot], *v = value_slot(k->b, slot);
	struct vti_siminsn *insn = &k->insns[a->insn];
	bool store = a->what == VT_WHAT_STORE_ADDRESS;
	uint64_t at = vt_bblock_insn_addr(k->b, a->insn) - k->b->addr;
	uint32_t size = v ? v->size : USUAL_SIZE;

	if (!v && store)
		size = stored_size(k->b->code ? k->b->code + at : NULL, k->b->size - at);
	if (!insn->naccesses)
		insn->access = *count;
	insn->naccesses++;
	k->slots[(*count)++] = (struct vti_simslot){
		.slot = (uint16_t)slot,
		.guard = guard,
		.offset = a->offset,
		.size = size,
		.store = store,
	};
}

/* Slots come in the order of instructions, which the dictionary has checked. */
static bool add_accesses(struct vti_simblock *k)
{
	const struct vt_bblock *b = k->b;
	uint16_t guard = UINT16_MAX;
	uint32_t i, count = 0;

	k->whole = true;
	k->slots = calloc((size_t)b->nslots + 1, sizeof(*k->slots));
	if (!k->slots)
		return false;
	for (i = 0; i < b->nslots; i++) {
		const struct vt_slot *s = &b->slots[i];

		if (s->what == VT_WHAT_GUARD) {
			guard = (uint16_t)i;
			continue;
		}
		if ((s->what != VT_WHAT_LOAD_ADDRESS && s->what != VT_WHAT_STORE_ADDRESS) ||
		    s->size != sizeof(uint64_t))
			continue;
		if (guard != UINT16_MAX && b->slots[guard].insn != s->insn)
			guard = UINT16_MAX;
		add_access(k, i, guard, &count);
		k->whole &= guard == UINT16_MAX;
		guard = UINT16_MAX;
	}
	k->nslots = count;
	return true;
}

/* Makes the block ready to be run as a whole. */
static bool add_run(struct vti_simblock *k)
{
	const struct vt_bblock *b = k->b;
	struct vt_simulate_totals totals = {.insns = 0};
	size_t n = (size_t)k->nslots + 1;
	uint64_t addr = b->addr;
	uint32_t i;

	for (i = 0; i < b->ninsns; i++)
		k->whole &= k->insns[i].naccesses <= VTI_SIM_ACCESSES;
	if (!k->whole)
		return true;
	k->run.ninsns = b->ninsns;
	k->run.insns = calloc(b->ninsns, sizeof(*k->run.insns));
	k->accesses = calloc(n, sizeof(*k->accesses) + sizeof(*k->offsets));
	if (!k->run.insns || !k->accesses)
		return false;
	k->offsets = (uint32_t *)(k->accesses + n);
	for (i = 0; i < k->nslots; i++) {
		k->accesses[i] = (struct vt_sim_access){.size = k->slots[i].size,
							.store = k->slots[i].store};
		k->offsets[i] = k->slots[i].offset;
	}
	for (i = 0; i < b->ninsns; i++) {
		const struct vti_siminsn *insn = &k->insns[i];

		k->run.insns[i] = (struct vt_sim_insn){
			.op = &insn->op,
			.tag = insn->place,
			.addr = addr,
			.next = addr + b->lengths[i],
			.naccesses = insn->naccesses,
			.accesses = k->accesses + insn->access,
		};
		addr += b->lengths[i];
		vti_sim_count(insn, insn->naccesses != 0, &totals);
	}
	k->run.insns[b->ninsns - 1].target = b->target;
	k->loads = (uint16_t)totals.loads;
	k->addressed = (uint16_t)totals.addressed;
	k->undecoded = (uint16_t)totals.undecoded;
	return true;
}

/* ---- instructions ---- */

static uint32_t place_of(struct vt_simulate *s, int64_t pid, uint64_t addr)
{
	const struct vt_map *m = vt_addrspace_find(s->space, (int32_t)pid, addr, VTI_SIM_MODE);

	return vti_simtruth_place(&s->truth, m ? m->image : VT_UNMAPPED_IMAGE,
				  m ? vt_map_offset(m, addr) : addr);
}

static bool add_insns(struct vt_simulate *s, struct vti_simblock *k)
{
	const struct vt_bblock *b = k->b;
	uint64_t at = 0;
	uint32_t i;

	for (i = 0; i < b->ninsns; at += b->lengths[i++]) {
		struct vti_siminsn *insn = &k->insns[i];

		vt_core_op(s->o.core, b->code ? b->code + at : NULL, b->code ? b->size - at : 0,
			   &insn->op);
		insn->counts =
			!insn->op.length || (insn->op.flags & (VT_FACT_LOAD | VT_FACT_STORE));
		insn->place = place_of(s, b->pid, b->addr + at);
		if (insn->place == VTI_NONE)
			return false;
		if (i)
			vti_simplace_at(&s->truth, insn[-1].place)->next = insn->place;
	}
	if (b->target) {
		uint32_t to = place_of(s, b->pid, b->target);

		if (to == VTI_NONE)
			return false;
		vti_simplace_at(&s->truth, to)->leads = true;
	}
	return true;
}

static void free_block(struct vti_simblock *k)
{
	if (k) {
		vt_sim_block_fini(&k->run);
		free(k->run.insns);
		free(k->accesses);
		free(k->slots);
	}
	free(k);
}

static struct vti_simblock *new_block(struct vt_simulate *s, const struct vt_bblock *b)
{
	size_t size = sizeof(struct vti_simblock) + b->ninsns * sizeof(struct vti_siminsn);
	struct vti_simblock *k;

	size = (size + HOST_LINE - 1) / HOST_LINE * HOST_LINE;
	k = aligned_alloc(HOST_LINE, size);
	if (!k)
		return NULL;
	memset(k, 0, size);
	k->b = b;
	k->addr = b->addr;
	k->data_size = b->data_size;
	k->edge[0] = k->edge[1] = VTI_NONE;
	if (add_insns(s, k) && add_accesses(k) && add_run(k))
		return k;
	free_block(k);
	return NULL;
}

int vti_sim_block(struct vt_simulate *s, const struct vt_record *rec, struct vt_error *err)
{
	int code = vt_bblocks_add(s->dict, rec, err);
	const struct vt_bblock *b;
	size_t had = s->nblocks;

	if (code < 0)
		return code;
	b = vt_bblocks_get(s->dict, vt_record_u64(rec, VT_BLOCK_ID));
	if (!vt_array_grow(&s->blocks, &s->nblocks, b->id + 1, sizeof(void *)))
		return vt_error_nomem(err);
	memset(s->blocks + had, 0, (s->nblocks - had) * sizeof(void *));
	s->blocks[b->id] = new_block(s, b);
	return s->blocks[b->id] ? 0 : vt_error_nomem(err);
}

void vti_sim_free_blocks(struct vt_simulate *s)
{
	size_t i;

	for (i = 0; i < s->nblocks; i++)
		free_block(s->blocks[i]);
	free(s->blocks);
}
