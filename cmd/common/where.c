/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/where.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "stream/units.h"

void app_where_start(struct app *a, struct app_where *w, const char *symfs)
{
	w->app = a;
	w->symfs = symfs;
	if (w->text)
		a->where = w;
}

static void close_places(struct app_where *w)
{
	vt_places_free(w->places);
	w->places = NULL;
	app_context_close(&w->in);
	w->in = (struct app_context){.images.quiet = !w->alone};
}

void app_where_end(struct app_where *w)
{
	close_places(w);
	vt_names_fini(&w->names);
	vt_where_free(w->where);
	free(w->truth);
}

bool app_where_fail(struct app *a, const struct vt_error *err)
{
	if (err->code == VT_E_NOMEM)
		return app_fail(a, err);
	return app_usage(a, "--where: %s", err->text);
}

static bool open_places(struct app_where *w)
{
	close_places(w);
	if (!vt_where_asks_places(w->text))
		return true;
	if (!app_context_open(w->app, &w->in, w->symfs))
		return false;
	w->places = vt_places_new(w->in.context);
	return w->places || app_no_memory(w->app);
}

bool app_where_begin(struct app_where *w, const struct vt_schema *schema)
{
	struct vt_where_names names = {
		.in = vt_places_in, .is_event = vt_names_is_event, .event_arg = &w->names};
	struct vt_error err = VT_ERROR_INIT;

	if (!open_places(w))
		return false;
	vt_names_fini(&w->names);
	if (!vt_names_init(&w->names))
		return app_no_memory(w->app);
	names.arg = w->places;
	vt_where_free(w->where);
	w->where = vt_where_compile(w->text, schema, w->kind, &names, &err);
	w->schema = schema;
	w->picked = (struct vt_picked){0};
	w->left_out = 0;
	return w->where || app_where_fail(w->app, &err);
}

/*
 * Whether records of a kind are sums or estimates of which nobody can tell what part would pass, or
 * executed code, of which a program makes samples or values itself.
 */
static bool is_sum(enum vt_kind picked, uint32_t kind)
{
	return kind == VT_EXEC || (picked == VT_SAMPLE && (kind == VT_COUNT || kind == VT_CHAIN ||
							   vt_kind_is_estimate(kind)));
}

/* Takes the names of events. */
static int feed_events(struct app_where *w, const struct vt_block *block, uint32_t first,
		       uint32_t count, struct vt_error *err)
{
	struct vt_record rec = {block, block->kind, first};

	if (block->kind != VT_EVENT)
		return 0;
	for (; rec.row - first < count; rec.row++)
		if (!vt_names_feed(&w->names, &rec))
			return vt_error_nomem(err);
	return 0;
}

static int feed_places(struct app_where *w, const struct vt_block *block, uint32_t first,
		       uint32_t count, struct vt_error *err)
{
	struct vt_record rec = {block, block->kind, first};

	if (!w->places || block->kind == w->kind)
		return 0;
	for (; rec.row - first < count; rec.row++) {
		int code = vt_context_feed(w->in.context, block, rec.row, 1, err);

		if (code < 0)
			return code;
		vt_places_feed(w->places, &rec);
	}
	return 0;
}

/* Counts the rows, and hands on the runs of those that pass. */
static int feed_picked(struct app_where *w, const struct vt_block *block, uint32_t first,
		       uint32_t count, vt_consume_fn *take, void *arg, struct vt_error *err)
{
	uint32_t i, from = 0; /* what lies between it and i passes */
	int code = 0;

	if (!vt_array_grow(&w->truth, &w->cap, count, 1))
		return vt_error_nomem(err);
	vt_where_select(w->where, block, first, count, w->truth);
	w->first = first;
	w->picked.seen += count;
	for (i = 0; i < count && code == 0; i++) {
		w->picked.passed += w->truth[i] == VT_TRUE;
		w->picked.unknown += w->truth[i] == VT_UNKNOWN;
		if (w->truth[i] == VT_TRUE || w->marks)
			continue;
		if (i > from)
			code = take(arg, block, first + from, i - from, err);
		from = i + 1;
	}
	if (code == 0 && count > from)
		code = take(arg, block, first + from, count - from, err);
	return code;
}

const uint8_t *app_where_truth(const struct app_where *w, uint32_t row)
{
	return w->truth + (row - w->first);
}

int app_where_feed(struct app_where *w, const struct vt_block *block, uint32_t first,
		   uint32_t count, vt_consume_fn *take, void *arg, struct vt_error *err)
{
	int code = feed_events(w, block, first, count, err);

	if (code == 0)
		code = feed_places(w, block, first, count, err);
	if (code < 0)
		return code;
	if (block->kind == w->kind)
		return feed_picked(w, block, first, count, take, arg, err);
	if (is_sum(w->kind, block->kind)) {
		w->left_out += count;
		return 0;
	}
	return take(arg, block, first, count, err);
}

int app_where_note(struct app_where *w, vt_consume_fn *take, void *arg, struct vt_error *err)
{
	const struct vt_kind_desc *desc = &w->schema->kinds[VT_META];
	struct vt_column columns[VT_MAX_FIELDS] = {{0}};
	uint32_t off[VT_META_NFIELDS][2] = {{0}}, f;
	static const uint64_t zero;
	struct vt_buf value = VT_BUF_INIT;
	const struct vt_block block = {VT_META, 1, desc->nfields, desc, columns};
	int code;

	if (!w->picked.seen)
		return 0;
	vt_picked_value(&w->picked, w->schema->kinds[w->kind].name, w->text, &value);
	for (f = 0; f < desc->nfields; f++)
		columns[f] =
			(struct vt_column){.v = &zero, .off = off[VT_META_DATA], .words = &zero};
	off[VT_META_KEY][1] = (uint32_t)strlen(VT_META_WHERE);
	off[VT_META_VALUE][1] = (uint32_t)value.size;
	for (f = 0; f < VT_META_NFIELDS; f++)
		columns[f].off = off[f];
	columns[VT_META_KEY].bytes = (const uint8_t *)VT_META_WHERE;
	columns[VT_META_VALUE].bytes = value.data;
	columns[VT_META_DATA].bytes = value.data;
	code = value.failed ? vt_error_nomem(err) : take(arg, &block, 0, 1, err);
	vt_buf_free(&value);
	return code;
}

const char *app_where_tell(struct app_where *w, const char *name)
{
	struct vt_buf b = VT_BUF_INIT;

	vt_picked_text(&w->picked, w->what, &b);
	if (w->left_out)
		vt_buf_printf(&b,
			      "; %" PRIu64 " records of executed code, sums and estimates are left "
			      "out",
			      w->left_out);
	if (w->picked.seen || w->left_out)
		app_say(w->app, "%s: %s", name, vt_buf_str(&b));
	vt_buf_free(&b);
	return (w->picked.seen || w->left_out) && !w->picked.passed ? "nothing passes --where"
								    : NULL;
}
