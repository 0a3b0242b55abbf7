/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all JSON documents share: the documents below are written out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "listing/json.h"
#include "tests/unit/common/printed.h"

static const char *written(json_t *value, bool pretty)
{
	struct vt_output out;

	print_begin(&out);
	vt_json_write(&out, value, pretty);
	return print_end(&out);
}

static void test_values(void **state)
{
	(void)state;
	assert_string_equal(written(vt_json_text("a\"b", 3), false), "\"a\\\"b\"\n");
	assert_string_equal(written(vt_json_text("a\xff", 2), false), "\"a\\\\xff\"\n");
	assert_string_equal(written(vt_json_hex(0xfedcba9876543210), false),
			    "\"0xfedcba9876543210\"\n");
	assert_string_equal(written(vt_json_bytes("\x01\xab", 2), false), "\"01ab\"\n");
	assert_string_equal(written(vt_json_u64(INT64_MAX), false), "9223372036854775807\n");
	assert_string_equal(written(vt_json_u64((uint64_t)INT64_MAX + 1), false),
			    "\"9223372036854775808\"\n");
	assert_string_equal(written(vt_json_real(0.5), false), "0.5\n");
	assert_string_equal(written(vt_json_real(NAN), false), "null\n");
	assert_string_equal(written(vt_json_real(-INFINITY), false), "null\n");
}

static void test_losses(void **state)
{
	const struct vt_losses loss = {
		.lost_places = 1, .lost = 2, .gaps = 3, .gap_bytes = 4, .gap_records = 5};
	json_t *doc = vt_json_doc("x/1");

	(void)state;
	vt_json_losses(doc, &loss);
	assert_string_equal(written(doc, false),
			    "{\"schema\": \"x/1\", \"lost\": {\"places\": 1, \"records\": 2}, "
			    "\"gaps\": {\"places\": 3, \"records\": 5, \"bytes\": 4}}\n");
}

/* A member's name from a file need not be UTF-8. */
static void test_member_names(void **state)
{
	json_t *doc = json_object();

	(void)state;
	vt_json_set(doc, "plain", json_true());
	vt_json_set(doc, "\xff", json_false());
	assert_string_equal(written(doc, true), "{\n  \"plain\": true,\n  \"\\\\xff\": false\n}\n");
}

/* Two events' columns make two objects of one list; empty cells and keyless columns none. */
static void test_table(void **state)
{
	struct vt_table *t = vt_table_new();

	(void)state;
	vt_table_column(t, "name", "Name", VT_FORMAT_TEXT);
	vt_table_column(t, "at", "At", VT_FORMAT_HEX);
	vt_table_column(t, NULL, "For people", VT_FORMAT_TEXT);
	vt_table_column_of(t, "events", "cycles", "samples", "c", "C", VT_FORMAT_NUMBER);
	vt_table_column_of(t, "events", "cycles", "share", "cs", "C%", VT_FORMAT_PERCENT);
	vt_table_column_of(t, "events", "loads", "samples", "l", "L", VT_FORMAT_NUMBER);
	vt_table_column(t, "moved", "Moved", VT_FORMAT_SIGNED);
	vt_table_row(t, VT_STYLE_PLAIN);
	vt_table_str(t, "main");
	vt_table_number(t, 0x10);
	vt_table_str(t, "unseen");
	vt_table_number(t, 3);
	vt_table_percent(t, 3, 4);
	vt_table_number(t, 1);
	vt_table_signed(t, -7);
	vt_table_row(t, VT_STYLE_PLAIN);
	vt_table_str(t, "f");
	vt_table_empty(t);
	vt_table_empty(t);
	vt_table_empty(t);
	vt_table_empty(t);
	vt_table_number(t, 2);
	assert_string_equal(
		written(vt_json_table(t), false),
		"[{\"name\": \"main\", \"at\": \"0x10\", \"events\": [{\"name\": \"cycles\", "
		"\"samples\": 3, \"share\": 75.0}, {\"name\": \"loads\", \"samples\": 1}], "
		"\"moved\": -7}, {\"name\": \"f\", \"events\": [{\"name\": \"loads\", "
		"\"samples\": 2}]}]\n");
	vt_table_free(t);
}

/* A value that could not be made is an error of the output. */
static void test_no_value(void **state)
{
	struct vt_output out;

	(void)state;
	print_begin(&out);
	vt_json_write(&out, NULL, false);
	assert_int_equal(out.err.code, VT_E_NOMEM);
	out.err.code = VT_OK;
	print_end(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),	     cmocka_unit_test(test_losses),
		cmocka_unit_test(test_member_names), cmocka_unit_test(test_table),
		cmocka_unit_test(test_no_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
