/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "freq/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "stream/meta.h"

/* More instructions than one is never blamed on. */
#define MAX_CULPRITS 65536

/* Pieces of code of a region; no procedure has more blocks. */
#define MAX_RANGES 16777216

/* The words of records lie in one array while it grows; afterwards records point into it. */
struct kept_words {
	uint64_t *words;
	size_t count;
	size_t cap;
	size_t *first; /* by record */
	size_t first_cap;
};

/* They stay where they are while others come. */
#define CHUNK_FREQS 4096

struct freq_chunk {
	struct freq_chunk *before;
	size_t count;
	struct vt_freq list[CHUNK_FREQS];
};

struct code_range {
	uint64_t begin;
	uint64_t end;
	uint32_t image;
};

struct vt_freqprofile {
	struct vt_freq_at *freqs;
	size_t nfreqs;
	size_t freqs_cap;
	struct freq_chunk *shared; /* what freqs point to; the last one */
	struct vt_hash images;	   /* uint32_t: those of freqs */
	struct vt_edgefreq *edges;
	size_t nedges;
	size_t edges_cap;
	struct vt_stall *stalls; /* those whose causes were ruled out behind the others */
	size_t nstalls;
	size_t stalls_cap;
	size_t naccused; /* of the stalls */
	struct kept_words culprits;
	struct vt_regionfreq *regions;
	size_t nregions;
	size_t regions_cap;
	struct kept_words ranges;
	struct code_range *judged; /* code of regions that are; in order, and apart, when sorted */
	size_t njudged;
	size_t judged_cap;
	struct vt_mispredict *mispredicts;
	size_t nmispredicts;
	size_t mispredicts_cap;
	struct vt_sampled_loads *loads;
	size_t nloads;
	size_t loads_cap;
	double slowed;
};

struct vt_freqprofile *vt_freqprofile_new(void)
{
	struct vt_freqprofile *p = calloc(1, sizeof(*p));

	if (p)
		vt_hash_init(&p->images, sizeof(uint32_t), sizeof(uint32_t));
	return p;
}

static void free_freqs(struct freq_chunk *c)
{
	struct freq_chunk *before;

	for (; c; c = before) {
		before = c->before;
		free(c);
	}
}

void vt_freqprofile_free(struct vt_freqprofile *p)
{
	if (!p)
		return;
	free_freqs(p->shared);
	free(p->freqs);
	vt_hash_fini(&p->images);
	free(p->edges);
	free(p->stalls);
	free(p->culprits.words);
	free(p->culprits.first);
	free(p->regions);
	free(p->ranges.words);
	free(p->ranges.first);
	free(p->judged);
	free(p->mispredicts);
	free(p->loads);
	free(p);
}

/* A number of executions or cycles. */
static bool is_amount(double v)
{
	return isfinite(v) && v >= 0;
}

static bool is_range(double low, double high)
{
	return is_amount(low) && (is_amount(high) || (isinf(high) && high > 0)) && low <= high;
}

static int reject_record(const char *kind, struct vt_error *err)
{
	return vt_error_set(err, VT_E_FORMAT, "a record %s holds numbers that cannot be", kind);
}

/* As bytes: what is not a number is equal, too, and there is no padding. */
static bool are_equal(const struct vt_freq *a, const struct vt_freq *b)
{
	_Static_assert(sizeof(*a) == 8 * (1 + 3 + 5), "no padding");
	return memcmp((const void *)a, (const void *)b, sizeof(*a)) == 0;
}

/* Keeps what a record tells, unless the one before does.  NULL: no memory. */
static const struct vt_freq *keep_freq(struct vt_freqprofile *p, const struct vt_freq *f)
{
	struct freq_chunk *c = p->shared;

	if (c && are_equal(&c->list[c->count - 1], f))
		return &c->list[c->count - 1];
	if (!vt_hash_add(&p->images, &f->image, NULL))
		return NULL;
	if (!c || c->count == CHUNK_FREQS) {
		c = malloc(sizeof(*c));
		if (!c)
			return NULL;
		c->before = p->shared;
		c->count = 0;
		p->shared = c;
	}
	c->list[c->count] = *f;
	return &c->list[c->count++];
}

