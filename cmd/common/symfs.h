/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_SYMFS_H
#define CMD_COMMON_SYMFS_H

#include "base/error.h"

/*
 * Archives that --symfs names, as `perf archive` makes one: each is unpacked once in the life of a
 * program, into a directory of its own below TMPDIR, which another process removes as soon as the
 * program ends, however that is.
 */
struct app_archive;

/*
 * The directory that a --symfs means: itself, or that of the archive, which is unpacked and added
 * to *archives.  NULL for NULL.  Borrowed until app_archives_free().  NULL with *err: as
 * vt_unpack(), or it cannot be unpacked there.
 */
const char *app_symfs_dir(struct app_archive **archives, const char *symfs, struct vt_error *err);

/* Waits until the directories have been removed. */
void app_archives_free(struct app_archive *archives);

#endif
