/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What branch stacks count. */
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
#include "tests/unit/common/streams.h"
#include "tests/unit/freq/stacks.h"

/*
 * A loop from 0x10 to 0x20, thrice in one stack of 20 cycles.  Its window is the half octave that
 * this is in, 16 cycles; of a period of 100, what is in all of it counts 100 / (16 * 3/4).  The
 * newest branch led to 0x10, 5 cycles behind one that did so, too: so did the one before, which 5
 * cycles followed.  So the newest one was up to 5 / 16 of a window before the sample, all in the
 * flat half, of which the first quarter of the window's area ends at 3 / 16: 3 fifths, and 2.
 * The second one, 5 to 10 cycles: 5/16 to 10/16, of which the flat half takes 3/16, and the slope
 * 1/2 - (3/8)^2 - 1/4; the parts end at 6/16, and where the area is 9/16.  The third one, 10 to 15
 * cycles: (3/8)^2 - (1/16)^2 of the slope.
 */
#define WHOLE  (100 / 12.0)
#define BY_RUN (16 / 5.0) /* 1 by 5 / 16 */

static void test_timed(void **state)
{
	static const uint64_t thrice[][3] = {
		{0x20, 0x10, 5}, {0x20, 0x10, 5}, {0x20, 0x10, 10}, {0x40, 0x10, 9}};
	int fd = scratch_file();
	struct vt_writer *w = stacks_begin(fd);
	double first = WHOLE * 0.6, second = WHOLE * (0.4 + BY_RUN * (6 - 5) / 16);
	double third = WHOLE * BY_RUN * (9 - 6) / 16;
	double fourth = WHOLE * BY_RUN * (12 / 16.0 - 9 / 64.0 - 9 / 16.0 + 9 / 64.0 - 1 / 256.0);
	double count = first + second + third + fourth;
	const struct vt_stackcount_link *l;
	struct vt_stackcount *c;
	size_t n;

	(void)state;
	stacks_put(w, 1, 100, thrice, 4);
	stacks_put(w, 3, 100, thrice, 4);
	c = stacks_read(w, fd);
	assert_true(vt_stackcount_event(c, 1)->timed);
	assert_int_equal(vt_stackcount_event(c, 1)->stacks, 1);
	assert_true(stacks_near(vt_stackcount_event(c, 1)->weight, WHOLE));
	l = stacks_only(c, 1, true, 0x10);
	assert_int_equal(l->to, 0x20);
	assert_int_equal(l->stacks, 1);
	stacks_assert_sum(l, first, second, third, fourth);
	assert_true(stacks_near(l->sum.variance, count * count));
	/* Half of the 2.5 cycles that it was on the average, as a uniform distribution. */
	assert_true(stacks_near(l->sum.bias, count * 0.2887 * 2.5 / 12));
	stacks_assert_sum(stacks_only(c, 1, false, 0x20), first, second, third, fourth);
	/* What the oldest branch came from is not known, and calls on the stack are no branches. */
	vt_stackcount_links(c, 1, 7, 0, false, 0x40, 0x41, &n);
	assert_int_equal(n, 0);
	assert_null(vt_stackcount_event(c, 3));
	assert_ptr_equal(vt_stackcount_best(c, 0), vt_stackcount_event(c, 1));
	vt_stackcount_free(c);
}

/* An empty end, and a newest branch that is there twice though no run leads from it to itself. */
static void test_spoilt(void **state)
{
	static const uint64_t spoilt[][3] = {
		{0x30, 0x40, 1}, {0x30, 0x40, 5},
		{0x20, 0x10, 5}, {0x48, 0x18, 10},
		{0x50, 0x44, 9}, {-(uint64_t)STACKS_BASE, -(uint64_t)STACKS_BASE, 0},
		{0x60, 0x50, 9}};
	static const uint64_t loop[][3] = {{0x20, 0x10, 8}, {0x20, 0x10, 8}, {0x20, 0x10, 8}};
	int fd = scratch_file();
	struct vt_writer *w = stacks_begin(fd);
	struct vt_stackcount *c;
	size_t n;

	(void)state;
	stacks_put(w, 1, 100, spoilt, 7);
	c = stacks_read(w, fd);
	assert_int_equal(stacks_only(c, 1, false, 0x30)->stacks, 1);
	/* 20 cycles, of which 10 are before the second to last branch: all but that one count. */
	assert_true(stacks_near(vt_stackcount_event(c, 1)->weight, 100 / (0.75 * 16)));
	vt_stackcount_links(c, 1, 7, 0, false, 0x50, 0x70, &n);
	assert_int_equal(n, 0);
	vt_stackcount_free(c);
	/* But a loop of one block may be there as often as it likes. */
	fd = scratch_file();
	w = stacks_begin(fd);
	stacks_put(w, 1, 100, loop, 3);
	c = stacks_read(w, fd);
	assert_true(stacks_near(vt_stackcount_event(c, 1)->weight, 100 / (0.75 * 16)));
	vt_stackcount_free(c);
}

