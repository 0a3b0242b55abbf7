/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/common/streams.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/input.h"

int scratch_file(void)
{
	char path[] = "/tmp/vt-test-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	return fd;
}

struct vt_writer *start_stream(int fd)
{
	static char name[] = "test", version[] = "0";
	struct vt_stage stage = {.program = name, .version = version};
	struct vt_writer_options o = {.compression = VT_COMPRESS_NONE, .stage = &stage};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_writer *w = vt_writer_open_fd(fd, "test", &o, &err);

	assert_non_null(w);
	return w;
}

struct vt_reader *reread_stream(int fd, struct vt_writer *w)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_reader *r;

	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	r = vt_reader_open_fd(fd, "test", &err);
	assert_non_null(r);
	return r;
}

struct vt_record next_of_kind(struct vt_reader *in, uint32_t kind)
{
	struct vt_record rec = {.kind = UINT32_MAX};

	do {
		assert_int_equal(vt_reader_next(in, &rec, NULL), 1);
	} while (rec.kind != kind);
	return rec;
}

void write_record(struct vt_writer *w, uint64_t i)
{
	uint64_t chain[5];
	char name[32];
	uint64_t *row;
	size_t k;

	if (i % 1000 == 7) {
		row = vt_writer_row(w, VT_THREAD);
		row[VT_THREAD_TIME] = i * 10;
		row[VT_THREAD_PID] = (uint64_t)-1;
		snprintf(name, sizeof(name), "thread %d", (int)i);
		vt_writer_text(w, VT_THREAD_COMM, name);
	} else if (i % 3 == 0) {
		row = vt_writer_row(w, VT_COUNT);
		row[VT_COUNT_OFFSET] = i << 33;
		row[VT_COUNT_SAMPLES] = i & 1 ? UINT64_MAX - i : i;
	} else {
		row = vt_writer_row(w, VT_SAMPLE);
		row[VT_SAMPLE_TIME] = i * 1000 + (i & 3);
		row[VT_SAMPLE_PID] = (uint64_t) - (int64_t)(i % 5);
		row[VT_SAMPLE_IP] = 0x7f0000000000 + i * i;
		for (k = 0; k < i % 6; k++)
			chain[k] = i + k;
		if (i % 6)
			vt_writer_words(w, VT_SAMPLE_CALLCHAIN, chain, i % 6);
		vt_writer_bytes(w, VT_SAMPLE_RAW, &i, i % 9 ? 0 : sizeof(i));
	}
}

void check_record(const struct vt_record *rec, uint64_t i)
{
	char name[32];

	if (i % 1000 == 7) {
		struct vt_bytes comm = vt_record_bytes(rec, VT_THREAD_COMM);

		assert_int_equal(rec->kind, VT_THREAD);
		assert_int_equal(vt_record_i64(rec, VT_THREAD_PID), -1);
		snprintf(name, sizeof(name), "thread %d", (int)i);
		assert_int_equal(comm.size, strlen(name));
		assert_memory_equal(comm.data, name, comm.size);
	} else if (i % 3 == 0) {
		assert_int_equal(rec->kind, VT_COUNT);
		assert_int_equal(vt_record_u64(rec, VT_COUNT_OFFSET), i << 33);
		assert_int_equal(vt_record_u64(rec, VT_COUNT_SAMPLES), i & 1 ? UINT64_MAX - i : i);
	} else {
		struct vt_words chain = vt_record_words(rec, VT_SAMPLE_CALLCHAIN);
		struct vt_bytes raw = vt_record_bytes(rec, VT_SAMPLE_RAW);
		size_t k;

		assert_int_equal(rec->kind, VT_SAMPLE);
		assert_int_equal(vt_record_u64(rec, VT_SAMPLE_TIME), i * 1000 + (i & 3));
		assert_int_equal(vt_record_i64(rec, VT_SAMPLE_PID), -(int64_t)(i % 5));
		assert_int_equal(vt_record_u64(rec, VT_SAMPLE_IP), 0x7f0000000000 + i * i);
		assert_int_equal(chain.count, i % 6);
		for (k = 0; k < chain.count; k++)
			assert_int_equal(chain.data[k], i + k);
		assert_int_equal(raw.size, i % 9 ? 0 : 8);
	}
}

void write_stream(int fd, enum vt_compression how, uint64_t n)
{
	write_records(fd, how, 0, n);
}

void write_records(int fd, enum vt_compression how, uint64_t from, uint64_t to)
{
	struct vt_writer_options opt = {.compression = how};
	struct vt_error err;
	struct vt_writer *w = vt_writer_open_fd(fd, "test", &opt, &err);
	uint64_t i;

	assert_non_null(w);
	for (i = from; i < to; i++)
		write_record(w, i);
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
}

uint8_t *slurp(int fd, size_t *size)
{
	uint8_t *data;

	*size = (size_t)lseek(fd, 0, SEEK_END);
	data = malloc(*size);
	assert_non_null(data);
	assert_int_equal(pread(fd, data, *size, 0), *size);
	return data;
}

static void count_warning(void *arg, const char *text)
{
	assert_non_null(strstr(text, "test: "));
	assert_non_null(strstr(text, "0x"));
	++*(int *)arg;
}

/* Looks at the last item of each field that has items, where a wrong bound would show. */
static void touch(const struct vt_record *rec, volatile uint64_t *sink)
{
	uint32_t f;

	for (f = 0; f < rec->block->ncolumns; f++) {
		enum vt_type type = rec->block->desc->fields[f].type;

		if (type == VT_TYPE_S || type == VT_TYPE_B) {
			struct vt_bytes b = vt_record_bytes(rec, f);

			*sink = b.size ? b.data[b.size - 1] : 0;
		} else if (type == VT_TYPE_A) {
			struct vt_words a = vt_record_words(rec, f);

			*sink = a.count ? a.data[a.count - 1] : 0;
		} else {
			*sink = vt_record_u64(rec, f);
		}
	}
}

/* An input that is all in its window already: no file, so that a test can do many. */
static struct vt_reader *open_bytes(const uint8_t *data, size_t size, struct vt_error *err)
{
	struct vt_input in = {.fd = -1, .eof = true, .end = size, .cap = size};

	in.name = strdup("test");
	in.buf = malloc(size ? size : 1);
	assert_non_null(in.name);
	assert_non_null(in.buf);
	memcpy(in.buf, data, size);
	return vt_reader_open_input(&in, err);
}

struct outcome read_all(const uint8_t *data, size_t size, uint64_t intact)
{
	struct outcome o = {0};
	struct vt_reader *r;
	struct vt_record rec = {0};
	struct vt_error err;
	volatile uint64_t sink;

	r = open_bytes(data, size, &err);
	if (!r) {
		o.code = -(int)err.code;
		assert_int_equal(intact, 0);
		assert_int_equal(strncmp(err.text, "test: ", 6), 0);
		if (err.code == VT_E_DAMAGED || err.code == VT_E_TRUNC)
			assert_non_null(strstr(err.text, "0x"));
		return o;
	}
	vt_reader_set_warn(r, count_warning, &o.warnings);
	while ((o.code = vt_reader_next(r, &rec, &err)) == 1) {
		touch(&rec, &sink);
		if (o.records + o.gaps < intact)
			check_record(&rec, o.records);
		if (rec.kind == VT_GAP) {
			o.gaps++;
			o.gap_records += vt_record_u64(&rec, VT_GAP_RECORDS);
		} else {
			o.records++;
		}
	}
	assert_true(o.records >= intact);
	if (o.code < 0)
		assert_non_null(strstr(err.text, "test: truncated at 0x"));
	vt_reader_close(r);
	return o;
}
