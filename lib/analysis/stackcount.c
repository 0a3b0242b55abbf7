/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/stackcount.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/hash.h"
#include "image/addrspace.h"
#include "stream/kinds.h"

/* PERF_SAMPLE_BRANCH_* of linux/perf_event.h: any branch; a stack of calls, which is no such. */
#define BRANCH_ANY	  (UINT64_C(1) << 3)
#define BRANCH_CALL_STACK (UINT64_C(1) << 11)
#define SAMPLE_HAS_PERIOD (1u << 8)

/* No compiler makes code without a taken branch that is longer. */
#define RUN_MAX 65536 /* bytes */

struct source {
	struct vt_stackcount_event e; /* the key is its first field */
	uint64_t period;
	bool all; /* the stacks have all branches */
};

/* Which link, in the order of the results. */
struct key {
	uint64_t event;
	uint64_t image;
	int64_t pid;
	uint64_t run;
	uint64_t from;
	uint64_t to;
};

struct entry {
	struct key key;
	uint64_t stacks;
	uint64_t last;	/* the number of the stack that has it, 0: none */
	double current; /* what that stack adds */
	double count;
	double variance;
};

/* Where runs begin, and how long they take. */
struct start {
	uint64_t image;
	int64_t pid;
	uint64_t offset;
	double runs;
	double cycles;
};

struct vt_stackcount {
	struct vt_addrspace *space;
	struct vt_hash starts;
	struct vt_hash sources;
	struct vt_hash entries;
	uint64_t stack; /* the number of the one at hand */
	struct key *keys;
	struct vt_stackcount_link *links;
	size_t count;
};

struct vt_stackcount *vt_stackcount_new(void)
{
	struct vt_stackcount *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	vt_hash_init(&c->sources, sizeof(struct source), sizeof(uint64_t));
	vt_hash_init(&c->entries, sizeof(struct entry), sizeof(struct key));
	vt_hash_init(&c->starts, sizeof(struct start), offsetof(struct start, runs));
	c->space = vt_addrspace_new();
	if (!c->space) {
		vt_stackcount_free(c);
		return NULL;
	}
	return c;
}

void vt_stackcount_free(struct vt_stackcount *c)
{
	if (!c)
		return;
	vt_addrspace_free(c->space);
	vt_hash_fini(&c->sources);
	vt_hash_fini(&c->entries);
	vt_hash_fini(&c->starts);
	free(c->keys);
	free(c->links);
	free(c);
}

/* ---- samples ---- */

static int take_event(struct vt_stackcount *c, const struct vt_record *rec, struct vt_error *err)
{
	uint64_t id = vt_record_u64(rec, VT_EVENT_ID);
	uint64_t type = vt_record_u64(rec, VT_EVENT_BRANCH_TYPE);
	struct source *s = vt_hash_add(&c->sources, &id, NULL);

	if (!s)
		return vt_error_nomem(err);
	s->period = vt_record_u64(rec, VT_EVENT_PERIOD);
	s->all = type & BRANCH_ANY && !(type & BRANCH_CALL_STACK);
	return 0;
}

/* A stack's part of an entry is known when another stack has it, or none comes. */
static void settle(struct entry *e)
{
	e->count += e->current;
	e->variance += e->current * e->current;
	e->current = 0;
}

static int add(struct vt_stackcount *c, const struct key *key, double weight, struct vt_error *err)
{
	struct entry *e = vt_hash_add(&c->entries, key, NULL);

	if (!e)
		return vt_error_nomem(err);
	if (e->last != c->stack) {
		settle(e);
		e->stacks++;
		e->last = c->stack;
	}
	e->current += weight;
	return 0;
}

/* Of a sample: who, and what is mapped where it was last seen. */
struct at {
	uint64_t event;
	int32_t pid;
	struct vt_map map;
	bool known;
};

/* Whether an address lies in a mapping, which is in *a then. */
static bool find(const struct vt_stackcount *c, struct at *a, uint64_t addr)
{
	const struct vt_map *m;

	if (a->known && addr >= a->map.start && addr < a->map.end)
		return true;
	m = vt_addrspace_find(c->space, a->pid, addr, 0);
	a->known = m != NULL;
	if (m)
		a->map = *m;
	return m != NULL;
}

