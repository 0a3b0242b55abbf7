/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of timings: whole, and in agreement with what the processors' makers say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "machine/insn/form_internal.h"
#include "machine/pipeline/core_text.h"
#include "machine/pipeline/timing.h"

static struct vt_core load(const char *name)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_core m;

	if (vt_core_load(&m, name, &err) < 0)
		fail_msg("%s", err.text);
	return m;
}

/* Each line must be found under its form: they are sorted, and name units that the core has. */
static void every_row_is_found(void **state)
{
	const struct vti_text *t;
	unsigned tables = 0;

	(void)state;
	for (t = vti_timing_texts; t->name; t++, tables++) {
		struct vt_core m = load(t->name);
		const char *p = t->text;
		unsigned rows = 0;

		assert_string_equal(m.timing, t->name);
		assert_ptr_equal(m.table, t);
		assert_int_equal(strlen(t->text), t->size);
		for (; *p; p = strchr(p, '\n') + 1) {
			struct vt_timing_row row;
			char form[VT_FORM_SIZE];
			unsigned latency, uops;

			if (*p == '#')
				continue;
			assert_int_equal(sscanf(p, "%63[^\t]\t%u\t%u", form, &latency, &uops), 3);
			if (!vt_timing_find(&m, form, &row) || row.latency != latency ||
			    row.uops != uops)
				fail_msg("%s: %s", t->name, form);
			rows++;
		}
		assert_true(rows > 1500);
		assert_non_null(strstr(t->text, "Apache License v2.0 with LLVM"));
	}
	assert_true(tables >= 6);
}

static void what_is_not_there_is_not_found(void **state)
{
	struct vt_timing_row row;
	struct vt_core m = load("skylake"), alpha = load("alpha21164");

	(void)state;
	assert_false(vt_timing_find(&m, "", &row));
	assert_false(vt_timing_find(&m, "add", &row));
	assert_false(vt_timing_find(&m, "add r64,r6", &row));
	assert_false(vt_timing_find(&m, "add r64,r64,r64", &row));
	assert_false(vt_timing_find(&m, "zzz", &row));
	assert_false(vt_timing_find(&m, "#", &row));
	assert_false(vt_timing_find(&alpha, "add r64,r64", &row));
}

/*
 * Latencies of operations between registers. Intel: Optimization Reference Manual, 2.6.1 and table
 * of latencies of appendix D; AMD: the optimization guides' spreadsheets of instruction latencies.
 */
static void makers_say_the_same(void **state)
{
	static const struct {
		const char *core;
		const char *form;
		unsigned latency;
		unsigned nunits; /* that can do it */
	} wants[] = {
		{"skylake", "lea.3 r64,a", 3, 1},
		{"skylake", "lea r64,a", 1, 2},
		{"skylake", "add r64,r64", 1, 4},
		{"skylake", "imul r64,r64", 3, 1},
		{"skylake", "addpd x,x", 4, 2},
		{"skylake", "mulpd x,x", 4, 2},
		{"skylake", "vfmadd231pd y,y,y", 4, 2},
		{"skylake", "pshufd x,x,i", 1, 1},
		{"skylake", "popcnt r64,r64", 3, 1},
		{"skylake", "paddd x,x", 1, 3},
		{"skylake", "shl r64,i", 1, 2},
		{"icelake", "imul r64,r64", 3, 1},
		{"alderlake", "addpd x,x", 3, 2},
		{"alderlake", "add r64,r64", 1, 5},
		{"alderlake", "and r64,i", 1, 5},
		{"alderlake", "lea.3 r64,a", 1, 5},
		{"alderlake", "setz r8", 1, 2},
		{"alderlake", "andn r64,r64,r64", 1, 3},
		{"icelake", "vfmadd231pd y,y,y", 4, 2},
		{"zen2", "add r64,r64", 1, 4},
		{"zen2", "imul r32,r32", 3, 1},
		{"zen2", "addpd x,x", 3, 2},
		{"zen2", "mulpd x,x", 3, 2},
		{"zen2", "vfmadd231pd y,y,y", 5, 2},
		{"zen3", "vfmadd231pd y,y,y", 4, 2},
		{"zen3", "addpd x,x", 3, 2},
		{"zen4", "imul r64,r64", 3, 1},
		{"zen4", "vfmadd231pd z,z,z", 4, 2},
		{"inorder", "addsd x,x", 5, 1},
		{"inorder", "mulsd x,x", 5, 1},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wants) / sizeof(*wants); i++) {
		struct vt_core m = load(wants[i].core);
		struct vt_timing_row row;

		if (!vt_timing_find(&m, wants[i].form, &row))
			fail_msg("%s: no %s", wants[i].core, wants[i].form);
		if (row.latency != wants[i].latency || row.nsets != 1 ||
		    __builtin_popcount(row.sets[0].units) != (int)wants[i].nunits)
			fail_msg("%s: %s has latency %u, %u sets, units %x", wants[i].core,
				 wants[i].form, row.latency, row.nsets, row.sets[0].units);
	}
}

