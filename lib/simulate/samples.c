/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/internal.h"

#include "machine/pipeline/memory.h"

/* Of struct perf_branch_entry, linux/perf_event.h. */
#define FLAG_MISPREDICTED (1u << 0)
#define FLAG_PREDICTED	  (1u << 1)
#define CYCLES_SHIFT	  4
#define CYCLES_MAX	  0xffffu

/* ---- counters ---- */

const char *vt_simulate_name(enum vt_simulate_kind kind)
{
	static const char *const names[VT_NSIMULATE] = {
		[VT_SIMULATE_CYCLES] = "cycles",   [VT_SIMULATE_IMISS] = "imiss",
		[VT_SIMULATE_DMISS] = "dmiss",	   [VT_SIMULATE_ITBMISS] = "itbmiss",
		[VT_SIMULATE_DTBMISS] = "dtbmiss", [VT_SIMULATE_BRANCHMP] = "branchmp",
		[VT_SIMULATE_L2MISS] = "l2miss",   [VT_SIMULATE_WBFULL] = "wbfull",
		[VT_SIMULATE_RETIRED] = "retired", [VT_SIMULATE_TAKEN] = "taken",
		[VT_SIMULATE_DREF] = "dref",
	};

	return (unsigned)kind < VT_NSIMULATE ? names[kind] : NULL;
}

void vti_simcounters_init(struct vti_simcounters *c, const struct vt_simulate_options *o,
			  uint64_t seed)
{
	size_t i;

	*c = (struct vti_simcounters){.skid = o->core->skid, .due = UINT64_MAX};
	vt_rng_init(&c->rng, seed);
	for (i = 0; i < o->nevents && i < VT_SIMULATE_EVENTS; i++) {
		struct vti_simcounter *t = &c->counters[c->count++];
		bool cycles = o->events[i].kind == VT_SIMULATE_CYCLES;

		t->kind = o->events[i].kind;
		t->interval = o->events[i].interval;
		t->period = t->left = vt_interval_first(&t->interval, &c->rng);
		/* Of cycles, samples come late all alike: only the first is moved. */
		t->due = cycles ? t->period + c->skid : UINT64_MAX;
		c->due = t->due < c->due ? t->due : c->due;
		c->events |= !cycles;
		c->taken |= t->kind == VT_SIMULATE_TAKEN;
	}
}

/* Whether the instruction is an event of this kind, and in which cycle that happened. */
static bool is_event_of_kind(const struct vti_simcounters *c, enum vt_simulate_kind kind,
			     const struct vt_sim_retired *r, uint64_t *cycle)
{
	switch (kind) {
	case VT_SIMULATE_IMISS:
	case VT_SIMULATE_ITBMISS:
		*cycle = r->fetch_cycle;
		return r->fetch_missed & (kind == VT_SIMULATE_IMISS ? VT_MISS_L1 : VT_MISS_TLB);
	case VT_SIMULATE_DMISS:
	case VT_SIMULATE_DTBMISS:
		*cycle = r->access_cycle;
		return r->data_missed & (kind == VT_SIMULATE_DMISS ? VT_MISS_L1 : VT_MISS_TLB);
	case VT_SIMULATE_DREF:
		*cycle = r->access_cycle;
		return r->access_cycle != 0;
	case VT_SIMULATE_WBFULL:
		*cycle = r->access_cycle;
		return r->data_missed & VT_MISS_BUFFER;
	case VT_SIMULATE_L2MISS:
		*cycle = r->data_missed & VT_MISS_L2 ? r->access_cycle : r->fetch_cycle;
		return (r->data_missed | r->fetch_missed) & VT_MISS_L2;
	case VT_SIMULATE_BRANCHMP:
		*cycle = r->cycle;
		return r->mispredicted;
	case VT_SIMULATE_RETIRED:
		*cycle = r->cycle;
		return !c->again;
	default:
		return false;
	}
}

/* An overflow while the last one's interrupt is under way waits for that. */
static void count_event(struct vti_simcounters *c, struct vti_simcounter *t, uint64_t cycle)
{
	t->left -= t->left > 0;
	if (t->left || t->due != UINT64_MAX)
		return;
	t->due = cycle + c->skid;
	c->due = t->due < c->due ? t->due : c->due;
}

void vti_simcounters_take(struct vti_simcounters *c, uint64_t cycle)
{
	uint32_t i;

	for (i = 0; i < c->count; i++)
		if (c->counters[i].kind == VT_SIMULATE_TAKEN)
			count_event(c, &c->counters[i], cycle);
}

void vti_simcounters_count(struct vti_simcounters *c, const struct vt_sim_retired *r)
{
	uint32_t i;

	for (i = 0; i < c->count; i++) {
		struct vti_simcounter *t = &c->counters[i];
		uint64_t cycle;

		if (is_event_of_kind(c, t->kind, r, &cycle))
			count_event(c, t, cycle);
	}
}

void vti_simcounters_deliver(struct vti_simcounters *c, const struct vt_sim_retired *r,
			     vti_simsample_fn *sample, void *arg)
{
	uint32_t i;

	c->due = UINT64_MAX;
	for (i = 0; i < c->count; i++) {
		struct vti_simcounter *t = &c->counters[i];

		while (t->due <= r->cycle) {
			sample(arg, r, i, t->period);
			t->period = vt_interval_next(&t->interval, &c->rng);
			t->left = t->period;
			t->due = t->kind == VT_SIMULATE_CYCLES ? t->due + t->period : UINT64_MAX;
		}
		c->due = t->due < c->due ? t->due : c->due;
	}
}

/* ---- the branches taken last ---- */

void vti_simstack_push(struct vti_simstack *k, const struct vti_simbranch *b)
{
	if (k->size)
		k->branches[k->count++ % k->size] = *b;
}

/* The one before the newest by `back`. */
static const struct vti_simbranch *get_branch(const struct vti_simstack *k, uint64_t back)
{
	return &k->branches[(k->count - 1 - back) % k->size];
}

/* Of the oldest one, it is not known any more how long it took to come there. */
static uint64_t get_branch_cycles(const struct vti_simstack *k, uint64_t back, uint64_t n)
{
	uint64_t since =
		back + 1 < n ? get_branch(k, back)->cycle - get_branch(k, back + 1)->cycle : 0;

	return since < CYCLES_MAX ? since : CYCLES_MAX;
}

void vti_simstack_write(const struct vti_simstack *k, struct vt_writer *w)
{
	uint64_t from[VT_SIMULATE_STACK], to[VT_SIMULATE_STACK], flags[VT_SIMULATE_STACK];
	size_t n = k->count < k->size ? k->count : k->size, i;

	for (i = 0; i < n; i++) {
		const struct vti_simbranch *b = get_branch(k, i);

		from[i] = b->from;
		to[i] = b->to;
		flags[i] = (b->mispredicted ? FLAG_MISPREDICTED : FLAG_PREDICTED) |
			   get_branch_cycles(k, i, n) << CYCLES_SHIFT;
	}
	vt_writer_words(w, VT_SAMPLE_BR_FROM, from, n);
	vt_writer_words(w, VT_SAMPLE_BR_TO, to, n);
	vt_writer_words(w, VT_SAMPLE_BR_FLAGS, flags, n);
}
