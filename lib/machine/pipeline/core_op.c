/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "machine/insn/form.h"
#include "machine/insn/plain.h"
#include "machine/pipeline/core.h"
#include "machine/pipeline/core_internal.h"
#include "machine/pipeline/timing.h"

/* Registers whose values no schedule follows. */
#define UNFOLLOWED                                                                                 \
	(UINT64_C(1) << VT_REG_IP | UINT64_C(1) << VT_REG_CS | UINT64_C(1) << VT_REG_SS |          \
	 UINT64_C(1) << VT_REG_DS | UINT64_C(1) << VT_REG_ES | UINT64_C(1) << VT_REG_FS |          \
	 UINT64_C(1) << VT_REG_GS)
#define STACK (UINT64_C(1) << VT_REG_SP)

static uint64_t reg_bit(unsigned reg)
{
	return reg < VT_NREGS ? UINT64_C(1) << reg : 0;
}

/* ---- mnemonics ---- */

/* Lists of words with a blank between them; a word with a star is the beginning of mnemonics. */
static bool has_word(const char *list, const char *mnemonic)
{
	const char *m;

	for (;;) {
		for (m = mnemonic; *m && *m == *list; m++)
			list++;
		if (*list == '*' || (!*m && (*list == ' ' || !*list)))
			return true;
		while (*list && *list != ' ')
			list++;
		if (!*list++)
			return false;
	}
}

/* An instruction's mnemonic without the v of VEX and EVEX. */
static const char *mnemonic_stem(const struct vt_facts *f)
{
	return f->mnemonic[0] == 'v' ? f->mnemonic + 1 : f->mnemonic;
}

/* SSE instructions that compute one element and leave the others of the register as they are. */
#define MERGING "cvtsi2s* cvtss2sd* cvtsd2ss* sqrts* rcps* rsqrts* rounds*"

/* Stems: x ^ x, x - x and x > x are 0 whatever x is, and decoders know it. */
#define ZEROING                                                                                    \
	"xor sub pxor xorps xorpd psubb psubw psubd psubq pxord pxorq pcmpgtb pcmpgtw pcmpgtd"

/* What only loads or stores, beside moves, pushes and pops. */
#define MOVING                                                                                     \
	"lddqu vlddqu movbe leave stosb stosw stosd stosq lodsb lodsw lodsd lodsq movsb movsw "    \
	"movsq movsd vbroadcast* vpbroadcast*"

/* Stems of copies between vector registers. */
#define VECTOR_COPIES "movaps* movapd* movups* movupd* movdqa* movdqu*"

/* ---- classes ---- */

struct class_words {
	enum vt_op_class op_class;
	const char *words;
};

/* Whatever its operands are. */
static const struct class_words any[] = {
	{VT_OP_NOP, "vzeroupper vzeroall emms"},
	{VT_OP_SLOW,
	 "in out insb insd insw outsb outsd outsw hlt iret iretd iretq enter ud0 ud1 ud2 "
	 "cpuid* rdtsc* rdpmc* rdpid* xgetbv* xsetbv* xsave* "
	 "xrstor* rdrand* rdseed* rdfsbase* rdgsbase* wrfsbase* wrgsbase* rdmsr* wrmsr* sysret* "
	 "swapgs* wbinvd* invlpg* clflush* clwb* xbegin* xend* xabort* xtest* vmcall* fxsave* "
	 "fxrstor*"},
	{VT_OP_SYNC, "mfence lfence sfence"},
	{0},
};

/* Stems. */
static const struct class_words vectors[] = {
	{VT_OP_FDIV, "sqrt*"},
	{VT_OP_SHUFFLE,
	 "shuf* pshuf* unpck* punpck* perm* broadcast* pbroadcast* insert* pinsr* extract* "
	 "pextr* pack* movddup* movshdup* movsldup* palignr* align* psrldq* pslldq* compress* "
	 "expand* movhlps* movlhps*"},
	{VT_OP_FMUL, "aes* pclmul* gf2* sha* pmadd* dp* psadbw* rcp* rsqrt*"},
	{VT_OP_FADD, "round*"},
	{VT_OP_VINT, "and* or* xor* blend* mov*"},
	{0},
};

