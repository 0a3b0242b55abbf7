/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_STREAM_H
#define CMD_COMMON_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/common/app.h"
#include "stream/exec.h"
#include "stream/kinds.h"
#include "stream/reader.h"
#include "stream/record.h"
#include "stream/writer.h"

/*
 * Streams in and out of a program: opening, the loop over all records, what was lost, and how that
 * turns into messages, the END record's status and the exit status.
 *
 * Damage that is met here, and a producer that says its own input was damaged, make the exit status
 * APP_LOSSY.  Samples that the kernel lost while recording (LOST records) do not: they are a
 * property of the recording, and are told.
 */

/* Opens an input under the name that messages have for it.  0 or a negative error. */
int app_open_input(const struct app *a, const char *path, struct vt_input *in,
		   struct vt_error *err);

/*
 * Opens a stream, or a recorded trace, which is decoded on the way; their first bytes tell.  "-" is
 * standard input, which must not be a terminal; NULL is standard input, or ./perf.data where that
 * is a terminal.  NULL after app_fail().
 */
struct vt_reader *app_open_reader(struct app *a, const char *path);
void app_close_reader(struct app *a, struct vt_reader *r); /* NULL is allowed */

/*
 * Opens all operands, or standard input if there are none, before any is read: what is written has
 * the provenance of each.  Says which are one file.  False after app_fail(); end with
 * app_close_inputs() in either case.
 */
struct app_inputs {
	struct app *app;
	struct vt_reader **readers;
	size_t count;
};

bool app_open_inputs(struct app *a, struct app_inputs *in);
void app_close_inputs(struct app_inputs *in);

/* What messages call an input: its path, or "standard input". */
const char *app_input_name(const char *path);

/*
 * Calls `fn` with each record to the end of the stream, then says what was damaged or lost.
 * Returns false after app_fail(): `fn` returned a negative error, or reading broke off.  `fn`
 * returning 1 ends the loop early, which is no error.  Damage only sets APP_LOSSY.
 */
typedef int app_record_fn(void *arg, const struct vt_record *rec, struct vt_error *err);
bool app_each_record(struct app *a, struct vt_reader *r, app_record_fn *fn, void *arg);

/* The same with runs of records of one kind: rows first .. first+count-1 of the block. */
typedef int app_run_fn(void *arg, const struct vt_block *block, uint32_t first, uint32_t count,
		       struct vt_error *err);
bool app_each_run(struct app *a, struct vt_reader *r, app_run_fn *fn, void *arg);

/* Opens a stream, calls app_each_run() and closes it.  False after app_fail(). */
bool app_read_stream(struct app *a, const char *path, app_run_fn *fn, void *arg);

/*
 * The operands, or standard input when there are none, one after the other: opens each, calls
 * `begin` (may be NULL) once with its reader, then `fn` for each record.
 */
typedef int app_begin_fn(void *arg, const struct vt_reader *r, struct vt_error *err);
bool app_each_input(struct app *a, app_begin_fn *begin, app_record_fn *fn, void *arg);

/*
 * A stream that has nothing for a program is no input: one line says what is missing and which
 * stage makes it, and the status is APP_INPUT.  Events that were counted and have no sample are not
 * such a case, but a profile of 0 samples.
 */
#define APP_NO_SAMPLES                                                                             \
	"no samples (vtrace decode makes them of perf.data, vsample and vsim of a recording)"
#define APP_NONE_TAKEN "no samples: the events that were recorded have none, as of too short a run"
#define APP_NO_CODE    VT_NO_EXECUTED_CODE
#define APP_NO_REGISTERS                                                                           \
	"no samples with registers (vtrace record --regs) or latencies (perf mem record)"
#define APP_NO_VALUES                                                                              \
	"no values (vtrace record --full records them, vinterp finds them behind samples)"
#define APP_NO_CHAINS	 "no call chains (vtrace record -g, perf record -g)"
#define APP_NO_LISTS	 "no hot lists (vhot makes them)"
#define APP_NO_FREQS	 "no frequencies (vfreq estimates them)"
#define APP_NO_ESTIMATES "no frequencies: vfreq had no samples that it could use"

/* Says so of the stream `name`, as app_fail() does; `what` as above. */
bool app_lacks(struct app *a, const char *name, const char *what);

/* Says what is wrong with a stream, by its name where it is not fit for the program; false. */
bool app_fail_stream(struct app *a, const struct vt_reader *r, struct vt_error *err);

/* Whether the stream that was read last had records of a kind. */
bool app_saw(const struct app *a, enum vt_kind kind);

/* Whether it is whole, has events, and has a sample of none of them. */
bool app_saw_no_sample(const struct app *a);

/* False, after app_lacks(), if the stream read last says nothing of samples or executions. */
bool app_need_samples(struct app *a, const char *name);

/* Whether a program is a stage of the stream's provenance. */
bool app_came_through(const struct vt_reader *r, const char *program);

/* For a STRING option -z: "none", "zlib", "zstd", "zlib:9", or a number, which is zlib's level. */
#define APP_OPT_COMPRESS(variable)                                                                 \
	{                                                                                          \
		.letter = 'z', .name = "compress", .type = VT_OPT_STRING, .value = &(variable),    \
		.arg = "HOW", .check = app_check_compression,                                      \
		.help = "none, zlib[:LEVEL], zstd[:LEVEL] or a zlib level; else zlib into\n"       \
			"files and none into pipes"                                                \
	}

/* Refuses what -z does not take: VT_E_USAGE. */
int app_check_compression(const char *text, const char *what, struct vt_error *err);

#define APP_OPT_OUTPUT(variable)                                                                   \
	{                                                                                          \
		.letter = 'o', .name = "output", .type = VT_OPT_STRING, .value = &(variable),      \
		.arg = "FILE", .help = "write to FILE, not to standard output", .unrecorded = true \
	}

#define APP_OPT_SEED(app)                                                                          \
	{                                                                                          \
		.letter = 's', .name = "seed", .type = VT_OPT_U64, .value = &(app).seed,           \
		.arg = "SEED", .help = "seed of the random numbers (default 1)"                    \
	}

/*
 * Says that the program is about to make a stream, `path` as below.  If it fails before it opens
 * one, app_finish() writes one to standard output that has nothing but the failure, for the next
 * program to say; a file or a terminal gets none.
 */
void app_make_stream(struct app *a, const char *path);

/*
 * Opens a stream to be written; `path` NULL or "-" is standard output, which must not be a
 * terminal; `compress` is the text of -z or NULL.  The program becomes the last stage of the
 * inputs' provenance.  NULL after app_fail() or app_usage().
 */
struct vt_writer *app_open_writer(struct app *a, const char *path, const char *compress,
				  struct vt_reader *const *inputs, size_t ninputs);

/*
 * Ends the stream: COMPLETE, or LOSSY when the status so far is APP_LOSSY; with the failure when it
 * is graver, or an input says that a program before failed.  False after app_fail().  NULL is
 * allowed.
 */
bool app_close_writer(struct app *a, struct vt_writer *w);

#endif
