/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/decode/run_cursor.h"

/*
 * The accelerator: a loop over TNT and TIP, and the packets of timing between them, that puts out
 * what the cache of runs has for them.  Of events it knows only that tracing ends and begins again
 * at once, as it does all the time where addresses are filtered.
 */

/* Four bytes that differ in bits 0 and 1: all that are even are TNT, but for two. */
#define ROW(odd) TNT, odd, TNT, CYC

/* Bytes that differ in bits 0 to 4. */
#define ROWS(pgd, pge, tip)                                                                        \
	ROW(pgd), ROW(OTHER), ROW(OTHER), ROW(tip), ROW(pge), ROW(OTHER), ROW(OTHER), ROW(OTHER)

const uint8_t vti_pt_looks[256] = {
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

const struct vti_pt_parts vti_pt_parts[8] = {
	[VT_PT_IPC_SUPPRESSED] = {0, 0, 0, 1},
	[VT_PT_IPC_UPDATE16] = {LOW(16), ~LOW(16), 0, 3},
	[VT_PT_IPC_UPDATE32] = {LOW(32), ~LOW(32), 0, 5},
	[VT_PT_IPC_SEXT48] = {LOW(48), 0, UINT64_C(1) << 47, 7},
	[VT_PT_IPC_UPDATE48] = {LOW(48), ~LOW(48), 0, 7},
	[VT_PT_IPC_FULL] = {UINT64_MAX, 0, 0, 9},
};

const struct vti_pt_a_run *vti_pt_run_make(struct vti_pt_walk *w, struct vti_pt_runs *r,
					   uint64_t ip, uint32_t bits)
{
	const struct vti_pt_a_run *e;

	vti_pt_walk_lock(w);
	e = vti_pt_runs_make(r, w->blocks, ip, w->mode, bits);
	vti_pt_walk_unlock(w);

	if (!e)
		w->error = -VT_E_NOMEM;
	return e;
}

static inline const struct vti_pt_a_run *look_up(struct vti_pt_walk *w,
						 const struct vti_pt_course *c, uint32_t bits)
{
	const struct vti_pt_a_run *e = vti_pt_runs_find(c->r, c->ip, vti_pt_run_key(c->mode, bits));

	if (__builtin_expect(!e, 0))
		e = vti_pt_run_make(w, c->r, c->ip, bits);
	return e;
}

/* Time may have moved before a packet, whose effect comes when `blocks` more are put out. */
static void __attribute__((noinline))
mark(struct vti_pt_walk *w, const uint32_t *out, uint32_t blocks)
{
	w->nids = (size_t)(out - w->ids) + blocks;
	w->settled = w->timing;
	vti_pt_walk_mark(w, &w->settled);
}

static inline void tick(struct vti_pt_walk *w, struct vti_pt_course *c, uint32_t blocks)
{
	if (__builtin_expect(c->clock, 0)) {
		mark(w, c->out, blocks);
		c->clock = false;
	}
}

#define LONGEST_TNT 47 /* decisions: Intel SDM volume 3, section 33.4.2.1 */

_Static_assert(LONGEST_TNT *VTI_PT_RUN_BLOCKS + VTI_PT_RUN_SLACK <= VTI_PT_MARGIN,
	       "a packet must not put out more than there is room for");

/* Takes decisions, the oldest in bit count-1 of `tnt`. How many of them are left. */
static inline unsigned take_decisions(struct vti_pt_walk *w, struct vti_pt_course *c, uint64_t tnt,
				      unsigned count)
{
	while (count) {
		unsigned n = count < VTI_PT_RUN_BITS ? count : VTI_PT_RUN_BITS;
		uint32_t bits = 1U << n | ((uint32_t)(tnt >> (count - n)) & (uint32_t)LOW(n));
		const struct vti_pt_a_run *e = look_up(w, c, bits);
		const uint32_t *pool;

		if (!e || e->flags & VTI_PT_RUN_STOP)
			break;
		pool = &c->r->pool[e->pool];
		if (e->flags & (VTI_PT_RUN_RETURN | VTI_PT_RUN_PUSHES_HEAD)) {
			if (!vti_pt_run_returns(w, c->r, e, &c->ip))
				break;
		} else {
			c->ip = e->next;
		}
		vti_pt_run_copy(c->out, pool + 1, e->blocks + e->tail);
		tick(w, c, vti_pt_run_rest(c->r, e)->first);
		c->out += e->blocks;
		c->insns += e->insns;
		c->tail = e->flags & VTI_PT_RUN_TAIL ? e : NULL;
		count -= e->bits;
	}
	return count;
}

/*
 * The next packet that is no timing and no padding, from p on; NULL if it is none of those that are
 * taken here, or malformed.
 */
static const uint8_t *look_ahead(const struct vti_pt_course *c, const uint8_t *p)
{
	while (p < c->safe) {
		switch (vti_pt_looks[*p]) {
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

			/* It may hide an OVF (SKD007), which is not for here. */
			if (*p & 4 && p[1] == 2 && p[2] == 0xf3)
				return NULL;
			/* Bit 2 of the first byte, bit 0 of the others: another one follows. */
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

/* Takes the packets of timing from p up to `to` into account. */
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

/* Passes over padding, to what is none or to where nothing can be read. */
static inline const uint8_t *skip_padding(const struct vti_pt_course *c, const uint8_t *p)
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

/*
 * The end of tracing at p is looked at together with what is before it: a good packet must follow.
 */
static inline const uint8_t *check_end(const struct vti_pt_course *c, const uint8_t *p)
{
	unsigned size = vti_pt_parts[*p >> 5].size;

	if (vti_pt_looks[*p] != PGD)
		return p;
	return look_ahead(c, p + (size ? size : 1)) ? p : NULL;
}

/* Where the packet behind the one at hand is, if the one at hand may be taken; else NULL. */
static inline const uint8_t *next_packet(struct vti_pt_course *c, const uint8_t *p)
{
	if (!*p)
		p = skip_padding(c, p);
	if (__builtin_expect(vti_pt_looks[*p] - 1U < PGD && p < c->safe, 1))
		return check_end(c, p);
	c->timed = true;
	p = look_ahead(c, p);
	return p && vti_pt_looks[*p] != PGE ? check_end(c, p) : NULL;
}

/* Goes on to the next packet: what is between is time. */
static inline void advance(struct vti_pt_walk *w, struct vti_pt_course *c, const uint8_t *behind,
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

/* The address that a packet has, if it has one. */
static inline uint64_t address(struct vti_pt_course *c, const uint8_t *p,
			       const struct vti_pt_parts *a)
{
	uint64_t ip = (vt_le64(p + 1) & a->payload) | (c->last_ip & a->last);

	c->last_ip = (ip ^ a->sign) - a->sign;
	return c->last_ip;
}

/* Takes a TNT. False: it, or some of it, is for the walker. */
static inline bool take_tnt(struct vti_pt_walk *w, struct vti_pt_course *c, uint64_t tnt,
			    unsigned count, unsigned size)
{
	const uint8_t *to = next_packet(c, c->p + size);
	unsigned left;

	if (!to)
		return false;
	left = take_decisions(w, c, tnt, count);
	if (left == count)
		return false;
	advance(w, c, c->p + size, to);
	w->tnt = tnt & LOW(left);
	w->tnt_count = (uint8_t)left;
	return !left;
}

/* The blocks of a tail have been copied: the rest. */
static inline void take_tail(struct vti_pt_walk *w, struct vti_pt_course *c,
			     const struct vti_pt_a_run *e)
{
	if (e->flags & VTI_PT_RUN_PUSHES_TAIL)
		vti_pt_run_push_tail(w, c->r, e);
	tick(w, c, e->tail);
	c->out += e->tail;
	c->insns += e->tail_insns;
	c->tail = NULL;
}

static inline bool take_tip(struct vti_pt_walk *w, struct vti_pt_course *c)
{
	const struct vti_pt_parts *a = &vti_pt_parts[*c->p >> 5];
	const uint8_t *behind = c->p + a->size;
	const struct vti_pt_a_run *e = c->tail;
	const uint8_t *to;

	if (!a->payload)
		return false;
	to = next_packet(c, behind);
	if (!to)
		return false;
	if (!e) {
		e = look_up(w, c, 1);
		if (!e || !(e->flags & VTI_PT_RUN_TAIL))
			return false;
		vti_pt_run_copy(c->out, &c->r->pool[e->pool + 1], e->tail);
	}
	take_tail(w, c, e);
	c->ip = address(c, c->p, a);
	w->has_last_ip = true;
	w->ip_suppressed = false;
	advance(w, c, behind, to);
	return true;
}

/* The run to the end of tracing that a TIP.PGD tells; NULL: none that is sure. */
static const struct vti_pt_a_run *look_up_end(struct vti_pt_walk *w, const struct vti_pt_course *c,
					      bool told, uint64_t to)
{
	uint32_t bits = told ? VTI_PT_RUN_TO_ADDRESS : VTI_PT_RUN_TO_NOWHERE;
	const struct vti_pt_a_run *e = vti_pt_runs_find(c->r, c->ip, vti_pt_run_key(c->mode, bits));

	if (!e || e->next != to) {
		vti_pt_walk_lock(w);
		e = vti_pt_runs_make_end(c->r, w->blocks, c->ip, w->mode, bits, to);
		vti_pt_walk_unlock(w);
		if (!e)
			w->error = -VT_E_NOMEM;
	}
	return e && e->flags & VTI_PT_RUN_TAIL ? e : NULL;
}

/* A note of what the packet at p tells; before the next block. */
static bool tell(struct vti_pt_walk *w, const struct vti_pt_course *c, struct vt_pt_note *n,
		 const uint8_t *p)
{
	w->nids = (size_t)(c->out - w->ids);
	n->offset = (uint64_t)(p - w->begin);
	n->tsc = w->timing.tsc;
	n->cycles = w->timing.cycles;
	return vti_pt_walk_note(w, n);
}

/* Takes a TIP.PGD and the TIP.PGE that follows. False: they are for the walker. */
static bool take_filtered(struct vti_pt_walk *w, struct vti_pt_course *c)
{
	const struct vti_pt_parts *end = &vti_pt_parts[*c->p >> 5], *begin;
	const uint8_t *pge = look_ahead(c, c->p + end->size), *pgd = c->p, *to;
	struct vt_pt_note off = {.type = VT_PT_NOTE_DISABLED, .has_to = end->payload != 0};
	struct vt_pt_note on = {.type = VT_PT_NOTE_ENABLED, .has_ip = true};
	uint64_t last_ip = c->last_ip;
	const struct vti_pt_a_run *e;

	if (!pge || vti_pt_looks[*pge] != PGE || w->query.until != UINT64_MAX)
		return false;
	begin = &vti_pt_parts[*pge >> 5];
	to = next_packet(c, pge + begin->size);
	if (!to)
		return false;
	if (off.has_to)
		off.to = address(c, c->p, end);
	e = look_up_end(w, c, off.has_to, off.to);
	if (!e) {
		c->last_ip = last_ip;
		return false;
	}
	vti_pt_run_copy(c->out, &c->r->pool[e->pool + 1], e->tail);
	take_tail(w, c, e);
	if (!tell(w, c, &off, pgd))
		return false;
	/* Cycles are not counted from here to the TIP.PGE. */
	take_timing(w, pgd, pgd + end->size);
	c->timed = true;
	advance(w, c, pgd + end->size, pge);
	on.ip = c->ip = address(c, pge, begin);
	w->has_last_ip = true;
	w->ip_suppressed = false;
	if (!tell(w, c, &on, pge))
		return false;
	take_timing(w, pge, pge + begin->size);
	tick(w, c, 0);
	c->timed = true;
	advance(w, c, pge + begin->size, to);
	return true;
}

/* Takes the packet at hand. False: it is for the walker. */
static inline bool take_packet(struct vti_pt_walk *w, struct vti_pt_course *c)
{
	unsigned byte = *c->p;
	unsigned look = vti_pt_looks[byte];

	if (look == TNT) {
		unsigned count = 30 - (unsigned)__builtin_clz(byte);

		return take_tnt(w, c, byte >> 1 & LOW(count), count, 1);
	}
	if (look == TIP)
		return take_tip(w, c);
	if (look == PGD)
		return take_filtered(w, c);
	if (look == EXTENDED && c->p[1] == 0xa3 && vt_le64(c->p) >> 17) {
		uint64_t payload = vt_le64(c->p) >> 16;
		unsigned count = 63 - (unsigned)__builtin_clzll(payload);

		return take_tnt(w, c, payload & LOW(count), count, 8);
	}
	return false;
}

static bool start(struct vti_pt_walk *w, struct vti_pt_course *c)
{
	if (!w->runs)
		w->runs = vti_pt_runs_new();
	if (!w->runs) {
		w->error = -VT_E_NOMEM;
		return false;
	}
	*c = (struct vti_pt_course){
		.r = w->runs,
		.p = w->pos,
		.limit = w->stop && w->stop < w->end - READABLE ? w->stop : w->end - READABLE,
		.used = w->used,
		.safe = w->end - READABLE,
		.out = w->ids + w->nids,
		.ip = w->ip,
		.last_ip = w->last_ip,
		.mode = w->mode,
		.clock = true,
	};
	return true;
}

int vti_pt_run(struct vti_pt_walk *w)
{
	const uint32_t *full = w->ids + VT_PT_BATCH;
	struct vti_pt_course c;
	int taken = 0;

	if (w->end - w->pos <= READABLE)
		return 0;
	if (!start(w, &c))
		return w->error;
	while (c.p < c.limit && c.out < full && w->nnotes < VTI_PT_NOTES) {
		if (!c.clock)
			taken += vti_pt_run_hot(w, &c, full);
		if (w->tnt_count || c.out >= full || !take_packet(w, &c))
			break;
		taken++;
	}
	taken += w->tnt_count ? 1 : 0;
	w->pos = c.p;
	w->used = c.used;
	w->nids = (size_t)(c.out - w->ids);
	w->ip = c.ip;
	w->last_ip = c.last_ip;
	w->insns += c.insns;
	return w->error ? w->error : taken;
}

void vti_pt_run_free(struct vti_pt_walk *w)
{
	vti_pt_runs_free(w->runs);
	w->runs = NULL;
}

void vti_pt_run_forget(struct vti_pt_walk *w)
{
	if (w->runs)
		vti_pt_runs_forget(w->runs);
}