static int add_freq_record(struct vt_freqprofile *p, const struct vt_record *rec,
			   struct vt_error *err)
{
	struct vt_freq f = {
		.image = (uint32_t)vt_record_u64(rec, VT_FREQ_IMAGE),
		.event = vt_record_u64(rec, VT_FREQ_EVENT),
		.samples = vt_record_u64(rec, VT_FREQ_SAMPLES),
		.period = vt_record_u64(rec, VT_FREQ_PERIOD),
		.executions = vt_record_f64(rec, VT_FREQ_EXECUTIONS),
		.low = vt_record_f64(rec, VT_FREQ_LOW),
		.high = vt_record_f64(rec, VT_FREQ_HIGH),
		.cycles = vt_record_f64(rec, VT_FREQ_CYCLES),
		.issue = vt_record_f64(rec, VT_FREQ_ISSUE),
	};
	struct vt_freq_at at = {.offset = vt_record_u64(rec, VT_FREQ_OFFSET)};
	uint64_t confidence = vt_record_u64(rec, VT_FREQ_CONFIDENCE);
	uint64_t method = vt_record_u64(rec, VT_FREQ_METHOD);

	if (!is_amount(f.executions) || !is_range(f.low, f.high) ||
	    !(isnan(f.cycles) || is_amount(f.cycles)) || !(isnan(f.issue) || is_amount(f.issue)) ||
	    confidence >= VT_NCONFIDENCES)
		return reject_record("FREQ", err);
	f.confidence = (uint16_t)confidence;
	f.method = method < VT_NMETHODS ? (uint16_t)method : VT_METHOD_UNKNOWN;
	at.freq = keep_freq(p, &f);
	if (!at.freq || !vt_array_grow(&p->freqs, &p->freqs_cap, p->nfreqs + 1, sizeof(*p->freqs)))
		return vt_error_nomem(err);
	p->freqs[p->nfreqs++] = at;
	return 0;
}

static int add_edge_record(struct vt_freqprofile *p, const struct vt_record *rec,
			   struct vt_error *err)
{
	struct vt_edgefreq e = {
		.image = (uint32_t)vt_record_u64(rec, VT_EDGE_IMAGE),
		.from = vt_record_u64(rec, VT_EDGE_FROM),
		.to = vt_record_u64(rec, VT_EDGE_TO),
		.executions = vt_record_f64(rec, VT_EDGE_EXECUTIONS),
		.low = vt_record_f64(rec, VT_EDGE_LOW),
		.high = vt_record_f64(rec, VT_EDGE_HIGH),
	};
	uint64_t confidence = vt_record_u64(rec, VT_EDGE_CONFIDENCE);
	uint64_t method = vt_record_u64(rec, VT_EDGE_METHOD);

	if (!is_amount(e.executions) || !is_range(e.low, e.high) || confidence >= VT_NCONFIDENCES)
		return reject_record("EDGE", err);
	e.confidence = (uint8_t)confidence;
	e.method = method < VT_NMETHODS ? (uint8_t)method : VT_METHOD_UNKNOWN;
	if (!vt_array_grow(&p->edges, &p->edges_cap, p->nedges + 1, sizeof(*p->edges)))
		return vt_error_nomem(err);
	p->edges[p->nedges++] = e;
	return 0;
}

/* Keeps the words of record number `n`.  False: no memory. */
static bool keep_words(struct kept_words *k, size_t n, const struct vt_words *w)
{
	if (!vt_array_grow(&k->first, &k->first_cap, n + 1, sizeof(*k->first)) ||
	    !vt_array_grow(&k->words, &k->cap, k->count + w->count, sizeof(*k->words)))
		return false;
	if (w->count)
		memcpy(k->words + k->count, w->data, w->count * sizeof(*w->data));
	k->first[n] = k->count;
	k->count += w->count;
	return true;
}

