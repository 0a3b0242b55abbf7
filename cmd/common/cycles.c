/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/cycles.h"

#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "cmd/common/stream.h"
#include "culprit/cause.h"
#include "listing/cycles/calc.h"
#include "listing/cycles/graph.h"
#include "listing/cycles/json.h"
#include "listing/cycles/stall_ranking.h"
#include "listing/json.h"

struct state {
	struct app *app;
	const struct app_cycles *o;
	const struct app_profile *data;
	struct vt_calc_source src;
	struct vt_output *out;
	json_t *list;  /* of procedures or images, for --json */
	size_t listed; /* procedures, block by block */
};

const char *const app_graph_words[] = {"svg", "dot", NULL};

/* ---- images ---- */

static bool is_named(const struct vt_image *image, const char *name)
{
	return image && (strcmp(image->path, name) == 0 || strcmp(image->name, name) == 0);
}

/* Whether the image is one of those that were asked for. */
static bool is_wanted(const struct state *s, uint32_t id)
{
	const struct vt_image *image = vt_images_get(s->data->images, id);
	size_t i;

	for (i = 0; i < s->o->images.count; i++)
		if (is_named(image, s->o->images.items[i]))
			return true;
	return !s->o->images.count;
}

static bool check_images(const struct state *s)
{
	const struct vt_hash *h = &s->data->seen_images;
	size_t i, k;

	for (i = 0; i < s->o->images.count; i++) {
		const char *name = s->o->images.items[i];

		for (k = 0; k < h->count; k++)
			if (is_named(vt_images_get(s->data->images,
						   *(const uint32_t *)vt_hash_at(h, k)),
				     name))
				break;
		if (k == h->count)
			return app_usage(s->app, "--image %s: no samples are of such an image",
					 name);
	}
	return true;
}

/* The event that the frequencies rest on. */
static size_t event_of(const struct app_profile *p)
{
	size_t n;
	const struct vt_freq *f;

	if (!p->freq_images.count)
		return SIZE_MAX;
	f = vt_freqprofile_freqs(p->freqs, *(const uint32_t *)vt_hash_at(&p->freq_images, 0), 0,
				 UINT64_MAX, &n);
	return n ? vt_cyclesum_event(p->profile, f->event) : SIZE_MAX;
}

/* All samples, also those that are in no image. */
static void count_all(const struct state *s, struct vt_cyclesum *sum)
{
	if (s->src.event != SIZE_MAX)
		sum->samples = (double)vt_profile_event(s->data->profile, s->src.event)->samples;
}

/* ---- block by block ---- */

static bool print_calc(struct state *s, const struct vt_calc *c, size_t number)
{
	struct vt_error err = VT_ERROR_INIT;
	json_t *v;
	int rc;

	if (s->o->form.json) {
		v = vt_json_calc(c, s->o->cutoff);
		return json_array_append_new(s->list, v) == 0 || app_no_memory(s->app);
	}
	if (s->o->view == APP_CYCLES_GRAPH) {
		rc = s->o->graph == APP_GRAPH_DOT ? vt_calc_dot(c, s->o->cutoff, s->out, &err)
						  : vt_calc_svg(c, s->o->cutoff, s->out, &err);
		if (rc == 0)
			return true;
		app_fail(s->app, &err);
		if (rc == -VT_E_LIMIT)
			app_say(s->app,
				"--cutoff leaves cold blocks out; --cfg=dot knows no limit");
		return false;
	}
	vt_output_text(s->out, number ? "\n" : "");
	vt_calc_print(c, s->o->sources, s->o->cutoff, app_color(s->app, s->o->color), s->out);
	return true;
}

/* Of several procedures, one without code is told, and the others are listed. */
static bool list_calc(struct state *s, const struct vt_procedure *proc, bool only)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_calc *c = vt_calc_new(&s->src, proc, &err);
	bool ok;

	if (!c && (only || (err.code != VT_E_NOTFOUND && err.code != VT_E_ABSENT)))
		return app_fail(s->app, &err);
	if (!c) {
		app_say(s->app, "%s", err.text);
		app_raise(s->app, APP_LOSSY);
		return true;
	}
	ok = print_calc(s, c, s->listed++);
	vt_calc_free(c);
	return ok;
}

/* ---- summaries ---- */

static void print_summary(struct state *s, const char *what, const char *where,
			  const struct vt_cyclesum *sum, size_t number)
{
	struct vt_buf b = VT_BUF_INIT;
	bool color = app_color(s->app, s->o->color);

	vt_escape_str(&b, what);
	if (*where) {
		vt_buf_printf(&b, "  ");
		vt_escape_str(&b, where);
	}
	vt_output_printf(s->out, "%s%s%s%s\n", number ? "\n" : "",
			 color ? vt_style_start(VT_STYLE_HEADING) : "", vt_buf_str(&b),
			 color ? VT_STYLE_END : "");
	vt_buf_free(&b);
	vt_cyclesum_print(sum, s->out);
}

static bool put_summary(struct state *s, const char *key, const char *what, const char *where,
			const struct vt_cyclesum *sum, size_t number)
{
	json_t *v;

	if (!s->o->form.json) {
		print_summary(s, what, where, sum, number);
		return true;
	}
	v = json_object();
	vt_json_set(v, key, vt_json_text(what, strlen(what)));
	if (*where)
		json_object_set_new(v, "image", vt_json_text(where, strlen(where)));
	json_object_set_new(v, "summary", vt_json_cyclesum(sum));
	return json_array_append_new(s->list, v) == 0 || app_no_memory(s->app);
}

