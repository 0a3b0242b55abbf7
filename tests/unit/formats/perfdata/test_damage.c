/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that are damaged, and what is made of the records around the damage. */
#include "formats/perfdata/perfdata.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "formats/perfdata/abi.h"
#include "tests/unit/formats/perfdata/pdexpect.h"

/* Where the records of a file with one attribute and one id, and of a pipe, begin. */
#define FILE_DATA (104 + 8 + 136 + 16)

#define SAMPLE_SIZE PDEXPECT_SAMPLE_SIZE

static void expect_passed_over(uint32_t type, unsigned size, size_t at, size_t bytes,
			       const char *to)
{
	pdexpect(
		"GAP reason=a record of type %u and size %u, or what is behind it, is damaged: %zu "
		"bytes are passed over, %s input=in offset=%zu bytes=%zu",
		type, size, bytes, to, at, bytes);
}

static const char next[] = "up to the next record", none[] = "no record that fits follows";

static void passes_over_wrong_sizes(void **state)
{
	static const struct {
		uint32_t type;
		uint16_t size;
	} wrong[] = {{PD_THREAD_MAP, 0},  {PD_THREAD_MAP, 7}, {PD_SAMPLE, 0},
		     {PD_SAMPLE, 0xffff}, {PD_SAMPLE, 48},    {PD_COMM, 24},
		     {PD_THREAD_MAP, 40}};
	unsigned form, i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		for (form = 0; form < PDEXPECT_FORMS; form++) {
			struct pdfile f = pdexpect_form(form);
			struct vt_format_summary sum;

			pdfile_attr(&f, &pdexpect_plain);
			pdexpect_put_samples(&f, 1000, 3);
			expect_passed_over(wrong[i].type, wrong[i].size, pdexpect_place(&f), 32,
					   next);
			pdexpect_put_wrong(&f, wrong[i].type, wrong[i].size);
			pdexpect_put_samples(&f, 1003, 9);
			pdexpect_samples(1000, 12);
			sum = pdexpect_check(&f);
			assert_int_equal(sum.samples, 12);
			assert_int_equal(sum.records, 12 + f.pipe);
			assert_int_equal(sum.damaged, 1);
			assert_int_equal(sum.unread, 32);
		}
	}
}

/* Where not even the type is right, the record before is in doubt, too. */
static void passes_over_junk(void **state)
{
	unsigned form, last;

	(void)state;
	for (form = 0; form < 2 * PDEXPECT_FORMS; form++) {
		struct pdfile f = pdexpect_form(form);
		struct vt_format_summary sum;

		last = form / PDEXPECT_FORMS;
		pdfile_attr(&f, &pdexpect_plain);
		pdexpect_put_samples(&f, 1000, 2);
		expect_passed_over(PD_SAMPLE, SAMPLE_SIZE, pdexpect_place(&f), SAMPLE_SIZE + 13,
				   last ? none : next);
		pdexpect_put_samples(&f, 1002, 1);
		pdexpect_put_junk(&f, 13);
		if (!last)
			pdexpect_put_samples(&f, 1002, 10);
		pdexpect_samples(1000, last ? 2 : 12);
		sum = pdexpect_check(&f);
		assert_int_equal(sum.samples, last ? 2 : 12);
		assert_int_equal(sum.records, (last ? 2 : 12) + f.pipe);
		assert_int_equal(sum.damaged, 1);
		assert_int_equal(sum.unread, SAMPLE_SIZE + 13);
	}
}

/* ---- records whose contents do not fit into them ---- */

