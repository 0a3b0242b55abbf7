/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "machine/pipeline/branch.h"
#include "machine/pipeline/memo.h"
#include "machine/pipeline/memory.h"
#include "machine/pipeline/sim_internal.h"

/* A power of 2, more than instructions are fetched ahead. */
#define RING 64

/* A block that ran this often will run again. */
#define WORTH 8

/* More of what a block asks of memory is not remembered. */
#define EVENTS 256

/* What memory has answered. */
struct answer {
	struct vt_simmem_access access;
	bool went; /* an access was made */
};

/* A block is tried by what is known of it, or run to know more. */
struct trial {
	struct vti_simentry entry;
	uint32_t nanswers; /* of memory, so far */
	uint32_t given;	   /* of these again */
	struct answer answers[EVENTS];
	uint64_t front;		 /* of the machine, as far as it has been tried */
	uint64_t fetched;	 /* the cycle of the last fetch, likewise */
	struct vti_simrun *from; /* the last that was known, up to an event, */
	uint32_t at;		 /* which */
	bool failed;		 /* it is not to be remembered */
	uint64_t addr;		 /* where the block begins */
	uint32_t nevents;
	struct vti_simevent events[EVENTS];
	struct vti_simask asks[EVENTS];
	uint64_t issued[VTI_SIMMEMO_INSNS];
};

struct vti_siminorder {
	const struct vt_core *core; /* borrowed */
	struct vt_sim_hooks hooks;
	struct vt_simmem *mem;
	struct vt_simbranch *branches;
	struct vt_inorder engine;
	uint64_t line; /* the number of that which was fetched last */
	unsigned line_shift;
	uint64_t front; /* when the front end has mastered all misses and wrong branches so far */
	uint32_t ahead; /* instructions that are fetched before they can be issued */
	uint64_t issued[RING]; /* when the last instructions were */
	uint32_t at;
	const struct vt_sim_insn *insn; /* at hand */
	struct vt_sim_retired out;
	struct trial *trial; /* at hand; NULL: none is */
	uint32_t nth;	     /* instruction of its block */
	struct trial room;
	struct vt_inorder before;
};

/* Instructions are fetched a group ahead. */
static uint32_t fetched_ahead(const struct vt_core *m)
{
	uint32_t n = m->fetch ? m->fetch : 1;

	return n < RING ? n : RING - 1;
}

struct vti_siminorder *vti_siminorder_new(const struct vt_core *m, const struct vt_sim_hooks *hooks)
{
	struct vti_siminorder *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->core = m;
	s->hooks = *hooks;
	s->mem = vt_simmem_new(m);
	s->branches = vt_simbranch_new(m);
	if (!s->mem || !s->branches) {
		vti_siminorder_free(s);
		return NULL;
	}
	vt_inorder_init(&s->engine, m);
	s->line_shift = vti_sim_line_shift(m);
	s->line = UINT64_MAX;
	s->ahead = fetched_ahead(m);
	return s;
}

void vti_siminorder_free(struct vti_siminorder *s)
{
	if (!s)
		return;
	vt_simmem_free(s->mem);
	vt_simbranch_free(s->branches);
	free(s);
}

uint64_t vti_siminorder_cycle(const struct vti_siminorder *s)
{
	return s->engine.cycle;
}

/* ---- what memory is asked ---- */

/* What it answered when the block was tried. */
static const struct answer *again(struct trial *t)
{
	return t->given < t->nanswers ? &t->answers[t->given++] : NULL;
}

static void note(struct vti_siminorder *s, struct vti_simask ask, uint64_t cycle, uint64_t answer)
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

static struct vt_simmem_access ask_fetch(struct vti_siminorder *s, uint64_t start, uint64_t addr,
					 uint32_t length)
{
	const struct answer *known = s->trial ? again(s->trial) : NULL;
	struct vti_simask ask = {.kind = VTI_SIM_FETCH, .length = (uint8_t)length};
	struct vt_simmem_access a;
	uint64_t base, cycle = s->engine.cycle;

	a = known ? known->access : vt_simmem_fetch(s->mem, start, addr, length);
	if (!s->trial)
		return a;
	base = s->trial->entry.base;
	ask.offset = (uint16_t)(addr - s->trial->addr);
	s->trial->failed |= addr - s->trial->addr > UINT16_MAX;
	note(s, ask, base, answer_of(start, a.cycles, cycle > base ? cycle : base, base));
	return a;
}

static struct vt_simmem_access ask_access(struct vti_siminorder *s, bool store, unsigned nth,
					  uint64_t cycle)
{
	const struct answer *known = again(s->trial);
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
	note(s, ask, cycle, a.cycles);
	return a;
}

/* ---- an instruction ---- */

/*
 * The front end keeps ahead of the instruction that is issued by a group, so that a miss costs what
 * is left when all before it has been issued.  Only the first fetch from a line can miss.
 */
static void fetch(struct vti_siminorder *s, const struct vt_sim_insn *insn)
{
	uint32_t length = insn->op->length ? insn->op->length : 1;
	uint64_t first = insn->addr >> s->line_shift;
	uint64_t last = (insn->addr + length - 1) >> s->line_shift;
	struct vt_simmem_access a;
	uint64_t start;

	s->out.fetch_missed = 0;
	if (first == s->line && last == first)
		return;
	start = s->issued[(s->at - s->ahead) % RING];
	if (start < s->front)
		start = s->front;
	s->out.fetch_cycle = start;
	s->line = last;
	a = ask_fetch(s, start, insn->addr, length);
	s->out.fetch_missed = a.missed;
	if (!a.cycles)
		return;
	s->front = start + a.cycles;
	vt_inorder_hold(&s->engine, start + a.tlb, VT_STALL_ITLB, insn->tag);
	vt_inorder_hold(&s->engine, s->front, VT_STALL_ICACHE, insn->tag);
}

