/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/interp/backward.h"

#include <string.h>

#include "machine/interp/backward_internal.h"
#include "machine/lift/fastop.h"

#define MOST_STORES 16 /* later stores that are remembered; beyond them, memory is not refined */

/* What was overwritten between the current operation and the exit. */
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

/* ---- inferences ---- */

static bool was_written(const struct vti_backward *bw, unsigned slot)
{
	return slot >= VTI_BACKWARD_SLOTS || bw->written[slot / 64] >> slot % 64 & 1;
}

static struct vti_inference *find_open_inference(const struct vti_backward *bw, unsigned slot)
{
	unsigned i;

	for (i = 0; bw->nopen && i < bw->ninferences; i++) {
		if (bw->inferences[i].open && bw->inferences[i].slot == slot)
			return (struct vti_inference *)&bw->inferences[i];
	}
	return NULL;
}

struct vt_word vti_backward_word(const struct vti_backward *bw, unsigned slot)
{
	const struct vti_inference *f;

	if (slot == VTI_NO_SLOT)
		return vt_word_of(0);
	if (!was_written(bw, slot))
		return bw->block->slots[slot];
	f = find_open_inference(bw, slot);
	return f ? f->word : (struct vt_word){0, 0};
}

/* The first slot that an operation writes, in *dst; returns how many it writes. */
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
	case VTI_EVEX:
		return op->aux;
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

/* True if an operation that writes `words` slots from `dst` on writes this one. */
static bool writes_to(const struct vti_op *op, unsigned dst, unsigned words, unsigned slot)
{
	const struct vti_cas *cas = op->op == VTI_CAS ? data_of(op) : NULL;

	return slot - dst < words ||
	       (cas && cas->expected[1] != VTI_NO_SLOT && slot == cas->old[1]);
}

static bool op_writes_slot(const struct vti_op *op, unsigned slot)
{
	unsigned dst, words = written_by(op, &dst);

	return writes_to(op, dst, words, slot);
}

static void add_inference(struct vti_backward *bw, unsigned slot, struct vt_word w)
{
	struct vti_inference *f = &bw->inferences[bw->ninferences];

	if (bw->ninferences == VTI_MAX_INFERENCES)
		return;
	*f = (struct vti_inference){
		.slot = (uint16_t)slot, .open = true, .to = bw->exit, .word = w};
	if (was_written(bw, slot)) {
		for (f->to = bw->at; f->to < bw->exit; f->to++) {
			if (op_writes_slot(&bw->block->ops[f->to], slot))
				break;
		}
	}
	bw->ninferences++;
	bw->nopen++;
}

void vti_refine_slot(struct vti_backward *bw, unsigned slot, uint64_t value, uint64_t known)
{
	struct vt_word w = vti_backward_word(bw, slot);
	uint64_t news = known & ~w.known;
	struct vti_inference *f;

	if ((w.value ^ value) & w.known & known) {
		bw->wrong = true;
		return;
	}
	/* The unknown bits of a constant may differ each time it is used. */
	if (!news || slot < bw->block->nconstants)
		return;
	w.known |= news;
	w.value |= value & news;
	if (!was_written(bw, slot))
		bw->block->slots[slot] = w;
	f = find_open_inference(bw, slot);
	if (f)
		f->word = w;
	else
		add_inference(bw, slot, w);
}

static void refine_word(struct vti_backward *bw, unsigned slot, struct vt_word w)
{
	vti_refine_slot(bw, slot, w.value, w.known);
}

static void note_slots(struct vti_backward *bw, unsigned slot, unsigned words)
{
	for (; words && slot < VTI_BACKWARD_SLOTS; words--, slot++)
		bw->written[slot / 64] |= UINT64_C(1) << slot % 64;
}

static void note_slot_writes(struct vti_backward *bw, const struct vti_op *op)
{
	const struct vti_cas *cas = op->op == VTI_CAS ? data_of(op) : NULL;
	unsigned dst, words = written_by(op, &dst);

	note_slots(bw, dst, words);
	if (cas && cas->expected[1] != VTI_NO_SLOT)
		note_slots(bw, cas->old[1], 1);
}

/* ---- from results to operands ---- */

static void infer_choice(struct vti_backward *bw, const struct vti_op *op)
{
	bool not_b = false, not_c = false;
	struct vt_word guard;
	unsigned i;

	for (i = 0; i < op->aux && i < 4; i++) {
		struct vt_word r = bw->result[i];
		struct vt_word b = vti_backward_word(bw, op->b + i);
		struct vt_word c = vti_backward_word(bw, op->c + i);

		not_b |= ((r.value ^ b.value) & r.known & b.known) != 0;
		not_c |= ((r.value ^ c.value) & r.known & c.known) != 0;
	}
	if (not_b || not_c)
		vti_refine_slot(bw, op->a, not_c, 1);
	guard = vti_backward_word(bw, op->a);
	if (!(guard.known & 1))
		return;
	for (i = 0; i < op->aux && i < 4; i++)
		refine_word(bw, (guard.value & 1 ? op->b : op->c) + i, bw->result[i]);
}

