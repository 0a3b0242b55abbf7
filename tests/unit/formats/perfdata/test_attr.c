/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/perfdata/session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"

static void put16(uint8_t *p, uint16_t v, bool big)
{
	p[big ? 1 : 0] = (uint8_t)v;
	p[big ? 0 : 1] = (uint8_t)(v >> 8);
}

static void put32(uint8_t *p, uint32_t v, bool big)
{
	put16(p + (big ? 2 : 0), (uint16_t)v, big);
	put16(p + (big ? 0 : 2), (uint16_t)(v >> 16), big);
}

static void put64(uint8_t *p, uint64_t v, bool big)
{
	put32(p + (big ? 4 : 0), (uint32_t)v, big);
	put32(p + (big ? 0 : 4), (uint32_t)(v >> 32), big);
}

/* An attribute with a different value in each field, by the offsets of linux/perf_event.h. */
static void make_attr(uint8_t *p, size_t size, uint32_t claim, uint64_t flags, bool big)
{
	memset(p, 0xaa, size);
	put32(p, 4, big);
	put32(p + 4, claim, big);
	put64(p + 8, 0x1cd, big);
	put64(p + 16, 1000, big);
	put64(p + 24, 0x87, big);
	put64(p + 32, 4, big);
	put64(p + 40, flags, big);
	put32(p + 48, 1, big);
	put32(p + 52, 3, big);
	if (size >= 72)
		put64(p + 56, 64, big);
	if (size >= 136) {
		put64(p + 64, 65, big);
		put64(p + 72, 8, big);
		put64(p + 80, 0xff0fff, big);
		put32(p + 88, 8192, big);
		put64(p + 96, 0x1234, big);
	}
}

static void reads_all_fields_in_both_orders(void **state)
{
	uint8_t raw[200];
	struct pd_attr a;
	int big;

	(void)state;
	for (big = 0; big < 2; big++) {
		make_attr(raw, sizeof(raw), sizeof(raw), 0, big);
		assert_true(vti_pd_attr_parse(&a, raw, sizeof(raw), big));
		assert_int_equal(a.type, 4);
		assert_int_equal(a.size, 200);
		assert_int_equal(a.config, 0x1cd);
		assert_int_equal(a.period, 1000);
		assert_int_equal(a.sample_type, 0x87);
		assert_int_equal(a.read_format, 4);
		assert_int_equal(a.bp_type, 3);
		assert_int_equal(a.config1, 64);
		assert_int_equal(a.config2, 65);
		assert_int_equal(a.branch_type, 8);
		assert_int_equal(a.regs_user, 0xff0fff);
		assert_int_equal(a.stack_user, 8192);
		assert_int_equal(a.regs_intr, 0x1234);
	}
}

/* Kernel 3.8 wrote 80 bytes; what follows them in a record are ids, not attributes. */
static void ignores_what_lies_past_its_size(void **state)
{
	uint8_t raw[136];
	struct pd_attr a;

	(void)state;
	make_attr(raw, sizeof(raw), 80, 0, false);
	assert_true(vti_pd_attr_parse(&a, raw, sizeof(raw), false));
	assert_int_equal(a.branch_type, 8);
	assert_int_equal(a.regs_user, 0);
	assert_int_equal(a.stack_user, 0);

	make_attr(raw, sizeof(raw), 0, 0, false);
	assert_true(vti_pd_attr_parse(&a, raw, sizeof(raw), false));
	assert_int_equal(a.size, 64);
	assert_int_equal(a.config1, 64);
	assert_int_equal(a.config2, 0);
}

static void refuses_less_than_the_first_version(void **state)
{
	uint8_t *raw = calloc(1, 63);
	struct pd_attr a;

	(void)state;
	assert_false(vti_pd_attr_parse(&a, raw, 63, false));
	assert_false(vti_pd_attr_parse(&a, raw, 0, true));
	free(raw);
}

static void puts_big_endian_flags_in_order(void **state)
{
	unsigned precise, bit;

	(void)state;
	for (bit = 0; bit < 64; bit++) {
		if (bit == 15 || bit == 16)
			continue;
		assert_true(vti_pd_attr_flags(UINT64_C(1) << (63 - bit), true) == UINT64_C(1)
											  << bit);
		assert_true(vti_pd_attr_flags(UINT64_C(1) << bit, false) == UINT64_C(1) << bit);
	}
	/* precise_ip, two bits wide, keeps its value: in a big word it is at 63 - 16. */
	for (precise = 0; precise < 4; precise++) {
		struct pd_attr a = {.flags = vti_pd_attr_flags(
					    (uint64_t)precise << 47 | UINT64_C(1) << 63, true)};

		assert_int_equal(vti_pd_attr_precise(&a), precise);
		assert_true(a.flags == ((uint64_t)precise << 15 | 1));
	}
}

static void puts_big_endian_branch_flags_in_order(void **state)
{
	(void)state;
	assert_int_equal(vti_pd_branch_flags(0x12345, false), 0x12345);
	/* mispred; cycles = 0x1234; type = 5; priv = 6, each where a big-endian C puts it. */
	assert_true(vti_pd_branch_flags(UINT64_C(1) << 63, true) == 1);
	assert_true(vti_pd_branch_flags(UINT64_C(0x1234) << 44, true) == UINT64_C(0x1234) << 4);
	assert_true(vti_pd_branch_flags(UINT64_C(5) << 40, true) == UINT64_C(5) << 20);
	assert_true(vti_pd_branch_flags(UINT64_C(6) << 31, true) == UINT64_C(6) << 30);
}

