/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "image/elf.h"
#include "image/procedures.h"
#include "tests/unit/common/toolbox.h"

static struct vt_error err;

static bool has(const uint64_t *starts, int64_t n, uint64_t vaddr)
{
	int64_t i;

	for (i = 0; i < n; i++)
		if (starts[i] == vaddr)
			return true;
	return false;
}

/* nm says where they are before the program is stripped. */
static void test_stripped(void **state)
{
	char *dir = toolbox_dir(), *symbols, *line, *rest;
	uint64_t *starts;
	struct vt_elf *e;
	int64_t n, i;
	int found = 0;

	(void)state;
	toolbox_write(dir, "p.c",
		      "static __attribute__((noinline)) int one(int x) { return x * 3; }\n"
		      "__attribute__((noinline)) int two(int x) { return one(x) + one(x + 1); }\n"
		      "int main(int argc, char **argv) { (void)argv; return two(argc); }\n");
	free(toolbox_run(dir, "gcc -O1 -o p p.c"));
	symbols = toolbox_run(dir, "nm p | grep -E ' [tT] (one|two|main)$' && strip p");
	e = vt_elf_open(toolbox_path(dir, "p"), &err);
	assert_non_null(e);
	assert_false(vt_elf_info(e)->has_symtab);
	n = vt_procedure_starts(e, &starts, &err);
	assert_true(n >= 3);
	for (line = strtok_r(symbols, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		assert_true(has(starts, n, strtoull(line, NULL, 16)));
		found++;
	}
	assert_int_equal(found, 3);
	for (i = 1; i < n; i++)
		assert_true(starts[i - 1] < starts[i]);
	free(starts);
	free(symbols);
	vt_elf_close(e);
	toolbox_remove(dir);
}

/* No such table, one of a form that is not known, and one that claims more than there is. */
static void test_others(void **state)
{
	static const char table[] = ".section .eh_frame_hdr, \"a\"\n"
				    ".byte %s\n.long 0, %d, -8, 0, 16, 0\n";
	static const struct {
		const char *head;
		int count;
		int64_t starts;
	} cases[] = {{"1, 0x1b, 3, 0x3b", 2, 2},  {"1, 0x1b, 3, 0x3b", 1000000, 2},
		     {"1, 0x1b, 3, 0x3b", -1, 2}, {"1, 0x1b, 3, 0x3b", 0, 0},
		     {"1, 0x1b, 3, 0x3b", 1, 1},  {"2, 0x1b, 3, 0x3b", 2, 0},
		     {"1, 0x1c, 3, 0x3b", 2, 0},  {"1, 0x1b, 4, 0x3b", 2, 0},
		     {"1, 0x1b, 3, 0x2b", 2, 0}};
	char *dir = toolbox_dir(), text[256];
	uint64_t *starts;
	struct vt_elf *e;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), table, cases[i].head, cases[i].count);
		toolbox_write(dir, "p.s", text);
		free(toolbox_run(dir, "as -o p p.s"));
		e = vt_elf_open(toolbox_path(dir, "p"), &err);
		assert_non_null(e);
		assert_int_equal(vt_procedure_starts(e, &starts, &err), cases[i].starts);
		if (cases[i].starts)
			assert_int_equal(starts[0], UINT64_MAX - 7);
		if (cases[i].starts == 2)
			assert_int_equal(starts[1], 16);
		free(starts);
		vt_elf_close(e);
	}
	/* None, a header that is cut, and one without a table. */
	for (i = 0; i < 3; i++) {
		static const char *const rests[] = {"nop", ".long 0\n.short 1", ".long 0, 1"};

		snprintf(text, sizeof(text), "%s.byte 1, 0x1b, 3, 0x3b\n%s\n",
			 i ? ".section .eh_frame_hdr, \"a\"\n" : "", rests[i]);
		toolbox_write(dir, "p.s", text);
		free(toolbox_run(dir, "as -o p p.s"));
		e = vt_elf_open(toolbox_path(dir, "p"), &err);
		assert_non_null(e);
		assert_int_equal(vt_procedure_starts(e, &starts, &err), 0);
		assert_null(starts);
		vt_elf_close(e);
	}
	toolbox_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stripped),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
