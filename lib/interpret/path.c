/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "interpret/path.h"

#include <stdlib.h>
#include <string.h>

/* The maximum number of instructions in a run, so that its captures stay in the cache. */
#define TOGETHER 512

#define KERNEL (UINT64_C(1) << 63) /* addresses from here on are the kernel's */

/* ---- life ---- */

/* The code of the block at hand: the stream has it as it was run. */
static size_t fetch_block_code(void *arg, uint64_t space, uint64_t addr, uint8_t *bytes,
			       size_t size)
{
	const struct vti_paths *p = arg;
	const struct vt_bblock *b = p->at->block;
	uint64_t at = addr - b->addr;

	(void)space;
	if (at >= b->size)
		return 0;
	if (size > b->size - at)
		size = b->size - at;
	memcpy(bytes, b->code + at, size);
	return size;
}

struct vti_paths *vti_paths_new(struct vt_interpret *in, struct vt_error *err)
{
	struct vti_paths *p = calloc(1, sizeof(*p));

	if (!p) {
		vt_error_nomem(err);
		return NULL;
	}
	p->in = in;
	vt_hash_init(&p->processes, sizeof(struct vti_path_process), sizeof(int64_t));
	return p;
}

void vti_paths_free(struct vti_paths *p)
{
	if (!p)
		return;
	vt_interp_free(p->machine);
	vti_path_free_state(p);
	vti_path_free_slots(p);
	vti_callers_fini(&p->callers);
	vt_hash_fini(&p->processes);
	free(p);
}

void vti_paths_end(const struct vti_paths *p)
{
	struct vt_interpret_totals *t = &p->in->totals;
	uint64_t blocks;

	if (!p->machine)
		return;
	vt_interp_lifted(p->machine, &blocks, &t->unlifted);
	t->inferred = vt_interp_inferred(p->machine);
}

/* What kind of recording it is is known when the first run comes. */
static int make_path_machine(struct vti_paths *p, struct vt_error *err)
{
	struct vt_interp_options o = {
		.fetch = fetch_block_code,
		.fetch_arg = p,
		.capture = p->in->o.capture,
		.valgrind = p->valgrind,
		.max_code = VTI_MAX_CODE,
		.mxcsr = vti_assumed_mxcsr(&p->in->o),
	};

	if (p->valgrind)
		o.hooks = vti_path_hooks(p);
	if (!p->machine)
		p->machine = vt_interp_new(&o, NULL, err);
	return p->machine ? 0 : -VT_E_NOMEM;
}

/* ---- where a path goes on ---- */

static void set_possible_next(struct vti_path_thread *t, uint64_t one, uint64_t other)
{
	t->goes_on = VTI_GOES_TO;
	t->to[0] = one;
	t->to[1] = other;
}

/* Sets the addresses at which the path may continue after a step, as far as its code determines. */
static void set_next_addresses(struct vti_path_thread *t, const struct vt_step *s)
{
	const struct vt_bblock *b = s->block;
	uint64_t behind = b->addr + b->size;

	t->in_syscall = false;
	if (s->insn_end < b->ninsns) {
		behind = vt_bblock_insn_addr(b, s->insn_end);
		set_possible_next(t, behind, behind);
		return;
	}
	switch (b->end) {
	case VT_END_SYSCALL:
		t->in_syscall = true;
		set_possible_next(t, behind, behind);
		break;
	case VT_END_FALL:
		set_possible_next(t, behind, behind);
		break;
	case VT_END_BRANCH:
		set_possible_next(t, behind, b->target);
		break;
	case VT_END_JUMP:
	case VT_END_CALL:
		if (b->target)
			set_possible_next(t, b->target, b->target);
		else
			t->goes_on = VTI_GOES_ANYWHERE;
		break;
	default:
		t->goes_on = VTI_GOES_ANYWHERE;
		break;
	}
}

