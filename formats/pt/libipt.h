/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_LIBIPT_H
#define FORMATS_PT_LIBIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "formats/pt/block.h"
#include "formats/pt/code.h"
#include "formats/pt/engine.h"
#include "formats/pt/timing.h"

/* Parts of the engine "libipt". */

/* ---- the code of the address spaces, as libipt wants it ---- */

struct pt_image;
struct vti_ipt_images;

/* One address space.  Its image changes when its code does. */
struct vti_ipt_image {
	const struct vt_pt_code *code;
	uint64_t generation;
	struct pt_image *image;
	struct vt_pt_blocks *blocks;
};

/* Owned by the caller; NULL: no memory. */
struct vti_ipt_images *vti_ipt_images_new(void);
void vti_ipt_images_free(struct vti_ipt_images *s);

/*
 * The image of some code as it is now; borrowed until the next call, what it points to until the
 * next call for the same code.  NULL: no memory.
 */
struct vti_ipt_image *vti_ipt_image_of(struct vti_ipt_images *s, const struct vt_pt_code *code);

/* ---- events ---- */

struct pt_event;

/* What the trace told last, for telling changes. */
struct vti_ipt_state {
	bool has_mode, has_tsx, has_cr3, has_vmcs, has_cbr;
	uint64_t mode, tsx, cr3, vmcs, cbr;
	bool nonroot;
};

/* 16, 32, 64, or 0, of libipt's enum pt_exec_mode. */
unsigned vti_ipt_mode(int mode);

/* The kinds of packets, as bits, that tell the time of an event. */
uint64_t vti_ipt_packets(const struct pt_event *ev);

/* Makes a note of an event, but for its place and time.  False for what is not worth one. */
bool vti_ipt_note(struct vt_pt_note *n, const struct pt_event *ev, struct vti_ipt_state *s);

/* ---- the clock: a second reading of the packets, in step with libipt ---- */

struct vti_ipt_cursor {
	const uint8_t *begin;
	const uint8_t *p; /* the next packet */
	const uint8_t *end;
	unsigned bip; /* of vt_pt_packet_read() */
	unsigned tnt; /* decisions left of the last TNT packet */
	struct vt_pt_timing timing;
};

void vti_ipt_cursor_init(struct vti_ipt_cursor *c, const uint8_t *trace, size_t size,
			 const struct vt_pt_clock *clock);

/* Goes on at a PSB behind a gap, and to the end of its PSB+. */
void vti_ipt_cursor_sync(struct vti_ipt_cursor *c, uint64_t offset);

/*
 * To the packet of the next decision, if it lies before offset `limit` and no end of tracing comes
 * first; else nothing happens.  True when it is the first decision of a packet.
 */
bool vti_ipt_cursor_decide(struct vti_ipt_cursor *c, uint64_t limit);

/*
 * To the next packet of one of the kinds (bit n: enum vt_pt_kind n), if it lies before offset
 * `limit`: its offset is returned; else that where the cursor stands.
 */
uint64_t vti_ipt_cursor_seek(struct vti_ipt_cursor *c, uint64_t kinds, uint64_t limit);

#endif
