/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/kinds.h"

static const char *const policies[VT_NPOLICIES] = {
	[VT_POLICY_UNKNOWN] = "unknown", [VT_POLICY_INTERRUPT] = "interrupt",
	[VT_POLICY_PRECISE] = "precise", [VT_POLICY_DISPATCH] = "dispatch",
	[VT_POLICY_MODEL] = "model",	 [VT_POLICY_EXACT] = "exact",
};

static const char *const image_types[VT_NIMAGETYPES] = {
	[VT_IMAGE_FILE] = "file", [VT_IMAGE_KERNEL] = "kernel", [VT_IMAGE_MODULE] = "module",
	[VT_IMAGE_VDSO] = "vdso", [VT_IMAGE_ANON] = "anon",	[VT_IMAGE_BPF] = "bpf",
};

static const char *const thread_ops[VT_NOPS] = {
	[VT_OP_COMM] = "comm",
	[VT_OP_EXEC] = "exec",
	[VT_OP_FORK] = "fork",
	[VT_OP_EXIT] = "exit",
};

static const char *const block_ends[VT_NENDS] = {
	[VT_END_FALL] = "fall",	    [VT_END_BRANCH] = "branch",
	[VT_END_JUMP] = "jump",	    [VT_END_JUMP_INDIRECT] = "jump-indirect",
	[VT_END_CALL] = "call",	    [VT_END_CALL_INDIRECT] = "call-indirect",
	[VT_END_RETURN] = "return", [VT_END_SYSCALL] = "syscall",
	[VT_END_OTHER] = "other",
};

static const char *const whats[VT_NWHATS] = {
	[VT_WHAT_UNKNOWN] = "unknown",
	[VT_WHAT_LOAD] = "load",
	[VT_WHAT_STORE] = "store",
	[VT_WHAT_LOAD_ADDRESS] = "load-address",
	[VT_WHAT_STORE_ADDRESS] = "store-address",
	[VT_WHAT_RESULT] = "result",
	[VT_WHAT_ARG] = "arg",
	[VT_WHAT_STATE] = "state",
	[VT_WHAT_GUARD] = "guard",
	[VT_WHAT_TARGET] = "target",
	[VT_WHAT_RETURN] = "return",
	[VT_WHAT_PTWRITE] = "ptwrite",
	[VT_WHAT_OPERAND] = "operand",
	[VT_WHAT_LATENCY] = "latency",
	[VT_WHAT_MODULE] = "module",
};

static const char *const algos[VT_NALGOS] = {
	[VT_ALGO_EXACT] = "exact",
	[VT_ALGO_GM] = "gm",
	[VT_ALGO_TNV] = "tnv",
	[VT_ALGO_LRU] = "lru",
	[VT_ALGO_CONVERGENT] = "convergent",
	[VT_ALGO_RANDOM] = "random",
	[VT_ALGO_SPACE_SAVING] = "space-saving",
};

static const char *const state_reasons[VT_NSTATES] = {
	[VT_STATE_START] = "start",
	[VT_STATE_WINDOW] = "window",
	[VT_STATE_SIGNAL] = "signal",
	[VT_STATE_SIGRETURN] = "sigreturn",
};

static const char *const heap_ops[VT_NHEAPS] = {
	[VT_HEAP_MALLOC] = "malloc",   [VT_HEAP_CALLOC] = "calloc", [VT_HEAP_REALLOC] = "realloc",
	[VT_HEAP_ALIGNED] = "aligned", [VT_HEAP_FREE] = "free",	    [VT_HEAP_NEW] = "new",
	[VT_HEAP_DELETE] = "delete",   [VT_HEAP_MMAP] = "mmap",	    [VT_HEAP_MUNMAP] = "munmap",
	[VT_HEAP_MREMAP] = "mremap",
};

