/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TOOLS_PROCMAPS_H
#define TOOLS_PROCMAPS_H

#include <stdbool.h>
#include <sys/types.h>

#include "image/addrspace.h"
#include "image/images.h"

/*
 * Adds what a running process has mapped of files, by /proc/PID/maps, to an address space, and the
 * files to the images.  With `code_only`, executable mappings only.  May be called again when the
 * process has mapped more.  False with *err, or errno.
 */
bool procmaps_read(struct vt_images *images, struct vt_addrspace *as, pid_t pid, bool code_only,
		   struct vt_error *err);

#endif
