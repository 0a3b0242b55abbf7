/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the walker asks about the packets of a trace, packet by packet, and the answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "formats/pt/decode/walk.h"
#include "tests/unit/common/pttrace.h"

static struct trace t;

/* A walk at the first byte of the trace. */
struct asked {
	struct vti_pt_walk *w;
	struct vti_pt_query *q;
};

static struct asked begin(unsigned errata)
{
	static struct vti_pt_walk w;

	w = (struct vti_pt_walk){.begin = t.bytes,
				 .pos = t.bytes,
				 .end = t.end,
				 .query = {.errata = errata, .next = VTI_PT_NONE}};
	return (struct asked){&w, &w.query};
}

static void put_bytes(const void *bytes, size_t size)
{
	memcpy(t.end, bytes, size);
	t.end += size;
}

/* ---- kinds ---- */

/* The kind that an opcode tells is that of the packet, if the reference knows of it. */
static void test_opcodes(void **state)
{
	unsigned first, second;
	uint8_t kind;

	(void)state;
	for (first = 0; first < 256; first++) {
		for (second = 0; second < 256; second++) {
			const uint8_t bytes[16] = {
				(uint8_t)first, (uint8_t)second, 0x88, 0, 0, 0, 1};
			struct vt_pt_packet p;
			int size;

			assert_int_equal(vti_pt_fetch(bytes, bytes + 16, &kind), 0);
			size = vt_pt_packet_read(&p, bytes, bytes + 16, 0);
			if (size > 0 && p.kind == VT_PT_MODE_TSX)
				p.kind = VT_PT_MODE_EXEC;
			if (size > 0)
				assert_int_equal(kind,
						 p.kind < VT_PT_BBP ? p.kind : VTI_PT_UNKNOWN);
		}
	}
}

/* What is cut has a kind only if the opcode is whole. */
static void test_cut_opcodes(void **state)
{
	static const struct {
		uint8_t bytes[3];
		uint8_t size;
		int result;
		uint8_t kind;
	} all[] = {
		{{0}, 0, -VTI_PT_EOS, VTI_PT_NONE},
		{{0x02}, 1, -VTI_PT_EOS, VTI_PT_NONE},
		{{0x02, 0x23}, 2, 0, VT_PT_PSBEND},
		{{0x02, 0xc3}, 2, -VTI_PT_EOS, VTI_PT_NONE},
		{{0x02, 0xc3, 0x88}, 3, 0, VT_PT_MNT},
		{{0x02, 0xc3, 0x89}, 3, 0, VTI_PT_UNKNOWN},
		{{0x19}, 1, 0, VT_PT_TSC},
		{{0x99}, 1, 0, VT_PT_MODE_EXEC},
		{{0xd9}, 1, 0, VTI_PT_UNKNOWN},
		{{0x02, 0x12}, 2, 0, VT_PT_PTW},
		{{0x02, 0x52}, 2, 0, VT_PT_PTW},
		{{0x02, 0x13}, 2, 0, VTI_PT_UNKNOWN},
		{{0x02, 0x02}, 2, 0, VTI_PT_UNKNOWN},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		uint8_t kind = 77;

		assert_int_equal(vti_pt_fetch(all[i].bytes, all[i].bytes + all[i].size, &kind),
				 all[i].result);
		assert_int_equal(kind, all[i].kind);
	}
}

/* What a packet is good for. */
static void test_uses(void **state)
{
	unsigned kind;

	(void)state;
	assert_int_equal(vti_pt_uses(VT_PT_TNT8), VTI_PT_TAKES_TNT);
	assert_int_equal(vti_pt_uses(VT_PT_TNT64), VTI_PT_TAKES_TNT);
	assert_int_equal(vti_pt_uses(VT_PT_TIP), VTI_PT_TAKES_TIP);
	assert_int_equal(vti_pt_uses(VT_PT_FUP), VTI_PT_EVENT_FUP | VTI_PT_IN_HEADER);
	assert_int_equal(vti_pt_uses(VT_PT_PSBEND), VTI_PT_EVENT_PSBEND);
	assert_int_equal(vti_pt_uses(VT_PT_OVF), VTI_PT_EVENT | VTI_PT_EVENT_PSBEND);
	assert_int_equal(vti_pt_uses(VT_PT_PSB), 0);
	assert_int_equal(vti_pt_uses(VTI_PT_UNKNOWN), VTI_PT_IN_HEADER);
	assert_int_equal(vti_pt_uses(VTI_PT_NONE), 0);
	for (kind = VT_PT_BBP; kind <= VT_PT_NKINDS; kind++)
		assert_int_equal(vti_pt_uses((uint8_t)kind), 0);
}

