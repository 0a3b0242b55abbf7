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
 * An AUXINFO record of Intel PT, made from perf's AUXTRACE_INFO: its `type`, and the words of its
 * `priv`.  Source: perf 6.1, tools/perf/util/auxtrace.h, enum auxtrace_type, and intel-pt.h, the
 * enum of INTEL_PT_*.
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
 * The properties of all Intel PT traces of a recording, collected before any is decoded from its
 * records AUXINFO, EVENT, TIMECONV, META and MAP.
 */

#define VTI_PT_EVENTS 64 /* the most events of PMUs that are used */

struct vti_pt_info {
	bool found;	/* there is a description of Intel PT */
	bool snapshot;	/* areas were overwritten; each AUXTRACE record is a snapshot */
	bool timed;	/* the times of traces can be compared with those of records */
	bool has_times; /* records have times */
	bool switches;	/* records say which thread runs on a processor */
	struct vt_pt_timeconv conv;
	struct vt_pt_options options;
	uint64_t sched_switch; /* id of the event sched:sched_switch; UINT64_MAX: none */
	int64_t only_pid;      /* the one process that has code; -1: none or several */
	uint64_t kernel;       /* the address of the kernel's _text; 0: not known */

	/* Private. */
	uint64_t pmu;
	uint64_t tsc_bit, mtc_bit, mtc_bits;
	uint64_t kernel_image;
	bool several;
	struct vti_pt_pmu_event {
		uint64_t type;
		uint64_t config;
		bool time;
	} events[VTI_PT_EVENTS];
	size_t nevents;
};

void vti_pt_info_init(struct vti_pt_info *i);

/* Takes a record of any kind. */
void vti_pt_info_feed(struct vti_pt_info *i, const struct vt_record *rec);

/* Sets the fields that depend on several records, after the last of them. */
void vti_pt_info_done(struct vti_pt_info *i);

/* The least TSC whose vt_pt_time() is not before `time`; 0 if that is before any TSC. */
uint64_t vti_pt_tsc(const struct vt_pt_timeconv *conv, uint64_t time);

#endif
