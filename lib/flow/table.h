/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FLOW_TABLE_H
#define VT_FLOW_TABLE_H

#include "flow/internal.h"
#include "flow/state.h"
#include "image/imagedata.h"

/* Where indirect jumps go, from what is known of the value that they go by. */
struct vti_targets {
	struct vti_walk *w;
	struct vti_memory memory; /* the image's constants */
	const struct vt_imagedata *data;
	const struct vt_elf *elf;
	uint64_t line_at; /* the line of data read last: */
	uint64_t line_known;
	uint8_t line[VT_IMAGEDATA_LINE];
	bool failed; /* no memory */
};

/* `t` must stay where it is. */
void vti_targets_open(struct vti_targets *t, struct vti_walk *w);

/*
 * Takes the targets of the jump `n` by a value, and says whether those are all; `at_start`: the
 * stack is as it was at the procedure's start.
 */
bool vti_targets_take(struct vti_targets *t, struct vti_node *n, const struct vti_value *v,
		      bool at_start);

/*
 * Takes those of a jump through one fixed word, and says whether it is one: a stub of a procedure
 * linkage table, which goes on behind the jump while the word has not been set yet; or a call of
 * what it calls.
 */
bool vti_targets_fixed(struct vti_targets *t, struct vti_node *n, const struct vt_facts *f);

/* Whether the stack is as at the start, by the image's call frame information. */
bool vti_targets_at_start(struct vti_targets *t, const struct vti_node *n);

#endif
