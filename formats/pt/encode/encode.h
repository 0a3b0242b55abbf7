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
 * Executed blocks to Intel PT: what a processor would have written that traced the user mode of
 * each thread.  The processor is a made-up one: its cycles pass as the options say.
 *
 * Each thread (pid and tid) has a trace of its own.  It begins with a PSB; a TIP.PGE stands where
 * execution is first known, or known again; system calls and all else that is not executed in user
 * mode is a TIP.PGD and a TIP.PGE, a signal a FUP, TIP.PGD and TIP.PGE.  Where the stream does not
 * tell how it got from one block to the next, the trace is switched off (FUP, TIP.PGD) and on.
 */

#define VT_PT_MAX_CPI	100000000 /* cpi of the options */
#define VT_PT_MAX_START (1ull << 48)

struct vt_pt_encode_options {
	uint64_t psb_bytes; /* a PSB each so many bytes of trace; at least 64 */
	uint64_t tnt_bits;  /* decisions of a TNT packet: 1 to 47, more than 6 need long packets */
	bool no_retcomp;    /* every return is a TIP */
	bool tsc;	    /* TSC in each PSB+ */
	bool mtc;	    /* MTC, and TMA in each PSB+ */
	bool cyc;	    /* CYC before each packet that takes one */
	/*
	 * The clock: all of it counts when any of the above is asked for.  nominal_ratio / cbr
	 * ticks of the TSC pass in each cycle.
	 */
	struct vt_pt_clock clock;
	uint8_t cbr;	    /* core to bus ratio */
	uint64_t cpi;	    /* cycles of an instruction, in millionths */
	uint64_t start_tsc; /* when the stream begins; at most VT_PT_MAX_START */
	uint64_t cr3;	    /* PIP in each PSB+, unless 0 */
	/* Only this thread; 0: all.  A tid is that of one process only, or of all. */
	int64_t pid;
	int64_t tid;
	/* Damage, each about every so many bytes, 0: none: */
	uint64_t overflow; /* packets are lost, and an OVF says so */
	uint64_t damage;   /* bytes are not what they were */
	uint64_t seed;
};

/* 4 KiB between PSBs, TNT packets of 6 decisions, a clock of 32 times 100 MHz, all at rest. */
extern const struct vt_pt_encode_options vt_pt_encode_defaults;

/* A thread, and its trace so far. */
struct vt_pt_encode_thread {
	int64_t pid;
	int64_t tid;
	size_t index;	/* in the order of their first blocks */
	uint64_t bytes; /* before those at hand */
	uint64_t insns; /* executed so far, repeated ones once */
	uint64_t time;	/* of the first record at hand: as EXEC tells, ns, or 0 */
	uint64_t tsc;	/* now, of the model */
	void *user;	/* the sink's */
};

/*
 * Takes bytes of a thread's trace, borrowed.  The bytes of different threads come in turns; a
 * packet may be cut between two calls.  0, or a negative error, which vt_pt_encode_record() or
 * _finish() returns.
 */
typedef int vt_pt_encode_sink(void *arg, struct vt_pt_encode_thread *t, const uint8_t *bytes,
			      size_t size, struct vt_error *err);

struct vt_pt_encode_totals {
	uint64_t insns;	 /* encoded, repeated ones once */
	uint64_t blocks; /* executions */
	uint64_t bytes;
	uint64_t threads;
	uint64_t breaks;    /* where the stream does not tell how execution went on */
	uint64_t bad;	    /* records that contradict themselves, left out */
	uint64_t overflows; /* made */
	uint64_t damaged;   /* bytes */
	uint64_t rewritten; /* bytes of code that were other ones before: vt_pt_encode_pages() */
	uint64_t left_out;  /* threads without a file: vt_pt_output */
};

struct vt_pt_encode;

/* Owned by the caller; NULL: no memory. */
struct vt_pt_encode *vt_pt_encode_new(const struct vt_pt_encode_options *opt,
				      vt_pt_encode_sink *sink, void *arg);
