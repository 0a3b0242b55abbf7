/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "freq/compare.h"

#include <math.h>
#include <stdlib.h>

#include "profile/same_image.h"

/* An image of the estimate, and the same one of the truth. */
struct image_pair {
	uint32_t estimate;
	uint32_t truth;
};

struct comparison {
	const struct vt_freqcompare_input *in;
	struct vt_freqcompare *out;
	struct image_pair *images;
	size_t nimages;
};

static void pair_images(struct comparison *c)
{
	size_t i, n = vt_images_count(c->in->images);

	for (i = 0; i < n; i++) {
		struct image_pair p = {.estimate = vt_images_at(c->in->images, i)->id};

		if (vt_same_image(c->in->images, p.estimate, c->in->truth_images, &p.truth) &&
		    vt_flowcount_has(c->in->truth, p.truth))
			c->images[c->nimages++] = p;
	}
}

/* ---- errors ---- */

static void add_error(struct vt_freqcompare_part *p, double estimate, double truth, double weight)
{
	double larger = fmax(estimate, truth);
	double off = truth > 0 ? estimate / truth - 1 : estimate > 0 ? INFINITY : 0;
	double at = floor(off * 20) + VT_FREQCOMPARE_BUCKETS / 2.0;
	static const double limits[] = {0.05, 0.10, 0.15};
	size_t i;

	p->weight += weight;
	for (i = 0; i < 3; i++)
		if (fabs(off) <= limits[i])
			p->within[i] += weight;
	/* What never was executed has no relative error: it counts as one of all. */
	if (larger > 0) {
		p->distance += weight * fabs(estimate - truth) / larger;
		p->error += weight * (truth > 0 ? fabs(off) : 1);
	}
	p->buckets[(size_t)fmin(fmax(at, 0), VT_FREQCOMPARE_BUCKETS - 1)] += weight;
}

/* ---- one factor for all ---- */

struct factor {
	double log;
	double weight;
};

static int compare_factors(const void *x, const void *y)
{
	const struct factor *a = x, *b = y;

	return (a->log > b->log) - (a->log < b->log);
}

static double median(struct factor *f, size_t n)
{
	double all = 0, sum = 0;
	size_t i;

	qsort(f, n, sizeof(*f), compare_factors);
	for (i = 0; i < n; i++)
		all += f[i].weight;
	for (i = 0; i < n; i++) {
		sum += f[i].weight;
		if (sum >= all / 2)
			return exp(f[i].log);
	}
	return 1;
}

static int fit_scale(const struct comparison *c, double *scale, struct vt_error *err)
{
	struct factor *f = NULL;
	size_t i, k, count, n = 0, total = 0;

	for (i = 0; i < c->nimages; i++) {
		vt_freqprofile_freqs(c->in->estimate, c->images[i].estimate, 0, UINT64_MAX, &count);
		total += count;
	}
	f = malloc((total + 1) * sizeof(*f));
	if (!f)
		return vt_error_nomem(err);
	for (i = 0; i < c->nimages; i++) {
		const struct vt_freq_at *freqs = vt_freqprofile_freqs(
			c->in->estimate, c->images[i].estimate, 0, UINT64_MAX, &count);

		for (k = 0; k < count; k++) {
			const struct vt_freq *e = freqs[k].freq;
			double truth = vt_flowcount_insn(c->in->truth, c->images[i].truth,
							 freqs[k].offset);

			if (e->samples && e->executions > 0 && truth > 0)
				f[n++] = (struct factor){log(truth / e->executions),
							 (double)e->samples};
		}
	}
	*scale = n ? median(f, n) : 1;
	free(f);
	return 0;
}

/* ---- all of it ---- */

static void compare_image(struct comparison *c, const struct image_pair *p)
{
	struct vt_freqcompare *out = c->out;
	const struct vt_freq_at *at;
	const struct vt_edgefreq *e;
	size_t i, n;

	at = vt_freqprofile_freqs(c->in->estimate, p->estimate, 0, UINT64_MAX, &n);
	for (i = 0; i < n; i++) {
		const struct vt_freq *f = at[i].freq;
		double truth = vt_flowcount_insn(c->in->truth, p->truth, at[i].offset);
		double estimate = f->executions * out->scale;

		if (f->confidence == VT_CONFIDENCE_NONE || !f->samples)
			continue;
		add_error(&out->insns, estimate, truth, (double)f->samples);
		add_error(&out->by_confidence[f->confidence], estimate, truth, (double)f->samples);
	}
	e = vt_freqprofile_edges(c->in->estimate, p->estimate, 0, UINT64_MAX, &n);
	for (i = 0; i < n; i++) {
		double truth, estimate = e[i].executions * out->scale;

		if (!vt_flowcount_edge(c->in->truth, p->truth, e[i].from, e[i].to, &truth))
			continue;
		add_error(&out->edges, estimate, truth, truth);
		add_error(&out->edges_by_confidence[e[i].confidence], estimate, truth, truth);
	}
}

static bool is_paired(const struct comparison *c, uint32_t image)
{
	size_t i;

	for (i = 0; i < c->nimages; i++)
		if (c->images[i].estimate == image)
			return true;
	return false;
}

/* Sums may be more than 64 bits hold: what a file claims, nobody has counted. */
static uint64_t as_count(double v)
{
	return v < 18446744073709551616.0 ? (uint64_t)v : UINT64_MAX;
}

/* Samples of the event that the estimates are of. */
static void count_event_samples(struct comparison *c)
{
	size_t i, count, n = vt_profile_nplaces(c->in->samples);
	const struct vt_freq_at *any = NULL;
	double paired = 0;

	for (i = 0; i < vt_images_count(c->in->images) && !any; i++)
		any = vt_freqprofile_freqs(c->in->estimate, vt_images_at(c->in->images, i)->id, 0,
					   UINT64_MAX, &count);
	for (i = 0; i < n && any; i++) {
		const struct vt_place *place = vt_profile_place(c->in->samples, i);

		if (vt_profile_event(c->in->samples, place->event)->id != any->freq->event)
			continue;
		c->out->samples += place->samples;
		if (is_paired(c, place->image))
			paired += (double)place->samples;
		else
			c->out->not_counted += place->samples;
	}
	if (paired > c->out->insns.weight) {
		c->out->missing = as_count(paired - c->out->insns.weight);
		c->out->insns.error += paired - c->out->insns.weight;
		c->out->insns.distance += paired - c->out->insns.weight;
		c->out->insns.weight = paired;
	}
}

int vt_freqcompare(const struct vt_freqcompare_input *in, struct vt_freqcompare *out,
		   struct vt_error *err)
{
	struct image_pair *images = calloc(vt_images_count(in->images) + 1, sizeof(*images));
	struct comparison c = {.in = in, .out = out, .images = images};
	size_t i;
	int code = 0;

	*out = (struct vt_freqcompare){.scale = 1};
	if (!images)
		return vt_error_nomem(err);
	pair_images(&c);
	if (in->fit)
		code = fit_scale(&c, &out->scale, err);
	for (i = 0; i < c.nimages && code == 0; i++)
		compare_image(&c, &c.images[i]);
	if (code == 0)
		count_event_samples(&c);
	free(images);
	return code;
}
