/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/memory/loads.h"

#include <inttypes.h>

#include "listing/code/source.h"
#include "listing/json.h"
#include "listing/memory/internal.h"

struct loads {
	struct vt_table *table;
	const struct vt_memory *memory;
	struct vt_images *images;
	const struct vt_memlist_options *o;
	struct vt_buf text;
};

/* People see these types; for them, the others are one column. */
static const enum vt_object_type main_types[] = {VT_OBJECT_GLOBAL, VT_OBJECT_HEAP, VT_OBJECT_STACK};

#define NMAIN (sizeof(main_types) / sizeof(main_types[0]))

/* ---- rows ---- */

static void add_type_columns(const struct loads *l)
{
	unsigned i;

	for (i = 0; !l->o->people && i < VT_NOBJECTTYPES; i++)
		vt_table_column_of(l->table, "types", vt_object_type_name(i), "share",
				   vt_object_type_name(i), NULL, VT_FORMAT_PERCENT);
	for (i = 0; l->o->people && i < NMAIN; i++)
		vt_table_column(l->table, NULL, vt_object_type_name(main_types[i]),
				VT_FORMAT_PERCENT);
	if (l->o->people)
		vt_table_column(l->table, NULL, "other", VT_FORMAT_PERCENT);
}

static void add_columns(const struct loads *l)
{
	const enum vt_format number = l->o->people ? VT_FORMAT_RIGHT_TEXT : VT_FORMAT_NUMBER;
	struct vt_table *t = l->table;

	vt_table_column(t, "share", "loads", VT_FORMAT_PERCENT);
	vt_table_column(t, "loads", "executed", VT_FORMAT_NUMBER);
	vt_table_column(t, "addresses", "addresses", number);
	vt_table_column(t, "locations", "locations", number);
	vt_table_column(t, "addresses_at_least", NULL, VT_FORMAT_NUMBER);
	vt_table_column(t, "locations_at_least", NULL, VT_FORMAT_NUMBER);
	vt_table_column(t, "invariant", "invar", VT_FORMAT_PERCENT);
	vt_table_column(t, "zero", "zero", VT_FORMAT_PERCENT);
	vt_table_column(t, "lvp", "LVP", VT_FORMAT_PERCENT);
	vt_table_column(t, "redundant", "redundant", VT_FORMAT_PERCENT);
	vt_table_column(t, "repeated", "repeated", VT_FORMAT_PERCENT);
	add_type_columns(l);
	vt_table_column(t, "width", "width", VT_FORMAT_NUMBER);
	vt_table_column(t, "value", "value", VT_FORMAT_RIGHT_TEXT);
	vt_table_column(t, "address", "at", VT_FORMAT_HEX);
	vt_table_column(t, "procedure", "procedure", VT_FORMAT_NAME);
	vt_table_column(t, "line", "line", VT_FORMAT_TEXT);
	vt_table_column(t, "image", "image", VT_FORMAT_TEXT);
}

static void put_distinct(const struct loads *l, const struct vt_memory_distinct *d)
{
	if (l->o->people)
		vt_table_printf(l->table, "%s%" PRIu64, d->at_least ? ">=" : "", d->count);
	else
		vt_table_number(l->table, d->count);
}

static void put_types(const struct loads *l, const struct vt_memory_load *n)
{
	uint64_t other = n->loads;
	unsigned i;

	for (i = 0; !l->o->people && i < VT_NOBJECTTYPES; i++)
		vt_table_percent(l->table, n->types[i], n->loads);
	for (i = 0; l->o->people && i < NMAIN; i++) {
		vt_table_percent(l->table, n->types[main_types[i]], n->loads);
		other -= n->types[main_types[i]];
	}
	if (l->o->people)
		vt_table_percent(l->table, other, n->loads);
}

/* A wide value is not known but by its hash. */
static void put_value(struct loads *l, const struct vt_memory_load *n)
{
	if (!n->top || (n->size > 8 && n->value))
		vt_table_empty(l->table);
	else
		vti_memlist_value(l->table, &l->text, n->value, n->size, l->o->people);
}

