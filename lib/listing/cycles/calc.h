/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_CYCLES_CALC_H
#define VT_LISTING_CYCLES_CALC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/output.h"
#include "flow/cfg.h"
#include "freq/profile.h"
#include "image/disasm.h"
#include "image/images.h"
#include "listing/code/source.h"
#include "listing/cycles/cycles.h"
#include "profile/locate.h"
#include "profile/profile.h"

/*
 * One procedure block by block, with its FREQ, EDGE and STALL records, after dcpicalc: DCPI, figure
 * 2.
 */

struct vt_calc_insn {
	uint64_t address; /* vaddr */
	const char *text; /* assembly; untrusted */
	size_t size;
	const char *file; /* of the source; untrusted; "": unknown */
	unsigned line;
	const struct vt_freq *freq;    /* NULL: unknown */
	bool judged;		       /* vt_freqprofile_is_judged() */
	const struct vt_stall *stalls; /* its own, without those of a region that begins here */
	size_t nstalls;
	const struct vt_stall *acquittals; /* causes of its own stall that were ruled out */
	size_t nacquittals;
	const struct vt_regionfreq *region; /* that it is a part of; NULL: none is known */
};

struct vt_calc_block {
	const struct vt_cfg_block *block;
	const struct vt_calc_insn *insns; /* block->ninsns of them */
	const struct vt_freq *freq;	  /* the first that an instruction has; NULL: none */
	struct vt_cyclesum sum;
};

struct vt_calc_edge {
	const struct vt_cfg_edge *edge;
	const struct vt_edgefreq *freq; /* NULL: unknown */
};

struct vt_calc {
	struct vt_procedure proc; /* its strings are borrowed from the images */
	const struct vt_image *image;
	uint64_t base; /* vaddr minus offset in the image */
	struct vt_cfg *cfg;
	struct vt_calc_insn *insns;	     /* parallel to cfg->insns */
	struct vt_calc_block *blocks;	     /* parallel to cfg->blocks; ENTRY and EXIT are empty */
	struct vt_calc_edge *edges;	     /* parallel to cfg->edges */
	const struct vt_regionfreq *regions; /* NULL: none, as in order */
	size_t nregions;
	const struct vt_stall *stalls; /* all of the procedure's */
	size_t nstalls;
	const struct vt_stall *acquittals; /* causes of these that were ruled out */
	size_t nacquittals;
	struct vt_cyclesum sum; /* of the procedure, including code in no block */
	struct vt_intern *texts;
};

/* What a struct vt_calc is made from.  Borrowed for as long as that lives. */
struct vt_calc_source {
	const struct vt_profile *profile;
	struct vt_images *images;
	const struct vt_freqprofile *freqs;
	const struct vt_blockcode *code; /* code that no file has, or NULL */
	enum vt_syntax syntax;
	size_t event; /* index of the event of the frequencies; SIZE_MAX: none */
};

/*
 * The range of a procedure in its image: offsets [*first, *end), or all offsets for what lies in no
 * procedure.  False if it lies in no image.
 */
bool vt_calc_range(const struct vt_calc_source *src, const struct vt_procedure *proc,
		   uint64_t *first, uint64_t *end);

/* Adds a procedure to *sum, as in vt_calc.sum.  Needs no code. */
void vt_calc_add(const struct vt_calc_source *src, const struct vt_procedure *proc,
		 struct vt_cyclesum *sum);

/*
 * Owned by the caller.  NULL: VT_E_ABSENT, it is no procedure; VT_E_NOTFOUND, there is no code (the
 * text says why); VT_E_LIMIT; VT_E_NOMEM.
 */
struct vt_calc *vt_calc_new(const struct vt_calc_source *src, const struct vt_procedure *proc,
			    struct vt_error *err);
void vt_calc_free(struct vt_calc *c);

/* Whether blocks have shares of the procedure's samples, as no cycles are known. */
bool vt_calc_shares_samples(const struct vt_calc *c);

/*
 * Whether the time of an instruction is told: out of order, of those only that stall for long
 * themselves.
 */
bool vt_calc_is_timed(const struct vt_calc *c, const struct vt_calc_insn *insn);

/*
 * Prints the regions of a procedure, what each takes, and its stalls: each possible cause and why
 * it is one, and what was ruled out by which fact.  Nothing if no regions are known.
 */
void vt_calc_print_regions(const struct vt_calc *c, struct vt_output *out);

/* The instruction that begins at an offset in the image, or NULL. */
const struct vt_calc_insn *vt_calc_insn_at(const struct vt_calc *c, uint64_t offset);

/* A block's share of the procedure's cycles, or of its samples, in percent. */
double vt_calc_block_share(const struct vt_calc *c, const struct vt_calc_block *b);

/* Cycles of each execution that an instruction spends in dynamic stalls. */
double vt_calc_dynamic(const struct vt_calc_insn *insn);

/* Prints the listing for people, without blocks below `cutoff` percent of the cycles. */
void vt_calc_print(const struct vt_calc *c, struct vt_sources *sources, double cutoff, bool color,
		   struct vt_output *out);

#endif
