/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/machine/insn/insnforms.h"

#include <string.h>

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };

#define LEGACY_FORMS (4 * 256 * 4 * 2 * 2)
#define LARGE	     512 /* bytes of the largest operand, of fxsave */

/* Where the code that surrounds an x87 or MMX instruction reads and writes. */
#define INPUTS	0
#define OUTPUTS 896

/* ---- numbers ---- */

static bool once_in(struct vt_rng *rng, unsigned n)
{
	return vt_rng_below(rng, n) == 0;
}

static uint64_t draw_integer(struct vt_rng *rng)
{
	uint64_t v = vt_rng_next(rng);

	switch (vt_rng_below(rng, 8)) {
	case 0:
		return v & 0x3f;
	case 1:
		return (uint64_t)0 - (v & 0x3f);
	case 2:
		return UINT64_C(1) << (v & 63);
	case 3:
		return (UINT64_C(1) << (v & 63)) - 1;
	case 4:
		return v >> (v >> 58);
	case 5:
		return v & 1 ? UINT64_C(0x8000000080008080) : 0;
	default:
		return v;
	}
}

static uint32_t draw_float(struct vt_rng *rng)
{
	static const uint32_t special[] = {0,	       0x80000000, 0x3f800000, 0xbf800000,
					   0x7f800000, 0xff800000, 0x7fc00000, 0x00000001,
					   0x807fffff, 0x00800000, 0x7f7fffff, 0x4f000000,
					   0xcf000000, 0x3f000000, 0x40200000, 0x7fa00000};
	uint32_t v = (uint32_t)vt_rng_next(rng);

	switch (vt_rng_below(rng, 4)) {
	case 0:
		return special[v % 16];
	case 1: /* small integers, and halves of them */
		return (v & 0x80000000) | (0x3f800000 + (v & 0x03f00000));
	case 2: /* of about the same size, so that they cancel and round */
		return (v & 0x807fffff) | (0x3f800000 + (v >> 4 & 0x03800000));
	default:
		return v;
	}
}

static uint64_t draw_double(struct vt_rng *rng)
{
	static const uint64_t special[] = {
		0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000,
		0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0x0000000000000001,
		0x800fffffffffffff, 0x0010000000000000, 0x7fefffffffffffff, 0x43e0000000000000,
		0xc1e0000000000000, 0x3fe0000000000000, 0x4004000000000000, 0x7ff4000000000000};
	uint64_t v = vt_rng_next(rng);

	switch (vt_rng_below(rng, 4)) {
	case 0:
		return special[v % 16];
	case 1:
		return (v & UINT64_C(1) << 63) | (0x3ff0000000000000 + (v & 0x007e000000000000));
	case 2:
		return (v & 0x800fffffffffffff) |
		       (0x3ff0000000000000 + (v >> 4 & 0x0070000000000000));
	default:
		return v;
	}
}

/* Memory and vectors hold numbers of one sort at a time. */
static void fill(struct vt_rng *rng, uint8_t *bytes, size_t size)
{
	unsigned style = (unsigned)vt_rng_below(rng, 6);
	size_t i;

	for (i = 0; i < size; i += 8) {
		uint64_t v = vt_rng_next(rng);

		if (style < 2)
			v = draw_double(rng);
		else if (style < 4)
			v = (uint64_t)draw_float(rng) << 32 | draw_float(rng);
		else if (style == 4)
			v = draw_integer(rng);
		memcpy(bytes + i, &v, 8);
	}
}

/* ---- bytes ---- */

struct bytes {
	uint8_t b[32];
	size_t n;
};

static void put(struct bytes *b, unsigned byte)
{
	b->b[b->n++] = (uint8_t)byte;
}

static void put_modrm(struct bytes *b, struct vt_rng *rng, unsigned shape, bool memory)
{
	unsigned i;

	put(b, (memory ? (unsigned)vt_rng_below(rng, 3) : 3) << 6 | shape << 3 |
		       (unsigned)vt_rng_below(rng, 8));
	for (i = 0; i < 13; i++)
		put(b, (unsigned)vt_rng_next(rng));
}

