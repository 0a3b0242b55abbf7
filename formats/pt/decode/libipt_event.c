/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <intel-pt.h>

#include "formats/pt/decode/libipt.h"
#include "formats/pt/packet.h"

unsigned vti_ipt_mode(int mode)
{
	return mode == ptem_64bit ? 64 : mode == ptem_32bit ? 32 : mode == ptem_16bit ? 16 : 0;
}

uint64_t vti_ipt_packets(const struct pt_event *ev)
{
	if (ev->status_update)
		return VT_PT_BIT(VT_PT_PSBEND);
	switch (ev->type) {
	case ptev_enabled:
		return VT_PT_BIT(VT_PT_TIP_PGE);
	case ptev_disabled:
	case ptev_async_disabled:
		return VT_PT_BIT(VT_PT_TIP_PGD);
	case ptev_async_branch:
		return VT_PT_BIT(VT_PT_TIP);
	case ptev_paging:
	case ptev_async_paging:
		return VT_PT_BIT(VT_PT_PIP);
	case ptev_vmcs:
	case ptev_async_vmcs:
		return VT_PT_BIT(VT_PT_VMCS);
	case ptev_overflow:
		return VT_PT_BIT(VT_PT_OVF);
	case ptev_exec_mode:
		return VT_PT_BIT(VT_PT_MODE_EXEC);
	case ptev_tsx:
		return VT_PT_BIT(VT_PT_MODE_TSX);
	case ptev_stop:
		return VT_PT_BIT(VT_PT_STOP);
	case ptev_exstop:
		return VT_PT_BIT(VT_PT_EXSTOP);
	case ptev_mwait:
		return VT_PT_BIT(VT_PT_MWAIT);
	case ptev_pwre:
		return VT_PT_BIT(VT_PT_PWRE);
	case ptev_pwrx:
		return VT_PT_BIT(VT_PT_PWRX);
	case ptev_ptwrite:
		return VT_PT_BIT(VT_PT_PTW);
	case ptev_cbr:
		return VT_PT_BIT(VT_PT_CBR);
	case ptev_mnt:
		return VT_PT_BIT(VT_PT_MNT);
	default:
		return 0;
	}
}

static void set_note_ip(struct vt_pt_note *n, const struct pt_event *ev, uint64_t ip)
{
	n->has_ip = !ev->ip_suppressed;
	n->ip = n->has_ip ? ip : 0;
}

static void set_note_to(struct vt_pt_note *n, const struct pt_event *ev, uint64_t to)
{
	n->has_to = !ev->ip_suppressed;
	n->to = n->has_to ? to : 0;
}

/* Fills the note of an event of control flow; false if it is another one. */
static bool fill_flow_note(struct vt_pt_note *n, const struct pt_event *ev)
{
	switch (ev->type) {
	case ptev_enabled:
		n->type = VT_PT_NOTE_ENABLED;
		set_note_ip(n, ev, ev->variant.enabled.ip);
		return true;
	case ptev_disabled:
		n->type = VT_PT_NOTE_DISABLED;
		set_note_to(n, ev, ev->variant.disabled.ip);
		return true;
	case ptev_async_disabled:
		n->type = VT_PT_NOTE_ASYNC_DISABLED;
		n->has_ip = true;
		n->ip = ev->variant.async_disabled.at;
		set_note_to(n, ev, ev->variant.async_disabled.ip);
		return true;
	case ptev_async_branch:
		n->type = VT_PT_NOTE_ASYNC_BRANCH;
		n->has_ip = true;
		n->ip = ev->variant.async_branch.from;
		set_note_to(n, ev, ev->variant.async_branch.to);
		return true;
	case ptev_overflow:
		n->type = VT_PT_NOTE_OVERFLOW;
		set_note_ip(n, ev, ev->variant.overflow.ip);
		return true;
	case ptev_stop:
		n->type = VT_PT_NOTE_STOP;
		return true;
	default:
		return false;
	}
}

