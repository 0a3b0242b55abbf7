/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/pipeline/sim.h"

#include <stdlib.h>

#include "base/prefetch.h"
#include "machine/pipeline/branch.h"
#include "machine/pipeline/sim_internal.h"

/* A block that ran this often will run again. */
#define WORTH 8

/* ---- what both kinds of machine do ---- */

/* How many of its micro-operations are loads, or stores. */
static unsigned count_accesses(const struct vt_mop *op, bool store)
{
	unsigned i, n = 0;

	for (i = 0; i < op->nuops && i < VT_MOP_UOPS; i++)
		n += op->uops[i].op_class == (store ? VT_OP_STORE : VT_OP_LOAD);
	return n;
}

static struct vt_simmem_access access_memory(struct vt_simmem *mem, const struct vt_sim_access *at,
					     uint64_t cycle, struct vt_sim_retired *out)
{
	struct vt_simmem_access a = at->store ? vt_simmem_store(mem, cycle, at->addr, at->size)
					      : vt_simmem_load(mem, cycle, at->addr, at->size);

	if (!out->access_cycle)
		out->access_cycle = cycle;
	out->data_missed |= a.missed;
	return a;
}

struct vt_simmem_access vti_sim_access(struct vt_simmem *mem, const struct vt_sim_insn *insn,
				       bool store, unsigned nth, uint64_t cycle,
				       struct vt_sim_retired *out)
{
	struct vt_simmem_access a, slowest = {0};
	uint32_t i, n = 0;
	bool last;

	/* Nearly always there is just one. */
	if (insn->naccesses == 1 && insn->accesses->store == store && nth == 0)
		return access_memory(mem, insn->accesses, cycle, out);
	last = nth + 1 >= count_accesses(insn->op, store);
	for (i = 0; i < insn->naccesses; i++) {
		const struct vt_sim_access *at = &insn->accesses[i];

		if (at->store != store || n++ < nth)
			continue;
		a = access_memory(mem, at, cycle, out);
		if (a.cycles >= slowest.cycles)
			slowest = a;
		if (!last)
			break;
	}
	return slowest;
}

unsigned vti_sim_line_shift(const struct vt_core *m)
{
	uint32_t line = m->icache.size ? m->icache.line : 0;
	unsigned shift = 0;

	while (shift < 31 && (1u << (shift + 1)) <= line)
		shift++;
	return shift;
}

bool vt_sim_insn_taken(const struct vt_sim_insn *insn)
{
	uint32_t flags = insn->op->flags;

	return insn->next && flags & VT_FACT_BRANCH &&
	       (!(flags & VT_FACT_CONDITIONAL) || insn->next != insn->addr + insn->op->length);
}

static inline void begin_retired(struct vt_simcore *s, const struct vt_sim_insn *insn)
{
	s->insn = insn;
	s->out.fetch_missed = 0;
	s->out.data_missed = 0;
	s->out.access_cycle = 0;
	s->out.mispredicted = false;
}

/* `cost` is used until the next instruction: s->out points to it. */
static inline void end_insn(struct vt_simcore *s, const struct vt_inorder_cost *cost)
{
	s->out.tag = s->insn->tag;
	s->out.addr = s->insn->addr;
	s->out.cycle = cost->cycle;
	s->out.head = cost->head;
	s->out.used = cost->used;
	s->out.nstalls = cost->nstalls;
	s->out.stalls = cost->stalls;
}

static inline uint32_t insn_length(const struct vt_sim_insn *insn)
{
	return insn->op->length ? insn->op->length : 1;
}

/* ---- in order: what memory is asked ---- */

/* What it answered when the block was tried. */
static const struct answer *get_next_answer(struct trial *t)
{
	return t->given < t->nanswers ? &t->answers[t->given++] : NULL;
}

static void note_event(struct vt_simcore *s, struct vti_simask ask, uint64_t cycle, uint64_t answer)
{
	struct trial *t = s->trial;

	if (answer > UINT16_MAX || t->nevents == EVENTS || cycle - t->entry.base > UINT16_MAX) {
		t->failed = true;
		return;
	}
	ask.insn = (uint16_t)s->nth;
	t->asks[t->nevents] = ask;
	t->events[t->nevents++] = (struct vti_simevent){
		.cycle = (uint16_t)(cycle - t->entry.base),
		.answer = (uint16_t)answer,
	};
}

