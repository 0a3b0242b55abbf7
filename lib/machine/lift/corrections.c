/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/lift/corrections.h"

#include <stddef.h>
#include <string.h>

#include <libvex_guest_amd64.h>

#define CC_OP	((unsigned)offsetof(VexGuestAMD64State, guest_CC_OP))
#define CC_DEP1 ((unsigned)offsetof(VexGuestAMD64State, guest_CC_DEP1))
#define CC_DEP2 ((unsigned)offsetof(VexGuestAMD64State, guest_CC_DEP2))
#define CC_NDEP ((unsigned)offsetof(VexGuestAMD64State, guest_CC_NDEP))
#define GENERAL ((unsigned)offsetof(VexGuestAMD64State, guest_RAX))
#define VECTOR	((unsigned)offsetof(VexGuestAMD64State, guest_YMM0))

#define C 0x001
#define P 0x004
#define A 0x010
#define Z 0x040
#define S 0x080
#define O 0x800

#define FLAG_ONE 0x002
#define FLAG_IF	 0x200

static bool mnemonic_has_prefix(const struct vt_facts *f, const char *with)
{
	return strncmp(f->mnemonic, with, strlen(with)) == 0;
}

/* ---- what VEX takes for something else ---- */

struct prefixes {
	bool idle_rex; /* one that others follow, so that it counts for nothing */
	bool operand;
	bool repne;
	bool rep;
	bool wide; /* REX.W, VEX.W */
};

/* Intel SDM volume 2, 2.1.1 and 2.2.1. */
static struct prefixes prefixes_of(const uint8_t *bytes, size_t size)
{
	struct prefixes p = {false, false, false, false, false};
	bool rex = false;
	size_t i;

	for (i = 0; i < size; i++) {
		uint8_t c = bytes[i];
		bool is_rex = (c & 0xf0) == 0x40;

		if (!is_rex && c != 0x66 && c != 0x67 && c != 0xf0 && c != 0xf2 && c != 0xf3 &&
		    c != 0x26 && c != 0x2e && c != 0x36 && c != 0x3e && c != 0x64 && c != 0x65)
			break;
		p.idle_rex |= rex;
		rex |= is_rex;
		p.wide = is_rex && (c & 8);
		p.operand |= c == 0x66;
		p.repne |= c == 0xf2;
		p.rep |= c == 0xf3;
	}
	if (i + 2 < size && bytes[i] == 0xc4)
		p.wide = bytes[i + 2] & 0x80;
	return p;
}

static bool is_narrow(const struct vt_facts *f)
{
	if (f->nresults)
		return f->results[0].size < 4;
	return f->nmemories && f->memories[0].size < 4;
}

/* It has no selectors of segments, and takes them for zero. */
static bool reads_selector(const struct vt_facts *f)
{
	unsigned i;

	for (i = 0; i < f->nsources; i++)
		if (f->sources[i].reg >= VT_REG_CS && f->sources[i].reg <= VT_REG_GS)
			return true;
	return false;
}

/* bt, bts, btr, btc of a register, by a register. */
static bool is_register_bit_test(const struct vt_facts *f)
{
	const char *m = f->mnemonic;

	return m[0] == 'b' && m[1] == 't' && (m[2] == '\0' || (strchr("src", m[2]) && !m[3])) &&
	       !f->nmemories && !f->has_immediate && f->nsources == 2;
}

