/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that a recorded program offers as rings: what of their headers is believed, and of
 * their buffers. */
#define _DEFAULT_SOURCE /* syscall(): libc has no function for futex(2) */

#include <fcntl.h>
#include <linux/futex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/recording/session.h"
#include "tests/unit/common/toolbox.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define HEAD	     sizeof(struct vt_ring)

/* A file of this header and size in a directory; whether it is taken, or else why not. */
static const char *try_ring(const char *dir, const struct vt_ring *head, size_t size)
{
	static struct vt_error err;
	struct rc_ring ring;
	int at = open(dir, O_RDONLY | O_DIRECTORY), code;
	int fd = openat(at, "ring", O_WRONLY | O_CREAT | O_TRUNC, 0600), saved;

	assert_true(at >= 0 && fd >= 0);
	assert_int_equal(write(fd, head, HEAD), HEAD);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	close(fd);
	/* As the first file that a program opens. */
	saved = dup(STDIN_FILENO);
	close(STDIN_FILENO);
	code = vti_rc_ring_map(&ring, at, "ring", &err);
	assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
	dup2(saved, STDIN_FILENO);
	close(saved);
	close(at);
	if (code == 0) {
		assert_int_equal(ring.size, size);
		assert_int_equal(ring.nbuffers, head->nbuffers);
		assert_memory_equal(ring.base, head, HEAD);
	} else {
		assert_int_equal(code, -VT_E_DAMAGED);
	}
	vti_rc_ring_unmap(&ring);
	assert_null(ring.base);
	return code ? err.text : "";
}

/* A header of so many buffers, whose areas are 8 bytes each. */
static struct vt_ring make_head(uint32_t nbuffers)
{
	struct vt_ring h = {.magic = VT_RING_MAGIC, .nbuffers = nbuffers};
	uint32_t i;

	for (i = 0; i < nbuffers && i < VT_RING_BUFFERS; i++) {
		h.buffers[i].ids_offset = h.buffers[i].data_offset = h.buffers[i].events_offset =
			HEAD;
		h.buffers[i].ids_size = h.buffers[i].data_size = h.buffers[i].events_size = 8;
	}
	return h;
}

static void areas_lie_in_the_file(void **state)
{
	static const char bad[] = "ring: bad header";
	static const struct {
		uint64_t offset, size;
		const char *why;
	} rows[] = {
		{HEAD, 64, ""},		  {HEAD, 65, bad},     {HEAD + 8, 56, ""},
		{HEAD + 8, 57, bad},	  {HEAD - 8, 8, bad},  {HEAD + 4, 8, bad},
		{HEAD + 64, 0, ""},	  {HEAD + 64, 1, bad}, {HEAD + 72, 0, bad},
		{UINT64_MAX - 7, 8, bad},
	};
	char *dir = toolbox_dir();
	size_t i;

	(void)state;
	for (i = 0; i < 3 * COUNT(rows); i++) {
		struct vt_ring h = make_head(2);
		struct vt_ring_buffer *b = &h.buffers[1];

		if (i % 3 == 0) {
			b->ids_offset = rows[i / 3].offset;
			b->ids_size = (uint32_t)rows[i / 3].size;
		} else if (i % 3 == 1) {
			b->data_offset = rows[i / 3].offset;
			b->data_size = (uint32_t)rows[i / 3].size;
		} else {
			b->events_offset = rows[i / 3].offset;
			b->events_size = (uint32_t)rows[i / 3].size;
		}
		assert_string_equal(try_ring(dir, &h, HEAD + 64), rows[i / 3].why);
	}
	toolbox_remove(dir);
}

static void numbers_and_sizes(void **state)
{
	static const char bad[] = "ring: bad header", size[] = "ring: no ring of that size";
	static const struct {
		uint32_t nbuffers;
		size_t size;
		const char *why;
	} rows[] = {
		{1, HEAD + 8, ""},
		{0, HEAD + 8, bad},
		{VT_RING_BUFFERS, HEAD + 8, ""},
		{VT_RING_BUFFERS + 1, HEAD + 8, bad},
		{1, HEAD + 7, bad},
		{1, HEAD - 1, size},
		{1, VT_RING_MAX_SIZE, ""},
		{1, (size_t)VT_RING_MAX_SIZE + 1, size},
	};
	char *dir = toolbox_dir();
	struct vt_ring h;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		h = make_head(rows[i].nbuffers);
		assert_string_equal(try_ring(dir, &h, rows[i].size), rows[i].why);
	}
	h = make_head(1);
	h.magic++;
	assert_string_equal(try_ring(dir, &h, HEAD + 8), bad);
	/* No bytes behind the header, and none wanted. */
	h = make_head(1);
	h.buffers[0].ids_size = h.buffers[0].data_size = h.buffers[0].events_size = 0;
	assert_string_equal(try_ring(dir, &h, HEAD), "");
	toolbox_remove(dir);
}

