/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_VALUE_SITES_H
#define VT_VALUE_SITES_H

#include <stdint.h>

#include "base/error.h"
#include "image/packs.h"
#include "stream/bblock.h"
#include "stream/record.h"
#include "stream/writer.h"
#include "value/hot_list.h"
#include "value/plugin_names.h"

/*
 * Hot lists by place, and counts of events by instruction.  A place is an image, offset, kind of
 * value, register, lane and, optionally, the return address of the procedure.  Images are
 * identified by build-id or, without one, by type and path, so that lists of several streams are
 * joined.
 *
 * The memory grows with the number of places, not with the number of executions.
 */
struct vt_sites;

/* The image of counts at unmapped addresses (VT_UNMAPPED_IMAGE of profile/profile.h). */
#define VT_SITES_NO_IMAGE 0xffffffffu

/* No padding: keys are compared as bytes. */
struct vt_site {
	uint64_t offset; /* of the instruction in its image; of anonymous code, the address */
	uint64_t caller; /* as `offset`; 0: not known, or lists are not kept by caller */
	uint32_t image;	 /* as vt_sites_image() numbers it */
	uint32_t caller_image;
	uint32_t what; /* enum vt_what */
	uint32_t reg;
	uint32_t lane;
	uint32_t zero; /* always 0 */
};

/* Owned by the caller.  `options` and errors are those of vt_hotlists_new(). */
struct vt_sites *vt_sites_new(const struct vt_hotlist_options *options, struct vt_error *err);
void vt_sites_free(struct vt_sites *s);

/* Returns the set of all lists, borrowed, for vt_hotlist_put(). */
struct vt_hotlists *vt_sites_lists(struct vt_sites *s);

/* Returns the number of an IMAGE record's image, or UINT32_MAX when memory runs out. */
uint32_t vt_sites_image(struct vt_sites *s, const struct vt_record *rec);

/* Does the same for an image without record; `path` is not untrusted text. */
uint32_t vt_sites_made_image(struct vt_sites *s, enum vt_image_type type, const char *path);

/*
 * Returns the list of a place, which is added if it does not exist; `size` is the size of its
 * values in bytes.  Returns NULL when memory runs out.
 */
struct vt_hotlist *vt_sites_list(struct vt_sites *s, const struct vt_site *site, uint32_t size);

/*
 * Returns the plugins of VT_WHAT_MODULE lists, borrowed.  A place of such a list has the plugin's
 * number in `reg`.
 */
struct vt_plugin_names *vt_sites_plugins(struct vt_sites *s);

/* Returns the packed images, which vt_sites_write() writes.  Borrowed. */
struct vt_packs *vt_sites_packs(struct vt_sites *s);

/* Returns the number of an event, which is added if it is new; UINT32_MAX when memory runs out. */
uint32_t vt_sites_event(struct vt_sites *s, const char *name, enum vt_policy policy,
			const char *unit);

/* Adds to the counts of an event at a place.  0 or -VT_E_NOMEM. */
int vt_sites_count(struct vt_sites *s, uint32_t image, uint64_t offset, uint32_t event,
		   uint64_t samples, uint64_t period, struct vt_error *err);

/*
 * Adds a mapping of an image from a MAP record.  Readers of the profile need it to find what a
 * value points to.  Returns 0 or -VT_E_NOMEM.
 */
int vt_sites_map(struct vt_sites *s, uint32_t image, const struct vt_record *map,
		 struct vt_error *err);

/*
 * Adds a block of code that no file contains, at its current mapping.  Copies its code and the
 * lengths of its instructions, but not its slots.  Returns 0 or -VT_E_NOMEM.
 */
int vt_sites_code(struct vt_sites *s, const struct vt_bblock *b, struct vt_error *err);

size_t vt_sites_nlists(const struct vt_sites *s);

/*
 * Returns the i-th list in the order in which they were added, its place and the size of its
 * values. They are borrowed until the next list is added.
 */
struct vt_hotlist *vt_sites_list_at(const struct vt_sites *s, size_t i, const struct vt_site **site,
				    uint32_t *size);

/* Returns the path of an image: untrusted text, borrowed. */
const char *vt_sites_image_path(const struct vt_sites *s, uint32_t image);

/*
 * Writes EVENT, IMAGE, MODULE, LABEL, MAP, BLOCK, COUNT and HOT records.  Images are ordered by
 * path and build-id; mappings by the order in which they were last made, with each block of code
 * between the mappings before and after it; places by image (in that order), offset, what,
 * register, lane, caller.  Does not write lists without values.  Returns 0 or -VT_E_NOMEM; the
 * writer keeps its errors (vt_writer_error()).
 */
int vt_sites_write(struct vt_sites *s, struct vt_writer *w, struct vt_error *err);

/*
 * Copies a LOST record to a stream that vt_sites_write() ends, without its event, because events
 * have other numbers there.  The writer keeps its errors.
 */
void vt_sites_write_loss(struct vt_writer *w, const struct vt_record *lost);

#endif
