/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_MACHINE_PIPELINE_OOOCASES_H
#define TESTS_UNIT_MACHINE_PIPELINE_OOOCASES_H

/* Issue out of order: how tests say when each instruction is where.  Include cmocka.h first. */
#include <stdio.h>
#include <string.h>

#include "machine/pipeline/ooo.h"

#define R	 VT_UOP_READS
#define A	 VT_UOP_ADDRESS
#define P	 VT_UOP_PREVIOUS
#define W	 VT_UOP_WRITES
#define U0	 1u
#define U1	 2u
#define BIT(reg) (UINT64_C(1) << (reg))
#define AX	 BIT(VT_REG_AX)
#define BX	 BIT(VT_REG_BX)
#define XMM0	 BIT(VT_REG_VECTOR)
#define FLAGS	 BIT(VT_REG_FLAGS)

struct fixture {
	struct vt_core core;
	struct vt_ooo *e;
	uint64_t begun; /* cycle that others are counted from */
	unsigned n;
};

/* One stage between fetch and issue, room for any number, four of everything in a cycle. */
static inline struct vt_core wide(void)
{
	return (struct vt_core){.order = VT_OUT_OF_ORDER,
				.fetch = 4,
				.decode = 4,
				.issue = 4,
				.retire = 4,
				.front = 1,
				.nunits = 2};
}

static inline void begin(struct fixture *f, struct vt_core core)
{
	memset(f, 0, sizeof(*f));
	f->core = core;
	f->e = vt_ooo_new(&f->core, NULL);
	assert_non_null(f->e);
}

static inline void end(struct fixture *f)
{
	vt_ooo_free(f->e);
}

static inline struct vt_uop uop(enum vt_op_class c, unsigned operands, unsigned latency,
				uint32_t units, unsigned busy)
{
	return (struct vt_uop){(uint8_t)c, (uint8_t)operands, (uint16_t)latency, (uint16_t)busy,
			       units};
}

static inline struct vt_mop one(struct vt_uop u, uint64_t reads, uint64_t writes)
{
	return (struct vt_mop){
		.nuops = 1, .slots = 1, .reads = reads, .writes = writes, .uops = {u}};
}

/* Of one cycle, by any unit. */
static inline struct vt_mop addition(uint64_t reads, uint64_t writes)
{
	return one(uop(VT_OP_INT, R | W, 1, 0, 1), reads, writes);
}

static inline struct vt_mop busy(uint32_t units, unsigned cycles)
{
	return one(uop(VT_OP_INT, R | W, 1, units, cycles), 0, 0);
}

/* "fetched placed issued done retired" */
static inline void expect_insn(struct fixture *f, struct vt_ooo_insn in, const char *want)
{
	struct vt_inorder_cost cost;
	struct vt_ooo_times t;
	char text[120];

	in.tag = ++f->n;
	vt_ooo_run(f->e, &in, &cost, &t);
	snprintf(text, sizeof(text), "%ju %ju %ju %ju %ju", (uintmax_t)(t.fetched - f->begun),
		 (uintmax_t)(t.placed - f->begun), (uintmax_t)(t.issued - f->begun),
		 (uintmax_t)(t.done - f->begun), (uintmax_t)(t.retired - f->begun));
	if (strcmp(text, want) != 0)
		fail_msg("instruction %u: %s, not %s", f->n, text, want);
	assert_int_equal(cost.cycle, t.retired);
}

static inline void expect(struct fixture *f, struct vt_mop op, const char *want)
{
	expect_insn(f, (struct vt_ooo_insn){.op = &op}, want);
}

#endif
