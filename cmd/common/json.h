/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_JSON_H
#define CMD_COMMON_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/output.h"
#include "cmd/common/app.h"

/* Text of unknown origin as a JSON string; what is not UTF-8 is escaped as vt_escape() does. */
json_t *app_json_text(const void *text, size_t size);

/* An address or mask: a string "0x…", because JSON numbers lose bits above 2^53 in many readers. */
json_t *app_json_hex(uint64_t v);

/* Bytes as a string of hexadecimal digits. */
json_t *app_json_bytes(const void *data, size_t size);

/* A count: a JSON integer, or a decimal string above INT64_MAX. */
json_t *app_json_u64(uint64_t v);

/* Sets a member whose name comes from a file, escaped as in app_json_text(). */
void app_json_set(json_t *object, const char *name, json_t *value);

/*
 * A document, to which the caller adds members: an object that begins with "schema", what its
 * members and theirs are called and mean: "vprof/1", by the man page of that program.  Members may
 * be added without notice; where one goes away or changes, the number does.
 */
json_t *app_json_doc(const char *schema);

/* Sets "lost" and "gaps" of an object: what is missing in the stream that it tells of. */
void app_json_losses(json_t *object, const struct app_losses *l);

/*
 * Writes a value and a newline, keys in the order in which they were set, over several lines if
 * `pretty`; gives up the caller's reference.  Errors stick to `out`; a NULL value counts as want of
 * memory.
 */
void app_json_write(struct vt_output *out, json_t *value, bool pretty);

#endif
