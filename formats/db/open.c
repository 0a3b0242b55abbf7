/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/db/internal.h"

/* "vtdb": SQLite keeps it in the file's head, where file(1) finds it. */
#define APPLICATION_ID 0x76746462
#define VERSION	       2

/* Rows have no checksums: readers use it as it is, writers convert it to VERSION. */
#define VERSION_WITHOUT_SUMS 1

/* Milliseconds: the wait for other writers, and between attempts where SQLite does not wait. */
#define BUSY_WAIT  600000
#define RETRY_WAIT 5

/* The bytes of the head of an SQLite file. */
#define HEAD_SIZE 100

/* The most bytes of a copy in memory. */
#define COPY_MAX (INT64_C(1) << 30)

/* The bytes of a file that SQLite locks for readers: os.h. */
#define LOCK_START (0x40000000 + 2)
#define LOCK_SIZE  510

/* vti_db_sums_add() adds a column to each table.  Image 0 stands for samples in no image. */
static const char *const schema =
	"CREATE TABLE epoch(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,"
	" begun INTEGER NOT NULL);"
	"CREATE TABLE section(id INTEGER PRIMARY KEY,"
	" epoch INTEGER NOT NULL REFERENCES epoch ON DELETE CASCADE, label TEXT NOT NULL,"
	" UNIQUE(epoch, label));"
	"CREATE TABLE input(id INTEGER PRIMARY KEY,"
	" section INTEGER NOT NULL REFERENCES section ON DELETE CASCADE, digest BLOB NOT NULL,"
	" name TEXT NOT NULL, added INTEGER NOT NULL, samples INTEGER NOT NULL);"
	"CREATE INDEX input_digest ON input(digest);"
	"CREATE INDEX input_section ON input(section);"
	"CREATE TABLE event(id INTEGER PRIMARY KEY, name TEXT NOT NULL, policy INTEGER NOT NULL,"
	" unit TEXT NOT NULL, UNIQUE(name, policy, unit));"
	"CREATE TABLE image(id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, path TEXT NOT NULL,"
	" buildid BLOB NOT NULL, type INTEGER NOT NULL, machine INTEGER NOT NULL);"
	"CREATE TABLE declared(section INTEGER NOT NULL REFERENCES section ON DELETE CASCADE,"
	" event INTEGER NOT NULL REFERENCES event, fields BLOB NOT NULL,"
	" PRIMARY KEY(section, event)) WITHOUT ROWID;"
	"CREATE TABLE profile(section INTEGER NOT NULL REFERENCES section ON DELETE CASCADE,"
	" image INTEGER NOT NULL, event INTEGER NOT NULL REFERENCES event,"
	" places INTEGER NOT NULL, samples INTEGER NOT NULL, period INTEGER NOT NULL,"
	" data BLOB NOT NULL, PRIMARY KEY(section, image, event));"
	"CREATE TABLE loss(section INTEGER NOT NULL REFERENCES section ON DELETE CASCADE,"
	" event INTEGER NOT NULL REFERENCES event, source TEXT NOT NULL, count INTEGER NOT NULL,"
	" PRIMARY KEY(section, event, source)) WITHOUT ROWID;"
	"CREATE TABLE gap(section INTEGER NOT NULL REFERENCES section ON DELETE CASCADE,"
	" reason TEXT NOT NULL, input TEXT NOT NULL, bytes INTEGER NOT NULL,"
	" records INTEGER NOT NULL, PRIMARY KEY(section, reason, input)) WITHOUT ROWID;"
	"CREATE TABLE meta(section INTEGER NOT NULL REFERENCES section ON DELETE CASCADE,"
	" key TEXT NOT NULL, value TEXT, PRIMARY KEY(section, key)) WITHOUT ROWID;";

/* Writes the application id and the version to the head of the file. */
static int write_version(struct vt_db *db, struct vt_error *err)
{
	char numbers[80];

	sqlite3_snprintf(sizeof(numbers), numbers,
			 "PRAGMA application_id = %d; PRAGMA user_version = %d;", APPLICATION_ID,
			 VERSION);
	return vti_db_exec(db, numbers, err);
}

static int create_tables(struct vt_db *db, struct vt_error *err)
{
	if (write_version(db, err) < 0 || vti_db_exec(db, schema, err) < 0)
		return -(int)err->code;
	return vti_db_sums_add(db, err);
}

static int add_sums(struct vt_db *db, struct vt_error *err)
{
	if (vti_db_sums_add(db, err) < 0 || vti_db_sums_make(db, err) < 0)
		return -(int)err->code;
	return write_version(db, err);
}

