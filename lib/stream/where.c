/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/where.h"

#include <math.h>
#include <string.h>

#include "stream/profileme.h"
#include "stream/where_internal.h"

typedef struct vti_where_register reg;

static reg *out_of(const struct vt_where_expr *w, const struct vti_where_insn *in)
{
	return &w->registers[in->out];
}

/* ---- fields ---- */

/* What is known of the field in each row. */
static void load_state(const struct vti_where_insn *in, const struct vt_block *block,
		       uint32_t first, uint32_t count, reg *out)
{
	uint64_t bit = in->pm_bit, has = in->has;
	const struct vt_column *c;
	uint32_t i;

	memset(out->state, VTI_KNOWN, count);
	if (bit) {
		const struct vt_column *least = &block->columns[in->sample + VT_SAMPLE_PM_LEAST];

		c = &block->columns[in->sample + VT_SAMPLE_PM_HAS];
		for (i = 0; i < count; i++) {
			bool known = c->v[(first + i) & c->mask] & bit;
			bool more = least->v[(first + i) & least->mask] & bit;

			out->state[i] = (uint8_t)(known + (known & more));
		}
	} else if (has) {
		c = &block->columns[in->sample + VT_SAMPLE_HAS];
		for (i = 0; i < count; i++)
			out->state[i] = out->v[i] || c->v[(first + i) & c->mask] & has;
	}
}

static void load_values(const struct vti_where_insn *in, const struct vt_block *block,
			uint32_t first, uint32_t count, reg *out)
{
	const struct vt_column *c = &block->columns[in->field];
	uint32_t i;

	for (i = 0; i < count; i++)
		out->v[i] = c->v[(first + i) & c->mask];
	load_state(in, block, first, count, out);
}

void vti_where_load(struct vt_where_expr *w, const struct vti_where_insn *in,
		    const struct vt_block *block, uint32_t first, uint32_t count)
{
	load_values(in, block, first, count, out_of(w, in));
}

void vti_where_load_signed(struct vt_where_expr *w, const struct vti_where_insn *in,
			   const struct vt_block *block, uint32_t first, uint32_t count)
{
	reg *out = out_of(w, in);
	uint32_t i;

	load_values(in, block, first, count, out);
	for (i = 0; i < count; i++) {
		out->negative[i] = out->v[i] >> 63;
		out->v[i] = out->negative[i] ? 0 - out->v[i] : out->v[i];
	}
}

static double real_of(uint64_t bits)
{
	double d;

	memcpy(&d, &bits, sizeof(d));
	return d;
}

/* What is no number says nothing. */
static void put_real(reg *out, uint32_t i, double d, uint8_t state)
{
	memcpy(&out->v[i], &d, sizeof(d));
	out->state[i] = isnan(d) ? VTI_UNKNOWN : state;
}

void vti_where_load_real(struct vt_where_expr *w, const struct vti_where_insn *in,
			 const struct vt_block *block, uint32_t first, uint32_t count)
{
	reg *out = out_of(w, in);
	uint32_t i;

	load_values(in, block, first, count, out);
	for (i = 0; i < count; i++)
		put_real(out, i, real_of(out->v[i]), out->state[i]);
}

void vti_where_has(struct vt_where_expr *w, const struct vti_where_insn *in,
		   const struct vt_block *block, uint32_t first, uint32_t count)
{
	reg *out = out_of(w, in);
	uint32_t i;

	load_values(in, block, first, count, out);
	for (i = 0; i < count; i++) {
		out->v[i] = out->state[i] != VTI_UNKNOWN;
		out->state[i] = VTI_KNOWN;
	}
}

void vti_where_count(struct vt_where_expr *w, const struct vti_where_insn *in,
		     const struct vt_block *block, uint32_t first, uint32_t count)
{
	const struct vt_column *c = &block->columns[in->field];
	reg *out = out_of(w, in);
	uint32_t i;

	for (i = 0; i < count; i++) {
		size_t at = (first + i) & c->mask;

		out->v[i] = c->off[at + 1] - c->off[at];
		out->state[i] = VTI_KNOWN;
	}
}

void vti_where_in(struct vt_where_expr *w, const struct vti_where_insn *in,
		  const struct vt_block *block, uint32_t first, uint32_t count)
{
	struct vt_record rec = {block, block->kind, first};
	reg *out = out_of(w, in);
	uint32_t i;

	load_values(in, block, first, count, out);
	for (i = 0; i < count; i++, rec.row++) {
		enum vt_truth t = VT_UNKNOWN;

		if (out->state[i] == VTI_KNOWN)
			t = w->names.in(w->names.arg, &rec, in->field, in->place, in->text);
		out->v[i] = t == VT_TRUE;
		out->state[i] = t != VT_UNKNOWN;
	}
}

