/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "events/code.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "machine/insn/insn.h"
#include "profile/procedure_code.h"
#include "profile/procedure_flow.h"
#include "profile/ranking.h"

/* Which instructions an event chooses from: those with one of these facts; 0: all. */
struct choice {
	uint32_t facts;
	bool retired; /* all of its samples tell whether they retired: compare those that did */
	bool fused;   /* a real machine may take a compare and a branch for one */
};

struct checked {
	const struct vt_evcode_source *src;
	struct choice *choices; /* by event */
	double *samples;	/* of the block at hand */
	double *shares;
	size_t samples_cap, shares_cap;
	/* Of code that is in blocks alone. */
	struct vt_hash leaders; /* struct leader */
	struct vt_hash blocks;	/* struct block: those that are checked */
};

/* An instruction of blocks, and the one that its basic block begins with. */
struct leader {
	uint64_t image; /* with `offset`, the key */
	uint64_t offset;
	uint64_t first;
};

/* The samples of an event in a basic block of a process: the key is all of it. */
struct block {
	uint64_t first;
	uint32_t image;
	uint32_t event;
	int32_t pid;
	uint32_t zero;
};

static bool all_had(const struct vt_evtotal *sum, double samples)
{
	return samples > 0 && sum->samples == samples && sum->had == samples;
}

/* The sums over all places of an event's totals of one thing, and of all samples. */
static void sum_event(const struct vt_evstats *s, uint32_t event, unsigned stat,
		      struct vt_evtotal *sum, double *samples)
{
	struct vt_evtotal t;
	struct vt_evkey key;
	size_t i;

	*sum = (struct vt_evtotal){0};
	*samples = 0;
	for (i = 0; i < vt_evstats_nplaces(s); i++) {
		const struct vt_evcounts *c = vt_evstats_place(s, i, &key);

		if (key.event != event)
			continue;
		vt_evstats_total(s, &key, c, stat, &t);
		vt_evtotal_add(sum, &t);
		vt_evcounts_all(c, &t);
		*samples += t.samples;
	}
}

static void choose(struct checked *k, uint32_t event)
{
	static const struct {
		unsigned stat;
		uint32_t facts;
	} kinds[] = {{VT_PM_LOAD, VT_FACT_LOAD},
		     {VT_PM_STORE, VT_FACT_STORE},
		     {VT_PM_BRANCH, VT_FACT_BRANCH}};
	const struct vt_evstats *s = k->src->stats;
	struct choice *c = &k->choices[event];
	struct vt_evtotal sum, loads, stores;
	double samples;
	size_t i;

	sum_event(s, event, VT_PM_LOAD, &loads, &samples);
	sum_event(s, event, VT_PM_STORE, &stores, &samples);
	/* Loads and stores, but nothing else. */
	if (samples > 0 && loads.had + stores.had >= samples)
		c->facts = VT_FACT_LOAD | VT_FACT_STORE;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		sum_event(s, event, kinds[i].stat, &sum, &samples);
		if (all_had(&sum, samples))
			c->facts = kinds[i].facts;
	}
	sum_event(s, event, VT_PM_RETIRED, &sum, &samples);
	c->retired = sum.samples == samples;
	c->fused = vt_evstats_event_at(s, event)->population != VT_EVPOP_INSTRUCTIONS;
}

static struct vt_evcounts *find_counts(const struct checked *k, const struct vt_procflow *f,
				       uint64_t vaddr, uint32_t event)
{
	struct vt_evkey key = {.image = f->proc.image, .event = event, .pid = f->proc.pid};

	if (!vt_images_offset(k->src->images, f->proc.image, vaddr, &key.offset))
		return NULL;
	return vt_evstats_find(k->src->stats, &key);
}

/* Whether an event can choose an instruction; `before` is the one before in its block, or NULL. */
static bool can_choose(const struct choice *c, const struct vt_facts *facts,
		       const struct vt_facts *before)
{
	if (facts->flags & VT_FACT_REPEATED)
		return false;
	if (c->fused && before && (facts->flags & VT_FACT_CONDITIONAL) &&
	    (before->flags & VT_FACT_COMPARE))
		return false;
	return !c->facts || (facts->flags & c->facts);
}

