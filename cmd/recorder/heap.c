/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/recorder/instrument.h"

#include <stddef.h>

#include <pub_tool_aspacemgr.h>
#include <pub_tool_debuginfo.h>
#include <pub_tool_machine.h>
#include <pub_tool_threadstate.h>
#include <pub_tool_vki.h>

#include <libvex_guest_amd64.h>

/*
 * --heap: records calls of functions that allocate and free memory.  A function is known by its
 * symbol.  It has returned when its thread runs at the return address with the stack pointer just
 * above that; only blocks after a call instruction check.
 *
 * Allocators call each other: operator new calls malloc, and malloc may call mmap.  Only the
 * outermost call counts, since what it returns is what the program has.
 */
#define OUTSIDE ~0ul

/* A stack pointer that is further away belongs to another stack: of a signal or a coroutine. */
#define FRAMES (64ul << 20)

/* The first arguments are kept; NONE is the number of one that a function does not have. */
#define NARGS 3
#define NONE  NARGS

#define MAX_ALLOCATORS 64

struct allocator {
	const HChar *name; /* of a C++ function, what is before its parameters */
	UChar op;	   /* enum vt_heap_op */
	UChar size;	   /* the argument that is the size; with `count`, their product is */
	UChar count;
	UChar old; /* the address that is freed */
	UChar to;  /* where the address is stored; NONE: the function returns it */
	Bool called;
};

static const struct allocator known[] = {
	{"malloc", VT_HEAP_MALLOC, 0, NONE, NONE, NONE, False},
	{"calloc", VT_HEAP_CALLOC, 1, 0, NONE, NONE, False},
	{"realloc", VT_HEAP_REALLOC, 1, NONE, 0, NONE, False},
	{"reallocarray", VT_HEAP_REALLOC, 2, 1, 0, NONE, False},
	{"memalign", VT_HEAP_ALIGNED, 1, NONE, NONE, NONE, False},
	{"aligned_alloc", VT_HEAP_ALIGNED, 1, NONE, NONE, NONE, False},
	{"posix_memalign", VT_HEAP_ALIGNED, 2, NONE, NONE, 0, False},
	{"valloc", VT_HEAP_ALIGNED, 0, NONE, NONE, NONE, False},
	{"pvalloc", VT_HEAP_ALIGNED, 0, NONE, NONE, NONE, False},
	{"free", VT_HEAP_FREE, NONE, NONE, 0, NONE, False},
	{"operator new", VT_HEAP_NEW, 0, NONE, NONE, NONE, False},
	{"operator new[]", VT_HEAP_NEW, 0, NONE, NONE, NONE, False},
	{"operator delete", VT_HEAP_DELETE, NONE, NONE, 0, NONE, False},
	{"operator delete[]", VT_HEAP_DELETE, NONE, NONE, 0, NONE, False},
	{"mmap", VT_HEAP_MMAP, 1, NONE, NONE, NONE, False},
	{"mmap64", VT_HEAP_MMAP, 1, NONE, NONE, NONE, False},
	{"munmap", VT_HEAP_MUNMAP, 1, NONE, 0, NONE, False},
	{"mremap", VT_HEAP_MREMAP, 2, NONE, 0, NONE, False},
};
#define NKNOWN (sizeof(known) / sizeof(known[0]))

/* Those, then those of --alloc. */
static struct allocator allocators[MAX_ALLOCATORS];
static UInt nallocators;

/* The outermost call of a thread. */
struct call {
	const struct allocator *of;
	Addr sp; /* where the return address is; OUTSIDE: there is no call */
	Addr caller;
	UWord args[NARGS];
};

static struct call *calls; /* by thread */
static Addr limit;	   /* `sp` of the running thread's */
static ThreadId running;
static ULong unreturned; /* allocations that longjmp, an exception or exit left */

/* ---- events ---- */

/* True if a function only frees: it is recorded when called, as the memory may soon be reused. */
static Bool is_only_freeing(const struct allocator *f)
{
	return f->op == VT_HEAP_FREE || f->op == VT_HEAP_DELETE || f->op == VT_HEAP_MUNMAP;
}

static void put_heap_event(const struct call *c, Addr addr)
{
	const struct allocator *f = c->of;
	struct vt_ring_heap *h = ring_event(VT_RING_HEAP, threads_current(), sizeof(*h));

	if (!h)
		return;
	h->op = f->op;
	h->addr = addr;
	h->caller = c->caller;
	h->old = f->old == NONE ? 0 : c->args[f->old];
	h->size = f->size == NONE ? 0 : c->args[f->size];
	if (f->count != NONE)
		h->size *= c->args[f->count];
	ring_done();
}

