/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_PROFILE_H
#define VT_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/context.h"
#include "profile/groups.h"
#include "stream/record.h"

/*
 * A profile: the samples of each event at each place of each image.  It consumes the records of a
 * reading context, which resolves each sample through the mappings of its time.  Samples of
 * different events are never added up, since their addresses may have been chosen differently.
 *
 * Memory: one entry for each distinct place and event, however many samples there are.
 */
struct vt_profile;

/* What a column of the profile counts.  Only the stream's events have several columns. */
enum vt_profile_kind {
	VT_PROFILE_EVENT, /* samples of an event of the stream */

	/*
	 * Executed instructions, all of them, from BLOCK and EXEC records.  In a stream that is a
	 * sample (META "sampling") executed code only surrounds the samples and is not counted.
	 */
	VT_PROFILE_EXECUTED,

	/*
	 * Estimates from FREQ records, if vt_profile_estimates() was called: the sum over all
	 * executions of an instruction, rounded to an integer.
	 */
	VT_ESTIMATE_EXECUTIONS,
	VT_ESTIMATE_CYCLES, /* cycles at the head of the queue */
	VT_ESTIMATE_STALL,  /* of these, the cycles beyond the static schedule */

	/* What the caller counts by vt_profile_count(). */
	VT_PROFILE_LISTED,   /* executions that hot lists name */
	VT_PROFILE_CYCLES,   /* cycles of FREQ records, where a stream has no samples */
	VT_PROFILE_FOLLOWED, /* samples behind EVSTAT records, likewise */
	VT_PROFILE_NKINDS
};

/*
 * Why a sample lies in no image, by the CPU's mode: its offset in VT_UNMAPPED_IMAGE.
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

/* For example "no mapping, user mode"; "?" for other values. */
const char *vt_unmapped_text(uint64_t why);

/* The reason why a sample with these fields is in no image, if nothing is mapped at `ip`. */
enum vt_unmapped vt_unmapped_cause(uint64_t ip, uint64_t misc, uint64_t has);

/* A column of the profile. */
struct vt_profile_event {
	enum vt_profile_kind kind;
	uint64_t id;	  /* of the EVENT record; other kinds have a number for FREQ records */
	const char *name; /* borrowed from the context, like `unit` */
	const char *unit; /* of the period; "" if unknown */
	enum vt_policy policy;
	uint64_t precise;  /* precise_ip as requested: 0 to 3 */
	uint64_t sampling; /* requested period; 0 if a frequency was requested */
	uint64_t freq;	   /* requested frequency in Hz; 0 if a period was requested */
	uint64_t samples;
	uint64_t period;    /* sum of the samples' periods */
	double squares;	    /* of their squares; as if all were equal where only sums are known */
	uint64_t single;    /* samples from SAMPLE records, which say whether their pc is exact */
	uint64_t exact_ip;  /* of these, samples with an exact pc (PERF_RECORD_MISC_EXACT_IP) */
	bool estimate;	    /* not a count: one of the three estimates */
	const char *origin; /* NULL: an event of the stream; else a word for its label */
};

struct vt_place {
	uint64_t offset; /* in the image (vt_map_offset()), or enum vt_unmapped */
	uint32_t image;	 /* id, or VT_UNMAPPED_IMAGE */
	int32_t pid;	 /* of anonymous code, which differs between processes; else 0 */
	uint32_t event;	 /* index of the column */
	uint32_t group;	 /* of vt_profile_group_by(), else 0 */
	uint64_t samples;
	uint64_t period;
	double squares; /* as of struct vt_profile_event */
};

/* Compares two struct vt_place by image, pid, offset, event and group, for qsort(). */
int vt_place_compare(const void *a, const void *b);

/* `context` is borrowed.  Owned by the caller; NULL when memory runs out. */
struct vt_profile *vt_profile_new(struct vt_context *context);
void vt_profile_free(struct vt_profile *p);

/* Counts the estimates of the FREQ records that follow. */
void vt_profile_estimates(struct vt_profile *p);

/*
 * Counts the samples of each group apart, from the next record on.  Borrowed; the profile feeds
 * them.  vt_profile_groups() is NULL without.
 */
void vt_profile_group_by(struct vt_profile *p, struct vt_groups *groups);
const struct vt_groups *vt_profile_groups(const struct vt_profile *p);

/*
 * A vt_consume_fn; `profile` is the struct vt_profile.  Ignores records of other kinds.  0,
 * -VT_E_NOMEM or -VT_E_LIMIT.
 */
int vt_profile_feed(void *profile, const struct vt_block *block, uint32_t first, uint32_t count,
		    struct vt_error *err);

/* Adds executed code to the places.  Call it after the last record. */
int vt_profile_finish(struct vt_profile *p, struct vt_error *err);

/*
 * Adds an amount to a column that is no event of the stream, at an offset of an image.
 * -VT_E_NOMEM.
 */
int vt_profile_count(struct vt_profile *p, enum vt_profile_kind kind, uint32_t image,
		     uint64_t offset, uint64_t amount, struct vt_error *err);

/* What these four return is borrowed until the next record. */
size_t vt_profile_nevents(const struct vt_profile *p);
const struct vt_profile_event *vt_profile_event(const struct vt_profile *p, size_t event);
size_t vt_profile_nplaces(const struct vt_profile *p);
const struct vt_place *vt_profile_place(const struct vt_profile *p, size_t i);

/* The column of a kind that is no event of the stream; SIZE_MAX if there is none. */
size_t vt_profile_estimate_event(const struct vt_profile *p, enum vt_profile_kind kind);

/*
 * The places of an image (and of the process `pid`, for anonymous code) at offsets `first` to
 * `last`, in order of offset.  Borrowed until the next record.  The first call after a record sorts
 * all places; other calls cost a binary search.  False: out of memory.
 */
bool vt_profile_find_places(const struct vt_profile *p, uint32_t image, int32_t pid, uint64_t first,
			    uint64_t last, const struct vt_place *const **places, size_t *n);

/* Records of executed code that contradict themselves and were left out. */
uint64_t vt_profile_bad(const struct vt_profile *p);

struct vt_context *vt_profile_context(const struct vt_profile *p);

#endif
