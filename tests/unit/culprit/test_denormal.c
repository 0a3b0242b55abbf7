/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Denormal numbers: suspected of what nothing else can account for, where there is arithmetic. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "culprit/culprit.h"
#include "tests/unit/common/procs.h"

#define ROUNDS 100000.0
#define VISITS 10.0

static struct vt_error err;

/* What is before `dec %esi; jne` to the start, and `ret`. */
struct body {
	uint8_t code[16];
	uint8_t size;
};

/* mulsd %xmm1,%xmm0; movaps %xmm1,%xmm0; mov (%rdi),%rdi and mulsd %xmm1,%xmm0 */
static const struct body multiplying = {{0xf2, 0x0f, 0x59, 0xc1}, 4};
static const struct body copying = {{0x0f, 0x28, 0xc1}, 3};
static const struct body loading = {{0x48, 0x8b, 0x3f, 0xf2, 0x0f, 0x59, 0xc1}, 7};

/* A loop of which the instruction at `offset` takes 200 cycles more than its schedule. */
static struct proc *find_stalls(const struct body *body, uint64_t offset)
{
	static uint8_t code[sizeof(body->code) + 5];
	uint8_t n = body->size;
	struct proc *p;
	uint32_t i;

	memcpy(code, body->code, n);
	memcpy(code + n, (uint8_t[]){0xff, 0xce, 0x75, (uint8_t)(256 - (n + 4)), 0xc3}, 5);
	p = proc_make("zen4", code, n + 5U);
	p->in.code = code;
	p->in.code_size = n + 5U;
	p->in.least_peak = 20;
	proc_set_edge(p, n + 2U, 0, ROUNDS - VISITS);
	proc_set_edge(p, n + 2U, n + 4U, VISITS);
	for (i = 0; i < p->flow.cfg->nedges; i++)
		if (p->flow.cfg->edges[i].from == VT_CFG_ENTRY)
			p->edges[i] = VISITS;
	for (i = 0; i < p->flow.cfg->ninsns; i++) {
		p->insns[i].executions = i == proc_at(p, n + 4U) ? VISITS : ROUNDS;
		p->insns[i].time_samples = 100;
	}
	p->insns[proc_at(p, offset)].cycles += 200;
	p->insns[proc_at(p, offset)].time_samples = 10000;
	assert_int_equal(vt_culprit_find(&p->in, &p->stalls, &err), 0);
	return p;
}

static const struct vt_culprit_stall *get_stall(const struct proc *p, uint64_t offset,
						enum vt_stall_cause cause)
{
	size_t i;

	for (i = 0; i < p->stalls.count; i++) {
		const struct vt_culprit_stall *s = &p->stalls.list[i];

		if (s->insn == proc_at(p, offset) && s->cause == cause &&
		    !(s->flags & VT_STALL_SCOPE) && !vt_culprit_is_acquittal(s))
			return s;
	}
	return NULL;
}

/* All of it, but nothing is claimed.  What comes behind may have its samples. */
static void test_arithmetic(void **state)
{
	static const uint64_t offsets[] = {0, 4, 6};
	unsigned i;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct proc *p = find_stalls(&multiplying, offsets[i]);
		const struct vt_culprit_stall *s = get_stall(p, offsets[i], VT_STALL_OTHER);
		uint32_t at = proc_at(p, offsets[i]);
		double head = (double)p->costs[at].head, cycles = head + 200;
		double half = sqrt(pow(1.645 / 100, 2) + pow(4 / cycles, 2));
		double high = ROUNDS * (cycles * (1 + half) - 0.9 * head);

		assert_non_null(s);
		assert_int_equal(s->why, VT_WHY_DENORMAL);
		assert_true(s->low == 0 && fabs(s->high - high) < 1e-6 * high);
		assert_true(s->nguilty == 1 && s->guilty[0] == 0);
		assert_null(get_stall(p, offsets[i], VT_STALL_UNEXPLAINED));
		proc_drop(p);
	}
}

/* Nobody else could, and there is no arithmetic; or somebody else could. */
static void test_others(void **state)
{
	struct proc *p = find_stalls(&copying, 0);
	const struct vt_culprit_stall *s = get_stall(p, 0, VT_STALL_UNEXPLAINED);

	(void)state;
	assert_true(s && s->why == VT_WHY_NOBODY && s->low > 100 * ROUNDS);
	assert_null(get_stall(p, 0, VT_STALL_OTHER));
	proc_drop(p);
	p = find_stalls(&loading, 0);
	assert_non_null(get_stall(p, 0, VT_STALL_DCACHE));
	assert_null(get_stall(p, 0, VT_STALL_OTHER));
	assert_null(get_stall(p, 0, VT_STALL_UNEXPLAINED));
	proc_drop(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arithmetic),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
