/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_PROFILE_JSON_H
#define VT_LISTING_PROFILE_JSON_H

#include <jansson.h>

#include "profile/event_choice.h"
#include "profile/profile.h"
#include "profile/ranking.h"

/*
 * Sets "events", "lost" and "gaps" of an object: what the lines above a text listing say.  The
 * share of unknown samples needs the ranking, which may be NULL.
 */
void vt_json_profile(json_t *object, const struct vt_profile *p,
		     const struct vt_event_choice *events, const struct vt_ranking *ranking);

#endif
