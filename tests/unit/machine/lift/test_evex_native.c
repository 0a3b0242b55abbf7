/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * AVX-512 in the interpreter against the processor: instructions of random bytes, registers, masks
 * and memory.  What the interpreter calls known is what the processor computed, whatever the bits
 * are that the interpreter was not told; of the instructions that it models, all is known when all
 * is known before.
 *
 * usage: test_evex_native [CASES [SEED]]
 */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/rng.h"
#include "machine/interp/interp.h"
#include "machine/lift/evex.h"

#define DATA	   512 /* bytes of memory, in the middle of a page */
#define REACH	   64  /* of displacements */
#define CODE	   UINT64_C(0x400000)
#define STEP	   64 /* bytes between cases */
#define KEPT	   2000
#define FLAGS	   0x8d5
#define TOLD	   200
#define RET	   0xc3
#define LEAST_RUNS 5 /* of each family, in the cases that are run without arguments */
#define MOST_TRIES 1000

/* As enter() expects it. */
struct state {
	uint64_t zmm[32][8];
	uint64_t mask[8];
	uint64_t gpr[16]; /* by machine code's numbers; rsp and r15 are not used */
	uint64_t flags;
};

void evex_enter(struct state *s, const void *code);

__asm__(".text\n"
	".macro each_zmm from, to\n"
	".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,"
	"31\n"
	".if \\to\n"
	"vmovdqu64 %zmm\\n, 64*\\n(%r15)\n"
	".else\n"
	"vmovdqu64 64*\\n(%r15), %zmm\\n\n"
	".endif\n"
	".endr\n"
	".irp n,0,1,2,3,4,5,6,7\n"
	".if \\to\n"
	"kmovq %k\\n, 2048+8*\\n(%r15)\n"
	".else\n"
	"kmovq 2048+8*\\n(%r15), %k\\n\n"
	".endif\n"
	".endr\n"
	".endm\n"
	".globl evex_enter\n"
	".type evex_enter, @function\n"
	"evex_enter:\n"
	"push %rbx\npush %rbp\npush %r12\npush %r13\npush %r14\npush %r15\n"
	"mov %rdi, %r15\n"
	"push %rsi\n"
	"each_zmm 0, 0\n"
	"pushq 2240(%r15)\npopfq\n"
	"mov 2112(%r15), %rax\nmov 2120(%r15), %rcx\nmov 2128(%r15), %rdx\n"
	"mov 2136(%r15), %rbx\nmov 2152(%r15), %rbp\nmov 2160(%r15), %rsi\n"
	"mov 2168(%r15), %rdi\nmov 2176(%r15), %r8\nmov 2184(%r15), %r9\n"
	"mov 2192(%r15), %r10\nmov 2200(%r15), %r11\nmov 2208(%r15), %r12\n"
	"mov 2216(%r15), %r13\nmov 2224(%r15), %r14\n"
	"call *(%rsp)\n"
	"mov %rax, 2112(%r15)\nmov %rcx, 2120(%r15)\nmov %rdx, 2128(%r15)\n"
	"mov %rbx, 2136(%r15)\nmov %rbp, 2152(%r15)\nmov %rsi, 2160(%r15)\n"
	"mov %rdi, 2168(%r15)\nmov %r8, 2176(%r15)\nmov %r9, 2184(%r15)\n"
	"mov %r10, 2192(%r15)\nmov %r11, 2200(%r15)\nmov %r12, 2208(%r15)\n"
	"mov %r13, 2216(%r15)\nmov %r14, 2224(%r15)\n"
	"pushfq\npopq 2240(%r15)\n"
	"each_zmm 0, 1\n"
	"pop %rsi\n"
	"pop %r15\npop %r14\npop %r13\npop %r12\npop %rbp\npop %rbx\n"
	"vzeroupper\n"
	"ret\n"
	".size evex_enter, . - evex_enter\n");

static struct {
	unsigned cases;
	uint64_t seed;
} options = {.cases = 30000, .seed = 1};

static const uint8_t registers[16] = {
	VT_REG_AX,     VT_REG_CX,     VT_REG_DX,     VT_REG_BX,	    VT_REG_SP,	   VT_REG_BP,
	VT_REG_SI,     VT_REG_DI,     VT_REG_R8,     VT_REG_R8 + 1, VT_REG_R8 + 2, VT_REG_R8 + 3,
	VT_REG_R8 + 4, VT_REG_R8 + 5, VT_REG_R8 + 6, VT_REG_R15,
};

