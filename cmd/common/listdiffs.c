/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/listdiffs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/intern.h"
#include "image/elf.h"
#include "listing/code/diff.h"
#include "listing/json.h"
#include "listing/profile/json.h"
#include "profile/ranking.h"

/* Of the changes that are called significant, so many may be chance. */
#define FALSE_RATE 0.05

/* A procedure with samples before, and how many have its name: which is meant is then not clear. */
struct named {
	struct vt_procedure procedure;
	size_t count;
};

struct diffs {
	struct app *app;
	const struct app_listdiffs *o;
	struct app_profile *data[2]; /* before, after */
	const struct vt_event_choice *events;
	struct vt_table *table; /* of all procedures, for programs */
	json_t *list;
	struct vt_output *out;
	size_t done;
	struct app_warnings left_out;
	struct vt_ranking *ranking; /* of before */
	struct vt_intern *names;    /* IMAGE:SYMBOL of its procedures; an id is the index below */
	struct named *named;
	size_t nnamed;
	size_t named_cap;
};

static bool fail(const struct diffs *d, const struct vt_error *err)
{
	return app_fail(d->app, err);
}

static void put_name(struct vt_buf *b, struct vt_images *images, const struct vt_procedure *p)
{
	const struct vt_image *image = vt_images_get(images, p->image);

	b->size = 0;
	vt_buf_printf(b, "%s:%s", image ? image->name : "", p->symbol);
}

/* So that not all places are looked at for each procedure. */
static bool name_procedures(struct diffs *d)
{
	struct vt_images *images = d->data[0]->images;
	struct vt_error err = VT_ERROR_INIT;
	struct vt_buf b = VT_BUF_INIT;
	size_t i;

	d->ranking = vt_ranking_new(d->data[0]->profile, images, VT_LEVEL_PROCEDURE, &err);
	if (!d->ranking)
		return fail(d, &err);
	for (i = 0; i < vt_ranking_count(d->ranking); i++) {
		struct vt_procedure p;
		uint32_t id;

		if (!vt_procedure_of_rank(images, vt_ranking_at(d->ranking, i), &p) || !p.symbol)
			continue;
		put_name(&b, images, &p);
		id = vt_intern_add(d->names, b.data, b.size);
		if (id == UINT32_MAX ||
		    !vt_array_grow(&d->named, &d->named_cap, id + 1, sizeof(*d->named)))
			break;
		if (id >= d->nnamed) {
			d->nnamed = id + 1;
			d->named[id] = (struct named){.procedure = p};
		}
		d->named[id].count++;
	}
	vt_buf_free(&b);
	return i == vt_ranking_count(d->ranking) || app_no_memory(d->app);
}

/*
 * Of several procedures of one name, as static functions may have it, the one that begins where the
 * later one does, if the images are of the same build.
 */
static bool same_place(const struct diffs *d, const struct vt_procedure *after,
		       struct vt_found *found)
{
	const struct vt_image *image = vt_images_get(d->data[1]->images, after->image);
	size_t i;

	for (i = 0; i < found->count; i++) {
		const struct vt_procedure *p = &found->list[i];
		const struct vt_image *other = vt_images_get(d->data[0]->images, p->image);

		if (image && other && image->buildid_size && p->start == after->start &&
		    vt_buildid_equal(image->buildid, image->buildid_size, other->buildid,
				     other->buildid_size)) {
			found->list[0] = *p;
			return true;
		}
	}
	return false;
}

static int take_named(const struct named *n, struct vt_found *found, struct vt_error *err)
{
	if (!vt_array_grow(&found->list, &found->cap, 1, sizeof(*found->list)))
		return vt_error_nomem(err);
	found->list[0] = n->procedure;
	found->count = 1;
	return 0;
}

