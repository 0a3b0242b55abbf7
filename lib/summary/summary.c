/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "summary/summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define MISC_EXACT_IP (UINT64_C(1) << 14) /* PERF_RECORD_MISC_EXACT_IP */
#define MIB	      (UINT64_C(1) << 20)

/* An instruction.  Several blocks may contain it. */
struct insn_place {
	int64_t pid;
	uint64_t addr;
};

struct thread_key {
	int64_t pid;
	int64_t tid;
};

/* The entry of a key.  NULL when memory runs out, or if there are too many (`capped`). */
static void *add_capped_entry(struct vt_summary *s, struct vt_hash *h, const void *key)
{
	if (h->count < VT_SUMMARY_MAX)
		return vt_hash_add(h, key, NULL);
	s->capped = true;
	return vt_hash_find(h, key);
}

static bool is_entry_lost(const struct vt_summary *s, const struct vt_hash *h, const void *e)
{
	return !e && !(s->capped && h->count >= VT_SUMMARY_MAX);
}

/* Neighbouring records mostly have the same thread: skip the one added last. */
static bool add_threads(struct vt_summary *s, const struct vt_block *b, uint32_t first,
			uint32_t count)
{
	struct vt_record rec = {b, b->kind, first};
	int pid = vt_schema_find_field(b->desc, "pid");
	int tid = vt_schema_find_field(b->desc, "tid");
	struct thread_key last = {-1, -1};

	if (pid < 0 || tid < 0)
		return true;
	for (; rec.row < first + count; rec.row++) {
		struct thread_key t = {vt_record_i64(&rec, (unsigned)pid),
				       vt_record_i64(&rec, (unsigned)tid)};

		if (t.pid < 0 || t.tid < 0 || (t.pid == last.pid && t.tid == last.tid))
			continue;
		last = t;
		if (is_entry_lost(s, &s->threads, add_capped_entry(s, &s->threads, &t)) ||
		    is_entry_lost(s, &s->processes, add_capped_entry(s, &s->processes, &t.pid)))
			return false;
	}
	return true;
}

static void add_times(struct vt_summary *s, const struct vt_block *b, uint32_t first,
		      uint32_t count)
{
	struct vt_record rec = {b, b->kind, first};
	int time = vt_schema_find_field(b->desc, "time");

	if (time < 0)
		return;
	for (; rec.row < first + count; rec.row++) {
		uint64_t t = vt_record_u64(&rec, (unsigned)time);

		/* Mappings and threads from before the recording have no time. */
		if (!t)
			continue;
		if (!s->timed || t < s->first_time)
			s->first_time = t;
		if (!s->timed || t > s->last_time)
			s->last_time = t;
		s->timed = true;
	}
}

static bool add_sample_totals(struct vt_summary *s, const struct vt_block *b, uint32_t first,
			      uint32_t count)
{
	struct vt_record rec = {b, b->kind, first};
	bool counts = b->kind == VT_COUNT;
	struct vt_event_total *e = NULL;

	for (; rec.row < first + count; rec.row++) {
		uint64_t id = vt_record_u64(&rec, counts ? VT_COUNT_EVENT : VT_SAMPLE_EVENT);

		if (!e || e->id != id)
			e = add_capped_entry(s, &s->events, &id);
		if (is_entry_lost(s, &s->events, e))
			return false;
		if (!e)
			continue;
		e->samples += counts ? vt_record_u64(&rec, VT_COUNT_SAMPLES) : 1;
		e->period += vt_record_u64(&rec, counts ? VT_COUNT_PERIOD : VT_SAMPLE_PERIOD);
		e->exact_ip +=
			!counts && (vt_record_u64(&rec, VT_SAMPLE_MISC) & MISC_EXACT_IP) != 0;
	}
	return true;
}

