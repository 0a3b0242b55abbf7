/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/event_choice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/spelling.h"

static bool name_is_shared(const struct vt_profile *p, size_t event)
{
	const char *name = vt_profile_event(p, event)->name;
	size_t i;

	for (i = 0; i < vt_profile_nevents(p); i++)
		if (i != event && strcmp(vt_profile_event(p, i)->name, name) == 0)
			return true;
	return false;
}

static char *make_label(const struct vt_profile *p, size_t event)
{
	const struct vt_profile_event *e = vt_profile_event(p, event);
	size_t size = strlen(e->name) + 24;
	char *label = malloc(size);

	if (label && name_is_shared(p, event) && e->origin)
		snprintf(label, size, "%s#%s", e->name, e->origin);
	else if (label && name_is_shared(p, event))
		snprintf(label, size, "%s#%" PRIu64, e->name, e->id);
	else if (label)
		snprintf(label, size, "%s", e->name);
	return label;
}

/* Adds an event, once. */
static bool choose_column(struct vt_event_choice *c, const struct vt_profile *p, size_t event)
{
	size_t i;

	for (i = 0; i < c->count; i++)
		if (c->index[i] == event)
			return true;
	c->label[c->count] = make_label(p, event);
	if (!c->label[c->count])
		return false;
	c->index[c->count++] = event;
	return true;
}

static int choose_named_columns(struct vt_event_choice *c, const struct vt_profile *p,
				const char *name, struct vt_error *err)
{
	bool found = false, ok = true;
	struct vt_buf there = VT_BUF_INIT;
	struct vt_spelling near = vt_spelling_start(name);
	size_t i;

	for (i = 0; i < vt_profile_nevents(p) && ok; i++) {
		char *label = make_label(p, i);
		bool fits = label && (strcmp(name, label) == 0 ||
				      strcmp(name, vt_profile_event(p, i)->name) == 0);

		ok = label && (!fits || choose_column(c, p, i));
		found = found || fits;
		vt_spelling_try(&near, vt_profile_event(p, i)->name);
		vt_buf_printf(&there, "%s%s", i ? ", " : "", label ? label : "");
		free(label);
	}
	if (ok && !found)
		vt_error_set(err, VT_E_NOTFOUND, "no event %s%s%s%s; there %s %s", name,
			     near.best ? "; did you mean " : "", near.best ? near.best : "",
			     near.best ? "?" : "", vt_profile_nevents(p) == 1 ? "is" : "are",
			     vt_profile_nevents(p) ? vt_buf_str(&there) : "none");
	vt_buf_free(&there);
	return !ok ? vt_error_nomem(err) : found ? 0 : -VT_E_NOTFOUND;
}

int vt_event_choice_init(struct vt_event_choice *c, const struct vt_profile *p,
			 const char *const *names, size_t nnames, struct vt_error *err)
{
	size_t i, n = vt_profile_nevents(p);
	int code = 0;

	*c = (struct vt_event_choice){0};
	c->index = calloc(n + 1, sizeof(*c->index));
	c->label = calloc(n + 1, sizeof(*c->label));
	if (!c->index || !c->label)
		code = vt_error_nomem(err);
	for (i = 0; i < nnames && code == 0; i++)
		code = choose_named_columns(c, p, names[i], err);
	for (i = 0; i < n && !nnames && code == 0; i++)
		if (vt_profile_event(p, i)->samples &&
		    i != vt_profile_estimate_event(p, VT_ESTIMATE_CYCLES) &&
		    !choose_column(c, p, i))
			code = vt_error_nomem(err);
	if (code < 0)
		vt_event_choice_fini(c);
	return code;
}

void vt_event_choice_fini(struct vt_event_choice *c)
{
	size_t i;

	for (i = 0; i < c->count; i++)
		free(c->label[i]);
	free(c->label);
	free(c->index);
	*c = (struct vt_event_choice){0};
}
