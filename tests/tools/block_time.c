/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: block_time [PASSES] <BLOCKS >MEASURED
 *
 * What basic blocks take on this processor, measured much as BHive does (Chen et al., "BHive: A
 * Benchmark Suite and Measurement Framework for Validating x86-64 Basic Block Performance Models",
 * 2019, section 3): copies of a block stand one behind the other, each page that they touch is the
 * same one, and registers and memory hold one number.  Unlike there, the copies are a loop, so that
 * they come from a micro-op cache.  A line of hexadecimal bytes, up to a comma, is a block, which
 * is run as it is, even if it calls the system; it is printed with the cycles of 100 copies, or not
 * at all if it cannot run.
 *
 * Cycles come from a chain of multiplications, each of which takes 3 on the processors that this is
 * for.  Other threads of the core make blocks slower, and a change of the clock makes them slower
 * or faster: of several passes over all blocks, the quantile of 15 % is printed.
 *
 * Standard error says how many blocks were too long, and how many could not run.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILLED 0x2324000u /* what registers and memory hold */
#define PAGE   4096u
#define KEPT   0x20000u	       /* a page for what outlives a run */
#define CODE   0x500000000000u /* far from all that a displacement could reach */

#define CODE_SIZE (256u << 10)
#define COPIES	  100 /* in a loop */
#define FEW	  10  /* rounds that are compared, */
#define MANY	  20
#define LONGEST	  128 /* bytes, so that all copies fit into the cache of instructions */
#define RUNS	  20
#define SECONDS	  2 /* that a block may run */
#define MAX_PAGES 64
#define LOW	  0.15 /* of the passes measured less than what is printed */
#define CHAIN	  400  /* multiplications */

/* At KEPT. */
struct kept {
	uint64_t stack;
	uint32_t rounds;
	uint32_t begin[2]; /* of the time-stamp counter */
	uint32_t end[2];
	uint8_t vectors[512] __attribute__((aligned(64))); /* FXRSTOR's */
};

static struct kept *const kept = (struct kept *)KEPT; /* NOLINT(performance-no-int-to-ptr) */
static uint8_t *const code = (uint8_t *)CODE;	      /* NOLINT(performance-no-int-to-ptr) */
static sigjmp_buf again;
static int page_file;
static unsigned pages;

static _Noreturn void fail(const char *text)
{
	fprintf(stderr, "block_time: %s\n", text);
	exit(3);
}

/* ---- code ---- */

static uint8_t *put(uint8_t *at, const void *bytes, size_t n)
{
	memcpy(at, bytes, n);
	return at + n;
}

#define PUT(at, ...) put(at, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* An instruction with an address in the kept page, of 4 bytes, at its end. */
#define PUT_KEPT(at, member, ...) put_place(PUT(at, __VA_ARGS__), offsetof(struct kept, member))

static uint8_t *put_place(uint8_t *at, size_t offset)
{
	const uint32_t place = KEPT + (uint32_t)offset;

	return put(at, &place, sizeof(place));
}

/* lfence; rdtsc; lfence; both halves are stored */
static uint8_t *put_time(uint8_t *at, bool end)
{
	at = PUT(at, 0x0f, 0xae, 0xe8, 0x0f, 0x31, 0x0f, 0xae, 0xe8);
	if (end) {
		at = PUT_KEPT(at, end[0], 0x89, 0x04, 0x25);
		return PUT_KEPT(at, end[1], 0x89, 0x14, 0x25);
	}
	at = PUT_KEPT(at, begin[0], 0x89, 0x04, 0x25);
	return PUT_KEPT(at, begin[1], 0x89, 0x14, 0x25);
}

static uint8_t *put_registers(uint8_t *at)
{
	const uint32_t filled = FILLED;
	unsigned r;

	at = PUT_KEPT(at, vectors, 0x0f, 0xae, 0x0c, 0x25); /* fxrstor */
	for (r = 0; r < 16; r++) {
		at = PUT(at, (uint8_t)(0x48 | r >> 3), 0xc7, (uint8_t)(0xc0 | (r & 7)));
		at = put(at, &filled, sizeof(filled));
	}
	return at;
}

