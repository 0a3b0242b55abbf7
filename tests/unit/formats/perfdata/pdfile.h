/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_FORMATS_PERFDATA_PDFILE_H
#define TESTS_UNIT_FORMATS_PERFDATA_PDFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "formats/common/format.h"

/* A perf.data that is put together number by number, of either byte order, in file or pipe mode. */
struct pdfile {
	bool big;
	bool pipe;
	bool version1;	     /* by its magic, which is the same in both orders */
	struct vt_buf attrs; /* of file mode; a pipe has them in its data */
	struct vt_buf ids;   /* as in a file's ids section */
	struct vt_buf data;
	struct vt_buf features; /* the sections, one behind the other */
	size_t feature_ends[64];
	unsigned feature_bits[64];
	size_t nfeatures;
	size_t record; /* where the record at hand begins */
	/* Done to the file in the end: a number of 64 bits instead of others, bytes cut off. */
	size_t patch_at; /* 0: none */
	uint64_t patch;
	size_t cut;
	/* How it is read. */
	size_t lead;		 /* bytes that come before it in a file */
	size_t piece;		 /* a pipe gives so many bytes at a time; 0: it is a file */
	bool drop_aux;		 /* AUX areas are not kept */
	bool drop_stacks;	 /* nor copies of stacks */
	unsigned *reads;	 /* counts how often it is read; NULL: it is not counted */
	struct vt_buf *warnings; /* gets a line for each; NULL: they are not wanted */
};

struct pdfile_attr {
	uint32_t type;
	uint64_t config;
	uint64_t period;
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t flags; /* bit n: the n-th declared flag */
	uint64_t branch_type;
	uint64_t regs_user;
	uint32_t stack_user;
	uint64_t regs_intr;
	uint64_t first_id;
	unsigned nids; /* first_id, first_id + 1, ... */
};

void pdfile_free(struct pdfile *f);

/* Numbers go to the end of a buffer. */
void pdfile_u16(const struct pdfile *f, struct vt_buf *b, uint16_t v);
void pdfile_u32(const struct pdfile *f, struct vt_buf *b, uint32_t v);
void pdfile_u64(const struct pdfile *f, struct vt_buf *b, uint64_t v);

/* A text with zeros up to a multiple of 8; perf's strings, with their size and zeros up to 64. */
void pdfile_text(struct vt_buf *b, const char *text);
void pdfile_string(const struct pdfile *f, struct vt_buf *b, const char *text);

/* All attributes come before the first record. */
void pdfile_attr(struct pdfile *f, const struct pdfile_attr *a);

/* Between them the payload is put at the end of f->data. */
void pdfile_begin(struct pdfile *f, uint32_t type, uint16_t misc);
void pdfile_end(struct pdfile *f);

/* A feature of these bytes; before all records in a pipe, in rising order in a file. */
void pdfile_feature(struct pdfile *f, unsigned bit, const struct vt_buf *b);

/* All of its bytes. */
void pdfile_put(const struct pdfile *f, struct vt_buf *b);

/* The records of a stream as lines, in the form of pdfile_expect().  Owned by the caller. */
char *pdfile_show(int fd);

/* What the decoder returns of these bytes, and makes of them if `text` is not NULL. */
int pdfile_try(const void *data, size_t size, char **text, struct vt_error *err);

/* What the decoder makes of it, in the form of pdfile_expect().  Owned by the caller. */
char *pdfile_decode(const struct pdfile *f, struct vt_format_summary *sum);

/*
 * What the decoder makes of it are these lines, one for each record of the stream but META
 * byte_order and those whose line begins with `but`: "KIND name=value ..." with all fields that are
 * neither 0 nor empty: numbers in decimal, lists with commas, bytes in hexadecimal.
 */
struct vt_format_summary pdfile_expect(const struct pdfile *f, const char *but,
				       const char *const *lines, size_t n);

#define PDFILE_EXPECT(f, but, lines)                                                               \
	pdfile_expect(f, but, lines, sizeof(lines) / sizeof((lines)[0]))

#endif
