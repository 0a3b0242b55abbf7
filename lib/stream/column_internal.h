/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_COLUMN_INTERNAL_H
#define VT_STREAM_COLUMN_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

/*
 * The coding of a column of n numbers (formats/vt.md, "Columns"): one byte with the predictor in
 * its high four bits and the width of residues in its low four bits, the values that the predictor
 * starts from, then the residues.  Columns are coded independently.
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
 * Appends the shortest coding of v[0..n-1]; among equally short ones, that with the lowest numbers.
 */
void vti_column_encode(struct vt_buf *out, const uint64_t *v, size_t n);

/*
 * Reads the start of a coded column.  Returns 1 if the column is constant: *value is its value and
 * the cursor is behind it.  Returns 0 if it is not: call vti_column_decode().  Returns -1 if it is
 * damaged.
 */
int vti_column_probe(struct vt_cursor *c, uint64_t *value);

/* Decodes the n values of a column that is not constant.  Returns 0, or -1 if it is damaged. */
int vti_column_decode(struct vt_cursor *c, uint64_t *v, size_t n);

#endif
