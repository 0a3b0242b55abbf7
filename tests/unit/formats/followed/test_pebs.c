/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/followed/pebs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "stream/profileme.h"

/* Words of union perf_mem_data_src, put together as linux/perf_event.h has them. */
#define OP(x)	  ((uint64_t)(x))
#define LVL(x)	  ((uint64_t)(x) << 5)
#define SNOOP(x)  ((uint64_t)(x) << 19)
#define LOCKED(x) ((uint64_t)(x) << 24)
#define TLB(x)	  ((uint64_t)(x) << 26)
#define NUM(x)	  ((uint64_t)(x) << 33)
#define REM	  (UINT64_C(1) << 37)
#define SNOOPX(x) ((uint64_t)(x) << 38)
#define HOPS(x)	  ((uint64_t)(x) << 43)

#define LH    (OP(2) | LVL(2)) /* a load that hit */
#define MISS3 (VT_PM_EVENT(DCACHE_MISS) | VT_PM_EVENT(L2_MISS) | VT_PM_EVENT(L3_MISS))
#define MISS2 (VT_PM_EVENT(DCACHE_MISS) | VT_PM_EVENT(L2_MISS))
#define MISS1 VT_PM_EVENT(DCACHE_MISS)
#define FAR   VT_PM_EVENT(REMOTE)

#define DATA_SRC (UINT64_C(1) << 15)
#define WEIGHT	 (UINT64_C(1) << 14)
#define STRUCT	 (UINT64_C(1) << 24)

static uint64_t row[VT_SAMPLE_NFIELDS];

static void read_word(uint64_t data_src)
{
	memset(row, 0, sizeof(row));
	row[VT_SAMPLE_HAS] = DATA_SRC;
	row[VT_SAMPLE_DATA_SRC] = data_src;
	vt_pebs_read(row, VT_CPU_INTEL);
}

