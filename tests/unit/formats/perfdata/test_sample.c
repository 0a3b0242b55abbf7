/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/perfdata/session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/bytes.h"

#define ALL                                                                                        \
	(((UINT64_C(1) << 25) - 1) & ~(uint64_t)(PD_SAMPLE_WEIGHT_STRUCT | PD_SAMPLE_IDENTIFIER))

static const struct pd_attr full = {
	.sample_type = ALL,
	.read_format =
		PD_FORMAT_GROUP | PD_FORMAT_ID | PD_FORMAT_LOST | PD_FORMAT_TOTAL_TIME_ENABLED,
	.branch_type = PD_BRANCH_HW_INDEX | PD_BRANCH_COUNTERS,
	.regs_user = 0x15,
	.regs_intr = 0x3,
};

/* A sample with each field different from all others, in the kernel's order. */
static void make_full(struct vt_buf *b)
{
	static const uint64_t words[] = {/* ip, tid, time, addr, id, stream id, cpu, period */
					 0x401000, UINT64_C(101) << 32 | 100, 5000, 0x7fff, 11, 12,
					 3, 1000,
					 /* group read of two: nr, enabled, then value, id, lost */
					 2, 77, 501, 11, 0, 502, 12, 1,
					 /* callchain */
					 2, 0xffffffffffffff80, 0xffffffff81000000};
	static const uint64_t more[] = {/* branches: nr, hw index, from, to, flags, counter */
					1, 9, 0x10, 0x20, 0x30, 0x40,
					/* user registers: abi and three */
					2, 1, 2, 3,
					/* stack of 16 bytes, 8 of them filled */
					16, 0x1111111111111111, 0x2222222222222222, 8,
					/* weight, data_src, transaction, abi and two registers */
					55, 56, 57, 1, 6, 7,
					/* phys_addr, cgroup, page sizes, aux */
					58, 59, 4096, 8192, 8, 0x3333333333333333};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		vt_buf_put_le64(b, words[i]);
	vt_buf_put_le32(b, 4); /* raw */
	vt_buf_put_le32(b, 0xdeadbeef);
	for (i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		vt_buf_put_le64(b, more[i]);
}

static uint64_t at(const struct pd_words *w, size_t i)
{
	return vt_le64(w->p + 8 * i);
}

static void parses_every_field(void **state)
{
	struct vt_buf b = VT_BUF_INIT;
	struct pd_sample s;

	(void)state;
	make_full(&b);
	assert_true(vti_pd_sample_parse(&s, &full, b.data, b.size, false));
	assert_int_equal(s.ip, 0x401000);
	assert_int_equal(s.pid, 100);
	assert_int_equal(s.tid, 101);
	assert_int_equal(s.time, 5000);
	assert_int_equal(s.addr, 0x7fff);
	assert_int_equal(s.id, 11);
	assert_int_equal(s.stream_id, 12);
	assert_int_equal(s.cpu, 3);
	assert_int_equal(s.period, 1000);
	assert_int_equal(s.read.count, 8);
	assert_int_equal(at(&s.read, 5), 502);
	assert_int_equal(s.callchain.count, 2);
	assert_int_equal(s.raw_size, 4);
	assert_int_equal(vt_le32(s.raw), 0xdeadbeef);
	assert_int_equal(s.br_hw_idx, 9);
	assert_int_equal(s.branches.count, 3);
	assert_int_equal(at(&s.branches, 2), 0x30);
	assert_int_equal(s.counters.count, 1);
	assert_int_equal(at(&s.counters, 0), 0x40);
	assert_int_equal(s.uregs_abi, 2);
	assert_int_equal(s.uregs.count, 3);
	assert_int_equal(at(&s.uregs, 2), 3);
	assert_int_equal(s.stack_size, 8);
	assert_int_equal(s.stack_dyn_size, 8);
	assert_int_equal(s.stack[0], 0x11);
	assert_int_equal(s.weight, 55);
	assert_int_equal(s.data_src, 56);
	assert_int_equal(s.transaction, 57);
	assert_int_equal(s.iregs_abi, 1);
	assert_int_equal(at(&s.iregs, 1), 7);
	assert_int_equal(s.phys_addr, 58);
	assert_int_equal(s.cgroup, 59);
	assert_int_equal(s.data_page_size, 4096);
	assert_int_equal(s.code_page_size, 8192);
	assert_int_equal(s.aux_size, 8);
	assert_int_equal(s.aux[0], 0x33);
	vt_buf_free(&b);
}

/* Each copy is exactly as long as what it holds, so that the sanitizer sees a read past it. */
static void refuses_every_cut(void **state)
{
	struct vt_buf b = VT_BUF_INIT;
	struct pd_sample s;
	size_t n;

	(void)state;
	make_full(&b);
	for (n = 0; n < b.size; n++) {
		uint8_t *copy = malloc(n ? n : 1);

		memcpy(copy, b.data, n);
		assert_false(vti_pd_sample_parse(&s, &full, copy, n, false));
		free(copy);
	}
	vt_buf_free(&b);
}

static void refuses_huge_counts(void **state)
{
	static const uint64_t counts[] = {25, UINT64_C(1) << 61, (UINT64_C(1) << 61) + 1,
					  UINT64_MAX / 3 + 2, UINT64_MAX};
	static const uint32_t types[] = {PD_SAMPLE_CALLCHAIN,  PD_SAMPLE_BRANCH_STACK,
					 PD_SAMPLE_STACK_USER, PD_SAMPLE_AUX,
					 PD_SAMPLE_RAW,	       PD_SAMPLE_READ};
	struct pd_sample s;
	uint8_t raw[24];
	size_t i, j;

	(void)state;
	memset(raw, 0xff, sizeof(raw));
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct pd_attr a = {.sample_type = types[i], .read_format = PD_FORMAT_GROUP};

		for (j = 0; j < sizeof(counts) / sizeof(counts[0]); j++) {
			vt_put_le64(raw, counts[j]);
			if (types[i] == PD_SAMPLE_RAW)
				vt_put_le32(raw, 25 + (uint32_t)counts[j] / 2);
			assert_false(vti_pd_sample_parse(&s, &a, raw, sizeof(raw), false));
		}
	}
}

