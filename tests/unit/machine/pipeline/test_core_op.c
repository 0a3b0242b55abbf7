/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What instructions need of a machine: by class alone, and by a table of timings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "machine/pipeline/core.h"
#include "machine/pipeline/core_text.h"

#define REG(name) (UINT64_C(1) << VT_REG_##name)
#define XMM(n)	  (UINT64_C(1) << (VT_REG_VECTOR + (n)))

/* A machine of three units: p0 does all, p1 what is even, p2 nothing; numbers follow the class. */
static struct vt_core make_core(enum vt_order order, const struct vti_text *table)
{
	struct vt_core m = {.order = order,
			    .table = table,
			    .nunits = 3,
			    .units = {{"p0", ~0u}, {"p1", 0x55555555}, {"p2", 0}}};
	unsigned c;

	for (c = 0; c < VT_NOPCLASSES; c++) {
		m.classes[c].latency = (uint16_t)(20 + c);
		m.classes[c].busy = (uint16_t)(10 + c);
	}
	return m;
}

/* ---- by class ---- */

struct need {
	const char *text;
	uint8_t code[12];
	uint8_t size;
	const char *uops; /* r: reads registers, a: an address, p: what is before, w: writes */
	uint64_t reads, address_reads, writes;
};

/* clang-format off: a line each. */
/* Bytes from GNU as; what they need, by the manual's words for each. */
static const struct need needs[] = {
	{"lddqu (%rdi),%xmm3", {0xf2, 0x0f, 0xf0, 0x1f}, 4, "load aw", 0, REG(DI), XMM(3)},
	{"vlddqu (%rdi),%ymm3", {0xc5, 0xff, 0xf0, 0x1f}, 4, "load aw", 0, REG(DI), XMM(3)},
	{"movbe (%rdi),%eax", {0x0f, 0x38, 0xf0, 0x07}, 4, "load aw", 0, REG(DI), REG(AX)},
	{"movbe %eax,(%rdi)", {0x0f, 0x38, 0xf1, 0x07}, 4, "store raw", REG(AX), REG(DI), 0},
	{"stosb", {0xaa}, 1, "store raw", REG(AX) | REG(DI) | REG(FLAGS), REG(DI), REG(DI)},
	{"stosw", {0x66, 0xab}, 2, "store raw", REG(AX) | REG(DI) | REG(FLAGS), REG(DI), REG(DI)},
	{"stosl", {0xab}, 1, "store raw", REG(AX) | REG(DI) | REG(FLAGS), REG(DI), REG(DI)},
	{"stosq", {0x48, 0xab}, 2, "store raw", REG(AX) | REG(DI) | REG(FLAGS), REG(DI), REG(DI)},
	{"lodsb",
	 {0xac},
	 1,
	 "load raw",
	 REG(AX) | REG(SI) | REG(FLAGS),
	 REG(SI),
	 REG(AX) | REG(SI)},
	{"lodsw",
	 {0x66, 0xad},
	 2,
	 "load raw",
	 REG(AX) | REG(SI) | REG(FLAGS),
	 REG(SI),
	 REG(AX) | REG(SI)},
	{"lodsl", {0xad}, 1, "load raw", REG(SI) | REG(FLAGS), REG(SI), REG(AX) | REG(SI)},
	{"lodsq", {0x48, 0xad}, 2, "load raw", REG(SI) | REG(FLAGS), REG(SI), REG(AX) | REG(SI)},
	{"movsb",
	 {0xa4},
	 1,
	 "load a, store apw",
	 REG(SI) | REG(DI) | REG(FLAGS),
	 REG(SI) | REG(DI),
	 REG(SI) | REG(DI)},
	{"movsw",
	 {0x66, 0xa5},
	 2,
	 "load a, store apw",
	 REG(SI) | REG(DI) | REG(FLAGS),
	 REG(SI) | REG(DI),
	 REG(SI) | REG(DI)},
	{"movsl",
	 {0xa5},
	 1,
	 "load a, store apw",
	 REG(SI) | REG(DI) | REG(FLAGS),
	 REG(SI) | REG(DI),
	 REG(SI) | REG(DI)},
	{"movsq",
	 {0x48, 0xa5},
	 2,
	 "load a, store apw",
	 REG(SI) | REG(DI) | REG(FLAGS),
	 REG(SI) | REG(DI),
	 REG(SI) | REG(DI)},
	{"rep movsb",
	 {0xf3, 0xa4},
	 2,
	 "load a, int rpw, store ap",
	 REG(CX) | REG(FLAGS),
	 REG(SI) | REG(DI),
	 REG(SI) | REG(DI) | REG(CX)},
	{"cmpsb",
	 {0xa6},
	 1,
	 "load a, int rpw",
	 REG(FLAGS),
	 REG(SI) | REG(DI),
	 REG(SI) | REG(DI) | REG(FLAGS)},
	{"vbroadcastss (%rdi),%ymm3",
	 {0xc4, 0xe2, 0x7d, 0x18, 0x1f},
	 5,
	 "load aw",
	 0,
	 REG(DI),
	 XMM(3)},
	{"vpbroadcastd (%rdi),%ymm3",
	 {0xc4, 0xe2, 0x7d, 0x58, 0x1f},
	 5,
	 "load aw",
	 0,
	 REG(DI),
	 XMM(3)},
	{"flds (%rdi)", {0xd9, 0x07}, 2, "load aw", 0, REG(DI), 0},
	{"fsts (%rdi)", {0xd9, 0x17}, 2, "store raw", 0, REG(DI), 0},
	{"fstps (%rdi)", {0xd9, 0x1f}, 2, "store raw", 0, REG(DI), 0},
	{"fadds (%rdi)", {0xd8, 0x07}, 2, "load a, fadd rpw", 0, REG(DI), 0},
	{"filds (%rdi)", {0xdf, 0x07}, 2, "load a, fadd rpw", 0, REG(DI), 0},
	{"fistps (%rdi)", {0xdf, 0x1f}, 2, "fadd rw, store ap", 0, REG(DI), 0},
	{"pushq (%rdi)", {0xff, 0x37}, 2, "load a, store apw", 0, REG(DI) | REG(SP), 0},
	{"popq (%rdi)", {0x8f, 0x07}, 2, "load a, store apw", 0, REG(DI) | REG(SP), 0},
	{"push $1", {0x6a, 0x01}, 2, "store raw", 0, REG(SP), 0},
	{"push %rsp", {0x54}, 1, "store raw", REG(SP), REG(SP), 0},
	{"pop %rcx", {0x59}, 1, "load aw", 0, REG(SP), REG(CX)},
	{"pop %cx", {0x66, 0x59}, 2, "load raw", REG(CX), REG(SP), REG(CX)},
	{"movl $1,(%rdi)", {0xc7, 0x07, 0x01, 0x00, 0x00, 0x00}, 6, "store raw", 0, REG(DI), 0},
	{"mov %ah,(%rdi)", {0x88, 0x27}, 2, "store raw", REG(AX), REG(DI), 0},
	{"mov (%rdi,%rsi,2),%cl",
	 {0x8a, 0x0c, 0x77},
	 3,
	 "load raw",
	 REG(CX),
	 REG(DI) | REG(SI),
	 REG(CX)},
	{"movzbl (%rdi),%eax", {0x0f, 0xb6, 0x07}, 3, "load aw", 0, REG(DI), REG(AX)},
	{"xchg %eax,(%rdi)",
	 {0x87, 0x07},
	 2,
	 "load a, sync rpw, store ap",
	 REG(AX),
	 REG(DI),
	 REG(AX)},
	{"notl (%rdi)", {0xf7, 0x17}, 2, "load a, int rpw, store ap", 0, REG(DI), 0},
	{"setl (%rdi)", {0x0f, 0x9c, 0x07}, 3, "int rw, store ap", REG(FLAGS), REG(DI), 0},
	{"pextrd $1,%xmm3,(%rdi)",
	 {0x66, 0x0f, 0x3a, 0x16, 0x1f, 0x01},
	 6,
	 "shuffle rw, store ap",
	 XMM(3),
	 REG(DI),
	 0},
	{"cmp %eax,(%rdi)", {0x39, 0x07}, 2, "load a, int rpw", REG(AX), REG(DI), REG(FLAGS)},
	{"call *%rax", {0xff, 0xd0}, 2, "store a, branch rw", REG(AX), REG(SP), 0},
	{"nopl (%rdi)", {0x0f, 0x1f, 0x07}, 3, "nop", 0, 0, 0},
	{"vzeroupper", {0xc5, 0xf8, 0x77}, 3, "nop", 0, 0, 0},
	{"cvtsi2sd %eax,%xmm3",
	 {0xf2, 0x0f, 0x2a, 0xd8},
	 4,
	 "fadd rw",
	 REG(AX) | XMM(3),
	 0,
	 XMM(3)},
	{"cvtss2sd %xmm5,%xmm3",
	 {0xf3, 0x0f, 0x5a, 0xdd},
	 4,
	 "fadd rw",
	 XMM(5) | XMM(3),
	 0,
	 XMM(3)},
	{"cvtsd2ss %xmm5,%xmm3",
	 {0xf2, 0x0f, 0x5a, 0xdd},
	 4,
	 "fadd rw",
	 XMM(5) | XMM(3),
	 0,
	 XMM(3)},
	{"sqrtss %xmm5,%xmm3", {0xf3, 0x0f, 0x51, 0xdd}, 4, "fdiv rw", XMM(5) | XMM(3), 0, XMM(3)},
	{"rcpss %xmm5,%xmm3", {0xf3, 0x0f, 0x53, 0xdd}, 4, "fmul rw", XMM(5) | XMM(3), 0, XMM(3)},
	{"rsqrtss %xmm5,%xmm3", {0xf3, 0x0f, 0x52, 0xdd}, 4, "fmul rw", XMM(5) | XMM(3), 0, XMM(3)},
	{"roundsd $1,%xmm5,%xmm3",
	 {0x66, 0x0f, 0x3a, 0x0b, 0xdd, 0x01},
	 6,
	 "fadd rw",
	 XMM(5) | XMM(3),
	 0,
	 XMM(3)},
	{"sqrtps %xmm5,%xmm3", {0x0f, 0x51, 0xdd}, 3, "fdiv rw", XMM(5), 0, XMM(3)},
	{"rcpps %xmm5,%xmm3", {0x0f, 0x53, 0xdd}, 3, "fmul rw", XMM(5), 0, XMM(3)},
	{"cvtdq2ps %xmm5,%xmm3", {0x0f, 0x5b, 0xdd}, 3, "fadd rw", XMM(5), 0, XMM(3)},
	{"cvttsd2si %xmm5,%eax", {0xf2, 0x0f, 0x2c, 0xc5}, 4, "fadd rw", XMM(5), 0, REG(AX)},
	{"mov %cl,%al", {0x88, 0xc8}, 2, "int rw", REG(AX) | REG(CX), 0, REG(AX)},
	{"mov %cx,%ax", {0x66, 0x89, 0xc8}, 3, "int rw", REG(AX) | REG(CX), 0, REG(AX)},
	{"mov %ecx,%eax", {0x89, 0xc8}, 2, "int rw", REG(CX), 0, REG(AX)},
	{"movzbw %cl,%ax", {0x66, 0x0f, 0xb6, 0xc1}, 4, "int rw", REG(AX) | REG(CX), 0, REG(AX)},
	{"mov %cs,%eax", {0x8c, 0xc8}, 2, "int rw", 0, 0, REG(AX)},
	{"mov %ss,%eax", {0x8c, 0xd0}, 2, "int rw", 0, 0, REG(AX)},
	{"mov %ds,%eax", {0x8c, 0xd8}, 2, "int rw", 0, 0, REG(AX)},
	{"mov %es,%eax", {0x8c, 0xc0}, 2, "int rw", 0, 0, REG(AX)},
	{"mov %fs,%eax", {0x8c, 0xe0}, 2, "int rw", 0, 0, REG(AX)},
	{"mov %gs,%eax", {0x8c, 0xe8}, 2, "int rw", 0, 0, REG(AX)},
	{"lea 8(%rip),%rax",
	 {0x48, 0x8d, 0x05, 0x08, 0x00, 0x00, 0x00},
	 7,
	 "int rw",
	 0,
	 0,
	 REG(AX)},
	{"mov 8(%rip),%rax",
	 {0x48, 0x8b, 0x05, 0x08, 0x00, 0x00, 0x00},
	 7,
	 "load aw",
	 0,
	 0,
	 REG(AX)},
	{"mov %fs:(%rdi),%rax", {0x64, 0x48, 0x8b, 0x07}, 4, "load aw", 0, REG(DI), REG(AX)},
	{"mov %gs:(%rdi),%rax", {0x65, 0x48, 0x8b, 0x07}, 4, "load aw", 0, REG(DI), REG(AX)},
	{"xor %rax,%rax", {0x48, 0x31, 0xc0}, 3, "int rw", 0, 0, REG(AX) | REG(FLAGS)},
	{"xor %ax,%ax", {0x66, 0x31, 0xc0}, 3, "int rw", REG(AX), 0, REG(AX) | REG(FLAGS)},
	{"xor %al,%al", {0x30, 0xc0}, 2, "int rw", REG(AX), 0, REG(AX) | REG(FLAGS)},
	{"xor %eax,%ecx", {0x31, 0xc1}, 2, "int rw", REG(AX) | REG(CX), 0, REG(CX) | REG(FLAGS)},
	{"xor $1,%eax", {0x83, 0xf0, 0x01}, 3, "int rw", REG(AX), 0, REG(AX) | REG(FLAGS)},
	{"xor (%rdi),%eax",
	 {0x33, 0x07},
	 2,
	 "load a, int rpw",
	 REG(AX),
	 REG(DI),
	 REG(AX) | REG(FLAGS)},
	{"sub %ecx,%ecx", {0x29, 0xc9}, 2, "int rw", 0, 0, REG(CX) | REG(FLAGS)},
	{"sbb %ecx,%ecx", {0x19, 0xc9}, 2, "int rw", REG(CX) | REG(FLAGS), 0, REG(CX) | REG(FLAGS)},
	{"cmp %ecx,%ecx", {0x39, 0xc9}, 2, "int rw", REG(CX), 0, REG(FLAGS)},
	{"vpxor %xmm3,%xmm3,%xmm5", {0xc5, 0xe1, 0xef, 0xeb}, 4, "vint rw", 0, 0, XMM(5)},
	{"vpxor %ymm3,%ymm5,%ymm5",
	 {0xc5, 0xd5, 0xef, 0xeb},
	 4,
	 "vint rw",
	 XMM(3) | XMM(5),
	 0,
	 XMM(5)},
	{"vpxor (%rdi),%ymm5,%ymm5",
	 {0xc5, 0xd5, 0xef, 0x2f},
	 4,
	 "load a, vint rpw",
	 XMM(5),
	 REG(DI),
	 XMM(5)},
	{"xorps %xmm3,%xmm3", {0x0f, 0x57, 0xdb}, 3, "vint rw", 0, 0, XMM(3)},
	{"vxorpd %ymm3,%ymm3,%ymm3", {0xc5, 0xe5, 0x57, 0xdb}, 4, "vint rw", 0, 0, XMM(3)},
	{"psubb %xmm3,%xmm3", {0x66, 0x0f, 0xf8, 0xdb}, 4, "vint rw", 0, 0, XMM(3)},
	{"psubw %xmm3,%xmm3", {0x66, 0x0f, 0xf9, 0xdb}, 4, "vint rw", 0, 0, XMM(3)},
	{"psubd %xmm3,%xmm3", {0x66, 0x0f, 0xfa, 0xdb}, 4, "vint rw", 0, 0, XMM(3)},
	{"psubq %xmm3,%xmm3", {0x66, 0x0f, 0xfb, 0xdb}, 4, "vint rw", 0, 0, XMM(3)},
	{"vpxord %zmm3,%zmm3,%zmm5",
	 {0x62, 0xf1, 0x65, 0x48, 0xef, 0xeb},
	 6,
	 "vint rw",
	 0,
	 0,
	 XMM(5)},
	{"vpxord %zmm3,%zmm3,%zmm5{%k1}",
	 {0x62, 0xf1, 0x65, 0x49, 0xef, 0xeb},
	 6,
	 "vint rw",
	 XMM(3) | XMM(5),
	 0,
	 XMM(5)},
	{"vpxorq %zmm3,%zmm3,%zmm5",
	 {0x62, 0xf1, 0xe5, 0x48, 0xef, 0xeb},
	 6,
	 "vint rw",
	 0,
	 0,
	 XMM(5)},
	{"pcmpgtb %xmm3,%xmm3", {0x66, 0x0f, 0x64, 0xdb}, 4, "vint rw", 0, 0, XMM(3)},
	{"pcmpgtw %xmm3,%xmm3", {0x66, 0x0f, 0x65, 0xdb}, 4, "vint rw", 0, 0, XMM(3)},
	{"pcmpgtd %xmm3,%xmm3", {0x66, 0x0f, 0x66, 0xdb}, 4, "vint rw", 0, 0, XMM(3)},
	{"add $8,%rsp", {0x48, 0x83, 0xc4, 0x08}, 4, "int rw", REG(SP), 0, REG(SP) | REG(FLAGS)},
	{"mov %rax,%rsp", {0x48, 0x89, 0xc4}, 3, "int rw", REG(AX), 0, REG(SP)},
	{"mov %rsp,%rax", {0x48, 0x89, 0xe0}, 3, "int rw", REG(SP), 0, REG(AX)},
	/* Flags remain where a number to shift by is 0, but the result does not depend on them. */
	{"shl %cl,%eax", {0xd3, 0xe0}, 2, "shift rw", REG(AX) | REG(CX), 0, REG(AX) | REG(FLAGS)},
	{"shr %cl,%eax", {0xd3, 0xe8}, 2, "shift rw", REG(AX) | REG(CX), 0, REG(AX) | REG(FLAGS)},
	{"sar %cl,%eax", {0xd3, 0xf8}, 2, "shift rw", REG(AX) | REG(CX), 0, REG(AX) | REG(FLAGS)},
	{"rol %cl,%eax", {0xd3, 0xc0}, 2, "shift rw", REG(AX) | REG(CX), 0, REG(AX) | REG(FLAGS)},
	{"ror %cl,%eax", {0xd3, 0xc8}, 2, "shift rw", REG(AX) | REG(CX), 0, REG(AX) | REG(FLAGS)},
	{"rcl %cl,%eax",
	 {0xd3, 0xd0},
	 2,
	 "shift rw",
	 REG(AX) | REG(CX) | REG(FLAGS),
	 0,
	 REG(AX) | REG(FLAGS)},
	{"shld %cl,%edx,%eax",
	 {0x0f, 0xa5, 0xd0},
	 3,
	 "shift rw",
	 REG(AX) | REG(CX) | REG(DX),
	 0,
	 REG(AX) | REG(FLAGS)},
	{"pandn %xmm3,%xmm3", {0x66, 0x0f, 0xdf, 0xdb}, 4, "vint rw", XMM(3), 0, XMM(3)},
};
/* clang-format on */

