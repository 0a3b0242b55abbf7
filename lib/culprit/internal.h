/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_CULPRIT_INTERNAL_H
#define VT_CULPRIT_INTERNAL_H

#include "culprit/culprit.h"

#define VTI_LONGS 16

/*
 * Maximum number of blocks that are searched for one instruction, which limits the time; a block
 * that is searched again counts again.
 */
#define VTI_CULPRIT_QUEUE 48

/* Instructions are summarized in stretches of this many, to skip parts of long blocks quickly. */
#define VTI_STRETCH 128

struct vti_stretch {
	uint64_t touched; /* registers at which a search for definitions must stop */
	uint32_t slots;	  /* micro-operations */
	bool calls;
};

/* The input of the rules. */
struct vti_culprit {
	const struct vt_culprit_input *in;
	const struct vt_core *core;
	const struct vt_cfg *cfg;
	const struct vt_mop *ops;
	const struct vt_schedule_cost *costs;
	const uint32_t *block;
	/*
	 * By block: the number of times that control enters the largest region around the block
	 * without calls whose lines (pages) all fit into the instruction cache (TLB).  INFINITY:
	 * there is no such region.
	 */
	double *line_entries;
	double *page_entries;
	/* By block: micro-operations of the shortest round of a loop without calls; INFINITY: none.
	 */
	double *round_slots;
	/* By instruction: maximum number of its data TLB misses, and of its data cache misses. */
	double *data_pages;
	double *data_lines;
	/*
	 * The distinct micro-operations of the procedure that occupy a unit for more than a cycle.
	 * `nlongs` is above VTI_LONGS if there are too many.
	 */
	struct {
		uint32_t units;
		uint8_t op_class;
	} longs[VTI_LONGS];
	uint32_t nlongs;
	struct vti_stretch *stretches; /* by instruction / VTI_STRETCH */
	bool *undisturbed; /* by instruction, in order: those before it run as scheduled */
	uint64_t *sought;  /* by block; scratch of vti_culprit_reach() */
};

/* Returns 0 or -VT_E_NOMEM; call vti_culprit_fini() in either case. */
int vti_culprit_init(struct vti_culprit *c, const struct vt_culprit_input *in,
		     struct vt_error *err);
void vti_culprit_fini(struct vti_culprit *c);

/* Sets line_entries and page_entries.  Returns 0 or -VT_E_NOMEM. */
int vti_culprit_regions(struct vti_culprit *c, struct vt_error *err);

/*
 * Set data_pages: of instructions that use the stack; of accesses near another access; and
 * data_lines, too, of a loop without calls that is entered `entries` times, whose head is body[0].
 */
void vti_culprit_stack(struct vti_culprit *c);
void vti_culprit_neighbours(struct vti_culprit *c);
void vti_culprit_take_loop(struct vti_culprit *c, const uint32_t *body, uint32_t nbody,
			   double entries);

/*
 * The largest value that a register can have before an instruction, by the code just before it;
 * INFINITY: any.
 */
double vti_culprit_largest(const struct vti_culprit *c, uint32_t insn, unsigned reg);

/* Decodes an instruction of the procedure; false if its code is not known. */
bool vti_culprit_decode(const struct vti_culprit *c, uint32_t insn, struct vt_facts *f);

/* Sets longs and undisturbed. */
void vti_culprit_units(struct vti_culprit *c);

/* Sets stretches. */
void vti_culprit_stretches(struct vti_culprit *c);

/* The ways on which control may come to an instruction. */
enum vti_arrival {
	VTI_NEXT,    /* from the one before it */
	VTI_BRANCH,  /* from the last of another block, which may be the one before it, too */
	VTI_RETURN,  /* by the return of the call before it */
	VTI_OUTSIDE, /* from another procedure, or from an unknown place */
};

struct vti_before {
	enum vti_arrival how;
	uint32_t insn; /* the instruction before it, the branch or the call; not for OUTSIDE */
	uint32_t edge; /* of BRANCH */
	double executions;
};

#define VTI_BEFORES 32

/* The dynamic stall of an instruction. */
struct vti_stalled {
	const struct vti_culprit *c;
	uint32_t insn;
	double executions;
	double cycles;			       /* lost on all of them together */
	struct vti_before before[VTI_BEFORES]; /* all ways to the instruction */
	uint32_t nbefore;
	bool expected; /* use the most likely numbers of events, not the maximum ones */
};

static inline const struct vt_mop *vti_stalled_op(const struct vti_stalled *st)
{
	return &st->c->ops[st->insn];
}

/* A possible cause, the maximum cycles that it explains, and the instructions responsible. */
struct vti_suspect {
	double bound;
	uint32_t nguilty;
	uint32_t guilty[VT_CULPRIT_GUILTY];
};

void vti_suspect_blame(struct vti_suspect *s, uint32_t insn);

/*
 * The rules.  Each gets a suspect with the bound INFINITY and may reduce the bound, to 0 if the
 * cause is excluded.
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

/* The number of rules, one for each dynamic cause. */
#define VTI_RULES 14

enum vt_stall_cause vti_culprit_cause(uint32_t rule);

/* Sets *st for an instruction, with or without a stall.  Returns false if nothing is known of it.
 */
