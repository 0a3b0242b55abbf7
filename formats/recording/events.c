/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "formats/recording/session.h"
#include "stream/bblock.h"

#define MAX_THREADS   65536
#define COMM_SIZE     15   /* TASK_COMM_LEN of Linux, less its zero */
#define NAME_MAX_SIZE 4096 /* PATH_MAX of Linux */

/* An event whose header has been checked; `c` is after the header. */
struct event {
	struct vt_ring_event head;
	struct vt_cursor c;
};

int vti_rc_damaged(struct vt_error *err, const char *why)
{
	return vt_error_set(err, VT_E_DAMAGED, "%s", why);
}

/* Copies the next bytes after an event's header. */
static bool take_payload(struct event *e, void *to, size_t size)
{
	const uint8_t *p = vt_cursor_take(&e->c, size);

	if (p)
		memcpy(to, p, size);
	return p != NULL;
}

/* ---- records ---- */

static uint64_t encode_id(int32_t v)
{
	return (uint64_t)(int64_t)v;
}

void vti_rc_put_thread(struct vt_recording *r, const struct rc_process *p, enum vt_thread_op op,
		       int32_t tid, int32_t parent, const struct vt_buf *comm)
{
	uint64_t *row = vt_writer_row(r->w, VT_THREAD);
	size_t begin = 0, i;

	row[VT_THREAD_TIME] = p->time;
	row[VT_THREAD_PID] = encode_id(p->pid);
	row[VT_THREAD_TID] = encode_id(tid);
	row[VT_THREAD_OP] = op;
	row[VT_THREAD_PPID] = encode_id(tid == p->pid ? p->ppid : p->pid);
	row[VT_THREAD_PTID] = encode_id(parent);
	if (!comm)
		return;
	for (i = 0; i < comm->size; i++)
		if (comm->data[i] == '/')
			begin = i + 1;
	i = comm->size - begin < COMM_SIZE ? comm->size - begin : COMM_SIZE;
	vt_writer_bytes(r->w, VT_THREAD_COMM, comm->data + begin, i);
}

void vti_rc_gap(struct vt_recording *r, const struct rc_process *p, const char *why, uint64_t bytes)
{
	uint64_t *row = vt_writer_row(r->w, VT_GAP);

	row[VT_GAP_TIME] = p->time;
	row[VT_GAP_PID] = encode_id(p->pid);
	row[VT_GAP_TID] = encode_id(p->nthreads ? p->threads[p->running].tid : p->pid);
	row[VT_GAP_BYTES] = bytes;
	vt_writer_text(r->w, VT_GAP_REASON, why);
	r->sum.gaps++;
}

/* Starts a record of a kind for re-execution: all these begin with the same fields. */
static uint64_t *put_state_row(struct vt_recording *r, const struct rc_process *p,
			       enum vt_kind kind, unsigned pid, unsigned tid, unsigned first,
			       int32_t of)
{
	uint64_t *row = vt_writer_row(r->w, kind);

	row[pid] = encode_id(p->pid);
	row[tid] = encode_id(of);
	row[first] = p->first;
	return row;
}

/* ---- threads ---- */

static struct rc_thread *find_rc_thread(struct rc_process *p, int32_t tid, struct vt_error *err)
{
	size_t i;

	for (i = 0; i < p->nthreads; i++)
		if (p->threads[i].tid == tid)
			return &p->threads[i];
	if (p->nthreads >= MAX_THREADS) {
		vti_rc_damaged(err, "too many threads");
		return NULL;
	}
	if (!vt_array_grow(&p->threads, &p->threads_cap, p->nthreads + 1, sizeof(*p->threads))) {
		vt_error_nomem(err);
		return NULL;
	}
	p->threads[p->nthreads] = (struct rc_thread){.tid = tid};
	return &p->threads[p->nthreads++];
}

int vti_rc_switch(struct rc_process *p, int32_t tid, struct vt_error *err)
{
	struct rc_thread *t = find_rc_thread(p, tid, err);

	if (!t)
		return -(int)err->code;
	p->running = (size_t)(t - p->threads);
	return 0;
}

/* Resets the state of a tid, which may be given to another thread. */
static void reset_rc_thread(struct rc_process *p, int32_t tid)
{
	size_t i;

	for (i = 0; i < p->nthreads; i++)
		if (p->threads[i].tid == tid)
			p->threads[i] = (struct rc_thread){.tid = tid};
}

/* ---- each type of event ---- */

