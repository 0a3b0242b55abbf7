/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/formats/perfdata/pdfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "formats/perfdata/abi.h"
#include "formats/perfdata/perfdata.h"
#include "tests/unit/common/streams.h"

#define FILE_HEADER 104
#define ATTR_SIZE   136

void pdfile_free(struct pdfile *f)
{
	vt_buf_free(&f->attrs);
	vt_buf_free(&f->ids);
	vt_buf_free(&f->data);
	vt_buf_free(&f->features);
}

static void put(const struct pdfile *f, struct vt_buf *b, uint64_t v, unsigned bytes)
{
	unsigned i;

	for (i = 0; i < bytes; i++)
		vt_buf_put_u8(b, (uint8_t)(v >> 8 * (f->big ? bytes - 1 - i : i)));
}

void pdfile_u16(const struct pdfile *f, struct vt_buf *b, uint16_t v)
{
	put(f, b, v, 2);
}

void pdfile_u32(const struct pdfile *f, struct vt_buf *b, uint32_t v)
{
	put(f, b, v, 4);
}

void pdfile_u64(const struct pdfile *f, struct vt_buf *b, uint64_t v)
{
	put(f, b, v, 8);
}

static void pad(struct vt_buf *b, size_t from, size_t to)
{
	while ((b->size - from) % to)
		vt_buf_put_u8(b, 0);
}

void pdfile_text(struct vt_buf *b, const char *text)
{
	size_t from = b->size;

	vt_buf_put(b, text, strlen(text) + 1);
	pad(b, from, 8);
}

void pdfile_string(const struct pdfile *f, struct vt_buf *b, const char *text)
{
	size_t from = b->size + 4, padded = (strlen(text) + 1 + 63) / 64 * 64;

	pdfile_u32(f, b, (uint32_t)padded);
	vt_buf_put(b, text, strlen(text) + 1);
	pad(b, from, 64);
}

/* Big-endian bit-fields are given out from the top; precise_ip, two bits wide, keeps its order. */
static uint64_t flag_word(const struct pdfile *f, uint64_t flags)
{
	const uint64_t precise = UINT64_C(3) << PD_ATTR_PRECISE_SHIFT;
	uint64_t word = 0;
	unsigned i;

	if (!f->big)
		return flags;
	for (i = 0; i < 64; i++) {
		if ((flags & ~precise) >> i & 1)
			word |= UINT64_C(1) << (63 - i);
	}
	return word | (flags & precise) >> PD_ATTR_PRECISE_SHIFT << (63 - 16);
}

static void put_attr(const struct pdfile *f, struct vt_buf *b, const struct pdfile_attr *a)
{
	unsigned i;

	pdfile_u32(f, b, a->type);
	pdfile_u32(f, b, ATTR_SIZE);
	pdfile_u64(f, b, a->config);
	pdfile_u64(f, b, a->period);
	pdfile_u64(f, b, a->sample_type);
	pdfile_u64(f, b, a->read_format);
	pdfile_u64(f, b, flag_word(f, a->flags));
	for (i = 0; i < 3; i++)
		pdfile_u64(f, b, 0);
	pdfile_u64(f, b, a->branch_type);
	pdfile_u64(f, b, a->regs_user);
	pdfile_u32(f, b, a->stack_user);
	pdfile_u32(f, b, 0);
	pdfile_u64(f, b, a->regs_intr);
	for (i = 0; i < 4; i++)
		pdfile_u64(f, b, 0);
}

void pdfile_attr(struct pdfile *f, const struct pdfile_attr *a)
{
	struct vt_buf *ids = f->pipe ? &f->data : &f->ids;
	size_t ids_at = FILE_HEADER + f->ids.size;
	unsigned i;

	if (f->pipe)
		pdfile_begin(f, PD_HEADER_ATTR, 0);
	put_attr(f, f->pipe ? &f->data : &f->attrs, a);
	for (i = 0; i < a->nids; i++)
		pdfile_u64(f, ids, a->first_id + i);
	if (f->pipe) {
		pdfile_end(f);
		return;
	}
	pdfile_u64(f, &f->attrs, ids_at);
	pdfile_u64(f, &f->attrs, 8 * (uint64_t)a->nids);
}

void pdfile_begin(struct pdfile *f, uint32_t type, uint16_t misc)
{
	f->record = f->data.size;
	pdfile_u32(f, &f->data, type);
	pdfile_u16(f, &f->data, misc);
	pdfile_u16(f, &f->data, 0);
}

