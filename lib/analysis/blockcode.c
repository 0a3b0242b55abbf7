/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/blockcode.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/hash.h"

/* The longest instruction of x86, and the number of its bytes that fit in `length`. */
#define MAX_LENGTH 15

struct block {
	uint64_t addr;	/* the key */
	size_t code;	/* where its bytes and */
	size_t lengths; /* its instructions' lengths are in `bytes` */
	uint32_t insns;
};

struct insn {
	uint64_t image; /* with `offset`, the key */
	uint64_t offset;
	size_t code;
	uint64_t length;
};

struct vt_blockcode {
	struct vt_hash blocks;
	struct vt_hash insns;
	struct vt_buf bytes;
};

struct vt_blockcode *vt_blockcode_new(void)
{
	struct vt_blockcode *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	vt_hash_init(&c->blocks, sizeof(struct block), sizeof(uint64_t));
	vt_hash_init(&c->insns, sizeof(struct insn), offsetof(struct insn, code));
	return c;
}

void vt_blockcode_free(struct vt_blockcode *c)
{
	if (!c)
		return;
	vt_hash_fini(&c->blocks);
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

int vt_blockcode_feed(struct vt_blockcode *c, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_bytes code, lengths;
	struct block *b;
	uint64_t addr;

	if (rec->kind != VT_BLOCK)
		return 0;
	code = vt_record_bytes(rec, VT_BLOCK_CODE);
	lengths = vt_record_bytes(rec, VT_BLOCK_LENGTHS);
	addr = vt_record_u64(rec, VT_BLOCK_ADDR);
	if (!adds_up(code, lengths))
		return 0;
	b = vt_hash_add(&c->blocks, &addr, NULL);
	if (b) {
		b->insns = (uint32_t)lengths.size;
		b->code = c->bytes.size;
		vt_buf_put(&c->bytes, code.data, code.size);
		b->lengths = c->bytes.size;
		vt_buf_put(&c->bytes, lengths.data, lengths.size);
	}
	return b && !c->bytes.failed ? 0 : vt_error_nomem(err);
}

static bool add_insns(struct vt_blockcode *c, const struct block *b, uint32_t image,
		      uint64_t offset)
{
	const uint8_t *lengths = c->bytes.data + b->lengths;
	size_t code = b->code;
	uint32_t i;

	for (i = 0; i < b->insns; i++) {
		struct insn key = {.image = image, .offset = offset};
		struct insn *insn = vt_hash_add(&c->insns, &key, NULL);

		if (!insn)
			return false;
		insn->code = code;
		insn->length = lengths[i];
		code += lengths[i];
		offset += lengths[i];
	}
	return true;
}

int vt_blockcode_finish(struct vt_blockcode *c, const struct vt_profile *p, struct vt_error *err)
{
	size_t i;

	for (i = 0; i < c->blocks.count; i++) {
		const struct block *b = vt_hash_at(&c->blocks, i);
		uint32_t image = VT_UNMAPPED_IMAGE;
		uint64_t offset = b->addr;

		/* An offset that is an address is one of code without a file. */
		if (!vt_profile_find(p, b->addr, &image, &offset) || offset == b->addr)
			image = VT_UNMAPPED_IMAGE;
		if (!add_insns(c, b, image, offset))
			return vt_error_nomem(err);
	}
	return 0;
}

const uint8_t *vt_blockcode_at(const struct vt_blockcode *c, uint32_t image, uint64_t offset,
			       size_t *size)
{
	struct insn key = {.image = image, .offset = offset};
	const struct insn *insn = vt_hash_find(&c->insns, &key);

	if (!insn)
		return NULL;
	*size = (size_t)insn->length;
	return c->bytes.data + insn->code;
}
