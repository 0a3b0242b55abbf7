/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/insn/insn.h"

#include <string.h>

#include "machine/insn/form_internal.h"
#include "machine/insn/plain.h"

#define READ  (ZYDIS_OPERAND_ACTION_READ | ZYDIS_OPERAND_ACTION_CONDREAD)
#define WRITE (ZYDIS_OPERAND_ACTION_WRITE | ZYDIS_OPERAND_ACTION_CONDWRITE)

/* An instruction as Zydis has it, on the way to becoming facts. */
struct decoded {
	ZydisDecodedInstruction insn;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	const char *mnemonic;
	bool is_signed;	  /* takes its integers as signed */
	bool is_unsigned; /* as unsigned */
	bool is_opaque;	  /* moves whole vectors of whatever they hold */
};

/* ---- registers ---- */

/* From the number in machine code. */
static const uint8_t general[16] = {
	VT_REG_AX,     VT_REG_CX,     VT_REG_DX,     VT_REG_BX,	    VT_REG_SP,	   VT_REG_BP,
	VT_REG_SI,     VT_REG_DI,     VT_REG_R8,     VT_REG_R8 + 1, VT_REG_R8 + 2, VT_REG_R8 + 3,
	VT_REG_R8 + 4, VT_REG_R8 + 5, VT_REG_R8 + 6, VT_REG_R15,
};

/* Those that nearly all operands are, which Zydis numbers in a row. */
static uint8_t common_number(ZydisRegister reg)
{
	if (reg >= ZYDIS_REGISTER_RAX && reg <= ZYDIS_REGISTER_R15)
		return general[reg - ZYDIS_REGISTER_RAX];
	if (reg >= ZYDIS_REGISTER_EAX && reg <= ZYDIS_REGISTER_R15D)
		return general[reg - ZYDIS_REGISTER_EAX];
	if (reg >= ZYDIS_REGISTER_XMM0 && reg <= ZYDIS_REGISTER_XMM31)
		return (uint8_t)(VT_REG_VECTOR + reg - ZYDIS_REGISTER_XMM0);
	return reg == ZYDIS_REGISTER_RIP      ? VT_REG_IP
	       : reg == ZYDIS_REGISTER_RFLAGS ? VT_REG_FLAGS
					      : VT_REG_NONE;
}

static uint8_t other_number(ZydisRegister reg)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
	const ZyanI8 id = ZydisRegisterGetId(whole);

	switch (ZydisRegisterGetClass(reg)) {
	case ZYDIS_REGCLASS_IP:
		return VT_REG_IP;
	case ZYDIS_REGCLASS_FLAGS:
		return VT_REG_FLAGS;
	default:
		break;
	}
	switch (ZydisRegisterGetClass(whole)) {
	case ZYDIS_REGCLASS_GPR64:
		return id >= 0 && id < 16 ? general[id] : VT_REG_NONE;
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_YMM:
	case ZYDIS_REGCLASS_ZMM:
		return id >= 0 && id < 32 ? (uint8_t)(VT_REG_VECTOR + id) : VT_REG_NONE;
	default:
		break;
	}
	switch (reg) {
	case ZYDIS_REGISTER_ES:
		return VT_REG_ES;
	case ZYDIS_REGISTER_CS:
		return VT_REG_CS;
	case ZYDIS_REGISTER_SS:
		return VT_REG_SS;
	case ZYDIS_REGISTER_DS:
		return VT_REG_DS;
	case ZYDIS_REGISTER_FS:
		return VT_REG_FS;
	case ZYDIS_REGISTER_GS:
		return VT_REG_GS;
	default:
		return VT_REG_NONE;
	}
}

static uint8_t register_number(ZydisRegister reg)
{
	uint8_t number = VT_REG_NONE;

	if (reg != ZYDIS_REGISTER_NONE)
		number = common_number(reg);
	return number == VT_REG_NONE && reg != ZYDIS_REGISTER_NONE ? other_number(reg) : number;
}

