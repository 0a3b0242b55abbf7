/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/units.h"

#include <stddef.h>
#include <string.h>

#include "stream/kinds.h"
#include "stream/profileme.h"

static const struct {
	const char *unit;
	vt_word_fn *word;
} words[] = {
	{"enum:policy", vt_policy_name},      {"enum:image", vt_image_type_name},
	{"enum:thread", vt_thread_op_name},   {"enum:blockend", vt_block_end_name},
	{"enum:what", vt_what_name},	      {"enum:algo", vt_algo_name},
	{"enum:state", vt_state_reason_name}, {"enum:trace", vt_trace_event_name},
	{"enum:conflict", vt_conflict_name},  {"enum:confidence", vt_confidence_name},
	{"enum:method", vt_method_name},      {"enum:path", vt_path_method_name},
	{"enum:stall", vt_stall_name},	      {"enum:why", vt_why_name},
	{"enum:source", vt_pm_source_name},   {"enum:stat", vt_stat_name},
	{"enum:trap", vt_pm_trap_name},	      {"enum:heap", vt_heap_op_name},
	{"enum:object", vt_object_type_name}, {"enum:walk_stop", vt_walk_stop_name},
};

vt_word_fn *vt_unit_words(const char *unit)
{
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].unit, unit) == 0)
			return words[i].word;
	return NULL;
}

/* As PERF_SAMPLE_* of linux/perf_event.h. */
uint64_t vt_sample_has_bits(unsigned field)
{
	switch (field) {
	case VT_SAMPLE_TIME:
		return VT_HAS_TIME;
	case VT_SAMPLE_ADDR:
		return VT_HAS_ADDR;
	case VT_SAMPLE_CPU:
		return VT_HAS_CPU;
	case VT_SAMPLE_PERIOD:
		return VT_HAS_PERIOD;
	case VT_SAMPLE_ID:
		return 1u << 6 | 1u << 16;
	case VT_SAMPLE_STREAM_ID:
		return 1u << 9;
	case VT_SAMPLE_WEIGHT:
		return 1u << 14 | 1u << 24;
	case VT_SAMPLE_WEIGHT2:
	case VT_SAMPLE_WEIGHT3:
		return 1u << 24;
	case VT_SAMPLE_DATA_SRC:
		return VT_HAS_DATA_SRC;
	case VT_SAMPLE_TRANSACTION:
		return 1u << 17;
	case VT_SAMPLE_PHYS_ADDR:
		return 1u << 19;
	case VT_SAMPLE_CGROUP:
		return 1u << 21;
	case VT_SAMPLE_DATA_PAGE_SIZE:
		return 1u << 22;
	case VT_SAMPLE_CODE_PAGE_SIZE:
		return 1u << 23;
	default:
		return 0;
	}
}

bool vt_kind_is_estimate(uint32_t kind)
{
	switch (kind) {
	case VT_FREQ:
	case VT_EDGE:
	case VT_STALL:
	case VT_REGION:
	case VT_MISPREDICT:
	case VT_LOADS:
	case VT_EVSTAT:
	case VT_PAIRSTAT:
	case VT_PATH:
	case VT_ACCESSES:
	case VT_OBJECT:
	case VT_LOCATION:
		return true;
	default:
		return false;
	}
}
