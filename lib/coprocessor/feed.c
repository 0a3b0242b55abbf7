/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "coprocessor/feed.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "machine/insn/access.h"
#include "machine/insn/insn.h"
#include "stream/exec.h"
#include "stream/marks.h"
#include "stream/misses.h"

#define NONE	   VT_ACCESS_NO_SLOT
#define LANE	   8  /* bytes of an operation at most */
#define USUAL_LINE 64 /* of a cache, where the stream tells none */

/* An operation of a block, with what each execution of it has alike. */
struct op {
	struct vt_sample sample;
	uint32_t insn;
	uint32_t value, lane; /* the slot of its value */
	uint32_t addr;	      /* and of its address */
	uint32_t guard;
	bool waits;	     /* for what comes next */
	bool pass;	     /* the filters let it, */
	uint64_t generation; /* as of this state of them */
};

struct plan {
	struct op *ops;
	size_t nops, cap;
	uint32_t no_value, no_address; /* operations left out */
	bool made;
};

struct process {
	int64_t pid;
	uint64_t next; /* instruction */
	uint64_t epoch;
};

struct thread {
	int64_t pid, tid;
	uint64_t epoch;
	struct op *waiting; /* a branch whose target is the next step */
};

struct vt_feed {
	const struct vt_context *context;
	const struct vt_ucode *u;
	const struct vt_filters *filters;
	struct vt_buffer *buffer;
	vt_warn_fn *warn;
	void *warn_arg;
	uint32_t reads;
	struct plan **plans; /* by block */
	size_t nplans;
	struct vt_hash processes, threads, places;
	uint64_t limit; /* instructions that are played */
	bool use_cycles;
	struct vt_marks marks;	 /* of the run */
	size_t mark;		 /* the next one */
	struct vt_misses misses; /* if the program asks whether accesses missed */
	uint64_t position;	 /* instructions of the process before the step at hand */
	struct vt_feed_stats stats;
};

struct vt_feed *vt_feed_new(const struct vt_context *c, const struct vt_ucode *u,
			    const struct vt_filters *f, struct vt_buffer *b, vt_warn_fn *warn,
			    void *warn_arg)
{
	struct vt_feed *feed = calloc(1, sizeof(*feed));

	if (!feed)
		return NULL;
	feed->context = c;
	feed->u = u;
	feed->filters = f;
	feed->buffer = b;
	feed->warn = warn;
	feed->warn_arg = warn_arg;
	feed->reads = vt_ucode_reads(u);
	feed->limit = UINT64_MAX;
	vt_hash_init(&feed->processes, sizeof(struct process), sizeof(int64_t));
	vt_hash_init(&feed->threads, sizeof(struct thread), offsetof(struct thread, epoch));
	vt_marks_init(&feed->marks);
	vt_misses_init(&feed->misses);
	vt_hash_init(&feed->places, sizeof(struct vt_feed_place), sizeof(uint64_t));
	return feed;
}

void vt_feed_free(struct vt_feed *f)
{
	size_t i;

	if (!f)
		return;
	for (i = 0; i < f->nplans; i++) {
		if (f->plans[i])
			free(f->plans[i]->ops);
		free(f->plans[i]);
	}
	free(f->plans);
	vt_hash_fini(&f->processes);
	vt_hash_fini(&f->threads);
	vt_hash_fini(&f->places);
	vt_misses_fini(&f->misses);
	vt_marks_fini(&f->marks);
	free(f);
}

void vt_feed_use_cycles(struct vt_feed *f)
{
	f->use_cycles = true;
}

void vt_feed_limit(struct vt_feed *f, uint64_t insns)
{
	f->limit = insns;
}

const struct vt_feed_stats *vt_feed_stats(struct vt_feed *f)
{
	f->stats.misses_told = f->misses.told;
	f->stats.miss_line = f->misses.line;
	return &f->stats;
}

const struct vt_feed_place *vt_feed_find(const struct vt_feed *f, uint64_t pc_low)
{
	uint64_t key = (uint32_t)pc_low;

	return vt_hash_find(&f->places, &key);
}

/* ---- the operations of a block ---- */

