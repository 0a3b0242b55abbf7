/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_STREAM_EXECUTIONS_H
#define VT_LISTING_STREAM_EXECUTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/output.h"
#include "stream/reader.h"
#include "stream/record.h"

/* Prints executed code: a line for each captured value, or for each executed block. */
struct vt_execution_dump;

struct vt_execution_dump_options {
	bool values;	  /* a line is a value; false: a block */
	bool json;	  /* a line is a JSON object; false: tab-separated */
	uint64_t limit;	  /* the most lines; 0: no limit */
	vt_warn_fn *warn; /* called for each inconsistent record, which is left out */
	void *warn_arg;
};

/* Borrows `out`.  Owned by the caller; NULL when memory runs out. */
struct vt_execution_dump *vt_execution_dump_new(struct vt_output *out,
						const struct vt_execution_dump_options *opt);
void vt_execution_dump_free(struct vt_execution_dump *d);

/* Prints "# " and the names of a line's columns, separated by tabs. */
void vt_execution_dump_header(struct vt_execution_dump *d);

/* Begins a stream: drops the blocks of the previous stream.  -VT_E_NOMEM. */
int vt_execution_dump_begin(struct vt_execution_dump *d, struct vt_error *err);

/* Takes a record of any kind.  Returns 0; 1: the limit is reached or output failed; -VT_E_NOMEM. */
int vt_execution_dump_feed(struct vt_execution_dump *d, const struct vt_record *rec,
			   struct vt_error *err);

#endif