static int add_stall_record(struct vt_freqprofile *p, const struct vt_record *rec,
			    struct vt_error *err)
{
	struct vt_words culprits = vt_record_words(rec, VT_STALL_CULPRITS);
	struct vt_stall s = {
		.image = (uint32_t)vt_record_u64(rec, VT_STALL_IMAGE),
		.offset = vt_record_u64(rec, VT_STALL_OFFSET),
		.low = vt_record_f64(rec, VT_STALL_LOW),
		.high = vt_record_f64(rec, VT_STALL_HIGH),
		.cycles = vt_record_f64(rec, VT_STALL_CYCLES),
		.bound = vt_record_f64(rec, VT_STALL_BOUND),
		.flags = (uint32_t)vt_record_u64(rec, VT_STALL_FLAGS),
	};
	uint64_t why = vt_record_u64(rec, VT_STALL_WHY);
	uint64_t cause = vt_record_u64(rec, VT_STALL_CAUSE);
	uint64_t confidence = vt_record_u64(rec, VT_STALL_CONFIDENCE);

	if (!is_range(s.low, s.high) || cause >= VT_NSTALLS || confidence >= VT_NCONFIDENCES ||
	    culprits.count > MAX_CULPRITS || !is_amount(s.cycles) || !(s.bound >= 0) ||
	    why >= VT_NWHYS)
		return reject_record("STALL", err);
	s.why = (enum vt_stall_why)why;
	s.cause = (enum vt_stall_cause)cause;
	s.confidence = (enum vt_confidence)confidence;
	s.nculprits = (uint32_t)culprits.count;
	if (!vt_array_grow(&p->stalls, &p->stalls_cap, p->nstalls + 1, sizeof(*p->stalls)) ||
	    !keep_words(&p->culprits, p->nstalls, &culprits))
		return vt_error_nomem(err);
	p->stalls[p->nstalls++] = s;
	return 0;
}

/* Pieces of code by where they begin, none of them empty; they overlap where instructions do. */
static bool are_ranges(const struct vt_words *w)
{
	size_t i;

	for (i = 0; i + 1 < w->count; i += 2)
		if (w->data[i + 1] <= w->data[i] || (i && w->data[i] < w->data[i - 2]))
			return false;
	return w->count && w->count % 2 == 0 && w->count <= MAX_RANGES;
}

/* False: no memory. */
static bool keep_judged(struct vt_freqprofile *p, uint32_t image, const struct vt_words *w)
{
	size_t i;

	if (!vt_array_grow(&p->judged, &p->judged_cap, p->njudged + w->count / 2,
			   sizeof(*p->judged)))
		return false;
	for (i = 0; i + 1 < w->count; i += 2)
		p->judged[p->njudged++] = (struct code_range){w->data[i], w->data[i + 1], image};
	return true;
}

static int add_region_record(struct vt_freqprofile *p, const struct vt_record *rec,
			     struct vt_error *err)
{
	struct vt_words ranges = vt_record_words(rec, VT_REGION_RANGES);
	struct vt_regionfreq r = {
		.image = (uint32_t)vt_record_u64(rec, VT_REGION_IMAGE),
		.offset = vt_record_u64(rec, VT_REGION_OFFSET),
		.event = vt_record_u64(rec, VT_REGION_EVENT),
		.samples = vt_record_u64(rec, VT_REGION_SAMPLES),
		.visits = vt_record_f64(rec, VT_REGION_VISITS),
		.rounds = vt_record_f64(rec, VT_REGION_ROUNDS),
		.insns = vt_record_f64(rec, VT_REGION_INSNS),
		.cycles = vt_record_f64(rec, VT_REGION_CYCLES),
		.low = vt_record_f64(rec, VT_REGION_CYCLES_LOW),
		.high = vt_record_f64(rec, VT_REGION_CYCLES_HIGH),
		.best = vt_record_f64(rec, VT_REGION_BEST),
		.least = vt_record_f64(rec, VT_REGION_LEAST),
		.with_calls = vt_record_f64(rec, VT_REGION_WITH_CALLS),
		.with_calls_low = vt_record_f64(rec, VT_REGION_WITH_CALLS_LOW),
		.with_calls_high = vt_record_f64(rec, VT_REGION_WITH_CALLS_HIGH),
		.flags = (uint32_t)vt_record_u64(rec, VT_REGION_FLAGS),
	};

