/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "types/internal.h"

/* The variables in scope before an instruction. */
struct in_scope {
	struct vt_local v[VTI_MAX_LOCALS];
	size_t n;
};

/* Whether a variable in memory holds the `size` bytes at `at`, and where. */
static bool holds(const struct vt_local *s, int64_t at, uint64_t size, uint64_t *offset)
{
	uint64_t from = (uint64_t)at - (uint64_t)s->offset;

	*offset = from;
	return at >= s->offset && s->variable.type->sized && from < s->variable.type->size &&
	       size <= s->variable.type->size - from;
}

/* Finds the innermost variable in memory, relative to `base` and `reg`. */
static enum vt_untyped find_in_memory(const struct in_scope *scope, enum vt_local_base base,
				      unsigned reg, int64_t at, uint64_t size,
				      struct vt_variable *v, uint64_t *offset)
{
	size_t i;

	for (i = 0; i < scope->n; i++) {
		const struct vt_local *s = &scope->v[i];

		if (s->base == base && s->reg == reg && holds(s, at, size, offset)) {
			*v = s->variable;
			return VT_TYPED;
		}
	}
	return VT_UNTYPED_NO_VARIABLE;
}

enum vt_untyped vt_types_stack(struct vt_types *t, uint64_t pc, int64_t cfa, uint64_t size,
			       struct vt_variable *v, uint64_t *offset)
{
	struct in_scope scope;
	enum vt_untyped why = vt_types_locals(t, pc, scope.v, VTI_MAX_LOCALS, &scope.n);

	return why ? why : find_in_memory(&scope, VT_LOCAL_CFA, 0, cfa, size, v, offset);
}

/* Finds what a pointer in a register points to.  Pointers to void say nothing. */
static enum vt_untyped find_through(struct vt_types *t, const struct in_scope *scope, unsigned reg,
				    struct vt_variable *v)
{
	struct vti_type *object = NULL, *to;
	size_t i;

	for (i = 0; i < scope->n; i++) {
		const struct vt_local *s = &scope->v[i];

		if (s->base != VT_LOCAL_REGISTER || s->reg != reg ||
		    s->variable.type->kind != VT_CTYPE_POINTER)
			continue;
		to = vti_type_target(t, (struct vti_type *)s->variable.type);
		if (!to || !to->has_bare || (object && vti_type_begins(t, object, to)))
			continue;
		if (object && !vti_type_same(t, object, to) && !vti_type_begins(t, to, object))
			return VT_UNTYPED_AMBIGUOUS;
		if (object && vti_type_same(t, object, to))
			continue;
		object = to;
		*v = s->variable;
	}
	if (!object)
		return VT_UNTYPED_NO_VARIABLE;
	v->type = &object->pub;
	return object->incomplete ? VT_UNTYPED_INCOMPLETE : VT_TYPED;
}

enum vt_untyped vt_types_operand(struct vt_types *t, uint64_t pc, unsigned reg,
				 int64_t displacement, uint64_t size, struct vt_variable *v,
				 uint64_t *offset, bool *through)
{
	struct in_scope scope;
	enum vt_untyped why = vt_types_locals(t, pc, scope.v, VTI_MAX_LOCALS, &scope.n);
	unsigned cfa_reg;
	int64_t cfa;

	*through = false;
	if (why)
		return why;
	why = VT_UNTYPED_NO_VARIABLE;
	if (t->unwind && vt_unwind_cfa(t->unwind, pc, &cfa_reg, &cfa) && cfa_reg == reg)
		why = find_in_memory(&scope, VT_LOCAL_CFA, 0,
				     (int64_t)((uint64_t)displacement - (uint64_t)cfa), size, v,
				     offset);
	if (why)
		why = find_in_memory(&scope, VT_LOCAL_MEMORY, reg, displacement, size, v, offset);
	if (!why)
		return why;
	why = find_through(t, &scope, reg, v);
	if (why)
		return why;
	*through = true;
	/* Beside the object is another one, which the compiler reaches from this pointer. */
	if (displacement < 0 || !v->type->sized ||
	    ((uint64_t)displacement >= v->type->size && !v->type->array_tail))
		return VT_UNTYPED_OUTSIDE;
	*offset = (uint64_t)displacement;
	return VT_TYPED;
}