static const char *const object_types[VT_NOBJECTTYPES] = {
	[VT_OBJECT_GLOBAL] = "global",	 [VT_OBJECT_HEAP] = "heap",	[VT_OBJECT_STACK] = "stack",
	[VT_OBJECT_IMAGE] = "image",	 [VT_OBJECT_MAPPED] = "mapped", [VT_OBJECT_FREE] = "free",
	[VT_OBJECT_UNKNOWN] = "unknown", [VT_OBJECT_OTHER] = "other",
};

static const char *const trace_events[VT_NTRACES] = {
	[VT_TRACE_ENABLED] = "enabled",
	[VT_TRACE_DISABLED] = "disabled",
	[VT_TRACE_ASYNC_DISABLED] = "async-disabled",
	[VT_TRACE_ASYNC_BRANCH] = "async-branch",
	[VT_TRACE_PAGING] = "paging",
	[VT_TRACE_VMCS] = "vmcs",
	[VT_TRACE_EXEC_MODE] = "exec-mode",
	[VT_TRACE_TSX] = "tsx",
	[VT_TRACE_STOP] = "stop",
	[VT_TRACE_EXSTOP] = "exstop",
	[VT_TRACE_MWAIT] = "mwait",
	[VT_TRACE_PWRE] = "pwre",
	[VT_TRACE_PWRX] = "pwrx",
	[VT_TRACE_CBR] = "cbr",
	[VT_TRACE_MNT] = "mnt",
};

static const char *const conflicts[VT_NCONFLICTS] = {
	[VT_CONFLICT_UNKNOWN] = "unknown",   [VT_CONFLICT_FORWARD] = "forward",
	[VT_CONFLICT_ALIAS_4K] = "alias-4k", [VT_CONFLICT_ORDER] = "order",
	[VT_CONFLICT_SIZE] = "size",	     [VT_CONFLICT_SYNONYM] = "synonym",
};

static const char *const walk_stops[VT_NWALKSTOPS] = {
	[VT_WALK_NOT] = "not-walked", [VT_WALK_LENGTH] = "length",   [VT_WALK_BRANCH] = "branch",
	[VT_WALK_TARGET] = "target",  [VT_WALK_SYSCALL] = "syscall", [VT_WALK_INSN] = "insn",
	[VT_WALK_CODE] = "code",      [VT_WALK_TRAP] = "trap",	     [VT_WALK_FULL] = "full",
};

static const char *const confidences[VT_NCONFIDENCES] = {
	[VT_CONFIDENCE_NONE] = "none",	   [VT_CONFIDENCE_LOW] = "low",
	[VT_CONFIDENCE_MEDIUM] = "medium", [VT_CONFIDENCE_HIGH] = "high",
	[VT_CONFIDENCE_EXACT] = "exact",
};

static const char *const methods[VT_NMETHODS] = {
	[VT_METHOD_UNKNOWN] = "unknown",   [VT_METHOD_NAIVE] = "naive",
	[VT_METHOD_PAPER] = "paper",	   [VT_METHOD_FLOW] = "flow",
	[VT_METHOD_BRANCHES] = "branches", [VT_METHOD_COUNTED] = "counted",
	[VT_METHOD_MODEL] = "model",	   [VT_METHOD_FOLLOWED] = "followed",
};

static const char *const paths[VT_NPATHS] = {
	[VT_PATH_UNKNOWN] = "unknown", [VT_PATH_COUNTS] = "counts",
	[VT_PATH_HISTORY] = "history", [VT_PATH_HISTORY_PAIRS] = "history+pairs",
	[VT_PATH_LIKELY] = "likely",   [VT_PATH_EXACT] = "exact",
};

