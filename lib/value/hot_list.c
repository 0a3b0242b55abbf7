/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/hot_list.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "value/draw.h"
#include "value/hot_list_internal.h"

#define LINE 64

/* The lists of a chunk take no more than this beyond it. */
#define MAX_RESTS ((size_t)1 << 22)

#define DEFAULT_INTERVAL 2000 /* value profiling 3.2 and 8 */
#define DEFAULT_STEADY	 3
#define DEFAULT_CLEAR	 3
#define DEFAULT_LRU	 6

/* That of counting samples in value sampling 2.2. */
#define DEFAULT_ENTRIES 16

#define MAX_FACTOR 1024.0

_Static_assert(sizeof(struct vt_hotlist) == LINE, "a cache line");
_Static_assert(LINE + sizeof(struct vti_rest) == VT_HOTLIST_HEAD, "two of them");
_Static_assert(sizeof(struct vti_chunk) <= LINE, "takes the place of a list");

/* The index of a value in the table, or l->count. */
static uint32_t find_value(const struct vt_hotlist *l, const struct vti_cell *cells, uint64_t value)
{
	uint32_t n = l->count;
	uint32_t i;

	if (l->recent < n && cells[l->recent].value == value)
		return l->recent;
	/* Four at a time without a branch: which of them it is cannot be foreseen. */
	for (i = 0; i + 4 <= n; i += 4) {
		const struct vti_cell *c = cells + i;
		unsigned hit =
			(unsigned)(c[0].value == value) | (unsigned)(c[1].value == value) << 1 |
			(unsigned)(c[2].value == value) << 2 | (unsigned)(c[3].value == value) << 3;

		if (hit)
			return i + (hit >> 1) - (hit >> 3);
	}
	for (; i < n; i++)
		if (cells[i].value == value)
			return i;
	return n;
}

/* Which entry is likely to come again. */
static void set_recent(struct vt_hotlist *l, uint32_t i)
{
	l->recent = i & 0x7fff;
}

/* ---- counting samples ---- */

/*
 * Each occurrence is kept with probability p = f^-level.  Whether an occurrence would survive k
 * thinnings does not depend on the others, and the level is the lowest at which no more than N
 * values survive: so the outcome does not depend on the order of the values, nor on when they
 * enter the table.  That is why occurrences may wait in `run`, and why halves can be joined.
 */

static void gm_skip(struct vt_hotlists *s, struct vt_hotlist *l, const struct vti_rest *r)
{
	double skip = vt_draw_exponential(&s->rng) * r->u.scale;

	l->skip = skip < 0x1p63 ? (uint64_t)skip : UINT64_C(1) << 63;
}

static uint64_t gm_accept(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t n)
{
	const struct vti_rest *r = vti_rest(l);
	uint64_t kept;

	if (!r->level)
		return n;
	if (l->skip >= n) {
		l->skip -= n;
		return 0;
	}
	kept = 1 + vt_draw_binomial(&s->rng, n - l->skip - 1, exp(r->level * s->log_keep));
	gm_skip(s, l, r);
	return kept;
}

/* What is left of a count. */
static uint64_t thin_count(struct vt_hotlists *s, uint64_t count)
{
	/* Most counts are small, and few of their occurrences go. */
	if (count < VT_HOTLIST_SMALL && s->keep >= 0.9)
		return count - vt_draw_few(&s->rng, count, 1 - s->keep, s->all_kept[count]);
	return vt_draw_binomial(&s->rng, count, s->keep);
}

/*
 * Keeps each recorded occurrence with probability 1/f, those at hand included.  True if a value has
 * none left.
 */
static bool thin_list(struct vt_hotlists *s, struct vt_hotlist *l, struct vti_rest *r,
		      uint64_t *extra)
{
	bool gone = false;
	uint32_t i;

	r->level++;
	for (i = 0; i < l->count; i++) {
		struct vti_cell *c = &r->cells[i];

		c->count = thin_count(s, c->count);
		gone |= c->count == 0;
	}
	*extra = thin_count(s, *extra);
	return gone || *extra == 0;
}

static void remove_empty(struct vt_hotlist *l, struct vti_rest *r)
{
	uint16_t n = 0;
	uint32_t i;

	for (i = 0; i < l->count; i++)
		if (r->cells[i].count)
			r->cells[n++] = r->cells[i];
	l->count = n;
}

