/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MERGE_INTERNAL_H
#define VT_MERGE_INTERNAL_H

#include <stdlib.h>

#include "base/hash.h"
#include "base/intern.h"
#include "events/stats.h"
#include "image/packs.h"
#include "merge/merge.h"
#include "merge/tally.h"
#include "merge/trees.h"

/* Keys of tables begin their structs and have no padding.  Texts are numbers of one pool. */
struct vti_merged_event {
	uint64_t policy;
	uint32_t name;
	uint32_t unit;
	uint64_t row[VT_EVENT_NFIELDS]; /* the numbers on which all streams agree, else 0 */
	uint32_t id;			/* in the stream that is written */
};

struct vti_merged_image {
	uint32_t buildid; /* an image with a build-id has 0 as key of type and path */
	uint32_t type_key;
	uint64_t path_key;
	uint32_t path; /* of several paths of one build-id the first in the alphabet */
	uint32_t id;   /* in the stream that is written */
	uint64_t type;
	uint64_t machine;
};

struct vti_merged_place {
	uint64_t offset;
	uint32_t image; /* index, or VT_UNMAPPED_IMAGE */
	uint32_t event; /* index */
	uint64_t samples;
	uint64_t period;
};

/* A pair of conflicting accesses. */
struct vti_merged_pair {
	uint32_t image; /* index, or VT_UNMAPPED_IMAGE */
	uint32_t earlier_image;
	uint64_t offset;
	uint64_t earlier;
	uint64_t type;
	uint64_t count;
	uint64_t executions;
	uint64_t distance;
	uint64_t nearest;
};

struct vti_conflict_row {
	uint64_t field[VT_CONFLICT_NFIELDS];
};

/* The numbers in META records of vreplay. */
#define VTI_MERGE_SUMS 7

struct vti_conflicts {
	struct vt_hash pairs;
	struct vt_hash events; /* names to rank by: numbers of texts */
	uint64_t sum[VTI_MERGE_SUMS];
	bool replayed; /* a stream has what vreplay found, even if that is nothing */
	/* Of the current stream, until all its images are known. */
	struct vti_conflict_row *rows;
	size_t nrows;
	size_t rows_cap;
};

/* META records that say how a stream was made. */
#define VTI_MERGE_SETTINGS 13

/* Sums that depend on them: of pairs of samples, of paths, of followed instructions, of accesses.
 */
enum vti_sums { VTI_PAIRSTATS, VTI_PATHS, VTI_EVSTATS, VTI_CONFLICTS, VTI_MEMORIES, VTI_NSUMS };

/* What the first stream with such sums that names a setting has. */
struct vti_known {
	uint32_t value;	 /* a number of a text, or VTI_SETTING_ABSENT; 0: nobody names it */
	uint32_t stream; /* the name of the stream: a number of a text */
	enum vti_sums sums;
};

/* That a setting is not named, where that tells something. */
#define VTI_SETTING_ABSENT (UINT32_MAX - 1)

/* Numbers of texts; 0: nobody names it, or streams differ. */
struct vti_settings {
	uint32_t text[VTI_MERGE_SETTINGS]; /* as written */
	uint32_t own[VTI_MERGE_SETTINGS];  /* of the current stream */
	struct vti_known known[VTI_MERGE_SETTINGS][VTI_NSUMS];
	unsigned own_has; /* bits of enum vti_sums */
	bool streams;	  /* there were some before */
	struct vt_hash picked;
};

/* Paths of PATH records, by what they are. */
struct vti_paths {
	struct vt_hash own; /* of the current stream */
	struct vt_hash all;
};

/* What pairs of samples tell (PAIRSTAT): of the current stream under its ids, and of all. */
struct vti_pairstats {
	struct vt_hash own;
	struct vt_hash all;
};

/* What a stream has of an event of single instructions. */
enum vti_told {
	VTI_TOLD_ESTIMATES, /* EVSTAT records */
	VTI_TOLD_SAMPLES,
	VTI_TOLD_PAIR_SUMS, /* PAIRSTAT records */
	VTI_TOLD_PAIRS,	    /* samples of pairs */
	VTI_NTOLD
};

/* Events of single instructions. */
struct vti_followed {
	struct vt_hash own; /* what the current stream has of them, but for estimates */
	struct vt_hash all;
};

struct vt_merge {
	struct vt_intern *strings;
	struct vti_settings settings;
	struct vt_hash events;
	struct vt_hash images;
	struct vt_hash places;
	struct vt_hash losses; /* struct vt_tally_loss, whose event is an index */
	struct vt_hash gaps;   /* struct vt_tally_gap */
	struct vt_hotprofile *hots;
	struct vti_conflicts conflicts;
	struct vti_pairstats pairstats;
	uint64_t bad; /* records that were left out */
	vt_warn_fn *warn;
	void *warn_arg;
	bool raised; /* vt_merge_raised() */
	struct vt_packs *packs;
	struct vt_stream_tally tally; /* of the current stream */
	struct vti_paths paths;
	struct vt_evstats *evstats;	/* by index of image and event */
	struct vt_evstats *own_evstats; /* of the current stream, by its ids */
	struct vt_evstats *groups;	/* the same by something else than places */
	struct vt_evstats *own_groups;
	struct vti_followed followed;
	struct vt_memrecords *memory;
	struct vt_memrecords *own_memory; /* of the current stream */
	struct vti_trees *trees;	  /* NULL: without call trees */
	const uint32_t *own_events; /* while a stream ends: the index of each event of the tally */
};

/* Counts a record of the current stream that is left out, and says why. */
void vti_leave_out(struct vt_merge *m, const char *why);

/*
 * The index of image `id` of the current stream, or VT_UNMAPPED_IMAGE for that.  False: out of
 * memory.
 */
