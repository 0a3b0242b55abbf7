/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/buf.h"
#include "formats/pt/decode/emit_internal.h"
#include "stream/kinds.h"

static enum vt_block_end block_end(unsigned end)
{
	switch (end) {
	case VT_PT_END_JUMP:
		return VT_END_JUMP;
	case VT_PT_END_CALL:
		return VT_END_CALL;
	case VT_PT_END_COND:
		return VT_END_BRANCH;
	case VT_PT_END_RET:
		return VT_END_RETURN;
	case VT_PT_END_JUMP_INDIRECT:
		return VT_END_JUMP_INDIRECT;
	case VT_PT_END_CALL_INDIRECT:
		return VT_END_CALL_INDIRECT;
	case VT_PT_END_FAR_CALL:
		return VT_END_SYSCALL;
	case VT_PT_END_FAR_RET:
	case VT_PT_END_FAR_JUMP:
		return VT_END_OTHER;
	default:
		return VT_END_FALL;
	}
}

static void put_block(struct vt_pt_emit *e, uint32_t id, const struct vt_pt_block *k)
{
	uint64_t *row = vt_writer_row(e->w, VT_BLOCK);

	row[VT_BLOCK_ID] = id;
	row[VT_BLOCK_PID] = (uint64_t)e->pid;
	row[VT_BLOCK_ADDR] = k->addr;
	row[VT_BLOCK_SIZE] = k->size;
	row[VT_BLOCK_INSNS] = k->insns;
	row[VT_BLOCK_END] = block_end(k->end);
	row[VT_BLOCK_TARGET] = k->target;
	row[VT_BLOCK_MODE] = k->mode == 64 ? 0 : k->mode;
	vt_writer_bytes(e->w, VT_BLOCK_LENGTHS, vt_pt_block_lengths(e->map.of, k), k->insns);
	vt_writer_bytes(e->w, VT_BLOCK_CODE, vt_pt_block_code(e->map.of, k), k->size);
}

/* Whether an id that is in the table of blocks stands for the block in this process. */
static bool is_ours(const struct vt_pt_emit *e, const struct vt_pt_block *k)
{
	const struct vti_emit_key *key;

	if (k->id >= e->blocks.count)
		return false;
	key = vt_hash_at(&e->blocks, k->id);
	return key->pid == e->pid && key->addr == k->addr && key->size == k->size;
}

int vti_emit_define(struct vt_pt_emit *e, uint32_t index, struct vt_error *err)
{
	struct vti_emit_map *m = &e->map;
	struct vt_pt_block *k = vt_pt_blocks_get(m->of, index);

	if (!is_ours(e, k)) {
		struct vti_emit_key key = {
			.pid = e->pid, .addr = k->addr, .size = k->size, .mode = k->mode};
		struct vti_emit_key *found;
		bool added;

		key.code = vt_intern_add(e->code, vt_pt_block_code(m->of, k), k->size);
		if (key.code == UINT32_MAX)
			return vt_error_nomem(err);
		found = vt_hash_add(&e->blocks, &key, &added);
		if (!found)
			return vt_error_nomem(err);
		k->id = (uint32_t)(((uint8_t *)found - e->blocks.entries) / sizeof(*found));
		if (added)
			put_block(e, k->id, k);
	}
	m->ids[index] = k->id;
	m->last = index;
	return 0;
}

int vti_emit_set_map(struct vt_pt_emit *e, struct vt_pt_blocks *of, struct vt_error *err)
{
	struct vti_emit_map *m = &e->map;
	uint32_t count = vt_pt_blocks_count(of), i;

	/* Another table may have come to lie where one was that is gone. */
	if (m->of != of || count < m->n ||
	    (m->n && m->ids[m->last] != VT_PT_NO_ID &&
	     vt_pt_blocks_get(of, m->last)->id != m->ids[m->last]))
		m->n = m->last = 0;
	m->of = of;
	if (count == m->n)
		return 0;
	if (!vt_array_grow(&m->ids, &m->ids_cap, count, sizeof(*m->ids)) ||
	    !vt_array_grow(&m->insns, &m->insns_cap, count, sizeof(*m->insns)))
		return vt_error_nomem(err);
	for (i = m->n; i < count; i++) {
		m->ids[i] = VT_PT_NO_ID;
		m->insns[i] = vt_pt_blocks_get(of, i)->insns;
	}
	m->n = count;
	return 0;
}
