/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/perfdata/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"

#define RECORD_MAX 65528 /* bytes: the size has 16 bits, records are aligned to 8 */
#define COMM_MAX   15
#define CAN_EXEC   4 /* PROT_EXEC of mmap(2) */

/*
 * Sizes of perf's structures, tools/perf/util/header.h: the headers, an attribute with the section
 * of its ids, an id.
 */
#define FILE_HEADER_SIZE 104
#define PIPE_HEADER_SIZE 16
#define FILE_ATTR_SIZE	 (PD_ATTR_SIZE_VER7 + 16)
#define ID_SIZE		 8

static const char magic[8] = "PERFILE2";

/* An AUXTRACE record in the file, for the feature of that name. */
struct pd_write_index {
	uint64_t offset;
	uint64_t size;
};

struct vt_perfdata_writer {
	struct vt_output *out;
	bool file;
	uint64_t offset;     /* bytes written so far */
	uint64_t data_start; /* of the records, in the file */
	struct vt_perfdata_event *events;
	struct vt_buf *names;
	size_t nevents;
	struct vt_buf arch;
	struct vt_buf version;
	struct vt_buf cmdline;
	uint32_t cpus;
	struct vt_buf rec;	/* the record that is being made */
	struct vt_buf buildids; /* the section so far */
	struct pd_write_index *index;
	size_t nindex;
	size_t index_cap;
	uint64_t first_time; /* of stamps; UINT64_MAX: none yet */
	uint64_t last_time;
};

/* ---- a record ---- */

static void put_bytes(struct vt_perfdata_writer *w, const void *data, size_t size)
{
	vt_output_put(w->out, data, size);
	w->offset += size;
}

static void put_u16(struct vt_buf *b, uint16_t v)
{
	uint8_t bytes[2];

	vt_put_le16(bytes, v);
	vt_buf_put(b, bytes, sizeof(bytes));
}

static void put_i32(struct vt_buf *b, int32_t v)
{
	vt_buf_put_le32(b, (uint32_t)v);
}

static void begin_record(struct vt_perfdata_writer *w, uint32_t type, uint16_t misc)
{
	w->rec.size = 0;
	vt_buf_put_le32(&w->rec, type);
	put_u16(&w->rec, misc);
	put_u16(&w->rec, 0);
}

/* Sets the record's size, once it is complete. */
static int seal_record(struct vt_perfdata_writer *w, struct vt_error *err)
{
	if (w->rec.failed)
		return vt_error_nomem(err);
	if (w->rec.size > RECORD_MAX)
		return vt_error_set(err, VT_E_LIMIT,
				    "a record of %zu bytes is too large for perf.data",
				    w->rec.size);
	vt_put_le16(w->rec.data + 6, (uint16_t)w->rec.size);
	return 0;
}

static int end_record(struct vt_perfdata_writer *w, struct vt_error *err)
{
	int rc = seal_record(w, err);

	if (rc == 0)
		put_bytes(w, w->rec.data, w->rec.size);
	return rc;
}

static void put_zeros(struct vt_buf *b, size_t n)
{
	while (n--)
		vt_buf_put_u8(b, 0);
}

/* Puts a text with zeros up to a multiple of 8, at least one. */
static void put_padded_name(struct vt_buf *b, const char *text, size_t size)
{
	vt_buf_put(b, text, size);
	put_zeros(b, 8 - size % 8);
}

/* The feature of times is of all records. */
static void note_time(struct vt_perfdata_writer *w, uint64_t time)
{
	if (w->first_time > time)
		w->first_time = time;
	if (w->last_time < time)
		w->last_time = time;
}

/* Puts the sample id that ends each kernel record, in the order of linux/perf_event.h. */
static void put_stamp(struct vt_perfdata_writer *w, const struct vt_perfdata_stamp *s)
{
	uint64_t type = w->events[s->event].sample_type;

	if (type & PD_SAMPLE_TID) {
		put_i32(&w->rec, s->pid);
		put_i32(&w->rec, s->tid);
	}
	if (type & PD_SAMPLE_TIME) {
		vt_buf_put_le64(&w->rec, s->time);
		note_time(w, s->time);
	}
	if (type & PD_SAMPLE_ID)
		vt_buf_put_le64(&w->rec, s->event + 1);
	if (type & PD_SAMPLE_STREAM_ID)
		vt_buf_put_le64(&w->rec, s->event + 1);
	if (type & PD_SAMPLE_CPU) {
		vt_buf_put_le32(&w->rec, s->cpu);
		vt_buf_put_le32(&w->rec, 0);
	}
	vt_buf_put_le64(&w->rec, s->event + 1); /* PD_SAMPLE_IDENTIFIER */
}

