/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/bblock_internal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "stream/writer.h"

#define MAX_INSN_LENGTH 15 /* Intel SDM volume 2, section 2.3.11 */
#define MAX_SLOT_SIZE	1024

static bool resize_block_tables(struct vt_bblocks *d, size_t cap)
{
	size_t i, have = d->cap ? d->cap - VTI_BLOCK_REACH : 0;
	size_t blocks = cap - VTI_BLOCK_REACH;
	struct vt_bblock **b = blocks ? realloc(d->blocks, blocks * sizeof(void *)) : NULL;
	uint64_t *w;

	if (blocks && !b)
		return false;
	d->blocks = b;
	w = d->cap ? realloc(d->weights, cap * sizeof(*w)) : calloc(cap, sizeof(*w));
	if (!w)
		return false;
	for (i = have; i < blocks; i++)
		b[i] = NULL;
	if (d->cap)
		memset(w + d->cap, 0, (cap - d->cap) * sizeof(*w));
	d->weights = w;
	d->cap = cap;
	return true;
}

struct vt_bblocks *vt_bblocks_new(void)
{
	struct vt_bblocks *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	if (!resize_block_tables(d, VTI_BLOCK_REACH)) {
		free(d);
		return NULL;
	}
	return d;
}

void vt_bblocks_free(struct vt_bblocks *d)
{
	uint64_t i;

	if (!d)
		return;
	for (i = 0; i < d->end; i++)
		free(d->blocks[i]);
	free(d->blocks);
	free(d->weights);
	free(d);
}

const struct vt_bblock *vt_bblocks_get(const struct vt_bblocks *d, uint64_t id)
{
	return id < d->end ? d->blocks[id] : NULL;
}

uint64_t vt_bblocks_end(const struct vt_bblocks *d)
{
	return d->end;
}

uint64_t vt_bblock_insn_addr(const struct vt_bblock *b, uint32_t i)
{
	uint64_t addr = b->addr;
	uint32_t k;

	for (k = 0; k < i && k < b->ninsns; k++)
		addr += b->lengths[k];
	return addr;
}

uint32_t vti_bblock_slot(const struct vt_bblock *b, uint32_t insn, uint32_t *offset)
{
	uint32_t low = 0, high = b->nslots;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (b->slots[mid].insn < insn)
			low = mid + 1;
		else
			high = mid;
	}
	assert(low == b->nslots || b->slots[low].insn >= insn);
	*offset = low < b->nslots ? b->slots[low].offset : b->data_size;
	return low;
}

/* Makes room for an id in both tables. */
static bool reserve_block_id(struct vt_bblocks *d, uint64_t id)
{
	size_t cap = d->cap;

	assert(d->cap >= VTI_BLOCK_REACH && d->end <= d->cap - VTI_BLOCK_REACH);
	while (id >= cap - VTI_BLOCK_REACH)
		cap += cap / 2;
	return cap == d->cap || resize_block_tables(d, cap);
}

/* Checks a BLOCK record's instructions.  Returns NULL, or what is wrong with them. */
static const char *check_insns(const struct vt_record *rec, struct vt_bytes lengths)
{
	uint64_t ninsns = vt_record_u64(rec, VT_BLOCK_INSNS);
	uint64_t size = vt_record_u64(rec, VT_BLOCK_SIZE);
	struct vt_bytes code = vt_record_bytes(rec, VT_BLOCK_CODE);
	uint64_t sum = 0;
	size_t i;

	if (ninsns == 0 || ninsns > VT_MAX_BLOCK_INSNS)
		return "has no or too many instructions";
	if (lengths.size != ninsns)
		return "has not a length for each instruction";
	for (i = 0; i < lengths.size; i++) {
		if (lengths.data[i] == 0 || lengths.data[i] > MAX_INSN_LENGTH)
			return "has an instruction of impossible length";
		sum += lengths.data[i];
	}
	if (sum != size)
		return "has another size than its instructions";
	if (code.size && code.size != size)
		return "has another size than its code";
	return NULL;
}

static const char *unpack_slots(struct vt_slot *to, struct vt_words from, uint64_t ninsns,
				uint32_t *data_size)
{
	uint32_t offset = 0;
	size_t i;

	for (i = 0; i < from.count; i++) {
		uint64_t w = from.data[i];

		to[i] = (struct vt_slot){
			.insn = (uint16_t)w,
			.what = (uint8_t)(w >> 16),
			.size = (uint16_t)(w >> 32),
			.reg = (uint16_t)(w >> 48),
			.offset = offset,
		};
		if (to[i].insn >= ninsns || (i && to[i].insn < to[i - 1].insn))
			return "has slots out of order";
		if (to[i].size == 0 || to[i].size > MAX_SLOT_SIZE)
			return "has a slot of impossible size";
		offset += to[i].size;
	}
	*data_size = offset;
	return offset > VT_MAX_BLOCK_DATA ? "has too many bytes of values" : NULL;
}

