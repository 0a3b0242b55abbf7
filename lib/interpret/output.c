/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "interpret/output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"

/* Of linux/perf_event.h: the bits of a SAMPLE that say it has registers and a stack. */
#define HAS_STATE ((uint64_t)(1u << 12 | 1u << 13 | 1u << 18))

struct vt_interpret_output {
	struct vt_interpret_output_options o;
	struct vt_interpret *in;
	struct vt_writer *target; /* what is written in the end; NULL: nothing */
	struct vt_writer *writer; /* the target, or a temporary file of provisional values */
	FILE *spool;		  /* that file */
	bool lines;		  /* there were samples with lines of memory */
	bool failed;		  /* an error that is not the stream's fault */
	uint64_t values;
};

/* ---- records that are passed on ---- */

/* The fields of a block's records to copy, first numbers, then arrays, then bytes. */
struct copied {
	unsigned numbers; /* where they end in `field`, as the next two */
	unsigned arrays;
	unsigned bytes;
	uint8_t field[VT_SAMPLE_NFIELDS + VT_EXEC_NFIELDS + VT_BLOCK_NFIELDS];
};

/*
 * Whether a field is left out.  Registers, stacks and lines of memory have served and are most of a
 * sample; values recorded along a path would be counted twice.
 */
static bool is_dropped(const struct vt_interpret_output *out, unsigned kind, unsigned field)
{
	bool path = out->o.interpret.path;

	if (out->o.keep)
		return false;
	if (kind == VT_SAMPLE)
		return field == VT_SAMPLE_UREGS || field == VT_SAMPLE_IREGS ||
		       field == VT_SAMPLE_STACK || field >= VT_SAMPLE_LINE_ADDR;
	return path && ((kind == VT_BLOCK && field == VT_BLOCK_SLOTS) ||
			(kind == VT_EXEC && field == VT_EXEC_DATA));
}

/* Whether anything of these records is left out. */
static bool drops_fields(const struct vt_interpret_output *out, unsigned kind)
{
	return (kind == VT_SAMPLE && is_dropped(out, kind, VT_SAMPLE_UREGS)) ||
	       (kind == VT_BLOCK && is_dropped(out, kind, VT_BLOCK_SLOTS)) ||
	       (kind == VT_EXEC && is_dropped(out, kind, VT_EXEC_DATA));
}

static unsigned add_copied(const struct vt_interpret_output *out, const struct vt_block *block,
			   struct copied *f, unsigned n, const char *types)
{
	unsigned i, fields = block->kind == VT_SAMPLE ? VT_SAMPLE_NFIELDS
			     : block->kind == VT_EXEC ? VT_EXEC_NFIELDS
						      : VT_BLOCK_NFIELDS;

	for (i = 0; i < fields; i++)
		if (strchr(types, (int)block->desc->fields[i].type) &&
		    !is_dropped(out, block->kind, i))
			f->field[n++] = (uint8_t)i;
	return n;
}

/* All but what is left out, and numbers that are 0 in all records. */
static struct copied copied_fields(const struct vt_interpret_output *out,
				   const struct vt_block *block)
{
	struct copied f;
	unsigned all = add_copied(out, block, &f, 0, "UIF"), i;

	f.numbers = 0;
	for (i = 0; i < all; i++) {
		const struct vt_column *c = &block->columns[f.field[i]];

		if (c->mask || c->v[0])
			f.field[f.numbers++] = f.field[i];
	}
	f.arrays = add_copied(out, block, &f, f.numbers, "A");
	f.bytes = add_copied(out, block, &f, f.arrays, "B");
	return f;
}