/* 1: it is a database of profiles; 0: it is empty. */
static int identify(struct vt_db *db, struct vt_error *err)
{
	int64_t application, version, tables;

	if (vti_db_number(db, &application, err, "PRAGMA application_id", "") < 0 ||
	    vti_db_number(db, &version, err, "PRAGMA user_version", "") < 0 ||
	    vti_db_number(db, &tables, err, "SELECT count(*) FROM sqlite_schema", "") < 0)
		return -(int)err->code;
	if (application == 0 && version == 0 && tables == 0)
		return 0;
	if (application != APPLICATION_ID)
		return vt_error_set(err, VT_E_FORMAT, "%s: not a database of profiles", db->path);
	if (version != VERSION && version != VERSION_WITHOUT_SUMS)
		return vt_error_set(err, VT_E_VERSION, "%s: a database of version %lld", db->path,
				    (long long)version);
	db->has_sums = version == VERSION;
	return 1;
}

/* In one transaction, since another process may be creating the database. */
static int identify_in_transaction(struct vt_db *db, struct vt_error *err)
{
	if (vti_db_begin(db, false, err) < 0)
		return -(int)err->code;
	return vti_db_end(db, identify(db, err), err);
}

/* The size of the file with that name and suffix; -1: there is none. */
static int64_t get_file_size(const char *path, const char *suffix)
{
	struct vt_buf name = VT_BUF_INIT;
	struct stat st;
	int64_t size;

	vt_buf_printf(&name, "%s%s", path, suffix);
	size = stat(vt_buf_str(&name), &st) == 0 ? st.st_size : -1;
	vt_buf_free(&name);
	return size;
}

/* True if the log beside the database is not empty. */
static bool has_log(const char *path)
{
	return get_file_size(path, "-wal") > 0;
}

static int report_cut_off(const char *path, int64_t size, struct vt_error *err)
{
	return vt_error_set(err, VT_E_TRUNC, "%s: %lld bytes are no database: it was cut off", path,
			    (long long)size);
}

/*
 * SQLite reads missing bytes of the last page as zeros.  If there is a log, it may have the page:
 * copying it to the file was interrupted.
 */
static int check_last_page(struct vt_db *db, struct vt_error *err)
{
	bool log = has_log(db->path);
	int64_t page_size;
	struct stat st;

	if (vti_db_number(db, &page_size, err, "PRAGMA page_size", "") < 0)
		return -(int)err->code;
	if (stat(db->path, &st) < 0)
		return vt_error_errno(err, VT_E_READ, errno, "%s", db->path);
	return log || st.st_size % page_size == 0 ? 0 : report_cut_off(db->path, st.st_size, err);
}

/* SQLite does not wait by itself while another process turns the log on. */
static int turn_log_on(struct vt_db *db, struct vt_error *err)
{
	int waited = 0;
	int rc;

	do {
		rc = sqlite3_exec(db->sql, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
		if (rc != SQLITE_BUSY && rc != SQLITE_LOCKED)
			break;
		waited += sqlite3_sleep(RETRY_WAIT);
	} while (waited < BUSY_WAIT);
	return rc == SQLITE_OK ? 0 : vti_db_error(db, rc, err);
}

/* Opens `sql`, which vt_db_close() closes even after a failure. */
static int open_sqlite(struct vt_db *db, const char *path, int flags, struct vt_error *err)
{
	int rc = sqlite3_open_v2(path, &db->sql, flags, NULL);

	if (!db->sql)
		return vt_error_nomem(err);
	return rc == SQLITE_OK ? 0 : vti_db_error(db, rc, err);
}

/* Reads an empty file, whose creator was killed, as an empty database, without changing it. */
static int read_empty(struct vt_db *db, struct vt_error *err)
{
	sqlite3_close(db->sql);
	if (open_sqlite(db, ":memory:", SQLITE_OPEN_READWRITE, err) < 0 ||
	    vti_db_functions_init(db, err) < 0)
		return -(int)err->code;
	return create_tables(db, err);
}

/* Makes an empty or earlier database one of VERSION, within a transaction. */
static int make_current(struct vt_db *db, struct vt_error *err)
{
	int code = identify(db, err);

	if (code < 0)
		return code;
	if (code == 0)
		return create_tables(db, err);
	return db->has_sums ? 0 : add_sums(db, err);
}

static int set_up_connection(struct vt_db *db, enum vt_db_mode mode, struct vt_error *err)
{
	int code;

	sqlite3_busy_timeout(db->sql, BUSY_WAIT);
	sqlite3_db_config(db->sql, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db->sql, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	code = vti_db_exec(db,
			   "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL;"
			   "PRAGMA temp_store = MEMORY;",
			   err);
	if (code == 0)
		code = vti_db_functions_init(db, err);
	if (code == 0)
		code = identify_in_transaction(db, err);
	if (code == 1 && check_last_page(db, err) < 0)
		return -(int)err->code;
	if (code < 0 || mode == VT_DB_READ)
		return code < 0 ? code : code == 1 ? 0 : read_empty(db, err);
	if (turn_log_on(db, err) < 0)
		return -(int)err->code;
	/* Another process may have created it in the meantime. */
	if (!db->has_sums &&
	    (vti_db_begin(db, true, err) < 0 || vti_db_end(db, make_current(db, err), err) < 0))
		return -(int)err->code;
	return vti_db_sums_keep(db, err);
}

/* A path with a slash, which SQLite does not take for a special name. */
static char *make_plain_path(const char *path)
{
	size_t size = strlen(path) + 3;
	char *s = malloc(size);

	if (s)
		sqlite3_snprintf((int)size, s, "%s%s", strchr(path, '/') ? "" : "./", path);
	return s;
}

/*
 * Checks that SQLite can make a log beside the file.  Its own messages are "unable to open database
 * file" and "attempt to write a readonly database".
 */
static int check_folder(const char *path, struct vt_error *err)
{
	const char *slash = strrchr(path, '/');
	char *folder =
		slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	int code = 0;

	if (!folder)
		return vt_error_nomem(err);
	if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) < 0)
		code = vt_error_errno(err, VT_E_WRITE, errno,
				      "%s: cannot be written, as nothing can be made in %s", path,
				      folder);
	free(folder);
	return code;
}

