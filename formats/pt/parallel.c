/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/parallel.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "formats/pt/lazy.h"

#define JOB_SIZE    (512 << 10) /* bytes of trace, at least */
#define JOB_BLOCKS  (16 << 20)	/* a job that puts out more is left to the single walk */
#define MAX_THREADS 64
#define AHEAD	    2 /* jobs for each thread that may be done and not yet taken */

struct job {
	const uint8_t *begin; /* a PSB; of the first one, the beginning of the trace */
	const uint8_t *next;  /* the next job's PSB; the end of the trace */
	bool done;
	bool good;  /* it came from `from` to `to` without damage */
	bool ended; /* the trace has ended */
	struct vti_pt_lazy from;
	struct vti_pt_lazy to;

	uint32_t *ids;
	size_t nids, ids_cap;
	struct vt_pt_note *notes;
	size_t nnotes, notes_cap;
	struct vt_pt_mark_time *times;
	size_t ntimes, times_cap;
	uint64_t insns;
};

struct vti_pt_parallel {
	struct vt_pt_engine *e;
	struct vti_pt_walk *w;	  /* its own */
	struct vti_pt_lazy state; /* of the single walk, unless it is itself on the way */
	bool walking;		  /* it is: the job at hand is not good */
	bool past_psb;		  /* and has come to the first packet behind the next job's PSB */
	bool ended;

	/* The blocks as they were when a batch was last given out: those in use change. */
	struct vt_pt_blocks shown;

	struct job *jobs;
	size_t njobs;
	size_t at; /* the job that is taken next */

	struct worker {
		struct vti_pt_parallel *p;
		struct vt_pt_engine *e;
		pthread_t thread;
	} workers[MAX_THREADS];
	unsigned nthreads;
	pthread_mutex_t code;  /* who holds it may use blocks */
	pthread_mutex_t mutex; /* for what follows, and for the states of jobs */
	pthread_cond_t work;
	pthread_cond_t done;
	size_t begun;
	size_t limit; /* jobs before it may be begun */
	bool quit;
};

/* ---- walking a job ------------------------------------------------------------- */

static bool append(void *array, size_t *n, size_t *cap, const void *from, size_t count, size_t size)
{
	if (!count)
		return true;
	if (!vt_array_grow(array, cap, *n + count, size))
		return false;
	memcpy(*(uint8_t **)array + *n * size, from, count * size);
	*n += count;
	return true;
}

/* Keeps what a walk has put out. False: no memory. */
static bool keep(struct job *j, const struct vt_pt_batch *b)
{
	uint32_t base = (uint32_t)j->nids;
	size_t note = j->nnotes, time = j->ntimes;

	if (!append(&j->ids, &j->nids, &j->ids_cap, b->ids, b->nids, sizeof(*b->ids)) ||
	    !append(&j->notes, &j->nnotes, &j->notes_cap, b->notes, b->nnotes, sizeof(*b->notes)) ||
	    !append(&j->times, &j->ntimes, &j->times_cap, b->times, b->ntimes, sizeof(*b->times)))
		return false;
	for (; note < j->nnotes; note++)
		j->notes[note].at += base;
	for (; time < j->ntimes; time++)
		j->times[time].at += base;
	j->insns += b->insns;
	return true;
}

static void drop(struct job *j)
{
	free(j->ids);
	free(j->notes);
	free(j->times);
	j->ids = NULL;
	j->notes = NULL;
	j->times = NULL;
	j->nids = j->nnotes = j->ntimes = 0;
	j->ids_cap = j->notes_cap = j->times_cap = 0;
	j->insns = 0;
}

/*
 * Walks until the lazy state at or behind `stop`; what is put out goes to the job, or nowhere.  1,
 * 0: the trace has ended before; negative: no memory, or too much.
 */
static int walk_to(struct vt_pt_engine *e, const uint8_t *stop, struct job *j)
{
	struct vti_pt_walk *w = vti_pt_fast_walk(e);
	struct vt_error err;
	struct vt_pt_batch b;
	int r;

	w->stop = stop;
	do {
		r = vti_pt_fast_next(e, &b, &err);
		if (r > 0 && j && (j->nids > JOB_BLOCKS || !keep(j, &b)))
			return -VT_E_NOMEM;
	} while (r > 0 && !w->reached);
	return r;
}

/* To the first packet behind a PSB that takes a decision or an address, and past it. */
static int walk_past(struct vt_pt_engine *e, const uint8_t *psb, struct job *j)
{
	struct vti_pt_walk *w = vti_pt_fast_walk(e);
	int r = walk_to(e, psb == w->end ? NULL : psb + 1, j);

	return r > 0 ? walk_to(e, w->pos + 1, j) : r;
}

static bool is_damaged(const struct job *j)
{
	size_t i;

	for (i = 0; i < j->nnotes; i++)
		if (j->notes[i].type == VT_PT_NOTE_ERROR)
			return true;
	return false;
}

