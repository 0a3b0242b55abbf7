/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_DECODE_FAST_H
#define FORMATS_PT_DECODE_FAST_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "formats/pt/block.h"
#include "formats/pt/decode/engine.h"
#include "formats/pt/packet.h"
#include "formats/pt/timing.h"

/*
 * Inside the engine "fast": the state of one walk along a trace, shared by the walker, which knows
 * everything and does it packet by packet (walk.c), and the accelerator, which knows only runs of
 * TNT and TIP through straight code, and does nothing that it is not sure of (vti_pt_run()).
 *
 * What the two hand to each other is the lazy state: tracing is enabled, no event is pending, `ip`
 * is where execution goes on behind the last decision taken, nothing of the code behind it has been
 * put out, `pos` is at a well-formed TNT or TIP packet, and all before it is taken into account.
 * The accelerator may also leave `pos` at a TIP.PGD: then an event is pending.
 * Decisions of an earlier TNT packet may be left in `tnt`.
 */

struct vti_pt_walk;
struct vti_pt_query;

#define VTI_PT_RETURNS 64 /* return addresses: the depth of the processor's return compression */

/*
 * Entries of `ids` that there is always room for behind VT_PT_BATCH: what a TNT packet of 47
 * decisions leads through, with as many blocks before each as a run may have.
 */
#define VTI_PT_MARGIN 6144

/* With so many notes a batch is full, too. */
#define VTI_PT_NOTES 1024

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
	 * the last packet used up, behind which is `used`.  mark_*: what the last time mark says.
	 */
	struct vt_pt_timing timing;
	struct vt_pt_timing settled;
	const uint8_t *used;
	bool saw_tsc; /* it has taken a TSC packet */
	uint64_t mark_tsc;
	uint64_t mark_cycles;

	const struct vt_pt_code *code;
	struct vt_pt_blocks *blocks;

	/*
	 * The batch.  `ids` has room for VT_PT_BATCH + VTI_PT_MARGIN; nobody starts anything with
	 * nids >= VT_PT_BATCH, and what is started puts out less than VTI_PT_MARGIN blocks.
	 */
	uint32_t *ids;
	size_t nids;
	size_t ids_size;
	uint64_t insns;
	struct vt_pt_note *notes;
	size_t nnotes;
	size_t notes_size;
	struct vt_pt_mark_time *times;
	size_t ntimes;
	size_t times_size;

	/*
	 * With several threads (parallel.h).  stop: go no further than the lazy state at or behind
	 * it, if not NULL; reached: it is there.  lock: who uses blocks holds it, or NULL.
	 */
	const uint8_t *stop;
	bool reached;
	pthread_mutex_t *lock;

	struct vt_pt_options opt;
	struct vti_pt_query *query; /* the walker's: packets read ahead, events */
	void *runs;		    /* the accelerator's, or NULL */
	int error;		    /* 0 or -VT_E_NOMEM: sticks */
};

/*
 * Takes and leaves w->lock, if there is one.  It is held for so short a time that who finds it
 * taken tries for a while before it sleeps.
 */
void vti_pt_walk_lock(struct vti_pt_walk *w);
void vti_pt_walk_unlock(struct vti_pt_walk *w);

/* The engine without the accelerator: what it is to be compared with. */
extern const struct vt_pt_engine_ops vt_pt_careful;

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
int vti_pt_run(struct vti_pt_walk *w);

/* Frees what the accelerator keeps in `runs`; told when blocks get new numbers. */
void vti_pt_run_free(struct vti_pt_walk *w);
void vti_pt_run_forget(struct vti_pt_walk *w);

/* Makes room for another time mark; false: no memory, which sticks. */
bool vti_pt_walk_grow_times(struct vti_pt_walk *w);

/* A time mark before the next block, if the time is not that of the last one. */
static inline void vti_pt_walk_mark(struct vti_pt_walk *w, const struct vt_pt_timing *t)
{
	struct vt_pt_mark_time *m;

	if (t->tsc == w->mark_tsc && t->cycles == w->mark_cycles)
		return;
	if (w->ntimes == w->times_size && !vti_pt_walk_grow_times(w))
		return;
	m = &w->times[w->ntimes++];
	m->at = (uint32_t)w->nids;
	m->tsc = w->mark_tsc = t->tsc;
	m->cycles = w->mark_cycles = t->cycles;
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

#endif
