/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/hot_merge.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "value/draw.h"
#include "value/hot_record.h"

struct sum {
	uint64_t value;
	uint64_t count;
	uint64_t error;
};

/* ---- counting samples ---- */

/* Each recorded execution stays with probability 1/by. */
static void thin(struct vt_hot *h, double by, struct vt_rng *rng)
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
		thin(h, pow(h->factor, level - h->level), rng);
	h->level = level;
	h->scale = pow(h->factor, level);
}

/* ---- adding up ---- */

/*
 * What a value that a list does not have may have had there: no more than the count that was given
 * up last, which is the greatest, and the error of the value that came for it.
 */
static uint64_t unseen(const struct vt_hot *h)
{
	uint64_t most = 0;
	uint32_t i;

	for (i = 0; h->errors && i < h->nvalues; i++)
		if (h->errors[i] > most)
			most = h->errors[i];
	return most;
}

/* The same of a sum: makes one of its errors at least `bound`, by which its count may be too high.
 */
static void tell_unseen(struct vt_hot *out, uint64_t bound)
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
		struct sum *s = vt_hash_add(sums, &h->values[i], &added);

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
	const struct sum *x = a, *y = b;

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
	uint32_t i;
	int code = -VT_E_NOMEM;

	vt_hash_init(&sums, sizeof(struct sum), sizeof(uint64_t));
	if (add_list(&sums, a, unseen(b), 0) && add_list(&sums, b, unseen(a), unseen(b)) &&
	    sums.count <= UINT32_MAX) {
		if (sums.count)
			qsort(sums.entries, sums.count, sizeof(struct sum), by_estimate);
		code = vt_hot_alloc(out, most && sums.count > most ? most : (uint32_t)sums.count,
				    errors, err);
	} else {
		vt_error_nomem(err);
	}
	for (i = 0; code == 0 && i < out->nvalues; i++) {
		const struct sum *s = vt_hash_at(&sums, i);

		out->values[i] = s->value;
		out->counts[i] = s->count;
		if (errors)
			out->errors[i] = s->error;
	}
	if (code == 0 && errors) {
		uint64_t bound = unseen(a) + unseen(b);
		size_t k;

		for (k = out->nvalues; k < sums.count; k++) {
			const struct sum *s = vt_hash_at(&sums, k);

			if (s->count > bound)
				bound = s->count;
		}
		tell_unseen(out, bound);
	}
	vt_hash_fini(&sums);
	return code;
}

/* ---- joining ---- */

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
