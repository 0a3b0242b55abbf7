/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a database held at one moment, read without writing anything.
 *
 * SQLite reads a database that has a log only if it can write the log's index beside it.  So the
 * file is read here, then its log; the pages of the log's committed transactions replace those of
 * the file.  The format of both: https://www.sqlite.org/fileformat2.html, sections 1.3 and 4.
 *
 * A lock that readers share is held meanwhile: nobody removes the log, as he who closes the
 * database last does under an exclusive lock.  Others may append to the log and copy its
 * transactions to the file: these pages are in the log, too, which is read after the file.  They
 * may begin the log anew when all of it was copied; then its header differs, and all is read again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "formats/db/db_internal.h"

/* What the copy may take of the memory, and so may the log. */
#define COPY_MAX (UINT64_C(1) << 30)

/* Where SQLite locks a file: its "shared" bytes, os.h. */
#define LOCK_START (0x40000000 + 2)
#define LOCK_SIZE  510

#define WAL_MAGIC	  0x377f0682u /* plus 1: its checksums are of big-endian words */
#define WAL_VERSION	  3007000
#define WAL_HEADER_SIZE	  32
#define FRAME_HEADER_SIZE 24

/* The two bytes of a database's head that tell whether it has a log: 2; without one, 1. */
#define HEAD_WRITE_VERSION 18
#define HEAD_READ_VERSION  19

/* ---- the log ---- */

struct wal {
	const uint8_t *data;
	size_t size;
	size_t page_size;
	size_t nframes; /* up to the last that ends a transaction */
	uint64_t pages; /* of the database after it */
};

struct checksum {
	uint32_t a;
	uint32_t b;
	bool big;
};

static void sum_words(struct checksum *c, const uint8_t *p, size_t size)
{
	for (; size >= 8; p += 8, size -= 8) {
		c->a += (c->big ? vt_be32(p) : vt_le32(p)) + c->b;
		c->b += (c->big ? vt_be32(p + 4) : vt_le32(p + 4)) + c->a;
	}
}

static bool sum_is(const struct checksum *c, const uint8_t *p)
{
	return vt_be32(p) == c->a && vt_be32(p + 4) == c->b;
}

static const uint8_t *wal_frame(const struct wal *w, size_t i)
{
	return w->data + WAL_HEADER_SIZE + i * (FRAME_HEADER_SIZE + w->page_size);
}

/* False: there is no log, or none that SQLite would read. */
static bool wal_begin(struct wal *w, struct checksum *c)
{
	uint32_t magic;

	if (w->size < WAL_HEADER_SIZE)
		return false;
	magic = vt_be32(w->data);
	w->page_size = vt_be32(w->data + 8);
	*c = (struct checksum){.big = magic & 1};
	sum_words(c, w->data, 24);
	return (magic & ~1u) == WAL_MAGIC && vt_be32(w->data + 4) == WAL_VERSION &&
	       w->page_size >= 512 && w->page_size <= 65536 &&
	       (w->page_size & (w->page_size - 1)) == 0 && sum_is(c, w->data + 24);
}

/* Finds the frames that belong to whole transactions: the first that does not fit ends the log. */
static void wal_scan(struct wal *w)
{
	struct checksum c;
	size_t i, n;

	if (!wal_begin(w, &c))
		return;
	n = (w->size - WAL_HEADER_SIZE) / (FRAME_HEADER_SIZE + w->page_size);
	for (i = 0; i < n; i++) {
		const uint8_t *f = wal_frame(w, i);

		sum_words(&c, f, 8);
		sum_words(&c, f + FRAME_HEADER_SIZE, w->page_size);
		/* The salts are those of the header. */
		if (vt_be32(f) == 0 || memcmp(f + 8, w->data + 16, 8) != 0 || !sum_is(&c, f + 16))
			return;
		if (vt_be32(f + 4) != 0) {
			w->nframes = i + 1;
			w->pages = vt_be32(f + 4);
		}
	}
}

static int too_large(struct vt_db *db, struct vt_error *err)
{
	return vt_error_set(err, VT_E_LIMIT,
			    "%s: more than %llu bytes: too large to be read where nothing can be "
			    "written",
			    db->path, (unsigned long long)COPY_MAX);
}

/* Makes the copy of the file one of the file and its log. */
static int wal_apply(struct vt_db *db, const struct wal *w, struct vt_error *err)
{
	struct vt_buf *copy = &db->copy;
	uint64_t size = w->pages * w->page_size;
	size_t i;

	if (w->nframes == 0)
		return 0;
	if (size > COPY_MAX)
		return too_large(db, err);
	if (size > copy->size) {
		uint8_t *more = vt_buf_reserve(copy, (size_t)size - copy->size);

		if (!more)
			return vt_error_nomem(err);
		memset(more, 0, (size_t)size - copy->size);
	}
	copy->size = (size_t)size;
	for (i = 0; i < w->nframes; i++) {
		const uint8_t *f = wal_frame(w, i);
		uint32_t page = vt_be32(f);

		if (page <= w->pages)
			memcpy(copy->data + (page - 1) * w->page_size, f + FRAME_HEADER_SIZE,
			       w->page_size);
	}
	return 0;
}

