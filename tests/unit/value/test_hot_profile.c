/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "stream/reader.h"
#include "tests/unit/common/hots.h"
#include "tests/unit/common/streams.h"
#include "value/hot_record.h"

static struct vt_error err;

static void test_places(void **state)
{
	struct hot_spec s = {.what = VT_WHAT_LOAD, .algo = VT_ALGO_TNV, .total = 10, .steady = 3};
	struct vt_hotprofile *p = vt_hotprofile_new(1);
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_hot_key key = {.offset = 0x20, .what = VT_WHAT_LOAD};
	const struct vt_hot_image *b;
	size_t first;

	(void)state;
	hot_image(w, 7, "/lib/b.so", "\x01\x02");
	hot_image(w, 0, "/bin/a", "");
	s.image = 7;
	s.offset = 0x30;
	hot_put(w, &s);
	s.offset = 0x20;
	s.what = VT_WHAT_RESULT;
	hot_put(w, &s);
	s.what = VT_WHAT_LOAD;
	hot_put(w, &s);
	s.image = 0;
	hot_put(w, &s);
	s.image = VT_HOT_NO_IMAGE;
	hot_put(w, &s);
	s.image = 0;
	s.caller = 0x99;
	s.caller_image = 7;
	hot_put(w, &s);
	s.image = 12;
	hot_put(w, &s);
	hot_read(w, fd, p);
	assert_int_equal(vt_hotprofile_count(p), 7);
	assert_int_equal(vt_hotprofile_nimages(p), 3);
	assert_string_equal(vt_hotprofile_image(p, 0)->path, "/bin/a");
	assert_string_equal(vt_hotprofile_image(p, 1)->path, "/lib/b.so");
	assert_string_equal(vt_hotprofile_image(p, 2)->path, "[image 12]");
	assert_null(vt_hotprofile_image(p, 3));
	b = vt_hotprofile_image(p, 1);
	assert_string_equal(b->name, "b.so");
	assert_int_equal(b->buildid_size, 2);
	assert_int_equal(b->id, 7);
	assert_int_equal(vt_hotprofile_image_of(p, 7), 1);
	assert_int_equal(vt_hotprofile_image_of(p, 12), VT_HOT_NO_IMAGE);
	assert_int_equal(vt_hotprofile_same_image(p, b), 1);
	assert_int_equal(vt_hotprofile_find(p, 1, 0x20, &first), 2);
	assert_int_equal(first, 2);
	assert_int_equal(vt_hotprofile_at(p, 2)->key.what, VT_WHAT_LOAD);
	assert_int_equal(vt_hotprofile_at(p, 3)->key.what, VT_WHAT_RESULT);
	assert_int_equal(vt_hotprofile_find(p, 0, 0x20, &first), 2);
	assert_int_equal(vt_hotprofile_at(p, 1)->key.caller, 0x99);
	assert_int_equal(vt_hotprofile_at(p, 1)->key.caller_image, 1);
	assert_int_equal(vt_hotprofile_find(p, 0, 0x21, &first), 0);
	assert_int_equal(vt_hotprofile_at(p, 6)->key.image, VT_HOT_NO_IMAGE);
	assert_ptr_equal(vt_hotprofile_get(p, &key), vt_hotprofile_at(p, 0));
	key.lane = 1;
	assert_null(vt_hotprofile_get(p, &key));
	vt_hotprofile_free(p);
}

