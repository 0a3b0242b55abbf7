/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_FORMATS_H
#define FORMATS_FORMATS_H

#include "formats/common/format.h"

/* The input formats, in the order in which they are probed; ends with a row without a name. */
extern const struct vt_input_format vt_formats[];

/* The format of that name, or NULL. */
const struct vt_input_format *vt_format_by_name(const char *name);

/*
 * The format of an input that stands at its first byte; consumes nothing.  NULL: VT_E_FORMAT when
 * none fits, VT_E_READ, VT_E_NOMEM.
 */
const struct vt_input_format *vt_format_find(struct vt_input *in, struct vt_error *err);

#define VT_OUTPUT_FORMATS 8 /* at most */

/* The output formats, the default one first; ends with NULL. */
extern const struct vt_output_format *const vt_output_formats[VT_OUTPUT_FORMATS + 1];

#endif