/* An index that is multiplied takes a cycle more there. */
static void scaled_indices_take_longer(void **state)
{
	static const struct {
		const char *text;
		uint8_t code[5];
		uint8_t latency;
	} cases[] = {
		{"lea 1(%rax,%rcx),%rdx", {0x48, 0x8d, 0x54, 0x08, 0x01}, 1},
		{"lea 1(%rax,%rcx,2),%rdx", {0x48, 0x8d, 0x54, 0x48, 0x01}, 2},
		{"lea 1(%rax,%rcx,8),%edx", {0x67, 0x8d, 0x54, 0xc8, 0x01}, 2},
	};
	const struct vt_core m = load("alderlake");
	struct vt_mop op;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_true(vt_core_op(&m, cases[i].code, sizeof(cases[i].code), &op));
		if (op.length != sizeof(cases[i].code) || op.uops[0].latency != cases[i].latency)
			fail_msg("%s: %u", cases[i].text, op.uops[0].latency);
	}
}

/* Lines that no table of ours has, in one that a machine with three units is given. */
static void rows_are_read_as_written(void **state)
{
	static const char text[] = "# form\tlatency\n"
				   "a\t7\t0\t-\n"
				   "b\t65534\t1\tp0\n"
				   "c\t65535\t2\t3*p0/p2 p1\n"
				   "d\t70000\t99999999999\t70000*p1\n"
				   "e\t1\t9\tp0 p1 p2 p0/p1 p0/p2 p1/p2 p0/p1/p2 2*p2 5*p0\n"
				   "f\t1\t1\tp0/p\n"
				   "g\t1\t1\t2p0\n"
				   "h\t1\t1\tp01\n"
				   "i\tx\t1\tp0\n"
				   "j\t1 1\tp0\n"
				   "k\t1\t1 p0\n"
				   "m\t4\t1\tp2\n"
				   "n\t4\t1\t:0\n";
	const struct vti_text table = {"made up", text, sizeof(text) - 1};
	struct vt_core m = {.nunits = 4, .units = {{"p0", 0}, {"p1", 0}, {"p2", 0}, {":0", 0}}};
	struct vt_timing_row row;
	const char *bad;

	(void)state;
	assert_false(vt_timing_find(&m, "a", &row));
	m.table = &table;
	assert_true(vt_timing_find(&m, "a", &row));
	assert_int_equal(row.latency, 7);
	assert_int_equal(row.uops, 0);
	assert_int_equal(row.nsets, 0);
	assert_true(vt_timing_find(&m, "b", &row));
	assert_int_equal(row.latency, 65534);
	assert_int_equal(row.nsets, 1);
	assert_int_equal(row.sets[0].units, 1);
	assert_int_equal(row.sets[0].busy, 1);
	assert_true(vt_timing_find(&m, "c", &row));
	assert_int_equal(row.latency, 65535);
	assert_int_equal(row.uops, 2);
	assert_int_equal(row.nsets, 2);
	assert_int_equal(row.sets[0].units, 5);
	assert_int_equal(row.sets[0].busy, 3);
	assert_int_equal(row.sets[1].units, 2);
	assert_int_equal(row.sets[1].busy, 1);
	/* Numbers that are too large are the largest. */
	assert_true(vt_timing_find(&m, "d", &row));
	assert_int_equal(row.latency, 65535);
	assert_int_equal(row.uops, 65535);
	assert_int_equal(row.sets[0].busy, 65535);
	/* And so are rows that are too long. */
	assert_true(vt_timing_find(&m, "e", &row));
	assert_int_equal(row.nsets, VT_TIMING_SETS);
	assert_int_equal(row.sets[6].units, 7);
	assert_int_equal(row.sets[7].units, 4);
	assert_int_equal(row.sets[7].busy, 2);
	for (bad = "fghijk"; *bad; bad++) {
		const char form[2] = {*bad, 0};

		if (vt_timing_find(&m, form, &row))
			fail_msg("row %s", form);
	}
	assert_true(vt_timing_find(&m, "m", &row));
	assert_int_equal(row.latency, 4);
	assert_false(vt_timing_find(&m, "l", &row));
	/* A name that begins next to the digits */
	assert_true(vt_timing_find(&m, "n", &row));
	assert_int_equal(row.sets[0].units, 8);
	assert_false(vt_timing_find(&m, "o", &row));
	/* What a lock adds is not in the table. */
	assert_false(vt_timing_find(&m, "lock m", &row));
	assert_true(vt_timing_of(&m, "lock m", &row));
	assert_int_equal(row.latency, 4);
}

