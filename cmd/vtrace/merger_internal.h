/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_VTRACE_MERGER_INTERNAL_H
#define CMD_VTRACE_MERGER_INTERNAL_H

#include "base/hash.h"
#include "base/intern.h"
#include "cmd/vtrace/merger.h"
#include "profile/profile.h"

/* Strings are numbers of one pool, so that equal keys have equal bytes. */
struct event {
	uint64_t policy;
	uint32_t name;
	uint32_t unit;
	uint64_t row[VT_EVENT_NFIELDS]; /* the numbers on which all streams agree, else 0 */
	uint32_t id;			/* in the stream that is written */
	bool known;			/* `row` is set */
};

struct image {
	uint32_t buildid; /* if there is one, type and path are no part of the key: 0 */
	uint32_t type_key;
	uint64_t path_key;
	uint32_t path; /* of several paths of one build-id the first in the alphabet */
	uint32_t id;
	uint64_t type;
	uint64_t machine;
};

struct place {
	uint64_t offset;
	uint32_t image; /* index, or VT_UNMAPPED_IMAGE */
	uint32_t event; /* index */
	uint64_t samples;
	uint64_t period;
};

struct loss {
	uint64_t event; /* index, or the stream's own id */
	uint64_t source;
	uint64_t count;
};

struct gap {
	uint32_t reason;
	uint32_t input;
	uint64_t bytes;
	uint64_t records;
};

/* An EVENT, IMAGE or LOST record of the stream at hand, kept until all its names are known. */
struct declared_event {
	uint64_t id;
	struct event event;
};

struct declared_image {
	uint64_t id;
	struct image image;
};

struct merge_conflicts;

struct merger {
	struct vt_intern *strings;
	struct vt_hash events;
	struct vt_hash images;
	struct vt_hash places;
	struct vt_hash losses;
	struct vt_hash gaps;
	struct vt_hotprofile *hots; /* of all streams */
	struct vt_profile *profile; /* of the stream at hand, as the next three */
	struct vt_hash own_events;
	struct vt_hash own_images;
	struct vt_hash own_losses; /* struct loss, with the stream's own event ids */
	struct merge_conflicts *conflicts;
	uint64_t bad;
};

/* -VT_E_NOMEM */
int merger_no_memory(struct vt_error *err);

/* The index of an image of all streams, which is added if it is new.  False: no memory. */
bool merger_add_image(struct merger *m, const struct image *i, uint32_t *index);

/* The same of the image that the stream at hand calls `id`. */
bool merger_join_image(struct merger *m, uint64_t id, uint32_t *index);

/* The ids that events and images get in the stream that is written, after merger_write() began. */
uint32_t merger_event_id(const struct merger *m, uint32_t index);
uint32_t merger_image_id(const struct merger *m, uint32_t index);

/*
 * ---- CONFLICT records, and what META tells of vreplay: mergeconflict.c ----
 *
 * Pairs are the same if places and type are: counts, executions and distances add up.  Their
 * samples are those of all streams that fell on the later instruction: of the events that vreplay
 * was told to rank by, else of those that fit the type.
 */
struct merge_conflicts *merge_conflicts_new(void); /* NULL: no memory */
void merge_conflicts_free(struct merge_conflicts *c);

/* Takes a record of the stream at hand.  -VT_E_NOMEM. */
int merge_conflicts_feed(struct merge_conflicts *c, const struct vt_record *rec,
			 struct vt_error *err);

/* At the end of a stream, when its images are known.  -VT_E_NOMEM; -VT_E_MISMATCH: its
 * pairs are of another core. */
int merge_conflicts_end(struct merger *m, struct vt_error *err);

/* After images, events and places got their ids.  -VT_E_NOMEM. */
int merge_conflicts_write(const struct merger *m, struct vt_writer *w, struct vt_error *err);

#endif
