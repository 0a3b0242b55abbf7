/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/memory/objects.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"
#include "base/plural.h"
#include "listing/json.h"
#include "listing/memory/internal.h"
#include "profile/value_text.h"

/* ---- cells ---- */

static uint64_t count_accesses(const struct vt_memory_counts *c)
{
	return c->loads + c->stores;
}

struct column {
	const char *key;
	const char *heading;
	enum vt_format format;
	unsigned spare; /* vt_table_column_spare() */
};

/* Who asks for heap memory sees how much of it there is; the details give way first. */
enum spare {
	SPARE_SILENT = 1,
	SPARE_DEAD,
	SPARE_SIZE,
	SPARE_ZERO,
	SPARE_UNREAD,
	SPARE_WIDTH,
	SPARE_LIFE
};

static const struct column count_columns[] = {
	{"share", "accesses", VT_FORMAT_PERCENT, 0},
	{"loads", "loads", VT_FORMAT_NUMBER, 0},
	{"stores", "stores", VT_FORMAT_NUMBER, 0},
	{"loaded_bytes", NULL, VT_FORMAT_NUMBER, 0},
	{"stored_bytes", NULL, VT_FORMAT_NUMBER, 0},
	{"invariant", "invar", VT_FORMAT_PERCENT, 0},
	{"zero", "zero", VT_FORMAT_PERCENT, SPARE_ZERO},
	{"redundant", "redund", VT_FORMAT_PERCENT, 0},
	{"silent", "silent", VT_FORMAT_PERCENT, SPARE_SILENT},
	{"dead", "dead", VT_FORMAT_PERCENT, SPARE_DEAD},
};

#define NPLAIN 5 /* of count_columns, up to the values */

/* Beside misses, there is room for the others of count_columns in data alone. */
static const struct column miss_columns[] = {
	{"misses", "misses", VT_FORMAT_NUMBER, 0},
	{"miss_share", "of misses", VT_FORMAT_PERCENT, 0},
	{"miss_rate", "missed", VT_FORMAT_PERCENT, 0},
	{"waits", "waits", VT_FORMAT_NUMBER, SPARE_ZERO},
	{"miss_latency", "latency", VT_FORMAT_REAL, 0},
};

/* Shares of the misses. */
static const struct column miss_source_columns[] = {
	{"l2", "L2", VT_FORMAT_PERCENT, 0},
	{"l3", "L3", VT_FORMAT_PERCENT, 0},
	{"memory", "memory", VT_FORMAT_PERCENT, 0},
};

static const struct column unread_column = {"never_loaded", "unread", VT_FORMAT_NUMBER,
					    SPARE_UNREAD};

/* Of samples; those of sources are shares of the samples that tell it. */
static const struct column sample_columns[] = {
	{"share", "accesses", VT_FORMAT_PERCENT, 0},
	{"loads", "loads", VT_FORMAT_NUMBER, 0},
	{"stores", "stores", VT_FORMAT_NUMBER, 0},
	{"latency_share", "time", VT_FORMAT_PERCENT, 0},
	{"latency", "latency", VT_FORMAT_REAL, 0},
};

static const struct column source_columns[] = {
	{"l1", "L1", VT_FORMAT_PERCENT, 0},
	{"l2", "L2", VT_FORMAT_PERCENT, 0},
	{"l3", "L3", VT_FORMAT_PERCENT, 0},
	{"memory", "memory", VT_FORMAT_PERCENT, 0},
	{"other", "other", VT_FORMAT_PERCENT, SPARE_ZERO},
	{"tlb_miss", "TLB miss", VT_FORMAT_PERCENT, SPARE_DEAD},
};

static const struct column object_columns[] = {
	{"size", "size", VT_FORMAT_NUMBER, SPARE_SIZE},
	{"allocations", "allocs", VT_FORMAT_NUMBER, SPARE_SIZE},
	{"freed", NULL, VT_FORMAT_NUMBER, 0},
	{"bytes", NULL, VT_FORMAT_NUMBER, 0},
	{"peak", "peak", VT_FORMAT_NUMBER, SPARE_LIFE},
	{"lifetime", "life", VT_FORMAT_NUMBER, SPARE_LIFE},
	{"locations", "locs", VT_FORMAT_NUMBER, SPARE_LIFE},
	{"locations_left_out", NULL, VT_FORMAT_NUMBER, 0},
	{"accesses_left_out", NULL, VT_FORMAT_NUMBER, 0},
};

