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

/* The damage that a reader has found so far. */
struct vt_damage {
	uint64_t blocks;  /* damaged blocks, skipped */
	uint64_t bytes;	  /* bytes skipped */
	uint64_t records; /* records known to be missing */
	bool truncated;	  /* the stream has no END record */
};

/* How the producer of a stream ended, from the END record. */
enum vt_status {
	VT_STATUS_COMPLETE,    /* it processed all of its input */
	VT_STATUS_LOSSY,       /* some of its input was lost or damaged */
	VT_STATUS_INTERRUPTED, /* it stopped before its input ended */
	VT_STATUS_MISSING      /* there is no END record: the producer died */
};

/* Called for each damaged place, with a line of text that names the file and offset. */
typedef void vt_warn_fn(void *arg, const char *text);

#define VT_MAX_PROGRAM 64 /* bytes of a program's name in a failure */

/* The program of the chain whose failure made the stream incomplete, and its message. */
struct vt_failure {
	char program[VT_MAX_PROGRAM + 1]; /* untrusted text, never empty */
	char why[VT_ERROR_SIZE];	  /* untrusted text, may be empty */
};

struct vt_reader;

/* The current rows: the first member of a reader, for vt_reader_next() only. */
struct vt_reader_rows {
	const struct vt_block *block;
	uint32_t kind;
	uint32_t row;
	uint32_t end;
};

/*
 * Opens a stream and reads its header; "-" is standard input.  Returns a reader owned by the
 * caller, or NULL: VT_E_READ (cannot be opened or read), VT_E_FORMAT (not a vt stream),
 * VT_E_VERSION, VT_E_DAMAGED or VT_E_TRUNC (of the header), VT_E_LIMIT (of the header), VT_E_NOMEM.
 */
struct vt_reader *vt_reader_open(const char *path, struct vt_error *err);

/* Like vt_reader_open(), on a descriptor that the caller continues to own; `name` is for messages.
 */
struct vt_reader *vt_reader_open_fd(int fd, const char *name, struct vt_error *err);

/*
 * Like vt_reader_open(), on an input from which nothing is consumed yet: its first bytes may have
 * been inspected to recognize the format.  Takes ownership of the input, also on error.
 */
struct vt_input;
struct vt_reader *vt_reader_open_input(struct vt_input *in, struct vt_error *err);

void vt_reader_close(struct vt_reader *r);

void vt_reader_set_warn(struct vt_reader *r, vt_warn_fn *fn, void *arg);

/* Makes the next rows current, for vt_reader_next() when none is left, with the same results. */
int vt_reader_advance(struct vt_reader *r, struct vt_error *err);

/*
 * Stores the next record in *rec, borrowed until the next call.  Returns 1; 0 at the regular end of
 * the stream; -VT_E_TRUNC once, after everything readable, if there is no END record; -VT_E_READ or
 * -VT_E_NOMEM if reading stops.  Reading continues after a damaged block: the warn function is
 * called, vt_reader_damage() counts it, and a GAP record takes its place.
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
 * Like vt_reader_next(), for the next run of records of one kind: rows first .. first+count-1 of
 * *block.  The two functions may be mixed.
 */
int vt_reader_next_run(struct vt_reader *r, const struct vt_block **block, uint32_t *first,
		       uint32_t *count, struct vt_error *err);

/* Borrowed, valid until the reader is closed. */
const char *vt_reader_name(const struct vt_reader *r);
const struct vt_schema *vt_reader_schema(const struct vt_reader *r);
const struct vt_header *vt_reader_header(const struct vt_reader *r);
const struct vt_damage *vt_reader_damage(const struct vt_reader *r);

/* Returns the producer's status.  Valid after the end was reached. */
enum vt_status vt_reader_status(const struct vt_reader *r);

/*
 * Returns the failure in an END record with VT_STATUS_INTERRUPTED, or NULL if it has none.  Valid
 * after the end was reached; borrowed until the reader is closed.
 */
const struct vt_failure *vt_reader_failure(const struct vt_reader *r);

/* Returns the number of input bytes consumed so far. */
uint64_t vt_reader_offset(const struct vt_reader *r);

#ifdef __cplusplus
}
#endif
#endif