/* Copies the name of a program or a file from an event. */
static bool take_event_name(struct event *e, uint32_t length, struct vt_buf *to)
{
	const uint8_t *p = length <= NAME_MAX_SIZE ? vt_cursor_take(&e->c, length) : NULL;

	to->size = 0;
	if (p)
		vt_buf_put(to, p, length);
	return p != NULL;
}

static int read_start_event(struct vt_recording *r, struct rc_process *p, struct event *e,
			    struct vt_error *err)
{
	struct vt_ring_start s;

	if (!take_payload(e, &s, sizeof(s)) || !take_event_name(e, s.name_length, &p->program))
		return vti_rc_damaged(err, "a bad start");
	if (p->started)
		return vti_rc_damaged(err, "a second start");
	p->started = true;
	if (s.forked) {
		vti_rc_put_thread(r, p, VT_OP_FORK, p->pid, p->ppid, NULL);
	} else {
		vti_rc_put_thread(r, p, VT_OP_EXEC, e->head.tid, e->head.tid, &p->program);
		r->sum.processes++;
	}
	return 0;
}

static int read_block_event(struct vt_recording *r, struct rc_process *p, struct event *e,
			    struct vt_error *err)
{
	struct vt_ring_block b;
	uint64_t slots[VT_MAX_BLOCK_SLOTS], *row;
	const uint8_t *lengths, *code;
	struct rc_block add;
	int rc;

	if (!take_payload(e, &b, sizeof(b)) || b.nslots > VT_MAX_BLOCK_SLOTS ||
	    !take_payload(e, slots, b.nslots * sizeof(*slots)))
		return vti_rc_damaged(err, "a bad basic block");
	lengths = vt_cursor_take(&e->c, b.ninsns);
	code = vt_cursor_take(&e->c, b.size);
	if (!lengths || !code || b.end >= VT_NENDS)
		return vti_rc_damaged(err, "a bad basic block");
	add = (struct rc_block){b.id, b.size, b.ninsns, b.nslots, b.data_size, slots, lengths};
	rc = vti_rc_blocks_add(&r->blocks, &add, err);
	if (rc < 0)
		return rc;
	row = vt_writer_row(r->w, VT_BLOCK);
	row[VT_BLOCK_ID] = b.id;
	row[VT_BLOCK_PID] = encode_id(p->pid);
	row[VT_BLOCK_ADDR] = b.addr;
	row[VT_BLOCK_SIZE] = b.size;
	row[VT_BLOCK_INSNS] = b.ninsns;
	row[VT_BLOCK_END] = b.end;
	row[VT_BLOCK_TARGET] = b.target;
	vt_writer_bytes(r->w, VT_BLOCK_LENGTHS, lengths, b.ninsns);
	vt_writer_bytes(r->w, VT_BLOCK_CODE, code, b.size);
	vt_writer_words(r->w, VT_BLOCK_SLOTS, slots, b.nslots);
	return 0;
}

static int read_map_event(struct vt_recording *r, struct rc_process *p, struct event *e,
			  struct vt_error *err)
{
	struct vt_ring_map m;
	const uint8_t *name = NULL;
	uint64_t *row;
	uint32_t image;

	if (take_payload(e, &m, sizeof(m)) && m.name_length <= NAME_MAX_SIZE)
		name = vt_cursor_take(&e->c, m.name_length);
	if (!name)
		return vti_rc_damaged(err, "a bad mapping");
	image = vti_rc_image(&r->images, r->w, (const char *)name, m.name_length, m.dev, m.ino);
	if (image == UINT32_MAX)
		return vt_error_nomem(err);
	row = vt_writer_row(r->w, VT_MAP);
	row[VT_MAP_TIME] = p->time;
	row[VT_MAP_PID] = encode_id(p->pid);
	row[VT_MAP_TID] = encode_id(e->head.tid);
	row[VT_MAP_START] = m.addr;
	row[VT_MAP_LENGTH] = m.length;
	row[VT_MAP_OFFSET] = m.offset;
	row[VT_MAP_IMAGE] = image;
	row[VT_MAP_PROT] = m.prot;
	row[VT_MAP_FLAGS] = m.flags;
	row[VT_MAP_INO] = m.ino;
	return 0;
}

static int read_signal_event(struct vt_recording *r, struct rc_process *p, struct event *e,
			     struct vt_error *err)
{
	struct vt_ring_signal s;
	uint64_t *row;

