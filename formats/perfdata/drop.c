/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Most of a recording with copies of stacks are these copies.  A program that shows no call chains
 * needs none: they are left out before samples are queued, and not even read from a file.
 */
#include "formats/perfdata/session.h"

#include <string.h>

/* The attribute of a sample with `have` bytes, if its event has copies of stacks; else NULL. */
static const struct pd_attr *find_stack_attr(struct pd_session *s, const uint8_t *record,
					     size_t have)
{
	struct pd_rec r = {.type = PD_SAMPLE,
			   .payload = record + PD_HEADER_SIZE,
			   .left = have - PD_HEADER_SIZE};
	int event = vti_pd_event_of(s, &r);

	if (event < 0 || !(s->events[event].attr.sample_type & PD_SAMPLE_STACK_USER))
		return NULL;
	return &s->events[event].attr;
}

bool vti_pd_stack_find(struct pd_session *s, const uint8_t *record, size_t have, size_t *from,
		       size_t *to)
{
	const struct pd_attr *a = find_stack_attr(s, record, have);
	struct pd_sample smp;

	if (!a)
		return false;
	/* The stack itself is not available, so the sample is cut there. */
	vti_pd_sample_parse(&smp, a, record + PD_HEADER_SIZE, have - PD_HEADER_SIZE, s->big);
	if (!smp.stack_room || smp.stack_room > PD_RECORD_MAX)
		return false;
	*from = (size_t)(smp.stack_start - record);
	*to = *from + (size_t)smp.stack_room;
	return true;
}

static void put_size(uint8_t *record, size_t size, bool big)
{
	record[6] = (uint8_t)(big ? size >> 8 : size);
	record[7] = (uint8_t)(big ? size : size >> 8);
}

const uint8_t *vti_pd_stack_drop(struct pd_session *s, const uint8_t *record)
{
	struct pd_rec r = vti_pd_rec(s, record, 0);
	const struct pd_attr *a = find_stack_attr(s, record, r.size);
	struct pd_sample smp;
	size_t head, rest;

	if (!a || !vti_pd_sample_parse(&smp, a, r.payload, r.left, s->big) || !smp.stack_room ||
	    (vti_pd_extent_known(a) && smp.size != r.left))
		return record;
	/* Of the copy, its size stays, as 0; its bytes and the size of what was used of them go. */
	head = (size_t)(smp.stack_start - record);
	rest = head + (size_t)smp.stack_room + 8;
	memcpy(s->dropped, record, head - 8);
	memset(s->dropped + head - 8, 0, 8);
	memcpy(s->dropped + head, record + rest, r.size - rest);
	put_size(s->dropped, head + r.size - rest, s->big);
	return s->dropped;
}