static double count_chosen(const struct vt_evcounts *c, const struct choice *choice)
{
	struct vt_evtotal t;

	if (!c)
		return 0;
	if (choice->retired) {
		double had = (double)c->had[VT_PM_RETIRED];

		return had + (c->other ? c->other[VT_PM_RETIRED].had : 0);
	}
	vt_evcounts_all(c, &t);
	return t.samples;
}

static bool grow_block(struct checked *k, size_t n)
{
	return vt_array_grow(&k->samples, &k->samples_cap, n, sizeof(*k->samples)) &&
	       vt_array_grow(&k->shares, &k->shares_cap, n, sizeof(*k->shares));
}

/*
 * The micro-operations of an instruction; 0: the model does not know them, as those of microcode,
 * or they depend on how often it repeats itself.
 */
static unsigned count_uops(const struct checked *k, const struct vt_mop *op)
{
	if (op->flags & VT_FACT_REPEATED || (k->src->core->table && op->estimated))
		return 0;
	return op->slots;
}

/* Adds an instruction to those of a block that are compared, if the event can choose it. */
static void add_insn(struct checked *k, unsigned *n, uint32_t event, const struct vt_facts *facts,
		     const struct vt_facts *before, const struct vt_evcounts *counts, double share)
{
	if (!share || !can_choose(&k->choices[event], facts, before))
		return;
	k->samples[*n] = count_chosen(counts, &k->choices[event]);
	k->shares[(*n)++] = share;
}

/* Divides by the micro-operations of the instruction that the event chose; 0: unknown. */
static void divide_counts(struct vt_evcounts *c, unsigned uops, struct vt_evevent *e)
{
	struct vt_evtotal all;

	if (uops) {
		c->share = uops;
		return;
	}
	vt_evcounts_all(c, &all);
	e->unknown += (uint64_t)all.samples;
}

static int check_block(struct checked *k, const struct vt_procflow *f, const struct vt_facts *facts,
		       const struct vt_cfg_block *b, uint32_t event, struct vt_error *err)
{
	struct vt_evevent *e = vt_evstats_event_at(k->src->stats, event);
	bool uops = e->population == VT_EVPOP_UOPS && f->ops;
	unsigned n = 0;
	uint32_t i;

	if (!grow_block(k, (size_t)b->ninsns + 1))
		return vt_error_nomem(err);
	for (i = 0; i < b->ninsns; i++) {
		uint32_t at = b->insn + i;

		add_insn(k, &n, event, &facts[at], i ? &facts[at - 1] : NULL,
			 find_counts(k, f, f->cfg->insns[at].addr, event),
			 uops ? count_uops(k, &f->ops[at]) : 1);
	}
	vt_evcheck_add(&e->check, k->samples, k->shares, n);
	return 0;
}

static void divide(const struct checked *k, const struct vt_procflow *f, uint32_t event)
{
	uint32_t i;

	for (i = 0; i < f->cfg->ninsns; i++) {
		struct vt_evcounts *c = find_counts(k, f, f->cfg->insns[i].addr, event);

		if (c)
			divide_counts(c, count_uops(k, &f->ops[i]),
				      vt_evstats_event_at(k->src->stats, event));
	}
}

static struct vt_facts *decode_facts(const struct checked *k, const struct vt_procflow *f,
				     struct vt_error *err)
{
	struct vt_facts *facts = calloc((size_t)f->cfg->ninsns + 1, sizeof(*facts));
	struct vt_proccode code = {0};
	uint32_t i;

	if (!facts || vt_proccode_find(k->src->images, k->src->code, &f->proc, &code, err) < 0) {
		if (!facts)
			vt_error_nomem(err);
		free(facts);
		return NULL;
	}
	for (i = 0; i < f->cfg->ninsns; i++)
		vt_facts_decode(code.bytes + (f->cfg->insns[i].addr - f->proc.start),
				f->cfg->insns[i].length, &facts[i]);
	vt_proccode_fini(&code);
	return facts;
}

/* Where cycles choose, who waits is chosen more often. */
static bool is_checked(const struct vt_evevent *e)
{
	return e->population != VT_EVPOP_FETCHES && e->population != VT_EVPOP_CYCLES;
}