static int add_link(struct vt_stackcount *c, struct at *a, bool run, uint64_t from, uint64_t to,
		    double weight, struct vt_error *err)
{
	struct key key = {.event = a->event, .run = run};

	if (run && (to < from || to - from > RUN_MAX))
		return 0;
	/* Control that goes from one image to another goes along no edge of a procedure. */
	if (!find(c, a, from) || to < a->map.start || to >= a->map.end)
		return 0;
	key.image = a->map.image;
	key.pid = a->map.type == VT_IMAGE_ANON ? a->pid : 0;
	key.from = vt_map_offset(&a->map, from);
	key.to = vt_map_offset(&a->map, to);
	return add(c, &key, weight, err);
}

/* Cycles since the branch before: `cycles` of struct perf_branch_entry, 16 bits from bit 4 on. */
static uint64_t cycles_of(const struct vt_words *flags, size_t i)
{
	return i < flags->count ? flags->data[i] >> 4 & 0xffff : 0;
}

static struct start *start_at(struct vt_stackcount *c, struct at *a, uint64_t addr)
{
	struct start key = {.image = UINT64_MAX, .offset = addr};

	if (find(c, a, addr)) {
		key.image = a->map.image;
		key.pid = a->map.type == VT_IMAGE_ANON ? a->pid : 0;
		key.offset = vt_map_offset(&a->map, addr);
	}
	return vt_hash_add(&c->starts, &key, NULL);
}

/* Less than a cycle is none in which a sample could fall. */
#define LEAST 0.5

/*
 * How long runs take that begin where the newest branch went, as far as stacks have told
 * until now; negative when memory runs out.
 */
static double time_open(struct vt_stackcount *c, struct at *a, uint64_t to, double mean)
{
	const struct start *s = start_at(c, a, to);

	if (!s)
		return -1;
	return fmax(s->runs > 0 ? s->cycles / s->runs : mean, LEAST);
}

/* Runs count for as much as the stack that they are in: otherwise slow ones are told more often. */
static int note_times(struct vt_stackcount *c, struct at *a, const struct vt_words *to,
		      const struct vt_words *flags, size_t n, double weight, struct vt_error *err)
{
	size_t i;

	for (i = 0; i + 1 < n; i++) {
		struct start *t = start_at(c, a, to->data[i + 1]);

		if (!t)
			return vt_error_nomem(err);
		t->runs += weight;
		t->cycles += weight * (double)cycles_of(flags, i);
	}
	return 0;
}

static int take_stack(struct vt_stackcount *c, const struct vt_record *rec, struct source *s,
		      struct vt_error *err)
{
	struct vt_words from = vt_record_words(rec, VT_SAMPLE_BR_FROM);
	struct vt_words to = vt_record_words(rec, VT_SAMPLE_BR_TO);
	struct vt_words flags = vt_record_words(rec, VT_SAMPLE_BR_FLAGS);
	struct at a = {.event = s->e.id, .pid = (int32_t)vt_record_i64(rec, VT_SAMPLE_PID)};
	size_t i, n = from.count < to.count ? from.count : to.count;
	uint64_t period = vt_record_u64(rec, VT_SAMPLE_PERIOD), cycles = 0;
	double weight = 1;
	int code = 0;

	/* Arrays may be of different lengths; one branch has no run behind it. */
	if (n < 2)
		return 0;
	if (!period && !(vt_record_u64(rec, VT_SAMPLE_HAS) & SAMPLE_HAS_PERIOD))
		period = s->period ? s->period : 1;
	for (i = 0; i + 1 < n; i++)
		cycles += cycles_of(&flags, i);
	if (!s->e.stacks)
		s->e.timed = cycles > 0;
	if (s->e.timed && !cycles)
		return 0;
	if (s->e.timed)
		weight = time_open(c, &a, to.data[0], (double)cycles / (double)(n - 1));
	if (weight < 0)
		return vt_error_nomem(err);
	weight = (double)period / (double)(n - 1) / weight;
	if (s->e.timed)
		code = note_times(c, &a, &to, &flags, n, weight, err);
	s->e.stacks++;
	s->e.weight += weight;
	c->stack++;
	for (i = 0; i + 1 < n && code == 0; i++) {
		code = add_link(c, &a, false, from.data[i], to.data[i], weight, err);
		if (code == 0)
			code = add_link(c, &a, true, to.data[i + 1], from.data[i], weight, err);
	}
	return code;
}

