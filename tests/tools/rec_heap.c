/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: rec_heap calls | threads | fork | signals
 *
 * Allocates and frees memory by each function of malloc's family, mmap's, and three of its own; or
 * some of that in four threads at once, in a process and its child, or in a handler of signals.
 *
 * Prints, with all numbers but thread ids in hexadecimal:
 *	code START END		where its calls are
 *	entry OP ADDR		a function that frees
 *	TID OP ADDR SIZE OLD	a call: what it returned, bytes asked for, what it freed
 *	TID within OP ADDR SIZE OLD	a call by a function of libc, which it called
 */
#define _GNU_SOURCE

#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_CALLS 2000
#define THREADS	  4
#define ROUNDS	  100

/* The functions whose calls are printed are next to each other. */
#define NOTED __attribute__((noinline, section("noted")))
extern const char __start_noted[], __stop_noted[];

struct calls {
	pid_t tid;
	unsigned n;
	struct {
		const char *op;
		uintptr_t addr, size, old;
	} calls[MAX_CALLS];
};

static struct calls *begin_calls(void)
{
	struct calls *c = calloc(1, sizeof(*c));

	if (!c)
		abort();
	c->tid = gettid();
	return c;
}

static void note(struct calls *c, const char *op, void *addr, size_t size, uintptr_t old)
{
	if (c->n == MAX_CALLS)
		abort();
	c->calls[c->n].op = op;
	c->calls[c->n].addr = (uintptr_t)addr;
	c->calls[c->n].size = size;
	c->calls[c->n++].old = old;
}

static void print_calls(const struct calls *c)
{
	unsigned i;

	for (i = 0; i < c->n; i++)
		printf("%d %s %jx %jx %jx\n", (int)c->tid, c->calls[i].op,
		       (uintmax_t)c->calls[i].addr, (uintmax_t)c->calls[i].size,
		       (uintmax_t)c->calls[i].old);
}

/* After a function's last call, so that it is not a jump: the caller would be another function. */
static inline void stay(void)
{
	__asm__ volatile("");
}

/* ---- its own allocator ---- */

static char pool[4096];
static size_t pool_used;

static void *pool_get(const char *name, size_t size)
{
	/* Nested calls do not count. */
	void *scratch = malloc(size + strlen(name));

	free(scratch);
	pool_used += size;
	return pool + pool_used - size;
}

static void pool_put(const char *name, void *p)
{
	memset(p, name[0], 1);
}

static jmp_buf back;

static void *pool_fail(size_t size)
{
	if (size)
		longjmp(back, 1);
	return pool;
}

/* Called by pointers that may change, so that compilers make no copies with other parameters. */
static void *(*volatile get)(const char *, size_t) = pool_get;
static void (*volatile put)(const char *, void *) = pool_put;
static void *(*volatile get_or_fail)(size_t) = pool_fail;

NOTED static void call_pool(struct calls *c)
{
	void *p = get("a", 24);

	note(c, "malloc", p, 24, 0);
	note(c, "free", NULL, 0, (uintptr_t)p);
	put("b", p);
	if (!setjmp(back))
		get_or_fail(5);
	note(c, "malloc", get_or_fail(0), 0, 0);
}

/* ---- each function ---- */

NOTED static void free_noted(struct calls *c, void *p)
{
	note(c, "free", NULL, 0, (uintptr_t)p);
	free(p);
	stay();
}

NOTED static void *move(struct calls *c)
{
	void *volatile p = malloc(24);
	void *volatile next = malloc(24);
	volatile uintptr_t old = (uintptr_t)p;

	note(c, "malloc", p, 24, 0);
	note(c, "malloc", next, 24, 0);
	p = realloc(p, 9000);
	note(c, "realloc", p, 9000, old);
	if ((uintptr_t)p == old)
		abort();
	free_noted(c, next);
	return p;
}

NOTED static void call_malloc_family(struct calls *c)
{
	volatile uintptr_t old; /* read before the call that makes it invalid */
	void *volatile none = NULL;
	void *volatile p = malloc(100);
	void *aligned;

	note(c, "malloc", p, 100, 0);
	old = (uintptr_t)p;
	p = realloc(p, 5000);
	note(c, "realloc", p, 5000, old);
	old = (uintptr_t)p;
	p = reallocarray(p, 700, 11);
	note(c, "realloc", p, 7700, old);
	old = (uintptr_t)p;
	p = realloc(p, 0);
	note(c, "realloc", p, 0, old);
	free_noted(c, move(c));
	p = realloc(none, 80);
	note(c, "realloc", p, 80, 0);
	free_noted(c, p);
	p = calloc(13, 17);
	note(c, "calloc", p, 221, 0);
	free_noted(c, p);
	if (posix_memalign(&aligned, 64, 130))
		abort();
	note(c, "aligned", aligned, 130, 0);
	free_noted(c, aligned);
	p = aligned_alloc(128, 256);
	note(c, "aligned", p, 256, 0);
	free_noted(c, p);
	p = memalign(32, 33);
	note(c, "aligned", p, 33, 0);
	free_noted(c, p);
	free_noted(c, NULL);
}

