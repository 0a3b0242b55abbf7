/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Kinds and targets of instructions whose encodings are worked out by hand from the makers'
 * manuals.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "image/disasm.h"

#define AT UINT64_C(0x10000)

static struct vt_error err;

struct insn {
	const char *bytes;
	unsigned size;
	enum vt_insn_type type;
	uint64_t target; /* 0: none */
	const char *begins;
};

static void check(struct vt_disasm *d, const struct insn *want)
{
	struct vt_insn insn;

	vt_disasm_at(d, (const uint8_t *)want->bytes, want->size, AT, &insn);
	if (insn.size != want->size || insn.type != want->type ||
	    insn.has_target != (want->target != 0) || insn.target != want->target ||
	    strncmp(insn.text, want->begins, strlen(want->begins)) != 0)
		fail_msg("%s: size %u, type %d, target 0x%llx", insn.text, insn.size,
			 (int)insn.type, (unsigned long long)insn.target);
	assert_null(strchr(insn.text, '\t'));
	assert_true(insn.text[strlen(insn.text) - 1] != ' ');
}

static struct vt_disasm *make(unsigned machine, unsigned bits)
{
	struct vt_disasm *d = vt_disasm_new(machine, bits, false, VT_SYNTAX_ATT, &err);

	assert_non_null(d);
	return d;
}

static void test_x86(void **state)
{
	static const struct insn insns[] = {
		{"\x90", 1, VT_INSN_OTHER, 0, "nop"},
		{"\xe8\x0b\x00\x00\x00", 5, VT_INSN_CALL, AT + 16, "call"},
		{"\xff\xd0", 2, VT_INSN_CALL, 0, "call"},
		{"\xff\x15\x10\x00\x00\x00", 6, VT_INSN_CALL, 0, "call"},
		{"\xeb\x0e", 2, VT_INSN_BRANCH, AT + 16, "jmp"},
		{"\xeb\xfe", 2, VT_INSN_BRANCH, AT, "jmp"},
		{"\xff\xe0", 2, VT_INSN_BRANCH, 0, "jmp"},
		{"\x74\x0e", 2, VT_INSN_CONDITIONAL, AT + 16, "je"},
		{"\xe3\x0e", 2, VT_INSN_CONDITIONAL, AT + 16, "jrcxz"},
		{"\xe2\x0e", 2, VT_INSN_CONDITIONAL, AT + 16, "loop"},
		{"\xe1\x0e", 2, VT_INSN_CONDITIONAL, AT + 16, "loope"},
		{"\xc7\xf8\x0a\x00\x00\x00", 6, VT_INSN_CONDITIONAL, AT + 16, "xbegin"},
		{"\xf2\xe8\x0a\x00\x00\x00", 6, VT_INSN_CALL, AT + 16, "bnd call"},
		{"\xf2\x74\x0d", 3, VT_INSN_CONDITIONAL, AT + 16, "bnd je"},
		{"\x3e\xff\xe0", 3, VT_INSN_BRANCH, 0, "notrack jmp"},
		{"\xf3\xc3", 2, VT_INSN_OTHER, 0, "repz ret"},
		{"\x06", 1, VT_INSN_BAD, 0, "(bad)"},
		/* An operand that is an address, but nobody goes there. */
		{"\x48\x8d\x05\x09\x00\x00\x00", 7, VT_INSN_OTHER, 0, "lea"},
	};
	struct vt_disasm *d = make(VT_MACHINE_X86_64, 64);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(insns) / sizeof(*insns); i++)
		check(d, &insns[i]);
	vt_disasm_free(d);
}

/* The same bytes as code of 16, 32 and 64 bits. */
static void test_x86_modes(void **state)
{
	static const struct {
		unsigned machine, bits, size;
		const char *text;
	} modes[] = {
		{VT_MACHINE_I386, 16, 3, "mov    $0x5634,%ax"},
		{VT_MACHINE_I386, 32, 5, "mov    $0x9a785634,%eax"},
		{VT_MACHINE_X86_64, 64, 5, "mov    $0x9a785634,%eax"},
	};
	struct vt_insn insn;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		struct vt_disasm *d = make(modes[i].machine, modes[i].bits);

		vt_disasm_at(d, (const uint8_t *)"\xb8\x34\x56\x78\x9a", 5, AT, &insn);
		assert_string_equal(insn.text, modes[i].text);
		assert_int_equal(insn.size, modes[i].size);
		vt_disasm_free(d);
	}
}

struct word {
	uint32_t word;
	enum vt_insn_type type;
	uint64_t target;
	const char *begins;
};

static void check_words(unsigned machine, unsigned bits, const struct word *words, size_t n)
{
	struct vt_disasm *d = make(machine, bits);
	size_t i;

	for (i = 0; i < n; i++) {
		uint8_t bytes[4];
		struct insn want = {(const char *)bytes, 4, words[i].type, words[i].target,
				    words[i].begins};

		vt_put_le32(bytes, words[i].word);
		check(d, &want);
	}
	vt_disasm_free(d);
}

