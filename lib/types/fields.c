/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "types/internal.h"

/* Limit on the members of one structure; those of kernels have some hundred. */
#define MAX_FIELDS 10000

struct field_reader {
	struct vt_types *t;
	struct vti_type *type;
	size_t cap;
};

/* Reads where a member begins, as a constant or as an expression of one addition. */
static bool read_byte(Dwarf_Die *die, uint64_t *byte)
{
	Dwarf_Attribute a;
	Dwarf_Op *ops;
	size_t n;

	if (vti_die_number(die, DW_AT_data_member_location, byte))
		return true;
	if (!dwarf_attr(die, DW_AT_data_member_location, &a) ||
	    dwarf_getlocation(&a, &ops, &n) != 0 || n != 1 || ops[0].atom != DW_OP_plus_uconst)
		return false;
	*byte = ops[0].number;
	return true;
}

/* Sets the bits of a bit field: DWARF 5, 5.7.6, and DWARF 3, 5.6.6. */
static bool read_bits(Dwarf_Die *die, struct vti_field *f)
{
	uint64_t byte = 0, from_top, storage = f->type->pub.size;

	if (!vti_die_number(die, DW_AT_bit_size, &f->bits) || f->bits > 4096)
		return false;
	f->bitfield = true;
	if (vti_die_number(die, DW_AT_data_bit_offset, &f->bit))
		return true;
	if (!vti_die_number(die, DW_AT_bit_offset, &from_top))
		return false;
	vti_die_number(die, DW_AT_byte_size, &storage);
	if (!read_byte(die, &byte) && dwarf_tag(die) != DW_TAG_member)
		return false;
	if (storage > 4096 || from_top > 8 * storage || f->bits > 8 * storage - from_top)
		return false;
	f->bit = 8 * byte + 8 * storage - from_top - f->bits;
	return true;
}

/* Returns false if the member's place is unknown. */
static bool read_place(Dwarf_Die *die, struct vti_field *f, bool is_union)
{
	uint64_t byte;

	if (dwarf_hasattr(die, DW_AT_bit_size))
		return read_bits(die, f);
	if (!read_byte(die, &byte)) {
		if (!is_union || dwarf_hasattr(die, DW_AT_data_member_location))
			return false;
		byte = 0;
	}
	if (byte > UINT64_MAX / 16)
		return false;
	f->bit = 8 * byte;
	f->bits = f->type->pub.sized ? 8 * f->type->pub.size : 0;
	f->tail = (f->type->pub.kind == VT_CTYPE_ARRAY && !f->bits) || f->type->pub.array_tail;
	return true;
}

/* A base class without members takes no room (Itanium C++ ABI, 2.4). */
static bool is_empty_base(struct vti_type *type)
{
	return type->pub.kind == VT_CTYPE_STRUCT && type->fields_read && !type->nfields &&
	       !type->opaque && type->pub.sized && type->pub.size == 1;
}

static const char *base_name(struct vt_types *t, const struct vti_type *type)
{
	struct vt_buf b = VT_BUF_INIT;
	const char *s;

	vt_buf_printf(&b, "%s::", type->pub.name);
	s = vti_types_copy(t, &b);
	vt_buf_free(&b);
	return s;
}

static bool is_static(Dwarf_Die *die)
{
	return vti_die_flag(die, DW_AT_declaration) || vti_die_flag(die, DW_AT_external) ||
	       dwarf_hasattr(die, DW_AT_const_value);
}

static void read_field(struct field_reader *r, Dwarf_Die *die)
{
	bool base = dwarf_tag(die) == DW_TAG_inheritance;
	struct vti_type *type = r->type;
	struct vti_field f = {.name = ""};

	if (!base && is_static(die))
		return;
	f.type = vti_type_at(r->t, die);
	if (!f.type) {
		type->opaque = true;
		return;
	}
	if (base && is_empty_base(f.type))
		return;
	f.name = base ? base_name(r->t, f.type) : vti_die_name(die);
	if (dwarf_hasattr(die, DW_AT_virtuality) ||
	    !read_place(die, &f, type->pub.kind == VT_CTYPE_UNION)) {
		type->opaque = true;
		return;
	}
	if (type->nfields == MAX_FIELDS) {
		r->t->lost.limits++;
		type->opaque = true;
	} else if (vt_array_grow(&type->fields, &r->cap, type->nfields + 1, sizeof(f))) {
		type->fields[type->nfields++] = f;
	} else {
		r->t->nomem = true;
	}
}

/*
 * Sorts by the first bit, and leaves others as they are declared.  In a structure, only an array
 * at the end has elements behind its own.
 */
static void sort_fields(struct vti_type *type)
{
	size_t i, j;

	for (i = 1; i < type->nfields; i++) {
		struct vti_field f = type->fields[i];

		for (j = i; j && type->fields[j - 1].bit > f.bit; j--)
			type->fields[j] = type->fields[j - 1];
		type->fields[j] = f;
	}
	for (i = 0; i < type->nfields; i++) {
		type->fields[i].tail &= i + 1 == type->nfields || type->pub.kind == VT_CTYPE_UNION;
		type->pub.array_tail |= type->fields[i].tail;
	}
}

void vti_type_fields(struct vt_types *t, struct vti_type *type)
{
	struct vti_children c = {.left = 1000000};
	struct field_reader r = {t, type, 0};
	Dwarf_Die die;

	if (type->fields_read || !type->has_bare || type->incomplete ||
	    (type->pub.kind != VT_CTYPE_STRUCT && type->pub.kind != VT_CTYPE_UNION))
		return;
	type->fields_read = true;
	while (vti_children_next(&c, &type->bare, &die)) {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_member || tag == DW_TAG_inheritance)
			read_field(&r, &die);
		else if (tag == DW_TAG_variant_part)
			type->opaque = true;
	}
	sort_fields(type);
}

/* Returns the base class at the start of a class, or NULL. */
static struct vti_type *first_base(struct vt_types *t, struct vti_type *type)
{
	const struct vti_field *f;

	vti_type_fields(t, type);
	f = type->nfields ? &type->fields[0] : NULL;
	return f && f->bit == 0 && strlen(f->name) > 2 &&
			       strcmp(f->name + strlen(f->name) - 2, "::") == 0
		       ? f->type
		       : NULL;
}

/* Returns the type of the member at the start of a type, or NULL. */
static struct vti_type *first_member(struct vt_types *t, struct vti_type *type)
{
	const struct vti_field *f;

	if (type->pub.kind == VT_CTYPE_ARRAY)
		return vti_type_target(t, type);
	vti_type_fields(t, type);
	f = type->pub.kind == VT_CTYPE_STRUCT && type->nfields ? &type->fields[0] : NULL;
	return f && f->bit == 0 && !f->bitfield ? f->type : NULL;
}

bool vti_type_begins(struct vt_types *t, struct vti_type *type, struct vti_type *with)
{
	int depth;

	for (depth = 0; depth < VTI_DEPTH; depth++) {
		type = first_member(t, type);
		if (!type)
			return false;
		if (vti_type_same(t, type, with))
			return true;
	}
	return false;
}

bool vti_type_is_virtual(struct vt_types *t, struct vti_type *type)
{
	int depth;

	for (depth = 0; type && depth < VTI_DEPTH; depth++) {
		vti_type_fields(t, type);
		if (type->nfields && strncmp(type->fields[0].name, "_vptr", 5) == 0)
			return true;
		type = first_base(t, type);
	}
	return false;
}
