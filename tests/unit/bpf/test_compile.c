/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The operations that code is compiled to, run as the program in the kernel runs them, against the
 * processor: what the walk says it knows must be what the code leaves in registers.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <Zydis/Zydis.h>

#include "base/rng.h"
#include "cmd/bpf/compile.h"
#include "cmd/walker/walk.h"
#include "tests/unit/machine/insn/nativerun.h"

#define CODE_SIZE NATIVE_CODE
#define STACK	  768 /* where the stack begins in the data, and what is below it */

static struct bpf_compiler compiler;
static struct native native;

/* ---- the walk's surroundings ---- */

/* What is in data or code, whole lines of which are read. */
static uint8_t *find_memory(uint64_t addr, size_t size)
{
	if (addr >= native.data_addr && addr + size <= native.data_addr + NATIVE_DATA)
		return native.data + (addr - native.data_addr);
	if (addr >= native.code_addr && addr + size <= native.code_addr + 2 * CODE_SIZE)
		return native.code + (addr - native.code_addr);
	return NULL;
}

static bool walk_read(__u64 addr, void *bytes, __u32 size)
{
	const uint8_t *from = find_memory(addr, size);

	if (from)
		memcpy(bytes, from, size);
	return from != NULL;
}

static bool walk_find(const struct bpf_walk_at *at, __u32 *op)
{
	const struct bpf_code_entry *e = vt_hash_find(&compiler.codes, at);

	if (e)
		*op = e->op;
	return e != NULL;
}

static const struct bpf_walk_op *walk_op(__u32 index)
{
	assert_true(index < compiler.used);
	return &compiler.pool[index];
}

#include "cmd/bpf/step.h"

static struct walk_state walk;

static size_t fetch_code(void *arg, uint64_t space, uint64_t pc, uint8_t bytes[BPF_CODE_MAX])
{
	(void)arg;
	(void)space;
	return walk_read(pc, bytes, BPF_CODE_MAX) ? BPF_CODE_MAX : 0;
}

static int set_up(void **state)
{
	struct bpf_walk_op *pool = malloc(sizeof(*pool) * BPF_WALK_POOL);
	struct vt_error err = VT_ERROR_INIT;

	(void)state;
	assert_non_null(pool);
	assert_true(native_open(&native));
	return bpf_compiler_init(&compiler, pool, fetch_code, NULL, &err);
}

static int tear_down(void **state)
{
	(void)state;
	free(compiler.pool);
	bpf_compiler_fini(&compiler);
	native_close(&native);
	return 0;
}

/* Walks from the start of the code. */
static void run_walk(const struct native_state *in, uint32_t limit)
{
	struct bpf_walk_at at = {1, native.code_addr};
	struct vt_error err = VT_ERROR_INIT;
	uint32_t i;

	bpf_compiler_clear(&compiler);
	assert_int_equal(bpf_compile(&compiler, 1, at.pc, 64, &err), 0);
	memset(&walk, 0, sizeof(walk));
	memcpy(walk.reg, in->gpr, sizeof(in->gpr));
	walk.known = (1u << BPF_WALK_TEMP) - 1;
	walk.flags_kind = WALK_FLAGS_RAW;
	walk.flags_a = in->flags;
	walk.limit = limit;
	walk.out.space = 1;
	assert_true(walk_find(&at, &walk.op));
	for (i = 0; i < limit * 32 && walk_step(&walk); i++)
		;
	assert_true(i < limit * 32);
}

/* ---- made code ---- */

static struct vt_rng rng;

/* DI is the base of the data and SI an index; both stay. */
#define DI 7
#define SI 6

static ZyanU64 any(uint64_t n)
{
	return vt_rng_below(&rng, n);
}

static ZydisRegister any_register(unsigned size)
{
	static const ZydisRegister first[] = {ZYDIS_REGISTER_R8, ZYDIS_REGISTER_R8D,
					      ZYDIS_REGISTER_R8W, ZYDIS_REGISTER_R8B};
	static const ZydisRegister low[] = {ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_EAX,
					    ZYDIS_REGISTER_AX, ZYDIS_REGISTER_AL};
	unsigned which = size == 8 ? 0 : size == 4 ? 1 : size == 2 ? 2 : 3;

	if (size == 1 && any(6) == 0)
		return ZYDIS_REGISTER_AH + (ZydisRegister)any(4);
	return any(2) ? first[which] + (ZydisRegister)any(8) : low[which] + (ZydisRegister)any(4);
}