void vt_pt_encode_free(struct vt_pt_encode *e);

/*
 * Takes a record of any kind.  0; -VT_E_NOMEM; -VT_E_ABSENT: the stream has only samples of what
 * was executed; or the sink's error.  A record that contradicts itself is left out, counted, and
 * ends what is known of its thread; its text is then in `bad`, if that was empty.
 */
int vt_pt_encode_record(struct vt_pt_encode *e, const struct vt_record *rec, struct vt_error *err);

/*
 * Is asked before a block is executed that is watched.  1: its code is another one from now on; the
 * trace is then interrupted here, and the time told.  0, or an error.
 */
typedef int vt_pt_encode_watcher(void *arg, int64_t pid, const struct vt_bblock *b,
				 struct vt_error *err);

/* Watches a block, by its id, which is known; the watcher gets the sink's `arg`. */
void vt_pt_encode_watch(struct vt_pt_encode *e, uint64_t id, vt_pt_encode_watcher *watcher);

/* Watches all blocks, also those to come. */
void vt_pt_encode_watch_all(struct vt_pt_encode *e, vt_pt_encode_watcher *watcher);

/*
 * Leaves a block out, by its id, which is known: where it was executed, the trace is interrupted,
 * as if nobody knew how execution went on.
 */
void vt_pt_encode_leave_out(struct vt_pt_encode *e, uint64_t id);

/* Gives the sink what there is, of all threads; more may follow. */
int vt_pt_encode_flush(struct vt_pt_encode *e, struct vt_error *err);

/*
 * For those who let threads take turns on a processor.  A thread that pauses is interrupted before
 * its last instruction (if where that goes is still to be told), its trace is switched off, and
 * the sink has all of it.  It goes on with its next block, or by vt_pt_encode_resume(), with a PSB
 * of its own when other threads or idle time came between.
 */
int vt_pt_encode_pause(struct vt_pt_encode *e, int64_t pid, int64_t tid, struct vt_error *err);
void vt_pt_encode_resume(struct vt_pt_encode *e, int64_t pid, int64_t tid);

/* No thread runs for as long as so many instructions take. */
void vt_pt_encode_idle(struct vt_pt_encode *e, uint64_t insns);

/* The TSC of the model; 0 without a clock. */
uint64_t vt_pt_encode_now(const struct vt_pt_encode *e);

/* Something happens to a process: as soon as its threads go on they tell the time, in a PSB+. */
void vt_pt_encode_sync(struct vt_pt_encode *e, int64_t pid);

/* The end of the stream. */
int vt_pt_encode_finish(struct vt_pt_encode *e, struct vt_error *err);

const struct vt_pt_encode_totals *vt_pt_encode_totals(const struct vt_pt_encode *e);
const char *vt_pt_encode_bad(const struct vt_pt_encode *e);

/* A thread by its index, one of totals.threads; borrowed until the next record. */
struct vt_pt_encode_thread *vt_pt_encode_thread(struct vt_pt_encode *e, size_t index);

/*
 * Writes the code of all blocks that were encoded, as pages of 4096 bytes: the file `dump` gets the
 * pages, `addr` the address of each, 8 bytes.  What is not known is zero; of code that was changed,
 * the last counts.  0, -VT_E_NOMEM, -VT_E_WRITE.
 */
int vt_pt_encode_pages(struct vt_pt_encode *e, const char *dump, const char *addr,
		       struct vt_error *err);

/* Reports what the encoder left out, changed or damaged: for formats with such a trace inside. */
void vt_pt_encode_report(const struct vt_pt_encode *e, vt_output_report *fn, void *arg);

/*
 * The output format "pt": raw packets.  The first thread's go to `path`, those of each other thread
 * to a file with its tid behind that name; on standard output the others are left out.
 */
extern const struct vt_output_format vt_pt_output;

#endif
