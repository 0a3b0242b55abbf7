/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/vtrace/summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define MISC_EXACT_IP (UINT64_C(1) << 14) /* PERF_RECORD_MISC_EXACT_IP */

int summary_init(struct summary *s, const struct vt_schema *schema, struct vt_error *err)
{
	bool ok;

	*s = (struct summary){.nkinds = schema->nkinds};
	vt_hash_init(&s->events, sizeof(struct summary_event), sizeof(uint64_t));
	vt_hash_init(&s->gaps, sizeof(struct summary_loss), sizeof(uint64_t));
	vt_hash_init(&s->lost, sizeof(struct summary_loss), sizeof(uint64_t));
	vt_hash_init(&s->threads, sizeof(struct summary_thread), sizeof(struct summary_thread));
	vt_hash_init(&s->processes, sizeof(int64_t), sizeof(int64_t));
	s->kinds = calloc(s->nkinds + 1, sizeof(*s->kinds));
	s->strings = vt_intern_new();
	ok = names_init(&s->names) && s->kinds && s->strings;
	ok = missing_code_init(&s->missing) && ok;
	ok = executed_init(&s->executed) && ok;
	ok = pt_info_init(&s->pt) && ok;
	return ok ? 0 : vt_error_nomem(err);
}

void summary_fini(struct summary *s)
{
	vt_hash_fini(&s->events);
	vt_hash_fini(&s->gaps);
	vt_hash_fini(&s->lost);
	vt_hash_fini(&s->threads);
	vt_hash_fini(&s->processes);
	names_fini(&s->names);
	missing_code_fini(&s->missing);
	executed_fini(&s->executed);
	pt_info_fini(&s->pt);
	vt_intern_free(s->strings);
	free(s->kinds);
	free(s->facts);
}

/* The entry of a key, NULL when memory ran out or (`capped`) when there are too many. */
static void *entry(struct summary *s, struct vt_hash *h, const void *key)
{
	if (h->count < SUMMARY_MAX)
		return vt_hash_add(h, key, NULL);
	s->capped = true;
	return vt_hash_find(h, key);
}

static bool missing(const struct summary *s, const struct vt_hash *h, const void *e)
{
	return !e && !(s->capped && h->count >= SUMMARY_MAX);
}

/* Neighbouring records are mostly of the same thread, so its last one is remembered. */
static bool feed_threads(struct summary *s, const struct vt_block *b, uint32_t first,
			 uint32_t count)
{
	struct vt_record rec = {b, b->kind, first};
	int pid = vt_schema_find_field(b->desc, "pid");
	int tid = vt_schema_find_field(b->desc, "tid");
	struct summary_thread last = {-1, -1};

	if (pid < 0 || tid < 0)
		return true;
	for (; rec.row < first + count; rec.row++) {
		struct summary_thread t = {vt_record_i64(&rec, (unsigned)pid),
					   vt_record_i64(&rec, (unsigned)tid)};

		if (t.pid < 0 || t.tid < 0 || (t.pid == last.pid && t.tid == last.tid))
			continue;
		last = t;
		if (missing(s, &s->threads, entry(s, &s->threads, &t)) ||
		    missing(s, &s->processes, entry(s, &s->processes, &t.pid)))
			return false;
	}
	return true;
}

static void feed_times(struct summary *s, const struct vt_block *b, uint32_t first, uint32_t count)
{
	struct vt_record rec = {b, b->kind, first};
	int time = vt_schema_find_field(b->desc, "time");

	if (time < 0)
		return;
	for (; rec.row < first + count; rec.row++) {
		uint64_t t = vt_record_u64(&rec, (unsigned)time);

		/* Made-up records of what was there before the start have none. */
		if (!t)
			continue;
		if (!s->timed || t < s->first_time)
			s->first_time = t;
		if (!s->timed || t > s->last_time)
			s->last_time = t;
		s->timed = true;
	}
}