static const struct column location_columns[] = {
	{"offset", "offset", VT_FORMAT_SIGNED, 0},
	{"width", "width", VT_FORMAT_NUMBER, SPARE_WIDTH},
	{"invariant3", NULL, VT_FORMAT_PERCENT, 0},
	{"value", "value", VT_FORMAT_RIGHT_TEXT, 0},
};

/* Instead of a single value, which is the last of these, at the end of the row. */
static const struct column values_column = {"values", "values", VT_FORMAT_TEXT, 0};

#define NCOLUMNS(list) (sizeof(list) / sizeof((list)[0]))

static void add_columns(struct vt_table *t, const struct column *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		vt_table_column(t, list[i].key, list[i].heading, list[i].format);
		vt_table_column_spare(t, list[i].spare);
	}
}

static void put_empty(struct vt_table *t, size_t n)
{
	while (n--)
		vt_table_empty(t);
}

enum vti_memlist_told vti_memlist_told(const struct vt_memory *m)
{
	const struct vt_memory_totals *t = vt_memory_totals(m);

	return !t->insns	? VTI_MEMLIST_SAMPLES
	       : t->misses_told ? VTI_MEMLIST_MISSES
				: VTI_MEMLIST_CODE;
}

static void add_miss_columns(struct vt_table *t)
{
	size_t i;

	add_columns(t, count_columns, NPLAIN);
	for (i = NPLAIN; i < NCOLUMNS(count_columns); i++)
		vt_table_column(t, count_columns[i].key, NULL, count_columns[i].format);
	add_columns(t, miss_columns, NCOLUMNS(miss_columns));
}

void vti_memlist_columns(struct vt_table *t, enum vti_memlist_told told)
{
	if (told == VTI_MEMLIST_SAMPLES)
		add_columns(t, sample_columns, NCOLUMNS(sample_columns));
	else if (told == VTI_MEMLIST_MISSES)
		add_miss_columns(t);
	else
		add_columns(t, count_columns, NCOLUMNS(count_columns));
}

static void put_sampled(struct vt_table *t, const struct vti_memlist_numbers *n)
{
	if (n->latencies)
		vt_table_percent(t, n->latency, n->whole_latency);
	else
		vt_table_empty(t);
	if (n->latencies)
		vt_table_real(t, (double)n->latency / (double)n->latencies);
	else
		vt_table_empty(t);
}

static void put_misses(struct vt_table *t, const struct vti_memlist_numbers *n)
{
	const struct vt_memory_counts *c = n->counts;

	vt_table_number(t, c->misses);
	vt_table_percent(t, c->misses, n->whole_misses);
	vt_table_percent(t, c->misses, count_accesses(c));
	vt_table_number(t, c->waits);
	if (n->latencies)
		vt_table_real(t, (double)n->latency / (double)n->latencies);
	else
		vt_table_empty(t);
}

void vti_memlist_numbers(struct vt_table *t, const struct vti_memlist_numbers *n,
			 enum vti_memlist_told told)
{
	const struct vt_memory_counts *c = n->counts;

	vt_table_percent(t, count_accesses(c), n->whole);
	vt_table_number(t, c->loads);
	vt_table_number(t, c->stores);
	if (told == VTI_MEMLIST_SAMPLES) {
		put_sampled(t, n);
		return;
	}
	vt_table_number(t, c->loaded);
	vt_table_number(t, c->stored);
	vt_table_percent(t, n->top, n->valued);
	vt_table_percent(t, c->zero, c->loads);
	vt_table_percent(t, c->redundant, c->loads);
	vt_table_percent(t, c->silent, c->stores);
	vt_table_percent(t, c->dead, c->stored);
	if (told == VTI_MEMLIST_MISSES)
		put_misses(t, n);
}

