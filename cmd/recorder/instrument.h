/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORDER_INSTRUMENT_H
#define CMD_RECORDER_INSTRUMENT_H

#include "cmd/recorder/recorder.h"

/*
 * The pass over one translation.  It is divided into blocks at its side exits, so that the output
 * of a block has a fixed size: one id and the values of its slots, at fixed offsets from the
 * cursors at the start of the block.
 */
struct pass {
	IRSB *out;
	Int shadow;	  /* the offset of the shadow registers */
	Bool open;	  /* a block is being built: */
	IRTemp data, ids; /* the cursors at its start */
	IRConst *id;	  /* its id, which is set at its end */
	Addr addr, last;  /* its first and its last instruction */
	UInt last_length;
	UInt size;
	UInt ninsns;
	UInt nslots;
	UInt data_size;
	UInt insn_data; /* data_size and nslots before the last instruction */
	UInt insn_slots;
	UInt written[2];  /* general and vector registers that the last instruction wrote */
	UChar extent[16]; /* bytes of each vector register that it wrote, from the lowest */
	Bool loaded;	  /* it had an ordinary load */
	Bool repeated;	  /* it is a repeated string instruction */
	Bool no_memory;	  /* its memory accesses are not the program's */
	UChar lengths[BLOCK_MAX_INSNS];
	ULong slots[BLOCK_MAX_SLOTS];
};

/* Statements and expressions. */
void pass_add(struct pass *p, IRStmt *st);
IRExpr *pass_assign(struct pass *p, IRType type, IRExpr *e);
IRExpr *pass_u64(ULong x);

/* Adds code that captures the values of a statement: before the statement, and after it. */
void capture_before(struct pass *p, const IRStmt *st);
void capture_after(struct pass *p, const IRStmt *st);

/* Captures the registers that the last instruction has written. */
void capture_results(struct pass *p);

/* Captures the registers that pass arguments. */
void capture_args(struct pass *p);

/* True if a statement accesses memory or has other values to capture. */
Bool capture_matters(const IRStmt *st);

/* Adds the checks of --toggle at the start of the translation of this address: toggle.c. */
void toggle_instrument(struct pass *p, Addr start);

/* Adds the checks of --heap at the start of the translation of this address: heap.c. */
void heap_instrument(struct pass *p, Addr start);

/* Adds the counting of --skip before an instruction, which counts as `ninsns`: window.c. */
void window_instrument(struct pass *p, Addr ip, UInt ninsns);

/* Undoes the counting if the guard is true: the instruction starts again. */
void window_instrument_again(struct pass *p, IRExpr *guard);

#endif
