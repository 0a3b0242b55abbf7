/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "cmd/vtrace/info.h"
#include "listing/json.h"

static json_t *json_of(const struct vt_intern *strings, uint32_t id)
{
	return vt_json_text(vt_intern_get(strings, id), vt_intern_size(strings, id));
}

static json_t *json_str(const char *s)
{
	return vt_json_text(s, strlen(s));
}

static json_t *records(const struct summary *s, const struct vt_reader *r)
{
	json_t *o = json_object();
	uint32_t k;

	for (k = 0; k < s->nkinds; k++)
		if (s->kinds[k])
			vt_json_set(o, vt_reader_schema(r)->kinds[k].name,
				    vt_json_u64(s->kinds[k]));
	return o;
}

static json_t *events(const struct summary *s)
{
	json_t *a = json_array();
	size_t i;

	for (i = 0; i < s->names.events.count; i++) {
		const struct named_event *e = vt_hash_at(&s->names.events, i);
		struct summary_event sum = summary_of_event(s, e->id);
		json_t *o = json_object();

		json_object_set_new(o, "id", vt_json_u64(e->id));
		json_object_set_new(o, "name", json_of(s->names.strings, e->name));
		json_object_set_new(o, "policy", json_string(vt_policy_name(e->policy)));
		json_object_set_new(o, "unit", json_of(s->names.strings, e->unit));
		json_object_set_new(o, "samples", vt_json_u64(sum.samples));
		json_object_set_new(o, "period", vt_json_u64(sum.period));
		json_object_set_new(o, "exact_ip", vt_json_u64(sum.exact_ip));
		json_array_append_new(a, o);
	}
	return a;
}

/* The sums, and under `key` each reason's own. */
static json_t *losses(const struct summary *s, const struct vt_hash *h, const char *key, bool bytes)
{
	struct summary_loss sum = summary_total(h);
	json_t *a = json_array(), *o = json_object();
	size_t i;

	for (i = 0; i < h->count; i++) {
		const struct summary_loss *l = vt_hash_at(h, i);
		json_t *x = json_object();

		json_object_set_new(x, key, json_of(s->strings, (uint32_t)l->text));
		json_object_set_new(x, "places", vt_json_u64(l->places));
		json_object_set_new(x, "records", vt_json_u64(l->records));
		if (bytes)
			json_object_set_new(x, "bytes", vt_json_u64(l->bytes));
		json_array_append_new(a, x);
	}
	json_object_set_new(o, "places", vt_json_u64(sum.places));
	json_object_set_new(o, "records", vt_json_u64(sum.records));
	if (bytes)
		json_object_set_new(o, "bytes", vt_json_u64(sum.bytes));
	json_object_set_new(o, "by", a);
	return o;
}

static json_t *images(const struct summary *s)
{
	json_t *a = json_array();
	size_t i;

	for (i = 0; i < s->names.images.count; i++) {
		const struct named_image *m = vt_hash_at(&s->names.images, i);
		json_t *o = json_object();

		json_object_set_new(o, "id", vt_json_u64(m->id));
		json_object_set_new(o, "type", json_string(vt_image_type_name(m->type)));
		json_object_set_new(o, "path", json_of(s->names.strings, m->path));
		json_object_set_new(o, "buildid",
				    vt_json_bytes(vt_intern_get(s->names.strings, m->buildid),
						  vt_intern_size(s->names.strings, m->buildid)));
		json_array_append_new(a, o);
	}
	return a;
}

/* A list, not an object: a key may come more than once. */
static json_t *facts(const struct summary *s)
{
	json_t *a = json_array();
	size_t i;

	for (i = 0; i < s->nfacts; i++) {
		const struct summary_fact *f = &s->facts[i];
		json_t *o = json_object();

		json_object_set_new(o, "key", json_of(s->strings, f->key));
		json_object_set_new(o, "value", json_of(s->strings, f->value));
		if (f->bytes)
			json_object_set_new(o, "bytes", vt_json_u64(f->bytes));
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *provenance(const struct vt_reader *r)
{
	const struct vt_header *h = vt_reader_header(r);
	json_t *a = json_array();
	uint32_t i, k;

	for (i = 0; i < h->nstages; i++) {
		const struct vt_stage *st = &h->stages[i];
		json_t *o = json_object(), *args = json_array();

		for (k = 0; k < st->nargs; k++)
			json_array_append_new(args, json_str(st->args[k]));
		json_object_set_new(o, "program", json_str(st->program));
		json_object_set_new(o, "version", json_str(st->version));
		json_object_set_new(o, "seed", vt_json_u64(st->seed));
		json_object_set_new(o, "args", args);
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *damage(const struct vt_reader *r)
{
	const struct vt_damage *d = vt_reader_damage(r);
	json_t *o = json_object();

	json_object_set_new(o, "blocks", vt_json_u64(d->blocks));
	json_object_set_new(o, "bytes", vt_json_u64(d->bytes));
	json_object_set_new(o, "records", vt_json_u64(d->records));
	json_object_set_new(o, "truncated", json_boolean(d->truncated));
	return o;
}

void info_raw_json(const struct summary *s, const char *name, struct vt_output *out)
{
	json_t *o = vt_json_doc("vtrace-info/1");

	json_object_set_new(o, "file", json_str(name));
	json_object_set_new(o, "bytes", vt_json_u64(s->bytes));
	json_object_set_new(o, "pt", pt_info_json(&s->pt, 0));
	vt_json_write(out, o, true);
}

static json_t *failure_json(const struct vt_failure *f)
{
	json_t *v = json_object();

	json_object_set_new(v, "program", vt_json_text(f->program, strlen(f->program)));
	json_object_set_new(v, "why", vt_json_text(f->why, strlen(f->why)));
	return v;
}

void info_print_json(const struct summary *s, const struct vt_reader *r, struct vt_output *out)
{
	json_t *o = vt_json_doc("vtrace-info/1");
	json_t *pt = pt_info_json(&s->pt, vt_execcount_totals(s->executed.count)->insns);

	json_object_set_new(o, "file", json_str(vt_reader_name(r)));
	json_object_set_new(o, "bytes", vt_json_u64(s->bytes));
	json_object_set_new(o, "status", json_string(info_status(r)));
	if (vt_reader_failure(r))
		json_object_set_new(o, "failure", failure_json(vt_reader_failure(r)));
	json_object_set_new(o, "total", vt_json_u64(s->records));
	json_object_set_new(o, "records", records(s, r));
	json_object_set_new(o, "events", events(s));
	json_object_set_new(o, "executed", executed_json(&s->executed, s->bytes));
	if (pt)
		json_object_set_new(o, "pt", pt);
	json_object_set_new(o, "lost", losses(s, &s->lost, "source", false));
	json_object_set_new(o, "gaps", losses(s, &s->gaps, "reason", true));
	json_object_set_new(o, "missing_code", missing_code_json(&s->missing, &s->names));
	json_object_set_new(o, "damage", damage(r));
	if (s->timed) {
		json_object_set_new(o, "first_time", vt_json_u64(s->first_time));
		json_object_set_new(o, "last_time", vt_json_u64(s->last_time));
	}
	json_object_set_new(o, "threads", vt_json_u64(s->threads.count));
	json_object_set_new(o, "processes", vt_json_u64(s->processes.count));
	json_object_set_new(o, "complete_lists", json_boolean(!s->capped));
	json_object_set_new(o, "images", images(s));
	json_object_set_new(o, "facts", facts(s));
	json_object_set_new(o, "provenance", provenance(r));
	vt_json_write(out, o, true);
}
