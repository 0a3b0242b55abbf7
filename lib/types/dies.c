/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "image/internal.h"
#include "types/internal.h"

/* DWARF 6 has it; <dwarf.h> may lack it. */
#define LANG_C17 0x2c

/* Limit on indexed units; a distribution's browser has some 40,000. */
#define MAX_UNITS 1000000

/* Limit on the children of entries that are kept, 40 bytes each; then, they are read again. */
#define MAX_CHILDREN 1000000

bool vti_die_follow(Dwarf_Die *die, unsigned attr, Dwarf_Die *to)
{
	Dwarf_Attribute a;
	Dwarf_Die unit;

	if (!dwarf_attr_integrate(die, attr, &a) || !dwarf_formref_die(&a, to))
		return false;
	/* A declaration may only name the type unit with the definition. */
	if (attr == DW_AT_type && dwarf_attr(to, DW_AT_signature, &a) &&
	    dwarf_formref_die(&a, &unit))
		*to = unit;
	return true;
}

bool vti_die_number(Dwarf_Die *die, unsigned attr, uint64_t *value)
{
	Dwarf_Attribute a;
	Dwarf_Word w;

	if (!dwarf_attr_integrate(die, attr, &a))
		return false;
	switch (dwarf_whatform(&a)) {
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
	case DW_FORM_udata:
	case DW_FORM_sdata:
	case DW_FORM_implicit_const:
		break;
	default:
		return false;
	}
	if (dwarf_formudata(&a, &w) != 0)
		return false;
	*value = w;
	return true;
}

bool vti_die_flag(Dwarf_Die *die, unsigned attr)
{
	Dwarf_Attribute a;
	bool set;

	return dwarf_attr(die, attr, &a) && dwarf_formflag(&a, &set) == 0 && set;
}

const char *vti_die_name(Dwarf_Die *die)
{
	const char *s = dwarf_diename(die);

	return s ? s : "";
}

bool vti_die_is_c(Dwarf_Die *die)
{
	Dwarf_Die unit;

	if (!dwarf_diecu(die, &unit, NULL, NULL))
		return true;
	switch (dwarf_srclang(&unit)) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case LANG_C17:
	case DW_LANG_ObjC:
	case DW_LANG_Mips_Assembler:
	case -1:
		return true;
	default:
		return false;
	}
}

static bool is_alias(int tag)
{
	switch (tag) {
	case DW_TAG_typedef:
	case DW_TAG_const_type:
	case DW_TAG_volatile_type:
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type:
	case DW_TAG_immutable_type:
	case DW_TAG_packed_type:
	case DW_TAG_shared_type:
		return true;
	default:
		return false;
	}
}

bool vti_die_strip(struct vt_types *t, Dwarf_Die *die, Dwarf_Die *bare)
{
	int depth;

	*bare = *die;
	for (depth = 0; is_alias(dwarf_tag(bare)); depth++) {
		Dwarf_Die next;

		if (depth == VTI_DEPTH) {
			t->lost.limits++;
			return false;
		}
		if (!vti_die_follow(bare, DW_AT_type, &next))
			return false;
		*bare = next;
	}
	return true;
}

bool vti_children_next(struct vti_children *c, Dwarf_Die *parent, Dwarf_Die *child)
{
	if (c->begun ? dwarf_siblingof(child, child) != 0 : dwarf_child(parent, child) != 0)
		return false;
	if (!c->begun)
		c->before = dwarf_dieoffset(parent);
	c->begun = true;
	if (dwarf_dieoffset(child) <= c->before || !c->left)
		return false;
	c->before = dwarf_dieoffset(child);
	c->left--;
	return true;
}

/* Whether the file of a unit's split DWARF is a regular file: anything else must not be opened. */
static bool has_split_file(Dwarf_Die *skeleton)
{
	struct vt_buf b = VT_BUF_INIT;
	const char *name = NULL, *dir = NULL;
	Dwarf_Attribute a;
	struct stat st;
	bool regular;

	if (dwarf_attr(skeleton, DW_AT_dwo_name, &a) ||
	    dwarf_attr(skeleton, DW_AT_GNU_dwo_name, &a))
		name = dwarf_formstring(&a);
	if (dwarf_attr(skeleton, DW_AT_comp_dir, &a))
		dir = dwarf_formstring(&a);
	if (!name)
		return false;
	if (name[0] != '/' && dir)
		vt_buf_printf(&b, "%s/", dir);
	vt_buf_printf(&b, "%s", name);
	regular = !b.failed && stat(vt_buf_str(&b), &st) == 0 && S_ISREG(st.st_mode);
	vt_buf_free(&b);
	return regular;
}

