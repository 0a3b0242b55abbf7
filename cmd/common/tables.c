/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/tables.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "listing/json.h"

const char *const app_color_words[] = {"auto", "always", "never", NULL};

bool app_form_color(const struct app *a, const struct app_form *form)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (form->color != APP_COLOR_AUTO)
		return form->color == APP_COLOR_ALWAYS;
	if ((no_color && *no_color) || !term || !*term || strcmp(term, "dumb") == 0)
		return false;
	return a->text_open ? a->text.tty : isatty(STDOUT_FILENO);
}

bool app_print_table(struct app *a, const struct vt_table *t, const struct app_form *form,
		     struct vt_output *out)
{
	struct vt_error err = VT_ERROR_INIT;

	if (vt_table_print(t, out, app_table_form(form), app_form_color(a, form), &err) < 0)
		return app_fail(a, &err);
	return true;
}

bool app_print_rows(struct app *a, struct vt_table *t, json_t *doc, const struct app_form *form)
{
	struct vt_output *out = t ? app_text(a, form->output) : NULL;
	bool ok = out || (!t && app_no_memory(a));

	if (out && form->json) {
		json_object_set_new(doc, "rows", vt_json_table(t));
		vt_json_write(out, json_incref(doc), true);
	} else if (out) {
		ok = app_print_table(a, t, form, out);
	}
	json_decref(doc);
	vt_table_free(t);
	return ok;
}
