/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/lift/build.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <libvex_guest_amd64.h>

#include "machine/lift/inverse.h"

#define FLAGS_AT    ((unsigned)offsetof(VexGuestAMD64State, guest_CC_OP))
#define FLAGS_WORDS 4 /* cc_op, cc_dep1, cc_dep2, cc_ndep */
#define ALL_FLAGS   ((1u << FLAGS_WORDS) - 1)

/* ---- which slots an operation uses ---- */

/* Slots that an operation reads or writes: its own, or those of the structure behind `imm`. */
#define MAX_USES 20

/* One of them: a pointer into the operation or that structure, with its words. */
struct use {
	uint16_t *slot;
	uint8_t words;
	bool written;
};

static void add_use(struct use **u, uint16_t *slot, unsigned words, bool written)
{
	if (*slot != VTI_NO_SLOT && words)
		*(*u)++ = (struct use){slot, (uint8_t)words, written};
}

static void call_uses(struct vti_call *c, struct use **u)
{
	unsigned i;

	for (i = 0; i < c->nargs; i++)
		add_use(u, &c->args[i], 1, false);
	add_use(u, &c->guard, 1, false);
	add_use(u, &c->address, 1, false);
	add_use(u, &c->dst, (c->result_size + 7u) / 8, true);
}

static void cas_uses(struct vti_cas *c, struct use **u)
{
	unsigned i;

	add_use(u, &c->address, 1, false);
	for (i = 0; i < 2; i++) {
		add_use(u, &c->expected[i], 1, false);
		add_use(u, &c->data[i], 1, false);
		add_use(u, &c->old[i], 1, true);
	}
}

static unsigned find_uses(struct vti_build_op *op, uint8_t *more, struct use uses[MAX_USES])
{
	struct use *u = uses;
	struct vti_guarded *g;

	switch (op->op.op) {
	case VTI_CCALL:
	case VTI_DIRTY:
		call_uses((struct vti_call *)(void *)(more + op->op.imm), &u);
		break;
	case VTI_CAS:
		cas_uses((struct vti_cas *)(void *)(more + op->op.imm), &u);
		break;
	case VTI_LOADG:
	case VTI_STOREG:
		g = (struct vti_guarded *)(void *)(more + op->op.imm);
		add_use(&u, &g->address, 1, false);
		add_use(&u, &g->guard, 1, false);
		add_use(&u, &g->value, (g->size + 7u) / 8, false);
		if (op->op.op == VTI_LOADG)
			add_use(&u, &g->dst, (g->size + 7u) / 8, true);
		break;
	default:
		add_use(&u, &op->op.a, op->words.a, false);
		add_use(&u, &op->op.b, op->words.b, false);
		add_use(&u, &op->op.c, op->words.c, false);
		add_use(&u, &op->op.d, op->words.d, false);
		add_use(&u, &op->op.dst, op->words.dst, true);
		break;
	}
	return (unsigned)(u - uses);
}

/* ---- what exits compare ---- */

/*
 * Nearly every branch compares two numbers, and mostly nothing follows from the way that it takes:
 * that is seen at once if the exit itself knows what it compares.
 */

/* The operation that makes a temporary; SIZE_MAX: none does. */
static size_t maker_of(const struct vti_build *b, size_t before, uint16_t slot)
{
	while (before-- > 0)
		if (b->ops[before].words.dst == 1 && b->ops[before].op.dst == slot)
			return before;
	return SIZE_MAX;
}

static enum vti_compare get_exit_compare(const struct vti_op *op, unsigned *bits)
{
	if (op->op == VTI_MOVE1)
		return VTI_COMPARE_BIT;
	return op->op >= VTI_FAST ? vti_compare_of(op, bits) : VTI_COMPARE_OTHER;
}

