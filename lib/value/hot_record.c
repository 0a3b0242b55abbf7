/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/hot_record.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "value/draw.h"

/* A count of a thinned sample stands for at most so many executions: more were never seen. */
#define MAX_SCALE ((double)VT_HOT_MAX_TOTAL)

int vt_hot_alloc(struct vt_hot *h, uint32_t n, bool errors, struct vt_error *err)
{
	size_t arrays = errors ? 3 : 2;

	h->values = calloc((size_t)n * arrays + 1, sizeof(*h->values));
	if (!h->values)
		return vt_error_nomem(err);
	h->counts = h->values + n;
	h->errors = errors ? h->counts + n : NULL;
	h->nvalues = n;
	return 0;
}

void vt_hot_fini(struct vt_hot *h)
{
	free(h->values);
	h->values = h->counts = h->errors = NULL;
	h->nvalues = 0;
}

/* ---- order ---- */

int vt_hot_key_compare(const struct vt_hot_key *a, const struct vt_hot_key *b)
{
	const uint64_t x[] = {a->image, a->offset,	 a->what,   a->reg,
			      a->lane,	a->caller_image, a->caller, a->zero};
	const uint64_t y[] = {b->image, b->offset,	 b->what,   b->reg,
			      b->lane,	b->caller_image, b->caller, b->zero};
	size_t i;

	for (i = 0; i < sizeof(x) / sizeof(x[0]); i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

struct item {
	uint64_t value;
	uint64_t count;
	uint64_t error;
};

static int by_value(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

/* All values of a list are scaled alike, so counts tell the order of estimates. */
static int by_rank(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	uint64_t p = x->count - x->error, q = y->count - y->error;

	if (p != q)
		return p > q ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return by_value(a, b);
}

static struct item *make_items(const struct vt_hot *h)
{
	struct item *items = malloc(((size_t)h->nvalues + 1) * sizeof(*items));
	uint32_t i;

	for (i = 0; items && i < h->nvalues; i++)
		items[i] = (struct item){h->values[i], h->counts[i], h->errors ? h->errors[i] : 0};
	return items;
}

static void set_values(struct vt_hot *h, const struct item *items)
{
	uint32_t i;

	for (i = 0; i < h->nvalues; i++) {
		h->values[i] = items[i].value;
		h->counts[i] = items[i].count;
		if (h->errors)
			h->errors[i] = items[i].error;
	}
}

int vt_hot_sort(struct vt_hot *h, struct vt_error *err)
{
	struct item *items = make_items(h);
	uint32_t i;

	if (!items)
		return vt_error_nomem(err);
	qsort(items, h->nvalues, sizeof(*items), by_value);
	for (i = 1; i < h->nvalues; i++) {
		if (items[i].value == items[i - 1].value) {
			uint64_t twice = items[i].value;

			free(items);
			return vt_error_set(err, VT_E_DAMAGED, "value 0x%" PRIx64 " comes twice",
					    twice);
		}
	}
	qsort(items, h->nvalues, sizeof(*items), by_rank);
	set_values(h, items);
	free(items);
	return 0;
}

/* ---- from a record ---- */

/* Fields that are small numbers, and where they belong. */
static int load_small(struct vt_hot *h, const struct vt_record *rec, struct vt_error *err)
{
	const struct {
		unsigned field;
		uint32_t *to;
	} small[] = {
		{VT_HOT_IMAGE, &h->key.image}, {VT_HOT_CALLER_IMAGE, &h->key.caller_image},
		{VT_HOT_WHAT, &h->key.what},   {VT_HOT_REG, &h->key.reg},
		{VT_HOT_LANE, &h->key.lane},   {VT_HOT_SIZE, &h->size},
		{VT_HOT_ALGO, &h->algo},       {VT_HOT_CAPACITY, &h->capacity},
		{VT_HOT_STEADY, &h->steady},   {VT_HOT_LEVEL, &h->level},
	};
	size_t i;

	for (i = 0; i < sizeof(small) / sizeof(small[0]); i++) {
		uint64_t v = vt_record_u64(rec, small[i].field);

		if (v > UINT32_MAX)
			return vt_error_set(err, VT_E_DAMAGED, "field %s is %" PRIu64,
					    rec->block->desc->fields[small[i].field].name, v);
		*small[i].to = (uint32_t)v;
	}
	return 0;
}

static int load_totals(struct vt_hot *h, const struct vt_record *rec, struct vt_error *err)
{
	const struct {
		const char *name;
		uint64_t *to;
		unsigned field;
	} part[] = {
		{"profiled", &h->profiled, VT_HOT_PROFILED},
		{"zero", &h->zero, VT_HOT_ZERO},
		{"same", &h->same, VT_HOT_SAME},
		{"stride", &h->stride, VT_HOT_STRIDE},
	};
	size_t i;

	h->total = vt_record_u64(rec, VT_HOT_TOTAL);
	if (h->total > VT_HOT_MAX_TOTAL)
		return vt_error_set(err, VT_E_DAMAGED, "a total of %" PRIu64, h->total);
	for (i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		*part[i].to = vt_record_u64(rec, part[i].field);
		if (*part[i].to > h->total)
			return vt_error_set(err, VT_E_DAMAGED,
					    "%s is %" PRIu64 " of a total of %" PRIu64,
					    part[i].name, *part[i].to, h->total);
	}
	h->first = vt_record_u64(rec, VT_HOT_FIRST);
	h->last = vt_record_u64(rec, VT_HOT_LAST);
	return 0;
}

static int load_scale(struct vt_hot *h, const struct vt_record *rec, struct vt_error *err)
{
	uint64_t bits = vt_record_u64(rec, VT_HOT_FACTOR);

	memcpy(&h->factor, &bits, sizeof(h->factor));
	h->scale = 1;
	if (h->level == 0 && h->algo != VT_ALGO_GM)
		return 0;
	if (!(h->factor >= VT_HOT_MIN_FACTOR && h->factor <= MAX_SCALE))
		return vt_error_set(err, VT_E_DAMAGED, "a factor of %g", h->factor);
	h->scale = pow(h->factor, h->level);
	if (!(h->scale <= MAX_SCALE))
		return vt_error_set(err, VT_E_DAMAGED, "a factor of %g, %" PRIu32 " times",
				    h->factor, h->level);
	return 0;
}

static int check_values(const struct vt_hot *h, struct vt_words values, struct vt_words counts,
			struct vt_words errors, struct vt_error *err)
{
	uint64_t sum = 0;
	size_t i;

	if (counts.count != values.count || (errors.count && errors.count != values.count))
		return vt_error_set(err, VT_E_DAMAGED, "%zu values, %zu counts, %zu errors",
				    values.count, counts.count, errors.count);
	if (values.count > UINT32_MAX || (h->capacity && values.count > h->capacity))
		return vt_error_set(err, VT_E_DAMAGED, "%zu values in a list for %" PRIu32,
				    values.count, h->capacity);
	for (i = 0; i < values.count; i++) {
		uint64_t error = errors.count ? errors.data[i] : 0;

		if (error > counts.data[i])
			return vt_error_set(err, VT_E_DAMAGED,
					    "an error of %" PRIu64 " in a count of %" PRIu64, error,
					    counts.data[i]);
		/* What is certain adds up; what may be too high need not. */
		if (counts.data[i] > h->profiled || counts.data[i] - error > h->profiled - sum)
			return vt_error_set(err, VT_E_DAMAGED,
					    "counts add up to more than the %" PRIu64
					    " profiled executions",
					    h->profiled);
		sum += counts.data[i] - error;
	}
	return 0;
}

int vt_hot_load(struct vt_hot *h, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_words values = vt_record_words(rec, VT_HOT_VALUES);
	struct vt_words counts = vt_record_words(rec, VT_HOT_COUNTS);
	struct vt_words errors = vt_record_words(rec, VT_HOT_ERRORS);
	int code;

	memset(h, 0, sizeof(*h));
	h->key.offset = vt_record_u64(rec, VT_HOT_OFFSET);
	h->key.caller = vt_record_u64(rec, VT_HOT_CALLER);
	code = load_small(h, rec, err);
	if (code == 0)
		code = load_totals(h, rec, err);
	if (code == 0)
		code = load_scale(h, rec, err);
	if (code == 0)
		code = check_values(h, values, counts, errors, err);
	if (code == 0)
		code = vt_hot_alloc(h, (uint32_t)values.count, errors.count > 0, err);
	if (code < 0)
		return code;
	if (values.count) {
		memcpy(h->values, values.data, values.count * sizeof(*h->values));
		memcpy(h->counts, counts.data, counts.count * sizeof(*h->counts));
	}
	if (h->errors)
		memcpy(h->errors, errors.data, errors.count * sizeof(*h->errors));
	code = vt_hot_sort(h, err);
	if (code < 0)
		vt_hot_fini(h);
	return code;
}

/* ---- to a record ---- */

static int by_count(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->error != y->error)
		return x->error < y->error ? -1 : 1;
	return by_value(a, b);
}

/* A copy of a list with errors, highest count first: vt_hot_sort() puts estimates first. */
static int copy_by_count(const struct vt_hot *h, struct vt_hot *sorted, struct vt_error *err)
{
	struct item *items = make_items(h);

	if (!items || vt_hot_alloc(sorted, h->nvalues, true, err) < 0) {
		free(items);
		return vt_error_nomem(err);
	}
	qsort(items, h->nvalues, sizeof(*items), by_count);
	set_values(sorted, items);
	free(items);
	return 0;
}

/* Values of a record: with their counts and errors they leave room in a frame of 32 MiB. */
#define PART_VALUES (1u << 20)

static void put_record(const struct vt_hot *h, uint64_t image, uint64_t caller_image,
		       struct vt_writer *w)
{
	uint64_t *row = vt_writer_row(w, VT_HOT);

	row[VT_HOT_IMAGE] = image;
	row[VT_HOT_OFFSET] = h->key.offset;
	row[VT_HOT_WHAT] = h->key.what;
	row[VT_HOT_REG] = h->key.reg;
	row[VT_HOT_LANE] = h->key.lane;
	row[VT_HOT_SIZE] = h->size;
	row[VT_HOT_CALLER_IMAGE] = caller_image;
	row[VT_HOT_CALLER] = h->key.caller;
	row[VT_HOT_ALGO] = h->algo;
	row[VT_HOT_CAPACITY] = h->capacity;
	row[VT_HOT_STEADY] = h->steady;
	memcpy(&row[VT_HOT_FACTOR], &h->factor, sizeof(h->factor));
	row[VT_HOT_LEVEL] = h->level;
	row[VT_HOT_TOTAL] = h->total;
	row[VT_HOT_PROFILED] = h->profiled;
	row[VT_HOT_ZERO] = h->zero;
	row[VT_HOT_SAME] = h->same;
	row[VT_HOT_STRIDE] = h->stride;
	row[VT_HOT_FIRST] = h->first;
	row[VT_HOT_LAST] = h->last;
	vt_writer_words(w, VT_HOT_VALUES, h->values, h->nvalues);
	vt_writer_words(w, VT_HOT_COUNTS, h->counts, h->nvalues);
	if (h->errors)
		vt_writer_words(w, VT_HOT_ERRORS, h->errors, h->nvalues);
}

static uint64_t take_share(uint64_t *left, uint64_t most)
{
	uint64_t share = *left < most ? *left : most;

	*left -= share;
	return share;
}

/* How many executions had one of the values from number `from` on. */
static uint64_t sum_counts(const struct vt_hot *h, uint32_t from, uint32_t to)
{
	uint64_t sum = 0;

	for (; from < to; from++)
		sum += h->counts[from];
	return sum;
}

/*
 * The list in parts that vt_hot_merge() joins to what it is: their totals add up, and so do their
 * other numbers, of which each has as much as its total allows.  The last value is that of all of
 * them; behind it, a part must not begin with the same one.
 */
static void put_parts(const struct vt_hot *h, uint64_t image, uint64_t caller_image,
		      struct vt_writer *w)
{
	uint64_t rest = sum_counts(h, PART_VALUES, h->nvalues);
	struct vt_hot part = *h, left = *h;
	uint32_t at;

	assert(!h->errors && h->scale == 1 && rest <= h->profiled);
	for (at = 0; at < h->nvalues; at += part.nvalues) {
		part.values = h->values + at;
		part.counts = h->counts + at;
		part.nvalues = h->nvalues - at < PART_VALUES ? h->nvalues - at : PART_VALUES;
		part.total = at ? sum_counts(h, at, at + part.nvalues) : h->total - rest;
		part.profiled = at ? part.total : h->profiled - rest;
		part.zero = take_share(&left.zero, part.total);
		part.same = take_share(&left.same, part.total);
		part.stride = take_share(&left.stride, part.total);
		part.first = at ? ~h->last : h->first;
		put_record(&part, image, caller_image, w);
	}
}

void vt_hot_put(const struct vt_hot *h, uint64_t image, uint64_t caller_image, struct vt_writer *w)
{
	/* Those that have a limit stay far below it. */
	if (h->capacity || h->nvalues <= PART_VALUES)
		put_record(h, image, caller_image, w);
	else
		put_parts(h, image, caller_image, w);
}

int vt_hot_write(const struct vt_hot *h, uint64_t image, uint64_t caller_image, struct vt_writer *w,
		 struct vt_error *err)
{
	struct vt_hot sorted = *h;

	if (!h->errors) {
		vt_hot_put(h, image, caller_image, w);
		return 0;
	}
	if (copy_by_count(h, &sorted, err) < 0)
		return -VT_E_NOMEM;
	vt_hot_put(&sorted, image, caller_image, w);
	vt_hot_fini(&sorted);
	return 0;
}

/* ---- merging counting samples ---- */

/* Keeps each recorded execution with probability 1/by. */
static void thin_values(struct vt_hot *h, double by, struct vt_rng *rng)
{
	uint32_t i, kept = 0;

	for (i = 0; i < h->nvalues; i++) {
		h->counts[kept] = vt_draw_binomial(rng, h->counts[i], 1 / by);
		h->values[kept] = h->values[i];
		kept += h->counts[kept] > 0;
	}
	h->nvalues = kept;
}

static void thin_to_level(struct vt_hot *h, uint32_t level, struct vt_rng *rng)
{
	if (h->level < level)
		thin_values(h, pow(h->factor, level - h->level), rng);
	h->level = level;
	h->scale = pow(h->factor, level);
}

/* ---- merging other lists ---- */

/*
 * The greatest count that a value missing from a list may have had there.  A value that came last
 * has the count of the one it replaced as its error, and replaced counts only grow.
 */
static uint64_t get_unseen_bound(const struct vt_hot *h)
{
	uint64_t most = 0;
	uint32_t i;

	for (i = 0; h->errors && i < h->nvalues; i++)
		if (h->errors[i] > most)
			most = h->errors[i];
	return most;
}

/* Makes get_unseen_bound() of a sum at least `bound`: raises its greatest error, and the count with
 * it. */
static void raise_unseen(struct vt_hot *out, uint64_t bound)
{
	uint32_t i, greatest = 0;

	for (i = 1; i < out->nvalues; i++)
		if (out->errors[i] >= out->errors[greatest])
			greatest = i;
	if (!out->nvalues || out->errors[greatest] >= bound)
		return;
	out->counts[greatest] += bound - out->errors[greatest];
	out->errors[greatest] = bound;
}

static bool add_list(struct vt_hash *sums, const struct vt_hot *h, uint64_t other_unseen,
		     uint64_t own_unseen)
{
	uint32_t i;

	for (i = 0; i < h->nvalues; i++) {
		bool added;
		struct item *s = vt_hash_add(sums, &h->values[i], &added);

		if (!s)
			return false;
		if (added) {
			s->count = s->error = other_unseen;
		} else {
			s->count -= own_unseen;
			s->error -= own_unseen;
		}
		s->count += h->counts[i];
		s->error += h->errors ? h->errors[i] : 0;
	}
	return true;
}

static int by_estimate(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->count - x->error != y->count - y->error)
		return x->count - x->error > y->count - y->error ? -1 : 1;
	return (x->value > y->value) - (x->value < y->value);
}

/* The values of both lists; `out` is otherwise a copy of a. */
static int add_values(struct vt_hot *out, const struct vt_hot *a, const struct vt_hot *b,
		      uint32_t most, struct vt_error *err)
{
	bool errors = a->errors || b->errors || a->algo == VT_ALGO_SPACE_SAVING;
	struct vt_hash sums;
	int code = -VT_E_NOMEM;

	vt_hash_init(&sums, sizeof(struct item), sizeof(uint64_t));
	if (add_list(&sums, a, get_unseen_bound(b), 0) &&
	    add_list(&sums, b, get_unseen_bound(a), get_unseen_bound(b)) &&
	    sums.count <= UINT32_MAX) {
		if (sums.count)
			qsort(sums.entries, sums.count, sizeof(struct item), by_estimate);
		code = vt_hot_alloc(out, most && sums.count > most ? most : (uint32_t)sums.count,
				    errors, err);
	} else {
		vt_error_nomem(err);
	}
	if (code == 0)
		set_values(out, (const struct item *)(const void *)sums.entries);
	if (code == 0 && errors) {
		uint64_t bound = get_unseen_bound(a) + get_unseen_bound(b);
		size_t k;

		for (k = out->nvalues; k < sums.count; k++) {
			const struct item *s = vt_hash_at(&sums, k);

			if (s->count > bound)
				bound = s->count;
		}
		raise_unseen(out, bound);
	}
	vt_hash_fini(&sums);
	return code;
}

/* ---- merging ---- */

static int check_alike(const struct vt_hot *a, const struct vt_hot *b, struct vt_error *err)
{
	if (a->algo != b->algo)
		return vt_error_set(err, VT_E_MISMATCH,
				    "one hot list was kept by algorithm %s, the other by %s",
				    vt_algo_name(a->algo), vt_algo_name(b->algo));
	if (a->capacity != b->capacity)
		return vt_error_set(err, VT_E_MISMATCH,
				    "one hot list has room for %" PRIu32
				    " values, the other for %" PRIu32,
				    a->capacity, b->capacity);
	if (a->algo == VT_ALGO_GM && a->factor != b->factor)
		return vt_error_set(err, VT_E_MISMATCH,
				    "one hot list was thinned by %g at a time, the other by %g",
				    a->factor, b->factor);
	if (a->total > VT_HOT_MAX_TOTAL - b->total)
		return vt_error_set(err, VT_E_LIMIT, "totals of %" PRIu64 " and %" PRIu64, a->total,
				    b->total);
	return 0;
}

static void add_totals(struct vt_hot *a, const struct vt_hot *b)
{
	bool seam = a->total && b->total && a->last == b->first;

	if (!a->total)
		a->first = b->first;
	if (b->total)
		a->last = b->last;
	if (b->size > a->size)
		a->size = b->size;
	a->total += b->total;
	a->profiled += b->profiled;
	a->zero += b->zero;
	a->same += b->same + (seam && a->same + b->same < a->total);
	a->stride += b->stride;
}

/* A copy of a counting sample, thinned to a level. */
static int copy_thinned(struct vt_hot *out, const struct vt_hot *h, uint32_t level,
			struct vt_rng *rng, struct vt_error *err)
{
	*out = *h;
	if (vt_hot_alloc(out, h->nvalues, false, err) < 0)
		return -VT_E_NOMEM;
	memcpy(out->values, h->values, h->nvalues * sizeof(*h->values));
	memcpy(out->counts, h->counts, h->nvalues * sizeof(*h->counts));
	thin_to_level(out, level, rng);
	return 0;
}

static int merge_samples(struct vt_hot *out, const struct vt_hot *a, const struct vt_hot *b,
			 struct vt_rng *rng, struct vt_error *err)
{
	uint32_t level = a->level > b->level ? a->level : b->level;
	struct vt_hot x = {.nvalues = 0}, y = {.nvalues = 0};
	int code = copy_thinned(&x, a, level, rng, err);

	if (code == 0)
		code = copy_thinned(&y, b, level, rng, err);
	if (code == 0) {
		*out = x;
		code = add_values(out, &x, &y, 0, err);
	}
	vt_hot_fini(&x);
	vt_hot_fini(&y);
	if (code < 0)
		return code;
	while (out->capacity && out->nvalues > out->capacity)
		thin_to_level(out, out->level + 1, rng);
	if (out->scale > VT_HOT_MAX_TOTAL) {
		vt_hot_fini(out);
		return vt_error_set(err, VT_E_LIMIT, "a sample thinned %" PRIu32 " times by %g",
				    out->level, out->factor);
	}
	return 0;
}

int vt_hot_merge(struct vt_hot *a, const struct vt_hot *b, struct vt_rng *rng, struct vt_error *err)
{
	struct vt_hot out = *a;
	int code = check_alike(a, b, err);

	if (code < 0)
		return code;
	if (a->algo == VT_ALGO_GM)
		code = merge_samples(&out, a, b, rng, err);
	else
		code = add_values(&out, a, b, a->capacity, err);
	if (code < 0)
		return code;
	code = vt_hot_sort(&out, err);
	if (code < 0) {
		vt_hot_fini(&out);
		return code;
	}
	out.steady = a->steady && b->steady > a->steady ? b->steady : a->steady;
	add_totals(&out, b);
	vt_hot_fini(a);
	*a = out;
	return 0;
}
