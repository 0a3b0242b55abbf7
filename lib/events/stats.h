/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_EVENTS_STATS_H
#define VT_EVENTS_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "events/bins.h"
#include "events/check.h"
#include "stream/profileme.h"
#include "stream/record.h"
#include "stream/writer.h"

/*
 * What samples of followed instructions tell of each place, for each event that chose them: how
 * often each thing happened, and how long each stage took.  ProfileMe 5.1.  The space of a place is
 * bounded, however many samples there are.
 */
struct vt_evstats;

/* The totals of a place: things that happened, by their bits in `events`, then latencies. */
#define VT_EV_LATENCIES (VT_SAMPLE_LAT_DISPATCH - VT_SAMPLE_LAT_FETCH + 1)
#define VT_EV_STATS	(VT_PM_NEVENTS + VT_EV_LATENCIES)

/* EVSTAT's `what` of a total, and back: VT_EV_STATS if it is none of these. */
static inline unsigned vt_evstat_what(unsigned stat)
{
	return stat < VT_PM_NEVENTS ? stat : VT_STAT_LATENCIES + stat - VT_PM_NEVENTS;
}
unsigned vt_evstat_of(uint64_t what);

static inline bool vt_evstat_is_latency(unsigned stat)
{
	return stat >= VT_PM_NEVENTS;
}

/* What an event's samples are chosen from. */
enum vt_evpopulation {
	VT_EVPOP_UNKNOWN,
	VT_EVPOP_INSTRUCTIONS,
	VT_EVPOP_UOPS,	     /* micro-operations */
	VT_EVPOP_OPERATIONS, /* perhaps micro-operations: the implementation decides (SPE) */
	VT_EVPOP_CYCLES,     /* the next one at the end of so many cycles */
	VT_EVPOP_FETCHES,    /* blocks of code, not instructions */
};

enum vt_evdivision {
	VT_EVDIV_NONE,	 /* not wanted */
	VT_EVDIV_DONE,	 /* by the micro-operations of each instruction */
	VT_EVDIV_UNDONE, /* wanted, but for want of code or a model not done: everywhere, or */
	VT_EVDIV_PARTLY, /* somewhere, as also where the model does not know them */
};

struct vt_evevent {
	uint64_t id;
	enum vt_evpopulation population;
	enum vt_evdivision division;
	struct vt_evcheck check;
	uint64_t unlocated; /* samples whose code is not there */
	uint64_t unknown;   /* of those to divide: whose micro-operations the model does not know */
	bool joined;	    /* vt_evmeta_join() was called */
	bool estimated;	    /* there are EVSTAT records of it, and */
	uint64_t counted;   /* samples that are only counted (COUNT) */
};

/* A total: the numbers of an EVSTAT record. */
struct vt_evtotal {
	double samples;	 /* that tell of it */
	double had;	 /* of them, those that had the event, or have the latency */
	double least;	 /* of these, those whose counter had stopped */
	double k;	 /* instructions that it is known of */
	double sum;	 /* their events, or cycles */
	double sum2;	 /* of the squares of each */
	double variance; /* sum of squares of what each sample added to `sum` */
	double spread;	 /* of a latency: sum of squared distances from the place's mean, and */
	double freedom;	 /* its degrees of freedom; not in records */
};

/* Without padding, for a hash table. */
struct vt_evkey {
	uint64_t offset;
	uint32_t image;
	uint32_t event; /* index */
	int32_t pid;	/* of anonymous code, else 0 */
	uint32_t zero;
};

#define VT_EV_PATTERNS 4

struct vt_evlatency {
	uint64_t had;
	uint64_t least;
	double sum;
	double sum2;
	struct vt_evbins bins; /* of all samples, whatever their periods */
};

/*
 * The counts of a place.  Most machines sample with one period, so samples of that of the first are
 * only counted; what others add is in `other`.
 */
struct vt_evcounts {
	uint64_t period;
	uint64_t samples;
	uint64_t
		told[VT_EV_PATTERNS]; /* values of `events_told` and their samples: there are few */
	uint64_t ntold[VT_EV_PATTERNS];
	uint64_t rest[VT_PM_NEVENTS]; /* samples of other values that tell of each event */
	uint64_t had[VT_PM_NEVENTS];
	struct vt_evlatency latency[VT_EV_LATENCIES];
	struct vt_evtotal *other; /* by total; NULL: nothing */
	double others, other_k;	  /* samples and weight of these */
	double share;		  /* micro-operations of the instruction, to divide by; 1 */
};

