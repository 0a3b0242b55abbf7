/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_SAMPLE_SAMPLED_H
#define TESTS_UNIT_SAMPLE_SAMPLED_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "sample/sampler.h"
#include "stream/reader.h"
#include "stream/writer.h"

/* Streams of executed code that are sampled. Each function fails the running test when it cannot do
 * its work. */

#define SAMPLED_SLOT(insn, what, size) ((insn) | (uint64_t)(what) << 16 | (uint64_t)(size) << 32)

struct sampled_block {
	uint64_t addr;
	uint8_t ninsns;
	uint8_t lengths[4];
	enum vt_block_end end;
	uint8_t nslots;
	uint64_t slots[4];
};

struct sampled_run {
	int64_t pid;
	int64_t tid;
	uint64_t time;
	uint64_t first;
	uint64_t caller;
	uint64_t skip;
	uint64_t insns;
};

void sampled_put_block(struct vt_writer *w, uint64_t id, int64_t pid,
		       const struct sampled_block *b);

/* A run of blocks with ids of 4 bytes; its numbers, for what else is to be told. */
uint64_t *sampled_put_run(struct vt_writer *w, const struct sampled_run *r, const uint32_t *ids,
			  size_t n, const void *data, size_t size);
void sampled_put_timeconv(struct vt_writer *w, uint64_t shift, uint64_t mult);

/* A sampler's input and output, and what came of it. */
struct sampled {
	int code; /* the first that is negative, of feeding or of the end */
	struct vt_error err;
	struct vt_buf warnings; /* a line each */
	struct vt_reader *r;	/* of the output */
	int fd;
};

/* Ends the stream, which is closed, and samples it. */
void sampled_take(struct sampled *s, int fd, struct vt_writer *w,
		  const struct vt_sampler_options *o);
void sampled_drop(struct sampled *s);

#endif
