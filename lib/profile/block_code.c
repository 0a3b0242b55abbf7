/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/block_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"

/* The longest instruction of x86, and the number of its bytes that fit in `length`. */
#define MAX_LENGTH 15

/* One whose mapping is not known when it comes. */
struct pending_block {
	uint64_t addr;
	int64_t pid;
	size_t code;	/* where its bytes and */
	size_t lengths; /* its instructions' lengths are in `bytes` */
	uint32_t insns;
};

struct code_insn {
	uint64_t image; /* with `offset`, the key */
	uint64_t offset;
	size_t code;
	uint32_t length;
	bool varies;
	bool starts; /* a block */
};

struct vt_blockcode {
	const struct vt_context *context;
	struct pending_block *blocks; /* in their order */
	size_t nblocks, cap;
	struct vt_hash insns;
	struct vt_buf bytes;
};

struct vt_blockcode *vt_blockcode_new(const struct vt_context *context)
{
	struct vt_blockcode *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->context = context;
	vt_hash_init(&c->insns, sizeof(struct code_insn), offsetof(struct code_insn, code));
	return c;
}

void vt_blockcode_free(struct vt_blockcode *c)
{
	if (!c)
		return;
	free(c->blocks);
	vt_hash_fini(&c->insns);
	vt_buf_free(&c->bytes);
	free(c);
}

static bool adds_up(struct vt_bytes code, struct vt_bytes lengths)
{
	size_t i, sum = 0;

	for (i = 0; i < lengths.size; i++) {
		if (!lengths.data[i] || lengths.data[i] > MAX_LENGTH)
			return false;
		sum += lengths.data[i];
	}
	return sum == code.size && sum > 0;
}

/* Keeps an instruction's code, which is in c->bytes. */
static bool add_code_insn(struct vt_blockcode *c, const struct code_insn *key, size_t code,
			  uint32_t length, bool starts)
{
	bool added;
	struct code_insn *insn = vt_hash_add(&c->insns, key, &added);

	if (!insn)
		return false;
	insn->varies |= !added && (insn->length != length || memcmp(c->bytes.data + insn->code,
								    c->bytes.data + code, length));
	insn->code = code;
	insn->length = length;
	insn->starts |= starts;
	return true;
}

static bool add_code_insns(struct vt_blockcode *c, const struct pending_block *b, uint32_t image,
			   uint64_t offset)
{
	size_t code = b->code;
	uint32_t i;

	for (i = 0; i < b->insns; i++) {
		struct code_insn key = {.image = image, .offset = offset};
		uint32_t length = c->bytes.data[b->lengths + i];

		if (!add_code_insn(c, &key, code, length, i == 0))
			return false;
		code += length;
		offset += length;
	}
	return true;
}

static bool add_mapped(struct vt_blockcode *c, const struct pending_block *b,
		       const struct vt_map *m)
{
	if (m->type == VT_IMAGE_ANON)
		return add_code_insns(c, b, VT_UNMAPPED_IMAGE, b->addr);
	return add_code_insns(c, b, m->image, vt_map_offset(m, b->addr));
}

static const struct vt_map *find_block_map(const struct vt_blockcode *c,
					   const struct pending_block *b)
{
	return vt_addrspace_find(vt_context_space(c->context), (int32_t)b->pid, b->addr, 0);
}

static int take_code_block(struct vt_blockcode *c, const struct vt_record *rec,
			   struct vt_error *err)
{
	struct pending_block b = {0};
	struct vt_bytes code, lengths;
	const struct vt_map *m;

	code = vt_record_bytes(rec, VT_BLOCK_CODE);
	lengths = vt_record_bytes(rec, VT_BLOCK_LENGTHS);
	if (!adds_up(code, lengths))
		return 0;
	b.addr = vt_record_u64(rec, VT_BLOCK_ADDR);
	b.pid = vt_record_i64(rec, VT_BLOCK_PID);
	b.insns = (uint32_t)lengths.size;
	b.code = c->bytes.size;
	vt_buf_put(&c->bytes, code.data, code.size);
	b.lengths = c->bytes.size;
	vt_buf_put(&c->bytes, lengths.data, lengths.size);
	if (c->bytes.failed)
		return vt_error_nomem(err);
	m = find_block_map(c, &b);
	if (m)
		return add_mapped(c, &b, m) ? 0 : vt_error_nomem(err);
	if (!vt_array_grow(&c->blocks, &c->cap, c->nblocks + 1, sizeof(*c->blocks)))
		return vt_error_nomem(err);
	c->blocks[c->nblocks++] = b;
	return 0;
}

int vt_blockcode_feed(void *code, const struct vt_block *block, uint32_t first, uint32_t count,
		      struct vt_error *err)
{
	struct vt_record rec = {block, block->kind, first};
	int rc = 0;

	for (; rec.kind == VT_BLOCK && rec.row - first < count && rc == 0; rec.row++)
		rc = take_code_block(code, &rec, err);
	return rc;
}

int vt_blockcode_finish(struct vt_blockcode *c, struct vt_error *err)
{
	size_t i;

	for (i = 0; i < c->nblocks; i++) {
		const struct pending_block *b = &c->blocks[i];
		const struct vt_map *m = find_block_map(c, b);
		uint32_t image = VT_UNMAPPED_IMAGE;
		uint64_t offset = b->addr;

		/* An offset that is an address is one of code without a file. */
		if (!m &&
		    (!vt_context_find(c->context, b->addr, &image, &offset) || offset == b->addr))
			image = VT_UNMAPPED_IMAGE;
		if (!(m ? add_mapped(c, b, m) : add_code_insns(c, b, image, offset)))
			return vt_error_nomem(err);
	}
	return 0;
}

static const struct code_insn *find_code_insn(const struct vt_blockcode *c, uint32_t image,
					      uint64_t offset)
{
	struct code_insn key = {.image = image, .offset = offset};

	return vt_hash_find(&c->insns, &key);
}

const uint8_t *vt_blockcode_at(const struct vt_blockcode *c, uint32_t image, uint64_t offset,
			       size_t *size)
{
	const struct code_insn *insn = find_code_insn(c, image, offset);

	if (!insn)
		return NULL;
	*size = insn->length;
	return c->bytes.data + insn->code;
}

static struct vt_blockinsn describe_insn(const struct vt_blockcode *c, const struct code_insn *i)
{
	return (struct vt_blockinsn){.offset = i->offset,
				     .image = (uint32_t)i->image,
				     .starts = i->starts,
				     .varies = i->varies,
				     .code = c->bytes.data + i->code,
				     .size = i->length};
}

size_t vt_blockcode_count(const struct vt_blockcode *c)
{
	return c->insns.count;
}

struct vt_blockinsn vt_blockcode_insn(const struct vt_blockcode *c, size_t i)
{
	return describe_insn(c, vt_hash_at(&c->insns, i));
}

bool vt_blockcode_find(const struct vt_blockcode *c, uint32_t image, uint64_t offset,
		       struct vt_blockinsn *insn)
{
	const struct code_insn *i = find_code_insn(c, image, offset);

	if (i)
		*insn = describe_insn(c, i);
	return i != NULL;
}

bool vt_blockcode_varies(const struct vt_blockcode *c, uint32_t image, uint64_t offset)
{
	const struct code_insn *insn = find_code_insn(c, image, offset);

	return insn && insn->varies;
}