static void describe(const struct vt_mop *op, char *text, size_t size)
{
	size_t n = 0;
	unsigned i;

	*text = 0;
	for (i = 0; i < op->nuops; i++) {
		const unsigned o = op->uops[i].operands;

		n += (size_t)snprintf(text + n, size - n, "%s%s%s%s%s%s%s", i ? ", " : "",
				      vt_op_class_name(op->uops[i].op_class), o ? " " : "",
				      o & VT_UOP_READS ? "r" : "", o & VT_UOP_ADDRESS ? "a" : "",
				      o & VT_UOP_PREVIOUS ? "p" : "", o & VT_UOP_WRITES ? "w" : "");
	}
}

static void instructions_become_operations(void **state)
{
	const struct vt_core m = make_core(VT_IN_ORDER, NULL);
	struct vt_mop op;
	char text[200];
	size_t i;
	unsigned k;

	(void)state;
	for (i = 0; i < sizeof(needs) / sizeof(*needs); i++) {
		const struct need *w = &needs[i];

		assert_true(vt_core_op(&m, w->code, w->size, &op));
		assert_int_equal(op.length, w->size);
		describe(&op, text, sizeof(text));
		if (strcmp(text, w->uops) != 0)
			fail_msg("%s: %s", w->text, text);
		if (op.reads != w->reads || op.address_reads != w->address_reads ||
		    op.writes != w->writes)
			fail_msg("%s: %jx %jx %jx", w->text, (uintmax_t)op.reads,
				 (uintmax_t)op.address_reads, (uintmax_t)op.writes);
		assert_true(op.estimated);
		assert_int_equal(op.slots, op.nuops);
		for (k = 0; k < op.nuops; k++) {
			const struct vt_uop *u = &op.uops[k];
			const unsigned c = u->op_class;

			assert_int_equal(u->latency, c == VT_OP_NOP ? 0 : 20 + c);
			assert_int_equal(u->busy, c == VT_OP_NOP ? 0 : 10 + c);
			assert_int_equal(u->units, c == VT_OP_NOP ? 0 : c % 2 ? 1 : 3);
		}
	}
}

