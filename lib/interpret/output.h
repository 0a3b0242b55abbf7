/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_INTERPRET_OUTPUT_H
#define VT_INTERPRET_OUTPUT_H

#include "interpret/interpret.h"
#include "interpret/plugins.h"

/*
 * Interprets a stream and writes it with the values found: each record, without what was
 * interpreted from, then VALUE records, and those of plugins.
 */
struct vt_interpret_output;

struct vt_interpret_output_options {
	struct vt_interpret_options interpret;
	uint32_t what; /* kinds of values to write: bits 1 << VT_WHAT_... */
	bool keep;     /* keep what was interpreted from: registers, stacks, recorded values */
	struct vt_plugins *plugins; /* borrowed */
	vt_warn_fn *warn;	    /* called for each record that contradicts itself */
	vt_warn_fn *note;	    /* called for each plugin without values, and the like */
	void *warn_arg;		    /* of both */
};

/*
 * Becomes a consumer of `context`, which has images and is borrowed.  Owned by the caller; NULL: as
 * vt_interpret_new().
 */
struct vt_interpret_output *vt_interpret_output_new(const struct vt_interpret_output_options *opt,
						    struct vt_context *context,
						    struct vt_error *err);
void vt_interpret_output_free(struct vt_interpret_output *out);

/*
 * From here on, writes to `target`, whose input is `input`; both are borrowed.  Without this, it
 * only counts.  Where plugins settle values at the end, records go to a temporary file until then.
 */
int vt_interpret_output_begin(struct vt_interpret_output *out, struct vt_writer *target,
			      const struct vt_reader *input, struct vt_error *err);

/* At the end of the stream: the totals, borrowed, and the VALUE records other than plugins'. */
const struct vt_interpret_totals *vt_interpret_output_end(struct vt_interpret_output *out,
							  uint64_t *values);

/* The key of the META records that say which plugin made no value, and why. */
#define VT_SILENT_PLUGIN "module.no_values"

/* Writes what plugins settle at the end, and LABEL records. */
int vt_interpret_output_finish(struct vt_interpret_output *out, struct vt_error *err);

#endif
