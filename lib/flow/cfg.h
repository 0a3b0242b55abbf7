/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FLOW_CFG_H
#define VT_FLOW_CFG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "image/images.h"

/*
 * Control-flow graphs of procedures, computed from machine code: DCPI 6.1.1.  A call does not end a
 * block, unless the called procedure never returns.
 */

enum vt_cfg_edge_kind {
	VT_EDGE_FALL,	/* to the next instruction */
	VT_EDGE_TAKEN,	/* a direct branch or jump */
	VT_EDGE_SWITCH, /* an indirect jump: an entry of its table */
	VT_EDGE_ENTRY,	/* from VT_CFG_ENTRY */
	VT_EDGE_EXIT, /* to VT_CFG_EXIT: return, tail call, a call that does not return, hlt … */
};

/* Every graph has two blocks without code, from which control comes and to which it goes. */
#define VT_CFG_ENTRY 0
#define VT_CFG_EXIT  1
#define VT_CFG_FIRST 2 /* the first block of code */

struct vt_cfg_edge {
	uint32_t from; /* blocks */
	uint32_t to;
	enum vt_cfg_edge_kind kind;
};

struct vt_cfg_block {
	uint64_t start; /* vaddr; 0 for ENTRY and EXIT */
	uint64_t end;	/* vaddr after its last instruction */
	uint32_t insn;	/* index of its first in vt_cfg.insns */
	uint32_t ninsns;
	uint32_t out; /* index of its first in vt_cfg.edges, which is sorted by `from` */
	uint32_t nout;
	uint32_t in; /* index of its first in vt_cfg.in */
	uint32_t nin;
	bool incomplete; /* it ends in an indirect jump whose targets are not all known */
};

struct vt_cfg_insn {
	uint64_t addr;	/* vaddr */
	uint32_t flags; /* control flow facts (vt_flow) of enum vt_fact; 0: not an instruction */
	uint8_t length;
};

struct vt_cfg {
	uint64_t start; /* of the procedure, vaddr */
	uint64_t end;
	struct vt_cfg_block *blocks; /* from VT_CFG_FIRST on, sorted by start */
	uint32_t nblocks;
	struct vt_cfg_edge *edges;
	uint32_t nedges;
	uint32_t *in;		   /* indices of edges, sorted by `to` */
	struct vt_cfg_insn *insns; /* of all blocks, sorted by address */
	uint32_t ninsns;
	bool complete; /* no block is incomplete, and control reaches only code */
};

/* The input for a graph, borrowed for the call. */
struct vt_cfg_source {
	const uint8_t *code; /* of the procedure */
	size_t size;
	uint64_t start;		  /* vaddr of its first byte */
	struct vt_images *images; /* for the image's data and its other procedures; may be NULL */
	uint32_t image;
	/*
	 * Other vaddrs in the procedure that control is known to reach: landing pads, recorded
	 * targets.  May be NULL.
	 */
	const uint64_t *entries;
	size_t nentries;
};

/*
 * Makes the graph of a procedure.  Code that seems unreachable, but is not padding, gets an edge
 * from ENTRY.  Owned by the caller.  NULL: VT_E_NOMEM, VT_E_LIMIT.
 */
struct vt_cfg *vt_cfg_new(const struct vt_cfg_source *src, struct vt_error *err);
void vt_cfg_free(struct vt_cfg *g);

/* Returns the index of the instruction that starts at a vaddr, or UINT32_MAX. */
uint32_t vt_cfg_insn_at(const struct vt_cfg *g, uint64_t addr);

#endif
