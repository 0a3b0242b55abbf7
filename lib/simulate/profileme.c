/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/profileme.h"

#include <math.h>
#include <string.h>

#include "machine/pipeline/memory.h"
#include "simulate/internal.h"

/*
 * The mean of the shorter half of weighted distances, if the window did not end them.  Of 16 to 32,
 * it has the smallest errors of `wasted` for windows of 80 and 256.
 */
#define NEAR 32

/* ---- which instructions ---- */

/*
 * Groups do not overlap: whatever is drawn comes behind the longest group.  Then each instruction
 * is the first of a group with probability 1 / mean.
 */
static uint64_t get_span(const struct vt_simulate_profileme *o)
{
	return o->ways > 1 ? (o->ways - 1) * o->window : 0;
}

static struct vt_interval get_rest(const struct vt_simulate_profileme *o)
{
	return vt_interval_make(o->interval.kind, o->interval.mean - get_span(o));
}

static uint64_t draw_major(const struct vt_simulate_profileme *o, struct vt_rng *rng)
{
	struct vt_interval rest = get_rest(o);

	return get_span(o) + vt_interval_next(&rest, rng);
}

/* As vt_interval_first(). */
static uint64_t draw_first(const struct vt_simulate_profileme *o, struct vt_rng *rng)
{
	struct vt_interval rest = get_rest(o);
	uint64_t span = get_span(o);

	if (span && vt_rng_below(rng, o->interval.mean) < span)
		return 1 + vt_rng_below(rng, span);
	return span + vt_interval_first(&rest, rng);
}

/* How likely a weighted distance is: uniform, or geometric and within the window. */
static double get_likelihood(uint64_t distance, uint64_t window)
{
	double q = 1.0 / NEAR, near = q * pow(1 - q, (double)(distance - 1));

	return (1.0 / (double)window + near / (1 - pow(1 - q, (double)window))) / 2;
}

static uint64_t draw_near(uint64_t window, struct vt_rng *rng)
{
	static const struct vt_interval near = {VT_INTERVAL_GEOMETRIC, NEAR, 0};
	uint64_t distance;

	do
		distance = vt_interval_next(&near, rng);
	while (distance > window);
	return distance;
}

static uint64_t draw_minor(const struct vt_simulate_profileme *o, struct vt_rng *rng,
			   double *weight)
{
	uint64_t distance;

	*weight = 1;
	if (!o->weighted)
		return 1 + vt_rng_below(rng, o->window);
	distance =
		vt_rng_below(rng, 2) ? 1 + vt_rng_below(rng, o->window) : draw_near(o->window, rng);
	*weight = 1 / ((double)o->window * get_likelihood(distance, o->window));
	return distance;
}

uint64_t vti_profileme_init(struct vti_profileme *pm, const struct vt_simulate_profileme *o,
			    uint64_t seed)
{
	memset(pm, 0, sizeof(*pm));
	vt_rng_init(&pm->rng, seed);
	pm->left = draw_first(o, &pm->rng);
	return pm->left;
}

/* Chooses what comes after an instruction that was chosen. */
static void choose_next(struct vti_profileme *pm, const struct vt_simulate_profileme *o)
{
	if (pm->nth == 0)
		pm->rest = draw_major(o, &pm->rng);
	if (++pm->nth < o->ways) {
		pm->left = draw_minor(o, &pm->rng, &pm->weight);
		pm->distance += pm->left;
		pm->rest -= pm->left;
		return;
	}
	pm->left = pm->rest;
	pm->nth = 0;
}

/* ---- what is told of them ---- */

static uint64_t event_if(bool is, uint64_t event)
{
	return is ? event : 0;
}

/* Whether its accesses are known, if it makes any. */
static bool has_accesses(const struct vt_sim_followed *f)
{
	return !(f->flags & (VT_FACT_LOAD | VT_FACT_STORE)) || (f->insn && f->insn->naccesses);
}