static bool is_high_byte(ZydisRegister reg)
{
	return reg == ZYDIS_REGISTER_AH || reg == ZYDIS_REGISTER_BH || reg == ZYDIS_REGISTER_CH ||
	       reg == ZYDIS_REGISTER_DH;
}

const char *vt_reg_name(unsigned reg, unsigned size)
{
	static const ZydisRegisterClass classes[] = {ZYDIS_REGCLASS_GPR8, ZYDIS_REGCLASS_GPR16,
						     ZYDIS_REGCLASS_GPR32, ZYDIS_REGCLASS_GPR64};
	static const char *const others[] = {"rip", "rflags", "cs", "ss", "ds", "es", "fs", "gs"};
	const char *name = NULL;
	ZydisRegisterClass class = ZYDIS_REGCLASS_GPR64;
	unsigned id;

	if (reg >= VT_REG_VECTOR && reg < VT_NREGS) {
		class = size > 32   ? ZYDIS_REGCLASS_ZMM
			: size > 16 ? ZYDIS_REGCLASS_YMM
				    : ZYDIS_REGCLASS_XMM;
		name = ZydisRegisterGetString(
			ZydisRegisterEncode(class, (ZyanU8)(reg - VT_REG_VECTOR)));
	} else if (reg >= VT_REG_IP && reg <= VT_REG_GS) {
		name = others[reg - VT_REG_IP];
	} else {
		for (id = 0; id < 16 && general[id] != reg; id++)
			;
		if (size <= 4)
			class = classes[size <= 1 ? 0 : size / 2];
		/* Of bytes, numbers 4 to 7 are the high ones, and the low ones follow. */
		if (class == ZYDIS_REGCLASS_GPR8 && id >= 4)
			id += 4;
		if (id < 16 || (class == ZYDIS_REGCLASS_GPR8 && id < 20))
			name = ZydisRegisterGetString(ZydisRegisterEncode(class, (ZyanU8)id));
	}
	return name ? name : "?";
}

static uint64_t register_bit(unsigned reg)
{
	return reg < VT_NREGS ? UINT64_C(1) << reg : 0;
}

/* ---- types ---- */

/* Inline, since decoding compares a lot of short names, and nearly all differ early. */
static inline bool has_mnemonic_prefix(const char *text, const char *with)
{
	while (*with && *text == *with) {
		text++;
		with++;
	}
	return !*with;
}

static inline bool contains_text(const char *text, const char *part)
{
	for (; *text; text++)
		if (has_mnemonic_prefix(text, part))
			return true;
	return false;
}

static inline bool text_equals(const char *text, const char *with)
{
	return *text == *with && strcmp(text, with) == 0;
}

/* The mnemonic without the v of VEX and EVEX. */
static const char *skip_vex_prefix(const char *mnemonic)
{
	return mnemonic[0] == 'v' ? mnemonic + 1 : mnemonic;
}

static void note_signs(struct decoded *d)
{
	const char *m = skip_vex_prefix(d->mnemonic);

	d->is_signed = has_mnemonic_prefix(m, "movsx") || has_mnemonic_prefix(m, "pmovsx") ||
		       has_mnemonic_prefix(m, "cvtsi2") || has_mnemonic_prefix(m, "idiv") ||
		       has_mnemonic_prefix(m, "imul") || has_mnemonic_prefix(m, "fild") ||
		       has_mnemonic_prefix(m, "fist") || has_mnemonic_prefix(m, "sar") ||
		       has_mnemonic_prefix(m, "cdq") || has_mnemonic_prefix(m, "cqo") ||
		       has_mnemonic_prefix(m, "cwd") || has_mnemonic_prefix(m, "cbw");
	d->is_unsigned = has_mnemonic_prefix(m, "movzx") || has_mnemonic_prefix(m, "pmovzx") ||
			 has_mnemonic_prefix(m, "cvtusi2") || text_equals(m, "div") ||
			 text_equals(m, "mul") || text_equals(m, "mulx") ||
			 has_mnemonic_prefix(m, "set") || has_mnemonic_prefix(m, "popcnt") ||
			 has_mnemonic_prefix(m, "lzcnt") || has_mnemonic_prefix(m, "tzcnt");
	d->is_opaque = has_mnemonic_prefix(m, "movups") || has_mnemonic_prefix(m, "movaps") ||
		       has_mnemonic_prefix(m, "movdq") || has_mnemonic_prefix(m, "movlps") ||
		       has_mnemonic_prefix(m, "movhps") || has_mnemonic_prefix(m, "movntps") ||
		       has_mnemonic_prefix(m, "movntdq") || has_mnemonic_prefix(m, "lddqu");
}

