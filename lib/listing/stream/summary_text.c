/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/stream/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/plural.h"
#include "base/table.h"
#include "image/images.h"

#define MISSING_ROWS 20 /* the most rows of missing code */

const char *vt_status_text(enum vt_status status)
{
	static const char *const names[] = {
		[VT_STATUS_COMPLETE] = "complete",
		[VT_STATUS_LOSSY] = "lossy",
		[VT_STATUS_INTERRUPTED] = "interrupted",
		[VT_STATUS_MISSING] = "truncated",
	};

	return names[status];
}

static void print_escaped_text(struct vt_output *out, const void *text, size_t size)
{
	struct vt_buf b = VT_BUF_INIT;

	vt_escape(&b, text, size);
	vt_output_put(out, b.data, b.size);
	vt_buf_free(&b);
}

static void print_interned(struct vt_output *out, const struct vt_intern *strings, uint32_t id)
{
	print_escaped_text(out, vt_intern_get(strings, id), vt_intern_size(strings, id));
}

static void cell_string(struct vt_table *t, const struct vt_intern *strings, uint32_t id)
{
	vt_table_text(t, vt_intern_get(strings, id), vt_intern_size(strings, id));
}

typedef void fill_fn(struct vt_table *t, const void *facts);

/* Prints the table of some facts under a heading, which may be NULL.  Prints no empty table. */
static int put_table(fill_fn *fill, const void *facts, const char *heading, struct vt_output *out,
		     struct vt_error *err)
{
	struct vt_table *t = vt_table_new();
	int rc = 0;

	if (!t)
		return vt_error_nomem(err);
	fill(t, facts);
	if (vt_table_rows(t)) {
		if (heading)
			vt_output_printf(out, "\n%s\n", heading);
		rc = vt_table_print(t, out, VT_TABLE_TEXT, false, err);
	}
	vt_table_free(t);
	return rc;
}

/* ---- the stream ---- */

static void put_head(const struct vt_summary_view *v, struct vt_output *out)
{
	const struct vt_failure *failure = vt_reader_failure(v->reader);
	const struct vt_summary *s = v->summary;

	vt_output_printf(out, ": %s, %" PRIu64 " bytes, %" PRIu64 " records\n",
			 vt_status_text(vt_reader_status(v->reader)), s->bytes, s->records);
	if (failure) {
		vt_output_text(out, "failed: ");
		print_escaped_text(out, failure->program, strlen(failure->program));
		vt_output_text(out, *failure->why ? ": " : "");
		print_escaped_text(out, failure->why, strlen(failure->why));
		vt_output_text(out, "\n");
	}
	if (s->timed)
		vt_output_printf(out,
				 "time: %" PRIu64 ".%09" PRIu64 " s to %" PRIu64 ".%09" PRIu64
				 " s, %.6f s in all\n",
				 s->first_time / 1000000000, s->first_time % 1000000000,
				 s->last_time / 1000000000, s->last_time % 1000000000,
				 (double)(s->last_time - s->first_time) * 1e-9);
	vt_output_printf(out, "threads: %zu in %zu processes\n", s->threads.count,
			 s->processes.count);
	if (s->capped)
		vt_output_printf(out, "(of some things there are more than %d: not all counted)\n",
				 VT_SUMMARY_MAX);
}

/* VT_END_FALL is left out: such a block transfers no control. */
static void put_ends(const struct vt_executed_code *e, struct vt_output *out)
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

static void put_executed(const struct vt_executed_code *e, uint64_t stream_bytes,
			 struct vt_output *out)
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
			 (double)stream_bytes / (double)t->insns);
	if (e->bad)
		vt_output_printf(out, "  %" PRIu64 " records contradict themselves, left out\n",
				 e->bad);
}

static void put_memory_objects(const struct vt_memory_profile *m, struct vt_output *out)
{
	const char *before = ": ";
	unsigned type;

	vt_output_printf(out, "  %" PRIu64 " object%s", m->nobjects, vt_plural(m->nobjects));
	for (type = 0; type < VT_NOBJECTTYPES; type++) {
		if (!m->objects[type])
			continue;
		vt_output_printf(out, "%s%" PRIu64 " %s", before, m->objects[type],
				 vt_object_type_name(type));
		before = ", ";
	}
	vt_output_printf(out, "\n  %" PRIu64 " location%s", m->locations, vt_plural(m->locations));
	if (m->told)
		vt_output_printf(out, " of %" PRIu64 " byte%s", m->grain, vt_plural(m->grain));
	vt_output_text(out, "\n");
}