	if (!take_payload(e, &s, sizeof(s)))
		return vti_rc_damaged(err, "a bad signal");
	if (s.handler && !vti_rc_in_window(r, p))
		return 0;
	row = put_state_row(r, p, VT_SIGNAL, VT_SIGNAL_PID, VT_SIGNAL_TID, VT_SIGNAL_FIRST,
			    e->head.tid);
	row[VT_SIGNAL_NUMBER] = s.number;
	row[VT_SIGNAL_IP] = s.ip;
	row[VT_SIGNAL_HANDLER] = s.handler;
	return 0;
}

static int read_syscall_event(struct vt_recording *r, struct rc_process *p, struct event *e,
			      struct vt_error *err)
{
	struct vt_ring_syscall s;
	uint64_t *row;

	if (!take_payload(e, &s, sizeof(s)))
		return vti_rc_damaged(err, "a bad system call");
	p->execs = false; /* an exec that returns has failed */
	if (!vti_rc_in_window(r, p))
		return 0;
	row = put_state_row(r, p, VT_SYSCALL, VT_SYSCALL_PID, VT_SYSCALL_TID, VT_SYSCALL_FIRST,
			    e->head.tid);
	row[VT_SYSCALL_NUMBER] = s.number;
	row[VT_SYSCALL_RESULT] = (uint64_t)s.result;
	vt_writer_words(r->w, VT_SYSCALL_ARGS, s.args, sizeof(s.args) / sizeof(*s.args));
	return 0;
}

static int read_memory_event(struct vt_recording *r, struct rc_process *p, struct event *e,
			     struct vt_error *err)
{
	struct vt_ring_memory m;
	const uint8_t *bytes;
	uint64_t *row;

	if (!take_payload(e, &m, sizeof(m)))
		return vti_rc_damaged(err, "bad memory");
	bytes = vt_cursor_take(&e->c, m.length);
	if (!bytes)
		return vti_rc_damaged(err, "bad memory");
	if (!vti_rc_in_window(r, p))
		return 0;
	row = put_state_row(r, p, VT_MEMORY, VT_MEMORY_PID, VT_MEMORY_TID, VT_MEMORY_FIRST,
			    e->head.tid);
	row[VT_MEMORY_ADDR] = m.addr;
	vt_writer_bytes(r->w, VT_MEMORY_DATA, bytes, m.length);
	return 0;
}

/* Outside the window, too: what is accessed in it may be older. */
static int read_heap_event(struct vt_recording *r, struct rc_process *p, struct event *e,
			   struct vt_error *err)
{
	struct vt_ring_heap h;
	uint64_t *row;

	if (!take_payload(e, &h, sizeof(h)) || h.op >= VT_NHEAPS)
		return vti_rc_damaged(err, "a bad allocation");
	row = put_state_row(r, p, VT_HEAP, VT_HEAP_PID, VT_HEAP_TID, VT_HEAP_FIRST, e->head.tid);
	row[VT_HEAP_FIRST] = vti_rc_position(r, p);
	row[VT_HEAP_TIME] = p->time;
	row[VT_HEAP_OP] = h.op;
	row[VT_HEAP_ADDR] = h.addr;
	row[VT_HEAP_SIZE] = h.size;
	row[VT_HEAP_OLD] = h.old;
	row[VT_HEAP_CALLER] = h.caller;
	return 0;
}

static int read_state_event(struct vt_recording *r, struct rc_process *p, struct event *e,
			    struct vt_error *err)
{
	struct vt_ring_registers s;
	struct rc_thread *t;

	if (!take_payload(e, &s, sizeof(s)) || s.reason >= VT_NSTATES)
		return vti_rc_damaged(err, "a bad state");
	if (s.reason == VT_STATE_WINDOW && p->skip && !r->opt.toggle) {
		p->window = s;
		p->window_skip = p->skip;
		p->window_tid = e->head.tid;
	}
	if (!vti_rc_in_window(r, p))
		return 0;
	if (s.reason == VT_STATE_WINDOW) {
		t = find_rc_thread(p, e->head.tid, err);
		if (!t)
			return -(int)err->code;
		if (!t->dropped)
			return 0;
		t->dropped = false;
	}
	vti_rc_put_state(r, p, e->head.tid, &s);
	return 0;
}

static int read_fork_event(struct vt_recording *r, struct event *e, struct vt_error *err)
{
	struct vt_ring_fork f;

	if (!take_payload(e, &f, sizeof(f)) || f.child <= 0)
		return vti_rc_damaged(err, "a bad fork");
	/* A recorded child has its own ring. */
	r->sum.unfollowed += !f.recorded;
	return 0;
}