/* ---- forms ---- */

static void forms_are_named(void **state)
{
	static const struct {
		const char *form;
		uint8_t code[12];
		uint8_t size;
	} cases[] = {
		{"add r64,r64", {0x48, 0x01, 0xc8}, 3},
		{"add r64,i", {0x48, 0x83, 0xc0, 0x01}, 4},
		{"add r32,m32", {0x03, 0x07}, 2},
		{"lock add m64,r64", {0xf0, 0x48, 0x01, 0x07}, 4},
		{"rep movsb", {0xf3, 0xa4}, 2},
		{"shl r64,r8", {0x48, 0xd3, 0xe0}, 3},
		{"lea r64,a", {0x48, 0x8d, 0x04, 0xb7}, 4},
		{"lea.3 r64,a", {0x48, 0x8d, 0x44, 0xb7, 0x08}, 5},
		{"lea.ip r64,a", {0x48, 0x8d, 0x05, 0, 0, 0, 0}, 7},
		{"jnz i", {0x75, 0x00}, 2},
		{"vaddps y,y,m256", {0xc5, 0xf4, 0x58, 0x07}, 4},
		{"movsd x,m64", {0xf2, 0x0f, 0x10, 0x07}, 4},
		{"vpcmpeqb k,y,y", {0x62, 0xf1, 0x75, 0x28, 0x74, 0xc2}, 6},
		{"fadd st,st", {0xd8, 0xc1}, 2},
		{"add r16,r16", {0x66, 0x01, 0xc8}, 3},
		{"add r8,m8", {0x02, 0x07}, 2},
		{"psubb mm,mm", {0x0f, 0xf8, 0xc1}, 3},
		{"mov s,r16", {0x8e, 0xd8}, 2},
		{"rep cmpsb", {0xf3, 0xa6}, 2},
		{"rep scasb", {0xf2, 0xae}, 2},
		{"lock cmpxchg m32,r32", {0xf0, 0x0f, 0xb1, 0x0f}, 4},
		/* Without what {%k1} names. */
		{"vaddps z,z,z", {0x62, 0xf1, 0x74, 0x49, 0x58, 0xc2}, 6},
		{"vpaddd z,z,m512", {0x62, 0xf1, 0x75, 0x48, 0xfe, 0x07}, 6},
		{"nop", {0x90}, 1},
		/* A base and an index alone, with a displacement that is 0, and one of the two. */
		{"lea r64,a", {0x48, 0x8d, 0x44, 0xb7, 0x00}, 5},
		{"lea r64,a", {0x48, 0x8d, 0x47, 0x08}, 4},
		{"lea r64,a", {0x48, 0x8d, 0x04, 0xb5, 8, 0, 0, 0}, 8},
		{"lea.3 r64,a", {0x48, 0x8d, 0x84, 0xb7, 0, 1, 0, 0}, 8},
		{"lea.ip r64,a", {0x67, 0x48, 0x8d, 0x05, 0, 0, 0, 0}, 8},
	};
	char form[VT_FORM_SIZE];
	struct vt_facts f;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_true(vt_facts_decode_form(cases[i].code, cases[i].size, &f, form));
		assert_string_equal(form, cases[i].form);
	}
	assert_false(vt_facts_decode_form(cases[0].code, 1, &f, form));
}

/* As much of a form as there is room for. */
static void long_forms_are_cut(void **state)
{
	ZydisDecodedInstruction insn = {.mnemonic = ZYDIS_MNEMONIC_NOP};
	ZydisDecodedOperand operands[40] = {{.type = ZYDIS_OPERAND_TYPE_IMMEDIATE}};
	char form[VT_FORM_SIZE], want[128] = "nop";
	uint8_t n;

	(void)state;
	for (n = 1; n <= 40; n++) {
		operands[n - 1].type = ZYDIS_OPERAND_TYPE_IMMEDIATE;
		strcat(want, n == 1 ? " i" : ",i");
		insn.operand_count_visible = n;
		vti_form_write(&insn, operands, form);
		assert_int_equal(strlen(form), n <= 30 ? 3 + 2 * n : VT_FORM_SIZE - 1);
		assert_int_equal(strncmp(form, want, strlen(form)), 0);
	}
}

