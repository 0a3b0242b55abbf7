/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_KINDS_H
#define VT_STREAM_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The known kinds of records, VT_EVENT, VT_IMAGE …, numbered from 0.  Foreign kinds follow from
 * VT_NKINDS on.
 */
enum vt_kind {
#define KIND(kind, id) VT_##kind,
#define FIELD(kind, constant, name, type, unit)
#define END(kind)
#include "stream/kinds.def"
#undef KIND
#undef FIELD
#undef END
	VT_NKINDS
};

/* Each kind's fields in canonical order, as VT_SAMPLE_TIME …, and their number, VT_SAMPLE_NFIELDS.
 */
#define KIND(kind, id)                                                                             \
	enum vt_##kind##_field                                                                     \
	{
#define FIELD(kind, constant, name, type, unit) VT_##kind##_##constant,
#define END(kind)                                                                                  \
	VT_##kind##_NFIELDS                                                                        \
	}                                                                                          \
	;
#include "stream/kinds.def"
#undef KIND
#undef FIELD
#undef END

/* The type of a field. */
enum vt_type {
	VT_TYPE_U = 'U', /* unsigned 64-bit number */
	VT_TYPE_I = 'I', /* signed 64-bit number */
	VT_TYPE_F = 'F', /* IEEE 754 double, as its bits */
	VT_TYPE_S = 'S', /* text: bytes without a terminating zero */
	VT_TYPE_B = 'B', /* bytes */
	VT_TYPE_A = 'A', /* array of unsigned 64-bit numbers */
};

/*
 * How the address of an event's samples was chosen.  Errors differ by an order of magnitude between
 * policies, so samples of different policies are not added up unless the user asks for it.
 */
enum vt_policy {
	VT_POLICY_UNKNOWN,
	VT_POLICY_INTERRUPT, /* where the interrupt was taken, with skid */
	VT_POLICY_PRECISE, /* precise_ip was requested; EXACT_IP in a sample's misc: and achieved */
	VT_POLICY_DISPATCH, /* an instruction tagged at dispatch (IBS, SPE) */
	VT_POLICY_MODEL,    /* chosen by a simulator */
	VT_POLICY_EXACT,    /* counted, not sampled: tracepoints, software events at their cause */
	VT_NPOLICIES
};

/* The reason in GAP records for code that was missing when a processor trace was decoded. */
#define VT_REASON_NO_CODE "no code"

enum vt_image_type {
	VT_IMAGE_FILE,
	VT_IMAGE_KERNEL,
	VT_IMAGE_MODULE,
	VT_IMAGE_VDSO,
	VT_IMAGE_ANON, /* code without a file: a JIT's */
	VT_IMAGE_BPF,
	VT_NIMAGETYPES
};

/* Flags of a FILE record. */
enum vt_file_flags {
	VT_FILE_VERIFIED = 1, /* it was known to be the recorded file */
	VT_FILE_CHANGED = 2,  /* it was known to be modified since it was mapped */
	VT_FILE_STRIPPED = 4, /* it has at most dynamic symbols */
	VT_FILE_LINES = 8,    /* it has source lines: those of its LINE records */
};

/* Flags of a SYMBOL record, besides those of enum vt_symbol_flags (image/symbols.h). */
enum vt_symbol_record_flags {
	VT_SYMBOL_ALIAS = 128,	 /* another name of the symbol at this address */
	VT_SYMBOL_ENDS = 256,	 /* without a name: no call of the procedure at `addr` returns */
	VT_SYMBOL_ENTERED = 512, /* without a name: another procedure jumps to `addr` */
};

/* Flags of a LINE record. */
enum vt_line_flags {
	VT_LINE_KNOWN = 1,     /* `file` to `discriminator` are set */
	VT_LINE_STATEMENT = 2, /* a recommended breakpoint location */
	VT_LINE_FRAME = 4,     /* `function` is set */
	VT_LINE_DECLARED = 8,  /* not code, but the declaration of the function at [addr, +size) */
};

