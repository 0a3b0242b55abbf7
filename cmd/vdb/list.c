/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>

#include "base/escape.h"
#include "cmd/vdb/vdb.h"
#include "listing/json.h"

enum by { BY_EPOCH, BY_INPUT, BY_PROFILE };

const char *const vdb_by_words[] = {"epoch", "input", "profile", NULL};

/* Hexadecimal digits of a digest or build-id. */
static void hex(struct vt_table *t, const uint8_t *bytes, size_t size)
{
	struct vt_buf b = VT_BUF_INIT;
	size_t i;

	for (i = 0; i < size; i++)
		vt_buf_printf(&b, "%02x", bytes[i]);
	vt_table_str(t, vt_buf_str(&b));
	vt_buf_free(&b);
}

static void text(struct vt_table *t, struct vt_bytes b)
{
	vt_table_text(t, b.data, b.size);
}

static void when(struct vt_table *t, int64_t time)
{
	char s[32];

	vdb_time_text(time, s);
	vt_table_str(t, s);
}

static int epoch_row(void *arg, const struct vt_db_epoch_row *row)
{
	struct vt_table *t = arg;

	vt_table_row(t, VT_STYLE_PLAIN);
	text(t, row->name);
	when(t, row->begun);
	vt_table_number(t, row->inputs);
	vt_table_number(t, row->labels);
	vt_table_number(t, row->images);
	vt_table_number(t, row->profiles);
	vt_table_number(t, row->samples);
	vt_table_number(t, row->bytes);
	return 0;
}

static int input_row(void *arg, const struct vt_db_input_row *row)
{
	struct vt_table *t = arg;

	vt_table_row(t, VT_STYLE_PLAIN);
	text(t, row->epoch);
	text(t, row->label);
	when(t, row->added);
	vt_table_number(t, row->samples);
	text(t, row->name);
	hex(t, row->digest, VT_DIGEST_SIZE);
	return 0;
}

static int profile_row(void *arg, const struct vt_db_profile_row *row)
{
	struct vt_table *t = arg;

	vt_table_row(t, VT_STYLE_PLAIN);
	text(t, row->epoch);
	text(t, row->label);
	text(t, row->event);
	vt_table_number(t, row->samples);
	vt_table_number(t, row->period);
	vt_table_number(t, row->places);
	vt_table_number(t, row->bytes);
	text(t, row->path);
	hex(t, row->buildid.data, row->buildid.size);
	return 0;
}

static void epoch_columns(struct vt_table *t)
{
	vt_table_column(t, "epoch", "epoch", VT_FORMAT_TEXT);
	vt_table_column(t, "begun", "begun", VT_FORMAT_TEXT);
	vt_table_column(t, "inputs", "inputs", VT_FORMAT_NUMBER);
	vt_table_column(t, "labels", "labels", VT_FORMAT_NUMBER);
	vt_table_column(t, "images", "images", VT_FORMAT_NUMBER);
	vt_table_column(t, "profiles", "profiles", VT_FORMAT_NUMBER);
	vt_table_column(t, "samples", "samples", VT_FORMAT_NUMBER);
	vt_table_column(t, "bytes", "bytes", VT_FORMAT_NUMBER);
}

static void input_columns(struct vt_table *t)
{
	vt_table_column(t, "epoch", "epoch", VT_FORMAT_TEXT);
	vt_table_column(t, "label", "label", VT_FORMAT_TEXT);
	vt_table_column(t, "added", "added", VT_FORMAT_TEXT);
	vt_table_column(t, "samples", "samples", VT_FORMAT_NUMBER);
	vt_table_column(t, "input", "input", VT_FORMAT_TEXT);
	vt_table_column(t, "digest", NULL, VT_FORMAT_TEXT);
}

static void profile_columns(struct vt_table *t)
{
	vt_table_column(t, "epoch", "epoch", VT_FORMAT_TEXT);
	vt_table_column(t, "label", "label", VT_FORMAT_TEXT);
	vt_table_column(t, "event", "event", VT_FORMAT_TEXT);
	vt_table_column(t, "samples", "samples", VT_FORMAT_NUMBER);
	vt_table_column(t, "period", NULL, VT_FORMAT_NUMBER);
	vt_table_column(t, "places", "places", VT_FORMAT_NUMBER);
	vt_table_column(t, "bytes", "bytes", VT_FORMAT_NUMBER);
	vt_table_column(t, "image", "image", VT_FORMAT_TEXT);
	vt_table_column(t, "buildid", NULL, VT_FORMAT_TEXT);
}

static int fill(struct vdb *v, struct vt_db *db, struct vt_table *t, struct vt_error *err)
{
	struct vt_db_selection sel = vdb_selection(v);

	switch (v->by) {
	case BY_INPUT:
		input_columns(t);
		return vt_db_inputs(db, &sel, input_row, t, err);
	case BY_PROFILE:
		profile_columns(t);
		return vt_db_profiles(db, &sel, profile_row, t, err);
	default:
		epoch_columns(t);
		return vt_db_epochs(db, &sel, epoch_row, t, err);
	}
}

static bool print(struct vdb *v, const struct vt_table *t)
{
	struct vt_output *out = app_text(v->app, v->output);
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
	return app_print_table(v->app, t, &v->form, v->color, out);
}

bool vdb_list(struct vdb *v)
{
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
	ok = t && fill(v, db, t, &err) == 0;
	vt_db_close(db);
	ok = ok ? print(v, t) : app_fail(v->app, &err);
	vt_table_free(t);
	return ok;
}