	if (!is_amount(r.visits) || !is_amount(r.rounds) || !is_amount(r.insns) ||
	    !is_amount(r.cycles) || !is_range(r.low, r.high) || !is_amount(r.best) ||
	    !is_amount(r.least) || !is_amount(r.with_calls) ||
	    !is_range(r.with_calls_low, r.with_calls_high) || !are_ranges(&ranges))
		return reject_record("REGION", err);
	r.nranges = (uint32_t)ranges.count;
	if (!vt_array_grow(&p->regions, &p->regions_cap, p->nregions + 1, sizeof(*p->regions)) ||
	    !keep_words(&p->ranges, p->nregions, &ranges) ||
	    (!(r.flags & VT_REGION_IS_WIDE) && !keep_judged(p, r.image, &ranges)))
		return vt_error_nomem(err);
	p->regions[p->nregions++] = r;
	return 0;
}

static int add_mispredict_record(struct vt_freqprofile *p, const struct vt_record *rec,
				 struct vt_error *err)
{
	const struct vt_mispredict m = {
		.image = (uint32_t)vt_record_u64(rec, VT_MISPREDICT_IMAGE),
		.offset = vt_record_u64(rec, VT_MISPREDICT_OFFSET),
		.event = vt_record_u64(rec, VT_MISPREDICT_EVENT),
		.branches = vt_record_u64(rec, VT_MISPREDICT_BRANCHES),
		.mispredicted = vt_record_u64(rec, VT_MISPREDICT_MISPREDICTED),
		.cost = vt_record_f64(rec, VT_MISPREDICT_COST),
		.deviation = vt_record_f64(rec, VT_MISPREDICT_DEVIATION),
	};

	if (m.mispredicted > m.branches || !isfinite(m.cost) || !(m.deviation >= 0))
		return reject_record("MISPREDICT", err);
	if (!vt_array_grow(&p->mispredicts, &p->mispredicts_cap, p->nmispredicts + 1,
			   sizeof(*p->mispredicts)))
		return vt_error_nomem(err);
	p->mispredicts[p->nmispredicts++] = m;
	return 0;
}

static int add_loads_record(struct vt_freqprofile *p, const struct vt_record *rec,
			    struct vt_error *err)
{
	const struct vt_sampled_loads l = {
		.image = (uint32_t)vt_record_u64(rec, VT_LOADS_IMAGE),
		.offset = vt_record_u64(rec, VT_LOADS_OFFSET),
		.event = vt_record_u64(rec, VT_LOADS_EVENT),
		.cache_known = vt_record_u64(rec, VT_LOADS_CACHE_KNOWN),
		.cache_missed = vt_record_u64(rec, VT_LOADS_CACHE_MISSED),
		.tlb_known = vt_record_u64(rec, VT_LOADS_TLB_KNOWN),
		.tlb_missed = vt_record_u64(rec, VT_LOADS_TLB_MISSED),
	};

	if (l.cache_missed > l.cache_known || l.tlb_missed > l.tlb_known)
		return reject_record("LOADS", err);
	if (!vt_array_grow(&p->loads, &p->loads_cap, p->nloads + 1, sizeof(*p->loads)))
		return vt_error_nomem(err);
	p->loads[p->nloads++] = l;
	return 0;
}

/* Of several runs of vfreq, the worst. */
static int take_meta(struct vt_freqprofile *p, const struct vt_record *rec, struct vt_error *err)
{
	double v;

	if (!vt_meta_f64(rec, "vfreq.slowed", &v))
		return 0;
	if (!(v >= 0 && v < 1))
		return vt_error_set(err, VT_E_FORMAT, "vfreq.slowed is no share of time");
	p->slowed = fmax(p->slowed, v);
	return 0;
}

int vt_freqprofile_feed(void *profile, const struct vt_block *block, uint32_t first, uint32_t count,
			struct vt_error *err)
{
	struct vt_record rec = {block, block->kind, first};
	int (*take)(struct vt_freqprofile *, const struct vt_record *, struct vt_error *) =
		rec.kind == VT_FREQ	    ? add_freq_record
		: rec.kind == VT_EDGE	    ? add_edge_record
		: rec.kind == VT_STALL	    ? add_stall_record
		: rec.kind == VT_REGION	    ? add_region_record
		: rec.kind == VT_MISPREDICT ? add_mispredict_record
		: rec.kind == VT_LOADS	    ? add_loads_record
		: rec.kind == VT_META	    ? take_meta
					    : NULL;
	int code = 0;

	for (; take && rec.row - first < count && code == 0; rec.row++)
		code = take(profile, &rec, err);
	return code;
}

