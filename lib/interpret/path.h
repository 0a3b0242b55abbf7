/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_INTERPRET_PATH_H
#define VT_INTERPRET_PATH_H

#include "flow/callstack.h"
#include "interpret/internal.h"
#include "stream/exec.h"

/*
 * What is known along a path: the registers of each thread and the memory of each process, within
 * bounds.  Who falls out of them begins with nothing again.
 *
 * A recording under Valgrind has one order of all that the threads of a process do, so that they
 * share what is known of memory, and a thread goes on with the registers that it had.  A
 * processor's trace has none: there, memory that can be stored to is unknown as soon as a process
 * has a second thread, and registers are those of the thread that the stream is about.
 */

#define VTI_PATH_THREADS  64
#define VTI_PATH_MEMORIES 4
#define VTI_PATH_MEMORY	  ((size_t)64 << 20) /* bytes of what is known, of each process */

struct vti_paths;

/* Where a thread's path must go on for its registers to hold. */
enum vti_goes_on {
	VTI_GOES_NOWHERE, /* they are lost */
	VTI_GOES_ANYWHERE,
	VTI_GOES_TO, /* one of two addresses */
};

struct vti_path_thread {
	int64_t pid;
	int64_t tid;
	uint64_t used; /* when, by the clock of turns; 0: never */
	void *registers;
	enum vti_goes_on goes_on;
	uint64_t to[2];
	bool in_syscall;
	bool in_kernel;
	/* The block at hand, or that was run last, up to instruction `insn_end`. */
	const struct vt_bblock *block;
	uint32_t insn_end;
	struct vt_callstack stack; /* empty where its registers are lost */
};

struct vti_path_memory {
	struct vti_paths *paths;
	int64_t pid;
	uint64_t used;
	uint64_t space; /* number of the process's mappings when it was last looked at */
	struct vt_known_memory *known;
};

struct vti_path_process {
	int64_t pid;
	uint64_t first; /* instructions before what is to come */
	int64_t tid;	/* the thread that ran last */
	bool begun;
	bool many; /* it has had more threads than one */
};

struct vti_paths {
	struct vt_interpret *in;
	struct vt_interp *machine;  /* from the first run on */
	struct vt_hash processes;   /* struct vti_path_process */
	bool valgrind;		    /* that made the recording */
	struct vti_path_thread *at; /* whose registers the machine has, or NULL */
	struct vti_path_memory *memory;
	struct vti_callers callers;
	uint64_t first_caller; /* recorded return address of the procedure at a run's start, or 0 */
	uint32_t numbered;     /* instructions of the run that the machine has counted */
	bool broken;	       /* it does not count those any more */
	uint64_t clock;
	/* Whether code of a mapping is withheld: of the one that was asked for last. */
	enum vt_withheld withheld;
	uint64_t asked_changes;
	int64_t asked_pid;
	uint64_t asked_start;
	uint64_t asked_size;
	/* What the recording has of the step at hand. */
	const struct vt_step *step;
	uint32_t asked;	 /* the instruction of which loads were asked for, */
	uint32_t nasked; /* and how many */
	uint8_t **loads; /* by block: of each instruction */
	size_t nloads;
	struct vti_path_thread threads[VTI_PATH_THREADS];
	struct vti_path_memory memories[VTI_PATH_MEMORIES];
};

/* NULL when memory runs out. */
struct vti_path_process *vti_path_process(struct vti_paths *p, int64_t pid, struct vt_error *err);

/*
 * From now on the machine has the registers of this thread and the memory of its process: p->at and
 * p->memory.  0 or -VT_E_NOMEM.
 */
int vti_path_turn(struct vti_paths *p, int64_t pid, int64_t tid, struct vt_error *err);

/* The thread at hand goes on in an unknown state. */
void vti_path_lose(struct vti_paths *p);

/* So do all threads of a process, or of all processes; their memory is unknown, too. */
void vti_path_lose_process(struct vti_paths *p, int64_t pid);
void vti_path_lose_all(struct vti_paths *p);

/* Nothing that can be stored to is known any more of a process's memory. */
void vti_path_lose_memory(struct vti_paths *p, int64_t pid);

void vti_path_free_state(struct vti_paths *p);

/* Answers from the slots of p->step: interpret/slots.c. */
struct vt_interp_hooks vti_path_hooks(struct vti_paths *p);
void vti_path_free_slots(struct vti_paths *p);

/*
 * Records beside those of what was executed: registers, memory, system calls, what a program wrote
 * with ptwrite: interpret/facts.c.
 */
int vti_path_state(struct vti_paths *p, const struct vt_record *rec, struct vt_error *err);
int vti_path_syscall(struct vti_paths *p, const struct vt_record *rec, struct vt_error *err);
int vti_path_written(struct vti_paths *p, const struct vt_record *rec, struct vt_error *err);
void vti_path_value(struct vti_paths *p, const struct vt_record *rec);

#endif
