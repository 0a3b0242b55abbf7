/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "listing/code/internal.h"
#include "listing/profile/profile.h"

/* ---- columns ---- */

static void text_or_empty(struct vt_table *t, const char *text)
{
	if (*text)
		vt_table_str(t, text);
	else
		vt_table_empty(t);
}

static void number_or_empty(struct vt_table *t, bool known, uint64_t number)
{
	if (known)
		vt_table_number(t, number);
	else
		vt_table_empty(t);
}

static void cell_address(struct vt_table *t, const struct vt_listing *l,
			 const struct vt_list_row *row)
{
	(void)l;
	number_or_empty(t,
			row->kind == VT_ROW_INSTRUCTION || row->kind == VT_ROW_INSIDE ||
				row->kind == VT_ROW_RAW,
			row->address);
}

/* To people, the line of an instruction is that of the source line above it. */
static void cell_shown_line(struct vt_table *t, const struct vt_listing *l,
			    const struct vt_list_row *row)
{
	(void)l;
	number_or_empty(t, row->kind == VT_ROW_LINE && row->line, row->line);
}

static void cell_code(struct vt_table *t, const struct vt_listing *l, const struct vt_list_row *row)
{
	(void)l;
	vt_table_text(t, row->text, row->text_size);
	if (row->kind == VT_ROW_LINE && !row->tallies)
		vt_table_cell_style(t, VT_STYLE_SOURCE);
}

static void cell_kind(struct vt_table *t, const struct vt_listing *l, const struct vt_list_row *row)
{
	static const char *const name[VT_NROWKINDS] = {
		[VT_ROW_INSTRUCTION] = "instruction",
		[VT_ROW_INSIDE] = "inside",
		[VT_ROW_RAW] = "raw",
		[VT_ROW_LINE] = "line",
		[VT_ROW_PLACE] = "place",
		[VT_ROW_CUT] = "cut",
		[VT_ROW_VALUES] = "values",
		[VT_ROW_CALLERS] = "callers",
	};

	(void)l;
	vt_table_str(t, name[row->kind]);
}

static void cell_file(struct vt_table *t, const struct vt_listing *l, const struct vt_list_row *row)
{
	(void)l;
	text_or_empty(t, row->file);
}

static void cell_line(struct vt_table *t, const struct vt_listing *l, const struct vt_list_row *row)
{
	(void)l;
	number_or_empty(t, row->line, row->line);
}

static void cell_function(struct vt_table *t, const struct vt_listing *l,
			  const struct vt_list_row *row)
{
	(void)l;
	text_or_empty(t, row->function);
}

static void cell_caller(struct vt_table *t, const struct vt_listing *l,
			const struct vt_list_row *row)
{
	(void)l;
	text_or_empty(t, row->caller);
}

static void cell_procedure(struct vt_table *t, const struct vt_listing *l,
			   const struct vt_list_row *row)
{
	(void)row;
	vt_table_str(t, l->proc.name);
}

static void cell_image(struct vt_table *t, const struct vt_listing *l,
		       const struct vt_list_row *row)
{
	(void)row;
	vt_table_str(t, l->image ? l->image->path : "");
}

/* ---- columns of hot lists ---- */

/* The instruction that the list is of: people see it above. */
static void cell_of(struct vt_table *t, const struct vt_listing *l, const struct vt_list_row *row)
{
	(void)l;
	number_or_empty(t, row->kind == VT_ROW_VALUES || row->kind == VT_ROW_CALLERS, row->address);
}

static void cell_what(struct vt_table *t, const struct vt_listing *l, const struct vt_list_row *row)
{
	(void)l;
	text_or_empty(t, row->list ? vt_what_name(row->list->key.what) : "");
}

static void cell_register(struct vt_table *t, const struct vt_listing *l,
			  const struct vt_list_row *row)
{
	const struct vt_hot *h = row->list;

	(void)l;
	if (h && (h->key.what == VT_WHAT_RESULT || h->key.what == VT_WHAT_ARG ||
		  h->key.what == VT_WHAT_OPERAND))
		vt_table_str(t, vt_reg_name(h->key.reg, 8));
	else
		vt_table_empty(t);
}

