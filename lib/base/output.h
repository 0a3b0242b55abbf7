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
 * A file or pipe that is written sequentially through a buffer.  The first error is kept: later
 * writes do nothing, and vt_output_close() reports it.
 */
struct vt_output {
	int fd;
	bool owned;
	bool regular; /* a regular file, as against a pipe, terminal or device */
	bool tty;
	/* For tables; initially zero, set by the caller: */
	unsigned columns; /* of the terminal that rows should fit; 0: they may be of any width */
	bool full_names;  /* procedures are told by their full names */
	char *name;	  /* for messages: the path, or "standard output" */
	struct vt_buf buf;
	struct vt_error err;
};

/*
 * Opens a path for writing and creates or truncates the file; "-" is standard output.  Errors:
 * VT_E_WRITE, VT_E_NOMEM.
 */
int vt_output_open(struct vt_output *out, const char *path, struct vt_error *err);

/* Like vt_output_open(), on a descriptor that the caller continues to own. */
int vt_output_open_fd(struct vt_output *out, int fd, const char *name, struct vt_error *err);

/* Writes the buffered bytes.  Returns 0 or the first error. */
int vt_output_flush(struct vt_output *out);

/* Append bytes or text, and write the buffer when it is full. */
void vt_output_put(struct vt_output *out, const void *data, size_t size);
void vt_output_text(struct vt_output *out, const char *text);
void vt_output_printf(struct vt_output *out, const char *fmt, ...) VT_PRINTF(2, 3);

/*
 * Flushes, closes a descriptor that vt_output_open() opened, and frees.  Returns 0 or the first
 * error since opening.
 */
int vt_output_close(struct vt_output *out, struct vt_error *err);

#ifdef __cplusplus
}
#endif
#endif
