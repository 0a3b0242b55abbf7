/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_HEADER_H
#define VT_STREAM_HEADER_H

#include <stdint.h>

#include "base/error.h"
#include "stream/schema.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VT_MAX_STAGES 256     /* of a provenance chain */
#define VT_MAX_ARGS   4096    /* of a stage */
#define VT_MAX_HEADER 1048576 /* bytes of an encoded header */

/* One program that the stream passed through. */
struct vt_stage {
	char *program;
	char *version;
	uint64_t seed;
	uint32_t nargs;
	char **args; /* the command line without the program's name */
};

/*
 * The provenance chain of a stream, oldest stage first.  A merged stream has the chains of its
 * inputs, one after the other.
 */
struct vt_header {
	uint32_t nstages;
	struct vt_stage *stages;
};

void vt_header_fini(struct vt_header *h);

/* Appends a deep copy of a stage.  Errors: VT_E_LIMIT, VT_E_NOMEM. */
int vt_header_add_stage(struct vt_header *h, const struct vt_stage *stage, struct vt_error *err);

/* Appends copies of all stages of `from`, with the same errors. */
int vt_header_append(struct vt_header *h, const struct vt_header *from, struct vt_error *err);

#ifdef __cplusplus
}
#endif
#endif
