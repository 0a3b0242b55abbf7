/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Databases of profiles that others have open, and where nothing can be written. */
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/db/internal.h"
#include "tests/unit/common/toolbox.h"
#include "tests/unit/formats/db/dbs.h"

#define NOBODY	   65534
#define LOCK_START 0x40000002 /* SQLite's "shared" bytes */
#define LOCK_SIZE  510
#define COPY_MAX   (INT64_C(1) << 30)
#define TOO_LARGE  ": more than 1073741824 bytes: too large to be read where nothing can be written"

/* ---- others at work ---- */

/*
 * Runs `hold`, which takes something of the file, in a process of its own that keeps it for a tenth
 * of a second; tells on *ended, before it ends, that it is going to.
 */
static pid_t hold_in_child(const char *path, void (*hold)(const char *path), int *ended)
{
	int begin[2], end[2];
	pid_t child;
	char c;

	assert_int_equal(pipe(begin), 0);
	assert_int_equal(pipe(end), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		hold(path);
		if (write(begin[1], "b", 1) != 1)
			_exit(1);
		poll(NULL, 0, 100);
		_exit(write(end[1], "e", 1) != 1);
	}
	close(begin[1]);
	close(end[1]);
	assert_int_equal(read(begin[0], &c, 1), 1);
	close(begin[0]);
	*ended = end[0];
	return child;
}

/* Whether the child had ended by now. */
static bool was_waited_for(pid_t child, int ended)
{
	bool waited;
	char c;

	assert_int_equal(fcntl(ended, F_SETFL, O_NONBLOCK), 0);
	waited = read(ended, &c, 1) == 1;
	close(ended);
	assert_int_equal(waitpid(child, NULL, 0), child);
	return waited;
}

static void read_in_transaction(const char *path)
{
	sqlite3 *s;

	if (sqlite3_open(path, &s) != SQLITE_OK ||
	    sqlite3_exec(s, "BEGIN; SELECT * FROM epoch", NULL, NULL, NULL) != SQLITE_OK)
		_exit(1);
}

/* To turn the log on SQLite needs the file alone, and waits for nobody. */
static void waits_to_turn_the_log_on(void **state)
{
	struct vt_db *db;
	pid_t child;
	int ended;

	db_make_first(*state);
	db_change(*state, "PRAGMA journal_mode = DELETE");
	child = hold_in_child(*state, read_in_transaction, &ended);
	db = db_open(*state, VT_DB_WRITE);
	assert_true(was_waited_for(child, ended));
	db_add_second(db);
	vt_db_close(db);
	db_expect_epochs(*state, DB_BOTH);
}

/* ---- where nothing can be written ---- */

static int folder_length(const char *path)
{
	return (int)(strrchr(path, '/') - path);
}

/* Runs a command in the database's folder. */
static char *run_beside(const char *path, const char *command)
{
	char dir[400];

	snprintf(dir, sizeof(dir), "%.*s", folder_length(path), path);
	return toolbox_run(dir, "%s", command);
}

/* Opened as where nothing can be written, it has these epochs. */
static void expect_unwritable(const char *path, const char *want)
{
	struct vt_db db = {.path = (char *)path};
	struct vt_error err = VT_ERROR_INIT;

	if (vti_db_open_unwritable(&db, &err) != 0 || vti_db_functions_init(&db, &err) != 0)
		fail_msg("%s", err.text);
	db_expect(&db, DB_EPOCHS, DB_ALL, want);
	assert_int_equal(sqlite3_exec(db.sql, "DELETE FROM main.epoch", NULL, NULL, NULL) ==
				 SQLITE_READONLY,
			 access(db_beside(path, "-shm"), F_OK) == 0);
	sqlite3_close(db.sql);
}

static void refuse_unwritable(const char *path, enum vt_errcode code, const char *text)
{
	struct vt_db db = {.path = (char *)path};
	struct vt_error err = VT_ERROR_INIT;

	assert_int_equal(vti_db_open_unwritable(&db, &err), -(int)code);
	db_same_error(&err, code, path, text);
	sqlite3_close(db.sql);
}

/*
 * Makes what three folders beside the database hold: "closed" a file of both batches; "log" one of
 * the first, with the second in the log, and the log's index; "noindex" these without the index.
 */
