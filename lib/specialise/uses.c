/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "specialise/uses.h"

#include <string.h>

/* Bounds on the search; a value is seldom kept in a register for longer. */
#define MAX_VISITS 256 /* instructions */
#define MAX_PATHS  32
#define MAX_DEPTH  3	/* of calls */
#define MAX_STEPS  1024 /* instructions, those of called procedures included */

#define BIT(reg) ((uint64_t)1 << (reg))

/* System V ABI for AMD64, 3.2.1 and 3.2.3. */
#define ARGUMENTS                                                                                  \
	(BIT(VT_REG_DI) | BIT(VT_REG_SI) | BIT(VT_REG_DX) | BIT(VT_REG_CX) | BIT(VT_REG_R8) |      \
	 BIT(VT_REG_R8 + 1) | (uint64_t)0xff << VT_REG_VECTOR)
#define PRESERVED                                                                                  \
	(BIT(VT_REG_BX) | BIT(VT_REG_BP) | BIT(VT_REG_SP) | (uint64_t)0xf << (VT_REG_R8 + 4))
/* What a system call changes: ibid., A.2.1. */
#define SYSCALL_CLOBBERS (BIT(VT_REG_AX) | BIT(VT_REG_CX) | BIT(VT_REG_R8 + 3))

#define MAX_PROLOGUE 16 /* instructions before a procedure with variable arguments looks at al */

#define STACK_PROTECTOR 0x28 /* offset from fs: gcc's and clang's, and glibc's tcbhead_t */

struct path {
	uint64_t vaddr;
	uint64_t regs; /* that hold the value */
};

struct walk {
	const struct vt_code *code;
	struct vt_uses *u;
	enum vt_use best; /* what u->where is of */
	int depth;
	bool saves; /* registers are saved in the frame for va_arg(), which is no use of them */
	unsigned *steps; /* that are left */
	size_t npaths;
	size_t nvisits;
	struct path paths[MAX_PATHS]; /* still to be followed */
	struct path visits[MAX_VISITS];
};

static bool decode_use_insn(const struct vt_code *code, uint64_t vaddr, struct vt_facts *f)
{
	size_t avail = 0;
	const uint8_t *p = code->bytes(code->arg, vaddr, &avail);

	return p && vt_facts_decode(p, avail < VT_MAX_INSN ? avail : VT_MAX_INSN, f);
}

/* The registers of an instruction's addresses. */
static uint64_t address_regs(const struct vt_facts *f)
{
	uint64_t regs = 0;
	unsigned i;

	for (i = 0; i < f->nmemories; i++) {
		if (f->memories[i].base < VT_NREGS)
			regs |= BIT(f->memories[i].base);
		if (f->memories[i].index < VT_NREGS)
			regs |= BIT(f->memories[i].index);
	}
	return regs;
}

/* xor eax, eax and its like read nothing, whatever the manual says. */
static bool is_zero_idiom(const struct vt_facts *f)
{
	static const char *const names[] = {"xor",   "sub", "pxor",   "xorps", "xorpd",
					    "vpxor", "sbb", "vxorps", "vxorpd"};
	uint64_t data = f->reads & ~BIT(VT_REG_FLAGS);
	size_t i;

	if (f->nmemories || f->has_immediate || !data || (data & (data - 1)))
		return false;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(f->mnemonic, names[i]))
			return true;
	return false;
}

static void push_path(struct walk *w, uint64_t vaddr, uint64_t regs)
{
	if (regs && w->npaths < MAX_PATHS)
		w->paths[w->npaths++] = (struct path){vaddr, regs};
}

/* True if the instruction was not yet looked at with all of these registers; notes that it was. */
static bool visit_place(struct walk *w, uint64_t vaddr, uint64_t regs)
{
	size_t i;

	for (i = 0; i < w->nvisits; i++) {
		if (w->visits[i].vaddr != vaddr)
			continue;
		if (!(regs & ~w->visits[i].regs))
			return false;
		w->visits[i].regs |= regs;
		return true;
	}
	if (w->nvisits == MAX_VISITS)
		return false;
	w->visits[w->nvisits++] = (struct path){vaddr, regs};
	return true;
}

/* A use whose place is worth telling; a divisor is worth more than a factor than a bound. */
static void note_use(struct walk *w, enum vt_use use, uint64_t vaddr, struct vt_number_type type)
{
	w->u->uses |= use;
	if (w->best && use >= w->best)
		return;
	w->best = use;
	w->u->where = vaddr;
	w->u->type = type;
}

/*
 * A comparison: of the value with a constant or itself, it is a condition; with another variable,
 * in front of a branch back, it ends a loop.
 */
static void note_compare(struct walk *w, const struct vt_facts *f, uint64_t vaddr,
			 struct vt_number_type type)
{
	uint64_t data = f->reads & ~address_regs(f) & ~BIT(VT_REG_FLAGS);
	bool two = f->nmemories ? data != 0 : (data & (data - 1)) != 0;
	struct vt_facts next;