static const struct class_words x87[] = {
	{VT_OP_FDIV, "fsqrt"},
	{VT_OP_NOP, "fxch fnop ffree fincstp fdecstp"},
	{VT_OP_SLOW,
	 "fsin* fcos* fptan* fpatan* f2xm1* fyl2x* fscale* fprem* fbld* fbstp* fxtract* frstor* "
	 "fnsave* fldenv* fnstenv* fninit*"},
	{0},
};

/* Of integers in general registers. */
static const struct class_words integers[] = {
	{VT_OP_MULTIPLY, "popcnt lzcnt tzcnt bsf bsr pdep pext crc32"},
	{VT_OP_SHIFT, "shl* shr* sal* sar* rol* ror* rcl* rcr*"},
	{0},
};

/* The class of the first list that has the mnemonic, or -1. */
static int find_class(const struct class_words *c, const char *mnemonic)
{
	for (; c->words; c++)
		if (has_word(c->words, mnemonic))
			return (int)c->op_class;
	return -1;
}

static int vector_class(const struct vt_facts *f)
{
	const int found = find_class(vectors, mnemonic_stem(f));

	if (f->flags & VT_FACT_DIVIDE)
		return VT_OP_FDIV;
	if (found == VT_OP_FDIV || found == VT_OP_SHUFFLE)
		return found;
	if (f->flags & VT_FACT_MULTIPLY)
		return VT_OP_FMUL;
	return found >= 0 ? found : f->flags & VT_FACT_FLOAT ? VT_OP_FADD : VT_OP_VINT;
}

static int x87_class(const struct vt_facts *f)
{
	const int found = find_class(x87, f->mnemonic);

	if (f->flags & VT_FACT_DIVIDE)
		return VT_OP_FDIV;
	if (f->flags & VT_FACT_MULTIPLY)
		return VT_OP_FMUL;
	return found >= 0 ? found : VT_OP_FADD;
}

static int integer_class(const struct vt_facts *f)
{
	int found;

	if (f->flags & VT_FACT_DIVIDE)
		return VT_OP_DIVIDE;
	if (f->flags & VT_FACT_MULTIPLY)
		return VT_OP_MULTIPLY;
	found = find_class(integers, f->mnemonic);
	return found >= 0 ? found : VT_OP_INT;
}

/* Instructions that are in none of the lists of `any`. */
#define PLAIN (VT_FACT_MOVE | VT_FACT_COMPARE | VT_FACT_LEA | VT_FACT_PUSH | VT_FACT_POP)

/* The class of what an instruction does beside loading and storing. */
static enum vt_op_class find_op_class(const struct vt_facts *f)
{
	int found = -1;

	if (f->flags & VT_FACT_NOP)
		return VT_OP_NOP;
	if (f->flags & VT_FACT_SYSCALL)
		return VT_OP_SLOW;
	if (f->flags & VT_FACT_BRANCH)
		return VT_OP_BRANCH;
	if (f->flags & VT_FACT_ATOMIC)
		return VT_OP_SYNC;
	if (!(f->flags & PLAIN))
		found = find_class(any, f->mnemonic);
	if (found < 0 && f->flags & VT_FACT_X87)
		found = x87_class(f);
	else if (found < 0 && f->flags & VT_FACT_VECTOR)
		found = vector_class(f);
	else if (found < 0)
		found = integer_class(f);
	return (enum vt_op_class)found;
}

/* ---- registers ---- */

/* What an instruction writes a part of, so that it must wait for the rest. */
static uint64_t find_merged(const struct vt_core *m, const struct vt_facts *f)
{
	uint64_t regs = 0;
	unsigned i;

	for (i = 0; i < f->nresults; i++)
		if (f->results[i].reg < VT_REG_VECTOR && f->results[i].size < 4)
			regs |= reg_bit(f->results[i].reg);
	/* The old value remains if the condition is false. */
	if (f->nresults && (has_word("cmov* fcmov*", f->mnemonic) ||
			    (*m->merges && has_word(m->merges, f->mnemonic))))
		regs |= reg_bit(f->results[0].reg);
	if (f->nresults && f->flags & VT_FACT_VECTOR && has_word(MERGING, f->mnemonic))
		regs |= reg_bit(f->results[0].reg);
	return regs;
}

