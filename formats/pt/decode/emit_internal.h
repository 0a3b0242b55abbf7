/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_DECODE_EMIT_INTERNAL_H
#define FORMATS_PT_DECODE_EMIT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/intern.h"
#include "formats/pt/block.h"
#include "formats/pt/decode/emit.h"

#define VTI_EMIT_RUN 65536 /* of an EXEC record, at most */
#define VTI_EMIT_STRIDE                                                                            \
	1024 /* blocks that are looked at together: they stay in the first-level cache */

/* A block that was written: its number in the table of them is its id. */
struct vti_emit_key {
	int64_t pid;
	uint64_t addr;
	uint32_t size;
	uint32_t mode;
	uint32_t code; /* its bytes: what vt_intern_add() gave */
	uint32_t unused;
};

struct vti_emit_process {
	int64_t pid;
	uint64_t insns;
};

/* Blocks that wait for being written as one record. */
struct vti_emit_run {
	uint32_t n;
	bool wide;	 /* there is an id above 65535: they are in wide_ids, else packed */
	uint8_t *packed; /* as the record has them: 2 or 4 bytes each */
	uint32_t *wide_ids;
	uint64_t insns;
	uint64_t tsc, cycles; /* when it began */
	uint64_t *at, *at_tsc, *at_cycles;
	size_t ntimes;
	size_t at_cap, tsc_cap, cycles_cap;
	bool has_cycles;
};

/* Which id an engine's index stands for. */
struct vti_emit_map {
	struct vt_pt_blocks *of;
	uint32_t *ids;	 /* VT_PT_NO_ID: not executed yet */
	uint16_t *insns; /* of the block */
	size_t ids_cap, insns_cap;
	uint32_t n;
	uint32_t last; /* an index that has an id, if any has */
};

struct vt_pt_emit {
	struct vt_writer *w;
	struct vt_pt_timeconv conv;
	struct vt_pt_totals totals;
	struct vt_hash blocks;	  /* struct vti_emit_key */
	struct vt_intern *code;	  /* of blocks */
	struct vt_hash processes; /* struct vti_emit_process */
	bool started;
	int64_t pid, tid;
	uint64_t first; /* instructions of the process before the run */
	struct vti_emit_run run;
	struct vti_emit_map map;
	uint64_t tsc, cycles; /* now */
	uint64_t time;	      /* ns, where there is no TSC */
	bool moved;	      /* and no block has begun since they became so */
};

/* Makes the map that of a table of blocks, which may have grown. */
int vti_emit_set_map(struct vt_pt_emit *e, struct vt_pt_blocks *of, struct vt_error *err);

/* Gives an index its id; the block is written if it is a new one. */
int vti_emit_define(struct vt_pt_emit *e, uint32_t index, struct vt_error *err);

#endif
