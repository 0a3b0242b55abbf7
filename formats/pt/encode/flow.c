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

uint64_t vti_enc_get_cycles(const struct vt_pt_encode *e, const struct enc_thread *t)
{
	return scale(t->h.insns + t->away, e->opt.cpi, MILLION);
}

/* The cycle of the first pending decision. */
static uint64_t get_decided_cycles(const struct vt_pt_encode *e, const struct enc_thread *t)
{
	return scale(t->decided + t->away, e->opt.cpi, MILLION);
}

uint64_t vti_enc_convert_to_tsc(const struct vt_pt_encode *e, uint64_t cycles)
{
	return e->opt.start_tsc + scale(cycles, e->opt.clock.nominal_ratio, e->opt.cbr);
}

/* Puts a CYC with the cycles since the last one; `now`: vti_enc_get_cycles(). */
static void put_cyc(struct vt_pt_encode *e, struct enc_thread *t, uint64_t now)
{
	struct vt_pt_packet k = {.kind = VT_PT_CYC, .payload = now - t->cycles};

	if (!e->opt.cyc || now <= t->cycles)
		return;
	t->h.out = vt_pt_packet_write(t->h.out, &k);
	t->cycles = now;
}

static uint64_t convert_to_ctc(const struct vt_pt_encode *e, uint64_t tsc)
{
	return scale(tsc, e->opt.clock.ctc_denominator, e->opt.clock.ctc_numerator);
}

/* The TSC at which the CTC becomes `ctc`. */
static uint64_t get_tsc_of_ctc(const struct vt_pt_encode *e, uint64_t ctc)
{
	return scale_up(ctc, e->opt.clock.ctc_numerator, e->opt.clock.ctc_denominator);
}

/* The first cycle in which the CTC is `ctc`. */
static uint64_t get_cycle_of_ctc(const struct vt_pt_encode *e, uint64_t ctc)
{
	return scale_up(get_tsc_of_ctc(e, ctc) - e->opt.start_tsc, e->opt.cbr,
			e->opt.clock.nominal_ratio);
}

static void set_tick(const struct vt_pt_encode *e, struct enc_thread *t)
{
	uint64_t insns = scale_up(get_cycle_of_ctc(e, t->next_ctc), MILLION, e->opt.cpi);

	t->tick = insns > t->away ? insns - t->away : 0;
}

/* Puts the TSC, TMA and CBR of a PSB+. */
static void put_times(struct vt_pt_encode *e, struct enc_thread *t)
{
	uint64_t tsc = vti_enc_convert_to_tsc(e, vti_enc_get_cycles(e, t)),
		 ctc = convert_to_ctc(e, tsc);
	struct vt_pt_packet k = {.kind = VT_PT_TSC, .payload = tsc};

	if (!e->timed)
		return;
	if (e->opt.tsc)
		t->h.out = vt_pt_packet_write(t->h.out, &k);
	if (e->opt.mtc) {
		if (e->opt.tsc) {
			k = (struct vt_pt_packet){.kind = VT_PT_TMA,
						  .payload = ctc,
						  .extra = tsc - get_tsc_of_ctc(e, ctc)};
			t->h.out = vt_pt_packet_write(t->h.out, &k);
		}
		t->next_ctc = ((ctc >> e->opt.clock.mtc_period) + 1) << e->opt.clock.mtc_period;
		set_tick(e, t);
	}
	k = (struct vt_pt_packet){.kind = VT_PT_CBR, .payload = e->opt.cbr};
	t->h.out = vt_pt_packet_write(t->h.out, &k);
}

/* ---- bytes ---- */

uint64_t vti_enc_get_position(const struct enc_thread *t)
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

uint64_t vti_enc_jitter(struct enc_thread *t, uint64_t mean)
{
	return mean / 2 + 1 + vt_rng_below(&t->rng, mean);
}

/* Damages bytes before the sink gets them: one byte, one bit, or some in a row. */
static void damage_bytes(struct vt_pt_encode *e, struct enc_thread *t, size_t size)
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
		t->damage_at += vti_enc_jitter(t, e->opt.damage);
	}
}