/* Shifts by a number that may be 0, then flags remain; the result does not depend on them. */
#define SHIFTS "shl shr sar shld shrd rol ror"

/* Conversions of a general register, which a first micro-operation moves to the vector unit. */
#define CROSSING "cvtsi2s*"
#define CROSSED	 4 /* cycles of the second */

/* What only the last step of the instruction needs: the rest of a register, or its old value. */
static void find_late(const struct vt_facts *f, struct vt_mop *op)
{
	const struct vt_uop *u = op->nuops ? &op->uops[op->nuops - 1] : NULL;
	uint16_t step = 1;
	uint64_t named = 0;
	unsigned i;

	for (i = 0; i < f->nsources; i++)
		named |= reg_bit(f->sources[i].reg);
	for (i = 0; i < f->nresults; i++)
		if (f->results[i].reg < VT_REG_VECTOR &&
		    (f->results[i].size < 4 || has_word("cmov*", f->mnemonic)))
			op->late |= reg_bit(f->results[i].reg) & ~named;
	if (has_word(CROSSING, mnemonic_stem(f))) {
		op->late = op->reads & UINT64_MAX << VT_REG_VECTOR;
		step = CROSSED;
	}
	op->late &= op->reads;
	if (op->late && u && u->operands & VT_UOP_WRITES && u->latency > step)
		op->lateness = (uint16_t)(u->latency - step);
}

static bool is_zeroing(const struct vt_facts *f)
{
	const struct vt_operand *a = &f->sources[0], *b = &f->sources[1];

	/* With a mask, there are three sources, and not all of the register is cleared. */
	return f->nsources == 2 && a->reg == b->reg && a->size >= 4 &&
	       has_word(ZEROING, mnemonic_stem(f));
}

static void take_registers(const struct vt_core *m, const struct vt_facts *f, struct vt_mop *op)
{
	uint64_t addresses = 0, named = 0;
	unsigned i;

	for (i = 0; i < f->nmemories; i++)
		addresses |= reg_bit(f->memories[i].base) | reg_bit(f->memories[i].index);
	for (i = 0; i < f->nsources; i++)
		named |= reg_bit(f->sources[i].reg);
	op->address_reads = addresses & ~UNFOLLOWED;
	op->reads = ((f->reads & ~addresses) | named | find_merged(m, f)) & ~UNFOLLOWED;
	op->writes = f->writes & ~UNFOLLOWED;
	/*
	 * Of pushes and pops, calls and returns, the stack pointer is known in the front end (or is
	 * moved by an addition of its own): who uses it next does not wait for their memory.
	 */
	if (f->flags & (VT_FACT_PUSH | VT_FACT_POP | VT_FACT_CALL | VT_FACT_RETURN)) {
		op->reads &= ~STACK | (named & STACK);
		op->writes &= ~STACK;
	}
	if (has_word(SHIFTS, f->mnemonic))
		op->reads &= ~reg_bit(VT_REG_FLAGS);
	if (is_zeroing(f))
		op->reads = 0;
}

/* ---- micro-operations ---- */

static void add_uop(const struct vt_core *m, struct vt_mop *op, enum vt_op_class c,
		    unsigned operands)
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
		return has_word("fld fst fstp", f->mnemonic);
	return f->flags & (VT_FACT_MOVE | VT_FACT_PUSH | VT_FACT_POP) ||
	       has_word(MOVING, f->mnemonic);
}

