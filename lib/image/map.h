/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_MAP_H
#define VT_IMAGE_MAP_H

#include <stdbool.h>
#include <stdint.h>

/* A mapping of an image in a process or in the kernel. */
struct vt_map {
	uint64_t start;
	uint64_t end;	/* first address after it */
	uint64_t base;	/* offset in the image = address - base, modulo 2^64 */
	uint32_t image; /* id of its IMAGE record, or VT_KSYMBOL_IMAGE + n */
	uint32_t flags; /* MAP_* as recorded */
	uint8_t prot;	/* PROT_* as recorded */
	uint8_t type;	/* enum vt_image_type */
	uint8_t writes; /* how often it became writable; see VT_MAP_WRITES */
	bool found;	/* it existed when recording began */
};

/*
 * vt_map.writes counts, up to VT_MAP_WRITES, how often these pages became writable since the file
 * was mapped there.  A mapping that is writable from the start counts once.  The count remains when
 * the pages are protected again, because their content may no longer be the file's.
 *
 * Recorders write a MAP record for a new mapping and for a change of its protection.  Many do so
 * only for executable mappings.  Then, a change to "writable, not executable" and back appears as a
 * second record of the same executable pages.  So does mapping the file again at the same place.
 * The two cannot be distinguished, and both count.
 */
#define VT_MAP_WRITES 255

/*
 * Converts an address to the image's offset: for a file, the offset in the file; for anonymous
 * code, the address; for the kernel, the distance from the reference symbol in its path (usually
 * `_text`), which does not depend on the load address.
 */
static inline uint64_t vt_map_offset(const struct vt_map *m, uint64_t address)
{
	return address - m->base;
}

#endif