bool vti_culprit_stalled(const struct vti_culprit *c, uint32_t insn, struct vti_stalled *st);

/* Applies all rules: sets suspects[rule].  st->cycles is not used. */
void vti_culprit_suspects(const struct vti_stalled *st, struct vti_suspect *suspects);

/*
 * Estimates how likely the suspects are: sets likely[rule] to the expected share of the stall, with
 * a sum of 1, or to 1 for all if there is no expectation.  Sets typical[rule] to the cycles of the
 * cause if it occurred at every execution, with its usual cost.
 */
void vti_culprit_likely(const struct vti_stalled *st, const struct vti_suspect *suspects,
			double *typical, double *likely);

/*
 * How many samples there may have been where n were seen: the upper end of a Poisson mean's 97.5 %
 * interval (n + 2 sqrt(n) + 4 is above it for every n).
 */
double vti_culprit_at_most(double n);

/*
 * Returns where the word of an event's name begins, as in "cpu/branch-misses/u" or
 * "branch-misses:pp", and sets its length.  Borrowed from `name`.
 */
const char *vti_culprit_event_word(const char *name, size_t *length);

/*
 * Returns an upper bound of the number of events at an instruction, from the samples at it and just
 * behind it; INFINITY if the event was not sampled.
 */
double vti_culprit_events(const struct vti_stalled *st, enum vt_culprit_event event, uint32_t insn);

/* Returns how often control comes to the instruction from another line or page of `size` bytes. */
double vti_culprit_entered(const struct vti_stalled *st, uint32_t size);

/* Returns the maximum cycles of a cache miss. */
double vti_culprit_miss(const struct vt_core *m);
/* Returns the same or, with st->expected, the cycles of a miss that hits in another cache. */
double vti_culprit_fill(const struct vti_stalled *st);
double vti_culprit_tlb(const struct vt_core *m, const struct vt_tlb_shape *t);

/* Returns the cycles of a mispredicted branch until its target's first results are there. */
double vti_culprit_mispredict(const struct vt_core *m);

/* Whether an access is on the stack or at an address that the instruction says. */
bool vti_culprit_is_fixed(const struct vti_culprit *c, uint32_t insn);

/* Whether two accesses have the same registers as addresses; *far is what they are apart. */
bool vti_culprit_are_near(const struct vti_culprit *c, uint32_t a, uint32_t b, double *far);

/*
 * What the code and its counts allow a cause at an instruction: upper bounds of cycles that rest on
 * no cost of the core as it is (facts.c).  INFINITY: any number.  Of a few, a lower bound was
 * measured.
 */
struct vti_fact {
	double bound;
	double sure;
	enum vt_stall_why why; /* VT_WHY_ABSENT: no instruction like it does that */
};

/* The number of causes that there are facts of. */
#define VTI_FACTS 10

/* Which of them VT_STALL_OTHER is. */
#define VTI_FACT_OTHER 0

enum vt_stall_cause vti_culprit_fact_cause(uint32_t i);
struct vti_fact vti_culprit_fact(const struct vti_stalled *st, uint32_t i);

/*
 * That a branch was mispredicted which led to an instruction; *guilty is the branch, or the
 * instruction itself where that is not known.
 */
struct vti_fact vti_culprit_arrival_fact(const struct vti_stalled *st, uint32_t *guilty);

/*
 * Appends the stalls of a procedure on a machine that issues out of order: of instructions that
 * stall for long, and of what else its regions lose.  Sets *out->regions.  Returns 0 or
 * -VT_E_NOMEM.
 */
int vti_culprit_by_region(const struct vti_culprit *c, struct vt_culprit_stalls *out,
			  struct vt_error *err);

/* Returns 0 or -VT_E_NOMEM. */
int vti_culprit_append(struct vt_culprit_stalls *s, const struct vt_culprit_stall *stall,
		       struct vt_error *err);

/* An instruction that defines a value for which another one waits. */
struct vti_definer {
	uint32_t insn;
	uint32_t slots; /* minimum number of micro-operations between the two */
};

#define VTI_DEFINERS 16

struct vti_definers {
	struct vti_definer list[VTI_DEFINERS];
	uint32_t count;
	double outside; /* executions with values from other procedures or from too far back */
};

/*
 * Finds the instructions whose definitions of registers `regs` reach the stalled instruction,
 * without another instruction in between that waits for them.
 */
void vti_culprit_reach(const struct vti_stalled *st, uint64_t regs, struct vti_definers *d);

/*
 * Calls `fn` for the instructions that are executed at most `slots` micro-operations before the
 * stalled one, and with UINT32_MAX where another procedure's code is executed, `often` times.
 * `far` is the number of micro-operations in between.
 */
typedef void vti_culprit_visit(void *arg, uint32_t insn, uint32_t far, double often);
void vti_culprit_back(const struct vti_stalled *st, uint32_t slots, vti_culprit_visit *fn,
		      void *arg);

/* Returns whether it is a load that does not itself wait for the loaded value. */
bool vti_mop_is_load(const struct vt_mop *op);

/* Returns whether it waits for the value that it loads. */
bool vti_mop_waits(const struct vt_mop *op);

/* Returns the maximum latency of its micro-operations. */
unsigned vti_mop_latency(const struct vt_mop *op);

#endif
