/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_STREAM_INSTRUCTIONS_H
#define VT_LISTING_STREAM_INSTRUCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/output.h"
#include "profile/context.h"
#include "stream/reader.h"
#include "stream/record.h"

/* Prints executed code: a line for each instruction, in the order of the stream. */
struct vt_insn_dump;

/* What a line has if nothing else is asked for. */
#define VT_INSN_COLUMNS "tid,seconds,ip,symoff,dso,insn"

struct vt_insn_dump_options {
	/*
	 * The columns, separated by commas: pid, tid, ip, and comm, seconds, sym, symoff, dso,
	 * srcline and insn as resolved.h has them.  Borrowed.
	 */
	const char *columns;
	bool json;	  /* a line is a JSON object; false: tab-separated */
	uint64_t limit;	  /* the most lines; 0: no limit */
	vt_warn_fn *warn; /* called for each inconsistent record, which is left out */
	void *warn_arg;
};

/* Borrows `out`.  Owned by the caller.  NULL: VT_E_USAGE for an unknown column, VT_E_NOMEM. */
struct vt_insn_dump *vt_insn_dump_new(struct vt_output *out, const struct vt_insn_dump_options *opt,
				      struct vt_error *err);
void vt_insn_dump_free(struct vt_insn_dump *d);

/* Prints "# " and the names of the columns, separated by tabs. */
void vt_insn_dump_header(struct vt_insn_dump *d);

/*
 * Begins a stream; borrows its context, which has images, and which vt_insn_dump_feed() feeds.
 * -VT_E_NOMEM.
 */
int vt_insn_dump_begin(struct vt_insn_dump *d, struct vt_context *context, struct vt_error *err);

/* Takes a record of any kind.  Returns 0; 1: the limit is reached or output failed; -VT_E_NOMEM. */
int vt_insn_dump_feed(struct vt_insn_dump *d, const struct vt_record *rec, struct vt_error *err);

#endif
