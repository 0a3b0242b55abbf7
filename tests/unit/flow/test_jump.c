/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Indirect jumps of hand-written code: exactly where each of them goes. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "flow/cfg.h"
#include "machine/insn/insn.h"
#include "tests/unit/common/graphs.h"
#include "tests/unit/common/toolbox.h"

static struct vt_error err;

struct program {
	char *dir;
	struct vt_images *images;
	struct vt_cfg *graph; /* of main */
	uint64_t at[6];	      /* of the labels a to f */
};

/* What all of them end in: places to go to, eight bytes apart, and another procedure. */
static const char places[] = "\t.balign 8,0x90\na:\tret\n\t.balign 8\nb:\tnop\n\tret\n"
			     "\t.balign 8\nc:\tnop\n\tnop\n\tret\n\t.balign 8\nd:\tud2\n"
			     "\t.balign 8\ne:\tmov $0x90909090,%eax\n\tret\n\t.balign 8\nf:\tret\n"
			     "\t.size main,.-main\n\t.balign 16\n\t.type other,@function\n"
			     "other:\tret\n\t.size other,.-other\n";

/* A symbol's address, in what nm says of all of them. */
static uint64_t address_of(const char *symbols, char type, const char *name)
{
	char end[32];
	const char *found;

	snprintf(end, sizeof(end), " %c %s\n", type, name);
	found = strstr(symbols, end);
	assert_non_null(found);
	return strtoull(found - 16, NULL, 16);
}

static void assemble(struct program *p, const char *code, const char *table)
{
	const struct vt_images_options o = {.warn = NULL};
	char text[4096], *symbols;
	const char *path;
	int i;

	snprintf(text, sizeof(text),
		 "\t.globl main\n\t.type main,@function\nmain:\n%s%s"
		 "\t.section .rodata\n\t.balign 8\ntable:\n%s\t.quad -1\n"
		 "\t.section .note.GNU-stack\n",
		 code, places, table);
	p->dir = toolbox_dir();
	toolbox_write(p->dir, "p.s", text);
	free(toolbox_run(p->dir, "gcc -no-pie -o p p.s"));
	symbols = toolbox_run(p->dir, "nm p");
	for (i = 0; i < 6; i++)
		p->at[i] = address_of(symbols, 't', (const char[]){(char)('a' + i), '\0'});
	p->images = vt_images_new(&o, &err);
	assert_non_null(p->images);
	path = toolbox_path(p->dir, "p");
	assert_int_equal(
		vt_images_add(p->images, 1, VT_IMAGE_FILE, path, strlen(path), NULL, 0, &err), 0);
	p->graph = image_graph(p->images, 1, address_of(symbols, 'T', "main"), p->at[5] + 1, &err);
	free(symbols);
	assert_non_null(p->graph);
}

/*
 * The only indirect jump goes to the places that `to` names, and, with a '-' at its end, out of the
 * procedure; with a '?' nobody knows where else.
 */
static void check(const char *name, const char *code, const char *table, const char *to)
{
	struct program p;
	const struct vt_cfg *g;
	char found[16] = "";
	size_t n = 0;
	uint32_t i, b, k;

	assemble(&p, code, table);
	g = p.graph;
	for (i = 0; i < 6; i++)
		for (k = 0; k < g->nedges; k++)
			if (g->edges[k].kind == VT_EDGE_SWITCH &&
			    g->blocks[g->edges[k].to].start == p.at[i])
				found[n++] = (char)('a' + i);
	for (b = VT_CFG_FIRST; b < g->nblocks; b++) {
		const struct vt_cfg_block *at = &g->blocks[b];
		uint32_t flags = g->insns[at->insn + at->ninsns - 1].flags;

		for (k = 0; k < at->nout; k++)
			if ((flags & VT_FACT_INDIRECT) &&
			    g->edges[at->out + k].kind == VT_EDGE_EXIT)
				found[n++] = '-';
		if (at->incomplete)
			found[n++] = '?';
	}
	found[n] = '\0';
	if (strcmp(found, to) != 0)
		fail_msg("%s: to %s, not %s", name, found, to);
	vt_cfg_free(p.graph);
	vt_images_free(p.images);
	toolbox_remove(p.dir);
}