static void note_exit(const struct vti_build *b, size_t exit)
{
	struct vti_build_op *e = &b->ops[exit];
	const struct vti_op *op = NULL;
	enum vti_compare how = VTI_COMPARE_BIT;
	uint16_t slot = e->op.a;
	unsigned bits = 0;
	bool inverted = false;
	size_t at = exit;

	while (how == VTI_COMPARE_BIT || how == VTI_COMPARE_NOT) {
		at = maker_of(b, at, slot);
		if (at == SIZE_MAX)
			return;
		op = &b->ops[at].op;
		how = get_exit_compare(op, &bits);
		inverted ^= how == VTI_COMPARE_NOT;
		slot = op->a;
	}
	if (how == VTI_COMPARE_OTHER)
		return;
	inverted ^= how != VTI_COMPARE_EQUAL;
	e->op.d = how == VTI_COMPARE_ORDER ? VTI_EXIT_ORDERED
		  : inverted		   ? VTI_EXIT_DIFFERENT
					   : VTI_EXIT_EQUAL;
	e->op.dst = (uint16_t)bits;
	e->op.b = op->a;
	e->op.c = how == VTI_COMPARE_ZERO ? VTI_NO_SLOT : op->b;
	/* They keep their places up to here. */
	e->words.b = 1;
	e->words.c = how != VTI_COMPARE_ZERO;
}

static void note_exits(const struct vti_build *b)
{
	size_t i;

	for (i = 0; i < b->nops; i++)
		if (b->ops[i].op.op == VTI_EXIT)
			note_exit(b, i);
}

/* ---- what nobody needs ---- */

/* Of which words of the flag thunk a piece of the guest state has a part. */
static unsigned flags_in(uint64_t offset, unsigned size)
{
	unsigned i, mask = 0;

	for (i = 0; i < FLAGS_WORDS; i++) {
		unsigned at = FLAGS_AT + 8 * i;

		if (offset < at + 8 && offset + size > at)
			mask |= 1u << i;
	}
	return mask;
}

static bool only_computes(unsigned op)
{
	switch (op) {
	case VTI_GET1:
	case VTI_GET2:
	case VTI_GET4:
	case VTI_GET8:
	case VTI_GET16:
	case VTI_GET32:
	case VTI_MOVE1:
	case VTI_MOVE2:
	case VTI_MOVE4:
	case VTI_ITE:
	case VTI_GETI:
	case VTI_IROP:
	case VTI_UNKNOWN:
	case VTI_CCALL:
		return true;
	default:
		return op >= VTI_FAST;
	}
}

/* The words of the flag thunk that are needed in front of an operation, from those behind it. */
static unsigned flags_before(const struct vti_build *b, const struct vti_op *op, unsigned live)
{
	switch (op->op) {
	case VTI_GET1:
	case VTI_GET2:
	case VTI_GET4:
	case VTI_GET8:
	case VTI_GET16:
	case VTI_GET32:
		return live | flags_in(op->imm, 1u << (op->op - VTI_GET1));
	case VTI_PUT8:
		return live & ~flags_in(op->imm, 8);
	case VTI_CAPTURE_STATE:
		return live | flags_in(op->a, op->c);
	case VTI_UNLIFTED:
		return ((const struct vti_unlifted *)(const void *)(b->more.data + op->imm))
				       ->writes_flags
			       ? 0
			       : live;
	case VTI_STOP:
	case VTI_END:
	case VTI_EXIT:
	case VTI_DIRTY:
		return ALL_FLAGS;
	default:
		return live;
	}
}

/* Keeps what has effects, and what these need.  Where the thunk is overwritten, it is not needed.
 */