/* What a fetch that begins at `start` means to an instruction before which it is `cycle`. */
static uint64_t answer_of(uint64_t start, uint32_t cycles, uint64_t cycle, uint64_t base)
{
	uint64_t end = start + cycles;

	return cycles && end > cycle ? end - base : 0;
}

static struct vt_simmem_access ask_fetch(struct vt_simcore *s, uint64_t start, uint64_t addr,
					 uint32_t length)
{
	const struct answer *known = s->trial ? get_next_answer(s->trial) : NULL;
	struct vti_simask ask = {.kind = VTI_SIM_FETCH, .length = (uint8_t)length};
	struct vt_simmem_access a;
	uint64_t base, cycle = s->engine.cycle;

	a = known ? known->access : vt_simmem_fetch(s->mem, start, addr, length);
	if (!s->trial)
		return a;
	base = s->trial->entry.base;
	ask.offset = (uint16_t)(addr - s->trial->addr);
	s->trial->failed |= addr - s->trial->addr > UINT16_MAX;
	note_event(s, ask, base, answer_of(start, a.cycles, cycle > base ? cycle : base, base));
	return a;
}

static struct vt_simmem_access ask_access(struct vt_simcore *s, bool store, unsigned nth,
					  uint64_t cycle)
{
	const struct answer *known = get_next_answer(s->trial);
	const struct vt_sim_insn *insn = s->insn;
	struct vti_simask ask = {.kind = store ? VTI_SIM_STORE : VTI_SIM_LOAD, .nth = (uint8_t)nth};
	struct vt_simmem_access a;

	if (insn->naccesses == 1 && insn->accesses->store == store && nth == 0)
		ask.access = insn->accesses;
	if (known) {
		a = known->access;
		if (known->went && !s->out.access_cycle)
			s->out.access_cycle = cycle;
		s->out.data_missed |= a.missed;
	} else {
		a = vti_sim_access(s->mem, insn, store, nth, cycle, &s->out);
	}
	note_event(s, ask, cycle, a.cycles);
	return a;
}

/* ---- in order: an instruction ---- */

/*
 * The front end keeps ahead of the instruction that is issued by a group, so that a miss costs what
 * is left when all before it has been issued.
 */
static uint64_t when_fetched(const struct vt_simcore *s)
{
	uint64_t start = s->issued[(s->at - s->ahead) % RING];

	return start < s->front ? s->front : start;
}

static void fetch_inorder(struct vt_simcore *s, const struct vt_sim_insn *insn)
{
	uint32_t length = insn_length(insn);
	struct vt_simmem_access a;
	uint64_t start;

	if (!enters_line(s, insn->addr, length))
		return;
	start = when_fetched(s);
	s->out.fetch_cycle = start;
	a = ask_fetch(s, start, insn->addr, length);
	s->out.fetch_missed = a.missed;
	if (!a.cycles)
		return;
	s->front = start + a.cycles;
	vt_inorder_hold(&s->engine, start + a.tlb, VT_STALL_ITLB, insn->tag);
	vt_inorder_hold(&s->engine, s->front, VT_STALL_ICACHE, insn->tag);
}

static struct vt_simmem_access follow_access(struct vt_simcore *s, bool store, unsigned nth,
					     uint64_t cycle)
{
	uint32_t missed = s->out.data_missed;
	struct vt_simmem_access a;

	s->out.data_missed = 0;
	a = vti_sim_access(s->mem, s->insn, store, nth, cycle, &s->out);
	vti_follow_access(&s->follow, store, nth, s->out.data_missed, &a);
	s->out.data_missed |= missed;
	return a;
}

/* Of both kinds of machine: there are no trials out of order. */
static struct vt_simmem_access go_to_memory(void *arg, bool store, unsigned nth, uint64_t cycle)
{
	struct vt_simcore *s = arg;

	if (s->trial)
		return ask_access(s, store, nth, cycle);
	if (s->follow.on)
		return follow_access(s, store, nth, cycle);
	return vti_sim_access(s->mem, s->insn, store, nth, cycle, &s->out);
}

