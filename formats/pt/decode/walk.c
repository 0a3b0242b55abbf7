/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "formats/pt/decode/walk.h"

/* ---- code --------------------------------------------------------------------- */

void vti_pt_walk_moved(struct vti_pt_walk *w)
{
	w->query->turn++;
}

static int no_memory(struct vti_pt_walk *w)
{
	w->error = -VT_E_NOMEM;
	return -VTI_PT_NOMEM;
}

/* The block at an address; borrowed until the next one is made. */
static int block_at(struct vti_pt_walk *w, uint64_t ip, uint32_t *index,
		    const struct vt_pt_block **k)
{
	uint8_t byte;

	if (!w->code)
		return -VTI_PT_NOMAP;
	if (!w->mode)
		return vt_pt_code_read(w->code, ip, &byte, 1) ? -VTI_PT_INSN : -VTI_PT_NOMAP;
	if (vt_pt_blocks_at(w->blocks, ip, w->mode, index))
		return no_memory(w);
	*k = vt_pt_blocks_get(w->blocks, *index);
	return 0;
}

static int put(struct vti_pt_walk *w, uint32_t index, unsigned insns)
{
	if (w->nids == w->ids_size) {
		size_t size = w->ids_size + w->ids_size / 2;
		uint32_t *ids = realloc(w->ids, size * sizeof(*ids));

		if (!ids)
			return no_memory(w);
		w->ids = ids;
		w->ids_size = size;
	}
	w->ids[w->nids++] = index;
	w->insns += insns;
	return 0;
}

int vti_pt_walk_flush(struct vti_pt_walk *w)
{
	struct vti_pt_query *q = w->query;
	unsigned n = q->open_insns;
	uint32_t index = q->open_index;

	if (!n)
		return 0;
	q->open_insns = 0;
	if (vt_pt_blocks_cut(w->blocks, index, n, &index))
		return no_memory(w);
	return put(w, index, n);
}

/*
 * A block that is entered for the second time since a packet was used up is the second turn of a
 * loop that no packet will end.
 */
static int enter(struct vti_pt_walk *w, uint32_t index)
{
	struct vti_pt_query *q = w->query;

	if (index >= q->nentered) {
		size_t n = vt_pt_blocks_count(w->blocks) + (size_t)1024;
		uint64_t *entered = realloc(q->entered, n * sizeof(*entered));

		if (!entered)
			return no_memory(w);
		memset(entered + q->nentered, 0, (n - q->nentered) * sizeof(*entered));
		q->entered = entered;
		q->nentered = n;
	}
	if (q->entered[index] == q->turn)
		return -VTI_PT_LOOP;
	q->entered[index] = q->turn;
	return 0;
}

/* The instructions of a block before an address, more than `from`; all if it is not behind them. */
static unsigned insns_before(const struct vti_pt_walk *w, const struct vt_pt_block *k,
			     unsigned from, uint64_t ip)
{
	const uint8_t *lengths = vt_pt_block_lengths(w->blocks, k);
	uint64_t at = w->ip;
	unsigned i;

	if (ip - w->ip >= k->addr + k->size - w->ip)
		return k->insns;
	for (i = from; i < k->insns && at != ip; i++)
		at += lengths[i];
	return i;
}

/* vmlaunch or vmresume. */
static bool is_vm_entry(const uint8_t *p, size_t size)
{
	while (size &&
	       (*p == 0x66 || *p == 0xf2 || *p == 0xf3 || *p == 0x67 || (*p & 0xf0) == 0x40)) {
		p++;
		size--;
	}
	return size >= 3 && p[0] == 0x0f && p[1] == 0x01 && (p[2] == 0xc2 || p[2] == 0xc3);
}

static void classify(struct vti_pt_insn *insn, const uint8_t *p, size_t size, unsigned mode,
		     uint64_t ip)
{
	memset(insn, 0, sizeof(*insn));
	insn->ip = ip;
	insn->next =
		ip + vt_pt_insn_classify(p, size, mode, ip, &insn->end, &insn->target, &insn->mark);
	insn->vm_entry = insn->end == VT_PT_END_FAR_RET && is_vm_entry(p, size);
}

static bool is_far(const struct vti_pt_insn *insn)
{
	return insn->end == VT_PT_END_FAR_CALL || insn->end == VT_PT_END_FAR_RET ||
	       insn->end == VT_PT_END_FAR_JUMP;
}

