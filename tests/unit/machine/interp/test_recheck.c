/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code that changes between runs: lifted blocks are used again where their bytes are the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "machine/interp/interp.h"
#include "machine/interp/lines.h"

#define BASE 0x401000u

/* jmp to the next instruction; mov $n,%eax; syscall: two blocks, and a link between them */
static uint8_t code[] = {0xeb, 0x00, 0xb8, 1, 0, 0, 0, 0x0f, 0x05};
static size_t size = sizeof(code);
static unsigned fetched;

static size_t fetch(void *arg, uint64_t space, uint64_t addr, uint8_t *bytes, size_t n)
{
	(void)arg;
	(void)space;
	fetched++;
	if (addr < BASE || addr - BASE >= size)
		return 0;
	if (n > size - (addr - BASE))
		n = size - (addr - BASE);
	memcpy(bytes, code + (addr - BASE), n);
	return n;
}

static struct vt_error err;

static void assert_ax(struct vt_interp *m, uint64_t want, enum vt_stop stop)
{
	uint64_t done;

	vt_interp_forget(m);
	vt_interp_set(m, VT_REG_IP, 0, vt_word_of(BASE));
	assert_int_equal(vt_interp_run(m, 1, 10, &done, &err), stop);
	assert_int_equal(vt_interp_get(m, VT_REG_AX, 0).value, want);
}

static uint64_t lifted(const struct vt_interp *m)
{
	uint64_t blocks, unlifted;

	vt_interp_lifted(m, &blocks, &unlifted);
	return blocks;
}

static void test_recheck(void **state)
{
	struct vt_known_memory *mem = vt_known_memory_new(NULL, NULL, 1 << 20);
	struct vt_interp *m = vt_interp_new(&(struct vt_interp_options){.fetch = fetch}, mem, &err);
	uint64_t n;
	unsigned i, before;

	(void)state;
	assert_non_null(m);
	/* The second time sets the link, and the third time follows it. */
	for (i = 0; i < 3; i++)
		assert_ax(m, 1, VT_STOP_SYSCALL);
	assert_int_equal(lifted(m), 2);
	before = fetched;
	code[3] = 2;
	assert_ax(m, 1, VT_STOP_SYSCALL);
	assert_int_equal(fetched, before);
	vt_interp_recheck_code(m);
	for (i = 0; i < 3; i++)
		assert_ax(m, 2, VT_STOP_SYSCALL);
	/* The first block is as before, and only the other was lifted. */
	assert_int_equal(lifted(m), 3);
	assert_int_equal(fetched, before + 2);
	code[3] = 1;
	vt_interp_recheck_code(m);
	assert_ax(m, 1, VT_STOP_SYSCALL);
	assert_int_equal(lifted(m), 3);
	/* A block whose end is not there is another one, too. */
	size = 7;
	vt_interp_recheck_code(m);
	assert_ax(m, 1, VT_STOP_CODE);
	assert_int_equal(lifted(m), 4);
	size = sizeof(code);
	vt_interp_recheck_code(m);
	assert_ax(m, 1, VT_STOP_SYSCALL);
	assert_int_equal(lifted(m), 4);
	/* Of very many, the first are forgotten. */
	for (n = 3; n < 100; n++) {
		code[3] = (uint8_t)n;
		vt_interp_recheck_code(m);
		assert_ax(m, n, VT_STOP_SYSCALL);
	}
	n = lifted(m);
	code[3] = 99;
	vt_interp_recheck_code(m);
	assert_ax(m, 99, VT_STOP_SYSCALL);
	assert_int_equal(lifted(m), n);
	code[3] = 1;
	vt_interp_recheck_code(m);
	assert_ax(m, 1, VT_STOP_SYSCALL);
	assert_true(lifted(m) > n);
	vt_interp_free(m);
	vt_known_memory_free(mem);
}

/* ---- lines ---- */

