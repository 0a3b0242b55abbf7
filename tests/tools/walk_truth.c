/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The agent's walker against the processor.
 *
 *	walk_truth [-n INSNS] [-k SAMPLES] [-e STEPS] [-u USEC] [-s SEED] [-t] PROGRAM [ARGUMENT]...
 *
 * The program runs under ptrace(2) and is stopped again and again, after STEPS single steps in the
 * mean, or where USEC is given after that time.  At each stop the walker follows the next INSNS
 * instructions on a copy of the registers; then the processor executes them, step by step.  What
 * the walker says that it knows has to be what the processor has: the address of the next
 * instruction, general registers, flags, vector and mask registers.  Of each load that the
 *processor executed, the lines have to be among those that the walker kept.  Prints counts; the
 *status is 1 if anything was wrong.
 */
#define _GNU_SOURCE /* tgkill() */
#include <cpuid.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "cmd/walker/walk.h"
#include "machine/insn/insn.h"
#include "tests/tools/common/tracee.h"

#define TOLD	   20	/* differences that are printed */
#define MNEMONICS  4096 /* of a table of counts */
#define TIMED	   200	/* times that a walk is repeated to be timed */
#define MOST_STEPS 256	/* of repetitions */
#define FLAGS	   0xcd5

static const uint8_t registers[16] = {
	VT_REG_AX,     VT_REG_CX,     VT_REG_DX,     VT_REG_BX,	    VT_REG_SP,	   VT_REG_BP,
	VT_REG_SI,     VT_REG_DI,     VT_REG_R8,     VT_REG_R8 + 1, VT_REG_R8 + 2, VT_REG_R8 + 3,
	VT_REG_R8 + 4, VT_REG_R8 + 5, VT_REG_R8 + 6, VT_REG_R15,
};

struct count {
	const char *what;
	const char *why;
	uint64_t n;
};

struct truth {
	struct tracee t;
	struct walk w;	  /* of all instructions */
	struct walk part; /* of those that the processor has executed so far */
	struct walk_start start;
	uint8_t first[TRACEE_XSTATE]; /* the extended state that `start` borrows from */
	unsigned insns, samples, every, usec;
	bool timed;
	uint64_t nsec, ntimed;
	struct vt_rng rng;
	unsigned at_k, at_zmm, at_hi; /* of the extended state */
	bool has_512;
	uint64_t nsamples, steps, walked, loads, loads_known, after_syscall, lines;
	uint64_t wrong_pc, wrong_code, wrong_gpr, wrong_flags, wrong_vec, wrong_mask, missed, told;
	struct count stops[MNEMONICS], unknown[MNEMONICS];
};

/* ---- counts by mnemonic ---- */

static void count(struct count *table, const char *what, const char *why)
{
	struct count *c = table;

	while (c->what && (strcmp(c->what, what) != 0 || strcmp(c->why, why) != 0))
		c++;
	c->what = what;
	c->why = why;
	c->n++;
}

static int by_count(const void *a, const void *b)
{
	const struct count *x = a, *y = b;

	return x->n < y->n ? 1 : x->n > y->n ? -1 : 0;
}

static void print_counts(const char *title, struct count *table, unsigned most)
{
	size_t n = 0, i;

	while (table[n].what)
		n++;
	qsort(table, n, sizeof(*table), by_count);
	printf("%s:", title);
	for (i = 0; i < n && i < most; i++)
		printf(" %s%s%s=%" PRIu64, table[i].what, *table[i].why ? "/" : "", table[i].why,
		       table[i].n);
	printf("\n");
}

/* ---- the walker's side ---- */

static bool read_line(void *arg, uint64_t addr, uint8_t bytes[WALK_LINE])
{
	const struct truth *x = arg;

	return tracee_read(&x->t, addr, bytes, WALK_LINE) == WALK_LINE;
}

