/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_PROFILEME_H
#define VT_STREAM_PROFILEME_H

#include <stdbool.h>
#include <stdint.h>

#include "stream/kinds.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What a sample tells of one instruction that was followed through the machine.  A field is known
 * if its bit is set in `pm_has`; else it is 0 and says nothing.  A latency whose bit is also set in
 * `pm_least` is where its counter stopped: it took that long or longer.  What each machine
 * measures, and from what to what, is in profileme(7); fields of two machines are not comparable.
 */

/*
 * A stream with this META record has a sample of each miss of the first data cache: each load and
 * store that missed, in each line that it missed.  It comes ahead of the EXEC record of the code,
 * in which it is at the instruction `position` of the process.  `set` is that of the cache;
 * `evicted` is known if a line had to go for the one that came.  One that waited for a line that
 * was on its way has the source `fill-buffer`.  Further META records tell of the cache.
 */
#define VT_MISSES_META	    "misses"
#define VT_MISSES_META_SETS "misses.sets"
#define VT_MISSES_META_WAYS "misses.ways"
#define VT_MISSES_META_LINE "misses.line"

/* The bit of SAMPLE field VT_SAMPLE_`field` in `pm_has` and `pm_least`: VT_PM_BIT(LAT_LOAD). */
#define VT_PM_BIT(field)     VT_PM_BIT_OF(VT_SAMPLE_##field)
#define VT_PM_BIT_OF(number) (UINT64_C(1) << ((number)-VT_SAMPLE_EVENTS))

/* The number of bits: fields from VT_SAMPLE_EVENTS on. */
#define VT_PM_NBITS (VT_SAMPLE_EVICTED - VT_SAMPLE_EVENTS + 1)

/* Whether the field with this number is one that has a bit in `pm_has`. */
static inline bool vt_pm_is_field(unsigned number)
{
	return number >= VT_SAMPLE_EVENTS && number <= VT_SAMPLE_EVICTED;
}

/* Sets a field of a row of SAMPLE, which has a bit in `pm_has`, and the bit. */
static inline void vt_pm_set(uint64_t *row, unsigned field, uint64_t value)
{
	row[field] = value;
	row[VT_SAMPLE_PM_HAS] |= VT_PM_BIT_OF(field);
}

/* Sets a latency; that of a counter which has stopped at `stop` took that long or longer. */
static inline void vt_pm_set_latency(uint64_t *row, unsigned field, uint64_t cycles, uint64_t stop)
{
	vt_pm_set(row, field, cycles);
	if (cycles >= stop)
		row[VT_SAMPLE_PM_LEAST] |= VT_PM_BIT_OF(field);
}

/* Tells of one or more events (VT_PM_EVENT()) whether they happened. */
static inline void vt_pm_tell(uint64_t *row, uint64_t events, bool happened)
{
	row[VT_SAMPLE_EVENTS_TOLD] |= events;
	row[VT_SAMPLE_EVENTS] |= happened ? events : 0;
	row[VT_SAMPLE_PM_HAS] |= VT_PM_BIT(EVENTS);
}

/*
 * Bits of `events`: what happened to the instruction.  Bits that are not set in `events_told` are
 * unknown, whatever `events` has.
 */
enum vt_pm_event {
	VT_PM_RETIRED,
	VT_PM_ABORTED, /* it was fetched and thrown away */
	VT_PM_ICACHE_MISS,
	VT_PM_DCACHE_MISS, /* in the first data cache */
	VT_PM_L2_MISS,
	VT_PM_L3_MISS,
	VT_PM_ITLB_MISS, /* in all levels: the page table was walked */
	VT_PM_DTLB_MISS, /* likewise */
	VT_PM_BRANCH,
	VT_PM_TAKEN,
	VT_PM_MISPREDICTED,
	VT_PM_LOAD,
	VT_PM_STORE,
	VT_PM_LOCKED,
	VT_PM_PREFETCH, /* by an instruction */
	VT_PM_MICROCODE,
	VT_PM_MISALIGNED,
	VT_PM_REMOTE,	 /* the data came from another socket or node */
	VT_PM_FORWARDED, /* the data came from a store that was still under way */
	VT_PM_TRAP,
	VT_PM_NEVENTS
};

#define VT_PM_EVENT(event) (UINT64_C(1) << VT_PM_##event)

/* `source`: what answered a load or a store; one list for all machines. */
enum vt_source {
	VT_SOURCE_UNKNOWN,
	VT_SOURCE_L1,
	VT_SOURCE_FILL_BUFFER, /* a miss to the same line was under way */
	VT_SOURCE_L2,
	VT_SOURCE_L3,
	VT_SOURCE_L4,
	VT_SOURCE_PEER_NEAR, /* a cache of another core or cluster, in the same socket or node */
	VT_SOURCE_PEER_FAR,  /* a cache in another socket or node */
	VT_SOURCE_CACHE,     /* a cache of this node, it is not told which one */
	VT_SOURCE_DRAM,
	VT_SOURCE_DRAM_FAR,
	VT_SOURCE_PMEM,	    /* persistent memory */
	VT_SOURCE_EXTENDED, /* memory behind CXL or the like */
	VT_SOURCE_IO,
	VT_SOURCE_UNCACHED,
	VT_SOURCE_FORWARD, /* a store that was still under way */
	VT_NSOURCES
};

/* `trap`: why an instruction did not retire, or what it trapped for. */
enum vt_trap {
	VT_TRAP_NONE,
	VT_TRAP_WRONG_PATH, /* a branch before it was mispredicted */
	VT_TRAP_ORDER,	    /* a load passed a store to the same bytes */
	VT_TRAP_TLB,
	VT_TRAP_FAULT,
	VT_TRAP_INTERRUPT,
	VT_TRAP_OTHER,
	VT_NTRAPS
};

/*
 * `what` of EVSTAT.  The first are events, by their bits: 1 for an instruction that had it.  Then
 * come the latencies in cycles, in the order of SAMPLE's fields: VT_STAT_OF(LAT_MAP).
 */
enum vt_stat {
	VT_STAT_LATENCIES = 32,
	/* Cycles in progress: from fetch to retire-ready, or to the abort. */
	VT_STAT_IN_PROGRESS = 48,
	/* Other instructions that issue in these cycles and retire. */
	VT_STAT_USEFUL,
	/* Issue slots of these cycles, less what is useful. */
	VT_STAT_WASTED,
	VT_NSTATS
};

#define VT_STAT_OF(field) (VT_STAT_LATENCIES + (VT_SAMPLE_##field - VT_SAMPLE_LAT_FETCH))

/* Return the name of a value above, as `vtrace dump` prints it, or "?" for an unknown value. */
const char *vt_pm_source_name(uint64_t source);
const char *vt_pm_trap_name(uint64_t trap);
const char *vt_stat_name(uint64_t stat);

/* Returns the name of the event with this bit number, or "?". */
const char *vt_pm_event_name(unsigned bit);

#ifdef __cplusplus
}
#endif
#endif
