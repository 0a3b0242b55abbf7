/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/tables.h"

#include "base/escape.h"
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
		return json_real(c->real);
	case VT_CELL_EMPTY:
		break;
	}
	return NULL;
}

/* A column's key may be made from the name of an event, which need not be UTF-8. */
static int set_member(json_t *object, const char *key, json_t *value)
{
	struct vt_buf b = VT_BUF_INIT;
	int rc;

	vt_escape_str(&b, key);
	rc = json_object_set_new(object, vt_buf_str(&b), value);
	vt_buf_free(&b);
	return rc;
}

json_t *app_json_table(const struct vt_table *t)
{
	json_t *rows = json_array();
	size_t row, col;

	for (row = 0; rows && row < vt_table_rows(t); row++) {
		json_t *object = json_object();
		int rc = 0;

		for (col = 0; object && col < vt_table_columns(t); col++) {
			const struct vt_table_column *column = vt_table_column_at(t, col);
			struct vt_cell c = vt_table_cell(t, row, col);

			if (c.type != VT_CELL_EMPTY)
				rc |= set_member(object, column->key,
						 cell_value(&c, column->format));
		}
		if (rc < 0 || json_array_append_new(rows, object) < 0) {
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
