/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "formats/pt/decode/runs.h"
#include "formats/pt/decode/walk.h"

/* The blocks for which the loop has room at least: else its start would cost more than it saves. */
#define LEAST_ROOM 1024

/*
 * The fast loop takes TNT and TIP packets, and the timing packets between them, and puts out the
 * blocks that the cache of runs has for them.  The only events that it handles are a TIP.PGD with a
 * TIP.PGE after it, which are frequent where tracing is filtered by address.
 *
 * It consists of two loops.  The inner loop takes TNT-8 and TIP packets while no others come
 * between them, with some thirty instructions for each look-up: its state stays in registers, and
 * it leaves rare cases to the outer loop.
 */

/* Classes of first bytes.  Those up to PGD are the packets that the inner loop knows. */
enum packet_class { OTHER, TNT, TIP, PGD, PGE, PAD, EXTENDED, CYC, TSC, MTC };

/* Four bytes that differ in bits 0 and 1.  Even bytes are TNT, except 0x00 and 0x02. */
#define ROW(odd) TNT, odd, TNT, CYC

/* Bytes that differ in bits 0 to 4. */
#define ROWS(pgd, pge, tip)                                                                        \
	ROW(pgd), ROW(OTHER), ROW(OTHER), ROW(tip), ROW(pge), ROW(OTHER), ROW(OTHER), ROW(OTHER)

static const uint8_t packet_classes[256] = {
	PAD,
	PGD,
	EXTENDED,
	CYC,
	ROW(OTHER),
	ROW(OTHER),
	ROW(TIP), /* 0x00 */
	ROW(OTHER),
	ROW(OTHER),
	ROW(TSC),
	ROW(OTHER),	     /* 0x10: no PGE without an address */
	ROWS(PGD, PGE, TIP), /* 0x20 */
	ROW(PGD),
	ROW(OTHER),
	ROW(OTHER),
	ROW(TIP), /* 0x40 */
	ROW(PGE),
	ROW(OTHER),
	ROW(MTC),
	ROW(OTHER),
	ROWS(PGD, PGE, TIP), /* 0x60 */
	ROWS(PGD, PGE, TIP), /* 0x80 */
	ROWS(OTHER, OTHER, OTHER),
	ROWS(PGD, PGE, TIP), /* 0xc0 */
	ROWS(OTHER, OTHER, OTHER),
};

/* Readable bytes from the start of a packet: enough for it and for a look at the next one. */
#define READABLE 32

#define LOW(n) ((UINT64_C(1) << (n)) - 1)

/* Builds an address: masks of the payload and of the last address, and the sign bit. */
struct ip_parts {
	uint64_t payload;
	uint64_t last;
	uint64_t sign;
	unsigned size; /* bytes of the packet; 0: no such compression */
};

static const struct ip_parts ip_parts[8] = {
	[VT_PT_IPC_SUPPRESSED] = {0, 0, 0, 1},
	[VT_PT_IPC_UPDATE16] = {LOW(16), ~LOW(16), 0, 3},
	[VT_PT_IPC_UPDATE32] = {LOW(32), ~LOW(32), 0, 5},
	[VT_PT_IPC_SEXT48] = {LOW(48), 0, UINT64_C(1) << 47, 7},
	[VT_PT_IPC_UPDATE48] = {LOW(48), ~LOW(48), 0, 7},
	[VT_PT_IPC_FULL] = {UINT64_MAX, 0, 0, 9},
};

struct loop_state {
	struct vti_pt_runs *r;
	const uint8_t *p;
	const uint8_t *safe;  /* before it, READABLE bytes can be read */
	const uint8_t *limit; /* only packets that begin before it are taken */
	const uint8_t *used;  /* the end of the last packet that was taken */
	uint32_t *out;
	uint64_t ip;
	uint64_t last_ip;
	uint64_t insns;
	const struct vti_pt_run *tail; /* executed if a TIP comes next; NULL: not known */
	unsigned mode;
	bool timed; /* there are timing packets between this packet and the next */
	bool clock; /* the time may have changed since the last mark */
};

/* ---- runs -------------------------------------------------------------------- */

/* Adds a run to the cache.  NULL: no memory, also in w->error. */
static const struct vti_pt_run *__attribute__((noinline))
make_cached_run(struct vti_pt_walk *w, struct vti_pt_runs *r, uint64_t ip, uint32_t bits)
{
	const struct vti_pt_run *e;

	vti_pt_walk_lock(w);
	e = vti_pt_runs_make(r, w->blocks, ip, w->mode, bits);
	vti_pt_walk_unlock(w);

	if (!e)
		w->error = -VT_E_NOMEM;
	return e;
}

