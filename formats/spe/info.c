/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/spe/info.h"

#include <stdlib.h>
#include <string.h>

#include "stream/kinds.h"

#define GENERIC_TYPES 5 /* PERF_TYPE_BREAKPOINT: the last type that is not of one PMU */
#define CAP_SHORT     2 /* TIMECONV.caps: cap_user_time_short */

/*
 * The words of AUXINFO.priv.  Source: perf, tools/perf/util/arm-spe.h.  The first version has two
 * words and no number of its own; later ones have a header and then a group for each processor.
 */
enum { V1_PMU_TYPE, V1_WORDS = 2 };
enum { V2_HEADER_WORDS = 1, V2_PMU_TYPE = 2, V2_CPUS = 3, V2_WORDS = 4 };
enum { CPU_NUMBER = 1, CPU_PARAMS = 2, CPU_MIDR = 3, CPU_PMU_TYPE = 4, CPU_WORDS = 5 };

struct midr_row {
	int64_t cpu;
	uint64_t midr;
};

void vt_spe_info_init(struct vt_spe_info *i)
{
	memset(i, 0, sizeof(*i));
	i->pmu = UINT64_MAX;
	vt_hash_init(&i->midrs, sizeof(struct midr_row), sizeof(int64_t));
}

void vt_spe_info_fini(struct vt_spe_info *i)
{
	vt_hash_fini(&i->midrs);
}

/* Reads the group of a processor, which has `count` words or fewer; returns how many; 0: none. */
static uint64_t feed_cpu(struct vt_spe_info *i, const uint64_t *p, uint64_t count)
{
	struct midr_row *row;
	int64_t cpu;

	if (count < CPU_WORDS || p[CPU_PARAMS] < CPU_WORDS - CPU_PARAMS - 1 ||
	    p[CPU_PARAMS] > count - CPU_PARAMS - 1)
		return 0;
	cpu = (int64_t)p[CPU_NUMBER];
	row = vt_hash_add(&i->midrs, &cpu, NULL);
	if (!row)
		return 0;
	row->midr = p[CPU_MIDR];
	if (i->pmu == UINT64_MAX || i->pmu > UINT32_MAX)
		i->pmu = p[CPU_PMU_TYPE];
	return p[CPU_PARAMS] + CPU_PARAMS + 1;
}

static void feed_auxinfo(struct vt_spe_info *i, const struct vt_record *rec)
{
	struct vt_words w = vt_record_words(rec, VT_AUXINFO_PRIV);
	uint64_t at, used = 1;

	if (i->found || vt_record_u64(rec, VT_AUXINFO_TYPE) != VT_SPE_AUXINFO_TYPE)
		return;
	i->found = true;
	if (w.count && w.count <= V1_WORDS)
		i->pmu = w.data[V1_PMU_TYPE];
	if (w.count < V2_WORDS)
		return;
	/* A PMU type of -1 says that processors differ. */
	i->pmu = w.data[V2_PMU_TYPE];
	for (at = w.data[V2_HEADER_WORDS]; at < w.count && used; at += used)
		used = feed_cpu(i, w.data + at, w.count - at);
}

static void feed_event(struct vt_spe_info *i, const struct vt_record *rec)
{
	uint64_t type = vt_record_u64(rec, VT_EVENT_TYPE);

	/* AUXINFO, which has the PMU's type, may come later. */
	if (type > GENERIC_TYPES && i->nevents < VT_SPE_MAX_EVENTS)
		i->events[i->nevents++] = (struct vt_spe_event){
			type, vt_record_u64(rec, VT_EVENT_ID), vt_record_u64(rec, VT_EVENT_PERIOD)};
}

static void feed_timeconv(struct vt_spe_info *i, const struct vt_record *rec)
{
	uint64_t shift = vt_record_u64(rec, VT_TIMECONV_SHIFT);
	uint64_t mult = vt_record_u64(rec, VT_TIMECONV_MULT);

	if (i->conv.known || !mult || mult > UINT32_MAX || shift > 63)
		return;
	i->conv = (struct vt_pt_timeconv){true, (uint16_t)shift, (uint32_t)mult,
					  vt_record_u64(rec, VT_TIMECONV_ZERO)};
	i->wraps = vt_record_u64(rec, VT_TIMECONV_CAPS) & CAP_SHORT;
	i->cycles = vt_record_u64(rec, VT_TIMECONV_CYCLES);
	i->mask = vt_record_u64(rec, VT_TIMECONV_MASK);
}

