/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_SIDEBAND_BUFFERS_H
#define FORMATS_PT_SIDEBAND_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "formats/common/format.h"
#include "stream/record.h"

/*
 * The bytes of AUX areas, gathered from AUXTRACE records: one queue for each buffer of the
 * recording, of a processor or of a thread.  They lie in an unlinked temporary file once they are
 * many.
 */

#define VT_PT_MAX_QUEUES 65536
#define VT_PT_MAX_PIECES 16777216

struct vt_pt_buffers;

/* Bytes that follow one another without a hole. */
struct vt_pt_segment {
	const uint8_t *bytes;
	size_t size;
	uint64_t missing;   /* bytes of the area before it that are not there */
	bool apart;	    /* in snapshots: an unknown amount is missing before it */
	uint64_t reference; /* of its first record: the TSC when it was read, for snapshots */
};

struct vt_pt_queue {
	uint32_t index;
	int64_t cpu; /* -1: a thread's */
	int64_t tid;
	uint64_t end; /* the offset in the area behind its last byte */
	struct vt_pt_segment *segments;
	size_t nsegments;
};

/* `tmpdir` is borrowed.  Owned by the caller; NULL: no memory. */
struct vt_pt_buffers *vt_pt_buffers_new(const char *tmpdir);
void vt_pt_buffers_free(struct vt_pt_buffers *b);

/* Takes an AUXTRACE record.  0; -VT_E_NOMEM, -VT_E_WRITE, -VT_E_LIMIT. */
int vt_pt_buffers_add(struct vt_pt_buffers *b, const struct vt_record *rec, struct vt_error *err);

/* As it, for those who have no record yet. */
int vt_pt_buffers_piece(struct vt_pt_buffers *b, const struct vt_format_auxtrace *piece,
			struct vt_error *err);

/*
 * All has come: makes the queues.  In `snapshot` mode each record is a snapshot, and what one has
 * in common with the one before it is taken away.  0 or a negative error.
 */
int vt_pt_buffers_seal(struct vt_pt_buffers *b, bool snapshot, struct vt_error *err);

/* After sealing, in the order of their first records; borrowed. */
size_t vt_pt_buffers_count(const struct vt_pt_buffers *b);
const struct vt_pt_queue *vt_pt_buffers_queue(const struct vt_pt_buffers *b, size_t i);

/*
 * Snapshots of a ring buffer that is overwritten: each shows what the trace's last bytes were then,
 * so that two of them may have bytes in common: the end of the earlier one is then the begin of the
 * later one, from a PSB on (what lies before the first PSB of a snapshot may be overwritten in
 * part).
 */

/*
 * How many bytes at the start of `b` were in `a`, the snapshot before it, or are of no use because
 * they come before a PSB.  *joined: b goes on where a ends, nothing is missing between them.
 */
size_t vti_pt_overlap(const uint8_t *a, size_t asize, const uint8_t *b, size_t bsize, bool *joined);

#endif
