/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_DECODE_WALK_H
#define FORMATS_PT_DECODE_WALK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "formats/pt/block.h"
#include "formats/pt/decode/cursor.h"
#include "formats/pt/decode/engine.h"
#include "formats/pt/decode/output.h"
#include "formats/pt/packet.h"
#include "formats/pt/timing.h"

/*
 * The engine "fast": the state of one walk along a trace.  Two parts share it.  The walker handles
 * every packet, one by one (walk.c).  The accelerator handles only runs of TNT and TIP through
 * straight code, and leaves everything uncertain to the walker (fast_loop.c).
 *
 * They hand over to each other in the lazy state: tracing is enabled, no event is pending, `ip` is
 * the address after the last decision, the code from there on has not been put out, `pos` is at a
 * well-formed TNT or TIP packet, and all packets before it have been taken.  The accelerator may
 * also leave `pos` at a TIP.PGD: then an event is pending.  Decisions of an earlier TNT packet may
 * be left in `tnt`.
 *
 * Inside the walker, packets become decisions and events (query.c, take.c, overflow.c), and these
 * lead through the code (walk.c, bind.c).  The rules for a correct trace, and the fault for each
 * violation, are those of libipt 2.0.5's block decoder.
 */

#define VTI_PT_RETURNS 64 /* return addresses: the depth of the processor's return compression */

/*
 * Room in `ids` beyond the place where the accelerator stops: for the blocks of a TNT packet of 47
 * decisions, each with as many blocks as a run may have.
 */
#define VTI_PT_MARGIN 6144

/* A batch with so many notes is full, too. */
#define VTI_PT_NOTES 1024

/* Why a walk cannot continue; functions return them negative. */
enum vti_pt_fault {
	VTI_PT_EOS = 1, /* the trace ends */
	VTI_PT_QUERY,	/* code and trace do not fit: another packet was needed here */
	VTI_PT_OPCODE,	/* no such packet */
	VTI_PT_PACKET,	/* malformed */
	VTI_PT_CONTEXT, /* a packet where none of its kind may be */
	VTI_PT_NOIP,	/* no address so far */
	VTI_PT_SUPPRESSED,
	VTI_PT_FULL,	 /* too many events wait for the same packet */
	VTI_PT_INTERNAL, /* the reference reports an internal error */
	VTI_PT_RETCOMP,	 /* a return whose decision is "not taken" */
	VTI_PT_RETSTACK, /* a compressed return without a call */
	VTI_PT_NOMAP,
	VTI_PT_INSN,
	VTI_PT_DISABLED, /* the trace continues but tracing is not enabled */
	VTI_PT_STATUS,	 /* a PSB contradicts what was known */
	VTI_PT_NOSYNC,
	VTI_PT_LOOP,
	VTI_PT_NOMEM,
};

/* Flags that vti_pt_query_*() return. */
enum vti_pt_flag {
	VTI_PT_PENDING = 1,   /* an event comes next */
	VTI_PT_AT_END = 2,    /* nothing comes next */
	VTI_PT_UNKNOWN_IP = 4 /* there was no address */
};

enum vti_pt_event_type {
	VTI_PT_EV_ENABLED,
	VTI_PT_EV_DISABLED,
	VTI_PT_EV_ASYNC_DISABLED,
	VTI_PT_EV_ASYNC_BRANCH,
	VTI_PT_EV_PAGING,
	VTI_PT_EV_ASYNC_PAGING,
	VTI_PT_EV_VMCS,
	VTI_PT_EV_ASYNC_VMCS,
	VTI_PT_EV_OVERFLOW,
	VTI_PT_EV_EXEC_MODE,
	VTI_PT_EV_TSX,
	VTI_PT_EV_STOP,
	VTI_PT_EV_EXSTOP,
	VTI_PT_EV_MWAIT,
	VTI_PT_EV_PWRE,
	VTI_PT_EV_PWRX,
	VTI_PT_EV_PTWRITE,
	VTI_PT_EV_CBR,
	VTI_PT_EV_MNT,
};

struct vti_pt_event {
	uint8_t type; /* enum vti_pt_event_type */
	bool suppressed;
	bool status; /* from a PSB */
	bool flag;
	uint64_t from; /* async: where */
	uint64_t ip;   /* where it happens, or where it leads */
	uint64_t value;
	uint64_t extra;
};

/* Events wait for the packet that they bind to, the oldest first. */
#define VTI_PT_QUEUE 6
enum vti_pt_binding { VTI_PT_BIND_PSBEND, VTI_PT_BIND_TIP, VTI_PT_BIND_FUP, VTI_PT_NBINDINGS };

