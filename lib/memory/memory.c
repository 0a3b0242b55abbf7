/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "memory/memory_internal.h"
#include "memory/records_internal.h"
#include "stream/exec.h"

/* System calls that write from memory to a file: asm/unistd_64.h. */
enum { SYS_WRITE = 1, SYS_PWRITE64 = 18, SYS_WRITEV = 20, SYS_SENDTO = 44 };

/* So much of what an argument points to, the kernel may have read. */
#define ARGUMENT_BYTES 256

#define IOVEC_SIZE 16 /* an address and a length: bits/types/struct_iovec.h */
#define MAX_IOVECS 1024

#define REG_SP 7 /* of STATE's registers: asm/perf_regs.h */

/* ---- processes and threads ---- */

/* Of vti_memory_process.threads and vt_memory.process_ids: what an id stands for. */
struct by_id {
	int64_t id;
	uint64_t index;
};

struct vti_memory_process *vti_memory_process(struct vt_memory *m, int64_t pid)
{
	const struct by_id *known = vt_hash_find(&m->process_ids, &pid);
	struct vti_memory_process *p;
	struct by_id *e;

	if (known)
		return m->processes[known->index];
	if (!vt_array_grow(&m->processes, &m->processes_cap, m->nprocesses + 1,
			   sizeof(struct vti_memory_process *)))
		return NULL;
	p = calloc(1, sizeof(*p));
	e = p ? vt_hash_add(&m->process_ids, &pid, NULL) : NULL;
	if (!e) {
		free(p);
		return NULL;
	}
	p->pid = pid;
	vti_cells_init(&p->cells, m->o.grain != 8);
	vt_hash_init(&p->entries, 2 * sizeof(uint64_t), sizeof(uint64_t));
	vt_hash_init(&p->thread_ids, sizeof(struct by_id), sizeof(int64_t));
	p->number = (uint32_t)m->nprocesses;
	e->index = m->nprocesses;
	m->processes[m->nprocesses++] = p;
	return p;
}

struct vti_memory_thread *vti_memory_thread(struct vti_memory_process *p, int64_t tid)
{
	const struct by_id *known = vt_hash_find(&p->thread_ids, &tid);
	struct vti_memory_thread *t;
	struct by_id *e;

	if (known)
		return p->threads[known->index];
	if (!vt_array_grow(&p->threads, &p->threads_cap, p->nthreads + 1,
			   sizeof(struct vti_memory_thread *)))
		return NULL;
	t = calloc(1, sizeof(*t));
	e = t ? vt_hash_add(&p->thread_ids, &tid, NULL) : NULL;
	if (!e) {
		free(t);
		return NULL;
	}
	t->tid = tid;
	e->index = p->nthreads;
	p->threads[p->nthreads++] = t;
	return t;
}

static void count_unread(struct vt_memory *m, const struct vti_memory_process *p)
{
	size_t i;
	unsigned k;

	for (i = 0; i < vti_cells_count(&p->cells); i++) {
		const struct vti_memory_chunk *chunk = vti_cells_chunk(&p->cells, i);

		for (k = 0; k < VTI_CHUNK_CELLS; k++)
			m->totals.unread += (unsigned)__builtin_popcount(chunk->cells[k].unread);
	}
}

static void free_threads(struct vti_memory_process *p)
{
	size_t i;

	for (i = 0; i < p->nthreads; i++) {
		vti_frames_fini(&p->threads[i]->frames);
		free(p->threads[i]);
	}
	p->nthreads = 0;
	vt_hash_clear(&p->thread_ids);
}

/* Forgets the memory of a process, which ends or executes another program. */
static void clear_process(struct vt_memory *m, struct vti_memory_process *p)
{
	count_unread(m, p);
	vti_cells_clear(&p->cells);
	vti_memory_forget_allocations(m, p);
	vt_hash_clear(&p->entries);
	free_threads(p);
	p->brk = 0;
	p->nwaiting = 0;
}

