/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/ordered.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

/* Items that wait for each thread, at most. */
#define ITEMS_EACH 64

struct slot {
	void *item;
	uint64_t weight;
	bool done;
};

struct vt_ordered {
	struct vt_ordered_work how;
	pthread_mutex_t mutex; /* protects what follows */
	pthread_cond_t came;
	pthread_cond_t done;
	/* Items from `first` on wait; those from `begun` on nobody works at. */
	struct slot *ring;
	uint64_t size;
	uint64_t first;
	uint64_t begun;
	uint64_t last;
	uint64_t weight; /* of all that wait */
	bool quit;
	pthread_t *threads;
	unsigned nthreads; /* besides the caller's */
};

/* Does the next item.  The caller holds o->mutex, which is released meanwhile. */
static void do_next(struct vt_ordered *o)
{
	struct slot *s = &o->ring[o->begun++ % o->size];

	pthread_mutex_unlock(&o->mutex);
	o->how.work(o->how.arg, s->item);
	pthread_mutex_lock(&o->mutex);
	s->done = true;
	pthread_cond_signal(&o->done);
}

static void *run_ordered_thread(void *arg)
{
	struct vt_ordered *o = arg;

	pthread_mutex_lock(&o->mutex);
	while (!o->quit) {
		if (o->begun < o->last)
			do_next(o);
		else
			pthread_cond_wait(&o->came, &o->mutex);
	}
	pthread_mutex_unlock(&o->mutex);
	return NULL;
}

struct vt_ordered *vt_ordered_new(unsigned threads, const struct vt_ordered_work *work)
{
	struct vt_ordered *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->how = *work;
	pthread_mutex_init(&o->mutex, NULL);
	pthread_cond_init(&o->came, NULL);
	pthread_cond_init(&o->done, NULL);
	threads = threads < VT_ORDERED_THREADS ? threads : VT_ORDERED_THREADS;
	o->size = threads > 1 ? (uint64_t)threads * ITEMS_EACH : 1;
	o->ring = calloc(o->size, sizeof(*o->ring));
	o->threads = calloc((size_t)threads + 1, sizeof(*o->threads));
	if (!o->ring || !o->threads) {
		vt_ordered_free(o);
		return NULL;
	}
	while (o->nthreads + 1 < threads &&
	       pthread_create(&o->threads[o->nthreads], NULL, run_ordered_thread, o) == 0)
		o->nthreads++;
	return o;
}

/* Takes the oldest item, which must be done.  Releases o->mutex meanwhile, as do_next(). */
static void take_oldest(struct vt_ordered *o)
{
	struct slot *s = &o->ring[o->first % o->size];

	pthread_mutex_unlock(&o->mutex);
	o->how.take(o->how.arg, s->item);
	pthread_mutex_lock(&o->mutex);
	o->weight -= s->weight;
	o->first++;
}

/* Takes what is done, and works or waits until at most `items` of a weight of `most` wait. */
static void make_room(struct vt_ordered *o, uint64_t items, uint64_t most)
{
	pthread_mutex_lock(&o->mutex);
	while (o->first < o->last) {
		if (o->ring[o->first % o->size].done)
			take_oldest(o);
		else if (o->last - o->first <= items && o->weight <= most)
			break;
		else if (o->begun < o->last)
			do_next(o);
		else
			pthread_cond_wait(&o->done, &o->mutex);
	}
	pthread_mutex_unlock(&o->mutex);
}

void vt_ordered_put(struct vt_ordered *o, void *item, uint64_t weight)
{
	make_room(o, o->size - 1, o->how.most - (weight < o->how.most ? weight : o->how.most));
	pthread_mutex_lock(&o->mutex);
	o->ring[o->last++ % o->size] = (struct slot){item, weight, false};
	o->weight += weight;
	pthread_cond_signal(&o->came);
	pthread_mutex_unlock(&o->mutex);
}

void vt_ordered_finish(struct vt_ordered *o)
{
	make_room(o, 0, 0);
}

void vt_ordered_free(struct vt_ordered *o)
{
	unsigned i;

	if (!o)
		return;
	if (o->ring)
		vt_ordered_finish(o);
	pthread_mutex_lock(&o->mutex);
	o->quit = true;
	pthread_cond_broadcast(&o->came);
	pthread_mutex_unlock(&o->mutex);
	for (i = 0; i < o->nthreads; i++)
		pthread_join(o->threads[i], NULL);
	pthread_cond_destroy(&o->came);
	pthread_cond_destroy(&o->done);
	pthread_mutex_destroy(&o->mutex);
	free(o->threads);
	free(o->ring);
	free(o);
}

unsigned vt_ordered_processors(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : n < VT_ORDERED_THREADS ? (unsigned)n : VT_ORDERED_THREADS;
}
