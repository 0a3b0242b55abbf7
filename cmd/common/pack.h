/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_PACK_H
#define CMD_COMMON_PACK_H

#include "cmd/common/app.h"
#include "stream/writer.h"

/* Writes what only the recorder knows of a recording, as META, at the begin of its stream. */
typedef void app_facts_fn(const void *arg, struct vt_writer *w);

/* How a stream is packed; NULL: not given. */
struct app_pack {
	const char *output;
	const char *compress;
	const char *symfs;
	app_facts_fn *facts;
	const void *facts_arg;
};

/*
 * Writes a stream anew, with what listings need of the files of its images.  `path` as
 * app_open_reader() has it.  Failure: the app's status.
 */
void app_pack(struct app *a, const struct app_pack *o, const char *path);

#endif