static void put_place(const struct loads *l, const struct vt_memory_load *n)
{
	const struct vt_image *image = vt_images_get(l->images, n->image);
	struct vt_location loc = {.vaddr = n->offset};
	struct vt_table *t = l->table;
	enum vt_unknown why = VT_UNKNOWN_NO_MAP;

	if (image)
		why = vt_images_symbol(l->images, n->image, 0, n->offset, &loc);
	vt_table_number(t, loc.vaddr);
	if (why == VT_KNOWN)
		vt_table_str(t, vt_images_display(l->images, n->image, 0, loc.symbol));
	else
		vt_table_printf(t, "[%s]", vt_unknown_text(why));
	vt_source_cell(t, image ? vt_images_lines(l->images, n->image) : NULL, loc.vaddr);
	vt_table_str(t, image ? image->name : "");
}

static void put_load(struct loads *l, const struct vt_memory_load *n)
{
	const struct vt_memory_distinct *addresses = &n->distinct[VT_DISTINCT_ADDRESSES];
	const struct vt_memory_distinct *locations = &n->distinct[VT_DISTINCT_LOCATIONS];
	struct vt_table *t = l->table;

	vt_table_row(t, VT_STYLE_PLAIN);
	vt_table_percent(t, n->loads, vt_memory_totals(l->memory)->counts.loads);
	vt_table_number(t, n->loads);
	put_distinct(l, addresses);
	put_distinct(l, locations);
	vt_table_number(t, addresses->at_least);
	vt_table_number(t, locations->at_least);
	vt_table_percent(t, n->top, n->loads);
	vt_table_percent(t, n->zero, n->loads);
	vt_table_percent(t, n->same, n->loads);
	vt_table_percent(t, n->redundant, n->loads);
	vt_table_percent(t, n->repeated, n->followed);
	put_types(l, n);
	vt_table_number(t, n->size);
	put_value(l, n);
	put_place(l, n);
}

static bool is_load_listed(const struct loads *l, const struct vt_memory_load *n)
{
	unsigned i;

	for (i = 0; i < VT_NOBJECTTYPES; i++)
		if (n->types[i] && l->o->types >> i & 1)
			return true;
	return false;
}

int64_t vt_memlist_loads(struct vt_table *t, struct vt_memory *m, struct vt_images *images,
			 const struct vt_memlist_options *o, struct vt_error *err)
{
	struct loads l = {.table = t, .memory = m, .images = images, .o = o, .text = VT_BUF_INIT};
	int64_t left_out = 0;
	uint64_t listed = 0;
	size_t i;
	bool failed;

	add_columns(&l);
	for (i = 0; i < vt_memory_nloads(m); i++) {
		const struct vt_memory_load *n = vt_memory_load(m, i);

		if (!is_load_listed(&l, n))
			continue;
		if (o->top && listed >= o->top) {
			left_out++;
			continue;
		}
		put_load(&l, n);
		listed++;
	}
	failed = l.text.failed;
	vt_buf_free(&l.text);
	return failed ? vt_error_nomem(err) : left_out;
}

/* ---- totals ---- */

static void sum_types(const struct vt_memory *m, uint64_t sums[VT_NOBJECTTYPES])
{
	size_t i;
	unsigned k;

	for (k = 0; k < VT_NOBJECTTYPES; k++)
		sums[k] = 0;
	for (i = 0; i < vt_memory_nloads(m); i++)
		for (k = 0; k < VT_NOBJECTTYPES; k++)
			sums[k] += vt_memory_load(m, i)->types[k];
}

static const char *const distinct_names[VT_NDISTINCT] = {"addresses", "locations"};

/* The heading of a class: "1", "2-10", ">1000000". */
static void add_class_column(struct vt_table *t, const struct vt_load_class *c)
{
	char heading[48];

	if (c->to == UINT64_MAX)
		snprintf(heading, sizeof(heading), ">%" PRIu64, c->from - 1);
	else if (c->from == c->to)
		snprintf(heading, sizeof(heading), "%" PRIu64, c->to);
	else
		snprintf(heading, sizeof(heading), "%" PRIu64 "-%" PRIu64, c->from, c->to);
	vt_table_column(t, NULL, heading, VT_FORMAT_RIGHT_TEXT);
}

