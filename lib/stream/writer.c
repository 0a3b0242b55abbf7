/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/writer.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/output.h"
#include "stream/channel_internal.h"
#include "stream/column_internal.h"
#include "stream/compress_blocks_internal.h"
#include "stream/frame_internal.h"
#include "stream/header_internal.h"

/*
 * A frame is written when it has this many rows of one kind, or this many bytes: enough that
 * headers cost nothing, and few enough that the frame stays in the second-level cache.
 */
#define FLUSH_RECORDS 8192
#define FLUSH_BYTES   ((ptrdiff_t)512 * 1024)

/* A larger buffer of texts is freed when the frame is written. */
#define KEEP_BYTES ((size_t)2 << 20)

/*
 * Rows are filled in a tile that stays in the first-level cache, and are appended to the columns a
 * tile at a time.
 */
#define TILE_ROWS 32

/* The records of one kind in the frame that is not yet written. */
struct staged {
	uint64_t *tile; /* TILE_ROWS rows of `stride` numbers (S, B, A: lengths), 0 if unused */
	uint32_t ntile;
	uint32_t stride;	    /* of the tile: the number of fields, but at least 1 */
	size_t run_start;	    /* the row where the current run began */
	struct vti_frame_kind rows; /* the rows before those of the tile */
	uint64_t total;		    /* records of this kind in the frames already written */
};

#define NO_RUN UINT32_MAX

/* Maps the kinds and fields of an input's schema to the writer's. */
struct mapping {
	const struct vt_schema *from;
	int16_t kind[VT_MAX_KINDS];
	int16_t (*field)[VT_MAX_FIELDS];
};

struct vt_writer {
	struct vt_writer_rows at; /* first: vt_writer_row() relies on it */
	struct vt_output out;
	struct vt_channel *channel; /* instead of bytes in `out`; or NULL */
	struct vt_schema schema;
	struct staged *staged; /* one for each kind */
	struct vti_run *runs;
	size_t nruns;
	size_t runs_cap;
	uint32_t run_kind; /* of the current run, which is not yet in `runs`; or NO_RUN */
	ptrdiff_t room;	   /* bytes until the frame is full; negative once it is */
	size_t largest;	   /* maximum bytes of a frame without its tiles */
	uint64_t written;  /* records in earlier frames */
	uint32_t frame;
	uint32_t chain; /* CRC-32 over the payload CRCs of all blocks written so far */
	struct vt_buf raw;
	struct vti_packing packing;
	struct staged *current; /* of the row started last */
	bool failed;		/* memory ran out, or a record was too large: see err */
	struct vt_error err;
	struct mapping *mappings;
	size_t nmappings;
};

static void set_failed(struct vt_writer *w, enum vt_errcode code, const char *why)
{
	if (!w->failed)
		vt_error_set(&w->err, code, "%s: %s", w->out.name, why);
	w->failed = true;
}

/* ---- blocks ---- */

static void write_block(void *arg, const struct vti_outgoing *b)
{
	struct vt_writer *w = arg;
	const struct vt_buf *payload = vti_outgoing_payload(b);
	uint8_t head[VTI_BLOCK_SIZE];
	uint8_t crc[4];

	vt_put_le32(crc, b->head.payload_crc);
	w->chain = vti_crc32(w->chain, crc, sizeof(crc));
	/* Never write what a reader rejects. */
	assert(b->raw.size <= VTI_MAX_STORED && payload->size <= VTI_MAX_STORED);
	assert(b->head.nrecords <= VTI_MAX_FRAME_RECORDS &&
	       b->head.compression <= VT_COMPRESS_ZSTD);
	vti_block_encode(head, &b->head);
	vt_output_put(&w->out, head, sizeof(head));
	vt_output_put(&w->out, payload->data, payload->size);
}

static void queue_block(struct vt_writer *w, unsigned kind, uint32_t nrecords, unsigned flags)
{
	const struct vti_block_head h = {
		.kind = (uint16_t)kind,
		.nrecords = nrecords,
		.flags = (uint8_t)flags,
		.frame = w->frame,
		.first_record = w->written,
	};

	if (w->raw.failed)
		set_failed(w, VT_E_NOMEM, "out of memory");
	else
		vti_packing_put(&w->packing, &h, &w->raw);
}

