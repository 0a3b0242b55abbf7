/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sources: AMD's Processor Programming References (IBS_OP_DATA to IBS_OP_DATA4, IBS_FETCH_CTL,
 * IC_IBS_EXTD_CTL); arch/x86/include/asm/amd-ibs.h and arch/x86/events/amd/ibs.c of Linux, for the
 * order of the registers in raw bytes.
 */
#include "formats/followed/ibs.h"

#include "base/bytes.h"
#include "stream/profileme.h"

/* IBS_CAPS_*, the first word of the raw bytes: what the processor has. */
#define CAPS_BRANCH_TARGET  (1u << 5)
#define CAPS_FETCH_EXTENDED (1u << 9)
#define CAPS_ZEN4	    (1u << 11)

/* Latencies have 16 bits. */
#define COUNTER_STOP 0xffff

/* Bits of `has`: PERF_SAMPLE_* of linux/perf_event.h. */
#define HAS_PHYS_ADDR	   (1u << 19)
#define HAS_DATA_PAGE_SIZE (1u << 22)
#define HAS_CODE_PAGE_SIZE (1u << 23)

#define PAGE_4K	 UINT64_C(0x1000)
#define PAGE_16K UINT64_C(0x4000)
#define PAGE_2M	 UINT64_C(0x200000)
#define PAGE_1G	 UINT64_C(0x40000000)

#define MAX_REGISTERS 16

struct registers {
	uint32_t caps;
	size_t count;
	uint64_t r[MAX_REGISTERS];
};

/* False if there are less than `least`, which every processor has. */
static bool take_registers(struct registers *g, const uint8_t *raw, size_t size, size_t least)
{
	size_t i;

	if (size < sizeof(g->caps) + 8 * least)
		return false;
	g->caps = vt_le32(raw);
	g->count = (size - sizeof(g->caps)) / 8;
	if (g->count > MAX_REGISTERS)
		g->count = MAX_REGISTERS;
	for (i = 0; i < g->count; i++)
		g->r[i] = vt_le64(raw + sizeof(g->caps) + 8 * i);
	return true;
}

static bool bit(uint64_t reg, unsigned at)
{
	return reg >> at & 1;
}

static uint64_t bits(uint64_t reg, unsigned low, unsigned n)
{
	return reg >> low & ((UINT64_C(1) << n) - 1);
}

/* Sets a field of a sample that the kernel has not recorded. */
static void set_recorded(uint64_t *row, unsigned field, uint64_t value, uint64_t has)
{
	if (row[VT_SAMPLE_HAS] & has)
		return;
	row[field] = value;
	row[VT_SAMPLE_HAS] |= has;
}

/* Family 19h, models 0 to Fh: Zen 3, which has errata. */
static bool is_first_zen3(struct vt_ibs_cpu cpu)
{
	return cpu.family == 0x19 && cpu.model < 0x10;
}

/* ---- a micro-op that retired ---- */

enum op_register {
	OP_CTL,
	OP_RIP,
	OP_DATA,
	OP_DATA2,
	OP_DATA3,
	OP_LINEAR,
	OP_PHYSICAL,
	OP_REGISTERS, /* which all processors have */
	OP_TARGET = OP_REGISTERS,
};

static void set_op_branch(uint64_t *row, const struct registers *g)
{
	uint64_t data = g->r[OP_DATA];
	bool branch = bit(data, 37);

	vt_pm_tell(row, VT_PM_EVENT(BRANCH), branch);
	vt_pm_tell(row, VT_PM_EVENT(TAKEN), branch && bit(data, 35));
	vt_pm_tell(row, VT_PM_EVENT(MISPREDICTED), branch && bit(data, 36));
	if (branch && g->caps & CAPS_BRANCH_TARGET && g->count > OP_TARGET && g->r[OP_TARGET])
		vt_pm_set(row, VT_SAMPLE_TARGET, g->r[OP_TARGET]);
}

/* The levels beyond the second one.  VT_SOURCE_UNKNOWN: reserved, or none was told. */
static enum vt_source get_far_source(uint64_t data2, bool zen4)
{
	static const enum vt_source from_zen4[32] = {
		[1] = VT_SOURCE_L3,	  [2] = VT_SOURCE_PEER_NEAR, [3] = VT_SOURCE_DRAM,
		[5] = VT_SOURCE_PEER_FAR, [6] = VT_SOURCE_PMEM,	     [7] = VT_SOURCE_IO,
		[8] = VT_SOURCE_EXTENDED, [12] = VT_SOURCE_EXTENDED,
	};
	static const enum vt_source before[8] = {
		[2] = VT_SOURCE_CACHE,
		[3] = VT_SOURCE_DRAM,
		[4] = VT_SOURCE_PEER_FAR,
		[7] = VT_SOURCE_IO,
	};
	enum vt_source source = zen4 ? from_zen4[bits(data2, 6, 2) << 3 | bits(data2, 0, 3)]
				     : before[bits(data2, 0, 3)];

	if (!bit(data2, 4))
		return source;
	return source == VT_SOURCE_DRAM	   ? VT_SOURCE_DRAM_FAR
	       : source == VT_SOURCE_CACHE ? VT_SOURCE_PEER_FAR
					   : source;
}

