/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_COMMON_HOTS_H
#define TESTS_UNIT_COMMON_HOTS_H

#include <stdint.h>

#include "stream/writer.h"
#include "value/hot_profile.h"

/* Streams of HOT records for the unit tests: a list is told field by field. */

#define HOT_MAX_VALUES 64

struct hot_spec {
	uint64_t image, offset;
	uint64_t what, reg, lane;
	uint64_t size; /* 0: 8 */
	uint64_t caller_image, caller;
	uint64_t algo, capacity, steady, level;
	double factor;
	uint64_t total, profiled; /* profiled 0: total */
	uint64_t zero, same, stride, first, last;
	uint64_t nvalues, nerrors;
	uint64_t values[HOT_MAX_VALUES], counts[HOT_MAX_VALUES], errors[HOT_MAX_VALUES];
};

void hot_image(struct vt_writer *w, uint64_t id, const char *path, const char *buildid);
void hot_put(struct vt_writer *w, const struct hot_spec *s);

/* Ends the stream and reads it into a profile, as one more of its streams. */
void hot_read(struct vt_writer *w, int fd, struct vt_hotprofile *p);

/* The same; returns what vt_hotprofile_end() does. */
int hot_read_code(struct vt_writer *w, int fd, struct vt_hotprofile *p, struct vt_error *err);

/* A profile of these lists, all of image 1, "/bin/a". */
struct vt_hotprofile *hot_profile(const struct hot_spec *specs, size_t n);

#endif
