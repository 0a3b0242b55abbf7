/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Each row has a checksum in its column `sum`: SQLite has none, and does not notice a damaged text.
 * Triggers of connections that write set it.
 */
#include <libdeflate.h>

#include "base/bytes.h"
#include "formats/db/internal.h"

#define MAX_KEY 3

static const struct table {
	const char *name;
	const char *key[MAX_KEY + 1];
	const char *others; /* the other columns, each after a comma */
	const char *chosen; /* the condition of chosen rows; an id of NULL is damage */
} tables[] = {
	{"epoch", {"id"}, ", name, begun", "1"},
	{"section", {"id"}, ", epoch, label", "1"},
	{"input",
	 {"id"},
	 ", section, digest, name, added, samples",
	 "section IN (SELECT id FROM chosen_section)"},
	{"event",
	 {"id"},
	 ", name, policy, unit",
	 "coalesce(id IN (SELECT id FROM chosen_event), 1)"},
	{"image",
	 {"id"},
	 ", key, path, buildid, type, machine",
	 "coalesce(id IN (SELECT id FROM chosen_image), 1)"},
	{"declared",
	 {"section", "event"},
	 ", fields",
	 "section IN (SELECT id FROM chosen_section)"},
	{"profile",
	 {"section", "image", "event"},
	 ", places, samples, period, data",
	 "section IN (SELECT id FROM chosen_section)"
	 " AND image IN (SELECT id FROM chosen_image)"
	 " AND event IN (SELECT id FROM chosen_event)"},
	{"loss",
	 {"section", "event", "source"},
	 ", count",
	 "section IN (SELECT id FROM chosen_section)"},
	{"gap",
	 {"section", "reason", "input"},
	 ", bytes, records",
	 "section IN (SELECT id FROM chosen_section)"},
	{"meta", {"section", "key"}, ", value", "section IN (SELECT id FROM chosen_section)"},
};

#define NTABLES (sizeof(tables) / sizeof(tables[0]))

/* SQL's row_sum(): a CRC-32 of the type, the number or size, and the bytes of each argument. */
static void compute_row_sum(sqlite3_context *context, int n, sqlite3_value **values)
{
	uint32_t sum = 0;
	int i;

	for (i = 0; i < n; i++) {
		int type = sqlite3_value_type(values[i]);
		const void *data = type == SQLITE_INTEGER ? NULL : sqlite3_value_blob(values[i]);
		int size = data ? sqlite3_value_bytes(values[i]) : 0;
		uint8_t head[9] = {(uint8_t)type};

		vt_put_le64(head + 1,
			    data ? (uint64_t)size : (uint64_t)sqlite3_value_int64(values[i]));
		sum = libdeflate_crc32(sum, head, sizeof(head));
		/* With a null pointer the sum would restart. */
		if (size)
			sum = libdeflate_crc32(sum, data, (size_t)size);
	}
	sqlite3_result_int64(context, sum);
}

static void step_capped_sum(sqlite3_context *context, int n, sqlite3_value **values)
{
	int64_t *sum = sqlite3_aggregate_context(context, sizeof(*sum));
	int64_t v = sqlite3_value_int64(values[0]);

	(void)n;
	if (!sum)
		sqlite3_result_error_nomem(context);
	else if (v > 0)
		*sum = v > INT64_MAX - *sum ? INT64_MAX : *sum + v;
}

static void finish_capped_sum(sqlite3_context *context)
{
	const int64_t *sum = sqlite3_aggregate_context(context, 0);

	sqlite3_result_int64(context, sum ? *sum : 0);
}

int vti_db_functions_init(struct vt_db *db, struct vt_error *err)
{
	const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
	int rc = sqlite3_create_function(db->sql, "capped_sum", 1, flags, NULL, NULL,
					 step_capped_sum, finish_capped_sum);

	if (rc == SQLITE_OK)
		rc = sqlite3_create_function(db->sql, "row_sum", -1, flags, NULL, compute_row_sum,
					     NULL, NULL);
	return rc == SQLITE_OK ? 0 : vti_db_error(db, rc, err);
}

/* Puts the columns of the key, with a text before each and one between them. */
static void put_key(struct vt_buf *sql, const struct table *t, const char *before,
		    const char *between)
{
	int i;

	for (i = 0; t->key[i]; i++)
		vt_buf_printf(sql, "%s%s%s", i ? between : "", before, t->key[i]);
}

