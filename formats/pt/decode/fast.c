/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "formats/pt/decode/parallel.h"
#include "formats/pt/decode/runs.h"
#include "formats/pt/decode/walk.h"

/* Blocks of the code of one address space. */
struct space {
	const struct vt_pt_code *code;
	struct vt_pt_blocks *blocks;
};

struct vt_pt_engine {
	struct vti_pt_walk *walk;
	struct space *spaces;
	size_t nspaces;
	struct vti_pt_parallel *parallel;
	bool begun;
};

static void close_fast_engine(struct vt_pt_engine *e)
{
	size_t i;

	vti_pt_parallel_free(e->parallel);
	vti_pt_walk_close(e->walk);
	for (i = 0; i < e->nspaces; i++)
		vt_pt_blocks_free(e->spaces[i].blocks);
	free(e->spaces);
	free(e);
}

static struct vt_pt_engine *open_fast_engine(const uint8_t *trace, size_t size,
					     const struct vt_pt_options *opt, struct vt_error *err)
{
	struct vt_pt_engine *e = calloc(1, sizeof(*e));

	if (!e) {
		vt_error_nomem(err);
		return NULL;
	}
	e->walk = vti_pt_walk_open(trace, size, opt, err);
	if (e->walk)
		return e;
	free(e);
	return NULL;
}

static struct vt_pt_engine *open_careful_engine(const uint8_t *trace, size_t size,
						const struct vt_pt_options *opt,
						struct vt_error *err)
{
	struct vt_pt_engine *e = open_fast_engine(trace, size, opt, err);

	if (e)
		e->walk->careful = true;
	return e;
}

static int set_fast_code(struct vt_pt_engine *e, const struct vt_pt_code *code,
			 struct vt_error *err)
{
	struct vti_pt_walk *w = e->walk;
	struct space *s = NULL;
	size_t i;

	for (i = 0; i < e->nspaces && !s; i++) {
		if (e->spaces[i].code == code)
			s = &e->spaces[i];
	}
	if (!s) {
		s = realloc(e->spaces, (e->nspaces + 1) * sizeof(*s));
		if (!s)
			return vt_error_nomem(err);
		e->spaces = s;
		s += e->nspaces;
		s->code = code;
		s->blocks = vt_pt_blocks_new(code);
		if (!s->blocks)
			return vt_error_nomem(err);
		e->nspaces++;
	}
	if (w->blocks != s->blocks) {
		w->code = code;
		w->blocks = s->blocks;
		vti_pt_walk_begin_epoch(w);
		vti_pt_runs_forget(w->runs);
	}
	return 0;
}

/* Decodes the next batch: with several threads if notes need not wait. */
static int decode_fast_batch(struct vt_pt_engine *e, uint64_t until, struct vt_pt_batch *batch,
			     struct vt_error *err)
{
	struct vti_pt_walk *w = e->walk;

	if (!e->begun && !w->careful && w->opt.jobs > 1 && until == UINT64_MAX && w->blocks)
		e->parallel = vti_pt_parallel_new(w, w->opt.jobs);
	e->begun = true;
	if (!e->parallel)
		return vti_pt_walk_next(w, until, batch, err);
	return vti_pt_parallel_next(e->parallel, batch, err);
}

const struct vt_pt_engine_ops vt_pt_fast = {
	.name = "fast",
	.open = open_fast_engine,
	.set_code = set_fast_code,
	.next = decode_fast_batch,
	.close = close_fast_engine,
};

const struct vt_pt_engine_ops vt_pt_careful = {
	.name = "careful",
	.open = open_careful_engine,
	.set_code = set_fast_code,
	.next = decode_fast_batch,
	.close = close_fast_engine,
};