struct vti_pt_queue {
	struct vti_pt_event at[VTI_PT_QUEUE];
	unsigned count;
};

/* The instruction that a walk has reached. */
struct vti_pt_insn {
	uint64_t ip;
	uint64_t next;
	uint64_t target;
	uint8_t end;  /* enum vt_pt_end */
	uint8_t mark; /* enum vt_pt_mark */
	bool vm_entry;
};

struct vti_pt_query {
	unsigned errata;

	/* Packets. */
	uint8_t next; /* kind of the packet at `pos`, or VTI_PT_NONE, VTI_PT_UNKNOWN */
	bool has_tsc; /* since the beginning of the trace, or its last damage */
	bool has_tma; /* since the last TSC */
	bool enabled;
	bool consume;	     /* the packet of the event has to be taken, too */
	bool published;	     /* `event` has been found */
	const uint8_t *sync; /* the PSB where decoding began */
	struct vti_pt_event event;
	struct vti_pt_queue queues[VTI_PT_NBINDINGS];

	/* The walk. */
	bool processing; /* `current` has been found, not yet taken */
	bool postponed;	 /* `insn` has been put out, but w->ip is still before it */
	bool bound_paging;
	bool bound_vmcs;
	bool bound_ptwrite;
	bool branched;	/* the last piece of code put out ended in a transfer of control */
	unsigned flags; /* of the last query */
	struct vti_pt_event current;
	struct vti_pt_insn insn;

	/* The first `open_insns` instructions of a block have been walked, but not yet put out. */
	uint32_t open_index;
	unsigned open_insns;

	/* The epoch in which each block was last entered.  Decisions and events begin epochs. */
	uint64_t *entered;
	size_t nentered;
	uint64_t epoch;

	uint8_t decision; /* the end of the last block put out if it needs a packet; or
			     VT_PT_END_FALL */
	bool has_mode;	  /* the trace has given the mode of the code since the last gap */
	bool started;
	bool ended;
	bool stopped; /* by `held`, a note that has to wait */
	struct vt_pt_note held;
	struct vti_pt_cursor cursor; /* the clock */
	uint64_t until;
	int status; /* VTI_PT_PENDING, VTI_PT_AT_END */

	struct vti_pt_reported reported;
};

struct vti_pt_runs;

struct vti_pt_walk {
	/* The trace; `pos` is at the next packet to be taken. */
	const uint8_t *begin;
	const uint8_t *end;
	const uint8_t *pos;

	/* The last address that a packet gave. */
	uint64_t last_ip;
	bool has_last_ip; /* false: none since the last PSB */
	bool ip_suppressed;

	/* Where execution stands. */
	uint64_t ip;
	uint8_t mode; /* 16, 32, 64; 0: not known */
	bool enabled;

	/* Decisions that have not been used up: the oldest is in bit tnt_count-1. */
	uint8_t tnt_count;
	uint64_t tnt;

	/*
	 * A ring of return addresses.  The newest is in (ret_top - 1) % VTI_PT_RETURNS.  There are
	 * ret_count, at most VTI_PT_RETURNS: when the ring is full the oldest is overwritten.
	 */
	uint32_t ret_top;
	uint32_t ret_count;
	uint64_t ret[VTI_PT_RETURNS];
	uint32_t ret_high; /* the most that ret_count has been */

	/*
	 * For the accelerator: the clock after the packets before `pos`, the clock at the last
	 * packet that was used up, and the end of that packet.
	 */
	struct vt_pt_timing timing;
	struct vt_pt_timing settled;
	const uint8_t *used;
	bool saw_tsc; /* it has taken a TSC packet */
	struct vti_pt_marked marked;

	const struct vt_pt_code *code;
	struct vt_pt_blocks *blocks;

	/*
	 * The batch.  No step begins with nids >= VT_PT_BATCH, and each puts out less than
	 * VTI_PT_MARGIN blocks, for which the accelerator makes room in `ids` beforehand.
	 */
	struct vti_pt_output out;

	/*
	 * With several threads (parallel.h).  stop: walk only to the lazy state at or after it, if
	 * not NULL; reached: the walk is there.  lock: protects `blocks`, if not NULL.
	 */
	const uint8_t *stop;
	bool reached;
	pthread_mutex_t *lock;

	struct vt_pt_options opt;
	struct vti_pt_query query; /* the walker's: packets read ahead, events */
	struct vti_pt_runs *runs;  /* the accelerator's, or NULL */
	uint64_t generation;	   /* of the code that runs were made of */
	bool careful;		   /* does not use the accelerator */
	int error;		   /* 0 or -VT_E_NOMEM: sticks */
};

