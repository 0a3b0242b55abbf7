/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>

#include "cmd/agent/agent.h"
#include "cmd/agent/place.h"
#include "cmd/agent/syscall.h"
#include "cmd/walker/walk.h"

/* Of a siginfo of an event: asm-generic/siginfo.h, which older C libraries do not have. */
#define TRAP_PERF_CODE	6
#define TRAP_STEP_CODE	TRAP_TRACE
#define PERF_DATA_AT	24 /* bytes: si_perf_data u64, si_perf_type u32, si_perf_flags u32 */
#define PERF_FLAGS_AT	36
#define PERF_FLAG_ASYNC 1

#define FLAG_TRAP ((greg_t)1 << 8) /* TF of the flags register */

/* How many samples have one period, and after how many the handlers are looked at again. */
#define PERIOD_SAMPLES 4
#define LOOK_SAMPLES   64

static uint32_t samples; /* of the process */

void agent_count_loss(enum agent_loss why)
{
	__atomic_fetch_add(&agent.shared->losses[why], 1, __ATOMIC_RELAXED);
}

bool agent_is_sample(const siginfo_t *info)
{
	uint64_t data;

	memcpy(&data, (const char *)info + PERF_DATA_AT, sizeof(data));
	return info->si_code == TRAP_PERF_CODE && data == AGENT_COOKIE;
}

/* ---- registers ---- */

/* The order of the encoding, and that of asm/perf_regs.h, in names of ucontext. */
static const uint8_t encoded[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
				    REG_RSI, REG_RDI, REG_R8,  REG_R9,	REG_R10, REG_R11,
				    REG_R12, REG_R13, REG_R14, REG_R15};
static const uint8_t listed[AGENT_REGS] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI,
					   REG_RBP, REG_RSP, REG_RIP, REG_EFL, REG_R8,	REG_R9,
					   REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

/* Without FSGSBASE the base of fs is what the C library keeps at its start, that of gs unused. */
static void get_bases(struct walk_start *start)
{
	if (agent.fsgsbase) {
		__asm__("rdfsbase %0" : "=r"(start->fs_base));
		__asm__("rdgsbase %0" : "=r"(start->gs_base));
	} else {
		__asm__("mov %%fs:0, %0" : "=r"(start->fs_base));
		start->gs_base = 0;
	}
}

static void get_start(struct walk_start *start, const ucontext_t *u)
{
	unsigned i;

	for (i = 0; i < 16; i++)
		start->gpr[i] = (uint64_t)u->uc_mcontext.gregs[encoded[i]];
	start->ip = (uint64_t)u->uc_mcontext.gregs[REG_RIP];
	start->flags = (uint64_t)u->uc_mcontext.gregs[REG_EFL];
	get_bases(start);
	agent_get_vectors(start, u->uc_mcontext.fpregs);
}

/* ---- chance ---- */

/* xorshift, of the time-stamp counter: no state that threads would share. */
static uint64_t draw_bits(void)
{
	uint64_t x = __builtin_ia32_rdtsc();

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	return x * UINT64_C(0x2545f4914f6cdd1d);
}

static uint64_t draw_below(uint64_t n)
{
	return (uint64_t)((unsigned __int128)n * draw_bits() >> 64);
}

/* ---- a record ---- */

static uint64_t read_clock(void)
{
	struct timespec t = {0};

	if (agent.now)
		agent.now(CLOCK_MONOTONIC, &t);
	else
		agent_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&t, 0, 0, 0, 0);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void agent_fill_head(struct agent_record *r, enum agent_type type, uint64_t ip,
		     const struct agent_place *place)
{
	r->type = type;
	r->time = read_clock();
	r->pid = (uint32_t)agent.pid;
	r->tid = (uint32_t)agent_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
	r->cpu = place->cpu;
	r->program = agent.program;
	r->ip = ip;
	r->step = 0;
}

/* Writes a record that is nothing but a head. */
static void write_head(enum agent_type type, uint64_t ip)
{
	struct agent_place place;
	struct agent_record *r;

	if (!agent_take_place(&place)) {
		agent_count_loss(AGENT_NO_RING);
		return;
	}
	r = agent_reserve(&place, sizeof(*r));
	if (r) {
		agent_fill_head(r, type, ip, &place);
		r->size = sizeof(*r);
		agent_commit(&place, r->size);
	} else {
		agent_count_loss(AGENT_RING_FULL);
	}
	agent_leave_place(&place);
}

