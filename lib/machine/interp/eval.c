/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/interp/eval.h"

#include <string.h>

#include <libvex_basictypes.h>
#include <libvex_ir.h>

#include "base/buf.h"
#include "machine/interp/call.h"
#include "machine/interp/code.h"
#include "machine/interp/evex.h"
#include "machine/interp/flags.h"
#include "machine/interp/known_memory_fast.h"
#include "machine/interp/memory.h"

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
static struct vti_code *follow_link(struct vt_interp *m, struct vti_link *link, uint64_t addr,
				    uint64_t insns)
{
	const struct vti_block *b = m->code->block;
	struct vti_code *code = link->code;

	if (m->opt.transfer && link == &m->code->end && b->ops[b->nops - 1].imm)
		return NULL;
	if (!code || link->addr != addr || code->checked != m->checks) {
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

static void set_result_unknown(const struct vti_op *op, struct vt_word *slots)
{
	unsigned i;

	if (op->aux < 8)
		slots[op->dst] = vt_word_unknown(8u * op->aux + !op->aux);
	for (i = 0; i < op->aux / 8u; i++)
		slots[op->dst + i] = vt_word_unknown(64);
}

static inline struct vt_word select_word(struct vt_word by, struct vt_word yes, struct vt_word no)
{
	if (!vt_word_is_known(by))
		return vti_fast_either(yes, no);
	return by.value ? yes : no;
}

static void choose_words(const struct vti_op *op, struct vt_word *slots)
{
	struct vt_word by = slots[op->a];
	unsigned i;

	for (i = 0; i < op->aux; i++)
		slots[op->dst + i] = select_word(by, slots[op->b + i], slots[op->c + i]);
}

static void eval_condition(const struct vti_op *op, struct vt_word *slots)
{
	const struct vti_call *c = (const struct vti_call *)op->data;
	const uint16_t *a = c->args;

	slots[c->dst] = vti_flags_condition(slots[a[0]], slots[a[1]], slots[a[2]], slots[a[3]],
					    slots[a[4]]);
}

/* ---- the guest state and memory ---- */

static inline struct vt_word *slot(struct vt_word *slots, unsigned twice)
{
	return (struct vt_word *)(void *)((uint8_t *)slots + 8 * (size_t)twice);
}

/* A word has twice the bytes that it stands for. */
static inline struct vt_word *state_at(struct vt_interp *m, const struct vti_op *op)
{
	return (struct vt_word *)(void *)((uint8_t *)m->state + 2 * op->imm);
}

/* Known bytes at hand are loaded and stored at once; `size` is a constant where this is used. */
static inline bool load_known(const struct vt_interp *m, struct vt_word addr, unsigned size,
			      struct vt_word *words)
{
	const uint8_t *p;
	unsigned i;

	if (!vt_word_is_known(addr))
		return false;
	p = vti_known_at(m->mem, addr.value, size);
	if (!p)
		return false;
	for (i = 0; i < (size + 7) / 8; i++) {
		words[i] = vt_word_of(0);
		memcpy(&words[i].value, p + 8 * (size_t)i, size < 8 ? size : 8);
	}
	return true;
}

static inline void load_words(struct vt_interp *m, const struct vti_op *op, unsigned size,
			      struct vt_word *slots, bool asks)
{
	struct vt_word addr = vti_word_at(slot(slots, op->a2));

	if (!load_known(m, addr, size, slot(slots, op->dst2)))
		vti_load(m, op, addr, size, slot(slots, op->dst2));
	else if (asks)
		vti_ask_load(m, op, addr, size, slot(slots, op->dst2));
}

static inline void store_words(struct vt_interp *m, const struct vti_op *op, unsigned size,
			       struct vt_word *slots)
{
	struct vt_word addr = vti_word_at(slot(slots, op->a2));
	const struct vt_word *words = slot(slots, op->b2);
	uint64_t known = addr.known;
	uint8_t *p = NULL;
	unsigned i;

	for (i = 0; i < (size + 7) / 8; i++)
		known &= words[i].known;
	if (known == ~UINT64_C(0))
		p = vti_known_at(m->mem, addr.value, size);
	for (i = 0; p && i < (size + 7) / 8; i++)
		memcpy(p + 8 * (size_t)i, &words[i].value, size < 8 ? size : 8);
	if (!p)
		vti_store(m, addr, size, words);
}

/* ---- captures ---- */

static bool add_room(struct vt_interp *m)
{
	if (vt_array_grow(&m->captures, &m->captures_cap, m->ncaptures + 1, sizeof(*m->captures)))
		return true;
	m->no_memory = true;
	return false;
}

static inline void add_word_captures(struct vt_interp *m, const struct vti_op *op, struct vt_word w,
				     unsigned lane)
{
	if (m->ncaptures == m->captures_cap && !add_room(m))
		return;
	m->captures[m->ncaptures++] = (struct vt_capture){
		.ip = op->imm,
		.value = w.value,
		.insn = (uint32_t)(m->insns + op->insn),
		.size = op->c,
		.what = (uint8_t)op->aux,
		.reg = (uint8_t)op->b,
		.lane = (uint8_t)lane,
		.known = vt_word_is_known(w),
	};
}

static void capture_words(struct vt_interp *m, const struct vti_op *op, const struct vt_word *words)
{
	unsigned i;

	for (i = 0; i < op->c / 8u; i++)
		add_word_captures(m, op, vti_word_at(&words[i]), i);
	if (op->c % 8)
		add_word_captures(m, op, vti_word_at(&words[i]), i);
}

static void capture_state_words(struct vt_interp *m, const struct vti_op *op)
{
	struct vt_word words[4];

	vti_state_get(m, op->a, op->c, words);
	capture_words(m, op, words);
}

static void capture_insn(struct vt_interp *m, const struct vti_op *op)
{
	add_word_captures(m, op, vt_word_unknown(1), 0);
}

/* ---- the loop ---- */

/* Each operation goes on to the next by itself, which processors learn to foresee. */
#define GO_ON(n)                                                                                   \
	do {                                                                                       \
		op += (n);                                                                         \
		goto *labels[op->run];                                                             \
	} while (0)

#define LABEL(name) [VTI_##name] = &&do_##name
#define LABELS(name)                                                                               \
	LABEL(name##1), LABEL(name##2), LABEL(name##4), LABEL(name##8), LABEL(name##16),           \
		LABEL(name##32)

#define SMALL_STATE(n)                                                                             \
	do_GET##n : vti_state_get(m, (unsigned)op->imm, n, slot(s, op->dst2));                     \
	GO_ON(1);                                                                                  \
	do_PUT##n : vti_state_put(m, (unsigned)op->imm, n, slot(s, op->a2));                       \
	GO_ON(1);

#define WIDE_STATE(n)                                                                              \
	do_GET##n : vti_words_copy(slot(s, op->dst2), state_at(m, op), (n) / 8);                   \
	GO_ON(1);                                                                                  \
	do_PUT##n : vti_words_copy(state_at(m, op), slot(s, op->a2), (n) / 8);                     \
	GO_ON(1);

#define MEMORY(n)                                                                                  \
	do_LOAD##n : load_words(m, op, n, s, asks);                                                \
	GO_ON(1);                                                                                  \
	do_STORE##n : store_words(m, op, n, s);                                                    \
	GO_ON(1);

struct vti_op *vti_eval(struct vt_interp *m, struct vti_op *op)
{
	static const void *const labels[VTI_RUN_END] = {
		LABEL(STOP),	      LABEL(END),
		LABEL(EXIT),	      LABELS(GET),
		LABELS(PUT),	      LABELS(LOAD),
		LABELS(STORE),	      LABEL(MOVE1),
		LABEL(MOVE2),	      LABEL(MOVE4),
		LABEL(ITE),	      LABEL(GETI),
		LABEL(PUTI),	      LABEL(IROP),
		LABEL(UNKNOWN),	      LABEL(CCALL),
		LABEL(DIRTY),	      LABEL(CAS),
		LABEL(LOADG),	      LABEL(STOREG),
		LABEL(UNLIFTED),      LABEL(EVEX),
		LABEL(CLEAR_HIGH),    LABEL(CAPTURE),
		LABEL(CAPTURE_STATE), LABEL(CAPTURE_INSN),
		LABEL(RUN_DIVIDE),    LABEL(RUN_ITE),
		LABEL(RUN_CONDITION), LABEL(RUN_GETS),
		LABEL(RUN_PUTS),      LABEL(RUN_PUTS4),
		LABEL(RUN_CAPTURE),   LABEL(RUN_CAPTURE_STATE),
#define FAST1(name, irop, result)                                                                  \
	[VTI_FAST_##name] = &&do_##name,                                                           \
	[VTI_RUN_PUT + VTI_FAST_##name - VTI_FAST] = &&put_##name,                                 \
	[VTI_RUN_EXIT + VTI_FAST_##name - VTI_FAST] = &&exit_##name,
#define FAST2(name, irop, result)	    FAST1(name, irop, result)
#define FASTN(name, irop, words, statement) [VTI_FAST_##name] = &&do_##name,
#include "machine/lift/fastop.def"
	};
	struct vt_word *s = m->code->block->slots;
	const bool asks = m->hooks->load;

	GO_ON(0);

do_STOP:
	return op;
do_END:
	if (m->following || !vti_plain_jump(op->aux) || !vt_word_is_known(*slot(s, op->a2)) ||
	    !follow_link(m, &m->code->end, slot(s, op->a2)->value, m->code->block->ninsns))
		return op;
	op = m->code->block->ops;
	s = m->code->block->slots;
	GO_ON(0);
do_EXIT:
	if (vt_word_is_known(*slot(s, op->a2)) && !slot(s, op->a2)->value)
		GO_ON(1);
	if (m->following || !vti_plain_jump(op->aux) || !vt_word_is_known(*slot(s, op->a2)) ||
	    !follow_link(m, &m->code->exit, op->imm, op->insn))
		return op;
	op = m->code->block->ops;
	s = m->code->block->slots;
	GO_ON(0);
	SMALL_STATE(1)
	SMALL_STATE(2)
	SMALL_STATE(4)
	WIDE_STATE(8)
	WIDE_STATE(16)
	WIDE_STATE(32)
do_RUN_GETS:
	*slot(s, op->dst2) = vti_word_at(state_at(m, op));
	*slot(s, op[1].dst2) = vti_word_at(state_at(m, &op[1]));
	GO_ON(2);
do_RUN_PUTS:
	*state_at(m, op) = vti_word_at(slot(s, op->a2));
	*state_at(m, &op[1]) = vti_word_at(slot(s, op[1].a2));
	GO_ON(2);
do_RUN_PUTS4:
	*state_at(m, op) = vti_word_at(slot(s, op->a2));
	*state_at(m, &op[1]) = vti_word_at(slot(s, op[1].a2));
	*state_at(m, &op[2]) = vti_word_at(slot(s, op[2].a2));
	*state_at(m, &op[3]) = vti_word_at(slot(s, op[3].a2));
	GO_ON(4);
	MEMORY(1)
	MEMORY(2)
	MEMORY(4)
	MEMORY(8)
	MEMORY(16)
	MEMORY(32)
do_MOVE1:
	*slot(s, op->dst2) = vti_word_at(slot(s, op->a2));
	GO_ON(1);
do_MOVE2:
	vti_words_copy(slot(s, op->dst2), slot(s, op->a2), 2);
	GO_ON(1);
do_MOVE4:
	vti_words_copy(slot(s, op->dst2), slot(s, op->a2), 4);
	GO_ON(1);
do_ITE:
	choose_words(op, s);
	GO_ON(1);
do_RUN_ITE:
	*slot(s, op->dst2) = select_word(vti_word_at(slot(s, op->a2)), vti_word_at(slot(s, op->b2)),
					 vti_word_at(&s[op->c]));
	GO_ON(1);
do_GETI:
	vti_get_element(m, op, s);
	GO_ON(1);
do_PUTI:
	vti_put_element(m, op, s);
	GO_ON(1);
do_RUN_DIVIDE:
	if (divides_by_zero(op, s))
		return op;
do_IROP:
	run_irop(m, op, s);
	GO_ON(1);
do_UNKNOWN:
	set_result_unknown(op, s);
	GO_ON(1);
do_CCALL:
	vti_call_pure(m, op, s);
	GO_ON(1);
do_RUN_CONDITION:
	eval_condition(op, s);
	GO_ON(1);
do_DIRTY:
	vti_call_dirty(m, op, s);
	GO_ON(1);
do_CAS:
	vti_compare_and_swap(m, op, s);
	GO_ON(1);
do_LOADG:
	vti_load_guarded(m, op, s);
	GO_ON(1);
do_STOREG:
	vti_store_guarded(m, op, s);
	GO_ON(1);
do_UNLIFTED:
	vti_run_unlifted(m, (const struct vti_unlifted *)op->data);
	GO_ON(1);
do_CLEAR_HIGH:
	vti_clear_high_halves(m, (unsigned)op->imm, vt_word_of(0));
	GO_ON(1);
do_EVEX:
	vti_run_evex(m, op, s);
	GO_ON(1);
do_RUN_CAPTURE:
	add_word_captures(m, op, vti_word_at(slot(s, op->a2)), 0);
	GO_ON(1);
do_RUN_CAPTURE_STATE:
	add_word_captures(m, op, vti_word_at(&m->state[op->a / 8]), 0);
	GO_ON(1);
do_CAPTURE:
	capture_words(m, op, slot(s, op->a2));
	GO_ON(1);
do_CAPTURE_STATE:
	capture_state_words(m, op);
	GO_ON(1);
do_CAPTURE_INSN:
	capture_insn(m, op);
	GO_ON(1);
#define VARIANTS(name, operands, result)                                                           \
	do_##name:                                                                                 \
	{                                                                                          \
		operands;                                                                          \
		*slot(s, op->dst2) = result;                                                       \
	}                                                                                          \
	GO_ON(1);                                                                                  \
	put_##name:                                                                                \
	{                                                                                          \
		operands;                                                                          \
		*slot(s, op->dst2) = *state_at(m, &op[1]) = result;                                \
	}                                                                                          \
	GO_ON(2);                                                                                  \
	exit_##name:                                                                               \
	{                                                                                          \
		operands;                                                                          \
		struct vt_word r = result;                                                         \
                                                                                                   \
		*slot(s, op->dst2) = r;                                                            \
		op++;                                                                              \
		if (!vt_word_is_known(r) || r.value)                                               \
			goto do_EXIT;                                                              \
	}                                                                                          \
	GO_ON(1);
#define FAST1(name, irop, result)                                                                  \
	VARIANTS(name, struct vt_word a = vti_word_at(slot(s, op->a2)), result)
#define FAST2(name, irop, result)                                                                  \
	VARIANTS(name, struct vt_word a = vti_word_at(slot(s, op->a2));                            \
		 struct vt_word b = vti_word_at(slot(s, op->b2)), result)
#define FASTN(name, irop, words, statement)                                                        \
	do_##name:                                                                                 \
	{                                                                                          \
		struct vt_word *d = slot(s, op->dst2);                                             \
		const struct vt_word *p = slot(s, op->a2), *q = slot(s, op->b2);                   \
                                                                                                   \
		(void)q;                                                                           \
		statement;                                                                         \
	}                                                                                          \
	GO_ON(1);
#include "machine/lift/fastop.def"
}
