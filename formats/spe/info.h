/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_SPE_INFO_H
#define FORMATS_SPE_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "formats/pt/decode/emit.h"
#include "stream/record.h"

/*
 * The properties of all SPE traces of a recording, collected from its records before any is
 * decoded: the event, the clock, and the processors.
 */

/* AUXINFO.type: PERF_AUXTRACE_ARM_SPE of perf's tools/perf/util/auxtrace.h. */
#define VT_SPE_AUXINFO_TYPE 4

#define VT_SPE_MAX_EVENTS 64 /* the most events of PMUs that are looked at */

struct vt_spe_info {
	bool found;	/* there is a description of SPE */
	bool has_times; /* records have times, so that samples can be put between them */
	bool has_event; /* there is an event of the PMU */
	uint64_t event; /* its id */
	uint64_t period;

	/* Private. */
	uint64_t pmu;
	uint64_t midr;	      /* of all processors, from perf's header; 0: not known */
	struct vt_hash midrs; /* of single processors */
	struct vt_pt_timeconv conv;
	bool wraps; /* the clock has only the bits of `mask` */
	uint64_t cycles, mask;
	struct vt_spe_event {
		uint64_t type, id, period;
	} events[VT_SPE_MAX_EVENTS];
	size_t nevents;
};

void vt_spe_info_init(struct vt_spe_info *i);
void vt_spe_info_fini(struct vt_spe_info *i);

/* Takes a record of any kind. */
void vt_spe_info_feed(struct vt_spe_info *i, const struct vt_record *rec);

/* Sets `event` and `period`, after the last record. */
void vt_spe_info_done(struct vt_spe_info *i);

/* MIDR_EL1 of a processor; 0: not known.  cpu -1: of all, if they have the same one. */
uint64_t vt_spe_info_midr(const struct vt_spe_info *i, int64_t cpu);

/* The time in ns of a timestamp; false: the clock is not known. */
bool vt_spe_info_time(const struct vt_spe_info *i, uint64_t timestamp, uint64_t *time);

/* The time of a record in *time; false: it has none. */
bool vt_spe_record_time(const struct vt_record *rec, uint64_t *time);

#endif
