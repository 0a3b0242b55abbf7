/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/schema.h"

#include <stdlib.h>
#include <string.h>

/* Kinds and fields are allocated once, at their limits, so pointers to them stay valid. */

/* Each name of a stream is compared with all before it; few have the same first letter. */
static bool same_name(const char *a, const char *b)
{
	return a[0] == b[0] && strcmp(a, b) == 0;
}

int vt_schema_find(const struct vt_schema *s, const char *name)
{
	uint32_t i;

	for (i = 0; i < s->nkinds; i++)
		if (same_name(s->kinds[i].name, name))
			return (int)i;
	return -1;
}

int vt_schema_find_field(const struct vt_kind_desc *kind, const char *name)
{
	uint32_t i;

	for (i = 0; i < kind->nfields; i++)
		if (same_name(kind->fields[i].name, name))
			return (int)i;
	return -1;
}

static bool is_wire_id_used(const struct vt_schema *s, uint32_t id)
{
	uint32_t i;

	for (i = 0; i < s->nkinds; i++)
		if (s->kinds[i].wire_id == id)
			return true;
	return false;
}

/* The first number of foreign kinds, well above those that kinds.def may ever use. */
#define FIRST_FOREIGN_ID 1024

static uint32_t find_free_wire_id(const struct vt_schema *s)
{
	uint32_t id = FIRST_FOREIGN_ID;

	while (is_wire_id_used(s, id))
		id++;
	return id;
}

static bool is_valid_name(const char *name)
{
	size_t n = strlen(name);

	return n > 0 && n <= VT_MAX_NAME;
}

/* Adds a kind whose name is new. */
static int append_kind(struct vt_schema *s, const char *name, struct vt_error *err)
{
	struct vt_kind_desc *k;

	if (!is_valid_name(name))
		return vt_error_set(err, VT_E_LIMIT, "kind name of %zu bytes", strlen(name));
	if (s->nkinds == VT_MAX_KINDS)
		return vt_error_set(err, VT_E_LIMIT, "more than %d kinds of record", VT_MAX_KINDS);
	if (!s->kinds)
		s->kinds = calloc(VT_MAX_KINDS, sizeof(*s->kinds));
	if (!s->kinds)
		return vt_error_nomem(err);
	k = &s->kinds[s->nkinds];
	k->wire_id = find_free_wire_id(s);
	k->fields = calloc(VT_MAX_FIELDS, sizeof(*k->fields));
	k->name = strdup(name);
	if (!k->fields || !k->name) {
		free(k->fields);
		free(k->name);
		return vt_error_nomem(err);
	}
	return (int)s->nkinds++;
}

int vt_schema_add_kind(struct vt_schema *s, const char *name, struct vt_error *err)
{
	int found = vt_schema_find(s, name);

	return found >= 0 ? found : append_kind(s, name, err);
}

/* Adds a field whose name is new. */
static int append_field(struct vt_kind_desc *kind, const char *name, enum vt_type type,
			const char *unit, struct vt_error *err)
{
	struct vt_field_desc *f;

	if (!is_valid_name(name) || strlen(unit) > VT_MAX_NAME)
		return vt_error_set(err, VT_E_LIMIT, "%s: field name of %zu bytes", kind->name,
				    strlen(name));
	if (kind->nfields == VT_MAX_FIELDS)
		return vt_error_set(err, VT_E_LIMIT, "%s: more than %d fields", kind->name,
				    VT_MAX_FIELDS);
	f = &kind->fields[kind->nfields];
	f->type = type;
	f->name = strdup(name);
	f->unit = strdup(unit);
	if (!f->name || !f->unit) {
		free(f->name);
		free(f->unit);
		return vt_error_nomem(err);
	}
	return (int)kind->nfields++;
}

int vt_schema_add_field(struct vt_kind_desc *kind, const char *name, enum vt_type type,
			const char *unit, struct vt_error *err)
{
	int found = vt_schema_find_field(kind, name);

	if (found >= 0 && kind->fields[found].type != type)
		return vt_error_set(err, VT_E_MISMATCH, "field %s of %s has two types", name,
				    kind->name);
	return found >= 0 ? found : append_field(kind, name, type, unit, err);
}

/* A kind, or a field of the kind before it; none is there twice. */
struct schema_row {
	const char *name;
	const char *unit;
	uint32_t wire_id; /* of a kind; 0 in a field's row */
	enum vt_type type;
};

static const struct schema_row known[] = {
#define KIND(kind, id)				{#kind, "", id, VT_TYPE_U},
#define FIELD(kind, constant, name, type, unit) {name, unit, 0, VT_TYPE_##type},
#define END(kind)
#include "stream/kinds.def"
#undef KIND
#undef FIELD
#undef END
};

int vt_schema_init(struct vt_schema *s, struct vt_error *err)
{
	size_t i;
	int r = 0;

	*s = (struct vt_schema){0};
	for (i = 0; i < sizeof(known) / sizeof(known[0]) && r >= 0; i++) {
		if (known[i].wire_id) {
			r = append_kind(s, known[i].name, err);
			if (r >= 0)
				s->kinds[r].wire_id = known[i].wire_id;
		} else {
			r = append_field(&s->kinds[s->nkinds - 1], known[i].name, known[i].type,
					 known[i].unit, err);
		}
	}
	if (r < 0)
		vt_schema_fini(s);
	return r < 0 ? r : 0;
}

void vt_schema_fini(struct vt_schema *s)
{
	uint32_t i, j;

	for (i = 0; i < s->nkinds; i++) {
		struct vt_kind_desc *k = &s->kinds[i];

		for (j = 0; j < k->nfields; j++) {
			free(k->fields[j].name);
			free(k->fields[j].unit);
		}
		free(k->fields);
		free(k->name);
	}
	free(s->kinds);
	*s = (struct vt_schema){0};
}

int vt_schema_merge(struct vt_schema *to, const struct vt_schema *from, struct vt_error *err)
{
	uint32_t i, j;

	for (i = 0; i < from->nkinds; i++) {
		const struct vt_kind_desc *k = &from->kinds[i];
		int at = vt_schema_add_kind(to, k->name, err);

		for (j = 0; j < k->nfields && at >= 0; j++) {
			const struct vt_field_desc *f = &k->fields[j];
			int r = vt_schema_add_field(&to->kinds[at], f->name, f->type, f->unit, err);

			if (r < 0)
				return r;
		}
		if (at < 0)
			return at;
	}
	return 0;
}
