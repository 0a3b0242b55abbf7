/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "formats/pt/encode/putpacket.h"

/* What vt_pt_packet_read() makes of what was written is what was meant. */
static void check_packet(const struct vt_pt_packet *k)
{
	unsigned bip = k->kind == VT_PT_BIP ? k->size - 1u : 0;
	uint8_t bytes[VT_PT_MAX_PACKET + 1], *end;
	struct vt_pt_packet got;

	memset(bytes, 0xa5, sizeof(bytes));
	end = vt_pt_packet_write(bytes, k);
	assert_true(end > bytes && end <= bytes + VT_PT_MAX_PACKET);
	assert_int_equal(*end, 0xa5);
	assert_int_equal(vt_pt_packet_read(&got, bytes, end, bip), end - bytes);
	assert_int_equal(got.kind, k->kind);
	assert_int_equal(got.ipc, k->ipc);
	assert_int_equal(got.count, k->count);
	assert_int_equal(got.ip, k->ip);
	assert_int_equal(got.flag, k->flag);
	assert_true(got.payload == k->payload);
	assert_true(got.extra == k->extra);
}

static void test_every_kind(void **state)
{
	static const struct vt_pt_packet packets[] = {
		{.kind = VT_PT_PAD},
		{.kind = VT_PT_PSB},
		{.kind = VT_PT_PSBEND},
		{.kind = VT_PT_TNT8, .count = 1, .payload = 1},
		{.kind = VT_PT_TNT8, .count = 6, .payload = 0x15},
		{.kind = VT_PT_TNT64, .count = 1, .payload = 0},
		{.kind = VT_PT_TNT64, .count = 47, .payload = 0x7123456789ab},
		{.kind = VT_PT_TIP},
		{.kind = VT_PT_TIP, .ipc = VT_PT_IPC_UPDATE16, .payload = 0x1234},
		{.kind = VT_PT_TIP_PGE, .ipc = VT_PT_IPC_UPDATE32, .payload = 0x12345678},
		{.kind = VT_PT_TIP_PGD, .ipc = VT_PT_IPC_SEXT48, .payload = 0x7f3412345678},
		{.kind = VT_PT_FUP, .ipc = VT_PT_IPC_UPDATE48, .payload = 0xff3412345678},
		{.kind = VT_PT_FUP, .ipc = VT_PT_IPC_FULL, .payload = 0x8123ff3412345678},
		{.kind = VT_PT_MODE_EXEC, .payload = 16},
		{.kind = VT_PT_MODE_EXEC, .payload = 32, .flag = true},
		{.kind = VT_PT_MODE_EXEC, .payload = 64},
		{.kind = VT_PT_MODE_TSX, .payload = 3},
		{.kind = VT_PT_PIP, .payload = 0x123456789a0, .flag = true},
		{.kind = VT_PT_VMCS, .payload = 0x123456789a000},
		{.kind = VT_PT_TSC, .payload = 0xfedcba98765432},
		{.kind = VT_PT_TMA, .payload = 0xabcd, .extra = 0x1ff},
		{.kind = VT_PT_MTC, .payload = 0x80},
		{.kind = VT_PT_CBR, .payload = 0x2a},
		{.kind = VT_PT_CYC, .payload = 31},
		{.kind = VT_PT_CYC, .payload = 32},
		{.kind = VT_PT_CYC, .payload = 4095},
		{.kind = VT_PT_CYC, .payload = 4096},
		{.kind = VT_PT_CYC, .payload = 0x7fffffffffffff},
		{.kind = VT_PT_OVF},
		{.kind = VT_PT_STOP},
		{.kind = VT_PT_MNT, .payload = 0x123456789abcdef0},
		{.kind = VT_PT_PTW, .count = 4, .payload = 0xdeadbeef},
		{.kind = VT_PT_PTW, .count = 8, .ip = true, .payload = 0x1122334455667788},
		{.kind = VT_PT_EXSTOP},
		{.kind = VT_PT_EXSTOP, .ip = true},
		{.kind = VT_PT_MWAIT, .payload = 0x60, .extra = 1},
		{.kind = VT_PT_PWRE, .payload = 6, .extra = 2, .flag = true},
		{.kind = VT_PT_PWRX, .payload = 0x61, .extra = 4},
		{.kind = VT_PT_BBP, .payload = 4, .count = 1},
		{.kind = VT_PT_BBP, .payload = 31},
		{.kind = VT_PT_BIP, .size = 5, .payload = 3, .extra = 0x12345678},
		{.kind = VT_PT_BIP, .size = 9, .payload = 31, .extra = 0x123456789abcdef0},
		{.kind = VT_PT_BEP},
		{.kind = VT_PT_BEP, .ip = true},
		{.kind = VT_PT_CFE, .ip = true, .payload = 1, .extra = 0xee},
		{.kind = VT_PT_EVD, .payload = 0x3f, .extra = 0x123456789abcdef0},
		{.kind = VT_PT_TRIG, .size = 3, .ip = true, .payload = 5},
		{.kind = VT_PT_TRIG, .size = 5, .payload = 5, .extra = 0x1234},
	};
	bool seen[VT_PT_NKINDS] = {false};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(packets) / sizeof(packets[0]); i++) {
		check_packet(&packets[i]);
		seen[packets[i].kind] = true;
	}
	for (i = 0; i < VT_PT_NKINDS; i++)
		assert_true(seen[i]);
}

