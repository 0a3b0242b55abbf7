/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_TYPES_TYPES_H
#define VT_TYPES_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "image/elf.h"
#include "image/images.h"
#include "image/lines.h"
#include "image/unwind.h"

/*
 * Variables and types of an image, from its DWARF, for memory accesses: which variable, which
 * member of which structure.  DWARF 4 and 5 of C and C++; of other languages, what they write
 * alike.  Addresses are vaddrs (image/elf.h), sizes and offsets bytes.
 *
 * What the DWARF does not tell, or tells twice and differently, is unknown: the functions return
 * the reason.  Strings and types are borrowed from the handle.  Not for several threads at once.
 */
struct vt_types;

/* Why something is unknown. */
enum vt_untyped {
	VT_TYPED = 0,
	VT_UNTYPED_NO_DWARF,	/* the image has no debug information */
	VT_UNTYPED_NO_CODE,	/* no procedure of the debug information is there */
	VT_UNTYPED_NO_VARIABLE, /* no variable is there, according to the debug information */
	VT_UNTYPED_NO_TYPE,	/* the variable has no type that can be read */
	VT_UNTYPED_AMBIGUOUS,	/* several candidates that disagree */
	VT_UNTYPED_VOID,	/* a pointer to void or to characters says nothing of the object */
	VT_UNTYPED_RETURNED,	/* the procedure returns it as such: its caller may tell */
	VT_UNTYPED_INCOMPLETE,	/* the type is declared, but defined nowhere */
	VT_UNTYPED_OUTSIDE,	/* the access is not inside the type, or the object is too small */
	VT_UNTYPED_SPLIT,	/* the type is in a file (split DWARF, dwz) that was not found */
	VT_UNTYPED_LIMIT,	/* too large or too deep: see types.c */
	VT_UNTYPED_NOMEM,	/* memory ran out */
	VT_UNTYPED_INEXACT,	/* which instruction of the code it was is not known */
	VT_NUNTYPED
};

/* Returns a text such as "no debug information", never NULL. */
const char *vt_untyped_text(enum vt_untyped why);

/*
 * `lines` has the DWARF: that of the image's file or of its separate debug file; `elf` is the
 * image's file, with the code.  `unwind` may be NULL: then stack variables are found only by the
 * register that their location names.  All are borrowed and must outlive the result, which the
 * caller owns.  NULL: VT_E_NOTFOUND (no DWARF: a packed image), VT_E_NOMEM.
 */
struct vt_types *vt_types_new(struct vt_lines *lines, const struct vt_elf *elf,
			      struct vt_unwind *unwind, struct vt_error *err);

/* The same for an image of a stream; its files are found as for its lines.  Borrows the images. */
struct vt_types *vt_types_new_image(struct vt_images *images, uint32_t image, struct vt_error *err);
void vt_types_free(struct vt_types *t);

/* What was left out so far.  Each is to be said with results. */
struct vt_types_lost {
	uint64_t split;	 /* units whose split DWARF (.dwo) was not found */
	bool alternate;	 /* the file shared with others (dwz, .gnu_debugaltlink) was not found */
	uint64_t limits; /* times that a limit was reached */
};
void vt_types_lost(const struct vt_types *t, struct vt_types_lost *lost);

/* ---- types ---- */

enum vt_ctype_kind {
	VT_CTYPE_UNKNOWN, /* also void */
	VT_CTYPE_BASE,
	VT_CTYPE_POINTER, /* and references */
	VT_CTYPE_STRUCT,  /* and classes */
	VT_CTYPE_UNION,
	VT_CTYPE_ENUM,
	VT_CTYPE_ARRAY,
	VT_CTYPE_FUNCTION,
	VT_CTYPE_OTHER, /* pointers to members, … */
};

/*
 * A type.  Two units may define the same type: it is the same to a reader if name and size are
 * equal.  `name` is as declared, typedefs kept: "struct node", "size_t", "char *[4]", "ns::list".
 */
