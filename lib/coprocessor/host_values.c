/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "coprocessor/host_internal.h"

/* A program that is thrashing so fast is divided in 4, else in 2 (A.5): samples a replacement. */
#define FAST 2

/* Of the table of excluded instructions, as many bits are set at most: a quarter.  So many of the
 * other instructions are excluded by accident. */
#define FULL 4

/* An instruction whose value has so much more or less of its samples than before has changed: what
 * A.1 takes for a reason to choose another value. */
#define CHANGE .2

/* One that changed is excluded for longer by this part of what is usual. */
#define CHANGED 4

/* Instructions: a window that is shorter counts as one of these. */
#define LEAST_WINDOW 1000

/* ---- sites ---- */

struct vt_host_site *vti_host_site(struct vt_host *h, uint64_t pc)
{
	return vt_hash_add(&h->sites, &pc, NULL);
}

const struct vt_host_value *vti_host_add_value(struct vt_host *h, struct vt_host_site *s,
					       uint64_t value, double hits, double misses)
{
	const struct vti_value_key key = {s->pc, value, 0};
	struct vti_value_key *k;
	bool added;

	k = vt_hash_add(&h->values, &key, &added);
	if (!k || !vt_array_grow(&s->values, &s->cap, s->nvalues + 1, sizeof(*s->values)))
		return NULL;
	if (added) {
		k->at = s->nvalues;
		s->values[s->nvalues++] = (struct vt_host_value){.value = value};
	}
	s->values[k->at].hits += hits;
	s->values[k->at].misses += misses;
	return &s->values[k->at];
}

/* ---- masks ---- */

static bool is_in(const struct vt_host *h, const struct vti_partition *p, uint64_t pc)
{
	return (vt_filter_hash(h->filters->partition_hash, pc, VT_FILTER_PARTITION_BITS) &
		p->mask) == p->match;
}

static unsigned log2_samples(const struct vt_host_site *s)
{
	return 63u - (unsigned)__builtin_clzll(s->total | 1);
}

/*
 * Of more instructions of a region than the table has room for, those that would take most of the
 * slots are excluded: all of more samples than 2^level, and *room of the others of that level.
 */
static unsigned level_masked(const struct vt_host *h, const struct vti_partition *p, size_t *room)
{
	size_t by_level[64] = {0}, i;
	unsigned level = 63;

	for (i = 0; i < h->sites.count; i++) {
		const struct vt_host_site *s = vt_hash_at(&h->sites, i);

		if (s->left && is_in(h, p, s->pc))
			by_level[log2_samples(s)]++;
	}
	*room = h->filters->table_bits / FULL;
	for (; level > 0 && by_level[level] <= *room; level--)
		*room -= by_level[level];
	return level;
}

/*
 * The table of excluded instructions gets those of the region at hand only: with all of them, 4,096
 * bits are full after some 10,000 instructions, and the others are excluded by accident.  As some
 * still are, each time by another hash (figure 3: "multiple hash functions are provided to reduce
 * conflict problems"), so that no instruction is excluded for good.
 */
static void load_masks(struct vt_host *h)
{
	const struct vti_partition *p = &h->partitions[h->current];
	size_t room, i;
	unsigned level = level_masked(h, p, &room), own;

	h->filters->table_hash = (h->filters->table_hash + 1) % VT_NHASHES;
	vt_filters_include_all(h->filters);
	vt_filters_partition(h->filters, p->mask, p->match);
	for (i = 0; i < h->sites.count; i++) {
		const struct vt_host_site *s = vt_hash_at(&h->sites, i);

		if (!s->left || !is_in(h, p, s->pc))
			continue;
		own = log2_samples(s);
		if (own < level || (own == level && !room))
			continue;
		room -= own == level;
		vt_filters_exclude(h->filters, s->pc);
	}
	h->stats.stores += h->filters->table_bits / 64;
}

/*
 * Whether an instruction is sufficiently characterized (5.1.4), by the slot copied last.  The
 * samples before the active value was chosen count as other values, so that loads of many values
 * have a low invariance: of the active value alone, none is below 20 % (A.1).  In a region that has
 * a part of the time, a part of the samples and copies is enough: slots are scarce there.
 */