static void test_values_in_order(void **state)
{
	const struct hot_spec specs[] = {
		{.offset = 1,
		 .algo = VT_ALGO_TNV,
		 .capacity = 6,
		 .total = 100,
		 .nvalues = 3,
		 .values = {5, 4, 9},
		 .counts = {20, 20, 30}},
		/* What is certain goes before what may be. */
		{.offset = 2,
		 .algo = VT_ALGO_SPACE_SAVING,
		 .capacity = 3,
		 .total = 100,
		 .nvalues = 3,
		 .nerrors = 3,
		 .values = {5, 4, 9},
		 .counts = {40, 30, 30},
		 .errors = {39, 2, 0}},
		{.offset = 3,
		 .algo = VT_ALGO_GM,
		 .capacity = 3,
		 .factor = 1.5,
		 .level = 2,
		 .total = 100,
		 .nvalues = 1,
		 .values = {8},
		 .counts = {12}},
	};
	struct vt_hotprofile *p = hot_profile(specs, 3);
	const struct vt_hot *h = vt_hotprofile_at(p, 0);

	(void)state;
	assert_int_equal(h->values[0], 9);
	assert_int_equal(h->values[1], 4);
	assert_int_equal(h->values[2], 5);
	assert_null(h->errors);
	assert_true(vt_hot_estimate(h, 0) == 30);
	h = vt_hotprofile_at(p, 1);
	assert_int_equal(h->values[0], 9);
	assert_int_equal(h->values[1], 4);
	assert_int_equal(h->values[2], 5);
	assert_true(vt_hot_estimate(h, 1) == 28);
	assert_true(vt_hot_estimate(h, 2) == 1);
	h = vt_hotprofile_at(p, 2);
	assert_true(vt_hot_estimate(h, 0) == 27);
	vt_hotprofile_free(p);
}

/* Each spoils a sound list in one way. */
static void spoil(struct hot_spec *s, int how)
{
	switch (how) {
	case 0:
		s->counts[1] = 71;
		break;
	case 1:
		s->counts[0] = UINT64_MAX - 10;
		break;
	case 2:
		s->nerrors = 1;
		break;
	case 3:
		s->capacity = 1;
		break;
	case 4:
		s->values[1] = s->values[0];
		break;
	case 5:
		s->zero = 101;
		break;
	case 6:
		s->same = 101;
		break;
	case 7:
		s->stride = 101;
		break;
	case 8:
		s->profiled = 101;
		break;
	case 9:
		s->total = VT_HOT_MAX_TOTAL + 1;
		break;
	case 10:
		s->factor = NAN;
		break;
	case 11:
		s->factor = 0.5;
		break;
	case 12:
		s->factor = INFINITY;
		break;
	case 13:
		s->level = 1000;
		break;
	case 14:
		s->level = UINT64_MAX;
		break;
	case 15:
		s->nerrors = 2;
		s->errors[0] = 31;
		break;
	case 16:
		s->what = UINT64_C(1) << 32;
		break;
	case 17:
		s->image = UINT64_C(1) << 32;
		break;
	default:
		fail();
	}
}

static void test_contradictions(void **state)
{
	const struct hot_spec sound = {.algo = VT_ALGO_GM,
				       .capacity = 4,
				       .factor = 2,
				       .level = 1,
				       .total = 100,
				       .nvalues = 2,
				       .values = {1, 2},
				       .counts = {30, 10}};
	int how;

	(void)state;
	for (how = -1; how < 18; how++) {
		struct hot_spec s = sound;
		struct vt_hotprofile *p = vt_hotprofile_new(1);
		int fd = scratch_file();
		struct vt_writer *w = start_stream(fd);

		if (how >= 0)
			spoil(&s, how);
		hot_put(w, &s);
		s = sound;
		s.offset = 8;
		hot_put(w, &s);
		hot_read(w, fd, p);
		assert_int_equal(vt_hotprofile_count(p), how >= 0 ? 1 : 2);
		assert_int_equal(vt_hotprofile_damage(p)->rejected, how >= 0);
		assert_true((vt_hotprofile_damage(p)->first[0] != '\0') == (how >= 0));
		vt_hotprofile_free(p);
	}
}

/* The sum of two lists of one place. */
static struct vt_hotprofile *sum(const struct hot_spec *a, const struct hot_spec *b)
{
	struct hot_spec both[] = {*a, *b};

	return hot_profile(both, 2);
}

static void check_list(const struct vt_hot *h, const uint64_t *values, const uint64_t *counts,
		       uint32_t n)
{
	uint32_t i;

	assert_int_equal(h->nvalues, n);
	for (i = 0; i < n; i++) {
		assert_int_equal(h->values[i], values[i]);
		assert_int_equal(h->counts[i], counts[i]);
	}
}

