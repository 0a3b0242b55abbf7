/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_SIDEBAND_BUFFERS_H
#define FORMATS_PT_SIDEBAND_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "formats/common/format.h"
#include "stream/record.h"
#include "stream/writer.h"

/*
 * The bytes of AUX areas, collected from AUXTRACE records: one queue for each buffer of the
 * recording, of a processor or of a thread.  Large amounts go to an unlinked temporary file.
 */

#define VT_PT_MAX_QUEUES 65536
#define VT_PT_MAX_PIECES 16777216

struct vt_pt_buffers;

/* Contiguous bytes of an area. */
struct vt_pt_segment {
	const uint8_t *bytes;
	size_t size;
	uint64_t missing;   /* bytes of the area that are missing before it */
	bool apart;	    /* in snapshots: an unknown amount is missing before it */
	uint64_t reference; /* of its first record: the TSC when it was read, for snapshots */
};

struct vt_pt_queue {
	uint32_t index;
	int64_t cpu; /* -1: a thread's */
	int64_t tid;
	uint64_t end; /* the offset in the area after its last byte */
	struct vt_pt_segment *segments;
	size_t nsegments;
};

/* `tmpdir` is borrowed.  Owned by the caller; NULL: no memory. */
struct vt_pt_buffers *vt_pt_buffers_new(const char *tmpdir);
void vt_pt_buffers_free(struct vt_pt_buffers *b);

/* Takes an AUXTRACE record.  0; -VT_E_NOMEM, -VT_E_WRITE, -VT_E_LIMIT. */
int vt_pt_buffers_add(struct vt_pt_buffers *b, const struct vt_record *rec, struct vt_error *err);

/* The same for a piece of an area that is not in a record. */
int vt_pt_buffers_piece(struct vt_pt_buffers *b, const struct vt_format_auxtrace *piece,
			struct vt_error *err);

/*
 * Makes the queues, after the last record.  With `snapshot` each record is a snapshot, and bytes
 * that were in the previous one are removed.  0 or a negative error.
 */
int vt_pt_buffers_seal(struct vt_pt_buffers *b, bool snapshot, struct vt_error *err);

/* After sealing, in the order of their first records; borrowed. */
size_t vt_pt_buffers_count(const struct vt_pt_buffers *b);
const struct vt_pt_queue *vt_pt_buffers_queue(const struct vt_pt_buffers *b, size_t i);

/*
 * Snapshots of a ring buffer that is overwritten.  Each has the last bytes of the trace at its
 * time, so the end of one may be the beginning of the next one, from its first PSB on.  The bytes
 * before the first PSB of a snapshot may be partly overwritten.
 *
 * Returns how many bytes at the start of `b` are in `a`, the previous snapshot, or come before the
 * first PSB.  *joined: b continues where a ends; nothing is missing between them.
 */
size_t vti_pt_overlap(const uint8_t *a, size_t asize, const uint8_t *b, size_t bsize, bool *joined);

/*
 * Names a queue for GAP records, by the input's name without folders and the processor or thread:
 * "perf.data, CPU 3".
 */
#define VT_PT_QUEUE_NAME 64
void vt_pt_queue_name(const struct vt_pt_queue *q, const char *input, char name[VT_PT_QUEUE_NAME]);

/* What is missing of a queue, while this thread ran; -1: not known. */
struct vt_pt_gap {
	uint64_t time;
	int64_t pid, tid;
	uint64_t offset, bytes;
	const char *reason;
	const char *name; /* of the queue */
};

/* Writes a GAP record; the writer keeps an error. */
void vt_pt_queue_gap(const struct vt_pt_queue *q, const struct vt_pt_gap *gap, struct vt_writer *w);

#endif
