/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pieces of paths that are followed: what is inferred from them, what they contradict, and where
 * they end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "machine/interp/interp.h"

#define BASE  0x401000u
#define STACK 0x7fff0000u
#define R10   (VT_REG_R8 + 2)
#define R11   (VT_REG_R8 + 3)
#define ZF    0x40u
#define DF    0x400u

struct fixture {
	uint8_t code[64];
	size_t size;
	struct vt_known_memory *mem;
	struct vt_interp *m;
	struct vt_error err;
	uint32_t loads[4]; /* instructions that loaded */
	unsigned nloads;
	struct {
		uint32_t insn;
		bool call;
		uint64_t ip;
	} transfers[8]; /* of a free run */
	unsigned ntransfers;
};

static size_t fetch(void *arg, uint64_t space, uint64_t addr, uint8_t *bytes, size_t size)
{
	const struct fixture *f = arg;

	assert_true(space == 1 || space == 2);
	if (addr < BASE || addr - BASE >= f->size)
		return 0;
	if (size > f->size - (addr - BASE))
		size = f->size - (addr - BASE);
	memcpy(bytes, f->code + (addr - BASE), size);
	return size;
}

static void on_load(void *arg, uint32_t insn, struct vt_word addr, unsigned size,
		    struct vt_word *words)
{
	struct fixture *f = arg;

	(void)addr;
	(void)size;
	(void)words;
	assert_true(f->nloads < 4);
	f->loads[f->nloads++] = insn;
}

static void on_transfer(void *arg, uint32_t insn, bool call)
{
	struct fixture *f = arg;

	assert_true(f->ntransfers < 8);
	f->transfers[f->ntransfers].insn = insn;
	f->transfers[f->ntransfers].call = call;
	f->transfers[f->ntransfers++].ip = vt_interp_get(f->m, VT_REG_IP, 0).value;
}

static void begin_with(struct fixture *f, const uint8_t *code, size_t size,
		       struct vt_interp_options opt)
{
	memset(f, 0, sizeof(*f));
	opt.fetch = fetch;
	opt.fetch_arg = f;
	opt.hooks.load = on_load;
	opt.hooks.arg = f;
	opt.transfer = on_transfer;
	opt.transfer_arg = f;
	memcpy(f->code, code, size);
	f->size = size;
	f->mem = vt_known_memory_new(NULL, NULL, 1 << 20);
	assert_non_null(f->mem);
	f->m = vt_interp_new(&opt, f->mem, &f->err);
	assert_non_null(f->m);
}

static void begin(struct fixture *f, const uint8_t *code, size_t size, uint32_t capture)
{
	begin_with(f, code, size, (struct vt_interp_options){.capture = capture});
}

static void end(struct fixture *f)
{
	vt_interp_free(f->m);
	vt_known_memory_free(f->mem);
}

#define BEGIN(f, ...)                                                                              \
	begin(f, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), 0)

static enum vt_stop follow(struct fixture *f, uint32_t ninsns, uint64_t next)
{
	return vt_interp_follow(f->m, 1, BASE, ninsns, next, &f->err);
}

static void set(struct fixture *f, unsigned reg, uint64_t value)
{
	vt_interp_set(f->m, reg, 0, vt_word_of(value));
}

static void expect(const struct fixture *f, unsigned reg, uint64_t value)
{
	struct vt_word w = vt_interp_get(f->m, reg, 0);

	assert_true(vt_word_is_known(w));
	assert_int_equal(w.value, value);
}

static void expect_unknown(const struct fixture *f, unsigned reg)
{
	assert_int_equal(vt_interp_get(f->m, reg, 0).known, 0);
}

static void put_memory(struct fixture *f, uint64_t addr, uint64_t value)
{
	struct vt_word w = vt_word_of(value);

	vt_known_memory_store(f->mem, addr, 8, &w);
}

static struct vt_word memory(struct fixture *f, uint64_t addr)
{
	struct vt_word w;

	vt_known_memory_load(f->mem, addr, 8, &w);
	return w;
}