static bool add_loss_record(struct vt_summary *s, const struct vt_record *rec)
{
	bool gap = rec->kind == VT_GAP;
	struct vt_hash *h = gap ? &s->gaps : &s->lost;
	struct vt_bytes why = vt_record_bytes(rec, gap ? VT_GAP_REASON : VT_LOST_SOURCE);
	uint64_t text = vt_intern_add(s->strings, why.data, why.size);
	struct vt_loss_total *l = text == UINT32_MAX ? NULL : add_capped_entry(s, h, &text);

	if (!l)
		return !is_entry_lost(s, h, l);
	l->places++;
	l->bytes += gap ? vt_record_u64(rec, VT_GAP_BYTES) : 0;
	l->records += vt_record_u64(rec, gap ? VT_GAP_RECORDS : VT_LOST_COUNT);
	return true;
}

/* A fact that is longer than a record comes in several with the same key. */
static bool add_fact(struct vt_summary *s, const struct vt_record *rec)
{
	struct vt_bytes key = vt_record_bytes(rec, VT_META_KEY);
	struct vt_bytes value = vt_record_bytes(rec, VT_META_VALUE);
	struct vt_fact f = {vt_intern_add(s->strings, key.data, key.size),
			    vt_intern_add(s->strings, value.data, value.size),
			    vt_record_bytes(rec, VT_META_DATA).size};
	struct vt_fact *last = s->nfacts ? &s->facts[s->nfacts - 1] : NULL;

	if (f.key == UINT32_MAX || f.value == UINT32_MAX)
		return false;
	if (last && last->key == f.key && last->value == f.value) {
		last->bytes += f.bytes;
		return true;
	}
	if (s->nfacts == VT_SUMMARY_MAX) {
		s->capped = true;
		return true;
	}
	if (!vt_array_grow(&s->facts, &s->facts_cap, s->nfacts + 1, sizeof(*s->facts)))
		return false;
	s->facts[s->nfacts++] = f;
	return true;
}

/* ---- missing code ---- */

static bool add_missing(struct vt_summary *s, const struct vt_record *rec)
{
	struct vt_bytes reason = vt_record_bytes(rec, VT_GAP_REASON);
	uint64_t place = vt_record_u64(rec, VT_GAP_ADDR);
	struct vt_missing_range key = {.image = VT_MISSING_UNMAPPED, .mib = place & ~(MIB - 1)}, *r;
	const struct vt_map *map;
	bool added;

	/* Other gaps have addresses, too: of bytes that are not instructions. */
	if (!place || reason.size != strlen(VT_REASON_NO_CODE) ||
	    memcmp(reason.data, VT_REASON_NO_CODE, reason.size) != 0)
		return true;
	map = vt_addrspace_find(vt_context_space(s->context),
				(int32_t)vt_record_i64(rec, VT_GAP_PID), place, 0);
	if (map) {
		key = (struct vt_missing_range){.image = map->image};
		place = vt_map_offset(map, place);
	}
	if (s->missing.count >= VT_MISSING_RANGES && !vt_hash_find(&s->missing, &key))
		return true;
	r = vt_hash_add(&s->missing, &key, &added);
	if (!r)
		return false;
	r->places++;
	r->bytes += vt_record_u64(rec, VT_GAP_BYTES);
	r->first = added || place < r->first ? place : r->first;
	r->last = place > r->last ? place : r->last;
	return true;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct vt_missing_range *x = a, *y = b;

	if (x->places != y->places)
		return x->places < y->places ? 1 : -1;
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return x->mib < y->mib ? -1 : x->mib > y->mib;
}

struct vt_missing_range *vt_summary_missing(const struct vt_summary *s)
{
	struct vt_missing_range *list = malloc((s->missing.count + 1) * sizeof(*list));
	size_t i;

	for (i = 0; list && i < s->missing.count; i++)
		list[i] = *(const struct vt_missing_range *)vt_hash_at(&s->missing, i);
	if (list)
		qsort(list, s->missing.count, sizeof(*list), compare_ranges);
	return list;
}

/* ---- executed code ---- */

static void add_value_total(struct vt_executed_code *e, uint64_t what, uint64_t count,
			    uint64_t size)
{
	struct vt_value_total *v = &e->values[what < VT_NWHATS ? what : VT_WHAT_UNKNOWN];

	v->count += count;
	v->bytes += count * size;
}