static void infer_from_operation(struct vti_backward *bw, const struct vti_op *op, unsigned words)
{
	unsigned i;

	if (op->op == VTI_MOVE1 || op->op == VTI_MOVE2 || op->op == VTI_MOVE4) {
		for (i = 0; i < words; i++)
			refine_word(bw, op->a + i, bw->result[i]);
	} else if (op->op == VTI_ITE) {
		infer_choice(bw, op);
	} else if (op->op == VTI_CCALL) {
		vti_infer_condition_operands(bw, data_of(op));
	} else if (op->op == VTI_IROP || op->op >= VTI_FAST) {
		vti_infer_operands(bw, op);
	}
}

static void walk_backwards(struct vti_backward *bw)
{
	while (bw->at && bw->nopen && !bw->wrong) {
		const struct vti_op *op = &bw->block->ops[--bw->at];
		unsigned i, dst, words = written_by(op, &dst);
		unsigned all = words;
		bool found = false;

		if (!words)
			continue;
		if (words > 4)
			words = 4;
		for (i = 0; i < words; i++)
			bw->result[i] = vti_backward_word(bw, dst + i);
		for (i = 0; i < bw->ninferences; i++) {
			struct vti_inference *f = &bw->inferences[i];

			if (!f->open || !writes_to(op, dst, all, f->slot))
				continue;
			f->open = false;
			f->from = bw->at;
			bw->nopen--;
			found = true;
		}
		note_slot_writes(bw, op);
		if (found)
			infer_from_operation(bw, op, words);
	}
}

/* ---- from temporaries to the guest state and to memory ---- */

/* The inference about a slot that operation `op` reads, or writes. */
static const struct vti_inference *find_inference(const struct vti_backward *bw, uint32_t op,
						  unsigned slot, bool written)
{
	unsigned i;

	for (i = 0; i < bw->ninferences; i++) {
		const struct vti_inference *f = &bw->inferences[i];

		if (f->slot != slot)
			continue;
		if (written ? !f->open && f->from == op : op <= f->to && (f->open || op > f->from))
			return f;
	}
	return NULL;
}

static bool is_state_kept(const struct overwritten *o, unsigned offset, unsigned size)
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

static void note_state_write(struct overwritten *o, unsigned offset, unsigned size)
{
	if (offset % 64 + size <= 64 && offset < 64 * (sizeof(o->state) / sizeof(*o->state))) {
		o->state[offset / 64] |= vt_low_bits(size) << offset % 64;
		return;
	}
	for (; size && offset < 64 * (sizeof(o->state) / sizeof(*o->state)); size--, offset++)
		o->state[offset / 64] |= UINT64_C(1) << offset % 64;
}

static void write_back_state(struct vti_backward *bw, struct vt_interp *m,
			     const struct overwritten *o, uint32_t op, unsigned slot, unsigned size,
			     bool get)
{
	unsigned offset = (unsigned)bw->block->ops[op].imm;
	unsigned i, n = size < 8 ? size : 8, shift = 8 * (offset % 8);

	for (i = 0; i < size; i += n, slot++, offset += n) {
		const struct vti_inference *f = find_inference(bw, op, slot, get);
		struct vt_word *s = &m->state[offset / 8];
		uint64_t known;

		if (!f || !is_state_kept(o, offset, n))
			continue;
		known = (f->word.known & vt_low_bits(8 * n)) << shift;
		if ((s->value ^ f->word.value << shift) & s->known & known)
			bw->wrong = true;
		known &= ~s->known;
		m->ninferred += known != 0;
		s->known |= known;
		s->value |= f->word.value << shift & known;
	}
}

/* An address at the current operation; unknown if its slot was written since. */
static struct vt_word address_in(const struct vti_backward *bw, unsigned slot)
{
	return was_written(bw, slot) ? (struct vt_word){0, 0} : bw->block->slots[slot];
}

static bool is_memory_kept(const struct overwritten *o, uint64_t addr, unsigned size)
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

static void note_memory_write(struct overwritten *o, struct vt_word addr, unsigned size)
{
	if (!vt_word_is_known(addr) || o->nstores == MOST_STORES) {
		o->all_memory = true;
		return;
	}
	o->stores[o->nstores].addr = addr.value;
	o->stores[o->nstores++].size = size;
}

static void write_back_memory(struct vti_backward *bw, struct vt_interp *m,
			      const struct overwritten *o, uint32_t op, unsigned slot,
			      unsigned size, bool load)
{
	struct vt_word addr = address_in(bw, bw->block->ops[op].a), words[4];
	unsigned i, n = (size + 7) / 8;
	bool any = false;

	for (i = 0; i < n; i++)
		any |= find_inference(bw, op, slot + i, load) != NULL;
	if (!any || !vt_word_is_known(addr) || !is_memory_kept(o, addr.value, size))
		return;
	vt_known_memory_load(m->mem, addr.value, size, words);
	for (i = 0; i < n; i++) {
		const struct vti_inference *f = find_inference(bw, op, slot + i, load);

		if (!f)
			continue;
		if ((words[i].value ^ f->word.value) & words[i].known & f->word.known)
			bw->wrong = true;
		words[i].value |= f->word.value & ~words[i].known;
		words[i].known |= f->word.known;
	}
	m->ninferred += !bw->wrong;
	if (!bw->wrong)
		vt_known_memory_store(m->mem, addr.value, size, words);
}

