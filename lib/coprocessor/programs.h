/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_COPROCESSOR_PROGRAMS_H
#define VT_COPROCESSOR_PROGRAMS_H

#include "machine/pipeline/core_text.h"

/*
 * The programs that are part of vtrace: programs/NAME.ucode, whose second line, after the licence,
 * says what each is for.  The build creates the table (scripts/embed); a NULL name ends it.
 */
extern const struct vti_text vti_ucode_texts[];

/* The program of a name, or NULL. */
const struct vti_text *vt_ucode_program(const char *name);

/* What a program is for: its second line without the "# ", of *size bytes. */
const char *vt_ucode_about(const struct vti_text *t, size_t *size);

#endif
