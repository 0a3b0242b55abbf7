/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_INTERP_KMEM_FAST_H
#define VT_MACHINE_INTERP_KMEM_FAST_H

#include <stdbool.h>
#include <string.h>

#include "machine/interp/kmem.h"

/*
 * Accesses to known memory without a call, for the interpreter's loop: to known bytes of a line, in
 * a page that was found lately.  Private to lib/machine.
 */

#define VTI_KMEM_PAGE_BITS 12
#define VTI_KMEM_PAGE	   (UINT64_C(1) << VTI_KMEM_PAGE_BITS)
#define VTI_KMEM_LINES	   (VTI_KMEM_PAGE / VT_KMEM_LINE)

/* A word is read with one access, which may reach beyond the last byte. */
#define VTI_KMEM_PAD 8

struct vti_kmem_page {
	uint64_t number;
	uint64_t present;		/* bit i: line i was filled */
	uint64_t known[VTI_KMEM_LINES]; /* of lines that are present */
	uint8_t bytes[VTI_KMEM_PAGE + VTI_KMEM_PAD];
};

/* The pages found last, by a tag: the page's number, and above it the stamp of its time. */
#define VTI_KMEM_CACHE 128

struct vti_kmem_cached {
	uint64_t tag;
	struct vti_kmem_page *page;
};

/* What struct vt_kmem begins with. */
struct vti_kmem_head {
	uint64_t tag; /* of the stamp */
	struct vti_kmem_cached cache[VTI_KMEM_CACHE];
};

/* Where `size` known bytes (1 to 32) are; NULL: they are not, or they are not at hand. */
static inline uint8_t *vti_kmem_at(struct vt_kmem *m, uint64_t addr, unsigned size)
{
	struct vti_kmem_head *h = (struct vti_kmem_head *)m;
	uint64_t number = addr >> VTI_KMEM_PAGE_BITS;
	struct vti_kmem_cached *c = &h->cache[number % VTI_KMEM_CACHE];
	unsigned line = (unsigned)(addr / VT_KMEM_LINE % VTI_KMEM_LINES);

	if (c->tag != (h->tag | number) || addr % VT_KMEM_LINE + size > VT_KMEM_LINE)
		return NULL;
	if (!(c->page->present >> line & 1) ||
	    ~c->page->known[line] >> addr % VT_KMEM_LINE & vt_low_bits(size))
		return NULL;
	return c->page->bytes + addr % VTI_KMEM_PAGE;
}

#endif
