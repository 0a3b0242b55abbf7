/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_COLUMN_INTERNAL_H
#define VT_STREAM_COLUMN_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

/*
 * The coding of a column of n numbers (formats/vt.md, "Columns"): one byte that says how each value
 * is predicted (high four bits) and how wide what is left is stored (low four bits), the values
 * that the predictor starts from, then the residues.  Each column stands alone.
 */
enum vti_predictor {
	VTI_PREDICT_NONE, /* n residues: the values themselves */
	VTI_PREDICT_LAST, /* the first value; n-1 residues: zigzag of the difference to the last */
	VTI_PREDICT_STRIDE, /* the first value and difference; n-2: zigzag of the change of that */
	VTI_NPREDICTORS
};

enum vti_width {
	VTI_WIDTH_CONST, /* all values equal: one varint */
	VTI_WIDTH_1,	 /* one byte each */
	VTI_WIDTH_2,
	VTI_WIDTH_4,
	VTI_WIDTH_8,
	VTI_WIDTH_MIXED, /* 2-bit tags, four to a byte, then 1, 2, 4 or 8 bytes for each value */
	VTI_NWIDTHS
};

/*
 * Appends the coding of v[0..n-1] that takes the fewest bytes (the lowest numbered one of equals);
 * `scratch` has room for n numbers.
 */
void vti_column_encode(struct vt_buf *out, const uint64_t *v, size_t n, uint64_t *scratch);

/*
 * Looks at a coded column: returns 1 if it is constant (its value in *value, cursor behind it), 0
 * if its n values are to be fetched with vti_column_decode(), -1 if it is damaged.
 */
int vti_column_probe(struct vt_cursor *c, uint64_t *value);

/* Decodes n values that are not constant; 0, or -1 if the column is damaged. */
int vti_column_decode(struct vt_cursor *c, uint64_t *v, size_t n);

#endif
