/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/interp/internal.h"

#include <libvex_basictypes.h>
#include <libvex_ir.h>

#include "machine/interp/backward.h"
#include "machine/interp/call.h"
#include "machine/interp/code.h"
#include "machine/interp/eval.h"
#include "machine/interp/evex.h"
#include "machine/interp/memory.h"

/*
 * So often is a string instruction repeated in a piece of a path; what more of them write is
 * unknown.  It bounds the values captured in a piece to some 5 MB.
 */
#define MAX_REPEATS (1u << 16)

/* The piece of a path that is being followed. */
struct piece {
	uint32_t ninsns;
	uint64_t next;
	uint32_t repeats;
	bool stale; /* code was written: what was lifted is forgotten once it was left */
};

/* What to do after an operation that the evaluator came to. */
enum step {
	GO_ON,	 /* to the next operation */
	ARRIVED, /* behind the instruction */
	REPEAT,	 /* the instruction */
	CONTRADICTION,
	BAD,
	NO_CODE,
};

static uint32_t op_number(const struct vti_block *b, const struct vti_op *op)
{
	return (uint32_t)(op - b->ops);
}

/* The number of the instruction in the block. */
static uint32_t get_op_insn(const struct vti_block *b, const struct vti_op *op)
{
	if (op->op == VTI_END)
		return b->ninsns - 1;
	return op->op == VTI_EXIT && vti_plain_jump(op->aux) && op->insn ? op->insn - 1u : op->insn;
}

static uint64_t addr_of(const struct vti_block *b, uint32_t insn)
{
	return b->addr + b->offset[insn];
}

/* Where the path goes after an instruction of the block; 0: that is not known. */
static uint64_t find_next_address(const struct vt_interp *m, const struct piece *p, uint32_t insn)
{
	const struct vti_block *b = m->code->block;

	return m->piece + insn + 1 == p->ninsns ? p->next : addr_of(b, insn + 1);
}

/* ---- what is not known ---- */

/* Perhaps this was run, and perhaps not. */
static void forget_op(struct vt_interp *m, const struct vti_op *op)
{
	switch (op->op) {
	case VTI_PUT1:
	case VTI_PUT2:
	case VTI_PUT4:
	case VTI_PUT8:
	case VTI_PUT16:
	case VTI_PUT32:
		vti_state_forget(m, (unsigned)op->imm, 1u << (op->op - VTI_PUT1));
		break;
	case VTI_PUTI: {
		const struct vti_array *a = (const struct vti_array *)op->data;

		vti_state_forget(m, a->base, (unsigned)a->count * a->size);
		break;
	}
	case VTI_STORE1:
	case VTI_STORE2:
	case VTI_STORE4:
	case VTI_STORE8:
	case VTI_STORE16:
	case VTI_STORE32:
	case VTI_CAS:
	case VTI_STOREG:
		vt_known_memory_forget(m->mem);
		break;
	case VTI_DIRTY:
		vti_call_forget(m, (const struct vti_call *)op->data);
		break;
	case VTI_CLEAR_HIGH:
		vti_clear_high_halves(m, (unsigned)op->imm, vt_word_unknown(64));
		break;
	case VTI_EVEX:
		vti_forget_evex(m, op);
		break;
	case VTI_UNLIFTED:
		vti_run_unlifted(m, (const struct vti_unlifted *)op->data);
		break;
	default:
		break;
	}
}

static void forget_ops(struct vt_interp *m, uint32_t from, uint32_t to)
{
	const struct vti_block *b = m->code->block;

	for (; from < to; from++)
		forget_op(m, &b->ops[from]);
}

static bool is_constant(const struct vti_block *b, uint16_t slot)
{
	uint32_t i;

	for (i = 0; i < b->nops; i++) {
		const struct vti_op *op = &b->ops[i];

		if (op->dst == slot && op->op != VTI_EXIT && op->op != VTI_END)
			return false;
	}
	return true;
}

static bool ends_at(const struct vti_block *b, uint64_t addr)
{
	const struct vti_op *end = &b->ops[b->nops - 1];

	return end->op == VTI_END && b->slots[end->a].value == addr && vti_plain_jump(end->aux) &&
	       vt_word_is_known(b->slots[end->a]) && is_constant(b, end->a);
}

/*
 * The block's last instruction is one that is run again and again: a string instruction.  What
 * compares leaves when there is no more to do, and otherwise goes back to itself, or else on.
 */
static bool ends_with_repeat(const struct vti_block *b)
{
	uint64_t self = addr_of(b, b->ninsns - 1);
	const struct vti_op *op, *first = NULL;

	if (ends_at(b, self))
		return true;
	for (op = b->ops + b->first[b->ninsns - 1]; op < b->ops + b->nops; op++) {
		if (op->op != VTI_EXIT || !vti_plain_jump(op->aux))
			continue;
		if (first && first->imm != self && op->imm == self)
			return ends_at(b, first->imm);
		first = op;
	}
	return false;
}

