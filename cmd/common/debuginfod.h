/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_DEBUGINFOD_H
#define CMD_COMMON_DEBUGINFOD_H

#include "image/find.h"

/*
 * The servers of DEBUGINFOD_URLS as a source of images' files: a client of debuginfod(8), which
 * keeps what it has fetched in a cache of its own.  libdebuginfod is loaded with the first request.
 */
struct app_debuginfod;

/*
 * Returns a client, or NULL if DEBUGINFOD_URLS names no server, or for want of memory.  `warn`
 * gets, once each, that the library is missing and that no server answers; `program` begins the
 * line on a terminal that shows how far a slow request is.  All is borrowed.
 */
struct app_debuginfod *app_debuginfod_new(const char *program, vt_find_warn_fn *warn,
					  void *warn_arg);
void app_debuginfod_free(struct app_debuginfod *d);

/*
 * A vt_find_fetch_fn, whose argument is the client or NULL, which has no file.  May be called by
 * several threads.  What was not found is not asked for again, and nothing is once a server could
 * not be reached.
 */
char *app_debuginfod_fetch(void *debuginfod, const uint8_t *buildid, size_t buildid_size,
			   enum vt_find_kind kind);

#endif