static void feed_meta(struct vt_spe_info *i, const struct vt_record *rec)
{
	struct vt_bytes value = vt_record_bytes(rec, VT_META_VALUE);
	char text[32];

	if (!vt_record_is_meta(rec, "cpuid") || value.size >= sizeof(text) || value.size < 3 ||
	    memcmp(value.data, "0x", 2) != 0)
		return;
	memcpy(text, value.data, value.size);
	text[value.size] = 0;
	i->midr = strtoull(text, NULL, 16);
}

bool vt_spe_record_time(const struct vt_record *rec, uint64_t *time)
{
	/* Fields, plus 1; 0: the kind has no time. */
	static const uint8_t fields[] = {
		[VT_MAP] = VT_MAP_TIME + 1,	      [VT_THREAD] = VT_THREAD_TIME + 1,
		[VT_SAMPLE] = VT_SAMPLE_TIME + 1,     [VT_LOST] = VT_LOST_TIME + 1,
		[VT_GAP] = VT_GAP_TIME + 1,	      [VT_SWITCH] = VT_SWITCH_TIME + 1,
		[VT_THROTTLE] = VT_THROTTLE_TIME + 1, [VT_AUX] = VT_AUX_TIME + 1,
		[VT_ITRACE] = VT_ITRACE_TIME + 1,     [VT_NAMESPACES] = VT_NAMESPACES_TIME + 1,
		[VT_KSYMBOL] = VT_KSYMBOL_TIME + 1,   [VT_BPF] = VT_BPF_TIME + 1,
		[VT_TEXTPOKE] = VT_TEXTPOKE_TIME + 1, [VT_CGROUP] = VT_CGROUP_TIME + 1,
	};

	if (rec->kind >= sizeof(fields) || !fields[rec->kind])
		return false;
	*time = vt_record_u64(rec, fields[rec->kind] - 1u);
	return *time != 0;
}

void vt_spe_info_feed(struct vt_spe_info *i, const struct vt_record *rec)
{
	uint64_t time;

	i->has_times = i->has_times || vt_spe_record_time(rec, &time);
	switch (rec->kind) {
	case VT_AUXINFO:
		feed_auxinfo(i, rec);
		break;
	case VT_EVENT:
		feed_event(i, rec);
		break;
	case VT_TIMECONV:
		feed_timeconv(i, rec);
		break;
	case VT_META:
		feed_meta(i, rec);
		break;
	default:
		break;
	}
}

void vt_spe_info_done(struct vt_spe_info *i)
{
	size_t e;

	for (e = 0; e < i->nevents && !i->has_event; e++) {
		if (i->events[e].type != i->pmu)
			continue;
		i->has_event = true;
		i->event = i->events[e].id;
		i->period = i->events[e].period;
	}
}

uint64_t vt_spe_info_midr(const struct vt_spe_info *i, int64_t cpu)
{
	const struct midr_row *row = i->midrs.count ? vt_hash_find(&i->midrs, &cpu) : NULL;
	size_t k;

	if (row)
		return row->midr;
	if (!i->midrs.count)
		return i->midr;
	for (k = 0; k < i->midrs.count; k++) {
		row = vt_hash_at(&i->midrs, k);
		if (row->midr != ((const struct midr_row *)vt_hash_at(&i->midrs, 0))->midr)
			return 0;
	}
	return row->midr;
}

bool vt_spe_info_time(const struct vt_spe_info *i, uint64_t timestamp, uint64_t *time)
{
	if (!i->conv.known || !timestamp)
		return false;
	if (i->wraps)
		timestamp = i->cycles + ((timestamp - i->cycles) & i->mask);
	*time = vt_pt_time(&i->conv, timestamp);
	return true;
}
