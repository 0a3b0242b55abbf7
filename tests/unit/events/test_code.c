/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code that only blocks of the stream have: what divides samples, and what these are checked by. */
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

static struct vt_error err;

#define EVENT	       7
#define COUNTS_UOPS    (UINT64_C(1) << 19) /* cnt_ctl of ibs_op */
#define COUNTS_NOTHING 0

/* xchg of two micro-operations, 11 nops, a jump; and cpuid, of microcode. */
static const uint8_t code[] = {0x48, 0x93, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
			       0x90, 0x90, 0x90, 0x90, 0x90, 0xeb, 0x00};
static const uint8_t lengths[] = {2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2};
static const uint8_t cpuid[] = {0x0f, 0xa2};

static void put_block(struct vt_writer *w, uint64_t addr, unsigned first, unsigned insns)
{
	uint64_t *row = vt_writer_row(w, VT_BLOCK);
	size_t skip = first ? first + 1 : 0, size = 0;
	unsigned i;

	for (i = first; i < first + insns; i++)
		size += lengths[i];
	row[VT_BLOCK_ID] = addr;
	row[VT_BLOCK_PID] = 10;
	row[VT_BLOCK_ADDR] = addr;
	row[VT_BLOCK_SIZE] = size;
	row[VT_BLOCK_INSNS] = insns;
	vt_writer_bytes(w, VT_BLOCK_LENGTHS, lengths + first, insns);
	vt_writer_bytes(w, VT_BLOCK_CODE, code + skip, size);
}

static void put_samples(struct vt_writer *w, uint64_t ip, unsigned n)
{
	while (n--) {
		uint64_t *row = vt_writer_row(w, VT_SAMPLE);

		row[VT_SAMPLE_PID] = row[VT_SAMPLE_TID] = 10;
		row[VT_SAMPLE_EVENT] = EVENT;
		row[VT_SAMPLE_IP] = ip;
		row[VT_SAMPLE_PERIOD] = 100;
		row[VT_SAMPLE_MISC] = 2;
		row[VT_SAMPLE_HAS] = VT_HAS_IP | VT_HAS_TID | VT_HAS_PERIOD;
		vt_pm_tell(row, VT_PM_EVENT(RETIRED), true);
	}
}

struct checked {
	struct vt_images *images;
	struct vt_context *context;
	struct vt_blockcode *code;
	struct vt_evgather *gather;
	const struct vt_evstats *stats;
	const struct vt_evevent *event;
};

/*
 * Control arrives at the first instruction, and at the fourth nop: `early` samples for each
 * micro-operation before that, `late` after it, and `micro` of cpuid; `lost` of code of no block.
 * The image is a file that is not there, or anonymous.
 */
static struct vt_writer *start(int *fd, enum vt_image_type type, uint64_t config)
{
	struct vt_writer *w;
	uint64_t *row;

	*fd = scratch_file();
	w = start_stream(*fd);
	row = vt_writer_row(w, VT_EVENT);
	row[VT_EVENT_ID] = EVENT;
	row[VT_EVENT_CONFIG] = config;
	row[VT_EVENT_POLICY] = VT_POLICY_DISPATCH;
	vt_writer_text(w, VT_EVENT_NAME, "ibs_op");
	row = vt_writer_row(w, VT_IMAGE);
	row[VT_IMAGE_ID] = 1;
	row[VT_IMAGE_TYPE] = type;
	vt_writer_text(w, VT_IMAGE_PATH, type == VT_IMAGE_ANON ? "//anon" : "/no/such/file");
	scene_map(w, 0x400000, 1);
	put_block(w, 0x400000, 0, 13);
	put_block(w, 0x400005, 4, 9);
	scene_block(w, 1, 0x400100, cpuid, sizeof(cpuid));
	return w;
}

static void put_all(struct vt_writer *w, unsigned early, unsigned late, unsigned micro,
		    unsigned lost)
{
	unsigned i;

	put_samples(w, 0x400000, 2 * early);
	for (i = 1; i < 13; i++)
		put_samples(w, 0x400001 + i, i < 4 ? early : late);
	put_samples(w, 0x400100, micro);
	put_samples(w, 0x400200, lost);
}

static void check(struct checked *c, int fd, struct vt_writer *w, const char *model)
{
	struct vt_images_options o = {0};
	struct vt_evcode_source src;
	struct vt_core core;

	*c = (struct checked){.images = vt_images_new(&o, &err)};
	c->context = vt_context_new(c->images);
	c->code = vt_blockcode_new(c->context);
	c->gather = vt_evgather_new(c->context, VT_EVBY_PLACE);
	assert_true(c->images && c->context && c->code && c->gather);
	vt_context_add(c->context, &(struct vt_consumer){.take = vt_evgather_feed,
							 .arg = c->gather,
							 .kinds = VT_EVGATHER_KINDS});
	vt_context_add(c->context, &(struct vt_consumer){.take = vt_blockcode_feed,
							 .arg = c->code,
							 .kinds = VT_KIND(VT_BLOCK)});
	read_context(c->context, fd, w);
	assert_int_equal(vt_blockcode_finish(c->code, &err), 0);
	src = (struct vt_evcode_source){
		.stats = vt_evgather_stats(c->gather), .images = c->images, .code = c->code};
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
	vt_blockcode_free(c->code);
	vt_context_free(c->context);
	vt_images_free(c->images);
}

