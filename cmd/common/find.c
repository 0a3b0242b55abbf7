/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *app_buildid_cache(void)
{
	const char *home = getenv("HOME");
	size_t size;
	char *cache;

	if (!home || !*home)
		return NULL;
	size = strlen(home) + sizeof("/.debug");
	cache = malloc(size);
	if (cache)
		snprintf(cache, size, "%s/.debug", home);
	return cache;
}

const char *app_tmpdir(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir ? dir : "/tmp";
}

bool app_beside_program(const char *path, struct vt_buf *b)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (slash)
		vt_buf_printf(b, "%.*s/%s", (int)(slash - self), self, path);
	return slash && !b->failed;
}
