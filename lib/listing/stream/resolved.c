/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/stream/resolved.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "chains/chain.h"
#include "chains/unwound.h"
#include "listing/json.h"
#include "listing/stream/columns.h"
#include "listing/stream/places.h"
#include "listing/stream/traced.h"
#include "profile/data_source.h"
#include "profile/threads.h"
#include "stream/kinds.h"
#include "tracepoints/tracepoints.h"

/* As perf script prints it. */
#define UNKNOWN "[unknown]"

/* Between the frames of a call chain. */
#define FRAME_END ';'

static const struct {
	const char *name;
	const char *help;
} columns[VT_NRESOLVED] = {
	[VT_RESOLVED_SYM] = {"sym", "the procedure; also called symbol or procedure"},
	[VT_RESOLVED_SYMOFF] = {"symoff", "the procedure and the distance from its start"},
	[VT_RESOLVED_DSO] = {"dso", "the path of the image; also called image"},
	[VT_RESOLVED_SRCLINE] = {"srcline", "the source file and line"},
	[VT_RESOLVED_INSN] = {"insn", "the instruction, disassembled"},
	[VT_RESOLVED_COMM] = {"comm", "the name of the thread at that time"},
	[VT_RESOLVED_SECONDS] = {"seconds", "the time in seconds"},
	[VT_RESOLVED_CHAIN] = {"callchainsym", "the call chain with names, the callee first"},
	[VT_RESOLVED_DATASYM] = {"datasym", "the symbol at the address of the data"},
	[VT_RESOLVED_DATA_SRC] = {"data_source", "the field data_src in words"},
	[VT_RESOLVED_TRACE] = {"trace", "the fields of the tracepoint"},
};

static const struct {
	const char *name;
	enum vt_resolved which;
} aliases[] = {
	{"symbol", VT_RESOLVED_SYM},
	{"procedure", VT_RESOLVED_SYM},
	{"image", VT_RESOLVED_DSO},
};

enum vt_resolved vt_resolved_find(const char *name)
{
	size_t i;

	for (i = VT_RESOLVED_NONE + 1; i < VT_NRESOLVED; i++)
		if (strcmp(columns[i].name, name) == 0)
			return (enum vt_resolved)i;
	for (i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (strcmp(aliases[i].name, name) == 0)
			return aliases[i].which;
	return VT_RESOLVED_NONE;
}

const char *vt_resolved_name(enum vt_resolved which)
{
	return columns[which].name;
}

const char *vt_resolved_help(enum vt_resolved which)
{
	return columns[which].help;
}

struct vt_resolver {
	struct vt_context *context;
	struct vt_threads *threads;
	struct vt_places *places;
	struct vt_chain chain; /* of the sample at hand */
	size_t recorded;       /* frames of it that were recorded; others are unwound */
	bool calls;	       /* its frames in user mode are calls, not return addresses */
	struct vt_tracepoints *tracepoints; /* NULL: not wanted */
	struct vt_buf scratch;
};

struct vt_resolver *vt_resolver_new(struct vt_context *context)
{
	struct vt_resolver *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->context = context;
	r->threads = vt_threads_new();
	r->places = vt_places_new(context);
	if (r->threads && r->places)
		return r;
	vt_resolver_free(r);
	return NULL;
}

void vt_resolver_free(struct vt_resolver *r)
{
	if (!r)
		return;
	vt_threads_free(r->threads);
	vt_places_free(r->places);
	vt_tracepoints_free(r->tracepoints);
	vt_buf_free(&r->scratch);
	free(r);
}

/* A vt_trace_symbol_fn. */
static const char *find_kernel_function(void *resolver, uint64_t *address)
{
	struct vt_resolver *r = resolver;
	struct vt_spot *s = vt_places_find(r->places, -1, *address, VT_FRAME_KERNEL);
	uint64_t distance = 0;
	const char *name = s ? vt_places_procedure(r->places, s, &distance) : "";

	*address -= distance;
	return *name ? name : NULL;
}

bool vt_resolver_want(struct vt_resolver *r, enum vt_resolved which)
{
	const struct vt_trace_symbols symbols = {.find = find_kernel_function, .arg = r};

	if (which != VT_RESOLVED_TRACE || r->tracepoints)
		return true;
	r->tracepoints = vt_tracepoints_new(symbols);
	return r->tracepoints != NULL;
}

int vt_resolver_feed(struct vt_resolver *r, const struct vt_record *rec, struct vt_error *err)
{
	int code;

	if (rec->kind == VT_SAMPLE) /* changes nothing */
		return 0;
	if (vt_context_feed(r->context, rec->block, rec->row, 1, err) < 0)
		return -(int)err->code;
	vt_places_feed(r->places, rec);
	if (r->tracepoints && vt_tracepoints_feed(r->tracepoints, rec, err) < 0)
		return -(int)err->code;
	code = vt_threads_feed(r->threads, rec->block, rec->row, 1, err);
	/* Threads above the limit have no names. */
	return code == -VT_E_LIMIT ? 0 : code;
}

/* ---- one place ---- */

static int32_t pid_of(const struct vt_record *rec)
{
	return (int32_t)vt_record_i64(rec, VT_SAMPLE_PID);
}

/* NULL: nothing was recorded, or memory ran out, and then `b` fails. */
static struct vt_spot *find_spot(struct vt_resolver *r, const struct vt_record *rec, bool data,
				 struct vt_buf *b)
{
	uint64_t has = vt_record_u64(rec, VT_SAMPLE_HAS);
	uint64_t address = vt_record_u64(rec, data ? VT_SAMPLE_ADDR : VT_SAMPLE_IP);
	uint64_t mode = data ? 0 : vt_record_u64(rec, VT_SAMPLE_MISC) & VT_MISC_CPUMODE;
	struct vt_spot *s;

