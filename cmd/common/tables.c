/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/tables.h"

bool app_print_table(struct app *a, const struct vt_table *t, const struct app_form *form,
		     int color, struct vt_output *out)
{
	struct vt_error err = VT_ERROR_INIT;

	if (vt_table_print(t, out, app_table_form(form), app_color(a, color), &err) < 0)
		return app_fail(a, &err);
	return true;
}