/* Returns false when memory runs out. */
static bool add_executed_block(struct vt_executed_code *e, const struct vt_bblock *b,
			       struct vt_hash *places)
{
	struct insn_place p = {.pid = b->pid, .addr = b->addr};
	bool any = false;
	uint32_t i;

	for (i = 0; i < b->ninsns; i++) {
		if (vt_execcount_of(e->count, b->id, i)) {
			any = true;
			if (!vt_hash_add(places, &p, NULL))
				return false;
		}
		p.addr += b->lengths[i];
	}
	for (i = 0; i < b->nslots; i++)
		add_value_total(e, b->slots[i].what,
				vt_execcount_of(e->count, b->id, b->slots[i].insn),
				b->slots[i].size);
	e->blocks += any;
	if (b->ninsns && b->end < VT_NENDS)
		e->ends[b->end] += vt_execcount_of(e->count, b->id, b->ninsns - 1);
	return true;
}

static bool count_executed(struct vt_summary *s)
{
	const struct vt_bblocks *dict = vt_context_blocks(s->context);
	struct vt_hash places;
	bool ok = true;
	uint64_t id;

	vt_hash_init(&places, sizeof(struct insn_place), sizeof(struct insn_place));
	for (id = 0; id < vt_bblocks_end(dict) && ok; id++) {
		const struct vt_bblock *b = vt_bblocks_get(dict, id);

		if (b)
			ok = add_executed_block(&s->executed, b, &places);
	}
	s->executed.insns = places.count;
	vt_hash_fini(&places);
	return ok;
}

/* ---- decoded traces ---- */

static void extend_span(struct vt_trace_span *s, uint64_t tsc)
{
	if (!tsc)
		return;
	if (!s->known || tsc < s->first_tsc)
		s->first_tsc = tsc;
	if (!s->known || tsc > s->last_tsc)
		s->last_tsc = tsc;
	s->known = true;
}

/*
 * The cycle counter continues from one record of a thread to the next.  Records of another thread
 * in between may come from another trace, which has its own counter.
 */
static void add_trace_cycles(struct vt_decoded_trace *d, const struct vt_record *rec)
{
	uint64_t cycles = vt_record_u64(rec, VT_EXEC_CYCLES);
	struct vt_words tsc = vt_record_words(rec, VT_EXEC_TIME_TSC);
	struct vt_words marks = vt_record_words(rec, VT_EXEC_TIME_CYCLES);
	int64_t tid = vt_record_i64(rec, VT_EXEC_TID);
	uint64_t last = marks.count ? marks.data[marks.count - 1] : cycles;

	extend_span(&d->span, vt_record_u64(rec, VT_EXEC_TSC));
	if (tsc.count)
		extend_span(&d->span, tsc.data[tsc.count - 1]);
	if (d->last_tid == tid && d->last_cycles <= cycles)
		cycles = d->last_cycles;
	if (last > cycles)
		d->cycles += last - cycles;
	d->last_tid = tid;
	d->last_cycles = last;
}

static void add_trace(struct vt_decoded_trace *d, const struct vt_record *rec)
{
	uint64_t event = vt_record_u64(rec, VT_TRACE_EVENT);

	if (event < VT_NTRACES)
		d->events[event]++;
	d->nevents++;
	extend_span(&d->span, vt_record_u64(rec, VT_TRACE_TSC));
}

static bool add_packets(struct vt_decoded_trace *d, const struct vt_record *rec)
{
	struct vt_bytes name = vt_record_bytes(rec, VT_PACKETS_NAME);
	uint64_t id = vt_intern_add(d->strings, name.data, name.size);
	struct vt_packet_total *sum;

	if (!name.size)
		d->bytes += vt_record_u64(rec, VT_PACKETS_BYTES);
	if (id == UINT32_MAX)
		return false;
	if (d->packets.count >= VT_PACKET_NAMES && !vt_hash_find(&d->packets, &id))
		return true;
	sum = vt_hash_add(&d->packets, &id, NULL);
	if (!sum)
		return false;
	sum->count += vt_record_u64(rec, VT_PACKETS_COUNT);
	sum->bytes += vt_record_u64(rec, VT_PACKETS_BYTES);
	return true;
}

