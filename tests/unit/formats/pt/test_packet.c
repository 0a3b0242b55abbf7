/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Packets of Intel PT: the SDM's layouts by hand, and libipt as a second reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/rng.h"
#include "formats/pt/packet.h"
#include "tests/tools/pt_same.h"

#define PSB 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82

/* A packet that takes all of `bytes`. */
struct sample {
	uint8_t bytes[16];
	struct vt_pt_packet want; /* its size says how many bytes there are */
};

static const struct sample samples[] = {
	{{0}, {.kind = VT_PT_PAD, .size = 1}},
	{{PSB}, {.kind = VT_PT_PSB, .size = 16}},
	{{2, 0x23}, {.kind = VT_PT_PSBEND, .size = 2}},
	/* The stop bit is the highest that is set: 0000011x is one decision. */
	{{0x06}, {.kind = VT_PT_TNT8, .size = 1, .count = 1, .payload = 1}},
	{{0x04}, {.kind = VT_PT_TNT8, .size = 1, .count = 1, .payload = 0}},
	{{0xaa}, {.kind = VT_PT_TNT8, .size = 1, .count = 6, .payload = 0x15}},
	{{2, 0xa3, 0xff, 0, 0, 0, 0, 0x80},
	 {.kind = VT_PT_TNT64, .size = 8, .count = 47, .payload = 0xff}},
	{{2, 0xa3, 2}, {.kind = VT_PT_TNT64, .size = 8, .count = 1}},
	{{0x0d}, {.kind = VT_PT_TIP, .size = 1}},
	{{0x2d, 0x34, 0x12}, {.kind = VT_PT_TIP, .size = 3, .ipc = 1, .payload = 0x1234}},
	{{0x4d, 1, 2, 3, 4}, {.kind = VT_PT_TIP, .size = 5, .ipc = 2, .payload = 0x4030201}},
	{{0x71, 1, 2, 3, 4, 5, 6},
	 {.kind = VT_PT_TIP_PGE, .size = 7, .ipc = 3, .payload = 0x60504030201}},
	{{0x81, 1, 2, 3, 4, 5, 6},
	 {.kind = VT_PT_TIP_PGD, .size = 7, .ipc = 4, .payload = 0x60504030201}},
	{{0xdd, 1, 2, 3, 4, 5, 6, 7, 8},
	 {.kind = VT_PT_FUP, .size = 9, .ipc = 6, .payload = 0x807060504030201}},
	{{0x99, 0}, {.kind = VT_PT_MODE_EXEC, .size = 2, .payload = 16}},
	{{0x99, 5}, {.kind = VT_PT_MODE_EXEC, .size = 2, .payload = 64, .flag = true}},
	{{0x99, 2}, {.kind = VT_PT_MODE_EXEC, .size = 2, .payload = 32}},
	{{0x99, 3}, {.kind = VT_PT_MODE_EXEC, .size = 2, .payload = 0}},
	{{0x99, 0x22}, {.kind = VT_PT_MODE_TSX, .size = 2, .payload = 2}},
	{{2, 0x43, 3, 0x10, 0, 0, 0, 0x80},
	 {.kind = VT_PT_PIP, .size = 8, .flag = true, .payload = 0x8000000010020}},
	{{2, 0xc8, 1, 2, 3, 4, 5}, {.kind = VT_PT_VMCS, .size = 7, .payload = 0x504030201000}},
	{{0x19, 1, 2, 3, 4, 5, 6, 0x87},
	 {.kind = VT_PT_TSC, .size = 8, .payload = 0x87060504030201}},
	{{2, 0x73, 0x34, 0x12, 0, 0xff, 1},
	 {.kind = VT_PT_TMA, .size = 7, .payload = 0x1234, .extra = 0x1ff}},
	{{0x59, 0xfe}, {.kind = VT_PT_MTC, .size = 2, .payload = 0xfe}},
	{{2, 3, 0x1f, 0}, {.kind = VT_PT_CBR, .size = 4, .payload = 0x1f}},
	{{0xfb}, {.kind = VT_PT_CYC, .size = 1, .payload = 31}},
	{{0x0f, 0x02}, {.kind = VT_PT_CYC, .size = 2, .payload = 33}},
	{{7, 1, 1, 1, 1, 1, 1, 1, 0xfe},
	 {.kind = VT_PT_CYC, .size = 9, .payload = UINT64_C(0x7f) << 54}},
	{{2, 0xf3}, {.kind = VT_PT_OVF, .size = 2}},
	{{2, 0x83}, {.kind = VT_PT_STOP, .size = 2}},
	{{2, 0xc3, 0x88, 1, 2, 3, 4, 5, 6, 7, 8},
	 {.kind = VT_PT_MNT, .size = 11, .payload = 0x807060504030201}},
	{{2, 0x12, 1, 2, 3, 4}, {.kind = VT_PT_PTW, .size = 6, .count = 4, .payload = 0x4030201}},
	{{2, 0xb2, 1, 2, 3, 4, 5, 6, 7, 8},
	 {.kind = VT_PT_PTW, .size = 10, .count = 8, .ip = true, .payload = 0x807060504030201}},
	{{2, 0x62}, {.kind = VT_PT_EXSTOP, .size = 2}},
	{{2, 0xe2}, {.kind = VT_PT_EXSTOP, .size = 2, .ip = true}},
	{{2, 0xc2, 0x21, 0, 0, 0, 1, 0, 0, 0},
	 {.kind = VT_PT_MWAIT, .size = 10, .payload = 0x21, .extra = 1}},
	{{2, 0x22, 0x80, 0x63},
	 {.kind = VT_PT_PWRE, .size = 4, .payload = 6, .extra = 3, .flag = true}},
	{{2, 0xa2, 0x62, 0x04}, {.kind = VT_PT_PWRX, .size = 7, .payload = 0x26, .extra = 4}},
	{{2, 0x63, 0x84}, {.kind = VT_PT_BBP, .size = 3, .count = 1, .payload = 4}},
	{{2, 0x33}, {.kind = VT_PT_BEP, .size = 2}},
	{{2, 0xb3}, {.kind = VT_PT_BEP, .size = 2, .ip = true}},
	{{2, 0x13, 0x81, 0x0e},
	 {.kind = VT_PT_CFE, .size = 4, .ip = true, .payload = 1, .extra = 14}},
	{{2, 0x53, 1, 1, 2, 3, 4, 5, 6, 7, 8},
	 {.kind = VT_PT_EVD, .size = 11, .payload = 1, .extra = 0x807060504030201}},
	{{0xd9, 0x80, 3}, {.kind = VT_PT_TRIG, .size = 3, .ip = true, .payload = 3}},
	{{0xd9, 0x40, 3, 1, 2}, {.kind = VT_PT_TRIG, .size = 5, .payload = 3, .extra = 0x201}},
};