/* A TMA corrupted by SKZ84 takes the byte behind it; at the end of the trace there is none. */
static void test_corrupted(void **state)
{
	static const uint8_t tma[] = {2, 0x73, 0, 0, 0, 0, 9, 0, 0};
	size_t size;

	(void)state;
	for (size = 2; size <= sizeof(tma); size++) {
		struct vt_pt_packet p;
		struct asked a;
		int r;

		start(&t);
		put_bytes(tma, size);
		a = begin(VTI_PT_SKZ84);
		r = vti_pt_packet(a.w, &p, t.bytes);
		assert_int_equal(r, size < 7 ? -VTI_PT_EOS : size == 7 ? -VTI_PT_NOSYNC : 8);
		r = vti_pt_peek(a.w, &p, t.bytes);
		assert_int_equal(r, size < 7 ? -VTI_PT_EOS : size == 7 ? 7 : 8);
		if (size >= 7)
			assert_int_equal(p.kind, VTI_PT_UNKNOWN);
		a = begin(0);
		r = vti_pt_packet(a.w, &p, t.bytes);
		assert_int_equal(r, size < 7 ? -VTI_PT_EOS : -VTI_PT_PACKET);
		assert_int_equal(vti_pt_peek(a.w, &p, t.bytes), r);
	}
}

static void test_peek(void **state)
{
	struct vt_pt_packet p;
	struct asked a;

	(void)state;
	put_bytes("\0\xd9\x02\x23", start(&t) ? 4 : 0);
	a = begin(VTI_PT_SKZ84);
	assert_int_equal(vti_pt_peek(a.w, &p, t.bytes), 1);
	assert_int_equal(p.kind, VT_PT_PAD);
	assert_int_equal(vti_pt_peek(a.w, &p, t.bytes + 1), -VTI_PT_OPCODE);
	assert_int_equal(vti_pt_peek(a.w, &p, t.bytes + 2), 2);
	assert_int_equal(p.kind, VT_PT_PSBEND);
	assert_int_equal(vti_pt_peek(a.w, &p, t.end), -VTI_PT_EOS);
}

/* ---- addresses ---- */

static void test_addresses(void **state)
{
	struct vt_pt_packet p = {.kind = VT_PT_TIP, .ipc = VT_PT_IPC_SEXT48, .payload = BASE};
	struct asked a;
	uint64_t ip = 77;

	(void)state;
	start(&t);
	a = begin(0);
	assert_int_equal(vti_pt_last_ip(a.w, &ip), -VTI_PT_NOIP);
	assert_int_equal(ip, 0);
	vti_pt_take_ip(a.w, &p);
	assert_int_equal(vti_pt_last_ip(a.w, &ip), 0);
	assert_int_equal(ip, BASE);
	p.ipc = VT_PT_IPC_SUPPRESSED;
	vti_pt_take_ip(a.w, &p);
	assert_int_equal(vti_pt_last_ip(a.w, &ip), -VTI_PT_SUPPRESSED);
	assert_int_equal(ip, 0);
	p.ipc = VT_PT_IPC_UPDATE16;
	p.payload = 0x1234;
	vti_pt_take_ip(a.w, &p);
	assert_int_equal(vti_pt_last_ip(a.w, &ip), 0);
	assert_int_equal(ip, BASE + 0x1234);
	vti_pt_forget_ip(a.w);
	assert_int_equal(vti_pt_last_ip(a.w, &ip), -VTI_PT_NOIP);
	/* What was forgotten is no part of the next one. */
	vti_pt_take_ip(a.w, &p);
	assert_int_equal(vti_pt_last_ip(a.w, &ip), 0);
	assert_int_equal(ip, 0x1234);
	p.ipc = VT_PT_IPC_SUPPRESSED;
	vti_pt_take_ip(a.w, &p);
	vti_pt_forget_ip(a.w);
	assert_int_equal(vti_pt_last_ip(a.w, &ip), -VTI_PT_NOIP);
}