static inline const struct vti_pt_run *find_run(struct vti_pt_walk *w, struct vti_pt_runs *r,
						uint64_t ip, unsigned mode, uint32_t bits)
{
	const struct vti_pt_run *e = vti_pt_runs_find(r, ip, vti_pt_run_key(mode, bits));

	return __builtin_expect(!e, 0) ? make_cached_run(w, r, ip, bits) : e;
}

static inline void push_returns(struct vti_pt_walk *w, const uint32_t *words, unsigned n)
{
	for (; n; n--, words += 2) {
		uint64_t ip;

		memcpy(&ip, words, sizeof(ip));
		vti_pt_walk_push(w, ip);
	}
}

static inline void push_tail_returns(struct vti_pt_walk *w, const struct vti_pt_runs *r,
				     const struct vti_pt_run *e)
{
	const struct vti_pt_run_rest *rest = vti_pt_run_rest(r, e);
	unsigned at = 1U + e->blocks + e->tail + 2U * rest->pushes;

	push_returns(w, &r->pool[e->pool + at], rest->tail_pushes);
}

/* Applies a run's head to the return stack.  False: it returns to an unknown address. */
static inline bool apply_returns(struct vti_pt_walk *w, const struct vti_pt_runs *r,
				 const struct vti_pt_run *e, uint64_t *ip)
{
	const struct vti_pt_run_rest *rest = vti_pt_run_rest(r, e);
	uint32_t count = w->ret_count;

	if (count > VTI_PT_RETURNS - (uint32_t)rest->depth)
		count = VTI_PT_RETURNS - (uint32_t)rest->depth;
	if (w->ret_high < count + rest->depth)
		w->ret_high = count + rest->depth;
	if (e->flags & VTI_PT_RUN_RETURN) {
		if (!count)
			return false;
		w->ret_count = count;
		vti_pt_walk_pop(w, ip);
		return true;
	}
	w->ret_count = count;
	push_returns(w, &r->pool[e->pool + 1 + e->blocks + e->tail], rest->pushes);
	*ip = e->next;
	return true;
}

/* Copies the blocks of both parts, and a few more: up to VTI_PT_RUN_SLACK. */
static inline void copy_blocks(uint32_t *out, const uint32_t *from, unsigned n)
{
	unsigned i;

	memcpy(out, from, 16 * sizeof(*out));
	for (i = 16; i < n; i += 8)
		memcpy(out + i, from + i, 8 * sizeof(*out));
}

/* ---- the inner loop ------------------------------------------------------------ */

struct inner_state {
	const uint8_t *p;
	uint32_t *out;
	uint64_t ip;
	uint64_t last_ip;
	uint64_t insns;
	const struct vti_pt_run *tail;
};

/* A packet may be taken only if the inner loop knows the next one, too. */
static inline bool is_inner_packet(const uint8_t *p)
{
	return packet_classes[*p] - 1U < PGD;
}

/* Takes the decisions in `bits`, below its highest 1.  Returns those left; 1: none. */
static inline uint32_t take_inner_decisions(struct vti_pt_walk *w, struct vti_pt_runs *r,
					    struct inner_state *h, unsigned mode, uint32_t bits)
{
	do {
		const struct vti_pt_run *e = find_run(w, r, h->ip, mode, bits);
		unsigned left;

		if (__builtin_expect(!e || e->flags & VTI_PT_RUN_STOP, 0))
			break;
		if (e->flags & (VTI_PT_RUN_RETURN | VTI_PT_RUN_PUSHES_HEAD)) {
			if (!apply_returns(w, r, e, &h->ip))
				break;
		} else {
			h->ip = e->next;
		}
		copy_blocks(h->out, &r->pool[e->pool + 1], e->blocks + e->tail);
		h->out += e->blocks;
		h->insns += e->insns;
		h->tail = e;
		left = 31 - (unsigned)__builtin_clz(bits) - e->bits;
		bits = (bits & (uint32_t)LOW(left)) | 1U << left;
	} while (bits != 1);
	return bits;
}

