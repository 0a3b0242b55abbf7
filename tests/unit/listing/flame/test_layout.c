/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "listing/flame/flame.h"
#include "listing/flame/internal.h"

static struct vt_error err;
static const struct vt_stack_label none = {"", -1, -1, -1};

static uint32_t add_place(struct vt_stacks *s, const char *name, enum vt_stack_mode mode)
{
	const struct vt_stack_line line = {.name = name, .symbol = name, .file = ""};
	const struct vt_stack_place place = {.image = VT_STACK_NONE, .mode = mode};

	return vt_stacks_add_place(s, &place, &line, 1);
}

/*
 * main has `self` samples itself, calls work (30, of which an inlined step has 10) and the kernel
 * (10); another stack is of unknown code (20).
 */
static struct vt_stacks *make_stacks(uint64_t self)
{
	const struct vt_stack_line lines[] = {{.name = "step", .symbol = "step", .file = ""},
					      {.name = "work", .symbol = "work", .file = ""}};
	const struct vt_stack_line dark[] = {{.name = "[no symbol]", .symbol = "", .file = ""}};
	const struct vt_stack_place place = {.image = VT_STACK_NONE, .mode = VT_STACK_USER};
	const struct vt_stack_place nowhere = {.image = VT_STACK_NONE, .mode = VT_STACK_UNKNOWN};
	struct vt_stacks *s = vt_stacks_new();
	uint32_t root, start, work, step, kernel, unknown;

	assert_non_null(s);
	vt_stacks_add_value(s, "cycles", "count");
	root = vt_stacks_add_root(s, &none);
	start = vt_stacks_push(s, root, add_place(s, "main", VT_STACK_USER));
	work = vt_stacks_push(s, start, add_place(s, "work", VT_STACK_USER));
	step = vt_stacks_push(s, start, vt_stacks_add_place(s, &place, lines, 2));
	kernel = vt_stacks_push(s, start, add_place(s, "do_it", VT_STACK_KERNEL));
	unknown = vt_stacks_push(s, root, vt_stacks_add_place(s, &nowhere, dark, 1));
	vt_stacks_count(s, start, 0, self);
	vt_stacks_count(s, work, 0, 20);
	vt_stacks_count(s, step, 0, 10);
	vt_stacks_count(s, kernel, 0, 10);
	vt_stacks_count(s, unknown, 0, 20);
	assert_false(s->failed);
	return s;
}

static const struct vt_flame_options options = {
	.title = "t", .source = "", .unit = "cycles", .width = 1024, .sampled = true};

static const struct vt_flame_frame *find_frame(const struct vt_flame *f, const char *name)
{
	size_t i;

	for (i = 0; i < f->frames.count; i++)
		if (strcmp(vti_flame_frame(f, i)->name, name) == 0)
			return vti_flame_frame(f, i);
	fail_msg("no frame %s", name);
	return NULL;
}

static void expect_frame(const struct vt_flame *f, const char *name, unsigned depth, double x,
			 double width)
{
	const struct vt_flame_frame *at = find_frame(f, name);

	assert_int_equal(at->depth, depth);
	assert_true(at->shown);
	assert_float_equal(vt_flame_x(f, at), x, 1e-9);
	assert_float_equal(vt_flame_width(f, at), width, 1e-9);
}

static void frames_stand_on_their_callers(void **state)
{
	struct vt_stacks *s = make_stacks(40);
	const struct vt_flame_side after = {s, 0, 0};
	struct vt_flame f;

	(void)state;
	assert_int_equal(vt_flame_init(&f, &options, NULL, &after, &err), 0);
	assert_int_equal(f.frames.count, 6);
	assert_int_equal(f.depth, 3);
	/* 1000 pixels for 100 samples, 12 on the left; names in order. */
	expect_frame(&f, "all", 0, 12, 1000);
	expect_frame(&f, "[no symbol]", 1, 12, 200);
	expect_frame(&f, "main", 1, 212, 800);
	expect_frame(&f, "do_it", 2, 212, 100);
	expect_frame(&f, "work", 2, 312, 300);
	expect_frame(&f, "step", 3, 312, 100);
	assert_int_equal(find_frame(&f, "work")->self[1], 20);
	assert_int_equal(find_frame(&f, "step")->kind, VT_FLAME_INLINED);
	assert_int_equal(find_frame(&f, "do_it")->kind, VT_FLAME_KERNEL);
	assert_int_equal(f.unknown, 20);
	assert_int_equal(f.narrow, 0);
	vt_flame_fini(&f);
	vt_stacks_free(s);
}