static ZydisEncoderOperand any_operand(unsigned size, bool memory)
{
	ZydisEncoderOperand o = {.type = ZYDIS_OPERAND_TYPE_REGISTER};

	if (!memory) {
		o.reg.value = any_register(size);
		return o;
	}
	o.type = ZYDIS_OPERAND_TYPE_MEMORY;
	o.mem.base = ZYDIS_REGISTER_RDI;
	o.mem.index = any(2) ? ZYDIS_REGISTER_RSI : ZYDIS_REGISTER_NONE;
	o.mem.scale = o.mem.index ? (ZyanU8)(1 << any(4)) : 0;
	o.mem.displacement = (ZyanI64)any(140);
	o.mem.size = (ZyanU16)size;
	return o;
}

static const ZydisMnemonic two[] = {
	ZYDIS_MNEMONIC_MOV,  ZYDIS_MNEMONIC_ADD, ZYDIS_MNEMONIC_SUB,	ZYDIS_MNEMONIC_AND,
	ZYDIS_MNEMONIC_OR,   ZYDIS_MNEMONIC_XOR, ZYDIS_MNEMONIC_CMP,	ZYDIS_MNEMONIC_TEST,
	ZYDIS_MNEMONIC_ADC,  ZYDIS_MNEMONIC_SBB, ZYDIS_MNEMONIC_XCHG,	ZYDIS_MNEMONIC_XADD,
	ZYDIS_MNEMONIC_IMUL, ZYDIS_MNEMONIC_LEA, ZYDIS_MNEMONIC_CMPXCHG};
static const ZydisMnemonic widen[] = {ZYDIS_MNEMONIC_MOVZX, ZYDIS_MNEMONIC_MOVSX,
				      ZYDIS_MNEMONIC_MOVSXD};
static const ZydisMnemonic one[] = {
	ZYDIS_MNEMONIC_INC,   ZYDIS_MNEMONIC_DEC,  ZYDIS_MNEMONIC_NEG,	  ZYDIS_MNEMONIC_NOT,
	ZYDIS_MNEMONIC_SETB,  ZYDIS_MNEMONIC_SETZ, ZYDIS_MNEMONIC_SETL,	  ZYDIS_MNEMONIC_SETBE,
	ZYDIS_MNEMONIC_SETO,  ZYDIS_MNEMONIC_SETS, ZYDIS_MNEMONIC_SETNLE, ZYDIS_MNEMONIC_SETP,
	ZYDIS_MNEMONIC_BSWAP, ZYDIS_MNEMONIC_MUL};
static const ZydisMnemonic shifts[] = {ZYDIS_MNEMONIC_SHL, ZYDIS_MNEMONIC_SHR, ZYDIS_MNEMONIC_SAR,
				       ZYDIS_MNEMONIC_ROL};
static const ZydisMnemonic moves[] = {ZYDIS_MNEMONIC_CMOVB,  ZYDIS_MNEMONIC_CMOVZ,
				      ZYDIS_MNEMONIC_CMOVL,  ZYDIS_MNEMONIC_CMOVNBE,
				      ZYDIS_MNEMONIC_CMOVNS, ZYDIS_MNEMONIC_CMOVNLE};
static const ZydisMnemonic none[] = {ZYDIS_MNEMONIC_CBW, ZYDIS_MNEMONIC_CWDE, ZYDIS_MNEMONIC_CDQE,
				     ZYDIS_MNEMONIC_CDQ, ZYDIS_MNEMONIC_CQO};

#define ANY_OF(list) (list)[any(sizeof(list) / sizeof((list)[0]))]

static void make_request(ZydisEncoderRequest *r)
{
	unsigned size = 1u << any(4);
	bool memory = any(3) == 0;
	unsigned which = (unsigned)any(10);

	memset(r, 0, sizeof(*r));
	r->machine_mode = ZYDIS_MACHINE_MODE_LONG_64;
	r->operand_count = 2;
	r->operands[0] = any_operand(size, memory);
	r->operands[1] = any_operand(size, !memory && any(3) == 0);
	if (which < 5) {
		r->mnemonic = ANY_OF(two);
		if (any(3) == 0)
			r->operands[1] = (ZydisEncoderOperand){.type = ZYDIS_OPERAND_TYPE_IMMEDIATE,
							       .imm.s = (ZyanI64)any(256) - 128};
	} else if (which == 5) {
		r->mnemonic = ANY_OF(widen);
		r->operands[0] = any_operand(4u << any(2), false);
		r->operands[1] = any_operand(1u << any(3), memory);
	} else if (which == 6) {
		r->mnemonic = ANY_OF(one);
		r->operand_count = 1;
	} else if (which == 7) {
		r->mnemonic = ANY_OF(shifts);
		r->operands[1] = (ZydisEncoderOperand){.type = ZYDIS_OPERAND_TYPE_IMMEDIATE,
						       .imm.u = 1 + any(7)};
	} else if (which == 8) {
		r->mnemonic = ANY_OF(moves);
	} else {
		r->mnemonic = ANY_OF(none);
		r->operand_count = 0;
	}
}

