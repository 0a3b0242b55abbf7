/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The largest number that an index can be, by the code just before it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "culprit/internal.h"
#include "machine/insn/insn.h"
#include "tests/unit/common/procs.h"

#define ALL32 4294967295.0

static struct vt_error err;

struct row {
	uint8_t code[32];
	uint8_t size; /* behind it come nops, and `ret` */
	double largest;
};

/* What %rbx can be behind the code. */
static void check_rows(const struct row *rows, unsigned n, unsigned nops)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		struct vti_culprit c;
		struct proc *p;
		uint8_t code[sizeof(rows->code) + 2];
		unsigned size = rows[i].size + nops;
		double got;

		memcpy(code, rows[i].code, size);
		code[size] = 0xc3;
		p = proc_make("zen4", code, size + 1);
		p->in.code = code;
		p->in.code_size = size + 1;
		assert_int_equal(vti_culprit_init(&c, &p->in, &err), 0);
		got = vti_culprit_largest(&c, proc_at(p, rows[i].size), VT_REG_BX);
		vti_culprit_fini(&c);
		proc_drop(p);
		if (got != rows[i].largest)
			fail_msg("row %u: %g, not %g", i, got, rows[i].largest);
	}
}

static void test_setters(void **state)
{
	static const struct row rows[] = {
		{{0x90}, 1, INFINITY},
		/* movzx %al,%ebx; %ax,%ebx; (%rsi),%ebx as a byte, as a word */
		{{0x0f, 0xb6, 0xd8}, 3, 255},
		{{0x0f, 0xb7, 0xd8}, 3, 65535},
		{{0x0f, 0xb6, 0x1e}, 3, 255},
		{{0x0f, 0xb7, 0x1e}, 3, 65535},
		/* movsx %al,%rbx; mov (%rsi),%ebx; mov (%rsi),%rbx; mov (%rsi),%bl; movzx %al,%bx
		 */
		{{0x48, 0x0f, 0xbe, 0xd8}, 4, INFINITY},
		{{0x8b, 0x1e}, 2, ALL32},
		{{0x48, 0x8b, 0x1e}, 3, INFINITY},
		{{0x8a, 0x1e}, 2, INFINITY},
		{{0x66, 0x0f, 0xb6, 0xd8}, 4, INFINITY},
		/* and $7,%ebx; $7,%rbx; $-8,%rbx; $-8,%ebx; $7,%bl; and %eax,%ebx; and (%rsi),%rbx
		 */
		{{0x83, 0xe3, 0x07}, 3, 7},
		{{0x48, 0x83, 0xe3, 0x07}, 4, 7},
		{{0x48, 0x83, 0xe3, 0xf8}, 4, INFINITY},
		{{0x83, 0xe3, 0xf8}, 3, ALL32},
		{{0x80, 0xe3, 0x07}, 3, INFINITY},
		{{0x21, 0xc3}, 2, ALL32},
		{{0x48, 0x23, 0x1e}, 3, INFINITY},
		/* shr $28,%ebx; $60,%rbx; %cl,%ebx; sar $28,%ebx; shl $28,%rbx */
		{{0xc1, 0xeb, 0x1c}, 3, 15},
		{{0x48, 0xc1, 0xeb, 0x3c}, 4, 15},
		{{0xd3, 0xeb}, 2, ALL32},
		{{0xc1, 0xfb, 0x1c}, 3, ALL32},
		{{0x48, 0xc1, 0xe3, 0x1c}, 4, INFINITY},
		/* The last one counts, and what is behind it does not matter: and $7,%eax */
		{{0x83, 0xe3, 0x07, 0x48, 0xff, 0xc3}, 6, INFINITY},
		{{0x83, 0xe3, 0x07, 0x83, 0xe0, 0x01}, 6, 7},
		/* xchg %rax,%rbx sets two; a call any */
		{{0x83, 0xe3, 0x07, 0x48, 0x87, 0xc3}, 6, INFINITY},
	};

	(void)state;
	check_rows(rows, sizeof(rows) / sizeof(rows[0]), 0);
}

