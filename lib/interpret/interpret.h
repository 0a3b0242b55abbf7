/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_INTERPRET_INTERPRET_H
#define VT_INTERPRET_INTERPRET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "machine/interp/interp.h"
#include "profile/context.h"
#include "stream/reader.h"

/*
 * Interprets the instructions of a stream.  A run begins with the registers and stack of a sample
 * (value sampling 2.1), or follows the path of execution that EXEC records contain.
 */
struct vt_interpret;

/* Why the content of a file is not used as the content of a process's memory. */
enum vt_withheld {
	VT_WITHHELD_NOT,
	VT_WITHHELD_MISSING,	/* the image's file is missing, or is another version */
	VT_WITHHELD_UNVERIFIED, /* there is no evidence that the file is the recorded one */
	VT_WITHHELD_PATCHED,	/* the program could write there */
	VT_WITHHELD_UNSEEN,	/* constants: the recording would not show whether it could */
	VT_NWITHHELD
};

/* Assumptions of the user that the recording does not prove; bits of vt_interpret_options.trust. */
/* Images without build-id are the recorded ones, and no file was changed since the recording. */
#define VT_TRUST_IMAGES	   1u
#define VT_TRUST_CONSTANTS 2u /* programs do not write to their constants */

struct vt_interpret_options {
	bool path;	    /* follow EXEC records; the options for samples are not used then */
	uint32_t length;    /* instructions in a run from a sample, at least 1 */
	uint32_t frequency; /* interpret one in so many samples, at random; at least 1 */
	bool skip_random;   /* run 0 to length - 1 instructions first, without captures: value
			     * sampling 5 */
	uint32_t capture;   /* bits 1 << VT_WHAT_…, as in vt_interp_options */
	bool callers;	    /* set vt_run.callers */
	bool registers;	    /* set vt_run.regs */
	bool has_mxcsr;	    /* assume this MXCSR wherever the stream does not record it */
	uint32_t mxcsr;
	unsigned trust; /* VT_TRUST_ */
	uint64_t seed;
};

/*
 * Sets `mxcsr` from text: "default" (the value with which programs begin) or a hexadecimal number.
 * Returns 0 or -VT_E_USAGE.
 */
int vt_interpret_set_mxcsr(struct vt_interpret_options *o, const char *text, struct vt_error *err);

/* Number of general registers: VT_REG_AX to VT_REG_R15, with unused numbers among them. */
#define VT_RUN_REGS 24

/* The return address of the current procedure, from an instruction of a run on. */
struct vt_run_caller {
	uint64_t ip;	 /* of the instruction */
	uint64_t caller; /* 0: unknown */
	uint32_t insn;	 /* its number in the run; may be the number after the last one */
	bool entered;	 /* it is the first of its procedure, which was just called */
};

/* A run of instructions. */
struct vt_run {
	uint64_t time; /* ns */
	int64_t pid;
	int64_t tid;
	uint64_t event;	  /* id:EVENT of the sample */
	uint64_t weight;  /* number of samples, or executions, that it represents */
	uint64_t caller;  /* return address of the procedure at its start, or 0 */
	uint64_t latency; /* cycles of the sampled instruction, if has_latency */
	bool has_latency;
	bool begins; /* it does not continue the last run of the thread */
	uint32_t insns;
	enum vt_stop stop;
	const struct vt_word *regs; /* VT_RUN_REGS words, before the first instruction; or NULL */
	const struct vt_capture *captures; /* in the order in which they happened */
	size_t ncaptures;
	const struct vt_run_caller *callers; /* in order, from the first instruction on */
	size_t ncallers;		     /* 0: only `caller` is known */
};

/*
 * Sets *latency to the cycles that the load at a SAMPLE record's address took, which its weight
 * contains.  Returns false if the record has no weight, if its address is perhaps not that of the
 * sampled instruction, or if that instruction is no load.
 */
bool vt_sample_latency(const struct vt_record *rec, uint64_t *latency);

