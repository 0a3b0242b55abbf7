/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/hot_list.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
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

#define MIN_FACTOR 1.001
#define MAX_FACTOR 1024.0

_Static_assert(sizeof(struct vt_hotlist) == LINE, "a cache line");
_Static_assert(LINE + sizeof(struct vti_rest) == VT_HOTLIST_HEAD, "two of them");
_Static_assert(sizeof(struct vti_chunk) <= LINE, "takes the place of a list");

static vt_hotlist_take_fn *const takes[VT_NALGOS] = {
	[VT_ALGO_EXACT] = vti_exact_take,
	[VT_ALGO_GM] = vti_gm_take,
	[VT_ALGO_TNV] = vti_tnv_take,
	[VT_ALGO_LRU] = vti_lru_take,
	[VT_ALGO_CONVERGENT] = vti_convergent_take,
	[VT_ALGO_RANDOM] = vti_random_take,
	[VT_ALGO_SPACE_SAVING] = vti_spacesaving_take,
};

static bool has_table(enum vt_algo algo)
{
	return algo == VT_ALGO_TNV || algo == VT_ALGO_CONVERGENT || algo == VT_ALGO_RANDOM;
}

int vt_algo_parse(const char *name, enum vt_algo *algo)
{
	unsigned i;

	for (i = 0; i < VT_NALGOS; i++) {
		if (strcmp(name, vt_algo_name(i)) == 0) {
			*algo = (enum vt_algo)i;
			return 0;
		}
	}
	return -1;
}

/* ---- the set ---- */

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

static int check_options(const struct vt_hotlist_options *o, struct vt_error *err)
{
	if ((unsigned)o->algo >= VT_NALGOS)
		return vt_error_set(err, VT_E_USAGE, "no such algorithm");
	if (o->steady > VT_HOTLIST_MAX_ENTRIES || o->clear > VT_HOTLIST_MAX_ENTRIES ||
	    o->entries > VT_HOTLIST_MAX_ENTRIES)
		return vt_error_set(err, VT_E_USAGE, "more than %d values in a list",
				    VT_HOTLIST_MAX_ENTRIES);
	if (o->algo == VT_ALGO_GM && !(o->factor >= MIN_FACTOR && o->factor <= MAX_FACTOR))
		return vt_error_set(err, VT_E_USAGE, "factor %g: from %g to %g", o->factor,
				    MIN_FACTOR, MAX_FACTOR);
	return 0;
}

struct vt_hotlists *vt_hotlists_new(const struct vt_hotlist_options *options, struct vt_error *err)
{
	struct vt_hotlist_options o = *options;
	struct vt_hotlists *s;
	int i;

	fill_defaults(&o);
	if (check_options(&o, err) < 0)
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
			vti_exact_free(vti_rest(list_at(s, i)));
	for (i = 0; i < s->nchunks; i++) {
		const struct vti_chunk *chunk = (const void *)s->chunks[i];

		free(chunk->rests);
		free(s->chunks[i]);
	}
	free(s->chunks);
	free(s);
}

static bool add_chunk(struct vt_hotlists *s)
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

	if (s->count == s->nchunks * s->per_chunk && !add_chunk(s))
		return NULL;
	l = list_at(s, s->count++);
	if (s->intervals)
		vti_intervals_added(s, l);
	return l;
}

size_t vt_hotlists_memory(const struct vt_hotlists *s)
{
	return s->nchunks * (VTI_CHUNK + s->per_chunk * s->rest_size) + s->exact_bytes;
}

/* ---- one list ---- */

/*
 * The first value was compared with a 0, and the second with the difference to that: takes back
 * what came of it.  The first value is at hand `run` times; the one that follows, if it has come
 * yet, is `delta` more.
 */
static void begin(struct vt_hotlist *l, struct vti_rest *r)
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
		begin(l, vti_rest(l));
	l->run = 0;
	s->take(s, l, l->last, run);
}

