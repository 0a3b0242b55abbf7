/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_PIPELINE_OOO_QUEUE_H
#define VT_MACHINE_PIPELINE_OOO_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The queue of micro-operations that wait to be issued.  When each leaves it is known when it
 * comes; how many leave in a cycle is counted by cycle, those far ahead in a list.
 */
struct vti_oooqueue {
	uint32_t room; /* 0: for any number */
	uint32_t held; /* who has left is noticed when room is needed */
	uint64_t at;   /* the cycle up to which that has been noticed */
	uint32_t *leaving;
	uint64_t *far;
	uint32_t nfar;
};

bool vti_oooqueue_init(struct vti_oooqueue *q, uint32_t room);
void vti_oooqueue_fini(struct vti_oooqueue *q);

/* One comes, and leaves at `leaves`. */
void vti_oooqueue_push(struct vti_oooqueue *q, uint64_t leaves);

/* When there is room for `n`, if it is needed at `at`, which is not before earlier answers. */
uint64_t vti_oooqueue_make_room(struct vti_oooqueue *q, uint64_t at, uint32_t n);

/* All that are there have left at `at`, and it is then. */
void vti_oooqueue_leave(struct vti_oooqueue *q, uint64_t at);

static inline uint64_t vti_oooqueue_when(struct vti_oooqueue *q, uint64_t at, uint32_t n)
{
	return !q->room || q->held + n <= q->room ? at : vti_oooqueue_make_room(q, at, n);
}

#endif