	if (!address && !(has & (data ? VT_HAS_ADDR : VT_HAS_IP)))
		return NULL;
	s = vt_places_find(r->places, pid_of(rec), address, mode);
	if (!s)
		b->failed = true;
	return s;
}

/* `more` is added to the distance: a return address may lie behind its procedure. */
static void put_procedure(struct vt_places *p, struct vt_spot *s, bool offset, uint64_t more,
			  struct vt_buf *b)
{
	uint64_t distance;
	const char *name = vt_places_procedure(p, s, &distance);

	if (!*name) {
		vt_buf_put(b, UNKNOWN, strlen(UNKNOWN));
		return;
	}
	vt_buf_put(b, name, strlen(name));
	if (!offset)
		return;
	vt_buf_put_u8(b, '+');
	vt_dump_hex(b, distance + more);
}

static void put_known(struct vt_buf *b, const char *text)
{
	if (!*text)
		text = UNKNOWN;
	vt_buf_put(b, text, strlen(text));
}

void vt_resolved_spot(struct vt_places *p, enum vt_resolved which, struct vt_spot *s,
		      struct vt_buf *b)
{
	switch (which) {
	case VT_RESOLVED_SYM:
		put_procedure(p, s, false, 0, b);
		break;
	case VT_RESOLVED_SYMOFF:
		put_procedure(p, s, true, 0, b);
		break;
	case VT_RESOLVED_DSO:
		put_known(b, vt_places_image(p, s));
		break;
	case VT_RESOLVED_SRCLINE:
		put_known(b, vt_places_line(p, s));
		break;
	default:
		put_known(b, vt_places_insn(p, s));
		break;
	}
}

/* ---- call chains ---- */

/* Reads the chain of a sample to r->chain.  False if it has none. */
static bool read_chain(struct vt_resolver *r, const struct vt_record *rec, struct vt_buf *b)
{
	struct vt_error ignored = VT_ERROR_INIT;
	const struct vt_event *event =
		vt_context_event(r->context, vt_record_u64(rec, VT_SAMPLE_EVENT), &ignored);
	bool unwound;

	if (!event) {
		b->failed = true;
		return false;
	}
	vt_chain_read(&r->chain, rec, event->branch_type);
	r->recorded = r->chain.count;
	r->calls = event->branch_type & VT_BRANCH_CALL_STACK;
	unwound = vt_chain_unwind(&r->chain, rec, event->regs_user, vt_context_images(r->context),
				  vt_context_space(r->context), NULL, NULL);
	return (r->chain.recorded || unwound) && !r->chain.damaged;
}

/*
 * What was subtracted from the address of a frame: 1 from a recorded return address, so that it is
 * in the procedure that called.
 */
static uint64_t frame_shift(const struct vt_resolver *r, size_t i)
{
	const struct vt_chain *c = &r->chain;

	if (r->calls && c->frames[i].mode == VT_FRAME_USER)
		return 0;
	return i > (size_t)c->skid && i < r->recorded && c->frames[i].mode == c->frames[i - 1].mode;
}

static struct vt_spot *find_frame(struct vt_resolver *r, const struct vt_record *rec, size_t i,
				  struct vt_buf *b)
{
	const struct vt_frame *f = &r->chain.frames[i];
	struct vt_spot *s = vt_places_find(r->places, pid_of(rec), f->address, f->mode);