/* The address behind a step where it can only be one, or 0. */
static uint64_t only_next(const struct vti_path_thread *t)
{
	return t->goes_on == VTI_GOES_TO && t->to[0] == t->to[1] ? t->to[0] : 0;
}

static uint64_t start_of(const struct vt_step *s)
{
	return vt_bblock_insn_addr(s->block, s->insn);
}

/* Whether the thread's state holds at this address; where it does not, it is lost. */
static void check_arrival(struct vti_paths *p, uint64_t addr)
{
	const struct vti_path_thread *t = p->at;

	if (t->goes_on == VTI_GOES_ANYWHERE ||
	    (t->goes_on == VTI_GOES_TO && (addr == t->to[0] || addr == t->to[1])))
		return;
	vti_path_lose(p);
	p->in->totals.begun++;
}

/* ---- one block ---- */

/* Code of the kernel, or of another mode: it is left out. */
static bool is_foreign(const struct vt_bblock *b)
{
	return b->addr >= KERNEL || !b->code || b->mode != 64;
}

/*
 * Code that a decoder took from a file that may be another one, or that the program has patched:
 * the answer for one mapping holds until another comes.  A recorder records the code that ran.
 */
static enum vt_withheld is_withheld(struct vti_paths *p, const struct vt_bblock *b)
{
	struct vti_spaces *s = &p->in->spaces;
	const struct vt_map *m;

	if (p->valgrind)
		return VT_WITHHELD_NOT;
	if (p->asked_changes == s->changes && p->asked_pid == p->at->pid &&
	    b->addr - p->asked_start < p->asked_size)
		return p->withheld;
	m = vt_addrspace_find(s->maps, (int32_t)p->at->pid, b->addr, 0);
	p->withheld = vti_spaces_decoded_withheld(s, p->at->pid, b->addr);
	p->asked_changes = s->changes;
	p->asked_pid = p->at->pid;
	p->asked_start = m ? m->start : b->addr;
	p->asked_size = m ? m->end - m->start : 1;
	return p->withheld;
}

static void pass_withheld(struct vti_paths *p, const struct vt_step *s, enum vt_withheld why)
{
	p->in->totals.code_withheld[why] += s->insn_end - s->insn;
	vti_path_lose(p);
	p->at->block = NULL;
}

static void pass_foreign(struct vti_paths *p, const struct vt_step *s)
{
	struct vti_path_thread *t = p->at;

	p->in->totals.foreign += s->insn_end - s->insn;
	/* The kernel comes back to where it was entered, or with another state. */
	if (s->block->addr < KERNEL || t->goes_on == VTI_GOES_ANYWHERE)
		t->goes_on = VTI_GOES_NOWHERE;
	t->in_kernel = true;
	t->block = NULL;
}

/* The path and the state that is known contradict each other: one of them is wrong. */
static void count_stop(struct vti_paths *p, enum vt_stop stop)
{
	p->in->totals.stops[stop]++;
	p->broken = true;
	if (stop != VT_STOP_LENGTH)
		vti_path_lose(p);
}

/* Who called the procedure that a step is in. */
static void note_caller(struct vti_paths *p, const struct vt_step *s, uint64_t addr)
{
	struct vt_callstack *stack = &p->at->stack;

	if (!p->in->o.callers)
		return;
	vt_callstack_set_caller(stack, p->first_caller);
	p->first_caller = 0;
	vt_callstack_enter(stack, s);
	vti_callers_note(&p->callers, p->numbered, addr, vt_callstack_caller(stack));
}

static int interpret_step(struct vti_paths *p, const struct vt_step *s, const struct vt_step *after,
			  struct vt_error *err)
{
	struct vti_path_thread *t = p->at;
	uint64_t addr = start_of(s), next;
	enum vt_withheld why;
	enum vt_stop stop;

