/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/collector.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "image/addrspace.h"
#include "profile/profile.h"

/* Of linux/perf_event.h. */
#define CPUMODE_MASK	  7u
#define SAMPLE_HAS_IP	  (1u << 0)
#define SAMPLE_HAS_PERIOD (1u << 8)

/* Bit of vt_sample_key.mode: the sample has an address. */
#define HAS_IP 8u

struct event_period {
	uint64_t id;
	uint64_t period; /* that was asked for */
};

struct vt_collector {
	struct vt_sampletable_shape shape;
	struct vt_sampletable *table[VT_COLLECTOR_CPUS + 1]; /* those seen */
	struct vt_writer *w;
	struct vt_addrspace *space;
	struct vt_hash events; /* struct event_period; indices are vt_sample_key.event */
	struct vt_sample_entry *buffer;
	size_t buffered;
	size_t overflow;
	bool dirty; /* something is in a table or the buffer */
	struct vt_collector_counts counts;
};

struct vt_collector *vt_collector_new(const struct vt_sampletable_shape *shape, size_t overflow,
				      struct vt_writer *w)
{
	struct vt_collector *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->shape = *shape;
	c->overflow = overflow;
	c->w = w;
	vt_hash_init(&c->events, sizeof(struct event_period), sizeof(uint64_t));
	c->buffer = calloc(overflow, sizeof(*c->buffer));
	c->space = vt_addrspace_new();
	if (!c->buffer || !c->space) {
		vt_collector_free(c);
		return NULL;
	}
	return c;
}

void vt_collector_free(struct vt_collector *c)
{
	size_t i;

	if (!c)
		return;
	for (i = 0; i <= VT_COLLECTOR_CPUS; i++)
		vt_sampletable_free(c->table[i]);
	vt_hash_fini(&c->events);
	vt_addrspace_free(c->space);
	free(c->buffer);
	free(c);
}

/* ---- the daemon's side ---- */

