/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/sideband/lbr.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "formats/pt/block.h"
#include "stream/kinds.h"

#define STRETCH_MAX 4096 /* blocks between two branches: as many as bytes in a page */

/* Why a stretch of code cannot be used. */
enum why {
	WHY_NONE,
	WHY_FILTERED, /* the stack does not have all branches */
	WHY_NO_CODE,
	WHY_BAD_CODE,
	WHY_CROOKED, /* a jump lies between the two, or the source is no branch */
	WHY_TARGET,  /* the branch at the source goes elsewhere */
	NWHYS
};

struct event {
	uint64_t id;
	uint64_t branch_type;
};

/* The blocks of a process, by the generation of its code. */
struct table {
	uint64_t generation;
	struct vt_pt_blocks *blocks;
};

struct vti_pt_lbr {
	struct vt_pt_spaces *spaces;
	struct vt_pt_emit *emit;
	struct vt_writer *w;
	struct vt_hash events;
	struct vt_hash tables;
	uint64_t cycles; /* of all stacks so far */
	uint64_t why[NWHYS];
	bool declared; /* the stream says that it is sampled */

	/* The current batch. */
	uint32_t *ids;
	size_t nids, ids_cap;
	uint64_t insns;
	struct vt_pt_mark_time *times;
	size_t ntimes, times_cap;
};

struct vti_pt_lbr *vti_pt_lbr_new(struct vt_pt_spaces *spaces, struct vt_pt_emit *emit,
				  struct vt_writer *w)
{
	struct vti_pt_lbr *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->spaces = spaces;
	l->emit = emit;
	l->w = w;
	vt_hash_init(&l->events, sizeof(struct event), sizeof(uint64_t));
	vt_hash_init(&l->tables, sizeof(struct table), sizeof(uint64_t));
	return l;
}

void vti_pt_lbr_free(struct vti_pt_lbr *l)
{
	size_t i;

	if (!l)
		return;
	for (i = 0; i < l->tables.count; i++)
		vt_pt_blocks_free(((struct table *)vt_hash_at(&l->tables, i))->blocks);
	vt_hash_fini(&l->tables);
	vt_hash_fini(&l->events);
	free(l->ids);
	free(l->times);
	free(l);
}

int vti_pt_lbr_event(struct vti_pt_lbr *l, const struct vt_record *rec, struct vt_error *err)
{
	uint64_t id = vt_record_u64(rec, VT_EVENT_ID);
	struct event *e = vt_hash_add(&l->events, &id, NULL);

	if (!e)
		return vt_error_nomem(err);
	e->branch_type = vt_record_u64(rec, VT_EVENT_BRANCH_TYPE);
	return 0;
}

/* ---- a stretch of code ---- */

static int add_stretch_block(struct vti_pt_lbr *l, uint32_t index, unsigned insns,
			     struct vt_error *err)
{
	if (!vt_array_grow(&l->ids, &l->ids_cap, l->nids + 1, sizeof(*l->ids)))
		return vt_error_nomem(err);
	l->ids[l->nids++] = index;
	l->insns += insns;
	return 0;
}

/*
 * Where a stretch of code ends.  Stacks of user code alone have no branch into the kernel:
 * `syscall` is straight code in them.  The branch back is left out by some processors; others
 * record its source in the kernel, and then the code up to its target is straight.  (Linux keeps
 * such branches: intel_pmu_lbr_filter().)
 */
struct goal {
	uint64_t source, target; /* of the next branch */
	bool back;		 /* that branch comes from the kernel */
};

#define KERNEL_HALF (UINT64_C(1) << 63)

static struct goal make_goal(uint64_t from, uint64_t source, uint64_t target)
{
	return (struct goal){source, target,
			     source >= KERNEL_HALF && from < KERNEL_HALF && target < KERNEL_HALF};
}

/* True if the code after a block may run right after it. */
static bool can_fall_through(const struct vt_pt_block *k)
{
	return k->end == VT_PT_END_FALL || k->end == VT_PT_END_COND || k->end == VT_PT_END_FAR_CALL;
}

/* Counts the instructions of a block before an address; 0: the address is inside one. */
static unsigned count_insns_before_addr(const struct vt_pt_blocks *blocks,
					const struct vt_pt_block *k, uint64_t addr)
{
	const uint8_t *lengths = vt_pt_block_lengths(blocks, k);
	uint64_t at = k->addr;
	unsigned n = 0;

	while (at < addr)
		at += lengths[n++];
	return at == addr ? n : 0;
}