static bool is_writable(const char *path)
{
	return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
}

/*
 * Checks a file that SQLite would report as "unable to open database file", create, or take for a
 * new one.  The creator of an empty file was killed, or the file was truncated: only VT_DB_CREATE
 * creates it again, and not if it has a log, which is created after the file.
 */
static int check_database_file(const char *path, enum vt_db_mode mode, struct vt_error *err)
{
	bool log = has_log(path);
	struct stat st;

	if (stat(path, &st) < 0) {
		if (errno == ENOENT && mode == VT_DB_CREATE)
			return check_folder(path, err);
		return vt_error_errno(err, VT_E_READ, errno, "%s", path);
	}
	if (!S_ISREG(st.st_mode))
		return vt_error_set(err, VT_E_FORMAT, "%s: not a database of profiles", path);
	/* SQLite would make a log that users with write access to the file could not write. */
	if (mode != VT_DB_READ && !is_writable(path))
		return vt_error_errno(err, VT_E_WRITE, errno, "%s", path);
	/* If both exist, SQLite makes no file. */
	if (mode != VT_DB_READ && !(log && get_file_size(path, "-shm") > 0) &&
	    check_folder(path, err) < 0)
		return -(int)err->code;
	if (st.st_size >= HEAD_SIZE || (st.st_size == 0 && mode == VT_DB_CREATE && !log))
		return 0;
	return report_cut_off(path, st.st_size, err);
}

static int open_database_file(struct vt_db *db, enum vt_db_mode mode, struct vt_error *err)
{
	int flags = SQLITE_OPEN_READWRITE | (mode == VT_DB_CREATE ? SQLITE_OPEN_CREATE : 0);
	char *plain = make_plain_path(db->path);
	int code = plain ? open_sqlite(db, plain, flags, err) : vt_error_nomem(err);

	free(plain);
	return code < 0 ? code : set_up_connection(db, mode, err);
}

/* ---- reading without writing anything ---- */

/*
 * SQLite reads a database with a log through an index of the log.  Writers keep the index in a file
 * beside it.  If that exists, SQLite reads it; otherwise it would create it.  But without that file
 * no process has the database open, and SQLite can use an unshared index in memory: so the database
 * is copied to memory.  A process that opens it meanwhile creates an index file, and cannot remove
 * that as long as readers' lock is held here.  Then the database is read again.
 */

/* Opens the file with parameters of a URI. */
static int open_uri(struct vt_db *db, sqlite3 **sql, const char *parameters, const char *vfs,
		    struct vt_error *err)
{
	struct vt_buf uri = VT_BUF_INIT;
	const char *c;
	int rc;

	/* After "file:" two slashes begin an authority, which is empty. */
	vt_buf_printf(&uri, "file:%s", db->path[0] == '/' ? "//" : "./");
	for (c = db->path; *c; c++)
		vt_buf_printf(&uri, isalnum((unsigned char)*c) || *c == '/' ? "%c" : "%%%02x",
			      (unsigned char)*c);
	vt_buf_printf(&uri, "?%s", parameters);
	rc = sqlite3_open_v2(vt_buf_str(&uri), sql, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, vfs);
	vt_buf_free(&uri);
	if (!*sql)
		return vt_error_nomem(err);
	return rc == SQLITE_OK
		       ? 0
		       : vt_error_set(err, VT_E_READ, "%s: %s", db->path, sqlite3_errmsg(*sql));
}