/* Copies a field of n rows.  Returns the bits in which any of them differs from `constant`. */
static inline uint64_t copy_tile_field(uint64_t *to, const uint64_t *from, size_t step, size_t n,
				       uint64_t constant)
{
	uint64_t differ = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		uint64_t x = from[i * step];

		to[i] = x;
		differ |= x ^ constant;
	}
	return differ;
}

/*
 * Appends field f of the tile's rows to its column, which is allocated at the first difference, and
 * adds what it takes to *halves: two for each number that is stored, and one where a column is
 * still constant, which takes no memory, but frames should not get too long either.
 */
static bool append_tile_field(struct staged *s, uint32_t f, size_t *halves)
{
	struct vti_frame_column *col = &s->rows.columns[f];
	uint64_t field[TILE_ROWS];
	uint64_t differ;
	size_t i;

	/* Nearly all tiles are full, and a loop of constant length is faster. */
	if (s->ntile == TILE_ROWS)
		differ = copy_tile_field(field, s->tile + f, s->stride, TILE_ROWS, col->constant);
	else
		differ = copy_tile_field(field, s->tile + f, s->stride, s->ntile, col->constant);
	*halves += s->ntile;
	if (!differ && !col->varies)
		return true;
	*halves += s->ntile + (col->varies ? 0 : s->rows.nrows);
	if (!vt_array_grow(&col->v, &col->cap, s->rows.nrows + TILE_ROWS, sizeof(*col->v)))
		return false;
	for (i = 0; !col->varies && i < s->rows.nrows; i++)
		col->v[i] = col->constant;
	col->varies = true;
	memcpy(col->v + s->rows.nrows, field, s->ntile * sizeof(*field));
	return true;
}

static void append_tile(struct vt_writer *w, struct staged *s)
{
	/* At a number a row or more, a full frame is well below the limit on records. */
	size_t halves = 2 * (size_t)s->ntile;
	uint32_t f;

	assert(s->ntile <= TILE_ROWS && s->stride >= s->rows.ncolumns);
	for (f = 0; f < s->rows.ncolumns && !w->failed; f++) {
		if (s->rows.nrows == 0)
			s->rows.columns[f].constant = s->tile[f];
		if (!append_tile_field(s, f, &halves))
			set_failed(w, VT_E_NOMEM, "out of memory");
	}
	memset(s->tile, 0, s->ntile * s->stride * sizeof(*s->tile));
	w->room -= (ptrdiff_t)(halves * sizeof(*s->tile) / 2);
	s->rows.nrows += s->ntile;
	s->ntile = 0;
}

static void encode_field(struct vt_writer *w, const struct staged *s, uint32_t f, enum vt_type type)
{
	struct vti_frame_column *col = &s->rows.columns[f];

	if (col->varies)
		vti_column_encode(&w->raw, col->v, s->rows.nrows);
	else
		vti_column_encode(&w->raw, &col->constant, 1);
	/* A vt_buf's memory comes from malloc(), so it is aligned for any type. */
	if (type == VT_TYPE_A)
		vti_column_encode(&w->raw, (const uint64_t *)(const void *)col->var.data,
				  col->var.size / sizeof(uint64_t));
	else
		vt_buf_put(&w->raw, col->var.data, col->var.size);
}

/* Empties a kind whose rows are written, or lost to an error. */
static void clear_kind(struct staged *s)
{
	uint32_t f;

	for (f = 0; f < s->rows.ncolumns; f++) {
		struct vti_frame_column *col = &s->rows.columns[f];

		col->varies = false;
		col->var.size = 0;
		/* Do not keep what one huge record needed. */
		if (col->var.cap > KEEP_BYTES)
			vt_buf_free(&col->var);
	}
	s->rows.nrows = 0;
	s->run_start = 0;
}