static void free_process(struct vt_memory *m, struct vti_memory_process *p)
{
	vti_tree_free(&m->allocation_nodes, p->allocations);
	vti_tree_free(&m->region_nodes, p->regions);
	vti_cells_fini(&p->cells);
	vt_hash_fini(&p->entries);
	free_threads(p);
	vt_hash_fini(&p->thread_ids);
	free(p->threads);
	free(p->waiting);
	free(p);
}

static int take_thread(struct vt_memory *m, const struct vt_record *rec, struct vt_error *err)
{
	int64_t pid = vt_record_i64(rec, VT_THREAD_PID), tid = vt_record_i64(rec, VT_THREAD_TID);
	int64_t parent = vt_record_i64(rec, VT_THREAD_PPID);
	struct vti_memory_process *p = vti_memory_process(m, pid), *of;
	uint64_t op = vt_record_u64(rec, VT_THREAD_OP);
	int code;

	if (!p)
		return vt_error_nomem(err);
	if (op == VT_OP_EXEC || (op == VT_OP_EXIT && pid == tid)) {
		code = vti_memory_heap_until(m, p, UINT64_MAX, err);
		clear_process(m, p);
		return code;
	}
	if (op != VT_OP_FORK || pid == parent)
		return 0;
	of = vti_memory_process(m, parent);
	return of ? vti_memory_inherit(m, of, p, err) : vt_error_nomem(err);
}

/* ---- executed code ---- */

static const struct vti_block_accesses *find_accesses(struct vt_memory *m,
						      const struct vt_bblock *b)
{
	size_t had = m->nblocks;

	if (b->id >= had) {
		if (!vt_array_grow(&m->blocks, &m->nblocks, b->id + 1, sizeof(*m->blocks)))
			return NULL;
		memset(m->blocks + had, 0, (m->nblocks - had) * sizeof(*m->blocks));
	}
	if (!m->blocks[b->id].list && !vti_block_accesses_make(&m->blocks[b->id], b))
		return NULL;
	return &m->blocks[b->id];
}

/* `first`: instructions of the process before the step. */
static int take_access(struct vt_memory *m, struct vti_memory_process *p,
		       struct vti_memory_thread *t, const struct vt_step *step, uint64_t first,
		       const struct vti_block_access *a, struct vt_error *err)
{
	const struct vt_slot *slots = step->block->slots;
	const struct vt_access_slots *s = &a->slots;
	struct vti_touch touch = {
		.size = s->size, .store = s->store, .position = first + (s->insn - step->insn)};
	int code;

	if (s->guard != VT_ACCESS_NO_SLOT && !vt_step_value(step, s->guard, 0))
		return 0;
	touch.addr = vt_step_value(step, s->address, 0);
	touch.ip = vt_bblock_insn_addr(step->block, s->insn);
	touch.value = step->data + (slots[s->value].offset - step->data_offset);
	/* The return address is counted in the frame of the caller, which stores it. */
	if (a->role == VTI_ACCESS_RETURN)
		vti_frames_return(&t->frames, touch.addr);
	code = vti_memory_touch(m, p, t, &touch, err);
	if (code == 0 && a->role == VTI_ACCESS_CALL &&
	    !vti_frames_call(&t->frames, touch.addr, step->block->addr + step->block->size))
		return vt_error_nomem(err);
	return code;
}

/* A stub of a procedure linkage table: "jmp *disp32(%rip)", perhaps after "endbr64". */
static bool is_stub(const struct vt_step *step)
{
	return step->block->end == VT_END_JUMP_INDIRECT && step->block->ninsns <= 2 &&
	       step->insn_end == step->block->ninsns;
}

static int take_step(struct vt_memory *m, struct vti_memory_process *p, struct vti_memory_thread *t,
		     const struct vt_step *step, uint64_t first, struct vt_error *err)
{
	const struct vti_block_accesses *k = find_accesses(m, step->block);
	uint32_t i;
	int code = 0;

	if (!k)
		return vt_error_nomem(err);
	if (!step->insn && t->frames.entering)
		vti_frames_enter(&t->frames, step->block->addr, is_stub(step));
	m->totals.insns += step->insn_end - step->insn;
	m->totals.incomplete += k->incomplete;
	for (i = 0; i < k->count && code == 0; i++)
		if (k->list[i].slots.insn >= step->insn && k->list[i].slots.insn < step->insn_end)
			code = take_access(m, p, t, step, first, &k->list[i], err);
	return code;
}

