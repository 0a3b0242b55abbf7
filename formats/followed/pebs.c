/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Source: linux/perf_event.h, union perf_mem_data_src and union perf_sample_weight. */
#include "formats/followed/pebs.h"

#include "stream/profileme.h"

#define HAS_WEIGHT	  (UINT64_C(1) << 14)
#define HAS_WEIGHT_STRUCT (UINT64_C(1) << 24)

/* The two smaller weights have 16 bits. */
#define WEIGHT_STOP 0xffff

/* Fields of a data source: where each lies, and its values or bits. */
#define OP(s)	    ((s)&31)
#define OP_NA	    1u
#define OP_LOAD	    2u
#define OP_STORE    4u
#define OP_PREFETCH 8u

#define LEVEL(s)	 ((s) >> 5 & 0x3fff)
#define LEVEL_HIT	 (1u << 1)
#define LEVEL_MISS	 (1u << 2)
#define LEVEL_L1	 (1u << 3)
#define LEVEL_LFB	 (1u << 4)
#define LEVEL_L2	 (1u << 5)
#define LEVEL_L3	 (1u << 6)
#define LEVEL_DRAM	 (1u << 7)
#define LEVEL_DRAM_FAR1	 (1u << 8)
#define LEVEL_DRAM_FAR2	 (1u << 9)
#define LEVEL_CACHE_FAR1 (1u << 10)
#define LEVEL_CACHE_FAR2 (1u << 11)
#define LEVEL_IO	 (1u << 12)
#define LEVEL_UNCACHED	 (1u << 13)
#define LEVEL_PLACES	 0x3ff8u
#define LEVEL_CACHES	 (LEVEL_L1 | LEVEL_L2 | LEVEL_L3)

#define SNOOP(s)       ((s) >> 19 & 31)
#define SNOOP_MODIFIED (1u << 4)
#define SNOOPX(s)      ((s) >> 38 & 3)

#define LOCK(s)	    ((s) >> 24 & 3)
#define LOCK_NA	    1u
#define LOCK_LOCKED 2u

#define TLB(s)	  ((s) >> 26 & 0x7f)
#define TLB_HIT	  (1u << 1)
#define TLB_MISS  (1u << 2)
#define TLB_L1	  (1u << 3)
#define TLB_L2	  (1u << 4)
#define TLB_WALK  (1u << 5)
#define TLB_FAULT (1u << 6)

#define NUMBER(s)	((s) >> 33 & 15)
#define NUMBER_L1	1
#define NUMBER_L2	2
#define NUMBER_L3	3
#define NUMBER_L4	4
#define NUMBER_UNCACHED 8
#define NUMBER_CXL	9
#define NUMBER_IO	10
#define NUMBER_ANY	11
#define NUMBER_LFB	12
#define NUMBER_RAM	13
#define NUMBER_PMEM	14
#define NUMBER_NA	15
#define REMOTE(s)	((s) >> 37 & 1)
#define HOPS(s)		((s) >> 43 & 7)
#define HOPS_SAME_NODE	1

/* Of a cache that is not this core's: how far it is. */
static enum vt_source get_peer(uint64_t s)
{
	return HOPS(s) == HOPS_SAME_NODE || !REMOTE(s) ? VT_SOURCE_PEER_NEAR : VT_SOURCE_PEER_FAR;
}

/* Of the newer field, a number; VT_SOURCE_UNKNOWN: it tells none. */
static enum vt_source get_numbered_source(uint64_t s)
{
	static const enum vt_source own[NUMBER_NA + 1] = {
		[NUMBER_L1] = VT_SOURCE_L1,
		[NUMBER_L2] = VT_SOURCE_L2,
		[NUMBER_L3] = VT_SOURCE_L3,
		[NUMBER_L4] = VT_SOURCE_L4,
		[NUMBER_UNCACHED] = VT_SOURCE_UNCACHED,
		[NUMBER_CXL] = VT_SOURCE_EXTENDED,
		[NUMBER_IO] = VT_SOURCE_IO,
		[NUMBER_ANY] = VT_SOURCE_CACHE,
		[NUMBER_LFB] = VT_SOURCE_FILL_BUFFER,
		[NUMBER_RAM] = VT_SOURCE_DRAM,
		[NUMBER_PMEM] = VT_SOURCE_PMEM,
	};
	enum vt_source source = own[NUMBER(s)];
	bool cache = source == VT_SOURCE_L1 || source == VT_SOURCE_L2 || source == VT_SOURCE_L3 ||
		     source == VT_SOURCE_L4 || source == VT_SOURCE_CACHE;

