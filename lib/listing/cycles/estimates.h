/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_CYCLES_ESTIMATES_H
#define VT_LISTING_CYCLES_ESTIMATES_H

#include "base/buf.h"
#include "base/output.h"
#include "freq/compare.h"
#include "freq/run.h"
#include "profile/losses.h"

/* Reports how frequencies were estimated, and how good they are. */

/* Prints a JSON document: the options, and what became of the samples. */
void vt_freqrun_print(const struct vt_freqrun_options *o, const struct vt_freqrun_totals *t,
		      const struct vt_losses *losses, struct vt_output *out);

/* Appends what became of exact counts that are of another run; nothing if they are taken as such.
 */
void vt_freqrun_other_run(const struct vt_freqrun_options *o, const struct vt_freqrun_totals *t,
			  struct vt_buf *b);

/*
 * Appends how many samples are in code without counts on a machine that issues out of order, and
 * what would count it; nothing if they are few.
 */
void vt_freqrun_uncounted(const struct vt_freqrun_options *o, const struct vt_freqrun_totals *t,
			  struct vt_buf *b);

/* Appends how many samples were left out, where and why; nothing if they are few. */
void vt_freqrun_left_out(const struct vt_freqrun_options *o, const struct vt_freqrun_totals *t,
			 struct vt_buf *b);

/* Appends which part of the direct calls contradicts entries (freq/calls.h); nothing if it is
 * small. */
void vt_freqrun_disagreeing(const struct vt_freqrun_totals *t, struct vt_buf *b);

/* Prints a table.  With `losses`, prints a JSON document that includes them. */
void vt_freqcompare_print(const struct vt_freqcompare *c, const struct vt_losses *losses,
			  struct vt_output *out);

#endif
