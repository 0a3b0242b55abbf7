/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "listing/values/advice.h"
#include "listing/values/advice_internal.h"
#include "machine/insn/insn.h"

/* A larger procedure is data that is taken for code. */
#define MAX_PROCEDURE 1048576

struct block_insn {
	uint64_t vaddr;
	struct vt_facts facts;
	bool leader; /* begins a block */
};

struct procedure_insns {
	struct block_insn *insns;
	size_t count;
	size_t cap;
};

/* A block with a hot list for each of its loads. */
struct invariant_block {
	uint32_t image;
	uint64_t offset;
	unsigned insns;
	unsigned loads;
	unsigned results; /* registers whose values were recorded */
	uint64_t executions;
	uint64_t samples;
	double share; /* the least invariance in it */
	double low;
	double score;
	size_t order;
};

struct block_list {
	const struct vt_spec_view *view;
	struct vt_code code;
	uint32_t image;	    /* of the procedure at hand: its id in `images` */
	uint32_t hot_image; /* and its number in the hot lists */
	struct invariant_block *list;
	size_t count;
	size_t cap;
};

static bool is_merged_block_end(const struct vt_facts *f)
{
	return f->flags & (VT_FACT_BRANCH | VT_FACT_SYSCALL);
}

/* Decodes a procedure in the order of addresses. */
static int decode_procedure(struct block_list *b, const struct vt_spec_procedure *p,
			    struct procedure_insns *c, struct vt_error *err)
{
	uint64_t vaddr = p->start;
	size_t avail = 0;

	c->count = 0;
	while (vaddr < p->end) {
		const uint8_t *bytes = b->code.bytes(b->code.arg, vaddr, &avail);
		struct block_insn in = {.vaddr = vaddr};

		if (avail > p->end - vaddr)
			avail = (size_t)(p->end - vaddr);
		if (!bytes || !vt_facts_decode(bytes, avail, &in.facts))
			break;
		if (!vt_array_grow(&c->insns, &c->cap, c->count + 1, sizeof(*c->insns)))
			return vt_error_nomem(err);
		c->insns[c->count++] = in;
		vaddr += in.facts.length;
	}
	return 0;
}

static int compare_insn_address(const void *key, const void *insn)
{
	uint64_t a = *(const uint64_t *)key, b = ((const struct block_insn *)insn)->vaddr;

	return a < b ? -1 : a > b;
}

static void find_leaders(struct procedure_insns *c)
{
	size_t i;

	for (i = 0; i < c->count; i++) {
		const struct block_insn *in = &c->insns[i];
		uint64_t to = in->vaddr + (uint64_t)in->facts.target;
		struct block_insn *target = NULL;

		if (i == 0 || is_merged_block_end(&c->insns[i - 1].facts))
			c->insns[i].leader = true;
		if (in->facts.has_target)
			target = bsearch(&to, c->insns, c->count, sizeof(*c->insns),
					 compare_insn_address);
		if (target)
			target->leader = true;
	}
}

/* Adds an instruction with its hot lists to a block; false if it loads a value without a list. */
static bool add_block_insn(const struct block_list *b, const struct block_insn *in, uint64_t offset,
			   struct invariant_block *block)
{
	struct vt_uses uses;
	uint64_t from;
	bool wanted = (in->facts.flags & VT_FACT_LOAD) && !(in->facts.flags & VT_FACT_NOP);
	size_t first, n, i;

	block->insns++;
	block->samples += vt_spec_samples(b->view->spec, b->image, offset);
	if (wanted &&
	    (vt_uses_of_load(&b->code, in->vaddr, &uses) == VT_SOURCE_RESTORED ||
	     (vt_load_vaddr(&b->code, in->vaddr, &from) && vt_elf_is_constant(b->code.arg, from))))
		return true;
	n = vt_hotprofile_find(b->view->hot, b->hot_image, offset, &first);
	for (i = 0; i < n; i++) {
		const struct vt_hot *h = vt_hotprofile_at(b->view->hot, first + i);
		double share;

		if ((h->key.what != VT_WHAT_LOAD && h->key.what != VT_WHAT_RESULT) || !h->nvalues ||
		    !h->profiled)
			continue;
		share = vt_hot_estimate(h, 0) / (double)h->profiled;
		if (h->key.what == VT_WHAT_LOAD)
			wanted = false;
		if (h->key.what == VT_WHAT_LOAD && !h->key.lane)
			block->loads++;
		if (h->key.what == VT_WHAT_RESULT && !h->key.lane)
			block->results++;
		if (share < block->share)
			block->share = share;
		if (!block->executions || h->profiled < block->executions)
			block->executions = h->profiled;
	}
	return !wanted;
}

