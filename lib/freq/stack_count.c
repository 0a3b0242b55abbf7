/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "freq/stack_count.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "freq/stack_internal.h"
#include "stream/kinds.h"

/* No compiler makes code without a taken branch that is longer. */
#define RUN_MAX 65536 /* bytes */

static void weigh_batch(void *unused, void *weigher)
{
	(void)unused;
	vti_stack_weigh(weigher);
}

static void take_batch(void *unused, void *weigher)
{
	(void)unused;
	(void)weigher;
}

struct vt_stackcount *vt_stackcount_new(struct vt_context *context, unsigned threads)
{
	struct vt_stackcount *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->stream = context;
	c->nthreads = threads;
	vt_hash_init(&c->sources, sizeof(struct stack_source), sizeof(uint64_t));
	vt_hash_init(&c->entries, sizeof(struct link_entry), sizeof(struct link_key));
	vt_hash_init(&c->starts, sizeof(struct run_start), sizeof(struct run_start));
	vt_hash_init(&c->contexts, sizeof(struct run_context), sizeof(struct run_context));
	return c;
}

static void batch_fini(struct stack_batch *b)
{
	free(b->branches);
	free(b->stacks);
	*b = (struct stack_batch){0};
}

/* What nobody asks for once the last batch is weighed. */
static void free_batches(struct vt_stackcount *c)
{
	struct stack_weigher *w = &c->weigher;

	vt_ordered_free(c->threads);
	c->threads = NULL;
	vt_hash_fini(&c->starts);
	vt_hash_fini(&c->contexts);
	batch_fini(&c->batch);
	batch_fini(&w->batch);
	free(w->starts);
	free(w->contexts);
	w->starts = NULL;
	w->contexts = NULL;
	free(c->known);
	c->known = NULL;
}

static void free_counts(struct vt_stackcount *c)
{
	vt_hash_fini(&c->entries);
	free(c->weigher.links);
	free(c->weigher.sources);
	c->weigher = (struct stack_weigher){0};
}

void vt_stackcount_free(struct vt_stackcount *c)
{
	if (!c)
		return;
	free_batches(c);
	free_counts(c);
	vt_hash_fini(&c->sources);
	free(c->outcomes);
	free(c->keys);
	free(c->links);
	free(c->outcome_of);
	free(c);
}

/* ---- samples ---- */

/* Of a sample: who, and a mapping that it was seen in; empty at first. */
struct sample_at {
	uint64_t event;
	int32_t pid;
	struct vt_map map;
};

/* Whether an address lies in a mapping, which is in *a then. */
static bool find_sample_map(const struct vt_stackcount *c, struct sample_at *a, uint64_t addr)
{
	const struct vt_map *m;

	if (addr >= a->map.start && addr < a->map.end)
		return true;
	m = vt_addrspace_find(vt_context_space(c->stream), a->pid, addr, 0);
	if (m)
		a->map = *m;
	return m != NULL;
}

/* The number of an entry, or UINT32_MAX for none that could be; -VT_E_NOMEM. */
static int64_t entry_number(const struct vt_hash *h, const void *entry, struct vt_error *err)
{
	size_t i;

	if (!entry)
		return vt_error_nomem(err);
	i = vt_hash_index(h, entry);
	return i < UINT32_MAX ? (int64_t)i : (int64_t)UINT32_MAX;
}

static int64_t find_link_entry(struct vt_stackcount *c, struct sample_at *a, bool run,
			       uint64_t from, uint64_t to, struct vt_error *err)
{
	struct link_key key = {.event = a->event, .run = run};

	if (run && (to < from || to - from > RUN_MAX))
		return UINT32_MAX;
	/* Control that goes from one image to another goes along no edge of a procedure. */
	if (!find_sample_map(c, a, from) || to < a->map.start || to >= a->map.end)
		return UINT32_MAX;
	key.image = a->map.image;
	key.pid = a->map.type == VT_IMAGE_ANON ? a->pid : 0;
	key.from = vt_map_offset(&a->map, from);
	key.to = vt_map_offset(&a->map, to);
	return entry_number(&c->entries, vt_hash_add(&c->entries, &key, NULL), err);
}

