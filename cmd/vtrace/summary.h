/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_VTRACE_SUMMARY_H
#define CMD_VTRACE_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/intern.h"
#include "cmd/vtrace/executed.h"
#include "cmd/vtrace/info_missing.h"
#include "cmd/vtrace/info_pt.h"
#include "cmd/vtrace/names.h"
#include "stream/reader.h"
#include "stream/record.h"

/*
 * What a stream holds, gathered in one pass.  Memory grows with the number of events, images,
 * facts, threads and instructions of code, not with the number of records; and not beyond
 * SUMMARY_MAX of each.
 */
#define SUMMARY_MAX 1000000

/* Samples of one event, of SAMPLE and COUNT records together. */
struct summary_event {
	uint64_t id;
	uint64_t samples;
	uint64_t period;   /* sum */
	uint64_t exact_ip; /* samples with PERF_RECORD_MISC_EXACT_IP */
};

/* Gaps for one reason, or records lost at one source. */
struct summary_loss {
	uint64_t text; /* strings */
	uint64_t places;
	uint64_t bytes;
	uint64_t records;
};

struct summary_thread {
	int64_t pid;
	int64_t tid;
};

struct summary_fact {
	uint32_t key; /* strings */
	uint32_t value;
	uint64_t bytes; /* of data that is not text */
};

struct summary {
	uint64_t bytes; /* of the file or pipe that all this is from */
	uint64_t records;
	uint64_t *kinds; /* records by kind, as many as the schema has */
	uint32_t nkinds;
	struct names names;
	struct vt_intern *strings;
	struct vt_hash events;	/* struct summary_event */
	struct vt_hash gaps;	/* struct summary_loss */
	struct vt_hash lost;	/* struct summary_loss */
	struct vt_hash threads; /* struct summary_thread */
	struct vt_hash processes;
	struct summary_fact *facts;
	size_t nfacts;
	size_t facts_cap;
	struct missing_code missing;
	struct executed executed;
	struct pt_info pt;
	bool timed; /* some record has a time */
	uint64_t first_time;
	uint64_t last_time;
	bool capped; /* something met SUMMARY_MAX: its number is too low */
};

/* VT_E_NOMEM; summary_fini() is needed all the same. */
int summary_init(struct summary *s, const struct vt_schema *schema, struct vt_error *err);
void summary_fini(struct summary *s);

/* Takes a run of records; `arg` is the summary. */
int summary_feed(void *arg, const struct vt_block *b, uint32_t first, uint32_t count,
		 struct vt_error *err);

/* To be called at the end: counts what ran, gives events that were never declared a name. */
int summary_finish(struct summary *s, struct vt_error *err);

/* The event's own, all 0 if nothing was sampled. */
struct summary_event summary_of_event(const struct summary *s, uint64_t id);

/* Sums over a table of struct summary_loss. */
struct summary_loss summary_total(const struct vt_hash *losses);

#endif
