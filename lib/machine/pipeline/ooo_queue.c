/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/pipeline/ooo_queue.h"

#include <stdlib.h>
#include <string.h>

/* Cycles ahead for which it is counted who leaves: a power of 2. */
#define AHEAD 512

bool vti_oooqueue_init(struct vti_oooqueue *q, uint32_t room)
{
	*q = (struct vti_oooqueue){.room = room};
	if (!room)
		return true;
	q->leaving = calloc(AHEAD, sizeof(*q->leaving));
	q->far = calloc(room, sizeof(*q->far));
	return q->leaving && q->far;
}

void vti_oooqueue_fini(struct vti_oooqueue *q)
{
	free(q->leaving);
	free(q->far);
}

void vti_oooqueue_push(struct vti_oooqueue *q, uint64_t leaves)
{
	if (q->held >= q->room || leaves <= q->at)
		return;
	q->held++;
	if (leaves - q->at < AHEAD)
		q->leaving[leaves % AHEAD]++;
	else
		q->far[q->nfar++] = leaves;
}

/* Those in the list that have left are gone, and those that will soon are counted. */
static void sort_far_entries(struct vti_oooqueue *q)
{
	uint32_t i, n = 0;

	for (i = 0; i < q->nfar; i++) {
		uint64_t leaves = q->far[i];

		if (leaves <= q->at)
			q->held--;
		else if (leaves - q->at < AHEAD)
			q->leaving[leaves % AHEAD]++;
		else
			q->far[n++] = leaves;
	}
	q->nfar = n;
}

/* Those that have left at `at` are gone. */
static void advance_queue(struct vti_oooqueue *q, uint64_t at)
{
	uint64_t last = at - q->at < AHEAD ? at : q->at + AHEAD - 1, cycle;

	for (cycle = q->at + 1; cycle <= last; cycle++) {
		q->held -= q->leaving[cycle % AHEAD];
		q->leaving[cycle % AHEAD] = 0;
	}
	q->at = at;
	if (q->nfar)
		sort_far_entries(q);
}

void vti_oooqueue_leave(struct vti_oooqueue *q, uint64_t at)
{
	if (q->room)
		advance_queue(q, at);
}

/* When the first of the others will leave. */
static uint64_t next_leaves(const struct vti_oooqueue *q)
{
	uint64_t first = UINT64_MAX;
	uint32_t i;

	for (i = 1; i < AHEAD; i++)
		if (q->leaving[(q->at + i) % AHEAD])
			return q->at + i;
	for (i = 0; i < q->nfar; i++)
		if (q->far[i] < first)
			first = q->far[i];
	return first;
}

uint64_t vti_oooqueue_make_room(struct vti_oooqueue *q, uint64_t at, uint32_t n)
{
	if (at > q->at)
		advance_queue(q, at);
	while (q->held && q->held + n > q->room) {
		at = next_leaves(q);
		advance_queue(q, at);
	}
	return at;
}
