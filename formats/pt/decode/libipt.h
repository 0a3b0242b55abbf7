/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_DECODE_LIBIPT_H
#define FORMATS_PT_DECODE_LIBIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "formats/pt/block.h"
#include "formats/pt/code.h"
#include "formats/pt/decode/cursor.h"
#include "formats/pt/decode/engine.h"
#include "formats/pt/decode/output.h"

/* Parts of the engine "libipt". */

/* ---- the code of address spaces, as libipt's images ---- */

struct pt_image;
struct vti_ipt_images;

/*
 * One address space.  Its images are made anew when its code changes.  Each mode of code has its
 * own image, because libipt's cache of decoded sections does not distinguish modes.
 */
#define VTI_IPT_MODES 3
struct vti_ipt_image {
	const struct vt_pt_code *code;
	uint64_t generation;
	struct pt_image *images[VTI_IPT_MODES];
	struct vt_pt_blocks *blocks;
};

/* Owned by the caller; NULL: no memory. */
struct vti_ipt_images *vti_ipt_images_new(void);
void vti_ipt_images_free(struct vti_ipt_images *s);

/*
 * The images of the code as it is now; *image is that of `mode` (16, 32, 64).  The result is
 * borrowed until the next call, *image until the code changes.  NULL: no memory.
 */
struct vti_ipt_image *vti_ipt_image_of(struct vti_ipt_images *s, const struct vt_pt_code *code,
				       unsigned mode, struct pt_image **image);

/* ---- events ---- */

struct pt_event;

/* Converts libipt's enum pt_exec_mode to 16, 32, 64, or 0. */
unsigned vti_ipt_mode(int mode);

/* The kind of packet whose time is that of an event; bit n: enum vt_pt_kind n. */
uint64_t vti_ipt_packets(const struct pt_event *ev);

/* Makes a note of an event, without its offset and time.  False if the event gives none. */
bool vti_ipt_note(struct vt_pt_note *n, const struct pt_event *ev, struct vti_pt_reported *r);

#endif
