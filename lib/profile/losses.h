/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_LOSSES_H
#define VT_PROFILE_LOSSES_H

#include <stdint.h>

/* What streams say is missing. */
struct vt_losses {
	uint64_t lost_places; /* LOST records */
	uint64_t lost;	      /* the records that the recording side lost */
	uint64_t gaps;	      /* GAP records */
	uint64_t gap_bytes;   /* what they stand for, where it is known */
	uint64_t gap_records;
};

#endif
