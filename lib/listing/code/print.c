/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "listing/code/internal.h"
#include "listing/profile/profile.h"

#define MIXED	 (1u << VT_LIST_MIXED)
#define ASM	 (1u << VT_LIST_ASM)
#define SOURCE	 (1u << VT_LIST_SOURCE)
#define ANY_VIEW (MIXED | ASM | SOURCE)

/* ---- columns ---- */

/* Columns that people see, too, in the views whose bits are set; put_shown_cells() fills them. */
static const struct {
	const char *key;
	const char *heading;
	enum vt_format format;
	unsigned views;
} shown_columns[] = {
	{"address", "address", VT_FORMAT_HEX, MIXED | ASM},
	{"shown_line", "line", VT_FORMAT_NUMBER, MIXED | SOURCE},
	{"code", "code", VT_FORMAT_TEXT, ANY_VIEW},
};

#define NSHOWN	    (sizeof(shown_columns) / sizeof(*shown_columns))
#define CODE_COLUMN (NSHOWN - 1)

/*
 * Columns for programs alone.  put_program_cells() fills those before FIRST_OF_LIST.  The others
 * exist only in listings with hot lists: they spare programs from parsing the composed line.
 */
static const struct {
	const char *key;
	enum vt_format format;
} program_columns[] = {
	{"kind", VT_FORMAT_TEXT},	  {"file", VT_FORMAT_TEXT},
	{"line", VT_FORMAT_NUMBER},	  {"function", VT_FORMAT_TEXT},
	{"inlined_into", VT_FORMAT_TEXT}, {"procedure", VT_FORMAT_TEXT},
	{"image", VT_FORMAT_TEXT},	  {"of", VT_FORMAT_HEX},
	{"what", VT_FORMAT_TEXT},	  {"register", VT_FORMAT_TEXT},
	{"module", VT_FORMAT_TEXT},	  {"lane", VT_FORMAT_NUMBER},
	{"size", VT_FORMAT_NUMBER},	  {"caller", VT_FORMAT_TEXT},
	{"total", VT_FORMAT_NUMBER},	  {"per", VT_FORMAT_REAL},
	{"distinct", VT_FORMAT_NUMBER},	  {"profiled", VT_FORMAT_NUMBER},
	{"zero", VT_FORMAT_NUMBER},	  {"same", VT_FORMAT_NUMBER},
	{"stride", VT_FORMAT_NUMBER},	  {"values", VT_FORMAT_TEXT},
};

#define FIRST_OF_LIST 7
#define LIST_CELLS    13 /* between "of" and "values" */

static size_t count_program_columns(const struct vt_listing *l)
{
	return l && l->values ? sizeof(program_columns) / sizeof(*program_columns) : FIRST_OF_LIST;
}

/* The heading of the code, followed by the headings of the hot lists' lines. */
static void put_code_heading(const struct vt_listing *l, const char *heading, struct vt_buf *out)
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
	struct vt_buf code = VT_BUF_INIT;
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
	put_code_heading(l, shown_columns[CODE_COLUMN].heading, &code);
	for (i = 0; i < NSHOWN; i++) {
		const char *heading =
			i == CODE_COLUMN ? vt_buf_str(&code) : shown_columns[i].heading;

		vt_table_column(t, shown_columns[i].key,
				shown_columns[i].views & (1u << view) ? heading : NULL,
				shown_columns[i].format);
	}
	vt_buf_free(&code);
	for (i = 0; i < count_program_columns(l); i++)
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