static void assert_packet(const struct vt_pt_packet *p, const struct vt_pt_packet *want)
{
	assert_string_equal(vt_pt_kind_name(p->kind), vt_pt_kind_name(want->kind));
	assert_int_equal(p->size, want->size);
	assert_int_equal(p->ipc, want->ipc);
	assert_int_equal(p->count, want->count);
	assert_int_equal(p->ip, want->ip);
	assert_int_equal(p->flag, want->flag);
	assert_int_equal(p->payload, want->payload);
	assert_int_equal(p->extra, want->extra);
}

static void by_hand(void **state)
{
	bool seen[VT_PT_NKINDS] = {false};
	struct vt_pt_packet p;
	unsigned kind;
	size_t i, n;

	(void)state;
	for (i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		const struct sample *s = &samples[i];

		assert_int_equal(vt_pt_packet_read(&p, s->bytes, s->bytes + 16, 0), s->want.size);
		assert_packet(&p, &s->want);
		seen[p.kind] = true;
		/* It needs all of its bytes. */
		for (n = 0; n < s->want.size; n++)
			assert_int_equal(vt_pt_packet_read(&p, s->bytes, s->bytes + n, 0),
					 VT_PT_CUT);
	}
	for (kind = 0; kind < VT_PT_NKINDS; kind++)
		assert_true(seen[kind] || kind == VT_PT_BIP);
	assert_string_equal(vt_pt_kind_name(VT_PT_NKINDS), "?");
}

static void malformed(void **state)
{
	static const uint8_t bad[][12] = {
		{0xad},
		{0xed},
		{0xb1},
		{0xe1},
		{0xbd}, /* reserved compressions */
		{0x05},
		{0x09},
		{0x15},
		{0x39},
		{0xc9}, /* no such packet */
		{2, 0x00},
		{2, 0x52},
		{2, 0x72},
		{2, 0x04},	 /* nor with two bytes */
		{2, 0xc3, 0x89}, /* nor with three */
		{2, 0xa3},
		{2, 0xa3, 1}, /* no stop bit; no decision */
		{0x99, 0x40},
		{0x99, 0xe1}, /* leaves of MODE */
		{2, 0x73, 0, 0, 1},
		{2, 0x73, 0, 0, 0, 0, 2},		       /* fast counter: 9 bits */
		{2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x83}, /* nearly a PSB */
		{7, 1, 1, 1, 1, 1, 1, 1, 1, 0},		       /* more than 64 bits */
	};
	uint8_t padded[16];
	struct vt_pt_packet p;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memset(padded, 0, sizeof(padded));
		memcpy(padded, bad[i], sizeof(bad[i]));
		assert_int_equal(vt_pt_packet_read(&p, padded, padded + 16, 0), VT_PT_BAD);
	}
}

