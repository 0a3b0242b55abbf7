/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/pipeline/ooo.h"

#include <stdlib.h>
#include <string.h>

#include "machine/pipeline/ooo_decode.h"
#include "machine/pipeline/ooo_internal.h"
#include "machine/pipeline/ooo_queue.h"
#include "machine/pipeline/symbolic.h"

/* Cycles of which it is known what is issued in them: a power of 2. */
#define CYCLES 4096

/* Registers that a program sees: they hold values even when nothing is under way. */
#define ARCHITECTURAL 16

#define VECTORS (UINT64_MAX << VT_REG_VECTOR)
#define INTS	(~VECTORS & ~(UINT64_C(1) << VT_REG_FLAGS))

/* What is issued in a cycle. */
struct issues {
	uint64_t cycle; /* which it is; earlier ones that share its place are over */
	uint32_t units; /* that are busy */
	uint32_t n;
	uint64_t loaded; /* an address; 0: none is known */
};

/* A store that may not have been written yet. */
struct stored {
	uint64_t addr;
	uint64_t end;
	struct value value;
	uint64_t written;
	bool plain; /* its address has no index */
};

struct vt_ooo {
	const struct vt_core *m;
	struct vt_ooo_hooks hooks;
	uint32_t depth; /* stages from fetch to issue, at least 1 */
	uint32_t known; /* units that there are */
	struct lane fetch;
	struct lane place;
	struct lane retire;
	bool started;
	uint64_t redirect; /* nothing is fetched before, */
	uint8_t redirect_cause;
	uint64_t redirect_by; /* because of this one */
	struct front front;
	uint64_t hold;	       /* nothing is issued before */
	uint64_t latest;       /* when all before is done, */
	uint64_t last_by;      /* and the last of it */
	struct places fetched; /* between fetch and reorder buffer */
	struct places rob;
	struct places loads;
	struct places stores;
	struct places ints;
	struct places fps;
	struct vti_oooqueue queue;
	struct value values[VT_NREGS];
	uint64_t uses[VT_CORE_UNITS];
	struct issues *issues; /* CYCLES of them */
	/* The store queue's contents, a ring. */
	struct stored *stored;
	uint32_t nstored;
	uint32_t next_stored;
	uint64_t written;      /* the latest store, */
	uint64_t written_line; /* its line, */
	uint32_t nwritten;     /* and how many of that line were written in its cycle */
	/* Of code that comes from memory. */
	bool uncached;
	struct vti_decode decode;
	/* Where no hook tells places. */
	struct vti_symbolic *symbolic; /* NULL: one does */
	struct vt_ooo_place load;      /* of the current instruction */
	struct vt_ooo_place store;
	uint32_t int_units; /* of class "int" */
	bool stack_moved;   /* by pushes and pops, which renaming has not added up */
};

/* ---- the front end ---- */

static void fetch_step(struct vt_ooo *e, struct step *x)
{
	struct vt_simmem_access a = {0};
	uint64_t at = vti_places_when(&e->fetched, 1);

	if (e->redirect > at)
		at = e->redirect;
	if (e->redirect > e->fetch.cycle && at == e->redirect) {
		e->front.cause = e->redirect_cause;
		e->front.by = e->redirect_by;
		e->front.until = at + 2 * (uint64_t)e->depth;
	}
	if (e->uncached)
		x->begun = vti_decode_run(&e->decode, e->m, x->in->op, at);
	else
		x->begun = vti_lane_take(&e->fetch, at, 1);
	x->front = e->front;
	if (e->hooks.fetch)
		a = e->hooks.fetch(e->hooks.arg, x->begun);
	x->translated = x->begun + a.tlb;
	x->fetched = x->begun + a.cycles;
	if (a.cycles) {
		e->fetch.cycle = x->fetched;
		e->fetch.used = 1;
		e->front.cause = a.cache ? VT_STALL_ICACHE : VT_STALL_ITLB;
		e->front.by = x->in->tag;
		e->front.until = x->fetched + 2 * (uint64_t)e->depth;
	}
	if (x->in->taken)
		e->fetch.used = e->fetch.width;
}

