/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/interp_eval.h"

#include <string.h>

#include <libvex_basictypes.h>
#include <libvex_ir.h>

#include "base/buf.h"
#include "machine/fastop.h"
#include "machine/interp_call.h"
#include "machine/interp_code.h"
#include "machine/interp_memory.h"

bool vti_plain_jump(unsigned kind)
{
	return kind == Ijk_Boring || kind == Ijk_Call || kind == Ijk_Ret || kind == Ijk_Yield;
}

bool vti_system_call(unsigned kind)
{
	switch (kind) {
	case Ijk_Sys_syscall:
	case Ijk_Sys_int32:
	case Ijk_Sys_int128:
	case Ijk_Sys_int129:
	case Ijk_Sys_int130:
	case Ijk_Sys_int145:
	case Ijk_Sys_int210:
	case Ijk_Sys_sysenter:
		return true;
	default:
		return false;
	}
}

/* The block that is reached by this link, when nothing stands against going on there at once. */
static struct vti_code *chain(struct vt_interp *m, struct vti_link *link, uint64_t addr,
			      uint64_t insns)
{
	struct vti_code *code = link->code;

	if (!code || link->addr != addr) {
		code = vti_code_near(m, addr);
		if (!code)
			return NULL;
		*link = (struct vti_link){addr, code};
	}
	if (!code->block->ninsns || m->left - insns < code->block->ninsns)
		return NULL;
	m->left -= insns;
	m->insns += insns;
	m->code = code;
	return code;
}

static bool divides_by_zero(const struct vti_op *op, const struct vt_word *slots)
{
	return vt_word_is_known(slots[op->b]) && !slots[op->b].value;
}

static void run_irop(const struct vt_interp *m, const struct vti_op *op, struct vt_word *slots)
{
	const struct vt_word *args[4] = {&slots[op->a], &slots[op->b], &slots[op->c],
					 &slots[op->d]};

	((const struct vti_irop *)op->data)->fn(&m->fp, &slots[op->dst], args);
}

static void set_unknown(const struct vti_op *op, struct vt_word *slots)
{
	unsigned i;

	if (op->aux < 8)
		slots[op->dst] = vt_word_unknown(8u * op->aux + !op->aux);
	for (i = 0; i < op->aux / 8u; i++)
		slots[op->dst + i] = vt_word_unknown(64);
}

static void choose(const struct vti_op *op, struct vt_word *slots)
{
	struct vt_word by = slots[op->a];
	unsigned i;

	for (i = 0; i < op->aux; i++) {
		struct vt_word yes = slots[op->b + i], no = slots[op->c + i];

		if (!vt_word_is_known(by))
			slots[op->dst + i] = vti_fast_either(yes, no);
		else
			slots[op->dst + i] = by.value ? yes : no;
	}
}

/* ---- captures ---- */

static void capture(struct vt_interp *m, const struct vti_op *op, const struct vt_word *words)
{
	const struct vti_block *b = m->code->block;
	unsigned n = op->c > 8 ? (op->c + 7u) / 8 : 1, i;

	if (m->ncaptures + n > m->captures_cap &&
	    !vt_array_grow(&m->captures, &m->captures_cap, m->ncaptures + n,
			   sizeof(*m->captures))) {
		m->no_memory = true;
		return;
	}
	for (i = 0; i < n; i++)
		m->captures[m->ncaptures++] = (struct vt_capture){
			.ip = b->addr + b->offset[op->insn],
			.value = words ? words[i].value : 0,
			.insn = (uint32_t)(m->insns + op->insn),
			.size = op->c,
			.what = (uint8_t)op->aux,
			.reg = (uint8_t)op->b,
			.lane = (uint8_t)i,
			.known = words && vt_word_is_known(words[i]),
		};
}

static void capture_state(struct vt_interp *m, const struct vti_op *op)
{
	struct vt_word words[4];

	vti_state_get(m, (unsigned)op->imm, op->c, words);
	capture(m, op, words);
}

static void capture_insn(struct vt_interp *m, const struct vti_op *op)
{
	struct vti_op plain = {.insn = op->insn};

	capture(m, &plain, NULL);
}

/* ---- the loop ---- */

#define SMALL_STATE(n)                                                                             \
	case VTI_GET##n:                                                                           \
		vti_state_get(m, (unsigned)op->imm, n, &s[op->dst]);                               \
		break;                                                                             \
	case VTI_PUT##n:                                                                           \
		vti_state_put(m, (unsigned)op->imm, n, &s[op->a]);                                 \
		break;

