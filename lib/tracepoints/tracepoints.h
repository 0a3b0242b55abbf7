/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_TRACEPOINTS_TRACEPOINTS_H
#define VT_TRACEPOINTS_TRACEPOINTS_H

#include "base/error.h"
#include "stream/record.h"
#include "tracepoints/container.h"
#include "tracepoints/format.h"

/* A tracepoint that a stream describes. */
struct vt_tracepoint {
	uint64_t id;
	struct vt_tracing machine;
	struct vt_bytes system;
	struct vt_bytes text; /* its format file */
	struct vt_trace_format format;
	bool read; /* `format` is there */
};

/* The tracepoints of a stream where it is being read. */
struct vt_tracepoints;

/* More than a kernel's descriptions of all its tracepoints, which are some MiB. */
#define VT_TRACING_DATA_MAX (UINT64_C(64) << 20)

/* Owned by the caller; NULL when memory runs out. */
struct vt_tracepoints *vt_tracepoints_new(void);
void vt_tracepoints_free(struct vt_tracepoints *t);

/*
 * Takes a record of any kind: META records with the pieces of tracing data, EVENT records.  Tracing
 * data that begin anew replace the former; those beyond VT_TRACING_DATA_MAX are left out.
 * -VT_E_NOMEM.
 */
int vt_tracepoints_feed(struct vt_tracepoints *t, const struct vt_record *rec,
			struct vt_error *err);

/*
 * The tracepoint of an event.  Borrowed until the next record that describes some; NULL if it is no
 * tracepoint or is not described, or when memory runs out, which is in `err`.
 */
const struct vt_tracepoint *vt_tracepoints_find(struct vt_tracepoints *t, uint64_t event,
						struct vt_error *err);

#endif
