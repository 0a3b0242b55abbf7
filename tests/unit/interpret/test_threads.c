/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What paths keep of threads and processes when these take turns, and what recordings answer to the
 * interpreter's questions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "interpret/path.h"
#include "machine/insn/insn.h"

static struct vt_error err;

/* ---- threads and processes in turns ---- */

static size_t no_code(void *arg, uint64_t space, uint64_t addr, uint8_t *bytes, size_t size)
{
	(void)arg;
	(void)space;
	(void)addr;
	(void)bytes;
	(void)size;
	return 0;
}

struct world {
	struct vt_images *images;
	struct vt_context *context;
	struct vt_interpret in;
	struct vti_paths *p;
};

static void begin(struct world *x, bool valgrind)
{
	const struct vt_images_options none = {.warn = NULL};
	const struct vt_interp_options o = {.fetch = no_code};

	*x = (struct world){.images = vt_images_new(&none, &err)};
	x->context = vt_context_new(x->images);
	assert_true(vti_spaces_init(&x->in.spaces, x->context, VT_TRUST_IMAGES));
	x->p = vti_paths_new(&x->in, &err);
	assert_non_null(x->p);
	x->p->valgrind = valgrind;
	x->p->machine = vt_interp_new(&o, NULL, &err);
	assert_non_null(x->p->machine);
}

static void end(struct world *x)
{
	vti_paths_free(x->p);
	vti_spaces_fini(&x->in.spaces);
	vt_context_free(x->context);
	vt_images_free(x->images);
}

/* The thread comes; a value in its register and in its process's memory, or none. */
static void turn(struct world *x, int64_t pid, int64_t tid)
{
	assert_int_equal(vti_path_switch(x->p, pid, tid, &err), 0);
	assert_int_equal(x->p->at->pid, pid);
	assert_int_equal(x->p->at->tid, tid);
	assert_int_equal(x->p->memory->pid, pid);
}

static void set(struct world *x, uint64_t reg, uint64_t memory)
{
	uint8_t bytes[8];

	vt_put_le64(bytes, memory);
	vt_interp_set(x->p->machine, VT_REG_BX, 0, vt_word_of(reg));
	vt_known_memory_set(x->p->memory->known, 0x9000, bytes, 8);
	x->p->at->goes_on = VTI_GOES_ANYWHERE;
	x->p->at->in_syscall = x->p->at->in_kernel = true;
}

#define UNKNOWN UINT64_MAX

static void check(struct world *x, uint64_t reg, uint64_t memory)
{
	struct vt_word w = vt_interp_get(x->p->machine, VT_REG_BX, 0), m;

	vt_known_memory_load(x->p->memory->known, 0x9000, 8, &m);
	assert_int_equal(vt_word_is_known(w) ? w.value : UNKNOWN, reg);
	assert_int_equal(vt_word_is_known(m) ? m.value : UNKNOWN, memory);
	assert_int_equal(x->p->at->goes_on, reg == UNKNOWN ? VTI_GOES_NOWHERE : VTI_GOES_ANYWHERE);
}

/* Of so many threads registers are kept; the one that was not there for longest is forgotten. */
static void test_most_threads(void **state)
{
	struct world x;
	int64_t t;

	(void)state;
	begin(&x, true);
	for (t = 0; t < VTI_PATH_THREADS; t++) {
		turn(&x, 7, 100 + t);
		check(&x, UNKNOWN, t ? 50 : UNKNOWN);
		set(&x, 1000 + (uint64_t)t, 50);
	}
	for (t = 0; t < VTI_PATH_THREADS; t++) {
		turn(&x, 7, 100 + t);
		check(&x, 1000 + (uint64_t)t, 50);
	}
	/* The first two are those. */
	turn(&x, 7, 100);
	turn(&x, 7, 500);
	check(&x, UNKNOWN, 50);
	set(&x, 5, 50);
	turn(&x, 7, 100);
	check(&x, 1000, 50);
	turn(&x, 7, 102);
	check(&x, 1002, 50);
	turn(&x, 7, 500);
	check(&x, 5, 50);
	turn(&x, 7, 101);
	check(&x, UNKNOWN, 50);
	/* A thread of the same number of another process is another one. */
	turn(&x, 8, 102);
	check(&x, UNKNOWN, UNKNOWN);
	end(&x);
}

