/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_PROFILE_H
#define VT_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "image/addrspace.h"
#include "image/images.h"
#include "stream/record.h"

/*
 * A profile: how many samples of each event fell on each place of each image.  It is fed with a
 * stream's records in order, so that each sample is resolved through what was mapped at its time.
 * Events stay apart: samples whose pc was chosen in different ways are never added up.
 *
 * Memory: one entry for each distinct place and event, however many samples there are, plus what
 * the address space needs.
 */
struct vt_profile;

/* The image of samples at whose address nothing is mapped; their offset is an enum vt_unmapped. */
#define VT_UNMAPPED_IMAGE 0xffffffffu

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

/* Why a sample lies in no image, by the mode in which the CPU was. */
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
	uint64_t id; /* of its EVENT record */
	char *name;
	char *unit; /* of the period; "" if unknown */
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

/* What the recording side or the stream could not keep. */
struct vt_profile_loss {
	uint64_t lost_records; /* LOST records, and */
	uint64_t lost;	       /* the records that they stand for */
	uint64_t gaps;	       /* GAP records, and */
	uint64_t gap_bytes;    /* what they say is missing, where known */
	uint64_t gap_records;
	uint64_t bad; /* records of executed code that contradict themselves: left out */
};

/* `images` is fed along, borrowed; may be NULL.  Owned by the caller; NULL when memory runs out. */
struct vt_profile *vt_profile_new(struct vt_images *images);
void vt_profile_free(struct vt_profile *p);

/* From now on, FREQ records count as events, too. */
void vt_profile_estimates(struct vt_profile *p);

/* The index of the event of an estimate; SIZE_MAX: there is none. */
size_t vt_profile_estimate_event(const struct vt_profile *p, enum vt_estimate estimate);

/*
 * Takes rows first .. first+count-1 of a block.  Kinds that do not matter are ignored.  Returns 0,
 * -VT_E_NOMEM or -VT_E_LIMIT.
 */
int vt_profile_feed(struct vt_profile *p, const struct vt_block *block, uint32_t first,
		    uint32_t count, struct vt_error *err);

/* To be called after the last record: until then, executed code is not in the places. */
int vt_profile_finish(struct vt_profile *p, struct vt_error *err);

/*
 * Counts what no record told as samples of an event: `samples` of `event`, counted exactly, at an
 * offset of an image.  -VT_E_NOMEM.
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

const struct vt_profile_loss *vt_profile_loss(const struct vt_profile *p);

/* What a process has mapped at an address at the current moment of the stream, as
 * vt_addrspace_find() tells it. */
const struct vt_map *vt_profile_map(const struct vt_profile *p, int64_t pid, uint64_t address);

/*
 * Where an address of the recorded processes lies: the image that was mapped there last, and the
 * offset in it.  Of each image's stretches, only the latest mapping is known.  False if none holds
 * it.
 */
bool vt_profile_find(const struct vt_profile *p, uint64_t address, uint32_t *image,
		     uint64_t *offset);

/* Whether any of an image was mapped to be executed, or in a way that was not recorded. */
bool vt_profile_has_code(const struct vt_profile *p, uint32_t image);

/*
 * For an address that lies in no image: the one with code whose mapping begins nearest before it,
 * and the offset as if that went on.  What a program has beyond its file's bytes, .bss, lies so.
 */
bool vt_profile_find_before(const struct vt_profile *p, uint64_t address, uint32_t *image,
			    uint64_t *offset);

#endif
