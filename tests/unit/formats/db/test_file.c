/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file of a database of profiles: opening, checking, pruning; what becomes of SQLite's errors.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "formats/db/internal.h"
#include "tests/unit/common/toolbox.h"
#include "tests/unit/formats/db/dbs.h"

#define NOT_OURS ": not a database of profiles"

/* ---- what a database is ---- */

static int64_t size_beside(const char *path, const char *suffix)
{
	struct stat st;

	assert_int_equal(stat(db_beside(path, suffix), &st), 0);
	return st.st_size;
}

static void head_of_the_file(void **state)
{
	uint8_t head[100];
	FILE *f;

	db_make_first(*state);
	f = fopen(*state, "rb");
	assert_non_null(f);
	assert_int_equal(fread(head, 1, sizeof(head), f), sizeof(head));
	fclose(f);
	assert_memory_equal(head + 68, "vtdb", 4);
	assert_int_equal(vt_be32(head + 60), 2);
	/* It has a log. */
	assert_int_equal(head[18], 2);
	assert_int_equal(head[19], 2);
}

static void how_connections_are_set_up(void **state)
{
	static const struct {
		const char *pragma, *value;
	} rows[] = {
		{"PRAGMA foreign_keys", "1"},	{"PRAGMA synchronous", "2"},
		{"PRAGMA temp_store", "2"},	{"PRAGMA busy_timeout", "600000"},
		{"PRAGMA journal_mode", "wal"},
	};
	struct vt_db *db = db_open(*state, VT_DB_CREATE);
	struct vt_error err = VT_ERROR_INIT;
	int defensive, trusted;
	size_t i;

	for (i = 0; i < DB_COUNT(rows); i++) {
		sqlite3_stmt *s = vti_db_prepare(db, &err, rows[i].pragma, "");

		assert_int_equal(vti_db_step(db, s, &err), 1);
		assert_string_equal((const char *)sqlite3_column_text(s, 0), rows[i].value);
		sqlite3_finalize(s);
	}
	sqlite3_db_config(db->sql, SQLITE_DBCONFIG_DEFENSIVE, -1, &defensive);
	sqlite3_db_config(db->sql, SQLITE_DBCONFIG_TRUSTED_SCHEMA, -1, &trusted);
	assert_int_equal(defensive, 1);
	assert_int_equal(trusted, 0);
	vt_db_close(db);
	vt_db_close(NULL);
}

/* Names that SQLite would take for something else, and paths without a slash. */
static void names_are_paths(void **state)
{
	static const char *const names[] = {"p.vdb", ":memory:", "file:x?mode=memory", "./y"};
	char *here = db_enter(*state);
	size_t i;

	for (i = 0; i < DB_COUNT(names); i++) {
		db_make_first(names[i]);
		db_expect_epochs(names[i], DB_FIRST);
		assert_int_equal(remove(names[i]), 0);
	}
	toolbox_leave(here);
}

/* ---- what is none ---- */

