/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/simcore.h"

#include <stdlib.h>

#include "machine/simcore_internal.h"

struct vt_simcore {
	struct vti_siminorder *inorder;
};

struct vt_simcore *vt_simcore_new(const struct vt_core *m, const struct vt_sim_hooks *hooks,
				  struct vt_error *err)
{
	struct vt_simcore *c = calloc(1, sizeof(*c));

	if (c)
		c->inorder = vti_siminorder_new(m, hooks);
	if (c && c->inorder)
		return c;
	vt_simcore_free(c);
	vt_error_set(err, VT_E_NOMEM, "out of memory");
	return NULL;
}

void vt_simcore_free(struct vt_simcore *c)
{
	if (c)
		vti_siminorder_free(c->inorder);
	free(c);
}

void vt_simcore_run(struct vt_simcore *c, const struct vt_sim_insn *insn)
{
	vti_siminorder_run(c->inorder, insn);
}

void vt_simcore_drain(struct vt_simcore *c)
{
	vti_siminorder_drain(c->inorder);
}

uint64_t vt_simcore_cycle(const struct vt_simcore *c)
{
	return vti_siminorder_cycle(c->inorder);
}