/*
 * Where no two branches come in one cycle, a cycle between two is taken for half of one: the stack
 * of 11 + 5 * 1 reaches back 13.5, and the window is half an octave shorter than of 16 cycles.  But
 * not so that there were more branches than cycles, and not if there are others with none.
 */
static void test_ones(void **state)
{
	static const uint64_t few[][3] = {{0x20, 0x10, 11}, {0x20, 0x10, 1}, {0x20, 0x10, 1},
					  {0x20, 0x10, 1},  {0x20, 0x10, 1}, {0x20, 0x10, 1},
					  {0x20, 0x10, 0}};
	static const uint64_t all[][3] = {{0x20, 0x10, 1},
					  {0x20, 0x10, 1},
					  {0x20, 0x10, 1},
					  {0x20, 0x10, 1},
					  {0x20, 0x10, 0}};
	static const uint64_t none[][3] = {{0x20, 0x10, 14},
					   {0x20, 0x10, 1},
					   {0x20, 0x10, 0},
					   {0x20, 0x10, 1},
					   {0x20, 0x10, 9}};
	static const struct {
		const uint64_t (*stack)[3];
		size_t n;
		double window;
	} cases[] = {{few, 7, 8 * 1.4142135623730951}, {all, 5, 4}, {none, 5, 16}};
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		int fd = scratch_file();
		struct vt_writer *w = stacks_begin(fd);
		struct vt_stackcount *c;

		stacks_put(w, 1, 100, cases[i].stack, cases[i].n);
		c = stacks_read(w, fd);
		assert_true(stacks_near(vt_stackcount_event(c, 1)->weight,
					100 / (0.75 * cases[i].window)));
		vt_stackcount_free(c);
	}
}

/*
 * A zero among 20 of them says nothing: 30 cycles and half of 20 are a window of 32.  Among 19 it
 * says that they are as told, 49 cycles.  The newest branch counts as others do.
 */
static void test_few_zeros(void **state)
{
	static const uint64_t newest[][2] = {{30, 1}, {0, 30}, {1, 30}};
	size_t ones, i, k;

	(void)state;
	for (k = 0; k < 6; k++) {
		double window = k % 2 ? 32 : 32 * 1.4142135623730951;
		uint64_t stack[23][3];
		int fd = scratch_file();
		struct vt_writer *w = stacks_begin(fd);
		struct vt_stackcount *c;

		ones = 19 + k % 2;
		for (i = 0; i < ones + 3; i++) {
			stack[i][0] = 0x20;
			stack[i][1] = 0x10;
			stack[i][2] = i < 2 ? newest[k / 2][i] : i <= ones + (k / 2 == 1);
		}
		stacks_put(w, 1, 100, stack, ones + 3);
		c = stacks_read(w, fd);
		assert_true(stacks_near(vt_stackcount_event(c, 1)->weight, 100 / (0.75 * window)));
		vt_stackcount_free(c);
	}
}

/*
 * Two such cycles are in doubt, and half of the one since the newest branch: the stack's own run of
 * a cycle behind one says that one follows.
 */
static void test_ones_doubt(void **state)
{
	static const uint64_t stack[][3] = {
		{0x20, 0x10, 1}, {0x20, 0x10, 1}, {0x20, 0x10, 14}, {0x20, 0x10, 0}};
	int fd = scratch_file();
	struct vt_writer *w = stacks_begin(fd);
	const struct vt_stackcount_link *l;
	struct vt_stackcount *c;

	(void)state;
	stacks_put(w, 1, 100, stack, 4);
	c = stacks_read(w, fd);
	l = stacks_only(c, 1, true, 0x10);
	assert_true(stacks_near(vt_stackcount_count(&l->sum), 3 * WHOLE));
	assert_true(stacks_near(l->sum.bias, 3 * WHOLE * 0.2887 * hypot(0.5, 2) / 12));
	vt_stackcount_free(c);
}