/* A name that is none, leads elsewhere, or is no file. */
static void names(void **state)
{
	static const struct {
		const char *name, *text;
		enum vt_errcode code;
	} rows[] = {
		{"none", "none: No such file or directory", VT_E_READ},
		{"link", "link: Too many levels of symbolic links", VT_E_READ},
		{"dir", "dir: Is a directory", VT_E_READ},
	};
	char *dir = toolbox_dir();
	struct vt_ring h = make_head(1);
	int at = open(dir, O_RDONLY | O_DIRECTORY);
	size_t i;

	(void)state;
	assert_true(at >= 0);
	assert_string_equal(try_ring(dir, &h, HEAD + 8), "");
	free(toolbox_run(dir, "ln -s ring link && mkdir dir"));
	for (i = 0; i < COUNT(rows); i++) {
		struct vt_error err = VT_ERROR_INIT;
		struct rc_ring ring;

		assert_int_equal(vti_rc_ring_map(&ring, at, rows[i].name, &err),
				 -(int)rows[i].code);
		assert_string_equal(err.text, rows[i].text);
		assert_null(ring.base);
	}
	close(at);
	toolbox_remove(dir);
}

/* ---- buffers ---- */

#define IDS    32 /* bytes of the areas, which lie in a row behind the header */
#define DATA   40
#define EVENTS 48
#define MAPPED 0x7000000000 /* where the recorder sees it */

/* A ring of three buffers in memory. */
struct memory {
	struct vt_ring head;
	uint8_t areas[3][IDS + DATA + EVENTS];
	struct rc_ring ring;
};

static void make_memory(struct memory *m)
{
	uint32_t i;

	memset(m, 0, sizeof(*m));
	m->ring.base = (uint8_t *)m;
	m->ring.nbuffers = 3;
	m->ring.mapped = MAPPED;
	for (i = 0; i < 3; i++) {
		m->ring.buffers[i].ids = offsetof(struct memory, areas[i]);
		m->ring.buffers[i].data = m->ring.buffers[i].ids + IDS;
		m->ring.buffers[i].events = m->ring.buffers[i].data + DATA;
		m->ring.buffers[i].ids_size = IDS;
		m->ring.buffers[i].data_size = DATA;
		m->ring.buffers[i].events_size = EVENTS;
	}
}

/* What is told of buffer number 7, the second of its ring. */
static void check_filled(const struct memory *m, const struct rc_filled *f, bool cut, uint32_t ids,
			 uint32_t data, uint32_t events)
{
	assert_int_equal(f->cut, cut);
	assert_int_equal(f->tid, 501);
	assert_int_equal(f->time, 1000);
	assert_ptr_equal(f->ids, m->areas[1]);
	assert_ptr_equal(f->data, m->areas[1] + IDS);
	assert_ptr_equal(f->events, m->areas[1] + IDS + DATA);
	assert_int_equal(f->ids_size, ids);
	assert_int_equal(f->data_size, data);
	assert_int_equal(f->events_size, events);
}

static void full_buffers(void **state)
{
	static const struct {
		uint32_t state, number, ids, data, events;
		int want;
	} rows[] = {
		{VT_RING_FULL, 7, 8, 3, 24, 1},		 {VT_RING_FULL, 7, IDS, DATA, EVENTS, 1},
		{VT_RING_FULL, 7, 0, 0, 0, 1},		 {VT_RING_FREE, 7, 8, 3, 24, 0},
		{VT_RING_FILLING, 7, 8, 3, 24, 0},	 {VT_RING_FULL, 4, 8, 3, 24, -1},
		{VT_RING_FULL, 10, 8, 3, 24, -1},	 {VT_RING_FULL, 7, IDS + 4, 3, 24, -1},
		{VT_RING_FULL, 7, 6, 3, 24, -1},	 {VT_RING_FULL, 7, 8, DATA + 1, 24, -1},
		{VT_RING_FULL, 7, 8, 3, EVENTS + 1, -1},
	};
	struct rc_filled f;
	struct memory m;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		make_memory(&m);
		m.head.buffers[1] = (struct vt_ring_buffer){.state = rows[i].state,
							    .number = rows[i].number,
							    .tid = 501,
							    .time = 1000,
							    .ids = rows[i].ids,
							    .data = rows[i].data,
							    .events = rows[i].events};
		assert_int_equal(vti_rc_ring_full(&m.ring, 7, &f), rows[i].want);
		if (rows[i].want == 1)
			check_filled(&m, &f, false, rows[i].ids, rows[i].data, rows[i].events);
		assert_int_equal(vti_rc_ring_full(&m.ring, 6, &f), 0);
		assert_int_equal(vti_rc_ring_full(&m.ring, 8, &f), 0);
	}
}