static enum vt_ucode_class branch_class(uint32_t flags)
{
	bool indirect = flags & VT_FACT_INDIRECT;

	if (flags & VT_FACT_RETURN)
		return VT_CLASS_RETURN;
	if (flags & VT_FACT_CALL)
		return indirect ? VT_CLASS_CALL_INDIRECT : VT_CLASS_CALL;
	if (flags & VT_FACT_CONDITIONAL)
		return VT_CLASS_BRANCH;
	return indirect ? VT_CLASS_JUMP_INDIRECT : VT_CLASS_JUMP;
}

static enum vt_ucode_class class_of(const struct vt_facts *f)
{
	static const struct {
		uint32_t fact;
		enum vt_ucode_class class;
	} rows[] = {
		{VT_FACT_SYSCALL, VT_CLASS_SYSCALL},
		{VT_FACT_ATOMIC, VT_CLASS_ATOMIC},
		{VT_FACT_STRING, VT_CLASS_STRING},
		{VT_FACT_NOP, VT_CLASS_NOP},
		{VT_FACT_LEA, VT_CLASS_ADDRESS},
		{VT_FACT_DIVIDE, VT_CLASS_DIVIDE},
		{VT_FACT_MULTIPLY, VT_CLASS_MULTIPLY},
		{VT_FACT_MOVE | VT_FACT_PUSH | VT_FACT_POP, VT_CLASS_MOVE},
		{VT_FACT_FLOAT | VT_FACT_X87, VT_CLASS_FLOAT},
		{VT_FACT_VECTOR, VT_CLASS_VECTOR},
		{VT_FACT_COMPARE, VT_CLASS_COMPARE},
	};
	size_t i;

	if (!f->length)
		return VT_CLASS_OTHER;
	if (f->flags & VT_FACT_BRANCH)
		return branch_class(f->flags);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (f->flags & rows[i].fact)
			return rows[i].class;
	return VT_CLASS_INTEGER;
}

/* Without the code of a block, only its end is known. */
static enum vt_ucode_class class_of_end(enum vt_block_end end)
{
	static const enum vt_ucode_class classes[VT_NENDS] = {
		[VT_END_FALL] = VT_CLASS_OTHER,	   [VT_END_BRANCH] = VT_CLASS_BRANCH,
		[VT_END_JUMP] = VT_CLASS_JUMP,	   [VT_END_JUMP_INDIRECT] = VT_CLASS_JUMP_INDIRECT,
		[VT_END_CALL] = VT_CLASS_CALL,	   [VT_END_CALL_INDIRECT] = VT_CLASS_CALL_INDIRECT,
		[VT_END_RETURN] = VT_CLASS_RETURN, [VT_END_SYSCALL] = VT_CLASS_SYSCALL,
		[VT_END_OTHER] = VT_CLASS_OTHER,
	};

	return classes[end];
}

static bool is_control(enum vt_ucode_class c)
{
	return c >= VT_CLASS_BRANCH && c <= VT_CLASS_RETURN;
}

/* An operation of a class that is profiled; `size` is at most LANE. */
static struct op *add_op(struct vt_feed *f, struct plan *p, const struct vt_bblock *b,
			 uint32_t insn, enum vt_ucode_class class)
{
	uint64_t pc = vt_bblock_insn_addr(b, insn);
	struct vt_feed_place *place;
	struct op *op;
	bool added;
	const uint64_t key = (uint32_t)pc;
	const struct vt_map *m;
	uint32_t i;

	place = vt_hash_add(&f->places, &key, &added);
	if (!place || !vt_array_grow(&p->ops, &p->cap, p->nops + 1, sizeof(*p->ops)))
		return NULL;
	if (added) {
		m = vt_addrspace_find(vt_context_space(f->context), (int32_t)b->pid, pc, 0);
		place->pc = pc;
		place->pid = b->pid;
		place->image = m ? m->image : VT_UNMAPPED_IMAGE;
		place->offset = m ? vt_map_offset(m, pc) : pc;
	} else if (place->pc != pc) {
		place->ambiguous = 1;
	}
	op = &p->ops[p->nops++];
	*op = (struct op){.insn = insn, .value = NONE, .addr = NONE, .guard = NONE};
	op->sample.pc = pc;
	op->sample.next = pc + b->lengths[insn];
	op->sample.class = (uint8_t) class;
	op->sample.taken = class != VT_CLASS_BRANCH && is_control(class);
	for (i = 0; b->code && i < b->lengths[insn] && i < 8; i++)
		op->sample.code |= (uint64_t)b->code[pc - b->addr + i] << 8 * i;
	return op;
}

