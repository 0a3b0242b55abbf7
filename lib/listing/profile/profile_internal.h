/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_PROFILE_PROFILE_INTERNAL_H
#define VT_LISTING_PROFILE_PROFILE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "profile/ranking.h"

/* A longer procedure name does not push the image's column to the right in all other rows. */
#define VTI_NAME_WIDTH 48

/*
 * A column of an event: `member` says what of it.  A line's key is the label, a dot and that; the
 * label alone for "samples".
 */
void vti_event_column(struct vt_table *t, const char *label, const char *member,
		      const char *heading, enum vt_format format);

/* Whether two events are the same but for modifiers: "cycles" and "cycles:u". */
bool vti_same_event(const char *a, const char *b);

/* Cycles by executions: empty if there are none. */
void vti_cpi_cell(struct vt_table *t, struct vt_tally cycles, struct vt_tally executions);

static inline uint64_t vti_weigh(struct vt_tally t, bool by_period)
{
	return by_period ? t.period : t.samples;
}

#endif