/* What a dead recorder left: of the ids up to the first 0 the last may not have been executed. */
static void current_buffers(void **state)
{
	static const struct {
		uint32_t state, current, number;
		int64_t ids_next, data_next; /* bytes into the areas */
		uint32_t nids;		     /* words that are not 0 */
		uint32_t events;
		int want;
		uint32_t ids; /* that are told then */
	} rows[] = {
		{VT_RING_FILLING, 1, 7, 0, 0, 0, 0, 1, 0},
		{VT_RING_FILLING, 1, 7, 8, 3, 2, 24, 1, 8},
		{VT_RING_FILLING, 1, 7, 8, 3, 3, 24, 1, 8},
		{VT_RING_FILLING, 1, 7, 8, 3, 4, EVENTS, 1, 12},
		{VT_RING_FILLING, 1, 7, 8, DATA, 7, 24, 1, 24},
		{VT_RING_FILLING, 1, 7, 0, 0, 8, 24, 1, 28},
		{VT_RING_FILLING, 1, 7, IDS - 4, 0, 8, 24, 1, 28},
		{VT_RING_FILLING, 1, 7, IDS, 0, 8, 24, 1, 32},
		{VT_RING_FILLING, 1, 7, 11, 0, 2, 24, 1, 8},
		{VT_RING_FREE, 1, 7, 8, 3, 2, 24, 0, 0},
		{VT_RING_FULL, 1, 7, 8, 3, 2, 24, 0, 0},
		{VT_RING_FILLING, 2, 7, 8, 3, 2, 24, 0, 0},
		{VT_RING_FILLING, 1, 4, 8, 3, 2, 24, -1, 0},
		{VT_RING_FILLING, 1, 7, IDS + 1, 3, 2, 24, -1, 0},
		{VT_RING_FILLING, 1, 7, -1, 3, 2, 24, -1, 0},
		{VT_RING_FILLING, 1, 7, 8, DATA + 1, 2, 24, -1, 0},
		{VT_RING_FILLING, 1, 7, 8, -1, 2, 24, -1, 0},
		{VT_RING_FILLING, 1, 7, 8, 3, 2, EVENTS + 1, -1, 0},
	};
	struct rc_filled f;
	struct memory m;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		make_memory(&m);
		memset(m.areas[1], 1, rows[i].nids * sizeof(uint32_t));
		m.head.current = rows[i].current;
		m.head.ids_next = MAPPED + m.ring.buffers[1].ids + (uint64_t)rows[i].ids_next;
		m.head.data_next = MAPPED + m.ring.buffers[1].data + (uint64_t)rows[i].data_next;
		m.head.buffers[1] = (struct vt_ring_buffer){.state = rows[i].state,
							    .number = rows[i].number,
							    .tid = 501,
							    .time = 1000,
							    .events = rows[i].events};
		assert_int_equal(vti_rc_ring_current(&m.ring, 7, &f), rows[i].want);
		if (rows[i].want == 1)
			check_filled(&m, &f, true, rows[i].ids, DATA, rows[i].events);
	}
}

static int wait_on(void *state)
{
	static const struct timespec limit = {.tv_sec = 10};

	return syscall(SYS_futex, state, FUTEX_WAIT, VT_RING_FULL, &limit, NULL, 0) == 0;
}

/* A buffer that is given back is free, and whoever waits for it goes on. */
static void released_buffers(void **state)
{
	struct memory m;
	uint32_t *word = &m.head.buffers[1].state;
	thrd_t thread;
	int woken;

	(void)state;
	make_memory(&m);
	m.head.buffers[0].state = m.head.buffers[1].state = m.head.buffers[2].state = VT_RING_FULL;
	assert_int_equal(thrd_create(&thread, wait_on, word), thrd_success);
	/* It tells how many wait, all of which it leaves where they are. */
	while (syscall(SYS_futex, word, FUTEX_CMP_REQUEUE, 0, 1, word, VT_RING_FULL) == 0)
		thrd_yield();
	vti_rc_ring_release(&m.ring, 1);
	assert_int_equal(thrd_join(thread, &woken), thrd_success);
	assert_int_equal(woken, 1);
	assert_int_equal(m.head.buffers[0].state, VT_RING_FULL);
	assert_int_equal(m.head.buffers[1].state, VT_RING_FREE);
	assert_int_equal(m.head.buffers[2].state, VT_RING_FULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(areas_lie_in_the_file),
		cmocka_unit_test(numbers_and_sizes),
		cmocka_unit_test(names),
		cmocka_unit_test(full_buffers),
		cmocka_unit_test(current_buffers),
		cmocka_unit_test(released_buffers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