/* Flags of a REGION record. */
enum vt_region_flags {
	VT_REGION_IS_LOOP = 1,	/* false: the code of a procedure outside of its loops */
	VT_REGION_OVERLAPS = 2, /* with its neighbours: its cycles are its time as the oldest */
	VT_REGION_IS_WIDE = 4,	/* the interval is wider than claims can be made from */
	VT_REGION_CALLS = 8,	/* it calls code that has samples */
	VT_REGION_CALLS_UNKNOWN = 16, /* it calls code whose time is not known */
};

/* Flags of a CHAIN record. */
enum vt_chain_flags {
	/* Its address was chosen precisely, its chain later: it may stand for the same call as its
	 * parent, if both are in one procedure. */
	VT_CHAIN_SKID = 1,
	VT_CHAIN_FULL = 2, /* it has no place: samples for whose chains the tree had no room */
};

/* Ids of CHAIN records are from 1 to this. */
#define VT_CHAIN_IDS 4194304

enum vt_thread_op { VT_OP_COMM, VT_OP_EXEC, VT_OP_FORK, VT_OP_EXIT, VT_NOPS };

/* How a basic block ends. */
enum vt_block_end {
	VT_END_FALL, /* at the maximum length, or where another block begins */
	VT_END_BRANCH,
	VT_END_JUMP,
	VT_END_JUMP_INDIRECT,
	VT_END_CALL,
	VT_END_CALL_INDIRECT,
	VT_END_RETURN,
	VT_END_SYSCALL,
	VT_END_OTHER, /* a trap, a repeated string instruction, … */
	VT_NENDS
};

/* What a value is to the instruction that it belongs to. */
enum vt_what {
	VT_WHAT_UNKNOWN,
	VT_WHAT_LOAD,	      /* what was read from memory */
	VT_WHAT_STORE,	      /* what was written to memory */
	VT_WHAT_LOAD_ADDRESS, /* where a load read */
	VT_WHAT_STORE_ADDRESS,
	VT_WHAT_RESULT, /* a register after the instruction */
	VT_WHAT_ARG,	/* a register that passes an argument, at a call */
	VT_WHAT_STATE,	/* machine state after a helper function of the recorder */
	VT_WHAT_GUARD,	/* 1 if the instruction's next load or store happened, 0 if not */
	VT_WHAT_TARGET, /* where an indirect jump or call went */
	VT_WHAT_RETURN, /* the return address of the current procedure */
	VT_WHAT_PTWRITE,
	VT_WHAT_OPERAND, /* an operand of the instruction */
	VT_WHAT_LATENCY, /* of a load, in cycles */
	VT_WHAT_MODULE,	 /* defined by plugin number `reg` */
	VT_NWHATS
};

/* The algorithms that maintain hot lists. */
enum vt_algo {
	VT_ALGO_EXACT,
	VT_ALGO_GM,  /* counting samples: Gibbons and Matias; value sampling 2.2 */
	VT_ALGO_TNV, /* top-N-value table: value profiling 3 */
	VT_ALGO_LRU,
	VT_ALGO_CONVERGENT, /* value profiling 8.1 */
	VT_ALGO_RANDOM,	    /* value profiling 8.2 */
	VT_ALGO_SPACE_SAVING,
	VT_NALGOS
};

/* Why a thread's registers are recorded. */
enum vt_state_reason {
	VT_STATE_START,	    /* the thread is about to run its first instruction */
	VT_STATE_WINDOW,    /* recording begins or goes on here */
	VT_STATE_SIGNAL,    /* a handler is about to run */
	VT_STATE_SIGRETURN, /* a handler has returned */
	VT_NSTATES
};

