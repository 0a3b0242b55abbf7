/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/sideband/buffers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/hash.h"
#include "formats/common/tempfile.h"
#include "formats/pt/packet.h"

#define IN_MEMORY (16u << 20) /* bytes, before they go to a file */

/* A sequence of bytes: first in memory, then in a file, which is mapped in the end. */
struct store {
	const char *dir;
	struct vt_buf buf;
	int fd;
	uint64_t size;
	uint8_t *bytes; /* of all, once it is closed */
	bool mapped;
};

/* The bytes of one record, or of several contiguous ones, of a queue. */
struct extent {
	uint32_t queue;
	uint64_t at; /* in the store */
	uint64_t size;
	uint64_t offset;
	uint64_t reference;
};

struct row {
	uint32_t index;
	uint32_t queue;
};

/* A queue while it is sealed. */
struct sealing {
	struct vt_pt_queue *q;
	struct store *to; /* NULL: its bytes are contiguous already */
	uint64_t at;	  /* of the current segment in `to`, or else in the first store */
	size_t cap;
};

struct vt_pt_buffers {
	struct store store;
	struct store sorted;
	struct vt_hash rows;
	struct vt_pt_queue *queues;
	size_t nqueues, queues_cap;
	struct extent *extents;
	size_t nextents, extents_cap;
};

/* ---- stores ---- */

static void store_init(struct store *s, const char *dir)
{
	*s = (struct store){.dir = dir, .buf = VT_BUF_INIT, .fd = -1};
}

static void store_fini(struct store *s)
{
	if (s->mapped)
		munmap(s->bytes, (size_t)s->size);
	if (s->fd >= 0)
		close(s->fd);
	vt_buf_free(&s->buf);
}

static int store_put(struct store *s, const uint8_t *p, size_t size, struct vt_error *err)
{
	int code;

	s->size += size;
	if (s->fd < 0 && s->buf.size + size <= IN_MEMORY) {
		vt_buf_put(&s->buf, p, size);
		return s->buf.failed ? vt_error_nomem(err) : 0;
	}
	if (s->fd < 0) {
		s->fd = vt_tempfile(s->dir, err);
		if (s->fd < 0)
			return s->fd;
		code = vt_tempfile_put(s->fd, s->dir, s->buf.data, s->buf.size, err);
		vt_buf_free(&s->buf);
		if (code < 0)
			return code;
	}
	return vt_tempfile_put(s->fd, s->dir, p, size, err);
}

static int store_close(struct store *s, struct vt_error *err)
{
	void *p;

	if (s->fd < 0) {
		s->bytes = s->buf.data;
		return 0;
	}
	p = mmap(NULL, (size_t)s->size, PROT_READ, MAP_PRIVATE, s->fd, 0);
	if (p == MAP_FAILED)
		return vt_error_errno(err, VT_E_NOMEM, errno, "%s: temporary file", s->dir);
	s->bytes = p;
	s->mapped = true;
	return 0;
}

/* ---- collecting ---- */

struct vt_pt_buffers *vt_pt_buffers_new(const char *tmpdir)
{
	struct vt_pt_buffers *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	store_init(&b->store, tmpdir);
	store_init(&b->sorted, tmpdir);
	vt_hash_init(&b->rows, sizeof(struct row), sizeof(uint32_t));
	return b;
}

void vt_pt_buffers_free(struct vt_pt_buffers *b)
{
	size_t i;

	if (!b)
		return;
	for (i = 0; i < b->nqueues; i++)
		free(b->queues[i].segments);
	free(b->queues);
	free(b->extents);
	vt_hash_fini(&b->rows);
	store_fini(&b->store);
	store_fini(&b->sorted);
	free(b);
}

static int64_t find_queue(struct vt_pt_buffers *b, const struct vt_format_auxtrace *p,
			  struct vt_error *err)
{
	bool added;
	struct row *row;

	if (b->nqueues >= VT_PT_MAX_QUEUES && !vt_hash_find(&b->rows, &p->index))
		return vt_error_set(err, VT_E_LIMIT, "more than %d AUX areas", VT_PT_MAX_QUEUES);
	row = vt_hash_add(&b->rows, &p->index, &added);
	if (!row)
		return vt_error_nomem(err);
	if (!added)
		return row->queue;
	if (!vt_array_grow(&b->queues, &b->queues_cap, b->nqueues + 1, sizeof(*b->queues)))
		return vt_error_nomem(err);
	row->queue = (uint32_t)b->nqueues;
	b->queues[b->nqueues++] =
		(struct vt_pt_queue){.index = p->index, .cpu = p->cpu, .tid = p->tid};
	return row->queue;
}

int vt_pt_buffers_piece(struct vt_pt_buffers *b, const struct vt_format_auxtrace *p,
			struct vt_error *err)
{
	int64_t q = find_queue(b, p, err);
	struct extent *e = b->nextents ? &b->extents[b->nextents - 1] : NULL;
	uint64_t end = p->offset + p->position + p->size;

