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

/* The errors of estimated frequencies against counted ones: DCPI 6.2, figures 8 and 9. */

/* Errors by steps of 5 %: below -45 %, -45 % to -40 %, …, 40 % to 45 %, above. */
#define VT_FREQCOMPARE_BUCKETS 20

struct vt_freqcompare_part {
	double weight;	  /* sum of weights: samples, or for edges executions */
	double within[3]; /* weight of errors up to 5, 10 and 15 % */
	double error;	  /* weighted sum of |estimate - truth| / truth */
	double distance;  /* weighted sum of |estimate - truth| / the larger of both */
	double buckets[VT_FREQCOMPARE_BUCKETS];
};

struct vt_freqcompare {
	/* Samples without an estimate count as an error of 100 %. */
	struct vt_freqcompare_part insns;
	struct vt_freqcompare_part edges;
	struct vt_freqcompare_part by_confidence[VT_NCONFIDENCES]; /* instructions */
	struct vt_freqcompare_part edges_by_confidence[VT_NCONFIDENCES];
	uint64_t samples;     /* of the event that the estimates rest on */
	uint64_t not_counted; /* samples in images without counts */
	uint64_t missing;     /* samples in other images, without an estimate */
	double scale;	      /* factor that estimates were multiplied by */
};

struct vt_freqcompare_input {
	const struct vt_freqprofile *estimate;
	const struct vt_profile *samples; /* COUNT records of the estimate's stream */
	const struct vt_images *images;	  /* of that stream */
	const struct vt_flowcount *truth;
	const struct vt_images *truth_images;
	bool fit; /* scale by the median ratio, weighted by samples: for an unknown clock */
};

/* Compares all instructions and edges of images that both have.  -VT_E_NOMEM. */
int vt_freqcompare(const struct vt_freqcompare_input *in, struct vt_freqcompare *out,
		   struct vt_error *err);

#endif
