/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_INSN_FORM_INTERNAL_H
#define VT_MACHINE_INSN_FORM_INTERNAL_H

#include <Zydis/Zydis.h>

#include "machine/insn/form.h"
#include "machine/insn/insn.h"

/* The form of an instruction that is decoded, at most VT_FORM_SIZE bytes. */
void vti_form_write(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands,
		    char *form);

/* vt_facts_decode() and, if `form` is not NULL, vt_form_of() in one. */
bool vti_facts_decode_form(const uint8_t *bytes, size_t size, struct vt_facts *f, char *form);

#endif
