/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_SUMMARY_SUMMARY_H
#define VT_SUMMARY_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/intern.h"
#include "profile/context.h"
#include "profile/executions.h"
#include "stream/record.h"
#include "stream/schema.h"
#include "summary/followed.h"
#include "summary/names.h"

/*
 * A summary of a stream's content, made in one pass.  Memory grows with the number of events,
 * images, facts, threads and distinct instructions, up to VT_SUMMARY_MAX of each, not with the
 * number of records.
 */
#define VT_SUMMARY_MAX 1000000

/* The samples of an event, in SAMPLE and COUNT records. */
struct vt_event_total {
	uint64_t id;
	uint64_t samples;
	uint64_t period;   /* sum */
	uint64_t exact_ip; /* samples with PERF_RECORD_MISC_EXACT_IP */
};

/* The gaps of one reason, or the losses at one source. */
struct vt_loss_total {
	uint64_t text; /* strings */
	uint64_t places;
	uint64_t bytes;
	uint64_t records;
};

/* A META record: a fact about the recording. */
struct vt_fact {
	uint32_t key; /* strings */
	uint32_t value;
	uint64_t bytes; /* of data that is not text */
};

/*
 * Code that the decoder of a processor trace lacked: GAP records of VT_REASON_NO_CODE with an
 * address, grouped by image, or by MiB of unmapped addresses.
 */
struct vt_missing_range {
	uint64_t image; /* key: the id of its IMAGE record, or VT_MISSING_UNMAPPED; */
	uint64_t mib;	/* key: 0 in an image, else the address of the MiB */
	uint64_t places;
	uint64_t bytes; /* of the trace that could not be decoded */
	uint64_t first; /* lowest and highest offset in the image, or address */
	uint64_t last;
};

#define VT_MISSING_UNMAPPED UINT64_MAX

/* The maximum number of ranges. */
#define VT_MISSING_RANGES 1000000

/* The values of one kind. */
struct vt_value_total {
	uint64_t count;
	uint64_t bytes;
};

/* The executed code and the values in a stream. */
struct vt_executed_code {
	struct vt_execcount *count;
	uint64_t bad;		 /* records that contradict themselves, left out */
	uint64_t blocks;	 /* distinct blocks executed at least in part */
	uint64_t insns;		 /* distinct instructions executed, by process and address */
	uint64_t ends[VT_NENDS]; /* executions of a block's last instruction */
	struct vt_value_total values[VT_NWHATS]; /* in VALUE records and executed blocks */
};

/* The maximum number of names of PACKETS records. */
#define VT_PACKET_NAMES 4096

/* A span of time. */
struct vt_trace_span {
	bool known; /* there is a TSC */
	uint64_t first_tsc;
	uint64_t last_tsc;
	uint64_t first_time; /* ns; 0: not known */
	uint64_t last_time;
};

/* The sum of the PACKETS records of one name. */
struct vt_packet_total {
	uint64_t name; /* strings */
	uint64_t count;
	uint64_t bytes;
};

/* The totals of decoded processor traces, from EXEC, TRACE and PACKETS records. */
struct vt_decoded_trace {
	uint64_t events[VT_NTRACES];
	uint64_t nevents; /* TRACE records, those of unknown events too */
	struct vt_intern *strings;
	struct vt_hash packets;	   /* struct vt_packet_total; the empty name is the total */
	uint64_t bytes;		   /* of all traces */
	struct vt_trace_span span; /* the caller sets the times, if it knows them */
	uint64_t cycles;	   /* reported by CYC packets while something was executed */
	/* Private: the end of the last EXEC record. */
	int64_t last_tid;
	uint64_t last_cycles;
};

/* What ACCESSES, OBJECT and LOCATION records say of themselves, summed. */
struct vt_memory_profile {
	bool told; /* there are totals (ACCESSES) */
	uint64_t grain;
	uint64_t depth;
	uint64_t insns; /* 0: of samples */
	uint64_t samples;
	uint64_t loads;
	uint64_t stores;
	uint64_t objects[VT_NOBJECTTYPES]; /* by type */
	uint64_t nobjects;		   /* those of unknown types too */
	uint64_t locations;
	/* What was not written. */
	uint64_t objects_left_out;
	uint64_t locations_left_out;
	uint64_t accesses_left_out; /* of these locations */
};

struct vt_summary {
	uint64_t bytes; /* of the input; set by the caller */
	uint64_t records;
	uint64_t *kinds; /* records by kind of the schema */
	uint32_t nkinds;
	struct vt_names names;
	struct vt_intern *strings;
	struct vt_hash events;	 /* struct vt_event_total */
	struct vt_hash followed; /* struct vt_followed_total */
	struct vt_walk_total walks[VT_NWALKSTOPS];
	struct vt_hash gaps;	/* struct vt_loss_total */
	struct vt_hash lost;	/* struct vt_loss_total */
	struct vt_hash threads; /* pairs of int64_t: pid, tid */
	struct vt_hash processes;
	struct vt_fact *facts;
	size_t nfacts;
	size_t facts_cap;
	struct vt_context *context; /* its blocks and mappings */
	struct vt_hash missing;	    /* struct vt_missing_range */
	struct vt_executed_code executed;
	struct vt_decoded_trace trace;
	struct vt_memory_profile memory;
	bool timed; /* a record has a time; ns */
	uint64_t first_time;
	uint64_t last_time;
	bool capped; /* a number reached VT_SUMMARY_MAX and is too low */
};

/* -VT_E_NOMEM.  Call vt_summary_fini() also after an error. */
int vt_summary_init(struct vt_summary *s, const struct vt_schema *schema, struct vt_error *err);
void vt_summary_fini(struct vt_summary *s);

/* Takes `count` rows of a block from row `first` on.  -VT_E_NOMEM. */
int vt_summary_feed(struct vt_summary *s, const struct vt_block *b, uint32_t first, uint32_t count,
		    struct vt_error *err);

/*
 * Ends the stream: counts distinct code, and adds the sampled events that were not declared to
 * `names`.  -VT_E_NOMEM.
 */
int vt_summary_finish(struct vt_summary *s, struct vt_error *err);

/* The total of an event; 0 without samples. */
struct vt_event_total vt_summary_of_event(const struct vt_summary *s, uint64_t id);

/*
 * The s->missing.count ranges of missing code, by descending places, then image and address.  Owned
 * by the caller; NULL when memory runs out.
 */
struct vt_missing_range *vt_summary_missing(const struct vt_summary *s);

/* The sum of a table of struct vt_loss_total. */
struct vt_loss_total vt_summary_loss_sum(const struct vt_hash *losses);

#endif