static void drop_dead(struct vti_build *b, bool *live)
{
	struct use uses[MAX_USES];
	unsigned flags = ALL_FLAGS;
	size_t i = b->nops;

	while (i-- > 0) {
		struct vti_build_op *op = &b->ops[i];
		unsigned k, w, n = find_uses(op, b->more.data, uses);
		bool needed = !only_computes(op->op.op);

		for (k = 0; k < n; k++)
			for (w = 0; uses[k].written && w < uses[k].words; w++)
				needed |= live[*uses[k].slot + w];
		if (op->op.op == VTI_PUT8 && flags_in(op->op.imm, 8) &&
		    !(flags & flags_in(op->op.imm, 8)))
			needed = false;
		if (!needed) {
			op->op.op = VTI_STOP;
			op->words = (struct vti_widths){.dst = UINT8_MAX};
			continue;
		}
		flags = flags_before(b, &op->op, flags);
		for (k = 0; k < n; k++)
			for (w = 0; !uses[k].written && w < uses[k].words; w++)
				live[*uses[k].slot + w] = true;
	}
}

static bool is_dropped(const struct vti_build_op *op)
{
	return op->op.op == VTI_STOP && op->words.dst == UINT8_MAX;
}

static void close_ranks(struct vti_build *b)
{
	size_t from, to = 0;
	uint32_t insn = 0;

	for (from = 0; from < b->nops; from++) {
		while (insn < b->emitted && b->insns[insn].first == from)
			b->insns[insn++].first = (uint32_t)to;
		if (!is_dropped(&b->ops[from]))
			b->ops[to++] = b->ops[from];
	}
	while (insn < b->emitted)
		b->insns[insn++].first = (uint32_t)to;
	b->nops = to;
}

/* ---- where temporaries are ---- */

#define MOST_WORDS 8 /* of a value */

struct placing {
	uint16_t *place; /* of each value, by its first slot; VTI_NO_SLOT: none yet */
	uint32_t *last;	 /* operation that uses it last, likewise */
	uint16_t *idle[MOST_WORDS + 1]; /* places of values of so many words that are over */
	size_t nidle[MOST_WORDS + 1];
	uint32_t nslots;
	uint32_t nconstants;
};

static void place_constants(const struct vti_build *b, const bool *live, struct placing *p)
{
	size_t at;
	unsigned w;

	for (at = 0; at < b->nslots; at += b->slots[at].words) {
		bool used = false;

		p->place[at] = VTI_NO_SLOT;
		for (w = 0; w < b->slots[at].words; w++)
			used |= live[at + w];
		if (!b->slots[at].constant || !used)
			continue;
		p->place[at] = (uint16_t)p->nslots;
		p->nslots += b->slots[at].words;
	}
}

static void find_last_uses(struct vti_build *b, struct placing *p)
{
	struct use uses[MAX_USES];
	size_t i;

	for (i = 0; i < b->nops; i++) {
		unsigned k, n = find_uses(&b->ops[i], b->more.data, uses);

		for (k = 0; k < n; k++)
			p->last[b->slots[*uses[k].slot].base] = (uint32_t)i;
	}
}

/*
 * A destination never shares a slot with an operand: places become idle when all of the operation's
 * slots have theirs.
 */
static void place_temps(struct vti_build *b, struct placing *p)
{
	struct use uses[MAX_USES];
	uint16_t over[MAX_USES];
	size_t i;

	for (i = 0; i < b->nops; i++) {
		unsigned k, nover = 0, n = find_uses(&b->ops[i], b->more.data, uses);

		for (k = 0; k < n; k++) {
			uint16_t slot = *uses[k].slot, base = b->slots[slot].base;
			unsigned words = b->slots[base].words;

			if (p->place[base] == VTI_NO_SLOT) {
				if (p->nidle[words]) {
					p->place[base] = p->idle[words][--p->nidle[words]];
				} else {
					p->place[base] = (uint16_t)p->nslots;
					p->nslots += words;
				}
			}
			*uses[k].slot = (uint16_t)(p->place[base] + (slot - base));
			if (p->last[base] == i && !b->slots[base].constant) {
				p->last[base] = UINT32_MAX;
				over[nover++] = base;
			}
		}
		for (k = 0; k < nover; k++) {
			unsigned words = b->slots[over[k]].words;

			p->idle[words][p->nidle[words]++] = p->place[over[k]];
		}
	}
}