/* cmp $5,%rax; je: which way the path went shows what is in the register, or that it cannot be. */
static void branches_are_inferred_from(void **state)
{
	struct fixture f;
	uint64_t inferred;

	(void)state;
	BEGIN(&f, 0x48, 0x83, 0xf8, 0x05, 0x74, 0x02);
	assert_int_equal(follow(&f, 2, BASE + 8), VT_STOP_LENGTH);
	expect(&f, VT_REG_AX, 5);
	expect(&f, VT_REG_IP, BASE + 8);
	inferred = vt_interp_inferred(f.m);
	assert_true(inferred > 0);
	/* It is known now, and says no. */
	set(&f, VT_REG_BX, 1);
	put_memory(&f, STACK, 1);
	assert_int_equal(follow(&f, 2, BASE + 6), VT_STOP_PATH);
	expect_unknown(&f, VT_REG_AX);
	expect_unknown(&f, VT_REG_BX);
	expect_unknown(&f, VT_REG_IP);
	assert_int_equal(memory(&f, STACK).known, 0);
	/* Nothing follows from the other way, nor from an unknown one. */
	assert_int_equal(follow(&f, 2, BASE + 6), VT_STOP_LENGTH);
	expect_unknown(&f, VT_REG_AX);
	assert_int_equal(follow(&f, 2, 0), VT_STOP_LENGTH);
	expect_unknown(&f, VT_REG_AX);
	expect_unknown(&f, VT_REG_IP);
	set(&f, VT_REG_AX, 5);
	assert_int_equal(follow(&f, 2, 0), VT_STOP_LENGTH);
	set(&f, VT_REG_AX, 4);
	assert_int_equal(follow(&f, 2, BASE + 8), VT_STOP_PATH);
	assert_int_equal(vt_interp_inferred(f.m), inferred);
	end(&f);
}

/* jmp *%rax, and ret: where they went was in the register, or on the stack. */
static void targets_are_inferred_from(void **state)
{
	struct fixture f;

	(void)state;
	BEGIN(&f, 0xff, 0xe0);
	assert_int_equal(follow(&f, 1, 0x1234), VT_STOP_LENGTH);
	expect(&f, VT_REG_AX, 0x1234);
	assert_int_equal(follow(&f, 1, 0x1235), VT_STOP_PATH);
	assert_int_equal(follow(&f, 1, 0), VT_STOP_LENGTH);
	expect_unknown(&f, VT_REG_AX);
	end(&f);
	BEGIN(&f, 0xc3);
	assert_int_equal(follow(&f, 1, 0x1234), VT_STOP_LENGTH);
	expect_unknown(&f, VT_REG_SP);
	set(&f, VT_REG_SP, STACK);
	assert_int_equal(follow(&f, 1, 0x1234), VT_STOP_LENGTH);
	expect(&f, VT_REG_SP, STACK + 8);
	assert_int_equal(memory(&f, STACK).value, 0x1234);
	set(&f, VT_REG_SP, STACK);
	assert_int_equal(follow(&f, 1, 0x1235), VT_STOP_PATH);
	end(&f);
}

static void pieces_end_where_code_does(void **state)
{
	struct fixture f;

	(void)state;
	BEGIN(&f, 0x90, 0x0f, 0x0b);
	assert_int_equal(follow(&f, 1, BASE + 1), VT_STOP_LENGTH);
	assert_int_equal(follow(&f, 2, 0), VT_STOP_BAD);
	expect_unknown(&f, VT_REG_IP);
	end(&f);
	BEGIN(&f, 0x90, 0x90);
	assert_int_equal(follow(&f, 2, BASE + 2), VT_STOP_LENGTH);
	assert_int_equal(follow(&f, 3, 0), VT_STOP_CODE);
	assert_int_equal(vt_interp_follow(f.m, 1, BASE + 9, 1, 0, &f.err), VT_STOP_CODE);
	end(&f);
	/* div %ecx by zero: the path would not go on; nor behind a trap that happens. */
	BEGIN(&f, 0xf7, 0xf1, 0x90);
	set(&f, VT_REG_CX, 0);
	assert_int_equal(follow(&f, 2, 0), VT_STOP_PATH);
	expect_unknown(&f, VT_REG_CX);
	set(&f, VT_REG_CX, 2);
	set(&f, VT_REG_AX, 9);
	set(&f, VT_REG_DX, 0);
	assert_int_equal(follow(&f, 2, 0), VT_STOP_LENGTH);
	expect(&f, VT_REG_AX, 4);
	end(&f);
}

