/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "formats/db/internal.h"

/* Fewer hexadecimal digits could be a name. */
#define MIN_BUILDID_DIGITS 8

/* The kinds of names in temp.wanted. */
enum { EPOCH = 1, LABEL };

static const char *const tables = "DROP TABLE IF EXISTS temp.wanted;"
				  "DROP TABLE IF EXISTS temp.chosen_section;"
				  "DROP TABLE IF EXISTS temp.chosen_image;"
				  "DROP TABLE IF EXISTS temp.chosen_event;"
				  "CREATE TEMP TABLE wanted(kind INTEGER, name TEXT);"
				  "CREATE TEMP TABLE chosen_section(id INTEGER PRIMARY KEY);"
				  "CREATE TEMP TABLE chosen_image(id INTEGER PRIMARY KEY);"
				  "CREATE TEMP TABLE chosen_event(id INTEGER PRIMARY KEY);";

static int report_not_found(struct vt_db *db, const char *what, const char *name,
			    struct vt_error *err)
{
	return vt_error_set(err, VT_E_NOTFOUND, "%s: there is no %s '%s'", db->path, what, name);
}

/* Puts names into temp.wanted.  The first that `count` (with one parameter) does not find fails. */
static int choose_names(struct vt_db *db, const char *what, const char *count,
			const char *const *names, size_t n, int kind, struct vt_error *err)
{
	int code = 0;
	size_t i;

	for (i = 0; i < n && code == 0; i++) {
		int64_t found;

		if (vti_db_number(db, &found, err, count, "t", vti_db_str(names[i])) < 0)
			return -(int)err->code;
		if (!found)
			return report_not_found(db, what, names[i], err);
		code = vti_db_run(db, err, "INSERT INTO wanted VALUES(?, ?)", "it", (int64_t)kind,
				  vti_db_str(names[i]));
	}
	return code;
}

static int choose_sections(struct vt_db *db, const struct vt_db_selection *sel,
			   struct vt_error *err)
{
	if (choose_names(db, "epoch", "SELECT count(*) FROM epoch WHERE name = ?", sel->epochs,
			 sel->nepochs, EPOCH, err) < 0 ||
	    choose_names(db, "label", "SELECT count(*) FROM section WHERE label = ?", sel->labels,
			 sel->nlabels, LABEL, err) < 0)
		return -(int)err->code;
	return vti_db_run(db, err,
			  "INSERT INTO chosen_section SELECT section.id FROM section"
			  " JOIN epoch ON epoch.id = section.epoch WHERE"
			  " (?1 OR epoch.name IN (SELECT name FROM wanted WHERE kind = ?3)) AND"
			  " (?2 OR label IN (SELECT name FROM wanted WHERE kind = ?4))",
			  "iiii", (int64_t)(sel->nepochs == 0), (int64_t)(sel->nlabels == 0),
			  (int64_t)EPOCH, (int64_t)LABEL);
}

static bool is_buildid(const char *name)
{
	size_t digits = strspn(name, "0123456789abcdefABCDEF");

	return digits >= MIN_BUILDID_DIGITS && !name[digits];
}

/* Two names may be of one image: replacing a row that is chosen already counts as finding it. */
static int choose_db_image(struct vt_db *db, const char *name, struct vt_error *err)
{
	int64_t buildid = is_buildid(name);

	if (vti_db_run(db, err,
		       "INSERT OR REPLACE INTO chosen_image SELECT id FROM image WHERE path = ?1"
		       " OR substr(path, -length(?1) - 1) = '/' || ?1"
		       " OR (?2 AND substr(lower(hex(buildid)), 1, length(?1)) = lower(?1))",
		       "ti", vti_db_str(name), buildid) < 0)
		return -(int)err->code;
	return sqlite3_changes(db->sql) ? 0 : report_not_found(db, "image", name, err);
}

static int choose_db_event(struct vt_db *db, const char *name, struct vt_error *err)
{
	if (vti_db_run(db, err,
		       "INSERT OR REPLACE INTO chosen_event SELECT id FROM event WHERE name = ?",
		       "t", vti_db_str(name)) < 0)
		return -(int)err->code;
	return sqlite3_changes(db->sql) ? 0 : report_not_found(db, "event", name, err);
}

int vti_db_choose(struct vt_db *db, const struct vt_db_selection *sel, struct vt_error *err)
{
	int code = vti_db_exec(db, tables, err);
	size_t i;

	if (code == 0)
		code = choose_sections(db, sel, err);
	if (code == 0 && !sel->nimages)
		code = vti_db_exec(db,
				   "INSERT INTO chosen_image SELECT id FROM image;"
				   "INSERT OR IGNORE INTO chosen_image VALUES(0);",
				   err);
	for (i = 0; i < sel->nimages && code == 0; i++)
		code = choose_db_image(db, sel->images[i], err);
	if (code == 0 && !sel->nevents)
		code = vti_db_exec(db, "INSERT INTO chosen_event SELECT id FROM event", err);
	for (i = 0; i < sel->nevents && code == 0; i++)
		code = choose_db_event(db, sel->events[i], err);
	return code;
}
