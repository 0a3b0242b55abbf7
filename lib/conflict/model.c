/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "conflict/conflict.h"

#define FORWARD	 (1u << VT_CONFLICT_FORWARD)
#define ALIAS_4K (1u << VT_CONFLICT_ALIAS_4K)
#define ORDER	 (1u << VT_CONFLICT_ORDER)
#define SIZE	 (1u << VT_CONFLICT_SIZE)
#define SYNONYM	 (1u << VT_CONFLICT_SYNONYM)

/* What x86 processors of today have in common: each core's first cache, too. */
/* clang-format off */
#define TODAY \
	.late_address = true, .youngest = true, \
	.cache_size = 32768, .cache_ways = 8, .cache_line = 64

const struct vt_conflict_model *vt_conflict_model(const char *name)
{
	static const struct vt_conflict_model models[] = {
		{.name = "generic", .types = FORWARD | ALIAS_4K | ORDER,
		 .distance = 224, .stores = 56, TODAY},
		{.name = "skylake", .types = FORWARD | ALIAS_4K | ORDER,
		 .distance = 224, .stores = 56, TODAY},
		{.name = "zen4", .types = FORWARD | ORDER, .distance = 320, .stores = 64, TODAY},
		{.name = "alpha", .types = ORDER | SIZE | SYNONYM,
		 .distance = 80, .loads_distance = 128,
		 .cache_size = 65536, .cache_ways = 2, .cache_line = 64},
	};
	/* clang-format on */
	size_t i;

	for (i = 0; i < sizeof(models) / sizeof(models[0]); i++)
		if (strcmp(models[i].name, name) == 0)
			return &models[i];
	return NULL;
}
