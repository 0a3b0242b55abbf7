/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/prefetch.h"
#include "image/imagedata.h"
#include "image/procdata.h"
#include "simulate/internal.h"

struct process_entry {
	int64_t pid;
	struct vti_simprocess *process;
};

struct thread_entry {
	int64_t pid;
	int64_t tid;
	struct vti_simthread *thread;
};

/* ---- what retires ---- */

static void write_model_sample(void *arg, const struct vt_sim_retired *r, uint32_t event,
			       uint64_t period)
{
	const struct vti_simprocess *p = arg;
	const struct vti_simthread *t = p->thread;
	struct vt_simulate *s = p->s;
	uint64_t *row = vt_sample_write(s->w, VTI_SIMULATE_EVENT + event, t->time, t->pid, t->tid,
					r->addr, period);

	if (p->stack.size) {
		row[VT_SAMPLE_HAS] |= VTI_SAMPLE_STACK;
		vti_simstack_write(&p->stack, s->w);
	}
	s->totals.taken++;
	if (s->events[event].kind == VT_SIMULATE_CYCLES) {
		struct vti_simplace *place = vti_simplace_at(&s->truth, r->tag);

		place->samples++;
		place->period += period;
	}
}

static void retire_insn(void *arg, const struct vt_sim_retired *r)
{
	struct vti_simprocess *p = arg;

	p->s->totals.cycles += r->head;
	p->cycle = r->cycle;
	p->mispredicted = r->mispredicted;
	if (p->s->o.truth)
		vti_simtruth_retire(&p->s->truth, r);
	/* Processors count all repetitions as one instruction. */
	p->counters.again = r->tag == p->retired && vti_simplace_at(&p->s->truth, r->tag)->repeats;
	p->retired = r->tag;
	vti_simcounters_retire(&p->counters, r, write_model_sample, p);
}

/* What the front end finds where no instruction was executed. */
static size_t read_wrong_path(void *arg, uint64_t addr, uint8_t *code, size_t size)
{
	const struct vti_simprocess *p = arg;
	const struct vt_map *m = vt_addrspace_find(vt_context_space(p->s->o.context),
						   (int32_t)p->pid, addr, VTI_SIM_MODE);
	const struct vt_imagedata *data;
	uint64_t bias;

	if (!m || m->type != VT_IMAGE_FILE)
		return 0;
	data = vt_procdata_code(vt_context_images(p->s->o.context), m, &bias);
	return data ? vt_imagedata_code(data, addr - bias, code, size) : 0;
}

/* ---- who runs ---- */

static void free_simprocess(struct vti_simprocess *p)
{
	vt_simcore_free(p->core);
	vti_pmwindow_free(p->window);
	free(p);
}

/* The processor is told what to follow: for the truth, all. */
static bool follow_some(struct vti_simprocess *p, uint64_t seed, struct vt_error *err)
{
	const struct vt_simulate_options *o = &p->s->o;
	uint64_t first;

	if (!o->profileme.interval.mean)
		return true;
	first = vti_profileme_init(&p->profileme, &o->profileme, seed);
	vt_simcore_follow(p->core, o->truth ? 1 : first);
	if (!o->truth)
		return true;
	p->window = vti_pmwindow_new();
	if (!p->window)
		vt_error_nomem(err);
	return p->window;
}

/*
 * Counters draw from generators of their own, seeded in the order in which processes appear: what
 * is sampled of one does not depend on how it is mixed with the others.
 */
static struct vti_simprocess *find_simprocess(struct vt_simulate *s, int64_t pid,
					      struct vt_error *err)
{
	struct process_entry *e = vt_hash_add(&s->processes, &pid, NULL);
	struct vti_simprocess *p;
	struct vt_sim_hooks hooks = {.retire = retire_insn, .follow = vti_profileme_follow};
	uint64_t seed = s->o.seed + (s->processes.count - 1) * 0x9e3779b97f4a7c15u;

