/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sample of each miss of the first data cache, ahead of the code that missed. */
#include "machine/pipeline/memory.h"
#include "simulate/internal.h"

/* Records that are held take so many bytes at most. */
#define HELD_BYTES (UINT32_C(1) << 26)

/* ---- the samples ---- */

static enum vt_source find_miss_source(const struct vt_core *m, const struct vt_simmem_miss *miss)
{
	if (!miss->brought)
		return VT_SOURCE_FILL_BUFFER;
	if (m->l2.size && !(miss->access.missed & VT_MISS_L2))
		return VT_SOURCE_L2;
	if (m->l3.size && !(miss->access.missed & VT_MISS_L3))
		return VT_SOURCE_L3;
	return VT_SOURCE_DRAM;
}

static void tell_miss_events(const struct vt_core *m, const struct vt_simmem_miss *miss,
			     uint64_t *row)
{
	uint32_t missed = miss->access.missed;

	vt_pm_tell(row, VT_PM_EVENT(RETIRED) | VT_PM_EVENT(DCACHE_MISS), true);
	vt_pm_tell(row, VT_PM_EVENT(ABORTED), false);
	vt_pm_tell(row, VT_PM_EVENT(LOAD), !miss->store);
	vt_pm_tell(row, VT_PM_EVENT(STORE), miss->store);
	if (m->l2.size)
		vt_pm_tell(row, VT_PM_EVENT(L2_MISS), missed & VT_MISS_L2);
	if (m->l3.size)
		vt_pm_tell(row, VT_PM_EVENT(L3_MISS), missed & VT_MISS_L3);
	if (m->dtlb.entries)
		vt_pm_tell(row, VT_PM_EVENT(DTLB_MISS),
			   missed & (m->stlb.entries ? VT_MISS_STLB : VT_MISS_TLB));
}

void vti_sim_miss(void *process, const struct vt_sim_miss *told)
{
	const struct vti_simprocess *p = process;
	const struct vt_simmem_miss *miss = told->miss;
	struct vt_simulate *s = p->s;
	uint64_t *row = vt_sample_write(s->w, vti_sim_miss_event(s), p->thread->time,
					p->thread->pid, p->thread->tid, told->insn->addr, 1);

	row[VT_SAMPLE_HAS] |= VT_HAS_ADDR;
	row[VT_SAMPLE_ADDR] = miss->addr;
	tell_miss_events(s->o.core, miss, row);
	vt_pm_set(row, VT_SAMPLE_WIDTH, miss->size);
	vt_pm_set(row, VT_SAMPLE_SOURCE, find_miss_source(s->o.core, miss));
	if (!miss->store)
		vt_pm_set(row, VT_SAMPLE_LAT_LOAD, told->load);
	if (!miss->store && s->o.core->dtlb.entries)
		vt_pm_set(row, VT_SAMPLE_LAT_TLB, miss->access.tlb);
	vt_pm_set(row, VT_SAMPLE_POSITION, p->position);
	vt_pm_set(row, VT_SAMPLE_SET, miss->set);
	if (miss->evicts)
		vt_pm_set(row, VT_SAMPLE_EVICTED, miss->evicted);
	s->totals.misses++;
}

uint64_t vti_sim_miss_event(const struct vt_simulate *s)
{
	return VTI_SIMULATE_EVENT + s->o.nevents + (s->o.profileme.interval.mean != 0);
}

/* ---- records that are passed on ---- */

static void write_record(struct vt_simulate *s, const struct vt_record *rec)
{
	bool of_code = rec->kind == VT_EXEC || rec->kind == VT_SYSCALL || rec->kind == VT_MEMORY;

	vt_writer_copy(s->w, rec);
	if (s->o.truth && !of_code)
		vt_writer_copy(s->o.truth, rec);
}

void vti_sim_write_held(struct vt_simulate *s)
{
	size_t i;

	s->held_for = NULL;
	for (i = 0; i < s->held.count; i++)
		write_record(s, vt_held_at(&s->held, i));
	vt_held_clear(&s->held);
}

int vti_sim_pass(struct vt_simulate *s, const struct vt_record *rec, struct vt_error *err)
{
	if (s->held_for && s->held.bytes >= HELD_BYTES)
		vti_sim_interrupt(s, s->held_for);
	if (!s->held_for)
		write_record(s, rec);
	else if (!vt_held_add(&s->held, rec))
		return vt_error_nomem(err);
	return 0;
}

/*
 * The code of a record follows its misses.  The last instruction of it waits until it is known what
 * comes next, so that this record and those behind it are held until then, but not for longer than
 * to the next code of another thread.
 */
int vti_sim_pass_code(struct vt_simulate *s, const struct vt_record *rec, struct vt_error *err)
{
	struct vti_simthread *t = s->thread;

	if (t && t->block)
		s->held_for = t;
	return vti_sim_pass(s, rec, err);
}

void vti_sim_end_turn(struct vt_simulate *s, int64_t pid, int64_t tid)
{
	struct vti_simthread *t = s->held_for;

	if (t && (t->pid != pid || t->tid != tid))
		vti_sim_interrupt(s, t);
}