/* Likewise the memory of so many processes. */
static void test_most_processes(void **state)
{
	struct world x;
	int64_t p;

	(void)state;
	begin(&x, true);
	for (p = 1; p <= VTI_PATH_MEMORIES; p++) {
		turn(&x, p, p);
		check(&x, UNKNOWN, UNKNOWN);
		set(&x, (uint64_t)p, 10 + (uint64_t)p);
	}
	for (p = 1; p <= VTI_PATH_MEMORIES; p++) {
		turn(&x, p, p);
		check(&x, (uint64_t)p, 10 + (uint64_t)p);
	}
	turn(&x, 1, 1);
	turn(&x, 20, 20);
	check(&x, UNKNOWN, UNKNOWN);
	set(&x, 20, 30);
	for (p = 1; p <= VTI_PATH_MEMORIES; p++) {
		if (p == 2)
			continue;
		turn(&x, p, p);
		check(&x, (uint64_t)p, 10 + (uint64_t)p);
	}
	turn(&x, 20, 20);
	check(&x, 20, 30);
	turn(&x, 2, 2);
	check(&x, 2, UNKNOWN);
	end(&x);
}

/* A processor's trace knows of registers until another thread comes, of memory with one thread. */
static void test_trace(void **state)
{
	struct world x;

	(void)state;
	begin(&x, false);
	turn(&x, 7, 7);
	set(&x, 1, 2);
	turn(&x, 7, 7);
	check(&x, 1, 2);
	turn(&x, 8, 8);
	set(&x, 3, 4);
	turn(&x, 7, 7);
	check(&x, UNKNOWN, 2);
	/* Once it has run, the process has one thread; with another one, what is stored is not
	 * kept. */
	vti_path_process(x.p, 7, &err)->begun = true;
	vti_path_process(x.p, 7, &err)->tid = 7;
	set(&x, 1, 2);
	turn(&x, 7, 7);
	check(&x, 1, 2);
	assert_false(vti_path_process(x.p, 7, &err)->many);
	turn(&x, 7, 9);
	assert_true(vti_path_process(x.p, 7, &err)->many);
	check(&x, UNKNOWN, UNKNOWN);
	set(&x, 1, 2);
	turn(&x, 7, 9);
	check(&x, 1, UNKNOWN);
	turn(&x, 8, 8);
	check(&x, UNKNOWN, 4);
	end(&x);
}

/* A recorder's threads share what is known of memory. */
static void test_recorded(void **state)
{
	struct world x;

	(void)state;
	begin(&x, true);
	turn(&x, 7, 7);
	set(&x, 1, 2);
	vti_path_process(x.p, 7, &err)->begun = true;
	vti_path_process(x.p, 7, &err)->tid = 7;
	turn(&x, 7, 9);
	check(&x, UNKNOWN, 2);
	assert_true(vti_path_process(x.p, 7, &err)->many);
	set(&x, 3, 4);
	turn(&x, 7, 7);
	check(&x, 1, 4);
	end(&x);
}

/* What is lost of a thread, of its process, of a process's memory, and of all. */
static void test_lost(void **state)
{
	struct world x;
	unsigned how;

	(void)state;
	for (how = 0; how < 6; how++) {
		/* By threads 7/7, 7/9 and 8/8, of which the second is at hand: what is known then.
		 */
		static const uint64_t regs[6][3] = {{1, 2, 3},
						    {1, UNKNOWN, 3},
						    {UNKNOWN, UNKNOWN, 3},
						    {1, 2, UNKNOWN},
						    {UNKNOWN, UNKNOWN, UNKNOWN},
						    {1, 2, 3}};
		static const uint64_t memory[6][2] = {
			{5, 6},	      {UNKNOWN, 6},	  {UNKNOWN, 6},
			{5, UNKNOWN}, {UNKNOWN, UNKNOWN}, {UNKNOWN, 6}};

		begin(&x, true);
		turn(&x, 8, 8);
		set(&x, 3, 6);
		turn(&x, 7, 7);
		set(&x, 1, 5);
		turn(&x, 7, 9);
		set(&x, 2, 5);
		if (how == 1)
			vti_path_lose(x.p);
		else if (how == 2)
			vti_path_lose_process(x.p, 7);
		else if (how == 3)
			vti_path_lose_process(x.p, 8);
		else if (how == 4)
			vti_path_lose_all(x.p);
		else if (how == 5)
			vti_path_lose_memory(x.p, 7);
		vti_path_lose_memory(x.p, 50);
		turn(&x, 7, 9);
		check(&x, regs[how][1], memory[how][0]);
		if (how == 2 || how == 4)
			assert_false(x.p->at->in_syscall || x.p->at->in_kernel);
		else
			assert_true(x.p->at->in_syscall && x.p->at->in_kernel);
		turn(&x, 7, 7);
		check(&x, regs[how][0], memory[how][0]);
		turn(&x, 8, 8);
		check(&x, regs[how][2], memory[how][1]);
		end(&x);
	}
}

