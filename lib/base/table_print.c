/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>

#include "base/escape.h"
#include "base/name.h"
#include "base/table_internal.h"
#include "base/width.h"

static void render_real(struct vt_buf *b, enum vt_format format, enum vt_table_form form, double v)
{
	if (form != VT_TABLE_TEXT)
		vt_buf_printf(b, "%.6g", v);
	else if (format == VT_FORMAT_PERCENT)
		vt_buf_printf(b, "%.2f%%", v);
	else if (format == VT_FORMAT_POINTS)
		vt_buf_printf(b, "%+.2f%%", v);
	else
		vt_buf_printf(b, "%.2f", v);
}

/* Appends a cell's text to `b`, escaped. */
static void render_cell(const struct vt_table *t, size_t row, size_t column,
			enum vt_table_form form, struct vt_buf *b)
{
	struct vt_cell c = vt_table_cell(t, row, column);
	enum vt_format format = t->columns[column].is.format;

	switch (c.type) {
	case VT_CELL_EMPTY: /* has no text */
	case VT_CELL_TEXT:
		vt_escape(b, c.text, c.size);
		break;
	case VT_CELL_NUMBER:
		if (format == VT_FORMAT_HEX)
			vt_buf_printf(b, form == VT_TABLE_TEXT ? "%" PRIx64 : "0x%" PRIx64,
				      c.number);
		else
			vt_buf_printf(b, "%" PRIu64, c.number);
		break;
	case VT_CELL_SIGNED:
		vt_buf_printf(b, form == VT_TABLE_TEXT && c.number ? "%+" PRId64 : "%" PRId64,
			      (int64_t)c.number);
		break;
	case VT_CELL_REAL:
		render_real(b, format, form, c.real);
		break;
	}
}

static void put_csv(struct vt_output *out, const char *text, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		if (text[i] == ',' || text[i] == '"')
			break;
	if (i == size) {
		vt_output_put(out, text, size);
		return;
	}
	vt_output_put(out, "\"", 1);
	for (i = 0; i < size; i++) {
		if (text[i] == '"')
			vt_output_put(out, "\"", 1);
		vt_output_put(out, &text[i], 1);
	}
	vt_output_put(out, "\"", 1);
}

static void put_field(struct vt_output *out, enum vt_table_form form, size_t field,
		      const char *text, size_t size)
{
	if (field)
		vt_output_put(out, form == VT_TABLE_CSV ? "," : "\t", 1);
	if (form == VT_TABLE_CSV)
		put_csv(out, text, size);
	else
		vt_output_put(out, text, size);
}

static bool print_separated(const struct vt_table *t, struct vt_output *out,
			    enum vt_table_form form)
{
	struct vt_buf b = VT_BUF_INIT;
	size_t row, col, field = 0;
	bool ok;

	for (col = 0; col < t->ncolumns; col++) {
		if (!t->columns[col].is.key)
			continue;
		b.size = 0;
		vt_escape_str(&b, t->columns[col].is.key);
		put_field(out, form, field++, vt_buf_str(&b), b.size);
	}
	vt_output_put(out, "\n", 1);
	for (row = 0; row < t->nrows; row++) {
		for (col = field = 0; col < t->ncolumns; col++) {
			if (!t->columns[col].is.key)
				continue;
			b.size = 0;
			render_cell(t, row, col, form, &b);
			put_field(out, form, field++, vt_buf_str(&b), b.size);
		}
		vt_output_put(out, "\n", 1);
	}
	ok = !b.failed;
	vt_buf_free(&b);
	return ok;
}

/* ---- for people ---- */

#define GAP 2 /* blanks between columns */

/* A column of names is not made narrower to fit rows into the terminal. */
#define NARROWEST 12

/* With less room for each name, spare columns are left out first. */
#define NARROW_NAME 20

/* How a table is printed for people. */
struct people {
	const struct vt_table *t;
	struct vt_output *out;
	size_t *widths;	  /* of the columns */
	size_t *left_out; /* the spare columns that are, in their order */
	size_t nleft_out;
	bool cut; /* no cell of a name is wider than its column */
	bool color;
	struct vt_buf cell; /* the text last rendered, escaped */
	struct vt_buf name; /* or as it was before */
	size_t held; /* blanks that the next cell of the line puts, so that no line ends in them */
};

