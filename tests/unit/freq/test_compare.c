/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Estimates against what was counted, of streams that claim what cannot be. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "freq/compare.h"
#include "stream/kinds.h"
#include "stream/reader.h"
#include "stream/writer.h"
#include "tests/unit/common/profiles.h"
#include "tests/unit/common/streams.h"

#define IMAGE 7
#define CYCLE 1 /* id of the event */

static struct vt_error err;

/* What is made of a stream. */
struct made {
	struct vt_images *images;
	struct vt_profile *profile;
	struct vt_freqprofile *freqs;
	struct vt_flowcount *counts;
};

static void put_image(struct vt_writer *w, uint64_t id, const char *path)
{
	uint64_t *row = vt_writer_row(w, VT_IMAGE);

	row[VT_IMAGE_ID] = id;
	vt_writer_text(w, VT_IMAGE_PATH, path);
}

static struct vt_writer *begin(int fd)
{
	struct vt_writer *w = start_stream(fd);

	put_image(w, IMAGE, "/nowhere");
	return w;
}

static void put_f64(uint64_t *field, double v)
{
	memcpy(field, &v, sizeof(v));
}

static void put_estimate(struct vt_writer *w, uint64_t image, uint64_t offset, double executions,
			 uint64_t samples, enum vt_confidence confidence)
{
	uint64_t *row = vt_writer_row(w, VT_FREQ);

	row[VT_FREQ_IMAGE] = image;
	row[VT_FREQ_OFFSET] = offset;
	row[VT_FREQ_EVENT] = CYCLE;
	row[VT_FREQ_SAMPLES] = samples;
	put_f64(&row[VT_FREQ_EXECUTIONS], executions);
	put_f64(&row[VT_FREQ_HIGH], executions);
	row[VT_FREQ_CONFIDENCE] = confidence;
}

static void put_freq(struct vt_writer *w, uint64_t offset, double executions)
{
	put_estimate(w, IMAGE, offset, executions, 1, VT_CONFIDENCE_EXACT);
}

static void put_edge_of(struct vt_writer *w, uint64_t from, double executions,
			enum vt_confidence confidence)
{
	uint64_t *row = vt_writer_row(w, VT_EDGE);

	row[VT_EDGE_IMAGE] = IMAGE;
	row[VT_EDGE_FROM] = from;
	put_f64(&row[VT_EDGE_EXECUTIONS], executions);
	put_f64(&row[VT_EDGE_HIGH], INFINITY);
	row[VT_EDGE_CONFIDENCE] = confidence;
}

static void put_edge(struct vt_writer *w, uint64_t from, double executions)
{
	put_edge_of(w, from, executions, VT_CONFIDENCE_EXACT);
}

static void put_count_of(struct vt_writer *w, uint64_t image, uint64_t event, uint64_t samples)
{
	uint64_t *row = vt_writer_row(w, VT_COUNT);

	row[VT_COUNT_IMAGE] = image;
	row[VT_COUNT_EVENT] = event;
	row[VT_COUNT_SAMPLES] = samples;
}

static void put_count(struct vt_writer *w, uint64_t offset, uint64_t samples)
{
	uint64_t *row = vt_writer_row(w, VT_COUNT);

	row[VT_COUNT_IMAGE] = IMAGE;
	row[VT_COUNT_OFFSET] = offset;
	row[VT_COUNT_EVENT] = CYCLE;
	row[VT_COUNT_SAMPLES] = samples;
}

static void read_back(struct vt_writer *w, int fd, bool estimates, struct made *m)
{
	const struct vt_images_options o = {0};
	struct vt_context *c;

	m->images = vt_images_new(&o, &err);
	m->profile = new_profile(m->images);
	c = vt_profile_context(m->profile);
	m->freqs = vt_freqprofile_new();
	m->counts = vt_flowcount_new(c);
	assert_true(m->images && m->freqs && m->counts);
	vt_context_add(c, &(struct vt_consumer){.record = vt_flowcount_feed, .arg = m->counts});
	if (estimates)
		vt_context_add(c,
			       &(struct vt_consumer){.take = vt_freqprofile_feed, .arg = m->freqs});
	read_context(c, fd, w);
	assert_int_equal(vt_profile_finish(m->profile, &err), 0);
	vt_freqprofile_finish(m->freqs);
	assert_int_equal(vt_flowcount_finish(m->counts, &err), 0);
}

static void made_fini(struct made *m)
{
	vt_flowcount_free(m->counts);
	vt_freqprofile_free(m->freqs);
	free_profile(m->profile);
	vt_images_free(m->images);
}

/* Numbers that nobody can have counted are left out of the truth. */
static void test_impossible(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = begin(fd);
	struct made m;
	double n;

	(void)state;
	put_freq(w, 0, 5);
	put_freq(w, 0, (double)NAN);
	put_freq(w, 1, -1);
	put_freq(w, 2, (double)INFINITY);
	put_edge(w, 0, 3);
	put_edge(w, 0, (double)NAN);
	put_edge(w, 1, -(double)INFINITY);
	read_back(w, fd, false, &m);
	assert_int_equal(vt_flowcount_bad(m.counts), 5);
	assert_true(vt_flowcount_insn(m.counts, IMAGE, 0) == 5);
	assert_true(vt_flowcount_insn(m.counts, IMAGE, 1) == 0);
	assert_true(vt_flowcount_insn(m.counts, IMAGE, 2) == 0);
	assert_true(vt_flowcount_edge(m.counts, IMAGE, 0, 0, &n) && n == 3);
	assert_true(vt_flowcount_edge(m.counts, IMAGE, 1, 0, &n) && n == 0);
	made_fini(&m);
}