static int compare_numbers(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int compare(const void *pa, const void *pb)
{
	const struct vt_sample_key *a = &((const struct vt_sample_entry *)pa)->key;
	const struct vt_sample_key *b = &((const struct vt_sample_entry *)pb)->key;

	int c = compare_numbers(a->pid, b->pid);

	if (!c)
		c = compare_numbers(a->mode, b->mode);
	if (!c)
		c = (a->pc > b->pc) - (a->pc < b->pc);
	return c ? c : compare_numbers(a->event, b->event);
}

static void write_count(struct vt_collector *c, const struct vt_sample_entry *e)
{
	const struct event_period *event = vt_hash_at(&c->events, e->key.event);
	const struct vt_map *m =
		vt_addrspace_find(c->space, e->key.pid, e->key.pc, e->key.mode & CPUMODE_MASK);
	uint64_t *row;

	c->counts.written++;
	if (!c->w)
		return;
	row = vt_writer_row(c->w, VT_COUNT);
	row[VT_COUNT_IMAGE] = m ? m->image : VT_UNMAPPED_IMAGE;
	row[VT_COUNT_OFFSET] =
		m ? vt_map_offset(m, e->key.pc)
		  : (uint64_t)vt_unmapped_cause(e->key.pc, e->key.mode & CPUMODE_MASK,
						e->key.mode & HAS_IP ? SAMPLE_HAS_IP : 0);
	row[VT_COUNT_EVENT] = event->id;
	row[VT_COUNT_SAMPLES] = e->samples;
	row[VT_COUNT_PERIOD] = e->period;
}

/* In order, an image is looked up once for many entries (DCPI 5.4), and equal ones add up. */
static void empty_buffer(struct vt_collector *c)
{
	size_t i;

	qsort(c->buffer, c->buffered, sizeof(*c->buffer), compare);
	for (i = 0; i < c->buffered; i++) {
		struct vt_sample_entry sum = c->buffer[i];

		while (i + 1 < c->buffered && compare(&sum, &c->buffer[i + 1]) == 0) {
			i++;
			sum.samples += c->buffer[i].samples;
			sum.period += c->buffer[i].period;
		}
		write_count(c, &sum);
	}
	c->buffered = 0;
}

static void hand_over(struct vt_collector *c, const struct vt_sample_entry *e)
{
	c->buffer[c->buffered++] = *e;
	if (c->buffered < c->overflow)
		return;
	c->counts.buffers++;
	empty_buffer(c);
}

static void empty_tables(struct vt_collector *c)
{
	struct vt_sample_entry e;
	size_t i;

	for (i = 0; i <= VT_COLLECTOR_CPUS; i++)
		while (c->table[i] && vt_sampletable_take(c->table[i], &e))
			hand_over(c, &e);
	empty_buffer(c);
	c->dirty = false;
}

/* ---- the driver's side ---- */

static struct event_period *event_of(struct vt_collector *c, uint64_t id)
{
	return vt_hash_add(&c->events, &id, NULL);
}

static int take_event(struct vt_collector *c, const struct vt_record *rec, struct vt_error *err)
{
	struct event_period *e = event_of(c, vt_record_u64(rec, VT_EVENT_ID));

	if (!e)
		return vt_error_nomem(err);
	e->period = vt_record_u64(rec, VT_EVENT_PERIOD);
	return 0;
}

static int take_sample(struct vt_collector *c, const struct vt_record *rec, struct vt_error *err)
{
	uint64_t cpu = vt_record_u64(rec, VT_SAMPLE_CPU);
	uint64_t has = vt_record_u64(rec, VT_SAMPLE_HAS);
	uint64_t period = vt_record_u64(rec, VT_SAMPLE_PERIOD);
	size_t slot = cpu < VT_COLLECTOR_CPUS ? (size_t)cpu : VT_COLLECTOR_CPUS;
	struct event_period *event = event_of(c, vt_record_u64(rec, VT_SAMPLE_EVENT));
	struct vt_sample_entry evicted;
	struct vt_sample_key key = {
		.pc = vt_record_u64(rec, VT_SAMPLE_IP),
		.pid = (int32_t)vt_record_i64(rec, VT_SAMPLE_PID),
		.mode = (uint32_t)(vt_record_u64(rec, VT_SAMPLE_MISC) & CPUMODE_MASK) |
			(has & SAMPLE_HAS_IP ? HAS_IP : 0),
	};

	if (!event)
		return vt_error_nomem(err);
	if (!c->table[slot])
		c->table[slot] = vt_sampletable_new(&c->shape);
	if (!c->table[slot])
		return vt_error_nomem(err);
	key.event = (uint32_t)(event - (struct event_period *)vt_hash_at(&c->events, 0));
	/* Recorders leave the period out when it is the same for all samples. */
	if (!period && !(has & SAMPLE_HAS_PERIOD))
		period = event->period ? event->period : 1;
	c->counts.samples++;
	c->dirty = true;
	if (vt_sampletable_add(c->table[slot], &key, period, &evicted))
		hand_over(c, &evicted);
	return 0;
}

static int take_mapping(struct vt_collector *c, const struct vt_record *rec, struct vt_error *err)
{
	bool renamed = rec->kind == VT_THREAD && vt_record_u64(rec, VT_THREAD_OP) == VT_OP_COMM;

	if (c->dirty && !renamed) {
		c->counts.emptied++;
		empty_tables(c);
	}
	return vt_addrspace_feed(c->space, rec, err);
}

static int take_record(struct vt_collector *c, const struct vt_record *rec, struct vt_error *err)
{
	int code = 0;

	switch (rec->kind) {
	case VT_SAMPLE:
		return take_sample(c, rec, err);
	case VT_EVENT:
		code = take_event(c, rec, err);
		break;
	case VT_IMAGE:
		code = vt_addrspace_feed(c->space, rec, err);
		break;
	case VT_MAP:
	case VT_THREAD:
	case VT_KSYMBOL:
		code = take_mapping(c, rec, err);
		break;
	default:
		break;
	}
	if (code == 0 && c->w)
		vt_writer_copy(c->w, rec);
	return code;
}

int vt_collector_feed(struct vt_collector *c, const struct vt_block *block, uint32_t first,
		      uint32_t count, struct vt_error *err)
{
	struct vt_record rec = {block, block->kind, first};
	int code = 0;

	for (; rec.row - first < count && code == 0; rec.row++)
		code = take_record(c, &rec, err);
	return code;
}

int vt_collector_finish(struct vt_collector *c, struct vt_error *err)
{
	empty_tables(c);
	return c->w ? vt_writer_error(c->w, err) : 0;
}

/* ---- what it tells ---- */

const struct vt_collector_counts *vt_collector_counts(const struct vt_collector *c)
{
	return &c->counts;
}

struct vt_sampletable_counts vt_collector_table_counts(const struct vt_collector *c)
{
	struct vt_sampletable_counts sum = {0};
	size_t i;

	for (i = 0; i <= VT_COLLECTOR_CPUS; i++) {
		const struct vt_sampletable_counts *n;

		if (!c->table[i])
			continue;
		n = vt_sampletable_counts(c->table[i]);
		sum.samples += n->samples;
		sum.misses += n->misses;
		sum.evictions += n->evictions;
		sum.compared += n->compared;
	}
	return sum;
}

double vt_collector_cost(const struct vt_sampletable_counts *n)
{
	static const double hit = 430, miss = 654, entry = 245 / 0.095;
	double misses;

	if (!n->samples)
		return 0;
	misses = (double)n->misses / (double)n->samples;
	return hit * (1 - misses) + (miss + entry) * misses;
}
