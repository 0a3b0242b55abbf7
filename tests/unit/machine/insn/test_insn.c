/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Facts about instructions: against objdump over whole files, and cases from the manual. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "machine/insn/insn.h"
#include "tests/unit/common/toolbox.h"

/* ---- against objdump ---- */

struct tally {
	size_t insns;
	size_t memories;
	size_t stores;
	size_t targets;
};

/* One instruction as objdump prints it in Intel's syntax. */
struct line {
	uint64_t address;
	uint8_t bytes[16];
	size_t size;
	char *mnemonic;
	char *operands;
};

static bool parse(char *text, struct line *l)
{
	static const char *const prefixes[] = {"rep",	   "repz",   "repnz",	"lock",
					       "bnd",	   "data16", "notrack", "cs",
					       "rex.WRXB", "ds",     "addr32"};
	char *end, *hash;
	size_t i;

	l->address = strtoull(text, &end, 16);
	if (end == text || *end != ':')
		return false;
	for (l->size = 0, text = end + 2; *text && *text != '\t'; text = end) {
		unsigned long byte = strtoul(text, &end, 16);

		if (end != text + 2)
			break;
		assert_true(l->size < sizeof(l->bytes));
		l->bytes[l->size++] = (uint8_t)byte;
		end += *end == ' ';
	}
	text += strspn(text, " \t");
	for (i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		size_t n = strlen(prefixes[i]);

		if (strncmp(text, prefixes[i], n) == 0 && text[n] == ' ') {
			text += n + strspn(text + n, " ");
			i = (size_t)-1;
		}
	}
	hash = strchr(text, '#');
	if (hash)
		*hash = '\0';
	l->mnemonic = text;
	l->operands = text + strcspn(text, " ");
	if (*l->operands)
		*l->operands++ = '\0';
	l->operands += strspn(l->operands, " ");
	/* fwait is an instruction of its own, but objdump takes it together with what follows. */
	if (l->size > 1 && l->bytes[0] == 0x9b)
		memmove(l->bytes, l->bytes + 1, --l->size);
	return l->size > 0 && *l->mnemonic && !strstr(l->mnemonic, "(bad)");
}

static bool starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Bytes that an operand with "... PTR [" says; 0 if it does not. */
static unsigned said_size(const char *operands)
{
	static const struct {
		const char *name;
		unsigned size;
	} sizes[] = {{"XMMWORD PTR", 16}, {"YMMWORD PTR", 32}, {"ZMMWORD PTR", 64},
		     {"QWORD PTR", 8},	  {"DWORD PTR", 4},    {"TBYTE PTR", 10},
		     {"BYTE PTR", 1},	  {"WORD PTR", 2}};
	const char *at = strstr(operands, " PTR ");
	size_t i;

	for (i = 0; at && i < sizeof(sizes) / sizeof(*sizes); i++) {
		size_t n = strlen(sizes[i].name);

		if (at + 4 >= operands + n && strncmp(at + 4 - n, sizes[i].name, n) == 0)
			return sizes[i].size;
	}
	return 0;
}

static void check_memory(const struct line *l, const struct vt_facts *f, struct tally *t)
{
	const struct vt_memory *m = &f->memories[0];
	const char *comma = strchr(l->operands, ',');
	const char *where = strchr(l->operands, '[');
	bool first = where && (!comma || where < comma);
	unsigned size = said_size(l->operands);

	if (!where || !size || starts(l->mnemonic, "lea") || starts(l->mnemonic, "nop") ||
	    starts(l->mnemonic, "prefetch"))
		return;
	t->memories++;
	if (!f->nmemories || m->size != size)
		fail_msg("%llx: %s %s: memory of %u bytes, not %u", (unsigned long long)l->address,
			 l->mnemonic, l->operands, f->nmemories ? m->size : 0, size);
	if (!first && !m->read)
		fail_msg("%s %s is no load", l->mnemonic, l->operands);
	if (first && (starts(l->mnemonic, "mov") || starts(l->mnemonic, "vmov"))) {
		t->stores++;
		assert_true(m->written && !m->read);
	}
	if (first && (starts(l->mnemonic, "add") || starts(l->mnemonic, "sub") ||
		      starts(l->mnemonic, "or") || starts(l->mnemonic, "and"))) {
		t->stores++;
		assert_true(m->written && m->read);
	}
	if (first && (starts(l->mnemonic, "cmp") || starts(l->mnemonic, "test")) &&
	    !starts(l->mnemonic, "cmpxchg")) {
		assert_true(m->read && !m->written);
		assert_true(f->flags & VT_FACT_COMPARE);
	}
	/* [rip+0x10], fs:[...]: where it is. */
	assert_int_equal(m->base == VT_REG_IP, strstr(l->operands, "[rip") != NULL);
	assert_int_equal(m->segment == VT_REG_FS, strstr(l->operands, "fs:") != NULL);
}

