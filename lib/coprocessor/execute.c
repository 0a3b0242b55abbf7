/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "coprocessor/machine_internal.h"

/* What the operations of a word say to its branch. */
struct flags {
	bool hit, full, over, end;
	uint64_t result;
};

/* ---- the associative array ---- */

static uint16_t *find_head(struct vt_coproc *m, uint64_t key)
{
	return &m->heads[key * UINT64_C(0x9e3779b97f4a7c15) >> m->shift];
}

/* Of several entries with the key, the lowest answers. */
static bool match(struct vt_coproc *m, uint64_t key)
{
	unsigned e, found = 0;

	for (e = *find_head(m, key); e; e = m->chain[e - 1])
		if (m->keys[e - 1] == key && (!found || e < found))
			found = e;
	if (found)
		m->in[VT_OP_M] = found - 1;
	return found;
}

static void invalidate(struct vt_coproc *m, unsigned entry)
{
	uint16_t *at;

	if (!m->valid[entry])
		return;
	m->valid[entry] = 0;
	for (at = find_head(m, m->keys[entry]); *at != entry + 1; at = &m->chain[*at - 1])
		;
	*at = m->chain[entry];
}

static void enter(struct vt_coproc *m, unsigned entry, uint64_t key)
{
	uint16_t *head;

	invalidate(m, entry);
	head = find_head(m, key);
	m->keys[entry] = key;
	m->valid[entry] = 1;
	m->chain[entry] = *head;
	*head = (uint16_t)(entry + 1);
	m->in[VT_OP_M] = entry;
}

static void access_cam(struct vt_coproc *m, const struct vt_uword *w, uint64_t a, struct flags *f)
{
	unsigned entry = w->cam_m ? (unsigned)m->in[VT_OP_M] : m->x[w->x];
	uint64_t key = a & m->key_mask;

	if (w->cam == VT_CAM_MATCH)
		f->hit = match(m, key);
	else if (w->cam == VT_CAM_ENTER)
		enter(m, entry, key);
	else
		invalidate(m, entry);
}

/* ---- arithmetic ---- */

static inline uint64_t compute(unsigned alu, uint64_t a, uint64_t b, bool *over)
{
	switch (alu) {
	case VT_ALU_MOV:
		return a;
	case VT_ALU_NOT:
		return ~a;
	case VT_ALU_ADD:
		*over = a + b < a;
		return *over ? UINT64_MAX : a + b;
	case VT_ALU_SUB:
		*over = a < b;
		return *over ? 0 : a - b;
	case VT_ALU_AND:
		return a & b;
	case VT_ALU_OR:
		return a | b;
	case VT_ALU_XOR:
		return a ^ b;
	case VT_ALU_SHL1:
		return a << 1;
	case VT_ALU_SHL2:
		return a << 2;
	case VT_ALU_SHL4:
		return a << 4;
	case VT_ALU_SHL8:
		return a << 8;
	case VT_ALU_SHR1:
		return a >> 1;
	case VT_ALU_SHR2:
		return a >> 2;
	case VT_ALU_SHR4:
		return a >> 4;
	case VT_ALU_SHR8:
		return a >> 8;
	default:
		return 0;
	}
}

/*
 * A linear feedback shift register of maximal length, x^32 + x^22 + x^2 + x + 1 (Golomb); the paper
 * says that there is one, not which.  A word that reads it has all of its bits be new.
 */
static uint64_t draw(struct vt_coproc *m)
{
	unsigned i, bits = m->u->random_bits;
	uint32_t r = m->lfsr;

	for (i = 0; i < bits; i++)
		r = r >> 1 ^ (r & 1 ? 0x80200003u : 0);
	m->lfsr = r;
	return r & ((1u << bits) - 1);
}

/* ---- the data array ---- */

static inline uint64_t load(const uint8_t *p, unsigned log2)
{
	return log2 == 0 ? *p : log2 == 1 ? vt_le16(p) : log2 == 2 ? vt_le32(p) : vt_le64(p);
}

