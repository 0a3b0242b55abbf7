/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/interp/memory.h"

#include <string.h>

#include <libvex_basictypes.h>
#include <libvex_ir.h>

#include "machine/lift/fastop.h"

static void set_words_unknown(struct vt_word *words, unsigned size)
{
	for (; size > 8; size -= 8)
		*words++ = vt_word_unknown(64);
	*words = vt_word_unknown(8 * size);
}

static bool equal_words(const struct vt_word *a, const struct vt_word *b, unsigned size)
{
	uint64_t differ = 0;
	unsigned i;

	for (i = 0; i < (size + 7) / 8; i++)
		differ |= (a[i].value ^ b[i].value) | (a[i].known ^ b[i].known);
	return !differ;
}

/* What a recording knows of a load is remembered: another will find it. */
void vti_ask_load(struct vt_interp *m, const struct vti_op *op, struct vt_word addr, unsigned size,
		  struct vt_word *words)
{
	struct vt_word before[4];

	vti_words_copy(before, words, (size + 7) / 8);
	m->hooks->load(m->hooks->arg, m->piece + op->insn, addr, size, words);
	if (vt_word_is_known(addr) && !equal_words(before, words, size))
		vt_known_memory_store(m->mem, addr.value, size, words);
}

void vti_load(struct vt_interp *m, const struct vti_op *op, struct vt_word addr, unsigned size,
	      struct vt_word *words)
{
	if (vt_word_is_known(addr))
		vt_known_memory_load(m->mem, addr.value, size, words);
	else
		set_words_unknown(words, size);
	if (m->hooks->load)
		vti_ask_load(m, op, addr, size, words);
}

void vti_store(struct vt_interp *m, struct vt_word addr, unsigned size, const struct vt_word *words)
{
	if (vt_word_is_known(addr))
		vt_known_memory_store(m->mem, addr.value, size, words);
	else
		vt_known_memory_forget(m->mem);
}

/* Perhaps it was stored, perhaps not: known is what is the same either way. */
static void store_perhaps(struct vt_interp *m, struct vt_word addr, unsigned size,
			  const struct vt_word *words)
{
	struct vt_word old[4] = {{0, 0}};
	unsigned i;

	if (vt_word_is_known(addr)) {
		vt_known_memory_load(m->mem, addr.value, size, old);
		for (i = 0; i < (size + 7) / 8; i++)
			old[i] = vti_fast_either(old[i], words[i]);
	}
	vti_store(m, addr, size, old);
}

static void store_if(struct vt_interp *m, struct vt_word guard, struct vt_word addr, unsigned size,
		     const struct vt_word *words)
{
	if (!vt_word_is_known(guard))
		store_perhaps(m, addr, size, words);
	else if (guard.value)
		vti_store(m, addr, size, words);
}

struct vt_word vti_guard(struct vt_interp *m, const struct vti_op *op, struct vt_word guard)
{
	bool done;

	if (m->hooks->guard && m->hooks->guard(m->hooks->arg, m->piece + op->insn, &done) &&
	    !vt_word_is_known(guard))
		return vt_word_of(done);
	return guard;
}

/* ---- compare and swap ---- */

/* Two halves of less than 8 bytes lie in one word of memory. */
static void put_together(const struct vti_cas *cas, const struct vt_word *slots,
			 const uint16_t *from, struct vt_word *words)
{
	words[0] = slots[from[0]];
	if (from[1] == VTI_NO_SLOT)
		return;
	if (cas->size == 8)
		words[1] = slots[from[1]];
	else
		words[0] = vti_fast_join(slots[from[1]], words[0], 8u * cas->size);
}

static void take_apart(const struct vti_cas *cas, struct vt_word *slots,
		       const struct vt_word *words)
{
	if (cas->old[1] == VTI_NO_SLOT) {
		slots[cas->old[0]] = words[0];
	} else if (cas->size == 8) {
		slots[cas->old[0]] = words[0];
		slots[cas->old[1]] = words[1];
	} else {
		slots[cas->old[0]] = vti_fast_cut(words[0], 8u * cas->size);
		slots[cas->old[1]] = vti_fast_field(words[0], 8u * cas->size, 8u * cas->size);
	}
}

/*
 * An instruction that would try again (op->aux) has succeeded: nobody came between, so that what it
 * loaded is still there.
 */