/* Rows of one event come in runs: it is looked up where another one begins. */
void vti_where_event_name(struct vt_where_expr *w, const struct vti_where_insn *in,
			  const struct vt_block *block, uint32_t first, uint32_t count)
{
	enum vt_truth t = VT_UNKNOWN;
	reg *out = out_of(w, in);
	uint64_t event = 0;
	uint32_t i;

	load_values(in, block, first, count, out);
	for (i = 0; i < count; i++) {
		if (!i || out->v[i] != event) {
			event = out->v[i];
			t = w->names.is_event(w->names.event_arg, event, in->text);
		}
		out->v[i] = (t == VT_TRUE) == (in->op == VTI_WHERE_EQ);
		out->state[i] = out->state[i] == VTI_KNOWN && t != VT_UNKNOWN;
	}
}

void vti_where_same_text(struct vt_where_expr *w, const struct vti_where_insn *in,
			 const struct vt_block *block, uint32_t first, uint32_t count)
{
	struct vt_record rec = {block, block->kind, first};
	reg *out = out_of(w, in);
	uint32_t i;

	for (i = 0; i < count; i++, rec.row++) {
		struct vt_bytes a = vt_record_bytes(&rec, in->field), b;
		bool same;

		if (in->other < 0) {
			same = vt_bytes_are(a, in->text);
		} else {
			b = vt_record_bytes(&rec, (unsigned)in->other);
			same = a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
		}
		out->v[i] = same == (in->op == VTI_WHERE_EQ);
		out->state[i] = VTI_KNOWN;
	}
}

/* ---- events ---- */

/* Bits that mean something. */
#define ALL_EVENTS ((UINT64_C(1) << VT_PM_NEVENTS) - 1)

/* The bits of `events` that are told. */
struct events {
	uint64_t set;
	uint64_t told;
};

static struct events events_at(const struct vti_where_insn *in, const struct vt_block *block,
			       uint32_t row)
{
	const struct vt_column *c = block->columns + in->sample;
	const struct vt_column *has = &c[VT_SAMPLE_PM_HAS], *told = &c[VT_SAMPLE_EVENTS_TOLD];
	const struct vt_column *set = &c[VT_SAMPLE_EVENTS];
	struct events e = {0, 0};

	if (has->v[row & has->mask] & in->pm_bit)
		e.told = told->v[row & told->mask];
	e.set = set->v[row & set->mask] & e.told;
	return e;
}

static void load_events(struct vt_where_expr *w, const struct vti_where_insn *in,
			const struct vt_block *block, uint32_t first, uint32_t count, bool any)
{
	reg *out = out_of(w, in);
	uint32_t i;

	for (i = 0; i < count; i++) {
		struct events e = events_at(in, block, first + i);

		out->v[i] = e.set;
		out->state[i] = (any && e.set) || !(ALL_EVENTS & ~e.told);
	}
}

void vti_where_load_events(struct vt_where_expr *w, const struct vti_where_insn *in,
			   const struct vt_block *block, uint32_t first, uint32_t count)
{
	load_events(w, in, block, first, count, false);
}

/* Of which it matters only whether it is 0. */
void vti_where_load_events_any(struct vt_where_expr *w, const struct vti_where_insn *in,
			       const struct vt_block *block, uint32_t first, uint32_t count)
{
	load_events(w, in, block, first, count, true);
}

/* The lowest 64 bits of an integer, in two's complement. */
static uint64_t bits_at(const reg *r, bool is_signed, uint32_t i)
{
	return is_signed && r->negative[i] ? 0 - r->v[i] : r->v[i];
}

static void and_events(struct vt_where_expr *w, const struct vti_where_insn *in,
		       const struct vt_block *block, uint32_t first, uint32_t count, bool any)
{
	const reg *a = &w->registers[in->a];
	reg *out = out_of(w, in);
	uint32_t i;

	for (i = 0; i < count; i++) {
		struct events e = events_at(in, block, first + i);
		uint64_t mask = bits_at(a, in->a_signed, i);

		out->v[i] = e.set & mask;
		out->state[i] =
			a->state[i] == VTI_KNOWN && ((any && out->v[i]) || !(mask & ~e.told));
	}
}

void vti_where_events_and(struct vt_where_expr *w, const struct vti_where_insn *in,
			  const struct vt_block *block, uint32_t first, uint32_t count)
{
	and_events(w, in, block, first, count, false);
}

