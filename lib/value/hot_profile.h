/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_VALUE_HOT_PROFILE_H
#define VT_VALUE_HOT_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"
#include "stream/kinds.h"
#include "stream/record.h"
#include "value/hot_record.h"
#include "value/plugin_names.h"

/*
 * A value profile: the hot lists that HOT records hold, of one stream or of several whose lists of
 * the same place are joined.
 *
 *	p = vt_hotprofile_new(seed);
 *	for each stream: vt_hotprofile_feed() with its records, then vt_hotprofile_end();
 *	for (i = 0; i < vt_hotprofile_count(p); i++) ... vt_hotprofile_at(p, i) ...
 *
 * Places are named by their image's build-id (its type and path where it has none) and the offset
 * in it, so that the profiles of two runs can be compared.
 *
 * The memory grows with the number of distinct lists and images, not with the number of streams.
 */
struct vt_hotprofile;

struct vt_hot_image {
	const char *path; /* untrusted text; "[image 7]" if never declared */
	const char *name; /* its last component */
	const uint8_t *buildid;
	size_t buildid_size;
	uint32_t type;	  /* enum vt_image_type, or a later version's */
	uint32_t machine; /* ELF machine */
	uint32_t id; /* in the last ended stream that declared it; the id in struct vt_images */
};

/* Counts lists of a stream that were not used because they contradict themselves. */
struct vt_hot_damage {
	uint64_t rejected;
	char first[VT_ERROR_SIZE]; /* the error of the first of them */
};

/*
 * Returns an empty profile, owned by the caller, or NULL when memory runs out.  `seed` seeds the
 * random numbers that joining two counting samples (algorithm `gm`) needs.
 */
struct vt_hotprofile *vt_hotprofile_new(uint64_t seed);
void vt_hotprofile_free(struct vt_hotprofile *p);

/*
 * A vt_consume_fn (profile/context.h) with a struct vt_hotprofile as `profile`.  Uses IMAGE,
 * MODULE, LABEL and HOT records and ignores others.  Counts and ignores lists that contradict
 * themselves. Returns 0 or -VT_E_NOMEM.
 */
int vt_hotprofile_feed(void *profile, const struct vt_block *block, uint32_t first, uint32_t count,
		       struct vt_error *err);

/*
 * Ends a stream: joins its lists to those of earlier streams with vt_hot_merge(), in the order of
 * their keys, so that the result does not depend on their order in the stream.  Returns 0, or
 * -VT_E_MISMATCH if two lists of a place were made by different algorithms or options, -VT_E_LIMIT
 * if a sum is above VT_HOT_MAX_TOTAL, or -VT_E_NOMEM.  After an error only vt_hotprofile_free() is
 * allowed.
 */
int vt_hotprofile_end(struct vt_hotprofile *p, struct vt_error *err);

/*
 * The lists after vt_hotprofile_end(), ordered by image (path, build-id), offset, what, reg, lane,
 * caller's image, caller.  They are borrowed until the next vt_hotprofile_end().
 */
size_t vt_hotprofile_count(const struct vt_hotprofile *p);
const struct vt_hot *vt_hotprofile_at(const struct vt_hotprofile *p, size_t i);

/* Returns the number of lists of an instruction; *first becomes the index of the first of them. */
size_t vt_hotprofile_find(const struct vt_hotprofile *p, uint32_t image, uint64_t offset,
			  size_t *first);

/* Returns the list with this key, whose field `zero` must be 0, or NULL. */
const struct vt_hot *vt_hotprofile_get(const struct vt_hotprofile *p, const struct vt_hot_key *key);

/*
 * Adds the executions of each instruction to another profile, as its event VT_PROFILE_LISTED.  The
 * list of the instruction with the most executions gives their number.  Listings rank procedures by
 * this event if the stream has no other.  Returns 0 or -VT_E_NOMEM.
 */
int vt_hotprofile_count_executions(const struct vt_hotprofile *p, struct vt_profile *profile,
				   struct vt_error *err);

/* Images have numbers from 0 in their order, valid until the next vt_hotprofile_end(). */
size_t vt_hotprofile_nimages(const struct vt_hotprofile *p);
const struct vt_hot_image *vt_hotprofile_image(const struct vt_hotprofile *p, uint32_t image);

/* Returns the number of the image with this id in the last ended stream, or VT_HOT_NO_IMAGE. */
uint32_t vt_hotprofile_image_of(const struct vt_hotprofile *p, uint64_t id);

/*
 * Returns the number in `p` of an image of another profile, or VT_HOT_NO_IMAGE if `p` does not have
 * it.  Two images are the same if their build-ids are equal or, for images without build-id, their
 * paths and types.
 */
uint32_t vt_hotprofile_same_image(const struct vt_hotprofile *p, const struct vt_hot_image *image);

/* Returns the plugins of the streams, borrowed.  A list of a plugin has its number in `reg`. */
const struct vt_plugin_names *vt_hotprofile_plugins(const struct vt_hotprofile *p);

/* That of the stream that ended last, or that is being fed.  Borrowed. */
const struct vt_hot_damage *vt_hotprofile_damage(const struct vt_hotprofile *p);

#endif