static uint64_t get_events_told(const struct vt_core *m, const struct vt_sim_followed *f)
{
	bool decoded = !f->insn || f->insn->op->length, accesses = decoded && has_accesses(f);
	uint64_t told = VT_PM_EVENT(RETIRED) | VT_PM_EVENT(ABORTED);

	told |= event_if(m->icache.size, VT_PM_EVENT(ICACHE_MISS));
	told |= event_if(m->itlb.entries, VT_PM_EVENT(ITLB_MISS));
	if (decoded)
		told |= VT_PM_EVENT(BRANCH) | VT_PM_EVENT(LOAD) | VT_PM_EVENT(STORE);
	if (!f->insn)
		return told;
	told |= event_if(accesses && m->l2.size, VT_PM_EVENT(L2_MISS));
	told |= event_if(accesses && m->l3.size, VT_PM_EVENT(L3_MISS));
	told |= event_if(accesses && m->dcache.size, VT_PM_EVENT(DCACHE_MISS));
	told |= event_if(accesses && m->dtlb.entries, VT_PM_EVENT(DTLB_MISS));
	told |= event_if(accesses && m->order == VT_OUT_OF_ORDER && m->stores,
			 VT_PM_EVENT(FORWARDED));
	if (decoded && f->insn->next)
		told |= VT_PM_EVENT(TAKEN) | VT_PM_EVENT(MISPREDICTED);
	return told;
}

uint64_t vti_profileme_events(const struct vt_core *m, const struct vt_sim_followed *f,
			      uint64_t *told)
{
	uint32_t walk = m->stlb.entries ? VT_MISS_STLB : VT_MISS_TLB;
	uint32_t any = f->fetch_missed | f->data_missed;
	uint64_t e = f->insn ? VT_PM_EVENT(RETIRED) : VT_PM_EVENT(ABORTED);

	*told = get_events_told(m, f);
	e |= event_if(f->fetch_missed & VT_MISS_L1, VT_PM_EVENT(ICACHE_MISS));
	e |= event_if(f->data_missed & VT_MISS_L1, VT_PM_EVENT(DCACHE_MISS));
	e |= event_if(any & VT_MISS_L2, VT_PM_EVENT(L2_MISS));
	e |= event_if(any & VT_MISS_L3, VT_PM_EVENT(L3_MISS));
	e |= event_if(f->fetch_missed & walk, VT_PM_EVENT(ITLB_MISS));
	e |= event_if(f->data_missed & walk, VT_PM_EVENT(DTLB_MISS));
	e |= event_if(f->flags & VT_FACT_BRANCH, VT_PM_EVENT(BRANCH));
	e |= event_if(f->flags & VT_FACT_LOAD, VT_PM_EVENT(LOAD));
	e |= event_if(f->flags & VT_FACT_STORE, VT_PM_EVENT(STORE));
	e |= event_if(f->forwarded, VT_PM_EVENT(FORWARDED));
	e |= event_if(f->mispredicted, VT_PM_EVENT(MISPREDICTED));
	e |= event_if(f->insn && vt_sim_insn_taken(f->insn), VT_PM_EVENT(TAKEN));
	return e & *told;
}

/* The cache that a load had its data from. */
static enum vt_source find_source(const struct vt_core *m, const struct vt_sim_followed *f)
{
	if (f->forwarded)
		return VT_SOURCE_FORWARD;
	if (m->dcache.size && !(f->load_missed & VT_MISS_L1))
		return VT_SOURCE_L1;
	if (m->l2.size && !(f->load_missed & VT_MISS_L2))
		return VT_SOURCE_L2;
	if (m->l3.size && !(f->load_missed & VT_MISS_L3))
		return VT_SOURCE_L3;
	return VT_SOURCE_DRAM;
}

static void set_latencies(const struct vt_core *m, const struct vt_sim_followed *f, uint64_t *row)
{
	if (f->placed)
		vt_pm_set(row, VT_SAMPLE_LAT_MAP, f->placed - f->fetched);
	vt_pm_set(row, VT_SAMPLE_LAT_TOTAL, f->ended - f->fetched);
	if (!f->insn)
		return;
	vt_pm_set(row, VT_SAMPLE_LAT_READY, f->ready - f->placed);
	vt_pm_set(row, VT_SAMPLE_LAT_ISSUE, f->issued - f->ready);
	vt_pm_set(row, VT_SAMPLE_LAT_EXEC, f->done - f->issued);
	if (m->order == VT_OUT_OF_ORDER)
		vt_pm_set(row, VT_SAMPLE_LAT_RETIRE, f->ended - f->done);
}

/* The first load, or the first store if there is none; NULL: no access is known. */
static const struct vt_sim_access *find_access(const struct vt_sim_insn *insn)
{
	uint32_t i;

	for (i = 0; i < insn->naccesses; i++)
		if (!insn->accesses[i].store)
			return &insn->accesses[i];
	return insn->naccesses ? insn->accesses : NULL;
}

