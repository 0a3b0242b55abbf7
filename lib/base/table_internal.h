/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_BASE_TABLE_INTERNAL_H
#define VT_BASE_TABLE_INTERNAL_H

#include "base/buf.h"
#include "base/table.h"

/* What a table holds, for table.c and table_print.c. */

struct vti_cell {
	uint8_t type; /* enum vt_cell_type */
	uint8_t style;
	uint32_t names; /* index of the byte from which the text holds names, + 1; 0: nowhere */
	union {
		uint64_t number;
		double real;
		struct {
			size_t at; /* in `texts` */
			size_t size;
		} text;
	} u;
};

struct vti_column {
	struct vt_table_column is;
	char *texts;	/* memory of the strings of `is` */
	unsigned spare; /* a rank; 0: it is always there */
};

struct vt_table {
	struct vti_column *columns;
	size_t ncolumns;
	size_t columns_cap;
	struct vti_cell *cells; /* nrows * ncolumns */
	size_t cells_cap;
	uint8_t *styles; /* of the rows */
	size_t styles_cap;
	size_t nrows;
	size_t filled; /* cells of the last row */
	struct vt_buf texts;
	bool failed;
};

#endif
