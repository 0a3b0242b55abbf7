/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "events/gather.h"

#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

/* A direct-mapped cache of places: hot code has some thousands. */
#define CACHE_BITS 13
#define CACHE_SIZE (1u << CACHE_BITS)

/* PERF_TYPE_HARDWARE, PERF_TYPE_RAW and PERF_COUNT_HW_CPU_CYCLES of linux/perf_event.h. */
#define TYPE_HARDWARE 0
#define TYPE_RAW      4
#define COUNT_CYCLES  0

/* cnt_ctl of ibs_op; and the event of retired micro-ops, which AMD's kernel driver turns into it.
 */
#define IBS_COUNTS_UOPS (UINT64_C(1) << 19)
#define AMD_UOPS	0xc1

#define PAGE_SIZE 4096u

struct cached {
	uint64_t ip;
	uint64_t event;
	uint64_t mode_pid;	    /* the CPU's mode and the process */
	struct vt_evcounts *counts; /* NULL: empty */
	uint64_t period;	    /* of samples that have none of their own */
};

struct vt_evgather {
	struct vt_context *context;
	struct vt_evstats *stats;
	struct vt_evstats *groups; /* NULL: none */
	enum vt_evby by;
	struct vt_evseen seen;
	struct cached *cache;
	uint64_t changes; /* of mappings, that the cache knows */
	void (*warn)(void *arg, const char *text);
	void *arg;
};

/* The columns of a block of samples. */
struct columns {
	const struct vt_column *event, *ip, *pid, *misc, *period, *has, *pm_has, *pm_least, *told,
		*events, *pair, *source, *addr;
	const struct vt_column *latency; /* the first */
};

struct vt_evgather *vt_evgather_new(struct vt_context *context, enum vt_evby by)
{
	struct vt_evgather *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->context = context;
	g->by = by;
	g->stats = vt_evstats_new();
	g->groups = by == VT_EVBY_PLACE ? NULL : vt_evstats_new();
	g->cache = calloc(CACHE_SIZE, sizeof(*g->cache));
	if (g->stats && g->cache && (g->groups || by == VT_EVBY_PLACE))
		return g;
	vt_evgather_free(g);
	return NULL;
}

void vt_evgather_free(struct vt_evgather *g)
{
	if (!g)
		return;
	vt_evstats_free(g->stats);
	vt_evstats_free(g->groups);
	free(g->cache);
	free(g);
}

void vt_evgather_warn(struct vt_evgather *g, void (*fn)(void *arg, const char *text), void *arg)
{
	g->warn = fn;
	g->arg = arg;
}

struct vt_evstats *vt_evgather_stats(const struct vt_evgather *g)
{
	return g->stats;
}

struct vt_evstats *vt_evgather_groups(const struct vt_evgather *g)
{
	return g->groups;
}

struct vt_evseen vt_evgather_seen(const struct vt_evgather *g)
{
	struct vt_evseen seen = g->seen;
	size_t i;

	for (i = 0; i < vt_evstats_nevents(g->stats); i++) {
		const struct vt_evevent *e = vt_evstats_event_at(g->stats, i);

		if (e->estimated && __builtin_add_overflow(seen.counted, e->counted, &seen.counted))
			seen.counted = UINT64_MAX;
	}
	return seen;
}

void vt_evgather_note(struct vt_evgather *g, const struct vt_evseen *seen)
{
	g->seen.others += seen->others;
	g->seen.seconds += seen->seconds;
}

/* ---- events ---- */

static bool begins_with(struct vt_bytes text, const char *word)
{
	return text.size >= strlen(word) && memcmp(text.data, word, strlen(word)) == 0;
}

static enum vt_evpopulation find_population(const struct vt_record *rec)
{
	struct vt_bytes name = vt_record_bytes(rec, VT_EVENT_NAME);
	uint64_t config = vt_record_u64(rec, VT_EVENT_CONFIG);
	uint64_t type = vt_record_u64(rec, VT_EVENT_TYPE);

