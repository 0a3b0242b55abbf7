/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/insn/access.h"

#include "machine/insn/insn.h"

static bool is_access_kind(const struct vt_memory *m, bool store)
{
	return store ? m->written : m->read;
}

uint16_t vt_access_size(const struct vt_facts *f, bool store)
{
	unsigned i;

	for (i = 0; i < f->nmemories; i++)
		if (is_access_kind(&f->memories[i], store))
			return f->memories[i].size;
	return 0;
}

void vt_access_start(struct vt_access_cursor *c, uint32_t insn, const struct vt_facts *facts)
{
	const struct vt_bblock *b = c->block;

	while (c->slot < b->nslots && b->slots[c->slot].insn < insn)
		c->slot++;
	c->insn = insn;
	c->facts = facts;
	c->memory = 0;
	c->loads = c->stores = false;
}

/* The slot that the cursor is at, if it is one of the instruction. */
static const struct vt_slot *find_slot(const struct vt_access_cursor *c)
{
	const struct vt_bblock *b = c->block;

	return c->slot < b->nslots && b->slots[c->slot].insn == c->insn ? &b->slots[c->slot] : NULL;
}

/* Takes an address, and the value behind it if that is of the same access. */
static void take_address(struct vt_access_cursor *c, const struct vt_slot *s,
			 struct vt_access_slots *a)
{
	const struct vt_slot *value;

	a->store = s->what == VT_WHAT_STORE_ADDRESS;
	if (s->size == VT_ADDRESS_SIZE)
		a->address = c->slot;
	c->slot++;
	value = find_slot(c);
	if (value && value->what == (a->store ? VT_WHAT_STORE : VT_WHAT_LOAD))
		a->value = c->slot++;
}

static bool next_recorded(struct vt_access_cursor *c, struct vt_access_slots *a)
{
	const struct vt_slot *s;

	while ((s = find_slot(c))) {
		switch (s->what) {
		case VT_WHAT_LOAD_ADDRESS:
		case VT_WHAT_STORE_ADDRESS:
			take_address(c, s, a);
			break;
		case VT_WHAT_LOAD:
		case VT_WHAT_STORE:
			a->store = s->what == VT_WHAT_STORE;
			a->value = c->slot++;
			break;
		case VT_WHAT_GUARD:
			a->guard = c->slot++;
			continue;
		default:
			c->slot++;
			continue;
		}
		if (a->value != VT_ACCESS_NO_SLOT)
			a->size = c->block->slots[a->value].size;
		else if (c->facts)
			a->size = vt_access_size(c->facts, a->store);
		c->loads = c->loads || !a->store;
		c->stores = c->stores || a->store;
		return true;
	}
	return false;
}

/* An instruction loads before it stores. */
static bool next_untold(struct vt_access_cursor *c, struct vt_access_slots *a)
{
	uint32_t n = c->facts ? c->facts->nmemories : 0;

	while (c->memory < 2 * n) {
		const struct vt_memory *m = &c->facts->memories[c->memory % n];

		a->store = c->memory++ >= n;
		a->size = m->size;
		if (is_access_kind(m, a->store) && !(a->store ? c->stores : c->loads))
			return true;
	}
	return false;
}

bool vt_access_next(struct vt_access_cursor *c, struct vt_access_slots *a)
{
	*a = (struct vt_access_slots){.address = VT_ACCESS_NO_SLOT,
				      .value = VT_ACCESS_NO_SLOT,
				      .guard = VT_ACCESS_NO_SLOT,
				      .insn = (uint16_t)c->insn};
	if (next_recorded(c, a))
		return true;
	a->guard = VT_ACCESS_NO_SLOT;
	return next_untold(c, a);
}