/* Notes what helpers and other rare operations may have overwritten. */
static void note_rare_writes(struct vti_backward *bw, struct overwritten *o,
			     const struct vti_op *op)
{
	const struct vti_call *call;
	const struct vti_cas *cas;
	const struct vti_guarded *g;
	const struct vti_array *array;
	unsigned i;

	switch (op->op) {
	case VTI_PUTI:
		array = data_of(op);
		note_state_write(o, array->base, (unsigned)array->count * array->size);
		break;
	case VTI_DIRTY:
		call = data_of(op);
		for (i = 0; i < call->nstate; i++) {
			if (call->state[i].effect & 2)
				note_state_write(o, call->state[i].offset, call->state[i].size);
		}
		if (call->memory & 2)
			note_memory_write(o, address_in(bw, call->address), call->size);
		break;
	case VTI_CAS:
		cas = data_of(op);
		note_memory_write(o, address_in(bw, cas->address), 2u * cas->size);
		break;
	case VTI_STOREG:
		g = data_of(op);
		note_memory_write(o, address_in(bw, g->address), g->size);
		break;
	case VTI_UNLIFTED:
	case VTI_EVEX:
		o->all_state = o->all_memory = true;
		break;
	default:
		break;
	}
}

static void write_back_at(struct vti_backward *bw, struct vt_interp *m, struct overwritten *o,
			  uint32_t op)
{
	const struct vti_op *p = &bw->block->ops[op];
	unsigned size;

	if (p->op >= VTI_GET1 && p->op <= VTI_GET32) {
		write_back_state(bw, m, o, op, p->dst, 1u << (p->op - VTI_GET1), true);
	} else if (p->op >= VTI_PUT1 && p->op <= VTI_PUT32) {
		size = 1u << (p->op - VTI_PUT1);
		write_back_state(bw, m, o, op, p->a, size, false);
		note_state_write(o, (unsigned)p->imm, size);
	} else if (p->op >= VTI_LOAD1 && p->op <= VTI_LOAD32) {
		if (!op_writes_slot(p, p->a))
			write_back_memory(bw, m, o, op, p->dst, 1u << (p->op - VTI_LOAD1), true);
	} else if (p->op >= VTI_STORE1 && p->op <= VTI_STORE32) {
		size = 1u << (p->op - VTI_STORE1);
		write_back_memory(bw, m, o, op, p->b, size, false);
		note_memory_write(o, address_in(bw, p->a), size);
	} else {
		note_rare_writes(bw, o, p);
	}
}

static void clear_written(struct vti_backward *bw)
{
	size_t n = (bw->block->nslots + 63u) / 64;

	memset(bw->written, 0,
	       (n < VTI_BACKWARD_SLOTS / 64 ? n : VTI_BACKWARD_SLOTS / 64) * sizeof(*bw->written));
}

static void write_back(struct vti_backward *bw, struct vt_interp *m)
{
	struct overwritten o = {.nstores = 0};

	clear_written(bw);
	bw->nopen = 0;
	for (bw->at = bw->exit; bw->at && !bw->wrong;) {
		const struct vti_op *op = &bw->block->ops[--bw->at];

		write_back_at(bw, m, &o, bw->at);
		note_slot_writes(bw, op);
	}
}

/* True if more was inferred than the condition and the bits that it was computed from. */
static bool infers_something(const struct vti_backward *bw)
{
	unsigned i, bits;

	for (i = 0; i < bw->ninferences; i++) {
		const struct vti_inference *f = &bw->inferences[i];
		const struct vti_op *op = &bw->block->ops[f->from];

		if (f->open ||
		    (op->op != VTI_MOVE1 &&
		     (op->op < VTI_FAST || vti_compare_of(op, &bits) == VTI_COMPARE_OTHER)))
			return true;
	}
	return false;
}

bool vti_infer_from_slot(struct vt_interp *m, struct vti_block *b, uint32_t op, uint16_t slot,
			 struct vt_word w)
{
	struct vti_backward bw;

	bw.block = b;
	bw.exit = bw.at = op;
	bw.ninferences = bw.nopen = 0;
	bw.wrong = false;
	clear_written(&bw);
	refine_word(&bw, slot, w);
	walk_backwards(&bw);
	if (!bw.wrong && infers_something(&bw))
		write_back(&bw, m);
	return !bw.wrong;
}

/* ---- exits ---- */

/*
 * True if nothing follows from the way that was taken, in the common cases: the same bits of both
 * numbers are known, or the numbers differ and several bits could be the one that differs.
 */
static bool infers_nothing(const struct vti_block *b, const struct vti_op *exit, bool taken)
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

bool vti_infer_from_exit(struct vt_interp *m, struct vti_block *b, uint32_t op, bool taken)
{
	if (infers_nothing(b, &b->ops[op], taken))
		return true;
	return vti_infer_from_slot(m, b, op, b->ops[op].a, (struct vt_word){taken, 1});
}
