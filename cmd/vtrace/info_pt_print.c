/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "cmd/vtrace/info_pt.h"
#include "listing/json.h"

/* ---- text ---- */

static int put_table(struct vt_table *t, struct vt_output *out, struct vt_error *err)
{
	int rc = 0;

	if (!t)
		return vt_error_nomem(err);
	if (vt_table_rows(t))
		rc = vt_table_print(t, out, VT_TABLE_TEXT, false, err);
	vt_table_free(t);
	return rc;
}

static struct vt_table *packets_table(const struct vt_pt_scan *s)
{
	struct vt_table *t = vt_table_new();
	unsigned k;

	if (!t)
		return NULL;
	vt_table_column(t, "packets", "packets", VT_FORMAT_NUMBER);
	vt_table_column(t, "bytes", "bytes", VT_FORMAT_NUMBER);
	vt_table_column(t, "share", "of all", VT_FORMAT_PERCENT);
	vt_table_column(t, "kind", "kind", VT_FORMAT_TEXT);
	for (k = 0; k < VT_PT_NKINDS; k++) {
		if (!s->count[k])
			continue;
		vt_table_row(t, VT_STYLE_PLAIN);
		vt_table_number(t, s->count[k]);
		vt_table_number(t, s->bytes[k]);
		vt_table_percent(t, s->bytes[k], s->size);
		vt_table_str(t, vt_pt_kind_name(k));
	}
	return t;
}

/* A span of time, in ticks and, where the conversion is known, in nanoseconds. */
static void put_time(const struct vt_pt_timeconv *conv, uint64_t first, uint64_t last,
		     struct vt_output *out)
{
	uint64_t from = vt_pt_time(conv, first), to = vt_pt_time(conv, last);

	vt_output_printf(out, "  time: TSC %" PRIu64 " to %" PRIu64 ", %" PRIu64 " ticks\n", first,
			 last, last - first);
	if (from && to)
		vt_output_printf(out,
				 "    %" PRIu64 ".%09" PRIu64 " s to %" PRIu64 ".%09" PRIu64
				 " s, %.9f s\n",
				 from / 1000000000, from % 1000000000, to / 1000000000,
				 to % 1000000000, (double)(to - from) * 1e-9);
}

static void put_clock(const struct vt_pt_scan *s, const struct vt_pt_timeconv *conv,
		      struct vt_output *out)
{
	static const uint8_t kinds[] = {VT_PT_TSC, VT_PT_TMA, VT_PT_MTC, VT_PT_CBR, VT_PT_CYC};
	bool any = false;
	size_t i;

	vt_output_text(out, "  timing packets:");
	for (i = 0; i < sizeof(kinds); i++) {
		if (!s->count[kinds[i]])
			continue;
		vt_output_printf(out, "%s %s", any ? "," : "", vt_pt_kind_name(kinds[i]));
		any = true;
	}
	vt_output_text(out, any ? "\n" : " none\n");
	if (s->timing.has_tsc)
		put_time(conv, s->first_tsc, s->timing.tsc, out);
	if (s->timing.lost)
		vt_output_printf(out, "    %" PRIu64 " MTC packets are missing\n", s->timing.lost);
	if (s->timing.has_cycles)
		vt_output_printf(out, "  %" PRIu64 " cycles\n", s->timing.cycles);
	if (s->max_cbr)
		vt_output_printf(out, "  core to bus ratio: %u to %u\n", s->min_cbr, s->max_cbr);
}

static void put_bad(const struct vt_pt_scan *s, struct vt_output *out)
{
	uint64_t i;

	if (s->before)
		vt_output_printf(out, "  %" PRIu64 " bytes lie before the first PSB\n", s->before);
	if (!s->places)
		return;
	vt_output_printf(out, "  %" PRIu64 " bytes at %" PRIu64 " place%s are no packets\n",
			 s->bad_bytes, s->places, s->places == 1 ? "" : "s");
	for (i = 0; i < s->places && i < VT_PT_SCAN_PLACES; i++)
		vt_output_printf(out, "    at 0x%" PRIx64 ": %" PRIu64 " bytes%s\n",
				 s->bad[i].offset, s->bad[i].bytes,
				 s->bad[i].cut ? ", a packet that is cut" : "");
	if (i < s->places)
		vt_output_printf(out, "    and %" PRIu64 " more\n", s->places - i);
}

