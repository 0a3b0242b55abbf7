/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/table.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

struct cell {
	uint8_t type; /* enum vt_cell_type */
	uint8_t style;
	union {
		uint64_t number;
		double real;
		struct {
			size_t at; /* in `texts` */
			size_t size;
		} text;
	} u;
};

struct column {
	struct vt_table_column is;
	char *texts; /* memory of the strings of `is` */
};

struct vt_table {
	struct column *columns;
	size_t ncolumns;
	size_t columns_cap;
	struct cell *cells; /* nrows * ncolumns */
	size_t cells_cap;
	uint8_t *styles; /* of the rows */
	size_t styles_cap;
	size_t nrows;
	size_t filled; /* cells of the last row */
	struct vt_buf texts;
	bool failed;
};

const char *vt_style_start(enum vt_style style)
{
	static const char *const start[VT_NSTYLES] = {
		[VT_STYLE_PLAIN] = "",	      [VT_STYLE_HEADING] = "\033[1m",
		[VT_STYLE_FAINT] = "\033[2m", [VT_STYLE_SOURCE] = "\033[36m",
		[VT_STYLE_WARM] = "\033[33m", [VT_STYLE_HOT] = "\033[1;31m",
	};

	return start[style];
}

struct vt_table *vt_table_new(void)
{
	return calloc(1, sizeof(struct vt_table));
}

void vt_table_free(struct vt_table *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->ncolumns; i++)
		free(t->columns[i].texts);
	free(t->columns);
	free(t->cells);
	free(t->styles);
	vt_buf_free(&t->texts);
	free(t);
}

/* The strings of a column.  copy_texts() puts them into one allocation; NULL stays NULL. */
enum { KEY, HEADING, LIST, NAME, MEMBER, NTEXTS };

static bool copy_texts(const char *const from[NTEXTS], const char *to[NTEXTS], char **memory)
{
	size_t size[NTEXTS], all = 1;
	char *at;
	int i;

	for (i = 0; i < NTEXTS; i++) {
		size[i] = from[i] ? strlen(from[i]) + 1 : 0;
		all += size[i];
	}
	at = *memory = malloc(all);
	for (i = 0; at && i < NTEXTS; i++) {
		to[i] = from[i] ? memcpy(at, from[i], size[i]) : NULL;
		at += size[i];
	}
	return at != NULL;
}

static void append_column(struct vt_table *t, const char *const texts[NTEXTS],
			  enum vt_format format, unsigned max)
{
	const char *copy[NTEXTS];
	struct column *c;

	/* The index of a cell depends on the number of columns. */
	assert(t->nrows == 0);
	if (!vt_array_grow(&t->columns, &t->columns_cap, t->ncolumns + 1, sizeof(*t->columns)) ||
	    !copy_texts(texts, copy, &t->columns[t->ncolumns].texts)) {
		t->failed = true;
		return;
	}
	c = &t->columns[t->ncolumns++];
	c->is = (struct vt_table_column){copy[KEY],  copy[HEADING], format,	 max,
					 copy[LIST], copy[NAME],    copy[MEMBER]};
}

void vt_table_column_max(struct vt_table *t, const char *key, const char *heading,
			 enum vt_format format, unsigned max)
{
	const char *const texts[NTEXTS] = {[KEY] = key, [HEADING] = heading};

	append_column(t, texts, format, max);
}

void vt_table_column_of(struct vt_table *t, const char *list, const char *name, const char *member,
			const char *key, const char *heading, enum vt_format format)
{
	const char *const texts[NTEXTS] = {key, heading, list, name, member};

	append_column(t, texts, format, 0);
}

void vt_table_column(struct vt_table *t, const char *key, const char *heading,
		     enum vt_format format)
{
	vt_table_column_max(t, key, heading, format, 0);
}

void vt_table_row(struct vt_table *t, enum vt_style style)
{
	size_t ncells = t->nrows * t->ncolumns;

	assert(style < VT_NSTYLES);
	if (t->failed ||
	    !vt_array_grow(&t->cells, &t->cells_cap, ncells + t->ncolumns, sizeof(*t->cells)) ||
	    !vt_array_grow(&t->styles, &t->styles_cap, t->nrows + 1, sizeof(*t->styles))) {
		t->failed = true;
		return;
	}
	memset(t->cells + ncells, 0, t->ncolumns * sizeof(*t->cells));
	t->styles[t->nrows++] = (uint8_t)style;
	t->filled = 0;
}

/* Returns the next cell of the current row, or NULL if there is none. */
static struct cell *next_cell(struct vt_table *t, enum vt_cell_type type)
{
	struct cell *c;

	if (t->failed || !t->nrows || t->filled == t->ncolumns)
		return NULL;
	c = &t->cells[(t->nrows - 1) * t->ncolumns + t->filled++];
	c->type = (uint8_t)type;
	return c;
}