static void put_memory(const struct vt_memory_profile *m, struct vt_output *out)
{
	if (!m->told && !m->nobjects && !m->locations)
		return;
	vt_output_text(out, "\nmemory profile\n");
	if (!m->told) {
		vt_output_text(out, "  without its totals (ACCESSES)\n");
	} else {
		vt_output_printf(out, "  %" PRIu64 " load%s and %" PRIu64 " store%s of %" PRIu64,
				 m->loads, vt_plural(m->loads), m->stores, vt_plural(m->stores),
				 m->insns ? m->insns : m->samples);
		vt_output_printf(out, " %s%s\n", m->insns ? "instruction" : "sample",
				 vt_plural(m->insns ? m->insns : m->samples));
		vt_output_printf(out, "  allocations told apart by %" PRIu64 " caller%s\n",
				 m->depth, vt_plural(m->depth));
	}
	put_memory_objects(m, out);
	if (m->objects_left_out)
		vt_output_printf(out, "  %" PRIu64 " object%s left out\n", m->objects_left_out,
				 vt_plural(m->objects_left_out));
	if (m->locations_left_out)
		vt_output_printf(out,
				 "  %" PRIu64 " location%s left out, with %" PRIu64 " access%s\n",
				 m->locations_left_out, vt_plural(m->locations_left_out),
				 m->accesses_left_out, m->accesses_left_out == 1 ? "" : "es");
}

static void fill_value_totals(struct vt_table *t, const void *executed)
{
	const struct vt_executed_code *e = executed;
	uint64_t what;

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
}

static void fill_kinds(struct vt_table *t, const void *view)
{
	const struct vt_summary_view *v = view;
	const struct vt_schema *schema = vt_reader_schema(v->reader);
	const struct vt_summary *s = v->summary;
	uint32_t k;

	vt_table_column(t, "records", "records", VT_FORMAT_NUMBER);
	vt_table_column(t, "kind", "kind", VT_FORMAT_TEXT);
	for (k = 0; k < s->nkinds; k++) {
		if (!s->kinds[k])
			continue;
		vt_table_row(t, VT_STYLE_PLAIN);
		vt_table_number(t, s->kinds[k]);
		vt_table_str(t, schema->kinds[k].name);
	}
}

static void fill_events(struct vt_table *t, const void *summary)
{
	const struct vt_summary *s = summary;
	size_t i;

	vt_table_column(t, "samples", "samples", VT_FORMAT_NUMBER);
	vt_table_column(t, "period", "period", VT_FORMAT_NUMBER);
	vt_table_column(t, "unit", "unit", VT_FORMAT_TEXT);
	vt_table_column(t, "policy", "pc chosen", VT_FORMAT_TEXT);
	vt_table_column(t, "event", "event", VT_FORMAT_TEXT);
	for (i = 0; i < s->names.events.count; i++) {
		const struct vt_named_event *e = vt_hash_at(&s->names.events, i);
		struct vt_event_total sum = vt_summary_of_event(s, e->id);

		vt_table_row(t, VT_STYLE_PLAIN);
		vt_table_number(t, sum.samples);
		vt_table_number(t, sum.period);
		cell_string(t, s->names.strings, e->unit);
		if (e->policy == VT_POLICY_PRECISE && sum.samples)
			vt_table_printf(t, "%s, EXACT_IP %" PRIu64, vt_policy_name(e->policy),
					sum.exact_ip);
		else
			vt_table_str(t, vt_policy_name(e->policy));
		if (e->name)
			cell_string(t, s->names.strings, e->name);
		else
			vt_table_printf(t, "event%" PRIu64, e->id);
	}
}

/* A number that a row does not have. */
#define NO_NUMBER UINT64_MAX

static void add_number_or_dash(struct vt_table *t, uint64_t number)
{
	if (number == NO_NUMBER)
		vt_table_str(t, "-");
	else
		vt_table_number(t, number);
}

static void add_followed_row(struct vt_table *t, const char *event, const char *what,
			     uint64_t known, uint64_t happened, uint64_t least)
{
	if (!known)
		return;
	vt_table_row(t, VT_STYLE_PLAIN);
	vt_table_number(t, known);
	add_number_or_dash(t, happened);
	add_number_or_dash(t, least);
	vt_table_str(t, what);
	vt_table_str(t, event);
}

