/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "freq/stack_count.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/hash.h"
#include "freq/stack_length.h"
#include "stream/kinds.h"

/* No compiler makes code without a taken branch that is longer. */
#define RUN_MAX 65536 /* bytes */

struct stack_source {
	struct vt_stackcount_event e; /* the key is its first field */
	uint64_t period;
	enum vt_stack_unit unit; /* of the period */
	bool all;		 /* the stacks have all branches */
	uint64_t zeros;		 /* branches that came in the same cycle as the one before, */
	uint64_t ones;		 /* and one later */
};

/* Which link, in the order of the results. */
struct link_key {
	uint64_t event;
	uint64_t image;
	int64_t pid;
	uint64_t run;
	uint64_t from;
	uint64_t to;
};

struct link_entry {
	struct link_key key;
	uint64_t stacks; /* that count for it */
	uint64_t last;	 /* the number of the last of them */
	double current;	 /* what that adds */
	uint16_t insns;	 /* instructions of a run, once they were counted; 0: unknown */
	bool decoded;
	struct vt_stackcount_sum sum;
};

/* Where control continues after a branch. */
struct run_start {
	uint64_t image;
	int64_t pid;
	uint64_t offset;
	struct vt_stackreach reach;
	struct vt_stacktimes times;
	struct vt_stacklength length;
};

/*
 * The same, by how control got there: the time that follows often depends on it.  The distance
 * to the target of the previous branch identifies the way.
 */
struct run_context {
	uint64_t image;
	int64_t pid;
	uint64_t offset;
	uint64_t before;
	uint64_t bin; /* of the time between the two */
	struct vt_stacktimes times;
};

/* A branch of a stack, and the run before it, by the numbers of their entries. */
struct stack_branch {
	uint32_t branch; /* UINT32_MAX: none; likewise below */
	uint32_t run;
	uint32_t start;
	uint32_t context; /* NONE for the oldest one */
	uint16_t cycles;  /* since the branch before; or instructions, 0: unknown */
};

/* Stacks with lengths of runs, kept until other stacks have shown how long runs are. */
struct stack_batch {
	struct stack_branch *branches; /* newest first */
	size_t nbranches;
	struct waiting_stack {
		double period;
		size_t first; /* of its branches; they end where those of the next one begin */
		size_t source;
	} * stacks;
	size_t nstacks;
};

/* As many wait at once, of as many branches all in all. */
#define MAX_STACKS   16384
#define MAX_BRANCHES (MAX_STACKS * 32)

struct vt_stackcount {
	const struct vt_context *stream;
	struct vt_hash starts;
	struct vt_hash contexts;
	struct vt_hash sources;
	struct vt_hash entries;
	struct stack_batch batch;
	uint64_t stack;	   /* the number of the one at hand */
	bool instructions; /* stacks of instructions wait, or did */
	struct link_key *keys;
	struct vt_stackcount_link *links;
	size_t count;
};

/* What a branch of a stack counts for. */
struct stack_share {
	double parts[VT_STACK_PARTS]; /* by where in the window it may lie */
	double bias;		      /* deviation, as a part of all of them */
};

struct vt_stackcount *vt_stackcount_new(struct vt_context *context)
{
	struct vt_stackcount *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->stream = context;
	vt_hash_init(&c->sources, sizeof(struct stack_source), sizeof(uint64_t));
	vt_hash_init(&c->entries, sizeof(struct link_entry), sizeof(struct link_key));
	vt_hash_init(&c->starts, sizeof(struct run_start), offsetof(struct run_start, reach));
	vt_hash_init(&c->contexts, sizeof(struct run_context), offsetof(struct run_context, times));
	return c;
}

void vt_stackcount_free(struct vt_stackcount *c)
{
	if (!c)
		return;
	vt_hash_fini(&c->sources);
	vt_hash_fini(&c->entries);
	vt_hash_fini(&c->starts);
	vt_hash_fini(&c->contexts);
	free(c->batch.branches);
	free(c->batch.stacks);
	free(c->keys);
	free(c->links);
	free(c);
}

/* ---- what stacks add ---- */

/* A stack's part of an entry is known when another stack has it, or none comes. */
static void settle_entry(struct link_entry *e)
{
	e->sum.variance += e->current * e->current;
	e->current = 0;
}

