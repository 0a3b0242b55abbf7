/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_READER_H
#define VT_STREAM_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "stream/header.h"
#include "stream/record.h"
#include "stream/schema.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a reader has met so far that should not be. */
struct vt_damage {
	uint64_t blocks;  /* damaged blocks that were skipped */
	uint64_t bytes;	  /* bytes that were skipped */
	uint64_t records; /* records that are known to be missing */
	bool truncated;	  /* the stream has no END record */
};

/* How the producer ended, from the END record. */
enum vt_status {
	VT_STATUS_COMPLETE,    /* all of its input came through */
	VT_STATUS_LOSSY,       /* some of its input was lost or damaged */
	VT_STATUS_INTERRUPTED, /* it was stopped before its input ended */
	VT_STATUS_MISSING      /* there is no END record: the producer died */
};

/* Called once for each damaged place, with a line of text that names file and offset. */
typedef void vt_warn_fn(void *arg, const char *text);

#define VT_MAX_PROGRAM 64 /* bytes of a program's name in a failure */

/* Which program of the chain failed, so that the stream is incomplete, and what it said. */
struct vt_failure {
	char program[VT_MAX_PROGRAM + 1]; /* untrusted text, never empty */
	char why[VT_ERROR_SIZE];	  /* the same; may be empty */
};

struct vt_reader;

/* The rows at hand: what a reader begins with, for vt_reader_next() to look at and nobody else. */
struct vt_reader_rows {
	const struct vt_block *block;
	uint32_t kind;
	uint32_t row;
	uint32_t end;
};

/*
 * Opens a stream and reads its header; "-" is standard input.  NULL on error: VT_E_READ (cannot
 * be opened or read), VT_E_FORMAT (not a vt stream), VT_E_VERSION, VT_E_DAMAGED or VT_E_TRUNC (its
 * header is).  Owned by the caller.
 */
struct vt_reader *vt_reader_open(const char *path, struct vt_error *err);

/* The same on a file descriptor, which stays the caller's; `name` is for messages. */
struct vt_reader *vt_reader_open_fd(int fd, const char *name, struct vt_error *err);

/*
 * The same on an input of which nothing is consumed yet: it may have been looked at to find its
 * format.  It is taken over, whatever the result: *in is closed afterwards.
 */
struct vt_input;
struct vt_reader *vt_reader_open_input(struct vt_input *in, struct vt_error *err);

void vt_reader_close(struct vt_reader *r);

void vt_reader_set_warn(struct vt_reader *r, vt_warn_fn *fn, void *arg);

/* Makes the next rows those at hand: what vt_reader_next() calls when it has none; same results. */
int vt_reader_advance(struct vt_reader *r, struct vt_error *err);

/*
 * Gives the next record in *rec, borrowed until the next call.  Returns 1; 0 at the end of a
 * stream that ends as it should; -VT_E_TRUNC, once and after all that could be read, if
 * the END record is missing; -VT_E_READ or -VT_E_NOMEM if reading stops.  A damaged block does not
 * stop it: the warn function is told, vt_reader_damage() counts it, and a GAP record stands where
 * it was.
 */
static inline int vt_reader_next(struct vt_reader *r, struct vt_record *rec, struct vt_error *err)
{
	struct vt_reader_rows *at = (struct vt_reader_rows *)r;

	if (at->row == at->end) {
		int code = vt_reader_advance(r, err);

		if (code <= 0)
			return code;
	}
	rec->block = at->block;
	rec->kind = at->kind;
	rec->row = at->row++;
	return 1;
}

/*
 * Gives the next run of records of one kind: rows first .. first+count-1 of *block; otherwise as
 * vt_reader_next().  The two may be mixed.
 */
int vt_reader_next_run(struct vt_reader *r, const struct vt_block **block, uint32_t *first,
		       uint32_t *count, struct vt_error *err);

/* All borrowed, valid until the reader is closed. */
const char *vt_reader_name(const struct vt_reader *r);
const struct vt_schema *vt_reader_schema(const struct vt_reader *r);
const struct vt_header *vt_reader_header(const struct vt_reader *r);
const struct vt_damage *vt_reader_damage(const struct vt_reader *r);

/* The producer's status; meaningful after the end was reached. */
enum vt_status vt_reader_status(const struct vt_reader *r);

/*
 * The failure that the END record tells of, with VT_STATUS_INTERRUPTED, or NULL; meaningful after
 * the end was reached, and valid until the reader is closed.
 */
const struct vt_failure *vt_reader_failure(const struct vt_reader *r);

/* Bytes of the input that were consumed so far. */
uint64_t vt_reader_offset(const struct vt_reader *r);

#ifdef __cplusplus
}
#endif
#endif