	if (cache && (REMOTE(s) || HOPS(s)))
		return get_peer(s);
	if (source == VT_SOURCE_DRAM && REMOTE(s))
		return VT_SOURCE_DRAM_FAR;
	return source;
}

/* Of the older field, a bit; several caches are one of them, other bits, or a miss, no source. */
static enum vt_source get_flagged_source(uint64_t s)
{
	if (!(LEVEL(s) & LEVEL_HIT) || LEVEL(s) & LEVEL_MISS)
		return VT_SOURCE_UNKNOWN;
	switch (LEVEL(s) & LEVEL_PLACES) {
	case LEVEL_L1:
		return VT_SOURCE_L1;
	case LEVEL_LFB:
		return VT_SOURCE_FILL_BUFFER;
	case LEVEL_L2:
		return VT_SOURCE_L2;
	case LEVEL_L3:
		return REMOTE(s) ? VT_SOURCE_PEER_FAR : VT_SOURCE_L3;
	case LEVEL_DRAM:
		return VT_SOURCE_DRAM;
	case LEVEL_DRAM_FAR1:
	case LEVEL_DRAM_FAR2:
		return VT_SOURCE_DRAM_FAR;
	case LEVEL_CACHE_FAR1:
	case LEVEL_CACHE_FAR2:
		return VT_SOURCE_PEER_FAR;
	case LEVEL_IO:
		return VT_SOURCE_IO;
	case LEVEL_UNCACHED:
		return VT_SOURCE_UNCACHED;
	default:
		return LEVEL(s) & LEVEL_PLACES & ~LEVEL_CACHES || !(LEVEL(s) & LEVEL_CACHES)
			       ? VT_SOURCE_UNKNOWN
			       : VT_SOURCE_CACHE;
	}
}

static enum vt_source get_source(uint64_t s)
{
	enum vt_source source = VT_SOURCE_UNKNOWN;

	if (!(LEVEL(s) & LEVEL_MISS))
		source = get_numbered_source(s);
	return source == VT_SOURCE_UNKNOWN ? get_flagged_source(s) : source;
}

/* What the third level has only because another core handed it over comes from that core. */
static bool is_handed_over(uint64_t s)
{
	return SNOOP(s) & SNOOP_MODIFIED || SNOOPX(s);
}

/* The levels that missed, by the one that answered. */
static void tell_misses_before(uint64_t *row, enum vt_source source)
{
	bool l1 = source == VT_SOURCE_L1, l2 = source == VT_SOURCE_L2;

	vt_pm_tell(row, VT_PM_EVENT(DCACHE_MISS), !l1);
	if (source == VT_SOURCE_FILL_BUFFER || source == VT_SOURCE_CACHE)
		return;
	vt_pm_tell(row, VT_PM_EVENT(L2_MISS), !l1 && !l2);
	/* Another core's cache may answer for the third level, or in its place. */
	if (source != VT_SOURCE_PEER_NEAR)
		vt_pm_tell(row, VT_PM_EVENT(L3_MISS), !l1 && !l2 && source != VT_SOURCE_L3);
}

/* "A miss in this level" without a source: that level and those before it missed. */
static void tell_level_miss(uint64_t *row, uint64_t s)
{
	uint32_t places = LEVEL(s) & LEVEL_PLACES;
	bool l3 = places == LEVEL_L3 || (!places && NUMBER(s) == NUMBER_L3);
	bool l2 = places == LEVEL_L2 || (!places && NUMBER(s) == NUMBER_L2) || l3;
	bool l1 = places == LEVEL_L1 || (!places && NUMBER(s) == NUMBER_L1) || l2;

	vt_pm_tell(row,
		   (l1 ? VT_PM_EVENT(DCACHE_MISS) : 0) | (l2 ? VT_PM_EVENT(L2_MISS) : 0) |
			   (l3 ? VT_PM_EVENT(L3_MISS) : 0),
		   true);
}

