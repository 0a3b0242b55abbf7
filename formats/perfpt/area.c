/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "formats/perfpt/internal.h"

#define PIECE (256u << 10) /* bytes of an area that are held before they are written */

#define AUX_FLAG_OVERWRITE 2 /* PERF_AUX_FLAG_OVERWRITE: a snapshot */

int vti_wrap_new_area(struct vt_pt_wrap *p, struct vt_error *err)
{
	struct wrap_area *a = NULL;

	if (vt_array_grow(&p->area, &p->areas_cap, p->nareas + 1, sizeof(struct wrap_area *)))
		a = calloc(1, sizeof(*a));
	if (!a)
		return vt_error_nomem(err);
	p->area[p->nareas++] = a;
	return 0;
}

/* The area of a thread without CPU. */
static int own_area(struct vt_pt_wrap *p, struct wrap_thread *t, struct vt_error *err)
{
	struct vt_perfdata_stamp s = {0, t->pid, t->tid, vti_wrap_now(p), 0};
	struct vt_perfdata_writer *w = vti_wrap_writer(p, err);
	int rc;

	if (!w)
		return -(int)err->code;
	rc = vti_wrap_new_area(p, err);
	if (rc < 0)
		return rc;
	t->area = (uint32_t)p->nareas;
	return vt_perfdata_put_itrace_start(w, &s, err);
}

static void drop_front(struct wrap_area *a, size_t size)
{
	memmove(a->bytes.data, a->bytes.data + size, a->bytes.size - size);
	a->bytes.size -= size;
	a->position += size;
}

int vti_wrap_append(struct vt_pt_wrap *p, struct wrap_thread *t, const uint8_t *bytes, size_t size,
		    struct vt_error *err)
{
	uint64_t keep = p->opt.snapshot;
	struct wrap_area *a;

	if (!t->area) {
		int rc = own_area(p, t, err);

		if (rc < 0)
			return rc;
	}
	a = p->area[t->area - 1];
	a->last = t;
	vt_buf_put(&a->bytes, bytes, size);
	if (a->bytes.failed)
		return vt_error_nomem(err);
	if (!keep)
		return a->bytes.size < PIECE ? 0 : vti_wrap_flush(p, t->area - 1, false, err);
	if (a->bytes.size > 2 * keep)
		drop_front(a, a->bytes.size - (size_t)keep);
	return 0;
}

/*
 * A piece that is not the last has a multiple of 8 bytes: what it would be padded with otherwise
 * might stand inside a packet.
 */
int vti_wrap_flush(struct vt_pt_wrap *p, uint32_t area, bool end, struct vt_error *err)
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
