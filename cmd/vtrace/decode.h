/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_VTRACE_DECODE_H
#define CMD_VTRACE_DECODE_H

#include "cmd/common/app.h"

/* Makes a stream from a recorded trace; NULL options are those not given.  Failure: the status. */
void decode_file(struct app *a, const char *path, const char *output, const char *compress,
		 const char *format);

#endif
