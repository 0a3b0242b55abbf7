/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "freq/counted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "profile/executions.h"
#include "profile/same_image.h"
#include "stream/exec.h"

/* The instruction of a block that a thread executed last. */
struct counted_thread {
	int64_t tid;
	uint64_t block;
	uint32_t insn;
	bool known;
};

/* From the last executed instruction of one block to the first of the next, by blocks. */
struct step_pair {
	uint64_t from; /* block and instruction */
	uint64_t to;
	uint64_t count;
};

struct counted_insn {
	uint64_t image;
	uint64_t offset;
	double executions;
	double left; /* of them, those that a known instruction of another block followed */
	uint32_t length;
	bool call;
};

struct counted_edge {
	uint64_t image;
	uint64_t from;
	uint64_t to;
	double count;
};

struct vt_flowcount {
	const struct vt_context *context;
	struct vt_execcount *exec;
	struct vt_hash threads;
	struct vt_hash pairs;
	struct vt_hash insns;
	struct vt_hash edges;
	struct vt_hash images;
	struct vt_hash events; /* ids of those that count instructions */
	struct vt_hash pids;   /* of processes that have mappings */
	uint64_t bad;
	bool stepped; /* edges between blocks were seen */
	bool edged;   /* EDGE records were */
};

struct vt_flowcount *vt_flowcount_new(const struct vt_context *context)
{
	struct vt_flowcount *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	vt_hash_init(&c->threads, sizeof(struct counted_thread), sizeof(int64_t));
	vt_hash_init(&c->pairs, sizeof(struct step_pair), offsetof(struct step_pair, count));
	vt_hash_init(&c->insns, sizeof(struct counted_insn),
		     offsetof(struct counted_insn, executions));
	vt_hash_init(&c->edges, sizeof(struct counted_edge), offsetof(struct counted_edge, count));
	vt_hash_init(&c->images, sizeof(uint64_t), sizeof(uint64_t));
	vt_hash_init(&c->events, sizeof(uint64_t), sizeof(uint64_t));
	vt_hash_init(&c->pids, sizeof(int64_t), sizeof(int64_t));
	c->context = context;
	c->exec = vt_execcount_new(vt_context_blocks(context));
	if (!c->exec) {
		vt_flowcount_free(c);
		return NULL;
	}
	return c;
}

void vt_flowcount_free(struct vt_flowcount *c)
{
	if (!c)
		return;
	vt_execcount_free(c->exec);
	vt_hash_fini(&c->threads);
	vt_hash_fini(&c->pairs);
	vt_hash_fini(&c->insns);
	vt_hash_fini(&c->edges);
	vt_hash_fini(&c->images);
	vt_hash_fini(&c->events);
	vt_hash_fini(&c->pids);
	free(c);
}

/* ---- executed code ---- */

static uint64_t pack_place(uint64_t block, uint32_t insn)
{
	return block * VT_MAX_BLOCK_INSNS + insn;
}

static int count_step(struct vt_flowcount *c, struct counted_thread *t, const struct vt_step *step,
		      struct vt_error *err)
{
	struct step_pair key = {.to = pack_place(step->block->id, step->insn)};
	struct step_pair *pair;

	if (t->known) {
		key.from = pack_place(t->block, t->insn);
		pair = vt_hash_add(&c->pairs, &key, NULL);
		if (!pair)
			return vt_error_nomem(err);
		pair->count++;
	}
	t->block = step->block->id;
	t->insn = step->insn_end - 1;
	t->known = true;
	return 0;
}

static int count_exec_record(struct vt_flowcount *c, const struct vt_record *rec,
			     struct vt_error *err)
{
	int64_t tid = vt_record_i64(rec, VT_EXEC_TID);
	struct vt_step step;
	struct counted_thread *t;
	struct vt_exec x;
	int code = vt_execcount_exec(c->exec, rec, err);

	if (code < 0)
		return code;
	t = vt_hash_add(&c->threads, &tid, NULL);
	if (!t)
		return vt_error_nomem(err);
	code = vt_exec_open(&x, vt_context_blocks(c->context), rec, err);
	while (code >= 0 && (code = vt_exec_next(&x, &step, err)) > 0)
		code = count_step(c, t, &step, err);
	c->stepped = true;
	return code;
}

/* ---- what was counted already ---- */

static struct counted_insn *add_counted_insn(struct vt_flowcount *c, uint64_t image,
					     uint64_t offset)
{
	const struct counted_insn key = {.image = image, .offset = offset};

	if (!vt_hash_add(&c->images, &image, NULL))
		return NULL;
	return vt_hash_add(&c->insns, &key, NULL);
}

static int reject_number(struct vt_error *err)
{
	return vt_error_set(err, VT_E_FORMAT, "a number of executions that cannot be");
}

static int add_executions(struct vt_flowcount *c, uint64_t image, uint64_t offset, double n,
			  struct vt_error *err)
{
	struct counted_insn *insn;

