/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_DATA_SOURCE_H
#define VT_PROFILE_DATA_SOURCE_H

#include <stdint.h>

#define VT_DATA_SOURCE_SIZE 200 /* all of it fits */

/*
 * Where the data of a memory access came from, of the words that SAMPLE.data_src has (union
 * perf_mem_data_src of linux/perf_event.h), in perf's terms: "L1 hit", "Local RAM hit", "N/A".
 * Returns `buf`.
 */
const char *vt_data_source_text(uint64_t data_src, char buf[VT_DATA_SOURCE_SIZE]);

#endif
