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
	int level;	  /* of zlib or zstd; 0: the library's default */
	unsigned threads; /* that compress, besides the caller's */
	const struct vt_stage
		*stage; /* this program: it is put at the end of the chain; may be NULL */
	const struct vt_reader *const *inputs; /* whose chains and foreign kinds are passed on */
	size_t ninputs;
	const struct vt_schema *extra; /* further kinds; may be NULL */
};

struct vt_writer;

/* Where the next row goes: what a writer begins with, for vt_writer_row() to look at and nobody
 * else. */
struct vt_writer_rows {
	uint64_t *next;
	uint64_t *end;
	uint32_t kind;
	uint32_t stride;
};

/*
 * Creates a stream in a file; "-" is standard output.  A terminal is refused (VT_E_USAGE).  The
 * header is written at once.  NULL on error (VT_E_WRITE, VT_E_USAGE, VT_E_NOMEM, VT_E_LIMIT).
 */
struct vt_writer *vt_writer_open(const char *path, const struct vt_writer_options *opt,
				 struct vt_error *err);

/* The same into a file descriptor, which stays the caller's; `name` is for messages. */
struct vt_writer *vt_writer_open_fd(int fd, const char *name, const struct vt_writer_options *opt,
				    struct vt_error *err);

/* Makes room for another row of a kind: what vt_writer_row() calls when it has none; same result.
 */
uint64_t *vt_writer_advance(struct vt_writer *w, uint32_t kind);

/*
 * Starts a record of a kind and returns its numbers, one for each field, all 0: set those of types
 * U, I and F through it before the next call on the writer.  Never NULL: errors stick to the
 * writer.
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

/* Sets a field of type S or B (bytes are copied) or A of the record started last. */
void vt_writer_bytes(struct vt_writer *w, unsigned field, const void *data, size_t size);
void vt_writer_words(struct vt_writer *w, unsigned field, const uint64_t *words, size_t count);

/* As vt_writer_bytes() for a C string. */
void vt_writer_text(struct vt_writer *w, unsigned field, const char *text);

/* Sets a number of type F of a row. */
static inline void vt_row_set_f64(uint64_t *field, double v)
{
	memcpy(field, &v, sizeof(v));
}

/* Writes a META record: a fact about the stream, as text or as a number in decimal. */
void vt_writer_meta(struct vt_writer *w, const char *key, const char *value);
void vt_writer_meta_u64(struct vt_writer *w, const char *key, uint64_t value);

/*
 * Writes a copy of a record of one of the inputs that the writer was opened with; kinds and fields
 * are matched by name, foreign ones included.
 */
void vt_writer_copy(struct vt_writer *w, const struct vt_record *rec);

/*
 * One more input for vt_writer_copy(), after the header was written: its kinds and fields must be
 * in that already (-VT_E_FORMAT), as those of every stream without foreign ones are.  Its schema
 * must stay as long as its records are copied.
 */
int vt_writer_add_input(struct vt_writer *w, const struct vt_reader *r, struct vt_error *err);

/* The writer's kinds: the known ones at their enum vt_kind. */
const struct vt_schema *vt_writer_schema(const struct vt_writer *w);

/* 0, or the negative code of the first error, whose text goes to *err. */
int vt_writer_error(const struct vt_writer *w, struct vt_error *err);

/*
 * Writes what is buffered and the END record with the status, closes and frees the writer.  An
 * input's VT_STATUS_MISSING becomes VT_STATUS_LOSSY; after an error there is no END record.
 * Returns 0 or the first error that ever happened.
 */
int vt_writer_close(struct vt_writer *w, enum vt_status status, struct vt_error *err);

/*
 * The same for a program that failed, or whose input says that one before it did: the END record
 * has VT_STATUS_INTERRUPTED and the failure.
 */
int vt_writer_fail(struct vt_writer *w, const struct vt_failure *failure, struct vt_error *err);

/* Frees a writer without an END record: what was written stays, as a truncated stream. */
void vt_writer_abandon(struct vt_writer *w);

#ifdef __cplusplus
}
#endif
#endif