static void test_none(void **state)
{
	static const struct vt_pt_packet packets[] = {
		{.kind = VT_PT_NKINDS},		  {.kind = VT_PT_TNT8, .count = 0},
		{.kind = VT_PT_TNT8, .count = 7}, {.kind = VT_PT_TNT64, .count = 48},
		{.kind = VT_PT_TIP, .ipc = 5},	  {.kind = VT_PT_TIP, .ipc = 7},
		{.kind = VT_PT_PTW, .count = 5},
	};
	uint8_t bytes[VT_PT_MAX_PACKET];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(packets) / sizeof(packets[0]); i++)
		assert_ptr_equal(vt_pt_packet_write(bytes, &packets[i]), bytes);
}

/* Addresses of all distances come back, and no compression that would do is longer. */
static void test_addresses(void **state)
{
	static const unsigned sizes[] = {1, 3, 5, 7, 7, 0, 9};
	uint64_t last = 0, read = 0, ip;
	uint8_t bytes[16], *end;
	struct vt_pt_packet k;
	struct vt_rng rng;
	unsigned i;

	(void)state;
	vt_rng_init(&rng, 1);
	for (i = 0; i < 10000; i++) {
		unsigned keep = (unsigned)vt_rng_below(&rng, 64);
		uint64_t before = last;

		ip = last ^ vt_rng_next(&rng) >> keep;
		end = vt_pt_put_ip(bytes, VT_PT_OP_TIP, &last, ip);
		assert_true(last == ip);
		assert_int_equal(vt_pt_packet_read(&k, bytes, end, 0), end - bytes);
		assert_int_equal(k.kind, VT_PT_TIP);
		assert_true(vt_pt_ip_update(&read, &k));
		assert_true(read == ip);
		assert_int_equal(end - bytes, sizes[k.ipc]);
		if (k.ipc > VT_PT_IPC_UPDATE16)
			assert_true(before >> 16 != ip >> 16);
		if (k.ipc > VT_PT_IPC_UPDATE32)
			assert_true(before >> 32 != ip >> 32);
	}
}

static void test_decisions(void **state)
{
	uint8_t bytes[16], *end;
	struct vt_pt_packet k;
	uint64_t bits = 1;
	unsigned n;

	(void)state;
	assert_ptr_equal(vt_pt_put_tnt(bytes, bits), bytes);
	for (n = 1; n <= 47; n++) {
		bits = bits << 1 | (n % 3 == 0);
		end = vt_pt_put_tnt(bytes, bits);
		assert_int_equal(end - bytes, n <= 6 ? 1 : 8);
		assert_int_equal(vt_pt_packet_read(&k, bytes, end, 0), end - bytes);
		assert_int_equal(k.kind, n <= 6 ? VT_PT_TNT8 : VT_PT_TNT64);
		assert_int_equal(k.count, n);
		assert_true(k.payload == (bits ^ 1ull << n));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_kind),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_decisions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
