/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The interpreter against the processor, instruction by instruction: what the interpreter calls
 * known is what the processor computed, with everything known in front of it and with a part of it
 * hidden; with everything known, so is what comes out, but for what insnrules.c lists.
 *
 * usage: test_insn_native [PASSES [SEED [MNEMONIC]]]
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machine/interp/interp.h"
#include "tests/unit/machine/insn/insnforms.h"
#include "tests/unit/machine/insn/insnrules.h"

#define HIDDEN_RUNS 2	 /* of each case, beside the one with everything known */
#define MAX_STEPS   4096 /* repetitions of string instructions included */
#define KEPT_CODE   2000 /* cases whose lifted code is kept */
#define FLAGS	    0x8d5
#define FLAG_DF	    0x400
#define LINES	    (NATIVE_DATA / VT_KNOWN_LINE)
#define TOLD	    3 /* mismatches of a mnemonic that are printed */
#define MNEMONICS   (ZYDIS_MNEMONIC_MAX_VALUE + 1)

struct tally {
	unsigned runs;	    /* compared */
	unsigned wrong;	    /* known and not what the processor has */
	unsigned undefined; /* flags known that the manual leaves undefined */
	unsigned unknown;   /* not known with everything known in front */
	unsigned stopped;   /* not run to its end, likewise */
	unsigned unlifted;
	unsigned lifted;
	unsigned absent; /* the processor does not have it */
};

struct oracle {
	struct native native;
	struct vt_known_memory *mem;
	struct vt_interp *m;
	struct vt_rng rng;
	struct insn_case c;
	struct native_result truth;
	uint8_t data_after[NATIVE_DATA];
	uint64_t masks[LINES]; /* bytes of memory that are known in front */
	bool hides;
	uint64_t space;
	uint64_t nunlifted;
	uint64_t compared; /* bits */
	struct tally tally[MNEMONICS];
};

static struct {
	unsigned passes;
	uint64_t seed;
	const char *only;
} options = {.passes = 1, .seed = 1};

/* From the numbers of machine code. */
static const uint8_t registers[16] = {
	VT_REG_AX,     VT_REG_CX,     VT_REG_DX,     VT_REG_BX,	    VT_REG_SP,	   VT_REG_BP,
	VT_REG_SI,     VT_REG_DI,     VT_REG_R8,     VT_REG_R8 + 1, VT_REG_R8 + 2, VT_REG_R8 + 3,
	VT_REG_R8 + 4, VT_REG_R8 + 5, VT_REG_R8 + 6, VT_REG_R15,
};

/* ---- what the interpreter is given ---- */

static uint64_t fill_line(void *arg, uint64_t addr, uint8_t bytes[VT_KNOWN_LINE], bool lasting)
{
	const struct oracle *o = arg;
	uint64_t at = addr - o->native.data_addr;

	if (lasting || at >= NATIVE_DATA)
		return 0;
	memcpy(bytes, o->c.data + at, VT_KNOWN_LINE);
	return o->masks[at / VT_KNOWN_LINE];
}

static size_t fetch(void *arg, uint64_t space, uint64_t addr, uint8_t *bytes, size_t size)
{
	const struct oracle *o = arg;
	uint64_t at = addr - o->native.code_addr, end = o->c.size + 5; /* and the jump behind it */

	(void)space;
	if (at >= end)
		return 0;
	if (size > end - at)
		size = end - at;
	memcpy(bytes, o->native.code + at, size);
	return size;
}

static uint64_t draw_mask(struct oracle *o)
{
	uint64_t bits = vt_rng_next(&o->rng), mask = 0;
	unsigned i;

	switch (vt_rng_below(&o->rng, 6)) {
	case 0:
		return 0;
	case 1:
		return bits;
	case 2:
		return bits | vt_rng_next(&o->rng) | vt_rng_next(&o->rng);
	case 3:
		for (i = 0; i < 8; i++)
			mask |= bits >> i & 1 ? UINT64_C(0xff) << 8 * i : 0;
		return mask;
	default:
		return UINT64_MAX;
	}
}

