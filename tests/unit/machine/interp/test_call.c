/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the interpreter makes of calls of VEX's helpers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "machine/interp/call.h"
#include "machine/interp/flags.h"
#include "machine/interp/internal.h"

#define MEM    0x7000u
#define AT(f)  ((unsigned)offsetof(VexGuestAMD64State, guest_##f))
#define UNSEEN UINT64_C(0x5555555555555555)
#define READS  1u
#define WRITES 2u

enum { ARG = 0, ADDRESS = 8, GUARD = 9, DST = 16 };

struct fixture {
	struct vt_known_memory *mem;
	struct vt_interp *m;
	struct vt_interp_hooks hooks;
	struct vt_word slots[32];
	struct vti_call call;
	struct vti_op op;
};

static void begin(struct fixture *f, const char *name, void *fn, unsigned nargs)
{
	static const struct vt_interp_options opt;
	struct vt_error err = VT_ERROR_INIT;
	unsigned i;

	memset(f, 0, sizeof(*f));
	f->mem = vt_known_memory_new(NULL, NULL, 1 << 20);
	assert_non_null(f->mem);
	f->m = vt_interp_new(&opt, f->mem, &err);
	assert_non_null(f->m);
	f->m->hooks = &f->hooks;
	for (i = 0; i < 32; i++)
		f->slots[i] = (struct vt_word){UNSEEN, UNSEEN};
	f->call = (struct vti_call){
		.fn = fn,
		.name = name,
		.nargs = (uint8_t)nargs,
		.result_size = 8,
		.args = {ARG, ARG + 1, ARG + 2, ARG + 3, ARG + 4, ARG + 5, ARG + 6, ARG + 7},
		.dst = DST,
		.guard = VTI_NO_SLOT,
		.address = ADDRESS};
	for (i = 0; i < 8; i++)
		f->slots[ARG + i] = vt_word_of(i + 1);
	f->slots[ADDRESS] = vt_word_of(MEM);
	vt_known_memory_set(f->mem, MEM - 1, (const uint8_t *)"<0123456789ab>", 14);
	f->op = (struct vti_op){.op = VTI_CCALL, .insn = 7, .data = &f->call};
	f->op.aux = (uint16_t)vti_call_kind(&f->call);
}

static void end(struct fixture *f)
{
	vt_interp_free(f->m);
	vt_known_memory_free(f->mem);
}

static void expect(struct vt_word w, uint64_t value, uint64_t known)
{
	assert_int_equal(w.value, value);
	assert_int_equal(w.known, known);
}

static void expect_bytes(struct fixture *f, int64_t offset, const char *bytes, unsigned size)
{
	struct vt_word w;
	uint64_t value = 0;

	memcpy(&value, bytes, size);
	vt_known_memory_load(f->mem, (uint64_t)((int64_t)MEM + offset), size, &w);
	expect(w, value, UINT64_MAX);
}

/* ---- without effects ---- */

/* Numbers of their operands, as decimal digits. */
static unsigned long digits1(unsigned long a)
{
	return a;
}

static unsigned long digits2(unsigned long a, unsigned long b)
{
	return 10 * a + b;
}

static unsigned long digits3(unsigned long a, unsigned long b, unsigned long c)
{
	return 10 * digits2(a, b) + c;
}

static unsigned long digits4(unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
	return 10 * digits3(a, b, c) + d;
}

static unsigned long digits5(unsigned long a, unsigned long b, unsigned long c, unsigned long d,
			     unsigned long e)
{
	return 10 * digits4(a, b, c, d) + e;
}

static unsigned long digits6(unsigned long a, unsigned long b, unsigned long c, unsigned long d,
			     unsigned long e, unsigned long f)
{
	return 10 * digits5(a, b, c, d, e) + f;
}

static unsigned long long_answer(unsigned long a)
{
	(void)a;
	return 0x8877665544332211;
}

#define PURE "amd64g_calculate_pdep"

