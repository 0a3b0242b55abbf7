/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/perfdata/session.h"

/* Records between two looks at the writer, so that a closed pipe ends the work soon. */
#define CHECK_EVERY 4096

static uint64_t word_at(const struct pd_session *s, const struct pd_rec *r, size_t i)
{
	return s->big ? vt_be64(r->payload + 8 * i) : vt_le64(r->payload + 8 * i);
}

uint64_t vti_pd_order_time(struct pd_session *s, const struct pd_rec *r)
{
	size_t words = r->left / 8;
	const struct pd_attr *a;
	int pos = s->time_pos, event;

	if (r->type == PD_SAMPLE && s->same_layout)
		return pos >= 0 && (size_t)pos < words ? word_at(s, r, (size_t)pos) : 0;
	event = vti_pd_event_of(s, r);
	if (event < 0)
		return 0;
	a = &s->events[event].attr;
	if (r->type == PD_SAMPLE) {
		pos = vti_pd_time_pos(a->sample_type);
		return pos >= 0 && (size_t)pos < words ? word_at(s, r, (size_t)pos) : 0;
	}
	if (!(a->flags & PD_ATTR_SAMPLE_ID_ALL))
		return 0;
	pos = vti_pd_time_trailer_pos(a->sample_type);
	return pos > 0 && (size_t)pos <= words ? word_at(s, r, words - (size_t)pos) : 0;
}

static int out_of_memory(struct pd_session *s, int code)
{
	if (code == -VT_E_NOMEM)
		vt_error_set(s->err, VT_E_NOMEM, "%s: out of memory", s->in->name);
	return code;
}

int vti_pd_record(struct pd_session *s, const uint8_t *record, uint64_t offset)
{
	struct pd_rec r = vti_pd_rec(s, record, offset);
	uint64_t time;
	int code;

	if (s->sum->records++ % CHECK_EVERY == 0) {
		code = vt_writer_error(s->w, s->err);
		if (code < 0)
			return code;
	}
	if (r.type == PD_FINISHED_ROUND)
		return out_of_memory(s, vti_pd_order_round(&s->order));
	if (r.type >= PD_USER_START)
		return vti_pd_user(s, &r);
	time = s->ordered ? vti_pd_order_time(s, &r) : 0;
	/* As in perf: what has no time overtakes what waits. */
	if (!time || time == UINT64_MAX)
		return vti_pd_deliver(s, record, r.size, offset);
	return out_of_memory(s, vti_pd_order_add(&s->order, time, record, r.size, offset));
}
