/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_DECODE_ENGINE_H
#define FORMATS_PT_DECODE_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "formats/pt/block.h"
#include "formats/pt/code.h"
#include "formats/pt/timing.h"
#include "stream/record.h"

/*
 * A decoder of Intel PT: bytes of a trace and code in, executed blocks out.  There are two, which
 * give the same: "libipt", the reference, and "fast".
 *
 * Blocks are those of vt_pt_blocks_at() from an entry on, and are cut (vt_pt_blocks_cut()) where a
 * note lies inside.  A state that the trace tells again (EXEC_MODE and CBR always, TSX, PAGING and
 * VMCS in a PSB+) is a note only where it differs from what was told last.
 *
 * Decoding begins at the first PSB; what lies before it, if it is not all padding, is a gap from
 * offset 0 (VT_PT_ERR_BAD_PACKET).  Where it fails, a gap begins at the packet that would have been
 * read next, packets of no consequence being passed already, and reaches to the next PSB behind
 * that from which decoding can go on, or to the end; its reason is the first failure.  For
 * VT_PT_ERR_NO_CODE, `ip` is the address of the missing code.  An overflow is a gap of no bytes at
 * the OVF packet.
 *
 * A block whose entry has been the entry of another one since a packet was last used up (a bit of a
 * TNT packet, a TIP, an event) is the second turn of a loop that leaves no trace: the gap begins
 * before it.
 *
 * A PSB of which a bad packet took the first bytes is one to go on at, too.  Where an address is
 * needed and a TIP without one comes, the gap begins behind that TIP (VT_PT_ERR_NO_IP).
 *
 * A FUP in a PSB+ with tracing disabled counts for nothing if a TIP.PGE follows, with no packets
 * but those of states and times in between: erratum BDM70 is worked around for every processor.
 *
 * Nothing is executed before a MODE.EXEC behind the PSB where decoding began has told what code it
 * is: VT_PT_ERR_MISMATCH.
 *
 * Times: that of a decision is the clock's at the first decision of its packet, that of an event at
 * its packet (TIP, TIP.PGE or TIP.PGD where it has one), that of what a PSB+ tells at PSBEND, that
 * of an error as at the last of these.  Blocks behind a decision, a note, or a gap get a time mark
 * if the time has moved since the last mark.
 */

/* What happened between two blocks. */
enum vt_pt_note_type {
	VT_PT_NOTE_ENABLED,	   /* ip: tracing goes on there */
	VT_PT_NOTE_DISABLED,	   /* to: first address that is not traced, if known */
	VT_PT_NOTE_ASYNC_DISABLED, /* ip: where; to */
	VT_PT_NOTE_ASYNC_BRANCH,   /* ip: from; to: an interrupt, an exception, an abort */
	VT_PT_NOTE_PAGING,	   /* value: CR3; flag: nonroot */
	VT_PT_NOTE_VMCS,	   /* value: its base */
	VT_PT_NOTE_EXEC_MODE,	   /* value: 16, 32, 64 */
	VT_PT_NOTE_TSX,		   /* value: bit 0 in a transaction, bit 1 aborted */
	VT_PT_NOTE_STOP,
	VT_PT_NOTE_EXSTOP,
	VT_PT_NOTE_MWAIT, /* value: hints; extra: extensions */
	VT_PT_NOTE_PWRE,  /* value: state; extra: sub-state */
	VT_PT_NOTE_PWRX,  /* value: last and deepest core state (packet.h); extra: wake reason, not
			     bit 1 */
	VT_PT_NOTE_PTWRITE,  /* value; extra: its bytes */
	VT_PT_NOTE_CBR,	     /* value: core to bus ratio */
	VT_PT_NOTE_MNT,	     /* value */
	VT_PT_NOTE_OVERFLOW, /* a gap: packets were lost in the processor; ip: where it goes on */
	VT_PT_NOTE_ERROR,    /* a gap: from `offset` on nothing could be decoded for `bytes` */
	VT_PT_NNOTES
};

/* Why decoding failed: the reason of a gap. */
enum vt_pt_error {
	VT_PT_ERR_NONE,
	VT_PT_ERR_BAD_PACKET, /* no such packet, or one where it must not be */
	VT_PT_ERR_NO_CODE,    /* nothing is known of the code at `ip` */
	VT_PT_ERR_BAD_CODE,   /* the bytes at `ip` are no instruction */
	VT_PT_ERR_MISMATCH,   /* the trace and the code contradict each other */
	VT_PT_ERR_RETURN,     /* a compressed return without its call */
	VT_PT_ERR_NO_IP,      /* an address is needed and suppressed */
	VT_PT_ERR_LOOP,	      /* the code at `ip` is a loop without end that leaves no trace */
	VT_PT_ERR_OTHER,
	VT_PT_NERRS
};

