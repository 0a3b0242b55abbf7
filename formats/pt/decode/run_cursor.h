/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_DECODE_RUN_CURSOR_H
#define FORMATS_PT_DECODE_RUN_CURSOR_H

#include <string.h>

#include "base/bytes.h"
#include "formats/pt/decode/runs.h"
#include "formats/pt/decode/walk.h"

/* Inside the accelerator: what its two loops share, that for all (run.c) and that for most
 * (formats/pt/decode/run_hot.c). */

/* What may begin with a byte, as far as this loop cares. */
enum vti_pt_look { OTHER, TNT, TIP, PGD, PGE, PAD, EXTENDED, CYC, TSC, MTC };

/* Bytes behind the first of a packet: enough for it and for what is looked at behind it. */
#define READABLE 32

#define LOW(n) ((UINT64_C(1) << (n)) - 1)

extern const uint8_t vti_pt_looks[256];

/* How an address is put together, by its compression: bits of the payload, of the last one, the
 * sign. */
struct vti_pt_parts {
	uint64_t payload;
	uint64_t last;
	uint64_t sign;
	unsigned size;
};

extern const struct vti_pt_parts vti_pt_parts[8];

struct vti_pt_course {
	struct vti_pt_runs *r;
	const uint8_t *p;
	const uint8_t *safe;  /* READABLE bytes can be read of what begins before it */
	const uint8_t *limit; /* nothing is taken that begins at or behind it */
	const uint8_t *used;  /* behind the last packet that was taken */
	uint32_t *out;
	uint64_t ip;
	uint64_t last_ip;
	uint64_t insns;
	const struct vti_pt_a_run *tail; /* has what comes next if that is a TIP; NULL: not known */
	unsigned mode;
	bool timed; /* there is timing between the packet at hand and the next */
	bool clock; /* time may have moved since the last mark */
};

/* Makes a run that is not in the cache; NULL: no memory, which sticks. */
const struct vti_pt_a_run *vti_pt_run_make(struct vti_pt_walk *w, struct vti_pt_runs *r,
					   uint64_t ip, uint32_t bits);

/*
 * Takes as many TNT and TIP as it can while nothing comes between them.  How many: what it does not
 * take is for others; if it has taken a TNT in part, w->tnt_count says so.
 */
int vti_pt_run_hot(struct vti_pt_walk *w, struct vti_pt_course *c, const uint32_t *full);

static inline void vti_pt_run_push(struct vti_pt_walk *w, const uint32_t *words, unsigned n)
{
	for (; n; n--, words += 2) {
		uint64_t ip;

		memcpy(&ip, words, sizeof(ip));
		vti_pt_walk_push(w, ip);
	}
}

static inline void vti_pt_run_push_tail(struct vti_pt_walk *w, const struct vti_pt_runs *r,
					const struct vti_pt_a_run *e)
{
	const struct vti_pt_run_rest *rest = vti_pt_run_rest(r, e);
	unsigned at = 1U + e->blocks + e->tail + 2U * rest->pushes;

	vti_pt_run_push(w, &r->pool[e->pool + at], rest->tail_pushes);
}

/* What a run's first part does to the return stack. False: it returns to what is not there. */
static inline bool vti_pt_run_returns(struct vti_pt_walk *w, const struct vti_pt_runs *r,
				      const struct vti_pt_a_run *e, uint64_t *ip)
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
	vti_pt_run_push(w, &r->pool[e->pool + 1 + e->blocks + e->tail], rest->pushes);
	*ip = e->next;
	return true;
}

/* Copies the blocks of both parts, and a few more. */
static inline void vti_pt_run_copy(uint32_t *out, const uint32_t *from, unsigned n)
{
	unsigned i;

	memcpy(out, from, 16 * sizeof(*out));
	for (i = 16; i < n; i += 8)
		memcpy(out + i, from + i, 8 * sizeof(*out));
}

#endif
