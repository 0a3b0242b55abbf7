/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/cycles/stall_ranking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "culprit/cause.h"

/* A procedure and where its cycles went.  NO_START: code that lies in no procedure. */
#define NO_START UINT64_MAX

struct ranked_key {
	uint64_t image;
	uint64_t start;
};

struct ranked_procedure {
	struct ranked_key key;
	const char *name; /* borrowed from the images */
	struct vt_cyclesum sum;
};

struct vt_cyclerank {
	struct vt_calc_source src;
	struct vt_hash rows;
	double cycles; /* of all rows */
};

struct vt_cyclerank *vt_cyclerank_new(const struct vt_calc_source *src)
{
	struct vt_cyclerank *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->src = *src;
	vt_hash_init(&r->rows, sizeof(struct ranked_procedure), sizeof(struct ranked_key));
	return r;
}

void vt_cyclerank_free(struct vt_cyclerank *r)
{
	if (!r)
		return;
	vt_hash_fini(&r->rows);
	free(r);
}

static struct ranked_procedure *get_ranked_procedure(struct vt_cyclerank *r, uint32_t image,
						     uint64_t offset)
{
	struct vt_location loc;
	struct ranked_procedure *row;
	struct ranked_key key;

	vt_images_symbol(r->src.images, image, 0, offset, &loc);
	key = (struct ranked_key){image, loc.symbol ? loc.symbol->start : NO_START};
	row = vt_hash_add(&r->rows, &key, NULL);
	if (row && !row->name)
		row->name = loc.symbol ? vt_images_display(r->src.images, image, 0, loc.symbol)
				       : vt_unknown_text(loc.why);
	return row;
}

bool vt_cyclerank_add(struct vt_cyclerank *r, uint32_t image)
{
	size_t i, n;
	const struct vt_freq_at *f = vt_freqprofile_freqs(r->src.freqs, image, 0, UINT64_MAX, &n);

	for (i = 0; i < n; i++) {
		struct ranked_procedure *row;

		/* The sum takes all estimates at an offset. */
		if (i && f[i].offset == f[i - 1].offset)
			continue;
		row = get_ranked_procedure(r, image, f[i].offset);
		if (!row)
			return false;
		r->cycles -= row->sum.cycles;
		vt_cyclesum_add(&row->sum, r->src.freqs, image, f[i].offset, f[i].offset + 1);
		r->cycles += row->sum.cycles;
	}
	return true;
}

/* Of what was judged: of the rest, a cause has as little or as much in any of them. */
static double compute_loss(const struct ranked_procedure *row, unsigned cause)
{
	double v = (row->sum.low[cause] + row->sum.high[cause]) / 2;

	return cause == VT_STALL_GAIN ? -v : v;
}

struct ranked_loss {
	double loss;
	const struct ranked_procedure *row;
};

static int compare_losses(const void *a, const void *b)
{
	const struct ranked_loss *x = a, *y = b;

	if (x->loss != y->loss)
		return x->loss > y->loss ? -1 : 1;
	if (x->row->key.image != y->row->key.image)
		return x->row->key.image < y->row->key.image ? -1 : 1;
	return x->row->key.start < y->row->key.start ? -1 : x->row->key.start > y->row->key.start;
}

/* Rounds: fractions of cycles mean nothing here. */
static void put_cycle_count(struct vt_table *t, double v)
{
	if (fabs(v) < 9e18)
		vt_table_signed(t, (int64_t)llround(v));
	else
		vt_table_real(t, v);
}

static void put_ranked_row(const struct vt_cyclerank *r, const struct ranked_procedure *row,
			   unsigned cause, struct vt_table *t)
{
	const struct vt_image *image = vt_images_get(r->src.images, (uint32_t)row->key.image);
	double all = r->cycles, own = row->sum.cycles;

	vt_table_row(t, VT_STYLE_PLAIN);
	put_cycle_count(t, row->sum.low[cause]);
	put_cycle_count(t, vt_cyclesum_high(&row->sum, cause));
	vt_table_real(t, 100 * row->sum.low[cause] / all);
	vt_table_real(t, 100 * vt_cyclesum_high(&row->sum, cause) / all);
	vt_table_real(t, 100 * row->sum.low[cause] / own);
	vt_table_real(t, 100 * vt_cyclesum_high(&row->sum, cause) / own);
	put_cycle_count(t, own);
	vt_table_real(t, 100 * own / all);
	if (row->key.start == NO_START)
		vt_table_printf(t, "[%s]", row->name);
	else
		vt_table_str(t, row->name);
	vt_table_str(t, image ? image->path : "?");
}

bool vt_cyclerank_fill(struct vt_cyclerank *r, const struct vt_cyclerank_options *o,
		       struct vt_table *t)
{
	struct ranked_loss *places = calloc(r->rows.count + 1, sizeof(*places));
	size_t i, n = 0;

	vt_table_column(t, "low_cycles", NULL, VT_FORMAT_SIGNED);
	vt_table_column(t, "high_cycles", NULL, VT_FORMAT_SIGNED);
	vt_table_column(t, "low", "at least", VT_FORMAT_PERCENT);
	vt_table_column(t, "high", "at most", VT_FORMAT_PERCENT);
	vt_table_column(t, "own_low", "of its own", VT_FORMAT_PERCENT);
	vt_table_column(t, "own_high", "up to", VT_FORMAT_PERCENT);
	vt_table_column(t, "cycles", NULL, VT_FORMAT_SIGNED);
	vt_table_column(t, "percent", "cycles", VT_FORMAT_PERCENT);
	vt_table_column(t, "procedure", "procedure", VT_FORMAT_NAME);
	vt_table_column(t, "image", "image", VT_FORMAT_PATH);
	if (!places)
		return false;
	for (i = 0; i < r->rows.count; i++) {
		const struct ranked_procedure *row = vt_hash_at(&r->rows, i);
		double v = compute_loss(row, o->cause);

		if (v > 0 && 100 * v >= o->cutoff * r->cycles)
			places[n++] = (struct ranked_loss){v, row};
	}
	qsort(places, n, sizeof(*places), compare_losses);
	for (i = 0; i < n && (!o->top || i < o->top); i++)
		put_ranked_row(r, places[i].row, o->cause, t);
	free(places);
	return true;
}

void vt_cyclerank_header(const struct vt_cyclerank_options *o, const struct vt_cyclesum *all,
			 struct vt_output *out)
{
	vt_cyclesum_print_shares(all, out);
	vt_cyclesum_print_cpi(all, out);
	if (!(all->cycles > 0))
		return;
	vt_output_printf(out, "*** %c = %s: %.1f%% to %.1f%% of the cycles",
			 vt_stall_letter(o->cause), vt_stall_text(o->cause),
			 100 * all->low[o->cause] / all->cycles,
			 100 * vt_cyclesum_high(all, o->cause) / all->cycles);
	if (vt_stall_is_sought(o->cause) && vt_cyclesum_not_judged(all) > 0)
		vt_output_printf(out, ", as %.1f%% were not judged",
				 100 * vt_cyclesum_not_judged(all) / all->cycles);
	vt_output_text(out, "\n\n");
}
