/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading a database without writing anything.
 *
 * SQLite reads a database that has a log through an index of the log.  Writers keep one in a file
 * beside it, which SQLite can read; where there is none it would make it.  Without that file nobody
 * has the database open, and SQLite can do with an index in memory if it need not share it: so all
 * is copied to memory.  Who opens the database meanwhile makes an index, by which that is seen, and
 * cannot remove it while a lock that readers share is held; then it is read again.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/db/internal.h"

/* What the copy may take of the memory. */
#define COPY_MAX (INT64_C(1) << 30)

/* Where SQLite locks a file: its "shared" bytes, os.h. */
#define LOCK_START (0x40000000 + 2)
#define LOCK_SIZE  510

int64_t vti_db_size_beside(const char *path, const char *suffix)
{
	struct vt_buf name = VT_BUF_INIT;
	struct stat st;
	int64_t size;

	vt_buf_printf(&name, "%s%s", path, suffix);
	size = stat(vt_buf_str(&name), &st) == 0 ? st.st_size : -1;
	vt_buf_free(&name);
	return size;
}

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
	int64_t log = vti_db_size_beside(db->path, "-wal");
	sqlite3 *from = NULL;
	int code;

	if (vti_db_size_beside(db->path, "") > COPY_MAX || log > COPY_MAX)
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
	bool index = vti_db_size_beside(db->path, "-shm") >= 0;
	int code;

	sqlite3_close(db->sql);
	db->sql = NULL;
	if (index) {
		code = open_uri(db, &db->sql, "mode=ro&readonly_shm=1", NULL, err);
		if (code == 0) {
			sqlite3_busy_timeout(db->sql, VTI_DB_BUSY_WAIT);
			code = vti_db_exec(db, "PRAGMA schema_version", err);
		}
	} else {
		if (!lock_shared(fd))
			return 0;
		code = copy(db, err);
	}
	if (index == (vti_db_size_beside(db->path, "-shm") >= 0))
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
	while ((code = try_to_read(db, fd, err)) == 0 && waited < VTI_DB_BUSY_WAIT)
		waited += sqlite3_sleep(VTI_DB_RETRY_WAIT);
	close(fd);
	if (code == 0)
		return vt_error_set(err, VT_E_READ, "%s: others begin to write to it all the time",
				    db->path);
	return code < 0 ? code : 0;
}
