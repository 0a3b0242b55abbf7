/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_SPECIALISE_SPECIALISE_H
#define VT_SPECIALISE_SPECIALISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "image/images.h"
#include "profile/profile.h"
#include "specialise/judge.h"
#include "value/hot_profile.h"

/*
 * Finds code to specialise: where a program spends time and a value is almost constant.  The time
 * comes from a profile, the values from hot lists, and their uses from the images' code.
 */
struct vt_spec;

/*
 * A procedure.  In images without symbols, procedures begin where the table of call frames says,
 * and at each called address.
 */
struct vt_spec_procedure {
	uint32_t image;
	int32_t pid;	     /* of anonymous code, else 0 */
	uint64_t start;	     /* vaddr; 0 if it is not known */
	uint64_t end;	     /* 0 if it is not known */
	const char *name;    /* for people; "" if it has none.  Borrowed from the images */
	enum vt_unknown why; /* why it has no name */
	uint64_t samples;    /* of the event */
	double time;	     /* the same as a share of all samples, unknown ones included */
	double insns;	     /* executed: as counted, or guessed from the number of loads */
	double score;	     /* of all its rows together, at most its time */
};

/* An almost constant value. */
struct vt_spec_row {
	size_t procedure;
	uint64_t vaddr; /* of the instruction; its offset if the image's file is missing */
	uint64_t entry; /* the same, but of an argument of a call the entry of what is called */
	struct vt_spec_value value;
	struct vt_spec_verdict verdict;
	uint64_t samples; /* of the event at the instruction itself */
	double stake;	  /* share of the time that depends on the value */
	double score;	  /* stake x lower end of its invariance */
};

struct vt_spec_options {
	size_t event;	       /* index in the profile of the event that measures time */
	double min_invariance; /* a share */
	double min_time;       /* a procedure's share of the time */
};

/*
 * Judges all lists of `hot` and sorts the rows by the score of their procedure and then by their
 * own, highest first.  The arguments are borrowed until vt_spec_free().  Owned by the caller;
 * returns NULL with VT_E_NOMEM.
 */
struct vt_spec *vt_spec_new(const struct vt_profile *profile, struct vt_images *images,
			    const struct vt_hotprofile *hot, const struct vt_spec_options *opt,
			    struct vt_error *err);
void vt_spec_free(struct vt_spec *s);

size_t vt_spec_nprocedures(const struct vt_spec *s);
const struct vt_spec_procedure *vt_spec_procedure(const struct vt_spec *s, size_t i);
size_t vt_spec_nrows(const struct vt_spec *s);
const struct vt_spec_row *vt_spec_row(const struct vt_spec *s, size_t i);

/*
 * Returns the number of the procedure that contains a place, or SIZE_MAX if it has neither time nor
 * lists.
 */
size_t vt_spec_find(const struct vt_spec *s, uint32_t image, uint64_t offset);

/* Return the samples of the event at an instruction, and the total. */
uint64_t vt_spec_samples(const struct vt_spec *s, uint32_t image, uint64_t offset);
uint64_t vt_spec_total(const struct vt_spec *s);

/* Returns whether an event was counted at each occurrence, not sampled. */
bool vt_spec_is_counted(const struct vt_profile_event *e);

/* Returns the id in struct vt_images of the image of a hot list's key. */
uint32_t vt_spec_image(const struct vt_spec *s, uint32_t hot_image);

/* Returns the vaddr of a place of an image, or the offset itself if the file is missing. */
uint64_t vt_spec_vaddr(struct vt_images *images, uint32_t image, uint64_t offset);

/* Returns the number of lists of a kind of value, with or without rows. */
uint64_t vt_spec_lists(const struct vt_spec *s, enum vt_what what);

/*
 * Returns the number of values without a row because they are addresses that differ between runs:
 * of the stack, the heap, or code without a name.
 */
uint64_t vt_spec_of_run(const struct vt_spec *s);

/*
 * Return the number of values without a row because they were seen too rarely for their share to be
 * sure, and of lists in procedures with less than `min_time`.
 */
uint64_t vt_spec_rare(const struct vt_spec *s);
uint64_t vt_spec_cold(const struct vt_spec *s);

/* Returns the number of lists in images whose file is missing, so that their uses are unknown. */
uint64_t vt_spec_blind(const struct vt_spec *s);

/*
 * Returns whether a list is of an argument at the call that passes it, as interpreted samples have
 * it, and not at the entry of the called procedure.
 */
bool vt_spec_is_at_call(const struct vt_spec *s, const struct vt_hot *h);

/* Sets *code to the code of an image.  Returns false if its file is missing. */
bool vt_spec_code(struct vt_images *images, uint32_t image, struct vt_code *code);

#endif