/* Likewise. */
void vti_where_events_any(struct vt_where_expr *w, const struct vti_where_insn *in,
			  const struct vt_block *block, uint32_t first, uint32_t count)
{
	and_events(w, in, block, first, count, true);
}

/* Whether `events`, or its bits of a mask, are or are not a number: one bit that differs decides.
 */
void vti_where_events_same(struct vt_where_expr *w, const struct vti_where_insn *in,
			   const struct vt_block *block, uint32_t first, uint32_t count)
{
	const reg *a = &w->registers[in->a], *b = &w->registers[in->b];
	reg *out = out_of(w, in);
	uint32_t i;

	for (i = 0; i < count; i++) {
		struct events e = events_at(in, block, first + i);
		uint64_t mask = in->masked ? bits_at(a, in->a_signed, i) : UINT64_MAX;
		uint64_t told = in->masked ? e.told | ~mask : e.told | ~ALL_EVENTS;
		bool known = b->state[i] == VTI_KNOWN && (!in->masked || a->state[i] == VTI_KNOWN);
		bool differs =
			((e.set & mask) ^ b->v[i]) & told || (in->b_signed && b->negative[i]);

		out->v[i] = differs == (in->op == VTI_WHERE_NE);
		out->state[i] = known && (differs || told == UINT64_MAX);
	}
}

/* ---- truth ---- */

/* What is so much or more, or less, may be 0, if that lies beyond it. */
static bool is_truth_known(uint8_t state, bool positive, bool negative)
{
	return state == VTI_KNOWN || (state == VTI_LEAST && positive) ||
	       (state == VTI_MOST && negative);
}

void vti_where_truth_of(struct vt_where_expr *w, const struct vti_where_insn *in,
			const struct vt_block *block, uint32_t first, uint32_t count)
{
	const reg *a = &w->registers[in->a];
	reg *out = out_of(w, in);
	uint32_t i;

	(void)block;
	(void)first;
	for (i = 0; i < count; i++) {
		bool negative = in->a_signed && a->negative[i];

		out->v[i] = a->v[i] != 0;
		out->state[i] = is_truth_known(a->state[i], a->v[i] && !negative, negative);
	}
}

void vti_where_truth_of_real(struct vt_where_expr *w, const struct vti_where_insn *in,
			     const struct vt_block *block, uint32_t first, uint32_t count)
{
	const reg *a = &w->registers[in->a];
	reg *out = out_of(w, in);
	uint32_t i;

	(void)block;
	(void)first;
	for (i = 0; i < count; i++) {
		double d = real_of(a->v[i]);

		out->v[i] = d != 0;
		out->state[i] = is_truth_known(a->state[i], d > 0, d < 0);
	}
}

/* Kleene's: of false, unknown and true in this order, the least or the greatest. */
void vti_where_logic(struct vt_where_expr *w, const struct vti_where_insn *in,
		     const struct vt_block *block, uint32_t first, uint32_t count)
{
	const reg *a = &w->registers[in->a], *b = &w->registers[in->b];
	reg *out = out_of(w, in);
	uint32_t i;

	(void)block;
	(void)first;
	for (i = 0; i < count; i++) {
		unsigned x = a->state[i] ? 2u * (unsigned)a->v[i] : 1;
		unsigned y = b->state[i] ? 2u * (unsigned)b->v[i] : 1;
		unsigned t;

		if (in->op == VTI_WHERE_ALL)
			t = x < y ? x : y;
		else if (in->op == VTI_WHERE_NOT || in->op == VTI_WHERE_EQ)
			t = 2 - x;
		else
			t = x > y ? x : y;
		out->v[i] = t == 2;
		out->state[i] = t != 1;
	}
}

/* ---- comparisons ---- */

static void put_comparison(const struct vti_where_insn *in, reg *out, uint32_t i, uint8_t a,
			   uint8_t b, unsigned order)
{
	uint8_t t = in->truth[a][b][order];

	out->v[i] = t == VT_TRUE;
	out->state[i] = t != VT_UNKNOWN;
}

void vti_where_compare(struct vt_where_expr *w, const struct vti_where_insn *in,
		       const struct vt_block *block, uint32_t first, uint32_t count)
{
	const reg *a = &w->registers[in->a], *b = &w->registers[in->b];
	reg *out = out_of(w, in);
	uint32_t i;

	(void)block;
	(void)first;
	for (i = 0; i < count; i++)
		put_comparison(in, out, i, a->state[i], b->state[i],
			       (unsigned)(a->v[i] > b->v[i]) + (a->v[i] >= b->v[i]));
}