/* Takes a TIP.  False: the outer loop has to. */
static inline bool take_inner_tip(struct vti_pt_walk *w, struct vti_pt_runs *r,
				  struct inner_state *h, unsigned mode)
{
	const struct ip_parts *a = &ip_parts[*h->p >> 5];
	const struct vti_pt_run *e = h->tail;

	if (__builtin_expect(!a->payload || !is_inner_packet(h->p + a->size), 0))
		return false;
	if (!e || !(e->flags & VTI_PT_RUN_TAIL)) {
		e = find_run(w, r, h->ip, mode, 1);
		if (!e || !(e->flags & VTI_PT_RUN_TAIL))
			return false;
		copy_blocks(h->out, &r->pool[e->pool + 1], e->tail);
	}
	if (e->flags & VTI_PT_RUN_PUSHES_TAIL)
		push_tail_returns(w, r, e);
	h->out += e->tail;
	h->insns += e->tail_insns;
	h->tail = NULL;
	h->last_ip = (vt_le64(h->p + 1) & a->payload) | (h->last_ip & a->last);
	h->last_ip = (h->last_ip ^ a->sign) - a->sign;
	h->ip = h->last_ip;
	h->p += a->size;
	w->has_last_ip = true;
	w->ip_suppressed = false;
	return true;
}

/*
 * Takes TNT-8 and TIP packets until another one comes.  Returns how many it took completely; if it
 * took only a part of a TNT, w->tnt_count is not 0.
 */
static int __attribute__((noinline))
run_inner_loop(struct vti_pt_walk *w, struct loop_state *c, const uint32_t *full)
{
	struct vti_pt_runs *r = c->r;
	struct inner_state h = {c->p, c->out, c->ip, c->last_ip, c->insns, c->tail};
	const uint8_t *limit = c->limit;
	unsigned mode = c->mode;
	int taken = 0;

	while (h.p < limit && h.out < full) {
		if (packet_classes[*h.p] == TNT) {
			uint32_t bits = *h.p >> 1, left;

			if (!is_inner_packet(h.p + 1))
				break;
			left = take_inner_decisions(w, r, &h, mode, bits);
			if (__builtin_expect(left != 1, 0)) {
				if (left == bits)
					break;
				w->tnt_count = (uint8_t)(31 - __builtin_clz(left));
				w->tnt = left & LOW(w->tnt_count);
				h.p++;
				c->used = h.p;
				break;
			}
			h.p++;
		} else if (packet_classes[*h.p] != TIP || !take_inner_tip(w, r, &h, mode)) {
			break;
		}
		taken++;
	}
	if (taken)
		c->used = h.p;
	c->p = h.p;
	c->out = h.out;
	c->ip = h.ip;
	c->last_ip = h.last_ip;
	c->insns = h.insns;
	c->tail = h.tail && h.tail->flags & VTI_PT_RUN_TAIL ? h.tail : NULL;
	return taken;
}

/* ---- the outer loop ------------------------------------------------------------ */

/* Sets the time of a packet's first decision, which comes after `blocks` more blocks. */
static void __attribute__((noinline))
mark_decision_time(struct vti_pt_walk *w, const uint32_t *out, uint32_t blocks)
{
	w->out.nids = (size_t)(out - w->out.ids) + blocks;
	w->settled = w->timing;
	vti_pt_walk_mark(w, &w->settled);
}

static inline void mark_if_time_moved(struct vti_pt_walk *w, struct loop_state *c, uint32_t blocks)
{
	if (__builtin_expect(c->clock, 0)) {
		mark_decision_time(w, c->out, blocks);
		c->clock = false;
	}
}

#define LONGEST_TNT 47 /* decisions: Intel SDM volume 3, section 33.4.2.1 */

_Static_assert(LONGEST_TNT *VTI_PT_RUN_BLOCKS + VTI_PT_RUN_SLACK <= VTI_PT_MARGIN,
	       "a packet must not put out more than there is room for");

