/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/header.h"

#include <stdlib.h>
#include <string.h>

#include "stream/header_internal.h"

static void stage_fini(struct vt_stage *s)
{
	uint32_t i;

	for (i = 0; i < s->nargs; i++)
		free(s->args[i]);
	free(s->args);
	free(s->program);
	free(s->version);
}

void vt_header_fini(struct vt_header *h)
{
	uint32_t i;

	for (i = 0; i < h->nstages; i++)
		stage_fini(&h->stages[i]);
	free(h->stages);
	*h = (struct vt_header){0};
}

/* Appends an empty stage.  Returns NULL when memory runs out. */
static struct vt_stage *append_stage(struct vt_header *h)
{
	struct vt_stage *grown = realloc(h->stages, (h->nstages + 1) * sizeof(*grown));

	if (!grown)
		return NULL;
	h->stages = grown;
	h->stages[h->nstages] = (struct vt_stage){0};
	return &h->stages[h->nstages++];
}

int vt_header_add_stage(struct vt_header *h, const struct vt_stage *stage, struct vt_error *err)
{
	struct vt_stage *s;

	if (h->nstages == VT_MAX_STAGES)
		return vt_error_set(err, VT_E_LIMIT, "more than %d stages", VT_MAX_STAGES);
	if (stage->nargs > VT_MAX_ARGS)
		return vt_error_set(err, VT_E_LIMIT, "more than %d arguments", VT_MAX_ARGS);
	s = append_stage(h);
	if (!s)
		return vt_error_nomem(err);
	s->seed = stage->seed;
	s->program = strdup(stage->program);
	s->version = strdup(stage->version);
	s->args = calloc(stage->nargs + 1, sizeof(*s->args));
	if (!s->program || !s->version || !s->args)
		return vt_error_nomem(err);
	while (s->nargs < stage->nargs) {
		s->args[s->nargs] = strdup(stage->args[s->nargs]);
		if (!s->args[s->nargs])
			return vt_error_nomem(err);
		s->nargs++;
	}
	return 0;
}

int vt_header_append(struct vt_header *h, const struct vt_header *from, struct vt_error *err)
{
	uint32_t i;
	int r = 0;

	for (i = 0; i < from->nstages && r == 0; i++)
		r = vt_header_add_stage(h, &from->stages[i], err);
	return r;
}

static void encode_text(struct vt_buf *out, const char *s)
{
	vt_buf_put_block(out, s, strlen(s));
}

void vti_header_encode(struct vt_buf *out, const struct vt_header *h, const struct vt_schema *s)
{
	uint32_t i, j;

	vt_buf_put_varint(out, h->nstages);
	for (i = 0; i < h->nstages; i++) {
		const struct vt_stage *st = &h->stages[i];

		encode_text(out, st->program);
		encode_text(out, st->version);
		vt_buf_put_varint(out, st->seed);
		vt_buf_put_varint(out, st->nargs);
		for (j = 0; j < st->nargs; j++)
			encode_text(out, st->args[j]);
	}
	vt_buf_put_varint(out, s->nkinds);
	for (i = 0; i < s->nkinds; i++) {
		const struct vt_kind_desc *k = &s->kinds[i];

		vt_buf_put_varint(out, k->wire_id);
		encode_text(out, k->name);
		vt_buf_put_varint(out, k->nfields);
		for (j = 0; j < k->nfields; j++) {
			encode_text(out, k->fields[j].name);
			vt_buf_put_u8(out, (uint8_t)k->fields[j].type);
			encode_text(out, k->fields[j].unit);
		}
	}
}

/*
 * Reads a length and that many bytes, and returns them as a new C string.  Returns NULL with a bad
 * cursor, or with a good one when memory runs out.
 */
static char *decode_text(struct vt_cursor *c, size_t max)
{
	uint64_t n = vt_cursor_varint(c);
	const uint8_t *p;
	char *s;

	if (n > max)
		c->bad = true;
	p = c->bad ? NULL : vt_cursor_take(c, n);
	if (!p || memchr(p, 0, n)) {
		c->bad = true;
		return NULL;
	}
	s = malloc(n + 1);
	if (!s)
		return NULL;
	memcpy(s, p, n);
	s[n] = 0;
	return s;
}

static int set_header_damaged(struct vt_error *err)
{
	return vt_error_set(err, VT_E_DAMAGED, "the header contradicts itself");
}

/* Sets the reason why decode_text() returned NULL. */
static int set_text_error(const struct vt_cursor *c, struct vt_error *err)
{
	return c->bad ? set_header_damaged(err) : vt_error_nomem(err);
}

