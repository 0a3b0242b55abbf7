/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "listing/profile/profile.h"
#include "profile/profile.h"
#include "profile/ranking.h"
#include "stream/reader.h"
#include "stream/writer.h"
#include "tests/unit/common/profiles.h"
#include "tests/unit/common/streams.h"

#define KERNEL 1
#define USER   2

static struct vt_error err;

static void put_event(struct vt_writer *w, uint64_t id, const char *name, enum vt_policy policy,
		      uint64_t period)
{
	uint64_t *row = vt_writer_row(w, VT_EVENT);

	row[VT_EVENT_ID] = id;
	row[VT_EVENT_POLICY] = policy;
	row[VT_EVENT_PERIOD] = period;
	vt_writer_text(w, VT_EVENT_NAME, name);
}

static void put_image(struct vt_writer *w, uint64_t id, unsigned type, const char *path)
{
	uint64_t *row = vt_writer_row(w, VT_IMAGE);

	row[VT_IMAGE_ID] = id;
	row[VT_IMAGE_TYPE] = type;
	vt_writer_text(w, VT_IMAGE_PATH, path);
}

static uint64_t *put_map_of(struct vt_writer *w, int64_t pid, uint64_t start, uint64_t length,
			    uint64_t offset, uint64_t image, uint64_t prot)
{
	uint64_t *row = vt_writer_row(w, VT_MAP);

	row[VT_MAP_PID] = (uint64_t)pid;
	row[VT_MAP_TID] = (uint64_t)pid;
	row[VT_MAP_START] = start;
	row[VT_MAP_LENGTH] = length;
	row[VT_MAP_OFFSET] = offset;
	row[VT_MAP_IMAGE] = image;
	row[VT_MAP_PROT] = prot;
	row[VT_MAP_MISC] = USER;
	return row;
}

static void put_map(struct vt_writer *w, int64_t pid, uint64_t start, uint64_t length,
		    uint64_t offset, uint64_t image)
{
	put_map_of(w, pid, start, length, offset, image, 5);
}

static void put_sample(struct vt_writer *w, uint64_t event, int64_t pid, uint64_t ip, uint64_t misc,
		       uint64_t period)
{
	uint64_t *row = vt_writer_row(w, VT_SAMPLE);

	row[VT_SAMPLE_EVENT] = event;
	row[VT_SAMPLE_PID] = (uint64_t)pid;
	row[VT_SAMPLE_TID] = (uint64_t)pid;
	row[VT_SAMPLE_IP] = ip;
	row[VT_SAMPLE_MISC] = misc;
	row[VT_SAMPLE_PERIOD] = period;
	row[VT_SAMPLE_HAS] = period ? 0x101 : 1;
}

/* Ends the stream and reads it into a profile. */
static struct vt_profile *profile_of(struct vt_writer *w, int fd, struct vt_images *images)
{
	struct vt_profile *p = new_profile(images);

	read_context(vt_profile_context(p), fd, w);
	return p;
}

static const struct vt_place *place(const struct vt_profile *p, uint32_t image, int32_t pid,
				    uint64_t offset, uint32_t event)
{
	size_t i;

	for (i = 0; i < vt_profile_nplaces(p); i++) {
		const struct vt_place *at = vt_profile_place(p, i);

		if (at->image == image && at->pid == pid && at->offset == offset &&
		    at->event == event)
			return at;
	}
	return NULL;
}

static void expect(const struct vt_profile *p, uint32_t image, int32_t pid, uint64_t offset,
		   uint32_t event, uint64_t samples, uint64_t period)
{
	const struct vt_place *at = place(p, image, pid, offset, event);

	assert_non_null(at);
	assert_int_equal(at->samples, samples);
	assert_int_equal(at->period, period);
}