static const struct short_record {
	uint32_t type;
	unsigned words; /* of its payload, with the time that ends those of the kernel */
	uint64_t first; /* of them; the others are 0 */
	const char *why;
} short_records[] = {
	{PD_MMAP, 4, 0, NULL},
	{PD_LOST, 2, 0, NULL},
	{PD_COMM, 1, 0, NULL},
	{PD_EXIT, 3, 0, NULL},
	{PD_THROTTLE, 3, 0, NULL},
	{PD_UNTHROTTLE, 3, 0, NULL},
	{PD_FORK, 3, 0, NULL},
	{PD_READ, 1, 0, NULL},
	{PD_MMAP2, 8, 0, NULL},
	{PD_AUX, 3, 0, NULL},
	{PD_ITRACE_START, 1, 0, NULL},
	{PD_LOST_SAMPLES, 1, 0, NULL},
	{PD_SWITCH_CPU_WIDE, 1, 0, NULL},
	{PD_NAMESPACES, 2, 0, NULL},
	{PD_KSYMBOL, 2, 0, NULL},
	{PD_BPF_EVENT, 2, 0, NULL},
	{PD_CGROUP, 1, 0, NULL},
	{PD_TEXT_POKE, 2, 0, NULL},
	{PD_AUX_OUTPUT_HW_ID, 1, 0, NULL},
	{PD_AUX, 0, 0, "too short for its sample id"},
	{PD_SAMPLE, 1, 0, "the sample is shorter than its fields"},
	{PD_SAMPLE, 3, 0, "the sample is longer than its fields"},
	{PD_HEADER_FEATURE, 0, 0, NULL},
	{PD_HEADER_FEATURE, 1, UINT64_C(256), NULL},
	{PD_EVENT_UPDATE, 1, 0, NULL},
	{PD_AUXTRACE_INFO, 0, 0, NULL},
	{PD_AUXTRACE_ERROR, 3, 0, NULL},
	{PD_TIME_CONV, 2, 0, NULL},
	{PD_COMPRESSED2, 0, 0, NULL},
	{PD_COMPRESSED2, 1, 1, NULL},
	{PD_HEADER_BUILD_ID, 3, 0, "the build-id is cut"},
	{PD_AUXTRACE, 4, 0, NULL},
};

/* Where others follow them they are those of writers that we do not know. */
static void tells_records_that_are_too_short(void **state)
{
	uint64_t words[8] = {0};
	unsigned form, i;

	(void)state;
	for (i = 0; i < sizeof(short_records) / sizeof(short_records[0]); i++) {
		const struct short_record *r = &short_records[i];

		for (form = 0; form < PDEXPECT_FORMS; form++) {
			struct pdfile f = pdexpect_form(form);
			struct vt_format_summary sum;
			unsigned size = 8 + 8 * r->words;

			pdfile_attr(&f, &pdexpect_plain);
			pdexpect_put_samples(&f, 1000, 1);
			pdexpect("GAP reason=record of type %u: %s input=in offset=%zu bytes=%u "
				 "records=1",
				 r->type, r->why ? r->why : "too short for its type",
				 pdexpect_place(&f), size);
			words[0] = r->first;
			pdexpect_put_words(&f, r->type, words, r->words);
			pdexpect_put_samples(&f, 1001, 9);
			pdexpect_samples(1000, 10);
			sum = pdexpect_check(&f);
			assert_int_equal(sum.samples, 10);
			assert_int_equal(sum.records, 11 + f.pipe);
			assert_int_equal(sum.damaged, 1);
			assert_int_equal(sum.unread, size);
		}
	}
}

/* Sixteen are told one by one, the others together. */
static void sums_up_further_short_records(void **state)
{
	const uint64_t words[4] = {0, 0, 0, 5};
	unsigned n, i;

	(void)state;
	for (n = 16; n <= 18; n++) {
		struct pdfile f = {.big = false};
		struct vt_buf warnings = VT_BUF_INIT;
		struct vt_format_summary sum;
		const char *line;
		size_t at[18];

		f.warnings = &warnings;
		pdfile_attr(&f, &pdexpect_plain);
		for (i = 0; i < n; i++) {
			at[i] = pdexpect_place(&f);
			/* Of 24 bytes without a time, and of 32 in the end. */
			pdexpect_put_words(&f, PD_LOST_SAMPLES, words + 3, 1);
			if (i < 16)
				pdexpect("GAP reason=record of type 13: too short for its type "
					 "input=in offset=%zu bytes=16 records=1",
					 at[i]);
		}
		pdexpect_put_samples(&f, 1000, 9);
		pdexpect_samples(1000, 9);
		if (n > 16)
			pdexpect("GAP reason=further damaged records input=in offset=%zu bytes=%u "
				 "records=%u",
				 at[16], 16 * (n - 16), n - 16);
		sum = pdexpect_check(&f);
		assert_int_equal(sum.damaged, n);
		assert_int_equal(sum.unread, 16 * n);
		for (i = 0, line = vt_buf_str(&warnings); *line; i++)
			line = strchr(line, '\n') + 1;
		assert_int_equal(i, n > 16 ? 17 : n);
		line = "in: record at 0x108: record of type 13: too short for its type\n";
		assert_memory_equal(vt_buf_str(&warnings), line, strlen(line));
		vt_buf_free(&warnings);
	}
}