static int decode_stage(struct vt_cursor *c, struct vt_header *h, struct vt_error *err)
{
	struct vt_stage *s = append_stage(h);
	uint64_t nargs;

	if (!s)
		return vt_error_nomem(err);
	s->program = decode_text(c, VT_MAX_HEADER);
	s->version = decode_text(c, VT_MAX_HEADER);
	if (!s->program || !s->version)
		return set_text_error(c, err);
	s->seed = vt_cursor_varint(c);
	nargs = vt_cursor_varint(c);
	if (c->bad || nargs > VT_MAX_ARGS)
		return set_header_damaged(err);
	s->args = calloc(nargs + 1, sizeof(*s->args));
	if (!s->args)
		return vt_error_nomem(err);
	while (s->nargs < nargs) {
		s->args[s->nargs] = decode_text(c, VT_MAX_HEADER);
		if (!s->args[s->nargs])
			return set_text_error(c, err);
		s->nargs++;
	}
	return 0;
}

static bool is_known_type(uint8_t t)
{
	return t && strchr("UIFSBA", t);
}

static int decode_fields(struct vt_cursor *c, struct vt_kind_desc *kind, struct vt_error *err)
{
	uint64_t n = vt_cursor_varint(c);
	uint64_t i;

	if (c->bad || n > VT_MAX_FIELDS)
		return set_header_damaged(err);
	for (i = 0; i < n; i++) {
		char *name = decode_text(c, VT_MAX_NAME);
		uint8_t type = vt_cursor_u8(c);
		char *unit = decode_text(c, VT_MAX_NAME);
		int r;

		if (!name || !unit)
			r = set_text_error(c, err);
		else if (!is_known_type(type) || vt_schema_find_field(kind, name) >= 0)
			r = set_header_damaged(err);
		else
			r = vt_schema_add_field(kind, name, (enum vt_type)type, unit, err);
		free(name);
		free(unit);
		if (r < 0)
			return r;
	}
	return 0;
}

static int decode_kind(struct vt_cursor *c, struct vt_schema *wire, struct vt_error *err)
{
	uint64_t id = vt_cursor_varint(c);
	char *name = decode_text(c, VT_MAX_NAME);
	uint32_t before = wire->nkinds;
	uint32_t i;
	int at;

	if (!name)
		return set_text_error(c, err);
	for (i = 0; i < before; i++)
		if (wire->kinds[i].wire_id == id)
			id = 0;
	at = vt_schema_add_kind(wire, name, err);
	free(name);
	if (at < 0)
		return at;
	if (id < VTI_FIRST_KIND_ID || id > VTI_LAST_KIND_ID || (uint32_t)at != before)
		return set_header_damaged(err);
	wire->kinds[at].wire_id = (uint32_t)id;
	return decode_fields(c, &wire->kinds[at], err);
}

/* Adds a foreign kind, or the foreign fields of a known kind.  Skips fields whose type differs. */
static int adopt_kind(struct vt_schema *schema, const struct vt_kind_desc *k, struct vt_error *err)
{
	int at = vt_schema_add_kind(schema, k->name, err);
	uint32_t i;

	if (at < 0)
		return at;
	for (i = 0; i < k->nfields; i++) {
		const struct vt_field_desc *f = &k->fields[i];
		int r = vt_schema_add_field(&schema->kinds[at], f->name, f->type, f->unit, err);

		if (r < 0 && r != -VT_E_MISMATCH)
			return r;
	}
	return 0;
}

int vti_header_decode(struct vt_cursor *c, struct vt_header *h, struct vt_schema *schema,
		      struct vt_schema *wire, struct vt_error *err)
{
	uint64_t n = vt_cursor_varint(c);
	uint64_t i;
	int r = 0;

	if (c->bad || n > VT_MAX_STAGES)
		return set_header_damaged(err);
	for (i = 0; i < n && r == 0; i++)
		r = decode_stage(c, h, err);
	if (r < 0)
		return r;
	n = vt_cursor_varint(c);
	if (c->bad || n > VT_MAX_KINDS)
		return set_header_damaged(err);
	for (i = 0; i < n && r == 0; i++) {
		r = decode_kind(c, wire, err);
		if (r == 0)
			r = adopt_kind(schema, &wire->kinds[i], err);
	}
	if (r == 0 && (c->bad || vt_cursor_left(c)))
		r = set_header_damaged(err);
	return r;
}
