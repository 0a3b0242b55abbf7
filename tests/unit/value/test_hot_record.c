/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HOT records, field by field: from a list to a record and back, at the bounds of both. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "stream/reader.h"
#include "tests/unit/common/hots.h"
#include "tests/unit/common/streams.h"
#include "value/hot_record.h"

static struct vt_error err;

/* The only record of a list that is written. */
static struct vt_reader *write_list(const struct vt_hot *h, uint64_t image, uint64_t caller_image,
				    int *fd, struct vt_record *rec)
{
	struct vt_writer *w;
	struct vt_reader *r;

	*rec = (struct vt_record){.kind = 0};
	*fd = scratch_file();
	w = start_stream(*fd);
	assert_int_equal(vt_hot_write(h, image, caller_image, w, &err), 0);
	r = reread_stream(*fd, w);
	assert_int_equal(vt_reader_next(r, rec, &err), 1);
	assert_int_equal(rec->kind, VT_HOT);
	return r;
}

static void check_words(const struct vt_record *rec, unsigned field, const uint64_t *want, size_t n)
{
	struct vt_words words = vt_record_words(rec, field);

	assert_int_equal(words.count, n);
	if (n)
		assert_memory_equal(words.data, want, n * sizeof(*want));
}

static void test_fields(void **state)
{
	uint64_t values[] = {7, 8, 9}, counts[] = {30, 20, 10}, errors[] = {25, 1, 0}, bits;
	struct vt_hot h = {.key = {.offset = 1,
				   .caller = 2,
				   .image = 99, /* its number in the profile */
				   .caller_image = 98,
				   .what = VT_WHAT_STORE,
				   .reg = 5,
				   .lane = 6},
			   .algo = VT_ALGO_SPACE_SAVING,
			   .size = 16,
			   .capacity = 11,
			   .steady = 12,
			   .level = 13,
			   .nvalues = 3,
			   .factor = 1.5,
			   .scale = 1,
			   .total = 1000,
			   .profiled = 900,
			   .zero = 17,
			   .same = 18,
			   .stride = 19,
			   .first = 20,
			   .last = 21,
			   .values = values,
			   .counts = counts};
	static const uint64_t want[][2] = {
		{VT_HOT_IMAGE, 3},
		{VT_HOT_OFFSET, 1},
		{VT_HOT_WHAT, VT_WHAT_STORE},
		{VT_HOT_REG, 5},
		{VT_HOT_LANE, 6},
		{VT_HOT_SIZE, 16},
		{VT_HOT_CALLER_IMAGE, 4},
		{VT_HOT_CALLER, 2},
		{VT_HOT_ALGO, VT_ALGO_SPACE_SAVING},
		{VT_HOT_CAPACITY, 11},
		{VT_HOT_STEADY, 12},
		{VT_HOT_LEVEL, 13},
		{VT_HOT_TOTAL, 1000},
		{VT_HOT_PROFILED, 900},
		{VT_HOT_ZERO, 17},
		{VT_HOT_SAME, 18},
		{VT_HOT_STRIDE, 19},
		{VT_HOT_FIRST, 20},
		{VT_HOT_LAST, 21},
	};
	struct vt_record rec;
	struct vt_reader *r;
	double factor;
	size_t i;
	int fd, with_errors;

	(void)state;
	for (with_errors = 0; with_errors < 2; with_errors++) {
		h.errors = with_errors ? errors : NULL;
		r = write_list(&h, 3, 4, &fd, &rec);
		for (i = 0; i < sizeof(want) / sizeof(want[0]); i++)
			if (vt_record_u64(&rec, (unsigned)want[i][0]) != want[i][1])
				fail_msg("field %zu", i);
		bits = vt_record_u64(&rec, VT_HOT_FACTOR);
		memcpy(&factor, &bits, sizeof(factor));
		assert_true(factor == 1.5);
		check_words(&rec, VT_HOT_VALUES, values, 3);
		check_words(&rec, VT_HOT_COUNTS, counts, 3);
		check_words(&rec, VT_HOT_ERRORS, errors, with_errors ? 3 : 0);
		assert_int_equal(vt_reader_next(r, &rec, &err), 0);
		vt_reader_close(r);
		close(fd);
	}
}

