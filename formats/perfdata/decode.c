/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two containers of records: a file with sections, and a pipe. */
#include "formats/perfdata/perfdata.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/common/tempfile.h"
#include "formats/perfdata/session.h"

#define FILE_HEADER_SIZE 104
/* The oldest header ends before the feature bits. */
#define FILE_HEADER_MIN	 72
#define PIPE_HEADER_SIZE 16

/* A shorter rest of a stack is read: that takes less time than another call. */
#define LEAST_LEFT_OUT 4096

struct section {
	uint64_t offset;
	uint64_t size;
	unsigned feature;
};

struct file_header {
	uint64_t size;
	uint64_t attr_size;
	struct section attrs;
	struct section data;
	uint64_t features[4];
};

/* A file for random access. */
struct access {
	int fd;
	off_t base;   /* position in the descriptor of the input's first byte */
	uint64_t end; /* size of the input */
};

bool vt_perfdata_probe(const uint8_t *p, size_t size)
{
	return size >= 8 && (!memcmp(p, "PERFILE2", 8) || !memcmp(p, "2ELIFREP", 8) ||
			     !memcmp(p, "PERFFILE", 8));
}

/* ---- access ---- */

/* Fills the input's window.  This is rare enough to report the progress here. */
static int refill(struct pd_session *s, size_t need, size_t *have)
{
	if (s->opt->progress)
		s->opt->progress(s->opt->progress_arg, s->in->offset);
	return vt_input_fill(s->in, need, have, s->err);
}

