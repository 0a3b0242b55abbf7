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

/* Of before rows had checksums: it is read as it is, and made VERSION by who writes to it. */
#define VERSION_WITHOUT_SUMS 1

/* Milliseconds: how long to wait for other writers, and between attempts where SQLite does not. */
#define BUSY_WAIT  600000
#define RETRY_WAIT 5

/* The bytes of the head of an SQLite file. */
#define HEAD_SIZE 100

/* What the copy may take of the memory. */
#define COPY_MAX (INT64_C(1) << 30)

/* Where SQLite locks a file: its "shared" bytes, os.h. */
#define LOCK_START (0x40000000 + 2)
#define LOCK_SIZE  510

/* To each table vti_db_sums_add() adds a column.  Image 0 is what lies in no image. */
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

static int pragma(struct vt_db *db, const char *sql, int64_t *value, struct vt_error *err)
{
	return vti_db_number(db, vti_db_prepare(db, err, sql, ""), value, NULL, err);
}

/* What it is, in the head of its file. */
static int mark(struct vt_db *db, struct vt_error *err)
{
	char numbers[80];

	sqlite3_snprintf(sizeof(numbers), numbers,
			 "PRAGMA application_id = %d; PRAGMA user_version = %d;", APPLICATION_ID,
			 VERSION);
	return vti_db_exec(db, numbers, err);
}

static int create(struct vt_db *db, struct vt_error *err)
{
	if (mark(db, err) < 0 || vti_db_exec(db, schema, err) < 0)
		return -(int)err->code;
	return vti_db_sums_add(db, err);
}

static int add_sums(struct vt_db *db, struct vt_error *err)
{
	if (vti_db_sums_add(db, err) < 0 || vti_db_sums_make(db, err) < 0)
		return -(int)err->code;
	return mark(db, err);
}

/* 1: it is a database of ours; 0: it is empty. */
static int identify(struct vt_db *db, struct vt_error *err)
{
	int64_t application, version, tables;

	if (pragma(db, "PRAGMA application_id", &application, err) < 0 ||
	    pragma(db, "PRAGMA user_version", &version, err) < 0 ||
	    pragma(db, "SELECT count(*) FROM sqlite_schema", &tables, err) < 0)
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

/* All of it from one moment: somebody else may be making the database. */
static int identify_at_once(struct vt_db *db, struct vt_error *err)
{
	if (vti_db_begin(db, false, err) < 0)
		return -(int)err->code;
	return vti_db_end(db, identify(db, err), err);
}

/* The size of the file with that name and suffix; -1: there is none. */
static int64_t size_beside(const char *path, const char *suffix)
{
	struct vt_buf name = VT_BUF_INIT;
	struct stat st;
	int64_t size;

	vt_buf_printf(&name, "%s%s", path, suffix);
	size = stat(vt_buf_str(&name), &st) == 0 ? st.st_size : -1;
	vt_buf_free(&name);
	return size;
}

/* True if the log beside the database has something in it. */
static bool has_log(const char *path)
{
	return size_beside(path, "-wal") > 0;
}

static int cut_off(const char *path, int64_t size, struct vt_error *err)
{
	return vt_error_set(err, VT_E_TRUNC, "%s: %lld bytes are no database: it was cut off", path,
			    (long long)size);
}

/*
 * SQLite takes what lacks of the last page for zeros.  Where there is a log, it may have the page:
 * copying it to the file failed in the middle.
 */
static int check_last_page(struct vt_db *db, struct vt_error *err)
{
	bool log = has_log(db->path);
	int64_t page_size;
	struct stat st;

	if (pragma(db, "PRAGMA page_size", &page_size, err) < 0)
		return -(int)err->code;
	if (stat(db->path, &st) < 0)
		return vt_error_errno(err, VT_E_READ, errno, "%s", db->path);
	return log || st.st_size % page_size == 0 ? 0 : cut_off(db->path, st.st_size, err);
}

/* SQLite does not wait by itself when others turn the log on, too. */
static int use_log(struct vt_db *db, struct vt_error *err)
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

/* Who was to make it was killed before: there is nothing in it, and reading does not change it. */
static int read_empty(struct vt_db *db, struct vt_error *err)
{
	int rc;

	sqlite3_close(db->sql);
	db->sql = NULL;
	rc = sqlite3_open_v2(":memory:", &db->sql, SQLITE_OPEN_READWRITE, NULL);
	if (!db->sql)
		return vt_error_nomem(err);
	if (rc != SQLITE_OK)
		return vti_db_error(db, rc, err);
	return vti_db_functions_init(db, err) < 0 ? -(int)err->code : create(db, err);
}

/* Makes what is empty, or of an earlier version, a database of VERSION, within a transaction. */
static int make_current(struct vt_db *db, struct vt_error *err)
{
	int code = identify(db, err);

	if (code < 0)
		return code;
	if (code == 0)
		return create(db, err);
	return db->has_sums ? 0 : add_sums(db, err);
}

static int set_up(struct vt_db *db, enum vt_db_mode mode, struct vt_error *err)
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
		code = identify_at_once(db, err);
	if (code == 1 && check_last_page(db, err) < 0)
		return -(int)err->code;
	if (code < 0 || mode == VT_DB_READ)
		return code < 0 ? code : code == 1 ? 0 : read_empty(db, err);
	if (use_log(db, err) < 0)
		return -(int)err->code;
	/* Somebody else may have made it in the meantime. */
	if (!db->has_sums &&
	    (vti_db_begin(db, true, err) < 0 || vti_db_end(db, make_current(db, err), err) < 0))
		return -(int)err->code;
	return vti_db_sums_keep(db, err);
}

