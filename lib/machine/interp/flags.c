/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/interp/flags.h"

#include "machine/lift/fastop.h"

/* VEX's own, which no header of it declares: all flags, and one condition, of known operands. */
unsigned long amd64g_calculate_rflags_all(unsigned long op, unsigned long dep1, unsigned long dep2,
					  unsigned long ndep);
unsigned long amd64g_calculate_condition(unsigned long condition, unsigned long op,
					 unsigned long dep1, unsigned long dep2,
					 unsigned long ndep);

/*
 * The numbers of VEX's thunk (guest_amd64_defs.h of Valgrind 3.19): what they are based on, with
 * one for each width of 8 to 64 bits from there on; the last few are of 32 and 64 bits.
 */
enum {
	OP_COPY = 0,
	OP_ADD = 1,
	OP_SUB = 5,
	OP_ADC = 9,
	OP_SBB = 13,
	OP_LOGIC = 17,
	OP_INC = 21,
	OP_DEC = 25,
	OP_SHL = 29,
	OP_SHR = 33,
	OP_ROL = 37,
	OP_ROR = 41,
	OP_UMUL = 45,
	OP_SMUL = 49,
	OP_ANDN = 53,
	OP_BLSI = 55,
	OP_BLSMSK = 57,
	OP_BLSR = 59,
	OP_ADCX = 61,
	OP_ADOX = 63,
	OP_END = 65,
};

/* Flags that instructions leave undefined (Intel SDM volume 2), where VEX computes something. */
static uint64_t undefined_op_flags(uint64_t op)
{
	if (op < OP_LOGIC)
		return 0;
	if (op < OP_INC)
		return VTI_FLAG_A;
	if (op < OP_SHL)
		return 0;
	if (op < OP_ROL)
		return VTI_FLAG_A | VTI_FLAG_O;
	if (op < OP_UMUL)
		return VTI_FLAG_O;
	if (op < OP_ANDN)
		return VTI_FLAG_S | VTI_FLAG_Z | VTI_FLAG_A | VTI_FLAG_P;
	return op < OP_ADCX ? VTI_FLAG_A | VTI_FLAG_P : 0;
}

/* Flags being put together: first nothing but the six is known. */
static void put_flag(struct vt_word *flags, uint64_t flag, struct vt_word bit)
{
	if (!(bit.known & 1))
		return;
	flags->known |= flag;
	if (bit.value & 1)
		flags->value |= flag;
}

static struct vt_word bit_of(struct vt_word w, unsigned i)
{
	return vti_fast_field(w, i, 1);
}

static struct vt_word cut_operand(struct vt_word w, unsigned bits)
{
	return vti_fast_cut(w, bits);
}

/* Zero, sign and parity of a result. */
static struct vt_word result_flags(struct vt_word result, unsigned bits)
{
	struct vt_word flags = {0, ~VTI_FLAGS};

	put_flag(&flags, VTI_FLAG_Z, vti_fast_equal(result, vt_word_of(0)));
	put_flag(&flags, VTI_FLAG_S, bit_of(result, bits - 1));
	put_flag(&flags, VTI_FLAG_P,
		 vti_fast_bit((result.known & 0xff) == 0xff,
			      !__builtin_parityll(result.value & 0xff)));
	return flags;
}

/* Overflow of a sum: the operands' signs agree, the result's is another. */
static struct vt_word sum_overflow(struct vt_word a, struct vt_word b, struct vt_word result,
				   unsigned bits)
{
	return bit_of(vti_fast_and(vti_fast_xor(a, result), vti_fast_xor(b, result)), bits - 1);
}

static struct vt_word add_flags(struct vt_word a, struct vt_word b, unsigned bits)
{
	struct vt_word result = vti_fast_sum(a, b, 0, bits);
	struct vt_word flags = result_flags(result, bits);