/* The branches of a sample, newest first. */
struct branch_stack {
	const uint64_t *from;
	const uint64_t *to;
	const uint64_t *flags;
	size_t count;
	size_t flagged; /* of which flags are there */
	double period;
	bool timed; /* there are cycles between them */
};

/* Cycles since the branch before: `cycles` of struct perf_branch_entry, 16 bits from bit 4 on. */
static uint64_t branch_cycles(const struct branch_stack *s, size_t i)
{
	return i < s->flagged ? s->flags[i] >> 4 & 0xffff : 0;
}

static void note_predictions(struct stack_source *source, const struct branch_stack *s)
{
	size_t i;

	for (i = 0; i < s->count && i < s->flagged; i++) {
		source->mispredicted += s->flags[i] & 1;
		source->predicted += s->flags[i] >> 1 & 1;
	}
}

static void drop_newest(struct branch_stack *s)
{
	s->from++;
	s->to++;
	s->flags++;
	s->count--;
	s->flagged -= s->flagged > 0;
}

/* Arrays may be of different lengths, the last entries empty, and the first one there twice. */
static struct branch_stack stack_of(const struct vt_record *rec)
{
	struct vt_words from = vt_record_words(rec, VT_SAMPLE_BR_FROM);
	struct vt_words to = vt_record_words(rec, VT_SAMPLE_BR_TO);
	struct vt_words flags = vt_record_words(rec, VT_SAMPLE_BR_FLAGS);
	size_t i, n = from.count < to.count ? from.count : to.count;
	struct branch_stack s = {
		.from = from.data, .to = to.data, .flags = flags.data, .flagged = flags.count};

	for (i = 0; i < n && i < MAX_BRANCHES && (s.from[i] || s.to[i]); i++)
		;
	s.count = i;
	if (s.count >= 2 && s.from[0] == s.from[1] && s.to[0] == s.to[1] && s.to[1] > s.from[0])
		drop_newest(&s);
	return s;
}

/* Where branch `i` of a stack led. */
static struct run_start *start_at(struct vt_stackcount *c, struct sample_at *a,
				  const struct branch_stack *s, size_t i)
{
	struct run_start key = {.image = UINT64_MAX, .offset = s->to[i]};

	if (find_sample_map(c, a, s->to[i])) {
		key.image = a->map.image;
		key.pid = a->map.type == VT_IMAGE_ANON ? a->pid : 0;
		key.offset = vt_map_offset(&a->map, s->to[i]);
	}
	return vt_hash_add(&c->starts, &key, NULL);
}

/* And how control got there; there must be a branch before it. */
static struct run_context *context_at(struct vt_stackcount *c, const struct run_start *start,
				      const struct branch_stack *s, size_t i)
{
	struct run_context key = {
		.image = start->image,
		.pid = start->pid,
		.offset = start->offset,
		.before = s->to[i] - s->to[i + 1],
		.bin = vt_stacktimes_bin(branch_cycles(s, i)),
	};

	assert(i + 1 < s->count);
	return vt_hash_add(&c->contexts, &key, NULL);
}

/* A branch and the run before it; of the oldest branch, only where it led. */
static int find_links(struct vt_stackcount *c, struct sample_at *a, const struct branch_stack *s,
		      size_t i, struct stack_branch *b, struct vt_error *err)
{
	int64_t branch = UINT32_MAX, run = UINT32_MAX;

	if (i + 1 < s->count) {
		branch = find_link_entry(c, a, false, s->from[i], s->to[i], err);
		if (branch < 0)
			return -VT_E_NOMEM;
		run = find_link_entry(c, a, true, s->to[i + 1], s->from[i], err);
		if (run < 0)
			return -VT_E_NOMEM;
	}
	b->branch = (uint32_t)branch;
	b->run = (uint32_t)run;
	return 0;
}