static uint32_t count_bits(uint64_t bits)
{
	uint32_t n = 0;

	for (; bits; bits &= bits - 1)
		n++;
	return n;
}

static void count_needs(struct step *x)
{
	const struct vt_mop *op = x->in->op;
	struct needs n = {.slots = op->slots ? op->slots : 1};
	unsigned i;

	for (i = 0; i < x->nuops; i++) {
		n.loads += op->uops[i].op_class == VT_OP_LOAD;
		n.stores += op->uops[i].op_class == VT_OP_STORE;
		n.queued += op->uops[i].op_class != VT_OP_NOP;
	}
	n.ints = count_bits(op->writes & INTS);
	n.fps = count_bits(op->writes & VECTORS);
	x->needs = n;
}

/* When there is room everywhere; *cause becomes why it is later than `at`. */
static uint64_t when_room(struct vt_ooo *e, const struct needs *n, uint64_t at, uint8_t *cause)
{
	uint64_t when = at, t;

	t = vti_places_when(&e->rob, n->slots);
	when = t > when ? t : when;
	t = vti_places_when(&e->loads, n->loads);
	when = t > when ? t : when;
	t = vti_places_when(&e->ints, n->ints);
	when = t > when ? t : when;
	t = vti_places_when(&e->fps, n->fps);
	when = t > when ? t : when;
	when = vti_oooqueue_when(&e->queue, when, n->queued);
	if (when > at)
		*cause = VT_STALL_QUEUE;
	t = vti_places_when(&e->stores, n->stores);
	if (t > when) {
		*cause = VT_STALL_WRITE_BUFFER;
		when = t;
	}
	return when;
}

/*
 * Pushes and pops move the stack pointer in the front end.  Who else uses it needs an addition
 * before it.
 */
static bool needs_stack_sync(struct vt_ooo *e, const struct vt_mop *op)
{
	const uint64_t stack = UINT64_C(1) << VT_REG_SP;
	bool moved = e->stack_moved && e->m->stack_sync;

	if (op->moves) {
		e->stack_moved = true;
		return moved && op->reads & stack;
	}
	if ((op->reads | op->address_reads | op->writes) & stack)
		e->stack_moved = false;
	return moved && (op->reads | op->address_reads) & stack;
}

static void place_step(struct vt_ooo *e, struct step *x)
{
	uint64_t came = x->fetched + e->depth - 1;
	uint64_t at = came > e->place.cycle ? came : e->place.cycle;

	x->late = VT_STALL_SLOTTING;
	count_needs(x);
	x->syncs_stack = needs_stack_sync(e, x->in->op);
	x->needs.slots += x->syncs_stack;
	at = when_room(e, &x->needs, at, &x->late);
	if (x->late != VT_STALL_SLOTTING)
		/* The window is full: whatever had emptied the front end is made up for. */
		e->front.until = 0;
	vti_lane_take(&e->place, at, x->needs.slots);
	x->placed = e->place.cycle;
	vti_places_take(&e->fetched, 1, x->placed);
}

/* ---- issue ---- */

static struct issues *issues_at(struct vt_ooo *e, uint64_t cycle)
{
	struct issues *i = &e->issues[cycle & (CYCLES - 1)];

	if (i->cycle < cycle)
		*i = (struct issues){.cycle = cycle};
	return i;
}

/* Units of these that are free in `busy` cycles from `cycle` on. */
static uint32_t free_units(struct vt_ooo *e, uint64_t cycle, uint32_t units, uint32_t busy)
{
	uint32_t n;

	for (n = 0; n < busy && n < CYCLES / 2 && units; n++) {
		const struct issues *i = issues_at(e, cycle + n);

		if (i->cycle == cycle + n)
			units &= ~i->units;
	}
	return units;
}

