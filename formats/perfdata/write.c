/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/perfdata/write.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "formats/perfdata/write_internal.h"

#define RECORD_MAX 65528 /* bytes: the size has 16 bits, records are aligned to 8 */
#define COMM_MAX   15
#define CAN_EXEC   4 /* PROT_EXEC of mmap(2) */

bool vt_perfdata_writer_is_file(const struct vt_perfdata_writer *w)
{
	return w->file;
}

/* ---- a record ---- */

void vti_pd_write_bytes(struct vt_perfdata_writer *w, const void *data, size_t size)
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

void vti_pd_write_begin(struct vt_perfdata_writer *w, uint32_t type, uint16_t misc)
{
	w->rec.size = 0;
	vt_buf_put_le32(&w->rec, type);
	put_u16(&w->rec, misc);
	put_u16(&w->rec, 0);
}

int vti_pd_write_end(struct vt_perfdata_writer *w, struct vt_error *err)
{
	if (w->rec.failed)
		return vt_error_nomem(err);
	if (w->rec.size > RECORD_MAX)
		return vt_error_set(err, VT_E_LIMIT,
				    "a record of %zu bytes is too large for perf.data",
				    w->rec.size);
	vt_put_le16(w->rec.data + 6, (uint16_t)w->rec.size);
	vti_pd_write_bytes(w, w->rec.data, w->rec.size);
	return 0;
}

/* A text with its zero, and zeros up to a multiple of 8. */
static void put_name(struct vt_buf *b, const char *text, size_t size)
{
	static const uint8_t zeros[8] = {0};

	vt_buf_put(b, text, size);
	vt_buf_put(b, zeros, 8 - size % 8);
}

