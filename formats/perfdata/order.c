/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/perfdata/session.h"

#include <stdlib.h>
#include <string.h>

#define PIECE_SIZE (256u << 10)
#define MAX_BUSY   (VT_PERFDATA_QUEUE_BYTES / PIECE_SIZE)
#define NO_PIECE   UINT32_MAX

void vti_pd_order_init(struct pd_order *o, bool big, pd_deliver_fn *deliver, void *arg)
{
	memset(o, 0, sizeof(*o));
	o->big = big;
	o->deliver = deliver;
	o->arg = arg;
	o->sorted = true;
	o->current = NO_PIECE;
	o->free_head = NO_PIECE;
}

void vti_pd_order_fini(struct pd_order *o)
{
	size_t i;

	for (i = 0; i < o->npieces; i++)
		free(o->pieces[i].data);
	free(o->pieces);
	free(o->entries);
	free(o->spare);
	free(o->runs);
}

/* Makes `current` a piece with room for `size` bytes. */
static bool open_piece(struct pd_order *o)
{
	struct pd_piece *p;

	if (o->current != NO_PIECE && !o->pieces[o->current].live) {
		o->pieces[o->current].used = 0;
		return true;
	}
	o->busy++;
	if (o->free_head != NO_PIECE) {
		o->current = o->free_head;
		p = &o->pieces[o->current];
		o->free_head = p->used;
		p->used = 0;
		return true;
	}
	if (!vt_array_grow(&o->pieces, &o->pieces_cap, o->npieces + 1, sizeof(*o->pieces)))
		return false;
	p = &o->pieces[o->npieces];
	p->data = malloc(PIECE_SIZE);
	if (!p->data)
		return false;
	p->used = 0;
	p->live = 0;
	o->current = (uint32_t)o->npieces++;
	return true;
}

/* Removes a record from a piece.  An empty piece goes to the free list, linked through `used`. */
static void drop_from_piece(struct pd_order *o, uint32_t i)
{
	struct pd_piece *p = &o->pieces[i];

	if (--p->live || i == o->current)
		return;
	o->busy--;
	p->used = o->free_head;
	o->free_head = i;
}

/* Merges the ascending runs a[from..mid) and a[mid..to) into out[from..to); stable. */
static void merge_runs(struct pd_entry *out, const struct pd_entry *a, size_t from, size_t mid,
		       size_t to)
{
	size_t i = from, j = mid, k = from;

	while (i < mid && j < to) {
		if (a[j].time < a[i].time)
			out[k++] = a[j++];
		else
			out[k++] = a[i++];
	}
	memcpy(out + k, a + i, (mid - i) * sizeof(*out));
	k += mid - i;
	memcpy(out + k, a + j, (to - j) * sizeof(*out));
}

static bool find_runs(struct pd_order *o, size_t *nruns)
{
	size_t i, n = 0;

	for (i = 0; i < o->count; i++) {
		if (i && o->entries[i].time >= o->entries[i - 1].time)
			continue;
		if (!vt_array_grow(&o->runs, &o->runs_cap, n + 2, sizeof(*o->runs)))
			return false;
		o->runs[n++] = i;
	}
	if (n)
		o->runs[n] = o->count;
	*nruns = n;
	return true;
}

/*
 * Sorts the entries.  A round is a concatenation of the CPUs' buffers, each in order: merging these
 * runs takes far fewer steps than sorting.
 */
static bool sort_entries(struct pd_order *o)
{
	size_t n;

	if (o->sorted)
		return true;
	if (!vt_array_grow(&o->spare, &o->spare_cap, o->count, sizeof(*o->spare)) ||
	    !find_runs(o, &n))
		return false;
	while (n > 1) {
		struct pd_entry *entries = o->entries;
		size_t cap = o->cap, i, k = 0;

		for (i = 0; i + 1 < n; i += 2) {
			merge_runs(o->spare, entries, o->runs[i], o->runs[i + 1], o->runs[i + 2]);
			o->runs[k++] = o->runs[i];
		}
		if (i < n) {
			memcpy(o->spare + o->runs[i], entries + o->runs[i],
			       (o->count - o->runs[i]) * sizeof(*entries));
			o->runs[k++] = o->runs[i];
		}
		o->runs[k] = o->count;
		n = k;
		o->entries = o->spare;
		o->cap = o->spare_cap;
		o->spare = entries;
		o->spare_cap = cap;
	}
	o->sorted = true;
	return true;
}

/* Delivers the first n entries, which are sorted. */
static int deliver_entries(struct pd_order *o, size_t n)
{
	size_t i;
	int r = 0;

	for (i = 0; i < n && r >= 0; i++) {
		const struct pd_entry *e = &o->entries[i];
		const uint8_t *record = o->pieces[e->piece].data + e->at;
		size_t size = vti_pd_u16(record + 6, o->big);

		r = o->deliver(o->arg, record, size, e->offset);
		o->last = e->time;
		drop_from_piece(o, e->piece);
	}
	o->count -= i;
	memmove(o->entries, o->entries + i, o->count * sizeof(*o->entries));
	return r;
}

static int release_until(struct pd_order *o, uint64_t limit)
{
	if (!o->count)
		return 0;
	if (!sort_entries(o))
		return -VT_E_NOMEM;
	return deliver_entries(o, vt_array_up_to(o->entries, o->count, sizeof(*o->entries), limit));
}

int vti_pd_order_add(struct pd_order *o, uint64_t time, const uint8_t *record, size_t size,
		     uint64_t offset)
{
	/* Records keep the alignment that they have in the kernel's memory. */
	size_t room = (size + 7) & ~(size_t)7;
	struct pd_entry *e;
	struct pd_piece *p;
	int r;

	/* A piece stays until all its records have left, so pieces are counted, not bytes. */
	while (o->count >= VT_PERFDATA_QUEUE_RECORDS || o->busy > MAX_BUSY) {
		if (!sort_entries(o))
			return -VT_E_NOMEM;
		r = deliver_entries(o, (o->count + 1) / 2);
		if (r < 0)
			return r;
	}
	if ((o->current == NO_PIECE || PIECE_SIZE - o->pieces[o->current].used < room) &&
	    !open_piece(o))
		return -VT_E_NOMEM;
	if (o->count == o->cap &&
	    !vt_array_grow(&o->entries, &o->cap, o->count + 1, sizeof(*o->entries)))
		return -VT_E_NOMEM;
	p = &o->pieces[o->current];
	e = &o->entries[o->count];
	e->time = time;
	e->offset = offset;
	e->piece = o->current;
	e->at = p->used;
	memcpy(p->data + p->used, record, size);
	p->used += (uint32_t)room;
	p->live++;
	if (o->count && time < o->entries[o->count - 1].time)
		o->sorted = false;
	o->count++;
	if (time > o->newest)
		o->newest = time;
	if (time < o->last)
		o->late++;
	return 0;
}

int vti_pd_order_round(struct pd_order *o)
{
	int r = release_until(o, o->release);

	o->release = o->newest;
	return r;
}

int vti_pd_order_flush(struct pd_order *o)
{
	return release_until(o, UINT64_MAX);
}
