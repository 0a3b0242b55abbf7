/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/interp/teach.h"

#include <string.h>

#include "machine/interp/teach_internal.h"
#include "machine/lift/fastop.h"

#define MOST_STORES 16 /* later stores that are kept in mind; with more, memory is not taught */

/* What was overwritten between an operation and the exit that is being looked at. */
struct overwritten {
	uint64_t state[VTI_STATE_WORDS / 8 + 1]; /* a bit for each byte of the guest state */
	bool all_state;
	bool all_memory;
	unsigned nstores;
	struct {
		uint64_t addr;
		unsigned size;
	} stores[MOST_STORES];
};

static const void *data_of(const struct vti_op *op)
{
	const void *p;

	memcpy(&p, &op->imm, sizeof(p));
	return p;
}

/* ---- facts ---- */

static bool was_written(const struct vti_lesson *l, unsigned slot)
{
	return slot >= VTI_LESSON_SLOTS || l->written[slot / 64] >> slot % 64 & 1;
}

static struct vti_fact *open_fact(const struct vti_lesson *l, unsigned slot)
{
	unsigned i;

	for (i = 0; l->nopen && i < l->nfacts; i++) {
		if (l->facts[i].open && l->facts[i].slot == slot)
			return (struct vti_fact *)&l->facts[i];
	}
	return NULL;
}

struct vt_word vti_lesson_word(const struct vti_lesson *l, unsigned slot)
{
	const struct vti_fact *f;

	if (slot == VTI_NO_SLOT)
		return vt_word_of(0);
	if (!was_written(l, slot))
		return l->block->slots[slot];
	f = open_fact(l, slot);
	return f ? f->word : (struct vt_word){0, 0};
}

/* The slots that an operation writes: *dst and as many as it returns. */
static unsigned written_by(const struct vti_op *op, unsigned *dst)
{
	const struct vti_cas *cas;
	const struct vti_call *call;

	*dst = op->dst;
	switch (op->op) {
	case VTI_MOVE1:
	case VTI_GETI:
		return 1;
	case VTI_MOVE2:
		return 2;
	case VTI_MOVE4:
		return 4;
	case VTI_ITE:
		return op->aux;
	case VTI_IROP:
		return ((const struct vti_irop *)data_of(op))->words;
	case VTI_UNKNOWN:
		return (op->aux + 7u) / 8;
	case VTI_LOADG:
		*dst = ((const struct vti_guarded *)data_of(op))->dst;
		return 4;
	case VTI_CCALL:
	case VTI_DIRTY:
		call = data_of(op);
		*dst = call->dst;
		return (call->result_size + 7u) / 8;
	case VTI_CAS:
		cas = data_of(op);
		*dst = cas->old[0];
		return 1;
	default:
		break;
	}
	if (op->op >= VTI_FAST)
		return vti_fast_words(op->op);
	if (op->op >= VTI_GET1 && op->op <= VTI_GET32)
		return ((1u << (op->op - VTI_GET1)) + 7) / 8;
	if (op->op >= VTI_LOAD1 && op->op <= VTI_LOAD32)
		return ((1u << (op->op - VTI_LOAD1)) + 7) / 8;
	return 0;
}

/* Whether an operation that writes `words` slots from `dst` on writes this one. */
static bool writes_to(const struct vti_op *op, unsigned dst, unsigned words, unsigned slot)
{
	const struct vti_cas *cas = op->op == VTI_CAS ? data_of(op) : NULL;

	return slot - dst < words ||
	       (cas && cas->expected[1] != VTI_NO_SLOT && slot == cas->old[1]);
}

static bool writes(const struct vti_op *op, unsigned slot)
{
	unsigned dst, words = written_by(op, &dst);

	return writes_to(op, dst, words, slot);
}

static void add_fact(struct vti_lesson *l, unsigned slot, struct vt_word w)
{
	struct vti_fact *f = &l->facts[l->nfacts];

	if (l->nfacts == VTI_LESSON_FACTS)
		return;
	*f = (struct vti_fact){.slot = (uint16_t)slot, .open = true, .to = l->exit, .word = w};
	if (was_written(l, slot)) {
		for (f->to = l->at; f->to < l->exit; f->to++) {
			if (writes(&l->block->ops[f->to], slot))
				break;
		}
	}
	l->nfacts++;
	l->nopen++;
}