static void put_legacy(struct bytes *b, struct vt_rng *rng, unsigned form, unsigned shape)
{
	static const uint8_t prefix[] = {0, 0x66, 0xf2, 0xf3};
	bool memory = form & 1, wide = form >> 1 & 1;
	unsigned map = form >> 4 & 3;

	if (memory && once_in(rng, 16))
		put(b, 0x65);
	if (memory && once_in(rng, 16))
		put(b, 0x67);
	if (once_in(rng, 16))
		put(b, 0x66);
	if (form >> 2 & 3)
		put(b, prefix[form >> 2 & 3]);
	if (memory && once_in(rng, 8))
		put(b, 0xf0);
	if (wide || once_in(rng, 2))
		put(b, 0x40u | (wide ? 8u : 0) | (unsigned)vt_rng_below(rng, 8));
	if (map)
		put(b, 0x0f);
	if (map > 1)
		put(b, map == 2 ? 0x38 : 0x3a);
	put(b, form >> 6 & 0xff);
	put_modrm(b, rng, shape, memory);
}

static void put_vex(struct bytes *b, struct vt_rng *rng, unsigned form, unsigned shape)
{
	bool memory = form & 1, wide = form >> 1 & 1;
	unsigned length = form >> 2 & 1, pp = form >> 3 & 3, map = 1 + (form >> 13) % 3;
	/* Where there is no second source, these have to be all ones. */
	unsigned source = once_in(rng, 3) ? 15 : (unsigned)vt_rng_below(rng, 16);

	if (map == 1 && !wide && once_in(rng, 2)) {
		put(b, 0xc5);
		put(b, (unsigned)vt_rng_below(rng, 2) << 7 | source << 3 | length << 2 | pp);
	} else {
		put(b, 0xc4);
		put(b, (unsigned)vt_rng_below(rng, 8) << 5 | map);
		put(b, (wide ? 0x80u : 0) | source << 3 | length << 2 | pp);
	}
	put(b, form >> 5 & 0xff);
	put_modrm(b, rng, shape, memory);
}

/* ---- what is not to be run ---- */

static bool writes_reserved_register(const struct insn_case *c)
{
	unsigned i;

	for (i = 0; i < c->insn.operand_count; i++) {
		const ZydisDecodedOperand *o = &c->operands[i];

		if (o->type != ZYDIS_OPERAND_TYPE_REGISTER)
			continue;
		switch (ZydisRegisterGetClass(o->reg.value)) {
		case ZYDIS_REGCLASS_SEGMENT:
		case ZYDIS_REGCLASS_CONTROL:
		case ZYDIS_REGCLASS_DEBUG:
			if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
				return true;
			break;
		default:
			break;
		}
	}
	return false;
}

/* x87's last register stays empty: reading it is an error. */
static bool reads_empty(const struct insn_case *c)
{
	unsigned i;

	for (i = 0; i < c->insn.operand_count; i++)
		if (c->operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    c->operands[i].reg.value == ZYDIS_REGISTER_ST7)
			return true;
	return false;
}

static bool is_left_out(const struct insn_case *c)
{
	static const char *const names[] = {
		"int",	     "iret",	   "ud",     "hlt",	"xbegin",   "xabort",	"xend",
		"xtest",     "xrstor",	   "xsave",  "wrpkru",	"rdpkru",   "monitor",	"mwait",
		"wrfs",	     "wrgs",	   "rdssp",  "incssp",	"clzero",   "umonitor", "umwait",
		"tpause",    "fxrstor",	   "frstor", "fldenv",	"enqcmd",   "movdir",	"ptwrite",
		"xgetbv",    "setssbsy",   "rstors", "vmmcall", "saveprev", "lsl",	"lar",
		"verr",	     "verw",	   "sldt",   "str",	"smsw",	    "sgdt",	"sidt",
		"encodekey", "aesenc128kl"};
	size_t i;

	switch (c->insn.meta.category) {
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_IO:
	case ZYDIS_CATEGORY_IOSTRINGOP:
	case ZYDIS_CATEGORY_VTX:
	case ZYDIS_CATEGORY_SGX:
	case ZYDIS_CATEGORY_RDWRFSGS:
	case ZYDIS_CATEGORY_AMX_TILE:
	case ZYDIS_CATEGORY_KEYLOCKER:
	case ZYDIS_CATEGORY_UINTR:
		return true;
	default:
		break;
	}
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strncmp(c->mnemonic, names[i], strlen(names[i])) == 0)
			return true;
	return (c->insn.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) ||
	       c->insn.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR || writes_reserved_register(c) ||
	       reads_empty(c);
}