static void helpers_get_their_operands(void **state)
{
	static const struct {
		void *fn;
		uint64_t want;
	} cases[] = {{NULL, 0},	      {digits1, 1},	{digits2, 12},	  {digits3, 123},
		     {digits4, 1234}, {digits5, 12345}, {digits6, 123456}};
	struct fixture f;
	unsigned n, i;

	(void)state;
	for (n = 1; n < 7; n++) {
		begin(&f, PURE, cases[n].fn, n);
		vti_call_pure(f.m, &f.op, f.slots);
		expect(f.slots[DST], cases[n].want, UINT64_MAX);
		expect(f.slots[DST + 1], UNSEEN, UNSEEN);
		for (i = 0; i < n; i++) {
			f.slots[ARG + i].known = ~UINT64_C(0x100);
			vti_call_pure(f.m, &f.op, f.slots);
			expect(f.slots[DST], 0, 0);
			f.slots[ARG + i].known = UINT64_MAX;
		}
		/* What is behind the operands does not count. */
		f.slots[ARG + n].known = 0;
		vti_call_pure(f.m, &f.op, f.slots);
		expect(f.slots[DST], cases[n].want, UINT64_MAX);
		end(&f);
	}
	begin(&f, PURE, digits6, 7);
	vti_call_pure(f.m, &f.op, f.slots);
	expect(f.slots[DST], 0, 0);
	end(&f);
}

static void results_are_as_wide_as_they_say(void **state)
{
	struct fixture f;
	unsigned size, i;

	(void)state;
	for (size = 1; size <= 32; size *= 2) {
		begin(&f, PURE, long_answer, 1);
		f.call.result_size = (uint8_t)size;
		vti_call_pure(f.m, &f.op, f.slots);
		if (size <= 8)
			expect(f.slots[DST], 0x8877665544332211 & vt_low_bits(8 * size),
			       UINT64_MAX);
		else
			for (i = 0; i < size / 8; i++)
				expect(f.slots[DST + i], 0, 0);
		expect(f.slots[DST + (size < 8 ? 1 : size / 8)], UNSEEN, UNSEEN);
		f.slots[ARG].known = 0;
		vti_call_pure(f.m, &f.op, f.slots);
		expect(f.slots[DST], 0, size < 8 ? ~vt_low_bits(8 * size) : 0);
		end(&f);
	}
	begin(&f, PURE, long_answer, 1);
	f.call.result_size = 0;
	vti_call_pure(f.m, &f.op, f.slots);
	f.slots[ARG].known = 0;
	vti_call_pure(f.m, &f.op, f.slots);
	expect(f.slots[DST], UNSEEN, UNSEEN);
	end(&f);
}

static void helpers_are_known_by_name(void **state)
{
	static const struct {
		const char *name;
		bool called, by_valgrind;
	} cases[] = {
		{"amd64g_calculate_RCL", true, true},
		{"amd64g_calculate_RCR", true, true},
		{"amd64g_calc_crc32b", true, true},
		{"amd64g_calc_crc32w", true, true},
		{"amd64g_calc_crc32l", true, true},
		{"amd64g_calc_crc32q", true, true},
		{"amd64g_calc_mpsadbw", true, true},
		{"amd64g_calculate_mmx_pmaddwd", true, true},
		{"amd64g_calculate_mmx_psadbw", true, true},
		{"amd64g_calculate_sse_phminposuw", true, true},
		{"amd64g_calculate_pclmul", true, true},
		{"amd64g_calculate_pdep", true, true},
		{"amd64g_calculate_pext", true, true},
		{"amd64g_check_fldcw", true, true},
		{"amd64g_check_ldmxcsr", true, true},
		{"amd64g_create_mxcsr", false, true},
		{"amd64g_create_fpucw", false, true},
		{"amd64g_calculate_FXAM", false, true}, /* of a denormal number */
		{"amd64g_dirtyhelper_RDTSC", false, false},
		{"amd64g_dirtyhelper_AES", false, false},
		{"amd64g_calculate_pde", false, false},
		{"amd64g_calculate_pdep_", false, false},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fixture f;
		bool valgrind;

		begin(&f, cases[i].name, digits2, 2);
		for (valgrind = false;; valgrind = true) {
			f.m->opt.valgrind = valgrind;
			vti_call_pure(f.m, &f.op, f.slots);
			if (vt_word_is_known(f.slots[DST]) !=
			    (valgrind ? cases[i].by_valgrind : cases[i].called))
				fail_msg("%s", cases[i].name);
			if (valgrind)
				break;
		}
		end(&f);
	}
}