static bool feed_samples(struct summary *s, const struct vt_block *b, uint32_t first,
			 uint32_t count)
{
	struct vt_record rec = {b, b->kind, first};
	bool counts = b->kind == VT_COUNT;
	struct summary_event *e = NULL;

	for (; rec.row < first + count; rec.row++) {
		uint64_t id = vt_record_u64(&rec, counts ? VT_COUNT_EVENT : VT_SAMPLE_EVENT);

		if (!e || e->id != id)
			e = entry(s, &s->events, &id);
		if (missing(s, &s->events, e))
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

static bool feed_loss(struct summary *s, const struct vt_record *rec)
{
	bool gap = rec->kind == VT_GAP;
	struct vt_hash *h = gap ? &s->gaps : &s->lost;
	struct vt_bytes why = vt_record_bytes(rec, gap ? VT_GAP_REASON : VT_LOST_SOURCE);
	uint64_t text = vt_intern_add(s->strings, why.data, why.size);
	struct summary_loss *l = text == UINT32_MAX ? NULL : entry(s, h, &text);

	if (!l)
		return !missing(s, h, l);
	l->places++;
	l->bytes += gap ? vt_record_u64(rec, VT_GAP_BYTES) : 0;
	l->records += vt_record_u64(rec, gap ? VT_GAP_RECORDS : VT_LOST_COUNT);
	return true;
}

/* Facts longer than one record come in pieces with the same key. */
static bool feed_fact(struct summary *s, const struct vt_record *rec)
{
	struct vt_bytes key = vt_record_bytes(rec, VT_META_KEY);
	struct vt_bytes value = vt_record_bytes(rec, VT_META_VALUE);
	struct summary_fact f = {vt_intern_add(s->strings, key.data, key.size),
				 vt_intern_add(s->strings, value.data, value.size),
				 vt_record_bytes(rec, VT_META_DATA).size};
	struct summary_fact *last = s->nfacts ? &s->facts[s->nfacts - 1] : NULL;

	if (f.key == UINT32_MAX || f.value == UINT32_MAX)
		return false;
	if (last && last->key == f.key && last->value == f.value) {
		last->bytes += f.bytes;
		return true;
	}
	if (s->nfacts == SUMMARY_MAX) {
		s->capped = true;
		return true;
	}
	if (!vt_array_grow(&s->facts, &s->facts_cap, s->nfacts + 1, sizeof(*s->facts)))
		return false;
	s->facts[s->nfacts++] = f;
	return true;
}

static bool feed_each(struct summary *s, const struct vt_block *b, uint32_t first, uint32_t count)
{
	struct vt_record rec = {b, b->kind, first};
	bool ok = true;

	for (; rec.row < first + count && ok; rec.row++) {
		if (b->kind == VT_GAP || b->kind == VT_LOST)
			ok = feed_loss(s, &rec);
		else if (b->kind == VT_META)
			ok = feed_fact(s, &rec);
		ok = ok && names_feed(&s->names, &rec) && missing_code_feed(&s->missing, &rec);
	}
	return ok;
}

static bool feed_pt(struct summary *s, const struct vt_block *b, uint32_t first, uint32_t count)
{
	struct vt_record rec = {b, b->kind, first};
	bool ok = true;

	for (; rec.row < first + count && ok; rec.row++)
		ok = pt_info_feed(&s->pt, &rec);
	return ok;
}

static int feed_executed(struct summary *s, const struct vt_block *b, uint32_t first,
			 uint32_t count, struct vt_error *err)
{
	struct vt_record rec = {b, b->kind, first};
	int code = 0;

	for (; rec.row < first + count && code == 0; rec.row++)
		code = executed_feed(&s->executed, &rec, err);
	return code;
}

int summary_feed(void *arg, const struct vt_block *b, uint32_t first, uint32_t count,
		 struct vt_error *err)
{
	struct summary *s = arg;
	bool ok = true;

	s->records += count;
	s->kinds[b->kind] += count;
	feed_times(s, b, first, count);
	ok = feed_threads(s, b, first, count) && feed_pt(s, b, first, count);
	switch (b->kind) {
	case VT_SAMPLE:
	case VT_COUNT:
		ok = ok && feed_samples(s, b, first, count);
		break;
	case VT_GAP:
	case VT_LOST:
	case VT_META:
	case VT_EVENT:
	case VT_IMAGE:
	case VT_MAP:
	case VT_THREAD:
	case VT_KSYMBOL:
		ok = ok && feed_each(s, b, first, count);
		break;
	case VT_BLOCK:
	case VT_EXEC:
	case VT_VALUE:
		return ok ? feed_executed(s, b, first, count, err) : vt_error_nomem(err);
	default:
		break;
	}
	return ok ? 0 : vt_error_nomem(err);
}

int summary_finish(struct summary *s, struct vt_error *err)
{
	size_t i;

	for (i = 0; i < s->events.count; i++)
		if (!vt_hash_add(&s->names.events, vt_hash_at(&s->events, i), NULL))
			return vt_error_nomem(err);
	pt_info_finish(&s->pt);
	return executed_finish(&s->executed, err);
}

struct summary_event summary_of_event(const struct summary *s, uint64_t id)
{
	const struct summary_event *e = vt_hash_find(&s->events, &id);

	return e ? *e : (struct summary_event){.id = id};
}

struct summary_loss summary_total(const struct vt_hash *losses)
{
	struct summary_loss sum = {0, 0, 0, 0};
	size_t i;

	for (i = 0; i < losses->count; i++) {
		const struct summary_loss *l = vt_hash_at(losses, i);

		sum.places += l->places;
		sum.bytes += l->bytes;
		sum.records += l->records;
	}
	return sum;
}
