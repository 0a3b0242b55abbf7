/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Compares what the interpreter says with what the processor does, step by step.
 *
 *	interp_steps [-s SEED] [-w N] STEPS PROGRAM [ARGUMENT]...
 *
 * The program (its full path) runs, is stopped at random moments, and is stepped through from
 * there, again and again until STEPS steps were made.  Runs of 1 to 32 instructions begin with the
 * registers and the memory that the program has.  Every other run goes freely, and what it says of
 * each instruction is compared afterwards; the others go instruction by instruction, and after each
 * all registers are compared that the interpreter says to know, bit by bit, flags included, and
 * what it stored.  Some of these begin with parts of the registers hidden.  With -w, one comparison
 * in N is with a wrong bit: to see that differences are found.
 *
 * Prints counts, one "name number" on each line; the first differences are on standard error. Exits
 * 1 when there is any, or nothing to compare, 3 where ptrace is not permitted.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "machine/interp/interp.h"
#include "tests/tools/common/accesses.h"
#include "tests/tools/common/tracee.h"
#include "tests/tools/common/truth.h"

#define MOST_LENGTH 32
#define LANES	    8	    /* of zmm registers */
#define BURST	    4000    /* steps from one place */
#define MOST_PAUSE  4000000 /* ns between places */
#define MOST_SHOWN  20
#define REPEATS	    100000 /* of one string instruction */

#define CAPTURE                                                                                    \
	(1u << VT_WHAT_UNKNOWN | 1u << VT_WHAT_RESULT | 1u << VT_WHAT_OPERAND |                    \
	 1u << VT_WHAT_STORE | 1u << VT_WHAT_STORE_ADDRESS)

/* pushf shows the processor's single-step flag to the program. */
#define PUSHF 0x9c

struct stepper {
	struct tracee t;
	char **argv;
	struct vt_known_memory *mem;
	struct vt_interp *m;
	struct vt_rng rng;
	uint64_t pause; /* ns, at most, between places */
	uint64_t falsify;
	uint64_t steps, starts, runs, free_runs, asked, free_insns, full;
	uint64_t values;	/* captured and compared */
	uint64_t registers;	/* known, in whole, and compared */
	uint64_t partial, bits; /* known in part; known bits of all */
	uint64_t unknown;	/* that could not be compared */
	uint64_t stores, falsified, differences;
};

static void fail(const char *what)
{
	fprintf(stderr, "interp_steps: %s\n", what);
	exit(1);
}

/* ---- the processor ---- */

static size_t fetch(void *arg, uint64_t space, uint64_t addr, uint8_t *bytes, size_t size)
{
	const struct stepper *s = arg;
	size_t page = 4096 - addr % 4096, n;

	(void)space;
	/* All that is asked for, or what there is up to the page's end. */
	n = tracee_read(&s->t, addr, bytes, size);
	return n || size <= page ? n : tracee_read(&s->t, addr, bytes, page);
}

/* Memory is read when it is first asked for: no step has been made since that changed it. */
static uint64_t fill(void *arg, uint64_t addr, uint8_t bytes[VT_KNOWN_LINE], bool lasting)
{
	const struct stepper *s = arg;

	if (lasting || tracee_read(&s->t, addr, bytes, VT_KNOWN_LINE) != VT_KNOWN_LINE)
		return 0;
	return UINT64_MAX;
}

static void read_state(struct stepper *s, struct registers *r)
{
	unsigned reg, lane;
	uint64_t value;

	tracee_registers(&s->t);
	tracee_vectors(&s->t);
	for (reg = 0; reg <= VT_REG_R15; reg++)
		r->w[reg][0] = vt_word_of(s->t.gpr[reg]);
	r->w[VT_REG_FS][0] = vt_word_of(s->t.fs_base);
	r->w[VT_REG_GS][0] = vt_word_of(s->t.gs_base);
	for (reg = 0; reg < 8; reg++)
		r->w[VT_REG_MASK + reg][0] =
			tracee_mask(&s->t, reg, &value) ? vt_word_of(value) : vt_word_unknown(64);
	for (reg = 0; reg < 32; reg++)
		for (lane = 0; lane < LANES; lane++)
			r->w[VT_REG_VECTOR + reg][lane] = tracee_vector(&s->t, reg, lane, &value)
								  ? vt_word_of(value)
								  : vt_word_unknown(64);
}

static uint64_t ip_of(const struct registers *r)
{
	return r->w[VT_REG_IP][0].value;
}