static uint64_t *copy_fields(struct vt_writer *w, const struct vt_record *rec,
			     const struct copied *f)
{
	uint64_t *row = vt_writer_row(w, rec->kind);
	unsigned i;

	for (i = 0; i < f->numbers; i++)
		row[f->field[i]] = vt_record_u64(rec, f->field[i]);
	for (; i < f->arrays; i++) {
		struct vt_words v = vt_record_words(rec, f->field[i]);

		if (v.count)
			vt_writer_words(w, f->field[i], v.data, v.count);
	}
	for (; i < f->bytes; i++) {
		struct vt_bytes v = vt_record_bytes(rec, f->field[i]);

		if (v.size)
			vt_writer_bytes(w, f->field[i], v.data, v.size);
	}
	return row;
}

/* `fields` is NULL for all. */
static void copy_record(struct vt_interpret_output *out, const struct vt_record *rec,
			const struct copied *fields)
{
	uint64_t *row;

	if (!fields) {
		vt_writer_copy(out->writer, rec);
		return;
	}
	row = copy_fields(out->writer, rec, fields);
	if (rec->kind != VT_SAMPLE)
		return;
	row[VT_SAMPLE_HAS] &= ~HAS_STATE;
	row[VT_SAMPLE_UREGS_ABI] = row[VT_SAMPLE_IREGS_ABI] = row[VT_SAMPLE_STACK_DYN_SIZE] = 0;
}

/* ---- values ---- */

static void write_run_value(struct vt_interpret_output *out, const struct vt_run *run,
			    const struct vt_capture *c, uint64_t caller)
{
	uint64_t *row = vt_writer_row(out->writer, VT_VALUE);

	row[VT_VALUE_TIME] = run->time;
	row[VT_VALUE_PID] = (uint64_t)run->pid;
	row[VT_VALUE_TID] = (uint64_t)run->tid;
	row[VT_VALUE_IP] = c->ip;
	row[VT_VALUE_WHAT] = c->what;
	row[VT_VALUE_REG] = c->reg;
	row[VT_VALUE_LANE] = c->lane;
	row[VT_VALUE_SIZE] = c->size;
	row[VT_VALUE_VALUE] = c->value;
	row[VT_VALUE_CALLER] = caller;
	row[VT_VALUE_WEIGHT] = run->weight;
	out->values++;
}

static void write_latency(struct vt_interpret_output *out, const struct vt_record *rec)
{
	uint64_t latency, *row;

	if (!vt_sample_latency(rec, &latency))
		return;
	row = vt_writer_row(out->writer, VT_VALUE);
	row[VT_VALUE_TIME] = vt_record_u64(rec, VT_SAMPLE_TIME);
	row[VT_VALUE_PID] = vt_record_u64(rec, VT_SAMPLE_PID);
	row[VT_VALUE_TID] = vt_record_u64(rec, VT_SAMPLE_TID);
	row[VT_VALUE_IP] = vt_record_u64(rec, VT_SAMPLE_IP);
	row[VT_VALUE_WHAT] = VT_WHAT_LATENCY;
	row[VT_VALUE_SIZE] = sizeof(latency);
	row[VT_VALUE_VALUE] = latency;
	row[VT_VALUE_WEIGHT] = 1;
	out->values++;
}

/* As recordings have it: at the first instruction of each procedure that is called. */
static void write_entries(struct vt_interpret_output *out, const struct vt_run *run)
{
	size_t i;

	for (i = 0; i < run->ncallers && run->callers[i].insn < run->insns; i++) {
		const struct vt_run_caller *c = &run->callers[i];
		const struct vt_capture value = {
			.ip = c->ip, .value = c->caller, .size = 8, .what = VT_WHAT_RETURN};

		if (c->entered)
			write_run_value(out, run, &value, c->caller);
	}
}

static size_t code_at(void *arg, int64_t pid, uint64_t ip, uint8_t *bytes, size_t size)
{
	return vt_interpret_code(arg, pid, ip, bytes, size);
}

