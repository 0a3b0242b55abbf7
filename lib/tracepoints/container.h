/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_TRACEPOINTS_CONTAINER_H
#define VT_TRACEPOINTS_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/record.h"

/*
 * Descriptions of tracepoints from the kernel's tracing directory, as perf records them
 * ("tracing_data"): the layout of the first four parts of trace-cmd.dat(5).
 */

/* The machine that recorded. */
struct vt_tracing {
	bool big;	    /* byte order */
	unsigned long_size; /* bytes of a long */
	unsigned page_size; /* bytes */
};

/* Takes the format file of a tracepoint.  Texts are borrowed.  0, or a negative error. */
typedef int vt_format_file_fn(void *arg, const struct vt_tracing *t, struct vt_bytes system,
			      struct vt_bytes text);

/* True if tracing data begin here. */
bool vt_tracing_begins(const uint8_t *data, size_t size);

/*
 * Passes each format file of an event on.  Returns 0; 1 if the data are no tracing data or cut,
 * after the files before the damage; or the error of `fn`.
 */
int vt_tracing_walk(const uint8_t *data, size_t size, vt_format_file_fn *fn, void *arg);

/* The name and the number in a format file.  False if it lacks them. */
bool vt_format_file_ident(struct vt_bytes text, struct vt_bytes *name, uint64_t *id);

#endif
