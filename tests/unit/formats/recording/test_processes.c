/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recorded processes, from the directory that they are told to the end of each: their messages,
 * programs that follow each other in one process, and what a process leaves that is killed.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "stream/reader.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/common/toolbox.h"
#include "tests/unit/formats/recording/recordings.h"

#define PID RECORDINGS_PID

static const struct vt_recording_options none = {0};

#define ROW(op, name) "THREAD TIME=1000 PID=500 TID=500 OP=" op " PPID=40 PTID=500 COMM" name "\n"
#define START	      ROW("1", "=70")
#define EXIT	      ROW("3", "")
#define BLOCK(id, addr)                                                                            \
	"BLOCK ID=" id " PID=500 ADDR=" addr " SIZE=2 INSNS=2 END=0 TARGET=0 LENGTHS=0101 "        \
	"CODE=9090 SLOTS\n"
#define EXEC(time, first, id)                                                                      \
	"EXEC TIME=" time " PID=500 TID=500 FIRST=" first " BLOCKS=1 INSNS=2 SKIP=0 BASE=" id      \
	" WIDTH=2 IDS=0000 DATA\n"
#define GAP(tid, bytes, why) "GAP TIME=1000 PID=500 TID=" tid " BYTES=" bytes " REASON=" why "\n"

static void expect_files(const char *dir, const char *want)
{
	char *files = toolbox_run(dir, "ls");

	assert_string_equal(files, want);
	free(files);
}

/* Opens a recording whose process has begun and told of block 1. */
static void open_begun(struct recordings *s, const struct vt_recording_options *opt)
{
	recordings_open(s, opt);
	rings_start(&s->ring, 40, 0, "p");
	rings_block(&s->ring, 1, 2, NULL, 0);
}

static void put_exec(struct recordings *s, uint32_t recorded)
{
	const struct vt_ring_exec x = {recorded, 4};

	rings_event(&s->ring, VT_RING_EXEC, PID, &x, sizeof(x), "next", 4);
}

/* Kills the process. */
static void kill_process(struct recordings *s)
{
	struct vt_error err = VT_ERROR_INIT;

	rings_drop(&s->ring);
	assert_int_equal(vt_recording_dead(s->rec, PID, &err), 0);
	assert_int_equal(vt_recording_running(s->rec, 0), 0);
}

