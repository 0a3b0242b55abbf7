/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "memory/records.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "memory/cells.h"
#include "memory/records_internal.h"

/* The bytes of a location at most: those of `read` and `written`. */
#define LARGEST_GRAIN 8

/* A number of a record, and where it is in a struct. */
struct number {
	unsigned field;
	size_t at;
	bool most; /* of two, the higher one counts, not the sum */
};

#define NUMBER(kind, name, type, member)                                                           \
	{                                                                                          \
		.field = VT_##kind##_##name, .at = offsetof(struct type, member)                   \
	}

#define COUNT_NUMBERS(kind, type)                                                                  \
	NUMBER(kind, LOADS, type, counts.loads), NUMBER(kind, STORES, type, counts.stores),        \
		NUMBER(kind, LOADED, type, counts.loaded),                                         \
		NUMBER(kind, STORED, type, counts.stored), NUMBER(kind, ZERO, type, counts.zero),  \
		NUMBER(kind, REDUNDANT, type, counts.redundant),                                   \
		NUMBER(kind, SILENT, type, counts.silent), NUMBER(kind, DEAD, type, counts.dead),  \
		NUMBER(kind, MISSES, type, counts.misses), NUMBER(kind, WAITS, type, counts.waits)

#define SAMPLED_NUMBERS(kind, type)                                                                \
	NUMBER(kind, SAMPLED, type, sampled.samples),                                              \
		NUMBER(kind, LATENCY, type, sampled.latency),                                      \
		NUMBER(kind, LATENCIES, type, sampled.latencies),                                  \
		NUMBER(kind, TLB_MISSED, type, sampled.tlb_misses),                                \
		NUMBER(kind, TLB_KNOWN, type, sampled.tlb_told)

static const struct number total_numbers[] = {
	COUNT_NUMBERS(ACCESSES, vt_memory_totals),
	SAMPLED_NUMBERS(ACCESSES, vt_memory_totals),
	NUMBER(ACCESSES, INSNS, vt_memory_totals, insns),
	NUMBER(ACCESSES, SAMPLES, vt_memory_totals, samples),
	NUMBER(ACCESSES, INCOMPLETE, vt_memory_totals, incomplete),
	NUMBER(ACCESSES, HEAP_EVENTS, vt_memory_totals, heap_events),
	NUMBER(ACCESSES, UNKNOWN_FREES, vt_memory_totals, unknown_frees),
	NUMBER(ACCESSES, OVERLAPS, vt_memory_totals, overlaps),
	NUMBER(ACCESSES, FORGOTTEN, vt_memory_totals, forgotten),
	NUMBER(ACCESSES, UNREAD, vt_memory_totals, unread),
	NUMBER(ACCESSES, OBJECTS_LEFT_OUT, vt_memory_totals, objects_left_out),
};

static const struct number object_numbers[] = {
	COUNT_NUMBERS(OBJECT, vt_memory_object),
	SAMPLED_NUMBERS(OBJECT, vt_memory_object),
	NUMBER(OBJECT, INSTANCES, vt_memory_object, instances),
	NUMBER(OBJECT, FREED, vt_memory_object, freed),
	NUMBER(OBJECT, LIFETIME, vt_memory_object, lifetime),
	NUMBER(OBJECT, BYTES, vt_memory_object, bytes),
	NUMBER(OBJECT, LEFT_OUT, vt_memory_object, left_out),
	NUMBER(OBJECT, LEFT_OUT_ACCESSES, vt_memory_object, left_out_accesses),
	{VT_OBJECT_SIZE, offsetof(struct vt_memory_object, size), true},
	{VT_OBJECT_PEAK, offsetof(struct vt_memory_object, peak), true},
};

static const struct number location_numbers[] = {
	COUNT_NUMBERS(LOCATION, vt_memory_location),
	NUMBER(LOCATION, LATENCY, vt_memory_location, latency),
	NUMBER(LOCATION, LATENCIES, vt_memory_location, latencies),
};

#define NNUMBERS(list) (sizeof(list) / sizeof((list)[0]))

