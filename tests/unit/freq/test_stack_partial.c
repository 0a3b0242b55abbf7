/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stacks that lack branches or cycles, whose branches are not all of one kind, or that are weighed
 * by instructions.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "freq/stack_count.h"
#include "freq/stack_length.h"
#include "stream/kinds.h"
#include "tests/unit/common/profiles.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/common/toolbox.h"
#include "tests/unit/freq/stacks.h"

static struct vt_error err;

/*
 * 32 mispredicted branches and none that was predicted are what is left of others.  One predicted
 * branch more shows that all are there, and one branch less may be chance.
 */
static void test_partial(void **state)
{
	static const struct {
		size_t mispredicted, predicted;
		bool partial;
	} cases[] = {{32, 0, true}, {31, 0, false}, {31, 1, false}, {0, 32, false}, {0, 0, false}};
	uint64_t stack[32][3], id;
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t n = cases[i].mispredicted + cases[i].predicted;
		int fd = scratch_file();
		struct vt_writer *w = stacks_begin(fd);
		struct vt_stackcount *c;

		n = n ? n : 32;
		for (k = 0; k < n; k++) {
			stack[k][0] = 0x20;
			stack[k][1] = 0x10;
			stack[k][2] = k < cases[i].mispredicted ? STACKS_MISPREDICTED
				      : cases[i].predicted	? STACKS_PREDICTED
								: 0;
		}
		stacks_put(w, 6, 100, (const uint64_t(*)[3])stack, n);
		c = stacks_read(w, fd);
		assert_int_equal(vt_stackcount_partial(c, &id), cases[i].partial);
		if (cases[i].partial) {
			assert_int_equal(id, 6);
			assert_null(vt_stackcount_event(c, 6));
			assert_null(vt_stackcount_best(c, 6));
		} else {
			assert_non_null(vt_stackcount_event(c, 6));
			assert_non_null(vt_stackcount_best(c, 6));
		}
		vt_stackcount_free(c);
	}
}

/* Calls only, by the event's filter; those of a chain are not told of. */
static void test_filtered(void **state)
{
	static const uint64_t stack[][3] = {{0x20, 0x10, 9}, {0x30, 0x18, 7}};
	int fd = scratch_file();
	struct vt_writer *w = stacks_begin(fd);
	struct vt_stackcount *c;
	uint64_t id;

	(void)state;
	stacks_event(w, 4, 16); /* PERF_SAMPLE_BRANCH_ANY_CALL */
	stacks_put(w, 3, 100, stack, 2);
	stacks_put(w, 4, 100, stack, 2);
	c = stacks_read(w, fd);
	assert_true(vt_stackcount_partial(c, &id));
	assert_int_equal(id, 4);
	vt_stackcount_free(c);
}

/* Cycles of some of the branches, the newest of which is there twice; the next stack has more. */
static void test_few_flags(void **state)
{
	static const double weights[] = {100, 50, (100 / (0.75 * 16) + 100 / (0.75 * 128)) / 2};
	static const uint64_t from[] = {STACKS_BASE + 0x30, STACKS_BASE + 0x30, STACKS_BASE + 0x20,
					STACKS_BASE + 0x20};
	static const uint64_t to[] = {STACKS_BASE + 0x40, STACKS_BASE + 0x40, STACKS_BASE + 0x10,
				      STACKS_BASE + 0x10};
	static const uint64_t flags[] = {1 << 4, 16 << 4};
	static const uint64_t next[][3] = {{0x90, 0x80, 128}, {0x90, 0x80, 128}};
	size_t n;

	(void)state;
	/* None, those of what is left out alone, and one more. */
	for (n = 0; n < 3; n++) {
		int fd = scratch_file();
		struct vt_writer *w = stacks_begin(fd);
		uint64_t *row = vt_writer_row(w, VT_SAMPLE), event = n == 2 ? 1 : 2;
		struct vt_stackcount *c;

		row[VT_SAMPLE_PID] = 5;
		row[VT_SAMPLE_EVENT] = event;
		row[VT_SAMPLE_PERIOD] = 100;
		vt_writer_words(w, VT_SAMPLE_BR_FROM, from, 4 - (n == 0));
		vt_writer_words(w, VT_SAMPLE_BR_TO, to, 4 - (n == 0));
		vt_writer_words(w, VT_SAMPLE_BR_FLAGS, flags, n);
		stacks_put(w, 1, 100, next, 2);
		c = stacks_read(w, fd);
		assert_true(vt_stackcount_event(c, event)->timed == (n == 2));
		assert_true(stacks_near(vt_stackcount_event(c, event)->weight, weights[n]));
		vt_stackcount_free(c);
	}
}

