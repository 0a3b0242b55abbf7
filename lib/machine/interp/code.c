/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/interp/code.h"

#include <stdlib.h>
#include <string.h>

#include <libvex_basictypes.h>
#include <libvex_ir.h>

#include "machine/interp/call.h"
#include "machine/lift/lift.h"

#define DEFAULT_MAX_CODE ((size_t)1 << 30)

/* So many blocks from other bytes at one address; then the space is forgotten. */
#define MAX_OTHERS 16

/* The code at an address, once it was fetched. */
struct code_bytes {
	bool fetched;
	size_t size;
	uint8_t bytes[VTI_LIFT_BYTES];
};

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

static size_t size_of_code(const struct vti_code *code)
{
	return code->block->memory + sizeof(*code) + code->size;
}

/* Frees a block, and those from other bytes at its address. */
static void free_lifted_code(struct vt_interp *m, struct vti_code *code)
{
	while (code) {
		struct vti_code *other = code->other;

		m->code_size -= size_of_code(code);
		vti_block_free(code->block);
		free(code);
		code = other;
	}
}

static void forget_near(struct vt_interp *m)
{
	memset(m->near, 0, VTI_NEAR * sizeof(*m->near));
}

void vt_interp_forget_code(struct vt_interp *m)
{
	size_t i;

	for (i = 0; i < m->blocks.count; i++)
		free_lifted_code(m, ((struct kept *)vt_hash_at(&m->blocks, i))->code);
	vt_hash_clear(&m->blocks);
	forget_near(m);
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
		free_lifted_code(m, k->code);
		k->code = NULL;
	}
	forget_near(m);
}

void vt_interp_recheck_code(struct vt_interp *m)
{
	m->checks++;
}

/* ---- a new block ---- */

/*
 * An instruction that loads, computes and exchanges if nothing has changed meanwhile, again and
 * again: VEX's way to say that it is atomic.
 */
static bool retries_exchange(const struct vti_block *b, const struct vti_op *cas)
{
	uint64_t self = b->addr + b->offset[cas->insn];
	const struct vti_op *op;

	for (op = cas + 1; op < b->ops + b->first[cas->insn + 1]; op++)
		if (op->op == VTI_EXIT && op->imm == self)
			return true;
	return false;
}

static bool is_divide_op(const struct vti_op *op)
{
	static const unsigned irops[] = {
		Iop_DivModU64to32, Iop_DivModS64to32, Iop_DivModU128to64, Iop_DivModS128to64,
		Iop_DivModU32to32, Iop_DivModS32to32, Iop_DivModU64to64,  Iop_DivModS64to64,
	};
	unsigned i;

	for (i = 0; i < sizeof(irops) / sizeof(irops[0]); i++)
		if ((const struct vti_irop *)op->data == vti_irop_find(irops[i]))
			return true;
	return false;
}

/* A whole word of the guest state. */
static bool is_word(const struct vti_op *op, unsigned opcode)
{
	return op->op == opcode && op->imm % 8 == 0;
}

/* An operator with a result of one word, of which the loop has variants. */
static bool has_variants(const struct vti_op *op)
{
	switch (op->op) {
#define FAST1(name, irop, result) case VTI_FAST_##name:
#define FAST2(name, irop, result) case VTI_FAST_##name:
#include "machine/lift/fastop.def"
		return true;
	default:
		return false;
	}
}

/* How the loop runs the operator and then this. */
static unsigned with_next(const struct vti_op *op, const struct vti_op *next)
{
	if (!has_variants(op) || next->a != op->dst)
		return 0;
	if (is_word(next, VTI_PUT8))
		return VTI_RUN_PUT + (op->op - VTI_FAST);
	if (next->op == VTI_EXIT)
		return VTI_RUN_EXIT + (op->op - VTI_FAST);
	return 0;
}

/* How many writes of words stand there. */
static unsigned puts_at(const struct vti_op *op, const struct vti_op *end)
{
	unsigned n = 0;

	while (op + n < end && n < 4 && is_word(op + n, VTI_PUT8))
		n++;
	return n;
}