void vti_lesson_learn(struct vti_lesson *l, unsigned slot, uint64_t value, uint64_t known)
{
	struct vt_word w = vti_lesson_word(l, slot);
	uint64_t news = known & ~w.known;
	struct vti_fact *f;

	if ((w.value ^ value) & w.known & known) {
		l->wrong = true;
		return;
	}
	/* What is unknown of a constant is so each time: it is another number then. */
	if (!news || slot < l->block->nconstants)
		return;
	w.known |= news;
	w.value |= value & news;
	if (!was_written(l, slot))
		l->block->slots[slot] = w;
	f = open_fact(l, slot);
	if (f)
		f->word = w;
	else
		add_fact(l, slot, w);
}

static void learn_word(struct vti_lesson *l, unsigned slot, struct vt_word w)
{
	vti_lesson_learn(l, slot, w.value, w.known);
}

static void note_slots(struct vti_lesson *l, unsigned slot, unsigned words)
{
	for (; words && slot < VTI_LESSON_SLOTS; words--, slot++)
		l->written[slot / 64] |= UINT64_C(1) << slot % 64;
}

static void note_written(struct vti_lesson *l, const struct vti_op *op)
{
	const struct vti_cas *cas = op->op == VTI_CAS ? data_of(op) : NULL;
	unsigned dst, words = written_by(op, &dst);

	note_slots(l, dst, words);
	if (cas && cas->expected[1] != VTI_NO_SLOT)
		note_slots(l, cas->old[1], 1);
}

/* ---- from results to operands ---- */

static void invert_choice(struct vti_lesson *l, const struct vti_op *op)
{
	bool not_b = false, not_c = false;
	struct vt_word guard;
	unsigned i;

	for (i = 0; i < op->aux && i < 4; i++) {
		struct vt_word r = l->result[i];
		struct vt_word b = vti_lesson_word(l, op->b + i);
		struct vt_word c = vti_lesson_word(l, op->c + i);

		not_b |= ((r.value ^ b.value) & r.known & b.known) != 0;
		not_c |= ((r.value ^ c.value) & r.known & c.known) != 0;
	}
	if (not_b || not_c)
		vti_lesson_learn(l, op->a, not_c, 1);
	guard = vti_lesson_word(l, op->a);
	if (!(guard.known & 1))
		return;
	for (i = 0; i < op->aux && i < 4; i++)
		learn_word(l, (guard.value & 1 ? op->b : op->c) + i, l->result[i]);
}

static void invert(struct vti_lesson *l, const struct vti_op *op, unsigned words)
{
	unsigned i;

	if (op->op == VTI_MOVE1 || op->op == VTI_MOVE2 || op->op == VTI_MOVE4) {
		for (i = 0; i < words; i++)
			learn_word(l, op->a + i, l->result[i]);
	} else if (op->op == VTI_ITE) {
		invert_choice(l, op);
	} else if (op->op == VTI_CCALL) {
		vti_lesson_call(l, data_of(op));
	} else if (op->op == VTI_IROP || op->op >= VTI_FAST) {
		vti_lesson_operator(l, op);
	}
}

static void walk_back(struct vti_lesson *l)
{
	while (l->at && l->nopen && !l->wrong) {
		const struct vti_op *op = &l->block->ops[--l->at];
		unsigned i, dst, words = written_by(op, &dst);
		unsigned all = words;
		bool found = false;

		if (!words)
			continue;
		if (words > 4)
			words = 4;
		for (i = 0; i < words; i++)
			l->result[i] = vti_lesson_word(l, dst + i);
		for (i = 0; i < l->nfacts; i++) {
			struct vti_fact *f = &l->facts[i];

			if (!f->open || !writes_to(op, dst, all, f->slot))
				continue;
			f->open = false;
			f->from = l->at;
			l->nopen--;
			found = true;
		}
		note_written(l, op);
		if (found)
			invert(l, op, words);
	}
}

/* ---- from temporaries to the guest state and to memory ---- */

/* What was taught of a slot that operation `op` reads, or writes. */
static const struct vti_fact *fact_of(const struct vti_lesson *l, uint32_t op, unsigned slot,
				      bool written)
{
	unsigned i;

	for (i = 0; i < l->nfacts; i++) {
		const struct vti_fact *f = &l->facts[i];

		if (f->slot != slot)
			continue;
		if (written ? !f->open && f->from == op : op <= f->to && (f->open || op > f->from))
			return f;
	}
	return NULL;
}

static bool state_kept(const struct overwritten *o, unsigned offset, unsigned size)
{
	if (o->all_state)
		return false;
	if (offset % 64 + size <= 64)
		return !(o->state[offset / 64] & vt_low_bits(size) << offset % 64);
	for (; size; size--, offset++) {
		if (o->state[offset / 64] >> offset % 64 & 1)
			return false;
	}
	return true;
}