/* ---- answers ---- */

#define MOST 12 /* slots */

/* A step through a block of one instruction's bytes, several times. */
struct asked {
	struct vt_interpret in;
	struct vti_paths p;
	struct vt_bblock b;
	struct vt_step s;
	uint8_t code[64], lengths[8], data[16 * MOST];
	struct vt_slot slots[MOST];
	struct vt_interp_hooks hooks;
};

static void begin_block(struct asked *a, const char *code, uint8_t length, uint32_t ninsns)
{
	uint32_t i;

	memset(a, 0, sizeof(*a));
	for (i = 0; i < ninsns; i++) {
		memcpy(a->code + i * length, code, length);
		a->lengths[i] = length;
	}
	a->b = (struct vt_bblock){.id = 1000,
				  .size = length * ninsns,
				  .ninsns = ninsns,
				  .lengths = a->lengths,
				  .code = a->code,
				  .slots = a->slots};
	a->s = (struct vt_step){.block = &a->b, .insn_end = ninsns, .data = a->data};
	a->p.in = &a->in;
	a->p.step = &a->s;
	a->p.asked = UINT32_MAX;
	a->hooks = vti_path_hooks(&a->p);
}

static void put_slot(struct asked *a, uint16_t insn, unsigned what, uint16_t size, uint64_t value)
{
	uint32_t n = a->b.nslots++;

	assert_true(n < MOST);
	a->slots[n] = (struct vt_slot){
		.insn = insn, .what = (uint8_t)what, .size = size, .offset = 16 * n, .reg = 16};
	vt_put_le64(a->data + 16 * n, value);
	vt_put_le64(a->data + 16 * n + 8, value + 1);
	a->s.slot_end = a->b.nslots;
}

/* What was loaded, by an address: the answer, or UNKNOWN. */
static uint64_t load_at(struct asked *a, uint32_t insn, struct vt_word addr, unsigned size)
{
	struct vt_word w[2] = {vt_word_unknown(64), vt_word_unknown(64)};

	a->hooks.load(a->hooks.arg, insn, addr, size, w);
	if (size > 8 && vt_word_is_known(w[0]))
		assert_int_equal(w[1].value, w[0].value + 1);
	assert_int_equal(vt_word_is_known(w[1]), size > 8 && vt_word_is_known(w[0]));
	return vt_word_is_known(w[0]) ? w[0].value : UNKNOWN;
}

static uint64_t load(struct asked *a, uint32_t insn, unsigned size)
{
	return load_at(a, insn, vt_word_unknown(64), size);
}

static void end_block(struct asked *a)
{
	vti_path_free_slots(&a->p);
}

#define MOV   "\x48\x8b\x06" /* mov (%rsi),%rax: one load */
#define PUSH  "\xff\x36"     /* pushq (%rsi): one */
#define CMPS  "\x48\xa7"     /* cmpsq: two */
#define NOLEA "\x48\x8d\x06" /* lea (%rsi),%rax: none */
#define BADOP "\x06"	     /* none that there is */

