/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records and values as lines, and the summary of a raw trace: every character of a few. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "listing/stream/executions.h"
#include "listing/stream/records.h"
#include "listing/stream/summary.h"
#include "stream/reader.h"
#include "stream/writer.h"
#include "tests/unit/common/printed.h"
#include "tests/unit/common/scenes.h"
#include "tests/unit/common/streams.h"

static struct vt_error err;

/* An event and a sample of it with registers, and a value. */
static struct vt_reader *make_stream(int fd)
{
	static const uint64_t registers[] = {1, 0xff};
	struct vt_writer *w = start_stream(fd);
	uint64_t *row;

	vt_writer_row(w, VT_META);
	vt_writer_text(w, VT_META_KEY, "arch");
	vt_writer_text(w, VT_META_VALUE, "x86_64");
	row = vt_writer_row(w, VT_EVENT);
	row[VT_EVENT_ID] = 7;
	row[VT_EVENT_REGS_USER] = 1 << 0 | 1 << 7;
	vt_writer_text(w, VT_EVENT_NAME, "cycles");
	row = vt_writer_row(w, VT_SAMPLE);
	row[VT_SAMPLE_PID] = 10;
	row[VT_SAMPLE_HAS] = VT_HAS_CPU;
	row[VT_SAMPLE_IP] = 0x401000;
	row[VT_SAMPLE_EVENT] = 7;
	row[VT_SAMPLE_UREGS_ABI] = 2;
	vt_writer_words(w, VT_SAMPLE_UREGS, registers, 2);
	row = vt_writer_row(w, VT_VALUE);
	row[VT_VALUE_PID] = (uint64_t)-1;
	row[VT_VALUE_TID] = 12;
	row[VT_VALUE_IP] = 0x1f;
	row[VT_VALUE_WHAT] = VT_WHAT_LOAD;
	row[VT_VALUE_REG] = 3;
	row[VT_VALUE_SIZE] = 8;
	row[VT_VALUE_VALUE] = UINT64_MAX;
	return reread_stream(fd, w);
}

static const char *dump(const struct vt_record_dump_options *opt, bool header)
{
	int fd = scratch_file();
	struct vt_reader *r = make_stream(fd);
	struct vt_record rec;
	struct vt_output out;
	struct vt_record_dump *d;

	print_begin(&out);
	d = vt_record_dump_new(&out, opt);
	assert_non_null(d);
	if (header)
		vt_record_dump_header(d);
	if (vt_record_dump_begin(d, vt_reader_schema(r), NULL, &err) == 0) {
		while (vt_reader_next(r, &rec, &err) == 1 &&
		       vt_record_dump_feed(d, &rec, &err) == 0)
			;
	} else {
		vt_output_text(&out, err.text);
	}
	vt_record_dump_free(d);
	vt_reader_close(r);
	close(fd);
	return print_end(&out);
}

static void fields_are_separated_by_tabs(void **state)
{
	const struct vt_record_dump_options opt = {.fields = "kind,pid,ip,event,uregs,brstack"};

	(void)state;
	assert_string_equal(dump(&opt, true), "# kind\tpid\tip\tevent\turegs\tbrstack\n"
					      "SAMPLE\t10\t0x401000\tcycles\tABI:2 AX:0x1 SP:0xff\t"
					      "\n");
}

static void what_was_not_recorded_is_empty(void **state)
{
	const struct vt_record_dump_options text = {.fields = "ip,cpu,weight,addr"};
	const struct vt_record_dump_options json = {.fields = "cpu,weight,addr", .json = true};

	(void)state;
	assert_string_equal(dump(&text, false), "0x401000\t0\t\t\n");
	assert_string_equal(dump(&json, false), "{\"schema\": \"vtrace-dump/1\", \"cpu\": 0, "
						"\"weight\": null, \"addr\": null}\n");
}

