/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "stream/frame_internal.h"
#include "stream/reader_internal.h"

/* Bytes of decoded columns that are kept from frame to frame. */
#define KEEP_BYTES ((size_t)16 << 20)

/* ---- damage ---- */

static void warn_damage(struct vt_reader *r, const char *fmt, ...) VT_PRINTF(2, 3);

static void warn_damage(struct vt_reader *r, const char *fmt, ...)
{
	char text[VT_ERROR_SIZE];
	va_list ap;

	if (!r->warn)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	r->warn(r->warn_arg, text);
}

/* Records damage at `offset`.  Damage without a good block in between extends the same gap. */
static void note_damage(struct vt_reader *r, uint64_t offset, uint64_t bytes, const char *why)
{
	r->damage.bytes += bytes;
	r->gap.bytes += bytes;
	if (r->gap.open)
		return;
	r->gap.open = true;
	r->gap.offset = offset;
	snprintf(r->gap.reason, sizeof(r->gap.reason), "%s", why);
}

static void note_damaged_block(struct vt_reader *r, uint64_t offset, uint64_t bytes,
			       const char *why)
{
	r->damage.blocks++;
	warn_damage(r, "%s: block at 0x%" PRIx64 ": %s%s", r->in.name, offset, why,
		    bytes ? ", skipped" : "");
	note_damage(r, offset, bytes, why);
}

/* Handles the stream's statement that its next record is number `first`: others are missing. */
static void expect_record(struct vt_reader *r, uint64_t first)
{
	if (first < r->next_record)
		note_damaged_block(r, r->in.offset, 0, "numbers records that came before");
	if (first > r->next_record) {
		r->gap.records += first - r->next_record;
		r->damage.records += first - r->next_record;
		note_damage(r, r->in.offset, 0, "records are missing");
	}
	r->next_record = first;
}

/* ---- blocks ---- */

static int find_kind_slot(const struct vt_reader *r, uint32_t wire_id)
{
	uint32_t i;

	for (i = 0; i < r->wire.nkinds; i++)
		if (r->wire.kinds[i].wire_id == wire_id)
			return (int)i;
	return -1;
}

static bool append_run(struct vt_reader *r, uint32_t slot, uint32_t count)
{
	if (!vt_array_grow(&r->runs, &r->runs_cap, r->nruns + 1, sizeof(*r->runs)))
		return false;
	r->runs[r->nruns++] = (struct vti_run){slot, count};
	return true;
}

static const char *decode_order(struct vt_reader *r, struct vt_cursor *c, uint32_t nrecords)
{
	uint64_t sum = 0;

	if (r->ordered || r->nruns)
		return "second order in a frame";
	while (vt_cursor_left(c)) {
		int slot = find_kind_slot(r, (uint32_t)vt_cursor_varint(c));
		uint64_t count = vt_cursor_varint(c);

		if (c->bad || slot < 0 || !count || count > VTI_MAX_FRAME_RECORDS - sum) {
			r->nruns = 0;
			return "bad order";
		}
		sum += count;
		if (!append_run(r, (uint32_t)slot, (uint32_t)count)) {
			r->nruns = 0;
			return vti_no_memory;
		}
	}
	assert(sum <= VTI_MAX_FRAME_RECORDS);
	r->ordered = sum == nrecords;
	if (!r->ordered)
		r->nruns = 0;
	return r->ordered ? NULL : "bad order";
}

/* Decodes a block of records into its slot.  `p` is the decompressed payload. */
static const char *decode_record_block(struct vt_reader *r, const struct vti_block_head *h,
				       int slot, const uint8_t *p)
{
	struct vt_cursor c = vt_cursor_make(p, h->raw_size, false);
	struct vti_slot *s = &r->slots[slot];
	const char *why;

	if (h->nrecords > VTI_MAX_FRAME_RECORDS - r->frame_records)
		return "frame over its record limit";
	why = vti_block_store_decode(&s->store, &c, h->nrecords, &r->budget);
	if (why)
		return why;
	if (!r->ordered && !append_run(r, (uint32_t)slot, h->nrecords))
		return vti_no_memory;
	s->loaded = true;
	s->given = 0;
	r->frame_records += h->nrecords;
	assert(r->frame_records <= VTI_MAX_FRAME_RECORDS);
	return NULL;
}

/*
 * Returns the decompressed payload, in memory that is valid as long as the frame: in the input's
 * window if the frame is only this block, otherwise in `raw`.  Returns NULL and the reason in *why.
 */
