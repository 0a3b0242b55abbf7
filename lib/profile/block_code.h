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
 * The machine code in a stream's BLOCK records, for listings of code that is in no file: code of a
 * just-in-time compiler, patched code, or code whose file is missing.  Where two blocks have
 * different code at the same place of an image, the later one wins.
 */
struct vt_blockcode;

/* `context` is borrowed.  Owned by the caller; NULL when memory runs out. */
struct vt_blockcode *vt_blockcode_new(const struct vt_context *context);
void vt_blockcode_free(struct vt_blockcode *c);

/*
 * A vt_consume_fn; `code` is the struct vt_blockcode.  Uses BLOCK records, except those that
 * contradict themselves.  A block lies in the image that is mapped in its process when its record
 * comes.  -VT_E_NOMEM.
 */
int vt_blockcode_feed(void *code, const struct vt_block *block, uint32_t first, uint32_t count,
		      struct vt_error *err);

/*
 * Finds the images of blocks that came before their mappings.  Call it after the last record.
 * Blocks in no image or in anonymous code lie in VT_UNMAPPED_IMAGE at their address.  -VT_E_NOMEM.
 */
int vt_blockcode_finish(struct vt_blockcode *c, struct vt_error *err);

/* The *size bytes of the instruction at an offset of an image, or NULL.  Borrowed. */
const uint8_t *vt_blockcode_at(const struct vt_blockcode *c, uint32_t image, uint64_t offset,
			       size_t *size);

/* An instruction of a block. */
struct vt_blockinsn {
	uint64_t offset;
	uint32_t image;
	bool starts; /* a block: control arrived here */
	bool varies; /* as vt_blockcode_varies() */
	const uint8_t *code;
	size_t size;
};

/* The instructions, in the order in which they came; i < the count. */
size_t vt_blockcode_count(const struct vt_blockcode *c);
struct vt_blockinsn vt_blockcode_insn(const struct vt_blockcode *c, size_t i);

/* The one at an offset of an image; false: there is none. */
bool vt_blockcode_find(const struct vt_blockcode *c, uint32_t image, uint64_t offset,
		       struct vt_blockinsn *insn);

/* Whether blocks had different instructions at this place. */
bool vt_blockcode_varies(const struct vt_blockcode *c, uint32_t image, uint64_t offset);

#endif