static void cell_module(struct vt_table *t, const struct vt_listing *l,
			const struct vt_list_row *row)
{
	const struct vt_hot *h = row->list;

	(void)l;
	text_or_empty(t, h && h->key.what == VT_WHAT_MODULE
				 ? vt_module_name(row->modules, h->key.reg)
				 : "");
}

static void cell_context(struct vt_table *t, const struct vt_listing *l,
			 const struct vt_list_row *row)
{
	(void)l;
	text_or_empty(t, row->context);
}

static void cell_values(struct vt_table *t, const struct vt_listing *l,
			const struct vt_list_row *row)
{
	(void)l;
	text_or_empty(t, row->values + strspn(row->values, " "));
}

static void cell_per(struct vt_table *t, const struct vt_listing *l, const struct vt_list_row *row)
{
	(void)l;
	if (row->list)
		vt_table_real(t, row->list->scale);
	else
		vt_table_empty(t);
}

#define NUMBER_OF_LIST(name, expression)                                                           \
	static void cell_##name(struct vt_table *t, const struct vt_listing *l,                    \
				const struct vt_list_row *row)                                     \
	{                                                                                          \
		const struct vt_hot *h = row->list;                                                \
                                                                                                   \
		(void)l;                                                                           \
		number_or_empty(t, h, h ? (expression) : 0);                                       \
	}

NUMBER_OF_LIST(lane, h->key.lane)
NUMBER_OF_LIST(size, h->size)
NUMBER_OF_LIST(executions, h->total)
NUMBER_OF_LIST(distinct, h->nvalues)
NUMBER_OF_LIST(profiled, h->profiled)
NUMBER_OF_LIST(zero, h->zero)
NUMBER_OF_LIST(same, h->same)
NUMBER_OF_LIST(stride, h->stride)

#define MIXED	 (1u << VT_LIST_MIXED)
#define ASM	 (1u << VT_LIST_ASM)
#define SOURCE	 (1u << VT_LIST_SOURCE)
#define ANY_VIEW (MIXED | ASM | SOURCE)

typedef void cell_fn(struct vt_table *t, const struct vt_listing *l, const struct vt_list_row *row);

/* Columns that people see, too, in views whose bits are set. */
static const struct {
	const char *key;
	const char *heading;
	enum vt_format format;
	unsigned views;
	cell_fn *cell;
} list_columns[] = {
	{"address", "address", VT_FORMAT_HEX, MIXED | ASM, cell_address},
	{"shown_line", "line", VT_FORMAT_NUMBER, MIXED | SOURCE, cell_shown_line},
	{"code", "code", VT_FORMAT_TEXT, ANY_VIEW, cell_code},
};

#define NCOLUMNS (sizeof(list_columns) / sizeof(*list_columns))

/*
 * For programs alone.  Those from FIRST_OF_LIST on are there where hot lists are: programs do not
 * want to take the composed line apart.
 */
static const struct {
	const char *key;
	enum vt_format format;
	cell_fn *cell;
} program_columns[] = {
	{"kind", VT_FORMAT_TEXT, cell_kind},
	{"file", VT_FORMAT_TEXT, cell_file},
	{"line", VT_FORMAT_NUMBER, cell_line},
	{"function", VT_FORMAT_TEXT, cell_function},
	{"inlined_into", VT_FORMAT_TEXT, cell_caller},
	{"procedure", VT_FORMAT_TEXT, cell_procedure},
	{"image", VT_FORMAT_TEXT, cell_image},
	{"of", VT_FORMAT_HEX, cell_of},
	{"what", VT_FORMAT_TEXT, cell_what},
	{"register", VT_FORMAT_TEXT, cell_register},
	{"module", VT_FORMAT_TEXT, cell_module},
	{"lane", VT_FORMAT_NUMBER, cell_lane},
	{"size", VT_FORMAT_NUMBER, cell_size},
	{"caller", VT_FORMAT_TEXT, cell_context},
	{"executions", VT_FORMAT_NUMBER, cell_executions},
	{"per", VT_FORMAT_REAL, cell_per},
	{"distinct", VT_FORMAT_NUMBER, cell_distinct},
	{"profiled", VT_FORMAT_NUMBER, cell_profiled},
	{"zero", VT_FORMAT_NUMBER, cell_zero},
	{"same", VT_FORMAT_NUMBER, cell_same},
	{"stride", VT_FORMAT_NUMBER, cell_stride},
	{"values", VT_FORMAT_TEXT, cell_values},
};

