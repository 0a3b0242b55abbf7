/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/decode/parallel.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "formats/pt/decode/lazy.h"

#define JOB_SIZE    (128 << 10) /* bytes of trace, at least: its output fits a cache */
#define JOB_BLOCKS  (4 << 20)	/* a job that puts out more is left to the single walk */
#define MAX_THREADS 64
#define AHEAD	    4	       /* jobs per thread that may be walked and not yet taken */
#define WARM	    (16 << 10) /* bytes before a job at which its clock starts, about */
#define SETTLED	    64	       /* bytes after a PSB at which all walks are in the same state */
#define SMALL	    1024       /* blocks that are copied instead of having their own piece */

/* The output of one call of a walk, which has been given other arrays. */
struct piece {
	struct piece *next;
	struct vti_pt_output out;
};

struct job {
	const uint8_t *warm;  /* a PSB before `begin`, where its clock begins */
	const uint8_t *begin; /* a PSB; of the first one, the beginning of the trace */
	const uint8_t *next;  /* the next job's PSB; the end of the trace */
	bool done;
	bool good;  /* it was walked from `from` to `to` without damage */
	bool ended; /* the trace has ended */
	struct vti_pt_lazy from;
	struct vti_pt_lazy to;

	struct piece *first;
	struct piece *last;
	size_t nids;
};

struct vti_pt_parallel {
	struct vti_pt_walk *w;	  /* the single walk */
	struct vti_pt_lazy state; /* of the single walk, unless `walking` */
	bool walking;		  /* the single walk repeats the current job */
	bool ended;

	/* A copy of the blocks at the time of the last batch: the original changes. */
	struct vt_pt_blocks shown;

	struct job *jobs;
	size_t njobs;
	size_t at;		       /* the next job */
	struct piece *given;	       /* the piece of the current job that was given last */
	uint64_t cycles;	       /* to be added to its cycle counts */
	struct vt_pt_mark_time *times; /* its time marks, with these */
	size_t times_cap;
	size_t nwalked; /* jobs that had been walked when they were needed, */
	size_t njoined; /* and those of them whose output was used */

	struct worker {
		struct vti_pt_parallel *p;
		struct vti_pt_walk *w;
		pthread_t thread;
	} workers[MAX_THREADS];
	unsigned nthreads;
	size_t ahead;	       /* jobs that may be begun at a time */
	pthread_mutex_t code;  /* protects the blocks */
	pthread_mutex_t mutex; /* protects the following fields and the jobs */
	struct piece *pool;    /* free pieces */
	pthread_cond_t work;
	pthread_cond_t done;
	size_t begun;
	size_t limit; /* jobs before it may be begun */
	bool quit;
};

/* ---- walking a job ------------------------------------------------------------- */

static bool append_array(void *array, size_t *n, size_t *cap, const void *from, size_t count,
			 size_t size)
{
	if (!count)
		return true;
	if (!vt_array_grow(array, cap, *n + count, size))
		return false;
	memcpy(*(uint8_t **)array + *n * size, from, count * size);
	*n += count;
	return true;
}

/* Appends a small output to a piece.  False: no memory. */
static bool append_to_piece(struct vti_pt_output *k, const struct vti_pt_output *o)
{
	uint32_t base = (uint32_t)k->nids;
	size_t note = k->nnotes, time = k->ntimes;

	if (!append_array(&k->ids, &k->nids, &k->ids_cap, o->ids, o->nids, sizeof(*o->ids)) ||
	    !append_array(&k->notes, &k->nnotes, &k->notes_cap, o->notes, o->nnotes,
			  sizeof(*o->notes)) ||
	    !append_array(&k->times, &k->ntimes, &k->times_cap, o->times, o->ntimes,
			  sizeof(*o->times)))
		return false;
	for (; note < k->nnotes; note++)
		k->notes[note].at += base;
	for (; time < k->ntimes; time++)
		k->times[time].at += base;
	k->insns += o->insns;
	return true;
}

static void free_piece(struct piece *k)
{
	vti_pt_output_fini(&k->out);
	free(k);
}

/* A piece with room for the output of a walk; NULL: no memory. */
static struct piece *new_piece(struct vti_pt_parallel *p)
{
	struct piece *k;

	pthread_mutex_lock(&p->mutex);
	k = p->pool;
	if (k)
		p->pool = k->next;
	pthread_mutex_unlock(&p->mutex);
	if (k)
		return k;
	k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	if (vt_array_grow(&k->out.ids, &k->out.ids_cap, VT_PT_BATCH + VTI_PT_MARGIN,
			  sizeof(*k->out.ids)))
		return k;
	free(k);
	return NULL;
}