static void splits_weights(void **state)
{
	struct pd_attr a = {.sample_type = PD_SAMPLE_WEIGHT_STRUCT};
	static const uint8_t little[] = {1, 0, 0, 0, 2, 0, 3, 0}, big[] = {0, 3, 0, 2, 0, 0, 0, 1};
	struct pd_sample s;

	(void)state;
	assert_true(vti_pd_sample_parse(&s, &a, little, 8, false));
	assert_int_equal(s.weight, 1);
	assert_int_equal(s.weight2, 2);
	assert_int_equal(s.weight3, 3);
	assert_true(vti_pd_sample_parse(&s, &a, big, 8, true));
	assert_int_equal(s.weight, 1);
	assert_int_equal(s.weight2, 2);
	assert_int_equal(s.weight3, 3);
}

static void copies_words(void **state)
{
	const uint8_t raw[] = {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 2, 0,
			       0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0};
	const struct pd_words w = {.p = raw, .count = 3};
	uint64_t out[4] = {0};

	(void)state;
	vti_pd_words_copy(out, &w, true);
	assert_int_equal(out[0], 1);
	assert_int_equal(out[1], 0x200);
	assert_int_equal(out[2], 0x30000);
	assert_int_equal(out[3], 0);
	vti_pd_words_copy(out, &w, false);
	assert_int_equal(out[0], UINT64_C(1) << 56);
	assert_int_equal(out[1], UINT64_C(2) << 48);
	assert_int_equal(out[2], UINT64_C(3) << 40);
	assert_int_equal(out[3], 0);
}

static void sizes_reads(void **state)
{
	uint8_t raw[80] = {3};
	unsigned f;

	(void)state;
	for (f = 0; f < 32; f++) {
		size_t times = (f & 1) + (f >> 1 & 1), value = 1 + (f >> 2 & 1) + (f >> 4 & 1);
		size_t want = f & PD_FORMAT_GROUP ? 1 + times + 3 * value : times + value;

		assert_int_equal(vti_pd_read_words(raw, want, f, false), want);
		assert_int_equal(vti_pd_read_words(raw, 10, f, false), want <= 10 ? want : 0);
		assert_int_equal(vti_pd_read_words(raw, want - 1, f, false), 0);
		assert_int_equal(vti_pd_read_words(raw, times, f, false), 0);
	}
}

/* Registers are absent when the sampled thread was in the kernel: abi 0. */
static void takes_no_registers_without_an_abi(void **state)
{
	struct pd_attr a = {.sample_type = PD_SAMPLE_REGS_USER | PD_SAMPLE_STACK_USER,
			    .regs_user = UINT64_MAX};
	uint8_t raw[16] = {0};
	struct pd_sample s;

	(void)state;
	assert_true(vti_pd_sample_parse(&s, &a, raw, sizeof(raw), false));
	assert_int_equal(s.uregs.count, 0);
	assert_int_equal(s.stack_size, 0);
}

static void parses_sample_ids(void **state)
{
	struct pd_attr a = {.sample_type = PD_SAMPLE_TID | PD_SAMPLE_TIME | PD_SAMPLE_ID |
					   PD_SAMPLE_STREAM_ID | PD_SAMPLE_CPU |
					   PD_SAMPLE_IDENTIFIER | PD_SAMPLE_IP,
			    .flags = PD_ATTR_SAMPLE_ID_ALL};
	uint8_t raw[60];
	struct pd_sample s;
	size_t body, i;

	(void)state;
	for (i = 0; i < 7; i++)
		vt_put_le64(raw + 8 * i, i + 1);
	/* 60 bytes: a body of 8, six words, and 4 bytes of padding that no word fits in */
	assert_true(vti_pd_trailer_parse(&s, &a, raw, sizeof(raw), false, &body));
	assert_int_equal(body, 8);
	assert_int_equal(s.pid, 2);
	assert_int_equal(s.time, 3);
	assert_int_equal(s.id, 7);
	assert_int_equal(s.stream_id, 5);
	assert_int_equal(s.cpu, 6);
	assert_false(vti_pd_trailer_parse(&s, &a, raw, 47, false, &body));
	a.flags = 0;
	assert_true(vti_pd_trailer_parse(&s, &a, raw, 47, false, &body));
	assert_int_equal(body, 47);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_every_field),
		cmocka_unit_test(refuses_every_cut),
		cmocka_unit_test(refuses_huge_counts),
		cmocka_unit_test(splits_weights),
		cmocka_unit_test(copies_words),
		cmocka_unit_test(sizes_reads),
		cmocka_unit_test(takes_no_registers_without_an_abi),
		cmocka_unit_test(parses_sample_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