static int add_invariant_block(struct block_list *b, const struct procedure_insns *c, size_t first,
			       size_t end, struct vt_error *err)
{
	struct invariant_block block = {.image = b->image, .share = 1, .order = b->count};
	uint64_t offset = 0;
	size_t i;

	for (i = first; i < end; i++) {
		if (!vt_images_offset(b->view->images, b->image, c->insns[i].vaddr, &offset) ||
		    !add_block_insn(b, &c->insns[i], offset, &block))
			return 0;
		if (i == first)
			block.offset = offset;
	}
	block.low = vt_share_low(block.share, (double)block.executions);
	if (!block.loads || !block.samples || block.low < b->view->opt.min_invariance)
		return 0;
	block.score = (double)block.samples * block.low;
	if (!vt_array_grow(&b->list, &b->cap, b->count + 1, sizeof(*b->list)))
		return vt_error_nomem(err);
	b->list[b->count++] = block;
	return 0;
}

static int add_blocks_of_procedure(struct block_list *b, const struct vt_spec_procedure *p,
				   struct procedure_insns *c, struct vt_error *err)
{
	size_t first = 0, i;
	int code;

	if (p->time <= 0 || p->time < b->view->opt.min_time || p->end <= p->start ||
	    p->end - p->start > MAX_PROCEDURE || !vt_spec_code(b->view->images, p->image, &b->code))
		return 0;
	b->image = p->image;
	b->hot_image = vt_hotprofile_image_of(b->view->hot, p->image);
	if (b->hot_image == VT_HOT_NO_IMAGE)
		return 0;
	code = decode_procedure(b, p, c, err);
	find_leaders(c);
	for (i = 1; i <= c->count && code == 0; i++) {
		if (i < c->count && !c->insns[i].leader)
			continue;
		code = add_invariant_block(b, c, first, i, err);
		first = i;
	}
	return code;
}

static int compare_block_scores(const void *a, const void *b)
{
	const struct invariant_block *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void add_block_row(struct vt_table *t, const struct vt_spec_view *view,
			  const struct invariant_block *b)
{
	uint64_t total = vt_spec_total(view->spec);
	double time = total ? (double)b->samples / (double)total : 0;

	vt_table_row(t, VT_STYLE_PLAIN);
	vti_speclist_time(t, time);
	vti_speclist_share(t, b->share);
	vti_speclist_share(t, b->low);
	vt_table_real(t, time * b->low * 100);
	vt_table_number(t, b->executions);
	vt_table_number(t, b->insns);
	vt_table_number(t, b->loads);
	vt_table_number(t, b->results);
	vti_speclist_place(t, view, b->image, b->offset, 0);
	vt_table_printf(t, "%s %s the same",
			b->results ? "compute it once: each load and result"
				   : "compute once what follows from it: each load",
			b->share >= 1 ? "always gives" : "hardly ever gives anything but");
}

int64_t vt_speclist_blocks(struct vt_table *t, const struct vt_spec_view *view,
			   const struct vt_speclist_options *opt, struct vt_error *err)
{
	struct block_list b = {.view = view};
	struct procedure_insns c = {0};
	int64_t left_out = 0;
	size_t i;

	for (i = 0; i < vt_spec_nprocedures(view->spec) && left_out == 0; i++)
		left_out = add_blocks_of_procedure(&b, vt_spec_procedure(view->spec, i), &c, err);
	if (b.count)
		qsort(b.list, b.count, sizeof(*b.list), compare_block_scores);
	vt_table_column(t, "time", "time", VT_FORMAT_PERCENT);
	vt_table_column(t, "invariance", "invar", VT_FORMAT_PERCENT);
	vt_table_column(t, "invariance.low", NULL, VT_FORMAT_PERCENT);
	vt_table_column(t, "score", NULL, VT_FORMAT_PERCENT);
	vt_table_column(t, "executions", "executions", VT_FORMAT_NUMBER);
	vt_table_column(t, "instructions", "insns", VT_FORMAT_NUMBER);
	vt_table_column(t, "loads", "loads", VT_FORMAT_NUMBER);
	vt_table_column(t, "results", NULL, VT_FORMAT_NUMBER);
	vti_speclist_place_columns(t, "block", "block");
	vt_table_column(t, "advice", "advice", VT_FORMAT_TEXT);
	for (i = 0; i < b.count && (!opt->top || i < opt->top) && left_out == 0; i++)
		add_block_row(t, view, &b.list[i]);
	if (left_out == 0)
		left_out = (int64_t)(b.count - i);
	free(b.list);
	free(c.insns);
	return left_out;
}
