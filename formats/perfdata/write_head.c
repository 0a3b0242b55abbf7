/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "formats/perfdata/write_internal.h"

/* Sizes of perf's structures, tools/perf/util/header.h: the headers, an attribute with the place of
 * its ids, an id. */
#define FILE_HEADER_SIZE 104
#define PIPE_HEADER_SIZE 16
#define FILE_ATTR_SIZE	 (PD_ATTR_SIZE_VER7 + 16)
#define ID_SIZE		 8

static const char magic[8] = "PERFILE2";

static void put_attr(struct vt_buf *b, const struct vt_perfdata_event *e)
{
	uint8_t a[PD_ATTR_SIZE_VER7] = {0};

	vt_put_le32(a, e->type);
	vt_put_le32(a + 4, PD_ATTR_SIZE_VER7);
	vt_put_le64(a + 8, e->config);
	vt_put_le64(a + 16, e->period);
	vt_put_le64(a + 24, e->sample_type);
	vt_put_le64(a + 40, e->flags);
	vt_buf_put(b, a, sizeof(a));
}

/* ---- features ---- */

/* A text as features have it: its length with padding, the text, zeros up to a multiple of 64. */
static void put_string(struct vt_buf *b, const struct vt_buf *text)
{
	size_t padded = (text->size + 64) & ~(size_t)63, i;

	vt_buf_put_le32(b, (uint32_t)padded);
	vt_buf_put(b, text->data, text->size);
	for (i = text->size; i < padded; i++)
		vt_buf_put_u8(b, 0);
}

static void put_event_desc(struct vt_buf *b, const struct vt_perfdata_writer *w)
{
	size_t i;

	vt_buf_put_le32(b, (uint32_t)w->nevents);
	vt_buf_put_le32(b, PD_ATTR_SIZE_VER7);
	for (i = 0; i < w->nevents; i++) {
		put_attr(b, &w->events[i]);
		vt_buf_put_le32(b, 1);
		put_string(b, &w->names[i]);
		vt_buf_put_le64(b, i + 1);
	}
}

static void put_index(struct vt_buf *b, const struct vt_perfdata_writer *w)
{
	size_t i;

	vt_buf_put_le64(b, w->nindex);
	for (i = 0; i < w->nindex; i++) {
		vt_buf_put_le64(b, w->index[i].offset);
		vt_buf_put_le64(b, w->index[i].size);
	}
}

/* The content of a feature; false if there is nothing to say of it. */
static bool put_feature(struct vt_buf *b, const struct vt_perfdata_writer *w, unsigned feature)
{
	size_t before = b->size;

	switch (feature) {
	case PD_FEAT_BUILD_ID:
		vt_buf_put(b, w->buildids.data, w->buildids.size);
		break;
	case PD_FEAT_VERSION:
		if (w->version.size)
			put_string(b, &w->version);
		break;
	case PD_FEAT_ARCH:
		if (w->arch.size)
			put_string(b, &w->arch);
		break;
	case PD_FEAT_NRCPUS:
		if (!w->cpus)
			break;
		vt_buf_put_le32(b, w->cpus);
		vt_buf_put_le32(b, w->cpus);
		break;
	case PD_FEAT_CMDLINE:
		if (!w->cmdline.size)
			break;
		vt_buf_put_le32(b, 1);
		put_string(b, &w->cmdline);
		break;
	case PD_FEAT_EVENT_DESC:
		put_event_desc(b, w);
		break;
	case PD_FEAT_AUXTRACE:
		if (w->nindex)
			put_index(b, w);
		break;
	case PD_FEAT_SAMPLE_TIME:
		if (!w->file || w->first_time > w->last_time)
			break;
		vt_buf_put_le64(b, w->first_time);
		vt_buf_put_le64(b, w->last_time);
		break;
	}
	return b->size > before;
}

/* ---- the pipe format ---- */

