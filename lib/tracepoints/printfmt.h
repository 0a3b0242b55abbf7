/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_TRACEPOINTS_PRINTFMT_H
#define VT_TRACEPOINTS_PRINTFMT_H

#include <stdbool.h>

#include "stream/record.h"
#include "tracepoints/format.h"

/* Longer than any kernel's, with all its names of flags. */
#define VT_PRINTFMT_MAX 65536

/* The text behind "print fmt: " in a format file; empty if there is none. */
struct vt_bytes vt_printfmt_of(struct vt_bytes text);

/*
 * Whether libtraceevent can parse and evaluate a print format without harm, whatever its author
 * meant: it is an expression of C in the kernel's form, of the fields of `f`; nothing is divided
 * but by a constant; no index, width or nesting is out of proportion; and there is an argument for
 * each conversion.  What is not sure is refused.
 */
bool vt_printfmt_is_safe(struct vt_bytes printfmt, const struct vt_trace_format *f);

#endif
