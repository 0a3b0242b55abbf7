/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/stream/instructions.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/hash.h"
#include "base/spelling.h"
#include "listing/json.h"
#include "listing/stream/columns.h"
#include "listing/stream/places.h"
#include "listing/stream/resolved.h"
#include "profile/threads.h"
#include "stream/exec.h"

#define MAX_COLUMNS 16

enum own_column { OWN_NONE, OWN_PID, OWN_TID, OWN_IP, NOWN };

static const char *const own_names[NOWN] = {NULL, "pid", "tid", "ip"};

struct insn_column {
	char name[16];		   /* as given */
	enum own_column own;	   /* OWN_NONE: see `resolved` */
	enum vt_resolved resolved; /* one that follows from a place, a thread or a time */
};

/* An instruction of a block, disassembled.  The texts are bounded like those of the places. */
struct decoded {
	uint64_t block;
	uint64_t insn; /* the last of the key */
	size_t text;
};

struct vt_insn_dump {
	struct vt_insn_dump_options opt;
	struct vt_output *out;
	struct insn_column columns[MAX_COLUMNS];
	size_t ncolumns;
	uint64_t printed;
	struct vt_context *context;
	struct vt_places *places;
	struct vt_threads *threads;
	struct vt_hash decoded; /* struct decoded */
	struct vt_buf texts;
	struct vt_buf line, raw;
	uint64_t shift, mult, zero; /* of TIMECONV; mult 0: unknown */
};

/* ---- choosing ---- */

static enum vt_resolved find_resolved(const char *name)
{
	enum vt_resolved r = vt_resolved_find(name);

	return r <= VT_RESOLVED_SECONDS ? r : VT_RESOLVED_NONE;
}

static int refuse_column(const char *name, struct vt_error *err)
{
	struct vt_spelling near = vt_spelling_start(name);
	struct vt_buf known = VT_BUF_INIT;
	int i;

	for (i = OWN_NONE + 1; i < NOWN; i++) {
		vt_buf_printf(&known, " %s", own_names[i]);
		vt_spelling_try(&near, own_names[i]);
	}
	for (i = VT_RESOLVED_NONE + 1; i <= VT_RESOLVED_SECONDS; i++) {
		vt_buf_printf(&known, " %s", vt_resolved_name((enum vt_resolved)i));
		vt_spelling_try(&near, vt_resolved_name((enum vt_resolved)i));
	}
	if (near.best)
		vt_error_set(err, VT_E_USAGE, "--fields: no field '%s'; did you mean '%s'?", name,
			     near.best);
	else
		vt_error_set(err, VT_E_USAGE, "--fields: '%s' is not one of:%s", name,
			     vt_buf_str(&known));
	vt_buf_free(&known);
	return -VT_E_USAGE;
}

static int add_column(struct vt_insn_dump *d, const char *name, size_t size, struct vt_error *err)
{
	struct insn_column c = {.own = OWN_NONE};
	char word[64];
	int i;

	snprintf(word, sizeof(word), "%.*s", (int)(size < 60 ? size : 60), name);
	for (i = OWN_NONE + 1; i < NOWN; i++)
		if (strcmp(own_names[i], word) == 0)
			c.own = (enum own_column)i;
	if (!c.own)
		c.resolved = find_resolved(word);
	if (!c.own && !c.resolved)
		return refuse_column(word, err);
	if (d->ncolumns == MAX_COLUMNS)
		return vt_error_set(err, VT_E_USAGE, "--fields: more than %d", MAX_COLUMNS);
	memcpy(c.name, word, size + 1); /* no known name is longer */
	d->columns[d->ncolumns++] = c;
	return 0;
}

static int add_columns(struct vt_insn_dump *d, const char *list, struct vt_error *err)
{
	int rc = 0;

	for (;;) {
		size_t size = strcspn(list, ",");

		rc = add_column(d, list, size, err);
		if (rc < 0 || !list[size])
			return rc;
		list += size + 1;
	}
}

struct vt_insn_dump *vt_insn_dump_new(struct vt_output *out, const struct vt_insn_dump_options *opt,
				      struct vt_error *err)
{
	struct vt_insn_dump *d = calloc(1, sizeof(*d));

	if (!d) {
		vt_error_nomem(err);
		return NULL;
	}
	d->opt = *opt;
	d->out = out;
	vt_hash_init(&d->decoded, sizeof(struct decoded), offsetof(struct decoded, text));
	if (add_columns(d, opt->columns, err) == 0)
		return d;
	vt_insn_dump_free(d);
	return NULL;
}

