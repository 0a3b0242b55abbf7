/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sizes are those of linux/perf_event.h and of perf's event.h, added up by hand. */
#include "formats/perfdata/session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "tests/unit/formats/perfdata/pdsession.h"

#define FIELDS (PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_TIME | PD_SAMPLE_CPU)
/* Of FIELDS a sample id has three words: process, time, processor. */
#define TAIL 24

struct record {
	uint8_t bytes[4096];
};

static struct record make(uint32_t type)
{
	struct record r;

	memset(&r, 0, sizeof(r));
	vt_put_le32(r.bytes, type);
	return r;
}

static void knows_records_of_one_size(void **state)
{
	static const struct {
		uint32_t type;
		size_t body;
	} sizes[] = {
		{PD_LOST, 16},		 {PD_EXIT, 24},	       {PD_THROTTLE, 24},
		{PD_UNTHROTTLE, 24},	 {PD_FORK, 24},	       {PD_AUX, 24},
		{PD_ITRACE_START, 8},	 {PD_LOST_SAMPLES, 8}, {PD_SWITCH, 0},
		{PD_SWITCH_CPU_WIDE, 8}, {PD_BPF_EVENT, 16},   {PD_AUX_OUTPUT_HW_ID, 8},
	};
	struct pdsession p;
	size_t i;

	(void)state;
	pdsession_init(&p, FIELDS);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct record r = make(sizes[i].type);
		size_t body = 8 + sizes[i].body;

		assert_int_equal(vti_pd_extent(&p.s, r.bytes, sizeof(r)), body + TAIL);
		/* What is there of it need not reach to the sample id, but through the body. */
		assert_int_equal(vti_pd_extent(&p.s, r.bytes, body), body + TAIL);
		if (sizes[i].body)
			assert_true(vti_pd_extent(&p.s, r.bytes, body - 1) == PD_EXTENT_CUT);
		p.s.events[0].attr.flags = 0;
		assert_int_equal(vti_pd_extent(&p.s, r.bytes, sizeof(r)), body);
		p.s.events[0].attr.flags = PD_ATTR_SAMPLE_ID_ALL;
	}
	pdsession_fini(&p);
}

/* A text has a zero behind it, and is filled up to a multiple of 8. */
static void adds_texts(void **state)
{
	static const struct {
		uint32_t type;
		size_t body;
	} sizes[] = {{PD_MMAP, 32}, {PD_COMM, 8}, {PD_MMAP2, 64}, {PD_KSYMBOL, 16}, {PD_CGROUP, 8}};
	struct pdsession p;
	size_t i, n;

	(void)state;
	pdsession_init(&p, FIELDS);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (n = 0; n < 20; n++) {
			struct record r = make(sizes[i].type);
			size_t at = 8 + sizes[i].body, padded = n < 8 ? 8 : n < 16 ? 16 : 24;

			memset(r.bytes + at, 'x', n);
			assert_int_equal(vti_pd_extent(&p.s, r.bytes, sizeof(r)),
					 at + padded + TAIL);
			assert_int_equal(vti_pd_extent(&p.s, r.bytes, at + n + 1),
					 at + padded + TAIL);
			assert_true(vti_pd_extent(&p.s, r.bytes, at + n) == PD_EXTENT_CUT);
		}
	}
	pdsession_fini(&p);
}

static void adds_counted_parts(void **state)
{
	struct record sets = make(PD_NAMESPACES), poke = make(PD_TEXT_POKE);
	struct pdsession p;

	(void)state;
	pdsession_init(&p, FIELDS);
	/* Process and thread, a count of two, two sets of two words. */
	vt_put_le64(sets.bytes + 16, 2);
	assert_int_equal(vti_pd_extent(&p.s, sets.bytes, sizeof(sets)), 8 + 8 + 8 + 32 + TAIL);
	assert_int_equal(vti_pd_extent(&p.s, sets.bytes, 24), 8 + 8 + 8 + 32 + TAIL);
	assert_true(vti_pd_extent(&p.s, sets.bytes, 23) == PD_EXTENT_CUT);
	/* An address, two lengths of 16 bits, the bytes of both: 4 + 5 + 5 = 14, and 4 + 2 + 2. */
	vt_put_le16(poke.bytes + 16, 5);
	vt_put_le16(poke.bytes + 18, 5);
	assert_int_equal(vti_pd_extent(&p.s, poke.bytes, sizeof(poke)), 8 + 8 + 16 + TAIL);
	vt_put_le16(poke.bytes + 16, 2);
	vt_put_le16(poke.bytes + 18, 2);
	assert_int_equal(vti_pd_extent(&p.s, poke.bytes, 20), 8 + 8 + 8 + TAIL);
	assert_true(vti_pd_extent(&p.s, poke.bytes, 19) == PD_EXTENT_CUT);
	pdsession_fini(&p);
}

