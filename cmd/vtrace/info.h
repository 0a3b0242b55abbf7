/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_VTRACE_INFO_H
#define CMD_VTRACE_INFO_H

#include "base/output.h"
#include "cmd/vtrace/summary.h"
#include "stream/reader.h"

/* The two forms of vtrace info; `r` has been read to its end. */
int info_print_text(const struct summary *s, const struct vt_reader *r, struct vt_output *out,
		    struct vt_error *err);
void info_print_json(const struct summary *s, const struct vt_reader *r, struct vt_output *out);

/* The same of a raw trace of Intel PT. */
int info_raw_text(const struct summary *s, const char *name, struct vt_output *out,
		  struct vt_error *err);
void info_raw_json(const struct summary *s, const char *name, struct vt_output *out);

/* "complete", "lossy", "interrupted" or "truncated". */
const char *info_status(const struct vt_reader *r);

#endif