/* ---- memory profiles ---- */

/* Settings are those of the first record: there is one in a profile. */
static void add_accesses(struct vt_memory_profile *m, const struct vt_record *rec)
{
	if (!m->told) {
		m->grain = vt_record_u64(rec, VT_ACCESSES_GRAIN);
		m->depth = vt_record_u64(rec, VT_ACCESSES_DEPTH);
	}
	m->told = true;
	m->insns += vt_record_u64(rec, VT_ACCESSES_INSNS);
	m->samples += vt_record_u64(rec, VT_ACCESSES_SAMPLES);
	m->loads += vt_record_u64(rec, VT_ACCESSES_LOADS);
	m->stores += vt_record_u64(rec, VT_ACCESSES_STORES);
	m->objects_left_out += vt_record_u64(rec, VT_ACCESSES_OBJECTS_LEFT_OUT);
}

static void add_object(struct vt_memory_profile *m, const struct vt_record *rec)
{
	uint64_t type = vt_record_u64(rec, VT_OBJECT_TYPE);

	m->nobjects++;
	if (type < VT_NOBJECTTYPES)
		m->objects[type]++;
	m->locations_left_out += vt_record_u64(rec, VT_OBJECT_LEFT_OUT);
	m->accesses_left_out += vt_record_u64(rec, VT_OBJECT_LEFT_OUT_ACCESSES);
}

/* ---- records ---- */

/* Takes a record of a kind that is not taken in runs. */
static bool summarise_record(struct vt_summary *s, const struct vt_record *rec)
{
	switch (rec->kind) {
	case VT_TRACE:
		add_trace(&s->trace, rec);
		return true;
	case VT_ACCESSES:
		add_accesses(&s->memory, rec);
		return true;
	case VT_OBJECT:
		add_object(&s->memory, rec);
		return true;
	case VT_LOCATION:
		s->memory.locations++;
		return true;
	case VT_PACKETS:
		return add_packets(&s->trace, rec);
	case VT_GAP:
		return add_loss_record(s, rec) && add_missing(s, rec);
	case VT_LOST:
		return add_loss_record(s, rec);
	case VT_META:
		return add_fact(s, rec) && vt_names_feed(&s->names, rec);
	case VT_EVENT:
	case VT_IMAGE:
		return vt_names_feed(&s->names, rec);
	case VT_VALUE:
		add_value_total(&s->executed, vt_record_u64(rec, VT_VALUE_WHAT), 1,
				vt_record_u64(rec, VT_VALUE_SIZE));
		return true;
	default:
		return true;
	}
}

/* Counts a record that contradicts itself as bad. */
static int count_executed_record(struct vt_summary *s, const struct vt_record *rec,
				 struct vt_error *err)
{
	int code;

	if (rec->kind == VT_EXEC)
		add_trace_cycles(&s->trace, rec);
	code = rec->kind == VT_BLOCK ? vt_context_refused(s->context, err)
				     : vt_execcount_exec(s->executed.count, rec, err);
	s->executed.bad += code == -VT_E_FORMAT;
	return code == -VT_E_FORMAT ? 0 : code;
}

/* The context's consumer. */
static int summarise_rows(void *summary, const struct vt_block *b, uint32_t first, uint32_t count,
			  struct vt_error *err)
{
	struct vt_summary *s = summary;
	struct vt_record rec = {b, b->kind, first};
	int code = 0;

