/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How inputs are told apart, decompressed and taken whole. */
#include "formats/formats.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#define ZLIB_CONST
#include <zlib.h>

#include "base/buf.h"
#include "formats/common/decompress.h"
#include "formats/common/wholefile.h"
#include "formats/perfpt/encode.h"
#include "stream/exec.h"
#include "tests/unit/common/streams.h"

/* Bytes that do not compress well, so that a compressed file is longer than what is read at once.
 */
static void put_noise(struct vt_buf *b, size_t n)
{
	uint32_t x = 1;

	while (n--) {
		x = x * 1103515245 + 12345;
		vt_buf_put_u8(b, (uint8_t)(x >> 16));
	}
}

/* Adds a member of gzip's with these bytes in it. */
static void put_gzip(struct vt_buf *b, const void *data, size_t size)
{
	size_t room = size + size / 100 + 1000;
	uint8_t *out = malloc(room);
	z_stream z = {.next_in = data, .avail_in = (uInt)size};

	assert_non_null(out);
	z.next_out = out;
	z.avail_out = (uInt)room;
	assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	vt_buf_put(b, out, room - z.avail_out);
	deflateEnd(&z);
	free(out);
}

static int file_of(const struct vt_buf *b)
{
	int fd = scratch_file();

	assert_int_equal(pwrite(fd, b->data, b->size, 0), b->size);
	return fd;
}

/* A pipe that another process fills. */
static int pipe_of(const struct vt_buf *b)
{
	size_t done = 0;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	if (fork() == 0) {
		close(fds[0]);
		while (done < b->size) {
			ssize_t n = write(fds[1], b->data + done, b->size - done);

			if (n <= 0)
				_exit(1);
			done += (size_t)n;
		}
		_exit(0);
	}
	close(fds[1]);
	return fds[0];
}

static void reap_child(void)
{
	int status;

	assert_true(wait(&status) > 0);
}

/* ---- formats ---- */

static const char *found(const char *bytes, size_t size, struct vt_error *err)
{
	const struct vt_input_format *f;
	struct vt_buf b = VT_BUF_INIT;
	struct vt_input in;
	int fd;

	*err = (struct vt_error)VT_ERROR_INIT;
	vt_buf_put(&b, bytes, size);
	fd = file_of(&b);
	assert_int_equal(vt_input_open_fd(&in, fd, "in", err), 0);
	f = vt_format_find(&in, err);
	assert_int_equal(in.offset, 0);
	vt_input_close(&in);
	close(fd);
	vt_buf_free(&b);
	return f ? f->name : NULL;
}

static void finds_formats(void **state)
{
	struct vt_error err;
	char psb[100];
	unsigned i;

	(void)state;
	assert_string_equal(found("PERFILE2", 8, &err), "perf");
	assert_string_equal(found("PERFFILE", 8, &err), "perf");
	assert_string_equal(found("2ELIFREP and more", 17, &err), "perf");
	assert_null(found("PERFILE", 7, &err));
	assert_int_equal(err.code, VT_E_FORMAT);
	assert_string_equal(err.text, "in: neither a stream nor a trace of a known format");
	assert_null(found("PERFILE3", 8, &err));
	assert_null(found("", 0, &err));
	assert_int_equal(err.code, VT_E_FORMAT);
	assert_string_equal(err.text, "in: the file is empty");
	/* A PSB, 02 82 eight times, among the first 64 bytes. */
	memset(psb, 0x99, sizeof(psb));
	for (i = 48; i < 64; i += 2) {
		psb[i] = 2;
		psb[i + 1] = '\x82';
	}
	assert_string_equal(found("SQLite format 3", 16, &err), "db");
	assert_null(found("SQLite format 3", 15, &err));
	assert_null(found("SQLite format 4", 16, &err));
	assert_string_equal(found(psb, sizeof(psb), &err), "pt");
	assert_string_equal(found(psb, 64, &err), "pt");
	assert_null(found(psb + 1, 62, &err));
	memmove(psb + 1, psb, 99);
	assert_null(found(psb, sizeof(psb), &err));
}

static void finds_formats_by_name(void **state)
{
	(void)state;
	assert_ptr_equal(vt_format_by_name("perf"), &vt_formats[0]);
	assert_ptr_equal(vt_format_by_name("pt"), &vt_formats[1]);
	assert_ptr_equal(vt_format_by_name("db"), &vt_formats[2]);
	assert_null(vt_format_by_name("p"));
	assert_null(vt_format_by_name(""));
	assert_null(vt_formats[3].name);
}