	if (!decode_use_insn(w->code, vaddr + f->length, &next) ||
	    !(next.flags & VT_FACT_CONDITIONAL))
		return;
	w->u->uses |= VT_USE_BRANCH;
	if (two && !f->has_immediate && next.has_target && next.target < 0)
		note_use(w, VT_USE_BOUND, vaddr, type);
}

/* What an instruction does with the value as an operand: a register, or the memory that it reads.
 */
static void note_operand(struct walk *w, const struct vt_facts *f, uint64_t vaddr, bool divisor,
			 struct vt_number_type type)
{
	if (divisor)
		note_use(w, VT_USE_DIVISOR, vaddr, f->divisor.type);
	else if (f->flags & VT_FACT_MULTIPLY)
		note_use(w, VT_USE_FACTOR, vaddr, type);
	else if (f->flags & VT_FACT_COMPARE)
		note_compare(w, f, vaddr, type);
	if (f->flags & VT_FACT_INDIRECT)
		w->u->uses |= VT_USE_TARGET;
}

static void follow_register(struct walk *w, const struct vt_facts *f, uint64_t vaddr, uint64_t hit)
{
	struct vt_number_type type = {.number = VT_NUMBER_INT};
	uint64_t address = address_regs(f);

	w->u->uses |= VT_USE_READ;
	if (hit & address)
		w->u->uses |= VT_USE_ADDRESS;
	if (!(hit & ~address))
		return;
	if (f->nresults)
		type = f->results[0].type;
	if (f->flags & VT_FACT_FLOAT)
		type.number = VT_NUMBER_FLOAT;
	note_operand(w, f, vaddr,
		     f->divisor.where == VT_WHERE_REGISTER && (hit & BIT(f->divisor.reg)), type);
}

/* The registers that hold the value after the instruction. */
static uint64_t registers_after(const struct vt_facts *f, uint64_t regs, uint64_t hit)
{
	bool copy = (f->flags & VT_FACT_MOVE) && !f->nmemories && hit && f->nresults == 1;

	regs &= ~f->writes;
	if (f->flags & VT_FACT_CALL)
		regs &= PRESERVED;
	if (f->flags & VT_FACT_SYSCALL)
		regs &= ~SYSCALL_CLOBBERS;
	if (copy && f->results[0].where == VT_WHERE_REGISTER)
		regs |= BIT(f->results[0].reg);
	return regs;
}

/*
 * A procedure with variable arguments begins by saving the registers that may pass them, those of
 * vectors if al is not 0 (System V ABI, 3.5.7).
 */
static bool is_variadic(const struct vt_code *code, uint64_t vaddr)
{
	struct vt_facts f;
	int i;

	for (i = 0; i < MAX_PROLOGUE && decode_use_insn(code, vaddr, &f); i++) {
		if ((f.flags & VT_FACT_COMPARE) && (f.reads & BIT(VT_REG_AX)))
			return true;
		if ((f.writes & BIT(VT_REG_AX)) || (f.flags & VT_FACT_BRANCH))
			return false;
		vaddr += f.length;
	}
	return false;
}

/* Whether an instruction only saves a register in the procedure's frame. */
static bool is_save(const struct vt_facts *f)
{
	return (f->flags & VT_FACT_MOVE) && f->nmemories == 1 && f->memories[0].written &&
	       (f->memories[0].base == VT_REG_SP || f->memories[0].base == VT_REG_BP);
}

static void walk_paths(struct walk *w);

/* Whether a procedure that is called looks at the value; what it does with it is its own affair. */
static void follow_call(struct walk *w, uint64_t target, uint64_t regs)
{
	struct vt_uses inner = {0};
	/*
	 * Of what is called, a save in the frame alone says nothing: if it takes variable arguments
	 * but none in vector registers, it does not look at al.
	 */
	struct walk callee = {.code = w->code,
			      .u = &inner,
			      .depth = w->depth + 1,
			      .saves = true,
			      .steps = w->steps};

	if (w->depth >= MAX_DEPTH || !regs)
		return;
	push_path(&callee, target, regs);
	walk_paths(&callee);
	w->u->uses |= inner.uses & VT_USE_READ;
}

static void follow_path(struct walk *w, uint64_t vaddr, uint64_t regs)
{
	struct vt_facts f;

	while (regs && *w->steps && visit_place(w, vaddr, regs) &&
	       decode_use_insn(w->code, vaddr, &f)) {
		bool saved = w->saves && is_save(&f);
		uint64_t hit = saved || is_zero_idiom(&f) ? 0 : f.reads & regs;
		uint64_t target = vaddr + (uint64_t)f.target;

		--*w->steps;
		if (hit)
			follow_register(w, &f, vaddr, hit);
		if ((f.flags & VT_FACT_CALL) && f.has_target)
			follow_call(w, target, regs & ARGUMENTS);
		regs = registers_after(&f, regs, hit);
		if ((f.flags & VT_FACT_RETURN) || ((f.flags & VT_FACT_JUMP) && !f.has_target))
			return;
		if ((f.flags & VT_FACT_CONDITIONAL) && f.has_target)
			push_path(w, target, regs);
		vaddr = (f.flags & VT_FACT_JUMP) ? target : vaddr + f.length;
	}
}