static void find_offsets(struct truth *x)
{
	unsigned a, b, c, d;

	if (!__get_cpuid_count(0xd, 0, &a, &b, &c, &d))
		return;
	x->has_512 = (a & 0xe0) == 0xe0;
	if (!x->has_512)
		return;
	__cpuid_count(0xd, 5, a, x->at_k, c, d);
	__cpuid_count(0xd, 6, a, x->at_zmm, c, d);
	__cpuid_count(0xd, 7, a, x->at_hi, c, d);
}

static void walk_from_here(struct truth *x)
{
	struct walk_start *s = &x->start;
	unsigned i;

	tracee_vectors(&x->t);
	memcpy(x->first, x->t.xstate, sizeof(x->first));
	*s = (struct walk_start){.ip = x->t.gpr[VT_REG_IP],
				 .flags = x->t.gpr[VT_REG_FLAGS],
				 .fs_base = x->t.fs_base,
				 .gs_base = x->t.gs_base};
	for (i = 0; i < 16; i++)
		s->gpr[i] = x->t.gpr[registers[i]];
	memcpy(&s->mxcsr, x->first + TRACEE_MXCSR, sizeof(s->mxcsr));
	s->xmm = x->first + TRACEE_XMM_AT;
	s->ymm_high = x->first + TRACEE_YMM_AT;
	if (x->has_512) {
		s->zmm_high = x->first + x->at_zmm;
		s->hi_zmm = x->first + x->at_hi;
		s->kmask = x->first + x->at_k;
	}
	memset(&x->w, 0x5a, sizeof(x->w));
	walk_run(&x->w, s, x->insns, read_line, x);
}

/* Memory as the whole walk found it. */
static bool read_kept(void *arg, uint64_t addr, uint8_t bytes[WALK_LINE])
{
	const struct truth *x = arg;
	uint32_t i;

	for (i = 0; i < x->w.nlines; i++)
		if (x->w.line_addr[i] == addr) {
			memcpy(bytes, x->w.line[i], WALK_LINE);
			return true;
		}
	return false;
}

static bool has_byte(const struct truth *x, uint64_t addr)
{
	uint32_t i;

	for (i = 0; i < x->w.nlines; i++)
		if (x->w.line_addr[i] == addr - addr % WALK_LINE)
			return x->w.line_read[i] >> addr % WALK_LINE & 1;
	return false;
}

static bool has_bytes(const struct truth *x, uint64_t addr, unsigned size)
{
	while (size && has_byte(x, addr + size - 1))
		size--;
	return !size;
}

/* ---- the processor's side ---- */

static uint64_t address_of(const struct truth *x, const struct vt_memory *m, unsigned length)
{
	uint64_t addr = (uint64_t)m->displacement;

	if (m->base <= VT_REG_R15)
		addr += x->t.gpr[m->base] + (m->base == VT_REG_IP ? length : 0);
	if (m->scale && m->index <= VT_REG_R15)
		addr += x->t.gpr[m->index] * m->scale;
	if (m->segment == VT_REG_FS)
		addr += x->t.fs_base;
	else if (m->segment == VT_REG_GS)
		addr += x->t.gs_base;
	return addr;
}

/* Counts the loads of the instruction that is executed next.  `step` is its number. */
static void check_loads(struct truth *x, const struct vt_facts *f, unsigned step)
{
	unsigned i;

	if (f->flags & VT_FACT_REPEATED && x->t.gpr[VT_REG_CX] == 0)
		return;
	for (i = 0; i < f->nmemories; i++) {
		const struct vt_memory *m = &f->memories[i];
		uint64_t addr = address_of(x, m, f->length);
		uint8_t byte;
		bool known;

		if (!m->read || m->gather || m->size == 0 || m->size > 64 ||
		    f->flags & (VT_FACT_MASKED | VT_FACT_NOP | VT_FACT_LEA) ||
		    tracee_read(&x->t, addr, &byte, 1) != 1)
			continue;
		known = has_bytes(x, addr, m->size);
		x->loads++;
		x->loads_known += known;
		if (!known) {
			count(x->unknown, f->mnemonic, step < x->w.walked ? "walked" : "");
			x->missed += step < x->w.walked;
		}
	}
}