static void check_branch(const struct line *l, const struct vt_facts *f, struct tally *t)
{
	bool jump = strcmp(l->mnemonic, "jmp") == 0, call = strcmp(l->mnemonic, "call") == 0;
	bool conditional = l->mnemonic[0] == 'j' && !jump;
	char *end;
	uint64_t to = strtoull(l->operands, &end, 16);
	bool direct = end > l->operands && (*end == ' ' || !*end);

	if (strcmp(l->mnemonic, "ret") == 0)
		assert_true(f->flags & VT_FACT_RETURN);
	else
		assert_false(f->flags & VT_FACT_RETURN);
	assert_int_equal(!!(f->flags & VT_FACT_CONDITIONAL), conditional);
	assert_int_equal(!!(f->flags & VT_FACT_JUMP), jump);
	assert_int_equal(!!(f->flags & VT_FACT_CALL), call);
	if (!jump && !call && !conditional)
		return;
	t->targets++;
	assert_true(f->flags & VT_FACT_BRANCH);
	assert_int_equal(f->has_target, direct);
	assert_int_equal(!!(f->flags & VT_FACT_INDIRECT), !direct);
	if (direct)
		assert_int_equal(l->address + (uint64_t)f->target, to);
}

static struct tally compare(const char *path)
{
	char *out = toolbox_run("/", "objdump -d -w -M intel '%s'", path);
	char *text, *save = NULL;
	struct tally t = {0};

	for (text = strtok_r(out, "\n", &save); text; text = strtok_r(NULL, "\n", &save)) {
		struct line l = {0};
		struct vt_facts f;

		if (!parse(text, &l))
			continue;
		if (!vt_facts_decode(l.bytes, l.size, &f) || f.length != l.size)
			fail_msg("%llx: %s %s: %zu bytes, not %u", (unsigned long long)l.address,
				 l.mnemonic, l.operands, l.size, f.length);
		assert_false(vt_facts_decode(l.bytes, l.size - 1, &f));
		assert_true(vt_facts_decode(l.bytes, l.size, &f));
		t.insns++;
		check_memory(&l, &f, &t);
		check_branch(&l, &f, &t);
	}
	free(out);
	return t;
}

/* This program itself: what the compiler makes. */
static void test_objdump_program(void **state)
{
	char *path = toolbox_run("/", "readlink -f /proc/%d/exe", (int)getpid());
	struct tally t;

	(void)state;
	path[strcspn(path, "\n")] = '\0';
	t = compare(path);
	free(path);
	print_message("program: %zu instructions, %zu memory operands, %zu stores, %zu targets\n",
		      t.insns, t.memories, t.stores, t.targets);
	assert_true(t.insns > 5000 && t.memories > 1000 && t.stores > 300 && t.targets > 1000);
}

/* Vectors, as assembly has them: however much of it the C library at hand has, objdump knows. */
static void test_objdump_vectors(void **state)
{
	char *path = toolbox_run("/", "gcc -print-file-name=libm.so.6");
	struct tally t;

	(void)state;
	path[strcspn(path, "\n")] = '\0';
	t = compare(path);
	free(path);
	print_message("libm: %zu instructions, %zu memory operands, %zu stores, %zu targets\n",
		      t.insns, t.memories, t.stores, t.targets);
	assert_true(t.insns > 0 && t.memories > 0);
}