static const uint8_t *unpack_payload(struct vt_reader *r, const struct vti_block_head *h,
				     const uint8_t *stored, struct vt_buf *raw, const char **why)
{
	bool alone = !r->nruns && (h->flags & VTI_LAST_OF_FRAME);

	*why = vti_no_memory;
	if (h->compression == VT_COMPRESS_NONE && h->raw_size != h->stored_size) {
		*why = "two sizes for a plain block";
		return NULL;
	}
	/* Columns of equal values cost none of the budget, but a few bytes each. */
	if (h->raw_size > r->budget + VT_MAX_FIELDS * 64) {
		*why = "frame over its size limit";
		return NULL;
	}
	if (h->compression == VT_COMPRESS_NONE && alone)
		return stored;
	if (h->compression == VT_COMPRESS_NONE) {
		raw->size = 0;
		vt_buf_put(raw, stored, h->stored_size);
		return raw->failed ? NULL : vt_buf_reserve(raw, 1) ? raw->data : NULL;
	}
	if (vti_decompress(&r->compressor, raw, h->compression, stored, h->stored_size,
			   h->raw_size))
		return raw->data;
	if (!raw->failed)
		*why = "cannot be decompressed";
	return NULL;
}

static const char *decode_payload(struct vt_reader *r, const struct vti_block_head *h,
				  const uint8_t *stored)
{
	struct vt_buf order = VT_BUF_INIT;
	const char *why = NULL;
	const uint8_t *p;
	int slot;

	if (h->kind == VTI_BLOCK_ORDER) {
		p = unpack_payload(r, h, stored, &order, &why);
		if (p) {
			struct vt_cursor c = vt_cursor_make(p, h->raw_size, false);

			why = decode_order(r, &c, h->nrecords);
		}
		vt_buf_free(&order);
		return why;
	}
	slot = find_kind_slot(r, h->kind);
	if (slot < 0)
		return "kind of record that the header does not declare";
	if (r->slots[slot].loaded)
		return "second block of its kind in a frame";
	p = unpack_payload(r, h, stored, &r->slots[slot].raw, &why);
	if (p)
		why = decode_record_block(r, h, slot, p);
	/* Free the memory, or many bad blocks would add up: they need not use the frame's budget.
	 */
	if (why) {
		vt_buf_free(&r->slots[slot].raw);
		vti_block_store_trim(&r->slots[slot].store);
	}
	return why;
}

/* Decodes a text of at most `max` bytes into a C string, or sets the cursor's `bad`. */
static void decode_end_text(struct vt_cursor *c, char *to, size_t max)
{
	uint64_t size = vt_cursor_varint(c);
	const uint8_t *p = size <= max ? vt_cursor_take(c, size) : NULL;

	if (!p || c->bad || memchr(p, 0, (size_t)size)) {
		c->bad = true;
		return;
	}
	memcpy(to, p, (size_t)size);
	to[size] = '\0';
}

/* Decodes the failure after the counts of kinds, if there is one. */
static void decode_failure(struct vt_cursor *c, struct vt_failure *f)
{
	uint64_t n = vt_cursor_varint(c);

	for (n = n <= VT_MAX_KINDS ? 2 * n : 0; n && !c->bad; n--)
		vt_cursor_varint(c);
	if (c->bad || !vt_cursor_left(c))
		return;
	decode_end_text(c, f->program, VT_MAX_PROGRAM);
	if (!c->bad)
		decode_end_text(c, f->why, sizeof(f->why) - 1);
	c->bad = c->bad || !*f->program;
}

static void decode_end(struct vt_reader *r, const uint8_t *p, size_t size, uint32_t chain)
{
	struct vt_cursor c = vt_cursor_make(p, size, false);
	uint64_t status = vt_cursor_varint(&c);
	uint64_t total = vt_cursor_varint(&c);
	const uint8_t *sum = vt_cursor_take(&c, 4);
	struct vt_failure failure = {.program = ""};

	if (status == VT_STATUS_INTERRUPTED)
		decode_failure(&c, &failure);
	if (c.bad || status >= VT_STATUS_MISSING || total < r->next_record) {
		note_damaged_block(r, r->in.offset, size, "bad END record");
		return;
	}
	r->status = (enum vt_status)status;
	r->failure = failure;
	expect_record(r, total);
	if (!r->damage.blocks && !r->damage.bytes && vt_le32(sum) != chain)
		note_damaged_block(r, r->in.offset, 0,
				   "blocks do not add up to the END record's checksum");
}

/* ---- frames ---- */

