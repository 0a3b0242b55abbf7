/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The effective clock, of loops whose cycles follow from latencies (a Skylake's multiplication
 * takes three): which loops show it, and what it is; and the factor of another run's counts, which
 * they show as well.
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
#include "freq/other_run.h"
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
		LOOP("forwarded", "imul %rbx,%rax\nmov (%rdi),%rdx\nmov %rdx,4(%rdi)\n") LOOP(
			"divided", "imul %rbx,%rax\ndiv %rsi\n") LOOP("calling",
								      "imul %rbx,%rax\ncall six\n")
			LOOP("pushing", "imul %rbx,%rax\npush %rsi\npop %rsi\n")
				LOOP("locked", "imul %rbx,%rax\nlock incl (%rdi)\n")
					LOOP("repeated", "imul %rbx,%rax\nrep stosb\n") LOOP(
						"halved", "imul %rbx,%rax\ndivsd %xmm1,%xmm0\n")
						LOOP("fenced", "imul %rbx,%rax\nmfence\n") LOOP(
							"slow", "imul %rbx,%rax\ncpuid\n")
							LOOP("asking", "imul %rbx,%rax\nsyscall\n")
	/* 4 cycles, or more with denormal numbers */
	LOOP("computing", "mulsd %xmm1,%xmm0\n")
	/* two loops, and one in another */
	LOOP("pair", "imul %rbx,%rax\ndec %rcx\njne 1b\n1: imul %rbx,%rax\n")
		LOOP("nested", "imul %rbx,%rax\n2: imul %rbx,%rax\ndec %rdx\njne 2b\n")
	/* a way of 6 cycles a round that is left for a moment */
	LOOP("forked", "imul %rbx,%rax\nimul %rbx,%rax\ntest %rsi,%rsi\nje 2f\nnop\n2: ");

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
	/* In any order, whichever has most samples. */
	add_timed(c, "fixed", 10, 1200, 3000000);
	add_timed(c, "twelve", 10, 1500, 6000000);
	add_timed(c, "six", 10, 300, 1500000);
	assert_true(vt_clockfit_find(c, &clock, &loops));
	assert_true(fabs(clock - 2) < 0.02);
	vt_clockfit_free(c);
	/* A ninth, and another: both together are more than a fifth. */
	c = vt_clockfit_new();
	assert_non_null(c);
	add_timed(c, "six", 10, 300, 1500000);
	add_timed(c, "fixed", 10, 300, 1500000);
	add_timed(c, "twelve", 10, 2100, 12000000);
	assert_true(vt_clockfit_find(c, &clock, &loops));
	assert_true(fabs(clock - 2) < 0.02);
	vt_clockfit_free(c);
}