/* ---- called by instrumented code ---- */

/* A word of the program's memory; 0 if it cannot be read. */
static UWord read_word(Addr a)
{
	return VG_(am_is_valid_for_client)(a, sizeof(UWord), VKI_PROT_READ) ? *(const UWord *)a : 0;
}

/* The address of what a function has allocated; 0 if it failed. */
static Addr get_result(const struct call *c, UWord rax)
{
	if (c->of->to != NONE)
		return rax == 0 ? read_word(c->args[c->of->to]) : 0;
	if (c->of->op == VT_HEAP_MMAP || c->of->op == VT_HEAP_MREMAP)
		return rax == ~0ul ? 0 : rax;
	return rax;
}

/*
 * True if a function that is called now, whose return address is at `sp`, is called by the thread's
 * outermost call.  That call may have been left by an exception or longjmp; then calls after it
 * have overwritten its return address.
 */
static Bool is_nested(const struct call *c, Addr sp)
{
	if (limit - sp > FRAMES)
		return False;
	/* A page that has just been written to can be read; the check takes longer. */
	if (limit / VKI_PAGE_SIZE == sp / VKI_PAGE_SIZE)
		return *(const Addr *)limit == c->caller;
	return read_word(limit) == c->caller;
}

/* Ends a call that does not return. */
static void abandon_call(struct call *c)
{
	if (c->sp != OUTSIDE && !is_only_freeing(c->of))
		unreturned++;
	c->sp = OUTSIDE;
}

static void enter_allocator(UWord which, Addr sp, Addr caller, UWord rdi, UWord rsi, UWord rdx)
{
	struct call *c = &calls[running];

	allocators[which].called = True;
	if (is_nested(c, sp))
		return;
	abandon_call(c);
	*c = (struct call){&allocators[which], sp, caller, {rdi, rsi, rdx}};
	limit = sp;
	if (is_only_freeing(c->of))
		put_heap_event(c, 0);
}

static VG_REGPARM(3) void leave_allocator(Addr sp, UWord rax, Addr ip)
{
	struct call *c = &calls[running];

	if (sp - limit > FRAMES)
		return;
	if (sp != limit + sizeof(Addr) || ip != c->caller)
		abandon_call(c);
	else if (!is_only_freeing(c->of))
		put_heap_event(c, get_result(c, rax));
	c->sp = limit = OUTSIDE;
}

/* ---- instrumentation ---- */

/* True if what is before an address looks like a call. */
static Bool follows_call(Addr a)
{
	const UChar *p = (const UChar *)a;
	Int n;

	if (!VG_(am_is_valid_for_client)(a - 7, 7, VKI_PROT_READ))
		return False;
	if (p[-5] == 0xe8)
		return True;
	for (n = 2; n <= 7; n++) {
		if (p[-n] == 0xff && (p[1 - n] >> 3 & 7) == 2)
			return True;
	}
	return False;
}

/*
 * True if it is the symbol of an allocator.  C++ functions have their parameters behind the name.
 * Clones that compilers make may have other ones than the function.
 */
static Bool is_symbol_of(const HChar *symbol, UInt which)
{
	const HChar *name = allocators[which].name;
	SizeT n = VG_(strlen)(name);

	if (VG_(strncmp)(symbol, name, n) != 0 || VG_(strstr)(symbol, "[clone "))
		return False;
	if (symbol[n] != '(' || which >= NKNOWN)
		return symbol[n] == '\0' || symbol[n] == '(';
	/* Placement new allocates nothing. */
	return VG_(strncmp)(name, "operator", 8) == 0 && !VG_(strstr)(symbol, ", void*");
}

/* The number of the allocator that begins at an address; `nallocators`: none does. */
static UInt find_allocator(Addr a)
{
	const HChar *symbol;
	UInt i;

	if (!VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), a, &symbol))
		return nallocators;
	for (i = 0; i < nallocators && !is_symbol_of(symbol, i); i++)
		;
	return i;
}

static IRExpr *get_register(struct pass *p, SizeT offset)
{
	return pass_assign(p, Ity_I64, IRExpr_Get((Int)offset, Ity_I64));
}

#define REGISTER(p, name) get_register(p, offsetof(VexGuestAMD64State, guest_##name))

static void add_leave_check(struct pass *p, Addr start)
{
	IRExpr *sp = REGISTER(p, RSP), *rax = REGISTER(p, RAX), *above;
	IRDirty *call;

	above = pass_assign(p, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, pass_u64((Addr)&limit)));
	above = pass_assign(p, Ity_I1, IRExpr_Binop(Iop_CmpLT64U, above, sp));
	call = unsafeIRDirty_0_N(3, "leave_allocator", (void *)leave_allocator,
				 mkIRExprVec_3(sp, rax, pass_u64(start)));
	call->guard = above;
	pass_add(p, IRStmt_Dirty(call));
}

