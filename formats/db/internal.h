/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_DB_INTERNAL_H
#define FORMATS_DB_INTERNAL_H

#include <sqlite3.h>

#include "formats/db/store.h"

struct vt_db {
	sqlite3 *sql;
	char *path;
	bool has_sums; /* of its rows */
};

/*
 * Opens a database where nothing can be written, and writes nothing, not even to a lock file: `sql`
 * reads it with the index of its log that writers keep, or, where nobody does, from memory.
 * VT_E_READ, VT_E_LIMIT.
 */
int vti_db_open_unwritable(struct vt_db *db, struct vt_error *err);

/* Sets an error from what SQLite said last, for a call that returned `rc`; its negative code. */
int vti_db_error(struct vt_db *db, int rc, struct vt_error *err);
int vti_db_damaged(struct vt_db *db, const char *what, struct vt_error *err);

/* Statements without parameters and results. */
int vti_db_exec(struct vt_db *db, const char *sql, struct vt_error *err);

/* BEGIN for reading, or for writing, which waits for its turn. */
int vti_db_begin(struct vt_db *db, bool write, struct vt_error *err);

/* COMMIT if `code` is not negative; else, or when that fails, ROLLBACK.  The code. */
int vti_db_end(struct vt_db *db, int code, struct vt_error *err);

/*
 * A statement with its parameters, one for each character of `types`: 'i' an int64_t, 't' a struct
 * vt_bytes as text, 'b' one as a blob; texts must stay.  NULL after an error.
 */
sqlite3_stmt *vti_db_prepare(struct vt_db *db, struct vt_error *err, const char *sql,
			     const char *types, ...);

/* 1: a row; 0: no more; or an error.  Unless it is 1, the statement is gone. */
int vti_db_step(struct vt_db *db, sqlite3_stmt *s, struct vt_error *err);

/* Prepares it and steps to its end.  0 or an error; the parameters as above. */
#define vti_db_run(db, err, ...) vti_db_step(db, vti_db_prepare(db, err, __VA_ARGS__), err)

/*
 * Calls `fn` with each row, as long as it returns 0.  0, or what it or a step returned; the
 * statement is gone.
 */
typedef int vti_db_row_fn(void *arg, sqlite3_stmt *s, struct vt_error *err);
int vti_db_each(struct vt_db *db, sqlite3_stmt *s, vti_db_row_fn *fn, void *arg,
		struct vt_error *err);

/* The first column of its only row; *found false and *value 0 if there is none. */
int vti_db_number(struct vt_db *db, sqlite3_stmt *s, int64_t *value, bool *found,
		  struct vt_error *err);

/* A column: text or blob; and a number that is not to be negative. */
struct vt_bytes vti_db_bytes(sqlite3_stmt *s, int column);
uint64_t vti_db_u64(sqlite3_stmt *s, int column);

/* A copy of a text, owned by the caller; NULL: no memory. */
char *vti_db_text(sqlite3_stmt *s, int column);

struct vt_bytes vti_db_str(const char *text);

/*
 * Makes the temporary tables chosen_section, chosen_image and chosen_event (column id) from a
 * selection, within a transaction.  -VT_E_NOTFOUND.
 */
int vti_db_choose(struct vt_db *db, const struct vt_db_selection *sel, struct vt_error *err);

/* ---- checksums of rows: sums.c ---- */

/* Tables, for a mask; in the order in which sums.c has them. */
enum {
	VTI_DB_EPOCH = 1,
	VTI_DB_SECTION = 2,
	VTI_DB_INPUT = 4,
	VTI_DB_EVENT = 8,
	VTI_DB_IMAGE = 16,
	VTI_DB_DECLARED = 32,
	VTI_DB_PROFILE = 64,
	VTI_DB_LOSS = 128,
	VTI_DB_GAP = 256,
	VTI_DB_META = 512,
	VTI_DB_TABLES = 1023, /* all */
};

/*
 * Gives a connection the functions that statements call: row_sum(), a checksum of its parameters,
 * and the aggregate capped_sum(): INT64_MAX where a sum would be larger, for which SQL's sum()
 * fails, and 0 of nothing.
 */
int vti_db_functions_init(struct vt_db *db, struct vt_error *err);

/* Adds the column to all tables; sets it in all rows. */
int vti_db_sums_add(struct vt_db *db, struct vt_error *err);
int vti_db_sums_make(struct vt_db *db, struct vt_error *err);

/* From now on what the connection writes has sums. */
int vti_db_sums_keep(struct vt_db *db, struct vt_error *err);

/*
 * Whether the rows of these tables, as far as vti_db_choose() chose them, are what was written;
 * those of a database without sums are.  -VT_E_DAMAGED names the first that is not.
 */
int vti_db_sums_check(struct vt_db *db, unsigned which, struct vt_error *err);

/* The numbers of an event as bytes: how many, then each as a varint; and back. */
int vti_db_fields_pack(const uint64_t fields[VT_EVENT_NFIELDS], struct vt_buf *out,
		       struct vt_error *err);
bool vti_db_fields_unpack(struct vt_bytes bytes, uint64_t fields[VT_EVENT_NFIELDS]);

/* Sets to 0 what differs. */
void vti_db_fields_join(uint64_t fields[VT_EVENT_NFIELDS], const uint64_t more[VT_EVENT_NFIELDS]);

#endif
