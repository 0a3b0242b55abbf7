/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORD_CHECKUP_H
#define CMD_RECORD_CHECKUP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* What this machine and user can record, and what to do about the rest: for `vtrace doctor`. */

struct app_debuginfod; /* cmd/common/debuginfod.h */

struct checkup_finding {
	const char *key;  /* of JSON: "intel_pt" */
	const char *what; /* "Intel PT" */
	bool there;
	struct vt_buf found; /* what was found, in words */
	struct vt_buf fix;   /* empty: there is nothing to do, or nothing can be done */
};

#define CHECKUP_MAX 64

struct checkup {
	struct checkup_finding findings[CHECKUP_MAX];
	size_t count;
};

/* Looks at the machine.  End with checkup_fini(). */
void checkup_machine(struct checkup *c);

#define CHECKUP_PROGRAMS 16

/*
 * Looks at a program or library, at most CHECKUP_PROGRAMS of them: can it be profiled by name and
 * line?  `debuginfod` is asked for its debug information; NULL: none is.
 */
void checkup_program(struct checkup *c, const char *path, struct app_debuginfod *debuginfod);

/* False: no memory. */
bool checkup_ok(const struct checkup *c);
void checkup_fini(struct checkup *c);

#endif