/* The functions of HEAP records, outermost calls alone. */
enum vt_heap_op {
	VT_HEAP_MALLOC, /* or a function of --alloc */
	VT_HEAP_CALLOC,
	VT_HEAP_REALLOC,
	VT_HEAP_ALIGNED, /* posix_memalign, aligned_alloc, memalign, valloc */
	VT_HEAP_FREE,
	VT_HEAP_NEW,
	VT_HEAP_DELETE,
	VT_HEAP_MMAP,
	VT_HEAP_MUNMAP,
	VT_HEAP_MREMAP,
	VT_NHEAPS
};

/* The types of objects of memory profiles. */
enum vt_object_type {
	VT_OBJECT_GLOBAL, /* a variable; its place is where it begins */
	VT_OBJECT_HEAP,	  /* what a call chain allocates; return addresses, innermost first */
	VT_OBJECT_STACK,  /* frames of the procedure that begins at its place; none: above all */
	VT_OBJECT_IMAGE,  /* a section of an image, or all of it, where no variable is known */
	VT_OBJECT_MAPPED, /* a mapping without file that no allocator made; by call chain */
	VT_OBJECT_FREE,	  /* heap that is not allocated: the allocator's own data */
	VT_OBJECT_UNKNOWN,
	VT_OBJECT_OTHER, /* those beyond a limit */
	VT_NOBJECTTYPES
};

/* The events of TRACE records, with the meaning of the record's fields. */
enum vt_trace_event {
	VT_TRACE_ENABLED,	 /* ip: where tracing begins or resumes */
	VT_TRACE_DISABLED,	 /* to: the first address not traced, 0 if unknown */
	VT_TRACE_ASYNC_DISABLED, /* ip: where an interrupt, exception … ended tracing; to */
	VT_TRACE_ASYNC_BRANCH, /* ip: where an interrupt, exception … happened; to: its handler */
	VT_TRACE_PAGING,       /* value: CR3; extra: 1 in a guest of a virtual machine */
	VT_TRACE_VMCS,	       /* value: its base */
	VT_TRACE_EXEC_MODE,    /* value: 16, 32 or 64 bits */
	VT_TRACE_TSX,	       /* value: bit 0 in a transaction, bit 1 aborted; ip */
	VT_TRACE_STOP,
	VT_TRACE_EXSTOP, /* ip: where execution stops for a power state change */
	VT_TRACE_MWAIT,	 /* value: hints; extra: extensions */
	VT_TRACE_PWRE,	 /* value: power state entered; extra: its sub-state */
	VT_TRACE_PWRX,	 /* value: last core state, and deepest << 4; extra: wake reason */
	VT_TRACE_CBR,	 /* value: core to bus ratio from now on */
	VT_TRACE_MNT,	 /* value */
	VT_NTRACES
};

/* Why two memory accesses conflict; value sampling 3.2, and Intel's optimisation manual. */
enum vt_conflict {
	VT_CONFLICT_UNKNOWN,
	VT_CONFLICT_FORWARD,  /* a load overlaps an earlier store that does not hold all of it */
	VT_CONFLICT_ALIAS_4K, /* a load equals an earlier store elsewhere in the low 12 bits */
	VT_CONFLICT_ORDER,    /* a load may pass an earlier store to the same bytes */
	VT_CONFLICT_SIZE,     /* a load follows a narrower store to some of its bytes */
	VT_CONFLICT_SYNONYM,  /* two accesses want the same place of the cache */
	VT_NCONFLICTS
};

/* Why a recorder followed no more instructions of a sample; as enum walk_stop of cmd/agent. */
enum vt_walk_stop {
	VT_WALK_NOT,	 /* it followed none */
	VT_WALK_LENGTH,	 /* as many as were asked for */
	VT_WALK_BRANCH,	 /* the condition of a branch was unknown */
	VT_WALK_TARGET,	 /* the target of an indirect branch was unknown */
	VT_WALK_SYSCALL, /* before a system call */
	VT_WALK_INSN,	 /* an instruction that it cannot pass */
	VT_WALK_CODE,	 /* the code could not be read */
	VT_WALK_TRAP,	 /* an instruction that traps */
	VT_WALK_FULL,	 /* no room for another line */
	VT_NWALKSTOPS
};