#define WIDE_STATE(n)                                                                              \
	case VTI_GET##n:                                                                           \
		memcpy(&s[op->dst], &m->state[op->imm / 8], (n) / 8 * sizeof(*s));                 \
		break;                                                                             \
	case VTI_PUT##n:                                                                           \
		memcpy(&m->state[op->imm / 8], &s[op->a], (n) / 8 * sizeof(*s));                   \
		break;

#define MEMORY(n)                                                                                  \
	case VTI_LOAD##n:                                                                          \
		vti_load(m, op, s[op->a], n, &s[op->dst]);                                         \
		break;                                                                             \
	case VTI_STORE##n:                                                                         \
		vti_store(m, s[op->a], n, &s[op->b]);                                              \
		break;

struct vti_op *vti_eval(struct vt_interp *m, struct vti_op *op)
{
	struct vt_word *s = m->code->block->slots;

	for (;; op++) {
		switch (op->op) {
		case VTI_STOP:
			return op;
		case VTI_END:
			if (m->following || !vti_plain_jump(op->aux) ||
			    !vt_word_is_known(s[op->a]) ||
			    !chain(m, &m->code->end, s[op->a].value, m->code->block->ninsns))
				return op;
			op = m->code->block->ops - 1;
			s = m->code->block->slots;
			break;
		case VTI_EXIT:
			if (vt_word_is_known(s[op->a]) && !s[op->a].value)
				break;
			if (m->following || !vti_plain_jump(op->aux) ||
			    !vt_word_is_known(s[op->a]) ||
			    !chain(m, &m->code->exit, op->imm, op->insn))
				return op;
			op = m->code->block->ops - 1;
			s = m->code->block->slots;
			break;
			SMALL_STATE(1)
			SMALL_STATE(2)
			SMALL_STATE(4)
			WIDE_STATE(8)
			WIDE_STATE(16)
			WIDE_STATE(32)
			MEMORY(1)
			MEMORY(2)
			MEMORY(4)
			MEMORY(8)
			MEMORY(16)
			MEMORY(32)
		case VTI_MOVE1:
			s[op->dst] = s[op->a];
			break;
		case VTI_MOVE2:
			memmove(&s[op->dst], &s[op->a], 2 * sizeof(*s));
			break;
		case VTI_MOVE4:
			memmove(&s[op->dst], &s[op->a], 4 * sizeof(*s));
			break;
		case VTI_ITE:
			choose(op, s);
			break;
		case VTI_GETI:
			vti_get_element(m, op, s);
			break;
		case VTI_PUTI:
			vti_put_element(m, op, s);
			break;
		case VTI_DIVIDE:
			if (divides_by_zero(op, s))
				return op;
			run_irop(m, op, s);
			break;
		case VTI_IROP:
			run_irop(m, op, s);
			break;
		case VTI_UNKNOWN:
			set_unknown(op, s);
			break;
		case VTI_CCALL:
			vti_call_pure(m, op, s);
			break;
		case VTI_DIRTY:
			vti_call_dirty(m, op, s);
			break;
		case VTI_CAS:
			vti_compare_and_swap(m, op, s);
			break;
		case VTI_LOADG:
			vti_load_guarded(m, op, s);
			break;
		case VTI_STOREG:
			vti_store_guarded(m, op, s);
			break;
		case VTI_UNLIFTED:
			vti_run_unlifted(m, (const struct vti_unlifted *)op->data);
			break;
		case VTI_CAPTURE:
			capture(m, op, &s[op->a]);
			break;
		case VTI_CAPTURE_STATE:
			capture_state(m, op);
			break;
		case VTI_CAPTURE_INSN:
			capture_insn(m, op);
			break;
#define FAST1(name, irop, result)                                                                  \
	case VTI_FAST_##name: {                                                                    \
		struct vt_word a = s[op->a], b = s[op->b];                                         \
                                                                                                   \
		(void)b;                                                                           \
		s[op->dst] = result;                                                               \
		break;                                                                             \
	}
#define FASTN(name, irop, statement)                                                               \
	case VTI_FAST_##name: {                                                                    \
		struct vt_word *d = &s[op->dst];                                                   \
		const struct vt_word *p = &s[op->a], *q = &s[op->b];                               \
                                                                                                   \
		(void)q;                                                                           \
		statement;                                                                         \
		break;                                                                             \
	}
#include "machine/fastop.def"
		default:
			return op;
		}
	}
}
