/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_VTRACE_INFO_PT_H
#define CMD_VTRACE_INFO_PT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/intern.h"
#include "base/output.h"
#include "base/table.h"
#include "formats/pt/decode/emit.h"
#include "formats/pt/decode/scan.h"
#include "stream/record.h"

/*
 * What vtrace info tells of Intel PT: the packets of traces that are not decoded (AUXTRACE records,
 * or a raw trace), and what came of those that are (EXEC, TRACE and PACKETS records).
 */

#define PT_INFO_TRACES 4096 /* that are told apart, and names of packets */
#define PT_INFO_EVENTS 64   /* descriptions of events that are looked at */

/* A trace: the AUX area of a processor or a thread. */
struct pt_trace {
	uint64_t index;
	int64_t cpu; /* -1: not known */
	int64_t tid;
	uint64_t next; /* offset in the AUX area of what continues it */
	struct vt_pt_scan scan;
};

/* The sum of PACKETS records of one name. */
struct pt_packets {
	uint64_t name; /* strings */
	uint64_t count;
	uint64_t bytes;
};

struct pt_info {
	struct vt_hash traces; /* struct pt_trace */
	struct vt_pt_timeconv conv;
	struct vt_pt_options options; /* the clock, the processor */
	bool found;		      /* AUX areas hold Intel PT */
	/* Of decoded traces. */
	uint64_t events[VT_NTRACES];
	uint64_t nevents;
	struct vt_intern *strings;
	struct vt_hash packets; /* struct pt_packets */
	uint64_t bytes;		/* of all traces that were decoded */
	bool timed;
	uint64_t first_tsc;
	uint64_t last_tsc;
	uint64_t cycles; /* that CYC packets told while something was executed */
	/* Not for others. */
	uint64_t pmu;	   /* type of its events */
	uint64_t mtc_bits; /* of their configuration */
	struct pt_run {
		int64_t tid;
		uint64_t cycles;
	} last; /* EXEC record */
	struct {
		uint64_t type;
		uint64_t config;
	} described[PT_INFO_EVENTS];
	size_t ndescribed;
};

/* False when memory ran out; pt_info_fini() is needed all the same. */
bool pt_info_init(struct pt_info *p);
void pt_info_fini(struct pt_info *p);

/* Takes a record of any kind; false when memory ran out. */
bool pt_info_feed(struct pt_info *p, const struct vt_record *rec);

/* The only trace, of a raw input; NULL when memory ran out. */
struct pt_trace *pt_info_raw(struct pt_info *p);

/* To be called after the last. */
void pt_info_finish(struct pt_info *p);

/* Places in all traces where there is no packet, and their bytes. */
uint64_t pt_info_places(const struct pt_info *p, uint64_t *bytes);

/* Prints what there is; `insns` were executed.  0 or -VT_E_NOMEM. */
int pt_info_print(const struct pt_info *p, uint64_t insns, struct vt_output *out,
		  struct vt_error *err);

/* NULL if there is nothing. */
json_t *pt_info_json(const struct pt_info *p, uint64_t insns);

#endif
