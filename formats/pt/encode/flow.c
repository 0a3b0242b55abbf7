/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/prefetch.h"
#include "formats/pt/block.h"
#include "formats/pt/encode/internal.h"
#include "formats/pt/encode/putpacket.h"

/*
 * ---- the model's clock ----
 *
 * Everything is a function of the number of instructions, in whole numbers:
 *
 *	cycles = insns * cpi / 1000000		tsc = start + cycles * nominal_ratio / cbr
 *	ctc = tsc * ctc_denominator / ctc_numerator
 */

#define MILLION 1000000u

/* a * b / c, rounded down or up; the parts are small enough that nothing overflows. */
static uint64_t scale(uint64_t a, uint64_t b, uint64_t c)
{
	return a / c * b + a % c * b / c;
}

static uint64_t scale_up(uint64_t a, uint64_t b, uint64_t c)
{
	return a / c * b + (a % c * b + c - 1) / c;
}

uint64_t vti_enc_cycles(const struct vt_pt_encode *e, const struct enc_thread *t)
{
	return scale(t->h.insns + t->away, e->opt.cpi, MILLION);
}

/* When the first of the pending decisions was taken. */
static uint64_t decided_cycles(const struct vt_pt_encode *e, const struct enc_thread *t)
{
	return scale(t->decided + t->away, e->opt.cpi, MILLION);
}

uint64_t vti_enc_tsc(const struct vt_pt_encode *e, uint64_t cycles)
{
	return e->opt.start_tsc + scale(cycles, e->opt.clock.nominal_ratio, e->opt.cbr);
}

/* CYC with the cycles since the last one; `now`: vti_enc_cycles(). */
static void put_cyc(struct vt_pt_encode *e, struct enc_thread *t, uint64_t now)
{
	struct vt_pt_packet k = {.kind = VT_PT_CYC, .payload = now - t->cycles};

	if (!e->opt.cyc || now <= t->cycles)
		return;
	t->h.out = vt_pt_packet_write(t->h.out, &k);
	t->cycles = now;
}

static uint64_t ctc_of(const struct vt_pt_encode *e, uint64_t tsc)
{
	return scale(tsc, e->opt.clock.ctc_denominator, e->opt.clock.ctc_numerator);
}

/* The TSC when the CTC begins to be this. */
static uint64_t tsc_of(const struct vt_pt_encode *e, uint64_t ctc)
{
	return scale_up(ctc, e->opt.clock.ctc_numerator, e->opt.clock.ctc_denominator);
}

/* The first cycle in which the CTC is this. */
static uint64_t cycle_of(const struct vt_pt_encode *e, uint64_t ctc)
{
	return scale_up(tsc_of(e, ctc) - e->opt.start_tsc, e->opt.cbr, e->opt.clock.nominal_ratio);
}

static void set_tick(const struct vt_pt_encode *e, struct enc_thread *t)
{
	uint64_t insns = scale_up(cycle_of(e, t->next_ctc), MILLION, e->opt.cpi);

	t->tick = insns > t->away ? insns - t->away : 0;
}

/* TSC, TMA and CBR of a PSB+. */
static void put_times(struct vt_pt_encode *e, struct enc_thread *t)
{
	uint64_t tsc = vti_enc_tsc(e, vti_enc_cycles(e, t)), ctc = ctc_of(e, tsc);
	struct vt_pt_packet k = {.kind = VT_PT_TSC, .payload = tsc};

	if (!e->timed)
		return;
	if (e->opt.tsc)
		t->h.out = vt_pt_packet_write(t->h.out, &k);
	if (e->opt.mtc) {
		if (e->opt.tsc) {
			k = (struct vt_pt_packet){
				.kind = VT_PT_TMA, .payload = ctc, .extra = tsc - tsc_of(e, ctc)};
			t->h.out = vt_pt_packet_write(t->h.out, &k);
		}
		t->next_ctc = ((ctc >> e->opt.clock.mtc_period) + 1) << e->opt.clock.mtc_period;
		set_tick(e, t);
	}
	k = (struct vt_pt_packet){.kind = VT_PT_CBR, .payload = e->opt.cbr};
	t->h.out = vt_pt_packet_write(t->h.out, &k);
}

/* ---- bytes ---- */

uint64_t vti_enc_position(const struct enc_thread *t)
{
	return t->pub.bytes + (uint64_t)(t->h.out - t->buffer);
}

void vti_enc_set_stop(struct enc_thread *t)
{
	uint64_t at = t->losing			   ? t->lost_at
		      : t->psb_at < t->overflow_at ? t->psb_at
						   : t->overflow_at;

	at -= t->pub.bytes < at ? t->pub.bytes : at;
	t->h.stop = t->buffer + (at < ENC_BUFFER ? at : ENC_BUFFER);
}

