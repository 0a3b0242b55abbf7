/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_VALUE_LISTMODELS_H
#define TESTS_UNIT_VALUE_LISTMODELS_H

/* Hot lists as plain as can be: one value at a time, nothing is remembered or put off. */

#include <math.h>
#include <stdint.h>

#include "base/rng.h"
#include "value/hot_list.h"

/* A list that takes one value after the other, as the papers describe the algorithms. */
struct model {
	struct vt_hotlist_options o;
	uint32_t capacity;
	struct {
		uint64_t value, count, error;
	} e[64];
	uint32_t n;
	uint64_t age, phase, seen, turns, bound, skip, looked;
	double share;
	struct vt_rng rng;
};

static inline void model_begin(struct model *m, const struct vt_hotlist_options *o)
{
	*m = (struct model){.o = *o, .capacity = o->entries};
	if (o->algo != VT_ALGO_LRU && o->algo != VT_ALGO_SPACE_SAVING)
		m->capacity = o->steady + (o->no_clear ? 0 : o->clear);
	vt_rng_init(&m->rng, o->seed);
}

static inline uint32_t model_find(const struct model *m, uint64_t value)
{
	uint32_t i;

	for (i = 0; i < m->n && m->e[i].value != value; i++)
		;
	return i;
}

/* Entry i moves up to `to`; those between move down. */
static inline void model_move(struct model *m, uint32_t i, uint32_t to)
{
	for (; i > to; i--) {
		uint64_t value = m->e[i].value, count = m->e[i].count, error = m->e[i].error;

		m->e[i] = m->e[i - 1];
		m->e[i - 1].value = value;
		m->e[i - 1].count = count;
		m->e[i - 1].error = error;
	}
}

static inline void model_lru(struct model *m, uint64_t value)
{
	uint32_t i = model_find(m, value);
	uint64_t count = i < m->n ? m->e[i].count : 0;

	if (i == m->n && m->n == m->capacity)
		i--;
	else if (i == m->n)
		m->n++;
	m->e[i].value = value;
	m->e[i].count = count + 1;
	model_move(m, i, 0);
}

static inline void model_tnv(struct model *m, uint64_t value)
{
	uint32_t i = model_find(m, value), to;
	uint64_t due = m->o.interval;

	if (i < m->n) {
		m->e[i].count++;
	} else if (m->n < m->capacity || !m->o.no_clear) {
		if (m->n == m->capacity)
			i--;
		else
			m->n++;
		m->e[i].value = value;
		m->e[i].count = 1;
	}
	for (to = i < m->n ? i : 0; to && m->e[to - 1].count < m->e[i].count; to--)
		;
	if (i < m->n)
		model_move(m, i, to);
	m->age++;
	if (m->n >= m->o.steady && 2 * m->e[m->o.steady - 1].count > due)
		due = 2 * m->e[m->o.steady - 1].count;
	if (m->age < due)
		return;
	m->n = m->n < m->o.steady ? m->n : m->o.steady;
	m->age = 0;
}

/* An interval was profiled: how many values are left out now? */
static inline uint64_t model_pause(struct model *m)
{
	uint64_t sum = 0, bound;
	uint32_t i;
	double before = m->share;

	if (m->o.algo == VT_ALGO_RANDOM) {
		bound = m->bound ? m->bound : m->o.interval;
		m->bound = 2 * bound;
		return m->o.interval + vt_rng_below(&m->rng, bound - m->o.interval + 1);
	}
	m->seen += m->o.interval;
	for (i = 0; i < m->n && i < m->o.steady; i++)
		sum += m->e[i].count;
	m->share = (double)sum / (double)m->seen;
	if (fabs(m->share - before) > 0.1)
		return 0;
	return m->seen * 2 * ++m->turns;
}

static inline void model_saving(struct model *m, uint64_t value)
{
	uint32_t i = model_find(m, value), k, to;

	if (i == m->n && m->n < m->capacity) {
		m->e[m->n].value = value;
		m->e[m->n].count = m->e[m->n].error = 0;
		m->n++;
	} else if (i == m->n) {
		/* The lowest count of the second half; the last of several. */
		for (i = k = m->capacity / 2; k < m->n; k++)
			if (m->e[k].count <= m->e[i].count)
				i = k;
		if (m->e[i].count > m->age)
			m->age = m->e[i].count;
		for (; i + 1 < m->n; i++)
			m->e[i] = m->e[i + 1];
		m->e[i].value = value;
		m->e[i].count = m->e[i].error = m->age;
	}
	m->e[i].count++;
	for (to = i; to && m->e[to - 1].count - m->e[to - 1].error < m->e[i].count - m->e[i].error;)
		to--;
	model_move(m, i, to);
}

static inline void model_put(struct model *m, uint64_t value)
{
	bool pauses = m->o.algo == VT_ALGO_CONVERGENT || m->o.algo == VT_ALGO_RANDOM;

	if (m->skip) {
		m->skip--;
		return;
	}
	m->looked++;
	if (m->o.algo == VT_ALGO_LRU)
		model_lru(m, value);
	else if (m->o.algo == VT_ALGO_SPACE_SAVING)
		model_saving(m, value);
	else
		model_tnv(m, value);
	if (pauses && ++m->phase == m->o.interval) {
		m->phase = 0;
		m->skip = model_pause(m);
	}
}

#endif
