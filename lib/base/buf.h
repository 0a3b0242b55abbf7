/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_BASE_BUF_H
#define VT_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A growable byte buffer.  Start from VT_BUF_INIT; free with vt_buf_free().  When memory runs out
 * `failed` sticks, later appends do nothing, and the content stays as it was: test it once at
 * the end.
 */
struct vt_buf {
	uint8_t *data;
	size_t size;
	size_t cap;
	bool failed;
};

#define VT_BUF_INIT                                                                                \
	{                                                                                          \
		NULL, 0, 0, false                                                                  \
	}

void vt_buf_free(struct vt_buf *b);

/* Makes room for `more` bytes past the end; returns where they start, or NULL (and `failed`). */
uint8_t *vt_buf_reserve(struct vt_buf *b, size_t more);

void vt_buf_put(struct vt_buf *b, const void *data, size_t size);
void vt_buf_put_u8(struct vt_buf *b, uint8_t v);
void vt_buf_put_le32(struct vt_buf *b, uint32_t v);
void vt_buf_put_le64(struct vt_buf *b, uint64_t v);
void vt_buf_put_varint(struct vt_buf *b, uint64_t v);

/* A varint length and the bytes. */
void vt_buf_put_block(struct vt_buf *b, const void *data, size_t size);

/* Appends formatted text, without the terminating zero. */
void vt_buf_printf(struct vt_buf *b, const char *fmt, ...) VT_PRINTF(2, 3);

/* The content as a C string (a zero is placed after it); "" when memory ran out.  Borrowed. */
const char *vt_buf_str(struct vt_buf *b);

/*
 * Makes `*array` (elements of `size` bytes, `*cap` of them allocated) hold at least `need`
 * elements, doubling so that appending is linear.  Returns false, with everything unchanged, when
 * memory runs out.  `array` is the address of the caller's pointer.
 */
bool vt_array_grow(void *array, size_t *cap, size_t need, size_t size);

#ifdef __cplusplus
}
#endif
#endif
