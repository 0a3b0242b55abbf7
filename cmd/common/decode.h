/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_DECODE_H
#define CMD_COMMON_DECODE_H

#include "cmd/common/app.h"
#include "cmd/common/pack.h"
#include "formats/pt/options.h"
#include "formats/pt/timing.h"

/* How an input becomes a stream; NULL: not given. */
struct app_decode {
	const char *output;
	const char *compress;
	const char *format;
	const char
		*raw_option; /* an option that was given and is for raw traces of Intel PT only */
	struct vt_pt_decode_options pt;
	app_facts_fn *facts; /* of where it was recorded; may be NULL */
	const void *facts_arg;
	bool keep_raw; /* of what hardware tells of an instruction, keep the raw bytes only */
	bool pack;     /* with what listings need of the files of its images */
};

/* Makes a stream from a recorded trace, or writes a stream anew.  Failure: the app's status. */
void app_decode(struct app *a, const struct app_decode *d, const char *path);

/*
 * Takes CPUID 15H EAX and EBX of --cpuid-15h, "2,176", neither larger than said; NULL: not given.
 * False after app_usage().
 */
bool app_parse_crystal(struct app *a, const char *text, uint32_t max_eax, uint32_t max_ebx,
		       struct vt_pt_clock *clock);

#endif