static inline void store(uint8_t *p, unsigned log2, uint64_t v)
{
	if (log2 == 0)
		*p = (uint8_t)v;
	else if (log2 == 1)
		vt_put_le16(p, (uint16_t)v);
	else if (log2 == 2)
		vt_put_le32(p, (uint32_t)v);
	else
		vt_put_le64(p, v);
}

static inline void access_data(struct vt_coproc *m, const struct vti_uop *op, struct flags *f)
{
	const struct vt_uword *w = &op->w;
	uint64_t i = w->index == VT_INDEX_X   ? m->x[w->x]
		     : w->index == VT_INDEX_M ? m->in[VT_OP_M]
					      : 0;
	uint8_t *p = m->data + (op->start | i << op->log2);
	uint64_t v = load(p, op->log2);

	switch (w->memory) {
	case VT_MEM_READ:
		m->in[VT_OP_D] = v;
		return;
	case VT_MEM_WRITE:
		store(p, op->log2, f->result);
		return;
	case VT_MEM_INC:
		v += v < op->most;
		f->full = v == op->most;
		break;
	case VT_MEM_DEC:
		v -= v > 0;
		f->full = v == 0;
		break;
	case VT_MEM_ADD:
		v = f->result > op->most - v ? op->most : v + f->result;
		f->full = v == op->most;
		break;
	case VT_MEM_OR:
		v = (v | f->result) & op->most;
		break;
	case VT_MEM_CLEAR:
		v = 0;
		break;
	default:
		v = 1;
	}
	store(p, op->log2, v);
	m->in[VT_OP_D] = v;
}

/* ---- the incrementer ---- */

static inline void step(struct vt_coproc *m, const struct vt_uword *w, struct flags *f)
{
	uint16_t max = m->xmax[w->x], v = m->x[w->x];

	switch (w->step) {
	case VT_STEP_UP:
		v = v < max ? (uint16_t)(v + 1) : v;
		f->end = v == max;
		break;
	case VT_STEP_DOWN:
		v = v ? (uint16_t)(v - 1) : 0;
		f->end = v == 0;
		break;
	case VT_STEP_NEXT:
		v = (uint16_t)((v + 1) & max);
		f->end = v == 0;
		break;
	case VT_STEP_BACK:
		v = (uint16_t)((v - 1) & max);
		f->end = v == max;
		break;
	case VT_STEP_CLEAR:
		v = 0;
		break;
	case VT_STEP_SET:
		v = (uint16_t)(f->result & max);
		break;
	default:
		v = (uint16_t)(m->in[VT_OP_M] & max);
	}
	m->x[w->x] = v;
}

/* ---- control ---- */

static inline bool holds(unsigned cond, uint64_t a, uint64_t b, const struct flags *f)
{
	switch (cond) {
	case VT_COND_EQ:
		return a == b;
	case VT_COND_NE:
		return a != b;
	case VT_COND_LT:
		return a < b;
	case VT_COND_GE:
		return a >= b;
	case VT_COND_LE:
		return a <= b;
	case VT_COND_GT:
		return a > b;
	case VT_COND_HIT:
		return f->hit;
	case VT_COND_MISS:
		return !f->hit;
	case VT_COND_FULL:
		return f->full;
	case VT_COND_NOT_FULL:
		return !f->full;
	case VT_COND_OVER:
		return f->over;
	case VT_COND_NOT_OVER:
		return !f->over;
	case VT_COND_END:
		return f->end;
	case VT_COND_NOT_END:
		return !f->end;
	case VT_COND_ZERO:
		return f->result == 0;
	case VT_COND_NONZERO:
		return f->result != 0;
	case VT_COND_ODD:
		return f->result & 1;
	case VT_COND_EVEN:
		return !(f->result & 1);
	default:
		return cond == VT_COND_ALWAYS;
	}
}