static const char *const stalls[VT_NSTALLS] = {
	[VT_STALL_UNEXPLAINED] = "unexplained",
	[VT_STALL_GAIN] = "gain",
	[VT_STALL_ICACHE] = "icache",
	[VT_STALL_ITLB] = "itlb",
	[VT_STALL_DCACHE] = "dcache",
	[VT_STALL_DTLB] = "dtlb",
	[VT_STALL_WRITE_BUFFER] = "write-buffer",
	[VT_STALL_FORWARD] = "forward",
	[VT_STALL_MISPREDICT] = "mispredict",
	[VT_STALL_SYNC] = "sync",
	[VT_STALL_MULTIPLIER] = "multiplier",
	[VT_STALL_DIVIDER] = "divider",
	[VT_STALL_UNIT] = "unit",
	[VT_STALL_DEPENDENCY] = "dependency",
	[VT_STALL_QUEUE] = "queue",
	[VT_STALL_OTHER] = "other",
	[VT_STALL_SLOTTING] = "slotting",
	[VT_STALL_OPERAND_A] = "operand-a",
	[VT_STALL_OPERAND_B] = "operand-b",
	[VT_STALL_OPERAND_C] = "operand-c",
	[VT_STALL_UNIT_STATIC] = "unit-static",
};

static const char *const whys[VT_NWHYS] = {
	[VT_WHY_NONE] = "none",		  [VT_WHY_ANYWHERE] = "anywhere",
	[VT_WHY_STEPS] = "steps",	  [VT_WHY_DISPLACED] = "displaced",
	[VT_WHY_BOTH_WAYS] = "both-ways", [VT_WHY_INDIRECT] = "indirect",
	[VT_WHY_RETURNS] = "returns",	  [VT_WHY_STORE] = "store",
	[VT_WHY_OPERANDS] = "operands",	  [VT_WHY_DRAINS] = "drains",
	[VT_WHY_KERNEL] = "kernel",	  [VT_WHY_CALLED] = "called-code",
	[VT_WHY_NOBODY] = "nobody",	  [VT_WHY_ABSENT] = "absent",
	[VT_WHY_SMALL] = "small",	  [VT_WHY_MINOR] = "minor",
	[VT_WHY_SOURCE] = "data-source",  [VT_WHY_DENORMAL] = "denormal",
};

const char *vt_policy_name(uint64_t policy)
{
	return policy < VT_NPOLICIES ? policies[policy] : "?";
}

const char *vt_image_type_name(uint64_t type)
{
	return type < VT_NIMAGETYPES ? image_types[type] : "?";
}

const char *vt_thread_op_name(uint64_t op)
{
	return op < VT_NOPS ? thread_ops[op] : "?";
}

const char *vt_block_end_name(uint64_t end)
{
	return end < VT_NENDS ? block_ends[end] : "?";
}

const char *vt_what_name(uint64_t what)
{
	return what < VT_NWHATS ? whats[what] : "?";
}

const char *vt_algo_name(uint64_t algo)
{
	return algo < VT_NALGOS ? algos[algo] : "?";
}

const char *vt_state_reason_name(uint64_t reason)
{
	return reason < VT_NSTATES ? state_reasons[reason] : "?";
}

const char *vt_heap_op_name(uint64_t op)
{
	return op < VT_NHEAPS ? heap_ops[op] : "?";
}

const char *vt_object_type_name(uint64_t type)
{
	return type < VT_NOBJECTTYPES ? object_types[type] : "?";
}

const char *vt_trace_event_name(uint64_t event)
{
	return event < VT_NTRACES ? trace_events[event] : "?";
}

const char *vt_conflict_name(uint64_t conflict)
{
	return conflict < VT_NCONFLICTS ? conflicts[conflict] : "?";
}

const char *vt_walk_stop_name(uint64_t stop)
{
	return stop < VT_NWALKSTOPS ? walk_stops[stop] : "?";
}

const char *vt_confidence_name(uint64_t confidence)
{
	return confidence < VT_NCONFIDENCES ? confidences[confidence] : "?";
}

const char *vt_method_name(uint64_t method)
{
	return method < VT_NMETHODS ? methods[method] : "?";
}

const char *vt_path_method_name(uint64_t method)
{
	return method < VT_NPATHS ? paths[method] : "?";
}

const char *vt_stall_name(uint64_t cause)
{
	return cause < VT_NSTALLS ? stalls[cause] : "?";
}

const char *vt_why_name(uint64_t why)
{
	return why < VT_NWHYS ? whys[why] : "?";
}
