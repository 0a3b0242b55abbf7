/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_SIDEBAND_SESSION_H
#define FORMATS_PT_SIDEBAND_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "formats/pt/decode/emit.h"
#include "formats/pt/decode/engine.h"
#include "formats/pt/sideband/buffers.h"
#include "image/find.h"
#include "stream/reader.h"
#include "stream/record.h"
#include "stream/writer.h"

/*
 * Decodes the Intel PT in a stream that still has it raw (AUXINFO, AUXTRACE).  All records are
 * looked at twice: first vt_pt_session_scan(), to gather the traces and what is said of them as a
 * whole; then, between begin and end, vt_pt_session_record(), which passes each record on but
 * AUXTRACE and writes what was executed up to its time before it.  So each block belongs to the
 * thread that ran then, and to the code that was mapped then.
 *
 * Traces without times, or in recordings whose records have none, can only be those of one thread
 * each: they are decoded when it ends, or at the end of the stream.
 */

struct vt_pt_session_options {
	const struct vt_pt_engine_ops *engine; /* NULL: AUXTRACE is passed on as it is */
	unsigned jobs;			       /* as in struct vt_pt_options */
	bool packets;			       /* count the packets by kind, not only their bytes */
	bool lbr; /* make EXEC records of the branch stacks of samples, too */
	struct vt_find_options find;
	const char *const *kernels; /* the kernel's ELF file, a copy of its core; or both */
	size_t nkernels;
	const char *tmpdir; /* for what does not fit into memory */
	const char *input;  /* what GAP records call the input */
	vt_warn_fn *warn;   /* told of images without code …; may be NULL */
	void *warn_arg;
};

struct vt_pt_session;

/* The options are copied, their strings borrowed.  Owned by the caller; NULL: no memory. */
struct vt_pt_session *vt_pt_session_new(const struct vt_pt_session_options *opt,
					struct vt_error *err);
void vt_pt_session_free(struct vt_pt_session *s);

/* True of the AUXINFO record that describes Intel PT. */
bool vt_pt_session_is_pt(const struct vt_record *rec);

/* First: each record of the stream; 0 or a negative error. */
int vt_pt_session_scan(struct vt_pt_session *s, const struct vt_record *rec, struct vt_error *err);

/* In place of an AUXTRACE record, for producers that do not make one. */
int vt_pt_session_piece(struct vt_pt_session *s, const struct vt_format_auxtrace *piece,
			struct vt_error *err);

/* Second: begin, each record of the stream again, end.  `w` is borrowed; negative errors. */
int vt_pt_session_begin(struct vt_pt_session *s, struct vt_writer *w, struct vt_error *err);
int vt_pt_session_record(struct vt_pt_session *s, const struct vt_record *rec,
			 struct vt_error *err);
int vt_pt_session_end(struct vt_pt_session *s, struct vt_error *err);

/* What was decoded; gaps include those of the sideband. */
const struct vt_pt_totals *vt_pt_session_totals(const struct vt_pt_session *s);

#endif