	if (e && e->process)
		return e->process;
	p = e ? calloc(1, sizeof(*p)) : NULL;
	if (!p) {
		vt_error_nomem(err);
		return NULL;
	}
	hooks.arg = p;
	hooks.miss = s->o.misses ? vti_sim_miss : NULL;
	hooks.code = vt_context_images(s->o.context) ? read_wrong_path : NULL;
	p->pid = pid;
	p->retired = UINT64_MAX;
	p->s = s;
	p->core = vt_simcore_new(s->o.core, &hooks, err);
	if (!p->core || !follow_some(p, ~seed, err)) {
		free_simprocess(p);
		return NULL;
	}
	vti_simcounters_init(&p->counters, &s->o, seed);
	p->stack.size = s->o.stack < VT_SIMULATE_STACK ? s->o.stack : VT_SIMULATE_STACK;
	e->process = p;
	return p;
}

struct vti_simthread *vti_sim_thread(struct vt_simulate *s, int64_t pid, int64_t tid,
				     struct vt_error *err)
{
	const int64_t key[2] = {pid, tid};
	struct vti_simprocess *p;
	struct thread_entry *e;

	if (s->thread && s->thread->pid == pid && s->thread->tid == tid)
		return s->thread;
	p = find_simprocess(s, pid, err);
	e = p ? vt_hash_add(&s->threads, key, NULL) : NULL;
	if (e && !e->thread) {
		e->thread = calloc(1, sizeof(*e->thread));
		if (e->thread) {
			e->thread->pid = pid;
			e->thread->tid = tid;
			e->thread->process = p;
		}
	}
	if (e && e->thread)
		return s->thread = e->thread;
	if (p)
		vt_error_nomem(err);
	return NULL;
}

void vti_sim_end(struct vt_simulate *s)
{
	uint64_t empty;
	size_t i;

	for (i = 0; i < s->processes.count; i++) {
		const struct process_entry *e = vt_hash_at(&s->processes, i);

		if (!e->process)
			continue;
		s->totals.astray += vt_simcore_astray(e->process->core, &empty);
		s->totals.empty += empty;
		if (e->process->window)
			vti_pmtruth_end(&s->pmtruth, e->process->window, s->o.core);
	}
}

void vti_sim_free_threads(struct vt_simulate *s)
{
	size_t i;

	for (i = 0; i < s->threads.count; i++)
		free(((struct thread_entry *)vt_hash_at(&s->threads, i))->thread);
	for (i = 0; i < s->processes.count; i++) {
		struct process_entry *e = vt_hash_at(&s->processes, i);

		if (e->process)
			free_simprocess(e->process);
	}
	vt_hash_fini(&s->threads);
	vt_hash_fini(&s->processes);
}

/* ---- executing ---- */

/* A run was cut inside of a block: no edge, unless the thread went on somewhere else. */
static void count_cut(struct vt_simulate *s, uint32_t from, uint32_t to)
{
	uint32_t edge;

	if (to == vti_simplace_at(&s->truth, from)->next)
		return;
	edge = vti_simtruth_edge(&s->truth, from, VTI_NONE);
	if (edge != VTI_NONE)
		((struct vti_simedge *)vt_hash_at(&s->truth.edges, edge))->executions++;
}

/* Where control went from the last instruction that was executed of a block. */
static void count_edge(struct vt_simulate *s, struct vti_simblock *k, uint32_t from, uint32_t to)
{
	uint32_t i = k->edge_to[0] == to ? 0 : 1, edge;

	if (from != k->insns[k->b->ninsns - 1].place) {
		count_cut(s, from, to);
		return;
	}
	if (k->edge_to[i] != to || k->edge[i] == VTI_NONE) {
		edge = vti_simtruth_edge(&s->truth, from, to);
		if (edge == VTI_NONE)
			return;
		k->edge[1] = k->edge[0];
		k->edge_to[1] = k->edge_to[0];
		k->edge[0] = edge;
		k->edge_to[0] = to;
		i = 0;
	}
	((struct vti_simedge *)vt_hash_at(&s->truth.edges, k->edge[i]))->executions++;
}

/* What the processor need not tell: all before the next sample of cycles. */
static uint64_t next_due(const struct vt_simulate *s, const struct vti_simprocess *p)
{
	return s->o.truth || p->counters.events ? 0 : p->counters.due;
}

