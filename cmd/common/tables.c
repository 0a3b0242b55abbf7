/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/tables.h"

#include <math.h>
#include <string.h>

#include "cmd/common/json.h"

static json_t *cell_value(const struct vt_cell *c, enum vt_format format)
{
	switch (c->type) {
	case VT_CELL_TEXT:
		return app_json_text(c->text, c->size);
	case VT_CELL_NUMBER:
		return format == VT_FORMAT_HEX ? app_json_hex(c->number) : app_json_u64(c->number);
	case VT_CELL_SIGNED:
		return json_integer((json_int_t)c->number);
	case VT_CELL_REAL:
		return isfinite(c->real) ? json_real(c->real) : json_null();
	case VT_CELL_EMPTY:
		break;
	}
	return NULL;
}

/* The object of the thing that a column is of: the last of its list if it is called so. */
static json_t *object_of(json_t *row, const struct vt_table_column *c)
{
	json_t *list, *last, *name;

	if (!c->list)
		return row;
	list = json_object_get(row, c->list);
	if (!list) {
		list = json_array();
		if (json_object_set_new(row, c->list, list) < 0)
			return NULL;
	}
	name = app_json_text(c->name, strlen(c->name));
	last = json_array_get(list, json_array_size(list) - 1);
	if (!last || !json_equal(json_object_get(last, "name"), name)) {
		last = json_object();
		if (json_object_set(last, "name", name) < 0 ||
		    json_array_append_new(list, last) < 0)
			last = NULL;
	}
	json_decref(name);
	return last;
}

static json_t *json_row(const struct vt_table *t, size_t row)
{
	json_t *object = json_object();
	size_t col;

	for (col = 0; col < vt_table_columns(t); col++) {
		const struct vt_table_column *column = vt_table_column_at(t, col);
		struct vt_cell c = vt_table_cell(t, row, col);

		if (c.type == VT_CELL_EMPTY || !column->key)
			continue;
		if (json_object_set_new(object_of(object, column),
					column->list ? column->member : column->key,
					cell_value(&c, column->format)) < 0) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

json_t *app_json_table(const struct vt_table *t)
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

bool app_print_table(struct app *a, const struct vt_table *t, const struct app_form *form,
		     int color, struct vt_output *out)
{
	struct vt_error err = VT_ERROR_INIT;

	if (vt_table_print(t, out, app_table_form(form), app_color(a, color), &err) < 0)
		return app_fail(a, &err);
	return true;
}
