/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_VTRACE_ENCODE_PERF_H
#define CMD_VTRACE_ENCODE_PERF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"
#include "cmd/common/app.h"
#include "formats/perfpt/encode.h"
#include "stream/reader.h"

/* `vtrace encode --perf-data`: the trace in a perf.data. */

struct encode_perf {
	bool on;
	uint64_t cpus;
	bool wide;
	uint64_t slice;
	uint64_t snapshot;
};

#define ENCODE_PERF_DEFAULTS                                                                       \
	{                                                                                          \
		.slice = VT_PT_WRAP_SLICE                                                          \
	}

/* The rows for an option table. */
#define ENCODE_PERF_OPTIONS(o)                                                                     \
	{.name = "perf-data",                                                                      \
	 .type = VT_OPT_FLAG,                                                                      \
	 .value = &(o).on,                                                                         \
	 .help = "write a perf.data that perf decodes; with it:"},                                 \
		{.name = "cpus",                                                                   \
		 .type = VT_OPT_U64,                                                               \
		 .value = &(o).cpus,                                                               \
		 .arg = "N",                                                                       \
		 .min = 1,                                                                         \
		 .max = VT_PT_WRAP_CPUS,                                                           \
		 .help = "a buffer for each of N processors that threads take in\n"                \
			 "turns, not for each thread; needs --tsc"},                               \
		{.name = "slice",                                                                  \
		 .type = VT_OPT_U64,                                                               \
		 .value = &(o).slice,                                                              \
		 .arg = "N",                                                                       \
		 .min = 1,                                                                         \
		 .help = "another processor after N instructions (default 100000)"},               \
		{.name = "cpu-wide",                                                               \
		 .type = VT_OPT_FLAG,                                                              \
		 .value = &(o).wide,                                                               \
		 .help = "tell switches as for whole processors"},                                 \
	{                                                                                          \
		.name = "snapshot", .type = VT_OPT_U64, .value = &(o).snapshot, .arg = "BYTES",    \
		.min = 64, .max = VT_PT_WRAP_SNAPSHOT,                                             \
		.help = "only the last BYTES of each buffer"                                       \
	}

/* The first option of these that was given without --perf-data, or NULL. */
const char *encode_perf_stray(const struct encode_perf *o);

/*
 * Writes the stream's blocks to `output` (NULL or "-": standard output).  Returns the encoder's
 * totals through *totals and what it said of the first bad record in `bad`, of VT_ERROR_SIZE bytes;
 * false after app_fail().
 */
bool encode_perf(struct app *a, struct vt_reader *r, const struct encode_perf *o,
		 const struct vt_pt_encode_options *enc, const char *output,
		 struct vt_pt_encode_totals *totals, char *bad);

#endif
