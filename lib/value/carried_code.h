/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_VALUE_CARRIED_CODE_H
#define VT_VALUE_CARRIED_CODE_H

#include "profile/context.h"
#include "value/sites.h"

/*
 * Executed code that hot lists carry, because no file has it: generated or patched code.  Listings
 * have nothing else to disassemble.  When a page becomes writable, blocks that ran there before are
 * carried, too: from then on, nobody takes them from the file.
 *
 * Start from zeros with the first three fields set; end with vt_carried_code_fini().
 */
struct vt_carried_code {
	struct vt_sites *sites; /* borrowed: the code goes there */
	/* Whether a block's code can be listed from a file, which is then mapped there. */
	bool (*file_has)(void *arg, const struct vt_bblock *b);
	void *arg;
	/* Private: */
	struct vt_context *context;
	struct vt_carried_block *before;
	size_t nbefore;
	size_t before_cap;
	uint64_t looks;
};

void vt_carried_code_fini(struct vt_carried_code *c);

/* Begins a stream, as a consumer of its context, which is borrowed. */
void vt_carried_code_begin(struct vt_carried_code *c, struct vt_context *context);

#endif
