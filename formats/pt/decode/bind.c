/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "formats/pt/decode/walk.h"

/*
 * Binds events to code: the trace gives an event before the code that leads to it has been walked.
 */

/* Takes an event from the trace if one comes next.  1 if there is one, 0, or a negative fault. */
static int take_pending_event(struct vti_pt_walk *w)
{
	struct vti_pt_query *q = &w->query;
	int r;

	if (q->processing)
		return 1;
	if (!(q->flags & VTI_PT_PENDING))
		return 0;
	r = vti_pt_query_event(w, &q->current);
	if (r < 0)
		return r;
	q->processing = true;
	q->flags = (unsigned)r;
	return 1;
}

static int add_end_flag(const struct vti_pt_walk *w, unsigned flags)
{
	const struct vti_pt_query *q = &w->query;

	if (q->flags & VTI_PT_AT_END && !q->processing)
		flags |= VTI_PT_AT_END;
	return (int)flags;
}

/* ---- walking to an event ---------------------------------------------------------- */

/* Walks to an address, but through one decision at most.  1: reached; 0: not; or a fault. */
static int walk_to_ip(struct vti_pt_walk *w, uint64_t ip)
{
	struct vti_pt_insn insn;
	int r = vti_pt_walk_code(w, VTI_PT_WANT_IP, ip, &insn);

	if (r != -VTI_PT_QUERY)
		return r;
	r = vti_pt_walk_decide(w, &insn);
	return r < 0 ? r : w->ip == ip;
}

/* The address after an instruction whose decision is not in the trace, if it is known; else 0. */
static uint64_t get_ip_after_disable(const struct vti_pt_insn *insn)
{
	return insn->end == VT_PT_END_CALL_INDIRECT || insn->end == VT_PT_END_FAR_CALL ? insn->next
										       : 0;
}

/* Walks to where tracing ends: at an address, or at a decision that is not in the trace. */
static int walk_to_disable(struct vti_pt_walk *w, const struct vti_pt_event *ev)
{
	enum vti_pt_want want = ev->suppressed ? VTI_PT_WANT_CR3 : VTI_PT_WANT_IP;
	struct vti_pt_insn insn;
	int r = vti_pt_walk_code(w, want, ev->ip, &insn);

	if (r != -VTI_PT_QUERY)
		return r;
	w->ip = get_ip_after_disable(&insn);
	return 1;
}

/* Several events may bind to an instruction: w->ip stays there until all have been taken. */
static int postpone_insn(struct vti_pt_walk *w, const struct vti_pt_insn *insn)
{
	w->query.postponed = true;
	w->query.insn = *insn;
	return 1;
}

static int walk_to_wanted(struct vti_pt_walk *w, enum vti_pt_want want, bool *bound)
{
	struct vti_pt_insn insn;
	int r = vti_pt_walk_code(w, want, 0, &insn);

	if (r < 0)
		return r;
	*bound = true;
	return postpone_insn(w, &insn);
}

static int walk_to_ptwrite(struct vti_pt_walk *w, struct vti_pt_event *ev)
{
	struct vti_pt_insn insn;
	int r;

	if (ev->suppressed) {
		r = vti_pt_walk_code(w, VTI_PT_WANT_PTWRITE, 0, &insn);
		if (r < 0)
			return r;
		ev->ip = insn.ip;
		ev->suppressed = false;
	} else {
		r = vti_pt_walk_code(w, VTI_PT_WANT_IP, ev->ip, &insn);
		if (r < 0)
			return r;
		r = vti_pt_walk_one(w, &insn);
		if (r < 0)
			return r;
	}
	w->query.bound_ptwrite = true;
	return postpone_insn(w, &insn);
}

/* With this erratum an asynchronous end of tracing at a VM entry is a synchronous one. */
static bool apply_skd022(struct vti_pt_walk *w, struct vti_pt_event *ev)
{
	struct vti_pt_insn insn;

	if (!(w->query.errata & VTI_PT_SKD022) || vti_pt_walk_insn(w, ev->from, &insn))
		return false;
	if (!insn.vm_entry)
		return false;
	ev->type = VTI_PT_EV_DISABLED;
	return true;
}

