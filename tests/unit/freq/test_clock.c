/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The effective clock, of loops whose cycles follow from latencies (a Skylake's multiplication
 * takes three): which loops show it, and what it is.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "freq/clock.h"
#include "tests/unit/common/toolbox.h"

#define MOST   64
#define ROUNDS 1e6

static struct vt_error err;
static char *dir;
static struct vt_images *images;
static struct vt_core core;

#define LOOP(name, body)                                                                           \
	".type " name ",@function\n" name ": 1: " body "dec %rcx\njne 1b\nret\n.size " name        \
	",.-" name "\n"

static const char program[] = ".text\n.globl _start\n_start:\n"
	/* 6, 12 and 3 cycles a round */
	LOOP("six", "imul %rbx,%rax\nimul %rbx,%rax\n")
		LOOP("twelve", "imul %rbx,%rax\nimul %rbx,%rax\nimul %rbx,%rax\nimul %rbx,%rax\n")
			LOOP("fixed", "imul %rbx,%rax\nmov (%rdi),%rdx\nmov %rdx,8(%rdi)\n")
	/* what may stall, or be faster than any schedule */
	LOOP("moving", "imul %rbx,%rax\nmov (%rdi),%rdx\nadd $8,%rdi\n")
		LOOP("forwarded", "imul %rbx,%rax\nmov (%rdi),%rdx\nmov %rdx,4(%rdi)\n")
			LOOP("divided", "imul %rbx,%rax\ndiv %rsi\n")
				LOOP("calling", "imul %rbx,%rax\ncall six\n") LOOP(
					"pushing", "imul %rbx,%rax\npush %rsi\npop %rsi\n")
					LOOP("locked", "imul %rbx,%rax\nlock incl (%rdi)\n")
						LOOP("repeated", "imul %rbx,%rax\nrep stosb\n");

struct timed {
	struct vt_procflow *f;
	struct vt_freq_value insn[MOST];
	struct vt_freq_value edge[MOST];
	uint64_t samples[MOST];
	uint64_t time[MOST];
};

/* The loop of `name`: ROUNDS rounds, entered so many times, with samples and time on it. */
static void begin_timed(struct timed *t, const char *name, double visits, uint64_t samples,
			uint64_t time)
{
	enum vt_unknown why;
	struct vt_symbols *symbols = vt_images_symbols(images, 1, 0, &why);
	const struct vt_symbol *sym;
	struct vt_procedure proc;
	double edges[MOST];
	uint64_t start;
	uint32_t i;

	memset(t, 0, sizeof(*t));
	assert_true(vt_symbols_address_of(symbols, name, &start));
	sym = vt_symbols_find(symbols, start);
	assert_non_null(sym);
	proc = (struct vt_procedure){.image = 1, .start = sym->start, .end = sym->end};
	t->f = vt_procflow_new(images, NULL, &proc, &core, &err);
	assert_non_null(t->f);
	assert_true(t->f->cfg->nedges < MOST && t->f->cfg->ninsns < MOST);
	for (i = 0; i < t->f->cfg->nedges; i++) {
		const struct vt_cfg_edge *e = &t->f->cfg->edges[i];

		edges[i] = e->from == e->to ? ROUNDS - visits : visits;
		t->edge[i].executions = edges[i];
	}
	assert_int_equal(vt_procflow_weigh(t->f, &core, edges, &err), 0);
	for (i = 0; i < t->f->cfg->ninsns; i++)
		t->insn[i].executions = t->f->block[i] == VT_CFG_FIRST ? ROUNDS : visits;
	t->samples[0] = samples;
	t->time[1] = time;
}

static void add_timed(struct vt_clockfit *c, const char *name, double visits, uint64_t samples,
		      uint64_t time)
{
	struct timed t;
	const struct vt_freqs freqs = {t.insn, t.edge};

	begin_timed(&t, name, visits, samples, time);
	assert_int_equal(vt_clockfit_add(c, &core, t.f, &freqs, t.samples, t.time, &err), 0);
	vt_procflow_free(t.f);
}

static void assert_loops(struct vt_clockfit *c, size_t want)
{
	double clock;
	size_t loops;

	vt_clockfit_find(c, &clock, &loops);
	assert_int_equal(loops, want);
}

/*
 * 6, 12 and 3 million cycles in 3, 6 and 2 million units: two loops at 2 cycles a unit, and one
 * that is slower all the same.
 */
static void test_clock(void **state)
{
	struct vt_clockfit *c = vt_clockfit_new();
	double clock = 0;
	size_t loops;

	(void)state;
	assert_non_null(c);
	assert_false(vt_clockfit_find(c, &clock, &loops));
	assert_int_equal(loops, 0);
	add_timed(c, "six", 10, 300, 3000000);
	add_timed(c, "fixed", 10, 300, 2000000);
	assert_false(vt_clockfit_find(c, &clock, &loops));
	assert_int_equal(loops, 2);
	add_timed(c, "twelve", 10, 300, 6000000);
	assert_true(vt_clockfit_find(c, &clock, &loops));
	assert_int_equal(loops, 3);
	assert_true(fabs(clock - 2) < 0.02);
	vt_clockfit_free(c);
}

/* The fastest fifth of the samples, not the fastest loop: that has 1 of 10 here. */
static void test_fastest_fifth(void **state)
{
	struct vt_clockfit *c = vt_clockfit_new();
	double clock = 0;
	size_t loops;

	(void)state;
	assert_non_null(c);
	add_timed(c, "six", 10, 300, 1500000);
	add_timed(c, "twelve", 10, 1200, 6000000);
	add_timed(c, "fixed", 10, 1500, 3000000);
	assert_true(vt_clockfit_find(c, &clock, &loops));
	assert_true(fabs(clock - 2) < 0.02);
	vt_clockfit_free(c);
}

static void test_what_may_stall(void **state)
{
	static const char *const names[] = {"moving",  "forwarded", "divided", "calling",
					    "pushing", "locked",    "repeated"};
	struct vt_clockfit *c = vt_clockfit_new();
	unsigned i;

	(void)state;
	assert_non_null(c);
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		add_timed(c, names[i], 10, 300, 3000000);
		assert_loops(c, 0);
	}
	vt_clockfit_free(c);
}

/*
 * Few samples; or so many visits that their mispredicted ends may take time: each twice 25 cycles
 * (16 of the penalty, and 9 stages), of 2 % of 6 million 2,400.
 */
static void test_limits(void **state)
{
	struct vt_clockfit *c = vt_clockfit_new();

	(void)state;
	assert_non_null(c);
	add_timed(c, "six", 10, 199, 3000000);
	assert_loops(c, 0);
	add_timed(c, "six", 2450, 300, 3000000);
	assert_loops(c, 0);
	add_timed(c, "six", 2350, 200, 3000000);
	assert_loops(c, 1);
	vt_clockfit_free(c);
}

static int begin(void **state)
{
	static const struct vt_images_options none = {.warn = NULL};
	const char *path;

	(void)state;
	dir = toolbox_assemble(program);
	images = vt_images_new(&none, &err);
	path = toolbox_path(dir, "p");
	if (vt_core_load(&core, "skylake", &err) < 0)
		return -1;
	return vt_images_add(images, 1, VT_IMAGE_FILE, path, strlen(path), NULL, 0, &err) < 0;
}

static int end(void **state)
{
	(void)state;
	vt_images_free(images);
	toolbox_remove(dir);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_fastest_fifth),
		cmocka_unit_test(test_what_may_stall),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