int vt_stackcount_feed(struct vt_stackcount *c, const struct vt_record *rec, struct vt_error *err)
{
	uint64_t event;
	struct source *s;

	if (rec->kind == VT_EVENT)
		return take_event(c, rec, err);
	if (rec->kind != VT_SAMPLE)
		return vt_addrspace_feed(c->space, rec, err);
	if (vt_record_words(rec, VT_SAMPLE_BR_FROM).count < 2)
		return 0;
	event = vt_record_u64(rec, VT_SAMPLE_EVENT);
	s = vt_hash_find(&c->sources, &event);
	return s && s->all ? take_stack(c, rec, s, err) : 0;
}

/* ---- results ---- */

static int by_words(const uint64_t *a, const uint64_t *b, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

static int by_key(const void *x, const void *y)
{
	const struct key *a = x, *b = y;
	const uint64_t p[] = {a->event, a->image, (uint64_t)a->pid, a->run, a->from, a->to};
	const uint64_t q[] = {b->event, b->image, (uint64_t)b->pid, b->run, b->from, b->to};

	return by_words(p, q, 6);
}

int vt_stackcount_finish(struct vt_stackcount *c, struct vt_error *err)
{
	size_t i, n = c->entries.count;

	for (i = 0; i < c->sources.count; i++) {
		struct source *s = vt_hash_at(&c->sources, i);

		if (s->e.stacks)
			s->e.weight /= (double)s->e.stacks;
	}
	c->keys = calloc(n + 1, sizeof(*c->keys));
	c->links = calloc(n + 1, sizeof(*c->links));
	if (!c->keys || !c->links)
		return vt_error_nomem(err);
	/* The index of the hash goes, and nothing is added any more: its entries may be moved. */
	if (n)
		qsort(c->entries.entries, n, sizeof(struct entry), by_key);
	for (i = 0; i < n; i++) {
		struct entry *e = vt_hash_at(&c->entries, i);

		settle(e);
		c->keys[i] = e->key;
		c->links[i] = (struct vt_stackcount_link){
			.from = e->key.from,
			.to = e->key.to,
			.count = e->count,
			.variance = e->variance,
			.stacks = e->stacks,
		};
	}
	c->count = n;
	vt_hash_fini(&c->entries);
	return 0;
}

const struct vt_stackcount_event *vt_stackcount_event(const struct vt_stackcount *c, uint64_t id)
{
	const struct source *s = vt_hash_find(&c->sources, &id);

	return s && s->e.stacks ? &s->e : NULL;
}

const struct vt_stackcount_event *vt_stackcount_most(const struct vt_stackcount *c)
{
	const struct vt_stackcount_event *most = NULL;
	size_t i;

	for (i = 0; i < c->sources.count; i++) {
		const struct source *s = vt_hash_at(&c->sources, i);

		if (s->e.stacks > (most ? most->stacks : 0))
			most = &s->e;
	}
	return most;
}

static size_t lower_bound(const struct vt_stackcount *c, const struct key *key)
{
	size_t low = 0, high = c->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (by_key(&c->keys[mid], key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct vt_stackcount_link *vt_stackcount_links(const struct vt_stackcount *c, uint64_t event,
						     uint32_t image, int32_t pid, bool runs,
						     uint64_t start, uint64_t end, size_t *count)
{
	struct key key = {.event = event, .image = image, .pid = pid, .run = runs, .from = start};
	size_t first = lower_bound(c, &key);

	/* The file offsets of a procedure in several segments may wrap around. */
	key.from = end;
	*count = end > start ? lower_bound(c, &key) - first : 0;
	return c->links + first;
}
