/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_COPROCESSOR_VALUES_H
#define VT_COPROCESSOR_VALUES_H

#include "coprocessor/feed.h"
#include "coprocessor/host.h"
#include "stream/writer.h"

/*
 * Writes the values that the host has of loads as HOT records, ordered by image and offset: the low
 * 32 bits of values (5.1.1); `total` is the samples that the co-processor saw of the instruction,
 * counts are estimates (A.6), rounded down.  Returns 0 or -VT_E_NOMEM; the writer keeps its errors.
 */
int vt_coproc_write_values(const struct vt_host *h, const struct vt_feed *f, struct vt_writer *w,
			   struct vt_error *err);

#endif
