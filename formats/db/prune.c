/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>

#include "formats/db/internal.h"

/* ---- pruning ---- */

/* Keeps only those of the chosen sections that are old enough. */
static int choose_old(struct vt_db *db, const struct vt_db_prune *how, struct vt_error *err)
{
	int64_t keep = how->keep > INT64_MAX ? INT64_MAX : (int64_t)how->keep;

	if (how->keep == UINT64_MAX && how->before == INT64_MIN)
		return 0;
	return vti_db_run(
		db, err,
		"DELETE FROM chosen_section WHERE id NOT IN (SELECT section.id FROM"
		" section JOIN epoch ON epoch.id = section.epoch WHERE"
		" (?1 AND epoch.id NOT IN (SELECT id FROM epoch ORDER BY id DESC LIMIT ?2))"
		" OR (?3 AND begun < ?4))",
		"iiii", (int64_t)(how->keep != UINT64_MAX), keep,
		(int64_t)(how->before != INT64_MIN), how->before);
}

static int report_chosen(struct vt_db *db, vt_db_section_fn *fn, void *arg, struct vt_error *err)
{
	sqlite3_stmt *s = vti_db_prepare(
		db, err,
		"SELECT name, label, (SELECT count(*) FROM input WHERE section = section.id),"
		" (SELECT capped_sum(samples) FROM profile WHERE section = section.id)"
		" FROM section JOIN epoch ON epoch.id = epoch"
		" WHERE section.id IN (SELECT id FROM chosen_section) ORDER BY epoch.id, label",
		"");
	int code;

	while ((code = vti_db_step(db, s, err)) == 1) {
		const struct vt_db_section_row row = {vti_db_bytes(s, 0), vti_db_bytes(s, 1),
						      vti_db_u64(s, 2), vti_db_u64(s, 3)};

		code = fn(arg, &row);
		if (code != 0) {
			sqlite3_finalize(s);
			return code;
		}
	}
	return code;
}

/* Keeps the latest epoch even if it is empty, since batches are added to it. */
static int delete_chosen(struct vt_db *db, struct vt_error *err)
{
	return vti_db_exec(db,
			   "DELETE FROM section WHERE id IN (SELECT id FROM chosen_section);"
			   "DELETE FROM epoch WHERE id NOT IN (SELECT epoch FROM section)"
			   " AND id <> (SELECT max(id) FROM epoch);"
			   "DELETE FROM image WHERE id NOT IN (SELECT image FROM profile);"
			   "DELETE FROM event WHERE id NOT IN (SELECT event FROM profile UNION"
			   " SELECT event FROM declared UNION SELECT event FROM loss);",
			   err);
}

int vt_db_prune(struct vt_db *db, const struct vt_db_prune *how, vt_db_section_fn *fn, void *arg,
		struct vt_error *err)
{
	int code = vti_db_begin(db, true, err);

	if (code < 0)
		return code;
	code = vti_db_choose(db, &how->sel, err);
	if (code == 0)
		code = choose_old(db, how, err);
	if (code == 0)
		code = report_chosen(db, fn, arg, err);
	if (code == 0 && !how->dry)
		code = delete_chosen(db, err);
	code = vti_db_end(db, code, err);
	if (code < 0 || how->dry)
		return code;
	return vti_db_exec(db, "VACUUM; PRAGMA wal_checkpoint(TRUNCATE);", err);
}

/* ---- checking ---- */

static int check_integrity(struct vt_db *db, struct vt_error *err)
{
	sqlite3_stmt *s = vti_db_prepare(db, err, "PRAGMA integrity_check(1)", "");
	int code = vti_db_step(db, s, err);

	if (code != 1)
		return code;
	if (sqlite3_stricmp((const char *)sqlite3_column_text(s, 0), "ok") != 0)
		code = vti_db_damaged(db, (const char *)sqlite3_column_text(s, 0), err);
	sqlite3_finalize(s);
	return code < 0 ? code : 0;
}

static int check_profile(void *arg, sqlite3_stmt *s, struct vt_error *err)
{
	struct vt_db *db = arg;
	struct vt_bytes data = vti_db_bytes(s, 0);
	struct vt_db_places p;
	uint64_t samples = 0, period = 0;
	int code = vt_db_places_unpack(&p, data.data, data.size, err);

	if (code == 0)
		code = vt_db_places_sum(&p, &samples, &period, err);
	if (code < 0)
		vt_error_prefix(err, "%s", db->path);
	else if (p.count != vti_db_u64(s, 1) || samples != vti_db_u64(s, 2) ||
		 period != vti_db_u64(s, 3))
		code = vti_db_damaged(db, "a profile has not the samples that its row says", err);
	vt_db_places_fini(&p);
	return code;
}

/* Checks that a statement finds nothing. */
static int check_none(struct vt_db *db, const char *sql, const char *what, struct vt_error *err)
{
	int64_t count;
	if (vti_db_number(db, &count, err, sql, "") < 0)
		return -(int)err->code;
	return count ? vti_db_damaged(db, what, err) : 0;
}

static int check_all(struct vt_db *db, struct vt_error *err)
{
	const struct vt_db_selection everything = {.nepochs = 0};
	int code = check_integrity(db, err);

	if (code == 0)
		code = check_none(db, "SELECT count(*) FROM pragma_foreign_key_check",
				  "rows refer to others that are not there", err);
	if (code == 0)
		code = check_none(db,
				  "SELECT count(*) FROM profile WHERE image <> 0"
				  " AND NOT EXISTS (SELECT * FROM image WHERE id = profile.image)",
				  "a profile's image is not there", err);
	if (code == 0)
		code = vti_db_each(
			db, check_profile, db, err,
			"SELECT data, places, samples, period FROM profile ORDER BY rowid", "");
	if (code == 0)
		code = check_none(
			db,
			"SELECT count(*) FROM section WHERE"
			" (SELECT total(samples) FROM input WHERE section = section.id) <>"
			" (SELECT total(samples) FROM profile WHERE section = section.id)",
			"an epoch has not the samples of its inputs", err);
	if (code == 0)
		code = vti_db_choose(db, &everything, err);
	return code < 0 ? code : vti_db_sums_check(db, VTI_DB_TABLES, err);
}

int vt_db_check(struct vt_db *db, struct vt_error *err)
{
	int code = vti_db_begin(db, false, err);

	return code < 0 ? code : vti_db_end(db, check_all(db, err), err);
}
