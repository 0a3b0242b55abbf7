/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "chains/chain.h"

#include "stream/kinds.h"

/* Of linux/perf_event.h: PERF_CONTEXT_*, as unsigned numbers. */
#define CONTEXT_HV	     ((uint64_t)-32)
#define CONTEXT_KERNEL	     ((uint64_t)-128)
#define CONTEXT_USER	     ((uint64_t)-512)
#define CONTEXT_GUEST_KERNEL ((uint64_t)-2176)
#define CONTEXT_GUEST_USER   ((uint64_t)-2560)
#define CONTEXT_MAX	     ((uint64_t)-4095) /* markers are this or more */

void vt_chain_append(struct vt_chain *c, uint64_t address, enum vt_frame_mode mode)
{
	if (c->count == VT_CHAIN_MAX)
		c->cut = true;
	else
		c->frames[c->count++] = (struct vt_frame){address, mode};
}

/* Sets the mode that a marker begins.  False for unknown markers. */
static bool read_marker(uint64_t marker, enum vt_frame_mode *mode)
{
	switch (marker) {
	case CONTEXT_HV:
		*mode = VT_FRAME_HYPERVISOR;
		return true;
	case CONTEXT_KERNEL:
		*mode = VT_FRAME_KERNEL;
		return true;
	case CONTEXT_USER:
		*mode = VT_FRAME_USER;
		return true;
	case CONTEXT_GUEST_KERNEL:
		*mode = VT_FRAME_GUEST_KERNEL;
		return true;
	case CONTEXT_GUEST_USER:
		*mode = VT_FRAME_GUEST_USER;
		return true;
	default:
		return false;
	}
}

/*
 * Appends the recorded addresses up to `end` (an index).  `*first` is true if no address of the
 * mode came yet: it is where the mode was entered or the sample was taken, not a return address.
 */
static bool append_addresses(struct vt_chain *c, struct vt_words chain, size_t end)
{
	enum vt_frame_mode mode = c->frames[0].mode;
	bool first = true;
	size_t i;

	for (i = 0; i < end; i++) {
		uint64_t address = chain.data[i];

		if (address >= CONTEXT_MAX) {
			if (!read_marker(address, &mode))
				return false;
			first = true;
			continue;
		}
		vt_chain_append(c, first ? address : address - 1, mode);
		first = false;
	}
	return true;
}

/* The index of the first address in user mode; the chain's length if there is none. */
static size_t find_user_part(struct vt_words chain)
{
	size_t i;

	for (i = 0; i < chain.count; i++)
		if (chain.data[i] == CONTEXT_USER)
			return i + 1;
	return chain.count;
}

/* Appends a call stack: the current procedure's entry, and the call instructions. */
static void append_call_stack(struct vt_chain *c, struct vt_words from, struct vt_words to)
{
	size_t i;

	vt_chain_append(c, to.data[0], VT_FRAME_USER);
	for (i = 0; i < from.count; i++)
		vt_chain_append(c, from.data[i], VT_FRAME_USER);
}

/* The sample's own address is repeated by the chain, or the chain begins near it. */
static void drop_repeated(struct vt_chain *c)
{
	size_t i;

	c->skid = c->count > 1;
	if (c->count < 2 || c->frames[1].address != c->frames[0].address ||
	    c->frames[1].mode != c->frames[0].mode)
		return;
	c->skid = false;
	c->count--;
	for (i = 1; i < c->count; i++)
		c->frames[i] = c->frames[i + 1];
}

void vt_chain_read(struct vt_chain *c, const struct vt_record *sample, uint64_t branch_type)
{
	struct vt_words chain = vt_record_words(sample, VT_SAMPLE_CALLCHAIN);
	struct vt_words from = vt_record_words(sample, VT_SAMPLE_BR_FROM);
	struct vt_words to = vt_record_words(sample, VT_SAMPLE_BR_TO);
	uint64_t mode = vt_record_u64(sample, VT_SAMPLE_MISC) & VT_MISC_CPUMODE;
	size_t user = find_user_part(chain);
	bool stack = branch_type & VT_BRANCH_CALL_STACK && from.count && to.count &&
		     (user < chain.count || (user && chain.data[user - 1] == CONTEXT_USER));

	c->count = 0;
	c->skid = c->damaged = c->cut = c->shortened = false;
	c->recorded = chain.count > 0;
	vt_chain_append(c, vt_record_u64(sample, VT_SAMPLE_IP),
			mode <= VT_FRAME_GUEST_USER ? (enum vt_frame_mode)mode : VT_FRAME_UNKNOWN);
	if (!append_addresses(c, chain, stack ? user : chain.count)) {
		c->damaged = true;
		c->cut = false;
		c->count = 1;
		return;
	}
	if (stack)
		append_call_stack(c, from, to);
	drop_repeated(c);
}
