/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What notes are made of libipt's events, each with numbers that no other field has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <intel-pt.h>

#include "formats/pt/decode/engine.h"
#include "formats/pt/decode/libipt.h"
#include "formats/pt/packet.h"

#define AT 0x401000
#define TO 0x402000

static void check_note(const struct pt_event *ev, struct vt_pt_note want)
{
	struct vti_pt_reported s = {.types = 0};
	struct vt_pt_note n = {.type = 0};

	if (!vti_ipt_note(&n, ev, &s))
		fail_msg("event %d", (int)ev->type);
	if (n.type != want.type || n.flag != want.flag || n.has_ip != want.has_ip ||
	    n.has_to != want.has_to || n.ip != want.ip || n.to != want.to ||
	    n.value != want.value || n.extra != want.extra)
		fail_msg("event %d: note of type %d, value %jx, extra %jx", (int)ev->type, n.type,
			 (uintmax_t)n.value, (uintmax_t)n.extra);
}

static const struct {
	struct pt_event ev;
	struct vt_pt_note note;
	unsigned packet; /* that tells its time */
} events[] = {
	{{.type = ptev_enabled, .variant.enabled = {.ip = AT}},
	 {.type = VT_PT_NOTE_ENABLED, .has_ip = true, .ip = AT},
	 VT_PT_TIP_PGE},
	{{.type = ptev_disabled, .variant.disabled = {.ip = TO}},
	 {.type = VT_PT_NOTE_DISABLED, .has_to = true, .to = TO},
	 VT_PT_TIP_PGD},
	{{.type = ptev_async_disabled, .variant.async_disabled = {.at = AT, .ip = TO}},
	 {.type = VT_PT_NOTE_ASYNC_DISABLED, .has_ip = true, .ip = AT, .has_to = true, .to = TO},
	 VT_PT_TIP_PGD},
	{{.type = ptev_async_branch, .variant.async_branch = {.from = AT, .to = TO}},
	 {.type = VT_PT_NOTE_ASYNC_BRANCH, .has_ip = true, .ip = AT, .has_to = true, .to = TO},
	 VT_PT_TIP},
	{{.type = ptev_overflow, .variant.overflow = {.ip = AT}},
	 {.type = VT_PT_NOTE_OVERFLOW, .has_ip = true, .ip = AT},
	 VT_PT_OVF},
	{{.type = ptev_stop}, {.type = VT_PT_NOTE_STOP}, VT_PT_STOP},
	{{.type = ptev_paging, .variant.paging = {.cr3 = 0x5000, .non_root = 1}},
	 {.type = VT_PT_NOTE_PAGING, .value = 0x5000, .flag = true},
	 VT_PT_PIP},
	{{.type = ptev_async_paging, .variant.async_paging = {0x6000, 1, AT}},
	 {.type = VT_PT_NOTE_PAGING, .value = 0x6000, .flag = true, .has_ip = true, .ip = AT},
	 VT_PT_PIP},
	{{.type = ptev_vmcs, .variant.vmcs = {.base = 0x7000}},
	 {.type = VT_PT_NOTE_VMCS, .value = 0x7000},
	 VT_PT_VMCS},
	{{.type = ptev_async_vmcs, .variant.async_vmcs = {.base = 0x8000, .ip = AT}},
	 {.type = VT_PT_NOTE_VMCS, .value = 0x8000, .has_ip = true, .ip = AT},
	 VT_PT_VMCS},
	{{.type = ptev_exec_mode, .variant.exec_mode = {.mode = ptem_32bit, .ip = AT}},
	 {.type = VT_PT_NOTE_EXEC_MODE, .value = 32, .has_ip = true, .ip = AT},
	 VT_PT_MODE_EXEC},
	{{.type = ptev_tsx, .variant.tsx = {.ip = AT, .speculative = 1}},
	 {.type = VT_PT_NOTE_TSX, .value = 1, .has_ip = true, .ip = AT},
	 VT_PT_MODE_TSX},
	{{.type = ptev_tsx, .variant.tsx = {.ip = AT, .aborted = 1}},
	 {.type = VT_PT_NOTE_TSX, .value = 2, .has_ip = true, .ip = AT},
	 VT_PT_MODE_TSX},
	{{.type = ptev_cbr, .variant.cbr = {.ratio = 21}},
	 {.type = VT_PT_NOTE_CBR, .value = 21},
	 VT_PT_CBR},
	{{.type = ptev_exstop, .variant.exstop = {.ip = AT}},
	 {.type = VT_PT_NOTE_EXSTOP, .has_ip = true, .ip = AT},
	 VT_PT_EXSTOP},
	{{.type = ptev_mwait, .variant.mwait = {.ip = AT, .hints = 0x21, .ext = 3}},
	 {.type = VT_PT_NOTE_MWAIT, .value = 0x21, .extra = 3, .has_ip = true, .ip = AT},
	 VT_PT_MWAIT},
	{{.type = ptev_pwre, .variant.pwre = {.state = 6, .sub_state = 2}},
	 {.type = VT_PT_NOTE_PWRE, .value = 6, .extra = 2},
	 VT_PT_PWRE},
	/* The SDM's bits of a PWRX, from the last core state on. */
	{{.type = ptev_pwrx, .variant.pwrx = {.last = 3, .deepest = 6, .interrupt = 1}},
	 {.type = VT_PT_NOTE_PWRX, .value = 0x63, .extra = 1},
	 VT_PT_PWRX},
	{{.type = ptev_pwrx, .variant.pwrx = {.last = 5, .deepest = 5, .store = 1}},
	 {.type = VT_PT_NOTE_PWRX, .value = 0x55, .extra = 4},
	 VT_PT_PWRX},
	{{.type = ptev_pwrx, .variant.pwrx = {.autonomous = 1}},
	 {.type = VT_PT_NOTE_PWRX, .extra = 8},
	 VT_PT_PWRX},
	{{.type = ptev_pwrx, .variant.pwrx = {.interrupt = 1, .store = 1, .autonomous = 1}},
	 {.type = VT_PT_NOTE_PWRX, .extra = 13},
	 VT_PT_PWRX},
	{{.type = ptev_ptwrite, .variant.ptwrite = {.ip = AT, .size = 8, .payload = 99}},
	 {.type = VT_PT_NOTE_PTWRITE, .value = 99, .extra = 8, .has_ip = true, .ip = AT},
	 VT_PT_PTW},
	{{.type = ptev_mnt, .variant.mnt = {.payload = 77}},
	 {.type = VT_PT_NOTE_MNT, .value = 77},
	 VT_PT_MNT},
};

