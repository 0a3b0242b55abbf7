/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_TRACE_H
#define CMD_COMMON_TRACE_H

#include "base/input.h"
#include "cmd/common/app.h"
#include "formats/common/format.h"

/*
 * A recorded trace as an input of a program that reads streams: a thread decodes it on the way, as
 * `vtrace decode` would.  cmd/common/stream.c opens and closes it; a program sees a reader.
 */
struct app_trace;

/* The operand that names no file: standard input, or where that is a terminal or another device, as
 * in perf's own commands, ./perf.data. */
const char *app_input_path(const char *path);

/*
 * Whether an operand names an input by what the file begins with: a stream or a trace of a known
 * format.  A pipe counts as one, and is not read.
 */
bool app_is_input(const char *path);

/*
 * Starts decoding `in`, which stands at its first byte and is taken over, and gives the trace to
 * the program.  Images are looked for as the program's option --symfs says.  The reader, or NULL
 * with *err.
 */
struct vt_reader *app_trace_open(struct app *a, struct vt_input *in,
				 const struct vt_input_format *format, struct vt_error *err);

/* The trace behind a reader; NULL if there is none. */
struct app_trace *app_trace_find(const struct app *a, const struct vt_reader *r);

/* Bytes of the trace that were decoded so far. */
uint64_t app_trace_offset(const struct app_trace *t);

/*
 * Waits until the trace is decoded and says, once, what was damaged or lost.  False after
 * app_fail(): it could not be decoded to its end.
 */
bool app_trace_end(struct app_trace *t);

/* Ends it and frees everything, after its reader. */
void app_trace_close(struct app_trace *t);

/* Says what a decoder could not read. */
void app_tell_decoded(struct app *a, const char *name, const struct vt_format_summary *s);

#endif