/* ---- queries ---- */

/* Begins at the first byte. */
static struct asked synchronise(int want, uint64_t want_ip)
{
	struct asked a = begin(0);
	uint64_t ip = 77;

	assert_int_equal(vti_pt_query_sync(a.w, t.bytes, &ip), want);
	if (want >= 0)
		assert_int_equal(ip, want_ip);
	return a;
}

static void test_sync(void **state)
{
	struct asked a;
	uint64_t ip;
	unsigned i;

	(void)state;
	put_psb(start(&t), BASE);
	put_tnt(&t, "1");
	a = begin(0);
	a.q->has_tsc = a.q->has_tma = a.q->consume = a.q->published = true;
	a.w->tnt_count = 5;
	for (i = 0; i < VTI_PT_NBINDINGS; i++)
		a.q->queues[i].count = VTI_PT_QUEUE;
	assert_int_equal(vti_pt_query_sync(a.w, t.bytes, &ip), VTI_PT_PENDING);
	assert_int_equal(ip, BASE);
	assert_ptr_equal(a.q->sync, t.bytes);
	assert_false(a.q->has_tsc);
	assert_false(a.q->has_tma);
	assert_false(a.q->consume);
	assert_int_equal(a.w->tnt_count, 0);
	/* The mode of the code, at the PSBEND. */
	assert_int_equal(a.q->queues[VTI_PT_BIND_PSBEND].count, 1);
	assert_int_equal(a.q->queues[VTI_PT_BIND_TIP].count, 0);
	assert_int_equal(a.q->queues[VTI_PT_BIND_FUP].count, 0);
	assert_int_equal(a.q->next, VT_PT_PSBEND);
	assert_int_equal(vti_pt_query_sync(a.w, t.bytes + 1, &ip), -VTI_PT_NOSYNC);
	assert_int_equal(vti_pt_query_sync(a.w, t.end, &ip), -VTI_PT_EOS);
	/* Nothing behind it. */
	put_psb(start(&t), 0);
	synchronise(-VTI_PT_EOS, 0);
	/* Tracing is off: no address. */
	put_psb(start(&t), 0);
	put_ip(&t, VT_PT_TIP_PGE, BASE);
	synchronise(VTI_PT_PENDING | VTI_PT_UNKNOWN_IP, 0);
	/* What is wrong before the next query's packet is told at once. */
	put_psb(start(&t), 0);
	put_bytes("\xd9", 1);
	synchronise(-VTI_PT_OPCODE, 0);
	put_psb(start(&t), 0);
	put_bytes("\x19\x01", 2);
	a = synchronise(-VTI_PT_EOS, 0);
	assert_ptr_equal(a.w->pos, t.end);
	assert_int_equal(a.q->next, VTI_PT_NONE);
	/* The second of two PSBs says nothing of where the first one is. */
	put_kind(start(&t), VT_PT_PSB, 0);
	put_ip(&t, VT_PT_FUP, BASE);
	put_kind(&t, VT_PT_PSBEND, 0);
	put_psb(&t, 0);
	put_tnt(&t, "1");
	synchronise(0, BASE);
	put_psb(start(&t), 0);
	put_kind(&t, VT_PT_PSB, 0);
	put_ip(&t, VT_PT_FUP, BASE);
	put_kind(&t, VT_PT_PSBEND, 0);
	put_tnt(&t, "1");
	synchronise(0, BASE);
}

/* A PSB+ without anything but an address: what comes behind it is asked for. */
static void put_start(void)
{
	put_kind(start(&t), VT_PT_PSB, 0);
	put_ip(&t, VT_PT_FUP, BASE);
	put_kind(&t, VT_PT_PSBEND, 0);
}