/* The instructions of the run before a branch; they are counted once. */
static uint16_t run_length(struct vt_stackcount *c, struct sample_at *a,
			   const struct branch_stack *s, size_t i, uint32_t run)
{
	struct link_entry *e;

	if (run == UINT32_MAX || !find_sample_map(c, a, s->from[i]))
		return 0;
	e = vt_hash_at(&c->entries, run);
	if (!e->decoded)
		e->insns = vt_stacklength_decode(vt_context_images(c->stream), &a->map,
						 s->to[i + 1], s->from[i]);
	e->decoded = true;
	return e->insns;
}

/* Where a branch led, for what follows it: only lengths of runs, or times, ask for that. */
static int find_start(struct vt_stackcount *c, struct sample_at *a, const struct branch_stack *s,
		      size_t i, enum stack_way way, struct stack_branch *b, struct vt_error *err)
{
	struct run_start *start = start_at(c, a, s, i);
	int64_t number = entry_number(&c->starts, start, err);

	if (number < 0)
		return -VT_E_NOMEM;
	b->start = (uint32_t)number;
	b->cycles = (uint16_t)branch_cycles(s, i);
	if (i + 1 == s->count || way != STACK_TIMED)
		return 0;
	number = entry_number(&c->contexts, context_at(c, start, s, i), err);
	b->context = (uint32_t)number;
	return number < 0 ? -VT_E_NOMEM : 0;
}

static int find_stack_branch(struct vt_stackcount *c, struct sample_at *a,
			     const struct branch_stack *s, size_t i, enum stack_way way,
			     struct stack_branch *b, struct vt_error *err)
{
	int code = 0;

	*b = (struct stack_branch){.start = UINT32_MAX, .context = UINT32_MAX};
	if (way != STACK_UNTIMED)
		code = find_start(c, a, s, i, way, b, err);
	if (code == 0)
		code = find_links(c, a, s, i, b, err);
	if (code == 0 && way == STACK_LENGTHS)
		b->cycles = i + 1 < s->count ? run_length(c, a, s, i, b->run) : 0;
	if (code == 0 && i > 0 && b->run != UINT32_MAX)
		((struct link_entry *)vt_hash_at(&c->entries, b->run))->inner = true;
	return code;
}

/* Likewise, of a branch that may have come before. */
static int find_known_branch(struct vt_stackcount *c, struct sample_at *a,
			     const struct branch_stack *s, size_t i, enum stack_way way,
			     struct stack_branch *b, struct vt_error *err)
{
	struct branch_key key = {.event = a->event, .pid = a->pid, .inner = i > 0};
	struct known_branch *k;
	int code = 0;

	if (way != STACK_TIMED || i + 1 == s->count)
		return find_stack_branch(c, a, s, i, way, b, err);
	key.changes = vt_addrspace_changes(vt_context_space(c->stream));
	key.from = s->from[i];
	key.to = s->to[i];
	key.before = s->to[i + 1];
	key.bin = (uint16_t)vt_stacktimes_bin(branch_cycles(s, i));
	k = &c->known[vt_hash_bytes(&key, sizeof(key)) % KNOWN_BRANCHES];
	if (memcmp(&k->key, &key, sizeof(key)) != 0) {
		k->key = (struct branch_key){.changes = 0};
		code = find_stack_branch(c, a, s, i, way, &k->found, err);
		if (code == 0)
			k->key = key;
	}
	*b = k->found;
	b->cycles = (uint16_t)branch_cycles(s, i);
	return code;
}

/*
 * A sample of time falls where time passes, as behind a mispredicted branch, which is then the
 * newest one more often than it is executed; those before follow from it in loops.
 */
#define BIASED 4

