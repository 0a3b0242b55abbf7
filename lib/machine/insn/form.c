/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/insn/form.h"

#include <stdio.h>
#include <string.h>

#include "machine/insn/form_internal.h"

/* What an operand is called in a form; NULL: it is not named. */
static const char *register_kind(ZydisRegister reg)
{
	switch (ZydisRegisterGetClass(reg)) {
	case ZYDIS_REGCLASS_GPR8:
		return "r8";
	case ZYDIS_REGCLASS_GPR16:
		return "r16";
	case ZYDIS_REGCLASS_GPR32:
		return "r32";
	case ZYDIS_REGCLASS_GPR64:
		return "r64";
	case ZYDIS_REGCLASS_MMX:
		return "mm";
	case ZYDIS_REGCLASS_XMM:
		return "x";
	case ZYDIS_REGCLASS_YMM:
		return "y";
	case ZYDIS_REGCLASS_ZMM:
		return "z";
	case ZYDIS_REGCLASS_MASK:
		return "k";
	case ZYDIS_REGCLASS_X87:
		return "st";
	default:
		return "s";
	}
}

static const char *lea_kind(const ZydisDecodedOperand *o)
{
	if (o->mem.base == ZYDIS_REGISTER_RIP || o->mem.base == ZYDIS_REGISTER_EIP)
		return ".ip";
	/* Bases rbp and r13 have a displacement even if it is 0. */
	return o->mem.base != ZYDIS_REGISTER_NONE && o->mem.index != ZYDIS_REGISTER_NONE &&
			       (o->mem.disp.value || o->mem.base == ZYDIS_REGISTER_RBP ||
				o->mem.base == ZYDIS_REGISTER_R13)
		       ? ".3"
		       : "";
}

static size_t append_form_text(char *form, size_t at, const char *text)
{
	size_t n = strlen(text);

	if (at + n >= VT_FORM_SIZE)
		n = VT_FORM_SIZE - 1 - at;
	memcpy(form + at, text, n);
	form[at + n] = 0;
	return at + n;
}

static size_t put_operand(char *form, size_t at, const ZydisDecodedOperand *o)
{
	char memory[16];

	switch (o->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		return append_form_text(form, at, register_kind(o->reg.value));
	case ZYDIS_OPERAND_TYPE_MEMORY:
		if (o->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
			return append_form_text(form, at, "a");
		snprintf(memory, sizeof(memory), "m%u", (unsigned)o->size);
		return append_form_text(form, at, memory);
	default:
		return append_form_text(form, at, "i");
	}
}

void vti_form_write(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands,
		    char *form)
{
	const char *mnemonic = ZydisMnemonicGetString(insn->mnemonic), *between = " ";
	size_t at = 0;
	unsigned i;

	if (insn->attributes & ZYDIS_ATTRIB_HAS_LOCK)
		at = append_form_text(form, at, "lock ");
	if (insn->attributes &
	    (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
		at = append_form_text(form, at, "rep ");
	at = append_form_text(form, at, mnemonic ? mnemonic : "?");
	if (insn->mnemonic == ZYDIS_MNEMONIC_LEA)
		at = append_form_text(form, at, lea_kind(&operands[1]));
	for (i = 0; i < insn->operand_count_visible; i++) {
		if (operands[i].encoding == ZYDIS_OPERAND_ENCODING_MASK)
			continue;
		at = append_form_text(form, at, between);
		at = put_operand(form, at, &operands[i]);
		between = ",";
	}
}

/* The registers that hold what memory of this many bits does, by number of the attempt. */
static const char *const twins[][4] = {
	{"m8", "r8", NULL, NULL},  {"m16", "r16", "x", NULL}, {"m32", "r32", "x", "mm"},
	{"m64", "r64", "x", "mm"}, {"m128", "x", NULL, NULL}, {"m256", "y", NULL, NULL},
	{"m512", "z", NULL, NULL},
};

bool vt_form_twin(const char *form, unsigned n, char twin[VT_FORM_SIZE])
{
	const char *p = strchr(form, ' '), *word = NULL, *kind = NULL;
	size_t i, size;

	/* What locks or repeats has no twin. */
	if (!p || strchr(p + 1, ' '))
		return false;
	for (p++; *p; p += strcspn(p, ","), p += *p == ',')
		if (p[0] == 'm' && p[1] >= '0' && p[1] <= '9')
			word = p;
	if (!word)
		return false;
	size = strcspn(word, ",");
	for (i = 0; i < sizeof(twins) / sizeof(*twins); i++)
		if (strlen(twins[i][0]) == size && strncmp(word, twins[i][0], size) == 0 && n < 3)
			kind = twins[i][1 + n];
	if (!kind)
		return false;
	snprintf(twin, VT_FORM_SIZE, "%.*s%s%s", (int)(word - form), form, kind, word + size);
	return true;
}
