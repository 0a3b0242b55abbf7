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

/* Limits of the format (formats/vt.md): they bound a reader's memory. */
#define VT_MAX_KINDS  256 /* kinds in one stream */
#define VT_MAX_FIELDS 64  /* fields of one kind */
#define VT_MAX_NAME   64  /* bytes in the name of a kind or field */

struct vt_field_desc {
	char *name;
	char *unit;
	enum vt_type type;
};

/*
 * A kind: its name, its number in the stream, its fields.  Known fields come first, in canonical
 * order.
 */
struct vt_kind_desc {
	char *name;
	uint32_t wire_id;
	uint32_t nfields;
	struct vt_field_desc *fields;
};

/*
 * The kinds of a stream: the known ones at their enum vt_kind, foreign ones from VT_NKINDS on.  A
 * known kind may carry foreign fields after its own.
 */
struct vt_schema {
	uint32_t nkinds;
	struct vt_kind_desc *kinds;
};

/*
 * Fills a schema with the known kinds; free with vt_schema_fini().  Fails only for want of memory.
 */
int vt_schema_init(struct vt_schema *s, struct vt_error *err);
void vt_schema_fini(struct vt_schema *s);

/* The kind with this name, or -1. */
int vt_schema_find(const struct vt_schema *s, const char *name);

/* The field of that name in a kind, or -1. */
int vt_schema_find_field(const struct vt_kind_desc *kind, const char *name);

/*
 * Adds a kind, or finds the one of that name; returns its index or a negative error
 * (VT_E_LIMIT, VT_E_NOMEM).  A new kind has no fields yet and a wire id that is free.
 */
int vt_schema_add_kind(struct vt_schema *s, const char *name, struct vt_error *err);

/*
 * Adds a field to a kind, or finds the one of that name and type; returns its index.  A field of
 * the same name and another type is VT_E_MISMATCH.
 */
int vt_schema_add_field(struct vt_kind_desc *kind, const char *name, enum vt_type type,
			const char *unit, struct vt_error *err);

/* Adds to `to` every kind and field of `from` that it lacks. */
int vt_schema_merge(struct vt_schema *to, const struct vt_schema *from, struct vt_error *err);

#ifdef __cplusplus
}
#endif
#endif