/* Two stacks in a hundred may reach back less than the window; not three. */
static void test_window(void **state)
{
	struct vt_stackreach r = {{0}};
	size_t i;

	(void)state;
	assert_true(isinf(vt_stackreach_window(&r)));
	r.stacks[6] = 1311;
	r.stacks[19] = UINT16_MAX;
	vt_stackreach_add(&r, 1000);
	assert_true(r.stacks[6] == 655 && r.stacks[19] == 32768);
	r = (struct vt_stackreach){{0}};
	for (i = 0; i < 98; i++)
		vt_stackreach_add(&r, 100);
	vt_stackreach_add(&r, 10);
	vt_stackreach_add(&r, 10);
	assert_true(stacks_near(vt_stackreach_window(&r), 64 * 1.4142135623730951));
	vt_stackreach_add(&r, 10);
	assert_true(stacks_near(vt_stackreach_window(&r), 8));
	/* All are halved, and what they say stays the same. */
	for (i = 0; i < 2 * UINT16_MAX; i++)
		vt_stackreach_add(&r, 1000);
	assert_true(stacks_near(vt_stackreach_window(&r), 512 * 1.4142135623730951));
}

/*
 * Parts that are equal tell of nothing but chance; of others, four times their variance (900 + 3 *
 * 100 by 3) that is more than chance counts by the square of Student's quantile.
 */
static void test_sigma(void **state)
{
	static const struct vt_stackcount_sum even = {{10, 10, 10, 10}, 4, 3};
	static const struct vt_stackcount_sum odd = {{0, 0, 0, 40}, 400, 0};

	(void)state;
	assert_true(stacks_near(vt_stackcount_sigma(&even), sqrt(4 + 9)));
	assert_true(stacks_near(vt_stackcount_sigma(&odd), sqrt(400 + 1200 * 1.624 * 1.624)));
}

static void test_untimed(void **state)
{
	static const uint64_t stack[][3] = {
		{0x20, 0x10, 0}, {0x30, 0x18, 0}, {0x5000, 0x28, 0}, {0x40, 0x10, 0}};
	int fd = scratch_file();
	struct vt_writer *w = stacks_begin(fd);
	struct vt_stackcount *c;
	size_t n;

	(void)state;
	stacks_put(w, 2, 100, stack, 4);
	c = stacks_read(w, fd);
	assert_false(vt_stackcount_event(c, 2)->timed);
	assert_null(vt_stackcount_event(c, 1));
	assert_true(
		stacks_near(vt_stackcount_count(&stacks_only(c, 2, true, 0x18)->sum), 100 / 3.0));
	assert_true(
		stacks_near(vt_stackcount_count(&stacks_only(c, 2, true, 0x28)->sum), 100 / 3.0));
	assert_true(stacks_only(c, 2, true, 0x18)->sum.bias == 0);
	/* What nothing is known of. */
	vt_stackcount_links(c, 0, 0, 0, false, 0, 1, &n);
	assert_int_equal(n, 0);
	/* From another image, and to it. */
	vt_stackcount_links(c, 2, 7, 0, true, 0x10, 0x11, &n);
	assert_int_equal(n, 0);
	vt_stackcount_links(c, 2, 7, 0, false, 0, UINT64_MAX, &n);
	assert_int_equal(n, 2);
	vt_stackcount_free(c);
}

/*
 * Sampled by taken branches, two runs in a stack count half of its period each, however long they
 * take, and these counts are better than those of more stacks, of time or not.
 */
static void test_taken(void **state)
{
	static const uint64_t stack[][3] = {{0x20, 0x10, 90}, {0x30, 0x18, 7}, {0x40, 0x28, 9}};
	int fd = scratch_file();
	struct vt_writer *w = stacks_begin(fd);
	const struct vt_stackcount_event *e;
	const struct vt_stackcount_link *l;
	struct vt_stackcount *c;

	(void)state;
	stacks_put(w, 1, 100, stack, 3);
	stacks_put(w, 1, 100, stack, 3);
	stacks_put(w, 6, 100, stack, 3);
	c = stacks_read(w, fd);
	e = vt_stackcount_event(c, 6);
	assert_true(e->counted && !e->timed && e->stacks == 1 && stacks_near(e->weight, 50));
	assert_ptr_equal(vt_stackcount_best(c, 1), e);
	assert_false(vt_stackcount_event(c, 1)->counted);
	l = stacks_only(c, 6, true, 0x18);
	assert_true(stacks_near(vt_stackcount_count(&l->sum), 50));
	/* 2 % of it, for what is not known of the unit. */
	assert_true(stacks_near(l->sum.bias, 1));
	l = stacks_only(c, 6, true, 0x28);
	assert_true(stacks_near(vt_stackcount_count(&l->sum), 50));
	vt_stackcount_free(c);
}

