/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_FLAME_FLAME_H
#define VT_LISTING_FLAME_FLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/output.h"
#include "stacks/stacks.h"

/*
 * Flame graphs: a picture of counted stacks.  A frame's width is the share of the samples that were
 * taken in it or in what it called; on top of it is what it called, in the order of names.
 */

struct vt_flame_options {
	const char *title;
	const char *source; /* where the stacks come from; "" to say nothing */
	const char *unit;   /* what is counted, for example "samples of cycles" */
	bool icicle;	    /* grow downwards */
	double min_percent; /* frames of a smaller share are left out */
	unsigned width;	    /* of the picture, in pixels: VT_FLAME_WIDTH_MIN to _MAX */
	bool sampled;	    /* shares have intervals: what is counted is a sample */
	uint64_t lost;	    /* records that were lost while recording */
};

#define VT_FLAME_WIDTH	   1200
#define VT_FLAME_WIDTH_MIN 300
#define VT_FLAME_WIDTH_MAX 20000

/* The stacks of one side, and two of their values, which may be the same. */
struct vt_flame_side {
	const struct vt_stacks *stacks; /* borrowed */
	size_t weight;			/* the value that makes the width */
	size_t samples;			/* the number of samples */
};

enum vt_flame_kind {
	VT_FLAME_ALL, /* the frame below all others */
	VT_FLAME_USER,
	VT_FLAME_KERNEL,
	VT_FLAME_INLINED,
	VT_FLAME_UNKNOWN,
	VT_FLAME_NKINDS
};

/* A frame; the first three members are the key of the hash table. */
struct vt_flame_frame {
	uint32_t parent; /* less than the frame's own index; VT_STACK_NONE: it is below all */
	uint32_t label;	 /* id of the strings: name, kind and image */
	const char *name;
	const char *image;
	enum vt_flame_kind kind;
	unsigned depth;	   /* 0: below all */
	uint64_t self[2];  /* weight; of before, in a comparison, and of after */
	uint64_t total[2]; /* with what it called */
	uint64_t left;	   /* weight of after to the left of it */
	bool shown;
};

struct vt_flame {
	struct vt_flame_options how;
	bool diff;
	struct vt_hash frames; /* struct vt_flame_frame; the first is below all others */
	struct vt_intern *strings;
	uint64_t samples[2];
	size_t narrow;	  /* frames left out, as they are smaller than wanted */
	size_t gone;	  /* frames that are only in the stacks of before */
	uint64_t unknown; /* weight of after at frames of unknown code */
	unsigned depth;	  /* of the deepest frame that is shown */
};

/*
 * Lays out the stacks of `after`; with `before`, unless NULL, as a comparison with it.  Borrows the
 * strings of *how.  -VT_E_NOMEM.  Call vt_flame_fini() in either case.
 */
int vt_flame_init(struct vt_flame *f, const struct vt_flame_options *how,
		  const struct vt_flame_side *before, const struct vt_flame_side *after,
		  struct vt_error *err);
void vt_flame_fini(struct vt_flame *f);

/* The left edge and the width of a frame in pixels, in a picture of the options' width. */
double vt_flame_x(const struct vt_flame *f, const struct vt_flame_frame *frame);
double vt_flame_width(const struct vt_flame *f, const struct vt_flame_frame *frame);

/* Writes the picture as SVG, complete in itself.  Errors of writing stick to `out`.
 * -VT_E_NOMEM. */
int vt_flame_print(const struct vt_flame *f, struct vt_output *out, struct vt_error *err);

#endif
