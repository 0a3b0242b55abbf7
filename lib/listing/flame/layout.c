/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "listing/flame/internal.h"

/* ---- frames ---- */

static enum vt_flame_kind find_kind(const struct vt_stacks *s, const struct vt_stack_place *p,
				    uint32_t line)
{
	if (line < p->line + p->nlines - 1)
		return VT_FLAME_INLINED;
	if (!*s->lines[line].symbol || p->mode == VT_STACK_UNKNOWN)
		return VT_FLAME_UNKNOWN;
	return p->mode == VT_STACK_KERNEL ? VT_FLAME_KERNEL : VT_FLAME_USER;
}

/* One id for all that tells the children of a frame apart. */
static uint32_t intern_label(struct vt_flame *f, const char *name, enum vt_flame_kind kind,
			     const char *image)
{
	struct vt_buf b = VT_BUF_INIT;
	uint32_t id;

	vt_buf_put(&b, name, strlen(name) + 1);
	vt_buf_put(&b, image, strlen(image) + 1);
	vt_buf_put_u8(&b, (uint8_t)kind);
	id = b.failed ? UINT32_MAX : vt_intern_add(f->strings, b.data, b.size);
	vt_buf_free(&b);
	return id;
}

/* The index of a parent's frame; VT_STACK_NONE: no memory. */
static uint32_t add_frame(struct vt_flame *f, uint32_t parent, const char *name,
			  enum vt_flame_kind kind, const char *image)
{
	struct {
		uint32_t parent, label;
	} key = {parent, intern_label(f, name, kind, image)};
	struct vt_flame_frame *at;
	bool added = false;

	if (key.label == UINT32_MAX || f->frames.count >= VT_STACK_NONE - 1)
		return VT_STACK_NONE;
	at = vt_hash_add(&f->frames, &key, &added);
	if (!at)
		return VT_STACK_NONE;
	if (added) {
		at->name = vt_intern_get(f->strings, key.label);
		at->image = at->name + strlen(at->name) + 1;
		at->kind = kind;
		if (parent != VT_STACK_NONE)
			at->depth = vti_flame_frame(f, parent)->depth + 1;
	}
	return (uint32_t)vt_hash_index(&f->frames, at);
}

static uint32_t add_path(struct vt_flame *f, const struct vt_stacks *s,
			 const struct vt_stack_path *path)
{
	uint32_t frame = 0;
	size_t i;

	for (i = 0; i < path->count && frame != VT_STACK_NONE; i++) {
		const struct vt_stack_place *p = path->places[i];

		frame = add_frame(f, frame, s->lines[path->lines[i]].name,
				  find_kind(s, p, path->lines[i]),
				  p->image == VT_STACK_NONE ? "" : s->images[p->image].path);
	}
	return frame;
}

/* Whether a stack ends at code whose name is not known. */
static bool ends_unknown(const struct vt_stacks *s, const struct vt_stack_path *path)
{
	return path->count && !*s->lines[path->lines[path->count - 1]].symbol;
}

static int add_side(struct vt_flame *f, const struct vt_flame_side *side, int which,
		    struct vt_error *err)
{
	const struct vt_stacks *s = side->stacks;
	struct vt_stack_path path = {0};
	bool ok = true;
	size_t i;

	for (i = 0; i < s->nodes.count && ok; i++) {
		uint64_t weight = vt_stacks_get(s, i, side->weight);
		uint32_t frame;

		f->samples[which] += vt_stacks_get(s, i, side->samples);
		if (!weight)
			continue;
		ok = vt_stacks_path(s, (uint32_t)i, &path);
		frame = ok ? add_path(f, s, &path) : VT_STACK_NONE;
		ok = frame != VT_STACK_NONE;
		if (ok)
			vti_flame_frame(f, frame)->self[which] += weight;
		if (ok && which && ends_unknown(s, &path))
			f->unknown += weight;
	}
	vt_stack_path_fini(&path);
	return ok ? 0 : vt_error_nomem(err);
}

