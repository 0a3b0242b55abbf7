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
#include <zstd.h>

#include "base/bytes.h"
#include "formats/perfdata/abi.h"
#include "pdfile.h"

/* Where the records of a file with one attribute and one id, and of a pipe, begin. */
#define FILE_DATA (104 + 8 + 136 + 16)

#define SAMPLE_SIZE 24
#define LINES	    400

static const struct pdfile_attr plain = {.type = 4,
					 .config = 461,
					 .period = 1000,
					 .sample_type = PD_SAMPLE_IP | PD_SAMPLE_TIME,
					 .flags = PD_ATTR_SAMPLE_ID_ALL,
					 .first_id = 11,
					 .nids = 1};

/* What is expected next. */
static struct {
	char text[LINES][240];
	const char *at[LINES];
	size_t n;
} want;

static void expect(const char *fmt, ...) VT_PRINTF(1, 2);

static void expect(const char *fmt, ...)
{
	va_list ap;

	assert_true(want.n < LINES);
	va_start(ap, fmt);
	vsnprintf(want.text[want.n], sizeof(want.text[0]), fmt, ap);
	va_end(ap);
	want.at[want.n] = want.text[want.n];
	want.n++;
}

static void put_samples(struct pdfile *f, unsigned from, unsigned n)
{
	unsigned i;

	for (i = from; i < from + n; i++) {
		pdfile_begin(f, PD_SAMPLE, 2);
		pdfile_u64(f, &f->data, 600);
		pdfile_u64(f, &f->data, i);
		pdfile_end(f);
	}
}

static void expect_samples(unsigned from, unsigned n)
{
	unsigned i;

	for (i = from; i < from + n; i++)
		expect("SAMPLE time=%u ip=600 period=1000 misc=2 has=5", i);
}

static void put_junk(struct pdfile *f, size_t n)
{
	while (n--)
		vt_buf_put_u8(&f->data, 0xff);
}

/* A record of a payload of words. */
static void put_words(struct pdfile *f, uint32_t type, const uint64_t *words, size_t n)
{
	size_t i;

	pdfile_begin(f, type, 0);
	for (i = 0; i < n; i++)
		pdfile_u64(f, &f->data, words[i]);
	pdfile_end(f);
}

/* Both are used up. */
static struct vt_format_summary check_but(struct pdfile *f, const char *but)
{
	struct vt_format_summary sum = pdfile_expect(f, but, want.at, want.n);

	pdfile_free(f);
	want.n = 0;
	return sum;
}

static struct vt_format_summary check(struct pdfile *f)
{
	return check_but(f, "EVENT ");
}

/* All ways in which a file can be read: of both orders, from a file or piece by piece. */
static struct pdfile form_of(unsigned form)
{
	static const size_t pieces[] = {0, 1, 100};

	return (struct pdfile){.big = form & 1, .pipe = form & 2, .piece = pieces[form / 4 % 3]};
}

#define FORMS 12

/* Where the next record of a file or pipe with one attribute comes to stand. */
static size_t place(const struct pdfile *f)
{
	return (f->pipe ? 16 : FILE_DATA) + f->data.size;
}

static void expect_passed_over(uint32_t type, unsigned size, size_t at, size_t bytes,
			       const char *to)
{
	expect("GAP reason=a record of type %u and size %u, or what is behind it, is damaged: %zu "
	       "bytes are passed over, %s input=in offset=%zu bytes=%zu",
	       type, size, bytes, to, at, bytes);
}

static const char next[] = "up to the next record", none[] = "no record that fits follows";

static void put_size(struct pdfile *f, uint16_t size)
{
	vt_put_le16(f->data.data + f->record + 6, f->big ? __builtin_bswap16(size) : size);
}