uint64_t vti_enc_some(struct enc_thread *t, uint64_t mean)
{
	return mean / 2 + 1 + vt_rng_below(&t->rng, mean);
}

/* Changes bytes that are about to be given away: one, one bit, or a few in a row. */
static void spoil(struct vt_pt_encode *e, struct enc_thread *t, size_t size)
{
	uint64_t end = t->pub.bytes + size;

	while (t->damage_at < end) {
		uint8_t *p = t->buffer + (t->damage_at - t->pub.bytes);
		uint64_t left = end - t->damage_at, n;

		switch (vt_rng_below(&t->rng, 3)) {
		case 0:
			*p ^= (uint8_t)(1u << vt_rng_below(&t->rng, 8));
			e->sum.damaged++;
			break;
		case 1:
			*p ^= (uint8_t)(1 + vt_rng_below(&t->rng, 255));
			e->sum.damaged++;
			break;
		default:
			for (n = 1 + vt_rng_below(&t->rng, 16); n && left; n--, left--) {
				*p++ ^= (uint8_t)(1 + vt_rng_below(&t->rng, 255));
				e->sum.damaged++;
			}
			break;
		}
		t->damage_at += vti_enc_some(t, e->opt.damage);
	}
}

void vti_enc_drain(struct vt_pt_encode *e, struct enc_thread *t)
{
	uint8_t *end = t->losing ? t->losing : t->h.out;
	size_t size = (size_t)(end - t->buffer), lost = (size_t)(t->h.out - end);

	if (!size || e->failed)
		goto out;
	if (e->opt.damage)
		spoil(e, t, size);
	t->pub.insns = t->h.insns;
	t->pub.tsc = e->timed ? vti_enc_tsc(e, vti_enc_cycles(e, t)) : 0;
	e->failed = e->sink(e->arg, &t->pub, t->buffer, size, e->err);
	t->pub.bytes += size;
	e->sum.bytes += size;
out:
	/* What is being lost need not be kept, only how much it is; no overflow loses as much. */
	t->h.out = t->buffer + (lost < ENC_BUFFER ? lost : ENC_BUFFER);
	if (t->losing)
		t->losing = t->buffer;
	vti_enc_set_stop(t);
}

void vti_enc_room(struct vt_pt_encode *e, struct enc_thread *t)
{
	if (t->h.out >= t->buffer + ENC_BUFFER)
		vti_enc_drain(e, t);
}

/* ---- packets ---- */

static void put(struct enc_thread *t, const struct vt_pt_packet *k)
{
	t->h.out = vt_pt_packet_write(t->h.out, k);
}

static void put_kind(struct enc_thread *t, enum vt_pt_kind kind)
{
	struct vt_pt_packet k = {.kind = (uint8_t)kind};

	put(t, &k);
}

static void put_tnt(struct vt_pt_encode *e, struct enc_thread *t)
{
	if (t->h.tnt == 1)
		return;
	put_cyc(e, t, decided_cycles(e, t));
	t->h.out = vt_pt_put_tnt(t->h.out, t->h.tnt);
	t->h.tnt = 1;
}

void vti_enc_tip(struct vt_pt_encode *e, struct enc_thread *t, unsigned opcode, uint64_t ip)
{
	put_tnt(e, t);
	put_cyc(e, t, vti_enc_cycles(e, t));
	t->h.out = vt_pt_put_ip(t->h.out, opcode, &t->h.last_ip, ip);
}

void vti_enc_off(struct vt_pt_encode *e, struct enc_thread *t)
{
	put_tnt(e, t);
	put_cyc(e, t, vti_enc_cycles(e, t));
	put_kind(t, VT_PT_TIP_PGD);
}

static void put_mode(struct enc_thread *t)
{
	struct vt_pt_packet k = {.kind = VT_PT_MODE_EXEC, .payload = t->mode};

	if (t->told_mode == t->mode)
		return;
	put(t, &k);
	t->told_mode = t->mode;
}

/* No return is compressed until its call was seen after this. */
static void forget_calls(struct enc_thread *t)
{
	t->nreturns = t->npops = 0;
}