/* What the processor says of how it predicted branch `i`, and how long the next one took. */
static int note_outcome(struct vt_stackcount *c, const struct branch_stack *s, size_t i,
			uint32_t branch, struct vt_error *err)
{
	uint64_t flags = i < s->flagged ? s->flags[i] & 3 : 0;
	struct link_entry *e;
	struct stack_outcome *o;
	bool wrong = flags & 1;
	double cycles;

	if (i < BIASED || branch == UINT32_MAX || !flags)
		return 0;
	e = vt_hash_at(&c->entries, branch);
	if (!e->outcome) {
		if (c->noutcomes >= UINT32_MAX ||
		    !vt_array_grow(&c->outcomes, &c->outcomes_cap, c->noutcomes + 1,
				   sizeof(*c->outcomes)))
			return vt_error_nomem(err);
		c->outcomes[c->noutcomes++] = (struct stack_outcome){.next = s->from[i - 1]};
		e->outcome = (uint32_t)c->noutcomes;
	}
	o = &c->outcomes[e->outcome - 1];
	o->seen[wrong]++;
	if (!s->timed || s->from[i - 1] != o->next)
		return 0;
	cycles = (double)branch_cycles(s, i - 1);
	o->timed[wrong]++;
	o->cycles[wrong] += cycles;
	o->squares[wrong] += cycles * cycles;
	return 0;
}

static enum stack_way way_of(const struct stack_source *source)
{
	if (source->e.timed)
		return STACK_TIMED;
	return source->unit == VT_STACK_UNIT_INSTRUCTIONS ? STACK_LENGTHS : STACK_UNTIMED;
}

/* ---- batches ---- */

/*
 * A few zeros do not show that a processor reports them: the first branch has one after the stack
 * was switched on.
 */
static bool has_zeros(const struct stack_source *s)
{
	return 20 * s->zeros > s->ones;
}

/*
 * Whether the newest branch is there twice for no other reason than how the processor writes
 * stacks: then the run between the two is seen nowhere else.  A loop of one block is.
 */
static bool has_newest_twice(const struct vt_stackcount *c, const struct waiting_stack *s)
{
	const struct stack_branch *newest = &c->batch.branches[s->first];

	if (s->count < 3 || newest->run == UINT32_MAX || newest->branch == UINT32_MAX ||
	    newest->branch != newest[1].branch)
		return false;
	return !((const struct link_entry *)vt_hash_at(&c->entries, newest->run))->inner;
}

/* What the others of a batch tell of each. */
static void settle_batch(struct vt_stackcount *c)
{
	struct stack_batch *b = &c->batch;
	size_t i;

	for (i = 0; i < b->nstacks; i++) {
		struct waiting_stack *s = &b->stacks[i];
		struct stack_source *source = vt_hash_at(&c->sources, s->source);
		size_t twice = has_newest_twice(c, s);

		assert(s->count >= 2 && s->first + s->count <= b->nbranches);
		s->first += twice;
		s->count -= twice;
		s->zeros = has_zeros(source);
		s->counted = source->e.counted;
		/* Those of a timed event came before it was known to be one. */
		if (s->way == STACK_UNTIMED && source->e.timed)
			s->way = STACK_UNUSED;
		source->settled |= s->way != STACK_UNUSED;
	}
}

/* Makes an array as long as there are entries; the new elements are zeros.  False: no memory. */
static bool extend_counts(void *array, size_t *count, size_t *cap, size_t need, size_t size)
{
	uint8_t *elements;

	if (!vt_array_grow(array, cap, need, size))
		return false;
	memcpy(&elements, array, sizeof(elements));
	if (need > *count)
		memset(elements + *count * size, 0, (need - *count) * size);
	*count = need;
	return true;
}

static bool extend_weigher(const struct vt_stackcount *c, struct stack_weigher *w)
{
	return extend_counts(&w->links, &w->nlinks, &w->links_cap, c->entries.count,
			     sizeof(*w->links)) &&
	       extend_counts(&w->starts, &w->nstarts, &w->starts_cap, c->starts.count,
			     sizeof(*w->starts)) &&
	       extend_counts(&w->contexts, &w->ncontexts, &w->contexts_cap, c->contexts.count,
			     sizeof(*w->contexts)) &&
	       extend_counts(&w->sources, &w->nsources, &w->sources_cap, c->sources.count,
			     sizeof(*w->sources));
}

