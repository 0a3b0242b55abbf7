/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_LOSSES_H
#define VT_PROFILE_LOSSES_H

#include <stdint.h>

/* Losses that a stream records. */
struct vt_losses {
	uint64_t lost_places; /* LOST records */
	uint64_t lost;	      /* records lost while recording */
	uint64_t gaps;	      /* GAP records */
	uint64_t gap_bytes;   /* missing bytes and records, as far as known */
	uint64_t gap_records;
};

#endif
