/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "cmd/agent/agent.h"

/*
 * Daemons, shells and interpreters close all files that they do not know.  The event's must stay
 * open, and is none of theirs: for them there is no such file.
 */

typedef int close_fn(int);
typedef int close_range_fn(unsigned, unsigned, int);

static close_fn *real_close;
static close_range_fn *real_close_range;

AGENT_EXPORT int close(int fd)
{
	if (agent.fd >= 0 && fd == agent.fd) {
		errno = EBADF;
		return -1;
	}
	if (!real_close)
		real_close = (close_fn *)dlsym(RTLD_NEXT, "close");
	return real_close(fd);
}

AGENT_EXPORT int close_range(unsigned first, unsigned last, int flags)
{
	unsigned own = (unsigned)agent.fd;
	int rc = 0;

	if (!real_close_range)
		real_close_range = (close_range_fn *)dlsym(RTLD_NEXT, "close_range");
	if (agent.fd < 0 || own < first || own > last)
		return real_close_range(first, last, flags);
	if (first < own)
		rc = real_close_range(first, own - 1, flags);
	if (rc == 0 && own < last)
		rc = real_close_range(own + 1, last, flags);
	return rc;
}

AGENT_EXPORT void closefrom(int lowest)
{
	close_range(lowest < 0 ? 0 : (unsigned)lowest, UINT_MAX, 0);
}
