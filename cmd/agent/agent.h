/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_AGENT_AGENT_H
#define CMD_AGENT_AGENT_H

/*
 * The agent of `vtrace record --sample-values`: a library that is loaded before the program's own
 * (LD_PRELOAD).  It opens one perf event, which raises SIGTRAP in the thread that it samples
 * (perf_event_open(2), sigtrap).  The handler walks the next instructions and copies the memory
 * that they read to shared memory.
 *
 * What runs in the handler calls nothing of the C library, uses no thread-local variable (a thread
 * may have been made without it), allocates nothing, and has little stack.
 */

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "cmd/agent/shared.h"

/* The program itself sees no function or variable of the agent, but those that it replaces. */
#define AGENT_EXPORT __attribute__((visibility("default")))

/* ---- start.c: the process ---- */

struct agent {
	struct agent_shared *shared; /* NULL: nothing is sampled */
	struct agent_frames *frames;
	pid_t pid;
	uint32_t program;			  /* struct agent_record's */
	int fd;					  /* of the event; -1 */
	int (*now)(clockid_t, struct timespec *); /* the vDSO's clock_gettime(2), or NULL */
	bool fsgsbase;				  /* user code may read these registers */
	bool left_alone;			  /* nothing is sampled any more */
};

extern struct agent agent;

/* Opens the process's event and starts it.  0 or an errno. */
int agent_arm(void);

/* ---- handler.c: a sample ---- */

#define AGENT_COOKIE 0x76747263 /* siginfo's si_perf_data of our event */

bool agent_is_sample(const siginfo_t *info);
void agent_take_sample(const siginfo_t *info, void *context);

/* Tells the recorder that this process will be sampled. */
void agent_tell_attached(void);

/* Adds to a count in the shared memory. */
void agent_count_loss(enum agent_loss why);

struct agent_place;

/* Sets all of *r but its size. */
void agent_fill_head(struct agent_record *r, enum agent_type type, uint64_t ip,
		     const struct agent_place *place);

/* A child of fork() has none of its parent's threads, nor their steps. */
void agent_forget_steps(void);

/* True if the signal was a single step that the handler had asked for; then it is done. */
bool agent_take_step(const siginfo_t *info, void *context);

/* ---- latency.c: how long loads take ---- */

/*
 * Goes on with the place's walk for `distance` instructions, and writes a record of each load in
 * the next `insns`.  `by_call` as agent_time_load() has it; with `in_place`, on the place's stack.
 */
void agent_time_loads(struct agent_place *place, uint32_t distance, uint32_t insns, bool by_call,
		      bool in_place);

/* ---- frames.c: calling context ---- */

struct walk;
struct walk_start;

/*
 * Adds the lines with the return addresses of where a walk began, and of where it has returned to.
 * Returns the last of these addresses: the frame there is what the recorder is to look for next.
 */
uint64_t agent_add_callers(struct walk *w, const struct walk_start *start);

/* ---- guard.c: reading memory that may not be there ---- */

/*
 * A walk_read_fn: copies a line of 64 bytes; false: a fault.  `arg` is a bool: true if the thread
 * blocks the signals of faults, so that one would end the process.
 */
bool agent_read_line(void *arg, uint64_t addr, uint8_t *bytes);

/* Ticks that a load of a byte takes, see agent_time_byte(); 0: it cannot be read.  The same `arg`.
 */
uint32_t agent_time_load(void *arg, uint64_t addr);

/* If a fault was in one of these, lets it return false or 0, and returns true. */
bool agent_recover_fault(void *context);

/* Without handlers of faults, lines are read by a system call. */
void agent_distrust_faults(void);

/* ---- signals.c: the handlers of the program, behind ours ---- */

/* Installs the handlers of SIGTRAP, SIGSEGV and SIGBUS.  False: the kernel refuses. */
bool agent_install_handlers(void);

/* Whether the kernel still has ours: a program may have called rt_sigaction(2) itself. */
bool agent_has_handlers(void);

/* ---- sandbox.c: programs that are left alone ---- */

/* True, and counted, if the process has been forbidden calls that the first program had not. */
bool agent_finds_sandbox(void);

/* True, and counted, if it has a debugger that the first program has not. */
bool agent_is_traced(void);

/* ---- xstate.c: the vector registers of a signal frame ---- */

/* Finds where the processor saves them. */
void agent_find_xstate(void);

/* Sets the vector registers of `start` from a signal frame. */
void agent_get_vectors(struct walk_start *start, const void *fpregs);

/*
 * Writes the state of a sample to `to`, 16 bytes each, as it was at the start of the walk; returns
 * how many entries.  The other tells how many there are at most.
 */
unsigned agent_put_state(uint8_t *to, const struct walk *w, const struct walk_start *start);
unsigned agent_most_state(const struct walk *w);

#endif
