/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Vector operations that work on each lane of two sources alike, and compares into masks. */
#include "cmd/walker/walk_vec.h"

#define VECTOR __attribute__((vector_size(16), aligned(1), may_alias))

typedef uint8_t u8x16 VECTOR;
typedef uint16_t u16x8 VECTOR;
typedef uint32_t u32x4 VECTOR;
typedef uint64_t u64x2 VECTOR;
typedef int8_t s8x16 VECTOR;
typedef int16_t s16x8 VECTOR;
typedef int32_t s32x4 VECTOR;
typedef int64_t s64x2 VECTOR;

enum lane_op {
	NONE,
	ADD,
	SUB,
	AND,
	ANDN,
	OR,
	XOR,
	EQ,
	GT,
	MINU,
	MAXU,
	MINS,
	MAXS,
	ADDUS,
	SUBUS,
	MUL,
	MULUDQ,
	TEST, /* of a mask: the lane of a & b is not zero */
};

/* An operation and the logarithm of its lane's bytes. */
#define E(op, log) ((uint8_t)((op) << 2 | (log)))

/* Of 0F with prefix 66, from opcode 60 on. */
static const uint8_t map1_ops[160] = {
	[0x64 - 0x60] = E(GT, 0),    [0x65 - 0x60] = E(GT, 1),	  [0x66 - 0x60] = E(GT, 2),
	[0x74 - 0x60] = E(EQ, 0),    [0x75 - 0x60] = E(EQ, 1),	  [0x76 - 0x60] = E(EQ, 2),
	[0xd4 - 0x60] = E(ADD, 3),   [0xd5 - 0x60] = E(MUL, 1),	  [0xd8 - 0x60] = E(SUBUS, 0),
	[0xd9 - 0x60] = E(SUBUS, 1), [0xda - 0x60] = E(MINU, 0),  [0xdb - 0x60] = E(AND, 2),
	[0xdc - 0x60] = E(ADDUS, 0), [0xdd - 0x60] = E(ADDUS, 1), [0xde - 0x60] = E(MAXU, 0),
	[0xdf - 0x60] = E(ANDN, 2),  [0xea - 0x60] = E(MINS, 1),  [0xeb - 0x60] = E(OR, 2),
	[0xee - 0x60] = E(MAXS, 1),  [0xef - 0x60] = E(XOR, 2),	  [0xf4 - 0x60] = E(MULUDQ, 3),
	[0xf8 - 0x60] = E(SUB, 0),   [0xf9 - 0x60] = E(SUB, 1),	  [0xfa - 0x60] = E(SUB, 2),
	[0xfb - 0x60] = E(SUB, 3),   [0xfc - 0x60] = E(ADD, 0),	  [0xfd - 0x60] = E(ADD, 1),
	[0xfe - 0x60] = E(ADD, 2),
};

/* Of 0F 38 with prefix 66, from opcode 38 on. */
static const uint8_t map2_ops[9] = {
	E(MINS, 0), E(MINS, 2), E(MINU, 1), E(MINU, 2), E(MAXS, 0),
	E(MAXS, 2), E(MAXU, 1), E(MAXU, 2), E(MUL, 2),
};

static uint8_t entry_of(const struct insn *i)
{
	static const uint8_t logic[4] = {E(AND, 2), E(ANDN, 2), E(OR, 2), E(XOR, 2)};

	if (i->map == 1 && i->op >= 0x54 && i->op < 0x58 && i->pp < INSN_PP_F3)
		return logic[i->op & 3];
	if (i->pp != INSN_PP_66)
		return 0;
	if (i->map == 1)
		return i->op >= 0x60 ? map1_ops[i->op - 0x60] : 0;
	if (i->map != 2)
		return 0;
	if (i->op == 0x29)
		return E(EQ, 3);
	if (i->op == 0x37)
		return E(GT, 3);
	return i->op >= 0x38 && i->op <= 0x40 ? map2_ops[i->op - 0x38] : 0;
}

/* With EVEX, W doubles the lanes of these. */
static uint8_t entry_with_w(const struct insn *i)
{
	uint8_t e = entry_of(i);
	unsigned op = e >> 2;

	if (i->encoding == INSN_EVEX && i->w && (e & 3) == 2 && op != ADD && op != SUB &&
	    op != EQ && op != GT)
		e++;
	return e;
}

/* ---- 16 bytes ---- */

#define PICK(m, x, y) (((m) & (x)) | (~(m) & (y)))

