/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/invariance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint32_t vt_whats_of(const char *word, size_t size, uint32_t defaults)
{
	const struct {
		const char *name;
		uint32_t kinds;
	} more[] = {
		{"caller", 1u << VT_WHAT_RETURN},
		{"address", 1u << VT_WHAT_LOAD_ADDRESS | 1u << VT_WHAT_STORE_ADDRESS},
		{"default", defaults},
		{"all", (1u << VT_NWHATS) - 1},
	};
	uint32_t what, kinds;
	size_t i;

	for (what = 0; what < VT_NWHATS; what++)
		if (strlen(vt_what_name(what)) == size &&
		    memcmp(vt_what_name(what), word, size) == 0)
			return 1u << what;
	for (i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		if (strlen(more[i].name) == size && memcmp(more[i].name, word, size) == 0)
			return more[i].kinds;
	if (size > 2 && memcmp(word + size - 2, "es", 2) == 0) {
		kinds = vt_whats_of(word, size - 2, defaults);
		if (kinds)
			return kinds;
	}
	return size > 1 && word[size - 1] == 's' ? vt_whats_of(word, size - 1, defaults) : 0;
}

const char *vt_inv_metric_name(unsigned metric)
{
	static const char *const name[VT_NINVMETRICS] = {
		[VT_INV_TOP] = "inv-top", [VT_INV_ALL] = "inv-all",   [VT_INV_LVP] = "lvp",
		[VT_INV_ZERO] = "zero",	  [VT_INV_STRIDE] = "stride",
	};

	return metric < VT_NINVMETRICS ? name[metric] : "?";
}

/* ---- one list ---- */

double vt_inv_m(const struct vt_hot *h, uint32_t m)
{
	double sum = 0;
	uint32_t i;

	if (!h->profiled)
		return 0;
	for (i = 0; i < h->nvalues && i < m; i++)
		sum += vt_hot_estimate(h, i);
	sum /= (double)h->profiled;
	return sum < 1 ? sum : 1;
}

uint32_t vt_inv_steady(const struct vt_hot *h)
{
	return h->steady && h->steady < h->nvalues ? h->steady : h->nvalues;
}

double vt_inv_value(const struct vt_hot *h, enum vt_inv_metric metric)
{
	double total = h->total ? (double)h->total : 1;

	switch (metric) {
	case VT_INV_TOP:
		return vt_inv_m(h, 1);
	case VT_INV_ALL:
		return vt_inv_m(h, vt_inv_steady(h));
	case VT_INV_LVP:
		return (double)h->same / total;
	case VT_INV_ZERO:
		return (double)h->zero / total;
	case VT_INV_STRIDE:
		return (double)h->stride / total;
	default:
		return 0;
	}
}

/* ---- a profile ---- */

static void add_count_saturated(uint64_t *sum, uint64_t more)
{
	*sum = more > UINT64_MAX - *sum ? UINT64_MAX : *sum + more;
}

void vt_inv_sum(const struct vt_hotprofile *p, uint32_t what, struct vt_inv_overall *sum)
{
	double weights = 0;
	size_t i;
	int m;

	memset(sum, 0, sizeof(*sum));
	for (i = 0; i < vt_hotprofile_count(p); i++) {
		const struct vt_hot *h = vt_hotprofile_at(p, i);

		if (!vt_inv_counts(h, what))
			continue;
		sum->lists++;
		add_count_saturated(&sum->executions, h->total);
		add_count_saturated(&sum->profiled, h->profiled);
		weights += (double)h->total;
		for (m = 0; m < VT_NINVMETRICS; m++)
			sum->value[m] += (double)h->total * vt_inv_value(h, (enum vt_inv_metric)m);
	}
	for (m = 0; m < VT_NINVMETRICS && weights > 0; m++)
		sum->value[m] /= weights;
}

/* ---- two profiles ---- */

static uint32_t largest_steady(const struct vt_hotprofile *p, uint32_t what)
{
	uint32_t largest = 0;
	size_t i;

	for (i = 0; i < vt_hotprofile_count(p); i++) {
		const struct vt_hot *h = vt_hotprofile_at(p, i);

		if (!vt_inv_counts(h, what))
			continue;
		/* A list that keeps everything is steady as a whole, however short it is. */
		if (!h->steady || h->algo == VT_ALGO_EXACT)
			return UINT32_MAX;
		if (h->steady > largest)
			largest = h->steady;
	}
	return largest ? largest : UINT32_MAX;
}

uint32_t vt_inv_common_m(const struct vt_hotprofile *a, const struct vt_hotprofile *b,
			 uint32_t what)
{
	uint32_t x = largest_steady(a, what), y = largest_steady(b, what);

	return x < y ? x : y;
}

/* The list of profile `to` for a key of profile `from`; `images` maps the one's images to the
 * other's. */
static const struct vt_hot *find_counterpart(const struct vt_hotprofile *to,
					     const struct vt_hotprofile *from,
					     const uint32_t *images, const struct vt_hot_key *key)
{
	struct vt_hot_key k = *key;

	if (k.what == VT_WHAT_MODULE) {
		k.reg = vt_plugin_names_same(vt_hotprofile_plugins(to), vt_hotprofile_plugins(from),
					     k.reg);
		if (k.reg == UINT32_MAX)
			return NULL;
	}
	if (k.image != VT_HOT_NO_IMAGE) {
		k.image = images[k.image];
		if (k.image == VT_HOT_NO_IMAGE)
			return NULL;
	}
	if (k.caller && k.caller_image != VT_HOT_NO_IMAGE) {
		k.caller_image = images[k.caller_image];
		if (k.caller_image == VT_HOT_NO_IMAGE)
			return NULL;
	}
	return vt_hotprofile_get(to, &k);
}

struct vt_inv_pair *vt_inv_match(const struct vt_hotprofile *a, const struct vt_hotprofile *b,
				 uint32_t what, size_t *n)
{
	size_t nimages = vt_hotprofile_nimages(a), i;
	uint32_t *images = malloc((nimages + 1) * sizeof(*images));
	struct vt_inv_pair *pairs = malloc((vt_hotprofile_count(a) + 1) * sizeof(*pairs));

	*n = 0;
	if (!images || !pairs) {
		free(images);
		free(pairs);
		return NULL;
	}
	for (i = 0; i < nimages; i++)
		images[i] = vt_hotprofile_same_image(b, vt_hotprofile_image(a, (uint32_t)i));
	for (i = 0; i < vt_hotprofile_count(a); i++) {
		const struct vt_hot *h = vt_hotprofile_at(a, i), *other;

		if (!vt_inv_counts(h, what))
			continue;
		other = find_counterpart(b, a, images, &h->key);
		if (other && other->profiled)
			pairs[(*n)++] =
				(struct vt_inv_pair){i, (size_t)(other - vt_hotprofile_at(b, 0))};
	}
	free(images);
	return pairs;
}

static bool has_value(const struct vt_hot *h, uint64_t value)
{
	uint32_t i, steady = vt_inv_steady(h);

	for (i = 0; i < steady; i++)
		if (h->values[i] == value)
			return true;
	return false;
}

static double get_metric_distance(const struct vt_hot *x, const struct vt_hot *y,
				  enum vt_inv_metric metric)
{
	return fabs(vt_inv_value(x, metric) - vt_inv_value(y, metric));
}

/* Sums over pairs, before they are divided by the weights. */
struct sums {
	double weight;
	double candidates;
	double found;
};

static void compare_pair(const struct vt_hot *x, const struct vt_hot *y,
			 const struct vt_inv_options *o, struct vt_inv_comparison *r,
			 struct sums *sums)
{
	double w = (double)x->total;
	double top = get_metric_distance(x, y, VT_INV_TOP);

	sums->weight += w;
	add_count_saturated(&r->executions, x->total);
	r->diff_top += w * top;
	r->rms += w * top * top;
	r->diff_all += w * fabs(vt_inv_m(x, r->m) - vt_inv_m(y, r->m));
	r->diff_lvp += w * get_metric_distance(x, y, VT_INV_LVP);
	r->diff_zero += w * get_metric_distance(x, y, VT_INV_ZERO);
	if (x->nvalues && vt_inv_m(x, 1) > o->threshold) {
		r->candidates++;
		sums->candidates += w;
		sums->found += has_value(y, x->values[0]) ? w : 0;
	}
}

void vt_inv_compare(const struct vt_hotprofile *a, const struct vt_hotprofile *b,
		    const struct vt_inv_pair *pairs, size_t n, const struct vt_inv_options *o,
		    struct vt_inv_comparison *result)
{
	struct vt_inv_comparison r = {.lists = n, .find_top = 1};
	struct sums sums = {0, 0, 0};
	size_t i;

	vt_inv_sum(a, o->what, &r.first);
	vt_inv_sum(b, o->what, &r.second);
	r.m = o->m ? o->m : vt_inv_common_m(a, b, o->what);
	r.of = r.first.executions;
	r.only_first = r.first.lists - n;
	r.only_second = r.second.lists - n;
	r.profiled =
		r.second.executions ? (double)r.second.profiled / (double)r.second.executions : 0;
	for (i = 0; i < n; i++)
		compare_pair(vt_hotprofile_at(a, pairs[i].a), vt_hotprofile_at(b, pairs[i].b), o,
			     &r, &sums);
	if (sums.weight > 0) {
		r.diff_top /= sums.weight;
		r.diff_all /= sums.weight;
		/* Of whole lists, which have no size in common, it is the difference of their sums.
		 */
		if (r.m != UINT32_MAX)
			r.diff_all /= r.m;
		r.rms = sqrt(r.rms / sums.weight);
		r.diff_lvp /= sums.weight;
		r.diff_zero /= sums.weight;
	}
	if (sums.candidates > 0)
		r.find_top = sums.found / sums.candidates;
	*result = r;
}

/* ---- curves ---- */

struct point {
	double value;
	double weight;
	size_t index;
};

static int compare_points(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static void fill_curve(const struct point *points, size_t n, double all,
		       double curve[VT_INV_BUCKETS])
{
	double bucket = all / VT_INV_BUCKETS;
	double at = 0; /* executions dealt out so far */
	size_t i;
	int k = 0;

	for (i = 0; i < n; i++) {
		double end = at + points[i].weight;

		/* The last bucket ends where the executions do, whatever rounding says. */
		while (k < VT_INV_BUCKETS - 1 && end > (k + 1) * bucket) {
			curve[k] += points[i].value * ((k + 1) * bucket - at);
			at = ++k * bucket;
		}
		curve[k] += points[i].value * (end - at);
		at = end;
	}
	for (k = 0; k < VT_INV_BUCKETS; k++)
		curve[k] /= bucket;
}

bool vt_inv_curve(const struct vt_hotprofile *p, uint32_t what, enum vt_inv_metric metric,
		  double curve[VT_INV_BUCKETS])
{
	struct point *points = malloc((vt_hotprofile_count(p) + 1) * sizeof(*points));
	double all = 0;
	size_t i, n = 0;

	memset(curve, 0, VT_INV_BUCKETS * sizeof(*curve));
	if (!points)
		return false;
	for (i = 0; i < vt_hotprofile_count(p); i++) {
		const struct vt_hot *h = vt_hotprofile_at(p, i);

		if (!vt_inv_counts(h, what))
			continue;
		points[n++] = (struct point){vt_inv_value(h, metric), (double)h->total, i};
		all += (double)h->total;
	}
	qsort(points, n, sizeof(*points), compare_points);
	if (n)
		fill_curve(points, n, all, curve);
	free(points);
	return n > 0;
}
