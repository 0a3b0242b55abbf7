/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/collect_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/prefetch.h"
#include "stream/exec.h"

/* A stub: at most "endbr64" and the jump, perhaps with a prefix. */
#define STUB_INSNS 2

/* So many blocks ahead, what a block needs is asked for. */
#define AHEAD 12

/* With more lists than this, they no longer stay in the caches near to the processor. */
#define FAR 10000

/* ---- values ---- */

static uint64_t read_value(const struct take *t, const uint8_t *p, const uint8_t *end)
{
	unsigned bits = 64u - t->unused;
	uint64_t v = 0;
	unsigned i;

	if (end - p >= 8)
		return vt_le64(p) << t->unused >> t->unused;
	for (i = 0; i < bits; i += 8)
		v |= (uint64_t)p[i / 8] << i;
	return v;
}

/* All slots of a block; so many bytes follow that eight can be read anywhere. */
static inline void put_whole(struct vt_hotlists *lists, const struct plan *plan,
			     const uint8_t *data)
{
	const struct take *t = plan->takes;
	const struct take *end = t + plan->ntakes;

	for (; t < end; t++)
		vt_hotlist_put(lists, t->list, vt_le64(data + t->offset) << t->unused >> t->unused);
}

/* A guard of 0 says that the next load or store of its instruction did not happen. */
struct guard {
	bool shut;
	uint32_t insn;
};

static bool happened(struct guard *g, const struct take *t, const struct vt_slot *slot, uint64_t v)
{
	bool counts = slot->what == VT_WHAT_LOAD || slot->what == VT_WHAT_STORE;

	if (slot->what == VT_WHAT_GUARD) {
		*g = (struct guard){v == 0, slot->insn};
		return true;
	}
	if (!g->shut || slot->insn != g->insn)
		return true;
	if (!counts && slot->what != VT_WHAT_LOAD_ADDRESS && slot->what != VT_WHAT_STORE_ADDRESS)
		return true;
	/* It is over with the last eight bytes of the value itself. */
	if (counts && t->offset + 8 >= slot->offset + slot->size)
		g->shut = false;
	return false;
}

/* Some of the slots, or near the end of the data, or with guards. */
static void put_part(struct vt_hotlists *lists, const struct plan *plan, const struct vt_step *step,
		     const uint8_t *end)
{
	const struct vt_slot *slots = step->block->slots;
	struct guard g = {false, 0};
	uint32_t i;

	for (i = 0; i < plan->ntakes; i++) {
		const struct take *t = &plan->takes[i];
		uint64_t v;

		if (t->slot < step->slot || t->slot >= step->slot_end)
			continue;
		v = read_value(t, step->data + (t->offset - step->data_offset), end);
		if (happened(&g, t, &slots[t->slot], v) && t->list)
			vt_hotlist_put(lists, t->list, v);
	}
}

/* ---- the order of blocks ---- */

void vti_collect_break(struct vt_collect *c, int64_t pid)
{
	struct process *p = vt_hash_find(&c->processes, &pid);

	if (p)
		p->epoch++;
}

static void forget_order(struct thread *t)
{
	t->called = false;
	t->target = NULL;
}

void vti_collect_signal(struct vt_collect *c, int64_t pid, int64_t tid)
{
	const int64_t key[2] = {pid, tid};
	struct thread *t = vt_hash_find(&c->threads, key);

	if (!t)
		return;
	forget_order(t);
	vt_callstack_signal(&t->stack);
}

/* The code behind an "endbr64" that may be there; *size becomes what is left of it. */
static const uint8_t *code_of(const struct vt_bblock *b, uint32_t *size)
{
	const uint8_t *p = b->code;

	*size = b->size;
	if (*size >= 4 && vt_le32(p) == 0xfa1e0ff3) {
		p += 4;
		*size -= 4;
	}
	return p;
}