static struct vt_word hidden(struct oracle *o, uint64_t value, bool keep)
{
	uint64_t mask = o->hides && !keep ? draw_mask(o) : UINT64_MAX;

	return (struct vt_word){value & mask, mask};
}

static void give(struct oracle *o)
{
	const struct native_state *in = &o->c.in;
	unsigned i, k;

	vt_interp_forget(o->m);
	for (i = 0; i < 16; i++) {
		bool address = i == 4 || o->c.addressing >> i & 1;

		vt_interp_set(o->m, registers[i], 0,
			      hidden(o, in->gpr[i], address && vt_rng_below(&o->rng, 8) != 0));
		for (k = 0; k < 4; k++)
			vt_interp_set(o->m, VT_REG_VECTOR + i, k,
				      hidden(o, in->vector[i][k], false));
	}
	vt_interp_set(o->m, VT_REG_FLAGS, 0, hidden(o, in->flags, false));
	vt_interp_set(o->m, VT_REG_GS, 0, vt_word_of(in->gs));
	vt_interp_set(o->m, VT_REG_IP, 0, vt_word_of(o->native.code_addr));
	if (!o->hides || vt_rng_below(&o->rng, 2))
		vt_interp_set_mxcsr(o->m, in->mxcsr);
	for (i = 0; i < LINES; i++)
		o->masks[i] = o->hides ? draw_mask(o) : UINT64_MAX;
	vt_known_memory_reset(o->mem);
}

/* ---- comparing ---- */

static const char *text_of(const struct oracle *o)
{
	static char text[256];
	ZydisFormatter formatter;

	if (!ZYAN_SUCCESS(ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL)) ||
	    !ZYAN_SUCCESS(ZydisFormatterFormatInstruction(
		    &formatter, &o->c.insn, o->c.operands, o->c.insn.operand_count_visible, text,
		    sizeof(text), o->native.code_addr + o->c.at, NULL)))
		return o->c.mnemonic;
	return text;
}

/* What is compared: a name, and which of them. */
struct place {
	const char *name;
	unsigned number;
};

static void tell(const struct oracle *o, const char *judgement, struct place what,
		 struct vt_word got, uint64_t truth, uint64_t before)
{
	size_t i;

	print_message("%s: %s: %s %u is %016llx of %016llx, not %016llx, was %016llx%s, mxcsr %x:",
		      text_of(o), judgement, what.name, what.number, (unsigned long long)got.value,
		      (unsigned long long)got.known, (unsigned long long)truth,
		      (unsigned long long)before, o->hides ? ", some hidden" : "", o->c.in.mxcsr);
	for (i = 0; i < o->c.insn.length; i++)
		print_message(" %02x", o->c.code[o->c.at + i]);
	print_message("\n");
}

static struct tally *tally(struct oracle *o)
{
	return &o->tally[o->c.insn.mnemonic];
}

static void compare(struct oracle *o, struct place what, struct vt_word got, uint64_t truth,
		    uint64_t before, uint64_t may_be_unknown)
{
	o->compared += (unsigned)__builtin_popcountll(got.known);
	if ((got.value ^ truth) & got.known) {
		if (tally(o)->wrong++ < TOLD)
			tell(o, "WRONG", what, got, truth, before);
	} else if (!o->hides && (~got.known & ~may_be_unknown)) {
		if (tally(o)->unknown++ < TOLD)
			tell(o, "unknown", what, got, truth, before);
	}
}

