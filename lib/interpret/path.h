/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_INTERPRET_PATH_H
#define VT_INTERPRET_PATH_H

#include "flow/callstack.h"
#include "interpret/internal.h"
#include "stream/exec.h"

/*
 * The state along a path: the registers of each thread and the memory of each process, for a
 * limited number of threads and processes.  When the limit is reached, the least recently used one
 * is discarded; its state is then unknown.
 *
 * A recording under Valgrind contains the order of all actions of a process's threads.  The threads
 * share the known memory, and a thread keeps its registers.  A processor's trace does not contain
 * this order.  Then memory that can be stored to is unknown when a process has a second thread, and
 * only the registers of the current thread are known.
 */

#define VTI_PATH_THREADS  64
#define VTI_PATH_MEMORIES 4
#define VTI_PATH_MEMORY	  ((size_t)64 << 20) /* maximum bytes of known memory per process */

struct vti_paths;

/* Where a thread's path must continue for its registers to be valid. */
enum vti_goes_on {
	VTI_GOES_NOWHERE, /* its registers are unknown */
	VTI_GOES_ANYWHERE,
	VTI_GOES_TO, /* one of two addresses */
};

struct vti_path_thread {
	int64_t pid;
	int64_t tid;
	uint64_t used; /* last use, by vti_paths.clock; 0: never */
	void *registers;
	enum vti_goes_on goes_on;
	uint64_t to[2];
	bool in_syscall;
	bool in_kernel;
	/* The current block, or the last one, up to instruction `insn_end`. */
	const struct vt_bblock *block;
	uint32_t insn_end;
	struct vt_callstack stack; /* empty if its registers are unknown */
};

struct vti_path_memory {
	struct vti_paths *paths;
	int64_t pid;
	uint64_t used;
	uint64_t space; /* vti_spaces_number() at the last use */
	struct vt_known_memory *known;
};

struct vti_path_process {
	int64_t pid;
	uint64_t first; /* number of the process's instructions so far */
	int64_t tid;	/* the thread that ran last */
	bool begun;
	bool many; /* it has had more than one thread */
};

struct vti_paths {
	struct vt_interpret *in;
	struct vt_interp *machine;  /* from the first run on */
	struct vt_hash processes;   /* struct vti_path_process */
	bool valgrind;		    /* recorded under Valgrind */
	struct vti_path_thread *at; /* the current thread, or NULL */
	struct vti_path_memory *memory;
	struct vti_callers callers;
	uint64_t first_caller; /* recorded return address of the procedure at a run's start, or 0 */
	uint32_t numbered;     /* instructions of the run that the machine has counted */
	bool broken;	       /* the machine has stopped early and counts no more of them */
	uint64_t clock;
	/* The last mapping whose code was checked, and the result. */
	enum vt_withheld withheld;
	uint64_t asked_changes;
	int64_t asked_pid;
	uint64_t asked_start;
	uint64_t asked_size;
	/* The current step, for the recorded values of its slots. */
	const struct vt_step *step;
	uint32_t asked;	 /* the last instruction whose loads were looked up, */
	uint32_t nasked; /* and their number */
	uint8_t **loads; /* by block: the number of loads of each instruction */
	size_t nloads;
	struct vti_path_thread threads[VTI_PATH_THREADS];
	struct vti_path_memory memories[VTI_PATH_MEMORIES];
};

/* Returns a process, which is added if it is new, or NULL when memory runs out. */
struct vti_path_process *vti_path_process(struct vti_paths *p, int64_t pid, struct vt_error *err);

/*
 * Switches the machine to the registers of this thread and the memory of its process; sets p->at
 * and p->memory.  Returns 0 or -VT_E_NOMEM.
 */
int vti_path_switch(struct vti_paths *p, int64_t pid, int64_t tid, struct vt_error *err);

/* Makes the state of the current thread unknown. */
void vti_path_lose(struct vti_paths *p);

/* Make the state of all threads of a process, or of all processes, and their memory unknown. */
void vti_path_lose_process(struct vti_paths *p, int64_t pid);
void vti_path_lose_all(struct vti_paths *p);

/* Makes a process's memory that can be stored to unknown. */
void vti_path_lose_memory(struct vti_paths *p, int64_t pid);

void vti_path_free_state(struct vti_paths *p);

/* Returns callbacks that use the recorded values of p->step's slots: interpret/slots.c. */
struct vt_interp_hooks vti_path_hooks(struct vti_paths *p);
void vti_path_free_slots(struct vti_paths *p);

/*
 * Use the records other than executions: registers, system calls, memory written by the kernel,
 * operands recorded by ptwrite: interpret/facts.c.  Return 0 or -VT_E_NOMEM.
 */
int vti_path_state(struct vti_paths *p, const struct vt_record *rec, struct vt_error *err);
int vti_path_syscall(struct vti_paths *p, const struct vt_record *rec, struct vt_error *err);
int vti_path_written(struct vti_paths *p, const struct vt_record *rec, struct vt_error *err);
void vti_path_value(struct vti_paths *p, const struct vt_record *rec);

#endif
