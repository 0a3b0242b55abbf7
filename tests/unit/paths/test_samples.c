/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the samples of a stream ask: histories, pairs, stacks, and what they stand for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "paths/samples.h"
#include "stream/profileme.h"
#include "tests/unit/common/profiles.h"
#include "tests/unit/common/scenes.h"
#include "tests/unit/common/streams.h"

static struct vt_error err;

#define EVENT 7
#define START 0x400000

struct taken {
	int fd;
	struct vt_writer *w;
	struct vt_images *images;
	struct vt_context *context;
	struct vt_pathplaces places;
	struct vt_pathsamples s;
};

static void start_samples(struct taken *t, uint32_t branches, enum vt_pathstacks use)
{
	const struct vt_images_options o = {.warn = NULL};

	*t = (struct taken){.fd = scratch_file()};
	t->w = start_stream(t->fd);
	scene_image(t->w, 1, "/no/such/file");
	scene_map(t->w, START, 1);
	t->images = vt_images_new(&o, &err);
	t->context = vt_context_new(t->images);
	assert_true(t->images && t->context);
	vt_pathplaces_init(&t->places);
	assert_int_equal(vt_pathsamples_init(&t->s, t->context, &t->places, branches, use, &err),
			 0);
	vt_context_add(t->context,
		       &(struct vt_consumer){.record = vt_pathsamples_feed, .arg = &t->s});
}

static void drop_samples(struct taken *t)
{
	vt_pathsamples_fini(&t->s);
	vt_pathplaces_fini(&t->places);
	vt_context_free(t->context);
	vt_images_free(t->images);
}

static uint64_t *put_sample(struct taken *t, uint64_t ip)
{
	uint64_t *row = vt_writer_row(t->w, VT_SAMPLE);

	row[VT_SAMPLE_PID] = row[VT_SAMPLE_TID] = 10;
	row[VT_SAMPLE_EVENT] = EVENT;
	row[VT_SAMPLE_IP] = ip;
	row[VT_SAMPLE_PERIOD] = 100;
	row[VT_SAMPLE_MISC] = 2;
	row[VT_SAMPLE_HAS] = VT_HAS_IP | VT_HAS_TID | VT_HAS_PERIOD;
	return row;
}

static uint64_t *put_history(struct taken *t, uint64_t ip, uint64_t history, uint64_t n)
{
	uint64_t *row = put_sample(t, ip);

	vt_pm_set(row, VT_SAMPLE_HISTORY, history);
	vt_pm_set(row, VT_SAMPLE_HISTORY_N, n);
	return row;
}

static const struct vt_pathquestion *get_question(const struct taken *t, size_t i)
{
	assert_true(i < t->s.questions.count);
	return vt_hash_at(&t->s.questions, i);
}

static void histories_are_cut(void **state)
{
	const struct vt_pathquestion *q;
	struct taken t;
	uint64_t *row;

	(void)state;
	start_samples(&t, 4, VT_PATHSTACKS_USED);
	put_history(&t, START + 1, 0xf5, 8);
	put_history(&t, START + 1, 0x05, 4);
	put_history(&t, START + 1, 0x05, 3);
	put_sample(&t, START + 1);
	put_history(&t, 0x10, 1, 4);
	row = put_history(&t, START + 1, 1, 4);
	vt_pm_tell(row, VT_PM_EVENT(ABORTED), true);
	read_context(t.context, t.fd, t.w);
	assert_int_equal(t.s.samples, 6);
	assert_int_equal(t.s.untold, 1);
	assert_int_equal(t.s.unmapped, 1);
	assert_int_equal(t.s.aborted, 1);
	assert_int_equal(t.s.questions.count, 2);
	q = get_question(&t, 0);
	assert_true(q->history == 5 && q->branches == 4 && q->count == 2);
	assert_true(q->event == EVENT && q->other == VT_PATHPLACE_NONE && q->stack == 0);
	assert_true(q->executions == 200);
	q = get_question(&t, 1);
	assert_true(q->history == 5 && q->branches == 3 && q->count == 1);
	drop_samples(&t);
}

static void put_pair(struct taken *t, uint64_t first, uint64_t second, uint64_t distance)
{
	uint64_t *row = put_history(t, first, 1, 1);

	vt_pm_set(row, VT_SAMPLE_PAIR, 1);
	row = put_history(t, second, 1, 1);
	vt_pm_set(row, VT_SAMPLE_PAIR, 2);
	vt_pm_set(row, VT_SAMPLE_PAIR_DISTANCE, distance);
}