static void test_sums(void **state)
{
	struct hot_spec a = {.algo = VT_ALGO_EXACT,
			     .total = 10,
			     .profiled = 9,
			     .zero = 1,
			     .same = 2,
			     .stride = 3,
			     .first = 100,
			     .last = 5,
			     .nvalues = 3,
			     .values = {5, 6, 0},
			     .counts = {4, 3, 1}};
	struct hot_spec b = {.algo = VT_ALGO_EXACT,
			     .total = 20,
			     .profiled = 18,
			     .zero = 2,
			     .same = 4,
			     .stride = 6,
			     .first = 5,
			     .last = 200,
			     .nvalues = 2,
			     .values = {6, 1},
			     .counts = {10, 5}};
	struct vt_hotprofile *p = sum(&a, &b);
	const struct vt_hot *h = vt_hotprofile_at(p, 0);

	(void)state;
	check_list(h, (uint64_t[]){6, 1, 5, 0}, (uint64_t[]){13, 5, 4, 1}, 4);
	assert_int_equal(h->total, 30);
	assert_int_equal(h->profiled, 27);
	assert_int_equal(h->zero, 3);
	assert_int_equal(h->same, 7); /* the 5 of the seam */
	assert_int_equal(h->stride, 9);
	assert_int_equal(h->first, 100);
	assert_int_equal(h->last, 200);
	vt_hotprofile_free(p);

	a.algo = b.algo = VT_ALGO_TNV;
	a.capacity = b.capacity = 3;
	a.steady = 2;
	b.steady = 1;
	p = sum(&a, &b);
	h = vt_hotprofile_at(p, 0);
	check_list(h, (uint64_t[]){6, 1, 5}, (uint64_t[]){13, 5, 4}, 3);
	assert_int_equal(h->steady, 2);
	vt_hotprofile_free(p);
}

/* "Mergeable summaries": bounds hold, and counts never add up to more than there was. */
static void test_space_saving_sums(void **state)
{
	struct hot_spec a = {.algo = VT_ALGO_SPACE_SAVING,
			     .capacity = 3,
			     .total = 20,
			     .nvalues = 3,
			     .nerrors = 3,
			     .values = {1, 2, 3},
			     .counts = {10, 6, 4},
			     .errors = {0, 1, 2}};
	struct hot_spec b = {.algo = VT_ALGO_SPACE_SAVING,
			     .capacity = 3,
			     .total = 9,
			     .nvalues = 3,
			     .nerrors = 3,
			     .values = {2, 7, 8},
			     .counts = {5, 2, 2},
			     .errors = {0, 0, 1}};
	struct vt_hotprofile *p = sum(&a, &b);
	const struct vt_hot *h = vt_hotprofile_at(p, 0);

	(void)state;
	/*
	 * What a does not have came twice there at most, what b has not, once. 1: 10+1, error 1; 2:
	 * 6+5, error 1; 3: 4+1, error 3; 7: 2+2, error 2; 8: 2+2, error 3.  So what is not in the
	 * sum came four times at most, and one error says so.
	 */
	check_list(h, (uint64_t[]){1, 2, 3}, (uint64_t[]){11, 11, 6}, 3);
	assert_int_equal(h->errors[0], 1);
	assert_int_equal(h->errors[1], 1);
	assert_int_equal(h->errors[2], 4);
	vt_hotprofile_free(p);

	/* A list that is not full has all that there was. */
	b.nvalues = b.nerrors = 2;
	p = sum(&a, &b);
	h = vt_hotprofile_at(p, 0);
	check_list(h, (uint64_t[]){2, 1, 3}, (uint64_t[]){11, 10, 6}, 3);
	assert_int_equal(h->errors[0], 1);
	assert_int_equal(h->errors[1], 0);
	assert_int_equal(h->errors[2], 4);
	vt_hotprofile_free(p);
}

