/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "machine/insn/form_internal.h"
#include "machine/pipeline/core.h"
#include "machine/pipeline/opcache.h"
#include "machine/pipeline/opclass.h"
#include "machine/pipeline/timing.h"

/* Registers whose values no schedule follows. */
#define UNFOLLOWED                                                                                 \
	(UINT64_C(1) << VT_REG_IP | UINT64_C(1) << VT_REG_CS | UINT64_C(1) << VT_REG_SS |          \
	 UINT64_C(1) << VT_REG_DS | UINT64_C(1) << VT_REG_ES | UINT64_C(1) << VT_REG_FS |          \
	 UINT64_C(1) << VT_REG_GS)
#define STACK (UINT64_C(1) << VT_REG_SP)

static uint64_t bit(unsigned reg)
{
	return reg < VT_NREGS ? UINT64_C(1) << reg : 0;
}

/* ---- mnemonics ---- */

/* What they mean is being in a list. */
#define IS(text)     VTI_IS(text, 0)
#define BEGINS(text) VTI_BEGINS(text, 0)

#define FITS(words, mnemonic)                                                                      \
	(vti_word_find(words, sizeof(words) / sizeof((words)[0]), mnemonic) >= 0)

/* Those of SSE that compute one element leave the others of the register as they are. */
static const struct vti_word merging[] = {
	BEGINS("cvtsi2s"), BEGINS("cvtss2sd"), BEGINS("cvtsd2ss"), BEGINS("sqrts"),
	BEGINS("rcps"),	   BEGINS("rsqrts"),   BEGINS("rounds"),
};

/* Without the v of VEX: x ^ x, x - x and x > x are 0 whatever x is, and decoders know it. */
static const struct vti_word zeroing[] = {
	IS("xor"),   IS("sub"),	    IS("pxor"),	   IS("xorps"),	  IS("xorpd"),
	IS("psubb"), IS("psubw"),   IS("psubd"),   IS("psubq"),	  IS("pxord"),
	IS("pxorq"), IS("pcmpgtb"), IS("pcmpgtw"), IS("pcmpgtd"),
};

/* What only loads or stores, beside moves, pushes and pops. */
static const struct vti_word moving[] = {
	IS("lddqu"), IS("vlddqu"),	   IS("movbe"),		  IS("leave"), IS("stosb"),
	IS("stosw"), IS("stosd"),	   IS("stosq"),		  IS("lodsb"), IS("lodsw"),
	IS("lodsd"), IS("lodsq"),	   IS("movsb"),		  IS("movsw"), IS("movsq"),
	IS("movsd"), BEGINS("vbroadcast"), BEGINS("vpbroadcast"),
};

static const struct vti_word x87_moving[] = {
	IS("fld"),
	IS("fst"),
	IS("fstp"),
};

/* Without the v of VEX: copies between vector registers. */
static const struct vti_word vector_copies[] = {
	BEGINS("movaps"), BEGINS("movapd"), BEGINS("movups"),
	BEGINS("movupd"), BEGINS("movdqa"), BEGINS("movdqu"),
};

static const struct vti_word copies[] = {
	IS("mov"),
};

/* ---- registers ---- */

/* What an instruction writes a part of, so that it must wait for the rest. */
static uint64_t merged(const struct vt_facts *f)
{
	uint64_t regs = 0;
	unsigned i;

	for (i = 0; i < f->nresults; i++)
		if (f->results[i].reg < VT_REG_VECTOR && f->results[i].size < 4)
			regs |= bit(f->results[i].reg);
	if (f->nresults && f->flags & VT_FACT_VECTOR && FITS(merging, f->mnemonic))
		regs |= bit(f->results[0].reg);
	return regs;
}

static bool is_zeroing(const struct vt_facts *f)
{
	const struct vt_operand *a = &f->sources[0], *b = &f->sources[1];

	/* With a mask, there are three sources, and not all of the register is cleared. */
	return f->nsources == 2 && a->reg == b->reg && a->size >= 4 && FITS(zeroing, vti_stem(f));
}

static void take_registers(const struct vt_facts *f, struct vt_mop *op)
{
	uint64_t addresses = 0, named = 0;
	unsigned i;

	for (i = 0; i < f->nmemories; i++)
		addresses |= bit(f->memories[i].base) | bit(f->memories[i].index);
	for (i = 0; i < f->nsources; i++)
		named |= bit(f->sources[i].reg);
	op->address_reads = addresses & ~UNFOLLOWED;
	op->reads = ((f->reads & ~addresses) | named | merged(f)) & ~UNFOLLOWED;
	op->writes = f->writes & ~UNFOLLOWED;
	/*
	 * Of pushes and pops, calls and returns, the stack pointer is known in the front end (or is
	 * moved by an addition of its own): who uses it next does not wait for their memory.
	 */
	if (f->flags & (VT_FACT_PUSH | VT_FACT_POP | VT_FACT_CALL | VT_FACT_RETURN)) {
		op->reads &= ~STACK | (named & STACK);
		op->writes &= ~STACK;
	}
	if (is_zeroing(f))
		op->reads = 0;
}

