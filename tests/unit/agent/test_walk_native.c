/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The walker against the processor, instruction by instruction: what the walker says that it knows
 * is what the processor computed.
 *
 * usage: test_walk_native [PASSES [SEED [MNEMONIC]]]
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

#include "cmd/walker/walk.h"
#include "cmd/walker/walk_state.h"
#include "tests/unit/machine/insn/insnforms.h"
#include "tests/unit/machine/insn/insnrules.h"

#define TOLD	  3 /* mismatches of a mnemonic that are printed */
#define MNEMONICS (ZYDIS_MNEMONIC_MAX_VALUE + 1)

struct tally {
	unsigned runs;
	unsigned wrong;
	unsigned undefined; /* flags known that the manual leaves undefined */
	unsigned unknown;   /* runs after which a register, defined flag or byte was unknown */
	unsigned stopped;
	unsigned traps; /* of the processor, which the walker passed */
};

struct oracle {
	struct native native;
	struct vt_rng rng;
	struct insn_case c;
	struct native_result truth;
	uint8_t after[NATIVE_DATA];
	uint8_t xmm[256];
	uint8_t ymm[256];
	struct walk w;
	bool some_unknown;
	struct tally tally[MNEMONICS];
};

static struct {
	unsigned passes;
	uint64_t seed;
	const char *only;
} options = {.passes = 1, .seed = 1};

static bool read_line(void *arg, uint64_t addr, uint8_t bytes[WALK_LINE])
{
	const struct oracle *o = arg;
	uint64_t at = addr - o->native.data_addr;
	unsigned i;

	if (at < NATIVE_DATA) {
		memcpy(bytes, o->c.data + at, WALK_LINE);
		return true;
	}
	at = addr - (o->native.code_addr & ~(uint64_t)(WALK_LINE - 1));
	if (at >= NATIVE_CODE)
		return false;
	for (i = 0; i < WALK_LINE; i++) {
		uint64_t k = addr + i - o->native.code_addr;

		bytes[i] = k < NATIVE_CODE ? o->native.code[k] : 0xcc;
	}
	return true;
}

static struct tally *tally(struct oracle *o)
{
	return &o->tally[o->c.insn.mnemonic];
}

static void tell(const struct oracle *o, const char *what, unsigned n, uint64_t got, uint64_t truth)
{
	unsigned i;

	print_message("%s: %s %u is %016llx, not %016llx:", o->c.mnemonic, what, n,
		      (unsigned long long)got, (unsigned long long)truth);
	for (i = 0; i < o->c.insn.length; i++)
		print_message(" %02x", o->c.code[o->c.at + i]);
	print_message("\n");
}

static void compare(struct oracle *o, const char *what, unsigned n, uint64_t got, uint64_t known,
		    uint64_t truth)
{
	if (~known)
		o->some_unknown = true;
	if ((got ^ truth) & known && tally(o)->wrong++ < TOLD)
		tell(o, what, n, got & known, truth & known);
}

static uint64_t bits_known(uint8_t known)
{
	uint64_t bits = 0;
	unsigned i;

	for (i = 0; i < 8; i++)
		if (known >> i & 1)
			bits |= UINT64_C(0xff) << 8 * i;
	return bits;
}

static void compare_registers(struct oracle *o)
{
	unsigned i, k;
	uint64_t got;

	for (i = 0; i < 16; i++)
		compare(o, "register", i, o->w.gpr[i], bits_known(o->w.gpr_known[i]),
			o->truth.state.gpr[i]);
	for (i = 0; i < 16; i++)
		for (k = 0; k < (o->native.has_avx ? 4 : 2) && o->w.vec_loaded >> i & 1; k++) {
			memcpy(&got, o->w.vec[i] + (size_t)8 * k, 8);
			compare(o, "vector", i * 8 + k, got,
				o->w.vec_known[i] >> k & 1 ? UINT64_MAX : 0,
				o->truth.state.vector[i][k]);
		}
}

static void compare_flags(struct oracle *o)
{
	uint64_t all = FLAGS6 | FLAG_D, undefined = insn_undefined_flags(&o->c) & all;
	uint64_t known = o->w.flags_known & all;

	if (all & ~known & ~undefined)
		o->some_unknown = true;
	if ((o->w.flags ^ o->truth.state.flags) & known & ~undefined && tally(o)->wrong++ < TOLD)
		tell(o, "flags", 0, o->w.flags & known, o->truth.state.flags & known);
	if (known & undefined && tally(o)->undefined++ < TOLD)
		tell(o, "undefined flags", 0, known & undefined, 0);
}

static void compare_memory(struct oracle *o)
{
	unsigned at;
	uint64_t got, truth;

	for (at = 0; at < NATIVE_DATA; at += 8) {
		uint8_t bytes[8];
		bool known = walk_read_bytes(&o->w, o->native.data_addr + at, 8, bytes);

		memcpy(&got, bytes, 8);
		memcpy(&truth, o->after + at, 8);
		compare(o, "memory at", at, got, known ? UINT64_MAX : 0, truth);
	}
}

