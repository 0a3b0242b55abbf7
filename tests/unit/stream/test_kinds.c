/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of numbers in records: each that the format has, and no more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stream/kinds.h"

static void names_of_numbers(void **state)
{
	static const struct {
		const char *(*name)(uint64_t);
		uint64_t n;
	} rows[] = {
		{vt_policy_name, VT_NPOLICIES},	    {vt_image_type_name, VT_NIMAGETYPES},
		{vt_thread_op_name, VT_NOPS},	    {vt_block_end_name, VT_NENDS},
		{vt_what_name, VT_NWHATS},	    {vt_algo_name, VT_NALGOS},
		{vt_state_reason_name, VT_NSTATES}, {vt_trace_event_name, VT_NTRACES},
		{vt_conflict_name, VT_NCONFLICTS},  {vt_confidence_name, VT_NCONFIDENCES},
		{vt_method_name, VT_NMETHODS},	    {vt_stall_name, VT_NSTALLS},
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