static void files_that_are_none(void **state)
{
	static const struct {
		const char *sql;
		enum vt_errcode code;
		const char *text;
	} rows[] = {
		{"PRAGMA user_version = 3", VT_E_VERSION, ": a database of version 3"},
		{"PRAGMA user_version = 0", VT_E_VERSION, ": a database of version 0"},
		{"PRAGMA application_id = 0", VT_E_FORMAT, NOT_OURS},
		{"PRAGMA application_id = 7", VT_E_FORMAT, NOT_OURS},
		{"PRAGMA application_id = 0; PRAGMA user_version = 0", VT_E_FORMAT, NOT_OURS},
	};
	static const enum vt_db_mode modes[] = {VT_DB_READ, VT_DB_WRITE, VT_DB_CREATE};
	const char *dir = db_beside(*state, ".d");
	size_t i, k;

	assert_int_equal(mkdir(dir, 0755), 0);
	for (k = 0; k < DB_COUNT(modes); k++) {
		for (i = 0; i < DB_COUNT(rows); i++) {
			db_make_first(*state);
			db_change(*state, rows[i].sql);
			db_refuse(*state, modes[k], rows[i].code, rows[i].text);
			assert_int_equal(remove(*state), 0);
		}
		/* No table is needed to be somebody else's. */
		db_change(*state, "PRAGMA user_version = 7");
		db_refuse(*state, modes[k], VT_E_FORMAT, NOT_OURS);
		assert_int_equal(remove(*state), 0);
		db_change(*state, "PRAGMA application_id = 7");
		db_refuse(*state, modes[k], VT_E_FORMAT, NOT_OURS);
		db_resize(*state, 0);
		db_resize(*state, 5000);
		db_refuse(*state, modes[k], VT_E_FORMAT, ": file is not a database");
		db_refuse(dir, modes[k], VT_E_FORMAT, NOT_OURS);
		assert_int_equal(remove(*state), 0);
		if (modes[k] != VT_DB_CREATE)
			db_refuse(*state, modes[k], VT_E_READ, ": No such file or directory");
		assert_int_equal(access(*state, F_OK), -1);
	}
}

/* Whole pages that lack are damage; a part of the last one would be taken for zeros. */
static void files_that_were_cut_off(void **state)
{
	static const enum vt_db_mode modes[] = {VT_DB_READ, VT_DB_WRITE, VT_DB_CREATE};
	const char *log = db_beside(*state, "-wal");
	int64_t size, cut;
	char text[80];
	size_t i;

	db_make_first(*state);
	size = size_beside(*state, "");
	assert_int_equal(remove(*state), 0);
	for (i = 0; i < DB_COUNT(modes); i++) {
		for (cut = -1; cut <= 1; cut += 2) {
			db_make_first(*state);
			db_resize(*state, size + cut);
			snprintf(text, sizeof(text),
				 ": %" PRId64 " bytes are no database: it was cut off", size + cut);
			db_refuse(*state, modes[i], VT_E_TRUNC, text);
			assert_int_equal(remove(*state), 0);
		}
		db_make_first(*state);
		db_resize(*state, size - 4096);
		db_refuse(*state, modes[i], VT_E_DAMAGED, ": database disk image is malformed");
		db_resize(*state, 100);
		db_refuse(*state, modes[i], VT_E_DAMAGED, ": database disk image is malformed");
		db_resize(*state, 99);
		db_refuse(*state, modes[i], VT_E_TRUNC,
			  ": 99 bytes are no database: it was cut off");
		db_resize(*state, 0);
		if (modes[i] != VT_DB_CREATE)
			db_refuse(*state, modes[i], VT_E_TRUNC,
				  ": 0 bytes are no database: it was cut off");
		/* A log tells that there was something in it. */
		db_resize(log, 1);
		db_refuse(*state, modes[i], VT_E_TRUNC,
			  ": 0 bytes are no database: it was cut off");
		assert_int_equal(remove(log), 0);
		assert_int_equal(remove(*state), 0);
	}
	/* One without a byte does not, nor does it miss the last page. */
	db_resize(*state, 0);
	db_resize(log, 0);
	db_make_first(*state);
	db_expect_epochs(*state, DB_FIRST);
}

/* Who was to make it was killed before it had a table: it can be made, reading changes nothing. */
static void files_without_tables(void **state)
{
	int64_t size;

	db_change(*state, "CREATE TABLE t(x); DROP TABLE t; VACUUM");
	size = size_beside(*state, "");
	assert_true(size > 0);
	db_expect_epochs(*state, "");
	assert_int_equal(size_beside(*state, ""), size);
	vt_db_close(db_open(*state, VT_DB_WRITE));
	assert_true(size_beside(*state, "") > size);
	db_make_first(*state);
	db_expect_epochs(*state, DB_FIRST);
}

/* ---- pruning ---- */

