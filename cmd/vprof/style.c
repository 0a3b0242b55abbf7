/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/vprof/style.h"

#include <string.h>

#include "cmd/common/profiles.h"
#include "listing/profile/perf_style.h"
#include "profile/context.h"

const char *const vprof_style_words[] = {"vprof", "perf", NULL};

bool vprof_style_check(struct app *a, const struct app_by *by)
{
	size_t i;

	if (by->level == VT_LEVEL_LINE || by->level == VT_LEVEL_INSTRUCTION ||
	    by->level == VT_LEVEL_INLINED)
		return app_usage(a, "--style perf has no rows by %s: by procedure or image",
				 vt_level_words[by->level]);
	for (i = 0; i < by->nkeys; i++)
		if (by->keys[i] != VT_GROUP_COMM && by->keys[i] != VT_GROUP_THREAD &&
		    by->keys[i] != VT_GROUP_CPU)
			return app_usage(a,
					 "--style perf has no rows by %s: by comm, thread or cpu",
					 vt_group_words[by->keys[i]]);
	return true;
}

/* The user's keys, and those that perf's symbols need.  Without --by, perf's own choice. */
static struct vt_groups *make_groups(const struct app_by *by)
{
	enum vt_group_key keys[VT_NGROUPS];
	size_t n = by->text ? by->nkeys : 0;

	memcpy(keys, by->keys, n * sizeof(*keys));
	if (!by->text)
		keys[n++] = VT_GROUP_COMM;
	keys[n++] = VT_GROUP_MODE;
	keys[n++] = VT_GROUP_ADDRESS;
	return vt_groups_new(keys, n, 0);
}

static void print_profile(struct app *a, const struct vprof_style_how *how,
			  const struct app_profile *p)
{
	struct vt_event_choice events = {0};
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_perf_style style = {
		.profile = p->profile,
		.images = p->in.images.store,
		.events = &events,
		.losses = vt_context_losses(p->in.context),
		.image = how->by->level != VT_LEVEL_ALL,
		.procedure = how->by->level == VT_LEVEL_PROCEDURE,
		.top = how->list->top,
		.min_percent = how->list->min_percent,
	};
	struct vt_output *out;

	if (vt_event_choice_init(&events, p->profile, how->events->items, how->events->count,
				 &err) < 0)
		app_fail(a, &err);
	else if ((out = app_text(a, how->output)) && vt_perf_style_print(&style, out, &err) < 0)
		app_fail(a, &err);
	vt_event_choice_fini(&events);
}

void vprof_list_perf(struct app *a, const struct vprof_style_how *how)
{
	struct vt_groups *groups = make_groups(how->by);
	struct app_profile p = {0};

	if (!groups) {
		app_no_memory(a);
		return;
	}
	if (app_profile_read_groups(a, &p, how->path, how->symfs, groups))
		print_profile(a, how, &p);
	app_profile_end(&p);
	vt_groups_free(groups);
}