/* ---- places ---- */

static void sum_totals(struct vt_flame *f)
{
	size_t i, k;

	for (i = f->frames.count; i-- > 0;) {
		struct vt_flame_frame *at = vti_flame_frame(f, i);

		for (k = 0; k < 2; k++) {
			at->total[k] += at->self[k];
			if (i)
				vti_flame_frame(f, at->parent)->total[k] += at->total[k];
		}
	}
}

/* Frames of one parent together, in order of their names; a parent before its children. */
static int compare_frames(const void *pa, const void *pb)
{
	const struct vt_flame_frame *a = *(const struct vt_flame_frame *const *)pa;
	const struct vt_flame_frame *b = *(const struct vt_flame_frame *const *)pb;
	int c;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	c = strcmp(a->name, b->name);
	if (!c)
		c = strcmp(a->image, b->image);
	return c ? c : (int)a->kind - (int)b->kind;
}

/* Whether a frame is to be shown; if not, notes why. */
static bool decide_shown(struct vt_flame *f, const struct vt_flame_frame *at)
{
	const struct vt_flame_frame *all = vti_flame_frame(f, 0);

	if (!at->total[1]) {
		f->gone++;
		return false;
	}
	if (100.0 * (double)at->total[1] < f->how.min_percent * (double)all->total[1]) {
		f->narrow++;
		return false;
	}
	return true;
}

static int place_frames(struct vt_flame *f, struct vt_error *err)
{
	size_t i, n = f->frames.count;
	struct vt_flame_frame **order = calloc(n, sizeof(struct vt_flame_frame *));
	uint64_t *used = calloc(n, sizeof(*used)); /* weight of the children that are placed */

	if (!order || !used) {
		free(order);
		free(used);
		return vt_error_nomem(err);
	}
	for (i = 0; i < n; i++)
		order[i] = vti_flame_frame(f, i);
	/* The frame below all has no parent and stays the first. */
	qsort(order + 1, n - 1, sizeof(struct vt_flame_frame *), compare_frames);
	order[0]->shown = true;
	for (i = 1; i < n; i++) {
		struct vt_flame_frame *at = order[i];

		at->left = vti_flame_frame(f, at->parent)->left + used[at->parent];
		used[at->parent] += at->total[1];
		at->shown = decide_shown(f, at);
		if (at->shown && at->depth > f->depth)
			f->depth = at->depth;
	}
	free(order);
	free(used);
	return 0;
}

int vt_flame_init(struct vt_flame *f, const struct vt_flame_options *how,
		  const struct vt_flame_side *before, const struct vt_flame_side *after,
		  struct vt_error *err)
{
	*f = (struct vt_flame){.how = *how, .diff = before != NULL, .strings = vt_intern_new()};
	vt_hash_init(&f->frames, sizeof(struct vt_flame_frame),
		     offsetof(struct vt_flame_frame, name));
	if (!f->strings || add_frame(f, VT_STACK_NONE, "all", VT_FLAME_ALL, "") == VT_STACK_NONE)
		return vt_error_nomem(err);
	if ((before && add_side(f, before, 0, err) < 0) || add_side(f, after, 1, err) < 0)
		return -VT_E_NOMEM;
	sum_totals(f);
	return place_frames(f, err);
}

void vt_flame_fini(struct vt_flame *f)
{
	vt_hash_fini(&f->frames);
	vt_intern_free(f->strings);
}

static double pixels(const struct vt_flame *f, uint64_t weight)
{
	uint64_t all = vti_flame_frame(f, 0)->total[1];

	return all ? (double)weight / (double)all * (f->how.width - 2.0 * VTI_FLAME_MARGIN) : 0;
}

double vt_flame_x(const struct vt_flame *f, const struct vt_flame_frame *frame)
{
	return VTI_FLAME_MARGIN + pixels(f, frame->left);
}

double vt_flame_width(const struct vt_flame *f, const struct vt_flame_frame *frame)
{
	return pixels(f, frame->total[1]);
}