#define EVER .keep = UINT64_MAX, .before = INT64_MIN

/* Epoch "a" has two labels, "b" and "c" one each; they begin at 100, 200, 300. */
static struct vt_db *make_epochs(const char *path)
{
	static const struct {
		const struct vt_db_batch *batch;
		const char *epoch, *label;
		int64_t now;
	} rows[] = {
		{&db_first, "a", "", 100},
		{&db_second, "a", "x", 100},
		{&db_first, "b", "", 200},
		{&db_first, "c", "", 300},
	};
	struct vt_db *db = db_open(path, VT_DB_CREATE);
	size_t i;

	for (i = 0; i < DB_COUNT(rows); i++) {
		struct vt_db_batch b = db_for(rows[i].batch, rows[i].epoch, rows[i].label);

		b.now = rows[i].now;
		b.again = true;
		db_add(db, &b, 1, rows[i].epoch);
	}
	return db;
}

static int print_section(void *arg, const struct vt_db_section_row *r)
{
	vt_buf_printf(arg, "%.*s/%.*s %" PRIu64 " %" PRIu64 "\n", (int)r->epoch.size,
		      (const char *)r->epoch.data, (int)r->label.size, (const char *)r->label.data,
		      r->inputs, r->samples);
	return 0;
}

static void expect_pruned(struct vt_db *db, const struct vt_db_prune *how, const char *gone)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_buf out = VT_BUF_INIT;

	assert_int_equal(vt_db_prune(db, how, print_section, &out, &err), 0);
	assert_string_equal(vt_buf_str(&out), gone);
	vt_buf_free(&out);
}

static int64_t number(struct vt_db *db, const char *sql)
{
	struct vt_error err = VT_ERROR_INIT;
	int64_t value;

	assert_int_equal(vti_db_number(db, &value, &err, sql, ""), 1);
	return value;
}

#define EPOCH_A	  "a 100 1 1 3 4 12 23\n"
#define EPOCH_B	  "b 200 1 1 3 4 12 23\n"
#define EPOCH_C	  "c 300 1 1 3 4 12 23\n"
#define EPOCH_AX  "a 100 1 1 3 4 13 27\n"
#define EPOCH_AAX "a 100 2 2 4 8 25 50\n"
#define BOTH_A	  "a/ 1 12\na/x 1 13\n"