static int check_graph(struct checked *k, const struct vt_procflow *f, struct vt_error *err)
{
	struct vt_facts *facts = decode_facts(k, f, err);
	size_t n = vt_evstats_nevents(k->src->stats);
	uint32_t b, event;
	int code = 0;

	if (!facts)
		return -(int)err->code;
	for (event = 0; event < n && code == 0; event++) {
		const struct vt_evevent *e = vt_evstats_event_at(k->src->stats, event);

		if (!is_checked(e))
			continue;
		for (b = VT_CFG_FIRST; b < f->cfg->nblocks && code == 0; b++)
			code = check_block(k, f, facts, &f->cfg->blocks[b], event, err);
		if (e->population == VT_EVPOP_UOPS && f->ops)
			divide(k, f, event);
	}
	free(facts);
	return code;
}

/* A procedure without code, or with too much, is left out.  *there: it was not. */
static int check_procedure(struct checked *k, const struct vt_procedure *p, bool *there,
			   struct vt_error *err)
{
	struct vt_procflow *f = vt_procflow_graph(k->src->images, k->src->code, p, err);
	int code = f ? 0 : -(int)err->code;

	if (f && k->src->core)
		code = vt_procflow_decode(f, k->src->images, k->src->code, k->src->core, err);
	if (f && code == 0)
		code = check_graph(k, f, err);
	*there = f && code == 0;
	vt_procflow_free(f);
	return code == -VT_E_NOMEM ? code : 0;
}

static int check_rank(struct checked *k, const struct vt_ranking *r, size_t row, bool *there,
		      struct vt_error *err)
{
	struct vt_procedure p;

	*there = false;
	if (!vt_procedure_of_rank(k->src->images, vt_ranking_at(r, row), &p) || !p.end)
		return 0;
	return check_procedure(k, &p, there, err);
}

/* ---- code of blocks alone: of no procedure, as its file is not there ---- */

/* Follows a block from its first instruction to the next transfer of control, or block. */
static bool lead_block(struct checked *k, struct vt_blockinsn at)
{
	uint64_t first = at.offset;
	struct vt_flow flow;

	do {
		const struct leader key = {.image = at.image, .offset = at.offset};
		bool added;
		struct leader *l = vt_hash_add(&k->leaders, &key, &added);

		if (!l)
			return false;
		if (!added)
			return true;
		l->first = first;
		if (!vt_flow_decode(at.code, at.size, &flow) || flow.flags || flow.stops)
			return true;
	} while (vt_blockcode_find(k->src->code, at.image, at.offset + at.size, &at) &&
		 !at.starts && !at.varies);
	return true;
}

static int lead_blocks(struct checked *k, struct vt_error *err)
{
	size_t i, n = k->src->code ? vt_blockcode_count(k->src->code) : 0;

	for (i = 0; i < n; i++) {
		struct vt_blockinsn insn = vt_blockcode_insn(k->src->code, i);

		if (insn.starts && !insn.varies && !lead_block(k, insn))
			return vt_error_nomem(err);
	}
	return 0;
}

/* The image of anonymous code in blocks is none. */
static uint32_t image_in_blocks(const struct checked *k, uint32_t image)
{
	const struct vt_image *i = vt_images_get(k->src->images, image);

	return i && i->type == VT_IMAGE_ANON ? VT_UNMAPPED_IMAGE : image;
}

static int check_recorded(struct checked *k, const struct block *b, struct vt_error *err)
{
	struct vt_evevent *e = vt_evstats_event_at(k->src->stats, b->event);
	bool uops = e->population == VT_EVPOP_UOPS && k->src->core;
	const struct leader *l;
	struct leader at = {.image = image_in_blocks(k, b->image), .offset = b->first};
	struct vt_facts facts[2] = {0};
	unsigned n = 0, i;

	for (i = 0; (l = vt_hash_find(&k->leaders, &at)) && l->first == b->first; i++) {
		const struct vt_evkey key = {
			.offset = at.offset, .image = b->image, .event = b->event, .pid = b->pid};
		struct vt_evcounts *c = vt_evstats_find(k->src->stats, &key);
		struct vt_blockinsn insn;
		struct vt_mop op;
		unsigned share = 1;

		if (!grow_block(k, (size_t)n + 1))
			return vt_error_nomem(err);
		vt_blockcode_find(k->src->code, (uint32_t)at.image, at.offset, &insn);
		vt_facts_decode(insn.code, insn.size, &facts[i % 2]);
		if (uops) {
			vt_core_op(k->src->core, insn.code, insn.size, &op);
			share = count_uops(k, &op);
		}
		if (is_checked(e))
			add_insn(k, &n, b->event, &facts[i % 2], i ? &facts[(i - 1) % 2] : NULL, c,
				 share);
		if (c && uops)
			divide_counts(c, share, e);
		at.offset += insn.size;
	}
	vt_evcheck_add(&e->check, k->samples, k->shares, n);
	return 0;
}

