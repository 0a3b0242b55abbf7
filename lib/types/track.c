/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "types/track.h"

#include <stdlib.h>
#include <string.h>

#define WORD 8

bool vti_is_plain_move(const struct vt_facts *f)
{
	return f->flags & VT_FACT_MOVE && f->nresults <= 1 && f->nmemories <= 1 &&
	       strncmp(f->mnemonic, "mov", 3) == 0;
}

void vti_track_forget(struct vti_track *k, uint64_t written)
{
	unsigned reg;

	for (reg = 0; reg < VTI_TRACK_REGS; reg++)
		if (written >> reg & 1)
			k->regs[reg].object = NULL;
}

/* ---- memory operands ---- */

/* Finds what is at a distance from what a register points to. */
static enum vt_untyped find_behind(const struct vti_track *k, const struct vt_memory *m,
				   struct vt_variable *v, uint64_t *offset, bool *through)
{
	const struct vti_pointer *p = m->base < VTI_TRACK_REGS ? &k->regs[m->base] : NULL;
	uint64_t at;

	if (!p || !p->object)
		return VT_UNTYPED_NO_VARIABLE;
	at = (uint64_t)p->offset + (uint64_t)m->displacement;
	if ((int64_t)at < 0 || !p->object->pub.sized ||
	    (at >= p->object->pub.size && !p->object->pub.array_tail))
		return VT_UNTYPED_OUTSIDE;
	*v = (struct vt_variable){"", NULL, &p->object->pub, false};
	*offset = at;
	*through = true;
	return VT_TYPED;
}

enum vt_untyped vti_track_operand(struct vt_types *t, const struct vti_track *k, uint64_t pc,
				  const struct vt_facts *f, struct vt_variable *v, uint64_t *offset,
				  bool *through)
{
	const struct vt_memory *m = &f->memories[0];
	uint64_t at = (uint64_t)m->displacement, size = m->size ? m->size : 1;
	enum vt_untyped why = VT_UNTYPED_NO_VARIABLE;

	*through = false;
	if (!f->nmemories || m->implied || m->segment != VT_REG_NONE || m->gather)
		return why;
	if (m->base == VT_REG_IP)
		at += pc + f->length;
	if (m->base == VT_REG_IP || m->base == VT_REG_NONE)
		why = vt_types_global(t, at, v, offset);
	else if (vt_reg_is_general(m->base))
		why = vt_types_operand(t, pc, m->base, m->displacement, size, v, offset, through);
	if (why == VT_UNTYPED_NO_VARIABLE)
		why = find_behind(k, m, v, offset, through);
	/* Compilers move constants from an index to the displacement, which may leave the array. */
	if (!why && m->index != VT_REG_NONE &&
	    (!*through || !v->type->sized || v->type->size != m->scale))
		return VT_UNTYPED_NO_VARIABLE;
	return why;
}

/* ---- instructions ---- */

struct vti_type *vti_type_returned(struct vt_types *t, uint64_t target, const char **procedure)
{
	Dwarf_Die callee;
	Dwarf_Addr entry;

	if (vti_function_at(t, target, &callee) || dwarf_entrypc(&callee, &entry) != 0 ||
	    entry != target)
		return NULL;
	*procedure = vti_die_name(&callee);
	return vti_type_at(t, &callee);
}

/* Returns what a pointer of a type points to. */
static struct vti_pointer points_to(struct vt_types *t, struct vti_type *pointer)
{
	struct vti_pointer p = {NULL, 0};

	if (pointer && pointer->pub.kind == VT_CTYPE_POINTER)
		p.object = vti_type_target(t, pointer);
	if (p.object && (!p.object->has_bare || p.object->incomplete))
		p.object = NULL;
	return p;
}

static struct vti_pointer loaded(struct vt_types *t, const struct vti_track *k, uint64_t pc,
				 const struct vt_facts *f)
{
	const struct vti_pointer nothing = {NULL, 0};
	struct vt_typeplace place;
	struct vt_variable v;
	uint64_t offset;
	bool through;

	if (f->memories[0].size != WORD || vti_track_operand(t, k, pc, f, &v, &offset, &through) ||
	    vt_type_place(t, v.type, offset, WORD, &place) || !place.type || place.several ||
	    place.offset)
		return nothing;
	return points_to(t, (struct vti_type *)place.type);
}

/* What a register points to, according to the instructions before or a variable's location. */
static struct vti_pointer in_register(struct vt_types *t, const struct vti_track *k, uint64_t pc,
				      unsigned reg)
{
	const struct vti_pointer nothing = {NULL, 0};
	struct vt_variable v;
	uint64_t offset;
	bool through;

	if (reg >= VTI_TRACK_REGS)
		return nothing;
	if (k->regs[reg].object || reg == VT_REG_SP || reg == VT_REG_BP)
		return k->regs[reg];
	if (vt_types_operand(t, pc, reg, 0, 1, &v, &offset, &through) != VT_TYPED || !through)
		return nothing;
	return (struct vti_pointer){(struct vti_type *)v.type, 0};
}

/* What the address that lea computes points to. */
static struct vti_pointer computed(struct vt_types *t, const struct vti_track *k, uint64_t pc,
				   const struct vt_facts *f)
{
	const struct vti_pointer nothing = {NULL, 0};
	struct vt_variable v;
	uint64_t offset;
	bool through;

	if (f->memories[0].index != VT_REG_NONE ||
	    vti_track_operand(t, k, pc, f, &v, &offset, &through))
		return nothing;
	return (struct vti_pointer){(struct vti_type *)v.type, (int64_t)offset};
}

static bool is_constant_step(const struct vt_facts *f)
{
	return f->has_immediate && !f->nmemories &&
	       (vt_facts_has_mnemonic(f, "add") || vt_facts_has_mnemonic(f, "sub"));
}

void vti_track_step(struct vt_types *t, struct vti_track *k, uint64_t pc, const struct vt_facts *f)
{
	struct vti_pointer p = {NULL, 0};
	const struct vt_operand *to = &f->results[0], *from = &f->sources[0];
	bool word = f->nresults && to->where == VT_WHERE_REGISTER && to->size == WORD &&
		    to->reg < VTI_TRACK_REGS;
	const char *name;

	if (f->flags & VT_FACT_CALL) {
		if (f->has_target)
			p = points_to(t, vti_type_returned(t, pc + (uint64_t)f->target, &name));
		vti_track_forget(k, VTI_CALL_CLOBBERS);
		k->regs[VT_REG_AX] = p;
		return;
	}
	if (word && f->flags & VT_FACT_LEA) {
		p = computed(t, k, pc, f);
	} else if (word && vti_is_plain_move(f)) {
		if (f->flags & VT_FACT_LOAD)
			p = loaded(t, k, pc, f);
		else if (f->nsources && from->where == VT_WHERE_REGISTER && from->size == WORD)
			p = in_register(t, k, pc, from->reg);
	} else if (word && is_constant_step(f)) {
		p = in_register(t, k, pc, to->reg);
		p.offset = (int64_t)((uint64_t)p.offset + (vt_facts_has_mnemonic(f, "add")
								   ? (uint64_t)f->immediate
								   : 0 - (uint64_t)f->immediate));
	}
	vti_track_forget(k, f->writes);
	if (word)
		k->regs[to->reg] = p;
}
