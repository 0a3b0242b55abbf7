/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/followed/ibs.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "stream/profileme.h"
#include "stream/schema.h"

#define BIT(n)	 (UINT64_C(1) << (n))
#define LOAD	 BIT(0)
#define STORE	 BIT(1)
#define MISS	 BIT(7)
#define UNCACHED BIT(14)
#define NO_MAB	 BIT(16)
#define L2_MISS	 BIT(20)
#define PREFETCH BIT(21)

#define VALID_OP    (BIT(17) | BIT(18))
#define VALID_FETCH (BIT(48) | BIT(49))

#define ZEN2 0x3ffu
#define ZEN4 0xfffu

static const struct vt_ibs_cpu no_errata = {0x19, 0x10}, first_zen3 = {0x19, 0xf};

static uint64_t row[VT_SAMPLE_NFIELDS];
static uint8_t raw[4 + 8 * 20];

static size_t put_registers(uint32_t caps, const uint64_t *registers, size_t n)
{
	size_t i;

	memset(row, 0, sizeof(row));
	for (i = 0; i < 4; i++)
		raw[i] = (uint8_t)(caps >> 8 * i);
	for (i = 0; i < 8 * n; i++)
		raw[4 + i] = (uint8_t)(registers[i / 8] >> 8 * (i % 8));
	return 4 + 8 * n;
}

static enum vt_ibs_result read_op(uint32_t caps, uint64_t data, uint64_t data2, uint64_t data3,
				  struct vt_ibs_cpu cpu)
{
	const uint64_t registers[] = {VALID_OP, 0x1111, data, data2, data3, 0x2222, 0x3333, 0x4444};

	return vt_ibs_read_op(row, raw, put_registers(caps, registers, 8), cpu);
}

static enum vt_ibs_result read_fetch(uint32_t caps, uint64_t ctl, uint64_t extended,
				     struct vt_ibs_cpu cpu)
{
	const uint64_t registers[] = {ctl, 0x1111, 0x2222, extended};

	return vt_ibs_read_fetch(row, raw, put_registers(caps, registers, 4), cpu);
}

static void put_events(struct vt_buf *b, uint64_t events, char sign)
{
	unsigned i;

	for (i = 0; i < 64; i++)
		if (events >> i & 1)
			vt_buf_printf(b, "%s%c%s", b->size ? " " : "", sign, vt_pm_event_name(i));
}

/* Known events as +NAME or -NAME, then fields, with > before a latency that may be longer. */
static void check_row(const char *want)
{
	struct vt_buf b = VT_BUF_INIT;
	struct vt_schema s;
	unsigned f;

	assert_int_equal(vt_schema_init(&s, NULL), 0);
	put_events(&b, row[VT_SAMPLE_EVENTS], '+');
	put_events(&b, row[VT_SAMPLE_EVENTS_TOLD] & ~row[VT_SAMPLE_EVENTS], '-');
	assert_int_equal(row[VT_SAMPLE_EVENTS] & ~row[VT_SAMPLE_EVENTS_TOLD], 0);
	for (f = VT_SAMPLE_EVENTS + 1; f < VT_SAMPLE_NFIELDS; f++)
		if (row[VT_SAMPLE_PM_HAS] & VT_PM_BIT_OF(f))
			vt_buf_printf(&b, " %s%s=%" PRIx64,
				      row[VT_SAMPLE_PM_LEAST] & VT_PM_BIT_OF(f) ? ">" : "",
				      s.kinds[VT_SAMPLE].fields[f].name, row[f]);
	assert_string_equal(vt_buf_str(&b), want);
	vt_buf_free(&b);
	vt_schema_fini(&s);
}

/* What each sample has, of which a test is not about. */
#define NO_ACCESS                                                                                  \
	" -dcache_miss -l2_miss -l3_miss -dtlb_miss -branch -taken -mispredicted -load -store "    \
	"-locked -prefetch -microcode -misaligned -remote lat_retire=0 lat_dispatch=0"

