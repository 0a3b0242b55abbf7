/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/input.h"
#include "base/output.h"
#include "tests/unit/common/streams.h"

#define TOTAL ((size_t)3 << 20)

static uint8_t pattern(size_t i)
{
	return (uint8_t)(i * 31 + (i >> 8) * 7 + (i >> 16));
}

/* A child that writes TOTAL bytes into a pipe, in pieces of odd sizes. */
static int start_producer(pid_t *child)
{
	static uint8_t piece[70000];
	size_t at = 0, size = 1, i;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	*child = fork();
	assert_true(*child >= 0);
	if (*child) {
		close(ends[1]);
		return ends[0];
	}
	close(ends[0]);
	while (at < TOTAL) {
		size = size * 3 % 65521 + 1;
		if (size > TOTAL - at)
			size = TOTAL - at;
		for (i = 0; i < size; i++)
			piece[i] = pattern(at + i);
		for (i = 0; i < size;) {
			ssize_t n = write(ends[1], piece + i, size - i);

			if (n < 0)
				_exit(1);
			i += (size_t)n;
		}
		at += size;
	}
	_exit(0);
}

/* Short reads are put together; the offset keeps count; the end is told by having less. */
static void test_input_from_pipe(void **state)
{
	struct vt_input in;
	struct vt_error err;
	size_t have = 0, at = 0, need = 1, i;
	pid_t child;
	int fd = start_producer(&child);
	int status;

	(void)state;
	assert_int_equal(vt_input_open_fd(&in, fd, "pipe", &err), 0);
	while (at < TOTAL) {
		need = need * 5 % 300007 + 1;
		assert_int_equal(vt_input_fill(&in, need, &have, &err), 0);
		assert_true(have >= need || have == TOTAL - at);
		assert_int_equal(have, vt_input_have(&in));
		assert_int_equal(in.offset, at);
		if (need > have)
			need = have;
		for (i = 0; i < need; i++)
			if (vt_input_data(&in)[i] != pattern(at + i))
				fail_msg("byte %zu is wrong", at + i);
		vt_input_consume(&in, need);
		at += need;
	}
	assert_int_equal(vt_input_fill(&in, 1, &have, &err), 0);
	assert_int_equal(have, 0);
	vt_input_close(&in);
	/* The descriptor stays the caller's. */
	assert_int_equal(close(fd), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* However much is asked for, memory is taken as bytes come. */
static void test_input_huge_need(void **state)
{
	int fd = scratch_file();
	struct vt_input in;
	struct vt_error err;
	size_t have = 0;

	(void)state;
	assert_int_equal(write(fd, "ten bytes.", 10), 10);
	lseek(fd, 0, SEEK_SET);
	assert_int_equal(vt_input_open_fd(&in, fd, "small", &err), 0);
	assert_int_equal(vt_input_fill(&in, SIZE_MAX, &have, &err), 0);
	assert_int_equal(have, 10);
	assert_true(in.cap <= 1 << 20);
	vt_input_close(&in);
	close(fd);
}

/* What comes when it is asked for, at most `limit` bytes at a time. */
struct source {
	size_t limit;
	size_t asked;
	size_t given; /* so far */
};

static int pull_some(struct vt_input *in, uint8_t *out, size_t room, size_t *n,
		     struct vt_error *err)
{
	struct source *s = in->pull_arg;

	(void)err;
	s->asked = room;
	*n = room < s->limit ? room : s->limit;
	for (room = 0; room < *n; room++)
		out[room] = pattern(s->given + room);
	s->given += *n;
	return 0;
}

/*
 * 64 KB are read at a time, of a larger piece hardly more than it has.  A window is moved to the
 * front where there is no room for 16 KB behind it, unless it is larger than a fourth of what lies
 * before it: then the buffer grows, up to 2 MB.
 */
static void test_input_window(void **state)
{
	static const struct {
		size_t limit, consume, need;
		size_t asked, start, end, cap;
	} steps[] = {
		{49152, 0, 1, 65536, 0, 49152, 65536},
		{1, 49052, 101, 16384, 49052, 49153, 65536},
		{60000, 0, 102, 65435, 0, 60101, 65536},
		{60000, 48080, 12022, 65536, 48080, 120101, 131072},
		{60000, 48001, 24021, 65536, 0, 84020, 131072},
		{60000, 83920, 100 + 65535, 65536, 83920, 191072, 262144},
		{70000, 107052, 100 + 65536, 65600, 190972, 256672, 262144},
		{400000, 65600, 100 + 300000, 65536, 0, 327680, 524288},
		{2000000, 10000, 317680 + 700000, 503456, 10000, 1027744, 1048576},
		{2000000, 0, 1017744 + 1200000, 130656, 0, 2217808, 4194304},
	};
	struct source s = {.limit = 0};
	struct vt_input in = {.fd = -1, .pull = pull_some, .pull_arg = &s};
	struct vt_error err;
	size_t have, i, k;

	(void)state;
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		s.limit = steps[i].limit;
		vt_input_consume(&in, steps[i].consume);
		assert_int_equal(vt_input_fill(&in, steps[i].need, &have, &err), 0);
		assert_int_equal(s.asked, steps[i].asked);
		assert_int_equal(in.start, steps[i].start);
		assert_int_equal(in.end, steps[i].end);
		assert_int_equal(in.cap, steps[i].cap);
		assert_int_equal(have, in.end - in.start);
		for (k = 0; k < have; k += 997)
			assert_int_equal(vt_input_data(&in)[k], pattern(in.offset + k));
	}
	vt_input_close(&in);
}

/* A file of which two pieces are passed over, the second up to beyond its end. */
static void test_input_leaves_out(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	FILE *file = tmpfile();
	struct vt_input in;
	size_t have, i;

	(void)state;
	assert_non_null(file);
	for (i = 0; i < 100000; i++)
		fputc(pattern(i), file);
	assert_int_equal(fflush(file), 0);
	assert_int_equal(lseek(fileno(file), 10, SEEK_SET), 10);
	assert_int_equal(vt_input_open_fd(&in, fileno(file), "file", &err), 0);
	assert_true(vt_input_go_sparse(&in));
	assert_int_equal(vt_input_fill(&in, 100, &have, &err), 0);
	assert_int_equal(have, 1024);
	vt_input_consume(&in, 24);
	assert_int_equal(vt_input_leave_out(&in, 60000, &err), 0);
	assert_int_equal(vt_input_fill(&in, 60001, &have, &err), 0);
	assert_int_equal(have, 61024);
	assert_int_equal(vt_input_data(&in)[999], pattern(1033));
	for (i = 60000; i < have; i++)
		assert_int_equal(vt_input_data(&in)[i], pattern(34 + i));
	vt_input_read_again(&in);
	assert_int_equal(vt_input_fill(&in, 60000, &have, &err), 0);
	for (i = 0; i < have; i++)
		assert_int_equal(vt_input_data(&in)[i], pattern(34 + i));
	vt_input_consume(&in, have);
	assert_int_equal(vt_input_leave_out(&in, 70000, &err), 0);
	assert_int_equal(vt_input_fill(&in, 70001, &have, &err), 0);
	assert_int_equal(have, 70000);
	/* Where the file really ends shows when it is read. */
	vt_input_read_again(&in);
	assert_int_equal(vt_input_fill(&in, 70000, &have, &err), 0);
	assert_int_equal(in.offset + have, 100000 - 10);
	vt_input_close(&in);
	fclose(file);
}

static void test_input_errors(void **state)
{
	struct vt_input in;
	struct vt_error err;
	size_t have = 0;
	int fd, none;

	(void)state;
	assert_int_equal(vt_input_open(&in, "/nowhere/at/all", &err), -VT_E_READ);
	assert_string_equal(err.text, "/nowhere/at/all: No such file or directory");
	assert_int_equal(vt_input_open(&in, "/tmp", &err), -VT_E_READ);
	assert_string_equal(err.text, "/tmp: Is a directory");
	/* "-" is standard input, which stays open; "." comes behind it, "+" before. */
	assert_int_equal(vt_input_open(&in, ".", &err), -VT_E_READ);
	assert_string_equal(err.text, ".: Is a directory");
	assert_int_equal(vt_input_open(&in, "+nowhere", &err), -VT_E_READ);
	fd = dup(STDIN_FILENO);
	none = open("/dev/null", O_RDONLY);
	assert_true(none >= 0 && dup2(none, STDIN_FILENO) == STDIN_FILENO);
	assert_int_equal(vt_input_open(&in, "-", &err), 0);
	assert_string_equal(in.name, "standard input");
	assert_int_equal(vt_input_fill(&in, 1, &have, &err), 0);
	assert_int_equal(have, 0);
	vt_input_close(&in);
	assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), 0);
	close(none);
	if (fd >= 0)
		dup2(fd, STDIN_FILENO);
	close(fd);
	/* A descriptor that cannot be read. */
	assert_int_equal(vt_input_open_fd(&in, 9999, "closed", &err), 0);
	assert_int_equal(vt_input_fill(&in, 1, &have, &err), -VT_E_READ);
	assert_string_equal(err.text, "closed: Bad file descriptor");
	vt_input_close(&in);
}

