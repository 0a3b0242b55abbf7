/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/common/decompress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#define READ_SIZE   ((size_t)65536)
#define GZIP_FORMAT (15 + 16) /* zlib's window bits: the largest window, gzip's header */

/* Memory for xz's dictionary, whose size the data says: that of `xz -9` is 64 MiB. */
#define XZ_MEMORY ((uint64_t)256 << 20)

enum step { STEP_ON, STEP_ENDED, STEP_DAMAGED, STEP_NOMEM };

struct decompress;

/* A way to compress. */
struct codec {
	const char *name;
	const char *magic;
	size_t magic_size;
	bool (*start)(struct decompress *d); /* of each stream; false: out of memory */
	enum step (*step)(struct decompress *d);
	void (*end)(struct decompress *d); /* after a start() */
};

struct decompress {
	const struct codec *codec;
	union {
		z_stream gzip;
		bz_stream bzip2;
		lzma_stream xz;
		ZSTD_DCtx *zstd;
	} z;
	bool begun;	 /* a stream has begun */
	bool ended;	 /* the last has */
	const char *why; /* it is damaged; NULL: not known */
	uint8_t *data;
	size_t cap;
	uint8_t *next; /* to be decompressed */
	size_t left;
	uint8_t *out; /* where to */
	size_t room;
	uint64_t total;
};

static void advance(struct decompress *d, size_t in, size_t out)
{
	d->next += in;
	d->left -= in;
	d->out += out;
	d->room -= out;
}

/* ---- gzip ---- */

static bool start_gzip(struct decompress *d)
{
	memset(&d->z.gzip, 0, sizeof(d->z.gzip));
	return inflateInit2(&d->z.gzip, GZIP_FORMAT) == Z_OK;
}

static enum step step_gzip(struct decompress *d)
{
	z_stream *z = &d->z.gzip;
	int r;

	z->next_in = d->next;
	z->avail_in = (uInt)d->left;
	z->next_out = d->out;
	z->avail_out = (uInt)d->room;
	r = inflate(z, Z_NO_FLUSH);
	advance(d, d->left - z->avail_in, d->room - z->avail_out);
	d->why = z->msg;
	return r == Z_OK	   ? STEP_ON
	       : r == Z_STREAM_END ? STEP_ENDED
	       : r == Z_MEM_ERROR  ? STEP_NOMEM
				   : STEP_DAMAGED;
}

static void end_gzip(struct decompress *d)
{
	inflateEnd(&d->z.gzip);
}

/* ---- bzip2 ---- */

static bool start_bzip2(struct decompress *d)
{
	memset(&d->z.bzip2, 0, sizeof(d->z.bzip2));
	return BZ2_bzDecompressInit(&d->z.bzip2, 0, 0) == BZ_OK;
}

static enum step step_bzip2(struct decompress *d)
{
	bz_stream *z = &d->z.bzip2;
	int r;

	z->next_in = (char *)d->next;
	z->avail_in = (unsigned)d->left;
	z->next_out = (char *)d->out;
	z->avail_out = (unsigned)d->room;
	r = BZ2_bzDecompress(z);
	advance(d, d->left - z->avail_in, d->room - z->avail_out);
	return r == BZ_OK	    ? STEP_ON
	       : r == BZ_STREAM_END ? STEP_ENDED
	       : r == BZ_MEM_ERROR  ? STEP_NOMEM
				    : STEP_DAMAGED;
}

static void end_bzip2(struct decompress *d)
{
	BZ2_bzDecompressEnd(&d->z.bzip2);
}

/* ---- xz ---- */

static bool start_xz(struct decompress *d)
{
	d->z.xz = (lzma_stream)LZMA_STREAM_INIT;
	return lzma_stream_decoder(&d->z.xz, XZ_MEMORY, 0) == LZMA_OK;
}

static enum step step_xz(struct decompress *d)
{
	lzma_stream *z = &d->z.xz;
	lzma_ret r;

	z->next_in = d->next;
	z->avail_in = d->left;
	z->next_out = d->out;
	z->avail_out = d->room;
	r = lzma_code(z, LZMA_RUN);
	advance(d, d->left - z->avail_in, d->room - z->avail_out);
	return r == LZMA_OK					 ? STEP_ON
	       : r == LZMA_STREAM_END				 ? STEP_ENDED
	       : r == LZMA_MEM_ERROR || r == LZMA_MEMLIMIT_ERROR ? STEP_NOMEM
								 : STEP_DAMAGED;
}

static void end_xz(struct decompress *d)
{
	lzma_end(&d->z.xz);
}

/* ---- zstd ---- */

static bool start_zstd(struct decompress *d)
{
	d->z.zstd = ZSTD_createDCtx();
	return d->z.zstd != NULL;
}

static enum step step_zstd(struct decompress *d)
{
	ZSTD_inBuffer in = {d->next, d->left, 0};
	ZSTD_outBuffer out = {d->out, d->room, 0};
	size_t r = ZSTD_decompressStream(d->z.zstd, &out, &in);