#define FIRST_OF_LIST 7

static size_t program_columns_of(const struct vt_listing *l)
{
	return l && l->values ? sizeof(program_columns) / sizeof(*program_columns) : FIRST_OF_LIST;
}

/* The heading of the code, with those of the hot lists' lines behind it. */
static void code_heading(const struct vt_listing *l, const char *heading, struct vt_buf *out)
{
	unsigned i;

	vt_buf_printf(out, "%s", heading);
	if (!l || !l->values || !l->nlists)
		return;
	for (i = 0; i < VTI_NPARTS; i++) {
		struct vt_buf part = VT_BUF_INIT;

		vti_listing_values_part(NULL, i, &part);
		vt_buf_printf(out, i == VTI_WHAT ? "  %-*s" : "  %*s", (int)l->widths[i],
			      vt_buf_str(&part));
		vt_buf_free(&part);
	}
	vt_buf_printf(out, "  values");
}

void vt_listing_columns(struct vt_table *t, const struct vt_listing *l, enum vt_list_view view,
			const struct vt_event_choice *events)
{
	size_t i;

	for (i = 0; i < events->count; i++) {
		const char *label = events->label[i];
		bool shown = !l || l->total[events->index[i]].samples;
		/* Hot lists count executions themselves; so more of a list fits on a line. */
		bool counts = !l || !l->values;

		vti_event_column(t, label, "samples", shown && counts ? label : NULL,
				 VT_FORMAT_NUMBER);
		vti_event_column(t, label, "percent",
				 !shown				? NULL
				 : counts || events->count == 1 ? "%"
								: label,
				 VT_FORMAT_PERCENT);
	}
	for (i = 0; i < NCOLUMNS; i++) {
		struct vt_buf heading = VT_BUF_INIT;
		bool shown = list_columns[i].views & (1u << view);

		if (list_columns[i].cell == cell_code)
			code_heading(l, list_columns[i].heading, &heading);
		else
			vt_buf_printf(&heading, "%s", list_columns[i].heading);
		vt_table_column(t, list_columns[i].key, shown ? vt_buf_str(&heading) : NULL,
				list_columns[i].format);
		vt_buf_free(&heading);
	}
	for (i = 0; i < program_columns_of(l); i++)
		vt_table_column(t, program_columns[i].key, NULL, program_columns[i].format);
}

/* ---- rows ---- */

/* A value that is nearly always the same stands out; values that are all over the place do not. */
static enum vt_style list_style(const struct vt_hot *h)
{
	double top = h->nvalues && h->profiled ? vt_hot_estimate(h, 0) / (double)h->profiled : 0;

	if (h->nvalues && vti_listing_is_guess(h, 0))
		return VT_STYLE_FAINT;
	return top >= 0.9 ? VT_STYLE_HEADING : top < 0.1 ? VT_STYLE_FAINT : VT_STYLE_PLAIN;
}

/* By the event in which the row stands out most. */
static enum vt_style row_style(const struct vt_listing *l, const struct vt_list_row *row,
			       const struct vt_event_choice *events)
{
	enum vt_style style = VT_STYLE_PLAIN;
	size_t i;

	if (row->kind == VT_ROW_PLACE || row->kind == VT_ROW_CUT || row->kind == VT_ROW_CALLERS)
		return VT_STYLE_FAINT;
	if (row->list)
		return list_style(row->list);
	for (i = 0; i < events->count && row->tallies; i++) {
		size_t event = events->index[i];
		enum vt_style heat = vt_heat(row->tallies[event].samples, l->total[event].samples);

		if (heat > style)
			style = heat;
	}
	return style;
}

