/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FLOW_CFG_H
#define VT_FLOW_CFG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "image/images.h"

/*
 * Control-flow graphs of procedures, from their machine code: DCPI 6.1.1.  Calls are instructions
 * like others, after which control goes on, unless the procedure called never returns.
 */

enum vt_cfg_edge_kind {
	VT_EDGE_FALL,	/* to what follows; after a call, too */
	VT_EDGE_TAKEN,	/* a direct branch or jump */
	VT_EDGE_SWITCH, /* an indirect jump: an entry of its table */
	VT_EDGE_ENTRY,	/* from VT_CFG_ENTRY */
	VT_EDGE_EXIT, /* to VT_CFG_EXIT: return, tail call, a call that does not return, hlt … */
};

/* The two blocks that every graph has besides its code: where control comes from, and goes. */
#define VT_CFG_ENTRY 0
#define VT_CFG_EXIT  1
#define VT_CFG_FIRST 2 /* the first block of code */

struct vt_cfg_edge {
	uint32_t from; /* blocks */
	uint32_t to;
	enum vt_cfg_edge_kind kind;
};

struct vt_cfg_block {
	uint64_t start; /* vaddr; 0 of ENTRY and EXIT */
	uint64_t end;	/* behind its last instruction */
	uint32_t insn;	/* its first in vt_cfg.insns */
	uint32_t ninsns;
	uint32_t out; /* its first in vt_cfg.edges, which are sorted by `from` */
	uint32_t nout;
	uint32_t in; /* its first in vt_cfg.in, which has indices of edges, sorted by `to` */
	uint32_t nin;
	bool incomplete; /* it ends in an indirect jump whose targets are not all known */
};

struct vt_cfg_insn {
	uint64_t addr;	/* vaddr */
	uint32_t flags; /* enum vt_fact, those of control (vt_flow); 0: bytes that are none */
	uint8_t length;
};

struct vt_cfg {
	uint64_t start; /* of the procedure, vaddr */
	uint64_t end;
	struct vt_cfg_block *blocks; /* those of code sorted by start */
	uint32_t nblocks;
	struct vt_cfg_edge *edges;
	uint32_t nedges;
	uint32_t *in;
	struct vt_cfg_insn *insns; /* of all blocks, sorted by address */
	uint32_t ninsns;
	bool complete; /* no block is incomplete, and no code was found that is none */
};

/* What a graph is made of.  All borrowed for the call. */
struct vt_cfg_source {
	const uint8_t *code; /* of the procedure */
	size_t size;
	uint64_t start;		  /* vaddr of its first byte */
	struct vt_images *images; /* for the image's data and other procedures; may be NULL */
	uint32_t image;
	/*
	 * Addresses in the procedure where control is known to arrive otherwise: landing pads,
	 * targets of a recording.  May be NULL.
	 */
	const uint64_t *entries;
	size_t nentries;
};

/*
 * Makes the graph of a procedure.  Code that nothing seems to reach is taken in, with an edge from
 * ENTRY, when control may arrive there unseen; padding is not.  NULL: VT_E_NOMEM, VT_E_LIMIT.
 * Owned by the caller.
 */
struct vt_cfg *vt_cfg_new(const struct vt_cfg_source *src, struct vt_error *err);
void vt_cfg_free(struct vt_cfg *g);

/* The graph of the procedure at [start, end) of an image, whose file has its code. */
struct vt_cfg *vt_cfg_of_image(struct vt_images *images, uint32_t image, uint64_t start,
			       uint64_t end, struct vt_error *err);

/* The block that has this vaddr in it, or 0, which has none; the instruction that starts there. */
uint32_t vt_cfg_block_at(const struct vt_cfg *g, uint64_t addr);
uint32_t vt_cfg_insn_at(const struct vt_cfg *g, uint64_t addr); /* UINT32_MAX: none does */

#endif
