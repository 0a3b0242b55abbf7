/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "image/internal.h"
#include "types/internal.h"

struct type_entry {
	uint64_t die; /* the key: where its bytes are */
	struct vti_type *type;
};

static enum vt_ctype_kind kind_of(Dwarf_Die *bare)
{
	switch (dwarf_tag(bare)) {
	case DW_TAG_base_type:
		return VT_CTYPE_BASE;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return VT_CTYPE_POINTER;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		return VT_CTYPE_STRUCT;
	case DW_TAG_union_type:
		return VT_CTYPE_UNION;
	case DW_TAG_enumeration_type:
		return VT_CTYPE_ENUM;
	case DW_TAG_array_type:
		return VT_CTYPE_ARRAY;
	case DW_TAG_subroutine_type:
		return VT_CTYPE_FUNCTION;
	case DW_TAG_unspecified_type:
		return VT_CTYPE_UNKNOWN;
	default:
		return VT_CTYPE_OTHER;
	}
}

/* ---- sizes ---- */

/* Reads the number of an array's elements in one dimension. */
static bool read_count(Dwarf_Die *range, uint64_t *count)
{
	uint64_t lower = 0, upper;

	if (vti_die_number(range, DW_AT_count, count))
		return true;
	if (!vti_die_number(range, DW_AT_upper_bound, &upper))
		return false;
	vti_die_number(range, DW_AT_lower_bound, &lower);
	*count = upper - lower + 1;
	return true;
}

/* Multiplies.  Returns false if the product does not fit. */
static bool multiply(uint64_t *a, uint64_t b)
{
	if (b && *a > UINT64_MAX / 8 / b)
		return false;
	*a *= b;
	return true;
}

/* Counts the dimensions of an array, and its elements.  Returns false if their number is unknown.
 */
static bool count_elements(Dwarf_Die *array, unsigned *dimensions, uint64_t *count)
{
	struct vti_children c = {.left = VTI_DEPTH};
	Dwarf_Die die;
	bool known = true;

	*count = 1;
	*dimensions = 0;
	while (vti_children_next(&c, array, &die)) {
		uint64_t n;

		if (dwarf_tag(&die) != DW_TAG_subrange_type)
			continue;
		known &= read_count(&die, &n) && multiply(count, n);
		++*dimensions;
	}
	return known && *dimensions;
}

static uint64_t address_size(Dwarf_Die *die)
{
	uint8_t size = 8;
	Dwarf_Die unit;

	dwarf_diecu(die, &unit, &size, NULL);
	return size;
}

static bool array_size(struct vt_types *t, Dwarf_Die *array, int depth, uint64_t *size)
{
	unsigned dimensions;
	Dwarf_Die element;
	uint64_t count;

	return vti_die_follow(array, DW_AT_type, &element) &&
	       count_elements(array, &dimensions, &count) &&
	       vti_type_size(t, &element, depth + 1, size) && multiply(size, count);
}

/* A pointer to a data member is an offset, one to a function two words (Itanium C++ ABI, 2.3). */
static uint64_t member_pointer_size(Dwarf_Die *die)
{
	Dwarf_Die to;
	bool function =
		vti_die_follow(die, DW_AT_type, &to) && dwarf_tag(&to) == DW_TAG_subroutine_type;

	return address_size(die) * (function ? 2 : 1);
}

bool vti_type_size(struct vt_types *t, Dwarf_Die *die, int depth, uint64_t *size)
{
	Dwarf_Die bare, under;

	if (depth > VTI_DEPTH) {
		t->lost.limits++;
		return false;
	}
	if (!vti_die_strip(t, die, &bare) || !vti_define(t, &bare))
		return false;
	if (vti_die_number(&bare, DW_AT_byte_size, size))
		return *size <= UINT64_MAX / 8;
	switch (kind_of(&bare)) {
	case VT_CTYPE_POINTER:
		*size = address_size(&bare);
		return true;
	case VT_CTYPE_ARRAY:
		return array_size(t, &bare, depth, size);
	case VT_CTYPE_ENUM:
		return vti_die_follow(&bare, DW_AT_type, &under) &&
		       vti_type_size(t, &under, depth + 1, size);
	case VT_CTYPE_OTHER:
		if (dwarf_tag(&bare) == DW_TAG_ptr_to_member_type) {
			*size = member_pointer_size(&bare);
			return true;
		}
		return false;
	default:
		return false;
	}
}