static void compare_flags(struct oracle *o, unsigned may_be_unknown)
{
	struct vt_word got = vt_interp_get(o->m, VT_REG_FLAGS, 0);
	uint64_t undefined = insn_undefined_flags(&o->c);
	uint64_t allowed = undefined | insn_unknown_flags(&o->c) | ~(uint64_t)(FLAGS | FLAG_DF);
	struct place what = {"flags", 0};

	if (may_be_unknown & RULE_FLAGS)
		allowed = UINT64_MAX;
	compare(o, what, got, o->truth.state.flags, o->c.in.flags, allowed);
	if (got.known & undefined && tally(o)->undefined++ < TOLD)
		tell(o, "undefined", what, got, undefined, o->c.in.flags);
}

static void compare_registers(struct oracle *o, unsigned may_be_unknown)
{
	unsigned i, k, lanes = o->native.has_avx ? 4 : 2;

	for (i = 0; i < 16; i++) {
		uint64_t allowed = may_be_unknown & RULE_GENERAL ? UINT64_MAX : 0;
		struct place what = {vt_reg_name(registers[i], 8), 0};

		compare(o, what, vt_interp_get(o->m, registers[i], 0), o->truth.state.gpr[i],
			o->c.in.gpr[i], allowed);
		for (k = 0; k < lanes; k++) {
			uint64_t truth = o->truth.state.vector[i][k];

			what = (struct place){vt_reg_name(VT_REG_VECTOR + i, 32), k};
			allowed = may_be_unknown & RULE_VECTOR ? UINT64_MAX
							       : insn_unknown_lanes(&o->c, truth);
			compare(o, what, vt_interp_get(o->m, VT_REG_VECTOR + i, k), truth,
				o->c.in.vector[i][k], allowed);
		}
	}
}

static void compare_memory(struct oracle *o, unsigned may_be_unknown)
{
	uint64_t allowed = may_be_unknown & RULE_MEMORY ? UINT64_MAX : 0;
	unsigned at, k;

	for (at = 0; at < NATIVE_DATA; at += 32) {
		struct vt_word words[4];

		vt_known_memory_load(o->mem, o->native.data_addr + at, 32, words);
		for (k = 0; k < 4; k++) {
			uint64_t truth, before;

			memcpy(&truth, o->data_after + at + 8 * k, 8);
			memcpy(&before, o->c.data + at + 8 * k, 8);
			compare(o, (struct place){"memory at", at + 8 * k}, words[k], truth, before,
				allowed);
		}
	}
}

static void stopped(struct oracle *o, enum vt_stop why)
{
	if (o->hides)
		return;
	if (tally(o)->stopped++ < TOLD)
		print_message("%s: stopped: %s\n", text_of(o), vt_stop_name(why));
}

/* Mask registers are not given (test_evex_native.c has them). */
static bool uses_masks(const struct insn_case *c)
{
	unsigned i;

	for (i = 0; i < c->insn.operand_count; i++)
		if (c->operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    ZydisRegisterGetClass(c->operands[i].reg.value) == ZYDIS_REGCLASS_MASK)
			return true;
	return false;
}

/* The processor ran it to the end. */
static void judge(struct oracle *o, enum vt_stop why, bool unlifted)
{
	unsigned may = unlifted || uses_masks(&o->c) ? RULE_ALL
						     : insn_may_be_unknown(&o->c, &o->truth.state);
	struct vt_word ip = vt_interp_get(o->m, VT_REG_IP, 0);
	uint64_t to = o->truth.exit == NATIVE_BRANCH ? native_branch(&o->native, o->c.size)
						     : native_through(&o->native, o->c.size);

	if (why != VT_STOP_CODE) {
		if (!(may & RULE_STOPS))
			stopped(o, why);
		if (why != VT_STOP_BRANCH || o->c.repeats || o->c.ninsns > 1)
			return;
	} else {
		compare(o, (struct place){"address", 0}, ip, to, o->native.code_addr, 0);
	}
	compare_registers(o, may);
	compare_flags(o, may);
	compare_memory(o, may);
	tally(o)->runs++;
}