/* The object of an OBJECT record's id. */
struct vti_object_id {
	uint64_t id;
	uint64_t object;
};

static uint64_t *number_at(void *of, const struct number *n)
{
	return (uint64_t *)((char *)of + n->at);
}

static bool read_numbers(void *to, const struct number *list, size_t n, const struct vt_record *rec)
{
	size_t i;

	for (i = 0; i < n; i++) {
		uint64_t value = vt_record_u64(rec, list[i].field);

		if (value > VT_MEMRECORDS_MAX)
			return false;
		*number_at(to, &list[i]) = value;
	}
	return true;
}

static uint64_t join_number(const void *to, const void *from, const struct number *n)
{
	uint64_t a = *(const uint64_t *)((const char *)to + n->at);
	uint64_t b = *(const uint64_t *)((const char *)from + n->at);

	return !n->most ? a + b : a > b ? a : b;
}

/* Whether no sum is too high. */
static bool numbers_fit(const void *to, const void *from, const struct number *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (join_number(to, from, &list[i]) > VT_MEMRECORDS_MAX)
			return false;
	return true;
}

static void add_numbers(void *to, const void *from, const struct number *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		*number_at(to, &list[i]) = join_number(to, from, &list[i]);
}

static void put_numbers(uint64_t *row, const void *from, const struct number *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		row[list[i].field] = *(const uint64_t *)((const char *)from + list[i].at);
}

static bool read_sources(struct vt_memory_sampled *to, struct vt_words sources)
{
	uint64_t sum = 0;
	size_t i;

	if (sources.count > VT_NSOURCES || to->latencies > to->samples ||
	    to->tlb_told > to->samples || to->tlb_misses > to->tlb_told)
		return false;
	for (i = 0; i < sources.count; i++) {
		if (sources.data[i] > to->samples - sum)
			return false;
		to->sources[i] = sources.data[i];
		sum += sources.data[i];
	}
	return true;
}

static void add_sources(struct vt_memory_sampled *to, const struct vt_memory_sampled *from)
{
	size_t i;

	for (i = 0; i < VT_NSOURCES; i++)
		to->sources[i] += from->sources[i];
}

static bool counts_agree(const struct vt_memory_counts *c)
{
	return c->zero <= c->loads && c->redundant <= c->loads && c->silent <= c->stores &&
	       c->dead <= c->stored;
}

/* ---- life ---- */

struct vt_memrecords *vt_memrecords_new(struct vt_error *err)
{
	struct vt_memrecords *r = calloc(1, sizeof(*r));

	if (!r) {
		vt_error_nomem(err);
		return NULL;
	}
	vt_hash_init(&r->ids, sizeof(struct vti_object_id), sizeof(uint64_t));
	if (vti_objects_init(&r->objects, false, err) == 0)
		return r;
	vt_memrecords_free(r);
	return NULL;
}

void vt_memrecords_free(struct vt_memrecords *r)
{
	if (!r)
		return;
	vt_hash_fini(&r->ids);
	vti_objects_fini(&r->objects);
	free(r);
}

bool vt_memrecords_given(const struct vt_memrecords *r)
{
	return r->given;
}

/* ---- reading ---- */

static int refuse_record(const struct vt_record *rec, const char *why, struct vt_error *err)
{
	return vt_error_set(err, VT_E_FORMAT, "%s record: %s", rec->block->desc->name, why);
}

static int read_accesses(struct vt_memrecords *r, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_memory_totals *t = &r->totals;
	uint64_t grain = vt_record_u64(rec, VT_ACCESSES_GRAIN);
	struct vt_memory_totals read = {.insns = 0};

	if (r->given)
		return refuse_record(rec, "there was one before", err);
	if (!grain || grain > LARGEST_GRAIN || grain & (grain - 1))
		return refuse_record(rec, "locations have 1, 2, 4 or 8 bytes", err);
	if (!read_numbers(&read, total_numbers, NNUMBERS(total_numbers), rec) ||
	    !read_sources(&read.sampled, vt_record_words(rec, VT_ACCESSES_SOURCES)) ||
	    !counts_agree(&read.counts))
		return refuse_record(rec, "its numbers contradict each other", err);
	r->given = true;
	r->grain = grain;
	r->depth = vt_record_u64(rec, VT_ACCESSES_DEPTH);
	*t = read;
	t->misses_told = vt_record_u64(rec, VT_ACCESSES_MISSES_TOLD);
	return 0;
}