void agent_tell_attached(void)
{
	write_head(AGENT_ATTACH, 0);
}

static void fill_sample(struct agent_sample *r, const struct walk *w,
			const struct walk_start *start, uint64_t caller, const ucontext_t *u)
{
	uint8_t *to = (uint8_t *)(r + 1);
	unsigned i;

	for (i = 0; i < AGENT_REGS; i++)
		r->regs[i] = (uint64_t)u->uc_mcontext.gregs[listed[i]];
	r->next[0] = w->ip;
	r->next[1] = caller;
	r->values = (struct vt_value_sample){
		.magic = VT_VALUE_SAMPLE_MAGIC,
		.walked = (uint16_t)w->walked,
		.stop = (uint16_t)w->stop,
		.nlines = w->nlines,
		.mxcsr = start->mxcsr,
		.fs_base = start->fs_base,
		.gs_base = start->gs_base,
	};
	if (start->xmm)
		memcpy(r->xmm, start->xmm, sizeof(r->xmm));
	to += 16 * agent_put_state(to, w, start);
	r->values.nstate = (uint64_t)(to - (uint8_t *)(r + 1)) / 16;
	memcpy(to, w->line_addr, 8 * (size_t)w->nlines);
	to += 8 * (size_t)w->nlines;
	memcpy(to, w->line_read, 8 * (size_t)w->nlines);
	to += 8 * (size_t)w->nlines;
	for (i = 0; i < w->nlines; i++)
		to = vt_value_sample_pack(to, w->line[i], w->line_read[i]);
	memset(to, 0, 8);
	r->head.size = (uint32_t)((to - (uint8_t *)r + 7) & ~7);
}

static bool write_sample(struct agent_place *place, enum agent_type type, uint64_t step,
			 const struct walk *w, const struct walk_start *start, uint64_t caller,
			 const ucontext_t *u)
{
	size_t most = sizeof(struct agent_sample) + 16 * (size_t)agent_most_state(w) +
		      (16 + WALK_LINE) * (size_t)w->nlines + 8;
	struct agent_sample *r = (struct agent_sample *)agent_reserve(place, (uint32_t)most);

	if (!r) {
		agent_count_loss(AGENT_RING_FULL);
		return false;
	}
	agent_fill_head(&r->head, type, start->ip, place);
	r->head.step = step;
	fill_sample(r, w, start, caller, u);
	agent_commit(place, r->head.size);
	return true;
}

/* A program, or its handler that was interrupted, may block what the guard needs. */
static bool blocks_faults(const ucontext_t *u)
{
	uint64_t blocked;

	memcpy(&blocked, &u->uc_sigmask, sizeof(blocked));
	return blocked & (UINT64_C(1) << (SIGSEGV - 1) | UINT64_C(1) << (SIGBUS - 1));
}

struct walk_call {
	struct walk *walk;
	const struct walk_start *start;
	uint32_t insns;
	bool by_call;	 /* how memory is read */
	uint64_t caller; /* as agent_add_callers() returns it */
};

static void run_walk(void *arg)
{
	struct walk_call *c = arg;

	walk_run(c->walk, c->start, c->insns, agent_read_line, &c->by_call);
	c->caller = agent_add_callers(c->walk, c->start);
}

/*
 * On another stack, unless the program has one for signals: the kernel would believe it free, and
 * put the frame of a fault over the sample's.
 */
static uint64_t walk_in_place(const struct agent_place *place, const struct walk_start *start,
			      uint32_t insns, const ucontext_t *u)
{
	struct walk_call call = {place->walk, start, insns, blocks_faults(u), 0};

	if (!u->uc_stack.ss_size)
		agent_call_in_place(place, run_walk, &call);
	else
		run_walk(&call);
	return call.caller;
}

/* Loads in the next instructions may have been executed when the interrupt came. */
static void time_further_loads(struct agent_place *place, uint32_t insns, const ucontext_t *u)
{
	uint32_t distance = agent.shared->distance;

	agent_time_loads(place, distance + (uint32_t)draw_below(distance / 4 + 1), insns,
			 blocks_faults(u), !u->uc_stack.ss_size);
}