/* What ends each record of the kernel's, in the order of linux/perf_event.h. */
static void put_stamp(struct vt_perfdata_writer *w, const struct vt_perfdata_stamp *s)
{
	uint64_t type = w->events[s->event].sample_type;

	if (type & PD_SAMPLE_TID) {
		put_i32(&w->rec, s->pid);
		put_i32(&w->rec, s->tid);
	}
	if (type & PD_SAMPLE_TIME) {
		vt_buf_put_le64(&w->rec, s->time);
		if (w->first_time > s->time)
			w->first_time = s->time;
		if (w->last_time < s->time)
			w->last_time = s->time;
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

static int end_stamped(struct vt_perfdata_writer *w, const struct vt_perfdata_stamp *s,
		       struct vt_error *err)
{
	put_stamp(w, s);
	return vti_pd_write_end(w, err);
}

/* A path or name that a C program can read back: not empty, not too long, no zero in it. */
static int check_name(const char *what, const char *text, size_t size, struct vt_error *err)
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
	int rc = check_name("a path", m->path, m->path_size, err);

	if (rc < 0)
		return rc;
	if (!m->length || m->start + m->length - 1 < m->start)
		return vt_error_set(err, VT_E_FORMAT, "a mapping of nothing, or around the end");
	if (m->buildid_size > 20)
		return vt_error_set(err, VT_E_LIMIT, "a build-id of %zu bytes", m->buildid_size);
	vti_pd_write_begin(w, PD_MMAP2, misc);
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
	put_name(&w->rec, m->path, m->path_size);
	return end_stamped(w, s, err);
}

int vt_perfdata_put_buildid(struct vt_perfdata_writer *w, const uint8_t *buildid, size_t size,
			    const char *path, size_t path_size, struct vt_error *err)
{
	uint8_t field[24] = {0};
	int rc = check_name("a path", path, path_size, err);

	if (rc < 0)
		return rc;
	if (size > 20)
		return vt_error_set(err, VT_E_LIMIT, "a build-id of %zu bytes", size);
	vti_pd_write_begin(w, PD_HEADER_BUILD_ID, PD_MISC_USER | PD_MISC_BUILD_ID_SIZE);
	put_i32(&w->rec, -1);
	if (size)
		memcpy(field, buildid, size);
	field[20] = (uint8_t)size;
	vt_buf_put(&w->rec, field, sizeof(field));
	vt_buf_put(&w->rec, path, path_size);
	do
		vt_buf_put_u8(&w->rec, 0);
	while (w->rec.size % 8 && !w->rec.failed);
	if (!w->file)
		return vti_pd_write_end(w, err);
	if (w->rec.failed)
		return vt_error_nomem(err);
	vt_put_le16(w->rec.data + 6, (uint16_t)w->rec.size);
	vt_buf_put(&w->buildids, w->rec.data, w->rec.size);
	return w->buildids.failed ? vt_error_nomem(err) : 0;
}

int vt_perfdata_put_comm(struct vt_perfdata_writer *w, const struct vt_perfdata_stamp *s,
			 const char *comm, size_t size, bool exec, struct vt_error *err)
{
	int rc;

	if (size > COMM_MAX)
		size = COMM_MAX;
	rc = check_name("a thread's name", comm, size, err);
	if (rc < 0)
		return rc;
	vti_pd_write_begin(w, PD_COMM, exec ? PD_MISC_COMM_EXEC : 0);
	put_i32(&w->rec, s->pid);
	put_i32(&w->rec, s->tid);
	put_name(&w->rec, comm, size);
	return end_stamped(w, s, err);
}

int vt_perfdata_put_task(struct vt_perfdata_writer *w, const struct vt_perfdata_stamp *s,
			 enum pd_record type, int32_t ppid, int32_t ptid, struct vt_error *err)
{
	vti_pd_write_begin(w, type, 0);
	put_i32(&w->rec, s->pid);
	put_i32(&w->rec, ppid);
	put_i32(&w->rec, s->tid);
	put_i32(&w->rec, ptid);
	vt_buf_put_le64(&w->rec, s->time);
	return end_stamped(w, s, err);
}

int vt_perfdata_put_itrace_start(struct vt_perfdata_writer *w, const struct vt_perfdata_stamp *s,
				 struct vt_error *err)
{
	vti_pd_write_begin(w, PD_ITRACE_START, 0);
	put_i32(&w->rec, s->pid);
	put_i32(&w->rec, s->tid);
	return end_stamped(w, s, err);
}

int vt_perfdata_put_aux(struct vt_perfdata_writer *w, const struct vt_perfdata_stamp *s,
			uint64_t offset, uint64_t size, uint64_t flags, struct vt_error *err)
{
	vti_pd_write_begin(w, PD_AUX, 0);
	vt_buf_put_le64(&w->rec, offset);
	vt_buf_put_le64(&w->rec, size);
	vt_buf_put_le64(&w->rec, flags);
	return end_stamped(w, s, err);
}

int vt_perfdata_put_switch(struct vt_perfdata_writer *w, const struct vt_perfdata_stamp *s,
			   const struct vt_perfdata_switch *sw, struct vt_error *err)
{
	unsigned misc = PD_MISC_USER;

	if (sw->out)
		misc |= PD_MISC_SWITCH_OUT;
	if (sw->out && sw->preempt)
		misc |= PD_MISC_SWITCH_OUT_PREEMPT;
	vti_pd_write_begin(w, sw->wide ? PD_SWITCH_CPU_WIDE : PD_SWITCH, (uint16_t)misc);
	if (sw->wide) {
		put_i32(&w->rec, sw->other_pid);
		put_i32(&w->rec, sw->other_tid);
	}
	return end_stamped(w, s, err);
}

int vt_perfdata_put_auxtrace_info(struct vt_perfdata_writer *w, uint32_t type, const uint64_t *priv,
				  size_t count, struct vt_error *err)
{
	size_t i;

	vti_pd_write_begin(w, PD_AUXTRACE_INFO, 0);
	vt_buf_put_le32(&w->rec, type);
	vt_buf_put_le32(&w->rec, 0);
	for (i = 0; i < count; i++)
		vt_buf_put_le64(&w->rec, priv[i]);
	return vti_pd_write_end(w, err);
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
	vti_pd_write_begin(w, PD_AUXTRACE, 0);
	vt_buf_put_le64(&w->rec, size + padding);
	vt_buf_put_le64(&w->rec, a->offset);
	vt_buf_put_le64(&w->rec, a->reference);
	vt_buf_put_le32(&w->rec, a->index);
	put_i32(&w->rec, a->tid);
	put_i32(&w->rec, a->cpu);
	vt_buf_put_le32(&w->rec, 0);
	rc = vti_pd_write_end(w, err);
	if (rc < 0)
		return rc;
	if (w->file)
		w->index[w->nindex++].size = w->rec.size;
	vti_pd_write_bytes(w, data, size);
	vti_pd_write_bytes(w, zeros, padding);
	return 0;
}

int vt_perfdata_put_record(struct vt_perfdata_writer *w, uint32_t type, uint16_t misc,
			   const struct vt_perfdata_stamp *s, const void *payload, size_t size,
			   struct vt_error *err)
{
	vti_pd_write_begin(w, type, misc);
	vt_buf_put(&w->rec, payload, size);
	return s ? end_stamped(w, s, err) : vti_pd_write_end(w, err);
}

/* ---- beginning and end ---- */

static void writer_free(struct vt_perfdata_writer *w)
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

/* A header can be put over the start of a regular file only where writing begins at that start. */
static bool can_seek(const struct vt_output *out)
{
	int flags = fcntl(out->fd, F_GETFL);

	return out->regular && flags >= 0 && !(flags & O_APPEND) &&
	       lseek(out->fd, 0, SEEK_CUR) == 0;
}

static void keep_text(struct vt_buf *b, const char *text)
{
	if (text)
		vt_buf_printf(b, "%s", text);
}

static int writer_start(struct vt_perfdata_writer *w, const struct vt_perfdata_event *events,
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
		keep_text(&w->names[i], events[i].name);
		w->events[i].name = vt_buf_str(&w->names[i]);
	}
	keep_text(&w->arch, about->arch);
	keep_text(&w->version, about->version);
	keep_text(&w->cmdline, about->cmdline);
	w->cpus = about->cpus;
	return vti_pd_write_head(w, err);
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
	if (writer_start(w, events, nevents, about, err) < 0) {
		writer_free(w);
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
		rc = vti_pd_write_tail(w, err);
	writer_free(w);
	return rc;
}
