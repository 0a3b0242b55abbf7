/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "machine/lift/evex.h"
#include "machine/lift/evex_element.h"
#include "machine/lift/fastop.h"

typedef const struct vt_word sources[][VTI_ZMM_WORDS];

/* ---- element by element ---- */

static struct vt_word lesser(struct vt_word a, struct vt_word b, struct vt_word a_is_less)
{
	if (!vt_word_is_known(a_is_less))
		return vti_fast_either(a, b);
	return a_is_less.value ? a : b;
}

/* A sum or difference that is known in whole, or unknown. */
static struct vt_word saturate(struct vt_word a, struct vt_word b, unsigned bits, bool sum)
{
	uint64_t most = vt_low_bits(bits);

	if (!vt_word_is_known(a) || !vt_word_is_known(b))
		return vt_word_unknown(bits);
	if (sum)
		return vt_word_of(a.value + b.value > most ? most : a.value + b.value);
	return vt_word_of(a.value > b.value ? a.value - b.value : 0);
}

static struct vt_word binary(unsigned op, struct vt_word a, struct vt_word b, unsigned bits)
{
	switch (op) {
	case VTI_BINARY_AND:
		return vti_fast_and(a, b);
	case VTI_BINARY_ANDN:
		return vti_fast_and(vti_fast_not(a, bits), b);
	case VTI_BINARY_OR:
		return vti_fast_or(a, b);
	case VTI_BINARY_XOR:
		return vti_fast_xor(a, b);
	case VTI_BINARY_ADD:
		return vti_fast_add(a, b, bits);
	case VTI_BINARY_SUB:
		return vti_fast_sub(a, b, bits);
	case VTI_BINARY_MUL:
		return vti_fast_mul(a, b, bits);
	case VTI_BINARY_MINU:
		return lesser(a, b, vti_fast_below(a, b));
	case VTI_BINARY_MAXU:
		return lesser(b, a, vti_fast_below(a, b));
	case VTI_BINARY_MINS:
		return lesser(a, b, vti_fast_less(a, b, bits));
	case VTI_BINARY_MAXS:
		return lesser(b, a, vti_fast_less(a, b, bits));
	case VTI_BINARY_ADDUS:
		return saturate(a, b, bits, true);
	case VTI_BINARY_SUBUS:
		return saturate(a, b, bits, false);
	default:
		return vt_word_unknown(bits);
	}
}

static void compute_binary(const struct vti_evex *e, sources in, struct vt_word *out)
{
	unsigned i, bits = 8u * e->element;

	for (i = 0; i < e->size / e->element; i++)
		vti_element_put(out, i, e->element,
				binary(e->op, vti_element_get(in[0], i, e->element),
				       vti_element_get(in[1], i, e->element), bits));
}

static struct vt_word unary(unsigned op, struct vt_word a, unsigned bits)
{
	uint64_t sign = UINT64_C(1) << (bits - 1);

	if (!vt_word_is_known(a))
		return vt_word_unknown(bits);
	switch (op) {
	case VTI_UNARY_ABS:
		return vt_word_of((a.value & sign ? -a.value : a.value) & vt_low_bits(bits));
	case VTI_UNARY_LEADING:
		return vt_word_of(a.value ? (unsigned)__builtin_clzll(a.value) - (64 - bits)
					  : bits);
	default:
		return vt_word_of((unsigned)__builtin_popcountll(a.value));
	}
}

static void compute_unary(const struct vti_evex *e, sources in, struct vt_word *out)
{
	unsigned i;

	for (i = 0; i < e->size / e->element; i++)
		vti_element_put(
			out, i, e->element,
			unary(e->op, vti_element_get(in[0], i, e->element), 8u * e->element));
}

/* Intel SDM volume 2, VPTERNLOGD: a bit that may be both is known if all its cases agree. */
static struct vt_word look_up(uint8_t table, struct vt_word a, struct vt_word b, struct vt_word c)
{
	uint64_t one = 0, zero = 0;
	unsigned i;

	for (i = 0; i < 8; i++) {
		uint64_t may = (i & 4 ? vti_fast_max(a) : ~a.value) &
			       (i & 2 ? vti_fast_max(b) : ~b.value) &
			       (i & 1 ? vti_fast_max(c) : ~c.value);

		if (table >> i & 1)
			one |= may;
		else
			zero |= may;
	}
	return (struct vt_word){one & ~zero, ~(one & zero)};
}