/* The loop counts in memory, as blocks may use all registers. */
static void write_code(const uint8_t *block, size_t size, unsigned copies)
{
	uint8_t *at = code, *loop;
	int32_t back;
	unsigned i;

	/* push %rbx, %rbp, %r12 to %r15 */
	at = PUT(at, 0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57);
	at = PUT_KEPT(at, stack, 0x48, 0x89, 0x24, 0x25);
	at = put_time(at, false);
	at = put_registers(at);
	loop = at;
	for (i = 0; i < copies; i++)
		at = put(at, block, size);
	at = PUT_KEPT(at, rounds, 0xff, 0x0c, 0x25);
	at = PUT(at, 0x0f, 0x85);
	back = (int32_t)(loop - at - 4);
	at = put(at, &back, sizeof(back));
	at = put_time(at, true);
	at = PUT_KEPT(at, stack, 0x48, 0x8b, 0x24, 0x25);
	PUT(at, 0xfc, 0xc5, 0xf8, 0x77, 0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b,
	    0xc3);
}

/* ---- a process of its own ---- */

static void map_touched(int sig, siginfo_t *info, void *context)
{
	const uintptr_t addr = (uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1);

	(void)context;
	if (sig != SIGSEGV || info->si_code != SEGV_MAPERR || pages++ == MAX_PAGES)
		_exit(1);
	/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
	if (mmap((void *)addr, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE,
		 page_file, 0) == MAP_FAILED)
		_exit(1);
	siglongjmp(again, 1);
}

static void handle_faults(void)
{
	static uint8_t stack[1 << 16];
	const stack_t ss = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction act = {.sa_sigaction = map_touched, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	static const int signals[] = {SIGSEGV, SIGILL, SIGFPE, SIGBUS, SIGTRAP};
	size_t i;

	sigaltstack(&ss, NULL);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &act, NULL);
}

static uint64_t run_code(uint64_t *filled, uint32_t rounds)
{
	unsigned i;

	for (i = 0; i < PAGE / sizeof(*filled); i++)
		filled[i] = FILLED;
	kept->rounds = rounds;
	((void (*)(void))(uintptr_t)CODE)(); /* NOLINT(performance-no-int-to-ptr) */
	return ((uint64_t)kept->end[1] << 32 | kept->end[0]) -
	       ((uint64_t)kept->begin[1] << 32 | kept->begin[0]);
}

/* Ticks of the time-stamp counter for the rounds that MANY has more than FEW. */
static double measure_copies(const uint8_t *block, size_t size, unsigned copies, uint64_t *filled)
{
	volatile uint64_t few = UINT64_MAX, many = UINT64_MAX;
	volatile unsigned i;

	write_code(block, size, copies);
	/* Each page that is touched begins it anew. */
	sigsetjmp(again, 1);
	for (i = 0; i < RUNS; i++) {
		uint64_t ticks = run_code(filled, FEW);

		few = ticks < few ? ticks : few;
		ticks = run_code(filled, MANY);
		many = ticks < many ? ticks : many;
	}
	return (double)many - (double)few;
}

/* Ticks for CHAIN * 3 cycles. */
static double measure_chain(uint64_t *filled)
{
	static const uint8_t multiply[] = {0x48, 0x0f, 0xaf, 0xc1};

	return measure_copies(multiply, sizeof(multiply), CHAIN, filled) / (MANY - FEW);
}

/* Returns the cycles of 100 copies. */
static double measure_block(const uint8_t *block, size_t size)
{
	uint64_t *filled =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, page_file, 0);
	double before, ticks, after;

	if (filled == MAP_FAILED)
		_exit(1);
	handle_faults();
	alarm(SECONDS);
	before = measure_chain(filled);
	ticks = measure_copies(block, size, COPIES, filled);
	after = measure_chain(filled);
	return ticks * CHAIN * 3 / (before < after ? before : after) * 100 / COPIES / (MANY - FEW);
}

/* Returns whether it ran. */
static bool measure_apart(const uint8_t *block, size_t size, double *cycles)
{
	int ends[2], status;
	pid_t pid;
	bool told;

	if (pipe(ends) < 0 || (pid = fork()) < 0)
		fail("no process can be made");
	if (!pid) {
		const double measured = measure_block(block, size);

		_exit(write(ends[1], &measured, sizeof(measured)) != sizeof(measured));
	}
	close(ends[1]);
	told = read(ends[0], cycles, sizeof(*cycles)) == sizeof(*cycles);
	close(ends[0]);
	while (waitpid(pid, &status, 0) < 0)
		;
	return told && *cycles > 0;
}

