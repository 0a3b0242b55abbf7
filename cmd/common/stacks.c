/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/stacks.h"

#include <stdlib.h>

#include "chains/stacks.h"
#include "cmd/common/profiles.h"
#include "cmd/common/stream.h"
#include "profile/event_choice.h"

/* Puts the first event with call chains before the others, unless the user chose. */
static void order_events(const struct app_profile *p, struct vt_event_choice *events)
{
	size_t i;

	for (i = 0; i < events->count; i++) {
		const struct vt_profile_event *e = vt_profile_event(p->profile, events->index[i]);
		size_t index = events->index[i];
		char *label = events->label[i];

		if (!vt_callgather_counts(p->chains, e).chains)
			continue;
		events->index[i] = events->index[0];
		events->label[i] = events->label[0];
		events->index[0] = index;
		events->label[0] = label;
		return;
	}
}

/* The name of a period's value: pprof picks values by name, so each has its own. */
static void name_period(struct vt_buf *name, const char *label)
{
	name->size = 0;
	vt_buf_printf(name, "%s/period", label);
}

static bool make_stacks(struct app *a, const struct app_stacks_how *how,
			const struct app_profile *p, const struct vt_event_choice *events,
			struct vt_callvalue *values, struct vt_stacks **out)
{
	struct vt_buf *names = calloc(events->count + 1, sizeof(*names));
	struct vt_callstacks c = {.gather = p->chains,
				  .profile = p->profile,
				  .images = p->in.images.store,
				  .values = values,
				  .inlined = how->inlined,
				  .lines = how->lines};
	struct vt_error err = VT_ERROR_INIT;
	size_t i, n = how->all ? events->count : events->count > 0;

	for (i = 0; i < n && names; i++) {
		const struct vt_profile_event *e = vt_profile_event(p->profile, events->index[i]);
		const char *unit = *e->unit ? e->unit : "events";

		if (how->both || !how->by_period)
			values[c.count++] = (struct vt_callvalue){events->index[i],
								  events->label[i], "count", false};
		name_period(&names[i], events->label[i]);
		if (how->both || how->by_period)
			values[c.count++] = (struct vt_callvalue){
				events->index[i],
				how->both ? vt_buf_str(&names[i]) : events->label[i], unit, true};
	}
	if (names)
		*out = vt_callstacks_make(&c, &err);
	for (i = 0; i < n && names; i++)
		vt_buf_free(&names[i]);
	free(names);
	return *out || (err.code ? app_fail(a, &err) : app_no_memory(a));
}

static bool read_stacks(struct app *a, const struct app_stacks_how *how, struct app_profile *p,
			struct vt_event_choice *events, struct app_stacks *s)
{
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_profile_event *e;
	struct vt_callvalue *values;
	bool ok;

	if (vt_callgather_finish(p->chains, p->in.images.store, VT_LEVEL_INSTRUCTION,
				 how->by_period, &err) < 0 ||
	    vt_event_choice_init(events, p->profile, how->events->items, how->events->count, &err) <
		    0)
		return app_fail(a, &err);
	if (!events->count)
		return app_lacks(a, p->name, APP_NO_SAMPLES);
	if (!how->events->count)
		order_events(p, events);
	e = vt_profile_event(p->profile, events->index[0]);
	s->sampled = e->kind == VT_PROFILE_EVENT;
	if (s->sampled)
		s->chains = vt_callgather_counts(p->chains, e);
	values = calloc(2 * events->count, sizeof(*values));
	ok = values ? make_stacks(a, how, p, events, values, &s->stacks) : app_no_memory(a);
	free(values);
	return ok;
}

bool app_stacks_read(struct app *a, const struct app_stacks_how *how, struct app_stacks *s)
{
	static const enum vt_group_key keys[] = {VT_GROUP_PROCESS, VT_GROUP_COMM, VT_GROUP_THREAD,
						 VT_GROUP_CPU};
	struct vt_groups *groups =
		how->labels ? vt_groups_new(keys, sizeof(keys) / sizeof(keys[0]), 0) : NULL;
	struct vt_event_choice events = {0};
	struct app_profile p;
	bool ok;

	*s = (struct app_stacks){0};
	if (how->labels && !groups)
		return app_no_memory(a);
	ok = app_profile_read_chains(a, &p, how->path, how->symfs, groups) &&
	     read_stacks(a, how, &p, &events, s);
	s->name = p.name;
	vt_event_choice_fini(&events);
	app_profile_end(&p);
	vt_groups_free(groups);
	return ok;
}

void app_stacks_end(struct app_stacks *s)
{
	vt_stacks_free(s->stacks);
}