/* The procedure of the same name in the stream of before. */
static int find_before(const struct diffs *d, const struct vt_procedure *after,
		       struct vt_found *found, struct vt_error *err)
{
	const struct vt_image *image = vt_images_get(d->data[1]->images, after->image);
	struct vt_buf what = VT_BUF_INIT;
	uint32_t id;
	int rc;

	if (!after->symbol)
		return vt_error_set(err, VT_E_NOTFOUND,
				    "%s: what lies in no procedure is not compared",
				    image ? image->path : "?");
	put_name(&what, d->data[1]->images, after);
	id = vt_intern_find(d->names, what.data, what.size);
	if (id == UINT32_MAX || d->named[id].count > 1)
		rc = vt_locate(d->data[0]->profile, d->data[0]->images, vt_buf_str(&what), found,
			       err);
	else
		rc = take_named(&d->named[id], found, err);
	vt_buf_free(&what);
	if (rc == -VT_E_AMBIGUOUS && same_place(d, after, found))
		return 0;
	return rc < 0 ? vt_error_prefix(err, "%s", d->o->before) : 0;
}

static json_t *json_of(const struct vt_procedure *p, const struct vt_table *t,
		       const struct vt_listdiff_result *r)
{
	json_t *doc = json_object();

	json_object_set_new(doc, "procedure", vt_json_text(p->name, strlen(p->name)));
	json_object_set_new(doc, "rows", vt_json_table(t));
	json_object_set_new(doc, "only_before", vt_json_u64(r->only[0]));
	json_object_set_new(doc, "only_after", vt_json_u64(r->only[1]));
	json_object_set_new(doc, "significant", vt_json_u64(r->significant));
	json_object_set_new(doc, "aligned", json_boolean(!r->rough));
	return doc;
}

static void print_header(const struct diffs *d, const struct vt_procedure *p,
			 const struct vt_listdiff_side sides[2])
{
	static const char *const names[2] = {"Before:", "After:"};
	struct vt_buf b = VT_BUF_INIT;
	size_t i;
	int side;

	vt_escape_str(&b, p->name);
	vt_output_printf(d->out, "%s%s\n", d->done ? "\n" : "", vt_buf_str(&b));
	for (side = 0; side < 2; side++) {
		vt_output_printf(d->out, "%-7s", names[side]);
		for (i = 0; i < vt_profile_nevents(sides[side].profile); i++) {
			const struct vt_profile_event *e = vt_profile_event(sides[side].profile, i);
			struct vt_tally t = vt_listing_total(sides[side].listing, i);

			b.size = 0;
			vt_escape_str(&b, e->name ? e->name : "?");
			if (t.samples)
				vt_output_printf(d->out, "  %s %" PRIu64, vt_buf_str(&b),
						 t.samples);
		}
		vt_output_text(d->out, "\n");
	}
	vt_buf_free(&b);
}

static void print_footer(const struct diffs *d, const struct vt_listdiff_result *r)
{
	vt_output_printf(d->out,
			 "%" PRIu64 " changes are significant (*); %" PRIu64
			 " rows only before (<), %" PRIu64 " only after (>)\n",
			 r->significant, r->only[0], r->only[1]);
	if (r->rough)
		vt_output_text(d->out, "The code differs in so much that only its beginning and "
				       "end were compared.\n");
}

static bool print(struct diffs *d, const struct vt_procedure *p,
		  const struct vt_listdiff_side sides[2])
{
	enum vt_list_view view = d->o->listing.view;
	bool programs = d->o->form.csv || d->o->form.tsv;
	struct vt_table *t = programs ? d->table : vt_table_new();
	struct vt_listdiff_result r;
	struct vt_error err = VT_ERROR_INIT;
	bool ok = t != NULL;

	if (!ok)
		vt_error_nomem(&err);
	if (ok && !vt_table_columns(t))
		vt_listdiff_columns(t, sides, d->events, view);
	ok = ok && vt_listdiff_rows(t, sides, d->events, view, FALSE_RATE, &r, &err) == 0;
	if (ok && d->o->form.json) {
		json_array_append_new(d->list, json_of(p, t, &r));
	} else if (ok && !programs) {
		print_header(d, p, sides);
		ok = vt_table_print(t, d->out, VT_TABLE_TEXT, app_color(d->app, d->o->color),
				    &err) == 0;
		print_footer(d, &r);
	}
	if (!programs)
		vt_table_free(t);
	d->done++;
	return ok || fail(d, &err);
}

