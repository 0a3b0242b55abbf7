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
 * Memory: the lists, however often they occur in the input, and one entry for each image.
 */
struct vt_hotprofile;

struct vt_hot_image {
	const char *path; /* untrusted text; "[image 7]" if never declared */
	const char *name; /* its last component */
	const uint8_t *buildid;
	size_t buildid_size;
	uint32_t type;	  /* enum vt_image_type, or a later version's */
	uint32_t machine; /* ELF machine */
	uint32_t id; /* in the stream that ended last and had it: what struct vt_images knows */
};

/* Lists that were left out because they contradict themselves. */
struct vt_hot_damage {
	uint64_t rejected;
	char first[VT_ERROR_SIZE]; /* what is wrong with the first of them */
};

/* `seed` is for joining counting samples.  Owned by the caller; NULL when memory runs out. */
struct vt_hotprofile *vt_hotprofile_new(uint64_t seed);
void vt_hotprofile_free(struct vt_hotprofile *p);

/*
 * A vt_consume_fn (profile/context.h); `profile` is the struct vt_hotprofile.  Only IMAGE, MODULE,
 * LABEL and HOT records matter.  A list that contradicts itself is counted and left out.  0 or
 * -VT_E_NOMEM.
 */
int vt_hotprofile_feed(void *profile, const struct vt_block *block, uint32_t first, uint32_t count,
		       struct vt_error *err);

/*
 * Ends a stream: joins its lists to those that are there already (vt_hot_merge()), in the order
 * of their keys: so the outcome does not depend on the order in which a stream had them.  0, or:
 * -VT_E_MISMATCH, two lists of one place were kept in different ways; -VT_E_LIMIT, a sum is above
 * VT_HOT_MAX_TOTAL; -VT_E_NOMEM.  After an error only vt_hotprofile_free() is allowed.
 */
int vt_hotprofile_end(struct vt_hotprofile *p, struct vt_error *err);

/*
 * What it holds after vt_hotprofile_end(), ordered by image (path, build-id), offset, what, reg,
 * lane, caller's image, caller.  All borrowed, until the next vt_hotprofile_end().
 */
size_t vt_hotprofile_count(const struct vt_hotprofile *p);
const struct vt_hot *vt_hotprofile_at(const struct vt_hotprofile *p, size_t i);

/* The lists of one instruction: how many there are; *first is the index of the first of them. */
size_t vt_hotprofile_find(const struct vt_hotprofile *p, uint32_t image, uint64_t offset,
			  size_t *first);

/* The list with this key (`zero` is 0), or NULL. */
const struct vt_hot *vt_hotprofile_get(const struct vt_hotprofile *p, const struct vt_hot_key *key);

/*
 * Counts the executions of each instruction, as its longest list has them, in another profile as
 * VT_PROFILE_LISTED.  Listings rank procedures by them where the stream counts nothing.
 * -VT_E_NOMEM.
 */
int vt_hotprofile_count_executions(const struct vt_hotprofile *p, struct vt_profile *profile,
				   struct vt_error *err);

/* Images are numbered from 0 in their order; the number of one stays until the next end. */
size_t vt_hotprofile_nimages(const struct vt_hotprofile *p);
const struct vt_hot_image *vt_hotprofile_image(const struct vt_hotprofile *p, uint32_t image);

/* The number of the image that the stream that ended last calls `id`, or VT_HOT_NO_IMAGE. */
uint32_t vt_hotprofile_image_of(const struct vt_hotprofile *p, uint64_t id);

/*
 * The number in `p` of another profile's image, which is the same if its build-id is, or, for
 * images without one, path and type.  VT_HOT_NO_IMAGE if p has no such image.
 */
uint32_t vt_hotprofile_same_image(const struct vt_hotprofile *p, const struct vt_hot_image *image);

/* The plugins of the streams; `reg` of a list of theirs is the number.  Borrowed. */
const struct vt_plugin_names *vt_hotprofile_plugins(const struct vt_hotprofile *p);

const struct vt_hot_damage *vt_hotprofile_damage(const struct vt_hotprofile *p);

#endif