static void put_classes(struct vt_table *t, const struct vt_memory *m, unsigned distinct)
{
	const uint64_t loads = vt_memory_totals(m)->counts.loads;
	struct vt_load_class classes[VT_LOAD_CLASSES];
	unsigned k;

	vt_memory_load_classes(m, distinct, classes);
	if (!distinct) {
		vt_table_column(t, NULL, "static loads with", VT_FORMAT_TEXT);
		for (k = 0; k < VT_LOAD_CLASSES; k++)
			add_class_column(t, &classes[k]);
	}
	vt_table_row(t, VT_STYLE_PLAIN);
	vt_table_str(t, distinct_names[distinct]);
	for (k = 0; k < VT_LOAD_CLASSES; k++)
		vt_table_printf(t, "%" PRIu64 " (%.1f%%)", classes[k].static_loads,
				loads ? 100 * (double)classes[k].loads / (double)loads : 0);
}

void vt_memlist_loads_header(const struct vt_memory *m, struct vt_output *out)
{
	const struct vt_memory_totals *totals = vt_memory_totals(m);
	struct vt_error ignored = VT_ERROR_INIT;
	struct vt_table *t = vt_table_new();
	uint64_t sums[VT_NOBJECTTYPES];
	const char *before = ", from";
	unsigned k;

	vt_output_printf(out, "%" PRIu64 " loads by %zu static loads", totals->counts.loads,
			 vt_memory_nloads(m));
	sum_types(m, sums);
	for (k = 0; k < VT_NOBJECTTYPES; k++) {
		if (!sums[k])
			continue;
		vt_output_printf(out, "%s %s %.2f%%", before, vt_object_type_name(k),
				 100 * (double)sums[k] / (double)totals->counts.loads);
		before = ",";
	}
	vt_output_printf(out, "\n\n");
	if (!t)
		return;
	for (k = 0; k < VT_NDISTINCT; k++)
		put_classes(t, m, k);
	vt_table_print(t, out, VT_TABLE_TEXT, false, &ignored);
	vt_output_printf(out, "\n");
	vt_table_free(t);
}

static json_t *classes_json(const struct vt_memory *m, unsigned distinct)
{
	struct vt_load_class classes[VT_LOAD_CLASSES];
	json_t *list = json_array();
	unsigned k;

	vt_memory_load_classes(m, distinct, classes);
	for (k = 0; k < VT_LOAD_CLASSES; k++) {
		json_t *c = json_object();

		json_object_set_new(c, "from", vt_json_u64(classes[k].from));
		if (classes[k].to != UINT64_MAX)
			json_object_set_new(c, "to", vt_json_u64(classes[k].to));
		json_object_set_new(c, "static_loads", vt_json_u64(classes[k].static_loads));
		json_object_set_new(c, "loads", vt_json_u64(classes[k].loads));
		json_object_set_new(c, "at_least", vt_json_u64(classes[k].at_least));
		json_array_append_new(list, c);
	}
	return list;
}

void vt_memlist_loads_json(const struct vt_memory *m, const struct vt_table *t, int64_t left_out,
			   const struct vt_losses *losses, struct vt_output *out)
{
	const struct vt_memory_totals *totals = vt_memory_totals(m);
	json_t *doc = vt_json_doc("vmem-loads/1"), *types = json_object();
	uint64_t sums[VT_NOBJECTTYPES];
	unsigned k;

	json_object_set_new(doc, "instructions", vt_json_u64(totals->insns));
	json_object_set_new(doc, "loads", vt_json_u64(totals->counts.loads));
	json_object_set_new(doc, "static_loads", vt_json_u64(vt_memory_nloads(m)));
	json_object_set_new(doc, "loads_left_out", vt_json_u64(totals->loads_left_out));
	sum_types(m, sums);
	for (k = 0; k < VT_NOBJECTTYPES; k++)
		json_object_set_new(types, vt_object_type_name(k), vt_json_u64(sums[k]));
	json_object_set_new(doc, "types", types);
	for (k = 0; k < VT_NDISTINCT; k++)
		json_object_set_new(doc, distinct_names[k], classes_json(m, k));
	vt_json_losses(doc, losses);
	json_object_set_new(doc, "rows", vt_json_table(t));
	json_object_set_new(doc, "rows_left_out", json_integer(left_out));
	vt_json_write(out, doc, true);
}
