/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flow/leave.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/hash.h"
#include "flow/state_internal.h"
#include "image/procdata.h"

#define MAX_INSNS 1000

/* Bytes of the stack that are followed: more than perf copies. */
#define MAX_STACK (1 << 16)

/* Words that the code stores to, where it may have saved registers before. */
#define MAX_STORES 16

/* A way through the code that was not followed yet. */
struct path {
	uint64_t address;
	struct vti_flowstate state;
};

struct leaving {
	const struct vt_leave *how;
	uint64_t sp; /* at the start */
	struct vti_memory memory;
	uint64_t stores[MAX_STORES]; /* addresses of words */
	unsigned nstores;
	struct vt_hash seen; /* addresses of instructions */
	struct path *paths;
	size_t npaths, cap;
	struct vt_unwind_regs caller; /* known == 0: no return was found yet */
	bool failed;		      /* out of memory, or returns disagree */
};

/* ---- memory ---- */

/* The stack above the pointer is constant for the code that leaves it. */
static bool is_known_stack(void *arg, uint64_t address)
{
	const struct leaving *l = arg;
	uint64_t value;
	unsigned i;

	if (address - l->sp >= MAX_STACK)
		return false;
	for (i = 0; i < l->nstores; i++)
		if (address - l->stores[i] + 7 < 15)
			return false;
	return l->how->load(l->how->arg, address, 1, &value);
}

static bool read_known_stack(void *arg, uint64_t address, unsigned size, uint64_t *value)
{
	const struct leaving *l = arg;

	return l->how->load(l->how->arg, address, size, value);
}

/* What an instruction writes is not what the copy of the stack has.  False: too many words. */
static bool note_stores(struct leaving *l, struct vti_flowstate *s, const struct vt_facts *f,
			uint64_t next)
{
	unsigned i;

	for (i = 0; i < f->nmemories; i++) {
		const struct vt_memory *m = &f->memories[i];
		struct vti_value a = vti_flowstate_address(s, m, next, &l->memory);

		if (!m->written || a.lo != a.hi || a.lo - l->sp >= MAX_STACK)
			continue;
		if (m->size > 8 || l->nstores == MAX_STORES)
			return false;
		l->stores[l->nstores++] = a.lo;
	}
	return true;
}

static size_t read_code(struct leaving *l, uint64_t address, uint8_t code[VT_MAX_INSN])
{
	const struct vt_imagedata *data;
	uint32_t image;
	uint64_t bias;

	if (!vt_procdata_find(l->how->images, l->how->space, l->how->pid, address, &image, &bias))
		return 0;
	data = vt_images_data(l->how->images, image);
	return data ? vt_imagedata_code(data, address - bias, code, VT_MAX_INSN) : 0;
}

static void note_insn(struct leaving *l, uint64_t address)
{
	if (l->how->visit)
		l->how->visit(l->how->visit_arg, address);
}

static bool follows_call(struct leaving *l, uint64_t address)
{
	uint8_t code[VT_MAX_INSN];
	struct vt_flow f;
	unsigned n;

	for (n = 2; n < 8; n++) {
		size_t size = read_code(l, address - n, code);

		if (size >= n && vt_flow_decode(code, n, &f) && f.length == n &&
		    (f.flags & VT_FACT_CALL)) {
			note_insn(l, address - n);
			return true;
		}
	}
	return false;
}

/* ---- the ways to a return ---- */

static bool get_number(const struct vti_flowstate *s, unsigned reg, uint64_t *value)
{
	struct vti_value v = vti_flowstate_get(s, reg, 64);

	*value = v.lo;
	return v.lo == v.hi && !v.entry;
}

/* The registers after a return; another way that leads to another place is a contradiction. */
static void take_return(struct leaving *l, const struct vti_flowstate *s)
{
	const uint8_t *preserved = vt_unwind_preserved;
	struct vt_unwind_regs r = {.known = 1u << VT_REG_SP | 1u << VT_REG_IP};
	uint64_t slot, value;
	size_t i;

	if (!get_number(s, VT_REG_SP, &slot) || slot - l->sp >= MAX_STACK ||
	    !l->how->load(l->how->arg, slot, 8, &value) || !follows_call(l, value))
		return;
	r.value[VT_REG_SP] = slot + 8;
	r.value[VT_REG_IP] = value;
	for (i = 0; i < VT_UNWIND_PRESERVED; i++)
		if (get_number(s, preserved[i], &r.value[preserved[i]]))
			r.known |= 1u << preserved[i];
	if (l->caller.known && l->caller.value[VT_REG_SP] != slot + 8)
		l->failed = true;
	else if (!l->caller.known)
		l->caller = r;
	/* The registers that all ways restore alike. */
	for (i = 0; i < VT_UNWIND_PRESERVED; i++)
		if (l->caller.value[preserved[i]] != r.value[preserved[i]])
			l->caller.known &= ~(1u << preserved[i]);
	l->caller.known &= r.known;
}

