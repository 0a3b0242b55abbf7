/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_VALUE_SITES_H
#define VT_VALUE_SITES_H

#include <stdint.h>

#include "base/error.h"
#include "stream/bblock.h"
#include "stream/record.h"
#include "stream/writer.h"
#include "value/hot_list.h"
#include "value/plugin_names.h"

/*
 * Hot lists by place: image, offset, kind of value, register, lane and, if wanted, where the
 * procedure returns to; and how often instructions were executed.  Images are known by their
 * build-id, or, where they have none, by type and path, so that several streams come together.
 *
 * Memory: what the places take, however often they are executed.
 */
struct vt_sites;

/* The image of counts at no place that is known (VT_UNMAPPED_IMAGE of profile/profile.h). */
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

/* The lists are kept as `options` say: errors of vt_hotlists_new().  Owned by the caller. */
struct vt_sites *vt_sites_new(const struct vt_hotlist_options *options, struct vt_error *err);
void vt_sites_free(struct vt_sites *s);

/* The set that the lists belong to: for vt_hotlist_put().  Borrowed. */
struct vt_hotlists *vt_sites_lists(struct vt_sites *s);

/* The number of an image that an IMAGE record declares; UINT32_MAX when memory runs out. */
uint32_t vt_sites_image(struct vt_sites *s, const struct vt_record *rec);

/* The same of one that has no record: `path` is not recorded text, but the caller's. */
uint32_t vt_sites_made_image(struct vt_sites *s, enum vt_image_type type, const char *path);

/* The list of a place; `size` is that of the value in bytes.  NULL when memory runs out. */
struct vt_hotlist *vt_sites_list(struct vt_sites *s, const struct vt_site *site, uint32_t size);

/*
 * The plugins whose values there are: `reg` of such a list's place is the plugin's
 * number.  Borrowed.
 */
struct vt_plugin_names *vt_sites_plugins(struct vt_sites *s);

/* An event by its name, policy and unit: its number; UINT32_MAX when memory runs out. */
uint32_t vt_sites_event(struct vt_sites *s, const char *name, enum vt_policy policy,
			const char *unit);

/* Adds to the counts of an event at a place.  0 or -VT_E_NOMEM. */
int vt_sites_count(struct vt_sites *s, uint32_t image, uint64_t offset, uint32_t event,
		   uint64_t samples, uint64_t period, struct vt_error *err);

/* An image is mapped; mappings tell readers of the profile what a value points to. */
int vt_sites_map(struct vt_sites *s, uint32_t image, const struct vt_record *map,
		 struct vt_error *err);

/*
 * A block of code that no file has, as it is mapped now.  Its code and lengths are copied; its
 * values' slots are left out.  -VT_E_NOMEM.
 */
int vt_sites_code(struct vt_sites *s, const struct vt_bblock *b, struct vt_error *err);

size_t vt_sites_nlists(const struct vt_sites *s);

/*
 * The i-th list in the order in which they came, its place and the size of its values.  Borrowed,
 * until the next list.
 */
struct vt_hotlist *vt_sites_list_at(const struct vt_sites *s, size_t i, const struct vt_site **site,
				    uint32_t *size);

/* The path of an image by its number: untrusted text. */
const char *vt_sites_image_path(const struct vt_sites *s, uint32_t image);

/*
 * Writes EVENT, IMAGE, MODULE, LABEL, MAP, BLOCK, COUNT and HOT records: images by path and
 * build-id, mappings in the order in which they were last made, each block of code between the
 * mappings before and after it, places by image (in that order), offset, what, register, lane,
 * caller.  Lists without a value are left out. Errors of the writer stick to
 * it; -VT_E_NOMEM.
 */
int vt_sites_write(struct vt_sites *s, struct vt_writer *w, struct vt_error *err);

/*
 * Copies a LOST record to a stream that vt_sites_write() ends.  Events have other numbers there, so
 * the loss is written without its event.  Errors of the writer stick to it.
 */
void vt_sites_write_loss(struct vt_writer *w, const struct vt_record *lost);

#endif