	if (!isfinite(n) || n < 0)
		return reject_number(err);
	insn = add_counted_insn(c, image, offset);
	if (!insn)
		return vt_error_nomem(err);
	insn->executions += n;
	return 0;
}

static int add_edge_count(struct vt_flowcount *c, uint64_t image, uint64_t from, uint64_t to,
			  double n, struct vt_error *err)
{
	const struct counted_edge key = {.image = image, .from = from, .to = to};
	struct counted_edge *edge;

	if (!isfinite(n) || n < 0)
		return reject_number(err);
	edge = vt_hash_add(&c->edges, &key, NULL);
	if (!edge)
		return vt_error_nomem(err);
	edge->count += n;
	return 0;
}

static int note_insn_event(struct vt_flowcount *c, const struct vt_record *rec,
			   struct vt_error *err)
{
	struct vt_bytes name = vt_record_bytes(rec, VT_EVENT_NAME);
	uint64_t id = vt_record_u64(rec, VT_EVENT_ID);

	if (vt_record_u64(rec, VT_EVENT_POLICY) != VT_POLICY_EXACT || name.size != 12 ||
	    memcmp(name.data, "instructions", 12) != 0)
		return 0;
	return vt_hash_add(&c->events, &id, NULL) ? 0 : vt_error_nomem(err);
}

static int note_pid(struct vt_flowcount *c, int64_t pid, struct vt_error *err)
{
	return pid <= 0 || vt_hash_add(&c->pids, &pid, NULL) ? 0 : vt_error_nomem(err);
}

int vt_flowcount_feed(void *counts, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_flowcount *c = counts;
	uint64_t event;
	int code;

	switch (rec->kind) {
	case VT_EVENT:
		return note_insn_event(c, rec, err);
	case VT_MAP:
		return note_pid(c, vt_record_i64(rec, VT_MAP_PID), err);
	case VT_COUNT:
		event = vt_record_u64(rec, VT_COUNT_EVENT);
		if (!vt_hash_find(&c->events, &event))
			return 0;
		code = add_executions(c, vt_record_u64(rec, VT_COUNT_IMAGE),
				      vt_record_u64(rec, VT_COUNT_OFFSET),
				      (double)vt_record_u64(rec, VT_COUNT_SAMPLES), err);
		break;
	case VT_FREQ:
		if (vt_record_u64(rec, VT_FREQ_CONFIDENCE) != VT_CONFIDENCE_EXACT)
			return 0;
		code = add_executions(c, vt_record_u64(rec, VT_FREQ_IMAGE),
				      vt_record_u64(rec, VT_FREQ_OFFSET),
				      vt_record_f64(rec, VT_FREQ_EXECUTIONS), err);
		break;
	case VT_EDGE:
		if (vt_record_u64(rec, VT_EDGE_CONFIDENCE) != VT_CONFIDENCE_EXACT)
			return 0;
		c->edged = true;
		code = add_edge_count(c, vt_record_u64(rec, VT_EDGE_IMAGE),
				      vt_record_u64(rec, VT_EDGE_FROM),
				      vt_record_u64(rec, VT_EDGE_TO),
				      vt_record_f64(rec, VT_EDGE_EXECUTIONS), err);
		break;
	case VT_BLOCK:
		code = vt_context_refused(c->context, err);
		break;
	case VT_EXEC:
		code = count_exec_record(c, rec, err);
		break;
	default:
		return 0;
	}
	c->bad += code == -VT_E_FORMAT;
	return code == -VT_E_FORMAT ? 0 : code;
}

/* ---- from blocks to places ---- */

struct where {
	uint32_t image;
	uint64_t offset;
	bool known;
};

static struct where find_address(const struct vt_flowcount *c, uint64_t addr)
{
	struct where w = {.image = VT_UNMAPPED_IMAGE};

	w.known = vt_context_find(c->context, addr, &w.image, &w.offset);
	return w;
}

static bool ends_with_call(const struct vt_bblock *b, uint32_t insn)
{
	return insn + 1 == b->ninsns && (b->end == VT_END_CALL || b->end == VT_END_CALL_INDIRECT);
}

static int add_block_counts(struct vt_flowcount *c, const struct vt_bblock *b, struct vt_error *err)
{
	struct where w = find_address(c, b->addr);
	uint32_t i;

	for (i = 0; w.known && i < b->ninsns; i++) {
		uint64_t n = vt_execcount_of(c->exec, b->id, i);
		struct counted_insn *insn = n ? add_counted_insn(c, w.image, w.offset) : NULL;

		if (n && !insn)
			return vt_error_nomem(err);
		if (n) {
			insn->executions += (double)n;
			insn->length = b->lengths[i];
			insn->call = ends_with_call(b, i);
		}
		w.offset += b->lengths[i];
	}
	return 0;
}

