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
 * Opens a database that cannot be written, without writing anything, not even a lock file.  `sql`
 * reads it with the writers' index of its log or, if there is none, from a copy in memory.
 * VT_E_READ, VT_E_LIMIT.
 */
int vti_db_open_unwritable(struct vt_db *db, struct vt_error *err);

/* Sets an error from SQLite's last message, for a call that returned `rc`; its negative code. */
int vti_db_error(struct vt_db *db, int rc, struct vt_error *err);
int vti_db_damaged(struct vt_db *db, const char *what, struct vt_error *err);

/* Executes statements without parameters and results. */
int vti_db_exec(struct vt_db *db, const char *sql, struct vt_error *err);

/* BEGIN for reading, or for writing, which waits for other writers. */
int vti_db_begin(struct vt_db *db, bool write, struct vt_error *err);

/* COMMIT if `code` is not negative; else, or if that fails, ROLLBACK.  Returns the code. */
int vti_db_end(struct vt_db *db, int code, struct vt_error *err);

/*
 * Prepares a statement with its parameters, one for each character of `types`: 'i' an int64_t, 't'
 * a struct vt_bytes as text, 'b' one as a blob; their bytes are borrowed.  NULL after an error.
 */
sqlite3_stmt *vti_db_prepare(struct vt_db *db, struct vt_error *err, const char *sql,
			     const char *types, ...);

/* 1: a row; 0: no more; or an error.  Unless it returns 1, the statement is finalized. */
int vti_db_step(struct vt_db *db, sqlite3_stmt *s, struct vt_error *err);

/* Prepares a statement without results, as above, and executes it.  0 or an error. */
#define vti_db_run(db, err, ...) vti_db_step(db, vti_db_prepare(db, err, __VA_ARGS__), err)

/*
 * Prepares a statement, and calls `fn` with each row as long as that returns 0.  Returns 0, or what
 * `fn` or a step returned.
 */
typedef int vti_db_row_fn(void *arg, sqlite3_stmt *s, struct vt_error *err);
int vti_db_step_each(struct vt_db *db, sqlite3_stmt *s, vti_db_row_fn *fn, void *arg,
		     struct vt_error *err);
#define vti_db_each(db, fn, arg, err, ...)                                                         \
	vti_db_step_each(db, vti_db_prepare(db, err, __VA_ARGS__), fn, arg, err)

/*
 * Prepares a statement, and takes the first column of its only row.  1; 0 and *value 0: there is no
 * row; or an error.
 */
int vti_db_step_number(struct vt_db *db, sqlite3_stmt *s, int64_t *value, struct vt_error *err);
#define vti_db_number(db, value, err, ...)                                                         \
	vti_db_step_number(db, vti_db_prepare(db, err, __VA_ARGS__), value, err)

/* A column: a text or blob, borrowed until the next step; a number, 0 if it is negative. */
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

/* Tables, for a mask; in the order of sums.c. */
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
 * Registers the SQL functions of a connection: row_sum(), a checksum of its parameters, and the
 * aggregate capped_sum(), a sum that is INT64_MAX where SQL's sum() would overflow and fail, and 0
 * without rows.
 */
int vti_db_functions_init(struct vt_db *db, struct vt_error *err);

/* Adds the column of sums to all tables; sets it in all rows. */
int vti_db_sums_add(struct vt_db *db, struct vt_error *err);
int vti_db_sums_make(struct vt_db *db, struct vt_error *err);

/* Makes triggers that set the sums of all rows that the connection writes. */
int vti_db_sums_keep(struct vt_db *db, struct vt_error *err);

/*
 * Checks the sums of the rows of these tables that vti_db_choose() chose, if the database has sums.
 * -VT_E_DAMAGED names the first damaged row.
 */
int vti_db_sums_check(struct vt_db *db, unsigned which, struct vt_error *err);

/* Packs the fields of an event as bytes: their number, then each, as varints; and unpacks them. */
int vti_db_fields_pack(const uint64_t fields[VT_EVENT_NFIELDS], struct vt_buf *out,
		       struct vt_error *err);
bool vti_db_fields_unpack(struct vt_bytes bytes, uint64_t fields[VT_EVENT_NFIELDS]);

/* Sets fields that differ to 0. */
void vti_db_fields_join(uint64_t fields[VT_EVENT_NFIELDS], const uint64_t more[VT_EVENT_NFIELDS]);

#endif
