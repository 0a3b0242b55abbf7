/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "formats/pt/decode/walk.h"

/* ---- events ----------------------------------------------------------------- */

struct vti_pt_event *vti_pt_enqueue(struct vti_pt_query *q, enum vti_pt_binding b, unsigned type)
{
	struct vti_pt_queue *l = &q->queues[b];
	struct vti_pt_event *ev;

	if (l->count == VTI_PT_QUEUE)
		return NULL;
	ev = &l->at[l->count++];
	memset(ev, 0, sizeof(*ev));
	ev->type = (uint8_t)type;
	return ev;
}

/* Moves the oldest event that waits for b to q->event. */
static bool dequeue(struct vti_pt_query *q, enum vti_pt_binding b)
{
	struct vti_pt_queue *l = &q->queues[b];

	if (!l->count)
		return false;
	q->event = l->at[0];
	memmove(&l->at[0], &l->at[1], --l->count * sizeof(l->at[0]));
	return true;
}

static struct vti_pt_event *find_queued_event(struct vti_pt_query *q, unsigned type)
{
	struct vti_pt_queue *l = &q->queues[VTI_PT_BIND_TIP];
	unsigned i;

	for (i = 0; i < l->count; i++) {
		if (l->at[i].type == type)
			return &l->at[i];
	}
	return NULL;
}

struct vti_pt_event *vti_pt_publish(struct vti_pt_query *q, unsigned type)
{
	memset(&q->event, 0, sizeof(q->event));
	q->event.type = (uint8_t)type;
	q->published = true;
	return &q->event;
}

static void bind_ip(const struct vti_pt_walk *w, struct vti_pt_event *ev)
{
	if (vti_pt_last_ip(w, &ev->ip))
		ev->suppressed = true;
}

bool vti_pt_has_event(const struct vti_pt_query *q)
{
	unsigned u = vti_pt_uses(q->next);

	if (u & VTI_PT_EVENT)
		return true;
	if (u & VTI_PT_EVENT_PSBEND)
		return q->queues[VTI_PT_BIND_PSBEND].count;
	if (u & VTI_PT_TAKES_TIP)
		return q->queues[VTI_PT_BIND_TIP].count;
	if (u & VTI_PT_EVENT_FUP)
		return q->queues[VTI_PT_BIND_FUP].count;
	return false;
}

/* ---- the header of a PSB ------------------------------------------------------ */

/* True if a FUP in a header may be a leftover from before tracing was disabled; or a fault. */
static int check_bdm70(const struct vti_pt_walk *w, const uint8_t *p)
{
	const uint64_t passed = VT_PT_BIT(VT_PT_PAD) | VT_PT_BIT(VT_PT_TSC) | VT_PT_BIT(VT_PT_CBR) |
				VT_PT_BIT(VT_PT_PSBEND) | VT_PT_BIT(VT_PT_PIP) |
				VT_PT_BIT(VT_PT_MODE_EXEC) | VT_PT_BIT(VT_PT_MODE_TSX) |
				VT_PT_BIT(VT_PT_VMCS) | VT_PT_BIT(VT_PT_TMA) |
				VT_PT_BIT(VT_PT_MTC) | VT_PT_BIT(VT_PT_CYC) | VT_PT_BIT(VT_PT_MNT);
	struct vt_pt_packet pkt;
	int r = vti_pt_peek_past(w, passed, NULL, &p, &pkt);

	if (r < 0)
		return r == -VTI_PT_EOS ? 0 : r;
	return pkt.kind == VT_PT_TIP_PGE;
}

static int take_header_fup(struct vti_pt_walk *w, const struct vt_pt_packet *p)
{
	struct vti_pt_query *q = &w->query;

	if (q->errata & VTI_PT_BDM70 && !q->enabled) {
		int r = check_bdm70(w, w->pos + p->size);

		if (r)
			return r < 0 ? r : 0;
	}
	if (p->ipc != VT_PT_IPC_SUPPRESSED)
		q->enabled = true;
	vti_pt_take_ip(w, p);
	return 0;
}

static int take_header_event(struct vti_pt_walk *w, const struct vt_pt_packet *p, unsigned type)
{
	struct vti_pt_event *ev = vti_pt_enqueue(&w->query, VTI_PT_BIND_PSBEND, type);

	if (!ev)
		return -VTI_PT_FULL;
	ev->value = p->payload;
	ev->flag = p->kind == VT_PT_PIP && p->flag;
	return 0;
}