	if (is_foreign(s->block)) {
		pass_foreign(p, s);
		return 0;
	}
	why = is_withheld(p, s->block);
	if (why) {
		pass_withheld(p, s, why);
		return 0;
	}
	if (t->in_kernel)
		vt_known_memory_forget(p->memory->known);
	t->in_kernel = false;
	check_arrival(p, addr);
	t->block = s->block;
	t->insn_end = s->insn_end;
	set_next_addresses(t, s);
	next = after && after->block->addr < KERNEL && !t->in_syscall ? start_of(after)
								      : only_next(t);
	p->step = s;
	p->asked = UINT32_MAX;
	note_caller(p, s, addr);
	stop = vt_interp_follow(p->machine, s->block->id + 1, addr, s->insn_end - s->insn, next,
				err);
	if (stop == VT_STOP_MEMORY)
		return -VT_E_NOMEM;
	vt_callstack_leave(&t->stack, s);
	p->numbered += s->insn_end - s->insn;
	if (stop != VT_STOP_LENGTH)
		count_stop(p, stop);
	return 0;
}

/* ---- a run ---- */

/* What was captured since the last time. */
static int deliver_path_run(struct vti_paths *p, struct vt_run *r, struct vt_error *err)
{
	int code;

	r->captures = vt_interp_captures(p->machine, &r->ncaptures);
	r->callers = p->callers.list;
	r->ncallers = p->callers.count;
	r->caller = r->ncallers ? r->callers[0].caller : 0;
	code = r->insns ? vti_interpret_deliver(p->in, r, err) : 0;
	if (p->callers.no_memory)
		code = vt_error_set(err, VT_E_NOMEM, "out of memory for return addresses");
	vt_interp_clear(p->machine);
	p->callers.count = 0;
	p->numbered = 0;
	p->broken = false;
	r->insns = 0;
	r->begins = false;
	return code;
}

static int take_steps(struct vti_paths *p, struct vt_exec *x, struct vt_run *r,
		      struct vt_error *err)
{
	struct vt_step step, after;
	int more = vt_exec_next(x, &after, err), code = 0;

	while (more > 0 && code >= 0) {
		step = after;
		more = vt_exec_next(x, &after, err);
		if (more < 0)
			break;
		code = interpret_step(p, &step, more ? &after : NULL, err);
		r->insns += step.insn_end - step.insn;
		if (code == 0 && (r->insns >= TOGETHER || p->broken || !more))
			code = deliver_path_run(p, r, err);
		/* Behind a block from which there are several ways, what follows says which. */
		if (more && step.block->end != VT_END_SYSCALL &&
		    p->at->goes_on != VTI_GOES_NOWHERE && !is_foreign(step.block) &&
		    !is_foreign(after.block))
			set_possible_next(p->at, start_of(&after), start_of(&after));
	}
	return more < 0 ? more : code;
}

/* Samples of what was executed tell nothing of what was before them. */
static int check_first(struct vti_paths *p, const struct vt_exec *x, struct vt_error *err)
{
	struct vti_path_process *process = vti_path_process(p, x->pid, err);

	if (!process)
		return -VT_E_NOMEM;
	if (vt_context_is_sampled(p->in->spaces.context) ||
	    (process->begun && x->first != process->first))
		vti_path_lose_process(p, x->pid);
	return 0;
}

static int feed_exec(struct vti_paths *p, const struct vt_record *rec, struct vt_error *err)
{
	struct vti_path_process *process;
	struct vt_exec x;
	struct vt_run r = {.weight = 1, .stop = VT_STOP_LENGTH};
	int code = make_path_machine(p, err);

	if (code == 0)
		code = vt_exec_open(&x, vt_context_blocks(p->in->spaces.context), rec, err);
	if (code == 0)
		code = check_first(p, &x, err);
	if (code == 0)
		code = vti_path_switch(p, x.pid, x.tid, err);
	if (code < 0)
		return code;
	p->in->totals.execs++;
	r.time = x.time;
	r.pid = x.pid;
	r.tid = x.tid;
	p->first_caller = x.caller;
	r.begins = p->at->goes_on == VTI_GOES_NOWHERE;
	vt_interp_clear(p->machine);
	process = vti_path_process(p, x.pid, err);
	process->begun = true;
	process->tid = x.tid;
	process->first = x.first + x.insns;
	code = take_steps(p, &x, &r, err);
	if (code < 0)
		vti_path_lose(p);
	return code;
}