static void test_mismatches(void **state)
{
	const struct hot_spec a = {.what = VT_WHAT_LOAD,
				   .offset = 0x1c,
				   .image = VT_HOT_NO_IMAGE,
				   .algo = VT_ALGO_GM,
				   .capacity = 4,
				   .factor = 2,
				   .total = 100};
	static const char *const texts[] = {
		"one hot list was kept by algorithm gm, the other by tnv",
		"one hot list has room for 4 values, the other for 5",
		"one hot list was thinned by 2 at a time, the other by 3",
	};
	char want[256];
	int how;

	(void)state;
	for (how = 0; how < 4; how++) {
		struct hot_spec b = a;
		struct vt_hotprofile *p = vt_hotprofile_new(1);
		int fd = scratch_file();
		struct vt_writer *w = start_stream(fd);

		if (how == 0)
			b.algo = VT_ALGO_TNV;
		else if (how == 1)
			b.capacity = 5;
		else if (how == 2)
			b.factor = 3;
		else
			b.total = VT_HOT_MAX_TOTAL;
		hot_put(w, &a);
		hot_put(w, &b);
		assert_int_equal(hot_read_code(w, fd, p, &err),
				 how == 3 ? -VT_E_LIMIT : -VT_E_MISMATCH);
		snprintf(want, sizeof(want), "load at 0x1c of [unmapped]: %s%.0" PRIu64,
			 how == 3 ? "totals of 100 and " : texts[how],
			 how == 3 ? VT_HOT_MAX_TOTAL : 0);
		assert_string_equal(err.text, want);
		vt_hotprofile_free(p);
	}
}

/* Two streams: images are told apart by what they are, not by their ids. */
static void test_two_streams(void **state)
{
	struct hot_spec s = {.algo = VT_ALGO_EXACT,
			     .total = 4,
			     .nvalues = 1,
			     .values = {3},
			     .counts = {4},
			     .image = 1,
			     .offset = 0x10};
	struct vt_hotprofile *p = vt_hotprofile_new(1);
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	size_t first;

	(void)state;
	hot_image(w, 1, "/bin/b", "\x05");
	hot_image(w, 2, "/bin/c", "\x06");
	hot_put(w, &s);
	s.caller_image = 2;
	s.caller = 9;
	hot_put(w, &s);
	s.caller_image = s.caller = 0;
	hot_read(w, fd, p);
	fd = scratch_file();
	w = start_stream(fd);
	hot_image(w, 1, "/bin/a", "");
	hot_image(w, 2, "/elsewhere/b", "\x05");
	hot_put(w, &s);
	s.image = 2;
	s.caller_image = 2;
	s.caller = 7;
	hot_put(w, &s);
	s.caller_image = s.caller = 0;
	hot_put(w, &s);
	hot_read(w, fd, p);
	assert_int_equal(vt_hotprofile_count(p), 4);
	assert_int_equal(vt_hotprofile_nimages(p), 3);
	assert_string_equal(vt_hotprofile_image(p, 1)->path, "/bin/b");
	assert_int_equal(vt_hotprofile_image_of(p, 2), 1);
	assert_int_equal(vt_hotprofile_find(p, 1, 0x10, &first), 3);
	assert_int_equal(vt_hotprofile_at(p, first)->total, 8);
	assert_int_equal(vt_hotprofile_at(p, first + 1)->total, 4);
	assert_int_equal(vt_hotprofile_at(p, first + 1)->key.caller_image, 1);
	/* Its image had another number before the second stream came. */
	assert_int_equal(vt_hotprofile_at(p, first + 2)->key.caller, 9);
	assert_int_equal(vt_hotprofile_at(p, first + 2)->key.caller_image, 2);
	vt_hotprofile_free(p);
}

/*
 * Joining samples: over many seeds the mean of the estimates is the number of executions, within
 * three standard errors, and there are never more values than there is room for.
 */
