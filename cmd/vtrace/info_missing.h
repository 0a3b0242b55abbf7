/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_VTRACE_INFO_MISSING_H
#define CMD_VTRACE_INFO_MISSING_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/table.h"
#include "cmd/vtrace/names.h"
#include "image/addrspace.h"

/*
 * The code that the decoder of a trace did not have (GAP records with an address): by image; where
 * nothing is known to be mapped, by the MiB that holds the address.
 */
struct missing_range {
	uint64_t image; /* key: id of its IMAGE record, or MISSING_UNMAPPED, */
	uint64_t mib;	/* key: 0 in an image, else the address of the MiB */
	uint64_t places;
	uint64_t bytes; /* of the trace that were not decoded there */
	uint64_t first; /* lowest and highest: offset in the image, else address */
	uint64_t last;
};

#define MISSING_UNMAPPED UINT64_MAX

struct missing_code {
	struct vt_addrspace *as;
	struct vt_hash ranges; /* struct missing_range, at most SUMMARY_MAX */
};

/* False when memory ran out; missing_code_fini() is needed all the same. */
bool missing_code_init(struct missing_code *m);
void missing_code_fini(struct missing_code *m);

/* Takes a record of any kind; false when memory ran out. */
bool missing_code_feed(struct missing_code *m, const struct vt_record *rec);

/*
 * The ranges with the most places, a row for each; *left counts those that are left out.  Owned by
 * the caller; NULL: no memory.
 */
struct vt_table *missing_code_table(const struct missing_code *m, const struct names *names,
				    size_t *left);

/* All of them. */
json_t *missing_code_json(const struct missing_code *m, const struct names *names);

#endif
