/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PACK_PACK_H
#define VT_PACK_PACK_H

#include <stdint.h>

#include "base/error.h"
#include "profile/context.h"
#include "stream/record.h"
#include "stream/writer.h"

/*
 * What listings of a stream need of the files of its images: symbols, source lines and inlined
 * calls, code and the constants that it refers to, call frame information.  Only the procedures
 * that records lie in are kept, and the symbols that they refer to.
 *
 *	p = vt_pack_new(context);
 *	feed the stream to the context; then vt_pack_finish();
 *	while copying the stream: after each IMAGE record, vt_pack_write().
 *
 * Memory: 24 bytes for each distinct place that records lie at.
 */
struct vt_pack;

struct vt_pack_totals {
	uint64_t images;     /* packed */
	uint64_t procedures; /* whose code was packed, or whose symbol, where there is no file */
	uint64_t bytes;	     /* of files */
	uint64_t missing;    /* images that records lie in, of which neither file nor symbols were
				found */
	uint64_t redeclared; /* images that were left out: their id stood for several files */
};

/* Becomes a consumer of the context, which is borrowed and has images.  NULL: no memory. */
struct vt_pack *vt_pack_new(struct vt_context *context);
void vt_pack_free(struct vt_pack *p);

/* Call it after the last record.  -VT_E_NOMEM. */
int vt_pack_finish(struct vt_pack *p, struct vt_error *err);

/*
 * Writes FILE, SYMBOL and LINE records of an image, once.  Nothing is written of images in which
 * no record lies, or which are packed already.  -VT_E_NOMEM; errors of the writer stick to it.
 */
int vt_pack_write(struct vt_pack *p, uint32_t image, struct vt_writer *w, struct vt_error *err);

const struct vt_pack_totals *vt_pack_totals(const struct vt_pack *p);

#endif