int vti_pt_check_timing(struct vti_pt_query *q, const struct vt_pt_packet *p)
{
	if (p->kind == VT_PT_TSC) {
		q->has_tsc = true;
		q->has_tma = false;
	} else if (p->kind == VT_PT_TMA) {
		if (!q->has_tsc || q->has_tma)
			return -VTI_PT_CONTEXT;
		q->has_tma = true;
	}
	return p->kind == VT_PT_CBR && !p->payload ? -VTI_PT_PACKET : 0;
}

static int take_header_packet(struct vti_pt_walk *w)
{
	struct vt_pt_packet p;
	int r = 0;
	int n = vti_pt_read(w, &p);

	if (n < 0)
		return n;
	if (vti_pt_hides_overflow(w->query.errata, w->pos, w->end, &p)) {
		w->pos++;
		return 0;
	}
	r = vti_pt_check_timing(&w->query, &p);
	if (r < 0)
		return r;
	switch (p.kind) {
	case VT_PT_FUP:
		r = take_header_fup(w, &p);
		break;
	case VT_PT_MODE_EXEC:
		r = take_header_event(w, &p, VTI_PT_EV_EXEC_MODE);
		break;
	case VT_PT_MODE_TSX:
		r = take_header_event(w, &p, VTI_PT_EV_TSX);
		break;
	case VT_PT_PIP:
		r = take_header_event(w, &p, VTI_PT_EV_ASYNC_PAGING);
		break;
	case VT_PT_VMCS:
		r = take_header_event(w, &p, VTI_PT_EV_ASYNC_VMCS);
		break;
	case VT_PT_CBR:
		r = take_header_event(w, &p, VTI_PT_EV_CBR);
		break;
	case VT_PT_MNT:
		r = take_header_event(w, &p, VTI_PT_EV_MNT);
		break;
	default:
		break;
	}
	if (r < 0)
		return r;
	w->pos += n;
	return 0;
}

static int read_psb_header(struct vti_pt_walk *w)
{
	vti_pt_forget_ip(w);
	for (;;) {
		int r = vti_pt_fetch_next(w);
		unsigned u;

		if (r)
			return r;
		u = vti_pt_uses(w->query.next);
		if (u & VTI_PT_EVENT_PSBEND)
			return 0;
		if (!(u & VTI_PT_IN_HEADER))
			return -VTI_PT_CONTEXT;
		r = take_header_packet(w);
		if (r)
			return r;
	}
}

static int decode_psb(struct vti_pt_walk *w)
{
	const uint8_t *psb = w->pos;
	struct vt_pt_packet p;
	int r = vti_pt_read(w, &p);

	if (r < 0)
		return r;
	w->pos += r;
	r = read_psb_header(w);
	if (r < 0) {
		w->pos = psb;
		w->query.queues[VTI_PT_BIND_PSBEND].count = 0;
		w->query.next = VT_PT_PSB;
	}
	return r;
}

/* Publishes an event of a PSB+, before the PSBEND or the OVF is taken.  False: none is left. */
static bool take_psb_event(struct vti_pt_walk *w)
{
	struct vti_pt_query *q = &w->query;

	if (!dequeue(q, VTI_PT_BIND_PSBEND))
		return false;
	q->event.status = q->event.type != VTI_PT_EV_MNT;
	if (q->event.type != VTI_PT_EV_MNT && q->event.type != VTI_PT_EV_CBR)
		bind_ip(w, &q->event);
	q->published = true;
	return true;
}

/* ---- packets with addresses ----------------------------------------------------- */

static int decode_tip(struct vti_pt_walk *w, const struct vt_pt_packet *p)
{
	struct vti_pt_query *q = &w->query;

	vti_pt_take_ip(w, p);
	if (dequeue(q, VTI_PT_BIND_TIP)) {
		if (q->event.type == VTI_PT_EV_ASYNC_BRANCH)
			q->consume = true;
		bind_ip(w, &q->event);
		q->published = true;
		if (q->queues[VTI_PT_BIND_TIP].count || !q->consume)
			return 0;
		q->consume = false;
	}
	w->pos += p->size;
	return 0;
}

static int decode_tip_pge(struct vti_pt_walk *w, const struct vt_pt_packet *p)
{
	struct vti_pt_query *q = &w->query;

	vti_pt_take_ip(w, p);
	/* That tracing is enabled comes before other events that bind to the packet. */
	if (!q->consume) {
		struct vti_pt_event *ev = vti_pt_publish(q, VTI_PT_EV_ENABLED);

		if (vti_pt_last_ip(w, &ev->ip))
			return -VTI_PT_PACKET;
		w->tnt_count = 0;
		q->consume = true;
		q->enabled = true;
	} else {
		if (!dequeue(q, VTI_PT_BIND_TIP))
			return -VTI_PT_INTERNAL;
		if (q->event.type != VTI_PT_EV_EXEC_MODE)
			return -VTI_PT_CONTEXT;
		bind_ip(w, &q->event);
		q->published = true;
	}
	if (q->queues[VTI_PT_BIND_TIP].count)
		return 0;
	q->consume = false;
	w->pos += p->size;
	return 0;
}

