/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PERFDATA_ABI_H
#define FORMATS_PERFDATA_ABI_H

/*
 * The numbers of perf's file format.  They are listed here instead of being taken from the system's
 * linux/perf_event.h because files come from kernels and perfs that are newer than that header.
 * Sources: linux/perf_event.h for records up to 63, sample and attribute bits; the kernel's
 * tools/perf/Documentation/perf.data-file-format.txt and tools/lib/perf/include/perf/event.h for
 * the records from 64 on and the feature bits.
 */

enum pd_record {
	PD_MMAP = 1,
	PD_LOST = 2,
	PD_COMM = 3,
	PD_EXIT = 4,
	PD_THROTTLE = 5,
	PD_UNTHROTTLE = 6,
	PD_FORK = 7,
	PD_READ = 8,
	PD_SAMPLE = 9,
	PD_MMAP2 = 10,
	PD_AUX = 11,
	PD_ITRACE_START = 12,
	PD_LOST_SAMPLES = 13,
	PD_SWITCH = 14,
	PD_SWITCH_CPU_WIDE = 15,
	PD_NAMESPACES = 16,
	PD_KSYMBOL = 17,
	PD_BPF_EVENT = 18,
	PD_CGROUP = 19,
	PD_TEXT_POKE = 20,
	PD_AUX_OUTPUT_HW_ID = 21,
	PD_USER_START = 64, /* from here on records are perf's own: no sample id, no time */
	PD_HEADER_ATTR = 64,
	PD_HEADER_EVENT_TYPE = 65,
	PD_TRACING_DATA = 66,
	PD_HEADER_BUILD_ID = 67,
	PD_FINISHED_ROUND = 68,
	PD_ID_INDEX = 69,
	PD_AUXTRACE_INFO = 70,
	PD_AUXTRACE = 71,
	PD_AUXTRACE_ERROR = 72,
	PD_THREAD_MAP = 73,
	PD_CPU_MAP = 74,
	PD_STAT_CONFIG = 75,
	PD_STAT = 76,
	PD_STAT_ROUND = 77,
	PD_EVENT_UPDATE = 78,
	PD_TIME_CONV = 79,
	PD_HEADER_FEATURE = 80,
	PD_COMPRESSED = 81,
	PD_FINISHED_INIT = 82,
	PD_COMPRESSED2 = 83,
	PD_BPF_METADATA = 84,
};

enum pd_feature {
	PD_FEAT_TRACING_DATA = 1,
	PD_FEAT_BUILD_ID = 2,
	PD_FEAT_HOSTNAME = 3,
	PD_FEAT_OSRELEASE = 4,
	PD_FEAT_VERSION = 5,
	PD_FEAT_ARCH = 6,
	PD_FEAT_NRCPUS = 7,
	PD_FEAT_CPUDESC = 8,
	PD_FEAT_CPUID = 9,
	PD_FEAT_TOTAL_MEM = 10,
	PD_FEAT_CMDLINE = 11,
	PD_FEAT_EVENT_DESC = 12,
	PD_FEAT_CPU_TOPOLOGY = 13,
	PD_FEAT_NUMA_TOPOLOGY = 14,
	PD_FEAT_BRANCH_STACK = 15,
	PD_FEAT_PMU_MAPPINGS = 16,
	PD_FEAT_GROUP_DESC = 17,
	PD_FEAT_AUXTRACE = 18,
	PD_FEAT_STAT = 19,
	PD_FEAT_CACHE = 20,
	PD_FEAT_SAMPLE_TIME = 21,
	PD_FEAT_MEM_TOPOLOGY = 22,
	PD_FEAT_CLOCKID = 23,
	PD_FEAT_DIR_FORMAT = 24,
	PD_FEAT_BPF_PROG_INFO = 25,
	PD_FEAT_BPF_BTF = 26,
	PD_FEAT_COMPRESSED = 27,
	PD_FEAT_CPU_PMU_CAPS = 28,
	PD_FEAT_CLOCK_DATA = 29,
	PD_FEAT_HYBRID_TOPOLOGY = 30,
	PD_FEAT_PMU_CAPS = 31,
	PD_FEAT_BITS = 256,
};

