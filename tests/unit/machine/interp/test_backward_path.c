/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is inferred from a branch of the guest state and of memory: only what nothing has
 * overwritten since.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <libvex_ir.h>

#include "machine/interp/backward.h"

#define MEM  UINT64_C(0x7000)
#define FIVE UINT64_C(0x0505050505050505)
#define MOST 24 /* operations */

/* Slots: constants first. */
enum {
	C_FIVE,
	C_MEM,
	C_OTHER,
	NCONSTANTS,
	READ = NCONSTANTS,
	BIT,
	TEMP,
	ADDR,
	UNKNOWN,
	FAR = 12, /* from all others */
	NSLOTS = 16
};

struct fixture {
	struct vt_interp *m;
	struct vti_block block;
	struct vti_op ops[MOST];
	struct vt_word slots[NSLOTS];
};

static void begin(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->m = calloc(1, sizeof(*f->m));
	assert_non_null(f->m);
	f->m->mem = vt_known_memory_new(NULL, NULL, 1 << 20);
	assert_non_null(f->m->mem);
	f->slots[C_FIVE] = vt_word_of(FIVE);
	f->slots[C_MEM] = f->slots[ADDR] = vt_word_of(MEM);
	f->block = (struct vti_block){
		.ops = f->ops, .slots = f->slots, .nslots = NSLOTS, .nconstants = NCONSTANTS};
}

static void end(struct fixture *f)
{
	vt_known_memory_free(f->m->mem);
	free(f->m);
}

static void add(struct fixture *f, struct vti_op op)
{
	assert_true(f->block.nops < MOST);
	f->ops[f->block.nops++] = op;
}

/* READ, of so many bytes, is compared with fives, and the path goes where they are equal. */
static bool infer(struct fixture *f, unsigned size)
{
	static const unsigned equal[] = {
		[1] = Iop_CmpEQ8, [2] = Iop_CmpEQ16, [4] = Iop_CmpEQ32, [8] = Iop_CmpEQ64};

	f->slots[C_FIVE] = vt_word_of(FIVE & vt_low_bits(8 * size));
	f->slots[READ] = vt_word_unknown(8 * size);
	f->slots[BIT] = vt_word_unknown(1);
	add(f, (struct vti_op){.op = VTI_FAST,
			       .dst = BIT,
			       .a = READ,
			       .b = C_FIVE,
			       .aux = (uint16_t)equal[size]});
	add(f, (struct vti_op){.op = VTI_EXIT, .a = BIT});
	return vti_infer_from_exit(f->m, &f->block, f->block.nops - 1, true);
}

static struct vti_op get(unsigned log, uint64_t at)
{
	return (struct vti_op){.op = (uint16_t)(VTI_GET1 + log), .dst = READ, .imm = at};
}

static struct vti_op put(unsigned log, uint64_t at, uint16_t slot)
{
	return (struct vti_op){.op = (uint16_t)(VTI_PUT1 + log), .a = slot, .imm = at};
}

static struct vti_op load(unsigned log, uint16_t addr)
{
	return (struct vti_op){.op = (uint16_t)(VTI_LOAD1 + log), .dst = READ, .a = addr};
}

static struct vti_op store(unsigned log, uint16_t addr)
{
	return (struct vti_op){.op = (uint16_t)(VTI_STORE1 + log), .a = addr, .b = TEMP};
}

static struct vt_word memory(struct fixture *f, uint64_t addr, unsigned size)
{
	struct vt_word w;

	vt_known_memory_load(f->m->mem, addr, size, &w);
	return w;
}

static void expect(struct vt_word w, uint64_t value, uint64_t known)
{
	assert_int_equal(w.value, value);
	assert_int_equal(w.known, known);
}

/* ---- where it was read from ---- */

static void parts_of_the_state_are_inferred(void **state)
{
	unsigned log, at;

	(void)state;
	for (log = 0; log < 4; log++)
		for (at = 0; at < 16; at += 1u << log) {
			const unsigned bits = 8u << log, shift = 8 * (at % 8);
			struct fixture f;

			begin(&f);
			add(&f, get(log, at));
			assert_true(infer(&f, 1u << log));
			expect(f.m->state[at / 8], (FIVE & vt_low_bits(bits)) << shift,
			       vt_low_bits(bits) << shift);
			expect(f.m->state[1 - at / 8], 0, 0);
			assert_int_equal(f.m->ninferred, 1);
			end(&f);
			/* A part that is known otherwise says that this cannot be. */
			begin(&f);
			f.m->state[at / 8].known = UINT64_C(1) << shift;
			add(&f, get(log, at));
			assert_false(infer(&f, 1u << log));
			end(&f);
		}
}