static void walk_job(const struct vti_pt_parallel *p, struct vt_pt_engine *e, struct job *j)
{
	struct vti_pt_walk *w = vti_pt_fast_walk(e);
	int r = 1;

	vti_pt_lazy_restart(w, j->begin);
	if (j != p->jobs) {
		r = walk_past(e, j->begin, NULL);
		vti_pt_lazy_get(w, &j->from);
		j->from.nreturns = j->from.high = 0;
		if (r > 0)
			vti_pt_lazy_set(w, &j->from);
	}
	if (r > 0) {
		r = walk_past(e, j->next, j);
		j->good = r >= 0 && (j == p->jobs || !is_damaged(j));
		j->ended = r == 0;
	}
	vti_pt_lazy_get(w, &j->to);
	if (!j->good)
		drop(j);
}

/* A thread, with a walk of its own. */
static void *work(void *arg)
{
	struct worker *self = arg;
	struct vti_pt_parallel *p = self->p;

	pthread_mutex_lock(&p->mutex);
	while (!p->quit) {
		struct job *j;

		if (p->begun == p->limit) {
			pthread_cond_wait(&p->work, &p->mutex);
			continue;
		}
		j = &p->jobs[p->begun++];
		pthread_mutex_unlock(&p->mutex);
		pthread_mutex_lock(&p->code);
		walk_job(p, self->e, j);
		pthread_mutex_unlock(&p->code);
		pthread_mutex_lock(&p->mutex);
		j->done = true;
		pthread_cond_signal(&p->done);
	}
	pthread_mutex_unlock(&p->mutex);
	return NULL;
}

/* ---- setting up ------------------------------------------------------------------ */

static bool cut(struct vti_pt_parallel *p)
{
	const uint8_t *at = p->w->begin, *end = p->w->end, *next;
	size_t cap = 0;

	do {
		next = (size_t)(end - at) > JOB_SIZE ? vt_pt_find_psb(at + JOB_SIZE, end) : NULL;
		if (!vt_array_grow(&p->jobs, &cap, p->njobs + 1, sizeof(*p->jobs)))
			return false;
		p->jobs[p->njobs++] = (struct job){.begin = at, .next = next ? next : end};
		at = next;
	} while (next);
	return true;
}

static bool start(struct vti_pt_parallel *p, unsigned threads)
{
	const struct vti_pt_walk *w = p->w;
	struct vt_error err;

	if (!cut(p))
		return false;
	threads = threads < MAX_THREADS ? threads : MAX_THREADS;
	p->limit = (size_t)threads * AHEAD < p->njobs ? (size_t)threads * AHEAD : p->njobs;
	while (p->nthreads < threads) {
		struct worker *self = &p->workers[p->nthreads];
		struct vti_pt_walk *mine;

		self->p = p;
		self->e = vt_pt_fast.open(w->begin, (size_t)(w->end - w->begin), &w->opt, &err);
		if (!self->e)
			return false;
		mine = vti_pt_fast_walk(self->e);
		mine->code = w->code;
		mine->blocks = w->blocks;
		mine->lock = &p->code;
		if (pthread_create(&self->thread, NULL, work, self) != 0) {
			vt_pt_fast.close(self->e);
			return p->nthreads != 0;
		}
		p->nthreads++;
	}
	return true;
}

struct vti_pt_parallel *vti_pt_parallel_new(struct vt_pt_engine *e, struct vti_pt_walk *w,
					    unsigned threads)
{
	struct vti_pt_parallel *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->e = e;
	p->w = w;
	w->lock = &p->code;
	pthread_mutex_init(&p->code, NULL);
	pthread_mutex_init(&p->mutex, NULL);
	pthread_cond_init(&p->work, NULL);
	pthread_cond_init(&p->done, NULL);
	if (!start(p, threads)) {
		vti_pt_parallel_free(p);
		return NULL;
	}
	return p;
}

void vti_pt_parallel_free(struct vti_pt_parallel *p)
{
	unsigned i;
	size_t j;

	if (!p)
		return;
	pthread_mutex_lock(&p->mutex);
	p->quit = true;
	pthread_cond_broadcast(&p->work);
	pthread_mutex_unlock(&p->mutex);
	for (i = 0; i < p->nthreads; i++) {
		pthread_join(p->workers[i].thread, NULL);
		vt_pt_fast.close(p->workers[i].e);
	}
	for (j = 0; j < p->njobs; j++)
		drop(&p->jobs[j]);
	free(p->jobs);
	free(p->shown.blocks);
	free(p->shown.bytes);
	free(p->shown.lengths);
	pthread_cond_destroy(&p->work);
	pthread_cond_destroy(&p->done);
	pthread_mutex_destroy(&p->code);
	pthread_mutex_destroy(&p->mutex);
	p->w->lock = NULL;
	p->w->stop = NULL;
	free(p);
}