void vti_enc_drain(struct vt_pt_encode *e, struct enc_thread *t)
{
	uint8_t *end = t->losing ? t->losing : t->h.out;
	size_t size = (size_t)(end - t->buffer), lost = (size_t)(t->h.out - end);

	if (!size || e->failed)
		goto out;
	if (e->opt.damage)
		damage_bytes(e, t, size);
	t->pub.insns = t->h.insns;
	t->pub.tsc = e->timed ? vti_enc_convert_to_tsc(e, vti_enc_get_cycles(e, t)) : 0;
	e->failed = e->sink(e->arg, &t->pub, t->buffer, size, e->err);
	t->pub.bytes += size;
	e->sum.bytes += size;
out:
	/* Of lost bytes only the number is kept; no overflow loses as many as the buffer has. */
	t->h.out = t->buffer + (lost < ENC_BUFFER ? lost : ENC_BUFFER);
	if (t->losing)
		t->losing = t->buffer;
	vti_enc_set_stop(t);
}

void vti_enc_make_room(struct vt_pt_encode *e, struct enc_thread *t)
{
	if (t->h.out >= t->buffer + ENC_BUFFER)
		vti_enc_drain(e, t);
}

/* ---- packets ---- */

static void put_packet(struct enc_thread *t, const struct vt_pt_packet *k)
{
	t->h.out = vt_pt_packet_write(t->h.out, k);
}

static void put_kind(struct enc_thread *t, enum vt_pt_kind kind)
{
	struct vt_pt_packet k = {.kind = (uint8_t)kind};

	put_packet(t, &k);
}

static void put_tnt(struct vt_pt_encode *e, struct enc_thread *t)
{
	if (t->h.tnt == 1)
		return;
	put_cyc(e, t, get_decided_cycles(e, t));
	t->h.out = vt_pt_put_tnt(t->h.out, t->h.tnt);
	t->h.tnt = 1;
}

void vti_enc_put_tip(struct vt_pt_encode *e, struct enc_thread *t, unsigned opcode, uint64_t ip)
{
	put_tnt(e, t);
	put_cyc(e, t, vti_enc_get_cycles(e, t));
	t->h.out = vt_pt_put_ip(t->h.out, opcode, &t->h.last_ip, ip);
}

void vti_enc_put_off(struct vt_pt_encode *e, struct enc_thread *t)
{
	put_tnt(e, t);
	put_cyc(e, t, vti_enc_get_cycles(e, t));
	put_kind(t, VT_PT_TIP_PGD);
}

static void put_mode_change(struct enc_thread *t)
{
	struct vt_pt_packet k = {.kind = VT_PT_MODE_EXEC, .payload = t->mode};

	if (t->sent_mode == t->mode)
		return;
	put_packet(t, &k);
	t->sent_mode = t->mode;
}

/* Clears the return stacks: returns are compressed only if their call comes after this. */
static void clear_returns(struct enc_thread *t)
{
	t->nreturns = t->npops = 0;
}

void vti_enc_put_psb(struct vt_pt_encode *e, struct enc_thread *t, bool on, uint64_t ip)
{
	struct vt_pt_packet pip = {.kind = VT_PT_PIP, .payload = e->opt.cr3};

	put_cyc(e, t, vti_enc_get_cycles(e, t));
	put_kind(t, VT_PT_PSB);
	t->h.last_ip = 0;
	clear_returns(t);
	put_times(e, t);
	t->sent_mode = 0;
	put_mode_change(t);
	if (e->opt.cr3)
		put_packet(t, &pip);
	if (on)
		t->h.out = vt_pt_put_ip(t->h.out, VT_PT_OP_FUP, &t->h.last_ip, ip);
	put_kind(t, VT_PT_PSBEND);
	t->psb_at = vti_enc_get_position(t) + e->opt.psb_bytes;
	vti_enc_set_stop(t);
}

