/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_DISASM_H
#define VT_IMAGE_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "image/elf.h"

/* A disassembler for one instruction set, based on libopcodes, which the first one loads. */
struct vt_disasm;

enum vt_syntax { VT_SYNTAX_ATT, VT_SYNTAX_INTEL }; /* of x86; others have only one */

enum vt_insn_type {
	VT_INSN_OTHER,
	VT_INSN_BRANCH,	     /* unconditional */
	VT_INSN_CONDITIONAL, /* conditional branch */
	VT_INSN_CALL,
	VT_INSN_BAD, /* no instruction: `size` bytes are shown as data */
};

struct vt_insn {
	unsigned size;	  /* in bytes, at least 1 */
	const char *text; /* one line without tabs; borrowed until the next call */
	enum vt_insn_type type;
	bool has_target; /* true for direct branches and calls */
	uint64_t target;
};

/* Appends the name of an address in an operand, such as `main+0x10`, or nothing if it has none. */
typedef void vt_disasm_symbol_fn(void *arg, uint64_t address, struct vt_buf *out);

/*
 * Returns a disassembler owned by the caller; `machine`, `bits` and `big` as in vt_elf_info, but 16
 * bits for x86 code of 16 bits.  NULL:
 * VT_E_NOTFOUND for a machine that this build of libopcodes does not support, VT_E_ABSENT where
 * libopcodes cannot be loaded, or VT_E_NOMEM.
 */
struct vt_disasm *vt_disasm_new(unsigned machine, unsigned bits, bool big, enum vt_syntax syntax,
				struct vt_error *err);
void vt_disasm_free(struct vt_disasm *d);

/* Sets the function that names addresses in operands.  Without it, only hexadecimal numbers appear.
 */
void vt_disasm_set_symbols(struct vt_disasm *d, vt_disasm_symbol_fn *fn, void *arg);

/* Such a function: `symbols` is the struct vt_symbols of the image, or NULL. */
void vt_disasm_name_symbol(void *symbols, uint64_t address, struct vt_buf *out);

/* Disassembles the first instruction of `bytes`, which are at `address`; `size` > 0. */
void vt_disasm_at(struct vt_disasm *d, const uint8_t *bytes, size_t size, uint64_t address,
		  struct vt_insn *insn);

#endif
