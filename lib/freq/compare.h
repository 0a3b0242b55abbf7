/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FREQ_COMPARE_H
#define VT_FREQ_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "freq/counted.h"
#include "freq/profile.h"
#include "image/images.h"
#include "profile/profile.h"

/* How good frequencies are, against what was counted: DCPI 6.2, figures 8 and 9. */

/* Errors by steps of 5 %: below -45 %, -45 % to -40 %, …, 40 % to 45 %, above. */
#define VT_FREQCOMPARE_BUCKETS 20

struct vt_freqcompare_part {
	double weight;	  /* samples; of edges, executions */
	double within[3]; /* of them, off by at most 5, 10, 15 % */
	double error;	  /* sum of |estimate - truth| / the truth, weighted */
	double distance;  /* sum of |estimate - truth| / the larger of both */
	double buckets[VT_FREQCOMPARE_BUCKETS];
};

struct vt_freqcompare {
	struct vt_freqcompare_part
		insns; /* and those without an estimate, which is an error of all */
	struct vt_freqcompare_part edges;
	struct vt_freqcompare_part by_confidence[VT_NCONFIDENCES]; /* instructions */
	struct vt_freqcompare_part edges_by_confidence[VT_NCONFIDENCES];
	uint64_t samples;     /* of the event */
	uint64_t not_counted; /* of them, in images of which nothing was counted */
	uint64_t missing;     /* in others, but without an estimate */
	double scale;	      /* what estimates were multiplied by */
};

struct vt_freqcompare_input {
	const struct vt_freqprofile *estimate;
	const struct vt_profile *samples; /* of the estimate's stream: its COUNT records */
	const struct vt_images *images;	  /* of it */
	const struct vt_flowcount *truth;
	const struct vt_images *truth_images;
	bool fit; /* find the scale at which most samples fit: the clock was not known */
};

/* -VT_E_NOMEM. */
int vt_freqcompare(const struct vt_freqcompare_input *in, struct vt_freqcompare *out,
		   struct vt_error *err);

#endif