	if (b->kind == VT_SAMPLE && !vt_followed_add(&s->followed, b, first, count, VT_SUMMARY_MAX))
		return vt_error_nomem(err);
	if (b->kind == VT_SAMPLE)
		vt_walks_add(s->walks, b, first, count);
	if (b->kind == VT_SAMPLE || b->kind == VT_COUNT)
		return add_sample_totals(s, b, first, count) ? 0 : vt_error_nomem(err);
	for (; rec.row < first + count && code == 0; rec.row++) {
		if (b->kind == VT_BLOCK || b->kind == VT_EXEC)
			code = count_executed_record(s, &rec, err);
		else if (!summarise_record(s, &rec))
			code = vt_error_nomem(err);
	}
	return code;
}

int vt_summary_init(struct vt_summary *s, const struct vt_schema *schema, struct vt_error *err)
{
	*s = (struct vt_summary){.nkinds = schema->nkinds};
	vt_hash_init(&s->events, sizeof(struct vt_event_total), sizeof(uint64_t));
	vt_followed_init(&s->followed);
	vt_hash_init(&s->gaps, sizeof(struct vt_loss_total), sizeof(uint64_t));
	vt_hash_init(&s->lost, sizeof(struct vt_loss_total), sizeof(uint64_t));
	vt_hash_init(&s->threads, sizeof(struct thread_key), sizeof(struct thread_key));
	vt_hash_init(&s->processes, sizeof(int64_t), sizeof(int64_t));
	vt_hash_init(&s->missing, sizeof(struct vt_missing_range), 2 * sizeof(uint64_t));
	vt_hash_init(&s->trace.packets, sizeof(struct vt_packet_total), sizeof(uint64_t));
	s->kinds = calloc(s->nkinds + 1, sizeof(*s->kinds));
	s->strings = vt_intern_new();
	s->trace.strings = vt_intern_new();
	s->context = vt_context_new(NULL);
	if (s->context)
		s->executed.count = vt_execcount_new(vt_context_blocks(s->context));
	if (!vt_names_init(&s->names) || !s->executed.count || !s->kinds || !s->strings ||
	    !s->trace.strings)
		return vt_error_nomem(err);
	vt_context_add(s->context, &(struct vt_consumer){.take = summarise_rows, .arg = s});
	return 0;
}

void vt_summary_fini(struct vt_summary *s)
{
	vt_hash_fini(&s->events);
	vt_hash_fini(&s->followed);
	vt_hash_fini(&s->gaps);
	vt_hash_fini(&s->lost);
	vt_hash_fini(&s->threads);
	vt_hash_fini(&s->processes);
	vt_names_fini(&s->names);
	vt_hash_fini(&s->missing);
	vt_hash_fini(&s->trace.packets);
	vt_intern_free(s->trace.strings);
	vt_execcount_free(s->executed.count);
	vt_context_free(s->context);
	vt_intern_free(s->strings);
	free(s->kinds);
	free(s->facts);
}

int vt_summary_feed(struct vt_summary *s, const struct vt_block *b, uint32_t first, uint32_t count,
		    struct vt_error *err)
{
	s->records += count;
	s->kinds[b->kind] += count;
	add_times(s, b, first, count);
	if (!add_threads(s, b, first, count))
		return vt_error_nomem(err);
	return vt_context_feed(s->context, b, first, count, err);
}

int vt_summary_finish(struct vt_summary *s, struct vt_error *err)
{
	size_t i;

	for (i = 0; i < s->events.count; i++)
		if (!vt_hash_add(&s->names.events, vt_hash_at(&s->events, i), NULL))
			return vt_error_nomem(err);
	return count_executed(s) ? 0 : vt_error_nomem(err);
}

struct vt_event_total vt_summary_of_event(const struct vt_summary *s, uint64_t id)
{
	const struct vt_event_total *e = vt_hash_find(&s->events, &id);

	return e ? *e : (struct vt_event_total){.id = id};
}

struct vt_loss_total vt_summary_loss_sum(const struct vt_hash *losses)
{
	struct vt_loss_total sum = {0, 0, 0, 0};
	size_t i;

	for (i = 0; i < losses->count; i++) {
		const struct vt_loss_total *l = vt_hash_at(losses, i);

		sum.places += l->places;
		sum.bytes += l->bytes;
		sum.records += l->records;
	}
	return sum;
}
