/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flow/cfg_internal.h"
#include "machine/insn.h"

static bool is_leave(const struct vti_walk *w, const struct vti_node *n)
{
	struct vt_facts f;

	/* Through one fixed word: a stub of a procedure linkage table, or a call of what it calls.
	 */
	return vt_facts_decode(w->src->code + n->offset, w->src->size - n->offset, &f) &&
	       f.nmemories && f.memories[0].base == VT_REG_IP;
}

int vti_jumps_find(struct vti_walk *w, size_t from, struct vt_error *err)
{
	size_t i;

	(void)err;
	for (i = from; i < w->nnodes; i++) {
		struct vti_node *n = &w->nodes[i];

		if (n->next != VTI_NEXT_INDIRECT)
			continue;
		n->leaves = true;
		n->unknown = !is_leave(w, n);
	}
	return 0;
}
