/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VTRACE_TESTS_TOOLS_REC_LOADS_H
#define VTRACE_TESTS_TOOLS_REC_LOADS_H

/*
 * The instructions that rec_loads executes: X(name, size, flags, before, instruction).  The
 * instruction has its memory operand at rsi, `size` bytes; rdi is room to write to.  rsp is put
 * back afterwards.  What else is to be done after the instruction may follow it.
 */

/* Flags of a case. */
#define ANY	      0
#define ALIGNED	      (1 << 0) /* the operand to 64 bytes */
#define DIVISOR	      (1 << 1) /* the operand is odd and rdx 0: no overflow, no zero */
#define NO_LOAD	      (1 << 2)
#define LATE	      (1 << 3)	 /* the code before the instruction writes the operand */
#define WITHIN	      (1 << 4)	 /* loads a part of the operand, or piece by piece */
#define AT_RDI	      (1 << 5)	 /* the operand is at rdi */
#define BOTH	      (1 << 6)	 /* at rsi and at rdi */
#define TIMES(n)      ((n) << 8) /* repeated */
#define TIMES_OF(f)   ((f) >> 8 & 15)
#define ELEMENT(n)    ((n) << 12) /* bytes of an element of a masked load; ymm1 is the mask */
#define ELEMENT_OF(f) ((f) >> 12 & 15)
#define AVX2	      (1 << 16)
#define BMI2	      (1 << 17)
#define EXTRAS	      (1 << 18)	  /* movbe, aes, pclmul */
#define FMA	      (1 << 19)	  /* and f16c */
#define ZERO	      (1 << 20)	  /* rcx is 0 */
#define GATHER(n)     ((n) << 21) /* so many elements, of ELEMENT bytes; ymm2 has the indices */
#define GATHER_OF(f)  ((f) >> 21 & 15)
#define WIDE_INDEX    (1 << 25) /* of 8 bytes */
#define STATE	      (1 << 26) /* the operand is what fxsave writes */

#define STACK  "lea 256(%%rdi),%%rsp\n\t"
#define VECTOR "vmovdqu 64(%%r8),%%ymm1\n\tvmovdqu 96(%%r8),%%ymm2\n\t"