/* The unit that has been used least. */
static uint32_t choose_unit(const struct vt_ooo *e, uint32_t units)
{
	uint32_t best = (uint32_t)__builtin_ctz(units), i;

	for (units &= units - 1; units; units &= units - 1) {
		i = (uint32_t)__builtin_ctz(units);
		if (e->uses[i] < e->uses[best])
			best = i;
	}
	return best;
}

/* Two loads of one cycle in one bank, but not in one line. */
static bool conflicts(const struct vt_ooo *e, const struct issues *i, uint64_t load)
{
	uint64_t differ = i->loaded ^ load;

	return e->m->banks && i->loaded && load && !(differ & (e->m->banks - 4)) &&
	       differ >= e->m->banks;
}

/*
 * Gives the micro-operation a unit and a cycle not before `at`, which is returned; `load` is the
 * address of a load, or 0.
 */
static uint64_t issue_uop_at(struct vt_ooo *e, const struct vt_uop *u, uint64_t at, uint64_t load)
{
	uint32_t width = e->m->issue ? e->m->issue : 1, busy = u->busy ? u->busy : 1;
	uint32_t units = u->units & e->known, free, unit, n;
	struct issues *now;

	for (;; at++) {
		now = issues_at(e, at);
		/* So far ahead of this cycle are others that it is no longer known. */
		if (now->cycle != at)
			return at;
		if (now->n >= width)
			continue;
		if (!units)
			break;
		free = units & ~now->units;
		if (free && busy > 1)
			free = free_units(e, at, free, busy);
		if (free && !conflicts(e, now, load))
			break;
		/* A load that conflicts has been sent in vain. */
		if (free) {
			now->units |= free & -free;
			now->n++;
		}
	}
	now->n++;
	if (load)
		now->loaded = load;
	if (!units)
		return at;
	unit = choose_unit(e, free);
	e->uses[unit] += busy;
	for (n = 0; n < busy && n < CYCLES / 2; n++) {
		now = issues_at(e, at + n);
		if (now->cycle == at + n)
			now->units |= 1u << unit;
	}
	return at;
}

/* ---- operands and memory ---- */

/* Of the current instruction's n-th load or store. */
static struct vt_ooo_place find_accessed(const struct vt_ooo *e, bool store, unsigned nth)
{
	static const struct vt_ooo_place unknown = {0};

	if (e->hooks.place)
		return e->hooks.place(e->hooks.arg, store, nth);
	if (nth)
		return unknown;
	return store ? e->store : e->load;
}

static void await_operands(const struct vt_ooo *e, const struct step *x, const struct vt_uop *u,
			   unsigned n, struct running *r)
{
	const struct vt_mop *op = x->in->op;
	uint64_t regs = (u->operands & VT_UOP_READS ? op->reads : 0) |
			(u->operands & VT_UOP_ADDRESS ? op->address_reads : 0);
	const struct value *v;
	uint64_t ready;
	unsigned reg;

	for (; regs; regs &= regs - 1) {
		reg = (unsigned)__builtin_ctzll(regs);
		v = &e->values[reg];
		ready = v->ready;
		if (op->late >> reg & 1)
			ready -= ready < op->lateness ? ready : op->lateness;
		if (ready <= r->ready)
			continue;
		r->ready = ready;
		r->bound = BOUND_OPERAND;
		r->operand = *v;
		r->reg = reg;
	}
	if (n && (u->operands & VT_UOP_PREVIOUS) && x->uops[n - 1].done > r->ready) {
		r->ready = x->uops[n - 1].done;
		r->bound = BOUND_PREVIOUS;
	}
	if ((u->op_class == VT_OP_SYNC || u->op_class == VT_OP_SLOW) && e->latest > r->ready) {
		r->ready = e->latest;
		r->bound = BOUND_ORDER;
		r->operand.by = e->last_by;
	}
	if (e->hold > r->ready) {
		r->ready = e->hold;
		r->bound = BOUND_ORDER;
		r->operand.by = e->redirect_by;
	}
}

static bool has_index(const struct vt_mop_sum *place)
{
	return place->index != VT_REG_NONE;
}