void vti_hotlist_accepted(struct vt_hotlists *s, struct vt_hotlist *l)
{
	if (l->run >> 31)
		vti_hotlist_flush(s, l);
	if (l->sampled)
		vti_gm_skip(s, l, vti_rest(l));
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
		n = vti_gm_accept(s, l, n);
	} else if (l->skip) {
		uint64_t skipped = n < l->skip ? n : l->skip;

		l->skip -= skipped;
		n -= skipped;
	}
	if (n)
		s->take(s, l, value, n);
}

/* ---- what it has found ---- */

struct found_entry {
	uint64_t value;
	uint64_t count;
	uint64_t error;
};

static int compare_entries(const void *a, const void *b)
{
	const struct found_entry *x = a;
	const struct found_entry *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return x->value < y->value ? -1 : x->value > y->value;
}

static struct found_entry *collect(const struct vt_hotlists *s, struct vt_hotlist *l, size_t *count)
{
	struct vti_rest *r = vti_rest(l);
	bool exact = s->options.algo == VT_ALGO_EXACT;
	size_t n = exact ? vti_exact_count(r) : l->count;
	struct found_entry *e = calloc(n ? n : 1, sizeof(*e));
	size_t i;

	for (i = 0; e && i < n; i++) {
		struct vti_cell cell = exact ? vti_exact_get(r, i) : r->cells[i];

		e[i] = (struct found_entry){cell.value, cell.count, 0};
		if (s->options.algo != VT_ALGO_SPACE_SAVING)
			continue;
		e[i].count = vti_spacesaving_count(cell);
		e[i].error = vti_spacesaving_error(cell);
	}
	if (e)
		qsort(e, n, sizeof(*e), compare_entries);
	*count = n;
	return e;
}

static bool make_room(struct vt_hotlist_found *f, size_t n)
{
	size_t cap[3] = {f->cap, f->cap, f->cap};
	bool ok = vt_array_grow(&f->values, &cap[0], n, sizeof(uint64_t)) &&
		  vt_array_grow(&f->counts, &cap[1], n, sizeof(uint64_t)) &&
		  vt_array_grow(&f->errors, &cap[2], n, sizeof(uint64_t));

	if (ok)
		f->cap = cap[0];
	return ok;
}

int vt_hotlist_read(struct vt_hotlists *s, struct vt_hotlist *l, struct vt_hotlist_found *f,
		    struct vt_error *err)
{
	bool pauses = s->options.algo == VT_ALGO_CONVERGENT || s->options.algo == VT_ALGO_RANDOM;
	struct found_entry *e;
	size_t i, n;

	if (l->run)
		vti_hotlist_flush(s, l);
	e = s->failed ? NULL : collect(s, l, &n);
	if (!e || n > UINT32_MAX || !make_room(f, n ? n : 1)) {
		free(e);
		return vt_error_nomem(err);
	}
	for (i = 0; i < n; i++) {
		f->values[i] = e[i].value;
		f->counts[i] = e[i].count;
		f->errors[i] = e[i].error;
	}
	free(e);
	f->count = (uint32_t)n;
	f->has_errors = s->options.algo == VT_ALGO_SPACE_SAVING;
	f->steady = s->options.steady;
	f->capacity = s->capacity;
	f->level = vti_rest(l)->level;
	f->factor = s->options.algo == VT_ALGO_GM ? s->options.factor : 0;
	f->total = l->total;
	f->profiled = l->total - (pauses ? vti_rest(l)->left_out - l->skip : 0);
	f->zero = l->zero;
	f->same = l->same;
	f->stride = l->stride;
	f->first = vti_rest(l)->first;
	f->last = l->last;
	return 0;
}

void vt_hotlist_found_fini(struct vt_hotlist_found *f)
{
	free(f->values);
	free(f->counts);
	free(f->errors);
	*f = (struct vt_hotlist_found){0};
}
