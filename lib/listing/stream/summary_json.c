/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "listing/json.h"
#include "listing/stream/summary.h"

static void set_u64(json_t *o, const char *name, uint64_t v)
{
	json_object_set_new(o, name, vt_json_u64(v));
}

/* ---- the stream ---- */

static json_t *interned_json(const struct vt_intern *strings, uint32_t id)
{
	return vt_json_text(vt_intern_get(strings, id), vt_intern_size(strings, id));
}

static json_t *string_json(const char *s)
{
	return vt_json_text(s, strlen(s));
}

static json_t *records_json(const struct vt_summary *s, const struct vt_schema *schema)
{
	json_t *o = json_object();
	uint32_t k;

	for (k = 0; k < s->nkinds; k++)
		if (s->kinds[k])
			vt_json_set(o, schema->kinds[k].name, vt_json_u64(s->kinds[k]));
	return o;
}

static json_t *events_json(const struct vt_summary *s)
{
	json_t *a = json_array();
	size_t i;

	for (i = 0; i < s->names.events.count; i++) {
		const struct vt_named_event *e = vt_hash_at(&s->names.events, i);
		struct vt_event_total sum = vt_summary_of_event(s, e->id);
		json_t *o = json_object();

		set_u64(o, "id", e->id);
		json_object_set_new(o, "name", interned_json(s->names.strings, e->name));
		json_object_set_new(o, "policy", json_string(vt_policy_name(e->policy)));
		json_object_set_new(o, "unit", interned_json(s->names.strings, e->unit));
		set_u64(o, "samples", sum.samples);
		set_u64(o, "period", sum.period);
		set_u64(o, "exact_ip", sum.exact_ip);
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *followed_events_json(const struct vt_followed_total *f)
{
	json_t *a = json_array();
	unsigned bit;

	for (bit = 0; bit < VT_PM_NEVENTS; bit++) {
		json_t *o = f->told[bit] ? json_object() : NULL;

		if (!o)
			continue;
		json_object_set_new(o, "name", json_string(vt_pm_event_name(bit)));
		set_u64(o, "told", f->told[bit]);
		set_u64(o, "happened", f->happened[bit]);
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *followed_fields_json(const struct vt_followed_total *f,
				    const struct vt_kind_desc *desc)
{
	json_t *a = json_array();
	unsigned bit;

	for (bit = 1; bit < VT_PM_NBITS; bit++) {
		json_t *o = f->known[bit] ? json_object() : NULL;

		if (!o)
			continue;
		json_object_set_new(o, "name",
				    string_json(desc->fields[VT_SAMPLE_EVENTS + bit].name));
		set_u64(o, "samples", f->known[bit]);
		set_u64(o, "at_least", f->least[bit]);
		json_array_append_new(a, o);
	}
	return a;
}

/* What is known of single instructions, by event. */
static json_t *followed_json(const struct vt_summary *s, const struct vt_schema *schema)
{
	json_t *a = json_array();
	size_t i;

	for (i = 0; i < s->followed.count; i++) {
		const struct vt_followed_total *f = vt_hash_at(&s->followed, i);
		json_t *o = json_object();

		set_u64(o, "event", f->event);
		set_u64(o, "samples", f->samples);
		json_object_set_new(o, "events", followed_events_json(f));
		json_object_set_new(o, "fields",
				    followed_fields_json(f, &schema->kinds[VT_SAMPLE]));
		json_array_append_new(a, o);
	}
	return a;
}

/* The samples with memory, by why the recorder walked no further. */
static json_t *walks_json(const struct vt_summary *s)
{
	json_t *a = json_array();
	unsigned i;

	for (i = 0; i < VT_NWALKSTOPS; i++) {
		json_t *o;

		if (!s->walks[i].samples)
			continue;
		o = json_object();
		json_object_set_new(o, "stop", json_string(vt_walk_stop_name(i)));
		set_u64(o, "samples", s->walks[i].samples);
		set_u64(o, "insns", s->walks[i].insns);
		set_u64(o, "lines", s->walks[i].lines);
		json_array_append_new(a, o);
	}
	return a;
}

/* The sum of losses, and in the list "by" those of each reason, which is the member `key`. */
static json_t *losses_json(const struct vt_summary *s, const struct vt_hash *h, const char *key,
			   bool bytes)
{
	struct vt_loss_total sum = vt_summary_loss_sum(h);
	json_t *a = json_array(), *o = json_object();
	size_t i;

	for (i = 0; i < h->count; i++) {
		const struct vt_loss_total *l = vt_hash_at(h, i);
		json_t *x = json_object();

		json_object_set_new(x, key, interned_json(s->strings, (uint32_t)l->text));
		set_u64(x, "places", l->places);
		set_u64(x, "records", l->records);
		if (bytes)
			set_u64(x, "bytes", l->bytes);
		json_array_append_new(a, x);
	}
	set_u64(o, "places", sum.places);
	set_u64(o, "records", sum.records);
	if (bytes)
		set_u64(o, "bytes", sum.bytes);
	json_object_set_new(o, "by", a);
	return o;
}

static json_t *images_json(const struct vt_summary *s)
{
	json_t *a = json_array();
	size_t i;

	for (i = 0; i < s->names.images.count; i++) {
		const struct vt_named_image *m = vt_hash_at(&s->names.images, i);
		json_t *o = json_object();

		set_u64(o, "id", m->id);
		json_object_set_new(o, "type", json_string(vt_image_type_name(m->type)));
		json_object_set_new(o, "path", interned_json(s->names.strings, m->path));
		json_object_set_new(o, "buildid",
				    vt_json_bytes(vt_intern_get(s->names.strings, m->buildid),
						  vt_intern_size(s->names.strings, m->buildid)));
		json_array_append_new(a, o);
	}
	return a;
}

/* A list, not an object: a key may come more than once. */
static json_t *facts_json(const struct vt_summary *s)
{
	json_t *a = json_array();
	size_t i;

	for (i = 0; i < s->nfacts; i++) {
		const struct vt_fact *f = &s->facts[i];
		json_t *o = json_object();

		json_object_set_new(o, "key", interned_json(s->strings, f->key));
		json_object_set_new(o, "value", interned_json(s->strings, f->value));
		if (f->bytes)
			set_u64(o, "bytes", f->bytes);
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *provenance_json(const struct vt_header *h)
{
	json_t *a = json_array();
	uint32_t i, k;

	for (i = 0; i < h->nstages; i++) {
		const struct vt_stage *st = &h->stages[i];
		json_t *o = json_object(), *args = json_array();

		for (k = 0; k < st->nargs; k++)
			json_array_append_new(args, string_json(st->args[k]));
		json_object_set_new(o, "program", string_json(st->program));
		json_object_set_new(o, "version", string_json(st->version));
		set_u64(o, "seed", st->seed);
		json_object_set_new(o, "args", args);
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *damage_json(const struct vt_damage *d)
{
	json_t *o = json_object();

	set_u64(o, "blocks", d->blocks);
	set_u64(o, "bytes", d->bytes);
	set_u64(o, "records", d->records);
	json_object_set_new(o, "truncated", json_boolean(d->truncated));
	return o;
}

static json_t *failure_json(const struct vt_failure *f)
{
	json_t *v = json_object();

	json_object_set_new(v, "program", string_json(f->program));
	json_object_set_new(v, "why", string_json(f->why));
	return v;
}

/* NULL without records of one. */
static json_t *memory_json(const struct vt_memory_profile *m)
{
	json_t *o, *objects;
	unsigned type;

	if (!m->told && !m->nobjects && !m->locations)
		return NULL;
	o = json_object();
	objects = json_object();
	if (m->told) {
		set_u64(o, "instructions", m->insns);
		set_u64(o, "samples", m->samples);
		set_u64(o, "loads", m->loads);
		set_u64(o, "stores", m->stores);
		set_u64(o, "grain", m->grain);
		set_u64(o, "depth", m->depth);
		set_u64(o, "objects_left_out", m->objects_left_out);
	}
	set_u64(o, "objects", m->nobjects);
	for (type = 0; type < VT_NOBJECTTYPES; type++)
		if (m->objects[type])
			set_u64(objects, vt_object_type_name(type), m->objects[type]);
	json_object_set_new(o, "types", objects);
	set_u64(o, "locations", m->locations);
	set_u64(o, "locations_left_out", m->locations_left_out);
	set_u64(o, "accesses_left_out", m->accesses_left_out);
	return o;
}

static json_t *executed_json(const struct vt_executed_code *e, uint64_t stream_bytes)
{
	const struct vt_execcount_totals *t = vt_execcount_totals(e->count);
	json_t *o = json_object(), *values = json_object(), *ends = json_object();
	uint64_t what, end;

	set_u64(o, "instructions", t->insns);
	set_u64(o, "blocks", t->blocks);
	set_u64(o, "distinct_instructions", e->insns);
	set_u64(o, "distinct_blocks", e->blocks);
	if (t->insns)
		json_object_set_new(o, "bytes_per_instruction",
				    json_real((double)stream_bytes / (double)t->insns));
	for (end = 0; end < VT_NENDS; end++) {
		if (e->ends[end])
			json_object_set_new(ends, vt_block_end_name(end),
					    vt_json_u64(e->ends[end]));
	}
	json_object_set_new(o, "ends", ends);
	set_u64(o, "bad_records", e->bad);
	for (what = 0; what < VT_NWHATS; what++) {
		json_t *v;

		if (!e->values[what].count)
			continue;
		v = json_object();
		set_u64(v, "count", e->values[what].count);
		set_u64(v, "bytes", e->values[what].bytes);
		json_object_set_new(values, vt_what_name(what), v);
	}
	json_object_set_new(o, "values", values);
	return o;
}

static json_t *missing_code_json(const struct vt_summary *s)
{
	const struct vt_names *names = &s->names;
	struct vt_missing_range *list = vt_summary_missing(s);
	json_t *a = json_array();
	size_t i;

	for (i = 0; list && i < s->missing.count; i++) {
		const struct vt_missing_range *r = &list[i];
		const struct vt_named_image *image =
			r->image == VT_MISSING_UNMAPPED ? NULL : vt_names_image(names, r->image);
		json_t *o = json_object();

		if (image)
			json_object_set_new(o, "image", interned_json(names->strings, image->path));
		json_object_set_new(o, "first", vt_json_hex(r->first));
		json_object_set_new(o, "last", vt_json_hex(r->last));
		set_u64(o, "places", r->places);
		set_u64(o, "bytes", r->bytes);
		json_array_append_new(a, o);
	}
	free(list);
	return a;
}

/* ---- processor traces ---- */

static void set_span(json_t *o, const struct vt_trace_span *s)
{
	set_u64(o, "first_tsc", s->first_tsc);
	set_u64(o, "last_tsc", s->last_tsc);
	if (s->first_time && s->last_time) {
		set_u64(o, "first_time", s->first_time);
		set_u64(o, "last_time", s->last_time);
	}
}

static void set_packets(json_t *o, const char *name, uint64_t count, uint64_t bytes)
{
	json_t *v = json_object();

	set_u64(v, "count", count);
	set_u64(v, "bytes", bytes);
	vt_json_set(o, name, v);
}

static json_t *bad_places_json(const struct vt_raw_trace *t)
{
	json_t *o = json_object(), *a = json_array();
	uint64_t i;

	set_u64(o, "places", t->places);
	set_u64(o, "bytes", t->bad_bytes);
	for (i = 0; i < t->places && i < VT_BAD_PLACES; i++) {
		json_t *v = json_object();

		set_u64(v, "offset", t->bad[i].offset);
		set_u64(v, "bytes", t->bad[i].bytes);
		json_object_set_new(v, "cut", json_boolean(t->bad[i].cut));
		json_array_append_new(a, v);
	}
	json_object_set_new(o, "first", a);
	return o;
}

static json_t *raw_trace_json(const struct vt_raw_trace *t)
{
	json_t *o = json_object(), *kinds = json_object();
	size_t k;

	set_u64(o, "index", t->index);
	if (t->cpu >= 0)
		json_object_set_new(o, "cpu", json_integer(t->cpu));
	if (t->tid >= 0)
		json_object_set_new(o, "tid", json_integer(t->tid));
	set_u64(o, "bytes", t->bytes);
	set_u64(o, "total", t->packets);
	for (k = 0; k < t->nkinds; k++)
		set_packets(kinds, t->kinds[k].name, t->kinds[k].count, t->kinds[k].bytes);
	json_object_set_new(o, "packets", kinds);
	set_u64(o, "psb", t->syncs);
	set_u64(o, "overflows", t->overflows);
	set_u64(o, "decisions", t->decisions);
	set_u64(o, "taken", t->taken);
	if (t->span.known)
		set_span(o, &t->span);
	set_u64(o, "lost_mtc", t->lost_mtc);
	if (t->has_cycles)
		set_u64(o, "cycles", t->cycles);
	if (t->max_cbr) {
		set_u64(o, "min_cbr", t->min_cbr);
		set_u64(o, "max_cbr", t->max_cbr);
	}
	set_u64(o, "before_psb", t->before);
	json_object_set_new(o, "no_packets", bad_places_json(t));
	return o;
}

static json_t *decoded_json(const struct vt_decoded_trace *d, uint64_t insns)
{
	json_t *o = json_object(), *events = json_object(), *kinds = json_object();
	size_t i;

	set_u64(o, "bytes", d->bytes);
	if (d->packets.count && insns)
		json_object_set_new(o, "bytes_per_instruction",
				    json_real((double)d->bytes / (double)insns));
	if (d->span.known)
		set_span(o, &d->span);
	set_u64(o, "cycles", d->cycles);
	for (i = 0; i < VT_NTRACES; i++) {
		if (d->events[i])
			set_u64(events, vt_trace_event_name(i), d->events[i]);
	}
	json_object_set_new(o, "events", events);
	for (i = 0; i < d->packets.count; i++) {
		const struct vt_packet_total *sum = vt_hash_at(&d->packets, i);
		uint32_t id = (uint32_t)sum->name;

		if (vt_intern_size(d->strings, id))
			set_packets(kinds, vt_intern_get(d->strings, id), sum->count, sum->bytes);
	}
	json_object_set_new(o, "packets", kinds);
	return o;
}

/* NULL if there is no processor trace, neither decoded nor raw. */
static json_t *traces_json(const struct vt_summary_view *v)
{
	const struct vt_decoded_trace *d = &v->summary->trace;
	uint64_t insns = v->reader ? vt_execcount_totals(v->summary->executed.count)->insns : 0;
	json_t *o, *traces;
	size_t i;

	if (!v->ntraces && !d->packets.count && !d->nevents && !d->span.known)
		return NULL;
	o = json_object();
	traces = json_array();
	for (i = 0; i < v->ntraces; i++)
		json_array_append_new(traces, raw_trace_json(&v->traces[i]));
	json_object_set_new(o, "decoded", decoded_json(d, insns));
	json_object_set_new(o, "traces", traces);
	return o;
}

/* ---- all of it ---- */

static void set_stream(json_t *o, const struct vt_summary_view *v)
{
	const struct vt_summary *s = v->summary;
	const struct vt_reader *r = v->reader;
	json_t *pt = traces_json(v), *memory = memory_json(&s->memory);

	json_object_set_new(o, "status", json_string(vt_status_text(vt_reader_status(r))));
	if (vt_reader_failure(r))
		json_object_set_new(o, "failure", failure_json(vt_reader_failure(r)));
	set_u64(o, "total", s->records);
	json_object_set_new(o, "records", records_json(s, vt_reader_schema(r)));
	json_object_set_new(o, "events", events_json(s));
	json_object_set_new(o, "followed", followed_json(s, vt_reader_schema(r)));
	json_object_set_new(o, "walks", walks_json(s));
	json_object_set_new(o, "executed", executed_json(&s->executed, s->bytes));
	if (memory)
		json_object_set_new(o, "memory", memory);
	if (pt)
		json_object_set_new(o, "pt", pt);
	json_object_set_new(o, "lost", losses_json(s, &s->lost, "source", false));
	json_object_set_new(o, "gaps", losses_json(s, &s->gaps, "reason", true));
	json_object_set_new(o, "missing_code", missing_code_json(s));
	json_object_set_new(o, "damage", damage_json(vt_reader_damage(r)));
	if (s->timed) {
		set_u64(o, "first_time", s->first_time);
		set_u64(o, "last_time", s->last_time);
	}
	set_u64(o, "threads", s->threads.count);
	set_u64(o, "processes", s->processes.count);
	json_object_set_new(o, "complete_lists", json_boolean(!s->capped));
	json_object_set_new(o, "images", images_json(s));
	json_object_set_new(o, "facts", facts_json(s));
	json_object_set_new(o, "provenance", provenance_json(vt_reader_header(r)));
}

void vt_summary_print_json(const struct vt_summary_view *v, struct vt_output *out)
{
	json_t *o = vt_json_doc("vtrace-info/1");

	json_object_set_new(o, "file", string_json(v->name));
	set_u64(o, "bytes", v->summary->bytes);
	if (v->reader)
		set_stream(o, v);
	else
		json_object_set_new(o, "pt", traces_json(v));
	vt_json_write(out, o, true);
}