#define NEVENTS (sizeof(events) / sizeof(events[0]))

static void test_notes(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < NEVENTS; i++) {
		struct pt_event ev = events[i].ev;
		struct vt_pt_note want = events[i].note;

		check_note(&ev, want);
		assert_true(vti_ipt_packets(&ev) == UINT64_C(1) << events[i].packet);
		/* Of two addresses, where control left is told by the one before. */
		ev.ip_suppressed = 1;
		if (want.has_to) {
			want.has_to = false;
			want.to = 0;
		} else {
			want.has_ip = false;
			want.ip = 0;
		}
		check_note(&ev, want);
		ev.status_update = 1;
		assert_true(vti_ipt_packets(&ev) == UINT64_C(1) << VT_PT_PSBEND);
	}
}

static void test_others(void **state)
{
	static const struct pt_event tick = {.type = ptev_tick};
	struct vti_pt_reported s = {.types = 0};
	struct vt_pt_note n = {.type = 0};

	(void)state;
	assert_false(vti_ipt_note(&n, &tick, &s));
	assert_true(vti_ipt_packets(&tick) == 0);
	assert_int_equal(vti_ipt_mode(ptem_unknown), 0);
	assert_int_equal(vti_ipt_mode(ptem_16bit), 16);
	assert_int_equal(vti_ipt_mode(ptem_32bit), 32);
	assert_int_equal(vti_ipt_mode(ptem_64bit), 64);
}

/* A state, told in the middle of a trace or again at a PSB: is it new, when the last one is known?
 */
static bool tell(struct vti_pt_reported *s, struct pt_event ev, bool status)
{
	struct vt_pt_note n = {.type = 0};

	ev.status_update = status;
	return vti_ipt_note(&n, &ev, s);
}

static void test_told_again(void **state)
{
	static const struct {
		struct pt_event first, other;
		bool always; /* not at a PSB it is told even if it is what it was */
	} rows[] = {
		{{.type = ptev_async_paging, .variant.async_paging = {0, 0, AT}},
		 {.type = ptev_async_paging, .variant.async_paging = {0x1000, 0, AT}},
		 true},
		{{.type = ptev_async_paging, .variant.async_paging = {0, 0, AT}},
		 {.type = ptev_async_paging, .variant.async_paging = {0, 1, AT}},
		 true},
		{{.type = ptev_async_vmcs, .variant.async_vmcs = {0, AT}},
		 {.type = ptev_async_vmcs, .variant.async_vmcs = {0x1000, AT}},
		 true},
		{{.type = ptev_tsx, .variant.tsx = {.ip = AT}},
		 {.type = ptev_tsx, .variant.tsx = {.ip = AT, .speculative = 1}},
		 true},
		{{.type = ptev_exec_mode, .variant.exec_mode = {ptem_unknown, AT}},
		 {.type = ptev_exec_mode, .variant.exec_mode = {ptem_64bit, AT}},
		 false},
		{{.type = ptev_cbr, .variant.cbr = {0}},
		 {.type = ptev_cbr, .variant.cbr = {20}},
		 false},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vti_pt_reported s = {.types = 0};

		assert_true(tell(&s, rows[i].first, true));
		assert_false(tell(&s, rows[i].first, true));
		assert_int_equal(tell(&s, rows[i].first, false), rows[i].always);
		assert_true(tell(&s, rows[i].other, true));
		assert_false(tell(&s, rows[i].other, true));
		assert_true(tell(&s, rows[i].first, true));
	}
}

/* What an instruction did is always told, and known at the next PSB. */
static void test_told_by_code(void **state)
{
	static const struct pt_event paging = {.type = ptev_paging, .variant.paging = {0x1000, 1}};
	static const struct pt_event vmcs = {.type = ptev_vmcs, .variant.vmcs = {0x2000}};
	static const struct pt_event again[] = {
		{.type = ptev_async_paging, .variant.async_paging = {0x1000, 1, AT}},
		{.type = ptev_async_vmcs, .variant.async_vmcs = {0x2000, AT}},
	};
	struct vti_pt_reported s = {.types = 0};
	unsigned i;

	(void)state;
	for (i = 0; i < 2; i++) {
		assert_true(tell(&s, paging, false));
		assert_true(tell(&s, vmcs, false));
	}
	assert_false(tell(&s, again[0], true));
	assert_false(tell(&s, again[1], true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_told_again),
		cmocka_unit_test(test_told_by_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
