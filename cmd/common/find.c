/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
