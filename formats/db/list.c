/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <time.h>

#include "formats/db/internal.h"

/* The type of a column: a time is seconds since 1970, UTC.  UNSEEN ones are for programs only. */
enum { TEXT = 1, NUMBER = 2, TIME = 4, UNSEEN = 8 };

/* A listing: a statement, and its columns in their order. */
static const struct listing {
	unsigned tables; /* whose checksums are checked */
	const char *sql;
	struct {
		const char *key;
		unsigned holds;
	} columns[10]; /* the last is none */
} listings[] = {
	/* An epoch that nothing was added to yet has no section, but was begun. */
	[VT_DB_EPOCHS] = {VTI_DB_EPOCH | VTI_DB_SECTION | VTI_DB_INPUT | VTI_DB_PROFILE,
			  "SELECT e.name, e.begun, (SELECT count(*) FROM input JOIN section"
			  " ON section.id = input.section WHERE epoch = e.id"
			  " AND section IN (SELECT id FROM chosen_section)),"
			  " count(DISTINCT s.id), count(DISTINCT p.image), count(p.section),"
			  " capped_sum(p.samples), coalesce(sum(length(p.data)), 0)"
			  " FROM epoch e LEFT JOIN section s ON s.epoch = e.id"
			  " AND s.id IN (SELECT id FROM chosen_section)"
			  " LEFT JOIN profile p ON p.section = s.id"
			  " AND p.image IN (SELECT id FROM chosen_image)"
			  " AND p.event IN (SELECT id FROM chosen_event)"
			  " WHERE NOT EXISTS (SELECT * FROM wanted WHERE kind = 1)"
			  " OR e.name IN (SELECT name FROM wanted WHERE kind = 1)"
			  " GROUP BY e.id ORDER BY e.id",
			  {{"epoch", TEXT},
			   {"begun", TIME},
			   {"inputs", NUMBER},
			   {"labels", NUMBER},
			   {"images", NUMBER},
			   {"profiles", NUMBER},
			   {"samples", NUMBER},
			   {"bytes", NUMBER}}},
	[VT_DB_INPUTS] =
		{VTI_DB_EPOCH | VTI_DB_SECTION | VTI_DB_INPUT,
		 "SELECT e.name, s.label, i.added, i.samples, i.name, lower(hex(i.digest))"
		 " FROM input i JOIN section s ON s.id = i.section JOIN epoch e ON e.id = s.epoch"
		 " WHERE i.section IN (SELECT id FROM chosen_section)"
		 " AND length(hex(i.digest)) = 64 ORDER BY i.id",
		 {{"epoch", TEXT},
		  {"label", TEXT},
		  {"added", TIME},
		  {"samples", NUMBER},
		  {"input", TEXT},
		  {"digest", TEXT | UNSEEN}}},
	[VT_DB_PROFILES] =
		{VTI_DB_EPOCH | VTI_DB_SECTION | VTI_DB_EVENT | VTI_DB_IMAGE | VTI_DB_PROFILE,
		 "SELECT e.name, s.label, v.name, p.samples, p.period, p.places, length(p.data),"
		 " i.path, lower(hex(i.buildid)) FROM profile p"
		 " JOIN section s ON s.id = p.section JOIN epoch e ON e.id = s.epoch"
		 " JOIN event v ON v.id = p.event LEFT JOIN image i ON i.id = p.image"
		 " WHERE p.section IN (SELECT id FROM chosen_section)"
		 " AND p.image IN (SELECT id FROM chosen_image)"
		 " AND p.event IN (SELECT id FROM chosen_event)"
		 " ORDER BY e.id, s.label, i.path, i.buildid, v.name, v.policy, v.unit",
		 {{"epoch", TEXT},
		  {"label", TEXT},
		  {"event", TEXT},
		  {"samples", NUMBER},
		  {"period", NUMBER | UNSEEN},
		  {"places", NUMBER},
		  {"bytes", NUMBER},
		  {"image", TEXT},
		  {"buildid", TEXT | UNSEEN}}},
};

static void put_utc_time(struct vt_table *table, int64_t seconds)
{
	time_t time = (time_t)seconds;
	char text[32];
	struct tm tm;

	if (!gmtime_r(&time, &tm) || !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		snprintf(text, sizeof(text), "%lld", (long long)time);
	vt_table_str(table, text);
}

static void put_row(struct vt_table *table, const struct listing *l, sqlite3_stmt *s)
{
	int i;

	vt_table_row(table, VT_STYLE_PLAIN);
	for (i = 0; l->columns[i].key; i++) {
		struct vt_bytes text;

		if (l->columns[i].holds & NUMBER) {
			vt_table_number(table, vti_db_u64(s, i));
		} else if (l->columns[i].holds & TIME) {
			put_utc_time(table, sqlite3_column_int64(s, i));
		} else {
			text = vti_db_bytes(s, i);
			vt_table_text(table, text.data, text.size);
		}
	}
}

int vt_db_list(struct vt_db *db, enum vt_db_listing which, const struct vt_db_selection *sel,
	       struct vt_table *table, struct vt_error *err)
{
	const struct listing *l = &listings[which];
	sqlite3_stmt *s;
	int i, code;

	for (i = 0; l->columns[i].key; i++)
		vt_table_column(table, l->columns[i].key,
				l->columns[i].holds & UNSEEN ? NULL : l->columns[i].key,
				l->columns[i].holds & NUMBER ? VT_FORMAT_NUMBER : VT_FORMAT_TEXT);
	if (vti_db_begin(db, false, err) < 0)
		return -(int)err->code;
	code = vti_db_choose(db, sel, err);
	if (code == 0)
		code = vti_db_sums_check(db, l->tables, err);
	if (code == 0) {
		s = vti_db_prepare(db, err, l->sql, "");
		while ((code = vti_db_step(db, s, err)) == 1)
			put_row(table, l, s);
	}
	return vti_db_end(db, code, err);
}