/* Whether cells of a column hold names, which may be cut. */
static bool is_name(const struct people *p, size_t column)
{
	enum vt_format format = p->t->columns[column].is.format;

	return format == VT_FORMAT_NAME || format == VT_FORMAT_PATH;
}

static bool is_left_aligned(const struct people *p, size_t column)
{
	return p->t->columns[column].is.format == VT_FORMAT_TEXT || is_name(p, column);
}

/* False for a column hidden from people. */
static bool is_shown(const struct people *p, size_t column)
{
	size_t i;

	for (i = 0; i < p->nleft_out; i++)
		if (p->left_out[i] == column)
			return false;
	return p->t->columns[column].is.heading != NULL;
}

/* Renders the heading of a column that is shown; false for others. */
static bool render_heading(struct people *p, size_t column)
{
	p->cell.size = 0;
	if (!is_shown(p, column))
		return false;
	vt_escape_str(&p->cell, p->t->columns[column].is.heading);
	return true;
}

/* The byte from which a cell's text holds names to be shortened; SIZE_MAX: nowhere. */
static size_t find_names(const struct people *p, size_t row, size_t column)
{
	const struct vti_cell *c = &p->t->cells[row * p->t->ncolumns + column];

	if (p->out->full_names || c->type != VT_CELL_TEXT)
		return SIZE_MAX;
	if (c->names)
		return c->names - 1 < c->u.text.size ? c->names - 1 : SIZE_MAX;
	return p->t->columns[column].is.format == VT_FORMAT_NAME ? 0 : SIZE_MAX;
}

static void render_for_people(struct people *p, size_t row, size_t column)
{
	struct vt_cell c = vt_table_cell(p->t, row, column);
	size_t from = find_names(p, row, column);

	p->cell.size = 0;
	if (from == SIZE_MAX) {
		render_cell(p->t, row, column, VT_TABLE_TEXT, &p->cell);
		return;
	}
	p->name.size = 0;
	vt_buf_put(&p->name, c.text, from);
	vt_name_shorten(&p->name, c.text + from, c.size - from);
	vt_escape(&p->cell, p->name.data, p->name.size);
}

static size_t cell_width(struct people *p)
{
	return vt_text_width(vt_buf_str(&p->cell), p->cell.size);
}

/* ---- the widths of the columns ---- */

static void measure_columns(struct people *p)
{
	size_t row, col;

	for (col = 0; col < p->t->ncolumns; col++) {
		size_t max = p->cut && is_name(p, col) ? 0 : p->t->columns[col].is.max;

		if (!render_heading(p, col))
			continue;
		p->widths[col] = cell_width(p);
		for (row = 0; row < p->t->nrows; row++) {
			size_t w;

			render_for_people(p, row, col);
			w = cell_width(p);
			if (max && w > max)
				w = max;
			if (w > p->widths[col])
				p->widths[col] = w;
		}
	}
}

/* The width of a row whose names are at most `most` wide. */
static size_t row_width(const struct people *p, size_t most)
{
	size_t col, width = 0;

	for (col = 0; col < p->t->ncolumns; col++)
		if (is_shown(p, col))
			width += GAP +
				 (is_name(p, col) && p->widths[col] > most ? most : p->widths[col]);
	return width > GAP ? width - GAP : 0;
}

/* The spare column with the highest rank that is shown; of several the last.  False if none is. */
static bool find_spare(const struct people *p, size_t *column)
{
	unsigned rank = 1;
	bool found = false;
	size_t col;

	for (col = 0; col < p->t->ncolumns; col++) {
		if (p->t->columns[col].spare < rank || !is_shown(p, col))
			continue;
		rank = p->t->columns[col].spare;
		*column = col;
		found = true;
	}
	return found;
}

static void drop_spare_columns(struct people *p)
{
	size_t column;

	while (row_width(p, NARROW_NAME) > p->out->columns && find_spare(p, &column))
		p->left_out[p->nleft_out++] = column;
}

static void tell_left_out(const struct people *p)
{
	size_t i;

	for (i = 0; i < p->nleft_out; i++)
		vt_output_printf(p->out, "%s%s", i ? ", " : "(no room for ",
				 p->t->columns[p->left_out[i]].is.heading);
	if (p->nleft_out)
		vt_output_printf(p->out, ")\n");
}