/* A walk from the beginning of `trace`, which is borrowed until it is closed.  NULL: no memory. */
struct vti_pt_walk *vti_pt_walk_open(const uint8_t *trace, size_t size,
				     const struct vt_pt_options *opt, struct vt_error *err);
void vti_pt_walk_close(struct vti_pt_walk *w);

/* Decodes the next batch, like `next` of vt_pt_engine_ops, but at most up to w->stop. */
int vti_pt_walk_next(struct vti_pt_walk *w, uint64_t until, struct vt_pt_batch *batch,
		     struct vt_error *err);

/*
 * Locks and unlocks w->lock, if there is one.  It is held only for a short time, so the first spins
 * for a while before it sleeps.
 */
void vti_pt_walk_lock(struct vti_pt_walk *w);
void vti_pt_walk_unlock(struct vti_pt_walk *w);

/*
 * The accelerator.  In the lazy state with tnt_count == 0 and nids < VT_PT_BATCH, takes any number
 * of packets and returns in the lazy state.  Returns how many it took; 0: none, and nothing has
 * changed; or -VT_E_NOMEM.
 *
 * It takes a TNT or TIP only if the next packet other than PAD is a TNT, TIP or TIP.PGD, or one of
 * timing that it takes as well: the reference reads ahead, and fails at a packet if the next one is
 * bad.  It stops before code that is missing or bad, before a loop without trace, and before a
 * suppressed address.  At the first decision of each packet it copies `timing` to `settled`, if it
 * has moved, and calls vti_pt_walk_mark(w, &w->settled) before the block after that decision.
 * `used` is then the end of the last packet of which it took a decision.
 */
int vti_pt_run_fast_loop(struct vti_pt_walk *w);

/* Adds a time mark before the next block unless the time is that of the last one. */
static inline void vti_pt_walk_mark(struct vti_pt_walk *w, const struct vt_pt_timing *t)
{
	if (!vti_pt_output_mark(&w->out, &w->marked, t))
		w->error = -VT_E_NOMEM;
}

/* Pushes to, and pops from, the return stack. */
static inline void vti_pt_walk_push(struct vti_pt_walk *w, uint64_t ip)
{
	w->ret[w->ret_top++ % VTI_PT_RETURNS] = ip;
	if (w->ret_count < VTI_PT_RETURNS)
		w->ret_count++;
	if (w->ret_high < w->ret_count)
		w->ret_high = w->ret_count;
}

static inline bool vti_pt_walk_pop(struct vti_pt_walk *w, uint64_t *ip)
{
	if (!w->ret_count)
		return false;
	w->ret_count--;
	*ip = w->ret[--w->ret_top % VTI_PT_RETURNS];
	return true;
}

enum { VTI_PT_NONE = 254, VTI_PT_UNKNOWN = 255 };

/* query.c: the next decision, address or event; flags, or a negative fault. */
int vti_pt_query_sync(struct vti_pt_walk *w, const uint8_t *psb, uint64_t *ip);
int vti_pt_query_cond(struct vti_pt_walk *w, bool *taken);
int vti_pt_query_indirect(struct vti_pt_walk *w, uint64_t *ip);
int vti_pt_query_event(struct vti_pt_walk *w, struct vti_pt_event *ev);

/* How a packet may be used, by its kind. */
enum vti_pt_use {
	VTI_PT_TAKES_TNT = 1,
	VTI_PT_TAKES_TIP = 2,
	VTI_PT_EVENT = 4,	  /* it is an event */
	VTI_PT_EVENT_FUP = 8,	  /* an event may wait for it */
	VTI_PT_EVENT_PSBEND = 16, /* an event of a PSB+ may be left */
	VTI_PT_IN_HEADER = 32,	  /* it may be in a PSB+ */
};
unsigned vti_pt_uses(uint8_t kind);

/* The kind of the packet at p by its opcode alone, into *kind; 0 or -VTI_PT_EOS. */
int vti_pt_fetch(const uint8_t *p, const uint8_t *end, uint8_t *kind);

/* The packet at p; its size, or a negative fault. */
int vti_pt_packet(const struct vti_pt_walk *w, struct vt_pt_packet *out, const uint8_t *p);

/*
 * The same, to look ahead.  Like the reference, it gives a TMA corrupted by erratum SKZ84 the kind
 * VTI_PT_UNKNOWN, and takes a CYC that hides an OVF for a CYC.
 */
int vti_pt_peek(const struct vti_pt_walk *w, struct vt_pt_packet *pkt, const uint8_t *p);

