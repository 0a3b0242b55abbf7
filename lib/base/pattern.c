/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/pattern.h"

#include <stddef.h>
#include <string.h>

#include "base/buf.h"
#include "base/name.h"

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

/* What follows the last "::" of a name without brackets. */
static const char *skip_scopes(const char *bare)
{
	const char *at = strstr(bare, "::");

	for (; at; at = strstr(bare, "::"))
		bare = at + 2;
	return bare;
}

bool vt_pattern_names(const char *pattern, const char *name)
{
	struct vt_buf b = VT_BUF_INIT;
	bool matches = vt_pattern_matches(pattern, name);

	if (!matches) {
		vt_name_bare(&b, name, strlen(name));
		matches = vt_pattern_matches(pattern, vt_buf_str(&b)) ||
			  vt_pattern_matches(pattern, skip_scopes(vt_buf_str(&b)));
	}
	if (!matches) {
		b.size = 0;
		vt_name_shorten(&b, name, strlen(name));
		matches = vt_pattern_matches(pattern, vt_buf_str(&b));
	}
	vt_buf_free(&b);
	return matches;
}
