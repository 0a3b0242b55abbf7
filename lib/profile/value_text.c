/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/value_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Below, nothing is mapped on any Linux (vm.mmap_min_addr), so it is no address. */
#define LOWEST_ADDRESS 65536u

#define SMALL	       1000000u /* what people can take in at a glance in decimal */
#define SMALL_NEGATIVE 65536u

/* ---- addresses ---- */

/* What a symbol covers; with `any`, everything in an image. */
static bool put_symbol_offset(struct vt_buf *out, uint32_t image, uint64_t offset, bool any,
			      struct vt_images *images)
{
	const struct vt_image *im = vt_images_get(images, image);
	struct vt_location loc;

	vt_images_symbol(images, image, 0, offset, &loc);
	if (loc.symbol) {
		vt_buf_printf(out, "%s", vt_images_display(images, image, 0, loc.symbol));
		if (loc.vaddr != loc.symbol->start)
			vt_buf_printf(out, "+0x%" PRIx64, loc.vaddr - loc.symbol->start);
		return true;
	}
	if (!any || !im || im->type == VT_IMAGE_ANON)
		return false;
	vt_buf_printf(out, "%s+0x%" PRIx64, im->name, loc.vaddr);
	return true;
}

bool vt_place_name(struct vt_buf *out, uint32_t image, uint64_t offset, struct vt_images *images)
{
	return put_symbol_offset(out, image, offset, true, images);
}

bool vt_value_name(struct vt_buf *out, uint64_t address, const struct vt_value_style *style)
{
	const struct vt_context *c = style->profile ? vt_profile_context(style->profile) : NULL;
	const struct vt_image *im;
	uint32_t image;
	uint64_t offset;

	if (!c || !style->images || address < LOWEST_ADDRESS)
		return false;
	if (vt_context_find(c, address, &image, &offset)) {
		if (vt_context_has_code(c, image))
			return put_symbol_offset(out, image, offset, true, style->images);
		/* A file that is mapped without code may be of any format: do not open it. */
		im = vt_images_get(style->images, image);
		if (im && im->type != VT_IMAGE_ANON) {
			vt_buf_printf(out, "%s+0x%" PRIx64, im->name, offset);
			return true;
		}
	}
	/* Anonymous memory may be the .bss of the image that is mapped before it. */
	return vt_context_find_before(c, address, &image, &offset) &&
	       put_symbol_offset(out, image, offset, false, style->images);
}

/* ---- numbers ---- */

static uint64_t cut_value(uint64_t value, unsigned size)
{
	return size < 8 ? value & ((UINT64_C(1) << 8 * size) - 1) : value;
}

static bool top_bit(uint64_t value, unsigned size)
{
	return value >> (8 * size - 1) & 1;
}

static void put_hex(struct vt_buf *out, uint64_t value)
{
	vt_buf_printf(out, value ? "0x%" PRIx64 : "0", value);
}

static void put_decimal(struct vt_buf *out, uint64_t value, unsigned size, bool negative)
{
	if (negative)
		vt_buf_printf(out, "-%" PRIu64, cut_value(0 - value, size));
	else
		vt_buf_printf(out, "%" PRIu64, value);
}

static bool is_printable(uint64_t byte)
{
	return byte >= 0x20 && byte < 0x7f;
}

/* The shortest decimal that is read back as the same number. */
static void put_shortest_real(struct vt_buf *out, double v, bool single)
{
	char text[40];
	int digits;

	for (digits = 1; digits <= (single ? 9 : 17); digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (isnan(v) || (single ? strtof(text, NULL) == (float)v : strtod(text, NULL) == v))
			break;
	}
	vt_buf_printf(out, "%s%s", text, strpbrk(text, ".ein") ? "" : ".0");
}

static void put_float(struct vt_buf *out, uint64_t value, unsigned size)
{
	uint32_t low = (uint32_t)value;
	float single;
	double real;

	/* A register may hold a single one in its lower half; as a double it would be next to 0. */
	if (size == 4 || (size == 8 && value && value >> 32 == 0)) {
		memcpy(&single, &low, sizeof(single));
		put_shortest_real(out, (double)single, true);
	} else if (size == 8) {
		memcpy(&real, &value, sizeof(real));
		put_shortest_real(out, real, false);
	} else {
		put_hex(out, value);
	}
}