static void redirect_front(struct vt_simcore *s, uint64_t tag, uint64_t cycle)
{
	s->out.mispredicted = true;
	s->front = cycle + s->core->mispredict;
	vt_inorder_hold(&s->engine, s->front, VT_STALL_MISPREDICT, tag);
}

static void run_branch(struct vt_simcore *s, const struct vt_sim_insn *insn, uint64_t cycle)
{
	uint64_t fall = insn->addr + insn->op->length, to;

	to = vt_simbranch_predict(s->branches, insn->addr, insn->op->flags, fall, insn->target,
				  insn->next);
	vti_follow_note_direction(&s->follow, insn->op->flags, insn->next != fall);
	if (to != insn->next)
		redirect_front(s, insn->tag, cycle);
}

static void fetch_followed(struct vt_simcore *s, const struct vt_sim_insn *insn)
{
	uint64_t fetched = when_fetched(s);

	vti_follow_begin(&s->follow, insn);
	fetch_inorder(s, insn);
	s->follow.f->fetched = fetched;
	s->follow.f->placed = s->front > fetched ? s->front : fetched;
	s->follow.f->ready = vt_inorder_ready(&s->engine, insn->op);
}

static void run_inorder(struct vt_simcore *s, const struct vt_sim_insn *insn)
{
	bool followed = --s->follow.left == 0;
	struct vt_inorder_cost cost;

	begin_retired(s, insn);
	if (followed)
		fetch_followed(s, insn);
	else
		fetch_inorder(s, insn);
	vt_inorder_issue(&s->engine, insn->op, insn->tag, insn->naccesses ? go_to_memory : NULL, s,
			 &cost);
	s->issued[s->at++ % RING] = cost.cycle;
	if ((insn->op->flags & VT_FACT_BRANCH) && insn->next)
		run_branch(s, insn, cost.cycle);
	end_insn(s, &cost);
	s->out.done_cycle = s->engine.done;
	s->hooks.retire(s->hooks.arg, &s->out);
	if (followed)
		vti_follow_end(&s->follow, &s->out, NULL);
	if (!insn->next)
		s->follow.nhistory = 0;
}

/* ---- in order: a block ---- */

/* Fetches an instruction of a block, and tells what it waits for that. */
static uint64_t try_fetch(struct vt_simcore *s, const struct vti_simask *ask,
			  const struct vti_simrun *r, struct answer *a)
{
	struct trial *t = &s->room;
	uint64_t base = t->entry.base, start;
	uint32_t i = ask->insn;

	start = i < s->ahead ? s->issued[(s->at + i - s->ahead) % RING]
			     : base + vti_simrun_issued(r)[i - s->ahead];
	if (start < t->front)
		start = t->front;
	a->access = vt_simmem_fetch(s->mem, start, t->addr + ask->offset, ask->length);
	t->fetched = start;
	if (a->access.cycles)
		t->front = start + a->access.cycles;
	return answer_of(start, a->access.cycles, base + (i ? vti_simrun_issued(r)[i - 1] : 0),
			 base);
}

static uint64_t try_access(struct vt_simcore *s, const struct vt_sim_block *b,
			   const struct vti_simask *ask, uint64_t cycle, struct answer *a)
{
	const struct vt_sim_access *at = ask->access;
	struct vt_sim_retired *out = &s->out;
	bool store = ask->kind == VTI_SIM_STORE;

	/* Nearly always. */
	if (at) {
		a->access = store ? vt_simmem_store(s->mem, cycle, at->addr, at->size)
				  : vt_simmem_load(s->mem, cycle, at->addr, at->size);
		a->went = true;
		return a->access.cycles;
	}
	out->access_cycle = 0;
	out->data_missed = 0;
	a->access = vti_sim_access(s->mem, &b->insns[ask->insn], store, ask->nth, cycle, out);
	a->access.missed = out->data_missed;
	a->went = out->access_cycle != 0;
	return a->access.cycles;
}