static int put_trace(const struct pt_info *p, const struct pt_trace *t, struct vt_output *out,
		     struct vt_error *err)
{
	const struct vt_pt_scan *s = &t->scan;

	vt_output_text(out, "\nIntel PT");
	if (t->cpu >= 0)
		vt_output_printf(out, " of processor %" PRId64, t->cpu);
	else if (t->tid >= 0)
		vt_output_printf(out, " of thread %" PRId64, t->tid);
	vt_output_printf(out, ": %" PRIu64 " bytes, %" PRIu64 " packets, not decoded\n", s->size,
			 s->packets);
	vt_output_printf(out, "  %" PRIu64 " PSB, %" PRIu64 " overflows\n", s->count[VT_PT_PSB],
			 s->count[VT_PT_OVF]);
	vt_output_printf(out,
			 "  %" PRIu64 " decisions, %" PRIu64 " of them taken; %" PRIu64
			 " addresses of targets\n",
			 s->decisions, s->taken, s->count[VT_PT_TIP]);
	put_clock(s, &p->conv, out);
	put_bad(s, out);
	return put_table(packets_table(s), out, err);
}

static struct vt_table *sums_table(const struct pt_info *p)
{
	struct vt_table *t = vt_table_new();
	size_t i;

	if (!t)
		return NULL;
	vt_table_column(t, "packets", "packets", VT_FORMAT_NUMBER);
	vt_table_column(t, "bytes", "bytes", VT_FORMAT_NUMBER);
	vt_table_column(t, "kind", "kind", VT_FORMAT_TEXT);
	for (i = 0; i < p->packets.count; i++) {
		const struct pt_packets *sum = vt_hash_at(&p->packets, i);
		uint32_t id = (uint32_t)sum->name;

		if (!vt_intern_size(p->strings, id))
			continue;
		vt_table_row(t, VT_STYLE_PLAIN);
		vt_table_number(t, sum->count);
		vt_table_number(t, sum->bytes);
		vt_table_text(t, vt_intern_get(p->strings, id), vt_intern_size(p->strings, id));
	}
	return t;
}

static int put_decoded(const struct pt_info *p, uint64_t insns, struct vt_output *out,
		       struct vt_error *err)
{
	unsigned i;

	if (!p->packets.count && !p->nevents && !p->timed && !p->cycles)
		return 0;
	vt_output_text(out, "\nprocessor trace\n");
	if (p->packets.count)
		vt_output_printf(out, "  %" PRIu64 " bytes of trace\n", p->bytes);
	if (p->packets.count && insns)
		vt_output_printf(out, "  %.4f bytes of trace for each instruction\n",
				 (double)p->bytes / (double)insns);
	if (p->timed)
		put_time(&p->conv, p->first_tsc, p->last_tsc, out);
	if (p->cycles)
		vt_output_printf(out, "  %" PRIu64 " cycles\n", p->cycles);
	for (i = 0; i < VT_NTRACES; i++) {
		if (p->events[i])
			vt_output_printf(out, "  %" PRIu64 " %s\n", p->events[i],
					 vt_trace_event_name(i));
	}
	return put_table(sums_table(p), out, err);
}

int pt_info_print(const struct pt_info *p, uint64_t insns, struct vt_output *out,
		  struct vt_error *err)
{
	int rc = put_decoded(p, insns, out, err);
	size_t i;

	for (i = 0; i < p->traces.count && rc == 0; i++)
		rc = put_trace(p, vt_hash_at(&p->traces, i), out, err);
	return rc;
}

/* ---- JSON ---- */

static void set_u64(json_t *o, const char *name, uint64_t v)
{
	json_object_set_new(o, name, vt_json_u64(v));
}

static void set_time(json_t *o, const struct vt_pt_timeconv *conv, uint64_t first, uint64_t last)
{
	uint64_t from = vt_pt_time(conv, first), to = vt_pt_time(conv, last);

	set_u64(o, "first_tsc", first);
	set_u64(o, "last_tsc", last);
	if (from && to) {
		set_u64(o, "first_time", from);
		set_u64(o, "last_time", to);
	}
}

