/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_SUMMARY_DECODED_TRACE_H
#define VT_SUMMARY_DECODED_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/intern.h"
#include "stream/record.h"

/* The totals of decoded processor traces: of EXEC, TRACE and PACKETS records. */

/* PACKETS records of more names than this are not told apart. */
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

struct vt_decoded_trace {
	uint64_t events[VT_NTRACES];
	uint64_t nevents; /* TRACE records, those of unknown events too */
	struct vt_intern *strings;
	struct vt_hash packets;	   /* struct vt_packet_total; the empty name is the total */
	uint64_t bytes;		   /* of all traces */
	struct vt_trace_span span; /* the user of this module sets the times */
	uint64_t cycles;	   /* reported by CYC packets while something was executed */
	/* Private: where the last EXEC record ended. */
	int64_t last_tid;
	uint64_t last_cycles;
};

/* Returns false when memory runs out.  vt_decoded_trace_fini() is needed in both cases. */
bool vt_decoded_trace_init(struct vt_decoded_trace *d);
void vt_decoded_trace_fini(struct vt_decoded_trace *d);

/* Takes an EXEC, TRACE or PACKETS record.  Returns false when memory runs out. */
bool vt_decoded_trace_feed(struct vt_decoded_trace *d, const struct vt_record *rec);

#endif