/* A stub of the procedure linkage table: "jmp *disp32(%rip)". */
static bool is_stub(const struct vt_bblock *b)
{
	const uint8_t *p;
	uint32_t size;

	if (b->end != VT_END_JUMP_INDIRECT || b->ninsns > STUB_INSNS)
		return false;
	if (!b->code)
		return true;
	p = code_of(b, &size);
	if (size == 7 && p[0] == 0xf2) {
		p++;
		size--;
	}
	return size == 6 && p[0] == 0xff && p[1] == 0x25;
}

/* Where a stub goes whose procedure is not known yet: "push imm32", and on to the linker. */
static bool is_lazy(const struct vt_bblock *b)
{
	const uint8_t *p;
	uint32_t size;

	if (!b->code)
		return false;
	p = code_of(b, &size);
	return size > 5 && p[0] == 0x68;
}

/* A list at the procedure's first instruction, which the block begins with. */
static struct vt_hotlist *entry_list(struct vt_collect *c, const struct vt_bblock *b,
				     struct code *code, const struct entry_list *key, uint32_t size)
{
	const struct vt_slot slot = {
		.what = (uint8_t)key->what, .size = (uint16_t)size, .reg = (uint16_t)key->reg};
	struct vt_hotlist *list;
	uint32_t i;

	/* There are as many as callers: no place to search one by one. */
	if (key->caller)
		return vti_collect_list(c, &code->place, b->pid, key->caller, &slot, key->lane);
	for (i = 0; i < code->nentry; i++) {
		const struct entry_list *e = &code->entry[i];

		if (e->what == key->what && e->reg == key->reg && e->lane == key->lane)
			return e->list;
	}
	list = vti_collect_list(c, &code->place, b->pid, 0, &slot, key->lane);
	if (!list ||
	    !vt_array_grow(&code->entry, &code->entry_cap, code->nentry + 1, sizeof(*code->entry)))
		return NULL;
	code->entry[code->nentry] = *key;
	code->entry[code->nentry++].list = list;
	return list;
}

/* The thread has come to a procedure that it called. */
static int enter_procedure(struct vt_collect *c, struct thread *t, const struct vt_bblock *b,
			   struct code *code, struct vt_error *err)
{
	struct entry_list key = {.caller = c->options.by_caller ? t->back : 0};
	struct vt_hotlist *list;
	uint32_t i;

	for (i = 0; i < t->nargs; i++) {
		const struct pending_arg *a = &t->args[i];

		key.what = VT_WHAT_ARG;
		key.reg = a->reg;
		key.lane = a->lane;
		list = entry_list(c, b, code, &key, a->size);
		if (!list)
			return vt_error_nomem(err);
		vt_hotlist_put(c->lists, list, a->value);
	}
	t->called = false;
	if (!vti_collect_wants(c, VT_WHAT_RETURN))
		return 0;
	key = (struct entry_list){.caller = key.caller, .what = VT_WHAT_RETURN};
	list = entry_list(c, b, code, &key, 8);
	if (!list)
		return vt_error_nomem(err);
	vt_hotlist_put(c->lists, list, t->back);
	return 0;
}

/* What the block before this one waits for. */
static int arrive(struct vt_collect *c, struct thread *t, const struct vt_step *step,
		  struct code *code, struct vt_error *err)
{
	const struct vt_bblock *b = step->block;

	if (step->insn) {
		forget_order(t);
		return 0;
	}
	if (t->target) {
		vt_hotlist_put(c->lists, t->target, b->addr);
		t->target = NULL;
	}
	if (!t->called || is_stub(b))
		return 0;
	if (is_lazy(b)) {
		forget_order(t);
		return 0;
	}
	return enter_procedure(c, t, b, code, err);
}

static bool keep_args(struct thread *t, const struct vt_step *step)
{
	const struct vt_bblock *b = step->block;
	uint32_t i, lane;

	for (i = step->slot; i < step->slot_end; i++) {
		const struct vt_slot *s = &b->slots[i];

		if (!vti_collect_passes(b, s))
			continue;
		if (!vt_array_grow(&t->args, &t->args_cap, t->nargs + vti_collect_lanes(s),
				   sizeof(*t->args)))
			return false;
		for (lane = 0; lane < vti_collect_lanes(s); lane++)
			t->args[t->nargs++] = (struct pending_arg){vt_step_value(step, i, lane),
								   s->reg, lane, s->size};
	}
	return true;
}