bool vti_is_mistaken(const struct vt_facts *f, const uint8_t *bytes)
{
	struct prefixes p = prefixes_of(bytes, f->length);

	/* VEX takes each REX prefix for good. */
	if (p.idle_rex)
		return true;
	/* It lets every transaction fail at once, where the machine may run it. */
	if (vt_facts_has_mnemonic(f, "xbegin") || vt_facts_has_mnemonic(f, "xabort") ||
	    vt_facts_has_mnemonic(f, "xtest"))
		return true;
	/* It says what its own machine has. */
	if (vt_facts_has_mnemonic(f, "xgetbv"))
		return true;
	/* It traps at what xsavec leaves. */
	if (mnemonic_has_prefix(f, "xrstor"))
		return true;
	/* Undefined: the result of these for 16 bits, of the double shifts by more than that. */
	if ((vt_facts_has_mnemonic(f, "shld") || vt_facts_has_mnemonic(f, "shrd") ||
	     vt_facts_has_mnemonic(f, "bswap")) &&
	    is_narrow(f))
		return true;
	/* It always takes it for a pause (insn.c's may_exchange()). */
	if (vt_facts_has_mnemonic(f, "pause") && f->writes)
		return true;
	/* It takes this for adcx. */
	if (vt_facts_has_mnemonic(f, "adox") && p.operand)
		return true;
	/* "Equal ordered": it stops where the text ends, though an empty word is found behind it.
	 */
	if ((mnemonic_has_prefix(f, "pcmp") || mnemonic_has_prefix(f, "vpcmp")) &&
	    strstr(f->mnemonic, "str") && (f->immediate & 0x0c) == 0x0c)
		return true;
	/* It takes lengths of 64 bits for such of 32. */
	if ((mnemonic_has_prefix(f, "pcmpestr") || mnemonic_has_prefix(f, "vpcmpestr")) && p.wide)
		return true;
	/* It does not repeat these. */
	if ((f->flags & VT_FACT_STRING) &&
	    ((mnemonic_has_prefix(f, "lods") && (p.rep || p.repne)) ||
	     ((mnemonic_has_prefix(f, "movs") || mnemonic_has_prefix(f, "stos")) && p.repne &&
	      !p.rep)))
		return true;
	/* It writes more of rax than these 16 bits. */
	if (vt_facts_has_mnemonic(f, "xchg") && !f->nmemories && f->nresults &&
	    f->results[0].size == 2)
		return true;
	/* "Equal or unordered", "not equal but ordered": it takes no heed of what is unordered. */
	if (mnemonic_has_prefix(f, "vcmp") &&
	    ((f->immediate & 0x0f) == 0x8 || (f->immediate & 0x0f) == 0xc))
		return true;
	/* It leaves the registers that this empties. */
	if (vt_facts_has_mnemonic(f, "fnsave"))
		return true;
	/* It writes 6 bytes of what are 10 in 64-bit code. */
	if (vt_facts_has_mnemonic(f, "sgdt") || vt_facts_has_mnemonic(f, "sidt"))
		return true;
	/* It knows but the first components, and says that each is in use. */
	if (mnemonic_has_prefix(f, "xsave"))
		return true;
	return is_register_bit_test(f) || reads_selector(f);
}

/* ---- operations ---- */

static uint16_t emit_word(struct vti_build *b, IROp op, uint16_t x, uint16_t y)
{
	return vti_emit_binary(b, op, Ity_I64, x, y);
}

static uint16_t emit_equals(struct vti_build *b, uint16_t x, uint64_t value)
{
	return vti_emit_binary(b, Iop_CmpEQ64, Ity_I1, x, vti_build_u64(b, value));
}

/* Of two words, what holds for whichever it is when the condition is unknown. */
static uint16_t emit_select(struct vti_build *b, uint16_t by, uint16_t yes, uint16_t no)
{
	return vti_emit_choice(b, 1, by, yes, no);
}

static uint16_t emit_either(struct vti_build *b, uint16_t x, uint16_t y)
{
	const struct vt_word unknown = vt_word_unknown(1);

	return emit_select(b, vti_build_const(b, &unknown, 1), x, y);
}

/* The same number, of which these bits are unknown. */
static uint16_t emit_blurred(struct vti_build *b, uint16_t slot, uint64_t bits)
{
	const struct vt_word unknown = {0, ~bits};

	return emit_word(b, Iop_Xor64, slot, vti_build_const(b, &unknown, 1));
}

static uint16_t emit_state_read(struct vti_build *b, unsigned offset)
{
	return vti_emit_get(b, offset, 8);
}

static void emit_state_word(struct vti_build *b, unsigned offset, uint16_t slot)
{
	vti_emit_put(b, offset, 8, slot);
}

/* Where a general or vector register is in the guest state. */
static unsigned register_at(unsigned reg)
{
	unsigned offset = 0;

	vti_find_register(reg, &offset);
	return offset;
}

/* The flags, as they are. */
static void put_all_flags(struct vti_build *b, uint16_t flags)
{
	emit_state_word(b, CC_OP, vti_build_u64(b, 0)); /* the flags themselves are in DEP1 */
	emit_state_word(b, CC_DEP1, flags);
	emit_state_word(b, CC_DEP2, vti_build_u64(b, 0));
	emit_state_word(b, CC_NDEP, vti_build_u64(b, 0));
}

/* ---- repeated string instructions ---- */

