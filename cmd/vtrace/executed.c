/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/vtrace/executed.h"

#include <inttypes.h>

#include "base/hash.h"
#include "listing/json.h"

/* An instruction, by where it is: several blocks may hold it. */
struct place {
	int64_t pid;
	uint64_t addr;
};

bool executed_init(struct executed *e)
{
	*e = (struct executed){.count = vt_execcount_new()};
	return e->count != NULL;
}

void executed_fini(struct executed *e)
{
	vt_execcount_free(e->count);
}

static void add_values(struct executed *e, uint64_t what, uint64_t count, uint64_t size)
{
	struct executed_values *v = &e->values[what < VT_NWHATS ? what : VT_WHAT_UNKNOWN];

	v->count += count;
	v->bytes += count * size;
}

int executed_feed(struct executed *e, const struct vt_record *rec, struct vt_error *err)
{
	int code = 0;

	if (rec->kind == VT_BLOCK)
		code = vt_execcount_block(e->count, rec, err);
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

/* False when memory ran out. */
static bool finish_block(struct executed *e, const struct vt_bblock *b, struct vt_hash *places)
{
	struct place p = {.pid = b->pid, .addr = b->addr};
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

int executed_finish(struct executed *e, struct vt_error *err)
{
	const struct vt_bblocks *dict = vt_execcount_blocks(e->count);
	struct vt_hash places;
	bool ok = true;
	uint64_t id;

	vt_hash_init(&places, sizeof(struct place), sizeof(struct place));
	for (id = 0; id < vt_bblocks_end(dict) && ok; id++) {
		const struct vt_bblock *b = vt_bblocks_get(dict, id);

		if (b)
			ok = finish_block(e, b, &places);
	}
	e->insns = places.count;
	vt_hash_fini(&places);
	return ok ? 0 : vt_error_nomem(err);
}

static double per_instruction(const struct executed *e, uint64_t stream_bytes)
{
	return (double)stream_bytes / (double)vt_execcount_totals(e->count)->insns;
}

/* Blocks that end for want of room transfer no control. */
static void put_ends(const struct executed *e, struct vt_output *out)
{
	static const char *const names[VT_NENDS] = {
		[VT_END_BRANCH] = "conditional branches",  [VT_END_JUMP] = "jumps",
		[VT_END_JUMP_INDIRECT] = "indirect jumps", [VT_END_CALL] = "calls",
		[VT_END_CALL_INDIRECT] = "indirect calls", [VT_END_RETURN] = "returns",
		[VT_END_SYSCALL] = "system calls",	   [VT_END_OTHER] = "others",
	};
	unsigned end;

	for (end = 0; end < VT_NENDS; end++) {
		if (names[end] && e->ends[end])
			vt_output_printf(out, "  %" PRIu64 " %s\n", e->ends[end], names[end]);
	}
}

void executed_print(const struct executed *e, uint64_t stream_bytes, struct vt_output *out)
{
	const struct vt_execcount_totals *t = vt_execcount_totals(e->count);

	if (!t->insns)
		return;
	vt_output_text(out, "\nexecuted code\n");
	vt_output_printf(out, "  %" PRIu64 " instructions in %" PRIu64 " blocks\n", t->insns,
			 t->blocks);
	vt_output_printf(out,
			 "  %" PRIu64 " different instructions in %" PRIu64 " different blocks\n",
			 e->insns, e->blocks);
	put_ends(e, out);
	vt_output_printf(out, "  %.3f bytes of stream for each instruction\n",
			 per_instruction(e, stream_bytes));
	if (e->bad)
		vt_output_printf(out, "  %" PRIu64 " records contradict themselves, left out\n",
				 e->bad);
}

struct vt_table *executed_values_table(const struct executed *e)
{
	struct vt_table *t = vt_table_new();
	uint64_t what;

	if (!t)
		return NULL;
	vt_table_column(t, "values", "values", VT_FORMAT_NUMBER);
	vt_table_column(t, "bytes", "bytes", VT_FORMAT_NUMBER);
	vt_table_column(t, "what", "what", VT_FORMAT_TEXT);
	for (what = 0; what < VT_NWHATS; what++) {
		if (!e->values[what].count)
			continue;
		vt_table_row(t, VT_STYLE_PLAIN);
		vt_table_number(t, e->values[what].count);
		vt_table_number(t, e->values[what].bytes);
		vt_table_str(t, vt_what_name(what));
	}
	return t;
}

json_t *executed_json(const struct executed *e, uint64_t stream_bytes)
{
	const struct vt_execcount_totals *t = vt_execcount_totals(e->count);
	json_t *o = json_object(), *values = json_object(), *ends = json_object();
	uint64_t what, end;

	json_object_set_new(o, "instructions", vt_json_u64(t->insns));
	json_object_set_new(o, "blocks", vt_json_u64(t->blocks));
	json_object_set_new(o, "distinct_instructions", vt_json_u64(e->insns));
	json_object_set_new(o, "distinct_blocks", vt_json_u64(e->blocks));
	if (t->insns)
		json_object_set_new(o, "bytes_per_instruction",
				    json_real(per_instruction(e, stream_bytes)));
	for (end = 0; end < VT_NENDS; end++) {
		if (e->ends[end])
			json_object_set_new(ends, vt_block_end_name(end),
					    vt_json_u64(e->ends[end]));
	}
	json_object_set_new(o, "ends", ends);
	json_object_set_new(o, "bad_records", vt_json_u64(e->bad));
	for (what = 0; what < VT_NWHATS; what++) {
		json_t *v;

		if (!e->values[what].count)
			continue;
		v = json_object();
		json_object_set_new(v, "count", vt_json_u64(e->values[what].count));
		json_object_set_new(v, "bytes", vt_json_u64(e->values[what].bytes));
		json_object_set_new(values, vt_what_name(what), v);
	}
	json_object_set_new(o, "values", values);
	return o;
}
