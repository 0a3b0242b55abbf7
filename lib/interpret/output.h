/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_INTERPRET_OUTPUT_H
#define VT_INTERPRET_OUTPUT_H

#include "interpret/interpret.h"
#include "interpret/plugins.h"

/*
 * Interprets a stream and copies it to another stream with the values found.  After each record
 * come the VALUE records of its run, and those of plugins.  Unless `keep` is set, records are
 * copied without the data that was interpreted (registers, stacks, recorded values).
 */
struct vt_interpret_output;

struct vt_interpret_output_options {
	struct vt_interpret_options interpret;
	uint32_t what;		    /* kinds of values to write: bits 1 << VT_WHAT_... */
	bool keep;		    /* copy registers, stacks and recorded values, too */
	struct vt_plugins *plugins; /* borrowed */
	vt_warn_fn *warn;	    /* called for each record that contradicts itself */
	vt_warn_fn *note;	    /* called for each plugin without values, and the like */
	void *warn_arg;		    /* of both */
};

/*
 * Returns an object that the caller owns and that is a consumer of `context`.  The context must
 * have images and is borrowed.  Errors are those of vt_interpret_new().
 */
struct vt_interpret_output *vt_interpret_output_new(const struct vt_interpret_output_options *opt,
						    struct vt_context *context,
						    struct vt_error *err);
void vt_interpret_output_free(struct vt_interpret_output *out);

/*
 * Begins to write to `target`, whose input is `input`; both are borrowed.  Without this call,
 * records are only counted.  If a plugin replaces values at the end (vt_plugins_settle()), records
 * are written to a temporary file until then.  Returns 0 or a negative error.
 */
int vt_interpret_output_begin(struct vt_interpret_output *out, struct vt_writer *target,
			      const struct vt_reader *input, struct vt_error *err);

/*
 * Ends the stream and returns its totals, borrowed.  *values becomes the number of VALUE records
 * other than those of plugins.
 */
const struct vt_interpret_totals *vt_interpret_output_end(struct vt_interpret_output *out,
							  uint64_t *values);

/* The key of META records, each of which names a plugin without values and the reason. */
#define VT_SILENT_PLUGIN "module.no_values"

/*
 * Writes the records of the temporary file with their final values, LABEL records, and the META
 * records of plugins without values.  Returns 0 or a negative error.
 */
int vt_interpret_output_finish(struct vt_interpret_output *out, struct vt_error *err);

#endif