static void gm_take(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value, uint64_t n)
{
	struct vti_rest *r = vti_rest(l);
	uint32_t i = find_value(l, r->cells, value);
	struct vti_cell *c = &r->cells[i];

	if (i < l->count) {
		c->count += n;
		/* The most frequent come to lie in front, in one cache line. */
		if (i && c->count > c[-1].count) {
			struct vti_cell swap = *c;

			*c = c[-1];
			c[-1] = swap;
			i--;
		}
		set_recent(l, i);
		return;
	}
	if (l->count == s->capacity) {
		while (!thin_list(s, l, r, &n))
			;
		remove_empty(l, r);
		l->sampled = 1;
		r->u.scale = -1 / log1p(-exp(r->level * s->log_keep));
		gm_skip(s, l, r);
		if (!n)
			return;
	}
	set_recent(l, l->count);
	r->cells[l->count++] = (struct vti_cell){value, n};
}

/* ---- TNV tables ---- */

/* The table is in the order of counts, so that its first `steady` entries are the steady part. */

/* Moves an entry up to where its count belongs; among equals, the older one stays ahead. */
static void rise_by_count(struct vt_hotlist *l, struct vti_cell *cells, uint32_t i)
{
	struct vti_cell cell = cells[i];

	for (; i > 0 && cells[i - 1].count < cell.count; i--)
		cells[i] = cells[i - 1];
	cells[i] = cell;
	set_recent(l, i);
}

/* Least frequently encountered replacement, among the entries that may be cleared. */
static void insert_tnv(struct vt_hotlists *s, struct vt_hotlist *l, struct vti_cell *cells,
		       uint64_t value, uint64_t n)
{
	uint32_t i = find_value(l, cells, value);

	if (i < l->count) {
		cells[i].count += n;
	} else {
		if (l->count == s->capacity) {
			if (s->options.no_clear)
				return;
			i--;
		} else {
			l->count++;
		}
		cells[i] = (struct vti_cell){value, n};
	}
	rise_by_count(l, cells, i);
}

/* "The maximum of the minimum clear interval size, and twice [...] the LFU value": 3.2.1. */
static uint64_t clear_interval(const struct vt_hotlists *s, const struct vt_hotlist *l,
			       const struct vti_rest *r)
{
	uint32_t steady = s->options.steady;
	uint64_t lfu = l->count >= steady ? r->cells[steady - 1].count : 0;

	return 2 * lfu > s->options.interval ? 2 * lfu : s->options.interval;
}

void vti_tnv_add(struct vt_hotlists *s, struct vt_hotlist *l, struct vti_rest *r, uint64_t value,
		 uint64_t n)
{
	while (n) {
		uint64_t due = clear_interval(s, l, r);
		uint64_t part = r->age + n <= due ? n : due - r->age;

		insert_tnv(s, l, r->cells, value, part);
		n -= part;
		r->age += part;
		/* The count of the LFU value has risen meanwhile, so it may be due later. */
		if (r->age < due || r->age < clear_interval(s, l, r))
			continue;
		if (l->count > s->options.steady)
			l->count = (uint16_t)s->options.steady;
		r->age = 0;
	}
}

static void tnv_take(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value, uint64_t n)
{
	vti_tnv_add(s, l, vti_rest(l), value, n);
}

/* ---- TNV tables that are filled now and then ---- */

/* "An inv-increase threshold of 10% and an inv-decrease threshold of 10%": 8.1. */
#define BOUND 0.1

/* No sequence is as long as this back-off. */
#define MAX_BACK_OFF (UINT64_C(1) << 60)

/* The share of the values profiled so far that the steady part of the table has. */
static double get_steady_share(const struct vt_hotlists *s, const struct vt_hotlist *l,
			       const struct vti_rest *r)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < l->count && i < s->options.steady; i++)
		sum += r->cells[i].count;
	return (double)sum / (double)r->profiled;
}

/*
 * How long a convergent table backs off at the end of an interval.  Fast-converging back-off: what
 * was profiled, times twice the number of times that the table has converged.
 */
static uint64_t convergent_back_off(const struct vt_hotlists *s, const struct vt_hotlist *l,
				    struct vti_rest *r)
{
	double now, change;

