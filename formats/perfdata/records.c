/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records: queued in order of time, then parsed and converted.  linux/perf_event.h has the layouts
 * of the kernel's records, tools/lib/perf/include/perf/event.h those of perf's own.
 */
#include "formats/perfdata/session.h"

#include <inttypes.h>
#include <stdio.h>

/* Records between two checks of the writer, so that a closed pipe ends the conversion soon. */
#define CHECK_EVERY 4096

/* A record is too short for its type. */
#define SHORT 1

#define I32(v) ((uint64_t)(int64_t)(int32_t)(v))

/* Counts a record that is too short, and continues; returns other codes. */
static int count_short(struct pd_session *s, const struct pd_rec *r, int code)
{
	if (code != SHORT)
		return code;
	vti_pd_bad_record(s, r, "too short for its type");
	return 0;
}

/* ---- the kernel's records ---- */

/* A record with its parsed sample id, and a cursor on the bytes before that. */
struct body {
	const struct pd_rec *r;
	struct pd_sample id;
	struct vt_cursor c;
	uint64_t event;
};

static void put_text_field(struct pd_session *s, unsigned field, struct vt_cursor *c)
{
	vt_writer_bytes(s->w, field, c->p, vti_pd_text(c->p, vt_cursor_left(c)));
}

static int put_mmap(struct pd_session *s, struct body *b)
{
	bool v2 = b->r->type == PD_MMAP2;
	struct vt_cursor *c = &b->c;
	int32_t pid = (int32_t)vt_cursor_u32(c), tid = (int32_t)vt_cursor_u32(c);
	uint64_t start = vt_cursor_u64(c), length = vt_cursor_u64(c), offset = vt_cursor_u64(c);
	unsigned mode = b->r->misc & PD_MISC_CPUMODE_MASK;
	struct pd_buildid id = {.size = 0};
	uint64_t prot = b->r->misc & PD_MISC_MMAP_DATA ? 1 : 5, flags = 0, *row;
	const uint8_t *file = v2 ? vt_cursor_take(c, 24) : NULL;
	struct vt_cursor f;
	int64_t image;

	if (v2) {
		prot = vt_cursor_u32(c);
		flags = vt_cursor_u32(c);
	}
	if (c->bad)
		return SHORT;
	if (v2 && b->r->misc & PD_MISC_MMAP_BUILD_ID) {
		id.size = file[0] <= sizeof(id.bytes) ? file[0] : sizeof(id.bytes);
		memcpy(id.bytes, file + 4, id.size);
		file = NULL;
	}
	image = vti_pd_image(s, c->p, vti_pd_text(c->p, vt_cursor_left(c)),
			     pid == -1 || mode == PD_MISC_KERNEL || mode == PD_MISC_GUEST_KERNEL,
			     &id);
	if (image < 0)
		return (int)image;
	row = vt_writer_row(s->w, VT_MAP);
	row[VT_MAP_TIME] = b->id.time;
	row[VT_MAP_PID] = I32(pid);
	row[VT_MAP_TID] = I32(tid);
	row[VT_MAP_START] = start;
	row[VT_MAP_LENGTH] = length;
	row[VT_MAP_OFFSET] = offset;
	row[VT_MAP_IMAGE] = (uint64_t)image;
	row[VT_MAP_PROT] = prot;
	row[VT_MAP_FLAGS] = flags;
	row[VT_MAP_MISC] = b->r->misc;
	if (file) {
		f = vt_cursor_make(file, 24, s->big);
		row[VT_MAP_MAJ] = vt_cursor_u32(&f);
		row[VT_MAP_MIN] = vt_cursor_u32(&f);
		row[VT_MAP_INO] = vt_cursor_u64(&f);
		row[VT_MAP_INO_GENERATION] = vt_cursor_u64(&f);
	}
	return 0;
}

static int put_comm(struct pd_session *s, struct body *b)
{
	uint32_t pid = vt_cursor_u32(&b->c), tid = vt_cursor_u32(&b->c);
	uint64_t *row;

	if (b->c.bad)
		return SHORT;
	row = vt_writer_row(s->w, VT_THREAD);
	row[VT_THREAD_TIME] = b->id.time;
	row[VT_THREAD_PID] = I32(pid);
	row[VT_THREAD_TID] = I32(tid);
	row[VT_THREAD_OP] = b->r->misc & PD_MISC_COMM_EXEC ? VT_OP_EXEC : VT_OP_COMM;
	put_text_field(s, VT_THREAD_COMM, &b->c);
	return 0;
}