struct oracle {
	struct vt_rng rng;
	struct vt_known_memory *mem;
	struct vt_interp *m;
	uint8_t *code;
	uint8_t *data;
	uint64_t at; /* address of the case's code for the interpreter */
	uint8_t bytes[VT_MAX_INSN];
	struct vt_facts facts;
	struct vti_evex e;
	bool modelled;
	struct state in, known; /* and which bits of it the interpreter is told */
	uint8_t memory[DATA], memory_known[DATA];
	unsigned runs[VTI_EVEX_MASKS + 1];
	unsigned wrong, unknown, unmodelled;
	uint64_t compared;
};

static sigjmp_buf back;

static void on_signal(int number)
{
	siglongjmp(back, number);
}

/* ---- a case ---- */

static uint64_t draw(struct oracle *o)
{
	uint64_t a = vt_rng_next(&o->rng), b = vt_rng_next(&o->rng);

	switch (vt_rng_below(&o->rng, 6)) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX;
	case 2:
		return a & b & UINT64_C(0x8181818181818181);
	case 3:
		return a & b & UINT64_C(0x0f0f0f0f0f0f0f0f);
	default:
		return a;
	}
}

static void draw_state(struct oracle *o)
{
	unsigned i, k;

	for (i = 0; i < 32; i++)
		for (k = 0; k < 8; k++)
			o->in.zmm[i][k] = draw(o);
	for (i = 0; i < 12; i++)
		memcpy(o->in.zmm[vt_rng_below(&o->rng, 32)], o->in.zmm[vt_rng_below(&o->rng, 32)],
		       8 * vt_rng_below(&o->rng, 9));
	for (i = 0; i < 8; i++)
		o->in.mask[i] = draw(o);
	for (i = 0; i < 16; i++)
		o->in.gpr[i] = draw(o);
	o->in.gpr[6] = (uintptr_t)o->data + DATA / 2;
	o->in.gpr[1] = vt_rng_below(&o->rng, 8);
	o->in.flags = (vt_rng_next(&o->rng) & FLAGS) | 0x202;
	for (i = 0; i < DATA; i++)
		o->memory[i] = (uint8_t)draw(o);
	memcpy(o->memory + DATA / 2, o->in.zmm[vt_rng_below(&o->rng, 32)], 64);
}

static uint64_t draw_mask(struct oracle *o)
{
	uint64_t bits = vt_rng_next(&o->rng), mask = 0;
	unsigned i;

	switch (vt_rng_below(&o->rng, 6)) {
	case 0:
		return bits;
	case 1:
		return bits | vt_rng_next(&o->rng) | vt_rng_next(&o->rng);
	case 2:
		for (i = 0; i < 8; i++)
			mask |= bits >> i & 1 ? UINT64_C(0xff) << 8 * i : 0;
		return mask;
	default:
		return UINT64_MAX;
	}
}

static void draw_known(struct oracle *o, bool hides)
{
	unsigned i, k;

	memset(&o->known, 0xff, sizeof(o->known));
	memset(o->memory_known, 0xff, sizeof(o->memory_known));
	if (!hides)
		return;
	for (i = 0; i < 32; i++)
		for (k = 0; k < 8; k++)
			o->known.zmm[i][k] = draw_mask(o);
	for (i = 0; i < 8; i++)
		o->known.mask[i] = draw_mask(o);
	for (i = 0; i < 16; i++)
		o->known.gpr[i] = i == 1 || i == 6 ? UINT64_MAX : draw_mask(o);
	for (i = 0; i < DATA; i++)
		o->memory_known[i] = vt_rng_below(&o->rng, 4) ? 0xff : 0;
}

