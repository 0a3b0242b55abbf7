/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/db/internal.h"

/* One sort of listing: the statement, and what makes a row of its columns. */
struct listing {
	unsigned tables; /* whose rows are to be sound */
	const char *sql;
	int (*row)(sqlite3_stmt *s, void *fn, void *arg);
};

/* A function of the caller's, which a void pointer cannot hold. */
union callback {
	vt_db_epoch_fn *epoch;
	vt_db_input_fn *input;
	vt_db_profile_fn *profile;
};

static int epoch_row(sqlite3_stmt *s, void *fn, void *arg)
{
	const struct vt_db_epoch_row row = {
		.name = vti_db_bytes(s, 0),
		.begun = sqlite3_column_int64(s, 1),
		.inputs = vti_db_u64(s, 2),
		.labels = vti_db_u64(s, 3),
		.images = vti_db_u64(s, 4),
		.profiles = vti_db_u64(s, 5),
		.samples = vti_db_u64(s, 6),
		.bytes = vti_db_u64(s, 7),
	};

	return ((union callback *)fn)->epoch(arg, &row);
}

static int input_row(sqlite3_stmt *s, void *fn, void *arg)
{
	struct vt_bytes digest = vti_db_bytes(s, 3);
	const struct vt_db_input_row row = {
		.epoch = vti_db_bytes(s, 0),
		.label = vti_db_bytes(s, 1),
		.name = vti_db_bytes(s, 2),
		.digest = digest.data,
		.added = sqlite3_column_int64(s, 4),
		.samples = vti_db_u64(s, 5),
	};

	return digest.size == VT_DIGEST_SIZE ? ((union callback *)fn)->input(arg, &row) : 0;
}

static int profile_row(sqlite3_stmt *s, void *fn, void *arg)
{
	const struct vt_db_profile_row row = {
		.epoch = vti_db_bytes(s, 0),
		.label = vti_db_bytes(s, 1),
		.path = vti_db_bytes(s, 2),
		.buildid = vti_db_bytes(s, 3),
		.event = vti_db_bytes(s, 4),
		.policy = vti_db_u64(s, 5),
		.places = vti_db_u64(s, 6),
		.samples = vti_db_u64(s, 7),
		.period = vti_db_u64(s, 8),
		.bytes = vti_db_u64(s, 9),
	};

	return ((union callback *)fn)->profile(arg, &row);
}

static int walk(struct vt_db *db, const struct vt_db_selection *sel, const struct listing *l,
		union callback *fn, void *arg, struct vt_error *err)
{
	sqlite3_stmt *s;
	int code;

	if (vti_db_begin(db, false, err) < 0)
		return -(int)err->code;
	code = vti_db_choose(db, sel, err);
	if (code == 0)
		code = vti_db_sums_check(db, l->tables, err);
	if (code == 0) {
		s = vti_db_prepare(db, err, l->sql, "");
		while ((code = vti_db_step(db, s, err)) == 1) {
			code = l->row(s, fn, arg);
			if (code != 0) {
				sqlite3_finalize(s);
				break;
			}
		}
	}
	return vti_db_end(db, code, err);
}

int vt_db_epochs(struct vt_db *db, const struct vt_db_selection *sel, vt_db_epoch_fn *fn, void *arg,
		 struct vt_error *err)
{
	/* An epoch that nothing was added to yet has no section, but was begun. */
	static const struct listing l = {
		VTI_DB_EPOCH | VTI_DB_SECTION | VTI_DB_INPUT | VTI_DB_PROFILE,
		"SELECT e.name, e.begun, (SELECT count(*) FROM input JOIN section ON section.id ="
		" input.section WHERE epoch = e.id AND section IN (SELECT id FROM chosen_section)),"
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
		epoch_row};
	union callback f = {.epoch = fn};

	return walk(db, sel, &l, &f, arg, err);
}

int vt_db_inputs(struct vt_db *db, const struct vt_db_selection *sel, vt_db_input_fn *fn, void *arg,
		 struct vt_error *err)
{
	static const struct listing l = {
		VTI_DB_EPOCH | VTI_DB_SECTION | VTI_DB_INPUT,
		"SELECT e.name, s.label, i.name, i.digest, i.added, i.samples FROM input i"
		" JOIN section s ON s.id = i.section JOIN epoch e ON e.id = s.epoch"
		" WHERE i.section IN (SELECT id FROM chosen_section) ORDER BY i.id",
		input_row};
	union callback f = {.input = fn};

	return walk(db, sel, &l, &f, arg, err);
}

int vt_db_profiles(struct vt_db *db, const struct vt_db_selection *sel, vt_db_profile_fn *fn,
		   void *arg, struct vt_error *err)
{
	static const struct listing l = {
		VTI_DB_EPOCH | VTI_DB_SECTION | VTI_DB_EVENT | VTI_DB_IMAGE | VTI_DB_PROFILE,
		"SELECT e.name, s.label, i.path, i.buildid, v.name, v.policy, p.places,"
		" p.samples, p.period, length(p.data) FROM profile p"
		" JOIN section s ON s.id = p.section JOIN epoch e ON e.id = s.epoch"
		" JOIN event v ON v.id = p.event LEFT JOIN image i ON i.id = p.image"
		" WHERE p.section IN (SELECT id FROM chosen_section)"
		" AND p.image IN (SELECT id FROM chosen_image)"
		" AND p.event IN (SELECT id FROM chosen_event)"
		" ORDER BY e.id, s.label, i.path, i.buildid, v.name, v.policy, v.unit",
		profile_row};
	union callback f = {.profile = fn};

	return walk(db, sel, &l, &f, arg, err);
}