static void test_what_may_stall(void **state)
{
	static const char *const names[] = {"moving",  "forwarded", "divided",	"calling",
					    "pushing", "locked",    "repeated", "halved",
					    "fenced",  "slow",	    "asking"};
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

/* Both of two loops show the clock, but not one that has another in it. */
static void test_several_loops(void **state)
{
	static const char *const names[] = {"pair", "nested"};
	unsigned k;

	(void)state;
	for (k = 0; k < 2; k++) {
		struct vt_clockfit *c = vt_clockfit_new();
		struct timed t;
		const struct vt_freqs freqs = {t.insn, t.edge};
		uint32_t i;

		assert_non_null(c);
		begin_timed(&t, names[k], 10, 0, 0);
		for (i = 0; i < t.f->cfg->ninsns; i++) {
			t.insn[i].executions = ROUNDS;
			t.samples[i] = 300;
			t.time[i] = 3000000;
		}
		assert_int_equal(vt_clockfit_add(c, &core, t.f, &freqs, t.samples, t.time, &err),
				 0);
		assert_loops(c, k ? 1 : 2);
		vt_procflow_free(t.f);
		vt_clockfit_free(c);
	}
}

/* The loop that forks: so many rounds by the rare way. */
static void add_forked(struct vt_clockfit *c, double rare, double visits)
{
	struct timed t;
	const struct vt_freqs freqs = {t.insn, t.edge};
	double edges[MOST];
	uint32_t i;

	begin_timed(&t, "forked", visits, 300, 3000000);
	/* Three blocks, of which the second is the rare one, and the return. */
	for (i = 0; i < t.f->cfg->nedges; i++) {
		const struct vt_cfg_edge *e = &t.f->cfg->edges[i];
		uint32_t from = e->from - VT_CFG_FIRST, to = e->to - VT_CFG_FIRST;

		edges[i] = from == 1 || to == 1	  ? rare
			   : from == 0		  ? ROUNDS - rare
			   : from == 2 && to == 0 ? ROUNDS - visits
						  : visits;
		t.edge[i].executions = edges[i];
	}
	assert_int_equal(vt_procflow_weigh(t.f, &core, edges, &err), 0);
	for (i = 0; i < t.f->cfg->ninsns; i++) {
		uint32_t block = t.f->block[i] - VT_CFG_FIRST;

		t.insn[i].executions = block == 1 ? rare : block == 3 ? visits : ROUNDS;
	}
	assert_int_equal(vt_clockfit_add(c, &core, t.f, &freqs, t.samples, t.time, &err), 0);
	vt_procflow_free(t.f);
}

/* Likewise, of all branches of a loop together: 1,200 ways out by each of two. */
static void test_limits_of_forks(void **state)
{
	struct vt_clockfit *c = vt_clockfit_new();

	(void)state;
	assert_non_null(c);
	add_forked(c, 1250, 1200);
	assert_loops(c, 0);
	add_forked(c, ROUNDS - 1250, 1200);
	assert_loops(c, 0);
	add_forked(c, 1200, 1150);
	assert_loops(c, 1);
	vt_clockfit_free(c);
}

/*
 * Three loops of 300 samples.  The faster half are two of them, that differ by nothing, or by 10 %.
 */
static void test_doubt(void **state)
{
	static const uint64_t times[][3] = {{3000000, 6000000, 1500000},
					    {3000000, 6600000, 1650000}};
	static const double off[] = {0, 0.09531017980432493}; /* ln 1.1 */
	unsigned i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct vt_clockfit *c = vt_clockfit_new();
		double clock = 0;
		size_t loops;

		assert_non_null(c);
		add_timed(c, "six", 10, 300, times[i][0]);
		add_timed(c, "twelve", 10, 300, times[i][1]);
		add_timed(c, "fixed", 10, 300, times[i][2]);
		assert_true(vt_clockfit_find(c, &clock, &loops));
		assert_true(fabs(clock - 2) < 0.02);
		assert_true(fabs(vt_clockfit_doubt(c) - sqrt((300 * off[i] * off[i] + 1) / 600)) <
			    1e-4);
		vt_clockfit_free(c);
	}
}

/*
 * A loop that computes shows the clock as others do, unless it takes twice as long as they do or
 * more: 4 million cycles in 2, 3.9 and 4 million units.
 */
static void test_computing(void **state)
{
	static const struct {
		uint64_t time;
		size_t loops;
	} rows[] = {{2000000, 3}, {3900000, 3}, {4100000, 2}, {40000000, 2}};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vt_clockfit *c = vt_clockfit_new();

		assert_non_null(c);
		add_timed(c, "computing", 10, 5000, rows[i].time);
		add_timed(c, "six", 10, 300, 3000000);
		add_timed(c, "twelve", 10, 300, 6000000);
		assert_loops(c, rows[i].loops);
		vt_clockfit_free(c);
	}
}

/*
 * Loops of 300, 600 and 300 samples, of 6, 12 and 3 million cycles.  At 2 cycles a unit the second
 * lost a fifth of its time; at 2.2 the others did a tenth, roughly; a loop that takes more than
 * twice its schedule tells nothing.
 */
