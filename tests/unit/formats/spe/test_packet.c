/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Packets and records of Arm SPE, by the layouts of the architecture's manual. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "formats/spe/packet.h"
#include "formats/spe/tell.h"
#include "stream/kinds.h"
#include "stream/profileme.h"

/* A packet at offset 0 that takes `size` bytes. */
static const struct sample {
	uint8_t bytes[16];
	int size;
	struct vt_spe_packet want;
} samples[] = {
	{{0}, 1, {VT_SPE_PAD, 0, 0, 0}},
	{{1}, 1, {VT_SPE_END, 0, 0, 0}},
	{{0x71, 1, 2, 3, 4, 5, 6, 7, 8}, 9, {VT_SPE_TIMESTAMP, 0, 8, 0x0807060504030201}},
	{{0x42, 0x81}, 2, {VT_SPE_EVENTS, 0, 1, 0x81}},
	{{0x52, 0x81, 7}, 3, {VT_SPE_EVENTS, 0, 2, 0x781}},
	{{0x62, 1, 2, 3, 4}, 5, {VT_SPE_EVENTS, 0, 4, 0x4030201}},
	{{0x72, 1, 0, 0, 0, 0, 0, 0, 0x80}, 9, {VT_SPE_EVENTS, 0, 8, 0x8000000000000001}},
	{{0x43, 0xe}, 2, {VT_SPE_SOURCE, 0, 1, 0xe}},
	{{0x53, 0xe, 1}, 3, {VT_SPE_SOURCE, 0, 2, 0x10e}},
	{{0x64, 1, 2, 3, 4}, 5, {VT_SPE_CONTEXT, 0, 4, 0x4030201}},
	{{0x65, 1, 2, 3, 4}, 5, {VT_SPE_CONTEXT, 1, 4, 0x4030201}},
	{{0x48, 1}, 2, {VT_SPE_OP, VT_SPE_OTHER, 1, 1}},
	{{0x49, 1}, 2, {VT_SPE_OP, VT_SPE_MEMORY, 1, 1}},
	{{0x4a, 3}, 2, {VT_SPE_OP, VT_SPE_BRANCH, 1, 3}},
	{{0xb0, 8, 7, 6, 5, 4, 3, 2, 1}, 9, {VT_SPE_ADDRESS, VT_SPE_PC, 8, 0x0102030405060708}},
	{{0xb4, 1, 0, 0, 0, 0, 0, 0, 0}, 9, {VT_SPE_ADDRESS, VT_SPE_PREVIOUS, 8, 1}},
	{{0x98, 0xff, 0xf}, 3, {VT_SPE_COUNTER, VT_SPE_TOTAL, 2, 0xfff}},
	{{0x9a, 2, 1}, 3, {VT_SPE_COUNTER, VT_SPE_XLAT, 2, 0x102}},
	/* Long headers: two more bits of the index. */
	{{0x20, 0x99, 2, 1}, 4, {VT_SPE_COUNTER, VT_SPE_ISSUE, 2, 0x102}},
	{{0x23, 0x9f, 2, 1}, 4, {VT_SPE_COUNTER, 31, 2, 0x102}},
	{{0x21, 0xb2, 8, 7, 6, 5, 4, 3, 2, 1}, 10, {VT_SPE_ADDRESS, 10, 8, 0x0102030405060708}},
	{{0x20, 0}, 2, {VT_SPE_PAD, 0, 0, 0}},
	{{0x21, 0}, 4, {VT_SPE_PAD, 0, 0, 0}},
	{{0x23, 0}, 16, {VT_SPE_PAD, 0, 0, 0}},
};

static void test_packets(void **state)
{
	struct vt_spe_packet k;
	size_t i;
	int size;

	(void)state;
	for (i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		const struct sample *s = &samples[i];

		assert_int_equal(vt_spe_packet_read(&k, s->bytes, s->bytes + 16, 0), s->size);
		assert_int_equal(k.kind, s->want.kind);
		assert_int_equal(k.index, s->want.index);
		assert_int_equal(k.bytes, s->want.bytes);
		assert_int_equal(k.payload, s->want.payload);
		for (size = 1; size < s->size; size++)
			assert_int_equal(vt_spe_packet_read(&k, s->bytes, s->bytes + size, 0),
					 VT_SPE_CUT);
	}
}

