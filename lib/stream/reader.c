/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/reader.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stream/frame_internal.h"
#include "stream/header_internal.h"
#include "stream/reader_internal.h"

static void set_gap_text(struct vt_column *c, struct vti_column_store *s, const char *text)
{
	c->bytes = (const uint8_t *)text;
	s->const_off[1] = (uint32_t)strlen(text);
}

/* Makes the pending gap, as a GAP record, the current row. */
static void return_gap(struct vt_reader *r)
{
	struct vti_block_store *b = &r->gap_store;

	set_gap_text(&b->columns[VT_GAP_REASON], &b->store[VT_GAP_REASON], r->gap.reason);
	set_gap_text(&b->columns[VT_GAP_INPUT], &b->store[VT_GAP_INPUT], r->in.name);
	b->store[VT_GAP_OFFSET].constant = r->gap.offset;
	b->store[VT_GAP_BYTES].constant = r->gap.bytes;
	b->store[VT_GAP_RECORDS].constant = r->gap.records;
	b->block.nrecords = 1;
	r->at = (struct vt_reader_rows){&b->block, VT_GAP, 0, 1};
	r->gap.open = false;
	r->gap.bytes = 0;
	r->gap.records = 0;
}

/* ---- returning records ---- */

int vt_reader_advance(struct vt_reader *r, struct vt_error *err)
{
	for (;;) {
		while (r->run < r->nruns) {
			const struct vti_run *run = &r->runs[r->run++];
			struct vti_slot *s = &r->slots[run->kind];

			if (!s->loaded || !run->count)
				continue;
			r->at.block = &s->store.block;
			r->at.kind = s->store.block.kind;
			r->at.row = s->given;
			r->at.end = s->given += run->count;
			assert(s->given <= s->store.block.nrecords);
			return 1;
		}
		if (r->gap.open) {
			return_gap(r);
			return 1;
		}
		if (r->at_end && r->damage.truncated && !r->trunc_reported) {
			r->trunc_reported = true;
			return vt_error_set(err, VT_E_TRUNC,
					    "%s: truncated at 0x%" PRIx64 ": no END record",
					    r->in.name, r->in.offset);
		}
		if (r->at_end)
			return 0;
		int code = r->channel ? vti_take_frame(r, err) : vti_load_frame(r, err);

		if (code < 0)
			return code;
		/* The gap comes before the frame that follows it. */
		if (r->gap.open && r->nruns) {
			return_gap(r);
			return 1;
		}
	}
}

int vt_reader_next_run(struct vt_reader *r, const struct vt_block **block, uint32_t *first,
		       uint32_t *count, struct vt_error *err)
{
	if (r->at.row == r->at.end) {
		int code = vt_reader_advance(r, err);

		if (code <= 0)
			return code;
	}
	*block = r->at.block;
	*first = r->at.row;
	*count = r->at.end - r->at.row;
	r->at.row = r->at.end;
	return 1;
}

/* ---- opening and closing ---- */

static int make_reader_slots(struct vt_reader *r, struct vt_error *err)
{
	static const struct vt_kind_desc no_fields = {0};
	const struct vt_kind_desc *gap = &r->schema.kinds[VT_GAP];
	uint32_t i;
	bool ok;

	r->slots = calloc(r->wire.nkinds + 1, sizeof(*r->slots));
	ok = r->slots && vti_block_store_init(&r->gap_store, VT_GAP, &no_fields, gap) &&
	     vt_array_grow(&r->runs, &r->runs_cap, r->wire.nkinds + 1, sizeof(*r->runs));
	for (i = 0; i < r->wire.nkinds && ok; i++) {
		const struct vt_kind_desc *k = &r->wire.kinds[i];
		int at = vt_schema_find(&r->schema, k->name);

		ok = vti_block_store_init(&r->slots[i].store, (uint32_t)at, k,
					  &r->schema.kinds[at]);
	}
	return ok ? 0 : vt_error_set(err, VT_E_NOMEM, "%s: out of memory", r->in.name);
}

