/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_SUMMARY_SUMMARY_H
#define VT_SUMMARY_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/intern.h"
#include "stream/record.h"
#include "stream/schema.h"
#include "summary/decoded_trace.h"
#include "summary/executed_code.h"
#include "summary/missing_code.h"
#include "summary/names.h"

/*
 * What a stream holds, gathered in one pass.  Memory grows with the number of events, images,
 * facts, threads and instructions of code, up to VT_SUMMARY_MAX of each, but not with the number of
 * records.
 */
#define VT_SUMMARY_MAX 1000000

/* Samples of one event: of SAMPLE and COUNT records together. */
struct vt_event_total {
	uint64_t id;
	uint64_t samples;
	uint64_t period;   /* sum */
	uint64_t exact_ip; /* samples with PERF_RECORD_MISC_EXACT_IP */
};

/* Gaps for one reason, or records lost at one source. */
struct vt_loss_total {
	uint64_t text; /* strings */
	uint64_t places;
	uint64_t bytes;
	uint64_t records;
};

/* A META record: what is known of the recording. */
struct vt_fact {
	uint32_t key; /* strings */
	uint32_t value;
	uint64_t bytes; /* of data that is not text */
};

struct vt_summary {
	uint64_t bytes; /* of the input; the caller sets it */
	uint64_t records;
	uint64_t *kinds; /* records by kind, as many as the schema has */
	uint32_t nkinds;
	struct vt_names names;
	struct vt_intern *strings;
	struct vt_hash events;	/* struct vt_event_total */
	struct vt_hash gaps;	/* struct vt_loss_total */
	struct vt_hash lost;	/* struct vt_loss_total */
	struct vt_hash threads; /* pairs of int64_t: pid, tid */
	struct vt_hash processes;
	struct vt_fact *facts;
	size_t nfacts;
	size_t facts_cap;
	struct vt_missing_code missing;
	struct vt_executed_code executed;
	struct vt_decoded_trace trace;
	bool timed; /* a record has a time; ns */
	uint64_t first_time;
	uint64_t last_time;
	bool capped; /* something reached VT_SUMMARY_MAX: its count is too low */
};

/* -VT_E_NOMEM.  vt_summary_fini() is needed in both cases. */
int vt_summary_init(struct vt_summary *s, const struct vt_schema *schema, struct vt_error *err);
void vt_summary_fini(struct vt_summary *s);

/* Takes `count` rows of a block from row `first` on.  -VT_E_NOMEM. */
int vt_summary_feed(struct vt_summary *s, const struct vt_block *b, uint32_t first, uint32_t count,
		    struct vt_error *err);

/*
 * Ends the stream: counts distinct code, and adds sampled events that were never declared to the
 * names.  -VT_E_NOMEM.
 */
int vt_summary_finish(struct vt_summary *s, struct vt_error *err);

/* The total of an event; all 0 if it has no samples. */
struct vt_event_total vt_summary_of_event(const struct vt_summary *s, uint64_t id);

/* The sum of a table of struct vt_loss_total. */
struct vt_loss_total vt_summary_loss_sum(const struct vt_hash *losses);

#endif
