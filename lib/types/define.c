/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dwarf.h>
#include <string.h>

#include "image/internal.h"
#include "types/internal.h"

/* The definitions of a name, which are the same if they have one size and the same members. */
struct definition {
	uint64_t name; /* id of t->names: the key */
	Dwarf_Die die;
	uint64_t size;
	uint64_t members; /* a hash of their names and places */
	bool differ;
};

/* Limit on the members of a definition that are compared. */
#define MAX_MEMBERS 10000

/* A walk through the types of a unit. */
struct define_walk {
	struct vt_types *t;
	struct vt_buf name; /* the namespaces and classes around */
	uint64_t left;
	bool c;
};

static bool is_composite(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type;
}

/* Makes the key of a name: classes may be declared as structures. */
static uint32_t key_of(struct vt_types *t, struct vt_buf *name, int tag, const char *last)
{
	size_t start = name->size;
	uint32_t id;

	vt_buf_printf(name, "%s%s", last,
		      tag == DW_TAG_union_type	       ? " union"
		      : tag == DW_TAG_enumeration_type ? " enum"
						       : "");
	id = name->failed ? UINT32_MAX : vt_intern_add(t->names, name->data, name->size);
	name->size = start;
	t->nomem |= id == UINT32_MAX;
	return id;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	const uint64_t both[2] = {hash, value};

	return vt_hash_bytes(both, sizeof(both));
}

static uint64_t hash_members(Dwarf_Die *die)
{
	struct vti_children c = {.left = MAX_MEMBERS};
	uint64_t hash = 0;
	Dwarf_Die member;

	while (vti_children_next(&c, die, &member)) {
		uint64_t place = 0;
		const char *name;

		if (dwarf_tag(&member) != DW_TAG_member)
			continue;
		name = vti_die_name(&member);
		vti_die_number(&member, DW_AT_data_member_location, &place);
		hash = mix(mix(hash, place), vt_hash_bytes(name, strlen(name)));
	}
	return hash;
}

/* Makes the key of a definition.  That of a declaration elsewhere in the unit is where that is. */
static uint32_t key_of_definition(struct define_walk *w, Dwarf_Die *die, int tag)
{
	struct vt_buf b = VT_BUF_INIT;
	const char *function;
	uint32_t id;

	if (!dwarf_hasattr(die, DW_AT_specification))
		return key_of(w->t, &w->name, tag, vti_die_name(die));
	vti_die_scope(w->t, die, &b, &function);
	id = key_of(w->t, &b, tag, vti_die_name(die));
	vt_buf_free(&b);
	return id;
}

static void add_definition(struct define_walk *w, Dwarf_Die *die, int tag)
{
	uint64_t key = key_of_definition(w, die, tag), size = 0, members = hash_members(die);
	struct definition *d;
	bool added;

	vti_die_number(die, DW_AT_byte_size, &size);
	d = key == UINT32_MAX ? NULL : vt_hash_add(&w->t->defined, &key, &added);
	if (!d) {
		w->t->nomem = true;
	} else if (added) {
		d->die = *die;
		d->size = size;
		d->members = members;
	} else {
		d->differ |= d->size != size || d->members != members;
	}
}

static void walk_types(struct define_walk *w, Dwarf_Die *parent, int depth)
{
	struct vti_children c = {.left = w->left};
	Dwarf_Die die;

	while (vti_children_next(&c, parent, &die)) {
		int tag = dwarf_tag(&die);
		size_t start = w->name.size;
		const char *name;

		if (!is_composite(tag) && tag != DW_TAG_namespace)
			continue;
		name = vti_die_name(&die);
		if (tag != DW_TAG_namespace && name[0] && !vti_die_flag(&die, DW_AT_declaration))
			add_definition(w, &die, tag);
		if (w->c || tag == DW_TAG_enumeration_type || depth == VTI_DEPTH ||
		    (!name[0] && tag == DW_TAG_namespace))
			continue;
		vt_buf_printf(&w->name, "%s::", name);
		w->left = c.left;
		walk_types(w, &die, depth + 1);
		c.left = w->left;
		w->name.size = start;
	}
	w->left = c.left;
}

static void index_definitions(struct vt_types *t, Dwarf_Die *unit)
{
	struct define_walk w = {t, VT_BUF_INIT, vti_dwarf_unit_size(unit), vti_die_is_c(unit)};

	walk_types(&w, unit, 0);
	vt_buf_free(&w.name);
}

bool vti_define(struct vt_types *t, Dwarf_Die *die)
{
	struct vt_buf b = VT_BUF_INIT;
	const struct definition *d;
	const char *function = NULL;
	Dwarf_Die to;
	uint64_t key;

	if (!vti_die_flag(die, DW_AT_declaration))
		return true;
	if (vti_die_follow(die, DW_AT_signature, &to) && !vti_die_flag(&to, DW_AT_declaration)) {
		*die = to;
		return true;
	}
	if (!is_composite(dwarf_tag(die)) || !vti_die_name(die)[0])
		return false;
	if (!t->defined_read) {
		t->defined_read = true;
		vt_hash_init(&t->defined, sizeof(struct definition), sizeof(uint64_t));
		vti_units_each(t, index_definitions);
	}
	if (!vti_die_is_c(die))
		vti_die_scope(t, die, &b, &function);
	key = key_of(t, &b, dwarf_tag(die), vti_die_name(die));
	vt_buf_free(&b);
	d = function ? NULL : vt_hash_find(&t->defined, &key);
	if (!d || d->differ)
		return false;
	*die = d->die;
	return true;
}