#define PD_SAMPLE_IP		 (1u << 0)
#define PD_SAMPLE_TID		 (1u << 1)
#define PD_SAMPLE_TIME		 (1u << 2)
#define PD_SAMPLE_ADDR		 (1u << 3)
#define PD_SAMPLE_READ		 (1u << 4)
#define PD_SAMPLE_CALLCHAIN	 (1u << 5)
#define PD_SAMPLE_ID		 (1u << 6)
#define PD_SAMPLE_CPU		 (1u << 7)
#define PD_SAMPLE_PERIOD	 (1u << 8)
#define PD_SAMPLE_STREAM_ID	 (1u << 9)
#define PD_SAMPLE_RAW		 (1u << 10)
#define PD_SAMPLE_BRANCH_STACK	 (1u << 11)
#define PD_SAMPLE_REGS_USER	 (1u << 12)
#define PD_SAMPLE_STACK_USER	 (1u << 13)
#define PD_SAMPLE_WEIGHT	 (1u << 14)
#define PD_SAMPLE_DATA_SRC	 (1u << 15)
#define PD_SAMPLE_IDENTIFIER	 (1u << 16)
#define PD_SAMPLE_TRANSACTION	 (1u << 17)
#define PD_SAMPLE_REGS_INTR	 (1u << 18)
#define PD_SAMPLE_PHYS_ADDR	 (1u << 19)
#define PD_SAMPLE_AUX		 (1u << 20)
#define PD_SAMPLE_CGROUP	 (1u << 21)
#define PD_SAMPLE_DATA_PAGE_SIZE (1u << 22)
#define PD_SAMPLE_CODE_PAGE_SIZE (1u << 23)
#define PD_SAMPLE_WEIGHT_STRUCT	 (1u << 24)

/* The fields above that are one 64-bit word (or two of 32 bits) and come before all others. */
#define PD_SAMPLE_FIXED                                                                            \
	(PD_SAMPLE_IDENTIFIER | PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_TIME | PD_SAMPLE_ADDR |   \
	 PD_SAMPLE_ID | PD_SAMPLE_STREAM_ID | PD_SAMPLE_CPU | PD_SAMPLE_PERIOD)

#define PD_FORMAT_TOTAL_TIME_ENABLED (1u << 0)
#define PD_FORMAT_TOTAL_TIME_RUNNING (1u << 1)
#define PD_FORMAT_ID		     (1u << 2)
#define PD_FORMAT_GROUP		     (1u << 3)
#define PD_FORMAT_LOST		     (1u << 4)

#define PD_BRANCH_HW_INDEX (1u << 17)
#define PD_BRANCH_COUNTERS (1u << 19)

/* Bits of perf_event_attr's flag word, counted from its first declared field. */
#define PD_ATTR_INHERIT	       (UINT64_C(1) << 1)
#define PD_ATTR_EXCLUDE_USER   (UINT64_C(1) << 4)
#define PD_ATTR_EXCLUDE_KERNEL (UINT64_C(1) << 5)
#define PD_ATTR_EXCLUDE_HV     (UINT64_C(1) << 6)
#define PD_ATTR_MMAP	       (UINT64_C(1) << 8)
#define PD_ATTR_COMM	       (UINT64_C(1) << 9)
#define PD_ATTR_FREQ	       (UINT64_C(1) << 10)
#define PD_ATTR_TASK	       (UINT64_C(1) << 13)
#define PD_ATTR_SAMPLE_ID_ALL  (UINT64_C(1) << 18)
#define PD_ATTR_EXCLUDE_HOST   (UINT64_C(1) << 19)
#define PD_ATTR_EXCLUDE_GUEST  (UINT64_C(1) << 20)
#define PD_ATTR_MMAP2	       (UINT64_C(1) << 23)
#define PD_ATTR_COMM_EXEC      (UINT64_C(1) << 24)
#define PD_ATTR_CONTEXT_SWITCH (UINT64_C(1) << 26)
#define PD_ATTR_PRECISE_SHIFT  15

/* struct perf_record_auxtrace; the area's bytes follow it. */
#define PD_AUXTRACE_SIZE 48

#define PD_ATTR_SIZE_MIN  64  /* PERF_ATTR_SIZE_VER0 */
#define PD_ATTR_SIZE_VER7 128 /* PERF_ATTR_SIZE_VER7: what perf 5.13 to 6.3 write */

enum pd_type {
	PD_TYPE_HARDWARE = 0,
	PD_TYPE_SOFTWARE = 1,
	PD_TYPE_TRACEPOINT = 2,
	PD_TYPE_HW_CACHE = 3,
	PD_TYPE_RAW = 4,
	PD_TYPE_BREAKPOINT = 5,
};

#define PD_MISC_CPUMODE_MASK	   7
#define PD_MISC_KERNEL		   1
#define PD_MISC_USER		   2
#define PD_MISC_GUEST_KERNEL	   4
#define PD_MISC_MMAP_DATA	   (1 << 13)
#define PD_MISC_COMM_EXEC	   (1 << 13)
#define PD_MISC_SWITCH_OUT	   (1 << 13)
#define PD_MISC_SWITCH_OUT_PREEMPT (1 << 14)
#define PD_MISC_MMAP_BUILD_ID	   (1 << 14)
#define PD_MISC_BUILD_ID_SIZE	   (1 << 15)
#define PD_MISC_LOST_SAMPLES_BPF   (1 << 15)

#endif
