/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/bytes.h"
#include "formats/db/internal.h"

/* Milliseconds: the wait for the head of a log's index to be whole, and between attempts. */
#define INDEX_WAIT	 2000
#define INDEX_RETRY_WAIT 1

int vti_db_damaged(struct vt_db *db, const char *what, struct vt_error *err)
{
	return vt_error_set(err, VT_E_DAMAGED, "%s: %s", db->path, what);
}

static enum vt_errcode map_sqlite_code(int rc)
{
	/* The low byte is the kind of error, the rest has details. */
	switch (rc & 0xff) {
	case SQLITE_NOMEM:
		return VT_E_NOMEM;
	case SQLITE_NOTADB:
		return VT_E_FORMAT;
	case SQLITE_CORRUPT:
	case SQLITE_MISMATCH:
		return VT_E_DAMAGED;
	case SQLITE_FULL:
	case SQLITE_READONLY:
	/* For the file, or the log beside it: readers can do without. */
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
	case SQLITE_TOOBIG:
		return VT_E_WRITE;
	case SQLITE_IOERR:
		return rc == SQLITE_IOERR_READ || rc == SQLITE_IOERR_SHORT_READ ? VT_E_READ
										: VT_E_WRITE;
	default:
		return VT_E_SYSTEM;
	}
}

int vti_db_error(struct vt_db *db, int rc, struct vt_error *err)
{
	int why = sqlite3_system_errno(db->sql);

	/* SQLite's own message is only "disk I/O error". */
	if ((rc & 0xff) == SQLITE_IOERR && (why == ENOSPC || why == EDQUOT || why == EFBIG))
		return vt_error_errno(err, map_sqlite_code(rc), why, "%s", db->path);
	return vt_error_set(err, map_sqlite_code(rc), "%s: %s", db->path, sqlite3_errmsg(db->sql));
}