	if (begins_with(name, "ibs_op"))
		return config & IBS_COUNTS_UOPS ? VT_EVPOP_UOPS : VT_EVPOP_CYCLES;
	if (begins_with(name, "ibs_fetch"))
		return VT_EVPOP_FETCHES;
	if (begins_with(name, "arm_spe"))
		return VT_EVPOP_OPERATIONS;
	if (vt_record_u64(rec, VT_EVENT_POLICY) != VT_POLICY_DISPATCH)
		return VT_EVPOP_INSTRUCTIONS;
	if (type == TYPE_RAW && (config & 0xfff) == AMD_UOPS)
		return VT_EVPOP_UOPS;
	return type == TYPE_HARDWARE && (uint32_t)config == COUNT_CYCLES ? VT_EVPOP_CYCLES
									 : VT_EVPOP_UNKNOWN;
}

/* Finds or adds an event, which has the same number in both. */
static int add_event(struct vt_evgather *g, uint64_t id, uint32_t *index, struct vt_error *err)
{
	int code = vt_evstats_event(g->stats, id, index, err);

	return code < 0 || !g->groups ? code : vt_evstats_event(g->groups, id, index, err);
}

static int take_event(struct vt_evgather *g, const struct vt_record *rec, struct vt_error *err)
{
	uint32_t index;

	/* Its period is in what is cached. */
	memset(g->cache, 0, CACHE_SIZE * sizeof(*g->cache));
	if (add_event(g, vt_record_u64(rec, VT_EVENT_ID), &index, err) < 0)
		return -VT_E_NOMEM;
	vt_evstats_event_at(g->stats, index)->population = find_population(rec);
	return 0;
}

/* ---- samples ---- */

/* Counts a sample whose period is not that of the place's first. */
static bool weigh_sample(struct vt_evcounts *c, const struct columns *k, uint32_t row,
			 double weight)
{
	struct vt_evtotal *other = vt_evcounts_other(c);
	uint64_t has = k->pm_has->v[row & k->pm_has->mask];
	uint64_t least = k->pm_least->v[row & k->pm_least->mask];
	uint64_t told = has & VT_PM_BIT(EVENTS) ? k->told->v[row & k->told->mask] : 0;
	uint64_t events = k->events->v[row & k->events->mask];
	unsigned i;

	if (!other)
		return false;
	c->others++;
	c->other_k += weight;
	for (i = 0; i < VT_EV_STATS; i++) {
		struct vt_evtotal *t = &other[i];
		unsigned l = i - VT_PM_NEVENTS;
		double v;

		if (!(i < VT_PM_NEVENTS ? told >> i & 1 : has >> (l + 1) & 1))
			continue;
		v = i < VT_PM_NEVENTS ? (double)(events >> i & 1)
				      : (double)k->latency[l].v[row & k->latency[l].mask];
		t->samples++;
		t->k += weight;
		t->sum += weight * v;
		t->sum2 += weight * v * v;
		t->variance += weight * v * weight * v;
		t->had += i < VT_PM_NEVENTS ? v : 1;
		if (i < VT_PM_NEVENTS)
			continue;
		t->least += least >> (l + 1) & 1;
		if (!vt_evbins_add(&c->latency[l].bins,
				   vt_evbins_of(k->latency[l].v[row & k->latency[l].mask]), 1))
			return false;
	}
	return true;
}

static inline void count_told(struct vt_evcounts *c, uint64_t told)
{
	unsigned i;

	for (i = 0; i < VT_EV_PATTERNS && c->ntold[i]; i++)
		if (c->told[i] == told) {
			c->ntold[i]++;
			return;
		}
	vt_evcounts_tell(c, told);
}

static bool count_sample(struct vt_evcounts *c, const struct columns *k, uint32_t row,
			 uint64_t period)
{
	uint64_t has = k->pm_has->v[row & k->pm_has->mask], least, bits;

	if (!c->samples)
		c->period = period;
	if (c->period != period)
		return weigh_sample(c, k, row, (double)period);
	c->samples++;
	if (has & VT_PM_BIT(EVENTS)) {
		uint64_t told = k->told->v[row & k->told->mask];

		told &= (UINT64_C(1) << VT_PM_NEVENTS) - 1;
		count_told(c, told);
		for (bits = told & k->events->v[row & k->events->mask]; bits; bits &= bits - 1)
			c->had[__builtin_ctzll(bits)]++;
	}
	least = k->pm_least->v[row & k->pm_least->mask] >> 1;
	for (bits = has >> 1 & ((1u << VT_EV_LATENCIES) - 1); bits; bits &= bits - 1) {
		unsigned l = (unsigned)__builtin_ctzll(bits);
		uint64_t cycles = k->latency[l].v[row & k->latency[l].mask];
		struct vt_evlatency *to = &c->latency[l];
		double v = (double)cycles;

		to->had++;
		to->least += least >> l & 1;
		to->sum += v;
		to->sum2 += v * v;
		if (!vt_evbins_add(&to->bins, vt_evbins_of(cycles), 1))
			return false;
	}
	return true;
}

