/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "events/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "events/interval.h"

struct place {
	struct vt_evkey key;
	struct vt_evcounts *counts;
};

struct vt_evstats {
	struct vt_hash places;
	struct vt_hash events; /* struct vt_evevent */
	uint64_t *only_set;    /* by event: bits that are told only where they are set */
};

struct vt_evstats *vt_evstats_new(void)
{
	struct vt_evstats *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	vt_hash_init(&s->places, sizeof(struct place), sizeof(struct vt_evkey));
	vt_hash_init(&s->events, sizeof(struct vt_evevent), sizeof(uint64_t));
	return s;
}

static void free_counts(struct vt_evcounts *c)
{
	unsigned i;

	for (i = 0; i < VT_EV_LATENCIES; i++)
		vt_evbins_fini(&c->latency[i].bins);
	free(c->other);
	free(c);
}

void vt_evstats_free(struct vt_evstats *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->places.count; i++) {
		struct place *p = vt_hash_at(&s->places, i);

		if (p->counts)
			free_counts(p->counts);
	}
	vt_hash_fini(&s->places);
	vt_hash_fini(&s->events);
	free(s->only_set);
	free(s);
}

unsigned vt_evstat_of(uint64_t what)
{
	if (what < VT_PM_NEVENTS)
		return (unsigned)what;
	if (what >= VT_STAT_LATENCIES && what < VT_STAT_LATENCIES + VT_EV_LATENCIES)
		return (unsigned)(what - VT_STAT_LATENCIES + VT_PM_NEVENTS);
	return VT_EV_STATS;
}

int vt_evstats_event(struct vt_evstats *s, uint64_t id, uint32_t *index, struct vt_error *err)
{
	struct vt_evevent *e = vt_hash_add(&s->events, &id, NULL);

	if (!e)
		return vt_error_nomem(err);
	*index = (uint32_t)vt_hash_index(&s->events, e);
	return 0;
}

size_t vt_evstats_nevents(const struct vt_evstats *s)
{
	return s->events.count;
}

struct vt_evevent *vt_evstats_event_at(const struct vt_evstats *s, size_t i)
{
	return vt_hash_at(&s->events, i);
}

struct vt_evcounts *vt_evstats_add(struct vt_evstats *s, const struct vt_evkey *key)
{
	struct place *p = vt_hash_add(&s->places, key, NULL);

	if (p && !p->counts) {
		p->counts = calloc(1, sizeof(*p->counts));
		if (p->counts)
			p->counts->share = 1;
	}
	return p ? p->counts : NULL;
}

struct vt_evcounts *vt_evstats_find(const struct vt_evstats *s, const struct vt_evkey *key)
{
	const struct place *p = vt_hash_find(&s->places, key);

	return p ? p->counts : NULL;
}

size_t vt_evstats_nplaces(const struct vt_evstats *s)
{
	return s->places.count;
}

struct vt_evcounts *vt_evstats_place(const struct vt_evstats *s, size_t i, struct vt_evkey *key)
{
	const struct place *p = vt_hash_at(&s->places, i);

	*key = p->key;
	return p->counts;
}

void vt_evcounts_tell(struct vt_evcounts *c, uint64_t told)
{
	unsigned i;

	for (i = 0; i < VT_EV_PATTERNS; i++)
		if (!c->ntold[i]) {
			c->told[i] = told;
			c->ntold[i] = 1;
			return;
		}
	for (i = 0; i < VT_PM_NEVENTS; i++)
		c->rest[i] += told >> i & 1;
}

struct vt_evtotal *vt_evcounts_other(struct vt_evcounts *c)
{
	if (!c->other)
		c->other = calloc(VT_EV_STATS, sizeof(*c->other));
	return c->other;
}

/* ---- totals ---- */

void vt_evtotal_add(struct vt_evtotal *to, const struct vt_evtotal *t)
{
	to->samples += t->samples;
	to->had += t->had;
	to->least += t->least;
	to->k += t->k;
	to->sum += t->sum;
	to->sum2 += t->sum2;
	to->variance += t->variance;
	to->spread += t->spread;
	to->freedom += t->freedom;
}

