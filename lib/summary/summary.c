/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "summary/summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define MISC_EXACT_IP (UINT64_C(1) << 14) /* PERF_RECORD_MISC_EXACT_IP */

struct thread {
	int64_t pid;
	int64_t tid;
};

int vt_summary_init(struct vt_summary *s, const struct vt_schema *schema, struct vt_error *err)
{
	bool ok;

	*s = (struct vt_summary){.nkinds = schema->nkinds};
	vt_hash_init(&s->events, sizeof(struct vt_event_total), sizeof(uint64_t));
	vt_hash_init(&s->gaps, sizeof(struct vt_loss_total), sizeof(uint64_t));
	vt_hash_init(&s->lost, sizeof(struct vt_loss_total), sizeof(uint64_t));
	vt_hash_init(&s->threads, sizeof(struct thread), sizeof(struct thread));
	vt_hash_init(&s->processes, sizeof(int64_t), sizeof(int64_t));
	s->kinds = calloc(s->nkinds + 1, sizeof(*s->kinds));
	s->strings = vt_intern_new();
	ok = vt_names_init(&s->names) && s->kinds && s->strings;
	ok = vt_missing_code_init(&s->missing) && ok;
	ok = vt_executed_code_init(&s->executed) && ok;
	ok = vt_decoded_trace_init(&s->trace) && ok;
	return ok ? 0 : vt_error_nomem(err);
}

void vt_summary_fini(struct vt_summary *s)
{
	vt_hash_fini(&s->events);
	vt_hash_fini(&s->gaps);
	vt_hash_fini(&s->lost);
	vt_hash_fini(&s->threads);
	vt_hash_fini(&s->processes);
	vt_names_fini(&s->names);
	vt_missing_code_fini(&s->missing);
	vt_executed_code_fini(&s->executed);
	vt_decoded_trace_fini(&s->trace);
	vt_intern_free(s->strings);
	free(s->kinds);
	free(s->facts);
}

/* The entry of a key.  NULL when memory runs out, or if there are too many (`capped`). */
static void *find_entry(struct vt_summary *s, struct vt_hash *h, const void *key)
{
	if (h->count < VT_SUMMARY_MAX)
		return vt_hash_add(h, key, NULL);
	s->capped = true;
	return vt_hash_find(h, key);
}

static bool out_of_memory(const struct vt_summary *s, const struct vt_hash *h, const void *e)
{
	return !e && !(s->capped && h->count >= VT_SUMMARY_MAX);
}

/* Neighbouring records mostly belong to the same thread: skip what was added last. */
static bool add_threads(struct vt_summary *s, const struct vt_block *b, uint32_t first,
			uint32_t count)
{
	struct vt_record rec = {b, b->kind, first};
	int pid = vt_schema_find_field(b->desc, "pid");
	int tid = vt_schema_find_field(b->desc, "tid");
	struct thread last = {-1, -1};

	if (pid < 0 || tid < 0)
		return true;
	for (; rec.row < first + count; rec.row++) {
		struct thread t = {vt_record_i64(&rec, (unsigned)pid),
				   vt_record_i64(&rec, (unsigned)tid)};

		if (t.pid < 0 || t.tid < 0 || (t.pid == last.pid && t.tid == last.tid))
			continue;
		last = t;
		if (out_of_memory(s, &s->threads, find_entry(s, &s->threads, &t)) ||
		    out_of_memory(s, &s->processes, find_entry(s, &s->processes, &t.pid)))
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

		/* Records of what existed before the recording have no time. */
		if (!t)
			continue;
		if (!s->timed || t < s->first_time)
			s->first_time = t;
		if (!s->timed || t > s->last_time)
			s->last_time = t;
		s->timed = true;
	}
}

static bool add_samples(struct vt_summary *s, const struct vt_block *b, uint32_t first,
			uint32_t count)
{
	struct vt_record rec = {b, b->kind, first};
	bool counts = b->kind == VT_COUNT;
	struct vt_event_total *e = NULL;

	for (; rec.row < first + count; rec.row++) {
		uint64_t id = vt_record_u64(&rec, counts ? VT_COUNT_EVENT : VT_SAMPLE_EVENT);

		if (!e || e->id != id)
			e = find_entry(s, &s->events, &id);
		if (out_of_memory(s, &s->events, e))
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

static bool add_loss(struct vt_summary *s, const struct vt_record *rec)
{
	bool gap = rec->kind == VT_GAP;
	struct vt_hash *h = gap ? &s->gaps : &s->lost;
	struct vt_bytes why = vt_record_bytes(rec, gap ? VT_GAP_REASON : VT_LOST_SOURCE);
	uint64_t text = vt_intern_add(s->strings, why.data, why.size);
	struct vt_loss_total *l = text == UINT32_MAX ? NULL : find_entry(s, h, &text);

	if (!l)
		return !out_of_memory(s, h, l);
	l->places++;
	l->bytes += gap ? vt_record_u64(rec, VT_GAP_BYTES) : 0;
	l->records += vt_record_u64(rec, gap ? VT_GAP_RECORDS : VT_LOST_COUNT);
	return true;
}

/* A fact longer than one record comes in pieces that have the same key. */
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

/* Takes one record of a kind that is not counted by runs. */
static bool add_record(struct vt_summary *s, const struct vt_record *rec)
{
	switch (rec->kind) {
	case VT_TRACE:
	case VT_PACKETS:
		return vt_decoded_trace_feed(&s->trace, rec);
	case VT_GAP:
		return add_loss(s, rec) && vt_missing_code_feed(&s->missing, rec);
	case VT_LOST:
		return add_loss(s, rec);
	case VT_META:
		return add_fact(s, rec) && vt_names_feed(&s->names, rec);
	case VT_EVENT:
		return vt_names_feed(&s->names, rec);
	case VT_IMAGE:
		return vt_names_feed(&s->names, rec) && vt_missing_code_feed(&s->missing, rec);
	case VT_MAP:
	case VT_THREAD:
	case VT_KSYMBOL:
		return vt_missing_code_feed(&s->missing, rec);
	default:
		return true;
	}
}

static int add_executed(struct vt_summary *s, const struct vt_record *rec, struct vt_error *err)
{
	if (rec->kind == VT_EXEC && !vt_decoded_trace_feed(&s->trace, rec))
		return vt_error_nomem(err);
	return vt_executed_code_feed(&s->executed, rec, err);
}

int vt_summary_feed(struct vt_summary *s, const struct vt_block *b, uint32_t first, uint32_t count,
		    struct vt_error *err)
{
	struct vt_record rec = {b, b->kind, first};
	bool ok;
	int code = 0;

	s->records += count;
	s->kinds[b->kind] += count;
	add_times(s, b, first, count);
	ok = add_threads(s, b, first, count);
	if (b->kind == VT_SAMPLE || b->kind == VT_COUNT) {
		ok = ok && add_samples(s, b, first, count);
	} else if (b->kind == VT_BLOCK || b->kind == VT_EXEC || b->kind == VT_VALUE) {
		for (; rec.row < first + count && ok && code == 0; rec.row++)
			code = add_executed(s, &rec, err);
	} else {
		for (; rec.row < first + count && ok; rec.row++)
			ok = add_record(s, &rec);
	}
	return ok ? code : vt_error_nomem(err);
}

int vt_summary_finish(struct vt_summary *s, struct vt_error *err)
{
	size_t i;

	for (i = 0; i < s->events.count; i++)
		if (!vt_hash_add(&s->names.events, vt_hash_at(&s->events, i), NULL))
			return vt_error_nomem(err);
	return vt_executed_code_finish(&s->executed, err);
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
