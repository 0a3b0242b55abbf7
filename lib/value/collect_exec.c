/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/collect_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/prefetch.h"
#include "flow/callstack.h"
#include "stream/exec.h"

/* A stub: at most "endbr64" and the jump, perhaps with a prefix. */
#define STUB_INSNS 2

/* So many blocks ahead, what a block needs is asked for. */
#define AHEAD 12

/* With more lists than this, they no longer stay in the caches near to the processor. */
#define FAR 10000

/* Eight bytes, or fewer, of a slot, and the list that gets them. */
struct take {
	struct vt_hotlist *list; /* NULL: nobody wants it, but a guard may be about it */
	uint32_t offset;	 /* in the values of the block */
	uint16_t slot;
	uint8_t unused; /* bits of the eight bytes that are not its */
};

/* The lists of a block, in a context. */
struct plan {
	struct plan *next;
	uint64_t caller;
	struct vt_hotlist *target; /* of the indirect jump or call at its end; or NULL */
	uint32_t ntakes;
	struct take takes[];
};

/* A list of values that belong to a procedure's first instruction. */
struct entry_list {
	uint64_t caller;
	uint32_t what;
	uint32_t reg;
	uint32_t lane;
	struct vt_hotlist *list;
};

/* A block of the stream, once it was executed. */
struct code {
	struct plan *plans; /* the one that was used last comes first */
	uint64_t *part;	    /* for each instruction: executions of parts that begin there, less
			     * those that end before it; or NULL */
	struct place place; /* of its first instruction */
	bool mapped;	    /* it lies in an image */
	bool guarded;	    /* it has guards */
	bool leads;	    /* what comes next matters */
	uint32_t nargs;	    /* values of arguments (lanes) captured at its call */
	struct entry_list *entry;
	uint32_t nentry;
	size_t entry_cap;
};

/* What most executions of a block need, by its id. */
struct quick {
	struct plan *plan; /* NULL: not to be taken quickly */
	uint64_t whole;	   /* executions of all of it */
	uint32_t insns;
	uint32_t data_size;
	struct code *code; /* NULL: it was not executed yet */
};

/* An argument on its way to the procedure called. */
struct pending_arg {
	uint64_t value;
	uint32_t reg;
	uint32_t lane;
	uint32_t size;
};

struct thread {
	int64_t pid; /* with `tid`, the key */
	int64_t tid;
	uint64_t epoch; /* of its process when it ran last */
	struct vt_hotlist *target;
	struct vt_callstack stack; /* by caller only */
	struct pending_arg *args;
	size_t args_cap;
	uint32_t nargs;
	bool called;   /* the last block called, and nothing but a stub has run since */
	uint64_t back; /* the return address of that call */
};

struct process {
	int64_t pid;
	uint64_t next;	/* instructions before the run that continues the last one */
	uint64_t epoch; /* one more each time that the order breaks off */
};

static bool is_call(const struct vt_bblock *b)
{
	return b->end == VT_END_CALL || b->end == VT_END_CALL_INDIRECT;
}

static uint32_t count_lanes(const struct vt_slot *slot)
{
	return (slot->size + 7u) / 8;
}

/* Arguments at the call that ends the block go to the procedure called. */
static bool is_passed(const struct vt_bblock *b, const struct vt_slot *slot)
{
	return slot->what == VT_WHAT_ARG && is_call(b) && slot->insn + 1u == b->ninsns;
}

/* ---- the lists of a block ---- */

static void free_block_code(struct code *code)
{
	struct plan *p, *next;

	if (!code)
		return;
	for (p = code->plans; p; p = next) {
		next = p->next;
		free(p);
	}
	free(code->part);
	free(code->entry);
	free(code);
}

static bool has_target(const struct vt_collect *c, const struct vt_bblock *b)
{
	return vti_collect_wants(c, VT_WHAT_TARGET) &&
	       (b->end == VT_END_JUMP_INDIRECT || b->end == VT_END_CALL_INDIRECT);
}

static struct code *new_code(struct vt_collect *c, const struct vt_bblock *b, struct vt_error *err)
{
	struct code *code = calloc(1, sizeof(*code));
	uint32_t i;

	if (!code) {
		vt_error_nomem(err);
		return NULL;
	}
	if (vti_collect_place(c, b->pid, b->addr, &code->place, &code->mapped, err) < 0) {
		free(code);
		return NULL;
	}
	for (i = 0; i < b->nslots; i++) {
		code->guarded |= b->slots[i].what == VT_WHAT_GUARD;
		if (vti_collect_wants(c, VT_WHAT_ARG) && is_passed(b, &b->slots[i]))
			code->nargs += count_lanes(&b->slots[i]);
	}
	code->leads = has_target(c, b) ||
		      (is_call(b) && (code->nargs || vti_collect_wants(c, VT_WHAT_RETURN)));
	return code;
}

static struct quick *add_quick_block(struct vt_collect *c, const struct vt_bblock *b,
				     struct vt_error *err)
{
	size_t had = c->nblocks;
	struct quick *q;

