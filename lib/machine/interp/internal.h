/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_INTERP_INTERNAL_H
#define VT_MACHINE_INTERP_INTERNAL_H

#include "machine/interp/interp.h"

#include <libvex_guest_amd64.h>

#include "base/hash.h"
#include "machine/lift/evex.h"
#include "machine/lift/flat.h"

/* Definitions that the interpreter's files share. */

/* The guest state has a word for each 8 bytes; what AVX-512 adds lies behind VEX's. */
#define VTI_STATE_WORDS (VTI_STATE_BYTES / 8)

/* Index of a field of VEX's guest state. */
#define VTI_STATE(field) (offsetof(VexGuestAMD64State, guest_##field) / 8)

struct vti_code;

/* The block that followed another one the last time. */
struct vti_link {
	uint64_t addr;
	struct vti_code *code; /* NULL: none yet */
};

/* A lifted block that is kept. */
struct vti_code {
	struct vti_block *block;
	struct vti_code *other; /* what was lifted from other bytes at the same address, or NULL */
	uint64_t checked;	/* the last vt_interp.checks for which its bytes were right */
	uint32_t size;		/* of the bytes that it was lifted from */
	struct vti_link end;
	struct vti_link exit;
	uint32_t part_insns; /* maximum number of instructions of `part` */
	struct vti_code *part;
	uint8_t bytes[];
};

#define VTI_NEAR_BITS 15 /* log2 of the number of blocks in the cache of the table */
#define VTI_NEAR      ((size_t)1 << VTI_NEAR_BITS)

struct vti_near {
	uint64_t space;
	uint64_t addr;
	struct vti_code *code;
};

struct vt_interp {
	struct vt_word state[VTI_STATE_WORDS];
	bool wide; /* the part of it that AVX-512 adds may be known */
	struct vt_known_memory *mem;
	struct vti_fpmode fp;
	struct vt_interp_options opt;

	/* the current run */
	uint64_t space;
	struct vti_code *code; /* the block */
	uint64_t insns;	       /* instructions before the block, since vt_interp_clear() */
	uint64_t left;	       /* instructions that may still be run after the block */
	uint32_t piece;	       /* of a path: number of the block's first instruction */
	bool following;	       /* a path; else free */
	const struct vt_interp_hooks *hooks; /* empty in a free run */

	/* lifted code */
	struct vt_hash blocks; /* struct kept of machine/interp/code.c, by space and address */
	struct vti_near *near;
	uint64_t checks; /* how often vt_interp_recheck_code() was called */
	size_t code_size;
	uint64_t nlifted;
	uint64_t nunlifted;
	uint64_t ninferred;

	struct vt_capture *captures;
	size_t ncaptures;
	size_t captures_cap;
	bool no_memory;
};

/* ---- guest state, bytes `offset` to `offset + size`; one word for each 8 of them ---- */

void vti_state_get(const struct vt_interp *m, unsigned offset, unsigned size,
		   struct vt_word *words);
void vti_state_put(struct vt_interp *m, unsigned offset, unsigned size,
		   const struct vt_word *words);
void vti_state_forget(struct vt_interp *m, unsigned offset, unsigned size);

/* Set the known bits of MXCSR; of its rounding control alone. */
void vti_set_mxcsr(struct vt_interp *m, struct vt_word mxcsr);
void vti_round(struct vt_interp *m, struct vt_word rounding);

#endif
