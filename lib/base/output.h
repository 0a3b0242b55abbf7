/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_BASE_OUTPUT_H
#define VT_BASE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A file or pipe that is written front to back through a buffer.  The first error sticks: later
 * writes do nothing, vt_output_close() reports it.
 */
struct vt_output {
	int fd;
	bool owned;
	bool regular; /* a regular file, as against a pipe, terminal or device */
	bool tty;
	char *name; /* for messages: the path, or "standard output" */
	struct vt_buf buf;
	struct vt_error err;
};

/* Opens (creates, empties) a path, "-" meaning standard output.  VT_E_WRITE, VT_E_NOMEM. */
int vt_output_open(struct vt_output *out, const char *path, struct vt_error *err);

/* The same on a descriptor, which stays the caller's. */
int vt_output_open_fd(struct vt_output *out, int fd, const char *name, struct vt_error *err);

/* Writes what is buffered; 0 or the sticky error. */
int vt_output_flush(struct vt_output *out);

/* Appends bytes; writes when enough have gathered. */
void vt_output_put(struct vt_output *out, const void *data, size_t size);
void vt_output_text(struct vt_output *out, const char *text);
void vt_output_printf(struct vt_output *out, const char *fmt, ...) VT_PRINTF(2, 3);

/* Flushes, closes what it opened, frees; 0, or the first error that ever happened. */
int vt_output_close(struct vt_output *out, struct vt_error *err);

#ifdef __cplusplus
}
#endif
#endif