	if (b->id >= had) {
		if (!vt_array_grow(&c->blocks, &c->nblocks, b->id + 1, sizeof(*c->blocks))) {
			vt_error_nomem(err);
			return NULL;
		}
		memset(c->blocks + had, 0, (c->nblocks - had) * sizeof(*c->blocks));
	}
	q = &c->blocks[b->id];
	q->insns = b->ninsns;
	q->data_size = b->data_size;
	q->code = new_code(c, b, err);
	return q->code ? q : NULL;
}

/* In a block with guards, slots that nobody wants count too: they are what a guard is about. */
static bool is_collected_slot(const struct vt_collect *c, const struct vt_bblock *b,
			      const struct code *code, const struct vt_slot *slot)
{
	if (is_passed(b, slot))
		return false;
	return code->guarded || vti_collect_wants(c, slot->what);
}

static bool add_takes(struct vt_collect *c, const struct vt_bblock *b, const struct code *code,
		      struct plan *plan, uint32_t slot)
{
	const struct vt_slot *s = &b->slots[slot];
	struct place at = {
		code->place.offset + (vt_bblock_insn_addr(b, s->insn) - b->addr),
		code->place.image,
	};
	uint32_t lane;

	for (lane = 0; lane < count_lanes(s); lane++) {
		struct take *t = &plan->takes[plan->ntakes++];
		uint32_t left = s->size - 8 * lane;

		*t = (struct take){
			.offset = s->offset + 8 * lane,
			.slot = (uint16_t)slot,
			.unused = (uint8_t)(left < 8 ? 64 - 8 * left : 0),
		};
		if (!vti_collect_wants(c, s->what))
			continue;
		t->list = vti_collect_list(c, &at, b->pid, plan->caller, s, lane);
		if (!t->list)
			return false;
	}
	return true;
}

static struct plan *new_plan(struct vt_collect *c, const struct vt_bblock *b,
			     const struct code *code, uint64_t caller, struct vt_error *err)
{
	const struct vt_slot target = {.what = VT_WHAT_TARGET, .size = 8};
	struct plan *plan;
	size_t n = 0;
	uint32_t i;
	bool ok;

	for (i = 0; i < b->nslots; i++)
		if (is_collected_slot(c, b, code, &b->slots[i]))
			n += count_lanes(&b->slots[i]);
	plan = calloc(1, sizeof(*plan) + n * sizeof(struct take));
	if (!plan) {
		vt_error_nomem(err);
		return NULL;
	}
	plan->caller = caller;
	ok = true;
	for (i = 0; i < b->nslots && ok; i++)
		if (is_collected_slot(c, b, code, &b->slots[i]))
			ok = add_takes(c, b, code, plan, i);
	if (ok && has_target(c, b)) {
		uint64_t last = vt_bblock_insn_addr(b, b->ninsns - 1);
		struct place at = {code->place.offset + (last - b->addr), code->place.image};

		plan->target = vti_collect_list(c, &at, b->pid, caller, &target, 0);
		ok = plan->target != NULL;
	}
	if (!ok) {
		free(plan);
		vt_error_nomem(err);
		return NULL;
	}
	return plan;
}

static struct plan *find_plan(struct vt_collect *c, const struct vt_bblock *b, struct code *code,
			      uint64_t caller, struct vt_error *err)
{
	struct plan **at, *plan;

	for (at = &code->plans; *at && (*at)->caller != caller; at = &(*at)->next)
		;
	plan = *at;
	if (plan) {
		*at = plan->next;
	} else {
		plan = new_plan(c, b, code, caller, err);
		if (!plan)
			return NULL;
	}
	plan->next = code->plans;
	code->plans = plan;
	return plan;
}

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

static bool slot_happened(struct guard *g, const struct take *t, const struct vt_slot *slot,
			  uint64_t v)
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
static void add_slot_values(struct vt_hotlists *lists, const struct plan *plan,
			    const struct vt_step *step, const uint8_t *end)
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
		if (slot_happened(&g, t, &slots[t->slot], v) && t->list)
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

