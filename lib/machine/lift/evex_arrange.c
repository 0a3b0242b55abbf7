/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "machine/lift/evex_element.h"

/* What moves elements, widens, narrows and shifts them. */

typedef const struct vt_word sources[][VTI_ZMM_WORDS];

static void arrange_scalar(const struct vti_evex *e, sources in, struct vt_word *out)
{
	memcpy(out, in[0], 2 * sizeof(*out));
	vti_element_put(out, 0, e->element, vti_element_get(in[1], 0, e->element));
}

/* Copies `size` bytes, a whole number of words or less than one, between places in vectors. */
static void copy_part(struct vt_word *out, unsigned to, const struct vt_word *in, unsigned from,
		      unsigned size)
{
	unsigned i, step = size < 8 ? size : 8;

	for (i = 0; i < size; i += step)
		vti_element_put(out, (to + i) / step, step,
				vti_element_get(in, (from + i) / step, step));
}

static void arrange_broadcast(const struct vti_evex *e, sources in, struct vt_word *out)
{
	unsigned at;

	for (at = 0; at < e->size; at += e->part)
		copy_part(out, at, in[0], 0, e->part);
}

static void arrange_extract(const struct vti_evex *e, sources in, struct vt_word *out)
{
	unsigned n = e->sources[0].size / (unsigned)e->part;

	copy_part(out, 0, in[0], (e->imm & (n - 1)) * e->part, e->part);
}

static void arrange_insert(const struct vti_evex *e, sources in, struct vt_word *out)
{
	unsigned n = e->size / (unsigned)e->part;

	memcpy(out, in[0], e->size / 8u * sizeof(*out));
	copy_part(out, (e->imm & (n - 1)) * e->part, in[1], 0, e->part);
}

/* ---- by indices ---- */

static void arrange_shuffle(const struct vti_evex *e, sources in, struct vt_word *out)
{
	unsigned i;

	for (i = 0; i < e->size; i++) {
		struct vt_word at = vti_element_get(in[1], i, 1);
		struct vt_word byte = vt_word_unknown(8);

		if (at.value & 0x80)
			byte = vt_word_of(0);
		else if ((at.known & 0x8f) == 0x8f)
			byte = vti_element_get(in[0], (i & ~15u) + (at.value & 15), 1);
		vti_element_put(out, i, 1, byte);
	}
}

static void arrange_shuffle_d(const struct vti_evex *e, sources in, struct vt_word *out)
{
	unsigned i;

	for (i = 0; i < e->size / 4u; i++)
		vti_element_put(out, i, 4,
				vti_element_get(in[0], (i & ~3u) + (e->imm >> 2 * (i & 3) & 3), 4));
}

static void arrange_shuffle_128(const struct vti_evex *e, sources in, struct vt_word *out)
{
	unsigned i, n = e->size / 16u, bits = n == 4 ? 2 : 1;

	for (i = 0; i < n; i++)
		copy_part(out, 16 * i, in[i < n / 2 ? 0 : 1], 16 * (e->imm >> bits * i & (n - 1)),
			  16);
}

/* The number of an element among `n`; false: unknown. */
static bool take_index(struct vt_word w, unsigned n, unsigned *index)
{
	*index = (unsigned)(w.value & (n - 1));
	return (w.known & (n - 1)) == n - 1;
}

static void arrange_permute(const struct vti_evex *e, sources in, struct vt_word *out)
{
	unsigned i, from, n = e->size / e->element;

	for (i = 0; i < n; i++)
		vti_element_put(out, i, e->element,
				take_index(vti_element_get(in[0], i, e->element), n, &from)
					? vti_element_get(in[1], from, e->element)
					: vt_word_unknown(8u * e->element));
}

static void arrange_permute_2(const struct vti_evex *e, sources in, struct vt_word *out)
{
	unsigned i, from, n = e->size / e->element;

	for (i = 0; i < n; i++) {
		struct vt_word w = vt_word_unknown(8u * e->element);

		if (take_index(vti_element_get(in[0], i, e->element), 2 * n, &from))
			w = vti_element_get(in[from < n ? 1 : 2], from & (n - 1), e->element);
		vti_element_put(out, i, e->element, w);
	}
}

static void arrange_permute_q(const struct vti_evex *e, sources in, struct vt_word *out)
{
	unsigned i;

	for (i = 0; i < e->size / 8u; i++)
		out[i] = in[0][(i & ~3u) + (e->imm >> 2 * (i & 3) & 3)];
}

static void arrange_unpack(const struct vti_evex *e, sources in, struct vt_word *out)
{
	unsigned i, n = 16u / e->element;

	for (i = 0; i < e->size / e->element; i++) {
		unsigned from = i / n * n + i % n / 2 + (e->op ? n / 2 : 0);

		vti_element_put(out, i, e->element, vti_element_get(in[i & 1], from, e->element));
	}
}

/* Within 16 bytes (vpalignr), or the whole (valignd, valignq). */
static void arrange_align(const struct vti_evex *e, sources in, struct vt_word *out)
{
	unsigned i, n = (e->op ? e->size : 16u) / e->element;
	unsigned by = e->op ? e->imm & (n - 1) : e->imm;

	for (i = 0; i < e->size / e->element; i++) {
		unsigned from = i % n + by, base = i / n * n;
		struct vt_word w = vt_word_of(0);

		if (from < 2 * n)
			w = vti_element_get(in[from < n ? 1 : 0], base + from % n, e->element);
		vti_element_put(out, i, e->element, w);
	}
}