/*
 * Stacks within one cycle, but for what was before the oldest branch, tell no time: they do not
 * count where others have cycles, whichever come first, unless as many as wait at once have been
 * counted by then.
 */
static void test_no_cycles(void **state)
{
	static const uint64_t none[][3] = {{0x20, 0x10, 0}, {0x30, 0x18, 0}, {0x40, 0x28, 7}};
	static const uint64_t some[][3] = {{0x20, 0x10, 9}, {0x30, 0x18, 7}, {0x40, 0x28, 9}};
	static const struct {
		unsigned before, after;
		bool timed;
	} rows[] = {{0, 2, true}, {2, 0, true}, {16384, 1, true}, {16385, 1, false}};
	unsigned i, k;

	(void)state;
	for (i = 0; i < 4; i++) {
		unsigned all = rows[i].before + rows[i].after + 1;
		int fd = scratch_file();
		struct vt_writer *w = stacks_begin(fd);
		const struct vt_stackcount_event *e;
		struct vt_stackcount *c;

		for (k = 0; k < all; k++)
			stacks_put(w, 1, 100, k == rows[i].before ? some : none, 3);
		c = stacks_read(w, fd);
		e = vt_stackcount_event(c, 1);
		assert_true(e->timed == rows[i].timed);
		/* 16 cycles; or two runs. */
		assert_int_equal(e->stacks, e->timed ? 1 : all);
		assert_true(stacks_near(e->weight, e->timed ? 100 / (0.75 * 16) : 50));
		assert_int_equal(stacks_only(c, 1, true, 0x28)->stacks, e->stacks);
		vt_stackcount_free(c);
	}
}

/*
 * A return from the kernel, in stacks of user code only: the run before it does not end there, and
 * the one behind it is as any other.  It takes its part of the stack all the same.
 */
static void test_kernel(void **state)
{
	static const uint64_t kernel = 0xffffffff81000000 - STACKS_BASE;
	const uint64_t stack[][3] = {
		{0x20, 0x10, 0}, {kernel, 0x18, 0}, {0x50, 0x48, 0}, {0x40, 0x28, 0}};
	const uint64_t newest[][3] = {{kernel, 0x18, 0}, {0x50, 0x48, 0}, {0x40, 0x28, 0}};
	int fd = scratch_file();
	struct vt_writer *w = stacks_begin(fd);
	struct vt_stackcount *c;
	size_t n;

	(void)state;
	stacks_put(w, 6, 300, stack, 4);
	stacks_put(w, 6, 100, newest, 3);
	c = stacks_read(w, fd);
	assert_true(stacks_near(vt_stackcount_count(&stacks_only(c, 6, true, 0x18)->sum), 100));
	assert_true(stacks_near(vt_stackcount_count(&stacks_only(c, 6, true, 0x28)->sum), 150));
	vt_stackcount_links(c, 6, 7, 0, true, 0x48, 0x49, &n);
	assert_int_equal(n, 0);
	vt_stackcount_links(c, 6, 7, 0, false, 0, UINT64_MAX, &n);
	assert_int_equal(n, 2);
	vt_stackcount_free(c);
}

/*
 * A hundred stacks that are all taken in one phase of a loop: six runs of one arm, then two of the
 * other, of which the phase shows too few or too many.  Parts of the latter are 0, 0, 0 and 2000:
 * their variance is 4/3 of the sum of squares, 3e6, of which a hundredth is chance; the limits hold
 * half of all runs, and none.
 */
static void test_in_phase(void **state)
{
	uint64_t stack[9][3];
	int fd = scratch_file();
	struct vt_writer *w = stacks_begin(fd);
	const struct vt_stackcount_link *l;
	struct vt_stackcount *c;
	double sigma;
	unsigned i;

	(void)state;
	for (i = 0; i < 9; i++) {
		stack[i][0] = i < 6 ? 0x20 : 0x40;
		/* The run to a branch begins where the older one led. */
		stack[i][1] = i >= 1 && i <= 6 ? 0x10 : 0x30;
		stack[i][2] = 0;
	}
	for (i = 0; i < 100; i++)
		stacks_put(w, 6, 80, (const uint64_t(*)[3])stack, 9);
	c = stacks_read(w, fd);
	l = stacks_only(c, 6, true, 0x30);
	stacks_assert_sum(l, 0, 0, 0, 2000);
	sigma = vt_stackcount_sigma(&l->sum);
	assert_true(fabs(sigma - sqrt((4 * 3e6 / 3 - 4e4) * 1.624 * 1.624 + 4e4 + 40 * 40)) < 1e-6);
	assert_true(2000 + 1.645 * sigma > 4000 && 2000 - 1.645 * sigma < 0);
	vt_stackcount_free(c);
}

