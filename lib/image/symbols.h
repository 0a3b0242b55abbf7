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
	VT_SYMBOL_UNSIZED = 16, /* its end is inferred from the next symbol */
	VT_SYMBOL_FRAME = 32,	/* not a symbol: a procedure of which only the start is known */
	VT_SYMBOL_LABEL = 64,	/* a symbol without a type */
};

struct vt_symbol {
	uint64_t start;	  /* first: the key of a table that is sorted */
	uint64_t end;	  /* first address after it */
	const char *name; /* raw, not demangled; borrowed from the table */
	uint32_t flags;
};

/*
 * The symbols of an image, sorted by address (ELF: vaddr; kallsyms and perf maps: address), one per
 * start address.  As in perf 6.1, so that totals agree: which symbols are kept, where unsized ones
 * end, and which of several at an address is preferred.  Three differences improve on perf: an
 * address in nested symbols belongs to the innermost; PLT entries take precedence over an unsized
 * symbol before the PLT; and a label without type and size inside a function is only another name
 * of the function.
 *
 * Fill a table with vt_symbols_add_*(), call vt_symbols_finish() once, then use it.
 */
struct vt_symbols;

/* Maximum symbols of a table; more are VT_E_LIMIT. */
#define VT_MAX_SYMBOLS 16000000

/* Returns an empty table, owned by the caller, or NULL when memory runs out. */
struct vt_symbols *vt_symbols_new(void);
void vt_symbols_free(struct vt_symbols *t);

/*
 * Adds the symbols of an ELF file, .symtab and .dynsym.  Names are borrowed from the file, which
 * must stay open.  If `elf` is a separate debug file, `runtime` is the executed file, otherwise
 * NULL.  A file without symbols is not an error.  Errors of all vt_symbols_add_*(): VT_E_LIMIT,
 * VT_E_NOMEM.
 */
int vt_symbols_add_elf(struct vt_symbols *t, const struct vt_elf *elf, const struct vt_elf *runtime,
		       struct vt_error *err);

/* Adds `name@plt` for each PLT entry and `.plt` for the header of the table, for the layouts of
 * x86, ARM and AArch64. */
int vt_symbols_add_plt(struct vt_symbols *t, const struct vt_elf *elf, struct vt_error *err);

/*
 * Adds `sub_ADDRESS` for each procedure in the file's table of call frames (procedures.h), for
 * stripped files.  Symbols at the same address are preferred.
 */
int vt_symbols_add_frames(struct vt_symbols *t, const struct vt_elf *elf, struct vt_error *err);

/*
 * Adds the symbols of a module, or of the kernel itself for NULL, from a kallsyms text.  Skips
 * lines that do not parse.  Copies the names.
 */
int vt_symbols_add_kallsyms(struct vt_symbols *t, const char *text, size_t size, const char *module,
			    struct vt_error *err);

/* Adds the symbols of a perf-PID.map text: lines "start size name", with hexadecimal numbers. */
int vt_symbols_add_perf_map(struct vt_symbols *t, const char *text, size_t size,
			    struct vt_error *err);

/* Adds a symbol and copies its name.  Size 0 means unknown. */
int vt_symbols_add(struct vt_symbols *t, uint64_t start, uint64_t size, uint32_t flags,
		   const char *name, struct vt_error *err);

/* Adds another name of the symbol at an address, and copies it.  -VT_E_NOMEM. */
int vti_symbols_add_alias(struct vt_symbols *t, uint64_t start, const char *name,
			  struct vt_error *err);

/* Like vt_symbols_add(), but borrows the name for the lifetime of the table. */
int vti_symbols_push(struct vt_symbols *t, uint64_t start, uint64_t size, uint32_t flags,
		     const char *name, struct vt_error *err);

/* Sorts the table, infers missing ends and removes duplicates.  Returns 0 or -VT_E_NOMEM. */
int vt_symbols_finish(struct vt_symbols *t, struct vt_error *err);

size_t vt_symbols_count(const struct vt_symbols *t);
const struct vt_symbol *vt_symbols_at(const struct vt_symbols *t, size_t i);

/* Returns the innermost symbol that holds an address, or NULL. */
const struct vt_symbol *vt_symbols_find(const struct vt_symbols *t, uint64_t addr);

/* Likewise; it is the same up to *end, which is above `addr` unless that is UINT64_MAX. */
const struct vt_symbol *vt_symbols_find_until(const struct vt_symbols *t, uint64_t addr,
					      uint64_t *end);

/*
 * Returns the procedure that a symbol is part of: the outermost sized symbol that contains it, or
 * the symbol itself.  Procedures inside procedures come from hand-written assembly code, where
 * control enters and leaves them like basic blocks.
 */
const struct vt_symbol *vt_symbols_outermost(const struct vt_symbols *t,
					     const struct vt_symbol *sym);

/* Finds the address of the first symbol with this raw name, including names of removed duplicates.
 */
bool vt_symbols_address_of(const struct vt_symbols *t, const char *name, uint64_t *addr);

/*
 * Returns a symbol's demangled name, without parameters, which vt_demangle() can add.  Borrowed
 * from the table.
 */
const char *vt_symbols_display(struct vt_symbols *t, const struct vt_symbol *sym);

/* The i-th of the names that symbols have besides their own; false if there are not so many. */
bool vti_symbols_alias(const struct vt_symbols *t, size_t i, const char **name, uint64_t *start);

#endif