static void test_branches(void **state)
{
	(void)state;
	assert_int_equal(read_op(ZEN4, 0, 0, 0, no_errata), VT_IBS_READ);
	check_row("+retired" NO_ACCESS);
	read_op(ZEN4, 0xffff0000 | BIT(35) | BIT(36), ~UINT64_C(0), ~(LOAD | STORE), no_errata);
	check_row("+retired -dcache_miss -l2_miss -l3_miss -dtlb_miss -branch -taken -mispredicted "
		  "-load -store -locked -prefetch -microcode -misaligned -remote lat_retire=0 "
		  ">lat_dispatch=ffff");
	read_op(ZEN4, 0xfffeffff | BIT(37) | BIT(35) | BIT(40), 0, 0, no_errata);
	check_row("+retired +branch +taken +microcode -dcache_miss -l2_miss -l3_miss -dtlb_miss "
		  "-mispredicted -load -store -locked -prefetch -misaligned -remote "
		  ">lat_retire=ffff lat_dispatch=fffe target=4444");
	read_op(0, 5 | BIT(37) | BIT(36), 0, 0, no_errata);
	check_row("+retired +branch +mispredicted -dcache_miss -l2_miss -l3_miss -dtlb_miss -taken "
		  "-load -store -locked -prefetch -microcode -misaligned -remote lat_retire=5 "
		  "lat_dispatch=0");
	assert_int_equal(read_op(ZEN4, BIT(38), 0, 0, no_errata), VT_IBS_NO_RIP);
	check_row("+retired" NO_ACCESS);
}

static void check_source(uint32_t caps, uint64_t data2, uint64_t data3, enum vt_source source,
			 int l3_miss, int remote)
{
	const uint64_t far = VT_PM_EVENT(REMOTE), l3 = VT_PM_EVENT(L3_MISS);

	read_op(caps, 0, data2, data3, no_errata);
	assert_int_equal(row[VT_SAMPLE_SOURCE], source);
	assert_int_equal(row[VT_SAMPLE_PM_HAS] & VT_PM_BIT(SOURCE), source ? VT_PM_BIT(SOURCE) : 0);
	assert_int_equal(row[VT_SAMPLE_EVENTS_TOLD] & l3, l3_miss < 0 ? 0 : l3);
	assert_int_equal(row[VT_SAMPLE_EVENTS] & l3, l3_miss > 0 ? l3 : 0);
	assert_int_equal(row[VT_SAMPLE_EVENTS_TOLD] & far, remote < 0 ? 0 : far);
	assert_int_equal(row[VT_SAMPLE_EVENTS] & far, remote > 0 ? far : 0);
}

