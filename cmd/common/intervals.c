/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/intervals.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "cmd/common/profiles.h"
#include "cmd/common/stream.h"
#include "listing/values/invariance.h"

/* ---- one pass ---- */

static int note_image(struct app_intervals *iv, const struct vt_record *rec, struct vt_error *err)
{
	if (!vt_array_grow(&iv->ids, &iv->ids_cap, iv->nids + 1, sizeof(*iv->ids)))
		return vt_error_nomem(err);
	iv->ids[iv->nids++] = vt_record_u64(rec, VT_IMAGE_ID);
	return 0;
}

/* Images are needed once: in the second pass. */
static int take_images(struct app_intervals *iv, const struct vt_block *block, uint32_t first,
		       uint32_t count, struct vt_error *err)
{
	struct vt_record rec = {block, block->kind, first};
	int code = 0;

	for (; rec.row - first < count && code == 0; rec.row++) {
		code = vt_images_feed(iv->images, &rec, err);
		if (code == 0 && rec.kind == VT_IMAGE)
			code = note_image(iv, &rec, err);
	}
	return code;
}

static int feed(void *arg, const struct vt_block *block, uint32_t first, uint32_t count,
		struct vt_error *err)
{
	struct app_intervals *iv = arg;
	int code = vt_collect_feed(iv->collect, block, first, count, err);

	if (code == 0 && iv->intervals &&
	    (block->kind == VT_IMAGE || block->kind == VT_MAP || block->kind == VT_KSYMBOL ||
	     block->kind == VT_META))
		code = take_images(iv, block, first, count, err);
	return code;
}

/* Which image of the stream is which of the sites: known before the collection forgets it. */
static bool number_images(struct app *a, struct app_intervals *iv)
{
	size_t i;

	for (i = 0; i < iv->nids; i++) {
		uint32_t number = vt_collect_image(iv->collect, iv->ids[i], 0);
		size_t cap = iv->nstream_id;

		if (number == UINT32_MAX)
			return app_no_memory(a);
		if (number >= iv->nstream_id) {
			if (!vt_array_grow(&iv->stream_id, &cap, (size_t)number + 1,
					   sizeof(*iv->stream_id)))
				return app_no_memory(a);
			memset(iv->stream_id + iv->nstream_id, 0xff,
			       (cap - iv->nstream_id) * sizeof(*iv->stream_id));
			iv->nstream_id = cap;
		}
		iv->stream_id[number] = (uint32_t)iv->ids[i];
	}
	return true;
}

static bool pass(struct app *a, struct app_intervals *iv, const char *path,
		 const struct vt_hotlist_options *lists, const struct app_intervals_options *o)
{
	struct vt_collect_options how = {
		.what = o->what == VT_INV_EVERY ? VT_COLLECT_WHAT : o->what,
		.warn = iv->intervals ? NULL : app_bad_record,
		.warn_arg = a,
	};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_reader *r;
	bool ok;

	iv->sites = vt_sites_new(lists, &err);
	if (!iv->sites)
		return app_fail(a, &err);
	if (iv->intervals)
		vt_intervals_watch(iv->intervals, vt_sites_lists(iv->sites));
	iv->collect = vt_collect_new(iv->sites, &how);
	if (!iv->collect)
		return app_no_memory(a);
	if (vt_collect_begin(iv->collect, &err) < 0)
		return app_fail(a, &err);
	r = app_open_reader(a, path);
	ok = r && app_each_run(a, r, feed, iv);
	vt_reader_close(r);
	if (!ok || !number_images(a, iv))
		return false;
	return vt_collect_end(iv->collect, false, &err) == 0 || app_fail(a, &err);
}

/* ---- both ---- */

static bool keep_totals(struct app *a, struct app_intervals *iv)
{
	const struct vt_site *site;
	uint32_t size;
	size_t i;

	iv->ntotals = vt_sites_nlists(iv->sites);
	iv->totals = malloc((iv->ntotals + 1) * sizeof(*iv->totals));
	if (!iv->totals)
		return app_no_memory(a);
	for (i = 0; i < iv->ntotals; i++)
		iv->totals[i] = vt_sites_list_at(iv->sites, i, &site, &size)->total;
	vt_collect_free(iv->collect);
	vt_sites_free(iv->sites);
	iv->collect = NULL;
	iv->sites = NULL;
	return true;
}

static int by_mean(const void *a, const void *b)
{
	const struct app_interval_row *x = a, *y = b;

	if (x->mean != y->mean)
		return x->mean < y->mean ? -1 : 1;
	return (x->site > y->site) - (x->site < y->site);
}

static void measure(struct app_interval_row *row, uint32_t k)
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

