/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/buf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

/* Formatted text shorter than this is written in one pass, longer text in two. */
#define USUAL_TEXT 128

void vt_buf_free(struct vt_buf *b)
{
	free(b->data);
	*b = (struct vt_buf)VT_BUF_INIT;
}

uint8_t *vt_buf_reserve(struct vt_buf *b, size_t more)
{
	assert(b->size <= b->cap);
	if (b->failed)
		return NULL;
	if (!more)
		more = 1; /* an empty buffer must return an address, too */
	if (more > SIZE_MAX - b->size || !vt_array_grow(&b->data, &b->cap, b->size + more, 1)) {
		b->failed = true;
		return NULL;
	}
	assert(b->cap - b->size >= more);
	return b->data + b->size;
}

void vt_buf_put(struct vt_buf *b, const void *data, size_t size)
{
	uint8_t *p = vt_buf_reserve(b, size);

	if (p && size) {
		memcpy(p, data, size);
		b->size += size;
	}
}

void vt_buf_put_u8(struct vt_buf *b, uint8_t v)
{
	vt_buf_put(b, &v, 1);
}

void vt_buf_put_le32(struct vt_buf *b, uint32_t v)
{
	uint8_t raw[4];

	vt_put_le32(raw, v);
	vt_buf_put(b, raw, sizeof(raw));
}

void vt_buf_put_le64(struct vt_buf *b, uint64_t v)
{
	uint8_t raw[8];

	vt_put_le64(raw, v);
	vt_buf_put(b, raw, sizeof(raw));
}

void vt_buf_put_varint(struct vt_buf *b, uint64_t v)
{
	uint8_t raw[10];
	size_t n = 0;

	while (v >= 0x80) {
		raw[n++] = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	assert(n < sizeof(raw));
	raw[n++] = (uint8_t)v;
	vt_buf_put(b, raw, n);
}

void vt_buf_put_block(struct vt_buf *b, const void *data, size_t size)
{
	vt_buf_put_varint(b, size);
	vt_buf_put(b, data, size);
}

void vt_buf_vprintf(struct vt_buf *b, const char *fmt, va_list ap)
{
	char *p = (char *)vt_buf_reserve(b, USUAL_TEXT);
	va_list again;
	int n;

	if (!p)
		return;
	va_copy(again, ap);
	n = vsnprintf(p, USUAL_TEXT, fmt, ap);
	if (n >= USUAL_TEXT) {
		p = (char *)vt_buf_reserve(b, (size_t)n + 1);
		if (p)
			vsnprintf(p, (size_t)n + 1, fmt, again);
	}
	va_end(again);
	if (n < 0)
		b->failed = true;
	else if (p)
		b->size += (size_t)n;
}

void vt_buf_printf(struct vt_buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vt_buf_vprintf(b, fmt, ap);
	va_end(ap);
}

const char *vt_buf_str(struct vt_buf *b)
{
	uint8_t *p = vt_buf_reserve(b, 1);

	if (!p)
		return "";
	*p = 0;
	return (const char *)b->data;
}

bool vt_array_grow(void *array, size_t *cap, size_t need, size_t size)
{
	size_t want = *cap;
	void *old, *grown;

	assert(size > 0);
	if (need <= *cap)
		return true;
	while (want < need)
		want = want < 16 ? 16 : want > SIZE_MAX / 2 ? need : want * 2;
	if (want > SIZE_MAX / size)
		return false;
	memcpy(&old, array, sizeof(old));
	grown = realloc(old, want * size);
	if (!grown)
		return false;
	memcpy(array, &grown, sizeof(grown));
	*cap = want;
	return true;
}

size_t vt_array_below(const void *array, size_t count, size_t size, uint64_t key)
{
	const uint8_t *elements = array;
	size_t low = 0, high = count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		uint64_t k;

		memcpy(&k, elements + mid * size, sizeof(k));
		if (k < key)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

size_t vt_array_up_to(const void *array, size_t count, size_t size, uint64_t key)
{
	return key == UINT64_MAX ? count : vt_array_below(array, count, size, key + 1);
}
