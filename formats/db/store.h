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
 * The database of profiles: DCPI, section 4.3.3.  Samples are kept by epoch (an interval of time
 * that its user begins), within it by label (text of the user's, mostly ""), and for each of these
 * sections there is one profile for each image (by build-id, else by type and path) and event (by
 * name, unit and policy).
 *
 * It is one SQLite file with a write-ahead log beside it; any number of processes read and write it
 * at a time, writers one after the other.  What is added is added as a whole or not at all,
 * and is on the disk when vt_db_add() returns.  An input that the database has, by a digest of what
 * it counts, is not added again: who does not know whether it was may add it once more.
 *
 * Each row has a checksum.  What reads rows compares those of the rows that were chosen:
 * -VT_E_DAMAGED names the first that is not what was written.  Databases of version 1 have none
 * until they are opened for writing.
 */
struct vt_db;

enum vt_db_mode {
	VT_DB_READ,   /* also where nothing can be written: then from a copy in memory */
	VT_DB_WRITE,  /* it must be there */
	VT_DB_CREATE, /* it is made if it is not there */
};

/*
 * VT_E_READ: it is not there or cannot be read; VT_E_WRITE: it cannot be written; VT_E_FORMAT: it
 * is another file; VT_E_TRUNC: it was cut off; VT_E_LIMIT: too large for a copy in memory;
 * VT_E_VERSION; VT_E_DAMAGED.  Errors of all functions here begin with the path.
 */
struct vt_db *vt_db_open(const char *path, enum vt_db_mode mode, struct vt_error *err);
void vt_db_close(struct vt_db *db);

/* ---- what is added ---- */

/* Names of epochs and labels have so many bytes at most, and no control characters. */
#define VT_DB_NAME_MAX 255

/* So many facts are kept of a section, of so many bytes. */
#define VT_DB_METAS    256
#define VT_DB_META_MAX 4096

/* The image of samples at whose address nothing was mapped, and its number in streams. */
#define VT_DB_UNMAPPED 0xffffffffu

struct vt_db_event {
	struct vt_bytes name;
	struct vt_bytes unit;
	uint64_t fields[VT_EVENT_NFIELDS]; /* of its record; those of texts and the id do not count
					    */
};

struct vt_db_image {
	struct vt_bytes path;
	struct vt_bytes buildid;
	uint64_t type;
	uint64_t machine;
};

struct vt_db_profile {
	uint32_t image; /* index of those below, or VT_DB_UNMAPPED */
	uint32_t event;
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

/* A fact about the recordings.  On which inputs of a section disagree is not kept. */
struct vt_db_meta {
	struct vt_bytes key;
	struct vt_bytes value;
};

struct vt_db_input {
	uint8_t digest[VT_DIGEST_SIZE];
	struct vt_bytes name; /* for people */
	int64_t added;	      /* seconds since 1970, UTC */
	uint64_t samples;
};

/* All borrowed. */
struct vt_db_batch {
	const char *epoch; /* NULL: the latest; "default" if there is none yet */
	const char *label;
	int64_t now; /* when an epoch that is new begins: seconds since 1970, UTC */
	bool again;  /* though it is there */
	const struct vt_db_input *inputs; /* mostly one */
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
	/* What tells runs of one program apart that count the same: times, process; else 0. */
	uint64_t marks[3];
};

/* What all of a batch but its inputs comes to. */
void vt_db_batch_digest(const struct vt_db_batch *b, uint8_t digest[VT_DIGEST_SIZE]);

/* The samples of all events of a batch. */
uint64_t vt_db_batch_samples(const struct vt_db_batch *b);

/*
 * Adds a batch.  1: done; 0: all of its inputs are there already, nothing was done;
 * -VT_E_AMBIGUOUS: some of its inputs are there, nothing was done; -VT_E_USAGE: a name that cannot
 * be; -VT_E_LIMIT: a sum is too high; -VT_E_WRITE.  The epoch is copied to *epoch (if not NULL),
 * owned by the caller: the one it was added to, or for 0 the one that has its first input.
 */
int vt_db_add(struct vt_db *db, const struct vt_db_batch *batch, char **epoch,
	      struct vt_error *err);

/* Begins an epoch, into which batches without one go from now on.  0: it is there already. */
int vt_db_epoch(struct vt_db *db, const char *name, int64_t now, struct vt_error *err);

/* ---- what comes out ---- */

/* Any list may be empty: all.  An epoch, label, image or event that is not there: -VT_E_NOTFOUND.
 */
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
 * `vtrace merge`; or that of section after section, each begun by META records from which it can
 * be added to another database: the keys below.  Errors of the writer stick to it.
 */
int vt_db_write(struct vt_db *db, const struct vt_db_selection *sel, bool sections,
		struct vt_writer *w, struct vt_error *err);

#define VT_DB_META_EPOCH "vdb.epoch" /* a section begins */
#define VT_DB_META_LABEL "vdb.label"
#define VT_DB_META_BEGUN "vdb.begun" /* the epoch: seconds since 1970, UTC */
#define VT_DB_META_INPUT "vdb.input" /* "DIGEST ADDED SAMPLES NAME", each input */

/* Parses the text of VT_DB_META_INPUT, from which `input` borrows the name.  False if damaged. */
bool vt_db_parse_input(const char *text, struct vt_db_input *input);

/*
 * Fills a table that has no columns yet: a row for each epoch or input in the order in which they
 * came, or for each profile by epoch, label, path and event.
 */
enum vt_db_listing { VT_DB_EPOCHS, VT_DB_INPUTS, VT_DB_PROFILES };

int vt_db_list(struct vt_db *db, enum vt_db_listing which, const struct vt_db_selection *sel,
	       struct vt_table *table, struct vt_error *err);

/* ---- keeping it small and sound ---- */

struct vt_db_prune {
	struct vt_db_selection sel; /* epochs and labels to go; if there are none, the next two */
	uint64_t keep;		    /* all epochs but the latest so many; UINT64_MAX: not told */
	int64_t before;		    /* those that began before; INT64_MIN: not told */
	bool dry;		    /* just say */
};

/* Calls `fn` with each section that goes, its bytes in `bytes`; gives the space back. */
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
 * Reads everything: whether the file is whole, each profile can be unpacked and has the samples
 * that its row says, each section those of its inputs, and each row its checksum.  -VT_E_DAMAGED
 * says what is wrong first.
 */
int vt_db_check(struct vt_db *db, struct vt_error *err);

#endif