static void queue_kind(struct vt_writer *w, uint32_t kind, unsigned flags)
{
	const struct vt_kind_desc *desc = &w->schema.kinds[kind];
	struct staged *s = &w->staged[kind];
	uint32_t f;

	w->raw.size = 0;
	for (f = 0; f < s->rows.ncolumns; f++)
		encode_field(w, s, f, desc->fields[f].type);
	s->total += s->rows.nrows;
	queue_block(w, desc->wire_id, (uint32_t)s->rows.nrows, flags);
	clear_kind(s);
}

/* Counts the rows that vt_writer_row() has started in the current tile. */
static void count_tile_rows(struct vt_writer *w)
{
	struct staged *s = w->current;

	if (!s)
		return;
	assert(w->at.next >= s->tile && (size_t)(w->at.next - s->tile) % s->stride == 0);
	s->ntile = (uint32_t)((size_t)(w->at.next - s->tile) / s->stride);
}

static void end_run(struct vt_writer *w)
{
	struct staged *s;
	size_t rows;

	if (w->run_kind == NO_RUN)
		return;
	s = &w->staged[w->run_kind];
	if (!vt_array_grow(&w->runs, &w->runs_cap, w->nruns + 1, sizeof(*w->runs))) {
		set_failed(w, VT_E_NOMEM, "out of memory");
		return;
	}
	rows = s->rows.nrows + s->ntile;
	assert(rows >= s->run_start);
	w->runs[w->nruns++] = (struct vti_run){w->run_kind, (uint32_t)(rows - s->run_start)};
	s->run_start = rows;
	w->run_kind = NO_RUN;
	w->current = NULL;
	w->at.end = w->at.next = NULL;
	w->at.kind = NO_RUN;
}

static void queue_order(struct vt_writer *w, uint32_t nrecords)
{
	size_t i;

	w->raw.size = 0;
	for (i = 0; i < w->nruns; i++) {
		vt_buf_put_varint(&w->raw, w->schema.kinds[w->runs[i].kind].wire_id);
		vt_buf_put_varint(&w->raw, w->runs[i].count);
	}
	queue_block(w, VTI_BLOCK_ORDER, nrecords, 0);
}

static void queue_blocks(struct vt_writer *w, uint32_t kinds, uint64_t nrecords, uint32_t last)
{
	uint32_t k;

	if (kinds > 1 && !w->failed)
		queue_order(w, (uint32_t)nrecords);
	for (k = 0; k <= last; k++) {
		if (w->failed)
			clear_kind(&w->staged[k]);
		else if (w->staged[k].rows.nrows)
			queue_kind(w, k, k == last ? VTI_LAST_OF_FRAME : 0);
	}
}

/* Exchanges the staged records for what the reader has done with. */
static void swap_frame(struct vt_writer *w, struct vti_frame *f)
{
	struct vti_frame given = {f->kinds, f->nkinds, w->runs, w->nruns, w->runs_cap};
	uint32_t k;

	for (k = 0; k < f->nkinds; k++) {
		struct vti_frame_kind rows = w->staged[k].rows;

		w->staged[k].rows = f->kinds[k];
		f->kinds[k] = rows;
	}
	w->runs = f->runs;
	w->runs_cap = f->runs_cap;
	*f = given;
}

static void hand_frame_over(struct vt_writer *w)
{
	struct vti_frame *f = w->failed ? NULL : vti_channel_claim(w->channel);
	uint32_t k;

	if (f) {
		swap_frame(w, f);
		vti_channel_hand_over(w->channel);
	}
	for (k = 0; k < w->schema.nkinds; k++)
		clear_kind(&w->staged[k]);
}

/*
 * Passes all staged records on as one frame: as blocks, the order first if there are several kinds,
 * or through the channel.
 */
