/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/column_internal.h"

#include <assert.h>
#include <string.h>

/*
 * Returns a predictor's residue of a value, coded so that short residues are small numbers.
 * Predictor p needs p values to start from.
 */
static inline uint64_t residue(enum vti_predictor p, const uint64_t *v)
{
	if (p == VTI_PREDICT_NONE)
		return v[0];
	if (p == VTI_PREDICT_LAST)
		return vt_zigzag(v[0] - v[-1]);
	return vt_zigzag(v[0] - 2 * v[-1] + v[-2]);
}

/* Reverts residue(): v[p..n-1] hold residues, the values before them are decoded already. */
static void add_predictions(enum vti_predictor p, uint64_t *v, size_t n)
{
	uint64_t last, stride;
	size_t i;

	if (p == VTI_PREDICT_LAST) {
		last = v[0];
		for (i = 1; i < n; i++)
			v[i] = last += vt_unzigzag(v[i]);
	} else if (p == VTI_PREDICT_STRIDE) {
		last = v[1];
		stride = v[1] - v[0];
		for (i = 2; i < n; i++) {
			stride += vt_unzigzag(v[i]);
			v[i] = last += stride;
		}
	}
}

/* Returns 0, 1, 2, 3 for numbers that fit 1, 2, 4, 8 bytes. */
static inline unsigned size_class(uint64_t x)
{
	static const uint8_t classes[8] = {0, 1, 2, 2, 3, 3, 3, 3};

	return classes[(63 - (unsigned)__builtin_clzll(x | 1)) / 8];
}

/* Returns the bits set in any of a predictor's residues, which tell the width that fits all. */
static uint64_t residue_bits(enum vti_predictor p, const uint64_t *v, size_t n)
{
	uint64_t bits = 0;
	size_t i;

	if (p == VTI_PREDICT_NONE)
		for (i = 0; i < n; i++)
			bits |= v[i];
	else if (p == VTI_PREDICT_LAST)
		for (i = 1; i < n; i++)
			bits |= residue(VTI_PREDICT_LAST, v + i);
	else
		for (i = 2; i < n; i++)
			bits |= residue(VTI_PREDICT_STRIDE, v + i);
	return bits;
}

/* `p` is constant at each call of this and what follows, so each gets loops of its own. */
static inline size_t measure_residues(const uint64_t *v, size_t n, enum vti_predictor p)
{
	size_t size = (n - p + 3) / 4;
	size_t i;

	for (i = p; i < n; i++)
		size += (size_t)1 << size_class(residue(p, v + i));
	return size;
}

/* Returns the bytes of a predictor's residues in the mixed width. */
static size_t measure_mixed(const uint64_t *v, size_t n, enum vti_predictor p)
{
	if (p == VTI_PREDICT_NONE)
		return measure_residues(v, n, VTI_PREDICT_NONE);
	if (p == VTI_PREDICT_LAST)
		return measure_residues(v, n, VTI_PREDICT_LAST);
	return measure_residues(v, n, VTI_PREDICT_STRIDE);
}

struct coding {
	enum vti_predictor predictor;
	enum vti_width width;
	size_t size;
};

static struct coding choose_coding(const uint64_t *v, size_t n)
{
	struct coding best = {VTI_PREDICT_NONE, VTI_WIDTH_8, SIZE_MAX};
	unsigned p;

	/* No width is better than one byte.  The last value excludes most predictors quickly. */
	for (p = 0; p < VTI_NPREDICTORS && p < n; p++)
		if (residue(p, v + n - 1) <= 0xff && residue_bits(p, v, n) <= 0xff)
			return (struct coding){p, VTI_WIDTH_1, n - p};
	for (p = 0; p < VTI_NPREDICTORS && p < n; p++) {
		unsigned class = size_class(residue_bits(p, v, n));

		if ((n - p) << class < best.size)
			best = (struct coding){p, VTI_WIDTH_1 + class, (n - p) << class};
	}
	for (p = 0; p < VTI_NPREDICTORS && p < n; p++) {
		size_t size = measure_mixed(v, n, p);

		if (size < best.size)
			best = (struct coding){p, VTI_WIDTH_MIXED, size};
	}
	return best;
}

/* Stores residues of a fixed width. */
static inline void encode_residues(uint8_t *to, const uint64_t *v, size_t n, enum vti_predictor p,
				   enum vti_width width)
{
	size_t i;

	if (width == VTI_WIDTH_1)
		for (i = p; i < n; i++)
			to[i - p] = (uint8_t)residue(p, v + i);
	else if (width == VTI_WIDTH_2)
		for (i = p; i < n; i++)
			vt_put_le16(to + 2 * (i - p), (uint16_t)residue(p, v + i));
	else if (width == VTI_WIDTH_4)
		for (i = p; i < n; i++)
			vt_put_le32(to + 4 * (i - p), (uint32_t)residue(p, v + i));
	else
		for (i = p; i < n; i++)
			vt_put_le64(to + 8 * (i - p), residue(p, v + i));
}

static void encode_fixed(uint8_t *to, const uint64_t *v, size_t n, const struct coding *how)
{
	if (how->predictor == VTI_PREDICT_NONE)
		encode_residues(to, v, n, VTI_PREDICT_NONE, how->width);
	else if (how->predictor == VTI_PREDICT_LAST)
		encode_residues(to, v, n, VTI_PREDICT_LAST, how->width);
	else
		encode_residues(to, v, n, VTI_PREDICT_STRIDE, how->width);
}