/* Owned by the caller; NULL when memory runs out. */
struct vt_evstats *vt_evstats_new(void);
void vt_evstats_free(struct vt_evstats *s);

/* Finds or adds an event.  -VT_E_NOMEM. */
int vt_evstats_event(struct vt_evstats *s, uint64_t id, uint32_t *index, struct vt_error *err);
size_t vt_evstats_nevents(const struct vt_evstats *s);
struct vt_evevent *vt_evstats_event_at(const struct vt_evstats *s, size_t i);

/* Finds or adds a place; borrowed, and valid until the end.  NULL: out of memory. */
struct vt_evcounts *vt_evstats_add(struct vt_evstats *s, const struct vt_evkey *key);

/* Finds a place; NULL: there is none. */
struct vt_evcounts *vt_evstats_find(const struct vt_evstats *s, const struct vt_evkey *key);

size_t vt_evstats_nplaces(const struct vt_evstats *s);
struct vt_evcounts *vt_evstats_place(const struct vt_evstats *s, size_t i, struct vt_evkey *key);

/* Counts the told events of a sample whose `events_told` is in no pattern of the place. */
void vt_evcounts_tell(struct vt_evcounts *c, uint64_t told);

/* The totals that samples of other periods go into; NULL: out of memory. */
struct vt_evtotal *vt_evcounts_other(struct vt_evcounts *c);

/*
 * A total of a place, divided by its share.  Where an event of the machine is told only if it
 * happened, samples that do not tell of it are taken to tell that it did not: vt_evstats_settle().
 */
void vt_evstats_total(const struct vt_evstats *s, const struct vt_evkey *key,
		      const struct vt_evcounts *c, unsigned stat, struct vt_evtotal *total);

/* All samples of a place, and their weight: a total of which each sample tells. */
void vt_evcounts_all(const struct vt_evcounts *c, struct vt_evtotal *total);

/* Ends counting: finds events that are told only if they happened.  -VT_E_NOMEM. */
int vt_evstats_settle(struct vt_evstats *s, struct vt_error *err);

/* Adds to a sum of totals. */
void vt_evtotal_add(struct vt_evtotal *to, const struct vt_evtotal *t);

/*
 * Adds an EVSTAT record of an estimate at a place.  -VT_E_FORMAT: its numbers cannot be, and
 * nothing was added; -VT_E_NOMEM.
 */
int vt_evstats_record(struct vt_evstats *s, const struct vt_evkey *key, const struct vt_record *rec,
		      struct vt_error *err);

/* Adds the totals of a place of another, or this, vt_evstats.  -VT_E_NOMEM. */
int vt_evcounts_join(struct vt_evcounts *to, const struct vt_evstats *s, const struct vt_evkey *key,
		     struct vt_error *err);

/*
 * The 95 % interval of a total's sum; 0 to infinity if nothing shows that samples of its event are
 * random.
 */
void vt_evtotal_interval(const struct vt_evtotal *t, const struct vt_evevent *e, double *low,
			 double *high);

/* The mean of a latency and its 95 % interval; `all`: the latency in all places of the event. */
struct vt_evmean {
	double mean; /* NaN: it is not known */
	double low;
	double high;
};
struct vt_evmean vt_evtotal_mean(const struct vt_evtotal *t, const struct vt_evtotal *all,
				 const struct vt_evevent *e);

/*
 * Writes EVSTAT records, in the order of images, offsets and events, and META records of the
 * events.  -VT_E_NOMEM; errors of writing stick to `w`.
 */
int vt_evstats_write(const struct vt_evstats *s, struct vt_writer *w, struct vt_error *err);

/* The key of META that says whose micro-operations divided sums: vt_core.name. */
#define VT_EV_META_MODEL "vevent.model"

/*
 * The META record of an event: "ID POPULATION DIVISION SQUARES FREEDOM UNLOCATED".  Adds it to the
 * event; false: it is none, or contradicts itself.
 */
#define VT_EV_META "vevent.check"
bool vt_evmeta_parse(const struct vt_record *rec, struct vt_evevent *e);
void vt_evmeta_join(struct vt_evevent *to, const struct vt_evevent *from);

#endif