/* An operation all the same, which takes a slot and needs nothing. */
static void what_cannot_be_decoded_is_one_operation(void **state)
{
	static const struct vt_uop nothing = {.op_class = VT_OP_NOP};
	const struct vt_core m = make_core(VT_IN_ORDER, NULL);
	struct vt_mop op;

	(void)state;
	assert_false(vt_core_op(&m, (const uint8_t *)"\x06", 1, &op));
	assert_int_equal(op.nuops, 1);
	assert_int_equal(op.slots, 1);
	assert_int_equal(op.length, 0);
	assert_int_equal(op.flags, 0);
	assert_true(op.estimated);
	assert_int_equal(op.reads | op.address_reads | op.writes, 0);
	assert_memory_equal(&op.uops[0], &nothing, sizeof(nothing));
}

/* ---- by a table ---- */

#define PLAIN_LOAD "load r\t4\t0\t-\n"

static struct vt_mop look_up(const char *rows, enum vt_order order, const uint8_t *code,
			     size_t size)
{
	const struct vti_text table = {"made up", rows, strlen(rows)};
	const struct vt_core m = make_core(order, &table);
	struct vt_mop op;

	assert_true(vt_core_op(&m, code, size, &op));
	return op;
}

#define LOOK_UP(rows, order, ...)                                                                  \
	look_up(rows, order, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))
