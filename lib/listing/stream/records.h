/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_STREAM_RECORDS_H
#define VT_LISTING_STREAM_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/output.h"
#include "profile/context.h"
#include "profile/losses.h"
#include "stream/record.h"
#include "stream/schema.h"

/* Prints records of any kind, each on a line. */
struct vt_record_dump;

struct vt_record_dump_options {
	/*
	 * The columns of a line (columns.h; resolved.h for samples), separated by commas; borrowed.
	 * NULL: the name of the kind and all fields that are present, as NAME=VALUE.
	 */
	const char *fields;
	/*
	 * The kinds to print, separated by commas; borrowed.  NULL: all; SAMPLE if there are
	 * `fields`.
	 */
	const char *kinds;
	/* Only records for which this is true (stream/where.h); borrowed; NULL: all. */
	const char *where;
	bool json;	/* a line is a JSON object; false: tab-separated */
	uint64_t limit; /* the most lines; 0: no limit */
};

/* Borrows `out`.  Owned by the caller; NULL when memory runs out. */
struct vt_record_dump *vt_record_dump_new(struct vt_output *out,
					  const struct vt_record_dump_options *opt);
void vt_record_dump_free(struct vt_record_dump *d);

/*
 * Prints the columns of samples, each with what it is, one a line.  `s` has the fields.
 */
void vt_record_dump_help(struct vt_output *out, const struct vt_schema *s);

/* Prints "# " and the names of the columns, separated by tabs.  Requires `fields`. */
void vt_record_dump_header(struct vt_record_dump *d);

/* Whether a column or a place of `where` has to be looked up, which takes a context. */
bool vt_record_dump_resolves(const struct vt_record_dump *d);

/*
 * Begins a stream; borrows its schema and context until the next one begins.  The context, which
 * has images and which vt_record_dump_feed() feeds, may be NULL unless vt_record_dump_resolves().
 * -VT_E_USAGE: the schema lacks a kind or a field, or `where` is wrong; -VT_E_NOMEM.
 */
int vt_record_dump_begin(struct vt_record_dump *d, const struct vt_schema *s,
			 struct vt_context *context, struct vt_error *err);

/* How many records `where` was asked about, of all streams: those of the kinds that are printed. */
const struct vt_picked *vt_record_dump_picked(const struct vt_record_dump *d);

/* How many records of kinds that would be printed were not, as they lack fields of `where`. */
uint64_t vt_record_dump_lacking(const struct vt_record_dump *d);

/* Takes a record of any kind.  Returns 0; 1: the limit is reached or output failed; -VT_E_NOMEM. */
int vt_record_dump_feed(struct vt_record_dump *d, const struct vt_record *rec,
			struct vt_error *err);

#endif