static int end_stamped_record(struct vt_perfdata_writer *w, const struct vt_perfdata_stamp *s,
			      struct vt_error *err)
{
	put_stamp(w, s);
	return end_record(w, err);
}

/* Checks that a C program can read back a path or name: not too long, without a zero byte. */
static int check_record_text(const char *what, const char *text, size_t size, struct vt_error *err)
{
	if (size > VT_PERFDATA_WRITE_PATH)
		return vt_error_set(err, VT_E_LIMIT, "%s of %zu bytes is too long for perf.data",
				    what, size);
	if (size && memchr(text, 0, size))
		return vt_error_set(err, VT_E_FORMAT, "%s with a zero byte in it", what);
	return 0;
}

/* ---- records ---- */

int vt_perfdata_put_map(struct vt_perfdata_writer *w, const struct vt_perfdata_stamp *s,
			const struct vt_perfdata_map *m, struct vt_error *err)
{
	bool id = m->buildid_size > 0;
	bool data = m->prot && !(m->prot & CAN_EXEC);
	uint16_t misc = (uint16_t)(PD_MISC_USER | (id ? PD_MISC_MMAP_BUILD_ID : 0) |
				   (data ? PD_MISC_MMAP_DATA : 0));
	int rc = check_record_text("a path", m->path, m->path_size, err);

	if (rc < 0)
		return rc;
	if (!m->length || m->start + m->length - 1 < m->start)
		return vt_error_set(err, VT_E_FORMAT, "a mapping of nothing, or around the end");
	if (m->buildid_size > VT_PERFDATA_WRITE_BUILDID)
		return vt_error_set(err, VT_E_LIMIT, "a build-id of %zu bytes", m->buildid_size);
	begin_record(w, PD_MMAP2, misc);
	put_i32(&w->rec, s->pid);
	put_i32(&w->rec, s->tid);
	vt_buf_put_le64(&w->rec, m->start);
	vt_buf_put_le64(&w->rec, m->length);
	vt_buf_put_le64(&w->rec, m->offset);
	if (id) {
		uint8_t field[24] = {(uint8_t)m->buildid_size};

		memcpy(field + 4, m->buildid, m->buildid_size);
		vt_buf_put(&w->rec, field, sizeof(field));
	} else {
		vt_buf_put_le32(&w->rec, m->maj);
		vt_buf_put_le32(&w->rec, m->min);
		vt_buf_put_le64(&w->rec, m->ino);
		vt_buf_put_le64(&w->rec, m->ino_generation);
	}
	vt_buf_put_le32(&w->rec, m->prot);
	vt_buf_put_le32(&w->rec, m->flags);
	put_padded_name(&w->rec, m->path, m->path_size);
	return end_stamped_record(w, s, err);
}

int vt_perfdata_put_buildid(struct vt_perfdata_writer *w, const uint8_t *buildid, size_t size,
			    const char *path, size_t path_size, struct vt_error *err)
{
	uint8_t field[24] = {0};
	int rc = check_record_text("a path", path, path_size, err);

	if (rc < 0)
		return rc;
	if (size > VT_PERFDATA_WRITE_BUILDID)
		return vt_error_set(err, VT_E_LIMIT, "a build-id of %zu bytes", size);
	begin_record(w, PD_HEADER_BUILD_ID, PD_MISC_USER | PD_MISC_BUILD_ID_SIZE);
	put_i32(&w->rec, -1);
	if (size)
		memcpy(field, buildid, size);
	field[20] = (uint8_t)size;
	vt_buf_put(&w->rec, field, sizeof(field));
	vt_buf_put(&w->rec, path, path_size);
	put_zeros(&w->rec, 8 - w->rec.size % 8);
	if (!w->file)
		return end_record(w, err);
	rc = seal_record(w, err);
	if (rc < 0)
		return rc;
	vt_buf_put(&w->buildids, w->rec.data, w->rec.size);
	return w->buildids.failed ? vt_error_nomem(err) : 0;
}

