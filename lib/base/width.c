/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/width.h"

#include <stdint.h>
#include <string.h>

#include "base/name.h"

/* Width of a character, by the blocks of Unicode 15 that are entirely wide or combining. */
static size_t char_width(uint32_t c)
{
	static const struct {
		uint32_t first, last;
		uint8_t width;
	} blocks[] = {
		{0x0300, 0x036f, 0},   {0x1100, 0x115f, 2}, {0x1ab0, 0x1aff, 0},
		{0x1dc0, 0x1dff, 0},   {0x200b, 0x200f, 0}, {0x20d0, 0x20ff, 0},
		{0x2e80, 0xa4cf, 2},   {0xac00, 0xd7a3, 2}, {0xf900, 0xfaff, 2},
		{0xfe00, 0xfe0f, 0},   {0xfe20, 0xfe2f, 0}, {0xfe30, 0xfe6f, 2},
		{0xff00, 0xff60, 2},   {0xffe0, 0xffe6, 2}, {0x1f300, 0x1faff, 2},
		{0x20000, 0x3fffd, 2},
	};
	size_t i;

	if (c < blocks[0].first)
		return 1;
	for (i = 0; i < sizeof(blocks) / sizeof(*blocks); i++)
		if (c >= blocks[i].first && c <= blocks[i].last)
			return blocks[i].width;
	return 1;
}

/* Reads the character at *i and moves behind it. */
static uint32_t read_char(const char *text, size_t size, size_t *i)
{
	const uint8_t *p = (const uint8_t *)text;
	uint32_t c = p[(*i)++];
	unsigned more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;

	if (more)
		c &= 0x3fu >> more;
	while (more-- && *i < size)
		c = c << 6 | (p[(*i)++] & 0x3f);
	return c;
}

size_t vt_text_width(const char *text, size_t size)
{
	size_t i = 0, width = 0;

	while (i < size)
		width += char_width(read_char(text, size, &i));
	return width;
}

/* Moves behind the character or escape sequence at *i and returns its columns. */
static size_t skip_unit(const char *text, size_t size, size_t *i)
{
	size_t left = size - *i;

	if (text[*i] == '\\' && left >= 2) {
		size_t length = text[*i + 1] == 'x' && left >= 4 ? 4 : 2;

		*i += length;
		return length;
	}
	return char_width(read_char(text, size, i));
}

void vt_text_cut(struct vt_buf *out, const char *text, size_t size, size_t columns)
{
	size_t width = vt_text_width(text, size), head = columns / 2;
	size_t i, w, at = 0, start = 0, head_end = 0;

	if (width <= columns || !columns) {
		vt_buf_put(out, text, columns ? size : 0);
		return;
	}
	/* The end starts at the first character behind which no more columns are left than it has.
	 */
	for (i = 0; i < size; start = i, at += w) {
		w = skip_unit(text, size, &i);
		if (w && width - at <= columns - head - 1)
			break;
		if (at + w <= head)
			head_end = i;
	}
	vt_buf_put(out, text, head_end);
	vt_buf_put(out, VT_ELLIPSIS, strlen(VT_ELLIPSIS));
	vt_buf_put(out, text + start, size - start);
}
