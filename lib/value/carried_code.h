/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_VALUE_CARRIED_CODE_H
#define VT_VALUE_CARRIED_CODE_H

#include "profile/context.h"
#include "value/sites.h"

/*
 * Copies executed code that no file contains (generated or patched code) into the stream of hot
 * lists, because listings could not disassemble it otherwise.  When a page becomes writable, the
 * blocks that were executed there before are copied, too: from then on, readers of the stream do
 * not use the file for this page.
 *
 * Initialize with zeros, set the first three fields, and free with vt_carried_code_fini().
 */
struct vt_carried_code {
	struct vt_sites *sites; /* borrowed; receives the code */
	/* Whether a file is mapped at the block and a listing can take the code from it. */
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

/* Begins a stream: adds a consumer to its context, which is borrowed. */
void vt_carried_code_begin(struct vt_carried_code *c, struct vt_context *context);

#endif