	r->profiled += s->options.interval;
	now = get_steady_share(s, l, r);
	change = now - r->u.invariance;
	r->u.invariance = now;
	if (change > BOUND || change < -BOUND)
		return 0;
	r->rounds++;
	return r->profiled < MAX_BACK_OFF / (2 * (uint64_t)r->rounds) ? r->profiled * 2 * r->rounds
								      : MAX_BACK_OFF;
}

/*
 * "The random function chooses a random number between 2000 and the upper bound", which "starts at
 * 2000 and increases exponentially each time a new sampling interval takes place": 8.2.
 */
static uint64_t random_back_off(struct vt_hotlists *s, struct vti_rest *r)
{
	uint64_t least = s->options.interval;
	uint64_t bound = r->u.bound < least ? least : r->u.bound;

	r->u.bound = bound < MAX_BACK_OFF ? bound * 2 : bound;
	return least + vt_rng_below(&s->rng, bound - least + 1);
}

/* Turns profiling off for `length` values, the `run` at hand first.  Returns how many remain. */
static uint64_t pause_profiling(struct vt_hotlist *l, struct vti_rest *r, uint64_t length,
				uint64_t run)
{
	uint64_t now = run < length ? run : length;

	r->left_out += length;
	l->skip = length - now;
	return run - now;
}

static void take_in_intervals(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value,
			      uint64_t n)
{
	uint64_t interval = s->options.interval;
	struct vti_rest *r = vti_rest(l);

	while (n) {
		uint64_t part = n < interval - r->phase ? n : interval - r->phase;

		vti_tnv_add(s, l, r, value, part);
		n -= part;
		r->phase += part;
		if (r->phase < interval)
			break;
		r->phase = 0;
		n = pause_profiling(l, r,
				    s->options.algo == VT_ALGO_CONVERGENT
					    ? convergent_back_off(s, l, r)
					    : random_back_off(s, r),
				    n);
	}
}

/* ---- least recently used ---- */

/* The table is kept in the order of use, the last one first. */
static void lru_take(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value, uint64_t n)
{
	struct vti_cell *cells = vti_rest(l)->cells;
	uint32_t i = find_value(l, cells, value);

	if (i < l->count)
		n += cells[i].count;
	else if (l->count == s->capacity)
		i--;
	else
		l->count++;
	for (; i > 0; i--)
		cells[i] = cells[i - 1];
	cells[0] = (struct vti_cell){value, n};
}

/* ---- space-saving ---- */

/*
 * A. Metwally, D. Agrawal, A. El Abbadi: "Efficient computation of frequent and top-k elements in
 * data streams", ICDT 2005: a new value takes the place of one with the lowest count, and that
 * count, which is by how much its own may be too high.
 *
 * Here half of the entries are safe, those that were seen most often since they came: as the steady
 * part of a TNV table, they keep counts that a passing crowd would wipe out.  The crowd has the
 * other k entries.  The highest count that was ever given up is at most n/k after n values, because
 * k entries must have passed it; so values that come more often are in the list, and both bounds of
 * each count hold.
 *
 * A count and its error share 64 bits, so that a list has as many values as other algorithms' lists
 * of its size.  The error has 16 significant bits, and is rounded up.
 */
#define COUNT_BITS 42
#define MAX_COUNT  ((UINT64_C(1) << COUNT_BITS) - 1)
#define DIGITS	   16

static uint64_t pack_error(uint64_t error)
{
	uint64_t shift = 0;

	while (error >> shift >> DIGITS)
		shift++;
	error = (error + (UINT64_C(1) << shift) - 1) >> shift;
	if (error >> DIGITS) {
		error >>= 1;
		shift++;
	}
	return (shift << DIGITS | error) << COUNT_BITS;
}

static uint64_t count_of(struct vti_cell cell)
{
	return cell.count & MAX_COUNT;
}

static uint64_t get_cell_error(struct vti_cell cell)
{
	uint64_t packed = cell.count >> COUNT_BITS;
	uint64_t error = (packed & ((1u << DIGITS) - 1)) << (packed >> DIGITS);
	uint64_t count = count_of(cell);

	return error < count ? error : count;
}

/* How often the value has come, at least. */
static uint64_t get_minimum_count(struct vti_cell cell)
{
	return count_of(cell) - get_cell_error(cell);
}

static uint64_t add_to_count(uint64_t packed, uint64_t n)
{
	uint64_t count = packed & MAX_COUNT;

	return packed - count + (n <= MAX_COUNT - count ? count + n : MAX_COUNT);
}