/* Whether the third level missed is told only by a source that is, or is not, that level. */
static void tell_l3_miss(uint64_t *row, enum vt_source source)
{
	if (source != VT_SOURCE_CACHE && source != VT_SOURCE_PEER_FAR)
		vt_pm_tell(row, VT_PM_EVENT(L3_MISS), source != VT_SOURCE_L3);
	else if (source == VT_SOURCE_PEER_FAR)
		vt_pm_tell(row, VT_PM_EVENT(L3_MISS), true);
}

/* `second`: what IBS_OP_DATA2 and the bit of the second level say can be used. */
static void set_op_source(uint64_t *row, const struct registers *g, bool second)
{
	uint64_t data3 = g->r[OP_DATA3];
	enum vt_source source = VT_SOURCE_UNKNOWN;

	if (!bit(data3, 7)) {
		source = VT_SOURCE_L1;
		vt_pm_tell(row, VT_PM_EVENT(L3_MISS) | VT_PM_EVENT(REMOTE), false);
	} else if (second && !bit(data3, 20)) {
		source = VT_SOURCE_L2;
		vt_pm_tell(row, VT_PM_EVENT(L3_MISS) | VT_PM_EVENT(REMOTE), false);
	} else if (second) {
		source = get_far_source(g->r[OP_DATA2], g->caps & CAPS_ZEN4);
		if (source != VT_SOURCE_UNKNOWN) {
			vt_pm_tell(row, VT_PM_EVENT(REMOTE), bit(g->r[OP_DATA2], 4));
			tell_l3_miss(row, source);
		}
	}
	/* Without a miss address buffer of its own, it shares that of a miss under way. */
	if (source == VT_SOURCE_UNKNOWN && bit(data3, 16))
		source = VT_SOURCE_FILL_BUFFER;
	if (source != VT_SOURCE_UNKNOWN)
		vt_pm_set(row, VT_SAMPLE_SOURCE, source);
}

/*
 * The caches.  Erratum 1293: the second level, the open requests and IBS_OP_DATA2 say nothing of
 * prefetches and of misses that share a buffer.
 */
static void set_op_caches(uint64_t *row, const struct registers *g, struct vt_ibs_cpu cpu)
{
	uint64_t data3 = g->r[OP_DATA3];
	bool miss = bit(data3, 7);
	bool second = !(is_first_zen3(cpu) && (bit(data3, 16) || bit(data3, 21)));

	if (bit(data3, 14)) {
		vt_pm_set(row, VT_SAMPLE_SOURCE, VT_SOURCE_UNCACHED);
		return;
	}
	vt_pm_tell(row, VT_PM_EVENT(DCACHE_MISS), miss);
	if (second || !miss)
		vt_pm_tell(row, VT_PM_EVENT(L2_MISS), miss && bit(data3, 20));
	set_op_source(row, g, second);
	if (miss && second && bits(data3, 26, 6))
		vt_pm_set(row, VT_SAMPLE_OPEN_MISSES, bits(data3, 26, 6));
	if (miss && bit(data3, 0) && !bit(data3, 21))
		vt_pm_set_latency(row, VT_SAMPLE_LAT_LOAD, bits(data3, 32, 16), COUNTER_STOP);
}

static void set_op_address(uint64_t *row, const struct registers *g)
{
	uint64_t data3 = g->r[OP_DATA3];
	bool missed = bit(data3, 2), walked = missed && bit(data3, 3);

	if (bit(data3, 17))
		set_recorded(row, VT_SAMPLE_ADDR, g->r[OP_LINEAR], VT_HAS_ADDR);
	if (bit(data3, 18))
		set_recorded(row, VT_SAMPLE_PHYS_ADDR, g->r[OP_PHYSICAL], HAS_PHYS_ADDR);
	vt_pm_tell(row, VT_PM_EVENT(DTLB_MISS), walked);
	if (missed)
		vt_pm_set_latency(row, VT_SAMPLE_LAT_TLB, bits(data3, 48, 16), COUNTER_STOP);
	if (bit(data3, missed ? 6 : 4) && !walked)
		set_recorded(row, VT_SAMPLE_DATA_PAGE_SIZE, PAGE_2M, HAS_DATA_PAGE_SIZE);
	else if (bit(data3, missed ? 19 : 5) && !walked)
		set_recorded(row, VT_SAMPLE_DATA_PAGE_SIZE, PAGE_1G, HAS_DATA_PAGE_SIZE);
}