static void compute_ternary(const struct vti_evex *e, sources in, struct vt_word *out)
{
	unsigned i;

	for (i = 0; i < e->size / 8u; i++)
		out[i] = look_up(e->imm, in[0][i], in[1][i], in[2][i]);
}

/* ---- to masks ---- */

static void put_bit(struct vt_word *mask, unsigned i, struct vt_word bit)
{
	uint64_t at = UINT64_C(1) << i;

	if (!vt_word_is_known(bit))
		mask->known &= ~at;
	else if (bit.value)
		mask->value |= at;
}

/* Predicates: Intel SDM volume 2, VPCMPB. */
static struct vt_word compare(unsigned how, bool is_unsigned, struct vt_word a, struct vt_word b,
			      unsigned bits)
{
	struct vt_word r;

	switch (how & 3) {
	case 0:
		r = vti_fast_equal(a, b);
		break;
	case 1:
		r = is_unsigned ? vti_fast_below(a, b) : vti_fast_less(a, b, bits);
		break;
	case 2:
		r = vti_fast_invert(is_unsigned ? vti_fast_below(b, a) : vti_fast_less(b, a, bits));
		break;
	default:
		r = vt_word_of(0);
		break;
	}
	return how & 4 ? vti_fast_invert(r) : r;
}

static struct vt_word is_zero(struct vt_word w)
{
	return vti_fast_equal(w, vt_word_of(0));
}

static void compute_to_mask(const struct vti_evex *e, sources in, struct vt_word mask,
			    struct vt_word *out)
{
	unsigned i, bits = 8u * e->element;
	struct vt_word to = vt_word_of(0);

	for (i = 0; i < e->size / e->element; i++) {
		struct vt_word a = vti_element_get(in[0], i, e->element), bit;

		if (e->family == VTI_EVEX_TO_MASK) {
			bit = vti_fast_field(a, bits - 1, 1);
		} else if (e->family == VTI_EVEX_COMPARE) {
			bit = compare(e->imm, e->op, a, vti_element_get(in[1], i, e->element),
				      bits);
		} else {
			bit = is_zero(vti_fast_and(a, vti_element_get(in[1], i, e->element)));
			if (!e->op)
				bit = vti_fast_invert(bit);
		}
		put_bit(&to, i, bit);
	}
	out[0] = vti_fast_and(to, mask);
}

/* ---- of masks ---- */

#define FLAG_CARRY UINT64_C(0x01)
#define FLAG_ZERO  UINT64_C(0x40)

static struct vt_word test_flags(struct vt_word zero, struct vt_word carry)
{
	struct vt_word flags = vt_word_of(0);

	put_bit(&flags, 0, carry);
	put_bit(&flags, 6, zero);
	return flags;
}

static struct vt_word shift_mask(struct vt_word a, unsigned by, unsigned bits, bool left)
{
	if (by >= bits)
		return vt_word_of(0);
	return left ? vti_fast_shl(a, vt_word_of(by), bits) : vti_fast_shr(a, vt_word_of(by), bits);
}

static struct vt_word of_masks(const struct vti_evex *e, struct vt_word a, struct vt_word b)
{
	unsigned bits = 8u * e->element;

	switch (e->op) {
	case VTI_MASKS_MOVE:
		return a;
	case VTI_MASKS_NOT:
		return vti_fast_not(a, bits);
	case VTI_MASKS_AND:
		return vti_fast_and(a, b);
	case VTI_MASKS_ANDN:
		return vti_fast_and(vti_fast_not(a, bits), b);
	case VTI_MASKS_OR:
		return vti_fast_or(a, b);
	case VTI_MASKS_XOR:
		return vti_fast_xor(a, b);
	case VTI_MASKS_XNOR:
		return vti_fast_not(vti_fast_xor(a, b), bits);
	case VTI_MASKS_ADD:
		return vti_fast_add(a, b, bits);
	case VTI_MASKS_UNPACK:
		return vti_fast_join(vti_fast_cut(a, bits / 2), vti_fast_cut(b, bits / 2),
				     bits / 2);
	case VTI_MASKS_LEFT:
		return shift_mask(a, e->imm, bits, true);
	case VTI_MASKS_RIGHT:
		return shift_mask(a, e->imm, bits, false);
	case VTI_MASKS_ORTEST:
		return test_flags(is_zero(vti_fast_or(a, b)),
				  vti_fast_equal(vti_fast_or(a, b), vt_word_of(vt_low_bits(bits))));
	case VTI_MASKS_TEST:
		return test_flags(is_zero(vti_fast_and(a, b)),
				  is_zero(vti_fast_and(vti_fast_not(a, bits), b)));
	default:
		return vt_word_unknown(64);
	}
}

