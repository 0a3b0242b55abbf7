/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/vtrace/expand.h"

#include <string.h>

#include "cmd/vtrace/columns.h"
#include "listing/json.h"
#include "stream/exec.h"

/* Bytes of the value of one line. */
#define LANE 8

const char *expander_header(enum expand what)
{
	return what == EXPAND_VALUES ? "pid\ttid\tfirst\tip\twhat\treg\tsize\tlane\tvalue"
				     : "pid\ttid\tfirst\tblock\tip\tskip\tinsns\tcaller";
}

int expander_begin(struct expander *e, struct vt_error *err)
{
	vt_bblocks_free(e->dict);
	e->dict = vt_bblocks_new();
	return e->dict ? 0 : vt_error_nomem(err);
}

void expander_fini(struct expander *e)
{
	vt_bblocks_free(e->dict);
	vt_buf_free(&e->line);
}

/* ---- lines ---- */

/* A part of a line: its name in JSON, and a number (signed, or hexadecimal) or a word. */
struct part {
	const char *name;
	char how; /* 'd', 'i', 'x', 's' */
	uint64_t number;
	const char *word;
};

static void put_json(struct expander *e, const struct part *parts, size_t n)
{
	json_t *o = vt_json_doc("vtrace-dump/1");
	size_t i;

	for (i = 0; i < n; i++) {
		const struct part *p = &parts[i];

		json_object_set_new(o, p->name,
				    p->how == 's'   ? json_string(p->word)
				    : p->how == 'x' ? vt_json_hex(p->number)
				    : p->how == 'i' ? json_integer((json_int_t)p->number)
						    : vt_json_u64(p->number));
	}
	vt_json_write(e->out, o, false);
}

static void put_text(struct expander *e, const struct part *parts, size_t n)
{
	struct vt_buf *b = &e->line;
	size_t i;

	b->size = 0;
	for (i = 0; i < n; i++) {
		const struct part *p = &parts[i];
		uint64_t v = p->number;

		if (p->how == 's')
			vt_buf_put(b, p->word, strlen(p->word));
		else if (p->how == 'x')
			column_put_hex(b, v);
		else if (p->how == 'i' && (int64_t)v < 0)
			vt_buf_put_u8(b, '-'), column_put_decimal(b, 0 - v);
		else
			column_put_decimal(b, v);
		vt_buf_put_u8(b, i + 1 < n ? '\t' : '\n');
	}
	vt_output_put(e->out, b->data, b->size);
}

/* 1 when it was the last. */
static int put_line(struct expander *e, const struct part *parts, size_t n)
{
	if (e->limit && e->printed == e->limit)
		return 1;
	e->printed++;
	if (e->json)
		put_json(e, parts, n);
	else
		put_text(e, parts, n);
	return e->out->err.code != VT_OK || e->line.failed;
}

static int put_values(struct expander *e, const struct vt_exec *x, uint64_t first,
		      const struct vt_step *step)
{
	const struct vt_bblock *b = step->block;
	uint64_t ip = vt_bblock_insn_addr(b, step->insn);
	uint32_t insn = step->insn;
	uint32_t i, lane;
	int r = 0;

	for (i = step->slot; i < step->slot_end && r == 0; i++) {
		const struct vt_slot *s = &b->slots[i];

		for (; insn < s->insn; insn++)
			ip += b->lengths[insn];
		for (lane = 0; lane * LANE < s->size && r == 0; lane++) {
			const struct part parts[] = {
				{"pid", 'i', (uint64_t)x->pid, NULL},
				{"tid", 'i', (uint64_t)x->tid, NULL},
				{"first", 'd', first + s->insn - step->insn, NULL},
				{"ip", 'x', ip, NULL},
				{"what", 's', 0, vt_what_name(s->what)},
				{"reg", 'd', s->reg, NULL},
				{"size", 'd', s->size, NULL},
				{"lane", 'd', lane, NULL},
				{"value", 'x', vt_step_value(step, i, lane), NULL},
			};

			r = put_line(e, parts, sizeof(parts) / sizeof(parts[0]));
		}
	}
	return r;
}

static int put_block(struct expander *e, const struct vt_exec *x, uint64_t first, uint64_t caller,
		     const struct vt_step *step)
{
	const struct part parts[] = {
		{"pid", 'i', (uint64_t)x->pid, NULL},
		{"tid", 'i', (uint64_t)x->tid, NULL},
		{"first", 'd', first, NULL},
		{"block", 'd', step->block->id, NULL},
		{"ip", 'x', vt_bblock_insn_addr(step->block, step->insn), NULL},
		{"skip", 'd', step->insn, NULL},
		{"insns", 'd', step->insn_end - step->insn, NULL},
		{"caller", 'x', caller, NULL},
	};

	return put_line(e, parts, sizeof(parts) / sizeof(parts[0]));
}

/* The caller is that of the run's beginning, so only its first block has one. */
static int put_run(struct expander *e, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_step step;
	struct vt_exec x;
	uint64_t first, caller;
	int stop = 0;
	int r = vt_exec_open(&x, e->dict, rec, err);

	caller = x.caller;
	first = x.first;
	while (r == 0 && stop == 0 && (r = vt_exec_next(&x, &step, err)) > 0) {
		r = 0;
		if (e->what == EXPAND_VALUES)
			stop = put_values(e, &x, first, &step);
		else
			stop = put_block(e, &x, first, caller, &step);
		first += step.insn_end - step.insn;
		caller = 0;
	}
	return r < 0 ? r : stop;
}

static int put_value(struct expander *e, const struct vt_record *rec)
{
	const struct part parts[] = {
		{"pid", 'i', vt_record_u64(rec, VT_VALUE_PID), NULL},
		{"tid", 'i', vt_record_u64(rec, VT_VALUE_TID), NULL},
		{"first", 's', 0, "-"},
		{"ip", 'x', vt_record_u64(rec, VT_VALUE_IP), NULL},
		{"what", 's', 0, vt_what_name(vt_record_u64(rec, VT_VALUE_WHAT))},
		{"reg", 'd', vt_record_u64(rec, VT_VALUE_REG), NULL},
		{"size", 'd', vt_record_u64(rec, VT_VALUE_SIZE), NULL},
		{"lane", 'd', vt_record_u64(rec, VT_VALUE_LANE), NULL},
		{"value", 'x', vt_record_u64(rec, VT_VALUE_VALUE), NULL},
	};

	return put_line(e, parts, sizeof(parts) / sizeof(parts[0]));
}

int expander_record(struct expander *e, const struct vt_record *rec, struct vt_error *err)
{
	int r = 0;

	if (rec->kind == VT_BLOCK)
		r = vt_bblocks_add(e->dict, rec, err);
	else if (rec->kind == VT_EXEC)
		r = put_run(e, rec, err);
	else if (rec->kind == VT_VALUE && e->what == EXPAND_VALUES)
		r = put_value(e, rec);
	if (r >= 0 || r == -VT_E_NOMEM)
		return r;
	app_bad_record(e->app, err->text);
	return 0;
}
