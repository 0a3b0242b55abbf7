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
 * Decodes an instruction as vt_facts_decode() and, unless `form` is NULL, writes its form to the
 * VT_FORM_SIZE bytes there.  Returns false, with `form` unchanged, if there is no instruction.
 */
bool vt_facts_decode_form(const uint8_t *code, size_t size, struct vt_facts *f, char *form);

/*
 * Writes to `twin` the n-th form that does the same with a register as `form` does with memory:
 * first with a general register of the same size, then with a vector register.  Returns false if
 * there is no n-th form.
 */
bool vt_form_twin(const char *form, unsigned n, char twin[VT_FORM_SIZE]);

#endif