/*
 * On Golden Cove, as measured, forwarding takes no time if the load begins where the store does and
 * neither address has an index; their base registers may differ.  The load is into a general
 * register, or part of an operation in memory that reads no register.
 */
static bool is_renamed(const struct vt_ooo *e, const struct stored *s, const struct vt_mop *op,
		       struct vt_ooo_place p)
{
	return e->m->eliminates & VT_ELIMINATE_LOAD && s->plain &&
	       (op->target != VT_REG_NONE || (op->store.size && !op->reads)) && op->load.size &&
	       !has_index(&op->load) && s->addr == p.addr && p.addr + p.size <= s->end;
}

/*
 * The youngest older store of the same bytes that is not written when a load begins.  True if the
 * load has its data from there.
 */
static bool forward_store(const struct vt_ooo *e, const struct vt_mop *op, struct vt_ooo_place p,
			  struct running *r)
{
	uint64_t end = p.addr + p.size, from;
	uint32_t i, n;

	for (n = 0, i = e->next_stored; n < e->nstored; n++) {
		const struct stored *s = &e->stored[i = i ? i - 1 : e->nstored - 1];

		if (s->written <= r->issued)
			break;
		if (s->addr >= end || p.addr >= s->end)
			continue;
		from = r->issued;
		r->addressed = r->ready;
		if (s->value.ready > from) {
			from = s->value.ready;
			r->bound = BOUND_OPERAND;
			r->operand = s->value;
			r->reg = VT_NREGS;
			r->ready = from;
		}
		r->made = from + (is_renamed(e, s, op, p) ? 0 : e->m->forward);
		if (s->addr > p.addr || end > s->end) {
			/* Then it must be written before. */
			if (s->written > r->made)
				r->made = s->written;
			r->forward =
				e->m->blocked > e->m->forward ? e->m->blocked - e->m->forward : 0;
		}
		return true;
	}
	return false;
}

/* A distance of up to 11 bits is added to a loaded pointer on the way to the cache. */
#define POINTER_REACH 2048

static bool follows_pointer(const struct vt_ooo *e, const struct vt_mop *op)
{
	const struct vt_mop_sum *m = &op->load;

	return e->m->pointer && m->size && m->size <= 8 && m->base < VT_NREGS &&
	       m->index == VT_REG_NONE && m->segment == VT_REG_NONE && m->displacement >= 0 &&
	       m->displacement < POINTER_REACH && e->values[m->base].pointer;
}

static void run_load(struct vt_ooo *e, struct step *x, unsigned n, unsigned nth)
{
	struct running *r = &x->uops[n];
	struct vt_ooo_place p = {0};
	struct vt_simmem_access a;

	if (e->nstored)
		p = find_accessed(e, false, nth);
	if (p.size && forward_store(e, x->in->op, p, r)) {
		x->forwarded |= 1u << n;
		return;
	}
	if (!e->hooks.access)
		return;
	a = e->hooks.access(e->hooks.arg, false, nth, r->issued);
	r->tlb = a.tlb;
	r->cache = a.cycles - a.tlb;
}

static void sync_stack(struct vt_ooo *e, const struct step *x)
{
	const struct vt_uop add = {.units = e->int_units, .busy = 1};
	struct value *sp = &e->values[VT_REG_SP];
	uint64_t ready = x->placed + 1;

	sp->ready =
		issue_uop_at(e, &add, sp->ready > ready ? sp->ready : ready, 0) + e->m->stack_sync;
}