/* Counts a branch of the stack at hand. */
static void add_stack_share(struct vt_stackcount *c, uint32_t entry, const struct stack_share *s)
{
	struct link_entry *e;
	double all = 0;
	size_t i;

	if (entry == UINT32_MAX)
		return;
	e = vt_hash_at(&c->entries, entry);
	if (e->last != c->stack) {
		settle_entry(e);
		e->stacks++;
		e->last = c->stack;
	}
	for (i = 0; i < VT_STACK_PARTS; i++) {
		e->sum.parts[i] += s->parts[i];
		all += s->parts[i];
	}
	e->current += all;
	e->sum.bias += all * s->bias;
}

/* ---- stacks with times ---- */

/*
 * Stacks with times, many at once: first, how far they reach back, which is what windows follow
 * from; then, how long runs in windows take; then, what the branches in windows count for.
 */

/*
 * Some processors never report 0 cycles between two branches: they report 1, whether it was 1 or 0.
 * No processor sustains more than one taken branch a cycle.  So each such cycle counts as half a
 * cycle within that limit, with the deviation that all of them or none are right.  (A Xeon 6154's
 * stacks count 2,400 million executions of a loop of 28 cycles with 3.7 such cycles; taken as
 * reported, they would count 2,230 million.)
 */
#define HALF 0.5

/*
 * A few zeros do not show that a processor reports them: the first branch has one after the stack
 * was switched on.
 */
static bool has_zeros(const struct stack_source *s)
{
	return 20 * s->zeros > s->ones;
}

struct timed_stack {
	const struct stack_branch *branches;
	size_t count;
	double period;
	bool zeros;
};

/* The time from branch `i` + 1 to the newest one, of that from branch `i`. */
static double add_time(const struct timed_stack *s, size_t i, double before)
{
	uint16_t cycles = s->branches[i].cycles;

	if (s->zeros || cycles != 1)
		return before + cycles;
	return fmax(before + HALF, (double)i + 1);
}

static double reach_of(const struct timed_stack *s)
{
	double before = 0;
	size_t i;

	for (i = 0; i + 1 < s->count; i++)
		before = add_time(s, i, before);
	return before;
}

static struct run_start *branch_start(const struct vt_stackcount *c, const struct timed_stack *s,
				      size_t i)
{
	return vt_hash_at(&c->starts, s->branches[i].start);
}

struct stack_window {
	double length;			   /* cycles */
	double weight;			   /* of what is in all of it */
	double doubt;			   /* deviation of that, as a part of it */
	const struct vt_stacktimes *times; /* what follows its newest branch */
};

/*
 * What is not known of where a window lies, in standard deviations of uniform distributions.
 * Processors may hold an interrupt until what they wait for has come, so that half of the time
 * since the newest branch is in doubt either way; and there are cycles that may be none.
 */
#define UNIFORM 0.2887 /* 1 / sqrt(12) */

static double doubt_of(const struct timed_stack *s, const struct stack_window *w)
{
	double since = vt_stackwindow_since(w->times, w->length);
	double time = since, ones = 0, spare;
	size_t i;

	for (i = 0; i + 1 < s->count && time < w->length; i++) {
		time += s->branches[i].cycles;
		ones += s->branches[i].cycles == 1;
	}
	spare = s->zeros ? 0 : fmin(ones, fmax(time - (double)i, 0));
	return UNIFORM * hypot(since, spare) / (VT_STACKWINDOW_AREA * w->length);
}

/*
 * Places that stacks were taken at have windows.  The shortest of those in a stack is taken, so
 * that all stacks of a loop have the same: a pattern in it would otherwise be looked at for longer
 * from some places than from others.
 */
static struct stack_window window_of(const struct vt_stackcount *c, const struct timed_stack *s)
{
	struct stack_window w = {.length = reach_of(s)};
	size_t i;

	for (i = 0; i < s->count; i++)
		w.length = fmin(w.length, vt_stackreach_window(&branch_start(c, s, i)->reach));
	w.weight = s->period / (VT_STACKWINDOW_AREA * w.length);
	return w;
}

static void note_reach(struct vt_stackcount *c, const struct timed_stack *s)
{
	vt_stackreach_add(&branch_start(c, s, 0)->reach, reach_of(s));
}