static void test_slowed(void **state)
{
	static const struct {
		double clock;
		uint64_t fixed;
		double want;
	} rows[] = {
		{2, 1500000, 0.2 * 0.70710678},
		{1, 1500000, 0},
		{2.2, 1500000, 0.20412}, /* of 1/11 twice, 3/11 */
		{2, 3010000, 0.2 * 0.81649658},
		{2, 2900000, 0.27974}, /* of 1 - 1.5 / 2.9 as well */
		{4, 3010000, 0},
	};
	struct vt_clockfit *none = vt_clockfit_new();
	unsigned i;

	(void)state;
	assert_true(none && vt_clockfit_slowed(none, 2) == 0);
	vt_clockfit_free(none);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vt_clockfit *c = vt_clockfit_new();
		double slowed;

		assert_non_null(c);
		add_timed(c, "six", 10, 300, 3000000);
		add_timed(c, "twelve", 10, 600, 7500000);
		add_timed(c, "fixed", 10, 300, rows[i].fixed);
		slowed = vt_clockfit_slowed(c, rows[i].clock);
		vt_clockfit_free(c);
		if (fabs(slowed - rows[i].want) > 2e-3)
			fail_msg("row %u: %g", i, slowed);
	}
}

/*
 * Loops of 6, 12, 3 and 3 million cycles in the other run, of which the last one shows nothing, by
 * the time that they have in this one.
 */
static const struct {
	uint64_t time[4]; /* thousands */
	double scale;
	double factor;
	double spread, elsewhere;
	enum vt_otherrun_verdict verdict;
	unsigned n, loops;
	bool none; /* of "twelve" was executed */
} other_runs[] = {
	{{12000, 24000, 6000}, 1, 2, 0, 0, VT_OTHERRUN_SCALED, 3, 3, false},
	{{12000, 24000, 6000}, 0.5, 1, 0, 0, VT_OTHERRUN_ALIKE, 3, 3, false},
	/* Twice the deviation of hypot(0.03, 1 / sqrt(600)) are 10.1 %. */
	{{6500, 13000, 3250}, 1, 1.0833, 0, 0, VT_OTHERRUN_ALIKE, 3, 3, false},
	{{5500, 11000, 2750}, 1, 0.9167, 0, 0, VT_OTHERRUN_ALIKE, 3, 3, false},
	{{6900, 13800, 3450}, 1, 1.15, 0, 0, VT_OTHERRUN_SCALED, 3, 3, false},
	{{5220, 10440, 2610}, 1, 0.87, 0, 0, VT_OTHERRUN_SCALED, 3, 3, false},
	{{12000, 24000, 6000}, 0, 1, 0, 0, VT_OTHERRUN_UNTOLD, 3, 3, false},
	/* Two loops do not tell, nor whether they agree. */
	{{12000, 24000}, 1, 1, 0, 0, VT_OTHERRUN_UNTOLD, 2, 2, false},
	{{12000, 3000}, 1, 1, 0, 0, VT_OTHERRUN_UNTOLD, 2, 2, false},
	/* The deviation of log 2, log 1/4 and log 2: log 8 by the root of 2 / 9. */
	{{12000, 3000, 6000}, 1, 1, 0.98025, 0, VT_OTHERRUN_RATIOS, 3, 3, false},
	/* Of log 1, log 1/2 and log 2: log 2 by the root of 2 / 3. */
	{{6000, 6000, 6000}, 1, 1, 0.56595, 0, VT_OTHERRUN_RATIOS, 3, 3, false},
	/* Of log 1, log 4/7 and log 7/4: log 7/4 by the root of 2 / 3.  None tells. */
	{{7000, 8000, 6125}, 1, 1, 0.45693, 0, VT_OTHERRUN_UNTOLD, 3, 3, false},
	/* What no loop shows, as it waits for memory, does not matter. */
	{{6000, 12000, 3000, 90000}, 1, 1, 0, 0, VT_OTHERRUN_ALIKE, 4, 3, false},
	{{6000, 18000, 3000, 9000}, 1, 1, 0, 0.5, VT_OTHERRUN_UNTOLD, 4, 2, true},
	{{6000, 18100, 3000, 9000}, 1, 1, 0, 0.50139, VT_OTHERRUN_RATIOS, 4, 2, true},
	/* Of no clock that is known, from 0.25 GHz to 8: .2553, .2449, 7.89, 8.11 */
	{{23500, 47000, 11750}, 0, 1, 0, 0, VT_OTHERRUN_UNTOLD, 3, 3, false},
	{{24500, 49000, 12250}, 0, 1, 0, 0, VT_OTHERRUN_RATIOS, 3, 3, false},
	{{760, 1520, 380}, 0, 1, 0, 0, VT_OTHERRUN_UNTOLD, 3, 3, false},
	{{740, 1480, 370}, 0, 1, 0, 0, VT_OTHERRUN_RATIOS, 3, 3, false},
	/* Of fewer loops, the fastest tells so much; eight times off, where a clock is. */
	{{740, 1600}, 0, 1, 0, 0, VT_OTHERRUN_RATIOS, 2, 2, false},
	{{47000, 94000}, 1, 1, 0, 0, VT_OTHERRUN_UNTOLD, 2, 2, false},
	{{49000, 98000}, 1, 1, 0, 0, VT_OTHERRUN_RATIOS, 2, 2, false},
	{{740}, 1, 1, 0, 0, VT_OTHERRUN_RATIOS, 1, 1, false},
	{{760}, 1, 1, 0, 0, VT_OTHERRUN_UNTOLD, 1, 1, false},
	{{740, 1480, 370}, 1, 0.12333, 0, 0, VT_OTHERRUN_SCALED, 3, 3, false},
};