	/* There is a carry when a is above what b leaves up to the greatest number. */
	put_flag(&flags, VTI_FLAG_C, vti_fast_below(vti_fast_not(b, bits), a));
	put_flag(&flags, VTI_FLAG_A, bit_of(vti_fast_xor(vti_fast_xor(a, b), result), 4));
	put_flag(&flags, VTI_FLAG_O, sum_overflow(a, b, result, bits));
	return flags;
}

static struct vt_word sub_flags(struct vt_word a, struct vt_word b, unsigned bits)
{
	struct vt_word nb = vti_fast_not(b, bits);
	struct vt_word result = vti_fast_sum(a, nb, 1, bits);
	struct vt_word flags = result_flags(result, bits);
	struct vt_word equal = vti_fast_equal(a, b);

	/* Bits that differ say so even where the difference is not known. */
	put_flag(&flags, VTI_FLAG_Z, equal);
	put_flag(&flags, VTI_FLAG_C, vti_fast_below(a, b));
	put_flag(&flags, VTI_FLAG_A, bit_of(vti_fast_xor(vti_fast_xor(a, b), result), 4));
	put_flag(&flags, VTI_FLAG_O, sum_overflow(a, nb, result, bits));
	return flags;
}

static struct vt_word logic_flags(struct vt_word result, unsigned bits)
{
	struct vt_word flags = result_flags(result, bits);

	flags.known |= VTI_FLAG_C | VTI_FLAG_O;
	return flags;
}

/* An increment overflows to the least number, a decrement to the greatest; both keep the carry. */
static struct vt_word step_flags(struct vt_word result, struct vt_word old, unsigned bits, bool up)
{
	uint64_t sign = UINT64_C(1) << (bits - 1);
	struct vt_word flags = result_flags(result, bits);
	struct vt_word low = vti_fast_cut(result, 4);

	put_flag(&flags, VTI_FLAG_C, bit_of(old, 0));
	put_flag(&flags, VTI_FLAG_A, vti_fast_equal(low, vt_word_of(up ? 0 : 15)));
	put_flag(&flags, VTI_FLAG_O, vti_fast_equal(result, vt_word_of(up ? sign : sign - 1)));
	return flags;
}

/* The second operand of the thunk is the number shifted by one less. */
static struct vt_word shift_flags(struct vt_word result, struct vt_word before, unsigned bits,
				  bool left)
{
	struct vt_word flags = result_flags(result, bits);

	put_flag(&flags, VTI_FLAG_C, bit_of(before, left ? bits - 1 : 0));
	return flags;
}

/* Not everything that counts is known. */
static struct vt_word partial_flags(uint64_t op, struct vt_word dep1, struct vt_word dep2,
				    struct vt_word ndep)
{
	unsigned bits = op ? 8u << ((op - 1) % 4) : 0;

	switch (bits ? op - (op - 1) % 4 : op) {
	case OP_COPY:
		return (struct vt_word){dep1.value & VTI_FLAGS, dep1.known | ~VTI_FLAGS};
	case OP_ADD:
		return add_flags(cut_operand(dep1, bits), cut_operand(dep2, bits), bits);
	case OP_SUB:
		return sub_flags(cut_operand(dep1, bits), cut_operand(dep2, bits), bits);
	case OP_LOGIC:
		return logic_flags(cut_operand(dep1, bits), bits);
	case OP_INC:
		return step_flags(cut_operand(dep1, bits), ndep, bits, true);
	case OP_DEC:
		return step_flags(cut_operand(dep1, bits), ndep, bits, false);
	case OP_SHL:
		return shift_flags(cut_operand(dep1, bits), cut_operand(dep2, bits), bits, true);
	case OP_SHR:
		return shift_flags(cut_operand(dep1, bits), cut_operand(dep2, bits), bits, false);
	default:
		return (struct vt_word){0, ~VTI_FLAGS};
	}
}

struct vt_word vti_flags_all(struct vt_word op, struct vt_word dep1, struct vt_word dep2,
			     struct vt_word ndep)
{
	struct vt_word flags;

