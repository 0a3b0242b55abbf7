/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/block.h"
#include "formats/pt/encode/internal.h"
#include "formats/pt/encode/putpacket.h"

/*
 * Threads in turns: the time passes for all, whoever runs.
 */

/* Goes on where vt_pt_encode_pause() has interrupted it. */
static void resume(struct vt_pt_encode *e, struct enc_thread *t)
{
	if (!t->held.last)
		return;
	t->held.addr = t->held.next - t->held.last;
	vti_enc_tip(e, t, VT_PT_OP_PGE, t->held.addr);
	t->prev = t->held;
	t->off = false;
	t->held.last = 0;
}

void vti_enc_turn(struct vt_pt_encode *e, struct enc_thread *t, uint64_t ip)
{
	uint64_t away = e->total - t->h.insns;

	if (e->running == t)
		return;
	e->running = t;
	vti_enc_room(e, t);
	if (e->timed && away != t->away) {
		vti_enc_break(e, t, ip);
		t->away = away;
		t->cycles = vti_enc_cycles(e, t);
		vti_enc_psb(e, t, false, 0);
	}
	resume(e, t);
}

/* The kernel takes over before the last instruction: where that goes is not known yet. */
static void interrupt(struct vt_pt_encode *e, struct enc_thread *t)
{
	uint64_t ip = t->prev.next - t->prev.last;

	vti_enc_end_loss(e, t, true, ip);
	vti_enc_tip(e, t, VT_PT_OP_FUP, ip);
	vti_enc_off(e, t);
	t->held = t->prev;
	t->prev = (struct enc_block){.end = ENC_OFF};
	t->off = true;
}

int vt_pt_encode_pause(struct vt_pt_encode *e, int64_t pid, int64_t tid, struct vt_error *err)
{
	struct enc_thread *t = vti_enc_find(e, pid, tid);

	if (!t)
		return 0;
	e->err = err;
	/* A repeated string instruction may go on: cut behind it, decoders would count it twice. */
	if (t->off || (t->prev.end == VT_PT_END_FALL && !t->prev.repeats) ||
	    t->prev.end >= VT_PT_END_FAR_CALL)
		vti_enc_lose(e, t);
	else
		interrupt(e, t);
	vti_enc_drain(e, t);
	e->running = NULL;
	return e->failed;
}

void vt_pt_encode_resume(struct vt_pt_encode *e, int64_t pid, int64_t tid)
{
	struct enc_thread *t = vti_enc_find(e, pid, tid);

	if (t && t->off)
		vti_enc_turn(e, t, 0);
}

void vt_pt_encode_idle(struct vt_pt_encode *e, uint64_t insns)
{
	e->total += insns;
	e->running = NULL;
}

uint64_t vt_pt_encode_now(const struct vt_pt_encode *e)
{
	struct enc_thread all = {.h = {.insns = e->total + e->ahead}};

	return e->timed ? vti_enc_tsc(e, vti_enc_cycles(e, &all)) : 0;
}

void vt_pt_encode_sync(struct vt_pt_encode *e, int64_t pid)
{
	size_t i;

	if (!e->opt.tsc)
		return;
	for (i = 0; i < e->nthreads; i++) {
		struct enc_thread *t = e->threads[i];

		if (t->pub.pid != pid)
			continue;
		t->psb_at = vti_enc_position(t);
		vti_enc_set_stop(t);
	}
}
