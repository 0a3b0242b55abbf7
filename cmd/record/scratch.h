/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORD_SCRATCH_H
#define CMD_RECORD_SCRATCH_H

#include <stdbool.h>

#include "cmd/common/app.h"

/*
 * Makes a private directory, or an empty file that is then open as *fd, in memory if possible: in
 * VTRACE_TMPDIR or else /dev/shm, or else where temporary files are.  Returns its path, which the
 * caller frees; NULL after app_fail().
 *
 * The file is locked until *fd is closed.  Files of the same user that nobody has locked any more,
 * those of recorders that were killed, are removed first.
 */
char *scratch_make_directory(struct app *a);
char *scratch_make_file(struct app *a, int *fd);

#endif
