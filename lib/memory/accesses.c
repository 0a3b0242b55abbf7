/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "memory/accesses.h"

#include <stdlib.h>

static bool is_value_slot(unsigned what)
{
	return what == VT_WHAT_LOAD || what == VT_WHAT_STORE;
}

static bool is_address_slot(const struct vt_slot *s)
{
	return (s->what == VT_WHAT_LOAD_ADDRESS || s->what == VT_WHAT_STORE_ADDRESS) &&
	       s->size == 8;
}

static uint8_t access_role(const struct vt_bblock *b, const struct vti_block_access *a)
{
	if (a->insn + 1 != b->ninsns || a->size != 8)
		return VTI_ACCESS_DATA;
	if (a->store && (b->end == VT_END_CALL || b->end == VT_END_CALL_INDIRECT))
		return VTI_ACCESS_CALL;
	if (!a->store && b->end == VT_END_RETURN)
		return VTI_ACCESS_RETURN;
	return VTI_ACCESS_DATA;
}

/* The recorder writes a guard, then an address, then a value; each may be missing. */
bool vti_block_accesses_make(struct vti_block_accesses *a, const struct vt_bblock *b)
{
	uint32_t guard = VTI_NO_SLOT;
	uint32_t i;

	*a = (struct vti_block_accesses){.list = calloc(b->nslots + 1u, sizeof(*a->list))};
	if (!a->list)
		return false;
	for (i = 0; i < b->nslots; i++) {
		const struct vt_slot *s = &b->slots[i];
		struct vti_block_access *n = &a->list[a->count];

		if (s->what == VT_WHAT_GUARD)
			guard = i;
		a->incomplete += is_value_slot(s->what);
		if (!is_address_slot(s))
			continue;
		a->incomplete++;
		if (i + 1 < b->nslots && s[1].insn == s->insn &&
		    s[1].what ==
			    (s->what == VT_WHAT_STORE_ADDRESS ? VT_WHAT_STORE : VT_WHAT_LOAD)) {
			*n = (struct vti_block_access){.address = i,
						       .value = i + 1,
						       .guard = guard,
						       .insn = s->insn,
						       .size = s[1].size,
						       .store = s[1].what == VT_WHAT_STORE};
			n->role = access_role(b, n);
			a->incomplete--;
			a->count++;
			i++;
		}
		guard = VTI_NO_SLOT;
	}
	return true;
}
