/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_VALUE_TEXT_H
#define VT_PROFILE_VALUE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "image/images.h"
#include "machine/insn/insn.h"
#include "profile/profile.h"

/* How a value is written. */
enum vt_value_format {
	VT_VALUE_AUTO, /* by its type: see vt_value_text() */
	VT_VALUE_HEX,
	VT_VALUE_DEC,
	VT_VALUE_FLOAT,
	VT_VALUE_CHAR,
	VT_VALUE_SYMBOL,
	VT_NVALUEFORMATS
};

/* `profile` and `images` are borrowed and give names to addresses; NULL: they have none. */
struct vt_value_style {
	enum vt_value_format format;
	const struct vt_profile *profile;
	struct vt_images *images;
};

/*
 * Appends a value of `size` bytes (1 to 8; others count as 8) as people read it.  Automatically:
 * floats as the shortest decimal that is the same float; what can be an address and lies in an
 * image as symbol+offset; a printable byte as 'x'; integers below a million in decimal, negative
 * ones only if the instruction takes them as signed or they are above -65536; packed values as {1,
 * 2}; all else in hexadecimal.  The text may come from an image: it is untrusted.
 */
void vt_value_text(struct vt_buf *out, uint64_t value, unsigned size, struct vt_number_type type,
		   const struct vt_value_style *style);

/*
 * Appends what lies at an address of the recorded processes, as in `main+0x10`, or
 * `libc.so.6+0x1234`, by its address in the file's own terms, where no symbol covers it; false
 * where no image is.
 */
bool vt_value_name(struct vt_buf *out, uint64_t address, const struct vt_value_style *style);

/* The same for an offset of an image. */
bool vt_place_name(struct vt_buf *out, uint32_t image, uint64_t offset, struct vt_images *images);

#endif