static void ignore(int sig)
{
	(void)sig;
}

/* A signal in the middle of a read does not show. */
static void test_interrupted_calls(void **state)
{
	struct sigaction act = {.sa_handler = ignore}, old;
	struct vt_error err;
	struct vt_input in;
	size_t have = 0;
	int ends[2];
	pid_t child;

	(void)state;
	/* Without SA_RESTART: read() returns EINTR. */
	assert_int_equal(sigaction(SIGUSR1, &act, &old), 0);
	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		struct timespec pause = {0, 20000000};
		int i;

		for (i = 0; i < 5; i++) {
			nanosleep(&pause, NULL);
			kill(getppid(), SIGUSR1);
		}
		_exit(write(ends[1], "x", 1) != 1);
	}
	close(ends[1]);
	assert_int_equal(vt_input_open_fd(&in, ends[0], "pipe", &err), 0);
	assert_int_equal(vt_input_fill(&in, 1, &have, &err), 0);
	assert_int_equal(have, 1);
	vt_input_close(&in);
	close(ends[0]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	sigaction(SIGUSR1, &old, NULL);
}

static void test_output_round_trip(void **state)
{
	int fd = scratch_file();
	struct vt_output out;
	struct vt_error err;
	uint8_t *data, *back;
	size_t i, size;
	char wide[3000];

	(void)state;
	data = malloc(TOTAL);
	assert_non_null(data);
	for (i = 0; i < TOTAL; i++)
		data[i] = pattern(i);
	memset(wide, 'w', sizeof(wide) - 1);
	wide[sizeof(wide) - 1] = 0;
	assert_int_equal(vt_output_open_fd(&out, fd, "scratch", &err), 0);
	assert_true(out.regular);
	assert_false(out.tty);
	/* Small pieces are gathered, large ones pass them by: the order stays. */
	vt_output_text(&out, "begin ");
	assert_int_equal(lseek(fd, 0, SEEK_END), 0);
	vt_output_put(&out, data, TOTAL);
	vt_output_printf(&out, "%s %d", wide, 7);
	assert_int_equal(vt_output_flush(&out), 0);
	assert_int_equal(vt_output_close(&out, &err), 0);
	back = slurp(fd, &size);
	assert_int_equal(size, 6 + TOTAL + sizeof(wide) - 1 + 2);
	assert_memory_equal(back, "begin ", 6);
	assert_memory_equal(back + 6, data, TOTAL);
	assert_memory_equal(back + 6 + TOTAL, wide, sizeof(wide) - 1);
	assert_memory_equal(back + size - 2, " 7", 2);
	free(back);
	free(data);
	close(fd);
}