#define ABCDEF "\t.quad a, b, c, d, e, f\n"

static void test_known_index(void **state)
{
	(void)state;
	check("compared", "\tcmp $2,%rdi\n\tja f\n\tjmp *table(,%rdi,8)\n", ABCDEF, "abc");
	check("masked", "\tand $3,%edi\n\tjmp *table(,%rdi,8)\n", ABCDEF, "abcd");
	check("every other", "\tand $2,%edi\n\tjmp *table(,%rdi,8)\n", ABCDEF, "ac");
	check("from the second", "\tand $1,%edi\n\tjmp *table+8(,%rdi,8)\n", ABCDEF, "bc");
	check("one", "\tmov $4,%edi\n\tjmp *table(,%rdi,8)\n", ABCDEF, "e");
	check("twice", "\tand $3,%edi\n\tjmp *table(,%rdi,8)\n", "\t.quad a, b, a, b\n", "ab");
	/* Four bytes, from the table's address, of either sign; with a base in between. */
	check("relative",
	      "\tand $3,%edi\n\tmovslq table(,%rdi,4),%rax\n\tadd $table,%rax\n\tjmp "
	      "*%rax\n",
	      "\t.long a-table, c-table, e-table, f-table\n", "acef");
	check("relative to code",
	      "\tand $1,%edi\n\tmovslq table(,%rdi,4),%rax\n\tlea c(%rip),%rdx\n"
	      "\tadd %rdx,%rax\n\tjmp *%rax\n",
	      "\t.long a-c, f-c\n", "af");
	check("two bytes",
	      "\tand $1,%edi\n\tmovzwl table(,%rdi,2),%eax\n\tlea a(%rip),%rdx\n"
	      "\tadd %rdx,%rax\n\tjmp *%rax\n",
	      "\t.short b-a, d-a\n", "bd");
	check("a byte",
	      "\tand $1,%edi\n\tmovzbl table(%rdi),%eax\n\tlea a(%rip),%rdx\n"
	      "\tadd %rdx,%rax\n\tjmp *%rax\n",
	      "\t.byte c-a, e-a\n", "ce");
	check("two bytes with a sign",
	      "\tand $1,%edi\n\tmovswq table(,%rdi,2),%rax\n\tlea c(%rip),%rdx\n"
	      "\tadd %rdx,%rax\n\tjmp *%rax\n",
	      "\t.short a-c, f-c\n", "af");
	check("a byte with a sign",
	      "\tand $1,%edi\n\tmovsbq table(%rdi),%rax\n\tlea c(%rip),%rdx\n"
	      "\tadd %rdx,%rax\n\tjmp *%rax\n",
	      "\t.byte a-c, d-c\n", "ad");
	/* One of the entries is another procedure's. */
	check("leaves", "\tand $3,%edi\n\tjmp *table(,%rdi,8)\n", "\t.quad a, other, c, a\n",
	      "ac-");
	check("the first code", "\tand $3,%edi\n\tjmp *table(,%rdi,8)\n",
	      "\t.quad a, _init, c, a\n", "ac-");
	check("the last code", "\tand $3,%edi\n\tjmp *table(,%rdi,8)\n",
	      "\t.quad a, etext-1, c, a\n", "ac-");
	check("before code", "\tpush %rax\n\tand $3,%edi\n\tjmp *table(,%rdi,8)\n",
	      "\t.quad a, _init-1, c, a\n", "-?");
	check("behind code", "\tpush %rax\n\tand $3,%edi\n\tjmp *table(,%rdi,8)\n",
	      "\t.quad a, etext, c, a\n", "-?");
	/* One is no code at all, so that nothing is known. */
	check("no code", "\tpush %rax\n\tand $3,%edi\n\tjmp *table(,%rdi,8)\n",
	      "\t.quad a, 5, c, a\n", "-?");
}

