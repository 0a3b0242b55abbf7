/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TOOLS_SHADOW_H
#define TOOLS_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

/*
 * A copy of a process's memory, as far as a recording tells: each byte with a mark that says where
 * it is known from, 0 where it is not.  Ends the program when memory runs out.
 */

#define SHADOW_PAGE 4096u

struct shadow_page {
	uint64_t number; /* first: the key */
	uint8_t *data;	 /* SHADOW_PAGE bytes, then the marks of as many */
};

struct shadow {
	struct vt_hash pages;
	size_t last; /* the page that was used last */
};

void shadow_init(struct shadow *s);
void shadow_fini(struct shadow *s);

/* The page with this number; when there is none, a new one of which nothing is known, or NULL. */
struct shadow_page *shadow_page(struct shadow *s, uint64_t number, bool make);

/* `data` may be NULL for zeros. */
void shadow_put(struct shadow *s, uint64_t addr, const uint8_t *data, uint64_t size, uint8_t mark);

/* Reads bytes and their marks. */
void shadow_get(struct shadow *s, uint64_t addr, uint8_t *data, uint8_t *marks, size_t size);

/* Nothing is known any more of these bytes, nor of others in the same pages. */
void shadow_forget(struct shadow *s, uint64_t addr, uint64_t size);

/* Adds the pages of `from`. */
void shadow_copy(struct shadow *to, const struct shadow *from);

#endif
