/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_MAP_H
#define VT_IMAGE_MAP_H

#include <stdbool.h>
#include <stdint.h>

/* A stretch of addresses of one process, or of the kernel, and the image that is mapped there. */
struct vt_map {
	uint64_t start;
	uint64_t end;	/* first address after it */
	uint64_t base;	/* offset in the image = address - base, modulo 2^64 */
	uint32_t image; /* id of its IMAGE record, or from VT_KSYMBOL_IMAGE on */
	uint32_t flags; /* MAP_* as recorded */
	uint8_t prot;	/* PROT_* as recorded */
	uint8_t type;	/* enum vt_image_type */
	uint8_t writes; /* how often it became writable; see vt_map_writes */
	bool found;	/* it was there already when recording began */
};

/*
 * vt_map.writes counts, up to VT_MAP_WRITES, how often the program could begin to write to these
 * pages since the file was mapped there: a mapping that is writable from the start counts as once.
 * It stays when the pages are protected again: what they hold by then is not what the file has.
 *
 * Recorders announce a mapping when it is made, and again when its protection changes.  Many of
 * them announce only what can be executed.  Then a change to "writable, not executable" and back
 * shows as nothing but a second announcement of the same pages as executable.  So does a file that
 * is mapped again where it was before; the two cannot be told apart, and both count.
 */
#define VT_MAP_WRITES 255

/*
 * An address as the image's own offset: of a file, the offset in the file; of anonymous code, the
 * address itself; of the kernel, the distance from the reference symbol that its path names
 * (`_text` mostly), which is the same wherever the kernel was loaded.
 */
static inline uint64_t vt_map_offset(const struct vt_map *m, uint64_t address)
{
	return address - m->base;
}

#endif