static void test_sources(void **state)
{
	const uint64_t far = LOAD | MISS | L2_MISS;

	(void)state;
	check_source(ZEN4, 3, LOAD, VT_SOURCE_L1, 0, 0);
	check_source(ZEN4, 3, LOAD | MISS, VT_SOURCE_L2, 0, 0);
	check_source(ZEN4, 0, far, VT_SOURCE_UNKNOWN, -1, -1);
	check_source(ZEN4, 1, far, VT_SOURCE_L3, 0, 0);
	check_source(ZEN4, 2, far, VT_SOURCE_PEER_NEAR, 1, 0);
	check_source(ZEN4, 3, far, VT_SOURCE_DRAM, 1, 0);
	check_source(ZEN4, 3 | BIT(4), far, VT_SOURCE_DRAM_FAR, 1, 1);
	check_source(ZEN4, 4, far, VT_SOURCE_UNKNOWN, -1, -1);
	check_source(ZEN4, 5 | BIT(4), far, VT_SOURCE_PEER_FAR, 1, 1);
	check_source(ZEN4, 6, far, VT_SOURCE_PMEM, 1, 0);
	check_source(ZEN4, 7, far, VT_SOURCE_IO, 1, 0);
	check_source(ZEN4, BIT(6), far, VT_SOURCE_EXTENDED, 1, 0);
	check_source(ZEN4, BIT(6) | 4, far, VT_SOURCE_EXTENDED, 1, 0);
	check_source(ZEN4, BIT(6) | 5, far, VT_SOURCE_UNKNOWN, -1, -1);
	check_source(ZEN4, BIT(7) | 3, far, VT_SOURCE_UNKNOWN, -1, -1);
	check_source(ZEN4, 0, far | NO_MAB, VT_SOURCE_FILL_BUFFER, -1, -1);
	check_source(ZEN4, 3, far | NO_MAB, VT_SOURCE_DRAM, 1, 0);
	check_source(ZEN4, 3, far | UNCACHED, VT_SOURCE_UNCACHED, -1, -1);
	check_source(ZEN2, 1, far, VT_SOURCE_UNKNOWN, -1, -1);
	check_source(ZEN2, 2, far, VT_SOURCE_CACHE, -1, 0);
	check_source(ZEN2, 2 | BIT(4), far, VT_SOURCE_PEER_FAR, 1, 1);
	check_source(ZEN2, 3, far, VT_SOURCE_DRAM, 1, 0);
	check_source(ZEN2, 4 | BIT(4), far, VT_SOURCE_PEER_FAR, 1, 1);
	check_source(ZEN2, 7, far, VT_SOURCE_IO, 1, 0);
	check_source(ZEN2, BIT(6) | 3, far, VT_SOURCE_DRAM, 1, 0);
}

/* The other fields of IBS_OP_DATA3. */
static void test_accesses(void **state)
{
	(void)state;
	read_op(ZEN2, 0, 2, LOAD | MISS | L2_MISS | 7ull << 26 | 4ull << 22 | 0x68ull << 32,
		no_errata);
	check_row("+retired +dcache_miss +l2_miss +load -dtlb_miss -branch -taken -mispredicted "
		  "-store -locked -prefetch -microcode -misaligned -remote lat_retire=0 "
		  "lat_load=68 lat_dispatch=0 source=8 open_misses=7 width=8");
	assert_int_equal(row[VT_SAMPLE_HAS], 0);
	/* Neither a store's miss nor a prefetch's has a latency; nor has a miss without requests
	 * any. */
	read_op(ZEN2, 0, 2, STORE | MISS | L2_MISS | BIT(15) | BIT(8) | 8ull << 22 | 0x68ull << 32,
		no_errata);
	check_row("+retired +dcache_miss +l2_miss +store +locked +misaligned -dtlb_miss -branch "
		  "-taken -mispredicted -load -prefetch -microcode -remote lat_retire=0 "
		  "lat_dispatch=0 source=8");
	read_op(ZEN2, 0, 2, LOAD | PREFETCH | MISS | L2_MISS | 0x68ull << 32, no_errata);
	check_row("+retired +dcache_miss +l2_miss +load +prefetch -dtlb_miss -branch -taken "
		  "-mispredicted -store -locked -microcode -misaligned -remote lat_retire=0 "
		  "lat_dispatch=0 source=8");
	read_op(ZEN2, 0, 2, LOAD | PREFETCH | MISS | L2_MISS | 7ull << 26, first_zen3);
	check_row("+retired +dcache_miss +load +prefetch -dtlb_miss -branch -taken -mispredicted "
		  "-store -locked -microcode -misaligned lat_retire=0 lat_dispatch=0");
	read_op(ZEN2, 0, 2, LOAD | NO_MAB | MISS | 7ull << 26 | 0xffffull << 32, first_zen3);
	check_row("+retired +dcache_miss +load -dtlb_miss -branch -taken -mispredicted -store "
		  "-locked -prefetch -microcode -misaligned lat_retire=0 >lat_load=ffff "
		  "lat_dispatch=0 source=2");
	read_op(ZEN2, 0, 2, LOAD | PREFETCH, first_zen3);
	check_row("+retired +load +prefetch -dcache_miss -l2_miss -l3_miss -dtlb_miss -branch "
		  "-taken -mispredicted -store -locked -microcode -misaligned -remote lat_retire=0 "
		  "lat_dispatch=0 source=1");
	read_op(ZEN2, 0, 2, LOAD | BIT(2) | 1ull << 22 | 0x31ull << 48, no_errata);
	check_row("+retired +load -dcache_miss -l2_miss -l3_miss -dtlb_miss -branch -taken "
		  "-mispredicted -store -locked -prefetch -microcode -misaligned -remote "
		  "lat_retire=0 lat_tlb=31 lat_dispatch=0 source=1 width=1");
	read_op(ZEN2, 0, 2, LOAD | BIT(2) | BIT(3) | 7ull << 22 | 0xffffull << 48, no_errata);
	check_row("+retired +dtlb_miss +load -dcache_miss -l2_miss -l3_miss -branch -taken "
		  "-mispredicted -store -locked -prefetch -microcode -misaligned -remote "
		  "lat_retire=0 >lat_tlb=ffff lat_dispatch=0 source=1 width=40");
}