static enum vt_number get_integer_type(const struct decoded *d)
{
	return d->is_signed	? VT_NUMBER_SIGNED
	       : d->is_unsigned ? VT_NUMBER_UNSIGNED
				: VT_NUMBER_INT;
}

static struct vt_number_type type_of(const struct decoded *d, const ZydisDecodedOperand *o)
{
	struct vt_number_type t = {.number = VT_NUMBER_RAW, .elements = 1};
	unsigned bytes = o->size / 8u, element = o->element_size / 8u;

	switch (o->element_type) {
	case ZYDIS_ELEMENT_TYPE_INT:
	case ZYDIS_ELEMENT_TYPE_UINT:
		t.number = get_integer_type(d);
		break;
	case ZYDIS_ELEMENT_TYPE_FLOAT16:
	case ZYDIS_ELEMENT_TYPE_FLOAT32:
	case ZYDIS_ELEMENT_TYPE_FLOAT64:
	case ZYDIS_ELEMENT_TYPE_FLOAT80:
		t.number = VT_NUMBER_FLOAT;
		break;
	default:
		break;
	}
	if (d->is_opaque)
		t.number = VT_NUMBER_RAW;
	if (t.number == VT_NUMBER_RAW || !element || element > bytes || bytes / element > 64) {
		t.number = VT_NUMBER_RAW;
		t.size = bytes < 8 ? (uint8_t)bytes : 8;
		t.elements = bytes > 8 && bytes <= 64 ? (uint8_t)(bytes / 8) : 1;
		return t;
	}
	t.size = (uint8_t)element;
	t.elements = (uint8_t)(bytes / element);
	return t;
}

/* ---- what kind of instruction it is ---- */

/* `direct`: the instruction itself contains its target. */
static uint32_t control_flags(ZydisInstructionCategory category, bool direct)
{
	switch (category) {
	case ZYDIS_CATEGORY_COND_BR:
		return direct ? VT_FACT_BRANCH | VT_FACT_CONDITIONAL : 0;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return VT_FACT_BRANCH | VT_FACT_JUMP | (direct ? 0 : VT_FACT_INDIRECT);
	case ZYDIS_CATEGORY_CALL:
		return VT_FACT_BRANCH | VT_FACT_CALL | (direct ? 0 : VT_FACT_INDIRECT);
	case ZYDIS_CATEGORY_RET:
		return VT_FACT_BRANCH | VT_FACT_RETURN;
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_INTERRUPT:
		return VT_FACT_SYSCALL;
	default:
		return 0;
	}
}

static uint32_t branch_flags(const struct decoded *d)
{
	const ZydisDecodedOperand *o = &d->operands[0];
	bool relative = d->insn.operand_count && o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
			o->imm.is_relative;
	bool pointer = d->insn.operand_count && o->type == ZYDIS_OPERAND_TYPE_POINTER;

	if (d->insn.meta.category == ZYDIS_CATEGORY_COND_BR)
		pointer = false;
	return control_flags(d->insn.meta.category, relative || pointer);
}

/* f3 90 with REX.B: to some processors a pause, to others an exchange of rax and r8. */
static bool may_exchange(const struct decoded *d)
{
	return d->insn.mnemonic == ZYDIS_MNEMONIC_PAUSE && d->insn.raw.rex.B;
}

