/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/carried_code.h"

#include <assert.h>
#include <stdlib.h>

#include "base/buf.h"
#include "image/addrspace.h"

/* PROT_WRITE of sys/mman.h. */
#define CAN_WRITE 2

/* How many blocks are looked at for MAP records in all: a bound for hostile streams. */
#define MAX_LOOKS (UINT64_C(1) << 30)

/* A block that ran before its page became writable, and where it lies in its image. */
struct vt_carried_block {
	const struct vt_bblock *block;
	uint64_t image;
	uint64_t offset;
};

void vt_carried_code_fini(struct vt_carried_code *c)
{
	free(c->before);
}

static const struct vt_map *find_map(const struct vt_carried_code *c, const struct vt_bblock *b)
{
	return vt_addrspace_find(vt_context_space(c->context), (int32_t)b->pid, b->addr, 0);
}

static bool note_block(struct vt_carried_code *c, const struct vt_bblock *b)
{
	const struct vt_map *m = find_map(c, b);

	if (!vt_array_grow(&c->before, &c->before_cap, c->nbefore + 1, sizeof(*c->before)))
		return false;
	c->before[c->nbefore++] = (struct vt_carried_block){b, m->image, vt_map_offset(m, b->addr)};
	return true;
}

static int note_blocks(struct vt_carried_code *c, const struct vt_record *map, struct vt_error *err)
{
	const struct vt_bblocks *dict = vt_context_blocks(c->context);
	uint64_t start = vt_record_u64(map, VT_MAP_START);
	uint64_t length = vt_record_u64(map, VT_MAP_LENGTH), id, n = 0;

	c->nbefore = 0;
	if (vt_record_u64(map, VT_MAP_PROT) & CAN_WRITE && c->looks < MAX_LOOKS) {
		n = vt_bblocks_end(dict);
		c->looks += n;
	}
	for (id = 0; id < n; id++) {
		const struct vt_bblock *b = vt_bblocks_get(dict, id);

		if (!b || !b->code || b->pid != vt_record_i64(map, VT_MAP_PID) ||
		    b->addr - start >= length || !c->file_has(c->arg, b))
			continue;
		if (!note_block(c, b))
			return vt_error_nomem(err);
	}
	return 0;
}

/* Whether the same part of the same image is still there, but the program can write to it now. */
static bool became_writable(const struct vt_carried_code *c, const struct vt_carried_block *was)
{
	const struct vt_bblock *b = was->block;
	const struct vt_map *m = find_map(c, b);

	return m && m->image == was->image && vt_map_offset(m, b->addr) == was->offset &&
	       !c->file_has(c->arg, b);
}

static int after_map(struct vt_carried_code *c, struct vt_error *err)
{
	size_t i;
	int code = 0;

	for (i = 0; i < c->nbefore && code == 0; i++)
		if (became_writable(c, &c->before[i]))
			code = vt_sites_code(c->sites, c->before[i].block, err);
	return code;
}

static int add_carried_block(struct vt_carried_code *c, const struct vt_record *rec,
			     struct vt_error *err)
{
	const struct vt_bblock *b =
		vt_bblocks_get(vt_context_blocks(c->context), vt_record_u64(rec, VT_BLOCK_ID));

	return b && b->code && !c->file_has(c->arg, b) ? vt_sites_code(c->sites, b, err) : 0;
}

static int before_record(void *carried, const struct vt_record *rec, struct vt_error *err)
{
	return rec->kind == VT_MAP ? note_blocks(carried, rec, err) : 0;
}

static int feed_carried_code(void *carried, const struct vt_record *rec, struct vt_error *err)
{
	return rec->kind == VT_MAP ? after_map(carried, err) : add_carried_block(carried, rec, err);
}

void vt_carried_code_begin(struct vt_carried_code *c, struct vt_context *context)
{
	c->context = context;
	vt_context_add(context,
		       &(struct vt_consumer){.record = feed_carried_code,
					     .before = before_record,
					     .arg = c,
					     .kinds = VT_KIND(VT_MAP) | VT_KIND(VT_BLOCK)});
}
