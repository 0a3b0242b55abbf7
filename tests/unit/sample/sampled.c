/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/sample/sampled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "tests/unit/common/streams.h"

void sampled_put_block(struct vt_writer *w, uint64_t id, int64_t pid, const struct sampled_block *b)
{
	uint64_t *row = vt_writer_row(w, VT_BLOCK);
	unsigned i;

	row[VT_BLOCK_ID] = id;
	row[VT_BLOCK_PID] = (uint64_t)pid;
	row[VT_BLOCK_ADDR] = b->addr;
	row[VT_BLOCK_INSNS] = b->ninsns;
	row[VT_BLOCK_END] = b->end;
	for (i = 0; i < b->ninsns; i++)
		row[VT_BLOCK_SIZE] += b->lengths[i];
	vt_writer_bytes(w, VT_BLOCK_LENGTHS, b->lengths, b->ninsns);
	vt_writer_words(w, VT_BLOCK_SLOTS, b->slots, b->nslots);
}

uint64_t *sampled_put_run(struct vt_writer *w, const struct sampled_run *r, const uint32_t *ids,
			  size_t n, const void *data, size_t size)
{
	uint64_t *row = vt_writer_row(w, VT_EXEC);
	uint8_t *packed = malloc(4 * n + 1);
	size_t i;

	assert_non_null(packed);
	for (i = 0; i < n; i++)
		vt_put_le32(packed + 4 * i, ids[i]);
	row[VT_EXEC_PID] = (uint64_t)r->pid;
	row[VT_EXEC_TID] = (uint64_t)r->tid;
	row[VT_EXEC_TIME] = r->time;
	row[VT_EXEC_FIRST] = r->first;
	row[VT_EXEC_CALLER] = r->caller;
	row[VT_EXEC_BLOCKS] = n;
	row[VT_EXEC_INSNS] = r->insns;
	row[VT_EXEC_SKIP] = r->skip;
	row[VT_EXEC_WIDTH] = 4;
	vt_writer_bytes(w, VT_EXEC_IDS, packed, 4 * n);
	vt_writer_bytes(w, VT_EXEC_DATA, data, size);
	free(packed);
	return row;
}

void sampled_put_timeconv(struct vt_writer *w, uint64_t shift, uint64_t mult)
{
	uint64_t *row = vt_writer_row(w, VT_TIMECONV);

	row[VT_TIMECONV_SHIFT] = shift;
	row[VT_TIMECONV_MULT] = mult;
}

static void keep_warning(void *arg, const char *text)
{
	vt_buf_printf(arg, "%s\n", text);
}

void sampled_take(struct sampled *s, int fd, struct vt_writer *w,
		  const struct vt_sampler_options *options)
{
	struct vt_reader *r = reread_stream(fd, w);
	const struct vt_reader *input = r;
	struct vt_writer_options how = {
		.compression = VT_COMPRESS_NONE, .inputs = &input, .ninputs = 1};
	struct vt_sampler_options o = *options;
	struct vt_sampler *sampler;
	const struct vt_block *block;
	uint32_t first, count;

	*s = (struct sampled){.err = VT_ERROR_INIT, .warnings = VT_BUF_INIT, .fd = scratch_file()};
	o.context = vt_context_new(NULL);
	o.warn = keep_warning;
	o.warn_arg = &s->warnings;
	w = vt_writer_open_fd(s->fd, "test", &how, &s->err);
	assert_non_null(w);
	sampler = vt_sampler_new(&o, w, &s->err);
	assert_non_null(sampler);
	while (s->code == 0 && vt_reader_next_run(r, &block, &first, &count, &s->err) > 0)
		s->code = vt_context_feed(o.context, block, first, count, &s->err);
	if (s->code == 0)
		s->code = vt_sampler_finish(sampler, &s->err);
	vt_sampler_free(sampler);
	vt_context_free(o.context);
	vt_reader_close(r);
	close(fd);
	s->r = reread_stream(s->fd, w);
}

void sampled_drop(struct sampled *s)
{
	vt_buf_free(&s->warnings);
	vt_reader_close(s->r);
	close(s->fd);
}
