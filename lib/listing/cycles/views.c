/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/cycles/views.h"

#include <string.h>

#include "base/escape.h"
#include "culprit/cause.h"
#include "listing/cycles/graph.h"
#include "listing/cycles/json.h"
#include "listing/cycles/stall_ranking.h"
#include "listing/json.h"

/* ---- images ---- */

static uint32_t cyclelist_image(const struct vt_cyclelist *l, size_t i)
{
	return *(const uint32_t *)vt_hash_at(l->images, i);
}

static bool is_image_named(const struct vt_image *image, const char *name)
{
	return image && (strcmp(image->path, name) == 0 || strcmp(image->name, name) == 0);
}

/* Whether the image is one of those that were asked for. */
static bool is_image_wanted(const struct vt_cyclelist *l, uint32_t id)
{
	const struct vt_image *image = vt_images_get(l->src.images, id);
	size_t i;

	for (i = 0; i < l->nnames; i++)
		if (is_image_named(image, l->names[i]))
			return true;
	return !l->nnames;
}

const char *vt_cyclelist_unknown(const struct vt_cyclelist *l)
{
	size_t i, k;

	for (i = 0; i < l->nnames; i++) {
		for (k = 0; k < l->images->count; k++)
			if (is_image_named(vt_images_get(l->src.images, cyclelist_image(l, k)),
					   l->names[i]))
				break;
		if (k == l->images->count)
			return l->names[i];
	}
	return NULL;
}

/* The event that the frequencies are estimated from. */
static size_t find_cycles_event(const struct vt_cyclelist *l)
{
	const struct vt_freq_at *f;
	size_t n;

	if (!l->images->count)
		return SIZE_MAX;
	f = vt_freqprofile_freqs(l->src.freqs, cyclelist_image(l, 0), 0, UINT64_MAX, &n);
	return n ? vt_cyclesum_event(l->src.profile, f->freq->event) : SIZE_MAX;
}

/* Sets the samples to all there are, including those in no image. */
static void count_all(const struct vt_cyclelist *l, struct vt_cyclesum *sum)
{
	if (l->src.event != SIZE_MAX)
		sum->samples = (double)vt_profile_event(l->src.profile, l->src.event)->samples;
}

static void add_image_cycles(const struct vt_cyclelist *l, uint32_t id, struct vt_cyclesum *sum)
{
	struct vt_procedure all = {.image = id};

	vt_calc_add(&l->src, &all, sum);
}

/* ---- block by block ---- */

static int append_json(struct vt_cyclelist *l, json_t *v, struct vt_error *err)
{
	return json_array_append_new(l->list, v) == 0 ? 0 : vt_error_nomem(err);
}

static int print_calc(struct vt_cyclelist *l, const struct vt_calc *c, struct vt_error *err)
{
	bool first = !l->count++;

	if (l->losses)
		return append_json(l, vt_json_calc(c, l->cutoff), err);
	if (l->view == VT_CYCLES_GRAPH)
		return (l->dot ? vt_calc_dot : vt_calc_svg)(c, l->cutoff, l->out, err);
	vt_output_text(l->out, first ? "" : "\n");
	vt_calc_print(c, l->sources, l->cutoff, l->color, l->out);
	return 0;
}

/* A procedure without code is an error only if it is the only one. */
static int list_calc(struct vt_cyclelist *l, const struct vt_procedure *proc, bool only,
		     struct vt_error *err)
{
	struct vt_calc *c = vt_calc_new(&l->src, proc, err);
	int code;

	if (!c && (only || (err->code != VT_E_NOTFOUND && err->code != VT_E_ABSENT)))
		return -(int)err->code;
	if (!c) {
		l->warn(l->arg, err->text);
		return 0;
	}
	code = print_calc(l, c, err);
	vt_calc_free(c);
	return code;
}

/* ---- summaries ---- */

static void print_summary(const struct vt_cyclelist *l, const char *what, const char *where,
			  const struct vt_cyclesum *sum, size_t number)
{
	struct vt_buf b = VT_BUF_INIT;

	vt_escape_str(&b, what);
	if (*where) {
		vt_buf_printf(&b, "  ");
		vt_escape_str(&b, where);
	}
	vt_output_printf(l->out, "%s%s%s%s\n", number ? "\n" : "",
			 l->color ? vt_style_start(VT_STYLE_HEADING) : "", vt_buf_str(&b),
			 l->color ? VT_STYLE_END : "");
	vt_buf_free(&b);
	vt_cyclesum_print(sum, l->out);
}

