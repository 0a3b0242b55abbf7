/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/perfpt/internal.h"

/*
 * The scheduler: it gives threads CPUs as they run in the stream, where one runs at a time.  A
 * thread keeps its CPU while others run on theirs, until one of them needs it.
 */

#define SWITCH_COST 512 /* instructions that the kernel takes to switch */

/* `gone` goes, `come` comes; either may be NULL. */
static int tell_switch(struct vt_pt_wrap *p, uint32_t cpu, const struct wrap_thread *gone,
		       const struct wrap_thread *come, struct vt_error *err)
{
	const struct wrap_thread *other = gone ? come : NULL, *self = gone ? gone : come;
	struct vt_perfdata_stamp s = {vti_wrap_side_event(p), self->pid, self->tid, vti_wrap_now(p),
				      cpu};
	struct vt_perfdata_switch sw = {.wide = p->opt.wide,
					.out = gone != NULL,
					.preempt = other != NULL,
					.other_pid = other ? other->pid : 0,
					.other_tid = other ? other->tid : 0};

	return vt_perfdata_put_switch(p->w, &s, &sw, err);
}

static int switch_out(struct vt_pt_wrap *p, uint32_t cpu, const struct wrap_thread *come,
		      struct vt_error *err)
{
	struct wrap_thread *t = p->area[cpu]->running;
	int rc;

	if (!t)
		return 0;
	rc = vt_pt_encode_pause(p->enc, t->pid, t->tid, err);
	if (rc < 0)
		return rc;
	vt_pt_encode_idle(p->enc, SWITCH_COST);
	rc = tell_switch(p, cpu, t, come, err);
	t->on_cpu = false;
	p->area[cpu]->running = NULL;
	return rc;
}

static int switch_in(struct vt_pt_wrap *p, uint32_t cpu, struct wrap_thread *t,
		     struct vt_error *err)
{
	struct wrap_area *a = p->area[cpu];
	int rc = tell_switch(p, cpu, NULL, t, err);

	if (rc >= 0 && !a->started) {
		struct vt_perfdata_stamp s = {0, t->pid, t->tid, vti_wrap_now(p), cpu};

		a->started = true;
		rc = vt_perfdata_put_itrace_start(p->w, &s, err);
	}
	vt_pt_encode_idle(p->enc, SWITCH_COST);
	a->running = t;
	t->area = cpu + 1;
	t->on_cpu = true;
	t->left = p->opt.slice;
	p->sum.switches++;
	return rc;
}

int vti_wrap_run(struct vt_pt_wrap *p, struct wrap_thread *t, uint64_t insns, struct vt_error *err)
{
	uint32_t cpu;
	int rc;

	if (!vti_wrap_writer(p, err))
		return -(int)err->code;
	if (t->on_cpu && t->left) {
		t->left -= t->left < insns ? t->left : insns;
		return 0;
	}
	if (t->on_cpu) {
		rc = switch_out(p, t->area - 1, NULL, err);
		if (rc < 0)
			return rc;
	}
	cpu = p->next_cpu++ % p->opt.cpus;
	rc = switch_out(p, cpu, t, err);
	return rc < 0 ? rc : switch_in(p, cpu, t, err);
}

int vti_wrap_leave(struct vt_pt_wrap *p, struct wrap_thread *t, struct vt_error *err)
{
	return t->on_cpu ? switch_out(p, t->area - 1, NULL, err) : 0;
}