static uint64_t count_from_memory(const uint64_t *sources)
{
	return sources[VT_SOURCE_DRAM] + sources[VT_SOURCE_DRAM_FAR] + sources[VT_SOURCE_PMEM] +
	       sources[VT_SOURCE_EXTENDED];
}

static void put_miss_sources(struct vt_table *t, const struct vt_memory_object *o)
{
	const uint64_t *n = o->sampled.sources;

	vt_table_percent(t, n[VT_SOURCE_L2], o->counts.misses);
	vt_table_percent(t, n[VT_SOURCE_L3], o->counts.misses);
	vt_table_percent(t, count_from_memory(n), o->counts.misses);
}

void vti_memlist_source_columns(struct vt_table *t)
{
	add_columns(t, source_columns, NCOLUMNS(source_columns));
}

void vti_memlist_sources(struct vt_table *t, const struct vt_memory_sampled *s)
{
	const uint64_t *n = s->sources;
	uint64_t told = 0, memory = count_from_memory(n);
	uint64_t l1 = n[VT_SOURCE_L1] + n[VT_SOURCE_FORWARD];
	unsigned i;

	for (i = VT_SOURCE_UNKNOWN + 1; i < VT_NSOURCES; i++)
		told += n[i];
	vt_table_percent(t, l1, told);
	vt_table_percent(t, n[VT_SOURCE_L2], told);
	vt_table_percent(t, n[VT_SOURCE_L3], told);
	vt_table_percent(t, memory, told);
	vt_table_percent(t, told - l1 - n[VT_SOURCE_L2] - n[VT_SOURCE_L3] - memory, told);
	vt_table_percent(t, s->tlb_misses, s->tlb_told);
}

static void put_object_facts(struct vt_table *t, const struct vt_memory_object *o)
{
	bool allocated = o->type == VT_OBJECT_HEAP || o->type == VT_OBJECT_MAPPED;

	if (o->size)
		vt_table_number(t, o->size);
	else
		vt_table_empty(t);
	if (allocated) {
		vt_table_number(t, o->instances);
		vt_table_number(t, o->freed);
		vt_table_number(t, o->bytes);
		vt_table_number(t, o->peak);
	} else {
		put_empty(t, 4);
	}
	if (o->freed)
		vt_table_number(t, o->lifetime / o->freed);
	else
		vt_table_empty(t);
	vt_table_number(t, o->locations);
	vt_table_number(t, o->left_out);
	vt_table_number(t, o->left_out_accesses);
}

/* Those of vti_memlist_columns(), and those of sources, which objects have alone. */
static size_t count_number_columns(enum vti_memlist_told told)
{
	return told == VTI_MEMLIST_SAMPLES  ? NCOLUMNS(sample_columns)
	       : told == VTI_MEMLIST_MISSES ? NCOLUMNS(count_columns) + NCOLUMNS(miss_columns)
					    : NCOLUMNS(count_columns);
}

static size_t count_source_columns(enum vti_memlist_told told)
{
	return told == VTI_MEMLIST_SAMPLES  ? NCOLUMNS(source_columns)
	       : told == VTI_MEMLIST_MISSES ? NCOLUMNS(miss_source_columns)
					    : 0;
}

/* ---- rows ---- */

struct list {
	struct vt_table *table;
	struct vt_memory *memory;
	struct vt_images *images;
	const struct vt_memlist_options *o;
	struct vt_buf text;
	struct vt_hot hot;
	uint64_t whole; /* accesses of all */
	enum vti_memlist_told told;
};

/* For people, a layout has no room for them. */
static bool has_object_columns(const struct vt_memlist_options *o)
{
	return o->rows == VT_MEMLIST_OBJECTS || (o->rows == VT_MEMLIST_LAYOUT && !o->people);
}

