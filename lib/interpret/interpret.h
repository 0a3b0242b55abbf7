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
 * From a stream to runs of interpreted instructions: from each sample's registers and stack (value
 * sampling 2.1), or along the path that EXEC records tell.
 */
struct vt_interpret;

/* Why what a file has is not taken for what a process had in its memory. */
enum vt_withheld {
	VT_WITHHELD_NOT,
	VT_WITHHELD_MISSING,	/* the image's file is not there, or only another one */
	VT_WITHHELD_UNVERIFIED, /* nothing shows that the file is the recorded one */
	VT_WITHHELD_PATCHED,	/* the program could write there */
	VT_WITHHELD_UNSEEN,	/* constants: the recording would not show if it could */
	VT_NWITHHELD
};

/* What the user knows though the recording does not show it. */
/* Files without a recorded build-id are the recorded ones, and those that have it are as recorded.
 */
#define VT_TRUST_IMAGES	   1u
#define VT_TRUST_CONSTANTS 2u /* programs do not write to their constants */

struct vt_interpret_options {
	bool path;	    /* along EXEC records; what is said of samples does not count then */
	uint32_t length;    /* instructions in a run from a sample, at least 1 */
	uint32_t frequency; /* one sample in so many is interpreted (by chance), at least 1 */
	bool skip_random;   /* 0 to length - 1 instructions first, of which nothing is captured:
			     * value sampling 5 */
	uint32_t capture;   /* bits 1 << VT_WHAT_…, as in vt_interp_options */
	bool callers;	    /* tell return addresses */
	bool registers;	    /* tell those that each run begins with */
	bool has_mxcsr;	    /* MXCSR is taken to be this wherever the stream does not say */
	uint32_t mxcsr;
	unsigned trust; /* VT_TRUST_ */
	uint64_t seed;
};

/* Sets MXCSR: "default", as a program begins with, or a number in hexadecimal.  -VT_E_USAGE. */
int vt_interpret_set_mxcsr(struct vt_interpret_options *o, const char *text, struct vt_error *err);

/* General registers: VT_REG_AX and up, some of them no registers. */
#define VT_RUN_REGS 24

/* From an instruction of a run on, the procedure at hand returns to an address. */
struct vt_run_caller {
	uint64_t ip;	 /* of the instruction */
	uint64_t caller; /* 0: unknown */
	uint32_t insn;	 /* its number, perhaps beyond the run's last */
	bool entered;	 /* it is the first of its procedure, which was just called */
};

/* A run of instructions. */
struct vt_run {
	uint64_t time; /* ns */
	int64_t pid;
	int64_t tid;
	uint64_t event;	  /* id:EVENT of the sample */
	uint64_t weight;  /* how many samples, or executions, it stands for */
	uint64_t caller;  /* return address of the procedure at its start, or 0 */
	uint64_t latency; /* cycles, of the instruction that was sampled, where has_latency */
	bool has_latency;
	bool begins; /* it does not go on where the last run of the thread ended */
	uint32_t insns;
	enum vt_stop stop;
	const struct vt_word *regs;	   /* VT_RUN_REGS, before the first one; or NULL */
	const struct vt_capture *captures; /* in the order in which they happened */
	size_t ncaptures;
	const struct vt_run_caller *callers; /* in order, from the first instruction on */
	size_t ncallers;		     /* 0: `caller` is all that is known */
};

/*
 * The latency of a SAMPLE record's weight, in cycles: of the load at the sample's address.  False:
 * there is none, the address is not surely that of the sampled instruction, or that is no load.
 */
bool vt_sample_latency(const struct vt_record *rec, uint64_t *latency);

/* The return address at an instruction of a run, or 0.  *at is 0 at first, and helps to go on. */
uint64_t vt_run_caller(const struct vt_run *run, uint32_t insn, size_t *at);

/* Called for each run; negative ends the feeding.  The run is borrowed for the call. */
typedef int vt_run_fn(void *arg, const struct vt_run *run, struct vt_error *err);

struct vt_interpret_totals {
	uint64_t samples;      /* seen */
	uint64_t left_out;     /* by frequency */
	uint64_t no_registers; /* samples without user registers, or of another ABI */
	uint64_t late;	    /* of them, of precise events with registers of a later moment only */
	uint64_t elsewhere; /* whose registers are of another moment than their address */
	uint64_t no_code;   /* at the sample's own address */
	uint64_t runs;
	uint64_t insns;
	uint64_t leaving; /* instructions that leave something in a register or memory, captured */
	uint64_t leaving_known; /* all of it is known */
	/* Values that were captured, by enum vt_what; those of several lanes are one. */
	uint64_t values[VT_NWHATS];
	uint64_t known[VT_NWHATS]; /* each bit of them is */
	uint64_t stops[VT_NSTOPS]; /* along a path, but for the first, why its state was lost */
	uint64_t unlifted;	   /* instructions of lifted code that VEX does not know */
	uint64_t missing;	   /* images that were asked for, whose file is not there */
	/* By enum vt_withheld: of code, runs from samples that ended there, instructions of a path
	 * that were left out; of constants, lines of 64 bytes that were read, once in each run. */
	uint64_t code_withheld[VT_NWITHHELD];
	uint64_t constants_withheld[VT_NWITHHELD];
	/* Along a path: */
	uint64_t execs;	  /* records */
	uint64_t begun;	  /* how often it began with nothing known */
	uint64_t foreign; /* instructions of the kernel, and of 16 and 32 bits: left out */
	uint64_t told;	  /* values that ptwrite told of operands */
	uint64_t stale;	  /* numbers that were known otherwise than recorded: never, that is */
	uint64_t taught;  /* how often the way that was taken made something known */
};

/*
 * `context` is borrowed and has images.  Owned by the caller, who adds vt_interpret_feed() to the
 * context's consumers.  `fn` may be NULL.  Returns NULL with VT_E_NOMEM.
 */
struct vt_interpret *vt_interpret_new(const struct vt_interpret_options *opt,
				      struct vt_context *context, vt_run_fn *fn, void *arg,
				      struct vt_error *err);
void vt_interpret_free(struct vt_interpret *in);

/*
 * A vt_consume_record_fn; `interpret` is the struct vt_interpret.  Returns 0, -VT_E_NOMEM, what
 * `fn` returned, or -VT_E_FORMAT or -VT_E_LIMIT for a record that is left out.
 */
int vt_interpret_feed(void *interpret, const struct vt_record *rec, struct vt_error *err);

/* At the end of the stream: completes the totals. */
void vt_interpret_end(struct vt_interpret *in);

const struct vt_interpret_totals *vt_interpret_totals(const struct vt_interpret *in);

/* The bytes of an instruction of a run, at most `size` of them: for its facts. */
size_t vt_interpret_code(struct vt_interpret *in, int64_t pid, uint64_t ip, uint8_t *bytes,
			 size_t size);

#endif