/* Loads are paired with questions where none of an instruction's is missing. */
static void test_loads(void **state)
{
	struct asked a;

	(void)state;
	begin_block(&a, MOV, 3, 3);
	put_slot(&a, 0, VT_WHAT_LOAD, 8, 10);
	put_slot(&a, 2, VT_WHAT_LOAD, 8, 12);
	assert_int_equal(load(&a, 0, 8), 10);
	assert_int_equal(load(&a, 1, 8), UNKNOWN);
	assert_int_equal(load(&a, 2, 8), 12);
	assert_int_equal(load(&a, 2, 8), UNKNOWN); /* a second one */
	assert_int_equal(load(&a, 0, 4), UNKNOWN); /* of another size */
	assert_int_equal(a.in.totals.stale, 0);
	/* A step that begins later counts from there; another one has no values. */
	a.s.insn = 1;
	a.s.slot = 1;
	a.s.data_offset = 16;
	a.s.data = a.data + 16;
	a.p.asked = UINT32_MAX;
	assert_int_equal(load(&a, 1, 8), 12);
	assert_int_equal(load(&a, 0, 8), UNKNOWN);
	a.s.slot_end = a.s.slot;
	assert_int_equal(load(&a, 1, 8), UNKNOWN);
	end_block(&a);
	/* Two of an instruction, in their order. */
	begin_block(&a, CMPS, 2, 2);
	put_slot(&a, 0, VT_WHAT_LOAD, 8, 20);
	put_slot(&a, 0, VT_WHAT_LOAD, 8, 21);
	put_slot(&a, 1, VT_WHAT_LOAD, 8, 22);
	assert_int_equal(load(&a, 0, 8), 20);
	assert_int_equal(load(&a, 0, 8), 21);
	assert_int_equal(load(&a, 0, 8), UNKNOWN);
	assert_int_equal(load(&a, 1, 8), UNKNOWN); /* one is missing */
	assert_int_equal(load(&a, 0, 8), 20);
	end_block(&a);
	/* More than the instruction makes; an instruction that nobody knows. */
	begin_block(&a, MOV, 3, 1);
	put_slot(&a, 0, VT_WHAT_LOAD, 8, 30);
	put_slot(&a, 0, VT_WHAT_LOAD, 8, 31);
	assert_int_equal(load(&a, 0, 8), UNKNOWN);
	end_block(&a);
	begin_block(&a, BADOP, 1, 1);
	put_slot(&a, 0, VT_WHAT_LOAD, 8, 32);
	assert_int_equal(load(&a, 0, 8), UNKNOWN);
	end_block(&a);
	begin_block(&a, NOLEA, 3, 1);
	put_slot(&a, 0, VT_WHAT_LOAD, 8, 33);
	assert_int_equal(load(&a, 0, 8), UNKNOWN);
	end_block(&a);
	/* Gathers make as many as their mask says: vpgatherdd %ymm1,(%rsi,%ymm2,1),%ymm0. */
	begin_block(&a, "\xc4\xe2\x75\x90\x04\x16", 6, 1);
	put_slot(&a, 0, VT_WHAT_LOAD, 4, 34);
	assert_int_equal(load(&a, 0, 4), UNKNOWN);
	end_block(&a);
	/* Of 16 bytes: movdqu (%rsi),%xmm0. */
	begin_block(&a, "\xf3\x0f\x6f\x06", 4, 1);
	put_slot(&a, 0, VT_WHAT_LOAD, 16, 40);
	assert_int_equal(load(&a, 0, 16), 40);
	end_block(&a);
}

/* An access that did not happen is not paired; nor is one at another address. */
static void test_guards_and_addresses(void **state)
{
	struct asked a;
	unsigned done;

	(void)state;
	for (done = 0; done < 4; done++) {
		begin_block(&a, PUSH, 2, 2);
		put_slot(&a, 0, VT_WHAT_GUARD, 1, done);
		put_slot(&a, 0, VT_WHAT_LOAD_ADDRESS, 8, 0x9000);
		put_slot(&a, 0, VT_WHAT_LOAD, 8, 50);
		put_slot(&a, 1, VT_WHAT_LOAD, 8, 51);
		assert_int_equal(load(&a, 0, 8), done & 1 ? 50 : UNKNOWN);
		assert_int_equal(load(&a, 1, 8), 51);
		assert_int_equal(load_at(&a, 0, vt_word_of(0x9000), 8), done & 1 ? 50 : UNKNOWN);
		a.p.asked = UINT32_MAX;
		assert_int_equal(load_at(&a, 0, vt_word_of(0x9008), 8), UNKNOWN);
		/* The address of the other's load is not this one's. */
		assert_int_equal(load_at(&a, 1, vt_word_of(0x77), 8), 51);
		end_block(&a);
	}
	begin_block(&a, PUSH, 2, 2);
	put_slot(&a, 0, VT_WHAT_LOAD_ADDRESS, 8, 0x9000);
	put_slot(&a, 1, VT_WHAT_LOAD, 8, 52);
	assert_int_equal(load_at(&a, 1, vt_word_of(0x77), 8), 52);
	end_block(&a);
	begin_block(&a, PUSH, 2, 1);
	put_slot(&a, 0, VT_WHAT_OPERAND, 8, 0x9000);
	put_slot(&a, 0, VT_WHAT_LOAD, 8, 53);
	assert_int_equal(load_at(&a, 0, vt_word_of(0x77), 8), 53);
	end_block(&a);
}