void pdfile_end(struct pdfile *f)
{
	uint16_t size = (uint16_t)(f->data.size - f->record);
	uint8_t *p = f->data.data + f->record + 6;

	p[f->big ? 1 : 0] = (uint8_t)size;
	p[f->big ? 0 : 1] = (uint8_t)(size >> 8);
}

void pdfile_feature(struct pdfile *f, unsigned bit, const struct vt_buf *b)
{
	if (f->pipe) {
		pdfile_begin(f, PD_HEADER_FEATURE, 0);
		pdfile_u64(f, &f->data, bit);
		vt_buf_put(&f->data, b->data, b->size);
		pad(&f->data, f->record, 8);
		pdfile_end(f);
		return;
	}
	vt_buf_put(&f->features, b->data, b->size);
	f->feature_bits[f->nfeatures] = bit;
	f->feature_ends[f->nfeatures++] = f->features.size;
}

static void put_header(const struct pdfile *f, struct vt_buf *b)
{
	uint64_t bits[4] = {0, 0, 0, 0}, data = FILE_HEADER + f->ids.size + f->attrs.size;
	size_t i;

	pdfile_u64(f, b, FILE_HEADER);
	pdfile_u64(f, b, ATTR_SIZE + 16);
	pdfile_u64(f, b, FILE_HEADER + f->ids.size);
	pdfile_u64(f, b, f->attrs.size);
	pdfile_u64(f, b, data);
	pdfile_u64(f, b, f->data.size);
	pdfile_u64(f, b, 0);
	pdfile_u64(f, b, 0);
	for (i = 0; i < f->nfeatures; i++)
		bits[f->feature_bits[i] / 64] |= UINT64_C(1) << f->feature_bits[i] % 64;
	for (i = 0; i < 4; i++)
		pdfile_u64(f, b, bits[i]);
	vt_buf_put(b, f->ids.data, f->ids.size);
	vt_buf_put(b, f->attrs.data, f->attrs.size);
}

static void put_sections(const struct pdfile *f, struct vt_buf *b)
{
	uint64_t from;
	size_t i;

	vt_buf_put(b, f->version1 ? "PERFFILE" : f->big ? "2ELIFREP" : "PERFILE2", 8);
	if (f->pipe) {
		pdfile_u64(f, b, 16);
		vt_buf_put(b, f->data.data, f->data.size);
		return;
	}
	put_header(f, b);
	vt_buf_put(b, f->data.data, f->data.size);
	from = b->size + 16 * f->nfeatures;
	for (i = 0; i < f->nfeatures; i++) {
		size_t begin = i ? f->feature_ends[i - 1] : 0;

		pdfile_u64(f, b, from + begin);
		pdfile_u64(f, b, f->feature_ends[i] - begin);
	}
	vt_buf_put(b, f->features.data, f->features.size);
}

void pdfile_put(const struct pdfile *f, struct vt_buf *b)
{
	struct vt_buf patch = VT_BUF_INIT;

	put_sections(f, b);
	pdfile_u64(f, &patch, f->patch);
	if (f->patch_at)
		memcpy(b->data + f->patch_at, patch.data, 8);
	vt_buf_free(&patch);
	b->size -= f->cut;
}

static void show_field(struct vt_buf *out, const struct vt_record *rec, unsigned i)
{
	const struct vt_field_desc *d = &rec->block->desc->fields[i];
	struct vt_bytes b;
	struct vt_words w;
	size_t k;

	if (d->type == VT_TYPE_S || d->type == VT_TYPE_B) {
		b = vt_record_bytes(rec, i);
		if (!b.size)
			return;
		vt_buf_printf(out, " %s=", d->name);
		for (k = 0; k < b.size; k++)
			vt_buf_printf(out, d->type == VT_TYPE_S ? "%c" : "%02x", b.data[k]);
	} else if (d->type == VT_TYPE_A) {
		w = vt_record_words(rec, i);
		if (w.count)
			vt_buf_printf(out, " %s", d->name);
		for (k = 0; k < w.count; k++)
			vt_buf_printf(out, "%c%" PRIu64, k ? ',' : '=', w.data[k]);
	} else if (vt_record_u64(rec, i) && d->type == VT_TYPE_I) {
		vt_buf_printf(out, " %s=%" PRId64, d->name, vt_record_i64(rec, i));
	} else if (vt_record_u64(rec, i)) {
		vt_buf_printf(out, " %s=%" PRIu64, d->name, vt_record_u64(rec, i));
	}
}

