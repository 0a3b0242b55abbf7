/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which event machines sample branch stacks by, by what they offer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "freq/event.h"
#include "freq/stack_length.h"

static void test_machines(void **state)
{
	static const struct {
		struct vt_stack_offer offer;
		const char *name, *modifiers;
	} machines[] = {
		{{.instructions = false}, NULL, NULL}, /* no PMU */
		/* Intel since Haswell; AMD Zen 4, and Zen 3 of BRS; E cores; a VM without PEBS */
		{{true, false, true, true}, "br_inst_retired.near_taken", "upp"},
		{{false, true, true, false}, "ex_ret_brn_tkn", "u"},
		{{false, true, false, false}, "ex_ret_brn_tkn", "u"},
		{{false, false, true, true}, "instructions", "upp"},
		{{false, false, true, false}, "instructions", "u"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		const struct vt_stack_event *e = vt_stack_event_of(&machines[i].offer);

		if (!machines[i].name) {
			assert_null(e);
			continue;
		}
		assert_string_equal(e->name, machines[i].name);
		assert_string_equal(e->modifiers, machines[i].modifiers);
		/* Its name in the recording must tell what unit the stacks have. */
		assert_int_not_equal(vt_stack_unit_of((struct vt_bytes){(const uint8_t *)e->name,
									strlen(e->name)}),
				     VT_STACK_UNIT_OTHER);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_machines)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
