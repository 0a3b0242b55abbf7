/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracepoints/tracepoints.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"

#define TYPE_TRACEPOINT 2 /* PERF_TYPE_TRACEPOINT */

/* An event and its tracepoint's number. */
struct event {
	uint64_t event;
	uint64_t tracepoint;
	bool is_tracepoint; /* by its latest EVENT record */
};

struct vt_tracepoints {
	struct vt_hash events; /* struct event */
	struct vt_hash points; /* struct vt_tracepoint, whose texts lie in `data` */
	struct vt_buf data;
	struct vt_trace_symbols symbols;
	struct vt_buf copy; /* of what is being printed */
	bool indexed;	    /* `points` is there, and no more pieces are taken */
};

struct vt_tracepoints *vt_tracepoints_new(struct vt_trace_symbols symbols)
{
	struct vt_tracepoints *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->symbols = symbols;
	vt_hash_init(&t->events, sizeof(struct event), sizeof(uint64_t));
	vt_hash_init(&t->points, sizeof(struct vt_tracepoint), sizeof(uint64_t));
	return t;
}

static void clear_points(struct vt_tracepoints *t)
{
	size_t i;

	for (i = 0; i < t->points.count; i++) {
		struct vt_tracepoint *p = vt_hash_at(&t->points, i);

		vt_trace_format_free(&p->format);
		vt_trace_printer_free(p->printer);
	}
	vt_hash_clear(&t->points);
}

void vt_tracepoints_free(struct vt_tracepoints *t)
{
	if (!t)
		return;
	clear_points(t);
	vt_hash_fini(&t->points);
	vt_hash_fini(&t->events);
	vt_buf_free(&t->data);
	vt_buf_free(&t->copy);
	free(t);
}

/*
 * Pieces are taken up to the first sample that needs them.  So a stream of many pieces and samples
 * is read in linear time.
 */
static int add_piece(struct vt_tracepoints *t, struct vt_bytes piece, struct vt_error *err)
{
	if (vt_tracing_begins(piece.data, piece.size)) {
		clear_points(t);
		t->data.size = 0;
		t->indexed = false;
	}
	if (t->indexed || t->data.size + piece.size > VT_TRACING_DATA_MAX)
		return 0;
	vt_buf_put(&t->data, piece.data, piece.size);
	return t->data.failed ? vt_error_nomem(err) : 0;
}

int vt_tracepoints_feed(struct vt_tracepoints *t, const struct vt_record *rec, struct vt_error *err)
{
	uint64_t id;
	struct event *e;

	if (vt_record_is_meta(rec, "tracing_data"))
		return add_piece(t, vt_record_bytes(rec, VT_META_DATA), err);
	if (rec->kind != VT_EVENT)
		return 0;
	id = vt_record_u64(rec, VT_EVENT_ID);
	e = vt_hash_add(&t->events, &id, NULL);
	if (!e)
		return vt_error_nomem(err);
	e->is_tracepoint = vt_record_u64(rec, VT_EVENT_TYPE) == TYPE_TRACEPOINT;
	e->tracepoint = vt_record_u64(rec, VT_EVENT_CONFIG);
	return 0;
}

static int add_point(void *arg, const struct vt_tracing *machine, struct vt_bytes system,
		     struct vt_bytes text)
{
	struct vt_tracepoints *t = arg;
	struct vt_tracepoint *p;
	struct vt_bytes name;
	uint64_t id;
	bool added;

	if (!vt_format_file_ident(text, &name, &id))
		return 0;
	p = vt_hash_add(&t->points, &id, &added);
	if (!p)
		return -VT_E_NOMEM;
	if (!added)
		return 0;
	p->machine = *machine;
	p->system = system;
	p->text = text;
	return 0;
}

struct vt_tracepoint *vt_tracepoints_find(struct vt_tracepoints *t, uint64_t event,
					  struct vt_error *err)
{
	const struct event *e = vt_hash_find(&t->events, &event);
	struct vt_tracepoint *p;

	if (!e || !e->is_tracepoint)
		return NULL;
	if (!t->indexed && vt_tracing_walk(t->data.data, t->data.size, add_point, t) < 0) {
		vt_error_nomem(err);
		return NULL;
	}
	t->indexed = true;
	p = vt_hash_find(&t->points, &e->tracepoint);
	if (p && !p->read && !vt_trace_format_read(&p->format, p->text, p->machine.long_size)) {
		vt_trace_format_free(&p->format);
		vt_error_nomem(err);
		return NULL;
	}
	if (p)
		p->read = true;
	return p;
}

bool vt_tracepoints_print(struct vt_tracepoints *t, struct vt_tracepoint *p, struct vt_bytes raw,
			  struct vt_buf *b)
{
	if (!p->tried)
		p->printer = vt_trace_printer_new(&p->format, p->text, &p->machine, &t->symbols);
	p->tried = true;
	return p->printer && vt_trace_printer_print(p->printer, raw, &t->copy, b);
}
