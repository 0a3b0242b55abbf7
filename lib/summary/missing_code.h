/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_SUMMARY_MISSING_CODE_H
#define VT_SUMMARY_MISSING_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "image/addrspace.h"
#include "stream/record.h"

/*
 * The code that the decoder of a processor trace lacked: GAP records for VT_REASON_NO_CODE that
 * have an address.  They are grouped by image, or by MiB of addresses where nothing is mapped.
 */
struct vt_missing_range {
	uint64_t image; /* key: the id of its IMAGE record, or VT_MISSING_UNMAPPED; */
	uint64_t mib;	/* key: 0 in an image, else the address of the MiB */
	uint64_t places;
	uint64_t bytes; /* of the trace that were not decoded there */
	uint64_t first; /* lowest and highest: offset in the image, else address */
	uint64_t last;
};

#define VT_MISSING_UNMAPPED UINT64_MAX

/* More ranges than this are not kept. */
#define VT_MISSING_RANGES 1000000

struct vt_missing_code {
	struct vt_addrspace *as;
	struct vt_hash ranges; /* struct vt_missing_range */
};

/* Returns false when memory runs out.  vt_missing_code_fini() is needed in both cases. */
bool vt_missing_code_init(struct vt_missing_code *m);
void vt_missing_code_fini(struct vt_missing_code *m);

/* Takes a record of any kind.  Returns false when memory runs out. */
bool vt_missing_code_feed(struct vt_missing_code *m, const struct vt_record *rec);

/*
 * The ranges, by descending places, then by image and address; m->ranges.count of them.  Owned by
 * the caller; NULL when memory runs out.
 */
struct vt_missing_range *vt_missing_code_sort(const struct vt_missing_code *m);

#endif
