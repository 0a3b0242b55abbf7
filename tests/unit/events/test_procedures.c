/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code of procedures in a file: what divides samples, and which instructions are compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "events/code.h"
#include "events/gather.h"
#include "tests/unit/common/profiles.h"
#include "tests/unit/common/scenes.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/common/toolbox.h"

static struct vt_error err;

/*
 * f, at 0x401000, has blocks of 6, 2 and 1 instructions, of which xchg has two micro-operations.
 * g, at 0x401020, begins with a block of loads at its offsets 0 and 6, stores at 3 and 10, nop and
 * jmp. h, at 0x401040, repeats an instruction, and has three others.
 */
static const char text[] = ".globl f\n.type f,@function\n"
			   "f: mov (%rdi),%rax\nmov %rax,(%rdi)\nxchg %rax,%rbx\nnop\n"
			   "cmp %rax,%rbx\nje 1f\nnop\nnop\n1: ret\n.size f,.-f\n"
			   ".balign 32\n.type g,@function\n"
			   "g: mov (%rdi),%rax\nmov %rax,(%rdi)\n"
			   "mov 8(%rdi),%rax\nmov %rax,8(%rdi)\nnop\njmp 1f\n1: ret\n.size g,.-g\n"
			   ".balign 32\n.type h,@function\n"
			   "h: rep movsb\nnop\nnop\nret\n.size h,.-h\n"
			   ".balign 32\nnop\n";

static char *dir;

#define F 0x401000
#define G 0x401020
#define H 0x401040

/* By what samples are chosen. */
struct choice {
	const char *name;
	uint64_t config;
	enum vt_policy policy;
};

static const struct choice uops = {"ibs_op", UINT64_C(1) << 19, VT_POLICY_DISPATCH};
static const struct choice instructions = {"profileme", 0, VT_POLICY_MODEL};
static const struct choice fetches = {"ibs_fetch", 0, VT_POLICY_MODEL};

struct checked {
	struct vt_writer *w;
	int fd;
	struct vt_images *images;
	struct vt_context *context;
	struct vt_evgather *gather;
	const struct vt_evstats *stats;
	const struct vt_evevent *event;
};

static void start(struct checked *c, const struct choice *by)
{
	uint64_t *row;

	c->fd = scratch_file();
	c->w = start_stream(c->fd);
	row = vt_writer_row(c->w, VT_EVENT);
	row[VT_EVENT_ID] = 7;
	row[VT_EVENT_CONFIG] = by->config;
	row[VT_EVENT_POLICY] = by->policy;
	vt_writer_text(c->w, VT_EVENT_NAME, by->name);
	scene_image(c->w, 1, toolbox_path(dir, "prog"));
	scene_map(c->w, 0x400000, 1);
}

/* Samples that tell of these events; `happened`: of which of them that they happened. */
static void put(struct checked *c, uint64_t ip, unsigned n, uint64_t told, uint64_t happened)
{
	while (n--) {
		uint64_t *row = vt_writer_row(c->w, VT_SAMPLE);

		row[VT_SAMPLE_PID] = row[VT_SAMPLE_TID] = 10;
		row[VT_SAMPLE_EVENT] = 7;
		row[VT_SAMPLE_IP] = ip;
		row[VT_SAMPLE_PERIOD] = 100;
		row[VT_SAMPLE_MISC] = 2;
		row[VT_SAMPLE_HAS] = VT_HAS_IP | VT_HAS_TID | VT_HAS_PERIOD;
		vt_pm_tell(row, told, false);
		vt_pm_tell(row, happened, true);
	}
}

#define RETIRED VT_PM_EVENT(RETIRED)
#define LOAD	VT_PM_EVENT(LOAD)
#define STORE	VT_PM_EVENT(STORE)
#define MISS	VT_PM_EVENT(DCACHE_MISS)

/* Samples that retired, at each offset of a procedure. */
static void put_retired(struct checked *c, uint64_t start, const unsigned *offsets,
			const unsigned *samples, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		put(c, start + offsets[i], samples[i], RETIRED, RETIRED);
}

