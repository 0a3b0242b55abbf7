/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_TRACEPOINTS_PRINTER_H
#define VT_TRACEPOINTS_PRINTER_H

#include <stdbool.h>

#include "base/buf.h"
#include "stream/record.h"
#include "tracepoints/container.h"
#include "tracepoints/format.h"

/*
 * Prints what a tracepoint recorded by the print format of its format file, with libtraceevent, in
 * the words of perf script.  The library trusts what it reads.  So it sees print formats only that
 * vt_printfmt_is_safe() accepts, declarations in a form of ours, and a copy of the record with
 * zeros behind it, in which each field and array was found to lie.
 */
struct vt_trace_printer;

/*
 * The name of the kernel's function at an address, and where it begins, or NULL.  Borrowed until
 * the next call.
 */
typedef const char *vt_trace_symbol_fn(void *arg, uint64_t *address);

struct vt_trace_symbols {
	vt_trace_symbol_fn *find; /* NULL: addresses are printed as numbers */
	void *arg;
};

/* `symbols` is borrowed.  NULL if it is not safe to print by this format, or when memory runs out.
 */
struct vt_trace_printer *vt_trace_printer_new(const struct vt_trace_format *f, struct vt_bytes text,
					      const struct vt_tracing *machine,
					      const struct vt_trace_symbols *symbols);
void vt_trace_printer_free(struct vt_trace_printer *p);

/*
 * Appends text.  False, and nothing is appended, if a field does not lie in `raw`.  `copy` is room
 * for a copy, the same for all printers.
 */
bool vt_trace_printer_print(struct vt_trace_printer *p, struct vt_bytes raw, struct vt_buf *copy,
			    struct vt_buf *b);

#endif