/*
 * Images without a build-id are known by their paths: in two builds of one, a place may be of
 * variables with different names.
 */
static uint64_t name_number(const void *name, size_t size)
{
	return size ? vt_hash_bytes(name, size) : 0;
}

/* Sets the type and the places of a key; false if they cannot be. */
static bool read_key(struct vti_object_key *key, const struct vt_record *rec)
{
	struct vt_words images = vt_record_words(rec, VT_OBJECT_IMAGES);
	struct vt_words offsets = vt_record_words(rec, VT_OBJECT_OFFSETS);
	uint64_t type = vt_record_u64(rec, VT_OBJECT_TYPE);
	size_t i;

	if (type >= VT_NOBJECTTYPES || images.count != offsets.count ||
	    images.count > VT_MEMORY_DEPTH)
		return false;
	if (!images.count && (type == VT_OBJECT_GLOBAL || type == VT_OBJECT_IMAGE))
		return false;
	vti_object_key_init(key, (enum vt_object_type)type);
	for (i = 0; i < images.count; i++) {
		if (images.data[i] > UINT32_MAX)
			return false;
		vti_object_key_add(key, (uint32_t)images.data[i], offsets.data[i]);
	}
	return true;
}

static int read_object(struct vt_memrecords *r, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_bytes name = vt_record_bytes(rec, VT_OBJECT_NAME);
	uint64_t id = vt_record_u64(rec, VT_OBJECT_ID);
	struct vt_memory_object read = {.size = 0}, *o;
	struct vti_object_key key;
	struct vti_object_id *e;
	uint32_t object;

	if (!read_key(&key, rec))
		return refuse_record(rec, "its type and places contradict each other", err);
	if (!read_numbers(&read, object_numbers, NNUMBERS(object_numbers), rec) ||
	    !read_sources(&read.sampled, vt_record_words(rec, VT_OBJECT_SOURCES)) ||
	    !counts_agree(&read.counts) || read.freed > read.instances)
		return refuse_record(rec, "its numbers contradict each other", err);
	if (vt_hash_find(&r->ids, &id))
		return refuse_record(rec, "there was one of this id before", err);
	key.name = name_number(name.data, name.size);
	object = vti_objects_get(&r->objects, &key);
	if (object == VTI_NO_OBJECT)
		return vt_error_nomem(err);
	o = &r->objects.list[object];
	if (!numbers_fit(o, &read, object_numbers, NNUMBERS(object_numbers)))
		return refuse_record(rec, "its numbers are too high", err);
	e = vt_hash_add(&r->ids, &id, NULL);
	if (!e)
		return vt_error_nomem(err);
	e->object = object;
	add_numbers(o, &read, object_numbers, NNUMBERS(object_numbers));
	add_sources(&o->sampled, &read.sampled);
	return vti_objects_name(&r->objects, object, (const char *)name.data, name.size)
		       ? 0
		       : vt_error_nomem(err);
}

/* Reads the list of values; *h has none if the record has none. */
static int read_values(struct vt_hot *h, const struct vt_record *rec, uint64_t loads,
		       struct vt_error *err)
{
	struct vt_words values = vt_record_words(rec, VT_LOCATION_VALUES);
	struct vt_words counts = vt_record_words(rec, VT_LOCATION_COUNTS);
	struct vt_words errors = vt_record_words(rec, VT_LOCATION_ERRORS);
	uint64_t capacity = vt_record_u64(rec, VT_LOCATION_CAPACITY), sum = 0;
	size_t i;
	int code;

