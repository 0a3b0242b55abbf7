/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_BASE_INTERN_H
#define VT_BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A pool of byte strings, each kept once.  Ids are dense, in the order of first appearance, and
 * id 0 is always the empty string.
 */
struct vt_intern;

/* Owned by the caller; NULL when memory runs out. */
struct vt_intern *vt_intern_new(void);
void vt_intern_free(struct vt_intern *p);

/* The id of the string, which is copied if new; UINT32_MAX when memory runs out. */
uint32_t vt_intern_add(struct vt_intern *p, const void *data, size_t size);

/* The id of the string if the pool has it, else UINT32_MAX. */
uint32_t vt_intern_find(const struct vt_intern *p, const void *data, size_t size);

/* As vt_intern_add() for a C string. */
uint32_t vt_intern_str(struct vt_intern *p, const char *s);

/* The string of an id that the pool gave, zero-terminated; borrowed until the pool is freed. */
const char *vt_intern_get(const struct vt_intern *p, uint32_t id);
size_t vt_intern_size(const struct vt_intern *p, uint32_t id);
uint32_t vt_intern_count(const struct vt_intern *p);

#ifdef __cplusplus
}
#endif
#endif