/* 64 KiB are written when they are there, and not before. */
static void test_output_gathers(void **state)
{
	static const uint8_t data[65536];
	int fd = scratch_file();
	struct vt_output out;
	struct vt_error err;

	(void)state;
	assert_int_equal(vt_output_open_fd(&out, fd, "scratch", &err), 0);
	vt_output_put(&out, data, 65535);
	assert_int_equal(lseek(fd, 0, SEEK_END), 0);
	vt_output_put(&out, data, 1);
	assert_int_equal(lseek(fd, 0, SEEK_END), 65536);
	vt_output_put(&out, data, 1);
	assert_int_equal(lseek(fd, 0, SEEK_END), 65536);
	vt_output_put(&out, data, 65536);
	assert_int_equal(lseek(fd, 0, SEEK_END), 65536 + 1 + 65536);
	assert_int_equal(vt_output_close(&out, &err), 0);
	assert_int_equal(out.fd, -1);
	assert_null(out.name);
	/* The descriptor is the caller's. */
	assert_int_equal(close(fd), 0);
}

/* Text of 511 bytes and of 512, which is what fits and what does not. */
static void test_output_printf(void **state)
{
	int fd = scratch_file();
	struct vt_output out;
	struct vt_error err;
	size_t size;
	uint8_t *back;

	(void)state;
	assert_int_equal(vt_output_open_fd(&out, fd, "scratch", &err), 0);
	vt_output_printf(&out, "%511s", "a");
	vt_output_printf(&out, "%512s", "b");
	vt_output_printf(&out, "%s", "");
	assert_int_equal(vt_output_close(&out, &err), 0);
	back = slurp(fd, &size);
	assert_int_equal(size, 1023);
	assert_int_equal(back[509], ' ');
	assert_int_equal(back[510], 'a');
	assert_int_equal(back[511], ' ');
	assert_int_equal(back[1022], 'b');
	free(back);
	close(fd);
}