static void add_path(struct leaving *l, const struct vti_flowstate *s, uint64_t address)
{
	if (!vt_array_grow(&l->paths, &l->cap, l->npaths + 1, sizeof(*l->paths))) {
		l->failed = true;
		return;
	}
	l->paths[l->npaths].address = address;
	l->paths[l->npaths++].state = *s;
}

/* A called procedure does not change what was saved on the stack before. */
static void step_over_call(struct leaving *l, struct vti_flowstate *s, const struct vt_facts *f,
			   uint64_t at)
{
	const struct vti_flowstate before = *s;
	unsigned i;

	vti_flowstate_step(s, f, at, (uint32_t)at, &l->memory);
	for (i = 0; i < before.ncells; i++) {
		const struct vti_flowcell *c = &before.cells[i];

		if (!c->sym && c->value.lo == c->value.hi && s->ncells < VTI_STATE_CELLS)
			s->cells[s->ncells++] = *c;
	}
}

/* Applies an instruction.  Returns false at the end of the way. */
static bool follow_insn(struct leaving *l, struct path *p)
{
	uint8_t code[VT_MAX_INSN];
	size_t size = read_code(l, p->address, code);
	uint64_t at = p->address;
	struct vt_facts f;
	struct vt_flow flow;

	if (!vt_facts_decode(code, size, &f) || !vt_flow_decode(code, size, &flow) || flow.stops)
		return false;
	note_insn(l, at);
	if (f.flags & VT_FACT_RETURN) {
		take_return(l, &p->state);
		return false;
	}
	p->address = at + f.length;
	if (f.flags & VT_FACT_JUMP) {
		p->address = at + (uint64_t)f.target;
		return f.has_target;
	}
	if (f.flags & VT_FACT_CONDITIONAL) {
		if (f.has_target)
			add_path(l, &p->state, at + (uint64_t)f.target);
		return true;
	}
	if (!note_stores(l, &p->state, &f, p->address))
		return false;
	if (f.flags & VT_FACT_CALL)
		step_over_call(l, &p->state, &f, at);
	else
		vti_flowstate_step(&p->state, &f, at, (uint32_t)at, &l->memory);
	return true;
}

static void follow_paths(struct leaving *l)
{
	struct path p;
	bool added;

	while (l->npaths && !l->failed) {
		p = l->paths[--l->npaths];
		do {
			if (l->seen.count == MAX_INSNS)
				return;
			added = false;
			if (!vt_hash_add(&l->seen, &p.address, &added))
				l->failed = true;
		} while (added && !l->failed && follow_insn(l, &p));
	}
}

bool vt_leave_by_code(const struct vt_leave *how, struct vt_unwind_regs *regs)
{
	struct leaving l = {.how = how, .sp = regs->value[VT_REG_SP]};
	struct vti_flowstate s;
	struct vti_value v;
	unsigned reg;

	if (vt_procdata_has_frame(how->images, how->space, how->pid, regs->value[VT_REG_IP]))
		return false;
	l.memory = (struct vti_memory){&l, is_known_stack, read_known_stack};
	vt_hash_init(&l.seen, sizeof(uint64_t), sizeof(uint64_t));
	vti_flowstate_start(&s);
	for (reg = 0; reg < VT_UNWIND_REGS; reg++) {
		if (!vt_reg_is_general(reg) || !(regs->known >> reg & 1))
			continue;
		v = vti_value_constant(regs->value[reg]);
		vti_flowstate_put(&s, reg, &v);
	}
	add_path(&l, &s, regs->value[VT_REG_IP]);
	follow_paths(&l);
	vt_hash_fini(&l.seen);
	free(l.paths);
	if (l.failed || !l.caller.known)
		return false;
	*regs = l.caller;
	return true;
}