/* The same address is another place after something else was mapped there. */
static void resolves_at_the_time(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_profile *p;
	uint64_t offset;
	uint32_t image;

	(void)state;
	put_event(w, 7, "cycles", VT_POLICY_INTERRUPT, 0);
	put_image(w, 1, VT_IMAGE_FILE, "/bin/a");
	put_image(w, 2, VT_IMAGE_FILE, "/bin/b");
	put_map(w, 10, 0x1000, 0x1000, 0x400, 1);
	put_sample(w, 7, 10, 0x1010, USER, 5);
	put_sample(w, 7, 10, 0x1010, USER, 5);
	put_map(w, 10, 0x1000, 0x1000, 0x800, 2);
	put_sample(w, 7, 10, 0x1010, USER, 5);
	p = profile_of(w, fd, NULL);
	assert_int_equal(vt_profile_nplaces(p), 2);
	expect(p, 1, 0, 0x410, 0, 2, 10);
	expect(p, 2, 0, 0x810, 0, 1, 5);
	assert_int_equal(vt_profile_event(p, 0)->samples, 3);
	assert_int_equal(vt_profile_event(p, 0)->period, 15);
	assert_true(vt_context_find(vt_profile_context(p), 0x1010, &image, &offset));
	assert_int_equal(image, 2);
	assert_int_equal(offset, 0x810);
	assert_false(vt_context_find(vt_profile_context(p), 0x2000, &image, &offset));
	free_profile(p);
}