static void the_kernel_changes_what_it_may(void **state)
{
	struct fixture f;
	unsigned number;

	(void)state;
	for (number = 157; number < 160; number++) {
		BEGIN(&f, 0x0f, 0x05, 0x90);
		set(&f, VT_REG_AX, number);
		set(&f, VT_REG_CX, 1);
		set(&f, VT_REG_DX, 2);
		set(&f, R10, 10);
		set(&f, R11, 11);
		set(&f, VT_REG_FS, 20);
		set(&f, VT_REG_GS, 21);
		put_memory(&f, STACK, 1);
		assert_int_equal(follow(&f, 1, BASE + 2), VT_STOP_LENGTH);
		expect_unknown(&f, VT_REG_AX);
		expect_unknown(&f, VT_REG_CX);
		expect_unknown(&f, R11);
		expect(&f, VT_REG_DX, 2);
		expect(&f, R10, 10);
		assert_int_equal(memory(&f, STACK).known, 0);
		assert_int_equal(vt_interp_get(f.m, VT_REG_FS, 0).known,
				 number == 158 ? 0 : UINT64_MAX);
		assert_int_equal(vt_interp_get(f.m, VT_REG_GS, 0).known,
				 number == 158 ? 0 : UINT64_MAX);
		/* One of which the number is not known */
		set(&f, VT_REG_FS, 20);
		assert_int_equal(follow(&f, 1, BASE + 2), VT_STOP_LENGTH);
		expect_unknown(&f, VT_REG_FS);
		end(&f);
	}
}

/* rep stosb; nop: once, and repeated 2^16 times. */
static void strings_are_repeated_so_often(void **state)
{
	static const unsigned counts[] = {0, 1, 65537, 65538, 70000};
	struct fixture f;
	unsigned i;

	(void)state;
	for (i = 0; i < 5; i++) {
		const bool most = counts[i] <= 65537;

		BEGIN(&f, 0xf3, 0xaa, 0x90);
		set(&f, VT_REG_FLAGS, 2);
		set(&f, VT_REG_AX, 0x41);
		set(&f, VT_REG_DI, STACK);
		set(&f, VT_REG_CX, counts[i]);
		put_memory(&f, STACK - 8, 7);
		assert_int_equal(follow(&f, 2, BASE + 3), VT_STOP_LENGTH);
		if (most) {
			expect(&f, VT_REG_DI, STACK + counts[i]);
			expect(&f, VT_REG_CX, 0);
		} else {
			expect_unknown(&f, VT_REG_DI);
			expect_unknown(&f, VT_REG_CX);
		}
		assert_int_equal(memory(&f, STACK - 8).known, most ? UINT64_MAX : 0);
		expect(&f, VT_REG_AX, 0x41);
		end(&f);
	}
	/* movsb by a count that is not known: what is behind it is not. */
	BEGIN(&f, 0xf3, 0xa4, 0x90);
	set(&f, VT_REG_FLAGS, 2);
	set(&f, VT_REG_SI, STACK);
	set(&f, VT_REG_DI, STACK + 64);
	set(&f, VT_REG_BX, 3);
	put_memory(&f, STACK, 7);
	assert_int_equal(follow(&f, 2, BASE + 3), VT_STOP_LENGTH);
	expect_unknown(&f, VT_REG_SI);
	expect_unknown(&f, VT_REG_DI);
	expect_unknown(&f, VT_REG_CX);
	expect(&f, VT_REG_BX, 3);
	assert_int_equal(memory(&f, STACK).known, 0);
	end(&f);
}

/*
 * Under Valgrind, each repetition is an instruction: it goes to itself or on, and at the end
 * perhaps once more to itself, though nothing is left to do.
 */
