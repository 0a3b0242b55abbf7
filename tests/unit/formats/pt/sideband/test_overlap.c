/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Snapshots that begin alike: what their times and their padding decide. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "formats/pt/packet.h"
#include "formats/pt/sideband/buffers.h"

/* A snapshot that is being written. */
struct snapshot {
	uint8_t *end;
	uint8_t bytes[512];
};

static struct snapshot a, b;

static size_t size_of(const struct snapshot *s)
{
	return (size_t)(s->end - s->bytes);
}

static void put(struct snapshot *s, const void *bytes, size_t size)
{
	assert_true(size_of(s) + size <= sizeof(s->bytes));
	memcpy(s->end, bytes, size);
	s->end += size;
}

/* Begins one, with a PSB. */
static void start(struct snapshot *s)
{
	unsigned i;

	s->end = s->bytes;
	for (i = 0; i < VT_PT_PSB_SIZE / 2; i++)
		put(s, "\x02\x82", 2);
}

/* A TSC of 3, plus that many times 2^40. */
static void put_tsc(struct snapshot *s, uint8_t high)
{
	const uint8_t tsc[] = {0x19, 3, 0, 0, 0, 0, high, 0};

	put(s, tsc, sizeof(tsc));
}

static void put_psbend(struct snapshot *s)
{
	put(s, "\x02\x23", 2);
}

static void put_cbr(struct snapshot *s)
{
	put(s, "\x02\x03\x07\0", 4);
}

/* A decision. */
static void put_tnt(struct snapshot *s, bool taken)
{
	put(s, taken ? "\x06" : "\x04", 1);
}

static size_t overlap(bool *joined)
{
	return vti_pt_overlap(a.bytes, size_of(&a), b.bytes, size_of(&b), joined);
}

static void pad(struct snapshot *t, unsigned n)
{
	for (; n; n--)
		*t->end++ = 0;
}

/* Of a TSC whose high bytes are zeros, which may be padding, all are compared nevertheless. */
static void test_times(void **state)
{
	bool joined;

	(void)state;
	start(&a);
	put_tsc(&a, 0);
	start(&b);
	put_tsc(&b, 1);
	put_tnt(&b, true);
	assert_int_equal(overlap(&joined), 0);
	assert_false(joined);
	start(&b);
	put_tsc(&b, 0);
	put_tnt(&b, true);
	assert_int_equal(overlap(&joined), VT_PT_PSB_SIZE + 8);
	assert_true(joined);
	/* With another packet, and with padding before it. */
	start(&a);
	pad(&a, 1);
	put_cbr(&a);
	put_tsc(&a, 0);
	start(&b);
	pad(&b, 1);
	put_cbr(&b);
	put_tsc(&b, 1);
	put_tnt(&b, true);
	assert_int_equal(overlap(&joined), 0);
	assert_false(joined);
}

/* A TSC behind the PSBEND, or behind what is no packet, does not tell PSBs apart. */
static void test_times_behind(void **state)
{
	const size_t bare = VT_PT_PSB_SIZE + 2 + 2;
	bool joined;

	(void)state;
	start(&a);
	put_psbend(&a);
	put_tsc(&a, 0);
	start(&b);
	put_psbend(&b);
	put_tsc(&b, 1);
	put_tnt(&b, true);
	assert_int_equal(overlap(&joined), bare);
	assert_true(joined);
	memcpy(a.bytes + VT_PT_PSB_SIZE, "\x05\x05", 2);
	memcpy(b.bytes + VT_PT_PSB_SIZE, "\x05\x05", 2);
	assert_int_equal(overlap(&joined), bare);
	assert_true(joined);
}

/* Sixty-four zeros may be padding, of 65 one is not. */
static void test_padding(void **state)
{
	const size_t size = VT_PT_PSB_SIZE + 1;
	bool joined;
	unsigned n;

	(void)state;
	for (n = 0; n < 67; n++) {
		start(&a);
		put_tnt(&a, true);
		pad(&a, n);
		start(&b);
		put_tnt(&b, true);
		put_tnt(&b, false);
		memset(b.end, 0xaa, 100);
		b.end += 100;
		assert_int_equal(overlap(&joined), n <= 64 ? size : 0);
		assert_int_equal(joined, n <= 64);
	}
	/* All of the later one, and one byte less of it. */
	start(&a);
	put_tnt(&a, true);
	pad(&a, 8);
	b.end = b.bytes + size;
	assert_int_equal(overlap(&joined), size);
	assert_true(joined);
	b.end--;
	assert_int_equal(overlap(&joined), 0);
	assert_false(joined);
	/* Another packet, as long. */
	start(&b);
	put_tnt(&b, false);
	assert_int_equal(overlap(&joined), 0);
	assert_false(joined);
}

/* Zeros that the later one has are no padding. */
static void test_zeros(void **state)
{
	bool joined;

	(void)state;
	start(&a);
	pad(&a, 100);
	start(&b);
	pad(&b, 100);
	assert_int_equal(overlap(&joined), VT_PT_PSB_SIZE + 100);
	assert_true(joined);
	put_tnt(&b, true);
	assert_int_equal(overlap(&joined), VT_PT_PSB_SIZE + 100);
	assert_true(joined);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_times_behind),
		cmocka_unit_test(test_padding),
		cmocka_unit_test(test_zeros),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