int vt_perfdata_put_comm(struct vt_perfdata_writer *w, const struct vt_perfdata_stamp *s,
			 const char *comm, size_t size, bool exec, struct vt_error *err)
{
	int rc;

	if (size > COMM_MAX)
		size = COMM_MAX;
	rc = check_record_text("a thread's name", comm, size, err);
	if (rc < 0)
		return rc;
	begin_record(w, PD_COMM, exec ? PD_MISC_COMM_EXEC : 0);
	put_i32(&w->rec, s->pid);
	put_i32(&w->rec, s->tid);
	put_padded_name(&w->rec, comm, size);
	return end_stamped_record(w, s, err);
}

int vt_perfdata_put_task(struct vt_perfdata_writer *w, const struct vt_perfdata_stamp *s,
			 enum pd_record type, int32_t ppid, int32_t ptid, struct vt_error *err)
{
	begin_record(w, type, 0);
	put_i32(&w->rec, s->pid);
	put_i32(&w->rec, ppid);
	put_i32(&w->rec, s->tid);
	put_i32(&w->rec, ptid);
	vt_buf_put_le64(&w->rec, s->time);
	return end_stamped_record(w, s, err);
}

int vt_perfdata_put_itrace_start(struct vt_perfdata_writer *w, const struct vt_perfdata_stamp *s,
				 struct vt_error *err)
{
	begin_record(w, PD_ITRACE_START, 0);
	put_i32(&w->rec, s->pid);
	put_i32(&w->rec, s->tid);
	return end_stamped_record(w, s, err);
}

int vt_perfdata_put_aux(struct vt_perfdata_writer *w, const struct vt_perfdata_stamp *s,
			uint64_t offset, uint64_t size, uint64_t flags, struct vt_error *err)
{
	begin_record(w, PD_AUX, 0);
	vt_buf_put_le64(&w->rec, offset);
	vt_buf_put_le64(&w->rec, size);
	vt_buf_put_le64(&w->rec, flags);
	return end_stamped_record(w, s, err);
}

int vt_perfdata_put_switch(struct vt_perfdata_writer *w, const struct vt_perfdata_stamp *s,
			   const struct vt_perfdata_switch *sw, struct vt_error *err)
{
	unsigned misc = PD_MISC_USER;

	if (sw->out)
		misc |= PD_MISC_SWITCH_OUT;
	if (sw->out && sw->preempt)
		misc |= PD_MISC_SWITCH_OUT_PREEMPT;
	begin_record(w, sw->wide ? PD_SWITCH_CPU_WIDE : PD_SWITCH, (uint16_t)misc);
	if (sw->wide) {
		put_i32(&w->rec, sw->other_pid);
		put_i32(&w->rec, sw->other_tid);
	}
	return end_stamped_record(w, s, err);
}

int vt_perfdata_put_auxtrace_info(struct vt_perfdata_writer *w, uint32_t type, const uint64_t *priv,
				  size_t count, struct vt_error *err)
{
	size_t i;

	begin_record(w, PD_AUXTRACE_INFO, 0);
	vt_buf_put_le32(&w->rec, type);
	vt_buf_put_le32(&w->rec, 0);
	for (i = 0; i < count; i++)
		vt_buf_put_le64(&w->rec, priv[i]);
	return end_record(w, err);
}

int vt_perfdata_put_auxtrace(struct vt_perfdata_writer *w, const struct vt_perfdata_auxtrace *a,
			     const void *data, size_t size, struct vt_error *err)
{
	static const uint8_t zeros[8] = {0};
	size_t padding = (8 - size % 8) % 8;
	int rc;

	if (w->file) {
		if (!vt_array_grow(&w->index, &w->index_cap, w->nindex + 1, sizeof(*w->index)))
			return vt_error_nomem(err);
		w->index[w->nindex].offset = w->offset;
	}
	begin_record(w, PD_AUXTRACE, 0);
	vt_buf_put_le64(&w->rec, size + padding);
	vt_buf_put_le64(&w->rec, a->offset);
	vt_buf_put_le64(&w->rec, a->reference);
	vt_buf_put_le32(&w->rec, a->index);
	put_i32(&w->rec, a->tid);
	put_i32(&w->rec, a->cpu);
	vt_buf_put_le32(&w->rec, 0);
	rc = end_record(w, err);
	if (rc < 0)
		return rc;
	if (w->file)
		w->index[w->nindex++].size = w->rec.size;
	put_bytes(w, data, size);
	put_bytes(w, zeros, padding);
	return 0;
}