/* Takes decisions, the oldest in bit count-1 of `tnt`.  Returns how many are left. */
static inline unsigned take_decisions(struct vti_pt_walk *w, struct loop_state *c, uint64_t tnt,
				      unsigned count)
{
	while (count) {
		unsigned n = count < VTI_PT_RUN_BITS ? count : VTI_PT_RUN_BITS;
		uint32_t bits = 1U << n | ((uint32_t)(tnt >> (count - n)) & (uint32_t)LOW(n));
		const struct vti_pt_run *e = find_run(w, c->r, c->ip, c->mode, bits);
		const uint32_t *pool;

		if (!e || e->flags & VTI_PT_RUN_STOP)
			break;
		pool = &c->r->pool[e->pool];
		if (e->flags & (VTI_PT_RUN_RETURN | VTI_PT_RUN_PUSHES_HEAD)) {
			if (!apply_returns(w, c->r, e, &c->ip))
				break;
		} else {
			c->ip = e->next;
		}
		copy_blocks(c->out, pool + 1, e->blocks + e->tail);
		mark_if_time_moved(w, c, vti_pt_run_rest(c->r, e)->first);
		c->out += e->blocks;
		c->insns += e->insns;
		c->tail = e->flags & VTI_PT_RUN_TAIL ? e : NULL;
		count -= e->bits;
	}
	return count;
}

/*
 * Skips timing packets and padding from p on.  Returns the next packet, or NULL if it is malformed
 * or of a kind that the fast loop does not take.
 */
static const uint8_t *find_next_packet(const struct loop_state *c, const uint8_t *p)
{
	while (p < c->safe) {
		switch (packet_classes[*p]) {
		case TNT:
		case TIP:
		case PGD:
		case PGE:
			return p;
		case EXTENDED:
			/* A long TNT, with at least one decision. */
			return p[1] == 0xa3 && vt_le64(p) >> 17 ? p : NULL;
		case PAD:
			p++;
			break;
		case TSC:
			p += 8;
			break;
		case MTC:
			p += 2;
			break;
		case CYC: {
			const uint8_t *end = p + 9;

			/* It may hide an OVF (erratum SKD007): leave it to the walker. */
			if (*p & 4 && p[1] == 2 && p[2] == 0xf3)
				return NULL;
			/* Bit 2 of the first byte, bit 0 of the others: another byte follows. */
			if (*p++ & 4)
				while (*p++ & 1)
					if (p >= end)
						return NULL;
			break;
		}
		default:
			return NULL;
		}
	}
	return NULL;
}

/* Feeds the timing packets from p up to `to` to the clock. */
static void __attribute__((noinline))
take_timing(struct vti_pt_walk *w, const uint8_t *p, const uint8_t *to)
{
	while (p < to) {
		struct vt_pt_packet packet;
		int size;

		if (!*p) {
			p++;
			continue;
		}
		size = vt_pt_packet_read(&packet, p, w->end, 0);

		if (size <= 0)
			break;
		w->saw_tsc |= packet.kind == VT_PT_TSC;
		vt_pt_timing_packet(&w->timing, &packet);
		p += size;
	}
}

/* Skips padding, up to `safe` at most. */
static inline const uint8_t *skip_padding(const struct loop_state *c, const uint8_t *p)
{
	uint64_t word = vt_le64(p);

	while (!word) {
		p += 8;
		if (p >= c->safe)
			return p;
		word = vt_le64(p);
	}
	return p + ((unsigned)__builtin_ctzll(word) >> 3);
}

/* Returns p, or NULL if a TIP.PGD is there with no good packet after it. */
static inline const uint8_t *check_tracing_end(const struct loop_state *c, const uint8_t *p)
{
	unsigned size = ip_parts[*p >> 5].size;

	if (packet_classes[*p] != PGD)
		return p;
	return find_next_packet(c, p + (size ? size : 1)) ? p : NULL;
}

/*
 * p is the end of the current packet.  Returns the next packet if the current one may be taken,
 * else NULL.
 */
static inline const uint8_t *next_if_takeable(struct loop_state *c, const uint8_t *p)
{
	if (!*p)
		p = skip_padding(c, p);
	if (__builtin_expect(packet_classes[*p] - 1U < PGD && p < c->safe, 1))
		return check_tracing_end(c, p);
	c->timed = true;
	p = find_next_packet(c, p);
	return p && packet_classes[*p] != PGE ? check_tracing_end(c, p) : NULL;
}

/* Moves on to the packet `to`.  Between it and `behind` there are only timing and padding. */
static inline void advance_to(struct vti_pt_walk *w, struct loop_state *c, const uint8_t *behind,
			      const uint8_t *to)
{
	if (__builtin_expect(c->timed, 0)) {
		take_timing(w, behind, to);
		c->timed = false;
		c->clock = true;
	}
	c->used = behind;
	c->p = to;
}