/* The place of a sample, and the period of samples of its event that have none. */
static int find_place(struct vt_evgather *g, uint64_t id, uint64_t ip, uint64_t mode, int32_t pid,
		      uint64_t has, struct cached *at, struct vt_error *err)
{
	const struct vt_event *e = vt_context_event(g->context, id, err);
	const struct vt_map *m = vt_addrspace_find(vt_context_space(g->context), pid, ip, mode);
	struct vt_evkey key = {.image = VT_UNMAPPED_IMAGE};

	if (!e || add_event(g, id, &key.event, err) < 0)
		return -VT_E_NOMEM;
	if (m) {
		key.image = m->image;
		key.offset = vt_map_offset(m, ip);
		key.pid = m->type == VT_IMAGE_ANON ? pid : 0;
	} else {
		key.offset = vt_unmapped_cause(ip, mode, has);
	}
	at->counts = vt_evstats_add(g->stats, &key);
	at->period = e->period ? e->period : 1;
	return at->counts ? 0 : vt_error_nomem(err);
}

static uint64_t hash_place(uint64_t ip, uint64_t event)
{
	return (ip ^ event << 7 ^ ip >> CACHE_BITS) & (CACHE_SIZE - 1);
}

static int count_group(struct vt_evgather *g, const struct columns *k, uint32_t row, uint64_t id,
		       uint64_t period, struct vt_error *err)
{
	uint64_t addr = k->addr->v[row & k->addr->mask];
	bool told = g->by == VT_EVBY_SOURCE
			    ? k->pm_has->v[row & k->pm_has->mask] & VT_PM_BIT(SOURCE)
			    : k->has->v[row & k->has->mask] & VT_HAS_ADDR;
	struct vt_evkey key = {.image = told ? VT_EVGROUP_KNOWN : VT_EVGROUP_UNTOLD};
	struct vt_evcounts *c;

	if (add_event(g, id, &key.event, err) < 0)
		return -VT_E_NOMEM;
	if (told)
		key.offset = g->by == VT_EVBY_SOURCE ? k->source->v[row & k->source->mask]
			     : g->by == VT_EVBY_PAGE ? addr - addr % PAGE_SIZE
						     : addr;
	if (vt_evstats_nplaces(g->groups) >= VT_EVGROUP_MOST && !vt_evstats_find(g->groups, &key)) {
		key.image = VT_EVGROUP_MORE;
		key.offset = 0;
	}
	c = vt_evstats_add(g->groups, &key);
	return c && count_sample(c, k, row, period) ? 0 : vt_error_nomem(err);
}

static void find_columns(const struct vt_block *b, struct columns *k)
{
	const struct vt_column *c = b->columns;

	*k = (struct columns){
		.event = &c[VT_SAMPLE_EVENT],
		.ip = &c[VT_SAMPLE_IP],
		.pid = &c[VT_SAMPLE_PID],
		.misc = &c[VT_SAMPLE_MISC],
		.period = &c[VT_SAMPLE_PERIOD],
		.has = &c[VT_SAMPLE_HAS],
		.pm_has = &c[VT_SAMPLE_PM_HAS],
		.pm_least = &c[VT_SAMPLE_PM_LEAST],
		.told = &c[VT_SAMPLE_EVENTS_TOLD],
		.events = &c[VT_SAMPLE_EVENTS],
		.pair = &c[VT_SAMPLE_PAIR],
		.source = &c[VT_SAMPLE_SOURCE],
		.addr = &c[VT_SAMPLE_ADDR],
		.latency = &c[VT_SAMPLE_LAT_FETCH],
	};
}

