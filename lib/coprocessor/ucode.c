/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "coprocessor/ucode.h"

#include <assert.h>
#include <inttypes.h>

const char *const vt_ucode_alus[VT_NALUS] = {
	[VT_ALU_NONE] = "test", [VT_ALU_MOV] = "mov",	[VT_ALU_NOT] = "not",
	[VT_ALU_ADD] = "add",	[VT_ALU_SUB] = "sub",	[VT_ALU_AND] = "and",
	[VT_ALU_OR] = "or",	[VT_ALU_XOR] = "xor",	[VT_ALU_SHL1] = "shl1",
	[VT_ALU_SHL2] = "shl2", [VT_ALU_SHL4] = "shl4", [VT_ALU_SHL8] = "shl8",
	[VT_ALU_SHR1] = "shr1", [VT_ALU_SHR2] = "shr2", [VT_ALU_SHR4] = "shr4",
	[VT_ALU_SHR8] = "shr8",
};

const char *const vt_ucode_operands[VT_NOPERANDS] = {
	[VT_OP_V0] = "v0",
	[VT_OP_V0 + 1] = "v1",
	[VT_OP_V0 + 2] = "v2",
	[VT_OP_V0 + 3] = "v3",
	[VT_OP_C0] = "c0",
	[VT_OP_C0 + 1] = "c1",
	[VT_OP_C0 + 2] = "c2",
	[VT_OP_C0 + 3] = "c3",
	[VT_OP_X] = "x",
	[VT_OP_D] = "d",
	[VT_OP_M] = "m",
	[VT_OP_ZERO] = "zero",
	[VT_OP_ONE] = "one",
	[VT_OP_RAND] = "rand",
	[VT_OP_MISSED] = "missed",
	[VT_OP_PC] = "pc",
	[VT_OP_PC_LO] = "pc.lo",
	[VT_OP_VALUE] = "value",
	[VT_OP_VALUE_LO] = "value.lo",
	[VT_OP_ADDR] = "addr",
	[VT_OP_ADDR_LO] = "addr.lo",
	[VT_OP_WORD] = "addr.word",
	[VT_OP_LINE] = "addr.line",
	[VT_OP_TARGET] = "target",
	[VT_OP_TARGET_LO] = "target.lo",
	[VT_OP_TAKEN] = "taken",
	[VT_OP_SIZE] = "size",
	[VT_OP_NEXT] = "next",
	[VT_OP_TID] = "tid",
	[VT_OP_CODE] = "code",
	[VT_OP_CLASS] = "class",
};

const char *const vt_ucode_steps[VT_NSTEPS] = {
	[VT_STEP_NONE] = "",	 [VT_STEP_UP] = "up",	  [VT_STEP_DOWN] = "down",
	[VT_STEP_NEXT] = "next", [VT_STEP_BACK] = "back", [VT_STEP_CLEAR] = "reset",
	[VT_STEP_SET] = "set",	 [VT_STEP_TAKE] = "take",
};

const char *const vt_ucode_memories[VT_NMEMORIES] = {
	[VT_MEM_NONE] = "",   [VT_MEM_READ] = "read",	[VT_MEM_WRITE] = "write",
	[VT_MEM_INC] = "inc", [VT_MEM_DEC] = "dec",	[VT_MEM_ADD] = "addto",
	[VT_MEM_OR] = "orto", [VT_MEM_CLEAR] = "clear", [VT_MEM_SET] = "one",
};

const char *const vt_ucode_cams[VT_NCAMS] = {
	[VT_CAM_NONE] = "",
	[VT_CAM_MATCH] = "match",
	[VT_CAM_ENTER] = "enter",
	[VT_CAM_INVALIDATE] = "invalidate",
};

const char *const vt_ucode_conds[VT_NCONDS] = {
	[VT_COND_NEVER] = "never", [VT_COND_ALWAYS] = "always",
	[VT_COND_EQ] = "eq",	   [VT_COND_NE] = "ne",
	[VT_COND_LT] = "lt",	   [VT_COND_GE] = "ge",
	[VT_COND_LE] = "le",	   [VT_COND_GT] = "gt",
	[VT_COND_HIT] = "hit",	   [VT_COND_MISS] = "miss",
	[VT_COND_FULL] = "full",   [VT_COND_NOT_FULL] = "not-full",
	[VT_COND_OVER] = "over",   [VT_COND_NOT_OVER] = "not-over",
	[VT_COND_END] = "end",	   [VT_COND_NOT_END] = "not-end",
	[VT_COND_ZERO] = "zero",   [VT_COND_NONZERO] = "nonzero",
	[VT_COND_ODD] = "odd",	   [VT_COND_EVEN] = "even",
};

