/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/prefetch.h"
#include "formats/pt/block.h"
#include "formats/pt/encode/internal.h"
#include "formats/pt/encode/putpacket.h"

/*
 * From block to block.  The address of the next one tells what the last instruction of the one
 * before it did.
 */

/* The state of the loop stays in registers only if all of it is one function. */
#if defined(__GNUC__)
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#else
#define ALWAYS_INLINE static inline
#endif

/* Blocks lie anywhere in their table: those so far ahead are asked for. */
#define AHEAD 12

/* ---- the return stacks ---- */

static inline void push(struct enc_thread *t, uint64_t to)
{
	t->returns[t->returns_top++ % ENC_RETURNS] = to;
	t->nreturns += t->nreturns < ENC_RETURNS;
	t->pops[t->pops_top++ % ENC_POPS] = to;
	t->npops += t->npops < ENC_POPS;
}

/*
 * Whether a return to `to` may be compressed: decoders do not agree whether a return that is not
 * pops their stack, so both sorts must find it on top.
 */
static inline bool pop(struct enc_thread *t, uint64_t to)
{
	bool fits = t->npops && t->pops[(t->pops_top - 1) % ENC_POPS] == to && t->nreturns &&
		    t->returns[(t->returns_top - 1) % ENC_RETURNS] == to;

	if (t->npops) {
		t->npops--;
		t->pops_top--;
	}
	if (fits) {
		t->nreturns--;
		t->returns_top--;
	}
	return fits;
}

/* ---- a step ---- */

/* Where a part of a block, or a place between two, is dealt with as a block of its own. */
static struct enc_block place(uint64_t ip)
{
	return (struct enc_block){
		.addr = ip, .next = ip, .target = ip, .other = ip, .direct = true};
}

/* Whether execution can go on from a block at this address. */
static bool reaches(const struct enc_block *b, uint64_t ip)
{
	return !b->direct || ip == b->target || ip == b->other ||
	       (b->repeats && ip == b->next - b->last);
}

/* Execution leaves user mode and comes back: only the kernel's own code shows what is between. */
static void far(struct vt_pt_encode *e, struct enc_thread *t, const struct enc_block *prev,
		uint64_t ip)
{
	if ((prev->addr | ip) >> 63) {
		vti_enc_tip(e, t, VT_PT_OP_TIP, ip);
		return;
	}
	vti_enc_off(e, t);
	vti_enc_mode(t);
	vti_enc_tip(e, t, VT_PT_OP_PGE, ip);
}

/* All that happens seldom. */
static void step_slowly(struct vt_pt_encode *e, struct enc_thread *t, const struct enc_block *prev,
			const struct enc_block *next)
{
	if (prev->repeats && next->addr == prev->next - prev->last) {
		t->h.insns -= next->insns != 0;
		t->repeated += next->insns != 0;
		return;
	}
	if (prev->end == VT_PT_END_FAR_CALL || prev->end == VT_PT_END_FAR_RET ||
	    prev->end == VT_PT_END_FAR_JUMP) {
		far(e, t, prev, next->addr);
	} else {
		if (prev->end != ENC_OFF) {
			t->prev = *prev;
			e->sum.breaks++;
			vti_enc_lose(e, t);
		}
		vti_enc_mode(t);
		vti_enc_tip(e, t, VT_PT_OP_PGE, next->addr);
		t->off = false;
	}
	if (t->h.out >= t->h.stop)
		vti_enc_service(e, t, next->addr);
}

/* A decision, and its packet when that is full. */
static inline void decide(struct vt_pt_encode *e, struct enc_thread *t, struct enc_hot *h,
			  bool taken, uint64_t ip)
{
	/* The time of a packet is that of its first decision. */
	if (h->tnt == 1)
		t->decided = h->insns;
	h->tnt = h->tnt << 1 | taken;
	if (h->tnt < t->full)
		return;
	if (e->timed) {
		t->h = *h;
		vti_enc_tnt(e, t);
		*h = t->h;
	} else {
		h->out = vt_pt_put_tnt(h->out, h->tnt);
		h->tnt = 1;
	}
	if (h->out >= h->stop) {
		t->h = *h;
		vti_enc_service(e, t, ip);
		*h = t->h;
	}
}

