/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/sideband/ptinfo.h"

#include <string.h>

#include "formats/pt/timing.h"
#include "stream/kinds.h"

#define SAMPLE_TIME_BIT 4 /* PERF_SAMPLE_TIME of linux/perf_event.h */
#define PROT_CODE	4
#define GENERIC_TYPES	5 /* PERF_TYPE_BREAKPOINT: the last type that is not of one PMU */

void vti_pt_info_init(struct vti_pt_info *i)
{
	*i = (struct vti_pt_info){.sched_switch = UINT64_MAX,
				  .only_pid = -1,
				  .pmu = UINT64_MAX,
				  .kernel_image = UINT64_MAX};
}

static void feed_auxinfo(struct vti_pt_info *i, const struct vt_record *rec)
{
	struct vt_words w = vt_record_words(rec, VT_AUXINFO_PRIV);
	uint64_t p[VT_PT_PRIV_COUNT] = {0};
	struct vt_pt_clock *clock = &i->options.clock;

	if (i->found || vt_record_u64(rec, VT_AUXINFO_TYPE) != VT_PT_AUXINFO_TYPE)
		return;
	memcpy(p, w.data, (w.count < VT_PT_PRIV_COUNT ? w.count : VT_PT_PRIV_COUNT) * sizeof(*p));
	i->found = true;
	i->pmu = p[VT_PT_PRIV_PMU_TYPE];
	i->tsc_bit = p[VT_PT_PRIV_TSC_BIT];
	i->snapshot = p[VT_PT_PRIV_SNAPSHOT_MODE] != 0;
	i->mtc_bit = p[VT_PT_PRIV_MTC_BIT];
	i->mtc_bits = p[VT_PT_PRIV_MTC_FREQ_BITS];
	if (p[VT_PT_PRIV_TSC_CTC_N] <= UINT32_MAX && p[VT_PT_PRIV_TSC_CTC_D] <= UINT32_MAX) {
		clock->ctc_numerator = (uint32_t)p[VT_PT_PRIV_TSC_CTC_N];
		clock->ctc_denominator = (uint32_t)p[VT_PT_PRIV_TSC_CTC_D];
	}
	if (p[VT_PT_PRIV_MAX_NONTURBO_RATIO] <= UINT8_MAX)
		clock->nominal_ratio = (uint8_t)p[VT_PT_PRIV_MAX_NONTURBO_RATIO];
	if (!p[VT_PT_PRIV_CAP_USER_TIME_ZERO] || !p[VT_PT_PRIV_TIME_MULT] ||
	    p[VT_PT_PRIV_TIME_MULT] > UINT32_MAX || p[VT_PT_PRIV_TIME_SHIFT] > 63)
		return;
	i->conv =
		(struct vt_pt_timeconv){true, (uint16_t)p[VT_PT_PRIV_TIME_SHIFT],
					(uint32_t)p[VT_PT_PRIV_TIME_MULT], p[VT_PT_PRIV_TIME_ZERO]};
}

static void feed_pmu_event(struct vti_pt_info *i, const struct vt_record *rec)
{
	static const char sched[] = "sched:sched_switch";
	struct vt_bytes name = vt_record_bytes(rec, VT_EVENT_NAME);

	if (name.size == strlen(sched) && !memcmp(name.data, sched, name.size)) {
		i->sched_switch = vt_record_u64(rec, VT_EVENT_ID);
		i->switches = true;
	}
	/* AUXINFO, which has the PMU's type, usually comes later. */
	if (vt_record_u64(rec, VT_EVENT_TYPE) <= GENERIC_TYPES || i->nevents >= VTI_PT_EVENTS)
		return;
	i->events[i->nevents++] = (struct vti_pt_pmu_event){
		vt_record_u64(rec, VT_EVENT_TYPE), vt_record_u64(rec, VT_EVENT_CONFIG),
		vt_record_u64(rec, VT_EVENT_SAMPLE_TYPE) & SAMPLE_TIME_BIT};
}