static bool make_rows(struct app *a, struct app_intervals *iv,
		      const struct app_intervals_options *o)
{
	struct vt_hotlists *lists = vt_sites_lists(iv->sites);
	size_t i, n = vt_sites_nlists(iv->sites);

	iv->rows = malloc((n + 1) * sizeof(*iv->rows));
	if (!iv->rows)
		return app_no_memory(a);
	for (i = 0; i < n; i++) {
		const struct vt_site *site;
		uint32_t size;
		struct vt_hotlist *l = vt_sites_list_at(iv->sites, i, &site, &size);
		const float *shares = vt_intervals_of(iv->intervals, lists, l);

		if (!shares || l->total <= o->min || l->total < o->k)
			continue;
		iv->rows[iv->nrows] = (struct app_interval_row){
			.site = i, .executions = l->total, .shares = shares};
		measure(&iv->rows[iv->nrows++], o->k);
	}
	qsort(iv->rows, iv->nrows, sizeof(*iv->rows), by_mean);
	return true;
}

bool app_intervals_read(struct app *a, struct app_intervals *iv, const char *path,
			const struct app_intervals_options *o)
{
	/* Totals are all that the first pass is for. */
	const struct vt_hotlist_options count = {.algo = VT_ALGO_LRU, .entries = 1};
	const struct vt_hotlist_options table = {.algo = VT_ALGO_TNV};

	*iv = (struct app_intervals){0};
	iv->images = app_images_open(a, &iv->warnings, &iv->cache, o->symfs);
	if (!iv->images || !pass(a, iv, path, &count, o) || !keep_totals(a, iv))
		return false;
	if (!iv->ntotals)
		return app_lacks(a, path, APP_NO_VALUES);
	iv->intervals = vt_intervals_new(o->k, iv->totals, iv->ntotals);
	if (!iv->intervals)
		return app_no_memory(a);
	return pass(a, iv, path, &table, o) && make_rows(a, iv, o);
}

void app_intervals_end(struct app_intervals *iv)
{
	vt_collect_free(iv->collect);
	vt_sites_free(iv->sites);
	vt_intervals_free(iv->intervals);
	app_images_close(iv->images, &iv->warnings, iv->cache);
	free(iv->totals);
	free(iv->ids);
	free(iv->stream_id);
	free(iv->rows);
}

/* ---- printing ---- */

static void add_columns(struct vt_table *t, uint32_t k)
{
	char key[24];
	uint32_t i;

	vt_table_column(t, "number", "# number", VT_FORMAT_NUMBER);
	vt_table_column(t, "executions", "Executions", VT_FORMAT_NUMBER);
	vt_table_column(t, "mean", "Mean", VT_FORMAT_REAL);
	vt_table_column(t, "lowest", "Lowest", VT_FORMAT_REAL);
	vt_table_column(t, "highest", "Highest", VT_FORMAT_REAL);
	for (i = 0; i < k; i++) {
		snprintf(key, sizeof(key), "%" PRIu32, i + 1);
		vt_table_column_of(t, "intervals", key, "percent", key, key, VT_FORMAT_REAL);
	}
	vt_table_column(t, "what", "Values", VT_FORMAT_TEXT);
	vt_table_column(t, "size", "Size", VT_FORMAT_NUMBER);
	vt_table_column(t, "address", "Address", VT_FORMAT_HEX);
	vt_table_column_max(t, "image", "Image", VT_FORMAT_TEXT, 30);
	vt_table_column(t, "procedure", "Place", VT_FORMAT_TEXT);
}

static void fill_row(struct app_intervals *iv, const struct app_interval_row *row, uint32_t k,
		     struct vt_table *t)
{
	struct vt_hot_place place = {.why = vt_unknown_text(VT_UNKNOWN_NO_MAP)};
	const struct vt_site *site;
	uint32_t size, i;

	vt_sites_list_at(iv->sites, row->site, &site, &size);
	place.image = vt_sites_image_path(iv->sites, site->image);
	place.address = site->offset;
	if (site->image < iv->nstream_id && iv->stream_id[site->image] != UINT32_MAX)
		vt_image_place(iv->images, iv->stream_id[site->image], site->offset, &place);
	vt_table_number(t, row->executions);
	vt_table_real(t, 100 * row->mean);
	vt_table_real(t, 100 * row->lowest);
	vt_table_real(t, 100 * row->highest);
	for (i = 0; i < k; i++)
		vt_table_real(t, 100 * (double)row->shares[i]);
	vt_table_str(t, vt_what_name(site->what));
	vt_table_number(t, size);
	vt_table_number(t, place.address);
	vt_table_str(t, place.image);
	vt_invlist_place(t, &place, site->lane);
}

void app_intervals_fill(struct app_intervals *iv, const struct app_intervals_options *o,
			struct vt_table *t)
{
	size_t i;

	add_columns(t, o->k);
	for (i = 0; i < iv->nrows; i++) {
		vt_table_row(t, VT_STYLE_PLAIN);
		vt_table_number(t, i + 1);
		fill_row(iv, &iv->rows[i], o->k, t);
	}
}
