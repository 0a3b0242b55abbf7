/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/perfpt/encode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/perfpt/internal.h"

#define TSC_SHIFT 31
#define BUS_HZ	  UINT64_C(100000000) /* the bus clock that ratios are multiples of */

/* Not 0, so that no time is 0, which perf takes for none. */
#define TIME_ZERO UINT64_C(1000000000)

/* An AUX area: the buffer of a CPU or of a thread. */
struct wrap_area {
	struct vt_buf bytes;	  /* not written yet */
	uint64_t position;	  /* of bytes.data[0] in the area */
	struct wrap_thread *last; /* the thread of the last bytes */
	/* Of a CPU: */
	struct wrap_thread *running; /* NULL: idle */
	bool started;		     /* ITRACE_START was written */
};

struct wrap_thread {
	int32_t pid;
	int32_t tid;
	uint32_t area; /* + 1; 0: none yet */
	bool on_cpu;
	uint64_t left; /* instructions of its slice */
};

/* An image of the stream. */
struct wrap_image {
	uint64_t id;
	uint32_t path;
	uint32_t buildid;
	bool written; /* its build-id is in the file */
};

/* The index of a thread, by pid and tid. */
struct key {
	int64_t pid;
	int64_t tid;
	uint64_t index; /* the value */
};

/* ---- common ---- */

uint64_t vti_wrap_now(const struct vt_pt_wrap *p)
{
	return vt_pt_time(&p->conv, vt_pt_encode_now(p->enc));
}

unsigned vti_wrap_side_event(const struct vt_pt_wrap *p)
{
	return p->timed ? 1 : 0;
}

static int add_area(struct vt_pt_wrap *p, struct vt_error *err)
{
	struct wrap_area *a = NULL;

	if (vt_array_grow(&p->area, &p->areas_cap, p->nareas + 1, sizeof(struct wrap_area *)))
		a = calloc(1, sizeof(*a));
	if (!a)
		return vt_error_nomem(err);
	p->area[p->nareas++] = a;
	return 0;
}

struct vt_perfdata_writer *vti_wrap_writer(struct vt_pt_wrap *p, struct vt_error *err)
{
	uint32_t i;

	if (p->w)
		return p->w;
	if (!vti_wrap_begin(p, err))
		return NULL;
	for (i = 0; i < p->opt.cpus; i++) {
		if (add_area(p, err) < 0)
			return NULL;
	}
	return p->w;
}

/* ---- threads ---- */

static struct wrap_thread *add_wrapped_thread(struct vt_pt_wrap *p, struct key *k)
{
	struct wrap_thread *t = NULL;

	if (vt_array_grow(&p->thread, &p->threads_cap, p->nthreads + 1,
			  sizeof(struct wrap_thread *)))
		t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->pid = (int32_t)k->pid;
	t->tid = (int32_t)k->tid;
	k->index = p->nthreads;
	p->thread[p->nthreads++] = t;
	return t;
}

/* Puts a COMM record: perf needs one to find the process of a thread, as buffers have only tids. */
static int put_new_thread(struct vt_pt_wrap *p, const struct wrap_thread *t, struct vt_error *err)
{
	struct vt_perfdata_stamp s = {vti_wrap_side_event(p), t->pid, t->tid, vti_wrap_now(p), 0};
	struct vt_perfdata_writer *w = vti_wrap_writer(p, err);
	char name[16];

	if (!w)
		return -(int)err->code;
	snprintf(name, sizeof(name), ":%d", (int)t->tid);
	return vt_perfdata_put_comm(w, &s, name, strlen(name), false, err);
}

struct wrap_thread *vti_wrap_thread(struct vt_pt_wrap *p, int64_t pid, int64_t tid, bool announced,
				    struct vt_error *err)
{
	struct key key = {.pid = pid, .tid = tid}, *k;
	struct wrap_thread *t;
	bool added;