static void forget_code(struct vt_insn_dump *d)
{
	vt_hash_clear(&d->decoded);
	d->texts.size = 0;
}

static void end_stream(struct vt_insn_dump *d)
{
	vt_places_free(d->places);
	vt_threads_free(d->threads);
	d->places = NULL;
	d->threads = NULL;
	forget_code(d);
	d->mult = 0;
}

void vt_insn_dump_free(struct vt_insn_dump *d)
{
	if (!d)
		return;
	end_stream(d);
	vt_hash_fini(&d->decoded);
	vt_buf_free(&d->texts);
	vt_buf_free(&d->line);
	vt_buf_free(&d->raw);
	free(d);
}

void vt_insn_dump_header(struct vt_insn_dump *d)
{
	size_t i;

	for (i = 0; i < d->ncolumns; i++)
		vt_output_printf(d->out, "%s%s", i ? "\t" : "# ", d->columns[i].name);
	vt_output_text(d->out, "\n");
}

int vt_insn_dump_begin(struct vt_insn_dump *d, struct vt_context *context, struct vt_error *err)
{
	end_stream(d);
	d->context = context;
	d->places = vt_places_new(context);
	d->threads = vt_threads_new();
	return d->places && d->threads ? 0 : vt_error_nomem(err);
}

/* ---- lines ---- */

/* An execution of an instruction. */
struct executed {
	const struct vt_exec *run;
	const struct vt_bblock *block;
	uint32_t insn;
	uint32_t at; /* its position in the block's code */
	uint64_t ip;
	uint64_t time; /* ns; 0: unknown */
};

/* Disassembles the code that ran; that of the file, if the block has none. */
static void put_code(struct vt_insn_dump *d, const struct executed *e, struct vt_spot *s)
{
	const struct decoded key = {.block = e->block->id, .insn = e->insn};
	struct decoded *known;
	const char *text;
	bool added;

	if (!e->block->code) {
		vt_resolved_spot(d->places, VT_RESOLVED_INSN, s, &d->raw);
		return;
	}
	if (d->decoded.count >= VT_PLACES_MAX || d->texts.size >= VT_PLACES_TEXT)
		forget_code(d);
	known = vt_hash_add(&d->decoded, &key, &added);
	if (!known) {
		d->raw.failed = true;
		return;
	}
	if (added) {
		text = vt_places_decode(d->places, s, e->block->mode, e->block->code + e->at,
					e->block->lengths[e->insn], e->ip);
		if (!*text)
			text = "[unknown]";
		known->text = d->texts.size;
		vt_buf_put(&d->texts, text, strlen(text) + 1);
	}
	if (d->texts.failed) {
		d->raw.failed = true;
		return;
	}
	text = (const char *)d->texts.data + known->text;
	vt_buf_put(&d->raw, text, strlen(text));
}

static void put_comm(struct vt_insn_dump *d, const struct executed *e)
{
	char buf[VT_COMM_SIZE];
	const char *comm = vt_threads_comm(d->threads, (int32_t)e->run->tid, buf);

	vt_buf_put(&d->raw, comm, strlen(comm));
}

/* Sets d->raw to a column, not escaped; empty if it is unknown. */
static void make_column(struct vt_insn_dump *d, const struct insn_column *c,
			const struct executed *e, struct vt_spot *s)
{
	d->raw.size = 0;
	if (c->own == OWN_PID)
		vt_dump_signed(&d->raw, (uint64_t)e->run->pid);
	else if (c->own == OWN_TID)
		vt_dump_signed(&d->raw, (uint64_t)e->run->tid);
	else if (c->own == OWN_IP)
		vt_dump_hex(&d->raw, e->ip);
	else if (c->resolved == VT_RESOLVED_COMM)
		put_comm(d, e);
	else if (c->resolved == VT_RESOLVED_INSN)
		put_code(d, e, s);
	else if (c->resolved != VT_RESOLVED_SECONDS)
		vt_resolved_spot(d->places, c->resolved, s, &d->raw);
	else if (e->time)
		vt_dump_seconds(&d->raw, e->time);
}

static void put_text(struct vt_insn_dump *d, const struct executed *e, struct vt_spot *s)
{
	size_t i;

	d->line.size = 0;
	for (i = 0; i < d->ncolumns; i++) {
		make_column(d, &d->columns[i], e, s);
		vt_escape(&d->line, d->raw.data, d->raw.size);
		vt_buf_put_u8(&d->line, i + 1 < d->ncolumns ? '\t' : '\n');
	}
	vt_output_put(d->out, d->line.data, d->line.size);
}