static void walk(struct oracle *o)
{
	struct walk_start s = {.ip = o->native.code_addr,
			       .flags = o->c.in.flags,
			       .gs_base = o->c.in.gs,
			       .mxcsr = o->c.in.mxcsr,
			       .xmm = o->xmm,
			       .ymm_high = o->ymm};
	unsigned i;

	memcpy(s.gpr, o->c.in.gpr, sizeof(s.gpr));
	for (i = 0; i < 16; i++) {
		memcpy(o->xmm + (size_t)16 * i, o->c.in.vector[i], 16);
		memcpy(o->ymm + (size_t)16 * i, o->c.in.vector[i] + 2, 16);
	}
	walk_run(&o->w, &s, o->c.ninsns, read_line, o);
}

static void judge(struct oracle *o)
{
	uint64_t to = o->truth.exit == NATIVE_BRANCH ? native_branch(&o->native, o->c.size)
						     : o->native.code_addr + o->c.size;

	tally(o)->runs++;
	if (o->w.stop != WALK_LENGTH) {
		tally(o)->stopped++;
		if (o->w.stop == WALK_TRAP && tally(o)->wrong++ < TOLD)
			tell(o, "trap", 0, 0, 0);
		return;
	}
	o->some_unknown = false;
	compare(o, "address", 0, o->w.ip, UINT64_MAX, to);
	compare_registers(o);
	compare_flags(o);
	compare_memory(o);
	tally(o)->unknown += o->some_unknown;
}

static void run_case(struct oracle *o)
{
	memcpy(o->native.code, o->c.code, o->c.size);
	memcpy(o->native.data, o->c.data, NATIVE_DATA);
	native_run(&o->native, o->c.size, &o->c.in, &o->truth);
	memcpy(o->after, o->native.data, NATIVE_DATA);
	/* Mask registers have what this process left in them. */
	if ((o->truth.exit == NATIVE_SIGNAL && o->truth.signal == SIGILL) ||
	    o->c.mnemonic[0] == 'k')
		return;
	walk(o);
	if (o->truth.exit != NATIVE_SIGNAL)
		judge(o);
	else if (o->truth.signal == SIGFPE && o->w.stop != WALK_TRAP && !o->w.nbad)
		tally(o)->traps++; /* a divisor that cannot be read here may be 0 */
}

static void report(const struct oracle *o)
{
	unsigned i, mnemonics = 0, exact = 0;
	struct tally all = {0};

	for (i = 0; i < MNEMONICS; i++) {
		const struct tally *t = &o->tally[i];

		all.runs += t->runs;
		all.wrong += t->wrong;
		all.undefined += t->undefined;
		all.unknown += t->unknown;
		all.stopped += t->stopped;
		all.traps += t->traps;
		mnemonics += t->runs > 0;
		exact += t->runs && !t->unknown && !t->stopped;
		if (t->wrong || t->undefined || t->traps || (options.only && t->runs))
			print_message("%-16s %6u runs, %u wrong, %u undefined, %u traps passed, "
				      "%u unknown, %u stopped\n",
				      ZydisMnemonicGetString((ZydisMnemonic)i), t->runs, t->wrong,
				      t->undefined, t->traps, t->unknown, t->stopped);
	}
	print_message("not always known:");
	for (i = 0; i < MNEMONICS; i++)
		if (o->tally[i].runs && (o->tally[i].unknown || o->tally[i].stopped))
			print_message(" %s", ZydisMnemonicGetString((ZydisMnemonic)i));
	print_message("\n%u mnemonics, %u of them always exact; %u runs: %u wrong, %u undefined, "
		      "%u unknown, %u stopped, %u traps passed\n",
		      mnemonics, exact, all.runs, all.wrong, all.undefined, all.unknown,
		      all.stopped, all.traps);
	assert_int_equal(all.wrong, 0);
	assert_int_equal(all.undefined, 0);
	assert_int_equal(all.traps, 0);
	assert_true(options.only || (mnemonics > 400 && exact > 200));
}

static void test_all(void **state)
{
	static struct oracle o;
	unsigned pass, form, shape;

	(void)state;
	if (!native_open(&o.native)) {
		print_message("no memory to run code in\n");
		skip();
	}
	vt_rng_init(&o.rng, options.seed);
	for (pass = 0; pass < options.passes; pass++)
		for (form = 0; form < INSN_FORMS; form++)
			for (shape = 0; shape < INSN_SHAPES; shape++)
				if (insn_case_make(&o.native, &o.rng, form, shape, &o.c) &&
				    (!options.only || strcmp(options.only, o.c.mnemonic) == 0))
					run_case(&o);
	native_close(&o.native);
	report(&o);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};

	if (argc > 1)
		options.passes = (unsigned)strtoul(argv[1], NULL, 10);
	if (argc > 2)
		options.seed = strtoull(argv[2], NULL, 10);
	if (argc > 3)
		options.only = argv[3];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