static void test_alignment(void **state)
{
	static const uint8_t bytes[16] = {0x23};
	struct vt_spe_packet k;
	uint64_t offset;

	(void)state;
	for (offset = 0; offset < 40; offset++)
		assert_int_equal(vt_spe_packet_read(&k, bytes, bytes + 16, offset),
				 16 - offset % 16);
}

/* The headers that are known, of all 256, and of those that follow a long header's first byte. */
static void test_unknown(void **state)
{
	uint8_t bytes[24] = {0};
	struct vt_spe_packet k;
	int known = 0, extended = 0, i;

	(void)state;
	for (i = 0; i < 256; i++) {
		bytes[0] = (uint8_t)i;
		bytes[1] = 0x98;
		known += vt_spe_packet_read(&k, bytes, bytes + 24, 0) != VT_SPE_UNKNOWN;
		bytes[0] = 0x20;
		bytes[1] = (uint8_t)i;
		extended += vt_spe_packet_read(&k, bytes, bytes + 24, 0) != VT_SPE_UNKNOWN;
	}
	/* PAD, END, TIMESTAMP; 4 + 4 sizes; 4 contexts, 4 classes; 8 + 8 indexes; 4 long ones. */
	assert_int_equal(known, 3 + 8 + 8 + 16 + 4);
	assert_int_equal(extended, 1 + 16);
}

#define PC     0xb0, 1, 2, 3, 0, 0, 0, 0, 0x80
#define TS     0x71, 9, 0, 0, 0, 0, 0, 0, 0
#define RECORD 0x49, 0, PC, TS

static int64_t read_record(struct vt_spe_record *r, const uint8_t *bytes, size_t size)
{
	return vt_spe_record_read(r, bytes, bytes + size, 0);
}

static void test_records(void **state)
{
	static const uint8_t good[] = {0, 0, RECORD, 0, 0, 0};
	static const uint8_t twice[] = {PC, PC, TS}, ops[] = {0x48, 0, 0x49, 0, TS};
	static const uint8_t counters[] = {0x98, 1, 0, 0x98, 1, 0, 1}, ended[] = {PC, 1};
	static const uint8_t unknown[] = {PC, 0xff};
	static uint8_t endless[VT_SPE_MAX_RECORD + 20] = {PC};
	struct vt_spe_record r;
	size_t n;

	(void)state;
	assert_int_equal(read_record(&r, good, sizeof(good)), 22);
	assert_int_equal(r.has, VT_SPE_HAS_OP | VT_SPE_HAS_ADDR(VT_SPE_PC) | VT_SPE_HAS_TIME);
	assert_int_equal(r.addrs[VT_SPE_PC], 0x8000000000030201);
	assert_int_equal(r.time, 9);
	assert_int_equal(read_record(&r, good + 22, 3), 0);
	assert_int_equal(read_record(&r, good, 0), 0);
	for (n = 3; n < 22; n++)
		assert_int_equal(read_record(&r, good, n), VT_SPE_CUT);
	assert_int_equal(read_record(&r, twice, sizeof(twice)), VT_SPE_ENDLESS);
	assert_int_equal(read_record(&r, ops, sizeof(ops)), VT_SPE_ENDLESS);
	assert_int_equal(read_record(&r, counters, sizeof(counters)), VT_SPE_ENDLESS);
	assert_int_equal(read_record(&r, ended, sizeof(ended)), 10);
	assert_int_equal(read_record(&r, unknown, sizeof(unknown)), VT_SPE_UNKNOWN);
	assert_int_equal(read_record(&r, endless, sizeof(endless)), VT_SPE_ENDLESS);
}