/* Whether the 2-bit predictor of a word was wrong. */
static inline bool mispredicts(uint8_t *predictor, bool taken)
{
	unsigned was = *predictor;

	*predictor = (uint8_t)(taken ? was + (was < 3) : was - (was > 0));
	return (was >= 2) != taken;
}

/* The conditional branches of a routine. */
struct branches {
	uint64_t executed, wrong;
};

/* Executes a word.  Returns the next one, VTI_DONE or VTI_INTERRUPT. */
static inline unsigned execute_word(struct vt_coproc *m, unsigned at, struct branches *n)
{
	const struct vti_uop *op = &m->uops[at];
	const struct vt_uword *w = &op->w;
	struct flags f = {.result = 0};
	uint64_t a, b;
	bool taken;

	if (op->work & VTI_WORK_X)
		m->in[VT_OP_X] = m->x[w->x];
	if (op->work & VTI_WORK_RANDOM)
		m->in[VT_OP_RAND] = draw(m);
	/* Whatever the word writes, it computes and compares what it has read. */
	a = m->in[w->a];
	b = m->in[w->b];
	if (op->work & VTI_WORK_ALU)
		f.result = compute(w->alu, a, b, &f.over);
	if (op->work & VTI_WORK_CAM)
		access_cam(m, w, a, &f);
	if (op->work & VTI_WORK_MEMORY)
		access_data(m, op, &f);
	if (op->work & VTI_WORK_STEP)
		step(m, w, &f);
	if (w->dest)
		m->in[w->dest - 1] = f.result;
	if (w->cond <= VT_COND_ALWAYS)
		return w->cond == VT_COND_ALWAYS ? op->to : at + 1;
	taken = holds(w->cond, a, b, &f);
	n->executed++;
	n->wrong += mispredicts(&m->predictors[at], taken);
	return taken ? op->to : at + 1;
}

/* The decoder and field extractor (3.4): what the operands read of a sample. */
static inline void extract(struct vt_coproc *m, const struct vt_sample *s)
{
	uint64_t *in = m->in;

	in[VT_OP_PC] = s->pc;
	in[VT_OP_PC_LO] = (uint32_t)s->pc;
	in[VT_OP_VALUE] = s->value;
	in[VT_OP_VALUE_LO] = (uint32_t)s->value;
	in[VT_OP_ADDR] = s->addr;
	in[VT_OP_ADDR_LO] = (uint32_t)s->addr;
	in[VT_OP_WORD] = s->addr >> 3;
	in[VT_OP_LINE] = s->addr >> 6;
	in[VT_OP_MISSED] = s->missed;
	in[VT_OP_TARGET] = s->target;
	in[VT_OP_TARGET_LO] = (uint32_t)s->target;
	in[VT_OP_TAKEN] = s->taken;
	in[VT_OP_SIZE] = s->size;
	in[VT_OP_NEXT] = s->next;
	in[VT_OP_TID] = s->tid;
	in[VT_OP_CODE] = s->code;
	in[VT_OP_CLASS] = s->class;
}

enum vt_coproc_end vt_coproc_run(struct vt_coproc *m, const struct vt_sample *s, uint64_t max_words,
				 uint64_t *cycles)
{
	struct branches branches = {0, 0};
	uint64_t n = 0;
	unsigned at = m->u->start[s->class], word = at;

	extract(m, s);
	while (at < VTI_DONE && n < max_words) {
		word = at;
		at = execute_word(m, at, &branches);
		n++;
		if (m->trace) {
			m->word = word;
			m->trace(m->trace_arg, m, word);
		}
	}
	m->word = word;
	*cycles = n + branches.wrong * VT_COPROC_PENALTY;
	m->stats.branches += branches.executed;
	m->stats.mispredicted += branches.wrong;
	m->stats.samples++;
	m->stats.words += n;
	m->stats.cycles += *cycles;
	return at < VTI_DONE	? VT_COPROC_STUCK
	       : at == VTI_DONE ? VT_COPROC_DONE
				: VT_COPROC_INTERRUPT;
}