static void parts_of_memory_are_inferred(void **state)
{
	unsigned log;

	(void)state;
	for (log = 0; log < 4; log++) {
		const unsigned size = 1u << log;
		struct fixture f;

		begin(&f);
		add(&f, load(log, C_MEM));
		assert_true(infer(&f, size));
		expect(memory(&f, MEM, size), FIVE & vt_low_bits(8 * size), UINT64_MAX);
		assert_int_equal(memory(&f, MEM + size, 1).known, ~UINT64_C(0xff));
		assert_int_equal(memory(&f, MEM - 1, 1).known, ~UINT64_C(0xff));
		assert_int_equal(f.m->ninferred, 1);
		end(&f);
		begin(&f);
		vt_known_memory_set(f.m->mem, MEM, (const uint8_t *)"\1", 1);
		add(&f, load(log, C_MEM));
		assert_false(infer(&f, size));
		expect(memory(&f, MEM, 1), 1, UINT64_MAX);
		end(&f);
	}
}

/* Of a load of two or four words, the one that was compared. */
static void wide_loads_show_a_word(void **state)
{
	unsigned log, word, from_state;

	(void)state;
	for (log = 4; log < 6; log++)
		for (word = 0; word < 1u << (log - 3); word++)
			for (from_state = 0; from_state < 2; from_state++) {
				struct vti_op op = from_state ? get(log, 16) : load(log, C_MEM);
				struct fixture f;
				unsigned i;

				begin(&f);
				op.dst = 8;
				add(&f, op);
				add(&f, (struct vti_op){.op = VTI_MOVE1,
							.dst = READ,
							.a = (uint16_t)(8 + word)});
				assert_true(infer(&f, 8));
				for (i = 0; i < 1u << (log - 3); i++)
					expect(from_state ? f.m->state[2 + i]
							  : memory(&f, MEM + 8 * i, 8),
					       i == word ? FIVE : 0, i == word ? UINT64_MAX : 0);
				expect(f.m->state[1], 0, 0);
				end(&f);
			}
}

/* ---- what came between ---- */

static void writes_between_hide_the_state(void **state)
{
	static const struct vti_array ring = {8, 2, 8, 0}, ring_behind = {16, 2, 8, 0};
	static const struct vti_array bytes = {0, 9, 1, 0}, one = {0, 1, 8, 0},
				      words = {0, 2, 4, 0};
	static const struct vti_unlifted unlifted;
	static const struct vti_call reads = {.nstate = 1, .state = {{8, 8, 1}}};
	static const struct vti_call writes = {.nstate = 2, .state = {{0, 8, 2}, {15, 1, 3}}};
	static const struct vti_call beside = {.nstate = 2, .state = {{0, 8, 2}, {16, 64, 2}}};
	const struct {
		struct vti_op op;
		bool kept;
	} cases[] = {
		{put(3, 8, TEMP), false},
		{put(0, 8, TEMP), false},
		{put(0, 15, TEMP), false},
		{put(0, 7, TEMP), true},
		{put(0, 16, TEMP), true},
		{put(2, 4, TEMP), true},
		{put(4, 0, TEMP), false},
		{put(5, 16, TEMP), true},
		{{.op = VTI_PUTI, .data = &ring}, false},
		{{.op = VTI_PUTI, .data = &ring_behind}, true},
		{{.op = VTI_PUTI, .data = &bytes}, false},
		{{.op = VTI_PUTI, .data = &one}, true},
		{{.op = VTI_PUTI, .data = &words}, true},
		{{.op = VTI_DIRTY, .data = &reads}, true},
		{{.op = VTI_DIRTY, .data = &writes}, false},
		{{.op = VTI_DIRTY, .data = &beside}, true},
		{{.op = VTI_UNLIFTED, .data = &unlifted}, false},
		{store(3, UNKNOWN), true},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fixture f;

		begin(&f);
		add(&f, get(3, 8));
		add(&f, cases[i].op);
		assert_true(infer(&f, 8));
		expect(f.m->state[1], cases[i].kept ? FIVE : 0, cases[i].kept ? UINT64_MAX : 0);
		end(&f);
	}
}