static int put_task(struct pd_session *s, struct body *b)
{
	uint32_t pid = vt_cursor_u32(&b->c), ppid = vt_cursor_u32(&b->c);
	uint32_t tid = vt_cursor_u32(&b->c), ptid = vt_cursor_u32(&b->c);
	uint64_t time = vt_cursor_u64(&b->c), *row;

	if (b->c.bad)
		return SHORT;
	row = vt_writer_row(s->w, VT_THREAD);
	/* perf uses the time of the sample id; with some clocks that in the body differs. */
	row[VT_THREAD_TIME] = b->id.time ? b->id.time : time;
	row[VT_THREAD_PID] = I32(pid);
	row[VT_THREAD_TID] = I32(tid);
	row[VT_THREAD_OP] = b->r->type == PD_FORK ? VT_OP_FORK : VT_OP_EXIT;
	row[VT_THREAD_PPID] = I32(ppid);
	row[VT_THREAD_PTID] = I32(ptid);
	return 0;
}

static void put_lost_row(struct pd_session *s, const struct pd_sample *id, uint64_t event,
			 uint64_t count, const char *source)
{
	uint64_t *row = vt_writer_row(s->w, VT_LOST);

	s->sum->lost += count;
	row[VT_LOST_TIME] = id->time;
	row[VT_LOST_PID] = I32(id->pid);
	row[VT_LOST_TID] = I32(id->tid);
	row[VT_LOST_CPU] = id->cpu;
	row[VT_LOST_EVENT] = event;
	row[VT_LOST_COUNT] = count;
	vt_writer_text(s->w, VT_LOST_SOURCE, source);
}