static int put_summary(struct vt_cyclelist *l, const char *key, const char *what, const char *where,
		       const struct vt_cyclesum *sum, size_t number, struct vt_error *err)
{
	json_t *v;

	if (!l->losses) {
		print_summary(l, what, where, sum, number);
		return 0;
	}
	v = json_object();
	vt_json_set(v, key, vt_json_text(what, strlen(what)));
	if (*where)
		json_object_set_new(v, "image", vt_json_text(where, strlen(where)));
	json_object_set_new(v, "summary", vt_json_cyclesum(sum));
	return append_json(l, v, err);
}

static int list_summary(struct vt_cyclelist *l, const struct vt_procedure *proc, size_t number,
			struct vt_error *err)
{
	const struct vt_image *image = vt_images_get(l->src.images, proc->image);
	struct vt_cyclesum sum = {0};

	vt_calc_add(&l->src, proc, &sum);
	return put_summary(l, "procedure", proc->symbol ? proc->name : "[no procedure]",
			   image ? image->path : "?", &sum, number, err);
}

/* Each image that was named, or all of them together. */
static int list_images(struct vt_cyclelist *l, struct vt_error *err)
{
	struct vt_cyclesum all = {0};
	size_t i, n = 0;
	int code = 0;

	for (i = 0; i < l->images->count && code == 0; i++) {
		const struct vt_image *image = vt_images_get(l->src.images, cyclelist_image(l, i));
		struct vt_cyclesum one = {0};

		if (!is_image_wanted(l, cyclelist_image(l, i)))
			continue;
		add_image_cycles(l, cyclelist_image(l, i), l->nnames ? &one : &all);
		if (l->nnames)
			code = put_summary(l, "image", image ? image->path : "?", "", &one, n++,
					   err);
	}
	count_all(l, &all);
	return l->nnames ? code : put_summary(l, "image", "All images", "", &all, 0, err);
}

/* ---- what one cause costs ---- */

static int print_stall(const struct vt_cyclelist *l, const struct vt_cyclerank_options *o,
		       const struct vt_table *t, const struct vt_cyclesum *all,
		       struct vt_error *err)
{
	json_t *v;

	if (!l->losses) {
		if (l->form == VT_TABLE_TEXT)
			vt_cyclerank_header(o, all, l->out);
		return vt_table_print(t, l->out, l->form, l->color, err);
	}
	v = vt_json_doc("vlist-stall/1");
	vt_json_losses(v, l->losses);
	json_object_set_new(v, "stall", json_string(vt_stall_name(o->cause)));
	json_object_set_new(v, "summary", vt_json_cyclesum(all));
	json_object_set_new(v, "procedures", vt_json_table(t));
	vt_json_write(l->out, v, true);
	return 0;
}

static int list_stall(struct vt_cyclelist *l, struct vt_error *err)
{
	const struct vt_cyclerank_options o = {
		.cause = l->cause, .cutoff = l->cutoff, .top = l->top};
	struct vt_cyclerank *rank = vt_cyclerank_new(&l->src);
	struct vt_table *t = vt_table_new();
	struct vt_cyclesum all = {0};
	bool ok = rank && t;
	size_t i;
	int code;

	for (i = 0; i < l->images->count && ok; i++) {
		if (!is_image_wanted(l, cyclelist_image(l, i)))
			continue;
		add_image_cycles(l, cyclelist_image(l, i), &all);
		ok = vt_cyclerank_add(rank, cyclelist_image(l, i));
	}
	if (!l->nnames)
		count_all(l, &all);
	ok = ok && vt_cyclerank_fill(rank, &o, t);
	code = ok ? print_stall(l, &o, t, &all, err) : vt_error_nomem(err);
	vt_table_free(t);
	vt_cyclerank_free(rank);
	return code;
}

/* ---- */

static int list_all(struct vt_cyclelist *l, const struct vt_found *found, struct vt_error *err)
{
	size_t i;
	int code = 0;

	if (l->view == VT_CYCLES_SUMMARY && !found->count)
		return list_images(l, err);
	for (i = 0; i < found->count && code == 0; i++)
		code = l->view == VT_CYCLES_SUMMARY
			       ? list_summary(l, &found->list[i], i, err)
			       : list_calc(l, &found->list[i], found->count == 1, err);
	return code;
}

int vt_cyclelist_print(struct vt_cyclelist *l, const struct vt_found *found, struct vt_error *err)
{
	bool summary = l->view == VT_CYCLES_SUMMARY;
	json_t *v;
	int code;

	l->src.event = find_cycles_event(l);
	if (l->view == VT_CYCLES_STALL)
		return list_stall(l, err);
	l->list = json_array();
	code = list_all(l, found, err);
	if (code == 0 && l->losses) {
		v = vt_json_doc(summary ? "vlist-summary/1" : "vlist-calc/1");
		vt_json_losses(v, l->losses);
		json_object_set(v, summary && !found->count ? "images" : "procedures", l->list);
		vt_json_write(l->out, v, true);
	}
	json_decref(l->list);
	return code;
}
