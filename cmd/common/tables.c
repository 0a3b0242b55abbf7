/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/tables.h"

#include "listing/json.h"

bool app_print_table(struct app *a, const struct vt_table *t, const struct app_form *form,
		     int color, struct vt_output *out)
{
	struct vt_error err = VT_ERROR_INIT;

	if (vt_table_print(t, out, app_table_form(form), app_color(a, color), &err) < 0)
		return app_fail(a, &err);
	return true;
}

bool app_print_rows(struct app *a, struct vt_table *t, json_t *doc, const struct app_form *form,
		    int color, const char *output)
{
	struct vt_output *out = t ? app_text(a, output) : NULL;
	bool ok = out || (!t && app_no_memory(a));

	if (out && form->json) {
		json_object_set_new(doc, "rows", vt_json_table(t));
		vt_json_write(out, json_incref(doc), true);
	} else if (out) {
		ok = app_print_table(a, t, form, color, out);
	}
	json_decref(doc);
	vt_table_free(t);
	return ok;
}