static void drop_job_pieces(struct vti_pt_parallel *p, struct job *j)
{
	if (!j->first)
		return;
	pthread_mutex_lock(&p->mutex);
	j->last->next = p->pool;
	p->pool = j->first;
	pthread_mutex_unlock(&p->mutex);
	j->first = j->last = NULL;
	j->nids = 0;
}

/* Moves the output of a walk to the job.  False: no memory. */
static bool keep_output(struct vti_pt_parallel *p, struct job *j, struct vti_pt_walk *w)
{
	const struct vti_pt_output o = w->out;
	struct piece *k = j->last;

	if (!o.nids && !o.nnotes && !o.ntimes)
		return true;
	j->nids += o.nids;
	if (k && o.nids <= SMALL && k->out.nids + o.nids <= k->out.ids_cap)
		return append_to_piece(&k->out, &o);
	k = new_piece(p);
	if (!k)
		return false;
	w->out = k->out;
	k->out = o;
	k->next = NULL;
	if (j->last)
		j->last->next = k;
	else
		j->first = k;
	j->last = k;
	return true;
}

/*
 * Walks to the lazy state at or after `stop`.  The output goes to the job; if that is NULL it is
 * dropped.  1; 0: the trace has ended before; negative: no memory, or too many blocks.
 */
static int walk_to(struct vti_pt_parallel *p, struct vti_pt_walk *w, const uint8_t *stop,
		   struct job *j)
{
	struct vt_error err;
	struct vt_pt_batch b;
	int r;

	w->stop = stop;
	do {
		r = vti_pt_walk_next(w, UINT64_MAX, &b, &err);
		if (r > 0 && j && (j->nids > JOB_BLOCKS || !keep_output(p, j, w)))
			return -VT_E_NOMEM;
	} while (r > 0 && !w->reached);
	return r;
}

/*
 * Where the walk of a job stops whose next job begins at the PSB.  It is a little after the PSB: a
 * walk that comes to the PSB may be in the middle of a block there, one that begins at it cannot.
 */
static const uint8_t *stop_behind(const struct vti_pt_walk *w, const uint8_t *psb)
{
	return w->end - psb > VT_PT_PSB_SIZE + SETTLED ? psb + VT_PT_PSB_SIZE + SETTLED : NULL;
}

static bool is_damaged(const struct job *j)
{
	const struct piece *k;
	size_t i;

	for (k = j->first; k; k = k->next)
		for (i = 0; i < k->out.nnotes; i++)
			if (k->out.notes[i].type == VT_PT_NOTE_ERROR)
				return true;
	return false;
}

static void walk_job(struct vti_pt_parallel *p, struct vti_pt_walk *w, struct job *j)
{
	int r;

	vti_pt_lazy_restart(w, j->warm, j->begin);
	r = walk_to(p, w, stop_behind(w, j->begin), NULL);
	vti_pt_lazy_get(w, &j->from);
	j->from.high = j->from.nreturns;
	if (r > 0) {
		vti_pt_lazy_set(w, &j->from);
		r = walk_to(p, w, stop_behind(w, j->next), j);
		j->good = r >= 0 && !is_damaged(j);
		j->ended = r == 0;
	}
	vti_pt_lazy_get(w, &j->to);
	if (!j->good)
		drop_job_pieces(p, j);
}

/* Walks the next job that has not been begun.  The caller has locked p->mutex. */
static void walk_next(struct vti_pt_parallel *p, struct vti_pt_walk *w)
{
	struct job *j = &p->jobs[p->begun++];

	pthread_mutex_unlock(&p->mutex);
	vti_pt_walk_lock(w);
	walk_job(p, w, j);
	pthread_mutex_unlock(&p->code);
	pthread_mutex_lock(&p->mutex);
	j->done = true;
	pthread_cond_signal(&p->done);
}

/* A thread, with a walk of its own. */
static void *run_worker(void *arg)
{
	struct worker *self = arg;
	struct vti_pt_parallel *p = self->p;

	pthread_mutex_lock(&p->mutex);
	while (!p->quit) {
		if (p->begun < p->limit)
			walk_next(p, self->w);
		else
			pthread_cond_wait(&p->work, &p->mutex);
	}
	pthread_mutex_unlock(&p->mutex);
	return NULL;
}