#define IN(rows, ...)  LOOK_UP(rows, VT_IN_ORDER, __VA_ARGS__)
#define OUT(rows, ...) LOOK_UP(rows, VT_OUT_OF_ORDER, __VA_ARGS__)

#define ADD	   0x01, 0xc8	    /* add %ecx,%eax */
#define DIV	   0xf7, 0xf1	    /* div %ecx */
#define SETL_STORE 0x0f, 0x9c, 0x07 /* setl (%rdi) */
#define ADD_STORE  0x01, 0x07	    /* add %eax,(%rdi) */
#define STORE	   0x89, 0x07	    /* mov %eax,(%rdi) */
#define LOAD	   0x8b, 0x07	    /* mov (%rdi),%eax */
#define JNE	   0x75, 0x00
#define CALL	   0xe8, 0, 0, 0, 0
#define JMP_REG	   0xff, 0xe0
#define RET	   0xc3
#define CPUID	   0x0f, 0xa2

static void rows_say_more_than_classes(void **state)
{
	struct vt_mop op = IN("add r32,r32\t7\t1\t3*p1/p2\n", ADD);

	(void)state;
	assert_false(op.estimated);
	assert_int_equal(op.nuops, 1);
	assert_int_equal(op.uops[0].latency, 7);
	assert_int_equal(op.uops[0].units, 6);
	assert_int_equal(op.uops[0].busy, 3);
	op = IN("add r32,r32\t7\t0\t-\n", ADD);
	assert_false(op.estimated);
	assert_int_equal(op.uops[0].latency, 7);
	assert_int_equal(op.uops[0].units, 0);
	assert_int_equal(op.uops[0].busy, 0);
	/* No row, and what rows do not tell. */
	op = IN("sub r32,r32\t7\t1\tp1\n", ADD);
	assert_true(op.estimated);
	assert_int_equal(op.uops[0].latency, 20 + VT_OP_INT);
	op = IN("cpuid\t7\t1\tp1\n", CPUID);
	assert_true(op.estimated);
	assert_int_equal(op.uops[0].latency, 20 + VT_OP_SLOW);
	op = IN("mfence\t7\t1\tp1\n", 0x0f, 0xae, 0xf0);
	assert_true(op.estimated);
	assert_int_equal(op.uops[0].latency, 20 + VT_OP_SYNC);
	/* A jump has a port, whether the row tells or not. */
	op = IN("jnz i\t7\t1\t-\n", JNE);
	assert_false(op.estimated);
	assert_int_equal(op.uops[0].latency, 7);
	assert_int_equal(op.uops[0].units, VT_OP_BRANCH % 2 ? 1 : 3);
	assert_int_equal(op.uops[0].busy, 10 + VT_OP_BRANCH);
	op = IN("jnz i\t7\t1\t2*p2\n", JNE);
	assert_int_equal(op.uops[0].units, 4);
	assert_int_equal(op.uops[0].busy, 2);
	/* Calls, returns and jumps through registers are as any other branch. */
	op = IN("call i\t7\t1\tp2\n", CALL);
	assert_false(op.estimated);
	assert_int_equal(op.uops[1].latency, 20 + VT_OP_BRANCH);
	op = IN("ret\t7\t1\tp2\n", RET);
	assert_false(op.estimated);
	assert_int_equal(op.uops[1].latency, 20 + VT_OP_BRANCH);
	op = IN("jmp r64\t7\t1\tp2\n", JMP_REG);
	assert_false(op.estimated);
	assert_int_equal(op.uops[0].latency, 20 + VT_OP_BRANCH);
	/* Nothing but a load or a store: its class tells all there is, for whoever has a table. */
	assert_false(IN(PLAIN_LOAD, LOAD).estimated);
	assert_false(IN(PLAIN_LOAD, STORE).estimated);
}