/* What a register of 80 bits holds, in 64: denormal numbers would be none there. */
static void classes_are_those_of_80_bits(void **state)
{
	static const struct {
		uint64_t number;
		bool same;
	} cases[] = {
		{0, true},
		{0x8000000000000000, true},
		{1, false},
		{0x8000000000000001, false},
		{0x000fffffffffffff, false},
		{0x0008000000000000, false},
		{0x0010000000000000, true},
		{0x3ff0000000000000, true},
		{0x3ff0000000000001, true},
		{0x7ff0000000000000, true},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fixture f;

		begin(&f, "amd64g_calculate_FXAM", digits2, 2);
		f.slots[ARG + 1] = vt_word_of(cases[i].number);
		vti_call_pure(f.m, &f.op, f.slots);
		assert_int_equal(vt_word_is_known(f.slots[DST]), cases[i].same);
		f.m->opt.valgrind = true;
		vti_call_pure(f.m, &f.op, f.slots);
		assert_true(vt_word_is_known(f.slots[DST]));
		end(&f);
	}
}

/* cmp of 8 bits, 3 and 5: below, and by signs less; its flags are C, A and S. */
static void flags_come_from_the_thunk(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "amd64g_calculate_rflags_all", NULL, 4);
	f.slots[ARG] = vt_word_of(5);
	f.slots[ARG + 1] = vt_word_of(3);
	f.slots[ARG + 2] = vt_word_of(5);
	vti_call_pure(f.m, &f.op, f.slots);
	expect(f.slots[DST], VTI_FLAG_C | VTI_FLAG_A | VTI_FLAG_S, UINT64_MAX);
	end(&f);
	begin(&f, "amd64g_calculate_rflags_c", NULL, 4);
	f.slots[ARG] = vt_word_of(5);
	f.slots[ARG + 1] = vt_word_of(3);
	f.slots[ARG + 2] = vt_word_of(5);
	vti_call_pure(f.m, &f.op, f.slots);
	expect(f.slots[DST], 1, UINT64_MAX);
	/* 3 and 1 or 5 */
	f.slots[ARG + 2] = (struct vt_word){1, ~UINT64_C(4)};
	vti_call_pure(f.m, &f.op, f.slots);
	expect(f.slots[DST], 0, ~UINT64_C(1));
	end(&f);
	begin(&f, "amd64g_calculate_condition", NULL, 5);
	f.slots[ARG] = vt_word_of(0xc);
	f.slots[ARG + 1] = vt_word_of(5);
	f.slots[ARG + 2] = vt_word_of(3);
	f.slots[ARG + 3] = vt_word_of(5);
	vti_call_pure(f.m, &f.op, f.slots);
	expect(f.slots[DST], 1, UINT64_MAX);
	assert_true(vti_call_is_condition(&f.op));
	f.op.op = VTI_DIRTY;
	assert_false(vti_call_is_condition(&f.op));
	end(&f);
	begin(&f, PURE, digits1, 1);
	assert_false(vti_call_is_condition(&f.op));
	end(&f);
}

static void ldmxcsr_sets_the_rounding(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "amd64g_check_ldmxcsr", digits1, 1);
	assert_int_equal(f.m->fp.rounding, -1);
	f.slots[ARG] = vt_word_of(0x5f80); /* up */
	vti_call_pure(f.m, &f.op, f.slots);
	assert_int_equal(f.m->fp.rounding, 2);
	assert_int_equal(f.m->fp.zeroes, 0);
	expect(f.slots[DST], 0x5f80, UINT64_MAX);
	f.slots[ARG] = vt_word_of(0x9fc0);
	vti_call_pure(f.m, &f.op, f.slots);
	assert_int_equal(f.m->fp.rounding, 0);
	assert_int_equal(f.m->fp.zeroes, 0x8040);
	f.slots[ARG].known = ~UINT64_C(0x2000);
	vti_call_pure(f.m, &f.op, f.slots);
	assert_int_equal(f.m->fp.rounding, -1);
	assert_int_equal(f.m->fp.zeroes, 0x8040);
	f.slots[ARG].known = ~UINT64_C(0x40);
	vti_call_pure(f.m, &f.op, f.slots);
	assert_int_equal(f.m->fp.zeroes, -1);
	end(&f);
}

