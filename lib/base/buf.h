/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_BASE_BUF_H
#define VT_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A growable byte buffer.  Initialize it with VT_BUF_INIT and free it with vt_buf_free().  When
 * memory runs out, `failed` is set and stays set, later appends do nothing, and the content remains
 * unchanged.  Callers may therefore append many times and test `failed` once.
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

/*
 * Reserves space for `more` bytes after the content and returns its address.  The caller writes
 * there and adds to `size`.  Returns NULL and sets `failed` when memory runs out.
 */
uint8_t *vt_buf_reserve(struct vt_buf *b, size_t more);

void vt_buf_put(struct vt_buf *b, const void *data, size_t size);
void vt_buf_put_u8(struct vt_buf *b, uint8_t v);
void vt_buf_put_le32(struct vt_buf *b, uint32_t v);
void vt_buf_put_le64(struct vt_buf *b, uint64_t v);
void vt_buf_put_varint(struct vt_buf *b, uint64_t v);

/* Appends the length as a varint, then the bytes. */
void vt_buf_put_block(struct vt_buf *b, const void *data, size_t size);

/* Append formatted text without its terminating zero. */
void vt_buf_printf(struct vt_buf *b, const char *fmt, ...) VT_PRINTF(2, 3);
void vt_buf_vprintf(struct vt_buf *b, const char *fmt, va_list ap) VT_PRINTF(2, 0);

/*
 * Returns the content as a C string, by placing a zero after it, or "" when memory ran out.
 * Borrowed until the next change of the buffer.
 */
const char *vt_buf_str(struct vt_buf *b);

/*
 * Reallocates an array so that it has room for at least `need` elements of `size` bytes.  `array`
 * is the address of the caller's pointer, `*cap` the number of allocated elements.  The capacity
 * doubles, so appending takes linear time in total.  Returns false, with everything unchanged, when
 * memory runs out.
 */
bool vt_array_grow(void *array, size_t *cap, size_t need, size_t size);

/*
 * Binary search in an array of `count` elements of `size` bytes.  Each element begins with its key,
 * a uint64_t; the array is sorted by key.  Returns the number of elements whose key is less than
 * `key`, which is the index of the first element whose key is not.
 */
size_t vt_array_below(const void *array, size_t count, size_t size, uint64_t key);

/* Like vt_array_below(), but counts the elements whose key is less than or equal to `key`. */
size_t vt_array_up_to(const void *array, size_t count, size_t size, uint64_t key);

#ifdef __cplusplus
}
#endif
#endif