/* A path as SQLite takes none for something else: it has a slash. */
static char *plain_path(const char *path)
{
	size_t size = strlen(path) + 3;
	char *s = malloc(size);

	if (s)
		sqlite3_snprintf((int)size, s, "%s%s", strchr(path, '/') ? "" : "./", path);
	return s;
}

/*
 * SQLite makes a log beside the file.  Where it cannot, it says "unable to open database file" or
 * "attempt to write a readonly database".
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

static bool writable(const char *path)
{
	return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
}

/*
 * What SQLite would call "unable to open database file", make, or take for a new one.  A file that
 * is empty is one whose maker was killed, or one that was cut: it is made anew only for who wants
 * that, and not if it has a log, which is begun after the file is.
 */
static int look(const char *path, enum vt_db_mode mode, struct vt_error *err)
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
	/* SQLite would make a log that those who may write to the file could not write to. */
	if (mode != VT_DB_READ && !writable(path))
		return vt_error_errno(err, VT_E_WRITE, errno, "%s", path);
	/* With both there, SQLite makes none. */
	if (mode != VT_DB_READ && !(log && size_beside(path, "-shm") > 0) &&
	    check_folder(path, err) < 0)
		return -(int)err->code;
	if (st.st_size >= HEAD_SIZE || (st.st_size == 0 && mode == VT_DB_CREATE && !log))
		return 0;
	return cut_off(path, st.st_size, err);
}

static int open_file(struct vt_db *db, enum vt_db_mode mode, struct vt_error *err)
{
	int flags = SQLITE_OPEN_READWRITE | (mode == VT_DB_CREATE ? SQLITE_OPEN_CREATE : 0);
	char *plain = plain_path(db->path);
	int rc;

	if (!plain)
		return vt_error_nomem(err);
	rc = sqlite3_open_v2(plain, &db->sql, flags, NULL);
	free(plain);
	if (!db->sql)
		return vt_error_nomem(err);
	return rc == SQLITE_OK ? set_up(db, mode, err) : vti_db_error(db, rc, err);
}

/* ---- reading without writing anything ---- */