static void note_runs(struct vt_stackcount *c, const struct timed_stack *s)
{
	struct stack_window w = window_of(c, s);
	double before = 0;
	size_t i;

	for (i = 0; i + 1 < s->count && before < w.length; i++) {
		const struct stack_branch *b = &s->branches[i + 1];
		struct run_context *context;

		vt_stacktimes_add(&branch_start(c, s, i + 1)->times, s->branches[i].cycles,
				  w.weight);
		if (b->context != UINT32_MAX) {
			context = vt_hash_at(&c->contexts, b->context);
			vt_stacktimes_add(&context->times, s->branches[i].cycles, w.weight);
		}
		before = add_time(s, i, before);
	}
}

/*
 * What follows the newest branch, if stacks have it elsewhere; else its own runs are the best
 * guess.
 */
static const struct vt_stacktimes *
find_times(const struct vt_stackcount *c, const struct timed_stack *s, struct vt_stacktimes *own)
{
	const struct run_context *context;
	const struct vt_stacktimes *times;
	size_t i;

	assert(s->branches->context != UINT32_MAX);
	context = vt_hash_at(&c->contexts, s->branches->context);
	times = &context->times;
	if (vt_stacktimes_sum(times) > 0)
		return times;
	times = &branch_start(c, s, 0)->times;
	if (vt_stacktimes_sum(times) > 0)
		return times;
	for (i = 0; i + 1 < s->count; i++)
		vt_stacktimes_add(own, s->branches[i].cycles, 1);
	return own;
}

static void count_timed(struct vt_stackcount *c, const struct timed_stack *s,
			struct stack_source *source)
{
	struct stack_window w = window_of(c, s);
	struct vt_stacktimes own = {.times = {0}};
	struct stack_share share;
	double before = 0;
	size_t i, k;

	w.times = find_times(c, s, &own);
	share.bias = doubt_of(s, &w);
	source->e.weight += w.weight;
	c->stack++;
	for (i = 0; i + 1 < s->count && before < w.length; i++) {
		vt_stackwindow_share(w.times, w.length, before, share.parts);
		for (k = 0; k < VT_STACK_PARTS; k++)
			share.parts[k] *= w.weight;
		add_stack_share(c, s->branches[i].branch, &share);
		add_stack_share(c, s->branches[i].run, &share);
		before = add_time(s, i, before);
	}
}

static struct stack_source *source_at(const struct vt_stackcount *c, size_t i)
{
	return vt_hash_at(&c->sources, c->batch.stacks[i].source);
}

static struct timed_stack timed_at(const struct vt_stackcount *c, size_t i)
{
	const struct stack_batch *b = &c->batch;
	const struct waiting_stack *w = &b->stacks[i];
	const struct stack_source *source = source_at(c, i);
	size_t end = i + 1 < b->nstacks ? w[1].first : b->nbranches;

	assert(end >= w->first + 2 && end <= b->nbranches);
	return (struct timed_stack){b->branches + w->first, end - w->first, w->period,
				    has_zeros(source)};
}

static void count_waiting_timed(struct vt_stackcount *c)
{
	struct stack_batch *b = &c->batch;
	struct timed_stack s;
	size_t i;

	for (i = 0; i < b->nstacks; i++) {
		s = timed_at(c, i);
		if (source_at(c, i)->e.timed)
			note_reach(c, &s);
	}
	for (i = 0; i < b->nstacks; i++) {
		s = timed_at(c, i);
		if (source_at(c, i)->e.timed)
			note_runs(c, &s);
	}
	for (i = 0; i < b->nstacks; i++) {
		s = timed_at(c, i);
		if (source_at(c, i)->e.timed)
			count_timed(c, &s, source_at(c, i));
	}
}

/* ---- stacks of which the instructions are known ---- */

/*
 * A stack is taken in a run as often as the run is long.  So it represents all the less executions
 * the longer the run is that it was taken in, of which only the start is known: as long as the runs
 * are that begin there elsewhere, counted in the same way.  (As in Palm's probabilities.)
 */
#define WEIGHINGS 5

/* What is not known of the unit, a part of all counts; chosen, as no processor was at hand. */
#define UNIT_BIAS 0.02

