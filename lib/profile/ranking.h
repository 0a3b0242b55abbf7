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

/*
 * A profile's places gathered into images, procedures, source lines or instructions, and put in
 * order.  What cannot be gathered so (no mapping, no file, no symbol, no line) has rows of its own,
 * one for each cause in each image.
 */
struct vt_ranking;

enum vt_level {
	VT_LEVEL_PROCEDURE,
	VT_LEVEL_IMAGE,
	VT_LEVEL_LINE,
	VT_LEVEL_INSTRUCTION,
	VT_NLEVELS
};

/* The levels in words, "procedure" first; NULL behind the last. */
extern const char *const vt_level_words[];

struct vt_tally {
	uint64_t samples;
	uint64_t period;
};

/* One row.  Strings are borrowed from the images, untrusted, and never NULL. */
struct vt_rank {
	uint32_t image;	       /* id, or VT_UNMAPPED_IMAGE */
	int32_t pid;	       /* of anonymous code, else 0 */
	const char *path;      /* the image's path, or its name where it has none */
	const char *procedure; /* for people; "" at the level of images and lines */
	const char *symbol;    /* the raw name; "" where there is none */
	const char *cause;     /* why there is no symbol (or line); "" if there is one */
	uint64_t start;	       /* of the procedure: vaddr */
	uint64_t address;      /* of the instruction: vaddr, or the offset where there is no file */
	const char *file;      /* of the line, else "" */
	unsigned line;
	bool stripped; /* procedures of its image are called by their addresses */
};

/*
 * Owned by the caller; borrows `images`, through which it resolves each place; copies what it needs
 * of the profile.  NULL with VT_E_NOMEM.
 */
struct vt_ranking *vt_ranking_new(const struct vt_profile *p, struct vt_images *images,
				  enum vt_level level, struct vt_error *err);
void vt_ranking_free(struct vt_ranking *r);

/* Most samples (or period) of the event first, then by image, procedure, line and address. */
int vt_ranking_sort(struct vt_ranking *r, size_t event, bool by_period, struct vt_error *err);

enum vt_level vt_ranking_level(const struct vt_ranking *r);
size_t vt_ranking_count(const struct vt_ranking *r);

/* The i-th row, in the order of the last sort; borrowed. */
const struct vt_rank *vt_ranking_at(const struct vt_ranking *r, size_t i);
struct vt_tally vt_ranking_tally(const struct vt_ranking *r, size_t i, size_t event);

/* What of an event lies in no image or under no symbol. */
struct vt_tally vt_ranking_unknown(const struct vt_ranking *r, size_t event);

/*
 * What lies under symbols of files that no recorded build-id vouches for: they may be other
 * versions of what was run.
 */
struct vt_tally vt_ranking_unverified(const struct vt_ranking *r, size_t event);

/* Appends what a row is: "main", "main+0x1c", "smooth.c:12", "[file not found]"; raw text. */
void vt_rank_label(const struct vt_rank *k, enum vt_level level, struct vt_buf *out);

#endif