/* As many equal samples as those that have a latency, of unequal weights, are worth. */
static double count_equal_samples(const struct vt_evtotal *t)
{
	if (t->variance > 0 && t->sum2 > 0)
		return fmin(t->had, t->k * t->sum2 / t->variance);
	return t->had;
}

/* The mean square less the square of the mean, of which rounding may leave less than nothing. */
static double measure_variance(const struct vt_evtotal *t)
{
	double mean = t->sum / t->k;

	return fmax(0, t->sum2 / t->k - mean * mean);
}

static void set_spread(struct vt_evtotal *t)
{
	double n = count_equal_samples(t);
	bool tells = t->k > 0 && n > 1;

	t->spread = tells ? n * measure_variance(t) : 0;
	t->freedom = tells ? n - 1 : 0;
}

static double count_told(const struct vt_evcounts *c, unsigned event)
{
	uint64_t n = c->rest[event];
	unsigned i;

	for (i = 0; i < VT_EV_PATTERNS; i++)
		n += c->told[i] >> event & 1 ? c->ntold[i] : 0;
	return (double)n;
}

/* Of the samples that were only counted. */
static void weigh_counts(const struct vt_evcounts *c, unsigned stat, struct vt_evtotal *t)
{
	const struct vt_evlatency *l;
	double period = (double)c->period;

	if (!vt_evstat_is_latency(stat)) {
		double had = (double)c->had[stat];

		*t = (struct vt_evtotal){.samples = count_told(c, stat), .had = had};
		t->sum = t->sum2 = had * period;
		t->k = t->samples * period;
		t->variance = had * period * period;
		return;
	}
	l = &c->latency[stat - VT_PM_NEVENTS];
	*t = (struct vt_evtotal){.samples = l->had ? (double)c->samples : 0,
				 .had = (double)l->had,
				 .least = (double)l->least,
				 .k = (double)l->had * period,
				 .sum = l->sum * period,
				 .sum2 = l->sum2 * period,
				 .variance = l->sum2 * period * period};
}

/* Of records, each total tells how many samples tell of it; some totals are told by all. */
static void count_others(const struct vt_evcounts *c, double *samples, double *k)
{
	unsigned i;

	*samples = c->others;
	*k = c->other_k;
	for (i = 0; c->other && i < VT_EV_STATS; i++) {
		*samples = fmax(*samples, c->other[i].samples);
		*k = fmax(*k, c->other[i].k);
	}
}

void vt_evcounts_all(const struct vt_evcounts *c, struct vt_evtotal *t)
{
	double n = (double)c->samples, period = (double)c->period, others, other_k;

	count_others(c, &others, &other_k);
	*t = (struct vt_evtotal){.samples = n + others, .had = n + others};
	t->k = t->sum = t->sum2 = (n * period + other_k) / c->share;
	/* Of others, whose squares are not kept, as if they were equal. */
	t->variance = n * period * period;
	if (others > 0)
		t->variance += other_k * other_k / others;
	t->variance /= c->share * c->share;
}

static void total_counts(const struct vt_evcounts *c, unsigned stat, bool only_set,
			 struct vt_evtotal *t)
{
	struct vt_evtotal all;

	weigh_counts(c, stat, t);
	if (c->other)
		vt_evtotal_add(t, &c->other[stat]);
	t->k /= c->share;
	t->sum /= c->share;
	t->sum2 /= c->share;
	t->variance /= c->share * c->share;
	vt_evcounts_all(c, &all);
	if (vt_evstat_is_latency(stat))
		set_spread(t);
	if (vt_evstat_is_latency(stat) ? t->had > 0 : only_set)
		t->samples = all.samples;
	if (!vt_evstat_is_latency(stat) && only_set)
		t->k = all.k;
}