/* Memory at rsi with a displacement of one byte, rsi and rcx, or a register. */
static unsigned draw_operand(struct oracle *o, uint8_t *p)
{
	uint8_t reg = (uint8_t)(vt_rng_below(&o->rng, 8) << 3);
	int32_t disp = (int32_t)vt_rng_below(&o->rng, 2 * REACH) - REACH;

	if (vt_rng_below(&o->rng, 2))
		disp &= ~63;
	switch (vt_rng_below(&o->rng, 4)) {
	case 0:
		p[0] = (uint8_t)(0x86 | reg);
		memcpy(p + 1, &disp, 4);
		return 5;
	case 1:
		p[0] = (uint8_t)(0x84 | reg);
		p[1] = 0x0e | (uint8_t)(vt_rng_below(&o->rng, 3) << 6);
		memcpy(p + 2, &disp, 4);
		return 6;
	default:
		p[0] = (uint8_t)(0xc0 | reg | vt_rng_below(&o->rng, 8));
		return 1;
	}
}

static void draw_bytes(struct oracle *o)
{
	static const uint8_t masks[] = {0x30, 0x31, 0x32, 0x33, 0x41, 0x42, 0x44, 0x45, 0x46,
					0x47, 0x4a, 0x4b, 0x90, 0x91, 0x92, 0x93, 0x98, 0x99};
	static const uint8_t plain[] = {0xef, 0xfe, 0x6f, 0xfc, 0xd4, 0xdb, 0xeb, 0x74, 0x77};
	uint8_t *p = o->bytes;
	unsigned i;

	for (i = 0; i < sizeof(o->bytes); i++)
		p[i] = (uint8_t)vt_rng_next(&o->rng);
	switch (vt_rng_below(&o->rng, 8)) {
	case 0:
		p[0] = 0xc4;
		p[1] = 0xe0 | (uint8_t)(1 + vt_rng_below(&o->rng, 3));
		p[2] &= 0x87;
		if (vt_rng_below(&o->rng, 2))
			p[2] |= (uint8_t)(vt_rng_below(&o->rng, 8) << 3) | 0x40;
		else
			p[2] |= 0x78;
		p[3] = masks[vt_rng_below(&o->rng, sizeof(masks))];
		draw_operand(o, p + 4);
		break;
	case 1:
		p[0] = 0xc5;
		p[1] = (p[1] & 0xfc) | 1;
		p[2] = plain[vt_rng_below(&o->rng, sizeof(plain))];
		if (p[2] == 0x77)
			p[1] = 0xf8;
		else
			p[3] |= 0xc0;
		break;
	default:
		p[0] = 0x62;
		/* The map; all registers, but those that addresses need. */
		p[1] = (uint8_t)((p[1] & 0xf0) | (1 + vt_rng_below(&o->rng, 3)));
		p[2] |= 4;
		if (!vt_rng_below(&o->rng, 3))
			p[3] &= 0xf8;
		if (draw_operand(o, p + 5) > 1) {
			p[1] |= 0x60;
			p[3] |= 8;
		}
		if (!vt_rng_below(&o->rng, 2)) {
			p[2] |= 0x78;
			p[3] |= 8;
		}
		if (!vt_rng_below(&o->rng, 4))
			p[1] |= 0xf0;
		break;
	}
}

/* What enter() keeps for itself, or what would write elsewhere. */
static bool is_used(const struct oracle *o)
{
	uint64_t kept = UINT64_C(1) << VT_REG_SP | UINT64_C(1) << VT_REG_R15;
	const struct vt_facts *f = &o->facts;

	if ((f->reads | f->writes) & kept || f->flags & (VT_FACT_BRANCH | VT_FACT_SYSCALL))
		return false;
	if (f->nmemories && (f->memories[0].gather || f->memories[0].base != VT_REG_SI ||
			     (f->memories[0].scale && f->memories[0].index != VT_REG_CX)))
		return false;
	return true;
}

/* Mostly an instruction that is modelled. */
static bool draw_insn(struct oracle *o)
{
	bool any = !vt_rng_below(&o->rng, 8);
	unsigned tries;

	for (tries = 0; tries < MOST_TRIES; tries++) {
		draw_bytes(o);
		if (!vt_facts_decode(o->bytes, sizeof(o->bytes), &o->facts) || !is_used(o))
			continue;
		o->modelled = vti_evex_decode(o->bytes, o->facts.length, &o->e);
		if (o->modelled || any)
			return true;
	}
	return false;
}

/* ---- running it ---- */