static int decode_tip_pgd(struct vti_pt_walk *w, const struct vt_pt_packet *p)
{
	struct vti_pt_query *q = &w->query;

	vti_pt_take_ip(w, p);
	if (!dequeue(q, VTI_PT_BIND_TIP)) {
		bind_ip(w, vti_pt_publish(q, VTI_PT_EV_DISABLED));
	} else if (q->event.type == VTI_PT_EV_ASYNC_BRANCH) {
		q->event.type = VTI_PT_EV_ASYNC_DISABLED;
		bind_ip(w, &q->event);
	} else {
		/* It comes after the end of tracing, where no address is known. */
		q->event.suppressed = true;
	}
	q->published = true;
	if (q->queues[VTI_PT_BIND_TIP].count)
		return 0;
	q->enabled = false;
	w->pos += p->size;
	return 0;
}

static int take_fup_event(struct vti_pt_walk *w)
{
	struct vti_pt_query *q = &w->query;

	switch (q->event.type) {
	case VTI_PT_EV_OVERFLOW:
		q->consume = true;
		return vti_pt_last_ip(w, &q->event.ip);
	case VTI_PT_EV_TSX:
		/* Of an abort, the FUP is also the source of the branch. */
		if (!(q->event.value & 2))
			q->consume = true;
		break;
	default:
		q->consume = true;
		break;
	}
	bind_ip(w, &q->event);
	return 0;
}

static int decode_fup(struct vti_pt_walk *w, const struct vt_pt_packet *p)
{
	struct vti_pt_query *q = &w->query;
	struct vti_pt_event *ev;
	uint64_t ip;
	int r;

	vti_pt_take_ip(w, p);
	if (dequeue(q, VTI_PT_BIND_FUP)) {
		r = take_fup_event(w);
		if (r < 0)
			return r;
		q->published = true;
		if (q->queues[VTI_PT_BIND_FUP].count || !q->consume)
			return 0;
		q->consume = false;
	} else {
		r = vti_pt_last_ip(w, &ip);
		if (r < 0)
			return r;
		ev = vti_pt_enqueue(q, VTI_PT_BIND_TIP, VTI_PT_EV_ASYNC_BRANCH);
		if (!ev)
			return -VTI_PT_FULL;
		ev->from = ip;
	}
	w->pos += p->size;
	return 0;
}

/* ---- packets that are events ----------------------------------------------------- */

static int decode_pip(struct vti_pt_query *q, const struct vt_pt_packet *p)
{
	struct vti_pt_event *ev;

	if (!find_queued_event(q, VTI_PT_EV_ASYNC_BRANCH)) {
		ev = vti_pt_publish(q, VTI_PT_EV_PAGING);
	} else {
		ev = vti_pt_enqueue(q, VTI_PT_BIND_TIP, VTI_PT_EV_ASYNC_PAGING);
		if (!ev)
			return -VTI_PT_FULL;
	}
	ev->value = p->payload;
	ev->flag = p->flag;
	return 0;
}

static int decode_vmcs(struct vti_pt_query *q, const struct vt_pt_packet *p)
{
	struct vti_pt_event *paging = find_queued_event(q, VTI_PT_EV_ASYNC_PAGING);
	struct vti_pt_event *ev;

	if (!paging && !find_queued_event(q, VTI_PT_EV_ASYNC_BRANCH)) {
		vti_pt_publish(q, VTI_PT_EV_VMCS)->value = p->payload;
		return 0;
	}
	ev = vti_pt_enqueue(q, VTI_PT_BIND_TIP, VTI_PT_EV_ASYNC_VMCS);
	if (!ev)
		return -VTI_PT_FULL;
	/* It comes before the CR3 that belongs to it. */
	if (paging) {
		*ev = *paging;
		memset(paging, 0, sizeof(*paging));
		paging->type = VTI_PT_EV_ASYNC_VMCS;
		ev = paging;
	}
	ev->value = p->payload;
	return 0;
}