static void state_lost(struct overwritten *o, unsigned offset, unsigned size)
{
	if (offset % 64 + size <= 64 && offset < 64 * (sizeof(o->state) / sizeof(*o->state))) {
		o->state[offset / 64] |= vt_low_bits(size) << offset % 64;
		return;
	}
	for (; size && offset < 64 * (sizeof(o->state) / sizeof(*o->state)); size--, offset++)
		o->state[offset / 64] |= UINT64_C(1) << offset % 64;
}

static void teach_state(struct vti_lesson *l, struct vt_interp *m, const struct overwritten *o,
			uint32_t op, unsigned slot, unsigned size, bool get)
{
	unsigned offset = (unsigned)l->block->ops[op].imm;
	unsigned i, n = size < 8 ? size : 8, shift = 8 * (offset % 8);

	for (i = 0; i < size; i += n, slot++, offset += n) {
		const struct vti_fact *f = fact_of(l, op, slot, get);
		struct vt_word *s = &m->state[offset / 8];
		uint64_t known;

		if (!f || !state_kept(o, offset, n))
			continue;
		known = (f->word.known & vt_low_bits(8 * n)) << shift;
		if ((s->value ^ f->word.value << shift) & s->known & known)
			l->wrong = true;
		known &= ~s->known;
		m->ntaught += known != 0;
		s->known |= known;
		s->value |= f->word.value << shift & known;
	}
}

/* An address at the operation at hand, unless its slot has got another temporary since. */
static struct vt_word address_in(const struct vti_lesson *l, unsigned slot)
{
	return was_written(l, slot) ? (struct vt_word){0, 0} : l->block->slots[slot];
}

static bool memory_kept(const struct overwritten *o, uint64_t addr, unsigned size)
{
	unsigned i;

	if (o->all_memory)
		return false;
	for (i = 0; i < o->nstores; i++) {
		if (o->stores[i].addr - addr < size || addr - o->stores[i].addr < o->stores[i].size)
			return false;
	}
	return true;
}

static void memory_lost(struct overwritten *o, struct vt_word addr, unsigned size)
{
	if (!vt_word_is_known(addr) || o->nstores == MOST_STORES) {
		o->all_memory = true;
		return;
	}
	o->stores[o->nstores].addr = addr.value;
	o->stores[o->nstores++].size = size;
}

static void teach_memory(struct vti_lesson *l, struct vt_interp *m, const struct overwritten *o,
			 uint32_t op, unsigned slot, unsigned size, bool load)
{
	struct vt_word addr = address_in(l, l->block->ops[op].a), words[4];
	unsigned i, n = (size + 7) / 8;
	bool any = false;

	for (i = 0; i < n; i++)
		any |= fact_of(l, op, slot + i, load) != NULL;
	if (!any || !vt_word_is_known(addr) || !memory_kept(o, addr.value, size))
		return;
	vt_known_memory_load(m->mem, addr.value, size, words);
	for (i = 0; i < n; i++) {
		const struct vti_fact *f = fact_of(l, op, slot + i, load);

		if (!f)
			continue;
		if ((words[i].value ^ f->word.value) & words[i].known & f->word.known)
			l->wrong = true;
		words[i].value |= f->word.value & ~words[i].known;
		words[i].known |= f->word.known;
	}
	m->ntaught += !l->wrong;
	if (!l->wrong)
		vt_known_memory_store(m->mem, addr.value, size, words);
}

/* Helpers and what else is rare: what they may have overwritten. */
static void lose_other(struct vti_lesson *l, struct overwritten *o, const struct vti_op *op)
{
	const struct vti_call *call;
	const struct vti_cas *cas;
	const struct vti_guarded *g;
	const struct vti_array *array;
	unsigned i;

	switch (op->op) {
	case VTI_PUTI:
		array = data_of(op);
		state_lost(o, array->base, (unsigned)array->count * array->size);
		break;
	case VTI_DIRTY:
		call = data_of(op);
		for (i = 0; i < call->nstate; i++) {
			if (call->state[i].effect & 2)
				state_lost(o, call->state[i].offset, call->state[i].size);
		}
		if (call->memory & 2)
			memory_lost(o, address_in(l, call->address), call->size);
		break;
	case VTI_CAS:
		cas = data_of(op);
		memory_lost(o, address_in(l, cas->address), 2u * cas->size);
		break;
	case VTI_STOREG:
		g = data_of(op);
		memory_lost(o, address_in(l, g->address), g->size);
		break;
	case VTI_UNLIFTED:
		o->all_state = o->all_memory = true;
		break;
	default:
		break;
	}
}

