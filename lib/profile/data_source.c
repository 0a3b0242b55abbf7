/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/data_source.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Of linux/perf_event.h: where the fields of a data source lie. */
#define LEVEL_SHIFT	   5
#define LEVEL_BITS	   14
#define LEVEL_HIT	   (1u << 1)
#define LEVEL_MISS	   (1u << 2)
#define LEVEL_NUMBER_SHIFT 33
#define LEVEL_NUMBER_MASK  15u
#define REMOTE_SHIFT	   37

/* By bit, after "N/A", "hit" and "miss". */
static const char *const level_names[LEVEL_BITS] = {
	NULL,
	NULL,
	NULL,
	"L1",
	"LFB",
	"L2",
	"L3",
	"Local RAM",
	"Remote RAM (1 hop)",
	"Remote RAM (2 hops)",
	"Remote Cache (1 hop)",
	"Remote Cache (2 hops)",
	"I/O",
	"Uncached",
};

static const char *const number_names[LEVEL_NUMBER_MASK + 1] = {
	[1] = "L1",   [2] = "L2",	  [3] = "L3",	[4] = "L4",   [9] = "CXL",
	[10] = "I/O", [11] = "Any cache", [12] = "LFB", [13] = "RAM", [14] = "PMEM",
};

static void append(char buf[VT_DATA_SOURCE_SIZE], const char *text)
{
	size_t at = strlen(buf);

	snprintf(buf + at, VT_DATA_SOURCE_SIZE - at, "%s", text);
}

const char *vt_data_source_text(uint64_t data_src, char buf[VT_DATA_SOURCE_SIZE])
{
	const uint64_t levels = data_src >> LEVEL_SHIFT;
	const char *number = number_names[data_src >> LEVEL_NUMBER_SHIFT & LEVEL_NUMBER_MASK];
	bool named = false;
	unsigned i;

	*buf = '\0';
	if (data_src >> REMOTE_SHIFT & 1)
		append(buf, "Remote ");
	for (i = 0; i < LEVEL_BITS; i++) {
		if (!level_names[i] || !(levels >> i & 1))
			continue;
		append(buf, named ? " or " : "");
		append(buf, level_names[i]);
		named = true;
	}
	if (!named)
		append(buf, number ? number : "N/A");
	if (levels & LEVEL_HIT)
		append(buf, " hit");
	if (levels & LEVEL_MISS)
		append(buf, " miss");
	return buf;
}