static void twins_use_registers(void **state)
{
	static const struct {
		const char *form;
		const char *twins[3];
	} cases[] = {
		{"inc m8", {"inc r8", NULL, NULL}},
		{"pinsrw x,m16,i", {"pinsrw x,r16,i", "pinsrw x,x,i", NULL}},
		{"add r32,m32", {"add r32,r32", "add r32,x", "add r32,mm"}},
		{"addsd x,m64", {"addsd x,r64", "addsd x,x", "addsd x,mm"}},
		{"add m64,i", {"add r64,i", "add x,i", "add mm,i"}},
		{"paddb x,m128", {"paddb x,x", NULL, NULL}},
		{"vpshufb y,y,m256", {"vpshufb y,y,y", NULL, NULL}},
		{"vpaddd z,z,m512", {"vpaddd z,z,z", NULL, NULL}},
		/* The last that names memory; mm does not. */
		{"movq m64,mm", {"movq r64,mm", "movq x,mm", "movq mm,mm"}},
		{"mov m8,m16", {"mov m8,r16", "mov m8,x", NULL}},
		{"add r64,r64", {NULL}},
		{"psubb mm,mm", {NULL}},
		{"cpuid", {NULL}},
		{"lock add m64,r64", {NULL}},
		{"fbld m80", {NULL}},
		{"fld m6", {NULL}},
		{"fld m641", {NULL}},
	};
	char twin[VT_FORM_SIZE];
	unsigned n;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		for (n = 0; n < 3; n++) {
			const char *want = cases[i].twins[n];

			assert_int_equal(vt_form_twin(cases[i].form, n, twin), want != NULL);
			if (want)
				assert_string_equal(twin, want);
		}
		assert_false(vt_form_twin(cases[i].form, 3, twin));
	}
}

/* ---- instructions ---- */

static void tables_shape_instructions(void **state)
{
	static const uint8_t load_add[] = {0x48, 0x03, 0x07}, add_store[] = {0x48, 0x01, 0x07};
	static const uint8_t move[] = {0x48, 0x89, 0xd8}, zero[] = {0x31, 0xc0};
	static const uint8_t vload[] = {0xc5, 0xfc, 0x10, 0x07}, div[] = {0x48, 0xf7, 0xf1};
	static const uint8_t divsd[] = {0xf2, 0x0f, 0x5e, 0xc1}, cpuid[] = {0x0f, 0xa2};
	struct vt_core m = load("skylake");
	struct vt_mop op;

	(void)state;
	assert_true(vt_core_op(&m, load_add, sizeof(load_add), &op));
	assert_false(op.estimated);
	assert_int_equal(op.nuops, 2);
	assert_int_equal(op.slots, 1);
	assert_int_equal(op.uops[0].latency, 5);
	assert_int_equal(op.uops[1].latency, 1);
	assert_true(vt_core_op(&m, add_store, sizeof(add_store), &op));
	assert_int_equal(op.slots, 2);
	/* Renaming does these. */
	assert_true(vt_core_op(&m, move, sizeof(move), &op));
	assert_int_equal(op.uops[0].units, 0);
	assert_int_equal(op.uops[0].latency, 0);
	assert_true(op.reads);
	assert_true(vt_core_op(&m, zero, sizeof(zero), &op));
	assert_int_equal(op.uops[0].units, 0);
	assert_false(op.reads);
	/* Loads of vectors take longer. */
	assert_true(vt_core_op(&m, vload, sizeof(vload), &op));
	assert_int_equal(op.uops[0].latency, 7);
	/* The least of what divisions of 64 bits take: A. Fog, Skylake, div r64. */
	assert_true(vt_core_op(&m, div, sizeof(div), &op));
	assert_int_equal(op.uops[0].latency, 35);
	assert_int_equal(op.uops[0].busy, 21);
	assert_int_equal(op.slots, 36);
	/* A second micro-operation, which keeps the divider busy. */
	assert_true(vt_core_op(&m, divsd, sizeof(divsd), &op));
	assert_int_equal(op.nuops, 2);
	assert_int_equal(op.uops[1].latency, 14);
	assert_int_equal(op.uops[1].busy, 4);
	assert_string_equal(m.units[__builtin_ctz(op.uops[1].units)].name, "fdiv");
	assert_true(vt_core_op(&m, cpuid, sizeof(cpuid), &op));
	assert_true(op.estimated);
	assert_int_equal(op.uops[0].op_class, VT_OP_SLOW);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(scaled_indices_take_longer),
		cmocka_unit_test(every_row_is_found),
		cmocka_unit_test(what_is_not_there_is_not_found),
		cmocka_unit_test(rows_are_read_as_written),
		cmocka_unit_test(makers_say_the_same),
		cmocka_unit_test(forms_are_named),
		cmocka_unit_test(long_forms_are_cut),
		cmocka_unit_test(twins_use_registers),
		cmocka_unit_test(tables_shape_instructions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
