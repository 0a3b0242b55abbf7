/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/stream/executions.h"

#include <stdlib.h>
#include <string.h>

#include "listing/json.h"
#include "listing/stream/columns.h"
#include "stream/bblock.h"
#include "stream/exec.h"

/* Bytes of a value in one line. */
#define LANE 8

struct vt_execution_dump {
	struct vt_execution_dump_options opt;
	struct vt_output *out;
	uint64_t printed;
	struct vt_bblocks *dict;
	struct vt_buf line;
};

struct vt_execution_dump *vt_execution_dump_new(struct vt_output *out,
						const struct vt_execution_dump_options *opt)
{
	struct vt_execution_dump *d = calloc(1, sizeof(*d));

	if (d) {
		d->opt = *opt;
		d->out = out;
	}
	return d;
}

void vt_execution_dump_free(struct vt_execution_dump *d)
{
	if (!d)
		return;
	vt_bblocks_free(d->dict);
	vt_buf_free(&d->line);
	free(d);
}

void vt_execution_dump_header(struct vt_execution_dump *d)
{
	vt_output_text(d->out, d->opt.values
				       ? "# pid\ttid\tfirst\tip\twhat\treg\tsize\tlane\tvalue\n"
				       : "# pid\ttid\tfirst\tblock\tip\tskip\tinsns\tcaller\n");
}

int vt_execution_dump_begin(struct vt_execution_dump *d, struct vt_error *err)
{
	vt_bblocks_free(d->dict);
	d->dict = vt_bblocks_new();
	return d->dict ? 0 : vt_error_nomem(err);
}

/* ---- lines ---- */

/* A part of a line: its name in JSON, and a number or a word. */
struct line_part {
	const char *name;
	char how; /* 'd': unsigned, 'i': signed, 'x': hexadecimal, 's': a word */
	uint64_t number;
	const char *word;
};

static void put_json_line(struct vt_execution_dump *d, const struct line_part *parts, size_t n)
{
	json_t *o = vt_json_doc("vtrace-dump/1");
	size_t i;

	for (i = 0; i < n; i++) {
		const struct line_part *p = &parts[i];

		json_object_set_new(o, p->name,
				    p->how == 's'   ? json_string(p->word)
				    : p->how == 'x' ? vt_json_hex(p->number)
				    : p->how == 'i' ? json_integer((json_int_t)p->number)
						    : vt_json_u64(p->number));
	}
	vt_json_write(d->out, o, false);
}

static void put_text_line(struct vt_execution_dump *d, const struct line_part *parts, size_t n)
{
	struct vt_buf *b = &d->line;
	size_t i;

	b->size = 0;
	for (i = 0; i < n; i++) {
		const struct line_part *p = &parts[i];
		uint64_t v = p->number;

		if (p->how == 's')
			vt_buf_put(b, p->word, strlen(p->word));
		else if (p->how == 'x')
			vt_dump_hex(b, v);
		else if (p->how == 'i')
			vt_dump_signed(b, v);
		else
			vt_dump_decimal(b, v);
		vt_buf_put_u8(b, i + 1 < n ? '\t' : '\n');
	}
	vt_output_put(d->out, b->data, b->size);
}

/* Returns 1 if it was the last. */
static int put_part_line(struct vt_execution_dump *d, const struct line_part *parts, size_t n)
{
	if (d->opt.limit && d->printed == d->opt.limit)
		return 1;
	d->printed++;
	if (d->opt.json)
		put_json_line(d, parts, n);
	else
		put_text_line(d, parts, n);
	return d->out->err.code != VT_OK || d->line.failed;
}

static int put_value_lines(struct vt_execution_dump *d, const struct vt_exec *x, uint64_t first,
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
			const struct line_part parts[] = {
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

			r = put_part_line(d, parts, sizeof(parts) / sizeof(parts[0]));
		}
	}
	return r;
}

static int put_block_line(struct vt_execution_dump *d, const struct vt_exec *x, uint64_t first,
			  uint64_t caller, const struct vt_step *step)
{
	const struct line_part parts[] = {
		{"pid", 'i', (uint64_t)x->pid, NULL},
		{"tid", 'i', (uint64_t)x->tid, NULL},
		{"first", 'd', first, NULL},
		{"block", 'd', step->block->id, NULL},
		{"ip", 'x', vt_bblock_insn_addr(step->block, step->insn), NULL},
		{"skip", 'd', step->insn, NULL},
		{"insns", 'd', step->insn_end - step->insn, NULL},
		{"caller", 'x', caller, NULL},
	};

	return put_part_line(d, parts, sizeof(parts) / sizeof(parts[0]));
}

/* The record has the caller of its first block only. */
static int put_exec_lines(struct vt_execution_dump *d, const struct vt_record *rec,
			  struct vt_error *err)
{
	struct vt_step step;
	struct vt_exec x;
	uint64_t first, caller;
	int stop = 0;
	int r = vt_exec_open(&x, d->dict, rec, err);

	caller = x.caller;
	first = x.first;
	while (r == 0 && stop == 0 && (r = vt_exec_next(&x, &step, err)) > 0) {
		r = 0;
		if (d->opt.values)
			stop = put_value_lines(d, &x, first, &step);
		else
			stop = put_block_line(d, &x, first, caller, &step);
		first += step.insn_end - step.insn;
		caller = 0;
	}
	return r < 0 ? r : stop;
}

static int put_value_record(struct vt_execution_dump *d, const struct vt_record *rec)
{
	const struct line_part parts[] = {
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

	return put_part_line(d, parts, sizeof(parts) / sizeof(parts[0]));
}

int vt_execution_dump_feed(struct vt_execution_dump *d, const struct vt_record *rec,
			   struct vt_error *err)
{
	int r = 0;

	if (rec->kind == VT_BLOCK)
		r = vt_bblocks_add(d->dict, rec, err);
	else if (rec->kind == VT_EXEC)
		r = put_exec_lines(d, rec, err);
	else if (rec->kind == VT_VALUE && d->opt.values)
		r = put_value_record(d, rec);
	if (r >= 0 || r == -VT_E_NOMEM)
		return r;
	d->opt.warn(d->opt.warn_arg, err->text);
	return 0;
}
