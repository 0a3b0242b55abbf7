/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf's own records: tools/lib/perf/include/perf/event.h of the kernel has their layouts. */
#include "formats/perfdata/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A record ends before its type allows it to. */
#define SHORT 1

#define I32(v) ((uint64_t)(int64_t)(int32_t)(v))

static int header_attr(struct pd_session *s, const struct pd_rec *r)
{
	struct pd_attr a;
	size_t event = s->nevents, at;
	int code = 0;

	if (!vti_pd_attr_parse(&a, r->payload, r->left, s->big) || a.size > r->left)
		return SHORT;
	code = vti_pd_event_add(s, &a);
	for (at = a.size; code == 0 && at + 8 <= r->left; at += 8) {
		const uint8_t *p = r->payload + at;

		code = vti_pd_id_add(s, s->big ? vt_be64(p) : vt_le64(p), event);
	}
	vti_pd_layout(s);
	return code < 0 ? code : 0;
}

static int event_update(struct pd_session *s, const struct pd_rec *r)
{
	struct vt_cursor c = vt_cursor_make(r->payload, r->left, s->big);
	uint64_t type = vt_cursor_u64(&c), id = vt_cursor_u64(&c);
	size_t left = vt_cursor_left(&c);
	int event;

	if (c.bad)
		return SHORT;
	event = vti_pd_event_of_id(s, id);
	if (event < 0)
		return vti_pd_unknown(s, r);
	switch (type) {
	case 2: /* PERF_EVENT_UPDATE__NAME */
		return vti_pd_event_name(s, (size_t)event, c.p, left, false);
	default: /* unit, scale and cpus concern perf stat's counts, not the periods of samples */
		vti_pd_meta(s, "record.event_update", NULL, 0, r->payload, r->left);
		return 0;
	}
}

static int feature(struct pd_session *s, const struct pd_rec *r)
{
	struct vt_cursor c = vt_cursor_make(r->payload, r->left, s->big);
	uint64_t id = vt_cursor_u64(&c);

	if (c.bad || id >= PD_FEAT_BITS)
		return SHORT;
	return vti_pd_feature(s, (unsigned)id, c.p, vt_cursor_left(&c), r->offset);
}

static int build_id(struct pd_session *s, const struct pd_rec *r)
{
	return vti_pd_buildid_record(s, r, false);
}

static int auxtrace_info(struct pd_session *s, const struct pd_rec *r)
{
	struct vt_cursor c = vt_cursor_make(r->payload, r->left, s->big);
	uint64_t type = vt_cursor_u32(&c), *row;
	struct pd_words priv;

	vt_cursor_u32(&c);
	if (c.bad)
		return SHORT;
	priv.p = c.p;
	priv.count = vt_cursor_left(&c) / 8;
	s->aux_type = (uint32_t)type;
	row = vt_writer_row(s->w, VT_AUXINFO);
	row[VT_AUXINFO_TYPE] = type;
	vti_pd_words_copy(s->words, &priv, s->big);
	vt_writer_words(s->w, VT_AUXINFO_PRIV, s->words, priv.count);
	return 0;
}

static int auxtrace_error(struct pd_session *s, const struct pd_rec *r)
{
	struct vt_cursor c = vt_cursor_make(r->payload, r->left, s->big);
	uint32_t type = vt_cursor_u32(&c), code = vt_cursor_u32(&c), cpu = vt_cursor_u32(&c);
	uint32_t pid = vt_cursor_u32(&c), tid = vt_cursor_u32(&c), fmt = vt_cursor_u32(&c);
	uint64_t ip = vt_cursor_u64(&c), time = fmt ? vt_cursor_u64(&c) : 0, *row;
	size_t left = vt_cursor_left(&c);
	char reason[160];

	if (c.bad)
		return SHORT;
	snprintf(reason, sizeof(reason),
		 "AUX trace error type %" PRIu32 " code %" PRIu32 " ip 0x%" PRIx64 ": %.*s", type,
		 code, ip, (int)vti_pd_text(c.p, left < 64 ? left : 64), (const char *)c.p);
	row = vt_writer_row(s->w, VT_GAP);
	row[VT_GAP_TIME] = time;
	row[VT_GAP_PID] = I32(pid);
	row[VT_GAP_TID] = I32(tid);
	row[VT_GAP_CPU] = cpu;
	row[VT_GAP_OFFSET] = r->offset;
	vt_writer_text(s->w, VT_GAP_REASON, reason);
	vt_writer_text(s->w, VT_GAP_INPUT, s->in->name);
	return 0;
}

