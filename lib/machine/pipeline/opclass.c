/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/pipeline/opclass.h"

#define COUNT(words) (sizeof(words) / sizeof((words)[0]))

/* Whatever its operands are. */
static const struct vti_word any[] = {
	VTI_IS("vzeroupper", VT_OP_NOP),    VTI_IS("vzeroall", VT_OP_NOP),
	VTI_IS("emms", VT_OP_NOP),	    VTI_IS("in", VT_OP_SLOW),
	VTI_IS("out", VT_OP_SLOW),	    VTI_IS("insb", VT_OP_SLOW),
	VTI_IS("insd", VT_OP_SLOW),	    VTI_IS("insw", VT_OP_SLOW),
	VTI_IS("outsb", VT_OP_SLOW),	    VTI_IS("outsd", VT_OP_SLOW),
	VTI_IS("outsw", VT_OP_SLOW),	    VTI_IS("hlt", VT_OP_SLOW),
	VTI_IS("iret", VT_OP_SLOW),	    VTI_IS("iretd", VT_OP_SLOW),
	VTI_IS("iretq", VT_OP_SLOW),	    VTI_IS("enter", VT_OP_SLOW),
	VTI_IS("ud0", VT_OP_SLOW),	    VTI_IS("ud1", VT_OP_SLOW),
	VTI_IS("ud2", VT_OP_SLOW),	    VTI_IS("stmxcsr", VT_OP_SLOW),
	VTI_IS("ldmxcsr", VT_OP_SLOW),	    VTI_IS("vstmxcsr", VT_OP_SLOW),
	VTI_IS("vldmxcsr", VT_OP_SLOW),	    VTI_BEGINS("cpuid", VT_OP_SLOW),
	VTI_BEGINS("rdtsc", VT_OP_SLOW),    VTI_BEGINS("rdpmc", VT_OP_SLOW),
	VTI_BEGINS("rdpid", VT_OP_SLOW),    VTI_BEGINS("xgetbv", VT_OP_SLOW),
	VTI_BEGINS("xsetbv", VT_OP_SLOW),   VTI_BEGINS("xsave", VT_OP_SLOW),
	VTI_BEGINS("xrstor", VT_OP_SLOW),   VTI_BEGINS("rdrand", VT_OP_SLOW),
	VTI_BEGINS("rdseed", VT_OP_SLOW),   VTI_BEGINS("rdfsbase", VT_OP_SLOW),
	VTI_BEGINS("rdgsbase", VT_OP_SLOW), VTI_BEGINS("wrfsbase", VT_OP_SLOW),
	VTI_BEGINS("wrgsbase", VT_OP_SLOW), VTI_BEGINS("rdmsr", VT_OP_SLOW),
	VTI_BEGINS("wrmsr", VT_OP_SLOW),    VTI_BEGINS("sysret", VT_OP_SLOW),
	VTI_BEGINS("swapgs", VT_OP_SLOW),   VTI_BEGINS("wbinvd", VT_OP_SLOW),
	VTI_BEGINS("invlpg", VT_OP_SLOW),   VTI_BEGINS("clflush", VT_OP_SLOW),
	VTI_BEGINS("clwb", VT_OP_SLOW),	    VTI_BEGINS("xbegin", VT_OP_SLOW),
	VTI_BEGINS("xend", VT_OP_SLOW),	    VTI_BEGINS("xabort", VT_OP_SLOW),
	VTI_BEGINS("xtest", VT_OP_SLOW),    VTI_BEGINS("vmcall", VT_OP_SLOW),
	VTI_BEGINS("fxsave", VT_OP_SLOW),   VTI_BEGINS("fxrstor", VT_OP_SLOW),
	VTI_IS("mfence", VT_OP_SYNC),	    VTI_IS("lfence", VT_OP_SYNC),
	VTI_IS("sfence", VT_OP_SYNC),
};