/* With errors, records are in the order of counts, lists in that of what is certain. */
static void test_orders(void **state)
{
	const struct hot_spec s = {.algo = VT_ALGO_SPACE_SAVING,
				   .capacity = 6,
				   .total = 500,
				   .nvalues = 6,
				   .nerrors = 6,
				   .values = {6, 5, 4, 3, 2, 1},
				   .counts = {50, 50, 40, 40, 30, 30},
				   .errors = {45, 10, 0, 0, 5, 0}};
	/* Certain: 5, 40, 40, 40, 25, 30; of equals the higher count first, then the lower value.
	 */
	static const uint64_t in_list[] = {5, 3, 4, 1, 2, 6};
	static const uint64_t counts[] = {50, 50, 40, 40, 30, 30};
	struct vt_hotprofile *p = hot_profile(&s, 1);
	const struct vt_hot *h = vt_hotprofile_at(p, 0);
	struct vt_record rec;
	struct vt_reader *r;
	int fd;

	(void)state;
	assert_int_equal(h->nvalues, 6);
	assert_memory_equal(h->values, in_list, sizeof(in_list));
	r = write_list(h, 1, 0, &fd, &rec);
	check_words(&rec, VT_HOT_COUNTS, counts, 6);
	vt_reader_close(r);
	close(fd);
	vt_hotprofile_free(p);
}

/* A value that comes twice, wherever it stands. */
static void test_twice(void **state)
{
	static const uint64_t values[][4] = {{1, 2, 3, 4}, {1, 1, 3, 4}, {1, 2, 1, 4},
					     {1, 2, 3, 1}, {4, 2, 3, 2}, {4, 3, 2, 2}};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct hot_spec s = {.algo = VT_ALGO_EXACT,
				     .total = 100,
				     .nvalues = 4,
				     .counts = {40, 30, 20, 10}};
		struct vt_hotprofile *p;

		memcpy(s.values, values[i], sizeof(values[i]));
		p = hot_profile(&s, 1);
		assert_int_equal(vt_hotprofile_count(p), i == 0);
		assert_int_equal(vt_hotprofile_damage(p)->rejected, i > 0);
		if (i)
			assert_non_null(
				strstr(vt_hotprofile_damage(p)->first,
				       i < 4 ? "value 0x1 comes twice" : "value 0x2 comes twice"));
		vt_hotprofile_free(p);
	}
}

/* What a record may say at most: each is taken, and refused when it says one more. */
static void test_bounds(void **state)
{
	static const struct {
		size_t field; /* of struct hot_spec */
		uint64_t most;
	} rows[] = {
		{offsetof(struct hot_spec, zero), 100},
		{offsetof(struct hot_spec, same), 100},
		{offsetof(struct hot_spec, stride), 100},
		{offsetof(struct hot_spec, profiled), 100},
		{offsetof(struct hot_spec, counts), 70},
		{offsetof(struct hot_spec, counts) + 8, 60},
		{offsetof(struct hot_spec, what), UINT32_MAX},
		{offsetof(struct hot_spec, steady), UINT32_MAX},
		{offsetof(struct hot_spec, capacity), UINT32_MAX},
		{offsetof(struct hot_spec, algo), UINT32_MAX},
		{offsetof(struct hot_spec, total), VT_HOT_MAX_TOTAL},
		{offsetof(struct hot_spec, errors), 40},
	};
	size_t i;
	unsigned more;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (more = 0; more < 2; more++) {
			struct hot_spec s = {.algo = VT_ALGO_TNV,
					     .capacity = 4,
					     .total = 100,
					     .nvalues = 2,
					     .nerrors = 2,
					     .values = {1, 2},
					     .counts = {40, 30}};
			struct vt_hotprofile *p;
			uint64_t value = rows[i].most + more;

			memcpy((char *)&s + rows[i].field, &value, sizeof(value));
			p = hot_profile(&s, 1);
			if (vt_hotprofile_count(p) != !more)
				fail_msg("row %zu, %u more: %s", i, more,
					 vt_hotprofile_damage(p)->first);
			vt_hotprofile_free(p);
		}
}

/* ---- sums ---- */

