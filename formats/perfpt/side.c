/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "formats/perfpt/internal.h"

#define PROT_EXEC_BIT	4 /* PROT_EXEC of mmap(2) */
#define MAP_PRIVATE_BIT 2 /* MAP_PRIVATE of it */
#define BUILDID_MAX	20

/* ---- images and mappings ---- */

static int on_image(struct vt_pt_wrap *p, const struct vt_record *rec, struct vt_error *err)
{
	uint64_t id = vt_record_u64(rec, VT_IMAGE_ID);
	struct vt_bytes path = vt_record_bytes(rec, VT_IMAGE_PATH);
	struct vt_bytes buildid = vt_record_bytes(rec, VT_IMAGE_BUILDID);
	struct wrap_image *i = vt_hash_add(&p->images, &id, NULL);

	if (!i)
		return vt_error_nomem(err);
	i->told = false;
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

static int tell_buildid(struct vt_pt_wrap *p, struct wrap_image *i, struct vt_error *err)
{
	if (i->told || !i->buildid)
		return 0;
	i->told = true;
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

/* Data is told as `perf record --data` does it; the kernel is not: its code is not traced. */
static int on_map(struct vt_pt_wrap *p, const struct vt_record *rec, struct vt_error *err)
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
	return tell_buildid(p, vt_hash_find(&p->images, &id), err);
}

/* ---- threads ---- */

static int put_name(struct vt_pt_wrap *p, const struct vt_record *rec,
		    const struct vt_perfdata_stamp *s, bool exec, struct vt_error *err)
{
	struct vt_bytes comm = vt_record_bytes(rec, VT_THREAD_COMM);

	return vt_perfdata_put_comm(p->w, s, (const char *)comm.data, comm.size, exec, err);
}

static bool is_number(int64_t id)
{
	return id >= 0 && id <= INT32_MAX;
}

/* Its trace comes before the record that tells perf of its end. */
static int end_thread(struct vt_pt_wrap *p, struct wrap_thread *t, struct vt_error *err)
{
	int rc;

	if (p->opt.cpus)
		return vti_wrap_leave(p, t, err);
	rc = vt_pt_encode_flush(p->enc, err);
	if (rc < 0 || !t->area)
		return rc;
	return vti_wrap_flush(p, t->area - 1, !p->opt.snapshot, err);
}

static int on_thread(struct vt_pt_wrap *p, const struct vt_record *rec, struct vt_error *err)
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
		rc = end_thread(p, t, err);
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
		rc = put_name(p, rec, &s, op == VT_OP_EXEC, err);
	vt_pt_encode_sync(p->enc, pid);
	return rc;
}

/* ---- what is known of the recording ---- */

static int on_meta(struct vt_pt_wrap *p, const struct vt_record *rec)
{
	struct vt_bytes key = vt_record_bytes(rec, VT_META_KEY);
	struct vt_bytes value = vt_record_bytes(rec, VT_META_VALUE);
	struct vt_buf *to = NULL;

	if (key.size == 7 && memcmp(key.data, "cmdline", 7) == 0)
		to = &p->cmdline;
	else if (key.size == 4 && memcmp(key.data, "arch", 4) == 0)
		to = &p->arch;
	if (to && !to->size && value.size <= VT_PERFDATA_WRITE_PATH)
		vt_buf_put(to, value.data, value.size);
	return 0;
}

int vti_wrap_side(struct vt_pt_wrap *p, const struct vt_record *rec, struct vt_error *err)
{
	switch (rec->kind) {
	case VT_IMAGE:
		return on_image(p, rec, err);
	case VT_MAP:
		return on_map(p, rec, err);
	case VT_THREAD:
		return on_thread(p, rec, err);
	default:
		return on_meta(p, rec);
	}
}