static bool is_profiled(const struct vt_feed *f, enum vt_ucode_class class)
{
	return f->u->start[class] != VT_UCODE_NO_START;
}

/* Adds the operations of an access, one for each 8 bytes.  False: out of memory. */
static bool add_access(struct vt_feed *f, struct plan *p, const struct vt_bblock *b,
		       const struct vt_access_slots *a)
{
	const uint32_t value = 1u << VT_OP_VALUE | 1u << VT_OP_VALUE_LO;
	const uint32_t addr = 1u << VT_OP_ADDR | 1u << VT_OP_ADDR_LO | 1u << VT_OP_WORD |
			      1u << VT_OP_LINE | 1u << VT_OP_MISSED;
	enum vt_ucode_class class = a->store ? VT_CLASS_STORE : VT_CLASS_LOAD;
	uint32_t lane = 0;

	if (!is_profiled(f, class))
		return true;
	do {
		uint32_t left = a->size - lane * LANE;
		struct op *op;

		if ((f->reads & value) && a->value == NONE) {
			p->no_value++;
			continue;
		}
		if ((f->reads & addr) && a->address == NONE) {
			p->no_address++;
			continue;
		}
		op = add_op(f, p, b, a->insn, class);
		if (!op)
			return false;
		op->guard = a->guard;
		op->value = f->reads & value ? a->value : NONE;
		op->addr = f->reads & addr ? a->address : NONE;
		op->lane = lane;
		op->sample.size = (uint8_t)(left < LANE ? left : LANE);
		op->sample.addr = lane * LANE;
	} while (++lane * LANE < a->size);
	return true;
}

static bool make_plan(struct vt_feed *f, struct plan *p, const struct vt_bblock *b)
{
	const uint32_t target = 1u << VT_OP_TARGET | 1u << VT_OP_TARGET_LO | 1u << VT_OP_TAKEN;
	struct vt_access_cursor cursor = {.block = b};
	struct vt_access_slots access;
	struct vt_facts facts;
	uint32_t insn, at = 0;

	for (insn = 0; insn < b->ninsns; insn++) {
		enum vt_ucode_class class;
		struct op *op;

		memset(&facts, 0, sizeof(facts));
		if (b->code && b->mode == 64)
			vt_facts_decode(b->code + at, b->lengths[insn], &facts);
		class = b->code			? class_of(&facts)
			: insn + 1 == b->ninsns ? class_of_end(b->end)
						: VT_CLASS_OTHER;
		at += b->lengths[insn];
		vt_access_start(&cursor, insn, &facts);
		while (vt_access_next(&cursor, &access))
			if (!add_access(f, p, b, &access))
				return false;
		if (!is_profiled(f, class))
			continue;
		op = add_op(f, p, b, insn, class);
		if (!op)
			return false;
		op->waits = is_control(class) && (f->reads & target) && insn + 1 == b->ninsns;
	}
	p->made = true;
	return true;
}

static struct plan *find_plan(struct vt_feed *f, const struct vt_bblock *b)
{
	size_t had = f->nplans;

	if (b->id >= had) {
		if (!vt_array_grow(&f->plans, &f->nplans, b->id + 1, sizeof(struct plan *)))
			return NULL;
		memset(f->plans + had, 0, (f->nplans - had) * sizeof(struct plan *));
	}
	if (!f->plans[b->id])
		f->plans[b->id] = calloc(1, sizeof(struct plan));
	if (!f->plans[b->id] || (!f->plans[b->id]->made && !make_plan(f, f->plans[b->id], b)))
		return NULL;
	return f->plans[b->id];
}

/* ---- executions ---- */

