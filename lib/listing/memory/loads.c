/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/memory/loads.h"

#include <inttypes.h>

#include "base/plural.h"
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

/* ---- rows ---- */

static void add_type_columns(const struct loads *l)
{
	unsigned i;

	for (i = 0; !l->o->people && i < VT_NOBJECTTYPES; i++)
		vt_table_column_of(l->table, "types", vt_object_type_name(i), "share",
				   vt_object_type_name(i), NULL, VT_FORMAT_PERCENT);
	if (l->o->people)
		vt_table_column(l->table, NULL, "from", VT_FORMAT_TEXT);
}

/* Which columns a narrow terminal has no room for, the highest first. */
enum spare { SPARE_REDUNDANT = 1, SPARE_LOADS, SPARE_LVP, SPARE_ZERO, SPARE_REPEATED, SPARE_FRAME };

static void add_spare(struct vt_table *t, const char *key, const char *heading,
		      enum vt_format format, enum spare spare)
{
	vt_table_column(t, key, heading, format);
	vt_table_column_spare(t, spare);
}

static void add_columns(const struct loads *l)
{
	const enum vt_format number = l->o->people ? VT_FORMAT_RIGHT_TEXT : VT_FORMAT_NUMBER;
	struct vt_table *t = l->table;

	vt_table_column(t, "share", "loads", VT_FORMAT_PERCENT);
	add_spare(t, "loads", "executed", VT_FORMAT_NUMBER, SPARE_LOADS);
	vt_table_column(t, "addresses", "addrs", number);
	vt_table_column(t, "locations", "locs", number);
	vt_table_column(t, "addresses_at_least", NULL, VT_FORMAT_NUMBER);
	vt_table_column(t, "locations_at_least", NULL, VT_FORMAT_NUMBER);
	vt_table_column(t, "invariant", "invar", VT_FORMAT_PERCENT);
	add_spare(t, "zero", "zero", VT_FORMAT_PERCENT, SPARE_ZERO);
	add_spare(t, "lvp", "LVP", VT_FORMAT_PERCENT, SPARE_LVP);
	add_spare(t, "redundant", "redund", VT_FORMAT_PERCENT, SPARE_REDUNDANT);
	add_spare(t, "repeated", "repeated", VT_FORMAT_PERCENT, SPARE_REPEATED);
	add_type_columns(l);
	add_spare(t, "width", "width", VT_FORMAT_NUMBER, SPARE_FRAME);
	vt_table_column(t, "value", "value", VT_FORMAT_RIGHT_TEXT);
	vt_table_column(t, "address", "at", VT_FORMAT_HEX);
	vt_table_column(t, "procedure", "procedure", VT_FORMAT_NAME);
	vt_table_column(t, "line", "line", VT_FORMAT_PATH);
	add_spare(t, "image", "image", VT_FORMAT_PATH, SPARE_FRAME);
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
	unsigned i, most = 0;

	for (i = 0; i < VT_NOBJECTTYPES; i++) {
		if (!l->o->people)
			vt_table_percent(l->table, n->types[i], n->loads);
		if (n->types[i] > n->types[most])
			most = i;
	}
	if (!l->o->people)
		return;
	if (n->types[most] == n->loads)
		vt_table_str(l->table, vt_object_type_name(most));
	else
		vt_table_printf(l->table, "%s %" PRIu64 "%%", vt_object_type_name(most),
				100 * n->types[most] / n->loads);
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

/* A bound of a class: "100", "10k", "1M". */
static void put_bound(struct vt_buf *text, uint64_t n)
{
	const uint64_t unit = n < 10000 ? 1 : n < 1000000 ? 1000 : 1000000;

	vt_buf_printf(text, "%" PRIu64 "%s", n / unit, unit == 1 ? "" : unit == 1000 ? "k" : "M");
}

/* The heading of a class: "1", "2-10", "10k-100k" (more than 10,000), ">1M". */
static void add_class_column(struct vt_table *t, const struct vt_load_class *c)
{
	struct vt_buf heading = VT_BUF_INIT;

	if (c->to == UINT64_MAX)
		vt_buf_printf(&heading, ">");
	put_bound(&heading, c->from > 10000 ? c->from - 1 : c->from);
	if (c->to != UINT64_MAX && c->to != c->from) {
		vt_buf_printf(&heading, "-");
		put_bound(&heading, c->to);
	}
	vt_table_column(t, NULL, vt_buf_str(&heading), VT_FORMAT_RIGHT_TEXT);
	vt_buf_free(&heading);
}

/* Without the classes above the highest that a load is in. */
static void put_classes(struct vt_table *t, const struct vt_memory *m)
{
	const uint64_t loads = vt_memory_totals(m)->counts.loads;
	struct vt_load_class classes[VT_NDISTINCT][VT_LOAD_CLASSES];
	unsigned d, k, n = 0;

	for (d = 0; d < VT_NDISTINCT; d++) {
		vt_memory_load_classes(m, d, classes[d]);
		for (k = n; k < VT_LOAD_CLASSES; k++)
			if (classes[d][k].static_loads)
				n = k + 1;
	}
	vt_table_column(t, NULL, "static loads with", VT_FORMAT_TEXT);
	for (k = 0; k < n; k++)
		add_class_column(t, &classes[0][k]);
	for (d = 0; d < VT_NDISTINCT; d++) {
		vt_table_row(t, VT_STYLE_PLAIN);
		vt_table_str(t, distinct_names[d]);
		for (k = 0; k < n; k++)
			vt_table_printf(t, "%" PRIu64 " (%.1f%%)", classes[d][k].static_loads,
					loads ? 100 * (double)classes[d][k].loads / (double)loads
					      : 0);
	}
}

void vt_memlist_loads_header(const struct vt_memory *m, struct vt_output *out)
{
	const struct vt_memory_totals *totals = vt_memory_totals(m);
	struct vt_error ignored = VT_ERROR_INIT;
	struct vt_table *t = vt_table_new();
	uint64_t sums[VT_NOBJECTTYPES];
	const char *before = "from";
	unsigned k;

	vt_output_printf(out, "%" PRIu64 " load%s by %zu static load%s\n", totals->counts.loads,
			 vt_plural(totals->counts.loads), vt_memory_nloads(m),
			 vt_plural(vt_memory_nloads(m)));
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
	put_classes(t, m);
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