	if (pid < 0 || pid > INT32_MAX || tid < 0 || tid > INT32_MAX) {
		vt_error_set(err, VT_E_FORMAT, "a thread whose numbers are none");
		return NULL;
	}
	k = vt_hash_add(&p->threads, &key, &added);
	if (k && !added)
		return p->thread[k->index];
	t = k ? add_wrapped_thread(p, k) : NULL;
	if (!t) {
		vt_error_nomem(err);
		return NULL;
	}
	if (!announced && put_new_thread(p, t, err) < 0)
		return NULL;
	return t;
}

/* ---- areas ---- */

#define PIECE (256u << 10) /* bytes of an area that are buffered before they are written */

#define AUX_FLAG_OVERWRITE 2 /* PERF_AUX_FLAG_OVERWRITE: a snapshot */

static void drop_front(struct wrap_area *a, size_t size)
{
	memmove(a->bytes.data, a->bytes.data + size, a->bytes.size - size);
	a->bytes.size -= size;
	a->position += size;
}

/*
 * Writes the buffered bytes of an area.  Only the last piece is padded to a multiple of 8 bytes: in
 * others the padding could be inside a packet.
 */
static int flush_area(struct vt_pt_wrap *p, uint32_t area, bool end, struct vt_error *err)
{
	struct wrap_area *a = p->area[area];
	bool on_cpu = p->opt.cpus != 0;
	struct vt_perfdata_auxtrace x = {.index = area};
	struct vt_perfdata_stamp s = {.event = 0, .time = vti_wrap_now(p)};
	struct vt_perfdata_writer *w = vti_wrap_writer(p, err);
	size_t size;
	int rc;

	if (!w)
		return -(int)err->code;
	if (p->opt.snapshot && !end)
		return 0;
	if (p->opt.snapshot && a->bytes.size > p->opt.snapshot)
		drop_front(a, a->bytes.size - (size_t)p->opt.snapshot);
	size = end ? a->bytes.size : a->bytes.size & ~(size_t)7;
	if (!size)
		return 0;
	s.pid = a->last->pid;
	s.tid = a->last->tid;
	s.cpu = area; /* not written without CPUs */
	x.cpu = on_cpu ? (int32_t)area : -1;
	x.tid = on_cpu ? -1 : s.tid;
	x.offset = a->position;
	x.reference = p->timed ? vt_pt_encode_now(p->enc) : 0;
	rc = vt_perfdata_put_aux(w, &s, a->position, size, p->opt.snapshot ? AUX_FLAG_OVERWRITE : 0,
				 err);
	if (rc >= 0)
		rc = vt_perfdata_put_auxtrace(w, &x, a->bytes.data, size, err);
	if (rc < 0)
		return rc;
	p->sum.bytes += size;
	drop_front(a, size);
	return 0;
}

/* Adds the area of a thread without CPU. */
static int add_thread_area(struct vt_pt_wrap *p, struct wrap_thread *t, struct vt_error *err)
{
	struct vt_perfdata_stamp s = {0, t->pid, t->tid, vti_wrap_now(p), 0};
	struct vt_perfdata_writer *w = vti_wrap_writer(p, err);
	int rc;

	if (!w)
		return -(int)err->code;
	rc = add_area(p, err);
	if (rc < 0)
		return rc;
	t->area = (uint32_t)p->nareas;
	return vt_perfdata_put_itrace_start(w, &s, err);
}

static int append_to_area(struct vt_pt_wrap *p, struct wrap_thread *t, const uint8_t *bytes,
			  size_t size, struct vt_error *err)
{
	uint64_t keep = p->opt.snapshot;
	struct wrap_area *a;

	if (!t->area) {
		int rc = add_thread_area(p, t, err);

		if (rc < 0)
			return rc;
	}
	a = p->area[t->area - 1];
	a->last = t;
	vt_buf_put(&a->bytes, bytes, size);
	if (a->bytes.failed)
		return vt_error_nomem(err);
	if (!keep)
		return a->bytes.size < PIECE ? 0 : flush_area(p, t->area - 1, false, err);
	if (a->bytes.size > 2 * keep)
		drop_front(a, a->bytes.size - (size_t)keep);
	return 0;
}