bool vt_memlist_wants(const struct vt_memlist_options *o, struct vt_images *images,
		      const struct vt_memory_object *object)
{
	struct vt_buf name = VT_BUF_INIT;
	bool wanted = o->types >> object->type & 1 && count_accesses(&object->counts);

	if (!wanted || !o->pattern)
		return wanted;
	wanted = vt_pattern_matches(o->pattern, vti_memlist_name(&name, images, object));
	vt_buf_free(&name);
	return wanted;
}

static bool is_listed(struct list *l, const struct vt_memory_object *o)
{
	return vt_memlist_wants(l->o, l->images, o);
}

/* The image of a variable, section or procedure, or of the innermost caller of an allocator. */
static void put_object_image(struct list *l, const struct vt_memory_object *o)
{
	const struct vt_image *image =
		o->nplaces ? vt_images_get(l->images, o->places[0].image) : NULL;

	if (image)
		vt_table_str(l->table, image->name);
	else
		vt_table_empty(l->table);
}

/* Its number, type, image and name. */
#define NAME_COLUMNS 4

static void put_name(struct list *l, size_t number, const struct vt_memory_object *o)
{
	vt_table_number(l->table, number + 1);
	vt_table_str(l->table, vt_object_type_name(o->type));
	put_object_image(l, o);
	vt_table_str(l->table, vti_memlist_name(&l->text, l->images, o));
}

static void put_object(struct list *l, size_t number, const struct vt_memory_object *o)
{
	bool layout = l->o->rows == VT_MEMLIST_LAYOUT;
	const struct vti_memlist_numbers n = {
		.counts = &o->counts,
		.whole = l->whole,
		.whole_misses = vt_memory_totals(l->memory)->counts.misses,
		.top = o->top_loads,
		.valued = o->valued_loads,
		.latency = o->sampled.latency,
		.latencies = o->sampled.latencies,
		.whole_latency = vt_memory_totals(l->memory)->sampled.latency,
	};

	vt_table_row(l->table, layout ? VT_STYLE_HEADING : VT_STYLE_PLAIN);
	vti_memlist_numbers(l->table, &n, l->told);
	if (l->told == VTI_MEMLIST_SAMPLES)
		vti_memlist_sources(l->table, &o->sampled);
	else if (l->told == VTI_MEMLIST_MISSES)
		put_miss_sources(l->table, o);
	if (l->told != VTI_MEMLIST_SAMPLES)
		vt_table_number(l->table, o->unread);
	if (has_object_columns(l->o))
		put_object_facts(l->table, o);
	if (layout)
		put_empty(l->table, NCOLUMNS(location_columns));
	put_name(l, number, o);
}

/*
 * The most frequent values, and how many loads had the first of them, and the first three, of those
 * whose value is known.
 */
static int read_top(struct list *l, const struct vt_memory_location *p,
		    struct vti_memlist_numbers *n, uint64_t *top3, struct vt_error *err)
{
	*top3 = 0;
	if (!p->values && !p->known)
		return 0;
	if (vt_memory_values(l->memory, p, &l->hot, err) < 0)
		return -(int)err->code;
	n->valued = l->hot.profiled;
	n->top = vt_memory_top_loads(p, &l->hot, 1);
	*top3 = vt_memory_top_loads(p, &l->hot, 3);
	return 0;
}

static void put_top_value(struct list *l, const struct vt_memory_location *p, uint64_t top)
{
	if (top)
		vti_memlist_value(l->table, &l->text, top == p->counts.zero ? 0 : l->hot.values[0],
				  p->size, l->o->people);
	else
		vt_table_empty(l->table);
}

/* Appends a value with its share of `valued` loads; false if that is below the cutoff. */
static bool put_shown_value(struct list *l, uint64_t value, double count, uint64_t valued,
			    unsigned size)
{
	const struct vt_number_type type = {
		.number = VT_NUMBER_UNSIGNED, .size = (uint8_t)size, .elements = 1};
	double percent = 100 * count / (double)valued;

	if (percent < l->o->cutoff)
		return false;
	vt_buf_printf(&l->text, "%s", l->text.size ? ", " : "");
	vt_value_text(&l->text, value, size, type, l->o->style);
	vt_buf_printf(&l->text, " %.1f%%", percent < 100 ? percent : 100);
	return true;
}

