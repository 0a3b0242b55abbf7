/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/decode/run_cursor.h"

/*
 * The inner loop of the fast engine: some thirty instructions for each look-up.  What it works with
 * stays in registers, and all that is rare is left to others.
 */

struct hot {
	const uint8_t *p;
	uint32_t *out;
	uint64_t ip;
	uint64_t last_ip;
	uint64_t insns;
	const struct vti_pt_a_run *tail;
};

/* Is there a packet of which the inner loop knows at p, so that the one before it may be taken? */
static inline bool is_known(const uint8_t *p)
{
	return vti_pt_looks[*p] - 1U < PGD;
}

static inline const struct vti_pt_a_run *find(struct vti_pt_walk *w, struct vti_pt_runs *r,
					      uint64_t ip, unsigned mode, uint32_t bits)
{
	const struct vti_pt_a_run *e = vti_pt_runs_find(r, ip, vti_pt_run_key(mode, bits));

	return __builtin_expect(!e, 0) ? vti_pt_run_make(w, r, ip, bits) : e;
}

/* Takes the decisions of `bits`, below its highest 1.  What is left of it, 1 if nothing. */
static inline uint32_t decide(struct vti_pt_walk *w, struct vti_pt_runs *r, struct hot *h,
			      unsigned mode, uint32_t bits)
{
	do {
		const struct vti_pt_a_run *e = find(w, r, h->ip, mode, bits);
		unsigned left;

		if (__builtin_expect(!e || e->flags & VTI_PT_RUN_STOP, 0))
			break;
		if (e->flags & (VTI_PT_RUN_RETURN | VTI_PT_RUN_PUSHES_HEAD)) {
			if (!vti_pt_run_returns(w, r, e, &h->ip))
				break;
		} else {
			h->ip = e->next;
		}
		vti_pt_run_copy(h->out, &r->pool[e->pool + 1], e->blocks + e->tail);
		h->out += e->blocks;
		h->insns += e->insns;
		h->tail = e;
		left = 31 - (unsigned)__builtin_clz(bits) - e->bits;
		bits = (bits & (uint32_t)LOW(left)) | 1U << left;
	} while (bits != 1);
	return bits;
}

/* Takes a TIP.  False: it is not to be taken here. */
static inline bool take_tip(struct vti_pt_walk *w, struct vti_pt_runs *r, struct hot *h,
			    unsigned mode)
{
	const struct vti_pt_parts *a = &vti_pt_parts[*h->p >> 5];
	const struct vti_pt_a_run *e = h->tail;

	if (__builtin_expect(!a->payload || !is_known(h->p + a->size), 0))
		return false;
	if (!e || !(e->flags & VTI_PT_RUN_TAIL)) {
		e = find(w, r, h->ip, mode, 1);
		if (!e || !(e->flags & VTI_PT_RUN_TAIL))
			return false;
		vti_pt_run_copy(h->out, &r->pool[e->pool + 1], e->tail);
	}
	if (e->flags & VTI_PT_RUN_PUSHES_TAIL)
		vti_pt_run_push_tail(w, r, e);
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

int vti_pt_run_hot(struct vti_pt_walk *w, struct vti_pt_course *c, const uint32_t *full)
{
	struct vti_pt_runs *r = c->r;
	struct hot h = {c->p, c->out, c->ip, c->last_ip, c->insns, c->tail};
	const uint8_t *limit = c->limit;
	unsigned mode = c->mode;
	int taken = 0;

	while (h.p < limit && h.out < full) {
		if (vti_pt_looks[*h.p] == TNT) {
			uint32_t bits = *h.p >> 1, left;

			if (!is_known(h.p + 1))
				break;
			left = decide(w, r, &h, mode, bits);
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
		} else if (vti_pt_looks[*h.p] != TIP || !take_tip(w, r, &h, mode)) {
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
