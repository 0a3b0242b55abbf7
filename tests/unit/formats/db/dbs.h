/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_FORMATS_DB_DBS_H
#define TESTS_UNIT_FORMATS_DB_DBS_H

#include <stddef.h>

#include "formats/db/store.h"

/*
 * What tests of the database of profiles need: two batches, and all that a database tells as text.
 * Each function fails the running test when it cannot do its work.
 */

#define DB_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define DB_TEXT(text)                                                                              \
	{                                                                                          \
		(const uint8_t *)(text), sizeof(text) - 1                                          \
	}
#define DB_ALL (&(const struct vt_db_selection){.nepochs = 0})

/* Setup and teardown of a test: its *state is the path of a database, in a directory of its own. */
int db_setup(void **state);
int db_teardown(void **state);

/* A file beside the database, in a buffer that the next call but three reuses. */
const char *db_beside(const char *path, const char *suffix);

/* toolbox_enter() of the database's directory. */
char *db_enter(const char *path);

/* Makes a file so long, or cuts it; it is made if it is not there. */
void db_resize(const char *path, int64_t size);

struct vt_db *db_open(const char *path, enum vt_db_mode mode);

/* Fails to open it: with this code, and this text behind the path. */
void db_refuse(const char *path, enum vt_db_mode mode, enum vt_errcode code, const char *text);

/*
 * Runs statements on the file of a database that nobody has open, as somebody else's program that
 * makes the checksums of rows, or as damage, which makes none.
 */
void db_change(const char *path, const char *sql);
void db_damage(const char *path, const char *sql);

/*
 * Batches of 12 and 13 samples.  They share a build-id under two paths, a path under two types, an
 * event, a loss, a gap and two facts, on one of which they disagree.
 */
extern const struct vt_db_batch db_first, db_second;

/* A copy of a batch that goes to an epoch and label. */
struct vt_db_batch db_for(const struct vt_db_batch *b, const char *epoch, const char *label);

/* Adds it, which is to return `code`; the epoch that it says is `epoch`. */
void db_add(struct vt_db *db, const struct vt_db_batch *b, int code, const char *epoch);

/* What can be asked: one line of text for each row or record. */
enum db_view {
	DB_EPOCHS,   /* NAME begun inputs labels images profiles samples bytes */
	DB_INPUTS,   /* EPOCH/LABEL NAME first byte of its digest, added samples */
	DB_PROFILES, /* EPOCH/LABEL PATH size of its build-id, EVENT places samples period bytes */
	DB_WRITTEN,  /* records: KIND field=value ... of all fields that are not 0 */
	DB_EXPORTED, /* records */
};

/* Appends what it says to `out`; what the functions of store.h return. */
int db_print(struct vt_db *db, enum db_view view, const struct vt_db_selection *sel,
	     struct vt_buf *out, struct vt_error *err);

/* It says this. */
void db_expect(struct vt_db *db, enum db_view view, const struct vt_db_selection *sel,
	       const char *want);

/* It fails: with this code, and this text behind the path. */
void db_expect_error(struct vt_db *db, enum db_view view, const struct vt_db_selection *sel,
		     enum vt_errcode code, const char *text);

/*
 * A database of the first batch in epoch "a", which nobody has open; the second, which goes to
 * epoch "b"; and what DB_EPOCHS says of these.
 */
#define DB_FIRST "a 500 1 1 3 4 12 23\n"
#define DB_BOTH	 DB_FIRST "b 500 1 1 3 4 13 27\n"
void db_make_first(const char *path);
void db_add_second(struct vt_db *db);

/* Opened for reading, it has these epochs. */
void db_expect_epochs(const char *path, const char *want);

/* An error of a database: "PATH" and the text. */
void db_same_error(const struct vt_error *err, enum vt_errcode code, const char *path,
		   const char *text);

#endif
