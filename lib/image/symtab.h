/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_SYMTAB_H
#define VT_IMAGE_SYMTAB_H

#include <stdint.h>

#include "base/intern.h"
#include "image/symbols.h"

/* A name that lost to another at its address. */
struct vti_alias {
	uint64_t start;
	const char *name;
};

/* Names that were copied from a text: kept one after the other, equal ones too. */
struct vti_names {
	struct vti_names *next;
	size_t used;
	size_t size;
	char text[];
};

/* The inside of a symbol table, shared by the files that fill, order and search it. */
struct vt_symbols {
	struct vt_symbol *syms;
	size_t count;
	size_t cap;
	uint64_t *starts; /* of the symbols once more, close together for the search */
	uint32_t *outer;  /* see find_nesting() */
	uint32_t *shown;  /* demangled name: id in `names`, 0 if not yet made */
	struct vti_alias *aliases;
	size_t naliases;
	size_t aliases_cap;
	struct vt_intern *names; /* names that were made */
	struct vti_names *copied;
};

/* As vt_symbols_add(), with a name that lives as long as the table. */
int vti_symbols_push(struct vt_symbols *t, uint64_t start, uint64_t size, uint32_t flags,
		     const char *name, struct vt_error *err);

#endif
