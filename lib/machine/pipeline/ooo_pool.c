/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <pthread.h>
#include <stdlib.h>

#include "machine/pipeline/ooo_internal.h"

/* Each thread has two at most: one to schedule with, and one to walk. */
#define MOST 64

struct vt_ooopool {
	pthread_mutex_t mutex; /* protects what follows */
	struct vt_ooo *machines[MOST];
	size_t count;
};

struct vt_ooopool *vt_ooopool_new(void)
{
	struct vt_ooopool *p = calloc(1, sizeof(*p));

	if (p)
		pthread_mutex_init(&p->mutex, NULL);
	return p;
}

void vt_ooopool_free(struct vt_ooopool *p)
{
	if (!p)
		return;
	while (p->count)
		vt_ooo_free(p->machines[--p->count]);
	pthread_mutex_destroy(&p->mutex);
	free(p);
}

struct vt_ooo *vt_ooo_take(const struct vt_core *m)
{
	struct vt_ooopool *p = m->pool;
	struct vt_ooo *e = NULL;

	if (!p)
		return vt_ooo_new(m, NULL);
	pthread_mutex_lock(&p->mutex);
	if (p->count)
		e = p->machines[--p->count];
	pthread_mutex_unlock(&p->mutex);
	if (!e)
		return vt_ooo_new(m, NULL);
	vti_ooo_change_core(e, m);
	return e;
}

void vt_ooo_give_back(const struct vt_core *m, struct vt_ooo *e)
{
	struct vt_ooopool *p = m->pool;

	if (p && e) {
		pthread_mutex_lock(&p->mutex);
		if (p->count < MOST) {
			p->machines[p->count++] = e;
			e = NULL;
		}
		pthread_mutex_unlock(&p->mutex);
	}
	vt_ooo_free(e);
}
