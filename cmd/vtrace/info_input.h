/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_VTRACE_INFO_INPUT_H
#define CMD_VTRACE_INFO_INPUT_H

#include "base/input.h"
#include "cmd/common/app.h"
#include "formats/common/convert.h"

/*
 * What vtrace info can be asked about: a stream; a perf.data, which is made into a stream on the
 * way, its AUX areas not decoded; a raw trace of Intel PT.
 */
enum info_format { INFO_STREAM, INFO_PERF, INFO_PT };

struct info_input {
	enum info_format format;
	struct app *app;
	struct vt_reader *reader;	 /* NULL for INFO_PT */
	struct vt_input in;		 /* not for INFO_STREAM; of INFO_PT: at its first byte */
	struct vt_conversion conversion; /* of INFO_PERF */
};

/* `path` NULL or "-" is standard input.  False after app_fail() or app_usage(). */
bool info_input_open(struct info_input *i, struct app *a, const char *path);

/* How many bytes the input has, once it has been read to its end. */
uint64_t info_input_bytes(const struct info_input *i);

/*
 * To be called when the reader is at its end.  False after app_fail(): a perf.data could not be
 * read to its end.
 */
bool info_input_end(struct info_input *i);

/* The same, and closes it. */
void info_input_close(struct info_input *i);

#endif