/* ---- widths ---- */

static void arrange_extend(const struct vti_evex *e, sources in, struct vt_word *out)
{
	unsigned i;

	for (i = 0; i < e->size / e->element; i++) {
		struct vt_word w = vti_element_get(in[0], i, e->part);

		if (e->op)
			w = vti_fast_extend(w, 8u * e->part, 8u * e->element);
		vti_element_put(out, i, e->element, w);
	}
}

static void arrange_truncated(const struct vti_evex *e, sources in, struct vt_word *out)
{
	unsigned i;

	for (i = 0; i < e->size / e->element; i++)
		vti_element_put(out, i, e->element, vti_element_get(in[0], i, e->part));
}

/* ---- shifts ---- */

static void arrange_shift_bytes(const struct vti_evex *e, sources in, struct vt_word *out)
{
	unsigned i;

	for (i = 0; i < e->size; i++) {
		int from = (int)(i & 15) + (e->op ? (int)e->imm : -(int)e->imm);

		if (from >= 0 && from < 16)
			vti_element_put(out, i, 1,
					vti_element_get(in[0], (i & ~15u) + (unsigned)from, 1));
	}
}

static struct vt_word rotate(struct vt_word a, unsigned left, unsigned bits)
{
	struct vt_word high, low;

	left %= bits;
	if (!left)
		return a;
	high = vti_fast_shl(a, vt_word_of(left), bits);
	low = vti_fast_shr(a, vt_word_of(bits - left), bits);
	return vti_fast_or(high, low);
}

static struct vt_word shift(unsigned op, struct vt_word a, struct vt_word count, unsigned bits)
{
	struct vt_word n = count;

	if (op == VTI_ROTATE_LEFT || op == VTI_ROTATE_RIGHT) {
		if ((count.known & (bits - 1)) != bits - 1)
			return vt_word_unknown(bits);
		n.value &= bits - 1;
		return rotate(a, (unsigned)(op == VTI_ROTATE_LEFT ? n.value : bits - n.value),
			      bits);
	}
	/* Too far, whatever is unknown of it. */
	if (n.value >= bits) {
		if (op != VTI_SHIFT_SIGNED)
			return vt_word_of(0);
		n = vt_word_of(bits - 1);
	}
	if (!vt_word_is_known(n))
		return vt_word_unknown(bits);
	return op == VTI_SHIFT_LEFT    ? vti_fast_shl(a, n, bits)
	       : op == VTI_SHIFT_RIGHT ? vti_fast_shr(a, n, bits)
				       : vti_fast_sar(a, n, bits);
}

static void arrange_shift(const struct vti_evex *e, sources in, struct vt_word *out)
{
	unsigned i, bits = 8u * e->element;

	for (i = 0; i < e->size / e->element; i++) {
		struct vt_word count = vt_word_of(e->imm);

		if (e->family == VTI_EVEX_SHIFT_COUNT)
			count = in[1][0];
		else if (e->family == VTI_EVEX_SHIFT_EACH)
			count = vti_element_get(in[1], i, e->element);
		vti_element_put(out, i, e->element,
				shift(e->op, vti_element_get(in[0], i, e->element), count, bits));
	}
}

/* ---- all ---- */

typedef void arrange_fn(const struct vti_evex *e, sources in, struct vt_word *out);

void vti_evex_arrange(const struct vti_evex *e, sources in, struct vt_word out[VTI_ZMM_WORDS])
{
	static arrange_fn *const by_family[] = {
		[VTI_EVEX_SCALAR] = arrange_scalar,
		[VTI_EVEX_BROADCAST] = arrange_broadcast,
		[VTI_EVEX_SHUFFLE] = arrange_shuffle,
		[VTI_EVEX_SHUFFLE_D] = arrange_shuffle_d,
		[VTI_EVEX_SHUFFLE_128] = arrange_shuffle_128,
		[VTI_EVEX_UNPACK] = arrange_unpack,
		[VTI_EVEX_ALIGN] = arrange_align,
		[VTI_EVEX_PERMUTE] = arrange_permute,
		[VTI_EVEX_PERMUTE_2] = arrange_permute_2,
		[VTI_EVEX_PERMUTE_Q] = arrange_permute_q,
		[VTI_EVEX_SHIFT_BYTES] = arrange_shift_bytes,
		[VTI_EVEX_SHIFT] = arrange_shift,
		[VTI_EVEX_SHIFT_COUNT] = arrange_shift,
		[VTI_EVEX_SHIFT_EACH] = arrange_shift,
		[VTI_EVEX_EXTRACT] = arrange_extract,
		[VTI_EVEX_INSERT] = arrange_insert,
		[VTI_EVEX_EXTEND] = arrange_extend,
		[VTI_EVEX_TRUNCATE] = arrange_truncated,
	};

	if (e->family == VTI_EVEX_MOVE)
		copy_part(out, 0, in[0], 0, e->size);
	else if (e->family < sizeof(by_family) / sizeof(*by_family) && by_family[e->family])
		by_family[e->family](e, in, out);
}