static bool is_nop(const struct decoded *d)
{
	switch (d->insn.meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_PREFETCH:
	case ZYDIS_CATEGORY_PREFETCHWT1:
		return true;
	default:
		return d->insn.mnemonic == ZYDIS_MNEMONIC_ENDBR64 ||
		       d->insn.mnemonic == ZYDIS_MNEMONIC_ENDBR32 ||
		       (d->insn.mnemonic == ZYDIS_MNEMONIC_PAUSE && !may_exchange(d));
	}
}

/* A move that neither gathers, changes nor repeats what it moves. */
static bool is_move(const struct decoded *d)
{
	const char *m = skip_vex_prefix(d->mnemonic);

	return has_mnemonic_prefix(m, "mov") && d->insn.meta.category != ZYDIS_CATEGORY_STRINGOP &&
	       !has_mnemonic_prefix(m, "movmsk") && !has_mnemonic_prefix(m, "movbe") &&
	       !has_mnemonic_prefix(m, "movddup") && !has_mnemonic_prefix(m, "movshdup") &&
	       !has_mnemonic_prefix(m, "movsldup") && !has_mnemonic_prefix(m, "movdir");
}

static uint32_t name_flags(const struct decoded *d)
{
	const char *m = d->mnemonic;
	uint32_t flags = 0;

	/* Carry-less and Galois-field products are not numbers' products. */
	if (contains_text(m, "mul") && !contains_text(m, "clmul") && !contains_text(m, "gf2"))
		flags |= VT_FACT_MULTIPLY;
	if (has_mnemonic_prefix(skip_vex_prefix(m), "fmadd") ||
	    has_mnemonic_prefix(skip_vex_prefix(m), "fmsub") ||
	    has_mnemonic_prefix(skip_vex_prefix(m), "fnmadd") ||
	    has_mnemonic_prefix(skip_vex_prefix(m), "fnmsub"))
		flags |= VT_FACT_MULTIPLY;
	if (contains_text(m, "div"))
		flags |= VT_FACT_DIVIDE;
	if (has_mnemonic_prefix(m, "push"))
		flags |= VT_FACT_PUSH;
	if (has_mnemonic_prefix(m, "pop") && !has_mnemonic_prefix(m, "popcnt"))
		flags |= VT_FACT_POP;
	if (d->insn.mnemonic == ZYDIS_MNEMONIC_LEA)
		flags |= VT_FACT_LEA;
	if (is_nop(d))
		flags |= VT_FACT_NOP;
	if (is_move(d))
		flags |= VT_FACT_MOVE;
	return flags;
}