/* False if the input can only be read sequentially. */
static bool init_access(struct access *a, const struct vt_input *in)
{
	struct stat st;
	off_t here;

	if (in->pull || fstat(in->fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	here = lseek(in->fd, 0, SEEK_CUR);
	if (here < 0)
		return false;
	a->fd = in->fd;
	a->base = here - (off_t)(in->offset + vt_input_have(in));
	a->end = st.st_size > a->base ? (uint64_t)(st.st_size - a->base) : 0;
	return true;
}

/*
 * Copies the input to a temporary file, which is then read instead.  In a file, build-ids and names
 * of events come after the records that need them, so it cannot be read from a pipe.
 */
static int spool_input(struct pd_session *s, struct vt_input *file, struct access *a)
{
	const char *dir = vt_tempdir(s->opt->tmpdir);
	int fd = vt_tempfile(dir, s->err), code;
	size_t have;

	*file = (struct vt_input){.fd = -1};
	if (fd < 0)
		return fd;
	while ((code = refill(s, 1, &have)) == 0 && have) {
		code = vt_tempfile_put(fd, dir, vt_input_data(s->in), have, s->err);
		if (code < 0)
			break;
		vt_input_consume(s->in, have);
	}
	if (code == 0 && lseek(fd, 0, SEEK_SET) < 0)
		code = vt_error_errno(s->err, VT_E_READ, errno, "%s: temporary file", dir);
	if (code == 0)
		code = vt_input_open_fd(file, fd, s->in->name, s->err);
	if (code < 0) {
		close(fd);
		return code;
	}
	file->owned = true;
	*a = (struct access){.fd = fd, .end = s->in->offset};
	s->in = file;
	return 0;
}

static int skip_to(struct pd_session *s, uint64_t offset)
{
	size_t have, step;

	while (s->in->offset < offset) {
		if (vt_input_fill(s->in, 1, &have, s->err) < 0)
			return -(int)s->err->code;
		if (!have)
			return 0;
		step = offset - s->in->offset < have ? (size_t)(offset - s->in->offset) : have;
		vt_input_consume(s->in, step);
	}
	return 0;
}

/* Replaces *out by the bytes at an offset: fewer than `size` when the input ends before. */
static int load_bytes(struct pd_session *s, const struct access *a, uint64_t offset, size_t size,
		      struct vt_buf *out)
{
	out->size = 0;
	if (offset >= a->end)
		return 0;
	if (size > a->end - offset)
		size = (size_t)(a->end - offset);
	while (out->size < size && vt_buf_reserve(out, size - out->size)) {
		ssize_t n = pread(a->fd, out->data + out->size, size - out->size,
				  a->base + (off_t)(offset + out->size));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return vt_error_errno(s->err, VT_E_READ, errno, "%s", s->in->name);
		if (n == 0)
			break;
		out->size += (size_t)n;
	}
	return out->failed ? vti_pd_nomem(s) : 0;
}

/* ---- records ---- */

static int report_cut(struct pd_session *s, uint64_t have, const char *what)
{
	vti_pd_damage(s, s->in->offset, have, "the input ends inside %s", what);
	vt_input_consume(s->in, (size_t)have);
	return 0;
}

/* Reads a TRACING_DATA record, and the bytes after it, padded to a multiple of 8. */
static int read_tracing_data(struct pd_session *s, const struct pd_rec *r)
{
	struct vt_cursor c = vt_cursor_make(r->payload, r->left, s->big);
	uint64_t size = vt_cursor_u32(&c), padded = (size + 7) & ~UINT64_C(7), offset = r->offset;
	size_t have;
	int code;

	if (c.bad)
		vti_pd_bad_record(s, r, "too short for its type");
	vt_input_consume(s->in, r->size);
	if (c.bad)
		return 0;
	if (padded > VT_PERFDATA_SECTION_MAX) {
		vti_pd_damage(s, offset, padded, "trace data of %" PRIu64 " bytes are too large",
			      size);
		return skip_to(s, s->in->offset + padded);
	}
	if (vt_input_fill(s->in, (size_t)padded, &have, s->err) < 0)
		return -(int)s->err->code;
	if (have < padded)
		return report_cut(s, have, "trace data");
	code = vti_pd_feature(s, PD_FEAT_TRACING_DATA, vt_input_data(s->in), (size_t)size, offset);
	vt_input_consume(s->in, (size_t)padded);
	return code;
}

/*
 * Views the next `need` bytes, or as many as there are.  Never more, so that results do not depend
 * on the pieces in which a pipe delivers.
 */
static int fill_view(struct pd_session *s, uint64_t end, size_t need, struct pd_view *v)
{
	uint64_t left = end - s->in->offset;
	size_t have = vt_input_have(s->in);

	*v = (struct pd_view){.left = end == UINT64_MAX ? end : left};
	if (need > left)
		need = (size_t)left;
	if (have < need && refill(s, need, &have) < 0)
		return -(int)s->err->code;
	v->p = vt_input_data(s->in);
	v->have = have < need ? have : need;
	v->whole = v->have == left || have < need;
	v->ends = v->whole;
	return 0;
}

/*
 * The true size of a record whose loss would make all later records useless, if only its size is
 * damaged, which its contents show; else 0.  The next record is `next` bytes on.
 */
static uint64_t find_vital_size(const struct pd_session *s, const struct pd_rec *r, uint64_t next)
{
	if (next < PD_HEADER_SIZE || next > PD_RECORD_MAX)
		return 0;
	if (r->type == PD_COMPRESSED)
		return next;
	if (r->type != PD_HEADER_ATTR || !s->pipe)
		return 0;
	return vti_pd_attr_end(s, r->payload - PD_HEADER_SIZE, r->size, next);
}

static int read_vital(struct pd_session *s, struct pd_rec r, uint64_t size, uint64_t next)
{
	vti_pd_damage(s, r.offset, size < next ? next - size : PD_HEADER_SIZE,
		      "a record of type %" PRIu32 " claims a size of %u and is read as one of "
		      "%" PRIu64 ": the next record is %" PRIu64 " bytes on",
		      r.type, r.size, size, next);
	r.size = (uint16_t)size;
	r.left = r.size - PD_HEADER_SIZE;
	s->sum->records++;
	return vti_pd_user(s, &r);
}

/* Skips the damaged record at the input's position, up to the next good one. */
static int recover_records(struct pd_session *s, uint64_t end)
{
	struct pd_rec r = vti_pd_rec(s, vt_input_data(s->in), s->in->offset);
	size_t from = 1;
	bool found;
	int code;

	for (;;) {
		struct pd_view v;
		uint64_t at, vital;

		if (fill_view(s, end, PD_VIEW_MAX, &v) < 0)
			return -(int)s->err->code;
		found = vti_pd_search(s, &v, from, &at);
		r.payload = v.p + PD_HEADER_SIZE;
		vital = from && found && at <= v.have ? find_vital_size(s, &r, at) : 0;
		if (vital) {
			code = read_vital(s, r, vital, at);
			vt_input_consume(s->in, (size_t)at);
			return code;
		}
		code = skip_to(s, s->in->offset + at);
		if (code < 0 || found || v.whole)
			break;
		from = 0;
	}
	if (code >= 0)
		vti_pd_passed_over(s, &r, s->in->offset - r.offset, found, false);
	return code;
}

/*
 * Checks the record at the input's position.  1: it can be read; 0: it is damaged.  Its size must
 * fit its contents, or the records after it.
 */
static int check_record(struct pd_session *s, uint64_t end, const struct pd_rec *r)
{
	size_t need = (size_t)r->size + PD_HEADER_SIZE;
	struct pd_view v;
	enum pd_fit fits;

	do {
		if (fill_view(s, end, need, &v) < 0)
			return -(int)s->err->code;
		if (v.have < r->size)
			return 0;
		fits = vti_pd_fits(s, &v);
		/* It waits only for as many bytes as are needed: a pipe may be slow. */
		need = need < PD_VIEW_MAX / 4 ? 4 * need : PD_VIEW_MAX;
	} while (fits == PD_UNDECIDED);
	return fits == PD_FITS;
}

/*
 * Extends the window by the rest of a sample's stack without reading it.  1: it did; 0: there is
 * nothing to leave out.
 */
static int leave_stack_out(struct pd_session *s, const struct pd_rec *r)
{
	size_t have = vt_input_have(s->in), from, to;

	while (have < r->size && !s->in->eof) {
		if (!vti_pd_stack_find(s, vt_input_data(s->in), have, &from, &to)) {
			if (refill(s, have + 1, &have) < 0)
				return -(int)s->err->code;
			continue;
		}
		if (to > r->size || to < have + LEAST_LEFT_OUT)
			return 0;
		return vt_input_leave_out(s->in, to, s->err) < 0 ? -(int)s->err->code : 1;
	}
	return 0;
}

/*
 * Like check_record(), without the stack that nobody asked for.  A record that is not as it should
 * be is read again, whole: what it is depends on all of its bytes.
 */
static int check_sparsely(struct pd_session *s, uint64_t end, const struct pd_rec *r)
{
	int code = s->in->sparse && r->type == PD_SAMPLE ? leave_stack_out(s, r) : 0;
	size_t have;

	if (code < 0 || (code > 0 && refill(s, r->size, &have) < 0))
		return -(int)s->err->code;
	if (!code)
		return check_record(s, end, r);
	if (have >= r->size && vti_pd_extent(s, vt_input_data(s->in), r->size) == r->size) {
		code = check_record(s, end, r);
		if (code)
			return code;
	}
	vt_input_read_again(s->in);
	return check_record(s, end, r);
}

/* Reads and consumes the record at the input's position. */
static int read_input_record(struct pd_session *s)
{
	struct pd_rec r = vti_pd_rec(s, vt_input_data(s->in), s->in->offset);
	int code;

	if (r.type == PD_AUXTRACE) {
		s->sum->records++;
		return vti_pd_auxtrace(s, &r);
	}
	if (r.type == PD_TRACING_DATA && s->pipe) {
		s->sum->records++;
		return read_tracing_data(s, &r);
	}
	code = vti_pd_record(s, vt_input_data(s->in), s->in->offset);
	vt_input_consume(s->in, r.size);
	return code;
}

/* Reads records up to an offset, or to the end of the input if that comes first. */
static int read_records(struct pd_session *s, uint64_t end)
{
	struct vt_input *in = s->in;
	int code = 0;

	while (code >= 0 && in->offset < end) {
		uint64_t left = end - in->offset;
		size_t have = vt_input_have(in);
		struct pd_rec r;

		if (have < PD_HEADER_SIZE && refill(s, PD_HEADER_SIZE, &have) < 0)
			return -(int)s->err->code;
		if (!have && (end == UINT64_MAX))
			return 0;
		if (!have) {
			vti_pd_missing(s, left);
			return 0;
		}
		if (have < PD_HEADER_SIZE || left < PD_HEADER_SIZE)
			return report_cut(s, have < left ? have : left, "a record's header");
		r = vti_pd_rec(s, vt_input_data(in), in->offset);
		code = r.size < PD_HEADER_SIZE || r.size > left ? 0 : check_sparsely(s, end, &r);
		if (code >= 0)
			code = code ? read_input_record(s) : recover_records(s, end);
	}
	return code;
}

/* ---- file mode ---- */

static struct section take_section(struct vt_cursor *c)
{
	struct section x = {.offset = vt_cursor_u64(c)};

	x.size = vt_cursor_u64(c);
	return x;
}

/*
 * Writers with 32-bit longs write the feature bits as such; in a big-endian file the halves of each
 * 64-bit word are then exchanged.  HOSTNAME, which is always present, shows it.
 */
static void fix_feature_bits(struct file_header *h, bool big)
{
	const uint64_t hostname = UINT64_C(1) << PD_FEAT_HOSTNAME;
	unsigned i;

	if (!big || h->features[0] & hostname || !(h->features[0] >> 32 & hostname))
		return;
	for (i = 0; i < 4; i++)
		h->features[i] = h->features[i] >> 32 | h->features[i] << 32;
}

static bool parse_header(struct file_header *h, const uint8_t *p, size_t size, bool big)
{
	struct vt_cursor c = vt_cursor_make(p, size, big);
	unsigned i;

	memset(h, 0, sizeof(*h));
	vt_cursor_u64(&c); /* magic */
	h->size = vt_cursor_u64(&c);
	h->attr_size = vt_cursor_u64(&c);
	h->attrs = take_section(&c);
	h->data = take_section(&c);
	take_section(&c); /* event types, not used since Linux 3.11 */
	if (c.bad)
		return false;
	if (h->size >= FILE_HEADER_SIZE) {
		for (i = 0; i < 4; i++)
			h->features[i] = vt_cursor_u64(&c);
		fix_feature_bits(h, big);
	}
	return !c.bad;
}

static int read_ids(struct pd_session *s, const struct access *a, struct section ids, size_t event)
{
	struct vt_buf b = VT_BUF_INIT;
	uint64_t n = ids.size / 8;
	size_t i;
	int code;

	if (n > VT_PERFDATA_IDS_MAX) {
		vti_pd_damage(s, ids.offset, 0, "an event claims %" PRIu64 " ids", n);
		return 0;
	}
	code = load_bytes(s, a, ids.offset, (size_t)n * 8, &b);
	for (i = 0; code >= 0 && i + 8 <= b.size; i += 8)
		code = vti_pd_id_add(s, vti_pd_u64(b.data + i, s->big), event);
	if (code >= 0 && b.size < n * 8)
		vti_pd_damage(s, ids.offset, 0, "event ids lie outside of the file");
	vt_buf_free(&b);
	return code;
}

/* Reads an element of the attribute section: an attribute of any size, the section of its ids. */
static int read_attr(struct pd_session *s, const struct access *a, const uint8_t *p, size_t size,
		     uint64_t offset)
{
	size_t event = s->nevents, at = size - 16;
	struct vt_cursor c;
	struct pd_attr attr;
	int code;

	if (!vti_pd_attr_parse(&attr, p, at, s->big)) {
		vti_pd_damage(s, offset, size, "an attribute of %zu bytes is too small", at);
		return 0;
	}
	if (attr.size >= PD_ATTR_SIZE_MIN && attr.size < at)
		at = attr.size;
	code = vti_pd_event_add(s, &attr);
	if (code)
		return code < 0 ? code : 0;
	c = vt_cursor_make(p + at, 16, s->big);
	return read_ids(s, a, take_section(&c), event);
}

static int read_attrs(struct pd_session *s, const struct access *a, const struct file_header *h)
{
	struct vt_buf b = VT_BUF_INIT;
	uint64_t n, i;
	int code = 0;

	if (h->attr_size < PD_ATTR_SIZE_MIN + 16 || h->attr_size > PD_RECORD_MAX) {
		vti_pd_damage(s, 16, 0, "the header claims attributes of %" PRIu64 " bytes",
			      h->attr_size);
		return 0;
	}
	n = h->attrs.size / h->attr_size;
	if (n > VT_PERFDATA_EVENTS_MAX) {
		vti_pd_damage(s, 24, 0, "the header claims %" PRIu64 " attributes", n);
		n = 0;
	}
	for (i = 0; code >= 0 && i < n; i++) {
		uint64_t offset = h->attrs.offset + i * h->attr_size;

		code = load_bytes(s, a, offset, (size_t)h->attr_size, &b);
		if (code < 0)
			break;
		if (b.size < h->attr_size) {
			vti_pd_damage(s, offset, 0, "attributes lie outside of the file");
			break;
		}
		code = read_attr(s, a, b.data, b.size, offset);
	}
	vt_buf_free(&b);
	vti_pd_layout(s);
	return code;
}

static int compare_sections(const void *a, const void *b)
{
	const struct section *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->feature < y->feature ? -1 : x->feature > y->feature;
}

/*
 * Tells of a second recording behind a file's last section, as two files in one make it.  perf's
 * own files end there.
 */
static int check_end(struct pd_session *s, const struct access *a, uint64_t end)
{
	struct vt_buf b = VT_BUF_INIT;
	int code = load_bytes(s, a, end, PIPE_HEADER_SIZE, &b);

	if (code >= 0 && vt_perfdata_probe(b.data, b.size))
		vti_pd_damage(s, end, a->end - end,
			      "another recording begins here and is not read: give each as an "
			      "input of its own");
	vt_buf_free(&b);
	return code;
}

static int read_features(struct pd_session *s, const struct access *a, const struct file_header *h)
{
	struct section sections[PD_FEAT_BITS];
	uint64_t at = h->data.offset + h->data.size;
	struct vt_buf b = VT_BUF_INIT;
	struct vt_cursor c;
	size_t n = 0, i;
	int code;

	for (i = 0; i < PD_FEAT_BITS; i++) {
		if (h->features[i / 64] >> (i % 64) & 1)
			sections[n++].feature = (unsigned)i;
	}
	code = n ? load_bytes(s, a, at, n * 16, &b) : 0;
	if (code >= 0 && b.size < n * 16) {
		vti_pd_damage(s, at, 0, "the table of feature sections is cut");
		n = b.size / 16;
	}
	c = vt_cursor_make(b.data, b.size, s->big);
	for (i = 0; i < n; i++) {
		unsigned feature = sections[i].feature;

		sections[i] = take_section(&c);
		sections[i].feature = feature;
	}
	qsort(sections, n, sizeof(sections[0]), compare_sections);
	for (i = 0, at += n * 16; code >= 0 && i < n; i++) {
		const struct section *x = &sections[i];

		if (x->offset >= at && x->size <= a->end && x->offset <= a->end - x->size)
			at = x->offset + x->size;
		if (x->size > VT_PERFDATA_SECTION_MAX) {
			vti_pd_damage(s, x->offset, 0,
				      "feature section %u claims %" PRIu64 " bytes", x->feature,
				      x->size);
			continue;
		}
		code = load_bytes(s, a, x->offset, (size_t)x->size, &b);
		if (code >= 0 && b.size < x->size)
			vti_pd_damage(s, x->offset, 0,
				      "feature section %u lies outside of the file", x->feature);
		else if (code >= 0)
			code = vti_pd_feature(s, x->feature, b.data, b.size, x->offset);
	}
	vt_buf_free(&b);
	return code < 0 ? code : check_end(s, a, at);
}

static int finish_order(struct pd_session *s)
{
	int code = vti_pd_inflate_end(s);

	if (code < 0)
		return code;
	code = vti_pd_order_flush(&s->order);
	return code == -VT_E_NOMEM ? vti_pd_nomem(s) : code;
}

static int read_sections(struct pd_session *s, const struct access *a, const struct file_header *h)
{
	uint64_t end = h->data.offset + h->data.size;
	bool unfinished = h->data.size == 0;
	int code;

	/* perf fills in the size, and writes the features, when a recording ends. */
	if (unfinished || end < h->data.offset)
		end = UINT64_MAX;
	code = read_attrs(s, a, h);
	if (code < 0)
		return code;
	if (!s->nevents)
		vti_pd_damage(s, h->attrs.offset, 0, "the file has no attributes");
	s->ordered = s->nevents && s->events[0].attr.flags & PD_ATTR_SAMPLE_ID_ALL;
	if (end != UINT64_MAX) {
		code = read_features(s, a, h);
		if (code < 0)
			return code;
	}
	if (h->data.offset < s->in->offset) {
		vti_pd_damage(s, 40, 0, "the data section lies inside the header");
		return 0;
	}
	if (unfinished)
		vti_pd_damage(s, 48, 0, "the recording was not finished (data size 0)");
	code = skip_to(s, h->data.offset);
	/* What was read ahead for the header is as good as read no more than needed. */
	if (s->opt->drop_stacks && vt_input_go_sparse(s->in))
		vt_input_read_again(s->in);
	if (code >= 0)
		code = read_records(s, end);
	return code < 0 ? code : finish_order(s);
}

static int read_file(struct pd_session *s, const struct access *a)
{
	struct vt_input *in = s->in;
	struct file_header h;
	size_t have;

	if (vt_input_fill(in, FILE_HEADER_SIZE, &have, s->err) < 0)
		return -(int)s->err->code;
	if (have < FILE_HEADER_MIN || !parse_header(&h, vt_input_data(in), have, s->big) ||
	    h.size < FILE_HEADER_MIN)
		return vt_error_set(s->err, VT_E_FORMAT, "%s: the header is cut or corrupt",
				    in->name);
	vt_input_consume(in, h.size < FILE_HEADER_SIZE ? FILE_HEADER_MIN : FILE_HEADER_SIZE);
	return read_sections(s, a, &h);
}

/* ---- both ---- */

static int convert_perfdata(struct pd_session *s)
{
	struct vt_input *in = s->in, file;
	struct access a;
	const uint8_t *p;
	size_t have;
	int code;

	if (vt_input_fill(in, PIPE_HEADER_SIZE, &have, s->err) < 0)
		return -(int)s->err->code;
	p = vt_input_data(in);
	if (!vt_perfdata_probe(p, have))
		return vt_error_set(s->err, VT_E_FORMAT, "%s: not a perf.data file", in->name);
	if (have < PIPE_HEADER_SIZE)
		return vt_error_set(s->err, VT_E_FORMAT, "%s: the header is cut at %zu bytes",
				    in->name, have);
	/* Version 1 has the same magic in both byte orders; its header's size shows the order. */
	s->big = *p == '2' || (!memcmp(p, "PERFFILE", 8) && vt_le64(p + 8) > UINT32_MAX);
	vti_pd_order_init(&s->order, s->big, vti_pd_deliver, s);
	vti_pd_meta_str(s, "byte_order", s->big ? "big" : "little");
	if ((vti_pd_u64(p + 8, s->big)) == PIPE_HEADER_SIZE) {
		s->pipe = true;
		s->ordered = true;
		vt_input_consume(in, PIPE_HEADER_SIZE);
		code = read_records(s, UINT64_MAX);
		return code < 0 ? code : finish_order(s);
	}
	if (init_access(&a, in))
		return read_file(s, &a);
	code = spool_input(s, &file, &a);
	if (code == 0)
		code = read_file(s, &a);
	s->in = in;
	vt_input_close(&file);
	return code;
}

static void free_session(struct pd_session *s)
{
	vti_pd_events_fini(s);
	vt_hash_fini(&s->ids);
	vt_hash_fini(&s->pmus);
	vt_hash_fini(&s->buildids);
	vt_hash_fini(&s->images);
	vt_hash_fini(&s->unknown);
	vt_intern_free(s->strings);
	vti_pd_order_fini(&s->order);
	vti_pd_inflate_fini(s);
	free(s);
}

int vt_perfdata_decode(struct vt_input *in, struct vt_writer *w,
		       const struct vt_format_options *opt, struct vt_format_summary *sum,
		       struct vt_error *err)
{
	struct pd_session *s = calloc(1, sizeof(*s));
	int code;

	memset(sum, 0, sizeof(*sum));
	if (!s)
		return vt_error_set(err, VT_E_NOMEM, "%s: out of memory", in->name);
	s->in = in;
	s->w = w;
	s->opt = opt;
	s->sum = sum;
	s->err = err;
	vt_hash_init(&s->ids, sizeof(struct pd_id), sizeof(uint64_t));
	vt_hash_init(&s->pmus, 2 * sizeof(uint32_t), sizeof(uint32_t));
	vt_hash_init(&s->buildids, sizeof(struct pd_buildid_row), sizeof(uint32_t));
	vt_hash_init(&s->images, sizeof(struct pd_image), offsetof(struct pd_image, has_id));
	vt_hash_init(&s->unknown, sizeof(struct pd_unknown), sizeof(uint32_t));
	s->strings = vt_intern_new();
	vti_pd_order_init(&s->order, false, vti_pd_deliver, s);
	code = s->strings ? convert_perfdata(s) : vti_pd_nomem(s);
	if (code >= 0)
		code = vti_pd_events_emit(s);
	if (code >= 0) {
		vti_pd_images_finish(s);
		vti_pd_lost_emit(s);
		vti_pd_gaps_emit(s);
		vti_pd_followed_emit(s);
		vti_pd_values_emit(s);
		code = vt_writer_error(w, err);
	}
	sum->out_of_order = s->order.late;
	free_session(s);
	return code < 0 ? code : 0;
}