/* ---- cases ---- */

static struct vt_facts facts(const char *hex)
{
	uint8_t bytes[32];
	size_t n = 0;
	struct vt_facts f;
	unsigned byte;

	for (; sscanf(hex, "%2x", &byte) == 1; hex += 2)
		bytes[n++] = (uint8_t)byte;
	if (!vt_facts_decode(bytes, n, &f))
		fail_msg("%s is no instruction", hex);
	assert_int_equal(f.length, n);
	return f;
}

static struct vt_number_type type(const char *hex, enum vt_what what, unsigned reg, unsigned size)
{
	struct vt_facts f = facts(hex);

	return vt_facts_type(&f, what, reg, size);
}

#define BIT(reg) (UINT64_C(1) << (reg))

static void test_accesses(void **state)
{
	struct vt_facts f = facts("488b84cb80000000"); /* mov rax, [rbx+rcx*8+0x80] */

	(void)state;
	assert_int_equal(f.flags, VT_FACT_LOAD | VT_FACT_MOVE);
	assert_int_equal(f.nmemories, 1);
	assert_int_equal(f.memories[0].base, VT_REG_BX);
	assert_int_equal(f.memories[0].index, VT_REG_CX);
	assert_int_equal(f.memories[0].scale, 8);
	assert_int_equal(f.memories[0].displacement, 0x80);
	assert_false(f.memories[0].implied);
	assert_int_equal(f.reads, BIT(VT_REG_BX) | BIT(VT_REG_CX));
	assert_int_equal(f.writes, BIT(VT_REG_AX));
	assert_int_equal(f.nresults, 1);
	assert_int_equal(f.results[0].reg, VT_REG_AX);

	f = facts("4c016cf5f8"); /* add [rbp+rsi*8-8], r13 */
	assert_int_equal(f.flags, VT_FACT_LOAD | VT_FACT_STORE);
	assert_int_equal(f.memories[0].displacement, -8);
	assert_int_equal(f.reads, BIT(VT_REG_BP) | BIT(VT_REG_SI) | BIT(21));
	assert_int_equal(f.writes, BIT(VT_REG_FLAGS));
	assert_int_equal(f.nresults, 0);

	f = facts("488d0437"); /* lea rax, [rdi+rsi] */
	assert_int_equal(f.flags, VT_FACT_LEA);
	assert_int_equal(f.nmemories, 0);
	assert_int_equal(f.reads, BIT(VT_REG_DI) | BIT(VT_REG_SI));

	f = facts("0f1f440000"); /* nop [rax+rax] */
	assert_int_equal(f.flags, VT_FACT_NOP);
	assert_int_equal(f.nmemories, 0);

	f = facts("f0480fb10f"); /* lock cmpxchg [rdi], rcx */
	assert_true(f.flags & VT_FACT_ATOMIC);
	assert_true(f.memories[0].read && f.memories[0].written);

	f = facts("c4e26d9004cf"); /* vpgatherdd ymm0, [rdi+ymm1*8], ymm2 */
	assert_true(f.memories[0].gather);
	assert_int_equal(f.memories[0].size, 4);
	assert_int_equal(f.memories[0].index, VT_REG_VECTOR + 1);
	assert_true(f.flags & VT_FACT_MASKED);
}

static void test_stack(void **state)
{
	struct vt_facts f = facts("ff5008"); /* call [rax+8] */

	(void)state;
	assert_int_equal(f.flags, VT_FACT_BRANCH | VT_FACT_CALL | VT_FACT_INDIRECT | VT_FACT_LOAD |
					  VT_FACT_STORE);
	assert_int_equal(f.nmemories, 2);
	assert_true(f.memories[0].read && !f.memories[0].implied);
	assert_true(f.memories[1].written && f.memories[1].implied);
	assert_int_equal(f.memories[1].base, VT_REG_SP);
	assert_int_equal(f.memories[1].displacement, -8);
	assert_int_equal(f.nresults, 0);

	f = facts("4157"); /* push r15 */
	assert_int_equal(f.flags, VT_FACT_PUSH | VT_FACT_STORE);
	assert_int_equal(f.reads, BIT(VT_REG_R15) | BIT(VT_REG_SP));
	f = facts("5d"); /* pop rbp */
	assert_int_equal(f.flags, VT_FACT_POP | VT_FACT_LOAD);
	assert_int_equal(f.nresults, 1);
	assert_int_equal(f.results[0].reg, VT_REG_BP);
	f = facts("c3");
	assert_int_equal(f.flags, VT_FACT_BRANCH | VT_FACT_RETURN | VT_FACT_LOAD);
}

