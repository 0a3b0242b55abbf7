/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/what.h"

#include <string.h>

#include "stream/kinds.h"
#include "value/invariance.h"

/* The bits of one word. */
static uint32_t kinds_of(const char *word, size_t size, uint32_t defaults)
{
	const struct {
		const char *name;
		uint32_t kinds;
	} more[] = {
		{"caller", 1u << VT_WHAT_RETURN},
		{"address", 1u << VT_WHAT_LOAD_ADDRESS | 1u << VT_WHAT_STORE_ADDRESS},
		{"default", defaults},
		{"all", (1u << VT_NWHATS) - 1},
	};
	uint32_t what, kinds;
	size_t i;

	for (what = 0; what < VT_NWHATS; what++)
		if (strlen(vt_what_name(what)) == size &&
		    memcmp(vt_what_name(what), word, size) == 0)
			return 1u << what;
	for (i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		if (strlen(more[i].name) == size && memcmp(more[i].name, word, size) == 0)
			return more[i].kinds;
	if (size > 2 && memcmp(word + size - 2, "es", 2) == 0) {
		kinds = kinds_of(word, size - 2, defaults);
		if (kinds)
			return kinds;
	}
	return size > 1 && word[size - 1] == 's' ? kinds_of(word, size - 1, defaults) : 0;
}

bool app_parse_what(struct app *a, const char *list, uint32_t defaults, uint32_t *what)
{
	*what = list ? 0 : defaults;
	while (list && *list) {
		size_t size = strcspn(list, ",");
		uint32_t kinds = kinds_of(list, size, defaults);

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