/* ---- micro-operations ---- */

static void add(const struct vt_core *m, struct vt_mop *op, enum vt_op_class c, unsigned operands)
{
	struct vt_uop *u = &op->uops[op->nuops++];
	unsigned i;

	u->op_class = (uint8_t)c;
	u->operands = (uint8_t)operands;
	u->latency = m->classes[c].latency;
	u->busy = m->classes[c].busy;
	for (i = 0; i < m->nunits && c != VT_OP_NOP; i++)
		if (m->units[i].classes & 1u << c)
			u->units |= 1u << i;
	if (c == VT_OP_NOP)
		u->latency = u->busy = 0;
}

/* True if the memory operand's value is the whole result: nothing is computed. */
static bool only_moves(const struct vt_facts *f)
{
	if (f->flags & (VT_FACT_ATOMIC | VT_FACT_REPEATED))
		return false;
	if (f->flags & VT_FACT_X87)
		return FITS(x87_moving, f->mnemonic);
	return f->flags & (VT_FACT_MOVE | VT_FACT_PUSH | VT_FACT_POP) || FITS(moving, f->mnemonic);
}

static void crack(const struct vt_core *m, const struct vt_facts *f, struct vt_mop *op)
{
	const bool load = f->flags & VT_FACT_LOAD, store = f->flags & VT_FACT_STORE;
	const enum vt_op_class c = vti_op_class(f);
	unsigned from = VT_UOP_READS;

	if (c == VT_OP_NOP && !load && !store) {
		add(m, op, c, 0);
		op->reads = op->writes = 0;
		return;
	}
	/* The branch is what needs the loaded target, so the load stands right before it. */
	if (f->flags & VT_FACT_BRANCH && store)
		add(m, op, VT_OP_STORE, VT_UOP_ADDRESS);
	if (load) {
		bool last = only_moves(f) && !store;

		/* Parts of the result that come from elsewhere than memory are in its reads. */
		add(m, op, VT_OP_LOAD,
		    VT_UOP_ADDRESS | (last ? VT_UOP_WRITES | (op->reads ? VT_UOP_READS : 0u) : 0u));
		from = VT_UOP_PREVIOUS;
		if (last)
			return;
	}
	if (f->flags & VT_FACT_BRANCH) {
		add(m, op, VT_OP_BRANCH, VT_UOP_READS | VT_UOP_WRITES | from);
		return;
	}
	if ((!load && !store) || !only_moves(f)) {
		add(m, op, c, VT_UOP_READS | VT_UOP_WRITES | from);
		from = VT_UOP_PREVIOUS;
	}
	if (store)
		add(m, op, VT_OP_STORE,
		    VT_UOP_ADDRESS | from | (only_moves(f) ? VT_UOP_WRITES : 0u));
}

/* ---- what the table knows better ---- */

/* Registers of vectors are farther from the cache: by how much, the table's loads tell. */
static uint16_t load_latency(const struct vt_core *m, const struct vt_facts *f)
{
	const uint16_t latency = m->classes[VT_OP_LOAD].latency;
	const unsigned size = f->memories[0].size;
	struct vt_timing_row general, row;
	const char *form;

	if (f->flags & VT_FACT_X87)
		form = "load st";
	else if (f->flags & VT_FACT_VECTOR)
		form = size > 32 ? "load z" : size > 16 ? "load y" : "load x";
	else
		return latency;
	if (!vt_timing_find(m, "load r", &general) || !vt_timing_find(m, form, &row) ||
	    row.latency < general.latency)
		return latency;
	return (uint16_t)(latency + row.latency - general.latency);
}

/* The micro-operation that does the work; -1: there is none, or its class tells all there is. */
static int proper(const struct vt_mop *op)
{
	unsigned i;

	for (i = 0; i < op->nuops; i++)
		switch (op->uops[i].op_class) {
		case VT_OP_LOAD:
		case VT_OP_STORE:
		case VT_OP_NOP:
			break;
		default:
			return (int)i;
		}
	return -1;
}

static void insert(struct vt_mop *op, struct vt_uop u)
{
	memmove(&op->uops[1], &op->uops[0], op->nuops * sizeof(u));
	op->uops[0] = u;
	op->nuops++;
}