/* Walks from where the signal came and writes a record.  0: none; else the instructions walked. */
static uint32_t sample(enum agent_type type, uint64_t step, uint32_t insns, const ucontext_t *u,
		       uint64_t began)
{
	struct walk_start start;
	struct agent_place place;
	uint32_t walked = 0;
	uint64_t caller;

	if (!agent_take_place(&place)) {
		agent_count_loss(AGENT_NO_RING);
		return 0;
	}
	get_start(&start, u);
	caller = walk_in_place(&place, &start, insns, u);
	if (write_sample(&place, type, step, place.walk, &start, caller, u)) {
		walked = place.walk->walked;
		place.ring->insns += walked;
		if (type == AGENT_SAMPLE && agent.shared->latency)
			time_further_loads(&place, insns, u);
		place.ring->ticks += __builtin_ia32_rdtsc() - began;
	}
	agent_leave_place(&place);
	return walked;
}

/* ---- the period ---- */

/*
 * The period is uniform in half to one and a half times the mean, so that samples are not in step
 * with a loop of the program.  Threads made later inherit the period of that moment.
 */
static void change_period(void)
{
	uint64_t mean = agent.shared->period;
	uint64_t period = mean / 2 + draw_below(mean);

	if (agent_syscall(SYS_ioctl, agent.fd, PERF_EVENT_IOC_PERIOD, (long)&period, 0, 0, 0) ==
	    -EBADF)
		agent_count_loss(AGENT_CLOSED);
}

static void look_after(uint32_t n)
{
	if (n % PERIOD_SAMPLES == 0)
		change_period();
	if (n % LOOK_SAMPLES == 0 && !agent_has_handlers()) {
		agent_count_loss(AGENT_FOREIGN);
		agent_distrust_faults();
	}
}

/* ---- single steps: the truth that tests compare with ---- */

#define STEPPERS 64

static struct stepper {
	uint32_t tid; /* 0: free */
	uint32_t left;
	uint64_t step; /* the last */
} steppers[STEPPERS];

void agent_forget_steps(void)
{
	memset(steppers, 0, sizeof(steppers));
}

static struct stepper *find_stepper(uint32_t tid)
{
	unsigned i;

	for (i = 0; i < STEPPERS; i++)
		if (__atomic_load_n(&steppers[i].tid, __ATOMIC_ACQUIRE) == tid)
			return &steppers[i];
	return NULL;
}

static void begin_steps(uint32_t insns, ucontext_t *u)
{
	uint32_t tid = (uint32_t)agent_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0), free = 0;
	unsigned i;

	for (i = 0; i < STEPPERS; i++, free = 0) {
		if (!__atomic_compare_exchange_n(&steppers[i].tid, &free, tid, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		steppers[i].left = insns;
		steppers[i].step = 0;
		u->uc_mcontext.gregs[REG_EFL] |= FLAG_TRAP;
		return;
	}
}

/* A repeated string instruction traps after each repetition, as vinterp counts it. */
bool agent_take_step(const siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	struct stepper *s;

	if (info->si_code != TRAP_STEP_CODE || !agent.shared || !agent.shared->steps)
		return false;
	s = find_stepper((uint32_t)agent_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0));
	u->uc_mcontext.gregs[REG_EFL] &= ~FLAG_TRAP;
	if (!s) /* a child of fork(), which its parent stepped through */
		return true;
	sample(AGENT_STEP, ++s->step, 1, u, __builtin_ia32_rdtsc());
	if (--s->left)
		u->uc_mcontext.gregs[REG_EFL] |= FLAG_TRAP;
	else
		__atomic_store_n(&s->tid, 0, __ATOMIC_RELEASE);
	return true;
}

/* ---- the signal ---- */

void agent_take_sample(const siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	uint64_t began = __builtin_ia32_rdtsc();
	uint32_t flags, walked;

	memcpy(&flags, (const char *)info + PERF_FLAGS_AT, sizeof(flags));
	if (!agent.shared || agent.left_alone ||
	    __atomic_load_n(&agent.shared->stop, __ATOMIC_RELAXED))
		return;
	if (flags & PERF_FLAG_ASYNC) {
		agent_count_loss(AGENT_LATE);
		return;
	}
	if (agent.shared->steps && u->uc_mcontext.gregs[REG_EFL] & FLAG_TRAP)
		return;
	if (draw_below(agent.shared->one_in) != 0) {
		write_head(AGENT_TIME, (uint64_t)u->uc_mcontext.gregs[REG_RIP]);
		look_after(__atomic_add_fetch(&samples, 1, __ATOMIC_RELAXED));
		return;
	}
	walked = sample(AGENT_SAMPLE, 0, agent.shared->insns, u, began);
	if (walked && agent.shared->steps)
		begin_steps(agent.shared->insns, u);
	look_after(__atomic_add_fetch(&samples, 1, __ATOMIC_RELAXED));
}