static int walk_to_async_disable(struct vti_pt_walk *w, struct vti_pt_event *ev)
{
	struct vti_pt_insn insn;
	int r = vti_pt_walk_code(w, VTI_PT_WANT_IP, ev->from, &insn);

	if (r < 0)
		return r;
	return apply_skd022(w, ev) ? walk_to_disable(w, ev) : 1;
}

/*
 * Walks to an event that vti_pt_walk_trailing() has not found at w->ip.  No instruction is
 * postponed then, and tracing is enabled if the event binds to code.
 */
static int walk_to_event(struct vti_pt_walk *w)
{
	struct vti_pt_query *q = &w->query;
	struct vti_pt_event *ev = &q->current;
	struct vti_pt_insn insn;
	int r = 1;

	switch (ev->type) {
	case VTI_PT_EV_DISABLED:
		r = walk_to_disable(w, ev);
		break;
	case VTI_PT_EV_ASYNC_DISABLED:
		r = walk_to_async_disable(w, ev);
		break;
	case VTI_PT_EV_ASYNC_BRANCH:
		r = vti_pt_walk_code(w, VTI_PT_WANT_IP, ev->from, &insn);
		break;
	case VTI_PT_EV_PAGING:
		r = walk_to_wanted(w, VTI_PT_WANT_PAGING, &q->bound_paging);
		break;
	case VTI_PT_EV_VMCS:
		r = walk_to_wanted(w, VTI_PT_WANT_VMCS, &q->bound_vmcs);
		break;
	case VTI_PT_EV_ASYNC_PAGING:
	case VTI_PT_EV_ASYNC_VMCS:
	case VTI_PT_EV_EXEC_MODE:
		r = ev->suppressed ? 1 : walk_to_ip(w, ev->ip);
		break;
	case VTI_PT_EV_TSX:
		if (!ev->suppressed)
			r = vti_pt_walk_code(w, VTI_PT_WANT_IP, ev->ip, &insn);
		break;
	case VTI_PT_EV_EXSTOP:
	case VTI_PT_EV_MWAIT:
		if (!ev->suppressed)
			r = vti_pt_walk_code(w, VTI_PT_WANT_IP, ev->ip, &insn);
		break;
	case VTI_PT_EV_PTWRITE:
		r = walk_to_ptwrite(w, ev);
		break;
	default:
		break;
	}
	if (r < 0)
		return r;
	return add_end_flag(w, r ? VTI_PT_PENDING : 0);
}

/* ---- at an event ------------------------------------------------------------------- */

static void clear_postponed(struct vti_pt_query *q)
{
	q->postponed = false;
	q->bound_paging = false;
	q->bound_vmcs = false;
	q->bound_ptwrite = false;
}

static int pass_postponed(struct vti_pt_walk *w)
{
	struct vti_pt_query *q = &w->query;
	int r;

	if (!q->postponed)
		return 0;
	if (w->enabled) {
		r = vti_pt_walk_next_ip(&q->insn, &w->ip);
		if (r < 0)
			r = vti_pt_walk_decide(w, &q->insn);
		if (r < 0)
			return r;
	}
	clear_postponed(q);
	return 0;
}

/* True if code leads from w->ip to an address without a decision, in so many steps. */
static bool can_reach_ip(struct vti_pt_walk *w, uint64_t ip, unsigned steps)
{
	struct vti_pt_insn insn;
	uint64_t at = w->ip;

	while (at != ip) {
		if (!steps-- || vti_pt_walk_insn(w, at, &insn) || vti_pt_walk_next_ip(&insn, &at))
			return false;
	}
	return true;
}

/* With this erratum the branch right before the abort of a transaction may be wrong. */
static void apply_bdm64(struct vti_pt_walk *w, const struct vti_pt_event *ev)
{
	struct vti_pt_query *q = &w->query;

	if (!(q->errata & VTI_PT_BDM64) || !(ev->value & 2) || !q->branched)
		return;
	if (!can_reach_ip(w, ev->ip, 256))
		w->ip = ev->ip;
}