void vti_die_unsplit(struct vt_types *t, Dwarf_Die *unit)
{
	Dwarf_Die split;
	uint8_t type = 0;

	if (dwarf_cu_info(unit->cu, NULL, &type, NULL, NULL, NULL, NULL, NULL) != 0 ||
	    type != DW_UT_skeleton)
		return;
	memset(&split, 0, sizeof(split));
	if (has_split_file(unit) &&
	    dwarf_cu_info(unit->cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) == 0 && split.cu)
		*unit = split;
	else
		t->lost.split++;
}

void vti_units_each(struct vt_types *t, void (*fn)(struct vt_types *t, Dwarf_Die *unit))
{
	Dwarf_CU *cu = NULL;
	uint8_t type;
	Dwarf_Die die;
	size_t n = 0;

	t->lost.split = 0;
	while (dwarf_get_units(t->dwarf, cu, &cu, NULL, &type, &die, NULL) == 0) {
		if (n++ == MAX_UNITS) {
			t->lost.limits++;
			return;
		}
		vti_die_unsplit(t, &die);
		fn(t, &die);
	}
}

/* The children of an entry, in the order of their offsets. */
struct vti_family {
	uint64_t parent; /* the key: where its bytes are */
	struct vti_child *children;
	size_t n;
};

void vti_families_clear(struct vt_types *t)
{
	size_t i;

	for (i = 0; i < t->families.count; i++)
		free(((struct vti_family *)vt_hash_at(&t->families, i))->children);
	t->nchildren = 0;
	vt_hash_fini(&t->families);
	vt_hash_init(&t->families, sizeof(struct vti_family), sizeof(uint64_t));
}

static void read_family(struct vt_types *t, Dwarf_Die *parent, struct vti_family *f)
{
	struct vti_children c = {.left = vti_dwarf_unit_size(parent)};
	size_t cap = 0;
	Dwarf_Die die;

	while (vti_children_next(&c, parent, &die)) {
		if (!vt_array_grow(&f->children, &cap, f->n + 1, sizeof(*f->children))) {
			t->nomem = true;
			return;
		}
		f->children[f->n++] = (struct vti_child){dwarf_dieoffset(&die), die};
	}
	t->nchildren += f->n;
}

/* Finds the child of an entry that is, or has inside it, the entry at an offset. */
static bool find_child_to(struct vt_types *t, Dwarf_Die *parent, Dwarf_Off offset, Dwarf_Die *child)
{
	uint64_t key = (uint64_t)(uintptr_t)parent->addr;
	struct vti_family *f;
	bool added;
	size_t i;

	if (t->nchildren > MAX_CHILDREN)
		vti_families_clear(t);
	f = vt_hash_add(&t->families, &key, &added);
	if (!f) {
		t->nomem = true;
		return false;
	}
	if (added)
		read_family(t, parent, f);
	i = vt_array_up_to(f->children, f->n, sizeof(*f->children), offset);
	if (i)
		*child = f->children[i - 1].die;
	return i > 0;
}

static void append_scope(Dwarf_Die *die, struct vt_buf *b, size_t start, const char **function)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
		vt_buf_printf(b, "%s::",
			      vti_die_name(die)[0] ? vti_die_name(die) : "(anonymous namespace)");
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		if (vti_die_name(die)[0])
			vt_buf_printf(b, "%s::", vti_die_name(die));
		break;
	case DW_TAG_subprogram:
		*function = vti_die_name(die);
		b->size = start;
		break;
	default:
		break;
	}
}

void vti_die_scope(struct vt_types *t, Dwarf_Die *die, struct vt_buf *b, const char **function)
{
	Dwarf_Off offset;
	Dwarf_Die at, child, declared = *die;
	size_t start = b->size;
	int depth;

	*function = NULL;
	if (vti_die_follow(die, DW_AT_specification, &at))
		declared = at;
	offset = dwarf_dieoffset(&declared);
	if (!dwarf_diecu(&declared, &at, NULL, NULL))
		return;
	for (depth = 0; depth < VTI_DEPTH; depth++) {
		if (!find_child_to(t, &at, offset, &child) || dwarf_dieoffset(&child) == offset)
			return;
		append_scope(&child, b, start, function);
		at = child;
	}
	t->lost.limits++;
}

const char *vti_types_copy(struct vt_types *t, struct vt_buf *b)
{
	uint32_t id = b->failed ? UINT32_MAX : vt_intern_add(t->names, b->data, b->size);

	if (id == UINT32_MAX) {
		t->nomem = true;
		return "";
	}
	return vt_intern_get(t->names, id);
}
