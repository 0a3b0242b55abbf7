/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_ENCODE_INTERNAL_H
#define FORMATS_PT_ENCODE_INTERNAL_H

#include "base/hash.h"
#include "base/rng.h"
#include "formats/pt/encode/encode.h"
#include "stream/bblock.h"

/* What of a block shapes the trace. */
struct enc_block {
	uint64_t addr;
	uint64_t next;	 /* behind its last instruction */
	uint64_t target; /* of a direct branch, jump or call; else `next` */
	uint64_t other;	 /* where it goes if not there: `next` of a branch, else the target again */
	uint32_t insns;	 /* 0: the block is not known, or has several pieces */
	uint8_t end;	 /* enum vt_pt_end, or ENC_OFF */
	uint8_t last;	 /* bytes of the last instruction */
	bool repeats;	 /* the last instruction is a repeated string instruction */
	bool used;
	bool watched;  /* the watcher is asked before each execution; insns is 0 */
	bool left_out; /* insns is 0, too */
	bool direct;   /* nothing but, perhaps, a decision tells where it goes: */
	bool branch;   /* which takes one */
	bool call;     /* which leaves a return address */
};

#define ENC_OFF 255 /* tracing is off: no block at all */

/*
 * Entries of the processor's return stack (SDM 3C, "RET compression"), and those that count of a
 * decoder's that pops at each return.
 */
#define ENC_RETURNS 64
#define ENC_POPS    4096

#define ENC_BUFFER    (256u << 10)
#define ENC_SLACK     8192 /* bytes that may be written between two looks at the room */
#define ENC_MOST_LOST 4096 /* bytes of an overflow */

/* What changes with each block. */
struct enc_hot {
	uint8_t *out;
	uint8_t *stop; /* where something is to be done: see service() of flow.c */
	uint64_t tnt;  /* pending decisions below a 1 */
	uint64_t last_ip;
	uint64_t insns;
};

struct enc_thread {
	struct vt_pt_encode_thread pub; /* first */
	int64_t key[2];
	struct enc_hot h;
	struct enc_block prev; /* the last block, when no EXEC is at hand */
	uint8_t *buffer;
	uint64_t psb_at;       /* position in the trace of the next PSB */
	uint64_t overflow_at;  /* of the next overflow, */
	uint64_t lost_at;      /* and of the end of what it loses */
	uint8_t *losing;       /* from here on packets are lost; NULL: they are not */
	uint64_t full;	       /* decisions are told when they have reached this */
	uint64_t tick;	       /* instructions at the next MTC */
	uint64_t next_ctc;     /* that it shows */
	uint64_t cycles;       /* that CYC packets have told */
	uint64_t decided;      /* instructions at the first of the pending decisions */
	uint64_t blocks;       /* executions */
	uint64_t away;	       /* instructions of others while it did not run */
	unsigned mode;	       /* bits of the code */
	unsigned told_mode;    /* by MODE.EXEC; 0: not yet */
	bool off;	       /* tracing is off: `prev` is no block */
	bool compress;	       /* returns */
	struct enc_block held; /* interrupted before its last instruction; `last` 0: none */
	uint64_t repeated;     /* instructions that do not count, being repetitions or left out */
	/* Both stacks hold what was called since the last PSB. */
	uint32_t nreturns, returns_top;
	uint32_t npops, pops_top;
	uint64_t returns[ENC_RETURNS]; /* compressed returns pop it */
	uint64_t pops[ENC_POPS];       /* every return pops it */
	uint64_t damage_at;	       /* position of the next byte that is changed */
	struct vt_rng rng;
};

struct vt_pt_encode {
	struct vt_pt_encode_options opt;
	vt_pt_encode_sink *sink;
	void *arg;
	struct vt_bblocks *dict;
	struct enc_block *blocks; /* by id */
	size_t nblocks;
	size_t blocks_cap;
	struct enc_thread **threads;
	size_t nthreads;
	size_t threads_cap;
	struct vt_hash index; /* of threads by pid and tid */
	struct enc_thread *running;
	uint64_t total; /* instructions of all threads */
	uint64_t began; /* of the running one, before the EXEC record at hand */
	uint64_t ahead; /* since then, for vt_pt_encode_now() */
	vt_pt_encode_watcher *watcher;
	bool watch_all;
	unsigned mode; /* bits of the code that is told */
	bool timed;
	struct vt_pt_encode_totals sum;
	struct vt_error *err; /* of the call at hand */
	int failed;	      /* the sink's, or want of memory */
	char bad[VT_ERROR_SIZE];
};

/* ---- flow.c: packets, bytes and times; `h` of the thread is where packets go ---- */

void vti_enc_tip(struct vt_pt_encode *e, struct enc_thread *t, unsigned opcode, uint64_t ip);
void vti_enc_off(struct vt_pt_encode *e, struct enc_thread *t); /* TIP.PGD without an address */
/* No decisions wait to be told. `on`: tracing is, and the program at `ip`. */
void vti_enc_psb(struct vt_pt_encode *e, struct enc_thread *t, bool on, uint64_t ip);

/* Ends an overflow, if there is one; `on`: execution goes on at `ip`. */
void vti_enc_end_loss(struct vt_pt_encode *e, struct enc_thread *t, bool on, uint64_t ip);
void vti_enc_set_stop(struct enc_thread *t);
uint64_t vti_enc_position(const struct enc_thread *t); /* in the trace */
void vti_enc_drain(struct vt_pt_encode *e, struct enc_thread *t);
/* Room for ENC_SLACK bytes: where nothing can be due, as execution does not go on. */
void vti_enc_room(struct vt_pt_encode *e, struct enc_thread *t);

/* Somewhere between half of `mean` and one and a half times it. */
uint64_t vti_enc_some(struct enc_thread *t, uint64_t mean);

uint64_t vti_enc_cycles(const struct vt_pt_encode *e, const struct enc_thread *t); /* now */
uint64_t vti_enc_tsc(const struct vt_pt_encode *e, uint64_t cycles);

/* ---- flow.c: from block to block ---- */

/* Goes on from the last block to `next`, which becomes the last. */
void vti_enc_step(struct vt_pt_encode *e, struct enc_thread *t, const struct enc_block *next);

/*
 * Goes through n blocks by their ids, up to one that is not known or has several pieces; returns
 * how many.
 */
size_t vti_enc_run(struct vt_pt_encode *e, struct enc_thread *t, const uint8_t *ids, unsigned width,
		   uint64_t base, size_t n);

/* Tells all up to `ip`, where execution is broken off; tracing is off then. */
void vti_enc_break(struct vt_pt_encode *e, struct enc_thread *t, uint64_t ip);

/* The same where nobody knows how it went on. */
void vti_enc_lose(struct vt_pt_encode *e, struct enc_thread *t);

/* A branch has left what is traced, to `to` if that is not 0. */
void vti_enc_leave(struct vt_pt_encode *e, struct enc_thread *t, uint64_t to);

/* Before `ip` it was interrupted, and goes on at `to`. */
void vti_enc_interrupt(struct vt_pt_encode *e, struct enc_thread *t, uint64_t ip, uint64_t to);

/* What the instruction at `ip`, the last one, told by ptwrite: `size` bytes. */
void vti_enc_ptwrite(struct vt_pt_encode *e, struct enc_thread *t, uint64_t ip, uint64_t value,
		     unsigned size);

#endif
