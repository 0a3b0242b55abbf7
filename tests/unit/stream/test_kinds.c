/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of numbers in records: each that the format has, and no more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stream/kinds.h"
#include "stream/schema.h"
#include "stream/units.h"

static void names_of_numbers(void **state)
{
	static const struct {
		const char *(*name)(uint64_t);
		uint64_t n;
	} rows[] = {
		{vt_policy_name, VT_NPOLICIES},
		{vt_image_type_name, VT_NIMAGETYPES},
		{vt_thread_op_name, VT_NOPS},
		{vt_block_end_name, VT_NENDS},
		{vt_what_name, VT_NWHATS},
		{vt_algo_name, VT_NALGOS},
		{vt_state_reason_name, VT_NSTATES},
		{vt_trace_event_name, VT_NTRACES},
		{vt_conflict_name, VT_NCONFLICTS},
		{vt_walk_stop_name, VT_NWALKSTOPS},
		{vt_confidence_name, VT_NCONFIDENCES},
		{vt_method_name, VT_NMETHODS},
		{vt_stall_name, VT_NSTALLS},
		{vt_heap_op_name, VT_NHEAPS},
		{vt_object_type_name, VT_NOBJECTTYPES},
	};
	size_t i;
	uint64_t v;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (v = 0; v < rows[i].n; v++)
			assert_string_not_equal(rows[i].name(v), "?");
		assert_string_equal(rows[i].name(v), "?");
		assert_string_equal(rows[i].name(UINT64_MAX), "?");
	}
}

/* What no slice or filter of samples can take a part of. */
static void estimates(void **state)
{
	static const uint32_t yes[] = {VT_FREQ,	      VT_EDGE,	   VT_STALL,  VT_REGION,
				       VT_MISPREDICT, VT_LOADS,	   VT_EVSTAT, VT_PAIRSTAT,
				       VT_PATH,	      VT_ACCESSES, VT_OBJECT, VT_LOCATION};
	uint32_t k, n = 0;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		assert_true(vt_kind_is_estimate(yes[i]));
	for (k = 0; k < VT_NKINDS + 3; k++)
		n += vt_kind_is_estimate(k);
	assert_int_equal(n, sizeof(yes) / sizeof(yes[0]));
}

/* What readers find by name is what was declared under it. */
static void distinct_names(void **state)
{
	struct vt_schema s;
	struct vt_error err;
	uint32_t k, f;

	(void)state;
	assert_int_equal(vt_schema_init(&s, &err), 0);
	for (k = 0; k < s.nkinds; k++) {
		assert_int_equal(vt_schema_find(&s, s.kinds[k].name), k);
		for (f = 0; f < s.kinds[k].nfields; f++)
			assert_int_equal(
				vt_schema_find_field(&s.kinds[k], s.kinds[k].fields[f].name), f);
	}
	vt_schema_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_numbers),
		cmocka_unit_test(estimates),
		cmocka_unit_test(distinct_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