/* ---- all of them ---- */

struct measured {
	char text[2 * LONGEST + 1];
	uint8_t block[LONGEST];
	size_t size;
	size_t n; /* passes in which it ran */
	double *cycles;
};

/* Returns whether line `number`, from 1, has a block that is short enough. */
static bool read_block(const char *line, size_t number, struct measured *b)
{
	const size_t digits = strspn(line, "0123456789abcdefABCDEF");
	unsigned byte;
	size_t i;

	if (!digits || digits % 2 || !strchr(",\n", line[digits])) {
		fprintf(stderr,
			"block_time: line %zu does not begin with bytes in hexadecimal, or is too "
			"long\n",
			number);
		exit(3);
	}
	b->size = digits / 2;
	if (b->size > LONGEST)
		return false;
	for (i = 0; i < b->size; i++) {
		sscanf(line + 2 * i, "%2x", &byte);
		b->block[i] = (uint8_t)byte;
	}
	memcpy(b->text, line, digits);
	b->text[digits] = 0;
	return true;
}

static struct measured *read_blocks(size_t passes, size_t *n, size_t *too_long)
{
	struct measured *blocks = NULL, *b;
	size_t number = 0;
	char line[4096];

	for (*n = *too_long = 0; fgets(line, sizeof(line), stdin);) {
		if (!(*n & (*n - 1)))
			blocks = realloc(blocks, (*n ? 2 * *n : 1) * sizeof(*blocks));
		if (!blocks)
			fail("no memory");
		b = &blocks[*n];
		if (!read_block(line, ++number, b)) {
			++*too_long;
			continue;
		}
		b->n = 0;
		b->cycles = calloc(passes, sizeof(*b->cycles));
		if (!b->cycles)
			fail("no memory");
		++*n;
	}
	return blocks;
}

static int compare_cycles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void prepare(void)
{
	static const uint32_t modes = 0x9fc0; /* MXCSR: no exceptions, tiny numbers are 0 */

	page_file = memfd_create("page", 0);
	if (page_file < 0 || ftruncate(page_file, PAGE) < 0)
		fail("no memory can be shared");
	if (mmap(kept, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) == MAP_FAILED ||
	    mmap(code, CODE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		fail("addresses that it needs are taken");
	kept->vectors[0] = 0x7f; /* the x87's control word */
	kept->vectors[1] = 0x03;
	memcpy(kept->vectors + 24, &modes, sizeof(modes));
}

int main(int argc, char **argv)
{
	const size_t passes = argc > 1 && strspn(argv[1], "0123456789") == strlen(argv[1])
				      ? strtoul(argv[1], NULL, 10)
				      : (size_t)(argc == 1);
	struct measured *blocks, *b;
	size_t n, too_long, pass, failed = 0;

	if (!passes || argc > 2)
		fail("usage: block_time [PASSES] <BLOCKS >MEASURED\n"
		     "  BLOCKS: lines that begin with the bytes of a block in hexadecimal\n"
		     "  MEASURED: the same bytes, a comma, and cycles of 100 copies\n"
		     "  PASSES: how often each is measured, 1 by default; the shorter ones count");
	prepare();
	blocks = read_blocks(passes, &n, &too_long);
	for (pass = 0; pass < passes; pass++)
		for (b = blocks; b < blocks + n; b++)
			b->n += measure_apart(b->block, b->size, &b->cycles[b->n]);
	for (b = blocks; b < blocks + n; b++) {
		qsort(b->cycles, b->n, sizeof(*b->cycles), compare_cycles);
		if (b->n)
			printf("%s,%.2f\n", b->text, b->cycles[(size_t)(LOW * (double)b->n)]);
		failed += !b->n;
		free(b->cycles);
	}
	if (too_long || failed)
		fprintf(stderr,
			"block_time: left out: %zu blocks of more than %d bytes, %zu that cannot "
			"run\n",
			too_long, LONGEST, failed);
	free(blocks);
	return 0;
}