/* ---- with effects ---- */

#define ON_STATE "amd64g_dirtyhelper_AES"

/* rax and the lowest two bytes of rbx from rcx and what it is given. */
static unsigned long change_state(VexGuestAMD64State *s, unsigned long a)
{
	s->guest_RAX = s->guest_RCX + a;
	s->guest_RBX = 0x1111111111112233;
	s->guest_RDX = 99; /* without having said so */
	return 42;
}

static void set_up_state(struct fixture *f)
{
	begin(f, ON_STATE, change_state, 1);
	f->call.passes_state = true;
	f->call.nstate = 3;
	f->call.state[0].offset = AT(RCX);
	f->call.state[0].size = 8;
	f->call.state[0].effect = READS;
	f->call.state[1].offset = AT(RAX);
	f->call.state[1].size = 8;
	f->call.state[1].effect = WRITES;
	f->call.state[2].offset = AT(RBX);
	f->call.state[2].size = 2;
	f->call.state[2].effect = READS | WRITES;
	f->m->state[VTI_STATE(RCX)] = vt_word_of(10);
	f->m->state[VTI_STATE(RAX)] = (struct vt_word){0, 0};
	f->m->state[VTI_STATE(RBX)] = (struct vt_word){0x5555, ~UINT64_C(0xff0000)};
	f->m->state[VTI_STATE(RDX)] = vt_word_of(7);
}

static void state_is_changed_as_declared(void **state)
{
	struct fixture f;

	(void)state;
	set_up_state(&f);
	vti_call_dirty(f.m, &f.op, f.slots);
	expect(f.slots[DST], 42, UINT64_MAX);
	expect(f.m->state[VTI_STATE(RAX)], 11, UINT64_MAX);
	expect(f.m->state[VTI_STATE(RBX)], 0x2233, ~UINT64_C(0xff0000));
	expect(f.m->state[VTI_STATE(RDX)], 7, UINT64_MAX);
	expect_bytes(&f, 0, "01234567", 8);
	end(&f);
}

static void expect_forgotten_state(struct fixture *f)
{
	expect(f->slots[DST], 0, 0);
	expect(f->m->state[VTI_STATE(RAX)], 0, 0);
	expect(f->m->state[VTI_STATE(RBX)], 0, ~UINT64_C(0xffffff));
	expect(f->m->state[VTI_STATE(RDX)], 7, UINT64_MAX);
	expect_bytes(f, 0, "01234567", 8);
}

static void state_is_forgotten_where_something_is_missing(void **state)
{
	struct fixture f;
	unsigned i;

	(void)state;
	for (i = 0; i < 6; i++) {
		set_up_state(&f);
		f.m->state[VTI_STATE(RAX)] = vt_word_of(1);
		if (i == 0)
			f.m->state[VTI_STATE(RCX)].known ^= UINT64_C(1) << 63;
		else if (i == 1)
			f.m->state[VTI_STATE(RBX)].known ^= 0x8000;
		else if (i == 2)
			f.slots[ARG].known = ~UINT64_C(1);
		else if (i == 3)
			f.call.passes_state = false;
		else if (i == 4)
			f.call.nargs = 6;
		else
			f.op.aux = 0;
		f.m->state[VTI_STATE(RBX)].value &= f.m->state[VTI_STATE(RBX)].known;
		vti_call_dirty(f.m, &f.op, f.slots);
		expect_forgotten_state(&f);
		end(&f);
	}
	set_up_state(&f);
	vti_call_forget(f.m, &f.call);
	f.slots[DST] = (struct vt_word){0, 0};
	expect_forgotten_state(&f);
	end(&f);
}