	h->profiled = h->total = vt_record_u64(rec, VT_LOCATION_PROFILED);
	if (h->profiled > loads || capacity > VT_HOTLIST_MAX_ENTRIES || values.count > capacity ||
	    counts.count != values.count || errors.count != values.count)
		return refuse_record(rec, "its values contradict its counts", err);
	for (i = 0; i < counts.count; i++) {
		if (errors.data[i] > counts.data[i] || errors.data[i] > h->profiled ||
		    counts.data[i] - errors.data[i] > h->profiled - sum)
			return refuse_record(rec, "its values contradict its counts", err);
		sum += counts.data[i] - errors.data[i];
	}
	if (vt_hot_alloc(h, (uint32_t)values.count, true, err) < 0)
		return -(int)err->code;
	for (i = 0; i < values.count; i++) {
		h->values[i] = values.data[i];
		h->counts[i] = counts.data[i];
		h->errors[i] = errors.data[i];
	}
	h->capacity = (uint32_t)capacity;
	code = vt_hot_sort(h, err);
	return code == -VT_E_DAMAGED ? refuse_record(rec, "a value occurs twice", err) : code;
}

static bool offset_fits(const struct vt_memrecords *r, const struct vt_memory_object *o,
			int64_t offset)
{
	/* All others count from where the object begins. */
	return (o->type == VT_OBJECT_STACK || offset >= 0 || !o->nplaces) &&
	       (uint64_t)offset % r->grain == 0;
}

/* A number for each offset, for vti_objects_location(): those of stack frames are negative. */
static uint64_t location_index(int64_t offset, uint64_t grain)
{
	uint64_t up = (uint64_t)offset / grain, down = -(uint64_t)offset / grain;

	return offset < 0 ? 2 * down - 1 : 2 * up;
}

static int add_values(struct vt_memory_location *to, const struct vt_hot *hot, struct vt_error *err)
{
	struct vt_rng unused;

	if (!hot || !hot->capacity)
		return 0;
	if (to->known) {
		/* Only counting samples draw random numbers. */
		vt_rng_init(&unused, 1);
		return vt_hot_merge(to->known, hot, &unused, err);
	}
	to->known = calloc(1, sizeof(*to->known));
	return to->known ? vti_hot_copy(to->known, hot, err) : vt_error_nomem(err);
}

static int refuse_sum(struct vt_error *err)
{
	return vt_error_set(err, VT_E_LIMIT, "a sum of memory profiles is impossibly high");
}

/* Adds a location of `from`, whose object is one of `o`, and its values; `hot` may be NULL. */
static int add_location(struct vti_objects *o, const struct vt_memory_location *from,
			const struct vt_hot *hot, uint64_t grain, struct vt_error *err)
{
	uint32_t at = vti_objects_location(o, from->object, location_index(from->offset, grain),
					   from->offset);
	struct vt_memory_location *l;

	if (at == VTI_NO_LOCATION)
		return vt_error_nomem(err);
	l = &o->locations[at];
	if (!numbers_fit(l, from, location_numbers, NNUMBERS(location_numbers)))
		return refuse_sum(err);
	if (add_values(l, hot, err) < 0)
		return -(int)err->code;
	add_numbers(l, from, location_numbers, NNUMBERS(location_numbers));
	l->read |= from->read;
	l->written |= from->written;
	if (from->size > l->size)
		l->size = from->size;
	return 0;
}