static uint32_t attribute_flags(const struct decoded *d)
{
	const ZydisInstructionAttributes a = d->insn.attributes;
	uint32_t flags = 0;

	if (d->insn.meta.category == ZYDIS_CATEGORY_STRINGOP ||
	    d->insn.meta.category == ZYDIS_CATEGORY_IOSTRINGOP)
		flags |= VT_FACT_STRING;
	if (a & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
		flags |= VT_FACT_REPEATED;
	if (a & ZYDIS_ATTRIB_HAS_LOCK)
		flags |= VT_FACT_ATOMIC;
	if (d->insn.meta.isa_set == ZYDIS_ISA_SET_X87)
		flags |= VT_FACT_X87;
	if (d->insn.avx.mask.mode > ZYDIS_MASK_MODE_DISABLED ||
	    has_mnemonic_prefix(skip_vex_prefix(d->mnemonic), "maskmov") ||
	    has_mnemonic_prefix(d->mnemonic, "vpmaskmov"))
		flags |= VT_FACT_MASKED;
	return flags;
}

/* ---- operands ---- */

static void take_memory(const struct decoded *d, const ZydisDecodedOperand *o, struct vt_facts *f)
{
	struct vt_memory *m = &f->memories[f->nmemories];

	if (d->insn.mnemonic == ZYDIS_MNEMONIC_LEA && o->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
		*m = (struct vt_memory){
			.base = register_number(o->mem.base),
			.index = register_number(o->mem.index),
			.scale = o->mem.scale,
			.segment = VT_REG_NONE,
			.displacement = o->mem.disp.has_displacement ? o->mem.disp.value : 0};
	if (o->mem.type != ZYDIS_MEMOP_TYPE_MEM && o->mem.type != ZYDIS_MEMOP_TYPE_VSIB)
		return;
	if ((f->flags & VT_FACT_NOP) || !(o->actions & (READ | WRITE)) ||
	    f->nmemories == VT_FACT_MEMORIES)
		return;
	m->read = o->actions & READ;
	m->written = o->actions & WRITE;
	m->implied = o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
	m->gather = o->mem.type == ZYDIS_MEMOP_TYPE_VSIB;
	m->size = (uint16_t)((m->gather ? o->element_size : o->size) / 8);
	m->base = register_number(o->mem.base);
	m->index = register_number(o->mem.index);
	m->scale = m->index == VT_REG_NONE ? 0 : o->mem.scale;
	m->segment = register_number(o->mem.segment);
	if (m->segment != VT_REG_FS && m->segment != VT_REG_GS)
		m->segment = VT_REG_NONE;
	m->displacement = o->mem.disp.has_displacement ? o->mem.disp.value : 0;
	/* What is pushed lies below the stack pointer as the instruction finds it. */
	if (m->implied && m->written && m->base == VT_REG_SP)
		m->displacement = -(int64_t)m->size;
	m->type = type_of(d, o);
	if (m->gather)
		f->flags |= VT_FACT_MASKED;
	/* Where control goes to, or comes back to. */
	if (f->flags & (VT_FACT_CALL | VT_FACT_RETURN | VT_FACT_INDIRECT))
		m->type.number = m->size == VT_ADDRESS_SIZE ? VT_NUMBER_ADDRESS : VT_NUMBER_RAW;
	m->type.may_point = m->size == VT_ADDRESS_SIZE && m->type.number != VT_NUMBER_FLOAT &&
			    !(f->flags & (VT_FACT_DIVIDE | VT_FACT_MULTIPLY));
	f->flags |= (m->read ? VT_FACT_LOAD : 0u) | (m->written ? VT_FACT_STORE : 0u);
	f->reads |= register_bit(m->base) | register_bit(m->index) | register_bit(m->segment);
	f->nmemories++;
}

static struct vt_operand register_operand(const struct decoded *d, const ZydisDecodedOperand *o)
{
	struct vt_operand r = {.where = VT_WHERE_REGISTER,
			       .reg = register_number(o->reg.value),
			       .high = is_high_byte(o->reg.value),
			       .size = (uint16_t)(o->size / 8),
			       .type = type_of(d, o)};

	r.type.may_point = r.size == VT_ADDRESS_SIZE && r.reg < VT_REG_VECTOR;
	return r;
}

static void take_register(const struct decoded *d, const ZydisDecodedOperand *o, struct vt_facts *f)
{
	struct vt_operand r = register_operand(d, o);
	bool hidden = o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;

	if (o->actions & READ)
		f->reads |= register_bit(r.reg);
	if (o->actions & WRITE)
		f->writes |= register_bit(r.reg);
	if (r.reg >= VT_REG_VECTOR && r.reg != VT_REG_NONE && !hidden)
		f->flags |= VT_FACT_VECTOR;
	if (r.reg >= VT_NREGS || r.reg == VT_REG_FLAGS || r.reg == VT_REG_IP ||
	    (r.reg == VT_REG_SP && hidden) || (f->flags & VT_FACT_NOP))
		return;
	if (f->flags & (VT_FACT_DIVIDE | VT_FACT_MULTIPLY))
		r.type.may_point = false;
	if ((o->actions & READ) && f->nsources < VT_FACT_SOURCES)
		f->sources[f->nsources++] = r;
	if ((o->actions & WRITE) && f->nresults < VT_FACT_RESULTS)
		f->results[f->nresults++] = r;
}

static void take_immediate(const ZydisDecodedOperand *o, struct vt_facts *f)
{
	if (o->imm.is_relative) {
		f->has_target = true;
		f->target = f->length + o->imm.value.s;
	} else {
		f->has_immediate = true;
		f->immediate = o->imm.value.s;
	}
}

/* The divisor is the last operand that is written in the assembly, but of `fdivr`, the other. */
static void take_divisor(const struct decoded *d, struct vt_facts *f)
{
	const ZydisDecodedOperand *o = NULL;
	unsigned i;

	for (i = 0; i < d->insn.operand_count; i++)
		if (d->operands[i].visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT)
			o = &d->operands[i];
	if (!o || strstr(d->mnemonic, "divr"))
		return;
	if (o->type == ZYDIS_OPERAND_TYPE_REGISTER && !(f->flags & VT_FACT_X87)) {
		f->divisor = register_operand(d, o);
		f->divisor.type.may_point = false;
	} else if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && f->nmemories) {
		f->divisor = (struct vt_operand){.where = VT_WHERE_MEMORY,
						 .reg = VT_REG_NONE,
						 .size = f->memories[0].size,
						 .type = f->memories[0].type};
	}
}

static bool is_float_operand(const ZydisDecodedOperand *o)
{
	return o->element_type == ZYDIS_ELEMENT_TYPE_FLOAT16 ||
	       o->element_type == ZYDIS_ELEMENT_TYPE_FLOAT32 ||
	       o->element_type == ZYDIS_ELEMENT_TYPE_FLOAT64 ||
	       o->element_type == ZYDIS_ELEMENT_TYPE_FLOAT80;
}

/* What Zydis does not have among the operands: flags, and the pointers of string instructions. */
static void take_unnamed(const struct decoded *d, struct vt_facts *f)
{
	const ZydisAccessedFlags *flags = d->insn.cpu_flags;
	unsigned i;

	if (flags && flags->tested)
		f->reads |= register_bit(VT_REG_FLAGS);
	if (flags && (flags->modified | flags->set_0 | flags->set_1 | flags->undefined))
		f->writes |= register_bit(VT_REG_FLAGS);
	if (may_exchange(d)) {
		f->reads |= register_bit(VT_REG_AX) | register_bit(VT_REG_R8);
		f->writes |= register_bit(VT_REG_AX) | register_bit(VT_REG_R8);
	}
	if (!(f->flags & VT_FACT_STRING))
		return;
	for (i = 0; i < f->nmemories; i++)
		f->writes |= register_bit(f->memories[i].base);
	if (f->flags & VT_FACT_REPEATED)
		f->writes |= register_bit(VT_REG_CX);
}

static void collect_operands(const struct decoded *d, struct vt_facts *f)
{
	unsigned i;

	for (i = 0; i < d->insn.operand_count; i++) {
		const ZydisDecodedOperand *o = &d->operands[i];

		if (is_float_operand(o) && !d->is_opaque)
			f->flags |= VT_FACT_FLOAT;
		if (o->type == ZYDIS_OPERAND_TYPE_MEMORY)
			take_memory(d, o, f);
		else if (o->type == ZYDIS_OPERAND_TYPE_REGISTER)
			take_register(d, o, f);
		else if (o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
			take_immediate(o, f);
		/* The address that lea computes, and those of nothing accessed. */
		if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && !(f->flags & VT_FACT_NOP))
			f->reads |= register_bit(register_number(o->mem.base)) |
				    register_bit(register_number(o->mem.index));
	}
	if (d->insn.mnemonic == ZYDIS_MNEMONIC_XCHG && f->nmemories)
		f->flags |= VT_FACT_ATOMIC;
	if (!f->nresults && !(f->flags & (VT_FACT_STORE | VT_FACT_BRANCH | VT_FACT_SYSCALL)) &&
	    (f->writes & register_bit(VT_REG_FLAGS)) && d->insn.operand_count_visible > 1)
		f->flags |= VT_FACT_COMPARE;
	if (f->flags & VT_FACT_DIVIDE)
		take_divisor(d, f);
	take_unnamed(d, f);
}

bool vt_facts_decode_form(const uint8_t *bytes, size_t size, struct vt_facts *f, char *form)
{
	ZydisDecoder decoder;
	struct decoded d;

	memset(f, 0, sizeof(*f));
	f->mnemonic = "";
	if (!ZYAN_SUCCESS(
		    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, size, &d.insn, d.operands)))
		return false;
	f->length = d.insn.length;
	f->mnemonic = ZydisMnemonicGetString(d.insn.mnemonic);
	if (!f->mnemonic)
		f->mnemonic = "";
	d.mnemonic = f->mnemonic;
	note_signs(&d);
	f->flags = branch_flags(&d) | name_flags(&d) | attribute_flags(&d);
	collect_operands(&d, f);
	if (form)
		vti_form_write(&d.insn, d.operands, form);
	return true;
}