/* The fields of instructions that were followed, and the events that they tell. */
static void fill_followed(struct vt_table *t, const void *view)
{
	const struct vt_summary_view *v = view;
	const struct vt_summary *s = v->summary;
	const struct vt_kind_desc *desc = &vt_reader_schema(v->reader)->kinds[VT_SAMPLE];
	size_t i;
	unsigned bit;

	vt_table_column(t, "samples", "samples", VT_FORMAT_NUMBER);
	vt_table_column(t, "happened", "happened", VT_FORMAT_NUMBER);
	vt_table_column(t, "at_least", "at least", VT_FORMAT_NUMBER);
	vt_table_column(t, "field", "field", VT_FORMAT_TEXT);
	vt_table_column(t, "event", "event", VT_FORMAT_TEXT);
	for (i = 0; i < s->followed.count; i++) {
		const struct vt_followed_total *f = vt_hash_at(&s->followed, i);
		const struct vt_named_event *e = vt_names_event(&s->names, f->event);
		const char *name = e ? vt_intern_get(s->names.strings, e->name) : "";

		for (bit = 0; bit < VT_PM_NEVENTS; bit++)
			add_followed_row(t, name, vt_pm_event_name(bit), f->told[bit],
					 f->happened[bit], NO_NUMBER);
		for (bit = 1; bit < VT_PM_NBITS; bit++)
			add_followed_row(t, name, desc->fields[VT_SAMPLE_EVENTS + bit].name,
					 f->known[bit], NO_NUMBER, f->least[bit]);
	}
}

/* The samples with memory, by why the recorder walked no further; means of each. */
static void fill_walks(struct vt_table *t, const void *summary)
{
	const struct vt_walk_total *w = ((const struct vt_summary *)summary)->walks;
	unsigned i;

	vt_table_column(t, "samples", "samples", VT_FORMAT_NUMBER);
	vt_table_column(t, "insns", "walked", VT_FORMAT_REAL);
	vt_table_column(t, "lines", "lines", VT_FORMAT_REAL);
	vt_table_column(t, "stop", "up to", VT_FORMAT_TEXT);
	for (i = 0; i < VT_NWALKSTOPS; i++) {
		if (!w[i].samples)
			continue;
		vt_table_row(t, VT_STYLE_PLAIN);
		vt_table_number(t, w[i].samples);
		vt_table_real(t, (double)w[i].insns / (double)w[i].samples);
		vt_table_real(t, (double)w[i].lines / (double)w[i].samples);
		vt_table_str(t, vt_walk_stop_name(i));
	}
}

static void fill_losses(struct vt_table *t, const void *summary)
{
	const struct vt_summary *s = summary;
	size_t i;

	vt_table_column(t, "places", "places", VT_FORMAT_NUMBER);
	vt_table_column(t, "records", "records", VT_FORMAT_NUMBER);
	vt_table_column(t, "bytes", "bytes", VT_FORMAT_NUMBER);
	vt_table_column(t, "why", "why", VT_FORMAT_TEXT);
	for (i = 0; i < s->gaps.count + s->lost.count; i++) {
		bool gap = i < s->gaps.count;
		const struct vt_loss_total *l =
			gap ? vt_hash_at(&s->gaps, i) : vt_hash_at(&s->lost, i - s->gaps.count);

		vt_table_row(t, VT_STYLE_PLAIN);
		vt_table_number(t, l->places);
		vt_table_number(t, l->records);
		vt_table_number(t, l->bytes);
		if (gap)
			cell_string(t, s->strings, (uint32_t)l->text);
		else
			vt_table_printf(t, "lost while recording: %s",
					vt_intern_get(s->strings, (uint32_t)l->text));
	}
}

static void add_missing_row(struct vt_table *t, const struct vt_missing_range *r,
			    const struct vt_names *names)
{
	const struct vt_named_image *image =
		r->image == VT_MISSING_UNMAPPED ? NULL : vt_names_image(names, r->image);

	vt_table_row(t, VT_STYLE_PLAIN);
	vt_table_number(t, r->places);
	vt_table_number(t, r->bytes);
	vt_table_number(t, r->first);
	vt_table_number(t, r->last);
	if (image)
		cell_string(t, names->strings, image->path);
	else
		vt_table_printf(t, "(%s)",
				vt_unknown_text(r->image == VT_MISSING_UNMAPPED
							? VT_UNKNOWN_NO_MAP
							: VT_UNKNOWN_NO_IMAGE));
}

