/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_ENCODE_ENCODE_H
#define FORMATS_PT_ENCODE_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "formats/common/format.h"
#include "formats/pt/timing.h"
#include "stream/bblock.h"
#include "stream/record.h"

/*
 * Encodes executed blocks as Intel PT: the packets of a processor that traces the user mode of each
 * thread.  The processor is a model: its clock follows the options.
 *
 * Each thread (pid and tid) has its own trace.  The trace begins with a PSB.  A TIP.PGE comes where
 * execution is first known, or known again.  A system call, or anything else outside user mode, is
 * a TIP.PGD and a TIP.PGE; a signal is a FUP, TIP.PGD and TIP.PGE.  Where the stream does not say
 * how execution came from one block to the next, tracing is switched off (FUP, TIP.PGD) and on.
 */

#define VT_PT_MAX_CPI	100000000 /* the greatest cpi of the options */
#define VT_PT_MAX_START (1ull << 48)

struct vt_pt_encode_options {
	uint64_t psb_bytes; /* the distance of PSBs, in bytes of trace; at least 64 */
	uint64_t tnt_bits;  /* decisions of a TNT packet: 1 to 47, more than 6 need long packets */
	bool no_retcomp;    /* every return is a TIP */
	bool tsc;	    /* TSC in each PSB+ */
	bool mtc;	    /* MTC, and TMA in each PSB+ */
	bool cyc;	    /* CYC before each packet that takes one */
	/*
	 * The clock, for tsc, mtc and cyc; all its fields must be set.  nominal_ratio / cbr ticks
	 * of the TSC pass in each cycle.
	 */
	struct vt_pt_clock clock;
	uint8_t cbr;	    /* core to bus ratio */
	uint64_t cpi;	    /* cycles of an instruction, in millionths */
	uint64_t start_tsc; /* when the stream begins; at most VT_PT_MAX_START */
	uint64_t cr3;	    /* PIP in each PSB+, unless 0 */
	/* Encodes only threads with this pid and this tid; 0: any. */
	int64_t pid;
	int64_t tid;
	/* Damage, each about every so many bytes; 0: none. */
	uint64_t overflow; /* packets are lost, with an OVF */
	uint64_t damage;   /* bytes are changed */
	uint64_t seed;
};

/* 4 KiB between PSBs, TNT packets of 6 decisions, a clock of 32 times 100 MHz, no timing. */
extern const struct vt_pt_encode_options vt_pt_encode_defaults;

/* A thread, and its trace so far. */
struct vt_pt_encode_thread {
	int64_t pid;
	int64_t tid;
	size_t index;	/* in the order of their first blocks */
	uint64_t bytes; /* given to the sink in earlier calls */
	uint64_t insns; /* executed so far, repeated ones once */
	uint64_t time;	/* of the first EXEC record in these bytes, in ns, or 0 */
	uint64_t tsc;	/* now, of the model */
	void *user;	/* for the sink */
};

/*
 * Takes bytes of a thread's trace, borrowed.  The calls for different threads are interleaved; a
 * packet may be divided between two calls.  0, or a negative error, which vt_pt_encode_record() or
 * vt_pt_encode_finish() then returns.
 */
typedef int vt_pt_encode_sink(void *arg, struct vt_pt_encode_thread *t, const uint8_t *bytes,
			      size_t size, struct vt_error *err);

struct vt_pt_encode_totals {
	uint64_t insns;	 /* encoded, repeated ones once */
	uint64_t blocks; /* executions */
	uint64_t bytes;
	uint64_t threads;
	uint64_t breaks;    /* where the stream does not say how execution continued */
	uint64_t bad;	    /* contradictory records, left out */
	uint64_t overflows; /* made */
	uint64_t damaged;   /* bytes */
	uint64_t rewritten; /* bytes of code that changed: vt_pt_encode_pages() */
	uint64_t left_out;  /* threads without a file: vt_pt_output */
};

struct vt_pt_encode;

/* Owned by the caller; NULL: no memory. */
struct vt_pt_encode *vt_pt_encode_new(const struct vt_pt_encode_options *opt,
				      vt_pt_encode_sink *sink, void *arg);
void vt_pt_encode_free(struct vt_pt_encode *e);

/*
 * Takes a record of any kind.  0; -VT_E_NOMEM; -VT_E_ABSENT: the stream has only samples of the
 * execution; or the sink's error.  A contradictory record is left out and counted, and interrupts
 * the trace of its thread.  vt_pt_encode_report() reports the first one.
 */
int vt_pt_encode_record(struct vt_pt_encode *e, const struct vt_record *rec, struct vt_error *err);

/*
 * Called before each execution of a watched block.  1: its code has changed; the trace is then
 * interrupted here and gives the time.  0; or an error.
 */
typedef int vt_pt_encode_watcher(void *arg, int64_t pid, const struct vt_bblock *b,
				 struct vt_error *err);

/* Watches a block, by its id; the watcher gets the sink's `arg`. */
void vt_pt_encode_watch(struct vt_pt_encode *e, uint64_t id, vt_pt_encode_watcher *watcher);

/* Watches all blocks, including later ones. */
void vt_pt_encode_watch_all(struct vt_pt_encode *e, vt_pt_encode_watcher *watcher);

/* Leaves a block out, by its id: the trace is interrupted where it was executed. */
void vt_pt_encode_leave_out(struct vt_pt_encode *e, uint64_t id);

/* Gives the sink the buffered bytes of all threads. */
int vt_pt_encode_flush(struct vt_pt_encode *e, struct vt_error *err);

/*
 * For a caller that schedules threads on processors.  vt_pt_encode_pause() interrupts a thread
 * before its last instruction, if the target of that is not known yet, switches tracing off, and
 * gives the sink all bytes.  The thread continues with its next block, or by vt_pt_encode_resume();
 * if other threads ran meanwhile, or time passed, a PSB comes first.
 */
int vt_pt_encode_pause(struct vt_pt_encode *e, int64_t pid, int64_t tid, struct vt_error *err);
void vt_pt_encode_resume(struct vt_pt_encode *e, int64_t pid, int64_t tid);

/* Lets the time of so many instructions pass without any thread running. */
void vt_pt_encode_idle(struct vt_pt_encode *e, uint64_t insns);

/* The TSC of the model; 0 without a clock. */
uint64_t vt_pt_encode_now(const struct vt_pt_encode *e);

/* Makes each thread of a process give the time, in a PSB+, as soon as it continues. */
void vt_pt_encode_sync(struct vt_pt_encode *e, int64_t pid);

/* The end of the stream. */
int vt_pt_encode_finish(struct vt_pt_encode *e, struct vt_error *err);

const struct vt_pt_encode_totals *vt_pt_encode_totals(const struct vt_pt_encode *e);

/*
 * Writes the code of all encoded blocks, as pages of 4096 bytes: the file `dump` gets the pages,
 * `addr` their addresses, 8 bytes each.  Unknown bytes are 0; of code that changed, the last is
 * written.  0, -VT_E_NOMEM, -VT_E_WRITE.
 */
int vt_pt_encode_pages(struct vt_pt_encode *e, const char *dump, const char *addr,
		       struct vt_error *err);

/* Reports what the encoder left out, changed or damaged; for formats that contain such a trace. */
void vt_pt_encode_report(const struct vt_pt_encode *e, vt_output_report *fn, void *arg);

/*
 * The output format "pt": raw packets.  Those of the first thread go to the file `path`, those of
 * each other thread to `path`.TID; on standard output the other threads are left out.
 */
extern const struct vt_output_format vt_pt_output;

#endif