static void put_event_cells(struct vt_table *t, const struct vt_listing *l,
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

static void put_text_or_empty(struct vt_table *t, const char *text)
{
	if (*text)
		vt_table_str(t, text);
	else
		vt_table_empty(t);
}

static void put_number_or_empty(struct vt_table *t, bool known, uint64_t number)
{
	if (known)
		vt_table_number(t, number);
	else
		vt_table_empty(t);
}

/* The byte from which a row's text holds names: in code, the target of a branch, as "<f+0x10>". */
static size_t find_row_names(const struct vt_list_row *row)
{
	size_t i;

	for (i = 0; row->kind != VT_ROW_PLACE && i + 1 < row->text_size; i++)
		if (row->text[i] == ' ' && row->text[i + 1] == '<')
			return i;
	return row->kind == VT_ROW_PLACE ? 0 : row->text_size;
}

static void put_shown_cells(struct vt_table *t, const struct vt_list_row *row)
{
	bool source = row->kind == VT_ROW_LINE;

	put_number_or_empty(t, vt_list_row_is_code(row), row->address);
	/* People see the line of an instruction in the row of source above it. */
	put_number_or_empty(t, source && row->line, row->line);
	vt_table_text(t, row->text, row->text_size);
	if (row->kind == VT_ROW_PLACE || vt_list_row_is_code(row))
		vt_table_cell_names(t, find_row_names(row));
	if (source && !row->tallies)
		vt_table_cell_style(t, VT_STYLE_SOURCE);
}

static void put_program_cells(struct vt_table *t, const struct vt_listing *l,
			      const struct vt_list_row *row)
{
	static const char *const names[VT_NROWKINDS] = {
		[VT_ROW_INSTRUCTION] = "instruction",
		[VT_ROW_INSIDE] = "inside",
		[VT_ROW_RAW] = "raw",
		[VT_ROW_LINE] = "line",
		[VT_ROW_PLACE] = "place",
		[VT_ROW_CUT] = "cut",
		[VT_ROW_VALUES] = "values",
		[VT_ROW_CALLERS] = "callers",
	};

	vt_table_str(t, names[row->kind]);
	put_text_or_empty(t, row->file);
	put_number_or_empty(t, row->line, row->line);
	put_text_or_empty(t, row->function);
	put_text_or_empty(t, row->caller);
	vt_table_str(t, l->proc.name);
	vt_table_str(t, l->image ? l->image->path : "");
}

static bool is_of_register(const struct vt_hot_key *key)
{
	return key->what == VT_WHAT_RESULT || key->what == VT_WHAT_ARG ||
	       key->what == VT_WHAT_OPERAND;
}

static void put_list_cells(struct vt_table *t, const struct vt_list_row *row)
{
	const struct vt_hot *h = row->list;
	const struct vt_hot_key *key = &h->key;

	vt_table_str(t, vt_what_name(key->what));
	put_text_or_empty(t, is_of_register(key) ? vt_reg_name(key->reg, 8) : "");
	put_text_or_empty(t, key->what == VT_WHAT_MODULE ? vt_plugin_name(row->plugins, key->reg)
							 : "");
	vt_table_number(t, key->lane);
	vt_table_number(t, h->size);
	put_text_or_empty(t, row->context);
	vt_table_number(t, h->total);
	vt_table_real(t, h->scale);
	vt_table_number(t, h->nvalues);
	vt_table_number(t, h->profiled);
	vt_table_number(t, h->zero);
	vt_table_number(t, h->same);
	vt_table_number(t, h->stride);
}

/* Rows of rare callers have no list, but the instruction and a text instead of values. */
static void put_values_cells(struct vt_table *t, const struct vt_list_row *row)
{
	int i;

	put_number_or_empty(t, vt_list_row_is_of_list(row), row->address);
	if (row->list)
		put_list_cells(t, row);
	for (i = 0; i < LIST_CELLS && !row->list; i++)
		vt_table_empty(t);
	put_text_or_empty(t, row->values + strspn(row->values, " "));
}

void vt_listing_rows(struct vt_table *t, const struct vt_listing *l,
		     const struct vt_event_choice *events)
{
	size_t i, c;

	for (i = 0; i < l->nrows; i++) {
		const struct vt_list_row *row = &l->rows[i];

		vt_table_row(t, row_style(l, row, events));
		for (c = 0; c < events->count; c++)
			put_event_cells(t, l, row, events->index[c]);
		put_shown_cells(t, row);
		put_program_cells(t, l, row);
		if (l->values)
			put_values_cells(t, row);
	}
}

/* ---- the header ---- */

static void print_escaped(struct vt_output *out, const char *text)
{
	struct vt_buf b = VT_BUF_INIT;

	vt_escape_str(&b, text);
	vt_output_text(out, vt_buf_str(&b));
	vt_buf_free(&b);
}

/* What the columns of the hot lists' lines are, and how the lists were kept. */
static void print_values_legend(const struct vt_listing *l, struct vt_output *out)
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
		print_escaped(out, l->proc.name);
	else
		vt_output_printf(out, "[%s]", vt_unknown_text(l->proc.why));
	vt_output_text(out, color ? VT_STYLE_END " in " : " in ");
	print_escaped(out, l->image ? l->image->path : "[unknown image]");
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

		print_escaped(out, events->label[i]);
		vt_output_printf(out, ": %" PRIu64 " samples", samples);
		if (e->samples)
			vt_output_printf(out, ", %.2f%% of all %" PRIu64,
					 100.0 * (double)samples / (double)e->samples, e->samples);
		vt_output_text(out, "\n");
	}
	if (l->values)
		print_values_legend(l, out);
	if (l->missing && l->proc.symbol)
		vt_output_printf(out, "(%s)\n", l->missing);
	vt_output_text(out, "\n");
}