struct cell {
	uint64_t value, count, error;
};

/* What a value that the list does not have may have had there: its greatest error. */
static struct cell find_cell(const struct hot_spec *s, uint64_t value)
{
	struct cell c = {.value = value};
	uint64_t i;

	for (i = 0; i < s->nvalues; i++)
		if (s->errors[i] > c.count)
			c.count = c.error = s->errors[i];
	for (i = 0; i < s->nvalues; i++)
		if (s->values[i] == value)
			return (struct cell){value, s->counts[i], s->errors[i]};
	return c;
}

/* The more certain ones first, then those of lower values. */
static int compare_cells(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;
	uint64_t p = x->count - x->error, q = y->count - y->error;

	if (p != q)
		return p < q ? 1 : -1;
	return x->value < y->value ? -1 : x->value > y->value;
}

static int compare_ranks(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;

	if (x->count - x->error == y->count - y->error && x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return compare_cells(a, b);
}

#define VALUES 12 /* that there are */

/* The sum of two lists, whose errors tell what was left out of it. */
static size_t add_cells(const struct hot_spec *a, const struct hot_spec *b, struct cell *sum)
{
	uint64_t bound = find_cell(a, VALUES).count + find_cell(b, VALUES).count, value;
	size_t n = 0, i, greatest = 0;

	for (value = 0; value < VALUES; value++) {
		struct cell x = find_cell(a, value), y = find_cell(b, value);

		for (i = 0; i < HOT_MAX_VALUES; i++)
			if ((i < a->nvalues && a->values[i] == value) ||
			    (i < b->nvalues && b->values[i] == value))
				break;
		if (i < HOT_MAX_VALUES)
			sum[n++] = (struct cell){value, x.count + y.count, x.error + y.error};
	}
	qsort(sum, n, sizeof(*sum), compare_cells);
	for (; n > a->capacity; n--)
		bound = sum[n - 1].count > bound ? sum[n - 1].count : bound;
	for (i = 0; i < n; i++)
		if (sum[i].error >= sum[greatest].error)
			greatest = i;
	if (n && sum[greatest].error < bound) {
		sum[greatest].count += bound - sum[greatest].error;
		sum[greatest].error = bound;
	}
	qsort(sum, n, sizeof(*sum), compare_ranks);
	return n;
}

static struct hot_spec random_list(struct vt_rng *r)
{
	struct hot_spec s = {.algo = VT_ALGO_SPACE_SAVING, .capacity = 5, .total = 1000};
	uint64_t value = vt_rng_below(r, 3);

	s.nvalues = s.nerrors = 0;
	while (s.nvalues < s.capacity && value < VALUES && vt_rng_below(r, 8)) {
		s.values[s.nvalues] = value;
		s.counts[s.nvalues] = 1 + vt_rng_below(r, 6);
		s.errors[s.nvalues] = vt_rng_below(r, s.counts[s.nvalues] + 1) * vt_rng_below(r, 2);
		s.nerrors = ++s.nvalues;
		value += 1 + vt_rng_below(r, 3);
	}
	return s;
}

static void test_sums(void **state)
{
	struct vt_rng r;
	unsigned i;
	size_t k;

	(void)state;
	vt_rng_init(&r, 3);
	for (i = 0; i < 500; i++) {
		struct hot_spec both[2] = {random_list(&r), random_list(&r)};
		struct vt_hotprofile *p;
		struct cell sum[VALUES];
		const struct vt_hot *h;
		size_t n = add_cells(&both[0], &both[1], sum);

		p = hot_profile(both, 2);
		assert_int_equal(vt_hotprofile_count(p), 1);
		h = vt_hotprofile_at(p, 0);
		if (h->nvalues != n)
			fail_msg("sum %u: %u values", i, h->nvalues);
		for (k = 0; k < n; k++)
			if (h->values[k] != sum[k].value || h->counts[k] != sum[k].count ||
			    h->errors[k] != sum[k].error)
				fail_msg("sum %u: value %zu", i, k);
		vt_hotprofile_free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields), cmocka_unit_test(test_orders),
		cmocka_unit_test(test_twice),  cmocka_unit_test(test_bounds),

		cmocka_unit_test(test_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
