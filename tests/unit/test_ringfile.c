/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that a recorded program offers as rings: what of their headers is believed. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/recording/session.h"
#include "toolbox.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define HEAD	     sizeof(struct vt_ring)

/* A file of this header and size in a directory; whether it is taken, or else why not. */
static const char *try_ring(const char *dir, const struct vt_ring *head, size_t size)
{
	static struct vt_error err;
	struct rc_ring ring;
	int at = open(dir, O_RDONLY | O_DIRECTORY), code;
	int fd = openat(at, "ring", O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(at >= 0 && fd >= 0);
	assert_int_equal(write(fd, head, HEAD), HEAD);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	close(fd);
	code = vti_rc_ring_map(&ring, at, "ring", &err);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(areas_lie_in_the_file),
		cmocka_unit_test(numbers_and_sizes),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
