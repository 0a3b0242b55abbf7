/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_BASE_TABLE_H
#define VT_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/output.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The one table printer.  A printer describes its columns, fills rows cell by cell, and prints
 * them for people (aligned columns, perhaps coloured) or for programs (comma- or tab-separated,
 * first line: the columns' keys).  All rows are kept until then: widths follow from the content.
 */
struct vt_table;

/* What a column holds and how it looks to people; programs get the plain number or text. */
enum vt_format {
	VT_FORMAT_TEXT,	      /* left-aligned, escaped */
	VT_FORMAT_NUMBER,     /* 1234 */
	VT_FORMAT_SIGNED,     /* +12, -7 */
	VT_FORMAT_REAL,	      /* 1.25 */
	VT_FORMAT_PERCENT,    /* 33.87% */
	VT_FORMAT_POINTS,     /* +1.20%: a difference of two percentages */
	VT_FORMAT_HEX,	      /* 4f10 */
	VT_FORMAT_RIGHT_TEXT, /* as TEXT, right-aligned */
	VT_NFORMATS
};

struct vt_table_column {
	const char *key;     /* name for programs; NULL: they do not see the column */
	const char *heading; /* for people; NULL: they do not see the column */
	enum vt_format format;
	unsigned max; /* a longer cell does not widen the column, it sticks out; 0: no limit */
	/* Of one of several things of a kind, such as events, or NULL, NULL, NULL: */
	const char *list;   /* what they are: "events" */
	const char *name;   /* which one */
	const char *member; /* the column's key among those of that one */
};

/* How a row, or one cell, stands out on a terminal. */
enum vt_style {
	VT_STYLE_PLAIN,
	VT_STYLE_HEADING, /* bold */
	VT_STYLE_FAINT,
	VT_STYLE_SOURCE, /* text that was written by a person, between machine code */
	VT_STYLE_WARM,
	VT_STYLE_HOT,
	VT_NSTYLES
};

/* The escape sequence that starts a style; "" for VT_STYLE_PLAIN.  VT_STYLE_END ends any. */
const char *vt_style_start(enum vt_style style);
#define VT_STYLE_END "\033[0m"

enum vt_cell_type { VT_CELL_EMPTY, VT_CELL_TEXT, VT_CELL_NUMBER, VT_CELL_SIGNED, VT_CELL_REAL };

struct vt_cell {
	enum vt_cell_type type;
	uint64_t number; /* cast it for VT_CELL_SIGNED */
	double real;
	const char *text; /* raw, not zero-terminated; borrowed from the table */
	size_t size;
};

/* Owned by the caller; NULL when memory runs out. */
struct vt_table *vt_table_new(void);
void vt_table_free(struct vt_table *t);

/* Adds a column, before the first row.  `key` and `heading` are copied. */
void vt_table_column(struct vt_table *t, const char *key, const char *heading,
		     enum vt_format format);

/*
 * The same, of the one of a `list` that is called `name`, and is so to be found where keys are to
 * be the same whatever the names are; `key` tells the columns of a line apart.
 */
void vt_table_column_of(struct vt_table *t, const char *list, const char *name, const char *member,
			const char *key, const char *heading, enum vt_format format);

/* The same, and limits how wide its longest cells make it. */
void vt_table_column_max(struct vt_table *t, const char *key, const char *heading,
			 enum vt_format format, unsigned max);

/* Starts a row, all of whose cells are empty; the calls below fill them from the left. */
void vt_table_row(struct vt_table *t, enum vt_style style);

void vt_table_empty(struct vt_table *t);
void vt_table_text(struct vt_table *t, const void *text, size_t size);
void vt_table_str(struct vt_table *t, const char *text);
void vt_table_printf(struct vt_table *t, const char *fmt, ...) VT_PRINTF(2, 3);
void vt_table_number(struct vt_table *t, uint64_t v);
void vt_table_signed(struct vt_table *t, int64_t v);
void vt_table_real(struct vt_table *t, double v);

/* The share of `part` in `whole` as a percentage, empty when `whole` is 0. */
void vt_table_percent(struct vt_table *t, uint64_t part, uint64_t whole);

/* Gives the cell filled last a style of its own. */
void vt_table_cell_style(struct vt_table *t, enum vt_style style);

/* What the table holds, for other printers. */
size_t vt_table_columns(const struct vt_table *t);
size_t vt_table_rows(const struct vt_table *t);
const struct vt_table_column *vt_table_column_at(const struct vt_table *t, size_t column);
struct vt_cell vt_table_cell(const struct vt_table *t, size_t row, size_t column);

enum vt_table_form {
	VT_TABLE_TEXT,
	VT_TABLE_CSV, /* RFC 4180 quoting of escaped cells (escape.h); lines end in LF */
	VT_TABLE_TSV  /* text is escaped as for people */
};

/*
 * Prints headings and rows.  Colour applies to VT_TABLE_TEXT only.  Returns 0, or -VT_E_NOMEM if
 * memory ran out here or in any call before; errors of writing stick to `out`.
 */
int vt_table_print(const struct vt_table *t, struct vt_output *out, enum vt_table_form form,
		   bool color, struct vt_error *err);

/* Columns that escaped text takes on a terminal: wide characters count 2, combining ones 0. */
size_t vt_text_width(const char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