/* Where two branches and the runs before them begin, of the event asked for only. */
static void test_places(void **state)
{
	static const uint64_t stack[][3] = {{0x20, 0x10, 9}, {0x30, 0x18, 7}, {0x40, 0x28, 9}};
	static const uint64_t other[][3] = {{0x50, 0x48, 9}, {0x60, 0x4c, 9}};
	static const uint64_t begins[] = {0x20, 0x30, 0x18, 0x28};
	int fd = scratch_file();
	struct vt_writer *w = stacks_begin(fd);
	struct vt_place place;
	struct vt_stackcount *c;
	size_t i;

	(void)state;
	stacks_put(w, 1, 100, other, 2);
	stacks_put(w, 6, 100, stack, 3);
	c = stacks_read(w, fd);
	for (i = 0; i < 4; i++) {
		assert_true(vt_stackcount_place(c, 6, i, &place));
		assert_int_equal(place.image, 7);
		assert_int_equal(place.pid, 0);
		assert_int_equal(place.offset, begins[i]);
	}
	assert_false(vt_stackcount_place(c, 6, 4, &place));
	assert_true(vt_stackcount_place(c, 1, 1, &place));
	assert_false(vt_stackcount_place(c, 1, 2, &place));
	assert_false(vt_stackcount_place(c, 2, 0, &place));
	vt_stackcount_free(c);
}

static void test_units(void **state)
{
	static const struct {
		const char *name;
		enum vt_stack_unit unit;
	} rows[] = {
		{"taken", VT_STACK_UNIT_TAKEN},
		{"br_inst_retired.near_taken", VT_STACK_UNIT_TAKEN},
		{"BR_INST_RETIRED.NEAR_TAKEN:upp", VT_STACK_UNIT_TAKEN},
		{"cpu_core/br_inst_retired.near_taken,period=9/upp", VT_STACK_UNIT_TAKEN},
		{"ex_ret_brn_tkn:u", VT_STACK_UNIT_TAKEN},
		{"retired", VT_STACK_UNIT_INSTRUCTIONS},
		{"instructions:upp", VT_STACK_UNIT_INSTRUCTIONS},
		{"cpu/instructions/u", VT_STACK_UNIT_INSTRUCTIONS},
		{"inst_retired.prec_dist:pp", VT_STACK_UNIT_INSTRUCTIONS},
		{"branches", VT_STACK_UNIT_OTHER},
		{"br_inst_retired.near_taken_x", VT_STACK_UNIT_OTHER},
		{"br_inst_retired", VT_STACK_UNIT_OTHER},
		{"cpu-cycles", VT_STACK_UNIT_OTHER},
		{"cpu/", VT_STACK_UNIT_OTHER},
		{"cpu", VT_STACK_UNIT_OTHER},
		{"", VT_STACK_UNIT_OTHER},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct vt_bytes name = {(const uint8_t *)rows[i].name, strlen(rows[i].name)};

		if (vt_stack_unit_of(name) != rows[i].unit)
			fail_msg("%s: %d", rows[i].name, (int)vt_stack_unit_of(name));
	}
}

/* What one stack counts for a link is added up before it is squared. */
static void test_variance(void **state)
{
	static const uint64_t once[][3] = {{0x20, 0, 0}, {0x30, 0x18, 0}, {0x40, 0x10, 0}};
	static const uint64_t loop[][3] = {
		{0x20, 0x10, 0}, {0x20, 0x10, 0}, {0x20, 0x10, 0}, {0x20, 0x10, 0}};
	int fd = scratch_file();
	struct vt_writer *w = stacks_begin(fd);
	struct vt_stackcount *c;

	(void)state;
	stacks_put(w, 2, 100, once, 3);
	stacks_put(w, 2, 200, once, 3);
	stacks_put(w, 1, 100, loop, 4);
	c = stacks_read(w, fd);
	assert_true(
		stacks_near(vt_stackcount_count(&stacks_only(c, 2, false, 0x20)->sum), 50 + 100));
	assert_true(stacks_near(stacks_only(c, 2, false, 0x20)->sum.variance, 50 * 50 + 100 * 100));
	assert_true(stacks_near(stacks_only(c, 2, true, 0x18)->sum.variance, 50 * 50 + 100 * 100));
	assert_int_equal(stacks_only(c, 2, true, 0x18)->stacks, 2);
	assert_true(stacks_near(vt_stackcount_count(&stacks_only(c, 1, false, 0x20)->sum), 100));
	assert_true(stacks_near(stacks_only(c, 1, false, 0x20)->sum.variance, 100 * 100));
	assert_int_equal(stacks_only(c, 1, false, 0x20)->stacks, 1);
	vt_stackcount_free(c);
}