	if (!vt_word_is_known(op) || op.value >= OP_END)
		return (struct vt_word){0, ~VTI_FLAGS};
	if ((dep1.known & dep2.known & ndep.known) == ~UINT64_C(0))
		flags = (struct vt_word){
			amd64g_calculate_rflags_all(op.value, dep1.value, dep2.value, ndep.value) &
				VTI_FLAGS,
			~UINT64_C(0)};
	else
		flags = partial_flags(op.value, dep1, dep2, ndep);
	flags.known &= ~undefined_op_flags(op.value);
	flags.value &= flags.known;
	return flags;
}

static struct vt_word flag_of(struct vt_word flags, uint64_t flag)
{
	return vti_fast_bit(flags.known & flag, flags.value & flag);
}

/* Conditions of a comparison are decided by bounds, too. */
static bool decide_comparison(unsigned condition, uint64_t op, struct vt_word a, struct vt_word b,
			      struct vt_word *yes)
{
	unsigned bits = 8u << ((op - 1) % 4);

	if (op < OP_SUB || op >= OP_ADC)
		return false;
	a = cut_operand(a, bits);
	b = cut_operand(b, bits);
	switch (condition & ~1u) {
	case 0x6:
		*yes = vti_fast_invert(vti_fast_below(b, a));
		return true;
	case 0xc:
		*yes = vti_fast_less(a, b, bits);
		return true;
	case 0xe:
		*yes = vti_fast_invert(vti_fast_less(b, a, bits));
		return true;
	default:
		return false;
	}
}

static struct vt_word from_flags(unsigned condition, struct vt_word flags)
{
	struct vt_word less = vti_fast_xor(flag_of(flags, VTI_FLAG_S), flag_of(flags, VTI_FLAG_O));

	switch (condition & ~1u) {
	case 0x0:
		return flag_of(flags, VTI_FLAG_O);
	case 0x2:
		return flag_of(flags, VTI_FLAG_C);
	case 0x4:
		return flag_of(flags, VTI_FLAG_Z);
	case 0x6:
		return vti_fast_or(flag_of(flags, VTI_FLAG_C), flag_of(flags, VTI_FLAG_Z));
	case 0x8:
		return flag_of(flags, VTI_FLAG_S);
	case 0xa:
		return flag_of(flags, VTI_FLAG_P);
	case 0xc:
		return less;
	default:
		return vti_fast_or(less, flag_of(flags, VTI_FLAG_Z));
	}
}

/* Zero or not, of a result that is in the thunk: the condition asked for most. */
static bool asks_for_zero(struct vt_word condition, struct vt_word op, struct vt_word dep1,
			  struct vt_word *is_zero)
{
	unsigned bits = 8u << ((op.value - 1) % 4);

	if ((condition.value & ~UINT64_C(1)) != 4 || op.value < OP_LOGIC || op.value >= OP_SHL)
		return false;
	*is_zero = vti_fast_equal(cut_operand(dep1, bits), vt_word_of(0));
	return true;
}

struct vt_word vti_flags_condition(struct vt_word condition, struct vt_word op, struct vt_word dep1,
				   struct vt_word dep2, struct vt_word ndep)
{
	struct vt_word yes;

	if (!vt_word_is_known(condition) || condition.value > 15 || !vt_word_is_known(op))
		return vt_word_unknown(1);
	if (asks_for_zero(condition, op, dep1, &yes))
		return condition.value & 1 ? vti_fast_invert(yes) : yes;
	if ((dep1.known & dep2.known & ndep.known) == ~UINT64_C(0) && op.value < OP_SHL)
		return vt_word_of(amd64g_calculate_condition(condition.value, op.value, dep1.value,
							     dep2.value, ndep.value) &
				  1);
	if (!decide_comparison((unsigned)condition.value, op.value, dep1, dep2, &yes))
		yes = from_flags((unsigned)condition.value, vti_flags_all(op, dep1, dep2, ndep));
	return condition.value & 1 ? vti_fast_invert(yes) : yes;
}