static void end_frame(struct vt_writer *w)
{
	uint32_t k, kinds = 0, last = 0;
	uint64_t nrecords = 0;

	end_run(w);
	for (k = 0; k < w->schema.nkinds; k++) {
		append_tile(w, &w->staged[k]);
		if (w->staged[k].rows.nrows) {
			kinds++;
			last = k;
			nrecords += w->staged[k].rows.nrows;
		}
	}
	if (!kinds)
		return;
	if (w->channel)
		hand_frame_over(w);
	else
		queue_blocks(w, kinds, nrecords, last);
	w->written += nrecords;
	w->frame++;
	w->nruns = 0;
	w->room = FLUSH_BYTES;
}

/* ---- opening ---- */

static int build_header(struct vt_writer *w, const struct vt_writer_options *opt,
			struct vt_error *err)
{
	struct vt_header h = {0};
	size_t i;
	int r = 0;

	for (i = 0; i < opt->ninputs && r == 0; i++) {
		r = vt_header_append(&h, vt_reader_header(opt->inputs[i]), err);
		if (r == 0)
			r = vt_schema_merge(&w->schema, vt_reader_schema(opt->inputs[i]), err);
	}
	if (r == 0 && opt->extra)
		r = vt_schema_merge(&w->schema, opt->extra, err);
	if (r == 0 && opt->stage)
		r = vt_header_add_stage(&h, opt->stage, err);
	if (r == 0) {
		vti_header_encode(&w->raw, &h, &w->schema);
		if (w->raw.failed)
			r = vt_error_nomem(err);
		else if (w->raw.size > VT_MAX_HEADER)
			r = vt_error_set(err, VT_E_LIMIT, "header over %d bytes", VT_MAX_HEADER);
	}
	vt_header_fini(&h);
	return r;
}

static int make_staging(struct vt_writer *w, struct vt_error *err)
{
	uint32_t k;

	w->largest = VTI_MAX_FRAME_BYTES;
	w->staged = calloc(w->schema.nkinds, sizeof(*w->staged));
	for (k = 0; w->staged && k < w->schema.nkinds; k++) {
		struct staged *s = &w->staged[k];

		s->rows.ncolumns = w->schema.kinds[k].nfields;
		s->stride = s->rows.ncolumns ? s->rows.ncolumns : 1;
		s->tile = calloc(TILE_ROWS, s->stride * sizeof(*s->tile));
		s->rows.columns = calloc(s->rows.ncolumns + 1, sizeof(*s->rows.columns));
		if (!s->tile || !s->rows.columns)
			return vt_error_nomem(err);
		w->largest -= TILE_ROWS * s->stride * sizeof(*s->tile);
	}
	w->room = FLUSH_BYTES;
	w->run_kind = NO_RUN;
	return w->staged ? 0 : vt_error_nomem(err);
}

static int make_mapping(struct vt_writer *w, struct mapping *m, const struct vt_schema *from,
			struct vt_error *err)
{
	uint32_t k, f;

	m->from = from;
	m->field = calloc(from->nkinds, sizeof(*m->field));
	if (!m->field)
		return vt_error_nomem(err);
	for (k = 0; k < from->nkinds; k++) {
		const struct vt_kind_desc *theirs = &from->kinds[k];
		int at = vt_schema_find(&w->schema, theirs->name);

		/* The header has all kinds and fields of its inputs: vt_schema_merge(). */
		assert(at >= 0 && at < (int)w->schema.nkinds);
		m->kind[k] = (int16_t)at;
		for (f = 0; f < theirs->nfields; f++)
			m->field[k][f] = (int16_t)vt_schema_find_field(&w->schema.kinds[at],
								       theirs->fields[f].name);
	}
	return 0;
}

int vt_writer_add_input(struct vt_writer *w, const struct vt_reader *r, struct vt_error *err)
{
	const struct vt_schema *from = vt_reader_schema(r);
	struct mapping *more;
	uint32_t k, f;

	for (k = 0; k < from->nkinds; k++) {
		const struct vt_kind_desc *theirs = &from->kinds[k];
		int at = vt_schema_find(&w->schema, theirs->name);

		for (f = 0; at >= 0 && f < theirs->nfields; f++) {
			if (vt_schema_find_field(&w->schema.kinds[at], theirs->fields[f].name) < 0)
				at = -1;
		}
		if (at < 0)
			return vt_error_set(err, VT_E_FORMAT, "%s: kind %s is not in the header",
					    w->out.name, theirs->name);
	}
	more = realloc(w->mappings, (w->nmappings + 1) * sizeof(*more));
	if (!more)
		return vt_error_nomem(err);
	w->mappings = more;
	more[w->nmappings] = (struct mapping){0};
	return make_mapping(w, &more[w->nmappings++], from, err);
}

