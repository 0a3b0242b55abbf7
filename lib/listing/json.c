/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"

json_t *vt_json_text(const void *text, size_t size)
{
	json_t *v = json_stringn(text, size);
	struct vt_buf b = VT_BUF_INIT;

	if (v)
		return v;
	vt_escape(&b, text, size);
	v = json_string(vt_buf_str(&b));
	vt_buf_free(&b);
	return v;
}

json_t *vt_json_hex(uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, v);
	return json_string(text);
}

json_t *vt_json_bytes(const void *data, size_t size)
{
	struct vt_buf b = VT_BUF_INIT;
	const uint8_t *p = data;
	json_t *v;
	size_t i;

	for (i = 0; i < size; i++)
		vt_buf_printf(&b, "%02x", p[i]);
	v = json_string(vt_buf_str(&b));
	vt_buf_free(&b);
	return v;
}

json_t *vt_json_u64(uint64_t v)
{
	char text[24];

	if (v <= INT64_MAX)
		return json_integer((json_int_t)v);
	snprintf(text, sizeof(text), "%" PRIu64, v);
	return json_string(text);
}

json_t *vt_json_real(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

void vt_json_set(json_t *object, const char *name, json_t *value)
{
	struct vt_buf b = VT_BUF_INIT;

	json_incref(value);
	if (json_object_set_new(object, name, value) < 0) {
		vt_escape_str(&b, name);
		json_object_set(object, vt_buf_str(&b), value);
		vt_buf_free(&b);
	}
	json_decref(value);
}

json_t *vt_json_doc(const char *schema)
{
	json_t *doc = json_object();

	json_object_set_new(doc, "schema", json_string(schema));
	return doc;
}

void vt_json_losses(json_t *object, const struct vt_losses *l)
{
	json_t *lost = json_object(), *gaps = json_object(), *picked;

	json_object_set_new(lost, "places", vt_json_u64(l->lost_places));
	json_object_set_new(lost, "records", vt_json_u64(l->lost));
	json_object_set_new(gaps, "places", vt_json_u64(l->gaps));
	json_object_set_new(gaps, "records", vt_json_u64(l->gap_records));
	json_object_set_new(gaps, "bytes", vt_json_u64(l->gap_bytes));
	json_object_set_new(object, "lost", lost);
	json_object_set_new(object, "gaps", gaps);
	if (!l->picked.seen)
		return;
	picked = json_object();
	json_object_set_new(picked, "records", vt_json_u64(l->picked.seen));
	json_object_set_new(picked, "passed", vt_json_u64(l->picked.passed));
	json_object_set_new(picked, "unknown", vt_json_u64(l->picked.unknown));
	json_object_set_new(object, "where", picked);
}

static json_t *cell_value(const struct vt_cell *c, enum vt_format format)
{
	switch (c->type) {
	case VT_CELL_TEXT:
		return vt_json_text(c->text, c->size);
	case VT_CELL_NUMBER:
		return format == VT_FORMAT_HEX ? vt_json_hex(c->number) : vt_json_u64(c->number);
	case VT_CELL_SIGNED:
		return json_integer((json_int_t)c->number);
	case VT_CELL_REAL:
		return vt_json_real(c->real);
	case VT_CELL_EMPTY:
		break;
	}
	return NULL;
}

static bool is_called(const json_t *item, const json_t *name)
{
	return item && json_equal(json_object_get(item, "name"), name);
}

/*
 * The object of the thing that a column is of: the one at `*at` in its list, that of the column
 * before, or the next one, or the first one after the last; else a new one.
 */
static json_t *object_of(json_t *row, const struct vt_table_column *c, size_t *at)
{
	json_t *list, *item, *name;

	if (!c->list)
		return row;
	list = json_object_get(row, c->list);
	if (!list) {
		list = json_array();
		if (json_object_set_new(row, c->list, list) < 0)
			return NULL;
	}
	name = vt_json_text(c->name, strlen(c->name));
	item = json_array_get(list, *at);
	if (!is_called(item, name)) {
		*at = *at + 1 < json_array_size(list) ? *at + 1 : 0;
		item = json_array_get(list, *at);
	}
	if (!is_called(item, name)) {
		*at = json_array_size(list);
		item = json_object();
		if (json_object_set(item, "name", name) < 0 ||
		    json_array_append_new(list, item) < 0)
			item = NULL;
	}
	json_decref(name);
	return item;
}

static json_t *json_row(const struct vt_table *t, size_t row)
{
	json_t *object = json_object();
	size_t col, at = 0;

	for (col = 0; col < vt_table_columns(t); col++) {
		const struct vt_table_column *column = vt_table_column_at(t, col);
		struct vt_cell c = vt_table_cell(t, row, col);

		if (c.type == VT_CELL_EMPTY || !column->key)
			continue;
		if (json_object_set_new(object_of(object, column, &at),
					column->list ? column->member : column->key,
					cell_value(&c, column->format)) < 0) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

json_t *vt_json_table(const struct vt_table *t)
{
	json_t *rows = json_array();
	size_t row;

	for (row = 0; row < vt_table_rows(t); row++) {
		if (json_array_append_new(rows, json_row(t, row)) < 0) {
			json_decref(rows);
			return NULL;
		}
	}
	return rows;
}

static int write_json_chunk(const char *data, size_t size, void *out)
{
	vt_output_put(out, data, size);
	return 0;
}

void vt_json_write(struct vt_output *out, json_t *value, bool pretty)
{
	size_t flags = JSON_PRESERVE_ORDER | JSON_ENCODE_ANY | JSON_REAL_PRECISION(9) |
		       (pretty ? JSON_INDENT(2) : 0);

	if (!value || json_dump_callback(value, write_json_chunk, out, flags) < 0) {
		if (out->err.code == VT_OK)
			vt_error_set(&out->err, VT_E_NOMEM, "%s: out of memory", out->name);
	}
	vt_output_text(out, "\n");
	json_decref(value);
}