static void test_decisions(void **state)
{
	struct asked a;
	uint64_t ip = 77;
	bool taken;
	int i;

	(void)state;
	put_start();
	put_tnt(&t, "101");
	put_kind(&t, VT_PT_TSC, 7);
	put_tnt(&t, "0");
	put_ip(&t, VT_PT_TIP, BASE + 5);
	a = synchronise(0, BASE);
	for (i = 0; i < 4; i++) {
		taken = i % 2;
		assert_int_equal(vti_pt_query_cond(a.w, &taken), 0);
		assert_int_equal(taken, i == 0 || i == 2);
	}
	taken = true;
	assert_int_equal(vti_pt_query_cond(a.w, &taken), -VTI_PT_QUERY);
	assert_true(taken);
	assert_int_equal(vti_pt_query_indirect(a.w, &ip), VTI_PT_AT_END);
	assert_int_equal(ip, BASE + 5);
	assert_int_equal(vti_pt_query_cond(a.w, &taken), -VTI_PT_EOS);
	assert_int_equal(vti_pt_query_indirect(a.w, &ip), -VTI_PT_EOS);
	/* The kind of what is next was not looked for. */
	a.w->pos = t.bytes;
	assert_int_equal(vti_pt_query_cond(a.w, &taken), -VTI_PT_INTERNAL);
}

/* Decisions that are left come before events, the end, and other decisions. */
static void test_order(void **state)
{
	struct vti_pt_event ev;
	struct asked a;
	uint64_t ip;
	bool taken;

	(void)state;
	put_start();
	put_tnt(&t, "10");
	put_kind(&t, VT_PT_CBR, 7);
	put_kind(&t, VT_PT_CBR, 8);
	put_tnt(&t, "1");
	a = synchronise(0, BASE);
	assert_int_equal(vti_pt_query_event(a.w, &ev), -VTI_PT_QUERY);
	assert_int_equal(vti_pt_query_cond(a.w, &taken), 0);
	assert_int_equal(vti_pt_query_event(a.w, &ev), -VTI_PT_QUERY);
	assert_int_equal(vti_pt_query_indirect(a.w, &ip), -VTI_PT_QUERY);
	assert_int_equal(vti_pt_query_cond(a.w, &taken), VTI_PT_PENDING);
	assert_int_equal(vti_pt_query_cond(a.w, &taken), -VTI_PT_QUERY);
	assert_int_equal(vti_pt_query_indirect(a.w, &ip), -VTI_PT_QUERY);
	assert_int_equal(vti_pt_query_event(a.w, &ev), VTI_PT_PENDING);
	assert_int_equal(ev.type, VTI_PT_EV_CBR);
	assert_int_equal(ev.value, 7);
	assert_int_equal(vti_pt_query_event(a.w, &ev), 0);
	assert_int_equal(ev.value, 8);
	assert_int_equal(vti_pt_query_event(a.w, &ev), -VTI_PT_QUERY);
	assert_int_equal(vti_pt_query_cond(a.w, &taken), VTI_PT_AT_END);
	assert_int_equal(vti_pt_query_event(a.w, &ev), -VTI_PT_EOS);
}

/* An address behind decisions that nobody has asked for: they wait, and two of them are too many.
 */
static void test_indirect(void **state)
{
	struct asked a;
	uint64_t ip;
	bool taken;

	(void)state;
	put_start();
	put_tnt(&t, "1");
	put_ip(&t, VT_PT_TIP, BASE + 5);
	put_no_ip(&t, VT_PT_TIP);
	put_tnt(&t, "0");
	put_tnt(&t, "1");
	a = synchronise(0, BASE);
	assert_int_equal(vti_pt_query_indirect(a.w, &ip), 0);
	assert_int_equal(ip, BASE + 5);
	assert_int_equal(vti_pt_query_cond(a.w, &taken), 0);
	assert_true(taken);
	assert_int_equal(vti_pt_query_indirect(a.w, &ip), VTI_PT_UNKNOWN_IP);
	assert_int_equal(vti_pt_query_indirect(a.w, &ip), -VTI_PT_QUERY);
	assert_int_equal(a.w->tnt_count, 1);
	/* What is wrong behind a packet is told with it; that the trace ends there is not wrong. */
	put_start();
	put_ip(&t, VT_PT_TIP, BASE + 5);
	put_bytes("\xd9", 1);
	a = synchronise(0, BASE);
	assert_int_equal(vti_pt_query_indirect(a.w, &ip), -VTI_PT_OPCODE);
	put_start();
	put_tnt(&t, "1");
	put_bytes("\xd9", 1);
	a = synchronise(0, BASE);
	assert_int_equal(vti_pt_query_cond(a.w, &taken), -VTI_PT_OPCODE);
	put_start();
	put_tnt(&t, "1");
	put_bytes("\x19\x01", 2);
	a = synchronise(0, BASE);
	assert_int_equal(vti_pt_query_cond(a.w, &taken), VTI_PT_AT_END);
	put_start();
	put_kind(&t, VT_PT_CBR, 7);
	put_bytes("\xd9", 1);
	a = synchronise(VTI_PT_PENDING, BASE);
	assert_int_equal(vti_pt_query_event(a.w, &(struct vti_pt_event){0}), -VTI_PT_OPCODE);
}

