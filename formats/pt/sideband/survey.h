/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_SIDEBAND_SURVEY_H
#define FORMATS_PT_SIDEBAND_SURVEY_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "formats/pt/decode/scan.h"
#include "stream/record.h"

/*
 * Counts the packets of Intel PT traces that are not decoded: of the AUXTRACE records of a stream,
 * or of one raw trace.
 */
struct vt_pt_survey;

/* The most AUX areas whose traces are counted. */
#define VT_PT_SURVEY_TRACES 4096

/* The AUX area of a processor or a thread, or a raw trace. */
struct vt_pt_surveyed {
	uint64_t index; /* of the area */
	int64_t cpu;	/* -1: not known */
	int64_t tid;	/* likewise */
	uint64_t next;	/* private: the offset in the area of its next byte */
	struct vt_pt_scan scan;
};

/* Owned by the caller; NULL when memory runs out. */
struct vt_pt_survey *vt_pt_survey_new(void);
void vt_pt_survey_free(struct vt_pt_survey *s);

/* Takes `count` rows of a block of any kind from row `first` on.  -VT_E_NOMEM. */
int vt_pt_survey_feed(struct vt_pt_survey *s, const struct vt_block *b, uint32_t first,
		      uint32_t count, struct vt_error *err);

/* Takes the next bytes of the only trace of a raw input, or none of an empty one.  -VT_E_NOMEM. */
int vt_pt_survey_feed_raw(struct vt_pt_survey *s, const uint8_t *data, size_t size,
			  struct vt_error *err);

/* Ends all traces; to be called before the results are read. */
void vt_pt_survey_finish(struct vt_pt_survey *s);

/* The traces in the order of their first bytes; borrowed. */
size_t vt_pt_survey_count(const struct vt_pt_survey *s);
const struct vt_pt_surveyed *vt_pt_survey_at(const struct vt_pt_survey *s, size_t i);

/* The number of places in all traces with bytes that are no packet, and these bytes. */
uint64_t vt_pt_survey_places(const struct vt_pt_survey *s, uint64_t *bytes);

/* Converts the TSC to ns, by AUXINFO or TIMECONV records; 0 if these or the TSC are unknown. */
uint64_t vt_pt_survey_time(const struct vt_pt_survey *s, uint64_t tsc);

#endif
