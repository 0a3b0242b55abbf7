/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dwarf.h>
#include <stdlib.h>

#include "image/internal.h"
#include "types/internal.h"

/* The blocks and inlined procedures around an instruction, outermost first. */
struct scopes {
	Dwarf_Die die[VTI_DEPTH];
	int n;
};

enum vt_untyped vti_function_at(struct vt_types *t, uint64_t pc, Dwarf_Die *function)
{
	uint64_t before = t->lost.split;
	Dwarf_Die unit;

	if (!vti_lines_unit_die(t->lines, pc, &unit))
		return VT_UNTYPED_NO_CODE;
	vti_die_unsplit(t, &unit);
	if (t->lost.split > before) {
		t->lost.split = before ? before : 1; /* the same unit again */
		return VT_UNTYPED_SPLIT;
	}
	return vti_lines_function_die(t->lines, &unit, pc, function) ? VT_TYPED
								     : VT_UNTYPED_NO_CODE;
}

static bool is_scope(int tag)
{
	switch (tag) {
	case DW_TAG_lexical_block:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return true;
	default:
		return false;
	}
}

bool vti_die_has_pc(Dwarf_Die *die, uint64_t pc)
{
	Dwarf_Addr base, lo, hi;
	ptrdiff_t at = 0;
	unsigned n = 0;

	while (n++ < 10000 && (at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0)
		if (pc >= lo && pc < hi)
			return true;
	return false;
}

static bool find_inner(Dwarf_Die *outer, uint64_t pc, uint64_t *left, Dwarf_Die *inner)
{
	struct vti_children c = {.left = *left};
	bool found = false;

	while (!found && vti_children_next(&c, outer, inner))
		found = is_scope(dwarf_tag(inner)) && vti_die_has_pc(inner, pc);
	*left = c.left;
	return found;
}

static void find_scopes(struct vt_types *t, Dwarf_Die *function, uint64_t pc, struct scopes *s)
{
	uint64_t left = vti_dwarf_unit_size(function);

	s->die[0] = *function;
	for (s->n = 1; s->n < VTI_DEPTH; s->n++)
		if (!find_inner(&s->die[s->n - 1], pc, &left, &s->die[s->n]))
			return;
	t->lost.limits++;
}

/* The name of the procedure, perhaps inlined, whose block is the i-th. */
static const char *name_of_procedure(struct scopes *s, int i)
{
	while (i && dwarf_tag(&s->die[i]) != DW_TAG_inlined_subroutine)
		i--;
	return vti_die_name(&s->die[i]);
}

struct slot_list {
	struct vt_local *v;
	size_t max;
	size_t n;
};

static void add_slot(struct vt_types *t, struct slot_list *l, struct scopes *s, int i,
		     Dwarf_Die *die, uint64_t pc)
{
	struct vti_location p = vti_locate(t, die, &s->die[0], pc);
	struct vti_type *type;

	if (!p.known)
		return;
	type = vti_type_at(t, die);
	if (!type)
		return;
	if (l->n < l->max)
		l->v[l->n] =
			(struct vt_local){{vti_die_name(die), name_of_procedure(s, i), &type->pub,
					   dwarf_tag(die) == DW_TAG_formal_parameter},
					  p.base,
					  (uint8_t)p.reg,
					  p.offset,
					  (unsigned)i};
	l->n++;
}

enum vt_untyped vt_types_locals(struct vt_types *t, uint64_t pc, struct vt_local *slots, size_t max,
				size_t *n)
{
	struct slot_list l = {slots, max, 0};
	struct scopes s;
	enum vt_untyped why;
	int i;

	*n = 0;
	why = vti_function_at(t, pc, &s.die[0]);
	if (why)
		return why;
	find_scopes(t, &s.die[0], pc, &s);
	for (i = s.n - 1; i >= 0; i--) {
		struct vti_children c = {.left = vti_dwarf_unit_size(&s.die[0])};
		Dwarf_Die die;

		while (vti_children_next(&c, &s.die[i], &die)) {
			int tag = dwarf_tag(&die);

			if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter)
				add_slot(t, &l, &s, i, &die, pc);
		}
	}
	if (l.n > max)
		t->lost.limits++;
	*n = l.n < max ? l.n : max;
	return t->nomem ? VT_UNTYPED_NOMEM : VT_TYPED;
}