static void small_frames_are_left_out_and_counted(void **state)
{
	struct vt_flame_options how = options;
	struct vt_stacks *s = make_stacks(40);
	const struct vt_flame_side after = {s, 0, 0};
	struct vt_flame f;

	(void)state;
	how.min_percent = 10.1;
	assert_int_equal(vt_flame_init(&f, &how, NULL, &after, &err), 0);
	assert_int_equal(f.narrow, 2);
	assert_false(find_frame(&f, "step")->shown);
	assert_false(find_frame(&f, "do_it")->shown);
	expect_frame(&f, "work", 2, 312, 300);
	assert_int_equal(f.depth, 2);
	vt_flame_fini(&f);
	how.min_percent = 10;
	assert_int_equal(vt_flame_init(&f, &how, NULL, &after, &err), 0);
	assert_int_equal(f.narrow, 0);
	vt_flame_fini(&f);
	vt_stacks_free(s);
}

static void shares_have_intervals(void **state)
{
	struct vt_stacks *s = make_stacks(40);
	const struct vt_flame_side after = {s, 0, 0};
	struct vt_share share;
	struct vt_flame f;

	(void)state;
	assert_int_equal(vt_flame_init(&f, &options, NULL, &after, &err), 0);
	share = vti_flame_share(&f, find_frame(&f, "step"), 1);
	/* R: prop.test(10, 100) */
	assert_float_equal(share.part, .1, 1e-12);
	assert_float_equal(share.low, 0.05163010, 1e-8);
	assert_float_equal(share.high, 0.18035770, 1e-8);
	vt_flame_fini(&f);
	vt_stacks_free(s);
}

static bool is_red(uint32_t c)
{
	return (c >> 16) > (c & 0xff) + 20;
}

static bool is_blue(uint32_t c)
{
	return (c & 0xff) > (c >> 16) + 10;
}

static void comparisons_have_the_width_of_after(void **state)
{
	struct vt_stacks *before = make_stacks(920), *after = make_stacks(40);
	const struct vt_flame_side sides[] = {{before, 0, 0}, {after, 0, 0}};
	uint32_t more = vt_stacks_push(before, 0, add_place(before, "old", VT_STACK_USER));
	struct vt_flame f;

	(void)state;
	vt_stacks_count(before, more, 0, 20);
	assert_int_equal(vt_flame_init(&f, &options, &sides[0], &sides[1], &err), 0);
	expect_frame(&f, "main", 1, 212, 800);
	assert_int_equal(find_frame(&f, "main")->total[0], 960);
	assert_int_equal(find_frame(&f, "main")->self[0], 920);
	assert_int_equal(f.gone, 1);
	assert_false(find_frame(&f, "old")->shown);
	/* 96 % and 80 %; 3 % and 30 %. */
	assert_true(is_blue(vti_flame_color(&f, find_frame(&f, "main"))));
	assert_true(is_red(vti_flame_color(&f, find_frame(&f, "work"))));
	vt_flame_fini(&f);
	assert_int_equal(vt_flame_init(&f, &options, &sides[1], &sides[1], &err), 0);
	assert_int_equal(vti_flame_color(&f, find_frame(&f, "main")), 0xe8e6e2);
	vt_flame_fini(&f);
	vt_stacks_free(before);
	vt_stacks_free(after);
}

static void no_samples_are_an_empty_picture(void **state)
{
	struct vt_stacks *s = vt_stacks_new();
	const struct vt_flame_side after = {s, 0, 0};
	struct vt_flame f;

	(void)state;
	vt_stacks_add_value(s, "cycles", "count");
	vt_stacks_add_root(s, &none);
	assert_int_equal(vt_flame_init(&f, &options, NULL, &after, &err), 0);
	assert_int_equal(f.frames.count, 1);
	assert_float_equal(vt_flame_width(&f, find_frame(&f, "all")), 0, 0);
	vt_flame_fini(&f);
	vt_stacks_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_stand_on_their_callers),
		cmocka_unit_test(small_frames_are_left_out_and_counted),
		cmocka_unit_test(shares_have_intervals),
		cmocka_unit_test(comparisons_have_the_width_of_after),
		cmocka_unit_test(no_samples_are_an_empty_picture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