	if (q < 0)
		return (int)q;
	if (!p->size)
		return 0;
	if (end > b->queues[q].end && end >= p->offset)
		b->queues[q].end = end;
	/* The last extent ends where the store does. */
	if (e && e->queue == q && p->position) {
		e->size += p->size;
		return store_put(&b->store, p->bytes, p->size, err);
	}
	if (b->nextents >= VT_PT_MAX_PIECES)
		return vt_error_set(err, VT_E_LIMIT, "more than %d AUXTRACE records",
				    VT_PT_MAX_PIECES);
	if (!vt_array_grow(&b->extents, &b->extents_cap, b->nextents + 1, sizeof(*b->extents)))
		return vt_error_nomem(err);
	b->extents[b->nextents++] = (struct extent){
		.queue = (uint32_t)q,
		.at = b->store.size,
		.size = p->size,
		.offset = p->offset + p->position,
		.reference = p->reference,
	};
	return store_put(&b->store, p->bytes, p->size, err);
}

int vt_pt_buffers_add(struct vt_pt_buffers *b, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_bytes data = vt_record_bytes(rec, VT_AUXTRACE_DATA);
	struct vt_format_auxtrace p = {
		.index = (uint32_t)vt_record_u64(rec, VT_AUXTRACE_INDEX),
		.cpu = vt_record_i64(rec, VT_AUXTRACE_CPU),
		.tid = vt_record_i64(rec, VT_AUXTRACE_TID),
		.offset = vt_record_u64(rec, VT_AUXTRACE_OFFSET),
		.reference = vt_record_u64(rec, VT_AUXTRACE_REFERENCE),
		.position = vt_record_u64(rec, VT_AUXTRACE_POSITION),
		.bytes = data.data,
		.size = data.size,
	};

	return vt_pt_buffers_piece(b, &p, err);
}

/* ---- snapshots ---- */

/* Buffers are padded to a multiple of the word size, or of the processor's unit of writing. */
#define PADDING_MAX 64

/* Reads the TSC of a PSB+, which distinguishes PSBs.  False: there is none. */
static bool read_psb_tsc(const uint8_t *p, const uint8_t *end, uint64_t *tsc)
{
	struct vt_pt_packet packet;

	for (;;) {
		int size = vt_pt_packet_read(&packet, p, end, 0);

		if (size <= 0 || packet.kind == VT_PT_PSBEND)
			return false;
		if (packet.kind == VT_PT_TSC) {
			*tsc = packet.payload;
			return true;
		}
		p += size;
	}
}

/* The size without padding at the end of a snapshot, which the trace itself does not have. */
static size_t get_unpadded_size(const uint8_t *psb, size_t size)
{
	unsigned n;

	/* This ends at the PSB, whose last byte is not 0. */
	for (n = 0; n < PADDING_MAX && !psb[size - 1]; n++)
		size--;
	return size;
}

/* True if b begins with all of a, which begins with a PSB. */
static bool begins_with(const uint8_t *b, size_t bsize, const uint8_t *a, size_t asize,
			size_t *used)
{
	size_t bare = get_unpadded_size(a, asize);

	if (asize <= bsize && !memcmp(a, b, asize)) {
		*used = asize;
		return true;
	}
	if (bare <= bsize && !memcmp(a, b, bare)) {
		*used = bare;
		return true;
	}
	return false;
}

size_t vti_pt_overlap(const uint8_t *a, size_t asize, const uint8_t *b, size_t bsize, bool *joined)
{
	const uint8_t *bend = b + bsize, *aend = a + asize;
	const uint8_t *first = vt_pt_find_psb(b, bend), *p;
	uint64_t tsc = 0, other;
	bool timed;
	size_t used;

	*joined = false;
	if (!first)
		return bsize;
	timed = read_psb_tsc(first, bend, &tsc);
	for (p = vt_pt_find_psb(a, aend); p; p = vt_pt_find_psb(p + VT_PT_PSB_SIZE, aend)) {
		/* Different times save a long comparison: repeated code gives equal bytes. */
		if (timed && read_psb_tsc(p, aend, &other) && other != tsc)
			continue;
		if (begins_with(first, (size_t)(bend - first), p, (size_t)(aend - p), &used)) {
			*joined = true;
			return (size_t)(first - b) + used;
		}
	}
	return (size_t)(first - b);
}

/* ---- sealing ---- */

static int add_segment(struct sealing *s, const struct extent *e, uint64_t missing, bool apart,
		       uint64_t at, struct vt_error *err)
{
	struct vt_pt_queue *q = s->q;

	if (!vt_array_grow(&q->segments, &s->cap, q->nsegments + 1, sizeof(*q->segments)))
		return vt_error_nomem(err);
	q->segments[q->nsegments++] = (struct vt_pt_segment){
		.missing = missing, .apart = apart, .reference = e->reference};
	s->at = at;
	return 0;
}

/* Appends the bytes of an extent to the current segment. */
static int append_extent(struct sealing *s, const uint8_t *bytes, const struct extent *e,
			 uint64_t skip, struct vt_error *err)
{
	s->q->segments[s->q->nsegments - 1].size += (size_t)(e->size - skip);
	if (!s->to || e->size == skip)
		return 0;
	return store_put(s->to, bytes + e->at + skip, (size_t)(e->size - skip), err);
}