static void interpret(struct oracle *o)
{
	struct vt_error err = VT_ERROR_INIT;
	uint64_t done, blocks, unlifted;
	enum vt_stop why;

	give(o);
	why = vt_interp_run(o->m, o->space, MAX_STEPS, &done, &err);
	vt_interp_lifted(o->m, &blocks, &unlifted);
	if (o->truth.exit != NATIVE_SIGNAL)
		judge(o, why, unlifted != o->nunlifted);
	else if (o->truth.signal == SIGFPE && why == VT_STOP_CODE && o->c.insn.operand_width >= 32)
		compare(o, (struct place){"rax of no quotient", 0},
			vt_interp_get(o->m, VT_REG_AX, 0), 0, o->c.in.gpr[0], UINT64_MAX);
}

/* VEX and the processor disagree about these: they are left to the processor. */
static bool has_idle_prefix(const struct insn_case *c)
{
	unsigned i;

	for (i = 0; i < c->insn.raw.prefix_count; i++)
		if (c->insn.raw.prefixes[i].type == ZYDIS_PREFIX_TYPE_IGNORED)
			return true;
	return false;
}

static void run_case(struct oracle *o)
{
	uint64_t blocks, unlifted;
	unsigned i;

	memcpy(o->native.code, o->c.code, o->c.size);
	memcpy(o->native.data, o->c.data, NATIVE_DATA);
	native_run(&o->native, o->c.size, &o->c.in, &o->truth);
	memcpy(o->data_after, o->native.data, NATIVE_DATA);
	if (o->truth.exit == NATIVE_SIGNAL && o->truth.signal == SIGILL) {
		tally(o)->absent++;
		return;
	}
	if (++o->space % KEPT_CODE == 0)
		vt_interp_forget_code(o->m);
	vt_interp_lifted(o->m, &blocks, &o->nunlifted);
	for (i = 0; i <= HIDDEN_RUNS; i++) {
		o->hides = i > 0;
		interpret(o);
	}
	vt_interp_lifted(o->m, &blocks, &unlifted);
	if (unlifted == o->nunlifted)
		tally(o)->lifted++;
	else if (!has_idle_prefix(&o->c))
		tally(o)->unlifted++;
}

/* ---- all of them ---- */

static void report(const struct oracle *o)
{
	struct tally all = {0};
	unsigned i, mnemonics = 0;

	for (i = 0; i < MNEMONICS; i++) {
		const struct tally *t = &o->tally[i];

		all.runs += t->runs;
		all.wrong += t->wrong;
		all.undefined += t->undefined;
		all.unknown += t->unknown;
		all.stopped += t->stopped;
		mnemonics += t->runs > 0;
		if (t->wrong || t->undefined || t->unknown || t->stopped)
			print_message(
				"%-16s %6u runs, %u wrong, %u undefined, %u unknown, %u stopped\n",
				ZydisMnemonicGetString((ZydisMnemonic)i), t->runs, t->wrong,
				t->undefined, t->unknown, t->stopped);
	}
	print_message("never lifted, so unknown:");
	for (i = 0; i < MNEMONICS; i++)
		if (o->tally[i].unlifted && !o->tally[i].lifted)
			print_message(" %s", ZydisMnemonicGetString((ZydisMnemonic)i));
	print_message("\nnot on this processor:");
	for (i = 0; i < MNEMONICS; i++)
		if (o->tally[i].absent && !o->tally[i].runs)
			print_message(" %s", ZydisMnemonicGetString((ZydisMnemonic)i));
	print_message("\n%u mnemonics, %u runs, %llu known bits: %u wrong, %u undefined, %u "
		      "unknown, %u stopped\n",
		      mnemonics, all.runs, (unsigned long long)o->compared, all.wrong,
		      all.undefined, all.unknown, all.stopped);
	assert_int_equal(all.wrong, 0);
	assert_int_equal(all.undefined, 0);
	assert_int_equal(all.unknown, 0);
	assert_int_equal(all.stopped, 0);
	assert_true(options.only || mnemonics > 400);
}

