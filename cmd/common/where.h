/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_WHERE_H
#define CMD_COMMON_WHERE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/opt.h"
#include "cmd/common/app.h"
#include "cmd/common/images.h"
#include "listing/stream/places.h"
#include "profile/context.h"
#include "profile/losses.h"
#include "stream/where.h"
#include "summary/names.h"

/*
 * The option --where, which picks the records of one kind by an expression: vt-filter(7).
 *
 *	struct app_where where = {.kind = VT_SAMPLE, .what = "samples"};
 *	const struct vt_opt opts[] = { ..., APP_OPT_WHERE(where.text), {0} };
 *
 *	if (app_start(...)) {
 *		app_where_start(&app, &where, symfs);
 *		... app_each_run() and its kin hand on only records of the kind that pass ...
 *	}
 *	app_where_end(&where);
 *
 * At the end of each stream, a META record says how many passed, which listings show and streams
 * that are written keep.
 */
struct app_where {
	const char *text;
	enum vt_kind kind;
	const char *what; /* what messages call records of the kind */
	bool alone;	  /* as of struct app_slice */
	bool marks;	  /* hand on records that do not pass, too: app_where_truth() */
	struct app *app;
	const char *symfs;
	struct app_context in; /* for places */
	struct vt_places *places;
	struct vt_names names; /* of events */
	struct vt_where_expr *where;
	struct vt_schema const *schema; /* of the stream at hand */
	uint8_t *truth;			/* of rows of the run at hand, from `first` on */
	uint32_t first;
	size_t cap;
	struct vt_picked picked; /* of the stream at hand */
	uint64_t left_out;	 /* records of other kinds: executed code, sums, estimates */
};

#define APP_OPT_WHERE(variable)                                                                    \
	{                                                                                          \
		.name = "where", .type = VT_OPT_STRING, .value = &(variable), .arg = "EXPR",       \
		.once = "given twice: join the expressions by &&",                                 \
		.help = "only records for whose fields this is true, as in\n"                      \
			"'lat_load > 200 && events & dcache_miss': vt-filter(7)"                   \
	}

/* If the option is given, the streams that are read from then on are filtered. */
void app_where_start(struct app *a, struct app_where *w, const char *symfs);
void app_where_end(struct app_where *w);

/* Says what is wrong with the expression, or fails; returns false. */
bool app_where_fail(struct app *a, const struct vt_error *err);

/* With `marks`: enum vt_truth of a row of the run that is handed on, and those behind it. */
const uint8_t *app_where_truth(const struct app_where *w, uint32_t row);

/* ---- for the loop over a stream's records ---- */

/* Begins a stream, whose schema is borrowed.  False after app_usage() or app_fail(). */
bool app_where_begin(struct app_where *w, const struct vt_schema *schema);

/* Hands on to `take` the runs of what passes.  0; what `take` returned; -VT_E_NOMEM. */
int app_where_feed(struct app_where *w, const struct vt_block *block, uint32_t first,
		   uint32_t count, vt_consume_fn *take, void *arg, struct vt_error *err);

/* Hands on a META record that says what passed.  Errors as app_where_feed(). */
int app_where_note(struct app_where *w, vt_consume_fn *take, void *arg, struct vt_error *err);

/*
 * Says what of the stream `name` passed.  Returns what it lacks, for app_lacks(), if nothing did;
 * else NULL.
 */
const char *app_where_tell(struct app_where *w, const char *name);

#endif