/* Makes straight code of some instructions: its size. */
static size_t make_code(uint32_t insns)
{
	ZydisEncoderRequest r;
	size_t at = 0;
	ZyanUSize size;

	while (insns) {
		make_request(&r);
		size = CODE_SIZE - at;
		if (!ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(&r, native.code + at, &size)))
			continue;
		at += size;
		insns--;
	}
	return at;
}

static void make_state(struct native_state *in)
{
	size_t i;

	memset(in, 0, sizeof(*in));
	in->mxcsr = 0x1f80;
	for (i = 0; i < 16; i++)
		in->gpr[i] = any(3) ? vt_rng_next(&rng) : any(5);
	in->gpr[SI] = any(40);
	in->gpr[DI] = native.data_addr;
	in->gpr[BPF_WALK_SP] = native.data_addr + STACK;
	in->flags = 0x202 | (any(2) ? 0x8d5 & vt_rng_next(&rng) : 0);
	for (i = 0; i < NATIVE_DATA; i++)
		native.data[i] = (uint8_t)(any(3) ? vt_rng_next(&rng) : 0);
}

/* The bytes of data that the walk knows are those that the processor has left; how many. */
static uint64_t check_data(void)
{
	uint64_t checked = 0, offset;
	uint32_t i, at;

	for (i = 0; i < walk.out.nlines; i++) {
		offset = walk.out.line[i].addr - native.data_addr;
		for (at = 0; at < BPF_WALK_LINE && offset < NATIVE_DATA; at++) {
			if (!(walk.memory[i].known >> at & 1))
				continue;
			assert_int_equal(walk.memory[i].bytes[at], native.data[offset + at]);
			checked++;
		}
	}
	return checked;
}

#define RUNS  4000
#define INSNS 12

static void test_against_processor(void **state)
{
	uint64_t known = 0, all = 0, bytes = 0;
	struct native_result out;
	struct native_state in;
	uint32_t run, i;
	size_t size;

	(void)state;
	vt_rng_init(&rng, 1);
	for (run = 0; run < RUNS; run++) {
		size = make_code(INSNS);
		make_state(&in);
		run_walk(&in, INSNS);
		assert_int_equal(walk.out.walked, INSNS);
		assert_int_equal(walk.out.stop, WALK_LENGTH);
		native_run(&native, size, &in, &out);
		assert_int_equal(out.exit, NATIVE_THROUGH);
		for (i = 0; i < 16; i++) {
			all++;
			if (!walk_known(&walk, i))
				continue;
			known++;
			if (walk.reg[i] != out.state.gpr[i])
				fail_msg("run %u, register %u: %#llx, natively %#llx", run, i,
					 (unsigned long long)walk.reg[i],
					 (unsigned long long)out.state.gpr[i]);
		}
		bytes += check_data();
	}
	/* rol, bswap, mul and parity are not followed. */
	assert_true(known * 100 > all * 80);
	assert_true(known < all);
	assert_true(bytes > RUNS * BPF_WALK_LINE);
}

/* ---- worked examples ---- */

static void put_code(const char *bytes, size_t size)
{
	memset(native.code, 0xcc, CODE_SIZE);
	memcpy(native.code, bytes, size);
	memset(native.data, 0, NATIVE_DATA);
}

static uint64_t sp(void)
{
	return native.data_addr + STACK;
}

enum { DATA_LINES, STACK_LINES, CODE_LINES, NLINES };

/* The lines that the walk has read. */
static void count_lines(uint32_t n[NLINES])
{
	uint32_t i;

	memset(n, 0, NLINES * sizeof(*n));
	for (i = 0; i < walk.out.nlines; i++) {
		uint64_t addr = walk.out.line[i].addr;

		if (walk.out.line[i].read)
			n[addr - native.data_addr < STACK - 64	  ? DATA_LINES
			  : addr - native.data_addr < NATIVE_DATA ? STACK_LINES
								  : CODE_LINES]++;
	}
}

/*
 *	0: mov (%rdi), %rdi	48 8b 3f	a list of three nodes in three lines
 *	3: test %rdi, %rdi	48 85 ff
 *	6: jne 0		75 f8
 *	8: ret			c3
 */
static void test_list(void **state)
{
	struct native_state in = {.gpr = {[DI] = native.data_addr, [BPF_WALK_SP] = sp()}};
	uint64_t next;
	uint32_t n[NLINES];

	(void)state;
	put_code("\x48\x8b\x3f\x48\x85\xff\x75\xf8\xc3", 9);
	next = native.data_addr + 256 + 8;
	memcpy(native.data, &next, 8);
	next = native.data_addr + 512;
	memcpy(native.data + 256 + 8, &next, 8);
	run_walk(&in, 100);
	/* Three rounds of three, and the return to address 0, of which there is no code. */
	assert_int_equal(walk.out.walked, 10);
	assert_int_equal(walk.out.stop, WALK_CODE);
	assert_int_equal(walk.out.missing, 0);
	count_lines(n);
	assert_int_equal(n[DATA_LINES], 3);
	assert_int_equal(n[STACK_LINES], 1);
	assert_int_equal(n[CODE_LINES], 1);
	assert_int_equal(walk.reg[DI], 0);
	assert_int_equal(walk.reg[BPF_WALK_SP], sp() + 8);
}

