/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_DATA_SOURCE_H
#define VT_PROFILE_DATA_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#define VT_DATA_SOURCE_SIZE 320 /* all of it fits */

/*
 * Where the data of a memory access came from, of the words that SAMPLE.data_src has (union
 * perf_mem_data_src of linux/perf_event.h), in perf's terms: "L1 hit", "Local RAM hit", "N/A".
 * Returns `buf`.
 */
const char *vt_data_source_text(uint64_t data_src, char buf[VT_DATA_SOURCE_SIZE]);

/*
 * All that such a word tells of an access, as perf script prints it:
 * "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A".  Returns `buf`.
 */
const char *vt_data_source_line(uint64_t data_src, char buf[VT_DATA_SOURCE_SIZE]);

/*
 * What became of a load.  What hit neither the first data cache nor, of TLBs, the first or second
 * one for sure has missed: a load that finds its line in a fill buffer waits for the miss before.
 */
struct vt_load_outcome {
	bool cache_known;
	bool cache_missed;
	bool tlb_known;
	bool tlb_missed;
};

/* Sets what such a word tells of a load.  False: the access is none, or it is not told. */
bool vt_data_source_load(uint64_t data_src, struct vt_load_outcome *outcome);

#endif
