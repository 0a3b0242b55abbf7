/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "profile/executed.h"
#include "profile/executions.h"

/* The CPU's mode in linux/perf_event.h (PERF_RECORD_MISC_USER): only user code is recorded so. */
#define CPUMODE_USER 2u

/* Where a block's first instruction lies. */
struct block_place {
	bool known;
	struct vt_place place;
};

struct vti_profcode {
	struct vt_execcount *count;
	struct block_place *blocks; /* by id */
	size_t cap;
};

struct vti_profcode *vti_profcode_new(void)
{
	struct vti_profcode *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->count = vt_execcount_new();
	if (!c->count) {
		free(c);
		return NULL;
	}
	return c;
}

void vti_profcode_free(struct vti_profcode *c)
{
	if (!c)
		return;
	vt_execcount_free(c->count);
	free(c->blocks);
	free(c);
}

static void find_block(struct vti_profcode *c, const struct vt_bblock *b,
		       struct vt_addrspace *space)
{
	struct block_place *at = &c->blocks[b->id];
	const struct vt_map *m = vt_addrspace_find(space, (int32_t)b->pid, b->addr, CPUMODE_USER);

	at->known = m != NULL;
	at->place = (struct vt_place){.image = VT_UNMAPPED_IMAGE, .offset = VT_UNMAPPED_USER};
	if (!m)
		return;
	at->place.image = m->image;
	at->place.offset = vt_map_offset(m, b->addr);
	at->place.pid = m->type == VT_IMAGE_ANON ? (int32_t)b->pid : 0;
}

int vti_profcode_take(struct vti_profcode *c, const struct vt_record *rec,
		      struct vt_addrspace *space, struct vt_error *err)
{
	const struct vt_bblock *b;
	size_t old = c->cap;
	int code;

	if (rec->kind == VT_EXEC)
		return vt_execcount_exec(c->count, rec, err);
	code = vt_execcount_block(c->count, rec, err);
	if (code < 0)
		return code;
	b = vt_bblocks_get(vt_execcount_blocks(c->count), vt_record_u64(rec, VT_BLOCK_ID));
	if (!vt_array_grow(&c->blocks, &c->cap, b->id + 1, sizeof(*c->blocks)))
		return vt_error_nomem(err);
	memset(c->blocks + old, 0, (c->cap - old) * sizeof(*c->blocks));
	find_block(c, b, space);
	return 0;
}

uint64_t vti_profcode_insns(const struct vti_profcode *c)
{
	return vt_execcount_totals(c->count)->insns;
}

/* Code that was not mapped when it was told of may be now. */
static int each_of_block(struct vti_profcode *c, const struct vt_bblock *b,
			 struct vt_addrspace *space, vti_profcode_fn *fn, void *arg,
			 struct vt_error *err)
{
	struct block_place *at = &c->blocks[b->id];
	struct vt_place place;
	uint32_t i;
	int code = 0;

	if (!at->known)
		find_block(c, b, space);
	place = at->place;
	for (i = 0; i < b->ninsns && code == 0; i++) {
		uint64_t n = vt_execcount_of(c->count, b->id, i);

		if (n)
			code = fn(arg, &place, n, err);
		if (at->known)
			place.offset += b->lengths[i];
	}
	return code;
}

int vti_profcode_each(struct vti_profcode *c, struct vt_addrspace *space, vti_profcode_fn *fn,
		      void *arg, struct vt_error *err)
{
	const struct vt_bblocks *dict = vt_execcount_blocks(c->count);
	uint64_t id;
	int code = 0;

	for (id = 0; id < vt_bblocks_end(dict) && code == 0; id++) {
		const struct vt_bblock *b = vt_bblocks_get(dict, id);

		if (b)
			code = each_of_block(c, b, space, fn, arg, err);
	}
	return code;
}