static void valgrind_counts_repetitions(void **state)
{
	/* nop; repe cmpsb; nop */
	static const uint8_t code[] = {0x90, 0xf3, 0xa6, 0x90};
	static const struct {
		bool differ, far; /* the bytes; whether nop is in the piece, too */
		uint64_t count, next, moved;
		enum vt_stop stop;
	} cases[] = {
		{false, false, 5, BASE + 1, 1, VT_STOP_LENGTH},
		{false, true, 5, BASE + 1, 1, VT_STOP_LENGTH},
		{false, false, 5, BASE + 3, 1, VT_STOP_PATH},
		{false, true, 5, BASE + 3, 1, VT_STOP_PATH},
		{false, false, 5, 0, 1, VT_STOP_LENGTH},
		{true, false, 5, BASE + 3, 1, VT_STOP_LENGTH},
		{true, true, 5, BASE + 3, 1, VT_STOP_LENGTH},
		{true, false, 5, BASE + 1, 1, VT_STOP_LENGTH},
		{true, true, 5, BASE + 1, 1, VT_STOP_LENGTH},
		{true, false, 5, BASE + 2, 1, VT_STOP_PATH},
		{true, true, 5, BASE, 1, VT_STOP_PATH},
		{false, false, 0, BASE + 3, 0, VT_STOP_LENGTH},
		{true, true, 0, BASE + 3, 0, VT_STOP_LENGTH},
		{true, true, 0, BASE + 2, 0, VT_STOP_PATH},
		{true, true, 0, 0, 0, VT_STOP_LENGTH},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const bool far = cases[i].far;
		struct fixture f;

		begin_with(&f, code, sizeof(code), (struct vt_interp_options){.valgrind = true});
		set(&f, VT_REG_FLAGS, 2);
		set(&f, VT_REG_SI, STACK);
		set(&f, VT_REG_DI, STACK + 8);
		set(&f, VT_REG_CX, cases[i].count);
		put_memory(&f, STACK, 7);
		put_memory(&f, STACK + 8, cases[i].differ ? 8 : 7);
		if (vt_interp_follow(f.m, 1, BASE + !far, 1 + far, cases[i].next, &f.err) !=
		    cases[i].stop)
			fail_msg("case %zu", i);
		if (cases[i].stop == VT_STOP_LENGTH) {
			expect(&f, VT_REG_SI, STACK + cases[i].moved);
			expect(&f, VT_REG_DI, STACK + 8 + cases[i].moved);
			expect(&f, VT_REG_CX, cases[i].count - cases[i].moved);
		} else {
			expect_unknown(&f, VT_REG_SI);
		}
		end(&f);
	}
}

/* lock cmpxchg goes on; lock add has happened. */
static void atomics_succeed(void **state)
{
	struct fixture f;

	(void)state;
	BEGIN(&f, 0xf0, 0x48, 0x0f, 0xc1, 0x0f, 0x90);
	set(&f, VT_REG_DI, STACK);
	set(&f, VT_REG_CX, 3);
	put_memory(&f, STACK, 4);
	assert_int_equal(follow(&f, 2, BASE + 6), VT_STOP_LENGTH);
	assert_int_equal(memory(&f, STACK).value, 7);
	expect(&f, VT_REG_CX, 4);
	end(&f);
}

/* Loads and captures are told by the number of their instruction in the piece, through blocks. */
static void instructions_are_counted_through(void **state)
{
	static const uint8_t code[] = {0x90, 0x48, 0x8b, 0x07, 0x75, 0x05, 0x48, 0x8b, 0x0f, 0x90};
	const struct vt_capture *c;
	struct fixture f;
	size_t n, i;

	(void)state;
	begin(&f, code, sizeof(code), 1);
	set(&f, VT_REG_DI, STACK);
	assert_int_equal(vt_interp_follow(f.m, 1, BASE, 1, BASE + 1, &f.err), VT_STOP_LENGTH);
	assert_int_equal(follow(&f, 5, BASE + 10), VT_STOP_LENGTH);
	assert_int_equal(f.nloads, 2);
	assert_int_equal(f.loads[0], 1);
	assert_int_equal(f.loads[1], 3);
	c = vt_interp_captures(f.m, &n);
	assert_int_equal(n, 6);
	for (i = 0; i < n; i++)
		assert_int_equal(c[i].insn, i);
	assert_int_equal(c[5].ip, BASE + 9);
	/* A part of it, twice. */
	f.nloads = 0;
	assert_int_equal(follow(&f, 2, BASE + 4), VT_STOP_LENGTH);
	assert_int_equal(follow(&f, 2, BASE + 4), VT_STOP_LENGTH);
	assert_int_equal(f.nloads, 2);
	c = vt_interp_captures(f.m, &n);
	assert_int_equal(n, 10);
	assert_int_equal(c[9].insn, 9);
	vt_interp_clear(f.m);
	vt_interp_captures(f.m, &n);
	assert_int_equal(n, 0);
	end(&f);
}