/* Fills the note of a state; *fresh: the state is new.  False if it is another event. */
static bool fill_state_note(struct vti_pt_reported *r, struct vt_pt_note *n,
			    const struct pt_event *ev, bool *fresh)
{
	switch (ev->type) {
	case ptev_paging:
		n->type = VT_PT_NOTE_PAGING;
		n->value = ev->variant.paging.cr3;
		n->flag = ev->variant.paging.non_root;
		*fresh = true;
		break;
	case ptev_async_paging:
		n->type = VT_PT_NOTE_PAGING;
		n->value = ev->variant.async_paging.cr3;
		n->flag = ev->variant.async_paging.non_root;
		set_note_ip(n, ev, ev->variant.async_paging.ip);
		*fresh = !ev->status_update;
		break;
	case ptev_vmcs:
		n->type = VT_PT_NOTE_VMCS;
		n->value = ev->variant.vmcs.base;
		*fresh = true;
		break;
	case ptev_async_vmcs:
		n->type = VT_PT_NOTE_VMCS;
		n->value = ev->variant.async_vmcs.base;
		set_note_ip(n, ev, ev->variant.async_vmcs.ip);
		*fresh = !ev->status_update;
		break;
	case ptev_exec_mode:
		n->type = VT_PT_NOTE_EXEC_MODE;
		n->value = vti_ipt_mode(ev->variant.exec_mode.mode);
		set_note_ip(n, ev, ev->variant.exec_mode.ip);
		*fresh = false;
		break;
	case ptev_tsx:
		n->type = VT_PT_NOTE_TSX;
		n->value = ev->variant.tsx.speculative | ev->variant.tsx.aborted << 1;
		set_note_ip(n, ev, ev->variant.tsx.ip);
		*fresh = !ev->status_update;
		break;
	case ptev_cbr:
		n->type = VT_PT_NOTE_CBR;
		n->value = ev->variant.cbr.ratio;
		*fresh = false;
		break;
	default:
		return false;
	}
	*fresh |= vti_pt_report_state(r, n);
	return true;
}

/* Fills the note of any other event; false if it gives no note. */
static bool fill_other_note(struct vt_pt_note *n, const struct pt_event *ev)
{
	switch (ev->type) {
	case ptev_exstop:
		n->type = VT_PT_NOTE_EXSTOP;
		set_note_ip(n, ev, ev->variant.exstop.ip);
		return true;
	case ptev_mwait:
		n->type = VT_PT_NOTE_MWAIT;
		n->value = ev->variant.mwait.hints;
		n->extra = ev->variant.mwait.ext;
		set_note_ip(n, ev, ev->variant.mwait.ip);
		return true;
	case ptev_pwre:
		n->type = VT_PT_NOTE_PWRE;
		n->value = ev->variant.pwre.state;
		n->extra = ev->variant.pwre.sub_state;
		return true;
	case ptev_pwrx:
		n->type = VT_PT_NOTE_PWRX;
		n->value = ev->variant.pwrx.last | (uint64_t)ev->variant.pwrx.deepest << 4;
		n->extra = ev->variant.pwrx.interrupt | ev->variant.pwrx.store << 2 |
			   ev->variant.pwrx.autonomous << 3;
		return true;
	case ptev_ptwrite:
		n->type = VT_PT_NOTE_PTWRITE;
		n->value = ev->variant.ptwrite.payload;
		n->extra = ev->variant.ptwrite.size;
		set_note_ip(n, ev, ev->variant.ptwrite.ip);
		return true;
	case ptev_mnt:
		n->type = VT_PT_NOTE_MNT;
		n->value = ev->variant.mnt.payload;
		return true;
	default:
		return false;
	}
}

bool vti_ipt_note(struct vt_pt_note *n, const struct pt_event *ev, struct vti_pt_reported *r)
{
	bool fresh = true;

	if (fill_flow_note(n, ev) || fill_other_note(n, ev))
		return true;
	return fill_state_note(r, n, ev, &fresh) && fresh;
}