/*
 * ---- CPUs: the scheduler ----
 *
 * It gives threads CPUs in the order in which they run in the stream, where only one runs at a
 * time. A thread keeps its CPU while others run on theirs, until one of them needs it.
 */

#define SWITCH_COST 512 /* instructions that the kernel takes to switch */

/* Puts a switch from thread `gone` to thread `come`; one may be NULL. */
static int put_switch_record(struct vt_pt_wrap *p, uint32_t cpu, const struct wrap_thread *gone,
			     const struct wrap_thread *come, struct vt_error *err)
{
	const struct wrap_thread *other = gone ? come : NULL, *self = gone ? gone : come;
	struct vt_perfdata_stamp s = {vti_wrap_side_event(p), self->pid, self->tid, vti_wrap_now(p),
				      cpu};
	struct vt_perfdata_switch sw = {.wide = p->opt.wide,
					.out = gone != NULL,
					.preempt = other != NULL,
					.other_pid = other ? other->pid : 0,
					.other_tid = other ? other->tid : 0};

	return vt_perfdata_put_switch(p->w, &s, &sw, err);
}

static int switch_out(struct vt_pt_wrap *p, uint32_t cpu, const struct wrap_thread *come,
		      struct vt_error *err)
{
	struct wrap_thread *t = p->area[cpu]->running;
	int rc;

	if (!t)
		return 0;
	rc = vt_pt_encode_pause(p->enc, t->pid, t->tid, err);
	if (rc < 0)
		return rc;
	vt_pt_encode_idle(p->enc, SWITCH_COST);
	rc = put_switch_record(p, cpu, t, come, err);
	t->on_cpu = false;
	p->area[cpu]->running = NULL;
	return rc;
}

static int switch_in(struct vt_pt_wrap *p, uint32_t cpu, struct wrap_thread *t,
		     struct vt_error *err)
{
	struct wrap_area *a = p->area[cpu];
	int rc = put_switch_record(p, cpu, NULL, t, err);

	if (rc >= 0 && !a->started) {
		struct vt_perfdata_stamp s = {0, t->pid, t->tid, vti_wrap_now(p), cpu};

		a->started = true;
		rc = vt_perfdata_put_itrace_start(p->w, &s, err);
	}
	vt_pt_encode_idle(p->enc, SWITCH_COST);
	a->running = t;
	t->area = cpu + 1;
	t->on_cpu = true;
	t->left = p->opt.slice;
	p->sum.switches++;
	return rc;
}

static int run_on_cpu(struct vt_pt_wrap *p, struct wrap_thread *t, uint64_t insns,
		      struct vt_error *err)
{
	uint32_t cpu;
	int rc;

	if (!vti_wrap_writer(p, err))
		return -(int)err->code;
	if (t->on_cpu && t->left) {
		t->left -= t->left < insns ? t->left : insns;
		return 0;
	}
	if (t->on_cpu) {
		rc = switch_out(p, t->area - 1, NULL, err);
		if (rc < 0)
			return rc;
	}
	cpu = p->next_cpu++ % p->opt.cpus;
	rc = switch_out(p, cpu, t, err);
	return rc < 0 ? rc : switch_in(p, cpu, t, err);
}

static int leave_cpu(struct vt_pt_wrap *p, struct wrap_thread *t, struct vt_error *err)
{
	return t->on_cpu ? switch_out(p, t->area - 1, NULL, err) : 0;
}

/* ---- images and mappings ---- */

#define PROT_EXEC_BIT	4 /* PROT_EXEC of mmap(2) */
#define MAP_PRIVATE_BIT 2 /* MAP_PRIVATE of it */
#define BUILDID_MAX	20