const char *const vt_ucode_classes[VT_NCLASSES] = {
	[VT_CLASS_LOAD] = "load",
	[VT_CLASS_STORE] = "store",
	[VT_CLASS_BRANCH] = "branch",
	[VT_CLASS_JUMP] = "jump",
	[VT_CLASS_JUMP_INDIRECT] = "jump-indirect",
	[VT_CLASS_CALL] = "call",
	[VT_CLASS_CALL_INDIRECT] = "call-indirect",
	[VT_CLASS_RETURN] = "return",
	[VT_CLASS_SYSCALL] = "syscall",
	[VT_CLASS_INTEGER] = "integer",
	[VT_CLASS_MULTIPLY] = "multiply",
	[VT_CLASS_DIVIDE] = "divide",
	[VT_CLASS_FLOAT] = "float",
	[VT_CLASS_VECTOR] = "vector",
	[VT_CLASS_MOVE] = "move",
	[VT_CLASS_COMPARE] = "compare",
	[VT_CLASS_ADDRESS] = "address",
	[VT_CLASS_STRING] = "string",
	[VT_CLASS_ATOMIC] = "atomic",
	[VT_CLASS_NOP] = "nop",
	[VT_CLASS_OTHER] = "other",
};

/* The fields from the lowest bit on; 4 bits above them are 0. */
static const struct {
	const char *name;
	uint8_t bits;
	uint8_t limit; /* numbers from here on have no meaning */
	size_t at;
} fields[] = {
	{"alu", 4, VT_NALUS, offsetof(struct vt_uword, alu)},
	{"a", 5, VT_NOPERANDS, offsetof(struct vt_uword, a)},
	{"b", 4, VT_OP_RAND + 1, offsetof(struct vt_uword, b)},
	{"dest", 3, 5, offsetof(struct vt_uword, dest)},
	{"step", 3, VT_NSTEPS, offsetof(struct vt_uword, step)},
	{"x", 3, 8, offsetof(struct vt_uword, x)},
	{"memory", 4, VT_NMEMORIES, offsetof(struct vt_uword, memory)},
	{"base", 3, 8, offsetof(struct vt_uword, base)},
	{"index", 2, VT_NINDEXES, offsetof(struct vt_uword, index)},
	{"cam", 2, VT_NCAMS, offsetof(struct vt_uword, cam)},
	{"entry", 1, 2, offsetof(struct vt_uword, cam_m)},
	{"cond", 5, VT_NCONDS, offsetof(struct vt_uword, cond)},
	{"target", 5, 32, offsetof(struct vt_uword, target)},
};

#define NFIELDS (sizeof(fields) / sizeof(fields[0]))

uint64_t vt_ucode_pack(const struct vt_uword *w)
{
	uint64_t bits = 0;
	unsigned shift = 0;
	size_t i;

	for (i = 0; i < NFIELDS; i++) {
		uint64_t v = ((const uint8_t *)w)[fields[i].at];

		assert(v >> fields[i].bits == 0);
		bits |= v << shift;
		shift += fields[i].bits;
	}
	return bits;
}

int vt_ucode_unpack(struct vt_uword *w, uint64_t bits, struct vt_error *err)
{
	uint64_t rest = bits;
	size_t i;

	for (i = 0; i < NFIELDS; i++) {
		uint8_t v = (uint8_t)(rest & ((1u << fields[i].bits) - 1));

		if (v >= fields[i].limit ||
		    (fields[i].at == offsetof(struct vt_uword, a) && !vt_ucode_operands[v]))
			return vt_error_set(err, VT_E_FORMAT,
					    "word 0x%012" PRIx64 ": field %s has no meaning %u",
					    bits, fields[i].name, v);
		((uint8_t *)w)[fields[i].at] = v;
		rest >>= fields[i].bits;
	}
	if (rest)
		return vt_error_set(err, VT_E_FORMAT,
				    "word 0x%012" PRIx64 ": the reserved bits are not 0", bits);
	return 0;
}
