/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_BASE_INTERN_H
#define VT_BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A pool that stores each distinct byte string once and numbers them.  Ids count up from 0 in the
 * order of first appearance; id 0 is always the empty string.
 */
struct vt_intern;

/* Owned by the caller; NULL when memory runs out. */
struct vt_intern *vt_intern_new(void);
void vt_intern_free(struct vt_intern *p);

/* Returns the string's id; a new string is copied.  UINT32_MAX when memory runs out. */
uint32_t vt_intern_add(struct vt_intern *p, const void *data, size_t size);

/* Returns the string's id, or UINT32_MAX if the pool does not have it. */
uint32_t vt_intern_find(const struct vt_intern *p, const void *data, size_t size);

/* Like vt_intern_add(), for a C string. */
uint32_t vt_intern_str(struct vt_intern *p, const char *s);

/*
 * Copies a string into the pool's memory, zero-terminated, without numbering or sharing it: for
 * many strings that are mostly distinct.  Borrowed until the pool is freed.  NULL when memory runs
 * out.
 */
const char *vt_intern_copy(struct vt_intern *p, const void *data, size_t size);

/* Returns the zero-terminated string of a valid id.  Borrowed until the pool is freed. */
const char *vt_intern_get(const struct vt_intern *p, uint32_t id);
size_t vt_intern_size(const struct vt_intern *p, uint32_t id);

#ifdef __cplusplus
}
#endif
#endif