/* The instructions of the run that a stack was taken in. */
static double open_length(const struct vt_stackcount *c, const struct timed_stack *s)
{
	double mean = vt_stacklength_mean(&branch_start(c, s, 0)->length);
	struct vt_stacklength own = {0};
	size_t i;

	if (mean > 0)
		return mean;
	/* Nothing begins there but what samples were taken in: as long as others of the stack. */
	for (i = 0; i + 1 < s->count; i++)
		vt_stacklength_add(&own, s->branches[i].cycles, 1);
	vt_stacklength_settle(&own, true);
	mean = vt_stacklength_mean(&own);
	return mean > 0 ? mean : 1;
}

static void weigh_lengths(struct vt_stackcount *c, bool last)
{
	struct stack_batch *b = &c->batch;
	size_t i, k;

	for (i = 0; i < b->nstacks; i++) {
		struct timed_stack s = timed_at(c, i);
		double weight = s.period / open_length(c, &s);

		if (source_at(c, i)->unit != VT_STACK_UNIT_INSTRUCTIONS)
			continue;
		for (k = 0; k + 1 < s.count; k++)
			vt_stacklength_add(&branch_start(c, &s, k + 1)->length,
					   s.branches[k].cycles, weight);
	}
	for (i = 0; i < c->starts.count; i++)
		vt_stacklength_settle(&((struct run_start *)vt_hash_at(&c->starts, i))->length,
				      last);
}

static void count_instructions(struct vt_stackcount *c, const struct timed_stack *s,
			       struct stack_source *source)
{
	double weight = s->period / open_length(c, s) / (double)(s->count - 1);
	size_t i;

	source->e.weight += weight;
	c->stack++;
	for (i = 0; i + 1 < s->count; i++) {
		struct stack_share share = {.bias = UNIT_BIAS};

		share.parts[i * VT_STACK_PARTS / (s->count - 1)] = weight;
		add_stack_share(c, s->branches[i].branch, &share);
		add_stack_share(c, s->branches[i].run, &share);
	}
}

static void count_waiting_instructions(struct vt_stackcount *c)
{
	struct stack_batch *b = &c->batch;
	struct timed_stack s;
	size_t i;

	for (i = 0; i < WEIGHINGS && c->instructions; i++)
		weigh_lengths(c, i + 1 == WEIGHINGS);
	for (i = 0; i < b->nstacks && c->instructions; i++) {
		s = timed_at(c, i);
		if (source_at(c, i)->unit == VT_STACK_UNIT_INSTRUCTIONS)
			count_instructions(c, &s, source_at(c, i));
	}
}

/* Counts the stacks that wait, and forgets them. */
static void count_waiting(struct vt_stackcount *c)
{
	count_waiting_timed(c);
	count_waiting_instructions(c);
	c->batch.nstacks = 0;
	c->batch.nbranches = 0;
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
};