/* Divisions of each size have rows of their own, which tell the least. */
static void divisions_are_as_their_rows(void **state)
{
	struct vt_mop op = IN("div r32\t25\t1\t15*p0\n", DIV);

	(void)state;
	assert_int_equal(op.uops[0].op_class, VT_OP_DIVIDE);
	assert_int_equal(op.uops[0].latency, 25);
	assert_int_equal(op.uops[0].busy, 15);
}

/* All but the first set stand before the rest, as far as there is room, the last one first. */
static void other_sets_stand_in_front(void **state)
{
	struct vt_mop op = IN("add r32,r32\t5\t3\t2*p0 3*p1 4*p2\n", ADD);
	unsigned i;

	(void)state;
	assert_int_equal(op.nuops, 3);
	assert_int_equal(op.slots, 3);
	for (i = 0; i < 3; i++) {
		assert_int_equal(op.uops[i].op_class, VT_OP_INT);
		assert_int_equal(op.uops[i].units, 4 >> i);
		assert_int_equal(op.uops[i].busy, 4 - i);
		assert_int_equal(op.uops[i].latency, i == 2 ? 5 : 1);
		assert_int_equal(op.uops[i].operands, VT_UOP_READS | (i == 2 ? VT_UOP_WRITES : 0u));
	}
	op = IN("add r32,r32\t5\t6\tp0 p1 p2 p0 p1 p2\n", ADD);
	assert_int_equal(op.nuops, VT_MOP_UOPS);
	assert_int_equal(op.uops[VT_MOP_UOPS - 1].latency, 5);
	/* A load, an addition and a store leave room for one. */
	op = IN(PLAIN_LOAD "add r32,r32\t5\t3\tp0 p1 p2\n", ADD_STORE);
	assert_int_equal(op.nuops, 4);
	assert_int_equal(op.uops[0].units, 2);
	assert_int_equal(op.uops[1].op_class, VT_OP_LOAD);
	assert_int_equal(op.uops[2].latency, 5);
	assert_int_equal(op.uops[3].op_class, VT_OP_STORE);
}

