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
 * Encodes executed blocks as a perf.data with Intel PT: the packets of formats/pt/encode/encode.h,
 * and the records that perf needs to decode them: mappings, threads, and, where several threads
 * share the buffer of a CPU, switches between them.
 *
 * Without TSC packets (encode.tsc) each thread has its own buffer and nothing has a time: perf
 * decodes a thread with the mappings at its end.  With them, all records have times of the
 * encoder's clock, and threads may be put on CPUs.
 */

#define VT_PT_WRAP_CPUS	    4096		/* at most */
#define VT_PT_WRAP_SLICE    100000		/* instructions, by default */
#define VT_PT_WRAP_SNAPSHOT (UINT64_C(1) << 30) /* bytes at most */

struct vt_pt_wrap_options {
	struct vt_pt_encode_options encode;
	/*
	 * The number of CPUs that have a buffer each; 0: each thread has one.  A thread that runs
	 * without a CPU gets the next one in turn, and another one after every `slice`
	 * instructions.
	 */
	uint32_t cpus;
	uint64_t slice;
	bool wide;	     /* switch records are those of whole CPUs (SWITCH_CPU_WIDE) */
	uint64_t snapshot;   /* the last bytes of each buffer that are kept; 0: all */
	const char *version; /* of the program that writes the file; borrowed */
	/*
	 * The directory for the jit-PID.dump of each process that generated code.  It is an
	 * absolute path, because the perf.data names it.  NULL, or no TSC packets: such code is
	 * left out, since without times it is unknown when other code replaced it.  Borrowed.
	 */
	const char *jit_dir;
	/*
	 * How decoders will find the files of images.  Code that differs from its file was patched
	 * at run time and is handled like generated code; without jit_dir it interrupts the trace.
	 */
	struct vt_find_options find;
};

struct vt_pt_wrap_totals {
	uint64_t maps;		     /* written */
	uint64_t switches;	     /* of CPUs to a thread */
	uint64_t bytes;		     /* of trace, as written */
	uint64_t left_out;	     /* records that perf.data cannot hold: mappings, threads */
	uint64_t generated;	     /* blocks of generated or patched code, in dumps */
	uint64_t generated_left_out; /* without dumps */
	uint64_t dumps_replaced;     /* existing jitdumps */
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

/* The encoder, which has the totals of the trace. */
struct vt_pt_encode *vt_pt_wrap_encode(struct vt_pt_wrap *p);
const struct vt_pt_wrap_totals *vt_pt_wrap_totals(const struct vt_pt_wrap *p);
const char *vt_pt_wrap_bad(const struct vt_pt_wrap *p);

/*
 * The output format "perf-data", with the options opt->perf.  jit_dir is the directory of the
 * output file; with a pipe or standard output generated code is left out.
 */
extern const struct vt_output_format vt_perfpt_output;

#endif