/* Several in one go, up to the end of the instruction; 0: there is no way to. */
static unsigned of_several(const struct vti_op *op, const struct vti_op *end)
{
	const struct vti_op *next = op + 1;
	unsigned puts = puts_at(op, end);

	if (puts > 1)
		return puts == 4 ? VTI_RUN_PUTS4 : VTI_RUN_PUTS;
	if (next == end)
		return 0;
	if (is_word(op, VTI_GET8) && is_word(next, VTI_GET8))
		return VTI_RUN_GETS;
	return with_next(op, next);
}

static unsigned of_one(const struct vti_op *op)
{
	switch (op->op) {
	case VTI_IROP:
		return is_divide_op(op) ? VTI_RUN_DIVIDE : op->op;
	case VTI_ITE:
		return op->aux == 1 ? VTI_RUN_ITE : op->op;
	case VTI_CCALL:
		return vti_call_is_condition(op) ? VTI_RUN_CONDITION : op->op;
	case VTI_CAPTURE:
		return op->c <= 8 ? VTI_RUN_CAPTURE : op->op;
	case VTI_CAPTURE_STATE:
		return op->c == 8 && op->a % 8 == 0 ? VTI_RUN_CAPTURE_STATE : op->op;
	default:
		return op->op;
	}
}

static void choose_run_op(const struct vti_block *b, struct vti_op *op, const struct vti_op *end)
{
	unsigned run;

	if (op->op == VTI_CCALL || op->op == VTI_DIRTY)
		op->aux = (uint16_t)vti_call_kind((const struct vti_call *)op->data);
	else if (op->op == VTI_CAS)
		op->aux = retries_exchange(b, op);
	run = of_several(op, end);
	op->run = (uint16_t)(run ? run : of_one(op));
	op->dst2 = (uint16_t)(2 * op->dst);
	op->a2 = (uint16_t)(2 * op->a);
	op->b2 = (uint16_t)(2 * op->b);
}

/* Settles once what would be asked each time, and how each operation is run. */
static void prepare_block(struct vti_block *b)
{
	const struct vti_op *end = b->ops + b->nops;
	struct vti_op *op;
	uint32_t insn = 0;

	for (op = b->ops; op < end; op++) {
		while (insn < b->ninsns && op >= b->ops + b->first[insn + 1])
			insn++;
		choose_run_op(b, op, insn < b->ninsns ? b->ops + b->first[insn + 1] : end);
	}
}

static struct vti_code *set_lift_nomem(struct vt_error *err)
{
	vt_error_set(err, VT_E_NOMEM, "out of memory for lifted code");
	return NULL;
}

/* What a block was lifted from: all bytes that there were, if they ended it. */
static size_t lifted_size(const struct vti_block *b, size_t size)
{
	return b->bad || b->no_code ? size : b->offset[b->ninsns];
}

static struct vti_code *add_lifted_code(struct vt_interp *m, struct vti_block *block,
					const struct code_bytes *from, uint32_t max_insns,
					struct vt_error *err)
{
	const uint64_t key[3] = {m->space, block->addr, max_insns};
	size_t size = lifted_size(block, from->size);
	struct vti_code *code = calloc(1, sizeof(*code) + size);
	struct kept *k = code ? vt_hash_add(&m->blocks, key, NULL) : NULL;

	if (!k) {
		free(code);
		vti_block_free(block);
		return set_lift_nomem(err);
	}
	block->space = m->space;
	prepare_block(block);
	code->block = block;
	code->checked = m->checks;
	code->size = (uint32_t)size;
	memcpy(code->bytes, from->bytes, size);
	code->other = k->code;
	k->code = code;
	m->code_size += size_of_code(code);
	m->nlifted++;
	m->nunlifted += block->nunlifted;
	return code;
}

/* ---- a kept block ---- */