	if (ZSTD_isError(r))
		return STEP_DAMAGED;
	advance(d, in.pos, out.pos);
	return r ? STEP_ON : STEP_ENDED;
}

static void end_zstd(struct decompress *d)
{
	ZSTD_freeDCtx(d->z.zstd);
}

/* That of vt_gunzip_input() is the first. */
static const struct codec codecs[] = {
	{"gzip", "\x1f\x8b", 2, start_gzip, step_gzip, end_gzip},
	{"bzip2", "BZh", 3, start_bzip2, step_bzip2, end_bzip2},
	{"xz",
	 "\xfd"
	 "7zXZ",
	 6, start_xz, step_xz, end_xz},
	{"zstd", "\x28\xb5\x2f\xfd", 4, start_zstd, step_zstd, end_zstd},
};

/* ---- all of them ---- */

static void end_decompress(void *arg)
{
	struct decompress *d = arg;

	if (d->begun)
		d->codec->end(d);
	free(d->data);
	free(d);
}

/* Reads compressed bytes; 0 at the end. */
static int read_more(struct decompress *d, struct vt_input *in, struct vt_error *err)
{
	ssize_t n;

	do {
		n = read(in->fd, d->data, d->cap);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return vt_error_errno(err, VT_E_READ, errno, "%s", in->name);
	d->next = d->data;
	d->left = (size_t)n;
	return n > 0;
}

static int decompress_some(struct decompress *d, struct vt_input *in, struct vt_error *err)
{
	size_t left = d->left, room = d->room;
	enum step step = STEP_NOMEM;

	if (!d->begun && d->total && *d->next != (uint8_t)d->codec->magic[0]) {
		d->ended = true;
		return 0;
	}
	d->begun = d->begun || d->codec->start(d);
	if (d->begun)
		step = d->codec->step(d);
	if (step == STEP_ENDED) {
		d->codec->end(d);
		d->begun = false;
	}
	if (step == STEP_NOMEM)
		return vt_error_set(err, VT_E_NOMEM, "%s: out of memory", in->name);
	if (step == STEP_DAMAGED || (step == STEP_ON && d->left == left && d->room == room))
		return vt_error_set(err, VT_E_DAMAGED, "%s: damaged %s data%s%s", in->name,
				    d->codec->name, d->why ? ": " : "", d->why ? d->why : "");
	return 0;
}

static int pull_decompressed(struct vt_input *in, uint8_t *out, size_t room, size_t *n,
			     struct vt_error *err)
{
	struct decompress *d = in->pull_arg;
	int r;

	*n = 0;
	d->out = out;
	d->room = room = room < 4 * READ_SIZE ? room : 4 * READ_SIZE;
	while (!d->ended && d->room == room) {
		if (!d->left) {
			r = read_more(d, in, err);
			if (r < 0)
				return r;
			if (!r && d->begun)
				return vt_error_set(err, VT_E_TRUNC, "%s: the %s data is cut off",
						    in->name, d->codec->name);
			if (!r)
				return 0;
		}
		r = decompress_some(d, in, err);
		if (r < 0)
			return r;
	}
	*n = room - d->room;
	d->total += *n;
	if (d->total > VT_DECOMPRESS_MAX)
		return vt_error_set(err, VT_E_LIMIT, "%s: more than %llu bytes when decompressed",
				    in->name, (unsigned long long)VT_DECOMPRESS_MAX);
	return 0;
}

static int start_decompress(struct vt_input *in, const struct codec *codec, struct vt_error *err)
{
	size_t have = vt_input_have(in);
	struct decompress *d = calloc(1, sizeof(*d));

	/* What has been read already is the first that is decompressed. */
	if (d) {
		d->codec = codec;
		d->cap = have > READ_SIZE ? have : READ_SIZE;
		d->data = malloc(d->cap);
	}
	if (!d || !d->data) {
		free(d);
		return vt_error_set(err, VT_E_NOMEM, "%s: out of memory", in->name);
	}
	memcpy(d->data, vt_input_data(in), have);
	d->next = d->data;
	d->left = have;
	in->start = in->end = 0;
	in->eof = false;
	in->pull = pull_decompressed;
	in->pull_end = end_decompress;
	in->pull_arg = d;
	return 0;
}

/* Looks for the first `n` codecs, whose magic has at most `size` bytes. */
static int find_codec(struct vt_input *in, size_t n, size_t size, struct vt_error *err)
{
	size_t have, i;
	int r = vt_input_fill(in, size, &have, err);

	if (r < 0)
		return r;
	for (i = 0; !in->pull && i < n; i++)
		if (have >= codecs[i].magic_size &&
		    memcmp(vt_input_data(in), codecs[i].magic, codecs[i].magic_size) == 0)
			return start_decompress(in, &codecs[i], err);
	return 0;
}

int vt_gunzip_input(struct vt_input *in, struct vt_error *err)
{
	return find_codec(in, 1, 2, err);
}

int vt_decompress_input(struct vt_input *in, struct vt_error *err)
{
	return find_codec(in, sizeof(codecs) / sizeof(*codecs), 6, err);
}
