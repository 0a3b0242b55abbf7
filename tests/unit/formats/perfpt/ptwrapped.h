/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_FORMATS_PERFPT_PTWRAPPED_H
#define TESTS_UNIT_FORMATS_PERFPT_PTWRAPPED_H

/*
 * Streams that are wrapped as a perf.data in the pipe format, which is then read record by record,
 * without the reader of the library.
 */

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "formats/perfdata/abi.h"
#include "formats/perfpt/encode.h"
#include "tests/unit/common/ptencoded.h"

/* The clock of timed_options(): 1 GHz from tick 1000 on, one tick for each instruction. */
#define TICK(insns) (UINT64_C(1000) + (insns))
#define TIME(insns) (UINT64_C(1000000000) + TICK(insns))

static inline struct vt_pt_wrap_options untimed_options(void)
{
	return (struct vt_pt_wrap_options){
		.encode = vt_pt_encode_defaults, .slice = VT_PT_WRAP_SLICE, .version = "test"};
}

static inline struct vt_pt_wrap_options timed_options(void)
{
	struct vt_pt_wrap_options opt = untimed_options();

	opt.encode.tsc = true;
	opt.encode.start_tsc = TICK(0);
	opt.encode.cbr = opt.encode.clock.nominal_ratio = 10;
	return opt;
}

/* ---- streams ---- */

static inline void put_path(struct made *m, uint64_t id, unsigned type, const char *path)
{
	uint64_t *row = vt_writer_row(m->w, VT_IMAGE);

	row[VT_IMAGE_ID] = id;
	row[VT_IMAGE_TYPE] = type;
	vt_writer_text(m->w, VT_IMAGE_PATH, path);
}

static inline uint64_t *put_mapping(struct made *m, uint64_t image, int64_t pid, uint64_t start,
				    uint64_t length)
{
	uint64_t *row = vt_writer_row(m->w, VT_MAP);

	row[VT_MAP_PID] = (uint64_t)pid;
	row[VT_MAP_START] = start;
	row[VT_MAP_LENGTH] = length;
	row[VT_MAP_IMAGE] = image;
	return row;
}

static inline uint64_t *put_task(struct made *m, unsigned op, int64_t pid, int64_t tid,
				 const char *comm)
{
	uint64_t *row = vt_writer_row(m->w, VT_THREAD);

	row[VT_THREAD_OP] = op;
	row[VT_THREAD_PID] = (uint64_t)pid;
	row[VT_THREAD_TID] = (uint64_t)tid;
	vt_writer_text(m->w, VT_THREAD_COMM, comm);
	return row;
}

/* Blocks that a thread executes, ids of two bytes. */
static inline void put_run(struct made *m, int64_t pid, int64_t tid, const uint16_t *ids, size_t n,
			   uint64_t insns)
{
	uint64_t *row = vt_writer_row(m->w, VT_EXEC);

	row[VT_EXEC_PID] = (uint64_t)pid;
	row[VT_EXEC_TID] = (uint64_t)tid;
	row[VT_EXEC_BLOCKS] = n;
	row[VT_EXEC_INSNS] = insns;
	row[VT_EXEC_WIDTH] = 2;
	vt_writer_bytes(m->w, VT_EXEC_IDS, ids, 2 * n);
}

/* ---- what is made of them ---- */

struct wrapped {
	uint8_t *bytes;
	size_t size;
	const uint8_t *at; /* the next record */
	struct vt_pt_wrap_totals sum;
	struct vt_error err;
	char bad[VT_ERROR_SIZE];
};

/* The first error of taking the records or of the end; then there are no bytes. */
static inline int try_wrap(struct wrapped *f, struct made *m, const struct vt_pt_wrap_options *opt)
{
	struct vt_reader *r = reread_stream(m->fd, m->w);
	int fd = scratch_file(), rc = 0;
	struct vt_output out;
	struct vt_pt_wrap *p;
	struct vt_record rec;

	*f = (struct wrapped){.err = VT_ERROR_INIT};
	/* Where it can only be appended to, it is in the pipe format. */
	assert_int_equal(fcntl(fd, F_SETFL, O_APPEND), 0);
	assert_int_equal(vt_output_open_fd(&out, fd, "out", &f->err), 0);
	p = vt_pt_wrap_new(&out, opt, &f->err);
	assert_non_null(p);
	while (rc == 0 && vt_reader_next(r, &rec, &f->err) > 0)
		rc = vt_pt_wrap_record(p, &rec, &f->err);
	if (rc == 0)
		rc = vt_pt_wrap_finish(p, &f->err);
	f->sum = *vt_pt_wrap_totals(p);
	snprintf(f->bad, sizeof(f->bad), "%s", vt_pt_wrap_bad(p));
	vt_pt_wrap_free(p);
	assert_int_equal(vt_output_close(&out, &f->err), 0);
	if (rc == 0) {
		f->bytes = slurp(fd, &f->size);
		f->at = f->bytes + 16; /* behind the header */
	}
	vt_reader_close(r);
	close(m->fd);
	close(fd);
	return rc;
}

static inline void wrap(struct wrapped *f, struct made *m, const struct vt_pt_wrap_options *opt)
{
	if (try_wrap(f, m, opt) != 0)
		fail_msg("%s", f->err.text);
}

static inline size_t record_size(const uint8_t *record)
{
	return vt_le16(record + 6);
}

/* The next record, or NULL.  The bytes of an area follow its record. */
static inline const uint8_t *next_record(struct wrapped *f)
{
	const uint8_t *record = f->at;
	uint64_t size;

	if (record == f->bytes + f->size)
		return NULL;
	size = record_size(record);
	if (vt_le32(record) == PD_AUXTRACE)
		size += vt_le64(record + 8);
	assert_in_range(size, 8, (size_t)(f->bytes + f->size - record));
	f->at += size;
	return record;
}

/* The next one of a type, or NULL. */
static inline const uint8_t *find_record(struct wrapped *f, uint32_t type)
{
	const uint8_t *record;

	do
		record = next_record(f);
	while (record && vt_le32(record) != type);
	return record;
}

/* Two numbers of a word of 64 bits; the first bytes of a text as such a word. */
#define PAIR(a, b) ((uint64_t)(uint32_t)(a) | (uint64_t)(uint32_t)(b) << 32)

static inline uint64_t text_word(const char *text)
{
	uint8_t bytes[8] = {0};

	memcpy(bytes, text, strnlen(text, 8));
	return vt_le64(bytes);
}

/* A record of these words behind its header. */
static inline void check_words(const uint8_t *record, uint32_t type, uint16_t misc,
			       const uint64_t *words, size_t n)
{
	size_t i;

	assert_non_null(record);
	assert_int_equal(vt_le32(record), type);
	assert_int_equal(vt_le16(record + 4), misc);
	for (i = 0; i < n && 8 * i + 8 < record_size(record); i++)
		if (vt_le64(record + 8 + 8 * i) != words[i])
			fail_msg("record %u: word %zu is %" PRIx64 ", not %" PRIx64, type, i,
				 vt_le64(record + 8 + 8 * i), words[i]);
	assert_int_equal(record_size(record), 8 + 8 * n);
}

/* The next record is one of these words. */
#define EXPECT(f, type, misc, ...)                                                                 \
	check_words(next_record(f), type, misc, (const uint64_t[]){__VA_ARGS__},                   \
		    sizeof((const uint64_t[]){__VA_ARGS__}) / 8)

#endif
