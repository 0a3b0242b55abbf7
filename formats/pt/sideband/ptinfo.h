/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_SIDEBAND_PTINFO_H
#define FORMATS_PT_SIDEBAND_PTINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/pt/decode/emit.h"
#include "formats/pt/decode/engine.h"
#include "stream/record.h"

/*
 * What perf says of Intel PT in AUXTRACE_INFO, which an AUXINFO record is made of: its `type`, and
 * the words of its `priv`.  Source: perf 6.1, tools/perf/util/auxtrace.h, enum auxtrace_type, and
 * intel-pt.h, the enum of INTEL_PT_*.
 */

#define VT_PT_AUXINFO_TYPE 1

enum vt_pt_priv {
	VT_PT_PRIV_PMU_TYPE,
	VT_PT_PRIV_TIME_SHIFT,
	VT_PT_PRIV_TIME_MULT,
	VT_PT_PRIV_TIME_ZERO,
	VT_PT_PRIV_CAP_USER_TIME_ZERO,
	VT_PT_PRIV_TSC_BIT,
	VT_PT_PRIV_NORETCOMP_BIT,
	VT_PT_PRIV_HAVE_SCHED_SWITCH, /* 2: SWITCH records; 3: SWITCH_CPU_WIDE */
	VT_PT_PRIV_SNAPSHOT_MODE,
	VT_PT_PRIV_PER_CPU_MMAPS,
	VT_PT_PRIV_MTC_BIT,
	VT_PT_PRIV_MTC_FREQ_BITS,
	VT_PT_PRIV_TSC_CTC_N,
	VT_PT_PRIV_TSC_CTC_D,
	VT_PT_PRIV_CYC_BIT,
	VT_PT_PRIV_MAX_NONTURBO_RATIO,
	VT_PT_PRIV_FILTER_STR_LEN,
	VT_PT_PRIV_CAP_EVENT_TRACE,
	VT_PT_PRIV_COUNT
};

/*
 * What a recording says of its Intel PT traces as a whole, gathered from all of its records before
 * any is decoded: AUXINFO, EVENT, TIMECONV, META and MAP.
 */

#define VTI_PT_EVENTS 64 /* of PMUs, that are looked at */

struct vti_pt_info {
	bool found;	/* there is a description of Intel PT */
	bool snapshot;	/* areas were overwritten; each AUXTRACE record is a snapshot */
	bool timed;	/* the traces have times that those of records can be compared with */
	bool has_times; /* records have */
	bool switches;	/* something tells who runs on a processor */
	struct vt_pt_timeconv conv;
	struct vt_pt_options options;
	uint64_t sched_switch; /* id of the event sched:sched_switch; UINT64_MAX: none */
	int64_t only_pid;      /* the one process that has code; -1: none or several */
	uint64_t kernel;       /* where the kernel's _text was; 0: not known */

	/* Not for others. */
	uint64_t pmu;
	uint64_t tsc_bit, mtc_bit, mtc_bits;
	uint64_t kernel_image;
	bool several;
	struct vti_pt_event {
		uint64_t type;
		uint64_t config;
		bool time;
	} events[VTI_PT_EVENTS];
	size_t nevents;
};

void vti_pt_info_init(struct vti_pt_info *i);

/* Takes a record of any kind. */
void vti_pt_info_feed(struct vti_pt_info *i, const struct vt_record *rec);

/* All records have been told: works out what depends on several of them. */
void vti_pt_info_done(struct vti_pt_info *i);

/* The TSC at a time, the least that vt_pt_time() does not put before it; 0 before all of them. */
uint64_t vti_pt_tsc(const struct vt_pt_timeconv *conv, uint64_t time);

#endif
