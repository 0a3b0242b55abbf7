/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MERGE_TALLY_H
#define VT_MERGE_TALLY_H

#include "base/error.h"
#include "base/hash.h"
#include "base/intern.h"
#include "profile/profile.h"
#include "stream/record.h"

/*
 * The sums of one stream, under the stream's own ids: its events and images, the samples at each
 * place, losses and gaps.  Texts are numbers of one pool of strings, so that equal texts have equal
 * numbers.
 */
struct vt_tally_event {
	uint64_t kind; /* enum vt_profile_kind: with `id`, the key */
	uint64_t id;
	uint32_t name;
	uint32_t unit;
	uint64_t row[VT_EVENT_NFIELDS]; /* fields of the EVENT record; id, name and unit are 0 */
};

struct vt_tally_image {
	uint64_t id;
	uint64_t type; /* enum vt_image_type, or a later version's */
	uint64_t machine;
	uint32_t path;
	uint32_t buildid;
};

struct vt_tally_loss {
	uint64_t event; /* id */
	uint64_t source;
	uint64_t count;
};

struct vt_tally_gap {
	uint32_t reason;
	uint32_t input;
	uint64_t bytes;
	uint64_t records;
};

struct vt_stream_tally {
	struct vt_intern *strings;  /* borrowed */
	struct vt_context *context; /* owned, as the profile: the places */
	struct vt_profile *profile;
	struct vt_hash events; /* struct vt_tally_event, as the next three */
	struct vt_hash images;
	struct vt_hash losses;
	struct vt_hash gaps;
};

/* Begins a tally whose texts go into `strings`.  False when memory runs out.  Either way,
 * vt_tally_fini() ends it. */
bool vt_tally_init(struct vt_stream_tally *t, struct vt_intern *strings);
void vt_tally_fini(struct vt_stream_tally *t);

/* Takes rows first .. first+count-1 of a block.  0, -VT_E_NOMEM or -VT_E_LIMIT. */
int vt_tally_feed(struct vt_stream_tally *t, const struct vt_block *b, uint32_t first,
		  uint32_t count, struct vt_error *err);

/*
 * Ends the stream.  Afterwards `events` has each event of a place or loss; undeclared ones are
 * named "event" and their id.  0, -VT_E_NOMEM or -VT_E_LIMIT.
 */
int vt_tally_finish(struct vt_stream_tally *t, struct vt_error *err);

/* Adds an event that the stream did not declare, unless it is there.  False: out of memory. */
bool vt_tally_declare(struct vt_stream_tally *t, uint64_t id);

/*
 * The position in `events` of a column of the profile, or of the event of a loss, whose kind is
 * VT_PROFILE_EVENT.  Call it after vt_tally_finish().
 */
size_t vt_tally_event_index(const struct vt_stream_tally *t, enum vt_profile_kind kind,
			    uint64_t id);

/* The image with an id.  An undeclared image is a file without path and build-id. */
struct vt_tally_image vt_tally_image(const struct vt_stream_tally *t, uint64_t id);

#endif
