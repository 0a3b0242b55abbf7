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
 * Inside the engine "fast": the state of one walk along a trace, shared by the walker, which knows
 * everything and does it packet by packet (walk.c), and the accelerator, which knows only runs of
 * TNT and TIP through straight code, and does nothing that it is not sure of (fast_loop.c).
 *
 * What the two hand to each other is the lazy state: tracing is enabled, no event is pending, `ip`
 * is where execution goes on behind the last decision taken, nothing of the code behind it has been
 * put out, `pos` is at a well-formed TNT or TIP packet, and all before it is taken into account.
 * The accelerator may also leave `pos` at a TIP.PGD: then an event is pending.
 * Decisions of an earlier TNT packet may be left in `tnt`.
 *
 * Inside the walker: packets become decisions and events (query.c, take.c, overflow.c), decisions
 * and events lead through code (walk.c, bind.c).  The rules, and what is wrong with a trace that
 * does not keep them, are those of libipt 2.0.5's block decoder.
 */

#define VTI_PT_RETURNS 64 /* return addresses: the depth of the processor's return compression */

/*
 * Entries of `ids` that there is always room for behind VT_PT_BATCH: what a TNT packet of 47
 * decisions leads through, with as many blocks before each as a run may have.
 */
#define VTI_PT_MARGIN 6144

/* With so many notes a batch is full, too. */
#define VTI_PT_NOTES 1024

/* Why a walk cannot go on; functions return them negative. */
enum vti_pt_fault {
	VTI_PT_EOS = 1, /* the trace ends */
	VTI_PT_QUERY,	/* code and trace do not fit: another packet was needed here */
	VTI_PT_OPCODE,	/* no such packet */
	VTI_PT_PACKET,	/* malformed */
	VTI_PT_CONTEXT, /* a packet where it must not be */
	VTI_PT_NOIP,	/* no address so far */
	VTI_PT_SUPPRESSED,
	VTI_PT_FULL,	 /* too many events wait for the same packet */
	VTI_PT_INTERNAL, /* what the reference calls its own fault */
	VTI_PT_RETCOMP,	 /* a return whose decision says no */
	VTI_PT_RETSTACK, /* a compressed return without a call */
	VTI_PT_NOMAP,
	VTI_PT_INSN,
	VTI_PT_DISABLED, /* the trace goes on but tracing is not enabled */
	VTI_PT_STATUS,	 /* a PSB contradicts what was known */
	VTI_PT_NOSYNC,
	VTI_PT_LOOP,
	VTI_PT_NOMEM,
};

/* What answers of vti_pt_query_*() are made of. */
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

/* An instruction that was reached. */
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
	bool has_tsc; /* since the trace, or its last damage */
	bool has_tma; /* since the last TSC */
	bool enabled;
	bool consume;	     /* the packet that an event was found at is to be taken, too */
	bool published;	     /* `event` has been found */
	const uint8_t *sync; /* the PSB that all began at */
	struct vti_pt_event event;
	struct vti_pt_queue queues[VTI_PT_NBINDINGS];

	/* The walk. */
	bool processing; /* `current` has been found, not yet taken */
	bool postponed;	 /* `insn` has been put out, not yet gone past */
	bool bound_paging;
	bool bound_vmcs;
	bool bound_ptwrite;
	bool branched;	/* the last piece of code put out ended in a transfer of control */
	unsigned flags; /* of the last query */
	struct vti_pt_event current;
	struct vti_pt_insn insn;

	/* The first `open_insns` of a block have been walked, and are not yet put out. */
	uint32_t open_index;
	unsigned open_insns;

	/* Which blocks have been entered since the last decision or event: where that is `turn`. */
	uint64_t *entered;
	size_t nentered;
	uint64_t turn;

	uint8_t decision; /* how the last block put out ends, if in one; or VT_PT_END_FALL */
	bool has_mode;	  /* the mode of the code was told since the last gap */
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
	/* The trace; `pos` is at the next packet that is not yet taken into account. */
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

	/* Decisions that are not used up: the oldest in bit tnt_count-1. */
	uint8_t tnt_count;
	uint64_t tnt;

	/*
	 * A ring of return addresses.  The newest is in (ret_top - 1) % VTI_PT_RETURNS; there are
	 * ret_count, at most VTI_PT_RETURNS: then the oldest is overwritten.
	 */
	uint32_t ret_top;
	uint32_t ret_count;
	uint64_t ret[VTI_PT_RETURNS];
	uint32_t ret_high; /* the most that ret_count has been */

	/*
	 * For the accelerator, the clock as the packets before `pos` have set it, and as it was at
	 * the last packet used up, behind which is `used`.
	 */
	struct vt_pt_timing timing;
	struct vt_pt_timing settled;
	const uint8_t *used;
	bool saw_tsc; /* it has taken a TSC packet */
	struct vti_pt_marked marked;

	const struct vt_pt_code *code;
	struct vt_pt_blocks *blocks;

	/*
	 * The batch.  `ids` has room for VT_PT_BATCH + VTI_PT_MARGIN; nobody starts anything with
	 * nids >= VT_PT_BATCH, and what is started puts out less than VTI_PT_MARGIN blocks.
	 */
	struct vti_pt_output out;

	/*
	 * With several threads (parallel.h).  stop: go no further than the lazy state at or behind
	 * it, if not NULL; reached: it is there.  lock: who uses blocks holds it, or NULL.
	 */
	const uint8_t *stop;
	bool reached;
	pthread_mutex_t *lock;

	struct vt_pt_options opt;
	struct vti_pt_query query; /* the walker's: packets read ahead, events */
	struct vti_pt_runs *runs;  /* the accelerator's, or NULL */
	uint64_t generation;	   /* of the code that runs were made of */
	bool careful;		   /* do without the accelerator */
	int error;		   /* 0 or -VT_E_NOMEM: sticks */
};

