/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stacks/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

struct vt_stacks *vt_stacks_new(void)
{
	struct vt_stacks *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->strings = vt_intern_new();
	s->period_name = s->period_unit = "";
	vt_hash_init(&s->nodes, sizeof(struct vt_stack_node), sizeof(struct vt_stack_node));
	if (s->strings)
		return s;
	vt_stacks_free(s);
	return NULL;
}

void vt_stacks_free(struct vt_stacks *s)
{
	if (!s)
		return;
	vt_intern_free(s->strings);
	free(s->values);
	free(s->images);
	free(s->lines);
	free(s->places);
	free(s->labels);
	free(s->counts);
	vt_hash_fini(&s->nodes);
	free(s);
}

/* ---- parts ---- */

static const char *keep_text(struct vt_stacks *s, const char *text)
{
	uint32_t id = vt_intern_str(s->strings, text);

	if (id != UINT32_MAX)
		return vt_intern_get(s->strings, id);
	s->failed = true;
	return "";
}

/* Makes room for `n` more elements of an array of `count`. */
static bool grow(struct vt_stacks *s, void *array, size_t *cap, size_t count, size_t n, size_t size)
{
	if (s->failed || count + n >= VT_STACK_NONE || !vt_array_grow(array, cap, count + n, size))
		s->failed = true;
	return !s->failed;
}

void vt_stacks_add_value(struct vt_stacks *s, const char *name, const char *unit)
{
	if (!grow(s, &s->values, &s->values_cap, s->nvalues, 1, sizeof(*s->values)))
		return;
	s->values[s->nvalues].name = keep_text(s, name);
	s->values[s->nvalues++].unit = keep_text(s, unit);
}

void vt_stacks_set_period(struct vt_stacks *s, uint64_t period, const char *name, const char *unit)
{
	s->period = period;
	s->period_name = keep_text(s, name);
	s->period_unit = keep_text(s, unit);
}

uint32_t vt_stacks_add_image(struct vt_stacks *s, const struct vt_stack_image *image)
{
	struct vt_stack_image *to;

	if (!grow(s, &s->images, &s->images_cap, s->nimages, 1, sizeof(*s->images)))
		return VT_STACK_NONE;
	to = &s->images[s->nimages];
	*to = *image;
	to->path = keep_text(s, image->path);
	to->buildid = keep_text(s, image->buildid);
	return (uint32_t)s->nimages++;
}

uint32_t vt_stacks_add_place(struct vt_stacks *s, const struct vt_stack_place *place,
			     const struct vt_stack_line *lines, size_t n)
{
	struct vt_stack_place *to;
	size_t i;

	if (!grow(s, &s->places, &s->places_cap, s->nplaces, 1, sizeof(*s->places)) ||
	    !grow(s, &s->lines, &s->lines_cap, s->nlines, n, sizeof(*s->lines)))
		return VT_STACK_NONE;
	to = &s->places[s->nplaces];
	*to = *place;
	to->line = (uint32_t)s->nlines;
	to->nlines = (uint32_t)n;
	for (i = 0; i < n; i++) {
		struct vt_stack_line *l = &s->lines[s->nlines++];

		*l = lines[i];
		l->name = keep_text(s, lines[i].name);
		l->symbol = keep_text(s, lines[i].symbol);
		l->file = keep_text(s, lines[i].file);
	}
	return (uint32_t)s->nplaces++;
}

/* ---- stacks ---- */

uint32_t vt_stacks_add_root(struct vt_stacks *s, const struct vt_stack_label *label)
{
	if (!grow(s, &s->labels, &s->labels_cap, s->nlabels, 1, sizeof(*s->labels)))
		return VT_STACK_NONE;
	s->labels[s->nlabels] = *label;
	s->labels[s->nlabels].comm = keep_text(s, label->comm);
	return vt_stacks_push(s, VT_STACK_NONE, (uint32_t)s->nlabels++);
}

uint32_t vt_stacks_push(struct vt_stacks *s, uint32_t node, uint32_t place)
{
	const struct vt_stack_node key = {node, place};
	struct vt_stack_node *n = s->failed ? NULL : vt_hash_add(&s->nodes, &key, NULL);
	size_t cap = s->counts_cap;

	if (!n || s->nodes.count >= VT_STACK_NONE ||
	    !vt_array_grow(&s->counts, &s->counts_cap, s->nodes.count * s->nvalues,
			   sizeof(*s->counts))) {
		s->failed = true;
		return VT_STACK_NONE;
	}
	if (s->counts_cap > cap)
		memset(s->counts + cap, 0, (s->counts_cap - cap) * sizeof(*s->counts));
	return (uint32_t)vt_hash_index(&s->nodes, n);
}

static void add_saturated(uint64_t *to, uint64_t amount)
{
	*to = *to + amount < amount ? UINT64_MAX : *to + amount;
}

void vt_stacks_count(struct vt_stacks *s, uint32_t node, size_t value, uint64_t amount)
{
	if (node != VT_STACK_NONE && !s->failed)
		add_saturated(&s->counts[node * s->nvalues + value], amount);
}

bool vt_stacks_counted(const struct vt_stacks *s, size_t node)
{
	size_t v;

	for (v = 0; v < s->nvalues; v++)
		if (vt_stacks_get(s, node, v))
			return true;
	return false;
}

uint64_t vt_stacks_total(const struct vt_stacks *s, size_t value)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < s->nodes.count; i++)
		add_saturated(&sum, vt_stacks_get(s, i, value));
	return sum;
}

/* ---- paths ---- */

static bool add_lines(struct vt_stack_path *path, const struct vt_stack_place *p)
{
	size_t i, need = path->count + p->nlines;

	if (!vt_array_grow(&path->places, &path->places_cap, need,
			   sizeof(struct vt_stack_place *)) ||
	    !vt_array_grow(&path->lines, &path->lines_cap, need, sizeof(*path->lines)))
		return false;
	for (i = 0; i < p->nlines; i++) {
		path->places[path->count] = p;
		path->lines[path->count++] = p->line + (uint32_t)i;
	}
	return true;
}

static void reverse_path(struct vt_stack_path *path)
{
	size_t i, k;

	for (i = 0, k = path->count; i + 1 < k; i++) {
		const struct vt_stack_place *place = path->places[i];
		uint32_t line = path->lines[i];

		k--;
		path->places[i] = path->places[k];
		path->lines[i] = path->lines[k];
		path->places[k] = place;
		path->lines[k] = line;
	}
}

bool vt_stacks_path(const struct vt_stacks *s, uint32_t node, struct vt_stack_path *path)
{
	const struct vt_stack_node *n = vt_stacks_node(s, node);

	path->count = 0;
	for (; n->parent != VT_STACK_NONE; n = vt_stacks_node(s, n->parent))
		if (!add_lines(path, &s->places[n->place]))
			return false;
	reverse_path(path);
	return true;
}

void vt_stack_path_fini(struct vt_stack_path *path)
{
	free(path->places);
	free(path->lines);
}
