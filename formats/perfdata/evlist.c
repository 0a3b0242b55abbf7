/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/perfdata/session.h"

#include <stdlib.h>
#include <string.h>

/* Reports too many events or ids, once. */
static void report_events_full(struct pd_session *s, const char *what, unsigned limit)
{
	if (!s->events_full)
		vti_pd_damage(s, s->in->offset, 0, "more than %u %s: further ones are left out",
			      limit, what);
	s->events_full = true;
}

int vti_pd_event_add(struct pd_session *s, const struct pd_attr *a)
{
	struct pd_event *e;

	if (s->nevents >= VT_PERFDATA_EVENTS_MAX) {
		report_events_full(s, "events", VT_PERFDATA_EVENTS_MAX);
		return 1;
	}
	if (!vt_array_grow(&s->events, &s->events_cap, s->nevents + 1, sizeof(*s->events)))
		return vti_pd_nomem(s);
	e = &s->events[s->nevents++];
	memset(e, 0, sizeof(*e));
	e->attr = *a;
	e->dirty = true;
	s->dirty = true;
	return 0;
}

/* The position of a field in the sample id, from its end; those of `later` come after it. */
static uint8_t get_trailer_pos(uint64_t t, uint64_t field, uint64_t later)
{
	return t & field ? (uint8_t)(1 + __builtin_popcountll(t & later)) : 0;
}

static void find_field_places(struct pd_layout *l, uint64_t t)
{
	int8_t n = 0;

	/* The order is that of perf_output_sample() of the kernel. */
	l->id = t & PD_SAMPLE_IDENTIFIER ? n++ : -1;
	l->ip = t & PD_SAMPLE_IP ? n++ : -1;
	l->tid = t & PD_SAMPLE_TID ? n++ : -1;
	l->time = t & PD_SAMPLE_TIME ? n++ : -1;
	l->addr = t & PD_SAMPLE_ADDR ? n++ : -1;
	if (t & PD_SAMPLE_ID)
		l->id = n++;
	l->stream_id = t & PD_SAMPLE_STREAM_ID ? n++ : -1;
	l->cpu = t & PD_SAMPLE_CPU ? n++ : -1;
	l->period = t & PD_SAMPLE_PERIOD ? n++ : -1;
	l->words = (uint8_t)n;
	l->plain = !(t & ~(uint64_t)PD_SAMPLE_FIXED);
	l->key = t & PD_SAMPLE_IDENTIFIER ? 0 : l->id;
	if (t & PD_SAMPLE_IDENTIFIER)
		l->key_trailer = 1;
	else
		l->key_trailer =
			get_trailer_pos(t, PD_SAMPLE_ID, PD_SAMPLE_STREAM_ID | PD_SAMPLE_CPU);
	l->time_trailer = get_trailer_pos(t, PD_SAMPLE_TIME,
					  PD_SAMPLE_ID | PD_SAMPLE_STREAM_ID | PD_SAMPLE_CPU |
						  PD_SAMPLE_IDENTIFIER);
}

void vti_pd_layout(struct pd_session *s)
{
	size_t i;

	s->same_layout = s->nevents > 0;
	for (i = 0; i < s->nevents; i++) {
		find_field_places(&s->events[i].layout, s->events[i].attr.sample_type);
		if (s->events[i].layout.time != s->events[0].layout.time)
			s->same_layout = false;
	}
	memset(s->id_cache, 0, sizeof(s->id_cache));
}

int vti_pd_id_add(struct pd_session *s, uint64_t id, size_t event)
{
	struct pd_id *e;

	if (s->ids.count >= VT_PERFDATA_IDS_MAX && !vt_hash_find(&s->ids, &id)) {
		report_events_full(s, "event ids", VT_PERFDATA_IDS_MAX);
		return 0;
	}
	e = vt_hash_add(&s->ids, &id, NULL);
	if (!e)
		return vti_pd_nomem(s);
	e->event = (uint32_t)event;
	s->id_cache[id % PD_ID_CACHE].valid = false;
	return 0;
}

