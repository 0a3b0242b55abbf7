/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_PIPELINE_OOO_QUEUE_H
#define VT_MACHINE_PIPELINE_OOO_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The queue of micro-operations that wait to be issued.  The cycle in which one leaves the queue is
 * known when it enters.  The number that leave is counted by cycle; those far ahead are in a list.
 */
struct vti_oooqueue {
	uint32_t room; /* entries; 0: not limited */
	uint32_t held; /* used entries; only updated when room is needed */
	uint64_t at;   /* the cycle up to which `held` is updated */
	uint32_t *leaving;
	uint64_t *far;
	uint32_t nfar;
};

bool vti_oooqueue_init(struct vti_oooqueue *q, uint32_t room);
void vti_oooqueue_fini(struct vti_oooqueue *q);

/* Adds a micro-operation that leaves at cycle `leaves`. */
void vti_oooqueue_push(struct vti_oooqueue *q, uint64_t leaves);

/*
 * Returns the first cycle from `at` on in which there is room for `n`.  `at` must not be less than
 * earlier results.
 */
uint64_t vti_oooqueue_make_room(struct vti_oooqueue *q, uint64_t at, uint32_t n);

/* Advances to cycle `at`, at which all have left. */
void vti_oooqueue_leave(struct vti_oooqueue *q, uint64_t at);

static inline uint64_t vti_oooqueue_when(struct vti_oooqueue *q, uint64_t at, uint32_t n)
{
	return !q->room || q->held + n <= q->room ? at : vti_oooqueue_make_room(q, at, n);
}

#endif
