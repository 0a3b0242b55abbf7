/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "image/unwind.h"

#include <stdlib.h>

#include "image/cfi.h"

#define ROW_BITS 9 /* rows that are kept, by address */

struct vt_unwind {
	const struct vt_elf *elf;
	struct vti_cfi *eh;
	struct vti_cfi *debug;
	struct vti_cfi_row rows[1 << ROW_BITS]; /* empty ones have no end */
};

struct vt_unwind *vt_unwind_new(const struct vt_elf *e, struct vt_error *err)
{
	struct vt_unwind *u = calloc(1, sizeof(*u));

	if (!u) {
		vt_error_set(err, VT_E_NOMEM, "%s: out of memory", vt_elf_info(e)->path);
		return NULL;
	}
	u->elf = e;
	if (vti_cfi_open(e, ".eh_frame", &u->eh, err) == 0 &&
	    vti_cfi_open(e, ".debug_frame", &u->debug, err) == 0)
		return u;
	vt_unwind_free(u);
	return NULL;
}

void vt_unwind_free(struct vt_unwind *u)
{
	if (!u)
		return;
	vti_cfi_close(u->eh);
	vti_cfi_close(u->debug);
	free(u);
}

static const struct vti_cfi_row *row_at(struct vt_unwind *u, uint64_t vaddr)
{
	/* A multiplicative hash, by the golden ratio. */
	struct vti_cfi_row *row = &u->rows[vaddr * UINT64_C(0x9e3779b97f4a7c15) >> (64 - ROW_BITS)];

	if (vaddr >= row->start && vaddr < row->end)
		return row;
	if ((u->eh && vti_cfi_find(u->eh, vaddr, row)) ||
	    (u->debug && vti_cfi_find(u->debug, vaddr, row)))
		return row;
	*row = (struct vti_cfi_row){.start = vaddr, .end = vaddr + 1};
	return row;
}

static bool find_cfa(const struct vti_cfi_rule *r, uint64_t pc, const struct vt_unwind_state *s,
		     uint64_t *cfa)
{
	if (r->how == VTI_CFI_PLACE)
		return vti_cfi_evaluate(r, NULL, pc, s, cfa);
	if (r->how != VTI_CFI_OFFSET || !vti_cfi_register(r->reg, pc, s, cfa))
		return false;
	*cfa += r->offset;
	return true;
}

bool vt_unwind_find(struct vt_unwind *u, uint64_t vaddr, uint64_t bias,
		    const struct vt_unwind_state *s, struct vt_return *f)
{
	const struct vti_cfi_row *row = row_at(u, vaddr);
	const struct vti_cfi_rule *ra = &row->ra;
	uint64_t cfa, pc = vaddr + bias;

	*f = (struct vt_return){.entry = row->entry};
	if (ra->how == VTI_CFI_UNKNOWN)
		return false;
	if (ra->how == VTI_CFI_REGISTER)
		return ra->reg != 16 && vti_cfi_register(ra->reg, pc, s, &f->ret);
	if (!find_cfa(&row->cfa, pc, s, &cfa))
		return false;
	switch (ra->how) {
	case VTI_CFI_VALUE:
		f->ret = cfa + ra->offset;
		return true;
	case VTI_CFI_EXPRESSION:
		return vti_cfi_evaluate(ra, &cfa, pc, s, &f->ret);
	case VTI_CFI_OFFSET:
		f->slot = cfa + ra->offset;
		return s->load(s->arg, f->slot, 8, &f->ret);
	default:
		return vti_cfi_evaluate(ra, &cfa, pc, s, &f->slot) &&
		       s->load(s->arg, f->slot, 8, &f->ret);
	}
}