/*
 * Skips the packets from *p on whose kinds are in `passed` (VT_PT_BIT()).  *p and *pkt are then the
 * first other packet; returns its size or a negative fault.  Each packet goes through
 * vti_pt_check_timing() if `timing` is not NULL.
 */
int vti_pt_peek_past(const struct vti_pt_walk *w, uint64_t passed, struct vti_pt_query *timing,
		     const uint8_t **p, struct vt_pt_packet *pkt);

/* The same for the packet at w->pos. */
int vti_pt_fetch_next(struct vti_pt_walk *w);
int vti_pt_read(struct vti_pt_walk *w, struct vt_pt_packet *p);

/* take.c: takes the packet at w->pos, or an event of it.  0 or a negative fault. */
int vti_pt_take_packet(struct vti_pt_walk *w);

/* True if the packet at w->pos has an event. */
bool vti_pt_has_event(const struct vti_pt_query *q);

/* Appends an event to a queue; NULL if that is full. */
struct vti_pt_event *vti_pt_enqueue(struct vti_pt_query *q, enum vti_pt_binding b, unsigned type);

/* Sets q->event, and publishes it. */
struct vti_pt_event *vti_pt_publish(struct vti_pt_query *q, unsigned type);

/* Resets the state decoded from packets, except the time. */
void vti_pt_query_reset(struct vti_pt_walk *w);

/*
 * Checks a packet if it is one of timing: a TMA needs a TSC before it, and the ratio of a CBR is
 * not 0.  0 or a negative fault.
 */
int vti_pt_check_timing(struct vti_pt_query *q, const struct vt_pt_packet *p);

/* overflow.c: takes the OVF packet at w->pos.  0 or a negative fault. */
int vti_pt_overflow(struct vti_pt_walk *w);

/* Takes the address of a packet, or that it is suppressed. */
void vti_pt_take_ip(struct vti_pt_walk *w, const struct vt_pt_packet *p);
int vti_pt_last_ip(const struct vti_pt_walk *w, uint64_t *ip);
void vti_pt_forget_ip(struct vti_pt_walk *w);

/*
 * bind.c: checks for events at w->ip that need no more code; behind_code: code has been walked up
 * to there.  VTI_PT_PENDING if there is one, VTI_PT_AT_END, or a negative fault.
 */
int vti_pt_walk_trailing(struct vti_pt_walk *w, bool behind_code);

/* Walks one more block, or to an event.  Returns the same. */
int vti_pt_walk_block(struct vti_pt_walk *w);

/* notes.c: takes the event that has been reached.  Returns the same. */
int vti_pt_walk_take_event(struct vti_pt_walk *w);

/* Adds a note to the batch, or holds it and stops if it has to wait.  False: no memory. */
bool vti_pt_walk_note(struct vti_pt_walk *w, const struct vt_pt_note *n);

/* walk.c: where to stop in code: at an address, or after an instruction of a kind. */
enum vti_pt_want {
	VTI_PT_WANT_NOTHING,
	VTI_PT_WANT_IP,
	VTI_PT_WANT_CR3,
	VTI_PT_WANT_PAGING,
	VTI_PT_WANT_VMCS,
	VTI_PT_WANT_PTWRITE,
};

/* True if the instruction is of the wanted kind. */
bool vti_pt_insn_is(const struct vti_pt_insn *insn, enum vti_pt_want want);

/*
 * Walks code from w->ip on until what is wanted: an address, or the first instruction of a kind,
 * which is put out although w->ip is its address.  1, with that instruction in *last; or a negative
 * fault.  VTI_PT_QUERY: *last, at w->ip, needs a decision.
 */
int vti_pt_walk_code(struct vti_pt_walk *w, enum vti_pt_want want, uint64_t ip,
		     struct vti_pt_insn *last);

/* Puts out the one instruction at w->ip, which stays there.  1 or a negative fault. */
int vti_pt_walk_one(struct vti_pt_walk *w, struct vti_pt_insn *last);

/* The instruction at an address; 0 or a negative fault. */
int vti_pt_walk_insn(struct vti_pt_walk *w, uint64_t ip, struct vti_pt_insn *insn);

/* Puts out the walked part of a block.  0 or a negative fault. */
int vti_pt_walk_flush(struct vti_pt_walk *w);

/* The address after an instruction, without a decision (-VTI_PT_QUERY: it needs one); with one. */
int vti_pt_walk_next_ip(const struct vti_pt_insn *insn, uint64_t *ip);
int vti_pt_walk_decide(struct vti_pt_walk *w, const struct vti_pt_insn *insn);

/* A packet has been used up: blocks may be entered again. */
void vti_pt_walk_begin_epoch(struct vti_pt_walk *w);

#endif