static bool is_branch(const struct insn_case *c)
{
	switch (c->insn.meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
		return true;
	default:
		return false;
	}
}

/* ---- registers ---- */

static int number_of(ZydisRegister reg)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	return ZydisRegisterGetClass(whole) == ZYDIS_REGCLASS_GPR64 ? ZydisRegisterGetId(whole)
								    : -1;
}

static void draw_registers(const struct native *n, struct vt_rng *rng, struct insn_case *c)
{
	static const uint64_t some_flags = 0x8d5;
	unsigned i;

	for (i = 0; i < 16; i++)
		c->in.gpr[i] = draw_integer(rng);
	for (i = 0; i < 16; i++)
		fill(rng, (uint8_t *)c->in.vector[i], 32);
	fill(rng, c->data, sizeof(c->data));
	c->in.gpr[RSP] = n->data_addr + 512 + 8 * vt_rng_below(rng, 8);
	c->in.flags = 0x202 | (vt_rng_next(rng) & some_flags) | (once_in(rng, 4) ? 1 << 10 : 0);
	c->in.gs = 0x100;
	c->in.mxcsr = 0x1f80;
	if (once_in(rng, 4))
		c->in.mxcsr |= (uint32_t)vt_rng_below(rng, 4) << 13;
	if (once_in(rng, 8))
		c->in.mxcsr |= vt_rng_next(rng) & 0x8040;
}

/* ---- memory operands ---- */

static uint64_t draw_target(const struct native *n, struct vt_rng *rng, unsigned bytes)
{
	uint64_t at = n->data_addr + 256;

	if (bytes >= LARGE)
		return at;
	at += 64 * vt_rng_below(rng, 4);
	return once_in(rng, 2) ? at : at + vt_rng_below(rng, 64);
}

static void patch(struct insn_case *c, unsigned offset, unsigned bytes, uint64_t value)
{
	memcpy(c->code + c->at + offset, &value, bytes);
}

/* Gathers: each index is a small number. */
static void draw_indices(struct vt_rng *rng, struct insn_case *c, ZydisRegister index)
{
	unsigned reg = (unsigned)ZydisRegisterGetId(index) & 15, i;
	bool narrow = c->mnemonic[strlen(c->mnemonic) - 2] == 'd';

	for (i = 0; i < 4; i++) {
		uint64_t low = vt_rng_below(rng, 16), high = vt_rng_below(rng, 16);

		c->in.vector[reg][i] = narrow ? high << 32 | low : low;
	}
}