static int read_exec_event(struct rc_process *p, struct event *e, struct vt_error *err)
{
	struct vt_ring_exec x;

	if (!take_payload(e, &x, sizeof(x)) || !take_event_name(e, x.name_length, &p->program))
		return vti_rc_damaged(err, "a bad exec");
	p->execs = true;
	p->unfollowed = !x.recorded;
	return 0;
}

static int read_lost_event(struct vt_recording *r, struct rc_process *p, struct event *e,
			   struct vt_error *err)
{
	struct vt_ring_lost l;
	const uint8_t *text = NULL;
	struct vt_buf line = VT_BUF_INIT;
	uint64_t *row;

	if (take_payload(e, &l, sizeof(l)) && l.text_length <= NAME_MAX_SIZE)
		text = vt_cursor_take(&e->c, l.text_length);
	if (!text)
		return vti_rc_damaged(err, "a bad note of what is left out");
	row = vt_writer_row(r->w, VT_LOST);
	row[VT_LOST_TIME] = p->time;
	row[VT_LOST_PID] = encode_id(p->pid);
	row[VT_LOST_TID] = encode_id(e->head.tid);
	row[VT_LOST_COUNT] = l.count;
	vt_writer_bytes(r->w, VT_LOST_SOURCE, text, l.text_length);
	r->sum.left_out++;
	vt_buf_printf(&line, "process %d: left out: %.*s", (int)p->pid, (int)l.text_length,
		      (const char *)text);
	if (l.count)
		vt_buf_printf(&line, " (%llu)", (unsigned long long)l.count);
	if (r->opt.warn)
		r->opt.warn(r->opt.warn_arg, vt_buf_str(&line));
	vt_buf_free(&line);
	return 0;
}

static int read_number_event(struct vt_recording *r, struct rc_process *p, struct event *e,
			     struct vt_error *err)
{
	struct vt_ring_number n;
	struct rc_thread *t;

	if (!take_payload(e, &n, sizeof(n)))
		return vti_rc_damaged(err, "an event that is cut");
	switch (e->head.type) {
	case VT_RING_THREAD:
		reset_rc_thread(p, e->head.tid);
		if (e->head.tid == p->pid)
			return 0;
		vti_rc_put_thread(r, p, VT_OP_FORK, e->head.tid, (int32_t)n.number, NULL);
		return 0;
	case VT_RING_EXIT:
		p->exited = true;
		vti_rc_put_thread(r, p, VT_OP_EXIT, p->pid, p->pid, NULL);
		return 0;
	default:
		t = find_rc_thread(p, e->head.tid, err);
		if (!t)
			return -(int)err->code;
		t->inside = n.number != 0;
		return 0;
	}
}

static int read_event(struct vt_recording *r, struct rc_process *p, struct event *e,
		      struct vt_error *err)
{
	switch (e->head.type) {
	case VT_RING_START:
		return read_start_event(r, p, e, err);
	case VT_RING_BLOCK:
		return read_block_event(r, p, e, err);
	case VT_RING_MAP:
		return read_map_event(r, p, e, err);
	case VT_RING_UNMAP: /* a later mapping there has its own event */
	case VT_RING_PARTIAL:
		return 0;
	case VT_RING_THREAD:
	case VT_RING_EXIT:
	case VT_RING_TOGGLE:
		return read_number_event(r, p, e, err);
	case VT_RING_THREAD_EXIT:
		if (e->head.tid != p->pid)
			vti_rc_put_thread(r, p, VT_OP_EXIT, e->head.tid, e->head.tid, NULL);
		return 0;
	case VT_RING_SWITCH:
		return vti_rc_switch(p, e->head.tid, err);
	case VT_RING_SIGNAL:
		return read_signal_event(r, p, e, err);
	case VT_RING_SYSCALL:
		return read_syscall_event(r, p, e, err);
	case VT_RING_MEMORY:
		return read_memory_event(r, p, e, err);
	case VT_RING_HEAP:
		return read_heap_event(r, p, e, err);
	case VT_RING_STATE:
		return read_state_event(r, p, e, err);
	case VT_RING_FORK:
		return read_fork_event(r, e, err);
	case VT_RING_EXEC:
		return read_exec_event(p, e, err);
	case VT_RING_LOST:
		return read_lost_event(r, p, e, err);
	default:
		return vti_rc_damaged(err, "an event of unknown type");
	}
}