/* Stores residues of the mixed width, which take `size` bytes. */
static inline void mix_residues(uint8_t *tags, size_t size, const uint64_t *v, size_t n,
				enum vti_predictor p)
{
	uint8_t *to = tags + (n - p + 3) / 4, *end = tags + size;
	unsigned tag = 0, shift = 0;
	size_t i;

	for (i = p; i < n; i++) {
		uint64_t x = residue(p, v + i);
		unsigned class = size_class(x), b;

		/* Where eight bytes are left, one store works for every width. */
		if (end - to >= 8)
			vt_put_le64(to, x);
		else
			for (b = 0; b < 1u << class; b++)
				to[b] = (uint8_t)(x >> (8 * b));
		to += (size_t)1 << class;
		tag |= class << shift;
		shift += 2;
		if (shift == 8 || i + 1 == n) {
			*tags++ = (uint8_t)tag;
			tag = shift = 0;
		}
	}
	assert(to == end);
}

static void encode_mixed(uint8_t *to, const uint64_t *v, size_t n, const struct coding *how)
{
	if (how->predictor == VTI_PREDICT_NONE)
		mix_residues(to, how->size, v, n, VTI_PREDICT_NONE);
	else if (how->predictor == VTI_PREDICT_LAST)
		mix_residues(to, how->size, v, n, VTI_PREDICT_LAST);
	else
		mix_residues(to, how->size, v, n, VTI_PREDICT_STRIDE);
}

static int is_constant_column(const uint64_t *v, size_t n)
{
	uint64_t differ = 0;
	size_t i;

	/* Comparing the ends decides most columns without a pass over them. */
	if (n && v[0] != v[n - 1])
		return 0;
	for (i = 1; i < n; i++)
		differ |= v[i] ^ v[0];
	return differ == 0;
}

void vti_column_encode(struct vt_buf *out, const uint64_t *v, size_t n)
{
	struct coding best;
	uint8_t *to;

	if (is_constant_column(v, n)) {
		vt_buf_put_u8(out, VTI_WIDTH_CONST);
		vt_buf_put_varint(out, n ? v[0] : 0);
		return;
	}
	assert(n >= 2);
	best = choose_coding(v, n);
	assert(best.predictor < n && best.size < SIZE_MAX);
	vt_buf_put_u8(out, (uint8_t)(best.predictor << 4 | best.width));
	if (best.predictor >= VTI_PREDICT_LAST)
		vt_buf_put_varint(out, v[0]);
	if (best.predictor == VTI_PREDICT_STRIDE)
		vt_buf_put_varint(out, vt_zigzag(v[1] - v[0]));
	to = vt_buf_reserve(out, best.size);
	if (!to)
		return;
	if (best.width == VTI_WIDTH_MIXED)
		encode_mixed(to, v, n, &best);
	else
		encode_fixed(to, v, n, &best);
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

static int decode_fixed(struct vt_cursor *c, uint64_t *v, size_t n, enum vti_width width)
{
	const uint8_t *p;
	size_t i;

	assert(width >= VTI_WIDTH_1 && width <= VTI_WIDTH_8);
	p = vt_cursor_take(c, (uint64_t)n << (width - VTI_WIDTH_1));
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

static uint64_t load_sized(const uint8_t *p, unsigned class)
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

static int decode_mixed(struct vt_cursor *c, uint64_t *v, size_t n)
{
	static const uint64_t masks[4] = {0xff, 0xffff, 0xffffffff, UINT64_MAX};
	const uint8_t *tags = vt_cursor_take(c, (n + 3) / 4);
	const uint8_t *p = c->p;
	size_t i = 0;

	if (!tags)
		return -1;
	/* While eight bytes are left, one load and a mask work for every width. */
	for (; i < n && c->end - p >= 8; i++) {
		unsigned class = tags[i / 4] >> (i % 4 * 2) & 3;

		v[i] = vt_le64(p) & masks[class];
		p += (size_t)1 << class;
	}
	for (; i < n; i++) {
		unsigned class = tags[i / 4] >> (i % 4 * 2) & 3;

		if ((size_t)(c->end - p) < (size_t)1 << class)
			return -1;
		v[i] = load_sized(p, class);
		p += (size_t)1 << class;
	}
	assert(p <= c->end);
	c->p = p;
	return 0;
}

int vti_column_decode(struct vt_cursor *c, uint64_t *v, size_t n)
{
	uint8_t code = vt_cursor_u8(c);
	enum vti_width width = code & 15;
	enum vti_predictor p = code >> 4;
	int r;

	/* vti_column_probe() has rejected all other codes. */
	assert(p < VTI_NPREDICTORS && width < VTI_NWIDTHS && width != VTI_WIDTH_CONST);
	if (n < p)
		return -1;
	if (p >= VTI_PREDICT_LAST)
		v[0] = vt_cursor_varint(c);
	if (p == VTI_PREDICT_STRIDE)
		v[1] = v[0] + vt_unzigzag(vt_cursor_varint(c));
	if (c->bad)
		return -1;
	r = width == VTI_WIDTH_MIXED ? decode_mixed(c, v + p, n - p)
				     : decode_fixed(c, v + p, n - p, width);
	if (r == 0)
		add_predictions(p, v, n);
	return r;
}