static void guards_decide_calls(void **state)
{
	struct fixture f;

	(void)state;
	set_up_state(&f);
	f.call.guard = GUARD;
	f.slots[GUARD] = vt_word_of(0);
	vti_call_dirty(f.m, &f.op, f.slots);
	expect(f.slots[DST], 0, 0);
	expect(f.m->state[VTI_STATE(RBX)], 0x5555, ~UINT64_C(0xff0000));
	f.slots[GUARD] = vt_word_of(1);
	vti_call_dirty(f.m, &f.op, f.slots);
	expect(f.slots[DST], 42, UINT64_MAX);
	expect(f.m->state[VTI_STATE(RAX)], 11, UINT64_MAX);
	f.slots[GUARD] = (struct vt_word){0, ~UINT64_C(1)};
	vti_call_dirty(f.m, &f.op, f.slots);
	expect_forgotten_state(&f);
	end(&f);
}

static void memory_is_forgotten_as_declared(void **state)
{
	struct fixture f;
	struct vt_word w;

	(void)state;
	begin(&f, "unheard of", NULL, 0);
	f.call.size = 10;
	f.call.memory = READS;
	vti_call_dirty(f.m, &f.op, f.slots);
	expect_bytes(&f, 0, "01234567", 8);
	f.call.memory = READS | WRITES;
	vti_call_dirty(f.m, &f.op, f.slots);
	expect_bytes(&f, -1, "<", 1);
	expect_bytes(&f, 10, "ab>", 3);
	vt_known_memory_load(f.mem, MEM, 8, &w);
	expect(w, 0, 0);
	f.slots[ADDRESS].known = ~UINT64_C(1);
	vti_call_dirty(f.m, &f.op, f.slots);
	vt_known_memory_load(f.mem, MEM + 10, 1, &w);
	expect(w, 0, ~UINT64_C(0xff));
	vt_known_memory_set(f.mem, MEM, (const uint8_t *)"0123", 4);
	f.call.memory = READS;
	vti_call_forget(f.m, &f.call);
	expect_bytes(&f, 0, "0123", 4);
	f.call.memory = WRITES;
	vti_call_forget(f.m, &f.call);
	vt_known_memory_load(f.mem, MEM, 4, &w);
	expect(w, 0, ~UINT64_C(0xffffffff));
	end(&f);
}

/* ---- numbers of 80 bits ---- */

void amd64g_dirtyhelper_storeF80le(unsigned long addr, unsigned long f64);
unsigned long amd64g_dirtyhelper_loadF80le(unsigned long addr);

static void set_up_f80(struct fixture *f, bool store)
{
	begin(f, store ? "amd64g_dirtyhelper_storeF80le" : "amd64g_dirtyhelper_loadF80le",
	      store ? (void *)amd64g_dirtyhelper_storeF80le : (void *)amd64g_dirtyhelper_loadF80le,
	      store ? 2 : 1);
	f->slots[ARG] = f->slots[ADDRESS];
	f->call.result_size = store ? 0 : 8;
	f->call.memory = store ? WRITES : READS;
	f->call.size = 10;
}

/* Of a sign, 15 bits of exponent and 64 of which the first is 1. */
static const struct {
	uint64_t f64;
	const char *f80;
} f80s[] = {
	{0x3ff0000000000000, "\0\0\0\0\0\0\0\x80\xff\x3f"},   /* 1 */
	{0xc000000000000000, "\0\0\0\0\0\0\0\x80\0\xc0"},     /* -2 */
	{0x3ff8000000000000, "\0\0\0\0\0\0\0\xc0\xff\x3f"},   /* 1.5 */
	{0x3ff0000000000001, "\0\x08\0\0\0\0\0\x80\xff\x3f"}, /* the next above 1 */
	{0x0000000000000000, "\0\0\0\0\0\0\0\0\0\0"},	      /* 0 */
	{0x7ff0000000000000, "\0\0\0\0\0\0\0\x80\xff\x7f"},   /* infinite */
	{0xfff0000000000000, "\0\0\0\0\0\0\0\x80\xff\xff"},   /* likewise */
};