/* clflush (%rdi); mov $1,%eax: behind it, code is read anew. */
static void code_that_was_written_is_read_anew(void **state)
{
	struct fixture f;
	uint64_t blocks, unlifted;

	(void)state;
	BEGIN(&f, 0x0f, 0xae, 0x3f, 0xb8, 0x01, 0x00, 0x00, 0x00);
	set(&f, VT_REG_DI, STACK);
	assert_int_equal(follow(&f, 2, BASE + 8), VT_STOP_LENGTH);
	expect(&f, VT_REG_AX, 1);
	f.code[4] = 2;
	/* What was lifted before is gone, with what was to come. */
	assert_int_equal(follow(&f, 2, BASE + 8), VT_STOP_LENGTH);
	expect(&f, VT_REG_AX, 2);
	vt_interp_lifted(f.m, &blocks, &unlifted);
	assert_int_equal(unlifted, 0);
	f.code[4] = 3;
	vt_interp_forget_space(f.m, 2);
	assert_int_equal(vt_interp_follow(f.m, 1, BASE + 3, 1, 0, &f.err), VT_STOP_LENGTH);
	expect(&f, VT_REG_AX, 2);
	vt_interp_forget_space(f.m, 1);
	assert_int_equal(vt_interp_follow(f.m, 1, BASE + 3, 1, 0, &f.err), VT_STOP_LENGTH);
	expect(&f, VT_REG_AX, 3);
	f.code[4] = 4;
	/* Spaces have code of their own. */
	assert_int_equal(vt_interp_follow(f.m, 2, BASE + 3, 1, 0, &f.err), VT_STOP_LENGTH);
	expect(&f, VT_REG_AX, 4);
	assert_int_equal(vt_interp_follow(f.m, 1, BASE + 3, 1, 0, &f.err), VT_STOP_LENGTH);
	expect(&f, VT_REG_AX, 3);
	vt_interp_forget_code(f.m);
	assert_int_equal(vt_interp_follow(f.m, 1, BASE + 3, 1, 0, &f.err), VT_STOP_LENGTH);
	expect(&f, VT_REG_AX, 4);
	end(&f);
}

/* What is run in one go does not go beyond the instruction that is the last one. */
static void free_runs_end_in_front_of_the_next(void **state)
{
	static const unsigned regs[] = {VT_REG_CX, VT_REG_DX, VT_REG_SI, VT_REG_DI};
	struct fixture f;
	uint64_t done;
	unsigned n, i;

	(void)state;
	for (n = 0; n <= 4; n++) {
		/* mov $1,%ecx; mov $2,%edx; mov $3,%esi; mov $4,%edi */
		BEGIN(&f, 0xb9, 1, 0, 0, 0, 0xba, 2, 0, 0, 0, 0xbe, 3, 0, 0, 0, 0xbf, 4, 0, 0, 0);
		set(&f, VT_REG_IP, BASE);
		assert_int_equal(vt_interp_run(f.m, 1, n, &done, &f.err), VT_STOP_LENGTH);
		assert_int_equal(done, n);
		for (i = 0; i < 4; i++) {
			if (i < n)
				expect(&f, regs[i], i + 1);
			else
				expect_unknown(&f, regs[i]);
		}
		expect_unknown(&f, VT_REG_AX);
		end(&f);
	}
}

/* Loops whose blocks end in a jump, and in a branch; each instruction is captured in its turn. */
static const struct loop {
	uint8_t code[12];
	unsigned size;
	unsigned branch;   /* the instruction of a round that reads flags */
	unsigned more;	   /* instructions behind the rounds */
	uint8_t at[4];	   /* the instructions of a round */
	uint8_t leaves[5]; /* those of the last one, and behind */
} loops[] = {
	/* 1: add %rcx,%rax; dec %rcx; je 2f; jmp 1b; 2: syscall, in place of the last jmp */
	{{0x48, 0x01, 0xc8, 0x48, 0xff, 0xc9, 0x74, 0x02, 0xeb, 0xf6, 0x0f, 0x05},
	 12,
	 2,
	 0,
	 {0, 3, 6, 8},
	 {0, 3, 6, 10}},
	/* 1: nop; add %rcx,%rax; dec %rcx; jne 1b; syscall */
	{{0x90, 0x48, 0x01, 0xc8, 0x48, 0xff, 0xc9, 0x75, 0xf7, 0x0f, 0x05},
	 11,
	 3,
	 1,
	 {0, 1, 4, 7},
	 {0, 1, 4, 7, 9}},
};

