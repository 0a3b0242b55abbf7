/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORDER_INSTRUMENT_H
#define CMD_RECORDER_INSTRUMENT_H

#include "cmd/recorder/recorder.h"

/*
 * The pass over one translation.  It is cut into blocks at its side exits, so that what a block
 * says has a fixed size: one id and the values of its slots, at fixed offsets from the cursors that
 * were read where the block begins.
 */
struct pass {
	IRSB *out;
	Int shadow;	  /* where the shadow registers begin */
	Bool open;	  /* a block is being built: */
	IRTemp data, ids; /* the cursors at its start */
	IRConst *id;	  /* where its number goes, which is known at its end */
	Addr addr, last;  /* its first and its last instruction */
	UInt last_length;
	UInt size;
	UInt ninsns;
	UInt nslots;
	UInt data_size;
	UInt insn_data; /* data_size and nslots before the last instruction */
	UInt insn_slots;
	UInt written[2];  /* general registers, low halves of vector registers, that it wrote */
	UChar extent[16]; /* bytes of each vector register that it wrote, from the lowest */
	Bool loaded;	  /* it had an ordinary load */
	Bool repeated;	  /* it is a string instruction that is repeated */
	Bool no_memory;	  /* its accesses are not the program's */
	UChar lengths[BLOCK_MAX_INSNS];
	ULong slots[BLOCK_MAX_SLOTS];
};

/* Statements and expressions. */
void pass_add(struct pass *p, IRStmt *st);
IRExpr *pass_assign(struct pass *p, IRType type, IRExpr *e);
IRExpr *pass_u64(ULong x);

/* What the statement tells is captured: before it is copied, and after. */
void capture_before(struct pass *p, const IRStmt *st);
void capture_after(struct pass *p, const IRStmt *st);

/* What registers the last instruction has written. */
void capture_results(struct pass *p);

/* The registers that pass arguments. */
void capture_args(struct pass *p);

/* Whether it reads or writes memory or is captured for another reason. */
Bool capture_matters(const IRStmt *st);

/* Marks of --toggle, at the start of the translation of this address: toggle.c. */
void toggle_instrument(struct pass *p, Addr start);

/* In front of an instruction, which counts as `ninsns`, for --skip: window.c. */
void window_instrument(struct pass *p, Addr ip, UInt ninsns);

/* It starts again if the guard is true. */
void window_instrument_again(struct pass *p, IRExpr *guard);

#endif
