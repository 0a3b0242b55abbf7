/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_ENCODE_INTERNAL_H
#define FORMATS_PT_ENCODE_INTERNAL_H

#include "base/hash.h"
#include "base/rng.h"
#include "formats/pt/encode/encode.h"
#include "stream/bblock.h"

/* The properties of a block that the encoder needs. */
struct enc_block {
	uint64_t addr;
	uint64_t next;	 /* after its last instruction */
	uint64_t target; /* of a direct branch, jump or call; else `next` */
	uint64_t other;	 /* the other successor: `next` of a branch, else the target again */
	uint32_t insns;	 /* 0: the block is not known, or has several pieces */
	uint8_t end;	 /* enum vt_pt_end, or ENC_OFF */
	uint8_t last;	 /* bytes of the last instruction */
	bool repeats;	 /* the last instruction is a repeated string instruction */
	bool used;
	bool watched;  /* the watcher is asked before each execution; insns is 0 */
	bool left_out; /* insns is 0, too */
	bool direct;   /* its successor needs no address: */
	bool branch;   /* but needs a decision */
	bool call;     /* and it pushes a return address */
};

#define ENC_OFF 255 /* tracing is off: no block at all */

/*
 * Entries of the processor's return stack (SDM 3C, "RET compression"), and of the stack of a
 * decoder that pops at every return.
 */
#define ENC_RETURNS 64
#define ENC_POPS    4096

#define ENC_BUFFER    (256u << 10)
#define ENC_SLACK     8192 /* bytes that may be written between two checks for room */
#define ENC_MOST_LOST 4096 /* bytes of an overflow */

/* The state that changes with each block. */
struct enc_hot {
	uint8_t *out;
	uint8_t *stop; /* where something is due: see put_due() of flow.c */
	uint64_t tnt;  /* pending decisions below a 1 */
	uint64_t last_ip;
	uint64_t insns;
};

struct enc_thread {
	struct vt_pt_encode_thread pub; /* first */
	int64_t key[2];
	struct enc_hot h;
	struct enc_block prev; /* the last block, between EXEC records */
	uint8_t *buffer;
	uint64_t psb_at;	      /* position in the trace of the next PSB */
	uint64_t overflow_at;	      /* of the next overflow, */
	uint64_t lost_at;	      /* and of the end of the lost bytes */
	uint8_t *losing;	      /* packets are lost from here on; NULL: no overflow */
	uint64_t full;		      /* a TNT packet is put when `tnt` reaches this */
	uint64_t tick;		      /* instructions at the next MTC */
	uint64_t next_ctc;	      /* the CTC of that MTC */
	uint64_t cycles;	      /* at the last CYC packet */
	uint64_t decided;	      /* instructions at the first pending decision */
	uint64_t blocks;	      /* executions */
	uint64_t away;		      /* instructions of other threads while it did not run */
	unsigned mode;		      /* bits of the code */
	unsigned sent_mode;	      /* of the last MODE.EXEC; 0: none yet */
	bool off;		      /* tracing is off: `prev` is no block */
	bool compress;		      /* returns */
	struct enc_block interrupted; /* interrupted before its last instruction; `last` 0: none */
	uint64_t repeated;	      /* instructions not counted: repetitions, or left out */
	/* Both stacks have the return addresses of calls since the last PSB. */
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
	uint64_t began; /* of the running thread, before the current EXEC record */
	uint64_t ahead; /* since then, for vt_pt_encode_now() */
	vt_pt_encode_watcher *watcher;
	bool watch_all;
	unsigned mode; /* bits of the code, from TRACE records */
	bool timed;
	struct vt_pt_encode_totals sum;
	struct vt_error *err;	 /* of the current call */
	int failed;		 /* the error of the sink or the watcher */
	char bad[VT_ERROR_SIZE]; /* the error of the first bad record */
};

/* ---- flow.c: packets, bytes and times ---- */

/* Puts the pending decisions, and a packet with an address; or a TIP.PGD without one. */
void vti_enc_put_tip(struct vt_pt_encode *e, struct enc_thread *t, unsigned opcode, uint64_t ip);
void vti_enc_put_off(struct vt_pt_encode *e, struct enc_thread *t);

/* Puts a PSB+.  No decisions are pending.  on: tracing is enabled, and the program at `ip`. */
void vti_enc_put_psb(struct vt_pt_encode *e, struct enc_thread *t, bool on, uint64_t ip);

/* Ends an overflow, if there is one.  on: execution continues at `ip`. */
void vti_enc_end_loss(struct vt_pt_encode *e, struct enc_thread *t, bool on, uint64_t ip);
void vti_enc_set_stop(struct enc_thread *t);
uint64_t vti_enc_get_position(const struct enc_thread *t); /* in the trace */
void vti_enc_drain(struct vt_pt_encode *e, struct enc_thread *t);

/* Makes room for ENC_SLACK bytes, where execution does not continue and so nothing can be due. */
void vti_enc_make_room(struct vt_pt_encode *e, struct enc_thread *t);

/* A random number between half of `mean` and one and a half times it. */
uint64_t vti_enc_jitter(struct enc_thread *t, uint64_t mean);

uint64_t vti_enc_get_cycles(const struct vt_pt_encode *e, const struct enc_thread *t); /* now */
uint64_t vti_enc_convert_to_tsc(const struct vt_pt_encode *e, uint64_t cycles);

/* ---- flow.c: from block to block ---- */

/* Steps from the last block to `next`, which becomes the last. */
void vti_enc_step_to(struct vt_pt_encode *e, struct enc_thread *t, const struct enc_block *next);

/*
 * Steps through n blocks by their ids, up to one that is unknown or has several pieces.  Returns
 * how many.
 */
size_t vti_enc_run_blocks(struct vt_pt_encode *e, struct enc_thread *t, const uint8_t *ids,
			  unsigned width, uint64_t base, size_t n);

/* Encodes the execution up to `ip`, and switches tracing off there. */
void vti_enc_break(struct vt_pt_encode *e, struct enc_thread *t, uint64_t ip);

/* The same where it is unknown how execution continued. */
void vti_enc_break_unknown(struct vt_pt_encode *e, struct enc_thread *t);

/* Encodes a branch out of the traced code, to `to` if that is not 0. */
void vti_enc_leave(struct vt_pt_encode *e, struct enc_thread *t, uint64_t to);

/* Encodes an interrupt before `ip`; execution continues at `to`. */
void vti_enc_interrupt(struct vt_pt_encode *e, struct enc_thread *t, uint64_t ip, uint64_t to);

/* Encodes the value of the ptwrite at `ip`, the last instruction: `size` bytes. */
void vti_enc_ptwrite(struct vt_pt_encode *e, struct enc_thread *t, uint64_t ip, uint64_t value,
		     unsigned size);

#endif