static void check_addresses(uint64_t data3, uint64_t has, uint64_t addr, uint64_t physical,
			    uint64_t page)
{
	read_op(ZEN4, 0, 0, data3, no_errata);
	assert_int_equal(row[VT_SAMPLE_HAS], has);
	assert_int_equal(row[VT_SAMPLE_ADDR], addr);
	assert_int_equal(row[VT_SAMPLE_PHYS_ADDR], physical);
	assert_int_equal(row[VT_SAMPLE_DATA_PAGE_SIZE], page);
}

static void test_addresses(void **state)
{
	const uint64_t missed = LOAD | BIT(2), walked = missed | BIT(3);

	(void)state;
	check_addresses(LOAD | BIT(17), BIT(3), 0x2222, 0, 0);
	check_addresses(LOAD | BIT(18), BIT(19), 0, 0x3333, 0);
	check_addresses(BIT(17) | BIT(18), 0, 0, 0, 0);
	check_addresses(LOAD | BIT(4), BIT(22), 0, 0, 0x200000);
	check_addresses(LOAD | BIT(5), BIT(22), 0, 0, 0x40000000);
	check_addresses(LOAD | BIT(6) | BIT(19), 0, 0, 0, 0);
	check_addresses(missed | BIT(6), BIT(22), 0, 0, 0x200000);
	check_addresses(missed | BIT(19), BIT(22), 0, 0, 0x40000000);
	check_addresses(missed | BIT(4) | BIT(5), 0, 0, 0, 0);
	check_addresses(walked | BIT(6) | BIT(19), 0, 0, 0, 0);
	/* What the kernel has recorded stays. */
	put_registers(ZEN4, (const uint64_t[]){VALID_OP, 0, 0, 0, LOAD | BIT(17), 0x2222, 0}, 7);
	row[VT_SAMPLE_HAS] = BIT(3);
	row[VT_SAMPLE_ADDR] = 0x5555;
	assert_int_equal(vt_ibs_read_op(row, raw, 60, no_errata), VT_IBS_READ);
	assert_int_equal(row[VT_SAMPLE_ADDR], 0x5555);
}

static void test_fetches(void **state)
{
	const uint64_t ok = VALID_FETCH | BIT(50);

	(void)state;
	assert_int_equal(read_fetch(ZEN4, ok | 7ull << 32, 9, no_errata), VT_IBS_READ);
	check_row("-aborted -icache_miss -l2_miss -l3_miss -itlb_miss lat_fetch=7");
	read_fetch(ZEN4, ok | BIT(51) | BIT(58) | BIT(61) | 0xffffull << 32, 9, no_errata);
	check_row("+icache_miss +l2_miss +l3_miss -aborted -itlb_miss >lat_fetch=ffff");
	read_fetch(ZEN2, ok | BIT(51) | BIT(55), 9, no_errata);
	check_row("+icache_miss -aborted -l2_miss -itlb_miss lat_fetch=0 lat_tlb=9");
	read_fetch(0x1ff, ok | BIT(55) | BIT(56), 9, no_errata);
	check_row("+itlb_miss -aborted -icache_miss -l2_miss lat_fetch=0");
	read_fetch(ZEN4, VALID_FETCH | BIT(56) | BIT(58), 0xffff, no_errata);
	check_row("+aborted -icache_miss -itlb_miss lat_fetch=0");
	read_fetch(ZEN4, VALID_FETCH | BIT(51) | BIT(55), 0xffff, first_zen3);
	check_row("+aborted -itlb_miss lat_fetch=0 >lat_tlb=ffff");
}