static int compare_extents(const void *x, const void *y)
{
	const struct extent *a = x, *b = y;

	if (a->queue != b->queue)
		return a->queue < b->queue ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static int seal_queue(struct vt_pt_buffers *b, struct sealing *s, const struct extent *e, size_t n,
		      bool snapshot, uint64_t *starts, struct vt_error *err)
{
	const uint8_t *bytes = b->store.bytes;
	int code = 0;
	size_t i;

	for (i = 0; i < n && code == 0; i++) {
		uint64_t expected = i ? e[i - 1].offset + e[i - 1].size : 0, skip = 0;
		bool joined = i > 0, gap = i && !snapshot && e[i].offset > expected;

		if (snapshot && i)
			skip = vti_pt_overlap(bytes + e[i - 1].at, (size_t)e[i - 1].size,
					      bytes + e[i].at, (size_t)e[i].size, &joined);
		if (!joined || gap) {
			code = add_segment(s, &e[i], gap ? e[i].offset - expected : 0,
					   snapshot && i && !joined,
					   s->to ? s->to->size : e[i].at + skip, err);
			starts[s->q->nsegments - 1] = s->at;
		}
		if (code == 0)
			code = append_extent(s, bytes, &e[i], skip, err);
	}
	return code;
}

/* True if the queue's bytes are contiguous in the store. */
static bool are_contiguous(const struct extent *e, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++) {
		if (e[i].at != e[i - 1].at + e[i - 1].size)
			return false;
	}
	return true;
}

static void place_segments(struct vt_pt_queue *q, const uint8_t *bytes, const uint64_t *starts)
{
	size_t i;

	for (i = 0; i < q->nsegments; i++)
		q->segments[i].bytes = bytes + starts[i];
}

static int seal_all(struct vt_pt_buffers *b, bool snapshot, uint64_t *starts, bool *sorted,
		    struct vt_error *err)
{
	size_t i, from;
	int code = 0;

	for (from = 0; from < b->nextents && code == 0; from = i) {
		uint32_t q = b->extents[from].queue;
		struct sealing s = {.q = &b->queues[q]};

		for (i = from; i < b->nextents && b->extents[i].queue == q; i++)
			;
		if (snapshot || !are_contiguous(b->extents + from, i - from))
			s.to = &b->sorted;
		sorted[q] = s.to != NULL;
		code = seal_queue(b, &s, b->extents + from, i - from, snapshot, starts + from, err);
	}
	return code;
}

int vt_pt_buffers_seal(struct vt_pt_buffers *b, bool snapshot, struct vt_error *err)
{
	uint64_t *starts = calloc(b->nextents + 1, sizeof(*starts));
	bool *sorted = calloc(b->nqueues + 1, sizeof(*sorted));
	size_t i;
	int code = starts && sorted ? store_close(&b->store, err) : vt_error_nomem(err);

	if (code == 0 && b->nextents) {
		qsort(b->extents, b->nextents, sizeof(*b->extents), compare_extents);
		code = seal_all(b, snapshot, starts, sorted, err);
	}
	if (code == 0)
		code = store_close(&b->sorted, err);
	for (i = 0; i < b->nextents && code == 0; i++) {
		uint32_t q = b->extents[i].queue;

		if (i == 0 || b->extents[i - 1].queue != q)
			place_segments(&b->queues[q], sorted[q] ? b->sorted.bytes : b->store.bytes,
				       starts + i);
	}
	free(starts);
	free(sorted);
	return code;
}

size_t vt_pt_buffers_count(const struct vt_pt_buffers *b)
{
	return b->nqueues;
}

const struct vt_pt_queue *vt_pt_buffers_queue(const struct vt_pt_buffers *b, size_t i)
{
	return &b->queues[i];
}

void vt_pt_queue_name(const struct vt_pt_queue *q, const char *input, char name[VT_PT_QUEUE_NAME])
{
	const char *slash = input ? strrchr(input, '/') : NULL;
	const bool cpu = q->cpu >= 0;

	snprintf(name, VT_PT_QUEUE_NAME, "%.32s, %s %" PRId64,
		 slash	 ? slash + 1
		 : input ? input
			 : "",
		 cpu ? "CPU" : "thread", cpu ? q->cpu : q->tid);
}

void vt_pt_queue_gap(const struct vt_pt_queue *q, const struct vt_pt_gap *gap, struct vt_writer *w)
{
	uint64_t *row = vt_writer_row(w, VT_GAP);

	row[VT_GAP_TIME] = gap->time;
	row[VT_GAP_PID] = (uint64_t)gap->pid;
	row[VT_GAP_TID] = (uint64_t)gap->tid;
	row[VT_GAP_CPU] = q->cpu < 0 ? 0 : (uint64_t)q->cpu;
	row[VT_GAP_OFFSET] = gap->offset;
	row[VT_GAP_BYTES] = gap->bytes;
	vt_writer_text(w, VT_GAP_REASON, gap->reason);
	vt_writer_text(w, VT_GAP_INPUT, gap->name);
}
