/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_MARKS_H
#define VT_STREAM_MARKS_H

#include "base/hash.h"
#include "stream/exec.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The cycles of executed code: EXEC records may have the processor's counter of core cycles at the
 * beginning of some blocks.
 */

/* A block began at a cycle, after so many instructions of the run. */
struct vt_mark {
	uint64_t insns;
	double cycle; /* from the first mark on */
	double pace;  /* cycles of an instruction up to the next mark, */
	double rate;  /* and instructions of a cycle; of the last mark both are 0 */
};

struct vt_marks {
	struct vt_mark *marks; /* of the run, in order: both numbers increase */
	size_t n, cap;
	uint64_t first; /* cycles at the first mark, */
	uint64_t last;	/* and at the last one */
	struct vt_hash threads;
};

void vt_marks_init(struct vt_marks *m);
void vt_marks_fini(struct vt_marks *m);

/*
 * Replaces the marks by those of a run, which is at its beginning and stays there; without times,
 * there are none.  Runs of a thread come in their order.  Returns 0, -VT_E_NOMEM, or -VT_E_FORMAT
 * for a run whose blocks or times contradict each other; then there are no marks either.
 */
int vt_marks_find(struct vt_marks *m, const struct vt_exec *run, struct vt_error *err);

#ifdef __cplusplus
}
#endif
#endif
