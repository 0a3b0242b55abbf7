/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "profile/threads.h"
#include "stream/reader.h"
#include "stream/writer.h"
#include "tests/unit/common/streams.h"

static struct vt_error err;

static void put_name(struct vt_writer *w, int64_t pid, int64_t tid, enum vt_thread_op op,
		     const char *comm)
{
	uint64_t *row = vt_writer_row(w, VT_THREAD);

	row[VT_THREAD_PID] = (uint64_t)pid;
	row[VT_THREAD_TID] = (uint64_t)tid;
	row[VT_THREAD_OP] = op;
	vt_writer_text(w, VT_THREAD_COMM, comm);
}

static void put_fork(struct vt_writer *w, int64_t pid, int64_t tid, int64_t ppid, int64_t ptid)
{
	uint64_t *row = vt_writer_row(w, VT_THREAD);

	row[VT_THREAD_PID] = (uint64_t)pid;
	row[VT_THREAD_TID] = (uint64_t)tid;
	row[VT_THREAD_OP] = VT_OP_FORK;
	row[VT_THREAD_PPID] = (uint64_t)ppid;
	row[VT_THREAD_PTID] = (uint64_t)ptid;
}

static int feed_threads(struct vt_threads *t, int fd, struct vt_writer *w)
{
	struct vt_reader *r = reread_stream(fd, w);
	const struct vt_block *b;
	uint32_t first, count;
	int code = 0;

	while (code == 0 && vt_reader_next_run(r, &b, &first, &count, &err) > 0)
		code = vt_threads_feed(t, b, first, count, &err);
	vt_reader_close(r);
	close(fd);
	return code;
}

static void expect(const struct vt_threads *t, int32_t tid, const char *comm)
{
	char buf[VT_COMM_SIZE];

	assert_string_equal(vt_threads_comm(t, tid, buf), comm);
}

static void follows_names(void **state)
{
	struct vt_threads *t = vt_threads_new();
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);

	(void)state;
	expect(t, 7, ":7");
	expect(t, -1, ":-1");
	expect(t, 0, "swapper");
	put_name(w, 10, 10, VT_OP_COMM, "shell");
	put_fork(w, 11, 11, 10, 10); /* a process */
	put_fork(w, 10, 12, 10, 10); /* a thread */
	put_name(w, 10, 10, VT_OP_EXEC, "work");
	put_fork(w, 13, 13, 10, 10);
	put_name(w, 10, 12, VT_OP_COMM, "helper");
	put_fork(w, 14, 14, 10, 12);
	put_fork(w, 15, 15, 99, 99); /* of a parent without a name */
	put_fork(w, 16, 16, 0, 0);
	put_name(w, 11, 11, VT_OP_EXIT, "");
	assert_int_equal(feed_threads(t, fd, w), 0);
	expect(t, 10, "work");
	expect(t, 11, "shell");
	expect(t, 12, "helper");
	expect(t, 13, "work");
	expect(t, 14, "helper");
	expect(t, 15, ":15");
	expect(t, 16, "swapper");
	vt_threads_free(t);
}

/* The numbers of threads that are gone are given to others. */
static void forgets_who_had_the_number(void **state)
{
	struct vt_threads *t = vt_threads_new();
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);

	(void)state;
	put_name(w, 10, 10, VT_OP_COMM, "old");
	put_name(w, 10, 11, VT_OP_COMM, "old-too");
	put_fork(w, 10, 10, 20, 20);
	put_fork(w, 12, 12, 77, 11); /* 11 is of process 77 now */
	assert_int_equal(feed_threads(t, fd, w), 0);
	expect(t, 10, ":10");
	expect(t, 12, ":12");
	vt_threads_free(t);
}

static void bounds_memory(void **state)
{
	struct vt_threads *t = vt_threads_new();
	char name[100], kept[VT_COMM_SIZE];
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	int64_t i;

	(void)state;
	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	memcpy(kept, name, sizeof(kept));
	kept[sizeof(kept) - 1] = '\0';
	put_name(w, 1, 1, VT_OP_COMM, name);
	for (i = 2; i <= VT_THREADS_MAX; i++)
		put_fork(w, i, i, 1, 1);
	put_name(w, 1, 1, VT_OP_COMM, "x");
	put_fork(w, i, i, 1, 1);
	assert_int_equal(feed_threads(t, fd, w), -VT_E_LIMIT);
	assert_string_equal(err.text, "more than 1000000 threads");
	expect(t, 1, "x");
	expect(t, 2, kept);
	expect(t, VT_THREADS_MAX, kept);
	vt_threads_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_names),
		cmocka_unit_test(forgets_who_had_the_number),
		cmocka_unit_test(bounds_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