/* Behind this exit, the instruction may come to the same address in another way. */
static bool other_way(const struct vti_block *b, const struct vti_op *exit)
{
	const struct vti_op *op;

	for (op = exit + 1; op < b->ops + b->nops; op++) {
		if (op->op == VTI_EXIT && op->imm == exit->imm)
			return true;
		if (op->op == VTI_END)
			return !is_constant(b, op->a) || b->slots[op->a].value == exit->imm;
	}
	return true;
}

/* Nobody knows whether the path left the instruction here. */
static enum step leave_unknown(struct vt_interp *m, const struct vti_op *op)
{
	forget_ops(m, op_number(m->code->block, op) + 1, m->code->block->nops);
	return ARRIVED;
}

/* ---- exits ---- */

static enum step infer_from_branch(struct vt_interp *m, const struct vti_op *op, bool taken)
{
	struct vti_block *b = m->code->block;

	if (!vti_infer_from_exit(m, b, op_number(b, op), taken))
		return CONTRADICTION;
	return taken ? ARRIVED : GO_ON;
}

/* An atomic instruction would try again only if somebody had come between. */
static bool retries_atomic(const struct vti_block *b, const struct vti_op *exit, uint32_t insn)
{
	const struct vti_op *op;

	if (exit->imm != addr_of(b, insn))
		return false;
	for (op = b->ops + b->first[insn]; op < exit; op++)
		if (op->op == VTI_CAS)
			return true;
	return false;
}

/* Once more what repeats, or never again. */
static enum step repeat_insn(struct vt_interp *m, struct piece *p)
{
	const struct vti_block *b = m->code->block;

	if (p->repeats++ < MAX_REPEATS)
		return REPEAT;
	forget_ops(m, b->first[b->ninsns - 1], b->nops);
	return ARRIVED;
}

/*
 * Recordings of old come to a string instruction once more where nothing is left
 * to do, instead of leaving it here, behind what it did.
 */
static bool looks_again(const struct vt_interp *m, const struct vti_block *b,
			const struct vti_op *exit, uint64_t want)
{
	uint32_t last = b->ninsns - 1;

	return m->opt.valgrind && exit + 1 == b->ops + b->nops - 1 && exit->insn == b->ninsns &&
	       want == addr_of(b, last) && ends_at(b, addr_of(b, last));
}

static enum step plain_exit(struct vt_interp *m, struct piece *p, const struct vti_op *op)
{
	const struct vti_block *b = m->code->block;
	struct vt_word guard = b->slots[op->a];
	uint32_t insn = get_op_insn(b, op);
	uint64_t want = find_next_address(m, p, insn);
	bool again = !m->opt.valgrind && insn + 1 == b->ninsns && ends_with_repeat(b);

	if (retries_atomic(b, op, insn) && want != op->imm)
		return GO_ON;
	if (vt_word_is_known(guard) && again && op->imm == addr_of(b, insn))
		return repeat_insn(m, p);
	if (looks_again(m, b, op, want))
		return ARRIVED;
	if (vt_word_is_known(guard))
		return !want || want == op->imm ? ARRIVED : CONTRADICTION;
	if (again) {
		forget_ops(m, b->first[insn], b->nops);
		return ARRIVED;
	}
	if (!want)
		return leave_unknown(m, op);
	if (want != op->imm)
		return infer_from_branch(m, op, false);
	return other_way(b, op) ? leave_unknown(m, op) : infer_from_branch(m, op, true);
}

static enum step take_exit(struct vt_interp *m, struct piece *p, const struct vti_op *op)
{
	const struct vti_block *b = m->code->block;

	if (vti_plain_jump(op->aux))
		return plain_exit(m, p, op);
	if (op->aux == Ijk_EmWarn)
		return vt_word_is_known(b->slots[op->a]) ? ARRIVED : GO_ON;
	/* A trap: the path would not go on. */
	return vt_word_is_known(b->slots[op->a]) ? CONTRADICTION : infer_from_branch(m, op, false);
}

/* ---- ends ---- */

/* The one system call that sets the bases of fs and gs: asm/unistd_64.h. */
#define ARCH_PRCTL 158

/* What the kernel did, only the caller can tell. */
static void after_syscall(struct vt_interp *m)
{
	struct vt_word number = vt_interp_get(m, VT_REG_AX, 0);

	if (!vt_word_is_known(number) || number.value == ARCH_PRCTL) {
		vt_interp_set(m, VT_REG_FS, 0, vt_word_unknown(64));
		vt_interp_set(m, VT_REG_GS, 0, vt_word_unknown(64));
	}
	vt_interp_set(m, VT_REG_AX, 0, vt_word_unknown(64));
	vt_interp_set(m, VT_REG_CX, 0, vt_word_unknown(64));
	vt_interp_set(m, VT_REG_R8 + 3, 0, vt_word_unknown(64));
	vt_known_memory_forget(m->mem);
}

