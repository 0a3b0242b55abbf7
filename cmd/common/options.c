/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/options.h"

bool app_check_rules(struct app *a, const struct app_rule *rules, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (rules[i].broken)
			return app_usage(a, "%s", rules[i].text);
	return true;
}
