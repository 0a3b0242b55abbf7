/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_VTRACE_ENCODE_H
#define CMD_VTRACE_ENCODE_H

#include "cmd/common/app.h"
#include "formats/perfpt/encode.h"

/* What `vtrace encode` was asked for. */
struct encode {
	struct app *app;
	struct vt_pt_wrap_options opt;
	bool perf;			 /* a perf.data, else raw traces */
	struct vt_pt_encode_files files; /* its path is also that of the perf.data */
	const char *pages;		 /* PREFIX, and the files named by it: */
	struct vt_buf dump, addr;
};

/* Writes the blocks of a stream as a perf.data.  Failure: the app's status. */
void encode_perf(struct encode *c, struct vt_reader *r);

/* Says what the encoder had to leave out or change. */
void encode_report(struct encode *c, const struct vt_pt_encode *e);

#endif