/* ---- records that all that follows needs ---- */

static void expect_event(unsigned id)
{
	char text[16] = "";

	if (id)
		snprintf(text, sizeof(text), " id=%u", id);
	pdexpect("EVENT%s name=raw 0x1cd:HG policy=1 unit=events type=4 config=461 period=1000 "
		 "sample_type=65541 attr_flags=262144",
		 text);
}

/* The second attribute of a pipe has a size that is not that of the structure and its id. */
static void repairs_sizes_of_attributes(void **state)
{
	static const uint16_t sizes[] = {0, 8, 144, 160, 65535};
	unsigned i, form;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (form = 0; form < PDEXPECT_FORMS; form++) {
			struct pdfile f = pdexpect_form(form);
			struct pdfile_attr a = pdexpect_plain;
			struct vt_format_summary sum;
			unsigned k;

			f.pipe = true;
			a.sample_type |= PD_SAMPLE_IDENTIFIER;
			pdfile_attr(&f, &a);
			a.first_id = 12;
			pdexpect(
				"GAP reason=a record of type 64 claims a size of %u and is read as "
				"one of 152: the next record is 152 bytes on input=in offset=%zu "
				"bytes=8",
				sizes[i], pdexpect_place(&f));
			pdfile_attr(&f, &a);
			pdexpect_set_size(&f, sizes[i]);
			expect_event(0);
			expect_event(1);
			for (k = 0; k < 10; k++) {
				const uint64_t words[] = {11 + k / 8, 600, 1000 + k};

				pdexpect_put_words(&f, PD_SAMPLE, words, 3);
				pdexpect("SAMPLE time=%u %sip=600 period=1000 has=65541 id=%u",
					 1000 + k, k / 8 ? "event=1 " : "", 11 + k / 8);
			}
			sum = pdexpect_check_but(&f, "-");
			assert_int_equal(sum.samples, 10);
			assert_int_equal(sum.records, 12);
			assert_int_equal(sum.damaged, 1);
			assert_int_equal(sum.unread, 8);
		}
	}
}

/*
 * Inside of a feature stands what looks like the header of an attribute: the length of a text, 64,
 * two letters, and two more that are a size, 0x2048. Behind as many bytes a record begins.
 */
static void takes_no_text_for_a_record(void **state)
{
	static const char *const texts[] = {"AMH EPYC 7B13", "AMH "};
	unsigned i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct pdfile f = {.pipe = true};
		struct vt_buf b = VT_BUF_INIT;
		size_t at;

		pdfile_attr(&f, &pdexpect_plain);
		at = f.data.size + 16;
		pdfile_string(&f, &b, texts[i]);
		pdfile_feature(&f, PD_FEAT_CPUDESC, &b);
		pdexpect("META key=cpudesc value=%s", texts[i]);
		pdexpect_put_samples(&f, 1000, 341);
		pdexpect_put_words(&f, PD_FINISHED_ROUND, NULL, 0);
		assert_int_equal(f.data.size, at + 0x2048);
		pdexpect_put_samples(&f, 1341, 9);
		pdexpect_samples(1000, 350);
		assert_int_equal(pdexpect_check(&f).damaged, 0);
		vt_buf_free(&b);
	}
}

/* ---- where the input ends ---- */