bool vti_pt_insn_is(const struct vti_pt_insn *insn, enum vti_pt_want want)
{
	switch (want) {
	case VTI_PT_WANT_CR3:
		return insn->mark & VT_PT_MARK_CR3;
	case VTI_PT_WANT_PAGING:
		return insn->mark & VT_PT_MARK_CR3 || is_far(insn);
	case VTI_PT_WANT_VMCS:
		return insn->mark & VT_PT_MARK_VMPTRLD || is_far(insn);
	case VTI_PT_WANT_PTWRITE:
		return insn->mark & VT_PT_MARK_PTWRITE;
	default:
		return false;
	}
}

/* The instructions up to the first of a sort behind `from`, itself included; 0: there is none. */
static unsigned insns_to(const struct vti_pt_walk *w, const struct vt_pt_block *k, unsigned from,
			 enum vti_pt_want want, struct vti_pt_insn *last)
{
	const uint8_t *lengths = vt_pt_block_lengths(w->blocks, k);
	const uint8_t *code = vt_pt_block_code(w->blocks, k);
	size_t at = (size_t)(w->ip - k->addr);
	unsigned i;

	if (!k->marks)
		return 0;
	for (i = from; i < k->insns; i++) {
		classify(last, code + at, lengths[i], k->mode, k->addr + at);
		if (vti_pt_insn_is(last, want))
			return i + 1;
		at += lengths[i];
	}
	return 0;
}

static void last_insn(const struct vti_pt_walk *w, const struct vt_pt_block *k,
		      struct vti_pt_insn *last)
{
	const uint8_t *code = vt_pt_block_code(w->blocks, k);

	memset(last, 0, sizeof(*last));
	last->ip = k->next - k->last;
	last->next = k->next;
	last->target = k->target;
	last->end = k->end;
	last->vm_entry =
		k->end == VT_PT_END_FAR_RET && is_vm_entry(code + k->size - k->last, k->last);
}

/* Behind a block that has been put out as a whole: 0: code goes on at w->ip. */
static int behind(struct vti_pt_walk *w, const struct vt_pt_block *k, enum vti_pt_want want,
		  uint64_t ip, struct vti_pt_insn *last)
{
	switch (k->end) {
	case VT_PT_END_FALL:
		w->ip = k->next;
		return 0;
	case VT_PT_END_CALL:
		/* What only asks where it is does not return. */
		if (k->target != k->next)
			vti_pt_walk_push(w, k->next);
		w->ip = k->target;
		break;
	case VT_PT_END_JUMP:
		w->ip = k->target;
		break;
	case VT_PT_END_NO_CODE:
	case VT_PT_END_BAD_CODE:
		w->ip = k->next;
		if (want == VTI_PT_WANT_IP && w->ip == ip)
			return 1;
		return k->end == VT_PT_END_NO_CODE ? -VTI_PT_NOMAP : -VTI_PT_INSN;
	default:
		if (k->end == VT_PT_END_CALL_INDIRECT)
			vti_pt_walk_push(w, k->next);
		last_insn(w, k, last);
		w->ip = last->ip;
		return vti_pt_insn_is(last, want) ? 1 : -VTI_PT_QUERY;
	}
	return 0;
}

/* The block that execution is in, and how many of its instructions are behind it. */
static int block_now(struct vti_pt_walk *w, uint32_t *index, const struct vt_pt_block **k,
		     unsigned *from)
{
	struct vti_pt_query *q = w->query;
	int r;

	*from = q->open_insns;
	if (*from) {
		*index = q->open_index;
		*k = vt_pt_blocks_get(w->blocks, *index);
		return 0;
	}
	r = block_at(w, w->ip, index, k);
	return r || !(*k)->insns ? r : enter(w, *index);
}

static bool is_decision(unsigned end)
{
	return end == VT_PT_END_COND || (end >= VT_PT_END_RET && end <= VT_PT_END_FAR_JUMP);
}

/* n instructions of a block have been walked. */
static int walked(struct vti_pt_walk *w, uint32_t index, const struct vt_pt_block *k, unsigned n)
{
	struct vti_pt_query *q = w->query;

	q->decision = VT_PT_END_FALL;
	q->open_index = index;
	q->open_insns = n;
	if (n < k->insns)
		return 0;
	q->open_insns = 0;
	q->decision = is_decision(k->end) ? k->end : (uint8_t)VT_PT_END_FALL;
	return n ? put(w, index, n) : 0;
}

static int piece(struct vti_pt_walk *w, enum vti_pt_want want, uint64_t ip,
		 struct vti_pt_insn *last)
{
	const struct vt_pt_block *k;
	unsigned from, n = 0;
	uint32_t index;
	int r = block_now(w, &index, &k, &from);