/* Runs to an address by a breakpoint there. */
static bool run_to(struct truth *x, uint64_t addr)
{
	long word, trap;
	int status;

	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, x->t.pid, tracee_pointer(addr), NULL);
	trap = (word & ~0xffL) | 0xcc;
	if (errno || ptrace(PTRACE_POKETEXT, x->t.pid, tracee_pointer(addr), trap) < 0 ||
	    ptrace(PTRACE_CONT, x->t.pid, NULL, NULL) < 0 || waitpid(x->t.pid, &status, 0) < 0 ||
	    !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP ||
	    ptrace(PTRACE_POKETEXT, x->t.pid, tracee_pointer(addr), word) < 0)
		return false;
	return ptrace(PTRACE_POKEUSER, x->t.pid,
		      tracee_pointer(offsetof(struct user_regs_struct, rip)),
		      tracee_pointer(addr)) == 0;
}

/* One instruction, with all of its repetitions.  False: the program has ended. */
static bool execute(struct truth *x, const struct vt_facts *f)
{
	uint64_t ip = x->t.gpr[VT_REG_IP];

	if (f->flags & VT_FACT_REPEATED && x->t.gpr[VT_REG_CX] > MOST_STEPS) {
		if (!run_to(x, ip + f->length))
			return false;
		tracee_registers(&x->t);
		return true;
	}
	do {
		if (!tracee_step(&x->t))
			return false;
		tracee_registers(&x->t);
	} while (f->flags & VT_FACT_REPEATED && x->t.gpr[VT_REG_IP] == ip);
	return true;
}

/* ---- comparing ---- */

static void tell(struct truth *x, const char *what, unsigned n, uint64_t got, uint64_t truth,
		 uint64_t from)
{
	if (x->told++ < TOLD)
		printf("WRONG %s %u: %" PRIx64 ", not %" PRIx64 "; sample %" PRIu64 " from %" PRIx64
		       ", %u walked to %" PRIx64 "\n",
		       what, n, got, truth, x->nsamples, from, x->part.walked, x->part.ip);
}

static uint64_t bits_of_bytes(uint8_t known)
{
	uint64_t bits = 0;
	unsigned i;

	for (i = 0; i < 8; i++)
		if (known >> i & 1)
			bits |= UINT64_C(0xff) << 8 * i;
	return bits;
}

static void compare_general(struct truth *x, uint64_t from)
{
	const struct walk *w = &x->part;
	uint64_t bits, flags = w->flags_known & FLAGS;
	unsigned i;

	if (w->ip != x->t.gpr[VT_REG_IP]) {
		x->wrong_pc++;
		tell(x, "ip", 0, w->ip, x->t.gpr[VT_REG_IP], from);
	}
	for (i = 0; i < 16; i++) {
		bits = bits_of_bytes(w->gpr_known[i]);
		if ((w->gpr[i] ^ x->t.gpr[registers[i]]) & bits) {
			x->wrong_gpr++;
			tell(x, "register", i, w->gpr[i] & bits, x->t.gpr[registers[i]], from);
		}
	}
	if ((w->flags ^ x->t.gpr[VT_REG_FLAGS]) & flags) {
		x->wrong_flags++;
		tell(x, "flags", 0, w->flags & flags, x->t.gpr[VT_REG_FLAGS] & flags, from);
	}
}

/* The address of 8 bytes of a vector register in the extended state. */
static const uint8_t *lane_of(const struct truth *x, unsigned n, unsigned lane)
{
	const uint8_t *s = x->t.xstate;

	if (n >= 16)
		return s + x->at_hi + (size_t)64 * (n - 16) + (size_t)8 * lane;
	if (lane < 2)
		return s + TRACEE_XMM_AT + (size_t)16 * n + (size_t)8 * lane;
	if (lane < 4)
		return s + TRACEE_YMM_AT + (size_t)16 * n + (size_t)8 * (lane - 2);
	return s + x->at_zmm + (size_t)32 * n + (size_t)8 * (lane - 4);
}