static void has_whole_output_rows(void **state)
{
	unsigned i, j;

	(void)state;
	assert_ptr_equal(vt_output_formats[0], &vt_pt_output);
	assert_ptr_equal(vt_output_formats[1], &vt_perfpt_output);
	assert_null(vt_output_formats[2]);
	for (i = 0; vt_output_formats[i]; i++) {
		const struct vt_output_format *f = vt_output_formats[i];

		assert_true(f->description && f->open && f->record && f->finish && f->report &&
			    f->close);
		for (j = 0; j < i; j++)
			assert_string_not_equal(f->name, vt_output_formats[j]->name);
	}
}

/* A stream without executed code: the text says what it lacks, and nothing is left open. */
static void refuses_to_write_nothing(void **state)
{
	struct vt_pt_wrap_options perf = {.encode = vt_pt_encode_defaults, .version = "1"};
	const struct vt_output_options opt = {
		.path = "/dev/null", .pt = &perf.encode, .perf = &perf};
	struct vt_error err = VT_ERROR_INIT;
	unsigned i;

	(void)state;
	for (i = 0; vt_output_formats[i]; i++) {
		const struct vt_output_format *f = vt_output_formats[i];
		struct vt_output_session *s = f->open(&opt, &err);

		assert_non_null(s);
		assert_int_equal(f->finish(s, &err), -VT_E_ABSENT);
		assert_string_equal(err.text, VT_NO_EXECUTED_CODE);
		assert_int_equal(f->close(s, &err), 0);
	}
	/* CPUs need TSC packets. */
	perf.cpus = 2;
	assert_null(vt_perfpt_output.open(&opt, &err));
	assert_int_equal(err.code, VT_E_USAGE);
}

/* ---- gzip ---- */

/* All that an input of these bytes has, in *out; what the reading returns. */
static int gunzip(const struct vt_buf *b, bool pipe, struct vt_buf *out, struct vt_error *err)
{
	int fd = pipe ? pipe_of(b) : file_of(b), code;
	struct vt_input in;
	size_t have;

	*err = (struct vt_error)VT_ERROR_INIT;
	assert_int_equal(vt_input_open_fd(&in, fd, "in", err), 0);
	assert_int_equal(vt_gunzip_input(&in, err), 0);
	assert_int_equal(in.offset, 0);
	out->size = 0;
	for (;;) {
		code = vt_input_fill(&in, 1, &have, err);
		if (code < 0 || !have)
			break;
		vt_buf_put(out, vt_input_data(&in), have);
		vt_input_consume(&in, have);
	}
	vt_input_close(&in);
	close(fd);
	if (pipe)
		reap_child();
	return code;
}

static void decompresses(void **state)
{
	static const size_t sizes[] = {0, 1, 65535, 65536, 262143, 262144, 262145, 1000000};
	struct vt_buf plain = VT_BUF_INIT, b = VT_BUF_INIT, out = VT_BUF_INIT;
	struct vt_error err;
	unsigned i, form;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		plain.size = 0;
		put_noise(&plain, sizes[i]);
		for (form = 0; form < 6; form++) {
			b.size = 0;
			/* As it is, in one member, or in two. */
			if (form / 2 == 0)
				vt_buf_put(&b, plain.data, plain.size);
			if (form / 2 == 1)
				put_gzip(&b, plain.data, plain.size);
			if (form / 2 == 2) {
				put_gzip(&b, plain.data, plain.size / 3);
				put_gzip(&b, plain.data + plain.size / 3,
					 plain.size - plain.size / 3);
			}
			assert_int_equal(gunzip(&b, form & 1, &out, &err), 0);
			assert_int_equal(out.size, plain.size);
			assert_memory_equal(out.data, plain.data, plain.size);
		}
	}
	vt_buf_free(&plain);
	vt_buf_free(&b);
	vt_buf_free(&out);
}