/* Checks the last block of a stretch, which has the goal. */
static enum why check_last_block(const struct vt_pt_blocks *blocks, const struct vt_pt_block *k,
				 const struct goal *g)
{
	bool direct =
		k->end == VT_PT_END_COND || k->end == VT_PT_END_JUMP || k->end == VT_PT_END_CALL;

	if (g->back && g->target == k->next)
		return can_fall_through(k) ? WHY_NONE : WHY_CROOKED;
	if (g->back)
		return count_insns_before_addr(blocks, k, g->target) ? WHY_NONE : WHY_CROOKED;
	if (g->source != k->next - k->last || k->end == VT_PT_END_FALL)
		return WHY_CROOKED;
	return direct && k->target != g->target ? WHY_TARGET : WHY_NONE;
}

/* Checks a block on the way to a goal; *last: the goal is in it. */
static enum why check_stretch_block(const struct vt_pt_blocks *blocks, const struct vt_pt_block *k,
				    const struct goal *g, bool *last)
{
	*last = g->back ? g->target > k->addr && g->target <= k->next
			: g->source >= k->addr && g->source < k->next;
	if (!k->insns)
		return k->end == VT_PT_END_BAD_CODE ? WHY_BAD_CODE : WHY_NO_CODE;
	if (*last)
		return check_last_block(blocks, k, g);
	if ((g->back ? g->target : g->source) < k->next)
		return WHY_CROOKED;
	if (k->end == VT_PT_END_NO_CODE)
		return WHY_NO_CODE;
	if (k->end == VT_PT_END_BAD_CODE)
		return WHY_BAD_CODE;
	return can_fall_through(k) ? WHY_NONE : WHY_CROOKED;
}

/* Appends a block, or its part before the goal. */
static int add_block_up_to(struct vti_pt_lbr *l, struct vt_pt_blocks *blocks, uint32_t index,
			   const struct goal *g, struct vt_error *err)
{
	const struct vt_pt_block *k = vt_pt_blocks_get(blocks, index);
	unsigned n = k->insns;

	if (g->back && g->target > k->addr && g->target < k->next) {
		n = count_insns_before_addr(blocks, k, g->target);
		if (vt_pt_blocks_cut(blocks, index, n, &index) < 0)
			return vt_error_nomem(err);
	}
	return add_stretch_block(l, index, n, err);
}

/* Appends the blocks from an address to a goal.  *why: why none are appended, or WHY_NONE. */
static int add_stretch(struct vti_pt_lbr *l, struct vt_pt_blocks *blocks, uint64_t from,
		       struct goal g, enum why *why, struct vt_error *err)
{
	size_t start = l->nids;
	uint64_t insns = l->insns;
	bool last = g.back && g.target == from;
	int code = 0;

	*why = WHY_NONE;
	while (!last && *why == WHY_NONE && code == 0) {
		const struct vt_pt_block *k;
		uint32_t index;

		if (vt_pt_blocks_at(blocks, from, 64, &index) < 0)
			return vt_error_nomem(err);
		k = vt_pt_blocks_get(blocks, index);
		from = k->next;
		*why = l->nids - start < STRETCH_MAX ? check_stretch_block(blocks, k, &g, &last)
						     : WHY_CROOKED;
		if (*why == WHY_NONE)
			code = add_block_up_to(l, blocks, index, &g, err);
	}
	if (*why != WHY_NONE) {
		l->nids = start;
		l->insns = insns;
	}
	return code;
}

/* ---- a sample ---- */

static int put_batch(struct vti_pt_lbr *l, const struct vt_record *rec, struct vt_pt_blocks *blocks,
		     struct vt_error *err)
{
	struct vt_pt_context ctx = {.pid = vt_record_i64(rec, VT_SAMPLE_PID),
				    .tid = vt_record_i64(rec, VT_SAMPLE_TID),
				    .cpu = (int64_t)vt_record_u64(rec, VT_SAMPLE_CPU),
				    .time = vt_record_u64(rec, VT_SAMPLE_TIME)};
	struct vt_pt_batch b = {.blocks = blocks,
				.ids = l->ids,
				.nids = l->nids,
				.insns = l->insns,
				.times = l->times,
				.ntimes = l->ntimes};
	int code = l->nids ? vt_pt_emit_batch(l->emit, &ctx, &b, err) : 0;

	if (code == 0)
		code = vt_pt_emit_flush(l->emit, err);
	l->nids = 0;
	l->insns = 0;
	l->ntimes = 0;
	return code;
}

