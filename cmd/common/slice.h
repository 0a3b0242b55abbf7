/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_SLICE_H
#define CMD_COMMON_SLICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"
#include "cmd/common/app.h"
#include "cmd/common/images.h"
#include "profile/slice.h"

/*
 * The options that pick samples, of every program that reads them: --pid, --tid, --cpu, --time,
 * --comm, --image (and --dso, perf's word for it) and --symbol.
 *
 *	struct app_slice slice = {0};
 *	const struct vt_opt opts[] = { ..., APP_OPT_SLICE(slice), {0} };
 *
 *	if (app_start(...) && app_slice_start(&app, &slice, symfs))
 *		... app_each_run() and its kin hand on only what is in the slice ...
 *	app_slice_end(&slice);
 */
struct app_slice {
	struct vt_opt_list lists[VT_NSLICES];
	bool alone; /* the program itself has no images: warnings about them are this one's */
	struct app *app;
	struct vt_slice *slice;
	const char *symfs;
	struct app_context in; /* for --image and --symbol */
};

/* clang-format off */
#define APP_OPT_SLICE_IMAGE(slice)                                                                 \
	{.name = "image", .type = VT_OPT_LIST, .value = &(slice).lists[VT_SLICE_IMAGE],            \
	 .arg = "PATTERNS", .help = "only samples in these images: paths or file names, with * and ?"}, \
	{.name = "dso", .type = VT_OPT_LIST, .value = &(slice).lists[VT_SLICE_IMAGE],              \
	 .arg = "PATTERNS", .help = "the same, in perf's words"}
#define APP_OPT_SLICE_CPU(slice)                                                                   \
	{.name = "cpu", .type = VT_OPT_LIST, .value = &(slice).lists[VT_SLICE_CPU],                \
	 .arg = "LIST", .help = "only samples of these CPUs, as in 0-3,7"}
/* For a program whose --image is something else. */
#define APP_OPT_SLICE_ONLY(slice)                                                                  \
	{.name = "pid", .type = VT_OPT_LIST, .value = &(slice).lists[VT_SLICE_PID],                \
	 .arg = "LIST", .help = "only samples of these processes"},                                \
	{.name = "tid", .type = VT_OPT_LIST, .value = &(slice).lists[VT_SLICE_TID],                \
	 .arg = "LIST", .help = "only samples of these threads"},                                  \
	{.name = "comm", .type = VT_OPT_LIST, .value = &(slice).lists[VT_SLICE_COMM],              \
	 .arg = "PATTERNS", .help = "only samples of threads of these names, with * and ?"},       \
	{.name = "time", .type = VT_OPT_LIST, .value = &(slice).lists[VT_SLICE_TIME],              \
	 .arg = "A,B", .help = "only samples from second A to B of the recording's clock, or +A to\n" \
		 "+B since the first sample; either may be left out"},                             \
	{.name = "symbol", .type = VT_OPT_LIST, .value = &(slice).lists[VT_SLICE_SYMBOL],          \
	 .arg = "PATTERNS", .help = "only samples in these procedures, with * and ?"}
/* clang-format on */

#define APP_OPT_SLICE(slice)                                                                       \
	APP_OPT_SLICE_ONLY(slice), APP_OPT_SLICE_CPU(slice), APP_OPT_SLICE_IMAGE(slice)

/*
 * Reads the options; where one is given, the streams that are read from then on are sliced.  False
 * after app_usage() or app_fail().  Call app_slice_end() in either case.
 */
bool app_slice_start(struct app *a, struct app_slice *s, const char *symfs);
void app_slice_end(struct app_slice *s);

/* ---- for the loop over a stream's records ---- */

/* Begins a stream.  False after app_fail(). */
bool app_slice_begin(struct app_slice *s);

/* As vt_slice_feed(). */
int app_slice_feed(struct app_slice *s, const struct vt_block *block, uint32_t first,
		   uint32_t count, vt_consume_fn *take, void *arg, struct vt_error *err);

/*
 * Says what of the stream `name`, read to its end, was left out.  Returns what it lacks, for
 * app_lacks(), if nothing is left; else NULL.
 */
const char *app_slice_tell(struct app_slice *s, const char *name);

#endif