/* Asks memory all that the block asks it, in order.  NULL if it is not known how that goes on. */
static const struct vti_simrun *try_run(struct vt_simcore *s, const struct vt_sim_block *b)
{
	const struct vti_simask *plan = vti_simmemo_plan(b->memo, s->room.entry.fetches);
	struct vti_simrun *r = vti_simmemo_find(b->memo, &s->room.entry);
	uint64_t answer;
	uint32_t i;

	s->room.from = NULL;
	s->room.front = s->front;
	s->room.fetched = s->out.fetch_cycle;
	for (i = 0; r && i < r->nevents; i++) {
		const struct vti_simevent *e = &vti_simrun_events(r)[i];
		struct answer *a = &s->room.answers[i];

		if (plan[i].kind == VTI_SIM_FETCH)
			answer = try_fetch(s, &plan[i], r, a);
		else
			answer = try_access(s, b, &plan[i], s->room.entry.base + e->cycle, a);
		s->room.nanswers = i + 1;
		if (answer > UINT16_MAX)
			return NULL;
		if (answer == e->answer)
			continue;
		s->room.from = r;
		s->room.at = i;
		r = vti_simmemo_other(b->memo, &s->room.entry, r, i, (uint16_t)answer);
	}
	return r;
}

/* The last instruction of a block, which was issued at `cycle`. */
static void end_block_run(struct vt_simcore *s, const struct vt_sim_block *b, uint64_t next)
{
	const struct vti_simends *e = vti_simmemo_ends(b->memo);
	uint64_t to;

	s->line = (e->fall - (e->fall != e->last)) >> s->line_shift;
	if (!next)
		s->follow.nhistory = 0;
	if (!(e->flags & VT_FACT_BRANCH) || !next)
		return;
	to = vt_simbranch_predict(s->branches, e->last, e->flags, e->fall, e->target, next);
	vti_follow_note_direction(&s->follow, e->flags, next != e->fall);
	if (to != next)
		redirect_front(s, b->insns[b->ninsns - 1].tag, s->engine.cycle);
}

static void apply_run(struct vt_simcore *s, const struct vt_sim_block *b, uint64_t next,
		      const struct vti_simrun *r)
{
	uint32_t i = b->ninsns > s->ahead ? b->ninsns - s->ahead : 0;

	vti_simmemo_apply(b->memo, &s->room.entry, r, &s->engine);
	for (; i < b->ninsns; i++)
		s->issued[(s->at + i) % RING] = s->room.entry.base + vti_simrun_issued(r)[i];
	s->at += b->ninsns;
	s->follow.left -= b->ninsns;
	s->front = s->room.front;
	s->out.fetch_cycle = s->room.fetched;
	end_block_run(s, b, next);
}

static void run_each(struct vt_simcore *s, const struct vt_sim_block *b, uint64_t next)
{
	b->insns[b->ninsns - 1].next = next;
	for (s->nth = 0; s->nth < b->ninsns; s->nth++) {
		run_inorder(s, &b->insns[s->nth]);
		if (s->trial)
			s->trial->issued[s->nth] = s->engine.cycle;
	}
}

/* Runs a block in a way that is not known yet, and remembers it. */
static void record_run(struct vt_simcore *s, const struct vt_sim_block *b, uint64_t next)
{
	struct trial *t = &s->room;
	struct vti_simdone done = {.before = &s->before, .after = &s->engine, .issued = t->issued};
	uint64_t latest = s->engine.latest;

	s->before = s->engine;
	s->engine.latest = 0;
	run_each(s, b, next);
	done.events = t->events;
	done.asks = t->asks;
	done.nevents = t->nevents;
	if (!t->failed)
		vti_simmemo_add(b->memo, &t->entry, &done, t->from, t->at);
	if (s->engine.latest < latest) {
		s->engine.latest = latest;
		s->engine.latest_by = s->before.latest_by;
	}
}

static bool prepare_entry(struct vt_simcore *s, struct vt_sim_block *b)
{
	const struct vti_simends *e;
	bool fetches;

	if (b->runs < WORTH && ++b->runs == WORTH)
		b->memo = vti_simmemo_new(s->core, b->insns, b->ninsns);
	if (!b->memo)
		return false;
	e = vti_simmemo_ends(b->memo);
	s->room.addr = e->addr;
	fetches = e->addr >> s->line_shift != s->line ||
		  (e->addr + e->length - 1) >> s->line_shift != s->line;
	return vti_simmemo_entry(b->memo, &s->engine, fetches, &s->room.entry);
}