/* The block's end was executed, and what comes next matters. */
static int depart(struct thread *t, const struct vt_step *step, const struct code *code,
		  const struct plan *plan, struct vt_error *err)
{
	const struct vt_bblock *b = step->block;

	t->target = plan->target;
	if (!vti_collect_calls(b))
		return 0;
	t->called = true;
	t->back = b->addr + b->size;
	t->nargs = 0;
	return code->nargs && !keep_args(t, step) ? vt_error_nomem(err) : 0;
}

/* ---- steps ---- */

/* A part of a block was executed. */
static bool count_part(struct code *code, const struct vt_step *step)
{
	if (!code->part) {
		code->part = calloc(step->block->ninsns + 1u, sizeof(*code->part));
		if (!code->part)
			return false;
	}
	code->part[step->insn]++;
	code->part[step->insn_end]--;
	return true;
}

/* The lists of a block where it was called from, and the block's code. */
static struct plan *look_up(struct vt_collect *c, struct quick *q, const struct vt_bblock *b,
			    uint64_t caller, struct vt_error *err)
{
	struct plan *plan = q->code->plans;

	if (!plan || plan->caller != caller)
		plan = vti_collect_find_plan(c, b, q->code, caller, err);
	/* From now on, the quick way will do. */
	if (plan && !c->options.by_caller && !q->code->guarded && !q->code->leads)
		q->plan = plan;
	return plan;
}

static int take_step(struct vt_collect *c, struct thread *t, const struct vt_step *step,
		     const uint8_t *end, struct vt_error *err)
{
	const struct vt_bblock *b = step->block;
	struct quick *q = b->id < c->nblocks ? &c->blocks[b->id] : NULL;
	struct plan *plan;
	uint64_t caller = 0;
	int r = 0;

	if (!q || !q->code)
		q = vti_collect_add_block(c, b, err);
	if (!q)
		return -(int)err->code;
	if (t->target || t->called)
		r = arrive(c, t, step, q->code, err);
	if (r < 0)
		return r;
	if (c->options.by_caller) {
		vt_callstack_enter(&t->stack, step);
		caller = vt_callstack_caller(&t->stack);
	}
	plan = look_up(c, q, b, caller, err);
	if (!plan)
		return -(int)err->code;
	if (step->insn_end - step->insn == b->ninsns)
		q->whole++;
	else if (!count_part(q->code, step))
		return vt_error_nomem(err);
	put_part(c->lists, plan, step, end);
	if (q->code->leads && step->insn_end == b->ninsns)
		r = depart(t, step, q->code, plan, err);
	if (c->options.by_caller) {
		vt_callstack_leave(&t->stack, step);
		if (t->stack.failed)
			return vt_error_nomem(err);
	}
	return r;
}

/* ---- runs ---- */

static inline const struct quick *quick_at(const struct vt_collect *c, const struct vt_exec *x,
					   uint32_t i)
{
	uint64_t id = vt_exec_id(x, i);

	return id < c->nblocks ? &c->blocks[id] : NULL;
}

/*
 * Blocks, their plans and their lists lie anywhere in memory: they are asked for while others are
 * at work.
 */
static inline void look_ahead(const struct vt_collect *c, const struct vt_exec *x)
{
	const struct quick *q;
	uint32_t i;

	if (x->blocks <= AHEAD)
		return;
	VT_PREFETCH(quick_at(c, x, AHEAD));
	q = quick_at(c, x, 2 * AHEAD / 3);
	if (q && q->plan)
		VT_PREFETCH(q->plan);
	q = quick_at(c, x, AHEAD / 3);
	if (!q || !q->plan)
		return;
	for (i = 0; i < q->plan->ntakes; i++)
		VT_PREFETCH(q->plan->takes[i].list);
}