static json_t *column_json(struct vt_insn_dump *d, const struct insn_column *c,
			   const struct executed *e, struct vt_spot *s)
{
	if (c->own == OWN_PID)
		return json_integer(e->run->pid);
	if (c->own == OWN_TID)
		return json_integer(e->run->tid);
	make_column(d, c, e, s);
	return d->raw.size ? vt_json_text(d->raw.data, d->raw.size) : json_null();
}

static void put_json(struct vt_insn_dump *d, const struct executed *e, struct vt_spot *s)
{
	json_t *o = vt_json_doc("vtrace-dump/1");
	size_t i;

	for (i = 0; i < d->ncolumns; i++)
		json_object_set_new(o, d->columns[i].name, column_json(d, &d->columns[i], e, s));
	vt_json_write(d->out, o, false);
}

/* Returns 1 if it was the last. */
static int put_instruction(struct vt_insn_dump *d, const struct executed *e, struct vt_error *err)
{
	struct vt_spot *s;

	if (d->opt.limit && d->printed == d->opt.limit)
		return 1;
	d->printed++;
	s = vt_places_find(d->places, (int32_t)e->run->pid, e->ip, 0);
	if (!s)
		return vt_error_nomem(err);
	if (d->opt.json)
		put_json(d, e, s);
	else
		put_text(d, e, s);
	if (d->line.failed || d->raw.failed)
		return vt_error_nomem(err);
	return d->out->err.code != VT_OK;
}

/* ---- blocks ---- */

/* The time of the block that comes next: its own, or that of the run. */
static uint64_t time_of_block(const struct vt_insn_dump *d, const struct vt_exec *x)
{
	uint64_t tsc, cycles, rest;

	vt_exec_clock(x, &tsc, &cycles);
	if (!tsc || !d->mult || d->shift > 63)
		return x->time;
	rest = tsc & ((UINT64_C(1) << d->shift) - 1);
	return d->zero + (tsc >> d->shift) * d->mult + (rest * d->mult >> d->shift);
}

static int put_step(struct vt_insn_dump *d, const struct vt_exec *x, const struct vt_step *step,
		    uint64_t time, struct vt_error *err)
{
	const struct vt_bblock *b = step->block;
	struct executed e = {.run = x, .block = b, .insn = step->insn, .time = time};
	int code = 0;

	e.ip = vt_bblock_insn_addr(b, step->insn);
	e.at = (uint32_t)(e.ip - b->addr);
	for (; e.insn < step->insn_end && code == 0; e.insn++) {
		code = put_instruction(d, &e, err);
		e.ip += b->lengths[e.insn];
		e.at += b->lengths[e.insn];
	}
	return code;
}

/* Inconsistent records are told, and end there. */
static int put_run(struct vt_insn_dump *d, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_exec x;
	struct vt_step step;
	uint64_t time;
	int code = 0, r = vt_exec_open(&x, vt_context_blocks(d->context), rec, err);

	while (r >= 0 && code == 0) {
		time = time_of_block(d, &x);
		r = vt_exec_next(&x, &step, err);
		if (r <= 0)
			break;
		code = put_step(d, &x, &step, time, err);
	}
	if (r < 0)
		d->opt.warn(d->opt.warn_arg, err->text);
	return code;
}

static void take_timeconv(struct vt_insn_dump *d, const struct vt_record *rec)
{
	d->shift = vt_record_u64(rec, VT_TIMECONV_SHIFT);
	d->mult = vt_record_u64(rec, VT_TIMECONV_MULT);
	d->zero = vt_record_u64(rec, VT_TIMECONV_ZERO);
}

int vt_insn_dump_feed(struct vt_insn_dump *d, const struct vt_record *rec, struct vt_error *err)
{
	int code;

	if (rec->kind == VT_EXEC)
		return put_run(d, rec, err);
	if (rec->kind == VT_TIMECONV)
		take_timeconv(d, rec);
	else if (rec->kind == VT_IMAGE || rec->kind == VT_KSYMBOL) /* has other names in operands */
		forget_code(d);
	code = vt_context_feed(d->context, rec->block, rec->row, 1, err);
	if (code < 0)
		return code;
	if (rec->kind == VT_BLOCK && vt_context_refused(d->context, err) < 0)
		d->opt.warn(d->opt.warn_arg, err->text);
	vt_places_feed(d->places, rec);
	code = vt_threads_feed(d->threads, rec->block, rec->row, 1, err);
	return code == -VT_E_LIMIT ? 0 : code;
}