/* Gives what waits to the weigher, once it is done with what it has. */
static int weigh_waiting(struct vt_stackcount *c, struct vt_error *err)
{
	const struct vt_ordered_work how = {weigh_batch, take_batch, NULL, 1};
	struct stack_weigher *w = &c->weigher;
	struct stack_batch empty;

	if (!c->threads)
		c->threads = vt_ordered_new(c->nthreads < 2 ? c->nthreads : 2, &how);
	if (!c->threads)
		return vt_error_nomem(err);
	vt_ordered_finish(c->threads);
	settle_batch(c);
	if (!extend_weigher(c, w))
		return vt_error_nomem(err);
	empty = w->batch;
	w->batch = c->batch;
	w->instructions = c->instructions;
	c->batch = empty;
	vt_ordered_put(c->threads, w, 1);
	return 0;
}

static bool make_batch(struct vt_stackcount *c)
{
	struct stack_batch *b = &c->batch;

	if (!c->known)
		c->known = calloc(KNOWN_BRANCHES, sizeof(*c->known));
	if (!b->branches)
		b->branches = malloc(MAX_BRANCHES * sizeof(*b->branches));
	if (!b->stacks)
		b->stacks = malloc(MAX_STACKS * sizeof(*b->stacks));
	return c->known && b->branches && b->stacks;
}

/* It waits for others. */
static int keep_stack(struct vt_stackcount *c, struct sample_at *a, const struct branch_stack *s,
		      const struct stack_source *source, struct vt_error *err)
{
	struct stack_batch *b = &c->batch;
	int64_t number = entry_number(&c->sources, source, err);
	enum stack_way way = way_of(source);
	size_t i;

	if ((b->nstacks == MAX_STACKS || b->nbranches + s->count > MAX_BRANCHES) &&
	    weigh_waiting(c, err) < 0)
		return -VT_E_NOMEM;
	if (!make_batch(c))
		return vt_error_nomem(err);
	for (i = 0; i < s->count; i++) {
		struct stack_branch *branch = &b->branches[b->nbranches + i];

		if (find_known_branch(c, a, s, i, way, branch, err) < 0 ||
		    note_outcome(c, s, i, branch->branch, err) < 0)
			return -VT_E_NOMEM;
	}
	b->stacks[b->nstacks++] = (struct waiting_stack){.period = s->period,
							 .first = b->nbranches,
							 .count = s->count,
							 .source = (uint32_t)number,
							 .way = (uint8_t)way};
	b->nbranches += s->count;
	return 0;
}

static int count_stack(struct vt_stackcount *c, const struct vt_record *rec, struct stack_source *s,
		       struct vt_error *err)
{
	struct branch_stack stack = stack_of(rec);
	struct sample_at a = {.event = s->e.id, .pid = (int32_t)vt_record_i64(rec, VT_SAMPLE_PID)};
	uint64_t period = vt_record_u64(rec, VT_SAMPLE_PERIOD), cycles = 0;
	size_t i;

	/* One branch has no run behind it. */
	if (stack.count < 2)
		return 0;
	note_predictions(s, &stack);
	if (!period && !(vt_record_u64(rec, VT_SAMPLE_HAS) & VT_HAS_PERIOD))
		period = s->period ? s->period : 1;
	stack.period = (double)period;
	for (i = 0; i + 1 < stack.count; i++)
		cycles += branch_cycles(&stack, i);
	stack.timed = cycles > 0;
	if (s->unit != VT_STACK_UNIT_OTHER)
		cycles = 0;
	/* A stack within one cycle says nothing of those to come. */
	if (!s->settled)
		s->e.timed |= cycles > 0;
	if (s->e.timed && !cycles)
		return 0;
	for (i = 0; i + 1 < stack.count && s->e.timed; i++) {
		s->zeros += branch_cycles(&stack, i) == 0;
		s->ones += branch_cycles(&stack, i) == 1;
	}
	c->instructions |= way_of(s) == STACK_LENGTHS;
	return keep_stack(c, &a, &stack, s, err);
}