/* ---- files ---- */

/* The first `max` bytes of a file. */
static int read_bytes(int fd, const char *name, size_t max, struct vt_buf *b, struct vt_error *err)
{
	ssize_t n;

	b->size = 0;
	do {
		size_t piece = max - b->size < 1 << 16 ? max - b->size : 1 << 16;
		uint8_t *p = vt_buf_reserve(b, piece);

		if (!p)
			return vt_error_nomem(err);
		n = pread(fd, p, piece, (off_t)b->size);
		if (n < 0)
			return vt_error_errno(err, VT_E_READ, errno, "%s", name);
		b->size += (size_t)n;
	} while (n > 0 && b->size < max);
	return 0;
}

/* The same of the log: nothing if there is none. */
static int read_wal(struct vt_db *db, size_t max, struct vt_buf *b, struct vt_error *err)
{
	struct vt_buf path = VT_BUF_INIT;
	const char *name;
	int code, fd;

	vt_buf_printf(&path, "%s-wal", db->path);
	name = vt_buf_str(&path);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	b->size = 0;
	if (fd >= 0) {
		code = read_bytes(fd, name, max, b, err);
		close(fd);
	} else {
		code = errno == ENOENT ? 0 : vt_error_errno(err, VT_E_READ, errno, "%s", name);
	}
	vt_buf_free(&path);
	return code;
}

/* 1: file and log are of one moment; 0: the log was begun anew in the meantime. */
static int read_both(struct vt_db *db, int fd, struct vt_buf *wal, struct vt_error *err)
{
	uint8_t header[WAL_HEADER_SIZE];
	size_t size;

	if (read_wal(db, WAL_HEADER_SIZE, wal, err) < 0)
		return -(int)err->code;
	size = wal->size;
	if (size)
		memcpy(header, wal->data, size);
	if (read_bytes(fd, db->path, COPY_MAX + 1, &db->copy, err) < 0 ||
	    read_wal(db, COPY_MAX + 1, wal, err) < 0)
		return -(int)err->code;
	if (db->copy.size > COPY_MAX || wal->size > COPY_MAX)
		return too_large(db, err);
	if (size < WAL_HEADER_SIZE)
		return wal->size == size;
	return wal->size >= size && memcmp(header, wal->data, size) == 0;
}

/* The lock of readers; a file system without locks has no writers, either. */
static bool lock_shared(int fd)
{
	struct flock lock = {
		.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = LOCK_START, .l_len = LOCK_SIZE};

	return fcntl(fd, F_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES);
}

static int read_locked(struct vt_db *db, int fd, struct vt_buf *wal, struct vt_error *err)
{
	int waited = 0;
	bool locked;
	int code = 0;

	do {
		locked = lock_shared(fd);
		if (locked)
			code = read_both(db, fd, wal, err);
		if (code != 0)
			return code < 0 ? code : 0;
		waited += sqlite3_sleep(VTI_DB_RETRY_WAIT);
	} while (waited < VTI_DB_BUSY_WAIT);
	return vt_error_set(err, VT_E_READ, "%s: others write to it all the time", db->path);
}

static int take_copy(struct vt_db *db, struct vt_error *err)
{
	struct vt_buf wal = VT_BUF_INIT;
	struct wal w = {0};
	int fd = open(db->path, O_RDONLY | O_CLOEXEC);
	int code;

	if (fd < 0)
		return vt_error_errno(err, VT_E_READ, errno, "%s", db->path);
	code = read_locked(db, fd, &wal, err);
	close(fd);
	if (code == 0) {
		w.data = wal.data;
		w.size = wal.size;
		wal_scan(&w);
		code = wal_apply(db, &w, err);
	}
	vt_buf_free(&wal);
	return code;
}

int vti_db_snapshot(struct vt_db *db, struct vt_error *err)
{
	struct vt_buf *copy = &db->copy;
	int rc;

	sqlite3_close(db->sql);
	db->sql = NULL;
	if (take_copy(db, err) < 0)
		return -(int)err->code;
	if (copy->size > HEAD_READ_VERSION && copy->data[HEAD_READ_VERSION] == 2)
		copy->data[HEAD_WRITE_VERSION] = copy->data[HEAD_READ_VERSION] = 1;
	rc = sqlite3_open_v2(":memory:", &db->sql, SQLITE_OPEN_READWRITE, NULL);
	if (!db->sql)
		return vt_error_nomem(err);
	if (rc == SQLITE_OK)
		rc = sqlite3_deserialize(db->sql, "main", copy->data, (sqlite3_int64)copy->size,
					 (sqlite3_int64)copy->size, SQLITE_DESERIALIZE_READONLY);
	return rc == SQLITE_OK ? 0 : vti_db_error(db, rc, err);
}
