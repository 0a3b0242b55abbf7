/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_SYMBOLS_H
#define VT_IMAGE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "image/elf.h"

enum vt_symbol_flags {
	VT_SYMBOL_WEAK = 1,
	VT_SYMBOL_GLOBAL = 2,
	VT_SYMBOL_OBJECT = 4, /* data */
	VT_SYMBOL_PLT = 8,
	VT_SYMBOL_UNSIZED = 16, /* its end was inferred from the next symbol */
	VT_SYMBOL_FRAME = 32,	/* no symbol: a procedure of which only the start is known */
	VT_SYMBOL_LABEL = 64,	/* a symbol without a type */
};

struct vt_symbol {
	uint64_t start;
	uint64_t end;	  /* first address after it */
	const char *name; /* as in the file, not demangled; borrowed from the table */
	uint32_t flags;
};

/*
 * The symbols of one image, sorted by address (ELF: vaddr; kallsyms and perf maps: address), one
 * for each start address.  Which symbols are kept, how unsized ones end and which of several at
 * one address wins is as in perf 6.1, so that totals agree; three things are better than there: an
 * address in nested symbols belongs to the innermost, PLT entries come before whatever unsized
 * symbol precedes the PLT, and a label without a type and a size inside a function takes none of
 * its code: it remains as another name of the function.
 *
 * Fill with vt_symbols_add_*(), then vt_symbols_finish() once, then ask.
 */
struct vt_symbols;

/* At most so many symbols are taken from one file; more is VT_E_LIMIT. */
#define VT_MAX_SYMBOLS 16000000

/* Owned by the caller; NULL when memory runs out. */
struct vt_symbols *vt_symbols_new(void);
void vt_symbols_free(struct vt_symbols *t);

/*
 * Adds the symbols of an ELF file: .symtab and .dynsym.  Names are borrowed from it: it must
 * stay open.  `runtime` is the file that was executed, when `elf` is its separate debug file, else
 * NULL.  A file without symbols adds none and is no error.
 */
int vt_symbols_add_elf(struct vt_symbols *t, const struct vt_elf *elf, const struct vt_elf *runtime,
		       struct vt_error *err);

/* Adds `name@plt` for each PLT entry of the file, `.plt` for the header of the table (x86, ARM and
 * AArch64 layouts). */
int vt_symbols_add_plt(struct vt_symbols *t, const struct vt_elf *elf, struct vt_error *err);

/*
 * Adds `sub_ADDRESS` for each procedure that the file's table of call frames tells: for files that
 * were stripped.  Where there is a symbol, that is kept.
 */
int vt_symbols_add_frames(struct vt_symbols *t, const struct vt_elf *elf, struct vt_error *err);

/*
 * Adds the symbols of a kallsyms text: those of one module, or of the kernel proper for NULL.
 * Lines that do not parse are skipped.  The text is copied.
 */
int vt_symbols_add_kallsyms(struct vt_symbols *t, const char *text, size_t size, const char *module,
			    struct vt_error *err);

/* Adds the symbols of a perf-PID.map text: "start size name" lines, numbers in hexadecimal. */
int vt_symbols_add_perf_map(struct vt_symbols *t, const char *text, size_t size,
			    struct vt_error *err);

/* Adds one symbol; the name is copied.  A zero size means unknown. */
int vt_symbols_add(struct vt_symbols *t, uint64_t start, uint64_t size, uint32_t flags,
		   const char *name, struct vt_error *err);

/* As vt_symbols_add(), with a name that lives as long as the table. */
int vti_symbols_push(struct vt_symbols *t, uint64_t start, uint64_t size, uint32_t flags,
		     const char *name, struct vt_error *err);

/* Sorts, infers ends, chooses among duplicates. */
int vt_symbols_finish(struct vt_symbols *t, struct vt_error *err);

size_t vt_symbols_count(const struct vt_symbols *t);
const struct vt_symbol *vt_symbols_at(const struct vt_symbols *t, size_t i);

/* The symbol that holds an address, or NULL. */
const struct vt_symbol *vt_symbols_find(const struct vt_symbols *t, uint64_t addr);

/*
 * The procedure that a symbol is a part of: the outermost symbol with a size of its own that holds
 * all of it, else the symbol itself.  Labels and procedures within procedures are what people wrote
 * in assembly language; control goes in and out of them as it does between blocks.
 */
const struct vt_symbol *vt_symbols_outermost(const struct vt_symbols *t,
					     const struct vt_symbol *sym);

/* The address of the first symbol with this raw name, kept or lost to another at its address. */
bool vt_symbols_address_of(const struct vt_symbols *t, const char *name, uint64_t *addr);

/*
 * A symbol's name for people: demangled where it is mangled, without parameters; vt_demangle() can
 * give them.  Borrowed from the table.
 */
const char *vt_symbols_display(struct vt_symbols *t, const struct vt_symbol *sym);

/*
 * Calls `fn` for each symbol that a user may mean by `name`.  Those whose raw name it is, also as
 * an alias; only if there are none, those that GCC made of it for some callers (NAME.constprop.0,
 * .isra, .part, .lto_priv); only if there are none either, those whose demangled name it is, whole,
 * without parameters, or without parameters and leading namespaces.  Stops when `fn` returns false.
 * Returns how many calls there were, or -VT_E_NOMEM.
 */
int vt_symbols_search(struct vt_symbols *t, const char *name,
		      bool (*fn)(void *arg, const struct vt_symbol *sym), void *arg);

#endif