/* Items begin like TNT packets: what they are depends on what was before. */
static void blocks(void **state)
{
	static const uint8_t bytes[] = {2, 0x63, 0x84, 0x0c, 1, 2,    3,    4, 0x59, 1, 0xfc,
					1, 2,	 3,    4,    2, 0x33, 0x0c, 2, 0x63, 4, 0x04,
					1, 2,	 3,    4,    5, 6,    7,    8, 0x04, 0};
	static const uint8_t kinds[] = {VT_PT_BBP, VT_PT_BIP,  VT_PT_MTC, VT_PT_BIP,
					VT_PT_BEP, VT_PT_TNT8, VT_PT_BBP, VT_PT_BIP};
	const uint8_t *p = bytes, *end = bytes + sizeof(bytes);
	struct vt_pt_packet packet;
	unsigned bip = 0;
	size_t i;
	int size;

	(void)state;
	for (i = 0; i < sizeof(kinds); i++) {
		size = vt_pt_packet_read(&packet, p, end, bip);
		assert_true(size > 0);
		assert_int_equal(packet.kind, kinds[i]);
		if (i == 1)
			assert_true(packet.payload == 1 && packet.extra == 0x4030201);
		if (i == 7)
			assert_true(packet.payload == 0 && packet.extra == 0x807060504030201);
		bip = vt_pt_bip_after(bip, &packet);
		p += size;
	}
	assert_int_equal(vt_pt_packet_read(&packet, p, end, bip), VT_PT_CUT);
}

static void addresses(void **state)
{
	static const struct {
		uint8_t ipc;
		uint64_t payload, want;
		bool known;
	} steps[] = {
		{VT_PT_IPC_FULL, 0x1122334455667788, 0x1122334455667788, true},
		{VT_PT_IPC_UPDATE16, 0x9999, 0x1122334455669999, true},
		{VT_PT_IPC_SUPPRESSED, 0, 0x1122334455669999, false},
		{VT_PT_IPC_UPDATE32, 0xaaaabbbb, 0x11223344aaaabbbb, true},
		{5, 1, 0x11223344aaaabbbb, false},
		{7, 1, 0x11223344aaaabbbb, false},
		{VT_PT_IPC_UPDATE48, 0xc0ffee000001, 0x1122c0ffee000001, true},
		{VT_PT_IPC_SEXT48, 0x7fffee000001, 0x7fffee000001, true},
		{VT_PT_IPC_SEXT48, 0x800000000000, 0xffff800000000000, true},
	};
	uint64_t last = 0;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct vt_pt_packet p = {
			.kind = VT_PT_TIP, .ipc = steps[i].ipc, .payload = steps[i].payload};

		assert_int_equal(vt_pt_ip_update(&last, &p), steps[i].known);
		assert_int_equal(last, steps[i].want);
	}
}

static struct pt_packet_decoder *libipt(uint8_t *bytes, size_t size)
{
	struct pt_packet_decoder *d;
	struct pt_config config;

	pt_config_init(&config);
	config.begin = bytes;
	config.end = bytes + size;
	d = pt_pkt_alloc_decoder(&config);
	assert_non_null(d);
	return d;
}

/* With erratum SKZ84 a TMA that cannot be is 8 bytes of padding. */
static void corrupted_tma(void **state)
{
	uint8_t bytes[8] = {0x02, 0x73};
	struct pt_packet_decoder *d;
	struct pt_config config;
	struct vt_pt_packet got;
	struct pt_packet want;
	struct vt_rng rng;
	int round;
	size_t i;

	(void)state;
	pt_config_init(&config);
	config.begin = bytes;
	config.end = bytes + sizeof(bytes);
	config.errata.skz84 = 1;
	d = pt_pkt_alloc_decoder(&config);
	assert_non_null(d);
	vt_rng_init(&rng, 5);
	for (round = 0; round < 2000; round++) {
		for (i = 2; i < sizeof(bytes); i++)
			bytes[i] = vt_rng_next(&rng) % 2 ? (uint8_t)vt_rng_next(&rng) : 0;
		assert_int_equal(pt_pkt_sync_set(d, 0), 0);
		assert_int_equal(vt_pt_packet_read(&got, bytes, config.end, VT_PT_SKZ84),
				 pt_pkt_next(d, &want, sizeof(want)));
		assert_int_equal(got.size, want.size);
		assert_int_equal(got.kind, want.type == ppt_invalid ? VT_PT_PAD : VT_PT_TMA);
	}
	pt_pkt_free_decoder(d);
	/* The bogus byte is cut off. */
	memset(bytes + 2, 0xff, 5);
	assert_int_equal(vt_pt_packet_read(&got, bytes, bytes + 7, VT_PT_SKZ84), 7);
	assert_int_equal(vt_pt_packet_read(&got, bytes, bytes + 7, 0), VT_PT_BAD);
}