void vt_evstats_total(const struct vt_evstats *s, const struct vt_evkey *key,
		      const struct vt_evcounts *c, unsigned stat, struct vt_evtotal *t)
{
	bool only_set =
		s->only_set && !vt_evstat_is_latency(stat) && (s->only_set[key->event] >> stat & 1);

	total_counts(c, stat, only_set, t);
}

/* Adds up, by event of the stream and bit, the samples that tell of it and those that had it. */
static void add_told(const struct vt_evstats *s, double *told, double *had)
{
	struct vt_evtotal t;
	struct vt_evkey key;
	size_t i;
	unsigned e;

	for (i = 0; i < s->places.count; i++) {
		const struct vt_evcounts *c = vt_evstats_place(s, i, &key);

		for (e = 0; e < VT_PM_NEVENTS && c; e++) {
			total_counts(c, e, false, &t);
			told[key.event * VT_PM_NEVENTS + e] += t.samples;
			had[key.event * VT_PM_NEVENTS + e] += t.had;
		}
	}
}

/* An event that was told of some samples, and had happened in all of these. */
int vt_evstats_settle(struct vt_evstats *s, struct vt_error *err)
{
	size_t i, n = s->events.count * VT_PM_NEVENTS;
	double *told = calloc(n + 1, sizeof(*told));
	double *had = calloc(n + 1, sizeof(*had));

	free(s->only_set);
	s->only_set = calloc(s->events.count + 1, sizeof(*s->only_set));
	if (told && had && s->only_set) {
		add_told(s, told, had);
		for (i = 0; i < n; i++)
			if (had[i] > 0 && had[i] == told[i])
				s->only_set[i / VT_PM_NEVENTS] |= UINT64_C(1) << i % VT_PM_NEVENTS;
	}
	free(told);
	free(had);
	return told && had && s->only_set ? 0 : vt_error_nomem(err);
}

int vt_evcounts_join(struct vt_evcounts *to, const struct vt_evstats *s, const struct vt_evkey *key,
		     struct vt_error *err)
{
	const struct vt_evcounts *from = vt_evstats_find(s, key);
	struct vt_evtotal *other = vt_evcounts_other(to), all;
	unsigned i;

	if (!other)
		return vt_error_nomem(err);
	if (!from)
		return 0;
	for (i = 0; i < VT_EV_STATS; i++) {
		struct vt_evtotal t;

		vt_evstats_total(s, key, from, i, &t);
		vt_evtotal_add(&other[i], &t);
	}
	vt_evcounts_all(from, &all);
	to->others += all.samples;
	to->other_k += all.k;
	for (i = 0; i < VT_EV_LATENCIES; i++)
		if (!vt_evbins_join(&to->latency[i].bins, &from->latency[i].bins, 1))
			return vt_error_nomem(err);
	return 0;
}

/* ---- estimates ---- */

void vt_evtotal_interval(const struct vt_evtotal *t, const struct vt_evevent *e, double *low,
			 double *high)
{
	*low = 0;
	*high = INFINITY;
	if (vt_evcheck_known(&e->check) && t->samples > 0)
		vt_weighted_interval(t->sum, t->variance, t->k / t->samples,
				     vt_evcheck_factor(&e->check), low, high);
}

struct vt_evmean vt_evtotal_mean(const struct vt_evtotal *t, const struct vt_evtotal *all,
				 const struct vt_evevent *e)
{
	struct vt_evmean m = {NAN, NAN, NAN};
	struct vt_sampled_mean own = {.n = count_equal_samples(t)};
	double within;

	if (!(t->k > 0 && t->had > 0 && all->k > 0))
		return m;
	m.mean = own.mean = t->sum / t->k;
	own.square = t->sum2 / t->k;
	own.n /= vt_evcheck_factor(&e->check);
	within = all->freedom > 0 ? all->spread / all->freedom : measure_variance(all);
	if (own.n > 0 && vt_evcheck_known(&e->check))
		vt_mean_interval(&own, within, &m.low, &m.high);
	return m;
}