static void compare_vectors(struct truth *x, uint64_t from)
{
	unsigned n, lane, lanes = x->has_512 ? 8 : 4;
	uint64_t truth, got;

	for (n = 0; n < (x->has_512 ? 32 : 16); n++)
		for (lane = 0; lane < lanes && x->part.vec_loaded >> n & 1; lane++) {
			memcpy(&truth, lane_of(x, n, lane), 8);
			memcpy(&got, x->part.vec[n] + (size_t)8 * lane, 8);
			if (x->part.vec_known[n] >> lane & 1 && got != truth) {
				x->wrong_vec++;
				tell(x, "vector", n * 8 + lane, got, truth, from);
			}
		}
	for (n = 0; n < 8 && x->has_512; n++) {
		memcpy(&truth, x->t.xstate + x->at_k + (size_t)8 * n, 8);
		if (x->part.kmask_loaded >> n & 1 && x->part.kmask_known >> n & 1 &&
		    x->part.kmask[n] != truth) {
			x->wrong_mask++;
			tell(x, "mask", n, x->part.kmask[n], truth, from);
		}
	}
}

/* Compares what is behind `n` instructions. */
static void compare(struct truth *x, unsigned n, uint64_t from)
{
	walk_run(&x->part, &x->start, n, read_kept, x);
	tracee_vectors(&x->t);
	compare_general(x, from);
	compare_vectors(x, from);
}

/* ---- samples ---- */

static bool facts_here(const struct truth *x, struct vt_facts *f)
{
	uint8_t code[VT_MAX_INSN];
	size_t n = tracee_read(&x->t, x->t.gpr[VT_REG_IP], code, sizeof(code));

	return vt_facts_decode(code, n, f);
}

static const char *name_of_stop(enum walk_stop stop)
{
	static const char *const names[] = {"?",    "length", "branch", "target", "syscall",
					    "insn", "code",   "trap",	"full"};

	return names[stop < 9 ? stop : 0];
}

/* The time of the same walk again, without that of reading memory of another process. */
static void time_walk(struct truth *x)
{
	struct timespec from, to;
	unsigned i;

	walk_run(&x->part, &x->start, x->insns, read_kept, x);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	for (i = 0; i < TIMED; i++)
		walk_run(&x->part, &x->start, x->insns, read_kept, x);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	x->nsec += (uint64_t)((to.tv_sec - from.tv_sec) * 1000000000L + to.tv_nsec - from.tv_nsec);
	x->ntimed += TIMED;
}

/* False: the program has ended. */
static bool sample(struct truth *x)
{
	uint64_t from = x->t.gpr[VT_REG_IP];
	struct vt_facts f;
	unsigned i;

	walk_from_here(x);
	x->nsamples++;
	x->walked += x->w.walked;
	x->lines += x->w.nlines;
	if (x->timed)
		time_walk(x);
	for (i = 0; i <= x->insns; i++) {
		if (i && i <= x->w.walked)
			compare(x, i, from);
		if (i == x->insns || !facts_here(x, &f))
			break;
		if (i == x->w.walked)
			count(x->stops, f.mnemonic, name_of_stop(x->w.stop));
		if (i < x->w.walked && !has_bytes(x, x->t.gpr[VT_REG_IP], f.length)) {
			x->wrong_code++;
			tell(x, "code", i, 0, x->t.gpr[VT_REG_IP], from);
		}
		if (f.flags & VT_FACT_SYSCALL) { /* a sample ends there */
			x->after_syscall++;
			break;
		}
		/* A hypervisor that emulates it may lose the trap, and step over the next one. */
		if (strcmp(f.mnemonic, "cpuid") == 0)
			break;
		check_loads(x, &f, i);
		if (!execute(x, &f))
			return false;
		x->steps++;
	}
	return true;
}