/* False: the processor does not have it, or it faults. */
static bool run_native(struct oracle *o, struct state *s, const uint8_t *memory)
{
	memcpy(o->data, memory, DATA);
	memcpy(o->code, o->bytes, o->facts.length);
	o->code[o->facts.length] = RET;
	if (sigsetjmp(back, 1))
		return false;
	evex_enter(s, o->code);
	return true;
}

static uint64_t fill(void *arg, uint64_t addr, uint8_t bytes[VT_KNOWN_LINE], bool lasting)
{
	const struct oracle *o = arg;
	uint64_t at = addr - (uintptr_t)o->data, known = 0;
	unsigned i;

	if (lasting || at >= DATA)
		return 0;
	memcpy(bytes, o->memory + at, VT_KNOWN_LINE);
	for (i = 0; i < VT_KNOWN_LINE; i++)
		known |= o->memory_known[at + i] ? UINT64_C(1) << i : 0;
	return known;
}

static size_t fetch(void *arg, uint64_t space, uint64_t addr, uint8_t *bytes, size_t size)
{
	static const uint8_t jump[2] = {0xeb, 0};
	const struct oracle *o = arg;
	size_t n = o->facts.length;

	(void)space;
	if (addr != o->at || size < n + sizeof(jump))
		return 0;
	memcpy(bytes, o->bytes, n);
	memcpy(bytes + n, jump, sizeof(jump));
	return n + sizeof(jump);
}

static struct vt_word told(uint64_t value, uint64_t known)
{
	return (struct vt_word){value & known, known};
}

static void interpret(struct oracle *o)
{
	struct vt_error err = VT_ERROR_INIT;
	uint64_t done = 0;
	unsigned i, k;

	vt_known_memory_reset(o->mem);
	vt_interp_forget(o->m);
	for (i = 0; i < 32; i++)
		for (k = 0; k < 8; k++)
			vt_interp_set(o->m, VT_REG_VECTOR + i, k,
				      told(o->in.zmm[i][k], o->known.zmm[i][k]));
	for (i = 0; i < 8; i++)
		vt_interp_set(o->m, VT_REG_MASK + i, 0, told(o->in.mask[i], o->known.mask[i]));
	for (i = 0; i < 16; i++)
		vt_interp_set(o->m, registers[i], 0, told(o->in.gpr[i], o->known.gpr[i]));
	vt_interp_set(o->m, VT_REG_FLAGS, 0, vt_word_of(o->in.flags));
	vt_interp_set(o->m, VT_REG_IP, 0, vt_word_of(o->at));
	/* Behind a jump, the flags are known. */
	vt_interp_run(o->m, 1, 2, &done, &err);
	assert_int_equal(done, 2);
}

/* ---- comparing ---- */

static void compare(struct oracle *o, const char *what, unsigned number, struct vt_word got,
		    uint64_t truth, bool whole)
{
	bool wrong = (got.value ^ truth) & got.known;
	unsigned i;

	o->compared += (unsigned)__builtin_popcountll(got.known);
	if (!wrong && (!whole || vt_word_is_known(got)))
		return;
	o->wrong += wrong;
	o->unknown += !wrong;
	if (o->wrong + o->unknown > TOLD)
		return;
	print_message("%s (family %u, op %u): %s: %s %u is %016llx of %016llx, not %016llx:",
		      o->facts.mnemonic, o->e.family, o->e.op, wrong ? "WRONG" : "unknown", what,
		      number, (unsigned long long)got.value, (unsigned long long)got.known,
		      (unsigned long long)truth);
	for (i = 0; i < o->facts.length; i++)
		print_message(" %02x", o->bytes[i]);
	print_message("\n");
}

static void compare_all(struct oracle *o, const struct state *truth, bool whole)
{
	struct vt_word w;
	unsigned i, k;

	for (i = 0; i < 32; i++)
		for (k = 0; k < 8; k++)
			compare(o, "zmm", 100 * i + k, vt_interp_get(o->m, VT_REG_VECTOR + i, k),
				truth->zmm[i][k], whole);
	for (i = 0; i < 8; i++)
		compare(o, "k", i, vt_interp_get(o->m, VT_REG_MASK + i, 0), truth->mask[i], whole);
	for (i = 0; i < 15; i++)
		if (i != 4)
			compare(o, "register", i, vt_interp_get(o->m, registers[i], 0),
				truth->gpr[i], whole);
	w = vt_interp_get(o->m, VT_REG_FLAGS, 0);
	w.known = whole ? w.known | ~(uint64_t)FLAGS : w.known;
	compare(o, "flags", 0, (struct vt_word){w.value & FLAGS, w.known}, truth->flags & FLAGS,
		whole);

	for (i = 0; i < DATA; i += 8) {
		uint64_t now;

		vt_known_memory_load(o->mem, (uintptr_t)o->data + i, 8, &w);
		memcpy(&now, o->data + i, 8);
		compare(o, "memory", i, w, now, whole);
	}
}