/* Makes the address of an operand be `target`; false where that cannot be. */
static bool aim(struct vt_rng *rng, struct insn_case *c, const ZydisDecodedOperand *o,
		uint64_t target)
{
	unsigned disp_at = c->insn.raw.disp.offset, disp_size = c->insn.raw.disp.size / 8;
	int base = number_of(o->mem.base), index = number_of(o->mem.index);
	int64_t disp = o->mem.disp.value;
	uint64_t rest = 0;

	if (o->mem.segment == ZYDIS_REGISTER_GS)
		target -= c->in.gs;
	if (o->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
		draw_indices(rng, c, o->mem.index);
	else if (index >= 0 && base < 0)
		c->in.gpr[index] = vt_rng_below(rng, 64);
	if (index >= 0) {
		rest = c->in.gpr[index] * o->mem.scale;
		c->addressing |= 1u << index;
	}
	if (o->mem.base == ZYDIS_REGISTER_RIP || o->mem.base == ZYDIS_REGISTER_EIP) {
		/* The code's address is known when it is run. */
		patch(c, disp_at, 4, target);
		return true;
	}
	if (base < 0) {
		if (disp_size < 4)
			return false;
		patch(c, disp_at, disp_size, target - rest);
		return true;
	}
	if (base == index)
		return false;
	if (disp_size == 4 && (base == RSP || once_in(rng, 2))) {
		disp = (int64_t)vt_rng_below(rng, 128) - 64;
		patch(c, disp_at, 4, (uint64_t)disp);
	}
	c->in.gpr[base] = target - rest - (uint64_t)disp;
	/* 32 bits of it count. */
	if (c->insn.address_width == 32 && once_in(rng, 2))
		c->in.gpr[base] |= vt_rng_next(rng) << 32;
	else if (c->insn.address_width == 32)
		c->in.gpr[base] &= UINT32_MAX;
	c->addressing |= 1u << base;
	return true;
}

static bool is_in_memory(const ZydisDecodedOperand *o)
{
	return o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.type != ZYDIS_MEMOP_TYPE_AGEN;
}

static bool place_memory(const struct native *n, struct vt_rng *rng, struct insn_case *c,
			 uint64_t *target)
{
	unsigned i;

	for (i = 0; i < c->insn.operand_count; i++) {
		const ZydisDecodedOperand *o = &c->operands[i];
		uint64_t at = draw_target(n, rng, o->size / 8);
		int base = number_of(o->mem.base);

		if (!is_in_memory(o))
			continue;
		if (o->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT) {
			*target = at;
			if (!aim(rng, c, o, at))
				return false;
			continue;
		}
		if (base < 0)
			return false;
		if (base != RSP)
			c->in.gpr[base] = at;
		if (o->mem.segment == ZYDIS_REGISTER_GS)
			c->in.gpr[base] -= c->in.gs;
		c->addressing |= 1u << base;
		if (number_of(o->mem.index) == RAX) /* xlat */
			c->in.gpr[base] -= c->in.gpr[RAX] & 0xff;
	}
	return true;
}

/* The place of an address relative to the next instruction, now that this one's place is known. */
static void place_relative(const struct native *n, struct insn_case *c, uint64_t target)
{
	unsigned i;

	for (i = 0; i < c->insn.operand_count; i++) {
		const ZydisDecodedOperand *o = &c->operands[i];

		if (!is_in_memory(o) ||
		    (o->mem.base != ZYDIS_REGISTER_RIP && o->mem.base != ZYDIS_REGISTER_EIP))
			continue;
		if (o->mem.segment == ZYDIS_REGISTER_GS)
			target -= c->in.gs;
		patch(c, c->insn.raw.disp.offset, 4,
		      target - (n->code_addr + c->at + c->insn.length));
	}
}

/* ---- what some instructions want ---- */

static uint8_t *data_at(const struct native *n, struct insn_case *c, uint64_t addr)
{
	return addr - n->data_addr < NATIVE_DATA - 16 ? c->data + (addr - n->data_addr) : c->data;
}

static void keep_bits(uint8_t *at, size_t size, uint64_t keep, uint64_t set)
{
	uint64_t v = 0;

	memcpy(&v, at, size);
	v = (v & keep) | set;
	memcpy(at, &v, size);
}

static void draw_dividend(struct vt_rng *rng, struct insn_case *c)
{
	bool is_signed = c->mnemonic[0] == 'i';
	uint64_t *ax = &c->in.gpr[RAX];

	if (once_in(rng, 8))
		return;
	if (c->insn.operand_width == 8)
		*ax &= is_signed ? ~UINT64_C(0xff80) : ~UINT64_C(0xff00);
	if (is_signed && once_in(rng, 2) && c->insn.operand_width > 8) {
		*ax = (uint64_t)0 - (*ax & 0x7fff) - 1;
		c->in.gpr[RDX] = UINT64_MAX;
	} else {
		if (is_signed)
			*ax &= 0x7fff7fff7fff7fff;
		c->in.gpr[RDX] = once_in(rng, 4) ? 1 : 0;
	}
}

/* Half of the time, what is compared is equal. */
static void draw_compared(const struct native *n, struct vt_rng *rng, struct insn_case *c,
			  uint64_t target)
{
	const uint8_t *at = data_at(n, c, target);
	int reg;

	if (once_in(rng, 2))
		return;
	if (c->operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER) {
		reg = number_of(c->operands[0].reg.value);
		c->in.gpr[RAX] = c->in.gpr[reg < 0 ? RAX : reg];
		return;
	}
	if (c->addressing & (1u << RAX | 1u << RDX))
		return;
	memcpy(&c->in.gpr[RAX], at, 8);
	if (strcmp(c->mnemonic, "cmpxchg8b") == 0)
		memcpy(&c->in.gpr[RDX], at + 4, 4);
	else if (strcmp(c->mnemonic, "cmpxchg16b") == 0)
		memcpy(&c->in.gpr[RDX], at + 8, 8);
}

/* A bit of memory is found at any distance: at a small one. */
static bool draw_bit(struct vt_rng *rng, struct insn_case *c)
{
	int reg;

	if (c->operands[0].type != ZYDIS_OPERAND_TYPE_MEMORY ||
	    c->operands[1].type != ZYDIS_OPERAND_TYPE_REGISTER)
		return true;
	reg = number_of(c->operands[1].reg.value);
	if (reg < 0 || c->addressing >> reg & 1)
		return false;
	c->in.gpr[reg] = vt_rng_below(rng, 2048) - 1024;
	return true;
}

static bool adapt(const struct native *n, struct vt_rng *rng, struct insn_case *c, uint64_t target)
{
	const char *m = c->mnemonic;
	uint8_t *at = data_at(n, c, target), *stack = data_at(n, c, c->in.gpr[RSP]);

	if (strcmp(m, "div") == 0 || strcmp(m, "idiv") == 0)
		draw_dividend(rng, c);
	else if (strncmp(m, "cmpxchg", 7) == 0)
		draw_compared(n, rng, c, target);
	else if (strcmp(m, "bt") == 0 || strcmp(m, "bts") == 0 || strcmp(m, "btr") == 0 ||
		 strcmp(m, "btc") == 0)
		return draw_bit(rng, c);
	else if (strncmp(m, "popf", 4) == 0)
		keep_bits(stack, 8, 0xcd5, 0);
	else if (strcmp(m, "fldcw") == 0)
		keep_bits(at, 2, 0x0f00, 0x7f);
	else if (strstr(m, "ldmxcsr"))
		keep_bits(at, 4, 0xffff, 0x1f80);
	else if (strcmp(m, "enter") == 0)
		patch(c, c->insn.raw.imm[0].offset, 2, vt_rng_below(rng, 64));
	else if (strcmp(m, "leave") == 0)
		c->in.gpr[RBP] = n->data_addr + 512;
	else if (strncmp(m, "loop", 4) == 0 || strstr(m, "cxz"))
		c->in.gpr[RCX] = vt_rng_below(rng, 3);
	if (c->insn.attributes &
	    (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) {
		c->in.gpr[RCX] = vt_rng_below(rng, 8);
		c->repeats = true;
	}
	return true;
}

/* Branches go to where branches come out. */
static bool direct(const struct native *n, struct insn_case *c, uint64_t target)
{
	const ZydisDecodedOperand *o = &c->operands[0];
	uint64_t to = native_branch(n, c->size);
	int reg;

	if (!is_branch(c))
		return true;
	if (c->insn.attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE)
		return false;
	if (c->insn.meta.category == ZYDIS_CATEGORY_RET) {
		memcpy(data_at(n, c, c->in.gpr[RSP]), &to, sizeof(to));
	} else if (o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		patch(c, c->insn.raw.imm[0].offset, c->insn.raw.imm[0].size / 8,
		      to - (n->code_addr + c->at + c->insn.length));
	} else if (o->type == ZYDIS_OPERAND_TYPE_REGISTER) {
		reg = number_of(o->reg.value);
		if (reg < 0 || reg == RSP)
			return false;
		c->in.gpr[reg] = to;
	} else {
		memcpy(data_at(n, c, target), &to, sizeof(to));
	}
	return true;
}

/* ---- x87 and MMX, whose registers go through memory ---- */

static bool uses_mmx(const struct insn_case *c)
{
	unsigned i;

	for (i = 0; i < c->insn.operand_count; i++)
		if (c->operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    ZydisRegisterGetClass(c->operands[i].reg.value) == ZYDIS_REGCLASS_MMX)
			return true;
	return strcmp(c->mnemonic, "emms") == 0;
}

/* opcode /reg with an absolute address of 32 bits */
static void put_access(struct insn_case *c, unsigned first, unsigned second, unsigned reg,
		       uint64_t addr)
{
	if (first)
		c->code[c->size++] = (uint8_t)first;
	c->code[c->size++] = (uint8_t)second;
	c->code[c->size++] = (uint8_t)(reg << 3 | 4);
	c->code[c->size++] = 0x25;
	memcpy(c->code + c->size, &addr, 4);
	c->size += 4;
	c->ninsns++;
}

static void put_before(const struct native *n, struct vt_rng *rng, struct insn_case *c)
{
	uint64_t from = n->data_addr + INPUTS;
	unsigned i, count = 7;

	if (uses_mmx(c)) {
		for (i = 0; i < 8; i++)
			put_access(c, 0x0f, 0x6f, i, from + 8 * i);
	} else if (c->insn.meta.isa_ext == ZYDIS_ISA_EXT_X87) {
		memcpy(c->code, "\xdb\xe3", 2); /* fninit */
		c->size = 2;
		c->ninsns = 1;
		for (i = 0; i < count; i++) {
			uint64_t v = once_in(rng, 3) ? draw_double(rng)
						     : UINT64_C(0x3ff8000000000000) + i;

			memcpy(c->data + INPUTS + 8 * i, &v, 8);
			put_access(c, 0, 0xdd, 0, from + 8 * i); /* fld qword */
		}
	}
}

/* Sometimes a condition is asked for, so that flags are used where they are computed. */
static void put_test(const struct native *n, struct vt_rng *rng, struct insn_case *c)
{
	if (is_branch(c) || c->ninsns > 1 || !once_in(rng, 4))
		return;
	put_access(c, 0x0f, 0x90 | (unsigned)vt_rng_below(rng, 16), 0, n->data_addr + OUTPUTS);
	c->tests_flags = true;
}

static void put_after(const struct native *n, struct insn_case *c)
{
	uint64_t to = n->data_addr + OUTPUTS;
	unsigned i;

	if (uses_mmx(c)) {
		for (i = 0; i < 8; i++)
			put_access(c, 0x0f, 0x7f, i, to + 8 * i);
	} else if (c->insn.meta.isa_ext == ZYDIS_ISA_EXT_X87) {
		put_access(c, 0, 0xdd, 7, to);	   /* fnstsw */
		put_access(c, 0, 0xd9, 7, to + 2); /* fnstcw */
		for (i = 1; i < 4; i++)
			put_access(c, 0, 0xdd, 3, to + 8 * i); /* fstp qword */
	}
}

/* ---- all of it ---- */

static bool decode(struct insn_case *c, const struct bytes *b)
{
	ZydisDecoder decoder;

	if (!ZYAN_SUCCESS(
		    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, b->b, b->n < 15 ? b->n : 15, &c->insn,
						 c->operands)))
		return false;
	c->mnemonic = ZydisMnemonicGetString(c->insn.mnemonic);
	return c->mnemonic != NULL;
}

bool insn_case_make(const struct native *n, struct vt_rng *rng, unsigned form, unsigned shape,
		    struct insn_case *c)
{
	struct bytes b = {.n = 0};
	uint64_t target = n->data_addr + 256;

	memset(c, 0, sizeof(*c));
	if (form < LEGACY_FORMS)
		put_legacy(&b, rng, form, shape);
	else
		put_vex(&b, rng, form - LEGACY_FORMS, shape);
	if (!decode(c, &b) || is_left_out(c))
		return false;
	draw_registers(n, rng, c);
	put_before(n, rng, c);
	c->at = c->size;
	memcpy(c->code + c->at, b.b, c->insn.length);
	if (!place_memory(n, rng, c, &target) || !adapt(n, rng, c, target))
		return false;
	c->size += c->insn.length;
	c->ninsns++;
	place_relative(n, c, target);
	put_after(n, c);
	put_test(n, rng, c);
	return direct(n, c, target);
}