/* ---- what happens in between ---- */

static int feed_trace(struct vti_paths *p, const struct vt_record *rec)
{
	struct vti_path_thread *t = p->at;
	uint64_t ip = vt_record_u64(rec, VT_TRACE_IP);

	if (!t || t->pid != vt_record_i64(rec, VT_TRACE_PID) ||
	    t->tid != vt_record_i64(rec, VT_TRACE_TID))
		return 0;
	switch (vt_record_u64(rec, VT_TRACE_EVENT)) {
	case VT_TRACE_ASYNC_DISABLED:
	case VT_TRACE_ASYNC_BRANCH:
		/* The kernel gives the registers back if it comes back there. */
		if (t->in_kernel)
			break;
		check_arrival(p, ip);
		if (t->goes_on != VTI_GOES_NOWHERE)
			set_possible_next(t, ip, ip);
		t->in_kernel = true;
		break;
	case VT_TRACE_DISABLED:
		/* Where only a part of the program is traced, the rest of it may do anything. */
		if (!t->in_syscall && !t->in_kernel)
			vti_path_lose(p);
		break;
	case VT_TRACE_TSX:
		if (vt_record_u64(rec, VT_TRACE_VALUE) & 2)
			vti_path_lose(p);
		break;
	default:
		break;
	}
	return 0;
}

static int feed_path_thread(struct vti_paths *p, const struct vt_record *rec, struct vt_error *err)
{
	int64_t pid = vt_record_i64(rec, VT_THREAD_PID);
	bool other = vt_record_i64(rec, VT_THREAD_TID) != pid;
	uint64_t op = vt_record_u64(rec, VT_THREAD_OP);
	struct vti_path_process *process = vti_path_process(p, pid, err);

	if (!process)
		return -VT_E_NOMEM;
	if (op == VT_OP_EXEC || (op == VT_OP_FORK && !other)) {
		vti_path_lose_process(p, pid);
	} else if (op == VT_OP_EXIT) {
		vti_path_lose_memory(p, pid);
	} else if (other && !process->many) {
		process->many = true;
		if (!p->valgrind)
			vti_path_lose_memory(p, pid);
	}
	return 0;
}

static void feed_gap(struct vti_paths *p, const struct vt_record *rec)
{
	int64_t pid = vt_record_i64(rec, VT_GAP_PID);

	if (pid > 0)
		vti_path_lose_process(p, pid);
	else
		vti_path_lose_all(p);
}

static void feed_path_meta(struct vti_paths *p, const struct vt_record *rec)
{
	if (vt_record_is_meta(rec, "recorder"))
		p->valgrind = vt_bytes_are(vt_record_bytes(rec, VT_META_VALUE), "valgrind");
}

int vti_paths_feed(struct vti_paths *p, const struct vt_record *rec, struct vt_error *err)
{
	switch (rec->kind) {
	case VT_EXEC:
		return feed_exec(p, rec, err);
	case VT_STATE:
		return make_path_machine(p, err) < 0 ? -VT_E_NOMEM : vti_path_state(p, rec, err);
	case VT_SYSCALL:
		return make_path_machine(p, err) < 0 ? -VT_E_NOMEM : vti_path_syscall(p, rec, err);
	case VT_MEMORY:
		return make_path_machine(p, err) < 0 ? -VT_E_NOMEM : vti_path_written(p, rec, err);
	case VT_VALUE:
		vti_path_value(p, rec);
		return 0;
	case VT_TRACE:
		return feed_trace(p, rec);
	case VT_THREAD:
		return feed_path_thread(p, rec, err);
	case VT_GAP:
		feed_gap(p, rec);
		return 0;
	case VT_META:
		feed_path_meta(p, rec);
		return 0;
	default:
		return 0;
	}
}