/* Loads of other registers differ from those of general ones as their rows do. */
static void loads_follow_their_rows(void **state)
{
	static const char all[] =
		"load r\t4\t0\t-\nload st\t9\t0\t-\nload x\t6\t0\t-\nload y\t7\t0\t-\n"
		"load z\t8\t0\t-\n";
	static const char less[] = "load r\t4\t0\t-\nload x\t3\t0\t-\nload y\t4\t0\t-\n";
	static const char no_general[] = "load x\t6\t0\t-\n";
	const unsigned latency = 20 + VT_OP_LOAD;

	(void)state;
	assert_int_equal(IN(all, LOAD).uops[0].latency, latency);
	/* flds, movd, movups, and vmovups of 32 and 64 bytes */
	assert_int_equal(IN(all, 0xd9, 0x07).uops[0].latency, latency + 5);
	assert_int_equal(IN(all, 0x66, 0x0f, 0x6e, 0x07).uops[0].latency, latency + 2);
	assert_int_equal(IN(all, 0x0f, 0x10, 0x07).uops[0].latency, latency + 2);
	assert_int_equal(IN(all, 0xc5, 0xfc, 0x10, 0x07).uops[0].latency, latency + 3);
	assert_int_equal(IN(all, 0x62, 0xf1, 0x7c, 0x48, 0x10, 0x07).uops[0].latency, latency + 4);
	assert_int_equal(IN(less, 0x0f, 0x10, 0x07).uops[0].latency, latency);
	assert_int_equal(IN(less, 0xc5, 0xfc, 0x10, 0x07).uops[0].latency, latency);
	assert_int_equal(IN(less, 0xd9, 0x07).uops[0].latency, latency);
	assert_int_equal(IN(no_general, 0x0f, 0x10, 0x07).uops[0].latency, latency);
}