static bool is_characterized(const struct vt_host *h, const struct vt_host_site *s, uint64_t hits,
			     uint64_t total)
{
	const struct vt_host_masking *m = &h->masking;
	double invariance = (double)hits / (double)total;

	if (s->since < m->samples / h->npartitions)
		return false;
	return invariance > m->high || invariance < m->low || s->times >= m->times / h->npartitions;
}

/*
 * Excludes an instruction, each time for some more turns of its region than last time: what does
 * not change needs fewer samples, and leaves its slots to others.  The number grows steadily, so
 * that the samples keep up with the phases of a long run; where the instruction changes, slower.
 */
static void exclude(struct vt_host *h, struct vt_host_site *s)
{
	uint32_t more = h->masking.resample;

	if (s->wait && s->changed)
		more /= CHANGED;
	s->wait = s->wait > UINT32_MAX - more ? UINT32_MAX : s->wait + more;
	s->left = s->wait ? s->wait : 1;
	s->changed = false;
	s->excluded_at = h->now;
	h->stats.masked++;
}

/*
 * "Because of phase behavior, it is necessary to periodically re-sample to ensure that all
 * important behaviors are observed" (5.1.4): what was excluded for long enough is profiled anew.
 */
static void begin_turn(struct vt_host *h)
{
	const struct vti_partition *p = &h->partitions[h->current];
	size_t i;

	for (i = 0; i < h->sites.count && h->masking.resample; i++) {
		struct vt_host_site *s = vt_hash_at(&h->sites, i);

		if (!s->left || !is_in(h, p, s->pc) || --s->left)
			continue;
		s->since = 0;
		s->times = 0;
		s->included_at = h->now;
		h->stats.resamples++;
	}
}

/* ---- slots ---- */

/*
 * Whether a slot is worth a copy: of an instruction that the profile has, a few samples tell
 * little, of another all that there will be of it.  To find out takes an access.
 */
static bool is_worth_copying(struct vt_host *h, uint64_t pc, uint64_t total)
{
	if (!total || total >= h->masking.least)
		return total;
	h->stats.reads++;
	return !vt_hash_find(&h->sites, &pc);
}

/*
 * What a sample counts of those of an instruction that are copied now.  They are of the window
 * since the co-processor began with it, and stand for the turns of the other regions and for the
 * time that it was excluded before, too.  Were they to count as much as that is longer than the
 * window, a few copies after long times would decide; were all to count the same, the phases in
 * which it was not excluded would: the square root is in the middle.
 */
static double weigh_samples(const struct vt_host *h, const struct vt_host_site *s)
{
	uint64_t from = s->included_at > h->restarted_at ? s->included_at : h->restarted_at;
	double window = fmax((double)(h->now - from), LEAST_WINDOW), excluded = 0;

	if (!s->times && s->included_at > s->excluded_at)
		excluded = (double)(s->included_at - s->excluded_at);
	return sqrt((double)h->npartitions + excluded / window);
}

/* Copies a slot.  One that was turned off is no longer valid, but has its contents (A.2). */
static bool copy_slot(struct vt_host *h, uint32_t i)
{
	const struct vt_ucode *u = h->u;
	uint64_t total = vt_coproc_data(h->c, vt_ucode_find_base(u, "total"), i);
	uint64_t hits = vt_coproc_data(h->c, vt_ucode_find_base(u, "hits"), i);
	uint64_t misses = vt_coproc_data(h->c, vt_ucode_find_base(u, "misses"), i);
	uint64_t value = vt_coproc_data(h->c, vt_ucode_find_base(u, "value"), i), pc;
	const struct vt_host_value *v;
	struct vt_host_site *s;
	double own;

	vt_coproc_entry(h->c, i, &pc);
	if (!is_worth_copying(h, pc, total))
		return true;
	s = vti_host_site(h, pc);
	if (!s)
		return false;
	if (s->copy != h->stats.copies + 1) {
		s->copy = h->stats.copies + 1;
		s->weight = weigh_samples(h, s);
	}
	own = (double)hits * s->weight;
	v = vti_host_add_value(h, s, value, own, (double)misses * s->weight);
	if (!v)
		return false;
	s->changed = s->changed || (s->total && fabs((double)hits / (double)total -
						     (v->hits - own) / s->weighted) > CHANGE);
	s->weighted += (double)total * s->weight;
	s->total += total;
	s->since += total;
	s->times++;
	h->stats.records++;
	if (!s->left && is_characterized(h, s, hits, total))
		exclude(h, s);
	return true;
}