/* 0, 1 or 2: less, equal or more. */
static unsigned order_of(bool a_negative, uint64_t a, bool b_negative, uint64_t b)
{
	if (a_negative != b_negative)
		return b_negative ? 2 : 0;
	return a_negative ? (unsigned)(b > a) + (b >= a) : (unsigned)(a > b) + (a >= b);
}

void vti_where_compare_signed(struct vt_where_expr *w, const struct vti_where_insn *in,
			      const struct vt_block *block, uint32_t first, uint32_t count)
{
	const reg *a = &w->registers[in->a], *b = &w->registers[in->b];
	reg *out = out_of(w, in);
	uint32_t i;

	(void)block;
	(void)first;
	for (i = 0; i < count; i++)
		put_comparison(in, out, i, a->state[i], b->state[i],
			       order_of(in->a_signed && a->negative[i], a->v[i],
					in->b_signed && b->negative[i], b->v[i]));
}

void vti_where_compare_real(struct vt_where_expr *w, const struct vti_where_insn *in,
			    const struct vt_block *block, uint32_t first, uint32_t count)
{
	const reg *a = &w->registers[in->a], *b = &w->registers[in->b];
	reg *out = out_of(w, in);
	uint32_t i;

	(void)block;
	(void)first;
	for (i = 0; i < count; i++) {
		double x = real_of(a->v[i]), y = real_of(b->v[i]);

		put_comparison(in, out, i, a->state[i], b->state[i], (unsigned)(x > y) + (x >= y));
	}
}

/* ---- arithmetic ---- */

/* An integer from -(2^64-1) to 2^64-1; 0 is not negative. */
struct integer {
	bool negative;
	uint64_t magnitude;
};

static struct integer integer_of(bool negative, uint64_t magnitude)
{
	return (struct integer){negative && magnitude, magnitude};
}

/* False: the sum lies beyond what an integer can be. */
static bool add(struct integer a, struct integer b, struct integer *sum)
{
	uint64_t m;

	if (a.negative == b.negative) {
		m = a.magnitude + b.magnitude;
		*sum = integer_of(a.negative, m);
		return m >= a.magnitude;
	}
	m = a.magnitude > b.magnitude ? a.magnitude - b.magnitude : b.magnitude - a.magnitude;
	*sum = integer_of(a.magnitude > b.magnitude ? a.negative : b.negative, m);
	return true;
}

/* Quotients are rounded towards zero, and a remainder has the sign of what is divided. */
static bool calculate(enum vti_where_op op, struct integer a, struct integer b, struct integer *r)
{
	bool negative = a.negative != b.negative;

	switch (op) {
	case VTI_WHERE_NEG:
		*r = integer_of(!a.negative, a.magnitude);
		return true;
	case VTI_WHERE_SUB:
		b = integer_of(!b.negative, b.magnitude);
		return add(a, b, r);
	case VTI_WHERE_MUL:
		*r = integer_of(negative, a.magnitude * b.magnitude);
		return !a.magnitude || b.magnitude <= UINT64_MAX / a.magnitude;
	case VTI_WHERE_DIV:
		*r = integer_of(negative, b.magnitude ? a.magnitude / b.magnitude : 0);
		return b.magnitude != 0;
	case VTI_WHERE_MOD:
		*r = integer_of(a.negative, b.magnitude ? a.magnitude % b.magnitude : 0);
		return b.magnitude != 0;
	default:
		return add(a, b, r);
	}
}

/* Of the negative of a value. */
static uint8_t negate_state(uint8_t state)
{
	static const uint8_t negated[VTI_NSTATES] = {
		[VTI_KNOWN] = VTI_KNOWN, [VTI_LEAST] = VTI_MOST, [VTI_MOST] = VTI_LEAST};

	return negated[state];
}

/* A sum is bounded on the side on which all is that is not known. */
static uint8_t state_of(enum vti_where_op op, uint8_t a, uint8_t b)
{
	if (op == VTI_WHERE_NEG)
		return negate_state(a);
	if (op == VTI_WHERE_SUB)
		b = negate_state(b);
	if (a == VTI_KNOWN && b == VTI_KNOWN)
		return VTI_KNOWN;
	if ((op != VTI_WHERE_ADD && op != VTI_WHERE_SUB) || a == VTI_UNKNOWN || b == VTI_UNKNOWN)
		return VTI_UNKNOWN;
	return a == b || b == VTI_KNOWN ? a : a == VTI_KNOWN ? b : VTI_UNKNOWN;
}