/* A place that is in no procedure with code.  *there: it is in a block. */
static int check_place(struct checked *k, const struct vt_evkey *key, bool *there,
		       struct vt_error *err)
{
	const struct leader at = {.image = image_in_blocks(k, key->image), .offset = key->offset};
	const struct leader *l = vt_hash_find(&k->leaders, &at);
	struct block block = {.image = key->image, .event = key->event, .pid = key->pid};
	bool added;

	*there = l != NULL;
	if (!l)
		return 0;
	block.first = l->first;
	if (!vt_hash_add(&k->blocks, &block, &added))
		return vt_error_nomem(err);
	return added ? check_recorded(k, &block, err) : 0;
}

/* Visits each procedure with samples once, and counts the samples of code that is not there. */
static int check_procedures(struct checked *k, struct vt_ranking *r, struct vt_error *err)
{
	struct vt_evstats *s = k->src->stats;
	size_t i, row = 0, cap = 0, done = 0, n = vt_evstats_nplaces(s);
	bool *there = NULL, found;
	struct vt_evkey key;
	int code = 0;

	for (i = 0; i < n && code == 0; i++) {
		const struct vt_evcounts *c = vt_evstats_place(s, i, &key);
		const struct vt_place place = {
			.offset = key.offset, .image = key.image, .pid = key.pid};
		struct vt_evtotal all;

		code = vt_ranking_row(r, &place, &row, err);
		if (code == 0 && !vt_array_grow(&there, &cap, row + 1, sizeof(*there)))
			code = vt_error_nomem(err);
		if (code == 0 && row == done) {
			code = check_rank(k, r, row, &there[row], err);
			done++;
		}
		if (code < 0 || there[row])
			continue;
		code = check_place(k, &key, &found, err);
		if (code < 0 || found)
			continue;
		vt_evcounts_all(c, &all);
		vt_evstats_event_at(s, key.event)->unlocated += (uint64_t)all.samples;
	}
	free(there);
	return code;
}

/* Says of an event of micro-operations how far it was divided. */
static void note_division(const struct vt_evcode_source *src, uint32_t event)
{
	struct vt_evevent *e = vt_evstats_event_at(src->stats, event);
	struct vt_evtotal sum;
	double samples;

	if (e->population != VT_EVPOP_UOPS && e->population != VT_EVPOP_OPERATIONS)
		return;
	sum_event(src->stats, event, VT_PM_RETIRED, &sum, &samples);
	e->division = e->population == VT_EVPOP_OPERATIONS || !src->core ||
				      (double)e->unlocated + (double)e->unknown >= samples
			      ? VT_EVDIV_UNDONE
		      : e->unlocated || e->unknown ? VT_EVDIV_PARTLY
						   : VT_EVDIV_DONE;
}

int vt_evcode_run(const struct vt_evcode_source *src, struct vt_error *err)
{
	size_t n = vt_evstats_nevents(src->stats);
	struct checked k = {.src = src, .choices = calloc(n + 1, sizeof(*k.choices))};
	struct vt_ranking *r = vt_ranking_new_empty(src->images, VT_LEVEL_PROCEDURE, err);
	int code = k.choices ? 0 : vt_error_nomem(err);
	uint32_t i;

	vt_hash_init(&k.leaders, sizeof(struct leader), offsetof(struct leader, first));
	vt_hash_init(&k.blocks, sizeof(struct block), sizeof(struct block));
	if (!r)
		code = -VT_E_NOMEM;
	if (code == 0)
		code = lead_blocks(&k, err);
	for (i = 0; i < n && code == 0; i++)
		choose(&k, i);
	if (code == 0)
		code = check_procedures(&k, r, err);
	for (i = 0; i < n && code == 0; i++)
		note_division(src, i);
	vt_ranking_free(r);
	vt_hash_fini(&k.leaders);
	vt_hash_fini(&k.blocks);
	free(k.choices);
	free(k.samples);
	free(k.shares);
	return code;
}
