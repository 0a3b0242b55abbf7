/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PERFPT_ENCODE_H
#define FORMATS_PERFPT_ENCODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/output.h"
#include "formats/pt/decode/emit.h"
#include "formats/pt/encode/encode.h"
#include "image/find.h"
#include "stream/record.h"

/*
 * Executed blocks to a perf.data with Intel PT: the packets of formats/pt/encode/encode.h, and
 * beside them what perf needs to know to decode them: mappings, threads, and, where several threads
 * share the buffer of a CPU, who runs when.
 *
 * Without TSC packets (encode.tsc) each thread has a buffer of its own and nothing has a time: perf
 * decodes a thread with the mappings that there are at its end.  With them, all records have times
 * of the encoder's clock, and the threads may be put on CPUs.
 */

#define VT_PT_WRAP_CPUS	    4096		/* at most */
#define VT_PT_WRAP_SLICE    100000		/* instructions, unless told otherwise */
#define VT_PT_WRAP_SNAPSHOT (UINT64_C(1) << 30) /* bytes at most */

struct vt_pt_wrap_options {
	struct vt_pt_encode_options encode;
	/*
	 * A buffer for each of so many CPUs, not for each thread; 0: for each thread.  Threads get
	 * CPUs in turn, when they run and have none, and every `slice` instructions another one.
	 */
	uint32_t cpus;
	uint64_t slice;
	bool wide;	     /* switches are told as for whole CPUs (SWITCH_CPU_WIDE) */
	uint64_t snapshot;   /* of each buffer, only the last so many bytes are kept; 0: all */
	const char *version; /* of what writes the file; borrowed */
	/*
	 * Where a jit-PID.dump goes for each process that generated code: an absolute path, for the
	 * perf.data names it.  NULL: such code is left out, as it is without TSC packets, for then
	 * nothing tells when other code took its place.  Borrowed.
	 */
	const char *jit_dir;
	/*
	 * Where decoders will find the files of images: what differs from them was patched at run
	 * time, and is dealt with as generated code, but without jit_dir the trace is interrupted.
	 */
	struct vt_find_options find;
};

struct vt_pt_wrap_totals {
	uint64_t maps;		     /* written */
	uint64_t switches;	     /* of CPUs to a thread */
	uint64_t bytes;		     /* of trace, as written */
	uint64_t left_out;	     /* records that perf.data cannot hold: mappings, threads */
	uint64_t generated;	     /* blocks of generated or patched code, in dumps */
	uint64_t generated_left_out; /* where there is nowhere to put them */
	uint64_t dumps_replaced;     /* jitdumps that were there already */
};

struct vt_pt_wrap;

/*
 * Writes to `out`, borrowed, freshly opened.  NULL: -VT_E_USAGE (CPUs without TSC), -VT_E_LIMIT,
 * -VT_E_NOMEM in *err.
 */
struct vt_pt_wrap *vt_pt_wrap_new(struct vt_output *out, const struct vt_pt_wrap_options *opt,
				  struct vt_error *err);
void vt_pt_wrap_free(struct vt_pt_wrap *p);

/*
 * Takes a record of any kind.  Errors as vt_pt_encode_record(); a mapping, image or thread that
 * perf.data cannot hold is left out and counted, and the first reason kept for vt_pt_wrap_bad().
 */
int vt_pt_wrap_record(struct vt_pt_wrap *p, const struct vt_record *rec, struct vt_error *err);

/* Ends the trace, the file and the dumps; `out` is flushed, not closed. */
int vt_pt_wrap_finish(struct vt_pt_wrap *p, struct vt_error *err);

/* The encoder, for its totals. */
struct vt_pt_encode *vt_pt_wrap_encode(struct vt_pt_wrap *p);
const struct vt_pt_wrap_totals *vt_pt_wrap_totals(const struct vt_pt_wrap *p);
const char *vt_pt_wrap_bad(const struct vt_pt_wrap *p);

/*
 * The output format "perf-data": opt->perf, but for jit_dir, which is the directory of the file
 * that is written; generated code has no place beside a pipe or standard output.
 */
extern const struct vt_output_format vt_perfpt_output;

#endif
