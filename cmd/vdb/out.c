/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>

#include "base/escape.h"
#include "cmd/common/stream.h"
#include "cmd/vdb/vdb.h"
#include "listing/json.h"

/* ---- streams ---- */

static bool write_db_stream(struct vdb *v, bool sections)
{
	struct vt_db_selection sel = vdb_selection(v);
	struct vt_error err = VT_ERROR_INIT;
	struct vt_writer *w;
	struct vt_db *db;
	bool ok;

	if (v->app->argc != 1)
		return app_usage(v->app, "%s: takes no files", v->app->argv[0]);
	app_make_stream(v->app, v->form.output);
	db = vdb_open(v, VT_DB_READ);
	if (!db)
		return false;
	w = app_open_writer(v->app, v->form.output, v->compress, NULL, 0);
	ok = w != NULL;
	if (ok && vt_db_write(db, &sel, sections, w, &err) < 0)
		ok = app_fail(v->app, &err);
	vt_db_close(db);
	return app_close_writer(v->app, w) && ok;
}

bool vdb_cat(struct vdb *v)
{
	return write_db_stream(v, false);
}

bool vdb_export(struct vdb *v)
{
	return write_db_stream(v, true);
}

/* ---- what is there ---- */

const char *const vdb_by_words[] = {"epoch", "input", "profile", NULL};

static bool print_db_list(struct vdb *v, const struct vt_table *t)
{
	struct vt_output *out = app_text(v->app, v->form.output);
	json_t *doc;

	if (!out)
		return false;
	if (v->form.json) {
		doc = vt_json_doc("vdb-list/1");
		json_object_set_new(doc, "by", json_string(vdb_by_words[v->by]));
		json_object_set_new(doc, "rows", vt_json_table(t));
		vt_json_write(out, doc, true);
		return true;
	}
	return app_print_table(v->app, t, &v->form, out);
}

bool vdb_list(struct vdb *v)
{
	struct vt_db_selection sel = vdb_selection(v);
	struct vt_error err = VT_ERROR_INIT;
	struct vt_table *t;
	struct vt_db *db;
	bool ok;

	if (v->app->argc != 1)
		return app_usage(v->app, "list: takes no files");
	if (app_form_count(&v->form) > 1)
		return app_usage(v->app, "--json, --csv and --tsv exclude each other");
	db = vdb_open(v, VT_DB_READ);
	if (!db)
		return false;
	t = vt_table_new();
	if (!t)
		vt_error_nomem(&err);
	ok = t && vt_db_list(db, v->by, &sel, t, &err) == 0;
	vt_db_close(db);
	ok = ok ? print_db_list(v, t) : app_fail(v->app, &err);
	vt_table_free(t);
	return ok;
}

/* ---- keeping it small and sound ---- */

/* Prints the sections that are removed, or would be. */
struct prune_report {
	struct vt_output *out;
	bool dry;
};

static int print_pruned(void *arg, const struct vt_db_section_row *row)
{
	const struct prune_report *t = arg;
	struct vt_buf b = VT_BUF_INIT;

	vt_escape(&b, row->epoch.data, row->epoch.size);
	if (row->label.size) {
		vt_buf_printf(&b, " (");
		vt_escape(&b, row->label.data, row->label.size);
		vt_buf_printf(&b, ")");
	}
	vt_output_printf(t->out, "%s: %s: %" PRIu64 " inputs, %" PRIu64 " samples\n",
			 t->dry ? "would remove" : "removed", vt_buf_str(&b), row->inputs,
			 row->samples);
	vt_buf_free(&b);
	return 0;
}

bool vdb_prune(struct vdb *v)
{
	struct vt_db_prune how = {
		.sel = vdb_selection(v),
		.keep = v->keep_given ? v->keep : UINT64_MAX,
		.before = INT64_MIN,
		.dry = v->dry,
	};
	struct vt_error err = VT_ERROR_INIT;
	struct prune_report t = {.dry = v->dry};
	struct vt_db *db;
	int code;

	if (v->app->argc != 1)
		return app_usage(v->app, "prune: takes no files");
	if (!v->epochs.count && !v->labels.count && !v->keep_given && !v->older_given)
		return app_usage(v->app, "prune: what? --epoch, --label, --keep or --older");
	if (v->older_given && !(v->older >= 0 && v->older < 1e6))
		return app_usage(v->app, "prune: --older: 0 to a million days");
	if (v->older_given)
		how.before = vdb_now() - (int64_t)(v->older * 86400);
	t.out = app_text(v->app, NULL);
	db = t.out ? vdb_open(v, VT_DB_WRITE) : NULL;
	if (!db)
		return false;
	code = vt_db_prune(db, &how, print_pruned, &t, &err);
	vt_db_close(db);
	return code >= 0 || app_fail(v->app, &err);
}

bool vdb_check(struct vdb *v)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_db *db;
	int code;

	if (v->app->argc != 1)
		return app_usage(v->app, "check: takes no files");
	db = vdb_open(v, VT_DB_READ);
	if (!db)
		return false;
	code = vt_db_check(db, &err);
	vt_db_close(db);
	return code >= 0 || app_fail(v->app, &err);
}