void vt_table_empty(struct vt_table *t)
{
	next_cell(t, VT_CELL_EMPTY);
}

void vt_table_text(struct vt_table *t, const void *text, size_t size)
{
	struct cell *c = next_cell(t, VT_CELL_TEXT);

	if (!c)
		return;
	c->u.text.at = t->texts.size;
	c->u.text.size = size;
	vt_buf_put(&t->texts, text, size);
	t->failed = t->texts.failed;
}

void vt_table_str(struct vt_table *t, const char *text)
{
	vt_table_text(t, text, strlen(text));
}

void vt_table_printf(struct vt_table *t, const char *fmt, ...)
{
	struct cell *c = next_cell(t, VT_CELL_TEXT);
	va_list ap;

	if (!c)
		return;
	c->u.text.at = t->texts.size;
	va_start(ap, fmt);
	vt_buf_vprintf(&t->texts, fmt, ap);
	va_end(ap);
	c->u.text.size = t->texts.size - c->u.text.at;
	t->failed = t->texts.failed;
}

void vt_table_number(struct vt_table *t, uint64_t v)
{
	struct cell *c = next_cell(t, VT_CELL_NUMBER);

	if (c)
		c->u.number = v;
}

void vt_table_signed(struct vt_table *t, int64_t v)
{
	struct cell *c = next_cell(t, VT_CELL_SIGNED);

	if (c)
		c->u.number = (uint64_t)v;
}

void vt_table_real(struct vt_table *t, double v)
{
	struct cell *c = next_cell(t, VT_CELL_REAL);

	if (c)
		c->u.real = v;
}

void vt_table_percent(struct vt_table *t, uint64_t part, uint64_t whole)
{
	if (whole)
		vt_table_real(t, 100.0 * (double)part / (double)whole);
	else
		vt_table_empty(t);
}

void vt_table_cell_style(struct vt_table *t, enum vt_style style)
{
	if (!t->failed && t->filled)
		t->cells[(t->nrows - 1) * t->ncolumns + t->filled - 1].style = (uint8_t)style;
}

size_t vt_table_columns(const struct vt_table *t)
{
	return t->ncolumns;
}

size_t vt_table_rows(const struct vt_table *t)
{
	return t->nrows;
}

const struct vt_table_column *vt_table_column_at(const struct vt_table *t, size_t column)
{
	assert(column < t->ncolumns);
	return &t->columns[column].is;
}

struct vt_cell vt_table_cell(const struct vt_table *t, size_t row, size_t column)
{
	const struct cell *c = &t->cells[row * t->ncolumns + column];
	struct vt_cell out = {.type = (enum vt_cell_type)c->type};

	assert(row < t->nrows && column < t->ncolumns);
	if (c->type == VT_CELL_TEXT) {
		out.text = (const char *)t->texts.data + c->u.text.at;
		out.size = c->u.text.size;
	} else if (c->type == VT_CELL_REAL) {
		out.real = c->u.real;
	} else {
		out.number = c->u.number;
	}
	return out;
}

/* ---- rendering ---- */

/* Width of a character, by the blocks of Unicode 15 that are entirely wide or combining. */
static size_t char_width(uint32_t c)
{
	static const struct {
		uint32_t first, last;
		uint8_t width;
	} blocks[] = {
		{0x0300, 0x036f, 0},   {0x1100, 0x115f, 2}, {0x1ab0, 0x1aff, 0},
		{0x1dc0, 0x1dff, 0},   {0x200b, 0x200f, 0}, {0x20d0, 0x20ff, 0},
		{0x2e80, 0xa4cf, 2},   {0xac00, 0xd7a3, 2}, {0xf900, 0xfaff, 2},
		{0xfe00, 0xfe0f, 0},   {0xfe20, 0xfe2f, 0}, {0xfe30, 0xfe6f, 2},
		{0xff00, 0xff60, 2},   {0xffe0, 0xffe6, 2}, {0x1f300, 0x1faff, 2},
		{0x20000, 0x3fffd, 2},
	};
	size_t i;

	if (c < blocks[0].first)
		return 1;
	for (i = 0; i < sizeof(blocks) / sizeof(*blocks); i++)
		if (c >= blocks[i].first && c <= blocks[i].last)
			return blocks[i].width;
	return 1;
}

size_t vt_text_width(const char *text, size_t size)
{
	const uint8_t *p = (const uint8_t *)text;
	size_t i = 0, width = 0;

	while (i < size) {
		uint32_t c = p[i++];
		unsigned more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;

		if (more)
			c &= 0x3fu >> more;
		while (more-- && i < size)
			c = c << 6 | (p[i++] & 0x3f);
		width += char_width(c);
	}
	return width;
}

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

