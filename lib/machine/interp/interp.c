/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/interp/interp.h"

#include <stdlib.h>

#include <libvex_basictypes.h>
#include <libvex_ir.h>

#include "machine/interp/code.h"
#include "machine/interp/eval.h"

static const struct vt_interp_hooks no_hooks;

const char *vt_stop_name(enum vt_stop why)
{
	switch (why) {
	case VT_STOP_LENGTH:
		return "full length";
	case VT_STOP_BRANCH:
		return "unknown branch";
	case VT_STOP_TARGET:
		return "unknown target";
	case VT_STOP_SYSCALL:
		return "system call";
	case VT_STOP_CODE:
		return "no code";
	case VT_STOP_BAD:
		return "bad instruction";
	case VT_STOP_TRAP:
		return "trap";
	case VT_STOP_PATH:
		return "contradiction";
	case VT_STOP_MEMORY:
		return "out of memory";
	default:
		return "unknown";
	}
}

struct vt_interp *vt_interp_new(const struct vt_interp_options *opt, struct vt_known_memory *mem,
				struct vt_error *err)
{
	struct vt_interp *m = calloc(1, sizeof(*m));

	if (!m || !vti_code_init(m)) {
		vt_interp_free(m);
		vt_error_set(err, VT_E_NOMEM, "out of memory for the interpreter");
		return NULL;
	}
	m->opt = *opt;
	m->mem = mem;
	m->hooks = &no_hooks;
	vt_interp_forget(m);
	return m;
}

void vt_interp_free(struct vt_interp *m)
{
	if (!m)
		return;
	vti_code_fini(m);
	free(m->captures);
	free(m);
}

const struct vt_capture *vt_interp_captures(const struct vt_interp *m, size_t *count)
{
	*count = m->ncaptures;
	return m->captures;
}

void vt_interp_clear(struct vt_interp *m)
{
	m->ncaptures = 0;
	m->insns = 0;
}

void vt_interp_lifted(const struct vt_interp *m, uint64_t *blocks, uint64_t *unlifted)
{
	*blocks = m->nlifted;
	*unlifted = m->nunlifted;
}

uint64_t vt_interp_inferred(const struct vt_interp *m)
{
	return m->ninferred;
}

/* ---- a free run ---- */

static void set_ip_word(struct vt_interp *m, uint64_t addr)
{
	m->state[VTI_STATE(RIP)] = vt_word_of(addr);
}

static void forget_ip(struct vt_interp *m)
{
	m->state[VTI_STATE(RIP)] = vt_word_unknown(64);
}

/* So many instructions of the block at hand were run. */
static void count_run_insns(struct vt_interp *m, uint64_t n)
{
	m->left -= n;
	m->insns += n;
}

/* In the middle of a block, the flags may not have been written that nobody there reads. */
static void stop_inside(struct vt_interp *m, uint32_t insn)
{
	const struct vti_block *b = m->code->block;

	if (insn)
		vti_state_forget(m, offsetof(VexGuestAMD64State, guest_CC_OP), 4 * 8);
	count_run_insns(m, insn);
	set_ip_word(m, b->addr + b->offset[insn]);
}

/* A jump of a kind that is more than a jump. */
static enum vt_stop after_jump(struct vt_interp *m, unsigned kind)
{
	switch (kind) {
	case Ijk_InvalICache:
		vt_interp_forget_space(m, m->space);
		return VT_STOP_LENGTH;
	case Ijk_FlushDCache:
	case Ijk_EmWarn:
	case Ijk_NoRedir:
		return VT_STOP_LENGTH;
	case Ijk_NoDecode:
		return VT_STOP_BAD;
	default:
		if (vti_system_call(kind))
			return VT_STOP_SYSCALL;
		return vti_plain_jump(kind) ? VT_STOP_LENGTH : VT_STOP_TRAP;
	}
}

