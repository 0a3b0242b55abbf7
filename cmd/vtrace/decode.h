/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_VTRACE_DECODE_H
#define CMD_VTRACE_DECODE_H

#include "cmd/common/app.h"
#include "formats/pt/timing.h"

/* Makes a stream from a recorded trace; NULL options are those not given.  Failure: the status. */
void decode_file(struct app *a, const char *path, const char *output, const char *compress,
		 const char *format);

/*
 * Takes CPUID 15H EAX and EBX of --cpuid-15h, "2,176", neither larger than said; NULL: not given.
 * False after app_usage().
 */
bool parse_crystal(struct app *a, const char *text, uint32_t max_eax, uint32_t max_ebx,
		   struct vt_pt_clock *clock);

#endif
