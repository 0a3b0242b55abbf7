/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_HEADER_H
#define VT_STREAM_HEADER_H

#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/error.h"
#include "stream/schema.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VT_MAX_STAGES 256     /* stages in a provenance chain */
#define VT_MAX_ARGS   4096    /* arguments of one stage */
#define VT_MAX_HEADER 1048576 /* bytes of an encoded header */

/* Numbers that kinds may have on the wire; those outside are the format's own blocks. */
#define VTI_FIRST_KIND_ID 16
#define VTI_LAST_KIND_ID  65000

/* One program that a stream went through. */
struct vt_stage {
	char *program;
	char *version;
	uint64_t seed;
	uint32_t nargs;
	char **args; /* the command line after the program's name */
};

/* The provenance chain, oldest stage first.  For merged streams, the inputs' chains follow each
 * other. */
struct vt_header {
	uint32_t nstages;
	struct vt_stage *stages;
};

void vt_header_fini(struct vt_header *h);

/* Appends a stage, copying everything. */
int vt_header_add_stage(struct vt_header *h, const struct vt_stage *stage, struct vt_error *err);

/* Appends all stages of `from`. */
int vt_header_append(struct vt_header *h, const struct vt_header *from, struct vt_error *err);

/* The payload of a header block: the stages, then the kinds and their fields. */
void vti_header_encode(struct vt_buf *out, const struct vt_header *h, const struct vt_schema *s);

/*
 * Decodes a header's payload into `h` (to be freed also on error) and into `schema`, which holds
 * the known kinds and gets the foreign ones.  `wire` receives the kinds in the order and with the
 * fields of the stream itself.
 */
int vti_header_decode(struct vt_cursor *c, struct vt_header *h, struct vt_schema *schema,
		      struct vt_schema *wire, struct vt_error *err);

#ifdef __cplusplus
}
#endif
#endif