/* What the recorders read in the page that all share. */
static struct vt_ring_shared shared_page(const struct recordings *s)
{
	struct vt_ring_shared page = {0};
	int fd = open(toolbox_path(s->dir, "shared"), O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(read(fd, &page, sizeof(page)), sizeof(page));
	close(fd);
	return page;
}

/* ---- the directory ---- */

static void directory(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	mode_t mask = umask(0);
	struct vt_ring_shared page;
	struct recordings s;
	struct stat st;
	char *dir;

	(void)state;
	recordings_open(&s, &none);
	umask(mask);
	assert_int_equal(stat(toolbox_path(s.dir, "control"), &st), 0);
	assert_int_equal(st.st_mode, S_IFIFO | 0600);
	assert_int_equal(stat(toolbox_path(s.dir, "shared"), &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	assert_int_equal(st.st_size, sizeof(page));
	page = shared_page(&s);
	assert_true(page.magic == VT_RING_MAGIC);
	assert_int_equal(page.next_id, 1);
	assert_int_equal(page.stop, 0);
	/* Nothing is waited for, with recorders or without. */
	assert_int_equal(vt_recording_read(s.rec, &err), 0);
	rings_end(&s.ring);
	assert_int_equal(vt_recording_read(s.rec, &err), 0);
	/* At the end rings go, but nothing that belongs to others. */
	toolbox_write(s.dir, "ring.7.0", "");
	toolbox_write(s.dir, "ring", "");
	toolbox_write(s.dir, "string.1", "");
	dir = s.dir;
	s.dir = toolbox_dir();
	recordings_close(&s, "");
	expect_files(dir, "ring\nstring.1\n");
	toolbox_remove(dir);
}

/* Lets the next file that is opened have number 0; what to give to keep_input(). */
static int leave_input(void)
{
	int saved = dup(STDIN_FILENO);

	assert_true(saved >= 0);
	close(STDIN_FILENO);
	return saved;
}

static void keep_input(int saved)
{
	assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
	close(saved);
}

/* Nobody is warned who did not ask for it.  The directory is open as file 0 here. */
static void no_warnings(void **state)
{
	const struct vt_ring_message m = {.type = VT_RING_HELLO, .pid = 600, .ppid = 1};
	const struct vt_ring_lost lost = {.count = 1, .text_length = 3};
	struct vt_error err = VT_ERROR_INIT;
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	char *dir = toolbox_dir();
	int saved = leave_input();
	struct vt_recording *rec = vt_recording_open(dir, w, &none, &err);
	struct rings r;

	(void)state;
	assert_non_null(rec);
	assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0);
	rings_begin(&r, rec, dir, PID, 40, 0);
	assert_int_equal(write(r.control, &m, sizeof(m)), sizeof(m));
	assert_int_equal(vt_recording_read(rec, &err), 1);
	rings_event(&r, VT_RING_LOST, PID, &lost, sizeof(lost), "why", 3);
	rings_end(&r);
	assert_int_equal(vt_recording_summary(rec)->gaps, 1);
	assert_int_equal(vt_recording_summary(rec)->left_out, 1);
	vt_recording_close(rec);
	assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
	keep_input(saved);
	expect_files(dir, "");
	vt_reader_close(reread_stream(fd, w));
	close(fd);
	toolbox_remove(dir);
}

/* ---- messages ---- */

static void write_message(struct recordings *s, const void *data, size_t size)
{
	struct vt_error err = VT_ERROR_INIT;

	assert_int_equal(write(s->ring.control, data, size), (ssize_t)size);
	assert_int_equal(vt_recording_read(s->rec, &err), 1);
}

/* One may come in pieces, and several at once; those that name nobody change nothing. */
static void messages(void **state)
{
	struct vt_ring_message m[2] = {{.type = VT_RING_HELLO, .pid = 1, .ppid = 40},
				       {.type = VT_RING_HELLO, .pid = 2, .ppid = 40}};
	static const char want[] = "process 1: ring.1.0: No such file or directory\n"
				   "process 2: ring.2.0: No such file or directory\n";
	struct recordings s;

	(void)state;
	recordings_open(&s, &none);
	write_message(&s, m, 5);
	assert_int_equal(s.warnings.size, 0);
	write_message(&s, (const uint8_t *)m + 5, sizeof(m) - 5);
	assert_string_equal(vt_buf_str(&s.warnings), want);
	m[0].pid = 0;
	m[1].pid = -1;
	write_message(&s, m, sizeof(m));
	m[0] = (struct vt_ring_message){.type = VT_RING_BYE, .pid = 3};
	m[1] = (struct vt_ring_message){.type = VT_RING_DATA, .pid = 3};
	write_message(&s, m, sizeof(m));
	assert_string_equal(vt_buf_str(&s.warnings), want);
	rings_end(&s.ring);
	recordings_close(&s, "GAP TIME=0 PID=1 TID=1 BYTES=0 REASON=ring.1.0: No such file or "
			     "directory\nGAP TIME=0 PID=2 TID=2 BYTES=0 REASON=ring.2.0: No such "
			     "file or directory\n");
}

static void expect_running(const struct recordings *s, int32_t first, int32_t second, int32_t third)
{
	assert_int_equal(vt_recording_running(s->rec, 0), first);
	assert_int_equal(vt_recording_running(s->rec, 1), second);
	assert_int_equal(vt_recording_running(s->rec, 2), third);
	assert_int_equal(vt_recording_running(s->rec, 3), 0);
}

static void several_processes(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct rings second, third;
	struct recordings s;

	(void)state;
	recordings_open(&s, &none);
	rings_begin(&second, s.rec, s.dir, 600, 41, 0);
	rings_begin(&third, s.rec, s.dir, 550, 42, 0);
	expect_running(&s, 500, 600, 550);
	expect_files(s.dir, "control\nring.500.0\nring.550.0\nring.600.0\nshared\n");
	rings_end(&second);
	expect_running(&s, 500, 550, 0);
	expect_files(s.dir, "control\nring.500.0\nring.550.0\nshared\n");
	assert_int_equal(vt_recording_dead(s.rec, 600, &err), 0);
	expect_running(&s, 500, 550, 0);
	rings_drop(&third);
	assert_int_equal(vt_recording_dead(s.rec, 550, &err), 0);
	expect_running(&s, 500, 0, 0);
	rings_end(&s.ring);
	expect_running(&s, 0, 0, 0);
	/* The child of 42 that was killed. */
	recordings_close(&s, "THREAD TIME=1000 PID=550 TID=550 OP=3 PPID=42 PTID=550 COMM\n");
}

/* ---- programs of one process ---- */

/* Lets another program begin in the process, with a ring of its own. */
static void begin_next(struct recordings *s)
{
	struct rings next;

	rings_begin(&next, s->rec, s->dir, PID, 40, 1);
	rings_drop(&s->ring);
	s->ring = next;
}

/* Its blocks and instructions go on; what the first had not handed over is read. */
static void next_program(void **state)
{
	struct vt_recording_summary sum;
	struct recordings s;
	struct stat st;

	(void)state;
	open_begun(&s, &none);
	rings_run(&s.ring, 1, NULL, 0);
	rings_flush(&s.ring);
	rings_run(&s.ring, 1, NULL, 0);
	begin_next(&s);
	/* The former ring keeps its name only. */
	assert_false(recordings_mapped(&s, "ring.500.0"));
	assert_true(recordings_mapped(&s, "ring.500.1"));
	assert_int_equal(stat(toolbox_path(s.dir, "ring.500.0"), &st), 0);
	assert_int_equal(st.st_size, 0);
	expect_running(&s, PID, 0, 0);
	rings_start(&s.ring, 40, 0, "q");
	rings_block(&s.ring, 2, 2, NULL, 0);
	rings_run(&s.ring, 2, NULL, 0);
	rings_end(&s.ring);
	expect_files(s.dir, "control\nshared\n");
	sum = recordings_close(&s, START BLOCK("1", "4096") EXEC("1000", "0", "1")
					   EXEC("1001", "2", "1") ROW("1", "=71") BLOCK("2", "8192")
						   EXEC("1000", "4", "2"));
	assert_int_equal(sum.processes, 2);
	assert_int_equal(sum.insns, 6);
}

/*
 * What was known of the first program is not said of the second.  In a buffer that was not handed
 * over, all of RINGS_DATA may be values.
 */
static void next_program_begins_anew(void **state)
{
	struct vt_recording_summary sum;
	struct recordings s;

	(void)state;
	/* One that should not have been recorded. */
	open_begun(&s, &none);
	put_exec(&s, 0);
	begin_next(&s);
	rings_start(&s.ring, 40, 0, "p");
	rings_end(&s.ring);
	sum = recordings_close(&s, START BLOCK("1", "4096") START);
	assert_int_equal(sum.unfollowed, 0);
	/* The first one's ring was false. */
	open_begun(&s, &none);
	rings_event(&s.ring, VT_RING_HEAP + 1, PID, NULL, 0, NULL, 0);
	begin_next(&s);
	rings_start(&s.ring, 40, 0, "p");
	rings_end(&s.ring);
	assert_string_equal(vt_buf_str(&s.warnings), "process 500: an event of unknown type\n");
	recordings_close(&s, START BLOCK("1", "4096")
				     GAP("500", "32768", "an event of unknown type") START);
	/* The first one said how it ends, but the second one is killed. */
	open_begun(&s, &none);
	rings_number(&s.ring, VT_RING_EXIT, PID, 0);
	begin_next(&s);
	rings_start(&s.ring, 40, 0, "p");
	kill_process(&s);
	sum = recordings_close(&s, START BLOCK("1", "4096") EXIT START EXIT);
	assert_int_equal(sum.cut, 1);
}

/* Nothing but the first thread is known of a program whose ring is none. */
static void next_program_without_ring(void **state)
{
	static const char why[] = "ring.500.1: No such file or directory";
	const struct vt_ring_message m = {.type = VT_RING_HELLO, .pid = PID, .ppid = 40, .seq = 1};
	struct recordings s;
	struct stat st;
	int saved;

	(void)state;
	open_begun(&s, &none);
	rings_event(&s.ring, VT_RING_SWITCH, 502, NULL, 0, NULL, 0);
	rings_flush(&s.ring);
	saved = leave_input();
	write_message(&s, &m, sizeof(m));
	keep_input(saved);
	assert_int_equal(stat(toolbox_path(s.dir, "ring.500.0"), &st), 0);
	assert_int_equal(st.st_size, 0);
	expect_running(&s, 0, 0, 0);
	assert_non_null(strstr(vt_buf_str(&s.warnings), why));
	rings_drop(&s.ring);
	recordings_close(&s,
			 START BLOCK("1", "4096") "GAP TIME=1001 PID=500 TID=500 BYTES=0 "
						  "REASON=ring.500.1: No such file or directory\n");
}

/* A child that was forked, and what is left out without a number. */
static void forked_child(void **state)
{
	const struct vt_ring_lost lost = {.text_length = 3};
	const struct vt_ring_fork fork = {.child = 1};
	struct vt_recording_summary sum;
	struct recordings s;

	(void)state;
	recordings_open(&s, &none);
	rings_start(&s.ring, 40, 1, "p");
	rings_event(&s.ring, VT_RING_FORK, PID, &fork, sizeof(fork), NULL, 0);
	rings_event(&s.ring, VT_RING_LOST, PID, &lost, sizeof(lost), "why", 3);
	rings_end(&s.ring);
	assert_string_equal(vt_buf_str(&s.warnings), "process 500: left out: why\n");
	sum = recordings_close(&s, "THREAD TIME=1000 PID=500 TID=500 OP=2 PPID=40 PTID=40 COMM\n"
				   "LOST TIME=1000 PID=500 TID=500 COUNT=0 SOURCE=776879\n");
	assert_int_equal(sum.processes, 0);
	assert_int_equal(sum.unfollowed, 1);
	assert_int_equal(sum.left_out, 1);
}

/* ---- processes that are killed ---- */

static void killed(void **state)
{
	enum { PLAIN, EXITED, BROKEN, STOPPED, FOLLOWED, UNFOLLOWED, WAYS };
	static const struct {
		const char *want;
		uint64_t cut, unfollowed;
	} rows[WAYS] = {
		[PLAIN] = {START BLOCK("1", "4096") EXEC("1000", "0", "1") EXIT, 1, 0},
		[EXITED] = {START BLOCK("1", "4096") EXEC("1000", "0", "1") EXIT, 0, 0},
		[BROKEN] = {START BLOCK("1", "4096") EXEC("1000", "0", "1")
				    GAP("500", "32772", "an event of unknown type") EXIT,
			    0, 0},
		[STOPPED] = {"", 0, 0},
		[FOLLOWED] = {START BLOCK("1", "4096") EXEC("1000", "0", "1") ROW("1", "=6e657874"),
			      0, 1},
		[UNFOLLOWED] = {START BLOCK("1", "4096") EXEC("1000", "0", "1")
					ROW("1", "=6e657874"),
				0, 1},
	};
	int way;

	(void)state;
	for (way = 0; way < WAYS; way++) {
		struct vt_recording_summary sum;
		struct recordings s;

		open_begun(&s, &none);
		rings_run(&s.ring, 1, NULL, 0);
		if (way == EXITED)
			rings_number(&s.ring, VT_RING_EXIT, PID, 0);
		if (way == BROKEN)
			rings_event(&s.ring, VT_RING_HEAP + 1, PID, NULL, 0, NULL, 0);
		if (way == STOPPED)
			vt_recording_stop(s.rec);
		if (way == FOLLOWED || way == UNFOLLOWED)
			put_exec(&s, way == FOLLOWED);
		kill_process(&s);
		expect_files(s.dir, "control\nshared\n");
		sum = recordings_close(&s, rows[way].want);
		assert_int_equal(sum.cut, rows[way].cut);
		assert_int_equal(sum.unfollowed, rows[way].unfollowed);
	}
}

/* ---- rings that are false ---- */

/* One warning; nothing more is read, but the buffers are given back. */
static void false_buffers(void **state)
{
	static const char why[] = "process 500: a buffer with false bounds\n";
	struct recordings s;
	int i;

	(void)state;
	open_begun(&s, &none);
	s.ring.ring->buffers[0].number = 1;
	for (i = 0; i < 5; i++) {
		rings_flush(&s.ring); /* asserts that the next one is free */
		if (i == 2)
			s.ring.ring->buffers[i % 3].number = 0;
		rings_run(&s.ring, 1, NULL, 0);
	}
	assert_string_equal(vt_buf_str(&s.warnings), why);
	kill_process(&s);
	assert_string_equal(vt_buf_str(&s.warnings), why);
	assert_int_equal(vt_recording_summary(s.rec)->cut, 0);
	recordings_close(&s, "GAP TIME=0 PID=500 TID=500 BYTES=0 REASON=a buffer with false "
			     "bounds\nTHREAD TIME=0 PID=500 TID=500 OP=3 PPID=40 PTID=500 COMM\n");
	/* The last one, of a process that is killed. */
	open_begun(&s, &none);
	rings_flush(&s.ring);
	s.ring.ring->buffers[1].number = 2;
	kill_process(&s);
	assert_string_equal(vt_buf_str(&s.warnings),
			    "process 500: a last buffer with false bounds\n");
	recordings_close(&s, START BLOCK("1", "4096")
				     GAP("500", "0", "a last buffer with false bounds") EXIT);
}

/* A gap tells how many bytes the buffer has, and which thread runs. */
static void size_of_gaps(void **state)
{
	struct recordings s;

	(void)state;
	open_begun(&s, &none);
	rings_event(&s.ring, VT_RING_SWITCH, 502, NULL, 0, NULL, 0);
	rings_run(&s.ring, 7, "abcde", 5);
	rings_run(&s.ring, 7, NULL, 0);
	rings_end(&s.ring);
	recordings_close(&s,
			 START BLOCK("1", "4096") GAP("502", "13", "an undeclared basic block"));
}

/* ---- the end of the window ---- */

/* When it is over, recorders are told, unless other processes are recorded, too. */
static void stop_after_window(void **state)
{
	struct vt_recording_options opt = {.count = 3};
	struct vt_ring_shared page;
	struct recordings s;
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		opt.follow = i == 1;
		open_begun(&s, &opt);
		rings_run(&s.ring, 1, NULL, 0);
		rings_flush(&s.ring);
		assert_int_equal(shared_page(&s).stop, 0);
		rings_run(&s.ring, 1, NULL, 0);
		rings_flush(&s.ring);
		page = shared_page(&s);
		assert_int_equal(page.stop, i == 0);
		assert_true(page.magic == VT_RING_MAGIC);
		rings_number(&s.ring, VT_RING_EXIT, PID, 0);
		rings_end(&s.ring);
		recordings_close(
			&s,
			i ? START BLOCK("1", "4096") EXEC(
				    "1000", "0",
				    "1") "EXEC TIME=1001 PID=500 TID=500 FIRST=2 BLOCKS=1 INSNS=1 "
					 "SKIP=0 BASE=1 WIDTH=2 IDS=0000 DATA\n"
					 "THREAD TIME=1002 PID=500 TID=500 OP=3 PPID=40 PTID=500 "
					 "COMM\n"
			  : START BLOCK("1", "4096") EXEC(
				    "1000", "0",
				    "1") "EXEC TIME=1001 PID=500 TID=500 FIRST=2 BLOCKS=1 INSNS=1 "
					 "SKIP=0 BASE=1 WIDTH=2 IDS=0000 DATA\n");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(directory),
		cmocka_unit_test(no_warnings),
		cmocka_unit_test(messages),
		cmocka_unit_test(several_processes),
		cmocka_unit_test(next_program),
		cmocka_unit_test(next_program_begins_anew),
		cmocka_unit_test(next_program_without_ring),
		cmocka_unit_test(forked_child),
		cmocka_unit_test(killed),
		cmocka_unit_test(false_buffers),
		cmocka_unit_test(size_of_gaps),
		cmocka_unit_test(stop_after_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
