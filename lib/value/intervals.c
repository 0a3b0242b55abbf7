/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/intervals.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "value/collect.h"
#include "value/hot_list_internal.h"
#include "value/invariance.h"

struct vt_intervals {
	uint32_t k;
	const uint64_t *totals;
	size_t n;
	float *shares; /* k for each list */
};

struct vt_intervals *vt_intervals_new(uint32_t k, const uint64_t *totals, size_t n)
{
	struct vt_intervals *iv = calloc(1, sizeof(*iv));

	if (!iv)
		return NULL;
	*iv = (struct vt_intervals){.k = k, .totals = totals, .n = n};
	iv->shares = calloc(n + 1, k * sizeof(*iv->shares));
	if (!iv->shares) {
		free(iv);
		return NULL;
	}
	return iv;
}

void vt_intervals_free(struct vt_intervals *iv)
{
	if (!iv)
		return;
	free(iv->shares);
	free(iv);
}

/* Executions before the j-th interval. */
static uint64_t get_interval_start(uint64_t total, uint32_t k, uint32_t j)
{
	return total / k * j + total % k * j / k;
}

static void end_interval(struct vt_intervals *iv, struct vt_hotlist *l, struct vti_rest *r)
{
	uint64_t total = iv->totals[r->profiled];
	uint64_t size = get_interval_start(total, iv->k, r->rounds + 1) -
			get_interval_start(total, iv->k, r->rounds);

	/* The table is in the order of counts. */
	if (l->count && size)
		iv->shares[r->profiled * iv->k + r->rounds] =
			(float)((double)r->cells[0].count / (double)size);
	l->count = 0;
	r->age = 0;
	r->rounds++;
}

static void add_in_interval(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value, uint64_t n)
{
	struct vt_intervals *iv = s->intervals;
	struct vti_rest *r = vti_rest(l);

	while (n && r->profiled < iv->n && r->rounds < iv->k) {
		uint64_t end = get_interval_start(iv->totals[r->profiled], iv->k, r->rounds + 1);
		uint64_t part = n < end - r->phase ? n : end - r->phase;

		if (part)
			vti_tnv_add(s, l, r, value, part);
		r->phase += part;
		n -= part;
		if (r->phase == end)
			end_interval(iv, l, r);
	}
}

void vt_intervals_watch(struct vt_intervals *iv, struct vt_hotlists *s)
{
	s->intervals = iv;
	s->take = add_in_interval;
}

const float *vt_intervals_of(struct vt_intervals *iv, struct vt_hotlists *s, struct vt_hotlist *l)
{
	const struct vti_rest *r = vti_rest(l);

	if (l->run)
		vti_hotlist_flush(s, l);
	return r->profiled < iv->n ? iv->shares + r->profiled * iv->k : NULL;
}

/* ---- a recording, read twice ---- */

struct vt_intervalprofile {
	struct vt_intervalprofile_options options;
	struct vt_sites *sites;
	struct vt_collect *collect;
	struct vt_context *context;
	struct vt_intervals *intervals; /* NULL in the first pass */
	uint64_t *totals;
	uint32_t *stream_id; /* by the sites' number of an image; or VT_SITES_NO_IMAGE */
	size_t nstream_id;
	struct vt_interval_row *rows;
	size_t nrows;
};

/* Notes which image of the sites the stream calls by its id. */
static int note_image(void *profile, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_intervalprofile *p = profile;
	uint64_t id = vt_record_u64(rec, VT_IMAGE_ID);
	uint32_t number = vt_collect_image(p->collect, id, 0);
	size_t cap = p->nstream_id;

	if (number == UINT32_MAX ||
	    !vt_array_grow(&p->stream_id, &cap, (size_t)number + 1, sizeof(*p->stream_id)))
		return vt_error_nomem(err);
	if (cap > p->nstream_id)
		memset(p->stream_id + p->nstream_id, 0xff,
		       (cap - p->nstream_id) * sizeof(*p->stream_id));
	p->nstream_id = cap;
	p->stream_id[number] = (uint32_t)id;
	return 0;
}

static int begin_pass(struct vt_intervalprofile *p, const struct vt_hotlist_options *lists,
		      struct vt_error *err)
{
	const struct vt_intervalprofile_options *o = &p->options;
	const struct vt_collect_options how = {
		.what = o->what == VT_INV_EVERY ? VT_COLLECT_WHAT : o->what,
		.warn = p->intervals ? NULL : o->warn,
		.warn_arg = o->warn_arg,
	};

	p->sites = vt_sites_new(lists, err);
	if (!p->sites)
		return -(int)err->code;
	if (p->intervals)
		vt_intervals_watch(p->intervals, vt_sites_lists(p->sites));
	p->collect = vt_collect_new(p->sites, &how);
	p->context = vt_context_new(p->intervals ? o->images : NULL);
	if (!p->collect || !p->context)
		return vt_error_nomem(err);
	vt_collect_begin(p->collect, p->context);
	if (p->intervals)
		vt_context_add(p->context, &(struct vt_consumer){.record = note_image,
								 .arg = p,
								 .kinds = VT_KIND(VT_IMAGE)});
	return 0;
}

