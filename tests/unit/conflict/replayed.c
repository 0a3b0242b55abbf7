/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/conflict/replayed.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "tests/unit/common/streams.h"

static struct vt_error err;

void replayed_put_block(struct vt_writer *w, uint64_t id, const struct replayed_code *c)
{
	uint64_t *row = vt_writer_row(w, VT_BLOCK);
	unsigned i, n;

	row[VT_BLOCK_ID] = id;
	row[VT_BLOCK_PID] = REPLAYED_PID;
	row[VT_BLOCK_ADDR] = c->addr;
	row[VT_BLOCK_INSNS] = c->ninsns;
	row[VT_BLOCK_MODE] = c->mode;
	for (i = 0; i < c->ninsns; i++)
		row[VT_BLOCK_SIZE] += c->lengths[i];
	vt_writer_bytes(w, VT_BLOCK_LENGTHS, c->lengths, c->ninsns);
	vt_writer_bytes(w, VT_BLOCK_CODE, c->code, c->code[0] ? row[VT_BLOCK_SIZE] : 0);
	for (n = 0; n < REPLAYED_SLOTS && c->slots[n]; n++)
		;
	vt_writer_words(w, VT_BLOCK_SLOTS, c->slots, n);
}

void replayed_put_blocks(struct replayed_maker *m, const struct replayed_code *codes, unsigned n)
{
	unsigned i;

	m->codes = codes;
	for (i = 0; i < n; i++)
		replayed_put_block(m->w, i, &codes[i]);
}

uint64_t *replayed_run(struct replayed_maker *m, const char *text, const uint64_t *values)
{
	uint64_t *row = vt_writer_row(m->w, VT_EXEC);
	uint8_t ids[64], data[512];
	size_t n, k, size = 0;

	for (n = 0; text[n]; n++) {
		const struct replayed_code *c = m->codes;

		while (c->name != text[n])
			c++;
		vt_put_le16(ids + 2 * n, (uint16_t)(c - m->codes));
		row[VT_EXEC_INSNS] += c->ninsns;
		for (k = 0; k < REPLAYED_SLOTS && c->slots[k]; k++) {
			unsigned what = c->slots[k] >> 16 & 0xffff;
			uint64_t value = what == VT_WHAT_GUARD ? 1 : 0x9000;

			if (values && what != VT_WHAT_LOAD && what != VT_WHAT_STORE)
				value = *values++;
			vt_put_le64(data + size, value);
			size += c->slots[k] >> 32;
		}
	}
	row[VT_EXEC_PID] = REPLAYED_PID;
	row[VT_EXEC_TID] = (uint64_t)m->tid;
	row[VT_EXEC_FIRST] = m->first;
	row[VT_EXEC_BLOCKS] = n;
	row[VT_EXEC_WIDTH] = 2;
	m->first += row[VT_EXEC_INSNS];
	vt_writer_bytes(m->w, VT_EXEC_IDS, ids, 2 * n);
	vt_writer_bytes(m->w, VT_EXEC_DATA, data, size);
	return row;
}

static void keep_warning(void *arg, const char *text)
{
	vt_buf_printf(arg, "%s\n", text);
}

struct vt_conflict_model replayed_model(void)
{
	struct vt_conflict_model m = *vt_conflict_model("generic");

	m.name = "usual";
	m.types = 1u << VT_CONFLICT_FORWARD;
	m.distance = 20;
	return m;
}

void replayed_take(struct replayed *s, const struct vt_replay_options *opt, replayed_put_fn *put)
{
	const struct vt_images_options none = {.warn = NULL};
	struct vt_replay_options o = *opt;
	struct replayed_maker m = {.tid = REPLAYED_TID};
	const struct vt_block *block;
	uint32_t first, count;

	*s = (struct replayed){.fd = scratch_file(), .model = replayed_model()};
	m.w = start_stream(s->fd);
	put(&m);
	s->r = reread_stream(s->fd, m.w);
	s->images = vt_images_new(&none, &err);
	if (!o.model)
		o.model = &s->model;
	o.images = s->images;
	o.warn = keep_warning;
	o.warn_arg = &s->warnings;
	s->rp = vt_replay_new(&o, &err);
	assert_non_null(s->rp);
	assert_int_equal(vt_replay_source(s->rp), VT_REPLAY_NOTHING);
	while (vt_reader_next_run(s->r, &block, &first, &count, &err) > 0)
		assert_int_equal(vt_replay_feed(s->rp, block, first, count, &err), 0);
	s->code = vt_replay_finish(s->rp, &err);
}

void replayed_drop(struct replayed *s)
{
	vt_buf_free(&s->warnings);
	vt_replay_free(s->rp);
	vt_images_free(s->images);
	vt_reader_close(s->r);
	close(s->fd);
}

static void add_pairs(struct vt_buf *b, const struct vt_replay *rp)
{
	size_t i;

	for (i = 0; i < rp->npairs; i++) {
		const struct vti_replay_pair *p = &rp->pairs[i];

		vt_buf_printf(b,
			      "%d:%d:%" PRIx64 "<%d:%" PRIx64 " %" PRIu64 "/%" PRIu64 " %" PRIu64
			      ",%" PRIu64 " *%" PRIu64 " ",
			      p->type, (int)p->image, p->offset, (int)p->earlier_image, p->earlier,
			      p->count, p->executions, p->distance, p->nearest, p->samples);
	}
}

void replayed_check(const struct replayed *s, const char *want)
{
	struct vt_buf text = VT_BUF_INIT;

	add_pairs(&text, s->rp);
	assert_string_equal(vt_buf_str(&text), want);
	vt_buf_free(&text);
}