static void add_entry(struct pass *p, UInt which)
{
	IRExpr *sp = REGISTER(p, RSP), *caller;

	caller = pass_assign(p, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, sp));
	pass_add(p, IRStmt_Dirty(unsafeIRDirty_0_N(0, "enter_allocator", (void *)enter_allocator,
						   mkIRExprVec_6(pass_u64(which), sp, caller,
								 REGISTER(p, RDI), REGISTER(p, RSI),
								 REGISTER(p, RDX)))));
}

void heap_instrument(struct pass *p, Addr start)
{
	UInt which;

	if (!recorder_options.heap)
		return;
	if (follows_call(start))
		add_leave_check(p, start);
	which = find_allocator(start);
	if (which < nallocators)
		add_entry(p, which);
}

/* ---- threads and processes ---- */

void heap_thread(ThreadId tid)
{
	if (!calls)
		return;
	running = tid;
	limit = calls[tid].sp;
}

void heap_thread_new(ThreadId tid)
{
	if (calls)
		abandon_call(&calls[tid]);
}

void heap_forked(ThreadId tid)
{
	ThreadId i;

	unreturned = 0;
	for (i = 0; calls && i <= VG_N_THREADS; i++) {
		if (i != tid)
			calls[i].sp = OUTSIDE;
	}
}

void heap_put_unreturned(void)
{
	if (unreturned)
		ring_lost(threads_current(), unreturned, "allocations that did not return");
	unreturned = 0;
}

/* ---- options ---- */

/*
 * Adds a function of --alloc: NAME, whose first argument is the size; NAME/N, whose Nth is; or
 * NAME/-N, which frees the address in its Nth.
 */
static Bool add_allocator(HChar *text)
{
	HChar *slash = VG_(strchr)(text, '/'), *end;
	struct allocator *f = &allocators[nallocators];
	Long n = 1;

	if (slash) {
		*slash = '\0';
		n = VG_(strtoll10)(slash + 1, &end);
		if (end == slash + 1 || *end)
			return False;
	}
	if (!*text || nallocators == MAX_ALLOCATORS || n == 0 || n > NARGS || n < -NARGS)
		return False;
	*f = (struct allocator){text, VT_HEAP_MALLOC, NONE, NONE, NONE, NONE, False};
	if (n > 0) {
		f->size = (UChar)(n - 1);
	} else {
		f->op = VT_HEAP_FREE;
		f->old = (UChar)(-n - 1);
	}
	nallocators++;
	return True;
}

static void add_named_allocators(const HChar *names)
{
	HChar *list = VG_(strdup)("vtrace.heap", names), *name, *state;

	for (name = VG_(strtok_r)(list, ",", &state); name;
	     name = VG_(strtok_r)(NULL, ",", &state)) {
		if (!add_allocator(name))
			VG_(fmsg_bad_option)("--alloc", "%s\n", name);
	}
}

void heap_init(void)
{
	UInt i;

	if (!recorder_options.heap)
		return;
	VG_(memcpy)(allocators, known, sizeof(known));
	nallocators = NKNOWN;
	if (recorder_options.alloc)
		add_named_allocators(recorder_options.alloc);
	calls = VG_(malloc)("vtrace.heap", (VG_N_THREADS + 1) * sizeof(*calls));
	for (i = 0; i <= VG_N_THREADS; i++)
		calls[i].sp = OUTSIDE;
	limit = OUTSIDE;
}

/* ---- the end ---- */

/* Says which functions had no calls: names may be misspelt, and programs stripped of symbols. */
static void report_uncalled(void)
{
	HChar text[200];
	Bool called = False;
	UInt i;

	for (i = 0; i < nallocators; i++)
		called |= allocators[i].called;
	if (!called)
		ring_lost(threads_current(), 0,
			  "allocations: no function of that kind was found by its symbol");
	for (i = NKNOWN; i < nallocators; i++) {
		if (allocators[i].called)
			continue;
		VG_(snprintf)
		(text, sizeof(text), "%.100s of --alloc was not called", allocators[i].name);
		ring_lost(threads_current(), 0, text);
	}
}

void heap_fini(void)
{
	ThreadId i;

	if (!calls)
		return;
	for (i = 0; i <= VG_N_THREADS; i++)
		abandon_call(&calls[i]);
	heap_put_unreturned();
	report_uncalled();
}