/* A full device: the first error is kept, and closing tells it. */
static void test_output_full(void **state)
{
	static const uint8_t data[100000];
	struct vt_output out;
	struct vt_error err = VT_ERROR_INIT;
	int i;

	(void)state;
	assert_int_equal(vt_output_open(&out, "/dev/full", &err), 0);
	assert_false(out.regular);
	vt_output_text(&out, "small");
	assert_int_equal(out.err.code, VT_OK);
	for (i = 0; i < 100; i++)
		vt_output_put(&out, data, sizeof(data));
	assert_int_equal(vt_output_flush(&out), -VT_E_WRITE);
	assert_true(out.buf.cap < 1 << 20);
	assert_int_equal(vt_output_close(&out, &err), -VT_E_WRITE);
	assert_string_equal(err.text, "/dev/full: No space left on device");
	/* What only the buffer held fails no later than at the end. */
	assert_int_equal(vt_output_open(&out, "/dev/full", &err), 0);
	vt_output_text(&out, "small");
	assert_int_equal(vt_output_close(&out, &err), -VT_E_WRITE);
}

static void test_output_errors(void **state)
{
	struct vt_output out;
	struct vt_error err = VT_ERROR_INIT;

	(void)state;
	assert_int_equal(vt_output_open(&out, "/nowhere/at/all", &err), -VT_E_WRITE);
	assert_string_equal(err.text, "/nowhere/at/all: No such file or directory");
	assert_int_equal(vt_output_open(&out, "/tmp", &err), -VT_E_WRITE);
	assert_string_equal(err.text, "/tmp: Is a directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_input_from_pipe),	  cmocka_unit_test(test_input_huge_need),
		cmocka_unit_test(test_input_window),	  cmocka_unit_test(test_input_leaves_out),
		cmocka_unit_test(test_input_errors),	  cmocka_unit_test(test_interrupted_calls),
		cmocka_unit_test(test_output_gathers),	  cmocka_unit_test(test_output_printf),
		cmocka_unit_test(test_output_round_trip), cmocka_unit_test(test_output_full),
		cmocka_unit_test(test_output_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
