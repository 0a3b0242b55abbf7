/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "culprit/loads.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "culprit/internal.h"
#include "profile/data_source.h"
#include "stream/profileme.h"

/* ---- events ---- */

/* Cycles.  No load is faster, so that a threshold up to here leaves none out. */
#define FASTEST_LOAD 3

/* Of the kernel's formats of ibs_op and arm_spe: what else makes a processor choose. */
#define IBS_L3_MISSES	(UINT64_C(1) << 16)
#define SPE_MIN_LATENCY UINT64_C(0xfff)

static bool has_low_threshold(const struct vt_loads_event *e)
{
	return e->config1 >= 1 && e->config1 <= FASTEST_LOAD;
}

static bool is_any_load(const struct vt_loads_event *e)
{
	(void)e;
	return true;
}

static bool is_any_ibs_op(const struct vt_loads_event *e)
{
	return !(e->config & IBS_L3_MISSES) && !e->config1;
}

static bool is_any_spe_op(const struct vt_loads_event *e)
{
	return !e->config1 && !(e->config2 & SPE_MIN_LATENCY);
}

/* By the word of the event's name: all of it, or how it begins. */
static const struct {
	const char *name;
	bool begins;
	bool (*has_all)(const struct vt_loads_event *e);
} sampled[] = {
	{"mem-loads", false, has_low_threshold},
	{"mem_trans_retired.load_latency", true, has_low_threshold},
	{"mem_inst_retired.all_loads", false, is_any_load},
	{"mem_uops_retired.all_loads", false, is_any_load},
	{"ibs_op", false, is_any_ibs_op},
	{"arm_spe", true, is_any_spe_op},
};

bool vt_loads_are_sampled(const struct vt_loads_event *e)
{
	size_t length, i;
	const char *word = vti_culprit_event_word(e->name, &length);

	for (i = 0; i < sizeof(sampled) / sizeof(sampled[0]); i++) {
		size_t n = strlen(sampled[i].name);

		if ((sampled[i].begins || length == n) &&
		    strncasecmp(word, sampled[i].name, n) == 0)
			return sampled[i].has_all(e);
	}
	return false;
}

/* ---- samples ---- */

struct load_key {
	uint64_t image;
	uint64_t offset;
	uint64_t event;
};

struct load_count {
	struct load_key key;
	uint64_t cache_known;
	uint64_t cache_missed;
	uint64_t tlb_known;
	uint64_t tlb_missed;
};

struct load_event {
	uint64_t id; /* the key */
	bool sampled;
};

struct vt_loads {
	struct vt_context *context;
	struct vt_hash events; /* struct load_event, of those that were declared */
	struct vt_hash counts; /* struct load_count */
};

struct vt_loads *vt_loads_new(struct vt_context *context)
{
	struct vt_loads *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->context = context;
	vt_hash_init(&l->events, sizeof(struct load_event), sizeof(uint64_t));
	vt_hash_init(&l->counts, sizeof(struct load_count), sizeof(struct load_key));
	return l;
}

void vt_loads_free(struct vt_loads *l)
{
	if (!l)
		return;
	vt_hash_fini(&l->events);
	vt_hash_fini(&l->counts);
	free(l);
}

static int take_event(struct vt_loads *l, const struct vt_record *rec, struct vt_error *err)
{
	uint64_t id = vt_record_u64(rec, VT_EVENT_ID);
	const struct vt_event *declared = vt_context_event(l->context, id, err);
	struct load_event *e = vt_hash_add(&l->events, &id, NULL);

	if (!declared || !e)
		return vt_error_nomem(err);
	e->sampled = vt_loads_are_sampled(
		&(struct vt_loads_event){.name = declared->name,
					 .config = vt_record_u64(rec, VT_EVENT_CONFIG),
					 .config1 = vt_record_u64(rec, VT_EVENT_CONFIG1),
					 .config2 = vt_record_u64(rec, VT_EVENT_CONFIG2)});
	return 0;
}

/* Whether a sample is of a load that an event like these chose, and has that one's address. */
static bool is_load_sample(const struct vt_loads *l, const struct vt_record *rec)
{
	uint64_t id = vt_record_u64(rec, VT_SAMPLE_EVENT);
	const struct load_event *e;

	if (!(vt_record_u64(rec, VT_SAMPLE_HAS) & VT_HAS_IP) ||
	    !(vt_record_u64(rec, VT_SAMPLE_MISC) & VT_MISC_EXACT_IP))
		return false;
	e = vt_hash_find(&l->events, &id);
	return e && e->sampled;
}