/* Makes all that does not depend on where the stream goes; `raw` becomes its header. */
static int prepare_writer(struct vt_writer *w, const struct vt_writer_options *opt,
			  struct vt_error *err)
{
	size_t i;
	int r = vt_schema_init(&w->schema, err);

	if (r == 0)
		r = build_header(w, opt, err);
	if (r == 0)
		r = make_staging(w, err);
	w->mappings = calloc(opt->ninputs + 1, sizeof(*w->mappings));
	if (!w->mappings)
		r = vt_error_nomem(err);
	for (i = 0; i < opt->ninputs && r == 0; i++)
		r = make_mapping(w, &w->mappings[w->nmappings++], vt_reader_schema(opt->inputs[i]),
				 err);
	return r;
}

static int write_stream_header(struct vt_writer *w, const struct vt_writer_options *opt,
			       struct vt_error *err)
{
	uint8_t preamble[VTI_PREAMBLE_SIZE];
	enum vt_compression how = opt->compression;
	int r;

	if (w->out.tty)
		return vt_error_set(err, VT_E_USAGE,
				    "%s is a terminal: not writing a binary stream", w->out.name);
	if (how == VT_COMPRESS_AUTO)
		how = w->out.regular ? VT_COMPRESS_ZLIB : VT_COMPRESS_NONE;
	/* zlib's own default level is 6 and slow on columns; 1 is nearly as small here. */
	if (!vti_packing_init(&w->packing, how, opt->level ? opt->level : 1, opt->threads,
			      write_block, w))
		return vt_error_nomem(err);
	r = prepare_writer(w, opt, err);
	if (r < 0)
		return r;
	vti_preamble_encode(preamble);
	vt_output_put(&w->out, preamble, sizeof(preamble));
	queue_block(w, VTI_BLOCK_HEADER, 0, VTI_LAST_OF_FRAME);
	w->frame = 1;
	return vt_writer_error(w, err);
}

static struct vt_writer *new_stream_writer(const char *name, struct vt_error *err)
{
	struct vt_writer *w = calloc(1, sizeof(*w));

	if (!w)
		vt_error_set(err, VT_E_NOMEM, "%s: out of memory", name);
	return w;
}

/* Completes opening a writer; `opened` is the result of opening its output. */
static struct vt_writer *open_stream_writer(struct vt_writer *w, int opened,
					    const struct vt_writer_options *opt,
					    struct vt_error *err)
{
	if (opened < 0)
		free(w);
	else if (write_stream_header(w, opt, err) == 0)
		return w;
	else
		vt_writer_abandon(w);
	return NULL;
}

struct vt_writer *vt_writer_open(const char *path, const struct vt_writer_options *opt,
				 struct vt_error *err)
{
	struct vt_writer *w = new_stream_writer(path, err);

	return w ? open_stream_writer(w, vt_output_open(&w->out, path, err), opt, err) : NULL;
}

struct vt_writer *vt_writer_open_fd(int fd, const char *name, const struct vt_writer_options *opt,
				    struct vt_error *err)
{
	struct vt_writer *w = new_stream_writer(name, err);

	return w ? open_stream_writer(w, vt_output_open_fd(&w->out, fd, name, err), opt, err)
		 : NULL;
}

struct vt_writer *vt_writer_open_channel(struct vt_channel *c, const char *name,
					 const struct vt_writer_options *opt, struct vt_error *err)
{
	struct vt_writer *w = new_stream_writer(name, err);

	if (!w) {
		vti_channel_end(c, VT_STATUS_MISSING, NULL);
		return NULL;
	}
	w->channel = c;
	if (vt_output_open_fd(&w->out, -1, name, err) == 0 && prepare_writer(w, opt, err) == 0 &&
	    (vti_channel_begin(c, &w->schema, &w->raw) || vt_error_nomem(err) == 0))
		return w;
	vt_writer_abandon(w);
	return NULL;
}