/*
 * Makes a block and all it points to, in one allocation.  Returns NULL with the reason in *why, or
 * with *why NULL when memory runs out.
 */
static struct vt_bblock *make_bblock(const struct vt_record *rec, struct vt_words slots,
				     const char **why)
{
	struct vt_bytes lengths = vt_record_bytes(rec, VT_BLOCK_LENGTHS);
	struct vt_bytes code = vt_record_bytes(rec, VT_BLOCK_CODE);
	uint64_t end = vt_record_u64(rec, VT_BLOCK_END);
	uint64_t mode = vt_record_u64(rec, VT_BLOCK_MODE);
	size_t head = sizeof(struct vt_bblock) + slots.count * sizeof(struct vt_slot);
	struct vt_bblock *b = malloc(head + lengths.size + code.size);
	struct vt_slot *s;
	uint8_t *bytes;

	*why = NULL;
	if (!b)
		return NULL;
	s = (struct vt_slot *)(b + 1);
	bytes = (uint8_t *)b + head;
	memcpy(bytes, lengths.data, lengths.size);
	if (code.size)
		memcpy(bytes + lengths.size, code.data, code.size);
	*b = (struct vt_bblock){
		.id = vt_record_u64(rec, VT_BLOCK_ID),
		.addr = vt_record_u64(rec, VT_BLOCK_ADDR),
		.target = vt_record_u64(rec, VT_BLOCK_TARGET),
		.pid = vt_record_i64(rec, VT_BLOCK_PID),
		.size = (uint32_t)vt_record_u64(rec, VT_BLOCK_SIZE),
		.ninsns = (uint32_t)lengths.size,
		.nslots = (uint32_t)slots.count,
		.end = end < VT_NENDS ? (enum vt_block_end)end : VT_END_OTHER,
		.mode = mode == 16 || mode == 32 ? (uint8_t)mode : 64,
		.lengths = bytes,
		.code = code.size ? bytes + lengths.size : NULL,
		.slots = s,
	};
	*why = unpack_slots(s, slots, b->ninsns, &b->data_size);
	if (*why) {
		free(b);
		return NULL;
	}
	return b;
}

int vt_bblocks_add(struct vt_bblocks *d, const struct vt_record *rec, struct vt_error *err)
{
	uint64_t id = vt_record_u64(rec, VT_BLOCK_ID);
	struct vt_words slots = vt_record_words(rec, VT_BLOCK_SLOTS);
	const char *why = check_insns(rec, vt_record_bytes(rec, VT_BLOCK_LENGTHS));
	struct vt_bblock *b;

	if (!why && slots.count > VT_MAX_BLOCK_SLOTS)
		why = "has too many slots";
	if (!why && id > d->count + VT_MAX_BLOCK_LEAP)
		why = "leaves out too many ids";
	if (!why && vt_bblocks_get(d, id))
		why = "is declared twice";
	if (why)
		return vt_error_set(err, VT_E_FORMAT, "block %" PRIu64 " %s", id, why);
	b = make_bblock(rec, slots, &why);
	if (why)
		return vt_error_set(err, VT_E_FORMAT, "block %" PRIu64 " %s", id, why);
	if (!b || !reserve_block_id(d, id)) {
		free(b);
		return vt_error_nomem(err);
	}
	d->blocks[id] = b;
	d->weights[id] = vti_bblock_weight(b);
	d->count++;
	if (id >= d->end)
		d->end = id + 1;
	return 0;
}

void vt_bblock_write(const struct vt_bblock *b, uint64_t id, bool slots, struct vt_writer *w)
{
	uint64_t *row = vt_writer_row(w, VT_BLOCK), packed[VT_MAX_BLOCK_SLOTS];
	uint32_t i, n = slots ? b->nslots : 0;

	row[VT_BLOCK_ID] = id;
	row[VT_BLOCK_PID] = (uint64_t)b->pid;
	row[VT_BLOCK_ADDR] = b->addr;
	row[VT_BLOCK_SIZE] = b->size;
	row[VT_BLOCK_INSNS] = b->ninsns;
	row[VT_BLOCK_END] = b->end;
	row[VT_BLOCK_TARGET] = b->target;
	row[VT_BLOCK_MODE] = b->mode == 64 ? 0 : b->mode;
	vt_writer_bytes(w, VT_BLOCK_LENGTHS, b->lengths, b->ninsns);
	vt_writer_bytes(w, VT_BLOCK_CODE, b->code, b->code ? b->size : 0);
	for (i = 0; i < n; i++)
		packed[i] = vt_slot_pack(&b->slots[i]);
	vt_writer_words(w, VT_BLOCK_SLOTS, packed, n);
}