/* Bits that may be more than there are entries for: the table ends where its entries do. */
static void test_natural_index(void **state)
{
	(void)state;
	check("a byte of any value", "\tmovzbl %dil,%edi\n\tjmp *table(,%rdi,8)\n", ABCDEF,
	      "abcdef");
	check("two bytes of any value", "\tmovzwl %di,%edi\n\tjmp *table(,%rdi,8)\n", ABCDEF,
	      "abcdef");
	check("bits counted", "\ttzcnt %rdi,%rdi\n\tjmp *table(,%rdi,8)\n", ABCDEF, "abcdef");
	check("any number", "\tjmp *table(,%rdi,8)\n", ABCDEF, "abcdef");
	/* 32 are no such number: the program means all of them. */
	check("five bits", "\tpush %rax\n\tand $31,%edi\n\tjmp *table(,%rdi,8)\n", ABCDEF, "-?");
	/* Up to an entry of other code: there it may go on. */
	check("an entry elsewhere", "\tmovzbl %dil,%edi\n\tjmp *table(,%rdi,8)\n",
	      "\t.quad a, b, other, c\n", "ab?");
	check("a single entry", "\tpush %rax\n\tmovzbl %dil,%edi\n\tjmp *table(,%rdi,8)\n",
	      "\t.quad a\n", "-?");
}

/* Without a table: places at equal distances. */
static void test_places(void **state)
{
	(void)state;
	check("a place", "\tlea d(%rip),%rax\n\tjmp *%rax\n", "", "d");
	check("of two", "\tand $1,%edi\n\tlea b(,%rdi,8),%rax\n\tjmp *%rax\n", "", "bc");
	check("of six", "\tcmp $5,%rdi\n\tja f\n\tlea a(,%rdi,8),%rax\n\tjmp *%rax\n", "",
	      "abcdef");
	check("any byte of some", "\tpush %rax\n\tand $7,%edi\n\tlea a(%rdi),%rax\n\tjmp *%rax\n",
	      "", "-?");
	check("other code", "\tpush %rax\n\tlea other(%rip),%rax\n\tjmp *%rax\n", "", "-");
	check("a pointer", "\tmov (%rdi),%rax\n\tjmp *%rax\n", "", "-");
	check("a pointer, and the stack is not as it was",
	      "\tpush %rax\n\tmov (%rdi),%rax\n\tjmp *%rax\n", "", "-?");
}

/* What is known must have come along all ways to the jump. */
static void test_ways(void **state)
{
	(void)state;
	check("an index of three ways",
	      "\tmov $table,%ecx\n\txor %eax,%eax\n\ttest %edi,%edi\n\tje 1f\n"
	      "\tmov $1,%eax\n1:\ttest %esi,%esi\n\tje 2f\n\tmov $2,%eax\n"
	      "2:\tjmp *(%rcx,%rax,8)\n",
	      ABCDEF, "abc");
	check("two tables",
	      "\tmov $table,%ecx\n\tand $1,%edi\n\ttest %esi,%esi\n\tje 1f\n"
	      "\tmov $table+32,%ecx\n1:\tjmp *(%rcx,%rdi,8)\n",
	      ABCDEF, "abcdef");
	check("a loop",
	      "\tmov $table,%ecx\n1:\tmovzbl (%rdi),%eax\n\tinc %rdi\n\tcmp $3,%eax\n"
	      "\tja 1b\n\tjmp *(%rcx,%rax,8)\n",
	      ABCDEF, "abcd");
	check("spilled",
	      "\tsub $24,%rsp\n\tand $3,%edi\n\tmov %rdi,8(%rsp)\n\tmov $table,%ecx\n"
	      "\ttest %esi,%esi\n\tje 1f\n\txor %esi,%esi\n1:\tmov 8(%rsp),%rax\n"
	      "\tjmp *(%rcx,%rax,8)\n",
	      ABCDEF, "abcd");
}

