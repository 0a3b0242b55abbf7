/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/collect_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

void vti_collect_free_code(struct code *code)
{
	struct plan *p, *next;

	if (!code)
		return;
	for (p = code->plans; p; p = next) {
		next = p->next;
		free(p);
	}
	free(code->part);
	free(code->entry);
	free(code);
}

static bool has_target(const struct vt_collect *c, const struct vt_bblock *b)
{
	return vti_collect_wants(c, VT_WHAT_TARGET) &&
	       (b->end == VT_END_JUMP_INDIRECT || b->end == VT_END_CALL_INDIRECT);
}

static struct code *new_code(struct vt_collect *c, const struct vt_bblock *b, struct vt_error *err)
{
	struct code *code = calloc(1, sizeof(*code));
	uint32_t i;

	if (!code) {
		vt_error_nomem(err);
		return NULL;
	}
	if (vti_collect_place(c, b->pid, b->addr, &code->place, &code->mapped, err) < 0) {
		free(code);
		return NULL;
	}
	for (i = 0; i < b->nslots; i++) {
		code->guarded |= b->slots[i].what == VT_WHAT_GUARD;
		if (vti_collect_wants(c, VT_WHAT_ARG) && vti_collect_passes(b, &b->slots[i]))
			code->nargs += vti_collect_lanes(&b->slots[i]);
	}
	code->leads = has_target(c, b) || (vti_collect_calls(b) &&
					   (code->nargs || vti_collect_wants(c, VT_WHAT_RETURN)));
	return code;
}

struct quick *vti_collect_add_block(struct vt_collect *c, const struct vt_bblock *b,
				    struct vt_error *err)
{
	size_t had = c->nblocks;
	struct quick *q;

	if (b->id >= had) {
		if (!vt_array_grow(&c->blocks, &c->nblocks, b->id + 1, sizeof(*c->blocks))) {
			vt_error_nomem(err);
			return NULL;
		}
		memset(c->blocks + had, 0, (c->nblocks - had) * sizeof(*c->blocks));
	}
	q = &c->blocks[b->id];
	q->insns = b->ninsns;
	q->data_size = b->data_size;
	q->code = new_code(c, b, err);
	return q->code ? q : NULL;
}

/* ---- the lists of a block ---- */

/* In a block with guards, slots that nobody wants count too: they are what a guard is about. */
static bool is_taken(const struct vt_collect *c, const struct vt_bblock *b, const struct code *code,
		     const struct vt_slot *slot)
{
	if (vti_collect_passes(b, slot))
		return false;
	return code->guarded || vti_collect_wants(c, slot->what);
}

static bool add_takes(struct vt_collect *c, const struct vt_bblock *b, const struct code *code,
		      struct plan *plan, uint32_t slot)
{
	const struct vt_slot *s = &b->slots[slot];
	struct place at = {
		code->place.offset + (vt_bblock_insn_addr(b, s->insn) - b->addr),
		code->place.image,
	};
	uint32_t lane;

	for (lane = 0; lane < vti_collect_lanes(s); lane++) {
		struct take *t = &plan->takes[plan->ntakes++];
		uint32_t left = s->size - 8 * lane;

		*t = (struct take){
			.offset = s->offset + 8 * lane,
			.slot = (uint16_t)slot,
			.unused = (uint8_t)(left < 8 ? 64 - 8 * left : 0),
		};
		if (!vti_collect_wants(c, s->what))
			continue;
		t->list = vti_collect_list(c, &at, b->pid, plan->caller, s, lane);
		if (!t->list)
			return false;
	}
	return true;
}

static struct plan *new_plan(struct vt_collect *c, const struct vt_bblock *b,
			     const struct code *code, uint64_t caller, struct vt_error *err)
{
	const struct vt_slot target = {.what = VT_WHAT_TARGET, .size = 8};
	struct plan *plan;
	size_t n = 0;
	uint32_t i;
	bool ok;

	for (i = 0; i < b->nslots; i++)
		if (is_taken(c, b, code, &b->slots[i]))
			n += vti_collect_lanes(&b->slots[i]);
	plan = calloc(1, sizeof(*plan) + n * sizeof(struct take));
	if (!plan) {
		vt_error_nomem(err);
		return NULL;
	}
	plan->caller = caller;
	ok = true;
	for (i = 0; i < b->nslots && ok; i++)
		if (is_taken(c, b, code, &b->slots[i]))
			ok = add_takes(c, b, code, plan, i);
	if (ok && has_target(c, b)) {
		uint64_t last = vt_bblock_insn_addr(b, b->ninsns - 1);
		struct place at = {code->place.offset + (last - b->addr), code->place.image};

		plan->target = vti_collect_list(c, &at, b->pid, caller, &target, 0);
		ok = plan->target != NULL;
	}
	if (!ok) {
		free(plan);
		vt_error_nomem(err);
		return NULL;
	}
	return plan;
}

struct plan *vti_collect_find_plan(struct vt_collect *c, const struct vt_bblock *b,
				   struct code *code, uint64_t caller, struct vt_error *err)
{
	struct plan **at, *plan;

	for (at = &code->plans; *at && (*at)->caller != caller; at = &(*at)->next)
		;
	plan = *at;
	if (plan) {
		*at = plan->next;
	} else {
		plan = new_plan(c, b, code, caller, err);
		if (!plan)
			return NULL;
	}
	plan->next = code->plans;
	code->plans = plan;
	return plan;
}