static int copy_slots(struct vt_host *h, struct vt_error *err)
{
	uint32_t i;

	for (i = 0; i < h->u->slots; i++)
		if (!copy_slot(h, i))
			return vt_error_nomem(err);
	/* A slot has 32 + 32 + 8 + 8 + 16 bits (figure 4): about 3 kB (3.5). */
	h->stats.reads += (uint64_t)h->u->slots * 12 / 8;
	h->stats.copies++;
	return 0;
}

/* ---- regions ---- */

static unsigned ones(uint32_t mask)
{
	unsigned n = 0;

	for (; mask; mask &= mask - 1)
		n++;
	return n;
}

/* Divides the region at hand in 2^bits.  False: out of memory. */
static bool divide(struct vt_host *h, unsigned bits)
{
	struct vti_partition old = h->partitions[h->current];
	unsigned at = ones(old.mask), more = (1u << bits) - 1, i;

	if (!vt_array_grow(&h->partitions, &h->partitions_cap, h->npartitions + more,
			   sizeof(*h->partitions)))
		return false;
	memmove(&h->partitions[h->current + 1 + more], &h->partitions[h->current + 1],
		(h->npartitions - h->current - 1) * sizeof(*h->partitions));
	for (i = 0; i <= more; i++)
		h->partitions[h->current + i] =
			(struct vti_partition){old.mask | more << at, old.match | i << at};
	h->npartitions += more;
	h->stats.partitions = h->npartitions;
	h->stats.thrashes++;
	return true;
}

/*
 * Joins the smallest regions to those twice as large, after all had a turn and none interrupted: by
 * then, what made the program thrash is masked, or no longer executed.  The paper has regions
 * divided only, for a run of one phase.
 */
static void join_regions(struct vt_host *h)
{
	unsigned deepest = 0;
	size_t i, k;

	for (i = 0; i < h->npartitions; i++)
		if (ones(h->partitions[i].mask) > deepest)
			deepest = ones(h->partitions[i].mask);
	for (i = 0; i < h->npartitions; i++) {
		struct vti_partition *p = &h->partitions[i];
		uint32_t bit = deepest ? UINT32_C(1) << (deepest - 1) : 0;

		if (!(p->mask & bit))
			continue;
		for (k = i + 1; k < h->npartitions; k++)
			if (h->partitions[k].mask == p->mask &&
			    h->partitions[k].match == (p->match ^ bit))
				break;
		if (k == h->npartitions)
			continue;
		p->mask &= ~bit;
		p->match &= ~bit;
		memmove(&h->partitions[k], &h->partitions[k + 1],
			(h->npartitions - k - 1) * sizeof(*p));
		h->npartitions--;
	}
	h->current = 0;
	h->quiet = 0;
	h->stats.partitions = h->npartitions;
}

static bool counter_is_full(const struct vt_host *h, const char *name, uint64_t *value)
{
	const struct vt_ucode_index_register *x = vt_ucode_find_index(h->u, name);

	*value = vt_coproc_index(h->c, (unsigned)(x - h->u->indexes));
	return *value == (1u << x->bits) - 1u;
}

int vti_host_values(struct vt_host *h, bool turn, bool last, struct vt_error *err)
{
	uint64_t replaced = 0, samples, ignored;
	bool thrash = !turn && !last && counter_is_full(h, "dropped", &replaced) &&
		      !counter_is_full(h, "failed", &ignored);
	unsigned room = h->masking.partitions - ones(h->partitions[h->current].mask);

	/* Of one region, a turn is no reason to disturb the slots. */
	if (turn && h->npartitions == 1) {
		begin_turn(h);
		if (h->stats.masked)
			load_masks(h);
		return 0;
	}
	h->stats.reads += 2; /* the index registers */
	h->quiet = turn ? h->quiet + 1 : 0;
	if (thrash && room) {
		counter_is_full(h, "samples", &samples);
		if (!divide(h, room > 1 && samples < FAST * replaced ? 2 : 1))
			return vt_error_nomem(err);
		load_masks(h);
	} else {
		if (copy_slots(h, err) < 0)
			return -(int)err->code;
		h->current = (h->current + 1) % h->npartitions;
		if (h->npartitions > 1)
			begin_turn(h);
		if (h->quiet >= h->npartitions && h->npartitions > 1)
			join_regions(h);
		load_masks(h);
	}
	vti_host_restart(h);
	return 0;
}