bool vt_facts_decode(const uint8_t *bytes, size_t size, struct vt_facts *f)
{
	return vt_facts_decode_form(bytes, size, f, NULL);
}

static bool stops_flow(ZydisMnemonic m)
{
	return m == ZYDIS_MNEMONIC_HLT || m == ZYDIS_MNEMONIC_INT3 || m == ZYDIS_MNEMONIC_UD0 ||
	       m == ZYDIS_MNEMONIC_UD1 || m == ZYDIS_MNEMONIC_UD2 || m == ZYDIS_MNEMONIC_SYSRET ||
	       m == ZYDIS_MNEMONIC_SYSEXIT;
}

/* Without Zydis; false: it has to tell. */
static bool decode_plain(const uint8_t *bytes, size_t size, struct vt_flow *f)
{
	static const uint32_t flags[] = {
		[VTI_PLAIN_BRANCH] = VT_FACT_BRANCH | VT_FACT_CONDITIONAL,
		[VTI_PLAIN_JUMP] = VT_FACT_BRANCH | VT_FACT_JUMP,
		[VTI_PLAIN_CALL] = VT_FACT_BRANCH | VT_FACT_CALL,
		[VTI_PLAIN_RETURN] = VT_FACT_BRANCH | VT_FACT_RETURN,
	};
	struct vti_plain p;

	f->length = vti_plain_length(bytes, size);
	if (f->length)
		return true;
	f->length = vti_plain_branch(bytes, size, &p);
	if (!f->length)
		return false;
	f->flags = flags[p.kind];
	f->has_target = p.kind != VTI_PLAIN_RETURN;
	f->target = p.target;
	return true;
}