static void continue_process(struct vti_memory_process *p, struct vti_memory_thread *t,
			     const struct vt_exec *x)
{
	if (x->first != p->next)
		p->epoch++;
	p->next = x->first + x->insns;
	if (t->epoch != p->epoch)
		vti_frames_clear(&t->frames);
	t->epoch = p->epoch;
}

static int take_exec(struct vt_memory *m, const struct vt_record *rec, struct vt_error *err)
{
	struct vti_memory_process *p;
	struct vti_memory_thread *t;
	struct vt_step step;
	struct vt_exec x;
	uint64_t first;
	int code = vt_exec_open(&x, vt_context_blocks(m->context), rec, err);

	if (code < 0)
		return code;
	p = vti_memory_process(m, x.pid);
	t = p ? vti_memory_thread(p, x.tid) : NULL;
	if (!t)
		return vt_error_nomem(err);
	continue_process(p, t, &x);
	for (;;) {
		if (p->nwaiting) {
			code = vti_memory_heap_until(m, p, x.first, err);
			if (code < 0)
				return code;
		}
		first = x.first;
		code = vt_exec_next(&x, &step, err);
		if (code <= 0)
			break;
		code = take_step(m, p, t, &step, first, err);
		if (code < 0)
			return code;
	}
	if (code < 0)
		p->epoch++;
	return code;
}

/* ---- the kernel ---- */

/* The 8 bytes at an address, if they are known. */
static bool peek(struct vti_memory_process *p, uint64_t addr, uint64_t *value)
{
	const struct vti_memory_cell *c = vti_cells_find(&p->cells, addr);

	*value = c ? c->content : 0;
	return c && c->known == 0xff && !(addr & 7);
}

static void read_iovecs(struct vt_memory *m, struct vti_memory_process *p, uint64_t addr,
			uint64_t count)
{
	uint64_t i, base, size;

	for (i = 0; i < count && i < MAX_IOVECS; i++, addr += IOVEC_SIZE)
		if (peek(p, addr, &base) && peek(p, addr + 8, &size))
			vti_memory_kernel_read(m, p, base, size);
}

static int take_syscall(struct vt_memory *m, const struct vt_record *rec, struct vt_error *err)
{
	struct vti_memory_process *p = vti_memory_process(m, vt_record_i64(rec, VT_SYSCALL_PID));
	struct vt_words args = vt_record_words(rec, VT_SYSCALL_ARGS);
	uint64_t number = vt_record_u64(rec, VT_SYSCALL_NUMBER);
	int64_t result = vt_record_i64(rec, VT_SYSCALL_RESULT);
	size_t i;

	if (!p)
		return vt_error_nomem(err);
	if (args.count < 6)
		return 0;
	for (i = 0; i < 6; i++)
		vti_memory_kernel_read(m, p, args.data[i], ARGUMENT_BYTES);
	if ((number == SYS_WRITE || number == SYS_PWRITE64 || number == SYS_SENDTO) && result > 0)
		vti_memory_kernel_read(m, p, args.data[1], (uint64_t)result);
	if (number == SYS_WRITEV)
		read_iovecs(m, p, args.data[1], args.data[2]);
	return vti_memory_mappings(m, p, number, args.data, result, err);
}

static int take_memory(struct vt_memory *m, const struct vt_record *rec, struct vt_error *err)
{
	struct vti_memory_process *p = vti_memory_process(m, vt_record_i64(rec, VT_MEMORY_PID));
	struct vt_bytes data = vt_record_bytes(rec, VT_MEMORY_DATA);

	return p ? vti_memory_kernel_wrote(m, p, vt_record_u64(rec, VT_MEMORY_ADDR), data.data,
					   data.size, err)
		 : vt_error_nomem(err);
}

