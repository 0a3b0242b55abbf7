/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Raw bytes of IBS samples: the first byte chooses the processor and the unit, the rest is what the
 * kernel gave.  Whatever they hold, what is set is known, and what is not known is 0.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/followed/ibs.h"
#include "formats/followed/pebs.h"
#include "stream/profileme.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good, const char *what)
{
	if (!good) {
		fprintf(stderr, "fuzz_ibs: %s\n", what);
		abort();
	}
}

static void check_row(const uint64_t *row)
{
	uint64_t has = row[VT_SAMPLE_PM_HAS];
	unsigned f;

	for (f = VT_SAMPLE_EVENTS; vt_pm_is_field(f); f++)
		check(has & VT_PM_BIT_OF(f) || !row[f], "a field that is not known has a value");
	check(!(row[VT_SAMPLE_PM_LEAST] & ~has), "a counter stopped that is not known");
	check(!(row[VT_SAMPLE_EVENTS] & ~row[VT_SAMPLE_EVENTS_TOLD]), "an event that is not told");
	check(!row[VT_SAMPLE_EVENTS_TOLD] || has & VT_PM_BIT(EVENTS), "events without their bit");
	check(row[VT_SAMPLE_SOURCE] < VT_NSOURCES, "a source that does not exist");
	check(!(has & VT_PM_BIT(SOURCE)) || row[VT_SAMPLE_SOURCE], "an unknown source");
}

/* The words as a sample's data source and weights. */
static void read_as_memory(const uint8_t *data, size_t size)
{
	uint64_t row[VT_SAMPLE_NFIELDS] = {0}, words[4] = {0};

	memcpy(words, data, size < sizeof(words) ? size : sizeof(words));
	row[VT_SAMPLE_HAS] = words[3];
	row[VT_SAMPLE_DATA_SRC] = words[0];
	row[VT_SAMPLE_WEIGHT] = words[1];
	row[VT_SAMPLE_WEIGHT2] = words[2] & 0xffff;
	row[VT_SAMPLE_WEIGHT3] = words[2] >> 16 & 0xffff;
	vt_pebs_read(row, words[2] >> 32 & 1 ? VT_CPU_INTEL : VT_CPU_AMD);
	check_row(row);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t row[VT_SAMPLE_NFIELDS] = {0};
	struct vt_ibs_cpu cpu;
	enum vt_ibs_result result;
	uint8_t *raw;

	if (!size)
		return 0;
	cpu = (struct vt_ibs_cpu){0x19, data[0] >> 1 & 0x1f};
	/* Of its own, so that a byte read beyond it is seen. */
	raw = malloc(size);
	check(raw, "no memory");
	memcpy(raw, data + 1, size - 1);
	result = data[0] & 1 ? vt_ibs_read_op(row, raw, size - 1, cpu)
			     : vt_ibs_read_fetch(row, raw, size - 1, cpu);
	check_row(row);
	check(result < VT_IBS_INVALID || !row[VT_SAMPLE_PM_HAS], "fields of invalid registers");
	read_as_memory(raw, size - 1);
	free(raw);
	return 0;
}
