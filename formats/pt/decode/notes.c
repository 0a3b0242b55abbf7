/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "formats/pt/decode/walk.h"

/* ---- applying events ----------------------------------------------------------- */

static int apply_enable(struct vti_pt_walk *w, const struct vti_pt_event *ev)
{
	if (w->enabled)
		return -VTI_PT_CONTEXT;
	w->ip = ev->ip;
	w->enabled = true;
	return 0;
}

static int apply_disable(struct vti_pt_walk *w, const struct vti_pt_event *ev)
{
	if (ev->type == VTI_PT_EV_ASYNC_DISABLED && w->ip != ev->from)
		return -VTI_PT_QUERY;
	if (!w->enabled)
		return -VTI_PT_CONTEXT;
	w->enabled = false;
	return 0;
}

static int apply_async_branch(struct vti_pt_walk *w, const struct vti_pt_event *ev)
{
	if (w->ip != ev->from)
		return -VTI_PT_QUERY;
	if (!w->enabled)
		return -VTI_PT_CONTEXT;
	w->ip = ev->ip;
	return 0;
}

static int apply_overflow(struct vti_pt_walk *w, const struct vti_pt_event *ev)
{
	w->enabled = !ev->suppressed;
	w->ip = ev->suppressed ? 0 : ev->ip;
	return 0;
}

static int apply_exec_mode(struct vti_pt_walk *w, const struct vti_pt_event *ev)
{
	if (!ev->suppressed && w->ip != ev->ip)
		return -VTI_PT_QUERY;
	if (ev->status && w->enabled && w->mode && w->mode != ev->value)
		return -VTI_PT_STATUS;
	w->mode = (uint8_t)ev->value;
	return 0;
}

/* 0 or a negative fault. */
static int apply_walk_event(struct vti_pt_walk *w, const struct vti_pt_event *ev)
{
	bool elsewhere = !ev->suppressed && w->ip != ev->ip;

	switch (ev->type) {
	case VTI_PT_EV_ENABLED:
		return apply_enable(w, ev);
	case VTI_PT_EV_DISABLED:
	case VTI_PT_EV_ASYNC_DISABLED:
		return apply_disable(w, ev);
	case VTI_PT_EV_ASYNC_BRANCH:
		return apply_async_branch(w, ev);
	case VTI_PT_EV_OVERFLOW:
		return apply_overflow(w, ev);
	case VTI_PT_EV_EXEC_MODE:
		return apply_exec_mode(w, ev);
	case VTI_PT_EV_ASYNC_PAGING:
	case VTI_PT_EV_ASYNC_VMCS:
	case VTI_PT_EV_TSX:
		return elsewhere ? -VTI_PT_QUERY : 0;
	case VTI_PT_EV_STOP:
		return w->enabled ? -VTI_PT_CONTEXT : 0;
	case VTI_PT_EV_EXSTOP:
	case VTI_PT_EV_MWAIT:
		return elsewhere && w->enabled ? -VTI_PT_QUERY : 0;
	default:
		return 0;
	}
}

/* ---- reporting events -------------------------------------------------------------- */

/* How an event is reported: its note, the packet that it is at, which of its fields are used. */
struct report {
	uint8_t note;
	uint8_t packet;
	bool ip;     /* `ip` is where it happens */
	bool to;     /* `ip` is where it leads */
	bool from;   /* `from` is where it happens */
	bool state;  /* reported when it changes, */
	bool always; /* and always outside a PSB+ */
};

