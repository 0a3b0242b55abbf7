/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines of hot lists below their instructions. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "listing/code/internal.h"

/* ---- what a list is of ---- */

/* "load", "load.1" for its second 8 bytes, "arg rdi", "rax" for what is left there. */
static void put_list_name(struct vt_buf *out, const struct vt_hot *h,
			  const struct vt_plugin_names *plugins)
{
	const char *reg = vt_reg_name(h->key.reg, h->size ? h->size : 8);

	switch (h->key.what) {
	case VT_WHAT_LOAD_ADDRESS:
		vt_buf_printf(out, "load at");
		break;
	case VT_WHAT_STORE_ADDRESS:
		vt_buf_printf(out, "store at");
		break;
	case VT_WHAT_RESULT:
		vt_buf_printf(out, "%s", reg);
		break;
	case VT_WHAT_ARG:
	case VT_WHAT_OPERAND:
		vt_buf_printf(out, "%s %s", h->key.what == VT_WHAT_ARG ? "arg" : "operand", reg);
		break;
	case VT_WHAT_RETURN:
		vt_buf_printf(out, "caller");
		break;
	case VT_WHAT_MODULE:
		vt_escape_str(out, vt_plugin_name(plugins, h->key.reg));
		break;
	default:
		vt_buf_printf(out, "%s", vt_what_name(h->key.what));
		break;
	}
	if (h->key.lane || h->size > 8)
		vt_buf_printf(out, ".%" PRIu32, h->key.lane);
}

static unsigned list_value_size(const struct vt_hot *h)
{
	uint64_t before = 8 * (uint64_t)h->key.lane;

	return h->size > before && h->size - before < 8 ? (unsigned)(h->size - before) : 8;
}

/* What a plugin calls a value, unless another form is wanted; else the value itself. */
static void put_list_value(struct vt_buf *out, const struct vt_hot *h, uint64_t value,
			   struct vt_number_type number, const struct vt_plugin_names *plugins,
			   const struct vt_value_style *style)
{
	const char *label =
		plugins && h->key.what == VT_WHAT_MODULE && style->format == VT_VALUE_AUTO
			? vt_plugin_label(plugins, h->key.reg, value)
			: NULL;

	if (label)
		vt_escape_str(out, label);
	else
		vt_value_text(out, value, list_value_size(h), number, style);
}

void vt_list_value_text(const struct vt_list_row *row, uint64_t value,
			const struct vt_value_style *style, struct vt_buf *out)
{
	put_list_value(out, row->list, value, row->number, row->plugins, style);
}

/* What sort of number the values of a plugin are, by the format that it names. */
static struct vt_number_type plugin_number_type(const char *format, unsigned size)
{
	static const struct {
		const char *format;
		enum vt_number number;
	} numbers[] = {{"unsigned", VT_NUMBER_UNSIGNED},
		       {"signed", VT_NUMBER_SIGNED},
		       {"float", VT_NUMBER_FLOAT},
		       {"address", VT_NUMBER_ADDRESS}};
	struct vt_number_type type = {
		.number = VT_NUMBER_RAW, .size = (uint8_t)size, .elements = 1};
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (strcmp(format, numbers[i].format) == 0)
			type.number = numbers[i].number;
	type.may_point = type.number == VT_NUMBER_ADDRESS;
	return type;
}

/* A value's share of the profiled executions in percent; estimates may exceed them. */
static double value_percent(const struct vt_hot *h, uint32_t i)
{
	double percent = h->profiled ? 100 * vt_hot_estimate(h, i) / (double)h->profiled : 0;

	return percent < 100 ? percent : 100;
}

/* With fewer counts in a thinned list, a share is a guess: the deviation is 1/sqrt(10). */
#define FEW 10

bool vti_listing_is_guess(const struct vt_hot *h, uint32_t i)
{
	return h->scale > 1 && h->counts[i] < FEW;
}

/* The first of a list in five columns; nothing is rounded to 100. */
static void put_value_percent(struct vt_buf *out, const struct vt_hot *h, uint32_t i)
{
	double percent = value_percent(h, i);
	char text[16];

	if (vti_listing_is_guess(h, i))
		snprintf(text, sizeof(text), "~%.0f%%", percent);
	else if (percent >= 100)
		snprintf(text, sizeof(text), "100%%");
	else
		snprintf(text, sizeof(text), "%.1f%%", percent > 99.9 ? 99.9 : percent);
	vt_buf_printf(out, "%*s", i ? 0 : 5, text);
}

static const char *keep_top_values(struct vt_listing *l, const struct vt_hot *h,
				   struct vt_number_type number)
{
	const struct vt_list_values *v = l->values;
	struct vt_buf b = VT_BUF_INIT;
	double shown = 0;
	uint32_t i;