/* A walk from the beginning of `trace`, which is borrowed until its end.  NULL: no memory. */
struct vti_pt_walk *vti_pt_walk_open(const uint8_t *trace, size_t size,
				     const struct vt_pt_options *opt, struct vt_error *err);
void vti_pt_walk_close(struct vti_pt_walk *w);

/* The next piece, as `next` of vt_pt_engine_ops has it, or up to w->stop. */
int vti_pt_walk_next(struct vti_pt_walk *w, uint64_t until, struct vt_pt_batch *batch,
		     struct vt_error *err);

/*
 * Takes and leaves w->lock, if there is one.  It is held for so short a time that who finds it
 * taken tries for a while before it sleeps.
 */
void vti_pt_walk_lock(struct vti_pt_walk *w);
void vti_pt_walk_unlock(struct vti_pt_walk *w);

/*
 * The accelerator.  From the lazy state with tnt_count == 0 and nids < VT_PT_BATCH, consumes any
 * number of packets and comes back in the lazy state: returns how many packets it took, 0 if none,
 * and then nothing has changed; or -VT_E_NOMEM.  It takes a TNT or TIP only if the next packet but
 * PAD is a TNT, TIP or TIP.PGD, too, or one of timing that it takes as well: the reference reads
 * ahead, and what is wrong behind a packet spoils it.  It never runs into code that is missing or
 * bad, nor into a loop that leaves no trace, nor past an address that is suppressed: it stops
 * before. At the first decision of each packet it copies `timing` to `settled`, if it has moved,
 * and, before the first block behind it, calls vti_pt_walk_mark(w, &w->settled); `used` it leaves
 * behind the last packet of which it took a decision.
 */
int vti_pt_run_fast_loop(struct vti_pt_walk *w);

/* Adds a time mark before the next block unless the time is that of the last one. */
static inline void vti_pt_walk_mark(struct vti_pt_walk *w, const struct vt_pt_timing *t)
{
	if (!vti_pt_output_mark(&w->out, &w->marked, t))
		w->error = -VT_E_NOMEM;
}

/* The return stack. */
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

/* query.c: what comes next; flags, or a negative fault. */
int vti_pt_query_sync(struct vti_pt_walk *w, const uint8_t *psb, uint64_t *ip);
int vti_pt_query_cond(struct vti_pt_walk *w, bool *taken);
int vti_pt_query_indirect(struct vti_pt_walk *w, uint64_t *ip);
int vti_pt_query_event(struct vti_pt_walk *w, struct vti_pt_event *ev);

/* What a packet may be good for, by its kind. */
enum vti_pt_use {
	VTI_PT_TAKES_TNT = 1,
	VTI_PT_TAKES_TIP = 2,
	VTI_PT_EVENT = 4,	  /* by itself, */
	VTI_PT_EVENT_FUP = 8,	  /* if one waits for it */
	VTI_PT_EVENT_PSBEND = 16, /* if one is left of a PSB+ */
	VTI_PT_IN_HEADER = 32,	  /* it may be in a PSB+ */
};
unsigned vti_pt_uses(uint8_t kind);

/* The kind of the packet at p by its opcode alone, into *kind; 0 or -VTI_PT_EOS. */
int vti_pt_fetch(const uint8_t *p, const uint8_t *end, uint8_t *kind);

/* The packet at p; its size, or a negative fault. */
int vti_pt_packet(const struct vti_pt_walk *w, struct vt_pt_packet *out, const uint8_t *p);

