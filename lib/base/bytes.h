/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_BASE_BYTES_H
#define VT_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Loads and stores of little- and big-endian integers.  They work on bytes, so neither alignment
 * nor the byte order of this machine matters.  Compilers turn each into one load or store.
 */
static inline uint16_t vt_le16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t vt_le32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t vt_le64(const uint8_t *p)
{
	return vt_le32(p) | (uint64_t)vt_le32(p + 4) << 32;
}

static inline uint16_t vt_be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t vt_be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

static inline uint64_t vt_be64(const uint8_t *p)
{
	return (uint64_t)vt_be32(p) << 32 | vt_be32(p + 4);
}

static inline void vt_put_le16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static inline void vt_put_le32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
	p[2] = (uint8_t)(v >> 16);
	p[3] = (uint8_t)(v >> 24);
}

static inline void vt_put_le64(uint8_t *p, uint64_t v)
{
	vt_put_le32(p, (uint32_t)v);
	vt_put_le32(p + 4, (uint32_t)(v >> 32));
}

/*
 * Zigzag coding maps two's complement numbers of small magnitude to small unsigned numbers:
 * 0, -1, 1, -2 … become 0, 1, 2, 3 …
 */
static inline uint64_t vt_zigzag(uint64_t v)
{
	return (v << 1) ^ (0 - (v >> 63));
}

static inline uint64_t vt_unzigzag(uint64_t v)
{
	return (v >> 1) ^ (0 - (v & 1));
}

/*
 * A bounds-checked cursor over untrusted bytes.  When a getter needs more bytes than are left, it
 * sets `bad` and moves to the end; every later getter then returns 0 or NULL.  A parser may
 * therefore read a whole structure and test `bad` once.  `big` selects big-endian byte order.
 */
struct vt_cursor {
	const uint8_t *p;
	const uint8_t *end;
	bool bad;
	bool big;
};

static inline struct vt_cursor vt_cursor_make(const void *data, size_t size, bool big)
{
	static const uint8_t nothing = 0;
	struct vt_cursor c = {(const uint8_t *)data, (const uint8_t *)data, false, big};

	/* An empty buffer may be NULL, and arithmetic on a null pointer is undefined. */
	if (data)
		c.end += size;
	else
		c.p = c.end = &nothing;
	return c;
}

static inline size_t vt_cursor_left(const struct vt_cursor *c)
{
	return (size_t)(c->end - c->p);
}

/* Consumes `size` bytes and returns their address.  NULL and `bad` when fewer are left. */
static inline const uint8_t *vt_cursor_take(struct vt_cursor *c, uint64_t size)
{
	const uint8_t *p = c->p;

	if (size > (uint64_t)(c->end - c->p)) {
		c->bad = true;
		c->p = c->end;
		return NULL;
	}
	c->p += size;
	return p;
}

static inline uint8_t vt_cursor_u8(struct vt_cursor *c)
{
	const uint8_t *p = vt_cursor_take(c, 1);

	return p ? *p : 0;
}

static inline uint16_t vt_cursor_u16(struct vt_cursor *c)
{
	const uint8_t *p = vt_cursor_take(c, 2);

	return !p ? 0 : c->big ? vt_be16(p) : vt_le16(p);
}

static inline uint32_t vt_cursor_u32(struct vt_cursor *c)
{
	const uint8_t *p = vt_cursor_take(c, 4);

	return !p ? 0 : c->big ? vt_be32(p) : vt_le32(p);
}

static inline uint64_t vt_cursor_u64(struct vt_cursor *c)
{
	const uint8_t *p = vt_cursor_take(c, 8);

	return !p ? 0 : c->big ? vt_be64(p) : vt_le64(p);
}

/* Reads an unsigned LEB128 number.  Sets `bad` if it has more than 10 bytes or 64 bits. */
static inline uint64_t vt_cursor_varint(struct vt_cursor *c)
{
	uint64_t v = 0;
	unsigned shift;

	for (shift = 0; shift < 64; shift += 7) {
		uint8_t b = vt_cursor_u8(c);

		if (shift == 63 && b > 1)
			break;
		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return v;
	}
	c->bad = true;
	c->p = c->end;
	return 0;
}

#ifdef __cplusplus
}
#endif
#endif
