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
 * An engine decodes Intel PT: it takes the bytes of a trace and the code, and gives the executed
 * blocks.  There are two engines with the same results: "libipt", the reference, and "fast".
 *
 * Blocks are those that vt_pt_blocks_at() finds at an entry.  A note inside a block cuts it
 * (vt_pt_blocks_cut()).  A trace repeats some states: EXEC_MODE and CBR always, TSX, PAGING and
 * VMCS in a PSB+.  These give a note only when the state changes.
 *
 * Decoding begins at the first PSB.  The bytes before it, unless all are padding, are a gap at
 * offset 0 (VT_PT_ERR_BAD_PACKET).  When decoding fails, a gap begins at the next packet to be
 * read, after packets without effect, and ends at the next PSB where decoding can resume, or at the
 * end of the trace.  Its reason is the first failure.  For VT_PT_ERR_NO_CODE, `ip` is the address
 * of the missing code.  An overflow is a gap of 0 bytes at the OVF packet.
 *
 * A block that is entered twice, with no packet used up in between (a bit of a TNT packet, a TIP,
 * an event), is in a loop without trace: the gap begins before the second entry.
 *
 * Decoding can also resume at a PSB whose first bytes a bad packet has taken.  Where an address is
 * needed and a TIP without one comes, the gap begins after that TIP (VT_PT_ERR_NO_IP).
 *
 * A FUP in a PSB+ with tracing disabled is ignored if a TIP.PGE follows and only packets of states
 * and times lie in between: erratum BDM70 is worked around for every processor.
 *
 * Decoding needs a MODE.EXEC after the PSB where it began, which says the mode of the code; else it
 * fails with VT_PT_ERR_MISMATCH.
 *
 * Times: a decision has the time of the first decision of its packet, an event that of its packet
 * (TIP, TIP.PGE or TIP.PGD where it has one), a state in a PSB+ that of the PSBEND, and an error
 * that of the last of these.  Blocks after a decision, a note or a gap get a time mark if the time
 * has moved since the last mark.
 */

/* What happened between two blocks. */
enum vt_pt_note_type {
	VT_PT_NOTE_ENABLED,	   /* ip: tracing resumes there */
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
	VT_PT_NOTE_OVERFLOW, /* a gap: the processor lost packets; ip: where tracing resumes */
	VT_PT_NOTE_ERROR,    /* a gap: `bytes` from `offset` on could not be decoded */
	VT_PT_NNOTES
};

/* Why decoding failed: the reason of a gap. */
enum vt_pt_error {
	VT_PT_ERR_NONE,
	VT_PT_ERR_BAD_PACKET, /* no such packet, or one where it must not be */
	VT_PT_ERR_NO_CODE,    /* the code at `ip` is unknown */
	VT_PT_ERR_BAD_CODE,   /* the bytes at `ip` are no instruction */
	VT_PT_ERR_MISMATCH,   /* the trace and the code contradict each other */
	VT_PT_ERR_RETURN,     /* a compressed return without its call */
	VT_PT_ERR_NO_IP,      /* an address is needed and suppressed */
	VT_PT_ERR_LOOP,	      /* the code at `ip` is an endless loop without trace */
	VT_PT_ERR_OTHER,
	VT_PT_NERRS
};

struct vt_pt_note {
	uint32_t at;   /* it happened before block number `at` of the batch */
	uint8_t type;  /* enum vt_pt_note_type */
	uint8_t error; /* enum vt_pt_error */
	bool status;   /* repeated in a PSB+, not new: it gives no record */
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
 * True if a note waits for what happens at time `until`: the note is not earlier, and may belong to
 * another process than the notes before it.  Such notes resume tracing, change the address space,
 * or need no code.  UINT64_MAX: nothing happens, so no note waits.
 */
static inline bool vt_pt_note_waits(const struct vt_pt_note *n, uint64_t until)
{
	return until != UINT64_MAX && n->tsc >= until &&
	       (n->type == VT_PT_NOTE_ENABLED || n->type == VT_PT_NOTE_PAGING ||
		n->type == VT_PT_NOTE_EXEC_MODE || n->type == VT_PT_NOTE_PTWRITE ||
		(n->type >= VT_PT_NOTE_EXSTOP && n->type <= VT_PT_NOTE_MNT));
}

/* The time at which block number `at` of the batch began. */
struct vt_pt_mark_time {
	uint32_t at;
	uint64_t tsc;
	uint64_t cycles;
};

/* A piece of the decoded trace.  The engine owns the arrays; they are valid until its next call. */
struct vt_pt_batch {
	struct vt_pt_blocks *blocks; /* `ids` are indexes of these */
	const uint32_t *ids;
	size_t nids;
	uint64_t insns;			/* in all these blocks */
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
	unsigned jobs; /* threads, for engines that have them; 0 and 1: only the caller's */
};

/* Takes the processor from a META record "cpuid", if it is one of Intel's. */
void vt_pt_options_meta(struct vt_pt_options *opt, const struct vt_record *rec);

struct vt_pt_engine;

struct vt_pt_engine_ops {
	const char *name;
	/* `trace` is borrowed until the engine is closed. */
	struct vt_pt_engine *(*open)(const uint8_t *trace, size_t size,
				     const struct vt_pt_options *opt, struct vt_error *err);
	/*
	 * Sets the code for the next batches; it is borrowed until the engine is closed.  Called
	 * before the first batch, and when the process changes.
	 */
	int (*set_code)(struct vt_pt_engine *e, const struct vt_pt_code *code,
			struct vt_error *err);
	/*
	 * Decodes the next batch.  1; 0: the trace has ended; negative: out of memory.  Damage
	 * gives a note, not an error.  The batch ends early, and may be empty, before the first
	 * note for which vt_pt_note_waits().
	 */
	int (*next)(struct vt_pt_engine *e, uint64_t until, struct vt_pt_batch *batch,
		    struct vt_error *err);
	void (*close)(struct vt_pt_engine *e);
};

extern const struct vt_pt_engine_ops vt_pt_libipt;
extern const struct vt_pt_engine_ops vt_pt_fast;
extern const struct vt_pt_engine_ops vt_pt_careful; /* fast without its accelerator, for tests */

/* The engine when none is named. */
#define VT_PT_DEFAULT_ENGINE "fast"

/* The engine of that name, or NULL. */
const struct vt_pt_engine_ops *vt_pt_engine_by_name(const char *name);

/* "no code", …: the reason in a GAP record. */
const char *vt_pt_error_text(unsigned error);

#endif