/* More samples without an estimate than 64 bits can count. */
static void test_too_many(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = begin(fd);
	struct vt_freqcompare_input in;
	struct vt_freqcompare c;
	struct made m;

	(void)state;
	put_freq(w, 0, 5);
	put_count(w, 0, UINT64_MAX);
	put_count(w, 1, UINT64_MAX);
	read_back(w, fd, true, &m);
	in = (struct vt_freqcompare_input){
		.estimate = m.freqs,
		.samples = m.profile,
		.images = m.images,
		.truth = m.counts,
		.truth_images = m.images,
	};
	assert_int_equal(vt_freqcompare(&in, &c, &err), 0);
	assert_int_equal(c.missing, UINT64_MAX);
	assert_true(c.insns.within[0] == 1);
	made_fini(&m);
}

/* Estimates that are in proportion to the truth are multiplied by the median of the factors. */
static void test_fit(void **state)
{
	static const double estimates[] = {5, 10, 20, 8}, truths[] = {10, 30, 20, 0};
	int fds[] = {scratch_file(), scratch_file()};
	struct vt_writer *estimate = begin(fds[0]), *truth = begin(fds[1]);
	struct vt_freqcompare_input in;
	struct vt_freqcompare c;
	struct made a, b;
	unsigned i;

	(void)state;
	for (i = 0; i < 4; i++) {
		put_freq(estimate, i, estimates[i]);
		put_freq(truth, i, truths[i]);
	}
	read_back(estimate, fds[0], true, &a);
	read_back(truth, fds[1], false, &b);
	in = (struct vt_freqcompare_input){
		.estimate = a.freqs,
		.samples = a.profile,
		.images = a.images,
		.truth = b.counts,
		.truth_images = b.images,
	};
	assert_int_equal(vt_freqcompare(&in, &c, &err), 0);
	assert_true(c.scale == 1);
	/* Off by 1/2, 2/3, nothing, and infinitely. */
	assert_true(c.insns.weight == 4 && c.insns.within[0] == 1);
	in.fit = true;
	assert_int_equal(vt_freqcompare(&in, &c, &err), 0);
	assert_float_equal(c.scale, 2, 1e-9);
	assert_true(c.insns.weight == 4 && c.insns.within[0] == 1);
	made_fini(&a);
	made_fini(&b);
}

/* ---- each number ---- */

/* Estimate, truth and samples of each offset. */
static const struct {
	double estimate, truth;
	uint64_t samples;
	enum vt_confidence confidence;
} insns[] = {
	{104, 100, 1, VT_CONFIDENCE_HIGH},   {92, 100, 2, VT_CONFIDENCE_HIGH},
	{114, 100, 4, VT_CONFIDENCE_MEDIUM}, {300, 100, 8, VT_CONFIDENCE_LOW},
	{0, 100, 16, VT_CONFIDENCE_LOW},     {50, 0, 32, VT_CONFIDENCE_LOW},
	{0, 0, 64, VT_CONFIDENCE_LOW},	     {100, 100, 128, VT_CONFIDENCE_NONE},
	{100, 100, 0, VT_CONFIDENCE_LOW},
};

/* Of the truth, one image is not there, and of another nothing was counted. */
static void compare_insns(struct vt_freqcompare *c)
{
	int fds[] = {scratch_file(), scratch_file()};
	struct vt_writer *estimate = start_stream(fds[0]), *truth = begin(fds[1]);
	struct vt_freqcompare_input in;
	struct made a, b;
	unsigned i;

	put_image(estimate, IMAGE - 1, "/before");
	put_image(estimate, IMAGE, "/nowhere");
	put_image(estimate, IMAGE + 1, "/behind");
	put_image(truth, IMAGE + 1, "/behind");
	for (i = 0; i < sizeof(insns) / sizeof(insns[0]); i++) {
		put_estimate(estimate, IMAGE, i, insns[i].estimate, insns[i].samples,
			     insns[i].confidence);
		put_freq(truth, i, insns[i].truth);
	}
	put_edge_of(estimate, 0, 109, VT_CONFIDENCE_HIGH);
	put_edge_of(estimate, 1, 5, VT_CONFIDENCE_HIGH);
	put_edge_of(estimate, 2, 80, VT_CONFIDENCE_LOW);
	put_edge(truth, 0, 100);
	put_edge(truth, 2, 40);
	put_estimate(estimate, IMAGE + 1, 0, 9, 9, VT_CONFIDENCE_HIGH);
	put_count_of(estimate, IMAGE - 1, CYCLE, 250);
	put_count_of(estimate, IMAGE, CYCLE, 1000);
	put_count_of(estimate, IMAGE, CYCLE + 1, 77);
	put_count_of(estimate, IMAGE + 1, CYCLE, 500);
	read_back(estimate, fds[0], true, &a);
	read_back(truth, fds[1], false, &b);
	in = (struct vt_freqcompare_input){
		.estimate = a.freqs,
		.samples = a.profile,
		.images = a.images,
		.truth = b.counts,
		.truth_images = b.images,
	};
	assert_int_equal(vt_freqcompare(&in, c, &err), 0);
	made_fini(&a);
	made_fini(&b);
}