/* What the kernel makes of Intel's sources 0 to 15 (Sandy Bridge and later), and of others. */
static void test_sources(void **state)
{
	static const struct {
		uint64_t word;
		enum vt_source source;
		uint64_t told; /* of the misses, and whether it came from afar */
		uint64_t happened;
	} rows[] = {
		{OP(2) | LVL(4) | NUM(3) | SNOOP(1), VT_SOURCE_UNKNOWN, MISS3, MISS3},
		{LH | LVL(8) | NUM(1) | SNOOP(2), VT_SOURCE_L1, MISS3 | FAR, 0},
		{LH | LVL(16) | NUM(12) | SNOOP(2), VT_SOURCE_FILL_BUFFER, MISS1 | FAR, MISS1},
		{LH | LVL(32) | NUM(2) | SNOOP(2), VT_SOURCE_L2, MISS3 | FAR, MISS1},
		{LH | LVL(64) | NUM(3) | SNOOP(2), VT_SOURCE_L3, MISS3 | FAR, MISS2},
		{LH | LVL(64) | NUM(3) | SNOOP(8), VT_SOURCE_L3, MISS3 | FAR, MISS2},
		{LH | LVL(64) | NUM(3) | SNOOP(4), VT_SOURCE_L3, MISS3 | FAR, MISS2},
		{LH | LVL(64) | NUM(3) | SNOOP(16), VT_SOURCE_PEER_NEAR, MISS3 | FAR, MISS2},
		{LH | LVL(64) | NUM(3) | SNOOPX(1), VT_SOURCE_PEER_NEAR, MISS3 | FAR, MISS2},
		{LH | LVL(1024) | NUM(3) | REM | SNOOP(4), VT_SOURCE_PEER_FAR, MISS3 | FAR,
		 MISS3 | FAR},
		{LH | LVL(128) | NUM(13) | SNOOP(4), VT_SOURCE_DRAM, MISS3 | FAR, MISS3},
		{LH | LVL(256) | NUM(13) | REM, VT_SOURCE_DRAM_FAR, MISS3 | FAR, MISS3 | FAR},
		{LH | LVL(4096) | NUM(15), VT_SOURCE_IO, FAR, 0},
		{LH | LVL(8192) | NUM(15), VT_SOURCE_UNCACHED, FAR, 0},
		/* Without the number, as kernels before 4.14 have it. */
		{LH | LVL(8), VT_SOURCE_L1, MISS3 | FAR, 0},
		{LH | LVL(16), VT_SOURCE_FILL_BUFFER, MISS1 | FAR, MISS1},
		{LH | LVL(32), VT_SOURCE_L2, MISS3 | FAR, MISS1},
		{LH | LVL(64), VT_SOURCE_L3, MISS3 | FAR, MISS2},
		{LH | LVL(64) | REM, VT_SOURCE_PEER_FAR, MISS3 | FAR, MISS3 | FAR},
		{LH | LVL(128), VT_SOURCE_DRAM, MISS3 | FAR, MISS3},
		{LH | LVL(256), VT_SOURCE_DRAM_FAR, MISS3 | FAR, MISS3 | FAR},
		{LH | LVL(512), VT_SOURCE_DRAM_FAR, MISS3 | FAR, MISS3 | FAR},
		{LH | LVL(1024), VT_SOURCE_PEER_FAR, MISS3 | FAR, MISS3 | FAR},
		{LH | LVL(2048), VT_SOURCE_PEER_FAR, MISS3 | FAR, MISS3 | FAR},
		{LH | LVL(4096), VT_SOURCE_IO, FAR, 0},
		{LH | LVL(8192), VT_SOURCE_UNCACHED, FAR, 0},
		/* Only the number, as of AMD, POWER and newer machines. */
		{LH | NUM(4), VT_SOURCE_L4, MISS3 | FAR, MISS3},
		{LH | NUM(8), VT_SOURCE_UNCACHED, FAR, 0},
		{LH | NUM(9), VT_SOURCE_EXTENDED, MISS3 | FAR, MISS3},
		{LH | NUM(10), VT_SOURCE_IO, FAR, 0},
		{LH | NUM(11), VT_SOURCE_CACHE, MISS1 | FAR, MISS1},
		{LH | NUM(11) | REM | HOPS(1), VT_SOURCE_PEER_NEAR, MISS2 | FAR, MISS2},
		{LH | NUM(2) | HOPS(1), VT_SOURCE_PEER_NEAR, MISS2 | FAR, MISS2},
		{LH | NUM(11) | REM | HOPS(2), VT_SOURCE_PEER_FAR, MISS3 | FAR, MISS3 | FAR},
		{LH | NUM(1) | REM | HOPS(3), VT_SOURCE_PEER_FAR, MISS3 | FAR, MISS3 | FAR},
		{LH | NUM(4) | REM | HOPS(3), VT_SOURCE_PEER_FAR, MISS3 | FAR, MISS3 | FAR},
		{LH | NUM(14) | REM, VT_SOURCE_PMEM, MISS3 | FAR, MISS3 | FAR},
		/* A miss of a level, as of Intel's stores; nothing; several levels. */
		{OP(4) | LVL(4) | LVL(8), VT_SOURCE_UNKNOWN, MISS1, MISS1},
		{OP(4) | LVL(4) | LVL(32), VT_SOURCE_UNKNOWN, MISS2, MISS2},
		{OP(4) | LVL(4) | LVL(64), VT_SOURCE_UNKNOWN, MISS3, MISS3},
		{OP(4) | LVL(4) | NUM(1), VT_SOURCE_UNKNOWN, MISS1, MISS1},
		{OP(4) | LVL(4) | NUM(2), VT_SOURCE_UNKNOWN, MISS2, MISS2},
		{OP(2) | LVL(6) | LVL(8), VT_SOURCE_UNKNOWN, 0, 0},
		{OP(2) | LVL(1) | NUM(15), VT_SOURCE_UNKNOWN, 0, 0},
		{LH | LVL(8) | LVL(32), VT_SOURCE_CACHE, FAR, 0},
		{LH | LVL(8) | LVL(32) | LVL(64), VT_SOURCE_CACHE, FAR, 0},
		{LH | LVL(32) | LVL(64), VT_SOURCE_CACHE, MISS1 | FAR, MISS1},
		{LH | LVL(8) | LVL(128), VT_SOURCE_UNKNOWN, 0, 0},
		{LH | LVL(64) | LVL(1024), VT_SOURCE_UNKNOWN, 0, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		read_word(rows[i].word);
		assert_int_equal(row[VT_SAMPLE_SOURCE], rows[i].source);
		assert_int_equal(row[VT_SAMPLE_PM_HAS] & VT_PM_BIT(SOURCE),
				 rows[i].source ? VT_PM_BIT(SOURCE) : 0);
		assert_int_equal(row[VT_SAMPLE_EVENTS_TOLD] & (MISS3 | FAR), rows[i].told);
		assert_int_equal(row[VT_SAMPLE_EVENTS] & (MISS3 | FAR), rows[i].happened);
	}
}

static void check_events(uint64_t word, uint64_t told, uint64_t happened)
{
	read_word(word);
	assert_int_equal(row[VT_SAMPLE_EVENTS_TOLD], told);
	assert_int_equal(row[VT_SAMPLE_EVENTS], happened);
	assert_int_equal(row[VT_SAMPLE_PM_HAS], told ? VT_PM_BIT(EVENTS) : 0);
}

static void test_other_events(void **state)
{
	const uint64_t ops = VT_PM_EVENT(LOAD) | VT_PM_EVENT(STORE) | VT_PM_EVENT(PREFETCH);
	const uint64_t locked = VT_PM_EVENT(LOCKED), walked = VT_PM_EVENT(DTLB_MISS);

	(void)state;
	check_events(0, 0, 0);
	check_events(OP(1), 0, 0);
	check_events(OP(16) | LOCKED(1), 0, 0);
	check_events(OP(2) | LOCKED(1), ops, VT_PM_EVENT(LOAD));
	check_events(OP(4) | LOCKED(1), ops, VT_PM_EVENT(STORE));
	check_events(OP(8) | LOCKED(1), ops, VT_PM_EVENT(PREFETCH));
	check_events(OP(16), locked, 0);
	check_events(OP(16) | LOCKED(2), locked, locked);
	check_events(OP(16) | LOCKED(3), 0, 0);
	check_events(LOCKED(2), 0, 0);
	check_events(TLB(1), 0, 0);
	check_events(TLB(2 | 8), walked, 0);
	check_events(TLB(2 | 16), walked, 0);
	check_events(TLB(2 | 8 | 16), walked, 0);
	check_events(TLB(2), 0, 0);
	check_events(TLB(4 | 8), 0, 0);
	check_events(TLB(4 | 16), walked, walked);
	check_events(TLB(4 | 8 | 16), walked, walked);
	check_events(TLB(2 | 32), walked, walked);
	check_events(TLB(64), walked, walked);
	check_events(TLB(2 | 8 | 32), 0, 0);
}

static void read_weights(uint64_t has, uint64_t op, uint64_t w1, uint64_t w2, uint64_t w3,
			 enum vt_cpu_vendor vendor)
{
	memset(row, 0, sizeof(row));
	row[VT_SAMPLE_HAS] = has;
	row[VT_SAMPLE_DATA_SRC] = op;
	row[VT_SAMPLE_WEIGHT] = w1;
	row[VT_SAMPLE_WEIGHT2] = w2;
	row[VT_SAMPLE_WEIGHT3] = w3;
	vt_pebs_read(row, vendor);
	row[VT_SAMPLE_PM_HAS] &= ~VT_PM_BIT(EVENTS);
}

static void check_latencies(uint64_t has, uint64_t least, uint64_t load, uint64_t dispatch,
			    uint64_t retire)
{
	assert_int_equal(row[VT_SAMPLE_PM_HAS], has);
	assert_int_equal(row[VT_SAMPLE_PM_LEAST], least);
	assert_int_equal(row[VT_SAMPLE_LAT_LOAD], load);
	assert_int_equal(row[VT_SAMPLE_LAT_DISPATCH], dispatch);
	assert_int_equal(row[VT_SAMPLE_LAT_RETIRE], retire);
}

static void test_weights(void **state)
{
	const uint64_t load = VT_PM_BIT(LAT_LOAD), dispatch = VT_PM_BIT(LAT_DISPATCH);
	const uint64_t retire = VT_PM_BIT(LAT_RETIRE);

	(void)state;
	read_weights(DATA_SRC | WEIGHT, OP(2), 70000, 8, 9, VT_CPU_INTEL);
	check_latencies(load, 0, 70000, 0, 0);
	read_weights(DATA_SRC | WEIGHT, OP(4), 7, 8, 9, VT_CPU_INTEL);
	check_latencies(0, 0, 0, 0, 0);
	read_weights(WEIGHT, OP(2), 7, 8, 9, VT_CPU_INTEL);
	check_latencies(0, 0, 0, 0, 0);
	read_weights(DATA_SRC, OP(2), 7, 8, 9, VT_CPU_INTEL);
	check_latencies(0, 0, 0, 0, 0);
	read_weights(DATA_SRC | STRUCT, OP(2), 7, 8, 9, VT_CPU_INTEL);
	check_latencies(load | dispatch | retire, 0, 7, 8, 9);
	read_weights(DATA_SRC | STRUCT, OP(2), 0, 0, 0, VT_CPU_INTEL);
	check_latencies(0, 0, 0, 0, 0);
	read_weights(DATA_SRC | STRUCT, OP(2), 65535, 65535, 65535, VT_CPU_INTEL);
	check_latencies(load | dispatch | retire, dispatch | retire, 65535, 65535, 65535);
	read_weights(DATA_SRC | STRUCT, OP(2), 65535, 65534, 9, VT_CPU_AMD);
	check_latencies(load | dispatch, load, 65535, 65534, 0);
	read_weights(DATA_SRC | STRUCT, OP(2), 7, 8, 9, VT_CPU_UNKNOWN);
	check_latencies(load, 0, 7, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_other_events),
		cmocka_unit_test(test_weights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
