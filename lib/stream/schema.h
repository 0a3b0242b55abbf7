/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_SCHEMA_H
#define VT_STREAM_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "stream/kinds.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Limits of the format (formats/vt.md), which bound a reader's memory. */
#define VT_MAX_KINDS  256 /* of a stream */
#define VT_MAX_FIELDS 128 /* of a kind */
#define VT_MAX_NAME   64  /* bytes of the name of a kind or field */

struct vt_field_desc {
	char *name;
	char *unit;
	enum vt_type type;
};

/*
 * A kind of record: its name, its number in the stream, and its fields.  Known fields come first,
 * in canonical order.
 */
struct vt_kind_desc {
	char *name;
	uint32_t wire_id;
	uint32_t nfields;
	struct vt_field_desc *fields;
};

/*
 * The kinds of a stream.  Known kinds are at the index of their enum vt_kind, foreign ones follow
 * from VT_NKINDS on.  A known kind may have foreign fields after its own.
 */
struct vt_schema {
	uint32_t nkinds;
	struct vt_kind_desc *kinds;
};

/* Initializes a schema with the known kinds.  Free it with vt_schema_fini().  Error: VT_E_NOMEM. */
int vt_schema_init(struct vt_schema *s, struct vt_error *err);
void vt_schema_fini(struct vt_schema *s);

/* Returns the index of the kind with this name, or -1. */
int vt_schema_find(const struct vt_schema *s, const char *name);

/* Returns the index of the field with this name in a kind, or -1. */
int vt_schema_find_field(const struct vt_kind_desc *kind, const char *name);

/*
 * Returns the index of the kind with this name.  Adds one without fields, with an unused number in
 * the stream, if there is none.  Errors: VT_E_LIMIT, VT_E_NOMEM.
 */
int vt_schema_add_kind(struct vt_schema *s, const char *name, struct vt_error *err);

/*
 * Returns the index of the field with this name and type; adds it if there is none.  Errors:
 * VT_E_MISMATCH if the field exists with another type, VT_E_LIMIT, VT_E_NOMEM.
 */
int vt_schema_add_field(struct vt_kind_desc *kind, const char *name, enum vt_type type,
			const char *unit, struct vt_error *err);

/* Adds to `to` each kind and field of `from` that it lacks.  Errors as vt_schema_add_field(). */
int vt_schema_merge(struct vt_schema *to, const struct vt_schema *from, struct vt_error *err);

#ifdef __cplusplus
}
#endif
#endif
