/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_WHERE_H
#define VT_STREAM_WHERE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "stream/record.h"
#include "stream/schema.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Expressions that pick records by their fields, as in
 *
 *	lat_load > 200 && events & dcache_miss
 *
 * The language is that of vt-filter(7).  What a record does not tell is unknown, and so is what
 * follows from it: a record passes only if the whole is true.
 */
struct vt_where_expr;

/* Limits of an expression. */
#define VT_WHERE_MAX_TEXT  4096 /* bytes */
#define VT_WHERE_MAX_DEPTH 64	/* of parentheses and signs in each other */
#define VT_WHERE_MAX_TERMS 1000 /* operators and operands */

/* What an expression says of a record. */
enum vt_truth { VT_FALSE, VT_TRUE, VT_UNKNOWN };

/* What `field in procedure "name"` and `field in image "name"` ask for. */
enum vt_where_place { VT_WHERE_PROCEDURE, VT_WHERE_IMAGE, VT_WHERE_NPLACES };

/* Looks up addresses and events, which this library cannot.  A function may be NULL. */
struct vt_where_names {
	/*
	 * Whether the address in a field of the record lies in the place of this name.  VT_UNKNOWN
	 * if it lies in none that is known.
	 */
	enum vt_truth (*in)(void *arg, const struct vt_record *rec, unsigned field,
			    enum vt_where_place place, const char *name);
	void *arg; /* borrowed */
	/* Whether the EVENT with this id has this name.  VT_UNKNOWN if there is none. */
	enum vt_truth (*is_event)(void *event_arg, uint64_t id, const char *name);
	void *event_arg; /* borrowed */
};

/*
 * Compiles an expression for the records of a kind: its index in the schema, which is borrowed, as
 * is `names`, which may be NULL if nothing can be looked up.  Owned by the caller; NULL:
 * VT_E_ABSENT, the kind has no field of some name, and no word is meant; VT_E_USAGE, the expression
 * is wrong; VT_E_LIMIT; VT_E_NOMEM.  The text of an error begins with "column N: ".
 */
struct vt_where_expr *vt_where_compile(const char *text, const struct vt_schema *s, uint32_t kind,
				       const struct vt_where_names *names, struct vt_error *err);
void vt_where_free(struct vt_where_expr *w); /* NULL is allowed */

/*
 * The same of two samples, whose fields are called `1.ip` and `2.ip`.  It is for blocks that have
 * the columns of SAMPLE twice, VT_WHERE_PAIR_COLUMNS in all; texts, bytes and arrays are not to be
 * asked for, so their columns may be anything.
 */
#define VT_WHERE_PAIR_COLUMNS (2 * VT_SAMPLE_NFIELDS)
struct vt_where_expr *vt_where_compile_pair(const char *text, struct vt_error *err);

/* Whether an expression, right or wrong, looks up places. */
bool vt_where_asks_places(const char *text);

/*
 * Evaluates rows first .. first+count-1 of a block of the kind that it was compiled for: truth[i]
 * becomes the enum vt_truth of row first + i.  One thread at a time.
 */
void vt_where_select(struct vt_where_expr *w, const struct vt_block *block, uint32_t first,
		     uint32_t count, uint8_t *truth);

/* The same of one record. */
enum vt_truth vt_where_test(struct vt_where_expr *w, const struct vt_record *rec);

#ifdef __cplusplus
}
#endif
#endif