static int take_samples(struct vt_evgather *g, const struct vt_block *b, uint32_t first,
			uint32_t count, struct vt_error *err)
{
	uint64_t changes = vt_addrspace_changes(vt_context_space(g->context));
	struct columns k;
	uint32_t row;

	if (changes != g->changes)
		memset(g->cache, 0, CACHE_SIZE * sizeof(*g->cache));
	g->changes = changes;
	find_columns(b, &k);
	for (row = first; row - first < count; row++) {
		uint64_t pm_has = k.pm_has->v[row & k.pm_has->mask];
		uint64_t id = k.event->v[row & k.event->mask], ip = k.ip->v[row & k.ip->mask];
		uint64_t mode = k.misc->v[row & k.misc->mask] & VT_MISC_CPUMODE;
		uint64_t pid = k.pid->v[row & k.pid->mask] & UINT32_MAX;
		uint64_t has = k.has->v[row & k.has->mask];
		uint64_t period = k.period->v[row & k.period->mask];
		struct cached *at = &g->cache[hash_place(ip, id)];

		if (!pm_has) {
			g->seen.others++;
			continue;
		}
		if (pm_has & VT_PM_BIT(PAIR) && k.pair->v[row & k.pair->mask] > 1) {
			g->seen.seconds++;
			continue;
		}
		if (!at->counts || at->ip != ip || at->event != id ||
		    at->mode_pid != (mode << 32 | pid)) {
			at->ip = ip;
			at->event = id;
			at->mode_pid = mode << 32 | pid;
			if (find_place(g, id, ip, mode, (int32_t)pid, has, at, err) < 0)
				return -VT_E_NOMEM;
		}
		/* Recorders omit the period if it is the same for all samples. */
		if (!period && !(has & VT_HAS_PERIOD))
			period = at->period;
		g->seen.samples++;
		if (!count_sample(at->counts, &k, row, period))
			return vt_error_nomem(err);
		if (g->groups && count_group(g, &k, row, id, period, err) < 0)
			return -VT_E_NOMEM;
	}
	return 0;
}

/* ---- other records ---- */

static int take_estimate(struct vt_evgather *g, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_evkey key = {.offset = vt_record_u64(rec, VT_EVSTAT_OFFSET),
			       .image = (uint32_t)vt_record_u64(rec, VT_EVSTAT_IMAGE)};
	int code;

	/* What a simulator knows is no estimate. */
	if (vt_record_u64(rec, VT_EVSTAT_METHOD) != VT_METHOD_FOLLOWED)
		return 0;
	if (add_event(g, vt_record_u64(rec, VT_EVSTAT_EVENT), &key.event, err) < 0)
		return -VT_E_NOMEM;
	code = vt_evstats_record(g->stats, &key, rec, err);
	if (code == 0) {
		g->seen.estimates++;
		vt_evstats_event_at(g->stats, key.event)->estimated = true;
	}
	if (code != -VT_E_FORMAT)
		return code;
	if (g->warn)
		g->warn(g->arg, err->text);
	return 0;
}

/* Merging leaves COUNT records of samples that no estimates were made of. */
static int take_count(struct vt_evgather *g, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_evevent *e;
	uint32_t index;

	if (add_event(g, vt_record_u64(rec, VT_COUNT_EVENT), &index, err) < 0)
		return -VT_E_NOMEM;
	e = vt_evstats_event_at(g->stats, index);
	if (__builtin_add_overflow(e->counted, vt_record_u64(rec, VT_COUNT_SAMPLES), &e->counted))
		e->counted = UINT64_MAX;
	return 0;
}

static int take_meta(struct vt_evgather *g, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_evevent e = {0};
	uint32_t index;

	if (!vt_record_is_meta(rec, VT_EV_META) || !vt_evmeta_parse(rec, &e))
		return 0;
	if (add_event(g, e.id, &index, err) < 0)
		return -VT_E_NOMEM;
	vt_evmeta_join(vt_evstats_event_at(g->stats, index), &e);
	return 0;
}

int vt_evgather_feed(void *gather, const struct vt_block *block, uint32_t first, uint32_t count,
		     struct vt_error *err)
{
	struct vt_record rec = {block, block->kind, first};
	struct vt_evgather *g = gather;
	int code = 0;

	if (block->kind == VT_SAMPLE)
		return take_samples(g, block, first, count, err);
	for (; rec.row - first < count && code == 0; rec.row++) {
		if (block->kind == VT_EVENT)
			code = take_event(g, &rec, err);
		else if (block->kind == VT_EVSTAT)
			code = take_estimate(g, &rec, err);
		else if (block->kind == VT_COUNT)
			code = take_count(g, &rec, err);
		else if (block->kind == VT_META)
			code = take_meta(g, &rec, err);
	}
	return code;
}