static int take_state(struct vt_memory *m, const struct vt_record *rec, struct vt_error *err)
{
	struct vti_memory_process *p = vti_memory_process(m, vt_record_i64(rec, VT_STATE_PID));
	struct vti_memory_thread *t =
		p ? vti_memory_thread(p, vt_record_i64(rec, VT_STATE_TID)) : NULL;
	struct vt_words regs = vt_record_words(rec, VT_STATE_REGS);

	if (!t)
		return vt_error_nomem(err);
	if (regs.count <= REG_SP)
		return 0;
	vti_frames_see(&t->frames, regs.data[REG_SP]);
	/* What a thread begins with was not called, but has variables below the stack pointer. */
	if (vt_record_u64(rec, VT_STATE_REASON) == VT_STATE_START) {
		vti_frames_clear(&t->frames);
		if (!vti_frames_call(&t->frames, regs.data[REG_SP] - 8, 0))
			return vt_error_nomem(err);
	}
	return 0;
}

/* ---- records ---- */

/* The samples of misses stand beside those of the executed code's accesses, others do not. */
static int take_sample(struct vt_memory *m, const struct vt_record *rec, struct vt_error *err)
{
	if (vt_misses_is(rec) && m->misses.told)
		return vt_misses_feed(&m->misses, rec, err);
	return m->totals.insns || m->misses.told ? 0 : vti_memory_sample(m, rec, err);
}

static int take_record(void *arg, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_memory *m = arg;
	struct vt_error bad = VT_ERROR_INIT;
	int code;

	switch (rec->kind) {
	case VT_EXEC:
		code = take_exec(m, rec, &bad);
		break;
	case VT_HEAP:
		code = vti_memory_heap(m, rec, &bad);
		break;
	case VT_SAMPLE:
		code = take_sample(m, rec, &bad);
		break;
	case VT_META:
		code = vt_misses_feed(&m->misses, rec, &bad);
		break;
	case VT_THREAD:
		code = take_thread(m, rec, &bad);
		break;
	case VT_SYSCALL:
		code = take_syscall(m, rec, &bad);
		break;
	case VT_MEMORY:
		code = take_memory(m, rec, &bad);
		break;
	case VT_STATE:
		code = take_state(m, rec, &bad);
		break;
	case VT_ACCESSES:
	case VT_OBJECT:
	case VT_LOCATION:
		code = vt_memrecords_feed(m->records, rec, &bad);
		break;
	default:
		code = vt_context_refused(m->context, &bad);
		break;
	}
	if (code != -VT_E_FORMAT) {
		if (code < 0)
			*err = bad;
		return code;
	}
	m->totals.damaged++;
	if (m->o.warn)
		m->o.warn(m->o.warn_arg, bad.text);
	return 0;
}

/* ---- life ---- */

#define WANTED                                                                                     \
	(VT_KIND(VT_EXEC) | VT_KIND(VT_HEAP) | VT_KIND(VT_THREAD) | VT_KIND(VT_SYSCALL) |          \
	 VT_KIND(VT_MEMORY) | VT_KIND(VT_SAMPLE) | VT_KIND(VT_STATE) | VT_KIND(VT_BLOCK) |         \
	 VT_KIND(VT_META) | VT_MEMRECORDS)

struct vt_memory *vt_memory_new(const struct vt_memory_options *o, struct vt_context *context,
				struct vt_error *err)
{
	struct vt_memory *m = calloc(1, sizeof(*m));

	if (!m) {
		vt_error_nomem(err);
		return NULL;
	}
	m->o = *o;
	m->context = context;
	vt_hash_init(&m->process_ids, sizeof(struct by_id), sizeof(int64_t));
	vti_sharing_init(&m->sharing);
	vti_memory_samples_init(m);
	vt_misses_init(&m->misses);
	vti_nodes_init(&m->allocation_nodes, VTI_MAX_ALLOCATIONS);
	vti_nodes_init(&m->region_nodes, VTI_MAX_ALLOCATIONS);
	m->records = vt_memrecords_new(err);
	if (!m->records || vti_objects_init(&m->objects, o->exact, err) < 0 ||
	    (o->loads && vti_loads_init(&m->loads, o->limit, VT_MEMORY_LOADS, err) < 0)) {
		vt_memory_free(m);
		return NULL;
	}
	vt_context_add(context,
		       &(struct vt_consumer){.record = take_record,
					     .arg = m,
					     .kinds = o->recorded ? VT_MEMRECORDS : WANTED});
	return m;
}