static void set_packets(json_t *o, const char *name, uint64_t count, uint64_t bytes)
{
	json_t *v = json_object();

	set_u64(v, "count", count);
	set_u64(v, "bytes", bytes);
	vt_json_set(o, name, v);
}

static json_t *bad_json(const struct vt_pt_scan *s)
{
	json_t *o = json_object(), *a = json_array();
	uint64_t i;

	set_u64(o, "places", s->places);
	set_u64(o, "bytes", s->bad_bytes);
	for (i = 0; i < s->places && i < VT_PT_SCAN_PLACES; i++) {
		json_t *v = json_object();

		set_u64(v, "offset", s->bad[i].offset);
		set_u64(v, "bytes", s->bad[i].bytes);
		json_object_set_new(v, "cut", json_boolean(s->bad[i].cut));
		json_array_append_new(a, v);
	}
	json_object_set_new(o, "first", a);
	return o;
}

static json_t *trace_json(const struct pt_info *p, const struct pt_trace *t)
{
	const struct vt_pt_scan *s = &t->scan;
	json_t *o = json_object(), *kinds = json_object();
	unsigned k;

	set_u64(o, "index", t->index);
	if (t->cpu >= 0)
		json_object_set_new(o, "cpu", json_integer(t->cpu));
	if (t->tid >= 0)
		json_object_set_new(o, "tid", json_integer(t->tid));
	set_u64(o, "bytes", s->size);
	set_u64(o, "total", s->packets);
	for (k = 0; k < VT_PT_NKINDS; k++) {
		if (s->count[k])
			set_packets(kinds, vt_pt_kind_name(k), s->count[k], s->bytes[k]);
	}
	json_object_set_new(o, "packets", kinds);
	set_u64(o, "psb", s->count[VT_PT_PSB]);
	set_u64(o, "overflows", s->count[VT_PT_OVF]);
	set_u64(o, "decisions", s->decisions);
	set_u64(o, "taken", s->taken);
	if (s->timing.has_tsc)
		set_time(o, &p->conv, s->first_tsc, s->timing.tsc);
	set_u64(o, "lost_mtc", s->timing.lost);
	if (s->timing.has_cycles)
		set_u64(o, "cycles", s->timing.cycles);
	if (s->max_cbr) {
		set_u64(o, "min_cbr", s->min_cbr);
		set_u64(o, "max_cbr", s->max_cbr);
	}
	set_u64(o, "before_psb", s->before);
	json_object_set_new(o, "no_packets", bad_json(s));
	return o;
}

static json_t *decoded_json(const struct pt_info *p, uint64_t insns)
{
	json_t *o = json_object(), *events = json_object(), *kinds = json_object();
	size_t i;

	set_u64(o, "bytes", p->bytes);
	if (p->packets.count && insns)
		json_object_set_new(o, "bytes_per_instruction",
				    json_real((double)p->bytes / (double)insns));
	if (p->timed)
		set_time(o, &p->conv, p->first_tsc, p->last_tsc);
	set_u64(o, "cycles", p->cycles);
	for (i = 0; i < VT_NTRACES; i++) {
		if (p->events[i])
			set_u64(events, vt_trace_event_name(i), p->events[i]);
	}
	json_object_set_new(o, "events", events);
	for (i = 0; i < p->packets.count; i++) {
		const struct pt_packets *sum = vt_hash_at(&p->packets, i);
		uint32_t id = (uint32_t)sum->name;

		if (vt_intern_size(p->strings, id))
			set_packets(kinds, vt_intern_get(p->strings, id), sum->count, sum->bytes);
	}
	json_object_set_new(o, "packets", kinds);
	return o;
}

json_t *pt_info_json(const struct pt_info *p, uint64_t insns)
{
	json_t *o, *traces = json_array();
	size_t i;

	for (i = 0; i < p->traces.count; i++)
		json_array_append_new(traces, trace_json(p, vt_hash_at(&p->traces, i)));
	if (!p->traces.count && !p->packets.count && !p->nevents && !p->timed) {
		json_decref(traces);
		return NULL;
	}
	o = json_object();
	json_object_set_new(o, "decoded", decoded_json(p, insns));
	json_object_set_new(o, "traces", traces);
	return o;
}