	if (!s)
		b->failed = true;
	return s;
}

/* Appends escaped text in which no frame seems to end. */
static void escape_frame(struct vt_buf *b, const struct vt_buf *text)
{
	size_t i, start = 0;

	for (i = 0; i <= text->size; i++) {
		if (i < text->size && text->data[i] != FRAME_END)
			continue;
		vt_escape(b, text->data + start, i - start);
		if (i < text->size)
			vt_buf_printf(b, "\\x%02x", FRAME_END);
		start = i + 1;
	}
}

/*
 * As perf script shows a chain: it begins where the chain itself does, which may be behind the
 * sample's own address.
 */
static void put_chain(struct vt_resolver *r, const struct vt_record *rec, struct vt_buf *b)
{
	struct vt_buf *text = &r->scratch;
	size_t first, i;

	if (!read_chain(r, rec, b))
		return;
	first = r->chain.skid;
	for (i = first; i < r->chain.count; i++) {
		struct vt_spot *s = find_frame(r, rec, i, b);

		if (!s)
			return;
		if (i > first)
			vt_buf_put_u8(b, FRAME_END);
		text->size = 0;
		put_procedure(r->places, s, true, frame_shift(r, i), text);
		vt_buf_put(text, " (", 2);
		put_known(text, vt_places_image(r->places, s));
		vt_buf_put_u8(text, ')');
		escape_frame(b, text);
		b->failed = b->failed || text->failed;
	}
}

static json_t *frame_json(struct vt_resolver *r, const struct vt_record *rec, size_t i)
{
	struct vt_buf *text = &r->scratch;
	struct vt_spot *s = find_frame(r, rec, i, text);
	uint64_t shift = frame_shift(r, i);
	json_t *o = json_object();

	if (!s)
		return o;
	text->size = 0;
	json_object_set_new(o, "ip", vt_json_hex(r->chain.frames[i].address + shift));
	put_procedure(r->places, s, true, shift, text);
	json_object_set_new(o, "symoff", vt_json_text(text->data, text->size));
	text->size = 0;
	put_known(text, vt_places_image(r->places, s));
	json_object_set_new(o, "dso", vt_json_text(text->data, text->size));
	return o;
}

static json_t *chain_json(struct vt_resolver *r, const struct vt_record *rec)
{
	json_t *a;
	size_t i;

	if (!read_chain(r, rec, &r->scratch))
		return json_null();
	a = json_array();
	for (i = r->chain.skid; i < r->chain.count; i++)
		json_array_append_new(a, frame_json(r, rec, i));
	return a;
}

/* ---- tracepoints ---- */

/* NULL: the sample is of none, or memory ran out, and then `b` fails. */
static struct vt_tracepoint *find_tracepoint(struct vt_resolver *r, const struct vt_record *rec,
					     struct vt_buf *b)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_tracepoint *p;