/* Ten samples, of which the last bytes are cut off. */
static void says_where_the_input_ends(void **state)
{
	static const unsigned cuts[] = {1, 16, 17, 23, 24, 25, 40, 41, 47};
	unsigned form, i;

	(void)state;
	for (i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		for (form = 0; form < PDEXPECT_FORMS; form++) {
			unsigned whole = 10 - (cuts[i] + SAMPLE_SIZE - 1) / SAMPLE_SIZE;
			unsigned part = SAMPLE_SIZE * (10 - whole) - cuts[i];
			struct pdfile f = pdexpect_form(form);
			struct vt_format_summary sum;
			size_t end;

			pdfile_attr(&f, &pdexpect_plain);
			pdexpect_put_samples(&f, 1000, 10);
			f.cut = cuts[i];
			end = pdexpect_place(&f) - f.cut;
			if (part && part < 8)
				pdexpect("GAP reason=the input ends inside a record's header "
					 "input=in offset=%zu bytes=%u",
					 end - part, part);
			else if (part)
				pdexpect("GAP reason=the input ends inside a record of type 9 and "
					 "size 24 input=in offset=%zu bytes=%u",
					 end - part, part);
			if (!f.pipe && (!part || part >= 8))
				pdexpect("GAP reason=the input ends %u bytes before its data do "
					 "input=in offset=%zu bytes=%u",
					 cuts[i], end, cuts[i]);
			pdexpect_samples(1000, whole);
			sum = pdexpect_check(&f);
			assert_int_equal(sum.unread, part);
			assert_int_equal(sum.damaged,
					 (part > 0) + (!f.pipe && (!part || part >= 8)));
		}
	}
}

/* The header says where the data end, too: what is behind is not read. */
static void reads_no_further_than_the_data(void **state)
{
	unsigned form, left;

	(void)state;
	for (form = 0; form < PDEXPECT_FORMS; form++) {
		for (left = 0; left < 9; left++) {
			struct pdfile f = pdexpect_form(form);

			f.pipe = false;
			f.patch_at = 48;
			f.patch = 2 * SAMPLE_SIZE + left;
			pdfile_attr(&f, &pdexpect_plain);
			pdexpect_put_samples(&f, 1000, 4);
			if (left && left < 8)
				pdexpect("GAP reason=the input ends inside a record's header "
					 "input=in offset=%u bytes=%u",
					 FILE_DATA + 2 * SAMPLE_SIZE, left);
			if (left == 8)
				pdexpect("GAP reason=the input ends inside a record of type 9 and "
					 "size 24 input=in offset=%u bytes=8",
					 FILE_DATA + 2 * SAMPLE_SIZE);
			pdexpect_samples(1000, 2);
			assert_int_equal(pdexpect_check(&f).damaged, left > 0);
		}
	}
}

/* While it records, perf keeps a size of 0: all that is there are records, and no features. */
static void reads_recordings_that_were_not_finished(void **state)
{
	unsigned form, part;

	(void)state;
	for (form = 0; form < PDEXPECT_FORMS; form++) {
		for (part = 0; part < 2; part++) {
			struct pdfile f = pdexpect_form(form);

			f.pipe = false;
			f.patch_at = 48;
			pdfile_attr(&f, &pdexpect_plain);
			pdexpect_put_samples(&f, 1000, 10);
			f.cut = part;
			pdexpect("GAP reason=the recording was not finished (data size 0) "
				 "input=in offset=48");
			if (part)
				pdexpect("GAP reason=the input ends inside a record of type 9 and "
					 "size 24 input=in offset=%u bytes=23",
					 FILE_DATA + 9 * SAMPLE_SIZE);
			pdexpect_samples(1000, 10 - part);
			assert_int_equal(pdexpect_check(&f).damaged, 1 + part);
		}
	}
}

/* Data before the end of the header are none; behind a size that wraps there is no end of them. */
static void checks_where_data_are(void **state)
{
	struct pdfile f = {.patch_at = 40, .patch = 103};

	(void)state;
	pdfile_attr(&f, &pdexpect_plain);
	pdexpect_put_samples(&f, 1000, 2);
	pdexpect("GAP reason=the data section lies inside the header input=in offset=40");
	assert_int_equal(pdexpect_check(&f).damaged, 1);
	f = (struct pdfile){.patch_at = 48, .patch = UINT64_MAX - FILE_DATA + 1};
	pdfile_attr(&f, &pdexpect_plain);
	pdexpect_put_samples(&f, 1000, 2);
	pdexpect_samples(1000, 2);
	assert_int_equal(pdexpect_check(&f).damaged, 0);
}

