/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "memory/sharing.h"

#include <stdlib.h>

#include "base/buf.h"

void vti_sharing_init(struct vti_sharing *s)
{
	*s = (struct vti_sharing){.threads = NULL};
	vt_hash_init(&s->lines, sizeof(struct vt_shared_line),
		     offsetof(struct vt_shared_line, first));
}

void vti_sharing_fini(struct vti_sharing *s)
{
	vt_hash_fini(&s->lines);
	free(s->threads);
}

static struct vt_shared_line *find_line(struct vti_sharing *s, const struct vti_line_access *a,
					bool *no_memory)
{
	const struct vt_shared_line key = {.address = a->addr & ~(uint64_t)(VT_SHARING_LINE - 1),
					   .pid = a->pid};
	struct vt_shared_line *l;
	bool added;
	unsigned i;

	*no_memory = false;
	if (s->lines.count >= VT_SHARING_LINES) {
		l = vt_hash_find(&s->lines, &key);
		s->left_out += !l;
		return l;
	}
	l = vt_hash_add(&s->lines, &key, &added);
	*no_memory = !l;
	for (i = 0; l && added && i < VT_SHARING_WORDS; i++)
		l->words[i].object = UINT32_MAX;
	return l;
}

static struct vt_shared_thread *next_thread(const struct vti_sharing *s, uint64_t next)
{
	return next ? &s->threads[next - 1] : NULL;
}

const struct vt_shared_thread *vti_sharing_next(const struct vti_sharing *s,
						const struct vt_shared_line *l,
						const struct vt_shared_thread *t)
{
	return next_thread(s, t ? t->next : l->first);
}

/* The bytes that any thread has stored. */
static uint64_t written_bytes(const struct vti_sharing *s, const struct vt_shared_line *l)
{
	const struct vt_shared_thread *t;
	uint64_t bytes = 0;

	for (t = next_thread(s, l->first); t; t = next_thread(s, t->next))
		bytes |= t->written;
	return bytes;
}

/* The thread's part of a line, which is added; NULL without memory. */
static struct vt_shared_thread *find_thread(struct vti_sharing *s, struct vt_shared_line *l,
					    int64_t tid)
{
	uint64_t *link = &l->first, stale;
	struct vt_shared_thread *t;

	while ((t = next_thread(s, *link))) {
		if (t->tid == tid)
			return t;
		link = &t->next;
	}
	stale = written_bytes(s, l);
	/* The link is in an array that may move. */
	*link = s->nthreads + 1;
	if (!vt_array_grow(&s->threads, &s->threads_cap, s->nthreads + 1, sizeof(*s->threads))) {
		*link = 0;
		return NULL;
	}
	t = &s->threads[s->nthreads++];
	*t = (struct vt_shared_thread){.tid = tid, .stale = stale};
	l->nthreads++;
	return t;
}

/* The others lose the line, and what they have of these bytes. */
static void take_from_others(struct vti_sharing *s, const struct vt_shared_line *l, int64_t tid,
			     uint64_t bytes)
{
	struct vt_shared_thread *t;

	for (t = next_thread(s, l->first); t; t = next_thread(s, t->next)) {
		if (t->tid == tid)
			continue;
		t->has = false;
		t->stale |= bytes;
	}
}

static void count_miss(struct vt_shared_line *l, struct vt_shared_thread *t, uint64_t bytes)
{
	bool is_true = t->stale & bytes;

	t->true_misses += is_true;
	t->false_misses += !is_true;
	l->true_misses += is_true;
	l->false_misses += !is_true;
}

bool vti_sharing_access(struct vti_sharing *s, const struct vti_line_access *a)
{
	unsigned from = a->addr & (VT_SHARING_LINE - 1), word = from / 8;
	uint64_t bytes = (a->size < 64 ? (UINT64_C(1) << a->size) - 1 : UINT64_MAX) << from;
	struct vt_shared_thread *t;
	struct vt_shared_line *l;
	bool no_memory;

	l = find_line(s, a, &no_memory);
	t = l ? find_thread(s, l, a->tid) : NULL;
	if (!t)
		return !l && !no_memory;
	if (!t->has && t->stale)
		count_miss(l, t, bytes);
	t->stale = 0;
	t->has = true;
	if (a->store) {
		t->written |= bytes;
		take_from_others(s, l, a->tid, bytes);
	}
	(a->store ? t->stores : t->loads)[word]++;
	l->loads += !a->store;
	l->stores += a->store;
	l->words[word] = (struct vt_shared_word){a->offset, a->object};
	return true;
}

/* ---- what could miss ---- */

/* Accesses, and those of the thread that has most of them. */
struct most {
	uint64_t sum;
	uint64_t most;
	unsigned threads; /* with any */
};

static void add_most(struct most *m, uint64_t n)
{
	m->sum += n;
	m->most = n > m->most ? n : m->most;
	m->threads += n > 0;
}

void vti_sharing_judge(const struct vti_sharing *s, struct vt_shared_line *l)
{
	const struct vt_shared_thread *t;
	struct most line = {0}, word;
	uint64_t stores, risk;
	unsigned i;

	l->true_accesses = 0;
	for (i = 0; i < VT_SHARING_WORDS; i++) {
		word = (struct most){0};
		stores = 0;
		for (t = next_thread(s, l->first); t; t = next_thread(s, t->next)) {
			add_most(&word, t->loads[i] + t->stores[i]);
			stores += t->stores[i];
		}
		if (stores && word.threads > 1)
			l->true_accesses += word.sum - word.most;
	}
	for (t = next_thread(s, l->first); t; t = next_thread(s, t->next)) {
		uint64_t n = 0;

		for (i = 0; i < VT_SHARING_WORDS; i++)
			n += t->loads[i] + t->stores[i];
		add_most(&line, n);
	}
	/* The busiest thread of a word need not be that of the line. */
	risk = line.sum - line.most;
	l->true_accesses = l->true_accesses < risk ? l->true_accesses : risk;
	l->false_accesses = risk - l->true_accesses;
}
