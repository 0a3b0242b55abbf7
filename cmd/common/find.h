/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_FIND_H
#define CMD_COMMON_FIND_H

#include "base/opt.h"

/* Where files are looked for, or made. */

/* perf's build-id cache, ~/.debug; NULL: no home, or no memory.  Owned by the caller (free()). */
char *app_buildid_cache(void);

/* Where temporary files are made. */
const char *app_tmpdir(void);

/* Appends a path that is relative to where this program lies: the same when built and installed. */
bool app_beside_program(const char *path, struct vt_buf *b);

#define APP_OPT_SYMFS(variable)                                                                    \
	{                                                                                          \
		.name = "symfs", .type = VT_OPT_STRING, .value = &(variable), .arg = "DIR",        \
		.help = "look for the images below DIR: a copy of the recorded machine's /\n"      \
			"or of perf's build-id cache, or an archive of either"                     \
	}

#endif