static void event_cells(struct vt_table *t, const struct vt_listing *l,
			const struct vt_list_row *row, size_t event)
{
	uint64_t samples = row->tallies ? row->tallies[event].samples : 0;

	if (samples) {
		vt_table_number(t, samples);
		vt_table_percent(t, samples, l->total[event].samples);
	} else {
		vt_table_empty(t);
		vt_table_empty(t);
	}
}

void vt_listing_rows(struct vt_table *t, const struct vt_listing *l,
		     const struct vt_event_choice *events)
{
	size_t i, c;

	for (i = 0; i < l->nrows; i++) {
		const struct vt_list_row *row = &l->rows[i];

		vt_table_row(t, row_style(l, row, events));
		for (c = 0; c < events->count; c++)
			event_cells(t, l, row, events->index[c]);
		for (c = 0; c < NCOLUMNS; c++)
			list_columns[c].cell(t, l, row);
		for (c = 0; c < program_columns_of(l); c++)
			program_columns[c].cell(t, l, row);
	}
}

/* ---- the header ---- */

static void put_escaped(struct vt_output *out, const char *text)
{
	struct vt_buf b = VT_BUF_INIT;

	vt_escape_str(&b, text);
	vt_output_text(out, vt_buf_str(&b));
	vt_buf_free(&b);
}

/* What the columns of the hot lists' lines are, and how the lists were kept. */
static void values_legend(const struct vt_listing *l, struct vt_output *out)
{
	const struct vt_hot *first = NULL;
	bool same = true;
	size_t i;

	for (i = 0; i < l->nrows; i++) {
		const struct vt_hot *h = l->rows[i].list;

		if (h && !first)
			first = h;
		same = same && (!h || h->algo == first->algo);
	}
	if (!first) {
		vt_output_text(out, "values: no hot lists\n");
		return;
	}
	vt_output_printf(out,
			 "values: %zu hot list%s (%s): one of 'per' executions enters the list, "
			 "which has 'distinct' values\n",
			 l->nlists, l->nlists == 1 ? "" : "s",
			 same ? vt_algo_name(first->algo) : "several algorithms");
}

void vt_listing_header(const struct vt_listing *l, const struct vt_profile *p,
		       const struct vt_event_choice *events, bool color, struct vt_output *out)
{
	char id[2 * VT_BUILDID_MAX + 1] = "";
	size_t i;

	vt_output_text(out, color ? vt_style_start(VT_STYLE_HEADING) : "");
	if (l->proc.symbol)
		put_escaped(out, l->proc.name);
	else
		vt_output_printf(out, "[%s]", vt_unknown_text(l->proc.why));
	vt_output_text(out, color ? VT_STYLE_END " in " : " in ");
	put_escaped(out, l->image ? l->image->path : "[unknown image]");
	if (l->image && l->image->buildid_size && l->image->buildid_size <= VT_BUILDID_MAX) {
		vt_buildid_format(l->image->buildid, l->image->buildid_size, id);
		vt_output_printf(out, ", build-id %s", id);
	} else {
		vt_output_text(out, ", no build-id recorded");
	}
	vt_output_text(out, "\n");
	for (i = 0; i < events->count; i++) {
		const struct vt_profile_event *e = vt_profile_event(p, events->index[i]);
		uint64_t samples = l->total[events->index[i]].samples;

		put_escaped(out, events->label[i]);
		vt_output_printf(out, ": %" PRIu64 " samples", samples);
		if (e->samples)
			vt_output_printf(out, ", %.2f%% of all %" PRIu64,
					 100.0 * (double)samples / (double)e->samples, e->samples);
		vt_output_text(out, "\n");
	}
	if (l->values)
		values_legend(l, out);
	if (l->missing && l->proc.symbol)
		vt_output_printf(out, "(%s)\n", l->missing);
	vt_output_text(out, "\n");
}