static uint64_t add_lost(uint64_t a, uint64_t b)
{
	return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

/*
 * Records that did not fit into the ring buffer.  The kernel writes LOST once there is room again,
 * so losses after the last record that fitted are not in it (kernel/events/ring_buffer.c).
 */
static int put_lost(struct pd_session *s, struct body *b)
{
	uint64_t event = b->event, id = vt_cursor_u64(&b->c), count = vt_cursor_u64(&b->c);
	int found = vti_pd_event_of_id(s, id);

	if (b->c.bad)
		return SHORT;
	if (found >= 0)
		event = (uint64_t)found;
	s->ring_lost = add_lost(s->ring_lost, count);
	put_lost_row(s, &b->id, event, count, "LOST");
	return 0;
}

/*
 * True if perf wrote this LOST_SAMPLES record at the end of the recording: the kernel's count of
 * all records of an event that did not fit (PERF_FORMAT_LOST).  It has no time and no thread,
 * unlike those of the kernel, for samples that the hardware could not distinguish.
 */
static bool is_final_count(const struct pd_session *s, const struct body *b)
{
	return b->event < s->nevents && s->events[b->event].attr.read_format & PD_FORMAT_LOST &&
	       !b->id.time && b->id.pid <= 0 && b->id.tid <= 0;
}

static int put_lost_samples(struct pd_session *s, struct body *b)
{
	uint64_t count = vt_cursor_u64(&b->c);
	const char *key = NULL;
	char text[64];

	if (b->c.bad)
		return SHORT;
	if (b->r->misc & PD_MISC_LOST_SAMPLES_BPF) {
		key = "record.filtered_samples"; /* by the user's own filter: nothing is lost */
	} else if (is_final_count(s, b)) {
		key = "record.lost_samples";
		s->final_lost = add_lost(s->final_lost, count);
	} else {
		put_lost_row(s, &b->id, b->event, count, "LOST_SAMPLES");
		return 0;
	}
	snprintf(text, sizeof(text), "event=%" PRIu64 " count=%" PRIu64, b->event, count);
	vti_pd_meta_str(s, key, text);
	return 0;
}

/*
 * The final counts include all losses of LOST records.  They have the event that was lost, LOST
 * records that of the next record, so only the two sums can be compared.  If perf was killed, or
 * the kernel is older than 6.0, there are no final counts.
 */
void vti_pd_lost_emit(struct pd_session *s)
{
	const struct pd_sample none = {.time = 0};

	if (s->final_lost > s->ring_lost)
		put_lost_row(s, &none, 0, s->final_lost - s->ring_lost, "LOST_SAMPLES");
}

static int put_throttle(struct pd_session *s, struct body *b)
{
	uint64_t time = vt_cursor_u64(&b->c), id = vt_cursor_u64(&b->c);
	uint64_t stream = vt_cursor_u64(&b->c), *row;
	int event = vti_pd_event_of_id(s, id);

	if (b->c.bad)
		return SHORT;
	row = vt_writer_row(s->w, VT_THROTTLE);
	row[VT_THROTTLE_TIME] = time;
	row[VT_THROTTLE_CPU] = b->id.cpu;
	row[VT_THROTTLE_EVENT] = event >= 0 ? (uint64_t)event : b->event;
	row[VT_THROTTLE_ON] = b->r->type == PD_THROTTLE;
	row[VT_THROTTLE_STREAM_ID] = stream;
	return 0;
}

static int put_thread_switch(struct pd_session *s, struct body *b)
{
	bool wide = b->r->type == PD_SWITCH_CPU_WIDE;
	uint32_t pid = wide ? vt_cursor_u32(&b->c) : 0;
	uint32_t tid = wide ? vt_cursor_u32(&b->c) : 0;
	uint64_t *row;

	if (b->c.bad)
		return SHORT;
	row = vt_writer_row(s->w, VT_SWITCH);
	row[VT_SWITCH_TIME] = b->id.time;
	row[VT_SWITCH_PID] = I32(b->id.pid);
	row[VT_SWITCH_TID] = I32(b->id.tid);
	row[VT_SWITCH_CPU] = b->id.cpu;
	row[VT_SWITCH_OUT] = !!(b->r->misc & PD_MISC_SWITCH_OUT);
	row[VT_SWITCH_PREEMPT] = !!(b->r->misc & PD_MISC_SWITCH_OUT_PREEMPT);
	row[VT_SWITCH_OTHER_PID] = I32(pid);
	row[VT_SWITCH_OTHER_TID] = I32(tid);
	return 0;
}

static int put_aux(struct pd_session *s, struct body *b)
{
	uint64_t offset = vt_cursor_u64(&b->c), size = vt_cursor_u64(&b->c);
	uint64_t flags = vt_cursor_u64(&b->c), *row;

	if (b->c.bad)
		return SHORT;
	row = vt_writer_row(s->w, VT_AUX);
	row[VT_AUX_TIME] = b->id.time;
	row[VT_AUX_PID] = I32(b->id.pid);
	row[VT_AUX_TID] = I32(b->id.tid);
	row[VT_AUX_CPU] = b->id.cpu;
	row[VT_AUX_OFFSET] = offset;
	row[VT_AUX_SIZE] = size;
	row[VT_AUX_FLAGS] = flags;
	return 0;
}

static int put_itrace_start(struct pd_session *s, struct body *b)
{
	uint32_t pid = vt_cursor_u32(&b->c), tid = vt_cursor_u32(&b->c);
	uint64_t *row;

	if (b->c.bad)
		return SHORT;
	row = vt_writer_row(s->w, VT_ITRACE);
	row[VT_ITRACE_TIME] = b->id.time;
	row[VT_ITRACE_PID] = I32(pid);
	row[VT_ITRACE_TID] = I32(tid);
	row[VT_ITRACE_CPU] = b->id.cpu;
	return 0;
}

static int put_namespaces(struct pd_session *s, struct body *b)
{
	uint32_t pid = vt_cursor_u32(&b->c), tid = vt_cursor_u32(&b->c);
	uint64_t nr = vt_cursor_u64(&b->c), *row, i;

	if (b->c.bad || nr > vt_cursor_left(&b->c) / 16)
		return SHORT;
	row = vt_writer_row(s->w, VT_NAMESPACES);
	row[VT_NAMESPACES_TIME] = b->id.time;
	row[VT_NAMESPACES_PID] = I32(pid);
	row[VT_NAMESPACES_TID] = I32(tid);
	for (i = 0; i < nr; i++) {
		s->words[i] = vt_cursor_u64(&b->c);
		s->words[nr + i] = vt_cursor_u64(&b->c);
	}
	vt_writer_words(s->w, VT_NAMESPACES_DEV, s->words, nr);
	vt_writer_words(s->w, VT_NAMESPACES_INO, s->words + nr, nr);
	return 0;
}

static int put_ksymbol(struct pd_session *s, struct body *b)
{
	uint64_t addr = vt_cursor_u64(&b->c), length = vt_cursor_u32(&b->c);
	uint64_t type = vt_cursor_u16(&b->c), flags = vt_cursor_u16(&b->c), *row;

	if (b->c.bad)
		return SHORT;
	row = vt_writer_row(s->w, VT_KSYMBOL);
	row[VT_KSYMBOL_TIME] = b->id.time;
	row[VT_KSYMBOL_ADDR] = addr;
	row[VT_KSYMBOL_LENGTH] = length;
	row[VT_KSYMBOL_TYPE] = type;
	row[VT_KSYMBOL_FLAGS] = flags;
	put_text_field(s, VT_KSYMBOL_NAME, &b->c);
	return 0;
}

static int put_bpf(struct pd_session *s, struct body *b)
{
	uint64_t type = vt_cursor_u16(&b->c), flags = vt_cursor_u16(&b->c);
	uint64_t id = vt_cursor_u32(&b->c), *row;
	const uint8_t *tag = vt_cursor_take(&b->c, 8);

	if (b->c.bad)
		return SHORT;
	row = vt_writer_row(s->w, VT_BPF);
	row[VT_BPF_TIME] = b->id.time;
	row[VT_BPF_TYPE] = type;
	row[VT_BPF_FLAGS] = flags;
	row[VT_BPF_ID] = id;
	vt_writer_bytes(s->w, VT_BPF_TAG, tag, 8);
	return 0;
}

static int put_cgroup(struct pd_session *s, struct body *b)
{
	uint64_t id = vt_cursor_u64(&b->c), *row;

	if (b->c.bad)
		return SHORT;
	row = vt_writer_row(s->w, VT_CGROUP);
	row[VT_CGROUP_TIME] = b->id.time;
	row[VT_CGROUP_ID] = id;
	put_text_field(s, VT_CGROUP_PATH, &b->c);
	return 0;
}

static int put_text_poke(struct pd_session *s, struct body *b)
{
	uint64_t addr = vt_cursor_u64(&b->c), *row;
	uint16_t nold = vt_cursor_u16(&b->c), nnew = vt_cursor_u16(&b->c);
	const uint8_t *was = vt_cursor_take(&b->c, nold), *is = vt_cursor_take(&b->c, nnew);

	if (b->c.bad)
		return SHORT;
	row = vt_writer_row(s->w, VT_TEXTPOKE);
	row[VT_TEXTPOKE_TIME] = b->id.time;
	row[VT_TEXTPOKE_ADDR] = addr;
	vt_writer_bytes(s->w, VT_TEXTPOKE_OLD, was, nold);
	vt_writer_bytes(s->w, VT_TEXTPOKE_NEW, is, nnew);
	return 0;
}

static int put_hw_id(struct pd_session *s, struct body *b)
{
	uint64_t hw_id = vt_cursor_u64(&b->c);
	char text[160];

	if (b->c.bad)
		return SHORT;
	snprintf(text, sizeof(text),
		 "time=%" PRIu64 " cpu=%" PRIu32 " id=%" PRIu64 " event=%" PRIu64
		 " hw_id=0x%" PRIx64,
		 b->id.time, b->id.cpu, b->id.id, b->event, hw_id);
	vti_pd_meta_str(s, "record.aux_output_hw_id", text);
	return 0;
}

/* Counts of a task that ended (perf record -s): there is no kind of record for them. */
static int put_read(struct pd_session *s, struct body *b)
{
	uint32_t pid = vt_cursor_u32(&b->c), tid = vt_cursor_u32(&b->c);
	char text[96];

	if (b->c.bad)
		return SHORT;
	snprintf(text, sizeof(text),
		 "time=%" PRIu64 " pid=%" PRId32 " tid=%" PRId32 " event=%" PRIu64, b->id.time,
		 (int32_t)pid, (int32_t)tid, b->event);
	vti_pd_meta(s, "record.read", (const uint8_t *)text, strlen(text), b->c.p,
		    vt_cursor_left(&b->c));
	return 0;
}

/* Each returns 0, SHORT, or the negative code of an error in s->err. */
typedef int record_fn(struct pd_session *s, struct body *b);

static record_fn *const records[PD_USER_START] = {
	[PD_MMAP] = put_mmap,
	[PD_LOST] = put_lost,
	[PD_COMM] = put_comm,
	[PD_EXIT] = put_task,
	[PD_THROTTLE] = put_throttle,
	[PD_UNTHROTTLE] = put_throttle,
	[PD_FORK] = put_task,
	[PD_READ] = put_read,
	[PD_MMAP2] = put_mmap,
	[PD_AUX] = put_aux,
	[PD_ITRACE_START] = put_itrace_start,
	[PD_LOST_SAMPLES] = put_lost_samples,
	[PD_SWITCH] = put_thread_switch,
	[PD_SWITCH_CPU_WIDE] = put_thread_switch,
	[PD_NAMESPACES] = put_namespaces,
	[PD_KSYMBOL] = put_ksymbol,
	[PD_BPF_EVENT] = put_bpf,
	[PD_CGROUP] = put_cgroup,
	[PD_TEXT_POKE] = put_text_poke,
	[PD_AUX_OUTPUT_HW_ID] = put_hw_id,
};

static int deliver_kernel_record(struct pd_session *s, const struct pd_rec *r, int event)
{
	struct pd_attr none = {.flags = 0};
	struct body b = {.r = r};
	size_t body;

	/* Without a known event the first one's layout is used: perf gives all the same layout. */
	b.event = event < 0 ? 0 : (uint64_t)event;
	if (!vti_pd_trailer_parse(&b.id, s->nevents ? &s->events[b.event].attr : &none, r->payload,
				  r->left, s->big, &body)) {
		vti_pd_bad_record(s, r, "too short for its sample id");
		return 0;
	}
	b.c = vt_cursor_make(r->payload, body, s->big);
	return count_short(s, r, records[r->type](s, &b));
}

int vti_pd_deliver(void *session, const uint8_t *record, size_t size, uint64_t offset)
{
	struct pd_session *s = session;
	struct pd_rec r = vti_pd_rec(s, record, offset);
	int event, code;

	(void)size;
	if (s->dirty) {
		code = vti_pd_events_emit(s);
		if (code < 0)
			return code;
	}
	event = vti_pd_event_of(s, &r);
	if (r.type == PD_SAMPLE)
		return event < 0 ? vti_pd_unknown(s, &r)
				 : vti_pd_deliver_sample(s, &r, (size_t)event);
	if (r.type >= PD_USER_START || !records[r.type])
		return vti_pd_unknown(s, &r);
	return deliver_kernel_record(s, &r, event);
}

/* ---- perf's own records ---- */

static int read_header_attr(struct pd_session *s, const struct pd_rec *r)
{
	struct pd_attr a;
	size_t event = s->nevents, at;
	int code = 0;

	if (!vti_pd_attr_parse(&a, r->payload, r->left, s->big) || a.size > r->left)
		return SHORT;
	code = vti_pd_event_add(s, &a);
	for (at = a.size; code == 0 && at + 8 <= r->left; at += 8) {
		const uint8_t *p = r->payload + at;

		code = vti_pd_id_add(s, vti_pd_u64(p, s->big), event);
	}
	vti_pd_layout(s);
	return code < 0 ? code : 0;
}

static int read_event_update(struct pd_session *s, const struct pd_rec *r)
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

static int read_feature_record(struct pd_session *s, const struct pd_rec *r)
{
	struct vt_cursor c = vt_cursor_make(r->payload, r->left, s->big);
	uint64_t id = vt_cursor_u64(&c);

	if (c.bad || id >= PD_FEAT_BITS)
		return SHORT;
	return vti_pd_feature(s, (unsigned)id, c.p, vt_cursor_left(&c), r->offset);
}

static int read_build_id_record(struct pd_session *s, const struct pd_rec *r)
{
	return vti_pd_buildid_record(s, r, false);
}

static int put_auxinfo(struct pd_session *s, const struct pd_rec *r)
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

static int put_auxtrace_error(struct pd_session *s, const struct pd_rec *r)
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

static int put_timeconv(struct pd_session *s, const struct pd_rec *r)
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

/* Like COMPRESSED, but its size is a multiple of 8, and the payload begins with the used size. */
static int inflate_compressed2(struct pd_session *s, const struct pd_rec *r)
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

static int ignore_record(struct pd_session *s, const struct pd_rec *r)
{
	(void)s;
	(void)r;
	return 0;
}

/* Each returns 0, SHORT, or the negative code of an error in s->err. */
static const struct row {
	int (*fn)(struct pd_session *s, const struct pd_rec *r);
	const char *name; /* without a function: the key of the META with the payload */
} rows[] = {
	[PD_HEADER_ATTR - PD_USER_START] = {read_header_attr, NULL},
	[PD_HEADER_EVENT_TYPE - PD_USER_START] = {NULL, "record.event_type"},
	[PD_HEADER_BUILD_ID - PD_USER_START] = {read_build_id_record, NULL},
	[PD_ID_INDEX - PD_USER_START] = {NULL, "record.id_index"},
	[PD_AUXTRACE_INFO - PD_USER_START] = {put_auxinfo, NULL},
	[PD_AUXTRACE_ERROR - PD_USER_START] = {put_auxtrace_error, NULL},
	[PD_THREAD_MAP - PD_USER_START] = {NULL, "record.thread_map"},
	[PD_CPU_MAP - PD_USER_START] = {NULL, "record.cpu_map"},
	[PD_STAT_CONFIG - PD_USER_START] = {NULL, "record.stat_config"},
	[PD_STAT - PD_USER_START] = {NULL, "record.stat"},
	[PD_STAT_ROUND - PD_USER_START] = {NULL, "record.stat_round"},
	[PD_EVENT_UPDATE - PD_USER_START] = {read_event_update, NULL},
	[PD_TIME_CONV - PD_USER_START] = {put_timeconv, NULL},
	[PD_HEADER_FEATURE - PD_USER_START] = {read_feature_record, NULL},
	[PD_COMPRESSED - PD_USER_START] = {vti_pd_inflate, NULL},
	[PD_FINISHED_INIT - PD_USER_START] = {ignore_record, NULL},
	[PD_COMPRESSED2 - PD_USER_START] = {inflate_compressed2, NULL},
	[PD_BPF_METADATA - PD_USER_START] = {NULL, "record.bpf_metadata"},
};

int vti_pd_user(struct pd_session *s, const struct pd_rec *r)
{
	const struct row *row;

	if (r->type - PD_USER_START >= sizeof(rows) / sizeof(rows[0]))
		return vti_pd_unknown(s, r);
	row = &rows[r->type - PD_USER_START];
	if (!row->fn && !row->name)
		return vti_pd_unknown(s, r);
	if (!row->fn) {
		vti_pd_meta(s, row->name, NULL, 0, r->payload, r->left);
		return 0;
	}
	return count_short(s, r, row->fn(s, r));
}

/* ---- in order ---- */

uint64_t vti_pd_order_time(struct pd_session *s, const struct pd_rec *r)
{
	bool sample = r->type == PD_SAMPLE;
	/* Where all events have the time at the same place, a sample's event does not matter. */
	int event = sample && s->same_layout ? 0 : vti_pd_event_of(s, r);
	size_t words = r->left / 8, at;
	const struct pd_event *e;

	if (event < 0)
		return 0;
	e = &s->events[event];
	if (sample) {
		at = (size_t)e->layout.time;
		if (e->layout.time < 0 || at >= words)
			return 0;
	} else {
		at = words - e->layout.time_trailer;
		if (!(e->attr.flags & PD_ATTR_SAMPLE_ID_ALL) || at >= words)
			return 0;
	}
	return vti_pd_u64(r->payload + 8 * at, s->big);
}

static int set_order_error(struct pd_session *s, int code)
{
	if (code == -VT_E_NOMEM)
		vti_pd_nomem(s);
	return code;
}

int vti_pd_record(struct pd_session *s, const uint8_t *record, uint64_t offset)
{
	struct pd_rec r = vti_pd_rec(s, record, offset);
	uint64_t time;
	int code;

	if (s->opt->drop_stacks && r.type == PD_SAMPLE) {
		record = vti_pd_stack_drop(s, record);
		r = vti_pd_rec(s, record, offset);
	}

	if (s->sum->records++ % CHECK_EVERY == 0) {
		code = vt_writer_error(s->w, s->err);
		if (code < 0)
			return code;
	}
	if (r.type == PD_FINISHED_ROUND)
		return set_order_error(s, vti_pd_order_round(&s->order));
	if (r.type >= PD_USER_START)
		return vti_pd_user(s, &r);
	time = s->ordered ? vti_pd_order_time(s, &r) : 0;
	/* As in perf, records without a time are delivered before queued ones. */
	if (!time || time == UINT64_MAX)
		return vti_pd_deliver(s, record, r.size, offset);
	return set_order_error(s, vti_pd_order_add(&s->order, time, record, r.size, offset));
}