static bool is_known_load(const struct vt_sim_followed *f)
{
	const struct vt_sim_access *at = f->insn ? find_access(f->insn) : NULL;

	return at && !at->store && f->flags & VT_FACT_LOAD;
}

bool vti_profileme_knows_tlb(const struct vt_core *m, const struct vt_sim_followed *f)
{
	return m->dtlb.entries && is_known_load(f);
}

static void set_access(const struct vt_core *m, const struct vt_sim_followed *f, uint64_t *row)
{
	const struct vt_sim_access *at = find_access(f->insn);

	if (f->flags & VT_FACT_LOAD)
		vt_pm_set(row, VT_SAMPLE_LAT_LOAD, f->load);
	if (!at)
		return;
	row[VT_SAMPLE_HAS] |= VT_HAS_ADDR;
	row[VT_SAMPLE_ADDR] = at->addr;
	vt_pm_set(row, VT_SAMPLE_WIDTH, at->size);
	if (is_known_load(f))
		vt_pm_set(row, VT_SAMPLE_SOURCE, find_source(m, f));
	if (vti_profileme_knows_tlb(m, f))
		vt_pm_set(row, VT_SAMPLE_LAT_TLB, f->tlb);
}

static void set_path(const struct vt_simulate_profileme *o, const struct vt_sim_followed *f,
		     uint64_t *row)
{
	uint32_t n = f->nhistory < o->history ? f->nhistory : o->history;

	if (f->insn && vt_sim_insn_taken(f->insn))
		vt_pm_set(row, VT_SAMPLE_TARGET, f->insn->next);
	if (!o->history)
		return;
	vt_pm_set(row, VT_SAMPLE_HISTORY,
		  n < 64 ? f->history & ((UINT64_C(1) << n) - 1) : f->history);
	vt_pm_set(row, VT_SAMPLE_HISTORY_N, n);
}

static void set_pair(struct vti_profileme *pm, const struct vt_sim_followed *f, uint64_t *row)
{
	if (pm->nth == 0) {
		pm->begun = f->fetched;
		pm->distance = 0;
		pm->weight = 1;
	}
	vt_pm_set(row, VT_SAMPLE_PAIR, pm->nth + 1);
	vt_pm_set(row, VT_SAMPLE_PAIR_DISTANCE, pm->distance);
	vt_pm_set(row, VT_SAMPLE_PAIR_CYCLES, f->fetched - pm->begun);
	vt_pm_set(row, VT_SAMPLE_PAIR_WEIGHT, 0);
	memcpy(&row[VT_SAMPLE_PAIR_WEIGHT], &pm->weight, sizeof(pm->weight));
}

static void write_followed(struct vti_simprocess *p, const struct vt_sim_followed *f)
{
	struct vt_simulate *s = p->s;
	const struct vt_simulate_profileme *o = &s->o.profileme;
	uint64_t *row = vt_sample_write(s->w, VTI_SIMULATE_EVENT + s->o.nevents, p->thread->time,
					p->thread->pid, p->thread->tid, f->addr, o->interval.mean);

	vt_pm_set(row, VT_SAMPLE_EVENTS,
		  vti_profileme_events(s->o.core, f, &row[VT_SAMPLE_EVENTS_TOLD]));
	vt_pm_set(row, VT_SAMPLE_TRAP, f->insn ? VT_TRAP_NONE : VT_TRAP_WRONG_PATH);
	set_latencies(s->o.core, f, row);
	if (f->insn)
		set_access(s->o.core, f, row);
	set_path(o, f, row);
	if (o->ways > 1)
		set_pair(&p->profileme, f, row);
	/* Of a wrong path, nothing is in the stack of what was executed. */
	if (f->insn && p->stack.size) {
		row[VT_SAMPLE_HAS] |= VTI_SAMPLE_STACK;
		vti_simstack_write(&p->stack, s->w);
	}
	s->totals.taken++;
}

uint64_t vti_profileme_follow(void *process, const struct vt_sim_followed *f)
{
	struct vti_simprocess *p = process;
	struct vt_simulate *s = p->s;
	bool all = s->o.truth;

	if (all) {
		vti_pmtruth_add(
			&s->pmtruth, p->window, s->o.core,
			f->insn ? (uint32_t)f->insn->tag : vti_sim_place(s, p->pid, f->addr), f);
		if (--p->profileme.left)
			return 1;
	}
	write_followed(p, f);
	choose_next(&p->profileme, &s->o.profileme);
	return all ? 1 : p->profileme.left;
}