static int mark_stack_time(struct vti_pt_lbr *l, struct vt_error *err)
{
	if (!l->cycles)
		return 0;
	if (!vt_array_grow(&l->times, &l->times_cap, l->ntimes + 1, sizeof(*l->times)))
		return vt_error_nomem(err);
	l->times[l->ntimes++] = (struct vt_pt_mark_time){(uint32_t)l->nids, 0, l->cycles};
	return 0;
}

static struct vt_pt_blocks *get_process_blocks(struct vti_pt_lbr *l, int64_t pid)
{
	uint64_t generation;
	const struct vt_pt_code *code = vt_pt_spaces_code(l->spaces, pid, &generation);
	struct table *t = code ? vt_hash_add(&l->tables, &generation, NULL) : NULL;

	if (t && !t->blocks)
		t->blocks = vt_pt_blocks_new(code);
	return t ? t->blocks : NULL;
}

/* Cycles since the previous branch: `cycles` of struct perf_branch_entry, 16 bits from bit 4 on. */
static uint64_t get_lbr_cycles(const struct vt_record *rec, size_t i)
{
	struct vt_words flags = vt_record_words(rec, VT_SAMPLE_BR_FLAGS);

	return i < flags.count ? flags.data[i] >> 4 & 0xffff : 0;
}

static bool has_all_branches(const struct vti_pt_lbr *l, const struct vt_record *rec)
{
	uint64_t id = vt_record_u64(rec, VT_SAMPLE_EVENT);
	const struct event *e = vt_hash_find(&l->events, &id);

	return e && e->branch_type & VT_BRANCH_ANY && !(e->branch_type & VT_BRANCH_CALL_STACK);
}

static int put_stack(struct vti_pt_lbr *l, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_words from = vt_record_words(rec, VT_SAMPLE_BR_FROM);
	struct vt_words to = vt_record_words(rec, VT_SAMPLE_BR_TO);
	struct vt_pt_blocks *blocks = get_process_blocks(l, vt_record_i64(rec, VT_SAMPLE_PID));
	size_t i = from.count < to.count ? from.count : to.count;
	int code = blocks ? 0 : vt_error_nomem(err);

	for (; i-- > 1 && code == 0;) {
		enum why why = WHY_NONE;

		code = mark_stack_time(l, err);
		if (code == 0)
			code = add_stretch(l, blocks, to.data[i],
					   make_goal(to.data[i], from.data[i - 1], to.data[i - 1]),
					   &why, err);
		l->cycles += get_lbr_cycles(rec, i - 1);
		if (why == WHY_NONE)
			continue;
		l->why[why]++;
		code = put_batch(l, rec, blocks, err);
	}
	return code == 0 ? put_batch(l, rec, blocks, err) : code;
}

bool vti_pt_lbr_has_stack(const struct vt_record *rec)
{
	return vt_record_words(rec, VT_SAMPLE_BR_FROM).count > 1;
}

int vti_pt_lbr_sample(struct vti_pt_lbr *l, const struct vt_record *rec, struct vt_error *err)
{
	if (!vti_pt_lbr_has_stack(rec))
		return 0;
	if (!l->declared)
		vt_writer_meta(l->w, "sampling",
			       "branch stacks: EXEC records show what was executed before samples");
	l->declared = true;
	if (!has_all_branches(l, rec)) {
		l->why[WHY_FILTERED]++;
		return 0;
	}
	return put_stack(l, rec, err);
}

int vti_pt_lbr_end(struct vti_pt_lbr *l, struct vt_error *err)
{
	static const char *const reasons[NWHYS] = {
		[WHY_FILTERED] = "branch stacks without all branches",
		[WHY_NO_CODE] = "branch stacks: no code",
		[WHY_BAD_CODE] = "branch stacks: bad code",
		[WHY_CROOKED] = "branch stacks: no straight code between two branches",
		[WHY_TARGET] = "branch stacks: the branch goes elsewhere",
	};
	unsigned i;

	for (i = 1; i < NWHYS; i++) {
		uint64_t *row;

		if (!l->why[i])
			continue;
		row = vt_writer_row(l->w, VT_GAP);
		row[VT_GAP_RECORDS] = l->why[i];
		vt_writer_text(l->w, VT_GAP_REASON, reasons[i]);
	}
	return vt_writer_error(l->w, err);
}

uint64_t vti_pt_lbr_gaps(const struct vti_pt_lbr *l)
{
	uint64_t sum = 0;
	unsigned i;

	for (i = 1; i < NWHYS; i++)
		sum += l->why[i];
	return sum;
}
