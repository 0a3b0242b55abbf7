/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_PIPELINE_OPCACHE_H
#define VT_MACHINE_PIPELINE_OPCACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/pipeline/core.h"

/*
 * What vt_core_op() said of instructions lately, by their bytes: programs consist of the same few
 * thousand instructions again and again.  For one machine.
 */
struct vt_opcache;

/* Owned by the caller; NULL when memory runs out. */
struct vt_opcache *vt_opcache_new(void);
void vt_opcache_free(struct vt_opcache *c);

/* True: the instruction that is all of code[0..size) was put in, and *op is what it was. */
bool vt_opcache_get(const struct vt_opcache *c, const uint8_t *code, size_t size,
		    struct vt_mop *op);
void vt_opcache_put(struct vt_opcache *c, const uint8_t *code, size_t size,
		    const struct vt_mop *op);

#endif