	if (r)
		return r;
	w->query->branched = false;
	if (want == VTI_PT_WANT_IP) {
		n = insns_before(w, k, from, ip);
		if (n < k->insns) {
			w->ip = ip;
			r = walked(w, index, k, n);
			return r ? r : 1;
		}
	} else if (want != VTI_PT_WANT_NOTHING) {
		n = insns_to(w, k, from, want, last);
		if (n) {
			w->ip = last->ip;
			r = walked(w, index, k, n);
			return r ? r : 1;
		}
	}
	r = walked(w, index, k, k->insns);
	if (r)
		return r;
	w->query->branched = k->end != VT_PT_END_FALL;
	return behind(w, k, want, ip, last);
}

int vti_pt_walk_code(struct vti_pt_walk *w, enum vti_pt_want want, uint64_t ip,
		     struct vti_pt_insn *last)
{
	int r;

	do {
		if (want == VTI_PT_WANT_IP && w->ip == ip)
			return 1;
		r = piece(w, want, ip, last);
	} while (!r);
	return r;
}

int vti_pt_walk_insn(struct vti_pt_walk *w, uint64_t ip, struct vti_pt_insn *insn)
{
	const struct vt_pt_block *k;
	uint32_t index;
	int r = block_at(w, ip, &index, &k);

	if (r)
		return r;
	if (!k->insns)
		return k->end == VT_PT_END_NO_CODE ? -VTI_PT_NOMAP : -VTI_PT_INSN;
	classify(insn, vt_pt_block_code(w->blocks, k), vt_pt_block_lengths(w->blocks, k)[0],
		 k->mode, ip);
	return 0;
}

int vti_pt_walk_one(struct vti_pt_walk *w, struct vti_pt_insn *last)
{
	const struct vt_pt_block *k;
	unsigned from;
	uint32_t index;
	int r = vti_pt_walk_insn(w, w->ip, last);

	if (r)
		return r;
	r = block_now(w, &index, &k, &from);
	if (!r)
		r = walked(w, index, k, from + 1);
	if (r)
		return r;
	if ((last->end == VT_PT_END_CALL && last->target != last->next) ||
	    last->end == VT_PT_END_CALL_INDIRECT)
		vti_pt_walk_push(w, last->next);
	return 1;
}

int vti_pt_walk_next_ip(const struct vti_pt_insn *insn, uint64_t *ip)
{
	switch (insn->end) {
	case VT_PT_END_FALL:
		*ip = insn->next;
		return 0;
	case VT_PT_END_JUMP:
	case VT_PT_END_CALL:
		*ip = insn->target;
		return 0;
	default:
		return -VTI_PT_QUERY;
	}
}

int vti_pt_walk_decide(struct vti_pt_walk *w, const struct vti_pt_insn *insn)
{
	bool taken;
	int r = -VTI_PT_QUERY;

	if (insn->end == VT_PT_END_COND || insn->end == VT_PT_END_RET) {
		r = vti_pt_query_cond(w, &taken);
		if (r < 0 && (r != -VTI_PT_QUERY || insn->end == VT_PT_END_COND))
			return r;
	}
	if (r == -VTI_PT_QUERY) {
		r = vti_pt_query_indirect(w, &w->ip);
		if (r < 0)
			return r;
		w->query->flags = (unsigned)r;
		vti_pt_walk_moved(w);
		return r & VTI_PT_UNKNOWN_IP ? -VTI_PT_NOIP : 0;
	}
	w->query->flags = (unsigned)r;
	vti_pt_walk_moved(w);
	if (insn->end == VT_PT_END_COND) {
		w->ip = taken ? insn->target : insn->next;
		return 0;
	}
	if (!taken)
		return -VTI_PT_RETCOMP;
	return vti_pt_walk_pop(w, &w->ip) ? 0 : -VTI_PT_RETSTACK;
}

int vti_pt_walk_sync(struct vti_pt_walk *w)
{
	struct vti_pt_query *q = w->query;
	const uint8_t *psb = vti_pt_resync(w->begin, w->end, w->pos, q->sync);
	int r;

	w->mode = 0;
	w->ip = 0;
	w->enabled = false;
	w->ret_count = 0;
	q->processing = false;
	q->postponed = false;
	q->bound_paging = q->bound_vmcs = q->bound_ptwrite = false;
	q->flags = 0;
	if (!psb)
		return -VTI_PT_EOS;
	r = vti_pt_query_sync(w, psb, &w->ip);
	if (r < 0)
		return r;
	q->flags = (unsigned)r;
	w->enabled = !(r & VTI_PT_UNKNOWN_IP);
	return vti_pt_walk_trailing(w, false);
}
