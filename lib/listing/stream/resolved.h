/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_STREAM_RESOLVED_H
#define VT_LISTING_STREAM_RESOLVED_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "listing/stream/places.h"
#include "profile/context.h"
#include "stream/record.h"

/*
 * Columns of samples that no field has, but that follow from fields, the records before the sample
 * and the files of its images, in perf script's words.
 */
enum vt_resolved {
	VT_RESOLVED_NONE,
	VT_RESOLVED_SYM,      /* the procedure */
	VT_RESOLVED_SYMOFF,   /* procedure+0xOFFSET */
	VT_RESOLVED_DSO,      /* the image's path */
	VT_RESOLVED_SRCLINE,  /* file:line */
	VT_RESOLVED_INSN,     /* the instruction, disassembled */
	VT_RESOLVED_COMM,     /* the thread's name */
	VT_RESOLVED_SECONDS,  /* the time as SECONDS.NANOSECONDS */
	VT_RESOLVED_CHAIN,    /* the call chain, innermost first: SYMOFF (DSO);SYMOFF (DSO) ... */
	VT_RESOLVED_DATASYM,  /* what lies at the address of the data */
	VT_RESOLVED_DATA_SRC, /* the data source in words */
	VT_RESOLVED_TRACE,    /* the fields of the tracepoint */
	VT_NRESOLVED
};

/* The column of this name, or of one that means the same; VT_RESOLVED_NONE: there is none. */
enum vt_resolved vt_resolved_find(const char *name);

/* Its name, and what it is, in one line. */
const char *vt_resolved_name(enum vt_resolved which);
const char *vt_resolved_help(enum vt_resolved which);

/*
 * Appends a column that follows from a place, VT_RESOLVED_SYM to VT_RESOLVED_INSN, as text that is
 * not escaped, "[unknown]" for what cannot be found.
 */
void vt_resolved_spot(struct vt_places *p, enum vt_resolved which, struct vt_spot *s,
		      struct vt_buf *b);

/* What is known of a stream where it is being read. */
struct vt_resolver;

/* Borrows the stream's context, which has images.  NULL when memory runs out. */
struct vt_resolver *vt_resolver_new(struct vt_context *context);
void vt_resolver_free(struct vt_resolver *r);

/*
 * Prepares for a column, before the first record.  VT_RESOLVED_TRACE must be wanted, others may be.
 * False when memory runs out.
 */
bool vt_resolver_want(struct vt_resolver *r, enum vt_resolved which);

/* Takes a record of any kind, and feeds the context.  -VT_E_NOMEM. */
int vt_resolver_feed(struct vt_resolver *r, const struct vt_record *rec, struct vt_error *err);

/*
 * Appends a column of a SAMPLE record as escaped text; nothing for what was not recorded, and
 * "[unknown]" for what cannot be found.  The buffer fails when memory runs out.
 */
void vt_resolver_text(struct vt_resolver *r, enum vt_resolved which, const struct vt_record *rec,
		      struct vt_buf *b);

/*
 * The same as JSON: a text; an array of frames for the call chain, each with "ip", "symoff" and
 * "dso"; an object of the fields of a tracepoint; null for what was not recorded.  A new reference;
 * NULL when memory runs out.
 */
json_t *vt_resolver_json(struct vt_resolver *r, enum vt_resolved which,
			 const struct vt_record *rec);

#endif