struct missing_code {
	const struct vt_names *names;
	const struct vt_missing_range *list;
	size_t count;
};

static void fill_missing(struct vt_table *t, const void *missing)
{
	const struct missing_code *m = missing;
	size_t i;

	vt_table_column(t, "places", "places", VT_FORMAT_NUMBER);
	vt_table_column(t, "bytes", "bytes", VT_FORMAT_NUMBER);
	vt_table_column(t, "first", "first", VT_FORMAT_HEX);
	vt_table_column(t, "last", "last", VT_FORMAT_HEX);
	vt_table_column(t, "image", "image", VT_FORMAT_TEXT);
	for (i = 0; i < m->count; i++)
		add_missing_row(t, &m->list[i], m->names);
}

static int put_missing(const struct vt_summary *s, struct vt_output *out, struct vt_error *err)
{
	struct vt_missing_range *list = vt_summary_missing(s);
	size_t all = s->missing.count, n = all < MISSING_ROWS ? all : MISSING_ROWS;
	const struct missing_code shown = {&s->names, list, n};
	int rc = list ? put_table(fill_missing, &shown, "missing code", out, err)
		      : vt_error_nomem(err);

	free(list);
	if (rc == 0 && n < all)
		vt_output_printf(out, "(%zu more)\n", all - n);
	return rc;
}

static void fill_images(struct vt_table *t, const void *summary)
{
	const struct vt_summary *s = summary;
	size_t i, k;

	vt_table_column(t, "type", "type", VT_FORMAT_TEXT);
	vt_table_column(t, "buildid", "build-id", VT_FORMAT_TEXT);
	vt_table_column(t, "path", "image", VT_FORMAT_TEXT);
	for (i = 0; i < s->names.images.count; i++) {
		const struct vt_named_image *m = vt_hash_at(&s->names.images, i);
		const char *id = vt_intern_get(s->names.strings, m->buildid);
		struct vt_buf hex = VT_BUF_INIT;

		for (k = 0; k < vt_intern_size(s->names.strings, m->buildid); k++)
			vt_buf_printf(&hex, "%02x", (unsigned char)id[k]);
		vt_table_row(t, VT_STYLE_PLAIN);
		vt_table_str(t, vt_image_type_name(m->type));
		vt_table_str(t, hex.size ? vt_buf_str(&hex) : "-");
		cell_string(t, s->names.strings, m->path);
		vt_buf_free(&hex);
	}
}

static void print_recording_facts(const struct vt_summary *s, struct vt_output *out)
{
	size_t i;

	if (s->nfacts)
		vt_output_text(out, "\nthe recording\n");
	for (i = 0; i < s->nfacts; i++) {
		const struct vt_fact *f = &s->facts[i];

		vt_output_text(out, "  ");
		print_interned(out, s->strings, f->key);
		vt_output_text(out, ": ");
		print_interned(out, s->strings, f->value);
		if (f->bytes)
			vt_output_printf(out, "%s(%" PRIu64 " bytes kept)", f->value ? " " : "",
					 f->bytes);
		vt_output_text(out, "\n");
	}
}

/* Quotes an argument, unless it is a plain word. */
static void put_argument(struct vt_output *out, const char *arg)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=./,:@%";
	const char *quote = *arg && !arg[strspn(arg, plain)] ? "" : "'";

	vt_output_printf(out, " %s", quote);
	print_escaped_text(out, arg, strlen(arg));
	vt_output_text(out, quote);
}

static void put_provenance(const struct vt_header *h, struct vt_output *out)
{
	uint32_t i, k;

	if (h->nstages)
		vt_output_text(out, "\nmade by\n");
	for (i = 0; i < h->nstages; i++) {
		const struct vt_stage *st = &h->stages[i];

		vt_output_text(out, "  ");
		print_escaped_text(out, st->program, strlen(st->program));
		for (k = 0; k < st->nargs; k++)
			put_argument(out, st->args[k]);
		vt_output_text(out, " (");
		print_escaped_text(out, st->version, strlen(st->version));
		if (st->seed)
			vt_output_printf(out, ", seed %" PRIu64, st->seed);
		vt_output_text(out, ")\n");
	}
}