void vti_enc_psb(struct vt_pt_encode *e, struct enc_thread *t, bool on, uint64_t ip)
{
	struct vt_pt_packet pip = {.kind = VT_PT_PIP, .payload = e->opt.cr3};

	put_cyc(e, t, vti_enc_cycles(e, t));
	put_kind(t, VT_PT_PSB);
	t->h.last_ip = 0;
	forget_calls(t);
	put_times(e, t);
	t->told_mode = 0;
	put_mode(t);
	if (e->opt.cr3)
		put(t, &pip);
	if (on)
		t->h.out = vt_pt_put_ip(t->h.out, VT_PT_OP_FUP, &t->h.last_ip, ip);
	put_kind(t, VT_PT_PSBEND);
	t->psb_at = vti_enc_position(t) + e->opt.psb_bytes;
	vti_enc_set_stop(t);
}

/* The MTC packets that have become due. */
static void put_mtc(struct vt_pt_encode *e, struct enc_thread *t)
{
	uint64_t now = vti_enc_cycles(e, t), at;

	while ((at = cycle_of(e, t->next_ctc)) <= now) {
		struct vt_pt_packet k = {.kind = VT_PT_MTC,
					 .payload = t->next_ctc >> e->opt.clock.mtc_period};

		put_tnt(e, t);
		put_cyc(e, t, at);
		t->h.out = vt_pt_packet_write(t->h.out, &k);
		t->next_ctc += 1ull << e->opt.clock.mtc_period;
		if (t->h.out >= t->buffer + ENC_BUFFER + ENC_SLACK / 2)
			vti_enc_drain(e, t);
	}
	set_tick(e, t);
}

/* ---- what is due now and then ---- */

static void begin_loss(struct vt_pt_encode *e, struct enc_thread *t)
{
	uint64_t most = e->opt.overflow < ENC_MOST_LOST ? e->opt.overflow : ENC_MOST_LOST;

	vti_enc_drain(e, t);
	t->losing = t->h.out;
	t->lost_at = vti_enc_position(t) + 1 + vt_rng_below(&t->rng, most);
}

void vti_enc_end_loss(struct vt_pt_encode *e, struct enc_thread *t, bool on, uint64_t ip)
{
	struct vt_pt_packet fup = {.kind = VT_PT_FUP, .ipc = VT_PT_IPC_FULL, .payload = ip};

	if (!t->losing)
		return;
	t->h.out = t->losing;
	t->losing = NULL;
	t->h.tnt = 1;
	forget_calls(t);
	put_kind(t, VT_PT_OVF);
	e->sum.overflows++;
	t->h.last_ip = 0;
	t->cycles = vti_enc_cycles(e, t);
	if (on) {
		if (vt_pt_ip_compress(1ull << 63, ip) == VT_PT_IPC_SEXT48)
			fup.ipc = VT_PT_IPC_SEXT48;
		put(t, &fup);
		t->h.last_ip = ip;
	}
	t->overflow_at = vti_enc_position(t) + vti_enc_some(t, e->opt.overflow);
	/* Some processors synchronise at once, others go on as if nothing had happened. */
	if (vt_rng_below(&t->rng, 2))
		t->psb_at = vti_enc_position(t);
}

/* What is due once `stop` has been reached: execution goes on at `ip`. */
static void service(struct vt_pt_encode *e, struct enc_thread *t, uint64_t ip)
{
	put_tnt(e, t);
	if (t->losing) {
		if (vti_enc_position(t) >= t->lost_at)
			vti_enc_end_loss(e, t, true, ip);
	} else if (vti_enc_position(t) >= t->overflow_at) {
		begin_loss(e, t);
	}
	if (!t->losing && vti_enc_position(t) >= t->psb_at)
		vti_enc_psb(e, t, true, ip);
	vti_enc_room(e, t);
	vti_enc_set_stop(t);
}

/*
 * ---- from block to block ----
 *
 * The address of the next one tells what the last instruction of the one
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
	put_mode(t);
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
		put_mode(t);
		vti_enc_tip(e, t, VT_PT_OP_PGE, next->addr);
		t->off = false;
	}
	if (t->h.out >= t->h.stop)
		service(e, t, next->addr);
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
		put_tnt(e, t);
		*h = t->h;
	} else {
		h->out = vt_pt_put_tnt(h->out, h->tnt);
		h->tnt = 1;
	}
	if (h->out >= h->stop) {
		t->h = *h;
		service(e, t, ip);
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
		service(e, t, ip);
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
		put_mtc(e, t);
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
				service(e, t, ip);
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
		forget_calls(t);
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
	put_tnt(e, t);
	put_cyc(e, t, vti_enc_cycles(e, t));
	t->h.out = vt_pt_packet_write(t->h.out, &k);
	t->h.out = vt_pt_put_ip(t->h.out, VT_PT_OP_FUP, &t->h.last_ip, ip);
}