/* "0 90.9%, 5 1.2%": those that are shown, with their shares of the loads. */
static void put_shown_values(struct list *l, const struct vt_memory_location *p, uint64_t top,
			     uint64_t valued)
{
	const struct vt_hot *h = &l->hot;
	bool zero = top && top == p->counts.zero; /* zeros are counted one by one */
	uint64_t shown = 0;
	uint32_t i;

	l->text.size = 0;
	if (zero && shown < l->o->show)
		shown += put_shown_value(l, 0, (double)top, valued, p->size);
	for (i = 0; valued && i < h->nvalues && shown < l->o->show; i++) {
		double count = h->values[i] ? vt_hot_estimate(h, i) : (double)p->counts.zero;

		if (zero && !h->values[i])
			continue;
		if (!put_shown_value(l, h->values[i], count, valued, p->size))
			break;
		shown++;
	}
	if (shown)
		vt_table_str(l->table, vt_buf_str(&l->text));
	else
		vt_table_empty(l->table);
}

static int put_location(struct list *l, const struct vt_memory_location *p, struct vt_error *err)
{
	const struct vt_memory_object *o = vt_memory_object(l->memory, p->object);
	struct vti_memlist_numbers n = {
		.counts = &p->counts,
		.whole = l->whole,
		.whole_misses = vt_memory_totals(l->memory)->counts.misses,
		.latency = p->latency,
		.latencies = p->latencies,
		.whole_latency = vt_memory_totals(l->memory)->sampled.latency,
	};
	uint64_t top3;

	if (read_top(l, p, &n, &top3, err) < 0)
		return -(int)err->code;
	vt_table_row(l->table, VT_STYLE_PLAIN);
	vti_memlist_numbers(l->table, &n, l->told);
	if (l->o->rows == VT_MEMLIST_LAYOUT)
		put_empty(l->table, count_source_columns(l->told));
	if (l->told != VTI_MEMLIST_SAMPLES)
		vt_table_number(l->table,
				(unsigned)__builtin_popcount(p->written & (uint8_t)~p->read));
	if (l->o->rows == VT_MEMLIST_LAYOUT && has_object_columns(l->o))
		put_empty(l->table, NCOLUMNS(object_columns));
	vt_table_signed(l->table, p->offset);
	vt_table_number(l->table, p->size);
	vt_table_percent(l->table, top3, n.valued);
	if (!l->o->style)
		put_top_value(l, p, n.top);
	if (l->o->rows == VT_MEMLIST_LAYOUT && l->o->people) {
		put_empty(l->table, NAME_COLUMNS);
		return 0;
	}
	put_name(l, p->object, o);
	if (l->o->style)
		put_shown_values(l, p, n.top, n.valued);
	return 0;
}

/* ---- lists ---- */

static int64_t list_objects(struct list *l)
{
	int64_t left_out = 0;
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < vt_memory_nobjects(l->memory); i++) {
		const struct vt_memory_object *o = vt_memory_object(l->memory, i);

		if (!is_listed(l, o))
			continue;
		if (l->o->top && n >= l->o->top) {
			left_out++;
			continue;
		}
		put_object(l, i, o);
		n++;
	}
	return left_out;
}

/* The locations of one object lie side by side: `at` is the first one's number. */
static int put_layout(struct list *l, size_t object, size_t at, size_t end, struct vt_error *err)
{
	size_t i, n = end - at;

	if (l->o->each && n > l->o->each)
		n = l->o->each;
	for (i = at; i < at + n; i++)
		if (put_location(l, vt_memory_location(l->memory, i), err) < 0)
			return -(int)err->code;
	if (n == end - at || !l->o->people)
		return 0;
	vt_table_row(l->table, VT_STYLE_FAINT);
	put_empty(l->table, count_number_columns(l->told) + count_source_columns(l->told) +
				    (l->told != VTI_MEMLIST_SAMPLES) + NCOLUMNS(location_columns));
	vt_table_number(l->table, object + 1);
	put_empty(l->table, NAME_COLUMNS - 2);
	vt_table_printf(l->table, "(%zu more location%s)", end - at - n, vt_plural(end - at - n));
	return 0;
}

