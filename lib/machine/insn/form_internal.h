/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_INSN_FORM_INTERNAL_H
#define VT_MACHINE_INSN_FORM_INTERNAL_H

#include <Zydis/Zydis.h>

#include "machine/insn/form.h"

/* Writes the form of a decoded instruction, with its final 0 at most VT_FORM_SIZE bytes. */
void vti_form_write(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands,
		    char *form);

#endif
