/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/vtrace/info_pt.h"

#include <string.h>

#include "formats/pt/sideband/auxinfo.h"

bool pt_info_init(struct pt_info *p)
{
	memset(p, 0, sizeof(*p));
	vt_hash_init(&p->traces, sizeof(struct pt_trace), sizeof(uint64_t));
	vt_hash_init(&p->packets, sizeof(struct pt_packets), sizeof(uint64_t));
	p->strings = vt_intern_new();
	return p->strings != NULL;
}

void pt_info_fini(struct pt_info *p)
{
	vt_hash_fini(&p->traces);
	vt_hash_fini(&p->packets);
	vt_intern_free(p->strings);
}

/* ---- traces that are not decoded ---- */

/* How often there is an MTC: in the configuration of the event, where AUXINFO says. */
static uint8_t mtc_period(const struct pt_info *p)
{
	uint64_t bits = p->mtc_bits, period = 0;
	size_t i;

	for (i = 0; i < p->ndescribed && bits; i++) {
		if (p->described[i].type == p->pmu)
			period = (p->described[i].config & bits) / (bits & (0 - bits));
	}
	return period < 16 ? (uint8_t)period : 0;
}

static struct pt_trace *trace_of(struct pt_info *p, uint64_t index)
{
	struct pt_trace *t;
	bool added;

	t = vt_hash_add(&p->traces, &index, &added);
	if (t && added) {
		p->options.clock.mtc_period = mtc_period(p);
		vt_pt_scan_init(&t->scan, &p->options);
	}
	return t;
}

struct pt_trace *pt_info_raw(struct pt_info *p)
{
	struct pt_trace *t = trace_of(p, 0);

	if (t)
		t->cpu = t->tid = -1;
	return t;
}

static bool feed_aux(struct pt_info *p, const struct vt_record *rec)
{
	uint64_t index = vt_record_u64(rec, VT_AUXTRACE_INDEX);
	uint64_t at =
		vt_record_u64(rec, VT_AUXTRACE_OFFSET) + vt_record_u64(rec, VT_AUXTRACE_POSITION);
	struct vt_bytes data = vt_record_bytes(rec, VT_AUXTRACE_DATA);
	struct pt_trace *t;

	if (!p->found || (p->traces.count >= PT_INFO_TRACES && !vt_hash_find(&p->traces, &index)))
		return true;
	t = trace_of(p, index);
	if (!t)
		return false;
	/* perf pads each record's bytes to a multiple of 8; the area goes on where these began. */
	if (t->scan.size && (at > t->next || t->next - at >= 8))
		vt_pt_scan_break(&t->scan);
	t->cpu = vt_record_i64(rec, VT_AUXTRACE_CPU);
	t->tid = vt_record_i64(rec, VT_AUXTRACE_TID);
	t->next = at + data.size;
	vt_pt_scan_feed(&t->scan, data.data, data.size);
	return true;
}

static void feed_auxinfo(struct pt_info *p, const struct vt_record *rec)
{
	struct vt_words words = vt_record_words(rec, VT_AUXINFO_PRIV);
	uint64_t priv[VT_PT_PRIV_COUNT] = {0};
	size_t i;

	if (vt_record_u64(rec, VT_AUXINFO_TYPE) != VT_PT_AUXINFO_TYPE)
		return;
	for (i = 0; i < words.count && i < VT_PT_PRIV_COUNT; i++)
		priv[i] = words.data[i];
	p->found = true;
	p->pmu = priv[VT_PT_PRIV_PMU_TYPE];
	p->mtc_bits = priv[VT_PT_PRIV_MTC_FREQ_BITS];
	if (priv[VT_PT_PRIV_CAP_USER_TIME_ZERO])
		p->conv = (struct vt_pt_timeconv){.known = true,
						  .shift = (uint16_t)priv[VT_PT_PRIV_TIME_SHIFT],
						  .mult = (uint32_t)priv[VT_PT_PRIV_TIME_MULT],
						  .zero = priv[VT_PT_PRIV_TIME_ZERO]};
	p->options.clock = (struct vt_pt_clock){
		.nominal_ratio = (uint8_t)priv[VT_PT_PRIV_MAX_NONTURBO_RATIO],
		.ctc_numerator = (uint32_t)priv[VT_PT_PRIV_TSC_CTC_N],
		.ctc_denominator = (uint32_t)priv[VT_PT_PRIV_TSC_CTC_D],
	};
}

