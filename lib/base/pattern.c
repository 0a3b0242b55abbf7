/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/pattern.h"

#include <stddef.h>
#include <string.h>

/* Steps over one byte of the text; NULL if the pattern does not begin with it. */
static const char *match_byte(const char *pattern, char byte)
{
	if (*pattern == '?')
		return pattern + 1;
	if (*pattern == '\\' && pattern[1])
		pattern++;
	return *pattern == byte ? pattern + 1 : NULL;
}

static bool match_pattern(const char *pattern, const char *text)
{
	const char *star = NULL; /* what follows the last star, */
	const char *from = NULL; /* and the text that is tried for it */

	while (*text) {
		const char *next = *pattern == '*' ? NULL : match_byte(pattern, *text);

		if (*pattern == '*') {
			star = ++pattern;
			from = text;
		} else if (next) {
			pattern = next;
			text++;
		} else if (star) {
			pattern = star;
			text = ++from;
		} else {
			return false;
		}
	}
	return !pattern[strspn(pattern, "*")];
}

bool vt_pattern_matches(const char *pattern, const char *text)
{
	return strcmp(pattern, text) == 0 || match_pattern(pattern, text);
}