/* Makes the single walk repeat a job, from its known state. */
static void walk_instead(struct vti_pt_parallel *p, const struct job *j)
{
	if (j != p->jobs)
		vti_pt_lazy_set(p->w, &p->state);
	p->walking = true;
	p->w->stop = stop_behind(p->w, j->next);
}

/* ---- setting up ------------------------------------------------------------------ */

/* True if the PSB+ gives the mode of the code, without which no walk can begin there. */
static bool has_mode_packet(const uint8_t *psb, const uint8_t *end)
{
	struct vt_pt_packet packet;
	int size;

	for (;; psb += size) {
		size = vt_pt_packet_read(&packet, psb, end, 0);
		if (size <= 0 || packet.kind == VT_PT_PSBEND)
			return false;
		if (packet.kind == VT_PT_MODE_EXEC)
			return true;
	}
}

/* The PSB of the job after the one that begins at `at`; NULL: there is none. */
static const uint8_t *find_next_job(const uint8_t *at, const uint8_t *end)
{
	if (end - at <= JOB_SIZE)
		return NULL;
	at = vt_pt_find_psb(at + JOB_SIZE, end);
	while (at && !has_mode_packet(at, end))
		at = vt_pt_find_psb(at + VT_PT_PSB_SIZE, end);
	return at;
}

/* Where the clock of a job starts: its rate is measured up to the PSB of the job. */
static const uint8_t *find_warm(const uint8_t *before, const uint8_t *begin)
{
	const uint8_t *from = begin - before > WARM ? begin - WARM : before;
	const uint8_t *psb = vt_pt_find_psb(from, begin);

	return psb ? psb : before;
}

static bool cut_into_jobs(struct vti_pt_parallel *p)
{
	const uint8_t *at = p->w->begin, *end = p->w->end, *warm = at, *next;
	size_t cap = 0;

	do {
		next = find_next_job(at, end);
		if (!vt_array_grow(&p->jobs, &cap, p->njobs + 1, sizeof(*p->jobs)))
			return false;
		p->jobs[p->njobs++] =
			(struct job){.warm = warm, .begin = at, .next = next ? next : end};
		if (next)
			warm = find_warm(at, next);
		at = next;
	} while (next);
	return true;
}

/* Lets threads begin jobs, up to `ahead` of them. */
static void raise_job_limit(struct vti_pt_parallel *p)
{
	size_t limit = p->at + p->ahead;

	p->limit = limit < p->njobs ? limit : p->njobs;
	pthread_cond_broadcast(&p->work);
}

static bool start_parallel(struct vti_pt_parallel *p, unsigned threads)
{
	const struct vti_pt_walk *w = p->w;
	struct vt_error err;

	if (!cut_into_jobs(p))
		return false;
	p->at = 1;
	threads = threads < MAX_THREADS ? threads : MAX_THREADS;
	p->ahead = (size_t)threads * AHEAD;
	/* The caller's thread is one of them, and walks the first job. */
	p->begun = p->limit = 1;
	while (p->nthreads + 1 < threads) {
		struct worker *self = &p->workers[p->nthreads];

		self->p = p;
		self->w = vti_pt_walk_open(w->begin, (size_t)(w->end - w->begin), &w->opt, &err);
		if (!self->w)
			return false;
		self->w->code = w->code;
		self->w->blocks = w->blocks;
		self->w->lock = &p->code;
		if (pthread_create(&self->thread, NULL, run_worker, self) != 0) {
			vti_pt_walk_close(self->w);
			break;
		}
		p->nthreads++;
	}
	pthread_mutex_lock(&p->mutex);
	raise_job_limit(p);
	pthread_mutex_unlock(&p->mutex);
	walk_instead(p, p->jobs);
	return true;
}

struct vti_pt_parallel *vti_pt_parallel_new(struct vti_pt_walk *w, unsigned threads)
{
	struct vti_pt_parallel *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->w = w;
	w->lock = &p->code;
	pthread_mutex_init(&p->code, NULL);
	pthread_mutex_init(&p->mutex, NULL);
	pthread_cond_init(&p->work, NULL);
	pthread_cond_init(&p->done, NULL);
	if (!start_parallel(p, threads)) {
		vti_pt_parallel_free(p);
		return NULL;
	}
	return p;
}

void vti_pt_parallel_free(struct vti_pt_parallel *p)
{
	struct piece *k;
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
		vti_pt_walk_close(p->workers[i].w);
	}
	for (j = 0; j < p->njobs; j++)
		drop_job_pieces(p, &p->jobs[j]);
	while ((k = p->pool) != NULL) {
		p->pool = k->next;
		free_piece(k);
	}
	free(p->jobs);
	free(p->times);
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