int vt_perfdata_put_record(struct vt_perfdata_writer *w, uint32_t type, uint16_t misc,
			   const struct vt_perfdata_stamp *s, const void *payload, size_t size,
			   struct vt_error *err)
{
	begin_record(w, type, misc);
	vt_buf_put(&w->rec, payload, size);
	if (s && type == PD_SAMPLE) {
		note_time(w, s->time);
		return end_record(w, err);
	}
	return s ? end_stamped_record(w, s, err) : end_record(w, err);
}

/* ---- attributes ---- */

static void put_attr(struct vt_buf *b, const struct vt_perfdata_event *e)
{
	uint8_t a[PD_ATTR_SIZE_VER7] = {0};

	vt_put_le32(a, e->type);
	vt_put_le32(a + 4, PD_ATTR_SIZE_VER7);
	vt_put_le64(a + 8, e->config);
	vt_put_le64(a + 16, e->period);
	vt_put_le64(a + 24, e->sample_type);
	vt_put_le64(a + 40, e->flags);
	vt_put_le64(a + 80, e->regs_user);
	vt_buf_put(b, a, sizeof(a));
}

/* ---- features ---- */

/* Puts a text of a feature: its padded length, the text, zeros up to a multiple of 64. */
static void put_feature_string(struct vt_buf *b, const struct vt_buf *text)
{
	size_t padded = (text->size + 64) & ~(size_t)63;

	vt_buf_put_le32(b, (uint32_t)padded);
	vt_buf_put(b, text->data, text->size);
	put_zeros(b, padded - text->size);
}