static void numbers_become_80_bits(void **state)
{
	struct fixture f;
	struct vt_word w;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(f80s) / sizeof(*f80s); i++) {
		set_up_f80(&f, true);
		f.slots[ARG + 1] = vt_word_of(f80s[i].f64);
		vti_call_dirty(f.m, &f.op, f.slots);
		expect_bytes(&f, 0, f80s[i].f80, 8);
		expect_bytes(&f, 8, f80s[i].f80 + 8, 2);
		expect_bytes(&f, -1, "<", 1);
		expect_bytes(&f, 10, "ab>", 3);
		end(&f);
	}
	/* Not numbers, whose bits may differ, and what is not known. */
	for (i = 0; i < 4; i++) {
		set_up_f80(&f, true);
		f.slots[ARG + 1] = vt_word_of(i == 0   ? 0x7ff0000000000001
					      : i == 1 ? 0xfff8000000000000
						       : 0x3ff0000000000000);
		if (i == 2)
			f.slots[ARG + 1].known = ~UINT64_C(1);
		else if (i == 3)
			f.call.nargs = 3;
		vti_call_dirty(f.m, &f.op, f.slots);
		vt_known_memory_load(f.mem, MEM, 8, &w);
		expect(w, 0, 0);
		vt_known_memory_load(f.mem, MEM + 8, 2, &w);
		expect(w, 0, ~UINT64_C(0xffff));
		expect_bytes(&f, 10, "ab>", 3);
		end(&f);
	}
}

static void only_what_64_bits_hold_is_loaded(void **state)
{
	static const char *const others[] = {
		"\1\0\0\0\0\0\0\x80\xff\x3f", /* a bit too many */
		"\0\0\0\0\0\0\0\x80\xff\x5f", /* too large */
		"\0\0\0\0\0\0\0\x80\xff\x1f", /* too small */
		"\0\0\0\0\0\0\0\xc0\xff\x7f", /* no number */
	};
	struct fixture f;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(f80s) / sizeof(*f80s); i++) {
		set_up_f80(&f, false);
		vt_known_memory_set(f.mem, MEM, (const uint8_t *)f80s[i].f80, 10);
		vti_call_dirty(f.m, &f.op, f.slots);
		expect(f.slots[DST], f80s[i].f64, UINT64_MAX);
		/* Any byte of it that is not known */
		vt_known_memory_forget_range(f.mem, MEM + i, 1);
		vti_call_dirty(f.m, &f.op, f.slots);
		expect(f.slots[DST], 0, 0);
		vt_known_memory_set(f.mem, MEM, (const uint8_t *)f80s[i].f80, 10);
		vt_known_memory_forget_range(f.mem, MEM + 9, 1);
		vti_call_dirty(f.m, &f.op, f.slots);
		expect(f.slots[DST], 0, 0);
		vt_known_memory_set(f.mem, MEM, (const uint8_t *)f80s[i].f80, 10);
		f.call.nargs = 2;
		vti_call_dirty(f.m, &f.op, f.slots);
		expect(f.slots[DST], 0, 0);
		end(&f);
	}
	for (i = 0; i < sizeof(others) / sizeof(*others); i++) {
		set_up_f80(&f, false);
		vt_known_memory_set(f.mem, MEM, (const uint8_t *)others[i], 10);
		vti_call_dirty(f.m, &f.op, f.slots);
		expect(f.slots[DST], 0, 0);
		expect_bytes(&f, 8, others[i] + 8, 2);
		end(&f);
	}
}

/* ---- recordings, and MXCSR ---- */

struct asked {
	unsigned n;
	unsigned offsets[4], sizes[4];
	uint32_t insn;
};

static void on_state(void *arg, uint32_t insn, unsigned offset, unsigned size,
		     struct vt_word *words)
{
	struct asked *a = arg;