static void knows_perfs_own(void **state)
{
	static const uint32_t unknown[] = {
		0,  PD_READ, 22, 63, PD_HEADER_ATTR, PD_ID_INDEX, PD_TIME_CONV, PD_COMPRESSED,
		85, 60000};
	struct record z = make(PD_COMPRESSED2), r;
	struct pdsession p;
	size_t i;

	(void)state;
	pdsession_init(&p, FIELDS);
	r = make(PD_FINISHED_ROUND);
	assert_int_equal(vti_pd_extent(&p.s, r.bytes, sizeof(r)), 8);
	r = make(PD_FINISHED_INIT);
	assert_int_equal(vti_pd_extent(&p.s, r.bytes, sizeof(r)), 8);
	r = make(PD_AUXTRACE);
	assert_int_equal(vti_pd_extent(&p.s, r.bytes, sizeof(r)), 48);
	r = make(PD_TRACING_DATA);
	assert_int_equal(vti_pd_extent(&p.s, r.bytes, sizeof(r)), 12);
	/* Header, a size, and so many bytes, filled up to a multiple of 8. */
	vt_put_le64(z.bytes + 8, 8);
	assert_int_equal(vti_pd_extent(&p.s, z.bytes, sizeof(z)), 24);
	vt_put_le64(z.bytes + 8, 9);
	assert_int_equal(vti_pd_extent(&p.s, z.bytes, 16), 32);
	assert_true(vti_pd_extent(&p.s, z.bytes, 15) == PD_EXTENT_CUT);
	vt_put_le64(z.bytes + 8, 65535);
	assert_int_equal(vti_pd_extent(&p.s, z.bytes, 16), 65536 + 16);
	vt_put_le64(z.bytes + 8, 65536);
	assert_true(vti_pd_extent(&p.s, z.bytes, 16) == PD_EXTENT_CUT);
	for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		r = make(unknown[i]);
		assert_int_equal(vti_pd_extent(&p.s, r.bytes, sizeof(r)), PD_EXTENT_UNKNOWN);
	}
	pdsession_fini(&p);
}

/* Later kernels may add a field for each bit that is not known. */
static void takes_no_unknown_bits(void **state)
{
	struct pd_attr a = {
		.sample_type = 1u << 24, .read_format = 1u << 4, .branch_type = 1u << 19};
	struct record r = make(PD_LOST);
	struct pdsession p;

	(void)state;
	assert_true(vti_pd_extent_known(&a));
	a.sample_type = 1u << 25;
	assert_false(vti_pd_extent_known(&a));
	a.sample_type = 0;
	a.read_format = 1u << 5;
	assert_false(vti_pd_extent_known(&a));
	a.read_format = 0;
	a.branch_type = 1u << 20;
	assert_false(vti_pd_extent_known(&a));
	pdsession_init(&p, FIELDS | 1u << 25);
	assert_int_equal(vti_pd_extent(&p.s, r.bytes, sizeof(r)), PD_EXTENT_UNKNOWN);
	p.s.events[0].attr.sample_type = FIELDS | 1u << 24;
	assert_int_equal(vti_pd_extent(&p.s, r.bytes, sizeof(r)), 8 + 16 + TAIL);
	p.s.nevents = 0;
	assert_int_equal(vti_pd_extent(&p.s, r.bytes, sizeof(r)), PD_EXTENT_UNKNOWN);
	p.s.nevents = 1;
	pdsession_fini(&p);
}