/* A condition that nobody knows: programs do not trap, and what is atomic succeeds. */
static bool assumes_no_exit(const struct vt_interp *m, const struct vti_op *op)
{
	const struct vti_block *b = m->code->block;
	uint32_t insn = op->insn ? op->insn - 1u : 0;
	const struct vti_op *o;

	if (!vti_plain_jump(op->aux))
		return true;
	if (op->imm != b->addr + b->offset[insn])
		return false;
	for (o = b->ops + b->first[insn]; o < op; o++)
		if (o->op == VTI_CAS)
			return true;
	return false;
}

/* The operation that the evaluator came to: VT_STOP_LENGTH to go on at the address in IP. */
static enum vt_stop run_special_op(struct vt_interp *m, const struct vti_op *op)
{
	const struct vti_block *b = m->code->block;
	const struct vt_word *slots = b->slots;

	switch (op->op) {
	case VTI_EXIT:
		count_run_insns(m, op->insn);
		forget_ip(m);
		if (!vt_word_is_known(slots[op->a]))
			return VT_STOP_BRANCH;
		set_ip_word(m, op->imm);
		return after_jump(m, op->aux);
	case VTI_END:
		count_run_insns(m, b->ninsns);
		m->state[VTI_STATE(RIP)] = slots[op->a];
		if (!vt_word_is_known(slots[op->a]) && vti_plain_jump(op->aux))
			return VT_STOP_TARGET;
		if (m->opt.transfer && op->imm && vti_plain_jump(op->aux))
			m->opt.transfer(m->opt.transfer_arg, (uint32_t)m->insns,
					op->aux == Ijk_Call);
		return after_jump(m, op->aux);
	case VTI_STOP:
		stop_inside(m, op->insn);
		if (!m->left)
			return VT_STOP_LENGTH;
		return b->bad ? VT_STOP_BAD : b->no_code ? VT_STOP_CODE : VT_STOP_LENGTH;
	default:
		stop_inside(m, op->insn);
		return VT_STOP_TRAP;
	}
}

/* Runs the block at hand, or what m->left allows of it. */
static enum vt_stop run_block(struct vt_interp *m)
{
	struct vti_block *b = m->code->block;
	struct vti_op *cut = NULL, kept = {0}, *op = b->ops;

	if (m->left < b->ninsns) {
		cut = &b->ops[b->first[m->left]];
		kept = *cut;
		*cut = (struct vti_op){.op = VTI_STOP, .insn = (uint16_t)m->left};
	}
	op = vti_eval(m, op);
	while (op->op == VTI_EXIT && !vt_word_is_known(m->code->block->slots[op->a]) &&
	       assumes_no_exit(m, op))
		op = vti_eval(m, op + 1);
	if (cut)
		*cut = kept;
	if (op == cut) {
		stop_inside(m, cut ? (uint32_t)m->left : 0);
		return VT_STOP_LENGTH;
	}
	return run_special_op(m, op);
}

enum vt_stop vt_interp_run(struct vt_interp *m, uint64_t space, uint64_t max, uint64_t *done,
			   struct vt_error *err)
{
	enum vt_stop why = VT_STOP_LENGTH;

	m->space = space;
	m->left = max;
	m->following = false;
	m->hooks = &no_hooks;
	while (why == VT_STOP_LENGTH && m->left) {
		struct vt_word ip = m->state[VTI_STATE(RIP)];

		if (!vt_word_is_known(ip)) {
			why = VT_STOP_TARGET;
			break;
		}
		m->code = vti_code_find(m, ip.value, err);
		if (!m->code) {
			why = err->code == VT_OK ? VT_STOP_CODE : VT_STOP_MEMORY;
			break;
		}
		why = run_block(m);
		if (m->no_memory) {
			vt_error_set(err, VT_E_NOMEM, "out of memory for captured values");
			m->no_memory = false;
			why = VT_STOP_MEMORY;
		}
	}
	*done = max - m->left;
	return why;
}