static void put_columns(struct vt_buf *sql, const struct table *t)
{
	put_key(sql, t, "", ", ");
	vt_buf_printf(sql, "%s", t->others);
}

static void put_update(struct vt_buf *sql, const struct table *t)
{
	vt_buf_printf(sql, "UPDATE %s SET sum = row_sum(", t->name);
	put_columns(sql, t);
	vt_buf_printf(sql, ")");
}

static int run_sql(struct vt_db *db, struct vt_buf *sql, struct vt_error *err)
{
	int code = sql->failed ? vt_error_nomem(err) : vti_db_exec(db, vt_buf_str(sql), err);

	vt_buf_free(sql);
	return code;
}

int vti_db_sums_add(struct vt_db *db, struct vt_error *err)
{
	struct vt_buf sql = VT_BUF_INIT;
	size_t i;

	for (i = 0; i < NTABLES; i++)
		vt_buf_printf(&sql, "ALTER TABLE %s ADD COLUMN sum INTEGER;", tables[i].name);
	return run_sql(db, &sql, err);
}

int vti_db_sums_make(struct vt_db *db, struct vt_error *err)
{
	struct vt_buf sql = VT_BUF_INIT;
	size_t i;

	for (i = 0; i < NTABLES; i++) {
		put_update(&sql, &tables[i]);
		vt_buf_printf(&sql, ";");
	}
	return run_sql(db, &sql, err);
}

static int make_trigger(struct vt_db *db, const struct table *t, bool update, struct vt_error *err)
{
	struct vt_buf sql = VT_BUF_INIT;

	vt_buf_printf(&sql, "CREATE TEMP TRIGGER %s_%s AFTER %s", t->name,
		      update ? "updated" : "inserted", update ? "UPDATE OF " : "INSERT");
	if (update)
		put_columns(&sql, t);
	vt_buf_printf(&sql, " ON main.%s BEGIN ", t->name);
	put_update(&sql, t);
	vt_buf_printf(&sql, " WHERE (");
	put_key(&sql, t, "", ", ");
	vt_buf_printf(&sql, ") = (");
	put_key(&sql, t, "new.", ", ");
	vt_buf_printf(&sql, "); END");
	return run_sql(db, &sql, err);
}

int vti_db_sums_keep(struct vt_db *db, struct vt_error *err)
{
	int64_t there;
	size_t i;

	for (i = 0; i < NTABLES; i++) {
		if (vti_db_number(db, &there, err,
				  "SELECT count(*) FROM sqlite_schema WHERE name = ?", "t",
				  vti_db_str(tables[i].name)) < 0)
			return -(int)err->code;
		/* A missing table gives an error where it is needed. */
		if (there && (make_trigger(db, &tables[i], false, err) < 0 ||
			      make_trigger(db, &tables[i], true, err) < 0))
			return -(int)err->code;
	}
	db->has_sums = true;
	return 0;
}

static int check_table(struct vt_db *db, const struct table *t, struct vt_error *err)
{
	struct vt_buf sql = VT_BUF_INIT, what = VT_BUF_INIT;
	sqlite3_stmt *s;
	int code;

	vt_buf_printf(&sql, "SELECT ");
	put_key(&sql, t, "", " || ', ' || ");
	vt_buf_printf(&sql, " FROM %s WHERE %s AND sum IS NOT row_sum(", t->name, t->chosen);
	put_columns(&sql, t);
	vt_buf_printf(&sql, ") LIMIT 1");
	s = sql.failed ? NULL : vti_db_prepare(db, err, vt_buf_str(&sql), "");
	code = sql.failed ? vt_error_nomem(err) : vti_db_step(db, s, err);
	vt_buf_free(&sql);
	if (code == 1) {
		struct vt_bytes key = vti_db_bytes(s, 0);

		vt_buf_printf(&what, "row %.*s of table %s is damaged", (int)key.size,
			      (const char *)key.data, t->name);
		code = vti_db_damaged(db, vt_buf_str(&what), err);
		vt_buf_free(&what);
		sqlite3_finalize(s);
	}
	return code;
}

int vti_db_sums_check(struct vt_db *db, unsigned which, struct vt_error *err)
{
	int code = 0;
	size_t i;

	for (i = 0; db->has_sums && i < NTABLES && code == 0; i++)
		if (which >> i & 1)
			code = check_table(db, &tables[i], err);
	return code;
}
