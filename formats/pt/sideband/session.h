/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_SIDEBAND_SESSION_H
#define FORMATS_PT_SIDEBAND_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "formats/common/format.h"
#include "formats/pt/decode/emit.h"
#include "formats/pt/decode/engine.h"
#include "image/find.h"
#include "stream/record.h"
#include "stream/writer.h"

/*
 * The decoder of AUX areas with Intel PT.  The first pass collects the traces (AUXTRACE) and their
 * common properties (AUXINFO and others).  The second pass copies each record except AUXTRACE, and
 * writes before it what was executed up to its time.  So each block belongs to the thread that ran
 * at its time, and to the code that was mapped then.
 *
 * If the traces or the records have no times, each trace must be of one thread: it is decoded when
 * the thread ends, or at the end of the stream.
 */
extern const struct vt_aux_decoder vt_pt_aux_decoder;

/* ---- the decoder's functions, with any engine: for tests ---- */

struct vt_pt_session_options {
	const struct vt_pt_engine_ops *engine; /* NULL: AUXTRACE is copied */
	unsigned jobs;			       /* as in struct vt_pt_options */
	bool packets;			       /* count the packets by kind, not only their bytes */
	bool lbr; /* make EXEC records of the branch stacks of samples, too */
	struct vt_find_options find;
	const char *const *kernels; /* the kernel's ELF file, a copy of its core; or both */
	size_t nkernels;
	const char *tmpdir; /* for large amounts of data */
	const char *input;  /* the input's name in GAP records */
	vt_warn_fn *warn;   /* gets warnings, such as images without code; may be NULL */
	void *warn_arg;
};

/* The options are copied, their strings borrowed.  Owned by the caller; NULL: no memory. */
struct vt_aux_session *vt_pt_session_new(const struct vt_pt_session_options *opt,
					 struct vt_error *err);
void vt_pt_session_free(struct vt_aux_session *s);

/* The functions of struct vt_aux_decoder. */
int vt_pt_session_scan(struct vt_aux_session *s, const struct vt_record *rec, struct vt_error *err);
int vt_pt_session_begin(struct vt_aux_session *s, struct vt_writer *w, struct vt_error *err);
int vt_pt_session_record(struct vt_aux_session *s, const struct vt_record *rec,
			 struct vt_error *err);
int vt_pt_session_end(struct vt_aux_session *s, struct vt_format_summary *sum,
		      struct vt_error *err);

#endif