/* One of several caches, of which one is the first: nothing is known to have missed. */
static bool may_be_first_cache(enum vt_source source, uint64_t s)
{
	return source == VT_SOURCE_CACHE && LEVEL(s) & LEVEL_L1;
}

static void read_levels(uint64_t *row, uint64_t s)
{
	enum vt_source source = get_source(s);

	if (source == VT_SOURCE_UNKNOWN) {
		if (LEVEL(s) & LEVEL_MISS && !(LEVEL(s) & LEVEL_HIT))
			tell_level_miss(row, s);
		return;
	}
	if (source != VT_SOURCE_IO && source != VT_SOURCE_UNCACHED &&
	    !may_be_first_cache(source, s))
		tell_misses_before(row, source);
	vt_pm_tell(row, VT_PM_EVENT(REMOTE),
		   source == VT_SOURCE_PEER_FAR || source == VT_SOURCE_DRAM_FAR ||
			   (REMOTE(s) && source != VT_SOURCE_PEER_NEAR));
	if (source == VT_SOURCE_L3 && is_handed_over(s))
		source = VT_SOURCE_PEER_NEAR;
	vt_pm_set(row, VT_SAMPLE_SOURCE, source);
}

/* A miss of the first TLB alone does not tell whether the table was walked. */
static void read_tlb(uint64_t *row, uint64_t s)
{
	unsigned tlb = TLB(s);
	bool hit = tlb & TLB_HIT && tlb & (TLB_L1 | TLB_L2);
	bool walked = tlb & (TLB_WALK | TLB_FAULT) || (tlb & TLB_MISS && tlb & TLB_L2);

	if (hit != walked)
		vt_pm_tell(row, VT_PM_EVENT(DTLB_MISS), walked);
}

static void read_source(uint64_t *row, uint64_t s)
{
	if (OP(s) & (OP_LOAD | OP_STORE | OP_PREFETCH)) {
		vt_pm_tell(row, VT_PM_EVENT(LOAD), OP(s) & OP_LOAD);
		vt_pm_tell(row, VT_PM_EVENT(STORE), OP(s) & OP_STORE);
		vt_pm_tell(row, VT_PM_EVENT(PREFETCH), OP(s) & OP_PREFETCH);
	}
	read_levels(row, s);
	read_tlb(row, s);
	/* As perf has it: what is not said to be unknown was not locked. */
	if (OP(s) & ~OP_NA && !(LOCK(s) & LOCK_NA))
		vt_pm_tell(row, VT_PM_EVENT(LOCKED), LOCK(s) & LOCK_LOCKED);
}

/* A weight of 0 was not measured: no access takes no cycle. */
static void read_weights(uint64_t *row, enum vt_cpu_vendor vendor)
{
	bool load = row[VT_SAMPLE_HAS] & VT_HAS_DATA_SRC && OP(row[VT_SAMPLE_DATA_SRC]) & OP_LOAD;
	/* AMD's kernel driver passes the counter of IBS on, which has 16 bits. */
	uint64_t stop = vendor == VT_CPU_AMD ? WEIGHT_STOP : UINT32_MAX;

	if (load && row[VT_SAMPLE_WEIGHT])
		vt_pm_set_latency(row, VT_SAMPLE_LAT_LOAD, row[VT_SAMPLE_WEIGHT], stop);
	if (!(row[VT_SAMPLE_HAS] & HAS_WEIGHT_STRUCT))
		return;
	if (vendor != VT_CPU_UNKNOWN && row[VT_SAMPLE_WEIGHT2])
		vt_pm_set_latency(row, VT_SAMPLE_LAT_DISPATCH, row[VT_SAMPLE_WEIGHT2], WEIGHT_STOP);
	if (vendor == VT_CPU_INTEL && row[VT_SAMPLE_WEIGHT3])
		vt_pm_set_latency(row, VT_SAMPLE_LAT_RETIRE, row[VT_SAMPLE_WEIGHT3], WEIGHT_STOP);
}

void vt_pebs_read(uint64_t *row, enum vt_cpu_vendor vendor)
{
	if (row[VT_SAMPLE_HAS] & VT_HAS_DATA_SRC)
		read_source(row, row[VT_SAMPLE_DATA_SRC]);
	if (row[VT_SAMPLE_HAS] & (HAS_WEIGHT | HAS_WEIGHT_STRUCT))
		read_weights(row, vendor);
}
