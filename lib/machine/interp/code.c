/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/interp/code.h"

#include <stdlib.h>
#include <string.h>

#include <libvex_basictypes.h>
#include <libvex_ir.h>

#include "machine/interp/call.h"
#include "machine/interp/eval.h"
#include "machine/lift/fastop.h"
#include "machine/lift/lift.h"

#define DEFAULT_MAX_CODE ((size_t)1 << 30)

/* An entry of the table of blocks. */
struct kept {
	uint64_t space;
	uint64_t addr;
	uint64_t max_insns;
	struct vti_code *code; /* NULL: it was forgotten */
};

static struct vti_near *near_of(struct vt_interp *m, uint64_t space, uint64_t addr)
{
	/* 2^64 / golden ratio: Fibonacci hashing, Knuth's The Art of Computer Programming 6.4. */
	return &m->near[(addr + (space << 48)) * UINT64_C(0x9e3779b97f4a7c15) >>
			(64 - VTI_NEAR_BITS)];
}

bool vti_code_init(struct vt_interp *m)
{
	vt_hash_init(&m->blocks, sizeof(struct kept), offsetof(struct kept, code));
	m->near = calloc(VTI_NEAR, sizeof(*m->near));
	return m->near != NULL;
}

static void free_code(struct vti_code *code)
{
	if (!code)
		return;
	vti_block_free(code->block);
	free(code);
}

static void forget_near(struct vt_interp *m)
{
	memset(m->near, 0, VTI_NEAR * sizeof(*m->near));
}

void vt_interp_forget_code(struct vt_interp *m)
{
	size_t i;

	for (i = 0; i < m->blocks.count; i++)
		free_code(((struct kept *)vt_hash_at(&m->blocks, i))->code);
	vt_hash_clear(&m->blocks);
	forget_near(m);
	m->code_size = 0;
}

void vti_code_fini(struct vt_interp *m)
{
	if (m->near)
		vt_interp_forget_code(m);
	vt_hash_fini(&m->blocks);
	free(m->near);
}

/* Blocks lead to others of the same space only, so that no link is left behind. */
void vt_interp_forget_space(struct vt_interp *m, uint64_t space)
{
	size_t i;

	for (i = 0; i < m->blocks.count; i++) {
		struct kept *k = vt_hash_at(&m->blocks, i);

		if (k->space != space || !k->code)
			continue;
		m->code_size -= k->code->block->memory + sizeof(*k->code);
		free_code(k->code);
		k->code = NULL;
	}
	forget_near(m);
}

/* ---- a new block ---- */

/*
 * An instruction that loads, computes and exchanges if nothing has changed meanwhile, again and
 * again: VEX's way to say that it is atomic.
 */
static bool tries_again(const struct vti_block *b, const struct vti_op *cas)
{
	uint64_t self = b->addr + b->offset[cas->insn];
	const struct vti_op *op;

	for (op = cas + 1; op < b->ops + b->first[cas->insn + 1]; op++)
		if (op->op == VTI_EXIT && op->imm == self)
			return true;
	return false;
}

/* Settles once what would be asked each time. */
static void prepare(struct vti_block *b)
{
	struct vti_op *op;

	for (op = b->ops; op < b->ops + b->nops; op++) {
		switch (op->op) {
		case VTI_CCALL:
		case VTI_DIRTY:
			op->aux = (uint16_t)vti_call_kind((const struct vti_call *)op->data);
			break;
		case VTI_CAS:
			op->aux = tries_again(b, op);
			break;
		default:
			break;
		}
	}
}

static struct vti_code *no_memory(struct vt_error *err)
{
	vt_error_set(err, VT_E_NOMEM, "out of memory for lifted code");
	return NULL;
}

static struct vti_code *add_block(struct vt_interp *m, uint64_t addr, uint32_t max_insns,
				  struct vti_block *block, struct vt_error *err)
{
	const uint64_t key[3] = {m->space, addr, max_insns};
	struct vti_code *code = calloc(1, sizeof(*code));
	struct kept *k = code ? vt_hash_add(&m->blocks, key, NULL) : NULL;

	if (!k) {
		free(code);
		vti_block_free(block);
		return no_memory(err);
	}
	block->space = m->space;
	prepare(block);
	vti_eval_prepare(block);
	code->block = block;
	k->code = code;
	m->code_size += block->memory + sizeof(*code);
	m->nlifted++;
	m->nunlifted += block->nunlifted;
	return code;
}

static struct vti_code *lift(struct vt_interp *m, uint64_t addr, uint32_t max_insns,
			     struct vt_error *err)
{
	size_t max = m->opt.max_code ? m->opt.max_code : DEFAULT_MAX_CODE;
	uint8_t bytes[VTI_LIFT_BYTES];
	struct vti_block *block;
	size_t size;

	size = m->opt.fetch(m->opt.fetch_arg, m->space, addr, bytes, sizeof(bytes));
	if (!size) {
		err->code = VT_OK;
		return NULL;
	}
	if (m->code_size >= max)
		vt_interp_forget_code(m);
	block = vti_lift(addr, bytes, size, max_insns, m->opt.capture, err);
	return block ? add_block(m, addr, max_insns, block, err) : NULL;
}

struct vti_code *vti_code_near(struct vt_interp *m, uint64_t addr)
{
	struct vti_near *near = near_of(m, m->space, addr);
	const uint64_t key[3] = {m->space, addr, VTI_LIFT_INSNS};
	struct kept *k;

	if (near->code && near->addr == addr && near->space == m->space)
		return near->code;
	k = vt_hash_find(&m->blocks, key);
	if (!k || !k->code)
		return NULL;
	*near = (struct vti_near){m->space, addr, k->code};
	return k->code;
}

struct vti_code *vti_code_find(struct vt_interp *m, uint64_t addr, struct vt_error *err)
{
	struct vti_code *code = vti_code_near(m, addr);

	return code ? code : lift(m, addr, VTI_LIFT_INSNS, err);
}

struct vti_code *vti_code_part(struct vt_interp *m, uint64_t addr, uint32_t insns,
			       struct vt_error *err)
{
	const uint64_t key[3] = {m->space, addr, insns};
	struct vti_code *code = vti_code_find(m, addr, err);
	struct kept *k;

	if (!code || code->block->ninsns <= insns)
		return code;
	if (code->part && code->part_insns == insns)
		return code->part;
	k = vt_hash_find(&m->blocks, key);
	if (!k || !k->code)
		return lift(m, addr, insns, err);
	/* Both are forgotten together. */
	code->part = k->code;
	code->part_insns = insns;
	return k->code;
}
