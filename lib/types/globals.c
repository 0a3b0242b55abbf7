/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dwarf.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "image/internal.h"
#include "types/internal.h"

/* Limit on variables with static storage; browsers have some 500,000. */
#define MAX_GLOBALS ((size_t)1 << 23)

/* Encodings that <dwarf.h> of libdw has under these names, too. */
#define OP_ADDR		  0x03
#define OP_ADDRX	  0xa1
#define OP_GNU_ADDR_INDEX 0xfb
#define OP_PLUS_UCONST	  0x23

static bool read_leb128(struct vt_cursor *c, uint64_t *value)
{
	unsigned shift;

	*value = 0;
	for (shift = 0; shift < 63; shift += 7) {
		const uint8_t *p = vt_cursor_take(c, 1);

		if (!p)
			return false;
		*value |= (uint64_t)(*p & 0x7f) << shift;
		if (!(*p & 0x80))
			return true;
	}
	return false;
}

/* Reads an address of the unit's table of addresses, to which the expression refers. */
static bool read_indexed(Dwarf_Attribute *a, uint64_t *addr)
{
	Dwarf_Attribute at;
	Dwarf_Op *ops;
	size_t n;

	return dwarf_getlocation(a, &ops, &n) == 0 && n &&
	       dwarf_getlocation_attr(a, &ops[0], &at) == 0 && dwarf_formaddr(&at, addr) == 0;
}

/* Reads a location that is an address, perhaps with a number added to it. */
static bool read_address(const struct vt_types *t, Dwarf_Die *die, uint64_t *addr)
{
	const struct vt_elf_info *info = vt_elf_info(t->elf);
	Dwarf_Attribute a;
	Dwarf_Block block;
	struct vt_cursor c;
	const uint8_t *p, *op;
	uint64_t more;

	if (!dwarf_attr(die, DW_AT_location, &a) || dwarf_formblock(&a, &block) != 0 ||
	    !block.length)
		return false;
	c = vt_cursor_make(block.data, block.length, info->big);
	op = vt_cursor_take(&c, 1);
	if (*op == OP_ADDR) {
		p = vt_cursor_take(&c, info->bits / 8);
		if (!p || info->big)
			return false;
		*addr = info->bits == 64 ? vt_le64(p) : vt_le32(p);
	} else if ((*op != OP_ADDRX && *op != OP_GNU_ADDR_INDEX) || !read_leb128(&c, &more) ||
		   !read_indexed(&a, addr)) {
		return false;
	}
	if (!vt_cursor_left(&c))
		return true;
	op = vt_cursor_take(&c, 1);
	if (*op != OP_PLUS_UCONST || !read_leb128(&c, &more) || vt_cursor_left(&c))
		return false;
	*addr += more;
	return true;
}

/* Linkers set the addresses of what they leave out to 0 or to one that is loaded nowhere. */
static bool is_loaded(const struct vt_types *t, uint64_t addr)
{
	const struct vt_elf_segment *s;
	size_t n, i;

	s = vt_elf_segments(t->elf, &n);
	for (i = 0; i < n && addr; i++)
		if (addr >= s[i].vaddr && addr - s[i].vaddr < s[i].memsz)
			return true;
	return false;
}

static bool holds_variables(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return true;
	default:
		return false;
	}
}

static void add_global(struct vt_types *t, Dwarf_Die *die)
{
	uint64_t addr = 0;

	if (!read_address(t, die, &addr) || !is_loaded(t, addr))
		return;
	if (t->nglobals == MAX_GLOBALS)
		t->lost.limits++;
	else if (vt_array_grow(&t->globals, &t->globals_cap, t->nglobals + 1, sizeof(*t->globals)))
		t->globals[t->nglobals++] = (struct vti_global){addr, *die};
	else
		t->nomem = true;
}

static void walk_variables(struct vt_types *t, Dwarf_Die *parent, uint64_t *left, int depth)
{
	struct vti_children c = {.left = *left};
	Dwarf_Die die;

	if (depth == VTI_DEPTH) {
		t->lost.limits++;
		return;
	}
	while (vti_children_next(&c, parent, &die)) {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_variable)
			add_global(t, &die);
		if (!holds_variables(tag) || !dwarf_haschildren(&die))
			continue;
		*left = c.left;
		walk_variables(t, &die, left, depth + 1);
		c.left = *left;
	}
	*left = c.left;
}

static void index_variables(struct vt_types *t, Dwarf_Die *unit)
{
	uint64_t left = vti_dwarf_unit_size(unit);

	walk_variables(t, unit, &left, 0);
}

/* By address, then in the order of the file. */
static int compare_globals(const void *a, const void *b)
{
	const struct vti_global *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return (x->die.addr > y->die.addr) - (x->die.addr < y->die.addr);
}

static void read_globals(struct vt_types *t)
{
	t->globals_read = true;
	vti_units_each(t, index_variables);
	if (t->nglobals)
		qsort(t->globals, t->nglobals, sizeof(*t->globals), compare_globals);
}

/* Whether two variables at one address are the same to a reader. */
static bool is_same(struct vt_types *t, const struct vti_global *a, const struct vti_global *b)
{
	Dwarf_Die x = a->die, y = b->die;
	struct vti_type *xt = vti_type_at(t, &x), *yt = vti_type_at(t, &y);

	return xt && yt && vti_type_same(t, xt, yt);
}

static const char *full_name(struct vt_types *t, Dwarf_Die *die, const char **function)
{
	struct vt_buf b = VT_BUF_INIT;
	const char *name;

	vti_die_scope(t, die, &b, function);
	vt_buf_printf(&b, "%s", vti_die_name(die));
	name = vti_types_copy(t, &b);
	vt_buf_free(&b);
	return name;
}

static enum vt_untyped missing(const struct vt_types *t)
{
	return t->nomem	       ? VT_UNTYPED_NOMEM
	       : t->lost.split ? VT_UNTYPED_SPLIT
			       : VT_UNTYPED_NO_VARIABLE;
}

enum vt_untyped vt_types_global(struct vt_types *t, uint64_t vaddr, struct vt_variable *v,
				uint64_t *offset)
{
	struct vti_type *type;
	Dwarf_Die die;
	size_t i, first;

	if (!t->globals_read)
		read_globals(t);
	i = vt_array_up_to(t->globals, t->nglobals, sizeof(*t->globals), vaddr);
	if (!i)
		return missing(t);
	first = vt_array_below(t->globals, t->nglobals, sizeof(*t->globals),
			       t->globals[i - 1].addr);
	die = t->globals[first].die;
	type = vti_type_at(t, &die);
	if (!type)
		return t->lost.alternate ? VT_UNTYPED_SPLIT : VT_UNTYPED_NO_TYPE;
	if (type->pub.sized && vaddr - t->globals[first].addr >= type->pub.size &&
	    !type->pub.array_tail)
		return missing(t);
	if (!type->pub.sized && vaddr != t->globals[first].addr)
		return type->incomplete ? VT_UNTYPED_INCOMPLETE : VT_UNTYPED_NO_TYPE;
	while (i - 1 > first)
		if (!is_same(t, &t->globals[first], &t->globals[--i]))
			return VT_UNTYPED_AMBIGUOUS;
	v->name = full_name(t, &die, &v->function);
	v->type = &type->pub;
	v->parameter = false;
	*offset = vaddr - t->globals[first].addr;
	return VT_TYPED;
}
