/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_HEADER_H
#define VT_STREAM_HEADER_H

#include <stdint.h>

#include "base/error.h"
#include "stream/schema.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VT_MAX_STAGES 256     /* stages in a provenance chain */
#define VT_MAX_ARGS   4096    /* arguments of one stage */
#define VT_MAX_HEADER 1048576 /* bytes of an encoded header */

/* One program that a stream went through. */
struct vt_stage {
	char *program;
	char *version;
	uint64_t seed;
	uint32_t nargs;
	char **args; /* the command line after the program's name */
};

/*
 * The provenance chain, oldest stage first.  For merged streams, the inputs' chains follow each
 * other.
 */
struct vt_header {
	uint32_t nstages;
	struct vt_stage *stages;
};

void vt_header_fini(struct vt_header *h);

/* Appends a stage, copying everything. */
int vt_header_add_stage(struct vt_header *h, const struct vt_stage *stage, struct vt_error *err);

/* Appends all stages of `from`. */
int vt_header_append(struct vt_header *h, const struct vt_header *from, struct vt_error *err);

#ifdef __cplusplus
}
#endif
#endif
