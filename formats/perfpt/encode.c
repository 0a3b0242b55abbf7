/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/perfpt/encode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/perfpt/internal.h"

#define TSC_SHIFT 31
#define BUS_HZ	  UINT64_C(100000000) /* the bus clock that ratios are multiples of */

/* Not 0, so that no time is: perf takes 0 for none. */
#define TIME_ZERO UINT64_C(1000000000)

/* A thread by its numbers. */
struct key {
	int64_t pid;
	int64_t tid;
	uint64_t index; /* behind the key */
};

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

/* What perf.data cannot hold is left out; only want of memory ends it all. */
static int leave_out(struct vt_pt_wrap *p, int rc, const struct vt_error *err)
{
	if (rc >= 0 || rc == -VT_E_NOMEM)
		return rc;
	p->sum.left_out++;
	if (!p->bad[0])
		snprintf(p->bad, sizeof(p->bad), "%s", err->text);
	return 0;
}

/* A thread that cannot be named has no trace. */
static int sink(void *arg, struct vt_pt_encode_thread *et, const uint8_t *bytes, size_t size,
		struct vt_error *err)
{
	struct vt_pt_wrap *p = arg;
	struct wrap_thread *t = et->user;

	if (!t)
		et->user = t = vti_wrap_thread(p, et->pid, et->tid, false, err);
	return t ? vti_wrap_append(p, t, bytes, size, err) : leave_out(p, -(int)err->code, err);
}

static bool check_options(const struct vt_pt_wrap_options *opt, struct vt_error *err)
{
	if (opt->cpus > VT_PT_WRAP_CPUS || opt->snapshot > VT_PT_WRAP_SNAPSHOT) {
		vt_error_set(err, VT_E_LIMIT, "more CPUs or larger snapshots than can be");
		return false;
	}
	if (opt->cpus && !opt->encode.tsc) {
		vt_error_set(err, VT_E_USAGE,
			     "who runs on a CPU when is told by times: TSC packets are needed");
		return false;
	}
	return true;
}

struct vt_pt_wrap *vt_pt_wrap_new(struct vt_output *out, const struct vt_pt_wrap_options *opt,
				  struct vt_error *err)
{
	struct vt_pt_wrap *p;

	if (!check_options(opt, err))
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
	p->enc = vt_pt_encode_new(&p->opt.encode, sink, p);
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
		rc = vti_wrap_flush(p, i, true, err);
		if (rc < 0)
			return rc;
	}
	w = p->w;
	p->w = NULL;
	return vt_perfdata_writer_close(w, true, err);
}

/* ---- threads ---- */

uint64_t vti_wrap_now(const struct vt_pt_wrap *p)
{
	return vt_pt_time(&p->conv, vt_pt_encode_now(p->enc));
}

unsigned vti_wrap_side_event(const struct vt_pt_wrap *p)
{
	return p->timed ? 1 : 0;
}

static struct wrap_thread *add_thread(struct vt_pt_wrap *p, struct key *k)
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

/* perf finds the process of a thread by records about it, and a buffer has but a tid. */
static int tell_thread(struct vt_pt_wrap *p, const struct wrap_thread *t, struct vt_error *err)
{
	struct vt_perfdata_stamp s = {vti_wrap_side_event(p), t->pid, t->tid, vti_wrap_now(p), 0};
	struct vt_perfdata_writer *w = vti_wrap_writer(p, err);
	char name[16];

	if (!w)
		return -(int)err->code;
	snprintf(name, sizeof(name), ":%d", (int)t->tid);
	return vt_perfdata_put_comm(w, &s, name, strlen(name), false, err);
}

struct wrap_thread *vti_wrap_thread(struct vt_pt_wrap *p, int64_t pid, int64_t tid, bool told,
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
	t = k ? add_thread(p, k) : NULL;
	if (!t) {
		vt_error_nomem(err);
		return NULL;
	}
	if (!told && tell_thread(p, t, err) < 0)
		return NULL;
	return t;
}

/* ---- records ---- */

/* What a record tells of a thread happens while that has a CPU. */
static int schedule(struct vt_pt_wrap *p, int64_t pid, int64_t tid, uint64_t insns,
		    struct vt_error *err)
{
	struct wrap_thread *t;
	int rc;

	if (!p->opt.cpus)
		return 0;
	t = vti_wrap_thread(p, pid, tid, false, err);
	if (!t)
		return leave_out(p, -(int)err->code, err);
	rc = vti_wrap_run(p, t, insns, err);
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
		rc = leave_out(p, vti_wrap_side(p, rec, err), err);
		if (rc >= 0)
			rc = vti_wrap_jit_feed(p, rec, err);
		break;
	case VT_EXEC:
		rc = schedule(p, vt_record_i64(rec, VT_EXEC_PID), vt_record_i64(rec, VT_EXEC_TID),
			      vt_record_u64(rec, VT_EXEC_INSNS), err);
		break;
	case VT_SIGNAL:
		rc = schedule(p, vt_record_i64(rec, VT_SIGNAL_PID),
			      vt_record_i64(rec, VT_SIGNAL_TID), 0, err);
		break;
	case VT_TRACE:
		rc = schedule(p, vt_record_i64(rec, VT_TRACE_PID), vt_record_i64(rec, VT_TRACE_TID),
			      0, err);
		break;
	case VT_VALUE:
		rc = schedule(p, vt_record_i64(rec, VT_VALUE_PID), vt_record_i64(rec, VT_VALUE_TID),
			      0, err);
		break;
	}
	if (rc >= 0)
		rc = vt_pt_encode_record(p->enc, rec, err);
	if (rc >= 0 && rec->kind == VT_BLOCK)
		vti_wrap_jit_block(p, rec);
	return rc;
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
