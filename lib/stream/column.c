/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/column_internal.h"

#include <string.h>

/* What a predictor leaves of the values, in a form whose small numbers are short. */
static void residues(enum vti_predictor p, const uint64_t *v, size_t n, uint64_t *out)
{
	size_t i;

	if (p == VTI_PREDICT_NONE) {
		memcpy(out, v, n * sizeof(*v));
		return;
	}
	out[0] = vt_zigzag(v[0]);
	if (p == VTI_PREDICT_LAST) {
		for (i = 1; i < n; i++)
			out[i] = vt_zigzag(v[i] - v[i - 1]);
		return;
	}
	if (n > 1)
		out[1] = vt_zigzag(v[1] - 2 * v[0]);
	for (i = 2; i < n; i++)
		out[i] = vt_zigzag(v[i] - 2 * v[i - 1] + v[i - 2]);
}

static void restore(enum vti_predictor p, uint64_t *v, size_t n)
{
	uint64_t last = 0, stride = 0;
	size_t i;

	if (p == VTI_PREDICT_LAST) {
		for (i = 0; i < n; i++)
			v[i] = last += vt_unzigzag(v[i]);
	} else if (p == VTI_PREDICT_STRIDE) {
		for (i = 0; i < n; i++) {
			stride += vt_unzigzag(v[i]);
			v[i] = last += stride;
		}
	}
}

/* 0, 1, 2, 3 for numbers that fit 1, 2, 4, 8 bytes. */
static unsigned size_class(uint64_t x)
{
	return (x > 0xff) + (x > 0xffff) + (x > 0xffffffff);
}

/*
 * All bits that occur in the residues of each predictor: their widths, in one pass over the values.
 */
static void gather_bits(const uint64_t *v, size_t n, uint64_t bits[VTI_NPREDICTORS])
{
	uint64_t plain = v[0];
	uint64_t delta = vt_zigzag(v[0]);
	uint64_t stride = vt_zigzag(v[0]);
	size_t i;

	if (n > 1) {
		plain |= v[1];
		delta |= vt_zigzag(v[1] - v[0]);
		stride |= vt_zigzag(v[1] - 2 * v[0]);
	}
	for (i = 2; i < n; i++) {
		uint64_t d = v[i] - v[i - 1];

		plain |= v[i];
		delta |= vt_zigzag(d);
		stride |= vt_zigzag(d - v[i - 1] + v[i - 2]);
	}
	bits[VTI_PREDICT_NONE] = plain;
	bits[VTI_PREDICT_LAST] = delta;
	bits[VTI_PREDICT_STRIDE] = stride;
}

static size_t mixed_size(const uint64_t *r, size_t n)
{
	size_t size = (n + 3) / 4;
	size_t i;

	for (i = 0; i < n; i++)
		size += (size_t)1 << size_class(r[i]);
	return size;
}

struct choice {
	enum vti_predictor predictor;
	enum vti_width width;
	size_t size;
};

static struct choice choose(const uint64_t *v, size_t n, uint64_t *scratch)
{
	struct choice best = {VTI_PREDICT_NONE, VTI_WIDTH_8, SIZE_MAX};
	uint64_t bits[VTI_NPREDICTORS];
	unsigned p;

	gather_bits(v, n, bits);
	for (p = 0; p < VTI_NPREDICTORS; p++) {
		unsigned class = size_class(bits[p]);

		if (n << class < best.size)
			best = (struct choice){p, VTI_WIDTH_1 + class, n << class};
	}
	if (best.width == VTI_WIDTH_1)
		return best;
	for (p = 0; p < VTI_NPREDICTORS; p++) {
		size_t size;

		residues(p, v, n, scratch);
		size = mixed_size(scratch, n);
		if (size < best.size)
			best = (struct choice){p, VTI_WIDTH_MIXED, size};
	}
	return best;
}

static void put_fixed(uint8_t *to, const uint64_t *r, size_t n, enum vti_width width)
{
	size_t i;

	if (width == VTI_WIDTH_1)
		for (i = 0; i < n; i++)
			to[i] = (uint8_t)r[i];
	else if (width == VTI_WIDTH_2)
		for (i = 0; i < n; i++)
			vt_put_le16(to + 2 * i, (uint16_t)r[i]);
	else if (width == VTI_WIDTH_4)
		for (i = 0; i < n; i++)
			vt_put_le32(to + 4 * i, (uint32_t)r[i]);
	else
		for (i = 0; i < n; i++)
			vt_put_le64(to + 8 * i, r[i]);
}

