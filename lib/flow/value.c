/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flow/value.h"

#include <string.h>

uint64_t vti_mask(unsigned width)
{
	return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

struct vti_value vti_value_constant(uint64_t n)
{
	return (struct vti_value){.width = 64, .lo = n, .hi = n};
}

struct vti_value vti_value_range(uint64_t sym, uint64_t hi)
{
	return (struct vti_value){.sym = sym, .width = 64, .hi = hi, .stride = hi ? 1 : 0};
}

struct vti_value vti_value_unknown(uint64_t sym)
{
	return vti_value_range(sym, UINT64_MAX);
}

static bool is_constant_value(const struct vti_value *v)
{
	return !v->entry && v->lo == v->hi;
}

bool vti_value_same(const struct vti_value *a, const struct vti_value *b)
{
	if (is_constant_value(a) && is_constant_value(b))
		return a->lo == b->lo;
	if (a->entry != b->entry)
		return false;
	if (a->entry)
		return a->lo == b->lo && a->size == b->size && a->is_signed == b->is_signed &&
		       a->add == b->add && a->stride == b->stride && a->width == b->width;
	return a->sym && a->sym == b->sym && a->off == b->off && a->width == b->width &&
	       a->sext == b->sext;
}

static struct vti_value make_computed(uint64_t sym, unsigned width)
{
	struct vti_value r = vti_value_range(sym, vti_mask(width));

	r.computed = true;
	return r;
}

struct vti_value vti_value_low(const struct vti_value *v, unsigned width)
{
	struct vti_value r = *v;

	if (width == 64 || (width >= v->width && !v->sext))
		return r;
	if (v->entry) {
		/* Only an entry, not a sum, can be reduced, and only to its own size or more. */
		if (width >= 8u * v->size && !v->add) {
			r.is_signed &= width > 8u * v->size;
			r.width = (uint8_t)width;
			return r;
		}
		return make_computed(0, width);
	}
	/* Some of these bits are copies of the sign. */
	if (width > v->width)
		return make_computed(0, width);
	r.width = (uint8_t)width;
	r.sext = false;
	if (r.lo == r.hi)
		r.lo = r.hi &= vti_mask(width);
	if (r.hi > vti_mask(width)) {
		r.lo = 0;
		r.hi = vti_mask(width);
		r.stride = 1;
	}
	return r;
}

static uint64_t find_gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Adds a constant to a range. */
static struct vti_value add_constant(const struct vti_value *a, uint64_t n, unsigned width,
				     uint64_t sym)
{
	struct vti_value r = vti_value_low(a, width);
	uint64_t mask = vti_mask(width), lo = (r.lo + n) & mask;

	if (!n)
		return r;
	if (r.sext)
		return make_computed(sym, width);
	/* The sum is a range only if all of it wraps around, or none. */
	if (r.hi <= mask && lo <= ((lo + (r.hi - r.lo)) & mask)) {
		r.hi = lo + (r.hi - r.lo);
		r.lo = lo;
	} else {
		r.lo = 0;
		r.hi = mask;
		r.stride = 1;
	}
	if (r.sym && r.width >= width) {
		r.off += n;
	} else {
		/* The value is narrower than the sum, which may carry out of it. */
		r.sym = sym;
		r.off = 0;
		r.width = 64;
	}
	return r;
}

struct vti_value vti_value_add(const struct vti_value *a, const struct vti_value *b, unsigned width,
			       uint64_t sym)
{
	struct vti_value r;
	const struct vti_value *t = a;

	if (is_constant_value(a) && is_constant_value(b))
		return vti_value_constant((a->lo + b->lo) & vti_mask(width));
	if (is_constant_value(a)) {
		a = b;
		b = t;
	}
	if (a->entry && is_constant_value(b) && width == 64) {
		r = *a;
		r.add += b->lo;
		return r;
	}
	if (a->entry || b->entry)
		return make_computed(sym, width);
	if (is_constant_value(b))
		return add_constant(a, b->lo, width, sym);
	r = make_computed(sym, width);
	if (a->hi <= vti_mask(width) && b->hi <= vti_mask(width) - a->hi) {
		r.lo = a->lo + b->lo;
		r.hi = a->hi + b->hi;
		r.stride = find_gcd(a->stride, b->stride);
		/* A value added to itself. */
		if (vti_value_same(a, b))
			r.stride = 2 * a->stride;
	}
	return r;
}

struct vti_value vti_value_times(const struct vti_value *v, uint64_t factor, unsigned width,
				 uint64_t sym)
{
	struct vti_value low = vti_value_low(v, width), r = make_computed(sym, width);

	if (factor == 1)
		return low;
	if (low.entry || !factor || low.hi > vti_mask(width) / factor)
		return r;
	r.lo = low.lo * factor;
	r.hi = low.hi * factor;
	r.stride = low.stride * factor;
	return r;
}

struct vti_value vti_value_and(const struct vti_value *v, uint64_t with, unsigned width,
			       uint64_t sym)
{
	struct vti_value low = vti_value_low(v, width), r = make_computed(sym, width);

	with &= vti_mask(width);
	if (is_constant_value(&low))
		return vti_value_constant(low.lo & with);
	if (with == 0xff || with == 0xffff || with == 0xffffffff)
		return vti_value_low(&low, with == 0xff ? 8 : with == 0xffff ? 16 : 32);
	r.hi = !low.entry && low.hi < with ? low.hi : with;
	/* The low bits that are cleared determine the stride. */
	r.stride = r.hi == with ? with & (~with + 1) : 1;
	return r;
}

struct vti_value vti_value_shift_right(const struct vti_value *v, unsigned by, unsigned width,
				       uint64_t sym)
{
	struct vti_value low = vti_value_low(v, width), r = make_computed(sym, width);

	if (low.entry || by >= width)
		return r;
	r.lo = low.lo >> by;
	r.hi = low.hi >> by;
	r.stride = r.lo == r.hi ? 0 : 1;
	return r;
}

struct vti_value vti_value_sign_extend(const struct vti_value *v, unsigned from, unsigned width,
				       uint64_t sym)
{
	struct vti_value r = vti_value_low(v, from);
	uint64_t sign = UINT64_C(1) << (from - 1);

	if (r.entry) {
		/* The entry was loaded at its full size and is now extended. */
		if (8u * r.size == from && !r.add) {
			r.is_signed = true;
			r.width = (uint8_t)width;
			return r;
		}
		return make_computed(sym, width);
	}
	if (is_constant_value(&r))
		return vti_value_constant(((r.lo ^ sign) - sign) & vti_mask(width));
	if (r.hi < sign)
		return r;
	if (r.sym && r.width == from && width == 64) {
		r.sext = true;
		r.lo = 0;
		r.hi = UINT64_MAX;
		r.stride = 1;
		return r;
	}
	return make_computed(sym, width);
}

struct vti_value vti_value_join(const struct vti_value *a, const struct vti_value *b, uint64_t sym)
{
	struct vti_value r = *a;

	if (a->entry || b->entry) {
		if (!vti_value_same(a, b))
			return make_computed(sym, 64);
		if (b->hi > r.hi)
			r.hi = b->hi;
		return r;
	}
	if (!vti_value_same(a, b)) {
		r = vti_value_range(sym, UINT64_MAX);
		r.computed = a->computed || b->computed;
	}
	r.stride = find_gcd(find_gcd(a->stride, b->stride),
			    a->lo > b->lo ? a->lo - b->lo : b->lo - a->lo);
	r.lo = a->lo < b->lo ? a->lo : b->lo;
	r.hi = a->hi > b->hi ? a->hi : b->hi;
	return r;
}