void vt_memory_free(struct vt_memory *m)
{
	size_t i;

	if (!m)
		return;
	for (i = 0; i < m->nprocesses; i++)
		free_process(m, m->processes[i]);
	for (i = 0; i < m->nblocks; i++)
		free(m->blocks[i].list);
	vt_hash_fini(&m->process_ids);
	free(m->processes);
	free(m->blocks);
	free(m->instances);
	free(m->free_instances);
	free(m->lines);
	vti_sharing_fini(&m->sharing);
	vti_loads_fini(&m->loads);
	vt_hash_fini(&m->sampled);
	vt_misses_fini(&m->misses);
	vti_nodes_fini(&m->allocation_nodes);
	vti_nodes_fini(&m->region_nodes);
	vti_objects_fini(&m->objects);
	vt_memrecords_free(m->records);
	free(m);
}

const struct vt_memory_totals *vt_memory_totals(const struct vt_memory *m)
{
	return &m->totals;
}

/* ---- the end ---- */

static int add_location(struct vt_memory *m, const struct vt_memory_location *l, struct vt_hot *h,
			struct vt_error *err)
{
	struct vt_memory_object *o = &m->objects.list[l->object];

	o->locations++;
	o->unread += (unsigned)__builtin_popcount(l->written & (uint8_t)~l->read);
	if (!vti_location_has_values(l))
		return 0;
	if (vt_memory_values(m, l, h, err) < 0)
		return -(int)err->code;
	o->valued_loads += h->profiled;
	o->top_loads += vt_memory_top_loads(l, h, 1);
	return 0;
}

static uint64_t least_count(const struct vt_hot *h, uint32_t i)
{
	return h->counts[i] - (h->errors ? h->errors[i] : 0);
}

uint64_t vt_memory_top_loads(const struct vt_memory_location *l, const struct vt_hot *values,
			     unsigned n)
{
	uint64_t zero = l->counts.zero, sum = 0;
	uint32_t i;

	/* Zeros are counted one by one, but not those that are the low half of a wider value. */
	for (i = 0; i < values->nvalues; i++)
		if (!values->values[i] && least_count(values, i) > zero)
			zero = least_count(values, i);
	for (i = 0; i < values->nvalues && n; i++) {
		uint64_t count = least_count(values, i);

		if (!values->values[i])
			continue;
		if (zero > count) {
			sum += zero;
			zero = 0;
			if (--n == 0)
				break;
		}
		sum += count;
		n--;
	}
	return n ? sum + zero : sum;
}