/* A jump behind another one: what is known there has come through each place of that one. */
static void test_behind_another(void **state)
{
	static const char first[] = "\tmov $table+40,%ecx\n\tand $1,%esi\n\tand $3,%edi\n"
				    "\tjmp *table(,%rdi,8)\n",
			  second[] = "\tjmp *(%rcx,%rsi,8)\n";
	char code[512];
	int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		snprintf(code, sizeof(code), "%sl0:\n%sl1:\tnop\n%sl2:\tnop\n%sl3:\tnop\n%s", first,
			 i == 0 ? second : "\tret\n", i == 1 ? second : "\tret\n",
			 i == 2 ? second : "\tret\n", i == 3 ? second : "\tret\n");
		check(code, code, "\t.quad l0, l1, l2, l3, a, b, e, f\n", "be");
	}
}

/* The longest tables. */
static void test_long_tables(void **state)
{
	static const char table[] = "\t.quad a\n\t.rept 65534\n\t.quad b\n\t.endr\n\t.quad c, d\n";

	(void)state;
	check("65535 entries", "\tcmp $65534,%rdi\n\tja f\n\tjmp *table(,%rdi,8)\n", table, "ab");
	check("65536 entries", "\tcmp $65535,%rdi\n\tja f\n\tjmp *table(,%rdi,8)\n", table, "abc");
	check("65537 entries", "\tcmp $65536,%rdi\n\tja f\n\tjmp *table(,%rdi,8)\n", table, "abc?");
}

/* Entries within instructions that are known to be there are none. */
static void test_within(void **state)
{
	static const char code[] = "\ttest %esi,%esi\n\tje e\n\tjmp *table(,%rdi,8)\n";

	(void)state;
	check("second byte", code, "\t.quad a, b, e+1, c\n", "ab?");
	check("last byte", code, "\t.quad a, b, e+4, c\n", "ab?");
	check("behind it", code, "\t.quad a, b, e+5, c\n", "abc");
}

/* Through a word at a fixed address: elsewhere, but for what is right behind the jump. */
static void test_fixed(void **state)
{
	static const char code[] = "\tnop\n\tnop\n\tjmp *table(%rip)\n";

	(void)state;
	check("behind", code, "\t.quad a\n", "a-");
	check("further on", code, "\t.quad b\n", "-");
	check("other code", code, "\t.quad other\n", "-");
}

/* Places at equal distances are at most 256. */
static void test_many_places(void **state)
{
	static const char format[] = "\tcmp $%u,%%rdi\n\tja f\n\tlea 1f(,%%rdi,8),%%rax\n"
				     "\tjmp *%%rax\n\t.balign 8\n1:\t.rept 260\n\tret\n"
				     "\t.balign 8\n\t.endr\n";
	char code[256];

	(void)state;
	snprintf(code, sizeof(code), format, 255);
	check("256 places", code, "", "");
	snprintf(code, sizeof(code), format, 256);
	check("257 places", code, "", "-?");
}

/*
 * What is looked at on the way to a jump: states of 32767 places, and any number of instructions
 * between them.  What does not lead there, as its targets, does not count.
 */
static void test_long_ways(void **state)
{
	static const char format[] = "\tmov $table,%%ecx\n\tand $3,%%edi\n\t.rept %u\n\tje .+2\n"
				     "\t.endr\n\t.rept %u\n\tnop\n\t.endr\n"
				     "\tjmp *(%%rcx,%%rdi,8)\n";
	char code[256];

	(void)state;
	snprintf(code, sizeof(code), format, 1, 40000);
	check("instructions", code, ABCDEF, "abcd");
	/* The first one, and those behind the branches. */
	snprintf(code, sizeof(code), format, 32767 - 1, 0);
	check("32767 places", code, ABCDEF, "abcd");
	snprintf(code, sizeof(code), format, 32768 - 1, 0);
	/* Without a search it is a pointer to anywhere. */
	check("32768 places", code, ABCDEF, "-?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_index),    cmocka_unit_test(test_natural_index),
		cmocka_unit_test(test_places),	       cmocka_unit_test(test_ways),
		cmocka_unit_test(test_behind_another), cmocka_unit_test(test_long_tables),
		cmocka_unit_test(test_within),	       cmocka_unit_test(test_fixed),
		cmocka_unit_test(test_many_places),    cmocka_unit_test(test_long_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