static bool list_summary(struct state *s, const struct vt_procedure *proc, size_t number)
{
	const struct vt_image *image = vt_images_get(s->data->images, proc->image);
	struct vt_cyclesum sum = {0};

	vt_calc_add(&s->src, proc, &sum);
	return put_summary(s, "procedure", proc->symbol ? proc->name : "[no procedure]",
			   image ? image->path : "?", &sum, number);
}

static void add_image(const struct state *s, uint32_t id, struct vt_cyclesum *sum)
{
	struct vt_procedure all = {.image = id};

	vt_calc_add(&s->src, &all, sum);
}

/* Each image that was named, or all of them together. */
static bool list_images(struct state *s)
{
	const struct vt_hash *h = &s->data->seen_images;
	struct vt_cyclesum all = {0};
	size_t i, n = 0;

	for (i = 0; i < h->count; i++) {
		uint32_t id = *(const uint32_t *)vt_hash_at(h, i);
		const struct vt_image *image = vt_images_get(s->data->images, id);
		struct vt_cyclesum one = {0};

		if (!is_wanted(s, id))
			continue;
		add_image(s, id, s->o->images.count ? &one : &all);
		if (s->o->images.count &&
		    !put_summary(s, "image", image ? image->path : "?", "", &one, n++))
			return false;
	}
	count_all(s, &all);
	return s->o->images.count || put_summary(s, "image", "All images", "", &all, 0);
}

/* ---- what one cause costs ---- */

static bool list_stall(struct state *s)
{
	const struct vt_hash *h = &s->data->seen_images;
	struct vt_cyclerank_options r = {
		.cause = vt_stall_find(s->o->stall), .cutoff = s->o->cutoff, .top = s->o->top};
	struct vt_cyclerank *rank = vt_cyclerank_new(&s->src);
	struct vt_table *t = vt_table_new();
	struct vt_cyclesum all = {0};
	bool ok = rank && t;
	size_t i;

	for (i = 0; i < h->count && ok; i++) {
		uint32_t id = *(const uint32_t *)vt_hash_at(h, i);

		if (!is_wanted(s, id))
			continue;
		add_image(s, id, &all);
		ok = vt_cyclerank_add(rank, id);
	}
	if (!s->o->images.count)
		count_all(s, &all);
	ok = ok && vt_cyclerank_fill(rank, &r, t);
	if (!ok) {
		app_no_memory(s->app);
	} else {
		if (s->o->form.json) {
			json_t *v = vt_json_doc("vlist-stall/1");

			vt_json_losses(v, &s->app->losses);
			json_object_set_new(v, "stall", json_string(vt_stall_name(r.cause)));
			json_object_set_new(v, "summary", vt_json_cyclesum(&all));
			json_object_set_new(v, "procedures", vt_json_table(t));
			vt_json_write(s->out, v, true);
		} else {
			if (app_form_is_text(&s->o->form))
				vt_cyclerank_header(&r, &all, s->out);
			ok = app_print_table(s->app, t, &s->o->form, s->o->color, s->out);
		}
	}
	vt_table_free(t);
	vt_cyclerank_free(rank);
	return ok;
}

/* ---- */

/* A listing of stalls needs some; others only have less to tell. */
static bool check_stalls(const struct state *s)
{
	static const char none[] = "no stalls (vculprit finds them)";

	if (s->data->stalls || s->data->explained || s->o->view == APP_CYCLES_GRAPH)
		return true;
	if (s->o->view == APP_CYCLES_STALL)
		return app_lacks(s->app, s->data->name, none);
	app_say(s->app, "%s: %s", s->data->name, none);
	return true;
}

static bool list_procedures(struct state *s, const struct vt_found *found)
{
	size_t i;
	bool ok = true;

	for (i = 0; i < found->count && ok; i++)
		ok = s->o->view == APP_CYCLES_SUMMARY
			     ? list_summary(s, &found->list[i], i)
			     : list_calc(s, &found->list[i], found->count == 1);
	if (s->o->view != APP_CYCLES_SUMMARY && !s->listed)
		app_raise(s->app, APP_INPUT);
	return ok;
}

bool app_cycles_list(struct app *a, const struct app_cycles *o, const struct app_profile *p,
		     const struct vt_found *found)
{
	struct state s = {.app = a, .o = o, .data = p};
	bool whole = o->view == APP_CYCLES_SUMMARY && !found->count;
	json_t *v;
	bool ok;

	s.src = (struct vt_calc_source){p->profile, p->images, p->freqs,
					p->code,    o->syntax, event_of(p)};
	if (!check_stalls(&s) || !check_images(&s))
		return false;
	if (o->view == APP_CYCLES_GRAPH && o->graph == APP_GRAPH_SVG && !o->form.json &&
	    found->count != 1)
		return app_usage(a, "--cfg=svg draws one procedure");
	s.out = app_text(a, o->output);
	if (!s.out)
		return false;
	if (o->view == APP_CYCLES_STALL)
		return list_stall(&s);
	s.list = json_array();
	ok = whole ? list_images(&s) : list_procedures(&s, found);
	if (ok && o->form.json) {
		v = vt_json_doc(o->view == APP_CYCLES_SUMMARY ? "vlist-summary/1" : "vlist-calc/1");
		vt_json_losses(v, &a->losses);
		json_object_set(v, whole ? "images" : "procedures", s.list);
		vt_json_write(s.out, v, true);
	}
	json_decref(s.list);
	return ok;
}