/* Cycles since the branch before: `cycles` of struct perf_branch_entry, 16 bits from bit 4 on. */
static uint64_t branch_cycles(const struct branch_stack *s, size_t i)
{
	return i < s->flagged ? s->flags[i] >> 4 & 0xffff : 0;
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

/*
 * Without cycles, or with as many samples for each branch, all of the stack is the window, and
 * branches are what it is measured in.
 */
static int count_untimed(struct vt_stackcount *c, struct sample_at *a, const struct branch_stack *s,
			 struct stack_source *source, struct vt_error *err)
{
	double weight = s->period / (double)(s->count - 1);
	size_t i;
	int code = 0;

	source->e.weight += weight;
	c->stack++;
	for (i = 0; i + 1 < s->count && code == 0; i++) {
		struct stack_share share = {.bias = source->e.counted ? UNIT_BIAS : 0};
		struct stack_branch b;

		share.parts[i * VT_STACK_PARTS / (s->count - 1)] = weight;
		code = find_links(c, a, s, i, &b, err);
		if (code < 0)
			return code;
		add_stack_share(c, b.branch, &share);
		add_stack_share(c, b.run, &share);
	}
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

static int find_stack_branch(struct vt_stackcount *c, struct sample_at *a,
			     const struct branch_stack *s, size_t i, bool timed,
			     struct stack_branch *b, struct vt_error *err)
{
	struct run_start *start = start_at(c, a, s, i);
	int64_t number = entry_number(&c->starts, start, err);

	if (number < 0)
		return -VT_E_NOMEM;
	b->start = (uint32_t)number;
	b->cycles = (uint16_t)branch_cycles(s, i);
	b->context = UINT32_MAX;
	if (i + 1 < s->count && timed) {
		number = entry_number(&c->contexts, context_at(c, start, s, i), err);
		if (number < 0)
			return -VT_E_NOMEM;
		b->context = (uint32_t)number;
	}
	number = find_links(c, a, s, i, b, err);
	if (number == 0 && !timed)
		b->cycles = i + 1 < s->count ? run_length(c, a, s, i, b->run) : 0;
	return (int)number;
}

static bool make_batch(struct stack_batch *b)
{
	if (!b->branches)
		b->branches = malloc(MAX_BRANCHES * sizeof(*b->branches));
	if (!b->stacks)
		b->stacks = malloc(MAX_STACKS * sizeof(*b->stacks));
	return b->branches && b->stacks;
}

/* With lengths of its runs, it waits for others. */
static int keep_stack(struct vt_stackcount *c, struct sample_at *a, const struct branch_stack *s,
		      const struct stack_source *source, struct vt_error *err)
{
	struct stack_batch *b = &c->batch;
	int64_t number = entry_number(&c->sources, source, err);
	size_t i;

	if (!make_batch(b))
		return vt_error_nomem(err);
	if (b->nstacks == MAX_STACKS || b->nbranches + s->count > MAX_BRANCHES)
		count_waiting(c);
	for (i = 0; i < s->count; i++)
		if (find_stack_branch(c, a, s, i, source->e.timed, &b->branches[b->nbranches + i],
				      err) < 0)
			return -VT_E_NOMEM;
	b->stacks[b->nstacks++] = (struct waiting_stack){s->period, b->nbranches, (size_t)number};
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
	if (!period && !(vt_record_u64(rec, VT_SAMPLE_HAS) & VT_HAS_PERIOD))
		period = s->period ? s->period : 1;
	stack.period = (double)period;
	for (i = 0; i + 1 < stack.count && s->unit == VT_STACK_UNIT_OTHER; i++)
		cycles += branch_cycles(&stack, i);
	if (!s->e.stacks)
		s->e.timed = cycles > 0;
	if (s->e.timed && !cycles)
		return 0;
	for (i = 0; i + 1 < stack.count && s->e.timed; i++) {
		s->zeros += branch_cycles(&stack, i) == 0;
		s->ones += branch_cycles(&stack, i) == 1;
	}
	s->e.stacks++;
	c->instructions |= s->unit == VT_STACK_UNIT_INSTRUCTIONS;
	return s->e.timed || s->unit == VT_STACK_UNIT_INSTRUCTIONS
		       ? keep_stack(c, &a, &stack, s, err)
		       : count_untimed(c, &a, &stack, s, err);
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
	return s && s->all ? count_stack(c, rec, s, err) : 0;
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

int vt_stackcount_finish(struct vt_stackcount *c, struct vt_error *err)
{
	size_t i, n = c->entries.count, k = 0;

	count_waiting(c);
	for (i = 0; i < c->sources.count; i++) {
		struct stack_source *s = vt_hash_at(&c->sources, i);

		if (s->e.stacks)
			s->e.weight /= (double)s->e.stacks;
	}
	c->keys = calloc(n + 1, sizeof(*c->keys));
	c->links = calloc(n + 1, sizeof(*c->links));
	if (!c->keys || !c->links)
		return vt_error_nomem(err);
	/* The index of the hash goes, and nothing is added any more: its entries may be moved. */
	if (n)
		qsort(c->entries.entries, n, sizeof(struct link_entry), by_key);
	for (i = 0; i < n; i++) {
		struct link_entry *e = vt_hash_at(&c->entries, i);

		/* What lies in no window counts for nothing. */
		if (!e->stacks)
			continue;
		settle_entry(e);
		c->keys[k] = e->key;
		c->links[k++] = (struct vt_stackcount_link){
			.from = e->key.from,
			.to = e->key.to,
			.sum = e->sum,
			.stacks = e->stacks,
		};
	}
	c->count = k;
	vt_hash_fini(&c->entries);
	return 0;
}

const struct vt_stackcount_event *vt_stackcount_event(const struct vt_stackcount *c, uint64_t id)
{
	const struct stack_source *s = vt_hash_find(&c->sources, &id);

	return s && s->e.stacks ? &s->e : NULL;
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

		if (s->e.stacks && (!best || is_better_source(s, best, time)))
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