static void test_other_run(void **state)
{
	static const char *const names[] = {"six", "twelve", "fixed", "moving"};
	unsigned i, k;

	(void)state;
	for (i = 0; i < sizeof(other_runs) / sizeof(other_runs[0]); i++) {
		struct vt_otherrun *o = vt_otherrun_new();
		struct vt_otherrun_factor f;

		assert_non_null(o);
		/* The last one first: the order does not matter. */
		for (k = other_runs[i].n; k-- > 0;) {
			struct timed t;
			const struct vt_freqs freqs = {t.insn, t.edge};

			begin_timed(&t, names[k], 10, 300, 1000 * other_runs[i].time[k]);
			if (other_runs[i].none && k == 1)
				memset(t.insn, 0, sizeof(t.insn));
			assert_int_equal(
				vt_otherrun_add(o, &core, t.f, &freqs, t.samples, t.time, &err), 0);
			vt_procflow_free(t.f);
		}
		vt_otherrun_find(o, other_runs[i].scale, &f);
		if (f.verdict != other_runs[i].verdict ||
		    fabs(f.spread - other_runs[i].spread) > 1e-3 ||
		    fabs(f.elsewhere - other_runs[i].elsewhere) > 1e-5)
			fail_msg("row %u: %s, %g, %g", i, vt_otherrun_name(f.verdict), f.spread,
				 f.elsewhere);
		vt_otherrun_free(o);
		assert_int_equal(f.loops, other_runs[i].loops);
		assert_int_equal(f.clock > 0, f.verdict == VT_OTHERRUN_RATIOS &&
						      !(other_runs[i].spread > 0) &&
						      !(other_runs[i].elsewhere > 0));
		assert_true(f.clock == 0 ||
			    fabs(f.clock * other_runs[i].time[0] / 6000 - 1) < 0.002);
		if (f.verdict == VT_OTHERRUN_RATIOS)
			assert_true(isinf(f.doubt));
		else if (f.verdict == VT_OTHERRUN_UNTOLD)
			assert_true(f.factor == 1 && f.doubt == 0);
		else if (!(other_runs[i].spread > 0))
			assert_true(fabs(f.factor / other_runs[i].factor - 1) < 0.002 &&
				    fabs(f.doubt - hypot(0.03, 1 / sqrt(600))) < 1e-4);
	}
	assert_string_equal(vt_otherrun_name(VT_OTHERRUN_SAME), "same");
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
		cmocka_unit_test(test_clock),		cmocka_unit_test(test_fastest_fifth),
		cmocka_unit_test(test_what_may_stall),	cmocka_unit_test(test_limits),
		cmocka_unit_test(test_limits_of_forks), cmocka_unit_test(test_several_loops),
		cmocka_unit_test(test_doubt),		cmocka_unit_test(test_other_run),
		cmocka_unit_test(test_slowed),		cmocka_unit_test(test_computing),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