static double retired_at(const struct checked *c, uint64_t offset, int32_t pid)
{
	const struct vt_evkey key = {.offset = offset, .image = 1, .pid = pid};
	const struct vt_evcounts *counts = vt_evstats_find(c->stats, &key);
	struct vt_evtotal t;

	assert_non_null(counts);
	vt_evstats_total(c->stats, &key, counts, VT_PM_RETIRED, &t);
	return t.sum;
}

static void check_sum(double got, double want)
{
	assert_true(got == want);
}

static void recorded_code_divides(void **state)
{
	struct checked c;
	struct vt_writer *w;
	int fd;

	(void)state;
	w = start(&fd, VT_IMAGE_FILE, COUNTS_UOPS);
	put_all(w, 2, 7, 0, 0);
	check(&c, fd, w, "zen3");
	check_sum(retired_at(&c, 0, 0), 200);
	check_sum(retired_at(&c, 2, 0), 200);
	check_sum(retired_at(&c, 5, 0), 700);
	assert_int_equal(c.event->division, VT_EVDIV_DONE);
	assert_int_equal(c.event->unlocated, 0);
	/* Two blocks, of 4 and 9 instructions, each of which executed equally often. */
	check_sum(c.event->check.squares, 0);
	check_sum(c.event->check.freedom, 3 + 8);
	drop(&c);
}

static void anonymous_code_divides(void **state)
{
	struct checked c;
	struct vt_writer *w;
	int fd;

	(void)state;
	w = start(&fd, VT_IMAGE_ANON, COUNTS_UOPS);
	put_all(w, 2, 7, 0, 0);
	check(&c, fd, w, "zen3");
	check_sum(retired_at(&c, 0x400000, 10), 200);
	assert_int_equal(c.event->division, VT_EVDIV_DONE);
	check_sum(c.event->check.freedom, 3 + 8);
	drop(&c);
}

/* 4 more of the first: of 14 samples in its block, two fifths of the micro-operations expect 5.6.
 */
static void unequal_samples_are_found(void **state)
{
	struct checked c;
	struct vt_writer *w;
	double squares;
	int fd;

	(void)state;
	w = start(&fd, VT_IMAGE_FILE, COUNTS_UOPS);
	put_all(w, 2, 7, 0, 0);
	put_samples(w, 0x400000, 4);
	check(&c, fd, w, "zen3");
	squares = (8 - 5.6) * (8 - 5.6) / 5.6 + 3 * (2 - 2.8) * (2 - 2.8) / 2.8;
	assert_true(c.event->check.squares > squares - 1e-9 &&
		    c.event->check.squares < squares + 1e-9);
	drop(&c);
}

static void what_cannot_be_divided_is_said(void **state)
{
	struct checked c;
	struct vt_writer *w;
	int fd;

	(void)state;
	w = start(&fd, VT_IMAGE_FILE, COUNTS_UOPS);
	put_all(w, 2, 7, 3, 0);
	check(&c, fd, w, "zen3");
	check_sum(retired_at(&c, 0x100, 0), 300);
	assert_int_equal(c.event->unknown, 3);
	assert_int_equal(c.event->division, VT_EVDIV_PARTLY);
	drop(&c);

	w = start(&fd, VT_IMAGE_FILE, COUNTS_UOPS);
	put_all(w, 2, 7, 0, 5);
	check(&c, fd, w, "zen3");
	assert_int_equal(c.event->unlocated, 5);
	assert_int_equal(c.event->division, VT_EVDIV_PARTLY);
	drop(&c);

	w = start(&fd, VT_IMAGE_FILE, COUNTS_UOPS);
	put_all(w, 2, 7, 0, 0);
	check(&c, fd, w, NULL);
	check_sum(retired_at(&c, 0, 0), 400);
	assert_int_equal(c.event->division, VT_EVDIV_UNDONE);
	drop(&c);

	/* Nothing but microcode. */
	w = start(&fd, VT_IMAGE_FILE, COUNTS_UOPS);
	put_all(w, 0, 0, 3, 0);
	check(&c, fd, w, "zen3");
	assert_int_equal(c.event->division, VT_EVDIV_UNDONE);
	drop(&c);
}

static void samples_by_cycles_are_left_alone(void **state)
{
	struct checked c;
	struct vt_writer *w;
	int fd;

	(void)state;
	w = start(&fd, VT_IMAGE_FILE, COUNTS_NOTHING);
	put_all(w, 2, 7, 3, 0);
	check(&c, fd, w, "zen3");
	check_sum(retired_at(&c, 0, 0), 400);
	assert_int_equal(c.event->population, VT_EVPOP_CYCLES);
	assert_int_equal(c.event->division, VT_EVDIV_NONE);
	check_sum(c.event->check.freedom, 0);
	drop(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorded_code_divides),
		cmocka_unit_test(anonymous_code_divides),
		cmocka_unit_test(unequal_samples_are_found),
		cmocka_unit_test(what_cannot_be_divided_is_said),
		cmocka_unit_test(samples_by_cycles_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