static void test_strings(void **state)
{
	struct vt_facts f = facts("f348a5"); /* rep movsq */

	(void)state;
	assert_int_equal(f.flags, VT_FACT_STRING | VT_FACT_REPEATED | VT_FACT_LOAD | VT_FACT_STORE);
	assert_int_equal(f.nmemories, 2);
	assert_int_equal(f.memories[0].size, 8);
	assert_int_equal(f.writes & BIT(VT_REG_CX), BIT(VT_REG_CX));
	f = facts("0f05"); /* syscall */
	assert_int_equal(f.flags, VT_FACT_SYSCALL);
	f = facts("cc"); /* int3 */
	assert_int_equal(f.flags, VT_FACT_SYSCALL);
}

static void test_divisors(void **state)
{
	struct vt_facts f = facts("41f7f4"); /* div r12d */

	(void)state;
	assert_int_equal(f.flags, VT_FACT_DIVIDE);
	assert_int_equal(f.divisor.where, VT_WHERE_REGISTER);
	assert_int_equal(f.divisor.reg, 20);
	assert_int_equal(f.divisor.size, 4);
	assert_int_equal(f.divisor.type.number, VT_NUMBER_UNSIGNED);
	assert_int_equal(f.nresults, 2);

	f = facts("48f77f10"); /* idiv qword [rdi+0x10] */
	assert_int_equal(f.divisor.where, VT_WHERE_MEMORY);
	assert_int_equal(f.divisor.size, 8);
	assert_int_equal(f.divisor.type.number, VT_NUMBER_SIGNED);

	f = facts("f6f4"); /* div ah */
	assert_int_equal(f.divisor.reg, VT_REG_AX);
	assert_true(f.divisor.high);

	f = facts("f20f5ec1"); /* divsd xmm0, xmm1 */
	assert_int_equal(f.flags, VT_FACT_DIVIDE | VT_FACT_FLOAT | VT_FACT_VECTOR);
	assert_int_equal(f.divisor.reg, VT_REG_VECTOR + 1);
	f = facts("c5eb5ecb"); /* vdivsd xmm1, xmm2, xmm3 */
	assert_int_equal(f.divisor.reg, VT_REG_VECTOR + 3);
	f = facts("dc30"); /* fdiv qword [rax] */
	assert_int_equal(f.divisor.where, VT_WHERE_MEMORY);
	f = facts("dc38"); /* fdivr qword [rax]: it is divided */
	assert_int_equal(f.divisor.where, VT_WHERE_NONE);

	assert_int_equal(facts("0fafc7").flags, VT_FACT_MULTIPLY);
	assert_true(facts("c4e2e998c1").flags & VT_FACT_MULTIPLY);    /* vfmadd132pd */
	assert_false(facts("660f3a44c100").flags & VT_FACT_MULTIPLY); /* pclmulqdq */
	assert_false(facts("f30fb8c0").flags & VT_FACT_POP);	      /* popcnt */
}

static void expect(struct vt_number_type t, enum vt_number number, unsigned size, unsigned elements,
		   bool may_point)
{
	assert_int_equal(t.number, number);
	assert_int_equal(t.size, size);
	assert_int_equal(t.elements, elements);
	assert_int_equal(t.may_point, may_point);
}