/* Returns the address that a packet gives. */
static inline uint64_t update_last_ip(struct loop_state *c, const uint8_t *p,
				      const struct ip_parts *a)
{
	uint64_t ip = (vt_le64(p + 1) & a->payload) | (c->last_ip & a->last);

	c->last_ip = (ip ^ a->sign) - a->sign;
	return c->last_ip;
}

/* Takes a TNT.  False: the walker has to take it, or the rest of it. */
static inline bool take_outer_tnt(struct vti_pt_walk *w, struct loop_state *c, uint64_t tnt,
				  unsigned count, unsigned size)
{
	const uint8_t *to = next_if_takeable(c, c->p + size);
	unsigned left;

	if (!to)
		return false;
	left = take_decisions(w, c, tnt, count);
	if (left == count)
		return false;
	advance_to(w, c, c->p + size, to);
	w->tnt = tnt & LOW(left);
	w->tnt_count = (uint8_t)left;
	return !left;
}

/* Takes a tail whose blocks have been copied. */
static inline void take_tail(struct vti_pt_walk *w, struct loop_state *c,
			     const struct vti_pt_run *e)
{
	if (e->flags & VTI_PT_RUN_PUSHES_TAIL)
		push_tail_returns(w, c->r, e);
	mark_if_time_moved(w, c, e->tail);
	c->out += e->tail;
	c->insns += e->tail_insns;
	c->tail = NULL;
}

static inline bool take_outer_tip(struct vti_pt_walk *w, struct loop_state *c)
{
	const struct ip_parts *a = &ip_parts[*c->p >> 5];
	const uint8_t *behind = c->p + a->size;
	const struct vti_pt_run *e = c->tail;
	const uint8_t *to;

	if (!a->payload)
		return false;
	to = next_if_takeable(c, behind);
	if (!to)
		return false;
	if (!e) {
		e = find_run(w, c->r, c->ip, c->mode, 1);
		if (!e || !(e->flags & VTI_PT_RUN_TAIL))
			return false;
		copy_blocks(c->out, &c->r->pool[e->pool + 1], e->tail);
	}
	take_tail(w, c, e);
	c->ip = update_last_ip(c, c->p, a);
	w->has_last_ip = true;
	w->ip_suppressed = false;
	advance_to(w, c, behind, to);
	return true;
}

/* The run to where a TIP.PGD ends tracing, at address `to` if known.  NULL: it cannot be used. */
static const struct vti_pt_run *find_end_run(struct vti_pt_walk *w, const struct loop_state *c,
					     bool known, uint64_t to)
{
	uint32_t bits = known ? VTI_PT_RUN_TO_ADDRESS : VTI_PT_RUN_TO_NOWHERE;
	const struct vti_pt_run *e = vti_pt_runs_find(c->r, c->ip, vti_pt_run_key(c->mode, bits));

	if (!e || e->next != to) {
		vti_pt_walk_lock(w);
		e = vti_pt_runs_make_end(c->r, w->blocks, c->ip, w->mode, bits, to);
		vti_pt_walk_unlock(w);
		if (!e)
			w->error = -VT_E_NOMEM;
	}
	return e && e->flags & VTI_PT_RUN_TAIL ? e : NULL;
}

/* Adds a note for the packet at p, before the next block. */
static bool note_tracing_change(struct vti_pt_walk *w, const struct loop_state *c,
				struct vt_pt_note *n, const uint8_t *p)
{
	w->out.nids = (size_t)(c->out - w->out.ids);
	n->offset = (uint64_t)(p - w->begin);
	n->tsc = w->timing.tsc;
	n->cycles = w->timing.cycles;
	return vti_pt_walk_note(w, n);
}

