/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/profiles.h"
#include "cmd/vlist/listings.h"
#include "listing/memory/print.h"
#include "memory/records.h"

/* Without --top, as vmem. */
#define TOP_OF_LOCATIONS 20

/* Options of listings of code say nothing of data; false after app_usage(). */
static bool check_location_options(struct app *a, const struct vlist_options *o)
{
	const struct app_rule rules[] = {
		{a->argc > 0, "memory locations have no procedures: vmem --object chooses objects"},
		{o->what != NULL,
		 "--what goes with values of instructions, not of memory locations"},
	};

	return APP_CHECK_RULES(a, rules);
}

void vlist_list_locations(struct app *a, const struct vlist_options *o,
			  const struct app_profile *data)
{
	const struct vt_memlist_options lo = {
		.rows = VT_MEMLIST_LOCATIONS,
		.top = o->all	      ? 0
		       : o->top_given ? o->top
				      : TOP_OF_LOCATIONS,
		.types = UINT32_MAX,
		.people = app_form_is_text(&o->form),
		.style = &o->values.style,
		.show = o->values.show,
		.cutoff = o->values.cutoff,
	};
	struct vt_memlist_form form = {
		.form = app_table_form(&o->form),
		.json = o->form.json,
		.losses = &a->losses,
	};
	struct vt_error err = VT_ERROR_INIT;

	if (!check_location_options(a, o))
		return;
	if (vt_memory_totals(data->locations)->raised)
		app_say_lossy(a, "%s: " VT_MEMRECORDS_RAISED, data->name);
	form.out = app_text(a, o->form.output);
	form.color = form.out && app_form_color(a, &o->form);
	if (form.out && vt_memlist_print(&vt_memlist_objects, data->locations,
					 data->in.images.store, &lo, &form, &err) < 0)
		app_fail(a, &err);
}