static int decode_mode(struct vti_pt_query *q, const struct vt_pt_packet *p)
{
	struct vti_pt_event *ev;

	if (p->kind == VT_PT_MODE_EXEC) {
		ev = vti_pt_enqueue(q, VTI_PT_BIND_TIP, VTI_PT_EV_EXEC_MODE);
	} else if (q->enabled) {
		ev = vti_pt_enqueue(q, VTI_PT_BIND_FUP, VTI_PT_EV_TSX);
	} else {
		ev = vti_pt_publish(q, VTI_PT_EV_TSX);
		ev->suppressed = true;
	}
	if (!ev)
		return -VTI_PT_FULL;
	ev->value = p->payload;
	return 0;
}

/* Takes an event of one packet, with or without a FUP that gives its address. */
static int decode_simple_event(struct vti_pt_query *q, const struct vt_pt_packet *p, unsigned type,
			       bool has_fup)
{
	struct vti_pt_event *ev;

	if (has_fup) {
		ev = vti_pt_enqueue(q, VTI_PT_BIND_FUP, type);
		if (!ev)
			return -VTI_PT_INTERNAL;
	} else {
		ev = vti_pt_publish(q, type);
		if (type == VTI_PT_EV_EXSTOP || type == VTI_PT_EV_PTWRITE)
			ev->suppressed = true;
	}
	ev->value = p->payload;
	ev->extra = p->kind == VT_PT_PTW ? p->count : p->extra;
	ev->flag = p->flag;
	/* libipt does not report deadlines. */
	if (p->kind == VT_PT_PWRX)
		ev->extra &= ~UINT64_C(2);
	return 0;
}

static int decode_event(struct vti_pt_walk *w, const struct vt_pt_packet *p)
{
	struct vti_pt_query *q = &w->query;

	switch (p->kind) {
	case VT_PT_PIP:
		return decode_pip(q, p);
	case VT_PT_VMCS:
		return decode_vmcs(q, p);
	case VT_PT_MODE_EXEC:
	case VT_PT_MODE_TSX:
		return decode_mode(q, p);
	case VT_PT_CBR:
		return decode_simple_event(q, p, VTI_PT_EV_CBR, false);
	case VT_PT_STOP:
		return decode_simple_event(q, p, VTI_PT_EV_STOP, false);
	case VT_PT_MNT:
		return decode_simple_event(q, p, VTI_PT_EV_MNT, false);
	case VT_PT_PTW:
		return decode_simple_event(q, p, VTI_PT_EV_PTWRITE, p->ip);
	case VT_PT_EXSTOP:
		return decode_simple_event(q, p, VTI_PT_EV_EXSTOP, p->ip);
	case VT_PT_MWAIT:
		return decode_simple_event(q, p, VTI_PT_EV_MWAIT, true);
	case VT_PT_PWRE:
		return decode_simple_event(q, p, VTI_PT_EV_PWRE, false);
	case VT_PT_PWRX:
		return decode_simple_event(q, p, VTI_PT_EV_PWRX, false);
	default:
		return 0;
	}
}

static int decode_tnt(struct vti_pt_walk *w, const struct vt_pt_packet *p)
{
	if (w->tnt_count)
		return -VTI_PT_CONTEXT;
	w->tnt = p->payload;
	w->tnt_count = p->count;
	w->pos += p->size;
	return 0;
}

int vti_pt_take_packet(struct vti_pt_walk *w)
{
	struct vt_pt_packet p;
	int r;

	switch (w->query.next) {
	case VT_PT_PSB:
		return decode_psb(w);
	case VT_PT_OVF:
		return take_psb_event(w) ? 0 : vti_pt_overflow(w);
	case VT_PT_PSBEND:
		if (!take_psb_event(w))
			w->pos += 2;
		return 0;
	default:
		break;
	}
	r = vti_pt_read(w, &p);
	if (r < 0)
		return r;
	switch (p.kind) {
	case VT_PT_TNT8:
	case VT_PT_TNT64:
		return decode_tnt(w, &p);
	case VT_PT_TIP:
		return decode_tip(w, &p);
	case VT_PT_TIP_PGE:
		return decode_tip_pge(w, &p);
	case VT_PT_TIP_PGD:
		return decode_tip_pgd(w, &p);
	case VT_PT_FUP:
		return decode_fup(w, &p);
	case VT_PT_CYC:
		if (!vti_pt_hides_overflow(w->query.errata, w->pos, w->end, &p))
			break;
		w->pos++;
		return 0;
	default:
		break;
	}
	r = vti_pt_check_timing(&w->query, &p);
	if (!r)
		r = decode_event(w, &p);
	if (r < 0)
		return r;
	w->pos += p.size;
	return 0;
}
