/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_EVENT_CHOICE_H
#define VT_PROFILE_EVENT_CHOICE_H

#include <stddef.h>

#include "base/error.h"
#include "profile/profile.h"

/* Events of a profile, chosen by the user. */
struct vt_event_choice {
	size_t *index; /* in the profile */
	char **label;  /* the event's name; with "#id" after it where two events share a name */
	size_t count;
};

/*
 * Chooses the events with these names or labels, in their order; with nnames 0, all that have
 * samples.  VT_E_NOTFOUND (the text lists the names there are), VT_E_NOMEM.  Free with
 * vt_event_choice_fini().
 */
int vt_event_choice_init(struct vt_event_choice *c, const struct vt_profile *p,
			 const char *const *names, size_t nnames, struct vt_error *err);
void vt_event_choice_fini(struct vt_event_choice *c);

#endif