static void tell_op(struct vti_lesson *l, struct vt_interp *m, struct overwritten *o, uint32_t op)
{
	const struct vti_op *p = &l->block->ops[op];
	unsigned size;

	if (p->op >= VTI_GET1 && p->op <= VTI_GET32) {
		teach_state(l, m, o, op, p->dst, 1u << (p->op - VTI_GET1), true);
	} else if (p->op >= VTI_PUT1 && p->op <= VTI_PUT32) {
		size = 1u << (p->op - VTI_PUT1);
		teach_state(l, m, o, op, p->a, size, false);
		state_lost(o, (unsigned)p->imm, size);
	} else if (p->op >= VTI_LOAD1 && p->op <= VTI_LOAD32) {
		if (!writes(p, p->a))
			teach_memory(l, m, o, op, p->dst, 1u << (p->op - VTI_LOAD1), true);
	} else if (p->op >= VTI_STORE1 && p->op <= VTI_STORE32) {
		size = 1u << (p->op - VTI_STORE1);
		teach_memory(l, m, o, op, p->b, size, false);
		memory_lost(o, address_in(l, p->a), size);
	} else {
		lose_other(l, o, p);
	}
}

/* Nothing has been written yet, seen from the exit backwards. */
static void clear_written(struct vti_lesson *l)
{
	size_t n = (l->block->nslots + 63u) / 64;

	memset(l->written, 0,
	       (n < VTI_LESSON_SLOTS / 64 ? n : VTI_LESSON_SLOTS / 64) * sizeof(*l->written));
}

static void tell(struct vti_lesson *l, struct vt_interp *m)
{
	struct overwritten o = {.nstores = 0};

	clear_written(l);
	l->nopen = 0;
	for (l->at = l->exit; l->at && !l->wrong;) {
		const struct vti_op *op = &l->block->ops[--l->at];

		tell_op(l, m, &o, l->at);
		note_written(l, op);
	}
}

/* More was learned than the condition and what it was computed from bit by bit. */
static bool is_news(const struct vti_lesson *l)
{
	unsigned i, bits;

	for (i = 0; i < l->nfacts; i++) {
		const struct vti_fact *f = &l->facts[i];
		const struct vti_op *op = &l->block->ops[f->from];

		if (f->open ||
		    (op->op != VTI_MOVE1 &&
		     (op->op < VTI_FAST || vti_compare_of(op, &bits) == VTI_COMPARE_OTHER)))
			return true;
	}
	return false;
}

bool vti_teach_slot(struct vt_interp *m, struct vti_block *b, uint32_t op, uint16_t slot,
		    struct vt_word w)
{
	struct vti_lesson l;

	l.block = b;
	l.exit = l.at = op;
	l.nfacts = l.nopen = 0;
	l.wrong = false;
	clear_written(&l);
	learn_word(&l, slot, w);
	walk_back(&l);
	if (!l.wrong && is_news(&l))
		tell(&l, m);
	return !l.wrong;
}

/* ---- exits ---- */

/*
 * Whether nothing follows from the way that was taken, in the common cases: of both numbers the
 * same bits are known, or they are different and could be so in several bits.
 */
static bool teaches_nothing(const struct vti_block *b, const struct vti_op *exit, bool taken)
{
	uint64_t all = vt_low_bits(exit->dst), unknown;
	struct vt_word x, y = vt_word_of(0);
	bool several;

	if (exit->d == VTI_EXIT_OTHER)
		return false;
	x = b->slots[exit->b];
	if (exit->c != VTI_NO_SLOT)
		y = b->slots[exit->c];
	unknown = all & ~(x.known & y.known);
	several = unknown & (unknown - 1);
	if (exit->d == (taken ? VTI_EXIT_DIFFERENT : VTI_EXIT_EQUAL))
		return several;
	if ((x.known ^ y.known) & all)
		return false;
	return exit->d != VTI_EXIT_ORDERED || (several && !((x.value ^ y.value) & all));
}

bool vti_teach(struct vt_interp *m, struct vti_block *b, uint32_t op, bool taken)
{
	if (teaches_nothing(b, &b->ops[op], taken))
		return true;
	return vti_teach_slot(m, b, op, b->ops[op].a, (struct vt_word){taken, 1});
}