	for (i = 0; i < h->nvalues && i < v->show && value_percent(h, i) >= v->cutoff; i++) {
		vt_buf_printf(&b, i ? "  " : "");
		shown += value_percent(h, i);
		put_value_percent(&b, h, i);
		vt_buf_put_u8(&b, ' ');
		put_list_value(&b, h, h->values[i], number, vt_hotprofile_plugins(v->lists),
			       &v->style);
	}
	/* What is not shown: values of the list, and executions whose values it does not have. */
	if (i < h->nvalues || shown < 99.9)
		vt_buf_printf(&b, "  ...");
	return vti_listing_keep(l, &b);
}

/* ---- rows ---- */

static const char *keep_caller_name(struct vt_listing *l, const struct vt_hot *h)
{
	struct vt_buf b = VT_BUF_INIT;
	const struct vt_hot_image *image;

	if (!h->key.caller)
		return "";
	image = h->key.caller_image == VT_HOT_NO_IMAGE
			? NULL
			: vt_hotprofile_image(l->values->lists, h->key.caller_image);
	if (!image || !vt_place_name(&b, image->id, h->key.caller, l->images))
		vt_buf_printf(&b, "0x%" PRIx64, h->key.caller);
	return vti_listing_keep(l, &b);
}

static void put_list_row(struct vt_listing *l, const struct vti_point *point,
			 const struct vt_hot *h, const struct vt_facts *facts)
{
	struct vt_list_row *row;
	struct vt_buf b = VT_BUF_INIT;
	struct vt_number_type number =
		vt_facts_type(facts, (enum vt_what)h->key.what, h->key.reg, h->size);
	const struct vt_plugin_names *plugins = vt_hotprofile_plugins(l->values->lists);
	const char *what, *context, *values;

	if (h->key.what == VT_WHAT_MODULE)
		number = plugin_number_type(vt_plugin_format(plugins, h->key.reg),
					    list_value_size(h));
	put_list_name(&b, h, plugins);
	what = vti_listing_keep(l, &b);
	context = keep_caller_name(l, h);
	values = keep_top_values(l, h, number);
	row = vti_listing_row(l, VT_ROW_VALUES);
	row->address = point->vaddr;
	row->list = h;
	row->number = number;
	row->plugins = plugins;
	row->what = what;
	row->context = context;
	row->values = values;
	l->nlists++;
}

/* Lists of one kind of value that differ by caller only stand together. */
static bool is_same_list_kind(const struct vt_hot *a, const struct vt_hot *b)
{
	return a->key.what == b->key.what && a->key.reg == b->key.reg && a->key.lane == b->key.lane;
}

/* The busiest caller first; equal ones stay in the order of the value profile. */
static int compare_list_totals(const void *pa, const void *pb)
{
	const struct vt_hot *a = *(const struct vt_hot *const *)pa;
	const struct vt_hot *b = *(const struct vt_hot *const *)pb;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	if (a->key.caller_image != b->key.caller_image)
		return a->key.caller_image < b->key.caller_image ? -1 : 1;
	return a->key.caller < b->key.caller ? -1 : a->key.caller > b->key.caller;
}

static void put_rare_callers(struct vt_listing *l, const struct vti_point *point, size_t rare,
			     double percent)
{
	struct vt_buf b = VT_BUF_INIT;
	struct vt_list_row *row;
	const char *text;

	vt_buf_printf(&b, "... %zu more caller%s, %.1f%% of the executions", rare,
		      rare == 1 ? "" : "s", percent);
	text = vti_listing_keep(l, &b);
	row = vti_listing_row(l, VT_ROW_CALLERS);
	row->address = point->vaddr;
	row->values = text;
}

static void put_lists_of_kind(struct vt_listing *l, const struct vti_point *point, size_t first,
			      size_t n, const struct vt_facts *facts)
{
	const struct vt_hot **lists = calloc(n, sizeof(struct vt_hot *));
	double total = 0, rest = 0;
	size_t i, shown = 0;

	if (!lists) {
		l->failed = true;
		return;
	}
	for (i = 0; i < n; i++) {
		lists[i] = vt_hotprofile_at(l->values->lists, first + i);
		total += (double)lists[i]->total;
	}
	qsort(lists, n, sizeof(struct vt_hot *), compare_list_totals);
	for (; shown < n && !l->failed; shown++) {
		if (n > 1 && 100 * (double)lists[shown]->total < l->values->cutoff * total)
			break;
		put_list_row(l, point, lists[shown], facts);
	}
	for (i = shown; i < n; i++)
		rest += (double)lists[i]->total;
	if (shown < n && !l->failed)
		put_rare_callers(l, point, n - shown, total > 0 ? 100 * rest / total : 0);
	free(lists);
}

/*
 * What comes first at an instruction: that of the procedure which begins there, arguments in the
 * order of the ABI (System V, 3.2.3); then in the order of enum vt_what.
 */