static void make_folders(const char *path)
{
	struct vt_db *db;

	db_make_first(path);
	db = db_open(path, VT_DB_WRITE);
	db_add_second(db);
	free(run_beside(path, "mkdir log noindex closed && cp p.vdb* log &&"
			      " cp p.vdb p.vdb-wal noindex"));
	vt_db_close(db);
	free(run_beside(path, "mv p.vdb closed"));
}

/* The database in one of these folders. */
static const char *within(const char *path, const char *folder)
{
	static char name[300];

	snprintf(name, sizeof(name), "%.*s/%s/p.vdb", folder_length(path), path, folder);
	return name;
}

/* What is in its folder, with times and sums. */
static char *folder_state(const char *path)
{
	return run_beside(path, "ls -ln --time-style=full-iso && cksum *");
}

static void reads_what_it_cannot_write(void **state)
{
	static const char *const folders[] = {"closed", "log", "noindex"};
	size_t i;

	make_folders(*state);
	for (i = 0; i < DB_COUNT(folders); i++) {
		const char *path = within(*state, folders[i]);
		char *before = folder_state(path), *after;

		expect_unwritable(path, DB_BOTH);
		after = folder_state(path);
		assert_string_equal(before, after);
		free(before);
		free(after);
	}
	/* Without its log it has what the file has. */
	assert_int_equal(remove(db_beside(within(*state, "noindex"), "-wal")), 0);
	expect_unwritable(within(*state, "noindex"), DB_FIRST);
	refuse_unwritable(*state, VT_E_READ, ": No such file or directory");
}

/* Names that a URI takes for something else, and paths without a slash. */
static void odd_names_are_read(void **state)
{
	static const char *const names[] = {"p?mode=rwc&a#%41 \xc3\xa4.vdb", "plain.vdb"};
	char *here = db_enter(*state);
	char full[400];
	size_t i;

	for (i = 0; i < DB_COUNT(names); i++) {
		db_make_first(names[i]);
		expect_unwritable(names[i], DB_FIRST);
		snprintf(full, sizeof(full), "%.*s//%s", folder_length(*state),
			 (const char *)*state, names[i]);
		expect_unwritable(full, DB_FIRST);
	}
	toolbox_leave(here);
}

static void copies_are_limited(void **state)
{
	const char *log = db_beside(*state, "-wal");

	db_make_first(*state);
	db_resize(*state, COPY_MAX);
	db_resize(log, COPY_MAX);
	expect_unwritable(*state, DB_FIRST);
	db_resize(log, COPY_MAX + 1);
	refuse_unwritable(*state, VT_E_LIMIT, TOO_LARGE);
	assert_int_equal(remove(log), 0);
	db_resize(*state, COPY_MAX + 1);
	refuse_unwritable(*state, VT_E_LIMIT, TOO_LARGE);
	db_resize(*state, COPY_MAX);
	expect_unwritable(*state, DB_FIRST);
}

static int64_t held_byte;

static void lock_byte(const char *path)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = held_byte, .l_len = 1};
	int fd = open(path, O_RDWR);

	if (fd < 0 || fcntl(fd, F_SETLK, &lock) < 0)
		_exit(1);
}

/* Nobody copies while a writer has the bytes that readers share; others do not matter. */
static void waits_for_who_has_the_lock(void **state)
{
	static const struct {
		int64_t byte;
		bool waits;
	} rows[] = {
		{LOCK_START, true},
		{LOCK_START + LOCK_SIZE - 1, true},
		{LOCK_START + LOCK_SIZE, false},
	};
	size_t i;

	db_make_first(*state);
	for (i = 0; i < DB_COUNT(rows); i++) {
		pid_t child;
		int ended;

		held_byte = rows[i].byte;
		child = hold_in_child(*state, lock_byte, &ended);
		expect_unwritable(*state, DB_FIRST);
		assert_int_equal(was_waited_for(child, ended) || !rows[i].waits, true);
	}
}

/* ---- others who come and go while it is opened: in place of SQLite's way to open files ---- */

static sqlite3_vfs *usual;
static struct vt_db *other;
static const char *others_path;
static void (*meanwhile)(void);