static int read_location(struct vt_memrecords *r, const struct vt_record *rec, struct vt_error *err)
{
	uint64_t id = vt_record_u64(rec, VT_LOCATION_OBJECT);
	const struct vti_object_id *e = vt_hash_find(&r->ids, &id);
	uint64_t read = vt_record_u64(rec, VT_LOCATION_READ);
	uint64_t written = vt_record_u64(rec, VT_LOCATION_WRITTEN);
	uint64_t size = vt_record_u64(rec, VT_LOCATION_SIZE);
	struct vt_memory_location l = {.offset = vt_record_i64(rec, VT_LOCATION_OFFSET)};
	struct vt_hot hot = {.algo = VT_ALGO_SPACE_SAVING, .factor = 1, .scale = 1, .first = 1};
	int code;

	if (!r->given)
		return refuse_record(rec, "there are no totals (ACCESSES) before it", err);
	if (!e)
		return refuse_record(rec, "its object has no record before it", err);
	if (read > UINT8_MAX || written > UINT8_MAX || size > UINT8_MAX ||
	    !offset_fits(r, &r->objects.list[e->object], l.offset) ||
	    !read_numbers(&l, location_numbers, NNUMBERS(location_numbers), rec) ||
	    !counts_agree(&l.counts))
		return refuse_record(rec, "its numbers contradict each other", err);
	/* An access touches a location once. */
	if (l.counts.loads > r->totals.counts.loads || l.counts.stores > r->totals.counts.stores)
		return refuse_record(rec, "it has more accesses than there are", err);
	l.object = (uint32_t)e->object;
	l.read = (uint8_t)read;
	l.written = (uint8_t)written;
	l.size = (uint8_t)size;
	code = read_values(&hot, rec, l.counts.loads, err);
	if (code == 0)
		code = add_location(&r->objects, &l, &hot, r->grain, err);
	vt_hot_fini(&hot);
	return code == -VT_E_LIMIT || code == -VT_E_MISMATCH
		       ? refuse_record(rec, "it contradicts one before of the same place", err)
		       : code;
}

int vt_memrecords_feed(struct vt_memrecords *r, const struct vt_record *rec, struct vt_error *err)
{
	switch (rec->kind) {
	case VT_ACCESSES:
		return read_accesses(r, rec, err);
	case VT_OBJECT:
		return read_object(r, rec, err);
	case VT_LOCATION:
		return read_location(r, rec, err);
	default:
		return 0;
	}
}

bool vt_memrecords_depend_on_model(const struct vt_memrecords *r)
{
	return r->given && (!r->totals.insns || r->totals.misses_told);
}

static void raise_total(uint64_t *total, uint64_t sum, unsigned *raised)
{
	if (sum > *total) {
		*total = sum;
		*raised = 1;
	}
}

unsigned vt_memrecords_mend(struct vt_memrecords *r)
{
	struct vt_memory_counts *t = &r->totals.counts;
	uint64_t loads = 0, stores = 0, misses = 0;
	unsigned raised = 0;
	size_t i;

	for (i = 0; r->given && i < r->objects.count; i++) {
		const struct vt_memory_counts *c = &r->objects.list[i].counts;

		loads += c->loads;
		stores += c->stores;
		misses += c->misses;
	}
	raise_total(&t->loads, loads, &raised);
	raise_total(&t->stores, stores, &raised);
	raise_total(&t->misses, misses, &raised);
	return raised;
}

/* ---- adding ---- */

static int join_object(struct vti_objects *to, const struct vt_memory_object *from,
		       vt_memrecords_image_fn *image, void *arg, uint32_t *joined,
		       struct vt_error *err)
{
	struct vti_object_key key;
	const char *name = vt_memory_raw_name(from);
	uint32_t object, i, number;

	vti_object_key_init(&key, from->type);
	for (i = 0; i < from->nplaces; i++) {
		if (!image(arg, from->places[i].image, &number))
			return vt_error_nomem(err);
		vti_object_key_add(&key, number, from->places[i].offset);
	}
	key.name = name_number(name, strlen(name));
	object = vti_objects_get(to, &key);
	if (object == VTI_NO_OBJECT || !vti_objects_name(to, object, name, strlen(name)))
		return vt_error_nomem(err);
	if (!numbers_fit(&to->list[object], from, object_numbers, NNUMBERS(object_numbers)))
		return refuse_sum(err);
	add_numbers(&to->list[object], from, object_numbers, NNUMBERS(object_numbers));
	add_sources(&to->list[object].sampled, &from->sampled);
	*joined = object;
	return 0;
}

static int join_locations(struct vti_objects *to, const struct vt_memrecords *from,
			  const uint32_t *objects, struct vt_error *err)
{
	size_t i;
	int code = 0;

	for (i = 0; i < from->objects.nlocations && code == 0; i++) {
		struct vt_memory_location l = from->objects.locations[i];

		l.object = objects[l.object];
		code = add_location(to, &l, l.known, from->grain, err);
	}
	return code;
}