struct vt_ctype {
	const char *name;
	enum vt_ctype_kind kind; /* of what typedefs and qualifiers stand for */
	bool sized;		 /* false: incomplete, or an array of unknown length */
	uint64_t size;
	bool array_tail; /* its last member is an array without a length, or ends in one */
};

/* Returns the type that a pointer or an array's element has, or NULL: void, no such. */
const struct vt_ctype *vt_type_target(struct vt_types *t, const struct vt_ctype *type);

/*
 * A place in a type.  `path` leads from the type to the innermost member that an access is in:
 *
 *   ""               the whole, which has no members
 *   "in.next"        a member of a member; of a base class "Base::x"
 *   "a[].x"          in any element of an array
 *   "u.i|u.f"        all members of a union that the access fits in
 *   "x..z"           all members from x to z
 *   "in.(padding)"   bytes of `in` that belong to no member
 *
 * `type` is that of the innermost member that holds all of the access in every case: of "u.i|u.f",
 * if both have one type, that one, else the union.  NULL for padding.
 */
struct vt_typeplace {
	const char *path;
	const struct vt_ctype *type;
	uint64_t offset;  /* of the access in a value of `type` */
	unsigned members; /* that fit: of a path with "|", how many; otherwise 1 */
	bool padding;	  /* all of it */
	bool several;	  /* members next to each other, or elements of an array */
};

/* Finds the place of an access of `size` bytes at `offset` of a type. */
enum vt_untyped vt_type_place(struct vt_types *t, const struct vt_ctype *type, uint64_t offset,
			      uint64_t size, struct vt_typeplace *place);

/*
 * The same for an object of `object` bytes on the heap whose pointer is of type `type *`.  If that
 * is a multiple of the type's size, it is an array, whose paths begin with "[]"; more bytes are
 * part of an array at the end of the type, if it has one, otherwise VT_UNTYPED_OUTSIDE.
 */
enum vt_untyped vt_type_place_in(struct vt_types *t, const struct vt_ctype *type, uint64_t object,
				 uint64_t offset, uint64_t size, struct vt_typeplace *place);

/* A member that has no members itself, or padding. */
struct vt_typemember {
	const char *path;	     /* as above, "in.next", "a[].x", "in.(padding)" */
	const struct vt_ctype *type; /* NULL: padding */
	uint64_t offset;	     /* of an array, of its first element */
	uint64_t size;		     /* of one element; of a bit field, the bytes that it touches */
	uint64_t count; /* of elements of all arrays that it is in; 1: none; 0: unknown */
	unsigned bits;	/* size of a bit field, else 0 */
	unsigned bit;	/* its lowest bit in the byte at `offset` */
	bool padding;
};

/*
 * Stores the members in the order of their offsets, those of a union one after the other; borrowed.
 * A type without members is one member with the path "".  VT_UNTYPED_LIMIT: there are more, *n of
 * them are stored.
 */
enum vt_untyped vt_type_members(struct vt_types *t, const struct vt_ctype *type,
				const struct vt_typemember **members, size_t *n);

/* ---- variables ---- */

struct vt_variable {
	const char *name;     /* with namespaces and classes, as "ns::Class::count" */
	const char *function; /* that declares it; NULL: none */
	const struct vt_ctype *type;
	bool parameter;
};

/*
 * Finds the variable with static storage that holds `vaddr`, and the offset in it.  Those of each
 * thread have no fixed address and are not found.
 */
enum vt_untyped vt_types_global(struct vt_types *t, uint64_t vaddr, struct vt_variable *v,
				uint64_t *offset);

/* Where a local variable is. */
enum vt_local_base {
	VT_LOCAL_CFA,	   /* in memory at the canonical frame address + offset */
	VT_LOCAL_MEMORY,   /* in memory at register `reg` + offset */
	VT_LOCAL_REGISTER, /* in register `reg` */
};