static int64_t list_layout(struct list *l, struct vt_error *err)
{
	int64_t left_out = 0;
	size_t i, at = 0, end;
	uint64_t n = 0;

	for (i = 0; i < vt_memory_nobjects(l->memory); i++, at = end) {
		const struct vt_memory_object *o = vt_memory_object(l->memory, i);

		for (end = at; end < vt_memory_nlocations(l->memory) &&
			       vt_memory_location(l->memory, end)->object == i;
		     end++)
			;
		if (!is_listed(l, o))
			continue;
		if (l->o->top && n >= l->o->top) {
			left_out++;
			continue;
		}
		put_object(l, i, o);
		if (put_layout(l, i, at, end, err) < 0)
			return -(int64_t)err->code;
		n++;
	}
	return left_out;
}

static int64_t list_locations(struct list *l, struct vt_error *err)
{
	size_t all = vt_memory_nlocations(l->memory), n = 0, i, shown, object = SIZE_MAX;
	const struct vt_memory_location **list =
		malloc((all + 1) * sizeof(struct vt_memory_location *));
	bool listed = false;
	int code = 0;

	if (!list)
		return vt_error_nomem(err);
	for (i = 0; i < all; i++) {
		const struct vt_memory_location *p = vt_memory_location(l->memory, i);

		if (p->object != object) {
			object = p->object;
			listed = is_listed(l, vt_memory_object(l->memory, object));
		}
		if (listed)
			list[n++] = p;
	}
	vt_memory_sort_locations(list, n);
	shown = l->o->top && l->o->top < n ? (size_t)l->o->top : n;
	for (i = 0; i < shown && code == 0; i++)
		code = put_location(l, list[i], err);
	free(list);
	return code < 0 ? code : (int64_t)(n - shown);
}

static void make_columns(struct vt_table *t, const struct vt_memlist_options *o,
			 enum vti_memlist_told told)
{
	bool sources = o->rows != VT_MEMLIST_LOCATIONS;

	vti_memlist_columns(t, told);
	if (told == VTI_MEMLIST_SAMPLES && sources)
		add_columns(t, source_columns, NCOLUMNS(source_columns));
	if (told == VTI_MEMLIST_MISSES && sources)
		add_columns(t, miss_source_columns, NCOLUMNS(miss_source_columns));
	if (told != VTI_MEMLIST_SAMPLES)
		add_columns(t, &unread_column, 1);
	if (has_object_columns(o))
		add_columns(t, object_columns, NCOLUMNS(object_columns));
	if (o->rows != VT_MEMLIST_OBJECTS)
		add_columns(t, location_columns, NCOLUMNS(location_columns) - (o->style ? 1 : 0));
	vt_table_column(t, "object", NULL, VT_FORMAT_NUMBER);
	vt_table_column(t, "type", "type", VT_FORMAT_TEXT);
	vt_table_column(t, "image", NULL, VT_FORMAT_TEXT);
	vt_table_column(t, "name", "object", VT_FORMAT_NAME);
	if (o->style)
		add_columns(t, &values_column, 1);
}

int64_t vt_memlist_table(struct vt_table *t, struct vt_memory *m, struct vt_images *images,
			 const struct vt_memlist_options *o, struct vt_error *err)
{
	struct list l = {.table = t,
			 .memory = m,
			 .images = images,
			 .o = o,
			 .text = VT_BUF_INIT,
			 .whole = count_accesses(&vt_memory_totals(m)->counts),
			 .told = vti_memlist_told(m)};
	int64_t left_out;

	make_columns(t, o, l.told);
	left_out = o->rows == VT_MEMLIST_OBJECTS     ? list_objects(&l)
		   : o->rows == VT_MEMLIST_LOCATIONS ? list_locations(&l, err)
						     : list_layout(&l, err);
	if (left_out >= 0 && l.text.failed)
		left_out = vt_error_nomem(err);
	vt_buf_free(&l.text);
	vt_hot_fini(&l.hot);
	return left_out;
}

