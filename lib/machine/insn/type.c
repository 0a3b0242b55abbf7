/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/insn/insn.h"

/* The memory operand that a recorded value belongs to: of its size, if there is one. */
static const struct vt_memory *find_accessed_memory(const struct vt_facts *f, bool written,
						    unsigned size)
{
	const struct vt_memory *found = NULL;
	unsigned i;

	for (i = 0; i < f->nmemories; i++) {
		const struct vt_memory *m = &f->memories[i];

		if (written ? !m->written : !m->read)
			continue;
		if (m->size == size)
			return m;
		if (!found)
			found = m;
	}
	return found;
}

static const struct vt_operand *find_result(const struct vt_facts *f, unsigned reg)
{
	unsigned i;

	for (i = 0; i < f->nresults; i++)
		if (f->results[i].reg == reg)
			return &f->results[i];
	return NULL;
}

/* Of general registers the whole is captured, whatever the instruction reads of it. */
static const struct vt_operand *find_source(const struct vt_facts *f, unsigned reg)
{
	unsigned i;

	if (f->divisor.where == VT_WHERE_REGISTER && f->divisor.reg == reg)
		return &f->divisor;
	for (i = 0; i < f->nsources && reg >= VT_REG_VECTOR; i++)
		if (f->sources[i].reg == reg)
			return &f->sources[i];
	return NULL;
}

static struct vt_number_type make_plain_type(enum vt_number number, unsigned size)
{
	struct vt_number_type t = {.number = number, .size = 8, .elements = 1};

	if (size <= 8)
		t.size = (uint8_t)size;
	else if (size <= 512)
		t.elements = (uint8_t)(size / 8);
	t.may_point = size == VT_ADDRESS_SIZE && number != VT_NUMBER_FLOAT;
	return t;
}

/* A type as it is in the instruction, for a value of `size` bytes of it. */
static struct vt_number_type fit_type(struct vt_number_type t, unsigned size)
{
	if (!t.size || size < t.size)
		return make_plain_type(t.number == VT_NUMBER_FLOAT ? VT_NUMBER_RAW : t.number,
				       size);
	if (size > t.size && t.elements == 1 && t.number != VT_NUMBER_FLOAT) {
		/* A register is wider than what was written to it. */
		if (size > 8)
			return make_plain_type(VT_NUMBER_RAW, size);
		t.size = (uint8_t)size;
		return t;
	}
	if (size / t.size < 256)
		t.elements = (uint8_t)(size / t.size);
	return t;
}

struct vt_number_type vt_facts_type(const struct vt_facts *f, enum vt_what what, unsigned reg,
				    unsigned size)
{
	const struct vt_memory *m = NULL;
	const struct vt_operand *r = NULL;

	switch (what) {
	case VT_WHAT_LOAD_ADDRESS:
	case VT_WHAT_STORE_ADDRESS:
	case VT_WHAT_TARGET:
	case VT_WHAT_RETURN:
		return make_plain_type(VT_NUMBER_ADDRESS, size);
	case VT_WHAT_GUARD:
	case VT_WHAT_LATENCY:
		return make_plain_type(VT_NUMBER_UNSIGNED, size);
	case VT_WHAT_ARG:
		/* Of those that pass in vector registers, most are doubles. */
		return make_plain_type(
			reg < VT_REG_VECTOR || size != 8 ? VT_NUMBER_INT : VT_NUMBER_FLOAT, size);
	case VT_WHAT_LOAD:
		m = f ? find_accessed_memory(f, false, size) : NULL;
		break;
	case VT_WHAT_STORE:
		m = f ? find_accessed_memory(f, true, size) : NULL;
		break;
	case VT_WHAT_RESULT:
		r = f ? find_result(f, reg) : NULL;
		break;
	case VT_WHAT_OPERAND:
		r = f ? find_source(f, reg) : NULL;
		break;
	default:
		break;
	}
	if (m)
		return fit_type(m->type, size);
	if (r)
		return fit_type(r->type, size);
	return make_plain_type(size <= 8 && reg < VT_REG_VECTOR ? VT_NUMBER_INT : VT_NUMBER_RAW,
			       size);
}
