/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_PROFILE_H
#define VT_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/context.h"
#include "stream/record.h"

/*
 * A profile: how many samples of each event fell on each place of each image.  It is a consumer of
 * a reading context, so that each sample is resolved through what was mapped at its time.  Events
 * stay apart: samples whose pc was chosen in different ways are never added up.
 *
 * Memory: one entry for each distinct place and event, however many samples there are.
 */
struct vt_profile;

/*
 * The event, "instructions", that executed code (BLOCK and EXEC records) is counted as: the
 * instructions that were executed, every one.  Not in a stream that is a sample (META "sampling"),
 * whose executed code is just what surrounds its samples.
 */
#define VT_PROFILE_EXEC_EVENT 0x76730000u

/*
 * Events that estimates of frequency (FREQ records) are counted as, if vt_profile_estimates() was
 * called: what each instruction adds, rounded to whole ones.
 */
enum vt_estimate {
	VT_ESTIMATE_EXECUTIONS,
	VT_ESTIMATE_CYCLES, /* at the head of the queue, all executions together */
	VT_ESTIMATE_STALL,  /* of them those beyond what the processor needs at best */
	VT_NESTIMATES
};

/*
 * Why a sample lies in no image, by the mode in which the CPU was: its offset in VT_UNMAPPED_IMAGE.
 */
enum vt_unmapped {
	VT_UNMAPPED_USER,
	VT_UNMAPPED_KERNEL,
	VT_UNMAPPED_HYPERVISOR,
	VT_UNMAPPED_GUEST_KERNEL,
	VT_UNMAPPED_GUEST_USER,
	VT_UNMAPPED_MODE,  /* the mode was not recorded either */
	VT_UNMAPPED_NO_IP, /* the event was recorded without an address */
	VT_NUNMAPPED
};

/* "no mapping, user mode" …; "?" for other values. */
const char *vt_unmapped_text(uint64_t why);

/* Why a sample with these fields, at whose address nothing is mapped, lies in no image. */
enum vt_unmapped vt_unmapped_cause(uint64_t ip, uint64_t misc, uint64_t has);

struct vt_profile_event {
	uint64_t id;	  /* of its EVENT record */
	const char *name; /* borrowed from the context, as the unit */
	const char *unit; /* of the period; "" if unknown */
	enum vt_policy policy;
	uint64_t sampling; /* the period asked for, 0 if a frequency was */
	uint64_t samples;
	uint64_t period;   /* sum of the samples' periods */
	uint64_t told;	   /* samples that came one by one, and so said whether */
	uint64_t exact_ip; /* their pc is the instruction's own (PERF_RECORD_MISC_EXACT_IP) */
	bool estimate;	   /* no count of anything: enum vt_estimate */
};

struct vt_place {
	uint64_t offset; /* in the image (vt_map_offset()) */
	uint32_t image;	 /* id, or VT_UNMAPPED_IMAGE */
	int32_t pid;	 /* of anonymous code, which is another in each process; else 0 */
	uint32_t event;	 /* index of the event */
	uint32_t zero;	 /* the key has no padding */
	uint64_t samples;
	uint64_t period;
};

/* `context` is borrowed.  Owned by the caller; NULL when memory runs out. */
struct vt_profile *vt_profile_new(struct vt_context *context);
void vt_profile_free(struct vt_profile *p);

/* From now on, FREQ records count as events, too. */
void vt_profile_estimates(struct vt_profile *p);

/* The index of the event of an estimate; SIZE_MAX: there is none. */
size_t vt_profile_estimate_event(const struct vt_profile *p, enum vt_estimate estimate);

/*
 * A vt_consume_fn; `profile` is the struct vt_profile.  Ignores kinds that do not matter.  Without
 * BLOCK and EXEC records, executed code is not counted.  Returns 0, -VT_E_NOMEM or -VT_E_LIMIT.
 */
int vt_profile_feed(void *profile, const struct vt_block *block, uint32_t first, uint32_t count,
		    struct vt_error *err);

/* Adds executed code to the places.  To be called after the last record. */
int vt_profile_finish(struct vt_profile *p, struct vt_error *err);

/*
 * Adds what no record of the stream counts: `samples` of `event`, a name that is borrowed, counted
 * exactly, at an offset of an image.  -VT_E_NOMEM.
 */
int vt_profile_count(struct vt_profile *p, const char *event, uint32_t image, uint64_t offset,
		     uint64_t samples, struct vt_error *err);

/* All borrowed, until the next record. */
size_t vt_profile_nevents(const struct vt_profile *p);
const struct vt_profile_event *vt_profile_event(const struct vt_profile *p, size_t event);
size_t vt_profile_nplaces(const struct vt_profile *p);
const struct vt_place *vt_profile_place(const struct vt_profile *p, size_t i);
/*
 * The places of an image, and of a process where its code is another in each, at offsets first to
 * last, by offset: borrowed, until the next record.  The first call after one sorts all places;
 * each call takes no longer than its answer is long, but for a search.  False: out of memory.
 */
bool vt_profile_find_places(const struct vt_profile *p, uint32_t image, int32_t pid, uint64_t first,
			    uint64_t last, const struct vt_place *const **places, size_t *n);

/* Records of executed code that contradict themselves: they are left out. */
uint64_t vt_profile_bad(const struct vt_profile *p);

struct vt_context *vt_profile_context(const struct vt_profile *p);

#endif
