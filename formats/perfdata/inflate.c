/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Compressed records.  The payloads of all COMPRESSED records of a file are one zstd stream; what
 * comes out is records again, and one may begin in one payload and end in a later one.
 */
#include "formats/perfdata/session.h"

#include <stdlib.h>
#include <zstd.h>

#define OUT_SIZE (256u << 10)

struct pd_inflate {
	ZSTD_DStream *stream;
	bool broken; /* the stream cannot be read on: told once */
	size_t used;
	uint8_t out[OUT_SIZE];
};

static struct pd_inflate *start(struct pd_session *s)
{
	struct pd_inflate *z = calloc(1, sizeof(*z));

	if (z)
		z->stream = ZSTD_createDStream();
	if (!z || !z->stream ||
	    ZSTD_isError(
		    ZSTD_DCtx_setParameter(z->stream, ZSTD_d_windowLogMax, VT_PERFDATA_ZSTD_LOG))) {
		vt_error_set(s->err, VT_E_NOMEM, "%s: out of memory", s->in->name);
		if (z)
			ZSTD_freeDStream(z->stream);
		free(z);
		return NULL;
	}
	return z;
}

static int broken(struct pd_session *s, uint64_t offset, uint64_t bytes, const char *why)
{
	s->inflate->broken = true;
	s->inflate->used = 0;
	vti_pd_damage(s, offset, bytes, "compressed records: %s", why);
	return 0;
}

/* Hands on the complete records in the output and moves a begun one to the front. */
static int hand_on(struct pd_session *s, const struct pd_rec *outer)
{
	struct pd_inflate *z = s->inflate;
	size_t at = 0;
	int r;

	while (z->used - at >= PD_HEADER_SIZE) {
		struct pd_rec rec = vti_pd_rec(s, z->out + at, outer->offset);

		if (rec.size < PD_HEADER_SIZE)
			return broken(s, outer->offset, z->used - at, "a record of no size");
		if (z->used - at < rec.size)
			break;
		if (rec.type == PD_COMPRESSED || rec.type == PD_COMPRESSED2 ||
		    rec.type == PD_AUXTRACE || rec.type == PD_TRACING_DATA) {
			vti_pd_bad_record(s, &rec, "cannot be inside a compressed one");
		} else {
			r = vti_pd_record(s, z->out + at, outer->offset);
			if (r < 0)
				return r;
		}
		at += rec.size;
	}
	memmove(z->out, z->out + at, z->used - at);
	z->used -= at;
	return 0;
}

int vti_pd_inflate(struct pd_session *s, const struct pd_rec *r)
{
	ZSTD_inBuffer in = {r->payload, r->left, 0};
	ZSTD_outBuffer out;
	size_t z, before;
	int code;

	if (!s->inflate) {
		s->inflate = start(s);
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
			return broken(s, r->offset, r->size, ZSTD_getErrorName(z));
		s->inflate->used = out.pos;
		code = hand_on(s, r);
		if (code < 0 || s->inflate->broken)
			return code;
		/* A full output may hide more; an output that stands still is at its end. */
	} while (in.pos < in.size || (out.pos == out.size && out.pos > before));
	return 0;
}

void vti_pd_inflate_end(struct pd_session *s, uint64_t offset)
{
	if (s->inflate && !s->inflate->broken && s->inflate->used)
		vti_pd_damage(s, offset, s->inflate->used,
			      "compressed records end inside a record");
}

void vti_pd_inflate_fini(struct pd_session *s)
{
	if (s->inflate)
		ZSTD_freeDStream(s->inflate->stream);
	free(s->inflate);
}