struct vt_local {
	struct vt_variable variable;
	enum vt_local_base base;
	uint8_t reg; /* enum vt_reg (machine/insn/insn.h) */
	int64_t offset;
	unsigned depth; /* of its block: 0 the procedure, 1 a block or inlined procedure in it, … */
};

/*
 * Stores the local variables and parameters in scope before the instruction at `pc` is executed,
 * whose location there is one of the above: innermost blocks first, at most `max`.  *n becomes
 * their number.  A location relative to a register is relative to the CFA if call frame information
 * says how.
 *
 * The CFA is the address of the procedure's return address + 8: vt_return.slot + 8 of
 * vt_unwind_find(), or the address at which the call instruction stored, + 8.
 */
enum vt_untyped vt_types_locals(struct vt_types *t, uint64_t pc, struct vt_local *slots, size_t max,
				size_t *n);

/*
 * Finds the variable that holds the `size` bytes at CFA + `cfa`, for an access by the instruction
 * at `pc`, and the offset in it.
 */
enum vt_untyped vt_types_stack(struct vt_types *t, uint64_t pc, int64_t cfa, uint64_t size,
			       struct vt_variable *v, uint64_t *offset);

/*
 * The same for a memory operand without an index: register `reg` + `displacement`.  Of an operand
 * relative to a pointer variable in a register, *through becomes true, and what is found is what
 * it points to: v is the pointer, v->type the object's type.  Otherwise *through is false.
 * VT_UNTYPED_OUTSIDE: the operand is beside that object.
 */
enum vt_untyped vt_types_operand(struct vt_types *t, uint64_t pc, unsigned reg,
				 int64_t displacement, uint64_t size, struct vt_variable *v,
				 uint64_t *offset, bool *through);

/*
 * The same for the first memory operand of the instruction at `pc`, also relative to the
 * instruction pointer.  Pointers in registers are followed through the block before the
 * instruction: loads of pointers from variables and members, moves, additions of constants. v->name
 * is "" if no variable has the pointer.  An index is known only if it counts objects of the
 * pointer's type; for other arrays, the address of the access tells more (vt_types_global(),
 * vt_types_stack()).
 */
enum vt_untyped vt_types_access(struct vt_types *t, uint64_t pc, struct vt_variable *v,
				uint64_t *offset, bool *through);

/*
 * The same for an access by an operand that depends on a register, which is known to load, to store
 * or to do both.  It is the first operand's only if the instruction accesses no other operand in
 * this way; otherwise VT_UNTYPED_INEXACT.  *size becomes the operand's.
 */
enum vt_untyped vt_types_access_by(struct vt_types *t, uint64_t pc, bool loads, bool stores,
				   struct vt_variable *v, uint64_t *offset, uint64_t *size,
				   bool *through);

/* ---- the heap ---- */

/* What says so. */
enum vt_heaptype_how {
	VT_HEAPTYPE_VARIABLE,	 /* the pointer is assigned to a variable */
	VT_HEAPTYPE_MEMBER,	 /* … or to a member of an object */
	VT_HEAPTYPE_RETURN,	 /* … or returned */
	VT_HEAPTYPE_CONSTRUCTOR, /* it is passed to a constructor */
};

struct vt_heaptype {
	const struct vt_ctype *type; /* of the object, or of each element of an array */
	enum vt_heaptype_how how;    /* the first that says so */
	const char *name; /* of the variable, member path or procedure; "" if it has none */
};

/*
 * Finds the type of the objects that an allocator returns to `ret`, the return address of its call,
 * by following the pointer through the code after the call.  `size` bytes are allocated; 0:
 * unknown.  VT_UNTYPED_RETURNED: the procedure returns the pointer, but only as a pointer to void
 * or characters: ask again with the procedure's own return address.
 *
 * A pointer to a class may point to an object of a class derived from it: `size` helps, objects of
 * another size are VT_UNTYPED_OUTSIDE.
 */
enum vt_untyped vt_types_heap(struct vt_types *t, uint64_t ret, uint64_t size,
			      struct vt_heaptype *h);

#endif