/* Copies the database of a connection into memory, and opens `sql` on the copy. */
static int copy_to_memory(struct vt_db *db, sqlite3 *from, struct vt_error *err)
{
	sqlite3_backup *b;
	int rc;

	if (open_sqlite(db, ":memory:", SQLITE_OPEN_READWRITE, err) < 0)
		return -(int)err->code;
	b = sqlite3_backup_init(db->sql, "main", from, "main");
	if (b)
		sqlite3_backup_step(b, -1);
	rc = b ? sqlite3_backup_finish(b) : sqlite3_errcode(db->sql);
	return rc == SQLITE_OK ? 0 : vti_db_error(db, rc, err);
}

/*
 * Copies a database that no process has open.  With a log, it is opened without locks, because the
 * index stays in memory only under an exclusive lock; without a log, as an immutable file.
 */
static int copy_database(struct vt_db *db, struct vt_error *err)
{
	int64_t log = get_file_size(db->path, "-wal");
	sqlite3 *from = NULL;
	int code;

	if (get_file_size(db->path, "") > COPY_MAX || log > COPY_MAX)
		return vt_error_set(err, VT_E_LIMIT,
				    "%s: more than %llu bytes: too large to be read where nothing "
				    "can be written",
				    db->path, (unsigned long long)COPY_MAX);
	code = log > 0 ? open_uri(db, &from, "mode=ro", "unix-none", err)
		       : open_uri(db, &from, "immutable=1", NULL, err);
	if (code == 0) {
		sqlite3_db_config(from, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
		sqlite3_exec(from, "PRAGMA locking_mode = EXCLUSIVE", NULL, NULL, NULL);
		code = copy_to_memory(db, from, err);
	}
	sqlite3_close(from);
	return code;
}

/* Takes the lock of readers; a file system without locks has no writers, either. */
static bool lock_shared(int fd)
{
	struct flock lock = {
		.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = LOCK_START, .l_len = LOCK_SIZE};

	return fcntl(fd, F_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES);
}

/* 1: `sql` reads the database; 0: another process opened or closed it meanwhile. */
static int try_to_read(struct vt_db *db, int fd, struct vt_error *err)
{
	bool index = get_file_size(db->path, "-shm") >= 0;
	int code;

	sqlite3_close(db->sql);
	db->sql = NULL;
	if (index) {
		code = open_uri(db, &db->sql, "mode=ro&readonly_shm=1", NULL, err);
		if (code == 0) {
			sqlite3_busy_timeout(db->sql, BUSY_WAIT);
			code = vti_db_begin(db, false, err);
			if (code == 0)
				code = vti_db_end(db, 0, err);
		}
	} else {
		if (!lock_shared(fd))
			return 0;
		code = copy_database(db, err);
	}
	if (index == (get_file_size(db->path, "-shm") >= 0))
		return code < 0 ? code : 1;
	return index && code == 0;
}

int vti_db_open_unwritable(struct vt_db *db, struct vt_error *err)
{
	int fd = open(db->path, O_RDONLY | O_CLOEXEC);
	int waited = 0;
	int code;

	if (fd < 0)
		return vt_error_errno(err, VT_E_READ, errno, "%s", db->path);
	while ((code = try_to_read(db, fd, err)) == 0 && waited < BUSY_WAIT)
		waited += sqlite3_sleep(RETRY_WAIT);
	close(fd);
	if (code == 0)
		return vt_error_set(err, VT_E_READ, "%s: others begin to write to it all the time",
				    db->path);
	return code < 0 ? code : 0;
}

/* ---- opening and closing ---- */

/* A user without write access to the file must not create a log beside it. */
static int open_to_read(struct vt_db *db, struct vt_error *err)
{
	if (is_writable(db->path)) {
		int code = open_database_file(db, VT_DB_READ, err);

		if (code != -VT_E_WRITE && code != -VT_E_READ)
			return code;
	}
	return vti_db_open_unwritable(db, err) < 0 ? -(int)err->code
						   : set_up_connection(db, VT_DB_READ, err);
}

struct vt_db *vt_db_open(const char *path, enum vt_db_mode mode, struct vt_error *err)
{
	struct vt_db *db;
	int code;

	if (check_database_file(path, mode, err) < 0)
		return NULL;
	db = calloc(1, sizeof(*db));
	if (db)
		db->path = strdup(path);
	if (!db || !db->path)
		code = vt_error_nomem(err);
	else
		code = mode == VT_DB_READ ? open_to_read(db, err)
					  : open_database_file(db, mode, err);
	if (code == 0)
		return db;
	vt_db_close(db);
	return NULL;
}

void vt_db_close(struct vt_db *db)
{
	if (!db)
		return;
	sqlite3_close(db->sql);
	free(db->path);
	free(db);
}
