/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/block.h"
#include "formats/pt/encode_internal.h"
#include "machine/insn.h"

/* Of a block whose code is not known: as its producer said. */
static uint8_t end_by_name(enum vt_block_end end)
{
	switch (end) {
	case VT_END_BRANCH:
		return VT_PT_END_COND;
	case VT_END_JUMP:
		return VT_PT_END_JUMP;
	case VT_END_JUMP_INDIRECT:
		return VT_PT_END_JUMP_INDIRECT;
	case VT_END_CALL:
		return VT_PT_END_CALL;
	case VT_END_CALL_INDIRECT:
		return VT_PT_END_CALL_INDIRECT;
	case VT_END_RETURN:
		return VT_PT_END_RET;
	case VT_END_SYSCALL:
		return VT_PT_END_FAR_CALL;
	default:
		return VT_PT_END_FALL;
	}
}

static uint8_t end_by_facts(uint32_t flags)
{
	if (flags & VT_FACT_SYSCALL)
		return VT_PT_END_FAR_CALL;
	if (!(flags & VT_FACT_BRANCH))
		return VT_PT_END_FALL;
	if (flags & VT_FACT_RETURN)
		return VT_PT_END_RET;
	if (flags & VT_FACT_CALL)
		return flags & VT_FACT_INDIRECT ? VT_PT_END_CALL_INDIRECT : VT_PT_END_CALL;
	if (flags & VT_FACT_INDIRECT)
		return VT_PT_END_JUMP_INDIRECT;
	return flags & VT_FACT_CONDITIONAL ? VT_PT_END_COND : VT_PT_END_JUMP;
}

void vti_enc_classify(struct enc_block *to, const struct vt_bblock *b, unsigned mode)
{
	unsigned last = b->lengths[b->ninsns - 1];
	struct vt_facts f;

	*to = (struct enc_block){.addr = b->addr,
				 .next = b->addr + b->size,
				 .target = b->target,
				 .insns = b->ninsns,
				 .end = end_by_name(b->end),
				 .last = (uint8_t)last};
	if (!b->code || mode != 64 || !vt_facts_decode(b->code + b->size - last, last, &f) ||
	    f.length != last)
		return;
	to->end = end_by_facts(f.flags);
	to->target = f.has_target ? to->next - last + (uint64_t)f.target : 0;
	to->repeats = (f.flags & VT_FACT_STRING) && (f.flags & VT_FACT_REPEATED);
}