/* What is known otherwise is counted, and given up. */
static void test_stale(void **state)
{
	static const struct {
		struct vt_word had;
		unsigned stale;
	} rows[] = {
		{{0, 0}, 0},	   {{0x60, UINT64_MAX}, 0}, {{0x61, UINT64_MAX}, 1},
		{{0x61, 0xf0}, 0}, {{0x70, 0xf0}, 1},
	};
	struct asked a;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vt_word w = rows[i].had;

		begin_block(&a, MOV, 3, 1);
		put_slot(&a, 0, VT_WHAT_LOAD, 8, 0x60);
		a.hooks.load(a.hooks.arg, 0, vt_word_unknown(64), 8, &w);
		assert_true(vt_word_is_known(w) && w.value == 0x60);
		assert_int_equal(a.in.totals.stale, rows[i].stale);
		end_block(&a);
	}
}

/* How many loads instructions make is kept by blocks. */
static void test_blocks(void **state)
{
	struct asked a;
	const uint8_t *kept;

	(void)state;
	begin_block(&a, MOV, 3, 2);
	put_slot(&a, 0, VT_WHAT_LOAD, 8, 70);
	put_slot(&a, 1, VT_WHAT_LOAD, 8, 71);
	assert_int_equal(load(&a, 1, 8), 71);
	kept = a.p.loads[1000];
	assert_true(kept[0] == 1 && kept[1] == 1);
	assert_null(a.p.loads[999]);
	a.p.asked = UINT32_MAX;
	assert_int_equal(load(&a, 1, 8), 71);
	assert_ptr_equal(a.p.loads[1000], kept);
	a.b.id = a.p.nloads; /* the first behind those that there is room for */
	a.p.asked = UINT32_MAX;
	assert_int_equal(load(&a, 0, 8), 70);
	assert_ptr_equal(a.p.loads[1000], kept);
	assert_non_null(a.p.loads[a.b.id]);
	a.b.id = 0;
	a.p.asked = UINT32_MAX;
	assert_int_equal(load(&a, 0, 8), 70);
	end_block(&a);
}

/* What cpuid left, by its place in the guest state, which put_slot() says is 16. */
static void test_states(void **state)
{
	struct asked a;
	unsigned i;

	(void)state;
	begin_block(&a, "\x0f\xa2", 2, 3);
	put_slot(&a, 0, VT_WHAT_STATE, 8, 80);
	put_slot(&a, 1, VT_WHAT_LOAD, 8, 81);
	put_slot(&a, 1, VT_WHAT_STATE, 16, 82);
	put_slot(&a, 1, VT_WHAT_STATE, 8, 84);
	for (i = 0; i < 2; i++) {
		/* Instruction, place, bytes; the answer of a whole block, and from the second on.
		 */
		static const struct {
			uint32_t insn;
			unsigned offset, size;
			uint64_t want[2];
		} rows[] = {
			{0, 16, 8, {80, 84}},		{1, 16, 8, {84, UNKNOWN}},
			{1, 16, 16, {82, UNKNOWN}},	{0, 16, 16, {UNKNOWN, 82}},
			{0, 24, 8, {UNKNOWN, UNKNOWN}}, {2, 16, 8, {UNKNOWN, UNKNOWN}},
			{0, 16, 4, {UNKNOWN, UNKNOWN}},
		};
		size_t k;

		for (k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
			struct vt_word w[2] = {vt_word_unknown(64), vt_word_unknown(64)};
			uint64_t want = rows[k].want[i];

			a.hooks.state(a.hooks.arg, rows[k].insn, rows[k].offset, rows[k].size, w);
			assert_int_equal(vt_word_is_known(w[0]) ? w[0].value : UNKNOWN, want);
			if (rows[k].size > 8 && want != UNKNOWN)
				assert_true(vt_word_is_known(w[1]) && w[1].value == want + 1);
			else
				assert_false(vt_word_is_known(w[1]));
		}
		a.s.insn = 1;
		a.s.slot = 1;
		a.s.data_offset = 16;
		a.s.data = a.data + 16;
	}
	end_block(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_most_threads),
		cmocka_unit_test(test_most_processes),
		cmocka_unit_test(test_trace),
		cmocka_unit_test(test_recorded),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_loads),
		cmocka_unit_test(test_guards_and_addresses),
		cmocka_unit_test(test_stale),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