static int decode_header_block(struct vt_reader *r, const struct vti_block_head *h,
			       struct vt_error *err)
{
	const uint8_t *stored = vt_input_data(&r->in) + VTI_BLOCK_SIZE;
	struct vt_buf raw = VT_BUF_INIT;
	struct vt_cursor c = vt_cursor_make(stored, h->stored_size, false);
	uint8_t crc[4];
	int code = 0;

	vt_put_le32(crc, h->payload_crc);
	r->chain = vti_crc32(0, crc, sizeof(crc));
	if (h->compression != VT_COMPRESS_NONE) {
		if (vti_decompress(&r->compressor, &raw, h->compression, stored, h->stored_size,
				   h->raw_size))
			c = vt_cursor_make(raw.data, raw.size, false);
		else if (raw.failed)
			code = vt_error_nomem(err);
		else
			code = vt_error_set(err, VT_E_DAMAGED, "the header cannot be decompressed");
	}
	if (code == 0)
		code = vti_header_decode(&c, &r->header, &r->schema, &r->wire, err);
	vt_buf_free(&raw);
	return code;
}

static int read_stream_header(struct vt_reader *r, struct vt_error *err)
{
	struct vti_block_head h;
	size_t have, need;
	int code = vt_input_fill(&r->in, VTI_PREAMBLE_SIZE + VTI_BLOCK_SIZE, &have, err);

	if (code < 0)
		return code;
	if (have < VTI_PREAMBLE_SIZE)
		return vt_error_set(err, VT_E_FORMAT, "%s: %zu bytes, not a vt stream", r->in.name,
				    have);
	code = vti_preamble_check(vt_input_data(&r->in), err);
	if (code < 0)
		return vt_error_prefix(err, "%s", r->in.name);
	if (have < VTI_PREAMBLE_SIZE + VTI_BLOCK_SIZE)
		return vt_error_set(err, VT_E_TRUNC, "%s: ends at 0x%zx, in the header", r->in.name,
				    have);
	vt_input_consume(&r->in, VTI_PREAMBLE_SIZE);
	if (!vti_block_decode(vt_input_data(&r->in), &h) || h.kind != VTI_BLOCK_HEADER ||
	    h.raw_size > VT_MAX_HEADER || h.stored_size > VT_MAX_HEADER ||
	    (h.compression == VT_COMPRESS_NONE && h.raw_size != h.stored_size))
		return vt_error_set(err, VT_E_DAMAGED, "%s: header at 0x%x: damaged", r->in.name,
				    VTI_PREAMBLE_SIZE);
	need = VTI_BLOCK_SIZE + h.stored_size;
	code = vt_input_fill(&r->in, need, &have, err);
	if (code < 0)
		return code;
	if (have < need)
		return vt_error_set(err, VT_E_TRUNC, "%s: ends at 0x%zx, in the header", r->in.name,
				    VTI_PREAMBLE_SIZE + have);
	if (vti_crc32(0, vt_input_data(&r->in) + VTI_BLOCK_SIZE, h.stored_size) != h.payload_crc)
		return vt_error_set(err, VT_E_DAMAGED, "%s: header at 0x%x: bad CRC", r->in.name,
				    VTI_PREAMBLE_SIZE);
	code = decode_header_block(r, &h, err);
	if (code < 0)
		return vt_error_prefix(err, "%s: header at 0x%x", r->in.name, VTI_PREAMBLE_SIZE);
	vt_input_consume(&r->in, need);
	return make_reader_slots(r, err);
}

static struct vt_reader *new_reader(const char *name, struct vt_error *err)
{
	struct vt_reader *r = calloc(1, sizeof(*r));