/* The newest branch, there twice, counts once. */
static void test_twice(void **state)
{
	static const uint64_t stack[][3] = {{0x20, 0x30, 0},
					    {0x20, 0x30, 0},
					    {0x38, 0x18, 0},
					    {0x5000, 0x28, 0},
					    {0x40, 0x10, 0}};
	int fd = scratch_file();
	struct vt_writer *w = stacks_begin(fd);
	struct vt_stackcount *c;
	size_t n;

	(void)state;
	stacks_put(w, 2, 100, stack, 5);
	c = stacks_read(w, fd);
	assert_true(
		stacks_near(vt_stackcount_count(&stacks_only(c, 2, true, 0x18)->sum), 100 / 3.0));
	assert_true(
		stacks_near(vt_stackcount_count(&stacks_only(c, 2, true, 0x28)->sum), 100 / 3.0));
	assert_true(
		stacks_near(vt_stackcount_count(&stacks_only(c, 2, false, 0x20)->sum), 100 / 3.0));
	assert_true(
		stacks_near(vt_stackcount_count(&stacks_only(c, 2, false, 0x38)->sum), 100 / 3.0));
	vt_stackcount_links(c, 2, 7, 0, false, 0, UINT64_MAX, &n);
	assert_int_equal(n, 2);
	vt_stackcount_free(c);
}

/*
 * A newest branch that leads back may be there twice, too.  The run between the two, from 0x10 to
 * 0x50, is no other stack's: two runs are left to count.  Where another stack has it behind its
 * newest branch, it is a loop that was executed, and so where nothing else would be left.  Times
 * tell the same: 7 + 4 cycles before the newest branch, or 8 more.
 */
static void test_twice_back(void **state)
{
	static const uint64_t twice[][3] = {
		{0x50, 0x10, 8}, {0x50, 0x10, 7}, {0x20, 0x30, 4}, {0x50, 0x10, 9}};
	static const uint64_t untimed[][3] = {
		{0x50, 0x10, 0}, {0x50, 0x10, 0}, {0x20, 0x30, 0}, {0x50, 0x10, 0}};
	static const uint64_t loop[][3] = {{0x58, 0x60, 16}, {0x50, 0x10, 16}, {0x50, 0x10, 9}};
	static const struct {
		uint64_t event;
		bool loop;
		size_t n;
		double weight;
	} rows[] = {{6, false, 4, 50},
		    {6, true, 4, (100 / 3.0 + 50) / 2},
		    {6, false, 2, 100},
		    {6, false, 3, 100},
		    {2, false, 4, 50},
		    {1, false, 4, 100 / (0.75 * 8)},
		    {1, true, 4, 100 / (0.75 * 16)}};
	size_t i, n;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool kept = rows[i].loop || rows[i].n == 2;
		int fd = scratch_file();
		struct vt_writer *w = stacks_begin(fd);
		struct vt_stackcount *c;

		stacks_put(w, rows[i].event, 100, rows[i].event == 2 ? untimed : twice, rows[i].n);
		if (rows[i].loop)
			stacks_put(w, rows[i].event, 100, loop, 3);
		c = stacks_read(w, fd);
		assert_true(
			stacks_near(vt_stackcount_event(c, rows[i].event)->weight, rows[i].weight));
		vt_stackcount_links(c, rows[i].event, 7, 0, true, 0x10, 0x11, &n);
		/* To 0x20; to 0x50, if kept; to 0x58 of the loop. */
		assert_int_equal(n, (rows[i].n == 4) + kept + rows[i].loop);
		vt_stackcount_free(c);
	}
}

static void test_none(void **state)
{
	static const uint64_t backwards[][3] = {{0x10, 0x40, 1}, {0x8, 0x20, 1}};
	int fd = scratch_file();
	struct vt_writer *w = stacks_begin(fd);
	struct vt_stackcount *c;
	size_t n;

	(void)state;
	stacks_put(w, 1, 100, backwards, 1);
	c = stacks_read(w, fd);
	assert_null(vt_stackcount_best(c, 0));
	vt_stackcount_free(c);
	/* A run cannot end before its start: a stack that contradicts itself. */
	fd = scratch_file();
	w = stacks_begin(fd);
	stacks_put(w, 1, 100, backwards, 2);
	c = stacks_read(w, fd);
	vt_stackcount_links(c, 1, 7, 0, true, 0, UINT64_MAX, &n);
	assert_int_equal(n, 0);
	vt_stackcount_free(c);
}

/* Arrays of different lengths: a branch that leads nowhere tells nothing. */
static void test_lengths(void **state)
{
	static const uint64_t from[] = {STACKS_BASE + 0x20, STACKS_BASE + 0x40},
			      to[] = {STACKS_BASE + 0x10};
	int fd = scratch_file();
	struct vt_writer *w = stacks_begin(fd);
	struct vt_stackcount *c;
	size_t n;

	(void)state;
	for (n = 0; n < 2; n++) {
		uint64_t *row = vt_writer_row(w, VT_SAMPLE);

		row[VT_SAMPLE_PID] = 5;
		row[VT_SAMPLE_EVENT] = 1;
		row[VT_SAMPLE_PERIOD] = 100;
		vt_writer_words(w, VT_SAMPLE_BR_FROM, from, 2);
		vt_writer_words(w, VT_SAMPLE_BR_TO, to, n);
	}
	c = stacks_read(w, fd);
	assert_null(vt_stackcount_best(c, 0));
	vt_stackcount_free(c);
}