static void what_goes_and_what_stays(void **state)
{
	static const char *const a[] = {"a"}, *const x[] = {"x"}, *const none[] = {""};
	static const struct {
		struct vt_db_prune how;
		const char *gone, *left;
		int images, events;
	} rows[] = {
		{{.keep = 1, .before = INT64_MIN}, BOTH_A "b/ 1 12\n", EPOCH_C, 2, 2},
		{{.keep = 2, .before = INT64_MIN}, BOTH_A, EPOCH_B EPOCH_C, 2, 2},
		{{.keep = 3, .before = INT64_MIN}, "", EPOCH_AAX EPOCH_B EPOCH_C, 3, 3},
		{{.keep = UINT64_MAX - 1, .before = INT64_MIN},
		 "",
		 EPOCH_AAX EPOCH_B EPOCH_C,
		 3,
		 3},
		/* The latest epoch stays, without anything. */
		{{.keep = 0, .before = INT64_MIN},
		 BOTH_A "b/ 1 12\nc/ 1 12\n",
		 "c 300 0 0 0 0 0 0\n",
		 0,
		 0},
		{{.keep = UINT64_MAX, .before = 200}, BOTH_A, EPOCH_B EPOCH_C, 2, 2},
		{{.keep = UINT64_MAX, .before = 201}, BOTH_A "b/ 1 12\n", EPOCH_C, 2, 2},
		{{.keep = UINT64_MAX, .before = INT64_MIN + 1},
		 "",
		 EPOCH_AAX EPOCH_B EPOCH_C,
		 3,
		 3},
		{{.keep = 2, .before = 201}, BOTH_A "b/ 1 12\n", EPOCH_C, 2, 2},
		{{.keep = 1, .before = 101}, BOTH_A "b/ 1 12\n", EPOCH_C, 2, 2},
		{{.sel = {.epochs = a, .nepochs = 1}, EVER}, BOTH_A, EPOCH_B EPOCH_C, 2, 2},
		{{.sel = {.labels = x, .nlabels = 1}, EVER},
		 "a/x 1 13\n",
		 EPOCH_A EPOCH_B EPOCH_C,
		 2,
		 2},
		{{.sel = {.labels = none, .nlabels = 1}, .keep = 2, .before = INT64_MIN},
		 "a/ 1 12\n",
		 EPOCH_AX EPOCH_B EPOCH_C,
		 3,
		 3},
	};
	size_t i;

	for (i = 0; i < DB_COUNT(rows); i++) {
		struct vt_db *db = make_epochs(*state);
		struct vt_db_prune dry = rows[i].how;
		struct vt_error err = VT_ERROR_INIT;

		dry.dry = true;
		expect_pruned(db, &dry, rows[i].gone);
		db_expect(db, DB_EPOCHS, DB_ALL, EPOCH_AAX EPOCH_B EPOCH_C);
		expect_pruned(db, &rows[i].how, rows[i].gone);
		db_expect(db, DB_EPOCHS, DB_ALL, rows[i].left);
		assert_int_equal(number(db, "SELECT count(*) FROM image"), rows[i].images);
		assert_int_equal(number(db, "SELECT count(*) FROM event"), rows[i].events);
		/* The space is given back, and the log is empty. */
		assert_int_equal(number(db, "PRAGMA freelist_count"), 0);
		assert_int_equal(size_beside(*state, "-wal"), 0);
		assert_int_equal(vt_db_check(db, &err), 0);
		vt_db_close(db);
		assert_int_equal(remove(*state), 0);
	}
}

static int stop(void *arg, const struct vt_db_section_row *row)
{
	(void)row;
	return ++*(int *)arg == 2 ? -VT_E_WRITE : 0;
}

static void expect_no_pruning(struct vt_db *db, const struct vt_db_prune *how, enum vt_errcode code,
			      const char *text)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_buf out = VT_BUF_INIT;

	assert_int_equal(vt_db_prune(db, how, print_section, &out, &err), -(int)code);
	db_same_error(&err, code, db->path, text);
	assert_int_equal(sqlite3_get_autocommit(db->sql), 1);
	vt_buf_free(&out);
}

static void pruning_that_fails_removes_nothing(void **state)
{
	static const char *const z[] = {"z"};
	const struct vt_db_prune all = {.keep = 0, .before = INT64_MIN};
	const struct vt_db_prune unknown = {.sel = {.epochs = z, .nepochs = 1}, EVER};
	static const char *const tables[] = {"epoch", "section", "profile",
					     "event", "image",	 "loss"};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_db *db = make_epochs(*state);
	int calls = 0;
	size_t i;

	assert_int_equal(vt_db_prune(db, &all, stop, &calls, &err), -VT_E_WRITE);
	assert_int_equal(calls, 2);
	expect_no_pruning(db, &unknown, VT_E_NOTFOUND, ": there is no epoch 'z'");
	db_expect(db, DB_EPOCHS, DB_ALL, EPOCH_AAX EPOCH_B EPOCH_C);
	/* Within another transaction none begins. */
	assert_int_equal(vti_db_begin(db, false, &err), 0);
	assert_int_equal(vt_db_prune(db, &all, stop, &calls, &err), -VT_E_SYSTEM);
	assert_int_equal(vti_db_end(db, 0, &err), 0);
	vt_db_close(db);
	for (i = 0; i < DB_COUNT(tables); i++) {
		char sql[100], text[100];

		assert_int_equal(remove(*state), 0);
		vt_db_close(make_epochs(*state));
		snprintf(sql, sizeof(sql), "DROP TABLE %s", tables[i]);
		snprintf(text, sizeof(text), ": no such table: %s", tables[i]);
		db_change(*state, sql);
		db = db_open(*state, VT_DB_WRITE);
		expect_no_pruning(db, &all, VT_E_SYSTEM, text);
		vt_db_close(db);
	}
}

