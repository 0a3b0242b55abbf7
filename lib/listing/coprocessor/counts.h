/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_COPROCESSOR_COUNTS_H
#define VT_LISTING_COPROCESSOR_COUNTS_H

#include "base/table.h"
#include "coprocessor/run.h"
#include "image/images.h"

/*
 * The rows that the main processor has of a program, those with the highest counts first, then by
 * keys: at most `top`, 0: all.  Keys that are 32 bits of an instruction that was executed have its
 * place beside them; one of 64 bits named A-B is told as two of 32, A and B.  *left_out gets how
 * many rows are not shown.  Owned by the caller; NULL: out of memory.
 */
struct vt_table *vt_coproc_counts_table(const struct vt_coproc_run *r, struct vt_images *images,
					uint64_t top, uint64_t *left_out);

#endif