/* The entry with the lowest count of those that are not safe; of several, the one seen least. */
static uint32_t find_lowest_entry(const struct vt_hotlist *l, const struct vti_cell *cells,
				  uint32_t safe)
{
	uint64_t least = count_of(cells[l->count - 1u]);
	uint32_t found = l->count - 1u;
	uint32_t i;

	for (i = found; i-- > safe;) {
		uint64_t count = count_of(cells[i]);

		if (count < least) {
			least = count;
			found = i;
		}
	}
	return found;
}

/* Entries are kept in the order of what was seen: the safe ones come first. */
static void rise_by_seen(struct vt_hotlist *l, struct vti_cell *cells, uint32_t i)
{
	struct vti_cell cell = cells[i];
	uint64_t mine = get_minimum_count(cell);

	for (; i > 0 && get_minimum_count(cells[i - 1]) < mine; i--)
		cells[i] = cells[i - 1];
	cells[i] = cell;
	set_recent(l, i);
}

static void space_saving_take(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value,
			      uint64_t n)
{
	struct vti_rest *r = vti_rest(l);
	uint32_t i = find_value(l, r->cells, value);

	if (i == l->count && l->count < s->capacity) {
		r->cells[i] = (struct vti_cell){value, 0};
		l->count++;
	} else if (i == l->count) {
		i = find_lowest_entry(l, r->cells, s->capacity / 2);
		if (count_of(r->cells[i]) > r->age)
			r->age = count_of(r->cells[i]);
		for (; i + 1u < l->count; i++)
			r->cells[i] = r->cells[i + 1];
		r->cells[i] = (struct vti_cell){value, r->age | pack_error(r->age)};
	}
	r->cells[i].count = add_to_count(r->cells[i].count, n);
	rise_by_seen(l, r->cells, i);
}

/* ---- exact lists ---- */

static void exact_take(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value, uint64_t n)
{
	struct vti_rest *r = vti_rest(l);
	struct vti_cell *c;

	if (!r->u.all) {
		r->u.all = malloc(sizeof(*r->u.all));
		if (!r->u.all) {
			s->failed = true;
			return;
		}
		vt_hash_init(r->u.all, sizeof(struct vti_cell), sizeof(uint64_t));
	}
	c = vt_hash_add(r->u.all, &value, NULL);
	if (!c) {
		s->failed = true;
		return;
	}
	c->count += n;
}

static void exact_free(struct vti_rest *r)
{
	if (r->u.all)
		vt_hash_fini(r->u.all);
	free(r->u.all);
}

static vt_hotlist_take_fn *const takes[VT_NALGOS] = {
	[VT_ALGO_EXACT] = exact_take,
	[VT_ALGO_GM] = gm_take,
	[VT_ALGO_TNV] = tnv_take,
	[VT_ALGO_LRU] = lru_take,
	[VT_ALGO_CONVERGENT] = take_in_intervals,
	[VT_ALGO_RANDOM] = take_in_intervals,
	[VT_ALGO_SPACE_SAVING] = space_saving_take,
};

/* ---- the set ---- */

static bool has_table(enum vt_algo algo)
{
	return algo == VT_ALGO_TNV || algo == VT_ALGO_CONVERGENT || algo == VT_ALGO_RANDOM;
}

static void fill_defaults(struct vt_hotlist_options *o)
{
	if (!o->steady)
		o->steady = DEFAULT_STEADY;
	if (!o->clear && !o->no_clear)
		o->clear = DEFAULT_CLEAR;
	if (o->no_clear)
		o->clear = 0;
	if (!o->interval)
		o->interval = DEFAULT_INTERVAL;
	if (!o->entries)
		o->entries = o->algo == VT_ALGO_LRU ? DEFAULT_LRU : DEFAULT_ENTRIES;
	if (has_table(o->algo))
		o->entries = o->steady + o->clear;
	if (o->factor == 0)
		o->factor = o->entries > 1 ? o->entries / (o->entries - 1.0) : 2;
}

