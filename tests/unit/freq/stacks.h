/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_FREQ_STACKS_H
#define TESTS_UNIT_FREQ_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "freq/stack_count.h"
#include "stream/writer.h"

/* Streams of branch stacks, and what is counted of them.  Each function fails the running test when
 * it cannot do its work. */

#define STACKS_BASE  0x10000 /* of what process 5 has mapped: 4096 bytes of the image 7 */
#define STACKS_ANY   8	     /* PERF_SAMPLE_BRANCH_ANY */
#define STACKS_CALLS 0x800   /* PERF_SAMPLE_BRANCH_CALL_STACK */

/* Added to the cycles of a branch. */
#define STACKS_MISPREDICTED (UINT64_C(1) << 32)
#define STACKS_PREDICTED    (UINT64_C(2) << 32)

/* The row, for what else is to be told; likewise below. */
uint64_t *stacks_event(struct vt_writer *w, uint64_t id, uint64_t branch_type);
void stacks_map(struct vt_writer *w, uint64_t pid, uint64_t start, uint64_t length, uint64_t image);

/* A stream with that mapping, the events 1 and 2 of all branches, and 3 of calls. */
struct vt_writer *stacks_begin(int fd);

/* A stack of up to 32 branches, newest first: {from, to, cycles}, from STACKS_BASE on. */
uint64_t *stacks_put(struct vt_writer *w, uint64_t event, uint64_t period,
		     const uint64_t (*branches)[3], size_t n);

/* Ends the stream and counts what is in it, in one thread or several; owned by the caller. */
struct vt_stackcount *stacks_read(struct vt_writer *w, int fd);
struct vt_stackcount *stacks_read_by(struct vt_writer *w, int fd, unsigned threads);

/* The one link of the image 7 that begins there. */
const struct vt_stackcount_link *stacks_only(const struct vt_stackcount *c, uint64_t event,
					     bool runs, uint64_t at);

bool stacks_near(double a, double b);

/* The four parts of a link. */
void stacks_assert_sum(const struct vt_stackcount_link *l, double a, double b, double c, double d);

#endif
