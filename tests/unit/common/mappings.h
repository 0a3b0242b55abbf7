/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_COMMON_MAPPINGS_H
#define TESTS_UNIT_COMMON_MAPPINGS_H

/* Mappings of processes, without a stream. */

#include <stdint.h>

#include "image/addrspace.h"
#include "tests/unit/common/onerecord.h"

#define MISC_KERNEL    1u
#define MISC_USER      2u
#define MISC_MMAP_DATA (1u << 13)

/*
 * Feeds a MAP record of a mapping that is made while recording.  Nothing in it says that the
 * recorder tells of mappings without code, too.
 */
static inline int map_pages(struct vt_addrspace *as, int32_t pid, uint64_t start, uint64_t length,
			    uint64_t offset, uint32_t image, uint32_t prot, struct vt_error *err)
{
	const uint64_t v[FIELDS] = {
		[VT_MAP_TIME] = 1,
		[VT_MAP_PID] = (uint64_t)(int64_t)pid,
		[VT_MAP_START] = start,
		[VT_MAP_LENGTH] = length,
		[VT_MAP_OFFSET] = offset,
		[VT_MAP_IMAGE] = image,
		[VT_MAP_PROT] = prot,
		[VT_MAP_MISC] = pid == VT_PID_KERNEL ? MISC_KERNEL : MISC_USER | MISC_MMAP_DATA,
	};
	struct one_record r;

	return vt_addrspace_feed(as, make_numbers(&r, VT_MAP, v), err);
}

#endif