static int output_run(void *arg, const struct vt_run *run, struct vt_error *err)
{
	struct vt_interpret_output *out = arg;
	size_t i, at = 0;

	if (!out->writer)
		return 0;
	for (i = 0; i < run->ncaptures; i++)
		if (run->captures[i].known && out->o.what >> run->captures[i].what & 1)
			write_run_value(out, run, &run->captures[i],
					vt_run_caller(run, run->captures[i].insn, &at));
	if (out->o.what & 1u << VT_WHAT_RETURN)
		write_entries(out, run);
	out->failed = vt_plugins_run(out->o.plugins, run, code_at, out->in, out->writer, err) < 0 ||
		      vt_writer_error(out->writer, err) < 0;
	return out->failed ? -(int)err->code : 0;
}

/* ---- the stream ---- */

/* What plugins get of a record besides its run. */
static bool feed_plugins(struct vt_interpret_output *out, const struct vt_record *rec,
			 struct vt_error *err)
{
	struct vt_plugins *m = out->o.plugins;
	struct vt_error why = VT_ERROR_INIT;

	if (!vt_plugins_count(m))
		return true;
	vt_plugins_fact(m, rec);
	if (rec->kind == VT_IMAGE || rec->kind == VT_MAP || rec->kind == VT_THREAD)
		vt_plugins_forget_code(m);
	/* Both number their kinds of values from 0. */
	if (rec->kind == VT_MODULE)
		vt_error_set(&why, VT_E_USAGE,
			     "the stream has values of plugins already; name all plugins at once");
	else if (vt_plugins_sample(m, rec, code_at, out->in, out->writer, &why) == 0)
		return true;
	*err = why;
	out->failed = true;
	return false;
}

static int output_record(struct vt_interpret_output *out, const struct vt_record *rec,
			 const struct copied *f, struct vt_error *err)
{
	int code;

	if (out->writer)
		copy_record(out, rec, f);
	if (out->writer && rec->kind == VT_SAMPLE && out->o.what & 1u << VT_WHAT_LATENCY)
		write_latency(out, rec);
	/* Code is that of the sample. */
	if (rec->kind == VT_SAMPLE && vt_plugins_count(out->o.plugins)) {
		out->lines |= vt_record_words(rec, VT_SAMPLE_LINE_ADDR).count > 0;
		if (out->lines)
			vt_plugins_forget_code(out->o.plugins);
	}
	code = vt_interpret_feed(out->in, rec, err);
	if (out->failed || !feed_plugins(out, rec, err))
		return -(int)err->code;
	if (code == -VT_E_LIMIT || code == -VT_E_FORMAT) {
		out->o.warn(out->o.warn_arg, err->text);
		return 0;
	}
	return code;
}

static int take_rows(void *output, const struct vt_block *block, uint32_t first, uint32_t count,
		     struct vt_error *err)
{
	struct vt_interpret_output *out = output;
	struct vt_record rec = {block, block->kind, first};
	bool less = drops_fields(out, block->kind);
	struct copied f = {0};
	int code = 0;

	if (less)
		f = copied_fields(out, block);
	for (; rec.row - first < count && code == 0; rec.row++)
		code = output_record(out, &rec, less ? &f : NULL, err);
	return code < 0 || !out->writer ? code : vt_writer_error(out->writer, err);
}

/* ---- life ---- */

struct vt_interpret_output *vt_interpret_output_new(const struct vt_interpret_output_options *opt,
						    struct vt_context *context,
						    struct vt_error *err)
{
	struct vt_interpret_output *out = calloc(1, sizeof(*out));

	if (!out) {
		vt_error_nomem(err);
		return NULL;
	}
	out->o = *opt;
	out->in = vt_interpret_new(&opt->interpret, context, output_run, out, err);
	if (!out->in) {
		free(out);
		return NULL;
	}
	vt_context_add(context, &(struct vt_consumer){.take = take_rows, .arg = out});
	return out;
}

void vt_interpret_output_free(struct vt_interpret_output *out)
{
	if (!out)
		return;
	if (out->spool && out->writer)
		vt_writer_abandon(out->writer);
	if (out->spool)
		fclose(out->spool);
	vt_interpret_free(out->in);
	free(out);
}