	assert_true(a->n < 4);
	a->offsets[a->n] = offset;
	a->sizes[a->n++] = size;
	a->insn = insn;
	words[0] = vt_word_of(a->n);
}

/* In pieces of at most 32 bytes. */
static void recordings_tell_what_helpers_left(void **state)
{
	struct asked asked = {0};
	struct fixture f;

	(void)state;
	begin(&f, "unheard of", NULL, 0);
	f.hooks.state = on_state;
	f.hooks.arg = &asked;
	f.m->piece = 100;
	f.call.nstate = 2;
	f.call.state[0].offset = AT(RCX);
	f.call.state[0].size = 8;
	f.call.state[0].effect = READS;
	f.call.state[1].offset = AT(FPREG);
	f.call.state[1].size = 40;
	f.call.state[1].effect = WRITES;
	f.m->state[VTI_STATE(FPREG) + 5] = vt_word_of(77);
	vti_call_dirty(f.m, &f.op, f.slots);
	assert_int_equal(asked.n, 2);
	assert_int_equal(asked.insn, 107);
	assert_int_equal(asked.offsets[0], AT(FPREG));
	assert_int_equal(asked.sizes[0], 32);
	assert_int_equal(asked.offsets[1], AT(FPREG) + 32);
	assert_int_equal(asked.sizes[1], 8);
	expect(f.m->state[VTI_STATE(FPREG)], 1, UINT64_MAX);
	expect(f.m->state[VTI_STATE(FPREG) + 1], 0, 0);
	expect(f.m->state[VTI_STATE(FPREG) + 3], 0, 0);
	expect(f.m->state[VTI_STATE(FPREG) + 4], 2, UINT64_MAX);
	expect(f.m->state[VTI_STATE(FPREG) + 5], 77, UINT64_MAX);
	end(&f);
}

static void restored_state_has_a_rounding_of_its_own(void **state)
{
	static const struct {
		int offset; /* from that of the rounding */
		unsigned size;
		unsigned effect;
		bool changed;
	} cases[] = {
		{0, 8, WRITES, true},	{-8, 16, WRITES, true}, {-8, 9, WRITES, true},
		{-8, 8, WRITES, false}, {1, 7, WRITES, false},	{0, 8, READS, false},
		{-8, 24, READS, false}, {0, 1, WRITES, true},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fixture f;

		begin(&f, "unheard of", NULL, 0);
		f.call.nstate = 1;
		f.call.state[0].offset = (uint16_t)((int)AT(SSEROUND) + cases[i].offset);
		f.call.state[0].size = (uint16_t)cases[i].size;
		f.call.state[0].effect = (uint8_t)cases[i].effect;
		vt_interp_set_mxcsr(f.m, 0x3f80);
		assert_int_equal(f.m->fp.rounding, 1);
		f.m->opt.mxcsr = vt_word_of(0x7f80);
		vti_call_dirty(f.m, &f.op, f.slots);
		assert_int_equal(f.m->fp.rounding, cases[i].changed ? 3 : 1);
		f.m->opt.mxcsr = vt_word_of(0x5f80);
		vti_call_forget(f.m, &f.call);
		assert_int_equal(f.m->fp.rounding, cases[i].changed ? 2 : 1);
		end(&f);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(helpers_get_their_operands),
		cmocka_unit_test(results_are_as_wide_as_they_say),
		cmocka_unit_test(helpers_are_known_by_name),
		cmocka_unit_test(classes_are_those_of_80_bits),
		cmocka_unit_test(flags_come_from_the_thunk),
		cmocka_unit_test(ldmxcsr_sets_the_rounding),
		cmocka_unit_test(state_is_changed_as_declared),
		cmocka_unit_test(state_is_forgotten_where_something_is_missing),
		cmocka_unit_test(guards_decide_calls),
		cmocka_unit_test(memory_is_forgotten_as_declared),
		cmocka_unit_test(numbers_become_80_bits),
		cmocka_unit_test(only_what_64_bits_hold_is_loaded),
		cmocka_unit_test(recordings_tell_what_helpers_left),
		cmocka_unit_test(restored_state_has_a_rounding_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