/* Calls that fail; the argument keeps compilers from knowing it. */
NOTED static void call_in_vain(struct calls *c, size_t huge)
{
	void *volatile kept = malloc(10);
	void *volatile p = malloc(huge);
	void *unchanged = pool, *moved;

	note(c, "malloc", kept, 10, 0);
	note(c, "malloc", p, huge, 0);
	moved = realloc(kept, huge);
	if (moved || posix_memalign(&unchanged, 64, huge) == 0)
		abort();
	note(c, "realloc", NULL, huge, (uintptr_t)kept);
	note(c, "aligned", NULL, huge, 0);
	p = mmap(NULL, huge, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p != MAP_FAILED)
		abort();
	note(c, "mmap", NULL, huge, 0);
	free_noted(c, kept);
}

NOTED static void call_mmap_family(struct calls *c)
{
	void *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t old = (uintptr_t)p;

	note(c, "mmap", p, 8192, 0);
	p = mremap(p, 8192, 16384, MREMAP_MAYMOVE);
	note(c, "mremap", p, 16384, old);
	note(c, "munmap", NULL, 16384, (uintptr_t)p);
	munmap(p, 16384);
	stay();
}

NOTED static void call_often(struct calls *c, size_t rounds)
{
	size_t i;

	for (i = 0; i < rounds; i++) {
		void *p = malloc(i * i % 3000);

		note(c, "malloc", p, i * i % 3000, 0);
		free_noted(c, p);
	}
}

NOTED static void call_indirectly(struct calls *c)
{
	char *p = strdup("a text of 24 characters.");

	note(c, "within malloc", p, 25, 0);
	free_noted(c, p);
}

static void call_each(void)
{
	struct calls *c = begin_calls();

	call_malloc_family(c);
	call_in_vain(c, (size_t)1 << 61);
	call_mmap_family(c);
	call_pool(c);
	call_often(c, 100);
	call_indirectly(c);
	print_calls(c);
}

/* ---- threads, processes, signals ---- */

static void *run_thread(void *arg)
{
	struct calls *c = begin_calls();

	pthread_barrier_wait(arg);
	call_often(c, ROUNDS);
	call_mmap_family(c);
	return c;
}

static void call_in_threads(void)
{
	pthread_t threads[THREADS];
	pthread_barrier_t all;
	void *calls;
	unsigned i;

	pthread_barrier_init(&all, NULL, THREADS);
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run_thread, &all);
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &calls);
		print_calls(calls);
	}
}

static void call_in_child(void)
{
	struct calls *c = begin_calls();
	pid_t child;

	call_often(c, 10);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		c = begin_calls();
		call_often(c, 20);
		print_calls(c);
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	call_often(c, 10);
	print_calls(c);
}

static struct calls *of_handler;

NOTED static void handle_signal(int number)
{
	void *p = malloc((size_t)number);

	note(of_handler, "malloc", p, (size_t)number, 0);
	free_noted(of_handler, p);
	stay();
}

static void call_in_handler(void)
{
	const stack_t other = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
	struct sigaction sa = {.sa_handler = handle_signal};
	int i;

	of_handler = begin_calls();
	if (sigaltstack(&other, NULL) < 0)
		abort();
	for (i = 0; i < 20; i++) {
		sa.sa_flags = i % 2 ? SA_ONSTACK : 0;
		sigaction(SIGUSR1, &sa, NULL);
		raise(SIGUSR1);
		call_often(of_handler, 2);
	}
	print_calls(of_handler);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "calls";

	printf("code %jx %jx\n", (uintmax_t)(uintptr_t)__start_noted,
	       (uintmax_t)(uintptr_t)__stop_noted);
	printf("entry free %jx\nentry munmap %jx\nentry free %jx\n", (uintmax_t)(uintptr_t)free,
	       (uintmax_t)(uintptr_t)munmap, (uintmax_t)(uintptr_t)pool_put);
	if (strcmp(mode, "threads") == 0)
		call_in_threads();
	else if (strcmp(mode, "fork") == 0)
		call_in_child();
	else if (strcmp(mode, "signals") == 0)
		call_in_handler();
	else
		call_each();
	return 0;
}
