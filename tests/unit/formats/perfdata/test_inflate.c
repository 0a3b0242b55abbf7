/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compressed records that are damaged, or that hold damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zstd.h>

#include "base/bytes.h"
#include "formats/perfdata/abi.h"
#include "tests/unit/formats/perfdata/pdexpect.h"

#define SAMPLE_SIZE PDEXPECT_SAMPLE_SIZE

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
		for (form = 0; form < PDEXPECT_FORMS; form++) {
			struct pdfile f = pdexpect_form(form);
			size_t from;

			pdfile_attr(&f, &pdexpect_plain);
			from = f.data.size;
			pdexpect_put_samples(&f, 1000, 10);
			if (part)
				f.data.size -= SAMPLE_SIZE - part;
			compress_from(&f, from);
			if (part && part < 8)
				pdexpect("GAP reason=compressed records end inside a record's "
					 "header "
					 "input=in offset=%zu bytes=%u",
					 pdexpect_place(&f), part);
			else if (part)
				pdexpect("GAP reason=the input ends inside a record of type 9 and "
					 "size 24 inside compressed ones input=in offset=%zu "
					 "bytes=%u",
					 pdexpect_place(&f), part);
			pdexpect_samples(1000, 10 - (part > 0));
			assert_int_equal(pdexpect_check(&f).unread, part);
		}
	}
}

/* A payload that is no zstd ends the reading of all of them. */
static void says_where_compressed_bytes_are_none(void **state)
{
	unsigned form, k;

	(void)state;
	for (form = 0; form < PDEXPECT_FORMS; form++) {
		struct pdfile f = pdexpect_form(form);
		struct vt_format_summary sum;
		size_t from;

		pdfile_attr(&f, &pdexpect_plain);
		from = f.data.size;
		pdexpect_put_samples(&f, 1000, 10);
		compress_from(&f, from);
		pdexpect("GAP reason=compressed records: Unknown frame descriptor input=in "
			 "offset=%zu bytes=24",
			 pdexpect_place(&f));
		for (k = 0; k < 2; k++) {
			pdfile_begin(&f, PD_COMPRESSED, 0);
			pdexpect_put_junk(&f, 16);
			pdfile_end(&f);
		}
		pdexpect_put_samples(&f, 1010, 10);
		pdexpect_samples(1000, 20);
		sum = pdexpect_check(&f);
		assert_int_equal(sum.damaged, 1);
		assert_int_equal(sum.unread, 48);
	}
}

/* Bytes between compressed records, and records that perf puts around them only. */
static void passes_over_damage_in_compressed_records(void **state)
{
	unsigned form;

	(void)state;
	for (form = 0; form < PDEXPECT_FORMS; form++) {
		struct pdfile f = pdexpect_form(form);
		struct vt_format_summary sum;
		size_t from, at;

		pdfile_attr(&f, &pdexpect_plain);
		from = f.data.size;
		at = pdexpect_place(&f);
		pdexpect_put_samples(&f, 1000, 3);
		pdexpect_put_wrong(&f, PD_SAMPLE, 48);
		pdexpect_put_samples(&f, 1003, 9);
		compress_from(&f, from);
		pdexpect(
			"GAP reason=a record of type 9 and size 48 inside compressed ones, or what "
			"is behind it, is damaged: 32 bytes are passed over, up to the next record "
			"input=in offset=%zu bytes=32",
			at);
		pdexpect_samples(1000, 12);
		sum = pdexpect_check(&f);
		assert_int_equal(sum.damaged, 1);
		assert_int_equal(sum.unread, 32);
	}
}

/* Records that hold others, or that bytes follow, are not inside of any. */
static void finds_no_nested_records(void **state)
{
	static const uint32_t outer[] = {PD_COMPRESSED, PD_COMPRESSED2, PD_AUXTRACE,
					 PD_TRACING_DATA};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(outer) / sizeof(outer[0]); i++) {
		const uint64_t words[] = {32, 0, 0, 0, 0};
		struct pdfile f = {.pipe = i & 1};
		size_t from, at;

		pdfile_attr(&f, &pdexpect_plain);
		from = f.data.size;
		at = pdexpect_place(&f);
		pdexpect_put_samples(&f, 1000, 9);
		pdexpect_put_words(&f, outer[i], words, 5);
		pdexpect_put_samples(&f, 1009, 9);
		compress_from(&f, from);
		pdexpect("GAP reason=record of type %u: cannot be inside a compressed one input=in "
			 "offset=%zu bytes=48 records=1",
			 outer[i], at);
		pdexpect_samples(1000, 18);
		pdexpect_check(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PDEXPECT_TEST(says_where_compressed_records_end),
		PDEXPECT_TEST(says_where_compressed_bytes_are_none),
		PDEXPECT_TEST(passes_over_damage_in_compressed_records),
		PDEXPECT_TEST(finds_no_nested_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