static void measures_samples(void **state)
{
	struct pd_attr later = {.sample_type = PD_SAMPLE_IP | 1u << 25};
	struct record r = make(PD_SAMPLE);
	struct pdsession p;

	(void)state;
	pdsession_init(&p, FIELDS);
	assert_int_equal(vti_pd_extent(&p.s, r.bytes, sizeof(r)), 8 + 8 * 4);
	assert_int_equal(vti_pd_extent_sample(&p.s, r.bytes, 16), 8 + 8 * 4);
	pdsession_fini(&p);

	/* ip, a count of three, and three addresses. */
	pdsession_init(&p, PD_SAMPLE_IP | PD_SAMPLE_CALLCHAIN);
	vt_put_le64(r.bytes + 16, 3);
	assert_int_equal(vti_pd_extent(&p.s, r.bytes, sizeof(r)), 8 + 8 * 5);
	assert_int_equal(vti_pd_extent(&p.s, r.bytes, 48), 48);
	assert_true(vti_pd_extent(&p.s, r.bytes, 47) == PD_EXTENT_CUT);
	p.s.events[0].attr.sample_type |= 1u << 25;
	assert_int_equal(vti_pd_extent(&p.s, r.bytes, sizeof(r)), PD_EXTENT_UNKNOWN);
	p.s.events[0].attr.sample_type &= ~(1u << 25);
	/* With two events and no id in the samples, whose they are is not known. */
	pdsession_event(&p, &later);
	assert_int_equal(vti_pd_extent(&p.s, r.bytes, sizeof(r)), PD_EXTENT_UNKNOWN);
	pdsession_fini(&p);
}

/* No record has more than 65,535 bytes, of which the header takes 8. */
static void keeps_samples_within_a_record(void **state)
{
	uint8_t *p = calloc(1, 80000);
	struct pdsession s;

	(void)state;
	pdsession_init(&s, PD_SAMPLE_CALLCHAIN);
	vt_put_le32(p, PD_SAMPLE);
	vt_put_le64(p + 8, (65535 - 8) / 8 - 1);
	assert_int_equal(vti_pd_extent(&s.s, p, 80000), 65528);
	vt_put_le64(p + 8, (65535 - 8) / 8);
	assert_true(vti_pd_extent(&s.s, p, 80000) == PD_EXTENT_CUT);
	pdsession_fini(&s);
	free(p);
}

/* RFC 8878: each block has a header of 3 bytes; a frame's is 6 to 18 bytes long. */
static void finds_ends_of_blocks(void **state)
{
	/* A frame with a window and no size, as of a stream: descriptor 0, window; then blocks. */
	static const uint8_t frame[] = {0x28, 0xb5, 0x2f, 0xfd, 0, 0x58,
					/* raw, 3 bytes; of one byte 5 times; compressed, 2 */
					3 << 3, 0, 0, 1, 2, 3, 5 << 3 | 1 << 1, 0, 0, 7,
					2 << 3 | 2 << 1 | 1, 0, 0, 8, 9};
	static const struct {
		uint8_t descriptor;
		size_t header;
	} headers[] = {{0x00, 6}, {0x20, 6}, {0x40, 8},	 {0x60, 7},  {0x80, 10}, {0xc0, 14},
		       {0x01, 7}, {0x02, 8}, {0x03, 10}, {0xe3, 17}, {0xc3, 18}};
	uint8_t b[32] = {0x28, 0xb5, 0x2f, 0xfd};
	size_t i;

	(void)state;
	assert_int_equal(vti_pd_block_end(frame, sizeof(frame), 0), 12);
	assert_int_equal(vti_pd_block_end(frame, sizeof(frame), 12), 16);
	assert_int_equal(vti_pd_block_end(frame, sizeof(frame), 16), 21);
	assert_int_equal(vti_pd_block_end(frame, sizeof(frame), 21), 0);
	assert_int_equal(vti_pd_block_end(frame, sizeof(frame), 22), 0);
	assert_int_equal(vti_pd_block_end(frame, 9, 0), 12);
	assert_int_equal(vti_pd_block_end(frame, 8, 0), 0);
	for (i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		b[4] = headers[i].descriptor;
		assert_int_equal(vti_pd_block_end(b, sizeof(b), 0), headers[i].header + 3);
	}
	/* The largest block has 2^17 bytes; the fourth type is none. */
	vt_put_le32(b, 1 << 20);
	assert_int_equal(vti_pd_block_end(b, 3, 0), 3 + (1 << 17));
	vt_put_le32(b, 0x1234 << 3);
	assert_int_equal(vti_pd_block_end(b, 3, 0), 3 + 0x1234);
	vt_put_le32(b, (1 << 20) + 8);
	assert_int_equal(vti_pd_block_end(b, 3, 0), 0);
	vt_put_le32(b, 3 << 1);
	assert_int_equal(vti_pd_block_end(b, 3, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_records_of_one_size),
		cmocka_unit_test(adds_texts),
		cmocka_unit_test(adds_counted_parts),
		cmocka_unit_test(knows_perfs_own),
		cmocka_unit_test(takes_no_unknown_bits),
		cmocka_unit_test(measures_samples),
		cmocka_unit_test(keeps_samples_within_a_record),
		cmocka_unit_test(finds_ends_of_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
