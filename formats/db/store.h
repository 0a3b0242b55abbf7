/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_DB_STORE_H
#define FORMATS_DB_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/table.h"
#include "formats/db/digest.h"
#include "formats/db/places.h"
#include "stream/record.h"
#include "stream/writer.h"

/*
 * The database of profiles: DCPI, section 4.3.3.  Samples belong to an epoch (an interval of time
 * that the user begins), and within it to a label (a text of the user, usually "").  Each such
 * section has one profile for each image (by build-id, else by type and path) and event (by name,
 * unit and policy).
 *
 * It is one SQLite file with a write-ahead log beside it.  Any number of processes may read and
 * write it at the same time; writers wait for each other.  A batch is added completely or not at
 * all, and is on disk when vt_db_add() returns.  An input that is in the database already, by a
 * digest of its counts, is not added again, so adding may be repeated.
 *
 * Each row has a checksum.  Functions that read rows check those of the chosen rows: -VT_E_DAMAGED
 * names the first damaged one.  Databases of version 1 have no checksums until they are opened for
 * writing.
 */
struct vt_db;

enum vt_db_mode {
	VT_DB_READ,   /* if nothing can be written, from a copy in memory */
	VT_DB_WRITE,  /* the database must exist */
	VT_DB_CREATE, /* the database is created if it does not exist */
};

/*
 * VT_E_READ: it does not exist or cannot be read; VT_E_WRITE: it cannot be written; VT_E_FORMAT: it
 * is another file; VT_E_TRUNC: it was truncated; VT_E_LIMIT: too large for a copy in memory;
 * VT_E_VERSION; VT_E_DAMAGED.  Errors of all functions here begin with the path.
 */
struct vt_db *vt_db_open(const char *path, enum vt_db_mode mode, struct vt_error *err);
void vt_db_close(struct vt_db *db);

/* ---- adding ---- */

/* The most bytes of names of epochs and labels; they have no control characters. */
#define VT_DB_NAME_MAX 255

/* The most facts of a section, and the most bytes of each. */
#define VT_DB_METAS    256
#define VT_DB_META_MAX 4096

/* The image of samples outside of all mappings, and its number in streams. */
#define VT_DB_UNMAPPED 0xffffffffu

struct vt_db_event {
	struct vt_bytes name;
	struct vt_bytes unit;
	uint64_t fields[VT_EVENT_NFIELDS]; /* of its record, except texts and id */
};

struct vt_db_image {
	struct vt_bytes path;
	struct vt_bytes buildid;
	uint64_t type;
	uint64_t machine;
};

struct vt_db_profile {
	uint32_t image; /* an index of the batch's images, or VT_DB_UNMAPPED */
	uint32_t event; /* an index of the batch's events */
	struct vt_db_places places;
};

struct vt_db_loss {
	uint32_t event;
	struct vt_bytes source;
	uint64_t count;
};

struct vt_db_gap {
	struct vt_bytes reason;
	struct vt_bytes input;
	uint64_t bytes;
	uint64_t records;
};

/* A fact about the recordings.  It is dropped if inputs of a section have different values. */
struct vt_db_meta {
	struct vt_bytes key;
	struct vt_bytes value;
};

struct vt_db_input {
	uint8_t digest[VT_DIGEST_SIZE];
	struct vt_bytes name; /* for the user */
	int64_t added;	      /* seconds since 1970, UTC */
	uint64_t samples;
};

/* All borrowed. */
struct vt_db_batch {
	const char *epoch; /* NULL: the latest; "default" if there is none yet */
	const char *label;
	int64_t now;			  /* the begin of a new epoch: seconds since 1970, UTC */
	bool again;			  /* adds it even if it is in the database */
	const struct vt_db_input *inputs; /* usually one */
	size_t ninputs;
	const struct vt_db_event *events;
	size_t nevents;
	const struct vt_db_image *images;
	size_t nimages;
	const struct vt_db_profile *profiles;
	size_t nprofiles;
	const struct vt_db_loss *losses;
	size_t nlosses;
	const struct vt_db_gap *gaps;
	size_t ngaps;
	const struct vt_db_meta *metas; /* each key once */
	size_t nmetas;
	/* Distinguish runs of one program with equal counts: times, process; else 0. */
	uint64_t marks[3];
};