/* An interrupt, and what binds to its TIP, one after the other; then the TIP is gone. */
static void test_bound(void **state)
{
	static const unsigned types[] = {VTI_PT_EV_ASYNC_BRANCH, VTI_PT_EV_ASYNC_PAGING,
					 VTI_PT_EV_EXEC_MODE};
	struct vti_pt_event ev;
	struct asked a;
	unsigned i;

	(void)state;
	put_start();
	put_ip(&t, VT_PT_FUP, BASE + 3);
	put_kind(&t, VT_PT_PIP, 0x3000);
	put_kind(&t, VT_PT_MODE_EXEC, 32);
	put_ip(&t, VT_PT_TIP, BASE + 9);
	put_tnt(&t, "1");
	a = synchronise(VTI_PT_PENDING, BASE);
	for (i = 0; i < 3; i++) {
		assert_int_equal(vti_pt_query_event(a.w, &ev), i < 2 ? VTI_PT_PENDING : 0);
		assert_int_equal(ev.type, types[i]);
		assert_int_equal(ev.ip, BASE + 9);
		assert_int_equal(ev.from, i ? 0 : BASE + 3);
		assert_int_equal(ev.value, i == 0 ? 0 : i == 1 ? 0x3000 : 32);
	}
	assert_int_equal(a.q->next, VT_PT_TNT8);
}

/* No more than so many events wait for the same packet. */
static void test_full(void **state)
{
	static const struct {
		struct vt_pt_packet packet;
		int fault;
	} all[] = {
		{{.kind = VT_PT_MODE_EXEC, .payload = 64}, -VTI_PT_FULL},
		{{.kind = VT_PT_FUP, .ipc = VT_PT_IPC_SEXT48, .payload = BASE}, -VTI_PT_FULL},
		{{.kind = VT_PT_MODE_TSX}, -VTI_PT_FULL},
		{{.kind = VT_PT_PTW, .count = 4, .ip = true}, -VTI_PT_INTERNAL},
		{{.kind = VT_PT_MWAIT}, -VTI_PT_INTERNAL},
	};
	size_t i;
	unsigned n;

	(void)state;
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct asked a;

		start(&t);
		for (n = 0; n <= VTI_PT_QUEUE; n++)
			put(&t, all[i].packet);
		a = begin(0);
		a.q->enabled = true;
		for (n = 0; n <= VTI_PT_QUEUE; n++) {
			/* A FUP would take what waits for it. */
			assert_int_equal(vti_pt_fetch_next(a.w), 0);
			assert_int_equal(vti_pt_take_packet(a.w),
					 n < VTI_PT_QUEUE ? 0 : all[i].fault);
		}
	}
	/* PIP and VMCS wait for the TIP of an interrupt. */
	for (i = 0; i < 2; i++) {
		struct asked a;

		put_ip(start(&t), VT_PT_FUP, BASE);
		for (n = 0; n < VTI_PT_QUEUE; n++)
			put_kind(&t, i ? VT_PT_VMCS : VT_PT_PIP, 0x1000);
		a = begin(0);
		for (n = 0; n <= VTI_PT_QUEUE; n++) {
			assert_int_equal(vti_pt_fetch_next(a.w), 0);
			assert_int_equal(vti_pt_take_packet(a.w),
					 n < VTI_PT_QUEUE ? 0 : -VTI_PT_FULL);
		}
	}
}