static void scramble(struct oracle *o, void *bytes, const void *known, size_t size)
{
	const uint8_t *k = known;
	uint8_t *b = bytes;
	size_t i;

	for (i = 0; i < size; i++)
		b[i] = (uint8_t)((b[i] & k[i]) | (vt_rng_next(&o->rng) & ~(unsigned)k[i]));
}

/* With other bits where the interpreter knows none. */
static void run_otherwise(struct oracle *o)
{
	struct state s = o->in;
	uint8_t memory[DATA];

	memcpy(memory, o->memory, DATA);
	scramble(o, s.zmm, o->known.zmm, sizeof(s.zmm));
	scramble(o, s.mask, o->known.mask, sizeof(s.mask));
	scramble(o, s.gpr, o->known.gpr, sizeof(s.gpr));
	scramble(o, memory, o->memory_known, DATA);
	if (run_native(o, &s, memory))
		compare_all(o, &s, false);
}

static void run_case(struct oracle *o)
{
	struct state truth;
	unsigned i;

	if (!draw_insn(o))
		return;
	draw_state(o);
	truth = o->in;
	if (!run_native(o, &truth, o->memory))
		return;
	for (i = 0; i < 3; i++) {
		draw_known(o, i);
		interpret(o);
		compare_all(o, &truth, o->modelled && !i);
		if (i)
			run_otherwise(o);
		truth = o->in;
		run_native(o, &truth, o->memory);
	}
	if (o->modelled)
		o->runs[o->e.family]++;
	else
		o->unmodelled++;
}

static bool has_avx512(void)
{
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}

static void catch_faults(void)
{
	static const int signals[] = {SIGILL, SIGSEGV, SIGBUS, SIGFPE};
	struct sigaction a = {.sa_handler = on_signal};
	size_t i;

	for (i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &a, NULL);
}

static void start_oracle(struct oracle *o)
{
	struct vt_interp_options opt = {.fetch = fetch, .fetch_arg = o};
	struct vt_error err = VT_ERROR_INIT;

	memset(o, 0, sizeof(*o));
	vt_rng_init(&o->rng, options.seed);
	o->code = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	assert_ptr_not_equal(o->code, MAP_FAILED);
	o->data = o->code + 4096 + 1024;
	o->mem = vt_known_memory_new(fill, o, 1 << 20);
	assert_non_null(o->mem);
	o->m = vt_interp_new(&opt, o->mem, &err);
	assert_non_null(o->m);
	catch_faults();
}

static void test_processor(void **state)
{
	static struct oracle o;
	unsigned i, few = 0;

	(void)state;
	if (!has_avx512()) {
		print_message("this processor has no AVX-512: not compared\n");
		skip();
	}
	start_oracle(&o);
	for (i = 0; i < options.cases; i++) {
		o.at = CODE + STEP * (uint64_t)i;
		if (i % KEPT == 0)
			vt_interp_forget_code(o.m);
		run_case(&o);
	}
	for (i = VTI_EVEX_MOVE; i <= VTI_EVEX_MASKS; i++) {
		print_message("family %u: %u\n", i, o.runs[i]);
		few += o.runs[i] < LEAST_RUNS;
	}
	print_message("others: %u, bits: %llu\n", o.unmodelled, (unsigned long long)o.compared);
	vt_interp_free(o.m);
	vt_known_memory_free(o.mem);
	munmap(o.code, 8192);
	assert_int_equal(o.wrong, 0);
	assert_int_equal(o.unknown, 0);
	if (options.cases >= 30000)
		assert_int_equal(few, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_processor),
	};

	if (argc > 1)
		options.cases = (unsigned)strtoul(argv[1], NULL, 0);
	if (argc > 2)
		options.seed = strtoull(argv[2], NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