static int note_stack_event(struct vt_stackcount *c, const struct vt_record *rec,
			    struct vt_error *err)
{
	uint64_t id = vt_record_u64(rec, VT_EVENT_ID);
	uint64_t type = vt_record_u64(rec, VT_EVENT_BRANCH_TYPE);
	struct stack_source *s = vt_hash_add(&c->sources, &id, NULL);

	if (!s)
		return vt_error_nomem(err);
	s->period = vt_record_u64(rec, VT_EVENT_PERIOD);
	s->all = type & VT_BRANCH_ANY && !(type & VT_BRANCH_CALL_STACK);
	s->some = type && !(type & (VT_BRANCH_ANY | VT_BRANCH_CALL_STACK));
	s->unit = vt_stack_unit_of(vt_record_bytes(rec, VT_EVENT_NAME));
	/* Instructions are counted in the code. */
	if (s->unit == VT_STACK_UNIT_INSTRUCTIONS && !vt_context_images(c->stream))
		s->unit = VT_STACK_UNIT_OTHER;
	s->e.counted = s->unit != VT_STACK_UNIT_OTHER;
	return 0;
}

static int count_sample_stack(struct vt_stackcount *c, const struct vt_record *rec,
			      struct vt_error *err)
{
	uint64_t event = vt_record_u64(rec, VT_SAMPLE_EVENT);
	struct stack_source *s;

	if (vt_record_words(rec, VT_SAMPLE_BR_FROM).count < 2)
		return 0;
	s = vt_hash_find(&c->sources, &event);
	if (s && s->all)
		return count_stack(c, rec, s, err);
	if (s)
		s->filtered += s->some;
	return 0;
}

int vt_stackcount_feed(void *stacks, const struct vt_record *rec, struct vt_error *err)
{
	return rec->kind == VT_EVENT ? note_stack_event(stacks, rec, err)
				     : count_sample_stack(stacks, rec, err);
}

/* ---- results ---- */

double vt_stackcount_count(const struct vt_stackcount_sum *s)
{
	double count = 0;
	size_t i;

	for (i = 0; i < VT_STACK_PARTS; i++)
		count += s->parts[i];
	return count;
}

/*
 * The quantile of Student's distribution with 3 degrees of freedom that has 95 % on both sides,
 * 3.182, by that of the normal one, 1.960: a variance of four numbers may be too small by chance.
 */
#define STUDENT 1.624

double vt_stackcount_sigma(const struct vt_stackcount_sum *s)
{
	double mean = vt_stackcount_count(s) / VT_STACK_PARTS, squares = 0, variance;
	size_t i;

	for (i = 0; i < VT_STACK_PARTS; i++)
		squares += (s->parts[i] - mean) * (s->parts[i] - mean);
	variance = VT_STACK_PARTS * squares / (VT_STACK_PARTS - 1);
	/* Parts that differ by more than chance show that samples do not fall everywhere alike. */
	variance = fmax(variance - s->variance, 0) * STUDENT * STUDENT + s->variance;
	return sqrt(variance + s->bias * s->bias);
}

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
	const struct link_key *a = x, *b = y;
	const uint64_t p[] = {a->event, a->image, (uint64_t)a->pid, a->run, a->from, a->to};
	const uint64_t q[] = {b->event, b->image, (uint64_t)b->pid, b->run, b->from, b->to};

	return by_words(p, q, 6);
}

static void finish_sources(struct vt_stackcount *c)
{
	size_t i;

	for (i = 0; i < c->weigher.nsources; i++) {
		const struct source_count *w = &c->weigher.sources[i];
		struct stack_source *s = vt_hash_at(&c->sources, i);

		s->e.stacks = w->stacks;
		s->e.weight = w->stacks ? w->weight / (double)w->stacks : 0;
	}
}

