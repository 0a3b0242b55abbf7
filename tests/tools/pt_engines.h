/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_TOOLS_PT_ENGINES_H
#define TESTS_TOOLS_PT_ENGINES_H

/* What engines make of a trace of Intel PT, kept and compared: for pt_compare and the fuzz targets.
 */

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/pt/decode/engine.h"
#include "formats/pt/decode/walk.h"

struct block {
	uint64_t addr;
	uint32_t size;
	uint32_t insns;
};

struct note {
	uint64_t at;
	struct vt_pt_note note;
};

struct mark {
	uint64_t at;
	uint64_t tsc;
	uint64_t cycles;
};

/* What an engine made of a trace. */
struct result {
	struct block *blocks;
	struct note *notes;
	struct mark *marks;
	size_t nblocks, nnotes, nmarks;
	size_t blocks_cap, notes_cap, marks_cap;
	uint64_t insns;
};

static inline _Noreturn void die(const char *what)
{
	fprintf(stderr, "pt: %s\n", what);
	abort();
}

static inline void *grow(void *p, size_t *cap, size_t n, size_t size)
{
	if (n <= *cap)
		return p;
	*cap = n + n / 2 + 64;
	p = realloc(p, *cap * size);
	if (!p)
		die("no memory");
	return p;
}

/* The bytes of a trace; owned by the caller. */
static inline uint8_t *load_trace(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data;
	long n;

	if (!f || fseek(f, 0, SEEK_END) || (n = ftell(f)) < 0)
		die("the trace cannot be opened");
	rewind(f);
	*size = (size_t)n;
	data = malloc(*size + 1);
	if (!data || fread(data, 1, *size, f) != *size)
		die("the trace cannot be read");
	fclose(f);
	return data;
}

static inline void free_result(struct result *r)
{
	free(r->blocks);
	free(r->notes);
	free(r->marks);
}

/* What a batch must keep to by itself. */
static inline void check_batch(const struct vt_pt_batch *b)
{
	uint64_t insns = 0;
	size_t i;

	for (i = 0; i < b->nids; i++) {
		if (b->ids[i] >= vt_pt_blocks_count(b->blocks) ||
		    !vt_pt_blocks_get(b->blocks, b->ids[i])->insns)
			die("a block is none");
		insns += vt_pt_blocks_get(b->blocks, b->ids[i])->insns;
	}
	if (insns != b->insns)
		die("the batch's count of instructions is wrong");
	for (i = 0; i < b->nnotes; i++) {
		if (b->notes[i].at > b->nids || (i && b->notes[i].at < b->notes[i - 1].at))
			die("notes are out of order");
	}
	for (i = 0; i < b->ntimes; i++) {
		if (b->times[i].at > b->nids || (i && b->times[i].at < b->times[i - 1].at))
			die("times are out of order");
		if (i && b->times[i].tsc < b->times[i - 1].tsc)
			die("time goes back");
	}
}

static inline void take_batch(struct result *r, const struct vt_pt_batch *b)
{
	uint64_t base = r->nblocks;
	size_t i;

	check_batch(b);
	r->blocks = grow(r->blocks, &r->blocks_cap, r->nblocks + b->nids, sizeof(*r->blocks));
	r->notes = grow(r->notes, &r->notes_cap, r->nnotes + b->nnotes, sizeof(*r->notes));
	r->marks = grow(r->marks, &r->marks_cap, r->nmarks + b->ntimes, sizeof(*r->marks));
	for (i = 0; i < b->nids; i++) {
		const struct vt_pt_block *k = vt_pt_blocks_get(b->blocks, b->ids[i]);

		r->blocks[r->nblocks++] = (struct block){k->addr, k->size, k->insns};
		r->insns += k->insns;
	}
	for (i = 0; i < b->nnotes; i++)
		r->notes[r->nnotes++] = (struct note){base + b->notes[i].at, b->notes[i]};
	for (i = 0; i < b->ntimes; i++)
		r->marks[r->nmarks++] =
			(struct mark){base + b->times[i].at, b->times[i].tsc, b->times[i].cycles};
}

/* A walk along a trace, without the engine around it. */
static inline struct vti_pt_walk *open_walk(const struct vt_pt_code *code,
					    const struct vt_pt_options *opt, const uint8_t *trace,
					    size_t size)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vti_pt_walk *w = vti_pt_walk_open(trace, size, opt, &err);

	if (!w)
		die(err.text);
	w->code = code;
	w->blocks = vt_pt_blocks_new(code);
	if (!w->blocks)
		die("no memory");
	return w;
}

static inline void close_walk(struct vti_pt_walk *w)
{
	vt_pt_blocks_free(w->blocks);
	vti_pt_walk_close(w);
}

/* Decodes a trace as a whole; `stops`: with a stop before each note that can be waited for. */
static inline void run_engine(const struct vt_pt_engine_ops *ops, const struct vt_pt_code *code,
			      const struct vt_pt_options *opt, const uint8_t *trace, size_t size,
			      bool stops, struct result *r)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_pt_engine *e = ops->open(trace, size, opt, &err);
	struct vt_pt_batch batch;
	bool now = stops;
	int rc;

	r->nblocks = r->nnotes = r->nmarks = 0;
	r->insns = 0;
	if (!e || ops->set_code(e, code, &err) < 0)
		die(err.text);
	while ((rc = ops->next(e, now ? 0 : UINT64_MAX, &batch, &err)) > 0) {
		take_batch(r, &batch);
		now = stops && !now;
	}
	if (rc < 0)
		die(err.text);
	ops->close(e);
}

static inline bool same_note(const struct note *a, const struct note *b)
{
	const struct vt_pt_note *m = &a->note, *n = &b->note;

	return a->at == b->at && m->type == n->type && m->error == n->error &&
	       m->status == n->status && m->flag == n->flag && m->has_ip == n->has_ip &&
	       m->has_to == n->has_to && m->offset == n->offset && m->bytes == n->bytes &&
	       m->ip == n->ip && m->to == n->to && m->value == n->value && m->extra == n->extra &&
	       m->tsc == n->tsc && m->cycles == n->cycles;
}

static inline size_t first_note(const struct result *a, const struct result *b)
{
	size_t i;

	for (i = 0; i < a->nnotes && i < b->nnotes; i++) {
		if (!same_note(&a->notes[i], &b->notes[i]))
			return i;
	}
	return a->nnotes == b->nnotes ? SIZE_MAX : i;
}

static inline size_t first_block(const struct result *a, const struct result *b)
{
	size_t i;

	for (i = 0; i < a->nblocks && i < b->nblocks; i++) {
		if (memcmp(&a->blocks[i], &b->blocks[i], sizeof(a->blocks[i])) != 0)
			return i;
	}
	return a->nblocks == b->nblocks ? SIZE_MAX : i;
}

static inline size_t first_mark(const struct result *a, const struct result *b)
{
	size_t i;

	for (i = 0; i < a->nmarks && i < b->nmarks; i++) {
		if (memcmp(&a->marks[i], &b->marks[i], sizeof(a->marks[i])) != 0)
			return i;
	}
	return a->nmarks == b->nmarks ? SIZE_MAX : i;
}

static inline bool same_result(const struct result *a, const struct result *b)
{
	return first_block(a, b) == SIZE_MAX && first_note(a, b) == SIZE_MAX &&
	       first_mark(a, b) == SIZE_MAX;
}

#endif