static void check(struct checked *c, const char *model)
{
	struct vt_images_options o = {0};
	struct vt_evcode_source src;
	struct vt_core core;

	c->images = vt_images_new(&o, &err);
	c->context = vt_context_new(c->images);
	c->gather = vt_evgather_new(c->context, VT_EVBY_PLACE);
	assert_true(c->images && c->context && c->gather);
	vt_context_add(c->context, &(struct vt_consumer){.take = vt_evgather_feed,
							 .arg = c->gather,
							 .kinds = VT_EVGATHER_KINDS});
	read_context(c->context, c->fd, c->w);
	src = (struct vt_evcode_source){.stats = vt_evgather_stats(c->gather), .images = c->images};
	if (model) {
		assert_int_equal(vt_core_load(&core, model, &err), 0);
		src.core = &core;
	}
	assert_int_equal(vt_evstats_settle(src.stats, &err), 0);
	assert_int_equal(vt_evcode_run(&src, &err), 0);
	c->stats = src.stats;
	c->event = vt_evstats_event_at(src.stats, 0);
}

static void drop(struct checked *c)
{
	vt_evgather_free(c->gather);
	vt_context_free(c->context);
	vt_images_free(c->images);
}

static void check_chance(const struct checked *c, double squares, double freedom)
{
	assert_true(c->event->check.squares > squares - 1e-9 &&
		    c->event->check.squares < squares + 1e-9);
	assert_true(c->event->check.freedom == freedom);
}

static double retired_at(const struct checked *c, uint64_t offset)
{
	const struct vt_evkey key = {.offset = offset, .image = 1};
	const struct vt_evcounts *counts = vt_evstats_find(c->stats, &key);
	struct vt_evtotal t;

	assert_non_null(counts);
	vt_evstats_total(c->stats, &key, counts, VT_PM_RETIRED, &t);
	return t.sum;
}

static const unsigned at_f[] = {0, 3, 6, 8, 9, 12, 14, 15, 16};

static void micro_operations_divide(void **state)
{
	static const unsigned samples[] = {3, 3, 6, 3, 3, 0, 5, 5, 4};
	struct checked c;

	(void)state;
	start(&c, &uops);
	put_retired(&c, F, at_f, samples, 9);
	check(&c, "zen3");
	assert_true(retired_at(&c, 0x1006) == 300);
	assert_true(retired_at(&c, 0x1003) == 300);
	assert_true(retired_at(&c, 0x100e) == 500);
	assert_int_equal(c.event->division, VT_EVDIV_DONE);
	assert_int_equal(c.event->unlocated, 0);
	/* Of the first block all but the branch, which may be one with the compare. */
	check_chance(&c, 0, 4 + 1);
	drop(&c);
	start(&c, &uops);
	put_retired(&c, F, at_f, samples, 9);
	check(&c, NULL);
	assert_true(retired_at(&c, 0x1006) == 600);
	assert_int_equal(c.event->division, VT_EVDIV_UNDONE);
	/* 18 samples of 5 instructions. */
	check_chance(&c, (2.4 * 2.4 + 4 * .6 * .6) / 3.6, 4 + 1);
	drop(&c);
}

/* A simulator takes no two instructions for one. */
static void instructions_are_compared(void **state)
{
	static const unsigned samples[] = {3, 3, 3, 3, 3, 9, 4, 6, 4};
	struct checked c;

	(void)state;
	start(&c, &instructions);
	put_retired(&c, F, at_f, samples, 9);
	check(&c, "zen3");
	assert_true(retired_at(&c, 0x1006) == 300);
	assert_int_equal(c.event->division, VT_EVDIV_NONE);
	check_chance(&c, (5 * 1 + 5 * 5) / 4. + (1 + 1) / 5., 5 + 1);
	drop(&c);
}

/* Who waits for code is fetched more often. */
static void fetches_are_not_compared(void **state)
{
	static const unsigned samples[] = {3, 3, 3, 3, 3, 9, 4, 6, 4};
	struct checked c;

	(void)state;
	start(&c, &fetches);
	put_retired(&c, F, at_f, samples, 9);
	check(&c, "zen3");
	check_chance(&c, 0, 0);
	drop(&c);
}