static void put_integer(struct vt_buf *out, uint64_t value, unsigned size,
			struct vt_number_type type, const struct vt_value_style *style)
{
	bool top = top_bit(value, size);
	bool negative = type.number == VT_NUMBER_SIGNED && top;

	if (type.may_point && size == 8 && vt_value_name(out, value, style))
		return;
	if (type.number == VT_NUMBER_INT && size > 1 && top &&
	    cut_value(0 - value, size) < SMALL_NEGATIVE)
		negative = true;
	if (type.number == VT_NUMBER_ADDRESS || type.number == VT_NUMBER_RAW)
		put_hex(out, value);
	else if (size == 1 && is_printable(value))
		vt_buf_printf(out, "'%c'", (int)value);
	else if (value < SMALL || negative)
		put_decimal(out, value, size, negative);
	else
		put_hex(out, value);
}

/* ---- packed values ---- */

static void put_chars(struct vt_buf *out, uint64_t value, unsigned size)
{
	char quote = size == 1 ? '\'' : '"';
	unsigned i;

	vt_buf_put_u8(out, (uint8_t)quote);
	for (i = 0; i < size; i++) {
		uint8_t byte = (uint8_t)(value >> 8 * i);

		vt_buf_put_u8(out, is_printable(byte) ? byte : '.');
	}
	vt_buf_put_u8(out, (uint8_t)quote);
}

static bool is_printable_text(uint64_t value, unsigned size)
{
	unsigned i;

	for (i = 0; i < size; i++)
		if (!is_printable(value >> 8 * i & 0xff))
			return false;
	return true;
}

static void put_packed(struct vt_buf *out, uint64_t value, unsigned size,
		       struct vt_number_type type, const struct vt_value_style *style)
{
	struct vt_number_type one = type;
	unsigned i, n = size / type.size;

	if (type.size == 1 && is_printable_text(value, size)) {
		put_chars(out, value, size);
		return;
	}
	if (type.size == 1 || type.number == VT_NUMBER_RAW) {
		put_hex(out, value);
		return;
	}
	one.may_point = false;
	for (i = 0; i < n; i++) {
		vt_buf_printf(out, i ? ", " : "{");
		vt_value_text(out, value, type.size, one, style);
		value >>= 8 * type.size % 64;
	}
	vt_buf_put_u8(out, '}');
}

/* ---- */

static void put_auto(struct vt_buf *out, uint64_t value, unsigned size, struct vt_number_type type,
		     const struct vt_value_style *style)
{
	if (type.size && type.size < size && type.elements > 1)
		put_packed(out, value, size, type, style);
	else if (type.number == VT_NUMBER_FLOAT && type.size == size)
		put_float(out, value, size);
	else if (type.number == VT_NUMBER_FLOAT)
		put_hex(out, value);
	else
		put_integer(out, value, size, type, style);
}

void vt_value_text(struct vt_buf *out, uint64_t value, unsigned size, struct vt_number_type type,
		   const struct vt_value_style *style)
{
	if (size < 1 || size > 8)
		size = 8;
	value = cut_value(value, size);
	switch (style->format) {
	case VT_VALUE_HEX:
		vt_buf_printf(out, "0x%" PRIx64, value);
		break;
	case VT_VALUE_DEC:
		put_decimal(out, value, size,
			    top_bit(value, size) && (type.number == VT_NUMBER_SIGNED ||
						     (type.number == VT_NUMBER_INT && size > 1)));
		break;
	case VT_VALUE_FLOAT:
		if (type.number == VT_NUMBER_FLOAT && type.size == 4 && size == 8 &&
		    type.elements > 1)
			put_packed(out, value, size, type, style);
		else
			put_float(out, value, size);
		break;
	case VT_VALUE_CHAR:
		put_chars(out, value, size);
		break;
	case VT_VALUE_SYMBOL:
		if (!vt_value_name(out, value, style))
			put_hex(out, value);
		break;
	default:
		put_auto(out, value, size, type, style);
		break;
	}
}