/* ---- checking ---- */

static void damage_is_found(void **state)
{
	/* Statements are run one connection after the other, so that each sees a new schema. */
	static const struct {
		const char *sql[3];
		enum vt_errcode code;
		const char *text;
	} rows[] = {
		{{"PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql ="
		  " replace(sql, 'label TEXT NOT NULL', 'label TEXT')",
		  "UPDATE section SET label = NULL WHERE label = 'x'",
		  "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql ="
		  " replace(sql, 'label TEXT', 'label TEXT NOT NULL')"},
		 VT_E_DAMAGED,
		 ": NULL value in section.label"},
		{{"DELETE FROM event WHERE name = 'faults'"},
		 VT_E_DAMAGED,
		 ": rows refer to others that are not there"},
		{{"DELETE FROM image WHERE type = 2"},
		 VT_E_DAMAGED,
		 ": a profile's image is not there"},
		{{"UPDATE profile SET data = substr(data, 1, length(data) - 1) WHERE samples = 7"},
		 VT_E_DAMAGED,
		 ": a profile is damaged"},
		{{"UPDATE profile SET data = x'03' || substr(data, 2) WHERE image = 0"},
		 VT_E_VERSION,
		 ": a profile in a later version's format"},
		/* Two places of 2^63 - 1 samples each. */
		{{"UPDATE profile SET data = "
		  "x'01020000ffffffffffffffff7f0001ffffffffffffffff7f00'"},
		 VT_E_LIMIT,
		 ": more samples than can be counted"},
		{{"UPDATE profile SET places = places + 1 WHERE samples = 7"},
		 VT_E_DAMAGED,
		 ": a profile has not the samples that its row says"},
		{{"UPDATE profile SET samples = samples + 1 WHERE image = 0"},
		 VT_E_DAMAGED,
		 ": a profile has not the samples that its row says"},
		{{"UPDATE profile SET period = period - 1 WHERE image = 0"},
		 VT_E_DAMAGED,
		 ": a profile has not the samples that its row says"},
		{{"UPDATE input SET samples = samples - 1 WHERE section = 2"},
		 VT_E_DAMAGED,
		 ": an epoch has not the samples of its inputs"},
		{{"DROP TABLE epoch"}, VT_E_DAMAGED, ": rows refer to others that are not there"},
		{{"DROP TABLE input"}, VT_E_SYSTEM, ": no such table: input"},
		{{"DROP TABLE image"}, VT_E_SYSTEM, ": no such table: image"},
		{{"DROP TABLE profile"}, VT_E_SYSTEM, ": no such table: profile"},
		{{"ALTER TABLE profile RENAME COLUMN period TO x"},
		 VT_E_SYSTEM,
		 ": no such column: period"},
	};
	size_t i, k;

	for (i = 0; i < DB_COUNT(rows); i++) {
		struct vt_error err = VT_ERROR_INIT;
		struct vt_db *db = make_epochs(*state);

		assert_int_equal(vt_db_check(db, &err), 0);
		vt_db_close(db);
		for (k = 0; k < 3 && rows[i].sql[k]; k++)
			db_change(*state, rows[i].sql[k]);
		db = db_open(*state, VT_DB_READ);
		assert_int_equal(vt_db_check(db, &err), -(int)rows[i].code);
		db_same_error(&err, rows[i].code, *state, rows[i].text);
		assert_int_equal(sqlite3_get_autocommit(db->sql), 1);
		vt_db_close(db);
		assert_int_equal(remove(*state), 0);
	}
}