/*
 * The same for who only looks what is coming.  As the reference has it, a TMA corrupted by erratum
 * SKZ84 is then of the kind VTI_PT_UNKNOWN, and a CYC that hides an OVF is nothing but a CYC.
 */
int vti_pt_peek(const struct vti_pt_walk *w, struct vt_pt_packet *pkt, const uint8_t *p);

/*
 * Skips the packets from *p on whose kinds are in `passed` (VT_PT_BIT()).  *p is then at the first
 * other packet, which is in *pkt; returns its size or a negative fault.  Each packet goes through
 * vti_pt_check_timing() if `timing` is not NULL.
 */
int vti_pt_peek_past(const struct vti_pt_walk *w, uint64_t passed, struct vti_pt_query *timing,
		     const uint8_t **p, struct vt_pt_packet *pkt);

/* The same for the packet at w->pos. */
int vti_pt_fetch_next(struct vti_pt_walk *w);
int vti_pt_read(struct vti_pt_walk *w, struct vt_pt_packet *p);

/* take.c: takes the packet at w->pos, or an event from it.  0 or a negative fault. */
int vti_pt_take_packet(struct vti_pt_walk *w);

/* Does an event come with the packet at w->pos? */
bool vti_pt_will_event(const struct vti_pt_query *q);

/* Enters an event in a queue; NULL if it is full. */
struct vti_pt_event *vti_pt_enqueue(struct vti_pt_query *q, enum vti_pt_binding b, unsigned type);

/* Sets q->event, and publishes it. */
struct vti_pt_event *vti_pt_publish(struct vti_pt_query *q, unsigned type);

/* Forgets all that packets have said but the time. */
void vti_pt_query_reset(struct vti_pt_walk *w);

/*
 * Notes the packets of time among others: a TMA belongs to a TSC before it, no clock stands still.
 * 0 or a negative fault.
 */
int vti_pt_check_timing(struct vti_pt_query *q, const struct vt_pt_packet *p);

/* overflow.c: takes the OVF packet at w->pos.  0 or a negative fault. */
int vti_pt_overflow(struct vti_pt_walk *w);

/* Takes an address, or that it is suppressed, from a packet. */
void vti_pt_take_ip(struct vti_pt_walk *w, const struct vt_pt_packet *p);
int vti_pt_last_ip(const struct vti_pt_walk *w, uint64_t *ip);
void vti_pt_forget_ip(struct vti_pt_walk *w);

/* bind.c */
int vti_pt_walk_trailing(struct vti_pt_walk *w, bool behind_code);

int vti_pt_walk_block(struct vti_pt_walk *w);

/* notes.c: takes the event that has been reached: status, or a negative fault. */
int vti_pt_walk_take(struct vti_pt_walk *w);
bool vti_pt_walk_note(struct vti_pt_walk *w, const struct vt_pt_note *n);

/* walk.c: how far code leads. */
enum vti_pt_want {
	VTI_PT_WANT_NOTHING,
	VTI_PT_WANT_IP,
	VTI_PT_WANT_CR3,
	VTI_PT_WANT_PAGING,
	VTI_PT_WANT_VMCS,
	VTI_PT_WANT_PTWRITE,
};

bool vti_pt_insn_is(const struct vti_pt_insn *insn, enum vti_pt_want want);

/*
 * Puts code out from w->ip on until what is wanted: an address, or behind the first instruction of
 * a sort, w->ip being still its address.  1, with the last instruction in *last; or a negative
 * fault, VTI_PT_QUERY if *last cannot be gone past without a decision: w->ip is its address.
 */
int vti_pt_walk_code(struct vti_pt_walk *w, enum vti_pt_want want, uint64_t ip,
		     struct vti_pt_insn *last);

/* Puts out the one instruction at w->ip, which stays there.  1 or a negative fault. */
int vti_pt_walk_one(struct vti_pt_walk *w, struct vti_pt_insn *last);

/* The instruction at an address; 0 or a negative fault. */
int vti_pt_walk_insn(struct vti_pt_walk *w, uint64_t ip, struct vti_pt_insn *insn);

/* Puts out what has been walked of a block.  0 or a negative fault. */
int vti_pt_walk_flush(struct vti_pt_walk *w);

/* Goes past an instruction: without a decision, -VTI_PT_QUERY if it needs one; with one. */
int vti_pt_walk_next_ip(const struct vti_pt_insn *insn, uint64_t *ip);
int vti_pt_walk_decide(struct vti_pt_walk *w, const struct vti_pt_insn *insn);

/* A packet has been used up: what has been entered before may be entered again. */
void vti_pt_walk_moved(struct vti_pt_walk *w);

#endif