static void test_aarch64(void **state)
{
	static const struct word words[] = {
		{0x94000004, VT_INSN_CALL, AT + 16, "bl "},
		{0xd63f0060, VT_INSN_CALL, 0, "blr"},
		{0x14000004, VT_INSN_BRANCH, AT + 16, "b "},
		{0xd61f0060, VT_INSN_BRANCH, 0, "br "},
		{0xd71f0861, VT_INSN_BRANCH, 0, "braa"},
		{0x54000080, VT_INSN_CONDITIONAL, AT + 16, "b.eq"},
		{0xb4000080, VT_INSN_CONDITIONAL, AT + 16, "cbz"},
		{0xb5000080, VT_INSN_CONDITIONAL, AT + 16, "cbnz"},
		{0x36000080, VT_INSN_CONDITIONAL, AT + 16, "tbz"},
		{0x37000080, VT_INSN_CONDITIONAL, AT + 16, "tbnz"},
		{0xd65f03c0, VT_INSN_OTHER, 0, "ret"},
		{0xb37e0820, VT_INSN_OTHER, 0, "bfi"},
		{0x8a220020, VT_INSN_OTHER, 0, "bic"},
		{0xd4200000, VT_INSN_OTHER, 0, "brk"},
		{0x10000080, VT_INSN_OTHER, 0, "adr"},
		{0x91000400, VT_INSN_OTHER, 0, "add"},
	};

	(void)state;
	check_words(VT_MACHINE_AARCH64, 64, words, sizeof(words) / sizeof(*words));
}

/* ARM's pc is two instructions ahead. */
static void test_arm(void **state)
{
	static const struct word words[] = {
		{0xeb000002, VT_INSN_CALL, AT + 16, "bl "},
		{0x0b000002, VT_INSN_CALL, AT + 16, "bleq"},
		{0x9b000002, VT_INSN_CALL, AT + 16, "blls"},
		{0xe12fff33, VT_INSN_CALL, 0, "blx"},
		{0x012fff33, VT_INSN_CALL, 0, "blxeq"},
		{0xea000002, VT_INSN_BRANCH, AT + 16, "b "},
		{0xe12fff1e, VT_INSN_BRANCH, 0, "bx"},
		{0x0a000002, VT_INSN_CONDITIONAL, AT + 16, "beq"},
		{0x9a000002, VT_INSN_CONDITIONAL, AT + 16, "bls"},
		{0xba000002, VT_INSN_CONDITIONAL, AT + 16, "blt"},
		{0xda000002, VT_INSN_CONDITIONAL, AT + 16, "ble"},
		{0xe1c10002, VT_INSN_OTHER, 0, "bic"},
		{0x01c10002, VT_INSN_OTHER, 0, "biceq"},
		{0xe7c2009f, VT_INSN_OTHER, 0, "bfc"},
		{0xe7c20091, VT_INSN_OTHER, 0, "bfi"},
		{0xe2800001, VT_INSN_OTHER, 0, "add"},
	};

	(void)state;
	check_words(VT_MACHINE_ARM, 32, words, sizeof(words) / sizeof(*words));
}

static void name_address(void *arg, uint64_t address, struct vt_buf *out)
{
	if (address == *(const uint64_t *)arg)
		vt_buf_printf(out, "there");
}

static void test_names(void **state)
{
	uint64_t there = AT + 16;
	struct vt_disasm *d = make(VT_MACHINE_X86_64, 64);
	struct vt_insn insn;

	(void)state;
	vt_disasm_at(d, (const uint8_t *)"\xeb\x0e", 2, AT, &insn);
	assert_string_equal(insn.text, "jmp    10010");
	vt_disasm_set_symbols(d, name_address, &there);
	vt_disasm_at(d, (const uint8_t *)"\xeb\x0e", 2, AT, &insn);
	assert_string_equal(insn.text, "jmp    10010 <there>");
	vt_disasm_at(d, (const uint8_t *)"\xeb\x0f", 2, AT, &insn);
	assert_string_equal(insn.text, "jmp    10011");
	vt_disasm_free(d);
	d = vt_disasm_new(VT_MACHINE_X86_64, 64, false, VT_SYNTAX_INTEL, &err);
	vt_disasm_at(d, (const uint8_t *)"\x48\x89\xd8", 3, AT, &insn);
	assert_string_equal(insn.text, "mov    rax,rbx");
	vt_disasm_free(d);
	/* 40 is an increment with 32 bits, a prefix with 64. */
	d = make(VT_MACHINE_I386, 32);
	vt_disasm_at(d, (const uint8_t *)"\x40\x90", 2, AT, &insn);
	assert_string_equal(insn.text, "inc    %eax");
	assert_int_equal(insn.size, 1);
	vt_disasm_free(d);
}

/* What is cut off is data: one byte of x86, up to four of the others. */
static void test_cut(void **state)
{
	struct vt_disasm *d = make(VT_MACHINE_X86_64, 64);
	struct vt_insn insn;

	(void)state;
	vt_disasm_at(d, (const uint8_t *)"\xe8\x0b\x00\x00", 4, AT, &insn);
	assert_string_equal(insn.text, ".byte 0xe8");
	assert_int_equal(insn.size, 1);
	assert_int_equal(insn.type, VT_INSN_BAD);
	assert_false(insn.has_target);
	vt_disasm_free(d);
	d = make(VT_MACHINE_AARCH64, 64);
	vt_disasm_at(d, (const uint8_t *)"\x04\x00\x00", 3, AT, &insn);
	assert_string_equal(insn.text, ".byte 0x04,0x00,0x00");
	assert_int_equal(insn.size, 3);
	assert_int_equal(insn.type, VT_INSN_BAD);
	vt_disasm_free(d);
	assert_null(vt_disasm_new(9999, 64, false, VT_SYNTAX_ATT, &err));
	assert_int_equal(err.code, VT_E_NOTFOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86),	cmocka_unit_test(test_x86_modes),
		cmocka_unit_test(test_aarch64), cmocka_unit_test(test_arm),
		cmocka_unit_test(test_names),	cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
