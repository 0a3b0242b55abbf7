/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any format file of a tracepoint, and any record of it.  The first byte says the byte order and
 * the size of a long of the recorded machine, the next two the size of the record, which stands
 * last.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "tracepoints/format.h"
#include "tracepoints/printer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What libtraceevent cannot parse, it leaks in part; each format file is parsed once. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

static const char *name_function(void *arg, uint64_t *address)
{
	(void)arg;
	*address -= *address % 16;
	return *address & 16 ? "function" : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct vt_trace_symbols symbols = {.find = name_function};
	static struct vt_buf copy; /* kept: most of the time would go into its zeros */
	struct vt_buf out = VT_BUF_INIT;
	struct vt_trace_printer *printer;
	struct vt_trace_format format;
	struct vt_tracing machine;
	struct vt_bytes text, raw, value;
	void *blocks[2];
	size_t i;

	if (size < 3)
		return 0;
	machine = (struct vt_tracing){data[0] & 1, data[0] & 2 ? 4 : 8, 4096};
	raw.size = vt_le16(data + 1);
	if (raw.size > size - 3)
		raw.size = size - 3;
	text.size = size - 3 - raw.size;
	/* Blocks of their own, so that a sanitizer sees what is read beyond them. */
	blocks[0] = memcpy(malloc(text.size + 1), data + 3, text.size);
	blocks[1] = memcpy(malloc(raw.size + 1), data + size - raw.size, raw.size);
	text.data = blocks[0];
	raw.data = blocks[1];
	if (!vt_trace_format_read(&format, text, machine.long_size))
		abort();
	for (i = 0; i < format.nfields; i++)
		if (vt_trace_field_bytes(&format.fields[i], raw, machine.big, &value) &&
		    (value.data < raw.data || value.data + value.size > raw.data + raw.size))
			abort();
	printer = vt_trace_printer_new(&format, text, &machine, &symbols);
	if (printer)
		vt_trace_printer_print(printer, raw, &copy, &out);
	vt_trace_printer_free(printer);
	vt_trace_format_free(&format);
	vt_buf_free(&out);
	free(blocks[0]);
	free(blocks[1]);
	return 0;
}