static void test_insns(void **state)
{
	static const double buckets[VT_FREQCOMPARE_BUCKETS] = {
		[0] = 16, [8] = 2, [10] = 1 + 64, [12] = 4, [19] = 8 + 32};
	const double error = 0.04 + 2 * 0.08 + 4 * 0.14 + 8 * 2 + 16 + 32;
	const double distance = 4 / 104.0 + 2 * 0.08 + 4 * 14 / 114.0 + 8 * 2 / 3.0 + 16 + 32;
	struct vt_freqcompare c;
	unsigned i;

	(void)state;
	compare_insns(&c);
	assert_true(c.scale == 1);
	assert_int_equal(c.samples, 1750);
	assert_int_equal(c.not_counted, 750);
	/* What has no estimate is wrong as a whole. */
	assert_int_equal(c.missing, 1000 - 127);
	assert_true(c.insns.weight == 1000);
	assert_float_equal(c.insns.error, error + 873, 1e-9);
	assert_float_equal(c.insns.distance, distance + 873, 1e-9);
	assert_true(c.insns.within[0] == 1 + 64 && c.insns.within[1] == 1 + 64 + 2 &&
		    c.insns.within[2] == 1 + 64 + 2 + 4);
	for (i = 0; i < VT_FREQCOMPARE_BUCKETS; i++)
		assert_true(c.insns.buckets[i] == buckets[i]);
	assert_true(c.by_confidence[VT_CONFIDENCE_HIGH].weight == 3);
	assert_true(c.by_confidence[VT_CONFIDENCE_MEDIUM].weight == 4);
	assert_float_equal(c.by_confidence[VT_CONFIDENCE_MEDIUM].error, 4 * 0.14, 1e-9);
	assert_true(c.by_confidence[VT_CONFIDENCE_LOW].weight == 120);
	assert_true(c.by_confidence[VT_CONFIDENCE_NONE].weight == 0);
}

/* Edges count by how often they are executed; those that were not counted, not at all. */
static void test_edges(void **state)
{
	struct vt_freqcompare c;

	(void)state;
	compare_insns(&c);
	assert_true(c.edges.weight == 140);
	assert_true(c.edges.within[0] == 0 && c.edges.within[1] == 100 && c.edges.within[2] == 100);
	assert_float_equal(c.edges.error, 9 + 40, 1e-9);
	assert_float_equal(c.edges.distance, 100 * 9 / 109.0 + 20, 1e-9);
	assert_true(c.edges.buckets[11] == 100 && c.edges.buckets[19] == 40);
	assert_true(c.edges_by_confidence[VT_CONFIDENCE_HIGH].weight == 100);
	assert_true(c.edges_by_confidence[VT_CONFIDENCE_LOW].weight == 40);
}

/* The factor that half of the samples are not above. */
static void test_fit_by_samples(void **state)
{
	static const struct {
		double truths[3];
		uint64_t samples[3];
		double scale;
	} rows[] = {
		{{3, 1, 2}, {5, 1, 1}, 3}, {{1, 3, 2}, {2, 1, 2}, 2}, {{1, 2, 2}, {2, 1, 1}, 1},
		{{2, 1, 4}, {1, 0, 3}, 4}, {{0, 0, 0}, {1, 1, 1}, 1},
	};
	unsigned i, k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int fds[] = {scratch_file(), scratch_file()};
		struct vt_writer *estimate = begin(fds[0]), *truth = begin(fds[1]);
		struct vt_freqcompare_input in = {.fit = true};
		struct vt_freqcompare c;
		struct made a, b;

		for (k = 0; k < 3; k++) {
			put_estimate(estimate, IMAGE, k, 1, rows[i].samples[k], VT_CONFIDENCE_LOW);
			put_freq(truth, k, rows[i].truths[k]);
		}
		/* What has no factor. */
		put_estimate(estimate, IMAGE, k, 0, 100, VT_CONFIDENCE_LOW);
		put_freq(truth, k, 7);
		read_back(estimate, fds[0], true, &a);
		read_back(truth, fds[1], false, &b);
		in.estimate = a.freqs;
		in.samples = a.profile;
		in.images = a.images;
		in.truth = b.counts;
		in.truth_images = b.images;
		assert_int_equal(vt_freqcompare(&in, &c, &err), 0);
		assert_float_equal(c.scale, rows[i].scale, 1e-9);
		made_fini(&a);
		made_fini(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_impossible), cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_fit),	   cmocka_unit_test(test_insns),
		cmocka_unit_test(test_edges),	   cmocka_unit_test(test_fit_by_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