/* Finds the next block header after damage.  Returns 1, 0 at the end of input, or an error. */
static int resync(struct vt_reader *r, struct vt_error *err)
{
	uint64_t start = r->in.offset;
	struct vti_block_head h;
	size_t have = 0;
	int code;

	vt_input_consume(&r->in, 1);
	for (;;) {
		code = vt_input_fill(&r->in, VTI_BLOCK_SIZE, &have, err);
		if (code < 0)
			return code;
		if (have < VTI_BLOCK_SIZE) {
			vt_input_consume(&r->in, have);
			break;
		}
		vt_input_consume(&r->in, vti_find_mark(vt_input_data(&r->in), have));
		code = vt_input_fill(&r->in, VTI_BLOCK_SIZE, &have, err);
		if (code < 0)
			return code;
		if (have >= VTI_BLOCK_SIZE) {
			if (vti_block_decode(vt_input_data(&r->in), &h))
				break;
			vt_input_consume(&r->in, 1);
		}
	}
	r->damage.blocks++;
	note_damage(r, start, r->in.offset - start, "no block header");
	warn_damage(r, "%s: block at 0x%" PRIx64 ": no block header, %" PRIu64 " bytes skipped",
		    r->in.name, start, r->in.offset - start);
	return have >= VTI_BLOCK_SIZE;
}

/* Skips bytes after the END record, as a gap whose size does not depend on how they are read. */
static int skip_rest(struct vt_reader *r, struct vt_error *err)
{
	uint64_t start = r->in.offset;
	size_t have = 0;
	int code = vt_input_fill(&r->in, 1, &have, err);

	if (code < 0 || !have)
		return code;
	warn_damage(r, "%s: at 0x%" PRIx64 ": bytes after the END record, ignored", r->in.name,
		    start);
	while (code == 0 && have) {
		vt_input_consume(&r->in, have);
		code = vt_input_fill(&r->in, 1, &have, err);
	}
	note_damage(r, start, r->in.offset - start, "bytes after the END record");
	return code;
}

static int finish_stream(struct vt_reader *r, const struct vti_block_head *h, struct vt_error *err)
{
	const uint8_t *stored = vt_input_data(&r->in) + VTI_BLOCK_SIZE;
	struct vt_buf raw = VT_BUF_INIT;
	const uint8_t *p = stored;

	if (h->compression == VT_COMPRESS_NONE && h->raw_size != h->stored_size)
		p = NULL;
	else if (h->compression != VT_COMPRESS_NONE)
		p = h->raw_size <= VT_MAX_HEADER &&
				    vti_decompress(&r->compressor, &raw, h->compression, stored,
						   h->stored_size, h->raw_size)
			    ? raw.data
			    : NULL;
	if (raw.failed) {
		vt_buf_free(&raw);
		return vt_error_set(err, VT_E_NOMEM, "%s: out of memory", r->in.name);
	}
	if (p)
		decode_end(r, p, p == stored ? h->stored_size : h->raw_size, r->chain);
	else
		note_damaged_block(r, r->in.offset, h->stored_size, "bad END record");
	vt_buf_free(&raw);
	vt_input_consume(&r->in, VTI_BLOCK_SIZE + h->stored_size);
	r->at_end = true;
	return skip_rest(r, err);
}

/* Frees memory of slots if all kinds together keep too much from large frames. */
static void trim_slots(struct vt_reader *r)
{
	size_t kept = 0;
	uint32_t i;

	if (r->spent < KEEP_BYTES)
		return;
	r->spent = 0;
	for (i = 0; i < r->wire.nkinds; i++)
		kept += vti_block_store_kept(&r->slots[i].store) + r->slots[i].raw.cap;
	for (i = 0; kept > KEEP_BYTES && i < r->wire.nkinds; i++) {
		vti_block_store_trim(&r->slots[i].store);
		vt_buf_free(&r->slots[i].raw);
	}
}

static void begin_frame(struct vt_reader *r, const struct vti_block_head *h)
{
	uint32_t i;

	trim_slots(r);
	for (i = 0; i < r->wire.nkinds; i++)
		r->slots[i].loaded = false;
	expect_record(r, h->first_record);
	r->loading = true;
	r->frame = h->frame;
	r->frame_records = 0;
	r->ordered = false;
	r->nruns = 0;
	r->run = 0;
	r->budget = VTI_MAX_FRAME_BYTES;
}