/* ---- records that are not known ---- */

static void counts_unknown_types(void **state)
{
	static const uint32_t types[] = {22, 63, 66, 85, 999};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct pdfile f = {.big = i & 1};
		const uint64_t words[] = {1, 2};
		size_t at;

		pdfile_attr(&f, &pdexpect_plain);
		pdexpect_put_samples(&f, 1000, 1);
		at = pdexpect_place(&f);
		pdexpect_put_words(&f, types[i], words, 1);
		pdexpect_put_words(&f, types[i], words, 2);
		pdexpect_put_samples(&f, 1001, 9);
		pdexpect_samples(1000, 10);
		pdexpect("GAP reason=unknown record type %u input=in offset=%zu bytes=40 records=2",
			 types[i], at);
		assert_int_equal(pdexpect_check(&f).unknown, 2);
	}
}

/* 256 types are told apart. */
static void counts_many_unknown_types(void **state)
{
	struct pdfile f = {.big = false};
	size_t at = 0;
	unsigned i;

	(void)state;
	pdfile_attr(&f, &pdexpect_plain);
	for (i = 0; i < 257; i++) {
		if (i == 256)
			at = pdexpect_place(&f);
		else
			pdexpect("GAP reason=unknown record type %u input=in offset=%zu bytes=%u "
				 "records=%u",
				 1000 + i, pdexpect_place(&f), i ? 8 : 16, i ? 1 : 2);
		pdexpect_put_words(&f, 1000 + i, NULL, 0);
	}
	pdexpect_put_words(&f, 2000, NULL, 0);
	pdexpect_put_words(&f, 1000, NULL, 0);
	pdexpect("GAP reason=records of many unknown types input=in offset=%zu bytes=16 records=2",
		 at);
	assert_int_equal(pdexpect_check(&f).unknown, 259);
}

/* The id of the first sample is no event's. */
static void counts_samples_of_unknown_events(void **state)
{
	struct pdfile_attr a = pdexpect_plain;
	unsigned form, k;

	(void)state;
	a.sample_type |= PD_SAMPLE_IDENTIFIER;
	for (form = 0; form < PDEXPECT_FORMS; form++) {
		struct pdfile f = pdexpect_form(form);
		size_t at;

		a.first_id = 11;
		pdfile_attr(&f, &a);
		a.first_id = 12;
		pdfile_attr(&f, &a);
		at = f.pipe ? 16 : FILE_DATA + 8 + 136 + 16;
		for (k = 0; k < 10; k++) {
			const uint64_t words[] = {k == 5 ? 13 : 11 + k % 2, 600, 1000 + k};

			if (k == 5)
				at += f.data.size;
			pdexpect_put_words(&f, PD_SAMPLE, words, 3);
			if (k != 5)
				pdexpect("SAMPLE time=%u %sip=600 period=1000 has=65541 id=%u",
					 1000 + k, k % 2 ? "event=1 " : "", 11 + k % 2);
		}
		pdexpect("GAP reason=samples of an unknown event input=in offset=%zu bytes=32 "
			 "records=1",
			 at);
		assert_int_equal(pdexpect_check(&f).unknown, 1);
	}
}

/* ---- bytes that are not in records ---- */