static void crack_insn(const struct vt_core *m, const struct vt_facts *f, struct vt_mop *op)
{
	const bool load = f->flags & VT_FACT_LOAD, store = f->flags & VT_FACT_STORE;
	const enum vt_op_class c = find_op_class(f);
	unsigned from = VT_UOP_READS;

	if (c == VT_OP_NOP && !load && !store) {
		add_uop(m, op, c, 0);
		op->reads = op->writes = 0;
		return;
	}
	/* The branch is what needs the loaded target, so the load stands right before it. */
	if (f->flags & VT_FACT_BRANCH && store)
		add_uop(m, op, VT_OP_STORE, VT_UOP_ADDRESS);
	if (load) {
		bool last = only_moves(f) && !store;

		/* Parts of the result that come from elsewhere than memory are in its reads. */
		add_uop(m, op, VT_OP_LOAD,
			VT_UOP_ADDRESS |
				(last ? VT_UOP_WRITES | (op->reads ? VT_UOP_READS : 0u) : 0u));
		from = VT_UOP_PREVIOUS;
		if (last)
			return;
	}
	if (f->flags & VT_FACT_BRANCH) {
		add_uop(m, op, VT_OP_BRANCH, VT_UOP_READS | VT_UOP_WRITES | from);
		return;
	}
	if ((!load && !store) || !only_moves(f)) {
		add_uop(m, op, c, VT_UOP_READS | VT_UOP_WRITES | from);
		from = VT_UOP_PREVIOUS;
	}
	if (store)
		add_uop(m, op, VT_OP_STORE,
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

/* The micro-operation that does the work; -1: there is none, or its class describes it fully. */
static int find_proper_uop(const struct vt_mop *op)
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

static void insert_uop(struct vt_mop *op, struct vt_uop u)
{
	memmove(&op->uops[1], &op->uops[0], op->nuops * sizeof(u));
	op->uops[0] = u;
	op->nuops++;
}

/*
 * Only the first set makes the result.  The others stand before the load, as what they do does not
 * follow from it alone; those that there is no room for count as slots only.
 */
static void apply_row(const struct vt_timing_row *row, struct vt_mop *op, unsigned at)
{
	struct vt_uop *u = &op->uops[at], other = *u;
	unsigned i;

	u->latency = row->latency;
	/* Some models leave jumps without a port; they have one all the same. */
	if (row->nsets || u->op_class != VT_OP_BRANCH) {
		u->units = row->nsets ? row->sets[0].units : 0;
		u->busy = row->nsets ? row->sets[0].busy : 0;
	}
	other.operands = VT_UOP_READS;
	other.latency = 1;
	for (i = 1; i < row->nsets && op->nuops < VT_MOP_UOPS; i++) {
		other.units = row->sets[i].units;
		other.busy = row->sets[i].busy;
		insert_uop(op, other);
	}
}

/*
 * Golden Cove keeps a sum of 11 bits for each register in renaming.  That is measured: in a chain,
 * "add $1024" takes a cycle, and "add $1023" half a cycle, because every second one overflows the
 * sum and is executed.  The model executes none of these.
 */
#define ELIMINATED_LEAST (-1024)
#define ELIMINATED_MOST	 1023

static bool adds_small_number(const struct vt_mop *op)
{
	return op->nuops == 1 && op->result == VT_RESULT_SUM && op->sum.size == 8 &&
	       op->sum.base != VT_REG_NONE && op->sum.index == VT_REG_NONE &&
	       op->sum.displacement >= ELIMINATED_LEAST && op->sum.displacement <= ELIMINATED_MOST;
}

/* Copies and sums that renaming does, and zeros that nothing need compute. */
static bool is_free(const struct vt_core *m, const struct vt_facts *f, const struct vt_mop *op)
{
	const bool vector = f->flags & VT_FACT_VECTOR;

	if (m->order != VT_OUT_OF_ORDER)
		return false;
	if (m->eliminates & VT_ELIMINATE_ADD && !(f->flags & VT_FACT_MOVE) && adds_small_number(op))
		return true;
	if (f->nmemories)
		return false;
	/* A move to the same register cuts its upper half off: an operation like others. */
	if (is_zeroing(f))
		return true;
	if (f->nsources && f->nresults && f->sources[0].reg == f->results[0].reg)
		return false;
	if (!(f->flags & VT_FACT_MOVE) || f->nsources != 1 || f->nresults != 1 ||
	    f->results[0].size < 4)
		return false;
	if (!vector)
		return m->eliminates & VT_ELIMINATE_INT && has_word("mov", f->mnemonic);
	return m->eliminates & VT_ELIMINATE_VECTOR && has_word(VECTOR_COPIES, mnemonic_stem(f));
}

/* In the reorder buffer, an operation stands together with its load. */
static void count_slots(const struct vt_core *m, const struct vt_timing_row *row, int at,
			struct vt_mop *op)
{
	unsigned slots = row->uops > 200 ? 200 : row->uops, i;

	if (m->order != VT_OUT_OF_ORDER || !m->table) {
		op->slots = op->decoded = op->nuops;
		return;
	}
	if (at >= 0 && !slots)
		slots = 1;
	for (i = 0; i < op->nuops; i++)
		slots += op->uops[i].op_class == VT_OP_STORE;
	op->slots = op->decoded = slots ? (uint8_t)slots : 1;
}

/* Operations on memory that have a load and a store. */
#define CHANGING_INT   "add adc sub sbb and or xor inc dec neg not"
#define CHANGING_SHIFT "shl sal shr sar rol ror"

/*
 * AMD's macro-ops have an operation with a load and a store of the same address: Software
 * Optimization Guide for AMD64 Processors (25112), table 1.  Which do is measured, as operations
 * that retire, by uops.info: on Zen 2 all of these, with a lock or without; on Zen 3 no shifts; on
 * Zen 4 none: an operation and its store are two.  Zen 5 is taken to be like it.
 */
static void fuse_changing(const struct vt_core *m, const struct vt_facts *f, struct vt_mop *op)
{
	const bool fuses = (m->fuses & VT_FUSE_INT && has_word(CHANGING_INT, f->mnemonic)) ||
			   (m->fuses & VT_FUSE_SHIFT && has_word(CHANGING_SHIFT, f->mnemonic));

	if (fuses && op->slots == 2 && f->flags & VT_FACT_LOAD && f->flags & VT_FACT_STORE)
		op->slots = op->decoded = 1;
}

/* Those that renaming takes apart because their address has an index count once more. */
static void count_indexed(const struct vt_core *m, const struct vt_facts *f, struct vt_mop *op)
{
	const bool load = op->load.size && op->load.index != VT_REG_NONE;
	const bool store = op->store.size && op->store.index != VT_REG_NONE;
	const bool operates = load && !only_moves(f);

	if (m->indexed == VT_INDEXED_ALL)
		op->slots = (uint8_t)(op->slots + operates + store);
	else if (m->indexed == VT_INDEXED_NEW && operates && !store && f->nresults &&
		 !(op->reads & reg_bit(f->results[0].reg)))
		op->slots++;
}

/* Bits 8 to 15 lie in a place of their own, from which they are shifted and merged. */
static void delay_high_bytes(const struct vt_core *m, const struct vt_facts *f, struct vt_mop *op)
{
	const int at = find_proper_uop(op);
	uint32_t n = 0;
	unsigned i;

	/* What only changes them leaves them there. */
	for (i = 0; i < f->nsources; i++)
		n += f->sources[i].high;
	for (i = 0; i < f->nresults; i++)
		n -= f->results[i].high;
	if (at >= 0 && n == 1)
		op->uops[at].latency = (uint16_t)(op->uops[at].latency + m->high_byte);
}

static void delay_scaled_index(const struct vt_core *m, const struct vt_mop *op, struct vt_uop *u)
{
	if (op->flags & VT_FACT_LEA && op->sum.index != VT_REG_NONE && op->sum.scale > 1)
		u->latency = (uint16_t)(u->latency + m->scaled_index);
}

static void look_up_timing(const struct vt_core *m, const struct vt_facts *f, const char *form,
			   struct vt_mop *op)
{
	struct vt_timing_row row = {0};
	int at = find_proper_uop(op);
	unsigned i;

	for (i = 0; i < op->nuops && m->table; i++)
		if (op->uops[i].op_class == VT_OP_LOAD)
			op->uops[i].latency = load_latency(m, f);
	if (at < 0) {
		op->estimated = !m->table;
	} else if (is_free(m, f, op)) {
		op->uops[0] =
			(struct vt_uop){.op_class = VT_OP_NOP, .operands = op->uops[0].operands};
		op->estimated = false;
	} else if (f->flags & (VT_FACT_CALL | VT_FACT_RETURN | VT_FACT_INDIRECT)) {
		op->estimated = !m->table;
	} else if (op->uops[at].op_class != VT_OP_SLOW && op->uops[at].op_class != VT_OP_SYNC &&
		   vt_timing_of(m, form, &row)) {
		apply_row(&row, op, (unsigned)at);
		delay_scaled_index(m, op, &op->uops[at]);
		op->estimated = false;
	}
	count_slots(m, &row, at, op);
	fuse_changing(m, f, op);
	count_indexed(m, f, op);
	delay_high_bytes(m, f, op);
	find_late(f, op);
}

/* ---- the cache ---- */

/* Each instruction has one place, which the latest keeps: 4 MB or so. */
#define CACHE_PLACES 32768

struct cached_op {
	uint8_t size; /* 0: free */
	uint8_t code[VT_MAX_INSN];
	struct vt_mop op;
};

struct vt_opcache {
	struct cached_op places[CACHE_PLACES];
};

struct vt_opcache *vt_opcache_new(void)
{
	return calloc(1, sizeof(struct vt_opcache));
}

void vt_opcache_free(struct vt_opcache *c)
{
	free(c);
}

/*
 * The code of an instruction as it is kept: where a direct branch leads is left out, for nearly all
 * of them lead to places of their own.  Returns whether it was.
 */
static bool make_key(const uint8_t *code, size_t size, uint8_t *key)
{
	size_t distance = size > 2 ? 4 : size - 1;
	struct vti_plain p;

	memcpy(key, code, size);
	if (vti_plain_branch(code, size, &p) != size || p.kind == VTI_PLAIN_RETURN)
		return false;
	memset(key + size - distance, 0, distance);
	return true;
}

/* Returns whether it is known. */
static bool find_cached(struct cached_op *c, const uint8_t *code, size_t size, const uint8_t *key,
			bool branch, struct vt_mop *op)
{
	if (c->size != size || memcmp(c->code, key, size) != 0)
		return false;
	*op = c->op;
	if (branch)
		vti_core_identify(code, size, op);
	return true;
}

static bool decode_op(const struct vt_core *m, const uint8_t *code, size_t size, struct vt_mop *op)
{
	char form[VT_FORM_SIZE] = "";
	struct vt_facts f;
	bool known;

	known = vt_facts_decode_form(code, size, &f, m->table ? form : NULL);
	memset(op, 0, sizeof(*op));
	op->estimated = true;
	op->slots = op->decoded = 1;
	if (!known) {
		add_uop(m, op, VT_OP_NOP, 0);
		return false;
	}
	op->flags = f.flags;
	op->length = f.length;
	take_registers(m, &f, op);
	vti_core_values(&f, code, op);
	crack_insn(m, &f, op);
	look_up_timing(m, &f, form, op);
	return true;
}

bool vt_core_op(const struct vt_core *m, const uint8_t *code, size_t size, struct vt_mop *op)
{
	uint8_t key[VT_MAX_INSN];
	struct cached_op *c;
	bool branch;

	if (!m->cache || !size || size > VT_MAX_INSN)
		return decode_op(m, code, size, op);
	branch = make_key(code, size, key);
	c = &m->cache->places[vt_hash_bytes(key, size) % CACHE_PLACES];
	if (find_cached(c, code, size, key, branch, op))
		return true;
	if (!decode_op(m, code, size, op))
		return false;
	if (op->length == size) {
		c->size = op->length;
		memcpy(c->code, key, size);
		c->op = *op;
	}
	return true;
}