static void feed_timeconv(struct pt_info *p, const struct vt_record *rec)
{
	p->conv = (struct vt_pt_timeconv){
		.known = true,
		.shift = (uint16_t)vt_record_u64(rec, VT_TIMECONV_SHIFT),
		.mult = (uint32_t)vt_record_u64(rec, VT_TIMECONV_MULT),
		.zero = vt_record_u64(rec, VT_TIMECONV_ZERO),
	};
}

static void feed_event(struct pt_info *p, const struct vt_record *rec)
{
	if (p->ndescribed == PT_INFO_EVENTS)
		return;
	p->described[p->ndescribed].type = vt_record_u64(rec, VT_EVENT_TYPE);
	p->described[p->ndescribed++].config = vt_record_u64(rec, VT_EVENT_CONFIG);
}

/* ---- what came of those that are ---- */

static void add_tsc(struct pt_info *p, uint64_t tsc)
{
	if (!tsc)
		return;
	if (!p->timed || tsc < p->first_tsc)
		p->first_tsc = tsc;
	if (!p->timed || tsc > p->last_tsc)
		p->last_tsc = tsc;
	p->timed = true;
}

/*
 * A counter goes on from one record of a thread to the next; in between another trace, with a
 * counter of its own, may have been at work.
 */
static void feed_exec(struct pt_info *p, const struct vt_record *rec)
{
	uint64_t cycles = vt_record_u64(rec, VT_EXEC_CYCLES);
	struct vt_words tsc = vt_record_words(rec, VT_EXEC_TIME_TSC);
	struct vt_words marks = vt_record_words(rec, VT_EXEC_TIME_CYCLES);
	int64_t tid = vt_record_i64(rec, VT_EXEC_TID);
	uint64_t last = marks.count ? marks.data[marks.count - 1] : cycles;

	add_tsc(p, vt_record_u64(rec, VT_EXEC_TSC));
	if (tsc.count)
		add_tsc(p, tsc.data[tsc.count - 1]);
	if (p->last.tid == tid && p->last.cycles <= cycles)
		cycles = p->last.cycles;
	if (last > cycles)
		p->cycles += last - cycles;
	p->last = (struct pt_run){tid, last};
}

static bool feed_packets(struct pt_info *p, const struct vt_record *rec)
{
	struct vt_bytes name = vt_record_bytes(rec, VT_PACKETS_NAME);
	uint64_t id = vt_intern_add(p->strings, name.data, name.size);
	struct pt_packets *sum;

	if (!name.size)
		p->bytes += vt_record_u64(rec, VT_PACKETS_BYTES);
	if (id == UINT32_MAX)
		return false;
	if (p->packets.count >= PT_INFO_TRACES && !vt_hash_find(&p->packets, &id))
		return true;
	sum = vt_hash_add(&p->packets, &id, NULL);
	if (!sum)
		return false;
	sum->count += vt_record_u64(rec, VT_PACKETS_COUNT);
	sum->bytes += vt_record_u64(rec, VT_PACKETS_BYTES);
	return true;
}

bool pt_info_feed(struct pt_info *p, const struct vt_record *rec)
{
	uint64_t event;

	switch (rec->kind) {
	case VT_EVENT:
		feed_event(p, rec);
		return true;
	case VT_AUXINFO:
		feed_auxinfo(p, rec);
		return true;
	case VT_META:
		vt_pt_options_meta(&p->options, rec);
		return true;
	case VT_AUXTRACE:
		return feed_aux(p, rec);
	case VT_TIMECONV:
		feed_timeconv(p, rec);
		return true;
	case VT_EXEC:
		feed_exec(p, rec);
		return true;
	case VT_TRACE:
		event = vt_record_u64(rec, VT_TRACE_EVENT);
		if (event < VT_NTRACES)
			p->events[event]++;
		p->nevents++;
		add_tsc(p, vt_record_u64(rec, VT_TRACE_TSC));
		return true;
	case VT_PACKETS:
		return feed_packets(p, rec);
	default:
		return true;
	}
}

void pt_info_finish(struct pt_info *p)
{
	size_t i;

	for (i = 0; i < p->traces.count; i++) {
		struct pt_trace *t = vt_hash_at(&p->traces, i);

		vt_pt_scan_end(&t->scan);
	}
}

uint64_t pt_info_places(const struct pt_info *p, uint64_t *bytes)
{
	uint64_t places = 0;
	size_t i;

	*bytes = 0;
	for (i = 0; i < p->traces.count; i++) {
		const struct pt_trace *t = vt_hash_at(&p->traces, i);

		places += t->scan.places;
		*bytes += t->scan.bad_bytes;
	}
	return places;
}