int vti_memrecords_add(struct vti_objects *objects, struct vt_memory_totals *totals,
		       const struct vt_memrecords *from, vt_memrecords_image_fn *image, void *arg,
		       struct vt_error *err)
{
	uint32_t *numbers = calloc(from->objects.count + 1, sizeof(*numbers));
	int code = numbers ? 0 : vt_error_nomem(err);
	size_t i;

	for (i = 0; i < from->objects.count && code == 0; i++) {
		code = join_object(objects, &from->objects.list[i], image, arg, &numbers[i], err);
		totals->left_out += from->objects.list[i].left_out;
	}
	if (code == 0)
		code = join_locations(objects, from, numbers, err);
	if (code == 0 &&
	    !numbers_fit(totals, &from->totals, total_numbers, NNUMBERS(total_numbers)))
		code = refuse_sum(err);
	add_numbers(totals, &from->totals, total_numbers, NNUMBERS(total_numbers));
	add_sources(&totals->sampled, &from->totals.sampled);
	totals->misses_told |= from->totals.misses_told;
	free(numbers);
	return code;
}

static int check_alike(const struct vt_memrecords *a, const struct vt_memrecords *b,
		       struct vt_error *err)
{
	if (a->grain != b->grain)
		return vt_error_set(err, VT_E_MISMATCH,
				    "its memory profile has locations of %" PRIu64
				    " bytes, those before of %" PRIu64 " (vmem --grain)",
				    b->grain, a->grain);
	if (a->depth != b->depth)
		return vt_error_set(err, VT_E_MISMATCH,
				    "its memory profile has allocations by %" PRIu64
				    " callers, those before by %" PRIu64 " (vmem --depth)",
				    b->depth, a->depth);
	if (a->totals.misses_told != b->totals.misses_told)
		return vt_error_set(err, VT_E_MISMATCH,
				    "of memory profiles, one has cache misses and one has not "
				    "(vsim --misses)");
	if (!a->totals.insns != !b->totals.insns)
		return vt_error_set(err, VT_E_MISMATCH,
				    "of memory profiles, one is of samples and one is not");
	return 0;
}

int vt_memrecords_join(struct vt_memrecords *to, const struct vt_memrecords *from,
		       vt_memrecords_image_fn *image, void *arg, struct vt_error *err)
{
	if (!from->given)
		return 0;
	if (to->given && check_alike(to, from, err) < 0)
		return -(int)err->code;
	to->given = true;
	to->grain = from->grain;
	to->depth = from->depth;
	return vti_memrecords_add(&to->objects, &to->totals, from, image, arg, err);
}

/* ---- writing ---- */

/* Objects that were accessed and are not written. */
static uint64_t count_left_out(const struct vti_memory_output *o)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; o->objects_kept && i < o->objects->count; i++) {
		const struct vt_memory_counts *c = &o->objects->list[o->objects->order[i]].counts;

		n += !o->objects_kept[i] && c->loads + c->stores;
	}
	return n;
}

static void put_totals(const struct vti_memory_output *o, struct vt_writer *w)
{
	uint64_t *row = vt_writer_row(w, VT_ACCESSES);

	row[VT_ACCESSES_GRAIN] = o->grain;
	row[VT_ACCESSES_DEPTH] = o->depth;
	row[VT_ACCESSES_MISSES_TOLD] = o->totals->misses_told;
	put_numbers(row, o->totals, total_numbers, NNUMBERS(total_numbers));
	row[VT_ACCESSES_OBJECTS_LEFT_OUT] += count_left_out(o);
	vt_writer_words(w, VT_ACCESSES_SOURCES, o->totals->sampled.sources, VT_NSOURCES);
}