static void walk_paths(struct walk *w)
{
	while (w->npaths) {
		struct path p = w->paths[--w->npaths];

		follow_path(w, p.vaddr, p.regs);
	}
}

/* The memory operand that is read, or NULL. */
static const struct vt_memory *find_read_memory(const struct vt_facts *f)
{
	unsigned i;

	for (i = 0; i < f->nmemories; i++)
		if (f->memories[i].read)
			return &f->memories[i];
	return NULL;
}

static enum vt_source find_address_source(const struct vt_facts *f, const struct vt_memory *m)
{
	if ((f->flags & (VT_FACT_POP | VT_FACT_RETURN)) || !strcmp(f->mnemonic, "leave"))
		return VT_SOURCE_RESTORED;
	if (m->segment == VT_REG_FS && m->base >= VT_NREGS && m->index >= VT_NREGS &&
	    m->displacement == STACK_PROTECTOR)
		return VT_SOURCE_RESTORED;
	if (m->segment == VT_REG_FS || m->segment == VT_REG_GS || m->index < VT_NREGS)
		return VT_SOURCE_MEMORY;
	if (m->base == VT_REG_SP || m->base == VT_REG_BP)
		return VT_SOURCE_STACK;
	return m->base == VT_REG_IP || m->base >= VT_NREGS ? VT_SOURCE_FIXED : VT_SOURCE_MEMORY;
}

enum vt_source vt_uses_of_load(const struct vt_code *code, uint64_t vaddr, struct vt_uses *u)
{
	unsigned steps = MAX_STEPS;
	struct walk w = {.code = code, .u = u, .steps = &steps};
	const struct vt_memory *m;
	struct vt_facts f;
	unsigned i;

	memset(u, 0, sizeof(*u));
	if (!decode_use_insn(code, vaddr, &f))
		return VT_SOURCE_UNKNOWN;
	m = find_read_memory(&f);
	if (!m)
		return VT_SOURCE_UNKNOWN;
	u->type = m->type;
	if (f.flags & VT_FACT_MOVE) {
		for (i = 0; i < f.nresults; i++)
			if (f.results[i].where == VT_WHERE_REGISTER)
				push_path(&w, vaddr + f.length, BIT(f.results[i].reg));
		walk_paths(&w);
	} else {
		u->uses |= VT_USE_READ;
		note_operand(&w, &f, vaddr, f.divisor.where == VT_WHERE_MEMORY, m->type);
	}
	return find_address_source(&f, m);
}

bool vt_load_vaddr(const struct vt_code *code, uint64_t vaddr, uint64_t *from)
{
	const struct vt_memory *m;
	struct vt_facts f;

	if (!decode_use_insn(code, vaddr, &f))
		return false;
	m = find_read_memory(&f);
	if (!m || find_address_source(&f, m) != VT_SOURCE_FIXED)
		return false;
	*from = (uint64_t)m->displacement;
	if (m->base == VT_REG_IP)
		*from += vaddr + f.length;
	return true;
}

static void follow_value(const struct vt_code *code, uint64_t vaddr, unsigned reg, bool variadic,
			 struct vt_uses *u)
{
	unsigned steps = MAX_STEPS;
	struct walk w = {.code = code, .u = u, .saves = variadic, .steps = &steps};

	memset(u, 0, sizeof(*u));
	if (reg >= VT_NREGS)
		return;
	push_path(&w, vaddr, BIT(reg));
	walk_paths(&w);
}

void vt_uses_of_argument(const struct vt_code *code, uint64_t vaddr, unsigned reg,
			 struct vt_uses *u)
{
	follow_value(code, vaddr, reg, is_variadic(code, vaddr), u);
}

void vt_uses_of_result(const struct vt_code *code, uint64_t vaddr, unsigned reg, struct vt_uses *u)
{
	struct vt_facts f;

	memset(u, 0, sizeof(*u));
	if (decode_use_insn(code, vaddr, &f))
		follow_value(code, vaddr + f.length, reg, false, u);
}

bool vt_code_is_call(const struct vt_code *code, uint64_t vaddr)
{
	struct vt_facts f;

	return decode_use_insn(code, vaddr, &f) && (f.flags & VT_FACT_CALL);
}

uint64_t vt_code_called(const struct vt_code *code, uint64_t vaddr)
{
	struct vt_facts f;

	return decode_use_insn(code, vaddr, &f) && (f.flags & VT_FACT_CALL) && f.has_target
		       ? vaddr + (uint64_t)f.target
		       : 0;
}

bool vt_code_computes(const struct vt_code *code, uint64_t vaddr)
{
	struct vt_facts f;

	if (!decode_use_insn(code, vaddr, &f) || (f.flags & VT_FACT_MOVE) || is_zero_idiom(&f))
		return false;
	return (f.flags & VT_FACT_LOAD) || (f.reads & ~BIT(VT_REG_IP));
}
