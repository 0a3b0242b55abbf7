/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/memory/types.h"

#include <inttypes.h>
#include <string.h>

#include "base/pattern.h"
#include "listing/json.h"
#include "listing/memory/internal.h"

struct types {
	struct vt_table *table;
	const struct vt_memory *memory;
	const struct vt_typed *typed;
	const struct vt_memlist_options *o;
	enum vti_memlist_told told;
};

static bool is_layout(const struct types *l)
{
	return l->o->rows == VT_MEMLIST_LAYOUT;
}

static void add_columns(const struct types *l)
{
	vti_memlist_columns(l->table, l->told);
	if (l->told == VTI_MEMLIST_SAMPLES)
		vti_memlist_source_columns(l->table);
	vt_table_column(l->table, "objects", "objects", VT_FORMAT_NUMBER);
	vt_table_column_spare(l->table, 9);
	vt_table_column(l->table, "size", "size", VT_FORMAT_NUMBER);
	if (is_layout(l)) {
		vt_table_column(l->table, "offset", "offset", VT_FORMAT_NUMBER);
		vt_table_column(l->table, "width", "width", VT_FORMAT_NUMBER);
		vt_table_column_spare(l->table, 5);
	}
	vt_table_column(l->table, "known", NULL, VT_FORMAT_NUMBER);
	vt_table_column(l->table, "type", "type", VT_FORMAT_NAME);
	if (is_layout(l)) {
		vt_table_column(l->table, "member", l->o->people ? NULL : "member", VT_FORMAT_TEXT);
		vt_table_column(l->table, "member_type", "member type", VT_FORMAT_NAME);
	}
}

static void put_sums(const struct types *l, const struct vt_typed_sums *s)
{
	const struct vt_memory_totals *t = vt_memory_totals(l->memory);
	const struct vti_memlist_numbers n = {
		.counts = &s->counts,
		.whole = t->counts.loads + t->counts.stores,
		.whole_misses = t->counts.misses,
		.top = s->top_loads,
		.valued = s->valued_loads,
		.latency = s->sampled.latency,
		.latencies = s->sampled.latencies,
		.whole_latency = t->sampled.latency,
	};

	vti_memlist_numbers(l->table, &n, l->told);
	if (l->told == VTI_MEMLIST_SAMPLES)
		vti_memlist_sources(l->table, &s->sampled);
}

static void put_type_name(const struct types *l, const struct vt_typed_type *type)
{
	vt_table_number(l->table, type->why == VT_TYPED);
	if (type->why == VT_TYPED)
		vt_table_str(l->table, type->name);
	else
		vt_table_printf(l->table, "(%s: %s)", vt_object_type_name(type->of), type->name);
}

static void put_type(const struct types *l, const struct vt_typed_type *type)
{
	vt_table_row(l->table, is_layout(l) ? VT_STYLE_HEADING : VT_STYLE_PLAIN);
	put_sums(l, &type->sums);
	vt_table_number(l->table, type->sums.objects);
	if (type->size)
		vt_table_number(l->table, type->size);
	else
		vt_table_empty(l->table);
	if (is_layout(l)) {
		vt_table_empty(l->table);
		vt_table_empty(l->table);
	}
	put_type_name(l, type);
}

static void put_member(const struct types *l, const struct vt_typed_type *type,
		       const struct vt_typed_member *m)
{
	vt_table_row(l->table, VT_STYLE_PLAIN);
	put_sums(l, &m->sums);
	vt_table_empty(l->table);
	vt_table_empty(l->table);
	vt_table_number(l->table, m->offset);
	vt_table_number(l->table, m->size);
	if (l->o->people) {
		vt_table_number(l->table, 1);
		vt_table_printf(l->table, "  %s", *m->path ? m->path : "(all of it)");
		vt_table_empty(l->table);
	} else {
		put_type_name(l, type);
		vt_table_str(l->table, m->path);
	}
	vt_table_str(l->table, m->type ? m->type : "");
}

static void put_members(const struct types *l, const struct vt_typed_type *type)
{
	size_t i, n = type->nmembers;

	if (l->o->each && n > l->o->each)
		n = l->o->each;
	for (i = 0; i < n; i++)
		put_member(l, type, vt_typed_member(l->typed, type->first + i));
}

static bool is_type_listed(const struct types *l, const struct vt_typed_type *type)
{
	return !l->o->pattern ||
	       (type->why == VT_TYPED && vt_pattern_matches(l->o->pattern, type->name));
}

static int64_t put_types(const struct types *l)
{
	int64_t left_out = 0;
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < vt_typed_count(l->typed); i++) {
		const struct vt_typed_type *type = vt_typed_at(l->typed, i);

		if (!is_type_listed(l, type))
			continue;
		if (l->o->top && n >= l->o->top) {
			left_out++;
			continue;
		}
		put_type(l, type);
		if (is_layout(l))
			put_members(l, type);
		n++;
	}
	return left_out;
}

int64_t vt_memlist_types(struct vt_table *t, struct vt_memory *m, struct vt_images *images,
			 const struct vt_memlist_options *o, struct vt_error *err)
{
	struct types l = {.table = t, .memory = m, .o = o, .told = vti_memlist_told(m)};
	struct vt_typed *typed = vt_typed_new(m, images, err);
	int64_t left_out;

	if (!typed)
		return -(int64_t)err->code;
	l.typed = typed;
	add_columns(&l);
	left_out = put_types(&l);
	vt_typed_free(typed);
	return left_out;
}

void vt_memlist_types_json(const struct vt_memory *m, const struct vt_table *t, int64_t left_out,
			   const struct vt_losses *losses, struct vt_output *out)
{
	json_t *doc = vt_json_doc("vmem-types/1");

	vti_memlist_set_counts(doc, vt_memory_totals(m));
	vt_json_losses(doc, losses);
	json_object_set_new(doc, "rows", vt_json_table(t));
	json_object_set_new(doc, "rows_left_out", json_integer(left_out));
	vt_json_write(out, doc, true);
}
