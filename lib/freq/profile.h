/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FREQ_PROFILE_H
#define VT_FREQ_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "profile/profile.h"
#include "stream/kinds.h"
#include "stream/record.h"

/* The FREQ, EDGE, STALL, REGION, MISPREDICT and LOADS records of a stream, by place. */
struct vt_freqprofile;

/* What a FREQ record tells of its place.  Without padding: equal ones have equal bytes. */
struct vt_freq {
	uint32_t image;
	uint16_t confidence; /* enum vt_confidence */
	uint16_t method;     /* enum vt_method */
	uint64_t event;
	uint64_t samples;
	uint64_t period;
	double executions;
	double low;
	double high;
	double cycles;
	double issue;
};

/* There are millions, most of which tell what the one before does, and share that. */
struct vt_freq_at {
	uint64_t offset;
	const struct vt_freq *freq;
};

struct vt_edgefreq {
	uint32_t image;
	uint8_t confidence; /* enum vt_confidence */
	uint8_t method;	    /* enum vt_method */
	uint64_t from;
	uint64_t to;
	double executions;
	double low;
	double high;
};

struct vt_stall {
	uint32_t image;
	uint64_t offset;
	enum vt_stall_cause cause;
	double low;
	double high;
	double cycles; /* of the stall, which its causes share; 0: not told */
	double bound;
	enum vt_stall_why why;
	uint32_t flags; /* enum vt_stall_flags */
	uint64_t *culprits;
	uint32_t nculprits;
	enum vt_confidence confidence;
};

/* Whether a stall's cause was ruled out: listings tell why, and nothing adds it up. */
static inline bool vt_stall_is_acquittal(const struct vt_stall *s)
{
	return vt_why_acquits(s->why);
}

/* A REGION record: loops, and what is outside of them, of a machine that issues out of order. */
struct vt_regionfreq {
	uint32_t image;
	uint64_t offset; /* of its first instruction */
	uint64_t event;
	uint64_t samples;
	double visits;
	double rounds;
	double insns;  /* of each round, as what follows */
	double cycles; /* with the 90 % interval: */
	double low;
	double high;
	double best;
	double least;
	double with_calls; /* cycles with those of what it calls, and the 90 % interval */
	double with_calls_low;
	double with_calls_high;
	uint32_t flags;	  /* enum vt_region_flags */
	uint64_t *ranges; /* pairs of offsets, begin and end */
	uint32_t nranges; /* words, two for each pair */
};

/* A MISPREDICT record: what branch stacks tell of the taken branches at a place. */
struct vt_mispredict {
	uint32_t image;
	uint64_t offset;
	uint64_t event;
	uint64_t branches; /* whose prediction the processor noted */
	uint64_t mispredicted;
	double cost;	  /* cycles of each of these */
	double deviation; /* of `cost`; infinite: not known */
};

/* A LOADS record: what samples tell of loads at a place. */
struct vt_sampled_loads {
	uint32_t image;
	uint64_t offset;
	uint64_t event;
	uint64_t cache_known; /* samples that tell whether the first data cache was hit */
	uint64_t cache_missed;
	uint64_t tlb_known; /* whether a TLB was hit */
	uint64_t tlb_missed;
};

/* Owned by the caller; NULL when memory runs out. */
struct vt_freqprofile *vt_freqprofile_new(void);
void vt_freqprofile_free(struct vt_freqprofile *p);

/*
 * A vt_consume_fn (profile/context.h); `profile` is the struct vt_freqprofile.  Ignores other
 * kinds.  -VT_E_NOMEM; -VT_E_FORMAT: impossible numbers.
 */
int vt_freqprofile_feed(void *profile, const struct vt_block *block, uint32_t first, uint32_t count,
			struct vt_error *err);

/* Sorts the records.  Call it after the last one. */
void vt_freqprofile_finish(struct vt_freqprofile *p);

/* The images (uint32_t) that have FREQ records, in the order of the first.  Borrowed. */
const struct vt_hash *vt_freqprofile_images(const struct vt_freqprofile *p);

/*
 * Counts the cycles of each instruction in another profile as VT_PROFILE_CYCLES.  Listings rank
 * procedures by them where the stream has no samples.  -VT_E_NOMEM.
 */
int vt_freqprofile_count_cycles(const struct vt_freqprofile *p, struct vt_profile *profile,
				struct vt_error *err);

/*
 * The *count records of an image at offsets [first, end), in order of offset and event; edges in
 * order of `from` and `to`, stalls of offset, a region's behind its first instruction's, and cause.
 * NULL if there are none.  Borrowed.
 */
const struct vt_freq_at *vt_freqprofile_freqs(const struct vt_freqprofile *p, uint32_t image,
					      uint64_t first, uint64_t end, size_t *count);
const struct vt_edgefreq *vt_freqprofile_edges(const struct vt_freqprofile *p, uint32_t image,
					       uint64_t first, uint64_t end, size_t *count);
const struct vt_stall *vt_freqprofile_stalls(const struct vt_freqprofile *p, uint32_t image,
					     uint64_t first, uint64_t end, size_t *count);

/* The same of causes that were ruled out, which are not among the stalls. */
const struct vt_stall *vt_freqprofile_acquittals(const struct vt_freqprofile *p, uint32_t image,
						 uint64_t first, uint64_t end, size_t *count);
const struct vt_regionfreq *vt_freqprofile_regions(const struct vt_freqprofile *p, uint32_t image,
						   uint64_t first, uint64_t end, size_t *count);
const struct vt_mispredict *vt_freqprofile_mispredicts(const struct vt_freqprofile *p,
						       uint32_t image, uint64_t first, uint64_t end,
						       size_t *count);
const struct vt_sampled_loads *vt_freqprofile_loads(const struct vt_freqprofile *p, uint32_t image,
						    uint64_t first, uint64_t end, size_t *count);

/*
 * Whether what is lost at a place was looked into: it is in a region whose time is known well
 * enough for claims (VT_REGION_IS_WIDE).  True of a stream without regions, whose instructions are
 * each looked into.
 */
bool vt_freqprofile_is_judged(const struct vt_freqprofile *p, uint32_t image, uint64_t offset);

/*
 * The share of time that something takes of loops that nothing stalls: see vt_clockfit_slowed().
 * 0 if nothing tells.
 */
double vt_freqprofile_slowed(const struct vt_freqprofile *p);

#endif