/* File offsets that wrap around: a procedure's end lies below its start. */
static void test_range(void **state)
{
	static const uint64_t stack[][3] = {{0x20, 0x10, 0}, {0x30, 0x18, 0}, {0x50, 0x28, 0}};
	int fd = scratch_file();
	struct vt_writer *w = stacks_begin(fd);
	struct vt_stackcount *c;
	size_t n = 1;

	(void)state;
	stacks_put(w, 1, 100, stack, 3);
	c = stacks_read(w, fd);
	vt_stackcount_links(c, 1, 7, 0, true, UINT64_MAX - 8, 0x10, &n);
	assert_int_equal(n, 0);
	vt_stackcount_links(c, 1, 7, 0, true, 0x29, 0x10, &n);
	assert_int_equal(n, 0);
	vt_stackcount_free(c);
}

/* A sample may have a period of 0; what has none has its event's, or counts once. */
static void test_periods(void **state)
{
	static const uint64_t stack[][3] = {{0x20, 0x10, 0}, {0x30, 0x18, 0}};
	int fd = scratch_file();
	struct vt_writer *w = stacks_begin(fd);
	struct vt_stackcount *c;

	(void)state;
	vt_writer_row(w, VT_EVENT)[VT_EVENT_ID] = 6; /* no branches of it are asked for */
	stacks_event(w, 4, STACKS_ANY);
	stacks_event(w, 5, STACKS_ANY)[VT_EVENT_PERIOD] = 50;
	stacks_put(w, 1, 0, stack, 2);
	stacks_put(w, 2, 0, stack, 2)[VT_SAMPLE_HAS] = 1 << 8;
	stacks_put(w, 4, 0, stack, 2)[VT_SAMPLE_HAS] = ~(1 << 8);
	stacks_put(w, 5, 0, stack, 2);
	stacks_put(w, 5, 70, stack, 2);
	stacks_put(w, 6, 70, stack, 2);
	stacks_put(w, 99, 70, stack, 2);
	c = stacks_read(w, fd);
	assert_true(stacks_near(vt_stackcount_event(c, 1)->weight, 1));
	assert_true(stacks_near(vt_stackcount_event(c, 2)->weight, 0));
	assert_true(stacks_near(vt_stackcount_event(c, 4)->weight, 1));
	assert_true(stacks_near(vt_stackcount_event(c, 5)->weight, (50 + 70) / 2.0));
	assert_true(stacks_near(vt_stackcount_count(&stacks_only(c, 5, true, 0x18)->sum), 50 + 70));
	assert_null(vt_stackcount_event(c, 6));
	assert_null(vt_stackcount_event(c, 99));
	/* Of the most stacks, and the first of several. */
	assert_ptr_equal(vt_stackcount_best(c, 0), vt_stackcount_event(c, 5));
	vt_stackcount_free(c);
	fd = scratch_file();
	w = stacks_begin(fd);
	stacks_put(w, 2, 0, stack, 2);
	stacks_put(w, 1, 0, stack, 2);
	c = stacks_read(w, fd);
	assert_ptr_equal(vt_stackcount_best(c, 0), vt_stackcount_event(c, 1));
	vt_stackcount_free(c);
}

/* Five runs, in four parts. */
static void test_parts(void **state)
{
	static const uint64_t stack[][3] = {{0x20, 0x10, 0}, {0x30, 0x12, 0}, {0x40, 0x14, 0},
					    {0x50, 0x16, 0}, {0x60, 0x18, 0}, {0x70, 0x1a, 0}};
	int fd = scratch_file();
	struct vt_writer *w = stacks_begin(fd);
	struct vt_stackcount *c;

	(void)state;
	stacks_put(w, 2, 100, stack, 6);
	c = stacks_read(w, fd);
	stacks_assert_sum(stacks_only(c, 2, false, 0x20), 20, 0, 0, 0);
	stacks_assert_sum(stacks_only(c, 2, false, 0x30), 20, 0, 0, 0);
	stacks_assert_sum(stacks_only(c, 2, false, 0x40), 0, 20, 0, 0);
	stacks_assert_sum(stacks_only(c, 2, false, 0x50), 0, 0, 20, 0);
	stacks_assert_sum(stacks_only(c, 2, false, 0x60), 0, 0, 0, 20);
	stacks_assert_sum(stacks_only(c, 2, true, 0x12), 20, 0, 0, 0);
	stacks_assert_sum(stacks_only(c, 2, true, 0x1a), 0, 0, 0, 20);
	assert_int_equal(stacks_only(c, 2, true, 0x1a)->to, 0x60);
	assert_int_equal(stacks_only(c, 2, false, 0x50)->to, 0x16);
	vt_stackcount_free(c);
}