/* ---- records ---- */

uint64_t *vt_writer_advance(struct vt_writer *w, uint32_t kind)
{
	struct staged *s = &w->staged[kind];

	assert(kind < w->schema.nkinds);
	count_tile_rows(w);
	if (s->ntile == TILE_ROWS)
		append_tile(w, s);
	if (w->room < 0 || s->rows.nrows >= FLUSH_RECORDS)
		end_frame(w);
	if (w->run_kind != kind) {
		end_run(w);
		w->run_kind = kind;
		w->current = s;
	}
	w->at.kind = kind;
	w->at.stride = s->stride;
	w->at.next = s->tile + (size_t)s->ntile * s->stride;
	w->at.end = s->tile + (size_t)TILE_ROWS * s->stride;
	return vt_writer_row(w, kind);
}

static void set_var_field(struct vt_writer *w, unsigned field, const void *data, size_t count,
			  size_t width)
{
	struct staged *s = w->current;
	uint64_t *slot = w->at.next - s->stride + field;
	struct vt_buf *var = &s->rows.columns[field].var;
	size_t used = (size_t)(FLUSH_BYTES - w->room);

	assert(field < s->rows.ncolumns && w->at.next > s->tile);
	if (w->failed)
		return;
	/* A frame over FLUSH_BYTES is written at the next row, so only one huge record gets here.
	 */
	if (used > w->largest || count > (w->largest - used) / width) {
		set_failed(w, VT_E_LIMIT, "a record too large for a frame of 32 MiB");
		return;
	}
	/* If the field was set before, its bytes are the last ones: remove them. */
	assert(*slot <= var->size / width);
	var->size -= *slot * width;
	*slot = count;
	vt_buf_put(var, data, count * width);
	if (var->failed)
		set_failed(w, VT_E_NOMEM, "out of memory");
	w->room -= (ptrdiff_t)(count * width);
	if (w->room < 0)
		w->at.end = w->at.next;
}

void vt_writer_bytes(struct vt_writer *w, unsigned field, const void *data, size_t size)
{
	set_var_field(w, field, data, size, 1);
}

void vt_writer_words(struct vt_writer *w, unsigned field, const uint64_t *words, size_t count)
{
	set_var_field(w, field, words, count, sizeof(*words));
}

void vt_writer_text(struct vt_writer *w, unsigned field, const char *text)
{
	vt_writer_bytes(w, field, text, strlen(text));
}

void vt_writer_meta(struct vt_writer *w, const char *key, const char *value)
{
	vt_writer_row(w, VT_META);
	vt_writer_text(w, VT_META_KEY, key);
	vt_writer_text(w, VT_META_VALUE, value);
}

void vt_writer_meta_u64(struct vt_writer *w, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	vt_writer_meta(w, key, text);
}

static const struct mapping *find_mapping(const struct vt_writer *w, const struct vt_record *rec)
{
	size_t i;

	for (i = 0; i + 1 < w->nmappings; i++) {
		const struct vt_schema *from = w->mappings[i].from;

		if (rec->block->desc == &from->kinds[rec->kind])
			break;
	}
	return &w->mappings[i];
}

void vt_writer_copy(struct vt_writer *w, const struct vt_record *rec)
{
	const struct mapping *m = find_mapping(w, rec);
	const struct vt_kind_desc *desc = rec->block->desc;
	uint64_t *row = vt_writer_row(w, (uint32_t)m->kind[rec->kind]);
	uint32_t f;

	for (f = 0; f < desc->nfields; f++) {
		unsigned to = (unsigned)m->field[rec->kind][f];

		if (desc->fields[f].type == VT_TYPE_A) {
			struct vt_words a = vt_record_words(rec, f);

			if (a.count)
				vt_writer_words(w, to, a.data, a.count);
		} else if (desc->fields[f].type == VT_TYPE_S || desc->fields[f].type == VT_TYPE_B) {
			struct vt_bytes b = vt_record_bytes(rec, f);

			if (b.size)
				vt_writer_bytes(w, to, b.data, b.size);
		} else {
			row[to] = vt_record_u64(rec, f);
		}
	}
}