/* ---- types ---- */

/* Fills a new type, all zeros, whose `die` is set. */
static void read_type(struct vt_types *t, struct vti_type *type)
{
	struct vt_buf b = VT_BUF_INIT;
	Dwarf_Die die = type->die;
	uint64_t count;

	vti_type_name(t, &die, &b);
	type->pub.name = vti_types_copy(t, &b);
	vt_buf_free(&b);
	type->has_bare = vti_die_strip(t, &die, &type->bare);
	if (!type->has_bare)
		return;
	type->pub.kind = kind_of(&type->bare);
	type->incomplete = !vti_define(t, &type->bare);
	type->pub.sized = vti_type_size(t, &die, 0, &type->pub.size);
	if (!type->pub.sized)
		type->pub.size = 0;
	if (type->pub.kind == VT_CTYPE_ARRAY)
		count_elements(&type->bare, &type->dimensions, &count);
}

void vti_type_add_name(struct vt_buf *path, const char *name)
{
	if (name[0] && path->size && path->data[path->size - 1] != ':')
		vt_buf_printf(path, ".");
	vt_buf_printf(path, "%s", name);
}

const char *vti_type_gap_name(const struct vti_type *type)
{
	return type->opaque ? "(unknown)" : "(padding)";
}

void vti_type_brackets(const struct vti_type *array, struct vt_buf *path)
{
	unsigned i;

	for (i = 0; i < array->dimensions || i < 1; i++)
		vt_buf_printf(path, "[]");
}

struct vti_type *vti_type_of(struct vt_types *t, Dwarf_Die *die)
{
	uint64_t key = (uint64_t)(uintptr_t)die->addr;
	struct type_entry *e;
	struct vti_type *type;

	e = vt_hash_find(&t->types, &key);
	if (e)
		return e->type;
	type = calloc(1, sizeof(*type));
	e = type ? vt_hash_add(&t->types, &key, NULL) : NULL;
	if (!e) {
		free(type);
		t->nomem = true;
		return NULL;
	}
	type->die = *die;
	e->type = type;
	read_type(t, type);
	if (t->depth < VTI_DEPTH) {
		t->depth++;
		vti_type_fields(t, type);
		t->depth--;
	}
	return type;
}

struct vti_type *vti_type_at(struct vt_types *t, Dwarf_Die *die)
{
	Dwarf_Die to;

	return vti_die_follow(die, DW_AT_type, &to) ? vti_type_of(t, &to) : NULL;
}

struct vti_type *vti_type_target(struct vt_types *t, struct vti_type *type)
{
	if (!type->targeted && type->has_bare &&
	    (type->pub.kind == VT_CTYPE_POINTER || type->pub.kind == VT_CTYPE_ARRAY))
		type->target = vti_type_at(t, &type->bare);
	type->targeted = true;
	return type->target;
}

const struct vt_ctype *vt_type_target(struct vt_types *t, const struct vt_ctype *type)
{
	struct vti_type *to = vti_type_target(t, (struct vti_type *)type);

	return to && to->has_bare ? &to->pub : NULL;
}

static bool is_named(struct vti_type *type)
{
	Dwarf_Die bare = type->bare;

	return vti_die_name(&bare)[0] != 0;
}

bool vti_type_same(struct vt_types *t, struct vti_type *a, struct vti_type *b)
{
	struct vti_type *x, *y;

	if (a == b)
		return true;
	if (!a->has_bare || !b->has_bare || a->pub.kind != b->pub.kind ||
	    a->pub.size != b->pub.size)
		return false;
	if (a->bare.addr == b->bare.addr ||
	    (a->pub.name[0] != '(' && strcmp(a->pub.name, b->pub.name) == 0))
		return true;
	x = vti_type_of(t, &a->bare);
	y = vti_type_of(t, &b->bare);
	if (!x || !y || strcmp(x->pub.name, y->pub.name) != 0)
		return false;
	return (x->pub.kind != VT_CTYPE_STRUCT && x->pub.kind != VT_CTYPE_UNION) ||
	       (is_named(x) && is_named(y));
}

void vti_type_free(struct vti_type *type)
{
	free(type->fields);
	free(type->members);
	free(type);
}
