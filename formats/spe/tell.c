/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/spe/tell.h"

#include <stdbool.h>
#include <stddef.h>

#include "stream/kinds.h"
#include "stream/profileme.h"

#define LOW_56	      ((UINT64_C(1) << 56) - 1)
#define TOP_BYTE      (UINT64_C(0xff) << 56)
#define HAS_PHYS_ADDR (1u << 19) /* PERF_SAMPLE_PHYS_ADDR */

/* PERF_RECORD_MISC_* of linux/perf_event.h */
#define MISC_KERNEL 1
#define MISC_USER   2

/* ---- addresses ---- */

static unsigned get_el(uint64_t payload)
{
	return payload >> 61 & 3;
}

/*
 * The top byte has the exception level and the security state.  The kernel runs at EL1, or at EL2
 * with the virtualization host extensions, in addresses whose top byte is all ones.
 */
uint64_t vt_spe_code_addr(uint64_t payload)
{
	const bool nonsecure = payload >> 63;
	const unsigned el = get_el(payload);

	return (payload & LOW_56) | (nonsecure && (el == 1 || el == 2) ? TOP_BYTE : 0);
}

/* Addresses of the kernel are known by bits 52 to 55; the top byte may be a tag. */
uint64_t vt_spe_data_addr(uint64_t payload)
{
	return (payload & LOW_56) | ((payload >> 52 & 15) == 15 ? TOP_BYTE : 0);
}

static uint64_t get_mode(uint64_t payload)
{
	switch (get_el(payload)) {
	case 0:
		return MISC_USER;
	case 1:
	case 2:
		return MISC_KERNEL;
	default:
		return 0;
	}
}

static void tell_addrs(uint64_t *row, const struct vt_spe_record *r)
{
	if (r->has & VT_SPE_HAS_ADDR(VT_SPE_PC)) {
		row[VT_SAMPLE_IP] = vt_spe_code_addr(r->addrs[VT_SPE_PC]);
		row[VT_SAMPLE_MISC] = get_mode(r->addrs[VT_SPE_PC]) | VT_MISC_EXACT_IP;
		row[VT_SAMPLE_HAS] |= VT_HAS_IP;
	}
	/* 0 stands for a target that was not recorded. */
	if (r->has & VT_SPE_HAS_ADDR(VT_SPE_TARGET) && r->addrs[VT_SPE_TARGET] & LOW_56)
		vt_pm_set(row, VT_SAMPLE_TARGET, vt_spe_code_addr(r->addrs[VT_SPE_TARGET]));
	if (r->has & VT_SPE_HAS_ADDR(VT_SPE_DATA)) {
		row[VT_SAMPLE_ADDR] = vt_spe_data_addr(r->addrs[VT_SPE_DATA]);
		row[VT_SAMPLE_HAS] |= VT_HAS_ADDR;
	}
	if (r->has & VT_SPE_HAS_ADDR(VT_SPE_PHYS)) {
		row[VT_SAMPLE_PHYS_ADDR] = r->addrs[VT_SPE_PHYS] & LOW_56;
		row[VT_SAMPLE_HAS] |= HAS_PHYS_ADDR;
	}
}

/* ---- events ---- */

/* Bits of an events packet. */
enum {
	EV_EXCEPTION = 0,
	EV_RETIRED = 1,
	EV_L1D_REFILL = 3,
	EV_TLB_WALK = 5,
	EV_NOT_TAKEN = 6,
	EV_MISPREDICTED = 7,
	EV_LLC_ACCESS = 8,
	EV_LLC_MISS = 9,
	EV_REMOTE = 10,
	EV_MISALIGNED = 11,
	EV_L2D_ACCESS = 19,
	EV_L2D_MISS = 20
};

/* Bits of the payload of a memory operation. */
#define MEM_STORE     0x01
#define MEM_ATOMIC    0x02 /* with MEM_IS_ATOMIC: one of MEM_LOCKED is set */
#define MEM_IS_ATOMIC 0xe2
#define MEM_LOCKED    0x1c /* atomic, exclusive, acquire or release */

static bool has_event(const struct vt_spe_record *r, unsigned bit)
{
	return r->events >> bit & 1;
}