static struct where find_insn(const struct vt_flowcount *c, uint64_t packed)
{
	const struct vt_bblock *b =
		vt_bblocks_get(vt_context_blocks(c->context), packed / VT_MAX_BLOCK_INSNS);

	return find_address(c, vt_bblock_insn_addr(b, (uint32_t)(packed % VT_MAX_BLOCK_INSNS)));
}

static int add_pair_count(struct vt_flowcount *c, const struct step_pair *pair,
			  struct vt_error *err)
{
	struct where from = find_insn(c, pair->from), to = find_insn(c, pair->to);
	struct counted_insn *insn;

	if (!from.known)
		return 0;
	insn = add_counted_insn(c, from.image, from.offset);
	if (!insn)
		return vt_error_nomem(err);
	insn->left += (double)pair->count;
	if (!to.known || to.image != from.image)
		return 0;
	return add_edge_count(c, from.image, from.offset, to.offset, (double)pair->count, err);
}

int vt_flowcount_finish(struct vt_flowcount *c, struct vt_error *err)
{
	const struct vt_bblocks *dict = vt_context_blocks(c->context);
	uint64_t id;
	size_t i;
	int code = 0;

	for (id = 0; id < vt_bblocks_end(dict) && code == 0; id++)
		if (vt_bblocks_get(dict, id))
			code = add_block_counts(c, vt_bblocks_get(dict, id), err);
	for (i = 0; i < c->pairs.count && code == 0; i++)
		code = add_pair_count(c, vt_hash_at(&c->pairs, i), err);
	return code;
}

/* ---- results ---- */

bool vt_flowcount_ran(const struct vt_flowcount *c, int64_t pid)
{
	return vt_hash_find(&c->pids, &pid) != NULL;
}

bool vt_flowcount_ran_any(const struct vt_flowcount *c)
{
	return c->pids.count > 0;
}

uint64_t vt_flowcount_bad(const struct vt_flowcount *c)
{
	return c->bad;
}

bool vt_flowcount_any(const struct vt_flowcount *c)
{
	return c->insns.count > 0;
}

bool vt_flowcount_has(const struct vt_flowcount *c, uint32_t image)
{
	uint64_t key = image;

	return vt_hash_find(&c->images, &key) != NULL;
}

static const struct counted_insn *find_counted(const struct vt_flowcount *c, uint32_t image,
					       uint64_t offset)
{
	const struct counted_insn key = {.image = image, .offset = offset};

	return vt_hash_find(&c->insns, &key);
}

double vt_flowcount_insn(const struct vt_flowcount *c, uint32_t image, uint64_t offset)
{
	const struct counted_insn *insn = find_counted(c, image, offset);

	return insn ? insn->executions : 0;
}

bool vt_flowcount_edge(const struct vt_flowcount *c, uint32_t image, uint64_t from, uint64_t to,
		       double *count)
{
	const struct counted_edge key = {.image = image, .from = from, .to = to};
	const struct counted_edge *edge = vt_hash_find(&c->edges, &key);
	const struct counted_insn *insn = find_counted(c, image, from);

	*count = edge ? edge->count : 0;
	if (c->edged || !c->stepped)
		return c->edged;
	if (!insn || to != from + insn->length)
		return true;
	/* What a call leads to comes between; within a block, one instruction follows another. */
	if (insn->call)
		*count = insn->executions;
	else
		*count += fmax(insn->executions - insn->left, 0);
	return true;
}

/* ---- a source of counts ---- */

int vt_flowcount_count(const void *source, const struct vt_count_request *r,
		       struct vt_freq_counts *c, struct vt_error *err)
{
	const struct vt_flowcount_source *s = source;
	const struct vt_cfg *g = r->flow->cfg;
	uint64_t bias = r->offset - r->flow->proc.start;
	uint32_t i, image;

	if (!s->counts || !vt_same_image(r->images, r->flow->proc.image, s->images, &image) ||
	    !vt_flowcount_has(s->counts, image))
		return 0;
	c->exact = calloc((size_t)g->ninsns + 1, sizeof(*c->exact));
	c->exact_edges = calloc((size_t)g->nedges + 1, sizeof(*c->exact_edges));
	if (!c->exact || !c->exact_edges)
		return vt_error_nomem(err);
	for (i = 0; i < g->ninsns; i++)
		c->exact[i] = vt_flowcount_insn(s->counts, image, g->insns[i].addr + bias);
	for (i = 0; i < g->nedges; i++) {
		const struct vt_cfg_block *from = &g->blocks[g->edges[i].from];
		const struct vt_cfg_block *to = &g->blocks[g->edges[i].to];

		if (!from->ninsns || !to->ninsns ||
		    !vt_flowcount_edge(s->counts, image,
				       g->insns[from->insn + from->ninsns - 1].addr + bias,
				       to->start + bias, &c->exact_edges[i]))
			c->exact_edges[i] = -1;
	}
	return 0;
}
