/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_JSON_H
#define VT_LISTING_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/output.h"
#include "base/table.h"
#include "profile/losses.h"

/*
 * JSON output with jansson.  Functions that return a json_t return a new reference, or NULL when
 * memory runs out.
 */

/* Untrusted text as a string, escaped by vt_escape() if it is not UTF-8. */
json_t *vt_json_text(const void *text, size_t size);

/* An address or mask as a string "0x...", since many readers lose bits of numbers above 2^53. */
json_t *vt_json_hex(uint64_t v);

/* Bytes as a string of hexadecimal digits. */
json_t *vt_json_bytes(const void *data, size_t size);

/* A count: an integer, or a decimal string above INT64_MAX. */
json_t *vt_json_u64(uint64_t v);

/* A number; null for infinity and NaN, which JSON lacks. */
json_t *vt_json_real(double v);

/*
 * The rows of a table as an array of objects, with the plain value of each nonempty cell under its
 * column's key.  Columns of vt_table_column_of() are in objects of a list:
 * "events": [{"name": "cycles", "samples": 12}].  The columns of an item stand together, or in the
 * same order of items again.
 */
json_t *vt_json_table(const struct vt_table *t);

/* Sets a member with an untrusted name, escaped as in vt_json_text(). */
void vt_json_set(json_t *object, const char *name, json_t *value);

/*
 * A new document: an object whose first member is "schema", for example "vprof/1".  The program's
 * man page describes the members.  Members may be added at any time; the number changes when a
 * member is removed or changes its meaning.
 */
json_t *vt_json_doc(const char *schema);

/* Sets the members "lost" and "gaps". */
void vt_json_losses(json_t *object, const struct vt_losses *l);

/*
 * Writes a value and a newline, with keys in the order in which they were set, and on several lines
 * if `pretty`.  Releases the caller's reference.  Errors stick to `out`; NULL is out of memory.
 */
void vt_json_write(struct vt_output *out, json_t *value, bool pretty);

#endif