static int wrap_image_record(struct vt_pt_wrap *p, const struct vt_record *rec,
			     struct vt_error *err)
{
	uint64_t id = vt_record_u64(rec, VT_IMAGE_ID);
	struct vt_bytes path = vt_record_bytes(rec, VT_IMAGE_PATH);
	struct vt_bytes buildid = vt_record_bytes(rec, VT_IMAGE_BUILDID);
	struct wrap_image *i = vt_hash_add(&p->images, &id, NULL);

	if (!i)
		return vt_error_nomem(err);
	i->written = false;
	i->path = i->buildid = 0;
	if (path.size > VT_PERFDATA_WRITE_PATH)
		return vt_error_set(err, VT_E_LIMIT, "an image with a path of %zu bytes",
				    path.size);
	i->path = vt_intern_add(p->strings, path.data, path.size);
	if (buildid.size <= BUILDID_MAX)
		i->buildid = vt_intern_add(p->strings, buildid.data, buildid.size);
	if (i->path == UINT32_MAX || i->buildid == UINT32_MAX)
		return vt_error_nomem(err);
	return 0;
}

static int put_buildid_once(struct vt_pt_wrap *p, struct wrap_image *i, struct vt_error *err)
{
	if (i->written || !i->buildid)
		return 0;
	i->written = true;
	return vt_perfdata_put_buildid(p->w, (const uint8_t *)vt_intern_get(p->strings, i->buildid),
				       vt_intern_size(p->strings, i->buildid),
				       vt_intern_get(p->strings, i->path),
				       vt_intern_size(p->strings, i->path), err);
}

static void fill_map(const struct vt_pt_wrap *p, struct vt_perfdata_map *m,
		     const struct vt_record *rec, const struct wrap_image *i)
{
	static const char nameless[] = "//anon";

	m->start = vt_record_u64(rec, VT_MAP_START);
	m->length = vt_record_u64(rec, VT_MAP_LENGTH);
	m->offset = vt_record_u64(rec, VT_MAP_OFFSET);
	m->prot = (uint32_t)vt_record_u64(rec, VT_MAP_PROT);
	m->flags = (uint32_t)vt_record_u64(rec, VT_MAP_FLAGS);
	/* With flags, a reader knows that the protection is the recorded one. */
	if (!m->flags && m->prot)
		m->flags = MAP_PRIVATE_BIT;
	m->maj = (uint32_t)vt_record_u64(rec, VT_MAP_MAJ);
	m->min = (uint32_t)vt_record_u64(rec, VT_MAP_MIN);
	m->ino = vt_record_u64(rec, VT_MAP_INO);
	m->ino_generation = vt_record_u64(rec, VT_MAP_INO_GENERATION);
	m->path = nameless;
	m->path_size = sizeof(nameless) - 1;
	if (i && i->path) {
		m->path = vt_intern_get(p->strings, i->path);
		m->path_size = vt_intern_size(p->strings, i->path);
	}
	if (i && i->buildid) {
		m->buildid = (const uint8_t *)vt_intern_get(p->strings, i->buildid);
		m->buildid_size = vt_intern_size(p->strings, i->buildid);
	}
}

/* Puts mappings of code and data, as `perf record --data` does, but not the kernel's. */
static int wrap_map_record(struct vt_pt_wrap *p, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_perfdata_stamp s = {.event = vti_wrap_side_event(p), .time = vti_wrap_now(p)};
	uint64_t id = vt_record_u64(rec, VT_MAP_IMAGE), prot = vt_record_u64(rec, VT_MAP_PROT);
	int64_t pid = vt_record_i64(rec, VT_MAP_PID), tid = vt_record_i64(rec, VT_MAP_TID);
	struct vt_perfdata_map m = {0};
	struct wrap_thread *t;
	int rc;

	if (pid == -1)
		return 0;
	if (!vti_wrap_writer(p, err))
		return -(int)err->code;
	t = vti_wrap_thread(p, pid, tid ? tid : pid, true, err);
	if (!t)
		return -(int)err->code;
	s.pid = t->pid;
	s.tid = t->tid;
	fill_map(p, &m, rec, vt_hash_find(&p->images, &id));
	rc = vt_perfdata_put_map(p->w, &s, &m, err);
	if (rc < 0)
		return rc;
	p->sum.maps++;
	if (!prot || prot & PROT_EXEC_BIT)
		vt_pt_encode_sync(p->enc, pid);
	if (!m.buildid_size)
		return 0;
	return put_buildid_once(p, vt_hash_find(&p->images, &id), err);
}

