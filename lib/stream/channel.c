/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/channel.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "stream/channel_internal.h"

struct vt_channel {
	pthread_mutex_t mutex; /* protects what follows but the insides of the frame */
	pthread_cond_t changed;
	unsigned owners;
	struct vt_buf header;
	struct vti_frame frame; /* of the reader if `full`, of the writer otherwise */
	bool begun;
	bool full;
	bool taken; /* the reader has the frame that is full */
	bool ended;
	bool stopped;
	enum vt_status status;
	struct vt_failure failure; /* none if `program` is empty */
};

struct vt_channel *vt_channel_new(void)
{
	struct vt_channel *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	pthread_mutex_init(&c->mutex, NULL);
	pthread_cond_init(&c->changed, NULL);
	c->owners = 1;
	return c;
}

void vti_frame_kind_fini(struct vti_frame_kind *k)
{
	uint32_t f;

	for (f = 0; k->columns && f < k->ncolumns; f++) {
		free(k->columns[f].v);
		vt_buf_free(&k->columns[f].var);
	}
	free(k->columns);
}

static void free_channel(struct vt_channel *c)
{
	uint32_t k;

	for (k = 0; k < c->frame.nkinds; k++)
		vti_frame_kind_fini(&c->frame.kinds[k]);
	free(c->frame.kinds);
	free(c->frame.runs);
	vt_buf_free(&c->header);
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->mutex);
	free(c);
}

void vt_channel_free(struct vt_channel *c)
{
	unsigned left;

	if (!c)
		return;
	pthread_mutex_lock(&c->mutex);
	left = --c->owners;
	pthread_mutex_unlock(&c->mutex);
	if (!left)
		free_channel(c);
}

static void set_flag(struct vt_channel *c, bool *flag, bool value)
{
	pthread_mutex_lock(&c->mutex);
	*flag = value;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->mutex);
}

void vt_channel_stop(struct vt_channel *c)
{
	set_flag(c, &c->stopped, true);
}

/* ---- the writer's side ---- */

bool vti_channel_begin(struct vt_channel *c, const struct vt_schema *kinds,
		       const struct vt_buf *header)
{
	uint32_t k;

	assert(!c->begun);
	c->frame.kinds = calloc(kinds->nkinds + 1, sizeof(*c->frame.kinds));
	if (!c->frame.kinds)
		return false;
	for (; c->frame.nkinds < kinds->nkinds; c->frame.nkinds++) {
		struct vti_frame_kind *kind = &c->frame.kinds[c->frame.nkinds];

		k = c->frame.nkinds;
		kind->ncolumns = kinds->kinds[k].nfields;
		kind->columns = calloc(kind->ncolumns + 1, sizeof(*kind->columns));
		if (!kind->columns)
			return false;
	}
	vt_buf_put(&c->header, header->data, header->size);
	if (c->header.failed)
		return false;
	set_flag(c, &c->begun, true);
	return true;
}

struct vti_frame *vti_channel_claim(struct vt_channel *c)
{
	bool stopped;

	pthread_mutex_lock(&c->mutex);
	while (c->full && !c->stopped)
		pthread_cond_wait(&c->changed, &c->mutex);
	stopped = c->stopped;
	pthread_mutex_unlock(&c->mutex);
	return stopped ? NULL : &c->frame;
}

void vti_channel_hand_over(struct vt_channel *c)
{
	set_flag(c, &c->full, true);
}

void vti_channel_end(struct vt_channel *c, enum vt_status status, const struct vt_failure *failure)
{
	c->status = status;
	if (failure)
		c->failure = *failure;
	set_flag(c, &c->ended, true);
}

/* ---- the reader's side ---- */

const struct vt_buf *vti_channel_join(struct vt_channel *c)
{
	bool begun;

	pthread_mutex_lock(&c->mutex);
	c->owners++;
	while (!c->begun && !c->ended)
		pthread_cond_wait(&c->changed, &c->mutex);
	begun = c->begun;
	pthread_mutex_unlock(&c->mutex);
	return begun ? &c->header : NULL;
}

const struct vti_frame *vti_channel_next(struct vt_channel *c)
{
	bool full;

	pthread_mutex_lock(&c->mutex);
	if (c->taken) {
		c->full = false;
		pthread_cond_broadcast(&c->changed);
	}
	while (!c->full && !c->ended)
		pthread_cond_wait(&c->changed, &c->mutex);
	full = c->taken = c->full;
	pthread_mutex_unlock(&c->mutex);
	return full ? &c->frame : NULL;
}

enum vt_status vti_channel_status(const struct vt_channel *c, struct vt_failure *failure)
{
	*failure = c->failure;
	return c->status;
}