/* Apart from what machines out of order do: registers are dear here. */
static uint64_t __attribute__((noinline))
run_block_inorder(struct vt_simcore *s, struct vt_sim_block *b, uint64_t next, uint64_t due)
{
	uint64_t before = s->engine.cycle;
	const struct vti_simrun *r;

	if (!prepare_entry(s, b)) {
		run_each(s, b, next);
		return 0;
	}
	s->room.nanswers = s->room.given = s->room.nevents = 0;
	s->room.failed = false;
	r = try_run(s, b);
	if (r && s->room.entry.base + r->end < due) {
		apply_run(s, b, next, r);
		return s->engine.cycle - before;
	}
	s->trial = &s->room;
	if (r)
		run_each(s, b, next);
	else
		record_run(s, b, next);
	s->trial = NULL;
	if (!vti_simmemo_pays(b->memo))
		vt_sim_block_fini(b);
	return 0;
}

/* ---- out of order: fetch ---- */

static struct vt_simmem_access fetch_ooo(void *arg, uint64_t cycle)
{
	struct vt_simcore *s = arg;
	struct vt_simmem_access a;

	a = fetch_bytes(s, cycle, s->insn->addr, insn_length(s->insn));
	s->out.fetch_missed = a.missed;
	return a;
}

static void note_lost(void *arg, uint64_t begin, uint64_t end)
{
	struct vt_simcore *s = arg;

	s->lost_begin = begin;
	s->lost_end = end;
}

/* ---- out of order: memory ---- */

static struct vt_ooo_place find_access(void *arg, bool store, unsigned nth)
{
	struct vt_simcore *s = arg;
	struct vt_ooo_place none = {0};
	uint32_t i, n = 0;

	for (i = 0; i < s->insn->naccesses; i++) {
		const struct vt_sim_access *at = &s->insn->accesses[i];

		if (at->store == store && n++ == nth)
			return (struct vt_ooo_place){at->addr, at->size};
	}
	return none;
}

static void run_ooo(struct vt_simcore *s, const struct vt_sim_insn *insn, bool brief,
		    struct vt_inorder_cost *cost)
{
	uint64_t fall = insn->addr + insn->op->length;
	bool followed = --s->follow.left == 0;
	struct vt_ooo_insn in = {
		.op = insn->op, .tag = insn->tag, .brief = brief, .followed = followed};
	struct vt_ooo_times times;

	begin_retired(s, insn);
	if (followed)
		vti_follow_begin(&s->follow, insn);
	if (insn->next) {
		in.taken = insn->next != fall || vt_sim_insn_taken(insn);
		s->predicted = vt_simbranch_predict(s->branches, insn->addr, insn->op->flags, fall,
						    insn->target, insn->next);
		in.mispredicted = s->predicted != insn->next;
		vti_follow_note_direction(&s->follow, insn->op->flags, in.taken);
	} else {
		s->follow.nhistory = 0;
	}
	vt_ooo_run(s->ooo, &in, cost, &times);
	s->cycle = cost->cycle;
	end_insn(s, cost);
	s->out.fetch_cycle = times.fetched;
	s->out.done_cycle = times.done;
	s->out.mispredicted = in.mispredicted;
	if (followed)
		vti_follow_end(&s->follow, &s->out, &times);
	if (in.mispredicted)
		vti_sim_go_astray(s, insn->op->flags);
}

static uint64_t run_block_ooo(struct vt_simcore *s, const struct vt_sim_block *b, uint64_t due)
{
	struct vt_inorder_cost cost;
	uint64_t head = 0;
	uint32_t i;

	for (i = 0; i < b->ninsns; i++) {
		run_ooo(s, &b->insns[i], true, &cost);
		if (cost.cycle < due)
			head += cost.head;
		else
			s->hooks.retire(s->hooks.arg, &s->out);
	}
	return head;
}

/* ---- the machine ---- */

static void tell_sim_miss(void *arg, const struct vt_simmem_miss *miss)
{
	struct vt_simcore *s = arg;
	const struct vt_sim_miss m = {
		.insn = s->insn,
		.miss = miss,
		.load = miss->store ? 0 : vti_follow_latency(s->insn->op, 0) + miss->access.cycles,
	};

	s->hooks.miss(s->hooks.arg, &m);
}

