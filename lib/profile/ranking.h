/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_RANKING_H
#define VT_PROFILE_RANKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "image/images.h"
#include "profile/profile.h"
#include "profile/tally.h"

/*
 * A profile's places summed up by image, procedure, source line, instruction or function, in order
 * of samples.  Places without a mapping, file, symbol or line get one row for each cause and image.
 * Where the profile has groups, each has rows of its own.
 */
struct vt_ranking;

enum vt_level {
	VT_LEVEL_PROCEDURE,
	VT_LEVEL_IMAGE,
	VT_LEVEL_LINE,
	VT_LEVEL_INSTRUCTION,
	VT_LEVEL_INLINED, /* procedures, and functions that are inlined in them */
	VT_LEVEL_ALL,	  /* one row for each group of the profile: no name but theirs */
	VT_NLEVELS
};

/* The names of the levels but the last, ended by NULL. */
extern const char *const vt_level_words[];

/* A row.  Strings are borrowed from the images, untrusted, and never NULL. */
struct vt_rank {
	uint32_t image;	       /* id, or VT_UNMAPPED_IMAGE */
	int32_t pid;	       /* of anonymous code, else 0 */
	const char *path;      /* the image's path, or its name where it has none */
	const char *procedure; /* display name; "" at the levels of images and lines */
	const char *symbol;    /* raw name; "" without a symbol */
	const char *cause;     /* why there is no symbol or line; "" if there is one */
	uint64_t start;	       /* vaddr of the procedure */
	uint64_t address;      /* vaddr of the instruction, or its offset without a file */
	const char *file;      /* source file of the line, else "" */
	unsigned line;
	bool stripped;	/* the image's procedures are named by their addresses */
	uint32_t group; /* of vt_profile_groups() */
	bool inlined;	/* a function that is inlined: all of its places in the image */
};

/* The most rows of a place: a procedure's, and those of functions that are inlined there. */
#define VT_RANK_ROWS 65

/*
 * Owned by the caller.  Borrows `images`, which resolve each place, and the profile's groups. NULL:
 * VT_E_NOMEM.
 */
struct vt_ranking *vt_ranking_new(const struct vt_profile *p, struct vt_images *images,
				  enum vt_level level, struct vt_error *err);
void vt_ranking_free(struct vt_ranking *r);

/* The same without rows, for vt_ranking_row(). */
struct vt_ranking *vt_ranking_new_empty(struct vt_images *images, enum vt_level level,
					struct vt_error *err);

/*
 * Finds or adds the row of a place without counting its samples.  *row is the index for
 * vt_ranking_at() as long as nothing is sorted.  -VT_E_NOMEM.
 */
int vt_ranking_row(struct vt_ranking *r, const struct vt_place *p, size_t *row,
		   struct vt_error *err);

/*
 * The same for all functions that are active at a place, the outermost first; the last one is that
 * of vt_ranking_row().  More than one only with VT_LEVEL_INLINED.  `rows` has room for
 * VT_RANK_ROWS; returns their number, or -VT_E_NOMEM.
 */
int vt_ranking_rows(struct vt_ranking *r, const struct vt_place *p, size_t *rows,
		    struct vt_error *err);

/* Replaces the samples of an event of the profile in a row, whose index is as vt_ranking_row()
 * gives it.  -VT_E_NOMEM. */
int vt_ranking_set(struct vt_ranking *r, size_t row, size_t event, struct vt_tally tally,
		   struct vt_error *err);

/*
 * Sorts by descending samples or period of an event, then image, procedure, line, address and
 * group; before all, by time if the first key of the groups is VT_GROUP_TIME.
 */
int vt_ranking_sort(struct vt_ranking *r, size_t event, bool by_period, struct vt_error *err);

/* Compares two rows by image, procedure, line, cause and address: less than 0, 0, more than 0. */
int vt_rank_compare(const struct vt_rank *a, const struct vt_rank *b);

enum vt_level vt_ranking_level(const struct vt_ranking *r);
size_t vt_ranking_count(const struct vt_ranking *r);

/* The i-th row, in the order of the last sort; borrowed. */
const struct vt_rank *vt_ranking_at(const struct vt_ranking *r, size_t i);
struct vt_tally vt_ranking_tally(const struct vt_ranking *r, size_t i, size_t event);

/* The samples of an event in no image or under no symbol. */
struct vt_tally vt_ranking_unknown(const struct vt_ranking *r, size_t event);

/*
 * The samples under symbols of files that no recorded build-id confirms: such a file may be another
 * version of the one that ran.
 */
struct vt_tally vt_ranking_unverified(const struct vt_ranking *r, size_t event);

/* Appends the row's raw label: "main", "main+0x1c", "smooth.c:12", "min (inlined)",
 * "[file not found]". */
void vt_rank_label(const struct vt_rank *k, enum vt_level level, struct vt_buf *out);

#endif
