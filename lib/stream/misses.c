/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/misses.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "stream/meta.h"

struct by_pid {
	int64_t pid;
	uint64_t index; /* in the queues */
};

void vt_misses_init(struct vt_misses *m)
{
	*m = (struct vt_misses){.told = false};
	vt_hash_init(&m->ids, sizeof(struct by_pid), sizeof(int64_t));
}

void vt_misses_fini(struct vt_misses *m)
{
	size_t i;

	for (i = 0; i < m->nqueues; i++)
		free(m->queues[i].list);
	free(m->queues);
	vt_hash_fini(&m->ids);
}

/* ---- reading ---- */

static int take_meta(struct vt_misses *m, const struct vt_record *rec)
{
	double v;

	if (vt_record_is_meta(rec, VT_MISSES_META))
		m->told = true;
	if (vt_meta_f64(rec, VT_MISSES_META_LINE, &v) && v >= 1 && v <= UINT32_MAX)
		m->line = (uint64_t)v;
	return 0;
}

/* The queue of a process, which is added if it is new. */
static struct vt_misses_queue *add_queue(struct vt_misses *m, int64_t pid)
{
	bool added;
	struct by_pid *e;

	if (!vt_array_grow(&m->queues, &m->queues_cap, m->nqueues + 1, sizeof(*m->queues)))
		return NULL;
	e = vt_hash_add(&m->ids, &pid, &added);
	if (!e)
		return NULL;
	if (added) {
		e->index = m->nqueues;
		m->queues[m->nqueues++] = (struct vt_misses_queue){.pid = pid};
	}
	return &m->queues[e->index];
}

/* Makes room for another one, where those that went were. */
static bool grow_queue(struct vt_misses_queue *q)
{
	if (q->first && q->count == q->cap) {
		q->count -= q->first;
		memmove(q->list, q->list + q->first, q->count * sizeof(*q->list));
		q->first = 0;
	}
	return vt_array_grow(&q->list, &q->cap, q->count + 1, sizeof(*q->list));
}

int vt_misses_feed(struct vt_misses *m, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_misses_queue *q;
	uint64_t has;

	if (rec->kind == VT_META)
		return take_meta(m, rec);
	m->count++;
	if (m->waiting == VT_MISSES_WAITING)
		return 0;
	has = vt_record_u64(rec, VT_SAMPLE_PM_HAS);
	q = add_queue(m, vt_record_i64(rec, VT_SAMPLE_PID));
	if (!q || !grow_queue(q))
		return vt_error_nomem(err);
	m->waiting++;
	q->list[q->count] = (struct vt_miss){
		.position = vt_record_u64(rec, VT_SAMPLE_POSITION),
		.addr = vt_record_u64(rec, VT_SAMPLE_ADDR),
		.latency = has & VT_PM_BIT(LAT_LOAD) ? vt_record_u64(rec, VT_SAMPLE_LAT_LOAD) : 0,
		.told = vt_record_u64(rec, VT_SAMPLE_EVENTS_TOLD),
		.events = vt_record_u64(rec, VT_SAMPLE_EVENTS),
		.source = (enum vt_source)vt_record_u64(rec, VT_SAMPLE_SOURCE),
	};
	q->list[q->count].store = q->list[q->count].events & VT_PM_EVENT(STORE);
	q->list[q->count].brought = q->list[q->count].source != VT_SOURCE_FILL_BUFFER;
	q->count++;
	return 0;
}

/* ---- finding ---- */

static struct vt_misses_queue *find_queue(struct vt_misses *m, int64_t pid)
{
	const struct by_pid *e;

	if (m->recent < m->nqueues && m->queues[m->recent].pid == pid)
		return &m->queues[m->recent];
	e = vt_hash_find(&m->ids, &pid);
	if (!e)
		return NULL;
	m->recent = (size_t)e->index;
	return &m->queues[e->index];
}

const struct vt_miss *vt_misses_take(struct vt_misses *m, int64_t pid, uint64_t position,
				     uint64_t addr, uint64_t size, bool store)
{
	struct vt_misses_queue *q = find_queue(m, pid);
	size_t i;

	if (!q)
		return NULL;
	while (q->first < q->count &&
	       (q->list[q->first].taken || q->list[q->first].position < position)) {
		q->first++;
		m->waiting--;
	}
	if (q->first == q->count) {
		q->first = q->count = 0;
		return NULL;
	}
	for (i = q->first; i < q->count && q->list[i].position == position; i++) {
		struct vt_miss *miss = &q->list[i];

		if (miss->taken || miss->store != store || miss->addr - addr >= size)
			continue;
		miss->taken = true;
		m->taken++;
		return miss;
	}
	return NULL;
}