	if (!r) {
		vt_error_set(err, VT_E_NOMEM, "%s: out of memory", name);
		return NULL;
	}
	r->in.fd = -1;
	r->status = VT_STATUS_MISSING;
	if (vt_schema_init(&r->schema, err) < 0) {
		free(r);
		return NULL;
	}
	return r;
}

/* Completes opening a reader; `opened` is the result of opening its input. */
static struct vt_reader *open_reader(struct vt_reader *r, int opened, struct vt_error *err)
{
	if (opened == 0 && read_stream_header(r, err) == 0)
		return r;
	vt_reader_close(r);
	return NULL;
}

struct vt_reader *vt_reader_open(const char *path, struct vt_error *err)
{
	struct vt_reader *r = new_reader(path, err);

	return r ? open_reader(r, vt_input_open(&r->in, path, err), err) : NULL;
}

struct vt_reader *vt_reader_open_fd(int fd, const char *name, struct vt_error *err)
{
	struct vt_reader *r = new_reader(name, err);

	return r ? open_reader(r, vt_input_open_fd(&r->in, fd, name, err), err) : NULL;
}

struct vt_reader *vt_reader_open_input(struct vt_input *in, struct vt_error *err)
{
	struct vt_reader *r = new_reader(in->name, err);

	if (!r) {
		vt_input_close(in);
		return NULL;
	}
	r->in = *in;
	*in = (struct vt_input){.fd = -1};
	return open_reader(r, 0, err);
}

static int read_channel_header(struct vt_reader *r, const struct vt_buf *header,
			       struct vt_error *err)
{
	struct vt_cursor c;
	int code;

	if (!header)
		return vt_error_set(err, VT_E_TRUNC, "%s: ends in the header", r->in.name);
	c = vt_cursor_make(header->data, header->size, false);
	code = vti_header_decode(&c, &r->header, &r->schema, &r->wire, err);
	return code < 0 ? code : make_reader_slots(r, err);
}

struct vt_reader *vt_reader_open_channel(struct vt_channel *c, const char *name,
					 struct vt_error *err)
{
	struct vt_reader *r = new_reader(name, err);

	if (!r)
		return NULL;
	r->channel = c;
	if (vt_input_open_fd(&r->in, -1, name, err) == 0 &&
	    read_channel_header(r, vti_channel_join(c), err) == 0)
		return r;
	vt_reader_close(r);
	return NULL;
}

void vt_reader_close(struct vt_reader *r)
{
	uint32_t i;

	if (!r)
		return;
	for (i = 0; r->slots && i < r->wire.nkinds; i++) {
		vti_block_store_fini(&r->slots[i].store);
		vt_buf_free(&r->slots[i].raw);
	}
	vti_block_store_fini(&r->gap_store);
	free(r->slots);
	free(r->runs);
	vt_header_fini(&r->header);
	vt_schema_fini(&r->wire);
	vt_schema_fini(&r->schema);
	vti_compressor_fini(&r->compressor);
	vt_input_close(&r->in);
	vt_channel_free(r->channel);
	free(r);
}

void vt_reader_set_warn(struct vt_reader *r, vt_warn_fn *fn, void *arg)
{
	r->warn = fn;
	r->warn_arg = arg;
}

const char *vt_reader_name(const struct vt_reader *r)
{
	return r->in.name;
}

const struct vt_schema *vt_reader_schema(const struct vt_reader *r)
{
	return &r->schema;
}

const struct vt_header *vt_reader_header(const struct vt_reader *r)
{
	return &r->header;
}

const struct vt_damage *vt_reader_damage(const struct vt_reader *r)
{
	return &r->damage;
}

enum vt_status vt_reader_status(const struct vt_reader *r)
{
	return r->status;
}

const struct vt_failure *vt_reader_failure(const struct vt_reader *r)
{
	return *r->failure.program ? &r->failure : NULL;
}

uint64_t vt_reader_offset(const struct vt_reader *r)
{
	return r->in.offset;
}
