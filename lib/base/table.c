/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/table.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/table_internal.h"

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
	struct vti_column *c;

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
	c->spare = 0;
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

void vt_table_column_spare(struct vt_table *t, unsigned rank)
{
	if (!t->failed && t->ncolumns)
		t->columns[t->ncolumns - 1].spare = rank;
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
static struct vti_cell *next_cell(struct vt_table *t, enum vt_cell_type type)
{
	struct vti_cell *c;

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
	struct vti_cell *c = next_cell(t, VT_CELL_TEXT);

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
	struct vti_cell *c = next_cell(t, VT_CELL_TEXT);
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
	struct vti_cell *c = next_cell(t, VT_CELL_NUMBER);

	if (c)
		c->u.number = v;
}

void vt_table_signed(struct vt_table *t, int64_t v)
{
	struct vti_cell *c = next_cell(t, VT_CELL_SIGNED);

	if (c)
		c->u.number = (uint64_t)v;
}

void vt_table_real(struct vt_table *t, double v)
{
	struct vti_cell *c = next_cell(t, VT_CELL_REAL);

	if (c)
		c->u.real = v;
}

void vt_table_finite(struct vt_table *t, double v)
{
	if (isfinite(v))
		vt_table_real(t, v);
	else
		vt_table_empty(t);
}

void vt_table_whole(struct vt_table *t, double v)
{
	if (fabs(v) < 9e18)
		vt_table_signed(t, (int64_t)llround(v));
	else
		vt_table_finite(t, v);
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

void vt_table_cell_names(struct vt_table *t, size_t from)
{
	if (!t->failed && t->filled && from < UINT32_MAX)
		t->cells[(t->nrows - 1) * t->ncolumns + t->filled - 1].names = (uint32_t)from + 1;
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
	const struct vti_cell *c = &t->cells[row * t->ncolumns + column];
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

void vt_table_print_left_out(struct vt_output *out, uint64_t n)
{
	if (n)
		vt_output_printf(out, "(%" PRIu64 " more row%s)\n", n, n == 1 ? "" : "s");
}