#define EACH_SIZE(X, name, flags, before, mnemonic)                                                \
	X(name##b, 1, flags, before, mnemonic "b (%%rsi),%%al")                                    \
	X(name##w, 2, flags, before, mnemonic "w (%%rsi),%%ax")                                    \
	X(name##l, 4, flags, before, mnemonic "l (%%rsi),%%eax")                                   \
	X(name##q, 8, flags, before, mnemonic "q (%%rsi),%%rax")

#define EACH_TO(X, name, flags, before, mnemonic)                                                  \
	X(name##b, 1, flags, before, mnemonic "b %%bl,(%%rsi)")                                    \
	X(name##w, 2, flags, before, mnemonic "w %%bx,(%%rsi)")                                    \
	X(name##l, 4, flags, before, mnemonic "l %%ebx,(%%rsi)")                                   \
	X(name##q, 8, flags, before, mnemonic "q %%rbx,(%%rsi)")

#define EACH_ONE(X, name, flags, before, mnemonic, more)                                           \
	X(name##b, 1, flags, before, mnemonic "b " more "(%%rsi)")                                 \
	X(name##w, 2, flags, before, mnemonic "w " more "(%%rsi)")                                 \
	X(name##l, 4, flags, before, mnemonic "l " more "(%%rsi)")                                 \
	X(name##q, 8, flags, before, mnemonic "q " more "(%%rsi)")

/* Those that have no byte form. */
#define EACH_WIDE(X, name, flags, before, mnemonic)                                                \
	X(name##w, 2, flags, before, mnemonic "w (%%rsi),%%ax")                                    \
	X(name##l, 4, flags, before, mnemonic "l (%%rsi),%%eax")                                   \
	X(name##q, 8, flags, before, mnemonic "q (%%rsi),%%rax")

#define EACH_STRING(X, name, flags, before, mnemonic)                                              \
	X(name##b, 1, flags, before, mnemonic "b")                                                 \
	X(name##w, 2, flags, before, mnemonic "w")                                                 \
	X(name##l, 4, flags, before, mnemonic "l")                                                 \
	X(name##q, 8, flags, before, mnemonic "q")

#define INTEGER_CASES(X)                                                                           \
	EACH_SIZE(X, mov, ANY, "", "mov")                                                          \
	X(mov_ah, 1, ANY, "", "movb (%%rsi),%%ah")                                                 \
	X(mov_indexed, 4, ZERO, "", "movl (%%rsi,%%rcx,4),%%eax")                                  \
	X(movzbl, 1, ANY, "", "movzbl (%%rsi),%%eax")                                              \
	X(movzbw, 1, ANY, "", "movzbw (%%rsi),%%ax")                                               \
	X(movzbq, 1, ANY, "", "movzbq (%%rsi),%%rax")                                              \
	X(movzwl, 2, ANY, "", "movzwl (%%rsi),%%eax")                                              \
	X(movzwq, 2, ANY, "", "movzwq (%%rsi),%%rax")                                              \
	X(movsbl, 1, ANY, "", "movsbl (%%rsi),%%eax")                                              \
	X(movsbq, 1, ANY, "", "movsbq (%%rsi),%%rax")                                              \
	X(movswl, 2, ANY, "", "movswl (%%rsi),%%eax")                                              \
	X(movswq, 2, ANY, "", "movswq (%%rsi),%%rax")                                              \
	X(movslq, 4, ANY, "", "movslq (%%rsi),%%rax")                                              \
	EACH_WIDE(X, movbe, EXTRAS, "", "movbe")                                                   \
	EACH_SIZE(X, add, ANY, "", "add")                                                          \
	EACH_SIZE(X, adc, ANY, "stc\n\t", "adc")                                                   \
	EACH_SIZE(X, sbb, ANY, "clc\n\t", "sbb")                                                   \
	EACH_SIZE(X, sub, ANY, "", "sub")                                                          \
	EACH_SIZE(X, and, ANY, "", "and")                                                          \
	EACH_SIZE(X, or, ANY, "", "or")                                                            \
	EACH_SIZE(X, xor, ANY, "", "xor")                                                          \
	EACH_SIZE(X, cmp, ANY, "", "cmp")                                                          \
	EACH_SIZE(X, test, ANY, "", "test")                                                        \
	EACH_TO(X, cmp_to, ANY, "", "cmp")                                                         \
	EACH_ONE(X, cmp_imm, ANY, "", "cmp", "$17,")                                               \
	EACH_ONE(X, test_imm, ANY, "", "test", "$1,")                                              \
	EACH_TO(X, add_to, ANY, "", "add")                                                         \
	EACH_TO(X, sub_to, ANY, "", "sub")                                                         \
	EACH_TO(X, adc_to, ANY, "stc\n\t", "adc")                                                  \
	EACH_TO(X, xor_to, ANY, "", "xor")                                                         \
	EACH_TO(X, lock_add_to, ANY, "", "lock add")                                               \
	EACH_TO(X, lock_or_to, ANY, "", "lock or")                                                 \
	EACH_ONE(X, inc, ANY, "", "inc", "")                                                       \
	EACH_ONE(X, dec, ANY, "", "dec", "")                                                       \
	EACH_ONE(X, not, ANY, "", "not", "")                                                       \
	EACH_ONE(X, neg, ANY, "", "neg", "")                                                       \
	EACH_ONE(X, lock_inc, ANY, "", "lock inc", "")                                             \
	EACH_ONE(X, lock_neg, ANY, "", "lock neg", "")                                             \
	EACH_ONE(X, shl_imm, ANY, "", "shl", "$3,")                                                \
	EACH_ONE(X, sar_cl, ANY, "", "sar", "%%cl,")                                               \
	EACH_ONE(X, rol_imm, ANY, "", "rol", "$1,")                                                \
	EACH_ONE(X, rcr_imm, ANY, "stc\n\t", "rcr", "$1,")                                         \
	X(shld_l, 4, ANY, "", "shldl $5,%%ebx,(%%rsi)")                                            \
	X(shrd_q, 8, ANY, "", "shrdq %%cl,%%rbx,(%%rsi)")                                          \
	EACH_TO(X, xchg, ANY, "", "xchg")                                                          \
	EACH_TO(X, xadd, ANY, "", "xadd")                                                          \
	EACH_TO(X, lock_xadd, ANY, "", "lock xadd")                                                \
	EACH_TO(X, cmpxchg, ANY, "", "cmpxchg")                                                    \
	EACH_TO(X, cmpxchg_eq, ANY, "movq (%%rsi),%%rax\n\t", "cmpxchg")                           \
	EACH_TO(X, lock_cmpxchg, ANY, "", "lock cmpxchg")                                          \
	EACH_TO(X, lock_cmpxchg_eq, ANY, "movq (%%rsi),%%rax\n\t", "lock cmpxchg")                 \
	X(cmpxchg8b, 8, ANY, "", "cmpxchg8b (%%rsi)")                                              \
	X(cmpxchg8b_eq, 8, ANY, "movl (%%rsi),%%eax\n\tmovl 4(%%rsi),%%edx\n\t",                   \
	  "lock cmpxchg8b (%%rsi)")                                                                \
	X(cmpxchg16b, 16, ALIGNED, "", "cmpxchg16b (%%rsi)")                                       \
	X(cmpxchg16b_eq, 16, ALIGNED, "movq (%%rsi),%%rax\n\tmovq 8(%%rsi),%%rdx\n\t",             \
	  "lock cmpxchg16b (%%rsi)")                                                               \
	EACH_WIDE(X, imul, ANY, "", "imul")                                                        \
	X(imul_imm, 8, ANY, "", "imulq $77,(%%rsi),%%rax")                                         \
	EACH_ONE(X, imul_one, ANY, "", "imul", "")                                                 \
	EACH_ONE(X, mul, ANY, "", "mul", "")                                                       \
	X(divb, 1, DIVISOR, "movzbl %%al,%%eax\n\tand $1,%%eax\n\t", "divb (%%rsi)")               \
	X(divw, 2, DIVISOR, "", "divw (%%rsi)")                                                    \
	X(divl, 4, DIVISOR, "", "divl (%%rsi)")                                                    \
	X(divq, 8, DIVISOR, "", "divq (%%rsi)")                                                    \
	X(idivl, 4, DIVISOR, "shr $1,%%eax\n\t", "idivl (%%rsi)")                                  \
	X(idivq, 8, DIVISOR, "shr $1,%%rax\n\t", "idivq (%%rsi)")                                  \
	EACH_WIDE(X, cmov_taken, ANY, "cmp %%rax,%%rax\n\t", "cmovz")                              \
	EACH_WIDE(X, cmov_not, ANY, "cmp %%rax,%%rax\n\t", "cmovnz")                               \
	X(setc, 1, NO_LOAD, "", "setc (%%rsi)")                                                    \
	X(mov_store, 8, NO_LOAD, "", "movq %%rax,(%%rsi)")                                         \
	X(lea, 8, NO_LOAD, "", "lea 8(%%rsi),%%rax")                                               \
	X(nop, 8, NO_LOAD, "", "nopw 8(%%rsi)")                                                    \
	X(prefetch, 8, NO_LOAD, "", "prefetcht0 (%%rsi)")                                          \
	X(bt_imm, 4, WITHIN, "", "btl $9,(%%rsi)")                                                 \
	X(bt_reg, 8, WITHIN, "and $63,%%ecx\n\t", "btq %%rcx,(%%rsi)")                             \
	X(bts_imm, 8, WITHIN, "", "btsq $40,(%%rsi)")                                              \
	X(btr_reg, 4, WITHIN, "and $31,%%ecx\n\t", "btrl %%ecx,(%%rsi)")                           \
	X(lock_btc, 4, WITHIN, "and $31,%%ecx\n\t", "lock btcl %%ecx,(%%rsi)")                     \
	EACH_WIDE(X, popcnt, ANY, "", "popcnt")                                                    \
	EACH_WIDE(X, bsf, ANY, "", "bsf")                                                          \
	EACH_WIDE(X, bsr, ANY, "", "bsr")                                                          \
	EACH_WIDE(X, tzcnt, BMI2, "", "tzcnt")                                                     \
	X(andn, 8, BMI2, "", "andnq (%%rsi),%%rbx,%%rax")                                          \
	X(bextr, 8, BMI2, "", "bextrq %%rcx,(%%rsi),%%rax")                                        \
	X(blsr, 8, BMI2, "", "blsrq (%%rsi),%%rax")                                                \
	X(pdep, 8, BMI2, "", "pdepq (%%rsi),%%rbx,%%rax")                                          \
	X(pext, 4, BMI2, "", "pextl (%%rsi),%%ebx,%%eax")                                          \
	X(rorx, 8, BMI2, "", "rorxq $7,(%%rsi),%%rax")                                             \
	X(shlx, 8, BMI2, "", "shlxq %%rcx,(%%rsi),%%rax")                                          \
	X(mulx, 8, BMI2, "", "mulxq (%%rsi),%%rbx,%%rax")                                          \
	X(crc32b, 1, ANY, "", "crc32b (%%rsi),%%eax")                                              \
	X(crc32l, 4, ANY, "", "crc32l (%%rsi),%%eax")                                              \
	X(crc32q, 8, ANY, "", "crc32q (%%rsi),%%rax")

#define STACK_CASES(X)                                                                             \
	X(push, 8, ANY, STACK, "pushq (%%rsi)")                                                    \
	X(push_reg, 8, NO_LOAD, STACK, "pushq %%rbx")                                              \
	X(pop, 8, ANY, "mov %%rsi,%%rsp\n\t", "popq %%rax")                                        \
	X(popw, 2, ANY, "mov %%rsi,%%rsp\n\t", "popw %%ax")                                        \
	X(pop_mem, 8, ANY, "mov %%rsi,%%rsp\n\t", "popq (%%rdi)")                                  \
	X(popf, 8, LATE, "movq $0x283,(%%rsi)\n\tmov %%rsi,%%rsp\n\t", "popfq")                    \
	X(leave, 8, ANY, "mov %%rbp,%%r10\n\tmov %%rsi,%%rbp\n\t", "leave\n\tmov %%r10,%%rbp")     \
	X(ret, 8, LATE, "lea 1f(%%rip),%%rax\n\tmov %%rax,(%%rsi)\n\tmov %%rsi,%%rsp\n\t",         \
	  "ret\n1:")                                                                               \
	X(ret_imm, 8, LATE, "lea 1f(%%rip),%%rax\n\tmov %%rax,(%%rsi)\n\tmov %%rsi,%%rsp\n\t",     \
	  "ret $16\n1:")                                                                           \
	X(call_mem, 8, LATE, "lea 1f(%%rip),%%rax\n\tmov %%rax,(%%rsi)\n\t" STACK,                 \
	  "call *(%%rsi)\n1:")                                                                     \
	X(jmp_mem, 8, LATE, "lea 1f(%%rip),%%rax\n\tmov %%rax,(%%rsi)\n\t", "jmp *(%%rsi)\n1:")    \
	EACH_STRING(X, lods, ANY, "", "lods")                                                      \
	EACH_STRING(X, movs, ANY, "", "movs")                                                      \
	EACH_STRING(X, scas, AT_RDI, "", "scas")                                                   \
	X(stosq, 8, NO_LOAD, "", "stosq")                                                          \
	X(movs_down, 4, ANY, "std\n\t", "movsl\n\tcld")                                            \
	EACH_STRING(X, rep_movs, TIMES(5), "mov $5,%%ecx\n\t", "rep movs")                         \
	X(rep_movs_none, 8, NO_LOAD, "xor %%ecx,%%ecx\n\t", "rep movsq")                           \
	X(repe_cmps, 1, BOTH | TIMES(4) | LATE,                                                    \
	  "mov $4,%%ecx\n\tmov (%%rsi),%%eax\n\tmov %%eax,(%%rdi)\n\t", "repe cmpsb")              \
	X(repne_scas, 8, AT_RDI | TIMES(3), "mov $3,%%ecx\n\t", "repne scasq")

#define X87_CASES(X)                                                                               \
	X(flds, 4, ANY, "fninit\n\t", "flds (%%rsi)")                                              \
	X(fldl, 8, ANY, "fninit\n\t", "fldl (%%rsi)")                                              \
	X(fldt, 10, ANY, "fninit\n\t", "fldt (%%rsi)")                                             \
	X(filds, 2, ANY, "fninit\n\t", "filds (%%rsi)")                                            \
	X(fildl, 4, ANY, "fninit\n\t", "fildl (%%rsi)")                                            \
	X(fildll, 8, ANY, "fninit\n\t", "fildll (%%rsi)")                                          \
	X(fadds, 4, ANY, "fninit\n\tfld1\n\t", "fadds (%%rsi)")                                    \
	X(fmull, 8, ANY, "fninit\n\tfld1\n\t", "fmull (%%rsi)")                                    \
	X(fcomps, 4, ANY, "fninit\n\tfld1\n\t", "fcomps (%%rsi)")                                  \
	X(fiaddl, 4, ANY, "fninit\n\tfld1\n\t", "fiaddl (%%rsi)")                                  \
	X(fldcw, 2, LATE, "fninit\n\tmovw $0x37f,(%%rsi)\n\t", "fldcw (%%rsi)")                    \
	X(fldenv, 28, LATE, "fninit\n\tfnstenv (%%rsi)\n\t", "fldenv (%%rsi)")                     \
	X(frstor, 108, LATE | WITHIN, "fninit\n\tfldpi\n\tfnsave (%%rsi)\n\t", "frstor (%%rsi)")   \
	X(fxrstor, 512, LATE | WITHIN | ALIGNED, "fninit\n\tfldpi\n\tfxsave64 (%%rsi)\n\t",        \
	  "fxrstor64 (%%rsi)")                                                                     \
	X(ldmxcsr, 4, LATE, "movl $0x1f80,(%%rsi)\n\t", "ldmxcsr (%%rsi)")                         \
	X(mmx_movq, 8, ANY, "", "movq (%%rsi),%%mm0")                                              \
	X(mmx_movd, 4, ANY, "", "movd (%%rsi),%%mm0")                                              \
	X(mmx_paddb, 8, ANY, "", "paddb (%%rsi),%%mm0")                                            \
	X(mmx_pshufw, 8, ANY, "", "pshufw $27,(%%rsi),%%mm0")

#define SSE_CASES(X)                                                                               \
	X(movss, 4, ANY, "", "movss (%%rsi),%%xmm0")                                               \
	X(movsd_x, 8, ANY, "", "movsd (%%rsi),%%xmm0")                                             \
	X(movd, 4, ANY, "", "movd (%%rsi),%%xmm0")                                                 \
	X(movq_x, 8, ANY, "", "movq (%%rsi),%%xmm0")                                               \
	X(movups, 16, ANY, "", "movups (%%rsi),%%xmm0")                                            \
	X(movaps, 16, ALIGNED, "", "movaps (%%rsi),%%xmm0")                                        \
	X(movdqu, 16, ANY, "", "movdqu (%%rsi),%%xmm0")                                            \
	X(movdqa, 16, ALIGNED, "", "movdqa (%%rsi),%%xmm9")                                        \
	X(lddqu, 16, ANY, "", "lddqu (%%rsi),%%xmm0")                                              \
	X(movntdqa, 16, ALIGNED, "", "movntdqa (%%rsi),%%xmm0")                                    \
	X(movlps, 8, ANY, "", "movlps (%%rsi),%%xmm0")                                             \
	X(movhps, 8, ANY, "", "movhps (%%rsi),%%xmm0")                                             \
	X(movlpd, 8, ANY, "", "movlpd (%%rsi),%%xmm0")                                             \
	X(movhpd, 8, ANY, "", "movhpd (%%rsi),%%xmm0")                                             \
	X(movddup, 8, ANY, "", "movddup (%%rsi),%%xmm0")                                           \
	X(movshdup, 16, ALIGNED, "", "movshdup (%%rsi),%%xmm0")                                    \
	X(movups_store, 16, NO_LOAD, "", "movups %%xmm0,(%%rsi)")                                  \
	X(movnti, 8, NO_LOAD, "", "movnti %%rax,(%%rsi)")                                          \
	X(addss, 4, ANY, "", "addss (%%rsi),%%xmm0")                                               \
	X(addsd, 8, ANY, "", "addsd (%%rsi),%%xmm0")                                               \
	X(addps, 16, ALIGNED, "", "addps (%%rsi),%%xmm0")                                          \
	X(mulpd, 16, ALIGNED, "", "mulpd (%%rsi),%%xmm0")                                          \
	X(sqrtsd, 8, ANY, "", "sqrtsd (%%rsi),%%xmm0")                                             \
	X(cvtsi2sdl, 4, ANY, "", "cvtsi2sdl (%%rsi),%%xmm0")                                       \
	X(cvtsi2sdq, 8, ANY, "", "cvtsi2sdq (%%rsi),%%xmm0")                                       \
	X(cvtsi2ssl, 4, ANY, "", "cvtsi2ssl (%%rsi),%%xmm0")                                       \
	X(cvtps2pd, 8, WITHIN, "", "cvtps2pd (%%rsi),%%xmm0")                                      \
	X(cvtdq2pd, 8, ANY, "", "cvtdq2pd (%%rsi),%%xmm0")                                         \
	X(cvtss2sd, 4, ANY, "", "cvtss2sd (%%rsi),%%xmm0")                                         \
	X(cvttsd2si, 8, ANY, "", "cvttsd2si (%%rsi),%%rax")                                        \
	X(cvttss2si, 4, ANY, "", "cvttss2si (%%rsi),%%eax")                                        \
	X(ucomisd, 8, ANY, "", "ucomisd (%%rsi),%%xmm0")                                           \
	X(comiss, 4, ANY, "", "comiss (%%rsi),%%xmm0")                                             \
	X(pinsrb, 1, ANY, "", "pinsrb $3,(%%rsi),%%xmm0")                                          \
	X(pinsrw, 2, ANY, "", "pinsrw $3,(%%rsi),%%xmm0")                                          \
	X(pinsrd, 4, ANY, "", "pinsrd $3,(%%rsi),%%xmm0")                                          \
	X(pinsrq, 8, ANY, "", "pinsrq $1,(%%rsi),%%xmm0")                                          \
	X(pextrd, 4, NO_LOAD, "", "pextrd $1,%%xmm0,(%%rsi)")                                      \
	X(insertps, 4, ANY, "", "insertps $16,(%%rsi),%%xmm0")                                     \
	X(pmovzxbw, 8, ANY, "", "pmovzxbw (%%rsi),%%xmm0")                                         \
	X(pmovzxbd, 4, ANY, "", "pmovzxbd (%%rsi),%%xmm0")                                         \
	X(pmovzxbq, 2, ANY, "", "pmovzxbq (%%rsi),%%xmm0")                                         \
	X(pmovsxwd, 8, ANY, "", "pmovsxwd (%%rsi),%%xmm0")                                         \
	X(pmovsxdq, 8, ANY, "", "pmovsxdq (%%rsi),%%xmm0")                                         \
	X(pshufd, 16, ALIGNED, "", "pshufd $27,(%%rsi),%%xmm0")                                    \
	X(pcmpeqb, 16, ALIGNED, "", "pcmpeqb (%%rsi),%%xmm0")                                      \
	X(paddd, 16, ALIGNED, "", "paddd (%%rsi),%%xmm0")                                          \
	X(pslld, 16, ALIGNED | WITHIN, "", "pslld (%%rsi),%%xmm0")                                 \
	X(punpcklbw, 16, ALIGNED, "", "punpcklbw (%%rsi),%%xmm0")                                  \
	X(punpckhqdq, 16, ALIGNED, "", "punpckhqdq (%%rsi),%%xmm0")                                \
	X(pmaddubsw, 16, ALIGNED, "", "pmaddubsw (%%rsi),%%xmm0")                                  \
	X(pshufb, 16, ALIGNED, "", "pshufb (%%rsi),%%xmm3")                                        \
	X(palignr, 16, ALIGNED, "", "palignr $5,(%%rsi),%%xmm3")                                   \
	X(blendvps, 16, ALIGNED, "", "blendvps %%xmm0,(%%rsi),%%xmm3")                             \
	X(dpps, 16, ALIGNED, "", "dpps $0xf1,(%%rsi),%%xmm0")                                      \
	X(roundsd, 8, ANY, "", "roundsd $1,(%%rsi),%%xmm0")                                        \
	X(ptest, 16, ALIGNED, "", "ptest (%%rsi),%%xmm0")                                          \
	X(pcmpistri, 16, ANY, "", "pcmpistri $12,(%%rsi),%%xmm0")                                  \
	X(pcmpestrm, 16, ANY, "", "pcmpestrm $64,(%%rsi),%%xmm0")                                  \
	X(mpsadbw, 16, ALIGNED, "", "mpsadbw $2,(%%rsi),%%xmm0")                                   \
	X(aesenc, 16, ALIGNED | EXTRAS, "", "aesenc (%%rsi),%%xmm0")                               \
	X(aeskey, 16, ALIGNED | EXTRAS, "", "aeskeygenassist $1,(%%rsi),%%xmm0")                   \
	X(pclmul, 16, ALIGNED | EXTRAS, "", "pclmulqdq $17,(%%rsi),%%xmm0")

#define AVX_CASES(X)                                                                               \
	X(vmovss, 4, AVX2, "", "vmovss (%%rsi),%%xmm0")                                            \
	X(vmovsd, 8, AVX2, "", "vmovsd (%%rsi),%%xmm0")                                            \
	X(vmovd, 4, AVX2, "", "vmovd (%%rsi),%%xmm0")                                              \
	X(vmovq, 8, AVX2, "", "vmovq (%%rsi),%%xmm0")                                              \
	X(vmovups_x, 16, AVX2, "", "vmovups (%%rsi),%%xmm0")                                       \
	X(vmovups, 32, AVX2, "", "vmovups (%%rsi),%%ymm0")                                         \
	X(vmovaps, 32, AVX2 | ALIGNED, "", "vmovaps (%%rsi),%%ymm8")                               \
	X(vmovdqu, 32, AVX2, "", "vmovdqu (%%rsi),%%ymm15")                                        \
	X(vlddqu, 32, AVX2, "", "vlddqu (%%rsi),%%ymm0")                                           \
	X(vmovntdqa, 32, AVX2 | ALIGNED, "", "vmovntdqa (%%rsi),%%ymm0")                           \
	X(vmovddup, 32, AVX2 | WITHIN, "", "vmovddup (%%rsi),%%ymm0")                              \
	X(vmovups_store, 32, AVX2 | NO_LOAD, "", "vmovups %%ymm0,(%%rsi)")                         \
	X(vmovhps, 8, AVX2, "", "vmovhps (%%rsi),%%xmm1,%%xmm0")                                   \
	X(vaddps, 32, AVX2, "", "vaddps (%%rsi),%%ymm1,%%ymm0")                                    \
	X(vaddpd, 32, AVX2, "", "vaddpd (%%rsi),%%ymm1,%%ymm0")                                    \
	X(vaddss, 4, AVX2, "", "vaddss (%%rsi),%%xmm1,%%xmm0")                                     \
	X(vsqrtpd, 32, AVX2, "", "vsqrtpd (%%rsi),%%ymm0")                                         \
	X(vbroadcastss_x, 4, AVX2, "", "vbroadcastss (%%rsi),%%xmm0")                              \
	X(vbroadcastss, 4, AVX2, "", "vbroadcastss (%%rsi),%%ymm0")                                \
	X(vbroadcastsd, 8, AVX2, "", "vbroadcastsd (%%rsi),%%ymm0")                                \
	X(vbroadcastf128, 16, AVX2, "", "vbroadcastf128 (%%rsi),%%ymm0")                           \
	X(vbroadcasti128, 16, AVX2, "", "vbroadcasti128 (%%rsi),%%ymm0")                           \
	X(vinsertf128, 16, AVX2, "", "vinsertf128 $1,(%%rsi),%%ymm1,%%ymm0")                       \
	X(vinserti128, 16, AVX2, "", "vinserti128 $0,(%%rsi),%%ymm1,%%ymm0")                       \
	X(vextractf128, 16, AVX2 | NO_LOAD, "", "vextractf128 $1,%%ymm1,(%%rsi)")                  \
	X(vperm2f128, 32, AVX2 | WITHIN, "", "vperm2f128 $49,(%%rsi),%%ymm1,%%ymm0")               \
	X(vpermilps, 32, AVX2, "", "vpermilps $27,(%%rsi),%%ymm0")                                 \
	X(vpermd, 32, AVX2, "", "vpermd (%%rsi),%%ymm1,%%ymm0")                                    \
	X(vpermq, 32, AVX2, "", "vpermq $27,(%%rsi),%%ymm0")                                       \
	X(vpblendvb, 32, AVX2, "", "vpblendvb %%ymm2,(%%rsi),%%ymm1,%%ymm0")                       \
	X(vpmovzxbw, 16, AVX2, "", "vpmovzxbw (%%rsi),%%ymm0")                                     \
	X(vpmovzxbd, 8, AVX2, "", "vpmovzxbd (%%rsi),%%ymm0")                                      \
	X(vpmovsxbq, 4, AVX2, "", "vpmovsxbq (%%rsi),%%ymm0")                                      \
	X(vcvtps2pd, 16, AVX2 | WITHIN, "", "vcvtps2pd (%%rsi),%%ymm0")                            \
	X(vcvtdq2pd, 16, AVX2, "", "vcvtdq2pd (%%rsi),%%ymm0")                                     \
	X(vcvtpd2ps, 32, AVX2, "", "vcvtpd2psy (%%rsi),%%xmm0")                                    \
	X(vpbroadcastb, 1, AVX2, "", "vpbroadcastb (%%rsi),%%ymm0")                                \
	X(vpbroadcastw, 2, AVX2, "", "vpbroadcastw (%%rsi),%%ymm0")                                \
	X(vpbroadcastd, 4, AVX2, "", "vpbroadcastd (%%rsi),%%ymm0")                                \
	X(vpbroadcastq, 8, AVX2, "", "vpbroadcastq (%%rsi),%%ymm0")                                \
	X(vpsllvd, 32, AVX2, "", "vpsllvd (%%rsi),%%ymm1,%%ymm0")                                  \
	X(vpinsrb, 1, AVX2, "", "vpinsrb $3,(%%rsi),%%xmm1,%%xmm0")                                \
	X(vtestps, 32, AVX2, "", "vtestps (%%rsi),%%ymm0")                                         \
	X(vptest, 32, AVX2, "", "vptest (%%rsi),%%ymm0")                                           \
	X(vpcmpeqb, 32, AVX2, "", "vpcmpeqb (%%rsi),%%ymm1,%%ymm0")                                \
	X(vpshufb, 32, AVX2, "", "vpshufb (%%rsi),%%ymm1,%%ymm0")                                  \
	X(vpalignr, 32, AVX2, "", "vpalignr $3,(%%rsi),%%ymm1,%%ymm0")                             \
	X(vfmadd213ps, 32, FMA | WITHIN, "", "vfmadd213ps (%%rsi),%%ymm1,%%ymm0")                  \
	X(vfmadd231sd, 8, FMA, "", "vfmadd231sd (%%rsi),%%xmm1,%%xmm0")                            \
	X(vcvtph2ps_x, 8, FMA, "", "vcvtph2ps (%%rsi),%%xmm0")                                     \
	X(vcvtph2ps, 16, FMA, "", "vcvtph2ps (%%rsi),%%ymm0")                                      \
	X(vmaskmovps_x, 16, AVX2 | ELEMENT(4), VECTOR, "vmaskmovps (%%rsi),%%xmm1,%%xmm0")         \
	X(vmaskmovps, 32, AVX2 | ELEMENT(4), VECTOR, "vmaskmovps (%%rsi),%%ymm1,%%ymm0")           \
	X(vmaskmovpd_x, 16, AVX2 | ELEMENT(8), VECTOR, "vmaskmovpd (%%rsi),%%xmm1,%%xmm0")         \
	X(vmaskmovpd, 32, AVX2 | ELEMENT(8), VECTOR, "vmaskmovpd (%%rsi),%%ymm1,%%ymm0")           \
	X(vpmaskmovd, 32, AVX2 | ELEMENT(4), VECTOR, "vpmaskmovd (%%rsi),%%ymm1,%%ymm0")           \
	X(vpmaskmovq, 32, AVX2 | ELEMENT(8), VECTOR, "vpmaskmovq (%%rsi),%%ymm1,%%ymm0")           \
	X(vpmaskmovd_store, 32, AVX2 | NO_LOAD, VECTOR, "vpmaskmovd %%ymm0,%%ymm1,(%%rsi)")        \
	X(vgatherdps_x, 0, AVX2 | ELEMENT(4) | GATHER(4), VECTOR,                                  \
	  "vgatherdps %%xmm1,(%%rsi,%%xmm2,4),%%xmm0")                                             \
	X(vgatherdps, 0, AVX2 | ELEMENT(4) | GATHER(8), VECTOR,                                    \
	  "vgatherdps %%ymm1,(%%rsi,%%ymm2,4),%%ymm0")                                             \
	X(vpgatherdd, 0, AVX2 | ELEMENT(4) | GATHER(8), VECTOR,                                    \
	  "vpgatherdd %%ymm1,(%%rsi,%%ymm2,4),%%ymm0")                                             \
	X(vpgatherdq, 0, AVX2 | ELEMENT(8) | GATHER(4), VECTOR,                                    \
	  "vpgatherdq %%ymm1,(%%rsi,%%xmm2,8),%%ymm0")                                             \
	X(vgatherdpd, 0, AVX2 | ELEMENT(8) | GATHER(2), VECTOR,                                    \
	  "vgatherdpd %%xmm1,(%%rsi,%%xmm2,8),%%xmm0")                                             \
	X(vpgatherqd, 0, AVX2 | ELEMENT(4) | GATHER(4) | WIDE_INDEX, VECTOR,                       \
	  "vpgatherqd %%xmm1,(%%rsi,%%ymm2,4),%%xmm0")                                             \
	X(vpgatherqq, 0, AVX2 | ELEMENT(8) | GATHER(4) | WIDE_INDEX, VECTOR,                       \
	  "vpgatherqq %%ymm1,(%%rsi,%%ymm2,8),%%ymm0")                                             \
	X(vgatherqpd, 0, AVX2 | ELEMENT(8) | GATHER(2) | WIDE_INDEX, VECTOR,                       \
	  "vgatherqpd %%xmm1,(%%rsi,%%xmm2,8),%%xmm0")

#define ALL_CASES(X) INTEGER_CASES(X) STACK_CASES(X) X87_CASES(X) SSE_CASES(X) AVX_CASES(X)

#endif