/* What a thread holds is executed, and goes on to `next`. */
static void run_pending_block(struct vt_simulate *s, struct vti_simthread *t, uint64_t next,
			      uint32_t to)
{
	struct vti_simblock *k = t->block;

	if (!k)
		return;
	t->block = NULL;
	if (t->whole) {
		s->totals.cycles += vt_simcore_run_block(t->process->core, &k->run, next,
							 next_due(s, t->process));
	} else {
		t->insn.next = next;
		t->process->position = t->position;
		vt_simcore_run(t->process->core, &t->insn);
	}
	if (s->o.truth)
		count_edge(s, k,
			   (uint32_t)(t->whole ? k->run.insns[k->run.ninsns - 1].tag : t->insn.tag),
			   to);
	/* Never a whole block then: run_step(). */
	if ((s->o.stack || t->process->counters.taken) && vt_sim_insn_taken(&t->insn)) {
		vti_simstack_push(&t->process->stack,
				  &(struct vti_simbranch){t->insn.addr, next, t->process->cycle,
							  t->process->mispredicted});
		vti_simcounters_take(&t->process->counters, t->process->cycle);
	}
	if (s->held_for == t)
		vti_sim_write_held(s);
}

/* Of what a thread holds, all but the last instruction is executed. */
static void release_most(struct vti_simthread *t)
{
	const struct vt_sim_block *b = t->block ? &t->block->run : NULL;
	uint32_t i;

	if (!b || !t->whole)
		return;
	for (i = 0; i + 1 < b->ninsns; i++)
		vt_simcore_run(t->process->core, &b->insns[i]);
	t->insn = b->insns[i];
	memcpy(t->accesses, t->insn.accesses, t->insn.naccesses * sizeof(t->accesses[0]));
	t->insn.accesses = t->accesses;
	t->whole = false;
}

/* A whole block is held, with the addresses of its accesses. */
static void keep_pending_block(struct vt_simulate *s, struct vti_simthread *t,
			       struct vti_simblock *k, const uint8_t *data)
{
	uint32_t i;

	for (i = 0; i < k->nslots; i++)
		k->accesses[i].addr = vt_le64(data + k->offsets[i]);
	s->totals.insns += k->run.ninsns;
	s->totals.loads += k->loads;
	s->totals.addressed += k->addressed;
	s->totals.undecoded += k->undecoded;
	t->block = k;
	t->whole = true;
}

/* What the block's slots say of where this instruction went in memory. */
static void find_accesses(const struct vti_simblock *k, const struct vti_siminsn *insn,
			  const struct vt_step *step, struct vti_simthread *t)
{
	uint32_t i, n = 0;

	for (i = 0; i < insn->naccesses && n < VTI_SIM_ACCESSES; i++) {
		const struct vti_simslot *a = &k->slots[insn->access + i];

		if (a->guard != UINT16_MAX && !vt_step_value(step, a->guard, 0))
			continue;
		t->accesses[n++] = (struct vt_sim_access){.addr = vt_step_value(step, a->slot, 0),
							  .size = a->size,
							  .store = a->store};
	}
	t->insn.naccesses = n;
}

/*
 * The place where control arrives, if it does so at a block's start, or where a run was cut: what
 * is held is no whole block then, release_most().
 */
static uint32_t arrives_at(const struct vti_simthread *t, const struct vti_simblock *k,
			   uint32_t insn)
{
	bool goes_on = insn && t->block == k && t->insn.tag == k->insns[insn - 1].place;

	return !insn || goes_on ? k->insns[insn].place : VTI_NONE;
}

/* `position`: instructions of the process before the step. */
static void run_step(struct vt_simulate *s, struct vti_simthread *t, const struct vt_step *step,
		     uint64_t position)
{
	struct vti_simblock *k = s->blocks[step->block->id];
	uint64_t addr =
		step->insn ? vt_bblock_insn_addr(step->block, step->insn) : step->block->addr;
	uint32_t i;

	run_pending_block(s, t, addr, s->o.truth ? arrives_at(t, k, step->insn) : VTI_NONE);
	t->whole = false;
	t->insn.accesses = t->accesses;
	for (i = step->insn; i < step->insn_end; i++) {
		const struct vti_siminsn *insn = &k->insns[i];

		t->insn.op = &insn->op;
		t->insn.tag = insn->place;
		t->insn.addr = addr;
		t->insn.target = 0;
		t->insn.naccesses = 0;
		addr += step->block->lengths[i];
		t->position = position + (i - step->insn);
		if (insn->naccesses)
			find_accesses(k, insn, step, t);
		vti_sim_count(insn, insn->naccesses != 0, &s->totals);
		if (i + 1 < step->insn_end) {
			t->insn.next = addr;
			t->process->position = t->position;
			vt_simcore_run(t->process->core, &t->insn);
		}
	}
	if (step->insn_end == step->block->ninsns)
		t->insn.target = step->block->target;
	t->block = k;
}