/* ---- taking what has been walked ---------------------------------------------------- */

/* Brings what is shown of the blocks up to date; with p->code. False: no memory. */
static bool show_blocks(struct vti_pt_parallel *p)
{
	const struct vt_pt_blocks *from = p->w->blocks;
	struct vt_pt_blocks *to = &p->shown;
	size_t n = from->count, l = from->nlengths;

	if (!vt_array_grow(&to->blocks, &to->cap, n, sizeof(*to->blocks)) ||
	    !vt_array_grow(&to->bytes, &to->bytes_cap, n, sizeof(*to->bytes)) ||
	    !vt_array_grow(&to->lengths, &to->lengths_cap, l, 1))
		return false;
	n -= to->count;
	l -= to->nlengths;
	memcpy(to->blocks + to->count, from->blocks + to->count, n * sizeof(*to->blocks));
	memcpy(to->bytes + to->count, from->bytes + to->count, n * sizeof(*to->bytes));
	memcpy(to->lengths + to->nlengths, from->lengths + to->nlengths, l);
	to->count = from->count;
	to->nlengths = from->nlengths;
	to->code = from->code;
	return true;
}

/* Another piece of the job at hand by the single walk; sets p->walking to false behind the last. */
static int walk_on(struct vti_pt_parallel *p, struct vt_pt_batch *batch, struct vt_error *err)
{
	struct vti_pt_walk *w = p->w;
	int r;

	pthread_mutex_lock(&p->code);
	r = vti_pt_fast_next(p->e, batch, err);
	if (r > 0 && !show_blocks(p))
		r = vt_error_set(err, VT_E_NOMEM, "out of memory");
	pthread_mutex_unlock(&p->code);
	batch->blocks = &p->shown;
	if (r <= 0 || !w->reached)
		return r;
	if (!p->past_psb) {
		p->past_psb = true;
		w->stop = w->pos + 1;
	} else {
		p->walking = false;
		vti_pt_lazy_get(w, &p->state);
	}
	return r;
}

static void walk_instead(struct vti_pt_parallel *p, struct job *j)
{
	if (j != p->jobs)
		vti_pt_lazy_set(p->w, &p->state);
	p->walking = true;
	p->past_psb = false;
	p->w->stop = j->next == p->w->end ? NULL : j->next + 1;
}

/* Jobs cannot know the time that those before them have measured: no more of them. */
static void walk_rest(struct vti_pt_parallel *p)
{
	pthread_mutex_lock(&p->mutex);
	p->limit = p->begun;
	pthread_mutex_unlock(&p->mutex);
	if (p->jobs[p->at - 1].ended)
		return;
	pthread_mutex_lock(&p->code);
	vti_pt_lazy_set(p->w, &p->state);
	pthread_mutex_unlock(&p->code);
	p->walking = true;
	p->w->stop = NULL;
}

static int give(struct vti_pt_parallel *p, struct job *j, struct vt_pt_batch *batch,
		struct vt_error *err)
{
	bool ok;

	pthread_mutex_lock(&p->code);
	ok = show_blocks(p);
	pthread_mutex_unlock(&p->code);
	*batch = (struct vt_pt_batch){
		.blocks = &p->shown,
		.ids = j->ids,
		.nids = j->nids,
		.insns = j->insns,
		.notes = j->notes,
		.nnotes = j->nnotes,
		.times = j->times,
		.ntimes = j->ntimes,
	};
	return ok ? 1 : vt_error_set(err, VT_E_NOMEM, "out of memory");
}

/* What a job has found follows what is known.  False: it does not. */
static bool join(struct vti_pt_parallel *p, struct job *j)
{
	if (!j->good)
		return false;
	if (j == p->jobs) {
		p->state = j->to;
		return true;
	}
	return vti_pt_lazy_join(&p->state, &j->from, &j->to);
}

/* Waits for the next job; the one before it is not needed any more. */
static struct job *next_job(struct vti_pt_parallel *p)
{
	struct job *j = &p->jobs[p->at];

	if (p->at)
		drop(j - 1);
	pthread_mutex_lock(&p->mutex);
	while (!j->done)
		pthread_cond_wait(&p->done, &p->mutex);
	if (p->limit < p->njobs) {
		p->limit++;
		pthread_cond_signal(&p->work);
	}
	pthread_mutex_unlock(&p->mutex);
	p->at++;
	return j;
}

int vti_pt_parallel_next(struct vti_pt_parallel *p, struct vt_pt_batch *batch, struct vt_error *err)
{
	for (;;) {
		struct job *j;

		if (p->walking)
			return walk_on(p, batch, err);
		if (p->ended || p->at == p->njobs)
			return 0;
		j = next_job(p);
		if (join(p, j)) {
			if (vti_pt_lazy_timed(&p->state))
				walk_rest(p);
			p->ended = j->ended;
			return give(p, j, batch, err);
		}
		walk_instead(p, j);
	}
}
