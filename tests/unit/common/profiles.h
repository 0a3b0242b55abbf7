/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_COMMON_PROFILES_H
#define TESTS_UNIT_COMMON_PROFILES_H

#include "profile/profile.h"
#include "stream/writer.h"

/* Ends a stream, feeds all of it to a context, and closes the file. */
void read_context(struct vt_context *c, int fd, struct vt_writer *w);

/* A profile that is the consumer of a context of its own, which goes with it. */
struct vt_profile *new_profile(struct vt_images *images);
void free_profile(struct vt_profile *p);

#endif