bool vt_flow_decode(const uint8_t *bytes, size_t size, struct vt_flow *f)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction insn;
	bool relative;

	memset(f, 0, sizeof(*f));
	if (decode_plain(bytes, size, f))
		return true;
	if (!ZYAN_SUCCESS(
		    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, size, &insn)))
		return false;
	f->length = insn.length;
	f->stops = stops_flow(insn.mnemonic);
	relative = insn.raw.imm[0].size && insn.raw.imm[0].is_relative;
	f->flags = control_flags(insn.meta.category, relative);
	f->has_target = relative && (f->flags & VT_FACT_BRANCH);
	if (f->has_target)
		f->target = insn.length + insn.raw.imm[0].value.s;
	return true;
}

/* ---- stubs ---- */

bool vt_code_is_plt(const uint8_t *bytes, size_t size, int64_t *slot)
{
	struct vt_facts f;
	size_t at = 0;

	if (!vt_facts_decode(bytes, size, &f))
		return false;
	if (strcmp(f.mnemonic, "endbr64") == 0) {
		at = f.length;
		if (!vt_facts_decode(bytes + at, size - at, &f))
			return false;
	}
	if (!(f.flags & VT_FACT_JUMP) || !(f.flags & VT_FACT_INDIRECT) || !f.nmemories ||
	    f.memories[0].base != VT_REG_IP)
		return false;
	*slot = (int64_t)(at + f.length) + f.memories[0].displacement;
	return true;
}