static void run_uop(struct vt_ooo *e, struct step *x, unsigned n, unsigned *loads)
{
	const struct vt_uop *u = &x->in->op->uops[n];
	struct running *r = &x->uops[n];
	uint64_t load = u->op_class == VT_OP_LOAD && e->symbolic ? e->load.addr : 0;

	/* The rest is only looked at where `bound` says so. */
	r->bound = BOUND_FRONT;
	r->ready = x->placed + 1;
	r->tlb = r->cache = r->forward = 0;
	await_operands(e, x, u, n, r);
	r->issued = u->op_class == VT_OP_NOP ? r->ready : issue_uop_at(e, u, r->ready, load);
	if (u->op_class != VT_OP_NOP)
		vti_oooqueue_push(&e->queue, r->issued);
	r->made = r->issued + u->latency;
	if (u->op_class == VT_OP_LOAD && follows_pointer(e, x->in->op) &&
	    u->latency == e->m->classes[VT_OP_LOAD].latency)
		r->made = r->issued + e->m->pointer;
	if (u->op_class == VT_OP_LOAD)
		run_load(e, x, n, (*loads)++);
	r->done = r->made + r->tlb + r->cache + r->forward;
	if (r->done > x->done)
		x->done = r->done;
}

/* Copies that renaming makes are what they were copied from. */
static bool makes_pointer(const struct vt_ooo *e, const struct step *x)
{
	const struct vt_mop *op = x->in->op;

	if (op->result == VT_RESULT_LOAD)
		return op->load.size == 8;
	return op->result == VT_RESULT_SUM && op->sum.size == 8 && op->sum.base < VT_NREGS &&
	       x->nuops == 1 && op->uops[0].op_class == VT_OP_NOP &&
	       e->values[op->sum.base].pointer;
}

static void publish_values(struct vt_ooo *e, const struct step *x)
{
	const struct vt_mop *op = x->in->op;
	struct value v = {.by = x->in->tag, .pointer = makes_pointer(e, x)};
	bool dynamic = false;
	uint64_t regs;
	unsigned i;

	for (i = 0; i < x->nuops; i++) {
		const struct running *r = &x->uops[i];

		dynamic = (dynamic && r->bound == BOUND_PREVIOUS) || r->done > r->made;
		if (!(op->uops[i].operands & VT_UOP_WRITES))
			continue;
		if (r->done >= v.ready) {
			v.ready = r->done;
			v.dynamic = dynamic;
		}
	}
	for (regs = op->writes; regs; regs &= regs - 1)
		e->values[__builtin_ctzll(regs)] = v;
	if (x->done > e->latest) {
		e->latest = x->done;
		e->last_by = x->in->tag;
	}
}

/* ---- retirement ---- */

#define LINE 64

/*
 * Stores are written after they retire: one a cycle, or vt_core.written of one line.  Golden Cove
 * writes two, as measured.
 */
static uint64_t find_write_cycle(struct vt_ooo *e, struct vt_ooo_place p)
{
	const uint64_t line = p.addr / LINE;

	if (p.size && e->written > e->retire.cycle && e->nwritten < e->m->written &&
	    line == e->written_line) {
		e->nwritten++;
		return e->written;
	}
	e->nwritten = 1;
	e->written_line = line;
	return (e->retire.cycle > e->written ? e->retire.cycle : e->written) + 1;
}

static void write_stores(struct vt_ooo *e, const struct step *x)
{
	const struct vt_mop *op = x->in->op;
	struct vt_simmem_access a = {0};
	struct vt_ooo_place p = {0};
	struct stored *s;
	unsigned i, nth = 0;
	uint64_t at;

	for (i = 0; i < x->nuops; i++) {
		if (op->uops[i].op_class != VT_OP_STORE)
			continue;
		p = find_accessed(e, true, nth);
		at = find_write_cycle(e, p);
		if (e->hooks.access)
			a = e->hooks.access(e->hooks.arg, true, nth, at);
		nth++;
		e->written = at + a.cycles;
		vti_places_take(&e->stores, 1, e->written);
		if (!e->nstored)
			continue;
		s = &e->stored[e->next_stored];
		e->next_stored = (e->next_stored + 1) % e->nstored;
		s->addr = p.addr;
		s->end = p.addr + p.size;
		s->plain = op->store.size && !has_index(&op->store);
		s->value = (struct value){.ready = x->uops[i].done, .by = x->in->tag};
		s->written = e->written;
	}
}