/* Neither a batch without inputs nor an empty database is damaged. */
static void what_is_empty_is_sound(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_db_batch b = {.label = ""};
	struct vt_db *db = db_open(*state, VT_DB_CREATE);

	assert_int_equal(vt_db_check(db, &err), 0);
	db_add(db, &b, 1, "default");
	assert_int_equal(vt_db_check(db, &err), 0);
	vt_db_close(db);
}

/* ---- errors of SQLite ---- */

static int unexpected_errno;

static int open_never(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
	(void)vfs, (void)name, (void)flags, (void)out;
	file->pMethods = NULL;
	return SQLITE_CANTOPEN;
}

static int last_error(sqlite3_vfs *vfs, int size, char *text)
{
	(void)vfs, (void)size, (void)text;
	return unexpected_errno;
}

static void codes_of_errors(void **state)
{
	static const struct {
		int rc;
		enum vt_errcode code;
	} rows[] = {
		{SQLITE_NOMEM, VT_E_NOMEM},	      {SQLITE_NOTADB, VT_E_FORMAT},
		{SQLITE_CORRUPT, VT_E_DAMAGED},	      {SQLITE_CORRUPT_INDEX, VT_E_DAMAGED},
		{SQLITE_MISMATCH, VT_E_DAMAGED},      {SQLITE_FULL, VT_E_WRITE},
		{SQLITE_READONLY, VT_E_WRITE},	      {SQLITE_READONLY_DBMOVED, VT_E_WRITE},
		{SQLITE_CANTOPEN, VT_E_WRITE},	      {SQLITE_PERM, VT_E_WRITE},
		{SQLITE_TOOBIG, VT_E_WRITE},	      {SQLITE_IOERR, VT_E_WRITE},
		{SQLITE_IOERR_WRITE, VT_E_WRITE},     {SQLITE_IOERR_READ, VT_E_READ},
		{SQLITE_IOERR_SHORT_READ, VT_E_READ}, {SQLITE_BUSY, VT_E_SYSTEM},
		{SQLITE_ERROR, VT_E_SYSTEM},	      {SQLITE_CONSTRAINT, VT_E_SYSTEM},
	};
	/* The system's word is more than SQLite's, where there was no room. */
	static const struct {
		int rc, number;
		enum vt_errcode code;
		bool systems;
	} words[] = {
		{SQLITE_IOERR_WRITE, ENOSPC, VT_E_WRITE, true},
		{SQLITE_IOERR_WRITE, EDQUOT, VT_E_WRITE, true},
		{SQLITE_IOERR, EFBIG, VT_E_WRITE, true},
		{SQLITE_IOERR_READ, EFBIG, VT_E_READ, true},
		{SQLITE_IOERR_WRITE, EIO, VT_E_WRITE, false},
		{SQLITE_FULL, ENOSPC, VT_E_WRITE, false},
		{SQLITE_IOERR_WRITE, 0, VT_E_WRITE, false},
	};
	static sqlite3_vfs failing;
	struct vt_db db = {.path = (char *)"p"};
	struct vt_error err = VT_ERROR_INIT;
	size_t i;

	(void)state;
	assert_int_equal(sqlite3_open(":memory:", &db.sql), SQLITE_OK);
	for (i = 0; i < DB_COUNT(rows); i++) {
		assert_int_equal(vti_db_error(&db, rows[i].rc, &err), -(int)rows[i].code);
		db_same_error(&err, rows[i].code, "p", ": not an error");
	}
	sqlite3_close(db.sql);

	failing = *sqlite3_vfs_find(NULL);
	failing.zName = "failing";
	failing.xOpen = open_never;
	failing.xGetLastError = last_error;
	assert_int_equal(sqlite3_vfs_register(&failing, 0), SQLITE_OK);
	for (i = 0; i < DB_COUNT(words); i++) {
		char text[100];

		unexpected_errno = words[i].number;
		assert_int_equal(sqlite3_open_v2("p", &db.sql, SQLITE_OPEN_READWRITE, "failing"),
				 SQLITE_CANTOPEN);
		snprintf(text, sizeof(text), ": %s",
			 words[i].systems ? strerror(words[i].number)
					  : "unable to open database file");
		assert_int_equal(vti_db_error(&db, words[i].rc, &err), -(int)words[i].code);
		db_same_error(&err, words[i].code, "p", text);
		sqlite3_close(db.sql);
	}
	assert_int_equal(sqlite3_vfs_unregister(&failing), SQLITE_OK);
}

