/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_STREAM_SUMMARY_H
#define VT_LISTING_STREAM_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/output.h"
#include "stream/reader.h"
#include "summary/summary.h"

/* Prints the summary of a stream, and what a processor trace that is not decoded consists of. */

/* Packets of one kind. */
struct vt_packet_kind {
	const char *name; /* static */
	bool timing;	  /* it is about time or cycles */
	uint64_t count;	  /* never 0 */
	uint64_t bytes;
};

/* A place in a trace that holds no packet. */
struct vt_bad_place {
	uint64_t offset;
	uint64_t bytes;
	bool cut; /* the trace ends inside a packet */
};

#define VT_PACKET_KINDS 40
#define VT_BAD_PLACES	8

/* A processor trace that is not decoded: an AUX area, or a raw trace. */
struct vt_raw_trace {
	const char *format; /* "Intel PT" */
	uint64_t index;	    /* of the AUX area */
	int64_t cpu;	    /* -1: not known */
	int64_t tid;	    /* likewise */
	uint64_t bytes;
	uint64_t packets;
	struct vt_packet_kind kinds[VT_PACKET_KINDS]; /* those that there are */
	size_t nkinds;
	uint64_t syncs; /* PSB packets */
	uint64_t overflows;
	uint64_t decisions; /* of conditional branches */
	uint64_t taken;	    /* of them */
	uint64_t targets;   /* packets with an address */
	struct vt_trace_span span;
	uint64_t lost_mtc; /* MTC packets that must be missing */
	bool has_cycles;
	uint64_t cycles;
	unsigned min_cbr; /* core to bus ratio; 0: not known */
	unsigned max_cbr;
	uint64_t before; /* bytes before the first PSB */
	uint64_t places; /* that hold no packet, and their bytes */
	uint64_t bad_bytes;
	struct vt_bad_place bad[VT_BAD_PLACES]; /* the first of them */
};

/* What is printed; all borrowed. */
struct vt_summary_view {
	const char *name; /* of the input */
	const struct vt_summary *summary;
	const struct vt_reader *reader; /* at its end; NULL: the input is a raw trace */
	const struct vt_raw_trace *traces;
	size_t ntraces;
};

/* For people.  0 or -VT_E_NOMEM; errors of writing stick to `out`. */
int vt_summary_print_text(const struct vt_summary_view *v, struct vt_output *out,
			  struct vt_error *err);

/* One JSON object.  Errors, want of memory too, stick to `out`. */
void vt_summary_print_json(const struct vt_summary_view *v, struct vt_output *out);

/* "complete", "lossy", "interrupted" or "truncated": how a stream ended. */
const char *vt_status_text(enum vt_status status);

#endif