void vt_memlist_header(const struct vt_memory *m, struct vt_output *out)
{
	const struct vt_memory_totals *t = vt_memory_totals(m);
	const struct vt_memory_counts *c = &t->counts;

	vt_output_printf(out, "%" PRIu64 " load%s and %" PRIu64 " store%s", c->loads,
			 vt_plural(c->loads), c->stores, vt_plural(c->stores));
	if (!t->insns) {
		vt_output_printf(out, " with an address, of %" PRIu64 " sample%s\n\n", t->samples,
				 vt_plural(t->samples));
		return;
	}
	vt_output_printf(out, " of %" PRIu64 " instruction%s, ", t->insns, vt_plural(t->insns));
	if (t->misses_told)
		vt_output_printf(out, "%" PRIu64 " miss%s of the data cache, ", c->misses,
				 c->misses == 1 ? "" : "es");
	vt_output_printf(out, "%" PRIu64 " allocation%s\n\n", t->heap_events,
			 t->heap_events == 1 ? " or free" : "s and frees");
}

void vti_memlist_set_counts(json_t *o, const struct vt_memory_totals *t)
{
	const struct vt_memory_counts *c = &t->counts;
	const struct {
		const char *name;
		uint64_t n;
	} of_values[] = {{"zero_loads", c->zero},
			 {"redundant_loads", c->redundant},
			 {"silent_stores", c->silent},
			 {"dead_bytes", c->dead}};
	size_t i;

	json_object_set_new(o, "loads", vt_json_u64(c->loads));
	json_object_set_new(o, "stores", vt_json_u64(c->stores));
	json_object_set_new(o, "loaded_bytes", vt_json_u64(c->loaded));
	json_object_set_new(o, "stored_bytes", vt_json_u64(c->stored));
	/* Samples tell no values. */
	for (i = 0; i < sizeof(of_values) / sizeof(of_values[0]); i++)
		json_object_set_new(o, of_values[i].name,
				    t->insns ? vt_json_u64(of_values[i].n) : json_null());
}

void vt_memlist_json(const struct vt_memory *m, const struct vt_table *t, int64_t left_out,
		     const struct vt_losses *losses, struct vt_output *out)
{
	const struct vt_memory_totals *n = vt_memory_totals(m);
	json_t *doc = vt_json_doc("vmem/1");

	json_object_set_new(doc, "samples", vt_json_u64(n->samples));
	json_object_set_new(doc, "instructions", vt_json_u64(n->insns));
	vti_memlist_set_counts(doc, n);
	if (n->misses_told) {
		json_object_set_new(doc, "misses", vt_json_u64(n->counts.misses));
		json_object_set_new(doc, "waits", vt_json_u64(n->counts.waits));
		json_object_set_new(doc, "misses_unplaced", vt_json_u64(n->misses_unplaced));
	}
	json_object_set_new(doc, "unread_at_end_bytes",
			    n->insns ? vt_json_u64(n->unread) : json_null());
	json_object_set_new(doc, "accesses_without_address", vt_json_u64(n->incomplete));
	json_object_set_new(doc, "heap_events", vt_json_u64(n->heap_events));
	json_object_set_new(doc, "unknown_frees", vt_json_u64(n->unknown_frees));
	json_object_set_new(doc, "overlaps", vt_json_u64(n->overlaps));
	json_object_set_new(doc, "objects_left_out", vt_json_u64(n->objects_left_out));
	json_object_set_new(doc, "locations_left_out", vt_json_u64(n->left_out));
	json_object_set_new(doc, "accesses_left_out", vt_json_u64(n->left_out_accesses));
	json_object_set_new(doc, "forgotten", vt_json_u64(n->forgotten));
	json_object_set_new(doc, "bad_records", vt_json_u64(n->damaged));
	vt_json_losses(doc, losses);
	json_object_set_new(doc, "rows", vt_json_table(t));
	json_object_set_new(doc, "rows_left_out", json_integer(left_out));
	vt_json_write(out, doc, true);
}
