/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/escape.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

/*
 * Length of the well-formed UTF-8 sequence at p (Unicode 15, table 3-7), or 0.  C1 controls
 * (U+0080 to U+009F) count as ill-formed: some terminals obey them.
 */
static size_t utf8_length(const uint8_t *p, size_t left)
{
	size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	size_t i;

	if (p[0] < 0xc2 || p[0] > 0xf4 || left < len)
		return 0;
	for (i = 1; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xc2 && p[1] < 0xa0) || (p[0] == 0xe0 && p[1] < 0xa0) ||
	    (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
	    (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return len;
}

/*
 * True for a control of the direction of text (Unicode 15, table of Bidi_Control): U+061C, U+200E,
 * U+200F, U+202A to U+202E, U+2066 to U+2069.  It would show what follows it in another order.
 */
static bool is_direction(const uint8_t *p, size_t len)
{
	if (len == 2)
		return p[0] == 0xd8 && p[1] == 0x9c;
	if (len != 3 || p[0] != 0xe2)
		return false;
	if (p[1] == 0x80)
		return p[2] == 0x8e || p[2] == 0x8f || (p[2] >= 0xaa && p[2] <= 0xae);
	return p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9;
}

static void escape_byte(struct vt_buf *out, uint8_t c)
{
	if (c == '\n')
		vt_buf_put(out, "\\n", 2);
	else if (c == '\t')
		vt_buf_put(out, "\\t", 2);
	else if (c == '\\')
		vt_buf_put(out, "\\\\", 2);
	else
		vt_buf_printf(out, "\\x%02x", c);
}

void vt_escape(struct vt_buf *out, const void *text, size_t size)
{
	const uint8_t *p = text;
	size_t i = 0;

	while (i < size) {
		size_t start = i;
		size_t len;

		while (i < size && p[i] >= 0x20 && p[i] < 0x7f && p[i] != '\\')
			i++;
		vt_buf_put(out, p + start, i - start);
		if (i == size)
			break;
		len = p[i] >= 0x80 ? utf8_length(p + i, size - i) : 0;
		assert(len <= size - i);
		if (len && !is_direction(p + i, len)) {
			vt_buf_put(out, p + i, len);
			i += len;
		} else {
			escape_byte(out, p[i++]);
		}
	}
}

void vt_escape_str(struct vt_buf *out, const char *s)
{
	vt_escape(out, s, strlen(s));
}