static void compute_masks(const struct vti_evex *e, sources in, struct vt_word *out)
{
	unsigned bits = 8u * e->element;

	out[0] = of_masks(e, vti_fast_cut(in[0][0], bits),
			  e->nsources > 1 ? vti_fast_cut(in[1][0], bits) : vt_word_of(0));
}

static void compute_from_mask(const struct vti_evex *e, sources in, struct vt_word *out)
{
	unsigned i;

	for (i = 0; i < e->size / e->element; i++)
		vti_element_put(
			out, i, e->element,
			vti_fast_extend(vti_fast_field(in[0][0], i, 1), 1, 8u * e->element));
}

/* ---- by masks ---- */

static struct vt_word choose(struct vt_word by, struct vt_word yes, struct vt_word no)
{
	if (!vt_word_is_known(by))
		return vti_fast_either(yes, no);
	return by.value ? yes : no;
}

void vti_evex_merge(const struct vti_evex *e, struct vt_word mask,
		    const struct vt_word old[VTI_ZMM_WORDS], struct vt_word out[VTI_ZMM_WORDS])
{
	unsigned i;

	for (i = 0; i < e->size / e->element; i++)
		vti_element_put(
			out, i, e->element,
			choose(vti_fast_field(mask, i, 1), vti_element_get(out, i, e->element),
			       e->zeroing ? vt_word_of(0) : vti_element_get(old, i, e->element)));
}

static void compute_blend(const struct vti_evex *e, sources in, struct vt_word mask,
			  struct vt_word *out)
{
	memcpy(out, in[1], e->size / 8u * sizeof(*out));
	vti_evex_merge(e, mask, in[0], out);
}

/* Behind an element of which it is unknown whether it is taken, all is unknown. */
static void compute_compress(const struct vti_evex *e, sources in, struct vt_word mask,
			     struct vt_word *out)
{
	unsigned i, to = 0, n = e->size / e->element;

	for (i = 0; i < n && vt_word_is_known(vti_fast_field(mask, i, 1)); i++)
		if (mask.value >> i & 1)
			vti_element_put(out, to++, e->element,
					vti_element_get(in[0], i, e->element));
	for (; to < n; to++)
		vti_element_put(out, to, e->element,
				i < n	     ? vt_word_unknown(8u * e->element)
				: e->zeroing ? vt_word_of(0)
					     : vti_element_get(in[1], to, e->element));
}

static void compute_expand(const struct vti_evex *e, sources in, struct vt_word mask,
			   struct vt_word *out)
{
	unsigned i, from = 0, n = e->size / e->element;
	bool known = true;

	for (i = 0; i < n; i++) {
		known = known && vt_word_is_known(vti_fast_field(mask, i, 1));
		vti_element_put(out, i, e->element,
				known ? vti_element_get(in[0], from, e->element)
				      : vt_word_unknown(8u * e->element));
		from += known && (mask.value >> i & 1);
	}
}

/* ---- all ---- */

void vti_evex_compute(const struct vti_evex *e, sources in, struct vt_word mask,
		      struct vt_word out[VTI_ZMM_WORDS])
{
	unsigned i;

	for (i = 0; i < VTI_ZMM_WORDS; i++)
		out[i] = vt_word_of(0);
	switch (e->family) {
	case VTI_EVEX_BINARY:
		compute_binary(e, in, out);
		break;
	case VTI_EVEX_UNARY:
		compute_unary(e, in, out);
		break;
	case VTI_EVEX_COMPARE:
	case VTI_EVEX_TEST:
	case VTI_EVEX_TO_MASK:
		compute_to_mask(e, in, mask, out);
		break;
	case VTI_EVEX_TERNARY:
		compute_ternary(e, in, out);
		break;
	case VTI_EVEX_MASKS:
		compute_masks(e, in, out);
		break;
	case VTI_EVEX_FROM_MASK:
		compute_from_mask(e, in, out);
		break;
	case VTI_EVEX_BLEND:
		compute_blend(e, in, mask, out);
		break;
	case VTI_EVEX_COMPRESS:
		compute_compress(e, in, mask, out);
		break;
	case VTI_EVEX_EXPAND:
		compute_expand(e, in, mask, out);
		break;
	default:
		vti_evex_arrange(e, in, out);
		break;
	}
}
