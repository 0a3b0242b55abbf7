/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stacks that were sampled by instructions, which are counted in the code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "stream/kinds.h"
#include "tests/unit/common/profiles.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/common/toolbox.h"
#include "tests/unit/freq/stacks.h"

static struct vt_error err;
static char *dir;
static struct vt_images *images;

/* A run of three instructions at 0, of one at 8, and of two at 0x10. */
static const char program[] = ".text\n.globl _start\n_start:\n"
			      "nop\nnop\njmp eight\n"
			      ".org 8\neight: jmp sixteen\n"
			      ".org 16\nsixteen: nop\njmp _start\n";

#define TEXT 0x401000 /* where it is linked to */

static const uint64_t from[] = {2, 8, 0x11};
static const uint64_t to[] = {8, 0x10, 0};

/* Five branches, newest first: which branch of the program the newest is. */
static void put_insn_stack(struct vt_writer *w, unsigned newest)
{
	uint64_t branches[5][3];
	unsigned i;

	for (i = 0; i < 5; i++) {
		unsigned at = (newest + 30 - i) % 3;

		branches[i][0] = TEXT - STACKS_BASE + from[at];
		branches[i][1] = TEXT - STACKS_BASE + to[at];
		branches[i][2] = 0;
	}
	stacks_put(w, 9, 120, (const uint64_t(*)[3])branches, 5);
}

static void put_insn_event(struct vt_writer *w, const char *name)
{
	stacks_event(w, 9, STACKS_ANY);
	vt_writer_text(w, VT_EVENT_NAME, name);
}

static struct vt_writer *begin_insns(int fd)
{
	struct vt_writer *w = start_stream(fd);
	const char *path = toolbox_path(dir, "p");
	uint64_t *row = vt_writer_row(w, VT_IMAGE);

	row[VT_IMAGE_ID] = 7;
	row[VT_IMAGE_TYPE] = VT_IMAGE_FILE;
	vt_writer_text(w, VT_IMAGE_PATH, path);
	row = vt_writer_row(w, VT_MAP);
	row[VT_MAP_PID] = 5;
	row[VT_MAP_START] = TEXT;
	row[VT_MAP_LENGTH] = 4096;
	row[VT_MAP_OFFSET] = 0x1000;
	row[VT_MAP_IMAGE] = 7;
	row[VT_MAP_PROT] = 5;
	return w;
}

static struct vt_stackcount *read_insns(struct vt_writer *w, int fd)
{
	struct vt_context *context = vt_context_new(images);
	struct vt_stackcount *c = vt_stackcount_new(context, 2);

	assert_non_null(c);
	vt_context_add(context, &(struct vt_consumer){.record = vt_stackcount_feed,
						      .arg = c,
						      .kinds = VT_STACKCOUNT_KINDS});
	read_context(context, fd, w);
	assert_int_equal(vt_stackcount_finish(c, &err), 0);
	vt_context_free(context);
	return c;
}

static double count_at(const struct vt_stackcount *c, uint64_t offset)
{
	return vt_stackcount_count(&stacks_only(c, 9, true, 0x1000 + offset)->sum);
}

/*
 * The loop has six instructions.  Of six stacks with a period of 120, three are taken in the run at
 * 0, two in that at 0x10 and one in that at 8, as they are long: each stack counts for 120 divided
 * by the length of that, and each of its four runs for a fourth.  All runs are executed 120 times.
 */
static void test_by_length(void **state)
{
	static const unsigned newest[] = {2, 2, 2, 1, 1, 0};
	int fd = scratch_file();
	struct vt_writer *w = begin_insns(fd);
	const struct vt_stackcount_event *e;
	struct vt_stackcount *c;
	unsigned i;

	(void)state;
	put_insn_event(w, "instructions:u");
	for (i = 0; i < 6; i++)
		put_insn_stack(w, newest[i]);
	c = read_insns(w, fd);
	e = vt_stackcount_event(c, 9);
	assert_true(e && e->counted && !e->timed && e->stacks == 6);
	/* 40 of each in the run at 0, 60 at 0x10, and 120 at 8; of six. */
	assert_true(stacks_near(e->weight, (3 * 10 + 2 * 15 + 30) / 6.0));
	/* Behind 2: 0x10, 8, 0, 0x10.  Behind 1: 8, 0, 0x10, 8.  Behind 0: 0, 0x10, 8, 0. */
	assert_true(stacks_near(count_at(c, 0), 3 * 10 + 2 * 15 + 2 * 30));
	assert_true(stacks_near(count_at(c, 8), 3 * 10 + 2 * 2 * 15 + 30));
	assert_true(stacks_near(count_at(c, 0x10), 3 * 2 * 10 + 2 * 15 + 30));
	assert_true(stacks_near(count_at(c, 0) + count_at(c, 8) + count_at(c, 0x10), 3 * 120));
	assert_true(stacks_near(stacks_only(c, 9, true, 0x1008)->sum.bias, 0.02 * 120));
	vt_stackcount_free(c);
}

/* An event that is told of again, and is another: stacks stay what they were when they came. */
static void test_told_again(void **state)
{
	static const char *const names[] = {"instructions", "branches"};
	unsigned i;

	(void)state;
	for (i = 0; i < 2; i++) {
		int fd = scratch_file();
		struct vt_writer *w = begin_insns(fd);
		struct vt_stackcount *c;

		put_insn_event(w, names[i]);
		put_insn_stack(w, 2);
		put_insn_event(w, names[!i]);
		put_insn_stack(w, 2);
		c = read_insns(w, fd);
		/* One counts for 120 / 4, the other for a third of that. */
		assert_true(stacks_near(vt_stackcount_event(c, 9)->weight, (30 + 10) / 2.0));
		vt_stackcount_free(c);
	}
}

static int begin(void **state)
{
	static const struct vt_images_options none = {.warn = NULL};

	(void)state;
	dir = toolbox_assemble(program);
	images = vt_images_new(&none, &err);
	return !images;
}

static int end(void **state)
{
	(void)state;
	vt_images_free(images);
	toolbox_remove(dir);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_length),
		cmocka_unit_test(test_told_again),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