static void put_mixed(uint8_t *tags, const uint64_t *r, size_t n)
{
	uint8_t *to = tags + (n + 3) / 4;
	size_t i;

	memset(tags, 0, (n + 3) / 4);
	for (i = 0; i < n; i++) {
		unsigned class = size_class(r[i]);
		unsigned b;

		tags[i / 4] |= (uint8_t)(class << (i % 4 * 2));
		for (b = 0; b < 1u << class; b++)
			*to++ = (uint8_t)(r[i] >> (8 * b));
	}
}

static int all_equal(const uint64_t *v, size_t n)
{
	size_t i;

	/* A look at the ends settles most columns without a pass over them. */
	if (n && v[0] != v[n - 1])
		return 0;
	for (i = 1; i < n; i++)
		if (v[i] != v[0])
			return 0;
	return 1;
}

void vti_column_encode(struct vt_buf *out, const uint64_t *v, size_t n, uint64_t *scratch)
{
	struct choice best;
	uint8_t *to;

	if (all_equal(v, n)) {
		vt_buf_put_u8(out, VTI_WIDTH_CONST);
		vt_buf_put_varint(out, n ? v[0] : 0);
		return;
	}
	best = choose(v, n, scratch);
	residues(best.predictor, v, n, scratch);
	vt_buf_put_u8(out, (uint8_t)(best.predictor << 4 | best.width));
	to = vt_buf_reserve(out, best.size);
	if (!to)
		return;
	if (best.width == VTI_WIDTH_MIXED)
		put_mixed(to, scratch, n);
	else
		put_fixed(to, scratch, n, best.width);
	out->size += best.size;
}

int vti_column_probe(struct vt_cursor *c, uint64_t *value)
{
	uint8_t code = c->p < c->end ? *c->p : 0xff;

	if (code >> 4 >= VTI_NPREDICTORS || (code & 15) >= VTI_NWIDTHS)
		return -1;
	if (code != VTI_WIDTH_CONST)
		return (code & 15) == VTI_WIDTH_CONST ? -1 : 0;
	vt_cursor_u8(c);
	*value = vt_cursor_varint(c);
	return c->bad ? -1 : 1;
}

static int get_fixed(struct vt_cursor *c, uint64_t *v, size_t n, enum vti_width width)
{
	const uint8_t *p = vt_cursor_take(c, (uint64_t)n << (width - VTI_WIDTH_1));
	size_t i;

	if (!p)
		return -1;
	if (width == VTI_WIDTH_1)
		for (i = 0; i < n; i++)
			v[i] = p[i];
	else if (width == VTI_WIDTH_2)
		for (i = 0; i < n; i++)
			v[i] = vt_le16(p + 2 * i);
	else if (width == VTI_WIDTH_4)
		for (i = 0; i < n; i++)
			v[i] = vt_le32(p + 4 * i);
	else
		for (i = 0; i < n; i++)
			v[i] = vt_le64(p + 8 * i);
	return 0;
}

static uint64_t get_sized(const uint8_t *p, unsigned class)
{
	switch (class) {
	case 0:
		return *p;
	case 1:
		return vt_le16(p);
	case 2:
		return vt_le32(p);
	default:
		return vt_le64(p);
	}
}

static int get_mixed(struct vt_cursor *c, uint64_t *v, size_t n)
{
	static const uint64_t masks[4] = {0xff, 0xffff, 0xffffffff, UINT64_MAX};
	const uint8_t *tags = vt_cursor_take(c, (n + 3) / 4);
	const uint8_t *p = c->p;
	size_t i = 0;

	if (!tags)
		return -1;
	/* While eight bytes are left, one load and a mask serve every width. */
	for (; i < n && c->end - p >= 8; i++) {
		unsigned class = tags[i / 4] >> (i % 4 * 2) & 3;

		v[i] = vt_le64(p) & masks[class];
		p += (size_t)1 << class;
	}
	for (; i < n; i++) {
		unsigned class = tags[i / 4] >> (i % 4 * 2) & 3;

		if ((size_t)(c->end - p) < (size_t)1 << class)
			return -1;
		v[i] = get_sized(p, class);
		p += (size_t)1 << class;
	}
	c->p = p;
	return 0;
}

int vti_column_decode(struct vt_cursor *c, uint64_t *v, size_t n)
{
	uint8_t code = vt_cursor_u8(c);
	enum vti_width width = code & 15;
	int r = width == VTI_WIDTH_MIXED ? get_mixed(c, v, n) : get_fixed(c, v, n, width);

	if (r == 0)
		restore(code >> 4, v, n);
	return r;
}