/* Replaces an order that does not fit the blocks of the frame by one block after the other. */
static void check_order(struct vt_reader *r)
{
	size_t i;

	if (!r->ordered)
		return;
	for (i = 0; i < r->nruns; i++)
		r->slots[r->runs[i].kind].given += r->runs[i].count;
	for (i = 0; i < r->wire.nkinds; i++) {
		struct vti_slot *s = &r->slots[i];

		if (s->loaded && s->given != s->store.block.nrecords)
			r->ordered = false;
		s->given = 0;
	}
	if (r->ordered)
		return;
	note_damaged_block(r, r->in.offset, 0, "order does not fit the blocks before");
	r->nruns = 0;
	/* This cannot fail: make_reader_slots() allocated a run for each kind. */
	for (i = 0; i < r->wire.nkinds; i++)
		if (r->slots[i].loaded)
			append_run(r, (uint32_t)i, r->slots[i].store.block.nrecords);
}

/* Ends a frame.  The order has its number of records, so those of damaged blocks are counted. */
static void end_frame(struct vt_reader *r)
{
	uint64_t total = 0;
	size_t i;

	check_order(r);
	for (i = 0; i < r->nruns; i++)
		total += r->runs[i].count;
	if (total > r->frame_records)
		expect_record(r, r->next_record + total - r->frame_records);
	r->next_record += r->frame_records;
	r->spent += VTI_MAX_FRAME_BYTES - r->budget;
	r->loading = false;
}

/*
 * Ends a stream without an END record; `left` bytes of an unfinished block are in the window.
 * There is no warning, because -VT_E_TRUNC reports it.
 */
static void end_truncated(struct vt_reader *r, size_t left)
{
	uint64_t offset = r->in.offset;

	if (r->loading)
		end_frame(r);
	vt_input_consume(&r->in, left);
	r->damage.truncated = true;
	r->at_end = true;
	note_damage(r, offset, left, "truncated");
}

/* Loads a block with a valid header.  Sets *frame_done if the current frame is now complete. */
static int load_block(struct vt_reader *r, const struct vti_block_head *h, bool *frame_done,
		      struct vt_error *err)
{
	size_t size = VTI_BLOCK_SIZE + h->stored_size;
	const uint8_t *stored;
	const char *why;
	uint8_t crc[4];
	size_t have;
	int code = vt_input_fill(&r->in, size, &have, err);

	if (code < 0)
		return code;
	if (have < size) {
		*frame_done = true;
		end_truncated(r, have);
		return 0;
	}
	stored = vt_input_data(&r->in) + VTI_BLOCK_SIZE;
	if (vti_crc32(0, stored, h->stored_size) != h->payload_crc) {
		why = "bad CRC";
	} else if (h->kind == VTI_BLOCK_END) {
		*frame_done = true;
		return finish_stream(r, h, err);
	} else {
		why = h->kind == VTI_BLOCK_HEADER ? "second header" : NULL;
	}
	vt_put_le32(crc, h->payload_crc);
	r->chain = vti_crc32(r->chain, crc, sizeof(crc));
	if (!r->loading)
		begin_frame(r, h);
	if (!why)
		why = decode_payload(r, h, stored);
	if (why == vti_no_memory)
		return vt_error_set(err, VT_E_NOMEM, "%s: block at 0x%" PRIx64 ": out of memory",
				    r->in.name, r->in.offset);
	if (why)
		note_damaged_block(r, r->in.offset, size, why);
	*frame_done = h->flags & VTI_LAST_OF_FRAME;
	if (*frame_done) {
		end_frame(r);
		r->held = size;
	} else {
		vt_input_consume(&r->in, size);
	}
	return 0;
}

int vti_load_frame(struct vt_reader *r, struct vt_error *err)
{
	struct vti_block_head h;
	bool done = false;
	size_t have;
	int code = 0;

	vt_input_consume(&r->in, r->held);
	r->held = 0;
	r->nruns = 0;
	r->run = 0;
	while (!done && !r->at_end) {
		code = vt_input_fill(&r->in, VTI_BLOCK_SIZE, &have, err);
		if (code < 0)
			return code;
		if (have < VTI_BLOCK_SIZE) {
			end_truncated(r, have);
			return 0;
		}
		if (!vti_block_decode(vt_input_data(&r->in), &h)) {
			code = resync(r, err);
			if (code < 0)
				return code;
			continue;
		}
		/* The rest of the frame is lost: return what there is.  The next call continues
		 * here. */
		if (r->loading && (h.frame != r->frame || h.kind == VTI_BLOCK_END)) {
			end_frame(r);
			return 0;
		}
		code = load_block(r, &h, &done, err);
		if (code < 0)
			return code;
	}
	return 0;
}