static int open_hooked(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
	void (*once)(void) = meanwhile;

	(void)vfs;
	meanwhile = NULL;
	if (once)
		once();
	return usual->xOpen(usual, name, file, flags, out);
}

static void other_comes(void)
{
	other = db_open(others_path, VT_DB_WRITE);
	db_add_second(other);
}

static void other_goes(void)
{
	vt_db_close(other);
	other = NULL;
}

/* Opens it where nothing can be written, and another one comes or goes in the middle of that. */
static void expect_while(const char *path, void (*what)(void), const char *want)
{
	static sqlite3_vfs hooked;
	struct vt_db db = {.path = (char *)path};
	struct vt_error err = VT_ERROR_INIT;

	usual = sqlite3_vfs_find(NULL);
	hooked = *usual;
	hooked.zName = "hooked";
	hooked.xOpen = open_hooked;
	assert_int_equal(sqlite3_vfs_register(&hooked, 1), SQLITE_OK);
	others_path = path;
	meanwhile = what;
	if (vti_db_open_unwritable(&db, &err) != 0 || vti_db_functions_init(&db, &err) != 0)
		fail_msg("%s", err.text);
	assert_null(meanwhile);
	db_expect(&db, DB_EPOCHS, DB_ALL, want);
	sqlite3_close(db.sql);
	assert_int_equal(sqlite3_vfs_unregister(&hooked), SQLITE_OK);
}

static void others_come_and_go_meanwhile(void **state)
{
	db_make_first(*state);
	/* What was copied lacks what they have added: it is read again, with their index. */
	expect_while(*state, other_comes, DB_BOTH);
	/* Their index is gone: it is copied. */
	expect_while(*state, other_goes, DB_BOTH);
}

/* ---- as a user whom permissions bind ---- */

/* False where the test cannot become such a user. */
static bool become_nobody(void)
{
	return geteuid() != 0 || seteuid(NOBODY) == 0;
}

static void become_root(void)
{
	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
}

static void permissions_bind(void **state)
{
	/* Files, and their folder; whether it can be written to. */
	static const struct {
		const char *folder, *files, *dir;
		bool writes;
		const char *text;
	} rows[] = {
		{"closed", "444", "555", false, ": Permission denied"},
		{"closed", "444", "777", false, ": Permission denied"},
		{"closed", "666", "555", false, NULL},
		{"closed", "666", "777", true, NULL},
		{"noindex", "444", "555", false, ": Permission denied"},
		{"noindex", "444", "777", false, ": Permission denied"},
		{"noindex", "666", "555", false, NULL},
		{"log", "444", "777", false, ": Permission denied"},
		{"log", "666", "555", true, NULL},
	};
	size_t i;

	make_folders(*state);
	free(run_beside(*state, "chmod 755 ."));
	if (!become_nobody())
		skip();
	become_root();
	for (i = 0; i < DB_COUNT(rows); i++) {
		const char *path = within(*state, rows[i].folder);
		char nothing[600], command[80];

		snprintf(nothing, sizeof(nothing),
			 ": cannot be written, as nothing can be made in %.*s: Permission denied",
			 folder_length(path), path);
		snprintf(command, sizeof(command), "chmod %s p.vdb* && chmod %s .", rows[i].files,
			 rows[i].dir);
		free(run_beside(path, command));
		become_nobody();
		db_expect_epochs(path, DB_BOTH);
		if (rows[i].writes)
			vt_db_close(db_open(path, VT_DB_WRITE));
		else
			db_refuse(path, VT_DB_WRITE, VT_E_WRITE,
				  rows[i].text ? rows[i].text : nothing);
		if (strcmp(rows[i].dir, "555") == 0) {
			strcpy(strrchr(within(*state, rows[i].folder), '/'), "/new");
			db_refuse(path, VT_DB_CREATE, VT_E_WRITE, nothing);
		}
		become_root();
	}
	free(run_beside(*state, "chmod 755 log noindex closed"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, db_setup, db_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(waits_to_turn_the_log_on),	  TEST(reads_what_it_cannot_write),
		TEST(odd_names_are_read),	  TEST(copies_are_limited),
		TEST(waits_for_who_has_the_lock), TEST(others_come_and_go_meanwhile),
		TEST(permissions_bind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
