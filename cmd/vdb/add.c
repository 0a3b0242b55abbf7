/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "cmd/common/stream.h"
#include "cmd/vdb/gather.h"
#include "cmd/vdb/vdb.h"
#include "listing/json.h"

static int gather_run(void *arg, const struct vt_block *b, uint32_t first, uint32_t count,
		      struct vt_error *err)
{
	return gather_feed(arg, b, first, count, err);
}

static void print_added_text(struct vt_output *out, const char *input, const struct vt_db_batch *b,
			     const char *epoch, bool added)
{
	struct vt_buf line = VT_BUF_INIT, text = VT_BUF_INIT;

	vt_buf_printf(&line, "%s: ", input);
	if (added)
		vt_buf_printf(&line, "added to %s: %" PRIu64 " samples in %zu images", epoch,
			      vt_db_batch_samples(b), b->nimages);
	else
		vt_buf_printf(&line, "is in %s already, not added again", epoch);
	vt_escape_str(&text, vt_buf_str(&line));
	vt_output_printf(out, "%s\n", vt_buf_str(&text));
	vt_buf_free(&line);
	vt_buf_free(&text);
}

static void print_added_json(struct vt_output *out, const char *input, const struct vt_db_batch *b,
			     const char *epoch, bool added)
{
	json_t *o = vt_json_doc("vdb-add/1");

	vt_json_set(o, "input", vt_json_text(input, strlen(input)));
	vt_json_set(o, "epoch", vt_json_text(epoch, strlen(epoch)));
	vt_json_set(o, "added", json_boolean(added));
	if (added) {
		vt_json_set(o, "samples", vt_json_u64(vt_db_batch_samples(b)));
		vt_json_set(o, "images", vt_json_u64(b->nimages));
	}
	vt_json_write(out, o, false);
}

bool vdb_print_added(struct vdb *v, const char *input, const struct vt_db_batch *batch,
		     const char *epoch, bool added)
{
	struct vt_output *out = app_text(v->app, NULL);

	if (!out)
		return false;
	if (v->form.json)
		print_added_json(out, input, batch, epoch, added);
	else
		print_added_text(out, input, batch, epoch, added);
	/* Why not, app_finish() says. */
	return vt_output_flush(out) == 0;
}

static bool add_batch_to_db(struct vdb *v, struct vt_db *db, const char *path,
			    const struct vt_db_batch *b)
{
	struct vt_error err = VT_ERROR_INIT;
	char *epoch = NULL;
	int code = vt_db_add(db, b, &epoch, &err);
	bool ok = code >= 0 ? vdb_print_added(v, path, b, epoch ? epoch : "?", code == 1)
			    : app_fail(v->app, &err);

	free(epoch);
	return ok;
}

static bool add_gathered(struct vdb *v, struct vt_db *db, const char *path, struct gather *g)
{
	struct vt_db_input input = {.name = {(const uint8_t *)path, strlen(path)}};
	struct vt_db_batch b = {
		.epoch = v->epochs.count ? v->epochs.items[0] : NULL,
		.label = v->labels.count ? v->labels.items[0] : "",
		.now = vdb_now(),
		.again = v->again,
		.inputs = &input,
		.ninputs = 1,
	};
	struct vt_error err = VT_ERROR_INIT;

	if (gather_finish(g, &b, &err) < 0)
		return app_fail(v->app, &err);
	if (gather_bad(g))
		app_say_lossy(v->app,
			      "%s: %" PRIu64
			      " records of executed code that contradict themselves, left out",
			      path, gather_bad(g));
	input.added = b.now;
	input.samples = vt_db_batch_samples(&b);
	vt_db_batch_digest(&b, input.digest);
	return add_batch_to_db(v, db, path, &b);
}

static bool gather_input(struct vdb *v, const char *path, struct gather *g)
{
	struct vt_reader *r = app_open_reader(v->app, path);
	bool ok, cut;

	if (!r)
		return false;
	v->app->cut_means =
		v->partial ? NULL : ": nothing of it was added (--partial adds what there is)";
	ok = app_each_run(v->app, r, gather_run, g);
	ok = ok && app_need_samples(v->app, path);
	cut = vt_reader_damage(r)->truncated || vt_reader_failure(r);
	app_close_reader(v->app, r);
	if (!ok)
		return false;
	if (!cut || v->partial)
		return true;
	/* The whole of it would be another input, and be counted once more. */
	app_raise(v->app, APP_INPUT);
	return false;
}

static bool add_vdb_input(struct vdb *v, struct vt_db *db, const char *path)
{
	struct gather *g = gather_new();
	bool ok;

	if (!g)
		return app_no_memory(v->app);
	ok = gather_input(v, path, g) && add_gathered(v, db, path, g);
	gather_free(g);
	return ok;
}

bool vdb_add(struct vdb *v)
{
	struct vt_db *db;
	bool ok = true;
	int i;

	if (v->epochs.count > 1 || v->labels.count > 1)
		return app_usage(v->app, "add: one epoch and one label at a time");
	db = vdb_open(v, VT_DB_CREATE);
	if (!db)
		return false;
	if (v->app->argc == 1)
		ok = add_vdb_input(v, db, "-");
	/* One that cannot be added keeps no other from it. */
	for (i = 1; i < v->app->argc; i++)
		ok = add_vdb_input(v, db, v->app->argv[i]) && ok;
	vt_db_close(db);
	return ok;
}

bool vdb_epoch(struct vdb *v)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_db *db;
	int code;

	if (v->app->argc != 2)
		return app_usage(v->app, "epoch: the name of the epoch that begins is wanted");
	db = vdb_open(v, VT_DB_CREATE);
	if (!db)
		return false;
	code = vt_db_epoch(db, v->app->argv[1], vdb_now(), &err);
	vt_db_close(db);
	if (code < 0)
		return app_fail(v->app, &err);
	return code == 1 ||
	       app_usage(v->app, "%s: there is an epoch '%s' already", v->path, v->app->argv[1]);
}
