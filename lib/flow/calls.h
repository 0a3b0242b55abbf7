/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FLOW_CALLS_H
#define VT_FLOW_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "image/images.h"

/*
 * Facts about a whole image that the graphs of its procedures depend on.  They are found once, by a
 * survey of all its procedures, or taken from a packed image (image/packed.h).
 */

/* Returns true if the procedure at `target`, a vaddr, never returns. */
bool vt_calls_end(struct vt_images *images, uint32_t image, uint64_t target);

/*
 * Calls `fn` for each vaddr in [start, start + size) that a procedure outside of it jumps to, in
 * order.  Returns false as soon as `fn` does.
 */
bool vt_calls_into(struct vt_images *images, uint32_t image, uint64_t start, uint64_t size,
		   bool (*fn)(void *arg, uint64_t vaddr), void *arg);

#endif
