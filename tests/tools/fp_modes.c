/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Computes with floating-point numbers over and over, with MXCSR as told, and prints what came out:
 * for each computation the address of the instruction that stores its result, and the result.
 *
 *	fp_modes MXCSR TIMES	MXCSR in hexadecimal
 *
 * It sets MXCSR once at the start, or, with -r before that, in each round as well.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double one = 1.0, three = 3.0, half = 2.5, tiny = 1e-200, tinier = 1e-110,
		    denormal = 0x1.8p-1030, normal = 0x1p-1021;
static const float small = 1e-30f, smaller = 1e-10f, denormal_s = 0x1.4p-140f,
		   third = 0x1.555556p-2f;
static const int32_t pair[2] = {7, -9};
static const int64_t odd = (INT64_C(1) << 60) + 1;

/* Name, and what leaves a result in rax. */
#define EACH(X)                                                                                    \
	X(divsd, "movsd %[one],%%xmm0\n\tdivsd %[three],%%xmm0\n\tmovq %%xmm0,%%rax")              \
	X(mulsd_tiny, "movsd %[tiny],%%xmm0\n\tmulsd %[tinier],%%xmm0\n\tmovq %%xmm0,%%rax")       \
	X(mulsd_exact, "movsd %[half],%%xmm0\n\tmulsd %[three],%%xmm0\n\tmovq %%xmm0,%%rax")       \
	X(mulss_tiny, "movss %[small],%%xmm0\n\tmulss %[smaller],%%xmm0\n\tmovd %%xmm0,%%eax")     \
	X(addsd_denormal, "movsd %[normal],%%xmm0\n\taddsd %[denormal],%%xmm0\n\t"                 \
			  "movq %%xmm0,%%rax")                                                     \
	X(subsd_same, "movsd %[one],%%xmm0\n\tsubsd %[one],%%xmm0\n\tmovq %%xmm0,%%rax")           \
	X(sqrtsd, "sqrtsd %[three],%%xmm0\n\tmovq %%xmm0,%%rax")                                   \
	X(vdivsd, "movsd %[one],%%xmm0\n\tmovsd %[three],%%xmm1\n\tdivpd %%xmm1,%%xmm0\n\t"        \
		  "movq %%xmm0,%%rax")                                                             \
	X(cvtsd2si, "cvtsd2si %[half],%%eax")                                                      \
	X(cvttsd2si, "cvttsd2si %[half],%%eax")                                                    \
	X(cvtsi2sd, "mov $-7,%%eax\n\tcvtsi2sd %%eax,%%xmm0\n\tmovq %%xmm0,%%rax")                 \
	X(cvtdq2pd, "cvtdq2pd %[pair],%%xmm0\n\tmovq %%xmm0,%%rax")                                \
	X(cvtsd2ss, "cvtsd2ss %[tiny],%%xmm0\n\tmovd %%xmm0,%%eax")                                \
	X(cvtsd2ss_one, "cvtsd2ss %[one],%%xmm0\n\tmovd %%xmm0,%%eax")                             \
	X(cvtss2sd, "cvtss2sd %[third],%%xmm0\n\tmovq %%xmm0,%%rax")                               \
	X(cvtss2sd_denormal, "cvtss2sd %[denormal_s],%%xmm0\n\tmovq %%xmm0,%%rax")                 \
	X(ucomisd, "xorpd %%xmm0,%%xmm0\n\txor %%eax,%%eax\n\tucomisd %[denormal],%%xmm0\n\t"      \
		   "setb %%al")                                                                    \
	X(cmpltsd, "xorpd %%xmm0,%%xmm0\n\tcmpltsd %[denormal],%%xmm0\n\tmovq %%xmm0,%%rax")       \
	X(logic, "movsd %[denormal],%%xmm0\n\tmovsd %[half],%%xmm1\n\tandpd %%xmm1,%%xmm0\n\t"     \
		 "movq %%xmm0,%%rax")                                                              \
	X(fld_denormal, "flds %[denormal_s]\n\tfstpl -120(%%rsp)\n\tmov -120(%%rsp),%%rax")        \
	X(fdiv, "fldl %[one]\n\tfdivl %[three]\n\tfstpl -120(%%rsp)\n\tmov -120(%%rsp),%%rax")     \
	X(fist, "fldl %[half]\n\tfistpl -120(%%rsp)\n\tmov -120(%%rsp),%%eax")                     \
	X(cvtsi2sd_odd, "mov %[odd],%%rax\n\tcvtsi2sd %%rax,%%xmm0\n\tmovq %%xmm0,%%rax")

enum {
#define X(name, code) AT_##name,
	EACH(X)
#undef X
		COUNT
};

static uint64_t results[COUNT];

#define X(name, code)                                                                              \
	extern const char at_##name[];                                                             \
	static inline __attribute__((always_inline)) void run_##name(void)                         \
	{                                                                                          \
		__asm__ volatile(                                                                  \
			code "\n.globl at_" #name "\nat_" #name ":\n\tmov %%rax,%[result]"         \
			: [result] "=m"(results[AT_##name])                                        \
			: [one] "m"(one), [three] "m"(three), [half] "m"(half), [tiny] "m"(tiny),  \
			  [tinier] "m"(tinier), [denormal] "m"(denormal), [normal] "m"(normal),    \
			  [small] "m"(small), [smaller] "m"(smaller),                              \
			  [denormal_s] "m"(denormal_s), [third] "m"(third), [pair] "m"(pair),      \
			  [odd] "m"(odd)                                                           \
			: "rax", "xmm0", "xmm1", "memory", "cc");                                  \
	}
EACH(X)
#undef X

static const struct {
	const char *name, *at;
} labels[] = {
#define X(name, code) {#name, at_##name},
	EACH(X)
#undef X
};

static void set_mxcsr(uint32_t mxcsr)
{
	__asm__ volatile("ldmxcsr %0" : : "m"(mxcsr));
}

static __attribute__((noinline)) void rounds(long times, int again, uint32_t mxcsr)
{
	while (times--) {
		if (again)
			set_mxcsr(mxcsr);
#define X(name, code) run_##name();
		EACH(X)
#undef X
	}
}

int main(int argc, char **argv)
{
	int again = argc == 4 && strcmp(argv[1], "-r") == 0;
	uint32_t mxcsr;
	size_t i;

	if (argc != 3 + again)
		return 2;
	mxcsr = (uint32_t)strtoul(argv[1 + again], NULL, 16);
	set_mxcsr(mxcsr);
	rounds(atol(argv[2 + again]), again, mxcsr);
	set_mxcsr(0x1f80);
	for (i = 0; i < COUNT; i++)
		printf("%s %" PRIxPTR " %" PRIx64 "\n", labels[i].name, (uintptr_t)labels[i].at,
		       results[i]);
	return 0;
}
