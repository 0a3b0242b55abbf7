/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/block.h"
#include "formats/pt/encode/internal.h"

/* How an instruction without code ends a block: as its producer said. */
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

/* movs, cmps, stos, lods, scas behind a prefix REP, REPE or REPNE. */
static bool is_repeated_string(const uint8_t *code, unsigned length, unsigned mode)
{
	bool repeated = false;
	unsigned i;

	for (i = 0; i < length; i++) {
		uint8_t c = code[i];

		if (c == 0xf2 || c == 0xf3)
			repeated = true;
		else if (c != 0x66 && c != 0x67 && (c & 0xe7) != 0x26 && c != 0x64 && c != 0x65 &&
			 !(mode == 64 && (c & 0xf0) == 0x40))
			break;
	}
	return repeated && i + 1 == length &&
	       ((code[i] & 0xfc) == 0xa4 || (code[i] >= 0xaa && code[i] <= 0xaf));
}

/* What the instruction at the end of `to`, whose code is this, makes of the block. */
static void classify(struct enc_block *to, const uint8_t *code, unsigned length, unsigned mode)
{
	uint64_t target;
	uint8_t end, mark;

	to->repeats = is_repeated_string(code, length, mode);
	if (vt_pt_insn_classify(code, length, mode, to->next - length, &end, &target, &mark) !=
	    length)
		return;
	to->end = end;
	to->target = target;
}

static void finish(struct enc_block *b)
{
	b->branch = b->end == VT_PT_END_COND;
	b->direct = b->end <= VT_PT_END_COND;
	if (b->end == VT_PT_END_FALL)
		b->target = b->next;
	b->other = b->branch ? b->next : b->target;
	/* Code that finds out where it is calls what is next, and never returns. */
	b->call = b->end == VT_PT_END_CALL && b->target != b->next;
}

uint32_t vti_enc_piece(struct enc_block *to, const struct vt_bblock *b, uint32_t from,
		       uint32_t until, unsigned mode)
{
	uint64_t addr = vt_bblock_insn_addr(b, from);
	const uint8_t *code = b->code ? b->code + (addr - b->addr) : NULL;
	uint32_t i;

	*to = (struct enc_block){.addr = addr, .next = addr, .end = VT_PT_END_FALL};
	for (i = from; i < until && to->end == VT_PT_END_FALL; i++) {
		to->last = b->lengths[i];
		to->next += to->last;
		to->insns++;
		if (code) {
			classify(to, code, to->last, mode);
			code += to->last;
		}
	}
	if (!code && until == b->ninsns) {
		to->end = end_by_name(b->end);
		to->target = b->target;
	}
	finish(to);
	return i;
}