/* What registers of the processor tell where the kernel has made no data source of them. */
static bool get_followed_outcome(const struct vt_record *rec, struct vt_load_outcome *outcome)
{
	uint64_t told = vt_record_u64(rec, VT_SAMPLE_EVENTS_TOLD);
	uint64_t events = vt_record_u64(rec, VT_SAMPLE_EVENTS) & told;

	*outcome = (struct vt_load_outcome){
		.cache_known = told & VT_PM_EVENT(DCACHE_MISS),
		.cache_missed = events & VT_PM_EVENT(DCACHE_MISS),
		.tlb_known = told & VT_PM_EVENT(DTLB_MISS),
		.tlb_missed = events & VT_PM_EVENT(DTLB_MISS),
	};
	return events & VT_PM_EVENT(LOAD);
}

static bool get_load_outcome(const struct vt_record *rec, struct vt_load_outcome *outcome)
{
	if (vt_record_u64(rec, VT_SAMPLE_HAS) & VT_HAS_DATA_SRC)
		return vt_data_source_load(vt_record_u64(rec, VT_SAMPLE_DATA_SRC), outcome);
	return get_followed_outcome(rec, outcome);
}

static int take_sample(struct vt_loads *l, const struct vt_record *rec, struct vt_error *err)
{
	uint64_t ip = vt_record_u64(rec, VT_SAMPLE_IP);
	struct vt_load_outcome outcome;
	const struct vt_map *m;
	struct load_key key;
	struct load_count *n;

	if (!is_load_sample(l, rec) || !get_load_outcome(rec, &outcome) ||
	    !(outcome.cache_known || outcome.tlb_known))
		return 0;
	m = vt_addrspace_find(vt_context_space(l->context),
			      (int32_t)vt_record_i64(rec, VT_SAMPLE_PID), ip,
			      vt_record_u64(rec, VT_SAMPLE_MISC) & VT_MISC_CPUMODE);
	if (!m)
		return 0;
	key = (struct load_key){m->image, vt_map_offset(m, ip),
				vt_record_u64(rec, VT_SAMPLE_EVENT)};
	n = vt_hash_add(&l->counts, &key, NULL);
	if (!n)
		return vt_error_nomem(err);
	n->cache_known += outcome.cache_known;
	n->cache_missed += outcome.cache_missed;
	n->tlb_known += outcome.tlb_known;
	n->tlb_missed += outcome.tlb_missed;
	return 0;
}

int vt_loads_feed(void *loads, const struct vt_record *rec, struct vt_error *err)
{
	return rec->kind == VT_EVENT	? take_event(loads, rec, err)
	       : rec->kind == VT_SAMPLE ? take_sample(loads, rec, err)
					: 0;
}

/* ---- records ---- */

static int compare_counts(const void *va, const void *vb)
{
	const struct load_key *a = &((const struct load_count *)va)->key;
	const struct load_key *b = &((const struct load_count *)vb)->key;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return (a->event > b->event) - (a->event < b->event);
}

/* The table is not asked any more, so that its entries may be put in order. */
void vt_loads_write(struct vt_loads *l, struct vt_writer *w)
{
	size_t i;

	if (l->counts.count)
		qsort(l->counts.entries, l->counts.count, sizeof(struct load_count),
		      compare_counts);
	for (i = 0; i < l->counts.count; i++) {
		const struct load_count *n = vt_hash_at(&l->counts, i);
		uint64_t *row = vt_writer_row(w, VT_LOADS);

		row[VT_LOADS_IMAGE] = n->key.image;
		row[VT_LOADS_OFFSET] = n->key.offset;
		row[VT_LOADS_EVENT] = n->key.event;
		row[VT_LOADS_CACHE_KNOWN] = n->cache_known;
		row[VT_LOADS_CACHE_MISSED] = n->cache_missed;
		row[VT_LOADS_TLB_KNOWN] = n->tlb_known;
		row[VT_LOADS_TLB_MISSED] = n->tlb_missed;
	}
}
