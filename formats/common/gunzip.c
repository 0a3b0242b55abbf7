/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/common/gunzip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#define READ_SIZE   65536
#define GZIP_FORMAT (15 + 16) /* zlib's window bits: the largest window, gzip's header */

struct gunzip {
	z_stream z;
	bool begun; /* a member has begun */
	uint8_t *data;
	size_t cap;
	uint64_t total;
};

static void gunzip_end(void *arg)
{
	struct gunzip *g = arg;

	inflateEnd(&g->z);
	free(g->data);
	free(g);
}

/* Reads compressed bytes; 0 at the end. */
static int read_more(struct gunzip *g, struct vt_input *in, struct vt_error *err)
{
	ssize_t n;

	do {
		n = read(in->fd, g->data, g->cap);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return vt_error_errno(err, VT_E_READ, errno, "%s", in->name);
	g->z.next_in = g->data;
	g->z.avail_in = (uInt)n;
	return n > 0;
}

/* Ends a member; false when what follows is none: gzip(1) ignores it, too. */
static bool next_member(struct gunzip *g)
{
	g->begun = false;
	return inflateReset(&g->z) == Z_OK;
}

static int inflate_some(struct gunzip *g, struct vt_input *in, bool *end, struct vt_error *err)
{
	int r;

	if (!g->begun && *g->z.next_in != 0x1f && g->total) {
		*end = true;
		return 0;
	}
	g->begun = true;
	r = inflate(&g->z, Z_NO_FLUSH);
	if (r == Z_STREAM_END && !next_member(g))
		*end = true;
	if (r == Z_OK || r == Z_STREAM_END || r == Z_BUF_ERROR)
		return 0;
	if (r == Z_MEM_ERROR)
		return vt_error_set(err, VT_E_NOMEM, "%s: out of memory", in->name);
	return vt_error_set(err, VT_E_DAMAGED, "%s: damaged gzip data: %s", in->name,
			    g->z.msg ? g->z.msg : "wrong dictionary");
}

static int gunzip_pull(struct vt_input *in, uint8_t *out, size_t room, size_t *n,
		       struct vt_error *err)
{
	struct gunzip *g = in->pull_arg;
	bool end = false;
	int r;

	*n = 0;
	g->z.next_out = out;
	g->z.avail_out = room < READ_SIZE * 4 ? (uInt)room : READ_SIZE * 4;
	room = g->z.avail_out;
	while (!end && g->z.avail_out == room) {
		if (!g->z.avail_in) {
			r = read_more(g, in, err);
			if (r < 0)
				return r;
			if (!r && g->begun)
				return vt_error_set(err, VT_E_TRUNC, "%s: the gzip data is cut off",
						    in->name);
			if (!r)
				return 0;
		}
		r = inflate_some(g, in, &end, err);
		if (r < 0)
			return r;
	}
	*n = room - g->z.avail_out;
	g->total += *n;
	if (g->total > VT_GUNZIP_MAX)
		return vt_error_set(err, VT_E_LIMIT, "%s: more than %llu bytes when decompressed",
				    in->name, (unsigned long long)VT_GUNZIP_MAX);
	return 0;
}

int vt_gunzip_input(struct vt_input *in, struct vt_error *err)
{
	struct gunzip *g;
	size_t have;
	int r = vt_input_fill(in, 2, &have, err);

	if (r < 0)
		return r;
	if (in->pull || have < 2 || memcmp(vt_input_data(in), "\x1f\x8b", 2) != 0)
		return 0;
	g = calloc(1, sizeof(*g));
	if (!g || inflateInit2(&g->z, GZIP_FORMAT) != Z_OK) {
		free(g);
		return vt_error_set(err, VT_E_NOMEM, "%s: out of memory", in->name);
	}
	/* What has been read already is the first that is decompressed. */
	g->cap = have > READ_SIZE ? have : READ_SIZE;
	g->data = malloc(g->cap);
	if (!g->data) {
		gunzip_end(g);
		return vt_error_set(err, VT_E_NOMEM, "%s: out of memory", in->name);
	}
	memcpy(g->data, vt_input_data(in), have);
	g->z.next_in = g->data;
	g->z.avail_in = (uInt)have;
	in->start = in->end = 0;
	in->eof = false;
	in->pull = gunzip_pull;
	in->pull_end = gunzip_end;
	in->pull_arg = g;
	return 0;
}
