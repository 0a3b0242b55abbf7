/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_VALUE_TEXT_H
#define VT_PROFILE_VALUE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "image/images.h"
#include "machine/insn/insn.h"
#include "profile/profile.h"

/* The format of a value's text. */
enum vt_value_format {
	VT_VALUE_AUTO, /* by its type: see vt_value_text() */
	VT_VALUE_HEX,
	VT_VALUE_DEC,
	VT_VALUE_FLOAT,
	VT_VALUE_CHAR,
	VT_VALUE_SYMBOL,
	VT_NVALUEFORMATS
};

/* `profile` and `images` name addresses; borrowed, and NULL for no names. */
struct vt_value_style {
	enum vt_value_format format;
	const struct vt_profile *profile;
	struct vt_images *images;
};

/*
 * Appends a value of `size` bytes (1 to 8; others count as 8) as readable text.  VT_VALUE_AUTO
 * prints floats as the shortest decimal that reads back as the same float; possible addresses in an
 * image as symbol+offset; a printable byte as 'x'; integers below a million in decimal, as negative
 * numbers only if the instruction treats them as signed or they are above -65536; packed values as
 * {1, 2}; all others in hexadecimal.  Names in the text are untrusted.
 */
void vt_value_text(struct vt_buf *out, uint64_t value, unsigned size, struct vt_number_type type,
		   const struct vt_value_style *style);

/*
 * Appends the name of an address of the recorded processes: `main+0x10`, or without a symbol
 * `libc.so.6+0x1234` with the file's own address.  False if the address is in no image.
 */
bool vt_value_name(struct vt_buf *out, uint64_t address, const struct vt_value_style *style);

/* Appends the name of an offset of an image, likewise. */
bool vt_place_name(struct vt_buf *out, uint32_t image, uint64_t offset, struct vt_images *images);

#endif