static void test_types(void **state)
{
	(void)state;
	/* mov rax, [rbx]; movzx; movsx; movss; mulsd; movups; movdqa; fld qword */
	expect(type("488b03", VT_WHAT_LOAD, 0, 8), VT_NUMBER_INT, 8, 1, true);
	expect(type("0fb603", VT_WHAT_LOAD, 0, 1), VT_NUMBER_UNSIGNED, 1, 1, false);
	expect(type("480fbe03", VT_WHAT_LOAD, 0, 1), VT_NUMBER_SIGNED, 1, 1, false);
	expect(type("480fbe03", VT_WHAT_RESULT, VT_REG_AX, 8), VT_NUMBER_SIGNED, 8, 1, true);
	expect(type("f30f1003", VT_WHAT_LOAD, 0, 4), VT_NUMBER_FLOAT, 4, 1, false);
	expect(type("f20f5903", VT_WHAT_LOAD, 0, 8), VT_NUMBER_FLOAT, 8, 1, false);
	expect(type("f20f5903", VT_WHAT_RESULT, VT_REG_VECTOR, 8), VT_NUMBER_FLOAT, 8, 1, false);
	expect(type("0f1003", VT_WHAT_LOAD, 0, 16), VT_NUMBER_RAW, 8, 2, false);
	expect(type("660f6f03", VT_WHAT_LOAD, 0, 16), VT_NUMBER_RAW, 8, 2, false);
	expect(type("dd03", VT_WHAT_LOAD, 0, 8), VT_NUMBER_FLOAT, 8, 1, false);
	expect(type("db2b", VT_WHAT_LOAD, 0, 10), VT_NUMBER_FLOAT, 10, 1, false);
	/* addps xmm0, [rax]; paddd; vaddpd ymm */
	expect(type("0f5800", VT_WHAT_LOAD, 0, 16), VT_NUMBER_FLOAT, 4, 4, false);
	expect(type("0f5800", VT_WHAT_LOAD, 0, 8), VT_NUMBER_FLOAT, 4, 2, false);
	expect(type("660ffe00", VT_WHAT_LOAD, 0, 16), VT_NUMBER_INT, 4, 4, false);
	expect(type("c5fd5800", VT_WHAT_LOAD, 0, 32), VT_NUMBER_FLOAT, 8, 4, false);
	/* call [rax]: it loads where it goes, and stores where it comes from; ret */
	expect(type("ff10", VT_WHAT_LOAD, 0, 8), VT_NUMBER_ADDRESS, 8, 1, true);
	expect(type("ff10", VT_WHAT_STORE, 0, 8), VT_NUMBER_ADDRESS, 8, 1, true);
	expect(type("c3", VT_WHAT_LOAD, 0, 8), VT_NUMBER_ADDRESS, 8, 1, true);
	expect(type("488b03", VT_WHAT_LOAD_ADDRESS, 0, 8), VT_NUMBER_ADDRESS, 8, 1, true);
	/* imul rax, rbx: a product is no address */
	expect(type("480fafc3", VT_WHAT_RESULT, VT_REG_AX, 8), VT_NUMBER_SIGNED, 8, 1, false);
	/* addsd xmm1, xmm0; addpd; add al, bl: operands, of which general ones are whole */
	expect(type("f20f58c8", VT_WHAT_OPERAND, VT_REG_VECTOR, 8), VT_NUMBER_FLOAT, 8, 1, false);
	expect(type("660f58c8", VT_WHAT_OPERAND, VT_REG_VECTOR + 1, 16), VT_NUMBER_FLOAT, 8, 2,
	       false);
	expect(type("00d8", VT_WHAT_OPERAND, VT_REG_BX, 8), VT_NUMBER_INT, 8, 1, true);
	/* nop word [rax], ax works on nothing; nor does pause, but with REX.B it may be an xchg */
	assert_int_equal(facts("660f1f00").nsources, 0);
	assert_int_equal(facts("f390").writes, 0);
	assert_int_equal(facts("f34890").writes, 0);
	assert_int_equal(facts("f34190").writes, 1 << VT_REG_AX | 1 << VT_REG_R8);
	/* Without an instruction, and with sizes that fit nothing. */
	expect(vt_facts_type(NULL, VT_WHAT_LOAD, 0, 8), VT_NUMBER_INT, 8, 1, true);
	expect(vt_facts_type(NULL, VT_WHAT_ARG, VT_REG_VECTOR, 8), VT_NUMBER_FLOAT, 8, 1, false);
	expect(type("f20f5903", VT_WHAT_LOAD, 0, 3), VT_NUMBER_RAW, 3, 1, false);
	expect(type("488b03", VT_WHAT_LOAD, 0, 0), VT_NUMBER_INT, 0, 1, false);
	expect(type("488b03", VT_WHAT_LOAD, 0, 65535), VT_NUMBER_RAW, 8, 1, false);
}