/* ---- records of threads ---- */

static int put_thread_comm(struct vt_pt_wrap *p, const struct vt_record *rec,
			   const struct vt_perfdata_stamp *s, bool exec, struct vt_error *err)
{
	struct vt_bytes comm = vt_record_bytes(rec, VT_THREAD_COMM);

	return vt_perfdata_put_comm(p->w, s, (const char *)comm.data, comm.size, exec, err);
}

static bool is_number(int64_t id)
{
	return id >= 0 && id <= INT32_MAX;
}

/* Writes the trace of a thread, which must come before its EXIT record. */
static int end_wrapped_thread(struct vt_pt_wrap *p, struct wrap_thread *t, struct vt_error *err)
{
	int rc;

	if (p->opt.cpus)
		return leave_cpu(p, t, err);
	rc = vt_pt_encode_flush(p->enc, err);
	if (rc < 0 || !t->area)
		return rc;
	return flush_area(p, t->area - 1, !p->opt.snapshot, err);
}

static int wrap_thread_record(struct vt_pt_wrap *p, const struct vt_record *rec,
			      struct vt_error *err)
{
	struct vt_perfdata_stamp s = {.event = vti_wrap_side_event(p)};
	int64_t pid = vt_record_i64(rec, VT_THREAD_PID), tid = vt_record_i64(rec, VT_THREAD_TID);
	int64_t ppid = vt_record_i64(rec, VT_THREAD_PPID);
	int64_t ptid = vt_record_i64(rec, VT_THREAD_PTID);
	uint64_t op = vt_record_u64(rec, VT_THREAD_OP);
	struct wrap_thread *t;
	int rc = 0;

	if (!vti_wrap_writer(p, err))
		return -(int)err->code;
	t = vti_wrap_thread(p, pid, tid, true, err);
	if (!t)
		return -(int)err->code;
	if (!is_number(ppid) || !is_number(ptid))
		ppid = ptid = 0;
	if (op == VT_OP_EXIT)
		rc = end_wrapped_thread(p, t, err);
	if (rc < 0)
		return rc;
	s.pid = t->pid;
	s.tid = t->tid;
	/* A fork without a time is taken for one of a process that was found running. */
	s.time = p->timed ? vti_wrap_now(p) : vt_record_u64(rec, VT_THREAD_TIME);
	switch (op) {
	case VT_OP_FORK:
	case VT_OP_EXIT:
		rc = vt_perfdata_put_task(p->w, &s, op == VT_OP_FORK ? PD_FORK : PD_EXIT,
					  (int32_t)ppid, (int32_t)ptid, err);
		break;
	default:
		break;
	}
	if (rc >= 0 && op != VT_OP_EXIT && vt_record_bytes(rec, VT_THREAD_COMM).size)
		rc = put_thread_comm(p, rec, &s, op == VT_OP_EXEC, err);
	vt_pt_encode_sync(p->enc, pid);
	return rc;
}

/* ---- properties of the recording ---- */

static int wrap_meta_record(struct vt_pt_wrap *p, const struct vt_record *rec)
{
	struct vt_bytes value = vt_record_bytes(rec, VT_META_VALUE);
	struct vt_buf *to = NULL;

	if (vt_record_is_meta(rec, "cmdline"))
		to = &p->cmdline;
	else if (vt_record_is_meta(rec, "arch"))
		to = &p->arch;
	if (to && !to->size && value.size <= VT_PERFDATA_WRITE_PATH)
		vt_buf_put(to, value.data, value.size);
	return 0;
}