/* Without a load or store, IBS_OP_DATA2 and 3 are invalid: nothing of the kind happened. */
static void set_op_memory(uint64_t *row, const struct registers *g, struct vt_ibs_cpu cpu)
{
	uint64_t data3 = g->r[OP_DATA3], width = bits(data3, 22, 4);
	bool load = bit(data3, 0), store = bit(data3, 1), accesses = load || store;

	vt_pm_tell(row, VT_PM_EVENT(LOAD), load);
	vt_pm_tell(row, VT_PM_EVENT(STORE), store);
	vt_pm_tell(row, VT_PM_EVENT(PREFETCH), accesses && bit(data3, 21));
	vt_pm_tell(row, VT_PM_EVENT(LOCKED), accesses && bit(data3, 15));
	vt_pm_tell(row, VT_PM_EVENT(MISALIGNED), accesses && bit(data3, 8));
	if (!accesses) {
		vt_pm_tell(row,
			   VT_PM_EVENT(DCACHE_MISS) | VT_PM_EVENT(L2_MISS) | VT_PM_EVENT(L3_MISS) |
				   VT_PM_EVENT(DTLB_MISS) | VT_PM_EVENT(REMOTE),
			   false);
		return;
	}
	if (width && width <= 7)
		vt_pm_set(row, VT_SAMPLE_WIDTH, UINT64_C(1) << (width - 1));
	set_op_address(row, g);
	set_op_caches(row, g, cpu);
}

enum vt_ibs_result vt_ibs_read_op(uint64_t *row, const uint8_t *raw, size_t size,
				  struct vt_ibs_cpu cpu)
{
	struct registers g = {0};

	if (!take_registers(&g, raw, size, OP_REGISTERS))
		return VT_IBS_CUT;
	if (!bit(g.r[OP_CTL], 17) || !bit(g.r[OP_CTL], 18))
		return VT_IBS_INVALID;
	vt_pm_tell(row, VT_PM_EVENT(RETIRED), true);
	vt_pm_tell(row, VT_PM_EVENT(MICROCODE), bit(g.r[OP_DATA], 40));
	vt_pm_set_latency(row, VT_SAMPLE_LAT_RETIRE, bits(g.r[OP_DATA], 0, 16), COUNTER_STOP);
	vt_pm_set_latency(row, VT_SAMPLE_LAT_DISPATCH, bits(g.r[OP_DATA], 16, 16), COUNTER_STOP);
	set_op_branch(row, &g);
	set_op_memory(row, &g, cpu);
	return bit(g.r[OP_DATA], 38) ? VT_IBS_NO_RIP : VT_IBS_READ;
}

/* ---- a fetch ---- */

enum fetch_register {
	FETCH_CTL,
	FETCH_LINEAR,
	FETCH_PHYSICAL,
	FETCH_REGISTERS, /* which all processors have */
	FETCH_EXTENDED = FETCH_REGISTERS,
};

/* Erratum 1347: the sizes of the first Zen 3 are others. */
static void set_fetch_page(uint64_t *row, const struct registers *g, struct vt_ibs_cpu cpu)
{
	static const uint64_t sizes[4] = {PAGE_4K, PAGE_2M, PAGE_1G, 0};
	static const uint64_t first_zen3[4] = {PAGE_4K, PAGE_16K, PAGE_2M, PAGE_1G};
	unsigned code = (unsigned)bits(g->r[FETCH_CTL], 53, 2);
	uint64_t page = is_first_zen3(cpu) ? first_zen3[code] : sizes[code];

	if (!bit(g->r[FETCH_CTL], 52))
		return;
	set_recorded(row, VT_SAMPLE_PHYS_ADDR, g->r[FETCH_PHYSICAL], HAS_PHYS_ADDR);
	if (page)
		set_recorded(row, VT_SAMPLE_CODE_PAGE_SIZE, page, HAS_CODE_PAGE_SIZE);
}

enum vt_ibs_result vt_ibs_read_fetch(uint64_t *row, const uint8_t *raw, size_t size,
				     struct vt_ibs_cpu cpu)
{
	struct registers g = {0};
	uint64_t ctl;
	bool complete, missed;

	if (!take_registers(&g, raw, size, FETCH_REGISTERS))
		return VT_IBS_CUT;
	ctl = g.r[FETCH_CTL];
	if (!bit(ctl, 48) || !bit(ctl, 49))
		return VT_IBS_INVALID;
	complete = bit(ctl, 50);
	missed = bit(ctl, 55);
	vt_pm_set_latency(row, VT_SAMPLE_LAT_FETCH, bits(ctl, 32, 16), COUNTER_STOP);
	vt_pm_tell(row, VT_PM_EVENT(ABORTED), !complete);
	/* Erratum 1238: the bit of the cache is wrong. */
	if (!is_first_zen3(cpu))
		vt_pm_tell(row, VT_PM_EVENT(ICACHE_MISS), bit(ctl, 51));
	if (complete)
		vt_pm_tell(row, VT_PM_EVENT(L2_MISS), bit(ctl, 58));
	if (complete && g.caps & CAPS_ZEN4)
		vt_pm_tell(row, VT_PM_EVENT(L3_MISS), bit(ctl, 61));
	vt_pm_tell(row, VT_PM_EVENT(ITLB_MISS), missed && bit(ctl, 56));
	if (missed && g.caps & CAPS_FETCH_EXTENDED && g.count > FETCH_EXTENDED)
		vt_pm_set_latency(row, VT_SAMPLE_LAT_TLB, bits(g.r[FETCH_EXTENDED], 0, 16),
				  COUNTER_STOP);
	set_fetch_page(row, &g, cpu);
	return VT_IBS_READ;
}