static enum step plain_end(struct vt_interp *m, struct piece *p, const struct vti_op *op)
{
	struct vti_block *b = m->code->block;
	struct vt_word target = b->slots[op->a];
	uint32_t insn = b->ninsns - 1;
	uint64_t want = find_next_address(m, p, insn);

	if (!m->opt.valgrind && want != addr_of(b, insn) && ends_at(b, addr_of(b, insn)))
		return repeat_insn(m, p);
	if (!want)
		return ARRIVED;
	if (m->opt.valgrind && want == addr_of(b, insn) && ends_with_repeat(b))
		return ARRIVED;
	if (vt_word_is_known(target))
		return target.value == want ? ARRIVED : CONTRADICTION;
	/* It came from the stack, nobody knows from where. */
	if (op->aux == Ijk_Ret && !vt_word_is_known(m->state[VTI_STATE(RSP)]))
		return ARRIVED;
	return vti_infer_from_slot(m, b, op_number(b, op), op->a, vt_word_of(want)) ? ARRIVED
										    : CONTRADICTION;
}

static enum step take_end(struct vt_interp *m, struct piece *p, const struct vti_op *op)
{
	if (vti_plain_jump(op->aux))
		return plain_end(m, p, op);
	switch (op->aux) {
	case Ijk_ClientReq:
		vt_interp_set(m, VT_REG_DX, 0, vt_word_unknown(64));
		break;
	case Ijk_InvalICache:
		p->stale = true;
		break;
	case Ijk_NoDecode:
		return BAD;
	default:
		if (vti_system_call(op->aux))
			after_syscall(m);
		break;
	}
	return ARRIVED;
}

/* ---- blocks ---- */

static enum step take_op(struct vt_interp *m, struct piece *p, const struct vti_op *op)
{
	const struct vti_block *b = m->code->block;

	switch (op->op) {
	case VTI_EXIT:
		return take_exit(m, p, op);
	case VTI_END:
		return take_end(m, p, op);
	case VTI_STOP:
		if (op->insn && m->piece + op->insn == p->ninsns)
			return ARRIVED;
		return b->bad ? BAD : NO_CODE;
	default:
		/* It would have divided by zero. */
		return CONTRADICTION;
	}
}

/* *insns becomes how many instructions of the piece are behind. */
static enum step follow_block(struct vt_interp *m, struct piece *p, uint32_t *insns)
{
	const struct vti_block *b = m->code->block;
	struct vti_op *op = b->ops;
	enum step step;

	m->piece = *insns;
	for (;; op++) {
		op = vti_eval(m, op);
		step = take_op(m, p, op);
		if (step != GO_ON)
			break;
	}
	if (step == ARRIVED)
		*insns = m->piece + (op->op == VTI_STOP ? op->insn : get_op_insn(b, op) + 1);
	else if (step == REPEAT)
		*insns = m->piece + b->ninsns - 1;
	return step;
}

static enum vt_stop stop_at_contradiction(struct vt_interp *m)
{
	vt_interp_forget(m);
	vt_known_memory_forget(m->mem);
	return VT_STOP_PATH;
}

static enum vt_stop follow_piece(struct vt_interp *m, struct piece *p, uint64_t addr,
				 struct vt_error *err)
{
	uint64_t base = m->insns;
	uint32_t done = 0;

	while (done < p->ninsns) {
		uint32_t before = done;

		m->code = vti_code_part(m, addr, p->ninsns - done, err);
		if (!m->code)
			return err->code == VT_OK ? VT_STOP_CODE : VT_STOP_MEMORY;
		m->insns = base + done;
		switch (follow_block(m, p, &done)) {
		case CONTRADICTION:
			return stop_at_contradiction(m);
		case BAD:
			return VT_STOP_BAD;
		case NO_CODE:
			return VT_STOP_CODE;
		default:
			break;
		}
		addr = addr_of(m->code->block, done - before);
		if (p->stale)
			vt_interp_forget_space(m, m->space);
		p->stale = false;
	}
	m->insns = base + done;
	return VT_STOP_LENGTH;
}

enum vt_stop vt_interp_follow(struct vt_interp *m, uint64_t space, uint64_t addr, uint32_t ninsns,
			      uint64_t next, struct vt_error *err)
{
	struct piece piece = {.ninsns = ninsns, .next = next};
	enum vt_stop why;

	m->space = space;
	m->following = true;
	m->hooks = &m->opt.hooks;
	why = follow_piece(m, &piece, addr, err);
	m->state[VTI_STATE(RIP)] =
		why == VT_STOP_LENGTH && next ? vt_word_of(next) : vt_word_unknown(64);
	if (m->no_memory) {
		vt_error_set(err, VT_E_NOMEM, "out of memory for captured values");
		m->no_memory = false;
		why = VT_STOP_MEMORY;
	}
	return why;
}