static uint64_t list_rank(const struct vt_hot_key *key)
{
	static const uint8_t arguments[] = {VT_REG_DI, VT_REG_SI, VT_REG_DX,
					    VT_REG_CX, VT_REG_R8, VT_REG_R8 + 1};
	uint64_t reg = key->reg + (uint64_t)8, kind = key->what + (uint64_t)2;
	unsigned i;

	if (key->what == VT_WHAT_ARG) {
		kind = 0;
		for (i = 0; i < sizeof(arguments); i++)
			if (arguments[i] == key->reg)
				reg = i;
	} else if (key->what == VT_WHAT_RETURN) {
		kind = 1;
	}
	return kind << 48 | (reg & 0xffff) << 32 | key->lane;
}

/* Lists of one kind of value. */
struct list_kind {
	size_t first;
	size_t n; /* 0: none */
	uint64_t rank;
};

/* The kind that comes next after another; the first one after none. */
static struct list_kind next_list_kind(const struct vt_list_values *values,
				       const struct vti_point *point, struct list_kind last)
{
	const struct vt_hotprofile *lists = values->lists;
	struct list_kind best = {0};
	size_t i, n, end = point->list + point->nlists;

	for (i = point->list; i < end; i += n) {
		const struct vt_hot *h = vt_hotprofile_at(lists, i);
		uint64_t r = list_rank(&h->key);

		for (n = 1; i + n < end; n++)
			if (!is_same_list_kind(h, vt_hotprofile_at(lists, i + n)))
				break;
		if (!vt_inv_is_of(h->key.what, values->what))
			continue;
		if (last.n && (r < last.rank || (r == last.rank && i <= last.first)))
			continue;
		if (!best.n || r < best.rank)
			best = (struct list_kind){i, n, r};
	}
	return best;
}

void vti_listing_values(struct vt_listing *l, const struct vti_point *point, const uint8_t *bytes,
			size_t size)
{
	struct vt_facts facts;
	bool known = bytes && vt_facts_decode(bytes, size, &facts);
	struct list_kind k = {0};

	for (k = next_list_kind(l->values, point, k); k.n && !l->failed;
	     k = next_list_kind(l->values, point, k))
		put_lists_of_kind(l, point, k.first, k.n, known ? &facts : NULL);
}

/* ---- texts, in columns ---- */

void vti_listing_values_part(const struct vt_list_row *row, unsigned part, struct vt_buf *out)
{
	static const char *const heading[VTI_NPARTS] = {"what", "executions", "per", "distinct"};
	const struct vt_hot *h = row ? row->list : NULL;

	if (!h)
		vt_buf_printf(out, "%s", heading[part]);
	else if (part == VTI_WHAT)
		vt_buf_printf(out, "%s", row->what);
	else if (part == VTI_EXECUTIONS)
		vt_buf_printf(out, "%" PRIu64, h->total);
	else if (part == VTI_PER)
		vt_buf_printf(out, h->scale == 1 || h->scale >= 1000 ? "%.0f" : "%.1f", h->scale);
	else
		vt_buf_printf(out, "%" PRIu32, h->nvalues);
}

static size_t measure_part(const struct vt_list_row *row, unsigned part)
{
	struct vt_buf b = VT_BUF_INIT;
	size_t size;

	vti_listing_values_part(row, part, &b);
	size = b.size;
	vt_buf_free(&b);
	return size;
}

static void compose_list_text(struct vt_listing *l, struct vt_list_row *row)
{
	struct vt_buf b = VT_BUF_INIT;
	unsigned i;

	vt_buf_printf(&b, "      ");
	for (i = 0; i < VTI_NPARTS && row->list; i++) {
		size_t pad = l->widths[i] - measure_part(row, i);

		if (i == VTI_WHAT)
			vti_listing_values_part(row, i, &b);
		vt_buf_printf(&b, "%*s", (int)pad, "");
		if (i != VTI_WHAT)
			vti_listing_values_part(row, i, &b);
		vt_buf_printf(&b, "  ");
	}
	vt_buf_printf(&b, "%s", row->values);
	if (*row->context)
		vt_buf_printf(&b, "  from %s", row->context);
	row->text_size = b.size;
	row->text = vti_listing_keep(l, &b);
}

void vti_listing_values_finish(struct vt_listing *l)
{
	size_t i;
	unsigned part;

	for (part = 0; part < VTI_NPARTS; part++) {
		l->widths[part] = (unsigned)measure_part(NULL, part);
		for (i = 0; i < l->nrows; i++) {
			size_t size = l->rows[i].list ? measure_part(&l->rows[i], part) : 0;

			if (size > l->widths[part])
				l->widths[part] = (unsigned)size;
		}
	}
	for (i = 0; i < l->nrows && !l->failed; i++)
		if (vt_list_row_is_of_list(&l->rows[i]))
			compose_list_text(l, &l->rows[i]);
}