/* ---- stacks of which the instructions are known ---- */

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

/*
 * What stacks have shown of runs holds for those that come when they were counted: the one more, of
 * a single run of two instructions, was taken in the run at 0, of three.
 */
static void test_known_longer(void **state)
{
	enum { BATCH = 16384 };
	const uint64_t last[][3] = {{TEXT - STACKS_BASE + 0x11, TEXT - STACKS_BASE, 0},
				    {TEXT - STACKS_BASE + 8, TEXT - STACKS_BASE + 0x10, 0}};
	int fd = scratch_file();
	struct vt_writer *w = begin_insns(fd);
	struct vt_stackcount *c;
	unsigned i;

	(void)state;
	put_insn_event(w, "instructions");
	for (i = 0; i < BATCH; i++)
		put_insn_stack(w, 2);
	stacks_put(w, 9, 120, last, 2);
	c = read_insns(w, fd);
	assert_int_equal(vt_stackcount_event(c, 9)->stacks, BATCH + 1);
	assert_true(stacks_near(vt_stackcount_event(c, 9)->weight,
				(BATCH * (120 / 3.0 / 4) + 120 / 3.0) / (BATCH + 1)));
	vt_stackcount_free(c);
}

/* Runs of 3 and 5 instructions, the first twice; a run of none is not known. */
static void test_mean_length(void **state)
{
	struct vt_stacklength l = {0};

	(void)state;
	assert_true(vt_stacklength_mean(&l) == 0);
	vt_stacklength_add(&l, 3, 2);
	vt_stacklength_add(&l, 5, 1);
	vt_stacklength_add(&l, 0, 9);
	vt_stacklength_settle(&l, false);
	assert_true(stacks_near(vt_stacklength_mean(&l), 11 / 3.0));
	/* That was forgotten; 4 is kept, to which 8 is added for once. */
	vt_stacklength_settle(&l, false);
	assert_true(vt_stacklength_mean(&l) == 0);
	vt_stacklength_add(&l, 4, 1);
	vt_stacklength_settle(&l, true);
	assert_true(vt_stacklength_mean(&l) == 4);
	vt_stacklength_add(&l, 8, 1);
	vt_stacklength_settle(&l, false);
	assert_true(vt_stacklength_mean(&l) == 6);
	vt_stacklength_settle(&l, false);
	assert_true(vt_stacklength_mean(&l) == 4);
	vt_stacklength_add(&l, 7, 2);
	vt_stacklength_settle(&l, true);
	assert_true(vt_stacklength_mean(&l) == 6 && l.runs == 3 && l.insns == 18);
}

/* From the first instruction to the last one, which both are to be instructions. */
static void test_decode(void **state)
{
	static const struct {
		uint64_t first, last;
		uint16_t insns;
	} rows[] = {{0, 0, 1},	     {0, 1, 2}, {0, 2, 3}, {2, 2, 1},	   {8, 8, 1},
		    {0x10, 0x11, 2}, {0, 3, 0}, {2, 0, 0}, {0x10, 0x12, 0}};
	const struct vt_images_options none = {.warn = NULL};
	struct vt_images *own = vt_images_new(&none, &err);
	const char *path = toolbox_path(dir, "p");
	struct vt_map m = {

		.start = TEXT,
		.end = TEXT + 4096,
		.base = TEXT - 0x1000,
		.image = 7,
		.type = VT_IMAGE_FILE};
	unsigned i;

	(void)state;
	assert_non_null(own);
	assert_int_equal(vt_images_add(own, 7, VT_IMAGE_FILE, path, strlen(path), NULL, 0, &err),
			 0);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t first = TEXT + rows[i].first, last = TEXT + rows[i].last;

		assert_int_equal(vt_stacklength_decode(own, &m, first, last), rows[i].insns);
		assert_int_equal(vt_stacklength_decode(NULL, &m, first, last), 0);
	}
	m.type = VT_IMAGE_ANON;
	assert_int_equal(vt_stacklength_decode(own, &m, TEXT, TEXT), 0);
	m.type = VT_IMAGE_FILE;
	m.image = 8;
	assert_int_equal(vt_stacklength_decode(own, &m, TEXT, TEXT), 0);
	vt_images_free(own);
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
		cmocka_unit_test(test_partial),	     cmocka_unit_test(test_filtered),
		cmocka_unit_test(test_few_flags),    cmocka_unit_test(test_no_cycles),
		cmocka_unit_test(test_kernel),	     cmocka_unit_test(test_in_phase),
		cmocka_unit_test(test_by_length),    cmocka_unit_test(test_told_again),
		cmocka_unit_test(test_known_longer), cmocka_unit_test(test_mean_length),
		cmocka_unit_test(test_decode),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