uint16_t vti_emit_done(struct vti_build *b)
{
	return emit_equals(b, emit_state_read(b, register_at(VT_REG_CX)), 0);
}

uint16_t vti_correct_again(struct vti_build *b, uint16_t guard)
{
	return emit_select(b, vti_emit_done(b), vti_build_u64(b, 0), guard);
}

/* ---- flags ---- */

/* Undefined flags of instructions that leave all flags computed. */
static uint64_t undefined_flag_bits(const struct vt_facts *f)
{
	if (vt_facts_has_mnemonic(f, "bsf") || vt_facts_has_mnemonic(f, "bsr"))
		return C | O | S | A | P;
	if (vt_facts_has_mnemonic(f, "tzcnt") || vt_facts_has_mnemonic(f, "lzcnt") ||
	    vt_facts_has_mnemonic(f, "bt") || vt_facts_has_mnemonic(f, "bts") ||
	    vt_facts_has_mnemonic(f, "btr") || vt_facts_has_mnemonic(f, "btc"))
		return O | S | A | P;
	if (vt_facts_has_mnemonic(f, "rcl") || vt_facts_has_mnemonic(f, "rcr"))
		return f->has_immediate && f->immediate == 1 ? 0 : O;
	return 0;
}

/* More than the width of a number is shifted out: what the last bit of it was is undefined. */
static bool may_shift_all_out(const struct vt_facts *f)
{
	if ((!vt_facts_has_mnemonic(f, "shl") && !vt_facts_has_mnemonic(f, "shr") &&
	     !vt_facts_has_mnemonic(f, "sal")) ||
	    !is_narrow(f))
		return false;
	return !f->has_immediate || (f->immediate & 31) >= 8;
}

uint16_t vti_correct_put(struct vti_flat *f, const IRExpr *data, unsigned offset, uint16_t slot)
{
	const struct vt_facts *facts = vti_at_hand(f->b);
	uint64_t undefined = 0;
	uint16_t corrected;

	if (vt_facts_has_mnemonic(facts, "fnstsw"))
		return vti_correct_store(f, slot);
	if (offset == CC_DEP1 && vt_facts_has_mnemonic(facts, "bextr"))
		/* The sign of what it computes flags from. */
		return emit_blurred(f->b, slot,
				    facts->nresults && facts->results[0].size == 4
					    ? 1u << 31
					    : UINT64_C(1) << 63);
	if (offset == CC_DEP1)
		undefined = undefined_flag_bits(facts);
	if (offset == CC_DEP2 && may_shift_all_out(facts))
		undefined = UINT64_MAX;
	if (!undefined)
		return slot;
	corrected = emit_blurred(f->b, slot, undefined);
	/* What VEX makes of the flags in the next instructions, it makes of this. */
	if (data->tag == Iex_RdTmp)
		f->temps[data->Iex.RdTmp.tmp] = corrected;
	return corrected;
}

/*
 * x87's status word: VEX keeps no exceptions, nor what C1 says but for fxam.  Flags in memory: it
 * writes zeros for what is always 1 in a program.
 */
uint16_t vti_correct_store(struct vti_flat *f, uint16_t slot)
{
	const struct vt_facts *facts = vti_at_hand(f->b);

	if (vt_facts_has_mnemonic(facts, "fnstsw"))
		return emit_blurred(f->b, slot, 0x82ff);
	return mnemonic_has_prefix(facts, "pushf") ? emit_blurred(f->b, slot, FLAG_ONE | FLAG_IF)
						   : slot;
}

/* The machine makes a NaN that it loads into an x87 register a quiet one. */
uint16_t vti_correct_load(struct vti_flat *f, IRType type, uint16_t slot)
{
	struct vti_build *b = f->b;
	uint64_t infinity = UINT64_C(0x7ff) << 52;
	uint16_t magnitude;

	if (type != Ity_F64 || !(vti_at_hand(b)->flags & VT_FACT_X87))
		return slot;
	magnitude = emit_word(b, Iop_And64, slot, vti_build_u64(b, INT64_MAX));
	return emit_select(
		b, vti_emit_binary(b, Iop_CmpLT64U, Ity_I1, vti_build_u64(b, infinity), magnitude),
		emit_blurred(b, slot, UINT64_C(1) << 51), slot);
}

/* ---- fused multiply and add ---- */

/*
 * VEX negates the rounded result, where the machine rounds the negated one: that differs in the
 * sign of zero, and where rounding has a direction.
 */