bool vti_join_image_id(struct vt_merge *m, uint64_t id, uint32_t *index);

/* The id of an event in the stream that is written, once its events are. */
uint32_t vti_written_event_id(const struct vt_merge *m, uint32_t index);

/* The id of an image in the stream that is written, once its images are. */
uint32_t vti_written_image_id(const struct vt_merge *m, uint32_t index);

void vti_settings_init(struct vti_settings *s);
void vti_settings_fini(struct vti_settings *s);

/* Takes a META record of the current stream.  False: out of memory. */
bool vti_feed_setting(struct vt_merge *m, const struct vt_record *rec);

/* What a META record with the key VT_EV_META_MODEL would say.  False: out of memory. */
bool vti_set_divisor(struct vt_merge *m, const char *model);

/* Says that the current stream has such sums. */
void vti_has_sums(struct vt_merge *m, enum vti_sums sums);

/*
 * Before these are joined; `stream` is the name for messages.  -VT_E_MISMATCH: they depend on a
 * setting that is another one than that of those before; -VT_E_NOMEM.
 */
int vti_check_settings(struct vt_merge *m, const char *stream, struct vt_error *err);

/* Ends the current stream. */
void vti_join_settings(struct vt_merge *m);

/* Writes META records of what streams name alike, and of what they left out.  -VT_E_NOMEM. */
int vti_write_settings(const struct vt_merge *m, struct vt_writer *w, struct vt_error *err);

/* Takes a META or a CONFLICT record of the current stream.  False: out of memory. */
bool vti_feed_conflict_meta(struct vt_merge *m, const struct vt_record *rec);
bool vti_feed_conflict(struct vt_merge *m, const struct vt_record *rec);

/* Adds the pairs of the current stream to those before.  False: out of memory. */
bool vti_join_conflicts(struct vt_merge *m);

/* Writes CONFLICT records and what META records say of all.  -VT_E_NOMEM. */
int vti_write_conflicts(const struct vt_merge *m, struct vt_writer *w, struct vt_error *err);

void vti_paths_init(struct vti_paths *p);
void vti_paths_fini(struct vti_paths *p);

/* Takes a PATH record of the current stream; counts what contradicts itself.  False: out of memory.
 */
bool vti_feed_path(struct vt_merge *m, const struct vt_record *rec);

/*
 * End the current stream: add its events to the tally, and then its paths to those before; `events`
 * as own_events.  False: out of memory.
 */
bool vti_declare_paths(struct vt_merge *m);
bool vti_join_paths(struct vt_merge *m, const uint32_t *events);

/* Writes PATH records, the most executed first.  -VT_E_NOMEM. */
int vti_write_paths(const struct vt_merge *m, struct vt_writer *w, struct vt_error *err);

/* Takes EVSTAT and META records of the current stream.  -VT_E_NOMEM. */
int vti_feed_evstats(struct vt_merge *m, const struct vt_block *b, uint32_t first, uint32_t count,
		     struct vt_error *err);

/* Declares the events of these, before those of the stream are joined.  False: out of memory. */
bool vti_declare_evstats(struct vt_merge *m);

/* Adds them to those before; `events` as in vt_merge.own_events.  -VT_E_NOMEM. */
int vti_join_evstats(struct vt_merge *m, const uint32_t *events, struct vt_error *err);

/* Writes EVSTAT records, and META records of their events.  -VT_E_NOMEM. */
int vti_write_evstats(struct vt_merge *m, struct vt_writer *w, struct vt_error *err);

void vti_followed_init(struct vti_followed *f);
void vti_followed_fini(struct vti_followed *f);

/* Notes that the current stream has such of an event.  False: out of memory. */
bool vti_tells(struct vt_merge *m, uint64_t id, enum vti_told what);

/* Notes samples of single instructions of the current stream.  False: out of memory. */
bool vti_feed_followed(struct vt_merge *m, const struct vt_block *b, uint32_t first,
		       uint32_t count);

/* As vti_declare_evstats(). */
bool vti_declare_followed(struct vt_merge *m);

/*
 * Before anything is joined: `events` as own_events, `stream` the name for messages.
 * -VT_E_MISMATCH: of one event there are estimates and samples, or sums of pairs and pairs, or
 * estimates of different settings; -VT_E_NOMEM.
 */
int vti_join_followed(struct vt_merge *m, const uint32_t *events, const char *stream,
		      struct vt_error *err);

/* Takes a record of a memory profile of the current stream.  False: out of memory. */
bool vti_feed_memory(struct vt_merge *m, const struct vt_record *rec);

/*
 * Adds the memory profile of the current stream to those before.
 * -VT_E_MISMATCH: it was made with other options; -VT_E_NOMEM.
 */
int vti_join_memory(struct vt_merge *m, struct vt_error *err);

/* Writes the sum, once images have ids.  -VT_E_NOMEM. */
int vti_write_memory(struct vt_merge *m, struct vt_writer *w, struct vt_error *err);

void vti_init_pairstats(struct vti_pairstats *p);
void vti_fini_pairstats(struct vti_pairstats *p);

/* Takes a PAIRSTAT record of the current stream; one that cannot be is bad.  False: no memory. */
bool vti_feed_pairstat(struct vt_merge *m, const struct vt_record *rec);

/*
 * Adds the sums of the current stream to those before, as join_stream() does.  -VT_E_NOMEM;
 * -VT_E_LIMIT: a sum is impossibly high.
 */
int vti_join_pairstats(struct vt_merge *m, const uint32_t *events, struct vt_error *err);

/* Writes PAIRSTAT records, once images and events have ids.  -VT_E_NOMEM. */
int vti_write_pairstats(const struct vt_merge *m, struct vt_writer *w, struct vt_error *err);

#endif