/* Lets the program run for a while; starts it if it has ended, and then for less long. */
static void go_somewhere(struct stepper *s)
{
	int status, tries = 0;

	for (;;) {
		struct timespec pause = {0, (long)vt_rng_below(&s->rng, s->pause)};

		if (s->t.pid <= 0) {
			if (tries++ > 40)
				fail("the program is too short");
			tracee_start(&s->t, s->argv);
			vt_interp_forget_code(s->m);
			s->starts++;
		}
		if (ptrace(PTRACE_CONT, s->t.pid, NULL, NULL) < 0)
			tracee_die("continuing");
		nanosleep(&pause, NULL);
		kill(s->t.pid, SIGSTOP);
		if (waitpid(s->t.pid, &status, 0) < 0)
			tracee_die("waiting");
		if (!WIFSTOPPED(status)) {
			s->t.pid = -1;
			s->pause -= s->pause / 4;
			continue;
		}
		/* A system call that was interrupted is taken up again. */
		do {
			if (!tracee_step(&s->t))
				break;
			tracee_registers(&s->t);
		} while (s->t.in_syscall);
		if (s->t.pid > 0)
			return;
	}
}

/* ---- comparing ---- */

static void differ(struct stepper *s, uint64_t ip, const char *what, unsigned reg, uint64_t got,
		   uint64_t want, uint64_t known)
{
	uint8_t code[VT_MAX_INSN];
	struct vt_facts f;
	unsigned i;

	if (s->differences++ >= MOST_SHOWN)
		return;
	vt_facts_decode(code, tracee_read(&s->t, ip, code, sizeof(code)), &f);
	fprintf(stderr, "at %#" PRIx64 ", %s", ip, f.length ? f.mnemonic : "?");
	for (i = 0; i < f.length; i++)
		fprintf(stderr, " %02x", code[i]);
	fprintf(stderr, ": %s %s is %#" PRIx64 ", processor %#" PRIx64 ", known %#" PRIx64 "\n",
		what, reg < VT_NREGS ? vt_reg_name(reg, 8) : "", got, want, known);
}

static void compare(struct stepper *s, uint64_t ip, const char *what, unsigned reg,
		    struct vt_word got, uint64_t want)
{
	if (s->falsify && got.known && !vt_rng_below(&s->rng, s->falsify)) {
		want ^= got.known & -got.known;
		s->falsified++;
	}
	if ((got.value ^ want) & got.known)
		differ(s, ip, what, reg, got.value, want, got.known);
}

static bool is_compared(unsigned reg)
{
	return reg <= VT_REG_FLAGS || reg == VT_REG_FS || reg == VT_REG_GS || reg >= VT_REG_R8;
}

/* All that the interpreter knows of registers behind the instruction at `ip`. */
static void compare_all(struct stepper *s, uint64_t ip, const struct registers *want)
{
	unsigned reg, lane, lanes;

	for (reg = 0; reg < VT_NREGS; reg++) {
		if (!is_compared(reg))
			continue;
		lanes = reg < VT_REG_VECTOR ? 1 : LANES;
		for (lane = 0; lane < lanes; lane++) {
			struct vt_word got = vt_interp_get(s->m, reg, lane);

			/* The processor may not have it. */
			if (!want->w[reg][lane].known)
				continue;
			compare(s, ip, "register", reg, got, want->w[reg][lane].value);
			s->bits += (uint64_t)__builtin_popcountll(got.known);
			s->registers += vt_word_is_known(got);
			s->partial += got.known && !vt_word_is_known(got);
			s->unknown += !got.known;
		}
	}
}

static void compare_capture(struct stepper *s, const struct vt_capture *c,
			    const struct registers *r)
{
	unsigned bits = 8u * (c->size - 8u * c->lane);
	uint64_t mask = vt_low_bits(bits < 64 ? bits : 64);
	struct vt_word got = {c->value & mask, mask};

	if (!c->known || c->reg >= VT_NREGS || c->lane >= LANES)
		return;
	s->values++;
	compare(s, c->ip, vt_what_name(c->what), c->reg, got, r->w[c->reg][c->lane].value);
}

/* What instruction by instruction was stored, against memory. */
static void compare_stores(struct stepper *s, const struct vt_capture *c, size_t n)
{
	uint64_t addr = 0, want = 0;
	bool known = false;
	size_t i;

	for (i = 0; i < n; i++) {
		unsigned bits = 8u * (c[i].size - 8u * c[i].lane);
		uint64_t mask = vt_low_bits(bits < 64 ? bits : 64);

		if (c[i].what == VT_WHAT_STORE_ADDRESS) {
			known = c[i].known;
			addr = c[i].value;
		}
		if (c[i].what != VT_WHAT_STORE || !known || !c[i].known)
			continue;
		want = 0;
		if (!tracee_read(&s->t, addr + 8u * c[i].lane, &want, bits < 64 ? bits / 8 : 8)) {
			differ(s, c[i].ip, "store to", VT_NREGS, addr, 0, UINT64_MAX);
			continue;
		}
		s->stores++;
		compare(s, c[i].ip, "store", VT_NREGS, (struct vt_word){c[i].value & mask, mask},
			want);
	}
}