/* A record of which the type is one that there is, and the size is not right. */
static void put_wrong_size(struct pdfile *f, uint32_t type, uint16_t size)
{
	pdfile_begin(f, type, 0);
	put_junk(f, 24);
	pdfile_end(f);
	put_size(f, size);
}

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
		for (form = 0; form < FORMS; form++) {
			struct pdfile f = form_of(form);
			struct vt_format_summary sum;

			pdfile_attr(&f, &plain);
			put_samples(&f, 1000, 3);
			expect_passed_over(wrong[i].type, wrong[i].size, place(&f), 32, next);
			put_wrong_size(&f, wrong[i].type, wrong[i].size);
			put_samples(&f, 1003, 9);
			expect_samples(1000, 12);
			sum = check(&f);
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
	for (form = 0; form < 2 * FORMS; form++) {
		struct pdfile f = form_of(form);
		struct vt_format_summary sum;

		last = form / FORMS;
		pdfile_attr(&f, &plain);
		put_samples(&f, 1000, 2);
		expect_passed_over(PD_SAMPLE, SAMPLE_SIZE, place(&f), SAMPLE_SIZE + 13,
				   last ? none : next);
		put_samples(&f, 1002, 1);
		put_junk(&f, 13);
		if (!last)
			put_samples(&f, 1002, 10);
		expect_samples(1000, last ? 2 : 12);
		sum = check(&f);
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

		for (form = 0; form < FORMS; form++) {
			struct pdfile f = form_of(form);
			struct vt_format_summary sum;
			unsigned size = 8 + 8 * r->words;

			pdfile_attr(&f, &plain);
			put_samples(&f, 1000, 1);
			expect("GAP reason=record of type %u: %s input=in offset=%zu bytes=%u "
			       "records=1",
			       r->type, r->why ? r->why : "too short for its type", place(&f),
			       size);
			words[0] = r->first;
			put_words(&f, r->type, words, r->words);
			put_samples(&f, 1001, 9);
			expect_samples(1000, 10);
			sum = check(&f);
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
		pdfile_attr(&f, &plain);
		for (i = 0; i < n; i++) {
			at[i] = place(&f);
			/* Of 24 bytes without a time, and of 32 in the end. */
			put_words(&f, PD_LOST_SAMPLES, words + 3, 1);
			if (i < 16)
				expect("GAP reason=record of type 13: too short for its type "
				       "input=in offset=%zu bytes=16 records=1",
				       at[i]);
		}
		put_samples(&f, 1000, 9);
		expect_samples(1000, 9);
		if (n > 16)
			expect("GAP reason=further damaged records input=in offset=%zu bytes=%u "
			       "records=%u",
			       at[16], 16 * (n - 16), n - 16);
		sum = check(&f);
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
	expect("EVENT%s name=raw 0x1cd:HG policy=1 unit=events type=4 config=461 period=1000 "
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
		for (form = 0; form < FORMS; form++) {
			struct pdfile f = form_of(form);
			struct pdfile_attr a = plain;
			struct vt_format_summary sum;
			unsigned k;

			f.pipe = true;
			a.sample_type |= PD_SAMPLE_IDENTIFIER;
			pdfile_attr(&f, &a);
			a.first_id = 12;
			expect("GAP reason=a record of type 64 claims a size of %u and is read as "
			       "one of 152: the next record is 152 bytes on input=in offset=%zu "
			       "bytes=8",
			       sizes[i], place(&f));
			pdfile_attr(&f, &a);
			put_size(&f, sizes[i]);
			expect_event(0);
			expect_event(1);
			for (k = 0; k < 10; k++) {
				const uint64_t words[] = {11 + k / 8, 600, 1000 + k};

				put_words(&f, PD_SAMPLE, words, 3);
				expect("SAMPLE time=%u %sip=600 period=1000 has=65541 id=%u",
				       1000 + k, k / 8 ? "event=1 " : "", 11 + k / 8);
			}
			sum = check_but(&f, "-");
			assert_int_equal(sum.samples, 10);
			assert_int_equal(sum.records, 12);
			assert_int_equal(sum.damaged, 1);
			assert_int_equal(sum.unread, 8);
		}
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
		for (form = 0; form < FORMS; form++) {
			unsigned whole = 10 - (cuts[i] + SAMPLE_SIZE - 1) / SAMPLE_SIZE;
			unsigned part = SAMPLE_SIZE * (10 - whole) - cuts[i];
			struct pdfile f = form_of(form);
			struct vt_format_summary sum;
			size_t end;

			pdfile_attr(&f, &plain);
			put_samples(&f, 1000, 10);
			f.cut = cuts[i];
			end = place(&f) - f.cut;
			if (part && part < 8)
				expect("GAP reason=the input ends inside a record's header "
				       "input=in offset=%zu bytes=%u",
				       end - part, part);
			else if (part)
				expect("GAP reason=the input ends inside a record of type 9 and "
				       "size 24 input=in offset=%zu bytes=%u",
				       end - part, part);
			if (!f.pipe && (!part || part >= 8))
				expect("GAP reason=the input ends %u bytes before its data do "
				       "input=in offset=%zu",
				       cuts[i], end);
			expect_samples(1000, whole);
			sum = check(&f);
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
	for (form = 0; form < FORMS; form++) {
		for (left = 0; left < 9; left++) {
			struct pdfile f = form_of(form);

			f.pipe = false;
			f.patch_at = 48;
			f.patch = 2 * SAMPLE_SIZE + left;
			pdfile_attr(&f, &plain);
			put_samples(&f, 1000, 4);
			if (left && left < 8)
				expect("GAP reason=the input ends inside a record's header "
				       "input=in offset=%u bytes=%u",
				       FILE_DATA + 2 * SAMPLE_SIZE, left);
			if (left == 8)
				expect("GAP reason=the input ends inside a record of type 9 and "
				       "size 24 input=in offset=%u bytes=8",
				       FILE_DATA + 2 * SAMPLE_SIZE);
			expect_samples(1000, 2);
			assert_int_equal(check(&f).damaged, left > 0);
		}
	}
}

/* While it records, perf keeps a size of 0: all that is there are records, and no features. */
static void reads_recordings_that_were_not_finished(void **state)
{
	unsigned form, part;

	(void)state;
	for (form = 0; form < FORMS; form++) {
		for (part = 0; part < 2; part++) {
			struct pdfile f = form_of(form);

			f.pipe = false;
			f.patch_at = 48;
			pdfile_attr(&f, &plain);
			put_samples(&f, 1000, 10);
			f.cut = part;
			expect("GAP reason=the recording was not finished (data size 0) "
			       "input=in offset=48");
			if (part)
				expect("GAP reason=the input ends inside a record of type 9 and "
				       "size 24 input=in offset=%u bytes=23",
				       FILE_DATA + 9 * SAMPLE_SIZE);
			expect_samples(1000, 10 - part);
			assert_int_equal(check(&f).damaged, 1 + part);
		}
	}
}

/* Data before the end of the header are none; behind a size that wraps there is no end of them. */
static void checks_where_data_are(void **state)
{
	struct pdfile f = {.patch_at = 40, .patch = 103};

	(void)state;
	pdfile_attr(&f, &plain);
	put_samples(&f, 1000, 2);
	expect("GAP reason=the data section lies inside the header input=in offset=40");
	assert_int_equal(check(&f).damaged, 1);
	f = (struct pdfile){.patch_at = 48, .patch = UINT64_MAX - FILE_DATA + 1};
	pdfile_attr(&f, &plain);
	put_samples(&f, 1000, 2);
	expect_samples(1000, 2);
	assert_int_equal(check(&f).damaged, 0);
}

/* ---- inside compressed records ---- */

/* Puts the bytes behind `from` into a compressed record. */
static void compress_from(struct pdfile *f, size_t from)
{
	size_t n = f->data.size - from, room = ZSTD_compressBound(n);
	uint8_t *z = malloc(room);

	assert_non_null(z);
	n = ZSTD_compress(z, room, f->data.data + from, n, 1);
	assert_false(ZSTD_isError(n));
	f->data.size = from;
	pdfile_begin(f, PD_COMPRESSED, 0);
	vt_buf_put(&f->data, z, n);
	pdfile_end(f);
	free(z);
}

/* The last record that was compressed is cut. */
static void says_where_compressed_records_end(void **state)
{
	unsigned form, part;

	(void)state;
	for (part = 0; part < SAMPLE_SIZE; part++) {
		for (form = 0; form < FORMS; form++) {
			struct pdfile f = form_of(form);
			size_t from;

			pdfile_attr(&f, &plain);
			from = f.data.size;
			put_samples(&f, 1000, 10);
			if (part)
				f.data.size -= SAMPLE_SIZE - part;
			compress_from(&f, from);
			if (part && part < 8)
				expect("GAP reason=compressed records end inside a record's header "
				       "input=in offset=%zu bytes=%u",
				       place(&f), part);
			else if (part)
				expect("GAP reason=the input ends inside a record of type 9 and "
				       "size 24 inside compressed ones input=in offset=%zu "
				       "bytes=%u",
				       place(&f), part);
			expect_samples(1000, 10 - (part > 0));
			assert_int_equal(check(&f).unread, part);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passes_over_wrong_sizes),
		cmocka_unit_test(passes_over_junk),
		cmocka_unit_test(tells_records_that_are_too_short),
		cmocka_unit_test(sums_up_further_short_records),
		cmocka_unit_test(repairs_sizes_of_attributes),
		cmocka_unit_test(says_where_the_input_ends),
		cmocka_unit_test(reads_no_further_than_the_data),
		cmocka_unit_test(reads_recordings_that_were_not_finished),
		cmocka_unit_test(checks_where_data_are),
		cmocka_unit_test(says_where_compressed_records_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