static void check_page(unsigned code, struct vt_ibs_cpu cpu, uint64_t page)
{
	read_fetch(ZEN4, VALID_FETCH | BIT(52) | (uint64_t)code << 53, 0, cpu);
	assert_int_equal(row[VT_SAMPLE_CODE_PAGE_SIZE], page);
	assert_int_equal(row[VT_SAMPLE_HAS], BIT(19) | (page ? BIT(23) : 0));
	assert_int_equal(row[VT_SAMPLE_PHYS_ADDR], 0x2222);
}

static void test_fetch_pages(void **state)
{
	(void)state;
	check_page(0, no_errata, 4096);
	check_page(1, no_errata, 2 << 20);
	check_page(2, no_errata, 1 << 30);
	check_page(3, no_errata, 0);
	check_page(0, first_zen3, 4096);
	check_page(1, first_zen3, 16384);
	check_page(2, first_zen3, 2 << 20);
	check_page(3, first_zen3, 1 << 30);
	read_fetch(ZEN4, VALID_FETCH | BIT(53), 0, no_errata);
	assert_int_equal(row[VT_SAMPLE_HAS], 0);
}

/* Registers that are missing, and more than there should be. */
static void test_odd_sizes(void **state)
{
	const uint64_t op[20] = {VALID_OP, 0, BIT(37), 0, 0, 0, 0, 0x4444};
	const uint64_t fetch[20] = {VALID_FETCH | BIT(55), 0, 0, 9};
	size_t size;

	(void)state;
	for (size = 0; size <= 4 + 8 * 20; size++) {
		put_registers(ZEN4, op, 20);
		assert_int_equal(vt_ibs_read_op(row, raw, size, no_errata),
				 size < 60 ? VT_IBS_CUT : VT_IBS_READ);
		assert_int_equal(!!(row[VT_SAMPLE_PM_HAS] & VT_PM_BIT(TARGET)), size >= 68);
		put_registers(ZEN4, fetch, 20);
		assert_int_equal(vt_ibs_read_fetch(row, raw, size, no_errata),
				 size < 28 ? VT_IBS_CUT : VT_IBS_READ);
		assert_int_equal(!!(row[VT_SAMPLE_PM_HAS] & VT_PM_BIT(LAT_TLB)), size >= 36);
	}
	put_registers(ZEN4, (const uint64_t[]){BIT(17), 0, 0, 0, 0, 0, 0}, 7);
	assert_int_equal(vt_ibs_read_op(row, raw, 60, no_errata), VT_IBS_INVALID);
	put_registers(ZEN4, (const uint64_t[]){BIT(18), 0, 0, 0, 0, 0, 0}, 7);
	assert_int_equal(vt_ibs_read_op(row, raw, 60, no_errata), VT_IBS_INVALID);
	assert_int_equal(read_fetch(ZEN4, BIT(48), 0, no_errata), VT_IBS_INVALID);
	assert_int_equal(read_fetch(ZEN4, BIT(49), 0, no_errata), VT_IBS_INVALID);
	check_row("");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_branches),  cmocka_unit_test(test_sources),
		cmocka_unit_test(test_accesses),  cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_fetches),	  cmocka_unit_test(test_fetch_pages),
		cmocka_unit_test(test_odd_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
