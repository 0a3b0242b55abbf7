/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The reader of vt streams, and a writer that copies what it gives. Each input is read as it is,
 * and once more with the CRCs of whatever looks like a block made right, so that changes inside the
 * blocks get past them.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/input.h"
#include "stream/reader.h"
#include "stream/writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PREAMBLE_SIZE 16
#define HEAD_SIZE     40

static void fix_crcs(uint8_t *data, size_t size)
{
	static const uint8_t mark[4] = {0xf6, 0x76, 0xd3, 0x62};
	size_t at = PREAMBLE_SIZE;

	while (at + HEAD_SIZE <= size) {
		uint8_t *head = data + at;
		uint32_t stored = vt_le32(head + 12);

		if (memcmp(head, mark, sizeof(mark)) != 0) {
			at++;
			continue;
		}
		at += HEAD_SIZE;
		if (stored <= size - at) {
			vt_put_le32(head + 8, (uint32_t)crc32(0, data + at, stored));
			at += stored;
		}
		vt_put_le32(head + 4, (uint32_t)crc32(0, head + 8, HEAD_SIZE - 8));
	}
}

/* Looks at the last item of each field, which is where a wrong bound would show. */
static void touch(const struct vt_record *rec, volatile uint64_t *sink)
{
	uint64_t sum = 0;
	uint32_t f;

	for (f = 0; f < rec->block->ncolumns; f++) {
		enum vt_type type = rec->block->desc->fields[f].type;

		if (type == VT_TYPE_A) {
			struct vt_words w = vt_record_words(rec, f);

			sum += w.count ? w.data[0] + w.data[w.count - 1] : 0;
		} else if (type == VT_TYPE_S || type == VT_TYPE_B) {
			struct vt_bytes b = vt_record_bytes(rec, f);

			sum += b.size ? (uint64_t)b.data[0] + b.data[b.size - 1] : 0;
		} else {
			sum += vt_record_u64(rec, f);
		}
	}
	*sink = sum;
}

static void check(bool good, const char *what)
{
	if (!good) {
		fprintf(stderr, "fuzz_vt: %s\n", what);
		abort();
	}
}

static void check_warning(void *arg, const char *text)
{
	check(strstr(text, "input") && strstr(text, "0x"), "a warning without file or offset");
	++*(uint64_t *)arg;
}

static void read_all(struct vt_reader *r)
{
	const struct vt_damage *damage = vt_reader_damage(r);
	struct vt_writer_options opt = {.compression = VT_COMPRESS_NONE};
	const struct vt_reader *inputs[1] = {r};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_record rec = {0};
	struct vt_writer *w;
	uint64_t warnings = 0, n = 0, gaps = 0;
	volatile uint64_t sink;
	int fd, code;

	opt.inputs = inputs;
	opt.ninputs = 1;
	fd = open("/dev/null", O_WRONLY);
	w = vt_writer_open_fd(fd, "output", &opt, &err);
	check(w || err.code == VT_E_LIMIT, "no writer");
	vt_reader_set_warn(r, check_warning, &warnings);
	while ((code = vt_reader_next(r, &rec, &err)) == 1) {
		touch(&rec, &sink);
		gaps += rec.kind == VT_GAP;
		if (w && n++ < 100000)
			vt_writer_copy(w, &rec);
	}
	check(code == 0 || code == -VT_E_TRUNC, "an error other than truncation");
	check((code == -VT_E_TRUNC) == damage->truncated, "truncation and its code differ");
	/* The code of truncation tells of what is cut off. */
	check(damage->truncated || !warnings == !(damage->blocks || damage->bytes),
	      "damage without a warning, or the reverse");
	check(!(warnings || damage->records) || gaps, "damage without a GAP");
	code = w ? vt_writer_close(w, VT_STATUS_COMPLETE, &err) : 0;
	check(code == 0 || code == -VT_E_LIMIT, "records that are read cannot be written");
	close(fd);
}

static void read_stream(const uint8_t *data, size_t size)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_input in = {.fd = -1, .eof = true, .end = size, .cap = size};
	struct vt_reader *r;

	in.name = malloc(sizeof("input"));
	in.buf = malloc(size ? size : 1);
	if (!in.name || !in.buf)
		abort();
	memcpy(in.name, "input", sizeof("input"));
	memcpy(in.buf, data, size);
	r = vt_reader_open_input(&in, &err);
	check(r || strstr(err.text, "input"), "an error without the file's name");
	if (r)
		read_all(r);
	vt_reader_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *fixed = malloc(size ? size : 1);

	if (!fixed)
		abort();
	read_stream(data, size);
	if (size)
		memcpy(fixed, data, size);
	fix_crcs(fixed, size);
	read_stream(fixed, size);
	free(fixed);
	return 0;
}
