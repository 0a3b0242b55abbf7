/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/profileme.h"

static const char *const events[VT_PM_NEVENTS] = {
	[VT_PM_RETIRED] = "retired",
	[VT_PM_ABORTED] = "aborted",
	[VT_PM_ICACHE_MISS] = "icache_miss",
	[VT_PM_DCACHE_MISS] = "dcache_miss",
	[VT_PM_L2_MISS] = "l2_miss",
	[VT_PM_L3_MISS] = "l3_miss",
	[VT_PM_ITLB_MISS] = "itlb_miss",
	[VT_PM_DTLB_MISS] = "dtlb_miss",
	[VT_PM_BRANCH] = "branch",
	[VT_PM_TAKEN] = "taken",
	[VT_PM_MISPREDICTED] = "mispredicted",
	[VT_PM_LOAD] = "load",
	[VT_PM_STORE] = "store",
	[VT_PM_LOCKED] = "locked",
	[VT_PM_PREFETCH] = "prefetch",
	[VT_PM_MICROCODE] = "microcode",
	[VT_PM_MISALIGNED] = "misaligned",
	[VT_PM_REMOTE] = "remote",
	[VT_PM_FORWARDED] = "forwarded",
	[VT_PM_TRAP] = "trap",
};

static const char *const sources[VT_NSOURCES] = {
	[VT_SOURCE_UNKNOWN] = "unknown",
	[VT_SOURCE_L1] = "l1",
	[VT_SOURCE_FILL_BUFFER] = "fill-buffer",
	[VT_SOURCE_L2] = "l2",
	[VT_SOURCE_L3] = "l3",
	[VT_SOURCE_L4] = "l4",
	[VT_SOURCE_PEER_NEAR] = "peer-near",
	[VT_SOURCE_PEER_FAR] = "peer-far",
	[VT_SOURCE_CACHE] = "cache",
	[VT_SOURCE_DRAM] = "dram",
	[VT_SOURCE_DRAM_FAR] = "dram-far",
	[VT_SOURCE_PMEM] = "pmem",
	[VT_SOURCE_EXTENDED] = "extended",
	[VT_SOURCE_IO] = "io",
	[VT_SOURCE_UNCACHED] = "uncached",
	[VT_SOURCE_FORWARD] = "forward",
};

static const char *const traps[VT_NTRAPS] = {
	[VT_TRAP_NONE] = "none",   [VT_TRAP_WRONG_PATH] = "wrong-path",
	[VT_TRAP_ORDER] = "order", [VT_TRAP_TLB] = "tlb",
	[VT_TRAP_FAULT] = "fault", [VT_TRAP_INTERRUPT] = "interrupt",
	[VT_TRAP_OTHER] = "other",
};

static const char *const stats[VT_NSTATS] = {
	[VT_STAT_OF(LAT_FETCH)] = "lat_fetch", [VT_STAT_OF(LAT_MAP)] = "lat_map",
	[VT_STAT_OF(LAT_READY)] = "lat_ready", [VT_STAT_OF(LAT_ISSUE)] = "lat_issue",
	[VT_STAT_OF(LAT_EXEC)] = "lat_exec",   [VT_STAT_OF(LAT_RETIRE)] = "lat_retire",
	[VT_STAT_OF(LAT_LOAD)] = "lat_load",   [VT_STAT_OF(LAT_TLB)] = "lat_tlb",
	[VT_STAT_OF(LAT_TOTAL)] = "lat_total", [VT_STAT_OF(LAT_DISPATCH)] = "lat_dispatch",
	[VT_STAT_IN_PROGRESS] = "in_progress", [VT_STAT_USEFUL] = "useful",
	[VT_STAT_WASTED] = "wasted",
};

const char *vt_stat_name(uint64_t stat)
{
	if (stat < VT_STAT_LATENCIES)
		return vt_pm_event_name((unsigned)stat);
	return stat < VT_NSTATS && stats[stat] ? stats[stat] : "?";
}

const char *vt_pm_source_name(uint64_t source)
{
	return source < VT_NSOURCES ? sources[source] : "?";
}

const char *vt_pm_trap_name(uint64_t trap)
{
	return trap < VT_NTRAPS ? traps[trap] : "?";
}

const char *vt_pm_event_name(unsigned bit)
{
	return bit < VT_PM_NEVENTS ? events[bit] : "?";
}