static bool is_negated_fused(const struct vt_facts *f)
{
	return mnemonic_has_prefix(f, "vfnm");
}

uint16_t vti_correct_negation(struct vti_flat *f, IROp op, uint16_t arg, uint16_t slot)
{
	uint64_t sign = op == Iop_NegF32 ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
	struct vti_build *b = f->b;
	uint16_t zero;

	if (arg != f->fused || !is_negated_fused(vti_at_hand(b)))
		return slot;
	zero = emit_equals(b, emit_word(b, Iop_And64, slot, vti_build_u64(b, sign - 1)), 0);
	return emit_select(b, zero, emit_blurred(b, slot, sign), slot);
}

uint16_t vti_correct_rounding(struct vti_flat *f, uint16_t slot)
{
	const struct vt_word unknown = vt_word_unknown(32);
	struct vti_build *b = f->b;

	if (!is_negated_fused(vti_at_hand(b)))
		return slot;
	return emit_select(b, emit_equals(b, slot, 0), slot, vti_build_const(b, &unknown, 1));
}

/* ---- around an instruction ---- */

/* VEX clears what is above a scalar in its vector register, the machine leaves it. */
static bool is_scalar_fused(const struct vt_facts *f)
{
	size_t n = strlen(f->mnemonic);

	return (mnemonic_has_prefix(f, "vfm") || mnemonic_has_prefix(f, "vfnm")) && f->nresults &&
	       f->mnemonic[n - 2] == 's';
}

/* The 32-bit registers that it writes, or leaves alone without clearing their upper halves. */
static bool may_leave(const struct vt_facts *f, unsigned i)
{
	return vt_facts_has_mnemonic(f, "cmpxchg") && f->results[i].size == 4;
}

static bool scans_bits(const struct vt_facts *f)
{
	return (vt_facts_has_mnemonic(f, "bsf") || vt_facts_has_mnemonic(f, "bsr")) && f->nresults;
}

static bool is_division(const struct vt_facts *f)
{
	return vt_facts_has_mnemonic(f, "div") || vt_facts_has_mnemonic(f, "idiv");
}

bool vti_ends_piece(const struct vt_facts *f)
{
	unsigned i;

	for (i = 0; i < f->nresults; i++)
		if (may_leave(f, i))
			return true;
	return is_scalar_fused(f) || scans_bits(f) || is_division(f) ||
	       vt_facts_has_mnemonic(f, "bextr");
}

void vti_correct_begin(struct vti_build *b)
{
	const struct vt_facts *f = vti_at_hand(b);
	unsigned i;

	if (is_scalar_fused(f)) {
		b->old[0] = emit_state_read(b, register_at(f->results[0].reg));
		b->old[1] = emit_state_read(b, register_at(f->results[0].reg) + 8);
	}
	for (i = 0; i < f->nresults; i++)
		if (may_leave(f, i))
			b->old[i] = emit_state_read(b, register_at(f->results[i].reg));
}

static void end_scalar_fused(struct vti_build *b, const struct vt_facts *f)
{
	unsigned at = register_at(f->results[0].reg);
	uint64_t high = UINT64_MAX << 32;
	uint16_t now;

	if (f->mnemonic[strlen(f->mnemonic) - 1] == 's') {
		now = emit_state_read(b, at);
		emit_state_word(b, at,
				emit_either(b, now,
					    emit_word(b, Iop_Or64, now,
						      emit_word(b, Iop_And64, b->old[0],
								vti_build_u64(b, high)))));
	}
	emit_state_word(b, at + 8, emit_either(b, emit_state_read(b, at + 8), b->old[1]));
}

static void end_exchange(struct vti_build *b, unsigned at, uint16_t old)
{
	uint16_t now = emit_state_read(b, at);
	uint16_t high = emit_word(b, Iop_And64, old, vti_build_u64(b, UINT64_MAX << 32));

	emit_state_word(b, at, emit_either(b, now, emit_word(b, Iop_Or64, now, high)));
}

/* Of a zero, there is no bit to be found: the manual leaves the result undefined. */
static void end_bit_scan(struct vti_build *b, const struct vt_facts *f)
{
	unsigned at = register_at(f->results[0].reg);
	uint16_t none = emit_equals(
		b, emit_word(b, Iop_And64, emit_state_read(b, CC_DEP1), vti_build_u64(b, Z)), Z);

	emit_state_word(b, at,
			emit_select(b, none, vti_build_unknown(b, 8), emit_state_read(b, at)));
}