/* Bytes of the state are kept in mind by 64: what lies across hides what lies behind. */
static void wide_writes_hide_all_they_cover(void **state)
{
	static const struct {
		unsigned log;
		uint64_t at;
		bool kept;
	} cases[] = {
		{4, 56, false}, {5, 40, false}, {5, 32, true}, {4, 48, true}, {4, 72, true},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fixture f;

		begin(&f);
		add(&f, get(3, 64));
		add(&f, put(cases[i].log, cases[i].at, TEMP));
		assert_true(infer(&f, 8));
		expect(f.m->state[8], cases[i].kept ? FIVE : 0, cases[i].kept ? UINT64_MAX : 0);
		end(&f);
	}
}

static void writes_between_hide_memory(void **state)
{
	static const struct vti_cas cas = {
		C_OTHER, {TEMP, VTI_NO_SLOT}, {TEMP, VTI_NO_SLOT}, {TEMP, VTI_NO_SLOT}, 4};
	static const struct vti_guarded guarded = {C_OTHER, TEMP, TEMP, VTI_NO_SLOT, 4, 0};
	static const struct vti_call reads = {.memory = 1, .address = C_OTHER, .size = 4};
	static const struct vti_call writes = {.memory = 2, .address = C_OTHER, .size = 4};
	static const struct vti_unlifted unlifted;
	const struct {
		struct vti_op op;
		int before, behind; /* how far in front, or behind, it leaves memory alone */
	} cases[] = {
		{store(0, C_OTHER), 1, 8},
		{store(3, C_OTHER), 8, 8},
		{store(5, C_OTHER), 32, 8},
		{{.op = VTI_STOREG, .data = &guarded}, 4, 8},
		{{.op = VTI_CAS, .data = &cas}, 8, 8},
		{{.op = VTI_DIRTY, .data = &writes}, 4, 8},
		{{.op = VTI_DIRTY, .data = &reads}, 0, 0},
		{put(5, 0, TEMP), 0, 0},
	};
	struct fixture f;
	size_t i;
	unsigned k;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const int at[] = {-cases[i].before, 1 - cases[i].before, cases[i].behind - 1,
				  cases[i].behind};

		for (k = 0; k < 4; k++) {
			const bool kept = k == 0 || k == 3 || !cases[i].before;

			begin(&f);
			f.slots[C_OTHER] = vt_word_of(MEM + (uint64_t)(int64_t)at[k]);
			add(&f, load(3, C_MEM));
			add(&f, cases[i].op);
			assert_true(infer(&f, 8));
			expect(memory(&f, MEM, 8), kept ? FIVE : 0, kept ? UINT64_MAX : 0);
			end(&f);
		}
	}
	/* To nobody knows where, and by nobody knows what. */
	for (k = 0; k < 2; k++) {
		begin(&f);
		add(&f, load(3, C_MEM));
		add(&f,
		    k ? (struct vti_op){.op = VTI_UNLIFTED, .data = &unlifted} : store(3, UNKNOWN));
		assert_true(infer(&f, 8));
		expect(memory(&f, MEM, 8), 0, 0);
		end(&f);
	}
	/* As many as are kept in mind, and one more. */
	for (k = 16; k < 18; k++) {
		begin(&f);
		f.slots[C_OTHER] = vt_word_of(MEM + 64);
		add(&f, load(3, C_MEM));
		for (i = 0; i < k; i++)
			add(&f, store(3, C_OTHER));
		assert_true(infer(&f, 8));
		expect(memory(&f, MEM, 8), k == 16 ? FIVE : 0, k == 16 ? UINT64_MAX : 0);
		end(&f);
	}
}

/* What was read and written elsewhere is there, too. */
static void copies_are_inferred(void **state)
{
	struct fixture f;
	struct vti_op op = store(3, C_OTHER);

	(void)state;
	begin(&f);
	f.slots[C_OTHER] = vt_word_of(MEM + 64);
	op.b = READ;
	add(&f, load(3, C_MEM));
	add(&f, put(3, 24, READ));
	add(&f, op);
	assert_true(infer(&f, 8));
	expect(memory(&f, MEM, 8), FIVE, UINT64_MAX);
	expect(memory(&f, MEM + 64, 8), FIVE, UINT64_MAX);
	expect(f.m->state[3], FIVE, UINT64_MAX);
	assert_int_equal(f.m->ninferred, 3);
	end(&f);
}

/* Loads that have nothing to do with it, and those from where is not known. */
static void others_are_left_alone(void **state)
{
	struct vti_op other = load(3, C_OTHER);
	struct fixture f;

	(void)state;
	begin(&f);
	f.slots[C_OTHER] = vt_word_of(MEM + 64);
	other.dst = TEMP;
	add(&f, other);
	add(&f, load(3, UNKNOWN));
	assert_true(infer(&f, 8));
	assert_int_equal(f.m->ninferred, 0);
	expect(memory(&f, 0, 8), 0, 0);
	expect(memory(&f, MEM + 64, 8), 0, 0);
	expect(f.slots[READ], FIVE, UINT64_MAX);
	end(&f);
}

