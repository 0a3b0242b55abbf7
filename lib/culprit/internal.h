/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_CULPRIT_INTERNAL_H
#define VT_CULPRIT_INTERNAL_H

#include "culprit/culprit.h"

#define VTI_LONGS 16

/*
 * So many blocks are looked at for one instruction, one that is looked at again counted twice,
 * which bounds the time.
 */
#define VTI_CULPRIT_QUEUE 48

/* So many instructions are skipped at a time where they do not matter: blocks may be long. */
#define VTI_STRETCH 128

struct vti_stretch {
	uint64_t touched; /* registers that a search for definitions stops at */
	uint32_t slots;	  /* micro-operations */
	bool calls;
};

/* What the rules look at. */
struct vti_culprit {
	const struct vt_culprit_input *in;
	const struct vt_core *core;
	const struct vt_cfg *cfg;
	const struct vt_mop *ops;
	const struct vt_schedule_cost *costs;
	const uint32_t *block;
	/*
	 * By block: how often control enters the largest stretch of code around it that calls
	 * nothing and whose lines (pages) the instruction cache (TLB) holds all at a time.
	 * INFINITY: there is none.
	 */
	double *line_entries;
	double *page_entries;
	double *data_pages; /* by instruction: how often its data can miss the TLB, at most */
	/*
	 * Micro-operations of the procedure that occupy a unit for more than a cycle: each sort
	 * once.  More than there is room for: `nlongs` is higher.
	 */
	struct {
		uint32_t units;
		uint8_t op_class;
	} longs[VTI_LONGS];
	uint32_t nlongs;
	struct vti_stretch *stretches; /* by instruction / VTI_STRETCH */
	bool *undisturbed; /* by instruction: in order, those before it are as in the schedule */
	uint64_t *sought;  /* by block; scratch of vti_culprit_reach() */
	uint32_t *queue;   /* VTI_CULPRIT_QUEUE blocks; scratch */
};

/* 0 or -VT_E_NOMEM; vti_culprit_fini() in either case. */
int vti_culprit_init(struct vti_culprit *c, const struct vt_culprit_input *in,
		     struct vt_error *err);
void vti_culprit_fini(struct vti_culprit *c);

/* Fills line_entries and page_entries. */
int vti_culprit_regions(struct vti_culprit *c, struct vt_error *err);

/*
 * Fills data_pages: for what uses the stack; for what is near another access; for a loop that calls
 * nothing, entered so often.
 */
void vti_culprit_stack(struct vti_culprit *c);
void vti_culprit_neighbours(struct vti_culprit *c);
void vti_culprit_take_loop(struct vti_culprit *c, const uint32_t *body, uint32_t nbody,
			   double entries);

/* Fills longs and undisturbed. */
void vti_culprit_units(struct vti_culprit *c);

/* Fills stretches. */
void vti_culprit_stretches(struct vti_culprit *c);

/* How control may arrive at an instruction. */
enum vti_arrival {
	VTI_NEXT,    /* from the one before it */
	VTI_BRANCH,  /* from the last of another block, which may be the one before it, too */
	VTI_RETURN,  /* from what the call before it called */
	VTI_OUTSIDE, /* from another procedure, or nobody knows from where */
};

struct vti_before {
	enum vti_arrival how;
	uint32_t insn; /* the one before it, the branch, the call; not of OUTSIDE */
	uint32_t edge; /* of BRANCH */
	double executions;
};

#define VTI_BEFORES 32

/* One instruction's stall beyond its static ones. */
struct vti_stalled {
	const struct vti_culprit *c;
	uint32_t insn;
	double executions;
	double cycles;			       /* lost on all of them together */
	struct vti_before before[VTI_BEFORES]; /* all ways by which control arrives */
	uint32_t nbefore;
	bool expected; /* events are taken for as many as are most likely, not as many as possible
			*/
};

static inline const struct vt_mop *vti_stalled_op(const struct vti_stalled *st)
{
	return &st->c->ops[st->insn];
}

/* A cause that has not been ruled out: the most cycles that it may account for. */
struct vti_suspect {
	double bound;
	uint32_t nguilty;
	uint32_t guilty[VT_CULPRIT_GUILTY];
};

