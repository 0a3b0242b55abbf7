/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "summary/executed_code.h"

#include "base/hash.h"

/* An instruction.  Several blocks may contain it. */
struct insn_place {
	int64_t pid;
	uint64_t addr;
};

bool vt_executed_code_init(struct vt_executed_code *e)
{
	*e = (struct vt_executed_code){.dict = vt_bblocks_new()};
	e->count = e->dict ? vt_execcount_new(e->dict) : NULL;
	return e->count != NULL;
}

void vt_executed_code_fini(struct vt_executed_code *e)
{
	vt_execcount_free(e->count);
	vt_bblocks_free(e->dict);
}

static void add_values(struct vt_executed_code *e, uint64_t what, uint64_t count, uint64_t size)
{
	struct vt_value_total *v = &e->values[what < VT_NWHATS ? what : VT_WHAT_UNKNOWN];

	v->count += count;
	v->bytes += count * size;
}

int vt_executed_code_feed(struct vt_executed_code *e, const struct vt_record *rec,
			  struct vt_error *err)
{
	int code = 0;

	if (rec->kind == VT_BLOCK)
		code = vt_bblocks_add(e->dict, rec, err);
	else if (rec->kind == VT_EXEC)
		code = vt_execcount_exec(e->count, rec, err);
	else
		add_values(e, vt_record_u64(rec, VT_VALUE_WHAT), 1,
			   vt_record_u64(rec, VT_VALUE_SIZE));
	if (code == -VT_E_FORMAT) {
		e->bad++;
		code = 0;
	}
	return code;
}

/* Returns false when memory runs out. */
static bool add_block(struct vt_executed_code *e, const struct vt_bblock *b, struct vt_hash *places)
{
	struct insn_place p = {.pid = b->pid, .addr = b->addr};
	bool any = false;
	uint32_t i;

	for (i = 0; i < b->ninsns; i++) {
		if (vt_execcount_of(e->count, b->id, i)) {
			any = true;
			if (!vt_hash_add(places, &p, NULL))
				return false;
		}
		p.addr += b->lengths[i];
	}
	for (i = 0; i < b->nslots; i++)
		add_values(e, b->slots[i].what, vt_execcount_of(e->count, b->id, b->slots[i].insn),
			   b->slots[i].size);
	e->blocks += any;
	if (b->ninsns && b->end < VT_NENDS)
		e->ends[b->end] += vt_execcount_of(e->count, b->id, b->ninsns - 1);
	return true;
}

int vt_executed_code_finish(struct vt_executed_code *e, struct vt_error *err)
{
	const struct vt_bblocks *dict = e->dict;
	struct vt_hash places;
	bool ok = true;
	uint64_t id;

	vt_hash_init(&places, sizeof(struct insn_place), sizeof(struct insn_place));
	for (id = 0; id < vt_bblocks_end(dict) && ok; id++) {
		const struct vt_bblock *b = vt_bblocks_get(dict, id);

		if (b)
			ok = add_block(e, b, &places);
	}
	e->insns = places.count;
	vt_hash_fini(&places);
	return ok ? 0 : vt_error_nomem(err);
}