static void test_samples_are_unbiased(void **state)
{
	const struct hot_spec a = {.algo = VT_ALGO_GM,
				   .capacity = 4,
				   .factor = 4.0 / 3,
				   .total = 1000,
				   .nvalues = 4,
				   .values = {1, 2, 3, 4},
				   .counts = {700, 200, 60, 40}};
	const struct hot_spec b = {.algo = VT_ALGO_GM,
				   .capacity = 4,
				   .factor = 4.0 / 3,
				   .level = 3,
				   .total = 1000,
				   .nvalues = 3,
				   .values = {1, 8, 9},
				   .counts = {27, 100, 9}};
	const double scale = pow(4.0 / 3, 3);
	const double truth[] = {700 + 27 * scale, 200, 60, 40, 100 * scale, 9 * scale};
	const uint64_t value[] = {1, 2, 3, 4, 8, 9};
	double sums[6] = {0}, squares[6] = {0};
	const int runs = 2000;
	int run, i;

	(void)state;
	for (run = 0; run < runs; run++) {
		struct vt_hotprofile *p = vt_hotprofile_new((uint64_t)run);
		int fd = scratch_file();
		struct vt_writer *w = start_stream(fd);
		const struct vt_hot *h;
		uint32_t k;

		hot_put(w, &a);
		hot_put(w, &b);
		hot_read(w, fd, p);
		h = vt_hotprofile_at(p, 0);
		assert_true(h->nvalues <= 4);
		assert_true(h->level >= 3);
		for (i = 0; i < 6; i++) {
			double estimate = 0;

			for (k = 0; k < h->nvalues; k++)
				if (h->values[k] == value[i])
					estimate = vt_hot_estimate(h, k);
			sums[i] += estimate;
			squares[i] += estimate * estimate;
		}
		vt_hotprofile_free(p);
	}
	for (i = 0; i < 6; i++) {
		double mean = sums[i] / runs;
		double error = sqrt((squares[i] / runs - mean * mean) / runs);

		if (fabs(mean - truth[i]) > 3 * error)
			fail_msg("value %d: mean %g, not %g +- %g", (int)value[i], mean, truth[i],
				 error);
	}
}

/*
 * n values, each a multiple of 3 that comes once, but for the first, which comes twice: more than a
 * record has room for.  Their differences are all the same, so that `stride` is nearly the total.
 */
static void check_long_list(uint32_t n)
{
	struct vt_hotprofile *p = vt_hotprofile_new(1);
	struct vt_hot h = {.nvalues = 0};
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	const struct vt_hot *back;
	uint32_t i;

	assert_int_equal(vt_hot_alloc(&h, n, false, &err), 0);
	for (i = 0; i < n; i++) {
		h.values[i] = UINT64_C(3) * i;
		h.counts[i] = 1 + (i == 0);
	}
	h.key.what = VT_WHAT_LOAD;
	h.key.offset = 0x40;
	h.algo = VT_ALGO_EXACT;
	h.size = 8;
	h.steady = 3;
	h.scale = 1;
	h.total = h.profiled = UINT64_C(1) + n;
	h.zero = 2;
	h.same = 1;
	h.stride = n - 1;
	h.first = 0;
	h.last = UINT64_C(3) * (n - 1);
	hot_image(w, 7, "/bin/a", "");
	assert_int_equal(vt_hot_write(&h, 7, 0, w, &err), 0);
	hot_read(w, fd, p);
	assert_int_equal(vt_hotprofile_damage(p)->rejected, 0);
	assert_int_equal(vt_hotprofile_count(p), 1);
	back = vt_hotprofile_at(p, 0);
	assert_int_equal(back->nvalues, n);
	assert_memory_equal(back->values, h.values, n * sizeof(*h.values));
	assert_memory_equal(back->counts, h.counts, n * sizeof(*h.counts));
	assert_null(back->errors);
	assert_int_equal(back->total, h.total);
	assert_int_equal(back->profiled, h.profiled);
	assert_int_equal(back->zero, 2);
	assert_int_equal(back->same, 1);
	assert_int_equal(back->stride, n - 1);
	assert_int_equal(back->first, 0);
	assert_int_equal(back->last, h.last);
	assert_int_equal(back->steady, 3);
	vt_hot_fini(&h);
	vt_hotprofile_free(p);
}

static void test_long_lists(void **state)
{
	(void)state;
	check_long_list(1000);
	check_long_list(1u << 20);
	check_long_list((2u << 20) + 1);
}