/* The digest of a batch without its inputs. */
void vt_db_batch_digest(const struct vt_db_batch *b, uint8_t digest[VT_DIGEST_SIZE]);

/* The samples of all events of a batch. */
uint64_t vt_db_batch_samples(const struct vt_db_batch *b);

/*
 * Adds a batch.  1: done; 0: all of its inputs were added before, nothing was done;
 * -VT_E_AMBIGUOUS: some of its inputs were added before, nothing was done; -VT_E_USAGE: an invalid
 * name; -VT_E_LIMIT: a sum is too high; -VT_E_WRITE.  *epoch (if not NULL) is a copy of the epoch,
 * owned by the caller: the one it was added to, or for 0 that of its first input.
 */
int vt_db_add(struct vt_db *db, const struct vt_db_batch *batch, char **epoch,
	      struct vt_error *err);

/* Begins an epoch, to which batches without an epoch are added from then on.  0: it exists. */
int vt_db_epoch(struct vt_db *db, const char *name, int64_t now, struct vt_error *err);

/* ---- reading ---- */

/* An empty list selects all.  -VT_E_NOTFOUND: an epoch, label, image or event does not exist. */
struct vt_db_selection {
	const char *const *epochs;
	size_t nepochs;
	const char *const *labels;
	size_t nlabels;
	/* A path, the last part of one, or the first eight or more digits of a build-id. */
	const char *const *images;
	size_t nimages;
	const char *const *events; /* names */
	size_t nevents;
};

/*
 * Writes the sum of a selection: META, EVENT, IMAGE, LOST, GAP and COUNT records, in the order of
 * `vtrace merge`.  With `sections`, writes each section after META records with the keys below,
 * from which it can be added to another database.  Errors of the writer stick to it.
 */
int vt_db_write(struct vt_db *db, const struct vt_db_selection *sel, bool sections,
		struct vt_writer *w, struct vt_error *err);

#define VT_DB_META_EPOCH "vdb.epoch" /* the begin of a section */
#define VT_DB_META_LABEL "vdb.label"
#define VT_DB_META_BEGUN "vdb.begun" /* the epoch: seconds since 1970, UTC */
#define VT_DB_META_INPUT "vdb.input" /* "DIGEST ADDED SAMPLES NAME", each input */

/* Parses the text of VT_DB_META_INPUT, from which `input` borrows the name.  False if damaged. */
bool vt_db_parse_input(const char *text, struct vt_db_input *input);

/*
 * Fills a table that has no columns yet: a row for each epoch or input in the order of their
 * addition, or for each profile by epoch, label, path and event.
 */
enum vt_db_listing { VT_DB_EPOCHS, VT_DB_INPUTS, VT_DB_PROFILES };

int vt_db_list(struct vt_db *db, enum vt_db_listing which, const struct vt_db_selection *sel,
	       struct vt_table *table, struct vt_error *err);

/* ---- pruning and checking ---- */

struct vt_db_prune {
	struct vt_db_selection sel; /* epochs and labels to remove */
	/* If any is set, removes only the epochs before the latest `keep`, or that began before. */
	uint64_t keep;	/* UINT64_MAX: not set */
	int64_t before; /* INT64_MIN: not set */
	bool dry;	/* removes nothing */
};

/* Removes sections, after calling `fn` with each of them; shrinks the file. */
struct vt_db_section_row {
	struct vt_bytes epoch;
	struct vt_bytes label;
	uint64_t inputs;
	uint64_t samples;
};
typedef int vt_db_section_fn(void *arg, const struct vt_db_section_row *row);
int vt_db_prune(struct vt_db *db, const struct vt_db_prune *how, vt_db_section_fn *fn, void *arg,
		struct vt_error *err);

/*
 * Checks all: the integrity of the file, that each profile can be unpacked and has the samples of
 * its row, each section those of its inputs, and the checksum of each row.  -VT_E_DAMAGED describes
 * the first error.
 */
int vt_db_check(struct vt_db *db, struct vt_error *err);

#endif