/* Without the v of VEX. */
static const struct vti_word vectors[] = {
	VTI_BEGINS("sqrt", VT_OP_FDIV),		VTI_BEGINS("shuf", VT_OP_SHUFFLE),
	VTI_BEGINS("pshuf", VT_OP_SHUFFLE),	VTI_BEGINS("unpck", VT_OP_SHUFFLE),
	VTI_BEGINS("punpck", VT_OP_SHUFFLE),	VTI_BEGINS("perm", VT_OP_SHUFFLE),
	VTI_BEGINS("broadcast", VT_OP_SHUFFLE), VTI_BEGINS("pbroadcast", VT_OP_SHUFFLE),
	VTI_BEGINS("insert", VT_OP_SHUFFLE),	VTI_BEGINS("pinsr", VT_OP_SHUFFLE),
	VTI_BEGINS("extract", VT_OP_SHUFFLE),	VTI_BEGINS("pextr", VT_OP_SHUFFLE),
	VTI_BEGINS("pack", VT_OP_SHUFFLE),	VTI_BEGINS("movddup", VT_OP_SHUFFLE),
	VTI_BEGINS("movshdup", VT_OP_SHUFFLE),	VTI_BEGINS("movsldup", VT_OP_SHUFFLE),
	VTI_BEGINS("palignr", VT_OP_SHUFFLE),	VTI_BEGINS("align", VT_OP_SHUFFLE),
	VTI_BEGINS("psrldq", VT_OP_SHUFFLE),	VTI_BEGINS("pslldq", VT_OP_SHUFFLE),
	VTI_BEGINS("compress", VT_OP_SHUFFLE),	VTI_BEGINS("expand", VT_OP_SHUFFLE),
	VTI_BEGINS("movhlps", VT_OP_SHUFFLE),	VTI_BEGINS("movlhps", VT_OP_SHUFFLE),
	VTI_BEGINS("aes", VT_OP_FMUL),		VTI_BEGINS("pclmul", VT_OP_FMUL),
	VTI_BEGINS("gf2", VT_OP_FMUL),		VTI_BEGINS("sha", VT_OP_FMUL),
	VTI_BEGINS("pmadd", VT_OP_FMUL),	VTI_BEGINS("dp", VT_OP_FMUL),
	VTI_BEGINS("psadbw", VT_OP_FMUL),	VTI_BEGINS("rcp", VT_OP_FMUL),
	VTI_BEGINS("rsqrt", VT_OP_FMUL),	VTI_BEGINS("round", VT_OP_FADD),
	VTI_BEGINS("and", VT_OP_VINT),		VTI_BEGINS("or", VT_OP_VINT),
	VTI_BEGINS("xor", VT_OP_VINT),		VTI_BEGINS("blend", VT_OP_VINT),
	VTI_BEGINS("mov", VT_OP_VINT),
};

static const struct vti_word x87[] = {
	VTI_IS("fsqrt", VT_OP_FDIV),	   VTI_IS("fxch", VT_OP_NOP),
	VTI_IS("fnop", VT_OP_NOP),	   VTI_IS("ffree", VT_OP_NOP),
	VTI_IS("fincstp", VT_OP_NOP),	   VTI_IS("fdecstp", VT_OP_NOP),
	VTI_BEGINS("fsin", VT_OP_SLOW),	   VTI_BEGINS("fcos", VT_OP_SLOW),
	VTI_BEGINS("fptan", VT_OP_SLOW),   VTI_BEGINS("fpatan", VT_OP_SLOW),
	VTI_BEGINS("f2xm1", VT_OP_SLOW),   VTI_BEGINS("fyl2x", VT_OP_SLOW),
	VTI_BEGINS("fscale", VT_OP_SLOW),  VTI_BEGINS("fprem", VT_OP_SLOW),
	VTI_BEGINS("fbld", VT_OP_SLOW),	   VTI_BEGINS("fbstp", VT_OP_SLOW),
	VTI_BEGINS("fxtract", VT_OP_SLOW), VTI_BEGINS("frstor", VT_OP_SLOW),
	VTI_BEGINS("fnsave", VT_OP_SLOW),  VTI_BEGINS("fldenv", VT_OP_SLOW),
	VTI_BEGINS("fnstenv", VT_OP_SLOW), VTI_BEGINS("fninit", VT_OP_SLOW),
	VTI_BEGINS("fldcw", VT_OP_SLOW),
};

/* Of integers in general registers. */
static const struct vti_word integers[] = {
	VTI_IS("popcnt", VT_OP_MULTIPLY), VTI_IS("lzcnt", VT_OP_MULTIPLY),
	VTI_IS("tzcnt", VT_OP_MULTIPLY),  VTI_IS("bsf", VT_OP_MULTIPLY),
	VTI_IS("bsr", VT_OP_MULTIPLY),	  VTI_IS("pdep", VT_OP_MULTIPLY),
	VTI_IS("pext", VT_OP_MULTIPLY),	  VTI_IS("crc32", VT_OP_MULTIPLY),
	VTI_BEGINS("shl", VT_OP_SHIFT),	  VTI_BEGINS("shr", VT_OP_SHIFT),
	VTI_BEGINS("sal", VT_OP_SHIFT),	  VTI_BEGINS("sar", VT_OP_SHIFT),
	VTI_BEGINS("rol", VT_OP_SHIFT),	  VTI_BEGINS("ror", VT_OP_SHIFT),
	VTI_BEGINS("rcl", VT_OP_SHIFT),	  VTI_BEGINS("rcr", VT_OP_SHIFT),
};

static int vector_class(const struct vt_facts *f)
{
	const int found = vti_word_find(vectors, COUNT(vectors), vti_stem(f));

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
	const int found = vti_word_find(x87, COUNT(x87), f->mnemonic);

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
	found = vti_word_find(integers, COUNT(integers), f->mnemonic);
	return found >= 0 ? found : VT_OP_INT;
}

/* What no mnemonic need be looked at for. */
#define PLAIN (VT_FACT_MOVE | VT_FACT_COMPARE | VT_FACT_LEA | VT_FACT_PUSH | VT_FACT_POP)

enum vt_op_class vti_op_class(const struct vt_facts *f)
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
		found = vti_word_find(any, COUNT(any), f->mnemonic);
	if (found < 0 && f->flags & VT_FACT_X87)
		found = x87_class(f);
	else if (found < 0 && f->flags & VT_FACT_VECTOR)
		found = vector_class(f);
	else if (found < 0)
		found = integer_class(f);
	return (enum vt_op_class)found;
}
