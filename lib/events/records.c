/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events/stats.h"
#include "stream/sum.h"

/* ---- reading ---- */

static int reject(const char *what, struct vt_error *err)
{
	return vt_error_set(err, VT_E_FORMAT, "a record EVSTAT holds %s", what);
}

static int check_bins(struct vt_words bins, double had, struct vt_error *err)
{
	double total = 0;
	size_t i;

	if (bins.count % 2 || bins.count > 2 * (size_t)VT_EVBINS_MAX)
		return reject("a histogram that is cut", err);
	for (i = 0; i < bins.count; i += 2) {
		if (bins.data[i] >= VT_EVBINS_MAX || (i && bins.data[i] <= bins.data[i - 2]))
			return reject("bins that cannot be", err);
		total += (double)bins.data[i + 1];
	}
	return total != had ? reject("a histogram of other samples", err) : 0;
}

int vt_evstats_record(struct vt_evstats *s, const struct vt_evkey *key, const struct vt_record *rec,
		      struct vt_error *err)
{
	unsigned stat = vt_evstat_of(vt_record_u64(rec, VT_EVSTAT_WHAT));
	struct vt_words bins = vt_record_words(rec, VT_EVSTAT_BINS);
	struct vt_evtotal *other, t = {
					  .samples = (double)vt_record_u64(rec, VT_EVSTAT_SAMPLES),
					  .had = (double)vt_record_u64(rec, VT_EVSTAT_HAD),
					  .least = (double)vt_record_u64(rec, VT_EVSTAT_LEAST),
					  .k = vt_record_f64(rec, VT_EVSTAT_K),
					  .sum = vt_record_f64(rec, VT_EVSTAT_SUM),
					  .sum2 = vt_record_f64(rec, VT_EVSTAT_SUM2),
					  .variance = vt_record_f64(rec, VT_EVSTAT_VARIANCE),
				  };
	struct vt_evcounts *c;
	size_t i;

	if (vt_record_u64(rec, VT_EVSTAT_IMAGE) > UINT32_MAX)
		return reject("an image that cannot be", err);
	if (stat == VT_EV_STATS)
		return reject("a total that no sample has", err);
	if (!vt_is_sum(t.k) || !vt_is_sum(t.sum) || !vt_is_sum(t.sum2) || !vt_is_sum(t.variance) ||
	    t.samples > VT_MOST_COUNT || t.had > t.samples || t.least > t.had)
		return reject("numbers that cannot be", err);
	if (vt_evstat_is_latency(stat) && !vt_is_product_sum(t.sum, t.sum2, t.k))
		return reject("a sum that its squares do not allow", err);
	if (!vt_evstat_is_latency(stat) && bins.count)
		return reject("bins of an event", err);
	if (vt_evstat_is_latency(stat) && check_bins(bins, t.had, err) < 0)
		return -VT_E_FORMAT;
	c = vt_evstats_add(s, key);
	other = c ? vt_evcounts_other(c) : NULL;
	if (!other)
		return vt_error_nomem(err);
	vt_evtotal_add(&other[stat], &t);
	for (i = 0; i < bins.count; i += 2)
		if (!vt_evbins_add(&c->latency[stat - VT_PM_NEVENTS].bins, (uint32_t)bins.data[i],
				   (double)bins.data[i + 1]))
			return vt_error_nomem(err);
	return 0;
}

/* ---- what is known of events ---- */

bool vt_evmeta_parse(const struct vt_record *rec, struct vt_evevent *e)
{
	struct vt_bytes value = vt_record_bytes(rec, VT_META_VALUE);
	unsigned population, division;
	char text[160];
	int end = 0;

	if (value.size >= sizeof(text))
		return false;
	memcpy(text, value.data, value.size);
	text[value.size] = '\0';
	if (sscanf(text, "%" SCNu64 " %u %u %lf %lf %" SCNu64 "%n", &e->id, &population, &division,
		   &e->check.squares, &e->check.freedom, &e->unlocated, &end) != 6 ||
	    text[end] || population > VT_EVPOP_FETCHES || division > VT_EVDIV_PARTLY ||
	    !vt_is_sum(e->check.squares) || !vt_is_sum(e->check.freedom))
		return false;
	e->population = (enum vt_evpopulation)population;
	e->division = (enum vt_evdivision)division;
	return true;
}

void vt_evmeta_join(struct vt_evevent *to, const struct vt_evevent *from)
{
	bool first = !to->joined;

	to->check.squares += from->check.squares;
	to->check.freedom += from->check.freedom;
	to->unlocated += from->unlocated;
	if (first)
		to->population = from->population;
	if (first)
		to->division = from->division;
	else if (to->division != from->division)
		to->division = VT_EVDIV_PARTLY;
	to->joined = true;
}