/* ---- runs ---- */

static void begin(struct stepper *s, const struct registers *r)
{
	uint32_t mxcsr = (uint32_t)bytes_number(s->t.xstate + TRACEE_MXCSR, 4);

	vt_known_memory_reset(s->mem);
	vt_interp_forget(s->m);
	registers_set(s->m, r);
	vt_interp_set_mxcsr(s->m, mxcsr);
	vt_interp_clear(s->m);
	s->runs++;
}

/*
 * The instruction at hand; false where steps do not show what the program does without them.  CPUID
 * always leaves a virtual machine (Intel SDM volume 3, 26.1.2), and a hypervisor that emulates it
 * may lose the trap: the step then goes on over the next instruction.
 */
static bool look(const struct stepper *s, uint64_t ip, struct vt_facts *f)
{
	uint8_t code[VT_MAX_INSN];

	return vt_facts_decode(code, tracee_read(&s->t, ip, code, sizeof(code)), f) &&
	       !(f->flags & VT_FACT_SYSCALL) && code[f->length - 1] != PUSHF &&
	       strcmp(f->mnemonic, "cpuid") != 0;
}

static bool repeats(const struct vt_facts *f)
{
	return f->flags & VT_FACT_STRING && f->flags & VT_FACT_REPEATED;
}

/* Captures of one instruction: `before` and `after` are the processor's. */
static void compare_insn(struct stepper *s, const struct vt_capture *c, size_t n,
			 const struct registers *before, const struct registers *after)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (c[i].what == VT_WHAT_OPERAND)
			compare_capture(s, &c[i], before);
		else if (c[i].what == VT_WHAT_RESULT)
			compare_capture(s, &c[i], after);
	}
}

static size_t captures_of(const struct vt_capture *c, size_t n)
{
	size_t i = 0;

	while (i < n && c[i].insn == c->insn)
		i++;
	return i;
}

/*
 * Steps along a free run and compares.  The interpreter finds out that a string instruction has no
 * more to do in an iteration of its own.  True when the program is where the run was at its end.
 */
static bool step_along(struct stepper *s, const struct vt_capture *c, size_t n,
		       struct registers *at)
{
	static struct registers before;
	struct vt_facts f;
	size_t own;

	for (; n; c += own, n -= own) {
		own = captures_of(c, n);
		if (c->ip != ip_of(at)) {
			differ(s, ip_of(at), "the path", VT_NREGS, c->ip, ip_of(at), UINT64_MAX);
			return false;
		}
		if (!look(s, c->ip, &f))
			return false;
		before = *at;
		s->steps++;
		if (!tracee_step(&s->t))
			return false;
		read_state(s, at);
		compare_insn(s, c, own, &before, at);
		s->free_insns++;
		if (repeats(&f) && own < n && c[own].ip == c->ip && ip_of(at) != c->ip)
			own += captures_of(c + own, n - own);
	}
	return true;
}

/* False: the program cannot go on from here. */
static bool run_free(struct stepper *s, unsigned length, struct registers *at)
{
	const struct vt_capture *c;
	struct vt_error err = VT_ERROR_INIT;
	enum vt_stop why;
	uint64_t done, last;
	size_t n;

	begin(s, at);
	s->free_runs++;
	s->asked += length;
	why = vt_interp_run(s->m, 1, length, &done, &err);
	c = vt_interp_captures(s->m, &n);
	if (!n)
		return false;
	last = c[n - 1].ip;
	if (!step_along(s, c, n, at))
		return false;
	if (why != VT_STOP_LENGTH)
		return true;
	s->full++;
	/* Between repetitions the processor has the flags of before, and knows when it is done. */
	if (vt_interp_get(s->m, VT_REG_IP, 0).value != last)
		compare_all(s, last, at);
	return true;
}

/* One instruction; a string instruction with all that it repeats. */
static bool step_over(struct stepper *s, uint64_t ip, bool repeated, struct registers *at)
{
	unsigned i = 0;

	s->steps++;
	do {
		if (i++ == REPEATS || !tracee_step(&s->t))
			return false;
		if (repeated)
			tracee_registers(&s->t);
	} while (repeated && s->t.gpr[VT_REG_IP] == ip);
	read_state(s, at);
	return true;
}