static void statements_that_fail(void **state)
{
	struct vt_db *db = db_open(*state, VT_DB_CREATE);
	struct vt_error err = VT_ERROR_INIT;
	static const char xs[201] = "x";
	const struct vt_bytes much = {(const uint8_t *)xs, 200}, little = {NULL, 0};
	int64_t value = 5;

	assert_int_equal(vti_db_exec(db, "nonsense", &err), -VT_E_SYSTEM);
	db_same_error(&err, VT_E_SYSTEM, *state, ": near \"nonsense\": syntax error");
	assert_null(vti_db_prepare(db, &err, "SELECT x", ""));
	db_same_error(&err, VT_E_SYSTEM, *state, ": no such column: x");
	assert_int_equal(vti_db_step(db, NULL, &err), -VT_E_SYSTEM);
	assert_int_equal(vti_db_step_number(db, NULL, &value, &err), -VT_E_SYSTEM);
	assert_int_equal(value, 0);

	sqlite3_limit(db->sql, SQLITE_LIMIT_LENGTH, 100);
	assert_null(vti_db_prepare(db, &err, "SELECT ?, ?", "tt", much, little));
	db_same_error(&err, VT_E_WRITE, *state, ": string or blob too big");
	assert_null(vti_db_prepare(db, &err, "SELECT ?, ?", "ib", INT64_C(1), much));
	db_same_error(&err, VT_E_WRITE, *state, ": string or blob too big");

	assert_int_equal(vti_db_run(db, &err, "INSERT INTO epoch(name, begun) VALUES(NULL, 1)", ""),
			 -VT_E_SYSTEM);
	db_same_error(&err, VT_E_SYSTEM, *state, ": NOT NULL constraint failed: epoch.name");
	vt_db_close(db);
}

/* A transaction that cannot be ended is taken back. */
static void commits_that_fail(void **state)
{
	struct vt_db *db = db_open(*state, VT_DB_CREATE);
	struct vt_error err = VT_ERROR_INIT;

	assert_int_equal(vti_db_begin(db, true, &err), 0);
	assert_int_equal(vti_db_exec(db,
				     "PRAGMA defer_foreign_keys = ON;"
				     "INSERT INTO section(epoch, label) VALUES(77, '')",
				     &err),
			 0);
	assert_int_equal(vti_db_end(db, 5, &err), -VT_E_SYSTEM);
	db_same_error(&err, VT_E_SYSTEM, *state, ": FOREIGN KEY constraint failed");
	assert_int_equal(sqlite3_get_autocommit(db->sql), 1);

	assert_int_equal(vti_db_begin(db, true, &err), 0);
	assert_int_equal(vti_db_end(db, 5, &err), 5);
	assert_int_equal(vti_db_begin(db, false, &err), 0);
	assert_int_equal(vti_db_end(db, -VT_E_LIMIT, &err), -VT_E_LIMIT);
	assert_int_equal(sqlite3_get_autocommit(db->sql), 1);
	vt_db_close(db);
}