/* An address that the block has computed is known as long as its slot holds it. */
static void addresses_are_those_of_the_moment(void **state)
{
	struct fixture f;
	unsigned again;

	(void)state;
	for (again = 0; again < 2; again++) {
		begin(&f);
		add(&f, (struct vti_op){.op = VTI_GET8, .dst = ADDR, .imm = 40});
		add(&f, load(3, ADDR));
		if (again)
			add(&f, (struct vti_op){.op = VTI_GET8, .dst = ADDR, .imm = 48});
		assert_true(infer(&f, 8));
		expect(memory(&f, MEM, 8), again ? 0 : FIVE, again ? 0 : UINT64_MAX);
		end(&f);
	}
	/* A load into the slot of its own address. */
	begin(&f);
	f.slots[READ] = vt_word_of(MEM);
	add(&f, load(3, READ));
	assert_true(infer(&f, 8));
	expect(memory(&f, MEM, 8), 0, 0);
	end(&f);
}

/* ---- choices ---- */

/* What was chosen shows which way, and that shows what the other operand was. */
static void choices_are_inferred(void **state)
{
	static const struct {
		struct vt_word guard, yes, no; /* before */
		struct vt_word guard_then, yes_then, no_then;
		bool possible;
	} cases[] = {
#define ALL {FIVE, UINT64_MAX}
#define SIX                                                                                        \
	{                                                                                          \
		6, UINT64_MAX                                                                      \
	}
#define NONE                                                                                       \
	{                                                                                          \
		0, 0                                                                               \
	}
#define GUARD(value, known)                                                                        \
	{                                                                                          \
		value, ~UINT64_C(1) | (known)                                                      \
	}
		{GUARD(0, 0), NONE, NONE, GUARD(0, 0), NONE, NONE, true},
		{GUARD(0, 0), SIX, NONE, GUARD(0, 1), SIX, ALL, true},
		{GUARD(0, 0), NONE, SIX, GUARD(1, 1), ALL, SIX, true},
		{GUARD(1, 1), NONE, NONE, GUARD(1, 1), ALL, NONE, true},
		{GUARD(0, 1), NONE, NONE, GUARD(0, 1), NONE, ALL, true},
		{GUARD(0, 0), SIX, SIX, GUARD(0, 0), SIX, SIX, false},
		{GUARD(1, 1), SIX, NONE, GUARD(1, 1), SIX, NONE, false},
#undef ALL
#undef SIX
#undef NONE
#undef GUARD
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fixture f;

		begin(&f);
		f.slots[8] = cases[i].guard;
		f.slots[9] = cases[i].yes;
		f.slots[10] = cases[i].no;
		add(&f,
		    (struct vti_op){.op = VTI_ITE, .dst = READ, .a = 8, .b = 9, .c = 10, .aux = 1});
		assert_int_equal(infer(&f, 8), cases[i].possible);
		if (cases[i].possible) {
			expect(f.slots[8], cases[i].guard_then.value, cases[i].guard_then.known);
			expect(f.slots[9], cases[i].yes_then.value, cases[i].yes_then.known);
			expect(f.slots[10], cases[i].no_then.value, cases[i].no_then.known);
		}
		end(&f);
	}
}

