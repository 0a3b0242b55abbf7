/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_BASE_ORDERED_H
#define VT_BASE_ORDERED_H

#include <stddef.h>
#include <stdint.h>

/*
 * Work that several threads do and whose results are taken in the order in which it was given, so
 * that they do not depend on the number of threads.  Only so much waits at a time.
 */
struct vt_ordered;

struct vt_ordered_work {
	/* Does one item; called in any thread, for several items at once. */
	void (*work)(void *arg, void *item);
	/* Called in the caller's thread for each item, done or not, in their order. */
	void (*take)(void *arg, void *item);
	void *arg;
	uint64_t most; /* sum of the weights of what waits; one item may have more */
};

/*
 * Starts `threads` threads, 1 to VT_ORDERED_THREADS with the caller's, or as many of them as the
 * system lets it.  Copies *work.  Owned by the caller; NULL when memory runs out.
 */
#define VT_ORDERED_THREADS 256

struct vt_ordered *vt_ordered_new(unsigned threads, const struct vt_ordered_work *work);

/* Takes what waits, and ends the threads. */
void vt_ordered_free(struct vt_ordered *o);

/* Gives an item to the threads.  While too much waits, does some of it and takes what is done. */
void vt_ordered_put(struct vt_ordered *o, void *item, uint64_t weight);

/* Takes all that was given. */
void vt_ordered_finish(struct vt_ordered *o);

/* The number of processors that are online, at most VT_ORDERED_THREADS. */
unsigned vt_ordered_processors(void);

#endif