static inline bool passes(const struct vt_feed *f, struct op *op)
{
	if (op->generation != f->filters->generation) {
		op->pass = vt_filters_pass(f->filters, op->sample.pc);
		op->generation = f->filters->generation;
	}
	return op->pass;
}

/* The branch that ended the step before went to `addr`. */
static int finish_branch(struct vt_feed *f, struct thread *t, uint64_t addr, struct vt_error *err)
{
	struct op *op = t->waiting;
	struct vt_sample *s;
	int code = vt_buffer_claim(f->buffer, 0, passes(f, op), &s, err);

	t->waiting = NULL;
	if (!s)
		return code;
	*s = op->sample;
	s->tid = (uint32_t)t->tid;
	s->target = addr;
	s->taken = op->sample.class != VT_CLASS_BRANCH || addr != op->sample.next;
	return 0;
}

/* Whether the bytes of an access that lie in a line brought it into the cache. */
static bool has_missed(struct vt_feed *f, const struct thread *t, const struct vt_sample *s,
		       uint64_t position)
{
	const struct vt_miss *miss;
	bool missed = false;

	while ((miss = vt_misses_take(&f->misses, t->pid, position, s->addr, s->size,
				      s->class == VT_CLASS_STORE)))
		missed |= miss->brought;
	return missed;
}

/*
 * An execution of an operation.  Fields are written one by one over a copy that is not read here: a
 * load of several that were just stored apart waits for the stores.
 */
static inline void fill_sample(struct vt_sample *s, const struct op *op, const struct thread *t,
			       const struct vt_step *step)
{
	*s = op->sample;
	s->tid = (uint32_t)t->tid;
	if (op->addr != NONE)
		s->addr = op->sample.addr + vt_step_value(step, op->addr, 0);
	if (op->value != NONE)
		s->value = vt_step_value(step, op->value, op->lane);
}

/* For a program that asks what missed, an access is an operation in each line that it touches. */
static int offer_lines(struct vt_feed *f, const struct thread *t, const struct op *op,
		       const struct vt_step *step, struct vt_error *err)
{
	uint64_t line = f->misses.line ? f->misses.line : USUAL_LINE, left = op->sample.size, part;
	uint32_t ahead = op->insn - step->insn;
	struct vt_sample s, *place;
	int code;

	fill_sample(&s, op, t, step);

	do {
		part = line - s.addr % line;
		s.size = (uint8_t)(part < left ? part : left);
		s.missed = has_missed(f, t, &s, f->position + ahead);
		code = vt_buffer_claim(f->buffer, ahead, true, &place, err);
		if (place)
			*place = s;
		s.addr += s.size;
		left -= s.size;
	} while (left && code == 0);
	return code;
}

static inline int run_op(struct vt_feed *f, struct thread *t, struct op *op,
			 const struct vt_step *step, struct vt_error *err)
{
	struct vt_sample *place;
	bool pass;
	int code;

	if (op->guard != NONE && !vt_step_value(step, op->guard, 0))
		return 0;
	pass = passes(f, op);
	if (pass && f->reads & 1u << VT_OP_MISSED && op->addr != NONE)
		return offer_lines(f, t, op, step, err);
	code = vt_buffer_claim(f->buffer, op->insn - step->insn, pass, &place, err);
	if (place)
		fill_sample(place, op, t, step);
	return code;
}

static int run_step(struct vt_feed *f, struct thread *t, const struct vt_step *step,
		    struct vt_error *err)
{
	const struct vt_bblock *b = step->block;
	struct plan *p = b->id < f->nplans ? f->plans[b->id] : NULL;
	struct op *op, *end;
	int code = 0;

	if (!p) {
		p = find_plan(f, b);
		if (!p)
			return vt_error_nomem(err);
	}
	if (t->waiting)
		code = finish_branch(f, t, vt_bblock_insn_addr(b, step->insn), err);
	end = p->ops + p->nops;
	for (op = p->ops; op < end && op->insn < step->insn; op++)
		;
	for (; op < end && op->insn < step->insn_end && code == 0; op++) {
		if (op->waits)
			t->waiting = op;
		else
			code = run_op(f, t, op, step, err);
	}
	f->stats.no_value += p->no_value;
	f->stats.no_address += p->no_address;
	f->stats.insns += step->insn_end - step->insn;
	return code < 0 ? code : vt_buffer_retire(f->buffer, step->insn_end - step->insn, err);
}