/* Narrows the widest columns of names until rows fit the terminal, or are as narrow as can be. */
static void fit_columns(struct people *p)
{
	size_t col, left, least = NARROWEST, most = NARROWEST;

	for (col = 0; col < p->t->ncolumns; col++)
		if (is_name(p, col) && p->widths[col] > most)
			most = p->widths[col];
	while (least < most) {
		size_t middle = most - (most - least) / 2;

		if (row_width(p, middle) <= p->out->columns)
			least = middle;
		else
			most = middle - 1;
	}
	/* What is left of the row goes to the first of those that are narrowed. */
	left = row_width(p, least) < p->out->columns ? p->out->columns - row_width(p, least) : 0;
	for (col = 0; col < p->t->ncolumns; col++)
		if (is_name(p, col) && p->widths[col] > least) {
			p->widths[col] = least + (left > 0);
			left -= left > 0;
		}
}

/* ---- lines ---- */

static void put_spaces(struct vt_output *out, size_t n)
{
	while (n--)
		vt_output_put(out, " ", 1);
}

static void put_line_cell(struct people *p, size_t column, enum vt_style style)
{
	const char *start = vt_style_start(p->color ? style : VT_STYLE_PLAIN);
	bool left = is_left_aligned(p, column);
	size_t width = cell_width(p);
	size_t pad = width < p->widths[column] ? p->widths[column] - width : 0;

	if (!left)
		p->held += pad;
	if (p->cell.size) {
		put_spaces(p->out, p->held);
		p->held = 0;
		vt_output_text(p->out, start);
		vt_output_put(p->out, p->cell.data, p->cell.size);
		if (*start)
			vt_output_text(p->out, VT_STYLE_END);
	}
	if (left)
		p->held += pad;
	p->held += GAP;
}

/* Cuts the text last rendered to its column. */
static void cut_cell(struct people *p, size_t column)
{
	p->name.size = 0;
	vt_text_cut(&p->name, vt_buf_str(&p->cell), p->cell.size, p->widths[column]);
	p->cell.size = 0;
	vt_buf_put(&p->cell, p->name.data, p->name.size);
}

static void print_row(struct people *p, size_t row)
{
	size_t col;

	for (col = 0; col < p->t->ncolumns; col++) {
		unsigned style = p->t->cells[row * p->t->ncolumns + col].style;

		if (!is_shown(p, col))
			continue;
		render_for_people(p, row, col);
		if (p->cut && is_name(p, col))
			cut_cell(p, col);
		put_line_cell(p, col, (enum vt_style)(style ? style : p->t->styles[row]));
	}
	p->held = 0;
	vt_output_put(p->out, "\n", 1);
}

static void print_text(struct people *p)
{
	size_t row, col;

	measure_columns(p);
	if (p->cut) {
		drop_spare_columns(p);
		fit_columns(p);
	}
	for (col = 0; col < p->t->ncolumns; col++)
		if (render_heading(p, col))
			put_line_cell(p, col, VT_STYLE_HEADING);
	p->held = 0;
	vt_output_put(p->out, "\n", 1);
	for (row = 0; row < p->t->nrows; row++)
		print_row(p, row);
	tell_left_out(p);
}

static bool print_for_people(const struct vt_table *t, struct vt_output *out, bool color)
{
	struct people p = {.t = t,
			   .out = out,
			   .widths = calloc(t->ncolumns + 1, sizeof(*p.widths)),
			   .left_out = calloc(t->ncolumns + 1, sizeof(*p.left_out)),
			   .cut = out->columns && !out->full_names,
			   .color = color,
			   .cell = VT_BUF_INIT,
			   .name = VT_BUF_INIT};
	bool ok = p.widths && p.left_out;

	if (ok)
		print_text(&p);
	ok = ok && !p.cell.failed && !p.name.failed;
	free(p.widths);
	free(p.left_out);
	vt_buf_free(&p.cell);
	vt_buf_free(&p.name);
	return ok;
}

int vt_table_print(const struct vt_table *t, struct vt_output *out, enum vt_table_form form,
		   bool color, struct vt_error *err)
{
	bool ok = !t->failed && (form == VT_TABLE_TEXT ? print_for_people(t, out, color)
						       : print_separated(t, out, form));

	return ok ? 0 : vt_error_nomem(err);
}