static void retire_step(struct vt_ooo *e, const struct step *x, struct vt_inorder_cost *cost)
{
	struct lane before = e->retire;
	uint64_t first, free;

	if (!e->started) {
		/* The first one would have come right behind others. */
		before = e->retire = (struct lane){x->done - 1, before.width, before.width};
		e->started = true;
	}
	first = vti_lane_take(&e->retire, x->done, x->needs.slots);
	cost->cycle = e->retire.cycle;
	cost->head = e->retire.cycle - before.cycle;
	cost->nstalls = 0;
	cost->used = cost->head * e->retire.width;
	if (first > before.cycle && !x->in->brief)
		vti_ooo_explain(x, &before, first, cost);
	free = cost->cycle + 1;
	vti_places_take(&e->rob, x->needs.slots, free);
	vti_places_take(&e->loads, x->needs.loads, free);
	vti_places_take(&e->ints, x->needs.ints, free);
	vti_places_take(&e->fps, x->needs.fps, free);
	if (x->needs.stores)
		write_stores(e, x);
}

static void redirect_fetch(struct vt_ooo *e, const struct step *x)
{
	const struct vt_uop *last = x->nuops ? &x->in->op->uops[x->nuops - 1] : NULL;
	uint64_t begin = x->done;

	if (x->in->mispredicted) {
		if (e->m->mispredict > e->depth)
			begin += e->m->mispredict - e->depth;
		e->redirect = begin;
		e->redirect_cause = VT_STALL_MISPREDICT;
		e->redirect_by = x->in->tag;
		if (e->hooks.astray)
			e->hooks.astray(e->hooks.arg, x->fetched + 1, x->done);
	} else if (last && last->op_class == VT_OP_SLOW && x->in->op->flags & VT_FACT_SYSCALL) {
		/* Whoever comes back from the kernel begins anew. */
		e->redirect = x->done;
		e->redirect_cause = VT_STALL_OTHER;
		e->redirect_by = x->in->tag;
	} else if (last && (last->op_class == VT_OP_SLOW || last->op_class == VT_OP_SYNC)) {
		e->hold = x->done;
		e->redirect_by = x->in->tag;
	}
}

static void copy_times(const struct step *x, uint64_t retired, struct vt_ooo_times *times)
{
	uint64_t ready = x->placed + 1, issued = ready;
	unsigned i;

	if (x->nuops) {
		ready = x->uops[0].ready;
		issued = x->uops[0].issued;
	}
	for (i = 1; i < x->nuops; i++) {
		if (x->uops[i].issued >= issued)
			continue;
		ready = x->uops[i].ready;
		issued = x->uops[i].issued;
	}
	times->fetched = x->begun;
	times->placed = x->placed;
	times->ready = ready;
	times->issued = issued;
	times->done = x->done;
	times->retired = retired;
	times->slots = x->needs.slots;
	if (x->forwarded | x->in->followed)
		vti_ooo_time_loads(x, times);
}

void vt_ooo_run(struct vt_ooo *e, const struct vt_ooo_insn *insn, struct vt_inorder_cost *cost,
		struct vt_ooo_times *times)
{
	const struct vt_mop *op = insn->op;
	struct step x;
	unsigned i, loads = 0;

	x.in = insn;
	x.nuops = op->nuops < VT_MOP_UOPS ? op->nuops : VT_MOP_UOPS;
	x.forwarded = 0;
	fetch_step(e, &x);
	if (e->symbolic)
		vti_symbolic_run(e->symbolic, op, e->uncached ? e->decode.position : 0, &e->load,
				 &e->store);
	place_step(e, &x);
	x.done = x.placed + 1;
	if (x.syncs_stack)
		sync_stack(e, &x);
	for (i = 0; i < x.nuops; i++)
		run_uop(e, &x, i, &loads);
	publish_values(e, &x);
	retire_step(e, &x, cost);
	redirect_fetch(e, &x);
	if (times)
		copy_times(&x, cost->cycle, times);
}

/* ---- making and freeing ---- */