/* The block that is `i` behind the one at hand; NULL if that is none, or unknown. */
static inline struct vti_simblock *find_coming_block(const struct vt_simulate *s,
						     const struct vt_exec *x, uint32_t i)
{
	uint64_t id = i < x->blocks ? vt_exec_id(x, i) : UINT64_MAX;

	return id < s->nblocks ? s->blocks[id] : NULL;
}

/*
 * What is known of blocks does not fit into the host's caches: it is asked for while others run,
 * step by step, as each part contains the address of the next one.
 */
static inline void prefetch_blocks(const struct vt_simulate *s, const struct vt_exec *x)
{
	const struct vti_simblock *k;

	k = find_coming_block(s, x, 3);
	if (k)
		VT_PREFETCH(k);
	k = find_coming_block(s, x, 2);
	if (k && k->whole) {
		VT_PREFETCH(k->accesses);
		VT_PREFETCH(k->offsets);
		vt_sim_block_expect(&k->run, false);
	}
	k = find_coming_block(s, x, 1);
	if (k && k->whole)
		vt_sim_block_expect(&k->run, true);
}

/* Runs whole blocks as long as there are any. */
static void run_whole(struct vt_simulate *s, struct vti_simthread *t, struct vt_exec *x)
{
	struct vti_simblock *k = find_coming_block(s, x, 0);
	const uint8_t *data;
	size_t size;

	if (s->o.stack || s->o.misses || t->process->counters.taken)
		return;
	for (; k && k->whole; k = find_coming_block(s, x, 0)) {
		data = vt_exec_values(x, &size);
		if (!vt_exec_pass(x, k->run.ninsns, k->data_size))
			return;
		prefetch_blocks(s, x);
		run_pending_block(s, t, k->addr, s->o.truth ? k->insns[0].place : VTI_NONE);
		keep_pending_block(s, t, k, data);
	}
}

/* Another thread takes over its process's processor. */
static void switch_thread(struct vti_simthread *t)
{
	struct vti_simprocess *p = t->process;

	if (p->thread != t && p->thread) {
		vt_simcore_drain(p->core);
		p->stack.count = 0;
	}
	p->thread = t;
}

int vti_sim_exec(struct vt_simulate *s, const struct vt_record *rec, struct vt_error *err)
{
	struct vti_simthread *t = vti_sim_thread(s, vt_record_i64(rec, VT_EXEC_PID),
						 vt_record_i64(rec, VT_EXEC_TID), err);
	struct vt_step step;
	struct vt_exec x;
	uint64_t position;
	int code;

	if (!t)
		return -(int)err->code;
	s->totals.execs++;
	code = vt_exec_open(&x, vt_context_blocks(s->o.context), rec, err);
	if (code < 0)
		return code;
	switch_thread(t);
	t->time = x.time;
	do {
		run_whole(s, t, &x);
		position = x.first;
		code = vt_exec_next(&x, &step, err);
		if (code > 0)
			run_step(s, t, &step, position);
	} while (code > 0);
	/* Whatever comes between this record and the thread's next one comes after all this. */
	release_most(t);
	return code;
}

static void interrupt_simthread(struct vt_simulate *s, struct vti_simthread *t)
{
	if (!t->block)
		return;
	switch_thread(t);
	run_pending_block(s, t, 0, VTI_NONE);
	t->process->stack.count = 0;
}

void vti_sim_interrupt(struct vt_simulate *s, struct vti_simthread *t)
{
	size_t i;

	if (t) {
		interrupt_simthread(s, t);
		return;
	}
	for (i = 0; i < s->threads.count; i++) {
		struct thread_entry *e = vt_hash_at(&s->threads, i);

		if (e->thread)
			interrupt_simthread(s, e->thread);
	}
}