static void feed_timeconv(struct vti_pt_info *i, const struct vt_record *rec)
{
	uint64_t shift = vt_record_u64(rec, VT_TIMECONV_SHIFT);
	uint64_t mult = vt_record_u64(rec, VT_TIMECONV_MULT);

	if (!i->conv.known && mult && mult <= UINT32_MAX && shift <= 63)
		i->conv = (struct vt_pt_timeconv){true, (uint16_t)shift, (uint32_t)mult,
						  vt_record_u64(rec, VT_TIMECONV_ZERO)};
}

static void feed_info_map(struct vti_pt_info *i, const struct vt_record *rec)
{
	int64_t pid = vt_record_i64(rec, VT_MAP_PID);
	uint64_t offset = vt_record_u64(rec, VT_MAP_OFFSET);

	if (pid < 0 && i->kernel_image == vt_record_u64(rec, VT_MAP_IMAGE) && !i->kernel)
		i->kernel = offset ? offset : vt_record_u64(rec, VT_MAP_START);
	if (pid < 0 || !(vt_record_u64(rec, VT_MAP_PROT) & PROT_CODE) || i->several)
		return;
	i->several = i->only_pid >= 0 && i->only_pid != pid;
	i->only_pid = i->several ? -1 : pid;
}

void vti_pt_info_feed(struct vti_pt_info *i, const struct vt_record *rec)
{
	switch (rec->kind) {
	case VT_AUXINFO:
		feed_auxinfo(i, rec);
		break;
	case VT_EVENT:
		feed_pmu_event(i, rec);
		break;
	case VT_TIMECONV:
		feed_timeconv(i, rec);
		break;
	case VT_META:
		vt_pt_options_meta(&i->options, rec);
		break;
	case VT_IMAGE:
		if (vt_record_u64(rec, VT_IMAGE_TYPE) == VT_IMAGE_KERNEL)
			i->kernel_image = vt_record_u64(rec, VT_IMAGE_ID);
		break;
	case VT_MAP:
		feed_info_map(i, rec);
		i->has_times |= vt_record_u64(rec, VT_MAP_TIME) != 0;
		break;
	case VT_THREAD:
		i->has_times |= vt_record_u64(rec, VT_THREAD_TIME) != 0;
		break;
	case VT_SWITCH:
	case VT_ITRACE:
		i->switches = true;
		break;
	default:
		break;
	}
}

void vti_pt_info_done(struct vti_pt_info *i)
{
	uint64_t bits = i->mtc_bits;
	size_t e;

	for (e = 0; e < i->nevents && i->events[e].type != i->pmu; e++)
		;
	if (e == i->nevents)
		return;
	i->timed = i->conv.known && i->events[e].time && i->events[e].config & i->tsc_bit;
	if (!(i->events[e].config & i->mtc_bit) || !bits)
		return;
	bits = (i->events[e].config & i->mtc_bits) / (bits & (0 - bits));
	i->options.clock.mtc_period = (uint8_t)(bits & 15);
}

uint64_t vti_pt_tsc(const struct vt_pt_timeconv *conv, uint64_t time)
{
	uint64_t whole, rest, tsc;
	int step;

	if (!conv->known || !conv->mult || !time)
		return 0;
	time -= conv->zero;
	whole = time / conv->mult;
	rest = time % conv->mult;
	/* The time is before TSC 0. */
	if (conv->shift && whole >> (64 - conv->shift))
		return 0;
	tsc = whole << conv->shift;
	if (conv->shift <= 32)
		tsc += (rest << conv->shift) / conv->mult;
	else
		tsc += ((rest << 32) / conv->mult << (conv->shift - 32)) +
		       ((rest << 32) % conv->mult << (conv->shift - 32)) / conv->mult;
	/* The result is rounded down by up to a tick, and the conversion back by up to 1 ns. */
	for (step = 0; step < 8 && vt_pt_time(conv, tsc) - conv->zero < time; step++)
		tsc++;
	return tsc;
}