void vti_where_integers(struct vt_where_expr *w, const struct vti_where_insn *in,
			const struct vt_block *block, uint32_t first, uint32_t count)
{
	const reg *a = &w->registers[in->a], *b = &w->registers[in->b];
	reg *out = out_of(w, in);
	uint32_t i;

	(void)block;
	(void)first;
	for (i = 0; i < count; i++) {
		struct integer x = {in->a_signed && a->negative[i], a->v[i]};
		struct integer y = {in->b_signed && b->negative[i], b->v[i]};
		struct integer r;
		bool exact = calculate(in->op, x, y, &r);

		out->v[i] = r.magnitude;
		out->negative[i] = r.negative;
		out->state[i] = exact ? state_of(in->op, a->state[i], b->state[i]) : VTI_UNKNOWN;
	}
}

static double calculate_real(enum vti_where_op op, double a, double b)
{
	switch (op) {
	case VTI_WHERE_NEG:
		return -a;
	case VTI_WHERE_SUB:
		return a - b;
	case VTI_WHERE_MUL:
		return a * b;
	case VTI_WHERE_DIV:
		return b != 0 ? a / b : NAN;
	case VTI_WHERE_MOD:
		return b != 0 ? fmod(a, b) : NAN;
	default:
		return a + b;
	}
}

void vti_where_reals(struct vt_where_expr *w, const struct vti_where_insn *in,
		     const struct vt_block *block, uint32_t first, uint32_t count)
{
	const reg *a = &w->registers[in->a], *b = &w->registers[in->b];
	reg *out = out_of(w, in);
	uint32_t i;

	(void)block;
	(void)first;
	for (i = 0; i < count; i++)
		put_real(out, i, calculate_real(in->op, real_of(a->v[i]), real_of(b->v[i])),
			 state_of(in->op, a->state[i], b->state[i]));
}

void vti_where_to_real(struct vt_where_expr *w, const struct vti_where_insn *in,
		       const struct vt_block *block, uint32_t first, uint32_t count)
{
	const reg *a = &w->registers[in->a];
	reg *out = out_of(w, in);
	uint32_t i;

	(void)block;
	(void)first;
	for (i = 0; i < count; i++) {
		double d = (double)a->v[i];

		put_real(out, i, in->a_signed && a->negative[i] ? -d : d, a->state[i]);
	}
}

static uint64_t shift(enum vti_where_op op, uint64_t v, uint64_t by)
{
	if (by > 63)
		return 0;
	return op == VTI_WHERE_SHL ? v << by : v >> by;
}

static uint64_t combine(enum vti_where_op op, uint64_t a, uint64_t b)
{
	switch (op) {
	case VTI_WHERE_INVERT:
		return ~a;
	case VTI_WHERE_AND:
		return a & b;
	case VTI_WHERE_OR:
		return a | b;
	case VTI_WHERE_XOR:
		return a ^ b;
	default:
		return shift(op, a, b);
	}
}

void vti_where_bits(struct vt_where_expr *w, const struct vti_where_insn *in,
		    const struct vt_block *block, uint32_t first, uint32_t count)
{
	const reg *a = &w->registers[in->a], *b = &w->registers[in->b];
	bool shifts = in->op == VTI_WHERE_SHL || in->op == VTI_WHERE_SHR;
	reg *out = out_of(w, in);
	uint32_t i;

	(void)block;
	(void)first;
	for (i = 0; i < count; i++) {
		bool backwards = shifts && in->b_signed && b->negative[i];

		out->v[i] =
			combine(in->op, bits_at(a, in->a_signed, i), bits_at(b, in->b_signed, i));
		out->state[i] = a->state[i] == VTI_KNOWN && b->state[i] == VTI_KNOWN && !backwards;
	}
}

/* ---- all ---- */

void vt_where_select(struct vt_where_expr *w, const struct vt_block *block, uint32_t first,
		     uint32_t count, uint8_t *truth)
{
	const reg *result = &w->registers[w->result];
	uint32_t done, i, n;

	for (done = 0; done < count; done += n) {
		n = count - done < VTI_WHERE_ROWS ? count - done : VTI_WHERE_ROWS;
		for (i = 0; i < w->ninsns; i++)
			w->insns[i].run(w, &w->insns[i], block, first + done, n);
		for (i = 0; i < n; i++)
			truth[done + i] = result->state[i] ? (uint8_t)result->v[i] : VT_UNKNOWN;
	}
}

enum vt_truth vt_where_test(struct vt_where_expr *w, const struct vt_record *rec)
{
	uint8_t truth;

	vt_where_select(w, rec->block, rec->row, 1, &truth);
	return (enum vt_truth)truth;
}
