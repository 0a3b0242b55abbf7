/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples with data addresses: what PEBS, IBS, SPE and models tell of single accesses. */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "image/images.h"
#include "memory/memory_internal.h"

/* Whether a mapping without file has this name, as linux calls it: "[stack]", "[heap]". */
static bool is_map_named(struct vt_memory *m, const struct vt_map *map, const char *name)
{
	const struct vt_image *image =
		map && m->o.images ? vt_images_get(m->o.images, map->image) : NULL;

	return image && strncmp(image->path, name, strlen(name)) == 0;
}

/* Samples do not tell of frames: on a stack, the procedure that accesses it is the object. */
static bool resolve_sample(struct vt_memory *m, struct vti_memory_process *p,
			   struct vti_memory_thread *t, uint64_t ip, uint64_t address,
			   struct vti_memory_at *at)
{
	const struct vt_map *map = vti_memory_map(m, p, address);
	struct vti_object_key key;

	*at = (struct vti_memory_at){.low = address & ~UINT64_C(7)};
	at->high = at->low + 8;
	if (is_map_named(m, map, "[stack"))
		return vti_memory_procedure(m, p, ip, at);
	if (is_map_named(m, map, "[heap]") && !vti_memory_instance(m, p, address)) {
		vti_object_key_init(&key, VT_OBJECT_FREE);
		at->object = vti_objects_get(&m->objects, &key);
		return at->object != VTI_NO_OBJECT;
	}
	if (!vti_memory_resolve(m, p, t, address, at))
		return false;
	if (m->objects.list[at->object].type != VT_OBJECT_STACK)
		return true;
	*at = (struct vti_memory_at){.low = address & ~UINT64_C(7)};
	at->high = at->low + 8;
	return vti_memory_procedure(m, p, ip, at);
}

static void add_sampled(struct vt_memory_sampled *s, const struct vt_record *rec)
{
	uint64_t has = vt_record_u64(rec, VT_SAMPLE_PM_HAS);
	uint64_t source = vt_record_u64(rec, VT_SAMPLE_SOURCE);
	uint64_t told = vt_record_u64(rec, VT_SAMPLE_EVENTS_TOLD);

	s->samples++;
	if (has & VT_PM_BIT(LAT_LOAD)) {
		s->latency += vt_record_u64(rec, VT_SAMPLE_LAT_LOAD);
		s->latencies++;
	}
	if (has & VT_PM_BIT(SOURCE) && source < VT_NSOURCES)
		s->sources[source]++;
	s->tlb_told += told >> VT_PM_DTLB_MISS & 1;
	s->tlb_misses += vt_record_u64(rec, VT_SAMPLE_EVENTS) >> VT_PM_DTLB_MISS & 1;
}

/* What a sample did: bits 1 << VT_PM_LOAD and VT_PM_STORE. */
static uint64_t sample_events(const struct vt_record *rec)
{
	const uint64_t either = VT_PM_EVENT(LOAD) | VT_PM_EVENT(STORE);

	if (!(vt_record_u64(rec, VT_SAMPLE_HAS) & PERF_SAMPLE_ADDR) ||
	    !(vt_record_u64(rec, VT_SAMPLE_PM_HAS) & VT_PM_BIT(EVENTS)) ||
	    !vt_record_u64(rec, VT_SAMPLE_ADDR))
		return 0;
	return vt_record_u64(rec, VT_SAMPLE_EVENTS) & either;
}

static void add_access(struct vt_memory_counts *c, uint64_t events, uint64_t width)
{
	bool loads = events & VT_PM_EVENT(LOAD), stores = events & VT_PM_EVENT(STORE);

	c->loads += loads;
	c->stores += stores;
	c->loaded += loads ? width : 0;
	c->stored += stores ? width : 0;
}

/* ---- locations by instruction ---- */

/* An instruction's accesses to an object, for a grain of 0.  The key has no padding. */
struct code_key {
	uint64_t code; /* offset in the image */
	int64_t offset;
	uint32_t image;
	uint8_t exact;
	uint8_t loads;
	uint8_t stores;
	uint8_t object_type;
};

struct code_entry {
	struct code_key key;
	uint64_t index; /* of the location in its object */
};

void vti_memory_samples_init(struct vt_memory *m)
{
	vt_hash_init(&m->sampled, sizeof(struct code_entry), sizeof(struct code_key));
}

/* Whether the sample is of the instruction at its address, not of one near it.  -1: no memory. */
static int is_exact(struct vt_memory *m, const struct vt_record *rec)
{
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_event *e =
		vt_context_event(m->context, vt_record_u64(rec, VT_SAMPLE_EVENT), &err);

	if (!e)
		return -1;
	return (vt_record_u64(rec, VT_SAMPLE_HAS) & VT_HAS_IP) &&
	       (e->policy == VT_POLICY_MODEL ||
		(vt_record_u64(rec, VT_SAMPLE_MISC) & VT_MISC_EXACT_IP));
}

/* Where the type follows from the offset in the object. */
static bool has_offsets(const struct vt_memory_object *o)
{
	return o->type == VT_OBJECT_GLOBAL || o->type == VT_OBJECT_HEAP;
}