struct vt_intervalprofile *vt_intervalprofile_new(const struct vt_intervalprofile_options *o,
						  struct vt_error *err)
{
	/* The first pass is for the totals alone. */
	const struct vt_hotlist_options count = {.algo = VT_ALGO_LRU, .entries = 1};
	struct vt_intervalprofile *p = calloc(1, sizeof(*p));

	if (!p) {
		vt_error_nomem(err);
		return NULL;
	}
	p->options = *o;
	if (begin_pass(p, &count, err) == 0)
		return p;
	vt_intervalprofile_free(p);
	return NULL;
}

static void free_lists(struct vt_intervalprofile *p)
{
	vt_collect_free(p->collect);
	vt_sites_free(p->sites);
	vt_context_free(p->context);
	p->context = NULL;
	p->collect = NULL;
	p->sites = NULL;
}

void vt_intervalprofile_free(struct vt_intervalprofile *p)
{
	if (!p)
		return;
	free_lists(p);
	vt_intervals_free(p->intervals);
	free(p->totals);
	free(p->stream_id);
	free(p->rows);
	free(p);
}

int vt_intervalprofile_feed(void *profile, const struct vt_block *block, uint32_t first,
			    uint32_t count, struct vt_error *err)
{
	struct vt_intervalprofile *p = profile;

	return vt_context_feed(p->context, block, first, count, err);
}

/* ---- the rows ---- */

static int compare_means(const void *a, const void *b)
{
	const struct vt_interval_row *x = a, *y = b;

	if (x->mean != y->mean)
		return x->mean < y->mean ? -1 : 1;
	return (x->list > y->list) - (x->list < y->list);
}

static void sum_shares(struct vt_interval_row *row, uint32_t k)
{
	uint32_t i;

	row->lowest = 1;
	for (i = 0; i < k; i++) {
		row->mean += (double)row->shares[i] / k;
		if (row->shares[i] < row->lowest)
			row->lowest = row->shares[i];
		if (row->shares[i] > row->highest)
			row->highest = row->shares[i];
	}
}

static int make_rows(struct vt_intervalprofile *p, struct vt_error *err)
{
	struct vt_hotlists *lists = vt_sites_lists(p->sites);
	size_t i, n = vt_sites_nlists(p->sites);

	p->rows = malloc((n + 1) * sizeof(*p->rows));
	if (!p->rows)
		return vt_error_nomem(err);
	for (i = 0; i < n; i++) {
		struct vt_interval_row row = {.list = i, .image = VT_SITES_NO_IMAGE};
		struct vt_hotlist *l = vt_sites_list_at(p->sites, i, &row.site, &row.size);
		uint32_t image = row.site->image;

		row.shares = vt_intervals_of(p->intervals, lists, l);
		row.executions = l->total;
		if (!row.shares || l->total <= p->options.min || l->total < p->options.k)
			continue;
		row.path = vt_sites_image_path(p->sites, image);
		if (image < p->nstream_id)
			row.image = p->stream_id[image];
		sum_shares(&row, p->options.k);
		p->rows[p->nrows++] = row;
	}
	qsort(p->rows, p->nrows, sizeof(*p->rows), compare_means);
	return 0;
}

/* ---- passes ---- */

static int end_first_pass(struct vt_intervalprofile *p, struct vt_error *err)
{
	const struct vt_hotlist_options table = {.algo = VT_ALGO_TNV};
	size_t i, n = vt_sites_nlists(p->sites);
	const struct vt_site *site;
	uint32_t size;

	if (!n)
		return vt_error_set(err, VT_E_ABSENT, "no values");
	p->totals = malloc(n * sizeof(*p->totals));
	if (!p->totals)
		return vt_error_nomem(err);
	for (i = 0; i < n; i++)
		p->totals[i] = vt_sites_list_at(p->sites, i, &site, &size)->total;
	free_lists(p);
	p->intervals = vt_intervals_new(p->options.k, p->totals, n);
	return p->intervals ? begin_pass(p, &table, err) : vt_error_nomem(err);
}

int vt_intervalprofile_end_pass(struct vt_intervalprofile *p, struct vt_error *err)
{
	int code = vt_collect_end(p->collect, false, err);

	if (code < 0)
		return code;
	return p->intervals ? make_rows(p, err) : end_first_pass(p, err);
}

size_t vt_intervalprofile_count(const struct vt_intervalprofile *p)
{
	return p->nrows;
}

const struct vt_interval_row *vt_intervalprofile_at(const struct vt_intervalprofile *p, size_t i)
{
	return &p->rows[i];
}
