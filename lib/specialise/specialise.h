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
 * What to specialise: where a program spends its time and a value hardly changes.  A profile tells
 * the time, hot lists the values, the images' code what becomes of them.
 */
struct vt_spec;

/*
 * A procedure.  Where an image has no symbols, they begin where its table of call frames says, and
 * at each address that was called.
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

/* A value that hardly changes. */
struct vt_spec_row {
	size_t procedure;
	uint64_t vaddr; /* of the instruction; its offset where the image's file is not there */
	struct vt_spec_value value;
	struct vt_spec_verdict verdict;
	uint64_t samples; /* of the event at the instruction itself */
	double stake;	  /* share of the time that hangs on the value */
	double score;	  /* stake x lower end of its invariance */
};

struct vt_spec_options {
	size_t event;	       /* of the profile: what time is counted in */
	double min_invariance; /* a share */
	double min_time;       /* a procedure's share of the time */
};

/*
 * Judges all lists of `hot` and puts them in order: the procedure with the best score first, in it
 * the row with the best score.  All is borrowed until vt_spec_free().  NULL with VT_E_NOMEM.
 */
struct vt_spec *vt_spec_new(const struct vt_profile *profile, struct vt_images *images,
			    const struct vt_hotprofile *hot, const struct vt_spec_options *opt,
			    struct vt_error *err);
void vt_spec_free(struct vt_spec *s);

size_t vt_spec_nprocedures(const struct vt_spec *s);
const struct vt_spec_procedure *vt_spec_procedure(const struct vt_spec *s, size_t i);
size_t vt_spec_nrows(const struct vt_spec *s);
const struct vt_spec_row *vt_spec_row(const struct vt_spec *s, size_t i);

/* The procedure that holds a place: its number, or SIZE_MAX if it has neither time nor lists. */
size_t vt_spec_find(const struct vt_spec *s, uint32_t image, uint64_t offset);

/* Samples of the event at an instruction; and all of them, everywhere. */
uint64_t vt_spec_samples(const struct vt_spec *s, uint32_t image, uint64_t offset);
uint64_t vt_spec_total(const struct vt_spec *s);

/* Whether an event was counted each time that it happened, not sampled. */
bool vt_spec_is_counted(const struct vt_profile_event *e);

/* The id by which the images know the image of a hot list's key. */
uint32_t vt_spec_image(const struct vt_spec *s, uint32_t hot_image);

/* The vaddr of a place of an image, or the offset itself where the file is not there. */
uint64_t vt_spec_vaddr(struct vt_images *images, uint32_t image, uint64_t offset);

/* How many lists there are of a kind of value, whatever came of them. */
uint64_t vt_spec_lists(const struct vt_spec *s, enum vt_what what);

/* How many rows were left out because their value is an address of this run only: of the stack, the
 * heap, code without a name. */
uint64_t vt_spec_of_run(const struct vt_spec *s);

/* How many lists lie in images whose file is not there: their code says nothing about them. */
uint64_t vt_spec_blind(const struct vt_spec *s);

/* The code of an image, or false if its file is not there. */
bool vt_spec_code(struct vt_images *images, uint32_t image, struct vt_code *code);

#endif