static int check_hotlist_options(const struct vt_hotlist_options *o, struct vt_error *err)
{
	if ((unsigned)o->algo >= VT_NALGOS)
		return vt_error_set(err, VT_E_USAGE, "no such algorithm");
	if (o->steady > VT_HOTLIST_MAX_ENTRIES || o->clear > VT_HOTLIST_MAX_ENTRIES ||
	    o->entries > VT_HOTLIST_MAX_ENTRIES)
		return vt_error_set(err, VT_E_USAGE, "more than %d values in a list",
				    VT_HOTLIST_MAX_ENTRIES);
	if (o->algo == VT_ALGO_GM && !(o->factor >= VT_HOT_MIN_FACTOR && o->factor <= MAX_FACTOR))
		return vt_error_set(err, VT_E_USAGE, "factor %g: from %g to %g", o->factor,
				    VT_HOT_MIN_FACTOR, MAX_FACTOR);
	return 0;
}

struct vt_hotlists *vt_hotlists_new(const struct vt_hotlist_options *options, struct vt_error *err)
{
	struct vt_hotlist_options o = *options;
	struct vt_hotlists *s;
	int i;

	fill_defaults(&o);
	if (check_hotlist_options(&o, err) < 0)
		return NULL;
	s = calloc(1, sizeof(*s));
	if (!s) {
		vt_error_nomem(err);
		return NULL;
	}
	s->options = o;
	s->take = takes[o.algo];
	s->capacity = o.algo == VT_ALGO_EXACT ? 0 : o.entries;
	s->keep = 1 / o.factor;
	s->log_keep = -log(o.factor);
	for (i = 0; i < VT_HOTLIST_SMALL; i++)
		s->all_kept[i] = exp(i * s->log_keep);
	vt_rng_init(&s->rng, o.seed);
	s->rest_size = sizeof(struct vti_rest) + s->capacity * sizeof(struct vti_cell);
	s->per_chunk = VTI_CHUNK / LINE - 1;
	if (s->per_chunk > MAX_RESTS / s->rest_size)
		s->per_chunk = MAX_RESTS / s->rest_size;
	return s;
}

static struct vt_hotlist *list_at(const struct vt_hotlists *s, size_t i)
{
	uint8_t *chunk = s->chunks[i / s->per_chunk];

	return (struct vt_hotlist *)(void *)chunk + 1 + i % s->per_chunk;
}

void vt_hotlists_free(struct vt_hotlists *s)
{
	size_t i;

	if (!s)
		return;
	if (s->options.algo == VT_ALGO_EXACT)
		for (i = 0; i < s->count; i++)
			exact_free(vti_rest(list_at(s, i)));
	for (i = 0; i < s->nchunks; i++) {
		const struct vti_chunk *chunk = (const void *)s->chunks[i];

		free(chunk->rests);
		free(s->chunks[i]);
	}
	free(s->chunks);
	free(s);
}

static bool add_list_chunk(struct vt_hotlists *s)
{
	struct vti_chunk *head;
	uint8_t *rests;

	if (!vt_array_grow(&s->chunks, &s->chunks_cap, s->nchunks + 1, sizeof(*s->chunks)))
		return false;
	head = aligned_alloc(VTI_CHUNK, VTI_CHUNK);
	rests = calloc(s->per_chunk, s->rest_size);
	if (!head || !rests) {
		free(head);
		free(rests);
		return false;
	}
	memset(head, 0, VTI_CHUNK);
	head->rests = rests;
	head->rest_size = s->rest_size;
	s->chunks[s->nchunks++] = (uint8_t *)head;
	return true;
}

struct vt_hotlist *vt_hotlists_add(struct vt_hotlists *s)
{
	struct vt_hotlist *l;

	if (s->count == s->nchunks * s->per_chunk && !add_list_chunk(s))
		return NULL;
	l = list_at(s, s->count++);
	if (s->intervals)
		vti_rest(l)->profiled = s->count - 1;
	return l;
}

void vt_hotlist_clear(struct vt_hotlists *s, struct vt_hotlist *l)
{
	assert(s->options.algo != VT_ALGO_EXACT && !s->intervals);
	memset(vti_rest(l), 0, s->rest_size);
	memset(l, 0, sizeof(*l));
}

/* ---- one list ---- */

/*
 * The first value was compared with a 0, and the second with the difference to that: takes back
 * what came of it.  The first value is at hand `run` times; the one that follows, if it has come
 * yet, is `delta` more.
 */