static const struct report reports[] = {
	[VTI_PT_EV_ENABLED] = {.note = VT_PT_NOTE_ENABLED, .packet = VT_PT_TIP_PGE, .ip = true},
	[VTI_PT_EV_DISABLED] = {.note = VT_PT_NOTE_DISABLED, .packet = VT_PT_TIP_PGD, .to = true},
	[VTI_PT_EV_ASYNC_DISABLED] = {.note = VT_PT_NOTE_ASYNC_DISABLED,
				      .packet = VT_PT_TIP_PGD,
				      .to = true,
				      .from = true},
	[VTI_PT_EV_ASYNC_BRANCH] = {.note = VT_PT_NOTE_ASYNC_BRANCH,
				    .packet = VT_PT_TIP,
				    .to = true,
				    .from = true},
	[VTI_PT_EV_PAGING] = {.note = VT_PT_NOTE_PAGING,
			      .packet = VT_PT_PIP,
			      .state = true,
			      .always = true},
	[VTI_PT_EV_ASYNC_PAGING] = {.note = VT_PT_NOTE_PAGING,
				    .packet = VT_PT_PIP,
				    .ip = true,
				    .state = true,
				    .always = true},
	[VTI_PT_EV_VMCS] = {.note = VT_PT_NOTE_VMCS,
			    .packet = VT_PT_VMCS,
			    .state = true,
			    .always = true},
	[VTI_PT_EV_ASYNC_VMCS] = {.note = VT_PT_NOTE_VMCS,
				  .packet = VT_PT_VMCS,
				  .ip = true,
				  .state = true,
				  .always = true},
	[VTI_PT_EV_OVERFLOW] = {.note = VT_PT_NOTE_OVERFLOW, .packet = VT_PT_OVF, .ip = true},
	[VTI_PT_EV_EXEC_MODE] = {.note = VT_PT_NOTE_EXEC_MODE,
				 .packet = VT_PT_MODE_EXEC,
				 .ip = true,
				 .state = true},
	[VTI_PT_EV_TSX] = {.note = VT_PT_NOTE_TSX,
			   .packet = VT_PT_MODE_TSX,
			   .ip = true,
			   .state = true,
			   .always = true},
	[VTI_PT_EV_STOP] = {.note = VT_PT_NOTE_STOP, .packet = VT_PT_STOP},
	[VTI_PT_EV_EXSTOP] = {.note = VT_PT_NOTE_EXSTOP, .packet = VT_PT_EXSTOP, .ip = true},
	[VTI_PT_EV_MWAIT] = {.note = VT_PT_NOTE_MWAIT, .packet = VT_PT_MWAIT, .ip = true},
	[VTI_PT_EV_PWRE] = {.note = VT_PT_NOTE_PWRE, .packet = VT_PT_PWRE},
	[VTI_PT_EV_PWRX] = {.note = VT_PT_NOTE_PWRX, .packet = VT_PT_PWRX},
	[VTI_PT_EV_PTWRITE] = {.note = VT_PT_NOTE_PTWRITE, .packet = VT_PT_PTW, .ip = true},
	[VTI_PT_EV_CBR] = {.note = VT_PT_NOTE_CBR, .packet = VT_PT_CBR, .state = true},
	[VTI_PT_EV_MNT] = {.note = VT_PT_NOTE_MNT, .packet = VT_PT_MNT},
};

bool vti_pt_walk_note(struct vti_pt_walk *w, const struct vt_pt_note *n)
{
	struct vti_pt_query *q = &w->query;

	if (vti_pt_walk_flush(w))
		return false;
	if (vt_pt_note_waits(n, q->until)) {
		q->held = *n;
		q->stopped = true;
		return true;
	}
	if (vti_pt_output_note(&w->out, n))
		return true;
	w->error = -VT_E_NOMEM;
	return false;
}

/* After an event that bound to the same instruction, a decision may have been taken. */
static void decide_pending_walk(struct vti_pt_walk *w)
{
	struct vti_pt_cursor *c = &w->query.cursor;

	if (vti_pt_cursor_decide_pending(c, (uint64_t)(w->pos - w->begin)))
		vti_pt_walk_mark(w, &c->timing);
}

static void report_event(struct vti_pt_walk *w, const struct vti_pt_event *ev)
{
	const struct report *t = &reports[ev->type];
	struct vti_pt_query *q = &w->query;
	uint64_t kinds = VT_PT_BIT(ev->status ? (unsigned)VT_PT_PSBEND : t->packet);
	struct vt_pt_note n = {.type = t->note, .value = ev->value, .extra = ev->extra};
	bool fresh = !t->state || (t->always && !ev->status);

	n.flag = ev->flag;
	if (t->state)
		fresh |= vti_pt_report_state(&q->reported, &n);
	n.has_ip = t->from || (t->ip && !ev->suppressed);
	n.has_to = t->to && !ev->suppressed;
	if (n.has_ip)
		n.ip = t->from ? ev->from : ev->ip;
	if (n.has_to)
		n.to = ev->ip;
	n.offset = vti_pt_cursor_seek(&q->cursor, kinds, (uint64_t)(w->pos - w->begin));
	if (!fresh) {
		decide_pending_walk(w);
		return;
	}
	n.tsc = q->cursor.timing.tsc;
	n.cycles = q->cursor.timing.cycles;
	if (vti_pt_walk_note(w, &n) && !q->stopped) {
		vti_pt_walk_mark(w, &q->cursor.timing);
		decide_pending_walk(w);
	}
}

int vti_pt_walk_take_event(struct vti_pt_walk *w)
{
	struct vti_pt_query *q = &w->query;
	struct vti_pt_event ev = q->current;
	int r = apply_walk_event(w, &ev);

	if (r < 0)
		return r;
	q->processing = false;
	if (ev.type == VTI_PT_EV_EXEC_MODE)
		q->has_mode = ev.value;
	r = vti_pt_walk_trailing(w, false);
	/* libipt reports an event from where it stands after it. */
	vti_pt_walk_begin_epoch(w);
	report_event(w, &ev);
	return w->error ? -VTI_PT_NOMEM : r;
}
