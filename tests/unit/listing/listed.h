/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_LISTING_LISTED_H
#define TESTS_UNIT_LISTING_LISTED_H

/* Profiles of small streams, and the events that are listed of them. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "listing/profile/profile.h"
#include "tests/unit/common/scenes.h"

static struct vt_error err;

struct listed {
	struct scene scene;
	struct vt_event_choice events;
};

/* Reads the stream; chooses the events of these names, or all that have samples. */
static inline void list(struct listed *l, int fd, struct vt_writer *w, bool estimates,
			const char *const *names, size_t nnames)
{
	scene_read(&l->scene, fd, w, estimates);
	assert_int_equal(vt_event_choice_init(&l->events, l->scene.profile, names, nnames, &err),
			 0);
}

static inline void discard(struct listed *l)
{
	vt_event_choice_fini(&l->events);
	scene_drop(&l->scene);
}

#endif