/* In the reorder buffer, fused operations stand once, and stores by themselves. */
static void slots_are_of_the_reorder_buffer(void **state)
{
	const struct vt_core m = make_core(VT_OUT_OF_ORDER, NULL);
	struct vt_mop op;

	(void)state;
	assert_int_equal(OUT(PLAIN_LOAD, LOAD).slots, 1);
	assert_int_equal(OUT(PLAIN_LOAD, STORE).slots, 1);
	assert_int_equal(OUT(PLAIN_LOAD, 0x90).slots, 1);
	assert_int_equal(OUT(PLAIN_LOAD, CALL).slots, 2);
	assert_int_equal(OUT(PLAIN_LOAD, RET).slots, 1);
	assert_int_equal(OUT("add r32,r32\t1\t1\tp0\n", ADD).slots, 1);
	assert_int_equal(OUT("add r32,r32\t1\t3\tp0\n", ADD).slots, 3);
	assert_int_equal(OUT("add r32,r32\t1\t0\t-\n", ADD).slots, 1);
	assert_int_equal(OUT("add r32,r32\t1\t1\tp0\n", ADD_STORE).slots, 2);
	assert_int_equal(OUT("add r32,r32\t1\t0\t-\n", ADD_STORE).slots, 2);
	assert_int_equal(OUT("setl r8\t1\t0\t-\n", SETL_STORE).slots, 2);
	assert_int_equal(OUT("add r32,r32\t1\t200\tp0\n", ADD_STORE).slots, 201);
	assert_int_equal(OUT("add r32,r32\t1\t201\tp0\n", ADD_STORE).slots, 201);
	assert_int_equal(OUT("add r32,r32\t1\t60000\tp0\n", ADD).slots, 200);
	assert_int_equal(IN("add r32,r32\t1\t9\tp0\n", ADD_STORE).slots, 3);
	assert_true(vt_core_op(&m, (const uint8_t[]){ADD_STORE}, 2, &op));
	assert_int_equal(op.slots, 3);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_become_operations),
		cmocka_unit_test(what_cannot_be_decoded_is_one_operation),
		cmocka_unit_test(rows_say_more_than_classes),
		cmocka_unit_test(divisions_are_as_their_rows),
		cmocka_unit_test(other_sets_stand_in_front),
		cmocka_unit_test(loads_follow_their_rows),
		cmocka_unit_test(slots_are_of_the_reorder_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
