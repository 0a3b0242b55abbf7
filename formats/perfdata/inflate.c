/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Compressed records.  The payloads of all COMPRESSED records of a file are one zstd stream, which
 * contains records again; one may begin in one payload and end in a later one.
 */
#include "formats/perfdata/session.h"

#include <assert.h>
#include <stdlib.h>
#include <zstd.h>

/* Room for the search after damage, and for more output. */
#define OUT_SIZE (PD_VIEW_MAX + (256u << 10))

struct pd_inflate {
	ZSTD_DStream *stream;
	bool broken;	       /* the stream cannot be decompressed any further */
	bool searching;	       /* the next record after a damaged one has not been found yet */
	struct pd_rec damaged; /* that damaged record, without its payload */
	uint64_t passed;       /* bytes skipped since */
	size_t used;
	uint8_t out[OUT_SIZE];
};

static struct pd_inflate *start_inflate(struct pd_session *s)
{
	struct pd_inflate *z = calloc(1, sizeof(*z));

	if (z)
		z->stream = ZSTD_createDStream();
	if (!z || !z->stream ||
	    ZSTD_isError(
		    ZSTD_DCtx_setParameter(z->stream, ZSTD_d_windowLogMax, VT_PERFDATA_ZSTD_LOG))) {
		vti_pd_nomem(s);
		if (z)
			ZSTD_freeDStream(z->stream);
		free(z);
		return NULL;
	}
	return z;
}

static int break_stream(struct pd_session *s, uint64_t offset, uint64_t bytes, const char *why)
{
	s->inflate->broken = true;
	s->inflate->used = 0;
	vti_pd_damage(s, offset, bytes, "compressed records: %s", why);
	return 0;
}

/* The output from `at` on; `done`: no more of this payload; `last`: nor of any other. */
static struct pd_view make_output_view(const struct pd_inflate *z, size_t at, bool done, bool last)
{
	size_t have = z->used - at;

	return (struct pd_view){
		.p = z->out + at,
		.have = have < PD_VIEW_MAX ? have : PD_VIEW_MAX,
		.left = last ? have : UINT64_MAX,
		.ends = done && have <= PD_VIEW_MAX,
		.whole = last && have <= PD_VIEW_MAX,
		.inner = true,
	};
}

/*
 * Continues the search for the next record after a damaged one.  True: it is at *at; false: it is
 * not in the output so far, which is not needed any more before *at.
 */
static bool continue_search(struct pd_session *s, size_t *at, bool done, bool last)
{
	struct pd_inflate *z = s->inflate;
	struct pd_view v;
	uint64_t passed;
	bool all, found;

	do {
		v = make_output_view(z, *at, done, last);
		all = v.have == z->used - *at;
		found = vti_pd_search(s, &v, z->passed == 0, &passed);
		assert(passed <= v.have);
		z->passed += passed;
		*at += (size_t)passed;
	} while (!found && passed && !all);
	if (found || last) {
		z->searching = false;
		vti_pd_passed_over(s, &z->damaged, z->passed, found, true);
	}
	return found;
}

/* Checks the record at `at` of the output, like vti_pd_fits(). */
static enum pd_fit check_output_record(struct pd_session *s, const struct pd_rec *rec, size_t at,
				       bool done, bool last)
{
	struct pd_view v = make_output_view(s->inflate, at, done, last);
	size_t extent;

	if (rec->size < PD_HEADER_SIZE)
		return PD_DAMAGED;
	if (v.have >= rec->size)
		return vti_pd_fits(s, &v);
	extent = vti_pd_extent(s, v.p, v.have);
	if (last || (extent < v.have && extent != PD_EXTENT_UNKNOWN && extent != rec->size))
		return PD_DAMAGED;
	return PD_UNDECIDED;
}

static int deliver_inner_record(struct pd_session *s, const struct pd_rec *rec)
{
	if (rec->type != PD_COMPRESSED && rec->type != PD_COMPRESSED2 && rec->type != PD_AUXTRACE &&
	    rec->type != PD_TRACING_DATA)
		return vti_pd_record(s, rec->payload - PD_HEADER_SIZE, rec->offset);
	vti_pd_bad_record(s, rec, "cannot be inside a compressed one");
	return 0;
}

/* Takes one record, or searches once.  1: continue at *at; 0: wait for more output; or < 0. */
static int take_output_record(struct pd_session *s, uint64_t offset, size_t *at, bool done,
			      bool last)
{
	struct pd_inflate *z = s->inflate;
	struct pd_rec rec;
	int r;

	if (z->searching)
		return continue_search(s, at, done, last);
	if (z->used - *at < PD_HEADER_SIZE)
		return 0;
	rec = vti_pd_rec(s, z->out + *at, offset);
	switch (check_output_record(s, &rec, *at, done, last)) {
	case PD_UNDECIDED:
		return 0;
	case PD_FITS:
		*at += rec.size;
		r = deliver_inner_record(s, &rec);
		return r < 0 ? r : 1;
	default:
		z->searching = true;
		z->damaged = rec;
		z->passed = 0;
		return 1;
	}
}

/*
 * Delivers the complete records in the output, and moves an incomplete one to the front.  done: the
 * output has all of this payload; last: and there is no other payload.
 */
static int deliver_output(struct pd_session *s, uint64_t offset, bool done, bool last)
{
	struct pd_inflate *z = s->inflate;
	size_t at = 0;
	int r = 1;

	while (r > 0 && at < z->used)
		r = take_output_record(s, offset, &at, done, last);
	memmove(z->out, z->out + at, z->used - at);
	z->used -= at;
	return r < 0 ? r : 0;
}

int vti_pd_inflate(struct pd_session *s, const struct pd_rec *r)
{
	ZSTD_inBuffer in = {r->payload, r->left, 0};
	ZSTD_outBuffer out;
	size_t z, before;
	int code;

	if (!s->inflate) {
		s->inflate = start_inflate(s);
		if (!s->inflate)
			return -VT_E_NOMEM;
	}
	if (s->inflate->broken) {
		s->sum->unread += r->size;
		return 0;
	}
	do {
		out.dst = s->inflate->out;
		out.size = OUT_SIZE;
		out.pos = s->inflate->used;
		before = out.pos;
		z = ZSTD_decompressStream(s->inflate->stream, &out, &in);
		if (ZSTD_isError(z))
			return break_stream(s, r->offset, r->size, ZSTD_getErrorName(z));
		s->inflate->used = out.pos;
		code = deliver_output(s, r->offset, in.pos == in.size && out.pos < out.size, false);
		if (code < 0)
			return code;
		/* If the output is full, more may follow; without progress, there is no more. */
	} while (in.pos < in.size || (out.pos == out.size && out.pos > before));
	return 0;
}

int vti_pd_inflate_end(struct pd_session *s)
{
	uint64_t offset = s->in->offset;
	int code;

	if (!s->inflate || s->inflate->broken)
		return 0;
	code = deliver_output(s, offset, true, true);
	if (code == 0 && s->inflate->used)
		vti_pd_damage(s, offset, s->inflate->used,
			      "compressed records end inside a record's header");
	s->inflate->used = 0;
	return code;
}

void vti_pd_inflate_fini(struct pd_session *s)
{
	if (s->inflate)
		ZSTD_freeDStream(s->inflate->stream);
	free(s->inflate);
}