static void check_pmu_name(struct pd_attr a, const char *pmu, const char *name)
{
	struct vt_buf b = VT_BUF_INIT;

	vti_pd_attr_name(&b, &a, pmu);
	assert_string_equal(vt_buf_str(&b), name);
	vt_buf_free(&b);
}

static void check_name(struct pd_attr a, const char *name)
{
	check_pmu_name(a, "", name);
}

/* What `perf script -F event` prints of files without names. */
static void names_as_perf_does(void **state)
{
	const uint64_t guest = PD_ATTR_EXCLUDE_GUEST, kernel = PD_ATTR_EXCLUDE_KERNEL;
	const uint64_t hv = PD_ATTR_EXCLUDE_HV, one = UINT64_C(1) << PD_ATTR_PRECISE_SHIFT;
	const uint64_t user = PD_ATTR_EXCLUDE_USER, host = PD_ATTR_EXCLUDE_HOST;

	(void)state;
	check_name((struct pd_attr){.flags = guest}, "cycles");
	check_name((struct pd_attr){.flags = 0}, "cycles:HG");
	check_name((struct pd_attr){.flags = guest | 3 * one}, "cycles:pppH");
	check_name((struct pd_attr){.flags = 2 * one}, "cycles:pp");
	check_name((struct pd_attr){.config = 1, .flags = kernel | hv}, "instructions:u");
	check_name((struct pd_attr){.config = 1, .flags = kernel | hv | guest}, "instructions:uH");
	check_name((struct pd_attr){.flags = user | hv}, "cycles:k");
	check_name((struct pd_attr){.flags = kernel | user}, "cycles:h");
	check_name((struct pd_attr){.flags = hv}, "cycles:ku");
	check_name((struct pd_attr){.flags = user}, "cycles:kh");
	check_name((struct pd_attr){.flags = kernel}, "cycles:uh");
	check_name((struct pd_attr){.flags = kernel | hv | one}, "cycles:up");
	check_name((struct pd_attr){.flags = host}, "cycles:G");
	check_name((struct pd_attr){.flags = host | guest}, "cycles");
	check_name((struct pd_attr){.flags = kernel | hv | host}, "cycles:uG");
	check_name((struct pd_attr){.type = 1, .config = 9, .flags = guest}, "dummy");
	check_name((struct pd_attr){.type = 1, .config = 99, .flags = guest}, "unknown-software");
	check_name((struct pd_attr){.type = 2, .config = 9}, "unknown tracepoint");
	check_name((struct pd_attr){.type = 3, .config = 0x10000, .flags = guest},
		   "L1-dcache-load-misses");
	check_name((struct pd_attr){.type = 3, .config = 0x102, .flags = guest}, "LLC-stores");
	check_name((struct pd_attr){.type = 3, .config = 0xff, .flags = guest}, "invalid-cache");
	check_name((struct pd_attr){.type = 4, .config = 0x1cd, .flags = guest}, "raw 0x1cd");
	check_name((struct pd_attr){.type = 5, .config1 = 0x1000, .bp_type = 3, .flags = guest},
		   "mem:0x1000:rw");
	check_name((struct pd_attr){.type = 77}, "unknown attr type: 77");
}

/* Events of a PMU that the file names, as on perf's command line. */
static void names_events_of_pmus(void **state)
{
	const uint64_t user = PD_ATTR_EXCLUDE_KERNEL | PD_ATTR_EXCLUDE_HV;

	(void)state;
	check_pmu_name((struct pd_attr){.type = 10}, "ibs_op", "ibs_op//");
	check_pmu_name((struct pd_attr){.type = 10, .config = 1 << 19}, "ibs_op",
		       "ibs_op/cnt_ctl=1/");
	check_pmu_name((struct pd_attr){.type = 10, .config = 9 << 16, .flags = user}, "ibs_op",
		       "ibs_op/l3missonly=1,cnt_ctl=1/u");
	check_pmu_name((struct pd_attr){.type = 10, .config = 1 << 19 | 4, .config1 = 1}, "ibs_op",
		       "ibs_op/config=0x80004,config1=1/");
	check_pmu_name((struct pd_attr){.type = 9, .config = UINT64_C(1) << 57}, "ibs_fetch",
		       "ibs_fetch/rand_en=1/");
	check_pmu_name((struct pd_attr){.type = 8,
					.config = UINT64_C(7) << 32 | 1 << 16 | 7,
					.config2 = 255},
		       "arm_spe_0",
		       "arm_spe_0/ts_enable=1,pa_enable=1,pct_enable=1,jitter=1,branch_filter=1,"
		       "load_filter=1,store_filter=1,config2=0xff/");
	check_pmu_name((struct pd_attr){.type = 14, .config = 0x304}, "uncore_imc_0",
		       "uncore_imc_0/config=0x304/");
	check_pmu_name((struct pd_attr){.type = 0, .flags = user}, "cpu", "cycles:u");
}

static void counts_the_words_of_a_sample_id(void **state)
{
	const uint64_t all = PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_TIME | PD_SAMPLE_ADDR;

	(void)state;
	assert_int_equal(vti_pd_trailer_words(all | PD_SAMPLE_ID | PD_SAMPLE_CPU), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_all_fields_in_both_orders),
		cmocka_unit_test(ignores_what_lies_past_its_size),
		cmocka_unit_test(refuses_less_than_the_first_version),
		cmocka_unit_test(puts_big_endian_flags_in_order),
		cmocka_unit_test(puts_big_endian_branch_flags_in_order),
		cmocka_unit_test(names_as_perf_does),
		cmocka_unit_test(names_events_of_pmus),
		cmocka_unit_test(counts_the_words_of_a_sample_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
