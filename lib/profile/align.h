/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_ALIGN_H
#define VT_PROFILE_ALIGN_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define VT_ALIGN_NONE UINT32_MAX

/* Sequences with more differences are aligned at their beginnings and ends only. */
#define VT_ALIGN_MAX 2000

/*
 * Finds a longest common subsequence of a[0..n) and b[0..m).  Sets match[i] to the index in b that
 * a[i] matches, or to VT_ALIGN_NONE; matches are in ascending order.  Myers: An O(ND) difference
 * algorithm and its variations, Algorithmica 1, 1986.  Returns 0; 1 if there are more than
 * VT_ALIGN_MAX differences; -VT_E_NOMEM.
 */
int vt_align(const uint64_t *a, size_t n, const uint64_t *b, size_t m, uint32_t *match,
	     struct vt_error *err);

#endif