/* ---- a buffer ---- */

/* A position in a buffer, in bytes of its areas. */
struct place {
	uint32_t ids;
	uint32_t data;
};

/* How a run between two events ends. */
struct run_end {
	struct place at;
	uint32_t partial; /* instructions of the last block; 0: all */
	bool last;	  /* of the buffer */
	bool open;	  /* it does not end its record */
};

/* Writes the blocks up to an event, or to the end. */
static int write_run_to(struct vt_recording *r, struct rc_process *p, const struct rc_filled *f,
			struct place *at, struct run_end end, struct vt_error *err)
{
	const struct place to = end.at;
	struct rc_run run = {
		.ids = f->ids + at->ids,
		.n = (to.ids - at->ids) / sizeof(uint32_t),
		.data = f->data + at->data,
		.size = to.data - at->data,
		.partial = end.partial,
		.cut = f->cut && end.last,
		.open = end.open,
	};

	*at = to;
	if (!run.n && !run.size && (end.open || !r->chunk->n))
		return 0;
	if (run.n)
		p->execs = false;
	return vti_rc_run(r, p, &run, err);
}

/* Takes an event's header, and checks it. */
static bool take_event_header(struct vt_cursor *c, const struct rc_filled *f, struct place at,
			      struct event *e)
{
	const uint8_t *p = c->p;

	if (vt_cursor_left(c) < sizeof(e->head))
		return false;
	memcpy(&e->head, p, sizeof(e->head));
	if (e->head.size < sizeof(e->head) || e->head.size % 8 ||
	    !vt_cursor_take(c, e->head.size) || e->head.ids % 4 || e->head.ids < at.ids ||
	    e->head.ids > f->ids_size || e->head.data < at.data || e->head.data > f->data_size)
		return false;
	e->c = vt_cursor_make(p + sizeof(e->head), e->head.size - sizeof(e->head), false);
	return true;
}

/* Reads how many instructions of its last block the run before an event has; 0: all. */
static int read_partial(const struct event *e, uint32_t *insns, struct vt_error *err)
{
	struct event copy = *e;
	struct vt_ring_number n;

	*insns = 0;
	if (e->head.type != VT_RING_PARTIAL)
		return 0;
	if (!take_payload(&copy, &n, sizeof(n)) || n.number < 1 || n.number > VT_MAX_BLOCK_INSNS)
		return vti_rc_damaged(err, "a bad part of a block");
	*insns = (uint32_t)n.number;
	return 0;
}

/* The end of a run at an event.  Allocations say where they are: they need no record to end. */
static struct run_end make_run_end(const struct event *e, uint32_t partial)
{
	return (struct run_end){.at = {e->head.ids, e->head.data},
				.partial = partial,
				.open = e->head.type == VT_RING_HEAP};
}

/* Reads the events, and the blocks between them. */
static int read_events(struct vt_recording *r, struct rc_process *p, const struct rc_filled *f,
		       struct vt_error *err)
{
	const struct run_end end = {.at = {f->ids_size, f->data_size}, .last = true};
	struct vt_cursor c = vt_cursor_make(r->events.data, f->events_size, false);
	struct place at = {0, 0};
	struct event e;
	uint32_t partial;
	int rc = 0;

	while (rc == 0 && vt_cursor_left(&c)) {
		if (!take_event_header(&c, f, at, &e))
			return f->cut ? 0 : vti_rc_damaged(err, "a bad event");
		rc = read_partial(&e, &partial, err);
		/* A BLOCK event comes before all executions of the block, so no run ends at it. */
		if (rc == 0 && e.head.type != VT_RING_BLOCK)
			rc = write_run_to(r, p, f, &at, make_run_end(&e, partial), err);
		if (rc == 0)
			rc = read_event(r, p, &e, err);
	}
	return rc < 0 ? rc : write_run_to(r, p, f, &at, end, err);
}

int vti_rc_read(struct vt_recording *r, struct rc_process *p, const struct rc_filled *f,
		struct vt_error *err)
{
	int rc;

	/* A copy: the recorded program could change them between the check and the use. */
	r->events.size = 0;
	vt_buf_put(&r->events, f->events, f->events_size);
	if (r->events.failed)
		return vt_error_nomem(err);
	p->time = f->time;
	rc = vti_rc_switch(p, f->tid, err);
	if (rc == 0)
		rc = read_events(r, p, f, err);
	vti_rc_end_record(r, p);
	return rc;
}