/* For events that bind to no instruction.  1: it is at w->ip; 0: it is not; or a fault. */
static int check_unbound_event(struct vti_pt_walk *w, struct vti_pt_event *ev, bool behind_code)
{
	int r = pass_postponed(w);

	if (r < 0)
		return r;
	switch (ev->type) {
	case VTI_PT_EV_ASYNC_DISABLED:
		return w->ip == ev->from && !apply_skd022(w, ev);
	case VTI_PT_EV_ASYNC_BRANCH:
		return w->ip == ev->from;
	case VTI_PT_EV_ASYNC_PAGING:
	case VTI_PT_EV_ASYNC_VMCS:
	case VTI_PT_EV_EXEC_MODE:
		return ev->suppressed || w->ip == ev->ip;
	case VTI_PT_EV_TSX:
		if (behind_code && !ev->suppressed)
			apply_bdm64(w, ev);
		return ev->suppressed || w->ip == ev->ip;
	case VTI_PT_EV_EXSTOP:
	case VTI_PT_EV_MWAIT:
		return ev->suppressed || !w->enabled || w->ip == ev->ip;
	default:
		return 1;
	}
}

/* The same for an event that may bind to the instruction that is postponed. */
static int check_bound_event(struct vti_pt_walk *w, enum vti_pt_want want, bool *bound)
{
	struct vti_pt_query *q = &w->query;

	if (!w->enabled)
		return 1;
	if (!q->postponed || *bound || !vti_pt_insn_is(&q->insn, want))
		return 0;
	*bound = true;
	return 1;
}

static int check_disabled_event(struct vti_pt_walk *w, const struct vti_pt_event *ev)
{
	struct vti_pt_query *q = &w->query;

	if (!q->postponed)
		return 0;
	if (ev->suppressed && vti_pt_insn_is(&q->insn, VTI_PT_WANT_CR3))
		return 1;
	if (vti_pt_walk_next_ip(&q->insn, &w->ip) < 0) {
		w->ip = get_ip_after_disable(&q->insn);
		return 1;
	}
	clear_postponed(q);
	return !ev->suppressed && w->ip == ev->ip;
}

int vti_pt_walk_trailing(struct vti_pt_walk *w, bool behind_code)
{
	struct vti_pt_query *q = &w->query;
	struct vti_pt_event *ev = &q->current;
	int r = take_pending_event(w);

	if (r < 0)
		return r;
	if (r) {
		switch (ev->type) {
		case VTI_PT_EV_DISABLED:
			r = check_disabled_event(w, ev);
			break;
		case VTI_PT_EV_PAGING:
			r = check_bound_event(w, VTI_PT_WANT_PAGING, &q->bound_paging);
			break;
		case VTI_PT_EV_VMCS:
			r = check_bound_event(w, VTI_PT_WANT_VMCS, &q->bound_vmcs);
			break;
		case VTI_PT_EV_PTWRITE:
			r = ev->suppressed || !w->enabled
				    ? check_bound_event(w, VTI_PT_WANT_PTWRITE, &q->bound_ptwrite)
				    : 0;
			break;
		default:
			r = check_unbound_event(w, ev, behind_code);
			break;
		}
		if (r < 0)
			return r;
		if (r)
			return add_end_flag(w, VTI_PT_PENDING);
	}
	r = pass_postponed(w);
	return r < 0 ? r : add_end_flag(w, 0);
}

/* One more block, or up to an event. */
int vti_pt_walk_block(struct vti_pt_walk *w)
{
	struct vti_pt_insn insn;
	int r = take_pending_event(w);

	if (r < 0)
		return r;
	if (r)
		return walk_to_event(w);
	if (!w->enabled)
		return w->query.flags & VTI_PT_AT_END ? -VTI_PT_EOS : -VTI_PT_DISABLED;
	r = vti_pt_walk_code(w, VTI_PT_WANT_NOTHING, 0, &insn);
	if (r == -VTI_PT_QUERY)
		r = vti_pt_walk_decide(w, &insn);
	if (r < 0)
		return r;
	return vti_pt_walk_trailing(w, true);
}