static void end_division(struct vti_build *b)
{
	const struct vt_word undefined = {0, ~(uint64_t)(C | P | A | Z | S | O)};

	put_all_flags(b, vti_build_const(b, &undefined, 1));
}

void vti_correct_end(struct vti_build *b)
{
	const struct vt_facts *f = vti_at_hand(b);
	unsigned i;

	if (is_scalar_fused(f))
		end_scalar_fused(b, f);
	for (i = 0; i < f->nresults; i++)
		if (may_leave(f, i))
			end_exchange(b, register_at(f->results[i].reg), b->old[i]);
	if (scans_bits(f))
		end_bit_scan(b, f);
	else if (is_division(f))
		end_division(b);
}

/* ---- bit tests ---- */

/*
 * bt, bts, btr and btc of registers, by a register.  VEX has them push the one onto the stack and
 * work there, where the machine writes nothing; so this is done without it.
 */

/* VEX's, which no header of it declares: all flags. */
unsigned long amd64g_calculate_rflags_all(unsigned long op, unsigned long dep1, unsigned long dep2,
					  unsigned long ndep);

static uint16_t all_flags(struct vti_build *b)
{
	struct vti_call c;

	memset(&c, 0, sizeof(c));
	c.fn = (void *)amd64g_calculate_rflags_all;
	c.name = "amd64g_calculate_rflags_all";
	c.result_size = 8;
	c.guard = c.address = VTI_NO_SLOT;
	c.nargs = 4;
	c.args[0] = emit_state_read(b, CC_OP);
	c.args[1] = emit_state_read(b, CC_DEP1);
	c.args[2] = emit_state_read(b, CC_DEP2);
	c.args[3] = emit_state_read(b, CC_NDEP);
	c.dst = vti_build_temp(b, 1);
	vti_build_add_with(b, (struct vti_op){.op = VTI_CCALL, .dst = c.dst},
			   (struct vti_widths){0}, &c, sizeof(c));
	return c.dst;
}

/* Zero is left alone, the carry is the bit; what is undefined stays unknown. */
static void put_flags(struct vti_build *b, uint16_t bit)
{
	uint16_t zero = emit_word(b, Iop_And64, all_flags(b), vti_build_u64(b, Z));
	uint16_t flags = emit_word(b, Iop_Or64, zero, bit);

	put_all_flags(b, emit_blurred(b, flags, O | S | A | P)); /* Intel SDM volume 2, BT */
}

static void put_result(struct vti_build *b, const struct vt_facts *f, uint16_t old, uint16_t mask)
{
	unsigned size = f->sources[0].size, at = register_at(f->sources[0].reg);
	const uint64_t all = vt_low_bits(8 * size);
	uint16_t now;

	if (f->mnemonic[2] == 's')
		now = emit_word(b, Iop_Or64, old, mask);
	else if (f->mnemonic[2] == 'c')
		now = emit_word(b, Iop_Xor64, old, mask);
	else
		now = emit_word(b, Iop_And64, old,
				emit_word(b, Iop_Xor64, mask, vti_build_u64(b, UINT64_MAX)));
	/* 32 bits of a register clear those above, 16 do not. */
	if (size == 4)
		now = emit_word(b, Iop_And64, now, vti_build_u64(b, all));
	emit_state_word(b, at, now);
	vti_capture_put(b, at, size, false);
}

bool vti_lift_bit_test(struct vti_build *b)
{
	const struct vti_build_insn *n = &b->insns[b->emitted];
	const struct vt_facts *f = &n->facts;
	uint16_t from, index, count, bit;

	if (!is_register_bit_test(f) || prefixes_of(b->bytes + n->offset, f->length).idle_rex)
		return false;
	vti_emit_begin(b);
	from = emit_state_read(b, register_at(f->sources[0].reg));
	index = emit_state_read(b, register_at(f->sources[1].reg));
	count = emit_word(b, Iop_And64, index, vti_build_u64(b, 8u * f->sources[0].size - 1));
	bit = emit_word(b, Iop_And64, emit_word(b, Iop_Shr64, from, count), vti_build_u64(b, C));
	put_flags(b, bit);
	if (f->mnemonic[2])
		put_result(b, f, from, emit_word(b, Iop_Shl64, vti_build_u64(b, 1), count));
	vti_capture_results(b);
	return true;
}
