/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_TRACEPOINTS_FORMAT_H
#define VT_TRACEPOINTS_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/record.h"

/* How the fields of a tracepoint lie in what it records, from its format file. */

enum vt_field_place {
	VT_FIELD_FIXED,
	VT_FIELD_DATA_LOC, /* a u32: where the data lie in the record, and their size << 16 */
	VT_FIELD_REL_LOC,  /* likewise, but from the end of this field */
};

struct vt_trace_field {
	struct vt_bytes declaration; /* borrowed from the format file, as is `name` */
	struct vt_bytes name;
	uint32_t offset;
	uint32_t size;
	uint32_t element; /* bytes of an element of an array; of a scalar its size; 0: unknown */
	enum vt_field_place place;
	bool array;
	bool text; /* an array of char */
	bool is_signed;
	bool common; /* all tracepoints have it: what perf script does not print */
};

/* More than the kernel makes of the 127 arguments that a program of BPF or C can have. */
#define VT_TRACE_FIELDS_MAX 512

struct vt_trace_format {
	struct vt_trace_field *fields;
	size_t nfields;
	size_t cap;
	bool whole; /* each line of a field was understood */
};

/*
 * Reads the fields of a format file; lines that are no fields are left out, and so are fields
 * beyond VT_TRACE_FIELDS_MAX.  `long_size` is that of the recorded machine.  False when memory runs
 * out. Free it in any case.
 */
bool vt_trace_format_read(struct vt_trace_format *f, struct vt_bytes text, unsigned long_size);
void vt_trace_format_free(struct vt_trace_format *f);

/*
 * The bytes of a field in a record.  False if they do not lie in the record: it is damaged, or the
 * format is not its own.
 */
bool vt_trace_field_bytes(const struct vt_trace_field *f, struct vt_bytes raw, bool big,
			  struct vt_bytes *bytes);

/* A number of 1, 2, 4 or 8 bytes, extended to 64 bits. */
uint64_t vt_trace_number(const uint8_t *p, size_t size, bool big, bool is_signed);

#endif