/* ---- packing ---- */

static size_t round_up_16(size_t n)
{
	return (n + 15) & ~(size_t)15;
}

static struct vti_block *pack_block(const struct vti_build *b, const struct placing *p)
{
	size_t ops = round_up_16(sizeof(struct vti_block));
	size_t slots = round_up_16(ops + b->nops * sizeof(struct vti_op));
	size_t more = round_up_16(slots + p->nslots * sizeof(struct vt_word));
	size_t first = round_up_16(more + b->more.size);
	size_t offset = first + (b->emitted + 1) * sizeof(uint32_t);
	size_t size = offset + (b->emitted + 1) * sizeof(uint32_t);
	uint8_t *arena = calloc(1, size);
	struct vti_block *k = (struct vti_block *)(void *)arena;
	size_t i;

	if (!arena)
		return NULL;
	*k = (struct vti_block){.addr = b->addr,
				.ninsns = b->emitted,
				.nops = (uint32_t)b->nops,
				.nslots = p->nslots,
				.nconstants = p->nconstants,
				.nunlifted = b->nunlifted,
				.nunknown = b->nunknown,
				.ops = (struct vti_op *)(void *)(arena + ops),
				.slots = (struct vt_word *)(void *)(arena + slots),
				.first = (uint32_t *)(void *)(arena + first),
				.offset = (uint32_t *)(void *)(arena + offset),
				.bad = b->bad,
				.no_code = b->no_code,
				.memory = size,
				.arena = arena};
	if (b->more.size)
		memcpy(arena + more, b->more.data, b->more.size);
	for (i = 0; i < b->nops; i++) {
		struct vti_op op = b->ops[i].op;

		switch (op.op) {
		case VTI_GETI:
		case VTI_PUTI:
		case VTI_CCALL:
		case VTI_DIRTY:
		case VTI_CAS:
		case VTI_LOADG:
		case VTI_STOREG:
		case VTI_UNLIFTED:
		case VTI_EVEX:
			op.data = arena + more + op.imm;
			break;
		default:
			break;
		}
		k->ops[i] = op;
	}
	for (i = 0; i < b->nslots; i++)
		if (b->slots[i].constant && p->place[b->slots[i].base] != VTI_NO_SLOT)
			k->slots[p->place[b->slots[i].base] + (i - b->slots[i].base)] =
				b->slots[i].preset;
	for (i = 0; i < b->emitted; i++) {
		k->first[i] = b->insns[i].first;
		k->offset[i] = b->insns[i].offset;
	}
	k->first[i] = (uint32_t)b->nops;
	k->offset[i] = i < b->ninsns ? b->insns[i].offset : b->length;
	return k;
}

struct vti_block *vti_build_finish(struct vti_build *b)
{
	size_t n = b->nslots + 1;
	struct placing p = {.place = NULL};
	struct vti_block *k = NULL;
	bool *live = calloc(n, sizeof(*live));
	bool enough;
	unsigned i;

	p.place = calloc(n, sizeof(*p.place));
	p.last = calloc(n, sizeof(*p.last));
	enough = live && p.place && p.last;
	for (i = 1; i <= MOST_WORDS; i++) {
		p.idle[i] = calloc(n, sizeof(*p.idle[i]));
		enough = enough && p.idle[i];
	}
	if (enough && !b->failed && !b->more.failed) {
		note_exits(b);
		drop_dead(b, live);
		close_ranks(b);
		place_constants(b, live, &p);
		p.nconstants = p.nslots;
		find_last_uses(b, &p);
		place_temps(b, &p);
		k = pack_block(b, &p);
	}
	for (i = 1; i <= MOST_WORDS; i++)
		free(p.idle[i]);
	free(p.place);
	free(p.last);
	free(live);
	return k;
}