/* gzip(1) ignores what follows the last member and is none. */
static void ignores_what_follows_the_last_member(void **state)
{
	struct vt_buf b = VT_BUF_INIT, out = VT_BUF_INIT;
	struct vt_error err;

	(void)state;
	put_gzip(&b, "text", 4);
	vt_buf_put(&b, "\0\0\0\0", 4);
	assert_int_equal(gunzip(&b, false, &out, &err), 0);
	assert_string_equal(vt_buf_str(&out), "text");
	/* What begins like one has to be one. */
	b.size -= 4;
	vt_buf_put(&b, "\x1f\x8b\1\2\3\4\5", 7);
	assert_int_equal(gunzip(&b, false, &out, &err), -VT_E_DAMAGED);
	assert_non_null(strstr(err.text, "in: damaged gzip data: "));
	vt_buf_free(&b);
	vt_buf_free(&out);
}

static void says_what_is_wrong_with_gzip(void **state)
{
	struct vt_buf b = VT_BUF_INIT, out = VT_BUF_INIT, noise = VT_BUF_INIT;
	struct vt_error err;
	size_t size;

	(void)state;
	put_noise(&noise, 100000);
	put_gzip(&b, noise.data, noise.size);
	size = b.size;
	for (b.size = 3; b.size < size; b.size += size / 7) {
		assert_int_equal(gunzip(&b, false, &out, &err), -VT_E_TRUNC);
		assert_string_equal(err.text, "in: the gzip data is cut off");
	}
	b.size = size - 1;
	assert_int_equal(gunzip(&b, true, &out, &err), -VT_E_TRUNC);
	b.size = size;
	b.data[size - 8]++; /* of the checksum */
	assert_int_equal(gunzip(&b, false, &out, &err), -VT_E_DAMAGED);
	assert_string_equal(err.text, "in: damaged gzip data: incorrect data check");
	vt_buf_free(&b);
	vt_buf_free(&out);
	vt_buf_free(&noise);
}

/* What looks only like it, and what has been decompressed already, stays as it is. */
static void leaves_other_bytes(void **state)
{
	static const char *const texts[] = {"\x1f", "\x1f\x8c", "\x1e\x8b", ""};
	struct vt_buf b = VT_BUF_INIT, twice = VT_BUF_INIT, out = VT_BUF_INIT;
	struct vt_error err = VT_ERROR_INIT;
	struct vt_input in;
	size_t have, i;
	int fd;

	(void)state;
	for (i = 0; i < 4; i++) {
		b.size = 0;
		vt_buf_put(&b, texts[i], strlen(texts[i]));
		assert_int_equal(gunzip(&b, false, &out, &err), 0);
		assert_string_equal(vt_buf_str(&out), texts[i]);
	}
	b.size = 0;
	put_gzip(&b, "text", 4);
	put_gzip(&twice, b.data, b.size);
	fd = file_of(&twice);
	assert_int_equal(vt_input_open_fd(&in, fd, "in", &err), 0);
	assert_int_equal(vt_gunzip_input(&in, &err), 0);
	assert_int_equal(vt_gunzip_input(&in, &err), 0);
	assert_int_equal(vt_input_fill(&in, 1000, &have, &err), 0);
	assert_int_equal(have, b.size);
	assert_memory_equal(vt_input_data(&in), b.data, b.size);
	vt_input_close(&in);
	close(fd);
	vt_buf_free(&b);
	vt_buf_free(&twice);
	vt_buf_free(&out);
}

/* Those that know the end of the file already, and those that have no more than a byte of it. */
static void decompresses_what_was_read_before(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_buf b = VT_BUF_INIT;
	struct vt_input in;
	size_t have;
	int fd, fds[2];

	(void)state;
	put_gzip(&b, "text", 4);
	fd = file_of(&b);
	assert_int_equal(vt_input_open_fd(&in, fd, "in", &err), 0);
	assert_int_equal(vt_input_fill(&in, 1000, &have, &err), 0);
	assert_int_equal(vt_gunzip_input(&in, &err), 0);
	assert_int_equal(vt_input_fill(&in, 1000, &have, &err), 0);
	assert_int_equal(have, 4);
	assert_memory_equal(vt_input_data(&in), "text", 4);
	vt_input_close(&in);
	close(fd);

	/* What is sent in two pieces is read in two. */
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
	assert_int_equal(write(fds[0], b.data, 1), 1);
	assert_int_equal(write(fds[0], b.data + 1, b.size - 1), b.size - 1);
	close(fds[0]);
	assert_int_equal(vt_input_open_fd(&in, fds[1], "in", &err), 0);
	assert_int_equal(vt_gunzip_input(&in, &err), 0);
	assert_int_equal(vt_input_fill(&in, 1000, &have, &err), 0);
	assert_int_equal(have, 4);
	vt_input_close(&in);
	close(fds[1]);
	vt_buf_free(&b);
}