static void tell_op(uint64_t *row, const struct vt_spe_record *r)
{
	const bool memory = r->op_class == VT_SPE_MEMORY, store = r->op & MEM_STORE;

	if (!(r->has & VT_SPE_HAS_OP) || r->op_class > VT_SPE_BRANCH)
		return;
	vt_pm_tell(row, VT_PM_EVENT(BRANCH), r->op_class == VT_SPE_BRANCH);
	vt_pm_tell(row, VT_PM_EVENT(LOAD), memory && !store);
	vt_pm_tell(row, VT_PM_EVENT(STORE), memory && store);
	vt_pm_tell(row, VT_PM_EVENT(LOCKED),
		   memory && (r->op & MEM_IS_ATOMIC) == MEM_ATOMIC && r->op & MEM_LOCKED);
}

/*
 * Bits that a processor need not have: 0 may mean that it does not count them.  So what they say is
 * told only where they, or those of accesses to the same cache, are set.
 */
static void tell_optional(uint64_t *row, const struct vt_spe_record *r)
{
	if (has_event(r, EV_LLC_ACCESS) || has_event(r, EV_LLC_MISS))
		vt_pm_tell(row, VT_PM_EVENT(L3_MISS), has_event(r, EV_LLC_MISS));
	if (has_event(r, EV_L2D_ACCESS) || has_event(r, EV_L2D_MISS))
		vt_pm_tell(row, VT_PM_EVENT(L2_MISS), has_event(r, EV_L2D_MISS));
	if (has_event(r, EV_REMOTE))
		vt_pm_tell(row, VT_PM_EVENT(REMOTE), true);
	if (has_event(r, EV_MISALIGNED))
		vt_pm_tell(row, VT_PM_EVENT(MISALIGNED), true);
}

static void tell_happened(uint64_t *row, const struct vt_spe_record *r)
{
	if (!(r->has & VT_SPE_HAS_EVENTS))
		return;
	vt_pm_tell(row, VT_PM_EVENT(TRAP), has_event(r, EV_EXCEPTION));
	vt_pm_tell(row, VT_PM_EVENT(RETIRED), has_event(r, EV_RETIRED));
	vt_pm_tell(row, VT_PM_EVENT(ABORTED), !has_event(r, EV_RETIRED));
	if (!(r->has & VT_SPE_HAS_OP))
		return;
	if (r->op_class == VT_SPE_BRANCH) {
		vt_pm_tell(row, VT_PM_EVENT(TAKEN), !has_event(r, EV_NOT_TAKEN));
		vt_pm_tell(row, VT_PM_EVENT(MISPREDICTED), has_event(r, EV_MISPREDICTED));
	} else if (r->op_class == VT_SPE_MEMORY) {
		vt_pm_tell(row, VT_PM_EVENT(DCACHE_MISS), has_event(r, EV_L1D_REFILL));
		vt_pm_tell(row, VT_PM_EVENT(DTLB_MISS), has_event(r, EV_TLB_WALK));
		tell_optional(row, r);
	}
}

/* ---- counters ---- */

/* Where a counter stops, in machines whose counters have 12 bits and in those with 16. */
#define STOP_12 0xfff
#define STOP_16 0xffff

static void tell_counters(uint64_t *row, const struct vt_spe_record *r)
{
	static const unsigned fields[VT_SPE_NCOUNTERS] = {
		[VT_SPE_TOTAL] = VT_SAMPLE_LAT_DISPATCH,
		[VT_SPE_ISSUE] = VT_SAMPLE_LAT_ISSUE,
		[VT_SPE_XLAT] = VT_SAMPLE_LAT_TLB,
	};
	unsigned i;

	for (i = 0; i < VT_SPE_NCOUNTERS; i++)
		if (r->has & VT_SPE_HAS_COUNTER(i))
			vt_pm_set_latency(row, fields[i], r->counters[i],
					  r->counters[i] == STOP_12 ? STOP_12 : STOP_16);
}

/* ---- data sources ---- */

#define MIDR_ARM    0x41
#define MIDR_HISI   0x48
#define MIDR_AMPERE 0xc0

/* Processors whose data sources are published: implementer and part of MIDR_EL1. */
enum encoding { COMMON, AMPEREONE, HISILICON, NENCODINGS };

