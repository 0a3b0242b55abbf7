/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_DATA_SOURCE_H
#define VT_PROFILE_DATA_SOURCE_H

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

#endif