const struct vt_schema *vt_writer_schema(const struct vt_writer *w)
{
	return &w->schema;
}

/* ---- the end ---- */

int vt_writer_error(const struct vt_writer *w, struct vt_error *err)
{
	if (w->out.err.code != VT_OK)
		*err = w->out.err;
	else if (w->failed)
		*err = w->err;
	else
		return 0;
	return -(int)err->code;
}

static void queue_end(struct vt_writer *w, enum vt_status status, const struct vt_failure *failure)
{
	uint32_t k, kinds = 0;

	for (k = 0; k < w->schema.nkinds; k++)
		kinds += w->staged[k].total != 0;
	w->raw.size = 0;
	vt_buf_put_varint(&w->raw, status);
	vt_buf_put_varint(&w->raw, w->written);
	vt_buf_put_le32(&w->raw, w->chain);
	vt_buf_put_varint(&w->raw, kinds);
	for (k = 0; k < w->schema.nkinds; k++) {
		if (w->staged[k].total) {
			vt_buf_put_varint(&w->raw, w->schema.kinds[k].wire_id);
			vt_buf_put_varint(&w->raw, w->staged[k].total);
		}
	}
	if (failure) {
		assert(*failure->program);
		vt_buf_put_block(&w->raw, failure->program, strlen(failure->program));
		vt_buf_put_block(&w->raw, failure->why, strlen(failure->why));
	}
	queue_block(w, VTI_BLOCK_END, 0, VTI_LAST_OF_FRAME);
}

static void free_writer(struct vt_writer *w)
{
	uint32_t k;
	size_t i;

	for (k = 0; w->staged && k < w->schema.nkinds; k++) {
		struct staged *s = &w->staged[k];

		vti_frame_kind_fini(&s->rows);
		free(s->tile);
	}
	for (i = 0; i < w->nmappings; i++)
		free(w->mappings[i].field);
	free(w->mappings);
	free(w->staged);
	free(w->runs);
	vt_buf_free(&w->raw);
	vti_packing_fini(&w->packing);
	vt_schema_fini(&w->schema);
	free(w);
}

/* Ends the bytes of a stream.  One that lacks a record must not look complete. */
static void write_end(struct vt_writer *w, enum vt_status status, const struct vt_failure *failure)
{
	vti_packing_finish(&w->packing);
	if (!w->failed)
		queue_end(w, status, failure);
	vti_packing_finish(&w->packing);
}

static int end_stream(struct vt_writer *w, enum vt_status status, const struct vt_failure *failure,
		      struct vt_error *err)
{
	int r, closed;

	count_tile_rows(w);
	end_frame(w);
	if (status >= VT_STATUS_MISSING)
		status = VT_STATUS_LOSSY;
	if (w->channel)
		vti_channel_end(w->channel, w->failed ? VT_STATUS_MISSING : status, failure);
	else
		write_end(w, status, failure);
	r = vt_writer_error(w, err);
	closed = vt_output_close(&w->out, err);
	free_writer(w);
	return r ? r : closed;
}

int vt_writer_close(struct vt_writer *w, enum vt_status status, struct vt_error *err)
{
	return end_stream(w, status, NULL, err);
}

int vt_writer_fail(struct vt_writer *w, const struct vt_failure *failure, struct vt_error *err)
{
	return end_stream(w, VT_STATUS_INTERRUPTED, failure, err);
}

void vt_writer_abandon(struct vt_writer *w)
{
	struct vt_error ignored;

	if (!w)
		return;
	if (w->channel)
		vti_channel_end(w->channel, VT_STATUS_MISSING, NULL);
	else if (w->packing.ring)
		vti_packing_finish(&w->packing);
	vt_output_close(&w->out, &ignored);
	free_writer(w);
}