static void forget(struct vt_feed *f, struct thread *t)
{
	f->stats.no_target += t->waiting != NULL;
	t->waiting = NULL;
}

/* The thread of a run; what it waits for is forgotten where the run does not go on. */
static struct thread *find_thread(struct vt_feed *f, const struct vt_exec *x)
{
	const int64_t key[2] = {x->pid, x->tid};
	struct process *p = vt_hash_add(&f->processes, &x->pid, NULL);
	struct thread *t = vt_hash_add(&f->threads, key, NULL);

	if (!p || !t)
		return NULL;
	if (x->first != p->next)
		p->epoch++;
	p->next = x->first + x->insns;
	if (t->epoch != p->epoch)
		forget(f, t);
	t->epoch = p->epoch;
	return t;
}

static void warn_of(const struct vt_feed *f, const struct vt_error *err)
{
	if (f->warn)
		f->warn(f->warn_arg, err->text);
}

/* Finds the cycles of a run; one that contradicts itself has none, which is said. */
static int find_cycles(struct vt_feed *f, const struct vt_exec *x, struct vt_error *err)
{
	int code;

	f->mark = 0;
	if (!f->use_cycles)
		return 0;
	code = vt_marks_find(&f->marks, x, err);
	if (code == -VT_E_FORMAT)
		warn_of(f, err);
	return code == -VT_E_NOMEM ? code : 0;
}

/* Where a mark is behind so many instructions of the run, those up to the next take its cycles. */
static inline void set_pace(struct vt_feed *f, uint64_t insns)
{
	const struct vt_mark *m;

	if (f->mark + 1 >= f->marks.n)
		return;
	m = &f->marks.marks[f->mark];
	if (m->insns != insns)
		return;
	f->mark++;
	/* What takes longer did not run. */
	if (m->pace <= VT_BUFFER_MAX_PACE)
		vt_buffer_pace(f->buffer, m[1].insns - m->insns, m[1].cycle - m->cycle);
}

static int run_exec(struct vt_feed *f, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_exec x;
	struct vt_step step;
	struct thread *t;
	uint64_t insns = 0;
	int code;

	if (f->stats.insns >= f->limit)
		return 0;
	code = vt_exec_open(&x, vt_context_blocks(f->context), rec, err);
	if (code < 0) {
		warn_of(f, err);
		return 0;
	}
	t = find_thread(f, &x);
	if (!t || find_cycles(f, &x, err) < 0)
		return vt_error_nomem(err);
	while (f->stats.insns < f->limit) {
		f->position = x.first;
		code = vt_exec_next(&x, &step, err);
		if (code <= 0)
			break;
		set_pace(f, insns);
		insns += step.insn_end - step.insn;
		code = run_step(f, t, &step, err);
		if (code < 0)
			return code;
	}
	if (code < 0) {
		warn_of(f, err);
		forget(f, t);
	}
	return 0;
}

static int take_miss(struct vt_feed *f, const struct vt_record *rec, struct vt_error *err)
{
	if (!(f->reads & 1u << VT_OP_MISSED) || (rec->kind == VT_SAMPLE && !vt_misses_is(rec)))
		return 0;
	return vt_misses_feed(&f->misses, rec, err);
}

int vt_feed_record(void *feed, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_feed *f = feed;
	size_t i;

	if (rec->kind == VT_EXEC)
		return run_exec(f, rec, err);
	if (rec->kind == VT_META || rec->kind == VT_SAMPLE)
		return take_miss(f, rec, err);
	if (rec->kind == VT_SIGNAL) {
		const int64_t key[2] = {vt_record_i64(rec, VT_SIGNAL_PID),
					vt_record_i64(rec, VT_SIGNAL_TID)};
		struct thread *t = vt_hash_find(&f->threads, key);

		if (t)
			forget(f, t);
	}
	for (i = 0; rec->kind == VT_GAP && i < f->threads.count; i++)
		forget(f, vt_hash_at(&f->threads, i));
	return 0;
}