/* Takes a TIP.PGD and the TIP.PGE that follows.  False: the walker has to take them. */
static bool take_filtered(struct vti_pt_walk *w, struct loop_state *c)
{
	const struct ip_parts *end = &ip_parts[*c->p >> 5], *begin;
	const uint8_t *pge = find_next_packet(c, c->p + end->size), *pgd = c->p, *to;
	struct vt_pt_note off = {.type = VT_PT_NOTE_DISABLED, .has_to = end->payload != 0};
	struct vt_pt_note on = {.type = VT_PT_NOTE_ENABLED, .has_ip = true};
	uint64_t last_ip = c->last_ip;
	const struct vti_pt_run *e;

	if (!pge || packet_classes[*pge] != PGE || w->query.until != UINT64_MAX)
		return false;
	begin = &ip_parts[*pge >> 5];
	to = next_if_takeable(c, pge + begin->size);
	if (!to)
		return false;
	if (off.has_to)
		off.to = update_last_ip(c, c->p, end);
	e = find_end_run(w, c, off.has_to, off.to);
	if (!e) {
		c->last_ip = last_ip;
		return false;
	}
	copy_blocks(c->out, &c->r->pool[e->pool + 1], e->tail);
	take_tail(w, c, e);
	if (!note_tracing_change(w, c, &off, pgd))
		return false;
	/* Cycles are not counted from here to the TIP.PGE. */
	take_timing(w, pgd, pgd + end->size);
	c->timed = true;
	advance_to(w, c, pgd + end->size, pge);
	on.ip = c->ip = update_last_ip(c, pge, begin);
	w->has_last_ip = true;
	w->ip_suppressed = false;
	if (!note_tracing_change(w, c, &on, pge))
		return false;
	take_timing(w, pge, pge + begin->size);
	mark_if_time_moved(w, c, 0);
	c->timed = true;
	advance_to(w, c, pge + begin->size, to);
	return true;
}

/* Takes the current packet.  False: the walker has to take it. */
static inline bool take_outer_packet(struct vti_pt_walk *w, struct loop_state *c)
{
	unsigned byte = *c->p;
	unsigned class = packet_classes[byte];

	if (class == TNT) {
		unsigned count = 30 - (unsigned)__builtin_clz(byte);

		return take_outer_tnt(w, c, byte >> 1 & LOW(count), count, 1);
	}
	if (class == TIP)
		return take_outer_tip(w, c);
	if (class == PGD)
		return take_filtered(w, c);
	if (class == EXTENDED && c->p[1] == 0xa3 && vt_le64(c->p) >> 17) {
		uint64_t payload = vt_le64(c->p) >> 16;
		unsigned count = 63 - (unsigned)__builtin_clzll(payload);

		return take_outer_tnt(w, c, payload & LOW(count), count, 8);
	}
	return false;
}

static bool start_loop(struct vti_pt_walk *w, struct loop_state *c)
{
	if (!w->runs)
		w->runs = vti_pt_runs_new();
	if (!w->runs) {
		w->error = -VT_E_NOMEM;
		return false;
	}
	*c = (struct loop_state){
		.r = w->runs,
		.p = w->pos,
		.limit = w->stop && w->stop < w->end - READABLE ? w->stop : w->end - READABLE,
		.used = w->used,
		.safe = w->end - READABLE,
		.out = w->out.ids + w->out.nids,
		.ip = w->ip,
		.last_ip = w->last_ip,
		.mode = w->mode,
		.clock = true,
	};
	return true;
}

/*
 * Makes room for some blocks and the margin.  Returns where the loop stops, which is before the end
 * of the batch if there is not yet room for all of it; NULL: no memory.
 */
static const uint32_t *reserve_loop_room(struct vti_pt_output *o)
{
	size_t room;

	if (o->ids_cap < VT_PT_BATCH + VTI_PT_MARGIN &&
	    !vt_array_grow(&o->ids, &o->ids_cap, o->nids + LEAST_ROOM + VTI_PT_MARGIN,
			   sizeof(*o->ids)))
		return NULL;
	room = o->ids_cap - VTI_PT_MARGIN;
	return o->ids + (room < VT_PT_BATCH ? room : VT_PT_BATCH);
}

int vti_pt_run_fast_loop(struct vti_pt_walk *w)
{
	const uint32_t *full;
	struct loop_state c;
	int taken = 0;

	if (w->end - w->pos <= READABLE)
		return 0;
	full = reserve_loop_room(&w->out);
	if (!full)
		return w->error = -VT_E_NOMEM;
	if (!start_loop(w, &c))
		return w->error;
	while (c.p < c.limit && c.out < full && w->out.nnotes < VTI_PT_NOTES) {
		if (!c.clock)
			taken += run_inner_loop(w, &c, full);
		if (w->tnt_count || c.out >= full || !take_outer_packet(w, &c))
			break;
		taken++;
	}
	taken += w->tnt_count ? 1 : 0;
	w->pos = c.p;
	w->used = c.used;
	w->out.nids = (size_t)(c.out - w->out.ids);
	w->ip = c.ip;
	w->last_ip = c.last_ip;
	w->out.insns += c.insns;
	return w->error ? w->error : taken;
}