/* Those with most accesses that could miss first; then by address. */
static int compare_lines(const void *a, const void *b)
{
	const struct vt_shared_line *x = *(const struct vt_shared_line *const *)a;
	const struct vt_shared_line *y = *(const struct vt_shared_line *const *)b;
	uint64_t n = x->true_accesses + x->false_accesses;
	uint64_t k = y->true_accesses + y->false_accesses;

	if (n != k)
		return n > k ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

static int rank_lines(struct vt_memory *m, struct vt_error *err)
{
	size_t i;
	unsigned k;

	m->totals.lines_left_out = m->sharing.left_out;
	m->lines = calloc(m->sharing.lines.count + 1, sizeof(struct vt_shared_line *));
	if (!m->lines)
		return vt_error_nomem(err);
	for (i = 0; i < m->sharing.lines.count; i++) {
		struct vt_shared_line *l = vt_hash_at(&m->sharing.lines, i);

		if (l->nthreads < 2 || !l->stores)
			continue;
		m->lines[m->nlines++] = l;
		vti_sharing_judge(&m->sharing, l);
		for (k = 0; k < VT_SHARING_WORDS; k++)
			if (l->words[k].object != UINT32_MAX)
				l->words[k].object = m->objects.rank[l->words[k].object];
	}
	qsort(m->lines, m->nlines, sizeof(struct vt_shared_line *), compare_lines);
	return 0;
}

static int finish_processes(struct vt_memory *m, struct vt_error *err)
{
	size_t i;
	int code = 0;

	for (i = 0; i < m->nprocesses && code == 0; i++) {
		code = vti_memory_heap_until(m, m->processes[i], UINT64_MAX, err);
		count_unread(m, m->processes[i]);
	}
	return code;
}

static bool same_image(void *arg, uint32_t image, uint32_t *number)
{
	(void)arg;
	*number = image;
	return true;
}

/* Takes over the records of a profile, which was counted before. */
static int take_profile(struct vt_memory *m, struct vt_error *err)
{
	if (!vt_memrecords_given(m->records))
		return 0;
	if (m->totals.insns || m->totals.samples)
		return vt_error_set(err, VT_E_MISMATCH,
				    "both a memory profile and accesses to be counted");
	m->totals.raised = vt_memrecords_mend(m->records);
	m->totals.damaged += m->totals.raised;
	m->o.grain = (unsigned)m->records->grain;
	m->o.depth = (unsigned)m->records->depth;
	return vti_memrecords_add(&m->objects, &m->totals, m->records, same_image, NULL, err);
}

int vt_memory_finish(struct vt_memory *m, struct vt_error *err)
{
	struct vt_hot h = {.size = 0};
	size_t i;
	int code = finish_processes(m, err);

	if (code == 0)
		code = take_profile(m, err);
	m->totals.misses_told |= m->misses.told;
	m->totals.misses_unplaced = m->misses.count - m->misses.taken;
	for (i = 0; i < m->objects.nlocations && code == 0; i++)
		code = add_location(m, &m->objects.locations[i], &h, err);
	vt_hot_fini(&h);
	if (code == 0)
		code = vti_objects_rank(&m->objects, err);
	if (code == 0)
		code = rank_lines(m, err);
	if (code == 0)
		code = vti_loads_finish(&m->loads, err);
	m->totals.loads_left_out = m->loads.left_out;
	if (code < 0)
		return code;
	for (i = 0; i < m->objects.count; i++)
		m->totals.left_out_accesses += m->objects.list[i].left_out_accesses;
	return 0;
}

unsigned vt_memory_grain(const struct vt_memory *m)
{
	return m->o.grain;
}

unsigned vt_memory_depth(const struct vt_memory *m)
{
	return m->o.depth;
}

size_t vt_memory_nobjects(const struct vt_memory *m)
{
	return m->objects.count;
}

const struct vt_memory_object *vt_memory_object(const struct vt_memory *m, size_t i)
{
	return &m->objects.list[m->objects.order[i]];
}

size_t vt_memory_nlocations(const struct vt_memory *m)
{
	return m->objects.nlocations;
}

const struct vt_memory_location *vt_memory_location(const struct vt_memory *m, size_t i)
{
	return &m->objects.locations[i];
}

size_t vt_memory_nshared(const struct vt_memory *m)
{
	return m->nlines;
}

const struct vt_shared_line *vt_memory_shared_line(const struct vt_memory *m, size_t i)
{
	return m->lines[i];
}

const struct vt_shared_thread *vt_memory_shared_thread(const struct vt_memory *m,
						       const struct vt_shared_line *l,
						       const struct vt_shared_thread *t)
{
	return vti_sharing_next(&m->sharing, l, t);
}

size_t vt_memory_nloads(const struct vt_memory *m)
{
	return m->loads.count;
}

const struct vt_memory_load *vt_memory_load(const struct vt_memory *m, size_t i)
{
	return &m->loads.list[i];
}

void vt_memory_load_classes(const struct vt_memory *m, enum vt_distinct distinct,
			    struct vt_load_class classes[VT_LOAD_CLASSES])
{
	vti_loads_classes(&m->loads, distinct, classes);
}

int vt_memory_values(struct vt_memory *m, const struct vt_memory_location *l, struct vt_hot *found,
		     struct vt_error *err)
{
	return vti_location_values(&m->objects, l, found, err);
}