/*
 * Returns the return address of the procedure of instruction number `insn` of a run, or 0 if it is
 * unknown.  *at is an index that makes calls with ascending `insn` fast; set it to 0 at first.
 */
uint64_t vt_run_caller(const struct vt_run *run, uint32_t insn, size_t *at);

/*
 * Called for each run, which is borrowed for the call.  Returns 0, or a negative error that
 * vt_interpret_feed() passes on.
 */
typedef int vt_run_fn(void *arg, const struct vt_run *run, struct vt_error *err);

struct vt_interpret_totals {
	uint64_t samples;      /* seen */
	uint64_t left_out;     /* by frequency */
	uint64_t no_registers; /* samples without user registers, or of another ABI */
	uint64_t late; /* of them, those of precise events that only have registers of a later time
			*/
	uint64_t elsewhere;  /* samples whose registers and address are of different times */
	uint64_t with_lines; /* samples with lines of memory */
	uint64_t bad_lines;  /* samples of whose lines some or all are damaged, and not used */
	uint64_t no_code;    /* samples without known code at their address */
	uint64_t runs;
	uint64_t insns;
	uint64_t leaving;	/* instructions with captured results in registers or memory */
	uint64_t leaving_known; /* of them, those with only known results */
	/* Captured values by enum vt_what; a value of several lanes counts once. */
	uint64_t values[VT_NWHATS];
	uint64_t known[VT_NWHATS]; /* of them, those of which each bit is known */
	/* Ends of runs; along a path, all but VT_STOP_LENGTH are losses of its state. */
	uint64_t stops[VT_NSTOPS];
	uint64_t unlifted; /* instructions of lifted code that VEX does not support */
	uint64_t missing;  /* images whose file was needed but is missing */
	/*
	 * By enum vt_withheld.  Of code: runs from samples that ended there, or instructions of a
	 * path that were not interpreted.  Of constants: lines of 64 bytes that were read, counted
	 * once in each run.
	 */
	uint64_t code_withheld[VT_NWITHHELD];
	uint64_t constants_withheld[VT_NWITHHELD];
	/* Along a path: */
	uint64_t execs;	    /* records */
	uint64_t begun;	    /* how often interpretation began with an unknown state */
	uint64_t foreign;   /* instructions of the kernel or of 16 and 32 bits; not interpreted */
	uint64_t ptwritten; /* operands whose values ptwrite recorded */
	uint64_t stale;	    /* known values that differ from recorded ones: should be 0 */
	uint64_t inferred;  /* how often the direction of a branch made a value known */
};

/*
 * Returns an interpreter of a stream, owned by the caller, or NULL with VT_E_NOMEM.  `context` is
 * borrowed and must have images; the caller adds vt_interpret_feed() to its consumers.  `fn` may be
 * NULL.
 */
struct vt_interpret *vt_interpret_new(const struct vt_interpret_options *opt,
				      struct vt_context *context, vt_run_fn *fn, void *arg,
				      struct vt_error *err);
void vt_interpret_free(struct vt_interpret *in);

/*
 * A vt_consume_record_fn with a struct vt_interpret as `interpret`.  Returns 0, -VT_E_NOMEM, a
 * negative result of `fn`, or -VT_E_FORMAT or -VT_E_LIMIT for a record that is not used; the caller
 * may continue after these two.
 */
int vt_interpret_feed(void *interpret, const struct vt_record *rec, struct vt_error *err);

/* Completes the totals at the end of the stream. */
void vt_interpret_end(struct vt_interpret *in);

const struct vt_interpret_totals *vt_interpret_totals(const struct vt_interpret *in);

/*
 * Copies up to `size` bytes of code at an address of a run to `bytes`; returns their number. Called
 * by the function for runs, it returns what the run's sample says is there.
 */
size_t vt_interpret_code(struct vt_interpret *in, int64_t pid, uint64_t ip, uint8_t *bytes,
			 size_t size);

#endif