/* Without an interrupt, VMCS and PIP happen at once; in one, the VMCS comes before its PIP. */
static void test_paging(void **state)
{
	struct vti_pt_event ev;
	struct asked a;

	(void)state;
	put_start();
	put(&t, (struct vt_pt_packet){.kind = VT_PT_PIP, .payload = 0x2000, .flag = true});
	put_kind(&t, VT_PT_VMCS, 0x5000);
	put_ip(&t, VT_PT_FUP, BASE + 3);
	put(&t, (struct vt_pt_packet){.kind = VT_PT_PIP, .payload = 0x3000, .flag = true});
	put_kind(&t, VT_PT_VMCS, 0x6000);
	put_ip(&t, VT_PT_TIP, BASE + 9);
	a = synchronise(VTI_PT_PENDING, BASE);
	assert_int_equal(vti_pt_query_event(a.w, &ev), VTI_PT_PENDING);
	assert_int_equal(ev.type, VTI_PT_EV_PAGING);
	assert_int_equal(ev.value, 0x2000);
	assert_true(ev.flag);
	assert_int_equal(vti_pt_query_event(a.w, &ev), VTI_PT_PENDING);
	assert_int_equal(ev.type, VTI_PT_EV_VMCS);
	assert_int_equal(ev.value, 0x5000);
	assert_int_equal(vti_pt_query_event(a.w, &ev), VTI_PT_PENDING);
	assert_int_equal(ev.type, VTI_PT_EV_ASYNC_BRANCH);
	assert_int_equal(vti_pt_query_event(a.w, &ev), VTI_PT_PENDING);
	assert_int_equal(ev.type, VTI_PT_EV_ASYNC_VMCS);
	assert_int_equal(ev.value, 0x6000);
	assert_false(ev.flag);
	assert_int_equal(vti_pt_query_event(a.w, &ev), VTI_PT_AT_END);
	assert_int_equal(ev.type, VTI_PT_EV_ASYNC_PAGING);
	assert_int_equal(ev.value, 0x3000);
	assert_true(ev.flag);
}

/* TMA belongs to a TSC, one to each; a clock that stands still is none. */
static void test_timing(void **state)
{
	struct vti_pt_query q = {.next = 0};
	struct vt_pt_packet tsc = {.kind = VT_PT_TSC}, tma = {.kind = VT_PT_TMA},
			    cbr = {.kind = VT_PT_CBR, .payload = 1}, mtc = {.kind = VT_PT_MTC};

	(void)state;
	assert_int_equal(vti_pt_check_timing(&q, &mtc), 0);
	assert_int_equal(vti_pt_check_timing(&q, &tma), -VTI_PT_CONTEXT);
	assert_int_equal(vti_pt_check_timing(&q, &tsc), 0);
	assert_int_equal(vti_pt_check_timing(&q, &tma), 0);
	assert_true(q.has_tsc && q.has_tma);
	assert_int_equal(vti_pt_check_timing(&q, &tma), -VTI_PT_CONTEXT);
	assert_int_equal(vti_pt_check_timing(&q, &tsc), 0);
	assert_false(q.has_tma);
	assert_int_equal(vti_pt_check_timing(&q, &tma), 0);
	assert_int_equal(vti_pt_check_timing(&q, &cbr), 0);
	cbr.payload = 0;
	assert_int_equal(vti_pt_check_timing(&q, &cbr), -VTI_PT_PACKET);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opcodes), cmocka_unit_test(test_cut_opcodes),
		cmocka_unit_test(test_uses),	cmocka_unit_test(test_corrupted),
		cmocka_unit_test(test_peek),	cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_sync),	cmocka_unit_test(test_decisions),
		cmocka_unit_test(test_order),	cmocka_unit_test(test_indirect),
		cmocka_unit_test(test_bound),	cmocka_unit_test(test_full),
		cmocka_unit_test(test_paging),	cmocka_unit_test(test_timing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