static void test_all(void **state)
{
	static struct oracle o;
	struct vt_interp_options opt = {.fetch = fetch, .fetch_arg = &o};
	struct vt_error err = VT_ERROR_INIT;
	unsigned pass, form, shape;

	(void)state;
	if (!native_open(&o.native)) {
		print_message("no memory to run code in\n");
		skip();
	}
	o.mem = vt_known_memory_new(fill_line, &o, 1 << 20);
	assert_non_null(o.mem);
	o.m = vt_interp_new(&opt, o.mem, &err);
	assert_non_null(o.m);
	vt_rng_init(&o.rng, options.seed);
	for (pass = 0; pass < options.passes; pass++)
		for (form = 0; form < INSN_FORMS; form++)
			for (shape = 0; shape < INSN_SHAPES; shape++)
				if (insn_case_make(&o.native, &o.rng, form, shape, &o.c) &&
				    (!options.only || strcmp(options.only, o.c.mnemonic) == 0))
					run_case(&o);
	vt_interp_free(o.m);
	vt_known_memory_free(o.mem);
	native_close(&o.native);
	report(&o);
}

/* ---- signals ---- */

#define WILD 0xd713d280cbc0cb7e /* not an address that the processor would use */

struct signalled {
	struct native native;
	struct native_state in;
};

static void expect_signal(struct signalled *o, const char *code, size_t size, int signal)
{
	struct native_result out = {.exit = NATIVE_THROUGH};

	memcpy(o->native.code, code, size);
	native_run(&o->native, size, &o->in, &out);
	assert_int_equal(out.exit, NATIVE_SIGNAL);
	assert_int_equal(out.signal, signal);
	assert_int_equal(out.state.gpr[4], o->in.gpr[4]);
}

/* From whatever stack, a signal comes back, once. */
static void test_signals(void **state)
{
	static const uint64_t stacks[] = {WILD, 0, UINT64_MAX, UINT64_C(1) << 63};
	struct signalled o = {.in = {.flags = 2, .mxcsr = 0x1f80}};
	struct native_result out = {.exit = NATIVE_SIGNAL};
	uint8_t lose_stack[12] = {0x48, 0xa3};
	const uint8_t *saved = (const uint8_t *)&native_area + NATIVE_STACK_AT;
	size_t i;

	(void)state;
	if (!native_open(&o.native))
		skip();
	o.in.gpr[0] = WILD;
	for (i = 0; i < sizeof(stacks) / sizeof(*stacks); i++) {
		o.in.gpr[4] = stacks[i];
		expect_signal(&o, "\x0f\x0b", 2, SIGILL);
		expect_signal(&o, "\xcc", 1, SIGTRAP);
		expect_signal(&o, "\x48\x8b\x00", 3, SIGSEGV); /* mov rax, [rax] */
		expect_signal(&o, "\x48\xf7\xf1", 3, SIGFPE);  /* div rcx */
	}
	/* mov [saved], rax; ud2: there is no stack to leave on, which is a second signal. */
	memcpy(lose_stack + 2, &saved, sizeof(saved));
	lose_stack[10] = 0x0f;
	lose_stack[11] = 0x0b;
	expect_signal(&o, (const char *)lose_stack, sizeof(lose_stack), SIGILL);
	memcpy(o.native.code, "\x90", 1);
	native_run(&o.native, 1, &o.in, &out);
	assert_int_equal(out.exit, NATIVE_THROUGH);
	assert_int_equal(out.signal, 0);
	native_close(&o.native);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_signals),
					   cmocka_unit_test(test_all)};

	if (argc > 1)
		options.passes = (unsigned)strtoul(argv[1], NULL, 10);
	if (argc > 2)
		options.seed = strtoul(argv[2], NULL, 10);
	if (argc > 3)
		options.only = argv[3];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