static struct vt_simmem_access go_to_memory(void *arg, bool store, unsigned nth, uint64_t cycle)
{
	struct vti_siminorder *s = arg;

	if (s->trial)
		return ask_access(s, store, nth, cycle);
	return vti_sim_access(s->mem, s->insn, store, nth, cycle, &s->out);
}

static void mispredict(struct vti_siminorder *s, uint64_t tag, uint64_t cycle)
{
	s->out.mispredicted = true;
	s->front = cycle + s->core->mispredict;
	vt_inorder_hold(&s->engine, s->front, VT_STALL_MISPREDICT, tag);
}

static void branch(struct vti_siminorder *s, const struct vt_sim_insn *insn, uint64_t cycle)
{
	uint64_t fall = insn->addr + insn->op->length, to;

	to = vt_simbranch_predict(s->branches, insn->addr, insn->op->flags, fall, insn->target,
				  insn->next);
	if (to != insn->next)
		mispredict(s, insn->tag, cycle);
}

void vti_siminorder_run(struct vti_siminorder *s, const struct vt_sim_insn *insn)
{
	struct vt_inorder_cost cost;

	s->insn = insn;
	s->out.access_cycle = 0;
	s->out.data_missed = 0;
	s->out.mispredicted = false;
	fetch(s, insn);
	vt_inorder_issue(&s->engine, insn->op, insn->tag, insn->naccesses ? go_to_memory : NULL, s,
			 &cost);
	s->issued[s->at++ % RING] = cost.cycle;
	if ((insn->op->flags & VT_FACT_BRANCH) && insn->next)
		branch(s, insn, cost.cycle);
	s->out.tag = insn->tag;
	s->out.addr = insn->addr;
	s->out.cycle = cost.cycle;
	s->out.head = cost.head;
	s->out.used = cost.used;
	s->out.done_cycle = s->engine.done;
	s->out.nstalls = cost.nstalls;
	s->out.stalls = cost.stalls;
	s->hooks.retire(s->hooks.arg, &s->out);
}

/* ---- a block ---- */

/* Fetches an instruction of a block, and tells what it waits for that. */
static uint64_t try_fetch(struct vti_siminorder *s, const struct vti_simask *ask,
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

static uint64_t try_access(struct vti_siminorder *s, const struct vt_sim_block *b,
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
static const struct vti_simrun *try_run(struct vti_siminorder *s, const struct vt_sim_block *b)
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
static void leave(struct vti_siminorder *s, const struct vt_sim_block *b, uint64_t next)
{
	const struct vti_simends *e = vti_simmemo_ends(b->memo);
	uint64_t to;

	s->line = (e->fall - (e->fall != e->last)) >> s->line_shift;
	if (!(e->flags & VT_FACT_BRANCH) || !next)
		return;
	to = vt_simbranch_predict(s->branches, e->last, e->flags, e->fall, e->target, next);
	if (to != next)
		mispredict(s, b->insns[b->ninsns - 1].tag, s->engine.cycle);
}

static void finish(struct vti_siminorder *s, const struct vt_sim_block *b, uint64_t next,
		   const struct vti_simrun *r)
{
	uint32_t i = b->ninsns > s->ahead ? b->ninsns - s->ahead : 0;

	vti_simmemo_apply(b->memo, &s->room.entry, r, &s->engine);
	for (; i < b->ninsns; i++)
		s->issued[(s->at + i) % RING] = s->room.entry.base + vti_simrun_issued(r)[i];
	s->at += b->ninsns;
	s->front = s->room.front;
	s->out.fetch_cycle = s->room.fetched;
	leave(s, b, next);
}

static void run_each(struct vti_siminorder *s, const struct vt_sim_block *b, uint64_t next)
{
	b->insns[b->ninsns - 1].next = next;
	for (s->nth = 0; s->nth < b->ninsns; s->nth++) {
		vti_siminorder_run(s, &b->insns[s->nth]);
		if (s->trial)
			s->trial->issued[s->nth] = s->engine.cycle;
	}
}

/* Runs a block in a way that is not known yet, and remembers it. */
static void learn(struct vti_siminorder *s, const struct vt_sim_block *b, uint64_t next)
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

static bool remembers(struct vti_siminorder *s, struct vt_sim_block *b)
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

uint64_t vti_siminorder_run_block(struct vti_siminorder *s, struct vt_sim_block *b, uint64_t next,
				  uint64_t due)
{
	uint64_t before = s->engine.cycle;
	const struct vti_simrun *r;

	if (!remembers(s, b)) {
		run_each(s, b, next);
		return 0;
	}
	s->room.nanswers = s->room.given = s->room.nevents = 0;
	s->room.failed = false;
	r = try_run(s, b);
	if (r && s->room.entry.base + r->end < due) {
		finish(s, b, next, r);
		return s->engine.cycle - before;
	}
	s->trial = &s->room;
	if (r)
		run_each(s, b, next);
	else
		learn(s, b, next);
	s->trial = NULL;
	if (!vti_simmemo_pays(b->memo))
		vt_sim_block_fini(b);
	return 0;
}

void vti_siminorder_drain(struct vti_siminorder *s)
{
	vt_inorder_drain(&s->engine);
}
