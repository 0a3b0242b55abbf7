/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_TRACEPOINTS_TRACEPOINTS_H
#define VT_TRACEPOINTS_TRACEPOINTS_H

#include "base/buf.h"
#include "base/error.h"
#include "stream/record.h"
#include "tracepoints/container.h"
#include "tracepoints/format.h"
#include "tracepoints/printer.h"

/* A tracepoint that a stream describes. */
struct vt_tracepoint {
	uint64_t id;
	struct vt_tracing machine;
	struct vt_bytes system;
	struct vt_bytes text; /* its format file */
	struct vt_trace_format format;
	bool read;			  /* `format` is there */
	bool tried;			  /* to make the printer */
	struct vt_trace_printer *printer; /* NULL: it cannot be printed by its format */
};

/* The tracepoints of a stream where it is being read. */
struct vt_tracepoints;

/* More than a kernel's descriptions of all its tracepoints, which are some MiB. */
#define VT_TRACING_DATA_MAX (UINT64_C(64) << 20)

/* Owned by the caller; NULL when memory runs out.  Addresses of functions are named by `symbols`.
 */
struct vt_tracepoints *vt_tracepoints_new(struct vt_trace_symbols symbols);
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
struct vt_tracepoint *vt_tracepoints_find(struct vt_tracepoints *t, uint64_t event,
					  struct vt_error *err);

/*
 * Appends what a tracepoint recorded as the kernel prints it.  False, and nothing is appended, if
 * its print format is not safe to evaluate, or the bytes are damaged.
 */
bool vt_tracepoints_print(struct vt_tracepoints *t, struct vt_tracepoint *p, struct vt_bytes raw,
			  struct vt_buf *b);

#endif