/* ---- taking the output -------------------------------------------------------------- */

/* Updates the copy of the blocks.  The caller has locked p->code.  False: no memory. */
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
	if (n) {
		memcpy(to->blocks + to->count, from->blocks + to->count, n * sizeof(*to->blocks));
		memcpy(to->bytes + to->count, from->bytes + to->count, n * sizeof(*to->bytes));
	}
	if (l)
		memcpy(to->lengths + to->nlengths, from->lengths + to->nlengths, l);
	to->count = from->count;
	to->nlengths = from->nlengths;
	to->code = from->code;
	return true;
}

/* The next batch of the single walk; sets p->walking to false at the end of the job. */
static int walk_on(struct vti_pt_parallel *p, struct vt_pt_batch *batch, struct vt_error *err)
{
	struct vti_pt_walk *w = p->w;
	int r;

	vti_pt_walk_lock(p->w);
	r = vti_pt_walk_next(w, UINT64_MAX, batch, err);
	if (r > 0 && !show_blocks(p))
		r = vt_error_nomem(err);
	pthread_mutex_unlock(&p->code);
	batch->blocks = &p->shown;
	if (r <= 0)
		return r;
	if (w->reached) {
		p->walking = false;
		vti_pt_lazy_get(w, &p->state);
	}
	return r;
}

/*
 * Adds the cycles before the job.  Time marks are many and go into other memory: the thread that
 * reuses the piece would have to fetch each cache line from this thread's cache.
 */
static bool add_cycles(struct vti_pt_parallel *p)
{
	struct piece *k = p->given;
	size_t i;

	if (!p->cycles)
		return true;
	if (!vt_array_grow(&p->times, &p->times_cap, k->out.ntimes, sizeof(*p->times)))
		return false;
	for (i = 0; i < k->out.nnotes; i++)
		k->out.notes[i].cycles += p->cycles;
	for (i = 0; i < k->out.ntimes; i++) {
		p->times[i] = k->out.times[i];
		p->times[i].cycles += p->cycles;
	}
	return true;
}

static int give_piece(struct vti_pt_parallel *p, struct vt_pt_batch *batch, struct vt_error *err)
{
	const struct piece *k = p->given;
	bool ok = add_cycles(p);

	vti_pt_walk_lock(p->w);
	ok = ok && show_blocks(p);
	pthread_mutex_unlock(&p->code);
	*batch = vti_pt_output_batch(&k->out, &p->shown);
	if (p->cycles)
		batch->times = p->times;
	return ok ? 1 : vt_error_nomem(err);
}

/* Joins a job to the state of the single walk.  False: it does not fit, or is not good. */
static bool join_job(struct vti_pt_parallel *p, const struct job *j)
{
	if (!j->good || !vti_pt_lazy_join(&p->state, &j->from, &j->to, &p->cycles))
		return false;
	p->njoined++;
	return true;
}

/*
 * The next job; drops the one before it.  If no thread has begun it, none will.  While another
 * thread walks it, walks other jobs.
 */
static struct job *next_job(struct vti_pt_parallel *p)
{
	struct job *j = &p->jobs[p->at];
	bool begun;

	drop_job_pieces(p, j - 1);
	pthread_mutex_lock(&p->mutex);
	begun = p->begun > p->at;
	if (!begun)
		p->begun++;
	p->at++;
	raise_job_limit(p);
	while (begun && !j->done) {
		if (p->begun < p->limit)
			walk_next(p, p->w);
		else
			pthread_cond_wait(&p->done, &p->mutex);
	}
	pthread_mutex_unlock(&p->mutex);
	return j;
}

size_t vti_pt_parallel_joined(const struct vti_pt_parallel *p, size_t *walked)
{
	*walked = p->nwalked;
	return p->njoined;
}

int vti_pt_parallel_next(struct vti_pt_parallel *p, struct vt_pt_batch *batch, struct vt_error *err)
{
	if (p->given)
		p->given = p->given->next;
	while (!p->given) {
		struct job *j;

		if (p->walking)
			return walk_on(p, batch, err);
		if (p->ended || p->at == p->njobs)
			return 0;
		j = next_job(p);
		p->nwalked += j->done;
		if (join_job(p, j)) {
			p->given = j->first;
			p->ended = j->ended;
		} else {
			walk_instead(p, j);
		}
	}
	return give_piece(p, batch, err);
}
