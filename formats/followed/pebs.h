/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_FOLLOWED_PEBS_H
#define FORMATS_FOLLOWED_PEBS_H

#include <stdint.h>

/*
 * Reads what the kernel makes of the memory fields of Intel's PEBS records, and of their like on
 * other machines: a sample's data source (union perf_mem_data_src) and weights.
 */

enum vt_cpu_vendor { VT_CPU_UNKNOWN, VT_CPU_INTEL, VT_CPU_AMD };

/*
 * Sets the fields of one instruction in a row of SAMPLE from its `data_src`, `weight`, `weight2`
 * and `weight3`, as far as `has` says that they were recorded.  A field that is known already keeps
 * its value.
 */
void vt_pebs_read(uint64_t *row, enum vt_cpu_vendor vendor);

#endif