static void expect_rounds(const struct loop *l, const struct vt_capture *c, uint32_t first,
			  uint32_t rounds)
{
	uint32_t i;

	for (i = 0; i < 4 * rounds + l->more; i++) {
		const bool last = i >= 4 * (rounds - 1);

		assert_int_equal(c[i].insn, first + i);
		assert_int_equal(c[i].ip,
				 BASE + (last ? l->leaves[i - 4 * (rounds - 1)] : l->at[i % 4]));
		assert_int_equal(c[i].what, VT_WHAT_UNKNOWN);
		assert_false(c[i].known);
	}
}

/* Four rounds in two runs, and two more. */
static void run_rounds(const struct loop *l, unsigned first)
{
	const unsigned all = 16 + l->more;
	const bool inside = first % 4 && first % 4 != l->branch + 1; /* of a block */
	const struct vt_capture *c;
	struct vt_word flags;
	struct fixture f;
	uint64_t done;
	size_t n;

	begin(&f, l->code, l->size, 1);
	set(&f, VT_REG_IP, BASE);
	set(&f, VT_REG_FLAGS, 2);
	set(&f, VT_REG_AX, 0);
	set(&f, VT_REG_CX, 4);
	assert_int_equal(vt_interp_run(f.m, 1, first, &done, &f.err), VT_STOP_LENGTH);
	assert_int_equal(done, first);
	/* In the middle of a block, flags are not known, but for the direction. */
	flags = vt_interp_get(f.m, VT_REG_FLAGS, 0);
	assert_int_equal(flags.known & (ZF | DF), inside ? DF : ZF | DF);
	assert_int_equal(flags.value & DF, 0);
	if (first % 4 == l->branch) {
		assert_int_equal(vt_interp_run(f.m, 1, 100, &done, &f.err), VT_STOP_BRANCH);
		assert_int_equal(done, 1);
		end(&f);
		return;
	}
	assert_int_equal(vt_interp_run(f.m, 1, 100, &done, &f.err), VT_STOP_SYSCALL);
	assert_int_equal(done, all - first);
	expect(&f, VT_REG_AX, 10);
	expect(&f, VT_REG_IP, BASE + l->size);
	set(&f, VT_REG_IP, BASE);
	set(&f, VT_REG_CX, 2);
	assert_int_equal(vt_interp_run(f.m, 1, 100, &done, &f.err), VT_STOP_SYSCALL);
	assert_int_equal(done, 8 + l->more);
	expect(&f, VT_REG_AX, 13);
	c = vt_interp_captures(f.m, &n);
	assert_int_equal(n, all + 8 + l->more);
	expect_rounds(l, c, 0, 4);
	expect_rounds(l, c + all, all, 2);
	assert_int_equal(f.ntransfers, 0);
	end(&f);
}

static void free_runs_number_their_instructions(void **state)
{
	unsigned loop, first;

	(void)state;
	for (loop = 0; loop < sizeof(loops) / sizeof(*loops); loop++)
		for (first = 0; first < 16; first++)
			run_rounds(&loops[loop], first);
}

/* 1: call *%rax; dec %rcx; jne 1b; syscall; the function is a ret.  The code holds no targets. */
static void free_runs_report_transfers(void **state)
{
	struct fixture f;
	uint64_t done;
	unsigned i;

	(void)state;
	BEGIN(&f, 0xff, 0xd0, 0x48, 0xff, 0xc9, 0x75, 0xf9, 0x0f, 0x05, 0xc3);
	set(&f, VT_REG_IP, BASE);
	set(&f, VT_REG_AX, BASE + 9);
	set(&f, VT_REG_CX, 4);
	set(&f, VT_REG_SP, STACK);
	assert_int_equal(vt_interp_run(f.m, 1, 100, &done, &f.err), VT_STOP_SYSCALL);
	assert_int_equal(done, 17);
	assert_int_equal(f.ntransfers, 8);
	for (i = 0; i < 8; i++) {
		assert_int_equal(f.transfers[i].insn, 4 * (i / 2) + 1 + i % 2);
		assert_int_equal(f.transfers[i].call, i % 2 == 0);
		assert_int_equal(f.transfers[i].ip, i % 2 ? BASE + 2 : BASE + 9);
	}
	end(&f);
}

