/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "summary/decoded_trace.h"

bool vt_decoded_trace_init(struct vt_decoded_trace *d)
{
	*d = (struct vt_decoded_trace){.nevents = 0};
	vt_hash_init(&d->packets, sizeof(struct vt_packet_total), sizeof(uint64_t));
	d->strings = vt_intern_new();
	return d->strings != NULL;
}

void vt_decoded_trace_fini(struct vt_decoded_trace *d)
{
	vt_hash_fini(&d->packets);
	vt_intern_free(d->strings);
}

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
static void add_exec(struct vt_decoded_trace *d, const struct vt_record *rec)
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

static void add_event(struct vt_decoded_trace *d, const struct vt_record *rec)
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

bool vt_decoded_trace_feed(struct vt_decoded_trace *d, const struct vt_record *rec)
{
	if (rec->kind == VT_EXEC)
		add_exec(d, rec);
	else if (rec->kind == VT_TRACE)
		add_event(d, rec);
	else
		return add_packets(d, rec);
	return true;
}