static void hide(struct stepper *s, struct registers *r)
{
	unsigned reg, lane;

	for (reg = 0; reg < VT_NREGS; reg++) {
		uint64_t draw = vt_rng_next(&s->rng);

		for (lane = 0; lane < LANES && reg != VT_REG_IP; lane++) {
			if (draw % 8 == 0)
				r->w[reg][lane].known = 0;
			else if (draw % 8 == 1)
				r->w[reg][lane].known &= vt_rng_next(&s->rng);
			r->w[reg][lane].value &= r->w[reg][lane].known;
		}
	}
}

/* False: the program cannot go on from here. */
static bool run_single(struct stepper *s, unsigned length, struct registers *at)
{
	static struct registers start;

	start = *at;
	if (vt_rng_below(&s->rng, 3) == 0)
		hide(s, &start);
	begin(s, &start);
	while (length--) {
		struct vt_error err = VT_ERROR_INIT;
		uint64_t ip = ip_of(at);
		const struct vt_capture *c;
		struct vt_facts f;
		size_t n;

		if (!look(s, ip, &f))
			return false;
		vt_interp_clear(s->m);
		if (vt_interp_follow(s->m, 1, ip, 1, 0, &err) != VT_STOP_LENGTH) {
			differ(s, ip, "it is not run", VT_NREGS, 0, 0, 0);
			return false;
		}
		if (!step_over(s, ip, repeats(&f), at))
			return false;
		compare_all(s, ip, at);
		c = vt_interp_captures(s->m, &n);
		if (!repeats(&f))
			compare_stores(s, c, n);
	}
	return true;
}

/* ---- all ---- */

/* Steps over what runs cannot compare. */
static bool pass(struct stepper *s, struct registers *at)
{
	if (!tracee_step(&s->t))
		return false;
	do {
		tracee_registers(&s->t);
	} while (s->t.in_syscall && tracee_step(&s->t));
	if (s->t.pid <= 0)
		return false;
	read_state(s, at);
	return true;
}

static void work(struct stepper *s, uint64_t steps)
{
	static struct registers at;
	uint64_t end;

	while (s->steps < steps) {
		go_somewhere(s);
		read_state(s, &at);
		end = s->steps + BURST < steps ? s->steps + BURST : steps;
		while (s->steps < end && s->t.pid > 0) {
			unsigned length = 1 + (unsigned)vt_rng_below(&s->rng, MOST_LENGTH);
			bool whole = vt_rng_below(&s->rng, 2) ? run_free(s, length, &at)
							      : run_single(s, length, &at);

			if (!whole && (s->t.pid <= 0 || !pass(s, &at)))
				break;
		}
	}
	tracee_kill(&s->t);
}

static int report(const struct stepper *s)
{
	static const struct {
		const char *name;
		size_t offset;
	} rows[] = {
#define ROW(n) {#n, offsetof(struct stepper, n)}
		ROW(steps),	 ROW(starts),  ROW(runs),   ROW(free_runs), ROW(asked),
		ROW(free_insns), ROW(full),    ROW(values), ROW(registers), ROW(partial),
		ROW(bits),	 ROW(unknown), ROW(stores), ROW(falsified), ROW(differences),
#undef ROW
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint64_t v;

		memcpy(&v, (const char *)s + rows[i].offset, sizeof(v));
		printf("%s %" PRIu64 "\n", rows[i].name, v);
	}
	return s->differences || !s->registers || !s->values;
}

int main(int argc, char **argv)
{
	static struct stepper s;
	struct vt_interp_options opt = {.fetch = fetch, .fetch_arg = &s, .capture = CAPTURE};
	struct vt_error err = VT_ERROR_INIT;
	uint64_t seed = 1;
	int c;

	while ((c = getopt(argc, argv, "+s:w:")) != -1) {
		if (c == 's') {
			seed = strtoull(optarg, NULL, 0);
		} else if (c == 'w') {
			s.falsify = strtoull(optarg, NULL, 0);
		} else {
			optind = argc;
			break;
		}
	}
	if (argc - optind < 2) {
		fprintf(stderr,
			"usage: interp_steps [-s SEED] [-w N] STEPS PROGRAM [ARGUMENT]...\n");
		return 2;
	}
	vt_rng_init(&s.rng, seed);
	s.t.pid = -1;
	s.pause = MOST_PAUSE;
	s.argv = argv + optind + 1;
	s.mem = vt_known_memory_new(fill, &s, 64u << 20);
	s.m = s.mem ? vt_interp_new(&opt, s.mem, &err) : NULL;
	if (!s.m)
		fail(err.text);
	work(&s, strtoull(argv[optind], NULL, 0));
	c = report(&s);
	vt_interp_free(s.m);
	vt_known_memory_free(s.mem);
	return c;
}