static int wrap_side_record(struct vt_pt_wrap *p, const struct vt_record *rec, struct vt_error *err)
{
	switch (rec->kind) {
	case VT_IMAGE:
		return wrap_image_record(p, rec, err);
	case VT_MAP:
		return wrap_map_record(p, rec, err);
	case VT_THREAD:
		return wrap_thread_record(p, rec, err);
	default:
		return wrap_meta_record(p, rec);
	}
}

/* ---- records ---- */

/* Leaves out and counts what perf.data cannot contain; only lack of memory is an error. */
static int leave_out_record(struct vt_pt_wrap *p, int rc, const struct vt_error *err)
{
	if (rc >= 0 || rc == -VT_E_NOMEM)
		return rc;
	p->sum.left_out++;
	if (!p->bad[0])
		snprintf(p->bad, sizeof(p->bad), "%s", err->text);
	return 0;
}

/* Gives a thread a CPU, on which it is during its record. */
static int schedule_thread(struct vt_pt_wrap *p, int64_t pid, int64_t tid, uint64_t insns,
			   struct vt_error *err)
{
	struct wrap_thread *t;
	int rc;

	if (!p->opt.cpus)
		return 0;
	t = vti_wrap_thread(p, pid, tid, false, err);
	if (!t)
		return leave_out_record(p, -(int)err->code, err);
	rc = run_on_cpu(p, t, insns, err);
	if (rc >= 0 && !insns)
		vt_pt_encode_resume(p->enc, pid, tid);
	return rc;
}

int vt_pt_wrap_record(struct vt_pt_wrap *p, const struct vt_record *rec, struct vt_error *err)
{
	int rc = 0;

	switch (rec->kind) {
	case VT_IMAGE:
	case VT_MAP:
	case VT_THREAD:
	case VT_META:
		rc = leave_out_record(p, wrap_side_record(p, rec, err), err);
		if (rc >= 0)
			rc = vti_wrap_jit_feed(p, rec, err);
		break;
	case VT_EXEC:
		rc = schedule_thread(p, vt_record_i64(rec, VT_EXEC_PID),
				     vt_record_i64(rec, VT_EXEC_TID),
				     vt_record_u64(rec, VT_EXEC_INSNS), err);
		break;
	case VT_SIGNAL:
		rc = schedule_thread(p, vt_record_i64(rec, VT_SIGNAL_PID),
				     vt_record_i64(rec, VT_SIGNAL_TID), 0, err);
		break;
	case VT_TRACE:
		rc = schedule_thread(p, vt_record_i64(rec, VT_TRACE_PID),
				     vt_record_i64(rec, VT_TRACE_TID), 0, err);
		break;
	case VT_VALUE:
		rc = schedule_thread(p, vt_record_i64(rec, VT_VALUE_PID),
				     vt_record_i64(rec, VT_VALUE_TID), 0, err);
		break;
	}
	if (rc >= 0)
		rc = vt_pt_encode_record(p->enc, rec, err);
	if (rc >= 0 && rec->kind == VT_BLOCK)
		vti_wrap_jit_block(p, rec);
	return rc;
}

/* ---- beginning and end ---- */

/* The TSC ticks nominal_ratio times as fast as the bus. */
static void set_conversion(struct vt_pt_wrap *p)
{
	uint64_t hz = BUS_HZ * p->opt.encode.clock.nominal_ratio, mult = 0;
	uint16_t shift = TSC_SHIFT;

	if (hz)
		mult = UINT64_C(1000000000) * (UINT64_C(1) << TSC_SHIFT) / hz;
	for (; mult > UINT32_MAX; mult >>= 1)
		shift--;
	p->conv.known = p->timed && hz;
	p->conv.shift = shift;
	p->conv.mult = (uint32_t)mult;
	p->conv.zero = TIME_ZERO;
}

