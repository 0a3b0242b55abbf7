/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "sample/internal.h"

void vti_cutter_fini(struct vti_cutter *c)
{
	free(c->ids);
	vt_buf_free(&c->ids_buf);
	vt_buf_free(&c->data);
	vt_buf_free(&c->used);
}

/* The block's id in the output, where it is written if it was not yet; false: no memory. */
static bool use_block(struct vti_cutter *c, const struct vt_bblock *b, uint32_t *id)
{
	size_t old = c->ids_cap;

	if (!vt_array_grow(&c->ids, &c->ids_cap, b->id + 1, sizeof(*c->ids)))
		return false;
	memset(c->ids + old, 0, (c->ids_cap - old) * sizeof(*c->ids));
	if (!c->ids[b->id]) {
		vt_bblock_write(b, c->count, true, c->w);
		c->ids[b->id] = ++c->count;
	}
	*id = c->ids[b->id] - 1;
	return true;
}

static uint32_t slot_offset(const struct vt_bblock *b, uint32_t slot)
{
	return slot < b->nslots ? b->slots[slot].offset : b->data_size;
}

/* Leaves the first n instructions of a step. */
static void shorten(struct vt_step *step, uint64_t n)
{
	const struct vt_bblock *b = step->block;

	step->insn_end = step->insn + (uint32_t)n;
	while (step->slot_end > step->slot && b->slots[step->slot_end - 1].insn >= step->insn_end)
		step->slot_end--;
}

/* Gathers ids and values; *insns becomes what there was. */
static int gather(struct vti_cutter *c, struct vt_exec *from, uint64_t *insns, struct vt_error *err)
{
	uint64_t left = *insns;
	struct vt_step step;
	int r = 1;

	while (left && (r = vt_exec_next(from, &step, err)) > 0) {
		uint32_t id = 0;

		if (step.insn_end - step.insn > left)
			shorten(&step, left);
		if (!use_block(c, step.block, &id))
			return vt_error_nomem(err);
		vt_buf_put_le32(&c->used, id);
		vt_buf_put(&c->data, step.data,
			   slot_offset(step.block, step.slot_end) - step.data_offset);
		left -= step.insn_end - step.insn;
	}
	*insns -= left;
	return r < 0 ? r : 0;
}

/* Ids of two bytes from the least one on, if that is possible. */
static uint32_t pack_ids(struct vti_cutter *c, size_t n, uint32_t *base)
{
	uint32_t low = UINT32_MAX, high = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		uint32_t id = vt_le32(c->used.data + 4 * i);

		low = id < low ? id : low;
		high = id > high ? id : high;
	}
	*base = low;
	for (i = 0; i < n; i++) {
		uint32_t id = vt_le32(c->used.data + 4 * i) - low;

		if (high - low > UINT16_MAX) {
			vt_buf_put_le32(&c->ids_buf, id);
		} else {
			vt_buf_put_u8(&c->ids_buf, (uint8_t)id);
			vt_buf_put_u8(&c->ids_buf, (uint8_t)(id >> 8));
		}
	}
	return high - low > UINT16_MAX ? 4 : 2;
}

int vti_cutter_write(struct vti_cutter *c, struct vt_exec *from, uint64_t insns, uint64_t caller,
		     struct vt_error *err)
{
	uint32_t base = 0, width;
	struct vt_exec head = *from;
	uint64_t *row;
	size_t n;
	int r;

	c->ids_buf.size = c->data.size = c->used.size = 0;
	r = gather(c, from, &insns, err);
	if (r < 0 || !insns)
		return r;
	n = c->used.size / 4;
	width = pack_ids(c, n, &base);
	if (c->ids_buf.failed || c->data.failed || c->used.failed)
		return vt_error_nomem(err);
	row = vt_writer_row(c->w, VT_EXEC);
	row[VT_EXEC_TIME] = head.time;
	row[VT_EXEC_PID] = (uint64_t)head.pid;
	row[VT_EXEC_TID] = (uint64_t)head.tid;
	row[VT_EXEC_FIRST] = head.first;
	row[VT_EXEC_BLOCKS] = n;
	row[VT_EXEC_INSNS] = insns;
	row[VT_EXEC_SKIP] = head.skip;
	row[VT_EXEC_CALLER] = caller;
	row[VT_EXEC_BASE] = base;
	row[VT_EXEC_WIDTH] = width;
	vt_writer_bytes(c->w, VT_EXEC_IDS, c->ids_buf.data, c->ids_buf.size);
	vt_writer_bytes(c->w, VT_EXEC_DATA, c->data.data, c->data.size);
	return vt_exec_put_times(&head, (uint32_t)n, c->w, row, err);
}