/* The confidence in an estimate: DCPI 6.1.5. */
enum vt_confidence {
	VT_CONFIDENCE_NONE, /* there is no estimate */
	VT_CONFIDENCE_LOW,
	VT_CONFIDENCE_MEDIUM,
	VT_CONFIDENCE_HIGH,
	VT_CONFIDENCE_EXACT, /* counted */
	VT_NCONFIDENCES
};

/* How a frequency was computed. */
enum vt_method {
	VT_METHOD_UNKNOWN,
	VT_METHOD_NAIVE,    /* samples divided by the instruction's minimum time */
	VT_METHOD_PAPER,    /* DCPI 6.1: clusters of ratios, local propagation */
	VT_METHOD_FLOW,	    /* the same, followed by a minimum-cost flow */
	VT_METHOD_BRANCHES, /* from branch stacks */
	VT_METHOD_COUNTED,  /* from executed code */
	VT_METHOD_MODEL,    /* known to a simulator */
	VT_METHOD_FOLLOWED, /* from samples of single instructions: ProfileMe 5.1, 5.2 */
	VT_NMETHODS
};

/* How a path was found: ProfileMe 5.3. */
enum vt_path_method {
	VT_PATH_UNKNOWN,
	VT_PATH_COUNTS,	       /* the most frequent predecessor of each block */
	VT_PATH_HISTORY,       /* the only one that the directions of branches permit */
	VT_PATH_HISTORY_PAIRS, /* and that has the other instruction of a pair */
	VT_PATH_LIKELY,	       /* the likeliest of those that the directions permit */
	VT_PATH_EXACT,	       /* recorded: branch stacks, decoded traces */
	VT_NPATHS
};

/* Causes of lost issue slots: DCPI 6.3, figures 2 and 4.  From SLOTTING on, they are static. */
enum vt_stall_cause {
	VT_STALL_UNEXPLAINED,  /* all causes are ruled out */
	VT_STALL_GAIN,	       /* less time than in the static schedule */
	VT_STALL_ICACHE,       /* instruction cache miss */
	VT_STALL_ITLB,	       /* instruction TLB miss */
	VT_STALL_DCACHE,       /* data cache miss */
	VT_STALL_DTLB,	       /* data TLB miss */
	VT_STALL_WRITE_BUFFER, /* the write or store buffer is full */
	VT_STALL_FORWARD,      /* a load waits for a store that cannot be forwarded to it */
	VT_STALL_MISPREDICT,   /* a branch before was mispredicted */
	VT_STALL_SYNC,	       /* a fence, an atomic or a serialising instruction */
	VT_STALL_MULTIPLIER,   /* the multiplier is busy */
	VT_STALL_DIVIDER,      /* the divider is busy */
	VT_STALL_UNIT,	       /* another functional unit is busy */
	VT_STALL_DEPENDENCY,   /* an operand from an instruction of unpredictable latency */
	VT_STALL_QUEUE,	       /* no room in a queue or among the registers for renaming */
	VT_STALL_OTHER,	       /* system calls, interrupts, … */
	VT_STALL_SLOTTING,     /* it cannot issue together with its neighbours */
	VT_STALL_OPERAND_A,    /* its first, second, further operand is not ready */
	VT_STALL_OPERAND_B,
	VT_STALL_OPERAND_C,
	VT_STALL_UNIT_STATIC, /* a functional unit is busy with an earlier instruction */
	VT_NSTALLS
};