static void print_separated(const struct vt_table *t, struct vt_output *out,
			    enum vt_table_form form, struct vt_buf *b)
{
	size_t row, col, field = 0;

	for (col = 0; col < t->ncolumns; col++) {
		if (!t->columns[col].is.key)
			continue;
		b->size = 0;
		vt_escape_str(b, t->columns[col].is.key);
		put_field(out, form, field++, vt_buf_str(b), b->size);
	}
	vt_output_put(out, "\n", 1);
	for (row = 0; row < t->nrows; row++) {
		for (col = field = 0; col < t->ncolumns; col++) {
			if (!t->columns[col].is.key)
				continue;
			b->size = 0;
			render_cell(t, row, col, form, b);
			put_field(out, form, field++, vt_buf_str(b), b->size);
		}
		vt_output_put(out, "\n", 1);
	}
}

static bool is_left_aligned(const struct vt_table *t, size_t column)
{
	return t->columns[column].is.format == VT_FORMAT_TEXT;
}

/* Returns the escaped heading, in `b`, or NULL for a column hidden from people. */
static const char *escape_heading(const struct vt_table *t, size_t column, struct vt_buf *b)
{
	if (!t->columns[column].is.heading)
		return NULL;
	b->size = 0;
	vt_escape_str(b, t->columns[column].is.heading);
	return vt_buf_str(b);
}

static void put_spaces(struct vt_output *out, size_t n)
{
	while (n--)
		vt_output_put(out, " ", 1);
}

/* A line being printed.  Blanks are held back until a cell follows, so that no line ends in them.
 */
struct line {
	struct vt_output *out;
	const size_t *widths;
	size_t held;
};

static void put_line_cell(struct line *l, size_t column, bool left, const char *text, size_t size,
			  const char *style)
{
	size_t width = vt_text_width(text, size);
	size_t pad = width < l->widths[column] ? l->widths[column] - width : 0;

	if (!left)
		l->held += pad;
	if (size) {
		put_spaces(l->out, l->held);
		l->held = 0;
		vt_output_text(l->out, style);
		vt_output_put(l->out, text, size);
		if (*style)
			vt_output_text(l->out, VT_STYLE_END);
	}
	if (left)
		l->held += pad;
	l->held += 2;
}

static void measure_columns(const struct vt_table *t, size_t *widths, struct vt_buf *b)
{
	size_t row, col;

	for (col = 0; col < t->ncolumns; col++) {
		const char *title = escape_heading(t, col, b);
		size_t max = t->columns[col].is.max;

		if (!title)
			continue;
		widths[col] = vt_text_width(title, b->size);
		for (row = 0; row < t->nrows; row++) {
			size_t w;

			b->size = 0;
			render_cell(t, row, col, VT_TABLE_TEXT, b);
			w = vt_text_width(vt_buf_str(b), b->size);
			if (max && w > max)
				w = max;
			if (w > widths[col])
				widths[col] = w;
		}
	}
}

static void print_text(const struct vt_table *t, struct vt_output *out, const size_t *widths,
		       bool color, struct vt_buf *b)
{
	struct line l = {out, widths, 0};
	size_t row, col;

	for (col = 0; col < t->ncolumns; col++) {
		const char *title = escape_heading(t, col, b);

		if (title)
			put_line_cell(&l, col, is_left_aligned(t, col), title, b->size,
				      vt_style_start(color ? VT_STYLE_HEADING : VT_STYLE_PLAIN));
	}
	vt_output_put(out, "\n", 1);
	for (row = 0; row < t->nrows; row++) {
		l.held = 0;
		for (col = 0; col < t->ncolumns; col++) {
			unsigned style = t->cells[row * t->ncolumns + col].style;

			if (!t->columns[col].is.heading)
				continue;
			if (!style)
				style = t->styles[row];
			b->size = 0;
			render_cell(t, row, col, VT_TABLE_TEXT, b);
			put_line_cell(
				&l, col, is_left_aligned(t, col), vt_buf_str(b), b->size,
				vt_style_start(color ? (enum vt_style)style : VT_STYLE_PLAIN));
		}
		vt_output_put(out, "\n", 1);
	}
}

int vt_table_print(const struct vt_table *t, struct vt_output *out, enum vt_table_form form,
		   bool color, struct vt_error *err)
{
	struct vt_buf b = VT_BUF_INIT;
	size_t *widths = calloc(t->ncolumns + 1, sizeof(*widths));
	bool failed = t->failed || !widths;

	if (!failed && form == VT_TABLE_TEXT) {
		measure_columns(t, widths, &b);
		print_text(t, out, widths, color, &b);
	} else if (!failed) {
		print_separated(t, out, form, &b);
	}
	failed = failed || b.failed;
	free(widths);
	vt_buf_free(&b);
	return failed ? vt_error_nomem(err) : 0;
}