/* ---- whole files ---- */

#define MIB ((size_t)1 << 20)

static void take(int fd, struct vt_wholefile *f)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_input in;
	size_t have;

	assert_int_equal(vt_input_open_fd(&in, fd, "in", &err), 0);
	assert_int_equal(vt_wholefile_take(f, &in, &err), 0);
	if (!f->mapped) {
		assert_int_equal(vt_input_fill(&in, 1, &have, &err), 0);
		assert_int_equal(have, 0);
		assert_int_equal(in.offset, f->size);
	}
	vt_input_close(&in);
	close(fd);
}

static void expect_whole(struct vt_wholefile *f, const struct vt_buf *b, size_t from, bool mapped)
{
	assert_int_equal(f->mapped, mapped);
	assert_int_equal(f->size, b->size - from);
	if (f->size)
		assert_memory_equal(f->bytes, b->data + from, f->size);
	vt_wholefile_fini(f);
	assert_null(f->bytes);
	assert_int_equal(f->size, 0);
	assert_false(f->mapped);
}

static void takes_whole_files(void **state)
{
	static const size_t sizes[] = {0, 1, 1 << 20, (1 << 20) - 1, (1 << 20) + 1, 5 << 19};
	struct vt_buf b = VT_BUF_INIT, z = VT_BUF_INIT;
	struct vt_wholefile f;
	size_t i;
	int fd;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		b.size = 0;
		put_noise(&b, sizes[i]);
		take(file_of(&b), &f);
		expect_whole(&f, &b, 0, sizes[i] > 0);
		take(pipe_of(&b), &f);
		reap_child();
		expect_whole(&f, &b, 0, false);
		if (sizes[i] < 5)
			continue;
		/* A file from its fifth byte on. */
		fd = file_of(&b);
		assert_int_equal(lseek(fd, 5, SEEK_SET), 5);
		take(fd, &f);
		expect_whole(&f, &b, 5, false);
	}
	b.size = MIB + 1;
	put_gzip(&z, b.data, b.size);
	take(file_of(&z), &f);
	expect_whole(&f, &b, 0, false);
	vt_buf_free(&b);
	vt_buf_free(&z);
}

/* What is written to a file's bytes does not come to the file. */
static void keeps_files_as_they_are(void **state)
{
	char path[] = "/tmp/vt-test-XXXXXX", text[4];
	struct vt_error err = VT_ERROR_INIT;
	int fd = mkstemp(path);
	struct vt_wholefile f;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "text", 4), 4);
	assert_int_equal(vt_wholefile_open(&f, path, &err), 0);
	assert_true(f.mapped);
	f.bytes[0] = 'n';
	vt_wholefile_fini(&f);
	assert_int_equal(pread(fd, text, 4, 0), 4);
	assert_memory_equal(text, "text", 4);
	unlink(path);
	close(fd);
	memset(&f, 0xff, sizeof(f));
	assert_int_equal(vt_wholefile_open(&f, path, &err), -VT_E_READ);
	assert_null(f.bytes);
	assert_int_equal(f.size, 0);
	assert_false(f.mapped);
}

/* Damage is told, not taken for the end. */
static void refuses_damaged_files(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_buf b = VT_BUF_INIT;
	struct vt_wholefile f;
	struct vt_input in;
	int fd;

	(void)state;
	put_gzip(&b, "text", 4);
	b.size--;
	fd = file_of(&b);
	assert_int_equal(vt_input_open_fd(&in, fd, "in", &err), 0);
	assert_int_equal(vt_wholefile_take(&f, &in, &err), -VT_E_TRUNC);
	assert_null(f.bytes);
	vt_input_close(&in);
	close(fd);
	vt_buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_formats),
		cmocka_unit_test(finds_formats_by_name),
		cmocka_unit_test(has_whole_output_rows),
		cmocka_unit_test(refuses_to_write_nothing),
		cmocka_unit_test(decompresses),
		cmocka_unit_test(ignores_what_follows_the_last_member),
		cmocka_unit_test(says_what_is_wrong_with_gzip),
		cmocka_unit_test(leaves_other_bytes),
		cmocka_unit_test(decompresses_what_was_read_before),
		cmocka_unit_test(takes_whole_files),
		cmocka_unit_test(keeps_files_as_they_are),
		cmocka_unit_test(refuses_damaged_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