static void tells_causes_apart(void **state)
{
	static const struct {
		uint64_t misc;
		enum vt_unmapped why;
	} modes[] = {
		{0, VT_UNMAPPED_MODE},	       {KERNEL, VT_UNMAPPED_KERNEL},
		{USER, VT_UNMAPPED_USER},      {3, VT_UNMAPPED_HYPERVISOR},
		{4, VT_UNMAPPED_GUEST_KERNEL}, {5, VT_UNMAPPED_GUEST_USER},
	};
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_profile *p;
	uint64_t *row;
	size_t i;

	(void)state;
	put_event(w, 0, "cycles", VT_POLICY_PRECISE, 1);
	for (i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		put_sample(w, 0, 10, 0x5000, modes[i].misc, 1);
	row = vt_writer_row(w, VT_SAMPLE);
	row[VT_SAMPLE_HAS] = 0x100;
	row[VT_SAMPLE_PERIOD] = 1;
	p = profile_of(w, fd, NULL);
	for (i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		expect(p, VT_UNMAPPED_IMAGE, 0, modes[i].why, 0, 1, 1);
	expect(p, VT_UNMAPPED_IMAGE, 0, VT_UNMAPPED_NO_IP, 0, 1, 1);
	for (i = 0; i < VT_NUNMAPPED; i++)
		assert_string_not_equal(vt_unmapped_text(i), "?");
	assert_string_equal(vt_unmapped_text(VT_NUNMAPPED), "?");
	free_profile(p);
}

/* Anonymous code is another in each process, a file's is not. */
static void keeps_processes_apart_where_it_matters(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_profile *p;
	int pid;

	(void)state;
	put_event(w, 0, "cycles", VT_POLICY_INTERRUPT, 0);
	put_image(w, 1, VT_IMAGE_ANON, "//anon");
	put_image(w, 2, VT_IMAGE_FILE, "/lib/c");
	for (pid = 10; pid < 12; pid++) {
		put_map(w, pid, 0x1000, 0x1000, 0, 1);
		put_map(w, pid, 0x3000, 0x1000, 0, 2);
		put_sample(w, 0, pid, 0x1020, USER, 1);
		put_sample(w, 0, pid, 0x3020, USER, 1);
	}
	p = profile_of(w, fd, NULL);
	assert_int_equal(vt_profile_nplaces(p), 3);
	expect(p, 2, 0, 0x20, 0, 2, 2);
	assert_non_null(place(p, 1, 10, 0x1020, 0));
	assert_non_null(place(p, 1, 11, 0x1020, 0));
	free_profile(p);
}

/* Events stay apart; a period that was not recorded is the one asked for, or 1. */
static void keeps_events_apart(void **state)
{
	const char *shared[] = {"cycles"}, *one[] = {"cycles#4"}, *none[] = {"imiss"};
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_event_choice c;
	struct vt_profile *p;

	(void)state;
	put_event(w, 3, "cycles", VT_POLICY_INTERRUPT, 1000);
	put_event(w, 4, "cycles", VT_POLICY_PRECISE, 0);
	put_event(w, 5, "idle", VT_POLICY_EXACT, 0);
	put_sample(w, 4, 1, 0x10, USER, 0);
	put_sample(w, 3, 1, 0x10, USER, 0);
	put_sample(w, 9, 1, 0x10, USER, 0);
	p = profile_of(w, fd, NULL);
	assert_int_equal(vt_profile_nevents(p), 4);
	expect(p, VT_UNMAPPED_IMAGE, 0, VT_UNMAPPED_USER, 0, 1, 1000);
	expect(p, VT_UNMAPPED_IMAGE, 0, VT_UNMAPPED_USER, 1, 1, 1);
	assert_string_equal(vt_profile_event(p, 3)->name, "event 9");
	assert_int_equal(vt_event_choice_init(&c, p, NULL, 0, &err), 0);
	assert_int_equal(c.count, 3);
	assert_string_equal(c.label[0], "cycles#3");
	assert_string_equal(c.label[1], "cycles#4");
	assert_string_equal(c.label[2], "event 9");
	vt_event_choice_fini(&c);
	assert_int_equal(vt_event_choice_init(&c, p, shared, 1, &err), 0);
	assert_int_equal(c.count, 2);
	vt_event_choice_fini(&c);
	assert_int_equal(vt_event_choice_init(&c, p, one, 1, &err), 0);
	assert_int_equal(c.count, 1);
	assert_int_equal(c.index[0], 1);
	vt_event_choice_fini(&c);
	assert_int_equal(vt_event_choice_init(&c, p, none, 1, &err), -VT_E_NOTFOUND);
	assert_non_null(strstr(err.text, "cycles#3, cycles#4, idle, event 9"));
	free_profile(p);
}

/* A profile written as counts and read again is the same profile; counts add up. */
static void counts_are_a_profile(void **state)
{
	int fd = scratch_file(), fd2 = scratch_file(), turn;
	struct vt_writer *w = start_stream(fd);
	struct vt_profile *p, *q;
	uint64_t i, *row;

	(void)state;
	put_event(w, 1, "cycles", VT_POLICY_INTERRUPT, 0);
	put_image(w, 1, VT_IMAGE_FILE, "/bin/a");
	put_map(w, 10, 0x1000, 0x1000, 0, 1);
	for (i = 0; i < 5000; i++)
		put_sample(w, 1, 10, 0x1000 + i % 97, USER, i);
	put_sample(w, 1, 10, 0x9000, USER, 3);
	row = vt_writer_row(w, VT_LOST);
	row[VT_LOST_COUNT] = 12;
	row = vt_writer_row(w, VT_GAP);
	row[VT_GAP_BYTES] = 100;
	row[VT_GAP_RECORDS] = 2;
	p = profile_of(w, fd, NULL);
	assert_int_equal(vt_profile_nplaces(p), 98);
	assert_int_equal(vt_context_losses(vt_profile_context(p))->lost_places, 1);
	assert_int_equal(vt_context_losses(vt_profile_context(p))->lost, 12);
	assert_int_equal(vt_context_losses(vt_profile_context(p))->gaps, 1);
	assert_int_equal(vt_context_losses(vt_profile_context(p))->gap_bytes, 100);
	assert_int_equal(vt_context_losses(vt_profile_context(p))->gap_records, 2);

	w = start_stream(fd2);
	put_event(w, 1, "cycles", VT_POLICY_INTERRUPT, 0);
	for (turn = 0; turn < 2; turn++) {
		for (i = 0; i < 98; i++) {
			const struct vt_place *a = vt_profile_place(p, i);

			row = vt_writer_row(w, VT_COUNT);
			row[VT_COUNT_IMAGE] = a->image;
			row[VT_COUNT_OFFSET] = a->offset;
			row[VT_COUNT_EVENT] = 1;
			row[VT_COUNT_SAMPLES] = a->samples;
			row[VT_COUNT_PERIOD] = a->period;
		}
	}
	/* Of an event that nothing tells of. */
	row = vt_writer_row(w, VT_COUNT);
	row[VT_COUNT_IMAGE] = 1;
	row[VT_COUNT_EVENT] = 5;
	row[VT_COUNT_SAMPLES] = 3;
	row[VT_COUNT_PERIOD] = 30;
	q = profile_of(w, fd2, NULL);
	assert_int_equal(vt_profile_nplaces(q), 99);
	assert_int_equal(vt_profile_nevents(q), 2);
	assert_string_equal(vt_profile_event(q, 1)->name, "event 5");
	assert_string_equal(vt_profile_event(q, 1)->unit, "");
	assert_int_equal(vt_profile_event(q, 1)->samples, 3);
	assert_int_equal(vt_profile_event(q, 1)->period, 30);
	expect(q, 1, 0, 0, 1, 3, 30);
	for (i = 0; i < 98; i++) {
		const struct vt_place *a = vt_profile_place(p, i);

		expect(q, a->image, 0, a->offset, 0, 2 * a->samples, 2 * a->period);
	}
	free_profile(p);
	free_profile(q);
}

/* Rows without symbols: one for each cause, all of them unknown; ties in a fixed order. */
static void ranks_what_is_unknown(void **state)
{
	struct vt_images_options o = {.warn = NULL};
	struct vt_images *images = vt_images_new(&o, &err);
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_ranking *r;
	struct vt_profile *p;
	struct vt_buf label = VT_BUF_INIT;

	(void)state;
	assert_non_null(images);
	put_event(w, 0, "cycles", VT_POLICY_INTERRUPT, 0);
	put_image(w, 1, VT_IMAGE_FILE, "/no/such/b");
	put_image(w, 2, VT_IMAGE_FILE, "/no/such/a");
	put_map(w, 10, 0x1000, 0x1000, 0, 1);
	put_map(w, 10, 0x2000, 0x1000, 0, 2);
	put_sample(w, 0, 10, 0x1010, USER, 1);
	put_sample(w, 0, 10, 0x1020, USER, 1);
	put_sample(w, 0, 10, 0x2010, USER, 9);
	put_sample(w, 0, 10, 0x2030, USER, 1);
	put_sample(w, 0, 10, 0x7000, USER, 1);
	p = profile_of(w, fd, images);
	r = vt_ranking_new(p, images, VT_LEVEL_PROCEDURE, &err);
	assert_non_null(r);
	assert_int_equal(vt_ranking_sort(r, 0, false, &err), 0);
	assert_int_equal(vt_ranking_count(r), 3);
	assert_string_equal(vt_ranking_at(r, 0)->path, "/no/such/a");
	assert_string_equal(vt_ranking_at(r, 1)->path, "/no/such/b");
	assert_string_equal(vt_ranking_at(r, 2)->path, "[unknown]");
	assert_int_equal(vt_ranking_tally(r, 1, 0).samples, 2);
	assert_int_equal(vt_ranking_unknown(r, 0).samples, 5);
	assert_int_equal(vt_ranking_unknown(r, 0).period, 13);
	vt_rank_label(vt_ranking_at(r, 0), VT_LEVEL_PROCEDURE, &label);
	assert_string_equal(vt_buf_str(&label), "[file not found]");
	vt_buf_free(&label);
	assert_int_equal(vt_ranking_sort(r, 0, true, &err), 0);
	assert_int_equal(vt_ranking_tally(r, 0, 0).period, 10);
	vt_ranking_free(r);
	free_profile(p);
	vt_images_free(images);
}

/* Whether the places found are those that a look at all of them finds, in order. */
static void same_as_all(const struct vt_profile *p, uint32_t image, uint64_t first, uint64_t last,
			size_t *seen)
{
	const struct vt_place *const *found = NULL;
	size_t i, n = 0, want = 0;

	assert_true(vt_profile_find_places(p, image, 0, first, last, &found, &n));
	for (i = 0; i < vt_profile_nplaces(p); i++) {
		const struct vt_place *at = vt_profile_place(p, i);

		want += at->image == image && at->pid == 0 && at->offset >= first &&
			at->offset <= last;
	}
	assert_int_equal(n, want);
	for (i = 0; i < n; i++) {
		assert_int_equal(found[i]->image, image);
		assert_in_range(found[i]->offset, first, last);
		assert_true(!i || found[i - 1]->offset <= found[i]->offset);
	}
	*seen += n;
}

/*
 * Procedures are listed from the places in them: ranges that share nothing are answered with each
 * place once, so that a listing of all procedures looks at as many places as there are.
 */
static void finds_places_by_offset(void **state)
{
	struct vt_profile *p = new_profile(NULL);
	const struct vt_place *const *none;
	uint64_t offset = 1, start;
	size_t i, n, seen = 0;

	(void)state;
	assert_non_null(p);
	assert_true(vt_profile_find_places(p, 1, 0, 0, UINT64_MAX, &none, &n));
	assert_int_equal(n, 0);
	for (i = 0; i < 1500; i++) {
		enum vt_profile_kind kind = i % 5 ? VT_PROFILE_LISTED : VT_PROFILE_CYCLES;

		offset = offset * 6364136223846793005u + 1442695040888963407u;
		assert_int_equal(
			vt_profile_count(p, kind, (uint32_t)(i % 3), offset >> 52, 1, &err), 0);
		/* One that is added belongs to the next answer. */
		if (i % 500 == 250)
			same_as_all(p, 1, 100, 3000, &n);
	}
	for (start = 0; start < 1u << 12; start += 128)
		for (i = 0; i < 3; i++)
			same_as_all(p, (uint32_t)i, start, start + 127, &seen);
	assert_int_equal(seen, vt_profile_nplaces(p));
	same_as_all(p, 2, UINT64_MAX, UINT64_MAX, &seen);
	same_as_all(p, 7, 0, UINT64_MAX, &seen);
	same_as_all(p, 0, 50, 49, &seen);
	assert_int_equal(seen, vt_profile_nplaces(p));
	assert_true(vt_profile_find_places(p, 0, 9, 0, UINT64_MAX, &none, &n));
	assert_int_equal(n, 0);
	free_profile(p);
}

/*
 * What was found for a sample holds for the next in the same mapping, process and mode, and for no
 * other.  All these samples are one run.
 */
static void looks_again_elsewhere(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_profile *p;
	uint64_t *row;

	(void)state;
	put_event(w, 7, "cycles", VT_POLICY_EXACT, 100);
	put_event(w, 8, "odd", VT_NPOLICIES, 0);
	put_map(w, 10, 0x1000, 0x1000, 0, 1);
	put_map(w, 10, 0x2000, 0x1000, 0, 2);
	put_map(w, 11, 0x1000, 0x1000, 0, 3);
	put_sample(w, 7, 10, 0x1001, USER, 1);
	put_sample(w, 7, 10, 0x1000, USER, 1);
	put_sample(w, 7, 10, 0x1fff, USER | 0x4000, 1);
	put_sample(w, 7, 10, 0x2000, USER, 1);
	put_sample(w, 7, 10, 0x1fff, USER, 1);
	put_sample(w, 7, 11, 0x1fff, USER, 1);
	put_sample(w, 7, 11, 0x1fff, KERNEL, 1);
	put_sample(w, 7, 11, 0x1ffe, USER, 1);
	put_sample(w, 7, 0, 0x1ffd, USER, 1);
	put_sample(w, 8, 11, 0xfff, USER, 1);
	row = vt_writer_row(w, VT_SAMPLE);
	row[VT_SAMPLE_EVENT] = 7;
	row[VT_SAMPLE_HAS] = 0x101; /* a period of 0 that was recorded */
	p = profile_of(w, fd, NULL);
	assert_int_equal(vt_profile_nplaces(p), 10);
	expect(p, 1, 0, 0, 0, 1, 1);
	expect(p, 1, 0, 1, 0, 1, 1);
	expect(p, 1, 0, 0xfff, 0, 2, 2);
	expect(p, 2, 0, 0, 0, 1, 1);
	expect(p, 3, 0, 0xfff, 0, 1, 1);
	expect(p, 3, 0, 0xffe, 0, 1, 1);
	expect(p, VT_UNMAPPED_IMAGE, 0, VT_UNMAPPED_KERNEL, 0, 1, 1);
	expect(p, VT_UNMAPPED_IMAGE, 0, VT_UNMAPPED_USER, 0, 1, 1);
	expect(p, VT_UNMAPPED_IMAGE, 0, VT_UNMAPPED_USER, 1, 1, 1);
	expect(p, VT_UNMAPPED_IMAGE, 0, VT_UNMAPPED_MODE, 0, 1, 0);
	assert_int_equal(vt_profile_event(p, 0)->single, 10);
	assert_int_equal(vt_profile_event(p, 0)->exact_ip, 1);
	assert_int_equal(vt_profile_event(p, 0)->policy, VT_POLICY_EXACT);
	assert_int_equal(vt_profile_event(p, 0)->sampling, 100);
	assert_int_equal(vt_profile_event(p, 1)->single, 1);
	assert_int_equal(vt_profile_event(p, 1)->exact_ip, 0);
	assert_int_equal(vt_profile_event(p, 1)->policy, VT_POLICY_UNKNOWN);
	free_profile(p);
}

/* What the caller counts has a column of its own, whatever names the stream's events have. */
static void counts_by_kind(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_profile *p;
	int i;

	(void)state;
	put_event(w, 0, "cycles", VT_POLICY_INTERRUPT, 0);
	put_event(w, 1, "executions", VT_POLICY_INTERRUPT, 0);
	p = profile_of(w, fd, NULL);
	assert_true(vt_profile_estimate_event(p, VT_PROFILE_LISTED) == SIZE_MAX);
	for (i = 0; i < 2; i++) {
		assert_int_equal(vt_profile_count(p, VT_PROFILE_LISTED, 1, 0x10, 3, &err), 0);
		assert_int_equal(vt_profile_count(p, VT_PROFILE_CYCLES, 1, 0x10, 5, &err), 0);
		assert_int_equal(vt_profile_count(p, VT_PROFILE_LISTED, 2, 0x20, 7, &err), 0);
	}
	assert_int_equal(vt_profile_nevents(p), 4);
	assert_int_equal(vt_profile_nplaces(p), 3);
	assert_int_equal(vt_profile_estimate_event(p, VT_PROFILE_LISTED), 2);
	assert_int_equal(vt_profile_estimate_event(p, VT_PROFILE_CYCLES), 3);
	expect(p, 1, 0, 0x10, 2, 6, 6);
	expect(p, 2, 0, 0x20, 2, 14, 14);
	expect(p, 1, 0, 0x10, 3, 10, 10);
	assert_string_equal(vt_profile_event(p, 2)->name, "executions");
	assert_string_equal(vt_profile_event(p, 3)->name, "estimated cycles");
	for (i = 0; i < 4; i++)
		assert_int_equal(vt_profile_event(p, (size_t)i)->policy,
				 i < 2 ? VT_POLICY_INTERRUPT : VT_POLICY_EXACT);
	free_profile(p);
}

static void is_patched(const struct vt_images *images, uint32_t id, uint64_t first, uint64_t end)
{
	assert_false(vt_images_is_patched(images, id, first - 1));
	assert_true(vt_images_is_patched(images, id, first));
	assert_true(vt_images_is_patched(images, id, end - 1));
	assert_false(vt_images_is_patched(images, id, end));
}

/*
 * Code that is writable, or that is announced a second time, may not be what its file has; of a
 * mapping that was announced in part before, that part.
 */
static void notes_patched_code(void **state)
{
	struct vt_images_options o = {.warn = NULL};
	struct vt_images *images = vt_images_new(&o, &err);
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_profile *p;
	uint32_t id;

	(void)state;
	assert_non_null(images);
	for (id = 1; id < 9; id++)
		put_image(w, id,
			  id == 4   ? VT_IMAGE_ANON
			  : id == 5 ? VT_IMAGE_VDSO
				    : VT_IMAGE_FILE,
			  "/no/such/file");
	put_map_of(w, 10, 0x10000, 0x2000, 0x400, 1, 7);
	put_map_of(w, 10, 0x20000, 0x2000, 0x400, 2, 5);
	put_map_of(w, 11, 0x30000, 0x2000, 0x400, 3, 3);
	put_map_of(w, 10, 0x40000, 0x2000, 0x400, 4, 7);
	put_map_of(w, 10, 0x50000, 0x2000, 0x400, 5, 7);
	put_map_of(w, 10, 0x60000, 0x1000, 0x400, 6, 5);
	put_map_of(w, 10, 0x60000, 0x3000, 0x400, 6, 5);
	put_map_of(w, 10, 0x71000, 0x1000, 0x1400, 7, 5);
	put_map_of(w, 10, 0x70000, 0x3000, 0x400, 7, 5);
	/* Of one that came later, too, unless its file tells of relocations. */
	put_map_of(w, 10, 0x80000, 0x2000, 0x400, 8, 7)[VT_MAP_TIME] = 1;
	p = profile_of(w, fd, images);
	is_patched(images, 1, 0x400, 0x2400);
	assert_false(vt_images_is_patched(images, 2, 0x400));
	assert_false(vt_images_is_patched(images, 3, 0x400));
	assert_false(vt_images_is_patched(images, 4, 0x40000));
	is_patched(images, 5, 0, 0x2000);
	is_patched(images, 6, 0x400, 0x1400);
	is_patched(images, 7, 0x1400, 0x2400);
	is_patched(images, 8, 0x400, 0x2400);
	free_profile(p);
	vt_images_free(images);
}

/* By image, process and offset, whatever order they came in; bounds belong to a range. */
static void finds_places_of_a_process(void **state)
{
	static const int32_t pids[] = {12, 10, 11};
	const struct vt_place *const *found = NULL;
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_profile *p;
	size_t i, n = 0;

	(void)state;
	put_event(w, 1, "cycles", VT_POLICY_INTERRUPT, 0);
	put_event(w, 2, "misses", VT_POLICY_INTERRUPT, 0);
	put_image(w, 1, VT_IMAGE_ANON, "//anon");
	for (i = 0; i < 3; i++)
		put_map(w, pids[i], 0x1000, 0x1000, 0, 1);
	for (i = 0; i < 3; i++) {
		put_sample(w, 2, pids[i], 0x1030, USER, 1);
		put_sample(w, 1, pids[i], 0x1030, USER, 1);
		put_sample(w, 1, pids[i], 0x1020, USER, 1);
		put_sample(w, 1, pids[i], 0x1010, USER, 1);
	}
	p = profile_of(w, fd, NULL);
	assert_int_equal(vt_profile_nplaces(p), 12);
	for (i = 0; i < 3; i++) {
		assert_true(vt_profile_find_places(p, 1, pids[i], 0x1020, 0x1030, &found, &n));
		assert_int_equal(n, 3);
		assert_ptr_equal(found[0], place(p, 1, pids[i], 0x1020, 0));
		assert_ptr_equal(found[1], place(p, 1, pids[i], 0x1030, 0));
		assert_ptr_equal(found[2], place(p, 1, pids[i], 0x1030, 1));
		assert_true(vt_profile_find_places(p, 1, pids[i], 0x1011, 0x102f, &found, &n));
		assert_int_equal(n, 1);
		assert_true(vt_profile_find_places(p, 1, pids[i], 0x1020, 0x1020, &found, &n));
		assert_int_equal(n, 1);
	}
	free_profile(p);
}

/* A block of instructions of 3 and 2 bytes. */
static void put_block(struct vt_writer *w, uint64_t id, uint64_t addr)
{
	static const uint8_t lengths[] = {3, 2};
	uint64_t *row = vt_writer_row(w, VT_BLOCK);

	row[VT_BLOCK_ID] = id;
	row[VT_BLOCK_PID] = 10;
	row[VT_BLOCK_ADDR] = addr;
	row[VT_BLOCK_SIZE] = 5;
	row[VT_BLOCK_INSNS] = 2;
	vt_writer_bytes(w, VT_BLOCK_LENGTHS, lengths, sizeof(lengths));
	vt_writer_words(w, VT_BLOCK_SLOTS, NULL, 0);
}

/* Executes these blocks, each but the first wholly: that from its second instruction on. */
static void put_exec(struct vt_writer *w, const uint8_t *ids, uint64_t n)
{
	uint8_t wide[16] = {0};
	uint64_t *row = vt_writer_row(w, VT_EXEC), i;

	for (i = 0; i < n; i++)
		wide[2 * i] = ids[i];
	row[VT_EXEC_PID] = row[VT_EXEC_TID] = 10;
	row[VT_EXEC_BLOCKS] = n;
	row[VT_EXEC_SKIP] = 1;
	row[VT_EXEC_INSNS] = 2 * n - 1;
	row[VT_EXEC_WIDTH] = 2;
	vt_writer_bytes(w, VT_EXEC_IDS, wide, 2 * n);
	vt_writer_bytes(w, VT_EXEC_DATA, NULL, 0);
}

/*
 * Executed code is counted by instruction, at the places of its blocks: of a file, generated,
 * mapped only later, not at all.  A stream that is but a sample of what ran is not counted.
 */
static void counts_executed_code(void **state)
{
	static const char *const facts[] = {"samplinx", "sampling "};
	static const uint8_t ids[] = {0, 0, 1, 2, 3}, unknown[] = {9};
	int sampled;

	(void)state;
	for (sampled = 0; sampled < 2; sampled++) {
		int fd = scratch_file();
		struct vt_writer *w = start_stream(fd);
		struct vt_profile *p;
		size_t i;

		for (i = 0; i < 2; i++) {
			vt_writer_row(w, VT_META);
			vt_writer_text(w, VT_META_KEY, facts[i]);
		}
		if (sampled) {
			vt_writer_row(w, VT_META);
			vt_writer_text(w, VT_META_KEY, "sampling");
		}
		put_image(w, 1, VT_IMAGE_FILE, "/bin/a");
		put_image(w, 2, VT_IMAGE_ANON, "//anon");
		put_map(w, 10, 0x1000, 0x1000, 0x400, 1);
		put_map(w, 10, 0x5000, 0x1000, 0, 2);
		put_block(w, 0, 0x1010);
		put_block(w, 1, 0x5020);
		put_block(w, 2, 0x9000);
		put_block(w, 3, 0x3030);
		put_exec(w, ids, 5);
		put_exec(w, unknown, 1);
		put_map(w, 10, 0x3000, 0x1000, 0x800, 1);
		p = profile_of(w, fd, NULL);
		assert_int_equal(vt_profile_finish(p, &err), 0);
		assert_int_equal(vt_profile_finish(p, &err), 0);
		assert_int_equal(vt_profile_nevents(p), !sampled);
		assert_int_equal(vt_profile_bad(p), !sampled);
		assert_int_equal(vt_profile_nplaces(p), sampled ? 0 : 7);
		if (!sampled) {
			expect(p, 1, 0, 0x410, 0, 1, 1);
			expect(p, 1, 0, 0x413, 0, 2, 2);
			expect(p, 2, 10, 0x5020, 0, 1, 1);
			expect(p, 2, 10, 0x5023, 0, 1, 1);
			expect(p, VT_UNMAPPED_IMAGE, 0, VT_UNMAPPED_USER, 0, 2, 2);
			expect(p, 1, 0, 0x830, 0, 1, 1);
			expect(p, 1, 0, 0x833, 0, 1, 1);
			assert_string_equal(vt_profile_event(p, 0)->name, "instructions");
			assert_int_equal(vt_profile_event(p, 0)->policy, VT_POLICY_EXACT);
			assert_int_equal(vt_profile_event(p, 0)->sampling, 1);
		}
		free_profile(p);
	}
}

/* Executed code and an event of the stream may have one name: the label says which is which. */
static void labels_executed_code(void **state)
{
	static const uint8_t ids[] = {0};
	const char *one[] = {"instructions#executed"};
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_event_choice c;
	struct vt_profile *p;

	(void)state;
	put_event(w, 5, "instructions", VT_POLICY_PRECISE, 0);
	put_sample(w, 5, 10, 0x1010, USER, 0);
	put_block(w, 0, 0x1010);
	put_exec(w, ids, 1);
	p = profile_of(w, fd, NULL);
	assert_int_equal(vt_profile_finish(p, &err), 0);
	assert_int_equal(vt_event_choice_init(&c, p, NULL, 0, &err), 0);
	assert_int_equal(c.count, 2);
	assert_string_equal(c.label[0], "instructions#5");
	assert_string_equal(c.label[1], "instructions#executed");
	vt_event_choice_fini(&c);
	assert_int_equal(vt_event_choice_init(&c, p, one, 1, &err), 0);
	assert_int_equal(c.count, 1);
	assert_int_equal(c.index[0], 1);
	vt_event_choice_fini(&c);
	free_profile(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resolves_at_the_time),
		cmocka_unit_test(tells_causes_apart),
		cmocka_unit_test(keeps_processes_apart_where_it_matters),
		cmocka_unit_test(keeps_events_apart),
		cmocka_unit_test(counts_are_a_profile),
		cmocka_unit_test(ranks_what_is_unknown),
		cmocka_unit_test(finds_places_by_offset),
		cmocka_unit_test(looks_again_elsewhere),
		cmocka_unit_test(counts_by_kind),
		cmocka_unit_test(notes_patched_code),
		cmocka_unit_test(finds_places_of_a_process),
		cmocka_unit_test(counts_executed_code),
		cmocka_unit_test(labels_executed_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
