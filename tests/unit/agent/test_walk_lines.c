/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which bytes of its lines a walk has read, and how they are packed into a sample. */
#include "tests/unit/agent/machine.h"

#include "formats/common/value_sample.h"

/* The mask of the line at `addr`; 0: it is not kept. */
static uint64_t read_of(uint64_t addr)
{
	uint32_t i;

	for (i = 0; i < m.w.nlines; i++)
		if (m.w.line_addr[i] == addr)
			return m.w.line_read[i];
	return 0;
}

static void test_loads(void **state)
{
	(void)state;
	/* mov eax, [rsi+4]; mov dl, [rsi+63] */
	RUN(2, "\x8b\x46\x04\x8a\x56\x3f");
	assert_int_equal(m.w.nlines, 2);
	assert_int_equal(read_of(CODE), UINT64_MAX);
	assert_int_equal(read_of(DATA), UINT64_C(0x80000000000000f0));
	/* mov rax, [rsi+60]; mov ecx, [rsi+62]: both reach into the next line. */
	RUN(2, "\x48\x8b\x46\x3c\x8b\x4e\x3e");
	assert_int_equal(read_of(DATA), UINT64_C(0xf) << 60);
	assert_int_equal(read_of(DATA + 64), 0xf);
	/* movups xmm0, [rsi+16]; what is stored to is not read: mov [rsi+128], eax */
	RUN(2, "\x0f\x10\x46\x10\x89\x86\x80\0\0\0");
	assert_int_equal(read_of(DATA), UINT64_C(0xffff) << 16);
	assert_int_equal(read_of(DATA + 128), 0);
	assert_int_equal(m.w.nlines, 2);
}

static void test_code(void **state)
{
	(void)state;
	/* 13 instructions of 5 bytes, mov eax, 1, the last of which ends in the next line. */
	memset(m.code, 0, 65);
	for (unsigned i = 0; i < 65; i += 5) {
		m.code[i] = 0xb8;
		m.code[i + 1] = 1;
	}
	walk_run(&m.w, &m.start, 12, read_line, &m);
	assert_int_equal(read_of(CODE + 64), 0);
	walk_run(&m.w, &m.start, 13, read_line, &m);
	assert_int_equal(read_of(CODE), UINT64_MAX);
	assert_int_equal(read_of(CODE + 64), UINT64_MAX);
}

static void test_strings(void **state)
{
	(void)state;
	m.start.gpr[CX] = 70;
	m.start.gpr[SI] = DATA + 62;
	/* rep movsb: bytes 62 to 131 */
	RUN(70, "\xf3\xa4");
	assert_int_equal(read_of(DATA), UINT64_C(3) << 62);
	assert_int_equal(read_of(DATA + 64), UINT64_MAX);
	assert_int_equal(read_of(DATA + 128), 0xf);
}

static void assert_packed(uint64_t read, const char *want, size_t size)
{
	uint8_t line[64], to[65];
	size_t i;

	for (i = 0; i < sizeof(line); i++)
		line[i] = (uint8_t)('0' + i);
	memset(to, '!', sizeof(to));
	assert_ptr_equal(vt_value_sample_pack(to, line, read), to + size);
	assert_memory_equal(to, want, size);
	assert_int_equal(to[size], '!');
}

static void test_pack(void **state)
{
	(void)state;
	assert_packed(0, "", 0);
	assert_packed(1, "0", 1);
	assert_packed(UINT64_C(1) << 63, "o", 1);
	assert_packed(0x3d, "02345", 5);
	assert_packed(UINT64_C(0xc000000000000001), "0no", 3);
	assert_packed(UINT64_MAX,
		      "0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmno", 64);
	assert_packed(UINT64_MAX << 58, "jklmno", 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_loads, set_up),
		cmocka_unit_test_setup(test_code, set_up),
		cmocka_unit_test_setup(test_strings, set_up),
		cmocka_unit_test_setup(test_pack, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