/* Within a transaction nothing else begins one: nothing is called, nothing is written. */
static void transactions_are_not_nested(void **state)
{
	const struct vt_db_prune all = {.keep = 0, .before = INT64_MIN};
	struct vt_db *db = db_open(*state, VT_DB_CREATE);
	struct vt_table *table = vt_table_new();
	struct vt_error err = VT_ERROR_INIT;
	size_t i;

	assert_int_equal(vti_db_begin(db, false, &err), 0);
	{
		const int codes[] = {
			vt_db_add(db, &db_first, NULL, &err),
			vt_db_epoch(db, "e", 1, &err),
			vt_db_list(db, VT_DB_EPOCHS, DB_ALL, table, &err),
			vt_db_write(db, DB_ALL, false, NULL, &err),
			vt_db_write(db, DB_ALL, true, NULL, &err),
			vt_db_prune(db, &all, NULL, NULL, &err),
			vt_db_check(db, &err),
		};

		for (i = 0; i < DB_COUNT(codes); i++)
			assert_int_equal(codes[i], -VT_E_SYSTEM);
	}
	db_same_error(&err, VT_E_SYSTEM, *state,
		      ": cannot start a transaction within a transaction");
	assert_int_equal(vti_db_end(db, 0, &err), 0);
	vt_table_free(table);
	vt_db_close(db);
}

static void limit_files(rlim_t size)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = size < limit.rlim_max ? size : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* No byte can be written: the system's word, but where SQLite has it no more when it commits. */
static void no_room(void **state)
{
	struct vt_db_batch b = db_for(&db_second, "b", "");
	struct vt_error err = VT_ERROR_INIT;
	struct vt_db *db;

	db_make_first(*state);
	signal(SIGXFSZ, SIG_IGN);
	limit_files(0);
	db_refuse(*state, VT_DB_WRITE, VT_E_WRITE, ": File too large");
	db_expect_epochs(*state, DB_FIRST);
	limit_files(RLIM_INFINITY);

	db = db_open(*state, VT_DB_WRITE);
	limit_files(0);
	assert_int_equal(vt_db_add(db, &b, NULL, &err), -VT_E_WRITE);
	limit_files(RLIM_INFINITY);
	db_same_error(&err, VT_E_WRITE, *state, ": disk I/O error");
	db_expect(db, DB_EPOCHS, DB_ALL, DB_FIRST);
	db_add(db, &b, 1, "b");
	db_expect(db, DB_EPOCHS, DB_ALL, DB_BOTH);
	vt_db_close(db);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, db_setup, db_teardown)

/* Of more samples than can be counted as many are told as can. */
static void prunes_what_has_many_samples(void **state)
{
	static const struct vt_db_event events[] = {{DB_TEXT("e"), DB_TEXT(""), {0}},
						    {DB_TEXT("f"), DB_TEXT(""), {0}}};
	static struct vt_db_place place = {0, INT64_MAX, 0};
	static const struct vt_db_profile profiles[] = {{VT_DB_UNMAPPED, 0, {&place, 1, 1}},
							{VT_DB_UNMAPPED, 1, {&place, 1, 1}}};
	const struct vt_db_batch b = {.epoch = "a",
				      .label = "",
				      .events = events,
				      .nevents = 2,
				      .profiles = profiles,
				      .nprofiles = 2};
	const struct vt_db_prune all = {.keep = 0, .before = INT64_MIN};
	struct vt_db *db = db_open(*state, VT_DB_CREATE);

	db_add(db, &b, 1, "a");
	expect_pruned(db, &all, "a/ 0 9223372036854775807\n");
	vt_db_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(head_of_the_file),
		TEST(how_connections_are_set_up),
		TEST(names_are_paths),
		TEST(files_that_are_none),
		TEST(files_that_were_cut_off),
		TEST(files_without_tables),
		TEST(statements_that_fail),
		TEST(commits_that_fail),
		TEST(transactions_are_not_nested),
		TEST(no_room),
		TEST(what_goes_and_what_stays),
		TEST(prunes_what_has_many_samples),
		TEST(pruning_that_fails_removes_nothing),
		TEST(damage_is_found),
		TEST(what_is_empty_is_sound),
		cmocka_unit_test(codes_of_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
