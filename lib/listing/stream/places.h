/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_STREAM_PLACES_H
#define VT_LISTING_STREAM_PLACES_H

#include <stdint.h>

#include "profile/context.h"
#include "stream/record.h"
#include "stream/where.h"

/*
 * The names of what lies at addresses of a stream: image, procedure, source line and instruction.
 * Each is looked up when first asked for, and kept for other addresses of the same place.
 *
 * Memory: at most VT_PLACES_MAX places, and VT_PLACES_TEXT bytes of text and one text more; then
 * all are forgotten.
 */
struct vt_places;

#define VT_PLACES_MAX  65536
#define VT_PLACES_TEXT 4194304

/* A place; borrowed until the next vt_places_feed() or vt_places_find(). */
struct vt_spot;

/* `context` is borrowed and has images.  Owned by the caller; NULL when memory runs out. */
struct vt_places *vt_places_new(struct vt_context *context);
void vt_places_free(struct vt_places *p);

/* Forgets what a record makes untrue; call it with each, after the context took it. */
void vt_places_feed(struct vt_places *p, const struct vt_record *rec);

/*
 * The place at an address of a process; `mode` is the CPU's (PERF_RECORD_MISC_CPUMODE_MASK of
 * linux/perf_event.h, 0: unknown).  NULL when memory runs out.
 */
struct vt_spot *vt_places_find(struct vt_places *p, int32_t pid, uint64_t address, uint64_t mode);

/*
 * Names of a place: untrusted text, "" if unknown; borrowed until the next call.  The image is its
 * path as recorded, but "[kernel.kallsyms]" for the kernel.  The line is "FILE:LINE" without the
 * file's folder.  The instruction is disassembled from the image's file.
 */
const char *vt_places_image(struct vt_places *p, struct vt_spot *s);
const char *vt_places_line(struct vt_places *p, struct vt_spot *s);
const char *vt_places_insn(struct vt_places *p, struct vt_spot *s);

/* The same of its procedure, as vt_images_display(), and the distance from its start. */
const char *vt_places_procedure(struct vt_places *p, struct vt_spot *s, uint64_t *offset);

/*
 * As vt_where_names.in, `places` being the struct vt_places: whether an address lies in a procedure
 * or an image.  The name is a pattern (base/pattern.h); a procedure's, as vt_pattern_names(), an
 * image's is a path or its last component.  VT_UNKNOWN also when memory runs out.
 */
enum vt_truth vt_places_in(void *places, const struct vt_record *rec, unsigned field,
			   enum vt_where_place place, const char *name);

/*
 * Disassembles `size` bytes of x86 code, 16, 32 or 64 bits, that ran at the place and at `address`;
 * text as above.
 */
const char *vt_places_decode(struct vt_places *p, struct vt_spot *s, unsigned bits,
			     const uint8_t *bytes, size_t size, uint64_t address);

#endif