static uint32_t count_renaming_registers(uint32_t registers)
{
	return registers > ARCHITECTURAL ? registers - ARCHITECTURAL : registers;
}

struct vt_ooo *vt_ooo_new(const struct vt_core *m, const struct vt_ooo_hooks *hooks)
{
	struct vt_ooo *e = calloc(1, sizeof(*e));
	uint32_t waiting, i;

	if (!e)
		return NULL;
	e->m = m;
	if (hooks)
		e->hooks = *hooks;
	e->depth = m->front ? m->front : 1;
	e->known = m->nunits < VT_CORE_UNITS ? (1u << m->nunits) - 1 : UINT32_MAX;
	e->fetch.width = m->fetch ? m->fetch : 1;
	e->place.width = m->decode ? m->decode : 1;
	e->retire.width = m->retire ? m->retire : 1;
	/* As many as the stages hold, and no fewer than a group or two. */
	waiting = e->depth < 64 && e->fetch.width < 64 ? (e->depth + 2) * e->fetch.width : 64;
	e->nstored = m->stores;
	e->stored = e->nstored ? calloc(e->nstored, sizeof(*e->stored)) : NULL;
	e->issues = calloc(CYCLES, sizeof(*e->issues));
	for (i = 0; i < m->nunits; i++)
		e->int_units |= (m->units[i].classes >> VT_OP_INT & 1u) << i;
	if (!e->hooks.place) {
		e->symbolic = malloc(sizeof(*e->symbolic));
		if (e->symbolic)
			vti_symbolic_init(e->symbolic);
	}
	if (!vti_places_init(&e->fetched, waiting) || !vti_places_init(&e->rob, m->rob) ||
	    !vti_places_init(&e->loads, m->loads) || !vti_places_init(&e->stores, m->stores) ||
	    !vti_places_init(&e->ints, count_renaming_registers(m->int_registers)) ||
	    !vti_places_init(&e->fps, count_renaming_registers(m->fp_registers)) ||
	    !vti_oooqueue_init(&e->queue, m->queue) || (e->nstored && !e->stored) || !e->issues ||
	    (!e->hooks.place && !e->symbolic)) {
		vt_ooo_free(e);
		return NULL;
	}
	return e;
}

void vt_ooo_empty(struct vt_ooo *e)
{
	const uint64_t times[] = {e->latest,	  e->written,	  e->hold,	  e->redirect,
				  e->fetch.cycle, e->place.cycle, e->retire.cycle};
	uint64_t now = 0;
	size_t i;

	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		if (times[i] > now)
			now = times[i];
	/* Whatever is still in a place, a register or a unit has left it by then. */
	now += CYCLES;
	e->fetch.cycle = e->place.cycle = e->retire.cycle = now;
	e->fetch.used = e->place.used = e->retire.used = 0;
	e->started = e->stack_moved = false;
	e->front = (struct front){0};
	memset(e->uses, 0, sizeof(e->uses));
	memset(e->values, 0, sizeof(e->values));
	vti_decode_init(&e->decode, now);
	if (e->symbolic)
		vti_symbolic_init(e->symbolic);
	vti_oooqueue_leave(&e->queue, now);
}

void vt_ooo_set_uncached(struct vt_ooo *e, bool uncached)
{
	e->uncached = uncached && e->m->fetch_bytes;
}

void vt_ooo_fill(struct vt_ooo *e, uint64_t value)
{
	if (e->symbolic)
		vti_symbolic_fill(e->symbolic, value);
}

void vt_ooo_free(struct vt_ooo *e)
{
	if (!e)
		return;
	free(e->fetched.free);
	free(e->rob.free);
	free(e->loads.free);
	free(e->stores.free);
	free(e->ints.free);
	free(e->fps.free);
	vti_oooqueue_fini(&e->queue);
	free(e->stored);
	free(e->issues);
	free(e->symbolic);
	free(e);
}

void vti_ooo_change_core(struct vt_ooo *e, const struct vt_core *m)
{
	e->m = m;
}
