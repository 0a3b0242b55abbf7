/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/memory.h"

const struct app_memory_listing app_memory_objects = {vt_memlist_table, vt_memlist_header,
						      vt_memlist_json};

static bool print_memory(struct app *a, const struct app_form *form,
			 const struct app_memory_listing *l, const struct vt_memory *memory,
			 const struct vt_table *t, int64_t left_out)
{
	struct vt_output *out = app_text(a, form->output);

	if (!out)
		return false;
	if (form->json) {
		l->json(memory, t, left_out, &a->losses, out);
		return true;
	}
	if (app_form_is_text(form))
		l->header(memory, out);
	if (!app_print_table(a, t, form, out))
		return false;
	if (app_form_is_text(form))
		vt_table_print_left_out(out, (uint64_t)left_out);
	return true;
}

bool app_list_memory(struct app *a, const struct app_form *form, const struct app_memory_listing *l,
		     struct vt_memory *memory, struct vt_images *images,
		     const struct vt_memlist_options *o)
{
	struct vt_table *t = vt_table_new();
	struct vt_error err = VT_ERROR_INIT;
	int64_t left_out;
	bool ok;

	if (!t)
		return app_no_memory(a);
	left_out = l->fill(t, memory, images, o, &err);
	ok = left_out >= 0 ? print_memory(a, form, l, memory, t, left_out) : app_fail(a, &err);
	vt_table_free(t);
	return ok;
}