static void put_event_desc(struct vt_buf *b, const struct vt_perfdata_writer *w)
{
	size_t i;

	vt_buf_put_le32(b, (uint32_t)w->nevents);
	vt_buf_put_le32(b, PD_ATTR_SIZE_VER7);
	for (i = 0; i < w->nevents; i++) {
		put_attr(b, &w->events[i]);
		vt_buf_put_le32(b, 1);
		put_feature_string(b, &w->names[i]);
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

/* Puts the content of a feature; false if it has none. */
static bool put_feature(struct vt_buf *b, const struct vt_perfdata_writer *w, unsigned feature)
{
	size_t before = b->size;

	switch (feature) {
	case PD_FEAT_BUILD_ID:
		vt_buf_put(b, w->buildids.data, w->buildids.size);
		break;
	case PD_FEAT_VERSION:
		if (w->version.size)
			put_feature_string(b, &w->version);
		break;
	case PD_FEAT_ARCH:
		if (w->arch.size)
			put_feature_string(b, &w->arch);
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
		put_feature_string(b, &w->cmdline);
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

static int write_pipe_head(struct vt_perfdata_writer *w, struct vt_error *err)
{
	uint8_t head[PIPE_HEADER_SIZE];
	unsigned f;
	size_t i;
	int rc;

	memcpy(head, magic, sizeof(magic));
	vt_put_le64(head + 8, sizeof(head));
	put_bytes(w, head, sizeof(head));
	for (i = 0; i < w->nevents; i++) {
		begin_record(w, PD_HEADER_ATTR, 0);
		put_attr(&w->rec, &w->events[i]);
		vt_buf_put_le64(&w->rec, i + 1);
		rc = end_record(w, err);
		if (rc < 0)
			return rc;
	}
	for (f = 0; f < PD_FEAT_BITS; f++) {
		begin_record(w, PD_HEADER_FEATURE, 0);
		vt_buf_put_le64(&w->rec, f);
		if (!put_feature(&w->rec, w, f))
			continue;
		put_zeros(&w->rec, (8 - w->rec.size % 8) % 8);
		rc = end_record(w, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* ---- the file format ---- */

static int write_file_head(struct vt_perfdata_writer *w, struct vt_error *err)
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
		put_bytes(w, b.data, b.size);
	vt_buf_free(&b);
	w->data_start = w->offset;
	return failed ? vt_error_nomem(err) : 0;
}

/* Writes the table of sections and the sections, at the end of the data. */
static int write_file_features(struct vt_perfdata_writer *w, uint8_t *bits, struct vt_error *err)
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
		put_bytes(w, table.data, table.size);
		put_bytes(w, content.data, content.size);
	}
	vt_buf_free(&content);
	vt_buf_free(&table);
	return failed ? vt_error_nomem(err) : 0;
}

static int flush_output(struct vt_perfdata_writer *w, struct vt_error *err)
{
	int rc = vt_output_flush(w->out);

	if (rc < 0)
		*err = w->out->err;
	return rc;
}

static int write_file_tail(struct vt_perfdata_writer *w, struct vt_error *err)
{
	uint8_t head[FILE_HEADER_SIZE] = {0};
	uint64_t end = w->offset;
	size_t done = 0;
	int rc = write_file_features(w, head + 72, err);

	if (rc < 0)
		return rc;
	memcpy(head, magic, sizeof(magic));
	vt_put_le64(head + 8, FILE_HEADER_SIZE);
	vt_put_le64(head + 16, FILE_ATTR_SIZE);
	vt_put_le64(head + 24, FILE_HEADER_SIZE);
	vt_put_le64(head + 32, w->nevents * FILE_ATTR_SIZE);
	vt_put_le64(head + 40, w->data_start);
	vt_put_le64(head + 48, end - w->data_start);
	rc = flush_output(w, err);
	if (rc < 0)
		return rc;
	while (done < sizeof(head)) {
		ssize_t n = pwrite(w->out->fd, head + done, sizeof(head) - done, (off_t)done);

		if (n <= 0 && errno != EINTR)
			return vt_error_errno(err, VT_E_WRITE, errno, "%s", w->out->name);
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* ---- beginning and end ---- */

static void free_perfdata_writer(struct vt_perfdata_writer *w)
{
	size_t i;

	for (i = 0; i < w->nevents; i++)
		vt_buf_free(&w->names[i]);
	free(w->events);
	free(w->names);
	free(w->index);
	vt_buf_free(&w->arch);
	vt_buf_free(&w->version);
	vt_buf_free(&w->cmdline);
	vt_buf_free(&w->rec);
	vt_buf_free(&w->buildids);
	free(w);
}

/* True if the header can be written last: into a regular file that is written from its start. */
static bool can_seek(const struct vt_output *out)
{
	int flags = fcntl(out->fd, F_GETFL);

	return out->regular && flags >= 0 && !(flags & O_APPEND) &&
	       lseek(out->fd, 0, SEEK_CUR) == 0;
}

static void copy_writer_text(struct vt_buf *b, const char *text)
{
	if (text)
		vt_buf_printf(b, "%s", text);
}

static int start_writer(struct vt_perfdata_writer *w, const struct vt_perfdata_event *events,
			size_t nevents, const struct vt_perfdata_about *about, struct vt_error *err)
{
	size_t i;

	w->events = calloc(nevents, sizeof(*w->events));
	w->names = calloc(nevents, sizeof(*w->names));
	if (!w->events || !w->names)
		return vt_error_nomem(err);
	w->nevents = nevents;
	for (i = 0; i < nevents; i++) {
		w->events[i] = events[i];
		w->events[i].sample_type |= PD_SAMPLE_IDENTIFIER;
		w->events[i].flags |= PD_ATTR_SAMPLE_ID_ALL;
		copy_writer_text(&w->names[i], events[i].name);
		w->events[i].name = vt_buf_str(&w->names[i]);
	}
	copy_writer_text(&w->arch, about->arch);
	copy_writer_text(&w->version, about->version);
	copy_writer_text(&w->cmdline, about->cmdline);
	w->cpus = about->cpus;
	return w->file ? write_file_head(w, err) : write_pipe_head(w, err);
}

struct vt_perfdata_writer *
vt_perfdata_writer_new(struct vt_output *out, const struct vt_perfdata_event *events,
		       size_t nevents, const struct vt_perfdata_about *about, struct vt_error *err)
{
	struct vt_perfdata_writer *w;

	if (!nevents || nevents > VT_PERFDATA_WRITE_EVENTS) {
		vt_error_set(err, VT_E_LIMIT, "a perf.data of %zu events", nevents);
		return NULL;
	}
	w = calloc(1, sizeof(*w));
	if (!w) {
		vt_error_nomem(err);
		return NULL;
	}
	w->out = out;
	w->file = can_seek(out);
	w->first_time = UINT64_MAX;
	if (start_writer(w, events, nevents, about, err) < 0) {
		free_perfdata_writer(w);
		return NULL;
	}
	return w;
}

int vt_perfdata_writer_close(struct vt_perfdata_writer *w, bool keep, struct vt_error *err)
{
	int rc = 0;

	if (!w)
		return 0;
	if (keep)
		rc = w->file ? write_file_tail(w, err) : flush_output(w, err);
	free_perfdata_writer(w);
	return rc;
}