/* ---- order ---- */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_freqs(const void *x, const void *y)
{
	const struct vt_freq_at *a = x, *b = y;
	int c = compare_numbers(a->freq->image, b->freq->image);

	c = c ? c : compare_numbers(a->offset, b->offset);
	return c ? c : compare_numbers(a->freq->event, b->freq->event);
}

static int compare_edge_ends(const void *x, const void *y)
{
	const struct vt_edgefreq *a = x, *b = y;
	int c = compare_numbers(a->image, b->image);

	c = c ? c : compare_numbers(a->from, b->from);
	return c ? c : compare_numbers(a->to, b->to);
}

static int compare_stalls(const void *x, const void *y)
{
	const struct vt_stall *a = x, *b = y;
	int c = compare_numbers(vt_stall_is_acquittal(a), vt_stall_is_acquittal(b));

	c = c ? c : compare_numbers(a->image, b->image);
	c = c ? c : compare_numbers(a->offset, b->offset);
	c = c ? c : compare_numbers(a->flags & VT_STALL_SCOPE, b->flags & VT_STALL_SCOPE);
	c = c ? c : compare_numbers(a->cause, b->cause);
	/* The order in which they came. */
	return c ? c : compare_numbers((uintptr_t)a->culprits, (uintptr_t)b->culprits);
}

static int compare_regions(const void *x, const void *y)
{
	const struct vt_regionfreq *a = x, *b = y;
	int c = compare_numbers(a->image, b->image);

	c = c ? c : compare_numbers(a->offset, b->offset);
	return c ? c : compare_numbers(a->event, b->event);
}

/* All of it, as those of several processes may be at one place. */
static int compare_mispredicts(const void *x, const void *y)
{
	const struct vt_mispredict *a = x, *b = y;
	int c = compare_numbers(a->image, b->image);

	c = c ? c : compare_numbers(a->offset, b->offset);
	c = c ? c : compare_numbers(a->event, b->event);
	c = c ? c : compare_numbers(a->branches, b->branches);
	c = c ? c : compare_numbers(a->mispredicted, b->mispredicted);
	return c ? c : (a->cost > b->cost) - (a->cost < b->cost);
}

/* Those of one place and event are added up: their order does not matter. */
static int compare_loads(const void *x, const void *y)
{
	const struct vt_sampled_loads *a = x, *b = y;
	int c = compare_numbers(a->image, b->image);

	c = c ? c : compare_numbers(a->offset, b->offset);
	return c ? c : compare_numbers(a->event, b->event);
}

static int compare_ranges(const void *x, const void *y)
{
	const struct code_range *a = x, *b = y;
	int c = compare_numbers(a->image, b->image);

	c = c ? c : compare_numbers(a->begin, b->begin);
	return c ? c : compare_numbers(a->end, b->end);
}

typedef int order_fn(const void *x, const void *y);

/* Records in order that lie one behind the other, some of them so. */
struct record_array {
	char *at;
	size_t size; /* of one */
	order_fn *by;
};

/* How many of the first n are in order. */
static size_t count_in_order(const struct record_array *r, size_t begin, size_t n)
{
	size_t i;

	for (i = begin + 1; i < n; i++)
		if (r->by(r->at + (i - 1) * r->size, r->at + i * r->size) > 0)
			break;
	return i < n ? i : n;
}

/*
 * The first of [low, high), which are in order, that is not before `key` (`above` 0) or is after
 * it (1).
 */