/*
 *	0: push %rax		50
 *	1: call 8		e8 02 00 00 00
 *	6: pop %rcx		59
 *	7: hlt			f4
 *	8: movb $5, 8(%rsp)	c6 44 24 08 05	changes what was pushed
 *	d: ret			c3
 */
static void test_call(void **state)
{
	struct native_state in = {.gpr = {0x1122334455667788, [BPF_WALK_SP] = sp()}};

	(void)state;
	put_code("\x50\xe8\x02\x00\x00\x00\x59\xf4\xc6\x44\x24\x08\x05\xc3", 14);
	run_walk(&in, 100);
	assert_int_equal(walk.out.walked, 5);
	assert_int_equal(walk.out.stop, WALK_INSN);
	assert_true(walk_known(&walk, 1));
	assert_int_equal(walk.reg[1], 0x1122334455667705);
	assert_int_equal(walk.reg[BPF_WALK_SP], sp());
	/* The walk writes to no memory. */
	assert_int_equal(native.data[STACK - 8], 0);
}

/*
 *	0: movd (%rdi), %xmm0	66 0f 6e 07	what is read is recorded, but not followed
 *	4: movd %xmm0, %eax	66 0f 7e c0
 *	8: test %eax, %eax	85 c0
 *	a: je 0			74 f4
 */
static void test_unknown_branch(void **state)
{
	struct native_state in = {.gpr = {[DI] = native.data_addr}};
	uint32_t n[NLINES];

	(void)state;
	put_code("\x66\x0f\x6e\x07\x66\x0f\x7e\xc0\x85\xc0\x74\xf4", 12);
	run_walk(&in, 100);
	assert_int_equal(walk.out.walked, 4);
	assert_int_equal(walk.out.stop, WALK_BRANCH);
	count_lines(n);
	assert_int_equal(n[DATA_LINES], 1);
	assert_false(walk_known(&walk, 0));
}

/* The mask of the line at `addr`. */
static uint64_t read_of(uint64_t addr)
{
	uint32_t i;

	for (i = 0; i < walk.out.nlines; i++)
		if (walk.out.line[i].addr == addr)
			return walk.out.line[i].read;
	return 0;
}

/* A load over the end of a line has both; one of memory that cannot be read is unknown. */
static void test_lines(void **state)
{
	struct native_state in = {.gpr = {[DI] = native.data_addr + 60}};
	uint32_t n[NLINES];

	(void)state;
	put_code("\x48\x8b\x07\xf4", 4); /* mov (%rdi), %rax; hlt */
	memset(native.data, 0x11, NATIVE_DATA);
	run_walk(&in, 100);
	count_lines(n);
	assert_int_equal(n[DATA_LINES], 2);
	assert_true(walk_known(&walk, 0));
	assert_int_equal(walk.reg[0], 0x1111111111111111);
	assert_int_equal(walk.out.unreadable, 0);
	assert_int_equal(read_of(native.data_addr), UINT64_C(0xf) << 60);
	assert_int_equal(read_of(native.data_addr + 64), 0xf);
	in.gpr[DI] = 4096;
	run_walk(&in, 100);
	assert_false(walk_known(&walk, 0));
	assert_int_equal(walk.out.unreadable, 1);
	assert_int_equal(walk.out.walked, 1);
}

/* Code whose bytes cannot be read has no operations, and a compiler that is full says so. */
static void test_room(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	uint32_t i;

	(void)state;
	bpf_compiler_clear(&compiler);
	assert_int_equal(bpf_compile(&compiler, 1, 4096, 64, &err), 0);
	assert_int_equal(compiler.codes.count, 0);
	assert_int_equal(compiler.used, 0);
	memset(native.code, 0x90, CODE_SIZE);
	for (i = 0; !bpf_compiler_is_full(&compiler); i++)
		assert_int_equal(bpf_compile(&compiler, i, native.code_addr, 64, &err), 0);
	assert_in_range(compiler.codes.count, BPF_WALK_CODES / 2, BPF_WALK_CODES);
	assert_in_range(compiler.used, 1, BPF_WALK_POOL);
	bpf_compiler_clear(&compiler);
	assert_false(bpf_compiler_is_full(&compiler));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_processor),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_call),
		cmocka_unit_test(test_unknown_branch),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_room),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
