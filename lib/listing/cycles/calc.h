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
 * One procedure block by block, with what FREQ, EDGE and STALL records say of it: dcpicalc's
 * listing, DCPI figure 2.
 */

struct vt_calc_insn {
	uint64_t address; /* vaddr */
	const char *text; /* assembly; untrusted */
	size_t size;
	const char *file; /* of the source; untrusted; "" where it is not known */
	unsigned line;
	const struct vt_freq *freq; /* NULL: nothing is known */
	const struct vt_stall *stalls;
	size_t nstalls;
};

struct vt_calc_block {
	const struct vt_cfg_block *block;
	const struct vt_calc_insn *insns; /* block->ninsns of them */
	const struct vt_freq *freq; /* of the first instruction that has one; NULL: none has */
	struct vt_cyclesum sum;
};

struct vt_calc_edge {
	const struct vt_cfg_edge *edge;
	const struct vt_edgefreq *freq; /* NULL: nothing is known */
};

struct vt_calc {
	struct vt_procedure proc; /* its strings are borrowed from the images */
	const struct vt_image *image;
	uint64_t base; /* what is added to an offset of the image for a vaddr */
	struct vt_cfg *cfg;
	struct vt_calc_insn *insns;   /* as cfg->insns */
	struct vt_calc_block *blocks; /* as cfg->blocks; ENTRY and EXIT have nothing */
	struct vt_calc_edge *edges;   /* as cfg->edges */
	struct vt_cyclesum sum;	      /* of the procedure, and what of it is in no block */
	struct vt_intern *texts;
};

/* What a listing is made of; all borrowed, as long as what is made. */
struct vt_calc_source {
	const struct vt_profile *profile;
	struct vt_images *images;
	const struct vt_freqprofile *freqs;
	const struct vt_blockcode *code; /* what no file has, or NULL */
	enum vt_syntax syntax;
	size_t event; /* of the profile: that the frequencies rest on; SIZE_MAX: none */
};

/*
 * Where a procedure lies in its image: offsets [*first, *end); those of all the image for what lies
 * in no procedure.  False: in none.
 */
bool vt_calc_range(const struct vt_calc_source *src, const struct vt_procedure *proc,
		   uint64_t *first, uint64_t *end);

/* Adds a procedure to *sum; as vt_calc.sum, but no code is needed. */
void vt_calc_add(const struct vt_calc_source *src, const struct vt_procedure *proc,
		 struct vt_cyclesum *sum);

/* NULL: VT_E_NOTFOUND, with the reason why there is no code; VT_E_NOMEM; VT_E_LIMIT.  Owned by the
 * caller. */
struct vt_calc *vt_calc_new(const struct vt_calc_source *src, const struct vt_procedure *proc,
			    struct vt_error *err);
void vt_calc_free(struct vt_calc *c);

/* The share of the procedure's cycles that a block has, in percent. */
double vt_calc_block_share(const struct vt_calc *c, const struct vt_calc_block *b);

/* How long a stall is, in cycles of each execution: the dynamic ones of an instruction together. */
double vt_calc_dynamic(const struct vt_calc_insn *insn);

/* The lines for people; blocks with less than `cutoff` percent of the cycles are left out. */
void vt_calc_print(const struct vt_calc *c, struct vt_sources *sources, double cutoff, bool color,
		   struct vt_output *out);

#endif