/* Why a cause of a stall is possible or ruled out: the fact that counts most. */
enum vt_stall_why {
	VT_WHY_NONE,	  /* nothing is said of it */
	VT_WHY_ANYWHERE,  /* an address may be anywhere */
	VT_WHY_STEPS,	  /* an address steps on to new lines or pages */
	VT_WHY_DISPLACED, /* others may have displaced the line or page */
	VT_WHY_BOTH_WAYS, /* a branch goes both ways */
	VT_WHY_INDIRECT,  /* an indirect branch goes to several places, or nobody knows where */
	VT_WHY_RETURNS,	  /* a return may come from too deep */
	VT_WHY_STORE,	  /* a store just before may overlap the load */
	VT_WHY_OPERANDS,  /* the time depends on the operands */
	VT_WHY_DRAINS,	  /* it waits for all that is under way */
	VT_WHY_KERNEL,	  /* the kernel ran in between */
	VT_WHY_CALLED,	  /* the code that is called is not known */
	VT_WHY_NOBODY,	  /* all causes are ruled out: the model or the clock may be wrong */
	VT_WHY_ABSENT,	  /* ruled out: no instruction there can do that */
	VT_WHY_SMALL,	  /* ruled out: it can account for next to nothing of the stall */
	VT_WHY_MINOR,	  /* ruled out: it can account for some, and others for all of it */
	VT_WHY_SOURCE,	  /* possible, as often as the data source of samples tells */
	VT_WHY_DENORMAL,  /* numbers may be denormal, with which microcode computes */
	VT_NWHYS
};

/* Whether a cause was ruled out for this reason. */
static inline bool vt_why_acquits(enum vt_stall_why why)
{
	return why >= VT_WHY_ABSENT && why <= VT_WHY_MINOR;
}

/* Flags of a STALL record. */
enum vt_stall_flags {
	VT_STALL_OF_REGION = 1, /* of the region (REGION) that begins at `offset` */
	VT_STALL_OVERLAPS = 2,	/* that overlaps with its neighbours: suspects, and no claims */
	VT_STALL_OF_LOOP = 4,	/* with 1: that region is a loop */
};

/* What a stall is of: an instruction, the code outside of loops that begins with it, or a loop. */
#define VT_STALL_SCOPE (VT_STALL_OF_REGION | VT_STALL_OF_LOOP)

/* Return the name of a value above, as `vtrace dump` prints it, or "?" for an unknown value. */
const char *vt_policy_name(uint64_t policy);
const char *vt_image_type_name(uint64_t type);
const char *vt_thread_op_name(uint64_t op);
const char *vt_block_end_name(uint64_t end);
const char *vt_what_name(uint64_t what);
const char *vt_algo_name(uint64_t algo);
const char *vt_state_reason_name(uint64_t reason);
const char *vt_heap_op_name(uint64_t op);
const char *vt_object_type_name(uint64_t type);
const char *vt_trace_event_name(uint64_t event);
const char *vt_conflict_name(uint64_t conflict);
const char *vt_walk_stop_name(uint64_t stop);
const char *vt_confidence_name(uint64_t confidence);
const char *vt_method_name(uint64_t method);
const char *vt_path_method_name(uint64_t method);
const char *vt_stall_name(uint64_t cause);
const char *vt_why_name(uint64_t why);

/*
 * Bits of fields that have them as linux/perf_event.h: of VT_SAMPLE_HAS, what the sample told
 * (PERF_SAMPLE_*); of VT_SAMPLE_MISC, the mode and PERF_RECORD_MISC_EXACT_IP; of
 * VT_EVENT_BRANCH_TYPE, which branches its stacks have (PERF_SAMPLE_BRANCH_*): any, or those of a
 * call stack.
 */
#define VT_HAS_IP	     (1u << 0)
#define VT_HAS_TID	     (1u << 1)
#define VT_HAS_TIME	     (1u << 2)
#define VT_HAS_ADDR	     (1u << 3)
#define VT_HAS_CPU	     (1u << 7)
#define VT_HAS_PERIOD	     (1u << 8)
#define VT_HAS_DATA_SRC	     (1u << 15)
#define VT_MISC_CPUMODE	     7u
#define VT_MISC_EXACT_IP     (1u << 14)
#define VT_BRANCH_ANY	     (UINT64_C(1) << 3)
#define VT_BRANCH_CALL_STACK (UINT64_C(1) << 11)

#ifdef __cplusplus
}
#endif
#endif
