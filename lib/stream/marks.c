/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/marks.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/buf.h"

/* No run takes longer; a double has all cycles, and fractions of them. */
#define MAX_SPAN (UINT64_C(1) << 44)

struct thread {
	int64_t pid;
	int64_t tid;
	uint64_t cycles; /* the last time of its last run */
};

void vt_marks_init(struct vt_marks *m)
{
	*m = (struct vt_marks){.marks = NULL};
	vt_hash_init(&m->threads, sizeof(struct thread), offsetof(struct thread, cycles));
}

void vt_marks_fini(struct vt_marks *m)
{
	free(m->marks);
	vt_hash_fini(&m->threads);
}

static int set_bad_times(struct vt_error *err, const char *why)
{
	return vt_error_set(err, VT_E_FORMAT, "executed blocks: %s", why);
}

/*
 * Adds the mark of a block.  Of several at one cycle the last one counts: what lies between them
 * retired up to then.  A cycle of 0 is unknown.
 */
static int add_mark(struct vt_marks *m, uint64_t insns, uint64_t cycles, struct vt_error *err)
{
	if (!cycles)
		return 0;
	if (!m->n)
		m->first = cycles;
	else if (cycles < m->last)
		return set_bad_times(err, "cycles that go backwards");
	if (cycles - m->first > MAX_SPAN)
		return set_bad_times(err, "cycles that no run takes");
	if (!m->n || cycles > m->last) {
		if (!vt_array_grow(&m->marks, &m->cap, m->n + 1, sizeof(*m->marks)))
			return vt_error_nomem(err);
		m->n++;
	}
	m->marks[m->n - 1] = (struct vt_mark){.insns = insns, .cycle = (double)(cycles - m->first)};
	m->last = cycles;
	return 0;
}

static void measure_marks(struct vt_marks *marks)
{
	size_t i;

	for (i = 0; i + 1 < marks->n; i++) {
		struct vt_mark *m = &marks->marks[i];
		double insns = (double)(m[1].insns - m->insns), cycles = m[1].cycle - m->cycle;

		m->pace = cycles / insns;
		m->rate = insns / cycles;
	}
}

/* Finds the marks of a run that begins at a cycle, and checks all of it. */
static int find_marks(struct vt_marks *m, struct vt_exec x, uint64_t cycles, struct vt_error *err)
{
	uint64_t insns = 0, block = 0;
	struct vt_step step;
	size_t i = 0;
	int code = add_mark(m, 0, cycles, err);

	while (code >= 0 && (code = vt_exec_next(&x, &step, err)) > 0) {
		if (block && i < x.time_cycles.count && x.time_at.data[i] == block)
			code = add_mark(m, insns, x.time_cycles.data[i++], err);
		insns += step.insn_end - step.insn;
		block++;
	}
	if (code < 0)
		return code;
	if (i < x.time_cycles.count)
		return set_bad_times(err, "times of blocks that are not there, or in no order");
	measure_marks(m);
	return 0;
}

/* Where a run goes on with the run before, decoders give the last time of that, which is older. */
int vt_marks_find(struct vt_marks *m, const struct vt_exec *run, struct vt_error *err)
{
	const struct thread key = {.pid = run->pid, .tid = run->tid};
	struct thread *t;
	int code;

	m->n = 0;
	if (!run->cycles && !run->time_cycles.count)
		return 0;
	t = vt_hash_add(&m->threads, &key, NULL);
	if (!t)
		return vt_error_nomem(err);
	code = find_marks(m, *run, run->cycles == t->cycles ? 0 : run->cycles, err);
	if (code == 0 && m->n)
		t->cycles = m->last;
	if (code < 0)
		m->n = 0;
	return code;
}