static void loads_and_stores_are_chosen(void **state)
{
	struct checked c;

	(void)state;
	/* Loads alone: 4 and 6. */
	start(&c, &instructions);
	put(&c, G, 4, LOAD, LOAD);
	put(&c, G + 6, 6, LOAD, LOAD);
	check(&c, NULL);
	check_chance(&c, .4, 1);
	drop(&c);
	start(&c, &instructions);
	put(&c, G + 3, 7, STORE, STORE);
	put(&c, G + 10, 3, STORE, STORE);
	check(&c, NULL);
	check_chance(&c, 1.6, 1);
	drop(&c);
	/* Both, and nothing else. */
	start(&c, &instructions);
	put(&c, G, 4, LOAD | STORE, LOAD);
	put(&c, G + 3, 7, LOAD | STORE, STORE);
	put(&c, G + 6, 6, LOAD | STORE, LOAD);
	put(&c, G + 10, 3, LOAD | STORE, STORE);
	check(&c, NULL);
	check_chance(&c, (1 + 4 + 1 + 4) / 5., 3);
	drop(&c);
	/* One that is neither: all 6 instructions, of 24 samples. */
	start(&c, &instructions);
	put(&c, G, 4, LOAD | STORE, LOAD);
	put(&c, G + 3, 7, LOAD | STORE, STORE);
	put(&c, G + 6, 6, LOAD | STORE, LOAD);
	put(&c, G + 10, 3, LOAD | STORE, STORE);
	put(&c, G + 14, 4, LOAD | STORE, 0);
	check(&c, NULL);
	check_chance(&c, (0 + 9 + 4 + 1 + 0 + 16) / 4., 5);
	drop(&c);
}

static void those_that_retired_are_compared(void **state)
{
	struct checked c;
	unsigned i;

	(void)state;
	start(&c, &instructions);
	for (i = 0; i < 2; i++) {
		put(&c, F + 14 + i, 5, RETIRED, RETIRED);
		put(&c, F + 14, 2, RETIRED, 0);
	}
	check(&c, NULL);
	check_chance(&c, 0, 1);
	drop(&c);
	/* If it is not told of one, all of 9 and 6 are. */
	start(&c, &instructions);
	put(&c, F + 14, 5, RETIRED, RETIRED);
	put(&c, F + 14, 4, RETIRED, 0);
	put(&c, F + 15, 5, RETIRED, RETIRED);
	put(&c, F + 15, 1, MISS, MISS);
	check(&c, NULL);
	check_chance(&c, 2 * 1.5 * 1.5 / 7.5, 1);
	drop(&c);
}

static void what_repeats_itself_is_left_out(void **state)
{
	static const unsigned at[] = {0, 2, 3, 4, 0x20}, samples[] = {50, 2, 4, 3, 8};
	struct checked c;

	(void)state;
	start(&c, &uops);
	/* The last lies in no procedure. */
	put_retired(&c, H, at, samples, 5);
	check(&c, "zen3");
	assert_true(retired_at(&c, 0x1040) == 5000);
	assert_int_equal(c.event->unknown, 50);
	assert_int_equal(c.event->unlocated, 8);
	assert_int_equal(c.event->division, VT_EVDIV_PARTLY);
	check_chance(&c, (1 + 1) / 3., 2);
	drop(&c);
	start(&c, &instructions);
	put_retired(&c, H, at, samples, 5);
	check(&c, NULL);
	check_chance(&c, (1 + 1) / 3., 2);
	drop(&c);
}

static int make(void **state)
{
	(void)state;
	dir = toolbox_dir();
	scene_program(dir, text);
	return 0;
}

static int unmake(void **state)
{
	(void)state;
	toolbox_remove(dir);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(micro_operations_divide),
		cmocka_unit_test(instructions_are_compared),
		cmocka_unit_test(fetches_are_not_compared),
		cmocka_unit_test(loads_and_stores_are_chosen),
		cmocka_unit_test(those_that_retired_are_compared),
		cmocka_unit_test(what_repeats_itself_is_left_out),
	};

	return cmocka_run_group_tests(tests, make, unmake);
}