static void assert_same_at(uint8_t *bytes, size_t size, size_t offset, struct pt_packet_decoder *d)
{
	struct vt_pt_packet v;
	int got;

	assert_int_equal(pt_pkt_sync_set(d, offset), 0);
	if (!pt_same(d, bytes + offset, bytes + size, &v, &got))
		fail_msg("%02x %02x %02x … %zu bytes: we say %d, %s", bytes[offset],
			 bytes[offset + (size > 1)], bytes[offset + (size > 2) * 2], size - offset,
			 got, vt_pt_kind_name(v.kind));
}

/* Every first byte, every second one behind 2, every length; other bytes from several patterns. */
static void as_libipt_cut(void **state)
{
	static const uint8_t fills[] = {0, 1, 2, 0x82, 0x88, 0xff};
	struct pt_packet_decoder *d;
	uint8_t *bytes;
	unsigned first, second, fill;
	size_t size;

	(void)state;
	for (size = 1; size <= 16; size++) {
		bytes = malloc(size);
		assert_non_null(bytes);
		d = libipt(bytes, size);
		for (first = 0; first < 256; first++)
			for (second = 0; second < 256; second++)
				for (fill = 0; fill < sizeof(fills); fill++) {
					memset(bytes, fills[fill], size);
					bytes[0] = (uint8_t)first;
					if (size > 1)
						bytes[1] = (uint8_t)second;
					assert_same_at(bytes, size, 0, d);
				}
		pt_pkt_free_decoder(d);
		free(bytes);
	}
}

static void as_libipt_random(void **state)
{
	enum { SIZE = 1 << 16 };
	uint8_t *bytes = malloc(SIZE);
	struct pt_packet_decoder *d;
	struct vt_rng rng;
	size_t i;
	int round;

	(void)state;
	assert_non_null(bytes);
	vt_rng_init(&rng, 1);
	d = libipt(bytes, SIZE);
	for (round = 0; round < 32; round++) {
		for (i = 0; i < SIZE; i += 8)
			vt_put_le64(bytes + i, vt_rng_next(&rng));
		/* Half of them with many packets of two-byte opcodes. */
		for (i = 0; round & 1 && i < SIZE; i += 11)
			bytes[i] = 2;
		for (i = 0; i < SIZE; i++)
			assert_same_at(bytes, SIZE, i, d);
	}
	pt_pkt_free_decoder(d);
	free(bytes);
}

/* libipt's search begins up to 15 bytes before its position: the position is made the beginning. */
static const uint8_t *libipt_psb(uint8_t *p, uint8_t *end)
{
	struct pt_packet_decoder *d = libipt(p, (size_t)(end - p));
	const uint8_t *found = NULL;
	uint64_t offset;

	if (pt_pkt_sync_forward(d) >= 0) {
		assert_int_equal(pt_pkt_get_offset(d, &offset), 0);
		found = p + offset;
	}
	pt_pkt_free_decoder(d);
	return found;
}

static void find_psb(void **state)
{
	enum { SIZE = 256 };
	static const uint8_t psb[] = {PSB};
	uint8_t bytes[SIZE];
	struct vt_rng rng;
	size_t i, run, from;
	int round;

	(void)state;
	assert_null(vt_pt_find_psb(NULL, NULL));
	for (i = 0; i <= SIZE - 16; i++) {
		memset(bytes, 0x82, SIZE);
		memcpy(bytes + i, psb, 16);
		assert_ptr_equal(vt_pt_find_psb(bytes, bytes + SIZE), bytes + i);
		assert_null(vt_pt_find_psb(bytes + i + 1, bytes + SIZE));
		assert_null(vt_pt_find_psb(bytes, bytes + i + 15));
	}
	vt_rng_init(&rng, 3);
	for (round = 0; round < 20000; round++) {
		memset(bytes, round % 3, SIZE);
		for (i = vt_rng_next(&rng) % 40; i < SIZE; i += vt_rng_next(&rng) % 40) {
			run = vt_rng_next(&rng) % 44;
			for (from = vt_rng_next(&rng) % 2; run && i < SIZE; run--, i++, from++)
				bytes[i] = from & 1 ? 0x82 : 2;
		}
		for (from = 0; from < SIZE; from += 1 + vt_rng_next(&rng) % 60)
			assert_ptr_equal(vt_pt_find_psb(bytes + from, bytes + SIZE),
					 libipt_psb(bytes + from, bytes + SIZE));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand),	 cmocka_unit_test(malformed),
		cmocka_unit_test(blocks),	 cmocka_unit_test(addresses),
		cmocka_unit_test(as_libipt_cut), cmocka_unit_test(as_libipt_random),
		cmocka_unit_test(find_psb),	 cmocka_unit_test(corrupted_tma),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
