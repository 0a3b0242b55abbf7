/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_VALUES_INTERPRETED_H
#define VT_LISTING_VALUES_INTERPRETED_H

#include "base/error.h"
#include "base/output.h"
#include "interpret/interpret.h"
#include "profile/losses.h"
#include "stream/writer.h"

/*
 * The totals of vinterp: how many instructions it ran, which values are known, why runs ended.
 * `path`: it followed a recorded path rather than samples.
 */

/* Prints tables.  With `losses`, prints a JSON document that includes them.  -VT_E_NOMEM. */
int vt_interpretlist_print(const struct vt_interpret_totals *t, bool path,
			   const struct vt_losses *losses, struct vt_output *out,
			   struct vt_error *err);

/* Passes a message to `note` for each kind of code or constants that was withheld. */
void vt_interpretlist_withheld(const struct vt_interpret_totals *t, vt_warn_fn *note, void *arg);

/* Writes the totals as META records: "vinterp.runs" and so on. */
void vt_interpretlist_write(const struct vt_interpret_totals *t, bool path, struct vt_writer *w);

#endif