static int pipe_head(struct vt_perfdata_writer *w, struct vt_error *err)
{
	uint8_t head[PIPE_HEADER_SIZE];
	unsigned f;
	size_t i;
	int rc;

	memcpy(head, magic, sizeof(magic));
	vt_put_le64(head + 8, sizeof(head));
	vti_pd_write_bytes(w, head, sizeof(head));
	for (i = 0; i < w->nevents; i++) {
		vti_pd_write_begin(w, PD_HEADER_ATTR, 0);
		put_attr(&w->rec, &w->events[i]);
		vt_buf_put_le64(&w->rec, i + 1);
		rc = vti_pd_write_end(w, err);
		if (rc < 0)
			return rc;
	}
	for (f = 0; f < PD_FEAT_BITS; f++) {
		vti_pd_write_begin(w, PD_HEADER_FEATURE, 0);
		vt_buf_put_le64(&w->rec, f);
		if (!put_feature(&w->rec, w, f))
			continue;
		while (w->rec.size % 8 && !w->rec.failed)
			vt_buf_put_u8(&w->rec, 0);
		rc = vti_pd_write_end(w, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* ---- the file format ---- */

static int file_head(struct vt_perfdata_writer *w, struct vt_error *err)
{
	struct vt_buf b = VT_BUF_INIT;
	uint64_t ids = FILE_HEADER_SIZE + w->nevents * FILE_ATTR_SIZE;
	uint8_t head[FILE_HEADER_SIZE] = {0};
	bool failed;
	size_t i;

	vt_buf_put(&b, head, sizeof(head));
	for (i = 0; i < w->nevents; i++) {
		put_attr(&b, &w->events[i]);
		vt_buf_put_le64(&b, ids + i * ID_SIZE);
		vt_buf_put_le64(&b, ID_SIZE);
	}
	for (i = 0; i < w->nevents; i++)
		vt_buf_put_le64(&b, i + 1);
	failed = b.failed;
	if (!failed)
		vti_pd_write_bytes(w, b.data, b.size);
	vt_buf_free(&b);
	w->data_start = w->offset;
	return failed ? vt_error_nomem(err) : 0;
}

/* The sections' table and the sections, the table's offset being that of the data's end. */
static int file_features(struct vt_perfdata_writer *w, uint8_t *bits, struct vt_error *err)
{
	struct vt_buf content = VT_BUF_INIT, table = VT_BUF_INIT;
	uint64_t at[PD_FEAT_BITS], size[PD_FEAT_BITS], start;
	unsigned f, n = 0, i;
	bool failed;

	for (f = 0; f < PD_FEAT_BITS; f++) {
		uint64_t before = content.size;

		if (!put_feature(&content, w, f))
			continue;
		bits[f / 8] |= (uint8_t)(1 << f % 8);
		at[n] = before;
		size[n++] = content.size - before;
	}
	start = w->offset + n * UINT64_C(16);
	for (i = 0; i < n; i++) {
		vt_buf_put_le64(&table, start + at[i]);
		vt_buf_put_le64(&table, size[i]);
	}
	failed = content.failed || table.failed;
	if (!failed) {
		vti_pd_write_bytes(w, table.data, table.size);
		vti_pd_write_bytes(w, content.data, content.size);
	}
	vt_buf_free(&content);
	vt_buf_free(&table);
	return failed ? vt_error_nomem(err) : 0;
}

static int file_tail(struct vt_perfdata_writer *w, struct vt_error *err)
{
	uint8_t head[FILE_HEADER_SIZE] = {0};
	uint64_t end = w->offset;
	size_t done = 0;
	int rc = file_features(w, head + 72, err);

	if (rc < 0)
		return rc;
	memcpy(head, magic, sizeof(magic));
	vt_put_le64(head + 8, FILE_HEADER_SIZE);
	vt_put_le64(head + 16, FILE_ATTR_SIZE);
	vt_put_le64(head + 24, FILE_HEADER_SIZE);
	vt_put_le64(head + 32, w->nevents * FILE_ATTR_SIZE);
	vt_put_le64(head + 40, w->data_start);
	vt_put_le64(head + 48, end - w->data_start);
	rc = vt_output_flush(w->out);
	if (rc < 0) {
		*err = w->out->err;
		return rc;
	}
	while (done < sizeof(head)) {
		ssize_t n = pwrite(w->out->fd, head + done, sizeof(head) - done, (off_t)done);

		if (n <= 0 && errno != EINTR)
			return vt_error_errno(err, VT_E_WRITE, errno, "%s", w->out->name);
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int vti_pd_write_head(struct vt_perfdata_writer *w, struct vt_error *err)
{
	return w->file ? file_head(w, err) : pipe_head(w, err);
}

int vti_pd_write_tail(struct vt_perfdata_writer *w, struct vt_error *err)
{
	int rc;

	if (w->file)
		return file_tail(w, err);
	rc = vt_output_flush(w->out);
	if (rc < 0)
		*err = w->out->err;
	return rc;
}