static size_t find_record(const struct record_array *r, size_t low, size_t high, const void *key,
			  int above)
{
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (r->by(r->at + mid * r->size, key) < above)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Brings [middle, end) among [0, middle), from the last on.  False: no memory. */
static bool merge_in_order(const struct record_array *r, size_t middle, size_t end)
{
	size_t size = r->size, n = end - middle, to;
	char *moved = malloc(n * size);

	if (!moved)
		return false;
	memcpy(moved, r->at + middle * size, n * size);
	while (n) {
		const char *last = moved + --n * size;

		to = find_record(r, 0, middle, last, 1);
		memmove(r->at + (to + n + 1) * size, r->at + to * size, (middle - to) * size);
		memcpy(r->at + (to + n) * size, last, size);
		middle = to;
	}
	free(moved);
	return true;
}

/* More parts than that are for others to sort. */
#define MAX_PARTS 64

/*
 * Most streams have them in order, but for the few of each image that were found last.  Equal ones
 * stay in theirs.
 */
static void sort_records(void *list, size_t n, size_t size, order_fn *by)
{
	const struct record_array r = {list, size, by};
	size_t middle = count_in_order(&r, 0, n), end, far, parts;
	bool merged = true;

	for (parts = 0; middle < n && parts < MAX_PARTS && merged; parts++, middle = end) {
		end = count_in_order(&r, middle, n);
		/* What comes behind all of those before is where it belongs. */
		far = find_record(&r, middle, end, r.at + (middle - 1) * size, 1);
		merged = merge_in_order(&r, middle, far);
	}
	if (middle < n || !merged)
		qsort(list, n, size, by);
}

/* Those that overlap, as of several processes, become one. */
static void join_judged(struct vt_freqprofile *p)
{
	size_t i, n = 0;

	sort_records(p->judged, p->njudged, sizeof(*p->judged), compare_ranges);
	for (i = 0; i < p->njudged; i++) {
		struct code_range *last = n ? &p->judged[n - 1] : NULL;
		const struct code_range *r = &p->judged[i];

		if (last && last->image == r->image && r->begin <= last->end)
			last->end = r->end > last->end ? r->end : last->end;
		else
			p->judged[n++] = *r;
	}
	p->njudged = n;
}

void vt_freqprofile_finish(struct vt_freqprofile *p)
{
	size_t i;

	for (i = 0; p->culprits.words && i < p->nstalls; i++)
		p->stalls[i].culprits = p->culprits.words + p->culprits.first[i];
	for (i = 0; i < p->nregions; i++)
		p->regions[i].ranges = p->ranges.words + p->ranges.first[i];
	sort_records(p->freqs, p->nfreqs, sizeof(*p->freqs), compare_freqs);
	sort_records(p->edges, p->nedges, sizeof(*p->edges), compare_edge_ends);
	sort_records(p->stalls, p->nstalls, sizeof(*p->stalls), compare_stalls);
	sort_records(p->regions, p->nregions, sizeof(*p->regions), compare_regions);
	join_judged(p);
	sort_records(p->mispredicts, p->nmispredicts, sizeof(*p->mispredicts), compare_mispredicts);
	sort_records(p->loads, p->nloads, sizeof(*p->loads), compare_loads);
	for (p->naccused = 0; p->naccused < p->nstalls; p->naccused++)
		if (vt_stall_is_acquittal(&p->stalls[p->naccused]))
			break;
}

/* ---- looking up ---- */

const struct vt_hash *vt_freqprofile_images(const struct vt_freqprofile *p)
{
	return &p->images;
}

int vt_freqprofile_count_cycles(const struct vt_freqprofile *p, struct vt_profile *profile,
				struct vt_error *err)
{
	size_t i;
	int code = 0;

	for (i = 0; i < p->nfreqs && code == 0; i++) {
		const struct vt_freq *f = p->freqs[i].freq;
		double cycles = f->executions * f->cycles;

		code = vt_profile_count(profile, VT_PROFILE_CYCLES, f->image, p->freqs[i].offset,
					cycles > 0 && cycles < 1e18 ? (uint64_t)cycles : 0, err);
	}
	return code;
}

/* The first of n records that is not before `from`, and how many up to `to` there are. */
static size_t find_freq_range(const struct record_array *r, size_t n, const void *from,
			      const void *to, size_t *count)
{
	size_t a = find_record(r, 0, n, from, 0), b = find_record(r, 0, n, to, 0);

	*count = b > a ? b - a : 0;
	return a;
}

const struct vt_freq_at *vt_freqprofile_freqs(const struct vt_freqprofile *p, uint32_t image,
					      uint64_t first, uint64_t end, size_t *count)
{
	const struct record_array r = {(char *)p->freqs, sizeof(*p->freqs), compare_freqs};
	const struct vt_freq f = {.image = image};
	const struct vt_freq_at from = {.offset = first, .freq = &f};
	const struct vt_freq_at to = {.offset = end, .freq = &f};
	size_t at = find_freq_range(&r, p->nfreqs, &from, &to, count);

	return *count ? p->freqs + at : NULL;
}

const struct vt_edgefreq *vt_freqprofile_edges(const struct vt_freqprofile *p, uint32_t image,
					       uint64_t first, uint64_t end, size_t *count)
{
	const struct record_array r = {(char *)p->edges, sizeof(*p->edges), compare_edge_ends};
	const struct vt_edgefreq from = {.image = image, .from = first};
	const struct vt_edgefreq to = {.image = image, .from = end};
	size_t at = find_freq_range(&r, p->nedges, &from, &to, count);

	return *count ? p->edges + at : NULL;
}

/* Of the stalls that are accused, or of the others, which are `n` at `list`. */
static const struct vt_stall *find_stalls(const struct vt_stall *list, size_t n,
					  const struct vt_stall *from, const struct vt_stall *to,
					  size_t *count)
{
	const struct record_array r = {(char *)list, sizeof(*list), compare_stalls};
	size_t at = find_freq_range(&r, n, from, to, count);

	return *count ? list + at : NULL;
}

const struct vt_stall *vt_freqprofile_stalls(const struct vt_freqprofile *p, uint32_t image,
					     uint64_t first, uint64_t end, size_t *count)
{
	const struct vt_stall from = {.image = image, .offset = first};
	const struct vt_stall to = {.image = image, .offset = end};

	return find_stalls(p->stalls, p->naccused, &from, &to, count);
}

const struct vt_stall *vt_freqprofile_acquittals(const struct vt_freqprofile *p, uint32_t image,
						 uint64_t first, uint64_t end, size_t *count)
{
	const struct vt_stall from = {.image = image, .offset = first, .why = VT_WHY_ABSENT};
	const struct vt_stall to = {.image = image, .offset = end, .why = VT_WHY_ABSENT};

	*count = 0;
	if (!p->nstalls)
		return NULL;
	return find_stalls(p->stalls + p->naccused, p->nstalls - p->naccused, &from, &to, count);
}

const struct vt_regionfreq *vt_freqprofile_regions(const struct vt_freqprofile *p, uint32_t image,
						   uint64_t first, uint64_t end, size_t *count)
{
	const struct record_array r = {(char *)p->regions, sizeof(*p->regions), compare_regions};
	const struct vt_regionfreq from = {.image = image, .offset = first};
	const struct vt_regionfreq to = {.image = image, .offset = end};
	size_t at = find_freq_range(&r, p->nregions, &from, &to, count);

	return *count ? p->regions + at : NULL;
}

bool vt_freqprofile_is_judged(const struct vt_freqprofile *p, uint32_t image, uint64_t offset)
{
	const struct record_array r = {(char *)p->judged, sizeof(*p->judged), compare_ranges};
	const struct code_range key = {.image = image, .begin = offset, .end = UINT64_MAX};
	size_t at;

	if (!p->nregions)
		return true;
	at = find_record(&r, 0, p->njudged, &key, 1);
	return at && p->judged[at - 1].image == image && offset < p->judged[at - 1].end;
}

const struct vt_mispredict *vt_freqprofile_mispredicts(const struct vt_freqprofile *p,
						       uint32_t image, uint64_t first, uint64_t end,
						       size_t *count)
{
	const struct record_array r = {(char *)p->mispredicts, sizeof(*p->mispredicts),
				       compare_mispredicts};
	const struct vt_mispredict from = {.image = image, .offset = first};
	const struct vt_mispredict to = {.image = image, .offset = end};
	size_t at = find_freq_range(&r, p->nmispredicts, &from, &to, count);

	return *count ? p->mispredicts + at : NULL;
}

const struct vt_sampled_loads *vt_freqprofile_loads(const struct vt_freqprofile *p, uint32_t image,
						    uint64_t first, uint64_t end, size_t *count)
{
	const struct record_array r = {(char *)p->loads, sizeof(*p->loads), compare_loads};
	const struct vt_sampled_loads from = {.image = image, .offset = first};
	const struct vt_sampled_loads to = {.image = image, .offset = end};
	size_t at = find_freq_range(&r, p->nloads, &from, &to, count);

	return *count ? p->loads + at : NULL;
}

double vt_freqprofile_slowed(const struct vt_freqprofile *p)
{
	return p->slowed;
}