/* Byte n of memory is n + 1; the one at `hidden` is not known. */
static void fill_memory(struct fixture *f, unsigned hidden)
{
	uint8_t bytes[64];
	unsigned i;

	vt_known_memory_reset(f->mem);
	for (i = 0; i < 64; i++)
		bytes[i] = (uint8_t)(i + 1);
	vt_known_memory_set(f->mem, STACK, bytes, hidden);
	vt_known_memory_set(f->mem, STACK + hidden + 1, bytes + hidden + 1, 63 - hidden);
}

/* The number of `size` bytes, 8 at most, that begins at byte n. */
static uint64_t number_at(unsigned n, unsigned size)
{
	uint64_t v = 0;
	unsigned i;

	for (i = 0; i < size; i++)
		v |= (uint64_t)(n + i + 1) << 8 * i;
	return v;
}

/* Loads of 1 to 32 bytes, and what the register has then: each word is known, or it is not. */
static void loads_are_captured_by_words(void **state)
{
	static const struct {
		uint8_t code[4];
		unsigned length, result; /* bytes */
	} loads[6] = {
		{{0x8a, 0x07}, 2, 8},		   /* mov (%rdi),%al */
		{{0x66, 0x8b, 0x07}, 3, 8},	   /* mov (%rdi),%ax */
		{{0x8b, 0x07}, 2, 8},		   /* mov (%rdi),%eax */
		{{0x48, 0x8b, 0x07}, 3, 8},	   /* mov (%rdi),%rax */
		{{0x0f, 0x10, 0x07}, 3, 16},	   /* movups (%rdi),%xmm0 */
		{{0xc5, 0xfc, 0x10, 0x07}, 4, 32}, /* vmovups (%rdi),%ymm0 */
	};
	unsigned log, hidden, i;

	(void)state;
	for (log = 0; log < 6; log++)
		for (hidden = 0; hidden < 40; hidden += log < 4 ? 1 : 4) {
			const unsigned size = 1u << log, words = (size + 7) / 8;
			const struct vt_capture *c;
			struct fixture f;
			uint64_t done;
			size_t n;

			begin(&f, loads[log].code, loads[log].length,
			      1u << VT_WHAT_LOAD | 1u << VT_WHAT_RESULT);
			fill_memory(&f, hidden);
			set(&f, VT_REG_IP, BASE);
			set(&f, VT_REG_DI, STACK);
			set(&f, VT_REG_AX, 0);
			assert_int_equal(vt_interp_run(f.m, 1, 1, &done, &f.err), VT_STOP_LENGTH);
			c = vt_interp_captures(f.m, &n);
			assert_int_equal(n, 2 * words);
			for (i = 0; i < n; i++, c++) {
				const unsigned lane = i % words;
				const bool known = hidden >= size || hidden / 8 != lane;

				assert_int_equal(c->what,
						 i < words ? VT_WHAT_LOAD : VT_WHAT_RESULT);
				assert_int_equal(c->size, i < words ? size : loads[log].result);
				assert_int_equal(c->lane, lane);
				assert_int_equal(c->known, known);
				if (known)
					assert_int_equal(c->value,
							 number_at(8 * lane, size < 8 ? size : 8));
			}
			end(&f);
		}
}

/* Stores of 1 to 32 bytes, of which the last word, or none, is known but for a bit. */
static void stores_write_what_is_known(void **state)
{
	static const struct {
		uint8_t code[4];
		unsigned length;
	} stores[6] = {
		{{0x88, 0x07}, 2},	       /* mov %al,(%rdi) */
		{{0x66, 0x89, 0x07}, 3},       /* mov %ax,(%rdi) */
		{{0x89, 0x07}, 2},	       /* mov %eax,(%rdi) */
		{{0x48, 0x89, 0x07}, 3},       /* mov %rax,(%rdi) */
		{{0x0f, 0x11, 0x07}, 3},       /* movups %xmm0,(%rdi) */
		{{0xc5, 0xfc, 0x11, 0x07}, 4}, /* vmovups %ymm0,(%rdi) */
	};
	unsigned log, hidden, i;

	(void)state;
	for (log = 0; log < 6; log++)
		for (hidden = 0; hidden <= (log < 4 ? 1 : 1u << (log - 3)); hidden++) {
			const unsigned size = 1u << log, words = (size + 7) / 8;
			struct fixture f;
			uint64_t done;

			begin(&f, stores[log].code, stores[log].length, 0);
			fill_memory(&f, 63);
			set(&f, VT_REG_IP, BASE);
			set(&f, VT_REG_DI, STACK + 8);
			for (i = 0; i < 4; i++)
				vt_interp_set(
					f.m, log < 4 ? VT_REG_AX : VT_REG_VECTOR, i,
					(struct vt_word){0xf0f0f0f0f0f0f0f0,
							 i == hidden ? ~UINT64_C(1) : UINT64_MAX});
			assert_int_equal(vt_interp_run(f.m, 1, 1, &done, &f.err), VT_STOP_LENGTH);
			for (i = 0; i < 63; i++) {
				const bool stored = i >= 8 && i < 8 + size;
				struct vt_word w;

				vt_known_memory_load(f.mem, STACK + i, 1, &w);
				if (stored && hidden < words && i == 8 + 8 * hidden) {
					assert_false(vt_word_is_known(w));
					continue;
				}
				assert_true(vt_word_is_known(w));
				assert_int_equal(w.value, stored ? 0xf0 : i + 1);
			}
			end(&f);
		}
}

