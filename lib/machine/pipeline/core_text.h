/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_PIPELINE_CORE_TEXT_H
#define VT_MACHINE_PIPELINE_CORE_TEXT_H

#include <stddef.h>

/*
 * The text files that are part of vtrace: cores/NAME.core and timing/NAME.tsv.  The build creates
 * these tables from them (scripts/embed).  A NULL name ends each table.
 */
struct vti_text {
	const char *name; /* without directory and suffix */
	const char *text;
	size_t size;
};

extern const struct vti_text vti_core_texts[];
extern const struct vti_text vti_timing_texts[];

#endif