/* A record has the highest count first, of equal ones the surer, then the lower value. */
static void test_order_of_records(void **state)
{
	uint64_t values[] = {4, 5, 2, 3, 1}, counts[] = {9, 9, 9, 8, 10},
		 errors[] = {1, 0, 1, 0, 5};
	static const uint64_t want[] = {1, 5, 2, 4, 3};
	struct vt_hot h = {.algo = VT_ALGO_SPACE_SAVING,
			   .capacity = 16,
			   .scale = 1,
			   .total = 100,
			   .profiled = 100,
			   .nvalues = 5,
			   .values = values,
			   .counts = counts,
			   .errors = errors};
	int fd = scratch_file(), n = 0;
	struct vt_writer *w = start_stream(fd);
	struct vt_record rec;
	struct vt_reader *r;

	(void)state;
	assert_int_equal(vt_hot_write(&h, 7, 0, w, &err), 0);
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	r = vt_reader_open_fd(fd, "test", &err);
	assert_non_null(r);
	while (vt_reader_next(r, &rec, &err) > 0) {
		if (rec.kind != VT_HOT)
			continue;
		n++;
		assert_int_equal(vt_record_words(&rec, VT_HOT_VALUES).count, 5);
		assert_memory_equal(vt_record_words(&rec, VT_HOT_VALUES).data, want, sizeof(want));
		/* It is the caller's list that is in another order. */
		assert_int_equal(vt_record_words(&rec, VT_HOT_ERRORS).data[0], 5);
		assert_int_equal(values[0], 4);
	}
	assert_int_equal(n, 1);
	vt_reader_close(r);
	close(fd);
}

/* ---- images ---- */

/* What is said of an image. */
static void test_about_images(void **state)
{
	struct vt_hotprofile *p = vt_hotprofile_new(1);
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	uint64_t *row = vt_writer_row(w, VT_IMAGE);
	const struct vt_hot_image *i;

	(void)state;
	row[VT_IMAGE_ID] = 9;
	row[VT_IMAGE_TYPE] = VT_IMAGE_VDSO;
	row[VT_IMAGE_MACHINE] = 62;
	vt_writer_text(w, VT_IMAGE_PATH, "/lib/x/[vdso]");
	vt_writer_bytes(w, VT_IMAGE_BUILDID, "abc", 3);
	hot_read(w, fd, p);
	assert_int_equal(vt_hotprofile_nimages(p), 1);
	i = vt_hotprofile_image(p, 0);
	assert_string_equal(i->path, "/lib/x/[vdso]");
	assert_string_equal(i->name, "[vdso]");
	assert_int_equal(i->buildid_size, 3);
	assert_memory_equal(i->buildid, "abc", 3);
	assert_int_equal(i->type, VT_IMAGE_VDSO);
	assert_int_equal(i->machine, 62);
	assert_int_equal(i->id, 9);
	vt_hotprofile_free(p);
}

struct image_row {
	const char *path, *buildid;
	uint64_t type, machine;
};

/* A stream that declares images, and nothing else. */
static void declare_images(struct vt_hotprofile *p, const struct image_row *const *images, size_t n)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	size_t i;

	for (i = 0; i < n; i++) {
		uint64_t *row = vt_writer_row(w, VT_IMAGE);

		row[VT_IMAGE_ID] = 20 + i;
		row[VT_IMAGE_TYPE] = images[i]->type;
		row[VT_IMAGE_MACHINE] = images[i]->machine;
		vt_writer_text(w, VT_IMAGE_PATH, images[i]->path);
		vt_writer_text(w, VT_IMAGE_BUILDID, images[i]->buildid);
	}
	hot_read(w, fd, p);
}

static void check_image(const struct vt_hotprofile *p, uint32_t number,
			const struct image_row *want)
{
	const struct vt_hot_image *i = vt_hotprofile_image(p, number);

	assert_string_equal(i->path, want->path);
	assert_int_equal(i->buildid_size, strlen(want->buildid));
	assert_memory_equal(i->buildid, want->buildid, i->buildid_size);
	assert_int_equal(i->type, want->type);
	assert_int_equal(i->machine, want->machine);
}

