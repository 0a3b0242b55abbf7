/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "pairs/internal.h"
#include "stream/exec.h"
#include "stream/marks.h"

/*
 * Instructions whose windows overlap are alike: those that were executed one after the other make a
 * group, of which errors count each sum once, until they are so many and fill so many windows.
 */
#define GROUP_INSNS   1024
#define GROUP_WINDOWS 4

/* What a group adds to a sum. */
struct part {
	double x, y;
	uint64_t insns;
};

struct vti_windows {
	double half;	       /* cycles from the middle of a window to its end */
	struct vt_marks marks; /* of the run */
	uint32_t **rows;       /* by block id: the sums of the block's instructions */
	struct part *parts;    /* by sum */
	uint32_t *touched;     /* sums with a part */
	size_t rows_cap, parts_cap, touched_cap, ntouched;
	uint64_t insns; /* of the group, */
	double begin;	/* and the cycle of its first one */
};

struct vti_windows *vti_windows_new(uint64_t cycles)
{
	struct vti_windows *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->half = (double)cycles + .5;
	vt_marks_init(&w->marks);
	return w;
}

void vti_windows_free(struct vti_windows *w)
{
	size_t i;

	if (!w)
		return;
	for (i = 0; i < w->rows_cap; i++)
		free(w->rows[i]);
	vt_marks_fini(&w->marks);
	free(w->rows);
	free(w->parts);
	free(w->touched);
	free(w);
}

/* ---- sums ---- */

static void end_window_group(struct vti_windows *w, struct vt_pairs *p)
{
	size_t i;

	for (i = 0; i < w->ntouched; i++) {
		struct part *part = &w->parts[w->touched[i]];
		struct vt_pairsum *s = &p->sums[w->touched[i]];

		s->pairs += part->insns;
		vt_pairsum_add(s, part->x, part->y);
		*part = (struct part){.insns = 0};
	}
	w->ntouched = 0;
	w->insns = 0;
}

/* What retires in the window of an instruction. */
struct window {
	double cycle; /* of its retirement, from the first mark on */
	double insns;
};

static void add_window(struct vti_windows *w, struct vt_pairs *p, uint32_t sum,
		       const struct window *in)
{
	bool ipc = p->o.metric->measure == VT_PAIR_IPC;
	struct part *part = &w->parts[sum];

	if (w->insns >= GROUP_INSNS && in->cycle >= w->begin + GROUP_WINDOWS * 2 * w->half)
		end_window_group(w, p);
	if (!w->insns++)
		w->begin = in->cycle;
	if (!part->insns++)
		w->touched[w->ntouched++] = sum;
	part->x += ipc ? in->insns : in->insns - 1;
	part->y += ipc ? 2 * w->half : 1;
	p->totals.windows++;
}

static void leave_out(struct vt_pairs *p, uint32_t sum)
{
	p->sums[sum].missing++;
	p->totals.untimed++;
}

/* Makes room for the parts of all sums.  False: out of memory. */
static bool grow_parts(struct vti_windows *w, size_t sums)
{
	size_t had = w->parts_cap;

	if (!vt_array_grow(&w->touched, &w->touched_cap, sums, sizeof(*w->touched)) ||
	    !vt_array_grow(&w->parts, &w->parts_cap, sums, sizeof(*w->parts)))
		return false;
	memset(w->parts + had, 0, (w->parts_cap - had) * sizeof(*w->parts));
	return true;
}

static int find_block_rows(struct vti_windows *w, struct vt_pairs *p, const struct vt_bblock *b,
			   struct vt_error *err)
{
	uint32_t *rows = calloc((size_t)b->ninsns + 1, sizeof(*rows)), i;
	int code = rows ? 0 : vt_error_nomem(err);

	for (i = 0; i < b->ninsns && code == 0; i++) {
		code = vti_pairs_sum_at(p, b->pid, vt_bblock_insn_addr(b, i), &rows[i], err);
		if (code == 0)
			p->sums[rows[i]].counted = true;
	}
	if (code == 0 && !grow_parts(w, p->sums_cap))
		code = vt_error_nomem(err);
	if (code < 0)
		free(rows);
	else
		w->rows[b->id] = rows;
	return code;
}

