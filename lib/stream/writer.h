/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_WRITER_H
#define VT_STREAM_WRITER_H

#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "stream/header.h"
#include "stream/reader.h"
#include "stream/record.h"
#include "stream/schema.h"

#ifdef __cplusplus
extern "C" {
#endif

enum vt_compression {
	VT_COMPRESS_AUTO = -1, /* zlib into a regular file, none into anything else */
	VT_COMPRESS_NONE = 0,
	VT_COMPRESS_ZLIB = 1,
	VT_COMPRESS_ZSTD = 2,
};

struct vt_writer_options {
	enum vt_compression compression;
	int level;		      /* of zlib or zstd; 0: the library's default */
	unsigned threads;	      /* that compress, besides the caller's */
	const struct vt_stage *stage; /* this program, appended to the chain; may be NULL */
	const struct vt_reader *const *inputs; /* whose chains and foreign kinds are copied */
	size_t ninputs;
	const struct vt_schema *extra; /* further kinds; may be NULL */
};

struct vt_writer;

/* Where the next row goes: the first member of a writer, for vt_writer_row() only. */
struct vt_writer_rows {
	uint64_t *next;
	uint64_t *end;
	uint32_t kind;
	uint32_t stride;
};

/*
 * Creates a stream in a file and writes its header; "-" is standard output.  Returns a writer, or
 * NULL: VT_E_WRITE, VT_E_USAGE (the output is a terminal), VT_E_LIMIT (of the header), VT_E_NOMEM.
 */
struct vt_writer *vt_writer_open(const char *path, const struct vt_writer_options *opt,
				 struct vt_error *err);

/* Like vt_writer_open(), on a descriptor that the caller continues to own; `name` is for messages.
 */
struct vt_writer *vt_writer_open_fd(int fd, const char *name, const struct vt_writer_options *opt,
				    struct vt_error *err);

/* Makes room for a row and starts it, for vt_writer_row() when there is none; same result. */
uint64_t *vt_writer_advance(struct vt_writer *w, uint32_t kind);

/*
 * Starts a record of a kind and returns its array of numbers, one for each field, all 0.  Set the
 * fields of types U, I and F there before the next call on the writer.  Never NULL: errors are kept
 * in the writer.
 */
static inline uint64_t *vt_writer_row(struct vt_writer *w, uint32_t kind)
{
	struct vt_writer_rows *at = (struct vt_writer_rows *)w;
	uint64_t *row = at->next;

	if (row == at->end || kind != at->kind)
		return vt_writer_advance(w, kind);
	at->next = row + at->stride;
	return row;
}

/* Set a field of type S or B, or of type A, of the record started last.  Data is copied. */
void vt_writer_bytes(struct vt_writer *w, unsigned field, const void *data, size_t size);
void vt_writer_words(struct vt_writer *w, unsigned field, const uint64_t *words, size_t count);

/* Like vt_writer_bytes(), for a C string. */
void vt_writer_text(struct vt_writer *w, unsigned field, const char *text);

/* Sets a field of type F. */
static inline void vt_row_set_f64(uint64_t *field, double v)
{
	memcpy(field, &v, sizeof(v));
}

/* Write a META record, a fact about the stream; a number as decimal text. */
void vt_writer_meta(struct vt_writer *w, const char *key, const char *value);
void vt_writer_meta_u64(struct vt_writer *w, const char *key, uint64_t value);

/*
 * Writes a copy of a record of one of the writer's inputs.  Kinds and fields, including foreign
 * ones, are matched by name.
 */
void vt_writer_copy(struct vt_writer *w, const struct vt_record *rec);

/*
 * Adds an input for vt_writer_copy() after the header was written.  The header must already have
 * all of its kinds and fields, which is so without foreign ones; otherwise -VT_E_FORMAT.  The
 * reader's schema must stay valid while its records are copied.  Other error: -VT_E_NOMEM.
 */
int vt_writer_add_input(struct vt_writer *w, const struct vt_reader *r, struct vt_error *err);

/* Returns the writer's kinds.  Borrowed until the writer is closed. */
const struct vt_schema *vt_writer_schema(const struct vt_writer *w);

/* Returns 0, or the negative code of the first error, and stores that in *err. */
int vt_writer_error(const struct vt_writer *w, struct vt_error *err);

/*
 * Writes the buffered records and the END record with the status, and closes and frees the writer.
 * VT_STATUS_MISSING, which an input may have, becomes VT_STATUS_LOSSY.  After an error, writes no
 * END record.  Returns 0 or the first error since opening.
 */
int vt_writer_close(struct vt_writer *w, enum vt_status status, struct vt_error *err);

/*
 * Like vt_writer_close(), for a program that failed or whose input has the failure of an earlier
 * one: the END record has VT_STATUS_INTERRUPTED and the failure.
 */
int vt_writer_fail(struct vt_writer *w, const struct vt_failure *failure, struct vt_error *err);

/* Closes and frees a writer without an END record, which leaves a truncated stream.  NULL is
 * allowed. */
void vt_writer_abandon(struct vt_writer *w);

#ifdef __cplusplus
}
#endif
#endif