static inline void go_to(struct vt_pt_encode *e, struct enc_thread *t, struct enc_hot *h,
			 uint64_t ip)
{
	if (e->timed) {
		t->h = *h;
		vti_enc_tip(e, t, VT_PT_OP_TIP, ip);
		*h = t->h;
	} else {
		h->out = vt_pt_put_tnt(h->out, h->tnt);
		h->tnt = 1;
		h->out = vt_pt_put_ip(h->out, VT_PT_OP_TIP, &h->last_ip, ip);
	}
	if (h->out >= h->stop) {
		t->h = *h;
		vti_enc_service(e, t, ip);
		*h = t->h;
	}
}

/* From one block to the next; `quick`: packets have no times, and TNT packets one byte. */
ALWAYS_INLINE void step(struct vt_pt_encode *e, struct enc_thread *t, struct enc_hot *h,
			const struct enc_block *prev, const struct enc_block *next, bool quick)
{
	uint64_t ip = next->addr;

	if (!quick && h->insns >= t->tick) {
		t->h = *h;
		vti_enc_mtc(e, t);
		*h = t->h;
	}
	/* What decides is the program's data: the processor could not guess branches here. */
	if (prev->direct && (ip == prev->target || ip == prev->other)) {
		if (prev->call)
			push(t, prev->next);
		if (quick) {
			unsigned full;

			h->tnt = h->tnt << prev->branch | (prev->branch & (ip != prev->other));
			*h->out = (uint8_t)(h->tnt << 1);
			full = h->tnt >> 6 & 1;
			h->out += full;
			h->tnt = full ? 1 : h->tnt;
			if (h->out >= h->stop) {
				t->h = *h;
				vti_enc_service(e, t, ip);
				*h = t->h;
			}
		} else if (prev->branch) {
			decide(e, t, h, ip != prev->other, ip);
		}
		return;
	}
	switch (prev->end) {
	case VT_PT_END_RET:
		if (t->compress && pop(t, ip))
			decide(e, t, h, true, ip);
		else
			go_to(e, t, h, ip);
		return;
	case VT_PT_END_CALL_INDIRECT:
		push(t, prev->next);
		go_to(e, t, h, ip);
		return;
	case VT_PT_END_JUMP_INDIRECT:
		go_to(e, t, h, ip);
		return;
	default:
		t->h = *h;
		step_slowly(e, t, prev, next);
		*h = t->h;
	}
}

static inline uint64_t id_at(const uint8_t *ids, unsigned width, uint64_t base)
{
	return base + (width == 2 ? vt_le16(ids) : vt_le32(ids));
}

ALWAYS_INLINE size_t run(struct vt_pt_encode *e, struct enc_thread *t, const uint8_t *ids,
			 unsigned width, uint64_t base, size_t n, bool quick)
{
	const struct enc_block *prev = &t->prev;
	struct enc_hot h = t->h;
	struct enc_block last;
	size_t i;

	for (i = 0; i < n; i++, ids += width) {
		uint64_t id = id_at(ids, width, base);
		struct enc_block *next;

		if (i + AHEAD < n) {
			uint64_t ahead = id_at(ids + (size_t)AHEAD * width, width, base);

			VT_PREFETCH(&e->blocks[ahead < e->nblocks ? ahead : 0]);
		}
		if (id >= e->nblocks)
			break;
		next = &e->blocks[id];
		if (!next->insns)
			break;
		next->used = true;
		step(e, t, &h, prev, next, quick);
		h.insns += next->insns;
		prev = next;
	}
	t->blocks += i;
	t->h = h;
	last = *prev;
	t->prev = last;
	return i;
}

size_t vti_enc_run(struct vt_pt_encode *e, struct enc_thread *t, const uint8_t *ids, unsigned width,
		   uint64_t base, size_t n)
{
	if (e->timed || t->full != 64)
		return run(e, t, ids, width, base, n, false);
	if (width == 2)
		return run(e, t, ids, 2, base, n, true);
	return run(e, t, ids, 4, base, n, true);
}

