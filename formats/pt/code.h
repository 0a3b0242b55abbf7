/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_CODE_H
#define FORMATS_PT_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * The code of one address space: the bytes at each address.  Sections never overlap: a new section
 * replaces what it covers.
 */

struct vt_pt_section {
	uint64_t start;
	uint64_t size;
	const uint8_t *bytes; /* `size` of them; borrowed: they outlive the code */
	const char *path;     /* the file that contains them, or NULL; borrowed */
	uint64_t offset;      /* in that file */
};

struct vt_pt_code;

/* Owned by the caller; NULL when memory runs out. */
struct vt_pt_code *vt_pt_code_new(void);
void vt_pt_code_free(struct vt_pt_code *c);

/* A copy with the same sections, as after fork().  NULL: no memory. */
struct vt_pt_code *vt_pt_code_copy(const struct vt_pt_code *c);

/*
 * Adds a section; one that wraps around the end of the address space or is empty is -VT_E_FORMAT.
 * -VT_E_NOMEM; -VT_E_LIMIT: more than VT_PT_MAX_SECTIONS.
 */
#define VT_PT_MAX_SECTIONS 65536 /* about as many mappings as Linux allows: vm.max_map_count */
int vt_pt_code_add(struct vt_pt_code *c, const struct vt_pt_section *s, struct vt_error *err);

/* Removes the code in [start, start+size). */
int vt_pt_code_remove(struct vt_pt_code *c, uint64_t start, uint64_t size, struct vt_error *err);

/*
 * Sets the kernel's code, which all address spaces share: it is used where `c` has none.  Borrowed;
 * may be NULL.
 */
void vt_pt_code_set_kernel(struct vt_pt_code *c, const struct vt_pt_code *kernel);

/*
 * The bytes from an address up to the end of its section, *size of them, at least 1; NULL if there
 * is no section.  Borrowed; valid until the code changes.
 */
const uint8_t *vt_pt_code_at(const struct vt_pt_code *c, uint64_t ip, size_t *size);

/*
 * Copies up to `size` bytes from an address, across adjacent sections.  Returns how many it copied.
 */
size_t vt_pt_code_read(const struct vt_pt_code *c, uint64_t ip, uint8_t *out, size_t size);

/* The sections in the order of their addresses, without the kernel's. */
size_t vt_pt_code_count(const struct vt_pt_code *c);
const struct vt_pt_section *vt_pt_code_section(const struct vt_pt_code *c, size_t i);

/* A number that changes whenever the code may have changed. */
uint64_t vt_pt_code_generation(const struct vt_pt_code *c);

#endif