int vti_db_exec(struct vt_db *db, const char *sql, struct vt_error *err)
{
	int rc = sqlite3_exec(db->sql, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : vti_db_error(db, rc, err);
}

int vti_db_end(struct vt_db *db, int code, struct vt_error *err)
{
	int rc;

	if (code >= 0) {
		rc = sqlite3_exec(db->sql, "COMMIT", NULL, NULL, NULL);
		if (rc == SQLITE_OK)
			return code;
		code = vti_db_error(db, rc, err);
	}
	/* Some errors have rolled back already. */
	if (!sqlite3_get_autocommit(db->sql))
		sqlite3_exec(db->sql, "ROLLBACK", NULL, NULL, NULL);
	return code;
}

/*
 * Begins a transaction that reads from here on, not from its first statement on.  *torn: the head
 * of the log's index was half written, and no writer was there.
 */
static int begin_to_read(struct vt_db *db, bool *torn, struct vt_error *err)
{
	int code = vti_db_exec(db, "BEGIN", err);

	*torn = false;
	if (code < 0)
		return code;
	code = vti_db_exec(db, "PRAGMA schema_version", err);
	if (code == 0)
		return 0;
	*torn = sqlite3_extended_errcode(db->sql) == SQLITE_READONLY_RECOVERY;
	return vti_db_end(db, code, err);
}

/*
 * A reader that cannot write the index of the log may find its head half written, and the writer
 * gone on when it looks for one.  SQLite then takes the writer for dead.  Only if the head stays as
 * it is was the writer killed there.
 */
static int begin_to_read_stable(struct vt_db *db, struct vt_error *err)
{
	int waited = 0, code;
	bool torn;

	while ((code = begin_to_read(db, &torn, err)) < 0 && torn && waited < INDEX_WAIT)
		waited += sqlite3_sleep(INDEX_RETRY_WAIT);
	if (code < 0 && torn)
		return vt_error_set(err, VT_E_WRITE,
				    "%s: a writer was killed: it must be opened once by a user who "
				    "can write to it",
				    db->path);
	return code;
}

int vti_db_begin(struct vt_db *db, bool write, struct vt_error *err)
{
	return write ? vti_db_exec(db, "BEGIN IMMEDIATE", err) : begin_to_read_stable(db, err);
}

static int bind_parameters(sqlite3_stmt *s, const char *types, va_list ap)
{
	int rc = SQLITE_OK;
	struct vt_bytes b;
	int i;

	for (i = 0; types[i] && rc == SQLITE_OK; i++) {
		if (types[i] == 'i') {
			rc = sqlite3_bind_int64(s, i + 1, va_arg(ap, int64_t));
			continue;
		}
		b = va_arg(ap, struct vt_bytes);
		/* With a null pointer it would be NULL, not empty. */
		if (b.size == 0)
			b.data = (const uint8_t *)"";
		rc = types[i] == 't' ? sqlite3_bind_text64(s, i + 1, (const char *)b.data, b.size,
							   SQLITE_STATIC, SQLITE_UTF8)
				     : sqlite3_bind_blob64(s, i + 1, b.data, b.size, SQLITE_STATIC);
	}
	return rc;
}

sqlite3_stmt *vti_db_prepare(struct vt_db *db, struct vt_error *err, const char *sql,
			     const char *types, ...)
{
	sqlite3_stmt *s = NULL;
	va_list ap;
	int rc = sqlite3_prepare_v2(db->sql, sql, -1, &s, NULL);

	if (rc == SQLITE_OK) {
		va_start(ap, types);
		rc = bind_parameters(s, types, ap);
		va_end(ap);
	}
	if (rc == SQLITE_OK)
		return s;
	vti_db_error(db, rc, err);
	sqlite3_finalize(s);
	return NULL;
}

int vti_db_step(struct vt_db *db, sqlite3_stmt *s, struct vt_error *err)
{
	int rc;

	if (!s)
		return -(int)err->code;
	rc = sqlite3_step(s);
	if (rc == SQLITE_ROW)
		return 1;
	if (rc != SQLITE_DONE)
		vti_db_error(db, rc, err);
	sqlite3_finalize(s);
	return rc == SQLITE_DONE ? 0 : -(int)err->code;
}

int vti_db_step_each(struct vt_db *db, sqlite3_stmt *s, vti_db_row_fn *fn, void *arg,
		     struct vt_error *err)
{
	int code;

	while ((code = vti_db_step(db, s, err)) == 1) {
		code = fn(arg, s, err);
		if (code != 0) {
			sqlite3_finalize(s);
			break;
		}
	}
	return code;
}

int vti_db_step_number(struct vt_db *db, sqlite3_stmt *s, int64_t *value, struct vt_error *err)
{
	int code = vti_db_step(db, s, err);

	*value = 0;
	if (code == 1) {
		*value = sqlite3_column_int64(s, 0);
		sqlite3_finalize(s);
	}
	return code;
}

struct vt_bytes vti_db_bytes(sqlite3_stmt *s, int column)
{
	/* The order matters: the size is that of the last type that was read. */
	const uint8_t *data = sqlite3_column_blob(s, column);
	int size = sqlite3_column_bytes(s, column);

	return (struct vt_bytes){data ? data : (const uint8_t *)"", data ? (size_t)size : 0};
}

char *vti_db_text(sqlite3_stmt *s, int column)
{
	const unsigned char *text = sqlite3_column_text(s, column);

	/* A damaged database may have NULL although the schema forbids it. */
	return strdup(text ? (const char *)text : "");
}

uint64_t vti_db_u64(sqlite3_stmt *s, int column)
{
	int64_t v = sqlite3_column_int64(s, column);

	return v < 0 ? 0 : (uint64_t)v;
}

struct vt_bytes vti_db_str(const char *text)
{
	return (struct vt_bytes){(const uint8_t *)text, strlen(text)};
}

int vti_db_fields_pack(const uint64_t fields[VT_EVENT_NFIELDS], struct vt_buf *out,
		       struct vt_error *err)
{
	unsigned f;

	vt_buf_put_varint(out, VT_EVENT_NFIELDS);
	for (f = 0; f < VT_EVENT_NFIELDS; f++)
		vt_buf_put_varint(out, fields[f]);
	return out->failed ? vt_error_nomem(err) : 0;
}

bool vti_db_fields_unpack(struct vt_bytes bytes, uint64_t fields[VT_EVENT_NFIELDS])
{
	struct vt_cursor c = vt_cursor_make(bytes.data, bytes.size, false);
	uint64_t n = vt_cursor_varint(&c);
	unsigned f;

	memset(fields, 0, VT_EVENT_NFIELDS * sizeof(*fields));
	/* A later version may have more fields, an earlier one fewer. */
	for (f = 0; f < VT_EVENT_NFIELDS && f < n; f++)
		fields[f] = vt_cursor_varint(&c);
	/* Texts are not packed, and a writer takes no length without a text. */
	fields[VT_EVENT_NAME] = fields[VT_EVENT_UNIT] = 0;
	return !c.bad;
}

void vti_db_fields_join(uint64_t fields[VT_EVENT_NFIELDS], const uint64_t more[VT_EVENT_NFIELDS])
{
	unsigned f;

	for (f = 0; f < VT_EVENT_NFIELDS; f++)
		if (fields[f] != more[f])
			fields[f] = 0;
}