void vti_compare_and_swap(struct vt_interp *m, const struct vti_op *op, struct vt_word *slots)
{
	const struct vti_cas *cas = (const struct vti_cas *)op->data;
	bool two = cas->expected[1] != VTI_NO_SLOT;
	unsigned size = two ? 2u * cas->size : cas->size;
	struct vt_word expected[2] = {{0}}, data[2] = {{0}}, old[2] = {{0}}, guard;
	struct vt_word addr = slots[cas->address];

	put_together(cas, slots, cas->expected, expected);
	put_together(cas, slots, cas->data, data);
	if (op->aux) {
		take_apart(cas, slots, expected);
		vti_guard(m, op, vt_word_of(1));
		vti_store(m, addr, size, data);
		return;
	}
	vti_load(m, op, addr, size, old);
	guard = vti_fast_equal(old[0], expected[0]);
	if (size > 8)
		guard = vti_fast_and(guard, vti_fast_equal(old[1], expected[1]));
	take_apart(cas, slots, old);
	store_if(m, vti_guard(m, op, guard), addr, size, data);
}

/* ---- guarded accesses ---- */

static struct vt_word widen_load(struct vt_word w, unsigned conversion)
{
	switch (conversion) {
	case ILGop_16Sto32:
		return vti_fast_extend(w, 16, 32);
	case ILGop_8Sto32:
		return vti_fast_extend(w, 8, 32);
	default:
		return w;
	}
}

void vti_load_guarded(struct vt_interp *m, const struct vti_op *op, struct vt_word *slots)
{
	const struct vti_guarded *g = (const struct vti_guarded *)op->data;
	unsigned n = (g->size + 7u) / 8, i;
	struct vt_word guard = vti_guard(m, op, slots[g->guard]);
	const struct vt_word *instead = &slots[g->value];
	struct vt_word *dst = &slots[g->dst];
	struct vt_word words[4];

	if (vt_word_is_known(guard) && !guard.value) {
		memmove(dst, instead, n * sizeof(*dst));
		return;
	}
	vti_load(m, op, slots[g->address], g->size, words);
	words[0] = widen_load(words[0], g->conversion);
	for (i = 0; i < n; i++)
		dst[i] = vt_word_is_known(guard) ? words[i] : vti_fast_either(words[i], instead[i]);
}

void vti_store_guarded(struct vt_interp *m, const struct vti_op *op, struct vt_word *slots)
{
	const struct vti_guarded *g = (const struct vti_guarded *)op->data;

	store_if(m, vti_guard(m, op, slots[g->guard]), slots[g->address], g->size,
		 &slots[g->value]);
}

/* ---- rings of the guest state ---- */

static unsigned get_ring_offset(const struct vti_array *a, struct vt_word index)
{
	uint32_t at = (uint32_t)index.value + (uint32_t)(int32_t)a->bias;

	return a->base + at % a->count * a->size;
}

void vti_get_element(struct vt_interp *m, const struct vti_op *op, struct vt_word *slots)
{
	const struct vti_array *a = (const struct vti_array *)op->data;

	if (vt_word_is_known(slots[op->a]))
		vti_state_get(m, get_ring_offset(a, slots[op->a]), a->size, &slots[op->dst]);
	else
		set_words_unknown(&slots[op->dst], a->size);
}

void vti_put_element(struct vt_interp *m, const struct vti_op *op, const struct vt_word *slots)
{
	const struct vti_array *a = (const struct vti_array *)op->data;

	if (vt_word_is_known(slots[op->a]))
		vti_state_put(m, get_ring_offset(a, slots[op->a]), a->size, &slots[op->b]);
	else
		vti_state_forget(m, a->base, (unsigned)a->count * a->size);
}

/* ---- what VEX does not know ---- */

#define AT(field) ((unsigned)offsetof(VexGuestAMD64State, guest_##field))

static void forget_flags(struct vt_interp *m)
{
	vti_state_forget(m, AT(CC_OP), 4 * 8);
}

void vti_run_unlifted(struct vt_interp *m, const struct vti_unlifted *u)
{
	unsigned reg, lane;

	for (reg = 0; reg < VT_NREGS; reg++) {
		if (!(u->writes >> reg & 1) || reg == VT_REG_IP || reg == VT_REG_FLAGS)
			continue;
		for (lane = 0; lane < VTI_ZMM_WORDS; lane++)
			vt_interp_set(m, reg, lane, vt_word_unknown(64));
	}
	if (u->writes_flags || u->writes >> VT_REG_FLAGS & 1)
		forget_flags(m);
	if (u->writes_fp) {
		vti_state_forget(m, AT(FTOP), AT(EMNOTE) - AT(FTOP));
		vti_set_mxcsr(m, m->opt.mxcsr);
	}
	if (u->writes_memory)
		vt_known_memory_forget(m->mem);
}
