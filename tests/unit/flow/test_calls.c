/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which calls come back, and what jumps into the middle of a procedure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "flow/cfg.h"
#include "tests/unit/flow/compiled.h"

/* A procedure written by hand, and whether it comes back. */
struct procedure {
	const char *name, *code;
	bool returns;
};

static void put_procedure(char *text, size_t size, const char *name, const char *code)
{
	size_t n = strlen(text);

	snprintf(text + n, size - n,
		 "\"\\t.balign 16\\n\\t.type %s,@function\\n%s:\\t%s\\n\\t.size %s,.-%s\\n\"\n",
		 name, name, code, name, name);
}

/* Compiles the procedures, and one that calls each of them; the first and the last are at the ends.
 */
static void compile_procedures(struct compiled *p, const char *options,
			       const struct procedure *procedures, size_t count, const char *more)
{
	char text[16384] = "__asm__(\"\\t.text\\n\"\n", name[24], call[64];
	size_t i, n;

	for (i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "c%zu", i);
		snprintf(call, sizeof(call), "call %s; ret", procedures[i].name);
		if (i)
			put_procedure(text, sizeof(text), name, call);
		put_procedure(text, sizeof(text), procedures[i].name, procedures[i].code);
		if (!i)
			put_procedure(text, sizeof(text), name, call);
	}
	n = strlen(text);
	snprintf(text + n, sizeof(text) - n, "%s", more);
	compiled_make(p, options, text);
}

static void check_returns(struct compiled *p, const struct procedure *procedures, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		char name[24];
		struct vt_cfg *g;

		snprintf(name, sizeof(name), "c%zu", i);
		g = compiled_graph(p, name);
		/* Else what follows is reached by nobody knows whom. */
		if (g->nblocks != VT_CFG_FIRST + (procedures[i].returns ? 1 : 2))
			fail_msg("%s", procedures[i].name);
		vt_cfg_free(g);
	}
}

static void test_calls(void **state)
{
	static const struct procedure procedures[] = {
		{"returns", "nop; ret", true},
		{"traps", "ud2", false},
		{"halts", "hlt", false},
		{"padded", "ud2; nop; nop", false},
		{"loops", "jmp loops", false},
		{"aborts", "jmp abort", false},
		{"calls", "call abort", false},
		{"chains", "jmp aborts", false},
		{"chains_far", "jmp chains", false},
		{"tail", "jmp returns", true},
		{"tail_far", "jmp tail", true},
		{"into", "jmp returns+1", true},
		{"into_trap", "jmp padded+1", false},
		{"both", "test %edi,%edi; je aborts; jmp returns", true},
		{"neither", "test %edi,%edi; je aborts; jmp traps", false},
		{"anywhere", "jmp *%rax", true},
		{"nowhere", "jmp 0x10", true},
		{"system", "mov $60,%eax; syscall", true},
		{"conditional", "test %edi,%edi; je aborts", true},
		{"falls", "nop", true},
		{"more", "ret", true},
	};
	size_t n = sizeof(procedures) / sizeof(procedures[0]);
	struct compiled p;

	(void)state;
	compile_procedures(&p, "-no-pie", procedures, n, ");\nint main(void) { return 0; }\n");
	check_returns(&p, procedures, n);
	compiled_free(&p);
}

static uint32_t count_entries(const struct vt_cfg *g)
{
	uint32_t i, n = 0;

	for (i = 0; i < g->nedges; i++)
		n += g->edges[i].kind == VT_EDGE_ENTRY;
	return n;
}