static void correct_first_value(struct vt_hotlist *l, struct vti_rest *r)
{
	r->begun = true;
	r->first = l->last;
	if (r->first == 0) {
		l->same--;
		l->stride -= l->total > 1 && (l->run > 1 || l->delta == 0) ? 2 : 1;
	} else if (l->run == 1 && l->total > 1 && l->delta == r->first) {
		l->stride--;
	}
}

void vti_hotlist_flush(struct vt_hotlists *s, struct vt_hotlist *l)
{
	uint32_t run = l->run;

	if (!vti_rest(l)->begun)
		correct_first_value(l, vti_rest(l));
	l->run = 0;
	s->take(s, l, l->last, run);
}

void vti_hotlist_accepted(struct vt_hotlists *s, struct vt_hotlist *l)
{
	if (l->run >> 31)
		vti_hotlist_flush(s, l);
	if (l->sampled)
		gm_skip(s, l, vti_rest(l));
}

void vt_hotlist_put_many(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t value, uint64_t n)
{
	/* From the third on, the value and its difference are as those before. */
	for (; n && (l->total < 2 || l->last != value || l->delta); n--)
		vt_hotlist_put(s, l, value);
	if (!n)
		return;
	l->total += n;
	l->zero += value == 0 ? n : 0;
	l->same += n;
	l->stride += n;
	if (l->run)
		vti_hotlist_flush(s, l);
	if (s->options.algo == VT_ALGO_GM) {
		n = gm_accept(s, l, n);
	} else if (l->skip) {
		uint64_t skipped = n < l->skip ? n : l->skip;

		l->skip -= skipped;
		n -= skipped;
	}
	if (n)
		s->take(s, l, value, n);
}

/* ---- what it has found ---- */

struct entry {
	uint64_t value;
	uint64_t count;
	uint64_t error; /* space-saving; else 0 */
};

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a;
	const struct entry *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return x->value < y->value ? -1 : x->value > y->value;
}

/* The values of a list, highest count first, then lowest value.  NULL: no memory. */
static struct entry *sorted_entries(const struct vt_hotlists *s, struct vt_hotlist *l,
				    size_t *count)
{
	struct vti_rest *r = vti_rest(l);
	bool exact = s->options.algo == VT_ALGO_EXACT;
	size_t i, n = !exact ? l->count : r->u.all ? r->u.all->count : 0;
	struct entry *e = calloc(n ? n : 1, sizeof(*e));

	for (i = 0; e && i < n; i++) {
		const struct vti_cell *c = exact ? vt_hash_at(r->u.all, i) : &r->cells[i];

		e[i] = (struct entry){c->value, c->count, 0};
		if (s->options.algo == VT_ALGO_SPACE_SAVING) {
			e[i].count = count_of(*c);
			e[i].error = get_cell_error(*c);
		}
	}
	if (e)
		qsort(e, n, sizeof(*e), compare_entries);
	*count = n;
	return e;
}

int vt_hotlist_read(struct vt_hotlists *s, struct vt_hotlist *l, struct vt_hot *found,
		    struct vt_error *err)
{
	const struct vt_hotlist_options *o = &s->options;
	bool pauses = o->algo == VT_ALGO_CONVERGENT || o->algo == VT_ALGO_RANDOM;
	const struct vti_rest *r = vti_rest(l);
	struct entry *e;
	size_t i, n;

	if (l->run)
		vti_hotlist_flush(s, l);
	vt_hot_fini(found);
	e = s->failed ? NULL : sorted_entries(s, l, &n);
	if (!e || n > UINT32_MAX ||
	    vt_hot_alloc(found, (uint32_t)n, o->algo == VT_ALGO_SPACE_SAVING, err) < 0) {
		free(e);
		return vt_error_nomem(err);
	}
	for (i = 0; i < n; i++) {
		found->values[i] = e[i].value;
		found->counts[i] = e[i].count;
		if (found->errors)
			found->errors[i] = e[i].error;
	}
	free(e);
	found->algo = o->algo;
	found->capacity = s->capacity;
	found->steady = o->steady;
	found->level = r->level;
	found->factor = o->algo == VT_ALGO_GM ? o->factor : 0;
	found->scale = r->level ? pow(o->factor, r->level) : 1;
	found->total = l->total;
	found->profiled = l->total - (pauses ? r->left_out - l->skip : 0);
	found->zero = l->zero;
	found->same = l->same;
	found->stride = l->stride;
	found->first = r->first;
	found->last = l->last;
	return 0;
}