/* Instructions are fetched a group ahead. */
static uint32_t fetched_ahead(const struct vt_core *m)
{
	uint32_t n = m->fetch ? m->fetch : 1;

	return n < RING ? n : RING - 1;
}

struct vt_simcore *vt_simcore_new(const struct vt_core *m, const struct vt_sim_hooks *hooks,
				  struct vt_error *err)
{
	struct vt_ooo_hooks asked = {fetch_ooo, go_to_memory, find_access, note_lost, NULL};
	bool ooo = m->order == VT_OUT_OF_ORDER, astray = ooo && hooks->code;
	struct vt_simcore *s = calloc(1, sizeof(*s));

	if (s) {
		s->core = m;
		s->hooks = *hooks;
		s->line = UINT64_MAX;
		s->line_shift = vti_sim_line_shift(m);
		s->mem = vt_simmem_new(m);
		s->branches = vt_simbranch_new(m);
		vt_inorder_init(&s->engine, m);
		s->ahead = fetched_ahead(m);
		asked.arg = s;
		s->ooo = ooo ? vt_ooo_new(m, &asked) : NULL;
		s->astray = astray ? vti_astray_new(hooks->code, hooks->arg) : NULL;
		vti_follow_init(&s->follow, hooks, &s->followed);
	}
	if (s && s->mem && s->branches && (s->ooo || !ooo) && (s->astray || !astray)) {
		if (hooks->miss)
			vt_simmem_watch(s->mem, tell_sim_miss, s);
		return s;
	}
	vt_simcore_free(s);
	vt_error_nomem(err);
	return NULL;
}

void vt_simcore_free(struct vt_simcore *c)
{
	if (!c)
		return;
	vt_simmem_free(c->mem);
	vt_simbranch_free(c->branches);
	vt_ooo_free(c->ooo);
	vti_astray_free(c->astray);
	free(c);
}

void vt_simcore_run(struct vt_simcore *c, const struct vt_sim_insn *insn)
{
	struct vt_inorder_cost cost;

	if (!c->ooo) {
		run_inorder(c, insn);
		return;
	}
	run_ooo(c, insn, false, &cost);
	c->hooks.retire(c->hooks.arg, &c->out);
}

uint64_t vt_simcore_run_block(struct vt_simcore *c, struct vt_sim_block *b, uint64_t next,
			      uint64_t due)
{
	uint32_t i;

	/* What is followed is run by itself. */
	if (due && !c->ooo && c->follow.left > b->ninsns)
		return run_block_inorder(c, b, next, due);
	b->insns[b->ninsns - 1].next = next;
	if (due && c->ooo)
		return run_block_ooo(c, b, due);
	for (i = 0; i < b->ninsns; i++)
		vt_simcore_run(c, &b->insns[i]);
	return 0;
}

void vt_sim_block_expect(const struct vt_sim_block *b, bool soon)
{
	if (soon && b->memo) {
		vti_simmemo_expect(b->memo);
	} else if (!soon && b->memo) {
		VT_PREFETCH(b->memo);
		VT_PREFETCH((const char *)b->memo + 64);
	} else if (!soon) {
		VT_PREFETCH(b->insns);
	}
}

void vt_sim_block_fini(struct vt_sim_block *b)
{
	vti_simmemo_free(b->memo);
	b->memo = NULL;
}

void vt_simcore_follow(struct vt_simcore *c, uint64_t n)
{
	c->follow.left = n;
}

uint64_t vt_simcore_astray(const struct vt_simcore *c, uint64_t *empty)
{
	*empty = c->nempty;
	return c->nastray;
}

void vt_simcore_drain(struct vt_simcore *c)
{
	/* Another thread's branches are others. */
	c->follow.nhistory = 0;
	/* Out of order, all that has been given is retired, and nothing hangs on what comes. */
	if (!c->ooo)
		vt_inorder_drain(&c->engine);
}

uint64_t vt_simcore_cycle(const struct vt_simcore *c)
{
	return c->ooo ? c->cycle : c->engine.cycle;
}
