/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/freq/stacks.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "stream/kinds.h"
#include "stream/reader.h"
#include "tests/unit/common/streams.h"

static struct vt_error err;

uint64_t *stacks_event(struct vt_writer *w, uint64_t id, uint64_t branch_type)
{
	uint64_t *row = vt_writer_row(w, VT_EVENT);

	row[VT_EVENT_ID] = id;
	row[VT_EVENT_BRANCH_TYPE] = branch_type;
	return row;
}

void stacks_map(struct vt_writer *w, uint64_t pid, uint64_t start, uint64_t length, uint64_t image)
{
	uint64_t *row = vt_writer_row(w, VT_MAP);

	row[VT_MAP_PID] = pid;
	row[VT_MAP_START] = start;
	row[VT_MAP_LENGTH] = length;
	row[VT_MAP_IMAGE] = image;
	row[VT_MAP_PROT] = 5;
}

struct vt_writer *stacks_begin(int fd)
{
	struct vt_writer *w = start_stream(fd);
	uint64_t *row;

	stacks_event(w, 1, STACKS_ANY);
	stacks_event(w, 2, STACKS_ANY);
	stacks_event(w, 3, STACKS_ANY | STACKS_CALLS);
	stacks_event(w, 6, STACKS_ANY);
	vt_writer_text(w, VT_EVENT_NAME, "BR_INST_RETIRED.NEAR_TAKEN:upp");
	row = vt_writer_row(w, VT_IMAGE);
	row[VT_IMAGE_ID] = 7;
	vt_writer_text(w, VT_IMAGE_PATH, "/x");
	stacks_map(w, 5, STACKS_BASE, 4096, 7);
	return w;
}

uint64_t *stacks_put(struct vt_writer *w, uint64_t event, uint64_t period,
		     const uint64_t (*branches)[3], size_t n)
{
	uint64_t *row = vt_writer_row(w, VT_SAMPLE), from[32], to[32], flags[32];
	size_t i;

	row[VT_SAMPLE_PID] = 5;
	row[VT_SAMPLE_EVENT] = event;
	row[VT_SAMPLE_PERIOD] = period;
	for (i = 0; i < n; i++) {
		from[i] = STACKS_BASE + branches[i][0];
		to[i] = STACKS_BASE + branches[i][1];
		flags[i] = (branches[i][2] & 0xffff) << 4 | branches[i][2] >> 32;
	}
	vt_writer_words(w, VT_SAMPLE_BR_FROM, from, n);
	vt_writer_words(w, VT_SAMPLE_BR_TO, to, n);
	vt_writer_words(w, VT_SAMPLE_BR_FLAGS, flags, n);
	return row;
}

struct vt_stackcount *stacks_read_by(struct vt_writer *w, int fd, unsigned threads)
{
	struct vt_context *context = vt_context_new(NULL);
	struct vt_stackcount *c = vt_stackcount_new(context, threads);
	struct vt_reader *r = reread_stream(fd, w);
	const struct vt_block *block;
	uint32_t first, count;

	assert_non_null(c);
	vt_context_add(context, &(struct vt_consumer){.record = vt_stackcount_feed,
						      .arg = c,
						      .kinds = VT_STACKCOUNT_KINDS});
	while (vt_reader_next_run(r, &block, &first, &count, &err) > 0)
		assert_int_equal(vt_context_feed(context, block, first, count, &err), 0);
	vt_reader_close(r);
	close(fd);
	assert_int_equal(vt_stackcount_finish(c, &err), 0);
	vt_context_free(context);
	return c;
}

struct vt_stackcount *stacks_read(struct vt_writer *w, int fd)
{
	return stacks_read_by(w, fd, 1);
}

const struct vt_stackcount_link *stacks_only(const struct vt_stackcount *c, uint64_t event,
					     bool runs, uint64_t at)
{
	size_t n;
	const struct vt_stackcount_link *l =
		vt_stackcount_links(c, event, 7, 0, runs, at, at + 1, &n);

	assert_int_equal(n, 1);
	return l;
}

bool stacks_near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

void stacks_assert_sum(const struct vt_stackcount_link *l, double a, double b, double c, double d)
{
	assert_true(stacks_near(l->sum.parts[0], a));
	assert_true(stacks_near(l->sum.parts[1], b));
	assert_true(stacks_near(l->sum.parts[2], c));
	assert_true(stacks_near(l->sum.parts[3], d));
	assert_true(stacks_near(vt_stackcount_count(&l->sum), a + b + c + d));
}