/* Takes bytes of the encoder; those of a thread that perf.data cannot contain are left out. */
static int take_trace_bytes(void *arg, struct vt_pt_encode_thread *et, const uint8_t *bytes,
			    size_t size, struct vt_error *err)
{
	struct vt_pt_wrap *p = arg;
	struct wrap_thread *t = et->user;

	if (!t)
		et->user = t = vti_wrap_thread(p, et->pid, et->tid, false, err);
	return t ? append_to_area(p, t, bytes, size, err)
		 : leave_out_record(p, -(int)err->code, err);
}

static bool check_wrap_options(const struct vt_pt_wrap_options *opt, struct vt_error *err)
{
	if (opt->cpus > VT_PT_WRAP_CPUS || opt->snapshot > VT_PT_WRAP_SNAPSHOT) {
		vt_error_set(err, VT_E_LIMIT, "more CPUs or larger snapshots than can be");
		return false;
	}
	if (opt->cpus && !opt->encode.tsc) {
		vt_error_set(err, VT_E_USAGE,
			     "TSC packets are needed: context switches are found by their times");
		return false;
	}
	return true;
}

struct vt_pt_wrap *vt_pt_wrap_new(struct vt_output *out, const struct vt_pt_wrap_options *opt,
				  struct vt_error *err)
{
	struct vt_pt_wrap *p;

	if (!check_wrap_options(opt, err))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p) {
		vt_error_nomem(err);
		return NULL;
	}
	p->opt = *opt;
	p->out = out;
	p->timed = opt->encode.tsc;
	set_conversion(p);
	vt_hash_init(&p->images, sizeof(struct wrap_image), sizeof(uint64_t));
	vt_hash_init(&p->threads, sizeof(struct key), offsetof(struct key, index));
	vti_wrap_jit_init(p);
	p->strings = vt_intern_new();
	p->enc = vt_pt_encode_new(&p->opt.encode, take_trace_bytes, p);
	if (!p->strings || !p->enc || !p->maps || !p->files) {
		vt_error_nomem(err);
		vt_pt_wrap_free(p);
		return NULL;
	}
	return p;
}

void vt_pt_wrap_free(struct vt_pt_wrap *p)
{
	struct vt_error ignored = VT_ERROR_INIT;
	size_t i;

	if (!p)
		return;
	vt_perfdata_writer_close(p->w, false, &ignored);
	vt_pt_encode_free(p->enc);
	for (i = 0; i < p->nthreads; i++)
		free(p->thread[i]);
	for (i = 0; i < p->nareas; i++) {
		vt_buf_free(&p->area[i]->bytes);
		free(p->area[i]);
	}
	free(p->thread);
	free(p->area);
	vti_wrap_jit_free(p);
	vt_hash_fini(&p->images);
	vt_hash_fini(&p->threads);
	vt_intern_free(p->strings);
	vt_buf_free(&p->cmdline);
	vt_buf_free(&p->arch);
	free(p);
}

int vt_pt_wrap_finish(struct vt_pt_wrap *p, struct vt_error *err)
{
	struct vt_perfdata_writer *w;
	int rc = vt_pt_encode_finish(p->enc, err);
	uint32_t i;

	if (rc < 0 || !vti_wrap_writer(p, err))
		return -(int)err->code;
	rc = vti_wrap_jit_close(p, err);
	if (rc < 0)
		return rc;
	for (i = 0; i < p->nareas; i++) {
		rc = flush_area(p, i, true, err);
		if (rc < 0)
			return rc;
	}
	w = p->w;
	p->w = NULL;
	return vt_perfdata_writer_close(w, true, err);
}

struct vt_pt_encode *vt_pt_wrap_encode(struct vt_pt_wrap *p)
{
	return p->enc;
}

const struct vt_pt_wrap_totals *vt_pt_wrap_totals(const struct vt_pt_wrap *p)
{
	return &p->sum;
}

const char *vt_pt_wrap_bad(const struct vt_pt_wrap *p)
{
	return p->bad;
}