/* Sizes and registers at each bound, and values that the instruction does not have. */
static void test_type_bounds(void **state)
{
	(void)state;
	expect(vt_facts_type(NULL, VT_WHAT_LOAD, 0, 9), VT_NUMBER_RAW, 8, 1, false);
	expect(vt_facts_type(NULL, VT_WHAT_LOAD, 0, 512), VT_NUMBER_RAW, 8, 64, false);
	expect(vt_facts_type(NULL, VT_WHAT_LOAD, 0, 520), VT_NUMBER_RAW, 8, 1, false);
	expect(vt_facts_type(NULL, VT_WHAT_RESULT, VT_REG_VECTOR - 1, 8), VT_NUMBER_INT, 8, 1,
	       true);
	expect(vt_facts_type(NULL, VT_WHAT_RESULT, VT_REG_VECTOR, 8), VT_NUMBER_RAW, 8, 1, true);
	expect(vt_facts_type(NULL, VT_WHAT_ARG, VT_REG_VECTOR - 1, 8), VT_NUMBER_INT, 8, 1, true);
	expect(vt_facts_type(NULL, VT_WHAT_ARG, VT_REG_VECTOR, 4), VT_NUMBER_INT, 4, 1, false);
	expect(vt_facts_type(NULL, VT_WHAT_GUARD, 0, 8), VT_NUMBER_UNSIGNED, 8, 1, true);
	/* movsx rax, byte [rbx] stores nothing, movss [rbx], xmm0 loads and writes no register. */
	expect(type("480fbe03", VT_WHAT_STORE, VT_REG_AX, 8), VT_NUMBER_INT, 8, 1, true);
	expect(type("f30f1103", VT_WHAT_LOAD, 0, 4), VT_NUMBER_INT, 4, 1, false);
	expect(type("f30f1103", VT_WHAT_STORE, 0, 4), VT_NUMBER_FLOAT, 4, 1, false);
	expect(type("f30f1103", VT_WHAT_RESULT, VT_REG_VECTOR, 4), VT_NUMBER_RAW, 4, 1, false);
	/* movsx: a wider register; addps: up to 255 elements, and of 3 bytes none */
	expect(type("480fbe03", VT_WHAT_LOAD, 0, 8), VT_NUMBER_SIGNED, 8, 1, false);
	expect(type("480fbe03", VT_WHAT_LOAD, 0, 9), VT_NUMBER_RAW, 8, 1, false);
	expect(type("0f5800", VT_WHAT_LOAD, 0, 1020), VT_NUMBER_FLOAT, 4, 255, false);
	expect(type("0f5800", VT_WHAT_LOAD, 0, 1024), VT_NUMBER_FLOAT, 4, 4, false);
	expect(type("0f5800", VT_WHAT_LOAD, 0, 3), VT_NUMBER_RAW, 3, 1, false);
}

/* Registers that no operand names: flags, and the pointers and the count of string instructions. */
static void test_unnamed(void **state)
{
	const uint64_t ax = 1 << VT_REG_AX, bx = 1 << VT_REG_BX, cx = 1 << VT_REG_CX;
	const uint64_t si = 1 << VT_REG_SI, di = 1 << VT_REG_DI;
	const uint64_t flags = UINT64_C(1) << VT_REG_FLAGS;

	(void)state;
	/* mov, adc, setb */
	assert_int_equal(facts("4889d8").reads, bx);
	assert_int_equal(facts("4889d8").writes, ax);
	assert_int_equal(facts("4811d8").reads, ax | bx | flags);
	assert_int_equal(facts("4811d8").writes, ax | flags);
	assert_int_equal(facts("0f92c0").reads & flags, flags);
	assert_int_equal(facts("0f92c0").writes & flags, 0);
	/* pause that may be xchg r8, rax */
	assert_int_equal(facts("f34190").reads, ax | 1 << VT_REG_R8);
	/* stosb, rep stosb, movsb, rep movsb */
	assert_int_equal(facts("aa").writes, di);
	assert_int_equal(facts("f3aa").writes, di | cx);
	assert_int_equal(facts("a4").writes, si | di);
	assert_int_equal(facts("f3a4").writes, si | di | cx);
}