int vti_pd_event_of_id(struct pd_session *s, uint64_t id)
{
	const struct pd_id *e;

	if (!s->nevents)
		return -1;
	if (s->nevents == 1 || !id)
		return 0;
	if (s->id_cache[id % PD_ID_CACHE].valid && s->id_cache[id % PD_ID_CACHE].id == id)
		return (int)s->id_cache[id % PD_ID_CACHE].event;
	e = vt_hash_find(&s->ids, &id);
	if (!e)
		return -1;
	s->id_cache[id % PD_ID_CACHE].id = id;
	s->id_cache[id % PD_ID_CACHE].event = e->event;
	s->id_cache[id % PD_ID_CACHE].valid = true;
	return (int)e->event;
}

int vti_pd_event_of(struct pd_session *s, const struct pd_rec *r)
{
	const struct pd_layout *l;
	size_t words = r->left / 8;
	size_t at;

	if (s->nevents <= 1)
		return (int)s->nevents - 1;
	l = &s->events[0].layout;
	if (r->type == PD_SAMPLE) {
		if (l->key < 0 || (size_t)l->key >= words)
			return -1;
		at = (size_t)l->key;
	} else {
		if (!(s->events[0].attr.flags & PD_ATTR_SAMPLE_ID_ALL))
			return 0;
		if (!l->key_trailer || l->key_trailer > words)
			return -1;
		at = words - l->key_trailer;
	}
	return vti_pd_event_of_id(s, vti_pd_u64(r->payload + 8 * at, s->big));
}

int vti_pd_event_name(struct pd_session *s, size_t event, const uint8_t *name, size_t size,
		      bool only_if_unnamed)
{
	struct pd_event *e;
	char *copy;

	if (event >= s->nevents)
		return 0;
	e = &s->events[event];
	size = vti_pd_text(name, size);
	if (!size || (only_if_unnamed && e->name))
		return 0;
	copy = malloc(size + 1);
	if (!copy)
		return vti_pd_nomem(s);
	memcpy(copy, name, size);
	copy[size] = 0;
	free(e->name);
	e->name = copy;
	e->dirty = true;
	s->dirty = true;
	return 0;
}

void vti_pd_events_changed(struct pd_session *s)
{
	size_t i;

	for (i = 0; i < s->nevents; i++)
		s->events[i].dirty = true;
	s->dirty = s->nevents > 0;
}