/* The same where nothing but these is in the image. */
static void test_calls_alone(void **state)
{
	static const struct procedure procedures[] = {
		{"first", "ud2", false},
		{"below", "jmp 0x10", true},
		{"inside", "jmp first+1", false},
		{"behind", "jmp first+2", true},
		{"to_last", "jmp last", false},
		{"behind_last", "jmp last+2", true},
		{"own_end", "jmp 1f; 1:", true},
		{"own_last", "jmp 1f; 1: nop", false},
		{"out", "test %edi,%edi; je below; ud2", true},
		{"out_and_stop", "test %edi,%edi; je first; ud2", false},
		{"to_out", "jmp out", true},
		{"into_out", "jmp out+2", true},
		{"early", "test %edi,%edi; je 1f; ret; 1: ud2", true},
		{"no_code", ".byte 6; ud2", true},
		{"system_first", "syscall; ud2", false},
		{"system_last", "ud2; syscall", true},
		{"calls", "call below; ud2", false},
		{"calls_pointer", "call *%rax; ud2", false},
		{"_ZSt11__throw_any", "ret", false},
		{"_ZSt5catch", "ret", true},
		{"_ZSu11__throw_any", "ret", true},
		{"exit", "ret", false},
		{"exits", "ret", true},
		{"exi", "ret", true},
		{"target", "nop; nop; ret", true},
		{"to_target", "jmp target", true},
		{"to_target_1", "jmp target+1", true},
		{"to_target_2", "jmp target+2", true},
		{"to_target_end", "jmp target+3", true},
		{"calls_target", "call target+1; ret", true},
		{"last", "ud2", false},
	};
	size_t n = sizeof(procedures) / sizeof(procedures[0]);
	struct compiled p;
	struct vt_cfg *g;

	(void)state;
	compile_procedures(&p, "-nostdlib -static -no-pie -Wl,-e0", procedures, n, ");\n");
	check_returns(&p, procedures, n);
	/* Control comes from outside to its start, and to where others jump. */
	g = compiled_graph(&p, "target");
	assert_int_equal(g->nblocks, VT_CFG_FIRST + 3);
	assert_int_equal(count_entries(g), 3);
	vt_cfg_free(g);
	compiled_free(&p);
}

/* Procedures that overlap: eight times the image's code is looked at, whatever else there is. */
static void test_calls_overlap(void **state)
{
	static const struct procedure procedures[] = {
		{"big+0", "nop", false}, {"big+1", "nop", false}, {"big+2", "nop", false},
		{"big+3", "nop", false}, {"big+4", "nop", false}, {"big+5", "nop", false},
		{"big+6", "nop", false}, {"big+7", "nop", false}, {"big+8", "nop", true},
	};
	char text[4096] = "__asm__(\"\\t.text\\n\"\n", name[24], call[64];
	size_t i, n;
	struct compiled p;

	(void)state;
	for (i = 0; i < 9; i++) {
		snprintf(name, sizeof(name), "c%zu", i);
		snprintf(call, sizeof(call), "call big+%zu; ret", i);
		put_procedure(text, sizeof(text), name, call);
	}
	n = strlen(text);
	n += (size_t)snprintf(text + n, sizeof(text) - n,
			      "\"big:\\t.rept 4094\\n\\tnop\\n\\t.endr\\n\\tud2\\n\"\n");
	for (i = 0; i < 9; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "\"\\t.set b%zu,big+%zu\\n\\t.type b%zu,@function\\n"
				      "\\t.size b%zu,4096-%zu\\n\"\n",
				      i, i, i, i, i);
	snprintf(text + n, sizeof(text) - n, "\"\\t.data\\n\\t.fill 40000,1,1\\n\\t.text\\n\");\n");
	compiled_make(&p, "-nostdlib -static -no-pie -Wl,-e0", text);
	check_returns(&p, procedures, 9);
	compiled_free(&p);
}

/* Procedures that threads survey apart: each jumps to the next, and comes back if the last does. */
static void test_calls_chain(void **state)
{
	enum { COUNT = 40 };
	struct procedure procedures[COUNT];
	char names[COUNT][16], code[COUNT][48];
	struct compiled p;
	unsigned returns;
	size_t i;

	(void)state;
	for (returns = 0; returns <= 1; returns++) {
		for (i = 0; i < COUNT; i++) {
			snprintf(names[i], sizeof(names[i]), "chain%zu", i);
			snprintf(code[i], sizeof(code[i]), ".skip 4000,0x90; jmp chain%zu", i + 1);
			procedures[i] = (struct procedure){names[i], code[i], returns};
		}
		procedures[COUNT - 1].code = returns ? "ret" : "ud2";
		compile_procedures(&p, "-nostdlib -static -no-pie -Wl,-e0", procedures, COUNT,
				   ");\n");
		check_returns(&p, procedures, COUNT);
		compiled_free(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_calls_alone),
		cmocka_unit_test(test_calls_overlap),
		cmocka_unit_test(test_calls_chain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