/* Images are in the order of path, build-id (a prefix first), and type, however they come. */
static void test_order_of_images(void **state)
{
	static const struct image_row rows[] = {
		{"/a", "", VT_IMAGE_FILE, 7},  {"/a", "", VT_IMAGE_ANON, 6},
		{"/a", "1", VT_IMAGE_VDSO, 5}, {"/a", "12", VT_IMAGE_ANON, 4},
		{"/a", "2", VT_IMAGE_FILE, 3}, {"/ab", "0", VT_IMAGE_FILE, 2},
		{"/b", "", VT_IMAGE_FILE, 1},
	};
	enum { N = sizeof(rows) / sizeof(rows[0]) };
	const struct image_row *shuffled[N];
	size_t step, start, i;

	(void)state;
	/* N is prime: each step leads to all of them. */
	for (step = 1; step < N; step++) {
		for (start = 0; start < N; start++) {
			struct vt_hotprofile *p = vt_hotprofile_new(1);

			for (i = 0; i < N; i++)
				shuffled[i] = &rows[(start + i * step) % N];
			declare_images(p, shuffled, N);
			assert_int_equal(vt_hotprofile_nimages(p), N);
			for (i = 0; i < N; i++)
				check_image(p, (uint32_t)i, &rows[i]);
			vt_hotprofile_free(p);
		}
	}
}

/* Of the paths of one build-id the first in order counts, with its type and machine. */
static void test_path_of_image(void **state)
{
	static const struct image_row rows[] = {{"/m/a", "5", VT_IMAGE_FILE, 1},
						{"/n/a", "5", VT_IMAGE_ANON, 2},
						{"/c/a", "5", VT_IMAGE_VDSO, 3}};
	static const size_t counts[] = {0, 0, 2};
	struct vt_hotprofile *p = vt_hotprofile_new(1);
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		const struct image_row *const row[] = {&rows[i]};

		declare_images(p, row, 1);
		assert_int_equal(vt_hotprofile_nimages(p), 1);
		check_image(p, 0, &rows[counts[i]]);
	}
	vt_hotprofile_free(p);
}

/* A stream: images that are declared, of which lists tell of some. */
static void read_images(struct vt_hotprofile *p, const char *const *paths, size_t n,
			uint64_t listed)
{
	struct hot_spec s = {.algo = VT_ALGO_EXACT,
			     .offset = 0x10,
			     .total = 4,
			     .nvalues = 1,
			     .values = {3},
			     .counts = {4}};
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	size_t i;

	for (i = 0; i < n; i++)
		hot_image(w, i, paths[i], "");
	for (i = 0; i < n; i++) {
		s.image = i;
		if (listed >> i & 1)
			hot_put(w, &s);
	}
	hot_read(w, fd, p);
}

/* Lists keep their images when others come in front of those; all that are declared are known. */
static void test_images(void **state)
{
	static const char *const first[] = {"/d", "/f", "/h", "/k"};
	static const char *const second[] = {"/a", "/e", "/f", "/i"};
	static const char *const all[] = {"/a", "/d", "/e", "/f", "/h", "/i", "/k"};
	/* Executions of each: listed in the first, the second, or both. */
	static const uint64_t totals[] = {4, 4, 4, 8, 4, 0, 4};
	struct vt_hotprofile *p = vt_hotprofile_new(1);
	size_t i, n = 0;

	(void)state;
	read_images(p, first, 4, 15);
	read_images(p, second, 4, 7);
	assert_int_equal(vt_hotprofile_nimages(p), 7);
	for (i = 0; i < 7; i++) {
		const struct vt_hot *h;

		assert_string_equal(vt_hotprofile_image(p, (uint32_t)i)->path, all[i]);
		if (!totals[i])
			continue;
		h = vt_hotprofile_at(p, n++);
		assert_int_equal(h->key.image, i);
		assert_int_equal(h->total, totals[i]);
	}
	assert_int_equal(vt_hotprofile_count(p), n);
	vt_hotprofile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_images),
		cmocka_unit_test(test_order_of_images),
		cmocka_unit_test(test_path_of_image),
		cmocka_unit_test(test_about_images),
		cmocka_unit_test(test_values_in_order),
		cmocka_unit_test(test_contradictions),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_space_saving_sums),
		cmocka_unit_test(test_mismatches),
		cmocka_unit_test(test_two_streams),
		cmocka_unit_test(test_samples_are_unbiased),
		cmocka_unit_test(test_long_lists),
		cmocka_unit_test(test_order_of_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
