/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_SIDEBAND_OVERLAP_H
#define FORMATS_PT_SIDEBAND_OVERLAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Snapshots of a ring buffer that is overwritten: each shows what the trace's last bytes were then,
 * so that two of them may have bytes in common: the end of the earlier one is then the begin of the
 * later one, from a PSB on (what lies before the first PSB of a snapshot may be overwritten in
 * part).
 */

/*
 * How many bytes at the start of `b` were in `a`, the snapshot before it, or are of no use because
 * they come before a PSB.  *joined: b goes on where a ends, nothing is missing between them.
 */
size_t vti_pt_overlap(const uint8_t *a, size_t asize, const uint8_t *b, size_t bsize, bool *joined);

#endif