	if (!r->tracepoints || !vt_record_bytes(rec, VT_SAMPLE_RAW).size)
		return NULL;
	p = vt_tracepoints_find(r->tracepoints, vt_record_u64(rec, VT_SAMPLE_EVENT), &err);
	if (err.code)
		b->failed = true;
	return p;
}

/* As the kernel prints it, else field by field. */
static void put_trace(struct vt_resolver *r, const struct vt_record *rec, struct vt_buf *b)
{
	struct vt_tracepoint *p = find_tracepoint(r, rec, b);
	struct vt_bytes raw = vt_record_bytes(rec, VT_SAMPLE_RAW);

	if (p && !vt_tracepoints_print(r->tracepoints, p, raw, b))
		vt_traced_fields(p, raw, b);
}

static json_t *trace_json(struct vt_resolver *r, const struct vt_record *rec)
{
	const struct vt_tracepoint *p = find_tracepoint(r, rec, &r->scratch);

	return p ? vt_traced_json(p, vt_record_bytes(rec, VT_SAMPLE_RAW)) : json_null();
}

/* ---- all ---- */

static void put_comm(struct vt_resolver *r, const struct vt_record *rec, struct vt_buf *b)
{
	char buf[VT_COMM_SIZE];
	const char *comm =
		vt_threads_comm(r->threads, (int32_t)vt_record_i64(rec, VT_SAMPLE_TID), buf);

	vt_buf_put(b, comm, strlen(comm));
}

static void put_data_source(const struct vt_record *rec, struct vt_buf *b)
{
	char buf[VT_DATA_SOURCE_SIZE];
	const char *text = vt_data_source_line(vt_record_u64(rec, VT_SAMPLE_DATA_SRC), buf);

	vt_buf_put(b, text, strlen(text));
}

/* Appends the column as it is, unless nothing was recorded. */
static void put_raw(struct vt_resolver *r, enum vt_resolved which, const struct vt_record *rec,
		    struct vt_buf *b)
{
	uint64_t has = vt_record_u64(rec, VT_SAMPLE_HAS);
	struct vt_spot *s;

	if (which == VT_RESOLVED_COMM) {
		put_comm(r, rec, b);
	} else if (which == VT_RESOLVED_SECONDS) {
		if (vt_record_u64(rec, VT_SAMPLE_TIME) || has & VT_HAS_TIME)
			vt_dump_seconds(b, vt_record_u64(rec, VT_SAMPLE_TIME));
	} else if (which == VT_RESOLVED_DATA_SRC) {
		if (has & VT_HAS_DATA_SRC)
			put_data_source(rec, b);
	} else if (which == VT_RESOLVED_TRACE) {
		put_trace(r, rec, b);
	} else {
		s = find_spot(r, rec, which == VT_RESOLVED_DATASYM, b);
		if (which == VT_RESOLVED_DATASYM)
			which = VT_RESOLVED_SYMOFF;
		if (s)
			vt_resolved_spot(r->places, which, s, b);
	}
}

void vt_resolver_text(struct vt_resolver *r, enum vt_resolved which, const struct vt_record *rec,
		      struct vt_buf *b)
{
	struct vt_buf *raw = &r->scratch;

	if (which == VT_RESOLVED_CHAIN) {
		put_chain(r, rec, b);
		return;
	}
	raw->size = 0;
	put_raw(r, which, rec, raw);
	vt_escape(b, raw->data, raw->size);
	b->failed = b->failed || raw->failed;
}

json_t *vt_resolver_json(struct vt_resolver *r, enum vt_resolved which, const struct vt_record *rec)
{
	struct vt_buf *raw = &r->scratch;
	json_t *v;

	if (which == VT_RESOLVED_CHAIN) {
		v = chain_json(r, rec);
	} else if (which == VT_RESOLVED_TRACE) {
		v = trace_json(r, rec);
	} else {
		raw->size = 0;
		put_raw(r, which, rec, raw);
		v = raw->size ? vt_json_text(raw->data, raw->size) : json_null();
	}
	if (!raw->failed)
		return v;
	json_decref(v);
	return NULL;
}