/* Operations that write the address' slot behind the load: in it is another number then. */
static void all_that_writes_a_slot_hides_it(void **state)
{
	static const struct vti_cas two = {C_OTHER, {TEMP, TEMP}, {TEMP, TEMP}, {TEMP, ADDR}, 8};
	static const struct vti_cas low = {C_OTHER, {TEMP, TEMP}, {TEMP, TEMP}, {ADDR, TEMP}, 8};
	static const struct vti_cas single = {
		C_OTHER, {TEMP, VTI_NO_SLOT}, {TEMP, VTI_NO_SLOT}, {TEMP, ADDR}, 8};
	static const struct vti_guarded guarded = {
		.address = C_OTHER, .guard = TEMP, .value = TEMP, .dst = ADDR};
	static const struct vti_call call = {.dst = ADDR, .result_size = 8};
	static const struct vti_call byte = {.dst = ADDR, .result_size = 1};
	static const struct vti_call long_before = {.dst = ADDR - 1, .result_size = 9};
	static const struct vti_call before = {.dst = ADDR - 1, .result_size = 8};
	static const struct vti_call none = {.dst = ADDR, .result_size = 0};
	static const struct vti_irop one_word = {.words = 1}, two_words = {.words = 2};
	const struct {
		struct vti_op op;
		bool kept;
	} cases[] = {
		{{.op = VTI_MOVE1, .dst = ADDR, .a = TEMP}, false},
		{{.op = VTI_MOVE1, .dst = ADDR - 1, .a = TEMP}, true},
		{{.op = VTI_MOVE2, .dst = ADDR - 1, .a = TEMP}, false},
		{{.op = VTI_MOVE2, .dst = ADDR - 2, .a = TEMP}, true},
		{{.op = VTI_MOVE2, .dst = ADDR + 1, .a = TEMP}, true},
		{{.op = VTI_MOVE4, .dst = ADDR - 3, .a = TEMP}, false},
		{{.op = VTI_MOVE4, .dst = ADDR - 4, .a = TEMP}, true},
		{{.op = VTI_GETI, .dst = ADDR}, false},
		{{.op = VTI_GETI, .dst = ADDR - 1}, true},
		{{.op = VTI_ITE, .dst = ADDR - 1, .a = TEMP, .aux = 1}, true},
		{{.op = VTI_ITE, .dst = ADDR - 1, .a = TEMP, .aux = 2}, false},
		{{.op = VTI_IROP, .dst = ADDR - 1, .data = &one_word}, true},
		{{.op = VTI_IROP, .dst = ADDR - 1, .data = &two_words}, false},
		{{.op = VTI_UNKNOWN, .dst = ADDR, .aux = 1}, false},
		{{.op = VTI_UNKNOWN, .dst = ADDR - 1, .aux = 8}, true},
		{{.op = VTI_UNKNOWN, .dst = ADDR - 1, .aux = 9}, false},
		{{.op = VTI_LOADG, .data = &guarded}, false},
		{{.op = VTI_CCALL, .data = &call}, false},
		{{.op = VTI_DIRTY, .data = &byte}, false},
		{{.op = VTI_DIRTY, .data = &long_before}, false},
		{{.op = VTI_DIRTY, .data = &before}, true},
		{{.op = VTI_DIRTY, .data = &none}, true},
		{{.op = VTI_GET1, .dst = ADDR, .imm = 40}, false},
		{{.op = VTI_GET8, .dst = ADDR - 1, .imm = 40}, true},
		{{.op = VTI_GET16, .dst = ADDR - 1, .imm = 40}, false},
		{{.op = VTI_GET32, .dst = ADDR - 3, .imm = 40}, false},
		{{.op = VTI_GET32, .dst = ADDR + 1, .imm = 40}, true},
		{{.op = VTI_LOAD1, .dst = ADDR, .a = C_OTHER}, false},
		{{.op = VTI_LOAD8, .dst = ADDR - 1, .a = C_OTHER}, true},
		{{.op = VTI_LOAD16, .dst = ADDR - 1, .a = C_OTHER}, false},
		{{.op = VTI_LOAD32, .dst = ADDR - 3, .a = C_OTHER}, false},
		{{.op = VTI_PUT8, .dst = ADDR, .a = TEMP, .imm = 40}, true},
		{{.op = VTI_CAS, .data = &two}, false},
		{{.op = VTI_CAS, .data = &low}, false},
		{{.op = VTI_CAS, .data = &single}, true},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fixture f;

		begin(&f);
		f.slots[C_OTHER] = vt_word_of(MEM + 64);
		add(&f, load(3, ADDR));
		add(&f, (struct vti_op){.op = VTI_MOVE1, .dst = FAR, .a = READ});
		add(&f, cases[i].op);
		add(&f, (struct vti_op){.op = VTI_MOVE1, .dst = READ, .a = FAR});
		assert_true(infer(&f, 8));
		if (memory(&f, MEM, 8).known != (cases[i].kept ? UINT64_MAX : 0))
			fail_msg("case %zu", i);
		end(&f);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_of_the_state_are_inferred),
		cmocka_unit_test(parts_of_memory_are_inferred),
		cmocka_unit_test(wide_loads_show_a_word),
		cmocka_unit_test(writes_between_hide_the_state),
		cmocka_unit_test(wide_writes_hide_all_they_cover),
		cmocka_unit_test(writes_between_hide_memory),
		cmocka_unit_test(copies_are_inferred),
		cmocka_unit_test(others_are_left_alone),
		cmocka_unit_test(addresses_are_those_of_the_moment),
		cmocka_unit_test(choices_are_inferred),
		cmocka_unit_test(all_that_writes_a_slot_hides_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