/*
 * Only the first set makes the result.  The others stand before the load, as what they do does not
 * follow from it alone; those that there is no room for count as slots only.
 */
static void apply(const struct vt_core *m, const struct vt_timing_row *row, struct vt_mop *op,
		  unsigned at)
{
	struct vt_uop *u = &op->uops[at], other = *u;
	unsigned i;

	/* A division takes longer for larger numbers: what is known of all is the least. */
	if (u->op_class != VT_OP_DIVIDE || row->latency < m->classes[VT_OP_DIVIDE].latency)
		u->latency = row->latency;
	/* Some models leave jumps without a port; they have one all the same. */
	if (row->nsets || u->op_class != VT_OP_BRANCH) {
		u->units = row->nsets ? row->sets[0].units : 0;
		u->busy = row->nsets ? row->sets[0].busy : 0;
	}
	if (u->op_class == VT_OP_DIVIDE && u->busy > m->classes[VT_OP_DIVIDE].busy)
		u->busy = m->classes[VT_OP_DIVIDE].busy;
	other.operands = VT_UOP_READS;
	other.latency = 1;
	for (i = 1; i < row->nsets && op->nuops < VT_MOP_UOPS; i++) {
		other.units = row->sets[i].units;
		other.busy = row->sets[i].busy;
		insert(op, other);
	}
}

/* Copies that renaming does, and zeros that nothing need compute. */
static bool is_free(const struct vt_core *m, const struct vt_facts *f)
{
	const bool vector = f->flags & VT_FACT_VECTOR;

	if (m->order != VT_OUT_OF_ORDER || f->nmemories)
		return false;
	if (is_zeroing(f))
		return true;
	if (!(f->flags & VT_FACT_MOVE) || f->nsources != 1 || f->nresults != 1 ||
	    f->results[0].size < 4)
		return false;
	if (!vector)
		return m->eliminates & VT_ELIMINATE_INT && FITS(copies, f->mnemonic);
	return m->eliminates & VT_ELIMINATE_VECTOR && FITS(vector_copies, vti_stem(f));
}

/* In the reorder buffer, an operation stands together with its load. */
static void count_slots(const struct vt_core *m, const struct vt_timing_row *row, int at,
			struct vt_mop *op)
{
	unsigned slots = row->uops > 200 ? 200 : row->uops, i;

	if (m->order != VT_OUT_OF_ORDER || !m->table) {
		op->slots = op->nuops;
		return;
	}
	if (at >= 0 && !slots)
		slots = 1;
	for (i = 0; i < op->nuops; i++)
		slots += op->uops[i].op_class == VT_OP_STORE;
	op->slots = slots ? (uint8_t)slots : 1;
}

static void look_up(const struct vt_core *m, const struct vt_facts *f, const char *form,
		    struct vt_mop *op)
{
	struct vt_timing_row row = {0};
	int at = proper(op);
	unsigned i;

	for (i = 0; i < op->nuops && m->table; i++)
		if (op->uops[i].op_class == VT_OP_LOAD)
			op->uops[i].latency = load_latency(m, f);
	if (at < 0) {
		op->estimated = !m->table;
	} else if (is_free(m, f)) {
		op->uops[0] =
			(struct vt_uop){.op_class = VT_OP_NOP, .operands = op->uops[0].operands};
		op->estimated = false;
	} else if (f->flags & (VT_FACT_CALL | VT_FACT_RETURN | VT_FACT_INDIRECT)) {
		op->estimated = !m->table;
	} else if (op->uops[at].op_class != VT_OP_SLOW && op->uops[at].op_class != VT_OP_SYNC &&
		   vt_timing_of(m, form, &row)) {
		apply(m, &row, op, (unsigned)at);
		op->estimated = false;
	}
	count_slots(m, &row, at, op);
}

bool vt_core_op(const struct vt_core *m, const uint8_t *code, size_t size, struct vt_mop *op)
{
	char form[VT_FORM_SIZE] = "";
	struct vt_facts f;
	bool known;

	if (m->cache && vt_opcache_get(m->cache, code, size, op))
		return true;
	known = vti_facts_decode_form(code, size, &f, m->table ? form : NULL);
	memset(op, 0, sizeof(*op));
	op->estimated = true;
	op->slots = 1;
	if (!known) {
		add(m, op, VT_OP_NOP, 0);
		return false;
	}
	op->flags = f.flags;
	op->length = f.length;
	take_registers(&f, op);
	crack(m, &f, op);
	look_up(m, &f, form, op);
	if (m->cache)
		vt_opcache_put(m->cache, code, size, op);
	return true;
}
