/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every allocation of a reader and a writer fails once, and all from some point on: an error, never
 * a crash, a leak, or records that are not those of the stream. malloc() and its kin are replaced
 * for the whole program, which is not for a sanitizer's build.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/common/streams.h"

#if !defined(__SANITIZE_ADDRESS__) && defined(__GLIBC__)
#define REPLACED 1
#else
#define REPLACED 0
#endif

#if REPLACED
/* The C library's own, under the names that it keeps for replacements to call. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void __libc_free(void *p);

static long until_failure = -1; /* allocations that still succeed; -1: all */
static int failing_on;		/* not only once */
static int failed;
static long live;

static int fails(void)
{
	if (until_failure < 0)
		return 0;
	if (until_failure > 0) {
		until_failure--;
		return 0;
	}
	if (!failing_on)
		until_failure = -1;
	failed = 1;
	return 1;
}

void *malloc(size_t size)
{
	void *p = fails() ? NULL : __libc_malloc(size);

	live += p != NULL;
	return p;
}

void *calloc(size_t nmemb, size_t size)
{
	void *p = fails() ? NULL : __libc_calloc(nmemb, size);

	live += p != NULL;
	return p;
}

void *realloc(void *ptr, size_t size)
{
	void *p = fails() ? NULL : __libc_realloc(ptr, size);

	live += p && !ptr;
	return p;
}

void free(void *ptr)
{
	live -= ptr != NULL;
	__libc_free(ptr);
}

/* Copies the stream in `in` to `out`; 0, or the code of what failed. */
static int copy_stream(int in, int out, uint64_t n)
{
	struct vt_writer_options opt = {.compression = VT_COMPRESS_ZSTD};
	struct vt_record rec = {0};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_reader *r = vt_reader_open_fd(in, "test", &err);
	const struct vt_reader *inputs[1] = {r};
	struct vt_writer *w = NULL;
	int code = -(int)err.code, closed;
	uint64_t i = 0;

	opt.inputs = inputs;
	opt.ninputs = 1;
	if (r) {
		w = vt_writer_open_fd(out, "copy", &opt, &err);
		code = -(int)err.code;
	}
	while (w && (code = vt_reader_next(r, &rec, &err)) == 1) {
		assert_int_not_equal(rec.kind, VT_GAP);
		check_record(&rec, i++);
		vt_writer_copy(w, &rec);
	}
	if (r && w && code == 0)
		assert_int_equal(i, n);
	if (w) {
		closed = vt_writer_close(w, VT_STATUS_COMPLETE, &err);
		code = code ? code : closed;
	}
	vt_reader_close(r);
	return code;
}

static void fail_everywhere(enum vt_compression how, int on)
{
	const uint64_t n = 20000;
	int in = scratch_file(), out = open("/dev/null", O_WRONLY);
	long point, before;

	write_stream(in, how, n);
	for (point = 0;; point++) {
		int code;

		lseek(in, 0, SEEK_SET);
		before = live;
		failing_on = on;
		failed = 0;
		until_failure = point;
		code = copy_stream(in, out, n);
		until_failure = -1;
		assert_int_equal(live, before);
		/* A compressor that lacks memory only leaves a block plain. */
		assert_true(code == 0 || code == -VT_E_NOMEM);
		if (!failed) {
			assert_int_equal(code, 0);
			break;
		}
		/* The thousands of names are one like another. */
		if (point > 300 && point < 2000)
			point += 16;
	}
	assert_true(point > 300);
	close(in);
	close(out);
}
#endif

static void test_each_allocation_fails(void **state)
{
	(void)state;
#if REPLACED
	fail_everywhere(VT_COMPRESS_NONE, 0);
	fail_everywhere(VT_COMPRESS_NONE, 1);
	fail_everywhere(VT_COMPRESS_ZLIB, 0);
	fail_everywhere(VT_COMPRESS_ZLIB, 1);
	fail_everywhere(VT_COMPRESS_ZSTD, 0);
#else
	skip();
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_allocation_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