static int time_conv(struct pd_session *s, const struct pd_rec *r)
{
	struct vt_cursor c = vt_cursor_make(r->payload, r->left, s->big);
	uint64_t shift = vt_cursor_u64(&c), mult = vt_cursor_u64(&c), zero = vt_cursor_u64(&c);
	uint64_t *row;

	if (c.bad)
		return SHORT;
	row = vt_writer_row(s->w, VT_TIMECONV);
	row[VT_TIMECONV_SHIFT] = shift;
	row[VT_TIMECONV_MULT] = mult;
	row[VT_TIMECONV_ZERO] = zero;
	/* The rest came with Linux 5.9. */
	if (vt_cursor_left(&c) >= 18) {
		row[VT_TIMECONV_CYCLES] = vt_cursor_u64(&c);
		row[VT_TIMECONV_MASK] = vt_cursor_u64(&c);
		row[VT_TIMECONV_CAPS] = vt_cursor_u8(&c);
		row[VT_TIMECONV_CAPS] |= (uint64_t)vt_cursor_u8(&c) << 1;
	}
	return 0;
}

static int compressed(struct pd_session *s, const struct pd_rec *r)
{
	return vti_pd_inflate(s, r);
}

/* As the older one, but its size is a multiple of 8 and the payload says how much of it counts. */
static int compressed2(struct pd_session *s, const struct pd_rec *r)
{
	struct vt_cursor c = vt_cursor_make(r->payload, r->left, s->big);
	uint64_t size = vt_cursor_u64(&c);
	struct pd_rec inner = *r;

	if (c.bad || size > vt_cursor_left(&c))
		return SHORT;
	inner.payload = c.p;
	inner.left = (size_t)size;
	return vti_pd_inflate(s, &inner);
}

static int ignore(struct pd_session *s, const struct pd_rec *r)
{
	(void)s;
	(void)r;
	return 0;
}

/* Each returns 0, SHORT, or the negative code of an error in s->err. */
static const struct row {
	int (*fn)(struct pd_session *s, const struct pd_rec *r);
	const char *name; /* of the META that keeps the payload of those without a function */
} rows[] = {
	[PD_HEADER_ATTR - PD_USER_START] = {header_attr, NULL},
	[PD_HEADER_EVENT_TYPE - PD_USER_START] = {NULL, "record.event_type"},
	[PD_HEADER_BUILD_ID - PD_USER_START] = {build_id, NULL},
	[PD_ID_INDEX - PD_USER_START] = {NULL, "record.id_index"},
	[PD_AUXTRACE_INFO - PD_USER_START] = {auxtrace_info, NULL},
	[PD_AUXTRACE_ERROR - PD_USER_START] = {auxtrace_error, NULL},
	[PD_THREAD_MAP - PD_USER_START] = {NULL, "record.thread_map"},
	[PD_CPU_MAP - PD_USER_START] = {NULL, "record.cpu_map"},
	[PD_STAT_CONFIG - PD_USER_START] = {NULL, "record.stat_config"},
	[PD_STAT - PD_USER_START] = {NULL, "record.stat"},
	[PD_STAT_ROUND - PD_USER_START] = {NULL, "record.stat_round"},
	[PD_EVENT_UPDATE - PD_USER_START] = {event_update, NULL},
	[PD_TIME_CONV - PD_USER_START] = {time_conv, NULL},
	[PD_HEADER_FEATURE - PD_USER_START] = {feature, NULL},
	[PD_COMPRESSED - PD_USER_START] = {compressed, NULL},
	[PD_FINISHED_INIT - PD_USER_START] = {ignore, NULL},
	[PD_COMPRESSED2 - PD_USER_START] = {compressed2, NULL},
	[PD_BPF_METADATA - PD_USER_START] = {NULL, "record.bpf_metadata"},
};

int vti_pd_user(struct pd_session *s, const struct pd_rec *r)
{
	const struct row *row;
	int code;

	if (r->type - PD_USER_START >= sizeof(rows) / sizeof(rows[0]))
		return vti_pd_unknown(s, r);
	row = &rows[r->type - PD_USER_START];
	if (!row->fn && !row->name)
		return vti_pd_unknown(s, r);
	if (!row->fn) {
		vti_pd_meta(s, row->name, NULL, 0, r->payload, r->left);
		return 0;
	}
	code = row->fn(s, r);
	if (code == SHORT) {
		vti_pd_bad_record(s, r, "too short for its type");
		return 0;
	}
	return code;
}