static void says_what_is_wrong_with_trace_data(void **state)
{
	static const uint32_t sizes[] = {(32 << 20) + 1, 32 << 20, 9, 17};
	unsigned form, i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (form = 0; form < PDEXPECT_FORMS; form++) {
			struct pdfile f = pdexpect_form(form);
			struct vt_format_summary sum;
			size_t at;

			f.pipe = true;
			pdfile_attr(&f, &pdexpect_plain);
			at = pdexpect_place(&f);
			pdfile_begin(&f, PD_TRACING_DATA, 0);
			pdfile_u32(&f, &f.data, sizes[i]);
			pdfile_end(&f);
			pdfile_u64(&f, &f.data, 0);
			if (i)
				pdexpect("GAP reason=the input ends inside trace data input=in "
					 "offset=%zu bytes=8",
					 at + 12);
			else
				pdexpect("GAP reason=trace data of 33554433 bytes are too large "
					 "input=in offset=%zu bytes=33554440",
					 at);
			sum = pdexpect_check(&f);
			assert_int_equal(sum.records, 2);
			assert_int_equal(sum.damaged, 1);
			assert_int_equal(sum.unread, i ? 8 : 33554440);
		}
	}
}

/* Areas of 8 and 32 bytes, of which 28 are there or all; what the caller does not want is a gap. */
static void says_where_aux_areas_end(void **state)
{
	unsigned form;

	(void)state;
	for (form = 0; form < 4 * PDEXPECT_FORMS; form++) {
		const bool cut = form / PDEXPECT_FORMS & 1, drop = form / PDEXPECT_FORMS & 2;
		const uint64_t first[] = {8, 1, 2, 0, 0}, words[] = {32, 5, 6, 0, 0};
		struct pdfile f = pdexpect_form(form);
		struct vt_format_summary sum;
		size_t at;

		pdfile_attr(&f, &pdexpect_plain);
		at = pdexpect_place(&f);
		pdexpect_put_words(&f, PD_AUXTRACE, first, 5);
		vt_buf_put(&f.data, "8 bytes.", 8);
		pdexpect("AUXTRACE offset=1 reference=2 total=8 data=382062797465732e");
		if (drop)
			pdexpect("GAP reason=AUX area of an unknown kind: not decoded input=in "
				 "offset=%zu bytes=8",
				 at);
		at = pdexpect_place(&f);
		pdexpect_put_words(&f, PD_AUXTRACE, words, 5);
		vt_buf_put(&f.data, "the bytes of an area of 32 bytes", 32);
		pdexpect("AUXTRACE offset=5 reference=6 total=32 "
			 "data=746865206279746573206f6620616e2061726561%s",
			 cut ? "" : "206f66203332206279746573");
		if (cut)
			pdexpect("GAP reason=AUX data end after 20 of 32 bytes input=in offset=%zu",
				 at + 48 + 20);
		if (drop)
			pdexpect("GAP reason=AUX area of an unknown kind: not decoded input=in "
				 "offset=%zu bytes=%u",
				 at, cut ? 20 : 32);
		if (cut && !f.pipe)
			pdexpect("GAP reason=the input ends 12 bytes before its data do input=in "
				 "offset=%zu bytes=12",
				 at + 48 + 20);
		f.cut = cut ? 12 : 0;
		f.drop_aux = drop;
		sum = pdexpect_check(&f);
		assert_int_equal(sum.aux_areas, 2 * drop);
		assert_int_equal(sum.aux_bytes, drop * (cut ? 28 : 40));
		assert_int_equal(sum.damaged, cut + (cut && !f.pipe));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PDEXPECT_TEST(passes_over_wrong_sizes),
		PDEXPECT_TEST(passes_over_junk),
		PDEXPECT_TEST(tells_records_that_are_too_short),
		PDEXPECT_TEST(sums_up_further_short_records),
		PDEXPECT_TEST(repairs_sizes_of_attributes),
		PDEXPECT_TEST(takes_no_text_for_a_record),
		PDEXPECT_TEST(says_where_the_input_ends),
		PDEXPECT_TEST(reads_no_further_than_the_data),
		PDEXPECT_TEST(reads_recordings_that_were_not_finished),
		PDEXPECT_TEST(checks_where_data_are),
		PDEXPECT_TEST(counts_unknown_types),
		PDEXPECT_TEST(counts_many_unknown_types),
		PDEXPECT_TEST(counts_samples_of_unknown_events),
		PDEXPECT_TEST(says_what_is_wrong_with_trace_data),
		PDEXPECT_TEST(says_where_aux_areas_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