static bool name_has_prefix(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

const char *vti_pd_pmu_name(const struct pd_session *s, uint32_t type)
{
	const uint32_t *e = vt_hash_find(&s->pmus, &type);

	return e ? vt_intern_get(s->strings, e[1]) : "";
}

static enum vt_policy choose_software_policy(uint64_t config)
{
	/* PERF_COUNT_SW_CPU_CLOCK and _TASK_CLOCK are timers; the others fire at their cause. */
	return config <= 1 ? VT_POLICY_INTERRUPT : VT_POLICY_EXACT;
}

/*
 * Arm's and RISC-V's kernel drivers accept precise_ip but ignore it: their samples never have
 * PERF_RECORD_MISC_EXACT_IP.  Machine numbers of elf.h; 0: unknown.
 */
static bool supports_precise(uint32_t machine)
{
	return machine != 40 && machine != 183 && machine != 243;
}

static enum vt_policy choose_policy(const struct pd_session *s, const struct pd_attr *a)
{
	const char *pmu = vti_pd_pmu_name(s, a->type);

	switch (a->type) {
	case PD_TYPE_SOFTWARE:
		return choose_software_policy(a->config);
	case PD_TYPE_TRACEPOINT:
		return VT_POLICY_EXACT;
	case PD_TYPE_BREAKPOINT:
		/* HW_BREAKPOINT_X stops before the instruction; the data ones after it. */
		return a->bp_type & 4 ? VT_POLICY_EXACT : VT_POLICY_PRECISE;
	default:
		break;
	}
	if (name_has_prefix(pmu, "ibs_") || name_has_prefix(pmu, "arm_spe"))
		return VT_POLICY_DISPATCH;
	if (name_has_prefix(pmu, "kprobe") || name_has_prefix(pmu, "uprobe"))
		return VT_POLICY_EXACT;
	if (name_has_prefix(pmu, "intel_pt") || name_has_prefix(pmu, "intel_bts") ||
	    name_has_prefix(pmu, "cs_etm"))
		return VT_POLICY_UNKNOWN;
	if (!vti_pd_attr_precise(a) || !supports_precise(s->machine))
		return VT_POLICY_INTERRUPT;
	/* AMD has no PEBS: its kernel driver turns such events into IBS. */
	return s->amd ? VT_POLICY_DISPATCH : VT_POLICY_PRECISE;
}

/* With cnt_ctl, IBS counts dispatched micro-ops, else cycles; but fetches if those are followed. */
#define IBS_CNT_CTL (UINT64_C(1) << 19)

static const char *choose_event_unit(const struct pd_session *s, const struct pd_attr *a)
{
	const char *pmu = a->type > PD_TYPE_BREAKPOINT ? vti_pd_pmu_name(s, a->type) : "";

	if (name_has_prefix(pmu, "ibs_op"))
		return a->config & IBS_CNT_CTL ? "micro-ops" : "cycles";
	if (name_has_prefix(pmu, "ibs_fetch"))
		return "fetches";
	if (name_has_prefix(pmu, "arm_spe"))
		return "operations";
	if (a->type == PD_TYPE_SOFTWARE)
		return a->config <= 1 ? "ns" : "events";
	if (a->type == PD_TYPE_HARDWARE && (uint32_t)a->config == 0)
		return "cycles";
	if (a->type == PD_TYPE_HARDWARE && (uint32_t)a->config == 1)
		return "instructions";
	return "events";
}

static void put_event_row(struct pd_session *s, size_t i, const char *name)
{
	const struct pd_event *e = &s->events[i];
	const struct pd_attr *a = &e->attr;
	uint64_t *row = vt_writer_row(s->w, VT_EVENT);

	row[VT_EVENT_ID] = i;
	row[VT_EVENT_POLICY] = choose_policy(s, a);
	row[VT_EVENT_TYPE] = a->type;
	row[VT_EVENT_CONFIG] = a->config;
	row[VT_EVENT_CONFIG1] = a->config1;
	row[VT_EVENT_CONFIG2] = a->config2;
	row[a->flags & PD_ATTR_FREQ ? VT_EVENT_FREQ : VT_EVENT_PERIOD] = a->period;
	row[VT_EVENT_PRECISE] = vti_pd_attr_precise(a);
	row[VT_EVENT_SAMPLE_TYPE] = a->sample_type;
	row[VT_EVENT_READ_FORMAT] = a->read_format;
	row[VT_EVENT_ATTR_FLAGS] = a->flags;
	row[VT_EVENT_BRANCH_TYPE] = a->branch_type;
	row[VT_EVENT_REGS_USER] = a->regs_user;
	row[VT_EVENT_REGS_INTR] = a->regs_intr;
	row[VT_EVENT_STACK_USER] = a->stack_user;
	vt_writer_text(s->w, VT_EVENT_NAME, e->name ? e->name : name);
	vt_writer_text(s->w, VT_EVENT_UNIT, choose_event_unit(s, a));
}

int vti_pd_events_emit(struct pd_session *s)
{
	struct vt_buf name = VT_BUF_INIT;
	size_t i;

	if (!s->dirty)
		return 0;
	s->dirty = false;
	for (i = 0; i < s->nevents; i++) {
		if (!s->events[i].dirty)
			continue;
		s->events[i].dirty = false;
		s->events[i].followed = vti_pd_choose_followed(s, &s->events[i]);
		name.size = 0;
		vti_pd_attr_name(&name, &s->events[i].attr,
				 vti_pd_pmu_name(s, s->events[i].attr.type));
		put_event_row(s, i, vt_buf_str(&name));
	}
	i = name.failed;
	vt_buf_free(&name);
	return i ? vti_pd_nomem(s) : 0;
}

void vti_pd_events_fini(struct pd_session *s)
{
	size_t i;

	for (i = 0; i < s->nevents; i++)
		free(s->events[i].name);
	free(s->events);
}
