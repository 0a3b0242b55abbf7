/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where samples are of the instruction that is awaited, a mispredicted branch shows at its target.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "culprit/culprit.h"
#include "tests/unit/common/procs.h"

static struct vt_error err;

/*
 *  0: 85 ff           test %edi,%edi
 *  2: 74 02           je 6
 *  4: 31 c0           xor %eax,%eax
 *  6: 01 c8           add %ecx,%eax
 *  8: ff d2           call *%rdx
 *  a: 29 c8           sub %ecx,%eax
 *  c: ff e6           jmp *%rsi
 */
static const uint8_t code[] = {0x85, 0xff, 0x74, 0x02, 0x31, 0xc0, 0x01,
			       0xc8, 0xff, 0xd2, 0x29, 0xc8, 0xff, 0xe6};

/* What the instruction at an offset stalls by, 60 cycles each time; NULL: not by that. */
static const struct vt_culprit_stall *find_mispredict(struct proc *p, uint64_t offset)
{
	uint32_t at = proc_at(p, offset);
	size_t i;

	for (i = 0; i < p->flow.cfg->ninsns; i++) {
		p->insns[i].cycles = p->costs[i].head + (i == at ? 60 : 0);
		p->insns[i].time_samples = i == at ? 10000 : 10;
	}
	p->stalls.count = 0;
	assert_int_equal(vt_culprit_find(&p->in, &p->stalls, &err), 0);
	for (i = 0; i < p->stalls.count; i++) {
		const struct vt_culprit_stall *s = &p->stalls.list[i];

		if (s->insn == at && s->cause == VT_STALL_MISPREDICT &&
		    !(s->flags & VT_STALL_OF_REGION) && !vt_culprit_is_acquittal(s))
			return s;
	}
	return NULL;
}

/* A branch that goes elsewhere `n` times may be wrong so often, thrice for what it costs. */
static void test_targets(void **state)
{
	static const struct {
		uint64_t at, guilty;
		double often;
		enum vt_stall_why why;
	} rows[] = {
		/* Called through a pointer, for all that is known. */
		{0x0, 0x0, PROC_EACH, VT_WHY_INDIRECT},
		{0x6, 0x2, 0.3 * PROC_EACH, VT_WHY_BOTH_WAYS},
		{0xa, 0xa, PROC_EACH, VT_WHY_RETURNS},
	};
	struct proc *p = proc_make("skylake", code, sizeof(code));
	double cost =
		(double)p->core.mispredict + p->core.front + p->core.classes[VT_OP_LOAD].latency;
	unsigned i;

	(void)state;
	p->in.least_peak = 10;
	proc_set_edge(p, 0x2, 0x4, 0.7 * PROC_EACH);
	proc_set_edge(p, 0x2, 0x6, 0.3 * PROC_EACH);
	proc_set_edge(p, 0x4, 0x6, 0.7 * PROC_EACH);
	proc_set_entry(p, PROC_EACH);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct vt_culprit_stall *s;

		p->in.charged_before = false;
		s = find_mispredict(p, rows[i].at);
		if (!s)
			fail_msg("row %u", i);
		assert_int_equal(s->why, rows[i].why);
		assert_int_equal(s->guilty[0], proc_at(p, rows[i].guilty));
		assert_true(s->bound > 0.999 * 3 * rows[i].often * cost &&
			    s->bound < 1.001 * 3 * rows[i].often * cost);
		/* Samples that are charged to what was before show at the branch. */
		p->in.charged_before = true;
		assert_null(find_mispredict(p, rows[i].at));
	}
	proc_drop(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_targets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