static void write_meta(const struct vt_evevent *e, struct vt_writer *w)
{
	char text[160];

	snprintf(text, sizeof(text), "%" PRIu64 " %u %u %.17g %.17g %" PRIu64, e->id,
		 (unsigned)e->population, (unsigned)e->division, e->check.squares, e->check.freedom,
		 e->unlocated);
	vt_writer_meta(w, VT_EV_META, text);
}

/* ---- writing ---- */

static int compare_places(const void *pa, const void *pb)
{
	const struct vt_evkey *a = pa, *b = pb;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static enum vt_confidence choose_confidence(const struct vt_evtotal *t, const struct vt_evevent *e)
{
	double worth = t->variance > 0 ? t->sum * t->sum / t->variance : 0;

	if (!vt_evcheck_known(&e->check))
		return VT_CONFIDENCE_NONE;
	worth /= vt_evcheck_factor(&e->check);
	return worth >= 400  ? VT_CONFIDENCE_HIGH
	       : worth >= 30 ? VT_CONFIDENCE_MEDIUM
			     : VT_CONFIDENCE_LOW;
}

static bool write_bins(const struct vt_evbins *b, struct vt_writer *w)
{
	uint64_t *words = malloc(2 * ((size_t)b->n + 1) * sizeof(*words));
	size_t n = 0;
	uint32_t i;

	if (!words)
		return false;
	for (i = 0; i < b->n; i++) {
		if (!(b->count[i] > 0))
			continue;
		words[n++] = i;
		words[n++] = (uint64_t)b->count[i];
	}
	vt_writer_words(w, VT_EVSTAT_BINS, words, n);
	free(words);
	return true;
}

static bool write_total(const struct vt_evkey *key, const struct vt_evevent *e, unsigned stat,
			const struct vt_evtotal *t, const struct vt_evbins *bins,
			struct vt_writer *w)
{
	uint64_t *row = vt_writer_row(w, VT_EVSTAT);
	double low, high;

	vt_evtotal_interval(t, e, &low, &high);
	row[VT_EVSTAT_IMAGE] = key->image;
	row[VT_EVSTAT_OFFSET] = key->offset;
	row[VT_EVSTAT_EVENT] = e->id;
	row[VT_EVSTAT_WHAT] = vt_evstat_what(stat);
	row[VT_EVSTAT_SAMPLES] = (uint64_t)t->samples;
	row[VT_EVSTAT_HAD] = (uint64_t)t->had;
	row[VT_EVSTAT_LEAST] = (uint64_t)t->least;
	vt_row_set_f64(&row[VT_EVSTAT_K], t->k);
	vt_row_set_f64(&row[VT_EVSTAT_SUM], t->sum);
	vt_row_set_f64(&row[VT_EVSTAT_SUM2], t->sum2);
	vt_row_set_f64(&row[VT_EVSTAT_VARIANCE], t->variance);
	vt_row_set_f64(&row[VT_EVSTAT_LOW], low);
	vt_row_set_f64(&row[VT_EVSTAT_HIGH], high);
	row[VT_EVSTAT_CONFIDENCE] = choose_confidence(t, e);
	row[VT_EVSTAT_METHOD] = VT_METHOD_FOLLOWED;
	return !bins || write_bins(bins, w);
}

int vt_evstats_write(const struct vt_evstats *s, struct vt_writer *w, struct vt_error *err)
{
	size_t i, n = vt_evstats_nplaces(s);
	struct vt_evkey *keys = calloc(n + 1, sizeof(*keys));
	bool ok = keys != NULL;
	unsigned stat;

	for (i = 0; ok && i < n; i++)
		vt_evstats_place(s, i, &keys[i]);
	if (ok)
		qsort(keys, n, sizeof(*keys), compare_places);
	for (i = 0; ok && i < vt_evstats_nevents(s); i++)
		write_meta(vt_evstats_event_at(s, i), w);
	for (i = 0; ok && i < n; i++) {
		const struct vt_evcounts *c = vt_evstats_find(s, &keys[i]);

		for (stat = 0; ok && c && stat < VT_EV_STATS; stat++) {
			struct vt_evtotal t;

			vt_evstats_total(s, &keys[i], c, stat, &t);
			if (t.samples > 0)
				ok = write_total(&keys[i], vt_evstats_event_at(s, keys[i].event),
						 stat, &t,
						 vt_evstat_is_latency(stat)
							 ? &c->latency[stat - VT_PM_NEVENTS].bins
							 : NULL,
						 w);
		}
	}
	free(keys);
	return ok ? 0 : vt_error_nomem(err);
}