void vti_collect_break_all(struct vt_collect *c)
{
	size_t i;

	for (i = 0; i < c->processes.count; i++) {
		struct process *p = vt_hash_at(&c->processes, i);

		p->epoch++;
	}
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
static const uint8_t *skip_endbr64(const struct vt_bblock *b, uint32_t *size)
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
static bool is_resolved_stub(const struct vt_bblock *b)
{
	const uint8_t *p;
	uint32_t size;

	if (b->end != VT_END_JUMP_INDIRECT || b->ninsns > STUB_INSNS)
		return false;
	if (!b->code)
		return true;
	p = skip_endbr64(b, &size);
	if (size == 7 && p[0] == 0xf2) {
		p++;
		size--;
	}
	return size == 6 && p[0] == 0xff && p[1] == 0x25;
}

/* Where a stub goes whose procedure is not known yet: "push imm32", and on to the linker. */
static bool is_lazy_plt_stub(const struct vt_bblock *b)
{
	const uint8_t *p;
	uint32_t size;

	if (!b->code)
		return false;
	p = skip_endbr64(b, &size);
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
static int finish_previous_block(struct vt_collect *c, struct thread *t, const struct vt_step *step,
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
	if (!t->called || is_resolved_stub(b))
		return 0;
	if (is_lazy_plt_stub(b)) {
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

		if (!is_passed(b, s))
			continue;
		if (!vt_array_grow(&t->args, &t->args_cap, t->nargs + count_lanes(s),
				   sizeof(*t->args)))
			return false;
		for (lane = 0; lane < count_lanes(s); lane++)
			t->args[t->nargs++] = (struct pending_arg){vt_step_value(step, i, lane),
								   s->reg, lane, s->size};
	}
	return true;
}

/* The block's end was executed, and what comes next matters. */
static int leave_block_end(struct thread *t, const struct vt_step *step, const struct code *code,
			   const struct plan *plan, struct vt_error *err)
{
	const struct vt_bblock *b = step->block;

	t->target = plan->target;
	if (!is_call(b))
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
static struct plan *find_block_plan(struct vt_collect *c, struct quick *q,
				    const struct vt_bblock *b, uint64_t caller,
				    struct vt_error *err)
{
	struct plan *plan = q->code->plans;

	if (!plan || plan->caller != caller)
		plan = find_plan(c, b, q->code, caller, err);
	/* From now on, the quick way will do. */
	if (plan && !c->options.by_caller && !q->code->guarded && !q->code->leads)
		q->plan = plan;
	return plan;
}

static int collect_step(struct vt_collect *c, struct thread *t, const struct vt_step *step,
			const uint8_t *end, struct vt_error *err)
{
	const struct vt_bblock *b = step->block;
	struct quick *q = b->id < c->nblocks ? &c->blocks[b->id] : NULL;
	struct plan *plan;
	uint64_t caller = 0;
	int r = 0;

	if (!q || !q->code)
		q = add_quick_block(c, b, err);
	if (!q)
		return -(int)err->code;
	if (t->target || t->called)
		r = finish_previous_block(c, t, step, q->code, err);
	if (r < 0)
		return r;
	if (c->options.by_caller) {
		vt_callstack_enter(&t->stack, step);
		caller = vt_callstack_caller(&t->stack);
	}
	plan = find_block_plan(c, q, b, caller, err);
	if (!plan)
		return -(int)err->code;
	if (step->insn_end - step->insn == b->ninsns)
		q->whole++;
	else if (!count_part(q->code, step))
		return vt_error_nomem(err);
	add_slot_values(c->lists, plan, step, end);
	if (q->code->leads && step->insn_end == b->ninsns)
		r = leave_block_end(t, step, q->code, plan, err);
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
static inline void prefetch_run(const struct vt_collect *c, const struct vt_exec *x)
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
			prefetch_run(c, &x);
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
static struct thread *find_run_thread(struct vt_collect *c, const struct vt_exec *x)
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
		vt_callstack_set_caller(&t->stack, x->caller);
	return t;
}

int vti_collect_exec(struct vt_collect *c, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_exec x;
	bool far = vt_sites_nlists(c->sites) > FAR;
	struct vt_step step;
	struct thread *t;
	int r = vt_exec_open(&x, vt_context_blocks(c->context), rec, err);

	if (r < 0)
		return r;
	t = find_run_thread(c, &x);
	if (!t)
		return vt_error_nomem(err);
	for (;;) {
		if (!t->target && !t->called)
			x = far ? take_quick(c, x, true) : take_quick(c, x, false);
		r = vt_exec_next(&x, &step, err);
		if (r <= 0)
			break;
		r = collect_step(c, t, &step, x.data_end, err);
		if (r < 0)
			return r;
	}
	/* What is wrong with a run leaves the rest of it unknown. */
	if (r < 0)
		vti_collect_break(c, x.pid);
	return r;
}

/* ---- a stream ---- */

void vti_collect_init_exec(struct vt_collect *c)
{
	vt_hash_init(&c->processes, sizeof(struct process), sizeof(int64_t));
	vt_hash_init(&c->threads, sizeof(struct thread), offsetof(struct thread, epoch));
}

void vti_collect_forget_exec(struct vt_collect *c)
{
	size_t i;

	for (i = 0; i < c->nblocks; i++)
		free_block_code(c->blocks[i].code);
	free(c->blocks);
	c->blocks = NULL;
	c->nblocks = 0;
	for (i = 0; i < c->threads.count; i++) {
		struct thread *t = vt_hash_at(&c->threads, i);

		vt_callstack_fini(&t->stack);
		free(t->args);
	}
	vt_hash_clear(&c->threads);
	vt_hash_clear(&c->processes);
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
		r = add_counts(c, &c->blocks[id], vt_bblocks_get(vt_context_blocks(c->context), id),
			       event, err);
	}
	return r;
}