/* cmp %rdx,%rbx; cmovne %rcx,%rax: of both is known what they have in common. */
static void choices_keep_what_is_common(void **state)
{
	struct vt_word w;
	struct fixture f;
	uint64_t done;
	unsigned i;

	(void)state;
	for (i = 0; i < 3; i++) {
		BEGIN(&f, 0x48, 0x39, 0xd3, 0x48, 0x0f, 0x45, 0xc1, 0x0f, 0x05);
		set(&f, VT_REG_BX, 0);
		set(&f, VT_REG_IP, BASE);
		set(&f, VT_REG_AX, 0x0f0f);
		set(&f, VT_REG_CX, 0x00ff);
		if (i < 2)
			set(&f, VT_REG_DX, i);
		assert_int_equal(vt_interp_run(f.m, 1, 9, &done, &f.err), VT_STOP_SYSCALL);
		w = vt_interp_get(f.m, VT_REG_AX, 0);
		assert_int_equal(w.value, i == 0 ? 0x0f0f : i == 1 ? 0x00ff : 0x000f);
		assert_int_equal(w.known, i < 2 ? UINT64_MAX : ~UINT64_C(0x0ff0));
		/* Of 0 - 0: zero, parity; of 0 - 1: sign, adjust, parity, carry */
		w = vt_interp_get(f.m, VT_REG_FLAGS, 0);
		assert_int_equal(w.value & 0x8d5, i == 0 ? 0x44 : i == 1 ? 0x95 : 0);
		end(&f);
	}
}

static void stops_have_names(void **state)
{
	static const char *const names[VT_NSTOPS + 1] = {
		[VT_STOP_LENGTH] = "full length",
		[VT_STOP_BRANCH] = "unknown branch",
		[VT_STOP_TARGET] = "unknown target",
		[VT_STOP_SYSCALL] = "system call",
		[VT_STOP_CODE] = "no code",
		[VT_STOP_BAD] = "bad instruction",
		[VT_STOP_TRAP] = "trap",
		[VT_STOP_PATH] = "contradiction",
		[VT_STOP_MEMORY] = "out of memory",
		[VT_NSTOPS] = "unknown",
	};
	unsigned i;

	(void)state;
	for (i = 0; i <= VT_NSTOPS; i++)
		assert_string_equal(vt_stop_name((enum vt_stop)i), names[i]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(branches_are_inferred_from),
		cmocka_unit_test(targets_are_inferred_from),
		cmocka_unit_test(pieces_end_where_code_does),
		cmocka_unit_test(the_kernel_changes_what_it_may),
		cmocka_unit_test(strings_are_repeated_so_often),
		cmocka_unit_test(valgrind_counts_repetitions),
		cmocka_unit_test(atomics_succeed),
		cmocka_unit_test(instructions_are_counted_through),
		cmocka_unit_test(code_that_was_written_is_read_anew),
		cmocka_unit_test(free_runs_end_in_front_of_the_next),
		cmocka_unit_test(free_runs_number_their_instructions),
		cmocka_unit_test(free_runs_report_transfers),
		cmocka_unit_test(loads_are_captured_by_words),
		cmocka_unit_test(stores_write_what_is_known),
		cmocka_unit_test(choices_keep_what_is_common),
		cmocka_unit_test(stops_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