/*
 * Takes blocks that are executed whole and wait for nothing, up to the first that is not so.  `x`
 * is walked as a copy, which can stay in registers; `far` is a constant where this is called.
 */
static inline struct vt_exec take_quick(struct vt_collect *c, struct vt_exec x, bool far)
{
	struct vt_hotlists *lists = c->lists;
	struct quick *blocks = c->blocks;
	size_t nblocks = c->nblocks;

	while (x.blocks) {
		uint64_t id = vt_exec_id(&x, 0);
		const uint8_t *data;
		struct quick *q;
		size_t size;

		if (far)
			look_ahead(c, &x);
		if (id >= nblocks)
			break;
		q = &blocks[id];
		if (!q->plan)
			break;
		data = vt_exec_values(&x, &size);
		if (size < (size_t)q->data_size + 8 || !vt_exec_pass(&x, q->insns, q->data_size))
			break;
		q->whole++;
		put_whole(lists, q->plan, data);
	}
	return x;
}

/* The thread of a run, knowing whether the run continues what it did before. */
static struct thread *find_thread(struct vt_collect *c, const struct vt_exec *x)
{
	struct process *p = vt_hash_add(&c->processes, &x->pid, NULL);
	const int64_t key[2] = {x->pid, x->tid};
	struct thread *t = vt_hash_add(&c->threads, key, NULL);

	if (!p || !t)
		return NULL;
	if (x->first != p->next)
		p->epoch++;
	p->next = x->first + x->insns;
	if (t->epoch != p->epoch) {
		forget_order(t);
		vt_callstack_clear(&t->stack);
		t->epoch = p->epoch;
	}
	if (c->options.by_caller)
		vt_callstack_told(&t->stack, x->caller);
	return t;
}

int vti_collect_exec(struct vt_collect *c, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_exec x;
	bool far = vt_sites_nlists(c->sites) > FAR;
	struct vt_step step;
	struct thread *t;
	int r = vt_exec_open(&x, c->dict, rec, err);

	if (r < 0)
		return r;
	t = find_thread(c, &x);
	if (!t)
		return vt_error_nomem(err);
	for (;;) {
		if (!t->target && !t->called)
			x = far ? take_quick(c, x, true) : take_quick(c, x, false);
		r = vt_exec_next(&x, &step, err);
		if (r <= 0)
			break;
		r = take_step(c, t, &step, x.data_end, err);
		if (r < 0)
			return r;
	}
	/* What is wrong with a run leaves the rest of it unknown. */
	if (r < 0)
		vti_collect_break(c, x.pid);
	return r;
}

/* Adds the executions of each of a block's instructions to their places. */
static int add_counts(struct vt_collect *c, const struct quick *q, const struct vt_bblock *b,
		      uint32_t event, struct vt_error *err)
{
	uint64_t offset = q->code->place.offset;
	uint64_t parts = 0;
	uint32_t i;

	for (i = 0; i < b->ninsns; i++) {
		uint64_t n;

		parts += q->code->part ? q->code->part[i] : 0;
		n = q->whole + parts;
		c->stats.insns += n;
		c->stats.unmapped += q->code->mapped ? 0 : n;
		if (n && event != UINT32_MAX) {
			int r = vt_sites_count(c->sites, q->code->place.image, offset, event, n, n,
					       err);

			if (r < 0)
				return r;
		}
		offset += b->lengths[i];
	}
	return 0;
}

int vti_collect_counts(struct vt_collect *c, bool wanted, struct vt_error *err)
{
	uint32_t event = UINT32_MAX;
	size_t id;
	int r = 0;

	for (id = 0; id < c->nblocks && r == 0; id++) {
		if (!c->blocks[id].code)
			continue;
		if (wanted) {
			event = vt_sites_event(c->sites, "instructions", VT_POLICY_EXACT,
					       "instructions");
			if (event == UINT32_MAX)
				return vt_error_nomem(err);
		}
		r = add_counts(c, &c->blocks[id], vt_bblocks_get(c->dict, id), event, err);
	}
	return r;
}