static void json_has_members(void **state)
{
	const struct vt_record_dump_options opt = {.fields = "pid,ip,uregs", .json = true};

	(void)state;
	assert_string_equal(
		dump(&opt, false),
		"{\"schema\": \"vtrace-dump/1\", \"pid\": 10, \"ip\": \"0x401000\", \"uregs\": "
		"{\"abi\": 2, \"AX\": \"0x1\", \"SP\": \"0xff\"}}\n");
}

static void whole_records_have_names(void **state)
{
	const struct vt_record_dump_options meta = {.kinds = "META"}, first = {.limit = 1};

	(void)state;
	assert_string_equal(dump(&meta, false), "META\tkey=arch\tvalue=x86_64\n");
	assert_string_equal(dump(&first, false), "META\tkey=arch\tvalue=x86_64\n");
}

static void wrong_words_are_refused(void **state)
{
	const struct vt_record_dump_options fields = {.fields = "key,nonsense", .kinds = "META"};

	(void)state;
	assert_string_equal(dump(&fields, false),
			    "--fields: 'nonsense' is not one of: key value data kind");
}

static void values_have_lines(void **state)
{
	const struct vt_execution_dump_options opt = {.values = true};
	int fd = scratch_file();
	struct vt_reader *r = make_stream(fd);
	struct vt_execution_dump *d;
	struct vt_record rec;
	struct vt_output out;

	(void)state;
	print_begin(&out);
	d = vt_execution_dump_new(&out, &opt);
	assert_non_null(d);
	vt_execution_dump_header(d);
	assert_int_equal(vt_execution_dump_begin(d, &err), 0);
	while (vt_reader_next(r, &rec, &err) == 1)
		assert_int_equal(vt_execution_dump_feed(d, &rec, &err), 0);
	vt_execution_dump_free(d);
	vt_reader_close(r);
	close(fd);
	assert_string_equal(print_end(&out),
			    "# pid\ttid\tfirst\tip\twhat\treg\tsize\tlane\tvalue\n"
			    "-1\t12\t-\t0x1f\tload\t3\t8\t0\t0xffffffffffffffff\n");
}

static void raw_traces_are_described(void **state)
{
	static const struct vt_raw_trace trace = {
		.format = "Intel PT",
		.cpu = 2,
		.tid = -1,
		.bytes = 32,
		.packets = 3,
		.kinds = {{"PSB", false, 1, 16}, {"TSC", true, 2, 16}},
		.nkinds = 2,
		.syncs = 1,
		.span = {true, 1000, 3000, 5000000000, 5000002000},
	};
	const struct vt_schema none = {0};
	struct vt_summary s;
	struct vt_summary_view view = {"a.pt", &s, NULL, &trace, 1};
	struct vt_output out;

	(void)state;
	assert_int_equal(vt_summary_init(&s, &none, &err), 0);
	s.bytes = 32;
	print_begin(&out);
	assert_int_equal(vt_summary_print_text(&view, &out, &err), 0);
	assert_string_equal(print_end(&out),
			    "a.pt: 32 bytes\n\n"
			    "Intel PT of processor 2: 32 bytes, 3 packets, not decoded\n"
			    "  1 PSB, 0 overflows\n"
			    "  0 decisions, 0 of them taken; 0 addresses of targets\n"
			    "  timing packets: TSC\n"
			    "  time: TSC 1000 to 3000, 2000 ticks\n"
			    "    5.000000000 s to 5.000002000 s, 0.000002000 s\n"
			    "packets  bytes  of all  kind\n"
			    "      1     16  50.00%  PSB\n"
			    "      2     16  50.00%  TSC\n");
	vt_summary_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_separated_by_tabs),
		cmocka_unit_test(what_was_not_recorded_is_empty),
		cmocka_unit_test(json_has_members),
		cmocka_unit_test(whole_records_have_names),
		cmocka_unit_test(wrong_words_are_refused),
		cmocka_unit_test(values_have_lines),
		cmocka_unit_test(raw_traces_are_described),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