/* The location of an instruction's accesses to an object. */
static uint32_t find_code_location(struct vt_memory *m, struct vti_memory_process *p,
				   const struct vt_record *rec, uint64_t events,
				   const struct vti_memory_at *at)
{
	uint64_t ip = vt_record_u64(rec, VT_SAMPLE_IP);
	const struct vt_memory_object *o = &m->objects.list[at->object];
	const struct vt_map *map = vti_memory_map(m, p, ip);
	const int exact = is_exact(m, rec);
	const struct code_key key = {
		.code = map ? vt_map_offset(map, ip) : ip,
		.offset = has_offsets(o) ? (int64_t)(vt_record_u64(rec, VT_SAMPLE_ADDR) - at->base)
					 : 0,
		.image = map ? map->image : VT_UNMAPPED_IMAGE,
		.exact = exact == 1,
		.loads = (events & VT_PM_EVENT(LOAD)) != 0,
		.stores = (events & VT_PM_EVENT(STORE)) != 0,
		.object_type = (uint8_t)o->type,
	};
	struct vt_memory_location *l;
	struct code_entry *e;
	uint32_t location;
	bool added;

	e = exact < 0 ? NULL : vt_hash_add(&m->sampled, &key, &added);
	if (!e)
		return VTI_NO_LOCATION;
	if (added)
		e->index = VTI_NEAR_LOCATIONS + m->nsampled++;
	location = vti_objects_location(&m->objects, at->object, e->index, key.offset);
	if (location == VTI_NO_LOCATION)
		return location;
	l = &m->objects.locations[location];
	if (!l->sampled) {
		l->sampled = calloc(1, sizeof(*l->sampled));
		if (!l->sampled)
			return VTI_NO_LOCATION;
		l->sampled->place = (struct vt_memory_place){key.code, key.image};
		l->sampled->exact = key.exact;
		l->sampled->loads = key.loads;
		l->sampled->stores = key.stores;
	}
	add_sampled(&l->sampled->of, rec);
	return location;
}

static uint32_t find_sample_location(struct vt_memory *m, struct vti_memory_process *p,
				     const struct vt_record *rec, uint64_t events,
				     const struct vti_memory_at *at)
{
	uint64_t grain = m->o.grain, index;

	if (!grain)
		return find_code_location(m, p, rec, events, at);
	index = (vt_record_u64(rec, VT_SAMPLE_ADDR) - at->base) / grain;
	return vti_objects_location(&m->objects, at->object, index, (int64_t)(index * grain));
}

static bool count_sample(struct vt_memory *m, struct vti_memory_process *p,
			 const struct vt_record *rec, uint64_t events,
			 const struct vti_memory_at *at)
{
	uint64_t width = vt_record_u64(rec, VT_SAMPLE_WIDTH);
	uint32_t location = find_sample_location(m, p, rec, events, at);
	struct vt_memory_location *l;
	struct vt_memory_object *o;

	if (location == VTI_NO_LOCATION)
		return false;
	l = &m->objects.locations[location];
	o = &m->objects.list[at->object];
	if (width <= (m->o.grain ? 8 : UINT8_MAX) && width > l->size)
		l->size = (uint8_t)width;
	add_access(&l->counts, events, width);
	add_access(&o->counts, events, width);
	add_access(&m->totals.counts, events, width);
	if (vt_record_u64(rec, VT_SAMPLE_PM_HAS) & VT_PM_BIT(LAT_LOAD)) {
		l->latency += vt_record_u64(rec, VT_SAMPLE_LAT_LOAD);
		l->latencies++;
	}
	add_sampled(&o->sampled, rec);
	add_sampled(&m->totals.sampled, rec);
	return true;
}

static bool share_sample(struct vt_memory *m, const struct vt_record *rec, uint64_t events,
			 const struct vti_memory_at *at)
{
	uint64_t address = vt_record_u64(rec, VT_SAMPLE_ADDR);
	uint64_t width = vt_record_u64(rec, VT_SAMPLE_WIDTH), left = 64 - (address & 63);
	const struct vti_line_access a = {
		.pid = vt_record_i64(rec, VT_SAMPLE_PID),
		.tid = vt_record_i64(rec, VT_SAMPLE_TID),
		.addr = address,
		.size = (uint32_t)(!width	  ? 1
				   : width < left ? width
						  : left),
		.object = at->object,
		.offset = (int64_t)(address - at->base),
		.store = events & VT_PM_EVENT(STORE),
	};

	return vti_sharing_access(&m->sharing, &a);
}

int vti_memory_sample(struct vt_memory *m, const struct vt_record *rec, struct vt_error *err)
{
	uint64_t address = vt_record_u64(rec, VT_SAMPLE_ADDR), events = sample_events(rec);
	struct vti_memory_process *p = vti_memory_process(m, vt_record_i64(rec, VT_SAMPLE_PID));
	struct vti_memory_thread *t =
		p ? vti_memory_thread(p, vt_record_i64(rec, VT_SAMPLE_TID)) : NULL;
	struct vti_memory_at at;
	int code;

	if (!t)
		return vt_error_nomem(err);
	m->totals.samples++;
	if (!events)
		return 0;
	/* Samples tell no position in the executed code: allocations count as they come. */
	code = vti_memory_heap_until(m, p, UINT64_MAX, err);
	if (code < 0)
		return code;
	if (m->objects.nlocations >= m->o.limit) {
		if (!vti_memory_drop(m))
			return vt_error_nomem(err);
		vt_hash_clear(&m->sampled);
	}
	if (!resolve_sample(m, p, t, vt_record_u64(rec, VT_SAMPLE_IP), address, &at) ||
	    !count_sample(m, p, rec, events, &at) ||
	    (m->o.sharing && !share_sample(m, rec, events, &at)))
		return vt_error_nomem(err);
	return 0;
}
