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

/* Prints the summary of a stream and the statistics of processor traces that are not decoded. */

/* Packets of one kind. */
struct vt_packet_kind {
	const char *name; /* static */
	bool timing;	  /* packets about time or cycles */
	uint64_t count;	  /* never 0 */
	uint64_t bytes;
};

/* Bytes of a trace that are not a packet. */
struct vt_bad_place {
	uint64_t offset;
	uint64_t bytes;
	bool cut; /* the trace ends inside a packet */
};

#define VT_PACKET_KINDS 40
#define VT_BAD_PLACES	8

/* A processor trace that is not decoded: an AUX area or a raw trace. */
struct vt_raw_trace {
	const char *format; /* "Intel PT" */
	uint64_t index;	    /* of the AUX area */
	int64_t cpu;	    /* -1: unknown */
	int64_t tid;	    /* -1: unknown */
	uint64_t bytes;
	uint64_t packets;
	struct vt_packet_kind kinds[VT_PACKET_KINDS]; /* those that occur */
	size_t nkinds;
	uint64_t syncs; /* PSB packets */
	uint64_t overflows;
	uint64_t decisions; /* of conditional branches */
	uint64_t taken;	    /* of these */
	uint64_t targets;   /* packets with an address */
	struct vt_trace_span span;
	uint64_t lost_mtc; /* missing MTC packets, by their counter */
	bool has_cycles;
	uint64_t cycles;
	unsigned min_cbr; /* core to bus ratio; 0: unknown */
	unsigned max_cbr;
	uint64_t before;			/* bytes before the first PSB */
	uint64_t places;			/* without a packet */
	uint64_t bad_bytes;			/* in these places */
	struct vt_bad_place bad[VT_BAD_PLACES]; /* the first of these places */
};

/* What is printed; borrowed. */
struct vt_summary_view {
	const char *name; /* of the input */
	const struct vt_summary *summary;
	const struct vt_reader *reader; /* at its end; NULL: the input is a raw trace */
	const struct vt_raw_trace *traces;
	size_t ntraces;
};

/* Prints text.  0 or -VT_E_NOMEM; write errors stick to `out`. */
int vt_summary_print_text(const struct vt_summary_view *v, struct vt_output *out,
			  struct vt_error *err);

/* Prints a JSON object.  Errors, including lack of memory, stick to `out`. */
void vt_summary_print_json(const struct vt_summary_view *v, struct vt_output *out);

/* How a stream ended: "complete", "lossy", "interrupted" or "truncated". */
const char *vt_status_text(enum vt_status status);

#endif