/* The sums of a block's instructions.  NULL: see err. */
static const uint32_t *get_block_rows(struct vti_windows *w, struct vt_pairs *p,
				      const struct vt_bblock *b, struct vt_error *err)
{
	size_t had = w->rows_cap;

	if (b->id >= had) {
		if (!vt_array_grow(&w->rows, &w->rows_cap, (size_t)b->id + 1, sizeof(*w->rows))) {
			vt_error_nomem(err);
			return NULL;
		}
		memset(w->rows + had, 0, (w->rows_cap - had) * sizeof(*w->rows));
	}
	if (!w->rows[b->id] && find_block_rows(w, p, b, err) < 0)
		return NULL;
	return w->rows[b->id];
}

/* ---- windows ---- */

/* Whether the next mark is farther away than a window is long. */
static bool is_far(const struct vti_windows *w, size_t at)
{
	const struct vt_mark *m = &w->marks.marks[at];

	return m[1].cycle - m->cycle > 2 * w->half;
}

/* Instructions that retire before a cycle; `at` is the mark before that, and moves forwards. */
static double count_before(const struct vti_windows *w, size_t *at, double cycle)
{
	const struct vt_mark *m = &w->marks.marks[*at];

	for (; *at + 2 < w->marks.n && m[1].cycle < cycle; m++)
		(*at)++;
	return (double)m->insns + (cycle - m->cycle) * m->rate;
}

/* The marks before an instruction, and before the ends of its window. */
struct position {
	size_t own, low, high;
};

/*
 * How many instructions retire within a window around one, where between two marks they retire
 * evenly.  False: unknown, as the window is not between marks, or these are farther apart than it.
 */
static bool count_around(const struct vti_windows *w, struct position *at, uint64_t insn,
			 struct window *in)
{
	const struct vt_mark *m = &w->marks.marks[at->own];
	double low, high;

	for (; at->own + 2 < w->marks.n && m[1].insns <= insn; m++)
		at->own++;
	if (insn < m->insns || insn >= m[1].insns)
		return false;
	in->cycle = m->cycle + ((double)(insn - m->insns) + .5) * m->pace;
	low = in->cycle - w->half;
	high = in->cycle + w->half;
	if (is_far(w, at->own) || low < 0 || high > w->marks.marks[w->marks.n - 1].cycle)
		return false;
	in->insns = -count_before(w, &at->low, low);
	in->insns += count_before(w, &at->high, high);
	return !is_far(w, at->low) && !is_far(w, at->high);
}

static int measure_run(struct vti_windows *w, struct vt_pairs *p, struct vt_exec *x,
		       struct vt_error *err)
{
	struct position at = {0, 0, 0};
	struct vt_step step;
	struct window in;
	uint64_t insn = 0;
	uint32_t i;
	int code;

	while ((code = vt_exec_next(x, &step, err)) > 0) {
		const uint32_t *rows = get_block_rows(w, p, step.block, err);

		if (!rows)
			return -(int)err->code;
		for (i = step.insn; i < step.insn_end; i++, insn++) {
			if (w->marks.n > 1 && count_around(w, &at, insn, &in))
				add_window(w, p, rows[i], &in);
			else
				leave_out(p, rows[i]);
		}
	}
	end_window_group(w, p);
	return code;
}

int vti_windows_feed(struct vti_windows *w, struct vt_pairs *p, const struct vt_record *rec,
		     struct vt_error *err)
{
	struct vt_exec x;
	int code = vt_exec_open(&x, vt_context_blocks(p->context), rec, err);

	if (code == 0)
		code = vt_marks_find(&w->marks, &x, err);
	if (code == 0)
		code = measure_run(w, p, &x, err);
	p->totals.bad += code == -VT_E_FORMAT;
	return code == -VT_E_FORMAT ? 0 : code;
}
