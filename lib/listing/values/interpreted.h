/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_VALUES_INTERPRETED_H
#define VT_LISTING_VALUES_INTERPRETED_H

#include "base/error.h"
#include "base/output.h"
#include "interpret/interpret.h"
#include "profile/losses.h"
#include "stream/writer.h"

/*
 * The totals of interpreting: how much was run, what of it is known, why runs ended.  `path`: along
 * a path, not from samples.
 */

/* Prints tables; with `losses`, a JSON document that has these as well.  -VT_E_NOMEM. */
int vt_interpretlist_print(const struct vt_interpret_totals *t, bool path,
			   const struct vt_losses *losses, struct vt_output *out,
			   struct vt_error *err);

/* Tells what was withheld, if anything, and how to have it. */
void vt_interpretlist_withheld(const struct vt_interpret_totals *t, vt_warn_fn *note, void *arg);

/* Writes META records, "vinterp.runs" and so on. */
void vt_interpretlist_write(const struct vt_interpret_totals *t, bool path, struct vt_writer *w);

#endif
