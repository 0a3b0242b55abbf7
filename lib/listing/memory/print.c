/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/memory/print.h"

const struct vt_memlist vt_memlist_objects = {vt_memlist_table, vt_memlist_header, vt_memlist_json};
const struct vt_memlist vt_memlist_by_type = {vt_memlist_types, vt_memlist_header,
					      vt_memlist_types_json};
const struct vt_memlist vt_memlist_sharing = {vt_memlist_lines, vt_memlist_lines_header,
					      vt_memlist_lines_json};
const struct vt_memlist vt_memlist_static_loads = {vt_memlist_loads, vt_memlist_loads_header,
						   vt_memlist_loads_json};

static int print_filled(const struct vt_memlist *l, const struct vt_memory *m,
			const struct vt_table *t, int64_t left_out, const struct vt_memlist_form *f,
			struct vt_error *err)
{
	const bool people = !f->json && f->form == VT_TABLE_TEXT;

	if (f->json) {
		l->json(m, t, left_out, f->losses, f->out);
		return 0;
	}
	if (people)
		l->header(m, f->out);
	if (vt_table_print(t, f->out, f->form, f->color, err) < 0)
		return -(int)err->code;
	if (people)
		vt_table_print_left_out(f->out, (uint64_t)left_out);
	return 0;
}

int vt_memlist_print(const struct vt_memlist *l, struct vt_memory *m, struct vt_images *images,
		     const struct vt_memlist_options *o, const struct vt_memlist_form *f,
		     struct vt_error *err)
{
	struct vt_table *t = vt_table_new();
	int64_t left_out = t ? l->fill(t, m, images, o, err) : vt_error_nomem(err);
	int code = left_out < 0 ? (int)left_out : print_filled(l, m, t, left_out, f, err);

	vt_table_free(t);
	return code;
}