static bool diff(struct diffs *d, const struct vt_procedure *after)
{
	struct vt_listdiff_side sides[2] = {{d->data[0]->profile, NULL},
					    {d->data[1]->profile, NULL}};
	struct vt_listing *listings[2] = {NULL, NULL};
	struct vt_found found = {0};
	struct vt_error err = VT_ERROR_INIT;
	int side, rc = find_before(d, after, &found, &err);
	bool left_out = !d->o->named && (rc == -VT_E_NOTFOUND || rc == -VT_E_AMBIGUOUS);
	bool ok = rc == 0 || left_out || fail(d, &err);

	if (left_out)
		app_warn(&d->left_out, err.text);
	for (side = 0; side < 2 && ok && !left_out; side++) {
		const struct vt_procedure *p = side ? after : &found.list[0];
		struct vt_listing_options listing = d->o->listing;

		listing.code = d->data[side]->code;
		listings[side] = vt_listing_new(d->data[side]->profile, d->data[side]->images, p,
						&listing, &err);
		sides[side].listing = listings[side];
		ok = listings[side] || fail(d, &err);
		if (ok && vt_listing_missing(listings[side]))
			app_say(d->app, "%s: %s", p->name, vt_listing_missing(listings[side]));
	}
	ok = ok && (left_out || print(d, after, sides));
	vt_listing_free(listings[0]);
	vt_listing_free(listings[1]);
	vt_found_fini(&found);
	return ok;
}

static void print_json(struct diffs *d)
{
	json_t *doc = vt_json_doc("vlist-diff/1");
	int side;

	for (side = 0; side < 2; side++) {
		json_t *v = json_object();

		vt_json_profile_losses(v, vt_profile_loss(d->data[side]->profile));
		json_object_set_new(doc, side ? "after" : "before", v);
	}
	json_object_set(doc, "procedures", d->list);
	vt_json_write(d->out, doc, true);
}

bool app_listdiffs_print(struct app *a, const struct app_listdiffs *o, struct app_profile *after,
			 const struct vt_event_choice *events, const struct vt_found *found)
{
	struct app_profile before = {0};
	struct diffs d = {.app = a,
			  .o = o,
			  .data = {&before, after},
			  .events = events,
			  .left_out = {a, "procedures that are not compared", 0}};
	struct vt_error err = VT_ERROR_INIT;
	bool ok = app_profile_read(a, &before, o->before, o->symfs);
	size_t i;

	d.table = vt_table_new();
	d.list = json_array();
	d.names = vt_intern_new();
	ok = ok && (d.names || app_no_memory(a)) && name_procedures(&d);
	d.out = ok ? app_text(a, o->output) : NULL;
	ok = ok && d.out;
	for (i = 0; i < found->count && ok; i++)
		ok = diff(&d, &found->list[i]);
	app_warnings_end(&d.left_out);
	if (ok && !d.done && d.left_out.count) {
		vt_error_set(&err, VT_E_ABSENT,
			     "nothing to compare: no procedure is both before and after");
		ok = fail(&d, &err);
	}
	if (ok && o->form.json)
		print_json(&d);
	else if (ok && !app_form_is_text(&o->form) && d.table)
		ok = vt_table_print(d.table, d.out, app_table_form(&o->form), false, &err) == 0 ||
		     app_fail(a, &err);
	json_decref(d.list);
	vt_table_free(d.table);
	vt_ranking_free(d.ranking);
	vt_intern_free(d.names);
	free(d.named);
	app_profile_end(&before);
	return ok;
}