/* Newest branches that are there twice only nearly, or may be: they count. */
static void test_not_twice(void **state)
{
	static const uint64_t stacks[][3][3] = {
		{{0x30, 0x40, 0}, {0x30, 0x44, 0}, {0x50, 0x10, 0}},
		{{0x30, 0x44, 0}, {0x34, 0x44, 0}, {0x50, 0x10, 0}},
		{{0x30, 0x30, 0}, {0x30, 0x30, 0}, {0x30, 0x30, 0}},
	};
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		int fd = scratch_file();
		struct vt_writer *w = stacks_begin(fd);
		struct vt_stackcount *c;

		stacks_put(w, 1, 100, stacks[i], 3);
		c = stacks_read(w, fd);
		assert_true(stacks_near(vt_stackcount_event(c, 1)->weight, 50));
		vt_stackcount_free(c);
	}
}

/* Runs of one instruction, and as long as they may be; and both ends of what is mapped. */
static void test_bounds(void **state)
{
	enum { AT = 0xf0000, SIZE = 0x20000 };
	static const struct {
		uint64_t start, from, to; /* of a run, and of the branch behind it */
		size_t runs, branches;
	} rows[] = {
		{0x40, 0x48, SIZE, 1, 0},
		{0x40, 0x48, -(uint64_t)1, 1, 0},
		{0, 0x10000, 0x10, 1, 1},
		{0, 0x10001, 0x10, 0, 1},
		{0x40, 0x40, 0x10, 1, 1},
		{0x41, 0x40, 0x10, 0, 1},
		{SIZE - 1, SIZE - 1, SIZE - 1, 1, 1},
		{SIZE - 8, SIZE, 0x10, 0, 0},
		{SIZE, SIZE + 8, 0x10, 0, 0},
		{-(uint64_t)8, 0x10, 0, 0, 1},
	};
	static const uint64_t behind[][3] = {
		{AT + 0x40, AT + 0x10, 0}, {AT + SIZE, AT + 0x20, 0}, {0x20, AT + 0x30, 0}};
	int fd = scratch_file();
	struct vt_writer *w = stacks_begin(fd);
	struct vt_stackcount *c;
	size_t i, n;

	(void)state;
	stacks_map(w, 5, STACKS_BASE + AT, SIZE, 8);
	for (i = 0; i < 10; i++) {
		const uint64_t stack[][3] = {{AT + rows[i].from, AT + rows[i].to, 0},
					     {0x20, AT + rows[i].start, 0}};

		stacks_event(w, 10 + i, STACKS_ANY);
		stacks_put(w, 10 + i, 100, stack, 2);
	}
	stacks_put(w, 1, 100, behind, 3);
	c = stacks_read(w, fd);
	/* Of what comes from behind the end, though the mapping is known, neither. */
	vt_stackcount_links(c, 1, 8, 0, false, 0, UINT64_MAX, &n);
	assert_int_equal(n, 1);
	vt_stackcount_links(c, 1, 8, 0, true, 0, UINT64_MAX, &n);
	assert_int_equal(n, 1);
	for (i = 0; i < 10; i++) {
		vt_stackcount_links(c, 10 + i, 8, 0, true, 0, UINT64_MAX, &n);
		if (n != rows[i].runs)
			fail_msg("row %zu: %zu runs", i, n);
		vt_stackcount_links(c, 10 + i, 8, 0, false, 0, UINT64_MAX, &n);
		if (n != rows[i].branches)
			fail_msg("row %zu: %zu branches", i, n);
	}
	vt_stackcount_free(c);
}

