/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_BASE_INPUT_H
#define VT_BASE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A file or pipe that is read sequentially through a window of buffered bytes.  The window grows
 * only as bytes arrive, so a huge length claimed by a damaged file costs no memory.
 */
struct vt_input {
	int fd;
	bool owned;
	bool eof;
	char *name;   /* for messages: the path, or "standard input" */
	uint8_t *buf; /* the window is buf[start .. end) */
	size_t start;
	size_t end;
	size_t cap;
	uint64_t offset; /* of buf[start] in the input */
	/* See vt_input_go_sparse(). */
	bool sparse;
	off_t next;   /* position in the descriptor of the byte after the window */
	size_t ahead; /* bytes that the next read may take, if no more are needed */
	/*
	 * Replaces read() for an input that is decompressed: stores up to `room` bytes and their
	 * number in *n, 0 at the end.  pull_end() frees pull_arg.  All NULL: bytes come from fd.
	 */
	int (*pull)(struct vt_input *in, uint8_t *out, size_t room, size_t *n,
		    struct vt_error *err);
	void (*pull_end)(void *arg);
	void *pull_arg;
};

/* Opens a path; "-" is standard input.  Errors: VT_E_READ, VT_E_NOMEM. */
int vt_input_open(struct vt_input *in, const char *path, struct vt_error *err);

/* Like vt_input_open(), on a descriptor that the caller continues to own. */
int vt_input_open_fd(struct vt_input *in, int fd, const char *name, struct vt_error *err);

void vt_input_close(struct vt_input *in);

/*
 * Reads until the window has at least `need` bytes or the input ends.  Returns 0 and sets *have to
 * the size of the window, which may be more than `need`, and is less only at the end of the input.
 * Errors: VT_E_READ, VT_E_NOMEM.
 */
int vt_input_fill(struct vt_input *in, size_t need, size_t *have, struct vt_error *err);

/*
 * Lets the reader of a regular file leave bytes out that it has no use for.  The descriptor is then
 * read by position.  False if it has none, as a pipe.
 */
bool vt_input_go_sparse(struct vt_input *in);

/*
 * Extends the window of a sparse input to `to` bytes without reading them: those that it did not
 * have are undefined.  Errors: VT_E_NOMEM.
 */
int vt_input_leave_out(struct vt_input *in, size_t to, struct vt_error *err);

/* Empties the window of a sparse input: the next vt_input_fill() reads all its bytes. */
void vt_input_read_again(struct vt_input *in);

/* Returns the window's bytes, valid until the next vt_input_fill(). */
static inline const uint8_t *vt_input_data(const struct vt_input *in)
{
	return in->buf + in->start;
}

static inline size_t vt_input_have(const struct vt_input *in)
{
	return in->end - in->start;
}

/* Removes the first `n` bytes of the window. */
static inline void vt_input_consume(struct vt_input *in, size_t n)
{
	in->start += n;
	in->offset += n;
}

#ifdef __cplusplus
}
#endif
#endif
