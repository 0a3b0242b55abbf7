/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/options.h"

#include <string.h>

#include "interpret/interpret.h"
#include "value/invariance.h"

bool app_check_rules(struct app *a, const struct app_rule *rules, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (rules[i].broken)
			return app_usage(a, "%s", rules[i].text);
	return true;
}

bool app_parse_what(struct app *a, const char *list, uint32_t defaults, uint32_t *what)
{
	*what = list ? 0 : defaults;
	while (list && *list) {
		size_t size = strcspn(list, ",");
		uint32_t kinds = vt_whats_of(list, size, defaults);

		if (!kinds)
			return app_usage(a, "--what: no kind of value is called '%.*s'", (int)size,
					 list);
		*what |= kinds;
		list += size;
		list += *list == ',';
	}
	return *what || app_usage(a, "--what: no kind of value is named");
}

bool app_what(struct app *a, const char *list, uint32_t *what)
{
	return app_parse_what(a, list, VT_INV_EVERY, what);
}

bool app_parse_trust(struct app *a, const char *list, unsigned *trust)
{
	*trust = 0;
	while (list && *list) {
		size_t size = strcspn(list, ",");

		if (size == 6 && memcmp(list, "images", size) == 0)
			*trust |= VT_TRUST_IMAGES;
		else if (size == 9 && memcmp(list, "constants", size) == 0)
			*trust |= VT_TRUST_CONSTANTS;
		else
			return app_usage(a, "--trust: 'images' or 'constants', not '%.*s'",
					 (int)size, list);
		list += size;
		list += *list == ',';
	}
	return true;
}

bool app_parse_fraction(struct app *a, const char *name, const char *text, uint64_t *k)
{
	struct vt_error err = VT_ERROR_INIT;

	*k = 1;
	if (!text)
		return true;
	if (strncmp(text, "1/", 2) != 0)
		return app_usage(a, "%s: '%s' is not of the form 1/K", name, text);
	if (vt_parse_u64(text + 2, name, k, &err) < 0)
		return app_fail(a, &err);
	return (*k >= 1 && *k <= 1000000) || app_usage(a, "%s: 1/1 to 1/1000000", name);
}