static void test_names(void **state)
{
	static const char *const bytes[] = {"al", "bl", "cl", "dl", "sil", "dil", "bpl", "spl"};
	unsigned i;

	(void)state;
	assert_string_equal(vt_reg_name(VT_REG_AX, 8), "rax");
	assert_string_equal(vt_reg_name(VT_REG_DI, 4), "edi");
	assert_string_equal(vt_reg_name(VT_REG_SI, 2), "si");
	for (i = 0; i < 8; i++)
		assert_string_equal(vt_reg_name(i, 1), bytes[i]);
	assert_string_equal(vt_reg_name(VT_REG_R8, 1), "r8b");
	assert_string_equal(vt_reg_name(VT_REG_R15, 1), "r15b");
	assert_string_equal(vt_reg_name(20, 8), "r12");
	assert_string_equal(vt_reg_name(VT_REG_FLAGS, 8), "rflags");
	assert_string_equal(vt_reg_name(VT_REG_FS, 8), "fs");
	assert_string_equal(vt_reg_name(VT_REG_GS, 8), "gs");
	assert_string_equal(vt_reg_name(VT_REG_IP, 8), "rip");
	assert_string_equal(vt_reg_name(VT_REG_VECTOR, 33), "zmm0");
	assert_string_equal(vt_reg_name(VT_REG_VECTOR, 17), "ymm0");
	assert_string_equal(vt_reg_name(VT_REG_VECTOR + 31, 16), "xmm31");
	assert_string_equal(vt_reg_name(VT_REG_VECTOR, 32), "ymm0");
	assert_string_equal(vt_reg_name(24, 8), "?");
	assert_string_equal(vt_reg_name(VT_NREGS, 8), "?");
	assert_string_equal(vt_reg_name(UINT32_MAX, 1), "?");
}

static void test_stubs(void **state)
{
	static const uint8_t lazy[] = {0xff, 0x25, 0x10, 0x00, 0x00, 0x00, 0x68, 0, 0, 0, 0};
	static const uint8_t marked[] = {0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff,
					 0x25, 0xf0, 0xff, 0xff, 0xff};
	static const uint8_t table[] = {0xff, 0x24, 0xc5, 0, 0, 0, 0}; /* jmp [rax*8] */
	static const uint8_t direct[] = {0xe9, 0, 0, 0, 0};
	int64_t slot = 0;

	(void)state;
	assert_true(vt_code_is_plt(lazy, sizeof(lazy), &slot));
	assert_int_equal(slot, 6 + 0x10);
	assert_true(vt_code_is_plt(marked, sizeof(marked), &slot));
	assert_int_equal(slot, (int64_t)sizeof(marked) - 16);
	assert_false(vt_code_is_plt(marked, 4, &slot));
	assert_false(vt_code_is_plt(table, sizeof(table), &slot));
	assert_false(vt_code_is_plt(direct, sizeof(direct), &slot));
	assert_false(vt_code_is_plt(lazy, 0, &slot));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_objdump_program), cmocka_unit_test(test_objdump_vectors),
		cmocka_unit_test(test_accesses),	cmocka_unit_test(test_stack),
		cmocka_unit_test(test_strings),		cmocka_unit_test(test_divisors),
		cmocka_unit_test(test_types),		cmocka_unit_test(test_names),
		cmocka_unit_test(test_stubs),		cmocka_unit_test(test_type_bounds),
		cmocka_unit_test(test_unnamed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