/* In the order of their keys.  The index of the hash goes: nothing is added any more. */
static void finish_links(struct vt_stackcount *c)
{
	size_t i, n = c->entries.count, k = 0;

	for (i = 0; i < n; i++)
		((struct link_entry *)vt_hash_at(&c->entries, i))->number = (uint32_t)i;
	if (n)
		qsort(c->entries.entries, n, sizeof(struct link_entry), by_key);
	for (i = 0; i < n; i++) {
		const struct link_entry *e = vt_hash_at(&c->entries, i);
		struct link_count *l = &c->weigher.links[e->number];

		/* What lies in no window counts for nothing. */
		if (!l->stacks)
			continue;
		vti_stack_settle(l);
		c->keys[k] = e->key;
		c->outcome_of[k] = e->outcome;
		c->links[k++] = (struct vt_stackcount_link){
			.from = e->key.from,
			.to = e->key.to,
			.sum = l->sum,
			.stacks = l->stacks,
		};
	}
	c->count = k;
}

int vt_stackcount_finish(struct vt_stackcount *c, struct vt_error *err)
{
	size_t n = c->entries.count;
	int code = weigh_waiting(c, err);

	if (code < 0)
		return code;
	free_batches(c);
	finish_sources(c);
	c->keys = calloc(n + 1, sizeof(*c->keys));
	c->links = calloc(n + 1, sizeof(*c->links));
	c->outcome_of = calloc(n + 1, sizeof(*c->outcome_of));
	if (!c->keys || !c->links || !c->outcome_of)
		return vt_error_nomem(err);
	finish_links(c);
	free_counts(c);
	return 0;
}

/* So many branches in a row are not mispredicted by chance. */
#define MISPREDICTED 32

static bool is_partial(const struct stack_source *s)
{
	return s->filtered || (!s->predicted && s->mispredicted >= MISPREDICTED);
}

bool vt_stackcount_partial(const struct vt_stackcount *c, uint64_t *id)
{
	size_t i;

	for (i = 0; i < c->sources.count; i++) {
		const struct stack_source *s = vt_hash_at(&c->sources, i);

		if (is_partial(s)) {
			*id = s->e.id;
			return true;
		}
	}
	return false;
}

const struct vt_stackcount_event *vt_stackcount_event(const struct vt_stackcount *c, uint64_t id)
{
	const struct stack_source *s = vt_hash_find(&c->sources, &id);

	return s && s->e.stacks && !is_partial(s) ? &s->e : NULL;
}

/* What the unit of a count is known by comes first, and the number of stacks last. */
static bool is_better_source(const struct stack_source *a, const struct stack_source *b,
			     uint64_t time)
{
	if (a->unit != b->unit)
		return a->unit > b->unit;
	if ((a->e.id == time) != (b->e.id == time))
		return a->e.id == time;
	return a->e.stacks > b->e.stacks;
}

const struct vt_stackcount_event *vt_stackcount_best(const struct vt_stackcount *c, uint64_t time)
{
	const struct stack_source *best = NULL;
	size_t i;

	for (i = 0; i < c->sources.count; i++) {
		const struct stack_source *s = vt_hash_at(&c->sources, i);

		if (s->e.stacks && !is_partial(s) && (!best || is_better_source(s, best, time)))
			best = s;
	}
	return best ? &best->e : NULL;
}

static size_t first_link_at(const struct vt_stackcount *c, const struct link_key *key)
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
	struct link_key key = {
		.event = event, .image = image, .pid = pid, .run = runs, .from = start};
	size_t first = first_link_at(c, &key);

	/* The file offsets of a procedure in several segments may wrap around. */
	key.from = end;
	*count = end > start ? first_link_at(c, &key) - first : 0;
	return c->links + first;
}

bool vt_stackcount_place(const struct vt_stackcount *c, uint64_t event, size_t i,
			 struct vt_place *place)
{
	struct link_key first = {.event = event};
	size_t at = first_link_at(c, &first);

	if (i >= c->count - at || c->keys[at + i].event != event)
		return false;
	place->image = (uint32_t)c->keys[at + i].image;
	place->pid = (int32_t)c->keys[at + i].pid;
	place->offset = c->keys[at + i].from;
	return true;
}