/* What processes share of a file they do not of code that they made; 20 and 80 cycles. */
static void test_processes(void **state)
{
	static const uint64_t slow[][3] = {{0x20, 0x10, 80}, {0x20, 0x10, 9}};
	static const uint64_t fast[][3] = {{0x20, 0x10, 20}, {0x20, 0x10, 9}};
	static const uint64_t slow_there[][3] = {{0x8020, 0x8010, 80}, {0x8020, 0x8010, 9}};
	static const double alone = (100 / (0.75 * 16) + 100 / (0.75 * 64)) / 2;
	const struct vt_stackcount_link *l;
	struct vt_stackcount *c;
	int anon;

	(void)state;
	for (anon = 0; anon < 2; anon++) {
		int fd = scratch_file();
		struct vt_writer *w = stacks_begin(fd);
		uint64_t *row = vt_writer_row(w, VT_IMAGE);
		size_t n;

		row[VT_IMAGE_ID] = 9;
		row[VT_IMAGE_TYPE] = anon ? VT_IMAGE_ANON : VT_IMAGE_FILE;
		vt_writer_text(w, VT_IMAGE_PATH, "/y");
		stacks_map(w, 5, STACKS_BASE, 4096, 9);
		stacks_map(w, 6, anon ? STACKS_BASE : STACKS_BASE + 0x8000, 4096, 9);
		stacks_put(w, 1, 100, fast, 2);
		stacks_put(w, 1, 100, anon ? slow : slow_there, 2)[VT_SAMPLE_PID] = 6;
		c = stacks_read(w, fd);
		assert_true(stacks_near(vt_stackcount_event(c, 1)->weight,
					anon ? alone : 100 / (0.75 * 16)));
		l = vt_stackcount_links(c, 1, 9, anon ? 5 : 0, true, 0, UINT64_MAX, &n);
		assert_int_equal(n, 1);
		assert_int_equal(l->stacks, anon ? 1 : 2);
		vt_stackcount_links(c, 1, 9, 6, true, 0, UINT64_MAX, &n);
		assert_int_equal(n, anon);
		vt_stackcount_free(c);
	}
}

/* The same branches are others once another image is mapped there, twice each. */
static void test_remapped(void **state)
{
	static const uint64_t branches[][3] = {{0x40, 0x10, 5}, {0x30, 0x20, 5}, {0x80, 0x18, 5}};
	int fd = scratch_file();
	struct vt_writer *w = stacks_begin(fd);
	struct vt_stackcount *c;
	uint64_t image, i;
	size_t n;

	(void)state;
	for (i = 0; i < 4; i++) {
		if (i == 2)
			stacks_map(w, 5, STACKS_BASE, 4096, 8);
		stacks_put(w, 1, 100, branches, 3);
	}
	c = stacks_read(w, fd);
	for (image = 7; image < 9; image++) {
		const struct vt_stackcount_link *l =
			vt_stackcount_links(c, 1, image, 0, false, 0x40, 0x41, &n);

		assert_int_equal(n, 1);
		assert_true(l->to == 0x10 && l->stacks == 2);
	}
	vt_stackcount_free(c);
}

/* An empty entry ends a stack, the first one too; one half of it may be 0. */
static void test_empty(void **state)
{
#define ZERO (-(uint64_t)STACKS_BASE)
	static const struct {
		uint64_t stack[4][3];
		size_t n;
		double weight; /* 0: there is no stack */
	} rows[] = {
		{{{0x20, 0x10, 0}, {ZERO, 0x18, 0}, {0x40, 0x10, 0}}, 3, 50},
		{{{0x20, 0x10, 0}, {0x30, ZERO, 0}, {0x40, 0x10, 0}}, 3, 50},
		{{{0x20, 0x10, 0}, {0x30, 0x18, 0}, {ZERO, ZERO, 0}, {0x40, 0x10, 0}}, 4, 100},
		{{{ZERO, ZERO, 0}, {0x30, 0x18, 0}, {0x40, 0x10, 0}}, 3, 0},
		/* A newest branch that is there twice, and nothing before it. */
		{{{0x20, 0x30, 0}, {0x20, 0x30, 0}}, 2, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int fd = scratch_file();
		struct vt_writer *w = stacks_begin(fd);
		const struct vt_stackcount_event *e;
		struct vt_stackcount *c;

		stacks_put(w, 1, 100, rows[i].stack, rows[i].n);
		c = stacks_read(w, fd);
		e = vt_stackcount_event(c, 1);
		if (!stacks_near(e ? e->weight : 0, rows[i].weight))
			fail_msg("row %zu: %g", i, e ? e->weight : 0);
		vt_stackcount_free(c);
	}
#undef ZERO
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timed),	   cmocka_unit_test(test_untimed),
		cmocka_unit_test(test_places),	   cmocka_unit_test(test_taken),
		cmocka_unit_test(test_units),	   cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_twice),	   cmocka_unit_test(test_variance),
		cmocka_unit_test(test_twice_back), cmocka_unit_test(test_none),
		cmocka_unit_test(test_range),	   cmocka_unit_test(test_spoilt),
		cmocka_unit_test(test_ones_doubt), cmocka_unit_test(test_few_zeros),
		cmocka_unit_test(test_ones),	   cmocka_unit_test(test_window),
		cmocka_unit_test(test_sigma),	   cmocka_unit_test(test_periods),
		cmocka_unit_test(test_parts),	   cmocka_unit_test(test_not_twice),
		cmocka_unit_test(test_bounds),	   cmocka_unit_test(test_processes),
		cmocka_unit_test(test_remapped),   cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