static void pairs_share_their_period(void **state)
{
	const struct vt_pathquestion *q;
	struct taken t;

	(void)state;
	start_samples(&t, 4, VT_PATHSTACKS_UNUSED);
	put_pair(&t, START + 1, START + 9, 3);
	put_pair(&t, 0x10, START + 9, 3);
	put_pair(&t, START + 1, START + 9, 65536);
	read_context(t.context, t.fd, t.w);
	q = get_question(&t, 0);
	assert_true(q->count == 2 && q->other == VT_PATHPLACE_NONE);
	assert_true(q->executions == 100);
	q = get_question(&t, 1);
	assert_true(q->count == 1 && q->other == get_question(&t, 0)->place && q->distance == 3);
	/* The first one is nowhere, or too far away. */
	q = get_question(&t, 2);
	assert_true(q->count == 2 && q->other == VT_PATHPLACE_NONE && q->distance == 0);
	drop_samples(&t);
}

static void groups_have_ways(void **state)
{
	static const struct {
		const char *ways;
		double executions;
	} rows[] = {{"4", 25}, {"2", 50}, {"1", 50}, {"1000001", 50}, {"nan", 50}};
	struct taken t;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		start_samples(&t, 4, VT_PATHSTACKS_UNUSED);
		vt_writer_meta(t.w, "vsim.ways", rows[i].ways);
		put_pair(&t, START + 1, START + 9, 3);
		read_context(t.context, t.fd, t.w);
		assert_true(get_question(&t, 0)->executions == rows[i].executions);
		drop_samples(&t);
	}
}

static void put_stack(struct taken *t)
{
	const uint64_t from[] = {START + 5, 0x20}, to[] = {START + 1, START + 3};

	vt_writer_words(t->w, VT_SAMPLE_BR_FROM, from, 2);
	vt_writer_words(t->w, VT_SAMPLE_BR_TO, to, 2);
}

static void stacks_are_used_or_the_truth(void **state)
{
	static const enum vt_pathstacks uses[] = {VT_PATHSTACKS_USED, VT_PATHSTACKS_UNUSED,
						  VT_PATHSTACKS_TRUE};
	uint32_t places[2 * VT_PATHS_STACK];
	const struct vt_pathquestion *q;
	struct taken t;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		start_samples(&t, 4, uses[i]);
		put_history(&t, START + 1, 1, 1);
		put_stack(&t);
		put_sample(&t, START + 1);
		put_stack(&t);
		read_context(t.context, t.fd, t.w);
		/* Without a history, a stack tells the path unless it is only the truth of one. */
		assert_int_equal(t.s.untold, uses[i] == VT_PATHSTACKS_USED ? 0 : 1);
		q = get_question(&t, 0);
		assert_int_equal(q->count, uses[i] == VT_PATHSTACKS_USED ? 2 : 1);
		assert_int_equal(q->branches, uses[i] == VT_PATHSTACKS_USED ? 0 : 1);
		assert_int_equal(q->stack != 0, uses[i] == VT_PATHSTACKS_USED);
		assert_int_equal(t.s.nlist, uses[i] == VT_PATHSTACKS_TRUE);
		if (q->stack) {
			assert_int_equal(vt_pathsamples_stack(&t.s, q->stack, places), 4);
			assert_true(vt_pathplaces_get(&t.places, places[0])->offset == 5);
			assert_true(vt_pathplaces_get(&t.places, places[1])->offset == 1);
			assert_int_equal(places[2], VT_PATHPLACE_NONE);
			assert_true(vt_pathplaces_get(&t.places, places[3])->offset == 3);
		}
		drop_samples(&t);
	}
}

static void targets_are_transfers(void **state)
{
	const struct vt_pathtransfer *went;
	struct taken t;
	uint64_t *row;
	int i;

	(void)state;
	start_samples(&t, 4, VT_PATHSTACKS_UNUSED);
	for (i = 0; i < 2; i++) {
		row = put_history(&t, START + 1, 1, 1);
		vt_pm_set(row, VT_SAMPLE_TARGET, START + 0x40);
	}
	read_context(t.context, t.fd, t.w);
	assert_int_equal(t.places.transfers.count, 1);
	went = vt_hash_at(&t.places.transfers, 0);
	assert_true(vt_pathplaces_get(&t.places, went->from)->offset == 1);
	assert_true(vt_pathplaces_get(&t.places, went->to)->offset == 0x40);
	assert_true(went->count == 2);
	drop_samples(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(histories_are_cut),
		cmocka_unit_test(pairs_share_their_period),
		cmocka_unit_test(groups_have_ways),
		cmocka_unit_test(stacks_are_used_or_the_truth),
		cmocka_unit_test(targets_are_transfers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