/* ---- processor traces ---- */

static void fill_packets(struct vt_table *t, const void *trace)
{
	const struct vt_raw_trace *r = trace;
	size_t k;

	vt_table_column(t, "packets", "packets", VT_FORMAT_NUMBER);
	vt_table_column(t, "bytes", "bytes", VT_FORMAT_NUMBER);
	vt_table_column(t, "share", "of all", VT_FORMAT_PERCENT);
	vt_table_column(t, "kind", "kind", VT_FORMAT_TEXT);
	for (k = 0; k < r->nkinds; k++) {
		vt_table_row(t, VT_STYLE_PLAIN);
		vt_table_number(t, r->kinds[k].count);
		vt_table_number(t, r->kinds[k].bytes);
		vt_table_percent(t, r->kinds[k].bytes, r->bytes);
		vt_table_str(t, r->kinds[k].name);
	}
}

/* Prints a span in ticks and, if the conversion is known, in nanoseconds. */
static void put_span(const struct vt_trace_span *s, struct vt_output *out)
{
	vt_output_printf(out, "  time: TSC %" PRIu64 " to %" PRIu64 ", %" PRIu64 " ticks\n",
			 s->first_tsc, s->last_tsc, s->last_tsc - s->first_tsc);
	if (s->first_time && s->last_time)
		vt_output_printf(out,
				 "    %" PRIu64 ".%09" PRIu64 " s to %" PRIu64 ".%09" PRIu64
				 " s, %.9f s\n",
				 s->first_time / 1000000000, s->first_time % 1000000000,
				 s->last_time / 1000000000, s->last_time % 1000000000,
				 (double)(s->last_time - s->first_time) * 1e-9);
}

static void put_clock(const struct vt_raw_trace *t, struct vt_output *out)
{
	bool any = false;
	size_t k;

	vt_output_text(out, "  timing packets:");
	for (k = 0; k < t->nkinds; k++) {
		if (!t->kinds[k].timing)
			continue;
		vt_output_printf(out, "%s %s", any ? "," : "", t->kinds[k].name);
		any = true;
	}
	vt_output_text(out, any ? "\n" : " none\n");
	if (t->span.known)
		put_span(&t->span, out);
	if (t->lost_mtc)
		vt_output_printf(out, "    %" PRIu64 " MTC packets are missing\n", t->lost_mtc);
	if (t->has_cycles)
		vt_output_printf(out, "  %" PRIu64 " cycles\n", t->cycles);
	if (t->max_cbr)
		vt_output_printf(out, "  core to bus ratio: %u to %u\n", t->min_cbr, t->max_cbr);
}

static void put_bad_places(const struct vt_raw_trace *t, struct vt_output *out)
{
	uint64_t i;

	if (t->before)
		vt_output_printf(out, "  %" PRIu64 " bytes lie before the first PSB\n", t->before);
	if (!t->places)
		return;
	vt_output_printf(out, "  %" PRIu64 " bytes at %" PRIu64 " place%s are no packets\n",
			 t->bad_bytes, t->places, t->places == 1 ? "" : "s");
	for (i = 0; i < t->places && i < VT_BAD_PLACES; i++)
		vt_output_printf(out, "    at 0x%" PRIx64 ": %" PRIu64 " bytes%s\n",
				 t->bad[i].offset, t->bad[i].bytes,
				 t->bad[i].cut ? ", a packet that is cut" : "");
	if (i < t->places)
		vt_output_printf(out, "    and %" PRIu64 " more\n", t->places - i);
}

static int put_raw_trace(const struct vt_raw_trace *t, struct vt_output *out, struct vt_error *err)
{
	vt_output_printf(out, "\n%s", t->format);
	if (t->cpu >= 0)
		vt_output_printf(out, " of processor %" PRId64, t->cpu);
	else if (t->tid >= 0)
		vt_output_printf(out, " of thread %" PRId64, t->tid);
	vt_output_printf(out, ": %" PRIu64 " bytes, %" PRIu64 " packets, not decoded\n", t->bytes,
			 t->packets);
	vt_output_printf(out, "  %" PRIu64 " PSB, %" PRIu64 " overflows\n", t->syncs, t->overflows);
	vt_output_printf(out,
			 "  %" PRIu64 " decisions, %" PRIu64 " of them taken; %" PRIu64
			 " addresses of targets\n",
			 t->decisions, t->taken, t->targets);
	put_clock(t, out);
	put_bad_places(t, out);
	return put_table(fill_packets, t, NULL, out, err);
}