char *pdfile_show(int fd)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_buf out = VT_BUF_INIT;
	struct vt_record rec;
	struct vt_reader *r;
	unsigned i;
	char *text;

	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	r = vt_reader_open_fd(fd, "stream", &err);
	assert_non_null(r);
	while (vt_reader_next(r, &rec, &err) == 1) {
		vt_buf_printf(&out, "%s", rec.block->desc->name);
		for (i = 0; i < rec.block->ncolumns; i++)
			show_field(&out, &rec, i);
		vt_buf_put_u8(&out, '\n');
	}
	vt_reader_close(r);
	text = strdup(vt_buf_str(&out));
	vt_buf_free(&out);
	return text;
}

/* Bytes that come through a pipe. */
struct pipe {
	const uint8_t *p;
	size_t left;
	size_t piece;
};

static int pull(struct vt_input *in, uint8_t *out, size_t room, size_t *n, struct vt_error *err)
{
	struct pipe *pipe = in->pull_arg;

	(void)err;
	*n = pipe->left < pipe->piece ? pipe->left : pipe->piece;
	*n = *n < room ? *n : room;
	memcpy(out, pipe->p, *n);
	pipe->p += *n;
	pipe->left -= *n;
	return 0;
}

static void warn(void *warnings, const char *line)
{
	vt_buf_printf(warnings, "%s\n", line);
}

static void count_read(void *reads, uint64_t bytes)
{
	(void)bytes;
	++*(unsigned *)reads;
}

char *pdfile_decode(const struct pdfile *f, struct vt_format_summary *sum)
{
	const struct vt_writer_options wo = {.compression = VT_COMPRESS_NONE};
	const struct vt_format_options fo = {.keep_aux = !f->drop_aux,
					     .drop_stacks = f->drop_stacks,
					     .progress = f->reads ? count_read : NULL,
					     .progress_arg = f->reads,
					     .warn = f->warnings ? warn : NULL,
					     .warn_arg = f->warnings};
	struct vt_error err = VT_ERROR_INIT;
	int from = scratch_file(), to = scratch_file();
	struct vt_buf b = VT_BUF_INIT;
	struct vt_writer *w;
	struct pipe pipe;
	struct vt_input in;
	char *text;

	pdfile_put(f, &b);
	assert_int_equal(pwrite(from, b.data, b.size, (off_t)f->lead), b.size);
	assert_int_equal(lseek(from, (off_t)f->lead, SEEK_SET), f->lead);
	w = vt_writer_open_fd(to, "stream", &wo, &err);
	assert_non_null(w);
	assert_int_equal(vt_input_open_fd(&in, from, "in", &err), 0);
	pipe = (struct pipe){.p = b.data, .left = b.size, .piece = f->piece};
	if (f->piece) {
		in.pull = pull;
		in.pull_arg = &pipe;
	}
	assert_int_equal(vt_perfdata_decode(&in, w, &fo, sum, &err), 0);
	vt_input_close(&in);
	vt_buf_free(&b);
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	text = pdfile_show(to);
	close(from);
	close(to);
	return text;
}

int pdfile_try(const void *data, size_t size, char **text, struct vt_error *err)
{
	const struct vt_format_options fo = {.keep_aux = true};
	struct vt_format_summary sum;
	int from = scratch_file(), to = scratch_file(), code;
	struct vt_writer *w = start_stream(to);
	struct vt_input in;

	assert_int_equal(pwrite(from, data, size, 0), size);
	assert_int_equal(vt_input_open_fd(&in, from, "in", err), 0);
	code = vt_perfdata_decode(&in, w, &fo, &sum, err);
	vt_input_close(&in);
	vt_reader_close(reread_stream(to, w));
	if (text)
		*text = pdfile_show(to);
	close(from);
	close(to);
	return code;
}

struct vt_format_summary pdfile_expect(const struct pdfile *f, const char *but,
				       const char *const *lines, size_t n)
{
	struct vt_format_summary sum;
	char *text = pdfile_decode(f, &sum), *rest, *line;
	const char *want;
	size_t i = 0;

	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (!strncmp(line, but, strlen(but)) ||
		    !strcmp(line, f->big ? "META key=byte_order value=big"
					 : "META key=byte_order value=little"))
			continue;
		want = i < n ? lines[i] : "nothing";
		assert_string_equal(line, want);
		i++;
	}
	assert_int_equal(i, n);
	free(text);
	return sum;
}