static void put_object(const struct vt_memory_object *o, uint64_t id, struct vt_writer *w)
{
	uint64_t images[VT_MEMORY_DEPTH], offsets[VT_MEMORY_DEPTH];
	uint64_t *row = vt_writer_row(w, VT_OBJECT);
	uint32_t i;

	for (i = 0; i < o->nplaces; i++) {
		images[i] = o->places[i].image;
		offsets[i] = o->places[i].offset;
	}
	row[VT_OBJECT_ID] = id;
	row[VT_OBJECT_TYPE] = o->type;
	put_numbers(row, o, object_numbers, NNUMBERS(object_numbers));
	vt_writer_words(w, VT_OBJECT_IMAGES, images, o->nplaces);
	vt_writer_words(w, VT_OBJECT_OFFSETS, offsets, o->nplaces);
	vt_writer_text(w, VT_OBJECT_NAME, vt_memory_raw_name(o));
	vt_writer_words(w, VT_OBJECT_SOURCES, o->sampled.sources, VT_NSOURCES);
}

static int put_location(struct vti_objects *objects, const struct vt_memory_location *l,
			struct vt_hot *hot, struct vt_writer *w, struct vt_error *err)
{
	uint64_t *row = vt_writer_row(w, VT_LOCATION);

	row[VT_LOCATION_OBJECT] = l->object;
	row[VT_LOCATION_OFFSET] = (uint64_t)l->offset;
	row[VT_LOCATION_SIZE] = l->size;
	row[VT_LOCATION_READ] = l->read;
	row[VT_LOCATION_WRITTEN] = l->written;
	put_numbers(row, l, location_numbers, NNUMBERS(location_numbers));
	if (!vti_location_has_values(l))
		return 0;
	if (vti_location_values(objects, l, hot, err) < 0)
		return -(int)err->code;
	row[VT_LOCATION_PROFILED] = hot->profiled;
	row[VT_LOCATION_CAPACITY] = hot->capacity;
	vt_writer_words(w, VT_LOCATION_VALUES, hot->values, hot->nvalues);
	vt_writer_words(w, VT_LOCATION_COUNTS, hot->counts, hot->nvalues);
	vt_writer_words(w, VT_LOCATION_ERRORS, hot->errors, hot->nvalues);
	return 0;
}

/* Writes an object and its locations, which are those from `first` to before `end`. */
static int put_with_locations(const struct vti_memory_output *o, size_t rank, size_t first,
			      size_t end, struct vt_hot *hot, struct vt_writer *w,
			      struct vt_error *err)
{
	struct vt_memory_object object = o->objects->list[o->objects->order[rank]];
	const struct vt_memory_location *list = o->objects->locations;
	int code = 0;
	size_t i;

	for (i = first; i < end; i++) {
		if (o->kept && !o->kept[i]) {
			object.left_out++;
			object.left_out_accesses += list[i].counts.loads + list[i].counts.stores;
		}
	}
	put_object(&object, rank, w);
	for (i = first; i < end && code == 0; i++)
		if (!o->kept || o->kept[i])
			code = put_location(o->objects, &list[i], hot, w, err);
	return code;
}

int vti_memory_put(const struct vti_memory_output *o, struct vt_writer *w, struct vt_error *err)
{
	struct vt_hot hot = {.size = 0};
	size_t rank, at = 0, end;
	int code = 0;

	put_totals(o, w);
	for (rank = 0; rank < o->objects->count && code == 0; rank++, at = end) {
		for (end = at;
		     end < o->objects->nlocations && o->objects->locations[end].object == rank;
		     end++)
			;
		if (!o->objects_kept || o->objects_kept[rank])
			code = put_with_locations(o, rank, at, end, &hot, w, err);
	}
	vt_hot_fini(&hot);
	return code;
}

int vt_memrecords_write(struct vt_memrecords *r, vt_memrecords_image_fn *image, void *arg,
			struct vt_writer *w, struct vt_error *err)
{
	const struct vti_memory_output out = {
		.objects = &r->objects, .totals = &r->totals, .grain = r->grain, .depth = r->depth};
	size_t i;
	uint32_t k;

	if (!r->given)
		return 0;
	for (i = 0; i < r->objects.count; i++) {
		struct vt_memory_object *o = &r->objects.list[i];

		for (k = 0; k < o->nplaces; k++)
			if (!image(arg, o->places[k].image, &o->places[k].image))
				return vt_error_nomem(err);
	}
	if (vti_objects_rank(&r->objects, err) < 0)
		return -(int)err->code;
	return vti_memory_put(&out, w, err);
}
