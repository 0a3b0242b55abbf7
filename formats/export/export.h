/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_EXPORT_EXPORT_H
#define FORMATS_EXPORT_EXPORT_H

#include <stdbool.h>

#include "base/error.h"
#include "base/output.h"
#include "stacks/stacks.h"

/*
 * Formats of other tools that counted stacks are written in.  A format is a file of this folder and
 * a row in the table.  It knows neither records nor profiles.
 */
struct vt_export_format {
	const char *name; /* `vexport --to NAME` */
	bool binary;	  /* not for terminals */
	bool all;	  /* takes all values; otherwise the first is written */
	bool labels;	  /* tells threads and CPUs apart */
	bool inlined;	  /* always has inlined functions; otherwise if the user asks for them */

	/*
	 * Writes the stacks; `title` names them.  Errors of writing stick to `out`.  Returns 0 or
	 * -VT_E_NOMEM.
	 */
	int (*write)(const struct vt_stacks *s, const char *title, struct vt_output *out,
		     struct vt_error *err);
};

extern const struct vt_export_format vti_export_pprof;
extern const struct vt_export_format vti_export_folded;
extern const struct vt_export_format vti_export_speedscope;

#define VT_EXPORT_FORMATS 3

/* All formats. */
extern const struct vt_export_format *const vt_export_formats[VT_EXPORT_FORMATS];

/* Their names in the same order, ended by NULL. */
extern const char *const vt_export_words[VT_EXPORT_FORMATS + 1];

#endif