/*
 * SQLite reads a database that has a log through an index of the log.  Writers keep one in a file
 * beside it, which SQLite can read; where there is none it would make it.  Without that file nobody
 * has the database open, and SQLite can do with an index in memory if it need not share it: so all
 * is copied to memory.  Who opens the database meanwhile makes an index, by which that is seen, and
 * cannot remove it while a lock that readers share is held; then it is read again.
 */

/* Opens the file with parameters of a URI. */
static int open_uri(struct vt_db *db, sqlite3 **sql, const char *parameters, const char *vfs,
		    struct vt_error *err)
{
	struct vt_buf uri = VT_BUF_INIT;
	const char *c;
	int rc;

	/* Behind "file:" two slashes begin an authority, which is empty. */
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

/* Copies what a connection reads into memory, where `sql` reads it. */
static int copy_to_memory(struct vt_db *db, sqlite3 *from, struct vt_error *err)
{
	int rc = sqlite3_open_v2(":memory:", &db->sql, SQLITE_OPEN_READWRITE, NULL);
	sqlite3_backup *b;

	if (!db->sql)
		return vt_error_nomem(err);
	if (rc != SQLITE_OK)
		return vti_db_error(db, rc, err);
	b = sqlite3_backup_init(db->sql, "main", from, "main");
	if (b)
		sqlite3_backup_step(b, -1);
	rc = b ? sqlite3_backup_finish(b) : sqlite3_errcode(db->sql);
	return rc == SQLITE_OK ? 0 : vti_db_error(db, rc, err);
}

/*
 * Of a database that nobody has open: with a log, without locks, for the index stays in memory only
 * if the lock is exclusive; without a log, as a file that nobody changes.
 */
static int copy(struct vt_db *db, struct vt_error *err)
{
	int64_t log = size_beside(db->path, "-wal");
	sqlite3 *from = NULL;
	int code;

	if (size_beside(db->path, "") > COPY_MAX || log > COPY_MAX)
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

/* The lock of readers; a file system without locks has no writers, either. */
static bool lock_shared(int fd)
{
	struct flock lock = {
		.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = LOCK_START, .l_len = LOCK_SIZE};

	return fcntl(fd, F_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES);
}

/* 1: `sql` reads it; 0: others began or ended with it meanwhile. */
static int try_to_read(struct vt_db *db, int fd, struct vt_error *err)
{
	bool index = size_beside(db->path, "-shm") >= 0;
	int code;

	sqlite3_close(db->sql);
	db->sql = NULL;
	if (index) {
		code = open_uri(db, &db->sql, "mode=ro&readonly_shm=1", NULL, err);
		if (code == 0) {
			sqlite3_busy_timeout(db->sql, BUSY_WAIT);
			code = vti_db_exec(db, "PRAGMA schema_version", err);
		}
	} else {
		if (!lock_shared(fd))
			return 0;
		code = copy(db, err);
	}
	if (index == (size_beside(db->path, "-shm") >= 0))
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

/* Who may not write to the file makes no log of his own beside it, either. */
static int open_to_read(struct vt_db *db, struct vt_error *err)
{
	if (writable(db->path)) {
		int code = open_file(db, VT_DB_READ, err);

		if (code != -VT_E_WRITE && code != -VT_E_READ)
			return code;
	}
	return vti_db_open_unwritable(db, err) < 0 ? -(int)err->code : set_up(db, VT_DB_READ, err);
}

struct vt_db *vt_db_open(const char *path, enum vt_db_mode mode, struct vt_error *err)
{
	struct vt_db *db;
	int code;

	if (look(path, mode, err) < 0)
		return NULL;
	db = calloc(1, sizeof(*db));
	if (db)
		db->path = strdup(path);
	if (!db || !db->path)
		code = vt_error_nomem(err);
	else
		code = mode == VT_DB_READ ? open_to_read(db, err) : open_file(db, mode, err);
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
