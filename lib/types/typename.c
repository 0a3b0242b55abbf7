/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dwarf.h>

#include "image/internal.h"
#include "types/internal.h"

/* Limit on the bytes of a name, and on the entries that are visited for one. */
#define MAX_NAME    512
#define MAX_ENTRIES 200

struct namer {
	struct vt_types *t;
	struct vt_buf *b;
	size_t start;
	unsigned left; /* entries that may still be visited */
};

static void put_left(struct namer *n, Dwarf_Die *die, int depth);
static void put_right(struct namer *n, Dwarf_Die *die, int depth);

/* Whether the entry may be visited; if not, the name is cut. */
static bool may_visit(struct namer *n, int depth)
{
	if (depth > VTI_DEPTH || !n->left || n->b->size - n->start > MAX_NAME) {
		n->left = 0;
		return false;
	}
	n->left--;
	return true;
}

static Dwarf_Die *target_of(Dwarf_Die *die, Dwarf_Die *to)
{
	return vti_die_follow(die, DW_AT_type, to) ? to : NULL;
}

static bool is_right(Dwarf_Die *die)
{
	int tag = die ? dwarf_tag(die) : 0;

	return tag == DW_TAG_array_type || tag == DW_TAG_subroutine_type;
}

static void put_named(struct namer *n, Dwarf_Die *die)
{
	int tag = dwarf_tag(die);
	const char *what = "", *function, *name = vti_die_name(die);

	if (tag == DW_TAG_structure_type)
		what = "struct";
	else if (tag == DW_TAG_class_type)
		what = "class";
	else if (tag == DW_TAG_union_type)
		what = "union";
	else if (tag == DW_TAG_enumeration_type)
		what = "enum";
	if (!name[0]) {
		vt_buf_printf(n->b, "(anonymous%s%s)", what[0] ? " " : "", what);
		return;
	}
	if (vti_die_is_c(die))
		vt_buf_printf(n->b, "%s%s", what, what[0] ? " " : "");
	else if (tag != DW_TAG_base_type)
		vti_die_scope(n->t, die, n->b, &function);
	vt_buf_printf(n->b, "%s", name);
}

/* Appends a star or the like, with a blank before it after a word. */
static void put_mark(struct namer *n, Dwarf_Die *to, const char *mark)
{
	char last = n->b->size ? (char)n->b->data[n->b->size - 1] : ' ';

	vt_buf_printf(n->b, "%s%s%s", last == '*' || last == '(' ? "" : " ",
		      is_right(to) ? "(" : "", mark);
}

static void put_qualified(struct namer *n, Dwarf_Die *die, const char *word, int depth)
{
	Dwarf_Die to, element, *target = target_of(die, &to);

	/* In C, the qualifiers of an array are those of its elements; gcc writes both. */
	if (target && dwarf_tag(target) == DW_TAG_array_type && target_of(target, &element) &&
	    dwarf_tag(&element) == dwarf_tag(die)) {
		put_left(n, target, depth + 1);
	} else if (target && dwarf_tag(target) == DW_TAG_pointer_type) {
		put_left(n, target, depth + 1);
		vt_buf_printf(n->b, " %s", word);
	} else {
		vt_buf_printf(n->b, "%s ", word);
		put_left(n, target, depth + 1);
	}
}

static void put_left(struct namer *n, Dwarf_Die *die, int depth)
{
	Dwarf_Die to, *target;
	int tag;

	if (!may_visit(n, depth))
		return;
	if (!die) {
		vt_buf_printf(n->b, "void");
		return;
	}
	target = target_of(die, &to);
	tag = dwarf_tag(die);
	switch (tag) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		put_left(n, target, depth + 1);
		put_mark(n, target,
			 tag == DW_TAG_pointer_type	? "*"
			 : tag == DW_TAG_reference_type ? "&"
							: "&&");
		break;
	case DW_TAG_array_type:
	case DW_TAG_subroutine_type:
		put_left(n, target, depth + 1);
		break;
	case DW_TAG_const_type:
		put_qualified(n, die, "const", depth);
		break;
	case DW_TAG_volatile_type:
		put_qualified(n, die, "volatile", depth);
		break;
	case DW_TAG_restrict_type:
		put_left(n, target, depth + 1);
		break;
	case DW_TAG_atomic_type:
		put_qualified(n, die, "_Atomic", depth);
		break;
	default:
		put_named(n, die);
	}
}

static void put_dimensions(struct namer *n, Dwarf_Die *array)
{
	struct vti_children c = {.left = 16};
	Dwarf_Die die;

	while (vti_children_next(&c, array, &die)) {
		uint64_t count;

		if (dwarf_tag(&die) != DW_TAG_subrange_type)
			continue;
		if (vti_die_number(&die, DW_AT_count, &count))
			vt_buf_printf(n->b, "[%llu]", (unsigned long long)count);
		else if (vti_die_number(&die, DW_AT_upper_bound, &count))
			vt_buf_printf(n->b, "[%llu]", (unsigned long long)count + 1);
		else
			vt_buf_printf(n->b, "[]");
	}
}

static void put_parameters(struct namer *n, Dwarf_Die *function, int depth)
{
	struct vti_children c = {.left = 32};
	Dwarf_Die die, to;
	bool any = false;

	vt_buf_printf(n->b, "(");
	while (n->left && vti_children_next(&c, function, &die)) {
		if (dwarf_tag(&die) != DW_TAG_formal_parameter)
			continue;
		if (any)
			vt_buf_printf(n->b, ", ");
		any = true;
		if (vti_die_follow(&die, DW_AT_type, &to)) {
			put_left(n, &to, depth + 1);
			put_right(n, &to, depth + 1);
		}
	}
	vt_buf_printf(n->b, ")");
}

static void put_right(struct namer *n, Dwarf_Die *die, int depth)
{
	Dwarf_Die to, *target;

	if (!die || !may_visit(n, depth))
		return;
	target = target_of(die, &to);
	switch (dwarf_tag(die)) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		vt_buf_printf(n->b, "%s", is_right(target) ? ")" : "");
		break;
	case DW_TAG_array_type:
		put_dimensions(n, die);
		break;
	case DW_TAG_subroutine_type:
		put_parameters(n, die, depth);
		break;
	case DW_TAG_const_type:
	case DW_TAG_volatile_type:
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type:
		break;
	default:
		return;
	}
	put_right(n, target, depth + 1);
}

void vti_type_name(struct vt_types *t, Dwarf_Die *die, struct vt_buf *b)
{
	struct namer n = {t, b, b->size, MAX_ENTRIES};

	put_left(&n, die, 0);
	put_right(&n, die, 0);
	if (!n.left)
		vt_buf_printf(b, "...");
	if (b->size - n.start > 2 * MAX_NAME)
		b->size = n.start + 2 * MAX_NAME;
}
