/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_INSN_FORM_H
#define VT_MACHINE_INSN_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/insn/insn.h"

/*
 * Forms of instructions: "add r64,m64", "vpshufb y,y,y", "lea.3 r64,a".  Tables of timings are
 * keyed by them.  The mnemonic is Intel's; operands, those written in the assembly, are
 *
 *   r8 r16 r32 r64  general registers     mm x y z  those of MMX, SSE, AVX and AVX-512
 *   k  mask registers                     st        of the x87
 *   s  any other register                 i         an immediate number
 *   mN memory of N bits                   a         the address that lea computes
 *
 * Masks behind a destination are left out.  "lea.3" has base, index and displacement, "lea.ip" an
 * address relative to the instruction pointer; "lock " stands before what is locked, and what
 * repeats has "rep ".
 */
#define VT_FORM_SIZE 64

/*
 * Does what vt_facts_decode() does and, unless `form` is NULL, writes the instruction's form to its
 * VT_FORM_SIZE bytes.  False, with `form` untouched, if `code` begins with no instruction.
 */
bool vt_facts_decode_form(const uint8_t *code, size_t size, struct vt_facts *f, char *form);

/*
 * The n-th form that does the same to a register as `form` does to memory: first in a general
 * register of the same size, then in a vector register.  False: there is none (any more).
 */
bool vt_form_twin(const char *form, unsigned n, char twin[VT_FORM_SIZE]);

#endif
