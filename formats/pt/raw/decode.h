/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_RAW_DECODE_H
#define FORMATS_PT_RAW_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/input.h"
#include "formats/formats.h"
#include "formats/pt/timing.h"
#include "stream/reader.h"
#include "stream/writer.h"

/* What the user says about decoding Intel PT, wherever it lies; all of it borrowed. */
struct vt_pt_decode_options {
	const char *engine; /* its name; NULL: the default */
	unsigned jobs;	    /* threads; 0: 1 */
	bool packets;	    /* count the packets by kind, too (formats/pt/decode/scan.h) */

	/* Of raw traces: where code is (formats/pt/raw/code.h), and whose it is. */
	const char *const *images;
	size_t nimages;
	const char *const *pages;
	size_t npages;
	int64_t pid; /* of the process, and its only thread; 0: 1 */
	struct vt_pt_clock clock;

	/* Of perf.data, and streams with what was in one. */
	const char *const *kernels; /* vmlinux, or a kcore */
	size_t nkernels;
	const char *symfs; /* where the recorded paths begin; NULL: at the root */
	const char *cache; /* perf's build-id cache; NULL: none */
	bool lbr;	   /* make EXEC records of branch stacks, too */
};

/*
 * Whether these are the first bytes of a raw trace: there is a PSB packet among them, perhaps
 * behind the end of a packet whose beginning a ring of buffers has lost.
 */
bool vt_pt_probe(const uint8_t *bytes, size_t size);

/*
 * Converts a raw trace to records; `in` stands at its first byte.  0 at the end, damage on the way
 * is in *sum and in GAP records; else a negative error.
 */
int vt_pt_decode(struct vt_input *in, struct vt_writer *w, const struct vt_format_options *opt,
		 struct vt_format_summary *sum, struct vt_error *err);

/*
 * Converts a perf.data, as vt_perfdata_decode() does, and decodes the Intel PT in it; with an
 * engine "none" its bytes are passed on as AUXTRACE records.
 */
int vt_pt_perfdata_decode(struct vt_input *in, struct vt_writer *w,
			  const struct vt_format_options *opt, struct vt_format_summary *sum,
			  struct vt_error *err);

/*
 * Copies the records of a stream, which is one of the inputs of `w`, and decodes the Intel PT in
 * them if it is there still raw.  All but `sum` borrowed and kept; owned by the caller, NULL and
 * *err on failure.  Each run of records in order, then the end; negative errors.
 */
struct vt_pt_stream;
struct vt_pt_stream *vt_pt_stream_new(const struct vt_reader *r, struct vt_writer *w,
				      const struct vt_format_options *opt, struct vt_error *err);
int vt_pt_stream_run(struct vt_pt_stream *s, const struct vt_block *b, uint32_t first,
		     uint32_t count, struct vt_error *err);
int vt_pt_stream_end(struct vt_pt_stream *s, struct vt_format_summary *sum, struct vt_error *err);
void vt_pt_stream_free(struct vt_pt_stream *s);

/* The name of the engine that keeps traces as they are. */
#define VT_PT_ENGINE_NONE "none"

#endif