/* Puts the MTC packets that are due. */
static void put_mtc(struct vt_pt_encode *e, struct enc_thread *t)
{
	uint64_t now = vti_enc_get_cycles(e, t), at;

	while ((at = get_cycle_of_ctc(e, t->next_ctc)) <= now) {
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

/* ---- PSBs and overflows ---- */

static void begin_loss(struct vt_pt_encode *e, struct enc_thread *t)
{
	uint64_t most = e->opt.overflow < ENC_MOST_LOST ? e->opt.overflow : ENC_MOST_LOST;

	vti_enc_drain(e, t);
	t->losing = t->h.out;
	t->lost_at = vti_enc_get_position(t) + 1 + vt_rng_below(&t->rng, most);
}

void vti_enc_end_loss(struct vt_pt_encode *e, struct enc_thread *t, bool on, uint64_t ip)
{
	struct vt_pt_packet fup = {.kind = VT_PT_FUP, .ipc = VT_PT_IPC_FULL, .payload = ip};

	if (!t->losing)
		return;
	t->h.out = t->losing;
	t->losing = NULL;
	t->h.tnt = 1;
	clear_returns(t);
	put_kind(t, VT_PT_OVF);
	e->sum.overflows++;
	t->h.last_ip = 0;
	t->cycles = vti_enc_get_cycles(e, t);
	if (on) {
		if (vt_pt_ip_compress(1ull << 63, ip) == VT_PT_IPC_SEXT48)
			fup.ipc = VT_PT_IPC_SEXT48;
		put_packet(t, &fup);
		t->h.last_ip = ip;
	}
	t->overflow_at = vti_enc_get_position(t) + vti_enc_jitter(t, e->opt.overflow);
	/* Some processors put a PSB at once, others do not. */
	if (vt_rng_below(&t->rng, 2))
		t->psb_at = vti_enc_get_position(t);
}

/* Puts what is due when `stop` has been reached.  Execution continues at `ip`. */
static void put_due(struct vt_pt_encode *e, struct enc_thread *t, uint64_t ip)
{
	put_tnt(e, t);
	if (t->losing) {
		if (vti_enc_get_position(t) >= t->lost_at)
			vti_enc_end_loss(e, t, true, ip);
	} else if (vti_enc_get_position(t) >= t->overflow_at) {
		begin_loss(e, t);
	}
	if (!t->losing && vti_enc_get_position(t) >= t->psb_at)
		vti_enc_put_psb(e, t, true, ip);
	vti_enc_make_room(e, t);
	vti_enc_set_stop(t);
}

/*
 * ---- from block to block ----
 *
 * The address of the next block shows what the last instruction of the current block did.
 */

/* The state of the loop stays in registers only if all of it is one function. */
#if defined(__GNUC__)
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#else
#define ALWAYS_INLINE static inline
#endif

/* Blocks are prefetched so many executions ahead. */
#define AHEAD 12

/* ---- the return stacks ---- */

static inline void push_calls(struct enc_thread *t, uint64_t to)
{
	t->returns[t->returns_top++ % ENC_RETURNS] = to;
	t->nreturns += t->nreturns < ENC_RETURNS;
	t->pops[t->pops_top++ % ENC_POPS] = to;
	t->npops += t->npops < ENC_POPS;
}

/*
 * Pops the return stacks.  True if the return to `to` may be compressed: decoders differ in whether
 * an uncompressed return pops their stack, so `to` must be on top of both stacks.
 */
static inline bool pop_encoded_return(struct enc_thread *t, uint64_t to)
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

/* An empty block at an address. */
static struct enc_block make_place(uint64_t ip)
{
	return (struct enc_block){
		.addr = ip, .next = ip, .target = ip, .other = ip, .direct = true};
}

/* True if execution can continue from a block at this address. */
static bool can_reach(const struct enc_block *b, uint64_t ip)
{
	return !b->direct || ip == b->target || ip == b->other ||
	       (b->repeats && ip == b->next - b->last);
}

/* Puts a far transfer: execution leaves user mode and comes back.  Kernel code is traced whole. */
static void step_far(struct vt_pt_encode *e, struct enc_thread *t, const struct enc_block *prev,
		     uint64_t ip)
{
	if ((prev->addr | ip) >> 63) {
		vti_enc_put_tip(e, t, VT_PT_OP_TIP, ip);
		return;
	}
	vti_enc_put_off(e, t);
	put_mode_change(t);
	vti_enc_put_tip(e, t, VT_PT_OP_PGE, ip);
}

/* The rare cases of step_block(). */
static void step_rare(struct vt_pt_encode *e, struct enc_thread *t, const struct enc_block *prev,
		      const struct enc_block *next)
{
	if (prev->repeats && next->addr == prev->next - prev->last) {
		t->h.insns -= next->insns != 0;
		t->repeated += next->insns != 0;
		return;
	}
	if (prev->end == VT_PT_END_FAR_CALL || prev->end == VT_PT_END_FAR_RET ||
	    prev->end == VT_PT_END_FAR_JUMP) {
		step_far(e, t, prev, next->addr);
	} else {
		if (prev->end != ENC_OFF) {
			t->prev = *prev;
			e->sum.breaks++;
			vti_enc_break_unknown(e, t);
		}
		put_mode_change(t);
		vti_enc_put_tip(e, t, VT_PT_OP_PGE, next->addr);
		t->off = false;
	}
	if (t->h.out >= t->h.stop)
		put_due(e, t, next->addr);
}

/* Adds a decision, and puts its packet when that is full. */
static inline void put_decision(struct vt_pt_encode *e, struct enc_thread *t, struct enc_hot *h,
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
		put_due(e, t, ip);
		*h = t->h;
	}
}

static inline void put_tip_to(struct vt_pt_encode *e, struct enc_thread *t, struct enc_hot *h,
			      uint64_t ip)
{
	if (e->timed) {
		t->h = *h;
		vti_enc_put_tip(e, t, VT_PT_OP_TIP, ip);
		*h = t->h;
	} else {
		h->out = vt_pt_put_tnt(h->out, h->tnt);
		h->tnt = 1;
		h->out = vt_pt_put_ip(h->out, VT_PT_OP_TIP, &h->last_ip, ip);
	}
	if (h->out >= h->stop) {
		t->h = *h;
		put_due(e, t, ip);
		*h = t->h;
	}
}

/* Steps from one block to the next.  quick: no timing packets, and TNT packets of one byte. */
ALWAYS_INLINE void step_block(struct vt_pt_encode *e, struct enc_thread *t, struct enc_hot *h,
			      const struct enc_block *prev, const struct enc_block *next,
			      bool quick)
{
	uint64_t ip = next->addr;

	if (!quick && h->insns >= t->tick) {
		t->h = *h;
		put_mtc(e, t);
		*h = t->h;
	}
	/* This depends on the program's data, so branches here would be unpredictable. */
	if (prev->direct && (ip == prev->target || ip == prev->other)) {
		if (prev->call)
			push_calls(t, prev->next);
		if (quick) {
			unsigned full;

			h->tnt = h->tnt << prev->branch | (prev->branch & (ip != prev->other));
			*h->out = (uint8_t)(h->tnt << 1);
			full = h->tnt >> 6 & 1;
			h->out += full;
			h->tnt = full ? 1 : h->tnt;
			if (h->out >= h->stop) {
				t->h = *h;
				put_due(e, t, ip);
				*h = t->h;
			}
		} else if (prev->branch) {
			put_decision(e, t, h, ip != prev->other, ip);
		}
		return;
	}
	switch (prev->end) {
	case VT_PT_END_RET:
		if (t->compress && pop_encoded_return(t, ip))
			put_decision(e, t, h, true, ip);
		else
			put_tip_to(e, t, h, ip);
		return;
	case VT_PT_END_CALL_INDIRECT:
		push_calls(t, prev->next);
		put_tip_to(e, t, h, ip);
		return;
	case VT_PT_END_JUMP_INDIRECT:
		put_tip_to(e, t, h, ip);
		return;
	default:
		t->h = *h;
		step_rare(e, t, prev, next);
		*h = t->h;
	}
}

static inline uint64_t read_id(const uint8_t *ids, unsigned width, uint64_t base)
{
	return base + (width == 2 ? vt_le16(ids) : vt_le32(ids));
}

ALWAYS_INLINE size_t run_blocks(struct vt_pt_encode *e, struct enc_thread *t, const uint8_t *ids,
				unsigned width, uint64_t base, size_t n, bool quick)
{
	const struct enc_block *prev = &t->prev;
	struct enc_hot h = t->h;
	struct enc_block last;
	size_t i;

	for (i = 0; i < n; i++, ids += width) {
		uint64_t id = read_id(ids, width, base);
		struct enc_block *next;

		if (i + AHEAD < n) {
			uint64_t ahead = read_id(ids + (size_t)AHEAD * width, width, base);

			VT_PREFETCH(&e->blocks[ahead < e->nblocks ? ahead : 0]);
		}
		if (id >= e->nblocks)
			break;
		next = &e->blocks[id];
		if (!next->insns)
			break;
		next->used = true;
		step_block(e, t, &h, prev, next, quick);
		h.insns += next->insns;
		prev = next;
	}
	t->blocks += i;
	t->h = h;
	last = *prev;
	t->prev = last;
	return i;
}

size_t vti_enc_run_blocks(struct vt_pt_encode *e, struct enc_thread *t, const uint8_t *ids,
			  unsigned width, uint64_t base, size_t n)
{
	if (e->timed || t->full != 64)
		return run_blocks(e, t, ids, width, base, n, false);
	if (width == 2)
		return run_blocks(e, t, ids, 2, base, n, true);
	return run_blocks(e, t, ids, 4, base, n, true);
}

void vti_enc_step_to(struct vt_pt_encode *e, struct enc_thread *t, const struct enc_block *next)
{
	struct enc_hot h = t->h;
	struct enc_block prev = t->prev;

	step_block(e, t, &h, &prev, next, false);
	h.insns += next->insns;
	t->h = h;
	t->prev = *next;
}

/* ---- breaks ---- */

static void set_tracing_off(struct enc_thread *t)
{
	/* Decoders differ in whether a call or return at which tracing ends changes their stack. */
	if (t->prev.call || t->prev.end == VT_PT_END_RET || t->prev.end == VT_PT_END_CALL_INDIRECT)
		clear_returns(t);
	t->off = true;
	t->prev = (struct enc_block){.end = ENC_OFF};
}

void vti_enc_break(struct vt_pt_encode *e, struct enc_thread *t, uint64_t ip)
{
	struct enc_block at = make_place(ip);

	if (t->off)
		return;
	if (t->prev.end >= VT_PT_END_FAR_CALL || !can_reach(&t->prev, ip)) {
		vti_enc_break_unknown(e, t);
		return;
	}
	vti_enc_step_to(e, t, &at);
	vti_enc_put_tip(e, t, VT_PT_OP_FUP, ip);
	vti_enc_put_off(e, t);
	set_tracing_off(t);
}

void vti_enc_break_unknown(struct vt_pt_encode *e, struct enc_thread *t)
{
	struct enc_block prev = t->prev;

	if (t->off)
		return;
	switch (prev.end) {
	case VT_PT_END_FALL:
	case VT_PT_END_COND:
		/* The packets need a decision, although it is unknown. */
		vti_enc_break(e, t, prev.next);
		return;
	case VT_PT_END_JUMP:
	case VT_PT_END_CALL:
		vti_enc_break(e, t, prev.target);
		return;
	case VT_PT_END_RET:
	case VT_PT_END_JUMP_INDIRECT:
	case VT_PT_END_CALL_INDIRECT:
		/* With an address it belongs to this branch, not to the next far one. */
		vti_enc_put_tip(e, t, VT_PT_OP_PGD, 0);
		break;
	default:
		vti_enc_put_off(e, t);
		break;
	}
	set_tracing_off(t);
}

void vti_enc_leave(struct vt_pt_encode *e, struct enc_thread *t, uint64_t to)
{
	bool branch = t->prev.end != VT_PT_END_FALL && t->prev.end < VT_PT_END_FAR_CALL;

	if (t->off)
		return;
	if (!branch || !to || !can_reach(&t->prev, to)) {
		vti_enc_break_unknown(e, t);
		return;
	}
	vti_enc_put_tip(e, t, VT_PT_OP_PGD, to);
	set_tracing_off(t);
}

void vti_enc_interrupt(struct vt_pt_encode *e, struct enc_thread *t, uint64_t ip, uint64_t to)
{
	struct enc_block at = make_place(ip);

	if (t->off || t->prev.end >= VT_PT_END_FAR_CALL || !can_reach(&t->prev, ip)) {
		vti_enc_break_unknown(e, t);
		return;
	}
	vti_enc_make_room(e, t);
	vti_enc_step_to(e, t, &at);
	vti_enc_put_tip(e, t, VT_PT_OP_FUP, ip);
	vti_enc_put_tip(e, t, VT_PT_OP_TIP, to);
	t->prev = make_place(to);
}

void vti_enc_ptwrite(struct vt_pt_encode *e, struct enc_thread *t, uint64_t ip, uint64_t value,
		     unsigned size)
{
	struct vt_pt_packet k = {
		.kind = VT_PT_PTW, .count = (uint8_t)size, .ip = true, .payload = value};

	if (t->off)
		return;
	vti_enc_make_room(e, t);
	put_tnt(e, t);
	put_cyc(e, t, vti_enc_get_cycles(e, t));
	t->h.out = vt_pt_packet_write(t->h.out, &k);
	t->h.out = vt_pt_put_ip(t->h.out, VT_PT_OP_FUP, &t->h.last_ip, ip);
}