#define LANES(name, U, S)                                                                          \
	static void name(enum lane_op op, __typeof__(U) *to, const __typeof__(U) *pa,              \
			 const __typeof__(U) *pb)                                                  \
	{                                                                                          \
		U a = *pa, b = *pb, r = a, m;                                                      \
                                                                                                   \
		switch (op) {                                                                      \
		case ADD:                                                                          \
			r = a + b;                                                                 \
			break;                                                                     \
		case SUB:                                                                          \
			r = a - b;                                                                 \
			break;                                                                     \
		case EQ:                                                                           \
			r = (U)(a == b);                                                           \
			break;                                                                     \
		case GT:                                                                           \
			r = (U)((S)a > (S)b);                                                      \
			break;                                                                     \
		case MINU:                                                                         \
		case MAXU:                                                                         \
			m = (U)(a < b);                                                            \
			r = op == MINU ? PICK(m, a, b) : PICK(m, b, a);                            \
			break;                                                                     \
		case MINS:                                                                         \
		case MAXS:                                                                         \
			m = (U)((S)a < (S)b);                                                      \
			r = op == MINS ? PICK(m, a, b) : PICK(m, b, a);                            \
			break;                                                                     \
		case ADDUS:                                                                        \
			r = a + b;                                                                 \
			r |= (U)(r < a);                                                           \
			break;                                                                     \
		case SUBUS:                                                                        \
			r = (a - b) & (U)(a >= b);                                                 \
			break;                                                                     \
		case MUL:                                                                          \
			r = a * b;                                                                 \
			break;                                                                     \
		case TEST:                                                                         \
			r = (U)((a & b) != 0);                                                     \
			break;                                                                     \
		default:                                                                           \
			break;                                                                     \
		}                                                                                  \
		*to = r;                                                                           \
	}

LANES(lanes8, u8x16, s8x16)
LANES(lanes16, u16x8, s16x8)
LANES(lanes32, u32x4, s32x4)
LANES(lanes64, u64x2, s64x2)

static void bitwise(enum lane_op op, u64x2 *to, const u64x2 *a, const u64x2 *b)
{
	const u64x2 low = {UINT32_MAX, UINT32_MAX};

	if (op == AND)
		*to = *a & *b;
	else if (op == ANDN)
		*to = ~*a & *b;
	else if (op == OR)
		*to = *a | *b;
	else if (op == XOR)
		*to = *a ^ *b;
	else
		*to = (*a & low) * (*b & low);
}

static void operate(uint8_t *to, uint8_t entry, const uint8_t *a, const uint8_t *b, unsigned bytes)
{
	enum lane_op op = entry >> 2;
	unsigned k;

	for (k = 0; k < bytes; k += 16) {
		void *t = to + k;
		const void *x = a + k, *y = b + k;

		if ((op >= AND && op <= XOR) || op == MULUDQ)
			bitwise(op, t, x, y);
		else if ((entry & 3) == 0)
			lanes8(op, t, x, y);
		else if ((entry & 3) == 1)
			lanes16(op, t, x, y);
		else if ((entry & 3) == 2)
			lanes32(op, t, x, y);
		else
			lanes64(op, t, x, y);
	}
}

/* ---- masks out of lanes ---- */

/* A bit of each lane that is not zero: lanes are all ones or zero. */
static uint64_t to_bits(const uint8_t *bytes, unsigned size, unsigned element)
{
	uint64_t r = 0;
	unsigned k;

	for (k = 0; k < size; k += element)
		r |= (uint64_t)(bytes[k] & 1) << k / element;
	return r;
}

static void set_mask_of_lanes(struct walk *w, unsigned element, bool negate, bool is_known)
{
	unsigned n = w->insn.vbytes / element;
	struct val m = walk_mask_of_insn(w, n);
	uint64_t r = to_bits(w->operand[2], w->insn.vbytes, element);

	r = (negate ? ~r : r) & m.v;
	walk_set_mask(w, w->insn.reg, (struct val){r, is_known && m.known});
}

/* ---- instructions ---- */

/* Whether the result does not depend on a register that is both sources. */
static bool is_constant(const struct insn *i, enum lane_op op)
{
	unsigned first = i->encoding == INSN_LEGACY ? i->reg : i->vvvv;

	return !i->memory && first == i->rm &&
	       (op == XOR || op == SUB || op == SUBUS || op == EQ || op == GT || op == ANDN);
}

