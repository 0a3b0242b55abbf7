/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcmpistri and pcmpestri.  Source: Intel SDM volume 2, section 4.1. */
#include "cmd/walker/walk_vec.h"

/* One of the two strings: its bytes, and how many elements of it count. */
struct text {
	const uint8_t *bytes;
	unsigned length;
};

/* What the immediate says of the elements. */
struct kind {
	unsigned size; /* 1 or 2 bytes */
	unsigned n;    /* elements of 16 bytes */
	bool is_signed;
};

static int element(const struct kind *k, struct text t, unsigned i)
{
	const uint8_t *b = t.bytes + (size_t)i * k->size;
	unsigned v = k->size == 1 ? b[0] : b[0] | (unsigned)b[1] << 8;

	if (!k->is_signed)
		return (int)v;
	return k->size == 1 ? (int8_t)v : (int16_t)v;
}

static unsigned implicit_length(const struct kind *k, const uint8_t *bytes)
{
	struct text t = {bytes, 0};

	while (t.length < k->n && element(k, t, t.length) != 0)
		t.length++;
	return t.length;
}

/* The magnitude of a register, at most all elements. */
static unsigned explicit_length(const struct kind *k, uint64_t v, unsigned size)
{
	int64_t s = (int64_t)sign_extend(v, size);
	uint64_t m = s < 0 ? -(uint64_t)s : (uint64_t)s;

	return m < k->n ? (unsigned)m : k->n;
}

/* Whether element `j` of the second string is one of the first, or in one of its ranges. */
static bool in_set(const struct kind *k, struct text a, struct text b, unsigned j, bool ranges)
{
	int v = element(k, b, j);
	unsigned i;

	if (j >= b.length)
		return false;
	for (i = 0; i + ranges < a.length; i += 1U + ranges)
		if (ranges ? element(k, a, i) <= v && v <= element(k, a, i + 1)
			   : element(k, a, i) == v)
			return true;
	return false;
}

/* Whether the first string begins at element `j` of the second, as far as that reaches. */
static bool begins_at(const struct kind *k, struct text a, struct text b, unsigned j)
{
	unsigned i;

	for (i = 0; i < a.length && i + j < k->n; i++)
		if (i + j >= b.length || element(k, a, i) != element(k, b, i + j))
			return false;
	return true;
}

static bool same_element(const struct kind *k, struct text a, struct text b, unsigned j)
{
	if (j >= a.length || j >= b.length)
		return j >= a.length && j >= b.length;
	return element(k, a, j) == element(k, b, j);
}

static unsigned aggregate(const struct kind *k, struct text a, struct text b, unsigned imm)
{
	unsigned r = 0, j, how = imm >> 2 & 3;

	for (j = 0; j < k->n; j++) {
		bool hit = how == 3   ? begins_at(k, a, b, j)
			   : how == 2 ? same_element(k, a, b, j)
				      : in_set(k, a, b, j, how == 1);

		if (imm & 0x10 && (!(imm & 0x20) || j < b.length))
			hit = !hit;
		r |= (unsigned)hit << j;
	}
	return r;
}

static void find_index(struct walk *w, struct text a, struct text b, const struct kind *k, bool ok)
{
	unsigned imm = (unsigned)w->insn.imm & 0x7f, r = aggregate(k, a, b, imm), index = k->n;
	uint64_t flags = (r ? FLAG_C : 0) | (b.length < k->n ? FLAG_Z : 0) |
			 (a.length < k->n ? FLAG_S : 0) | (r & 1 ? FLAG_O : 0);

	if (r)
		index = imm & 0x40 ? 31 - (unsigned)__builtin_clz(r) : (unsigned)__builtin_ctz(r);
	set_gpr(w, CX, 8, (struct val){index, ok});
	set_flags(w, FLAGS6, flags, ok);
}

bool walk_vec_strings(struct walk *w)
{
	const struct insn *i = &w->insn;
	unsigned imm = (unsigned)i->imm, size = i->w ? 8 : 4;
	struct kind k = {1U + (imm & 1), imm & 1 ? 8 : 16, imm & 2};
	struct val la, lb;
	struct vec a, b;
	bool ok;

	if (i->map != 3 || (i->op != 0x61 && i->op != 0x63) || i->pp != INSN_PP_66)
		return false;
	a = walk_vec(w, i->reg, 16);
	b = walk_vec_rm(w, 16, 0);
	ok = all_known(a, 16) && all_known(b, 16);
	if (i->op == 0x61) {
		la = get_gpr(w, AX, size);
		lb = get_gpr(w, DX, size);
		la.v = explicit_length(&k, la.v, size);
		lb.v = explicit_length(&k, lb.v, size);
		ok = ok && la.known && lb.known;
	} else {
		la.v = implicit_length(&k, a.bytes);
		lb.v = implicit_length(&k, b.bytes);
	}
	find_index(w, (struct text){a.bytes, (unsigned)la.v},
		   (struct text){b.bytes, (unsigned)lb.v}, &k, ok);
	return true;
}