/* Lets it run for the time, then stops it. */
static bool run_for(struct truth *x, unsigned usec)
{
	struct timespec pause = {usec / 1000000, usec % 1000000 * 1000L};
	int status, sig = 0;

	if (ptrace(PTRACE_CONT, x->t.pid, NULL, tracee_pointer(0)) < 0)
		return false;
	nanosleep(&pause, NULL);
	tgkill(x->t.pid, x->t.pid, SIGSTOP); /* no other thread takes it */
	for (;;) {
		if (waitpid(x->t.pid, &status, 0) < 0)
			return false;
		if (!WIFSTOPPED(status)) {
			x->t.pid = -1;
			return false;
		}
		sig = WSTOPSIG(status);
		if (sig == SIGSTOP)
			return true;
		if (ptrace(PTRACE_CONT, x->t.pid, NULL, tracee_pointer((uint64_t)sig)) < 0)
			return false;
	}
}

static bool go_on(struct truth *x)
{
	uint64_t n;

	if (x->usec) {
		if (!run_for(x, x->usec / 2 + (unsigned)vt_rng_below(&x->rng, x->usec + 1)))
			return false;
	} else {
		for (n = vt_rng_below(&x->rng, 2 * x->every + 1); n; n--)
			if (!tracee_step(&x->t))
				return false;
	}
	tracee_registers(&x->t);
	return true;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 100;
}

static int report(struct truth *x)
{
	uint64_t wrong = x->wrong_pc + x->wrong_code + x->wrong_gpr + x->wrong_flags +
			 x->wrong_vec + x->wrong_mask;

	printf("samples %" PRIu64 "  instructions %" PRIu64 "  walked %" PRIu64 "  lines %.2f\n",
	       x->nsamples, x->steps, x->walked,
	       x->nsamples ? (double)x->lines / (double)x->nsamples : 0);
	printf("loads %" PRIu64 "  known %" PRIu64 "  %.2f %%  missed in what was walked %" PRIu64
	       "\n",
	       x->loads, x->loads_known, percent(x->loads_known, x->loads), x->missed);
	printf("wrong: pc %" PRIu64 "  code %" PRIu64 "  general %" PRIu64 "  flags %" PRIu64
	       "  vector %" PRIu64 "  mask %" PRIu64 "\n",
	       x->wrong_pc, x->wrong_code, x->wrong_gpr, x->wrong_flags, x->wrong_vec,
	       x->wrong_mask);
	if (x->timed)
		printf("%.0f ns a walk, warm\n",
		       x->ntimed ? (double)x->nsec / (double)x->ntimed : 0);
	print_counts("stops", x->stops, 24);
	print_counts("unknown", x->unknown, 24);
	return wrong != 0;
}

int main(int argc, char **argv)
{
	static struct truth x = {.insns = 16, .samples = 1000, .every = 2000};
	uint64_t seed = 1;
	int c, status;

	while ((c = getopt(argc, argv, "+n:k:e:u:s:t")) != -1) {
		unsigned long n = optarg ? strtoul(optarg, NULL, 10) : 0;

		if (c == 'n')
			x.insns = (unsigned)n;
		else if (c == 'k')
			x.samples = (unsigned)n;
		else if (c == 'e')
			x.every = (unsigned)n;
		else if (c == 'u')
			x.usec = (unsigned)n;
		else if (c == 's')
			seed = n;
		else if (c == 't')
			x.timed = true;
		else
			return 2;
	}
	if (optind == argc)
		return 2;
	vt_rng_init(&x.rng, seed);
	find_offsets(&x);
	tracee_start(&x.t, argv + optind);
	tracee_registers(&x.t);
	/* Where a system call was interrupted, the kernel changes registers yet. */
	while (x.nsamples < x.samples && go_on(&x) && (x.t.in_syscall || sample(&x)))
		;
	status = report(&x);
	tracee_kill(&x.t);
	return status;
}