int vt_interpret_output_begin(struct vt_interpret_output *out, struct vt_writer *target,
			      const struct vt_reader *input, struct vt_error *err)
{
	const struct vt_writer_options opt = {
		.compression = VT_COMPRESS_ZSTD,
		.level = 1,
		.inputs = &input,
		.ninputs = 1,
	};

	out->target = out->writer = target;
	vt_plugins_declare(out->o.plugins, target);
	if (!vt_plugins_settle(out->o.plugins))
		return 0;
	out->writer = NULL;
	out->spool = tmpfile();
	if (!out->spool)
		return vt_error_errno(err, VT_E_WRITE, errno, "no temporary file");
	out->writer = vt_writer_open_fd(fileno(out->spool), "temporary file", &opt, err);
	return out->writer ? 0 : -(int)err->code;
}

const struct vt_interpret_totals *vt_interpret_output_end(struct vt_interpret_output *out,
							  uint64_t *values)
{
	vt_interpret_end(out->in);
	*values = out->values;
	return vt_interpret_totals(out->in);
}

/* ---- what plugins settle at the end ---- */

static int copy_all(struct vt_interpret_output *out, struct vt_reader *r, struct vt_error *err)
{
	struct vt_record rec;
	int code = vt_writer_add_input(out->target, r, err);

	if (code < 0)
		return code;
	while ((code = vt_reader_next(r, &rec, err)) > 0) {
		if (rec.kind != VT_VALUE)
			vt_writer_copy(out->target, &rec);
		else if (vt_plugins_copy(out->o.plugins, &rec, out->target, err) < 0)
			return -(int)err->code;
	}
	return code;
}

/* The writer goes first in any case: what it has not written yet is in no file. */
static int copy_provisional(struct vt_interpret_output *out, struct vt_reader **r,
			    struct vt_error *err)
{
	struct vt_writer *w = out->writer;

	out->writer = NULL;
	if (vt_writer_close(w, VT_STATUS_COMPLETE, err) < 0)
		return -(int)err->code;
	if (lseek(fileno(out->spool), 0, SEEK_SET) < 0)
		return vt_error_errno(err, VT_E_READ, errno, "temporary file");
	*r = vt_reader_open_fd(fileno(out->spool), "temporary file", err);
	return *r ? copy_all(out, *r, err) : -(int)err->code;
}

/* Readers of the stream learn why a plugin made no values. */
static void write_silent(struct vt_interpret_output *out)
{
	struct vt_buf b = VT_BUF_INIT;
	size_t i;

	for (i = 0; i < vt_plugins_count(out->o.plugins); i++) {
		const char *why, *name = vt_plugins_silent(out->o.plugins, i, &why);

		if (!name)
			continue;
		b.size = 0;
		vt_buf_printf(&b, "plugin %s: no values: %s", name, why);
		out->o.note(out->o.warn_arg, vt_buf_str(&b));
		vt_writer_meta(out->target, VT_SILENT_PLUGIN, vt_buf_str(&b));
	}
	vt_buf_free(&b);
}

int vt_interpret_output_finish(struct vt_interpret_output *out, struct vt_error *err)
{
	struct vt_plugins *plugins = out->o.plugins;
	uint64_t unlabeled;
	struct vt_reader *r = NULL;
	int code = vt_plugins_finish(plugins, err);
	char text[VT_ERROR_SIZE];

	if (code == 0 && out->spool)
		code = copy_provisional(out, &r, err);
	if (code == 0)
		code = vt_plugins_label(plugins, out->target, err);
	vt_reader_close(r);
	if (code == 0)
		write_silent(out);
	unlabeled = vt_plugins_totals(plugins)->unlabeled;
	if (!unlabeled)
		return code;
	snprintf(text, sizeof(text),
		 "%" PRIu64 " values have no label: more than %d distinct ones of a plugin",
		 unlabeled, VT_PLUGINS_MAX_LABELS);
	out->o.note(out->o.warn_arg, text);
	return code;
}