static void test_copies(void **state)
{
	static const struct row rows[] = {
		/* and $7,%eax; mov %eax,%ebx, %rax,%rbx, %al,%bl; movzx %al,%ebx */
		{{0x83, 0xe0, 0x07, 0x89, 0xc3}, 5, 7},
		{{0x83, 0xe0, 0x07, 0x48, 0x89, 0xc3}, 6, 7},
		{{0x83, 0xe0, 0x07, 0x88, 0xc3}, 5, INFINITY},
		{{0x83, 0xe0, 0x07, 0x0f, 0xb6, 0xd8}, 6, 7},
		/* and $0xfff,%eax; movzx %al,%ebx; movzx %ah,%ebx */
		{{0x25, 0xff, 0x0f, 0, 0, 0x0f, 0xb6, 0xd8}, 8, 255},
		{{0x25, 0x07, 0, 0, 0, 0x0f, 0xb6, 0xdc}, 8, 255},
		/* mov %eax,%ebx of nobody knows what; mov %rax,%rbx */
		{{0x89, 0xc3}, 2, ALL32},
		{{0x48, 0x89, 0xc3}, 3, INFINITY},
		/* and $7,%eax; four copies, and five */
		{{0x83, 0xe0, 0x07, 0x89, 0xc1, 0x89, 0xca, 0x89, 0xd1, 0x89, 0xcb}, 11, 7},
		{{0x83, 0xe0, 0x07, 0x89, 0xc1, 0x89, 0xca, 0x89, 0xd1, 0x89, 0xca, 0x89, 0xd3},
		 13,
		 ALL32},
	};

	(void)state;
	check_rows(rows, sizeof(rows) / sizeof(rows[0]), 0);
}

/* A comparison and a jump to the end, and what is asked for before a nop behind that. */
static void test_comparisons(void **state)
{
	static const struct row rows[] = {
		/* cmp $6,%rbx; ja */
		{{0x48, 0x83, 0xfb, 0x06, 0x77, 0x01}, 6, 6},
		{{0x48, 0x83, 0xfb, 0xff, 0x77, 0x01}, 6, INFINITY},
		/* jae, jbe, jg; cmp %rax,%rbx; cmp $6,%rax; test $6,%bl; cmpq $6,(%rbx) */
		{{0x48, 0x83, 0xfb, 0x06, 0x73, 0x01}, 6, INFINITY},
		{{0x48, 0x83, 0xfb, 0x06, 0x76, 0x01}, 6, INFINITY},
		{{0x48, 0x83, 0xfb, 0x06, 0x7f, 0x01}, 6, INFINITY},
		{{0x48, 0x39, 0xc3, 0x77, 0x01}, 5, INFINITY},
		{{0x48, 0x83, 0xf8, 0x06, 0x77, 0x01}, 6, INFINITY},
		{{0xf6, 0xc3, 0x06, 0x77, 0x01}, 5, INFINITY},
		{{0x48, 0x83, 0x3b, 0x06, 0x77, 0x01}, 6, INFINITY},
		/* cmp $6,%ebx says nothing of the upper half, unless that was set to 0: mov
		   (%rsi),%ebx */
		{{0x83, 0xfb, 0x06, 0x77, 0x01}, 5, INFINITY},
		{{0x8b, 0x1e, 0x83, 0xfb, 0x06, 0x77, 0x01}, 7, 6},
		{{0x48, 0x8b, 0x1e, 0x83, 0xfb, 0x06, 0x77, 0x01}, 8, INFINITY},
		/* The part that is widened: cmp $6,%eax; ja; mov %eax,%ebx, and mov %rax,%rbx */
		{{0x83, 0xf8, 0x06, 0x77, 0x03, 0x89, 0xc3}, 7, 6},
		{{0x83, 0xf8, 0x06, 0x77, 0x04, 0x48, 0x89, 0xc3}, 8, INFINITY},
		/* cmp $6,%al; ja; movzx %al,%ebx, and %ax,%ebx, which it says nothing of */
		{{0x3c, 0x06, 0x77, 0x04, 0x0f, 0xb6, 0xd8}, 7, 6},
		{{0x3c, 0x06, 0x77, 0x04, 0x0f, 0xb7, 0xd8}, 7, 65535},
		/* cmp $6,%ah; ja; movzx %al,%ebx */
		{{0x80, 0xfc, 0x06, 0x77, 0x04, 0x0f, 0xb6, 0xd8}, 8, 255},
		/* and $3,%eax; cmp $6,%al; ja; movzx %al,%ebx */
		{{0x83, 0xe0, 0x03, 0x3c, 0x06, 0x77, 0x04, 0x0f, 0xb6, 0xd8}, 10, 3},
		/* test %eax,%eax; je over what compares: two ways lead to what is behind */
		{{0x85, 0xc0, 0x74, 0x06, 0x48, 0x83, 0xfb, 0x06, 0x77, 0x01}, 10, INFINITY},
	};
	struct row nops[sizeof(rows) / sizeof(rows[0])];
	unsigned i;

	(void)state;
	memcpy(nops, rows, sizeof(rows));
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		nops[i].code[nops[i].size] = 0x90;
	check_rows(nops, sizeof(rows) / sizeof(rows[0]), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_setters),
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_comparisons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
