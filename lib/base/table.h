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
 * Tables of results.  A caller adds the columns, fills rows cell by cell, and prints the table for
 * people (aligned columns, optionally coloured) or for programs (comma- or tab-separated, the
 * columns' keys in the first line).  All rows stay in memory until then, because column widths
 * depend on them.
 */
struct vt_table;

/* A column's content and its form for people.  Programs get the plain number or text. */
enum vt_format {
	VT_FORMAT_TEXT,	      /* left-aligned, escaped */
	VT_FORMAT_NUMBER,     /* 1234 */
	VT_FORMAT_SIGNED,     /* +12, -7 */
	VT_FORMAT_REAL,	      /* 1.25 */
	VT_FORMAT_PERCENT,    /* 33.87% */
	VT_FORMAT_POINTS,     /* +1.20%: a difference of two percentages */
	VT_FORMAT_HEX,	      /* 4f10 */
	VT_FORMAT_RIGHT_TEXT, /* like TEXT, but right-aligned */
	VT_FORMAT_NAME,	      /* a procedure's name: like TEXT, but vt_name_shorten() shortens it */
	VT_FORMAT_PATH,	      /* like TEXT, but rows that are wider than a terminal cut it */
	VT_NFORMATS
};

struct vt_table_column {
	const char *key;     /* name for programs; NULL: hidden from them */
	const char *heading; /* name for people; NULL: hidden from them */
	enum vt_format format;
	unsigned max; /* cells wider than this stick out instead of widening it; 0: no limit */
	/* For a column that belongs to one item of a list, such as one event; otherwise NULL: */
	const char *list;   /* the list's name: "events" */
	const char *name;   /* the item's name */
	const char *member; /* the column's key within the item */
};

/* How a row or a cell is highlighted on a terminal. */
enum vt_style {
	VT_STYLE_PLAIN,
	VT_STYLE_HEADING, /* bold */
	VT_STYLE_FAINT,
	VT_STYLE_SOURCE, /* source code among machine code */
	VT_STYLE_WARM,
	VT_STYLE_HOT,
	VT_NSTYLES
};

/* Returns the escape sequence that starts a style, "" for VT_STYLE_PLAIN.  VT_STYLE_END ends it. */
const char *vt_style_start(enum vt_style style);
#define VT_STYLE_END "\033[0m"

enum vt_cell_type { VT_CELL_EMPTY, VT_CELL_TEXT, VT_CELL_NUMBER, VT_CELL_SIGNED, VT_CELL_REAL };

struct vt_cell {
	enum vt_cell_type type;
	uint64_t number; /* for VT_CELL_SIGNED, cast to int64_t */
	double real;
	const char *text; /* unescaped, not zero-terminated; borrowed from the table */
	size_t size;
};

/* Owned by the caller; NULL when memory runs out. */
struct vt_table *vt_table_new(void);
void vt_table_free(struct vt_table *t);

/* Adds a column.  All columns must be added before the first row.  Strings are copied. */
void vt_table_column(struct vt_table *t, const char *key, const char *heading,
		     enum vt_format format);

/*
 * Lets the column added last be left out for people, `rank` from 1 on: where rows would be wider
 * than the terminal with 20 columns for each name, those with the highest rank go first.  What is
 * left out is said below the table.
 */
void vt_table_column_spare(struct vt_table *t, unsigned rank);

/*
 * Adds a column for the item `name` of `list`.  Printers that nest, such as JSON, use `member`,
 * which does not depend on the item; flat ones use `key`, which must be unique in the table.
 */
void vt_table_column_of(struct vt_table *t, const char *list, const char *name, const char *member,
			const char *key, const char *heading, enum vt_format format);

/* Adds a column that its cells widen to at most `max`. */
void vt_table_column_max(struct vt_table *t, const char *key, const char *heading,
			 enum vt_format format, unsigned max);

/* Starts a row of empty cells.  Each of the calls below fills the next cell from the left. */
void vt_table_row(struct vt_table *t, enum vt_style style);

void vt_table_empty(struct vt_table *t);
void vt_table_text(struct vt_table *t, const void *text, size_t size);
void vt_table_str(struct vt_table *t, const char *text);
void vt_table_printf(struct vt_table *t, const char *fmt, ...) VT_PRINTF(2, 3);
void vt_table_number(struct vt_table *t, uint64_t v);
void vt_table_signed(struct vt_table *t, int64_t v);
void vt_table_real(struct vt_table *t, double v);

/* The same, but leaves the cell empty if the value is not finite; and rounded, without a fraction.
 */
void vt_table_finite(struct vt_table *t, double v);
void vt_table_whole(struct vt_table *t, double v);

/* Fills a cell with `part` as a percentage of `whole`, or leaves it empty when `whole` is 0. */
void vt_table_percent(struct vt_table *t, uint64_t part, uint64_t whole);

/* Sets the style of the cell filled last, instead of its row's. */
void vt_table_cell_style(struct vt_table *t, enum vt_style style);

/*
 * Has people see the names that the text of the cell filled last holds from byte `from` on as in a
 * column of VT_FORMAT_NAME.
 */
void vt_table_cell_names(struct vt_table *t, size_t from);

/* The table's content, for other printers. */
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
 * Prints headings and rows.  Colour applies to VT_TABLE_TEXT only, as does what `out` says about
 * its columns: where rows would be wider, spare columns are left out, and names and paths are cut
 * in their middle (vt_text_cut()).  With its `full_names`, all columns are there, and names are
 * neither cut nor shortened.  Returns 0, or -VT_E_NOMEM if memory
 * ran out here or in an earlier call.  Write errors are kept in `out`.
 */
int vt_table_print(const struct vt_table *t, struct vt_output *out, enum vt_table_form form,
		   bool color, struct vt_error *err);

/* Prints that a table lacks `n` rows, "(3 more rows)"; nothing for 0. */
void vt_table_print_left_out(struct vt_output *out, uint64_t n);

#ifdef __cplusplus
}
#endif
#endif
