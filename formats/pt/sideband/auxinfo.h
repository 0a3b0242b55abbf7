/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_SIDEBAND_AUXINFO_H
#define FORMATS_PT_SIDEBAND_AUXINFO_H

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

#endif