struct vt_pt_note {
	uint32_t at;   /* it happened before block number `at` of the batch */
	uint8_t type;  /* enum vt_pt_note_type */
	uint8_t error; /* enum vt_pt_error */
	bool status;   /* told again at a PSB, not new: no record is made of it */
	bool flag;
	bool has_ip;
	bool has_to;
	uint64_t offset; /* in the trace */
	uint64_t bytes;
	uint64_t ip;
	uint64_t to;
	uint64_t value;
	uint64_t extra;
	uint64_t tsc; /* 0: not known */
	uint64_t cycles;
};

/*
 * Whether a note waits for what happens at time `until`: its time is not before that, and it may
 * be of another process than the notes before it.  Such notes tell that tracing goes on or that the
 * address space changes, or have no code.  UINT64_MAX: nothing happens, so no note waits.
 */
static inline bool vt_pt_note_waits(const struct vt_pt_note *n, uint64_t until)
{
	return until != UINT64_MAX && n->tsc >= until &&
	       (n->type == VT_PT_NOTE_ENABLED || n->type == VT_PT_NOTE_PAGING ||
		n->type == VT_PT_NOTE_EXEC_MODE || n->type == VT_PT_NOTE_PTWRITE ||
		(n->type >= VT_PT_NOTE_EXSTOP && n->type <= VT_PT_NOTE_MNT));
}

/* The time before block number `at` of the batch began. */
struct vt_pt_mark_time {
	uint32_t at;
	uint64_t tsc;
	uint64_t cycles;
};

/* A piece of the decoded trace; arrays are the engine's, and good until its next call. */
struct vt_pt_batch {
	struct vt_pt_blocks *blocks; /* whose indexes `ids` are */
	const uint32_t *ids;
	size_t nids;
	uint64_t insns;			/* sum of the blocks' */
	const struct vt_pt_note *notes; /* in the order of `at` */
	size_t nnotes;
	const struct vt_pt_mark_time *times; /* in the order of `at` */
	size_t ntimes;
};

#define VT_PT_BATCH 65536 /* blocks of a batch, about */

struct vt_pt_options {
	struct vt_pt_clock clock;
	/* The processor, for errata: CPUID's family, model, stepping; all 0 if unknown. */
	uint16_t family;
	uint8_t model;
	uint8_t stepping;
	unsigned jobs; /* threads, for engines that can; 0 and 1: none but the caller's */
};

/* Takes the processor from a META record, if that tells of one of Intel's. */
void vt_pt_options_meta(struct vt_pt_options *opt, const struct vt_record *rec);

struct vt_pt_engine;

struct vt_pt_engine_ops {
	const char *name;
	/* `trace` is borrowed until the engine is closed. */
	struct vt_pt_engine *(*open)(const uint8_t *trace, size_t size,
				     const struct vt_pt_options *opt, struct vt_error *err);
	/*
	 * From the next batch on the code is this, which is borrowed until the engine is closed;
	 * before the first batch, and for a change of process.
	 */
	int (*set_code)(struct vt_pt_engine *e, const struct vt_pt_code *code,
			struct vt_error *err);
	/*
	 * The next piece.  1; 0: the trace is at its end; negative: out of memory.  Damage is no
	 * error but a note.  It stops early, with whatever it has, perhaps nothing, before the
	 * first note for which vt_pt_note_waits().
	 */
	int (*next)(struct vt_pt_engine *e, uint64_t until, struct vt_pt_batch *batch,
		    struct vt_error *err);
	void (*close)(struct vt_pt_engine *e);
};

extern const struct vt_pt_engine_ops vt_pt_libipt;
extern const struct vt_pt_engine_ops vt_pt_fast;
extern const struct vt_pt_engine_ops vt_pt_careful; /* fast without its accelerator, for tests */

/* The engine of who names none. */
#define VT_PT_DEFAULT_ENGINE "fast"

/* The engine of that name, or NULL. */
const struct vt_pt_engine_ops *vt_pt_engine_by_name(const char *name);

/* "no code", …: the reason in a GAP record. */
const char *vt_pt_error_text(unsigned error);

#endif
