/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/memory.h"
#include "cmd/common/profiles.h"
#include "cmd/vlist/listings.h"

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

	if (check_location_options(a, o))
		app_list_memory(a, &o->form, &app_memory_objects, data->locations,
				data->in.images.store, &lo);
}