static const struct {
	uint8_t implementer;
	uint16_t part;
	enum encoding encoding;
} processors[] = {
	{MIDR_ARM, 0xd0c, COMMON},	 /* Neoverse N1 */
	{MIDR_ARM, 0xd40, COMMON},	 /* Neoverse V1 */
	{MIDR_ARM, 0xd49, COMMON},	 /* Neoverse N2 */
	{MIDR_ARM, 0xd4f, COMMON},	 /* Neoverse V2 */
	{MIDR_ARM, 0xd4c, COMMON},	 /* Cortex-X1C */
	{MIDR_ARM, 0xd4e, COMMON},	 /* Cortex-X3 */
	{MIDR_ARM, 0xd81, COMMON},	 /* Cortex-A720 */
	{MIDR_ARM, 0xd85, COMMON},	 /* Cortex-X925 */
	{MIDR_ARM, 0xd87, COMMON},	 /* Cortex-A725 */
	{MIDR_AMPERE, 0xac4, AMPEREONE}, /* AmpereOne A */
	{MIDR_HISI, 0xd06, HISILICON},	 /* HIP12 */
};

/* Sources by the payload; those that are left out are not told apart, or not known. */
static const uint8_t sources[NENCODINGS][32] = {
	[COMMON] =
		{
			[0x0] = VT_SOURCE_L1,
			[0x8] = VT_SOURCE_L2,
			[0x9] = VT_SOURCE_PEER_NEAR, /* another core */
			[0xa] = VT_SOURCE_PEER_NEAR, /* in the same cluster */
			[0xb] = VT_SOURCE_L3,	     /* the system's cache */
			[0xc] = VT_SOURCE_PEER_NEAR, /* another cluster */
			[0xd] = VT_SOURCE_PEER_FAR,
			[0xe] = VT_SOURCE_DRAM,
		},
	/* 0 is a cache of another core or a device. */
	[AMPEREONE] =
		{
			[0x3] = VT_SOURCE_L3, /* the system's cache */
			[0x5] = VT_SOURCE_PEER_FAR,
			[0x7] = VT_SOURCE_DRAM,
			[0x8] = VT_SOURCE_L1,
			[0x9] = VT_SOURCE_L2,
		},
	[HISILICON] =
		{
			[0] = VT_SOURCE_PEER_NEAR,
			[1] = VT_SOURCE_PEER_NEAR,
			[2] = VT_SOURCE_L3,
			[3] = VT_SOURCE_L3,
			[4] = VT_SOURCE_PEER_NEAR,
			[5] = VT_SOURCE_PEER_NEAR,
			[6] = VT_SOURCE_PEER_FAR,
			[7] = VT_SOURCE_PEER_FAR,
			[8] = VT_SOURCE_DRAM,
			[9] = VT_SOURCE_DRAM_FAR,
			[13] = VT_SOURCE_UNCACHED,
			[16] = VT_SOURCE_L2,
			[17] = VT_SOURCE_L2,
			[18] = VT_SOURCE_L1,
		},
};

unsigned vt_spe_source(uint64_t payload, uint64_t midr)
{
	size_t i;

	for (i = 0; i < sizeof(processors) / sizeof(processors[0]); i++) {
		if ((midr >> 24 & 0xff) == processors[i].implementer &&
		    (midr >> 4 & 0xfff) == processors[i].part)
			return payload < 32 ? sources[processors[i].encoding][payload]
					    : VT_SOURCE_UNKNOWN;
	}
	return VT_SOURCE_UNKNOWN;
}

/* What it means for a store is published of no processor. */
static void tell_source(uint64_t *row, const struct vt_spe_record *r, uint64_t midr)
{
	unsigned source;

	if (!(r->has & VT_SPE_HAS_SOURCE) || !(r->has & VT_SPE_HAS_OP) ||
	    r->op_class != VT_SPE_MEMORY || r->op & MEM_STORE)
		return;
	source = vt_spe_source(r->source, midr);
	if (source != VT_SOURCE_UNKNOWN)
		vt_pm_set(row, VT_SAMPLE_SOURCE, source);
}

void vt_spe_tell(uint64_t *row, const struct vt_spe_record *r, uint64_t midr)
{
	tell_addrs(row, r);
	tell_op(row, r);
	tell_happened(row, r);
	tell_counters(row, r);
	tell_source(row, r, midr);
}
