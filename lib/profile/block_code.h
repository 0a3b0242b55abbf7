/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_BLOCK_CODE_H
#define VT_PROFILE_BLOCK_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/context.h"
#include "stream/record.h"

/*
 * The machine code that a stream's BLOCK records hold: for listings of code that no file has, as a
 * just-in-time compiler's or patched code, or whose file is gone.  Where two blocks have different
 * code at the same place of an image, the later counts.
 */
struct vt_blockcode;

/* `context` is borrowed.  Owned by the caller; NULL when memory runs out. */
struct vt_blockcode *vt_blockcode_new(const struct vt_context *context);
void vt_blockcode_free(struct vt_blockcode *c);

/*
 * A vt_consume_fn; `code` is the struct vt_blockcode.  Only BLOCK records matter, and those that
 * contradict themselves do not.  A block lies in the image that its process has mapped there at the
 * time.  -VT_E_NOMEM.
 */
int vt_blockcode_feed(void *code, const struct vt_block *block, uint32_t first, uint32_t count,
		      struct vt_error *err);

/*
 * After the last record: finds out in which images those blocks lie that came before their
 * mappings.  Blocks that lie in none, or in anonymous code, are found as VT_UNMAPPED_IMAGE and
 * their address.  -VT_E_NOMEM.
 */
int vt_blockcode_finish(struct vt_blockcode *c, struct vt_error *err);

/* The bytes of the instruction at an offset of an image, or NULL.  Borrowed. */
const uint8_t *vt_blockcode_at(const struct vt_blockcode *c, uint32_t image, uint64_t offset,
			       size_t *size);

/* Whether blocks had different instructions there. */
bool vt_blockcode_varies(const struct vt_blockcode *c, uint32_t image, uint64_t offset);

#endif
