/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lengths of plain instructions: those that Zydis has, whatever their bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "machine/insn/insn.h"
#include "machine/insn/plain.h"

#define CONTROL (VT_FACT_BRANCH | VT_FACT_SYSCALL)

/* Checks an instruction that begins with `n` bytes, and returns whether it is plain. */
static bool check(const uint8_t *bytes, size_t size)
{
	uint8_t length = vti_plain_length(bytes, size);
	struct vt_facts f;

	if (!length)
		return false;
	if (vt_facts_decode(bytes, size, &f) && f.length == length && !(f.flags & CONTROL) &&
	    strcmp(f.mnemonic, "int3") != 0 && strncmp(f.mnemonic, "ud", 2) != 0 &&
	    strcmp(f.mnemonic, "hlt") != 0 && !vti_plain_length(bytes, length - 1U) &&
	    vti_plain_length(bytes, length) == length)
		return true;
	fail_msg("%02x %02x %02x %02x %02x: %u, not %u", bytes[0], bytes[1], bytes[2], bytes[3],
		 bytes[4], length, f.length);
	return false;
}

/* All opcodes with all first bytes of operands, behind prefixes. */
static uint64_t check_opcodes(const uint8_t *prefixes, size_t n)
{
	static const uint8_t sibs[] = {0x25, 0xe4};
	uint8_t bytes[16] = {0};
	uint64_t plain = 0;
	unsigned op, modrm, sib;

	memcpy(bytes, prefixes, n);
	for (op = 0; op < 256; op++)
		for (modrm = 0; modrm < 256; modrm++)
			for (sib = 0; sib < 2; sib++) {
				bytes[n] = (uint8_t)op;
				bytes[n + 1] = (uint8_t)modrm;
				bytes[n + 2] = sibs[sib];
				plain += check(bytes, sizeof(bytes));
			}
	return plain;
}

static void test_all(void **state)
{
	static const uint8_t firsts[] = {0, 0x66, 0xf2, 0xf3};
	static const uint8_t rexes[] = {0, 0x40, 0x41, 0x44, 0x48, 0x4f};
	uint64_t plain = 0;
	unsigned p, r;

	(void)state;
	for (p = 0; p < sizeof(firsts); p++)
		for (r = 0; r < sizeof(rexes); r++) {
			uint8_t prefixes[3];
			size_t n = 0;

			if (firsts[p])
				prefixes[n++] = firsts[p];
			if (rexes[r])
				prefixes[n++] = rexes[r];
			plain += check_opcodes(prefixes, n);
			prefixes[n++] = 0x0f;
			plain += check_opcodes(prefixes, n);
		}
	assert_true(plain > 0);
}

/* mov rax, [rsp + 8]; a jump, a return, a prefix of a lock, and what is cut. */
static void test_some(void **state)
{
	static const uint8_t load[] = {0x48, 0x8b, 0x44, 0x24, 8}, jump[] = {0xeb, 0};
	static const uint8_t ret[] = {0xc3}, locked[] = {0xf0, 0x01, 0x00};

	(void)state;
	assert_int_equal(vti_plain_length(load, sizeof(load)), 5);
	assert_int_equal(vti_plain_length(load, 4), 0);
	assert_int_equal(vti_plain_length(load, 0), 0);
	assert_int_equal(vti_plain_length(jump, sizeof(jump)), 0);
	assert_int_equal(vti_plain_length(ret, sizeof(ret)), 0);
	assert_int_equal(vti_plain_length(locked, sizeof(locked)), 0);
}

#define KIND                                                                                       \
	(VT_FACT_BRANCH | VT_FACT_CONDITIONAL | VT_FACT_CALL | VT_FACT_JUMP | VT_FACT_RETURN |     \
	 VT_FACT_INDIRECT | VT_FACT_SYSCALL)

/* All first two bytes, with targets before and behind. */
static void test_branches(void **state)
{
	static const uint8_t fills[] = {0, 0x7f, 0x80, 0xfe};
	unsigned op, fill, branches = 0;

	(void)state;
	for (op = 0; op < 0x10000; op++)
		for (fill = 0; fill < sizeof(fills); fill++) {
			uint8_t bytes[15];
			struct vti_plain p;
			struct vt_flow f;
			struct vt_facts x;
			uint8_t n;

			memset(bytes, fills[fill], sizeof(bytes));
			bytes[0] = (uint8_t)(op >> 8);
			bytes[1] = (uint8_t)op;
			n = vti_plain_branch(bytes, sizeof(bytes), &p);
			if (!n)
				continue;
			branches++;
			if (!vt_facts_decode(bytes, sizeof(bytes), &x) ||
			    !vt_flow_decode(bytes, sizeof(bytes), &f) || n != x.length ||
			    f.length != n || f.flags != (x.flags & KIND) || f.stops ||
			    f.has_target != x.has_target ||
			    (f.has_target && (f.target != x.target || p.target != x.target)) ||
			    vti_plain_length(bytes, sizeof(bytes)))
				fail_msg("%04x", op);
			assert_int_equal(vti_plain_branch(bytes, n - 1U, &p), 0);
		}
	/* Of one byte 16, jmp, jmp, call and ret, with any second one; and 16 of two bytes. */
	assert_int_equal(branches, (20 * 256 + 16) * sizeof(fills));
}

/* As far as there is: the distance is from the end of the instruction. */
static void test_far_targets(void **state)
{
	static const uint8_t jump[] = {0xe9, 0xff, 0xff, 0xff, 0x7f};
	static const uint8_t branch[] = {0x0f, 0x84, 0x00, 0x00, 0x00, 0x80};
	struct vti_plain p;

	(void)state;
	assert_int_equal(vti_plain_branch(jump, sizeof(jump), &p), 5);
	assert_true(p.kind == VTI_PLAIN_JUMP && p.target == INT64_C(0x80000004));
	assert_int_equal(vti_plain_branch(branch, sizeof(branch), &p), 6);
	assert_true(p.kind == VTI_PLAIN_BRANCH && p.target == 6 - INT64_C(0x80000000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_some),
		cmocka_unit_test(test_branches),
		cmocka_unit_test(test_far_targets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
