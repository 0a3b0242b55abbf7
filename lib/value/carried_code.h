/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_VALUE_CARRIED_CODE_H
#define VT_VALUE_CARRIED_CODE_H

#include "value/collect.h"

/*
 * Executed code that hot lists carry, because no file has it: generated or patched code.  Listings
 * have nothing else to disassemble.  When a page becomes writable, blocks that ran there before are
 * carried, too: from then on, nobody takes them from the file.
 *
 * Start from zeros with the first four fields set; end with vt_carried_code_fini().
 */
struct vt_carried_code {
	struct vt_collect *collect; /* borrowed, as is the next; both are fed by the caller */
	struct vt_sites *sites;	    /* the code goes there */
	/* Whether a block's code can be listed from a file, which is then mapped there. */
	bool (*file_has)(void *arg, const struct vt_bblock *b);
	void *arg;
	/* Private: */
	struct vt_carried_block *before;
	size_t nbefore;
	size_t before_cap;
	uint64_t looks;
};

void vt_carried_code_fini(struct vt_carried_code *c);

/* Takes BLOCK rows, after `collect`.  -VT_E_NOMEM, as the next two. */
int vt_carry_blocks(struct vt_carried_code *c, const struct vt_block *block, uint32_t first,
		    uint32_t count, struct vt_error *err);

/* Called before and after `collect` takes a MAP record. */
int vt_carry_before_map(struct vt_carried_code *c, const struct vt_record *map,
			struct vt_error *err);
int vt_carry_after_map(struct vt_carried_code *c, struct vt_error *err);

#endif
