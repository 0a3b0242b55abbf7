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
 * JSON output by jansson.  Each function that returns a json_t gives its caller a reference, or
 * NULL when memory runs out.
 */

/* Text of unknown origin as a string; vt_escape() is applied if it is not UTF-8. */
json_t *vt_json_text(const void *text, size_t size);

/* An address or mask: a string "0x…", because many readers lose bits of numbers above 2^53. */
json_t *vt_json_hex(uint64_t v);

/* Bytes as a string of hexadecimal digits. */
json_t *vt_json_bytes(const void *data, size_t size);

/* A count: an integer, or a decimal string above INT64_MAX. */
json_t *vt_json_u64(uint64_t v);

/* A number: null if it is infinite or not a number, which JSON cannot express. */
json_t *vt_json_real(double v);

/*
 * A table's rows as an array of objects: the key of each column with its plain value, without empty
 * cells.  Columns that belong to one of several things are in an object of a list:
 * "events": [{"name": "cycles", "samples": 12}].
 */
json_t *vt_json_table(const struct vt_table *t);

/* Sets a member whose name comes from a file, escaped as in vt_json_text(). */
void vt_json_set(json_t *object, const char *name, json_t *value);

/*
 * A new document: an object whose first member is "schema", as in "vprof/1".  The man page of that
 * program says what the members are.  Members may be added without notice; the number changes when
 * one goes away or changes its meaning.
 */
json_t *vt_json_doc(const char *schema);

/* Sets "lost" and "gaps" of an object. */
void vt_json_losses(json_t *object, const struct vt_losses *l);

/*
 * Writes a value and a newline: keys in the order in which they were set, on several lines if
 * `pretty`.  Takes over the caller's reference.  Errors stick to `out`; NULL counts as want of
 * memory.
 */
void vt_json_write(struct vt_output *out, json_t *value, bool pretty);

#endif