static void test_resume(void **state)
{
	static const uint8_t bytes[] = {0xff, 0x71, RECORD, RECORD, 1, 0, 0, 1};
	const uint8_t *end = bytes + sizeof(bytes);

	(void)state;
	/* Behind the first record, not in it. */
	assert_ptr_equal(vt_spe_resume(bytes, end, 0), bytes + 22);
	assert_ptr_equal(vt_spe_resume(bytes + 22, end - 4, 0), bytes + 42);
	assert_ptr_equal(vt_spe_resume(bytes + 22, end - 5, 0), end - 5);
	assert_ptr_equal(vt_spe_resume(bytes + 2, bytes + 10, 0), bytes + 10);
	assert_ptr_equal(vt_spe_resume(end, end, 0), end);
}

static void test_addresses(void **state)
{
	const uint64_t kernel = 0x00ff800008001000, ns = UINT64_C(1) << 63, el = UINT64_C(1) << 61;

	(void)state;
	assert_int_equal(vt_spe_code_addr(kernel | ns), kernel);
	assert_int_equal(vt_spe_code_addr(kernel | ns | el), 0xffff800008001000);
	assert_int_equal(vt_spe_code_addr(kernel | ns | 2 * el), 0xffff800008001000);
	assert_int_equal(vt_spe_code_addr(kernel | ns | 3 * el), kernel);
	assert_int_equal(vt_spe_code_addr(kernel | el), kernel);
	assert_int_equal(vt_spe_data_addr(0xaa007f1234567890), 0x00007f1234567890);
	assert_int_equal(vt_spe_data_addr(0xaaff800008001000), 0xffff800008001000);
	assert_int_equal(vt_spe_data_addr(0x00f0000000000000), 0xfff0000000000000);
}

/* The other bits of an events packet change nothing that is told of them. */
static void test_optional_events(void **state)
{
	struct vt_spe_record r = {.has = VT_SPE_HAS_OP | VT_SPE_HAS_EVENTS,
				  .op_class = VT_SPE_MEMORY};
	const uint64_t optional = VT_PM_EVENT(L2_MISS) | VT_PM_EVENT(L3_MISS) |
				  VT_PM_EVENT(REMOTE) | VT_PM_EVENT(MISALIGNED);
	uint64_t row[VT_SAMPLE_PAIR_WEIGHT + 1];
	unsigned bit;

	(void)state;
	for (bit = 0; bit < 64; bit++) {
		uint64_t told = bit == 8 || bit == 9	 ? VT_PM_EVENT(L3_MISS)
				: bit == 19 || bit == 20 ? VT_PM_EVENT(L2_MISS)
				: bit == 10		 ? VT_PM_EVENT(REMOTE)
				: bit == 11		 ? VT_PM_EVENT(MISALIGNED)
							 : 0;

		memset(row, 0, sizeof(row));
		r.events = UINT64_C(1) << bit;
		vt_spe_tell(row, &r, 0);
		assert_int_equal(row[VT_SAMPLE_EVENTS_TOLD] & optional, told);
		assert_int_equal(row[VT_SAMPLE_EVENTS] & optional,
				 bit == 8 || bit == 19 ? 0 : told);
		assert_int_equal(row[VT_SAMPLE_EVENTS] & ~row[VT_SAMPLE_EVENTS_TOLD], 0);
	}
}

static void test_sources(void **state)
{
	static const uint64_t n1 = 0x410fd0c0, hip12 = 0x480fd060;

	(void)state;
	assert_int_equal(vt_spe_source(0xb, n1), VT_SOURCE_L3);
	assert_int_equal(vt_spe_source(0xf, n1), VT_SOURCE_UNKNOWN);
	assert_int_equal(vt_spe_source(31, hip12), VT_SOURCE_UNKNOWN);
	assert_int_equal(vt_spe_source(32, hip12), VT_SOURCE_UNKNOWN);
	assert_int_equal(vt_spe_source(UINT64_MAX, hip12), VT_SOURCE_UNKNOWN);
	assert_int_equal(vt_spe_source(18, hip12), VT_SOURCE_L1);
	assert_int_equal(vt_spe_source(0, 0), VT_SOURCE_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packets),		cmocka_unit_test(test_alignment),
		cmocka_unit_test(test_unknown),		cmocka_unit_test(test_records),
		cmocka_unit_test(test_resume),		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_optional_events), cmocka_unit_test(test_sources),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