void vti_suspect_blame(struct vti_suspect *s, uint32_t insn);

/*
 * The rules: each takes a suspect whose bound is INFINITY and leaves it so, makes it finite, or 0:
 * innocent.
 */
typedef void vti_culprit_rule(const struct vti_stalled *st, struct vti_suspect *s);

vti_culprit_rule vti_rule_icache;
vti_culprit_rule vti_rule_itlb;
vti_culprit_rule vti_rule_mispredict;
vti_culprit_rule vti_rule_dcache;
vti_culprit_rule vti_rule_dtlb;
vti_culprit_rule vti_rule_write_buffer;
vti_culprit_rule vti_rule_forward;
vti_culprit_rule vti_rule_sync;
vti_culprit_rule vti_rule_multiplier;
vti_culprit_rule vti_rule_divider;
vti_culprit_rule vti_rule_unit;
vti_culprit_rule vti_rule_dependency;
vti_culprit_rule vti_rule_queue;
vti_culprit_rule vti_rule_other;

/* There are so many rules, one for each dynamic cause. */
#define VTI_RULES 14

enum vt_stall_cause vti_culprit_cause(uint32_t rule);

/* Finds an instruction's stall, if it is one or not: false if nothing is known of it. */
bool vti_culprit_stalled(const struct vti_culprit *c, uint32_t insn, struct vti_stalled *st);

/* What each rule leaves of its cause.  st->cycles does not matter. */
void vti_culprit_suspects(const struct vti_stalled *st, struct vti_suspect *suspects);

/*
 * How likely the suspects are: what each may be expected to account for, as shares of the stall
 * that add up to 1; 1 each where nothing is to be expected of any.  `typical` gets the cycles of
 * each if it always happened, at its usual cost.
 */
void vti_culprit_likely(const struct vti_stalled *st, const struct vti_suspect *suspects,
			double *typical, double *likely);

/*
 * The most that samples of an event at an instruction, or just behind it, say of how often it
 * happened; INFINITY when it was not sampled.
 */
double vti_culprit_events(const struct vti_stalled *st, enum vt_culprit_event event, uint32_t insn);

/* How often control comes to an instruction from another line (or page) of `size` bytes. */
double vti_culprit_entered(const struct vti_stalled *st, uint32_t size);

/* The most cycles that it takes to get a line from wherever it is. */
double vti_culprit_miss(const struct vt_core *m);
/* Likewise; if what is to be expected matters, those that it takes to get it from a cache. */
double vti_culprit_fill(const struct vti_stalled *st);
double vti_culprit_tlb(const struct vt_core *m, const struct vt_tlb_shape *t);

/* Where the values that an instruction waits for may come from. */
struct vti_definer {
	uint32_t insn;
	uint32_t slots; /* micro-operations between the two, at least */
};

#define VTI_DEFINERS 16

struct vti_definers {
	struct vti_definer list[VTI_DEFINERS];
	uint32_t count;
	double outside; /* how often some may come from other procedures, or too far away to tell */
};

/*
 * The instructions that define registers `regs` as the stalled instruction finds them, and for
 * which nothing before it has waited.
 */
void vti_culprit_reach(const struct vti_stalled *st, uint64_t regs, struct vti_definers *d);

/*
 * Calls `fn` for the instructions that are executed before the stalled one, not more than `slots`
 * micro-operations ago, and with UINT32_MAX where that is another procedure's code.  `far`: how
 * many are between.
 */
typedef void vti_culprit_visit(void *arg, uint32_t insn, uint32_t far);
void vti_culprit_back(const struct vti_stalled *st, uint32_t slots, vti_culprit_visit *fn,
		      void *arg);

/* Whether it has a micro-operation of these classes (bit n: class n). */
bool vti_mop_has(const struct vt_mop *op, uint32_t classes);

/* Whether it goes on without what it has loaded, which others wait for. */
bool vti_mop_is_load(const struct vt_mop *op);

/* Whether it waits for what it loads itself. */
bool vti_mop_waits(const struct vt_mop *op);

/* Its longest latency. */
unsigned vti_mop_latency(const struct vt_mop *op);

#endif