void vti_enc_step(struct vt_pt_encode *e, struct enc_thread *t, const struct enc_block *next)
{
	struct enc_hot h = t->h;
	struct enc_block prev = t->prev;

	step(e, t, &h, &prev, next, false);
	h.insns += next->insns;
	t->h = h;
	t->prev = *next;
}

/* ---- where it breaks off ---- */

static void switch_off(struct enc_thread *t)
{
	/* Decoders do not agree whether a call or return at which tracing ends is one. */
	if (t->prev.call || t->prev.end == VT_PT_END_RET || t->prev.end == VT_PT_END_CALL_INDIRECT)
		vti_enc_forget_calls(t);
	t->off = true;
	t->prev = (struct enc_block){.end = ENC_OFF};
}

void vti_enc_break(struct vt_pt_encode *e, struct enc_thread *t, uint64_t ip)
{
	struct enc_block at = place(ip);

	if (t->off)
		return;
	if (t->prev.end >= VT_PT_END_FAR_CALL || !reaches(&t->prev, ip)) {
		vti_enc_lose(e, t);
		return;
	}
	vti_enc_step(e, t, &at);
	vti_enc_tip(e, t, VT_PT_OP_FUP, ip);
	vti_enc_off(e, t);
	switch_off(t);
}

void vti_enc_lose(struct vt_pt_encode *e, struct enc_thread *t)
{
	struct enc_block prev = t->prev;

	if (t->off)
		return;
	switch (prev.end) {
	case VT_PT_END_FALL:
	case VT_PT_END_COND:
		/* A decision is due, whatever it was. */
		vti_enc_break(e, t, prev.next);
		return;
	case VT_PT_END_JUMP:
	case VT_PT_END_CALL:
		vti_enc_break(e, t, prev.target);
		return;
	case VT_PT_END_RET:
	case VT_PT_END_JUMP_INDIRECT:
	case VT_PT_END_CALL_INDIRECT:
		/* It has an address, so that this branch is meant and not the next far one. */
		vti_enc_tip(e, t, VT_PT_OP_PGD, 0);
		break;
	default:
		vti_enc_off(e, t);
		break;
	}
	switch_off(t);
}

void vti_enc_leave(struct vt_pt_encode *e, struct enc_thread *t, uint64_t to)
{
	bool branch = t->prev.end != VT_PT_END_FALL && t->prev.end < VT_PT_END_FAR_CALL;

	if (t->off)
		return;
	if (!branch || !to || !reaches(&t->prev, to)) {
		vti_enc_lose(e, t);
		return;
	}
	vti_enc_tip(e, t, VT_PT_OP_PGD, to);
	switch_off(t);
}

void vti_enc_interrupt(struct vt_pt_encode *e, struct enc_thread *t, uint64_t ip, uint64_t to)
{
	struct enc_block at = place(ip);

	if (t->off || t->prev.end >= VT_PT_END_FAR_CALL || !reaches(&t->prev, ip)) {
		vti_enc_lose(e, t);
		return;
	}
	vti_enc_room(e, t);
	vti_enc_step(e, t, &at);
	vti_enc_tip(e, t, VT_PT_OP_FUP, ip);
	vti_enc_tip(e, t, VT_PT_OP_TIP, to);
	t->prev = place(to);
}

void vti_enc_ptwrite(struct vt_pt_encode *e, struct enc_thread *t, uint64_t ip, uint64_t value,
		     unsigned size)
{
	struct vt_pt_packet k = {
		.kind = VT_PT_PTW, .count = (uint8_t)size, .ip = true, .payload = value};

	if (t->off)
		return;
	vti_enc_room(e, t);
	vti_enc_tnt(e, t);
	vti_enc_cyc(e, t, vti_enc_cycles(e, t));
	t->h.out = vt_pt_packet_write(t->h.out, &k);
	t->h.out = vt_pt_put_ip(t->h.out, VT_PT_OP_FUP, &t->h.last_ip, ip);
}