static void fill_packet_totals(struct vt_table *t, const void *trace)
{
	const struct vt_decoded_trace *d = trace;
	size_t i;

	vt_table_column(t, "packets", "packets", VT_FORMAT_NUMBER);
	vt_table_column(t, "bytes", "bytes", VT_FORMAT_NUMBER);
	vt_table_column(t, "kind", "kind", VT_FORMAT_TEXT);
	for (i = 0; i < d->packets.count; i++) {
		const struct vt_packet_total *sum = vt_hash_at(&d->packets, i);
		uint32_t id = (uint32_t)sum->name;

		if (!vt_intern_size(d->strings, id))
			continue;
		vt_table_row(t, VT_STYLE_PLAIN);
		vt_table_number(t, sum->count);
		vt_table_number(t, sum->bytes);
		cell_string(t, d->strings, id);
	}
}

static int put_decoded(const struct vt_decoded_trace *d, uint64_t insns, struct vt_output *out,
		       struct vt_error *err)
{
	unsigned i;

	if (!d->packets.count && !d->nevents && !d->span.known && !d->cycles)
		return 0;
	vt_output_text(out, "\nprocessor trace\n");
	if (d->packets.count)
		vt_output_printf(out, "  %" PRIu64 " bytes of trace\n", d->bytes);
	if (d->packets.count && insns)
		vt_output_printf(out, "  %.4f bytes of trace for each instruction\n",
				 (double)d->bytes / (double)insns);
	if (d->span.known)
		put_span(&d->span, out);
	if (d->cycles)
		vt_output_printf(out, "  %" PRIu64 " cycles\n", d->cycles);
	for (i = 0; i < VT_NTRACES; i++) {
		if (d->events[i])
			vt_output_printf(out, "  %" PRIu64 " %s\n", d->events[i],
					 vt_trace_event_name(i));
	}
	return put_table(fill_packet_totals, d, NULL, out, err);
}

static int put_traces(const struct vt_summary_view *v, struct vt_output *out, struct vt_error *err)
{
	int rc = 0;
	size_t i;

	for (i = 0; i < v->ntraces && rc == 0; i++)
		rc = put_raw_trace(&v->traces[i], out, err);
	return rc;
}

/* ---- all of it ---- */

static int put_tables(const struct vt_summary_view *v, struct vt_output *out, struct vt_error *err)
{
	const struct vt_summary *s = v->summary;
	int rc = put_table(fill_events, s, "samples", out, err);

	if (rc == 0)
		rc = put_table(fill_followed, v, "single instructions", out, err);
	if (rc == 0)
		rc = put_table(fill_walks, s, "samples with memory", out, err);
	if (rc == 0)
		rc = put_table(fill_value_totals, &s->executed, "values", out, err);
	if (rc == 0)
		rc = put_table(fill_kinds, v, "records", out, err);
	if (rc == 0)
		rc = put_table(fill_losses, s, "missing", out, err);
	if (rc == 0)
		rc = put_missing(s, out, err);
	if (rc == 0)
		rc = put_table(fill_images, s, "images", out, err);
	return rc;
}

static int put_stream(const struct vt_summary_view *v, struct vt_output *out, struct vt_error *err)
{
	const struct vt_summary *s = v->summary;
	uint64_t insns = vt_execcount_totals(s->executed.count)->insns;
	int rc;

	put_head(v, out);
	put_executed(&s->executed, s->bytes, out);
	put_memory(&s->memory, out);
	rc = put_decoded(&s->trace, insns, out, err);
	if (rc == 0)
		rc = put_traces(v, out, err);
	if (rc == 0)
		rc = put_tables(v, out, err);
	print_recording_facts(s, out);
	put_provenance(vt_reader_header(v->reader), out);
	return rc;
}

int vt_summary_print_text(const struct vt_summary_view *v, struct vt_output *out,
			  struct vt_error *err)
{
	print_escaped_text(out, v->name, strlen(v->name));
	if (v->reader)
		return put_stream(v, out, err);
	vt_output_printf(out, ": %" PRIu64 " bytes\n", v->summary->bytes);
	return put_traces(v, out, err);
}
