/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_TYPES_INTERNAL_H
#define VT_TYPES_INTERNAL_H

#include <elfutils/libdw.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/intern.h"
#include "types/types.h"

/* Limit on the nesting of blocks, namespaces and types. */
#define VTI_DEPTH 64

struct vti_global {
	uint64_t addr; /* the key */
	Dwarf_Die die;
};

/* A child of an entry. */
struct vti_child {
	uint64_t offset; /* the key */
	Dwarf_Die die;
};

/* A member or base class of a structure or union. */
struct vti_field {
	const char *name; /* "": anonymous; of a base class with "::" */
	struct vti_type *type;
	uint64_t bit;  /* first, from the start of the structure */
	uint64_t bits; /* 0: unknown */
	bool bitfield;
	bool tail; /* an array without a length */
};

struct vti_type {
	struct vt_ctype pub;
	Dwarf_Die die;		 /* as declared */
	Dwarf_Die bare;		 /* complete, without typedefs and qualifiers */
	unsigned dimensions;	 /* of an array */
	bool has_bare;		 /* it is not void */
	bool incomplete;	 /* `bare` is a declaration */
	bool targeted;		 /* `target` was looked up */
	struct vti_type *target; /* of a pointer, or of an array's element */
	bool fields_read;
	bool opaque; /* it has members whose place is unknown, such as virtual base classes */
	struct vti_field *fields;
	size_t nfields;
	enum vt_untyped members_why;
	struct vt_typemember *members; /* NULL: not listed yet */
	size_t nmembers;
};

struct vt_types {
	struct vt_lines *lines;
	const struct vt_elf *elf;
	struct vt_unwind *unwind;
	struct vt_images *images; /* may be NULL */
	uint32_t image;
	Dwarf *dwarf;
	struct vt_intern *names;
	struct vt_hash types; /* of struct type_entry */
	int depth;	      /* of structures inside each other that are being read */
	bool globals_read;
	size_t nchildren;	 /* of all families */
	struct vt_hash families; /* of struct vti_family: its entries' children */
	struct vti_global *globals;
	size_t nglobals;
	size_t globals_cap;
	uint64_t *entries; /* of the procedure looked at last: where its blocks begin */
	size_t nentries;
	size_t entries_cap;
	uint64_t entries_start;
	uint64_t decoded_end; /* of its code that was decoded */
	bool defined_read;
	struct vt_hash defined; /* of struct definition: complete types by name */
	struct vt_types_lost lost;
	bool nomem;
};

/* ---- dies.c: entries of the DWARF ---- */

/* Finds the entry that an attribute refers to, perhaps inherited from a declaration. */
bool vti_die_follow(Dwarf_Die *die, unsigned attr, Dwarf_Die *to);

/* Reads a constant attribute of the entry or its declaration. */
bool vti_die_number(Dwarf_Die *die, unsigned attr, uint64_t *value);
bool vti_die_flag(Dwarf_Die *die, unsigned attr);
const char *vti_die_name(Dwarf_Die *die); /* "" if it has none */

/* Whether the language of an entry's unit has `struct` before names, and no namespaces. */
bool vti_die_is_c(Dwarf_Die *die);

/* Removes typedefs and qualifiers.  Returns false for void, and for what cannot be read. */
bool vti_die_strip(struct vt_types *t, Dwarf_Die *die, Dwarf_Die *bare);

/* Replaces the entry of a skeleton by that of its split unit, or counts it as lost. */
void vti_die_unsplit(struct vt_types *t, Dwarf_Die *unit);

/*
 * Iterates over the children of an entry: initialize with zeros but `left`, the number of entries
 * that may still be visited.  In valid files, siblings lead forward.
 */
struct vti_children {
	bool begun;
	uint64_t before;
	uint64_t left;
};
bool vti_children_next(struct vti_children *c, Dwarf_Die *parent, Dwarf_Die *child);

/* Calls `fn` for each unit's entry, that of the split unit instead of the skeleton's. */
void vti_units_each(struct vt_types *t, void (*fn)(struct vt_types *t, Dwarf_Die *unit));

/*
 * Appends the namespaces and classes that an entry is in, each with "::".  *function becomes the
 * name of the procedure that it is in, or NULL; then only what is inside of that is appended.
 */
void vti_die_scope(struct vt_types *t, Dwarf_Die *die, struct vt_buf *b, const char **function);

void vti_families_clear(struct vt_types *t);

/* Copies a string into the handle's memory; "" when memory runs out. */
const char *vti_types_copy(struct vt_types *t, struct vt_buf *b);

/* ---- define.c: declarations and definitions ---- */

/* Replaces the declaration of a type by its definition.  Returns false if there is not one. */
bool vti_define(struct vt_types *t, Dwarf_Die *die);

/* ---- typename.c ---- */

/* Appends the name of a type in the syntax of C; NULL is void. */
void vti_type_name(struct vt_types *t, Dwarf_Die *die, struct vt_buf *b);

/* ---- type.c ---- */

/* Returns the type of an entry.  NULL: memory ran out. */
struct vti_type *vti_type_of(struct vt_types *t, Dwarf_Die *die);

/* Returns the type that DW_AT_type of an entry refers to; NULL: none. */
struct vti_type *vti_type_at(struct vt_types *t, Dwarf_Die *die);

struct vti_type *vti_type_target(struct vt_types *t, struct vti_type *type);

/* Computes a type's size.  Returns false if it has none or it is unknown. */
bool vti_type_size(struct vt_types *t, Dwarf_Die *die, int depth, uint64_t *size);

void vti_type_free(struct vti_type *type);

/* Appends the name of a member, with a dot between names. */
void vti_type_add_name(struct vt_buf *path, const char *name);
/* What stands for the bytes of a structure that are of no member. */
const char *vti_type_gap_name(const struct vti_type *type);
/* Appends "[]" for each dimension of an array. */
void vti_type_brackets(const struct vti_type *array, struct vt_buf *path);

/* Whether both are the same type to a reader, apart from typedefs and qualifiers. */
bool vti_type_same(struct vt_types *t, struct vti_type *a, struct vti_type *b);

/* ---- fields.c ---- */

/* Reads the members of a structure or union. */
void vti_type_fields(struct vt_types *t, struct vti_type *type);

/*
 * Whether values of a type begin with a value of another one: a base class, a first member.  A
 * pointer to the former is one to the latter, too.
 */
bool vti_type_begins(struct vt_types *t, struct vti_type *type, struct vti_type *with);

/* Whether objects of a class know their class: those of a derived one may be meant. */
bool vti_type_is_virtual(struct vt_types *t, struct vti_type *type);

/* ---- locate.c ---- */

/* As struct vt_local, and what is nowhere. */
struct vti_location {
	bool known;
	enum vt_local_base base;
	unsigned reg;
	int64_t offset;
};

/* Finds where a variable is before the instruction at `pc`, in a function. */
struct vti_location vti_locate(struct vt_types *t, Dwarf_Die *die, Dwarf_Die *function,
			       uint64_t pc);

/* ---- scope.c ---- */

/* Finds the function, not inlined, that holds a vaddr. */
enum vt_untyped vti_function_at(struct vt_types *t, uint64_t pc, Dwarf_Die *function);

/* Whether one of the ranges of an entry holds a vaddr. */
bool vti_die_has_pc(Dwarf_Die *die, uint64_t pc);

/* Maximum number of variables in scope that are looked at. */
#define VTI_MAX_LOCALS 512

#endif