static void fetch_code_bytes(struct vt_interp *m, uint64_t addr, struct code_bytes *from)
{
	if (!from->fetched)
		from->size = m->opt.fetch(m->opt.fetch_arg, m->space, addr, from->bytes,
					  sizeof(from->bytes));
	from->fetched = true;
}

/* Was a block lifted from these bytes? */
static bool is_code_of(const struct vti_code *code, const struct code_bytes *from)
{
	const struct vti_block *b = code->block;

	return (b->bad || b->no_code ? from->size == code->size : from->size >= code->size) &&
	       memcmp(code->bytes, from->bytes, code->size) == 0;
}

/*
 * Returns the kept block of the bytes that are at an address now, or NULL.  They are fetched if
 * they may have changed.
 */
static struct vti_code *find_kept_code(struct vt_interp *m, uint64_t addr, uint64_t max_insns,
				       struct code_bytes *from)
{
	const uint64_t key[3] = {m->space, addr, max_insns};
	struct kept *k = vt_hash_find(&m->blocks, key);
	struct vti_code *code, **at;
	unsigned n = 0;

	if (!k || !k->code || k->code->checked == m->checks)
		return k ? k->code : NULL;
	fetch_code_bytes(m, addr, from);
	for (at = &k->code; *at && !is_code_of(*at, from); at = &(*at)->other)
		n++;
	code = *at;
	if (!code && n >= MAX_OTHERS)
		vt_interp_forget_space(m, m->space);
	if (!code)
		return NULL;
	/* It comes first. */
	*at = code->other;
	code->other = k->code;
	k->code = code;
	code->checked = m->checks;
	return code;
}

static struct vti_code *lift_code(struct vt_interp *m, uint64_t addr, uint32_t max_insns,
				  struct code_bytes *from, struct vt_error *err)
{
	size_t max = m->opt.max_code ? m->opt.max_code : DEFAULT_MAX_CODE;
	struct vti_block *block;

	fetch_code_bytes(m, addr, from);
	if (!from->size) {
		err->code = VT_OK;
		return NULL;
	}
	if (m->code_size >= max)
		vt_interp_forget_code(m);
	block = vti_lift(addr, from->bytes, from->size, max_insns, m->opt.capture, err);
	return block ? add_lifted_code(m, block, from, max_insns, err) : NULL;
}

static struct vti_code *find_or_lift(struct vt_interp *m, uint64_t addr, uint32_t max_insns,
				     struct vt_error *err)
{
	struct code_bytes from = {.fetched = false};
	struct vti_code *code = find_kept_code(m, addr, max_insns, &from);

	return code ? code : lift_code(m, addr, max_insns, &from, err);
}

struct vti_code *vti_code_near(struct vt_interp *m, uint64_t addr)
{
	struct vti_near *near = near_of(m, m->space, addr);
	const uint64_t key[3] = {m->space, addr, VTI_LIFT_INSNS};
	struct kept *k;

	if (near->code && near->addr == addr && near->space == m->space &&
	    near->code->checked == m->checks)
		return near->code;
	k = vt_hash_find(&m->blocks, key);
	if (!k || !k->code || k->code->checked != m->checks)
		return NULL;
	*near = (struct vti_near){m->space, addr, k->code};
	return k->code;
}

struct vti_code *vti_code_find(struct vt_interp *m, uint64_t addr, struct vt_error *err)
{
	struct vti_code *code = vti_code_near(m, addr);

	return code ? code : find_or_lift(m, addr, VTI_LIFT_INSNS, err);
}

struct vti_code *vti_code_part(struct vt_interp *m, uint64_t addr, uint32_t insns,
			       struct vt_error *err)
{
	struct vti_code *code = vti_code_find(m, addr, err), *part;
	size_t lifted = m->nlifted;

	if (!code || code->block->ninsns <= insns)
		return code;
	if (code->part && code->part_insns == insns)
		return code->part;
	part = find_or_lift(m, addr, insns, err);
	/* What lifts may have freed the block.  What is kept is freed together with it. */
	if (part && m->nlifted == lifted) {
		code->part = part;
		code->part_insns = insns;
	}
	return part;
}
