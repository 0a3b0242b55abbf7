/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_INTERP_KNOWN_MEMORY_FAST_H
#define VT_MACHINE_INTERP_KNOWN_MEMORY_FAST_H

#include <stdbool.h>
#include <string.h>

#include "machine/interp/known_memory.h"

/*
 * Fast inline accesses to known memory for the interpreter's loop: to known bytes of one line, in a
 * page that is in a cache of recent pages.  Private to lib/machine.
 */

#define VTI_KNOWN_PAGE_BITS 12
#define VTI_KNOWN_PAGE	    (UINT64_C(1) << VTI_KNOWN_PAGE_BITS)
#define VTI_KNOWN_LINES	    (VTI_KNOWN_PAGE / VT_KNOWN_LINE)

/* A word is read with one access, which may extend behind the last byte. */
#define VTI_KNOWN_PAD 8

struct vti_known_page {
	uint64_t number;
	uint64_t present;		 /* bit i: line i was filled */
	uint64_t known[VTI_KNOWN_LINES]; /* of lines that are present */
	uint8_t bytes[VTI_KNOWN_PAGE + VTI_KNOWN_PAD];
};

/* Recent pages by tag: the page's number, and above it the stamp, which changes at each reset. */
#define VTI_KNOWN_CACHE 128

struct vti_known_cached {
	uint64_t tag;
	struct vti_known_page *page;
};

/* The beginning of struct vt_known_memory. */
struct vti_known_head {
	uint64_t tag; /* the current stamp */
	struct vti_known_cached cache[VTI_KNOWN_CACHE];
};

/* Returns `size` known bytes (1 to 32), or NULL if they are unknown or not in the cache. */
static inline uint8_t *vti_known_at(struct vt_known_memory *m, uint64_t addr, unsigned size)
{
	struct vti_known_head *h = (struct vti_known_head *)m;
	uint64_t number = addr >> VTI_KNOWN_PAGE_BITS;
	struct vti_known_cached *c = &h->cache[number % VTI_KNOWN_CACHE];
	unsigned line = (unsigned)(addr / VT_KNOWN_LINE % VTI_KNOWN_LINES);

	if (c->tag != (h->tag | number) || addr % VT_KNOWN_LINE + size > VT_KNOWN_LINE)
		return NULL;
	if (!(c->page->present >> line & 1) ||
	    ~c->page->known[line] >> addr % VT_KNOWN_LINE & vt_low_bits(size))
		return NULL;
	return c->page->bytes + addr % VTI_KNOWN_PAGE;
}

#endif