bool walk_vec_lanes(struct walk *w)
{
	const struct insn *i = &w->insn;
	uint8_t entry = entry_with_w(i);
	unsigned element = 1U << (entry & 3), bytes = i->vbytes;
	enum lane_op op = entry >> 2;
	struct vec a, b;

	if (op == NONE)
		return false;
	a = walk_vec_first(w, bytes);
	b = walk_vec_rm_masked(w, bytes, element);
	if (is_constant(i, op))
		a.known = b.known = 0xff;
	operate(w->operand[2], entry, a.bytes, b.bytes, bytes);
	if (i->encoding == INSN_EVEX && (op == EQ || op == GT))
		set_mask_of_lanes(w, element, false, all_known(a, bytes) && all_known(b, bytes));
	else
		walk_vec_set_masked(w, i->reg, bytes, a.known & b.known, element);
	return true;
}

/* vpcmp and vpcmpu: their predicates, of which 4 to 7 are the opposites of 0 to 3. */
static void compare_predicate(struct walk *w, bool is_signed, unsigned log)
{
	unsigned bytes = w->insn.vbytes, predicate = w->insn.imm & 7, k;
	struct vec a = walk_vec_first(w, bytes), b = walk_vec_rm_masked(w, bytes, 1U << log);
	bool ok = all_known(a, bytes) && all_known(b, bytes);

	switch (predicate & 3) {
	case 0:
		operate(w->operand[2], E(EQ, log), a.bytes, b.bytes, bytes);
		break;
	case 1: /* a < b: b > a, or the smaller is not b */
		if (is_signed) {
			operate(w->operand[2], E(GT, log), b.bytes, a.bytes, bytes);
			break;
		}
		operate(w->operand[2], E(MAXU, log), a.bytes, b.bytes, bytes);
		operate(w->operand[2], E(EQ, log), w->operand[2], a.bytes, bytes);
		predicate ^= 4;
		break;
	case 2: /* a <= b: the smaller is a */
		operate(w->operand[2], E((unsigned)(is_signed ? MINS : MINU), log), a.bytes,
			b.bytes, bytes);
		operate(w->operand[2], E(EQ, log), w->operand[2], a.bytes, bytes);
		break;
	default:
		for (k = 0; k < bytes; k++)
			w->operand[2][k] = 0;
		ok = true;
		break;
	}
	set_mask_of_lanes(w, 1U << log, predicate & 4, ok);
}

/* vptestm, vptestnm */
static void test_lanes(struct walk *w, bool negate, unsigned log)
{
	unsigned bytes = w->insn.vbytes;
	struct vec a = walk_vec_first(w, bytes), b = walk_vec_rm_masked(w, bytes, 1U << log);

	operate(w->operand[2], E(TEST, log), a.bytes, b.bytes, bytes);
	set_mask_of_lanes(w, 1U << log, negate, all_known(a, bytes) && all_known(b, bytes));
}

/* vpmovb2m and its like: the upper bit of each lane. */
static void sign_mask(struct walk *w, unsigned log)
{
	unsigned bytes = w->insn.vbytes, k, element = 1U << log;
	struct vec v = walk_vec(w, w->insn.rm, bytes);
	uint64_t r = 0;

	for (k = 0; k < bytes; k += element)
		r |= (uint64_t)(v.bytes[k + element - 1] >> 7) << k / element;
	walk_set_mask(w, w->insn.reg, (struct val){r, all_known(v, bytes)});
}

/* vpmovm2b and its like */
static void spread_mask(struct walk *w, unsigned log)
{
	unsigned bytes = w->insn.vbytes, k;
	struct val m = walk_mask(w, w->insn.rm);

	for (k = 0; k < bytes; k++)
		w->operand[2][k] = m.v >> (k >> log) & 1 ? 0xff : 0;
	walk_vec_set(w, w->insn.reg, bytes, m.known ? 0xff : 0);
}

bool walk_vec_compare(struct walk *w)
{
	const struct insn *i = &w->insn;
	unsigned op = i->op;

	if (i->encoding != INSN_EVEX)
		return false;
	if (i->map == 3 && i->pp == INSN_PP_66 && (op & 0xde) == 0x1e) {
		compare_predicate(w, op & 1, op & 0x20 ? i->w : 2U + i->w);
		return true;
	}
	if (i->map != 2)
		return false;
	if ((op == 0x26 || op == 0x27) && (i->pp == INSN_PP_66 || i->pp == INSN_PP_F3))
		test_lanes(w, i->pp == INSN_PP_F3, (op & 1 ? 2U : 0U) + i->w);
	else if ((op == 0x29 || op == 0x39) && i->pp == INSN_PP_F3)
		sign_mask(w, (op == 0x39 ? 2U : 0U) + i->w);
	else if ((op == 0x28 || op == 0x38) && i->pp == INSN_PP_F3)
		spread_mask(w, (op == 0x38 ? 2U : 0U) + i->w);
	else
		return false;
	return true;
}
