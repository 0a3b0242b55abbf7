/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_CYCLES_ESTIMATES_H
#define VT_LISTING_CYCLES_ESTIMATES_H

#include "base/buf.h"
#include "base/output.h"
#include "freq/compare.h"
#include "freq/run.h"
#include "profile/losses.h"

/* How frequencies were estimated, and how good they are. */

/* Prints a JSON document: how it was done, and what came of the samples. */
void vt_freqrun_print(const struct vt_freqrun_options *o, const struct vt_freqrun_totals *t,
		      const struct vt_losses *losses, struct vt_output *out);

/* Appends how many samples were left out, where, and why; nothing if they are few. */
void vt_freqrun_left_out(const struct vt_freqrun_options *o, const struct vt_freqrun_totals *t,
			 struct vt_buf *b);

/* Prints a table; with `losses`, a JSON document that has these as well. */
void vt_freqcompare_print(const struct vt_freqcompare *c, const struct vt_losses *losses,
			  struct vt_output *out);

#endif
