/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_SLICE_INTERNAL_H
#define VT_PROFILE_SLICE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* The values that a filter of a slice lets pass, as the user wrote them: slice.h. */

struct vti_slice_range {
	uint64_t first;
	uint64_t last;
	bool since_first; /* times, and zero is the first sample's */
};

/* Of a filter, only one of the two arrays is used. */
struct vti_slice_filter {
	struct vti_slice_range *ranges;
	char **patterns;
	size_t count;
	size_t cap;
};

void vti_slice_filter_fini(struct vti_slice_filter *f);

/* As vt_slice_add(). */
int vti_slice_add_numbers(struct vti_slice_filter *f, const char *text, struct vt_error *err);
int vti_slice_add_time(struct vti_slice_filter *f, const char *text, struct vt_error *err);
int vti_slice_add_patterns(struct vti_slice_filter *f, const char *text, bool nested,
			   struct vt_error *err);

/* Whether a filter lets a value pass; `zero`: the time of the first sample. */
bool vti_slice_has_number(const struct vti_slice_filter *f, uint64_t number);
bool vti_slice_has_time(const struct vti_slice_filter *f, uint64_t time, uint64_t zero);
bool vti_slice_matches(const struct vti_slice_filter *f, const char *text);
bool vti_slice_names(const struct vti_slice_filter *f, const char *procedure);

#endif
