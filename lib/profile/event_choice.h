/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_EVENT_CHOICE_H
#define VT_PROFILE_EVENT_CHOICE_H

#include <stddef.h>

#include "base/error.h"
#include "profile/profile.h"

/* Columns of a profile that the user chose. */
struct vt_event_choice {
	size_t *index; /* in the profile */
	char **label;  /* the name; if two columns share it, with "#id" or "#executed", … */
	size_t count;
};

/*
 * Chooses the columns with these names or labels, in this order; if nnames is 0, all columns with
 * samples except VT_ESTIMATE_CYCLES.  -VT_E_NOTFOUND (the text lists the labels), -VT_E_NOMEM.
 * Free with vt_event_choice_fini().
 */
int vt_event_choice_init(struct vt_event_choice *c, const struct vt_profile *p,
			 const char *const *names, size_t nnames, struct vt_error *err);
void vt_event_choice_fini(struct vt_event_choice *c);

#endif