/* Lines of which some bytes are known: 0, 2 and 3 of one, the last 62 of another. */
static void test_masks(void **state)
{
	static const uint64_t addr[2] = {0x1040, 0x1000}, read[2] = {0xd, UINT64_MAX << 2};
	uint8_t bytes[3 + 62], to[VT_KNOWN_LINE];
	struct vt_line l[3];
	size_t bad, i;

	(void)state;
	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(100 + i);
	assert_int_equal(vt_lines_sort(l, addr, read, bytes, sizeof(bytes), 2, &bad), 2);
	assert_int_equal(bad, 0);
	assert_int_equal(l[0].addr, 0x1000);
	assert_int_equal(vt_line_size(&l[0]), 62);
	assert_int_equal(vt_line_size(&l[1]), 3);
	memset(to, 0, sizeof(to));
	assert_int_equal(vt_line_fill(&l[1], to), 0xd);
	assert_memory_equal(to, "\x64\0\x65\x66\0", 5);
	assert_int_equal(vt_line_fill(&l[0], to), UINT64_MAX << 2);
	assert_int_equal(to[2], 103);
	assert_int_equal(to[63], 164);
	assert_int_equal(vt_line_copy(&l[1], 0, to, 64), 1);
	assert_int_equal(vt_line_copy(&l[1], 1, to, 64), 0);
	assert_int_equal(vt_line_copy(&l[1], 2, to, 64), 2);
	assert_memory_equal(to, "\x65\x66", 2);
	assert_int_equal(vt_line_copy(&l[1], 3, to, 64), 1);
	assert_int_equal(to[0], 102);
	assert_int_equal(vt_line_copy(&l[0], 60, to, 64), 4);
	assert_int_equal(to[0], 161);
	assert_int_equal(vt_line_copy(&l[0], 60, to, 3), 3);
}

static void test_bad_masks(void **state)
{
	static const uint64_t addr[2] = {0x1000, 0x1000}, same[2] = {3, 3}, other[2] = {3, 6},
			      none[2] = {3, 0}, whole[1] = {UINT64_MAX};
	static const uint8_t bytes[VT_KNOWN_LINE] = {1, 2, 1, 2};
	struct vt_line l[2];
	size_t bad;

	(void)state;
	assert_int_equal(vt_lines_sort(l, addr, same, bytes, 4, 2, &bad), 1);
	assert_int_equal(bad, 0);
	assert_int_equal(vt_lines_sort(l, addr, other, bytes, 4, 2, &bad), 0);
	assert_int_equal(bad, 1);
	assert_int_equal(vt_lines_sort(l, addr, same, bytes, 3, 2, &bad), SIZE_MAX);
	assert_int_equal(vt_lines_sort(l, addr, same, bytes, 5, 2, &bad), SIZE_MAX);
	assert_int_equal(vt_lines_sort(l, addr, none, bytes, 2, 2, &bad), SIZE_MAX);
	assert_int_equal(vt_lines_sort(l, addr, whole, bytes, 63, 1, &bad), SIZE_MAX);
	assert_int_equal(vt_lines_sort(l, addr, whole, bytes, 64, 1, &bad), 1);
	assert_int_equal(vt_line_copy(&l[0], 0, (uint8_t[64]){0}, 64), 64);
	assert_int_equal(vt_line_copy(&l[0], 1, (uint8_t[64]){0}, 64), 63);
}

static void test_lines(void **state)
{
	static uint8_t bytes[5][VT_KNOWN_LINE];
	const uint64_t addr[5] = {0x1000, 0x40, 0x1000, UINT64_MAX - 63, 0x40};
	const uint64_t odd[2] = {0x40, 0x41};
	struct vt_line l[5];
	size_t bad;

	(void)state;
	bytes[4][63] = 1;
	assert_int_equal(vt_lines_sort(l, addr, NULL, bytes[0], 4 * VT_KNOWN_LINE, 4, &bad), 3);
	assert_int_equal(bad, 0);
	assert_int_equal(l[0].addr, 0x40);
	assert_ptr_equal(l[0].bytes, bytes[1]);
	assert_int_equal(l[1].addr, 0x1000);
	assert_int_equal(l[2].addr, UINT64_MAX - 63);
	assert_int_equal(vt_lines_find(l, 3, 0), 0);
	assert_int_equal(vt_lines_find(l, 3, 0x7f), 0);
	assert_int_equal(vt_lines_find(l, 3, 0x80), 1);
	assert_int_equal(vt_lines_find(l, 3, 0x103f), 1);
	assert_int_equal(vt_lines_find(l, 3, UINT64_MAX), 2);
	assert_int_equal(vt_lines_find(l, 2, 0x1040), 2);
	assert_int_equal(vt_lines_find(l, 0, 0), 0);
	assert_int_equal(vt_lines_sort(l, addr, NULL, bytes[0], sizeof(bytes), 5, &bad), 2);
	assert_int_equal(bad, 1);
	assert_int_equal(l[0].addr, 0x1000);
	assert_int_equal(vt_lines_sort(l, odd, NULL, bytes[0], 2 * VT_KNOWN_LINE, 2, &bad),
			 SIZE_MAX);
	assert_int_equal(vt_lines_sort(l, addr, NULL, bytes[0], 0, 0, &bad), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recheck),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_masks),
		cmocka_unit_test(test_bad_masks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
